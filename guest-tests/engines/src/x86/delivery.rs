//! Interrupt and exception delivery through the IDT, and IRET.

use vm_pmu::arch::feed::BranchKind;

use super::exec::control::{canonical, flat_data};
use super::exec::segment::Descriptor;
use super::fault::{Fault, Stop, vector};
use super::flags::{IF, NT, RF, TF};
use super::op::Decoded;
use super::state::{CS, Core, RSP, SS, Segment};
use super::step::{SegmentSet, StepKind};

/// Where an interrupt comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    External,
    Exception,
    Software,
}

/// Classes of exceptions that decide about the double fault.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Benign,
    Contributory,
    PageFault,
}

fn class(vector: u8) -> Class {
    match vector {
        vector::DE | vector::TS..=vector::GP => Class::Contributory,
        vector::PF => Class::PageFault,
        _ => Class::Benign,
    }
}

impl Core {
    /// Delivers a fault of the instruction at RIP. The outcome is in the step, or the engine stops.
    pub(crate) fn raise(&mut self, fault: Fault) {
        let (vector, code) = match fault {
            Fault::Exception { vector, code } => (vector, code),
            Fault::NonCanonical => (vector::GP, Some(0)),
            Fault::Stop => return,
        };
        self.begin_delivery();
        self.deliver(vector, code, Source::Exception);
    }

    /// Takes a maskable interrupt.
    pub(crate) fn take_interrupt(&mut self, vector: u8) {
        self.begin_delivery();
        self.step.kind = StepKind::Interrupt { vector };
        self.deliver(vector, None, Source::External);
    }

    /// Takes the latched NMI.
    pub(crate) fn take_nmi(&mut self) {
        self.nmi_pending = false;
        self.nmi_blocked = true;
        self.begin_delivery();
        self.step.kind = StepKind::Nmi;
        self.deliver(vector::NMI, None, Source::External);
    }

    /// INT n, INT3, INTO: faults are those of the instruction itself.
    pub(crate) fn software_interrupt(&mut self, vector: u8) -> Result<(), Fault> {
        self.enter_handler(vector, None, Source::Software, self.next)?;
        self.step.kind = StepKind::SoftwareInterrupt { vector };
        Ok(())
    }

    fn begin_delivery(&mut self) {
        self.step.begin(self.rip);
        self.step.instruction = super::step::InstructionInfo::default();
        self.next = self.rip;
    }

    fn deliver(&mut self, first: u8, code: Option<u16>, source: Source) {
        let (mut vector, mut code, mut source) = (first, code, source);
        loop {
            if source == Source::Exception {
                self.step.kind = StepKind::Exception { vector };
            }
            let rsp = self.gpr[RSP];
            let fault = match self.enter_handler(vector, code, source, self.rip) {
                Ok(()) => return,
                Err(fault) => fault,
            };
            self.gpr[RSP] = rsp;
            let (next, next_code) = match fault {
                Fault::Exception { vector, code } => (vector, code),
                Fault::NonCanonical => (vector::GP, Some(0)),
                Fault::Stop => return,
            };
            if source == Source::Exception && vector == vector::DF {
                let (rip, cr2) = (self.rip, self.cr2);
                self.stop(Stop::TripleFault { rip, first, last: next, cr2 });
                return;
            }
            let before = if source == Source::Exception { class(vector) } else { Class::Benign };
            let double = match before {
                Class::Benign => false,
                Class::Contributory => class(next) == Class::Contributory,
                Class::PageFault => class(next) != Class::Benign,
            };
            (vector, code) = if double { (vector::DF, Some(0)) } else { (next, next_code) };
            source = Source::Exception;
        }
    }

    /// Goes through the gate of `vector`; nothing but memory changes if it fails.
    fn enter_handler(&mut self, vector: u8, error_code: Option<u16>, source: Source, return_rip: u64) -> Result<(), Fault> {
        let external = u16::from(source != Source::Software);
        let in_idt = u16::from(vector) << 3 | 2 | external;
        let offset = u64::from(vector) * 16;
        if offset + 15 > u64::from(self.idtr.limit) {
            return Err(Fault::gp(in_idt));
        }
        let at = self.idtr.base.wrapping_add(offset);
        let low = self.load_system(at, 8)?;
        let high = self.load_system(at.wrapping_add(8), 8)?;
        let gate = Descriptor(low);
        let trap = match gate.access() & 0x1f {
            0xe => false,
            0xf => true,
            _ => return Err(Fault::gp(in_idt)),
        };
        if source == Source::Software && gate.dpl() < self.cpl {
            return Err(Fault::gp(in_idt));
        }
        if !gate.present() {
            return Err(Fault::with(vector::NP, in_idt));
        }
        let target = low & 0xffff | low >> 32 & 0xffff_0000 | high << 32;
        let selector = (low >> 16) as u16;
        let stack_index = (low >> 32) as u8 & 7;
        let (segment, cpl) = self.handler_segment(selector, external)?;
        if !canonical(target) {
            return Err(Fault::gp(external));
        }
        let inward = cpl < self.cpl;
        let stack = match (stack_index, inward) {
            (0, false) => self.gpr[RSP],
            (0, true) => self.task_stack(4 + 8 * u64::from(cpl), external)?,
            (n, _) => self.task_stack(0x24 + 8 * u64::from(n - 1), external)?,
        };
        if !canonical(stack) {
            return Err(Fault::with(vector::SS, external));
        }
        let resume = if self.is_fault(vector, source) { RF } else { 0 };
        let frame = [u64::from(self.seg[SS].selector), self.gpr[RSP], self.rflags | resume, u64::from(self.seg[CS].selector), return_rip];
        let mut rsp = stack & !15;
        for value in frame.into_iter().chain(error_code.map(u64::from)) {
            rsp = rsp.wrapping_sub(8);
            self.store_stack(rsp, value, cpl == 3)?;
        }
        self.gpr[RSP] = rsp;
        self.seg[CS] = segment;
        self.step.segment_loads.insert(SegmentSet::CS);
        if inward {
            self.seg[SS] = Segment { selector: u16::from(cpl), ..flat_data(0, cpl) };
            self.step.segment_loads.insert(SegmentSet::SS);
        }
        let cleared = if trap { TF | NT } else { TF | NT | IF };
        self.set_rflags(self.rflags & !cleared);
        self.set_cpl(cpl);
        self.branch(BranchKind::Far, true, target);
        Ok(())
    }

    // Faults push RF set, so that an instruction breakpoint does not repeat. So does an interrupt
    // between the iterations of a string instruction.
    fn is_fault(&self, vector: u8, source: Source) -> bool {
        match source {
            Source::Software => false,
            Source::Exception => vector != vector::DB && vector != vector::DF,
            Source::External => self.repeating,
        }
    }

    fn handler_segment(&mut self, selector: u16, external: u16) -> Result<(Segment, u8), Fault> {
        let code = selector & !3;
        if code == 0 {
            return Err(Fault::gp(external));
        }
        let with_external = |fault| match fault {
            Fault::Exception { vector: vector::GP, code: Some(code) } => Fault::gp(code | external),
            other => other,
        };
        let d = self.descriptor(selector).map_err(with_external)?;
        if !d.is_code() || !d.is_long() || d.dpl() > self.cpl {
            return Err(Fault::gp(code | external));
        }
        if !d.present() {
            return Err(Fault::with(vector::NP, code | external));
        }
        self.mark_accessed(selector, d)?;
        let cpl = if d.conforming() { self.cpl } else { d.dpl() };
        Ok((d.segment(code | u16::from(cpl)), cpl))
    }

    /// Reads a stack pointer from the task-state segment.
    fn task_stack(&mut self, offset: u64, external: u16) -> Result<u64, Fault> {
        if offset + 7 > u64::from(self.tr.limit) || self.tr.selector & !3 == 0 {
            return Err(Fault::with(vector::TS, self.tr.selector & !3 | external));
        }
        self.load_system(self.tr.base.wrapping_add(offset), 8)
    }

    /// IRET, IRETD and IRETQ, which in 64-bit mode all pop five values.
    pub(crate) fn iret(&mut self, d: &Decoded) -> Result<(), Fault> {
        // NMIs are enabled again even if the return faults.
        self.nmi_blocked = false;
        self.attention = true;
        if self.rflags & NT != 0 {
            return Err(Fault::GP0);
        }
        let by = u64::from(d.size);
        let target = self.peek(0, d.size)?;
        let selector = self.peek(by, d.size)? as u16;
        let flags = self.peek(2 * by, d.size)?;
        let rsp = self.peek(3 * by, d.size)?;
        let ss = self.peek(4 * by, d.size)? as u16;
        let old_cpl = self.cpl;
        if ((selector & 3) as u8) < old_cpl {
            return Err(Fault::gp(selector & !3));
        }
        self.return_to(selector, target, Some((rsp, ss)))?;
        self.set_flags_at(flags, d.size, old_cpl);
        Ok(())
    }
}
