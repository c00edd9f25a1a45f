//! Data accesses by linear address.

use super::alu;
use super::fault::Fault;
use super::pci::in_window;
use super::rehearsal::Store;
use super::state::{Core, RSP};
use super::step::Access;
use super::tlb::{Physical, grant};
use crate::memory::PAGE;

/// A memory operand that may be written: the translation is done, so a store cannot fault.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    first: Physical,
    /// The second page of an operand that crosses one, and the bytes in the first.
    second: Option<(Physical, u8)>,
}

impl Core {
    #[inline]
    pub(crate) fn record(&mut self, va: u64, physical: u64, size: u8, is_write: bool, locked: bool) {
        let access = Access { address: va, physical, size, is_write, locked };
        if !self.step.record(access) {
            self.match_unlisted(&access);
        }
    }

    /// Translates an operand of `size` bytes.
    #[inline]
    fn place(&mut self, va: u64, size: u8, need: u8, user: bool) -> Result<Place, Fault> {
        let left = PAGE - va % PAGE;
        let first = self.translate_as(va, need, user)?;
        let second = if u64::from(size) > left { Some((self.translate_as(va.wrapping_add(left), need, user)?, left as u8)) } else { None };
        Ok(Place { first, second })
    }

    #[inline]
    fn read_physical(&mut self, at: Physical, size: u8) -> u64 {
        if at.ram { self.shared.memory.read(at.address, usize::from(size)) } else { self.read_device(at.address, size) }
    }

    #[inline]
    fn write_physical(&mut self, at: Physical, size: u8, value: u64) {
        if at.ram {
            self.step.code_written |= self.shared.memory.write(at.address, usize::from(size), value);
        } else {
            self.write_device(at.address, size, value);
        }
    }

    #[cold]
    pub(crate) fn read_device(&mut self, address: u64, size: u8) -> u64 {
        if self.is_ram(address) {
            return self.shared.memory.read(address, usize::from(size));
        }
        if self.rehearsal.under_way {
            self.rehearsal.device = true;
            return 0;
        }
        if self.is_apic(address) {
            // Only aligned 32-bit accesses are defined; others see the register they start in.
            let register = self.apic.read((address & 0xff0) as u32, self.cycles);
            return u64::from(register) >> (8 * (address & 3)) & alu::mask(size);
        }
        if in_window(address) {
            return self.read_window(address, size);
        }
        self.shared.bus.mmio_read(self.index, address, size) & alu::mask(size)
    }

    #[cold]
    pub(crate) fn write_device(&mut self, address: u64, size: u8, value: u64) {
        let ram = self.is_ram(address);
        if self.rehearsal.under_way {
            if ram {
                self.rehearsal.stores.push(Store { address, size, value: u128::from(value & alu::mask(size)) });
            } else {
                self.rehearsal.device = true;
            }
            return;
        }
        if ram {
            self.step.code_written |= self.shared.memory.write(address, usize::from(size), value);
            return;
        }
        if self.is_apic(address) {
            if size == 4 && address & 0xf == 0 {
                self.write_apic((address & 0xff0) as u32, value as u32);
            }
        } else if in_window(address) {
            self.write_window(address, size, value);
        } else {
            self.shared.bus.mmio_write(self.index, address, size, value);
        }
    }

    #[inline]
    fn read_place(&mut self, place: Place, size: u8) -> u64 {
        match place.second {
            None => self.read_physical(place.first, size),
            Some((second, left)) => {
                let mut value = 0;
                for i in 0..size {
                    let at = if i < left { offset(place.first, i) } else { offset(second, i - left) };
                    value |= (self.read_physical(at, 1) & 0xff) << (8 * u32::from(i));
                }
                value
            }
        }
    }

    #[inline]
    fn write_place(&mut self, place: Place, size: u8, value: u64) {
        match place.second {
            None => self.write_physical(place.first, size, value),
            Some((second, left)) => {
                for i in 0..size {
                    let at = if i < left { offset(place.first, i) } else { offset(second, i - left) };
                    self.write_physical(at, 1, value >> (8 * u32::from(i)) & 0xff);
                }
            }
        }
    }

    /// Loads `size` (1, 2, 4 or 8) bytes.
    #[inline]
    pub(crate) fn load(&mut self, va: u64, size: u8) -> Result<u64, Fault> {
        let place = self.place(va, size, grant::READ, self.cpl == 3)?;
        self.record(va, place.first.address, size, false, false);
        Ok(self.read_place(place, size))
    }

    /// Stores the low `size` (1, 2, 4 or 8) bytes of `value`.
    #[inline]
    pub(crate) fn store(&mut self, va: u64, size: u8, value: u64) -> Result<(), Fault> {
        let place = self.place(va, size, grant::WRITE, self.cpl == 3)?;
        self.record(va, place.first.address, size, true, false);
        self.write_place(place, size, value);
        Ok(())
    }

    /// Faults if a store of `size` bytes would.
    pub(crate) fn probe_write(&mut self, va: u64, size: u8) -> Result<(), Fault> {
        self.place(va, size, grant::WRITE, self.cpl == 3).map(|_| ())
    }

    /// Loads 16 bytes.
    pub(crate) fn load_u128(&mut self, va: u64) -> Result<u128, Fault> {
        let low = self.place(va, 8, grant::READ, self.cpl == 3)?;
        let high = self.place(va.wrapping_add(8), 8, grant::READ, self.cpl == 3)?;
        self.record(va, low.first.address, 16, false, false);
        Ok(u128::from(self.read_place(low, 8)) | u128::from(self.read_place(high, 8)) << 64)
    }

    /// Stores 16 bytes.
    pub(crate) fn store_u128(&mut self, va: u64, value: u128) -> Result<(), Fault> {
        let low = self.place(va, 8, grant::WRITE, self.cpl == 3)?;
        let high = self.place(va.wrapping_add(8), 8, grant::WRITE, self.cpl == 3)?;
        self.record(va, low.first.address, 16, true, false);
        self.write_place(low, 8, value as u64);
        self.write_place(high, 8, (value >> 64) as u64);
        Ok(())
    }

    /// Replaces an operand in memory by `f` of it. With `lock`, atomically for other CPUs.
    #[inline]
    pub(crate) fn update_memory<T>(&mut self, va: u64, size: u8, lock: bool, mut f: impl FnMut(u64) -> (u64, T)) -> Result<T, Fault> {
        // As on the processors, the load already needs the right to write.
        let place = self.place(va, size, grant::WRITE | grant::READ, self.cpl == 3)?;
        let at = place.first.address;
        self.record(va, at, size, false, lock);
        self.record(va, at, size, true, lock);
        if !lock {
            let (new, out) = f(self.read_place(place, size));
            self.write_place(place, size, new);
            return Ok(out);
        }
        if place.second.is_none() && (place.first.ram || !self.rehearsal.under_way && self.is_ram(at)) {
            let (out, hit) = self.shared.memory.update(at, usize::from(size), f);
            self.step.code_written |= hit;
            return Ok(out);
        }
        let memory = std::sync::Arc::clone(&self.shared.memory);
        Ok(memory.with_split_lock(|| {
            let (new, out) = f(self.read_place(place, size));
            self.write_place(place, size, new);
            out
        }))
    }

    /// CMPXCHG16B's access: like [`Core::update_memory`] for 16 aligned bytes.
    pub(crate) fn update_u128<T>(&mut self, va: u64, lock: bool, f: impl FnOnce(u128) -> (u128, T)) -> Result<T, Fault> {
        if va & 15 != 0 {
            return Err(Fault::GP0);
        }
        let place = self.place(va, 16, grant::WRITE | grant::READ, self.cpl == 3)?;
        let at = place.first.address;
        self.record(va, at, 16, false, lock);
        self.record(va, at, 16, true, lock);
        if self.rehearsal.under_way {
            let (value, out) = f(self.shared.memory.read_u128(at));
            self.rehearsal.stores.push(Store { address: at, size: 16, value });
            return Ok(out);
        }
        let (out, hit) = self.shared.memory.update_u128(at, f);
        self.step.code_written |= hit;
        Ok(out)
    }

    /// Reads a descriptor table or task-state segment: a supervisor access, not counted as data.
    pub(crate) fn load_system(&mut self, va: u64, size: u8) -> Result<u64, Fault> {
        let place = self.place(va, size, grant::READ, false)?;
        Ok(self.read_place(place, size))
    }

    /// Writes a descriptor table: a supervisor access, not counted as data.
    pub(crate) fn store_system(&mut self, va: u64, size: u8, value: u64) -> Result<(), Fault> {
        let place = self.place(va, size, grant::WRITE, false)?;
        self.write_place(place, size, value);
        Ok(())
    }

    /// Stores on the stack of a new privilege level, with supervisor or user rights.
    pub(crate) fn store_stack(&mut self, va: u64, value: u64, user: bool) -> Result<(), Fault> {
        let place = self.place(va, 8, grant::WRITE, user).map_err(Fault::on_stack)?;
        self.record(va, place.first.address, 8, true, false);
        self.write_place(place, 8, value);
        Ok(())
    }

    /// Pushes `size` bytes.
    #[inline]
    pub(crate) fn push(&mut self, value: u64, size: u8) -> Result<(), Fault> {
        let rsp = self.gpr[RSP].wrapping_sub(u64::from(size));
        self.store(rsp, size, value).map_err(Fault::on_stack)?;
        self.gpr[RSP] = rsp;
        Ok(())
    }

    /// Reads the stack `offset` bytes above RSP.
    #[inline]
    pub(crate) fn peek(&mut self, offset: u64, size: u8) -> Result<u64, Fault> {
        self.load(self.gpr[RSP].wrapping_add(offset), size).map_err(Fault::on_stack)
    }

    /// Pops `size` bytes.
    #[inline]
    pub(crate) fn pop(&mut self, size: u8) -> Result<u64, Fault> {
        let value = self.peek(0, size)?;
        self.gpr[RSP] = self.gpr[RSP].wrapping_add(u64::from(size));
        Ok(value)
    }
}

fn offset(at: Physical, by: u8) -> Physical {
    Physical { address: at.address + u64::from(by), ram: at.ram }
}
