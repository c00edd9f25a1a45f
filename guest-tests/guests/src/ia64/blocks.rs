//! The code that every guest begins with.

use super::{
    CAUGHT, CAUGHT_IFA, CAUGHT_ISR, CPU, EXPECT, FAULTS, FRAME_B6, FRAME_B7, FRAME_GRS, FRAME_IIP, FRAME_IPSR, FRAME_LC, FRAME_PFS,
    FRAME_PR, KERNEL_B6, KERNEL_PFS, KERNEL_PSR, KERNEL_SP, Kernel, MAX_CPUS, PER_CPU, SAVED, STACK, SYSTEM_CALL, USER_IIP, USER_IPSR,
    USER_SP, USER_STACKS, VECTORS, skippable,
};
use crate::protocol::{MAGIC, MAX_CHECKS, MAX_SAMPLES, REPORT, REPORT_CHECKS, REPORT_SAMPLES};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{psr, vector};
use vm_pmu_engines::ia64::{CONSOLE, EXIT};

/// Predicates that handlers give back: all.
const ALL_PREDICATES: u64 = 0x1_FFFE;

/// Stores `from` to a cell of the area that `area` points at, by way of r16 of bank 0.
fn keep(a: &mut Assembler, area: Gr, cell: i64, from: Gr) {
    a.put(adds(R16, cell, area));
    a.put(st8(R16, from));
}

/// Loads a cell of the area that `area` points at, by way of r16 of bank 0.
fn fetch(a: &mut Assembler, into: Gr, area: Gr, cell: i64) {
    a.put(adds(R16, cell, area));
    a.put(ld8(into, R16));
}

/// Moves IIP and PSR in two registers to the next slot. Changes r18 and predicates 6 and 7.
fn advance(a: &mut Assembler, iip: Gr, ipsr: Gr) {
    a.put(extr_u(R18, ipsr, psr::RI_SHIFT.into(), 2));
    a.put(cmp_eq_imm(P6, P7, 2, R18));
    a.put(adds(iip, 16, iip).when(P6));
    a.put(mov(R18, R0).when(P6));
    a.put(adds(R18, 1, R18).when(P7));
    a.put(dep(ipsr, R18, ipsr, psr::RI_SHIFT.into(), 2));
}

impl Kernel {
    /// The entry: r8 holds the thread's number, r12 its memory stack.
    pub(super) fn start(&mut self) {
        let areas = self.reserve(PER_CPU * MAX_CPUS);
        let (main, exit, done) = (self.main, self.exit, self.done);
        let a = &mut self.a;
        a.routine("start");
        a.put(shl_imm(R2, R8, PER_CPU.trailing_zeros().into()));
        a.load(R13, areas);
        a.put(add(R13, R13, R2));
        a.put(mov_to_ar_m(Ar::KR0, R13));
        a.put(adds(R2, CPU, R13));
        a.put(st8(R2, R8));
        a.put(shl_imm(R2, R8, STACK.trailing_zeros().into()));
        a.load(R3, USER_STACKS + STACK - 64);
        a.put(add(R3, R3, R2));
        a.put(adds(R2, USER_SP, R13));
        a.put(st8(R2, R3));
        a.load(R2, REPORT);
        a.load(R3, MAGIC);
        a.put(st8(R2, R3));
        a.load(R2, VECTORS);
        a.put(mov_to_cr(Cr::IVA, R2));
        a.put(srlz_i());
        a.put(ssm(psr::IC));
        a.put(srlz_i());
        a.put(br_cond(main));
        a.here(done);
        a.put(adds(R2, CPU, R13));
        a.put(ld8(R2, R2));
        a.put(cmp_eq(P6, P7, R2, R0));
        a.put(br_cond(exit).when(P6));
        let rest = a.mark();
        a.put(hint(0));
        a.put(br_cond(rest));
    }

    pub(super) fn blocks(&mut self) {
        let failed = self.failed;
        let (check, sample, print, exit) = (self.check, self.sample, self.print, self.exit);
        let a = &mut self.a;
        let bad = a.label();
        // check: r8 label, r9 seen, r10 least, r11 most.
        a.routine("check");
        a.here(check);
        a.load(R14, REPORT + 8);
        a.put(fetchadd8_acq(R15, R14, 1));
        a.load(R14, MAX_CHECKS);
        a.put(cmp_geu(P6, P7, R15, R14));
        a.put(br_cond(bad).when(P6));
        a.load(R14, REPORT_CHECKS);
        a.put(shl_imm(R15, R15, 5));
        a.put(add(R14, R14, R15));
        for register in [R8, R9, R10, R11] {
            a.put(st8(R14, register).post(8));
        }
        a.put(cmp_ltu(P6, P7, R9, R10));
        a.put(br_cond(bad).when(P6));
        a.put(cmp_ltu(P6, P7, R11, R9));
        a.put(br_cond(bad).when(P6));
        a.put(br_ret(B6));
        a.here(bad);
        a.load(R14, failed);
        a.put(mov_imm(R15, 1));
        a.put(st8(R14, R15));
        a.put(br_ret(B6));
        // sample: r8 address, r9 label, r10 hits.
        let no_room = a.label();
        a.routine("sample");
        a.here(sample);
        a.load(R14, REPORT + 16);
        a.put(fetchadd8_acq(R15, R14, 1));
        a.load(R14, MAX_SAMPLES);
        a.put(cmp_geu(P6, P7, R15, R14));
        a.put(br_cond(no_room).when(P6));
        a.load(R14, REPORT_SAMPLES);
        // 24 bytes each: eight, and sixteen.
        a.put(shladd(R14, R15, 3, R14));
        a.put(shladd(R14, R15, 4, R14));
        for register in [R8, R9, R10] {
            a.put(st8(R14, register).post(8));
        }
        a.here(no_room);
        a.put(br_ret(B6));
        // print: r8 a zero-terminated string.
        a.routine("print");
        a.here(print);
        a.load(R14, CONSOLE);
        let next = a.mark();
        a.put(ld1(R15, R8).post(1));
        a.put(cmp_eq(P6, P7, R15, R0));
        a.put(br_ret(B6).when(P6));
        a.put(st1(R14, R15));
        a.put(br_cond(next));
        // exit: the status is whether a check failed.
        a.routine("exit");
        a.here(exit);
        a.load(R14, failed);
        a.put(ld8(R15, R14));
        a.load(R14, EXIT);
        a.put(st1(R14, R15));
        let stop = a.mark();
        a.put(br_cond(stop));
    }

    pub(super) fn user_blocks(&mut self) {
        let (enter_user, resume_user) = (self.enter_user, self.resume_user);
        let a = &mut self.a;
        let go = a.label();
        // enter_user: r8 where to, r9 what is added to PSR, the privilege level too.
        a.routine("enter_user");
        a.here(enter_user);
        a.put(mov_from_psr(R10));
        a.put(or(R9, R9, R10));
        a.load(R10, psr::BN);
        a.put(or(R9, R9, R10));
        a.put(br_cond(go));
        // resume_user: continues after the last break.
        a.routine("resume_user");
        a.here(resume_user);
        a.put(adds(R8, USER_IIP, R13));
        a.put(ld8(R8, R8));
        a.put(adds(R9, USER_IPSR, R13));
        a.put(ld8(R9, R9));
        a.here(go);
        a.put(mov_from_br(R2, B6));
        a.put(mov_from_ar_i(R3, Ar::PFS));
        a.put(mov_from_psr(R10));
        for (cell, register) in [(KERNEL_B6, R2), (KERNEL_PFS, R3), (KERNEL_PSR, R10), (KERNEL_SP, R12)] {
            a.put(adds(R11, cell, R13));
            a.put(st8(R11, register));
        }
        a.put(adds(R12, USER_SP, R13));
        a.put(ld8(R12, R12));
        a.put(rsm(psr::IC | psr::I));
        a.put(srlz_i());
        a.put(mov_to_cr(Cr::IIP, R8));
        a.put(mov_to_cr(Cr::IPSR, R9));
        // The frame stays as it is.
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(srlz_d());
        a.put(rfi());
        // After the rfi of a system call: r13 is as user code left it.
        let back = a.mark();
        a.put(mov_from_ar_m(R13, Ar::KR0));
        for (cell, register) in [(KERNEL_B6, R2), (KERNEL_PFS, R3), (KERNEL_SP, R12)] {
            a.put(adds(R11, cell, R13));
            a.put(ld8(register, R11));
        }
        a.put(mov_to_br(B6, R2));
        a.put(mov_to_ar_i(Ar::PFS, R3));
        a.put(br_ret(B6));
        // system_call, of a break, in bank 0: r17 is the own area.
        a.routine("system_call");
        a.here(self.system_call);
        a.put(mov_from_cr(R20, Cr::IIP));
        a.put(mov_from_cr(R21, Cr::IPSR));
        advance(a, R20, R21);
        for (cell, register) in [(USER_IIP, R20), (USER_IPSR, R21), (USER_SP, R12)] {
            keep(a, R17, cell, register);
        }
        fetch(a, R21, R17, KERNEL_PSR);
        a.load(R20, psr::BN);
        a.put(or(R21, R21, R20));
        a.load_address(R20, back);
        a.put(mov_to_cr(Cr::IIP, R20));
        a.put(mov_to_cr(Cr::IPSR, R21));
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(srlz_d());
        a.put(rfi());
    }

    /// The beginning of a handler. r17 is the own area.
    pub(super) fn save(&mut self) {
        let a = &mut self.a;
        a.put(mov_from_ar_m(R17, Ar::KR0));
        a.put(mov_from_pr(R18));
        a.put(mov_from_ar_i(R19, Ar::PFS));
        a.put(mov_from_ar_i(R20, Ar::LC));
        a.put(mov_from_br(R21, B6));
        a.put(mov_from_br(R22, B7));
        a.put(mov_from_cr(R23, Cr::IIP));
        a.put(mov_from_cr(R24, Cr::IPSR));
        let others = [R18, R19, R20, R21, R22, R23, R24];
        for (cell, register) in [FRAME_PR, FRAME_PFS, FRAME_LC, FRAME_B6, FRAME_B7, FRAME_IIP, FRAME_IPSR].into_iter().zip(others) {
            keep(a, R17, cell, register);
        }
        a.put(adds(R16, FRAME_GRS, R17));
        for register in SAVED {
            a.put(st8(R16, register).post(8));
        }
        a.put(mov(R13, R17));
    }

    /// The end of a handler.
    pub(super) fn restore(&mut self) {
        let a = &mut self.a;
        a.put(mov_from_ar_m(R17, Ar::KR0));
        a.put(adds(R16, FRAME_GRS, R17));
        for register in SAVED {
            a.put(ld8(register, R16).post(8));
        }
        let others = [R18, R19, R20, R21, R22, R23, R24];
        for (cell, register) in [FRAME_PR, FRAME_PFS, FRAME_LC, FRAME_B6, FRAME_B7, FRAME_IIP, FRAME_IPSR].into_iter().zip(others) {
            fetch(a, register, R17, cell);
        }
        a.put(mov_to_ar_i(Ar::PFS, R19));
        a.put(mov_to_ar_i(Ar::LC, R20));
        a.put(mov_to_br(B6, R21));
        a.put(mov_to_br(B7, R22));
        a.put(mov_to_cr(Cr::IIP, R23));
        a.put(mov_to_cr(Cr::IPSR, R24));
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(mov_to_pr(R18, ALL_PREDICATES));
        a.put(srlz_d());
        a.put(rfi());
    }

    /// What handles the interruptions without handlers.
    pub(super) fn faults(&mut self) {
        let (lost, skip) = (self.a.label(), self.a.label());
        for entry in &mut self.vectors {
            if std::mem::replace(&mut entry.handled, true) {
                continue;
            }
            let a = &mut self.a;
            a.routine(&format!("handler_{:#x}", entry.offset));
            a.here(entry.label);
            a.put(mov_imm(R19, entry.offset.into()));
            a.put(mov_from_ar_m(R17, Ar::KR0));
            a.put(mov_from_pr(R22));
            if entry.offset == vector::BREAK {
                a.put(mov_from_cr(R20, Cr::IIM));
                a.load(R21, SYSTEM_CALL);
                a.put(cmp_eq(P6, P7, R20, R21));
                a.put(br_cond(self.system_call).when(P6));
            }
            a.put(br_cond(if skippable(entry.offset) { skip } else { lost }));
        }
        self.skip(skip, lost);
        self.lost(lost);
    }

    /// Counts a fault that was expected and continues with the next instruction: r17 the own area, r19 the vector, r22 predicates.
    fn skip(&mut self, label: Label, lost: Label) {
        let a = &mut self.a;
        a.routine("skip");
        a.here(label);
        fetch(a, R20, R17, EXPECT);
        a.put(cmp_eq(P6, P7, R20, R0));
        a.put(br_cond(lost).when(P6));
        keep(a, R17, CAUGHT, R19);
        fetch(a, R20, R17, FAULTS);
        a.put(adds(R20, 1, R20));
        keep(a, R17, FAULTS, R20);
        a.put(mov_from_cr(R20, Cr::ISR));
        keep(a, R17, CAUGHT_ISR, R20);
        a.put(mov_from_cr(R20, Cr::IFA));
        keep(a, R17, CAUGHT_IFA, R20);
        a.put(mov_from_cr(R20, Cr::IIP));
        a.put(mov_from_cr(R21, Cr::IPSR));
        advance(a, R20, R21);
        a.put(mov_to_cr(Cr::IIP, R20));
        a.put(mov_to_cr(Cr::IPSR, R21));
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(mov_to_pr(R22, ALL_PREDICATES));
        a.put(srlz_d());
        a.put(rfi());
    }

    /// Ends the run with an unexpected interruption: r17 the own area, r19 the vector.
    fn lost(&mut self, label: Label) {
        let names = ["an interruption that nothing expected", "where it happened", "its ISR", "its IFA"].map(|name| self.text(name));
        let (check, exit) = (self.check, self.exit);
        let a = &mut self.a;
        a.routine("unexpected_interruption");
        a.here(label);
        a.put(mov(R13, R17));
        a.put(mov_from_cr(R20, Cr::IIP));
        a.put(mov_from_cr(R21, Cr::ISR));
        a.put(mov_from_cr(R22, Cr::IFA));
        for (name, register) in names.into_iter().zip([R19, R20, R21, R22]) {
            a.load(R8, name);
            a.put(mov(R9, register));
            // An impossible vector is the expected value, everything else is as it is.
            a.load(R10, if register == R19 { 0x1_0000 } else { 0 });
            a.load(R11, if register == R19 { 0x1_0000 } else { u64::MAX });
            a.put(br_call(B6, check));
        }
        a.put(br_cond(exit));
    }
}
