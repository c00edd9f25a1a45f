//! Branches (Power ISA 3.0B, Book I, 2.4) and traps (3.3.11).

use vm_pmu::decode::power::{Op, Through, Word, branch_form, direct_target};

use crate::power::interrupt::Fault;
use crate::power::registers::{facility, msr};
use crate::power::state::Core;
use crate::power::step::Branch;

impl Core {
    /// Executes `op` if it is a branch; returns whether it was.
    #[inline]
    pub(super) fn branch(&mut self, op: Op, w: Word) -> Result<bool, Fault> {
        let Some(form) = branch_form(op, w) else { return Ok(false) };
        let target = match form.through {
            Through::Immediate => direct_target(op, w, self.pc).unwrap_or_default(),
            Through::Lr => self.lr & !3,
            Through::Ctr => self.ctr & !3,
            Through::Tar => {
                self.facility(facility::TAR, facility::CAUSE_TAR)?;
                self.peek_spr(super::super::registers::spr::TAR) & !3
            }
        };
        let target = self.effective(target);
        let bo = w.rt();
        if form.on_count && op == Op::Bcctr {
            // An invalid form: the count cannot be the target too.
            return Err(Fault::illegal());
        }
        let counted = !form.on_count || {
            self.ctr = self.ctr.wrapping_sub(1);
            let count = self.effective(self.ctr);
            (count != 0) != (bo & 0b00010 != 0)
        };
        let condition = !form.on_condition || (self.cr >> (31 - w.ra()) & 1 != 0) == (bo & 0b01000 != 0);
        let taken = counted && condition;
        if form.link {
            self.lr = self.effective(self.pc.wrapping_add(4));
        }
        if taken {
            self.next = target;
        }
        self.step.branch = Some(Branch { form, taken, target });
        Ok(true)
    }

    /// `tw`, `twi`, `td`, `tdi`.
    pub(super) fn trap(&mut self, op: Op, w: Word) -> Result<(), Fault> {
        let a = self.gpr[w.ra()];
        let b = if matches!(op, Op::Twi | Op::Tdi) { w.si() } else { self.gpr[w.rb()] };
        let (signed, unsigned) = if matches!(op, Op::Td | Op::Tdi) {
            ((a as i64).cmp(&(b as i64)), a.cmp(&b))
        } else {
            ((a as i32).cmp(&(b as i32)), (a as u32).cmp(&(b as u32)))
        };
        let to = w.rt();
        let trap = signed.is_lt() && to & 16 != 0
            || signed.is_gt() && to & 8 != 0
            || signed.is_eq() && to & 4 != 0
            || unsigned.is_lt() && to & 2 != 0
            || unsigned.is_gt() && to & 1 != 0;
        if trap { Err(Fault::trap()) } else { Ok(()) }
    }

    /// Raises a facility unavailable interrupt unless HFSCR and FSCR let this state use the facility. HFSCR rules all but the hypervisor,
    /// FSCR problem state; where both forbid, the interrupt goes to the hypervisor.
    pub(crate) fn facility(&self, bit: u64, cause: u8) -> Result<(), Fault> {
        self.hypervisor_facility(bit, cause)?;
        let fscr = self.spr[usize::from(super::super::registers::spr::FSCR)];
        if self.msr & msr::PR != 0 && fscr & bit == 0 { Err(Fault::facility(false, cause)) } else { Ok(()) }
    }

    /// The same for a facility that only HFSCR has a bit for.
    pub(crate) fn hypervisor_facility(&self, bit: u64, cause: u8) -> Result<(), Fault> {
        let hfscr = self.spr[usize::from(super::super::registers::spr::HFSCR)];
        if !self.hypervisor() && hfscr & bit == 0 { Err(Fault::facility(true, cause)) } else { Ok(()) }
    }
}
