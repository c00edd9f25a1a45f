//! One instruction, as sampling and qualification need it.

use super::Sample;

/// The kind of a control transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum BranchKind {
    /// A conditional near branch.
    Conditional,
    /// An unconditional near jump to a fixed target.
    DirectJump,
    /// A near jump whose target comes from a register or memory.
    IndirectJump,
    /// A near call of a fixed target.
    DirectCall,
    /// A near call whose target comes from a register or memory.
    IndirectCall,
    /// A near return.
    Return,
    /// A far transfer: system call and return, interrupt return, far call and jump; on IA-64 rfi.
    Far,
    /// A fault or trap left the flow of instructions, for its handler.
    Exception,
    /// A speculation check failed and went to its recovery code: on IA-64 chk.s, chk.a, fchkf.
    FailedCheck,
}

impl BranchKind {
    /// Whether it is not a branch of the program, and so is not predicted.
    #[must_use]
    pub const fn is_far(self) -> bool {
        matches!(self, BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck)
    }
}

/// How a control transfer was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Prediction {
    /// It was not predicted, or this is not known.
    #[default]
    None,
    /// Direction and target were right.
    Right,
    /// The direction was wrong.
    WrongDirection,
    /// The direction was right, the target was not.
    WrongTarget,
}

/// The control transfer that an instruction made, or did not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Branch {
    /// What kind of transfer.
    pub kind: BranchKind,
    /// Whether it left the next sequential address.
    pub taken: bool,
    /// Where it went, or would have gone.
    pub target: u64,
    /// How it was predicted.
    pub prediction: Prediction,
}

impl Branch {
    /// A transfer whose prediction is not known.
    #[must_use]
    pub fn new(kind: BranchKind, taken: bool, target: u64) -> Branch {
        Branch { kind, taken, target, prediction: Prediction::None }
    }
}

/// Where the data of a load came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum DataSource {
    /// Not known.
    #[default]
    Unknown,
    /// The store buffer of the same thread.
    StoreForward,
    /// A cache of the same core; the level counts from 1.
    Cache(u8),
    /// A cache of another core of the same package; clean or modified there.
    OtherCore {
        /// The line was modified there.
        modified: bool,
    },
    /// A cache of another package.
    OtherPackage {
        /// The line was modified there.
        modified: bool,
    },
    /// Memory of the same package.
    LocalMemory,
    /// Memory of another package.
    RemoteMemory,
    /// A device, or uncacheable memory.
    Device,
    /// The third level of another core of the same package, where it is told from the levels before it.
    OtherL3 {
        /// The line was modified there.
        modified: bool,
    },
    /// A third level of the same package that no core uses itself, and that keeps lines of the others.
    LentL3 {
        /// The line was modified there.
        modified: bool,
    },
    /// A cache of a package of another group.
    DistantPackage {
        /// The line was modified there.
        modified: bool,
    },
    /// Memory of a package of another group.
    DistantMemory,
    /// A fourth level, in front of memory of the same package.
    LocalL4,
    /// A fourth level, in front of memory of another package.
    RemoteL4,
    /// A fourth level, in front of memory of a package of another group.
    DistantL4,
}

impl DataSource {
    /// Whether a cache of the same package gave it that is none of the core's own.
    ///
    /// ```
    /// use vm_pmu_arch::feed::DataSource;
    ///
    /// assert!(DataSource::OtherL3 { modified: false }.is_of_another_core());
    /// assert!(!DataSource::LocalL4.is_of_another_core());
    /// ```
    #[must_use]
    pub const fn is_of_another_core(self) -> bool {
        matches!(self, DataSource::OtherCore { .. } | DataSource::OtherL3 { .. } | DataSource::LentL3 { .. })
    }

    /// Whether a cache of another package gave it, of whichever group.
    #[must_use]
    pub const fn is_of_another_packages_cache(self) -> bool {
        matches!(self, DataSource::OtherPackage { .. } | DataSource::DistantPackage { .. })
    }

    /// Whether memory of another package gave it, of whichever group, or the fourth level in front of that.
    #[must_use]
    pub const fn is_of_another_packages_memory(self) -> bool {
        matches!(self, DataSource::RemoteMemory | DataSource::RemoteL4 | DataSource::DistantMemory | DataSource::DistantL4)
    }

    /// Whether another package gave it.
    #[must_use]
    pub const fn is_of_another_package(self) -> bool {
        self.is_of_another_packages_cache() || self.is_of_another_packages_memory()
    }

    /// Whether a cache that is none of the core's own gave it, and had it modified.
    #[must_use]
    pub const fn was_modified(self) -> bool {
        match self {
            DataSource::OtherCore { modified }
            | DataSource::OtherL3 { modified }
            | DataSource::LentL3 { modified }
            | DataSource::OtherPackage { modified }
            | DataSource::DistantPackage { modified } => modified,
            _ => false,
        }
    }

    /// The code that POWER9 has for what reloads a line from there (Table A-6 of its guide); `None` where nothing is reloaded.
    ///
    /// Another core of the package is taken for its second level, and another package for one of the same group.
    #[must_use]
    pub const fn reload_code(self) -> Option<u8> {
        match self {
            DataSource::Cache(2) => Some(0x00),
            DataSource::Cache(3) => Some(0x04),
            DataSource::OtherL3 { modified: false } => Some(0x10),
            DataSource::OtherL3 { modified: true } => Some(0x11),
            DataSource::LentL3 { modified: false } => Some(0x12),
            DataSource::LentL3 { modified: true } => Some(0x13),
            DataSource::OtherPackage { modified: false } => Some(0x14),
            DataSource::OtherPackage { modified: true } => Some(0x15),
            DataSource::DistantPackage { modified: false } => Some(0x16),
            DataSource::DistantPackage { modified: true } => Some(0x17),
            DataSource::OtherCore { modified: false } => Some(0x18),
            DataSource::OtherCore { modified: true } => Some(0x19),
            DataSource::LocalL4 => Some(0x1A),
            DataSource::LocalMemory => Some(0x1B),
            DataSource::RemoteL4 => Some(0x1C),
            DataSource::RemoteMemory => Some(0x1D),
            DataSource::DistantL4 => Some(0x1E),
            DataSource::DistantMemory => Some(0x1F),
            DataSource::Unknown | DataSource::StoreForward | DataSource::Cache(_) | DataSource::Device => None,
        }
    }
}

/// What address translation cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Translation {
    /// Not known.
    #[default]
    Unknown,
    /// The translation buffer of this level had it; the level counts from 1.
    Hit(u8),
    /// A walk of the page tables, hashed or radix, by hardware.
    Walk,
    /// A fault to software.
    Fault,
}

/// The access to memory that an instruction made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Memory {
    /// Its effective (virtual) address.
    pub address: u64,
    /// Its size in bytes.
    pub size: u8,
    /// It read.
    pub load: bool,
    /// It wrote.
    pub store: bool,
    /// From issue to data, in cycles of the thread's clock; 0 if not known.
    pub latency: u32,
    /// Where the data came from.
    pub source: DataSource,
    /// What the translation cost.
    pub translation: Translation,
}

impl Memory {
    /// A load of `size` bytes of which nothing else is known.
    #[must_use]
    pub fn load(address: u64, size: u8) -> Memory {
        Memory { address, size, load: true, store: false, latency: 0, source: DataSource::Unknown, translation: Translation::Unknown }
    }

    /// A store of `size` bytes of which nothing else is known.
    #[must_use]
    pub fn store(address: u64, size: u8) -> Memory {
        Memory { load: false, store: true, ..Memory::load(address, size) }
    }
}

/// The fetch of an instruction's line, where the first-level instruction cache or translation buffer did not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Fetch {
    /// The effective (virtual) address that was fetched.
    pub address: u64,
    /// The first-level instruction cache missed; a hit in a streaming buffer next to it is no miss.
    pub cache_miss: bool,
    /// The line was on its way already: its request address buffer had it.
    pub pending: bool,
    /// It was a prefetch, not a demand fetch; its address may be anywhere.
    pub prefetch: bool,
    /// From the request to the instructions, in cycles of the thread's clock; 0 if not known.
    pub latency: u32,
    /// What the translation cost.
    pub translation: Translation,
}

/// One completed instruction, reported when [`Demand::records`](super::Demand::records) asks for it.
///
/// Totals say how much happened; a record says what one instruction was: sampling registers, address and opcode qualification,
/// branch traces and latency thresholds are made of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Record {
    /// The instruction's effective (virtual) address; on IA-64 that of its bundle.
    pub address: u64,
    /// Its slot in the bundle on IA-64, 0 to 2, else 0. On IA-64 a higher number counts as 2.
    pub slot: u8,
    /// Its encoding: up to eight bytes, 41 bits on IA-64, as a little-endian number.
    pub encoding: u64,
    /// The cycles from the completion of the instruction before it to its own.
    pub cycles: u32,
    /// The control transfer it made, if it is one.
    pub branch: Option<Branch>,
    /// The access to memory it made, if any.
    pub memory: Option<Memory>,
    /// What its fetch missed, if anything.
    pub fetch: Option<Fetch>,
    /// What became of it in the pipeline and the caches, where an embedder knows.
    pub sample: Sample,
}

impl Record {
    /// An instruction at `address` of which nothing else is known; it took one cycle.
    #[must_use]
    pub fn at(address: u64) -> Record {
        Record { address, slot: 0, encoding: 0, cycles: 1, branch: None, memory: None, fetch: None, sample: Sample::default() }
    }
}
