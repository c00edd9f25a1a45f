//! What cores and threads post, by values worked out from the rules of `docs/notes/power9-nest.md`, N28 to N31 and N40 to N49.

extern crate std;

use core::cell::{Cell, RefCell};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

use super::*;
use crate::access::{Address, Fault};
use crate::feed::{Context, Lone, Signal};
use crate::memory::Memory;
use crate::model::{Model, Shared};
use crate::power9::nest::Passed;
use crate::power9::{Power9, Revision, spr};

const CORE_MEMORY: u64 = 0x10_0000;
const THREAD_MEMORY: u64 = 0x20_0000;

const PCYC: u64 = 0x18;
const INST: u64 = 0x20;
const NON_IDLE_INST: u64 = 0x28;
const TWO_NON_IDLE_INST: u64 = 0x158;
const CS_INST: u64 = 0x820;
const CS_INST_USER: u64 = 0x1020;
const CS_INST_KERNEL: u64 = 0x1820;
const FROM_L4_LDATA: u32 = 0xD58;

/// Memory everywhere, which remembers what was added where.
#[derive(Debug, Default)]
struct Recorder {
    cells: RefCell<BTreeMap<u64, u64>>,
    refuses: Cell<bool>,
}

impl Recorder {
    fn at(&self, address: u64) -> u64 {
        self.cells.borrow().get(&address).copied().unwrap_or(0)
    }

    fn core(&self, offset: u64) -> u64 {
        self.at(CORE_MEMORY + offset)
    }

    fn thread(&self, offset: u64) -> u64 {
        self.at(THREAD_MEMORY + offset)
    }

    fn is_empty(&self) -> bool {
        self.cells.borrow().is_empty()
    }
}

impl Memory for Recorder {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        Ok(self.at(address))
    }

    fn store(&self, address: u64, _value: u64) -> Result<(), u64> {
        Err(address)
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        if self.refuses.get() {
            return Err(address);
        }
        let mut cells = self.cells.borrow_mut();
        let cell = cells.entry(address).or_default();
        *cell = cell.wrapping_add(amount);
        Ok(())
    }
}

fn totals(threads: &[Lone; THREADS], thread: usize) -> Option<&Totals> {
    Some(&threads.get(thread)?.totals)
}

/// A core whose engine runs, with memory of its own, and its threads.
struct Core {
    collection: Collection,
    threads: [Lone; THREADS],
    memory: Recorder,
}

impl Core {
    /// All threads in hypervisor state with the run latch off.
    fn new() -> Core {
        let mut collection = Collection::new();
        collection.init(CORE_MEMORY, &|_| None);
        collection.start();
        let mut core = Core { collection, threads: core::array::from_fn(|_| Lone::new()), memory: Recorder::default() };
        (0..THREADS).for_each(|thread| core.follow(thread, HYPERVISOR));
        core
    }

    fn follow(&mut self, thread: usize, state: ThreadState) {
        self.collection.follow(thread, state, &self.threads[thread].totals);
    }

    fn retire(&self, thread: usize, instructions: u64) {
        self.threads[thread].totals.add(Signal::InstructionsRetired, instructions);
    }

    fn post(&mut self) -> Passed<u64> {
        self.collection.post(&|thread| totals(&self.threads, thread), &self.memory)
    }

    fn init(&mut self, address: u64) {
        self.collection.init(address, &|thread| totals(&self.threads, thread));
    }

    fn stop(&mut self) {
        self.collection.stop(&|thread| totals(&self.threads, thread));
    }

    /// Replaces the collection by one that was saved and restored.
    fn restore(&mut self) {
        let saved = self.collection.state(&|thread| totals(&self.threads, thread));
        self.collection = Collection::from_state(&saved, &|thread| totals(&self.threads, thread));
    }
}

const FOUR: Shared = Shared { register: 0, thread: 0, threads: 4, running: 0, user: 0 };
const HYPERVISOR: ThreadState = ThreadState { machine_state: 1 << 60, control: 0, ldbar: Ldbar::of(0), shared: FOUR };
const PROBLEM: ThreadState = ThreadState { machine_state: 1 << 14, ..HYPERVISOR };

/// The run latch of this thread is on, and those of `running`.
const fn running(state: ThreadState, running: u32) -> ThreadState {
    ThreadState { control: 1, shared: Shared { running, ..FOUR }, ..state }
}

fn with_memory(state: ThreadState, ldbar: u64) -> ThreadState {
    ThreadState { ldbar: Ldbar::written(ldbar), ..state }
}

/// LDBAR\[0].
const ENABLE: u64 = 1 << 63;
/// LDBAR\[1].
const TRACE: u64 = 1 << 62;

#[test]
fn the_tables_have_every_event_once_in_the_order_of_the_offsets() {
    assert_eq!((Posts::Core.rows().len(), Posts::Thread.rows().len()), (CORE_EVENTS, THREAD_EVENTS));
    for rows in [Posts::Core.rows(), Posts::Thread.rows()] {
        assert!(rows.windows(2).all(|pair| pair[0].select() < pair[1].select()));
        assert!(rows.iter().all(|row| u64::from(row.select()) < SIZE && row.select() % 8 == 0));
    }
}

#[test]
fn a_thread_posts_what_its_core_posts_at_the_same_offset() {
    let of = |unit: &'static str| event::POWER9.entries.iter().filter(move |entry| entry.unit == unit);
    assert_eq!(of("thread-imc").count(), THREAD_EVENTS);
    for entry in of("thread-imc") {
        let same = of("core-imc").find(|other| other.offset == entry.offset);
        assert_eq!(same.map(|other| (other.name, other.signals)), Some((entry.name, entry.signals)), "{}", entry.name);
    }
}

#[test]
fn a_cell_grows_by_one_for_512_and_the_rest_waits() {
    let mut core = Core::new();
    core.retire(0, 1300);
    core.post();
    // 1300 = 2 * 512 + 276.
    assert_eq!(core.memory.core(INST), 2);
    core.retire(0, 235);
    core.post();
    assert_eq!(core.memory.core(INST), 2, "511 wait");
    core.retire(0, 1);
    core.post();
    assert_eq!(core.memory.core(INST), 3);
}

#[test]
fn the_cells_of_a_core_add_up_its_threads() {
    let mut core = Core::new();
    for thread in 0..4 {
        core.retire(thread, 128);
        core.threads[thread].totals.add(Signal::Cycles, 1024);
    }
    core.post();
    assert_eq!((core.memory.core(INST), core.memory.core(PCYC)), (1, 8));
}

#[test]
fn what_happened_before_a_change_of_state_belongs_to_the_state_before() {
    let mut core = Core::new();
    core.retire(0, 1024);
    core.follow(0, PROBLEM);
    core.retire(0, 512);
    core.follow(0, HYPERVISOR);
    core.retire(0, 512);
    core.post();
    assert_eq!([INST, CS_INST, CS_INST_USER, CS_INST_KERNEL].map(|offset| core.memory.core(offset)), [4, 4, 1, 3]);
}

#[test]
fn the_four_privilege_states_have_a_cell_each() {
    let mut core = Core::new();
    // MSR[HV] is bit 3, MSR[PR] bit 49.
    for (hv, pr, amount) in [(1, 0, 512), (0, 0, 1024), (0, 1, 1536), (1, 1, 2048)] {
        core.follow(0, running(ThreadState { machine_state: hv << 60 | pr << 14, ..HYPERVISOR }, 1));
        core.retire(0, amount);
    }
    core.post();
    // CPM_MSR_HV_INST, CPM_MSR_PRIV_INST, CPM_MSR_PROB_INST, CPM_MSR_AJUNCT_INST.
    assert_eq!([0x698, 0x618, 0x658, 0x6D8].map(|offset| core.memory.core(offset)), [1, 2, 3, 4]);
}

#[test]
fn only_what_happens_with_the_run_latch_on_is_not_idle() {
    let mut core = Core::new();
    core.retire(0, 512);
    core.follow(0, running(HYPERVISOR, 0b01));
    core.retire(0, 1024);
    core.follow(0, running(HYPERVISOR, 0b11));
    core.retire(0, 512);
    core.post();
    assert_eq!([INST, NON_IDLE_INST, TWO_NON_IDLE_INST].map(|offset| core.memory.core(offset)), [4, 3, 1]);
}

#[test]
fn a_thread_posts_to_its_own_memory_while_its_ldbar_is_enabled() {
    let mut core = Core::new();
    core.follow(0, PROBLEM);
    core.retire(0, 512);
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    core.retire(0, 1024);
    core.post();
    assert_eq!((core.memory.thread(CS_INST_USER), core.memory.core(CS_INST_USER)), (2, 3));
    // What no state qualifies is the core's alone.
    assert_eq!(core.memory.thread(INST), 0);
}

#[test]
fn a_thread_that_traces_or_is_not_enabled_posts_no_counts() {
    for ldbar in [0, TRACE, ENABLE | TRACE] {
        let mut core = Core::new();
        core.follow(0, with_memory(PROBLEM, ldbar | THREAD_MEMORY));
        core.retire(0, 5120);
        core.post();
        assert_eq!((core.memory.thread(CS_INST_USER), core.memory.core(CS_INST_USER)), (0, 10), "{ldbar:#x}");
    }
}

#[test]
fn each_thread_has_its_own_memory() {
    let mut core = Core::new();
    for thread in 0..4 {
        core.follow(thread, with_memory(PROBLEM, ENABLE | (THREAD_MEMORY + SIZE * thread as u64)));
        core.retire(thread, 512 * (thread as u64 + 1));
    }
    core.post();
    assert_eq!([0, 1, 2, 3].map(|thread| core.memory.thread(SIZE * thread + CS_INST_USER)), [1, 2, 3, 4]);
}

#[test]
fn counts_wait_while_ldbar_is_disabled_and_go_on_at_the_same_address() {
    let mut core = Core::new();
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    core.retire(0, 600);
    core.follow(0, PROBLEM);
    core.retire(0, 9999);
    core.post();
    assert_eq!(core.memory.thread(CS_INST_USER), 0);
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    core.retire(0, 424);
    core.post();
    // 600 + 424 = 1024.
    assert_eq!(core.memory.thread(CS_INST_USER), 2);
}

#[test]
fn what_was_not_posted_does_not_go_to_another_address() {
    let mut core = Core::new();
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    core.retire(0, 5000);
    core.follow(0, with_memory(PROBLEM, ENABLE | (THREAD_MEMORY + SIZE)));
    core.retire(0, 512);
    core.post();
    assert_eq!([0, SIZE].map(|page| core.memory.thread(page + CS_INST_USER)), [0, 1]);
}

#[test]
fn a_stopped_engine_neither_counts_nor_posts() {
    let mut core = Core::new();
    core.retire(0, 700);
    core.stop();
    core.retire(0, 5000);
    core.follow(0, PROBLEM);
    assert_eq!(core.post().slots, 0);
    assert!(core.memory.is_empty());
    core.collection.start();
    core.follow(0, HYPERVISOR);
    core.retire(0, 324);
    core.post();
    // 700 + 324 = 1024.
    assert_eq!(core.memory.core(INST), 2);
}

#[test]
fn starting_twice_loses_nothing() {
    let mut core = Core::new();
    core.retire(0, 512);
    core.collection.start();
    core.post();
    assert_eq!(core.memory.core(INST), 1);
}

#[test]
fn pdbar_keeps_the_bits_of_an_address_and_stops_the_engine() {
    let mut core = Core::new();
    core.retire(0, 5120);
    core.init(u64::MAX);
    assert_eq!(core.collection.memory(), Some(0x0003_FFFF_FFFF_E000));
    assert!(!core.collection.is_running());
    core.init(CORE_MEMORY);
    core.collection.start();
    core.follow(0, HYPERVISOR);
    core.post();
    assert!(core.memory.is_empty(), "what was counted before belongs to other memory");
}

#[test]
fn a_core_without_pdbar_posts_nothing_and_its_threads_do() {
    let mut core = Core::new();
    core.collection = Collection::new();
    core.collection.start();
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    core.retire(0, 512);
    core.post();
    let of_core = core.memory.cells.borrow().keys().filter(|address| **address < THREAD_MEMORY).count();
    assert_eq!((of_core, core.memory.thread(CS_INST_USER)), (0, 1));
}

#[test]
fn what_memory_refuses_is_kept() {
    let mut core = Core::new();
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    core.retire(0, 513);
    core.memory.refuses.set(true);
    let passed = core.post();
    // CPM_INST, CPM_CS_INST, CPM_CS_INST_USER, CPM_CS_PPC_DISP and its user cell; of the thread the two user cells.
    assert_eq!((passed.refused, passed.error), (7, Some(CORE_MEMORY + INST)));
    core.memory.refuses.set(false);
    core.retire(0, 511);
    core.post();
    assert_eq!((core.memory.core(INST), core.memory.thread(CS_INST_USER)), (2, 2));
}

#[test]
fn postings_come_at_their_interval_and_late_ones_are_one() {
    let mut core = Core::new();
    core.collection.set_interval(1000);
    core.retire(0, 512);
    let pass = |core: &mut Core, cycles| {
        let passed = core.collection.advance(cycles, &|thread| totals(&core.threads, thread), &core.memory);
        (passed.slots, passed.late, core.collection.until_posting())
    };
    assert_eq!(pass(&mut core, 999), (0, 0, 1));
    assert!(core.memory.is_empty());
    assert_eq!(pass(&mut core, 1), (1, 0, 1000));
    assert_eq!(core.memory.core(INST), 1);
    assert_eq!(pass(&mut core, 3500), (1, 2, 500));
    core.stop();
    assert_eq!(pass(&mut core, 5000), (0, 0, 500));
}

#[test]
fn what_no_signal_tells_is_injected_by_its_offset() {
    let mut core = Core::new();
    core.follow(0, with_memory(PROBLEM, ENABLE | THREAD_MEMORY));
    // CPM_CS_FROM_L4_LDATA and its user cell.
    assert!(core.collection.inject(0, FROM_L4_LDATA, 512));
    assert!(core.collection.inject(0, FROM_L4_LDATA + 0x800, 512));
    assert!(!core.collection.inject(0, 0x10, 512), "no event");
    core.post();
    assert_eq!([0xD58, 0x1558].map(|offset| core.memory.core(offset)), [1, 1]);
    assert_eq!([0xD58, 0x1558].map(|offset| core.memory.thread(offset)), [0, 1]);
}

#[test]
fn ldbar_is_for_the_hypervisor() {
    let thread = Lone::new();
    let address = Address::Spr(spr::LDBAR);
    let mut pmu = Power9::new(Revision::Dd23);
    for (msr, right) in [
        (1u64 << 60, Ok(0xCEFF_FFFF_FFFF_E000)),
        (0, Err(Fault::NoOperation)),
        (1 << 14, Err(Fault::PrivilegedInstruction)),
        (1 << 60 | 1 << 14, Err(Fault::PrivilegedInstruction)),
    ] {
        pmu.set_context(Context::power(msr, 0), &thread);
        assert_eq!(pmu.write(address, u64::MAX, &thread), right.map(|_| ()), "{msr:#x}");
        assert_eq!(pmu.read(address, &thread), right, "{msr:#x}");
    }
    let restored = Power9::from_state(&pmu.state(&thread), &thread);
    assert_eq!(restored.thread_state().ldbar.bits(), 0xCEFF_FFFF_FFFF_E000);
    pmu.reset(crate::model::Reset::Warm, &thread);
    assert_eq!(pmu.thread_state().ldbar.bits(), 0);
}

/// Something that happens to a core.
#[derive(Clone, Copy, Debug)]
enum Step {
    Retire(usize, u64),
    Stall(usize, u64),
    Follow(usize, ThreadState),
}

fn states() -> impl Strategy<Value = ThreadState> {
    // The bits that conditions ask for, and memory that stays the thread's own.
    (any::<u64>(), any::<bool>(), 0u32..16, any::<bool>()).prop_map(|(msr, run, others, enabled)| ThreadState {
        machine_state: msr,
        control: u64::from(run),
        ldbar: Ldbar::written(if enabled { ENABLE | THREAD_MEMORY } else { 0 }),
        shared: Shared { running: others, ..FOUR },
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..THREADS, 0u64..2000).prop_map(|(thread, amount)| Step::Retire(thread, amount)),
        (0..THREADS, 0u64..2000).prop_map(|(thread, amount)| Step::Stall(thread, amount)),
        (0..THREADS, states()).prop_map(|(thread, state)| Step::Follow(thread, state)),
    ];
    prop::collection::vec(step, 0..40)
}

/// Lets the steps happen, each in `parts` parts, with a posting or a restore where `between` says so, and posts what is left.
fn run(steps: &[Step], parts: u64, between: impl Fn(usize, &mut Core)) -> BTreeMap<u64, u64> {
    let mut core = Core::new();
    let in_parts = |amount: u64| (0..parts).map(move |part| if part == 0 { amount - amount / parts * (parts - 1) } else { amount / parts });
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Retire(thread, amount) => in_parts(amount).for_each(|amount| core.retire(thread, amount)),
            Step::Stall(thread, amount) => in_parts(amount).for_each(|amount| {
                core.threads[thread].totals.add(Signal::Cycles, amount);
                core.threads[thread].totals.add(Signal::StallCycles, amount);
            }),
            Step::Follow(thread, state) => core.follow(thread, state),
        }
        between(number, &mut core);
    }
    // A disabled LDBAR holds back what it has: all are enabled for the last posting.
    (0..THREADS).for_each(|thread| core.follow(thread, with_memory(HYPERVISOR, ENABLE | THREAD_MEMORY)));
    core.post();
    core.memory.cells.take()
}

proptest! {
    #[test]
    fn when_it_is_posted_does_not_matter_in_the_end(steps in steps(), posts in any::<u64>(), parts in 1u64..4) {
        let at_once = run(&steps, 1, |_, _| ());
        let often = run(&steps, parts, |number, core| if posts >> (number % 64) & 1 != 0 { core.post(); });
        prop_assert_eq!(at_once, often);
    }

    #[test]
    fn saving_and_restoring_anywhere_changes_nothing(steps in steps(), saves in any::<u64>()) {
        let straight = run(&steps, 1, |_, _| ());
        let restored = run(&steps, 1, |number, core| if saves >> (number % 64) & 1 != 0 { core.restore(); });
        prop_assert_eq!(straight, restored);
    }

    #[test]
    fn the_order_in_which_threads_do_things_does_not_matter(steps in steps()) {
        let mut sorted: Vec<Step> = steps.clone();
        sorted.sort_by_key(|step| match step {
            Step::Retire(thread, _) | Step::Stall(thread, _) | Step::Follow(thread, _) => *thread,
        });
        prop_assert_eq!(run(&steps, 1, |_, _| ()), run(&sorted, 1, |_, _| ()));
    }

    #[test]
    fn nothing_is_written_outside_the_memory_that_was_named(pdbar in any::<u64>(), ldbar in any::<u64>(), amount in any::<u64>()) {
        let mut core = Core::new();
        core.init(pdbar);
        core.collection.start();
        core.follow(0, with_memory(PROBLEM, ldbar));
        for signal in Signal::all() {
            core.threads[0].totals.add(signal, amount);
        }
        core.post();
        let within = |start: u64, address: u64| address.wrapping_sub(start & 0x0003_FFFF_FFFF_E000) < 0x2000;
        for address in core.memory.cells.borrow().keys() {
            prop_assert!(within(pdbar, *address) || ldbar >> 62 == 0b10 && within(ldbar, *address), "{:#x}", address);
            prop_assert_eq!(address % 8, 0);
        }
    }
}
