//! The PMU beside the guest's own.

use std::sync::Arc;

use vm_pmu::topology::Machine;
use vm_pmu_engines::x86::{CpuView, Observer, Step};

use super::Cpu;
use crate::Lines;
use crate::beside::{Bank, Beside, Found, Plan, Sample, callers};

/// RBP, which points to the frame where code keeps frame pointers.
const RBP: usize = 5;

impl<'a> Cpu<'a> {
    /// Has the same thread of `machine`, to which `cpu` is attached as this one is to its own, count by `plan` what this thread does.
    pub fn count_beside(&mut self, machine: &'a Machine<Lines>, cpu: Cpu<'a>, plan: Arc<Plan>) {
        let bank = Bank::new(machine, self.pmu.thread().number(), plan);
        let mut beside = Beside { cpu, bank };
        beside.cpu.keep_up();
        self.beside = Some(Box::new(beside));
    }

    /// The glue beside, if it repeats what the guest does to registers.
    pub(super) fn repeating(&mut self) -> Option<&mut Cpu<'a>> {
        self.beside.as_mut().filter(|beside| beside.bank.repeats()).map(|beside| &mut beside.cpu)
    }

    /// What the PMU beside the guest's own found in a run that ended at cycle `now` of the CPU.
    pub fn found_beside(&mut self, now: u64) -> Found {
        let Some(beside) = &mut self.beside else { return Found::default() };
        beside.bank.finish(now, *self.pmu.thread())
    }

    pub(super) fn retire_beside(&mut self, step: &Step, cpu: &CpuView<'_>) {
        let Some(beside) = &mut self.beside else { return };
        let Beside { cpu: glue, bank } = &mut **beside;
        if glue.retire(step, cpu).performance_interrupt {
            bank.raise();
        }
        bank.stepped(cpu.cycles(), || Sample {
            address: step.rip,
            // The new state is not known yet: a step belongs to the one in which it began.
            privilege: glue.pmu.thread().context().privilege,
            instructions: glue.instructions,
            cycles: cpu.cycles(),
            callers: callers(cpu.gpr(RBP), 8, true, |address| cpu.peek(address)),
            ..Sample::default()
        });
    }

    pub(super) fn halt_beside(&mut self, cycles: u64) {
        if let Some(beside) = &mut self.beside
            && beside.cpu.halted_cycles(cycles).performance_interrupt
        {
            beside.bank.raise();
        }
    }
}
