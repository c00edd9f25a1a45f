//! What a whole Knights Landing costs to build, and what an access to a box costs, with a read of a thread's own register beside it in the
//! same run.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use vm_pmu::arch::feed::{Request, RequestKind, Supplier};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::untile::{Domain, Kind, Stage, Transaction, UnitId};

type Line = fn(usize, u32);

/// 64 cores in 32 tiles, with every box.
fn part() -> Machine<Line> {
    let line: Line = |_thread, _counter| {};
    Builder::new("knl").expect("known").packages(32).threads(8).build(line).unwrap()
}

fn untile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("untile");
    group.bench_function("build 64 cores", |bencher| bencher.iter(|| black_box(part())));

    let machine = part();
    let (cpu, boxes) = (machine.thread(0).expect("there"), machine.untile().expect("there"));
    group.bench_function("thread RDMSR", |bencher| bencher.iter(|| cpu.x86().rdmsr(black_box(0xC1))));
    for cha in 0..38 {
        cpu.x86().wrmsr(0xE00 + 12 * cha + 1, 0x0040_0000).expect("a control");
    }
    group.bench_function("CHA RDMSR", |bencher| bencher.iter(|| cpu.x86().rdmsr(black_box(0xE08))));
    group.bench_function("CHA WRMSR", |bencher| bencher.iter(|| cpu.x86().wrmsr(black_box(0xE0B), 5)));
    group.bench_function("CHA control WRMSR", |bencher| bencher.iter(|| cpu.x86().wrmsr(black_box(0xE02), 0x0040_3135)));
    group.bench_function("PCI read", |bencher| bencher.iter(|| boxes.pci_read(0xFF, 15, 0, black_box(0x400), 4)));
    group.bench_function("PCI write", |bencher| bencher.iter(|| boxes.pci_write(0xFF, 15, 0, black_box(0x400), 4, 5)));
    group.bench_function("tick", |bencher| bencher.iter(|| boxes.tick(Domain::Uclk, black_box(1))));
    let silent = UnitId::new(Kind::Cha, 20).expect("there");
    group.bench_function("happen, nobody listens", |bencher| bencher.iter(|| boxes.inject(black_box(silent), 0x35, 0x11, 1, 1)));
    cpu.x86().wrmsr(0xE01, 0x0040_3135).expect("a control");
    let request = Transaction::default();
    group.bench_function("transact", |bencher| bencher.iter(|| boxes.transact(0, black_box(&request), Stage::Served { clocks: 200 })));

    // A read from MCDRAM while every box counts: TOR_INSERTS.EVICT and rejects of every CHA, packets of every stop.
    for cha in 0..38 {
        for (counter, select) in [0x0040_3235, 0x0040_0119, 0x0040_0FA6, 0x0040_0FAA].into_iter().enumerate() {
            cpu.x86().wrmsr(0xE00 + 12 * cha + 1 + counter as u32, select).expect("a control");
        }
    }
    let mut number = 0u64;
    group.bench_function("request, every CHA counts", |bencher| {
        bencher.iter(|| {
            number += 1;
            let physical = (number % 8192) * 64;
            let request = Request { supplier: Supplier::NearMemory { far: false }, physical, ..Request::of(RequestKind::DataRead) };
            boxes.carry_request(black_box(&request), (number % 32) as u8, (number % 38) as u8);
            boxes.tick(Domain::Uclk, 20);
        });
    });
    group.finish();
}

criterion_group!(benches, untile);
criterion_main!(benches);
