//! What devices do with memory, and what tiles do with devices, as the boxes between them see it.

use vm_pmu_arch::feed::{Request, Supplier};
use vm_pmu_arch::knl::untile::{FilterState, Kind, Lookup, Source, Transaction, UnitId};

use super::message::{Agent, Home, Message, Ring, is_write, tile};
use super::plan::Stop;

/// What a device does with a line of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DeviceAccess {
    /// It reads.
    Read,
    /// It writes all of the line.
    Write,
    /// It writes a part.
    PartialWrite,
    /// It reads and writes at once.
    Atomic,
    /// It is about to write: ownership is asked for ahead.
    Prefetch,
    /// It interrupts (MSI): data that are no memory's.
    Interrupt,
}

impl DeviceAccess {
    /// Every kind.
    pub const ALL: [DeviceAccess; 6] = [
        DeviceAccess::Read,
        DeviceAccess::Write,
        DeviceAccess::PartialWrite,
        DeviceAccess::Atomic,
        DeviceAccess::Prefetch,
        DeviceAccess::Interrupt,
    ];

    /// Its name in text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            DeviceAccess::Read => "read",
            DeviceAccess::Write => "write",
            DeviceAccess::PartialWrite => "partial-write",
            DeviceAccess::Atomic => "atomic",
            DeviceAccess::Prefetch => "prefetch",
            DeviceAccess::Interrupt => "interrupt",
        }
    }

    /// The request at the CHA, which comes by PRQ. Opcodes are those of the server parts before this one: PCIRdCur 19Eh, ItoM 1C8h, RFO 180h.
    pub(in super::super) fn transaction(self, hit: bool) -> Transaction {
        let (opcode, lookup) = match self {
            DeviceAccess::Read => (0x19E, Lookup::DataRead),
            DeviceAccess::Write => (0x1C8, Lookup::Write),
            // Its opcode is not public.
            DeviceAccess::Interrupt => (0, Lookup::Other),
            DeviceAccess::Prefetch | DeviceAccess::PartialWrite | DeviceAccess::Atomic => (0x180, Lookup::Write),
        };
        let state = if hit { FilterState::Modified } else { FilterState::Invalid };
        // No tile makes it.
        let non_coherent = self == DeviceAccess::Interrupt;
        Transaction { source: Source::Prq, hit, lookup, state, opcode, tile: u8::MAX, non_coherent, ..Transaction::default() }
    }

    /// Whether data go to memory.
    pub(in super::super) const fn writes(self) -> bool {
        matches!(self, DeviceAccess::Write | DeviceAccess::PartialWrite | DeviceAccess::Atomic)
    }

    /// What the IRP counts when it begins: the transaction by type (16h, table 8-3), and the coherent operations (13h, table 8-2): a read is
    /// PCIRdCur, a write of a line I2M, of a part RFO, unless the IRP has `owned` the line already, and what was written goes by WbMtoI.
    pub(in super::super) const fn counted(self, owned: bool) -> &'static [(u8, u8)] {
        const TRANSACTIONS: u8 = 0x16;
        const OPERATIONS: u8 = 0x13;
        match self {
            DeviceAccess::Write | DeviceAccess::PartialWrite if owned => &[(TRANSACTIONS, 0x02), (OPERATIONS, 0x40)],
            DeviceAccess::Atomic if owned => &[(TRANSACTIONS, 0x10), (OPERATIONS, 0x40)],
            DeviceAccess::Read => &[(TRANSACTIONS, 0x01), (OPERATIONS, 0x01)],
            DeviceAccess::Write => &[(TRANSACTIONS, 0x02), (OPERATIONS, 0x10), (OPERATIONS, 0x40)],
            DeviceAccess::PartialWrite => &[(TRANSACTIONS, 0x02), (OPERATIONS, 0x08), (OPERATIONS, 0x40)],
            DeviceAccess::Atomic => &[(TRANSACTIONS, 0x10), (OPERATIONS, 0x08), (OPERATIONS, 0x40)],
            DeviceAccess::Prefetch => &[(TRANSACTIONS, 0x08), (OPERATIONS, 0x08)],
            DeviceAccess::Interrupt => &[(TRANSACTIONS, 0x20)],
        }
    }

    /// Its messages for a line of `home`, one after the other. Chosen: memory answers it, unless the agent knows which tile has the line modified, and data are pushed after
    /// the CHA grants it, as for a tile.
    pub(in super::super) fn steps(self, home: &Home) -> impl Iterator<Item = Message> {
        let message = |from: Option<Stop>, to: Option<Stop>, ring| Some(Message { from: from?, agent: Agent::Home, to: to?, ring });
        let (device, cha, memory) = (Stop::of_devices(), tile(home.cha), home.memory);
        let reads = !matches!(self, DeviceAccess::Write | DeviceAccess::Interrupt);
        let writes = self.writes();
        // Data of an interrupt go with its request; the agent sends them on within its stop.
        let asks = if self == DeviceAccess::Interrupt { Ring::Bl } else { Ring::Ad };
        [
            message(device, cha, asks),
            message(cha, memory, Ring::Ad).filter(|_| reads),
            message(memory, device, Ring::Bl).filter(|_| reads),
            message(memory, cha, Ring::Ak).filter(|_| reads),
            message(cha, device, Ring::Ak),
            message(device, cha, Ring::Bl).filter(|_| writes),
            message(cha, memory, Ring::Bl).filter(|_| writes),
            message(memory, cha, Ring::Ak).filter(|_| writes),
        ]
        .into_iter()
        .flatten()
    }
}

impl DeviceAccess {
    /// The messages of a write to a line of `home` that the IRP owns already.
    pub(in super::super) fn write_back(home: &Home) -> impl Iterator<Item = Message> {
        let (device, cha, memory) = (Stop::of_devices(), tile(home.cha), home.memory);
        let message = |from: Option<Stop>, to: Option<Stop>, ring| Some(Message { from: from?, agent: Agent::Home, to: to?, ring });
        [message(device, cha, Ring::Bl), message(cha, memory, Ring::Bl), message(memory, cha, Ring::Ak)].into_iter().flatten()
    }
}

/// Tile `holder` has the line modified that a device reads, and sends it there.
pub(in super::super) fn from_tile(holder: u8) -> Option<Message> {
    Some(Message { from: tile(holder)?, agent: Agent::Cores, to: Stop::of_devices()?, ring: Ring::Bl })
}

/// The class of data that come to the IRP: what it counts of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Class {
    /// Memory's answers.
    Responses,
    /// Requests of tiles with data (section 1.3: NCB).
    Bypass,
    /// Requests of tiles without data (section 1.3: NCS).
    Standard,
}

impl Class {
    /// That of a tile's request to a device.
    pub(in super::super) fn of(request: &Request) -> Class {
        if request.supplier == Supplier::Device && is_write(request.kind) { Class::Bypass } else { Class::Standard }
    }

    /// The IRP's selects for one that comes: into its queue, and on to the device.
    const fn selects(self) -> &'static [u8] {
        match self {
            Class::Responses => &[0x01],
            Class::Bypass => &[0x02, 0x0E],
            Class::Standard => &[0x03, 0x0F],
        }
    }
}

/// The IRP: acknowledges that come.
const ACKNOWLEDGES: u8 = 0x0A;
/// The IRP: lines of its write cache.
pub(in super::super) const WRITE_CACHE: (u8, u8) = (0x12, 0x01);
/// Its bit for snoops.
pub(in super::super) const SNOOPS: u8 = 0x02;
/// The IRP: answers to snoops.
pub(in super::super) const SNOOP_ANSWERS: u8 = 0x17;

/// What the IRP counts of `message`, which comes to it.
pub(in super::super) fn count(message: &Message, class: Class, mut report: impl FnMut(UnitId, u8, u8)) {
    let Some(irp) = UnitId::new(Kind::Irp, 0) else { return };
    match message.ring {
        Ring::Bl => class.selects().iter().for_each(|select| report(irp, *select, 0)),
        Ring::Ak => report(irp, ACKNOWLEDGES, 0),
        Ring::Ad | Ring::Iv => {}
    }
}
