//! What the glue adds to the totals for a step, worked out from the code that runs.

use std::sync::Arc;

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use vm_pmu::Signal;
use vm_pmu::arch::feed::SignalSet;
use vm_pmu::companion::{self, Clock};
use vm_pmu::topology::Builder;
use vm_pmu_board::Lines;
use vm_pmu_board::x86::{CoreClock, Cpu};
use vm_pmu_engines::x86::{Config, EmptyBus, Image, Limits, Machine};

const CODE: u64 = 0x10_0000;
const DATA: u64 = 0x20_0000;
const RAM: u64 = 16 << 20;

/// How a guest is run.
#[derive(Clone, Copy, Default)]
struct Setup {
    cpus: usize,
    /// All CPUs are threads of one core.
    one_core: bool,
    /// The companion keeps the time.
    timed: bool,
}

/// A thread's totals of some signals at the end.
fn totals<const N: usize>(
    setup: Setup,
    signals: [Signal; N],
    build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Vec<[u64; N]> {
    let mut a = CodeAssembler::new(64).unwrap();
    build(&mut a).and_then(|()| a.cli()).and_then(|()| a.hlt()).unwrap();
    let image = Image::raw(CODE, a.assemble(CODE).unwrap());
    let cpus = setup.cpus.max(1);
    let lines = Lines::new(cpus);
    let pmus = Builder::new("k8").unwrap().threads(cpus).every_signal().build(lines.clone()).unwrap();
    let companion = setup.timed.then(|| companion::Builder::new("knl").unwrap().always().threads(cpus).clock(Clock::Companion).build());
    let core = CoreClock::new();
    let mut watched = SignalSet::EMPTY;
    signals.iter().for_each(|signal| watched.insert(*signal));
    let attach = |index: usize| {
        let mut cpu = Cpu::new(pmus.thread(index).unwrap(), &lines);
        cpu.watch(watched);
        if setup.one_core {
            cpu.share_core(core.clone());
        }
        if let Some(follower) = companion.as_ref().and_then(|companion| companion.follower(index)) {
            cpu.follow(follower, RAM);
        }
        cpu
    };
    let config = Config { ram: RAM, cpus, ..Config::default() };
    let mut machine = Machine::new(&config, &image, Arc::new(EmptyBus), attach).unwrap();
    machine.run(Limits::steps(100_000));
    (0..cpus).map(|index| signals.map(|signal| pmus.thread(index).unwrap().totals().get(signal))).collect()
}

/// The same of one thread.
fn one<const N: usize>(signals: [Signal; N], build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> [u64; N] {
    totals(Setup::default(), signals, build)[0]
}

#[test]
fn an_instruction_is_a_micro_operation_and_microcode_eight() {
    // MOV 1, CPUID 8, CLI 1, HLT 1.
    let seen = one([Signal::MicroOpsRetired, Signal::MicrocodedOpsRetired], |a| {
        a.mov(eax, 0)?;
        a.cpuid()
    });
    assert_eq!(seen, [11, 8]);
}

#[test]
fn vector_operations_are_packed_or_scalar_and_loads_are_neither() {
    let signals = [Signal::PackedVectorOpsRetired, Signal::ScalarVectorOpsRetired];
    let seen = one(signals, |a| {
        a.mov(rax, cr4)?;
        a.or(rax, 0x200)?;
        a.mov(cr4, rax)?;
        a.mov(rbx, DATA)?;
        a.movups(xmm0, xmmword_ptr(rbx))?;
        a.movd(xmm1, dword_ptr(rbx))?;
        // Packed: a move, an operation on memory, a store.
        a.movaps(xmm2, xmm0)?;
        a.pxor(xmm3, xmmword_ptr(rbx))?;
        a.movups(xmmword_ptr(rbx), xmm2)?;
        // Scalar: a move between the files, and one within.
        a.movq(rcx, xmm1)?;
        a.movq(xmm4, xmm1)
    });
    assert_eq!(seen, [3, 2]);
}

#[test]
fn floating_point_never_needs_an_assist() {
    assert_eq!(one([Signal::FloatingPointAssists], |a| a.nop()), [0]);
}

#[test]
fn accesses_across_a_line_of_64_bytes_are_split() {
    let seen = one([Signal::LineSplitLoads, Signal::LineSplitStores, Signal::MisalignedAccesses], |a| {
        a.mov(rbx, DATA)?;
        // Up to the line's last byte, and over it.
        a.mov(rax, qword_ptr(rbx + 56))?;
        a.mov(rax, qword_ptr(rbx + 57))?;
        a.mov(ax, word_ptr(rbx + 63))?;
        a.mov(dword_ptr(rbx + 61), eax)?;
        // Misaligned, within one line.
        a.mov(dword_ptr(rbx + 5), eax)?;
        // Loads and stores.
        a.add(dword_ptr(rbx + 126), eax)
    });
    assert_eq!(seen, [3, 2, 6]);
}

#[test]
fn a_locked_read_modify_write_loads_once() {
    let seen = one([Signal::LockedLoads, Signal::LockedInstructions], |a| {
        a.mov(rbx, DATA)?;
        a.lock().inc(dword_ptr(rbx))?;
        a.inc(dword_ptr(rbx))?;
        a.xchg(dword_ptr(rbx), eax)
    });
    assert_eq!(seen, [2, 2]);
}

#[test]
fn a_store_into_decoded_code_restarts_once_for_each_decoding() {
    let seen = one([Signal::SelfModifyingCodeRestarts], |a| {
        let mut patched = a.create_label();
        let mut again = a.create_label();
        a.mov(ecx, 3)?;
        a.mov(rbx, DATA)?;
        a.lea(rsi, ptr(patched))?;
        // Its own line.
        a.nops_with_size(128)?;
        a.set_label(&mut again)?;
        a.call(patched)?;
        a.mov(byte_ptr(rsi), 0x90)?;
        // No decoder has read the line since.
        a.mov(byte_ptr(rsi + 1), 0x90)?;
        a.mov(dword_ptr(rbx), 0)?;
        a.dec(ecx)?;
        a.jne(again)?;
        a.cli()?;
        a.hlt()?;
        a.nops_with_size(128)?;
        a.set_label(&mut patched)?;
        a.nop()?;
        a.nop()?;
        a.ret()?;
        a.nops_with_size(128)
    });
    assert_eq!(seen, [3]);
}

#[test]
fn a_locked_store_into_decoded_code_restarts_too() {
    let seen = one([Signal::SelfModifyingCodeRestarts], |a| {
        a.lea(rsi, ptr(CODE))?;
        a.lock().or(byte_ptr(rsi), 0)?;
        a.nops_with_size(64)
    });
    assert_eq!(seen, [1]);
}

#[test]
fn the_reference_clock_runs_with_the_clock() {
    let clocks = [Signal::Cycles, Signal::ReferenceCycles];
    // MOV, CLI, HLT.
    assert_eq!(one(clocks, |a| a.mov(eax, 1)), [3, 3]);
    let timed = totals(Setup { timed: true, ..Setup::default() }, clocks, |a| a.mov(rax, qword_ptr(DATA)))[0];
    assert!(timed[0] > 100, "{timed:?}");
    assert_eq!(timed[0], timed[1]);
}

const CORE: [Signal; 3] = [Signal::Cycles, Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles];

/// CPU 0 halts after 12 instructions, the others run 100 more.
fn uneven(a: &mut CodeAssembler) -> Result<(), IcedError> {
    let mut rest = a.create_label();
    // Eight instructions up to the end of CPU 0 besides CLI and HLT.
    for _ in 0..8 {
        a.nop()?;
    }
    a.test(edi, edi)?;
    a.je(rest)?;
    for _ in 0..100 {
        a.nop()?;
    }
    a.set_label(&mut rest)?;
    a.nop()
}

#[test]
fn a_thread_alone_on_its_core_is_active_when_it_runs() {
    for cpu in totals(Setup { cpus: 2, ..Setup::default() }, CORE, uneven) {
        assert_eq!((cpu[1], cpu[2]), (cpu[0], cpu[0]));
    }
}

#[test]
fn a_core_is_active_while_one_of_its_threads_runs() {
    // CPU 0: 8 + 2 + 3 instructions. The others: 100 more. Each round, the first that runs moves the core's clock.
    let seen = totals(Setup { cpus: 3, one_core: true, ..Setup::default() }, CORE, uneven);
    assert_eq!(seen, [[13, 13, 13], [113, 100, 100], [113, 0, 0]]);
}

#[test]
fn a_halted_core_is_not_active() {
    // CPU 0 wakes the halted core by its timer after 4000 cycles.
    let seen = totals(Setup { cpus: 2, one_core: true, ..Setup::default() }, CORE, |a| {
        let mut other = a.create_label();
        a.test(edi, edi)?;
        a.jne(other)?;
        a.mov(eax, 0xFEE0_0000u32)?;
        a.mov(dword_ptr(rax + 0xF0), 0x1FF)?;
        a.mov(dword_ptr(rax + 0x3E0), 0xB)?;
        a.mov(dword_ptr(rax + 0x320), 0x40)?;
        a.mov(dword_ptr(rax + 0x380), 4000)?;
        a.sti()?;
        a.hlt()?;
        a.nop()?;
        a.set_label(&mut other)?;
        a.nop()
    });
    let active: u64 = seen.iter().map(|cpu| cpu[1]).sum();
    assert!(active < 100, "{seen:?}");
    assert!(seen.iter().all(|cpu| cpu[1] == cpu[2]));
}

#[test]
fn a_core_whose_time_the_companion_keeps_is_active_at_most_as_long_as_its_threads_together() {
    let alone = totals(Setup { cpus: 1, timed: true, one_core: true }, CORE, uneven);
    assert_eq!((alone[0][1], alone[0][2]), (alone[0][0], alone[0][0]));
    let seen = totals(Setup { cpus: 4, timed: true, one_core: true }, CORE, uneven);
    let sum = |at: usize| seen.iter().map(|cpu| cpu[at]).sum::<u64>();
    let longest = seen.iter().map(|cpu| cpu[0]).max().unwrap();
    assert!(longest <= sum(1) && sum(1) < sum(0), "{seen:?}");
    assert_eq!(sum(1), sum(2));
}
