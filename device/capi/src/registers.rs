//! The guest's accesses to registers.

use vm_pmu::Address;
use vm_pmu::arch::access::PciAddress;

use crate::machine::{VmPmuMachine, thread};
use crate::pointer::{put, writable};
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// The address spaces in which a guest names registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuSpace {
    /// x86: a model-specific register, by the ECX of RDMSR and WRMSR.
    Msr = 0,
    /// x86: a performance counter, by the ECX of RDPMC.
    Rdpmc = 1,
    /// POWER: a special-purpose register, by the number in mtspr and mfspr.
    Spr = 2,
    /// POWER: an entry of the branch history, by the number in mfbhrbe. A write of any value to any entry is clrbhrb.
    Bhrb = 3,
    /// POWER: the instruction match array, by mtimc and mfimc: number 0.
    Imc = 4,
    /// IA-64: `mov pmc[]`, by the whole index register, of which only bits 7:0 matter.
    Pmc = 5,
    /// IA-64: `mov pmd[]`, likewise.
    Pmd = 6,
    /// IA-64: `mov ibr[]`, likewise.
    Ibr = 7,
    /// IA-64: `mov dbr[]`, likewise.
    Dbr = 8,
    /// A dword of PCI configuration space, numbered as in a memory-mapped one: bus in bits 27:20, device in 19:15, function in 14:12,
    /// offset in 11:0, a multiple of 4. vm_pmu_pci_read() and vm_pmu_pci_write() answer as a bus does.
    Pci = 9,
}

#[inline(always)]
fn within<T: TryFrom<u64>>(number: u64, space: &str) -> Result<T, Failure> {
    T::try_from(number).map_err(|_| beyond(number, space, 8 * size_of::<T>()))
}

#[cold]
fn beyond(number: u64, space: &str, bits: usize) -> Failure {
    argument(format!("{number:#x} is no {space}: those have {bits} bits"))
}

// Inlined, as otherwise the address goes through memory, which costs more than the access.
#[inline(always)]
pub(crate) fn address(space: u32, number: u64) -> Result<Address, Failure> {
    let is = |candidate: VmPmuSpace| space == candidate as u32;
    // Bits 7:0 of an index register name the register: the architecture ignores the others.
    let index = (number & 0xFF) as u8;
    Ok(match space {
        _ if is(VmPmuSpace::Msr) => Address::Msr(within(number, "MSR")?),
        _ if is(VmPmuSpace::Rdpmc) => Address::Rdpmc(within(number, "RDPMC index")?),
        _ if is(VmPmuSpace::Spr) => Address::Spr(within(number, "SPR")?),
        _ if is(VmPmuSpace::Bhrb) => Address::Bhrb(within(number, "entry of the branch history")?),
        _ if is(VmPmuSpace::Imc) && number == 0 => Address::Imc,
        _ if is(VmPmuSpace::Imc) => return Err(argument(format!("there is one instruction match array: its number is 0, not {number}"))),
        _ if is(VmPmuSpace::Pmc) => Address::Pmc(index),
        _ if is(VmPmuSpace::Pmd) => Address::Pmd(index),
        _ if is(VmPmuSpace::Ibr) => Address::Ibr(index),
        _ if is(VmPmuSpace::Dbr) => Address::Dbr(index),
        _ if is(VmPmuSpace::Pci) && number < 1 << 28 && number.is_multiple_of(4) => Address::Pci(PciAddress {
            bus: (number >> 20) as u8,
            device: (number >> 15) as u8 & 0x1F,
            function: (number >> 12) as u8 & 7,
            offset: number as u16 & 0xFFF,
        }),
        _ if is(VmPmuSpace::Pci) => {
            return Err(argument(format!("{number:#x} is no dword of configuration space: it has 28 bits and is a multiple of 4")));
        }
        _ => return Err(argument(format!("there is no address space {space}: VmPmuSpace has 0 to {}", VmPmuSpace::Pci as u32))),
    })
}

/// Thread `thread` of the guest reads register `number` of address space `space` (VmPmuSpace). The value is written to `value`.
///
/// Returns the fault to deliver to the guest instead, if there is one; VM_PMU_STATUS_FAULT_UNCLAIMED when the register is not the PMU's.
/// Before the call the totals must include every instruction before the accessing one, and the context must be current.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_read(machine: *const VmPmuMachine, thread: u32, space: u32, number: u64, value: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let thread = unsafe { self::thread(machine, thread) }?;
        writable(value, "where the value is to be written")?;
        let read = thread.read(address(space, number)?)?;
        // SAFETY: the caller's promise.
        unsafe { put(value, read, "where the value is to be written") }
    })
}

/// Thread `thread` of the guest writes `value` to register `number` of address space `space` (VmPmuSpace).
///
/// Returns as vm_pmu_read() does; with a fault nothing is written. Afterwards the demand may have changed: check vm_pmu_epoch().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_write(machine: *const VmPmuMachine, thread: u32, space: u32, number: u64, value: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let thread = unsafe { self::thread(machine, thread) }?;
        Ok(thread.write(address(space, number)?, value)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_configuration_space_is_taken_apart() {
        let expected = Address::Pci(PciAddress { bus: 0xFF, device: 8, function: 2, offset: 0xB20 });
        assert_eq!(address(VmPmuSpace::Pci as u32, 0xFF << 20 | 8 << 15 | 2 << 12 | 0xB20).ok(), Some(expected));
        assert!(address(VmPmuSpace::Pci as u32, 0xB21).is_err());
    }

    #[test]
    fn only_the_low_byte_of_an_index_register_counts() {
        assert_eq!(address(VmPmuSpace::Pmd as u32, 0x1_0004).ok(), Some(Address::Pmd(4)));
    }

    #[test]
    fn numbers_beyond_a_space_are_refused() {
        for (space, number) in [(0, 1 << 32), (1, 1 << 32), (2, 1 << 16), (4, 1), (9, 1 << 28), (10, 0)] {
            assert!(address(space, number).is_err(), "space {space}, number {number:#x}");
        }
    }
}
