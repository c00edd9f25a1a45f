//! The machine state, returns and system calls (Power ISA 3.0B, Book III, 3.3 and 4.4).

use vm_pmu::decode::power::{Op, Word};

use super::Then;
use crate::power::interrupt::Fault;
use crate::power::registers::{bescr, facility, lpcr, msr, spr};
use crate::power::state::Core;

/// What a move to MSR leaves alone.
const KEPT: u64 = msr::HV | msr::ME | msr::LE | msr::TS;

impl Core {
    /// Executes `op`, which is none of the others.
    pub(super) fn system(&mut self, op: Op, w: Word) -> Result<Then, Fault> {
        match op {
            Op::Sc => return Ok(Then::SystemCall { hypervisor: w.0 >> 5 & 0x7F == 1 }),
            Op::Mfmsr => {
                self.privileged()?;
                self.gpr[w.rt()] = self.msr;
                return Ok(Then::Next);
            }
            Op::Mtmsr | Op::Mtmsrd => {
                self.privileged()?;
                self.move_to_msr(op, w);
                return Ok(Then::Next);
            }
            Op::Rfid => {
                self.privileged()?;
                let (address, state) = (self.peek_spr(spr::SRR0), self.peek_spr(spr::SRR1));
                // Only the hypervisor changes HV, and only to 0, and ME.
                let state = if self.msr & msr::HV == 0 { state & !(msr::HV | msr::ME) | self.msr & msr::ME } else { state };
                self.return_to(address, state)?;
            }
            Op::Hrfid => {
                self.hypervisor_only()?;
                self.return_to(self.peek_spr(spr::HSRR0), self.peek_spr(spr::HSRR1))?;
            }
            Op::Rfebb => self.return_from_event_based_branch(w)?,
            Op::Stop => {
                self.privileged()?;
                self.begin_to_wait();
            }
            Op::Wait => self.begin_to_wait(),
            _ => return Err(Fault::illegal()),
        }
        Ok(Then::Untraced)
    }

    /// Raises the interrupt of a hypervisor's instruction in any other state.
    pub(super) fn hypervisor_only(&self) -> Result<(), Fault> {
        if self.hypervisor() {
            return Ok(());
        }
        let assisted = !self.problem() && self.peek_spr(spr::LPCR) & lpcr::EVIRT != 0;
        Err(if assisted { Fault::illegal() } else { Fault::privileged() })
    }

    /// Problem state has translation and external interrupts on.
    fn consistent(state: u64) -> u64 {
        if state & msr::PR != 0 { state | msr::EE | msr::IR | msr::DR } else { state }
    }

    fn move_to_msr(&mut self, op: Op, w: Word) {
        let value = self.gpr[w.rt()];
        if w.0 & 1 << 16 != 0 {
            let bits = msr::EE | msr::RI;
            self.set_msr(self.msr & !bits | value & bits);
            return;
        }
        let kept = if op == Op::Mtmsr { KEPT | !0xFFFF_FFFF } else { KEPT };
        self.set_msr(Self::consistent(self.msr & kept | value & !kept));
    }

    fn return_to(&mut self, address: u64, state: u64) -> Result<(), Fault> {
        let mut state = state;
        // Suspended with transactional memory off stays so where the saved state has neither.
        let bits = msr::TS | msr::TM;
        if self.msr & bits == msr::TS_SUSPENDED && state & bits == 0 {
            state |= msr::TS_SUSPENDED;
        }
        let wanted = state & msr::TS;
        if wanted == msr::TS || (wanted != 0) != self.checkpoint.is_some() {
            return Err(Fault::bad_thing());
        }
        self.set_msr(Self::consistent(state));
        self.next = self.effective(address & !3);
        Ok(())
    }

    fn return_from_event_based_branch(&mut self, w: Word) -> Result<(), Fault> {
        self.facility(facility::EBB, facility::CAUSE_EBB)?;
        let state = (self.bescr() & bescr::TS) << 3;
        if state != self.msr & msr::TS {
            let legal = self.msr & msr::TS == msr::TS_SUSPENDED && state == msr::TS_TRANSACTIONAL && self.checkpoint.is_some();
            if !legal {
                return Err(Fault::bad_thing());
            }
            self.set_msr(self.msr & !msr::TS | state);
        }
        let enabled = if w.0 & 1 << 11 != 0 { bescr::GE } else { 0 };
        self.set_bescr(self.bescr() & !bescr::GE | enabled);
        self.next = self.effective(self.peek_spr(spr::EBBRR) & !3);
        Ok(())
    }
}
