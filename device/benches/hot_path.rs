//! What a PMU costs an emulator: as ratios to the bare loop, measured in the same run.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vm_pmu::arch::ia64::Psr;
use vm_pmu::arch::montecito;
use vm_pmu::arch::power9::encode::{EventCode, Options, encode};
use vm_pmu::arch::power9::{Mmcr0, ThreadControl, spr};
use vm_pmu::irq::Unconnected;
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Address, Context, Countdown, Pace, Signal, SignalSet, Totals};

/// Translated blocks in one measurement.
const BLOCKS: u64 = 10_000;

/// PerfEvtSel with OS, INT and EN for four events that follow one signal each: clocks, returns, CPUID and CLFLUSH.
const SELECTS: [u64; 4] = [0x0052_0076, 0x0052_00C8, 0x0052_0027, 0x0052_0026];

/// What a translated block of six instructions adds to those signals. Returns the cycles so far, the pace.
#[inline(always)]
fn block(totals: &Totals) -> u64 {
    totals.add(Signal::NearReturns, 1);
    totals.add(Signal::CpuidInstructions, 2);
    totals.add(Signal::CacheLineFlushes, 3);
    totals.add(Signal::Cycles, 6)
}

fn machine(counters: usize) -> Machine<Unconnected> {
    let machine = Builder::new("k8").expect("the part is known").build(Unconnected).unwrap();
    let thread = machine.thread(0).expect("there is one thread");
    for (number, select) in SELECTS.iter().take(counters).enumerate() {
        let number = number as u32;
        thread.x86().wrmsr(0xC001_0004 + number, 0x8000_0000_0001).expect("level 0 may write");
        thread.x86().wrmsr(0xC001_0000 + number, *select).expect("level 0 may write");
    }
    machine
}

/// The loop of an emulator that only keeps totals.
#[inline(never)]
fn bare(totals: &Totals) {
    for _ in 0..BLOCKS {
        block(totals);
    }
}

/// The same loop attached to a PMU: one comparison a block, whatever is counted.
#[inline(never)]
fn attached(thread: Thread<'_, Unconnected>) {
    let (totals, deadlines) = (thread.totals(), thread.deadlines());
    for _ in 0..BLOCKS {
        let pace = block(totals);
        if deadlines.due_at(pace) {
            thread.check();
        }
    }
}

fn hot_path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hot path");
    group.throughput(Throughput::Elements(BLOCKS));
    let totals = Totals::new();
    group.bench_function("bare totals", |bencher| bencher.iter(|| bare(black_box(&totals))));
    for counters in [0, 1, 4] {
        let machine = machine(counters);
        let thread = machine.thread(0).expect("there is one thread");
        group.bench_function(BenchmarkId::new("counters", counters), |bencher| bencher.iter(|| attached(black_box(thread))));
    }
    group.finish();
}

/// Blocks of six instructions that add instructions, cycles and a branch, and compare once.
#[inline(never)]
fn compared(thread: Thread<'_, Unconnected>) {
    let (totals, deadlines) = (thread.totals(), thread.deadlines());
    for _ in 0..BLOCKS {
        totals.add(Signal::InstructionsRetired, 6);
        totals.add(Signal::BranchesRetired, 1);
        if deadlines.due_at(totals.add(Signal::Cycles, 6)) {
            thread.check();
        }
    }
}

/// The same by a countdown.
#[inline(never)]
fn counted_down(thread: Thread<'_, Unconnected>, countdown: &Countdown) {
    for _ in 0..BLOCKS {
        while !countdown.enter(Countdown::takes(6, 1)) {
            countdown.refill(thread, 6);
        }
    }
}

/// Counters of cycles, instructions and branches.
fn countdown(criterion: &mut Criterion) {
    let pace = Pace::default().single(SignalSet::from_iter([Signal::InstructionsRetired, Signal::BranchesRetired]));
    let machine = Builder::new("k8").expect("the part is known").pace(pace).build(Unconnected).unwrap();
    let thread = machine.thread(0).expect("there is one thread");
    for (number, select) in (0..).zip([0x0052_0076, 0x0052_00C0, 0x0052_00C2]) {
        thread.x86().wrmsr(0xC001_0004 + number, 0x8000_0000_0001).expect("level 0 may write");
        thread.x86().wrmsr(0xC001_0000 + number, select).expect("level 0 may write");
    }
    let mut group = criterion.benchmark_group("instructions, cycles and branches");
    group.throughput(Throughput::Elements(BLOCKS));
    group.bench_function("one comparison a block", |bencher| bencher.iter(|| compared(black_box(thread))));
    let counting = Countdown::new().paired(Signal::BranchesRetired);
    group.bench_function("one countdown a block", |bencher| bencher.iter(|| counted_down(black_box(thread), black_box(&counting))));
    group.finish();
}

/// The codes of PMC1-4: loads, completed stores, completed instructions and completed branches; PMC5 and PMC6 count run
/// instructions and run cycles beside them.
const POWER9_EVENTS: [u64; 4] = [0x1_00FC, 0x2_00F0, 0x3_0002, 0x4_D05E];

/// What a translated block of six instructions adds to those signals. Returns the cycles so far, the pace.
#[inline(always)]
fn power9_block(totals: &Totals) -> u64 {
    totals.add(Signal::InstructionsRetired, 6);
    totals.add(Signal::Loads, 2);
    totals.add(Signal::Stores, 1);
    totals.add(Signal::BranchesRetired, 1);
    totals.add(Signal::Cycles, 6)
}

#[inline(never)]
fn power9_bare(totals: &Totals) {
    for _ in 0..BLOCKS {
        power9_block(totals);
    }
}

#[inline(never)]
fn power9_attached(thread: Thread<'_, Unconnected>) {
    let (totals, deadlines) = (thread.totals(), thread.deadlines());
    for _ in 0..BLOCKS {
        let pace = power9_block(totals);
        if deadlines.due_at(pace) {
            thread.check();
        }
    }
}

/// A POWER9 thread that counts with six counters, each with its condition and the alert enabled.
fn power9() -> Machine<Unconnected> {
    let machine = Builder::new("power9").expect("the part is known").build(Unconnected).unwrap();
    let thread = machine.thread(0).expect("there is one thread");
    let mut control = ThreadControl::default();
    control.set_run(true);
    // Hypervisor state.
    thread.set_context(Context::power(1 << 60, control.bits()));
    let codes = POWER9_EVENTS.map(EventCode::from_bits);
    let encoding = encode(&codes, Options::default()).expect("they can be counted together");
    thread.power().mtspr(spr::MMCR1, encoding.mmcr1).expect("the hypervisor may write");
    let mut mmcr0 = Mmcr0::default();
    mmcr0.set_pmae(true);
    mmcr0.set_pmc1ce(true);
    mmcr0.set_pmcjce(true);
    thread.power().mtspr(spr::MMCR0, mmcr0.bits()).expect("the hypervisor may write");
    machine
}

fn power9_hot_path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hot path, POWER9");
    group.throughput(Throughput::Elements(BLOCKS));
    let totals = Totals::new();
    group.bench_function("bare totals", |bencher| bencher.iter(|| power9_bare(black_box(&totals))));
    let machine = power9();
    let thread = machine.thread(0).expect("there is one thread");
    let mut rounds = 0u32;
    group.bench_function(BenchmarkId::new("counters", 6), |bencher| {
        bencher.iter(|| {
            // Before a counter turns negative, all begin anew.
            rounds += 1;
            if rounds.is_multiple_of(1000) {
                (spr::PMC1..=spr::PMC6).for_each(|number| thread.power().mtspr(number, 0).expect("the hypervisor may write"));
            }
            power9_attached(black_box(thread));
        });
    });
    group.finish();
}

/// Retired instructions, cycles, no-operations, instructions predicated off, floating-point operations: each in two counters at least.
const MONTECITO_EVENTS: [u8; 5] = [0x08, 0x12, 0x50, 0x51, 0x09];

/// What a translated block of six instructions adds to those signals. Returns the cycles so far, the pace.
#[inline(always)]
fn montecito_block(totals: &Totals) -> u64 {
    totals.add(Signal::InstructionsRetired, 6);
    totals.add(Signal::NopsRetired, 2);
    totals.add(Signal::PredicatedOffRetired, 1);
    totals.add(Signal::FloatingPointOperations, 2);
    totals.add(Signal::Cycles, 6)
}

#[inline(never)]
fn montecito_bare(totals: &Totals) {
    for _ in 0..BLOCKS {
        montecito_block(totals);
    }
}

#[inline(never)]
fn montecito_attached(thread: Thread<'_, Unconnected>) {
    let (totals, deadlines) = (thread.totals(), thread.deadlines());
    for _ in 0..BLOCKS {
        let pace = montecito_block(totals);
        if deadlines.due_at(pace) {
            thread.check();
        }
    }
}

/// A Montecito thread that counts with twelve counters, each with its interrupt enabled and nothing qualified.
fn montecito_machine() -> Machine<Unconnected> {
    let machine = Builder::new("montecito").expect("the part is known").build(Unconnected).unwrap();
    let thread = machine.thread(0).expect("there is one thread");
    let mut psr = Psr::default();
    psr.set_up(true);
    thread.set_context(Context::ia64(psr.bits(), 0));
    for (number, event) in (4..).zip(MONTECITO_EVENTS.into_iter().cycle().take(montecito::COUNTERS)) {
        let mut pmc = montecito::Pmc::default();
        pmc.set_plm(0b0001);
        pmc.set_oi(true);
        pmc.set_es(event);
        pmc.set_ism(0b10);
        thread.ia64().mov_to_pmc(number, pmc.bits()).expect("level 0 may write");
    }
    machine
}

fn montecito_hot_path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hot path, Montecito");
    group.throughput(Throughput::Elements(BLOCKS));
    let totals = Totals::new();
    group.bench_function("bare totals", |bencher| bencher.iter(|| montecito_bare(black_box(&totals))));
    let machine = montecito_machine();
    let thread = machine.thread(0).expect("there is one thread");
    // A counter of 47 bits does not overflow in a measurement.
    group.bench_function(BenchmarkId::new("counters", 12), |bencher| bencher.iter(|| montecito_attached(black_box(thread))));
    group.finish();
}

/// What a translated block of eight instructions adds to those signals. Returns the cycles so far, the pace.
#[inline(always)]
fn knl_block(totals: &Totals) -> u64 {
    totals.add(Signal::InstructionsRetired, 8);
    totals.add(Signal::Loads, 2);
    totals.add(Signal::ConditionalBranchesTaken, 1);
    totals.add(Signal::ReferenceCycles, 8);
    totals.add(Signal::Cycles, 8)
}

#[inline(never)]
fn knl_bare(totals: &Totals) {
    for _ in 0..BLOCKS {
        knl_block(totals);
    }
}

#[inline(never)]
fn knl_attached(thread: Thread<'_, Unconnected>) {
    let (totals, deadlines) = (thread.totals(), thread.deadlines());
    for _ in 0..BLOCKS {
        let pace = knl_block(totals);
        if deadlines.due_at(pace) {
            thread.check();
        }
    }
}

/// A Knights Landing thread that counts with all five counters, each with its interrupt enabled: loads, taken conditional branches,
/// instructions, core clocks and reference clocks.
fn knl_machine() -> Machine<Unconnected> {
    let machine = Builder::new("knl").expect("the part is known").threads(8).build(Unconnected).unwrap();
    let thread = machine.thread(0).expect("there are eight threads");
    for (number, value) in [(0x186, 0x0053_4004), (0x187, 0x0053_FEC4), (0x38D, 0xBBB), (0x38F, 0x7_0000_0003)] {
        thread.x86().wrmsr(number, value).expect("level 0 may write");
    }
    machine
}

fn knl_hot_path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hot path, Knights Landing");
    group.throughput(Throughput::Elements(BLOCKS));
    let totals = Totals::new();
    group.bench_function("bare totals", |bencher| bencher.iter(|| knl_bare(black_box(&totals))));
    let machine = knl_machine();
    let thread = machine.thread(0).expect("there are eight threads");
    // A counter of 40 bits overflows once in many seconds.
    group.bench_function(BenchmarkId::new("counters", 5), |bencher| bencher.iter(|| knl_attached(black_box(thread))));
    group.finish();
}

fn slow_paths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("slow path");
    for counters in [0, 1, 4] {
        let machine = machine(counters);
        let thread = machine.thread(0).expect("there is one thread");
        let id = |what| BenchmarkId::new(what, counters);
        group.bench_function(id("read a counter (RDPMC)"), |bencher| {
            bencher.iter(|| {
                thread.totals().add(Signal::Cycles, 1);
                thread.x86().rdpmc(black_box(0))
            });
        });
        group
            .bench_function(id("write a counter"), |bencher| bencher.iter(|| thread.x86().wrmsr(black_box(0xC001_0004), 0x8000_0000_0001)));
        group.bench_function(id("read a select"), |bencher| bencher.iter(|| thread.x86().rdmsr(black_box(0xC001_0000))));
        let select = thread.x86().rdmsr(0xC001_0000).expect("level 0 may read");
        group.bench_function(id("write a select (disable, enable)"), |bencher| {
            let mut enable = 0;
            bencher.iter(|| {
                enable ^= 1 << 22;
                thread.x86().wrmsr(black_box(0xC001_0000), select ^ enable)
            });
            thread.x86().wrmsr(0xC001_0000, select).expect("level 0 may write");
        });
        group.bench_function(id("write a select (another event)"), |bencher| {
            let mut event = 0;
            bencher.iter(|| {
                event ^= 0x41 ^ 0x40;
                thread.x86().wrmsr(black_box(0xC001_0000), select & !0xff | 0x40 | event)
            });
            thread.x86().wrmsr(0xC001_0000, select).expect("level 0 may write");
        });
        group.bench_function(id("fold and set deadlines"), |bencher| {
            bencher.iter(|| {
                thread.totals().add(Signal::Cycles, 1);
                thread.service();
            });
        });
        group.bench_function(id("change of context"), |bencher| {
            let mut cpl = 0;
            bencher.iter(|| {
                cpl ^= 3;
                thread.set_context(Context::x86(cpl, 0x202, 0));
            });
            thread.set_context(Context::RESET);
        });
    }
    group.finish();
}

/// A machine whose first thread does something again and again, and what it is called.
struct Subject {
    name: &'static str,
    machine: Machine<Unconnected>,
    /// At level 0, or in hypervisor state, and in user or problem state.
    contexts: [Context; 2],
    counter: Address,
    writable: (Address, u64),
}

/// K8: four counters with PerfEvtSel bits `levels` beside INT and EN.
fn k8_counting(levels: u64, name: &'static str) -> Subject {
    let machine = machine(4);
    let thread = machine.thread(0).expect("there is one thread");
    for number in 0..4 {
        let select = thread.x86().rdmsr(0xC001_0000 + number).expect("level 0 may read");
        thread.x86().wrmsr(0xC001_0000 + number, select & !(3 << 16) | levels).expect("level 0 may write");
    }
    let contexts = [0, 3].map(|cpl| Context::x86(cpl, 0x202, 0x100));
    Subject { name, machine, contexts, counter: Address::Rdpmc(1), writable: (Address::Msr(0xC001_0005), 0x8000_0000_0001) }
}

/// Knights Landing: five counters, whose control says the levels.
fn knl_counting(levels: u64, name: &'static str) -> Subject {
    let machine = knl_machine();
    let thread = machine.thread(0).expect("there are eight threads");
    let fixed = 0x888 | ((levels >> 17 & 1 | levels >> 15 & 2) * 0x111);
    for (number, value) in [(0x186, 0x0050_4004 | levels), (0x187, 0x0050_FEC4 | levels), (0x38D, fixed)] {
        thread.x86().wrmsr(number, value).expect("level 0 may write");
    }
    let contexts = [0, 3].map(|cpl| Context::x86(cpl, 0x202, 0x100));
    Subject { name, machine, contexts, counter: Address::Rdpmc(1), writable: (Address::Msr(0xC2), 1) }
}

/// POWER9: six counters, and the freezes of MMCR2 for PMC1-6.
fn power9_counting(freezes: u64, name: &'static str) -> Subject {
    let machine = power9();
    let thread = machine.thread(0).expect("there is one thread");
    thread.power().mtspr(spr::MMCR2, freezes).expect("the hypervisor may write");
    let contexts = [1 << 60, 1 << 60 | 1 << 14].map(|msr| Context::power(msr, thread.context().control));
    Subject { name, machine, contexts, counter: Address::Spr(spr::PMC1 + 1), writable: (Address::Spr(spr::PMC1 + 2), 1) }
}

/// The USR and OS bits of a select.
const EVERY_LEVEL: u64 = 3 << 16;
const LEVEL_0: u64 = 1 << 17;

/// FCnP of MMCR2, for six counters.
const PROBLEM_STATE: u64 = 1 << 62 | 1 << 53 | 1 << 44 | 1 << 35 | 1 << 26 | 1 << 17;

/// What an emulator pays for a system call, and a guest for its registers.
fn entries(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("entries");
    // What no entry can cost less than.
    let lock = vm_pmu::arch::lock::Mutex::<u64>::new(0);
    group.bench_function("take a lock and let it go", |bencher| bencher.iter(|| *black_box(&lock).lock() += 1));
    for Subject { name, machine, contexts, counter, writable: (written, value) } in [
        k8_counting(EVERY_LEVEL, "K8, every level"),
        k8_counting(LEVEL_0, "K8, level 0"),
        knl_counting(EVERY_LEVEL, "Knights Landing, every level"),
        knl_counting(LEVEL_0, "Knights Landing, level 0"),
        power9_counting(0, "POWER9, every state"),
        power9_counting(PROBLEM_STATE, "POWER9, not problem state"),
    ] {
        let thread = machine.thread(0).expect("there is a thread");
        group.bench_function(BenchmarkId::new("change of privilege", name), |bencher| {
            let mut user = false;
            bencher.iter(|| {
                user = !user;
                thread.totals().add(Signal::Cycles, 1);
                thread.set_context(black_box(contexts[usize::from(user)]));
            });
            thread.set_context(contexts[0]);
        });
        group.bench_function(BenchmarkId::new("read a counter", name), |bencher| {
            bencher.iter(|| {
                thread.totals().add(Signal::Cycles, 1);
                thread.read(black_box(counter))
            });
        });
        group.bench_function(BenchmarkId::new("write a counter", name), |bencher| {
            bencher.iter(|| {
                thread.totals().add(Signal::Cycles, 1);
                thread.write(black_box(written), value)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hot_path, countdown, power9_hot_path, montecito_hot_path, knl_hot_path, slow_paths, entries);
criterion_main!(benches);
