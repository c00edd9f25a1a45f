//! Everything is allocated where it is built, as much as `footprint` says, and nothing afterwards.

use allocation_counter::measure;
use vm_memory::{GuestAddress, GuestMemoryMmap};
use vm_pmu::companion::{self, Clock, parts};
use vm_pmu::irq::InterruptLine;
use vm_pmu::layout::Layout;
use vm_pmu::litmus::Step;
use vm_pmu::memory::{Chip, Event, Guest, Nest};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Part, Signal};

use super::{files, mixed};

/// It takes no memory, so that a machine's is its own.
#[derive(Debug)]
struct Silent;

impl InterruptLine for Silent {
    fn raise(&self, _thread: usize, _counter: u32) {}
}

/// How often memory is allocated for `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    measure(work).count_total
}

fn machine(builder: Builder) -> Machine<Silent> {
    builder.build(Silent).expect("the part has it")
}

/// Statements for which the litmus machine allocates: those that build another one or collect what an expectation is compared with, and
/// those about memory, which it keeps in a tree.
fn has_own_allocations(step: &Step) -> bool {
    matches!(step, Step::Save | Step::Epoch(_) | Step::Demand(..) | Step::Interrupts(_) | Step::Nest(_) | Step::Collection(_))
}

#[test]
fn no_statement_of_the_suite_allocates() {
    let mut statements = 0;
    for (name, case) in files::of_suite("") {
        let mut execution = case.litmus.begin().expect("its machine can be built");
        while let Some(step) = execution.next() {
            let mut outcome = Ok(());
            let times = allocations(|| outcome = execution.step());
            outcome.expect("it comes true");
            if !has_own_allocations(step) {
                assert_eq!(times, 0, "{name}, statement {}: {step:?}", execution.done());
                statements += 1;
            }
        }
    }
    assert!(statements > 30_000, "{statements} statements");
}

#[test]
fn a_machine_takes_what_its_footprint_says() {
    let part = |name| Part::named(name).expect("a part");
    let layout = |name| Layout::of(part(name)).packages(1);
    let builders = [
        Builder::of(part("k8")),
        Builder::of(part("k8")).packages(3).threads(2),
        Builder::of(part("k8")).threads(4).share_counters(),
        Builder::of(part("knl")).threads(8).packages(2),
        layout("knl").cores(8).threads(4).pmus(),
        Builder::of(part("power9")).packages(2).threads(4),
        Builder::of(part("itanium")).packages(2),
        Builder::of(part("montecito")).threads(2),
    ];
    for builder in builders {
        let shown = format!("{builder:?}");
        let mut built = None;
        let taken = measure(|| built = Some(machine(builder))).bytes_current;
        let machine = built.expect("it was built");
        let own = size_of_val(&machine);
        assert_eq!(taken, (machine.footprint() - own) as i64, "{shown}");
    }
}

#[test]
fn a_nest_posts_without_an_allocation() {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x80_0000)]).expect("it can be mapped");
    let chip = Chip::new(0, Nest::new(0x40_0000));
    let slots = 64;
    let times = allocations(|| {
        for _ in 0..slots {
            Event::all().for_each(|event| chip.totals().add(event, 4096));
            chip.advance(chip.slot_cycles(), &Guest(&memory)).ok().expect("there is memory");
        }
        chip.post_now(&Guest(&memory)).ok().expect("there is memory");
    });
    assert_eq!(times, 0);
}

#[test]
fn a_core_posts_without_an_allocation() {
    /// MSR[PR], bit 49.
    const PR: u64 = 1 << 14;
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x40_0000)]).expect("it can be mapped");
    let machine = machine(Builder::new("power9").expect("a part").threads(4));
    let core = machine.collection(0).expect("POWER9 has one");
    let times = allocations(|| {
        core.init(0x10_0000);
        core.start();
        for number in 0..4 {
            let thread = machine.thread(number).expect("there are four");
            thread.totals().add(Signal::InstructionsRetired, 4096);
            thread.set_context(Context::power(PR, 1));
        }
        core.post(&Guest(&memory)).ok().expect("there is memory");
        core.stop();
    });
    assert_eq!(times, 0);
}

#[test]
fn a_companion_follows_without_an_allocation() {
    for profile in parts::ALL {
        let threads = usize::from(profile.threads);
        let machine = machine(Builder::new(profile.name).expect("a part").threads(threads));
        let followed = companion::Builder::of(profile).threads(threads).clock(Clock::Companion).build();
        let mut followers: Vec<_> = (0..threads).map(|thread| followed.follower(thread).expect("there are as many")).collect();
        let times = allocations(|| {
            for number in 0..4000 {
                let turn = number as usize / 16 % threads;
                mixed::execute(&mut followers[turn], &machine.thread(turn).expect("there are as many"), number);
            }
        });
        assert_eq!(times, 0, "{}", profile.name);
    }
}
