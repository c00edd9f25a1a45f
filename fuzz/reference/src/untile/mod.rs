//! The untile of Knights Landing: UBox, PCU, CHAs, the controllers of MCDRAM and DDR, M2PCIe and IRP, and what controls them all.
//!
//! Performance Monitoring Reference Manual, volume 2, chapters 1 and 3 to 8. Volume 1, which has the registers, is not available: their
//! addresses and rules are those of `docs/notes/knights-landing.md` and of the notes on drivers, N17 to N35, and what both leave open is T8
//! to T22 of `docs/src/decisions`. Clocks that are equal go by together; nothing here is due at a time that is worked out before.

mod clocks;
mod configuration;
mod counter;
mod places;
mod requests;
mod selection;
mod unit;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::knl::untile::{Domain, Kind, Stage, Transaction, UnitId};

use crate::Shared;
use clocks::Phases;
use configuration::Configuration;
use places::{Msr, Register, msr};
use unit::Unit;

/// The boxes of a machine.
#[derive(Debug)]
pub struct Untile {
    units: Vec<Unit>,
    configuration: Configuration,
    /// Bits 62 and 60:0 of the global control.
    control: u64,
    status: u64,
    /// Whether everything is frozen, by an overflow or by software.
    frozen: bool,
    phases: Phases,
    /// The tiles that were interrupted since the last question.
    interrupted: Vec<usize>,
}

impl Default for Untile {
    fn default() -> Untile {
        Untile::new()
    }
}

impl Untile {
    /// The boxes after power came on.
    #[must_use]
    pub fn new() -> Untile {
        let units = UnitId::all().map(|unit| Unit::new(unit.kind(), unit.number())).collect();
        Untile {
            units,
            configuration: Configuration::default(),
            control: 0,
            status: 0,
            frozen: false,
            phases: Phases::default(),
            interrupted: Vec::new(),
        }
    }

    fn unit(&mut self, (kind, number): (Kind, u8)) -> Option<&mut Unit> {
        self.units.iter_mut().find(|unit| (unit.kind, unit.number) == (kind, number))
    }

    /// After everything of one moment was counted, overflows are reported: each bit that is new in the global status stops everything, and
    /// the chosen tiles are interrupted once (section 6.3 of the notes on drivers, N33).
    fn settle(&mut self) {
        let told = self.units.iter_mut().fold(0, |told, unit| told | unit.take_overflows());
        let new = told & !self.status;
        if new != 0 {
            self.status |= new;
            self.frozen = true;
            self.interrupted.extend((0..61).filter(|tile| self.control >> tile & 1 == 1));
        }
    }

    fn write_global(&mut self, value: u64) {
        // frz_all goes before unfrz_all (N31).
        match (value >> 63 & 1, value >> 61 & 1) {
            (1, _) => self.frozen = true,
            (0, 1) => self.frozen = false,
            _ => {}
        }
        self.control = value & !(1 << 63 | 1 << 61);
    }

    fn write_msr(&mut self, number: u32, value: u64) -> Result<(), Fault> {
        match msr(number).ok_or(Fault::Unclaimed)? {
            Msr::GlobalControl => self.write_global(value),
            Msr::GlobalStatus => self.status &= !value,
            Msr::Config => return Err(Fault::GeneralProtection),
            Msr::Of(place, register) => {
                let bits = if matches!(register, Register::Counter(_) | Register::Fixed) { 48 } else { 32 };
                if value >> bits != 0 {
                    return Err(Fault::GeneralProtection);
                }
                if let Some(unit) = self.unit(place) {
                    unit.write(register, value);
                }
            }
        }
        Ok(())
    }

    fn read_msr(&mut self, number: u32) -> Result<u64, Fault> {
        Ok(match msr(number).ok_or(Fault::Unclaimed)? {
            Msr::GlobalControl => self.control,
            Msr::GlobalStatus => self.status,
            Msr::Config => places::CHAS.into(),
            Msr::Of(place, register) => self.unit(place).ok_or(Fault::Unclaimed)?.read(register),
        })
    }

    /// A dword of configuration space; `None` where no function is.
    fn read_dword(&mut self, place: places::Function, offset: u16) -> Option<u32> {
        let device = places::function(place)?;
        let register = device.of.and_then(|(kind, number)| Some(((kind, number), places::at_offset(kind, offset)?)));
        Some(match register {
            Some((unit, (register, is_upper))) => {
                let value = self.unit(unit)?.read(register);
                (if is_upper { value >> 32 } else { value }) as u32
            }
            None => self.configuration.read(place, device, offset),
        })
    }

    /// Writes the bits of `mask` of a dword; `None` where no function is.
    fn write_dword(&mut self, place: places::Function, offset: u16, value: u32, mask: u32) -> Option<()> {
        let device = places::function(place)?;
        let register = device.of.and_then(|(kind, number)| Some(((kind, number), places::at_offset(kind, offset)?)));
        let Some((unit, (register, is_upper))) = register else {
            self.configuration.write(place, offset, value, mask);
            return Some(());
        };
        let unit = self.unit(unit)?;
        let (value, mask) = (u64::from(value), u64::from(mask));
        let (value, mask) = if is_upper { (value << 32, mask << 32) } else { (value, mask) };
        match register {
            // Ones in bytes that are not written clear nothing.
            Register::Status => unit.write(register, value & mask),
            _ => unit.write(register, unit.read(register) & !mask | value & mask),
        }
        Some(())
    }
}

/// The dword of an access as on a bus, its first bit and its bits; `None` for what no bus has.
fn on_bus(offset: u16, size: u8) -> Option<(u16, u32, u32)> {
    let mask = match size {
        1 => 0xFF,
        2 => 0xFFFF,
        4 => u32::MAX,
        _ => return None,
    };
    (offset < 0x1000 && offset.is_multiple_of(size.into())).then_some((offset & !3, u32::from(offset & 3) * 8, mask))
}

impl Shared for Untile {
    fn has(&self, address: Address) -> bool {
        match address {
            Address::Msr(number) => msr(number).is_some(),
            address => matches!(address, Address::Pci(_)),
        }
    }

    fn addresses(&self) -> Vec<Address> {
        places::addresses()
    }

    fn write(&mut self, privilege: u8, address: Address, value: u64) -> Result<(), Fault> {
        match address {
            Address::Msr(_) if privilege != 0 => Err(Fault::GeneralProtection),
            Address::Msr(number) => self.write_msr(number, value),
            Address::Pci(place) => {
                let function = (place.bus, place.device, place.function);
                self.write_dword(function, place.offset, value as u32, u32::MAX).ok_or(Fault::Unclaimed)
            }
            _ => Err(Fault::Unclaimed),
        }
    }

    fn read(&mut self, privilege: u8, address: Address) -> Option<Result<u64, Fault>> {
        Some(match address {
            Address::Msr(_) if privilege != 0 => Err(Fault::GeneralProtection),
            Address::Msr(number) => self.read_msr(number),
            Address::Pci(place) => {
                self.read_dword((place.bus, place.device, place.function), place.offset).map(u64::from).ok_or(Fault::Unclaimed)
            }
            _ => Err(Fault::Unclaimed),
        })
    }

    fn read_bus(&mut self, function: (u8, u8, u8), offset: u16, size: u8) -> Option<u32> {
        let Some((dword, shift, mask)) = on_bus(offset, size) else { return Some(u32::MAX) };
        Some(self.read_dword(function, dword).unwrap_or(u32::MAX) >> shift & mask)
    }

    fn write_bus(&mut self, function: (u8, u8, u8), offset: u16, size: u8, value: u32) {
        if let Some((dword, shift, mask)) = on_bus(offset, size) {
            let _ = self.write_dword(function, dword, (value & mask) << shift, mask << shift);
        }
    }

    fn tick(&mut self, domain: Domain, clocks: u64) {
        let mut left = clocks;
        while left != 0 {
            let now = left.min(self.stretch(domain));
            self.let_pass(domain, now);
            self.settle();
            left -= now;
        }
    }

    fn pass(&mut self, cycles: u64) {
        self.let_cycles_pass(cycles);
    }

    fn happen(&mut self, unit: UnitId, select: u8, umask: u8, each: u64, clocks: u64) {
        let frozen = self.frozen;
        if let Some(unit) = self.unit((unit.kind(), unit.number())) {
            unit.happen_by_code(frozen, (select, umask), each, clocks);
        }
        self.settle();
    }

    fn change_queue(&mut self, unit: UnitId, select: u8, umask: u8, change: i64) {
        if let Some(unit) = self.unit((unit.kind(), unit.number())) {
            unit.change_queue(select, umask, change);
        }
    }

    fn set_queue(&mut self, unit: UnitId, select: u8, umask: u8, level: u64) {
        if let Some(unit) = self.unit((unit.kind(), unit.number())) {
            unit.set_queue(select, umask, level);
        }
    }

    fn transact(&mut self, cha: u8, request: &Transaction, stage: Stage) {
        let frozen = self.frozen;
        if let Some(unit) = self.unit((Kind::Cha, cha)) {
            unit.transact(frozen, request, stage);
        }
        self.settle();
    }

    fn reset(&mut self) {
        *self = Untile { phases: self.phases, interrupted: core::mem::take(&mut self.interrupted), ..Untile::new() };
    }

    fn take_interrupted(&mut self) -> Vec<usize> {
        core::mem::take(&mut self.interrupted)
    }
}
