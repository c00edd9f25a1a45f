//! What the trace of a thread is told.

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::Context;

use super::Cpu;
use crate::trace::{Place, Surrounding};
use vm_pmu_engines::power::registers::spr;
use vm_pmu_engines::power::{CpuView, Notice, Step};

impl Cpu<'_> {
    /// An access, as it ended: `written` is what the register held before and what was written.
    pub(super) fn keep(&mut self, address: Address, cpu: &CpuView<'_>, written: (Option<u64>, Option<u64>), answer: Result<u64, Fault>) {
        let place = self.place(cpu.pc());
        self.trace.access(self.pmu.thread(), place, address, written, answer);
    }

    fn place(&self, address: u64) -> Place {
        Place { instruction: self.instructions, cycle: self.cycles, address }
    }

    #[cold]
    pub(super) fn trace_step(&mut self, step: &Step) {
        self.trace.move_to(self.place(step.next));
        if let Some(access) = step.access.filter(|access| access.store) {
            self.trace.stored(self.pmu.thread(), access.real, access.size.into());
        }
        self.trace.step(self.pmu.thread());
    }

    #[cold]
    pub(super) fn trace_context(&mut self, context: &Context, cpu: &CpuView<'_>) {
        self.trace.move_to(self.place(cpu.pc()));
        self.trace.surround(self.pmu.thread(), Surrounding::of(&context.with_halted(cpu.waiting()), Some(cpu.spr(spr::PIDR))));
    }

    #[cold]
    pub(super) fn trace_delivery(&mut self, notice: &Notice) {
        self.trace.move_to(self.place(notice.address));
        self.trace.taken(self.pmu.thread(), notice.address);
    }
}
