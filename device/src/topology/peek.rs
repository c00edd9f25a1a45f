//! Registers as a monitor or a debugger looks at them: by name, at any privilege, with their fields.

use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{Feed, Scope, Signal, Supply};
use vm_pmu_arch::layout::Field;
use vm_pmu_arch::model::{Model, RegisterDescription};
use vm_pmu_arch::registry::Pmu;

use super::Thread;
use super::view::View;
#[cfg(feature = "recording")]
use super::witness::Call;
use crate::irq::InterruptLine;

/// A register and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Peeked {
    /// The register, as the part describes it.
    pub register: &'static RegisterDescription,
    /// Its value, with everything counted up to now.
    pub value: u64,
}

impl Peeked {
    /// The fields of the register, each with its value.
    pub fn fields(&self) -> impl Iterator<Item = (&'static Field, u64)> {
        let value = self.value;
        self.register.fields.iter().map(move |field| (field, field.of(value)))
    }
}

/// The totals that a thread's PMU sees, without deadlines of its own.
struct Unarmed<'v, 'm>(&'v View<'m>);

impl Feed for Unarmed<'_, '_> {
    fn total(&self, signal: Signal, scope: Scope) -> u64 {
        self.0.total(signal, scope)
    }

    fn arm(&self, _signal: Signal, _scope: Scope, _base: u64, _allowance: u64) {}

    fn disarm(&self, _signal: Signal, _scope: Scope) {}

    fn supply(&self) -> &Supply {
        self.0.supply()
    }
}

impl<L: InterruptLine> Thread<'_, L> {
    /// Reads the register of this name, in any case, whatever the guest may read at the moment: for monitors and debuggers. `None` if the part
    /// has no register of this name. Nothing changes for the guest, and neither the log nor a recording has it among what the guest did.
    ///
    /// ```
    /// use vm_pmu::{Builder, Context};
    ///
    /// let machine = Builder::new("k8").unwrap().build(|_, _| {}).unwrap();
    /// let pmu = machine.thread(0).unwrap();
    /// pmu.x86().wrmsr(0xC001_0001, 0x0042_0076).unwrap();
    /// pmu.set_context(Context::x86(3, 0x202, 0)); // RDMSR would fault
    /// let select = pmu.peek("PerfEvtSel1").unwrap();
    /// assert_eq!(select.value, 0x0042_0076);
    /// assert!(select.fields().any(|(field, value)| (field.name, value) == ("EN", 1)));
    /// ```
    #[must_use]
    pub fn peek(&self, name: &str) -> Option<Peeked> {
        let register = self.registers().iter().find(|register| register.name.eq_ignore_ascii_case(name))?;
        Some(Peeked { register, value: self.peek_at(register.address)? })
    }

    /// Reads the register at `address` like [`peek`](Thread::peek).
    #[must_use]
    pub fn peek_at(&self, address: Address) -> Option<u64> {
        if let Some(extension) = self.extension_at(address) {
            return extension.read(address).0.ok();
        }
        // The PMU counts up to now for it.
        #[cfg(feature = "recording")]
        self.watched(Call::Service);
        self.with(|pmu, view| {
            let mut state = pmu.state(view);
            let context = state.context_mut();
            *context = self.part().privileged(*context);
            let feed = Unarmed(view);
            Pmu::from_state(&state, &feed).read(address, &feed).ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use crate::topology::Builder;

    #[test]
    fn every_register_of_every_part_is_read_whatever_the_guest_may_read() {
        for name in vm_pmu_arch::registry::NAMES {
            let machine = Builder::new(name).unwrap().build(|_, _| {}).unwrap();
            let pmu = machine.thread(0).unwrap();
            let guest = pmu.context();
            let privileged = pmu.part().privileged(guest);
            for register in pmu.registers() {
                // Every other bit, where it can be written.
                let _ = pmu.write(register.address, 0x5555_5555_5555_5555);
            }
            let mut read = pmu.registers().iter().map(|register| pmu.look(register.address).ok()).collect::<std::vec::Vec<_>>();
            // The least privileged state: CPL 3, MSR[PR], PSR.cpl 3.
            let machine_state = privileged.machine_state | if *name == "power9" { 1 << 14 } else { 3 << 32 };
            pmu.set_context(vm_pmu_arch::feed::Context { privilege: 3, machine_state, ..privileged });
            let before = format!("{:?}", pmu.state());
            read.reverse();
            for register in pmu.registers() {
                assert_eq!(pmu.peek_at(register.address), read.pop().unwrap(), "{} of {name}", register.name);
            }
            assert_eq!(format!("{:?}", pmu.state()), before, "nothing changes for {name}'s guest");
        }
    }

    #[test]
    fn a_name_that_no_register_has_is_no_register() {
        let machine = Builder::new("k8").unwrap().build(|_, _| {}).unwrap();
        assert!(machine.thread(0).unwrap().peek("MMCR0").is_none());
    }
}
