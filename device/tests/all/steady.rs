//! Cycles without events: many in one call are what they are one by one.

use std::sync::Mutex;

use proptest::prelude::*;
use proptest::sample::Index;
use vm_pmu::arch::access::Address;
use vm_pmu::arch::feed::Kind;
use vm_pmu::arch::model::Occurrence;
use vm_pmu::arch::power9::spr;
use vm_pmu::arch::registry::State;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Context, Lines, Signal};

/// Everything that a machine asks for, in the order in which it asks.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl InterruptLine for Log {
    fn raise(&self, thread: usize, counter: u32) {
        self.note(format!("thread {thread}: counter {counter}"));
    }

    fn lines(&self, thread: usize, lines: Lines) {
        self.note(format!("thread {thread}: {lines:?}"));
    }

    fn pins(&self, thread: usize, pins: u32) {
        self.note(format!("thread {thread}: pins {pins:b}"));
    }

    fn late(&self, thread: usize, events: u64) {
        self.note(format!("thread {thread}: {events} events late"));
    }
}

/// What a counter of any part selects; a part takes the fields that it has.
#[derive(Clone, Debug)]
struct Selection {
    event: Index,
    threshold: u8,
    inverted: bool,
    edge: bool,
    /// All threads of the core.
    all: bool,
    overflows: bool,
    /// How far it is from its overflow.
    remaining: u64,
}

fn selection() -> impl Strategy<Value = Selection> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (any::<Index>(), 0..4u8, flags, prop_oneof![1..4u64, 1..40u64, 1..2000u64]).prop_map(|(event, threshold, flags, remaining)| {
        let (inverted, edge, all, overflows) = flags;
        Selection { event, threshold, inverted, edge, all, overflows, remaining }
    })
}

/// What occurs before some cycles, and how many they are.
#[derive(Clone, Debug)]
struct Step {
    events: [u64; 3],
    states: [bool; 4],
    /// How many events or cycles of the first selection no signal reports.
    injected: u64,
    cycles: u64,
    /// The thread is at its outermost level in these cycles.
    user: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let amounts = [0..3u64, 0..2, 0..2];
    let cycles = prop_oneof![0..30u64, 0..600u64];
    (amounts, any::<[bool; 4]>(), prop_oneof![Just(0), 0..60u64], cycles, prop::bool::weighted(0.2))
        .prop_map(|(events, states, injected, cycles, user)| Step { events, states, injected, cycles, user })
}

type Thread1<'a> = Thread<'a, Log>;

/// A part, and how its counters are programmed.
struct Kit {
    name: &'static str,
    threads: usize,
    /// The events that are worth selecting: some state or the clock drives them.
    events: fn(u32) -> bool,
    program: fn(&Thread1<'_>, &[(u32, u32, Selection)]),
    user: fn(bool) -> Context,
}

const K8: Kit = Kit {
    name: "k8",
    threads: 1,
    events: |select| select <= 0xFF,
    program: |thread, selections| {
        for ((select, umask, selection), number) in selections.iter().zip(0..4) {
            let flags = u64::from(selection.edge) << 18 | u64::from(selection.overflows) << 20 | u64::from(selection.inverted) << 23;
            let word = u64::from(*select) | u64::from(*umask) << 8 | flags | u64::from(selection.threshold) << 24;
            // EN, and OS alone for those of all: what is done above level 0 is then left out.
            let levels = if selection.all { 1 << 17 } else { 3 << 16 };
            thread.x86().wrmsr(0xC001_0004 + number, 0u64.wrapping_sub(selection.remaining)).unwrap();
            thread.x86().wrmsr(0xC001_0000 + number, word | levels | 1 << 22).unwrap();
        }
    },
    user: |user| Context::x86(if user { 3 } else { 0 }, 0, 0),
};

const KNL: Kit = Kit {
    name: "knl",
    threads: 8,
    events: |select| select <= 0xFF,
    program: |thread, selections| {
        for ((select, umask, selection), number) in selections.iter().zip(0..2) {
            let flags = u64::from(selection.edge) << 18 | u64::from(selection.overflows) << 20 | u64::from(selection.inverted) << 23;
            let word = u64::from(*select) | u64::from(*umask) << 8 | flags | u64::from(selection.threshold) << 24;
            thread.x86().wrmsr(0xC1 + number, 0u64.wrapping_sub(selection.remaining)).unwrap();
            thread.x86().wrmsr(0x186 + number, word | u64::from(selection.all) << 21 | 3 << 16 | 1 << 22).unwrap();
        }
        thread.x86().wrmsr(0x38F, 3).unwrap();
    },
    user: |user| Context::x86(if user { 3 } else { 0 }, 0, 0),
};

const POWER9: Kit = Kit {
    name: "power9",
    threads: 1,
    events: |select| select & 0xC0 == 0x80 && select <= 0xFFFF,
    program: |thread, selections| {
        thread.set_context(Context::power(0, 1));
        let mut mmcr1 = 0;
        for ((select, _, selection), index) in selections.iter().zip(0..4u64) {
            let select = u64::from(*select);
            // PMCxUNIT, PMCxCOMB and PMCxSEL, with its falling-edge bit; COMB 01 counts cycles with both bits of the bus.
            let comb = if selection.inverted { 0b01 } else { select >> 10 & 0b11 };
            mmcr1 |= (select >> 12 & 0xF) << (60 - 4 * index) | comb << (38 - 2 * index);
            mmcr1 |= (select & 0xFE | u64::from(selection.edge)) << (24 - 8 * index);
            thread.power().mtspr(spr::PMC1 + index as u16, 0x8000_0000 - selection.remaining).unwrap();
        }
        thread.power().mtspr(spr::MMCR1, mmcr1).unwrap();
        // PMAE, PMC1CE and PMCjCE where the first overflows, without a freeze.
        let alerts = selections.first().is_some_and(|(_, _, selection)| selection.overflows);
        thread.power().mtspr(spr::MMCR0, if alerts { 0x0400_C000 } else { 0 }).unwrap();
    },
    user: |user| Context::power(if user { 1 << 14 } else { 0 }, 1),
};

const MONTECITO: Kit = Kit {
    name: "montecito",
    threads: 2,
    events: |select| select <= 0xFF,
    program: |thread, selections| {
        thread.set_context(Context::ia64(1 << 2, 0));
        for ((select, umask, selection), number) in selections.iter().zip(4..) {
            // Level 0 and up, oi, es, umask, threshold, ism 10 and all.
            let levels = if selection.inverted { 0b1001 } else { 0b0001 };
            let word = levels | u64::from(selection.overflows) << 5 | u64::from(*select) << 8 | u64::from(*umask) << 16;
            let word = word | u64::from(selection.threshold) << 20 | 1 << 25 | u64::from(selection.all) << 26;
            thread.write(Address::Pmd(number), 0u64.wrapping_sub(selection.remaining)).unwrap();
            thread.write(Address::Pmc(number), word).unwrap();
        }
    },
    user: |user| Context::ia64(1 << 2 | if user { 3 << 32 } else { 0 }, 0),
};

/// Runs the steps, as many cycles in one call as `most` at most. Returns what was asked for, after which step, and what is remembered.
fn run(kit: &Kit, selections: &[Selection], steps: &[Step], most: u64) -> (Vec<(usize, Vec<String>)>, Vec<State>) {
    let machine: Machine<Log> = Builder::new(kit.name).unwrap().threads(kit.threads).build(Log::default()).unwrap();
    let thread = machine.thread(0).unwrap();
    let is_of_cycles = |signal: &Signal| signal.kind() == Kind::State;
    let entries = machine.part().catalogue().entries.iter();
    let entries: Vec<_> = entries.filter(|entry| (kit.events)(entry.select) && entry.signals.iter().any(is_of_cycles)).collect();
    let chosen: Vec<_> = selections.iter().map(|selection| (selection.event.get(&entries), selection.clone())).collect();
    let words: Vec<_> = chosen.iter().map(|(entry, selection)| (entry.select, entry.umask.unwrap_or(0), selection.clone())).collect();
    (kit.program)(&thread, &words);
    let signals = || chosen.iter().flat_map(|(entry, _)| entry.signals.iter().copied());
    let events: Vec<Signal> = signals().chain([Signal::InstructionsRetired]).filter(|signal| !is_of_cycles(signal)).collect();
    let states: Vec<Signal> = signals().filter(|signal| is_of_cycles(signal) && *signal != Signal::Cycles).collect();
    let mut asked = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        thread.set_context((kit.user)(step.user));
        for (signal, amount) in events.iter().zip(step.events) {
            thread.totals().add(*signal, amount);
        }
        if events.iter().any(|signal| thread.reached(*signal)) {
            thread.service();
        }
        if let Some((select, umask, _)) = words.first() {
            thread.inject(Occurrence { select: *select, umask: *umask }, step.injected);
        }
        let mut holding = vec![Signal::Cycles];
        for (signal, _) in states.iter().zip(step.states).filter(|(_, holds)| *holds) {
            if !holding.contains(signal) {
                holding.push(*signal);
            }
        }
        let mut left = step.cycles;
        while left != 0 {
            let now = left.min(most);
            thread.advance(now, &holding);
            left -= now;
        }
        asked.push((number, std::mem::take(&mut *machine.line().0.lock().unwrap())));
    }
    (asked, machine.states())
}

fn check(kit: &Kit, selections: &[Selection], steps: &[Step]) -> Result<(), TestCaseError> {
    let (asked, states) = run(kit, selections, steps, 1);
    let (asked_at_once, states_at_once) = run(kit, selections, steps, u64::MAX);
    prop_assert_eq!(asked, asked_at_once);
    prop_assert_eq!(states, states_at_once);
    Ok(())
}

fn program() -> impl Strategy<Value = (Vec<Selection>, Vec<Step>)> {
    (prop::collection::vec(selection(), 1..4), prop::collection::vec(step(), 1..8))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_cycles_of_the_k8_are_what_they_are_one_by_one((selections, steps) in program()) {
        check(&K8, &selections, &steps)?;
    }

    #[test]
    fn many_cycles_of_knights_landing_are_what_they_are_one_by_one((selections, steps) in program()) {
        check(&KNL, &selections, &steps)?;
    }

    #[test]
    fn many_cycles_of_power9_are_what_they_are_one_by_one((selections, steps) in program()) {
        check(&POWER9, &selections, &steps)?;
    }

    #[test]
    fn many_cycles_of_montecito_are_what_they_are_one_by_one((selections, steps) in program()) {
        check(&MONTECITO, &selections, &steps)?;
    }
}

#[test]
fn a_watched_pin_toggles_at_each_of_many_clocks() {
    // PerfEvtSel0: clocks with an empty decoder, OS, EN; as they are, and those with fewer than two such events.
    for select in [0x0142_00D0, 0x02C2_00D0] {
        let toggles = |most: u64| {
            let machine = Builder::new("k8").unwrap().build(Log::default()).unwrap();
            let thread = machine.thread(0).unwrap();
            thread.x86().wrmsr(0xC001_0000, select).unwrap();
            thread.watch_pins(1);
            for _ in 0..100 / most {
                thread.advance(most, &[Signal::Cycles, Signal::DecoderEmptyCycles]);
            }
            (thread.pin_toggles(0), machine.line().0.lock().unwrap().len())
        };
        assert_eq!(toggles(100), toggles(1), "{select:x}");
        assert_eq!(toggles(100).0, 100, "{select:x}");
    }
}

/// It would take days if single cycles were served.
#[test]
fn the_cycles_of_one_call_are_not_served_one_by_one() {
    const CYCLES: u64 = 1 << 40;
    for select in [0x0046_00D0u64, 0x01C6_00D0, 0x02C2_00D0, 0x0346_00D0] {
        // PerfEvtSel0: clocks with an empty decoder, with every kind of mask, inversion and edge; OS, EN.
        let machine = Builder::new("k8").unwrap().build(Log::default()).unwrap();
        let thread = machine.thread(0).unwrap();
        thread.x86().wrmsr(0xC001_0000, select | 1 << 20).unwrap();
        thread.advance(CYCLES, &[Signal::Cycles, Signal::DecoderEmptyCycles]);
        thread.advance(CYCLES, &[Signal::Cycles]);
    }
}

#[test]
fn single_cycles_matter_again_after_the_call() {
    let machine = Builder::new("k8").unwrap().build(Log::default()).unwrap();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(0xC001_0000, 0x0046_00D0).unwrap(); // PerfEvtSel0: edges of an empty decoder, OS, EN
    thread.advance(1000, &[Signal::Cycles]);
    assert_eq!(thread.deadlines().distance(Signal::Cycles, thread.totals()), 1);
}
