//! What the PMU costs a translator: as ratios to Unicorn that nothing watches, measured in the same run.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iced_x86::code_asm::*;
use vm_pmu::topology::Builder;
use vm_pmu_guest_tests::attach::{Cpu, Lines};
use vm_pmu_guest_tests::engine::interp::{Config, EmptyBus, Image, Limits, Machine, Observer, Unobserved};
use vm_pmu_guest_tests::engine::unicorn::x86::execute_with_unicorn;

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
        let pmus = Builder::new("k8").expect("known").build(lines.clone());
        let thread = pmus.thread(0).expect("one thread");
        for (number, select) in (0u32..).zip(SELECTS.iter().take(counters)) {
            thread.wrmsr(0xC001_0004 + number, 1).expect("level 0");
            thread.wrmsr(0xC001_0000 + number, *select).expect("level 0");
        }
        group.bench_function(BenchmarkId::new("counters", counters), |bencher| {
            let mut machine = machine(&image, |_| Cpu::new(thread, &lines));
            bencher.iter(|| machine.run(Limits::steps(STEPS)));
        });
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
