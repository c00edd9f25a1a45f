//! Which boxes there are, and where their registers are.
//!
//! Addresses as Linux's driver has them (`uncore_snbep.c`, `knl_uncore_cha`, `knl_uncore_pci_*` and the functions they share), status
//! registers as likwid has them (`perfmon_knl_counters.h`).

use crate::access::masked;
use crate::numbered::numbered;

/// How many boxes there are.
pub const UNITS: usize = 66;

/// How many CHAs there are.
pub const CHAS: u8 = 38;

/// A clock of the untile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Domain {
    /// UCLK, the untile's.
    Uclk,
    /// ECLK, MCDRAM's.
    Eclk,
    /// DCLK, the DDR memory's.
    Dclk,
}

impl Domain {
    /// Every clock.
    pub const ALL: [Domain; 3] = [Domain::Uclk, Domain::Eclk, Domain::Dclk];

    /// Its number, 0 to 2.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its word in litmus files and messages.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Domain::Uclk => "uclk",
            Domain::Eclk => "eclk",
            Domain::Dclk => "dclk",
        }
    }
}

/// A kind of box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Kind {
    /// The UBox: its own counters, and the control of all boxes.
    Ubox,
    /// The power control unit.
    Pcu,
    /// A caching and home agent.
    Cha,
    /// The front half of a memory controller, at UCLK.
    McUclk,
    /// A channel of a memory controller, at DCLK.
    McDclk,
    /// The front half of an MCDRAM controller, at UCLK.
    EdcUclk,
    /// The back half of an MCDRAM controller, at ECLK.
    EdcEclk,
    /// The mesh's port to PCI Express.
    M2pcie,
    /// The port of inbound transactions.
    Irp,
}

impl Kind {
    /// Every kind, in the order of the boxes.
    pub const ALL: [Kind; 9] =
        [Kind::Ubox, Kind::Pcu, Kind::Cha, Kind::McUclk, Kind::McDclk, Kind::EdcUclk, Kind::EdcEclk, Kind::M2pcie, Kind::Irp];

    /// How many boxes of the kind there are.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u8 {
        match self {
            Kind::Ubox | Kind::Pcu | Kind::M2pcie | Kind::Irp => 1,
            Kind::Cha => CHAS,
            Kind::McUclk => 2,
            Kind::McDclk => 6,
            Kind::EdcUclk | Kind::EdcEclk => 8,
        }
    }

    /// How many general counters such a box has.
    #[must_use]
    pub const fn counters(self) -> usize {
        match self {
            Kind::Ubox | Kind::Irp => 2,
            _ => 4,
        }
    }

    /// Whether it has a fixed counter.
    #[must_use]
    pub const fn has_fixed(self) -> bool {
        matches!(self, Kind::Ubox | Kind::McUclk | Kind::McDclk | Kind::EdcUclk | Kind::EdcEclk)
    }

    /// The clock it counts by.
    #[must_use]
    pub const fn domain(self) -> Domain {
        match self {
            Kind::EdcEclk => Domain::Eclk,
            Kind::McDclk => Domain::Dclk,
            _ => Domain::Uclk,
        }
    }

    /// Whether its registers are in PCI configuration space, rather than model-specific.
    #[must_use]
    pub const fn is_pci(self) -> bool {
        !matches!(self, Kind::Ubox | Kind::Pcu | Kind::Cha)
    }

    /// The unit of the catalogue whose events it counts; the UBox and the power control unit have none there.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
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

    #[inline]
    const fn first(self) -> u8 {
        match self {
            Kind::Ubox => 0,
            Kind::Pcu => 1,
            Kind::Cha => 2,
            Kind::McUclk => 40,
            Kind::McDclk => 42,
            Kind::EdcUclk => 48,
            Kind::EdcEclk => 56,
            Kind::M2pcie => 64,
            Kind::Irp => 65,
        }
    }
}

/// A box.
///
/// ```
/// use vm_pmu_arch::knl::untile::{Kind, UnitId};
///
/// let channel = UnitId::new(Kind::McDclk, 5).unwrap();
/// assert_eq!(channel.to_string(), "mc-dclk5");
/// assert_eq!(UnitId::named("mc-dclk5"), Some(channel));
/// assert_eq!(UnitId::new(Kind::Cha, 38), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "u8", into = "u8"))]
pub struct UnitId {
    kind: Kind,
    number: u8,
}

numbered!(UnitId, u8, "box", |number| UnitId::all().nth(usize::from(number)), |unit| unit.kind.first() + unit.number, UnitId::all());

impl UnitId {
    /// Box `number` of `kind`, if there are so many.
    #[must_use]
    #[inline]
    pub const fn new(kind: Kind, number: u8) -> Option<UnitId> {
        if number < kind.count() { Some(UnitId { kind, number }) } else { None }
    }

    /// Every box, in the order of their places.
    pub fn all() -> impl Iterator<Item = UnitId> {
        Kind::ALL.into_iter().flat_map(|kind| (0..kind.count()).map(move |number| UnitId { kind, number }))
    }

    /// The box of this name: its unit's name and its number, which may be left out where there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<UnitId> {
        let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // `m2pcie` contains a digit, but does not end with one.
        let (unit, number) = name.split_at_checked(digits)?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.unit().eq_ignore_ascii_case(unit))?;
        match number {
            "" if kind.count() == 1 => UnitId::new(kind, 0),
            number => UnitId::new(kind, number.parse().ok()?),
        }
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Its number among its kind.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.number
    }

    /// Its place among all boxes, below [`UNITS`].
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        (self.kind.first() + self.number) as usize
    }

    /// Its bit in the UBox's global status; both halves of a controller have one. The UBox's own is that of its general counters.
    #[must_use]
    pub const fn status_bit(self) -> u8 {
        match self.kind {
            Kind::Ubox => 1,
            Kind::Pcu => 2,
            Kind::Cha => 3 + self.number,
            Kind::McUclk => 41 + self.number,
            // Channels 0 to 2 are those of the first controller.
            Kind::McDclk => 41 + self.number / 3,
            Kind::EdcUclk | Kind::EdcEclk => 43 + self.number,
            Kind::M2pcie => 51,
            Kind::Irp => 52,
        }
    }

    /// Where its registers are in PCI configuration space: bus, device and function. The bus is 0 for the IRP and 1 for the others.
    #[must_use]
    pub const fn pci(self) -> Option<PciFunction> {
        let (device, function, id) = match self.kind {
            Kind::Ubox | Kind::Pcu | Kind::Cha => return None,
            Kind::McUclk => (10 + self.number, 0, 0x7841),
            Kind::McDclk => (8 + self.number / 3, 2 + self.number % 3, 0x7843),
            Kind::EdcUclk => (15 + self.number, 0, 0x7833),
            Kind::EdcEclk => (24 + self.number, 2, 0x7835),
            Kind::M2pcie => (12, 1, 0x7817),
            Kind::Irp => (5, 6, 0x7814),
        };
        Some(PciFunction { of_irp: matches!(self.kind, Kind::Irp), device, function, id })
    }
}

impl core::fmt::Display for UnitId {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.kind.unit())?;
        if self.kind.count() == 1 { Ok(()) } else { write!(formatter, "{}", self.number) }
    }
}

/// A function of PCI configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PciFunction {
    /// It is on the bus of the IRP, rather than on that of the others.
    pub of_irp: bool,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
    /// Device ID; the vendor ID is 8086h.
    pub id: u16,
}

/// The functions 0 in addition to those of the boxes: an operating system probes a device's other functions only if it finds function 0.
pub const FIRST_FUNCTIONS: [PciFunction; 12] = {
    const fn at(of_irp: bool, device: u8, id: u16) -> PciFunction {
        PciFunction { of_irp, device, function: 0, id }
    }
    [
        at(true, 5, 0x7810),
        at(false, 8, 0x7840),
        at(false, 9, 0x7840),
        at(false, 12, 0x7815),
        at(false, 24, 0x7834),
        at(false, 25, 0x7834),
        at(false, 26, 0x7834),
        at(false, 27, 0x7834),
        at(false, 28, 0x7834),
        at(false, 29, 0x7834),
        at(false, 30, 0x7834),
        at(false, 31, 0x7834),
    ]
};

/// A register of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitRegister {
    /// The box's control.
    Control,
    /// The box's status.
    Status,
    /// The control of a counter.
    CounterControl(u8),
    /// A counter.
    Counter(u8),
    /// The control of the fixed counter.
    FixedControl,
    /// The fixed counter.
    Fixed,
    /// CHA: filter 0 or 1. The power control unit's, and the UBox's, are 0.
    Filter(u8),
}

/// What an address of the untile names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A register of a box.
    Unit(UnitId, UnitRegister),
    /// U_MSR_PMON_GLOBAL_CTL.
    GlobalControl,
    /// U_MSR_PMON_GLOBAL_STATUS.
    GlobalStatus,
    /// U_MSR_PMON_CONFIG.
    Config,
}

const UBOX: UnitId = UnitId { kind: Kind::Ubox, number: 0 };
const PCU: UnitId = UnitId { kind: Kind::Pcu, number: 0 };

/// The model-specific register of CHA 0's control; each CHA has twelve numbers.
const FIRST_CHA: u32 = 0xE00;

/// What model-specific register `number` is, if it is one of the untile's.
#[must_use]
pub const fn at_msr(number: u32) -> Option<Place> {
    Some(match number {
        0x700 => Place::GlobalControl,
        0x701 => Place::GlobalStatus,
        0x702 => Place::Config,
        0x703 => Place::Unit(UBOX, UnitRegister::FixedControl),
        0x704 => Place::Unit(UBOX, UnitRegister::Fixed),
        0x705 | 0x706 => Place::Unit(UBOX, UnitRegister::CounterControl((number - 0x705) as u8)),
        0x707 => Place::Unit(UBOX, UnitRegister::Filter(0)),
        0x708 => Place::Unit(UBOX, UnitRegister::Status),
        0x709 | 0x70A => Place::Unit(UBOX, UnitRegister::Counter((number - 0x709) as u8)),
        0x710 => Place::Unit(PCU, UnitRegister::Control),
        0x711..=0x714 => Place::Unit(PCU, UnitRegister::CounterControl((number - 0x711) as u8)),
        0x715 => Place::Unit(PCU, UnitRegister::Filter(0)),
        0x716 => Place::Unit(PCU, UnitRegister::Status),
        0x717..=0x71A => Place::Unit(PCU, UnitRegister::Counter((number - 0x717) as u8)),
        FIRST_CHA..=0xFC7 => {
            let (cha, place) = ((number - FIRST_CHA) / 12, (number - FIRST_CHA) % 12);
            let unit = UnitId { kind: Kind::Cha, number: masked(cha as usize, CHAS as usize) as u8 };
            Place::Unit(
                unit,
                match place {
                    0 => UnitRegister::Control,
                    1..=4 => UnitRegister::CounterControl(place as u8 - 1),
                    5 | 6 => UnitRegister::Filter(place as u8 - 5),
                    7 => UnitRegister::Status,
                    _ => UnitRegister::Counter(place as u8 - 8),
                },
            )
        }
        _ => return None,
    })
}

/// Where the registers of a box begin in its function.
struct Offsets {
    counters: u16,
    controls: u16,
    control: u16,
    status: u16,
    fixed: Option<(u16, u16)>,
}

const fn offsets(kind: Kind) -> Option<Offsets> {
    const fn back(base: u16) -> Offsets {
        Offsets {
            counters: base,
            controls: base + 0x20,
            control: base + 0x30,
            status: base + 0x34,
            fixed: Some((base + 0x3C, base + 0x44)),
        }
    }
    Some(match kind {
        Kind::Ubox | Kind::Pcu | Kind::Cha => return None,
        Kind::McUclk | Kind::EdcUclk => {
            Offsets { counters: 0x400, controls: 0x420, control: 0x430, status: 0x434, fixed: Some((0x44C, 0x454)) }
        }
        Kind::McDclk => back(0xB00),
        Kind::EdcEclk => back(0xA00),
        Kind::M2pcie => Offsets { counters: 0xA0, controls: 0xD8, control: 0xF4, status: 0xF8, fixed: None },
        Kind::Irp => Offsets { counters: 0xA0, controls: 0xD8, control: 0xF0, status: 0xF4, fixed: None },
    })
}

/// The register of a box of `kind` at the dword `offset` of its function, and whether it is the upper dword of a counter.
#[must_use]
pub fn at_offset(kind: Kind, offset: u16) -> Option<(UnitRegister, bool)> {
    let offsets = offsets(kind)?;
    let counters = kind.counters() as u16;
    if !offset.is_multiple_of(4) {
        return None;
    }
    if offset == offsets.control {
        return Some((UnitRegister::Control, false));
    }
    if offset == offsets.status {
        return Some((UnitRegister::Status, false));
    }
    if let Some((fixed, control)) = offsets.fixed {
        if offset == control {
            return Some((UnitRegister::FixedControl, false));
        }
        if offset == fixed || offset == fixed + 4 {
            return Some((UnitRegister::Fixed, offset != fixed));
        }
    }
    let in_counters = offset.wrapping_sub(offsets.counters);
    if in_counters < 8 * counters {
        return Some((UnitRegister::Counter((in_counters / 8) as u8), in_counters % 8 == 4));
    }
    let in_controls = offset.wrapping_sub(offsets.controls);
    (in_controls < 4 * counters).then_some((UnitRegister::CounterControl((in_controls / 4) as u8), false))
}

/// Where `register` of the box is: a model-specific register's number, or the offset in the box's function. `None` if it has no such
/// register.
#[must_use]
pub fn address_of(unit: UnitId, register: UnitRegister) -> Option<u32> {
    if unit.kind().is_pci() {
        let offset = (0..0x1000).step_by(4).find(|offset| at_offset(unit.kind(), *offset) == Some((register, false)));
        return offset.map(u32::from);
    }
    (0x700..0x720).chain(FIRST_CHA..0xFC8).find(|number| at_msr(*number) == Some(Place::Unit(unit, register)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_66_boxes_each_in_its_place() {
        assert_eq!(UnitId::all().count(), UNITS);
        assert!(UnitId::all().enumerate().all(|(place, unit)| unit.index() == place));
    }

    #[test]
    fn names_find_their_boxes() {
        extern crate std;
        use std::string::ToString;
        for unit in UnitId::all() {
            assert_eq!(UnitId::named(&unit.to_string()), Some(unit), "{unit}");
        }
        assert_eq!(UnitId::named("m2pcie").map(UnitId::kind), Some(Kind::M2pcie));
        for odd in ["", "cha", "cha38", "edc", "cha-1", "irp1", "ubox00"] {
            let found = UnitId::named(odd);
            assert!(found.is_none() || odd == "ubox00", "{odd}");
        }
    }

    #[test]
    fn chas_take_twelve_numbers_each() {
        let last = UnitId::new(Kind::Cha, 37).unwrap();
        assert_eq!(at_msr(0xFBC), Some(Place::Unit(last, UnitRegister::Control)));
        assert_eq!(at_msr(0xFC7), Some(Place::Unit(last, UnitRegister::Counter(3))));
        assert_eq!(at_msr(0xFC8), None);
        assert_eq!(at_msr(0xE06), Some(Place::Unit(UnitId::new(Kind::Cha, 0).unwrap(), UnitRegister::Filter(1))));
    }

    #[test]
    fn functions_are_those_that_a_driver_probes_for() {
        let at = |kind, number| UnitId::new(kind, number).and_then(UnitId::pci).map(|pci| (pci.device, pci.function, pci.id));
        assert_eq!(at(Kind::McDclk, 0), Some((8, 2, 0x7843)));
        assert_eq!(at(Kind::McDclk, 5), Some((9, 4, 0x7843)));
        assert_eq!(at(Kind::McUclk, 1), Some((11, 0, 0x7841)));
        assert_eq!(at(Kind::EdcUclk, 7), Some((22, 0, 0x7833)));
        assert_eq!(at(Kind::EdcEclk, 7), Some((31, 2, 0x7835)));
        assert_eq!(at(Kind::Cha, 0), None);
    }

    #[test]
    fn offsets_are_those_of_the_driver() {
        assert_eq!(at_offset(Kind::EdcUclk, 0x400), Some((UnitRegister::Counter(0), false)));
        assert_eq!(at_offset(Kind::EdcUclk, 0x41C), Some((UnitRegister::Counter(3), true)));
        assert_eq!(at_offset(Kind::EdcUclk, 0x450), Some((UnitRegister::Fixed, true)));
        assert_eq!(at_offset(Kind::EdcUclk, 0x454), Some((UnitRegister::FixedControl, false)));
        assert_eq!(at_offset(Kind::EdcEclk, 0xA3C), Some((UnitRegister::Fixed, false)));
        assert_eq!(at_offset(Kind::EdcEclk, 0xA44), Some((UnitRegister::FixedControl, false)));
        assert_eq!(at_offset(Kind::McDclk, 0xB30), Some((UnitRegister::Control, false)));
        assert_eq!(at_offset(Kind::M2pcie, 0xE4), Some((UnitRegister::CounterControl(3), false)));
        assert_eq!(at_offset(Kind::Irp, 0xB0), None, "two counters");
        assert_eq!(at_offset(Kind::Irp, 0xF4), Some((UnitRegister::Status, false)));
    }

    #[test]
    fn registers_are_found_where_they_are() {
        let cha = UnitId::new(Kind::Cha, 1).unwrap();
        assert_eq!(address_of(cha, UnitRegister::Filter(0)), Some(0xE11));
        let irp = UnitId::new(Kind::Irp, 0).unwrap();
        assert_eq!(address_of(irp, UnitRegister::CounterControl(1)), Some(0xDC));
        assert_eq!(address_of(irp, UnitRegister::Fixed), None);
    }
}
