//! Registers of boxes by name: `cha3.ctl0` is the control of counter 0 of CHA 3.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use vm_pmu_arch::access::{Address, PciAddress};

use crate::untile::{Buses, Kind, Place, UnitId, UnitRegister, address_of, at_msr, at_offset};

/// The registers of the UBox that belong to no box.
const GLOBAL: [(&str, u32); 3] = [("ubox.global_ctl", 0x700), ("ubox.global_status", 0x701), ("ubox.config", 0x702)];

/// The registers that a box can have, by name.
const REGISTERS: [(&str, UnitRegister); 14] = [
    ("box_ctl", UnitRegister::Control),
    ("box_status", UnitRegister::Status),
    ("ctl0", UnitRegister::CounterControl(0)),
    ("ctl1", UnitRegister::CounterControl(1)),
    ("ctl2", UnitRegister::CounterControl(2)),
    ("ctl3", UnitRegister::CounterControl(3)),
    ("ctr0", UnitRegister::Counter(0)),
    ("ctr1", UnitRegister::Counter(1)),
    ("ctr2", UnitRegister::Counter(2)),
    ("ctr3", UnitRegister::Counter(3)),
    ("fixed_ctl", UnitRegister::FixedControl),
    ("fixed", UnitRegister::Fixed),
    ("filter0", UnitRegister::Filter(0)),
    ("filter1", UnitRegister::Filter(1)),
];

/// The suffix for the upper dword of a counter.
const HIGH: &str = "_high";

fn is_counter(register: UnitRegister) -> bool {
    matches!(register, UnitRegister::Counter(_) | UnitRegister::Fixed)
}

/// The bus of a function.
fn bus(of_irp: bool) -> u8 {
    let buses = Buses::default();
    if of_irp { buses.irp } else { buses.memory }
}

/// The address of `register` of the box, of its upper dword if `high`.
pub(in crate::litmus) fn address_of_register(unit: UnitId, register: UnitRegister, high: bool) -> Option<Address> {
    let place = address_of(unit, register)?;
    match unit.pci() {
        None if high => None,
        None => Some(Address::Msr(place)),
        Some(_) if high && !is_counter(register) => None,
        Some(function) => {
            let offset = u16::try_from(place).ok()? + if high { 4 } else { 0 };
            Some(Address::Pci(PciAddress { bus: bus(function.of_irp), device: function.device, function: function.function, offset }))
        }
    }
}

/// The box whose function this is.
pub(super) fn unit_of_function(bus_number: u8, device: u8, function: u8) -> Option<UnitId> {
    UnitId::all()
        .find(|unit| unit.pci().is_some_and(|place| (bus(place.of_irp), place.device, place.function) == (bus_number, device, function)))
}

/// The address of the register with this name.
pub(in crate::litmus) fn address(word: &str) -> Option<Address> {
    if let Some((_, number)) = GLOBAL.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
        return Some(Address::Msr(*number));
    }
    let (unit, register) = word.split_once('.')?;
    let unit = UnitId::named(unit)?;
    let find = |word: &str| REGISTERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, register)| *register);
    match (find(register), register.strip_suffix(HIGH).and_then(find)) {
        (Some(register), _) => address_of_register(unit, register, false),
        (None, Some(register)) => address_of_register(unit, register, true),
        (None, None) => None,
    }
}

fn named(unit: UnitId, register: UnitRegister, high: bool) -> Option<String> {
    let (word, _) = REGISTERS.iter().find(|(_, known)| *known == register)?;
    Some(format!("{unit}.{word}{}", if high { HIGH } else { "" }))
}

/// The name of the register at this address.
pub(in crate::litmus) fn name(address: Address) -> Option<String> {
    match address {
        Address::Msr(number) => match at_msr(number)? {
            Place::Unit(unit, register) => named(unit, register, false),
            _ => GLOBAL.iter().find(|(_, known)| *known == number).map(|(name, _)| (*name).to_string()),
        },
        Address::Pci(PciAddress { bus, device, function, offset }) => {
            let unit = unit_of_function(bus, device, function)?;
            let (register, high) = at_offset(unit.kind(), offset)?;
            named(unit, register, high)
        }
        _ => None,
    }
}

/// Every register of the box.
pub(in crate::litmus) fn registers(unit: UnitId) -> Vec<Address> {
    let of = |high| REGISTERS.iter().filter_map(move |(_, register)| address_of_register(unit, *register, high));
    let global = GLOBAL.iter().filter(|_| unit.kind() == Kind::Ubox).map(|(_, number)| Address::Msr(*number));
    of(false).chain(of(true)).chain(global).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_of_every_box_is_named_and_found() {
        let mut all = 0;
        for unit in UnitId::all() {
            for place in registers(unit) {
                let text = name(place).expect("a name");
                assert_eq!(address(&text), Some(place), "{text}");
                all += 1;
            }
        }
        // UBox: 8, and 3 for all boxes; PCU 11; CHAs 12 each; 24 boxes of 4 counters and a fixed one, 5 of the registers being two dwords:
        // 17; M2PCIe 14, IRP 8.
        assert_eq!(all, 11 + 11 + 38 * 12 + 24 * 17 + 14 + 8);
    }

    #[test]
    fn names_are_those_of_the_addresses_that_drivers_use() {
        assert_eq!(address("cha3.ctl0"), Some(Address::Msr(0xE25)));
        assert_eq!(address("ubox.global_status"), Some(Address::Msr(0x701)));
        let pci = |bus, device, function, offset| Some(Address::Pci(PciAddress { bus, device, function, offset }));
        assert_eq!(address("edc-uclk2.fixed"), pci(0xFF, 17, 0, 0x44C));
        assert_eq!(address("edc-uclk2.fixed_high"), pci(0xFF, 17, 0, 0x450));
        assert_eq!(address("irp.box_ctl"), pci(0, 5, 6, 0xF0));
        for none in ["cha3.fixed", "cha38.ctl0", "cha3.ctr0_high", "edc-uclk2.ctl0_high", "irp.ctr2", "ubox.box_ctl", "cha3", "cha3.ctl4"] {
            assert_eq!(address(none), None, "{none}");
        }
    }
}
