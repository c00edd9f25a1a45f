//! Several CPUs, limits, images, and what lies outside the CPUs.

use super::support::*;

#[test]
fn unsupported_instructions_are_named() {
    let (_, exit) = Guest::new(|a| a.fldpi()).run();
    match exit {
        Exit::Failed { cpu: 0, stop: Stop::Unsupported { rip, bytes, text } } => {
            assert_eq!((rip, bytes.as_slice(), text.as_str()), (CODE + 8, &[0xd9, 0xeb][..], "fldpi"));
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

/// CPU 0 waits for CPU 1 to reply to its IPI with another.
pub(crate) fn ping_pong() -> Guest {
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
    for mode in [Mode::RoundRobin { quantum: 1 }, Mode::RoundRobin { quantum: 50 }, Mode::Parallel] {
        for _ in 0..20 {
            let config = Config { cpus: 2, mode, ..Config::default() };
            let (_, exit) = ping_pong().run_with(&config);
            assert_eq!(exit, Exit::Status { cpu: 0, status: 42 }, "{mode:?}");
        }
    }
}

#[test]
fn round_robin_is_deterministic() {
    let config = Config { cpus: 2, ..Config::default() };
    let (a, _) = ping_pong().run_with(&config);
    let (b, _) = ping_pong().run_with(&config);
    for cpu in 0..2 {
        assert_eq!(a.observer(cpu).expect("CPU").steps, b.observer(cpu).expect("CPU").steps);
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
        let config = Config { cpus: 2, mode, ..Config::default() };
        let mut m = guest.machine(&config, |_| Unobserved);
        assert_eq!(m.run(Limits::steps(100_000_000)), Exit::Halted, "{mode:?}");
        for offset in [0, 8, 16] {
            assert_eq!(m.memory().read(DATA + offset, 4), u64::from(2 * EACH), "{mode:?} {offset}");
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
        let config = Config { cpus: 2, mode, ..Config::default() };
        let mut m = guest.machine(&config, |_| Unobserved);
        assert_eq!(m.run(Limits::steps(10_001)), Exit::Limit);
        let cycles: u64 = (0..2).map(|n| m.cpu(n).expect("CPU").cycles()).sum();
        let least = if mode == Mode::Parallel { 9_000 } else { 10_001 };
        assert!((least..=10_001).contains(&cycles), "{mode:?} {cycles}");
        assert_eq!(m.run(Limits { cycles: 20_000, ..Limits::NONE }), Exit::Limit);
    }
}

#[test]
fn halted_without_wake_up_ends_parallel_runs() {
    let guest = Guest::new(stop);
    let config = Config { cpus: 2, mode: Mode::Parallel, ..Config::default() };
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
        a.mov(dx, 0xcf0)?;
        a.in_(eax, dx)?;
        a.mov(r8, rax)?;
        a.mov(rbx, 0xd000_0000u64)?;
        a.mov(r9, qword_ptr(rbx))?;
        a.mov(ecx, 0x700)?;
        a.rdmsr()?;
        stop(a)
    });
    let mut m = Machine::new(&Config::default(), &guest.image, Arc::new(Bus), |_| Log::default()).expect("loads");
    assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
    assert_eq!((gpr(&m, 8), gpr(&m, 9), gpr(&m, RAX)), (0xc_f004, 0xd000_00ff, 9));
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
    assert_eq!(Image::elf(b"\x7fELF\x01\x01\x01"), Err(ImageError::WrongClass));
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
    assert_eq!((image.segments[0].bytes.as_slice(), image.segments[0].size), (&[0xfa, 0xf4][..], 8));
    let mut m = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Unobserved).expect("fits");
    assert_eq!(m.run(Limits::steps(10)), Exit::Halted);
    let mut arm = file.clone();
    arm[18] = 183;
    assert_eq!(Image::elf(&arm), Err(ImageError::WrongMachine { machine: 183, right: 62 }));
    let big = Image::raw(0x10_0000, vec![0; 16 << 20]);
    let error = Machine::new(&Config::default(), &big, Arc::new(EmptyBus), |_| Unobserved).err();
    assert!(matches!(error, Some(MachineError::Image(ImageError::OutOfRam { .. }))));
}
