//! The processor abstraction layer: the few procedures that guests of a performance monitor call.

use super::access::Reference;
use super::cpu::Cpu;
use super::interrupt::Fault;
use super::observer::{CpuView, Observer};
use super::state::Halt;
use super::step::AccessKind;

/// PAL_PERF_MON_INFO: what performance monitors there are.
pub const PAL_PERF_MON_INFO: u64 = 15;
/// PAL_VERSION: the versions of the layer, zero here.
pub const PAL_VERSION: u64 = 20;
/// PAL_HALT: waits for an interrupt in one of the low-power states 1 to 7, and leaves the performance monitors alone.
pub const PAL_HALT: u64 = 28;
/// PAL_HALT_LIGHT: waits for an interrupt with the performance monitors frozen.
pub const PAL_HALT_LIGHT: u64 = 29;

/// Status: done.
const SUCCESS: u64 = 0;
/// Status: no such procedure, -1.
const UNIMPLEMENTED: u64 = u64::MAX;
/// Status: an argument is wrong, -2.
const INVALID_ARGUMENT: u64 = u64::MAX - 1;

impl<O: Observer> Cpu<O> {
    /// Runs procedure `index`: arguments in r29 to r31, results in r8 to r11.
    pub(crate) fn call_firmware(&mut self, index: u64) -> Result<(), Fault> {
        if self.core.cpl() != 0 {
            return Err(Fault::PrivilegedOperation);
        }
        let results = match index {
            PAL_PERF_MON_INFO => self.performance_monitor_info(),
            PAL_VERSION => [SUCCESS, 0, 0, 0],
            PAL_HALT if !(1..=7).contains(&self.core.gr(29).0) => [INVALID_ARGUMENT, 0, 0, 0],
            PAL_HALT => {
                self.core.halted = Some(Halt { pmc0: None });
                self.core.context_changed = true;
                [SUCCESS, 0, 0, 0]
            }
            PAL_HALT_LIGHT => {
                let pmc0 = self.observer.read_pmc(0, &CpuView::new(&self.core)).unwrap_or(0);
                // A monitor that refuses has nothing to freeze.
                let _ = self.observer.write_pmc(0, pmc0 | 1, &CpuView::new(&self.core));
                self.core.halted = Some(Halt { pmc0: Some(pmc0) });
                self.core.context_changed = true;
                [SUCCESS, 0, 0, 0]
            }
            _ => [UNIMPLEMENTED, 0, 0, 0],
        };
        if self.core.firmware_called {
            self.core.return_frame()?;
        }
        for (register, value) in (8..).zip(results) {
            self.core.set_gr(register, value, false);
        }
        Ok(())
    }

    fn performance_monitor_info(&mut self) -> [u64; 4] {
        let buffer = self.core.gr(29).0;
        let reference = Reference::new(AccessKind::Store, 8);
        let words = (0..16).map(|word| buffer.wrapping_add(8 * word));
        let located: Result<Vec<_>, _> = words.map(|address| self.core.locate(address, &reference)).collect();
        let Ok(located) = located else { return [INVALID_ARGUMENT, 0, 0, 0] };
        let info = self.observer.performance_monitor_info();
        for (access, word) in located.iter().zip(info.buffer) {
            self.core.write(access.physical, 8, word);
        }
        [SUCCESS, info.info, 0, 0]
    }

    /// Ends a halt if an interrupt is pending, whether PSR.i enables it or not.
    pub(crate) fn wake(&mut self) {
        if !self.core.sapic.due() {
            return;
        }
        if let Some(halt) = self.core.halted.take() {
            if let Some(pmc0) = halt.pmc0 {
                let _ = self.observer.write_pmc(0, pmc0, &CpuView::new(&self.core));
            }
            self.announce();
        }
    }
}
