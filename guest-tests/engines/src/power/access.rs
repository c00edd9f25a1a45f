//! Data accesses by effective address.

use super::interrupt::{Exception, Fault};
use super::radix::Purpose;
use super::state::Core;
use super::step::Access;

/// Bytes of the smallest page.
const SMALLEST_PAGE: u64 = 4096;

/// The value that a load in the byte order of the mode gets from a device register, or from absent memory.
fn swapped(value: u64, size: u8, little_endian: bool) -> u64 {
    if little_endian { value } else { value.swap_bytes() >> (64 - 8 * u32::from(size)) }
}

impl Core {
    /// The real address of the byte at `address`.
    #[inline]
    pub(crate) fn translated(&self, address: u64, store: bool) -> Result<u64, Fault> {
        if Self::device(address) {
            return Ok(Self::real(address));
        }
        let purpose = if store { Purpose::Store } else { Purpose::Load };
        self.translate(address, purpose).map_err(|why| Fault(Exception::Untranslated { address, purpose, why }))
    }

    /// The real address of `size` bytes at `address`, if all of them are memory.
    #[inline]
    fn located(&self, address: u64, size: u8, store: bool) -> Result<u64, Fault> {
        let real = self.translated(address, store)?;
        let last = address.wrapping_add(u64::from(size) - 1);
        if self.radix() && address / SMALLEST_PAGE != last / SMALLEST_PAGE && self.translated(last, store)? != real + u64::from(size) - 1 {
            return Err(Fault(Exception::Alignment { address }));
        }
        if real.checked_add(u64::from(size)).is_some_and(|end| end <= self.shared.memory.size()) {
            Ok(real)
        } else {
            Err(Fault(Exception::DataStorage { address, store }))
        }
    }

    /// Loads `size` (1, 2, 4 or 8) bytes in the byte order of the mode.
    #[inline]
    pub(crate) fn load(&mut self, address: u64, size: u8) -> Result<u64, Fault> {
        let address = self.effective(address);
        if Self::device(address) {
            let real = Self::real(address);
            self.step.access = Some(Access { address, real, size, store: false, reserve: false });
            return Ok(swapped(self.load_device(real, size), size, self.little_endian()));
        }
        let real = self.located(address, size, false)?;
        if self.shared.footprints.are_live() {
            self.meets_transactions(address, real, size, false);
        }
        self.step.access = Some(Access { address, real, size, store: false, reserve: false });
        Ok(swapped(self.shared.memory.read(real, usize::from(size)), size, self.little_endian()))
    }

    /// Stores the low `size` (1, 2, 4 or 8) bytes in the byte order of the mode.
    #[inline]
    pub(crate) fn store(&mut self, address: u64, size: u8, value: u64) -> Result<(), Fault> {
        let address = self.effective(address);
        if Self::device(address) {
            let real = Self::real(address);
            self.store_device(real, size, swapped(value, size, self.little_endian()));
            self.step.access = Some(Access { address, real, size, store: true, reserve: false });
            return Ok(());
        }
        let real = self.located(address, size, true)?;
        self.step.access = Some(Access { address, real, size, store: true, reserve: false });
        if self.shared.footprints.are_live() && !self.meets_transactions(address, real, size, true) {
            return Ok(());
        }
        self.shared.lose_reservations(self.index, real);
        self.shared.lose_reservations(self.index, real + u64::from(size) - 1);
        self.shared.memory.write(real, usize::from(size), swapped(value, size, self.little_endian()));
        Ok(())
    }

    /// Fetches the instruction at the current address.
    #[inline]
    pub(crate) fn fetch(&mut self) -> Result<u32, Fault> {
        let address = self.pc;
        let real = self.translate(address, Purpose::Fetch);
        let real = real.map_err(|why| Fault(Exception::Untranslated { address, purpose: Purpose::Fetch, why }))?;
        if real.checked_add(4).is_none_or(|end| end > self.shared.memory.size()) {
            return Err(Fault(Exception::InstructionStorage));
        }
        self.step.real = real;
        let word = self.shared.memory.read(real, 4) as u32;
        Ok(if self.little_endian() { word } else { word.swap_bytes() })
    }
}
