//! What the control of a counter selects (sections 1.2 and 2.1 of `docs/notes/knights-landing.md`; section 6.1 of the notes on drivers).

use vm_pmu_arch::event::{self, UnitMask};
use vm_pmu_arch::feed::Unit;
use vm_pmu_arch::knl::untile::{Domain, Kind};

/// The control of a general counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Select(pub(super) u32);

impl Select {
    fn bit(self, number: u32) -> bool {
        self.0 >> number & 1 == 1
    }
    pub(super) fn event(self) -> u8 {
        self.0 as u8
    }
    pub(super) fn unit_mask(self) -> u8 {
        (self.0 >> 8) as u8
    }
    /// tid_en: only the thread of filter 0.
    pub(super) fn filters_thread(self) -> bool {
        self.bit(19)
    }
    /// ov_en: an overflow is forwarded.
    pub(super) fn forwards(self) -> bool {
        self.bit(20)
    }
    pub(super) fn enabled(self) -> bool {
        self.bit(22)
    }
    /// Whether the PCU's counter follows its cores' states.
    fn counts_cores(self, kind: Kind) -> bool {
        kind == Kind::Pcu && self.bit(7)
    }
    pub(super) fn edge(self, kind: Kind) -> bool {
        self.bit(if self.counts_cores(kind) { 31 } else { 18 })
    }
    /// The bit of the inversion.
    pub(super) fn inversion(self, kind: Kind) -> bool {
        self.bit(if self.counts_cores(kind) { 30 } else { 23 })
    }
    /// The inversion comes after a threshold and means nothing without one.
    pub(super) fn inverts(self, kind: Kind) -> bool {
        self.inversion(kind) && self.threshold(kind) != 0
    }
    pub(super) fn threshold(self, kind: Kind) -> u64 {
        let bits = match kind {
            Kind::Ubox => 5,
            Kind::Pcu => 6,
            _ => 8,
        };
        u64::from(self.0 >> 24 & ((1 << bits) - 1))
    }
    /// Whether a clock with this increment has enough. Without a threshold that is anything (N26).
    pub(super) fn is_enough(self, kind: Kind, increment: u64) -> bool {
        increment >= self.threshold(kind).max(1)
    }
    /// Whether a clock with this increment is one that counts.
    pub(super) fn compares(self, kind: Kind, increment: u64) -> bool {
        self.is_enough(kind, increment) != self.inverts(kind)
    }
}

/// The bits that a control keeps.
pub(super) fn kept(kind: Kind) -> u32 {
    match kind {
        Kind::Ubox => 0x1FDC_FFFF,
        Kind::Pcu => 0xFFDC_C0FF,
        _ => 0xFFDC_FFFF,
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Nothing: the counter does not take the event.
    Nothing,
    /// The clock.
    Clock,
    /// What has this event select, and of it what the unit mask takes.
    Code { select: u8, umask: u8, shape: Shape },
}

/// How a unit mask takes sub-events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As the manual's tables say.
    Of(UnitMask),
    /// No table is known: by number, or by any bit.
    Number,
}

/// Whether it is an event of a CHA's table of requests. No other box has such numbers with fields.
fn is_of_table(select: u8) -> bool {
    matches!(select, 0x35 | 0x36)
}

impl What {
    /// Whether it takes what is told by this code.
    pub(super) fn admits(self, select: u8, umask: u8) -> bool {
        match self {
            What::Code { select: own, umask: programmed, shape } if own == select => match shape {
                // An entry of the PRQ is one of "IRQ or PRQ" too, which is bit 0 (T19).
                Shape::Of(shape @ UnitMask::Fields(_)) if is_of_table(select) && umask & 4 != 0 && umask & 1 == 0 => {
                    shape.admits(programmed.into(), umask.into()) || shape.admits(programmed.into(), (umask & !4 | 1).into())
                }
                Shape::Of(shape) => shape.admits(programmed.into(), umask.into()),
                Shape::Number => programmed == umask || programmed & umask != 0,
            },
            _ => false,
        }
    }
}

/// What a counter selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) what: What,
    /// The most that is added in one clock.
    pub(super) most: u64,
    /// The clock that its increments come by.
    pub(super) domain: Domain,
    /// Whether it is a level by the manual.
    pub(super) is_level: bool,
    /// Whether it has entries or lasts: a level, or a state, which is a level of one (T22).
    pub(super) stays: bool,
}

/// The most of an event that no table has: as much as the widest of those that tables have, WRITE_CACHE_TOTAL (chapter 8; D196).
pub(super) const MOST: u64 = 128;

/// The clock of a box.
pub(super) fn domain(kind: Kind) -> Domain {
    match kind {
        Kind::EdcEclk => Domain::Eclk,
        Kind::McDclk => Domain::Dclk,
        _ => Domain::Uclk,
    }
}

/// Where the events of the mesh stop begin.
const MESH: u8 = 0x80;
/// What the mesh stop's clock has for a select.
const MESH_CLOCK: u8 = 0xC0;
/// COUNTER0_OCCUPANCY of a CHA.
pub(super) const OF_COUNTER_0: u8 = 0x1F;
/// What counts the cores of a state in the PCU.
const CORES: u8 = 0x80;

/// What a counter of a box selects.
pub(super) fn choice(kind: Kind, number: usize, select: Select) -> Choice {
    let by_number = |select, umask, shape| Choice {
        what: What::Code { select, umask, shape },
        most: MOST,
        domain: domain(kind),
        is_level: select == CORES && kind == Kind::Pcu,
        stays: select == CORES && kind == Kind::Pcu,
    };
    if kind == Kind::Pcu {
        // Selects have seven bits and there are no unit masks.
        return match select.counts_cores(kind) {
            true => by_number(CORES, (select.0 >> 14 & 3) as u8, Shape::Of(UnitMask::Ordinal)),
            false => by_number(select.event() & 0x7F, 0, Shape::Number),
        };
    }
    let is_mesh = select.event() >= MESH;
    let unit = if is_mesh { "cms" } else { name(kind) };
    let domain = if is_mesh { Domain::Uclk } else { domain(kind) };
    let known = event::KNL.units.iter().position(|known| *known == unit).and_then(|unit| {
        let unit = u16::try_from(unit).ok()?;
        event::KNL.select_in(unit, select.event().into())
    });
    let Some((entry, _)) = known else {
        return Choice { domain, ..by_number(select.event(), select.unit_mask(), Shape::Number) };
    };
    let what = match select.event() {
        _ if entry.counters >> number & 1 == 0 => What::Nothing,
        0 | MESH_CLOCK => What::Clock,
        event => What::Code { select: event, umask: select.unit_mask(), shape: Shape::Of(entry.shape) },
    };
    Choice { what, most: entry.max_per_cycle.into(), domain, is_level: entry.level, stays: entry.level || entry.counts == Unit::Cycles }
}

/// The unit of the catalogue.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Ubox => "ubox",
        Kind::Pcu => "pcu",
        Kind::Cha => "cha",
        Kind::McUclk => "mc-uclk",
        Kind::McDclk => "mc-dclk",
        Kind::EdcUclk => "edc-uclk",
        Kind::EdcEclk => "edc-eclk",
        Kind::M2pcie => "m2pcie",
        Kind::Irp => "irp",
    }
}
