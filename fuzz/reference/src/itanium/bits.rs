//! Fields of registers, and the form of addresses.

/// An opcode matcher that is open: all types, and every bit masked (Table 6-11).
pub(super) const OPEN: u64 = 0xF000_0000_3FFF_FFF8;

/// PMC11: all tags pass, whatever the data address (6.2.6).
pub(super) const PASS_TAGS: u64 = 1 << 28;

/// An address with bits 60:51 as copies of bit 50 (M49).
pub(super) const fn canonical(value: u64) -> u64 {
    const COPIES: u64 = 0x3FF << 51;
    if value >> 50 & 1 == 0 { value & !COPIES } else { value | COPIES }
}
