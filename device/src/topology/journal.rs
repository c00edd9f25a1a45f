//! What a machine logs: at `trace` the accesses to registers and the overflows, at `debug` refused writes and what is counted in vain. While
//! nobody wants it, each costs a comparison. No lock is held meanwhile, as a logger is the embedder's.

use core::fmt;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::feed::SignalSet;
use vm_pmu_arch::model::RegisterDescription;
use vm_pmu_arch::registry::Part;

use super::{Machine, Thread};
use crate::irq::InterruptLine;

impl<L: InterruptLine> Thread<'_, L> {
    #[cold]
    pub(super) fn log_read(&self, address: Address, read: Result<u64, Fault>) {
        let name = Named { address, among: self.registers() };
        match read {
            Ok(value) => log::trace!("thread {} reads {value:X}h from {name}", self.number),
            Err(fault) => log::trace!("thread {} is refused to read {name}: {fault}", self.number),
        }
    }

    #[cold]
    pub(super) fn log_write(&self, address: Address, value: u64, written: Result<(), Fault>) {
        let name = Named { address, among: self.registers() };
        match written {
            Ok(()) => log::trace!("thread {} writes {value:X}h to {name}", self.number),
            Err(fault) => log::debug!("thread {} is refused to write {value:X}h to {name}: {fault}", self.number),
        }
    }
}

impl<L: InterruptLine> Machine<L> {
    /// Logs which counters of a thread overflowed, one bit each.
    #[cold]
    pub(super) fn log_overflows(&self, thread: usize, overflows: u32) {
        let registers = self.thread(thread).map_or(&[][..], |thread| thread.registers());
        for counter in (0..u32::BITS).filter(|counter| overflows >> counter & 1 == 1) {
            match counter_register(self.part, counter) {
                Some(address) => log::trace!("thread {thread}: {} overflowed", Named { address, among: registers }),
                None => log::trace!("thread {thread}: counter {counter} overflowed"),
            }
        }
    }

    /// Logs each of these signals once, as followed in vain.
    pub(super) fn log_unsupplied(&self, thread: usize, signals: &SignalSet) {
        if signals.is_empty() {
            return;
        }
        let fresh = {
            let mut logged = self.logged.lock();
            let fresh = signals.difference(&logged);
            *logged = logged.union(signals);
            fresh
        };
        for signal in fresh.iter() {
            log::debug!("thread {thread} counts {}, which is not supplied", signal.name());
        }
    }
}

/// The register of a counter, by the counter's number among alerts.
fn counter_register(part: Part, counter: u32) -> Option<Address> {
    match (part.name(), counter) {
        ("k8", 0..=3) => Some(Address::Msr(0xC001_0004 + counter)),
        ("knl", 0..=1) => Some(Address::Msr(0xC1 + counter)),
        ("knl", 2..=4) => Some(Address::Msr(0x309 + counter - 2)),
        ("power9", 0..=5) => Some(Address::Spr(787 + counter as u16)),
        ("itanium" | "montecito", _) => u8::try_from(counter).ok().map(Address::Pmd),
        _ => None,
    }
}

/// A register, by the manual's name where it has one.
struct Named<'a> {
    address: Address,
    among: &'a [RegisterDescription],
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.among.iter().find(|register| register.address == self.address) {
            Some(register) => formatter.write_str(register.name),
            None => self.address.fmt(formatter),
        }
    }
}
