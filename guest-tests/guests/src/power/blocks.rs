//! The code that every guest begins with.

use super::{
    CAUGHT, CAUGHT_STATE, CPU, EXPECT, FAULTS, FRAME, FRAME_ADDRESS, FRAME_CR, FRAME_CTR, FRAME_LR, FRAME_STATE, FRAME_XER,
    INTERRUPT_STACK, KERNEL_LR, KERNEL_SP, Kernel, MAX_CPUS, PER_CPU, SAVED_CR, SAVED_R1, STACK, STACKS, Tree, USER_LR, USER_MSR, USER_PC,
    USER_SP, USER_STACKS, frame, hypervisor_registers, skippable,
};
use crate::protocol::{MAGIC, MAX_CHECKS, MAX_SAMPLES, REPORT, REPORT_CHECKS, REPORT_SAMPLES};
use vm_pmu_engines::power::assemble::{CR0, Gpr, Label, R0, R1, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13};
use vm_pmu_engines::power::registers::{spr, vector};
use vm_pmu_engines::power::{CONSOLE, EXIT};

impl Kernel {
    /// The entry: GPR 1 holds the CPU's stack; GPR 3 its number, or the device tree's address where PIR has the number.
    pub(super) fn start(&mut self) {
        let areas = self.reserve(PER_CPU * MAX_CPUS);
        let (main, exit) = (self.main, self.exit);
        let tree = self.tree;
        let a = &mut self.a;
        a.routine("start");
        if let Some(Tree { cell, threads }) = tree {
            a.load(R4, cell);
            a.std(R3, 0, R4);
            // Chips are numbered 0, 8, 16, ...; their numbers are in the bits from 8 on.
            a.mfspr(R4, spr::PIR);
            a.srdi(R3, R4, 11);
            a.mulli(R3, R3, threads as i64);
            a.clrldi(R4, R4, 56);
            a.add(R3, R3, R4);
        }
        a.sldi(R4, R3, PER_CPU.trailing_zeros());
        a.load(R13, areas);
        a.add(R13, R13, R4);
        a.mtspr(spr::SPRG3, R13);
        a.std(R3, CPU, R13);
        a.sldi(R4, R3, STACK.trailing_zeros());
        for (stacks, cell) in [(STACKS, INTERRUPT_STACK), (USER_STACKS, USER_SP)] {
            a.load(R5, stacks + STACK - 64);
            a.add(R5, R5, R4);
            a.std(R5, cell, R13);
        }
        a.load(R4, REPORT);
        a.load(R5, MAGIC);
        a.std(R5, 0, R4);
        // RI: interrupts can be returned from.
        a.load(R4, 2);
        a.mtmsrd(R4, true);
        a.bl(main);
        a.ld(R3, CPU, R13);
        a.cmpdi(CR0, R3, 0);
        a.beq(exit);
        let rest = a.mark();
        a.stop();
        a.b(rest);
    }

    pub(super) fn blocks(&mut self) {
        let failed = self.failed;
        let (check, sample, print, exit) = (self.check, self.sample, self.print, self.exit);
        let a = &mut self.a;
        let (bad, full) = (a.label(), a.label());
        // check: GPR 3 label, 4 seen, 5 least, 6 most.
        a.routine("check");
        a.here(check);
        a.load(R7, REPORT + 8);
        let take = a.mark();
        a.ldarx(R8, R0, R7);
        a.addi(R9, R8, 1);
        a.cmpldi(CR0, R8, MAX_CHECKS as u32);
        a.bge(full);
        a.stdcx_dot(R9, R0, R7);
        a.bne(take);
        a.sldi(R8, R8, 5);
        a.load(R9, REPORT_CHECKS);
        a.add(R8, R8, R9);
        for (offset, register) in [(0, R3), (8, R4), (16, R5), (24, R6)] {
            a.std(register, offset, R8);
        }
        a.cmpld(CR0, R4, R5);
        a.blt(bad);
        a.cmpld(CR0, R4, R6);
        a.bgt(bad);
        a.blr();
        a.here(full);
        a.here(bad);
        a.load(R7, failed);
        a.load(R8, 1);
        a.std(R8, 0, R7);
        a.blr();
        // sample: GPR 3 address, 4 label, 5 hits.
        let no_room = a.label();
        a.routine("sample");
        a.here(sample);
        a.load(R7, REPORT + 16);
        a.ld(R8, 0, R7);
        a.cmpldi(CR0, R8, MAX_SAMPLES as u32);
        a.bge(no_room);
        a.addi(R9, R8, 1);
        a.std(R9, 0, R7);
        a.mulli(R8, R8, 24);
        a.load(R9, REPORT_SAMPLES);
        a.add(R8, R8, R9);
        for (offset, register) in [(0, R3), (8, R4), (16, R5)] {
            a.std(register, offset, R8);
        }
        a.here(no_room);
        a.blr();
        // print: GPR 3 a zero-terminated string.
        let done = a.label();
        a.routine("print");
        a.here(print);
        a.load(R4, CONSOLE);
        a.addi(R3, R3, -1);
        let next = a.mark();
        a.lbzu(R5, 1, R3);
        a.branch_if_zero(R5, done);
        a.stb(R5, 0, R4);
        a.b(next);
        a.here(done);
        a.blr();
        // exit: the status is whether a check failed.
        a.routine("exit");
        a.here(exit);
        a.load(R7, failed);
        a.ld(R3, 0, R7);
        a.load(R4, EXIT);
        a.stb(R3, 0, R4);
        let stop = a.mark();
        a.b(stop);
    }

    pub(super) fn user_blocks(&mut self) {
        let (enter_user, enter_state, resume_user) = (self.enter_user, self.enter_state, self.resume_user);
        let a = &mut self.a;
        let go = a.label();
        // enter_user: GPR 3 where to, 4 what is added to MSR. Returns at its system call.
        a.routine("enter_user");
        a.here(enter_user);
        a.mfmsr(R5);
        a.or(R4, R4, R5);
        // enter_state: the same with the whole MSR in GPR 4.
        a.routine("enter_state");
        a.here(enter_state);
        a.ld(R11, USER_SP, R13);
        a.load(R12, 0);
        a.b(go);
        // resume_user: continues after the last system call.
        a.routine("resume_user");
        a.here(resume_user);
        a.ld(R3, USER_PC, R13);
        a.ld(R4, USER_MSR, R13);
        a.ld(R11, USER_SP, R13);
        a.ld(R12, USER_LR, R13);
        a.here(go);
        a.mflr(R0);
        a.std(R0, KERNEL_LR, R13);
        a.std(R1, KERNEL_SP, R13);
        a.mtlr(R12);
        a.mr(R1, R11);
        a.mtspr(spr::SRR0, R3);
        a.mtspr(spr::SRR1, R4);
        a.rfid();
        let Some(entry) = self.vectors.iter_mut().find(|entry| entry.number == vector::SYSTEM_CALL) else { return };
        entry.handled = true;
        let label = entry.label;
        let a = &mut self.a;
        a.routine("system_call");
        a.here(label);
        a.mfspr(R13, spr::SPRG3);
        a.mfspr(R11, spr::SRR0);
        a.std(R11, USER_PC, R13);
        a.mfspr(R11, spr::SRR1);
        a.std(R11, USER_MSR, R13);
        a.std(R1, USER_SP, R13);
        a.mflr(R11);
        a.std(R11, USER_LR, R13);
        a.ld(R1, KERNEL_SP, R13);
        a.ld(R0, KERNEL_LR, R13);
        a.mtlr(R0);
        a.blr();
    }

    /// The beginning of a handler.
    pub(super) fn save(&mut self) {
        let hypervisor = hypervisor_registers(self.handling);
        let a = &mut self.a;
        a.mtspr(spr::SPRG0, R13);
        a.mfspr(R13, spr::SPRG3);
        a.std(R1, SAVED_R1, R13);
        a.ld(R1, INTERRUPT_STACK, R13);
        a.addi(R1, R1, -FRAME);
        for n in [0].into_iter().chain(3..13) {
            a.std(Gpr::new(n), frame(n.into()), R1);
        }
        a.mfspr(R3, spr::SPRG0);
        a.std(R3, frame(13), R1);
        a.ld(R3, SAVED_R1, R13);
        a.std(R3, frame(1), R1);
        let (address, state) = if hypervisor { (spr::HSRR0, spr::HSRR1) } else { (spr::SRR0, spr::SRR1) };
        for (number, offset) in kept(address, state) {
            a.mfspr(R3, number);
            a.std(R3, offset, R1);
        }
        a.mfcr(R3);
        a.std(R3, FRAME_CR, R1);
    }

    /// The end of a handler.
    pub(super) fn restore(&mut self, address: u16, state: u16) {
        let a = &mut self.a;
        a.ld(R3, FRAME_CR, R1);
        a.mtcrf(0xFF, R3);
        for (number, offset) in kept(address, state) {
            a.ld(R3, offset, R1);
            a.mtspr(number, R3);
        }
        for n in [0].into_iter().chain(3..14) {
            a.ld(Gpr::new(n), frame(n.into()), R1);
        }
        a.ld(R1, frame(1), R1);
        if address == spr::HSRR0 {
            a.hrfid();
        } else {
            a.rfid();
        }
    }

    /// The handlers of interrupts that the guest does not handle.
    pub(super) fn faults(&mut self) {
        let name = self.text("an interrupt that nothing expected");
        let place = self.text("where it happened");
        let (check, exit) = (self.check, self.exit);
        let lost = self.a.label();
        let skips = [self.a.label(), self.a.label()];
        for entry in &mut self.vectors {
            if std::mem::replace(&mut entry.handled, true) {
                continue;
            }
            let a = &mut self.a;
            a.routine(&format!("handler_{:#x}", entry.number));
            a.here(entry.label);
            a.mtspr(spr::SPRG0, R3);
            a.mtspr(spr::SPRG1, R4);
            a.mtspr(spr::SPRG2, R5);
            a.load(R3, entry.number.into());
            let hypervisor = hypervisor_registers(entry.number);
            if skippable(entry.number) {
                a.b(skips[usize::from(hypervisor)]);
            } else {
                a.mfspr(R5, if hypervisor { spr::HSRR0 } else { spr::SRR0 });
                a.b(lost);
            }
        }
        self.skip(skips[0], lost, spr::SRR0, spr::SRR1);
        self.skip(skips[1], lost, spr::HSRR0, spr::HSRR1);
        // lost: GPR 3 the vector, 5 the address.
        let a = &mut self.a;
        a.routine("unexpected_interrupt");
        a.here(lost);
        a.mfspr(R13, spr::SPRG3);
        a.ld(R1, INTERRUPT_STACK, R13);
        a.mr(R10, R5);
        a.mr(R4, R3);
        a.load(R3, name);
        a.load(R5, 0x1_0000);
        a.load(R6, 0x1_0000);
        a.bl(check);
        a.mr(R4, R10);
        a.load(R3, place);
        a.load(R5, 0);
        a.load(R6, u64::MAX);
        a.bl(check);
        a.b(exit);
    }

    /// Counts an interrupt that was expected and continues with the next instruction.
    fn skip(&mut self, label: Label, lost: Label, address: u16, state: u16) {
        let a = &mut self.a;
        let unexpected = a.label();
        a.routine(if address == spr::HSRR0 { "skip_hypervisor" } else { "skip" });
        a.here(label);
        a.mfspr(R4, spr::SPRG3);
        a.mfcr(R5);
        a.std(R5, SAVED_CR, R4);
        a.ld(R5, EXPECT, R4);
        a.branch_if_zero(R5, unexpected);
        a.std(R3, CAUGHT, R4);
        a.ld(R5, FAULTS, R4);
        a.addi(R5, R5, 1);
        a.std(R5, FAULTS, R4);
        a.mfspr(R5, state);
        a.std(R5, CAUGHT_STATE, R4);
        a.mfspr(R5, address);
        a.addi(R5, R5, 4);
        a.mtspr(address, R5);
        a.ld(R5, SAVED_CR, R4);
        a.mtcrf(0xFF, R5);
        a.mfspr(R3, spr::SPRG0);
        a.mfspr(R4, spr::SPRG1);
        a.mfspr(R5, spr::SPRG2);
        if address == spr::HSRR0 {
            a.hrfid();
        } else {
            a.rfid();
        }
        a.here(unexpected);
        a.mfspr(R5, address);
        a.b(lost);
    }
}

/// What a handler saves in addition to general purpose registers and CR, and where.
fn kept(address: u16, state: u16) -> [(u16, i64); 5] {
    [(address, FRAME_ADDRESS), (state, FRAME_STATE), (spr::LR, FRAME_LR), (spr::CTR, FRAME_CTR), (spr::XER, FRAME_XER)]
}
