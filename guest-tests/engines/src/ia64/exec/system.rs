//! Majors 0 and 1 of M slots: the machine state, checks and the register stack.

use super::Flow;
use crate::ia64::bundle::Unit;
use crate::ia64::interrupt::Fault;
use crate::ia64::observer::Observer;
use crate::ia64::registers::{ar, isr, psr};
use crate::ia64::stack::STACKED;
use crate::ia64::state::Core;
use crate::ia64::step::{AccessKind, Check};
use crate::ia64::word::Word;

use crate::ia64::access::Reference;

impl Core {
    /// Majors 0 and 1 of M slots.
    pub(crate) fn system<O: Observer>(&mut self, w: Word, observer: &mut O) -> Result<Flow, Fault> {
        match (w.major(), w.x3()) {
            (0, 0) => self.system_0(w)?,
            (0, x3 @ 4..=7) => return self.check_advanced(w, x3),
            (1, 0) => self.system_1(w, observer)?,
            (1, 1) => return Ok(self.check_speculation(w)),
            (1, 3) => {
                self.floating_enabled(&[w.r2()])?;
                let failed = self.fr(w.r2()).is_nat();
                return Ok(self.checked(w, failed, true));
            }
            (1, 6) => self.allocate(w)?,
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(Flow::Next)
    }

    fn check_advanced(&mut self, w: Word, x3: u64) -> Result<Flow, Fault> {
        let floating = x3 >= 6;
        if floating {
            self.floating_enabled(&[w.r1()])?;
        }
        let entry = if floating { self.floating_target(w.r1()) } else { self.general_target(w.r1()) };
        let failed = !self.alat.holds(entry);
        let target = self.step.ip.wrapping_add(w.displacement());
        if x3 & 1 != 0 {
            self.alat.remove(entry);
        }
        self.step.check = Some(Check { advanced: true, load: false, floating, flags: false, failed, target });
        Ok(if failed { Flow::Taken(target) } else { Flow::Next })
    }

    fn system_0(&mut self, w: Word) -> Result<(), Fault> {
        match (w.bits(27, 4), w.bits(31, 2)) {
            (0, 0) => return Err(Fault::Break(w.imm21())),
            (1, 0) => self.step.pause = w.bit(26) && w.imm21() == 0,
            (0, 1) => self.alat.clear(),
            // fwb, mf, mf.a, srlz.d, sync.i: everything is in order anyway.
            (0 | 2 | 3, 2) | (0 | 3, 3) => {}
            (1, 3) => self.step.serialize_instruction = true,
            (2, 1) => self.alat.remove(self.general_target(w.r1())),
            (3, 1) => self.alat.remove(self.floating_target(w.r1())),
            (8, 2) => self.write_ar(Unit::M, w.r3(), w.imm8())?,
            (0xA, 0) => {
                self.note_stack_level();
                self.load_stack()?;
            }
            (0xC, 0) => {
                self.note_stack_level();
                self.flush_stack()?;
            }
            (4, _) => self.change_user_mask(self.psr | w.imm24(), w.imm24())?,
            (5, _) => self.change_user_mask(self.psr & !w.imm24(), w.imm24())?,
            (6, _) => self.change_system_mask(self.psr | w.imm24(), w.imm24())?,
            (7, _) => self.change_system_mask(self.psr & !w.imm24(), w.imm24())?,
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(())
    }

    /// `sum`, `rum` and moves to PSR.um: secure performance monitors keep PSR.up from them.
    fn change_user_mask(&mut self, new: u64, mask: u64) -> Result<(), Fault> {
        if mask & !psr::UM != 0 {
            return Err(Fault::ReservedRegisterField);
        }
        let reach = if self.psr & psr::SP != 0 { psr::UM & !psr::UP } else { psr::UM };
        self.set_psr(self.psr & !reach | new & reach);
        Ok(())
    }

    fn change_system_mask(&mut self, new: u64, mask: u64) -> Result<(), Fault> {
        self.privileged()?;
        if mask & !psr::SYSTEM != 0 {
            return Err(Fault::ReservedRegisterField);
        }
        self.set_psr(new);
        Ok(())
    }

    fn system_1<O: Observer>(&mut self, w: Word, observer: &mut O) -> Result<(), Fault> {
        match w.x6() {
            0x00..=0x05 => self.write_indirect(w, observer),
            0x10..=0x15 | 0x17 => self.read_indirect(w, observer),
            0x09..=0x0D | 0x34 => {
                self.privileged()?;
                self.need(w.r3()).map(drop)
            }
            // Insertions: translation is the identity whatever they contain.
            0x0E | 0x0F | 0x2E | 0x2F => {
                self.privileged()?;
                if self.psr & psr::IC != 0 {
                    return Err(Fault::IllegalOperation);
                }
                self.need(w.r2()).map(drop)
            }
            0x18 | 0x19 | 0x38 | 0x39 => self.probe(w),
            0x31..=0x33 => {
                let address = self.need_for(w.r3(), isr::NA)?;
                let kind = match w.x6() {
                    0x31 => AccessKind::Semaphore,
                    0x32 => AccessKind::Load,
                    _ => AccessKind::Store,
                };
                self.locate(address & !15, &Reference::new(kind, 1)).map(drop)
            }
            0x1A | 0x1B | 0x1F => Err(Fault::Unimplemented),
            0x1E => {
                self.privileged()?;
                let address = self.need(w.r3())?;
                let access = self.locate(address, &Reference::new(AccessKind::Load, 1))?;
                self.put(w.r1(), (access.physical, false))
            }
            0x21 => self.put(w.r1(), (self.psr & psr::UM, false)),
            0x22 => {
                let value = self.read_ar(Unit::M, w.r3())?;
                self.put(w.r1(), (value, false))
            }
            0x24 => {
                self.target(w.r1())?;
                let value = self.read_cr(w.r3())?;
                self.put(w.r1(), (value, false))
            }
            0x25 => {
                self.privileged()?;
                // What software can change by itself, and IT and MC.
                self.put(w.r1(), (self.psr & (psr::LOW | psr::MC | psr::IT), false))
            }
            0x29 => {
                let value = self.need(w.r2())?;
                self.change_user_mask(value, value & 0xFF)
            }
            0x2A => {
                let value = self.need(w.r2())?;
                self.write_ar(Unit::M, w.r3(), value)
            }
            0x2C => {
                self.privileged()?;
                let value = self.need(w.r2())?;
                self.write_cr(w.r3(), value)
            }
            0x2D => {
                self.privileged()?;
                let value = self.need(w.r2())? & 0xFFFF_FFFF;
                if value & !psr::LOW != 0 {
                    return Err(Fault::ReservedRegisterField);
                }
                self.set_psr(self.psr & !0xFFFF_FFFF | value);
                Ok(())
            }
            0x30 => self.need(w.r3()).map(drop),
            _ => Err(Fault::IllegalOperation),
        }
    }

    /// `probe.r` and `probe.w`: where there is memory, every level may access it.
    fn probe(&mut self, w: Word) -> Result<(), Fault> {
        self.target(w.r1())?;
        let address = self.need(w.r3())?;
        let there = self.locate(address, &Reference::new(AccessKind::Prefetch, 1)).is_ok();
        self.put(w.r1(), (u64::from(there), false))
    }

    fn allocate(&mut self, w: Word) -> Result<(), Fault> {
        let (sof, sol, rotating) = (w.r2(), w.r3(), 8 * w.bits(27, 4) as usize);
        let target = w.r1();
        if w.qp() != 0 || sof > STACKED || sol > sof || rotating > sof || target == 0 || target >= 32 && target - 32 >= sof {
            return Err(Fault::IllegalOperation);
        }
        let stack = &self.stack;
        if rotating != stack.rotating && (stack.rrb_gr, stack.rrb_fr, stack.rrb_pr) != (0, 0, 0) {
            return Err(Fault::ReservedRegisterField);
        }
        self.note_stack_level();
        self.make_room(sof)?;
        (self.stack.sof, self.stack.sol, self.stack.rotating) = (sof, sol, rotating);
        self.set_gr(target, self.ar[ar::PFS], false);
        Ok(())
    }
}
