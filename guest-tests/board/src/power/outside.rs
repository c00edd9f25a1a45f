//! Writes of the PMU's registers that no instruction of the guest does.

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::topology::Machine;

use super::Cpu;
use crate::Lines;
use crate::beside::as_host;

impl Cpu<'_> {
    /// Writes a register of the PMU between two steps, as the most privileged software would; the thread is one of `machine`.
    ///
    /// # Errors
    /// The fault that such software would get; then nothing is written.
    pub fn write_from_outside(&mut self, machine: &Machine<Lines>, address: Address, value: u64) -> Result<(), Fault> {
        self.settle();
        self.ledger.settle(self.pmu.thread());
        let before = self.trace.before(self.pmu.thread(), address);
        let answer = as_host(machine, self.pmu.thread().number(), |thread| thread.write(address, value)).unwrap_or(Err(Fault::Unclaimed));
        if answer.is_ok() {
            self.ledger.written(address, self.pmu.thread());
            self.check_bescr();
        }
        let place = self.trace.place();
        self.trace.access(self.pmu.thread(), place, address, (before, Some(value)), answer.map(|()| value));
        answer
    }
}
