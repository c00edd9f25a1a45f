//! Threads as the companion knows them.

use vm_pmu_arch::feed::{NestedStep, Request, Signal, Totals};

use super::Thread;
use crate::irq::InterruptLine;

impl<L: InterruptLine> vm_pmu_companion::Pmu for Thread<'_, L> {
    #[inline]
    fn totals(&self) -> &Totals {
        Thread::totals(self)
    }

    #[inline]
    fn reached(&self, signal: Signal) -> bool {
        Thread::reached(self, signal)
    }

    fn service(&self) {
        Thread::service(self);
    }

    fn advance(&self, cycles: u64, states: &[Signal]) {
        Thread::advance(self, cycles, states);
    }

    fn request(&self, request: &Request) {
        Thread::request(self, request);
    }

    fn nested(&self, step: &NestedStep) {
        Thread::nested(self, step);
    }
}
