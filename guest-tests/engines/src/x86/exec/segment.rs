//! Descriptors, segment registers, far transfers and table registers.

use vm_pmu::arch::feed::BranchKind;

use super::super::fault::{Fault, vector};
use super::super::flags::CR4_FSGSBASE;
use super::super::op::{Decoded, Op, Operand};
use super::super::saved::Shadow;
use super::super::state::{CS, Core, FS, GS, RSP, SS, Segment, Table};
use super::super::step::SegmentSet;
use super::control::canonical;

/// A code, data or system descriptor's low eight bytes.
#[derive(Clone, Copy)]
pub(crate) struct Descriptor(pub(crate) u64);

impl Descriptor {
    pub(crate) fn access(self) -> u8 {
        (self.0 >> 40) as u8
    }

    pub(crate) fn present(self) -> bool {
        self.access() & 0x80 != 0
    }

    pub(crate) fn dpl(self) -> u8 {
        self.access() >> 5 & 3
    }

    fn is_system(self) -> bool {
        self.access() & 0x10 == 0
    }

    pub(crate) fn is_code(self) -> bool {
        self.access() & 0x18 == 0x18
    }

    pub(crate) fn conforming(self) -> bool {
        self.access() & 4 != 0
    }

    /// 64-bit code.
    pub(crate) fn is_long(self) -> bool {
        self.0 >> 53 & 3 == 1
    }

    fn base(self) -> u64 {
        self.0 >> 16 & 0xff_ffff | self.0 >> 32 & 0xff00_0000
    }

    fn limit(self) -> u32 {
        let limit = (self.0 & 0xffff | self.0 >> 32 & 0xf_0000) as u32;
        if self.0 >> 55 & 1 != 0 { limit << 12 | 0xfff } else { limit }
    }

    pub(crate) fn segment(self, selector: u16) -> Segment {
        Segment { selector, base: self.base(), limit: self.limit(), access: self.access() | 1 }
    }
}

impl Core {
    fn descriptor_address(&self, selector: u16) -> Result<u64, Fault> {
        let (base, limit) = if selector & 4 != 0 {
            if self.ldtr.selector & !3 == 0 {
                return Err(Fault::gp(selector & !3));
            }
            (self.ldtr.base, self.ldtr.limit)
        } else {
            (self.gdtr.base, u32::from(self.gdtr.limit))
        };
        let offset = u32::from(selector & !7);
        if offset + 7 > limit {
            return Err(Fault::gp(selector & !3));
        }
        Ok(base.wrapping_add(u64::from(offset)))
    }

    /// Reads the descriptor of a selector.
    pub(crate) fn descriptor(&mut self, selector: u16) -> Result<Descriptor, Fault> {
        let at = self.descriptor_address(selector)?;
        Ok(Descriptor(self.load_system(at, 8)?))
    }

    /// Sets the accessed bit of a code or data descriptor.
    pub(crate) fn mark_accessed(&mut self, selector: u16, descriptor: Descriptor) -> Result<(), Fault> {
        if descriptor.access() & 1 == 0 {
            let at = self.descriptor_address(selector)?;
            self.store_system(at.wrapping_add(5), 1, u64::from(descriptor.access() | 1))?;
        }
        Ok(())
    }

    /// Loads DS, ES, FS, GS or SS.
    pub(crate) fn load_segment(&mut self, number: usize, selector: u16) -> Result<(), Fault> {
        let code = selector & !3;
        let rpl = (selector & 3) as u8;
        if code == 0 {
            if number == SS && (self.cpl == 3 || rpl != self.cpl) {
                return Err(Fault::GP0);
            }
            self.set_segment(number, Segment { selector, ..Segment::default() });
        } else {
            let d = self.descriptor(selector)?;
            let writable = !d.is_code() && d.access() & 2 != 0;
            let readable = !d.is_code() || d.access() & 2 != 0;
            let allowed = if number == SS {
                !d.is_system() && writable && rpl == self.cpl && d.dpl() == self.cpl
            } else {
                let reachable = (d.is_code() && d.conforming()) || self.cpl.max(rpl) <= d.dpl();
                !d.is_system() && readable && reachable
            };
            if !allowed {
                return Err(Fault::gp(code));
            }
            if !d.present() {
                return Err(Fault::with(if number == SS { vector::SS } else { vector::NP }, code));
            }
            self.mark_accessed(selector, d)?;
            self.set_segment(number, d.segment(selector));
        }
        self.step.segment_loads.insert(SegmentSet(1 << number));
        Ok(())
    }

    /// MOV to a segment register, and POP FS and GS.
    pub(crate) fn move_to_segment(&mut self, d: &Decoded) -> Result<(), Fault> {
        let number = match d.dst {
            Operand::Reg(n) if n < 6 && usize::from(n) != CS => usize::from(n),
            _ => return Err(Fault::UD),
        };
        let selector = if d.op == Op::PopSeg {
            let value = self.pop(d.size)?;
            value as u16
        } else {
            self.read(d, d.src, 2)? as u16
        };
        self.load_segment(number, selector)?;
        if number == SS {
            self.shadow = Shadow::Stack;
            self.attention = true;
        }
        Ok(())
    }

    /// MOV from a segment register, and PUSH FS and GS.
    pub(crate) fn move_from_segment(&mut self, d: &Decoded) -> Result<(), Fault> {
        let operand = if d.op == Op::PushSeg { d.dst } else { d.src };
        let Operand::Reg(n) = operand else {
            return Err(Fault::UD);
        };
        let Some(segment) = self.seg.get(usize::from(n)) else {
            return Err(Fault::UD);
        };
        let selector = u64::from(segment.selector);
        if d.op == Op::PushSeg {
            return self.push(selector, d.size);
        }
        // A register destination is extended with zeros to its size.
        let size = if d.dst == Operand::Mem { 2 } else { d.size };
        self.write(d, d.dst, size, selector)
    }

    /// Checks a far transfer's code segment at privilege `cpl` after it.
    fn code_segment(&mut self, selector: u16, cpl: u8, is_return: bool) -> Result<Segment, Fault> {
        let code = selector & !3;
        if code == 0 {
            return Err(Fault::GP0);
        }
        let d = self.descriptor(selector)?;
        if d.is_system() {
            // Call gates; TSS and task gates do not exist in long mode.
            if d.access() & 0xf == 0xc {
                return Err(self.no_mode("far transfer through a call gate"));
            }
            return Err(Fault::gp(code));
        }
        let rpl = (selector & 3) as u8;
        let allowed = d.is_code() && if d.conforming() { d.dpl() <= cpl } else { d.dpl() == cpl && (is_return || rpl <= cpl) };
        if !allowed {
            return Err(Fault::gp(code));
        }
        if !d.present() {
            return Err(Fault::with(vector::NP, code));
        }
        if !d.is_long() {
            return Err(self.no_mode("far transfer to a compatibility-mode code segment"));
        }
        self.mark_accessed(selector, d)?;
        Ok(d.segment(code | u16::from(cpl)))
    }

    /// JMP and CALL through a far pointer in memory.
    pub(crate) fn far_jump(&mut self, d: &Decoded) -> Result<(), Fault> {
        let va = self.linear(d);
        let target = self.load(va, d.size)?;
        let selector = self.load(va.wrapping_add(u64::from(d.size)), 2)? as u16;
        let segment = self.code_segment(selector, self.cpl, false)?;
        if !canonical(target) {
            return Err(Fault::GP0);
        }
        if d.op == Op::CallFar {
            let old = u64::from(self.seg[CS].selector);
            self.push(old, d.size)?;
            self.push(self.next, d.size)?;
        }
        self.seg[CS] = segment;
        self.step.segment_loads.insert(SegmentSet::CS);
        self.branch(BranchKind::Far, true, target);
        Ok(())
    }

    /// RETF.
    pub(crate) fn far_return(&mut self, d: &Decoded) -> Result<(), Fault> {
        let by = u64::from(d.size);
        let target = self.peek(0, d.size)?;
        let selector = self.peek(by, d.size)? as u16;
        let above = 2 * by + (d.immediate & 0xffff);
        let rpl = (selector & 3) as u8;
        if rpl < self.cpl {
            return Err(Fault::gp(selector & !3));
        }
        if rpl == self.cpl {
            self.return_to(selector, target, None)?;
            self.gpr[RSP] = self.gpr[RSP].wrapping_add(above);
        } else {
            let rsp = self.peek(above, d.size)?;
            let ss = self.peek(above + by, d.size)? as u16;
            self.return_to(selector, target, Some((rsp, ss)))?;
            self.gpr[RSP] = self.gpr[RSP].wrapping_add(d.immediate & 0xffff);
        }
        Ok(())
    }

    /// Completes a far return: loads CS, and for IRET or a return outward, RSP and SS.
    pub(crate) fn return_to(&mut self, selector: u16, target: u64, stack: Option<(u64, u16)>) -> Result<(), Fault> {
        let cpl = (selector & 3) as u8;
        let segment = self.code_segment(selector, cpl, true)?;
        if !canonical(target) {
            return Err(Fault::GP0);
        }
        if let Some((rsp, ss)) = stack {
            let code = ss & !3;
            let new = if code == 0 {
                if cpl == 3 || (ss & 3) as u8 != cpl {
                    return Err(Fault::GP0);
                }
                Segment { selector: ss, ..Segment::default() }
            } else {
                let d = self.descriptor(ss)?;
                let fits = !d.is_system() && !d.is_code() && d.access() & 2 != 0 && d.dpl() == cpl && (ss & 3) as u8 == cpl;
                if !fits {
                    return Err(Fault::gp(code));
                }
                if !d.present() {
                    return Err(Fault::with(vector::SS, code));
                }
                self.mark_accessed(ss, d)?;
                d.segment(ss)
            };
            self.seg[SS] = new;
            self.gpr[RSP] = rsp;
            self.step.segment_loads.insert(SegmentSet::SS);
        }
        self.seg[CS] = segment;
        self.step.segment_loads.insert(SegmentSet::CS);
        if cpl > self.cpl {
            self.drop_privileged_segments(cpl);
        }
        self.set_cpl(cpl);
        self.branch(BranchKind::Far, true, target);
        Ok(())
    }

    /// A return outward clears the data segments the outer level may not use.
    fn drop_privileged_segments(&mut self, cpl: u8) {
        for number in [0, 3, FS, GS] {
            let s = self.seg[number];
            let dpl = s.access >> 5 & 3;
            let conforming = s.access & 0x1c == 0x1c;
            if s.selector & !3 != 0 && !conforming && dpl < cpl {
                self.set_segment(number, Segment::default());
            }
        }
    }

    /// LGDT, LIDT, SGDT, SIDT.
    pub(crate) fn table_register(&mut self, d: &Decoded) -> Result<(), Fault> {
        let va = self.linear(d);
        match d.op {
            Op::Sgdt | Op::Sidt => {
                let table = if d.op == Op::Sgdt { self.gdtr } else { self.idtr };
                self.probe_write(va.wrapping_add(2), 8)?;
                self.store(va, 2, u64::from(table.limit))?;
                self.store(va.wrapping_add(2), 8, table.base)
            }
            _ => {
                self.supervisor()?;
                let limit = self.load(va, 2)? as u16;
                let base = self.load(va.wrapping_add(2), 8)?;
                if !canonical(base) {
                    return Err(Fault::GP0);
                }
                let table = Table { base, limit };
                if d.op == Op::Lgdt {
                    self.gdtr = table
                } else {
                    self.idtr = table
                }
                Ok(())
            }
        }
    }

    /// LLDT and LTR.
    pub(crate) fn load_system_segment(&mut self, d: &Decoded) -> Result<(), Fault> {
        self.supervisor()?;
        let selector = self.read(d, d.dst, 2)? as u16;
        let code = selector & !3;
        if code == 0 {
            if d.op == Op::Ltr {
                return Err(Fault::GP0);
            }
            self.ldtr = Segment { selector, ..Segment::default() };
            return Ok(());
        }
        if selector & 4 != 0 || u32::from(selector & !7) + 15 > u32::from(self.gdtr.limit) {
            return Err(Fault::gp(code));
        }
        let at = self.descriptor_address(selector)?;
        let low = Descriptor(self.load_system(at, 8)?);
        let high = self.load_system(at.wrapping_add(8), 8)?;
        let wanted = if d.op == Op::Ltr { 9 } else { 2 };
        if !low.is_system() || low.access() & 0xf != wanted || high >> 40 & 0x1f != 0 {
            return Err(Fault::gp(code));
        }
        if !low.present() {
            return Err(Fault::with(vector::NP, code));
        }
        let base = low.base() | high << 32;
        if !canonical(base) {
            return Err(Fault::gp(code));
        }
        let segment = Segment { base, ..low.segment(selector) };
        if d.op == Op::Ltr {
            // Busy.
            self.store_system(at.wrapping_add(5), 1, u64::from(low.access() | 2))?;
            self.tr = segment;
        } else {
            self.ldtr = segment;
        }
        Ok(())
    }

    /// SLDT and STR.
    pub(crate) fn store_system_segment(&mut self, d: &Decoded) -> Result<(), Fault> {
        let selector = if d.op == Op::Str { self.tr.selector } else { self.ldtr.selector };
        let size = if d.dst == Operand::Mem { 2 } else { d.size };
        self.write(d, d.dst, size, u64::from(selector))
    }

    /// SWAPGS.
    pub(crate) fn swapgs(&mut self) -> Result<(), Fault> {
        self.supervisor()?;
        std::mem::swap(&mut self.seg[GS].base, &mut self.msrs.kernel_gs_base);
        self.refresh_bases();
        Ok(())
    }

    /// RDFSBASE and its kin.
    pub(crate) fn segment_base(&mut self, d: &Decoded) -> Result<(), Fault> {
        if self.cr4 & CR4_FSGSBASE == 0 {
            return Err(Fault::UD);
        }
        let number = if matches!(d.op, Op::Rdfsbase | Op::Wrfsbase) { FS } else { GS };
        if matches!(d.op, Op::Rdfsbase | Op::Rdgsbase) {
            return self.write(d, d.dst, d.size, self.seg[number].base);
        }
        let base = self.read(d, d.dst, d.size)?;
        if !canonical(base) {
            return Err(Fault::GP0);
        }
        self.seg[number].base = base;
        self.refresh_bases();
        Ok(())
    }
}
