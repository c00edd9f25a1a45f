//! What is reported to an observer of a step besides the instruction's effect, and how the result advances time.

use super::support::*;

const TABLES: u64 = 0x40_0000;
const GIB: u64 = 1 << 30;
/// Where [`paged`] maps [`DATA`] by a page of 4 KiB.
const SMALL: u64 = 0x100_3000;
/// In the same table and the next directory entry: nothing.
const ABSENT: u64 = 0x100_4000;
const ABSENT_TABLE: u64 = 0x120_0000;
/// A page of 1 GiB whose entry has a reserved bit set.
const RESERVED: u64 = 2 * GIB;

const PRESENT: u64 = 3;
const LARGE: u64 = 0x80;
const GLOBAL: u64 = 0x100;

/// A guest with its own tables at [`TABLES`]: RAM at its own addresses, once more from 1 GiB, and [`DATA`] at [`SMALL`]. It starts with
/// them loaded and global pages enabled.
fn paged(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Guest {
    let mut guest = Guest::new(|a| {
        a.mov(eax, TABLES as u32)?;
        a.mov(cr3, rax)?;
        a.mov(rax, cr4)?;
        a.or(rax, 0x80)?;
        a.mov(cr4, rax)?;
        build(a)?;
        stop(a)
    });
    let [root, pointers, directory, table] = [0, 1, 2, 3].map(|n| TABLES + 0x1000 * n);
    let mut entries = vec![
        (root, pointers | PRESENT),
        (pointers, directory | PRESENT),
        (pointers + 8, PRESENT | LARGE | GLOBAL),
        (pointers + 16, 1 << 13 | PRESENT | LARGE),
        (directory + 8 * 8, table | PRESENT),
        (table + 8 * 3, DATA | PRESENT | GLOBAL),
    ];
    entries.extend((0..8).map(|n| (directory + 8 * n, n << 21 | PRESENT | LARGE)));
    for (at, entry) in entries {
        guest.image = guest.image.with(at, entry.to_le_bytes().to_vec());
    }
    guest
}

/// Calls a function for each step, and returns its result.
struct Answer<F>(F);

impl<F: FnMut(&Step, &CpuView<'_>) -> Alerts + Send> Observer for Answer<F> {
    fn retire(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        (self.0)(step, cpu)
    }
}

fn taking(cycles: u32) -> Alerts {
    Alerts { cycles: Some(cycles), ..Alerts::NONE }
}

fn steps(machine: &Machine<Log>) -> &[Step] {
    &machine.observer(0).expect("CPU 0").steps
}

#[test]
fn a_step_is_seen_with_the_registers_it_left() {
    let mut before = 0;
    let guest = Guest::new(|a| {
        a.mov(ecx, 7)?;
        a.xor(ecx, ecx)?;
        stop(a)
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut m = guest.machine(&Config::default(), |_| {
        let sender = sender.clone();
        Answer(move |step: &Step, cpu: &CpuView<'_>| {
            assert_eq!((cpu.rip(), cpu.cycles()), (step.rip, before));
            before += 1;
            sender.send(cpu.gpr(RCX)).expect("the test listens");
            Alerts::NONE
        })
    });
    assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
    assert_eq!(receiver.try_iter().skip(1).take(2).collect::<Vec<_>>(), [7, 0]);
}

#[test]
fn page_walks_name_every_entry_they_read() {
    let (m, exit) = paged(|_| Ok(())).run();
    assert_eq!(exit, Exit::Halted);
    let cpu = m.cpu(0).expect("CPU 0");
    let [root, pointers, directory, table] = [0, 1, 2, 3].map(|n| TABLES + 0x1000 * n);
    let walk = |entries, levels, page_bits, global, physical| Some(PageWalk { entries, levels, page_bits, global, physical });
    assert_eq!(cpu.page_walk(SMALL + 5), walk([root, pointers, directory + 64, table + 24], 4, 12, true, DATA + 5));
    assert_eq!(cpu.page_walk(DATA + 5), walk([root, pointers, directory + 8, 0], 3, 21, false, DATA + 5));
    assert_eq!(cpu.page_walk(GIB + 0x1234_5678), walk([root, pointers + 8, 0, 0], 2, 30, true, 0x1234_5678));
    for nowhere in [ABSENT, ABSENT_TABLE, RESERVED, 1 << 47, u64::MAX] {
        assert_eq!(cpu.page_walk(nowhere), None, "{nowhere:#x}");
    }
}

#[test]
fn pages_are_global_only_with_global_pages_enabled() {
    let (m, _) = paged(|a| {
        a.and(rax, !0x80)?;
        a.mov(cr4, rax)
    })
    .run();
    let walk = m.cpu(0).expect("CPU 0").page_walk(SMALL).expect("mapped");
    assert!(!walk.global);
}

#[test]
fn page_walks_leave_no_trace() {
    let (m, _) = paged(|_| Ok(())).run();
    let cpu = m.cpu(0).expect("CPU 0");
    let table = |n: u64| m.memory().read(TABLES + 0x3000 + 8 * n, 8);
    for address in [SMALL, ABSENT, RESERVED, GIB] {
        let _ = cpu.page_walk(address);
    }
    assert_eq!((table(3), table(4), cpu.cr2()), (DATA | PRESENT | GLOBAL, 0, 0));
    assert_eq!(m.memory().read(TABLES + 0x1008, 8), PRESENT | LARGE | GLOBAL);
}

#[test]
fn steps_tell_which_translations_they_end() {
    let m = run(|a| {
        a.mov(rax, cr3)?;
        a.mov(rbx, cr4)?;
        a.mov(rdi, DATA)?;
        a.mov(cr3, rax)?; // everything: there are no global pages yet
        a.or(rbx, 0x80)?;
        a.mov(cr4, rbx)?;
        a.mov(cr4, rbx)?; // no change
        a.mov(cr3, rax)?;
        a.invlpg(ptr(rdi + 0x123))?;
        a.mov(rbx, cr0)?;
        a.or(rbx, 8)?; // TS
        a.mov(cr0, rbx)?;
        a.and(rbx, !0x1_0008)?; // WP
        a.mov(cr0, rbx)?;
        a.mov(ecx, 0xc000_0080u32)?;
        a.rdmsr()?;
        a.and(eax, !0x800)?; // NXE
        a.wrmsr()?;
        a.wrmsr()?;
        a.mov(ecx, 0x1b)?;
        a.rdmsr()?;
        a.wrmsr() // the APIC's page does not depend on page tables
    });
    let recorded: Vec<_> = steps(&m).iter().filter_map(|step| step.invalidation).collect();
    let page = Invalidation::Page(DATA + 0x123);
    let all = Invalidation::All;
    assert_eq!(recorded, [all, all, Invalidation::NonGlobal, page, all, all]);
}

#[test]
fn steps_have_the_physical_address_of_their_instruction() {
    let (m, exit) = paged(|a| {
        let mut there = a.create_label();
        a.lea(rax, qword_ptr(there))?;
        a.mov(rcx, GIB)?;
        a.add(rax, rcx)?;
        a.jmp(rax)?;
        a.set_label(&mut there)?;
        a.nop()?;
        a.ud2()
    })
    .handler(6, |a| {
        a.mov(rax, ABSENT)?;
        a.jmp(rax)
    })
    .handler(14, stop)
    .run();
    assert_eq!(exit, Exit::Halted);
    let high = steps(&m).iter().filter(|step| step.rip >= GIB);
    assert_eq!(high.clone().map(|step| step.kind).collect::<Vec<_>>(), [StepKind::Instruction, StepKind::Exception { vector: 6 }]);
    for step in high {
        assert_eq!(step.physical, step.rip - GIB);
    }
    for step in steps(&m).iter().filter(|step| step.rip < GIB) {
        let unmapped = step.kind == StepKind::Exception { vector: 14 };
        assert_eq!(step.physical, if unmapped { 0 } else { step.rip }, "{step:?}");
    }
}

#[test]
fn interrupts_have_the_physical_address_of_what_they_interrupt() {
    let guest = paged(|a| {
        let mut there = a.create_label();
        a.mov(rbx, 0xfee0_0000u64)?;
        a.lea(rax, qword_ptr(there))?;
        a.mov(rcx, GIB)?;
        a.add(rax, rcx)?;
        a.jmp(rax)?;
        a.set_label(&mut there)?;
        a.nop()
    });
    // An NMI from outside comes before the instruction at the jump's target.
    let mut m = guest.handler(2, stop).machine(&Config::default(), |_| Log::default());
    assert_eq!(m.run(Limits::steps(11)), Exit::Limit);
    m.interrupter().nmi(0);
    m.run(Limits::steps(2));
    let nmi = steps(&m).iter().find(|step| step.kind == StepKind::Nmi).expect("an NMI");
    assert!(nmi.rip >= GIB);
    assert_eq!(nmi.physical, nmi.rip - GIB);
}

#[test]
fn prefetches_and_flushes_tell_what_they_touch() {
    let (m, exit) = paged(|a| {
        a.mov(rdi, SMALL)?;
        a.mov(rsi, 1u64 << 47)?;
        a.prefetcht0(ptr(rdi + 5))?;
        a.prefetchw(ptr(rdi + 6))?;
        a.prefetchnta(ptr(rdi + 0x1000))?; // absent
        a.prefetcht2(ptr(rsi))?; // not canonical
        a.mov(r8, qword_ptr(TABLES + 0x3018))?;
        a.clflush(ptr(rdi + 7))?;
        a.mov(r9, qword_ptr(TABLES + 0x3018))?;
        a.clflush(ptr(rdi + 0x1000))
    })
    .handler(14, stop)
    .run();
    assert_eq!(exit, Exit::Halted);
    let touched = |n: u64| Some(Touched { address: SMALL + n, physical: DATA + n });
    let named: Vec<_> =
        steps(&m).iter().filter(|step| step.instruction.facts.prefetch.is_some() || step.instruction.facts.clflush).collect();
    assert_eq!(named.iter().map(|step| step.touched).collect::<Vec<_>>(), [touched(5), touched(6), None, None, touched(7)]);
    assert!(named.iter().all(|step| step.accesses().is_empty() && step.loads == 0 && step.stores == 0));
    // A prefetch marks no table entry as accessed; CLFLUSH does, and faults where nothing is mapped.
    assert_eq!((gpr(&m, 8) & 0x20, gpr(&m, 9) & 0x20), (0, 0x20));
    assert!(steps(&m).iter().any(|step| step.kind == StepKind::Exception { vector: 14 } && step.touched.is_none()));
}

#[test]
fn prefetches_in_ring_3_do_not_reach_supervisor_pages() {
    let guest = Guest::new(|a| {
        let mut user = a.create_label();
        to_user(a, user)?;
        a.set_label(&mut user)?;
        a.mov(edi, DATA as u32)?;
        a.prefetcht1(ptr(rdi))?;
        a.add(edi, 0x10_0000)?;
        a.prefetcht1(ptr(rdi))?;
        a.ud2()
    })
    .handler(6, stop);
    let (m, exit) = guest.run_with(&user_config());
    assert_eq!(exit, Exit::Halted);
    let named = steps(&m).iter().filter(|step| step.instruction.facts.prefetch.is_some());
    assert_eq!(named.map(|step| step.touched.is_some()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn instructions_tell_what_holds_a_processor_up() {
    let m = run(|a| {
        a.mov(rdi, DATA)?;
        a.mov(eax, 1)?;
        a.mul(eax)?;
        a.imul_2(eax, eax)?;
        a.div(edi)?;
        a.idiv(edi)?;
        a.lfence()?;
        a.mfence()?;
        a.sfence()?;
        a.movnti(dword_ptr(rdi), eax)?;
        a.mov(rax, cr0)?;
        a.mov(cr0, rax)?;
        a.mov(rax, dr7)?;
        a.mov(dr7, rax)?;
        a.sgdt(ptr(rdi))?;
        a.lgdt(ptr(rdi))?;
        a.invlpg(ptr(rdi))?;
        a.wbinvd()?;
        a.mov(ecx, 0x277)?;
        a.rdmsr()?;
        a.wrmsr()?;
        a.cpuid()
    });
    let letter = |step: &Step| match step.instruction.class {
        InstructionClass::Serializing => 'S',
        InstructionClass::Divide => 'D',
        InstructionClass::Multiply => 'M',
        InstructionClass::Fence => 'F',
        InstructionClass::Streaming => 'N',
        InstructionClass::Plain => '.',
    };
    // LIDT comes first, CLI and HLT last.
    assert_eq!(steps(&m).iter().map(letter).collect::<String>(), "S..MMDDFFFN.S.S.SSS..SS..");
}

#[test]
fn vector_instructions_are_scalar_or_packed() {
    let m = run(|a| {
        a.mov(rdi, DATA)?;
        a.mov(rcx, cr4)?;
        a.or(rcx, 1 << 9)?;
        a.mov(cr4, rcx)?;
        a.movaps(xmm0, xmmword_ptr(rdi))?;
        a.pxor(xmm0, xmm0)?;
        a.movntps(xmmword_ptr(rdi), xmm0)?;
        a.movd(xmm0, eax)?;
        a.movq(xmm1, xmm0)?;
        a.movq(qword_ptr(rdi), xmm1)
    });
    let classes = steps(&m).iter().filter_map(|step| step.instruction.facts.simd);
    let (packed, scalar) = (SimdClass::PackedSse, SimdClass::ScalarSse);
    assert_eq!(classes.collect::<Vec<_>>(), [packed, packed, packed, scalar, scalar, scalar]);
}

#[test]
fn returns_from_interrupts_serialise() {
    let (m, exit) = Guest::new(|a| {
        a.int3()?;
        stop(a)
    })
    .handler(3, |a| a.iretq())
    .run();
    assert_eq!(exit, Exit::Halted);
    let serializing = steps(&m).iter().map(|step| step.instruction.class == InstructionClass::Serializing);
    assert_eq!(serializing.collect::<Vec<_>>(), [true, false, true, false, false]);
}

#[test]
fn clocks_follow_the_observers_cycles() {
    for cycles in [0, 1, 3, 1000] {
        let guest = Guest::new(|a| {
            a.rdtsc()?;
            a.mov(r8, rax)?;
            a.nop()?;
            a.rdtsc()?;
            stop(a)
        });
        let mut m = guest.machine(&Config::default(), |_| Answer(move |_: &Step, _: &CpuView<'_>| taking(cycles)));
        assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
        let cpu = m.cpu(0).expect("CPU 0");
        assert_eq!((cpu.gpr(8), cpu.gpr(RAX), cpu.cycles()), (u64::from(cycles), 4 * u64::from(cycles), 7 * u64::from(cycles)));
    }
}

#[test]
fn the_limit_on_cycles_is_the_observers() {
    let guest = Guest::new(|a| {
        let mut again = a.create_label();
        a.set_label(&mut again)?;
        a.jmp(again)
    });
    let count = |cycles, limits| {
        let mut m = guest.machine(&Config::default(), |_| Answer(move |_: &Step, _: &CpuView<'_>| taking(cycles)));
        assert_eq!(m.run(limits), Exit::Limit);
        m.cpu(0).expect("CPU 0").cycles()
    };
    assert_eq!(count(7, Limits { steps: 1000, cycles: 70 }), 70);
    assert_eq!(count(0, Limits { steps: 1000, cycles: 70 }), 0);
}

/// A guest whose periodic timer of 40 cycles counts in R15.
fn ticking() -> Guest {
    Guest::new(|a| {
        let mut again = a.create_label();
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x320), 0x2_0040)?;
        a.mov(dword_ptr(rbx + 0x3e0), 0xb)?;
        a.mov(dword_ptr(rbx + 0x380), 40)?;
        a.sti()?;
        a.set_label(&mut again)?;
        a.jmp(again)
    })
    .handler(0x40, |a| {
        a.inc(r15)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
}

#[test]
fn timers_count_the_observers_cycles() {
    // Steps of 0 and 3 cycles in turn: the timer neither stops nor drifts.
    let mut odd = false;
    let mut m = ticking().machine(&Config::default(), |_| {
        Answer(move |_: &Step, _: &CpuView<'_>| {
            odd = !odd;
            taking(if odd { 3 } else { 0 })
        })
    });
    assert_eq!(m.run(Limits { steps: u64::MAX, cycles: 4000 }), Exit::Limit);
    assert_eq!(m.cpu(0).expect("CPU 0").gpr(15), 99);
}

#[test]
fn a_timer_that_is_due_comes_once_while_time_stands_still() {
    let mut left = 60;
    let mut m = ticking().machine(&Config::default(), |_| {
        Answer(move |_: &Step, _: &CpuView<'_>| {
            left -= i32::from(left > 0);
            taking(u32::from(left > 0))
        })
    });
    assert_eq!(m.run(Limits::steps(10_000)), Exit::Limit);
    let cpu = m.cpu(0).expect("CPU 0");
    assert_eq!((cpu.cycles(), cpu.gpr(15)), (59, 1));
}

#[test]
fn a_halted_cpu_waits_as_long_as_the_others_run() {
    // CPU 1 sleeps 1000 cycles; CPU 0 counts its turns of 8 cycles until then.
    let guest = Guest::new(|a| {
        let (mut sleeper, mut again) = (a.create_label(), a.create_label());
        a.test(edi, edi)?;
        a.jne(sleeper)?;
        a.set_label(&mut again)?;
        a.inc(r15)?;
        a.cmp(dword_ptr(DATA), 0)?;
        a.je(again)?;
        stop(a)?;
        a.set_label(&mut sleeper)?;
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x320), 0x40)?;
        a.mov(dword_ptr(rbx + 0x3e0), 0xb)?;
        a.mov(dword_ptr(rbx + 0x380), 1000)?;
        a.sti()?;
        a.hlt()?;
        stop(a)
    })
    .handler(0x40, |a| {
        a.mov(dword_ptr(DATA), 1)?;
        a.iretq()
    });
    for quantum in [1, 9] {
        let config = Config { cpus: 2, mode: Mode::RoundRobin { quantum }, ..Config::default() };
        let turns = |cycles| {
            let mut m = guest.machine(&config, |_| Answer(move |_: &Step, _: &CpuView<'_>| taking(cycles)));
            assert_eq!(m.run(Limits::steps(100_000)), Exit::Halted);
            m.cpu(0).expect("CPU 0").gpr(15)
        };
        assert!((330..345).contains(&turns(1)), "{quantum}: {}", turns(1));
        assert!((42..55).contains(&turns(8)), "{quantum}: {}", turns(8));
    }
}
