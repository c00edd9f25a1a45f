//! What it costs to post: all counters of a POWER9 chip over a guest's memory, a slot of its engine, and what happens between.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use vm_memory::{GuestAddress, GuestMemoryMmap};
use vm_pmu::memory::{Chip, Event, Guest, Nest, Totals};

const HOME: u64 = 0x40_0000;

/// A chip whose engine posts.
fn chip(guest: Guest<'_, GuestMemoryMmap>) -> Chip {
    let chip = Chip::new(0, Nest::new(HOME));
    chip.advance(4 * chip.slot_cycles(), &guest).ok().expect("there is memory");
    chip
}

/// Each event of the default mode happens often enough that its counter goes on.
fn happen(totals: &Totals, events: &[Event]) {
    events.iter().for_each(|event| totals.add(*event, 4096));
}

fn nest(criterion: &mut Criterion) {
    // Memory below a hole and above it, as where devices lie in between.
    let ranges = [(GuestAddress(0), 0x80_0000), (GuestAddress(0x1_0000_0000), 0x80_0000)];
    let memory = GuestMemoryMmap::<()>::from_ranges(&ranges).expect("it can be mapped");
    let guest = Guest(&memory);
    let events: Vec<Event> = Event::all().filter(|event| event.offset() < 0x1_0000).collect();

    let mut group = criterion.benchmark_group("nest");
    let posted = chip(guest);
    // Clocks go on by a slot each time, so that every counter has something: the 149 of table 6-10 and the counts of updates.
    group.bench_function("post all", |bencher| {
        bencher.iter_custom(|times| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..times {
                happen(posted.totals(), &events);
                posted.advance(100_000, &guest).ok().expect("there is memory");
                let begin = std::time::Instant::now();
                black_box(posted.post_now(black_box(&guest)).ok()).expect("there is memory");
                time += begin.elapsed();
            }
            time
        });
    });
    let busy = chip(guest);
    let slot = busy.slot_cycles();
    group.bench_function("slot", |bencher| {
        bencher.iter_custom(|times| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..times {
                happen(busy.totals(), &events);
                let begin = std::time::Instant::now();
                black_box(busy.advance(black_box(slot), &guest).ok()).expect("there is memory");
                time += begin.elapsed();
            }
            time
        });
    });
    let idle = chip(guest);
    idle.command(vm_pmu::memory::Command::Pause, &guest).expect("there is memory");
    group.bench_function("slot, paused", |bencher| bencher.iter(|| black_box(idle.advance(black_box(slot), &guest).slots)));
    group.bench_function("cycles without a slot", |bencher| {
        let chip = Chip::new(0, Nest::new(HOME).with_slot(u64::MAX));
        bencher.iter(|| black_box(chip.advance(black_box(1), &guest).slots));
    });
    let event = Event::at(0x50).expect("PM_MCS23_64B_RD_DISP_PORT01");
    group.bench_function("add", |bencher| bencher.iter(|| busy.add(black_box(event), 2)));
    group.finish();
}

criterion_group!(benches, nest);
criterion_main!(benches);
