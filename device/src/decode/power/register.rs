//! The numbers of the registers that [operands](super::Operands) name.

/// GPR 0 to 31.
pub const GENERAL: u16 = 0;
/// VSR 0 to 63. The first 32 are FPR 0 to 31, the last 32 VR 0 to 31.
pub const VECTORS: u16 = 32;
/// CR fields 0 to 7.
pub const CONDITION: u16 = 96;
/// CA and CA32 of XER.
pub const CARRY: u16 = 104;
/// SO, OV and OV32 of XER. That CR fields take a copy of SO is no read: hardly an instruction sets it.
pub const OVERFLOW: u16 = 105;
/// LR.
pub const LINK: u16 = 106;
/// CTR.
pub const COUNT: u16 = 107;
/// TAR.
pub const TARGET: u16 = 108;
/// FPSCR. That arithmetic takes its rounding mode and adds to its sticky bits is no read: one operation need not wait for the other.
pub const FLOATING_STATUS: u16 = 109;

/// The numbers of special purpose registers that are renamed.
pub(super) mod spr {
    pub(in super::super) const XER: u16 = 1;
    pub(in super::super) const LR: u16 = 8;
    pub(in super::super) const CTR: u16 = 9;
    pub(in super::super) const TAR: u16 = 815;
}
