//! What the PMU costs a translator: as ratios to Unicorn without an observer, measured in the same run.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iced_x86::code_asm::*;
use vm_pmu::arch::power9::spr;
use vm_pmu::topology::Builder;
use vm_pmu_board::x86::{Cpu, pace};
use vm_pmu_board::{Lines, power};
use vm_pmu_engines::power as powerpc;
use vm_pmu_engines::power::assemble::{Assembler, R3, R4, R5, R6};
use vm_pmu_engines::unicorn::power::{Blocks, Emulation};
use vm_pmu_engines::unicorn::x86::execute_with_unicorn;
use vm_pmu_engines::x86::{Config, EmptyBus, Image, Limits, Machine, Observer, Unobserved};

/// Instructions in one measurement.
const STEPS: u64 = 1_000_000;

/// Where the guest's code is loaded.
const CODE: u64 = 0x10_0000;

/// PerfEvtSel for C0h, 76h, C2h and C4h, with OS, INT and EN.
const SELECTS: [u64; 4] = [0x0052_00C0, 0x0052_0076, 0x0052_00C2, 0x0052_00C4];

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

fn machine<O: Observer>(image: &Image, observer: impl FnMut(usize) -> O) -> Machine<O> {
    let mut machine = Machine::new(&Config::default(), image, Arc::new(EmptyBus), observer).expect("it loads");
    execute_with_unicorn(&mut machine).expect("Unicorn is there");
    machine
}

fn engine(criterion: &mut Criterion) {
    let image = guest();
    let mut group = criterion.benchmark_group("unicorn");
    group.throughput(Throughput::Elements(STEPS));
    group.bench_function("unwatched", |bencher| {
        let mut machine = machine(&image, |_| Unobserved);
        bencher.iter(|| machine.run(Limits::steps(STEPS)));
    });
    for counters in [0, 1, 4] {
        let lines = Lines::new(1);
        let pmus = Builder::new("k8").expect("known").pace(pace()).build(lines.clone()).unwrap();
        let thread = pmus.thread(0).expect("one thread");
        for (number, select) in (0u32..).zip(SELECTS.iter().take(counters)) {
            thread.x86().wrmsr(0xC001_0004 + number, 1).expect("level 0");
            thread.x86().wrmsr(0xC001_0000 + number, *select).expect("level 0");
        }
        group.bench_function(BenchmarkId::new("counters", counters), |bencher| {
            let mut machine = machine(&image, |_| Cpu::new(thread, &lines));
            bencher.iter(|| machine.run(Limits::steps(STEPS)));
        });
    }
    group.finish();
}

/// Instructions in one measurement on POWER, where a block takes a call of Unicorn's.
const POWER_STEPS: u64 = 70_000;

/// The same loop, big-endian.
fn power_guest() -> powerpc::Image {
    let mut a = Assembler::new(0x1_0000, true);
    a.load(R6, 0x1_8000);
    let again = a.mark();
    a.ld(R3, 0, R6);
    a.addi(R4, R3, 1);
    a.xor(R4, R4, R3);
    a.std(R4, 0, R6);
    a.addi(R5, R5, 1);
    a.addi(R4, R4, 3);
    a.b(again);
    powerpc::Image::raw(0x1_0000, a.finish().expect("it can be assembled"))
}

fn power_machine<O: Blocks>(image: &powerpc::Image, observer: impl FnMut(usize) -> O) -> (powerpc::Machine<O>, Emulation<O>) {
    let config = powerpc::Config { ram: 0x4_0000, ..powerpc::Config::default() };
    let machine = powerpc::Machine::new(&config, image, observer).expect("it loads");
    let emulation = Emulation::new(&machine).expect("Unicorn is there");
    (machine, emulation)
}

fn power_engine(criterion: &mut Criterion) {
    let image = power_guest();
    let mut group = criterion.benchmark_group("unicorn_power");
    group.throughput(Throughput::Elements(POWER_STEPS));
    group.bench_function("unwatched", |bencher| {
        let (mut machine, mut emulation) = power_machine(&image, |_| powerpc::Unobserved);
        bencher.iter(|| emulation.run(&mut machine, powerpc::Limits::steps(POWER_STEPS)));
    });
    for counters in [0, 1, 4] {
        let lines = Lines::new(1);
        let pmus = Builder::new("power9").expect("known").pace(power::pace()).build(lines).unwrap();
        let thread = pmus.thread(0).expect("one thread");
        // Instructions; cycles, branches taken and instructions twice, with alerts. PMC5 and PMC6 count instructions and cycles in
        // addition.
        thread.power().mtspr(spr::MMCR1, if counters == 4 { 0x1EFA_0202 } else { 0x0200_0000 }).expect("privileged");
        thread.power().mtspr(spr::MMCR0, if counters == 0 { 1 << 31 } else { 0x0600_C000 }).expect("privileged");
        group.bench_function(BenchmarkId::new("counters", counters), |bencher| {
            let time_base = powerpc::Config::default().time_base;
            let (mut machine, mut emulation) = power_machine(&image, |_| power::Cpu::new(thread, time_base));
            bencher.iter(|| emulation.run(&mut machine, powerpc::Limits::steps(POWER_STEPS)));
        });
    }
    group.finish();
}

criterion_group!(benches, engine, power_engine);
criterion_main!(benches);
