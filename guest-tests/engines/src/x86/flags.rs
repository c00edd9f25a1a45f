//! RFLAGS and control-register bits, under the manuals' names.

/// Carry flag.
pub(crate) const CF: u64 = 1 << 0;
/// The bit of RFLAGS that always reads as one.
pub(crate) const FIXED: u64 = 1 << 1;
/// Parity flag.
pub(crate) const PF: u64 = 1 << 2;
/// Auxiliary carry flag.
pub(crate) const AF: u64 = 1 << 4;
/// Zero flag.
pub(crate) const ZF: u64 = 1 << 6;
/// Sign flag.
pub(crate) const SF: u64 = 1 << 7;
/// Trap flag.
pub(crate) const TF: u64 = 1 << 8;
/// Interrupt flag.
pub(crate) const IF: u64 = 1 << 9;
/// Direction flag.
pub(crate) const DF: u64 = 1 << 10;
/// Overflow flag.
pub(crate) const OF: u64 = 1 << 11;
/// I/O privilege level.
pub(crate) const IOPL: u64 = 3 << 12;
/// Nested task.
pub(crate) const NT: u64 = 1 << 14;
/// Resume flag.
pub(crate) const RF: u64 = 1 << 16;
/// Alignment check.
pub(crate) const AC: u64 = 1 << 18;
/// Identification flag.
pub(crate) const ID: u64 = 1 << 21;

/// The six status flags.
pub(crate) const STATUS: u64 = CF | PF | AF | ZF | SF | OF;
/// Bits that POPF and IRET may change at CPL 0.
pub(crate) const WRITABLE: u64 = STATUS | TF | IF | DF | IOPL | NT | AC | ID;

/// CR0: protection enable, extension type, write protect, paging.
pub(crate) const CR0_PE: u64 = 1 << 0;
/// CR0: monitor coprocessor.
pub(crate) const CR0_MP: u64 = 1 << 1;
/// CR0: emulation.
pub(crate) const CR0_EM: u64 = 1 << 2;
/// CR0: task switched.
pub(crate) const CR0_TS: u64 = 1 << 3;
/// CR0: extension type.
pub(crate) const CR0_ET: u64 = 1 << 4;
/// CR0: numeric error.
pub(crate) const CR0_NE: u64 = 1 << 5;
/// CR0: write protect.
pub(crate) const CR0_WP: u64 = 1 << 16;
/// CR0: alignment mask.
pub(crate) const CR0_AM: u64 = 1 << 18;
/// CR0: not write through.
pub(crate) const CR0_NW: u64 = 1 << 29;
/// CR0: cache disable.
pub(crate) const CR0_CD: u64 = 1 << 30;
/// CR0: paging.
pub(crate) const CR0_PG: u64 = 1 << 31;

/// CR4: time-stamp disable.
pub(crate) const CR4_TSD: u64 = 1 << 2;
/// CR4: page-size extensions.
pub(crate) const CR4_PSE: u64 = 1 << 4;
/// CR4: physical-address extension.
pub(crate) const CR4_PAE: u64 = 1 << 5;
/// CR4: global pages.
pub(crate) const CR4_PGE: u64 = 1 << 7;
/// CR4: FXSAVE and SSE support.
pub(crate) const CR4_OSFXSR: u64 = 1 << 9;
/// CR4: RDFSBASE and its kin.
pub(crate) const CR4_FSGSBASE: u64 = 1 << 16;
/// The CR4 bits that may be set: VME to OSXMMEXCPT, and FSGSBASE.
pub(crate) const CR4_VALID: u64 = 0x7ff | CR4_FSGSBASE;

/// EFER: SYSCALL enable.
pub(crate) const EFER_SCE: u64 = 1 << 0;
/// EFER: long mode enable.
pub(crate) const EFER_LME: u64 = 1 << 8;
/// EFER: long mode active.
pub(crate) const EFER_LMA: u64 = 1 << 10;
/// EFER: no-execute enable.
pub(crate) const EFER_NXE: u64 = 1 << 11;

/// DR7 after reset.
pub(crate) const DR7_RESET: u64 = 0x400;
