//! Messages, and the requests of which they are steps.

use vm_pmu_arch::feed::{Request, RequestKind, Supplier};
use vm_pmu_arch::knl::untile::{Kind, UnitId};

use super::plan::{Stop, clocks_of_hop};

/// A ring of the mesh (section 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
pub enum Agent {
    /// Agent 0: the CHA, or whatever else is at the stop.
    Home,
    /// Agent 1: the tile's cores.
    Cores,
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
        let stop = |kind: Kind| Stop::of(UnitId::new(kind, u8::try_from(number(kind.count())).ok()?)?);
        let (memory, behind) = match controllers {
            Controllers::Both => (stop(Kind::EdcUclk), stop(Kind::McUclk)),
            Controllers::Mcdram => (stop(Kind::EdcUclk), None),
            Controllers::Ddr => (stop(Kind::McUclk), None),
        };
        Home { cha, memory, behind }
    }
}

/// The stop of tile `tile`.
pub(in super::super) fn tile(tile: u8) -> Option<Stop> {
    Stop::of(UnitId::new(Kind::Cha, tile)?)
}

/// Whether a request brings data.
pub(super) fn is_write(kind: RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::WriteBack | RequestKind::FullStreamingStore | RequestKind::PartialStreamingStore | RequestKind::PartialWrite
    )
}

/// The messages of `request`, which the tile at `from` makes for a line of `home`, one after the other. None of them for a request that stays
/// in the tile.
///
/// The rings of the steps are those of section 1.3. That memory's data go to the tile at once, and that a holder of a line answers both the
/// tile and the CHA, is Sodani and others, Hot Chips 2015. Requests to devices go by BL, as messages of their classes do, from CHAs (table
/// 7-1). Chosen: a tile pushes data after the CHA pulls them; a miss of near memory reads
/// DDR through the MCDRAM controller. Messages from and to where it is not known who had the line are
/// left out.
pub(in super::super) fn steps(request: &Request, from: u8, home: &Home) -> impl Iterator<Item = Message> {
    let message = |from: Option<Stop>, agent, to: Option<Stop>, ring| Some(Message { from: from?, agent, to: to?, ring });
    let (asks, cha) = (tile(from), tile(home.cha));
    let Home { memory, behind, .. } = *home;
    let devices = Stop::of_devices();
    let holder = request.holder.and_then(|holder| tile(u8::try_from(holder).ok()?));
    let home_to = |to, ring| message(cha, Agent::Home, to, ring);
    let writes = is_write(request.kind);
    let (asking, done) = (message(asks, Agent::Cores, cha, Ring::Ad), home_to(asks, Ring::Ak));
    let steps = match request.supplier {
        Supplier::OwnCluster(_) => [None; 7],
        Supplier::Device if writes => [
            asking,
            done,
            message(asks, Agent::Cores, cha, Ring::Bl),
            home_to(devices, Ring::Bl),
            message(devices, Agent::Home, cha, Ring::Ak),
            None,
            None,
        ],
        Supplier::Device => [asking, home_to(devices, Ring::Bl), message(devices, Agent::Home, asks, Ring::Bl), done, None, None, None],
        _ if writes => [
            asking,
            done,
            message(asks, Agent::Cores, cha, Ring::Bl),
            home_to(memory, Ring::Ad),
            home_to(memory, Ring::Bl),
            message(memory, Agent::Home, cha, Ring::Ak),
            None,
        ],
        Supplier::OtherCluster { .. } => [
            asking,
            home_to(holder, Ring::Iv),
            message(holder, Agent::Cores, cha, Ring::Ak),
            message(holder, Agent::Cores, asks, Ring::Bl),
            done,
            None,
            None,
        ],
        Supplier::Memory { .. } => [
            asking,
            home_to(memory, Ring::Ad),
            message(memory, Agent::Home, behind, Ring::Ad),
            message(behind, Agent::Home, memory, Ring::Bl),
            message(memory, Agent::Home, asks, Ring::Bl),
            message(memory, Agent::Home, cha, Ring::Ak),
            done,
        ],
        Supplier::NearMemory { .. } => [
            asking,
            home_to(memory, Ring::Ad),
            message(memory, Agent::Home, asks, Ring::Bl),
            message(memory, Agent::Home, cha, Ring::Ak),
            done,
            None,
            None,
        ],
        Supplier::Unknown => [asking, done, None, None, None, None, None],
    };
    steps.into_iter().flatten()
}
