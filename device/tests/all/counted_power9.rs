//! Every event of POWER9's core that signals drive, read through each counter that its code can be on.
//!
//! All signals are fed, each by an amount of its own, so that a counter shows which of them it has counted.

use vm_pmu::arch::event::{Drive, Entry, POWER9, When};
use vm_pmu::arch::power9::encode::{Encoding, EventCode, Options, PROGRAMMABLE, encode};
use vm_pmu::arch::power9::{Mmcr0, Msr, ThreadControl, spr};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Context, Signal};

/// The most threads of a core.
const THREADS: usize = 4;
/// Spreads numbers over the lower bits: 2^32 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B1;
/// Bits of an amount: what a counter of 32 bits holds of ten of them is not negative.
const BITS: u32 = 24;

type Cores = Machine<fn(usize, u32)>;

fn core(threads: usize) -> Cores {
    Builder::new("power9").unwrap().threads(threads).build((|_, _| {}) as fn(usize, u32)).unwrap()
}

/// How much of a signal is fed. No two signals have the same.
fn amount(signal: Signal) -> u64 {
    (u64::from(signal.number()) + 1) * SPREAD % (1 << BITS)
}

fn code(bits: u64) -> EventCode {
    EventCode::from_bits(bits)
}

/// The codes of an event: one for its counter, or for each of four.
fn codes(entry: &Entry) -> Vec<u64> {
    let select = u64::from(entry.select);
    if code(select).pmc() == 0 { (1..=PROGRAMMABLE as u64).map(|counter| counter << 16 | select).collect() } else { vec![select] }
}

/// The registers that count an event by its code `select`. Some events of the caches and of the memory management unit go only with another
/// one of their unit on PMC4 or PMC1 (section 5.16).
fn encoded(entry: &Entry, select: u64) -> Encoding {
    let with = |counter: u64| encode(&[code(select), code(counter << 16 | select & 0xFFFF)], Options::default());
    let found = encode(&[code(select)], Options::default()).or_else(|_| with(4)).or_else(|_| with(1));
    found.unwrap_or_else(|refusal| panic!("{} ({select:#x}): {refusal}", entry.name))
}

/// How many threads the core has, and how many of them run.
fn threads(when: &[When]) -> (usize, usize) {
    when.iter().fold((1, 1), |found, condition| match condition {
        When::TwoThreads => (2, 2),
        When::FourThreads => (THREADS, THREADS),
        When::Running(number) => (THREADS, usize::from(*number)),
        _ => found,
    })
}

/// The state in which all of the conditions hold.
fn state(when: &[When]) -> Context {
    let (mut msr, mut control) = (Msr::default(), ThreadControl::default());
    msr.set_ee(true);
    control.set_run(true);
    for condition in when {
        match condition {
            When::Hypervisor | When::HypervisorBit => msr.set_hv(true),
            When::Problem | When::Application => msr.set_pr(true),
            When::Adjunct => {
                msr.set_hv(true);
                msr.set_pr(true);
            }
            When::ExternalDisabled => msr.set_ee(false),
            When::ExternalPending => {
                msr.set_ee(false);
                control.set_external_pending(true);
            }
            When::Transactional => msr.set_ts(0b10),
            When::Suspended => msr.set_ts(0b01),
            When::Radix => control.set_radix(true),
            When::Priority(priority) => control.set_priority(*priority),
            _ => {}
        }
    }
    Context::power(msr.bits(), control.bits())
}

/// What the counter of an event holds after every signal was fed.
fn counted(cores: &Cores, entry: &Entry, select: u64) -> u64 {
    let encoding = encoded(entry, select);
    let counter = encoding.counter_of(0).expect("it is counted");
    let pmc = spr::PMC1 + u16::from(counter) - 1;
    let thread = |number: usize| -> Thread<'_, _> { cores.thread(number).expect("it is there") };
    let write = |number: u16, value: u64| thread(0).power().mtspr(number, value).expect("the hypervisor may write it");
    let mut hypervisor = Msr::default();
    hypervisor.set_hv(true);
    (0..cores.threads()).for_each(|number| thread(number).set_context(Context::power(hypervisor.bits(), 0)));
    for (number, value) in [(spr::MMCR1, encoding.mmcr1), (spr::MMCRA, encoding.mmcra), (pmc, 0)] {
        write(number, value);
    }
    let (_, running) = threads(entry.when);
    (0..running).for_each(|number| thread(number).set_context(state(entry.when)));
    // The counters are started and stopped in hypervisor state, in which nothing occurs.
    thread(0).set_context(Context::power(hypervisor.bits(), 0));
    write(spr::MMCR0, 0);
    thread(0).set_context(state(entry.when));
    Signal::all().for_each(|signal| _ = thread(0).totals().add(signal, amount(signal)));
    thread(0).set_context(Context::power(hypervisor.bits(), 0));
    let mut frozen = Mmcr0::default();
    frozen.set_fc(true);
    write(spr::MMCR0, frozen.bits());
    thread(0).power().mfspr(pmc).expect("the hypervisor may read it")
}

#[test]
fn every_event_of_signals_counts_what_its_signals_grow_by() {
    let cores = [1, 2, THREADS].map(core);
    let of = |wanted: usize| cores.iter().find(|core| core.threads() == wanted).expect("it is there");
    let driven =
        |entry: &&Entry| entry.unit == "core" && entry.offset.is_none() && entry.drive == Drive::Signals && !entry.signals.is_empty();
    let mut wrong = Vec::new();
    for entry in POWER9.events().filter(driven) {
        let right: u64 = entry.signals.iter().map(|signal| amount(*signal)).sum();
        for select in codes(entry) {
            let seen = counted(of(threads(entry.when).0), entry, select);
            if seen != right {
                wrong.push(format!("{} ({select:#x}, when {:?}): {seen}, not {right}", entry.name, entry.when));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_two_signals_are_fed_by_the_same_amount() {
    let mut amounts: Vec<u64> = Signal::all().map(amount).collect();
    amounts.sort_unstable();
    assert!(amounts.windows(2).all(|pair| pair[0] < pair[1]));
}
