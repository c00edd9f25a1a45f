//! Registers that are named by a register: breakpoints, performance monitors, regions, keys, CPUID.

use crate::ia64::interrupt::Fault;
use crate::ia64::observer::{CpuView, Observer, RegisterFault};
use crate::ia64::registers::isr;
use crate::ia64::state::Core;
use crate::ia64::word::Word;

impl From<RegisterFault> for Fault {
    fn from(fault: RegisterFault) -> Self {
        match fault {
            RegisterFault::PrivilegedOperation => Self::PrivilegedOperation,
            RegisterFault::PrivilegedRegister => Self::PrivilegedRegister,
            RegisterFault::ReservedRegisterField => Self::ReservedRegisterField,
        }
    }
}

fn of(registers: &[u64], index: u64) -> Result<u64, Fault> {
    registers.get((index & 0xFF) as usize).copied().ok_or(Fault::ReservedRegisterField)
}

impl Core {
    /// Moves to a register that r3 names.
    pub(crate) fn write_indirect<O: Observer>(&mut self, w: Word, observer: &mut O) -> Result<(), Fault> {
        self.privileged()?;
        let index = self.need_for(w.r3(), isr::NA)?;
        let value = self.need_for(w.r2(), isr::NA)?;
        let file = match w.x6() {
            0x00 => {
                self.rr[(index >> 61) as usize] = value;
                return Ok(());
            }
            0x01 => &mut self.dbr[..],
            0x02 => &mut self.ibr[..],
            0x03 => &mut self.pkr[..],
            0x04 => return Ok(observer.write_pmc(index as u8, value, &CpuView::new(self))?),
            0x05 => return Ok(observer.write_pmd(index as u8, value, &CpuView::new(self))?),
            _ => return Err(Fault::IllegalOperation),
        };
        let register = file.get_mut((index & 0xFF) as usize).ok_or(Fault::ReservedRegisterField)?;
        self.context_changed |= w.x6() != 0x03 && *register != value;
        *register = value;
        Ok(())
    }

    /// Moves from a register that r3 names.
    pub(crate) fn read_indirect<O: Observer>(&mut self, w: Word, observer: &mut O) -> Result<(), Fault> {
        // Performance monitor data and CPUID are open to everybody.
        if !matches!(w.x6(), 0x15 | 0x17) {
            self.privileged()?;
        }
        self.target(w.r1())?;
        let index = self.need_for(w.r3(), isr::NA)?;
        let value = match w.x6() {
            0x10 => self.rr[(index >> 61) as usize],
            0x11 => of(&self.dbr, index)?,
            0x12 => of(&self.ibr, index)?,
            0x13 => of(&self.pkr, index)?,
            0x14 => observer.read_pmc(index as u8, &CpuView::new(self))?,
            0x15 => observer.read_pmd(index as u8, &CpuView::new(self))?,
            0x17 => of(&self.cpuid, index)?,
            _ => return Err(Fault::IllegalOperation),
        };
        self.put(w.r1(), (value, false))
    }
}
