//! PCI configuration space: the functions that a driver probes for, their headers, and the boxes behind them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

use vm_pmu_arch::access::PciAddress;
use vm_pmu_arch::knl::untile::{FIRST_FUNCTIONS, PciFunction, UnitId, UnitRegister, at_offset};

use crate::location::Location;

/// The buses on which the functions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Buses {
    /// The bus of the IRP, device 5.
    pub irp: u8,
    /// The bus of the memory controllers, MCDRAM controllers and M2PCIe.
    pub memory: u8,
}

impl Default for Buses {
    /// Buses 0 and FFh, as machines of the part had them.
    fn default() -> Buses {
        Buses { irp: 0, memory: 0xFF }
    }
}

/// A function, and the writable part of its header.
#[derive(Debug)]
struct Function {
    place: PciFunction,
    unit: Option<UnitId>,
    command: AtomicU8,
}

#[derive(Debug)]
pub(super) struct Configuration {
    buses: Buses,
    functions: Box<[Function]>,
}

/// A dword of a function's header, or one after the header that is not a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    function: usize,
    offset: u16,
}

/// What an address names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A register of a box; `true` for the upper half of a counter.
    Unit(UnitId, UnitRegister, bool),
    /// Something else of a function.
    Header(Header),
}

/// Intel.
const VENDOR: u32 = 0x8086;
/// A system peripheral.
const CLASS: u32 = 0x08_8000;
/// The device has several functions.
const MULTIFUNCTION: u32 = 0x80;
/// The writable bits of the command register: memory, I/O, bus master.
const COMMAND: u8 = 0b111;

impl Configuration {
    pub(super) fn new(buses: Buses) -> Configuration {
        let of_units = UnitId::all().filter_map(|unit| unit.pci().map(|place| (place, Some(unit))));
        let others = FIRST_FUNCTIONS.into_iter().map(|place| (place, None));
        let functions = of_units.chain(others).map(|(place, unit)| Function { place, unit, command: AtomicU8::new(0) });
        Configuration { buses, functions: functions.collect() }
    }

    pub(super) fn buses(&self) -> Buses {
        self.buses
    }

    /// How many bytes it has allocated.
    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.functions)
    }

    fn location(&self, place: &PciFunction) -> Location {
        let bus = if place.of_irp { self.buses.irp } else { self.buses.memory };
        Location { bus, device: place.device, function: place.function }
    }

    /// Where the functions are.
    pub(super) fn locations(&self) -> impl Iterator<Item = Location> {
        self.functions.iter().map(|function| self.location(&function.place))
    }

    /// What is at `address`, if a function is there.
    pub(super) fn at(&self, address: PciAddress) -> Option<Target> {
        if !address.offset.is_multiple_of(4) || address.offset >= 0x1000 {
            return None;
        }
        let wanted = Location { bus: address.bus, device: address.device, function: address.function };
        let (number, function) = self.functions.iter().enumerate().find(|(_, function)| self.location(&function.place) == wanted)?;
        let register =
            function.unit.and_then(|unit| at_offset(unit.kind(), address.offset).map(|(register, upper)| (unit, register, upper)));
        Some(match register {
            Some((unit, register, upper)) => Target::Unit(unit, register, upper),
            None => Target::Header(Header { function: number, offset: address.offset }),
        })
    }

    pub(super) fn read(&self, header: Header) -> u32 {
        let Some(function) = self.functions.get(header.function) else { return 0 };
        match header.offset {
            0x0 => u32::from(function.place.id) << 16 | VENDOR,
            0x4 => u32::from(function.command.load(Relaxed)),
            0x8 => CLASS << 8,
            0xC => MULTIFUNCTION << 16,
            _ => 0,
        }
    }

    pub(super) fn write(&self, header: Header, value: u32, mask: u32) {
        if let (0x4, Some(function), true) = (header.offset, self.functions.get(header.function), mask & 0xFF != 0) {
            function.command.store(value as u8 & COMMAND, Relaxed);
        }
    }

    /// The writable parts of the headers, one per function.
    pub(super) fn commands(&self) -> Vec<u8> {
        self.functions.iter().map(|function| function.command.load(Relaxed)).collect()
    }

    /// Writes the headers of all functions. Returns whether their number is right; if not, nothing is written.
    pub(super) fn set_commands(&self, commands: &[u8]) -> bool {
        if commands.len() != self.functions.len() {
            return false;
        }
        self.functions.iter().zip(commands).for_each(|(function, command)| function.command.store(command & COMMAND, Relaxed));
        true
    }

    pub(super) fn reset(&self) {
        self.functions.iter().for_each(|function| function.command.store(0, Relaxed));
    }
}
