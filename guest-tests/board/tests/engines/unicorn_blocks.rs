//! Blocks that Unicorn runs at one go: what they add, and where they stop.

use std::sync::Arc;

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use vm_pmu::topology::{Builder, Machine as Pmus};
use vm_pmu_board::Lines;
use vm_pmu_board::report::{Action, Trace};
use vm_pmu_board::trace::{Choice, Tracer};
use vm_pmu_board::x86::{Cpu, pace};
use vm_pmu_engines::unicorn::x86::{Tally, execute_with_unicorn};
use vm_pmu_engines::x86::{Config, EmptyBus, Exit, Image, Limits, Machine, Unobserved};

/// Where code is loaded.
const CODE: u64 = 0x10_0000;

/// PerfEvtSel for C0h, with OS, INT and EN.
const INSTRUCTIONS: u64 = 0x0052_00C0;
/// PerfEvtSel for 76h, with OS, INT and EN. An instruction is a cycle.
const CYCLES: u64 = 0x0052_0076;

fn image(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Image {
    let mut a = CodeAssembler::new(64).expect("64 bits");
    build(&mut a).expect("it can be assembled");
    Image::raw(CODE, a.assemble(CODE).expect("it can be assembled"))
}

/// A loop of seven instructions, with a load and a store, for ever.
fn forever() -> Image {
    image(|a| {
        let mut again = a.create_label();
        a.set_label(&mut again)?;
        a.mov(rax, qword_ptr(0x20_0000))?;
        a.lea(rbx, qword_ptr(rax + rcx * 4 + 1))?;
        a.xor(rbx, rax)?;
        a.mov(qword_ptr(0x20_0000), rbx)?;
        a.shr(rbx, 3)?;
        a.dec(ecx)?;
        a.jmp(again)
    })
}

/// What a run left.
#[derive(Debug, PartialEq)]
struct Left {
    exit: Exit,
    registers: Vec<u64>,
    rip: u64,
    cycles: u64,
    counters: [u64; 4],
    trace: Vec<Trace>,
}

/// Runs an image with counters that start at `counters`, on the interpreter or on Unicorn.
fn run(image: &Image, counters: [(u64, u64); 4], steps: u64, unicorn: bool) -> (Left, Tally) {
    let lines = Lines::new(1);
    let pmus: Pmus<Lines> = Builder::new("k8").expect("known").pace(pace()).build(lines.clone()).unwrap();
    let thread = pmus.thread(0).expect("one thread");
    for (number, (select, start)) in (0u32..).zip(counters) {
        thread.x86().wrmsr(0xC001_0004 + number, start).expect("level 0");
        thread.x86().wrmsr(0xC001_0000 + number, select).expect("level 0");
    }
    let attach = |_| {
        let mut cpu = Cpu::new(thread, &lines);
        cpu.record(&Tracer::new(Choice::first(16)));
        cpu
    };
    let mut machine = Machine::new(&Config::default(), image, Arc::new(EmptyBus), attach).expect("it loads");
    let tallies = unicorn.then(|| execute_with_unicorn(&mut machine).expect("Unicorn is there"));
    let exit = machine.run(Limits::steps(steps));
    let cpu = machine.cpu(0).expect("one CPU");
    let left = Left {
        exit,
        registers: (0..16).map(|number| cpu.gpr(number)).collect(),
        rip: cpu.rip(),
        cycles: cpu.cycles(),
        counters: [0, 1, 2, 3].map(|number| thread.x86().rdmsr(0xC001_0004 + number).expect("level 0")),
        trace: machine.observer(0).expect("one CPU").trace(),
    };
    (left, tallies.map(|tallies| tallies.get()).unwrap_or_default())
}

#[test]
fn nearly_all_of_a_loop_runs_in_blocks_and_counts_as_its_instructions_do() {
    // Instructions, cycles, branches taken, micro-operations.
    let counters = [(INSTRUCTIONS, 0), (CYCLES, 0), (0x0052_00C4, 0), (0x0052_00C1, 0)];
    let [(interpreted, _), (translated, tally)] = [false, true].map(|unicorn| run(&forever(), counters, 70_003, unicorn));
    assert_eq!(translated, interpreted);
    assert_eq!(translated.counters[..3], [70_003, 70_003, 10_000]);
    assert!(tally.in_blocks > 69_000, "{tally:?}");
    assert!(tally.blocks * 6 < tally.in_blocks && tally.in_blocks <= tally.blocks * 7, "{tally:?}");
    assert_eq!(tally.on_board, 0, "{tally:?}");
}

#[test]
fn a_block_in_which_a_counter_overflows_goes_instruction_by_instruction_and_the_overflow_falls_on_its_instruction() {
    // One block of 400 instructions of three bytes.
    let image = image(|a| {
        let mut again = a.create_label();
        a.set_label(&mut again)?;
        for _ in 0..399 {
            a.inc(rax)?;
        }
        a.jmp(again)
    });
    let overflow_after = 1000;
    let counters = [(CYCLES, (1u64 << 48) - overflow_after), (0, 0), (0, 0), (0, 0)];
    let (left, tally) = run(&image, counters, 4000, true);
    let [Trace { instruction, address, action: Action::Interrupt { .. }, .. }] = &left.trace[..] else { panic!("{:?}", left.trace) };
    // 400 and 400 and 200: the next instruction is the 201st of the block.
    assert_eq!((*instruction, *address), (overflow_after, CODE + 3 * 200));
    assert_eq!(left.counters[0], 3000);
    assert!(tally.in_blocks > 3700 && tally.single >= 200, "{tally:?}");
}

#[test]
fn code_that_a_block_overwrites_within_itself_runs_as_written() {
    let image = image(|a| {
        let (mut again, mut patched) = (a.create_label(), a.create_label());
        a.lea(rsi, ptr(patched))?;
        a.mov(ecx, 100)?;
        a.set_label(&mut again)?;
        // The low byte of the immediate of the ADD below.
        a.mov(byte_ptr(rsi + 2), cl)?;
        a.nop()?;
        a.set_label(&mut patched)?;
        a.add(rax, 1)?;
        a.dec(ecx)?;
        a.jnz(again)?;
        a.mov(eax, eax)?;
        a.out(0xf4, al)
    });
    let left = [false, true].map(|unicorn| {
        let mut machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Unobserved).expect("it loads");
        if unicorn {
            execute_with_unicorn(&mut machine).expect("Unicorn is there");
        }
        let exit = machine.run(Limits::steps(100_000));
        let cpu = machine.cpu(0).expect("one CPU");
        (exit, cpu.gpr(0), cpu.cycles())
    });
    // 100 + 99 + ... + 1.
    assert_eq!(left[0].1, 5050);
    assert_eq!(left[1], left[0]);
}

#[test]
fn a_division_by_zero_in_a_block_ends_it_there() {
    let image = image(|a| {
        a.mov(eax, 7)?;
        a.xor(edx, edx)?;
        a.xor(ecx, ecx)?;
        a.inc(rbx)?;
        a.div(ecx)?;
        a.inc(rbx)
    });
    let counters = [(INSTRUCTIONS, 0), (CYCLES, 0), (0, 0), (0, 0)];
    let [(interpreted, _), (translated, _)] = [false, true].map(|unicorn| run(&image, counters, 1000, unicorn));
    // There is no table of handlers.
    assert!(matches!(interpreted.exit, Exit::Failed { .. }), "{:?}", interpreted.exit);
    assert_eq!(translated, interpreted);
    assert_eq!(translated.counters[0], 4);
}
