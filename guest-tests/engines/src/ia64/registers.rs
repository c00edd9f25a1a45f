//! Numbers and bits of the registers that the engine has.

/// Bits of PSR (SDM volume 2, 3.3.2).
pub mod psr {
    /// Big-endian accesses.
    pub const BE: u64 = 1 << 1;
    /// User performance monitors run.
    pub const UP: u64 = 1 << 2;
    /// Alignment check.
    pub const AC: u64 = 1 << 3;
    /// f2 to f31 were written.
    pub const MFL: u64 = 1 << 4;
    /// f32 to f127 were written.
    pub const MFH: u64 = 1 << 5;
    /// The user mask: what `sum` and `rum` reach.
    pub const UM: u64 = BE | UP | AC | MFL | MFH;
    /// Interruption collection.
    pub const IC: u64 = 1 << 13;
    /// External interrupts are on.
    pub const I: u64 = 1 << 14;
    /// Protection keys.
    pub const PK: u64 = 1 << 15;
    /// Data address translation.
    pub const DT: u64 = 1 << 17;
    /// f2 to f31 are disabled.
    pub const DFL: u64 = 1 << 18;
    /// f32 to f127 are disabled.
    pub const DFH: u64 = 1 << 19;
    /// Secure performance monitors.
    pub const SP: u64 = 1 << 20;
    /// Privileged performance monitors run.
    pub const PP: u64 = 1 << 21;
    /// Instruction set transitions are disabled.
    pub const DI: u64 = 1 << 22;
    /// Secure interval timer.
    pub const SI: u64 = 1 << 23;
    /// What `ssm` and `rsm` reach.
    pub const SYSTEM: u64 = UM | IC | I | PK | DT | DFL | DFH | SP | PP | DI | SI;
    /// Debug breakpoints.
    pub const DB: u64 = 1 << 24;
    /// Lower-privilege transfer trap.
    pub const LP: u64 = 1 << 25;
    /// Taken branch trap.
    pub const TB: u64 = 1 << 26;
    /// Translation of the register stack engine.
    pub const RT: u64 = 1 << 27;
    /// What a move to PSR.l reaches.
    pub const LOW: u64 = SYSTEM | DB | LP | TB | RT;
    /// The place of the current privilege level, two bits.
    pub const CPL_SHIFT: u32 = 32;
    /// The current privilege level.
    pub const CPL: u64 = 3 << CPL_SHIFT;
    /// IA-32 instruction set.
    pub const IS: u64 = 1 << 34;
    /// Machine checks are off.
    pub const MC: u64 = 1 << 35;
    /// Instruction address translation.
    pub const IT: u64 = 1 << 36;
    /// No instruction debug fault of the next instruction.
    pub const ID: u64 = 1 << 37;
    /// No data access bit fault of the next instruction.
    pub const DA: u64 = 1 << 38;
    /// No data debug fault of the next instruction.
    pub const DD: u64 = 1 << 39;
    /// Single step.
    pub const SS: u64 = 1 << 40;
    /// The place of the slot to restart at, two bits.
    pub const RI_SHIFT: u32 = 41;
    /// The slot to restart at.
    pub const RI: u64 = 3 << RI_SHIFT;
    /// The next speculative load is deferred.
    pub const ED: u64 = 1 << 43;
    /// Register bank 1.
    pub const BN: u64 = 1 << 44;
    /// No instruction access bit fault of the next instruction.
    pub const IA: u64 = 1 << 45;
    /// What an instruction clears when it completes.
    pub const ONCE: u64 = ID | DA | DD | ED | IA;
    /// All that are implemented.
    pub const ALL: u64 = LOW | CPL | IS | MC | IT | ID | DA | DD | SS | RI | ED | BN | IA;
}

/// Numbers of application registers.
pub mod ar {
    /// The last of eight kernel registers.
    pub const KR7: usize = 7;
    /// Register stack configuration.
    pub const RSC: usize = 16;
    /// Backing store pointer.
    pub const BSP: usize = 17;
    /// Backing store pointer for memory stores.
    pub const BSPSTORE: usize = 18;
    /// Collected NaT bits of the register stack engine.
    pub const RNAT: usize = 19;
    /// The upper half of 16-byte accesses.
    pub const CSD: usize = 25;
    /// Compare value of `cmpxchg`.
    pub const CCV: usize = 32;
    /// Collected NaT bits of `st8.spill`.
    pub const UNAT: usize = 36;
    /// Floating-point status.
    pub const FPSR: usize = 40;
    /// Interval time counter.
    pub const ITC: usize = 44;
    /// Resource utilization counter.
    pub const RUC: usize = 45;
    /// Previous function state.
    pub const PFS: usize = 64;
    /// Loop count.
    pub const LC: usize = 65;
    /// Epilogue count.
    pub const EC: usize = 66;
}

/// Numbers of control registers.
pub mod cr {
    /// Default control.
    pub const DCR: usize = 0;
    /// Interval timer match.
    pub const ITM: usize = 1;
    /// Interruption vector address.
    pub const IVA: usize = 2;
    /// Page table address.
    pub const PTA: usize = 8;
    /// Interruption PSR.
    pub const IPSR: usize = 16;
    /// Interruption status.
    pub const ISR: usize = 17;
    /// Interruption instruction pointer.
    pub const IIP: usize = 19;
    /// Interruption faulting address.
    pub const IFA: usize = 20;
    /// Interruption translation insertion.
    pub const ITIR: usize = 21;
    /// Interruption instruction previous address.
    pub const IIPA: usize = 22;
    /// Interruption function state.
    pub const IFS: usize = 23;
    /// Interruption immediate.
    pub const IIM: usize = 24;
    /// Interruption hash address.
    pub const IHA: usize = 25;
    /// Local identity of the interrupt controller.
    pub const LID: usize = 64;
    /// External interrupt vector; a read accepts the interrupt.
    pub const IVR: usize = 65;
    /// Task priority.
    pub const TPR: usize = 66;
    /// End of interrupt.
    pub const EOI: usize = 67;
    /// The first of four interrupt request registers.
    pub const IRR0: usize = 68;
    /// Interval timer vector.
    pub const ITV: usize = 72;
    /// Performance monitor vector.
    pub const PMV: usize = 73;
    /// Corrected machine check vector.
    pub const CMCV: usize = 74;
    /// The first of two local redirection registers.
    pub const LRR0: usize = 80;
    /// The second.
    pub const LRR1: usize = 81;
}

/// Offsets of interruption vectors from IVA (SDM volume 2, table 5-7).
pub mod vector {
    /// Alternate instruction TLB: here an instruction address without memory.
    pub const ALTERNATE_INSTRUCTION_TLB: u16 = 0x0C00;
    /// Alternate data TLB: here a data address without memory.
    pub const ALTERNATE_DATA_TLB: u16 = 0x1000;
    /// Data nested TLB: the same while PSR.ic is 0.
    pub const DATA_NESTED_TLB: u16 = 0x1400;
    /// `break`.
    pub const BREAK: u16 = 0x2C00;
    /// External interrupt.
    pub const EXTERNAL_INTERRUPT: u16 = 0x3000;
    /// General exception.
    pub const GENERAL_EXCEPTION: u16 = 0x5400;
    /// Disabled floating-point register.
    pub const DISABLED_FP: u16 = 0x5500;
    /// NaT consumption.
    pub const NAT_CONSUMPTION: u16 = 0x5600;
    /// Debug.
    pub const DEBUG: u16 = 0x5900;
    /// Unaligned reference.
    pub const UNALIGNED: u16 = 0x5A00;
    /// Floating-point trap.
    pub const FLOATING_TRAP: u16 = 0x5D00;
    /// Lower-privilege transfer trap.
    pub const LOWER_PRIVILEGE: u16 = 0x5E00;
    /// Taken branch trap.
    pub const TAKEN_BRANCH: u16 = 0x5F00;
    /// Single step trap.
    pub const SINGLE_STEP: u16 = 0x6000;
}

/// Bits and codes of ISR (SDM volume 2, 8.3).
pub mod isr {
    /// A floating-point trap, among traps: the result overflowed, or underflowed.
    pub const FLOATING_TRAP: u64 = 1;
    /// The result overflowed.
    pub const OVERFLOW: u64 = 1 << 11;
    /// The result underflowed.
    pub const UNDERFLOW: u64 = 1 << 12;
    /// The code of an illegal operation fault, among general exceptions.
    pub const ILLEGAL_OPERATION: u64 = 0x00;
    /// The code of a privileged operation fault.
    pub const PRIVILEGED_OPERATION: u64 = 0x10;
    /// The code of a privileged register fault.
    pub const PRIVILEGED_REGISTER: u64 = 0x20;
    /// The code of a reserved register or field fault.
    pub const RESERVED_REGISTER_FIELD: u64 = 0x30;
    /// The code of a disabled instruction set transition fault.
    pub const DISABLED_TRANSITION: u64 = 0x40;
    /// The code of a register NaT consumption fault.
    pub const REGISTER_NAT: u64 = 0x10;
    /// An execute access.
    pub const X: u64 = 1 << 32;
    /// A write access.
    pub const W: u64 = 1 << 33;
    /// A read access.
    pub const R: u64 = 1 << 34;
    /// No access.
    pub const NA: u64 = 1 << 35;
    /// A speculative load.
    pub const SP: u64 = 1 << 36;
    /// An access of the register stack engine.
    pub const RS: u64 = 1 << 37;
    /// While PSR.ic was 0.
    pub const NI: u64 = 1 << 39;
    /// The place of the slot, two bits.
    pub const EI_SHIFT: u32 = 41;
}

/// DCR.pp: what PSR.pp becomes at an interruption.
pub const DCR_PP: u64 = 1;
/// DCR.be: what PSR.be becomes at an interruption.
pub const DCR_BE: u64 = 2;

/// The spurious interrupt's vector.
pub const SPURIOUS: u8 = 15;

/// What the five CPUID registers hold: the vendor, no serial number, a Montecito, and the features.
pub const MONTECITO_CPUID: [u64; 5] = [
    u64::from_le_bytes(*b"GenuineI"),
    0x6C65_746E,
    0,
    // Family 32, model 0, revision 7, archrev 0, four registers after the first.
    0x2000_0704,
    // Long branch, spontaneous deferral, 16-byte atomics.
    0x7,
];
