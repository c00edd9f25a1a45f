//! Loads, stores and semaphores of general registers; moves between general and floating-point registers.

use crate::ia64::access::Reference;
use crate::ia64::alat::Target;
use crate::ia64::interrupt::Fault;
use crate::ia64::registers::{ar, isr, psr};
use crate::ia64::state::Core;
use crate::ia64::step::{Access, AccessKind, Check, Deferral};
use crate::ia64::word::Word;

/// The forms of a load, bits 35:32.
pub(crate) mod form {
    pub(crate) const SPECULATIVE: u64 = 1;
    pub(crate) const ADVANCED: u64 = 2;
    pub(crate) const SPECULATIVE_ADVANCED: u64 = 3;
    pub(crate) const FILL: u64 = 6;
    pub(crate) const CHECK_CLEAR: u64 = 8;
    pub(crate) const CHECK_NO_CLEAR: u64 = 9;
    pub(crate) const CHECK_CLEAR_ACQUIRE: u64 = 10;
}

/// What a base register becomes after the access, if it changes: value and NaT bit.
pub(crate) type Increment = Option<(u64, bool)>;

impl Core {
    /// Majors 4 to 7 of M slots.
    pub(crate) fn memory(&mut self, w: Word) -> Result<(), Fault> {
        let (by_register, extended) = (w.bit(36), w.bit(27));
        match (w.major(), by_register, extended) {
            (4, false, true) => self.semaphore(w),
            (4, true, true) => Err(Fault::IllegalOperation),
            (4, ..) => self.general_storage(w, if by_register { Some(self.gr(w.r2())) } else { None }),
            (5, ..) if w.memory_x6() >= 0x30 => self.general_storage(w, Some((w.store_increment(), false))),
            (5, ..) => self.general_storage(w, Some((w.load_increment(), false))),
            (6, false, true) if (0x1C..=0x1F).contains(&w.memory_x6()) => self.set_floating(w),
            (6, _, true) => self.load_pair(w, by_register),
            (6, ..) => self.floating_storage(w, if by_register { Some(self.gr(w.r2())) } else { None }),
            (7, ..) if w.memory_x6() >= 0x30 => self.floating_storage(w, Some((w.store_increment(), false))),
            (7, ..) => self.floating_storage(w, Some((w.load_increment(), false))),
            _ => Err(Fault::IllegalOperation),
        }
    }

    /// The base register that `w` changes, if it changes one, and what it becomes.
    pub(crate) fn incremented(&self, w: Word, increment: Increment) -> Result<Increment, Fault> {
        let Some((by, by_nat)) = increment else { return Ok(None) };
        self.target(w.r3())?;
        let (base, nat) = self.gr(w.r3());
        Ok(Some((base.wrapping_add(by), nat || by_nat)))
    }

    fn general_storage(&mut self, w: Word, increment: Increment) -> Result<(), Fault> {
        let x6 = w.memory_x6();
        let base = self.incremented(w, increment)?;
        match x6 {
            0x00..=0x17 | 0x1B | 0x20..=0x2B => self.general_load(w, x6, base),
            0x30..=0x37 | 0x3B if w.major() == 5 || increment.is_none() => self.general_store(w, x6, base),
            _ => Err(Fault::IllegalOperation),
        }
    }

    fn general_load(&mut self, w: Word, x6: u64, base: Increment) -> Result<(), Fault> {
        let target = self.target(w.r1())?;
        if base.is_some() && w.r1() == w.r3() {
            return Err(Fault::IllegalOperation);
        }
        let kind = x6 >> 2;
        let speculative = matches!(kind, form::SPECULATIVE | form::SPECULATIVE_ADVANCED);
        let advanced = matches!(kind, form::ADVANCED | form::SPECULATIVE_ADVANCED);
        let reference = Reference { speculative, advanced, ..Reference::new(AccessKind::Load, 1 << (x6 & 3)) };
        let entry = self.general_target(target);
        let (address, nat) = self.gr(w.r3());
        if nat && !speculative {
            return Err(Fault::RegisterNat(reference.isr()));
        }
        let unwanted = self.defers(&reference, nat);
        let loaded = if unwanted { Ok(None) } else { self.checked_load(address, kind, entry, &reference).map(Some) };
        match self.deferrable(loaded, speculative)? {
            Some((physical, Some(value))) => {
                let nat = kind == form::FILL && self.ar[ar::UNAT] >> (address >> 3 & 63) & 1 != 0;
                self.set_gr(target, value, nat);
                if advanced || kind == form::CHECK_NO_CLEAR {
                    self.advance(entry, physical, reference.size);
                }
            }
            Some((_, None)) => {}
            None => {
                self.set_gr(target, 0, true);
                self.alat.remove(entry);
            }
        }
        if let Some((value, nat)) = base {
            self.set_gr(w.r3(), value, nat);
        }
        Ok(())
    }

    /// Whether a load is deferred before it accesses anything, since its address is a NaT, or PSR.ed asks for it.
    pub(crate) fn defers(&mut self, reference: &Reference, nat: bool) -> bool {
        let asked = reference.speculative && self.psr & psr::ED != 0;
        self.step.deferred = match (nat, asked) {
            (true, _) => Some(Deferral::Nat),
            (false, true) => Some(Deferral::Asked),
            (false, false) => None,
        };
        nat || asked
    }

    /// A fault that a speculative load leaves as a NaT is none.
    pub(crate) fn deferrable<T>(&mut self, loaded: Result<Option<T>, Fault>, speculative: bool) -> Result<Option<T>, Fault> {
        match loaded {
            Err(fault @ (Fault::NoMemory { .. } | Fault::Unaligned { .. } | Fault::DataDebug { .. })) if speculative => {
                let missed = matches!(fault, Fault::NoMemory { .. });
                self.step.deferred = Some(if missed { Deferral::Miss } else { Deferral::Fault });
                Ok(None)
            }
            other => other,
        }
    }

    /// An advanced load, or a check load that did, has an entry in the table.
    pub(crate) fn advance(&mut self, entry: Target, physical: u64, size: u8) {
        let crowded = self.alat.insert(entry, physical, size);
        self.step.crowded = crowded.then_some(matches!(entry, Target::Floating(_)));
    }

    /// Loads unless it is a check that holds. Returns the physical address and the value.
    fn checked_load(&mut self, address: u64, kind: u64, entry: Target, reference: &Reference) -> Result<(u64, Option<u64>), Fault> {
        let access = self.locate(address, reference)?;
        if self.check_load(kind, entry, &access, false) {
            return Ok((access.physical, None));
        }
        self.step.access = Some(access);
        Ok((access.physical, Some(self.read(access.physical, reference.size))))
    }

    /// Whether a load of `kind` is a check that holds; the step records it.
    pub(crate) fn check_load(&mut self, kind: u64, entry: Target, access: &Access, floating: bool) -> bool {
        if !matches!(kind, form::CHECK_CLEAR | form::CHECK_NO_CLEAR | form::CHECK_CLEAR_ACQUIRE) {
            return false;
        }
        let holds = self.alat.matches(entry, access.physical, access.size);
        if kind != form::CHECK_NO_CLEAR {
            self.alat.remove(entry);
        }
        self.step.check = Some(Check { advanced: true, load: true, floating, flags: false, failed: !holds, target: 0 });
        if holds {
            self.step.access = Some(Access { kind: AccessKind::CheckHit, ..*access });
        }
        holds
    }

    fn general_store(&mut self, w: Word, x6: u64, base: Increment) -> Result<(), Fault> {
        let spill = x6 == 0x3B;
        let address = self.need_for(w.r3(), isr::W)?;
        let (value, nat) = self.gr(w.r2());
        if nat && !spill {
            return Err(Fault::RegisterNat(isr::W));
        }
        let size = if spill { 8 } else { 1 << (x6 & 3) };
        self.store(address, &Reference::new(AccessKind::Store, size), value)?;
        if spill {
            let bit = 1 << (address >> 3 & 63);
            let unat = &mut self.ar[ar::UNAT];
            *unat = if nat { *unat | bit } else { *unat & !bit };
        }
        if let Some((value, nat)) = base {
            self.set_gr(w.r3(), value, nat);
        }
        Ok(())
    }

    /// Semaphores, 16-byte accesses and `getf`.
    fn semaphore(&mut self, w: Word) -> Result<(), Fault> {
        let x6 = w.memory_x6();
        let size = 1u8 << (x6 & 3);
        match x6 {
            0x1C..=0x1F => return self.get_floating(w),
            0x30 | 0x34 => return self.store_sixteen(w),
            0x28 | 0x2C => return self.load_sixteen(w),
            0x00..=0x0B | 0x12 | 0x13 | 0x16 | 0x17 | 0x20 | 0x24 => {}
            _ => return Err(Fault::IllegalOperation),
        }
        let target = self.target(w.r1())?;
        let access = isr::R | isr::W;
        let address = self.need_for(w.r3(), access)?;
        let operand = if (0x12..=0x17).contains(&x6) { w.fetch_increment() } else { self.need_for(w.r2(), access)? };
        let size = if x6 >= 0x20 { 8 } else { size };
        let reference = Reference::new(AccessKind::Semaphore, size);
        let old = self.load(address, &reference)?;
        let physical = Self::physical(address);
        match x6 {
            0x00..=0x07 if old == self.ar[ar::CCV] => self.write(physical, size, operand),
            0x08..=0x0B => self.write(physical, size, operand),
            0x12 | 0x13 | 0x16 | 0x17 => self.write(physical, size, old.wrapping_add(operand)),
            0x20 | 0x24 if old == self.ar[ar::CCV] => {
                self.write(physical & !15, 8, operand);
                self.write(physical & !15 | 8, 8, self.ar[ar::CSD]);
            }
            _ => {}
        }
        self.set_gr(target, old, false);
        Ok(())
    }

    fn load_sixteen(&mut self, w: Word) -> Result<(), Fault> {
        let target = self.target(w.r1())?;
        let address = self.need_for(w.r3(), isr::R)?;
        let access = self.locate(address, &Reference::new(AccessKind::Load, 16))?;
        self.step.access = Some(access);
        self.ar[ar::CSD] = self.read(access.physical + 8, 8);
        let low = self.read(access.physical, 8);
        self.set_gr(target, low, false);
        Ok(())
    }

    fn store_sixteen(&mut self, w: Word) -> Result<(), Fault> {
        let address = self.need_for(w.r3(), isr::W)?;
        let value = self.need_for(w.r2(), isr::W)?;
        let access = self.locate(address, &Reference::new(AccessKind::Store, 16))?;
        self.step.access = Some(access);
        self.write(access.physical, 8, value);
        self.write(access.physical + 8, 8, self.ar[ar::CSD]);
        Ok(())
    }
}
