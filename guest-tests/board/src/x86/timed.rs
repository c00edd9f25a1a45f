//! The glue of an engine that knows the time and nothing else.

use vm_pmu::arch::access::Address;
use vm_pmu::arch::feed::Signal;
use vm_pmu::arch::{k8, knl};

use super::Cpu;
use vm_pmu_engines::kvm::free::Timed;
use vm_pmu_engines::x86::{Alerts, CpuView};

/// What grows with time itself.
const TIME: [Signal; 5] =
    [Signal::Cycles, Signal::HaltedCycles, Signal::ReferenceCycles, Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles];

/// What grows with each cycle that a CPU executes for; those of its core depend on its neighbours.
const OWN: [Signal; 2] = [Signal::Cycles, Signal::ReferenceCycles];

impl Timed for Cpu<'_> {
    fn elapse(&mut self, cycles: u64, cpu: &CpuView<'_>) -> Alerts {
        self.keep_up();
        let start = cpu.cycles().wrapping_sub(cycles);
        match OWN.map(|signal| self.pmu.demand().wants(signal)) {
            [true, true] => self.pmu.thread().advance(cycles, &OWN),
            [true, false] => self.pmu.thread().advance(cycles, &OWN[..1]),
            [false, true] => self.pmu.thread().advance(cycles, &OWN[1..]),
            [false, false] => {}
        }
        self.advance_core(self.run_core(start, cycles));
        self.interrupts(cpu.rip())
    }

    fn room(&self) -> Option<u64> {
        if self.lines.waits(self.pmu.thread().number()) {
            return Some(0);
        }
        let distance = |signal: &Signal| self.pmu.thread().deadlines().distance(*signal, self.pmu.thread().totals());
        TIME.iter().filter(|signal| self.pmu.demand().wants(**signal)).map(distance).min()
    }

    fn beyond_cycles(&mut self) -> Option<String> {
        self.keep_up();
        if let Some(signal) = self.pmu.demand().signals().iter().find(|signal| !TIME.contains(signal)) {
            return Some(signal.name().to_owned());
        }
        if self.pmu.demand().per_cycle() {
            return Some("what happens in single cycles".to_owned());
        }
        if self.cpu_boxes.as_ref().is_some_and(|cpu_boxes| cpu_boxes.is_busy() || cpu_boxes.wants_requests()) {
            return Some("what the boxes outside the cores do".to_owned());
        }
        if !self.pmu.demand().records().is_none() {
            return Some("single instructions".to_owned());
        }
        self.at_one_level()
    }
}

impl Cpu<'_> {
    /// What counts cycles at one level of privilege and not at the others.
    fn at_one_level(&self) -> Option<String> {
        let filters = |address: Address, value: u64| {
            let Address::Msr(number) = address else { return false };
            if let Some(k8::Register::PerfEvtSel(_)) = k8::Register::from_msr(number) {
                let select = k8::PerfEvtSel::written(value);
                return select.en() && select.usr() != select.os();
            }
            match knl::Register::from_msr(number) {
                Some(knl::Register::PerfEvtSel(_)) => {
                    let select = knl::PerfEvtSel::written(value);
                    select.en() && select.usr() != select.os()
                }
                Some(knl::Register::FixedCtrCtrl) => {
                    let control = knl::FixedCtrCtrl::written(value);
                    let levels = [
                        (control.en0_os(), control.en0_usr()),
                        (control.en1_os(), control.en1_usr()),
                        (control.en2_os(), control.en2_usr()),
                    ];
                    levels.into_iter().any(|(os, usr)| os != usr)
                }
                _ => false,
            }
        };
        let mut registers = self.pmu.thread().registers().iter();
        let one =
            registers.find(|register| self.pmu.thread().look(register.address).is_ok_and(|value| filters(register.address, value)))?;
        Some(format!("cycles at one level of privilege by {}", one.name))
    }
}
