//! The units whose counters are posted: names, scales, and which chips have them.

use vm_pmu_arch::event::{Entry, POWER9};

/// Where the postings of the flexible mode begin in a chip's region, in bytes.
const FLEXIBLE: u32 = 0x1_0000;

/// Who posts, where to, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Domain {
    /// The nest of a chip, into the chip's home memory, in the default mode.
    Nest,
    /// The same in the flexible mode.
    Flexible,
    /// A core, where its PDBAR says.
    Core,
    /// A thread, where its LDBAR says.
    Thread,
}

impl Domain {
    /// The property `type` (N32).
    pub(super) const fn kind(self) -> u32 {
        match self {
            Domain::Nest | Domain::Flexible => 0x10,
            Domain::Core => 4,
            Domain::Thread => 1,
        }
    }

    /// Whether an event of the catalogue that is posted at `offset` is one of its own.
    fn posts(self, entry: &Entry, offset: u32) -> bool {
        match self {
            Domain::Nest => entry.unit == "nest" && offset < FLEXIBLE,
            Domain::Flexible => entry.unit == "nest" && offset >= FLEXIBLE,
            Domain::Core => entry.unit == "core-imc",
            Domain::Thread => entry.unit == "thread-imc",
        }
    }
}

/// A node of events that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The node's name before its address: firmware removes a unit by it, and an operating system names the PMU by it.
    pub(super) name: &'static str,
    /// What the names of its events begin with.
    pub(super) prefix: &'static str,
    /// What one count is worth, in events (N10, N30).
    pub(super) scale: &'static str,
    /// Who posts it.
    pub(super) domain: Domain,
    /// Where it begins in memory, in bytes, where that is not where its first event is.
    base: Option<u32>,
    /// The bits of the availability of which a chip that has it has one (N12).
    any_of: u64,
}

/// The prescaler of 8 bits.
const PRESCALED: &str = "256";
/// The prescaler of 8 bits, behind event buses that pulse once for 16.
const LINK: &str = "4096";
/// Every event.
const SINGLE: &str = "1";

/// The bit of unit `number`: bit 0 is the most significant.
const fn bit(number: u32) -> u64 {
    1 << (63 - number)
}

/// Any of `count` bits from `first`.
const fn bits(first: u32, count: u32) -> u64 {
    (bit(first) << 1).wrapping_sub(bit(first + count - 1))
}

const fn nest(name: &'static str, prefix: &'static str, scale: &'static str, any_of: u64) -> Unit {
    Unit { name, prefix, scale, domain: Domain::Nest, base: None, any_of }
}

const fn flexible(name: &'static str, prefix: &'static str, scale: &'static str, any_of: u64) -> Unit {
    Unit { domain: Domain::Flexible, ..nest(name, prefix, scale, any_of) }
}

/// NVLink 0.
const NVLINK: u32 = 45;

/// The units, in the order of their nodes.
///
/// The fabric is first: some readers take the control block from the first node of a chip's unit.
pub(super) static UNITS: &[Unit] = &[
    nest("powerbus0", "PM_PB_", PRESCALED, bit(0)),
    // Group 1 is posted whatever a chip has.
    nest("update_count", "Update_count_", SINGLE, u64::MAX),
    nest("mcs23", "PM_MCS23_", PRESCALED, bits(3, 2)),
    nest("mcs01", "PM_MCS01_", PRESCALED, bits(1, 2)),
    nest("xlink1", "PM_XLINK1_", LINK, bit(26)),
    nest("xlink0", "PM_XLINK0_", LINK, bit(25)),
    nest("xlink2", "PM_XLINK2_", LINK, bit(27)),
    nest("nx", "PM_NX_", PRESCALED, bit(36)),
    nest("nvlink0", "PM_NTL0_", PRESCALED, bit(NVLINK)),
    nest("nvlink1", "PM_NTL1_", PRESCALED, bit(NVLINK + 1)),
    nest("nvlink2", "PM_NTL2_", PRESCALED, bit(NVLINK + 2)),
    nest("nvlink3", "PM_NTL3_", PRESCALED, bit(NVLINK + 3)),
    nest("nvlink4", "PM_NTL4_", PRESCALED, bit(NVLINK + 4)),
    nest("nvlink5", "PM_NTL5_", PRESCALED, bit(NVLINK + 5)),
    nest("ats", "PM_ATS_", PRESCALED, bits(NVLINK, 6)),
    nest("xts", "PM_XTS_", PRESCALED, bits(NVLINK, 6)),
    nest("phb0", "PM_PHB0_", SINGLE, bit(30)),
    nest("phb1", "PM_PHB1_", SINGLE, bit(31)),
    nest("phb2", "PM_PHB2_", SINGLE, bit(32)),
    nest("phb3", "PM_PHB3_", SINGLE, bit(33)),
    nest("phb4", "PM_PHB4_", SINGLE, bit(34)),
    nest("phb5", "PM_PHB5_", SINGLE, bit(35)),
    nest("mba0", "PM_MBA0_", SINGLE, bit(9)),
    nest("mba1", "PM_MBA1_", SINGLE, bit(10)),
    nest("mba2", "PM_MBA2_", SINGLE, bit(11)),
    nest("mba3", "PM_MBA3_", SINGLE, bit(12)),
    nest("alink0", "PM_ALINK0_", LINK, bit(41)),
    nest("alink1", "PM_ALINK1_", LINK, bit(42)),
    nest("mba4", "PM_MBA4_", SINGLE, bit(13)),
    nest("mba5", "PM_MBA5_", SINGLE, bit(14)),
    nest("mba6", "PM_MBA6_", SINGLE, bit(15)),
    nest("mba7", "PM_MBA7_", SINGLE, bit(16)),
    nest("alink2", "PM_ALINK2_", LINK, bit(43)),
    nest("alink3", "PM_ALINK3_", LINK, bit(44)),
    nest("npcq0", "PM_NPCQ0_", PRESCALED, bits(NVLINK, 2)),
    nest("npcq1", "PM_NPCQ1_", PRESCALED, bits(NVLINK + 2, 2)),
    nest("npcq2", "PM_NPCQ2_", PRESCALED, bits(NVLINK + 4, 2)),
    nest("capp0", "PM_CAPP0_", PRESCALED, bit(37)),
    nest("capp1", "PM_CAPP1_", PRESCALED, bit(38)),
    flexible("powerbus0_flexible", "PM_PB_", PRESCALED, bit(0)),
    flexible("update_count_flexible", "Update_count_", SINGLE, u64::MAX),
    flexible("mcs23_flexible", "PM_MCS23_", PRESCALED, bits(3, 2)),
    flexible("mcs01_flexible", "PM_MCS01_", PRESCALED, bits(1, 2)),
    flexible("xlink1_flexible", "PM_XLINK1_", LINK, bit(26)),
    flexible("xlink0_flexible", "PM_XLINK0_", LINK, bit(25)),
    flexible("xlink2_flexible", "PM_XLINK2_", LINK, bit(27)),
    // Its counters of this mode have prescalers.
    flexible("mba0_flexible", "PM_MBA0_", PRESCALED, bit(9)),
    flexible("mba1_flexible", "PM_MBA1_", PRESCALED, bit(10)),
    flexible("mba2_flexible", "PM_MBA2_", PRESCALED, bit(11)),
    flexible("mba3_flexible", "PM_MBA3_", PRESCALED, bit(12)),
    flexible("mba4_flexible", "PM_MBA4_", PRESCALED, bit(13)),
    flexible("mba5_flexible", "PM_MBA5_", PRESCALED, bit(14)),
    flexible("mba6_flexible", "PM_MBA6_", PRESCALED, bit(15)),
    flexible("mba7_flexible", "PM_MBA7_", PRESCALED, bit(16)),
    Unit { name: "core", prefix: "CPM_", scale: "512", domain: Domain::Core, base: Some(0x18), any_of: u64::MAX },
    Unit { name: "thread", prefix: "CPM_", scale: "512", domain: Domain::Thread, base: Some(0x18), any_of: u64::MAX },
];

/// An event as its node has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Its name without the unit's prefix.
    pub(super) name: &'static str,
    /// Where it is posted from the unit's base, in bytes.
    pub(super) reg: u32,
    /// What it counts.
    pub(super) summary: &'static str,
}

impl Unit {
    /// Whether a chip with this availability has it.
    pub(super) const fn is_in(&self, availability: u64) -> bool {
        availability & self.any_of != 0 || self.any_of == u64::MAX
    }

    /// Its events in the catalogue and where they are posted, in bytes.
    fn entries(&self) -> impl Iterator<Item = (&'static Entry, u32)> + use<> {
        let unit = *self;
        let posted = POWER9.events().filter_map(|entry| entry.offset.map(|offset| (entry, offset)));
        posted.filter(move |(entry, offset)| unit.domain.posts(entry, *offset) && entry.name.starts_with(unit.prefix))
    }

    /// Where it begins in memory, in bytes; nothing if it has no events.
    pub(super) fn base(&self) -> Option<u32> {
        let first = self.entries().map(|(_, offset)| offset).min()?;
        Some(self.base.unwrap_or(first))
    }

    /// Its events, from `base` on.
    pub(super) fn events(&self, base: u32) -> impl Iterator<Item = Event> + use<> {
        let prefix = self.prefix;
        self.entries().filter_map(move |(entry, offset)| {
            Some(Event { name: entry.name.strip_prefix(prefix)?, reg: offset.checked_sub(base)?, summary: entry.summary })
        })
    }
}
