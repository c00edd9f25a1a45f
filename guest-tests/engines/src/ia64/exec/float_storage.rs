//! Loads and stores of floating-point registers, `lfetch`, `setf` and `getf`.

use super::memory::{Increment, form};
use crate::ia64::access::Reference;
use crate::ia64::float::Float;
use crate::ia64::interrupt::Fault;
use crate::ia64::registers::{isr, psr};
use crate::ia64::state::Core;
use crate::ia64::step::AccessKind;
use crate::ia64::word::Word;

/// Bytes of the memory format, bits 31:30 of the instruction: extended, integer, single, double.
pub(crate) fn size_of(format: u64) -> u8 {
    match format & 3 {
        0 => 10,
        2 => 4,
        _ => 8,
    }
}

impl Core {
    /// Refuses an instruction that names floating-point registers which PSR disables.
    pub(crate) fn floating_enabled(&self, registers: &[usize]) -> Result<(), Fault> {
        let low = self.psr & psr::DFL != 0 && registers.iter().any(|register| (2..32).contains(register));
        let high = self.psr & psr::DFH != 0 && registers.iter().any(|register| *register >= 32);
        if low || high { Err(Fault::DisabledFloating(u64::from(low) | u64::from(high) << 1)) } else { Ok(()) }
    }

    /// A floating-point register that is about to be written: f0 and f1 are no valid targets.
    pub(crate) fn floating_fit(number: usize) -> Result<usize, Fault> {
        if number < 2 { Err(Fault::IllegalOperation) } else { Ok(number) }
    }

    /// Majors 6 and 7 without pairs: loads, stores and `lfetch`.
    pub(crate) fn floating_storage(&mut self, w: Word, increment: Increment) -> Result<(), Fault> {
        let x6 = w.memory_x6();
        let base = self.incremented(w, increment)?;
        match x6 {
            0x00..=0x0F | 0x1B | 0x20..=0x27 => self.floating_load(w, x6)?,
            0x2C..=0x2F => self.line_fetch(w, x6)?,
            0x30..=0x33 | 0x3B if w.major() == 7 || increment.is_none() => self.floating_store(w, x6)?,
            _ => return Err(Fault::IllegalOperation),
        }
        if let Some((value, nat)) = base {
            self.set_gr(w.r3(), value, nat);
        }
        Ok(())
    }

    /// `lfetch`: only its .fault forms fault.
    fn line_fetch(&mut self, w: Word, x6: u64) -> Result<(), Fault> {
        let faults = x6 & 2 != 0;
        let (address, nat) = self.gr(w.r3());
        let reference = Reference::new(AccessKind::Prefetch, 1);
        let located = if nat { Err(Fault::RegisterNat(reference.isr())) } else { self.locate(address, &reference) };
        match located {
            Ok(access) => self.step.access = Some(access),
            Err(fault) if faults => return Err(fault),
            Err(_) => {}
        }
        Ok(())
    }

    /// What `format` makes of memory at `physical`.
    fn read_floating(&self, physical: u64, fill: bool, format: u64) -> Float {
        if fill {
            let upper = self.read(physical + 8, 8);
            let (negative, exponent) = (upper >> 17 & 1 != 0, (upper & 0x1_FFFF) as u32);
            return Float { negative, exponent, significand: self.read(physical, 8) };
        }
        match format & 3 {
            0 => Float::from_extended(self.read(physical, 8), self.read(physical + 8, 2) as u16),
            1 => Float::integer(self.read(physical, 8)),
            2 => Float::from_single(self.read(physical, 4) as u32),
            _ => Float::from_double(self.read(physical, 8)),
        }
    }

    fn floating_load(&mut self, w: Word, x6: u64) -> Result<(), Fault> {
        let target = Self::floating_fit(w.r1())?;
        self.floating_enabled(&[target])?;
        let kind = x6 >> 2;
        let fill = x6 == 0x1B;
        let reference = self.floating_reference(kind, if fill { 16 } else { size_of(x6) });
        let (address, nat) = self.gr(w.r3());
        if nat && !reference.speculative {
            return Err(Fault::RegisterNat(reference.isr()));
        }
        let entry = self.floating_target(target);
        let unwanted = self.defers(&reference, nat);
        let located = if unwanted { Ok(None) } else { self.locate(address, &reference).map(Some) };
        let Some(access) = self.deferrable(located, reference.speculative)? else {
            self.set_fr(target, Float::NAT);
            self.alat.remove(entry);
            return Ok(());
        };
        if self.check_load(kind, entry, &access, true) {
            return Ok(());
        }
        self.step.access = Some(access);
        let value = self.read_floating(access.physical, fill, x6);
        self.set_fr(target, value);
        if reference.advanced || kind == form::CHECK_NO_CLEAR {
            self.advance(entry, access.physical, access.size);
        }
        Ok(())
    }

    fn floating_reference(&self, kind: u64, size: u8) -> Reference {
        Reference {
            floating: true,
            speculative: matches!(kind, form::SPECULATIVE | form::SPECULATIVE_ADVANCED),
            advanced: matches!(kind, form::ADVANCED | form::SPECULATIVE_ADVANCED),
            ..Reference::new(AccessKind::Load, size)
        }
    }

    /// `ldfp`: two registers, one odd and one even.
    pub(crate) fn load_pair(&mut self, w: Word, by_size: bool) -> Result<(), Fault> {
        let x6 = w.memory_x6();
        let kind = x6 >> 2;
        if x6 & 3 == 0 || !matches!(kind, 0..=3 | form::CHECK_CLEAR | form::CHECK_NO_CLEAR) || (w.r1() ^ w.r2()) & 1 == 0 {
            return Err(Fault::IllegalOperation);
        }
        let (first, second) = (Self::floating_fit(w.r1())?, Self::floating_fit(w.r2())?);
        self.floating_enabled(&[first, second])?;
        let each = u64::from(size_of(x6));
        let base = self.incremented(w, by_size.then_some((2 * each, false)))?;
        let reference = self.floating_reference(kind, 2 * each as u8);
        let (address, nat) = self.gr(w.r3());
        if nat && !reference.speculative {
            return Err(Fault::RegisterNat(reference.isr()));
        }
        let entry = self.floating_target(first);
        let unwanted = self.defers(&reference, nat);
        let located = if unwanted { Ok(None) } else { self.locate(address, &reference).map(Some) };
        match self.deferrable(located, reference.speculative)? {
            None => {
                self.set_fr(first, Float::NAT);
                self.set_fr(second, Float::NAT);
                self.alat.remove(entry);
            }
            Some(access) if self.check_load(kind, entry, &access, true) => {}
            Some(access) => {
                self.step.access = Some(access);
                let low = self.read_floating(access.physical, false, x6);
                let high = self.read_floating(access.physical + each, false, x6);
                self.set_fr(first, low);
                self.set_fr(second, high);
                if reference.advanced || kind == form::CHECK_NO_CLEAR {
                    self.advance(entry, access.physical, access.size);
                }
            }
        }
        if let Some((value, nat)) = base {
            self.set_gr(w.r3(), value, nat);
        }
        Ok(())
    }

    fn floating_store(&mut self, w: Word, x6: u64) -> Result<(), Fault> {
        self.floating_enabled(&[w.r2()])?;
        let address = self.need_for(w.r3(), isr::W)?;
        let value = self.fr(w.r2());
        let spill = x6 == 0x3B;
        if value.is_nat() && !spill {
            return Err(Fault::RegisterNat(isr::W));
        }
        let size = if spill { 16 } else { size_of(x6) };
        let access = self.locate(address, &Reference { floating: true, ..Reference::new(AccessKind::Store, size) })?;
        self.step.access = Some(access);
        let at = access.physical;
        match x6 & 3 {
            _ if spill => {
                self.write(at, 8, value.significand);
                self.write(at + 8, 8, u64::from(value.negative) << 17 | u64::from(value.exponent));
            }
            0 => {
                let (significand, upper) = value.to_extended();
                self.write(at, 8, significand);
                self.write(at + 8, 2, u64::from(upper));
            }
            1 => self.write(at, 8, value.significand),
            2 => self.write(at, 4, u64::from(value.to_single())),
            _ => self.write(at, 8, value.to_double()),
        }
        Ok(())
    }

    /// `setf`.
    pub(crate) fn set_floating(&mut self, w: Word) -> Result<(), Fault> {
        let target = Self::floating_fit(w.r1())?;
        self.floating_enabled(&[target])?;
        let (value, nat) = self.gr(w.r2());
        let result = match w.memory_x6() {
            _ if nat => Float::NAT,
            0x1C => Float::integer(value),
            0x1D => Float { negative: value >> 17 & 1 != 0, exponent: (value & 0x1_FFFF) as u32, significand: 1 << 63 },
            0x1E => Float::from_single(value as u32),
            _ => Float::from_double(value),
        };
        self.set_fr(target, result);
        Ok(())
    }

    /// `getf`.
    pub(crate) fn get_floating(&mut self, w: Word) -> Result<(), Fault> {
        self.floating_enabled(&[w.r2()])?;
        let value = self.fr(w.r2());
        let result = match w.memory_x6() {
            0x1C => value.significand,
            0x1D => u64::from(value.negative) << 17 | u64::from(value.exponent),
            0x1E => u64::from(value.to_single()),
            _ => value.to_double(),
        };
        self.put(w.r1(), (result, value.is_nat()))
    }
}
