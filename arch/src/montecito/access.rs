//! Who may access which register.
//!
//! Itanium Architecture Software Developer's Manual, volume 2, section 7.2.1, and volume 3, the instructions `mov` to and from indirect
//! registers; Montecito manual, section 3.3.1. Index registers never fault for PMC and PMD: what there is not reads as zero and
//! ignores writes.

use super::Montecito;
use crate::access::{Address, Fault};
use crate::feed::Context;
use crate::ia64::read_data;

/// A register as an access finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// PMC of this number.
    Pmc(u8),
    /// PMD of this number.
    Pmd(u8),
    /// IBR or DBR.
    Breakpoint(Address),
}

/// The register that `address` names, if an access is allowed at all.
///
/// # Errors
/// [`Fault::PrivilegedOperation`] above level 0, but for reads of PMDs; [`Fault::Unclaimed`] for the registers of other architectures.
pub(super) fn decode(address: Address, write: bool, context: &Context) -> Result<Register, Fault> {
    let register = match address {
        Address::Pmc(number) => Register::Pmc(number),
        Address::Pmd(number) => Register::Pmd(number),
        Address::Ibr(_) | Address::Dbr(_) => Register::Breakpoint(address),
        _ => return Err(Fault::Unclaimed),
    };
    let free = matches!(register, Register::Pmd(_)) && !write;
    if context.privilege != 0 && !free { Err(Fault::PrivilegedOperation) } else { Ok(register) }
}

impl Montecito {
    /// What a read of PMD`number` shows: what it holds, or zero to those from whom it is hidden.
    pub(super) fn visible_data(&self, number: u8) -> u64 {
        let value = match number {
            4..=15 => sign_extended(self.counters.count_of(usize::from(number))),
            _ => self.captures.read(number),
        };
        read_data(value, self.governor_is_privileged(number), &self.context)
    }

    /// The field pm of the PMC that governs PMD`number`.
    fn governor_is_privileged(&self, number: u8) -> bool {
        let configuration = &self.configuration;
        match number {
            4..=15 => configuration.counter(usize::from(number)).pm(),
            32 | 33 | 36 => configuration.pmc40.pm(),
            34 | 35 => configuration.pmc37.pm(),
            38 | 39 | 48..=63 if self.traces() => configuration.pmc39.pm(),
            38 | 39 | 48..=63 => configuration.pmc42.pm(),
            _ => false,
        }
    }
}

/// A count as it is read: bits 63:47 are copies of bit 46 (Table 3-7).
const fn sign_extended(count: u64) -> u64 {
    ((count << 17).cast_signed() >> 17).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read_as_a_number_with_a_sign() {
        assert_eq!(sign_extended(1 << 46), 0xFFFF_C000_0000_0000);
        assert_eq!(sign_extended((1 << 46) - 1), (1 << 46) - 1);
    }

    #[test]
    fn only_reads_of_data_are_open_to_users() {
        let user = Context::ia64(3 << 32, 0);
        assert_eq!(decode(Address::Pmd(200), false, &user), Ok(Register::Pmd(200)));
        assert_eq!(decode(Address::Pmd(4), true, &user), Err(Fault::PrivilegedOperation));
        assert_eq!(decode(Address::Pmc(200), false, &user), Err(Fault::PrivilegedOperation));
        assert_eq!(decode(Address::Msr(4), false, &user), Err(Fault::Unclaimed));
    }
}
