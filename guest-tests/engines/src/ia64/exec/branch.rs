//! The instructions of B slots, and `brl`.

use super::Flow;
use crate::ia64::interrupt::Fault;
use crate::ia64::registers::{ar, cr, psr};
use crate::ia64::state::Core;
use crate::ia64::step::{Branch, BranchKind};
use crate::ia64::word::Word;

impl Core {
    /// All of B. The step records branches whether they are predicated off or not.
    pub(crate) fn branch(&mut self, w: Word) -> Result<Flow, Fault> {
        let p = self.step.predicate;
        match w.major() {
            0 => self.branch_0(w, p),
            1 => self.call(w, p, self.br[w.b2()] & !15, true),
            2 if w.x6() == 1 => {
                self.step.pause = p && w.imm21() == 0;
                Ok(Flow::Next)
            }
            2 if matches!(w.x6(), 0 | 0x10 | 0x11) => Ok(Flow::Next),
            4 => self.relative(w, p),
            5 => self.call(w, p, self.step.ip.wrapping_add(w.displacement()), false),
            7 => Ok(Flow::Next),
            _ if p => Err(Fault::IllegalOperation),
            _ => Ok(Flow::Next),
        }
    }

    /// `brl.cond` and `brl.call`.
    pub(crate) fn long_branch(&mut self, w: Word, upper: u64) -> Result<Flow, Fault> {
        let p = self.step.predicate;
        let target = self.step.ip.wrapping_add(w.long_displacement(upper));
        match (w.major(), w.b1()) {
            (0xD, _) => self.call(w, p, target, false),
            (_, 0) => Ok(self.go(BranchKind::Conditional, p, target, false)),
            _ => Err(Fault::IllegalOperation),
        }
    }

    fn go(&mut self, kind: BranchKind, taken: bool, target: u64, indirect: bool) -> Flow {
        self.step.branch = Some(Branch { kind, indirect, taken, target });
        self.firmware_called = kind == BranchKind::Call;
        if taken { Flow::Taken(target) } else { Flow::Next }
    }

    fn branch_0(&mut self, w: Word, p: bool) -> Result<Flow, Fault> {
        match (w.x6(), w.b1()) {
            (0x20, 0) => return Ok(self.go(BranchKind::Conditional, p, self.br[w.b2()] & !15, true)),
            (0x21, 4) => return self.procedure_return(w, p),
            _ if !p => return Ok(Flow::Next),
            (0x20, 1) => return Err(Fault::DisabledTransition),
            _ => {}
        }
        match w.x6() {
            // With this form IIM gets 0, whatever the number.
            0x00 => return Err(Fault::Break(0)),
            0x02 => self.cover(),
            0x04 => self.stack.clear_rotation(),
            0x05 => self.stack.rrb_pr = 0,
            0x08 => return self.interruption_return(),
            0x0C | 0x0D => {
                self.privileged()?;
                self.set_psr(if w.x6() == 0x0D { self.psr | psr::BN } else { self.psr & !psr::BN });
            }
            0x10 => {
                if self.ar[ar::PFS] >> 62 < u64::from(self.cpl()) {
                    return Err(Fault::IllegalOperation);
                }
                self.set_psr(self.psr & !psr::CPL);
            }
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(Flow::Next)
    }

    fn relative(&mut self, w: Word, p: bool) -> Result<Flow, Fault> {
        let target = self.step.ip.wrapping_add(w.displacement());
        let kind = w.b1();
        if matches!(kind, 2 | 3 | 5..=7) && self.step.slot != 2 {
            return Err(Fault::IllegalOperation);
        }
        Ok(match kind {
            0 => self.go(BranchKind::Conditional, p, target, false),
            5 => {
                let taken = self.ar[ar::LC] != 0;
                if taken {
                    self.ar[ar::LC] -= 1;
                }
                self.go(BranchKind::CountedLoop, taken, target, false)
            }
            6 | 7 => {
                let counting = self.ar[ar::LC] != 0;
                if counting {
                    self.ar[ar::LC] -= 1;
                }
                let goes_on = self.next_stage(counting, counting);
                self.go(BranchKind::ModuloScheduledCounted, goes_on == (kind == 7), target, false)
            }
            2 | 3 => {
                let goes_on = self.next_stage(p, false);
                self.go(BranchKind::ModuloScheduledWhile, goes_on == (kind == 3), target, false)
            }
            _ => return Err(Fault::IllegalOperation),
        })
    }

    /// The end of a stage of a modulo-scheduled loop: the kernel continues, or the epilogue counts down. Returns whether the loop
    /// continues.
    fn next_stage(&mut self, kernel: bool, next_predicate: bool) -> bool {
        let epilogue = self.ar[ar::EC];
        self.set_predicate(63, next_predicate);
        if kernel || epilogue != 0 {
            self.stack.rotate();
        }
        if !kernel && epilogue != 0 {
            self.ar[ar::EC] = epilogue - 1;
        }
        kernel || epilogue > 1
    }

    fn call(&mut self, w: Word, p: bool, target: u64, indirect: bool) -> Result<Flow, Fault> {
        if p {
            self.note_stack_level();
            self.br[w.b1()] = self.step.ip.wrapping_add(16);
            self.ar[ar::PFS] = self.stack.cfm() | self.ar[ar::EC] << 52 | u64::from(self.cpl()) << 62;
            self.step.function_state = Some(self.ar[ar::PFS]);
            let stack = &mut self.stack;
            let (sof, sol) = (stack.sof, stack.sol);
            stack.leave(sol);
            (stack.sof, stack.sol, stack.rotating) = (sof - sol, 0, 0);
            stack.clear_rotation();
        }
        Ok(self.go(BranchKind::Call, p, target, indirect))
    }

    fn procedure_return(&mut self, w: Word, p: bool) -> Result<Flow, Fault> {
        let target = self.br[w.b2()] & !15;
        if p {
            self.return_frame()?;
            self.step.function_state = Some(self.ar[ar::PFS]);
        }
        Ok(self.go(BranchKind::Return, p, target, true))
    }

    /// What `br.ret` does besides branching: it restores the frame, EC and the privilege level of AR.PFS.
    pub(crate) fn return_frame(&mut self) -> Result<(), Fault> {
        self.note_stack_level();
        let pfs = self.ar[ar::PFS];
        self.adopt(pfs, (pfs >> 7 & 0x7F) as usize)?;
        self.ar[ar::EC] = pfs >> 52 & 0x3F;
        if pfs >> 62 > u64::from(self.cpl()) {
            self.set_psr(self.psr & !psr::CPL | (pfs >> 62) << psr::CPL_SHIFT);
        }
        Ok(())
    }

    /// Returns to the frame of `marker`, `registers` below.
    fn adopt(&mut self, marker: u64, registers: usize) -> Result<(), Fault> {
        let before = self.stack.cfm();
        if !self.stack.set_cfm(marker) {
            return Err(Fault::IllegalOperation);
        }
        let sof = self.stack.sof;
        let done = self.restore_frame(registers).and_then(|()| self.make_room(sof));
        if done.is_err() {
            self.stack.set_cfm(before);
        }
        done
    }

    fn cover(&mut self) {
        self.note_stack_level();
        if self.psr & psr::IC == 0 {
            self.cr[cr::IFS] = 1 << 63 | self.stack.cfm();
        }
        let sof = self.stack.sof;
        self.stack.leave(sof);
        (self.stack.sof, self.stack.sol, self.stack.rotating) = (0, 0, 0);
        self.stack.clear_rotation();
    }

    fn interruption_return(&mut self) -> Result<Flow, Fault> {
        self.privileged()?;
        self.note_stack_level();
        let ifs = self.cr[cr::IFS];
        if ifs >> 63 != 0 {
            self.adopt(ifs, (ifs & 0x7F) as usize)?;
        }
        let new = self.cr[cr::IPSR];
        self.set_psr(new);
        self.ri = ((new & psr::RI) >> psr::RI_SHIFT).min(2) as u8;
        self.ip = self.cr[cr::IIP] & !15;
        self.arrived = true;
        self.step.returned = true;
        Ok(Flow::Returned)
    }
}
