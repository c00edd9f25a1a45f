//! `freeze-matrix`: what stops a counter, in every state on which that depends.
//!
//! Each row is one freeze and one state. The stretch that is counted is in that state from beginning to end: problem state too starts and
//! freezes counters, by MMCR0\[FC], which PMCC=10 allows it to write.

use vm_pmu::arch::power9::{CounterFreezes, Mmcr0, spr};

use super::FC;
use super::counting::{COUNTERS, GO, HALT, check_counter, check_counters, clear_counters, counted, in_state, mmcr0, nops, pmc, run_latch};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, R3, R4, R7};
use vm_pmu_engines::power::registers::msr;

/// MMCR1: completed instructions on PMC1 to PMC3, cycles (0x4001E) on PMC4.
const SELECTION: u64 = 0x0202_021E;
/// No-operations of each stretch.
const NOPS: u64 = 10;
/// What each counter that is not frozen counts: the `mtspr` that starts it and the no-operations.
const COUNT: u64 = NOPS + 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Running,
    Suspended,
}

/// A state that a stretch is in.
#[derive(Clone, Copy)]
struct State {
    name: &'static str,
    /// MSR[HV, PR, TA, PMM], and TM where there is a transaction.
    msr: u64,
    run: bool,
    transaction: Transaction,
}

impl State {
    fn has(&self, bit: u64) -> bool {
        self.msr & bit != 0
    }

    /// Whether MSR[HV, PR] are these.
    fn is(&self, hypervisor: bool, problem: bool) -> bool {
        (self.has(msr::HV), self.has(msr::PR)) == (hypervisor, problem)
    }
}

const fn state(name: &'static str, msr: u64) -> State {
    State { name, msr, run: true, transaction: Transaction::None }
}

const STATES: [State; 12] = [
    state("hypervisor", msr::HV),
    state("privileged", 0),
    state("problem, HV=0", msr::PR),
    state("problem, HV=1", msr::HV | msr::PR),
    state("hypervisor, PMM=1", msr::HV | msr::PMM),
    state("problem, PMM=1", msr::PR | msr::PMM),
    state("hypervisor, TA=1", msr::HV | msr::TA),
    state("problem, TA=1", msr::PR | msr::TA),
    State { run: false, ..state("hypervisor, RUN=0", msr::HV) },
    State { run: false, ..state("problem, RUN=0", msr::PR) },
    State { transaction: Transaction::Running, ..state("hypervisor, TS=10", msr::HV | msr::TM) },
    State { transaction: Transaction::Suspended, ..state("privileged, TS=01", msr::TM) },
];

/// When a freeze holds.
type Holds = fn(&State) -> bool;
/// A freeze of MMCR0: its name, how it is set, when it holds.
type Whole = (&'static str, fn(&mut Mmcr0), Holds);
/// A freeze of MMCR2: its name, how it is set for one counter, when it holds.
type Single = (&'static str, fn(&mut CounterFreezes), Holds);

/// The freezes of MMCR0, all six counters.
const WHOLE: [Whole; 15] = [
    ("no freeze", |_| {}, |_| false),
    ("FC", |m| m.set_fc(true), |_| true),
    ("FCS", |m| m.set_fcs(true), |s| s.is(false, false)),
    ("FCP", |m| m.set_fcp(true), |s| s.has(msr::PR)),
    ("FCPC", |m| m.set_fcpc(true), |s| s.is(false, true)),
    (
        "FCP, FCPC",
        |m| {
            m.set_fcp(true);
            m.set_fcpc(true);
        },
        |s| s.is(true, true),
    ),
    ("FCH", |m| m.set_fch(true), |s| s.is(true, false)),
    ("FCM0", |m| m.set_fcm0(true), |s| !s.has(msr::PMM)),
    ("FCM1", |m| m.set_fcm1(true), |s| s.has(msr::PMM)),
    ("FCTI", |m| m.set_fcti(true), |s| !s.has(msr::TA)),
    ("FCTA", |m| m.set_fcta(true), |s| s.has(msr::TA)),
    ("FCNTS", |m| m.set_fcnts(true), |s| s.transaction == Transaction::None),
    ("FCTM", |m| m.set_fctm(true), |s| s.transaction == Transaction::Running),
    ("FCSS", |m| m.set_fcss(true), |s| s.transaction == Transaction::Suspended),
    // Two at once: each freezes.
    (
        "FCS, FCM1",
        |m| {
            m.set_fcs(true);
            m.set_fcm1(true);
        },
        |s| s.is(false, false) || s.has(msr::PMM),
    ),
];

/// The freezes of MMCR2, of one counter each; FCnWAIT is apart.
const SINGLE: [Single; 9] = [
    ("FCnS", |c| c.set_fcs(true), |s| s.is(false, false)),
    ("FCnP", |c| c.set_fcp(true), |s| s.has(msr::PR)),
    ("FCnPC", |c| c.set_fcpc(true), |s| s.is(false, true)),
    (
        "FCnP, FCnPC",
        |c| {
            c.set_fcp(true);
            c.set_fcpc(true);
        },
        |s| s.is(true, true),
    ),
    ("FCnH", |c| c.set_fch(true), |s| s.is(true, false)),
    ("FCnM0", |c| c.set_fcm0(true), |s| !s.has(msr::PMM)),
    ("FCnM1", |c| c.set_fcm1(true), |s| s.has(msr::PMM)),
    ("FCnTI", |c| c.set_fcti(true), |s| !s.has(msr::TA)),
    ("FCnTA", |c| c.set_fcta(true), |s| s.has(msr::TA)),
];

/// MMCR2 with the freezes of one counter after the other.
fn mmcr2(freezes: impl Fn(u16, &mut CounterFreezes)) -> u64 {
    (1..=COUNTERS).fold(0, |value, n| {
        let mut own = CounterFreezes::default();
        freezes(n, &mut own);
        // Nine bits each, PMC1's the uppermost.
        value | own.bits() >> (9 * (n - 1))
    })
}

/// Counts a stretch in `state` and checks what each counter has. PMCC=10 is added to MMCR0.
fn row(k: &mut Kernel, label: &str, state: &State, go: u64, right: [u64; 6]) {
    let go = go | mmcr0(|m| m.set_pmcc(0b10));
    run_latch(k, state.run);
    k.a.load(GO, go);
    k.a.load(HALT, go | FC);
    k.a.mtspr(spr::MMCR0, HALT);
    clear_counters(k);
    in_state(k, state.msr, |k| {
        if state.transaction != Transaction::None {
            k.a.tbegin_dot();
        }
        if state.transaction == Transaction::Suspended {
            k.a.tsuspend_dot();
        }
        // Of a write in problem state only FC, PMAE and PMAO take effect; the other bits are there already.
        k.a.mtspr(spr::MMCR0 - spr::PRIVILEGED, GO);
        nops(k, NOPS);
        k.a.mtspr(spr::MMCR0 - spr::PRIVILEGED, HALT);
        if state.transaction == Transaction::Suspended {
            k.a.tresume_dot();
        }
        if state.transaction != Transaction::None {
            k.a.tend_dot();
        }
    });
    check_counters(k, &format!("{label}: {}", state.name), right);
}

/// What the six counters have if nothing freezes them: PMC5 and PMC6 follow the run latch.
fn free(state: &State) -> [u64; 6] {
    let run = if state.run { COUNT } else { 0 };
    [COUNT, COUNT, COUNT, COUNT, run, run]
}

fn whole(k: &mut Kernel) {
    for (name, set, holds) in WHOLE {
        for state in &STATES {
            row(k, name, state, mmcr0(set), if holds(state) { [0; 6] } else { free(state) });
        }
    }
}

/// The freezes that do not stop all six counters alike.
fn parts(k: &mut Kernel) {
    for state in &STATES {
        let [.., five, six] = free(state);
        row(k, "FC1-4", state, mmcr0(|m| m.set_fc1_4(true)), [0, 0, 0, 0, five, six]);
        row(k, "FC5-6", state, mmcr0(|m| m.set_fc5_6(true)), [COUNT, COUNT, COUNT, COUNT, 0, 0]);
        // PM_CYC counts without the run latch too.
        let waits = if state.run { COUNT } else { 0 };
        row(k, "FCWAIT", state, mmcr0(|m| m.set_fcwait(true)), [waits, waits, waits, COUNT, waits, waits]);
        row(k, "CC56RUN", state, mmcr0(|m| m.set_cc56run(true)), [COUNT; 6]);
        k.write(spr::MMCR2, mmcr2(|_, own| own.set_fcwait(true)));
        row(k, "FCnWAIT of all", state, 0, [waits, waits, waits, COUNT, waits, waits]);
        k.write(spr::MMCR2, 0);
    }
}

fn single(k: &mut Kernel) {
    for (name, set, holds) in SINGLE {
        // Each counter is once frozen next to one that is not.
        for odd in [true, false] {
            let frozen = |n: u16| (n % 2 == 1) == odd;
            k.write(
                spr::MMCR2,
                mmcr2(|n, own| {
                    if frozen(n) {
                        set(own);
                    }
                }),
            );
            // MMCR2 does not depend on transactions.
            for state in STATES.iter().filter(|state| state.run && state.transaction == Transaction::None) {
                let mut right = free(state);
                for (n, count) in (1..).zip(&mut right) {
                    if frozen(n) && holds(state) {
                        *count = 0;
                    }
                }
                let which = if odd { "1, 3, 5" } else { "2, 4, 6" };
                row(k, &format!("{name} of {which}"), state, 0, right);
            }
        }
    }
    k.write(spr::MMCR2, 0);
}

/// One pass through all privileges without a freeze in between: each programmable counter counts in one of them, PMC5 in all.
fn journey(k: &mut Kernel) {
    k.write(spr::MMCR1, super::counting::INSTRUCTIONS);
    k.write(
        spr::MMCR2,
        mmcr2(|n, own| {
            own.set_fch(matches!(n, 2..=4));
            own.set_fcs(matches!(n, 1 | 3 | 4));
            // Both problem states; that with HV=1; that with HV=0.
            own.set_fcp(matches!(n, 1..=3));
            own.set_fcpc(matches!(n, 3 | 4));
        }),
    );
    run_latch(k, true);
    counted(k, 0, |k| {
        in_state(k, 0, |k| nops(k, 7));
        in_state(k, msr::PR, |k| nops(k, 11));
        in_state(k, msr::HV, |k| nops(k, 3));
        in_state(k, msr::HV | msr::PR, |k| nops(k, 13));
        in_state(k, msr::PR, |k| nops(k, 2));
    });
    // The system calls belong to the states that they leave.
    check_counter(k, "the journey: privileged", 2, 7 + 1);
    check_counter(k, "the journey: problem, HV=0", 3, 11 + 1 + 2 + 1);
    check_counter(k, "the journey: problem, HV=1", 4, 13 + 1);
    k.a.mfspr(R4, pmc(1));
    k.a.addi(R4, R4, 8 + 15 + 14);
    k.a.mfspr(R3, pmc(5));
    k.a.mr(R7, R4);
    k.check_same("the journey: all are the sum of each", R3, R7);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    k.main();
    k.write(spr::MMCR1, SELECTION);
    k.write(spr::MMCR2, 0);
    whole(&mut k);
    parts(&mut k);
    single(&mut k);
    journey(&mut k);
    k.end_main();
    k.finish()
}
