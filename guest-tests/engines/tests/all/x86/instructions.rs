//! What instructions do to registers, flags and memory.

use super::support::*;

#[test]
fn partial_register_writes() {
    let m = run(|a| {
        a.mov(rax, 0x1122_3344_5566_7788u64)?;
        a.mov(rbx, rax)?;
        a.mov(rcx, rax)?;
        a.mov(rdx, rax)?;
        a.mov(al, 0)?; // keeps the rest
        a.mov(bh, 0)?; // second byte only
        a.mov(cx, 0)?; // low 16 only
        a.mov(edx, 1) // zero-extends
    });
    assert_eq!(gpr(&m, RAX), 0x1122_3344_5566_7700);
    assert_eq!(gpr(&m, RBX), 0x1122_3344_5566_0088);
    assert_eq!(gpr(&m, RCX), 0x1122_3344_5566_0000);
    assert_eq!(gpr(&m, RDX), 1);
}

#[test]
fn arithmetic_flags() {
    let cases: &[(Build, u64, u64)] = &[
        // 7fh + 1 = 80h: signed overflow, half carry.
        (
            |a| {
                a.mov(eax, 0x7f)?;
                a.add(al, 1)
            },
            0x80,
            SF | OF | AF,
        ),
        // ffh + 1 = 0 with carry.
        (
            |a| {
                a.mov(eax, 0xff)?;
                a.add(al, 1)
            },
            0,
            ZF | CF | AF | PF,
        ),
        // 0 - 1 = ffh with borrow.
        (
            |a| {
                a.xor(eax, eax)?;
                a.sub(al, 1)
            },
            0xff,
            SF | CF | AF | PF,
        ),
        // 80h - 1 = 7fh: signed overflow.
        (
            |a| {
                a.mov(eax, 0x80)?;
                a.sub(al, 1)
            },
            0x7f,
            OF | AF,
        ),
        // ADC takes the carry in: ffh + 0 + 1.
        (
            |a| {
                a.mov(eax, 0xff)?;
                a.stc()?;
                a.adc(al, 0)
            },
            0,
            ZF | CF | AF | PF,
        ),
        // SBB: 0 - 0 - 1.
        (
            |a| {
                a.mov(eax, 0)?;
                a.stc()?;
                a.sbb(al, 0)
            },
            0xff,
            SF | CF | AF | PF,
        ),
        // INC keeps CF.
        (
            |a| {
                a.mov(eax, 0xff)?;
                a.stc()?;
                a.inc(al)
            },
            0,
            ZF | CF | AF | PF,
        ),
        (
            |a| {
                a.mov(eax, 1)?;
                a.clc()?;
                a.dec(al)
            },
            0,
            ZF | PF,
        ),
        // NEG of 0 has no carry, of 80h overflows.
        (
            |a| {
                a.mov(eax, 0)?;
                a.neg(al)
            },
            0,
            ZF | PF,
        ),
        (
            |a| {
                a.mov(eax, 0x80)?;
                a.neg(al)
            },
            0x80,
            SF | OF | CF,
        ),
        // AND clears CF and OF.
        (
            |a| {
                a.mov(eax, 0xf0)?;
                a.stc()?;
                a.and(al, 0x30)
            },
            0x30,
            PF,
        ),
        // SHL by one of c0h: the carry and the sign agree, so no overflow. AF, which is
        // undefined, is set as on AMD processors.
        (
            |a| {
                a.mov(eax, 0xc0)?;
                a.shl(al, 1)
            },
            0x80,
            SF | CF | AF,
        ),
        (
            |a| {
                a.mov(eax, 0x80)?;
                a.shr(al, 1)
            },
            0x40,
            OF | AF,
        ),
        (
            |a| {
                a.mov(eax, 0x81)?;
                a.sar(al, 1)
            },
            0xc0,
            SF | CF | PF | AF,
        ),
        // A count of zero changes nothing.
        (
            |a| {
                a.mov(eax, 1)?;
                a.stc()?;
                a.mov(ecx, 0)?;
                a.shl(al, cl)
            },
            1,
            CF | ZF | PF,
        ),
        // 64-bit.
        (
            |a| {
                a.mov(rax, 0x7fff_ffff_ffff_ffffu64)?;
                a.add(rax, 1)
            },
            1 << 63,
            SF | OF | AF | PF,
        ),
        // RCL through carry: 9 bits, carry in becomes bit 0.
        (
            |a| {
                a.xor(edx, edx)?;
                a.mov(eax, 0x80)?;
                a.stc()?;
                a.rcl(al, 1)
            },
            1,
            ZF | PF | CF | OF,
        ),
        (
            |a| {
                a.xor(edx, edx)?;
                a.mov(eax, 0x81)?;
                a.rol(al, 4)
            },
            0x18,
            ZF | PF,
        ),
    ];
    for (n, (build, value, want)) in cases.iter().enumerate() {
        let m = run(|a| {
            // XOR leaves ZF and PF for the case of the unchanged flags.
            a.xor(edx, edx)?;
            build(a)
        });
        assert_eq!(gpr(&m, RAX), *value, "value of case {n}");
        assert_eq!(flags(&m), *want, "flags of case {n}");
    }
}

#[test]
fn multiply_and_divide() {
    let m = run(|a| {
        a.mov(rax, 0x1_0000_0000u64)?;
        a.mov(rbx, 0x1_0000_0001u64)?;
        a.mul(rbx)?; // 2^64 + 2^32
        a.mov(r8, rax)?;
        a.mov(r9, rdx)?;
        a.mov(rdx, 1u64)?;
        a.mov(rax, 5u64)?;
        a.mov(rbx, 16u64)?;
        a.div(rbx)?; // (2^64 + 5) / 16 = 2^60 remainder 5
        a.mov(r10, rax)?;
        a.mov(r11, rdx)?;
        a.mov(rax, -7i64 as u64)?;
        a.cqo()?;
        a.mov(rbx, 2u64)?;
        a.idiv(rbx)?; // truncates toward zero
        a.mov(r12, rax)?;
        a.mov(r13, rdx)?;
        a.mov(eax, -3i32 as u32)?;
        a.imul_3(r14d, eax, 7)
    });
    assert_eq!((gpr(&m, 8), gpr(&m, 9)), (1 << 32, 1));
    assert_eq!((gpr(&m, 10), gpr(&m, 11)), (1 << 60, 5));
    assert_eq!((gpr(&m, 12) as i64, gpr(&m, 13) as i64), (-3, -1));
    assert_eq!(gpr(&m, 14), 0xffff_ffeb);
}

#[test]
fn bits_and_swaps() {
    let m = run(|a| {
        a.mov(rax, 0x0000_0100_0000_0000u64)?;
        a.bsf(rbx, rax)?;
        a.bsr(rcx, rax)?;
        a.lzcnt(rdx, rax)?;
        a.mov(esi, 0xf0f0)?;
        a.popcnt(edi, esi)?;
        a.mov(r8d, 0x1122_3344)?;
        a.bswap(r8d)?;
        a.mov(r9d, 0x8000_0001u32)?;
        a.mov(r10d, 0xf000_0000u32)?;
        a.shld(r9d, r10d, 4)?;
        a.xor(r11d, r11d)?;
        a.tzcnt(r12d, r11d)?;
        // A bit number beyond the operand reaches into memory.
        a.mov(r13, DATA)?;
        a.mov(r14d, 64 + 3)?;
        a.bts(qword_ptr(r13), r14)?;
        a.mov(r15, qword_ptr(r13 + 8))
    });
    assert_eq!((gpr(&m, RBX), gpr(&m, RCX), gpr(&m, RDX)), (40, 40, 23));
    assert_eq!((gpr(&m, RDI), gpr(&m, 8), gpr(&m, 9)), (8, 0x4433_2211, 0x1f));
    assert_eq!((gpr(&m, 12), gpr(&m, 15)), (32, 8));
}

#[test]
fn unaligned_and_page_crossing_access() {
    let m = run(|a| {
        a.mov(rdi, DATA + 0xffd)?;
        a.mov(rax, 0x0123_4567_89ab_cdefu64)?;
        a.mov(qword_ptr(rdi), rax)?;
        a.mov(rbx, qword_ptr(rdi))?;
        a.mov(ecx, dword_ptr(rdi + 2))?;
        a.lock().add(qword_ptr(rdi), 1)?;
        a.mov(rdx, qword_ptr(rdi))
    });
    assert_eq!(gpr(&m, RBX), 0x0123_4567_89ab_cdef);
    assert_eq!(gpr(&m, RCX), 0x4567_89ab);
    assert_eq!(gpr(&m, RDX), 0x0123_4567_89ab_cdf0);
    let misaligned: u32 = m.observer(0).expect("CPU 0").steps.iter().map(|s| u32::from(s.misaligned)).sum();
    // LIDT's base; the store, two loads and both halves of the locked operation; the last load.
    // The 4-byte load at ...fffh crosses as well.
    assert_eq!(misaligned, 1 + 1 + 1 + 1 + 2 + 1);
}

#[test]
fn stack_and_calls() {
    let m = run(|a| {
        let mut function = a.create_label();
        let mut over = a.create_label();
        a.mov(rbx, rsp)?;
        a.push(5)?;
        a.call(function)?;
        a.sub(rbx, rsp)?;
        a.jmp(over)?;
        a.set_label(&mut function)?;
        a.enter(16, 0)?;
        a.mov(rax, qword_ptr(rbp + 16))?;
        a.leave()?;
        a.ret_1(8)?;
        a.set_label(&mut over)?;
        a.nop()
    });
    assert_eq!((gpr(&m, RAX), gpr(&m, RBX)), (5, 0));
    let kinds: Vec<_> = m.observer(0).expect("CPU 0").steps.iter().filter_map(|s| s.branch).map(|b| b.kind).collect();
    assert_eq!(kinds, [BranchKind::DirectCall, BranchKind::Return, BranchKind::DirectJump]);
}

#[test]
fn strings_retire_once_and_can_be_interrupted() {
    // A periodic timer of 8 cycles interrupts a copy of 64 bytes; RIP stays on the instruction.
    let (m, exit) = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x3e0), 0xb)?;
        a.mov(dword_ptr(rbx + 0x320), 0x2_0040)?;
        a.mov(rdi, DATA)?;
        a.mov(ecx, 64)?;
        a.mov(eax, 0x5a)?;
        a.mov(dword_ptr(rbx + 0x380), 8)?;
        a.sti()?;
        a.rep().stosb()?;
        stop(a)
    })
    .handler(0x40, |a| {
        a.inc(r15)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!(gpr(&m, RCX), 0);
    assert_eq!(gpr(&m, RDI), DATA + 64);
    let mut bytes = [0; 65];
    m.memory().read_bytes(DATA, &mut bytes).expect("in RAM");
    assert!(bytes[..64].iter().all(|b| *b == 0x5a) && bytes[64] == 0);
    let steps = &m.observer(0).expect("CPU 0").steps;
    let iterations = steps.iter().filter(|s| s.kind == StepKind::Iteration).count();
    assert_eq!(iterations, 63);
    let string = steps.iter().find(|s| s.kind == StepKind::Iteration).expect("iterated").rip;
    let retired = steps.iter().filter(|s| s.rip == string && s.kind == StepKind::Instruction);
    assert_eq!(retired.count(), 1);
    let taken = steps.iter().filter(|s| s.kind == StepKind::Interrupt { vector: 0x40 });
    let inside = taken.filter(|s| s.rip == string).count();
    assert!(inside >= 7, "{inside} interrupts within the string instruction");
    assert!(gpr(&m, 15) >= inside as u64);
}

#[test]
fn compare_strings_stop_at_the_difference() {
    let mut guest = Guest::new(|a| {
        a.mov(rsi, DATA)?;
        a.mov(rdi, DATA + 16)?;
        a.mov(ecx, 8)?;
        a.repe().cmpsb()?;
        stop(a)
    });
    guest.image = guest.image.with(DATA, *b"abcXefgh").with(DATA + 16, *b"abcdefgh");
    let (m, exit) = guest.run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, RCX), gpr(&m, RSI)), (4, DATA + 4));
    // 'X' (58h) - 'd' (64h) = f4h with borrow; 8h - 4h needs none from bit 4.
    assert_eq!(flags(&m), CF | SF);
}

#[test]
fn self_modifying_code_is_seen() {
    let m = run(|a| {
        let mut again = a.create_label();
        a.xor(ecx, ecx)?;
        a.set_label(&mut again)?;
        a.mov(eax, 1)?;
        a.add(ebx, eax)?;
        a.lea(rdi, qword_ptr(again))?;
        a.mov(byte_ptr(rdi + 1), 0x10)?;
        a.inc(ecx)?;
        a.cmp(ecx, 2)?;
        a.jne(again)
    });
    assert_eq!(gpr(&m, RBX), 0x11);
}

#[test]
fn far_transfers() {
    let m = run(|a| {
        let mut landing = a.create_label();
        let mut function = a.create_label();
        let mut end = a.create_label();
        a.mov(rdi, DATA)?;
        a.lea(rax, qword_ptr(landing))?;
        a.mov(qword_ptr(rdi), rax)?;
        a.mov(word_ptr(rdi + 8), selector::CODE as i32)?;
        a.lea(rax, qword_ptr(function))?;
        a.mov(dword_ptr(rdi + 16), eax)?;
        a.mov(word_ptr(rdi + 20), selector::CODE as i32)?;
        a.mov(rbx, rsp)?;
        a.db(&[0x48, 0xff, 0x2f])?; // JMP m16:64 [rdi]
        a.ud2()?;
        a.set_label(&mut landing)?;
        a.inc(r15)?;
        a.db(&[0xff, 0x5f, 0x10])?; // CALL m16:32 [rdi+16]
        a.inc(r15)?;
        a.jmp(end)?;
        a.set_label(&mut function)?;
        a.mov(r14d, dword_ptr(rsp + 4))?; // the pushed CS
        a.inc(r15)?;
        a.db(&[0xcb])?; // RETF with 32-bit operands
        a.set_label(&mut end)?;
        a.sub(rbx, rsp)
    });
    assert_eq!((gpr(&m, 15), gpr(&m, 14), gpr(&m, RBX)), (3, u64::from(selector::CODE), 0));
    let far = m.observer(0).expect("CPU 0").steps.iter().filter(|s| s.branch.is_some_and(|b| b.kind == BranchKind::Far)).count();
    assert_eq!(far, 3);
}

#[test]
fn compare_and_exchange() {
    let mut guest = Guest::new(|a| {
        a.mov(rdi, DATA)?;
        a.mov(rax, 1u64)?;
        a.mov(rdx, 2u64)?;
        a.mov(rbx, 3u64)?;
        a.mov(rcx, 4u64)?;
        a.lock().cmpxchg16b(xmmword_ptr(rdi))?; // matches
        a.setz(r8b)?;
        a.cmpxchg8b(qword_ptr(rdi))?; // EDX:EAX = 2:1, memory 0:3
        a.setz(r9b)?;
        a.mov(r10, rax)?;
        a.mov(r11, rdx)?;
        a.mov(eax, 9)?;
        a.mov(r12d, 7)?;
        a.mov(r13, 0xffff_ffff_0000_0009u64)?;
        a.cmpxchg(r13d, r12d)?; // matches: extended with zeros
        a.mov(r14d, 5)?;
        a.xadd(r14, r14)?; // the sum stays
        a.mov(qword_ptr(rdi + 16), 1)?;
        a.mov(r15d, 2)?;
        a.xchg(qword_ptr(rdi + 16), r15)?;
        stop(a)
    });
    guest.image = guest.image.with(DATA, [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    let (m, exit) = guest.run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!(m.memory().read_u128(DATA), 4 << 64 | 3);
    assert_eq!((gpr(&m, 8), gpr(&m, 9), gpr(&m, 10), gpr(&m, 11)), (1, 0, 3, 0));
    assert_eq!((gpr(&m, 13), gpr(&m, 14), gpr(&m, 15)), (7, 10, 1));
    let steps = &m.observer(0).expect("CPU 0").steps;
    // CMPXCHG16B and XCHG; the load and store of both show as locked.
    let locked: Vec<_> = steps.iter().filter(|s| s.instruction.facts.locked).collect();
    assert_eq!(locked.len(), 2);
    assert!(locked.iter().all(|s| s.accesses().len() == 2 && s.accesses().iter().all(|x| x.locked)));
}

#[test]
fn segment_bases_and_selectors() {
    let m = run(|a| {
        a.mov(rax, cr4)?;
        a.or(rax, 1 << 16)?;
        a.mov(cr4, rax)?;
        a.mov(rax, DATA)?;
        a.wrfsbase(rax)?;
        a.mov(qword_ptr(rax + 8), 77)?;
        a.mov(rdx, 8u64)?;
        a.mov(r8, qword_ptr(rdx).fs())?;
        a.mov(ecx, 0xc000_0102u32)?; // KERNEL_GS_BASE
        a.mov(eax, DATA as u32)?;
        a.xor(edx, edx)?;
        a.wrmsr()?;
        a.swapgs()?;
        a.rdgsbase(r9)?;
        a.mov(eax, u32::from(selector::DATA))?;
        a.mov(ds, eax)?;
        a.mov(fs, eax)?; // loads base 0 from the descriptor
        a.rdfsbase(r10)?;
        a.str(r11d)?;
        a.mov(r12d, 0x1_0000)?;
        a.mov(r12w, gs)
    });
    assert_eq!((gpr(&m, 8), gpr(&m, 9), gpr(&m, 10)), (77, DATA, 0));
    assert_eq!((gpr(&m, 11), gpr(&m, 12)), (u64::from(selector::TASK), 0x1_0010));
    let loads: Vec<_> =
        m.observer(0).expect("CPU 0").steps.iter().filter(|s| s.segment_loads.count() != 0).map(|s| s.segment_loads).collect();
    assert_eq!(loads, [SegmentSet::DS, SegmentSet::FS]);
}

#[test]
fn loops_and_frames() {
    let m = run(|a| {
        let mut again = a.create_label();
        let mut zero = a.create_label();
        a.mov(ecx, 5)?;
        a.set_label(&mut again)?;
        a.inc(eax)?;
        a.loop_(again)?;
        a.jrcxz(zero)?;
        a.ud2()?;
        a.set_label(&mut zero)?;
        a.mov(rbp, DATA + 0x100)?;
        a.mov(qword_ptr(rbp - 8), 0x55)?;
        a.mov(rbx, rsp)?;
        a.enter(32, 2)?; // pushes RBP, the outer frame pointer, and the new one
        a.mov(r8, qword_ptr(rbp - 8))?;
        a.mov(r9, qword_ptr(rbp - 16))?;
        a.sub(r9, rbp)?;
        a.mov(r10, rbp)?;
        a.sub(r10, rsp)?;
        a.leave()?;
        a.sub(rbx, rsp)
    });
    assert_eq!((gpr(&m, RAX), gpr(&m, 8), gpr(&m, 9), gpr(&m, 10)), (5, 0x55, 0, 48));
    assert_eq!(gpr(&m, RBX), 0);
    let steps = &m.observer(0).expect("CPU 0").steps;
    let taken = steps.iter().filter(|s| s.branch.is_some_and(|b| b.kind == BranchKind::Conditional && b.taken));
    assert_eq!(taken.count(), 5);
}

#[test]
fn pop_to_memory_uses_the_popped_stack_pointer() {
    let m = run(|a| {
        a.push(1)?;
        a.push(2)?;
        a.pop(qword_ptr(rsp))?; // overwrites the 1
        a.pop(rax)?;
        a.push(rsp)?;
        a.pop(rbx)?;
        a.sub(rbx, rsp)
    });
    assert_eq!((gpr(&m, RAX), gpr(&m, RBX)), (2, 0));
}

#[test]
fn cpuid_time_and_identity() {
    let m = run(|a| {
        a.mov(eax, 1)?;
        a.cpuid()?;
        a.mov(r8, rbx)?;
        a.rdtscp()?;
        a.mov(r9, rcx)?;
        a.mov(ecx, 0x10)?;
        a.xor(edx, edx)?;
        a.mov(eax, 1000)?;
        a.wrmsr()?; // TSC
        a.rdtsc()
    });
    assert_eq!((gpr(&m, 8) >> 24, gpr(&m, 9)), (0, 0));
    assert_eq!((gpr(&m, RAX), gpr(&m, RDX)), (1001, 0));
}

#[test]
fn vector_moves() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rdi, DATA)?;
        a.mov(rax, 0x1111_2222_3333_4444u64)?;
        a.mov(rcx, cr4)?;
        a.or(rcx, 1 << 9)?;
        a.mov(cr4, rcx)?;
        a.movq(xmm0, rax)?;
        a.movups(xmmword_ptr(rdi + 1), xmm0)?;
        a.movdqu(xmm1, xmmword_ptr(rdi + 1))?;
        a.pxor(xmm0, xmm0)?;
        a.movaps(xmm2, xmmword_ptr(rdi + 1)) // misaligned
    })
    .handler(13, stop)
    .run();
    assert_eq!(exit, Exit::Halted);
    let cpu = m.cpu(0).expect("CPU 0");
    assert_eq!((cpu.xmm(0), cpu.xmm(1)), (0, 0x1111_2222_3333_4444));
    let last = m.observer(0).expect("CPU 0").steps.iter().any(|s| s.kind == StepKind::Exception { vector: 13 });
    assert!(last);
}

#[test]
fn streaming_stores_write_like_others_but_need_alignment() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rdi, DATA)?;
        a.mov(rcx, cr4)?;
        a.or(rcx, 1 << 9)?;
        a.mov(cr4, rcx)?;
        a.mov(rax, 0x1111_2222_3333_4444u64)?;
        a.movq(xmm0, rax)?;
        a.movntdq(xmmword_ptr(rdi), xmm0)?;
        a.movntps(xmmword_ptr(rdi + 16), xmm0)?;
        a.movntpd(xmmword_ptr(rdi + 32), xmm0)?;
        a.movnti(qword_ptr(rdi + 49), rax)?;
        a.movntdq(xmmword_ptr(rdi + 1), xmm0)
    })
    .handler(13, stop)
    .run();
    assert_eq!(exit, Exit::Halted);
    for at in [0, 16, 32, 49] {
        assert_eq!(m.memory().read(DATA + at, 8), 0x1111_2222_3333_4444);
    }
    let streams = m.observer(0).expect("CPU 0").steps.iter().filter(|step| step.instruction.class == InstructionClass::Streaming);
    assert_eq!(streams.map(|step| step.store_bytes).collect::<Vec<_>>(), [16, 16, 16, 8]);
}
