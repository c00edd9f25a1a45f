//! What is reported to an observer about each thing a CPU did.

use vm_pmu::arch::feed::BranchKind;
use vm_pmu::companion::Class;
use vm_pmu::decode::Description;
use vm_pmu::decode::x86::{Facts, Instruction, Operands, is_microcode};

/// What kind of thing a [`Step`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepKind {
    /// An instruction retired.
    #[default]
    Instruction,
    /// INT n, INT3 or INTO retired and went to its handler.
    SoftwareInterrupt {
        /// Vector number.
        vector: u8,
    },
    /// One iteration of a REP string instruction that has more to do. Nothing retired; RIP is
    /// still on the instruction and an interrupt may be taken before the next iteration.
    Iteration,
    /// A maskable hardware interrupt was taken.
    Interrupt {
        /// Vector number.
        vector: u8,
    },
    /// A non-maskable interrupt was taken.
    Nmi,
    /// An exception was taken. The instruction at `rip` did not retire, except for the trap #DB.
    Exception {
        /// Vector number.
        vector: u8,
    },
}

/// A control transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its kind: [far](BranchKind::Far) of every interrupt and exception taken too.
    pub kind: BranchKind,
    /// Whether it was taken; only [`BranchKind::Conditional`] ones may not be.
    pub taken: bool,
    /// Where it goes when taken.
    pub target: u64,
}

/// One memory access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Linear address.
    pub address: u64,
    /// Physical address of the first byte.
    pub physical: u64,
    /// Bytes.
    pub size: u8,
    /// A store rather than a load.
    pub is_write: bool,
    /// Part of a locked read-modify-write.
    pub locked: bool,
}

/// What a prefetch or CLFLUSH names, which is no access: no data goes to a register or comes from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Linear address.
    pub address: u64,
    /// Physical address.
    pub physical: u64,
}

/// Translations that a step made the processor forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalidation {
    /// All of them: MOV to CR3 without CR4.PGE, and a change of CR0.WP, CR4.PSE, CR4.PGE or EFER.NXE.
    All,
    /// All but those of global pages: MOV to CR3 with CR4.PGE.
    NonGlobal,
    /// That of the page with this linear address, global or not: INVLPG.
    Page(u64),
}

/// Instructions that hold a processor up in their own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstructionClass {
    /// All others.
    #[default]
    Plain,
    /// What serialises on AMD processors: CPUID, IRET, MOV to control and debug registers, WRMSR, LGDT, LIDT, LLDT, LTR, INVD,
    /// WBINVD, INVLPG.
    Serializing,
    /// DIV, IDIV.
    Divide,
    /// MUL, IMUL.
    Multiply,
    /// LFENCE, MFENCE, SFENCE.
    Fence,
    /// Stores past the caches: MOVNTI, MOVNTDQ, MOVNTPS, MOVNTPD.
    Streaming,
}

impl InstructionClass {
    fn of(description: &Description, facts: &Facts) -> Self {
        match description.operands.class {
            _ if facts.streaming => Self::Streaming,
            Class::Serializing => Self::Serializing,
            Class::Divide | Class::SignedDivide => Self::Divide,
            Class::Multiply | Class::WideMultiply => Self::Multiply,
            Class::Fence => Self::Fence,
            _ => Self::Plain,
        }
    }
}

/// A set of segment registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentSet(pub u8);

impl SegmentSet {
    /// ES.
    pub const ES: Self = Self(1);
    /// CS.
    pub const CS: Self = Self(2);
    /// SS.
    pub const SS: Self = Self(4);
    /// DS.
    pub const DS: Self = Self(8);
    /// FS.
    pub const FS: Self = Self(16);
    /// GS.
    pub const GS: Self = Self(32);
    /// HS, the name K8 events give to the hidden segment; never loaded here.
    pub const HS: Self = Self(64);

    /// Whether every register of `other` is in the set.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// How many registers are in the set.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What is known of an instruction from its encoding alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionInfo {
    /// Bytes of the instruction.
    pub length: u8,
    /// The first eight of them, as a little-endian number.
    pub encoding: u64,
    /// Estimated [micro-operations](Description::micro_ops).
    pub micro_ops: u8,
    /// What a model of timing must distinguish.
    pub class: InstructionClass,
    /// The kind of its control transfer, if it is one.
    pub branch: Option<BranchKind>,
    /// Facts that the decoder knows besides.
    pub facts: Facts,
    /// The registers that it works on.
    pub operands: Operands,
}

impl InstructionInfo {
    /// Takes from the decoder's result what a step reports; the instruction is at the start of `bytes`.
    pub(crate) fn of(instruction: &Instruction, bytes: &[u8]) -> Self {
        let Instruction { description, facts } = instruction;
        let encoded = bytes.iter().take(usize::from(description.length).min(8));
        Self {
            length: description.length,
            encoding: encoded.rev().fold(0, |encoding, byte| encoding << 8 | u64::from(*byte)),
            micro_ops: description.micro_ops,
            class: InstructionClass::of(description, facts),
            branch: description.branch.map(|branch| branch.kind),
            facts: *facts,
            operands: description.operands,
        }
    }

    /// Whether it is microcode on every x86. All of its micro-operations then are.
    #[must_use]
    pub fn is_microcode(&self) -> bool {
        is_microcode(self.micro_ops)
    }
}

/// One step of one CPU: an instruction, one REP iteration, or a taken interrupt or exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What happened.
    pub kind: StepKind,
    /// Address of the instruction; for a taken interrupt, of the one that was interrupted.
    pub rip: u64,
    /// Physical address of the byte at `rip`; 0 if that could not be fetched.
    pub physical: u64,
    /// Where execution continues.
    pub next_rip: u64,
    /// CPL at the start of the step.
    pub cpl: u8,
    /// RFLAGS.IF was 0 at the start of the step.
    pub interrupts_masked: bool,
    /// The local APIC held an interrupt above the processor priority at the start of the step.
    pub interrupt_pending: bool,
    /// Cycles the step takes unless the observer returns another number in [`Alerts::cycles`](super::Alerts::cycles): one for every step.
    pub cycles: u32,
    /// What the encoding determines; all zero for taken interrupts and exceptions.
    pub instruction: InstructionInfo,
    /// The control transfer, if the step is one.
    pub branch: Option<Branch>,
    /// Segment registers whose descriptors were loaded.
    pub segment_loads: SegmentSet,
    /// What a prefetch or CLFLUSH names; `None` for a prefetch of what may not be read, which does nothing.
    pub touched: Option<Touched>,
    /// Translations that were forgotten.
    pub invalidation: Option<Invalidation>,
    /// Debug registers that match, bit n for DRn, whether DR7 enables the breakpoint or not: depending on its type and length, the
    /// instruction if it retires, its stores, or its loads and stores. Accesses to ports never match.
    pub breakpoints: u8,
    /// Data loads, including what RET, POP and IRET read. Reads of descriptor tables, task-state
    /// segments and page tables are not counted.
    pub loads: u8,
    /// Data stores, including what interrupt delivery pushes.
    pub stores: u8,
    /// Bytes loaded.
    pub load_bytes: u16,
    /// Bytes stored.
    pub store_bytes: u16,
    /// Accesses that crossed an 8-byte boundary.
    pub misaligned: u8,
    /// A store went to a 64-byte line that the decoder of some CPU has read since the line was last written.
    pub code_written: bool,
    recorded: u8,
    list: [Access; 6],
}

impl Step {
    /// The first six memory accesses, in program order: all of them except string instructions beyond one iteration and deep ENTERs. A
    /// locked or plain read-modify-write shows as a load and a store.
    #[must_use]
    pub fn accesses(&self) -> &[Access] {
        &self.list[..usize::from(self.recorded).min(self.list.len())]
    }

    /// Whether an instruction retired.
    #[must_use]
    pub fn retired(&self) -> bool {
        matches!(self.kind, StepKind::Instruction | StepKind::SoftwareInterrupt { .. })
    }

    #[inline]
    pub(crate) fn begin(&mut self, rip: u64) {
        self.kind = StepKind::Instruction;
        self.rip = rip;
        self.cycles = 1;
        self.branch = None;
        self.segment_loads = SegmentSet(0);
        self.touched = None;
        self.invalidation = None;
        self.breakpoints = 0;
        self.loads = 0;
        self.stores = 0;
        self.load_bytes = 0;
        self.store_bytes = 0;
        self.misaligned = 0;
        self.code_written = false;
        self.recorded = 0;
    }

    /// Counts an access; returns whether it is listed too.
    #[inline]
    pub(crate) fn record(&mut self, access: Access) -> bool {
        let size = u16::from(access.size);
        if access.is_write {
            self.stores = self.stores.saturating_add(1);
            self.store_bytes = self.store_bytes.saturating_add(size);
        } else {
            self.loads = self.loads.saturating_add(1);
            self.load_bytes = self.load_bytes.saturating_add(size);
        }
        if (access.address & 7) + u64::from(size) > 8 && (access.address & 7 != 0 || size <= 8) {
            self.misaligned = self.misaligned.saturating_add(1);
        }
        let Some(slot) = self.list.get_mut(usize::from(self.recorded)) else {
            return false;
        };
        *slot = access;
        self.recorded += 1;
        true
    }
}
