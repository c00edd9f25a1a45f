//! Numbers of registers and their bits, as masks of a 64-bit value. Bit numbers in the text are the manuals': bit 0 is the most
//! significant.

/// Bits of the machine state register (Power ISA 3.0B, Book III, 3.2.1).
pub mod msr {
    /// Bit 0: 64-bit mode.
    pub const SF: u64 = 1 << 63;
    /// Bit 1: tags active.
    pub const TA: u64 = 1 << 62;
    /// Bit 3: hypervisor state, together with PR.
    pub const HV: u64 = 1 << 60;
    /// Bits 29:30: the transaction state.
    pub const TS: u64 = 3 << 33;
    /// The value of TS in a transaction.
    pub const TS_TRANSACTIONAL: u64 = 1 << 34;
    /// The value of TS in a suspended transaction.
    pub const TS_SUSPENDED: u64 = 1 << 33;
    /// Bit 31: transactional memory is available.
    pub const TM: u64 = 1 << 32;
    /// Bit 38: vector instructions are available.
    pub const VEC: u64 = 1 << 25;
    /// Bit 40: VSX instructions are available.
    pub const VSX: u64 = 1 << 23;
    /// Bit 48: external interrupts, those of the performance monitor among them, are enabled.
    pub const EE: u64 = 1 << 15;
    /// Bit 49: problem state.
    pub const PR: u64 = 1 << 14;
    /// Bit 50: floating-point instructions are available.
    pub const FP: u64 = 1 << 13;
    /// Bit 51: machine check interrupts are enabled.
    pub const ME: u64 = 1 << 12;
    /// Bit 52: floating-point exception mode 0.
    pub const FE0: u64 = 1 << 11;
    /// Bit 53: a trace interrupt follows every instruction.
    pub const SE: u64 = 1 << 10;
    /// Bit 54: a trace interrupt follows every branch.
    pub const BE: u64 = 1 << 9;
    /// Bit 55: floating-point exception mode 1.
    pub const FE1: u64 = 1 << 8;
    /// Bit 58: instruction addresses are translated.
    pub const IR: u64 = 1 << 5;
    /// Bit 59: data addresses are translated.
    pub const DR: u64 = 1 << 4;
    /// Bit 61: the program is marked for the performance monitor.
    pub const PMM: u64 = 1 << 2;
    /// Bit 62: an interrupt is recoverable.
    pub const RI: u64 = 1 << 1;
    /// Bit 63: little-endian mode.
    pub const LE: u64 = 1;
    /// All bits that can be set.
    pub const ALL: u64 = SF | TA | HV | TS | TM | VEC | VSX | EE | PR | FP | ME | FE0 | SE | BE | FE1 | IR | DR | PMM | RI | LE;
}

/// Bits of the event-based branch status and control register, BESCR (Power ISA 3.0B, Book II, 6.2.1).
pub mod bescr {
    /// Bit 0: event-based branches are enabled.
    pub const GE: u64 = 1 << 63;
    /// Bit 31: events of the performance monitor are enabled.
    pub const PME: u64 = 1 << 32;
    /// Bits 32:33: the transaction state when an event-based branch was taken.
    pub const TS: u64 = 3 << 30;
    /// Bit 63: an event of the performance monitor has occurred.
    pub const PMEO: u64 = 1;
}

/// Bits of the facility status and control registers, FSCR for problem state and HFSCR for all but the hypervisor (Power ISA 3.0B,
/// Book III, 6.2.10 and 6.2.11). The interrupt cause is in bits 0:7 of both.
pub mod facility {
    /// Bit 55: the target address register and `bctar`.
    pub const TAR: u64 = 1 << 8;
    /// Bit 56: event-based branches.
    pub const EBB: u64 = 1 << 7;
    /// Bit 58, HFSCR only: transactional memory.
    pub const TM: u64 = 1 << 5;
    /// Bit 59, HFSCR only: the branch history rolling buffer.
    pub const BHRB: u64 = 1 << 4;
    /// Bit 60, HFSCR only: the registers of the performance monitor.
    pub const PM: u64 = 1 << 3;
    /// Bit 61: the data stream control register by its number 3.
    pub const DSCR: u64 = 1 << 2;
    /// Bit 62, HFSCR only: vector and VSX instructions.
    pub const VEC: u64 = 1 << 1;
    /// Bit 63, HFSCR only: floating point.
    pub const FP: u64 = 1;

    /// Interrupt cause: floating point.
    pub const CAUSE_FP: u8 = 0x00;
    /// Interrupt cause: vector and VSX.
    pub const CAUSE_VEC: u8 = 0x01;
    /// Interrupt cause: the data stream control register.
    pub const CAUSE_DSCR: u8 = 0x02;
    /// Interrupt cause: a register of the performance monitor.
    pub const CAUSE_PM: u8 = 0x03;
    /// Interrupt cause: `mfbhrbe` or `clrbhrb`.
    pub const CAUSE_BHRB: u8 = 0x04;
    /// Interrupt cause: transactional memory.
    pub const CAUSE_TM: u8 = 0x05;
    /// Interrupt cause: event-based branches.
    pub const CAUSE_EBB: u8 = 0x07;
    /// Interrupt cause: the target address register.
    pub const CAUSE_TAR: u8 = 0x08;
}

/// Bits of the logical partition control register, LPCR (Power ISA 3.0B, Book III, 2.2).
pub mod lpcr {
    /// Bit 38: interrupts to a guest are taken in little-endian mode.
    pub const ILE: u64 = 1 << 25;
    /// Bits 39:40: alternate interrupt location.
    pub const AIL: u64 = 3 << 23;
    /// Bit 41: the entries of a process table describe the trees of processes.
    pub const UPRT: u64 = 1 << 22;
    /// Bit 42: an attempt to use what only the hypervisor may use is an emulation assistance interrupt to it.
    pub const EVIRT: u64 = 1 << 21;
    /// Bit 43: the host translates by radix trees.
    pub const HR: u64 = 1 << 20;
}

/// Bit 4 of HID0: interrupts to the hypervisor are taken in little-endian mode (QEMU's `HID0_POWER9_HILE`).
pub const HID0_HILE: u64 = 1 << 59;

/// Numbers of special purpose registers (Power ISA 3.0B, Book III, 4.4.4). Those of the performance monitor are its model's.
pub mod spr {
    /// Fixed-point exception register.
    pub const XER: u16 = 1;
    /// Data stream control register, problem state.
    pub const DSCR_USER: u16 = 3;
    /// Link register.
    pub const LR: u16 = 8;
    /// Count register.
    pub const CTR: u16 = 9;
    /// Data stream control register.
    pub const DSCR: u16 = 17;
    /// Data storage interrupt status register.
    pub const DSISR: u16 = 18;
    /// Data address register.
    pub const DAR: u16 = 19;
    /// Decrementer; storage only here.
    pub const DEC: u16 = 22;
    /// Save/restore register 0.
    pub const SRR0: u16 = 26;
    /// Save/restore register 1.
    pub const SRR1: u16 = 27;
    /// Process identifier.
    pub const PIDR: u16 = 48;
    /// Transaction failure handler address.
    pub const TFHAR: u16 = 128;
    /// Transaction failure instruction address.
    pub const TFIAR: u16 = 129;
    /// Transaction exception and status register.
    pub const TEXASR: u16 = 130;
    /// Its upper 32 bits.
    pub const TEXASRU: u16 = 131;
    /// Control register, to read. Bit 63 is the run latch.
    pub const CTRL_READ: u16 = 136;
    /// Control register, to write.
    pub const CTRL: u16 = 152;
    /// Facility status and control register.
    pub const FSCR: u16 = 153;
    /// Hypervisor facility status and control register.
    pub const HFSCR: u16 = 190;
    /// SPRG3, to read in problem state.
    pub const SPRG3_USER: u16 = 259;
    /// Time base.
    pub const TB: u16 = 268;
    /// Upper 32 bits of the time base.
    pub const TBU: u16 = 269;
    /// Software-use register 0.
    pub const SPRG0: u16 = 272;
    /// Software-use register 1.
    pub const SPRG1: u16 = 273;
    /// Software-use register 2.
    pub const SPRG2: u16 = 274;
    /// Software-use register 3.
    pub const SPRG3: u16 = 275;
    /// Lower 32 bits of the time base, to write.
    pub const TBL_WRITE: u16 = 284;
    /// Upper 32 bits of the time base, to write.
    pub const TBU_WRITE: u16 = 285;
    /// Upper 40 bits of the time base, to write.
    pub const TBU40: u16 = 286;
    /// Processor version register.
    pub const PVR: u16 = 287;
    /// Hypervisor software-use register 0.
    pub const HSPRG0: u16 = 304;
    /// Hypervisor software-use register 1.
    pub const HSPRG1: u16 = 305;
    /// Hypervisor data storage interrupt status register.
    pub const HDSISR: u16 = 306;
    /// Hypervisor data address register.
    pub const HDAR: u16 = 307;
    /// Hypervisor decrementer; storage only here.
    pub const HDEC: u16 = 310;
    /// Hypervisor save/restore register 0.
    pub const HSRR0: u16 = 314;
    /// Hypervisor save/restore register 1.
    pub const HSRR1: u16 = 315;
    /// Logical partition control register.
    pub const LPCR: u16 = 318;
    /// Logical partition identifier.
    pub const LPIDR: u16 = 319;
    /// Processor compatibility register.
    pub const PCR: u16 = 338;
    /// Hypervisor emulation instruction register.
    pub const HEIR: u16 = 339;
    /// Partition table control register.
    pub const PTCR: u16 = 464;
    /// BESCR: the bits written as 1 are set.
    pub const BESCRS: u16 = 800;
    /// BESCR: the bits of the upper half written as 1 are set.
    pub const BESCRSU: u16 = 801;
    /// BESCR: the bits written as 1 are cleared.
    pub const BESCRR: u16 = 802;
    /// BESCR: the bits of the upper half written as 1 are cleared.
    pub const BESCRRU: u16 = 803;
    /// Where event-based branches go.
    pub const EBBHR: u16 = 804;
    /// Where event-based branches return to.
    pub const EBBRR: u16 = 805;
    /// Event-based branch status and control register.
    pub const BESCR: u16 = 806;
    /// Target address register.
    pub const TAR: u16 = 815;
    /// Access segment descriptor register: the guest real address of a hypervisor's storage interrupt.
    pub const ASDR: u16 = 816;
    /// Instruction counter of a partition; storage only here.
    pub const IC: u16 = 848;
    /// Virtual time base; storage only here.
    pub const VTB: u16 = 849;
    /// Base address of the in-memory collection; storage only here.
    pub const LDBAR: u16 = 850;
    /// Program priority register.
    pub const PPR: u16 = 896;
    /// Upper 32 bits of the program priority register.
    pub const PPR32: u16 = 898;
    /// Hardware implementation-dependent register 0.
    pub const HID0: u16 = 1008;
    /// Processor identification register.
    pub const PIR: u16 = 1023;
}

/// What the processor version register reads: POWER9 DD 2.2.
pub const POWER9_PVR: u64 = 0x004E_1202;

/// Vectors of interrupts (Power ISA 3.0B, Book III, 6.5).
pub mod vector {
    /// Data storage: an access outside memory, or one that no tree allows.
    pub const DATA_STORAGE: u16 = 0x300;
    /// Instruction storage: an instruction outside memory, or one that no tree allows.
    pub const INSTRUCTION_STORAGE: u16 = 0x400;
    /// External.
    pub const EXTERNAL: u16 = 0x500;
    /// Alignment.
    pub const ALIGNMENT: u16 = 0x600;
    /// Program: privileged instructions and traps.
    pub const PROGRAM: u16 = 0x700;
    /// Floating point unavailable.
    pub const FP_UNAVAILABLE: u16 = 0x800;
    /// System call.
    pub const SYSTEM_CALL: u16 = 0xC00;
    /// Trace.
    pub const TRACE: u16 = 0xD00;
    /// Hypervisor data storage: the partition's tree does not allow the access.
    pub const HYPERVISOR_DATA_STORAGE: u16 = 0xE00;
    /// Hypervisor instruction storage: the partition's tree does not allow the fetch.
    pub const HYPERVISOR_INSTRUCTION_STORAGE: u16 = 0xE20;
    /// Hypervisor emulation assistance.
    pub const EMULATION_ASSISTANCE: u16 = 0xE40;
    /// Performance monitor.
    pub const PERFORMANCE_MONITOR: u16 = 0xF00;
    /// Vector unavailable.
    pub const VECTOR_UNAVAILABLE: u16 = 0xF20;
    /// VSX unavailable.
    pub const VSX_UNAVAILABLE: u16 = 0xF40;
    /// Facility unavailable.
    pub const FACILITY_UNAVAILABLE: u16 = 0xF60;
    /// Hypervisor facility unavailable.
    pub const HYPERVISOR_FACILITY_UNAVAILABLE: u16 = 0xF80;
}

/// Bits of SRR1 for the reason (Power ISA 3.0B, Book III, 6.5).
pub mod reason {
    /// Bit 42 of a program interrupt: the transaction state would become one that cannot be.
    pub const TM_BAD_THING: u64 = 1 << 21;
    /// Bit 45 of a program interrupt: a privileged instruction in problem state.
    pub const PRIVILEGED: u64 = 1 << 18;
    /// Bit 46 of a program interrupt: a trap.
    pub const TRAP: u64 = 1 << 17;
    /// Bit 33 of a trace interrupt: always.
    pub const TRACED: u64 = 1 << 30;
    /// Bit 35 of a trace interrupt: the instruction loaded, or named a cache block other than by `dcbtst`.
    pub const TRACED_LOAD: u64 = 1 << 28;
    /// Bit 36 of a trace interrupt: the instruction stored, or was `dcbtst`.
    pub const TRACED_STORE: u64 = 1 << 27;
    /// Bit 33 of an instruction storage interrupt, and of DSISR: there is no memory at this address, or no translation.
    pub const NO_MEMORY: u64 = 1 << 30;
    /// Bit 35 of an instruction storage interrupt: a page that may not be executed.
    pub const NOT_EXECUTABLE: u64 = 1 << 28;
    /// Bit 36 of DSISR: a page that may not be accessed so.
    pub const PROTECTED: u64 = 1 << 27;
    /// Bit 38 of DSISR: the access was a store.
    pub const STORE: u64 = 1 << 25;
}
