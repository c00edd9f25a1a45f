//! Messages, and the requests of which they are steps.

use vm_pmu_arch::feed::{Request, RequestKind, Supplier};
use vm_pmu_arch::knl::untile::Kind;

use super::plan::{Stop, clocks_of_hop};

/// A ring of the mesh (section 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum Ring {
    /// Addresses: requests.
    Ad,
    /// Acknowledges.
    Ak,
    /// Blocks of data.
    Bl,
    /// Invalidations: snoops of tiles.
    Iv,
}

impl Ring {
    /// Every ring, in the order of its bits in unit masks.
    pub const ALL: [Ring; 4] = [Ring::Ad, Ring::Ak, Ring::Bl, Ring::Iv];

    /// Its name in text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Ring::Ad => "ad",
            Ring::Ak => "ak",
            Ring::Bl => "bl",
            Ring::Iv => "iv",
        }
    }

    /// Its number.
    pub(super) const fn index(self) -> usize {
        match self {
            Ring::Ad => 0,
            Ring::Ak => 1,
            Ring::Bl => 2,
            Ring::Iv => 3,
        }
    }

    /// How many slots a message takes: a line is two transfers (section 1.3).
    pub(in super::super) const fn slots(self) -> u64 {
        if matches!(self, Ring::Bl) { 2 } else { 1 }
    }
}

/// Who sends at a stop (section 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum Agent {
    /// Agent 0: the CHA, or whatever else is at the stop.
    Home,
    /// Agent 1: the tile's cores.
    Cores,
}

impl Agent {
    /// Every agent, in the order of their numbers.
    pub const ALL: [Agent; 2] = [Agent::Home, Agent::Cores];

    /// Its name in text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Agent::Home => "home",
            Agent::Cores => "cores",
        }
    }
}

/// A message from one stop to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// Where it sets out.
    pub from: Stop,
    /// Who sends it.
    pub agent: Agent,
    /// Where it goes.
    pub to: Stop,
    /// On which ring.
    pub ring: Ring,
}

impl Message {
    /// How long it is on the rings.
    pub(in super::super) fn clocks(&self) -> u64 {
        let along = |horizontal, from: u8, to| clocks_of_hop(horizontal) * u64::from(from.abs_diff(to));
        along(false, self.from.row, self.to.row) + along(true, self.from.column, self.to.column)
    }
}

/// CHAs, and the boxes that the lines of a CHA are spread over in equal parts.
const AGENTS: u16 = 38;

/// Which controllers have a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in super::super) enum Controllers {
    /// One of MCDRAM, which is a cache, and one of DDR behind it.
    #[default]
    Both,
    /// One of MCDRAM, which is memory.
    Mcdram,
    /// One of DDR.
    Ddr,
}

/// Who is responsible for a line: the CHA that orders accesses to it, and the controllers of its memory.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Home {
    pub(in super::super) cha: u8,
    /// The one that the CHA asks.
    pub(in super::super) memory: Option<Stop>,
    /// The one that this asks for what it lacks.
    pub(in super::super) behind: Option<Stop>,
}

impl Home {
    /// That of a line of CHA `cha`, of which nothing else is known: controllers share the lines of CHAs in their order.
    pub(in super::super) fn of(cha: u8, controllers: Controllers) -> Home {
        Home::at(cha, controllers, |count| u16::from(cha) * u16::from(count) / AGENTS)
    }

    /// The same where `number` says which of so many controllers has the line.
    pub(in super::super) fn at(cha: u8, controllers: Controllers, number: impl Fn(u8) -> u16) -> Home {
        let mcdram = || Stop::of_mcdram(number(Kind::EdcUclk.count()).into());
        let ddr = || Stop::of_ddr(number(Kind::McUclk.count()).into());
        let (memory, behind) = match controllers {
            Controllers::Both => (mcdram(), ddr()),
            Controllers::Mcdram => (mcdram(), None),
            Controllers::Ddr => (ddr(), None),
        };
        Home { cha, memory, behind }
    }
}

/// The stop of tile `tile`.
pub(in super::super) fn tile(tile: u8) -> Option<Stop> {
    Stop::of_tile(tile.into())
}

/// Whether a request brings data.
pub(super) const fn is_write(kind: RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::WriteBack | RequestKind::FullStreamingStore | RequestKind::PartialStreamingStore | RequestKind::PartialWrite
    )
}

/// Who sends or gets a message of a request.
#[derive(Clone, Copy, Debug)]
enum Party {
    /// The cores of the tile that asks.
    Asks,
    /// The CHA that has the line.
    Cha,
    /// The controller of the line's memory, and the one behind it.
    Memory,
    Behind,
    /// The cores of the tile that had the line.
    Holder,
    /// M2PCIe.
    Devices,
}

/// A message of a request, of whichever tile and line.
type Step = (Party, Ring, Party);

const ASKING: Step = (Party::Asks, Ring::Ad, Party::Cha);
const DONE: Step = (Party::Cha, Ring::Ak, Party::Asks);
/// A tile pushes data after the CHA pulls them.
const PUSHED: Step = (Party::Asks, Ring::Bl, Party::Cha);
/// Requests to devices go by BL, as messages of their classes do, from CHAs (table 7-1).
const TO_DEVICE: Step = (Party::Cha, Ring::Bl, Party::Devices);
const TO_MEMORY: Step = (Party::Cha, Ring::Ad, Party::Memory);
const FROM_MEMORY: Step = (Party::Memory, Ring::Bl, Party::Asks);
const MEMORY_DONE: Step = (Party::Memory, Ring::Ak, Party::Cha);

/// The steps of a request.
const fn table(supplier: Supplier, writes: bool) -> &'static [Step] {
    match supplier {
        Supplier::OwnCluster(_) => &[],
        Supplier::Device if writes => &[ASKING, DONE, PUSHED, TO_DEVICE, (Party::Devices, Ring::Ak, Party::Cha)],
        Supplier::Device => &[ASKING, TO_DEVICE, (Party::Devices, Ring::Bl, Party::Asks), DONE],
        _ if writes => &[ASKING, DONE, PUSHED, TO_MEMORY, (Party::Cha, Ring::Bl, Party::Memory), MEMORY_DONE],
        Supplier::OtherCluster { .. } => &[
            ASKING,
            (Party::Cha, Ring::Iv, Party::Holder),
            (Party::Holder, Ring::Ak, Party::Cha),
            (Party::Holder, Ring::Bl, Party::Asks),
            DONE,
        ],
        Supplier::Memory { .. } => &[
            ASKING,
            TO_MEMORY,
            (Party::Memory, Ring::Ad, Party::Behind),
            (Party::Behind, Ring::Bl, Party::Memory),
            FROM_MEMORY,
            MEMORY_DONE,
            DONE,
        ],
        Supplier::NearMemory { .. } => &[ASKING, TO_MEMORY, FROM_MEMORY, MEMORY_DONE, DONE],
        Supplier::Unknown => &[ASKING, DONE],
    }
}

/// The messages of a request, one after the other.
#[derive(Clone, Debug)]
pub(in super::super) struct Steps {
    left: core::slice::Iter<'static, Step>,
    /// Where each [`Party`] is, in their order.
    stops: [Option<Stop>; 6],
}

impl Steps {
    fn stop(&self, party: Party) -> Option<Stop> {
        self.stops.get(party as usize).copied().flatten()
    }
}

impl Iterator for Steps {
    type Item = Message;

    #[inline]
    fn next(&mut self) -> Option<Message> {
        loop {
            let (from, ring, to) = *self.left.next()?;
            let agent = if matches!(from, Party::Asks | Party::Holder) { Agent::Cores } else { Agent::Home };
            if let (Some(from), Some(to)) = (self.stop(from), self.stop(to)) {
                return Some(Message { from, agent, to, ring });
            }
        }
    }
}

/// The messages of `request`, which the tile at `from` makes for a line of `home`, one after the other. None of them for a request that stays
/// in the tile.
///
/// The rings of the steps are those of section 1.3. That memory's data go to the tile at once, and that a holder of a line answers both the
/// tile and the CHA, is Sodani and others, Hot Chips 2015. Chosen: a tile pushes data after the CHA pulls them; a miss of near memory reads
/// DDR through the MCDRAM controller. Messages from and to where it is not known who had the line are left out.
pub(in super::super) fn steps(request: &Request, from: u8, home: &Home) -> Steps {
    let holder = request.holder.and_then(|holder| tile(u8::try_from(holder).ok()?));
    let stops = [tile(from), tile(home.cha), home.memory, home.behind, holder, Stop::of_devices()];
    Steps { left: table(request.supplier, is_write(request.kind)).iter(), stops }
}
