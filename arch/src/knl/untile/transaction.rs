//! A request at a caching and home agent, with everything that the agent's filters check.

use super::registers::{ChaFilter0, ChaFilter1};
use crate::feed::{Request, RequestKind, Snoop, Supplier};

/// The queue through which a request came into the table of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Source {
    /// IRQ: a tile's request.
    Irq,
    /// An eviction from the snoop filter.
    Eviction,
    /// PRQ: a request of a device.
    Prq,
    /// IPQ: a snoop of a memory controller.
    Ipq,
}

impl Source {
    /// Every queue.
    pub const ALL: [Source; 4] = [Source::Irq, Source::Eviction, Source::Prq, Source::Ipq];

    /// Its word in litmus files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Source::Irq => "irq",
            Source::Eviction => "eviction",
            Source::Prq => "prq",
            Source::Ipq => "ipq",
        }
    }

    /// Its bits in the unit masks of TOR_INSERTS and TOR_OCCUPANCY (tables 5-17 and 5-18): bit 0 is IRQ or PRQ, bit 2 the PRQ alone.
    pub(super) const fn table_bits(self) -> u8 {
        match self {
            Source::Irq => 0x01,
            Source::Eviction => 0x02,
            Source::Prq => 0x05,
            Source::Ipq => 0x08,
        }
    }

    /// Its bit in the unit masks of RxR_INSERTS and RxR_OCCUPANCY (tables 5-1 and 5-2); an eviction comes through no queue.
    pub(super) const fn ingress_bit(self) -> u8 {
        match self {
            Source::Irq => 0x01,
            Source::Eviction => 0,
            Source::Prq => 0x10,
            Source::Ipq => 0x04,
        }
    }
}

/// What a request looks for in the snoop filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Lookup {
    /// Data, to read.
    DataRead,
    /// To write.
    Write,
    /// A snoop from outside.
    ExternalSnoop,
    /// Something else.
    Other,
}

impl Lookup {
    /// Every kind.
    pub const ALL: [Lookup; 4] = [Lookup::DataRead, Lookup::Write, Lookup::ExternalSnoop, Lookup::Other];

    /// Its word in litmus files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Lookup::DataRead => "data-read",
            Lookup::Write => "write",
            Lookup::ExternalSnoop => "external-snoop",
            Lookup::Other => "other",
        }
    }

    /// The bits of SF_LOOKUP's unit mask that choose it (table 5-16).
    pub(super) const fn bits(self) -> u8 {
        match self {
            Lookup::DataRead => 0x12,
            Lookup::Write => 0x14,
            Lookup::ExternalSnoop => 0x18,
            Lookup::Other => 0x10,
        }
    }
}

/// How the snoop filter has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FilterState {
    /// Not at all.
    Invalid,
    /// Shared.
    Shared,
    /// Exclusive.
    Exclusive,
    /// Modified.
    Modified,
}

impl FilterState {
    /// Every state.
    pub const ALL: [FilterState; 4] = [FilterState::Invalid, FilterState::Shared, FilterState::Exclusive, FilterState::Modified];

    /// Its word in litmus files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FilterState::Invalid => "invalid",
            FilterState::Shared => "shared",
            FilterState::Exclusive => "exclusive",
            FilterState::Modified => "modified",
        }
    }
}

/// One request at a CHA.
///
/// ```
/// use vm_pmu_arch::knl::untile::{Source, Transaction};
///
/// let read = Transaction { opcode: 0x182, tile: 3, thread: 5, ..Transaction::default() };
/// assert_eq!(read.source, Source::Irq);
/// assert!(!read.hit && read.local);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transaction {
    /// Where it came from.
    pub source: Source,
    /// A cache answered it, rather than memory.
    pub hit: bool,
    /// What it looks for in the snoop filter.
    pub lookup: Lookup,
    /// How the snoop filter has the line.
    pub state: FilterState,
    /// Its opcode, 10 bits.
    pub opcode: u16,
    /// The tile that made it, 0 to 37.
    pub tile: u8,
    /// The thread of the tile that made it, 0 to 7.
    pub thread: u8,
    /// It is of the own node; the part has one.
    pub local: bool,
    /// It is for near memory, as filter 1 distinguishes it from other memory. What the part takes as near memory is not public.
    /// [`of`](Transaction::of) leaves it false, so that the filter which the manual and drivers set lets the request through.
    pub near_memory: bool,
    /// It is not coherent.
    pub non_coherent: bool,
    /// It is isochronous.
    pub isochronous: bool,
}

impl Default for Transaction {
    /// A read of thread 0 of tile 0 that no cache answers.
    fn default() -> Transaction {
        Transaction {
            source: Source::Irq,
            hit: false,
            lookup: Lookup::DataRead,
            state: FilterState::Invalid,
            opcode: 0,
            tile: 0,
            thread: 0,
            local: true,
            near_memory: false,
            non_coherent: false,
            isochronous: false,
        }
    }
}

impl Transaction {
    /// The transaction at its CHA of `request`, made by thread `thread` of tile `tile`; `None` for a request that stays in the tile.
    /// Opcodes are those of the server parts before this one: RFO 180h, CRd 181h, DRd 182h, PRd 187h, WCiLF 18Ch, WCiL 18Dh, PrefRFO
    /// 190h, PrefCode 191h, WiL 18Fh, WbMtoI 1C4h.
    #[must_use]
    pub fn of(request: &Request, tile: u8, thread: u8) -> Option<Transaction> {
        let other_tile = matches!(request.supplier, Supplier::OtherCluster { .. });
        if matches!(request.supplier, Supplier::OwnCluster(_)) {
            return None;
        }
        let (opcode, lookup) = match request.kind {
            RequestKind::DataRead | RequestKind::DataReadPrefetch | RequestKind::SoftwarePrefetch => (0x182, Lookup::DataRead),
            RequestKind::Ownership => (0x180, Lookup::Write),
            RequestKind::OwnershipPrefetch => (0x190, Lookup::Write),
            RequestKind::Code | RequestKind::CodeReadPrefetch | RequestKind::UncacheableCode => (0x181, Lookup::Other),
            RequestKind::CodePrefetch => (0x191, Lookup::Other),
            RequestKind::PartialRead => (0x187, Lookup::Other),
            RequestKind::PartialWrite | RequestKind::BusLock => (0x18F, Lookup::Write),
            RequestKind::FullStreamingStore => (0x18C, Lookup::Write),
            RequestKind::PartialStreamingStore => (0x18D, Lookup::Write),
            RequestKind::WriteBack => (0x1C4, Lookup::Write),
        };
        let state = match (request.kind, request.snoop) {
            (RequestKind::WriteBack, _) | (_, Snoop::Modified) => FilterState::Modified,
            (_, Snoop::Forwarded) => FilterState::Shared,
            _ => FilterState::Invalid,
        };
        Some(Transaction {
            hit: other_tile,
            lookup,
            state,
            opcode,
            tile,
            thread,
            non_coherent: matches!(request.supplier, Supplier::Device),
            ..Transaction::default()
        })
    }

    /// Whether it is of the thread that filter 0 names.
    pub(super) fn is_of(&self, filter: ChaFilter0) -> bool {
        self.thread & 7 == filter.thread_id() && self.tile == filter.tile_id()
    }

    /// Whether the snoop filter has its line in a state that filter 0 names.
    pub(super) fn is_in_state(&self, filter: ChaFilter0) -> bool {
        match self.state {
            FilterState::Invalid => false,
            FilterState::Shared => filter.sf_s(),
            FilterState::Exclusive => filter.sf_e(),
            FilterState::Modified => filter.sf_m(),
        }
    }

    /// Whether filter 1 lets it through: each group of its bits that is not all zero must name it.
    pub(super) fn passes(&self, filter: ChaFilter1) -> bool {
        let group = |bits: [(bool, bool); 2]| {
            let is_empty = bits.iter().all(|(chosen, _)| !chosen);
            is_empty || bits.iter().any(|(chosen, holds)| *chosen && *holds)
        };
        let (first, second) = (filter.opcode0(), filter.opcode1());
        let opcodes = [(first != 0, self.opcode == first), (second != 0, self.opcode == second)];
        group([(filter.remote_node(), !self.local), (filter.local_node(), self.local)])
            && group([(filter.near_memory(), self.near_memory), (filter.not_near_memory(), !self.near_memory)])
            && (filter.all_opcodes() || group(opcodes))
            && group([(filter.non_coherent(), self.non_coherent), (filter.isochronous(), self.isochronous)])
    }
}
