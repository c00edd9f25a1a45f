//! Who may access which register.
//!
//! Itanium Architecture Software Developer's Manual, volume 2, section 7.2.1, and volume 3, the instructions `mov` to and from indirect
//! registers. Index registers never fault for PMC and PMD: a register that does not exist reads as zero and ignores writes.

use crate::access::{Address, Fault};
use crate::feed::Context;

/// A register that an access names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
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
/// [`Fault::PrivilegedOperation`] above level 0, except for reads of PMDs; [`Fault::Unclaimed`] for the registers of other architectures.
pub(crate) fn decode(address: Address, write: bool, context: &Context) -> Result<Register, Fault> {
    let register = match address {
        Address::Pmc(number) => Register::Pmc(number),
        Address::Pmd(number) => Register::Pmd(number),
        Address::Ibr(_) | Address::Dbr(_) => Register::Breakpoint(address),
        _ => return Err(Fault::Unclaimed),
    };
    let free = matches!(register, Register::Pmd(_)) && !write;
    if context.privilege != 0 && !free { Err(Fault::PrivilegedOperation) } else { Ok(register) }
}

/// A count of `width` bits, 1 to 64, as it is read: the bits above are copies of its highest.
pub(crate) const fn sign_extended(count: u64, width: u8) -> u64 {
    let above = 64u32.saturating_sub(width as u32) & 63;
    ((count << above).cast_signed() >> above).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read_as_a_number_with_a_sign() {
        assert_eq!(sign_extended(1 << 46, 47), 0xFFFF_C000_0000_0000);
        assert_eq!(sign_extended((1 << 46) - 1, 47), (1 << 46) - 1);
        assert_eq!(sign_extended(1 << 31, 32), 0xFFFF_FFFF_8000_0000);
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
