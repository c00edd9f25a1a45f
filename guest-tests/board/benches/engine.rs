//! What the PMU costs the interpreter: as ratios to the interpreter without an observer, measured in the same run.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iced_x86::code_asm::*;
use vm_pmu::companion::{self, Clock};
use vm_pmu::topology::Builder;
use vm_pmu_board::Lines;
use vm_pmu_board::x86::Cpu;
use vm_pmu_engines::x86::{Config, EmptyBus, Image, Limits, Machine, Unobserved};

/// Instructions in one measurement.
const STEPS: u64 = 200_000;

/// Where the guest's code is loaded.
const CODE: u64 = 0x10_0000;

/// Bytes of memory of the engine's usual machine.
const RAM: u64 = 16 << 20;

/// PerfEvtSel for C0h, 76h, C2h and 40h, with OS, INT and EN.
const SELECTS: [u64; 4] = [0x0052_00C0, 0x0052_0076, 0x0052_00C2, 0x0052_0040];

/// A loop of arithmetic, a load, a store and a branch, for ever.
fn guest() -> Image {
    let mut a = CodeAssembler::new(64).expect("64 bits");
    let mut again = a.create_label();
    a.set_label(&mut again).expect("one label");
    let code: Result<(), IcedError> = (|| {
        a.mov(rax, qword_ptr(0x20_0000))?;
        a.lea(rbx, qword_ptr(rax + rcx * 4 + 1))?;
        a.xor(rbx, rax)?;
        a.mov(qword_ptr(0x20_0000), rbx)?;
        a.shr(rbx, 3)?;
        a.dec(ecx)?;
        a.jmp(again)
    })();
    code.expect("it can be assembled");
    Image::raw(CODE, a.assemble(CODE).expect("it can be assembled"))
}

fn engine(criterion: &mut Criterion) {
    let image = guest();
    let mut group = criterion.benchmark_group("interpreter");
    group.throughput(Throughput::Elements(STEPS));
    group.bench_function("unwatched", |bencher| {
        let mut machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Unobserved).expect("it loads");
        bencher.iter(|| machine.run(Limits::steps(STEPS)));
    });
    for counters in [0, 1, 4] {
        let lines = Lines::new(1);
        let pmus = Builder::new("k8").expect("known").build(lines.clone()).unwrap();
        let thread = pmus.thread(0).expect("one thread");
        for (number, select) in (0u32..).zip(SELECTS.iter().take(counters)) {
            thread.x86().wrmsr(0xC001_0004 + number, 0x8000_0000_0001).expect("level 0");
            thread.x86().wrmsr(0xC001_0000 + number, *select).expect("level 0");
        }
        group.bench_function(BenchmarkId::new("counters", counters), |bencher| {
            let mut machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Cpu::new(thread, &lines)).expect("it loads");
            bencher.iter(|| machine.run(Limits::steps(STEPS)));
        });
    }
    // What the companion adds: attached and idle, for one event of each kind, and keeping the time.
    let cases: [(&str, Clock, &[u64]); 5] = [
        ("idle", Clock::Embedder, &[]),
        ("instructions", Clock::Embedder, &[0x0052_00C0]),
        ("mispredictions", Clock::Embedder, &[0x0052_00C3]),
        ("misses", Clock::Embedder, &[0x0052_0041]),
        ("time", Clock::Companion, &[0x0052_0076]),
    ];
    for (name, clock, selects) in cases {
        let lines = Lines::new(1);
        let pmus = Builder::new("k8").expect("known").build(lines.clone()).unwrap();
        let companion = companion::Builder::new("k8").expect("known").clock(clock).build();
        let thread = pmus.thread(0).expect("one thread");
        for (number, select) in (0u32..).zip(selects) {
            thread.x86().wrmsr(0xC001_0004 + number, 0x8000_0000_0001).expect("level 0");
            thread.x86().wrmsr(0xC001_0000 + number, *select).expect("level 0");
        }
        let attach = |_| {
            let mut cpu = Cpu::new(thread, &lines);
            cpu.follow(companion.follower(0).expect("one thread"), RAM);
            cpu
        };
        group.bench_function(BenchmarkId::new("companion", name), |bencher| {
            let mut machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), attach).expect("it loads");
            bencher.iter(|| machine.run(Limits::steps(STEPS)));
        });
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
