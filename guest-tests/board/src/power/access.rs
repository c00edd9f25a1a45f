//! Accesses of the CPU to its PMU, and BESCR, which both have.

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::power9::{Bescr, Mmcr0};

use super::Cpu;
use vm_pmu_engines::power::{CpuView, EventBased, SprFault};

impl Cpu<'_> {
    /// Reads what an access or an alert has made of BESCR.
    pub(super) fn check_bescr(&mut self) {
        let vm_pmu::State::Power9(state) = self.pmu.thread().state() else { return };
        self.bescr = state.bescr;
        let bescr = Bescr::of(state.bescr);
        let owns = Mmcr0::written(state.mmcr0).ebe();
        self.event_based = owns.then(|| EventBased { enabled: bescr.pme(), occurred: self.pmu.thread().lines().event_based_branch });
    }

    fn answer<T>(result: Result<T, Fault>) -> Result<T, SprFault> {
        result.map_err(|fault| match fault {
            Fault::FacilityUnavailable(facility) => {
                SprFault::FacilityUnavailable { hypervisor: false, cause: facility.interruption_cause() }
            }
            Fault::HypervisorFacilityUnavailable(facility) => {
                SprFault::FacilityUnavailable { hypervisor: true, cause: facility.interruption_cause() }
            }
            Fault::EmulationAssistance => SprFault::EmulationAssistance,
            Fault::PrivilegedInstruction => SprFault::Privileged,
            Fault::NoOperation => SprFault::NoOp,
            _ => SprFault::Unclaimed,
        })
    }

    pub(super) fn read(&mut self, address: Address, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        self.settle();
        if let Some(other) = self.repeating() {
            // It answers as this one does.
            let _ = other.read(address, cpu);
        }
        let answer = self.pmu.access(|pmu| pmu.read(address));
        if answer.is_ok() {
            self.usage.read(self.pmu.thread(), address);
        }
        self.keep(address, cpu, (None, None), answer);
        Self::answer(answer)
    }

    pub(super) fn write(&mut self, address: Address, value: u64, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        self.settle();
        if let Some(other) = self.repeating() {
            let _ = other.write(address, value, cpu);
        }
        self.ledger.settle(self.pmu.thread());
        let before = self.trace.before(self.pmu.thread(), address);
        let answer = self.pmu.access(|pmu| pmu.write(address, value));
        if answer.is_ok() {
            self.ledger.written(address, self.pmu.thread());
            self.usage.wrote(self.pmu.thread(), address, value);
            self.check_bescr();
        }
        self.keep(address, cpu, (before, Some(value)), answer.map(|()| value));
        Self::answer(answer)
    }
}
