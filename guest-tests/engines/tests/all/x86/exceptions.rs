//! Faults, interrupts, privilege levels and halting.

use super::support::*;

#[test]
fn divide_errors_are_faults() {
    for build in [
        (|a| {
            a.xor(ecx, ecx)?;
            a.mov(eax, 1)?;
            a.cdq()?;
            a.div(ecx)
        }) as Build,
        // The quotient does not fit.
        |a| {
            a.mov(ecx, 1)?;
            a.mov(edx, 1)?;
            a.div(ecx)
        },
        |a| {
            a.mov(rax, 1u64 << 63)?;
            a.cqo()?;
            a.mov(rcx, -1i64 as u64)?;
            a.idiv(rcx)
        },
    ] {
        let (m, exit) = Guest::new(|a| {
            build(a)?;
            a.mov(ebx, 1)?;
            stop(a)
        })
        .handler(0, |a| {
            a.mov(r15, qword_ptr(rsp))?; // the saved RIP
            a.mov(r14, qword_ptr(rsp + 16))?; // the saved RFLAGS
            stop(a)
        })
        .run();
        assert_eq!(exit, Exit::Halted);
        assert_eq!(gpr(&m, RBX), 0);
        let fault = *m.observer(0).expect("CPU 0").steps.iter().find(|s| s.kind == StepKind::Exception { vector: 0 }).expect("#DE");
        assert_eq!(gpr(&m, 15), fault.rip);
        // Faults push RF set.
        assert_eq!(gpr(&m, 14) >> 16 & 1, 1);
        assert!(!fault.retired());
    }
}

#[test]
fn page_faults_have_code_and_address() {
    // Not present, read: 0; then write to a read-only page: 3; then fetch of a no-execute page: 17.
    let (m, exit) = Guest::new(|a| {
        let mut next = a.create_label();
        a.mov(rbx, cr3)?;
        a.mov(rbx, qword_ptr(rbx))?;
        a.and(rbx, -4096)?; // PDPT
        a.mov(rbx, qword_ptr(rbx))?;
        a.and(rbx, -4096)?; // directory of the first GiB
        a.and(qword_ptr(rbx + 8 * 4), -2)?; // 8 MiB: not present
        a.and(qword_ptr(rbx + 8 * 5), -3)?; // 10 MiB: read-only
        a.mov(rax, 1u64 << 63)?;
        a.or(qword_ptr(rbx + 8 * 6), rax)?; // 12 MiB: no execute
        a.mov(rax, cr3)?;
        a.mov(cr3, rax)?;
        a.lea(r8, qword_ptr(next))?;
        a.mov(rdi, 0x80_0010u64)?;
        a.mov(eax, dword_ptr(rdi))?;
        a.set_label(&mut next)?;
        let mut second = a.create_label();
        a.lea(r8, qword_ptr(second))?;
        a.mov(rdi, 0xa0_0000u64)?;
        a.add(dword_ptr(rdi), 1)?;
        a.set_label(&mut second)?;
        let mut third = a.create_label();
        a.lea(r8, qword_ptr(third))?;
        a.mov(rdi, 0xc0_0000u64)?;
        a.jmp(rdi)?;
        a.set_label(&mut third)?;
        // Accessed and dirty bits of the page just read and of the data page.
        a.mov(rdi, 0x60_0000u64)?;
        a.mov(r9, qword_ptr(rbx + 8 * 3))?;
        a.mov(eax, dword_ptr(rdi))?;
        a.mov(r10, qword_ptr(rbx + 8 * 3))?;
        a.mov(dword_ptr(rdi), eax)?;
        a.mov(r11, qword_ptr(rbx + 8 * 3))?;
        stop(a)
    })
    .handler(14, |a| {
        a.pop(r12)?; // error code
        a.shl(r13, 8)?;
        a.or(r13, r12)?;
        a.mov(r14, cr2)?;
        a.add(r15, r14)?;
        a.mov(qword_ptr(rsp), r8)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!(gpr(&m, 13), 0x00_03_11);
    assert_eq!(gpr(&m, 15), 0x80_0010 + 0xa0_0000 + 0xc0_0000);
    assert_eq!([gpr(&m, 9), gpr(&m, 10), gpr(&m, 11)].map(|e| e & 0x60), [0, 0x20, 0x60]);
}

#[test]
fn ring_3_and_back_by_syscall() {
    let (m, exit) = Guest::new(|a| {
        let mut user = a.create_label();
        let mut kernel = a.create_label();
        a.lea(rax, qword_ptr(kernel))?;
        a.mov(rdx, rax)?;
        a.shr(rdx, 32)?;
        a.mov(ecx, 0xc000_0082u32)?; // LSTAR
        a.wrmsr()?;
        a.mov(ecx, 0xc000_0084u32)?; // SFMASK: IF
        a.mov(eax, 0x200)?;
        a.xor(edx, edx)?;
        a.wrmsr()?;
        to_user(a, user)?;
        a.set_label(&mut user)?;
        a.mov(r8w, cs)?;
        a.mov(r9w, ss)?;
        a.syscall()?;
        a.set_label(&mut kernel)?;
        a.mov(r10w, cs)?;
        a.pushfq()?;
        a.pop(r12)?;
        stop(a)
    })
    .run_with(&user_config());
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, 8), gpr(&m, 9)), (0x23, 0x1b));
    assert_eq!(gpr(&m, 10) & 0xffff, 8);
    assert_eq!(gpr(&m, 11) & 0x200, 0x200);
    assert_eq!(gpr(&m, 12) & 0x200, 0);
    let log = m.observer(0).expect("CPU 0");
    let contexts = [(0, false, false), (3, true, false), (0, false, false), (0, false, true)];
    assert_eq!(log.contexts, contexts);
    let user: Vec<_> = log.steps.iter().filter(|s| s.cpl == 3).collect();
    assert_eq!(user.len(), 3);
    assert_eq!(user[2].branch.map(|b| b.kind), Some(BranchKind::Far));
    assert!(user[2].segment_loads.contains(SegmentSet::CS));
}

#[test]
fn privileged_instructions_fault_in_ring_3() {
    let cases: &[Build] = &[
        |a| a.hlt(),
        |a| a.cli(),
        |a| a.rdmsr(),
        |a| a.wrmsr(),
        |a| a.rdpmc(),
        |a| a.mov(rax, cr0),
        |a| a.in_(al, 0x80),
        |a| a.invlpg(ptr(rax)),
        |a| a.swapgs(),
        |a| a.int(0x21),
    ];
    for (n, build) in cases.iter().enumerate() {
        let (m, exit) = Guest::new(|a| {
            let mut user = a.create_label();
            to_user(a, user)?;
            a.set_label(&mut user)?;
            build(a)?;
            stop(a)
        })
        .handler(0x21, stop)
        .handler(13, |a| {
            a.pop(r15)?;
            a.mov(r14, qword_ptr(rsp + 8))?; // CS
            a.mov(r13, qword_ptr(rsp + 24))?; // RSP
            a.mov(r12, rsp)?;
            stop(a)
        })
        .run_with(&user_config());
        assert_eq!(exit, Exit::Halted, "case {n}");
        let code = if n == 9 { 0x21 << 3 | 2 } else { 0 };
        assert_eq!((gpr(&m, 15), gpr(&m, 14), gpr(&m, 13)), (code, 0x23, DATA + 0x8000), "case {n}");
        // The stack is that of RSP0, at the top of RAM.
        assert!(gpr(&m, 12) > 15 << 20, "case {n}");
    }
}

#[test]
fn supervisor_pages_fault_in_ring_3() {
    let (m, exit) = Guest::new(|a| {
        let mut user = a.create_label();
        to_user(a, user)?;
        a.set_label(&mut user)?;
        a.mov(rdi, 0x80_0000u64)?;
        a.mov(dword_ptr(rdi), eax)
    })
    .handler(14, |a| {
        a.pop(r15)?;
        stop(a)
    })
    .run_with(&user_config());
    assert_eq!(exit, Exit::Halted);
    // Present, write, user.
    assert_eq!((gpr(&m, 15), m.cpu(0).expect("CPU 0").cr2()), (7, 0x80_0000));
}

#[test]
fn software_interrupts_and_trap_gates() {
    let (m, exit) = Guest::new(|a| {
        let mut user = a.create_label();
        to_user(a, user)?;
        a.set_label(&mut user)?;
        a.int(0x30)?;
        a.mov(ebx, 7)?;
        a.int3()?;
        stop(a)
    })
    .handler_at(0x30, TRAP_USER, 0, |a| {
        a.pushfq()?;
        a.pop(r15)?;
        a.iretq()
    })
    .handler_at(3, 0xee, 1, |a| {
        a.mov(r14, qword_ptr(rsp))?;
        a.mov(r13, rsp)?;
        stop(a)
    })
    .run_with(&user_config());
    assert_eq!(exit, Exit::Halted);
    assert_eq!(gpr(&m, RBX), 7);
    // A trap gate leaves IF alone.
    assert_eq!(gpr(&m, 15) & 0x200, 0x200);
    let steps = &m.observer(0).expect("CPU 0").steps;
    let int3 = steps.iter().find(|s| s.kind == StepKind::SoftwareInterrupt { vector: 3 }).expect("INT3");
    assert!(int3.retired());
    assert_eq!(gpr(&m, 14), int3.rip + 1);
    // IST1 is the third of the CPU's stacks: the highest, and the frame is five values.
    assert_eq!(gpr(&m, 13), (16 << 20) - 40);
}

#[test]
fn double_and_triple_faults() {
    // No gate for #GP: #DF with code 0.
    let (m, exit) = Guest::new(|a| {
        a.mov(ecx, 0x1234)?;
        a.rdmsr()
    })
    .handler(8, |a| {
        a.pop(r15)?;
        stop(a)
    })
    .run();
    assert_eq!((exit, gpr(&m, 15)), (Exit::Halted, 0));
    let (_, exit) = Guest::new(|a| {
        a.mov(ecx, 0x1234)?;
        a.rdmsr()
    })
    .run();
    match exit {
        Exit::Failed { cpu: 0, stop: Stop::TripleFault { first: 13, .. } } => {}
        other => panic!("{other}"),
    }
}

#[test]
fn sti_shadow_lasts_one_instruction() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x300), 0x4_0050)?; // self IPI, vector 50h
        a.nop()?;
        a.sti()?;
        a.inc(r14)?; // in the shadow
        a.inc(r14)?;
        stop(a)
    })
    .handler(0x50, |a| {
        a.mov(r15, r14)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, 15), gpr(&m, 14)), (1, 2));
    let steps = &m.observer(0).expect("CPU 0").steps;
    assert!(steps.iter().any(|s| s.interrupts_masked && s.interrupt_pending));
}

#[test]
fn nmi_blocks_nmi_until_iret() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0x300), 0x4_0400)?; // NMI to itself
        a.nop()?;
        a.nop()?;
        stop(a)
    })
    .handler(2, |a| {
        let mut end = a.create_label();
        a.inc(r15)?;
        a.inc(r14)?;
        a.cmp(r15, 3)?; // nesting would count deeper before the second return
        a.cmova(r13, r15)?;
        a.cmp(r14, 1)?;
        a.jne(end)?;
        a.mov(dword_ptr(rbx + 0x300), 0x4_0400)?;
        a.mov(dword_ptr(rbx + 0x300), 0x4_0400)?; // merges with the one that waits
        a.nop()?;
        a.mov(r12, r14)?; // still 1: blocked
        a.set_label(&mut end)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, 14), gpr(&m, 12), gpr(&m, 13)), (2, 1, 0));
}

#[test]
fn performance_interrupt_comes_at_the_next_boundary() {
    for (lvt, mask, nmi) in [(0x40u32, PerformanceMask::Keep, false), (0x400, PerformanceMask::Set, true)] {
        let guest = Guest::new(|a| {
            a.mov(rbx, 0xfee0_0000u64)?;
            a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
            a.mov(dword_ptr(rbx + 0x340), lvt)?;
            a.sti()?;
            for _ in 0..8 {
                a.inc(r14)?;
            }
            stop(a)
        })
        .handler(if nmi { 2 } else { 0x40 }, |a| {
            a.mov(r15, r14)?;
            a.mov(dword_ptr(rbx + 0xb0), 0)?;
            a.iretq()
        });
        let config = Config { performance_mask: mask, ..Config::default() };
        // LIDT, 4 instructions, then after the third INC.
        let mut m = guest.machine(&config, |_| Log { alert_at: Some(8), ..Log::default() });
        assert_eq!(m.run(Limits::steps(1000)), Exit::Halted);
        assert_eq!((gpr(&m, 15), gpr(&m, 14)), (3, 8));
        let masked = m.cpu(0).expect("CPU 0").apic().lvt_performance_counter() >> 16 & 1;
        assert_eq!(masked, u32::from(mask == PerformanceMask::Set));
    }
}

#[test]
fn register_hooks() {
    let (m, exit) = Guest::new(|a| {
        a.mov(ecx, 0xc001_0004u32)?;
        a.rdmsr()?;
        a.mov(r8, rax)?;
        a.mov(r9, rdx)?;
        a.wrmsr()?;
        a.mov(ecx, 3)?;
        a.rdpmc()?;
        a.mov(r10, rax)?;
        a.mov(ecx, 0xc001_0005u32)?;
        a.rdmsr()
    })
    .handler(13, |a| {
        a.pop(r15)?;
        stop(a)
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, 8), gpr(&m, 9), gpr(&m, 10)), (0x5678_9abc, 0x1234, 3));
    assert_eq!(m.observer(0).expect("CPU 0").written, [(0xc001_0004, 0x1234_5678_9abc)]);
}

#[test]
fn timer_wakes_a_halted_cpu() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x3e0), 0xb)?;
        a.mov(dword_ptr(rbx + 0x320), 0x40)?;
        a.mov(dword_ptr(rbx + 0x380), 1000)?;
        a.sti()?;
        a.hlt()?;
        a.mov(r14d, 1)?;
        stop(a)
    })
    .handler(0x40, |a| {
        a.rdtsc()?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!(gpr(&m, 14), 1);
    // The initial count is written at cycle 5 and the interrupt is one step.
    assert_eq!(gpr(&m, RAX), 5 + 1000 + 1);
    let log = m.observer(0).expect("CPU 0");
    // HLT ended at cycle 8.
    assert_eq!(log.halted, 5 + 1000 - 8);
    assert!(log.contexts.contains(&(0, true, true)));
}

#[test]
fn trap_flag_single_steps() {
    let (m, exit) = Guest::new(|a| {
        a.pushfq()?;
        a.or(qword_ptr(rsp), 0x100)?;
        a.popfq()?;
        a.nop()?; // the first instruction that traps
        a.nop()?;
        a.pushfq()?;
        a.and(qword_ptr(rsp), !0x100)?;
        a.popfq()?; // still traps: TF was set when it began
        a.nop()?;
        stop(a)
    })
    .handler(1, |a| {
        a.inc(r15)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!(gpr(&m, 15), 5);
}

#[test]
fn iretq_enters_ring_3_and_interrupts_come_back() {
    let (m, exit) = Guest::new(|a| {
        let mut user = a.create_label();
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x300), 0x4_0050)?; // waits for IF
        a.lea(rax, qword_ptr(user))?;
        a.push(selector::USER_DATA as i32)?;
        a.mov(rcx, DATA + 0x8000)?;
        a.push(rcx)?;
        a.push(0x202)?;
        a.push(selector::USER_CODE as i32)?;
        a.push(rax)?;
        a.iretq()?;
        a.set_label(&mut user)?;
        a.mov(r14d, 1)?;
        a.int3()
    })
    .handler(0x50, |a| {
        a.mov(r15w, ss)?; // null with RPL 0 after the change of privilege
        a.mov(r13, r14)?;
        a.mov(r12, qword_ptr(rsp + 32))?; // old SS
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .handler_at(3, 0xee, 0, stop)
    .run_with(&user_config());
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, 15), gpr(&m, 13), gpr(&m, 12)), (0, 0, u64::from(selector::USER_DATA)));
    assert_eq!(gpr(&m, 14), 1);
}

#[test]
fn instruction_over_a_missing_page_faults_at_the_page() {
    // A five-byte MOV whose last bytes are on a page that is not there.
    let (m, exit) = Guest::new(|a| {
        a.mov(rbx, cr3)?;
        a.mov(rbx, qword_ptr(rbx))?;
        a.and(rbx, -4096)?;
        a.mov(rbx, qword_ptr(rbx))?;
        a.and(rbx, -4096)?;
        a.and(qword_ptr(rbx + 8 * 4), -2)?;
        a.mov(rax, cr3)?;
        a.mov(cr3, rax)?;
        a.mov(rdi, 0x80_0000u64 - 3)?;
        a.mov(byte_ptr(rdi), 0xb8)?;
        a.jmp(rdi)
    })
    .handler(14, |a| {
        a.pop(r15)?;
        a.mov(r14, qword_ptr(rsp))?;
        stop(a)
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    // NXE is on, so an instruction fetch sets bit 4.
    assert_eq!((gpr(&m, 15), gpr(&m, 14)), (0x10, 0x80_0000 - 3));
    assert_eq!(m.cpu(0).expect("CPU 0").cr2(), 0x80_0000);
}

#[test]
fn task_priority_holds_interrupts_back() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(eax, 5)?;
        a.mov(cr8, rax)?;
        a.sti()?;
        a.mov(dword_ptr(rbx + 0x300), 0x4_0055)?; // class 5 is not above 5
        a.mov(dword_ptr(rbx + 0x300), 0x4_0060)?; // class 6 is
        a.nop()?;
        a.mov(r13, r15)?;
        a.xor(eax, eax)?;
        a.mov(cr8, rax)?;
        a.nop()?;
        stop(a)
    })
    .handler(0x55, |a| {
        a.shl(r15, 4)?;
        a.or(r15, 5)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .handler(0x60, |a| {
        a.shl(r15, 4)?;
        a.or(r15, 6)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, 13), gpr(&m, 15)), (6, 0x65));
}

/// Overflows after some halted cycles.
struct HaltCounter(u64);

impl Observer for HaltCounter {
    fn halted_cycles(&mut self, cycles: u64) -> Alerts {
        self.0 -= cycles;
        if self.0 == 0 { Alerts::PERFORMANCE_INTERRUPT } else { Alerts::NONE }
    }

    fn halt_deadline(&self) -> Option<u64> {
        (self.0 != 0).then_some(self.0)
    }
}

#[test]
fn a_counter_of_halted_cycles_wakes_the_cpu() {
    let guest = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0x340), 0x400)?; // refused: masked while software-disabled
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x340), 0x400)?;
        a.hlt()?;
        stop(a)
    })
    .handler(2, |a| {
        a.rdtsc()?;
        a.iretq()
    });
    let mut m = guest.machine(&Config::default(), |_| HaltCounter(500));
    assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
    // Six steps to HLT, 500 cycles in it, one for the NMI.
    assert_eq!(m.cpu(0).expect("CPU 0").gpr(RAX), 507);
}
