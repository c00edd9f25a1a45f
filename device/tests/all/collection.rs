//! What the cores of a POWER9 machine post into memory: threads whose state changes, LDBAR, demand, saving, the calls that start and stop it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use vm_pmu::arch::memory::Memory;
use vm_pmu::arch::power9::spr;
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Reset, Signal};

/// MSR[HV], bit 3.
const HV: u64 = 1 << 60;
/// MSR[PR], bit 49.
const PR: u64 = 1 << 14;
/// CTRL[RUN], bit 63.
const RUN: u64 = 1;
/// LDBAR[0].
const ENABLE: u64 = 1 << 63;

const CORE: u64 = 0x10_0000;
const THREAD: u64 = 0x20_0000;
/// CPM_INST, CPM_CS_INST_USER, CPM_CS_INST_KERNEL, CPM_2THRD_NON_IDLE_INST.
const INST: u64 = 0x20;
const USER: u64 = 0x1020;
const KERNEL: u64 = 0x1820;
const TWO: u64 = 0x158;

/// Memory everywhere.
#[derive(Default)]
struct Cells(Mutex<BTreeMap<u64, u64>>);

impl Cells {
    fn at(&self, address: u64) -> u64 {
        self.0.lock().unwrap().get(&address).copied().unwrap_or(0)
    }
}

impl Memory for Cells {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        Ok(self.at(address))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.0.lock().unwrap().insert(address, value);
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        let mut cells = self.0.lock().unwrap();
        let cell = cells.entry(address).or_default();
        *cell = cell.wrapping_add(amount);
        Ok(())
    }
}

type Silent = fn(usize, u32);

fn machine(packages: usize, threads: usize) -> Machine<Silent> {
    fn ignore(_thread: usize, _counter: u32) {}
    Builder::new("power9").unwrap().packages(packages).threads(threads).build(ignore as Silent).unwrap()
}

fn retire(machine: &Machine<Silent>, thread: usize, instructions: u64) {
    machine.thread(thread).unwrap().totals().add(Signal::InstructionsRetired, instructions);
}

fn enter(machine: &Machine<Silent>, thread: usize, msr: u64, control: u64) {
    machine.thread(thread).unwrap().set_context(Context::power(msr, control));
}

/// The core of package 0, with its memory and its engine started.
fn start(machine: &Machine<Silent>) {
    let core = machine.collection(0).unwrap();
    core.init(CORE);
    core.start();
}

fn post(machine: &Machine<Silent>, memory: &Cells) {
    machine.collection(0).unwrap().post(memory).ok().unwrap();
}

#[test]
fn a_change_of_context_divides_what_is_counted() {
    let (machine, memory) = (machine(1, 1), Cells::default());
    start(&machine);
    retire(&machine, 0, 1024);
    enter(&machine, 0, PR, 0);
    retire(&machine, 0, 512);
    enter(&machine, 0, HV, 0);
    retire(&machine, 0, 512);
    post(&machine, &memory);
    assert_eq!([INST, USER, KERNEL].map(|cell| memory.at(CORE + cell)), [4, 1, 3]);
}

#[test]
fn what_happened_before_the_start_is_not_counted() {
    let (machine, memory) = (machine(1, 1), Cells::default());
    retire(&machine, 0, 5120);
    start(&machine);
    retire(&machine, 0, 512);
    post(&machine, &memory);
    assert_eq!(memory.at(CORE + INST), 1);
}

#[test]
fn a_core_adds_up_its_own_threads_and_no_others() {
    let (machine, memory) = (machine(2, 4), Cells::default());
    start(&machine);
    (0..8).for_each(|thread| retire(&machine, thread, 256));
    post(&machine, &memory);
    assert_eq!(memory.at(CORE + INST), 2);
}

#[test]
fn a_thread_that_writes_ldbar_posts_from_there_on() {
    let (machine, memory) = (machine(1, 2), Cells::default());
    start(&machine);
    let cpu = machine.thread(1).unwrap();
    retire(&machine, 1, 512);
    cpu.power().mtspr(spr::LDBAR, ENABLE | THREAD).unwrap();
    enter(&machine, 1, PR, 0);
    retire(&machine, 1, 1024);
    enter(&machine, 1, HV, 0);
    post(&machine, &memory);
    cpu.power().mtspr(spr::LDBAR, 0).unwrap();
    enter(&machine, 1, PR, 0);
    retire(&machine, 1, 512);
    post(&machine, &memory);
    assert_eq!([memory.at(THREAD + USER), memory.at(CORE + USER)], [2, 3]);
}

#[test]
fn a_reset_ends_what_ldbar_began() {
    let (machine, memory) = (machine(1, 1), Cells::default());
    start(&machine);
    let cpu = machine.thread(0).unwrap();
    cpu.power().mtspr(spr::LDBAR, ENABLE | THREAD).unwrap();
    enter(&machine, 0, PR, 0);
    retire(&machine, 0, 512);
    post(&machine, &memory);
    cpu.reset(Reset::Warm);
    enter(&machine, 0, PR, 0);
    retire(&machine, 0, 512);
    post(&machine, &memory);
    assert_eq!([memory.at(THREAD + USER), memory.at(CORE + USER)], [1, 2]);
}

/// Memory that is there only while it is open.
#[derive(Default)]
struct Shut {
    cells: Cells,
    open: std::cell::Cell<bool>,
}

impl Memory for Shut {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        self.cells.load(address)
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.cells.store(address, value)
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        if self.open.get() { self.cells.add(address, amount) } else { Err(address) }
    }
}

#[test]
fn what_memory_refuses_is_posted_when_memory_takes_it() {
    let (machine, memory) = (machine(1, 1), Shut::default());
    start(&machine);
    let core = machine.collection(0).unwrap();
    retire(&machine, 0, 512 + 511);
    assert!(core.post(&memory).refused != 0);
    memory.open.set(true);
    retire(&machine, 0, 1);
    assert_eq!(core.post(&memory).refused, 0);
    assert_eq!(memory.cells.at(CORE + INST), 2);
}

#[test]
fn what_memory_refuses_is_dropped_when_the_core_leaves_that_memory() {
    let (machine, memory) = (machine(1, 1), Shut::default());
    start(&machine);
    let core = machine.collection(0).unwrap();
    retire(&machine, 0, 512);
    core.post(&memory);
    core.init(2 * CORE);
    core.start();
    memory.open.set(true);
    core.post(&memory);
    assert_eq!([memory.cells.at(CORE + INST), memory.cells.at(2 * CORE + INST)], [0, 0]);
}

#[test]
fn the_run_latch_of_one_thread_divides_what_another_counts() {
    let (machine, memory) = (machine(1, 4), Cells::default());
    enter(&machine, 0, HV, RUN);
    start(&machine);
    retire(&machine, 0, 512);
    enter(&machine, 1, HV, RUN);
    retire(&machine, 0, 512);
    retire(&machine, 1, 512);
    enter(&machine, 2, HV, RUN);
    retire(&machine, 0, 512);
    post(&machine, &memory);
    assert_eq!(memory.at(CORE + TWO), 2);
}

#[test]
fn threads_report_what_is_posted_while_the_engine_runs() {
    let machine = machine(1, 2);
    let demands = || [0, 1].map(|thread| machine.thread(thread).unwrap().demand().wants(Signal::LoadsFromL3));
    let epochs = || [0, 1].map(|thread| machine.thread(thread).unwrap().epoch());
    let idle = epochs();
    assert_eq!(demands(), [false; 2]);
    start(&machine);
    let running = epochs();
    assert_eq!(demands(), [true; 2]);
    assert!(idle.iter().zip(running).all(|(before, after)| *before != after));
    machine.collection(0).unwrap().stop();
    assert_eq!(demands(), [false; 2]);
    assert!(running.iter().zip(epochs()).all(|(before, after)| *before != after));
}

#[test]
fn a_machine_restored_in_the_middle_posts_what_the_other_would_have() {
    let (machine, memory) = (machine(1, 2), Cells::default());
    start(&machine);
    machine.thread(1).unwrap().power().mtspr(spr::LDBAR, ENABLE | THREAD).unwrap();
    enter(&machine, 1, PR, 0);
    retire(&machine, 1, 700);
    let (threads, core) = (machine.states(), machine.collection(0).unwrap().state());

    let other = self::machine(1, 2);
    retire(&other, 1, 99_999);
    other.restore(&threads).unwrap();
    other.collection(0).unwrap().restore(&core);
    assert!(other.collection(0).unwrap().is_running());
    retire(&other, 1, 324);
    post(&other, &memory);
    // 700 + 324 = 1024, and the postings have not begun before.
    assert_eq!([memory.at(THREAD + USER), memory.at(CORE + USER), memory.at(CORE + KERNEL)], [2, 2, 0]);
}

#[test]
fn parts_that_post_nothing_have_no_collection() {
    for part in ["k8", "knl", "itanium", "montecito"] {
        let machine = Builder::new(part).unwrap().build(|_thread, _counter| {}).unwrap();
        assert!(machine.collection(0).is_none(), "{part}");
    }
    assert!(machine(1, 1).collection(1).is_none());
}

#[test]
fn nothing_is_lost_while_threads_run_in_parallel() {
    const ROUNDS: u64 = 2000;
    let (machine, memory) = (machine(1, 4), Cells::default());
    start(&machine);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let machine = &machine;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    retire(machine, thread, 3);
                    enter(machine, thread, if round % 2 == 0 { PR } else { HV }, RUN);
                }
            });
        }
        for _ in 0..200 {
            post(&machine, &memory);
        }
    });
    post(&machine, &memory);
    // 4 * 2000 * 3 = 24000 = 46 * 512 + 448.
    assert_eq!(memory.at(CORE + INST), 46);
}

#[cfg(feature = "memory")]
mod calls {
    use super::*;
    use vm_pmu::memory::{Outcome, Platform};

    const INIT: u64 = 149;
    const START: u64 = 150;
    const STOP: u64 = 151;

    fn platform() -> Platform {
        // Chip 1, cores 2 and 3, four threads each.
        Platform::new(Vec::new(), vec![0x108, 0x109, 0x10A, 0x10B, 0x10C, 0x10D, 0x10E, 0x10F]).unwrap()
    }

    #[test]
    fn a_call_is_about_the_core_of_its_pir() {
        let (machine, memory, platform) = (machine(2, 4), Cells::default(), platform());
        let call = |number, arguments| platform.call_with(&machine, number, arguments, &memory);
        assert_eq!(call(INIT, [2, CORE, 0x10D]), Some(Outcome::Success));
        assert_eq!(call(START, [2, 0x10E, 0]), Some(Outcome::Success));
        assert_eq!([0, 1].map(|core| machine.collection(core).unwrap().is_running()), [false, true]);
        (0..8).for_each(|thread| retire(&machine, thread, 512));
        assert_eq!(call(STOP, [2, 0x10C, 0]), Some(Outcome::Success));
        assert_eq!(memory.at(CORE + INST), 4);
        assert!(!machine.collection(1).unwrap().is_running());
    }

    #[test]
    fn an_unknown_pir_is_a_wrong_parameter() {
        let (machine, memory, platform) = (machine(2, 4), Cells::default(), platform());
        for (number, arguments) in [(INIT, [2, CORE, 0]), (INIT, [3, CORE, 0]), (START, [2, 0, 0]), (STOP, [3, 0, 0])] {
            assert_eq!(platform.call_with(&machine, number, arguments, &memory), Some(Outcome::Parameter), "{number} {arguments:?}");
        }
        assert_eq!(machine.collection(0).unwrap().memory(), None);
    }

    #[test]
    fn traces_are_started_and_stopped_by_the_same_engine() {
        let (machine, memory, platform) = (machine(2, 4), Cells::default(), platform());
        let call = |number, arguments| platform.call_with(&machine, number, arguments, &memory);
        let running = || machine.collection(0).unwrap().is_running();
        assert_eq!(call(START, [3, 0x108, 0]), Some(Outcome::Success));
        assert!(running());
        assert_eq!(call(INIT, [3, 0, 0x108]), Some(Outcome::Success));
        assert!(!running());
    }

    #[test]
    fn a_machine_without_such_cores_is_a_hardware_error() {
        let (k8, memory) = (Builder::new("k8").unwrap().build(|_thread, _counter| {}).unwrap(), Cells::default());
        let platform = Platform::new(Vec::new(), vec![0]).unwrap();
        assert_eq!(platform.call_with(&k8, START, [2, 0, 0], &memory), Some(Outcome::Hardware));
        assert_eq!(platform.call(START, [2, 0, 0], &memory), Some(Outcome::Success), "who has no cores to tell of");
    }
}
