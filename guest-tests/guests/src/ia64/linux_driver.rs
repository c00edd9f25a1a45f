//! `linux-driver`: what Linux's driver does with the registers, access by access (`arch/ia64/kernel/perfmon.c`; the steps are those of
//! `docs/notes/itanium-drivers.md`, section 5).

use super::handler::{REQUESTED, VECTOR};
use super::part::{FIRST, Facts, Monitor};
use super::privilege::{BACK, CALL, ENTRY};
use super::{Kernel, own};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{DCR_PP, SPURIOUS, psr, vector};
use vm_pmu_engines::image::Image;

/// How many interrupts there were that found an overflow.
const TAKEN: i64 = own(0);
/// How many found none.
const UNFOUNDED: i64 = own(1);
/// What PMD4 becomes when it overflowed, if it is not 0.
const PERIOD: i64 = own(2);
/// Whether monitors are masked when there was an overflow.
const MASKS: i64 = own(3);
/// PMV.m.
const MASKED: u64 = 1 << 16;
/// Instructions of the task, in bundles of three.
const TASK: u64 = 60;

struct Guest<'a> {
    k: Kernel,
    part: &'a Facts,
    /// The address of the 64-bit counts whose lower bits the PMDs have, one for each index.
    halves: u64,
    task: Label,
}

impl Guest<'_> {
    fn half(&self, number: u8) -> u64 {
        self.halves + 8 * u64::from(number)
    }

    /// Step 4: every interrupt that IVR has.
    fn handler(&mut self) {
        let Self { k, part, .. } = self;
        let halves = self.halves;
        let (unfounded, done, end) = (k.a.label(), k.a.label(), k.a.label());
        k.handler(vector::EXTERNAL_INTERRUPT);
        let next = k.a.mark();
        k.accept_interrupt(R18);
        k.a.put(cmp_eq_imm(P6, P7, SPURIOUS.into(), R18));
        k.a.put(br_cond(end).when(P6));
        k.a.put(mov_from_cr(R26, Cr::TPR));
        k.a.put(mov_to_cr(Cr::TPR, R18));
        k.a.put(srlz_d());
        k.read_pmc(R22, 0);
        k.a.put(shr_u_imm(R23, R22, 1));
        k.a.put(cmp_eq(P6, P7, R23, R0));
        k.a.put(br_cond(unfounded).when(P6));
        k.count_own(TAKEN);
        for number in part.counters() {
            let over = k.a.label();
            k.a.put(tbit_nz(P6, P7, R22, number.into()));
            k.a.put(br_cond(over).when(P7));
            k.a.load(R20, halves + 8 * u64::from(number));
            k.a.put(ld8(R21, R20));
            k.a.load(R23, 1 << part.width);
            k.a.put(add(R21, R21, R23));
            k.a.put(st8(R20, R21));
            k.a.here(over);
        }
        let (kept, unmasked) = (k.a.label(), k.a.label());
        k.load_own(R23, PERIOD);
        k.a.put(cmp_eq(P6, P7, R23, R0));
        k.a.put(br_cond(kept).when(P6));
        k.a.put(mov_imm(R2, FIRST.into()));
        k.a.put(mov_to_pmd(R2, R23));
        k.a.here(kept);
        k.load_own(R23, MASKS);
        k.a.put(cmp_eq(P6, P7, R23, R0));
        k.a.put(br_cond(unmasked).when(P6));
        for number in part.counters() {
            // The same monitor at no level.
            k.read_pmc(R23, number);
            k.a.put(dep_imm(R23, false, R23, 0, 4));
            k.a.put(mov_to_pmc(R2, R23));
        }
        k.a.put(srlz_d());
        k.a.here(unmasked);
        k.a.put(br_cond(done));
        k.a.here(unfounded);
        k.count_own(UNFOUNDED);
        k.a.here(done);
        k.write_pmc(0, 0);
        k.a.put(srlz_d());
        k.a.put(mov_to_cr(Cr::TPR, R26));
        k.a.put(srlz_d());
        k.end_interrupt();
        k.a.put(br_cond(next));
        k.a.here(end);
        k.end_handler();
    }

    /// Step 1.
    fn boot(&mut self) {
        let k = &mut self.k;
        k.write_cr(Cr::PMV, MASKED);
        k.write_cr(Cr::TPR, 0);
        k.accept_interrupt(R9);
        k.check_is("boot: IVR", R9, SPURIOUS.into());
        k.clear_state(psr::PP);
        k.clear_state(psr::UP);
        k.write_pmc(0, 0);
        k.a.put(srlz_d());
        k.monitor_vector(VECTOR);
        k.interrupts_on();
    }

    /// Steps 3, 5 and 8 after the ranges: every PMD, then every PMC, those of counters from 4 up as they are given.
    fn load(&mut self, monitors: &[(Monitor, u64)]) {
        let part = self.part;
        let given = |number: u8| number.checked_sub(FIRST).and_then(|index| monitors.get(usize::from(index)));
        for register in part.pmds {
            for number in register.first..=register.last {
                let counter = number <= part.last;
                self.k.write_pmd(number, given(number).filter(|_| counter).map_or(register.reset, |(_, holds)| *holds));
            }
        }
        self.k.a.put(srlz_d());
        for number in 1..FIRST {
            self.k.write_pmc(number, 0);
        }
        for register in part.pmcs.iter().filter(|register| register.first != 0) {
            for number in register.first..=register.last {
                let counter = number <= part.last;
                let value = given(number).filter(|_| counter).map_or(register.reset, |(monitor, _)| part.pmc(*monitor));
                self.k.write_pmc(number, value);
            }
        }
        self.k.a.put(srlz_d());
    }

    /// A task's two monitors: instructions and cycles of users. The driver has every counter interrupt.
    fn monitors(&self, instructions: u64, cycles: u64) -> [(Monitor, u64); 2] {
        let user = |event| Monitor::of(event).at(0b1000).interrupting();
        [(user(self.part.instructions), instructions), (user(self.part.cycles), cycles)]
    }

    fn forget(&mut self) {
        for cell in [TAKEN, UNFOUNDED, PERIOD, MASKS] {
            self.k.store_own(cell, R0);
        }
        for number in self.part.counters() {
            self.k.a.load(R2, self.half(number));
            self.k.a.put(st8(R2, R0));
        }
    }

    /// The task runs.
    fn run(&mut self) {
        self.k.enter_user(self.task, psr::UP);
    }

    fn check_own(&mut self, label: &str, cell: i64, right: u64) {
        self.k.load_own(R9, cell);
        self.k.check_is(label, R9, right);
    }

    /// What a PMD holds, without what is above its width.
    fn check_pmd(&mut self, label: &str, number: u8, right: u64) {
        self.k.read_pmd(R9, number);
        self.k.a.put(extr_u(R9, R9, 0, self.part.width.into()));
        self.k.check_is(label, R9, right);
    }

    fn check_half(&mut self, label: &str, number: u8, overflows: u64) {
        self.k.a.load(R2, self.half(number));
        self.k.a.put(ld8(R9, R2));
        self.k.check_is(label, R9, overflows << self.part.width);
    }

    fn check_pmc0(&mut self, label: &str, right: u64) {
        self.k.read_pmc(R9, 0);
        self.k.check_is(label, R9, right);
    }

    /// A count wraps its PMD: the overflow is at the end of the task's 14th bundle, so nothing is lost.
    fn counting(&mut self) {
        self.forget();
        let monitors = self.monitors(self.part.before_overflow(42), 0);
        self.load(&monitors);
        self.k.set_state(psr::UP);
        self.run();
        self.k.clear_state(psr::UP);
        self.check_own("counting: overflows", TAKEN, 1);
        self.check_half("counting: upper half", 4, 1);
        self.check_pmd("counting: lower half", 4, TASK - 42);
        self.check_half("counting: upper half of cycles", 5, 0);
        // A cycle for each bundle and one for the system call; the counters are frozen at the other interruption.
        self.check_pmd("counting: cycles", 5, TASK / 3 + 1);
        self.check_own("counting: interrupts without an overflow", UNFOUNDED, 0);
        self.check_pmc0("counting: PMC0", 0);
    }

    /// A sample every ten bundles.
    fn sampling(&mut self) {
        self.forget();
        let holds = self.part.before_overflow(30);
        let monitors = self.monitors(holds, 0);
        self.load(&monitors);
        self.k.a.load(R3, holds);
        self.k.store_own(PERIOD, R3);
        self.run();
        self.run();
        self.check_own("sampling: overflows", TAKEN, 2 * TASK / 30);
        self.check_half("sampling: upper half", 4, 2 * TASK / 30);
        self.check_pmd("sampling: into the next period", 4, holds);
        // The second overflow of a run holds off no cycle: it was handled before the system call.
        self.check_pmd("sampling: cycles", 5, 2 * (TASK / 3 + 1));
    }

    /// The user is notified first: monitors are masked at the overflow, and unmasked later.
    fn masking(&mut self) {
        self.forget();
        let monitors = self.monitors(self.part.before_overflow(30), 0);
        self.load(&monitors);
        self.k.a.put(mov_imm(R3, 1));
        self.k.store_own(MASKS, R3);
        self.run();
        self.run();
        self.check_own("masked: overflows", TAKEN, 1);
        self.check_pmd("masked: instructions", 4, 0);
        self.check_pmd("masked: cycles", 5, 10);
        self.k.store_own(MASKS, R0);
        let again = self.part.before_overflow(1000);
        let monitors = self.monitors(again, 10);
        self.load(&monitors);
        self.run();
        self.check_own("unmasked: overflows", TAKEN, 1);
        self.check_pmd("unmasked: instructions", 4, again + TASK);
        self.check_pmd("unmasked: cycles", 5, 10 + TASK / 3 + 1);
    }

    /// The task is switched out with an overflow that has not been handled yet, and in again.
    fn switching(&mut self) {
        self.forget();
        let monitors = self.monitors(self.part.before_overflow(TASK), 0);
        self.load(&monitors);
        // Out: the overflow is at the last instruction of the task, so the system call's cycle is frozen out.
        self.k.interrupts_off();
        self.run();
        self.k.clear_state(psr::UP);
        self.check_pmd("switched out: instructions", 4, 0);
        self.check_pmd("switched out: cycles", 5, TASK / 3);
        self.check_pmc0("switched out: PMC0", 1 << 4 | 1);
        self.k.write_pmc(0, 0);
        self.k.a.put(srlz_d());
        // The pulse comes while there is no overflow to handle.
        self.k.interrupts_on();
        self.k.nops(1);
        self.check_own("switched out: interrupts without an overflow", UNFOUNDED, 1);
        self.check_own("switched out: overflows", TAKEN, 0);
        // Another task, without monitors.
        self.k.enter_user(self.task, 0);
        self.check_pmd("another task: instructions", 4, 0);
        // In.
        self.k.interrupts_off();
        let monitors = self.monitors(0, TASK / 3);
        self.load(&monitors);
        self.k.write_pmc(0, 1 << 4 | 1);
        self.k.a.put(srlz_d());
        if !self.part.resends {
            // An interrupt to itself, for which the timer is used here.
            self.k.write_cr(Cr::ITV, VECTOR.into());
            self.k.a.put(mov_from_ar_m(R3, Ar::ITC));
            self.k.a.put(adds(R3, 4, R3));
            self.k.a.put(mov_to_cr(Cr::ITM, R3));
            self.k.nops(4);
        }
        self.run();
        self.check_pmc0("switched in: PMC0", 1 << 4 | 1);
        self.check_pmd("switched in: instructions while frozen", 4, 0);
        self.check_pmd("switched in: cycles while frozen", 5, TASK / 3);
        self.k.a.put(mov_from_cr(R9, Cr::IRR3));
        self.k.check_is("switched in: requested again", R9, REQUESTED);
        self.k.interrupts_on();
        self.k.nops(1);
        self.check_own("switched in: overflows", TAKEN, 1);
        self.check_half("switched in: upper half", 4, 1);
        self.check_pmc0("switched in: PMC0 afterwards", 0);
        self.run();
        self.check_pmd("switched in: instructions", 4, TASK);
        self.check_pmd("switched in: cycles", 5, TASK / 3 + TASK / 3 + 1);
    }

    /// Step 6 for the whole system: `ssm` before DCR when it starts, DCR before `rsm` when it stops.
    fn whole_system(&mut self) {
        self.forget();
        let monitor = Monitor::of(self.part.instructions).at(0b1001).privileged().interrupting();
        self.load(&[(monitor, 0)]);
        self.k.set_state(psr::PP);
        self.k.write_cr(Cr::DCR, DCR_PP);
        self.k.enter_user(self.task, 0);
        self.k.write_cr(Cr::DCR, 0);
        self.k.clear_state(psr::PP);
        // 2 after ssm, srlz; a long one, and 6 with DCR; there and back; DCR again; rsm.
        self.check_pmd("whole system", 4, 2 + 3 + 8 + ENTRY + TASK + CALL + BACK + 8 + 1);
        self.k.enter_user(self.task, 0);
        self.check_pmd("whole system, stopped", 4, 2 + 3 + 8 + ENTRY + TASK + CALL + BACK + 8 + 1);
    }

    /// Steps 10 and 11: the context is unloaded; another one takes the PMU.
    fn unload(&mut self) {
        self.forget();
        let monitors = self.monitors(self.part.before_overflow(TASK), 0);
        self.load(&monitors);
        self.k.interrupts_off();
        self.run();
        self.check_pmc0("unload: PMC0", 1 << 4 | 1);
        self.k.write_pmc(0, 0);
        self.k.a.put(srlz_d());
        self.check_pmd("unload: instructions", 4, 0);
        self.k.enter_user(self.task, psr::SP);
        self.check_pmd("unloaded: instructions", 4, 0);
        self.k.interrupts_on();
        self.k.nops(1);
        self.check_own("unloaded: interrupts without an overflow", UNFOUNDED, 1);
        self.k.clear_state(psr::UP);
        self.k.clear_state(psr::PP);
        self.k.write_pmc(0, 1);
        self.k.a.put(srlz_d());
        self.run();
        self.check_pmd("another user: frozen", 4, 0);
        self.k.write_pmc(0, 0);
        self.k.a.put(srlz_d());
        self.check_own("another user: interrupts", UNFOUNDED, 1);
        self.check_own("another user: overflows", TAKEN, 0);
    }
}

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let halves = k.reserve(8 * 16);
    k.a.routine("task");
    let task = k.a.mark();
    k.nops(TASK as usize / 3);
    k.system_call();
    let mut guest = Guest { k, part, halves, task };
    guest.handler();
    guest.k.main();
    guest.boot();
    guest.counting();
    guest.sampling();
    guest.masking();
    guest.switching();
    guest.whole_system();
    guest.unload();
    guest.k.end_main();
    guest.k.finish()
}
