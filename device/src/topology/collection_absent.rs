//! In the place of what packages post into memory where POWER9 is not among the parts: what the rest of the crate asks of that, and nobody can
//! have.
#![allow(dead_code, reason = "a snapshot asks for what packages post")]

use alloc::boxed::Box;
use core::convert::Infallible;
use core::marker::PhantomData;

use vm_pmu_arch::feed::{SignalSet, Totals};
use vm_pmu_arch::registry::{Part, Pmu};

use super::Machine;
use crate::irq::InterruptLine;

/// What a package posts.
#[derive(Debug)]
pub(super) struct Collector(Infallible);

impl Collector {
    pub(super) fn of(_part: Part) -> Option<Collector> {
        None
    }

    pub(super) fn footprint(&self) -> usize {
        match self.0 {}
    }

    pub(super) fn demand(&self) -> SignalSet {
        match self.0 {}
    }

    pub(super) fn is_running(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn follow(&self, _thread: usize, _pmu: &Pmu, _totals: &Totals) {
        match self.0 {}
    }
}

/// What is remembered of it.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum State {}

/// What a package posts, and what starts and stops it.
pub(crate) struct CoreCollection<'a, L>(Infallible, PhantomData<&'a L>);

impl<L: InterruptLine> CoreCollection<'_, L> {
    pub(crate) fn state(&self) -> Box<State> {
        match self.0 {}
    }

    pub(crate) fn restore(&self, state: &State) {
        match *state {}
    }
}

impl<L: InterruptLine> Machine<L> {
    pub(crate) fn collection(&self, _number: usize) -> Option<CoreCollection<'_, L>> {
        None
    }
}
