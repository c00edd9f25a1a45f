//! Translation for a guest whose page tables lie in memory that the tables of its host translate.

/// The size of a page, as far as radix trees tell sizes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum PageSize {
    /// 4 KiB.
    Size4K,
    /// 64 KiB.
    Size64K,
    /// 2 MiB.
    Size2M,
    /// 1 GiB.
    Size1G,
}

impl PageSize {
    /// Every size, smallest first.
    pub const ALL: [PageSize; 4] = [PageSize::Size4K, PageSize::Size64K, PageSize::Size2M, PageSize::Size1G];

    /// The largest of these sizes that a page of this many address bits holds.
    #[must_use]
    pub const fn of_bits(bits: u8) -> PageSize {
        match bits {
            ..16 => PageSize::Size4K,
            16..21 => PageSize::Size64K,
            21..30 => PageSize::Size2M,
            30.. => PageSize::Size1G,
        }
    }

    /// Its word in litmus files and data files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            PageSize::Size4K => "4K",
            PageSize::Size64K => "64K",
            PageSize::Size2M => "2M",
            PageSize::Size1G => "1G",
        }
    }
}

/// Which guest real address of a walk the host's tables translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum GuestLevel {
    /// That of the entry of the guest's process table.
    Process,
    /// That of the entry of the guest's root.
    Level1,
    /// That of an entry of the second level.
    Level2,
    /// That of an entry of the third level.
    Level3,
    /// That of an entry of the fourth level.
    Level4,
    /// That of the page that the walk ends at.
    Final,
}

impl GuestLevel {
    /// Every level, in the order of a walk.
    pub const ALL: [GuestLevel; 6] =
        [GuestLevel::Process, GuestLevel::Level1, GuestLevel::Level2, GuestLevel::Level3, GuestLevel::Level4, GuestLevel::Final];

    /// Its word in litmus files and data files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            GuestLevel::Process => "process",
            GuestLevel::Level1 => "level1",
            GuestLevel::Level2 => "level2",
            GuestLevel::Level3 => "level3",
            GuestLevel::Level4 => "level4",
            GuestLevel::Final => "final",
        }
    }
}

/// What a table walker did for one guest real address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct NestedWalk {
    /// Which address of the guest's walk.
    pub level: GuestLevel,
    /// The number of the walker, 0 or 1.
    pub walker: u8,
    /// It looked the address up in the translation buffer first. If the access itself did so before the walk, it did not.
    pub looked_up: bool,
    /// The host's page that the look-up found.
    pub host: Option<PageSize>,
    /// The level of the host's directory, 1 to 3, below which the walk of the host's tables began, as a page-walk cache had it; 0 if none had.
    pub known: u8,
    /// The walker's cycles: the look-up, the host's levels 1 to 4, and the read of the guest's own entry.
    pub cycles: [u32; NestedWalk::PHASES],
}

impl NestedWalk {
    /// How many phases there are cycles of.
    pub const PHASES: usize = 6;
    /// The phase in which the translation buffer is looked up.
    pub const LOOK_UP: usize = 0;
    /// The phase in which the guest's own entry is read.
    pub const ENTRY: usize = 5;
    /// The words of the phases, in their order.
    pub const WORDS: [&'static str; NestedWalk::PHASES] = ["look_up", "host1", "host2", "host3", "host4", "entry"];

    /// A walk for this address of which nothing else is known.
    #[must_use]
    pub const fn of(level: GuestLevel) -> NestedWalk {
        NestedWalk { level, walker: 0, looked_up: false, host: None, known: 0, cycles: [0; NestedWalk::PHASES] }
    }
}

/// A step of a nested translation, reported where [`Records::nested`](super::Records) asks for it.
///
/// ```
/// use vm_pmu_arch::feed::{GuestLevel, NestedStep, NestedWalk, PageSize};
///
/// // The translation buffer had a guest page of 64 KiB, and the host page of 2 MiB that it lies in.
/// let first = NestedStep::First { guest: PageSize::Size64K, host: Some(PageSize::Size2M) };
/// // A walker read the guest's entry of the second level, whose translation the buffer had.
/// let walk = NestedWalk { looked_up: true, host: Some(PageSize::Size2M), cycles: [13, 0, 0, 0, 0, 36], ..NestedWalk::of(GuestLevel::Level2) };
/// assert_ne!(first, NestedStep::Walk(walk));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum NestedStep {
    /// The first look-up of an access found its guest page in the translation buffer, and the page of the host, or not.
    First {
        /// The size of the guest's page.
        guest: PageSize,
        /// The size of the host's page, if the buffer has it.
        host: Option<PageSize>,
    },
    /// A walker translated a guest real address, and read the guest's entry there, unless it is that of the page.
    Walk(NestedWalk),
}
