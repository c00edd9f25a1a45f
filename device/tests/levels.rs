//! Counters that privilege stops and lets go on: at which event they overflow, and what of the context must be told.

use vm_pmu::arch::power9::spr;
use vm_pmu::irq::Flags;
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Signal};

const PERIOD: u64 = 50_000;

/// POWER: problem state below the hypervisor, and privileged state.
const PROBLEM: u64 = 1 << 14;
const PRIVILEGED: u64 = 0;

fn k8(select: u64) -> Machine<Flags> {
    let machine = Builder::new("k8").unwrap().build(Flags::new(1));
    let thread = machine.thread(0).unwrap();
    thread.wrmsr(0xC001_0004, 0u64.wrapping_sub(PERIOD)).unwrap();
    thread.wrmsr(0xC001_0000, select).unwrap();
    machine
}

/// PMC2 counts completed instructions up to an alert, with these freezes of MMCR0 beside PMAE, FCECE and PMCjCE.
fn power9(freezes: u64) -> Machine<Flags> {
    let machine = Builder::new("power9").unwrap().build(Flags::new(1));
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::power(PRIVILEGED, 1));
    thread.mtspr(spr::MMCR1, 0x02 << 16).unwrap();
    thread.mtspr(spr::PMC1 + 1, 0x8000_0000 - PERIOD).unwrap();
    thread.mtspr(spr::MMCR0, 0x0600_4000 | freezes).unwrap();
    // PMC1-4 stand still in the cycle after a write of MMCR1.
    thread.totals().add(Signal::Cycles, 1);
    thread.service();
    machine
}

/// Executes `instructions` at the two levels by turns, for as long as `stays` says. Returns after how many at the first of them the PMU asked, and how
/// often somebody looked.
fn until_asked(machine: &Machine<Flags>, levels: [Context; 2], mut stays: impl FnMut(u64) -> u64, asks: impl Fn() -> bool) -> (u64, u64) {
    let thread = machine.thread(0).unwrap();
    let (mut counted, mut looks) = (0, 0);
    for stay in 0.. {
        let level = (stay % 2) as usize;
        thread.set_context(levels[level]);
        for _ in 0..stays(stay) {
            counted += u64::from(level == 0);
            thread.totals().add(Signal::InstructionsRetired, 1);
            thread.totals().add(Signal::Cycles, 1);
            if thread.due() {
                looks += 1;
                thread.check();
            }
            if asks() {
                return (counted, looks);
            }
        }
    }
    unreachable!("it asks some time")
}

/// Stays of these lengths, again and again.
fn cycling(lengths: &'static [u64]) -> impl FnMut(u64) -> u64 {
    move |stay| lengths[stay as usize % lengths.len()]
}

const STAYS: [&[u64]; 4] = [&[1, 1], &[300, 700], &[5000, 1, 1, 9000], &[40_000, 60_000]];

#[test]
fn a_counter_of_the_user_level_overflows_at_its_event_however_often_levels_change() {
    for stays in STAYS {
        // Retired instructions, INT, EN, USR: other levels do not count.
        let machine = k8(0x0051_00C0);
        let levels = [3, 0].map(|cpl| Context::x86(cpl, 0x202, 0));
        let (counted, looks) = until_asked(&machine, levels, cycling(stays), || machine.line().take(0));
        assert_eq!(counted, PERIOD, "stays of {stays:?}");
        assert!(looks < 2000, "{looks} looks with stays of {stays:?}");
    }
}

#[test]
fn a_counter_of_problem_state_turns_negative_at_its_event_however_often_states_change() {
    for stays in STAYS {
        // FCS and FCH.
        let machine = power9(1 << 30 | 1);
        let levels = [PROBLEM, PRIVILEGED].map(|msr| Context::power(msr, 1));
        let thread = machine.thread(0).unwrap();
        let (counted, looks) = until_asked(&machine, levels, cycling(stays), || thread.lines().interrupt);
        assert_eq!(counted, PERIOD, "stays of {stays:?}");
        assert!(looks < 2000, "{looks} looks with stays of {stays:?}");
    }
}

#[test]
fn a_far_deadline_stays_while_its_counter_stands_still_and_goes_when_it_is_reached() {
    let machine = k8(0x0051_00C8);
    let thread = machine.thread(0).unwrap();
    let distance = || thread.deadlines().distance(Signal::NearReturns, thread.totals());
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    assert_eq!(distance(), PERIOD);
    thread.totals().add(Signal::NearReturns, PERIOD);
    thread.service();
    assert_eq!(distance(), u64::MAX);
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(distance(), PERIOD);
}

#[test]
fn a_counter_written_while_it_stands_still_waits_for_its_new_overflow() {
    let machine = k8(0x0051_00C8);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    thread.wrmsr(0xC001_0004, 0u64.wrapping_sub(7)).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(thread.deadlines().distance(Signal::NearReturns, thread.totals()), 7);
}

#[test]
fn what_no_counter_depends_on_need_not_be_told() {
    let sensitivity = |machine: &Machine<Flags>| machine.thread(0).unwrap().sensitivity().load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(sensitivity(&k8(0x0053_00C0)), 0, "every level counts");
    assert_eq!(sensitivity(&k8(0x0051_00C0)), u64::MAX, "CPL is no bit of RFLAGS");
    let (external, problem) = (1 << 15, 1 << 14);
    assert_eq!(sensitivity(&power9(1 << 30)) & (external | problem), problem);
}

#[test]
fn two_numbers_add_up_to_the_epoch() {
    let machine = k8(0x0053_00C0);
    let thread = machine.thread(0).unwrap();
    let sum = || thread.epochs().map(|cell| cell.load(std::sync::atomic::Ordering::Acquire)).into_iter().fold(0, u32::wrapping_add);
    assert_eq!(sum(), thread.epoch());
    thread.wrmsr(0xC001_0001, 0x0053_00E0).unwrap(); // a northbridge event: the package follows it
    assert_eq!(sum(), thread.epoch());
}
