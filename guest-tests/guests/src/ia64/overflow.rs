//! `overflow`: counters that wrap, what that stops, and how the interrupt is delivered.

use super::Kernel;
use super::handler::{Handler, IIP, IPSR, PMC0, REQUESTED, VECTOR, counter, reload};
use super::part::{Facts, Monitor};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{SPURIOUS, psr};
use vm_pmu_engines::image::Image;

/// PMV.m: what the monitors raise is lost.
const MASKED: u64 = 1 << 16;
/// TPR that holds back the class of [`VECTOR`] and those below.
const CLASS: u64 = VECTOR as u64 & 0xF0;
/// PMC0.fr.
const FROZEN: u64 = 1;

struct Guest<'a> {
    part: &'a Facts,
    handler: Handler,
}

impl Guest<'_> {
    /// A privileged monitor of instructions at level 0.
    fn instructions(&self) -> Monitor {
        Monitor::of(self.part.instructions).privileged()
    }

    fn cycles(&self) -> Monitor {
        Monitor::of(self.part.cycles).privileged()
    }

    /// Programs counters from 4 up, with what they hold. Handlers run with PSR.pp clear, so they are not counted.
    fn program(&self, k: &mut Kernel, monitors: &[(Monitor, u64)]) {
        self.handler.begin(k);
        k.write_pmc(0, 0);
        for (number, (monitor, holds)) in (4..).zip(monitors) {
            k.write_pmc(number, self.part.pmc(*monitor));
            k.write_pmd(number, *holds);
        }
    }

    fn idle(&self, k: &mut Kernel) {
        for number in 4..=7 {
            k.write_pmc(number, self.part.idle);
        }
        k.write_pmc(0, 0);
    }

    /// Starts the counters: two no-operations, `bundles` of three, and the `rsm`. Returns the address of the first bundle.
    fn run(k: &mut Kernel, bundles: usize) -> u64 {
        k.privileged_monitors(true);
        let first = k.a.address();
        k.nops(bundles);
        k.privileged_monitors(false);
        first
    }

    fn check_pmd(k: &mut Kernel, label: &str, number: u8, right: u64) {
        k.read_pmd(R9, number);
        k.check_is(label, R9, right);
    }

    fn check_pmc0(k: &mut Kernel, label: &str, right: u64) {
        k.read_pmc(R9, 0);
        k.check_is(label, R9, right);
    }

    fn check_requested(k: &mut Kernel, label: &str, right: u64) {
        k.a.put(mov_from_cr(R9, Cr::IRR3));
        k.check_is(label, R9, right);
    }

    /// The 19th instruction is the second of the sixth bundle: 2 after `ssm`, and 5 times 3.
    fn exactly(&self, k: &mut Kernel) {
        let last = self.instructions().interrupting();
        self.program(k, &[(last, self.part.before_overflow(19)), (self.instructions(), 0), (self.cycles(), 0)]);
        let first = Self::run(k, 10);
        Handler::check_taken(k, "exact: interrupts", 1);
        self.handler.check(k, "exact: PMC0", 0, PMC0, FROZEN | 1 << 4);
        self.handler.check(k, "exact: where the next bundle is", 0, IIP, first + 6 * 16);
        self.handler.load(k, 0, IPSR);
        k.a.load(R4, psr::PP | psr::I | psr::CPL);
        k.a.put(and(R9, R9, R4));
        k.check_is("exact: PSR", R9, psr::PP | psr::I);
        self.handler.check(k, "exact: what is over", 0, counter(4), 0);
        self.handler.check(k, "exact: instructions", 0, counter(5), 19);
        // A cycle for each bundle that began.
        self.handler.check(k, "exact: cycles", 0, counter(6), 6);
        // The third instruction of that bundle was frozen out; 4 bundles and the rsm follow.
        Self::check_pmd(k, "exact: PMD4 afterwards", 4, 4 * 3 + 1);
        Self::check_pmd(k, "exact: PMD5 afterwards", 5, 19 + 4 * 3 + 1);
        Self::check_pmd(k, "exact: PMD6 afterwards", 6, 6 + 4 + 1);
        Self::check_pmc0(k, "exact: PMC0 afterwards", 0);
        self.idle(k);
    }

    /// Two counters of instructions and one of cycles wrap at the first instruction of the sixth bundle: instruction 18, cycle 6. One
    /// without an interrupt wrapped at cycle 3.
    fn at_once(&self, k: &mut Kernel) {
        let (instructions, cycles) = (self.instructions().interrupting(), self.cycles().interrupting());
        let at = |events| self.part.before_overflow(events);
        self.program(k, &[(instructions, at(18)), (instructions, at(18)), (self.cycles(), at(3)), (cycles, at(6))]);
        Self::run(k, 10);
        Handler::check_taken(k, "several: interrupts", 1);
        self.handler.check(k, "several: PMC0", 0, PMC0, FROZEN | 0xF0);
        for (number, right) in [(4, 0), (5, 0), (6, 3), (7, 0)] {
            self.handler.check(k, &format!("several: PMD{number}"), 0, counter(number), right);
        }
        self.idle(k);
    }

    /// Every 30 instructions: the first time 2 and 28 more, into the tenth bundle; then every ten bundles.
    fn again(&self, k: &mut Kernel) {
        const PERIOD: u64 = 30;
        let holds = self.part.before_overflow(PERIOD);
        self.program(k, &[(self.instructions().interrupting(), holds), (self.instructions(), 0)]);
        k.a.load(R3, holds);
        k.store_own(reload(4), R3);
        let first = Self::run(k, 100);
        Handler::check_taken(k, "period: interrupts", 10);
        for index in 0..10 {
            self.handler.check(k, &format!("period: address {index}"), index, IIP, first + 16 * 10 * (index + 1));
            self.handler.check(k, &format!("period: PMC0 {index}"), index, PMC0, FROZEN | 1 << 4);
            self.handler.check(k, &format!("period: PMD5 {index}"), index, counter(5), PERIOD * (index + 1));
        }
        k.read_pmd(R4, 4);
        // What it holds reads with a sign: it is nearly full.
        k.a.load(R5, (!0 << self.part.width) | (holds + 1));
        k.check_same("period: PMD4 into the next one", R4, R5);
        Self::check_pmd(k, "period: PMD5", 5, 10 * PERIOD + 1);
        self.handler.load(k, 0, IIP);
        k.a.put(mov(R8, R9));
        k.a.put(mov_imm(R10, 10));
        k.sample("no-operations");
        self.idle(k);
    }

    /// Without an interrupt a wrap sets its bit, and nothing stops; the bit stays.
    fn silent(&self, k: &mut Kernel) {
        self.program(k, &[(self.instructions(), self.part.before_overflow(5))]);
        Self::run(k, 4);
        Handler::check_taken(k, "silent: interrupts", 0);
        Self::check_pmc0(k, "silent: PMC0", 1 << 4);
        Self::check_pmd(k, "silent: PMD4", 4, 2 + 4 * 3 + 1 - 5);
        Self::run(k, 4);
        Self::check_pmd(k, "silent: PMD4 goes on", 4, 2 * (2 + 4 * 3 + 1) - 5);
        Self::check_pmc0(k, "silent: PMC0 stays", 1 << 4);
        self.idle(k);
    }

    fn overflow(&self, k: &mut Kernel) {
        self.program(k, &[(self.instructions().interrupting(), self.part.before_overflow(5))]);
        Self::run(k, 4);
    }

    /// While PMV masks it, the request is lost.
    fn lost(&self, k: &mut Kernel) {
        k.write_cr(Cr::PMV, MASKED | u64::from(VECTOR));
        self.overflow(k);
        k.monitor_vector(VECTOR);
        k.nops(2);
        Handler::check_taken(k, "masked by PMV: interrupts", 0);
        Self::check_requested(k, "masked by PMV: requested", 0);
        Self::check_pmc0(k, "masked by PMV: PMC0", FROZEN | 1 << 4);
        // Frozen right there.
        Self::check_pmd(k, "masked by PMV: PMD4", 4, 0);
        self.idle(k);
    }

    /// While TPR or PSR.i hold it back, it waits.
    fn held(&self, k: &mut Kernel) {
        k.write_cr(Cr::TPR, CLASS);
        self.overflow(k);
        Handler::check_taken(k, "held by TPR: interrupts", 0);
        Self::check_requested(k, "held by TPR: requested", REQUESTED);
        k.write_cr(Cr::TPR, 0);
        k.nops(1);
        Handler::check_taken(k, "let go by TPR: interrupts", 1);
        Self::check_requested(k, "let go by TPR: requested", 0);
        self.handler.check(k, "let go by TPR: PMC0", 0, PMC0, FROZEN | 1 << 4);
        k.interrupts_off();
        self.overflow(k);
        Handler::check_taken(k, "held by PSR.i: interrupts", 0);
        Self::check_requested(k, "held by PSR.i: requested", REQUESTED);
        k.interrupts_on();
        k.nops(1);
        Handler::check_taken(k, "let go by PSR.i: interrupts", 1);
        self.handler.check(k, "let go by PSR.i: PMC0", 0, PMC0, FROZEN | 1 << 4);
        self.idle(k);
    }

    fn check_vector(k: &mut Kernel, label: &str, right: u8) {
        k.accept_interrupt(R9);
        k.check_is(label, R9, right.into());
    }

    /// A request that comes while its vector is in service waits for its end.
    fn in_service(&self, k: &mut Kernel) {
        k.interrupts_off();
        self.overflow(k);
        Self::check_vector(k, "service: IVR", VECTOR);
        Self::check_requested(k, "service: no longer requested", 0);
        self.overflow(k);
        Self::check_requested(k, "service: requested again", REQUESTED);
        Self::check_vector(k, "service: IVR meanwhile", SPURIOUS);
        k.end_interrupt();
        Self::check_vector(k, "service: IVR at its end", VECTOR);
        k.end_interrupt();
        Self::check_vector(k, "service: IVR at last", SPURIOUS);
        k.interrupts_on();
        self.idle(k);
    }

    /// Software freezes as overflows do; the overflow bits are its own to set.
    fn by_hand(&self, k: &mut Kernel) {
        self.program(k, &[(self.instructions().interrupting(), 0)]);
        k.write_pmc(0, FROZEN);
        Self::run(k, 4);
        Self::check_pmd(k, "by hand: frozen", 4, 0);
        k.write_pmc(0, 0);
        Self::run(k, 4);
        Self::check_pmd(k, "by hand: thawed", 4, 2 + 4 * 3 + 1);
        k.write_pmc(0, 1 << 4);
        Self::run(k, 4);
        Self::check_pmc0(k, "by hand: a bit alone", 1 << 4);
        Self::check_pmd(k, "by hand: does not freeze", 4, 2 * (2 + 4 * 3 + 1));
        Handler::check_taken(k, "by hand: interrupts", 0);
        // As a context's state is given back.
        k.write_pmc(0, FROZEN | 1 << 4);
        k.nops(1);
        Handler::check_taken(k, "by hand: frozen with an overflow", self.part.resends.into());
        self.idle(k);
    }
}

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let guest = Guest { part, handler: Handler::new(&mut k, 10) };
    k.main();
    k.monitor_vector(VECTOR);
    k.interrupts_on();
    guest.exactly(&mut k);
    guest.at_once(&mut k);
    guest.again(&mut k);
    guest.silent(&mut k);
    guest.lost(&mut k);
    guest.held(&mut k);
    guest.in_service(&mut k);
    guest.by_hand(&mut k);
    k.end_main();
    k.finish()
}
