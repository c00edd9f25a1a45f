//! POWER9 on a machine: what the threads of a core share, levels that stay raised, and the instructions that reach the registers.

use std::sync::Mutex;

use vm_pmu::arch::power9::{Mmcr0, spr};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Fault, Lines, Signal};

/// MSR[HV], bit 3.
const HV: u64 = 1 << 60;
/// MSR[PR], bit 49.
const PR: u64 = 1 << 14;
/// CTRL[RUN], bit 63.
const RUN: u64 = 1;

/// What was told of the levels, in order.
#[derive(Default)]
struct Told(Mutex<Vec<(usize, Lines)>>);

impl InterruptLine for Told {
    fn raise(&self, _thread: usize, _counter: u32) {}

    fn lines(&self, thread: usize, lines: Lines) {
        self.0.lock().unwrap().push((thread, lines));
    }
}

fn cores(packages: usize, threads: usize) -> Machine<Told> {
    Builder::new("power9").unwrap().packages(packages).threads(threads).build(Told::default()).unwrap()
}

fn take(machine: &Machine<Told>) -> Vec<(usize, Lines)> {
    std::mem::take(&mut *machine.line().0.lock().unwrap())
}

const ASKS: Lines = Lines { interrupt: true, event_based_branch: false };
const QUIET: Lines = Lines { interrupt: false, event_based_branch: false };

/// Runs, in hypervisor state; PMC5 counts.
fn count_run_instructions(machine: &Machine<Told>, number: usize) {
    let thread = machine.thread(number).unwrap();
    thread.set_context(Context::power(HV, RUN));
    thread.power().mtspr(spr::MMCR0, 0).unwrap();
}

#[test]
fn a_core_has_one_mmcrc_and_freezes_each_of_its_threads_by_it() {
    let machine = cores(2, 4);
    (0..8).for_each(|number| count_run_instructions(&machine, number));
    let feed = || {
        for number in 0..8 {
            machine.thread(number).unwrap().totals().add(Signal::InstructionsRetired, 1);
        }
    };
    feed();
    // GLOB_FRZ_PMC_2 is bit 62: thread 2 of the core of thread 1.
    machine.thread(1).unwrap().power().mtspr(spr::MMCRC, 1 << 1).unwrap();
    feed();
    let counts: Vec<u64> = (0..8).map(|number| machine.thread(number).unwrap().power().mfspr(791).unwrap()).collect();
    assert_eq!(counts, [2, 2, 1, 2, 2, 2, 2, 2]);
    let mmcrc: Vec<u64> = (0..8).map(|number| machine.thread(number).unwrap().power().mfspr(spr::MMCRC).unwrap()).collect();
    assert_eq!(mmcrc, [2, 2, 2, 2, 0, 0, 0, 0]);
}

#[test]
fn what_a_core_shares_is_the_same_after_a_restore() {
    let machine = cores(1, 2);
    count_run_instructions(&machine, 0);
    machine.thread(1).unwrap().power().mtspr(spr::MMCRC, 1 << 3).unwrap();
    let next = cores(1, 2);
    next.restore(&machine.states()).unwrap();
    next.thread(0).unwrap().totals().add(Signal::InstructionsRetired, 1);
    assert_eq!(next.thread(0).unwrap().power().mfspr(791), Ok(0), "GLOB_FRZ_PMC_0 is bit 60");
    assert_eq!(next.thread(1).unwrap().power().mfspr(spr::MMCRC), Ok(1 << 3));
    assert_eq!(next.states(), machine.states());
}

#[test]
fn the_level_holds_until_the_guest_clears_pmao() {
    let machine = cores(1, 1);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::power(HV, RUN));
    thread.power().mtspr(791, 0x8000_0000 - 1).unwrap();
    let mut mmcr0 = Mmcr0::default();
    mmcr0.set_pmae(true);
    mmcr0.set_pmcjce(true);
    mmcr0.set_fcece(true);
    thread.power().mtspr(spr::MMCR0, mmcr0.bits()).unwrap();
    assert_eq!((thread.lines(), take(&machine)), (QUIET, vec![]));
    thread.totals().add(Signal::InstructionsRetired, 1);
    assert!(thread.reached(Signal::InstructionsRetired));
    thread.service();
    assert_eq!((thread.lines(), take(&machine)), (ASKS, vec![(0, ASKS)]));
    // Looking changes nothing; clearing PMAO does. FC keeps the counter still.
    let shown = Mmcr0::written(thread.power().mfspr(spr::MMCR0).unwrap());
    assert!(shown.pmao() && shown.fc() && take(&machine).is_empty());
    thread.power().mtspr(spr::MMCR0, 1 << 31).unwrap();
    assert_eq!((thread.lines(), take(&machine)), (QUIET, vec![(0, QUIET)]));
}

#[test]
fn a_restored_machine_has_the_levels_of_the_saved_one() {
    let machine = cores(1, 1);
    let quiet = machine.states();
    // Software may raise PMAO itself; FC stays set.
    machine.thread(0).unwrap().power().mtspr(spr::MMCR0, 1 << 31 | 1 << 7).unwrap();
    let asks = machine.states();
    take(&machine);

    let next = cores(1, 1);
    next.restore(&asks).unwrap();
    assert_eq!((next.thread(0).unwrap().lines(), take(&next).last().copied()), (ASKS, Some((0, ASKS))));
    next.restore(&quiet).unwrap();
    assert_eq!((next.thread(0).unwrap().lines(), take(&next).last().copied()), (QUIET, Some((0, QUIET))));
}

#[test]
fn a_reset_thread_still_knows_which_others_run() {
    let machine = cores(1, 2);
    count_run_instructions(&machine, 0);
    let second = machine.thread(1).unwrap();
    second.reset(vm_pmu::Reset::Warm);
    let running = |number: usize| match machine.thread(number).unwrap().state() {
        vm_pmu::State::Power9(state) => state.shared.running,
        _ => panic!("another part"),
    };
    assert_eq!((running(0), running(1)), (0b01, 0b01));
    second.set_context(Context::power(HV, RUN));
    assert_eq!((running(0), running(1)), (0b11, 0b11));
}

#[test]
fn the_branch_history_and_the_match_array_have_their_own_instructions() {
    let machine = cores(1, 1);
    let thread = machine.thread(0).unwrap();
    assert_eq!(thread.instruction_match(), None);
    let epoch = thread.epoch();
    thread.power().mtimc(0xFC00_0000_7C00_0000).unwrap();
    assert_eq!((thread.power().mfimc(), thread.instruction_match()), (Ok(0xFC00_0000_7C00_0000), Some((0x7C00_0000, 0xFC00_0000))));
    assert_ne!(thread.epoch(), epoch);
    assert_eq!((thread.power().mfbhrbe(0), thread.power().clrbhrb()), (Ok(0), Ok(())));
    // Problem state: BHRBA is 0.
    thread.set_context(Context::power(PR, RUN));
    assert!(matches!(thread.power().mfbhrbe(0), Err(Fault::FacilityUnavailable(_))));
}
