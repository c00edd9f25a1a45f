//! Loads and stores (Power ISA 3.0B, Book I, 3.3.2 to 3.3.5 and 4.6.2; Book II, 4.6.2).

use vm_pmu::decode::power::{Conversion, LoadStore, Op, Word, load_store};

use crate::power::interrupt::{Exception, Fault};
use crate::power::registers::msr;
use crate::power::state::Core;
use crate::power::step::Conditional;

impl Core {
    /// Executes `op` if it is a load or store; returns whether it was.
    #[inline]
    pub(super) fn memory(&mut self, op: Op, w: Word) -> Result<bool, Fault> {
        if let Some(access) = load_store(op) {
            self.access(&access, w)?;
            return Ok(true);
        }
        match op {
            Op::Lbarx => self.load_reserve(w, 1)?,
            Op::Lharx => self.load_reserve(w, 2)?,
            Op::Lwarx => self.load_reserve(w, 4)?,
            Op::Ldarx => self.load_reserve(w, 8)?,
            Op::Stbcx => self.store_conditional(w, 1)?,
            Op::Sthcx => self.store_conditional(w, 2)?,
            Op::Stwcx => self.store_conditional(w, 4)?,
            Op::Stdcx => self.store_conditional(w, 8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn access(&mut self, access: &LoadStore, w: Word) -> Result<(), Fault> {
        if access.is_floating() {
            self.need_floating()?;
        }
        if !access.is_valid(w) {
            return Err(Fault::illegal());
        }
        let address = access.sum(w, |register| self.gpr[register]);
        if access.store {
            let value = match access.conversion {
                Conversion::Reversed => self.gpr[w.rt()].swap_bytes() >> (64 - 8 * u32::from(access.size)),
                Conversion::Single => single(self.fpr[w.rt()]),
                Conversion::Double | Conversion::Word | Conversion::SignedWord => self.fpr[w.rt()],
                Conversion::Zero | Conversion::Sign => self.gpr[w.rt()],
            };
            self.store(address, access.size, value)?;
        } else {
            let value = self.load(address, access.size)?;
            match access.conversion {
                Conversion::Zero => self.gpr[w.rt()] = value,
                Conversion::Sign if access.size == 2 => self.gpr[w.rt()] = i64::from(value as i16) as u64,
                Conversion::Sign => self.gpr[w.rt()] = i64::from(value as i32) as u64,
                Conversion::Reversed => self.gpr[w.rt()] = value.swap_bytes() >> (64 - 8 * u32::from(access.size)),
                Conversion::Single => self.fpr[w.rt()] = double(value as u32),
                Conversion::Double | Conversion::Word => self.fpr[w.rt()] = value,
                Conversion::SignedWord => self.fpr[w.rt()] = i64::from(value as i32) as u64,
            }
        }
        if access.update {
            self.gpr[w.ra()] = self.effective(address);
        }
        Ok(())
    }

    /// Raises the interrupt of floating-point instructions that are unavailable.
    pub(crate) fn need_floating(&self) -> Result<(), Fault> {
        use crate::power::registers::facility;
        self.need(msr::FP, Exception::FloatingUnavailable)?;
        self.hypervisor_facility(facility::FP, facility::CAUSE_FP)
    }

    fn reserved_address(&self, w: Word, size: u8) -> Result<u64, Fault> {
        let address = self.effective(self.ra_or_zero(w).wrapping_add(self.gpr[w.rb()]));
        if !address.is_multiple_of(u64::from(size)) {
            return Err(Fault(Exception::Alignment { address }));
        }
        Ok(address)
    }

    fn load_reserve(&mut self, w: Word, size: u8) -> Result<(), Fault> {
        let address = self.reserved_address(w, size)?;
        let value = self.load(address, size)?;
        self.reserve(self.step.access.map_or(address, |access| access.real));
        self.gpr[w.rt()] = value;
        if let Some(access) = &mut self.step.access {
            access.reserve = true;
        }
        Ok(())
    }

    fn store_conditional(&mut self, w: Word, size: u8) -> Result<(), Fault> {
        let address = self.reserved_address(w, size)?;
        let real = self.translated(address, true)?;
        let stored = self.take_reservation(real);
        if stored {
            self.store(address, size, self.gpr[w.rt()])?;
            if let Some(access) = &mut self.step.access {
                access.reserve = true;
            }
        }
        self.step.conditional = Some(if stored { Conditional::Stored } else { Conditional::Failed });
        let summary = u32::from(self.xer & super::SO != 0);
        self.set_field(0, if stored { 2 } else { 0 } | summary);
        Ok(())
    }
}

/// The double format of a single: `lfs`. Exact for all but signalling NaNs, whose bits are kept.
fn double(single: u32) -> u64 {
    let (exponent, fraction) = (single >> 23 & 0xFF, u64::from(single & 0x7F_FFFF));
    if exponent == 0xFF {
        return u64::from(single >> 31) << 63 | 0x7FF << 52 | fraction << 29;
    }
    f64::from(f32::from_bits(single)).to_bits()
}

/// The single format of a double that is one: `stfs`. Others are cut off as the hardware does (Power ISA 3.0B, Book I, 4.6.3).
fn single(double: u64) -> u64 {
    let exponent = double >> 52 & 0x7FF;
    let top = double >> 62 << 30;
    if exponent > 896 || double << 1 == 0 {
        return top | double >> 29 & 0x3FFF_FFFF;
    }
    if exponent < 874 {
        return top & 0x8000_0000;
    }
    let fraction = 1 << 52 | double & 0x000F_FFFF_FFFF_FFFF;
    double >> 63 << 31 | fraction >> (29 + 897 - exponent)
}
