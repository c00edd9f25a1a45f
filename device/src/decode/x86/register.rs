//! The numbers of the registers that [operands](super::Operands) name. A part of a register has the number of the whole.

/// RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15.
pub const GENERAL: u16 = 0;
/// The status flags, which count as one register: OF, SF, ZF, AF, PF and CF.
pub const FLAGS: u16 = 16;
/// The direction flag.
pub const DIRECTION: u16 = 17;
/// ES, CS, SS, DS, FS, GS.
pub const SEGMENTS: u16 = 18;
/// ST(0) to ST(7).
pub const X87: u16 = 24;
/// MM0 to MM7.
pub const MMX: u16 = 32;
/// XMM0 to XMM31, and the wider ones of which they are a part.
pub const VECTORS: u16 = 40;
/// K0 to K7.
pub const MASKS: u16 = 72;
/// CR0 to CR15.
pub const CONTROL: u16 = 80;
/// DR0 to DR15.
pub const DEBUG: u16 = 96;
