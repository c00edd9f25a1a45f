//! Near control transfers, stack frames and fast system calls.

use vm_pmu::arch::feed::BranchKind;

use super::super::alu;
use super::super::fault::{Fault, Stop};
use super::super::flags::{self, EFER_SCE, ZF};
use super::super::op::{Decoded, Op};
use super::super::state::{CS, Core, R11, RBP, RCX, RDX, RSP, SS, Segment};
use super::super::step::SegmentSet;

/// Whether `va` is canonical.
#[inline]
pub(crate) fn canonical(va: u64) -> bool {
    alu_sign_48(va) == va
}

fn alu_sign_48(va: u64) -> u64 {
    (((va << 16) as i64) >> 16) as u64
}

/// Access byte of a flat code segment.
pub(crate) fn flat_code(selector: u16, dpl: u8) -> Segment {
    Segment { selector, base: 0, limit: u32::MAX, access: 0x9b | dpl << 5 }
}

/// Access byte of a flat, writable data segment.
pub(crate) fn flat_data(selector: u16, dpl: u8) -> Segment {
    Segment { selector, base: 0, limit: u32::MAX, access: 0x93 | dpl << 5 }
}

impl Core {
    /// JMP and Jcc with an immediate.
    #[inline]
    pub(crate) fn jump(&mut self, d: &Decoded, kind: BranchKind, taken: bool) -> Result<(), Fault> {
        let target = self.next.wrapping_add(d.immediate);
        if taken && !canonical(target) {
            return Err(Fault::GP0);
        }
        self.branch(kind, taken, target);
        Ok(())
    }

    /// JMP through a register or memory.
    pub(crate) fn jump_indirect(&mut self, d: &Decoded) -> Result<(), Fault> {
        let target = self.read(d, d.dst, 8)?;
        if !canonical(target) {
            return Err(Fault::GP0);
        }
        self.branch(BranchKind::IndirectJump, true, target);
        Ok(())
    }

    /// CALL.
    pub(crate) fn call(&mut self, d: &Decoded) -> Result<(), Fault> {
        let (kind, target) = if d.op == Op::Call {
            (BranchKind::DirectCall, self.next.wrapping_add(d.immediate))
        } else {
            (BranchKind::IndirectCall, self.read(d, d.dst, 8)?)
        };
        if !canonical(target) {
            return Err(Fault::GP0);
        }
        self.push(self.next, 8)?;
        self.branch(kind, true, target);
        Ok(())
    }

    /// RET.
    pub(crate) fn ret(&mut self, d: &Decoded) -> Result<(), Fault> {
        let target = self.peek(0, 8)?;
        if !canonical(target) {
            return Err(Fault::GP0);
        }
        self.gpr[RSP] = self.gpr[RSP].wrapping_add(8).wrapping_add(d.immediate);
        self.branch(BranchKind::Return, true, target);
        Ok(())
    }

    /// LOOP, LOOPE, LOOPNE, JRCXZ, JECXZ.
    pub(crate) fn counted(&mut self, d: &Decoded) -> Result<(), Fault> {
        let width = if d.address32 { 4 } else { 8 };
        if d.op == Op::Jrcxz {
            let taken = self.gpr[RCX] & alu::mask(width) == 0;
            return self.jump(d, BranchKind::Conditional, taken);
        }
        let left = self.gpr[RCX].wrapping_sub(1) & alu::mask(width);
        let zero = self.rflags & ZF != 0;
        let taken = left != 0
            && match d.op {
                Op::Loope => zero,
                Op::Loopne => !zero,
                _ => true,
            };
        self.jump(d, BranchKind::Conditional, taken)?;
        self.set_gpr(RCX as u8, width, left);
        Ok(())
    }

    /// PUSH.
    #[inline]
    pub(crate) fn push_operand(&mut self, d: &Decoded) -> Result<(), Fault> {
        let value = self.read(d, d.dst, d.size)?;
        self.push(value, d.size)
    }

    /// POP. A memory operand addressed by RSP uses RSP after the pop.
    #[inline]
    pub(crate) fn pop_operand(&mut self, d: &Decoded) -> Result<(), Fault> {
        let value = self.pop(d.size)?;
        self.write(d, d.dst, d.size, value)
    }

    /// LEAVE.
    pub(crate) fn leave(&mut self, d: &Decoded) -> Result<(), Fault> {
        let frame = self.gpr[RBP];
        let value = self.load(frame, d.size)?;
        self.gpr[RSP] = frame.wrapping_add(u64::from(d.size));
        self.set_gpr(RBP as u8, d.size, value);
        Ok(())
    }

    /// ENTER.
    pub(crate) fn enter(&mut self, d: &Decoded) -> Result<(), Fault> {
        let size = d.size;
        let by = u64::from(size);
        let mut frame = self.gpr[RBP];
        self.push(frame, size)?;
        let new_frame = self.gpr[RSP];
        let level = d.code & 31;
        if level > 0 {
            for _ in 1..level {
                frame = frame.wrapping_sub(by);
                let value = self.load(frame, size)?;
                self.push(value, size)?;
            }
            self.push(new_frame, size)?;
        }
        let top = self.gpr[RSP].wrapping_sub(d.immediate & 0xffff);
        self.probe_write(top, size)?;
        self.gpr[RSP] = top;
        self.set_gpr(RBP as u8, size, new_frame);
        Ok(())
    }

    /// SYSCALL.
    pub(crate) fn syscall(&mut self) -> Result<(), Fault> {
        if self.msrs.efer & EFER_SCE == 0 {
            return Err(Fault::UD);
        }
        let selector = (self.msrs.star >> 32) as u16 & !3;
        self.gpr[RCX] = self.next;
        self.gpr[R11] = self.rflags;
        self.set_rflags(self.rflags & !self.msrs.sfmask);
        self.flat_segments(selector, selector.wrapping_add(8), 0);
        self.branch(BranchKind::Far, true, self.msrs.lstar);
        Ok(())
    }

    /// SYSRET.
    pub(crate) fn sysret(&mut self, d: &Decoded) -> Result<(), Fault> {
        if self.msrs.efer & EFER_SCE == 0 {
            return Err(Fault::UD);
        }
        self.supervisor()?;
        if d.size != 8 {
            return Err(self.no_mode("SYSRET to compatibility mode"));
        }
        let target = self.gpr[RCX];
        if !canonical(target) {
            return Err(Fault::GP0);
        }
        let selector = (self.msrs.star >> 48) as u16;
        self.set_rflags(self.gpr[R11] & 0x003c_7fd7);
        self.flat_segments(selector.wrapping_add(16) | 3, selector.wrapping_add(8) | 3, 3);
        self.branch(BranchKind::Far, true, target);
        Ok(())
    }

    /// SYSENTER.
    pub(crate) fn sysenter(&mut self) -> Result<(), Fault> {
        let [cs, esp, eip] = self.msrs.sysenter;
        if cs & 0xfffc == 0 {
            return Err(Fault::GP0);
        }
        let selector = cs as u16 & !3;
        self.set_rflags(self.rflags & !flags::IF);
        self.flat_segments(selector, selector.wrapping_add(8), 0);
        self.gpr[RSP] = esp;
        self.branch(BranchKind::Far, true, eip);
        Ok(())
    }

    /// SYSEXIT.
    pub(crate) fn sysexit(&mut self, d: &Decoded) -> Result<(), Fault> {
        let cs = self.msrs.sysenter[0] as u16;
        if cs & 0xfffc == 0 {
            return Err(Fault::GP0);
        }
        self.supervisor()?;
        if d.size != 8 {
            return Err(self.no_mode("SYSEXIT to compatibility mode"));
        }
        let (target, stack) = (self.gpr[RDX], self.gpr[RCX]);
        if !canonical(target) || !canonical(stack) {
            return Err(Fault::GP0);
        }
        self.flat_segments(cs.wrapping_add(32) | 3, cs.wrapping_add(40) | 3, 3);
        self.gpr[RSP] = stack;
        self.branch(BranchKind::Far, true, target);
        Ok(())
    }

    fn flat_segments(&mut self, code: u16, stack: u16, dpl: u8) {
        self.seg[CS] = flat_code(code, dpl);
        self.seg[SS] = flat_data(stack, dpl);
        self.set_cpl(dpl);
        self.step.segment_loads.insert(SegmentSet::CS);
        self.step.segment_loads.insert(SegmentSet::SS);
    }

    /// #GP(0) unless CPL is 0.
    #[inline]
    pub(crate) fn supervisor(&self) -> Result<(), Fault> {
        if self.cpl == 0 { Ok(()) } else { Err(Fault::GP0) }
    }

    /// Stops the engine for a mode it does not have.
    pub(crate) fn no_mode(&mut self, what: &'static str) -> Fault {
        let rip = self.rip;
        self.stop(Stop::UnsupportedMode { rip, what })
    }
}
