//! The interpreter against results worked out from the AMD64 and Intel manuals.

use std::sync::Arc;

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use proptest::prelude::*;
use vm_pmu_guest_tests::engine::interp::{
    Alerts, BranchKind, Config, CpuView, EmptyBus, Exit, Gp, Image, ImageError, Interrupter,
    Limits, Machine, MachineBus, MachineError, Mode, Observer, PerformanceMask, SegmentSet, Step,
    StepKind, Stop, Unobserved, selector,
};

const CODE: u64 = 0x10_0000;
const IDT: u64 = 0x20_0000;
const DATA: u64 = 0x30_0000;

const CF: u64 = 1;
const PF: u64 = 4;
const AF: u64 = 0x10;
const ZF: u64 = 0x40;
const SF: u64 = 0x80;
const OF: u64 = 0x800;
const STATUS: u64 = CF | PF | AF | ZF | SF | OF;

type Build = fn(&mut CodeAssembler) -> Result<(), IcedError>;

fn assemble(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut a = CodeAssembler::new(64).expect("64-bit");
    build(&mut a).expect("encodable");
    a.assemble(CODE).expect("assembles")
}

fn gate(handler: u64, kind: u64, ist: u64) -> [u8; 16] {
    let low = handler & 0xffff
        | u64::from(selector::CODE) << 16
        | ist << 32
        | kind << 40
        | (handler >> 16 & 0xffff) << 48;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&low.to_le_bytes());
    bytes[8..].copy_from_slice(&(handler >> 32).to_le_bytes());
    bytes
}

const INTERRUPT: u64 = 0x8e;
const TRAP_USER: u64 = 0xef;

/// An image of code with an IDT whose vector n goes to handler n at `CODE + 0x1000 + 0x100 * n`.
struct Guest {
    image: Image,
}

impl Guest {
    fn new(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Self {
        // LIDT of the pointer at IDT - 16, then the program.
        let code = assemble(|a| {
            a.lidt(ptr(IDT - 16))?;
            build(a)
        });
        let mut pointer = vec![0xff, 0x0f];
        pointer.extend_from_slice(&IDT.to_le_bytes());
        Self {
            image: Image::raw(CODE, code).with(IDT - 16, pointer),
        }
    }

    fn handler_at(
        mut self,
        vector: u64,
        kind: u64,
        ist: u64,
        build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
    ) -> Self {
        let at = CODE + 0x1000 + 0x100 * vector;
        self.image = self
            .image
            .with(at, assemble(build))
            .with(IDT + 16 * vector, gate(at, kind, ist));
        self
    }

    fn handler(
        self,
        vector: u64,
        build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
    ) -> Self {
        self.handler_at(vector, INTERRUPT, 0, build)
    }

    fn machine<O: Observer>(
        &self,
        config: &Config,
        observer: impl FnMut(usize) -> O,
    ) -> Machine<O> {
        Machine::new(config, &self.image, Arc::new(EmptyBus), observer).expect("loads")
    }

    fn run(&self) -> (Machine<Log>, Exit) {
        self.run_with(&Config::default())
    }

    fn run_with(&self, config: &Config) -> (Machine<Log>, Exit) {
        let mut machine = self.machine(config, |_| Log::default());
        let exit = machine.run(Limits {
            steps: 1_000_000,
            cycles: 10_000_000,
        });
        (machine, exit)
    }
}

/// Records every step; answers a few registers.
#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    contexts: Vec<(u8, bool, bool)>,
    halted: u64,
    alert_at: Option<usize>,
    written: Vec<(u32, u64)>,
}

impl Observer for Log {
    fn rdmsr(&mut self, msr: u32, _: &CpuView<'_>) -> Option<Result<u64, Gp>> {
        match msr {
            0xc001_0004 => Some(Ok(0x1234_5678_9abc)),
            0xc001_0005 => Some(Err(Gp)),
            _ => None,
        }
    }

    fn wrmsr(&mut self, msr: u32, value: u64, _: &CpuView<'_>) -> Option<Result<(), Gp>> {
        (msr == 0xc001_0004).then(|| {
            self.written.push((msr, value));
            Ok(())
        })
    }

    fn rdpmc(&mut self, number: u32, cpu: &CpuView<'_>) -> Result<u64, Gp> {
        if cpu.cpl() != 0 && cpu.cr4() & 1 << 8 == 0 {
            Err(Gp)
        } else {
            Ok(0x1_0000_0000 + u64::from(number))
        }
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        self.contexts
            .push((cpu.cpl(), cpu.interrupts_enabled(), cpu.halted()));
    }

    fn retire(&mut self, step: &Step) -> Alerts {
        self.steps.push(*step);
        if self.alert_at == Some(self.steps.len()) {
            Alerts::PERFORMANCE_INTERRUPT
        } else {
            Alerts::NONE
        }
    }

    fn halted_cycles(&mut self, cycles: u64) -> Alerts {
        self.halted += cycles;
        Alerts::NONE
    }
}

fn stop(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.cli()?;
    a.hlt()
}

/// Runs a program to its end in HLT and returns the machine.
fn run(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Machine<Log> {
    let (machine, exit) = Guest::new(|a| {
        build(a)?;
        stop(a)
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    machine
}

fn gpr(machine: &Machine<Log>, number: usize) -> u64 {
    machine.cpu(0).expect("CPU 0").gpr(number)
}

fn flags(machine: &Machine<Log>) -> u64 {
    machine.cpu(0).expect("CPU 0").rflags() & STATUS
}

const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RBX: usize = 3;
const RSI: usize = 6;
const RDI: usize = 7;

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
    assert_eq!(
        (gpr(&m, RDI), gpr(&m, 8), gpr(&m, 9)),
        (8, 0x4433_2211, 0x1f)
    );
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
    let misaligned: u32 = m
        .observer(0)
        .expect("CPU 0")
        .steps
        .iter()
        .map(|s| u32::from(s.misaligned))
        .sum();
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
    let kinds: Vec<_> = m
        .observer(0)
        .expect("CPU 0")
        .steps
        .iter()
        .filter_map(|s| s.branch)
        .map(|b| b.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            BranchKind::DirectCall,
            BranchKind::Return,
            BranchKind::Direct
        ]
    );
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
    let iterations = steps
        .iter()
        .filter(|s| s.kind == StepKind::Iteration)
        .count();
    assert_eq!(iterations, 63);
    let string = steps
        .iter()
        .find(|s| s.kind == StepKind::Iteration)
        .expect("iterated")
        .rip;
    let retired = steps
        .iter()
        .filter(|s| s.rip == string && s.kind == StepKind::Instruction);
    assert_eq!(retired.count(), 1);
    let taken = steps
        .iter()
        .filter(|s| s.kind == StepKind::Interrupt { vector: 0x40 });
    let inside = taken.filter(|s| s.rip == string).count();
    assert!(
        inside >= 7,
        "{inside} interrupts within the string instruction"
    );
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
    guest.image = guest
        .image
        .with(DATA, *b"abcXefgh")
        .with(DATA + 16, *b"abcdefgh");
    let (m, exit) = guest.run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!((gpr(&m, RCX), gpr(&m, RSI)), (4, DATA + 4));
    // 'X' (58h) - 'd' (64h) = f4h with borrow; 8h - 4h needs none from bit 4.
    assert_eq!(flags(&m), CF | SF);
}

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
        let fault = *m
            .observer(0)
            .expect("CPU 0")
            .steps
            .iter()
            .find(|s| s.kind == StepKind::Exception { vector: 0 })
            .expect("#DE");
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
    assert_eq!(
        [gpr(&m, 9), gpr(&m, 10), gpr(&m, 11)].map(|e| e & 0x60),
        [0, 0x20, 0x60]
    );
}

/// Enters CPL 3 by SYSRET at the label, with the stack in the data region.
fn to_user(a: &mut CodeAssembler, user: CodeLabel) -> Result<(), IcedError> {
    a.mov(ecx, 0xc000_0081u32)?; // STAR
    a.mov(edx, 0x0010_0008)?;
    a.xor(eax, eax)?;
    a.wrmsr()?;
    a.lea(rcx, qword_ptr(user))?;
    a.mov(r11d, 0x202)?;
    a.mov(rsp, DATA + 0x8000)?;
    a.sysretq()
}

fn user_config() -> Config {
    Config {
        user: std::iter::once(0..0x40_0000).collect(),
        ..Config::default()
    }
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
    let contexts = [
        (0, false, false),
        (3, true, false),
        (0, false, false),
        (0, false, true),
    ];
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
        assert_eq!(
            (gpr(&m, 15), gpr(&m, 14), gpr(&m, 13)),
            (code, 0x23, DATA + 0x8000),
            "case {n}"
        );
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
    assert_eq!(
        (gpr(&m, 15), m.cpu(0).expect("CPU 0").cr2()),
        (7, 0x80_0000)
    );
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
    let int3 = steps
        .iter()
        .find(|s| s.kind == StepKind::SoftwareInterrupt { vector: 3 })
        .expect("INT3");
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
        Exit::Failed {
            cpu: 0,
            stop: Stop::TripleFault { first: 13, .. },
        } => {}
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
    assert!(
        steps
            .iter()
            .any(|s| s.interrupts_masked && s.interrupt_pending)
    );
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
    for (lvt, mask, nmi) in [
        (0x40u32, PerformanceMask::Keep, false),
        (0x400, PerformanceMask::Set, true),
    ] {
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
        let config = Config {
            performance_mask: mask,
            ..Config::default()
        };
        // LIDT, 4 instructions, then after the third INC.
        let mut m = guest.machine(&config, |_| Log {
            alert_at: Some(8),
            ..Log::default()
        });
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
    assert_eq!(
        (gpr(&m, 8), gpr(&m, 9), gpr(&m, 10)),
        (0x5678_9abc, 0x1234, 3)
    );
    assert_eq!(
        m.observer(0).expect("CPU 0").written,
        [(0xc001_0004, 0x1234_5678_9abc)]
    );
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
fn unsupported_instructions_are_named() {
    let (_, exit) = Guest::new(|a| a.fldpi()).run();
    match exit {
        Exit::Failed {
            cpu: 0,
            stop: Stop::Unsupported { rip, bytes, text },
        } => {
            assert_eq!(
                (rip, bytes.as_slice(), text.as_str()),
                (CODE + 8, &[0xd9, 0xeb][..], "fldpi")
            );
        }
        other => panic!("{other}"),
    }
}

#[test]
fn exit_port_and_console() {
    let (m, exit) = Guest::new(|a| {
        a.mov(al, b'!' as u32)?;
        a.out(0xe9, al)?;
        a.mov(al, 3)?;
        a.out(0xf4, al)?;
        a.ud2()
    })
    .run();
    assert_eq!(exit, Exit::Status { cpu: 0, status: 3 });
    assert_eq!(m.console(), b"!");
    assert_eq!(m.observer(0).expect("CPU 0").steps.len(), 5);
}

/// CPU 0 waits for CPU 1 to answer its IPI with one of its own.
fn ping_pong() -> Guest {
    Guest::new(|a| {
        let mut other = a.create_label();
        let mut wait = a.create_label();
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.test(edi, edi)?;
        a.jne(other)?;
        let mut ready = a.create_label();
        a.mov(r13, DATA)?;
        a.set_label(&mut ready)?;
        a.pause()?;
        a.cmp(dword_ptr(r13), 1)?; // CPU 1's APIC is enabled
        a.jne(ready)?;
        a.mov(dword_ptr(rbx + 0x310), 1 << 24)?;
        a.mov(dword_ptr(rbx + 0x300), 0x50)?;
        a.set_label(&mut wait)?;
        a.cli()?;
        a.cmp(r15, 1)?;
        let mut done = a.create_label();
        a.je(done)?;
        a.sti()?;
        a.hlt()?;
        a.jmp(wait)?;
        a.set_label(&mut done)?;
        a.mov(al, 42)?;
        a.out(0xf4, al)?;
        a.set_label(&mut other)?;
        let mut sleep = a.create_label();
        a.mov(r13, DATA)?;
        a.mov(dword_ptr(r13), 1)?;
        a.set_label(&mut sleep)?;
        a.sti()?;
        a.hlt()?;
        a.jmp(sleep)
    })
    .handler(0x50, |a| {
        let mut end = a.create_label();
        a.inc(r15)?;
        a.test(edi, edi)?;
        a.je(end)?;
        a.mov(dword_ptr(rbx + 0x310), 0)?;
        a.mov(dword_ptr(rbx + 0x300), 0xc_0050)?; // all but itself
        a.set_label(&mut end)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
}

#[test]
fn ipis_between_cpus_in_both_modes() {
    for mode in [
        Mode::RoundRobin { quantum: 1 },
        Mode::RoundRobin { quantum: 50 },
        Mode::Parallel,
    ] {
        for _ in 0..20 {
            let config = Config {
                cpus: 2,
                mode,
                ..Config::default()
            };
            let (_, exit) = ping_pong().run_with(&config);
            assert_eq!(exit, Exit::Status { cpu: 0, status: 42 }, "{mode:?}");
        }
    }
}

#[test]
fn round_robin_is_deterministic() {
    let config = Config {
        cpus: 2,
        ..Config::default()
    };
    let (a, _) = ping_pong().run_with(&config);
    let (b, _) = ping_pong().run_with(&config);
    for cpu in 0..2 {
        assert_eq!(
            a.observer(cpu).expect("CPU").steps,
            b.observer(cpu).expect("CPU").steps
        );
    }
    // Halted or not, time is common to within a turn.
    let cycles = |n: usize| a.cpu(n).expect("CPU").cycles();
    assert!(cycles(0).abs_diff(cycles(1)) <= 1);
}

#[test]
fn locked_increments_sum_exactly() {
    const EACH: u32 = 200_000;
    let guest = Guest::new(|a| {
        let mut again = a.create_label();
        let mut wait = a.create_label();
        a.mov(r8, DATA)?;
        a.mov(ecx, EACH)?;
        a.set_label(&mut again)?;
        a.lock().inc(qword_ptr(r8))?;
        a.mov(eax, 1)?;
        a.lock().xadd(dword_ptr(r8 + 8), eax)?;
        a.mov(eax, dword_ptr(r8 + 16))?;
        let mut retry = a.create_label();
        a.set_label(&mut retry)?;
        a.lea(edx, dword_ptr(rax + 1))?;
        a.lock().cmpxchg(dword_ptr(r8 + 16), edx)?;
        a.jne(retry)?;
        a.dec(ecx)?;
        a.jne(again)?;
        a.lock().inc(qword_ptr(r8 + 24))?;
        a.set_label(&mut wait)?;
        a.pause()?;
        a.cmp(qword_ptr(r8 + 24), 2)?;
        a.jne(wait)?;
        stop(a)
    });
    for mode in [Mode::RoundRobin { quantum: 7 }, Mode::Parallel] {
        let config = Config {
            cpus: 2,
            mode,
            ..Config::default()
        };
        let mut m = guest.machine(&config, |_| Unobserved);
        assert_eq!(m.run(Limits::steps(100_000_000)), Exit::Halted, "{mode:?}");
        for offset in [0, 8, 16] {
            assert_eq!(
                m.memory().read(DATA + offset, 4),
                u64::from(2 * EACH),
                "{mode:?} {offset}"
            );
        }
    }
}

#[test]
fn limits_hold_in_both_modes() {
    let guest = Guest::new(|a| {
        let mut here = a.create_label();
        a.set_label(&mut here)?;
        a.jmp(here)
    });
    for mode in [Mode::RoundRobin { quantum: 1 }, Mode::Parallel] {
        let config = Config {
            cpus: 2,
            mode,
            ..Config::default()
        };
        let mut m = guest.machine(&config, |_| Unobserved);
        assert_eq!(m.run(Limits::steps(10_001)), Exit::Limit);
        let cycles: u64 = (0..2).map(|n| m.cpu(n).expect("CPU").cycles()).sum();
        let least = if mode == Mode::Parallel {
            9_000
        } else {
            10_001
        };
        assert!((least..=10_001).contains(&cycles), "{mode:?} {cycles}");
        assert_eq!(
            m.run(Limits {
                cycles: 20_000,
                ..Limits::NONE
            }),
            Exit::Limit
        );
    }
}

#[test]
fn halted_without_wake_up_ends_parallel_runs() {
    let guest = Guest::new(stop);
    let config = Config {
        cpus: 2,
        mode: Mode::Parallel,
        ..Config::default()
    };
    let (_, exit) = guest.run_with(&config);
    assert_eq!(exit, Exit::Halted);
}

struct Bus;

impl MachineBus for Bus {
    fn port_in(&self, _: usize, port: u16, size: u8) -> u32 {
        u32::from(port) << 8 | u32::from(size)
    }

    fn mmio_read(&self, _: usize, address: u64, _: u8) -> u64 {
        address ^ 0xff
    }

    fn rdmsr(&self, cpu: usize, msr: u32) -> Option<u64> {
        (msr == 0x700).then_some(cpu as u64 + 9)
    }
}

#[test]
fn the_bus_answers_for_what_is_outside() {
    let guest = Guest::new(|a| {
        a.mov(dx, 0xcf8)?;
        a.in_(eax, dx)?;
        a.mov(r8, rax)?;
        a.mov(rbx, 0xe000_0000u64)?;
        a.mov(r9, qword_ptr(rbx))?;
        a.mov(ecx, 0x700)?;
        a.rdmsr()?;
        stop(a)
    });
    let mut m = Machine::new(&Config::default(), &guest.image, Arc::new(Bus), |_| {
        Log::default()
    })
    .expect("loads");
    assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
    assert_eq!(
        (gpr(&m, 8), gpr(&m, 9), gpr(&m, RAX)),
        (0xc_f804, 0xe000_00ff, 9)
    );
}

#[test]
fn devices_interrupt_from_outside() {
    let guest = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.sti()?;
        a.hlt()?;
        a.hlt()
    })
    .handler(0x60, |a| {
        a.inc(r15)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .handler(2, |a| {
        a.inc(r14)?;
        a.iretq()
    });
    let (mut m, exit) = guest.run();
    assert_eq!(exit, Exit::Halted);
    let interrupter: Interrupter = m.interrupter();
    interrupter.fixed(0, 0x60);
    interrupter.nmi(0);
    interrupter.nmi(7);
    assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
    assert_eq!((gpr(&m, 15), gpr(&m, 14)), (1, 1));
}

#[test]
fn images_are_checked() {
    assert_eq!(Image::elf(b"#!/bin/sh"), Err(ImageError::NotElf));
    assert_eq!(
        Image::elf(b"\x7fELF\x01\x01\x01"),
        Err(ImageError::WrongClass)
    );
    let mut file = vec![0u8; 64 + 56 + 2];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[16] = 2; // ET_EXEC
    file[18] = 62; // x86-64
    file[20] = 1;
    file[24..32].copy_from_slice(&0x20_0000u64.to_le_bytes());
    file[32] = 64;
    file[52] = 64;
    file[54] = 56;
    file[56] = 1;
    file[64] = 1; // PT_LOAD
    file[64 + 8] = 120; // the last two bytes of the file
    file[64 + 24..64 + 32].copy_from_slice(&0x20_0000u64.to_le_bytes());
    file[64 + 32] = 2;
    file[64 + 40] = 8;
    file[120] = 0xfa; // CLI
    file[121] = 0xf4; // HLT
    let image = Image::elf(&file).expect("valid");
    assert_eq!(image.entry, 0x20_0000);
    assert_eq!(
        (image.segments[0].bytes.as_slice(), image.segments[0].size),
        (&[0xfa, 0xf4][..], 8)
    );
    let mut m = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| {
        Unobserved
    })
    .expect("fits");
    assert_eq!(m.run(Limits::steps(10)), Exit::Halted);
    let mut arm = file.clone();
    arm[18] = 183;
    assert_eq!(
        Image::elf(&arm),
        Err(ImageError::WrongMachine { machine: 183 })
    );
    let big = Image::raw(0x10_0000, vec![0; 16 << 20]);
    let error = Machine::new(&Config::default(), &big, Arc::new(EmptyBus), |_| Unobserved).err();
    assert!(matches!(
        error,
        Some(MachineError::Image(ImageError::OutOfRam { .. }))
    ));
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
    assert_eq!(
        (gpr(&m, 15), gpr(&m, 13), gpr(&m, 12)),
        (0, 0, u64::from(selector::USER_DATA))
    );
    assert_eq!(gpr(&m, 14), 1);
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
    assert_eq!(
        (gpr(&m, 15), gpr(&m, 14), gpr(&m, RBX)),
        (3, u64::from(selector::CODE), 0)
    );
    let far = m
        .observer(0)
        .expect("CPU 0")
        .steps
        .iter()
        .filter(|s| s.branch.is_some_and(|b| b.kind == BranchKind::Far))
        .count();
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
    guest.image = guest
        .image
        .with(DATA, [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    let (m, exit) = guest.run();
    assert_eq!(exit, Exit::Halted);
    assert_eq!(m.memory().read_u128(DATA), 4 << 64 | 3);
    assert_eq!(
        (gpr(&m, 8), gpr(&m, 9), gpr(&m, 10), gpr(&m, 11)),
        (1, 0, 3, 0)
    );
    assert_eq!((gpr(&m, 13), gpr(&m, 14), gpr(&m, 15)), (7, 10, 1));
    let steps = &m.observer(0).expect("CPU 0").steps;
    // CMPXCHG16B and XCHG; the load and store of both show as locked.
    let locked: Vec<_> = steps.iter().filter(|s| s.instruction.locked).collect();
    assert_eq!(locked.len(), 2);
    assert!(
        locked
            .iter()
            .all(|s| s.accesses().len() == 2 && s.accesses().iter().all(|x| x.locked))
    );
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
    assert_eq!(
        (gpr(&m, 11), gpr(&m, 12)),
        (u64::from(selector::TASK), 0x1_0010)
    );
    let loads: Vec<_> = m
        .observer(0)
        .expect("CPU 0")
        .steps
        .iter()
        .filter(|s| s.segment_loads.count() != 0)
        .map(|s| s.segment_loads)
        .collect();
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
    assert_eq!(
        (gpr(&m, RAX), gpr(&m, 8), gpr(&m, 9), gpr(&m, 10)),
        (5, 0x55, 0, 48)
    );
    assert_eq!(gpr(&m, RBX), 0);
    let steps = &m.observer(0).expect("CPU 0").steps;
    let taken = steps.iter().filter(|s| {
        s.branch
            .is_some_and(|b| b.kind == BranchKind::Conditional && b.taken)
    });
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
    let last = m
        .observer(0)
        .expect("CPU 0")
        .steps
        .iter()
        .any(|s| s.kind == StepKind::Exception { vector: 13 });
    assert!(last);
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
        if self.0 == 0 {
            Alerts::PERFORMANCE_INTERRUPT
        } else {
            Alerts::NONE
        }
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

/// `cargo test --release --test interp -- --ignored --nocapture speed`
#[test]
#[ignore = "prints the speed; only a release build means something"]
fn speed() {
    let guest = Guest::new(|a| {
        let mut again = a.create_label();
        let mut function = a.create_label();
        let mut over = a.create_label();
        // Each CPU has its own data, so that host caches do not bounce.
        a.shl(rdi, 12)?;
        a.add(rdi, DATA as i32)?;
        a.mov(ecx, 5_000_000)?;
        a.jmp(over)?;
        a.set_label(&mut function)?;
        a.add(rax, qword_ptr(rdi + 8))?;
        a.ret()?;
        a.set_label(&mut over)?;
        a.nop()?;
        a.set_label(&mut again)?;
        a.mov(rax, qword_ptr(rdi))?;
        a.lea(rbx, qword_ptr(rax + rcx * 4 + 1))?;
        a.xor(rbx, rax)?;
        a.call(function)?;
        a.mov(qword_ptr(rdi), rbx)?;
        a.shr(rbx, 3)?;
        a.and(ebx, 0xff)?;
        a.cmp(ebx, 0x80)?;
        a.dec(ecx)?;
        a.jne(again)?;
        stop(a)
    });
    for (mode, cpus) in [
        (Mode::default(), 1),
        (Mode::default(), 2),
        (Mode::RoundRobin { quantum: 100 }, 2),
        (Mode::Parallel, 2),
    ] {
        let config = Config {
            cpus,
            mode,
            ..Config::default()
        };
        let mut m = guest.machine(&config, |_| Unobserved);
        let start = std::time::Instant::now();
        assert_eq!(m.run(Limits::NONE), Exit::Halted);
        let steps: u64 = (0..cpus).map(|n| m.cpu(n).expect("CPU").cycles()).sum();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{mode:?} {cpus}: {:.1} million/s",
            steps as f64 / seconds / 1e6
        );
    }
}

type Sized = fn(&mut CodeAssembler, u32) -> Result<(), IcedError>;

/// The operations of the property test, by the reference formula's index.
#[rustfmt::skip]
const OPERATIONS: [Sized; 8] = [
    |a, size| match size { 8 => a.add(al, bl), 16 => a.add(ax, bx), 32 => a.add(eax, ebx), _ => a.add(rax, rbx) },
    |a, size| match size { 8 => a.adc(al, bl), 16 => a.adc(ax, bx), 32 => a.adc(eax, ebx), _ => a.adc(rax, rbx) },
    |a, size| match size { 8 => a.sub(al, bl), 16 => a.sub(ax, bx), 32 => a.sub(eax, ebx), _ => a.sub(rax, rbx) },
    |a, size| match size { 8 => a.sbb(al, bl), 16 => a.sbb(ax, bx), 32 => a.sbb(eax, ebx), _ => a.sbb(rax, rbx) },
    |a, size| match size { 8 => a.xor(al, bl), 16 => a.xor(ax, bx), 32 => a.xor(eax, ebx), _ => a.xor(rax, rbx) },
    |a, size| match size { 8 => a.rcl(al, cl), 16 => a.rcl(ax, cl), 32 => a.rcl(eax, cl), _ => a.rcl(rax, cl) },
    |a, size| match size { 8 => a.sar(al, cl), 16 => a.sar(ax, cl), 32 => a.sar(eax, cl), _ => a.sar(rax, cl) },
    |a, size| match size { 8 => a.ror(al, cl), 16 => a.ror(ax, cl), 32 => a.ror(eax, cl), _ => a.ror(rax, cl) },
];

/// Result and flags bit by bit, as a ripple-carry adder or a one-bit shifter would make them, with
/// the flags that are defined.
fn reference(op: usize, size: u32, a: u64, b: u64, count: u32, carry: bool) -> (u64, u64, u64) {
    let bit = |v: u64, n: u32| v >> n & 1 == 1;
    let a = if size == 64 { a } else { a & ((1 << size) - 1) };
    let b = if size == 64 { b } else { b & ((1 << size) - 1) };
    let (mut r, mut c, mut flags, mut defined) = (0u64, carry, 0, STATUS);
    let mut overflow = false;
    let szp = |r: u64| {
        let even = (0..8).filter(|n| bit(r, *n)).count() % 2 == 0;
        (if r == 0 { ZF } else { 0 })
            | (if bit(r, size - 1) { SF } else { 0 })
            | if even { PF } else { 0 }
    };
    if op < 4 {
        let subtract = op >= 2;
        c = op % 2 == 1 && carry;
        for n in 0..size {
            let (x, y) = (bit(a, n), bit(b, n));
            r |= u64::from(x ^ y ^ c) << n;
            let before = c;
            c = if subtract {
                !x && (y || c) || y && c
            } else {
                x && y || c && (x || y)
            };
            if n == 3 && c {
                flags |= AF;
            }
            if n == size - 1 {
                overflow = before != c;
            }
        }
        flags |= szp(r);
    } else if op == 4 {
        for n in 0..size {
            r |= u64::from(bit(a, n) != bit(b, n)) << n;
        }
        (c, defined) = (false, STATUS & !AF);
        flags |= szp(r);
    } else {
        let count = count & if size == 64 { 63 } else { 31 };
        r = a;
        for _ in 0..count {
            let (high, low) = (bit(r, size - 1), bit(r, 0));
            let top = 1u64 << (size - 1);
            match op {
                5 => {
                    r = r << 1 & (top | (top - 1)) | u64::from(c);
                    c = high;
                    overflow = bit(r, size - 1) != c;
                }
                6 => {
                    r = r >> 1 | if high { top } else { 0 };
                    c = low;
                    overflow = false;
                }
                _ => {
                    r = r >> 1 | if low { top } else { 0 };
                    c = low;
                    overflow = bit(r, size - 1) != bit(r, size - 2);
                }
            }
        }
        if count != 1 {
            defined &= !OF;
        }
        if count == 0 {
            defined = CF;
        } else if op == 6 {
            flags |= szp(r);
            defined &= !AF;
        } else {
            defined &= CF | OF;
        }
    }
    flags |= if c { CF } else { 0 } | if overflow { OF } else { 0 };
    (r, flags, defined)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arithmetic_matches_the_reference(
        op in 0usize..8,
        size in prop::sample::select(vec![8u32, 16, 32, 64]),
        x in prop_oneof![any::<u64>(), prop::sample::select(vec![0, 1, 0x7f, 0x80, 0x7fff, 0x8000, u64::MAX, 1 << 63])],
        y in any::<u64>(),
        count in any::<u8>(),
        carry in any::<bool>(),
    ) {
        let m = run(|a| {
            a.mov(rax, x)?;
            a.mov(rbx, y)?;
            a.mov(ecx, u32::from(count))?;
            if carry { a.stc()? } else { a.clc()? }
            OPERATIONS[op](a, size)
        });
        let (result, wanted, defined) = reference(op, size, x, y, count.into(), carry);
        let kept = match size { 8 => x & !0xff, 16 => x & !0xffff, _ => 0 };
        prop_assert_eq!(gpr(&m, RAX), kept | result);
        prop_assert_eq!(flags(&m) & defined, wanted & defined);
    }

    #[test]
    fn division_undoes_multiplication(a in any::<u64>(), b in 1u64.., r in any::<u64>()) {
        let remainder = r % b;
        let m = run(|asm| {
            asm.mov(rax, a)?;
            asm.mov(rbx, b)?;
            asm.mul(rbx)?;
            asm.mov(rcx, remainder)?;
            asm.add(rax, rcx)?;
            asm.adc(rdx, 0)?;
            asm.div(rbx)
        });
        prop_assert_eq!((gpr(&m, RAX), gpr(&m, RDX)), (a, remainder));
    }

    /// Whatever the bytes, the run ends with a reason and not a panic.
    #[test]
    fn arbitrary_code_never_panics(
        code in prop::collection::vec(any::<u8>(), 1..64),
        registers in prop::array::uniform8(prop_oneof![any::<u64>(), Just(DATA), 0u64..0x100, Just(0xfee0_0300)]),
    ) {
        let mut bytes = assemble(|a| {
            a.lidt(ptr(IDT - 16))?;
            a.mov(rax, registers[0])?;
            a.mov(rcx, registers[1])?;
            a.mov(rdx, registers[2])?;
            a.mov(rbx, registers[3])?;
            a.mov(rbp, registers[4])?;
            a.mov(rsi, registers[5])?;
            a.mov(rdi, registers[6])?;
            a.mov(r8, registers[7])
        });
        bytes.extend_from_slice(&code);
        let mut pointer = vec![0xff, 0x0f];
        pointer.extend_from_slice(&IDT.to_le_bytes());
        let mut image = Image::raw(CODE, bytes).with(IDT - 16, pointer);
        // Every fault skips a byte, which gives the bytes behind it a turn.
        let handler = assemble(|a| {
            a.add(rsp, 8)?;
            a.inc(qword_ptr(rsp))?;
            a.iretq()
        });
        let plain = assemble(|a| {
            a.inc(qword_ptr(rsp))?;
            a.iretq()
        });
        image = image.with(CODE + 0x1000, handler).with(CODE + 0x1100, plain);
        for vector in 0..32u64 {
            let code = matches!(vector, 8 | 10..=14 | 17);
            let at = CODE + if code { 0x1000 } else { 0x1100 };
            image = image.with(IDT + 16 * vector, gate(at, INTERRUPT, 1));
        }
        let config = Config { ram: 8 << 20, ..Config::default() };
        let mut m = Machine::new(&config, &image, Arc::new(EmptyBus), |_| Unobserved).expect("loads");
        let _ = m.run(Limits { steps: 400, cycles: 100_000 });
    }
}
