//! PCI configuration space: two ports, and a window of memory.
//!
//! The ports are those of configuration mechanism 1 (PCI Local Bus Specification 3.0, section 3.2.2.3.2): a 32-bit write of CF8h
//! names a function and one of its first 64 registers, an access to CFCh to CFFh is one to that register. All CPUs share the address,
//! as they share the bridge. The window is the enhanced mechanism (PCI Express Base Specification 3.0, section 7.2.2): 1 MiB a bus,
//! 4 KiB a function.

use std::sync::atomic::Ordering;

use super::alu;
use super::bus::{CONFIGURATION_ADDRESS, CONFIGURATION_DATA, CONFIGURATION_WINDOW, DMA_FUNCTION, ENABLE, PciFunction};
use super::state::{Core, Shared};

/// The device that accesses RAM by itself reports each line.
pub(crate) const DMA_UNIT: u64 = 64;

const WINDOW_BYTES: u64 = 256 << 20;
/// The bits of the address that exist: enable, bus, device, function, register.
pub(crate) const ADDRESS_BITS: u32 = ENABLE | 0x00ff_fffc;

/// Whether a physical address outside RAM lies in the window.
pub(crate) fn in_window(address: u64) -> bool {
    (CONFIGURATION_WINDOW..CONFIGURATION_WINDOW + WINDOW_BYTES).contains(&address)
}

fn placed(address: u64) -> (PciFunction, u16) {
    let inside = address - CONFIGURATION_WINDOW;
    (PciFunction::of((inside >> 12) as u32), (inside & 0xfff) as u16)
}

/// The naturally aligned parts of at most four bytes that an access has in the window.
fn parts(address: u64, size: u8) -> impl Iterator<Item = (u64, u8)> {
    let end = address + u64::from(size);
    let mut at = address;
    std::iter::from_fn(move || {
        let part = [4, 2, 1].into_iter().find(|part| at.is_multiple_of(*part) && at + part <= end && in_window(at))?;
        let found = (at, part as u8);
        at += part;
        Some(found)
    })
}

impl Core {
    /// The function and offset that an access to `port` is one to, if it is one.
    fn configured(&self, port: u16, size: u8) -> Option<(PciFunction, u16)> {
        let within = port.checked_sub(CONFIGURATION_DATA).filter(|within| within + u16::from(size) <= 4)?;
        let address = self.shared.configuration_address.load(Ordering::Acquire);
        (address & ENABLE != 0).then(|| (PciFunction::of(address >> 8 & 0xffff), (address & 0xfc) as u16 | within))
    }

    fn read_configuration(&self, at: PciFunction, offset: u16, size: u8) -> u32 {
        match &self.shared.dma {
            Some(dma) if at == DMA_FUNCTION => dma.read(offset, size),
            _ => self.shared.bus.pci_read(self.index, at, offset, size),
        }
    }

    fn write_configuration(&self, at: PciFunction, offset: u16, size: u8, value: u32) {
        let Shared { bus, memory, dma, .. } = &*self.shared;
        match dma {
            Some(dma) if at == DMA_FUNCTION => dma.write(offset, size, value, memory, |access| bus.dma(self.index, &access)),
            _ => bus.pci_write(self.index, at, offset, size, value),
        }
    }

    /// Reads a port of configuration space; `None` for any other, and for data while no function is named.
    pub(crate) fn read_configuration_port(&self, port: u16, size: u8) -> Option<u32> {
        if port == CONFIGURATION_ADDRESS && size == 4 {
            return Some(self.shared.configuration_address.load(Ordering::Acquire));
        }
        let (at, offset) = self.configured(port, size)?;
        Some(self.read_configuration(at, offset, size))
    }

    /// Writes a port of configuration space; whether it is one.
    pub(crate) fn write_configuration_port(&self, port: u16, size: u8, value: u32) -> bool {
        if port == CONFIGURATION_ADDRESS && size == 4 {
            self.shared.configuration_address.store(value & ADDRESS_BITS, Ordering::Release);
            return true;
        }
        let Some((at, offset)) = self.configured(port, size) else { return false };
        self.write_configuration(at, offset, size, value);
        true
    }

    /// Loads from the window: eight bytes as two accesses, what is misaligned in aligned parts, lower addresses first.
    pub(crate) fn read_window(&self, address: u64, size: u8) -> u64 {
        let mut value = alu::mask(size);
        for (at, part) in parts(address, size) {
            let (function, offset) = placed(at);
            let read = u64::from(self.read_configuration(function, offset, part));
            let (mask, shift) = ((1 << (8 * part)) - 1, 8 * (at - address));
            value = value & !(mask << shift) | (read & mask) << shift;
        }
        value
    }

    /// Stores to the window, as [`Core::read_window`] loads.
    pub(crate) fn write_window(&self, address: u64, size: u8, value: u64) {
        for (at, part) in parts(address, size) {
            let (function, offset) = placed(at);
            let value = (value >> (8 * (at - address))) & ((1 << (8 * part)) - 1);
            self.write_configuration(function, offset, part, value as u32);
        }
    }
}
