//! What the companion costs: per access, per branch and per operation of each part's pipeline, of instructions that hit everywhere by what they
//! do, of bundles of the Itaniums, and what their queues cost, with the bare loop that only keeps totals beside it in the same run.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vm_pmu::Signal;
use vm_pmu::arch::feed::{BranchKind, Demand, Records, SignalSet, Totals};
use vm_pmu::companion::{
    Access, AccessKind, Builder, Bundle, Class, Clock, Follower, Instruction, Operation, Register, Transfer, Untranslated, parts,
};
use vm_pmu::topology;

/// Instructions in one measurement, and in one block.
const INSTRUCTIONS: u64 = 4096;
const BLOCK: u64 = 8;

fn demand(signals: &[Signal]) -> Demand {
    let mut set = SignalSet::EMPTY;
    signals.iter().for_each(|signal| set.insert(*signal));
    let mut demand = Demand::default();
    demand.replace(set, false, Records::NONE);
    demand
}

const CODE: Instruction<'static> = Instruction {
    address: 0x40_0000,
    physical: 0x40_0000,
    length: 4,
    next_page: None,
    micro_ops: 1,
    class: Class::Simple,
    operation: None,
    floating_point: false,
    segment_loads: 0,
    accesses: &[],
    transfer: None,
    bundle: None,
};

/// Runs a block after the other: `tell` tells the follower of one instruction.
fn run(
    follower: &mut Follower<'_>,
    totals: &Totals,
    thread: &topology::Thread<'_, impl vm_pmu::irq::InterruptLine>,
    mut tell: impl FnMut(&mut Follower<'_>, u64),
) {
    for block in 0..INSTRUCTIONS / BLOCK {
        for instruction in 0..BLOCK {
            tell(follower, block * BLOCK + instruction);
        }
        follower.deliver(thread, &[], |_| {
            totals.add(Signal::InstructionsRetired, BLOCK);
        });
    }
}

/// Instructions of a program.
const PROGRAM: u64 = 144;

/// What an instruction of a program does.
#[derive(Clone, Copy)]
enum Does {
    Adds,
    Loads,
    Stores,
    Branches { taken: bool },
}

/// What each instruction of a program does, by its number.
type Program = fn(u64) -> Does;

/// From one short piece of code to the next.
const STRIDE: u64 = 0x140;

/// Programs whose instructions hit everywhere, each a loop: by what they do, a mix of five additions, two loads, a store and a branch, and short
/// pieces of code. With how many instructions lie in a row, if not all do.
const PROGRAMS: [(&str, Program, u64); 7] = [
    ("additions in a row", |_| Does::Adds, PROGRAM),
    ("loads", |_| Does::Loads, PROGRAM),
    ("stores", |_| Does::Stores, PROGRAM),
    ("branches not taken", |_| Does::Branches { taken: false }, PROGRAM),
    ("branches taken", |_| Does::Branches { taken: true }, PROGRAM),
    ("mix", mix, PROGRAM),
    ("short pieces", pieces, PIECE),
];

fn mix(number: u64) -> Does {
    match number % 9 {
        0 | 4 => Does::Loads,
        6 => Does::Stores,
        8 => Does::Branches { taken: number == PROGRAM - 1 },
        _ => Does::Adds,
    }
}

/// Instructions of a short piece.
const PIECE: u64 = 6;

/// Three additions, two accesses, of which every fourth stores, and a branch to the next piece.
fn pieces(number: u64) -> Does {
    match number % PIECE {
        3 if (number / PIECE).is_multiple_of(2) => Does::Stores,
        0 | 3 => Does::Loads,
        5 => Does::Branches { taken: true },
        _ => Does::Adds,
    }
}

/// Runs each program with the pipeline of each part that has one which reorders.
fn hits(criterion: &mut Criterion) {
    let machine = topology::Builder::new("k8").expect("known").build(|_thread: usize, _counter: u32| {}).unwrap();
    let thread = machine.thread(0).expect("one thread");
    let mut group = criterion.benchmark_group("hits");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    let registers: Vec<_> = (10..26).map(|number| [Register(number), Register(40)]).collect();
    let addresses = (0..PROGRAM).map(|number| 0x10_0000 + number * 17 % 128 * 8);
    let loads: Vec<_> = addresses.map(|address| [Access { address, physical: address, size: 8, ..Access::default() }]).collect();
    let store = |[load]: &[Access; 1]| {
        [Access { kind: AccessKind::Store, address: load.address + 0x2000, physical: load.address + 0x2000, ..*load }]
    };
    let stores: Vec<_> = loads.iter().map(store).collect();
    for profile in [&parts::K8, &parts::KNL, &parts::POWER9] {
        for (name, does, piece) in PROGRAMS {
            let at = |number: u64| CODE.address + number % PROGRAM / piece * STRIDE + number % piece * 4;
            let program = (0..PROGRAM).zip(registers.iter().cycle()).zip(loads.iter().zip(&stores));
            let program: Vec<_> = program
                .map(|((number, registers), (load, store))| {
                    let (own, addresses) = registers.split_at(1);
                    let code = Instruction { address: at(number), physical: at(number), ..CODE };
                    let operation = Operation { width: 8, ..Operation::default() };
                    match does(number) {
                        Does::Adds => Instruction { operation: Some(Operation { reads: own, writes: own, ..operation }), ..code },
                        Does::Loads => {
                            let operation = Some(Operation { addresses, writes: own, ..operation });
                            Instruction { class: Class::Load, accesses: load, operation, ..code }
                        }
                        Does::Stores => {
                            let operation = Some(Operation { addresses, reads: own, ..operation });
                            Instruction { class: Class::Store, accesses: store, operation, ..code }
                        }
                        Does::Branches { taken } => {
                            let transfer = Some(Transfer { kind: BranchKind::Conditional, taken, target: at(number + 1) });
                            let operation = Some(Operation { reads: own, ..operation });
                            Instruction { class: Class::Branch, transfer, operation, ..code }
                        }
                    }
                })
                .collect();
            let companion = Builder::of(profile).threads(usize::from(profile.threads)).clock(Clock::Companion).build();
            let mut follower = companion.follower(0).expect("one thread");
            follower.sync(&demand(&[Signal::Cycles]));
            let mut instructions = program.iter().cycle();
            group.bench_function(BenchmarkId::new(name, profile.name), |bencher| {
                bencher.iter(|| {
                    run(&mut follower, thread.totals(), &thread, |follower, _| {
                        let instruction = instructions.next().unwrap_or(&CODE);
                        follower.execute(black_box(instruction), &mut Untranslated(12));
                    });
                });
            });
        }
    }
    group.finish();
}

/// Bundles of a program.
const BUNDLES: u64 = 48;

/// Runs a loop of bundles that hit everywhere with the pipelines of both Itaniums: a group is two bundles with a load or a store each and four
/// additions.
fn bundles(criterion: &mut Criterion) {
    const ADD: u64 = 8 << 37;
    const LOAD: u64 = 4 << 37 | 3 << 30;
    const STORE: u64 = 4 << 37 | 0x33 << 30;
    const BRANCH: u64 = 4 << 37 | 2 << 33 | 6;
    let machine = topology::Builder::new("k8").expect("known").build(|_thread: usize, _counter: u32| {}).unwrap();
    let thread = machine.thread(0).expect("one thread");
    let mut group = criterion.benchmark_group("hits");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    let registers: Vec<_> = (32..72).map(|number| [Register(number), Register(2)]).collect();
    let access = |number: u64| {
        let (kind, address) = if number % 4 == 2 { (AccessKind::Store, 0x10_2000) } else { (AccessKind::Load, 0x10_0000) };
        let address = address + number * 17 % 128 * 8;
        [Access { address, physical: address, size: 8, kind, ..Access::default() }]
    };
    let accesses: Vec<_> = (0..BUNDLES).map(access).collect();
    let program = accesses.iter().zip(0..BUNDLES).flat_map(|(accesses, number)| {
        let stores = accesses.iter().any(|access| access.kind == AccessKind::Store);
        let last = number == BUNDLES - 1;
        // MII, with a stop behind the second of two; MIB at the end of the loop.
        let template = if last { 0x11 } else { (number % 2) as u8 };
        let bundle = Bundle::new(template, [if stores { STORE } else { LOAD }, ADD, if last { BRANCH } else { ADD }]);
        let address = CODE.address + 16 * number;
        let registers = &registers;
        (0..3u8).zip(registers.iter().cycle().skip(3 * number as usize)).map(move |(slot, registers)| {
            let (own, addresses) = registers.split_at(1);
            let code = Instruction { address, physical: address, length: 16, bundle: Some(bundle.at(slot)), ..CODE };
            let operation = Operation { width: 8, ..Operation::default() };
            match slot {
                0 if stores => {
                    let operation = Some(Operation { addresses, reads: own, ..operation });
                    Instruction { class: Class::Store, accesses, operation, ..code }
                }
                0 => {
                    let operation = Some(Operation { addresses, writes: own, ..operation });
                    Instruction { class: Class::Load, accesses, operation, ..code }
                }
                2 if last => {
                    let transfer = Some(Transfer { kind: BranchKind::Conditional, taken: true, target: CODE.address });
                    Instruction { class: Class::Branch, transfer, operation: Some(operation), ..code }
                }
                _ => Instruction { operation: Some(Operation { reads: own, writes: own, ..operation }), ..code },
            }
        })
    });
    let program: Vec<_> = program.collect();
    for profile in [&parts::MONTECITO, &parts::ITANIUM] {
        let companion = Builder::of(profile).threads(usize::from(profile.threads)).clock(Clock::Companion).build();
        let mut follower = companion.follower(0).expect("one thread");
        follower.sync(&demand(&[Signal::Cycles]));
        let mut instructions = program.iter().cycle();
        group.bench_function(BenchmarkId::new("bundles", profile.name), |bencher| {
            bencher.iter(|| {
                run(&mut follower, thread.totals(), &thread, |follower, _| {
                    let instruction = instructions.next().unwrap_or(&CODE);
                    follower.execute(black_box(instruction), &mut Untranslated(12));
                });
            });
        });
    }
    group.finish();
}

fn companion(criterion: &mut Criterion) {
    let machine = topology::Builder::new("k8").expect("known").build(|_thread: usize, _counter: u32| {}).unwrap();
    let thread = machine.thread(0).expect("one thread");
    let totals = thread.totals();
    let mut group = criterion.benchmark_group("companion");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    group.bench_function("bare", |bencher| {
        bencher.iter(|| {
            for _ in 0..INSTRUCTIONS / BLOCK {
                totals.add(Signal::InstructionsRetired, black_box(BLOCK));
            }
        });
    });
    for (name, clock) in [("events", Clock::Embedder), ("time", Clock::Companion)] {
        let companion = Builder::new("k8").expect("known").clock(clock).build();
        let mut follower = companion.follower(0).expect("one thread");
        follower.sync(&Demand::default());
        group.bench_function(BenchmarkId::new("idle", name), |bencher| {
            bencher.iter(|| run(&mut follower, totals, &thread, |follower, _| follower.execute(black_box(&CODE), &mut Untranslated(12))));
        });
        follower.sync(&demand(&[Signal::Cycles, Signal::DataCacheMisses, Signal::BranchesMispredicted]));
        group.bench_function(BenchmarkId::new("plain", name), |bencher| {
            bencher.iter(|| run(&mut follower, totals, &thread, |follower, _| follower.execute(black_box(&CODE), &mut Untranslated(12))));
        });
        let branches = |follower: &mut Follower<'_>| {
            run(follower, totals, &thread, |follower, number| {
                let transfer = Transfer { kind: BranchKind::Conditional, taken: number % 3 == 0, target: 0x40_0000 };
                follower.execute(black_box(&Instruction { transfer: Some(transfer), ..CODE }), &mut Untranslated(12));
            });
        };
        group.bench_function(BenchmarkId::new("branch", name), |bencher| bencher.iter(|| branches(&mut follower)));
        if clock == Clock::Embedder {
            // Where nobody looks at caches.
            let mut follower = companion.follower(0).expect("one thread");
            follower.sync(&demand(&[Signal::BranchesMispredicted]));
            group.bench_function(BenchmarkId::new("branch, branches alone", name), |bencher| bencher.iter(|| branches(&mut follower)));
        }
        for kib in [2u64, 48, 512, 8192] {
            for (kind, word) in [(AccessKind::Load, "load"), (AccessKind::Store, "store")] {
                let lines = kib << 10 >> 6;
                let mut at = 0;
                group.bench_function(BenchmarkId::new(format!("{word} {kib} KiB"), name), |bencher| {
                    bencher.iter(|| {
                        run(&mut follower, totals, &thread, |follower, _| {
                            at = (at + 17) % lines;
                            let address = 0x100_0000 + at * 64;
                            let accesses = [Access { address, physical: address, size: 8, kind, ..Access::default() }];
                            follower.execute(black_box(&Instruction { accesses: &accesses, ..CODE }), &mut Untranslated(12));
                        });
                    });
                });
            }
        }
    }
    for profile in parts::ALL {
        let companion = Builder::of(profile).threads(usize::from(profile.threads)).clock(Clock::Companion).build();
        let mut follower = companion.follower(0).expect("one thread");
        follower.sync(&demand(&[Signal::Cycles]));
        // As a translator keeps them: prepared once, and told each time they are executed.
        let registers: [[Register; 1]; 16] = std::array::from_fn(|number| [Register(10 + number as u16)]);
        let prepared = registers.each_ref().map(|registers| {
            let operation = Operation { width: 8, reads: registers, writes: registers, ..Operation::default() };
            Instruction { operation: Some(operation), ..CODE }
        });
        let mut additions = |name: &str, follower: &mut Follower<'_>| {
            group.bench_function(BenchmarkId::new(name, profile.name), |bencher| {
                bencher.iter(|| {
                    run(follower, totals, &thread, |follower, number| {
                        let instruction = prepared.get(number as usize % prepared.len()).unwrap_or(&CODE);
                        follower.execute(black_box(instruction), &mut Untranslated(12));
                    });
                });
            });
        };
        additions("additions", &mut follower);
        if profile.threads > 1 {
            companion.follower(1).expect("two threads").set_halted(false);
            additions("additions beside another thread", &mut follower);
        }
    }
    for (profile, counted) in [
        (&parts::MONTECITO, &[][..]),
        (&parts::MONTECITO, &[Signal::BusRequestQueueLow]),
        (&parts::MONTECITO, &[Signal::L2QueueHits]),
        (&parts::ITANIUM, &[]),
        (&parts::ITANIUM, &[Signal::BusRequestQueueLow]),
    ] {
        let companion = Builder::of(profile).threads(usize::from(profile.threads)).clock(Clock::Companion).build();
        let mut follower = companion.follower(0).expect("one thread");
        follower.sync(&demand(&[&[Signal::Cycles], counted].concat()));
        let name = counted.first().map_or("cycles", |signal| signal.name());
        let mut at = 0;
        // Each fourth instruction loads a line that no cache has.
        group.bench_function(BenchmarkId::new(format!("misses, {name}"), profile.name), |bencher| {
            bencher.iter(|| {
                run(&mut follower, totals, &thread, |follower, number| {
                    at = (at + 128) % (128 << 20);
                    let address = 0x100_0000 + at;
                    let loads = [Access { address, physical: address, size: 8, ..Access::default() }];
                    let accesses: &[Access] = if number % 4 == 0 { &loads } else { &[] };
                    follower.execute(black_box(&Instruction { accesses, ..CODE }), &mut Untranslated(14));
                });
            });
        });
    }
    group.finish();
}

criterion_group!(benches, companion, hits, bundles);
criterion_main!(benches);
