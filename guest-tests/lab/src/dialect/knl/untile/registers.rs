//! The registers of the boxes, by name and address.

use std::sync::LazyLock;

use vm_pmu::arch::access::{Address, PciAddress};
use vm_pmu::arch::knl::untile::{
    BoxControl, BoxStatus, ChaFilter0, ChaFilter1, Counter48, CounterControl, FixedControl, GlobalControl, GlobalStatus, Kind,
    PcuCounterControl, PcuFilter, Place, UboxCounterControl, UboxFilter, UboxFixedControl, UnitId, UnitRegister, UntileConfig, address_of,
    at_msr, at_offset,
};
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::model::{Model, RegisterDescription};
use vm_pmu::arch::registry::Part;
use vm_pmu::untile::Buses;

/// The lower doubleword of a counter behind PCI.
static LOW: &[Field] = &[
    Field { name: "event_count", high: 31, low: 0, access: FieldAccess::ReadWrite, summary: "the lower half of the count" },
    Field { name: "Reserved", high: 63, low: 32, access: FieldAccess::Reserved, summary: "a doubleword has 32 bits" },
];
/// The upper doubleword.
static HIGH: &[Field] = &[
    Field { name: "event_count", high: 15, low: 0, access: FieldAccess::ReadWrite, summary: "bits 47 to 32 of the count" },
    Field { name: "Reserved", high: 63, low: 16, access: FieldAccess::Reserved, summary: "reads as zero, writes are ignored" },
];

/// What a register of the untile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Located {
    pub(super) place: Place,
    /// The upper doubleword of a counter.
    pub(super) high: bool,
}

/// What is at an address, if it is the untile's.
pub(in super::super) fn located(address: Address) -> Option<Located> {
    match address {
        Address::Msr(number) => at_msr(number).map(|place| Located { place, high: false }),
        Address::Pci(PciAddress { bus, device, function, offset }) => {
            let is_there =
                |unit: &UnitId| unit.pci().is_some_and(|pci| (pci.device, pci.function) == (device, function) && bus == bus_of(pci.of_irp));
            let unit = UnitId::all().find(is_there)?;
            let (register, high) = at_offset(unit.kind(), offset)?;
            Some(Located { place: Place::Unit(unit, register), high })
        }
        _ => None,
    }
}

/// The default bus of the IRP or of the other boxes; a driver searches for them.
fn bus_of(irp: bool) -> u8 {
    let buses = Buses::default();
    if irp { buses.irp } else { buses.memory }
}

/// The registers of a thread and those of every box.
pub(in super::super) fn all(part: Part) -> &'static [RegisterDescription] {
    static ALL: LazyLock<Vec<RegisterDescription>> = LazyLock::new(|| {
        let thread = Part::named("knl").map(|part| part.build().registers()).unwrap_or_default();
        thread.iter().copied().chain(described()).collect()
    });
    if matches!(part, Part::Knl(_)) { &ALL } else { part.build().registers() }
}

/// Every register of the untile.
fn described() -> Vec<RegisterDescription> {
    let global = |name, number, fields| RegisterDescription { name, address: Address::Msr(number), fields };
    let mut registers = vec![
        global("U_MSR_PMON_GLOBAL_CTL", 0x700, GlobalControl::FIELDS),
        global("U_MSR_PMON_GLOBAL_STATUS", 0x701, GlobalStatus::FIELDS),
        global("U_MSR_PMON_CONFIG", 0x702, UntileConfig::FIELDS),
    ];
    for unit in UnitId::all() {
        for register in of_kind(unit.kind()) {
            let halves: &[bool] = if is_counter(register) && unit.kind().is_pci() { &[false, true] } else { &[false] };
            for high in halves {
                registers.extend(describe(unit, register, *high));
            }
        }
    }
    registers
}

fn is_counter(register: UnitRegister) -> bool {
    matches!(register, UnitRegister::Counter(_) | UnitRegister::Fixed)
}

/// What registers a box may have; those without an address it has not.
fn of_kind(kind: Kind) -> Vec<UnitRegister> {
    let counters = 0..kind.counters() as u8;
    let mut registers = vec![UnitRegister::Control, UnitRegister::Status];
    registers.extend(counters.clone().map(UnitRegister::CounterControl));
    registers.extend(counters.map(UnitRegister::Counter));
    registers.extend([UnitRegister::FixedControl, UnitRegister::Fixed, UnitRegister::Filter(0), UnitRegister::Filter(1)]);
    registers
}

fn describe(unit: UnitId, register: UnitRegister, high: bool) -> Option<RegisterDescription> {
    let at = address_of(unit, register)?;
    let address = match unit.pci() {
        None => Address::Msr(at),
        Some(pci) => {
            let offset = u16::try_from(at).ok()? + if high { 4 } else { 0 };
            Address::Pci(PciAddress { bus: bus_of(pci.of_irp), device: pci.device, function: pci.function, offset })
        }
    };
    // Made once, and there as long as the program.
    let name: &'static str = Box::leak(name(unit, register, high).into_boxed_str());
    Some(RegisterDescription { name, address, fields: fields(unit.kind(), register, high) })
}

/// The name of a register: as the manual spells the filters, and as the guides of server parts spell the others.
pub(super) fn name(unit: UnitId, register: UnitRegister, high: bool) -> String {
    let number = unit.number();
    let owner = match unit.kind() {
        Kind::Ubox => "U".to_owned(),
        _ => unit.to_string().to_uppercase().replace('-', "_"),
    };
    let space = if unit.kind().is_pci() { "PCI" } else { "MSR" };
    let half = match (unit.kind().is_pci() && is_counter(register), high) {
        (false, _) => "",
        (true, false) => "_LOW",
        (true, true) => "_HIGH",
    };
    let tail = match (unit.kind(), register) {
        (Kind::Cha, UnitRegister::Filter(0)) => return format!("PERF_UNIT_CTL_CHA_{number}"),
        (Kind::Cha, UnitRegister::Filter(filter)) => return format!("PERF_UNIT_CTL_{filter}_CHA_{number}"),
        (_, UnitRegister::Control) => "BOX_CTL".to_owned(),
        (_, UnitRegister::Status) => "BOX_STATUS".to_owned(),
        (_, UnitRegister::CounterControl(counter)) => format!("CTL{counter}"),
        (_, UnitRegister::Counter(counter)) => format!("CTR{counter}"),
        (_, UnitRegister::FixedControl) => "FIXED_CTL".to_owned(),
        (_, UnitRegister::Fixed) => "FIXED_CTR".to_owned(),
        (_, UnitRegister::Filter(_)) => "BOX_FILTER".to_owned(),
    };
    format!("{owner}_{space}_PMON_{tail}{half}")
}

/// The layout of a register.
fn fields(kind: Kind, register: UnitRegister, high: bool) -> &'static [Field] {
    match (register, kind) {
        (UnitRegister::Control, _) => BoxControl::FIELDS,
        (UnitRegister::Status, _) => BoxStatus::FIELDS,
        (UnitRegister::CounterControl(_), Kind::Ubox) => UboxCounterControl::FIELDS,
        (UnitRegister::CounterControl(_), Kind::Pcu) => PcuCounterControl::FIELDS,
        (UnitRegister::CounterControl(_), _) => CounterControl::FIELDS,
        (UnitRegister::FixedControl, Kind::Ubox) => UboxFixedControl::FIELDS,
        (UnitRegister::FixedControl, _) => FixedControl::FIELDS,
        (UnitRegister::Counter(_) | UnitRegister::Fixed, kind) if kind.is_pci() => {
            if high {
                HIGH
            } else {
                LOW
            }
        }
        (UnitRegister::Counter(_) | UnitRegister::Fixed, _) => Counter48::FIELDS,
        (UnitRegister::Filter(_), Kind::Ubox) => UboxFilter::FIELDS,
        (UnitRegister::Filter(_), Kind::Pcu) => PcuFilter::FIELDS,
        (UnitRegister::Filter(0), _) => ChaFilter0::FIELDS,
        (UnitRegister::Filter(_), _) => ChaFilter1::FIELDS,
    }
}

/// The bits of a counter's control that a write keeps.
pub(super) fn writable(kind: Kind) -> u64 {
    match kind {
        Kind::Ubox => UboxCounterControl::WRITABLE,
        Kind::Pcu => PcuCounterControl::WRITABLE,
        _ => CounterControl::WRITABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> RegisterDescription {
        let part = Part::named("knl").expect("there is one");
        all(part).iter().copied().find(|register| register.name == name).expect(name)
    }

    #[test]
    fn registers_are_where_drivers_write_them() {
        for (name, number) in [
            ("CHA0_MSR_PMON_BOX_CTL", 0xE00),
            ("CHA37_MSR_PMON_CTR3", 0xFC7),
            ("PERF_UNIT_CTL_CHA_1", 0xE11),
            ("PERF_UNIT_CTL_1_CHA_1", 0xE12),
            ("PCU_MSR_PMON_CTL0", 0x711),
            ("U_MSR_PMON_FIXED_CTL", 0x703),
        ] {
            assert_eq!(named(name).address, Address::Msr(number), "{name}");
        }
        let at = |bus, device, function, offset| Address::Pci(PciAddress { bus, device, function, offset });
        assert_eq!(named("EDC_ECLK7_PCI_PMON_CTL0").address, at(0xFF, 31, 2, 0xA20));
        assert_eq!(named("MC_DCLK0_PCI_PMON_CTR1_HIGH").address, at(0xFF, 8, 2, 0xB0C));
        assert_eq!(named("IRP_PCI_PMON_BOX_CTL").address, at(0, 5, 6, 0xF0));
    }

    #[test]
    fn no_two_registers_share_a_name_or_an_address() {
        let registers = all(Part::named("knl").expect("there is one"));
        for (index, register) in registers.iter().enumerate() {
            let others = registers.get(index + 1..).unwrap_or_default();
            assert!(others.iter().all(|other| other.name != register.name && other.address != register.address), "{}", register.name);
        }
    }

    #[test]
    fn every_register_is_found_by_its_address() {
        let registers = all(Part::named("knl").expect("there is one"));
        let untile: Vec<_> = registers.iter().filter(|register| located(register.address).is_some()).collect();
        // Global 3; UBox 3 + 2 * 2 + 2 (no control); PCU 3 + 2 * 4; a CHA 4 + 2 * 4; those behind PCI have two words a counter.
        let expected = 3 + 8 + 11 + 38 * 12 + 24 * (2 + 3 * 4 + 3) + (2 + 3 * 4) + (2 + 3 * 2);
        assert_eq!(untile.len(), expected);
    }
}
