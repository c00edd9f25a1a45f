//! What the companion costs: per access, per branch and per operation of each part's pipeline, and what the Itaniums' queues cost, with the bare loop that only keeps totals beside it in the same run.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vm_pmu::Signal;
use vm_pmu::arch::feed::{BranchKind, Demand, Records, SignalSet, Totals};
use vm_pmu::companion::{Access, AccessKind, Builder, Clock, Follower, Instruction, Operation, Register, Transfer, Untranslated, parts};
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
    class: vm_pmu::companion::Class::Simple,
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

criterion_group!(benches, companion);
criterion_main!(benches);
