//! In the place of the boxes where Knights Landing is not among the parts: what the rest of the crate asks of them, and nobody can have.
#![allow(dead_code, reason = "a machine asks for boxes that it has not, a snapshot for what they remember")]

use core::convert::Infallible;
use core::marker::PhantomData;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::registry::Part;

use super::{BuildError, Machine};
use crate::irq::InterruptLine;

/// How many boxes a part has.
pub(crate) const UNITS: usize = 0;

/// How boxes are built.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {}

impl Options {
    pub(super) fn build(self, _part: Part) -> Option<Boxes> {
        None
    }

    pub(super) fn check(self, _part: Part) -> Result<(), BuildError> {
        Ok(())
    }
}

/// The boxes of a machine.
#[derive(Debug)]
pub(super) struct Boxes(Infallible);

impl Boxes {
    pub(super) fn footprint(&self) -> usize {
        match self.0 {}
    }
}

/// What boxes remember.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum UntileState {}

/// The box that has a model-specific register.
pub(super) fn at_msr(_index: u32) -> Option<Infallible> {
    None
}

/// The boxes of a machine, as its threads reach them.
pub(crate) struct Untile<'a, L>(Infallible, PhantomData<&'a L>);

impl<L: InterruptLine> Untile<'_, L> {
    pub(super) fn read(&self, _address: Address) -> Result<u64, Fault> {
        match self.0 {}
    }

    pub(super) fn write(&self, _address: Address, _value: u64) -> Result<(), Fault> {
        match self.0 {}
    }

    pub(crate) fn state(&self) -> UntileState {
        match self.0 {}
    }

    pub(crate) fn restore(&self, state: &UntileState) -> bool {
        match *state {}
    }
}

impl<L: InterruptLine> Machine<L> {
    pub(crate) fn untile(&self) -> Option<Untile<'_, L>> {
        None
    }
}
