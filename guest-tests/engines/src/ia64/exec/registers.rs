//! Application and control registers and their rules (SDM volume 1, 3.1.8; volume 2, 3.3).

use crate::ia64::bundle::Unit;
use crate::ia64::interrupt::Fault;
use crate::ia64::registers::{ar, cr, psr};
use crate::ia64::stack::above;
use crate::ia64::state::Core;

/// The fields of RSC: mode, pl, be and loadrs.
const RSC_FIELDS: u64 = 0x3FFF_001F;
/// The fields of a vector register: vector and mask.
const VECTOR_FIELDS: u64 = 0x1_00FF;

/// Whether a slot of `unit` reaches application register `number`.
fn reaches(unit: Unit, number: usize) -> bool {
    match unit {
        Unit::I => number >= 48,
        _ => !(64..112).contains(&number),
    }
}

impl Core {
    fn application(&self, unit: Unit, number: usize) -> Result<(), Fault> {
        let stack = matches!(number, ar::BSPSTORE | ar::RNAT) && self.ar[ar::RSC] & 3 != 0;
        let there = matches!(number, 0..=7 | 16..=19 | 21 | 24..=30 | 32 | 36 | 40 | 44 | 45 | 48..=66 | 112..=127);
        if there && reaches(unit, number) && !stack { Ok(()) } else { Err(Fault::IllegalOperation) }
    }

    /// A move from application register `number` in a slot of `unit`.
    pub(crate) fn read_ar(&self, unit: Unit, number: usize) -> Result<u64, Fault> {
        self.application(unit, number)?;
        if matches!(number, ar::ITC | ar::RUC) && self.psr & psr::SI != 0 && self.cpl() != 0 {
            return Err(Fault::PrivilegedRegister);
        }
        Ok(self.peek_ar(number))
    }

    /// A move to application register `number` in a slot of `unit`.
    pub(crate) fn write_ar(&mut self, unit: Unit, number: usize, value: u64) -> Result<(), Fault> {
        self.application(unit, number)?;
        match number {
            ar::BSP => return Err(Fault::IllegalOperation),
            0..=ar::KR7 | ar::ITC | ar::RUC if self.cpl() != 0 => return Err(Fault::PrivilegedRegister),
            ar::RSC => {
                if value & !RSC_FIELDS != 0 {
                    return Err(Fault::ReservedRegisterField);
                }
                // Code cannot make the register stack more privileged than itself.
                let pl = (value >> 2 & 3).max(u64::from(self.cpl()));
                self.ar[number] = value & !0xC | pl << 2;
            }
            ar::BSPSTORE => {
                self.stack.bspstore = value & !7;
                self.stack.bsp = above(value & !7, self.stack.dirty);
                self.stack.clean = 0;
            }
            ar::RNAT => self.stack.rnat = value,
            ar::ITC => {
                self.itc_offset = value.wrapping_sub(self.cycles);
                self.set_timer();
            }
            ar::EC => self.ar[number] = value & 0x3F,
            ar::RUC | 48..=63 | 112..=127 => {}
            _ => self.ar[number] = value,
        }
        Ok(())
    }

    fn control(&self, number: usize) -> Result<(), Fault> {
        self.privileged_control(number)?;
        // The registers of an interruption are out of reach while the next one may change them.
        if matches!(number, 16..=27) && self.psr & psr::IC != 0 { Err(Fault::IllegalOperation) } else { Ok(()) }
    }

    fn privileged_control(&self, number: usize) -> Result<(), Fault> {
        let there = matches!(number, 0..=2 | 8 | 16 | 17 | 19..=27 | 64..=74 | 80 | 81);
        if there { self.privileged() } else { Err(Fault::IllegalOperation) }
    }

    /// A move from control register `number`.
    pub(crate) fn read_cr(&mut self, number: usize) -> Result<u64, Fault> {
        self.control(number)?;
        Ok(match number {
            cr::IVR => u64::from(self.sapic.accept()),
            _ => self.peek_cr(number),
        })
    }

    /// A move to control register `number`.
    pub(crate) fn write_cr(&mut self, number: usize, value: u64) -> Result<(), Fault> {
        self.control(number)?;
        match number {
            cr::IVR | 68..=71 => return Err(Fault::IllegalOperation),
            cr::DCR => {
                self.context_changed |= self.cr[number] != value;
                self.cr[number] = value;
            }
            cr::ITM => {
                self.cr[number] = value;
                self.set_timer();
            }
            cr::IVA => self.cr[number] = value & !0x7FFF,
            cr::TPR => self.sapic.tpr = value & 0x1_00F0,
            cr::EOI => self.sapic.end(),
            cr::ITV | cr::PMV | cr::CMCV => self.cr[number] = value & VECTOR_FIELDS,
            _ => self.cr[number] = value,
        }
        Ok(())
    }

    /// The vector in a vector register becomes pending unless it is masked.
    pub(crate) fn request(&mut self, register: usize) {
        let value = self.cr[register];
        if value & 1 << 16 == 0 {
            self.sapic.request(value as u8);
        }
    }
}
