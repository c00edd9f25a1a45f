//! Registers of the boxes that Knights Landing's threads share, among those of the part.

use vm_pmu::arch::access::{Address, PciAddress};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;
use vm_pmu::untile::{Buses, Kind, Place, UnitId, UnitRegister, address_of, at_msr};

use super::select;

/// The box that has the register at `address`; the UBox has those of all boxes.
#[must_use]
pub fn owner(address: Address) -> Option<UnitId> {
    match address {
        Address::Msr(number) => match at_msr(number)? {
            Place::Unit(unit, _) => Some(unit),
            _ => UnitId::new(Kind::Ubox, 0),
        },
        Address::Pci(at) => UnitId::all().find(|unit| {
            let buses = Buses::default();
            let bus = |of_irp| if of_irp { buses.irp } else { buses.memory };
            unit.pci().is_some_and(|pci| (bus(pci.of_irp), pci.device, pci.function) == (at.bus, at.device, at.function))
        }),
        _ => None,
    }
}

/// Where a register of a box is on the usual buses, the lower half of a counter; none if the box does not have it.
#[must_use]
pub fn address(unit: UnitId, register: UnitRegister) -> Option<Address> {
    let place = address_of(unit, register)?;
    let Some(pci) = unit.pci() else { return Some(Address::Msr(place)) };
    let buses = Buses::default();
    let bus = if pci.of_irp { buses.irp } else { buses.memory };
    Some(Address::Pci(PciAddress { bus, device: pci.device, function: pci.function, offset: u16::try_from(place).ok()? }))
}

/// The registers of all boxes of a part, none where it has no boxes.
pub fn registers(part: Part) -> impl Iterator<Item = &'static RegisterDescription> {
    let has = part.shape().has_untile;
    select::registers(part).iter().filter(move |register| has && owner(register.address).is_some())
}

/// The registers of the box called `name`, whatever the case; none if there is no such box.
#[must_use]
pub fn named(part: Part, name: &str) -> Vec<&'static RegisterDescription> {
    let Some(unit) = UnitId::named(name) else { return Vec::new() };
    registers(part).filter(|register| owner(register.address) == Some(unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_its_registers_and_no_other() {
        let part = Part::named("knl").expect("a part");
        let names: Vec<&str> = named(part, "IRP").iter().map(|register| register.name).collect();
        // Box control and status, and of each of two counters its control and both halves.
        assert_eq!(names.len(), 2 + 2 * 3, "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("IRP_PCI_PMON_")), "{names:?}");
        assert!(named(part, "cha38").is_empty());
        assert!(named(Part::named("k8").expect("a part"), "irp").is_empty());
    }

    #[test]
    fn the_control_of_every_counter_has_its_description() {
        let part = Part::named("knl").expect("a part");
        for unit in UnitId::all() {
            for number in 0..unit.kind().counters() {
                let address = address(unit, UnitRegister::CounterControl(number as u8));
                assert!(registers(part).any(|register| Some(register.address) == address), "{unit} {number}");
            }
        }
    }
}
