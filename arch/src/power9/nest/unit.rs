//! The units of a chip that have counters: table 6-1, and which of them a chip has.

/// A clock that drives counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClockDomain {
    /// The SMP interconnect's (PB), 1.6 to 2.4 GHz.
    Nest,
    /// The PCIe host bridges', 2 GHz.
    HostBridge,
    /// The memory modules', their clock.
    Memory,
}

/// How a unit's counters are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grouping {
    /// Centralised (CNPM): the units share 32 counters and an event bus of 32 bits.
    Centralised,
    /// Distributed (DNPM): the unit has its own counters and event bus.
    Distributed,
}

/// A kind of unit: those of section 6.1.2 and the parts of the NPU that table 6-10 distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The SMP interconnect.
    Pb,
    /// The synchronous side of a pair of memory controllers: MCS01, MCS23.
    Mcs,
    /// The synchronous side of a PCIe controller.
    Pbcq,
    /// The virtual accelerator switchboard.
    Vas,
    /// The external interrupt virtualizer engine.
    Int,
    /// The memory coherency directory.
    Mcd,
    /// A coherently attached processor proxy.
    Capp,
    /// The nest's memory management unit.
    Nmmu,
    /// A link between sockets.
    XLink,
    /// A link between groups of sockets.
    ALink,
    /// The on-chip accelerator.
    Nx,
    /// A PCIe host bridge.
    Phb,
    /// The DIMM interface of one DDR port.
    Mba,
    /// The transaction layer of one NVLink.
    Ntl,
    /// The NPU's address translation service.
    Ats,
    /// The NPU's translation shootdown.
    Xts,
    /// The NPU's queue for two NVLinks.
    Npcq,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 17] = [
        Kind::Pb,
        Kind::Mcs,
        Kind::Pbcq,
        Kind::Vas,
        Kind::Int,
        Kind::Mcd,
        Kind::Capp,
        Kind::Nmmu,
        Kind::XLink,
        Kind::ALink,
        Kind::Nx,
        Kind::Phb,
        Kind::Mba,
        Kind::Ntl,
        Kind::Ats,
        Kind::Xts,
        Kind::Npcq,
    ];

    /// The manual's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Pb => "PB",
            Kind::Mcs => "MCS",
            Kind::Pbcq => "PBCQ",
            Kind::Vas => "VAS",
            Kind::Int => "INT",
            Kind::Mcd => "MCD",
            Kind::Capp => "CAPP",
            Kind::Nmmu => "NMMU",
            Kind::XLink => "XLINK",
            Kind::ALink => "ALINK",
            Kind::Nx => "NX",
            Kind::Phb => "PHB",
            Kind::Mba => "MBA",
            Kind::Ntl => "NTL",
            Kind::Ats => "ATS",
            Kind::Xts => "XTS",
            Kind::Npcq => "NPCQ",
        }
    }

    /// How its counters are reached (table 6-1; the NPU's, which that table leaves out, are each unit's own).
    #[must_use]
    pub const fn grouping(self) -> Grouping {
        match self {
            Kind::Pb | Kind::Mcs | Kind::Pbcq | Kind::Vas | Kind::Int | Kind::Mcd => Grouping::Centralised,
            _ => Grouping::Distributed,
        }
    }

    /// The clock its events are in (table 6-1).
    #[must_use]
    pub const fn domain(self) -> ClockDomain {
        match self {
            Kind::Phb => ClockDomain::HostBridge,
            Kind::Mba => ClockDomain::Memory,
            _ => ClockDomain::Nest,
        }
    }

    /// How many there are on a chip.
    #[must_use]
    pub const fn instances(self) -> u8 {
        match self {
            Kind::Pb | Kind::Vas | Kind::Int | Kind::Nmmu | Kind::Nx | Kind::Ats | Kind::Xts => 1,
            Kind::Mcs | Kind::Mcd | Kind::Capp => 2,
            Kind::Pbcq | Kind::XLink | Kind::Npcq => 3,
            Kind::ALink => 4,
            Kind::Phb | Kind::Ntl => 6,
            Kind::Mba => 8,
        }
    }

    /// The counters of table 6-1: of all the centralised units together, of one distributed unit, of all X links; none for what that table
    /// does not have.
    #[must_use]
    pub const fn counters(self) -> Option<u8> {
        match self {
            Kind::Pb | Kind::Mcs | Kind::Pbcq | Kind::Vas | Kind::Int | Kind::Mcd | Kind::XLink => Some(32),
            Kind::Capp | Kind::Nmmu | Kind::Nx => Some(8),
            Kind::Phb | Kind::Mba => Some(4),
            Kind::ALink | Kind::Ntl | Kind::Ats | Kind::Xts | Kind::Npcq => None,
        }
    }

    /// The width of a counter in bits: 48 in a host bridge, else 16 behind a prescaler (table 6-1).
    #[must_use]
    pub const fn width(self) -> u8 {
        match self {
            Kind::Phb => 48,
            _ => 16,
        }
    }
}

/// One unit of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unit {
    /// Its kind.
    pub kind: Kind,
    /// Its number among its kind, from 0; of MCS, 0 is MCS01 and 1 is MCS23.
    pub number: u8,
}

/// Which units of a chip there are: bit 0, the most significant, is the SMP interconnect.
///
/// The order is that of the vector by which host firmware learns it from the on-chip controller.
///
/// ```
/// use vm_pmu_arch::power9::nest::{Availability, Kind, Unit};
///
/// assert!(Availability::GUIDE.has(Unit { kind: Kind::Phb, number: 5 }));
/// assert!(!Availability::GUIDE.has(Unit { kind: Kind::Nx, number: 0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Availability(pub u64);

impl Availability {
    /// Exactly the units of table 6-10.
    pub const GUIDE: Availability = Availability(0xFFFF_8073_F007_E000);

    /// Every unit that posts something.
    pub const EVERY: Availability = Availability(0xFFFF_8073_FE7F_E000);

    /// Whether the unit is there. MCS01 is there with either of its controllers, ATS and XTS with any NVLink, an NPCQ with either of its
    /// two; the others that have no bit are not.
    #[must_use]
    pub const fn has(self, unit: Unit) -> bool {
        let Unit { kind, number } = unit;
        if number >= kind.instances() {
            return false;
        }
        match kind {
            Kind::Pb => self.bits(0, 1),
            Kind::Mcs => self.bits(1 + 2 * number, 2),
            Kind::Mba => self.bits(9 + number, 1),
            Kind::XLink => self.bits(25 + number, 1),
            Kind::Mcd => self.bits(28 + number, 1),
            Kind::Phb => self.bits(30 + number, 1),
            Kind::Nx => self.bits(36, 1),
            Kind::Capp => self.bits(37 + number, 1),
            Kind::Vas => self.bits(39, 1),
            Kind::Int => self.bits(40, 1),
            Kind::ALink => self.bits(41 + number, 1),
            Kind::Ntl => self.bits(45 + number, 1),
            Kind::Ats | Kind::Xts => self.bits(45, 6),
            Kind::Npcq => self.bits(45 + 2 * number, 2),
            Kind::Pbcq | Kind::Nmmu => false,
        }
    }

    /// Whether any of `count` bits from `first` on is set; the most significant bit is 0.
    const fn bits(self, first: u8, count: u8) -> bool {
        let mask = u64::MAX >> (64 - (count as u32 & 63));
        self.0 >> (64 - (first as u32 + count as u32)) & mask != 0
    }
}

impl Default for Availability {
    fn default() -> Self {
        Availability::GUIDE
    }
}
