//! A restored machine is the saved one, and what does not fit is refused.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use vm_pmu::topology::{Builder, RestoreError};
use vm_pmu::{Address, Context, Part, Signal, State};

#[test]
fn the_epoch_of_the_demand_goes_on_over_a_restore() {
    let machine = Builder::new("k8").expect("known").build(|_, _| {}).unwrap();
    let cpu = machine.thread(0).expect("one thread");
    cpu.x86().wrmsr(0xC001_0000, 0x0042_0076).expect("level 0");
    let clocks = machine.states();
    cpu.x86().wrmsr(0xC001_0000, 0x0042_00C8).expect("level 0");
    let before = cpu.demand();
    machine.restore(&clocks).expect("its own states");
    assert!(cpu.demand().wants(Signal::Cycles) && !cpu.demand().wants(Signal::NearReturns));
    assert_ne!(cpu.demand().epoch(), before.epoch(), "code generated for the demand before must not be kept");
}

/// A counter of a part: the state of the CPU, what makes it count, what it counts, and where it is read.
struct Counted {
    part: &'static str,
    context: Context,
    written: &'static [(Address, u64)],
    signal: Signal,
    counter: Address,
}

/// MSR\[HV] and CTRL\[RUN].
const RUNNING: Context = Context::power(1 << 60, 1);
/// PSR.up.
const USER_MONITORS: Context = Context::ia64(1 << 2, 0);
/// MMCR1 is written while MMCR0\[FC] freezes, which costs no cycle. PMC1 counts cycles (1Eh), PMC5 instructions.
const PMC1_AND_PMC5: &[(Address, u64)] = &[(Address::Spr(798), 0x1E00_0000), (Address::Spr(795), 0)];

const COUNTED: [Counted; 6] = [
    // CPU clocks not halted, at level 0.
    Counted {
        part: "k8",
        context: Context::RESET,
        written: &[(Address::Msr(0xC001_0000), 0x0042_0076)],
        signal: Signal::Cycles,
        counter: Address::Rdpmc(0),
    },
    // Instructions retired (C0h), at level 0, with bit 0 of IA32_PERF_GLOBAL_CTRL.
    Counted {
        part: "knl",
        context: Context::RESET,
        written: &[(Address::Msr(0x38F), 1), (Address::Msr(0x186), 0x0042_00C0)],
        signal: Signal::InstructionsRetired,
        counter: Address::Rdpmc(0),
    },
    Counted { part: "power9", context: RUNNING, written: PMC1_AND_PMC5, signal: Signal::Cycles, counter: Address::Spr(787) },
    Counted { part: "power9", context: RUNNING, written: PMC1_AND_PMC5, signal: Signal::InstructionsRetired, counter: Address::Spr(791) },
    // CPU_CYCLES (12h), at level 0.
    Counted {
        part: "itanium",
        context: USER_MONITORS,
        written: &[(Address::Pmc(4), 0x1201)],
        signal: Signal::Cycles,
        counter: Address::Pmd(4),
    },
    // SERIALIZATION_EVENTS (53h), at level 0.
    Counted {
        part: "montecito",
        context: USER_MONITORS,
        written: &[(Address::Pmc(4), 0x0200_5301)],
        signal: Signal::SerializationsRetired,
        counter: Address::Pmd(4),
    },
];

#[test]
fn what_happened_before_a_restore_is_not_counted() {
    for Counted { part, context, written, signal, counter } in COUNTED {
        let machine = Builder::new(part).expect("known").build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("one thread");
        cpu.set_context(context);
        for (address, value) in written {
            cpu.write(*address, *value).expect("the highest level");
        }
        cpu.totals().add(signal, 5);
        let states = machine.states();
        cpu.totals().add(signal, 100);
        machine.restore(&states).expect("its own states");
        cpu.totals().add(signal, 2);
        assert_eq!(cpu.read(counter), Ok(7), "{part}, {}", signal.name());
    }
}

#[test]
fn states_of_another_number_of_threads_are_refused_and_change_nothing() {
    let one = Builder::of(Part::named("k8").expect("known")).build(|_, _| {}).unwrap();
    let two = Builder::new("k8").expect("known").threads(2).build(|_, _| {}).unwrap();
    two.thread(1).expect("two threads").x86().wrmsr(0xC001_0004, 9).expect("level 0");
    let refused = two.restore(&one.states());
    assert_eq!(refused, Err(RestoreError::Threads { saved: 1, machine: 2 }));
    assert_eq!(two.thread(1).expect("two threads").x86().rdpmc(0), Ok(9));
}

#[test]
fn states_of_another_revision_are_refused() {
    let part = Part::named("k8").expect("known");
    let [early, late] = ["C", "E"].map(|letter| Builder::of(part.revision(letter).expect("known")).build(|_, _| {}).unwrap());
    let refused = early.restore(&late.states()).expect_err("another revision");
    assert_eq!(refused.to_string(), "the state is of k8 revision E and the machine is k8 revision C: build one of the same part");
}

#[test]
fn an_overdue_interrupt_is_delivered_once_by_whoever_saves() {
    let (old, new) = (AtomicU32::new(0), AtomicU32::new(0));
    let saved = Builder::new("k8")
        .expect("known")
        .build(|_, _| {
            old.fetch_add(1, Relaxed);
        })
        .unwrap();
    let restored = Builder::new("k8")
        .expect("known")
        .build(|_, _| {
            new.fetch_add(1, Relaxed);
        })
        .unwrap();
    let cpu = saved.thread(0).expect("one thread");
    cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(3)).expect("level 0");
    cpu.x86().wrmsr(0xC001_0000, 0x0052_0076).expect("level 0");
    cpu.totals().add(Signal::Cycles, 3);
    let states = saved.states();
    restored.restore(&states).expect("the same part");
    assert_eq!((old.load(Relaxed), new.load(Relaxed)), (1, 0));
    assert_eq!(restored.states(), states);
}

#[test]
fn a_claim_that_nobody_holds_is_given_out() {
    let machine = Builder::new("k8").expect("known").threads(2).build(|_, _| {}).unwrap();
    let cpu = machine.thread(1).expect("two threads");
    cpu.x86().wrmsr(0xC001_0000, 0x0042_01E0).expect("level 0");
    let mut states = machine.states();
    for state in &mut states {
        if let State::K8(state) = state {
            state.granted = 0;
        }
    }
    machine.restore(&states).expect("its own states");
    cpu.totals().add(Signal::DramPageHits, 2);
    assert_eq!(cpu.x86().rdpmc(0), Ok(2));
}
