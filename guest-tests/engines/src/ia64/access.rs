//! Memory accesses.

use super::interrupt::Fault;
use super::registers::{isr, psr};
use super::state::{CONSOLE, Core, DEVICES, DEVICES_SIZE, EXIT, Stop};
use super::step::{Access, AccessKind};

/// Bytes that an access that is not aligned may not leave: a line of the first-level data cache.
const LINE: u64 = 64;

/// What is to be accessed, except for the address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    pub(crate) kind: AccessKind,
    /// Bytes: 1, 2, 4, 8, 10 or 16.
    pub(crate) size: u8,
    pub(crate) floating: bool,
    pub(crate) speculative: bool,
    pub(crate) advanced: bool,
}

impl Reference {
    pub(crate) fn new(kind: AccessKind, size: u8) -> Self {
        Self { kind, size, floating: false, speculative: false, advanced: false }
    }

    /// The bits of ISR that name the access.
    pub(crate) fn isr(&self) -> u64 {
        let what = match self.kind {
            AccessKind::Load | AccessKind::CheckHit => isr::R,
            AccessKind::Store => isr::W,
            AccessKind::Semaphore => isr::R | isr::W,
            AccessKind::Prefetch => isr::R | isr::NA,
            AccessKind::RegisterStackLoad => isr::R | isr::RS,
            AccessKind::RegisterStackStore => isr::W | isr::RS,
        };
        if self.speculative { what | isr::SP } else { what }
    }

    fn stores(&self) -> bool {
        matches!(self.kind, AccessKind::Store | AccessKind::Semaphore | AccessKind::RegisterStackStore)
    }

    fn loads(&self) -> bool {
        !matches!(self.kind, AccessKind::Store | AccessKind::RegisterStackStore)
    }
}

impl Core {
    fn device(physical: u64) -> bool {
        (DEVICES..DEVICES + DEVICES_SIZE).contains(&physical)
    }

    fn data_breakpoint(&self, address: u64, reference: &Reference) -> bool {
        self.dbr.chunks_exact(2).any(|pair| {
            let wanted = reference.loads() && pair[1] >> 63 != 0 || reference.stores() && pair[1] >> 62 & 1 != 0;
            wanted && pair[1] >> (56 + self.cpl()) & 1 != 0 && (address ^ pair[0]) & (pair[1] | 0xFF << 56) == 0
        })
    }

    /// The access as it is reported to the observer, if there is memory and the access is allowed.
    pub(crate) fn locate(&self, address: u64, reference: &Reference) -> Result<Access, Fault> {
        let physical = Self::physical(address);
        let size = u64::from(reference.size);
        let access = reference.isr();
        let device = Self::device(physical);
        if !device && physical.checked_add(size).is_none_or(|end| end > self.shared.memory.size()) {
            return Err(Fault::NoMemory { address, access });
        }
        if self.psr & (psr::DB | psr::DD) == psr::DB && self.data_breakpoint(address, reference) {
            return Err(Fault::DataDebug { address, access });
        }
        let misaligned = !address.is_multiple_of(size.next_power_of_two());
        if misaligned {
            let crosses = address % LINE + size > LINE;
            if self.psr & psr::AC != 0 || crosses || reference.kind == AccessKind::Semaphore {
                return Err(Fault::Unaligned { address, access });
            }
        }
        Ok(Access {
            kind: reference.kind,
            address,
            physical,
            size: reference.size,
            floating: reference.floating,
            misaligned,
            uncacheable: device || self.psr & psr::DT == 0 && address >> 63 != 0,
            speculative: reference.speculative,
            advanced: reference.advanced,
        })
    }

    /// `size` (at most 8) bytes in the byte order of the user mask.
    pub(crate) fn read(&self, physical: u64, size: u8) -> u64 {
        if Self::device(physical) {
            return 0;
        }
        let value = self.shared.memory.read(physical, usize::from(size));
        if self.psr & psr::BE != 0 { value.swap_bytes() >> (64 - 8 * u32::from(size)) } else { value }
    }

    /// Writes `size` (at most 8) bytes in the byte order of the user mask.
    pub(crate) fn write(&mut self, physical: u64, size: u8, value: u64) {
        if Self::device(physical) {
            match physical {
                CONSOLE => self.shared.print(value as u8),
                EXIT => self.stop = Some(Stop::Status(value as u8)),
                _ => {}
            }
            return;
        }
        let ordered = if self.psr & psr::BE != 0 { value.swap_bytes() >> (64 - 8 * u32::from(size)) } else { value };
        self.shared.memory.write(physical, usize::from(size), ordered);
        self.alat.stored(physical, size);
        self.stores.push((physical, size));
    }

    /// Loads `reference.size` bytes, at most 8; the access becomes the step's.
    pub(crate) fn load(&mut self, address: u64, reference: &Reference) -> Result<u64, Fault> {
        let access = self.locate(address, reference)?;
        self.step.access = Some(access);
        Ok(self.read(access.physical, reference.size))
    }

    /// Stores `reference.size` bytes, at most 8; the access becomes the step's.
    pub(crate) fn store(&mut self, address: u64, reference: &Reference, value: u64) -> Result<(), Fault> {
        let access = self.locate(address, reference)?;
        self.step.access = Some(access);
        self.write(access.physical, reference.size, value);
        Ok(())
    }

    /// An access of the register stack engine, always little-endian here.
    fn stack_access(&mut self, address: u64, kind: AccessKind) -> Result<u64, Fault> {
        let access = self.locate(address, &Reference::new(kind, 8))?;
        self.step.register_stack.push(access);
        Ok(access.physical)
    }

    pub(crate) fn stack_load(&mut self, address: u64) -> Result<u64, Fault> {
        let physical = self.stack_access(address, AccessKind::RegisterStackLoad)?;
        Ok(if Self::device(physical) { 0 } else { self.shared.memory.read(physical, 8) })
    }

    pub(crate) fn stack_store(&mut self, address: u64, value: u64) -> Result<(), Fault> {
        let physical = self.stack_access(address, AccessKind::RegisterStackStore)?;
        if !Self::device(physical) {
            self.shared.memory.write(physical, 8, value);
            self.alat.stored(physical, 8);
            self.stores.push((physical, 8));
        }
        Ok(())
    }
}
