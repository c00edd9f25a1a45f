//! Which steps match the debug registers.

use super::support::*;

/// DR7 with type and length of DR0, and nothing enabled.
const fn control(kind: u32, length: u32) -> u32 {
    kind << 16 | length << 18
}

const EXECUTE: u32 = 0;
const WRITE: u32 = 1;
const PORT: u32 = 2;
const READ_WRITE: u32 = 3;

const BYTE: u32 = 0;
const WORD: u32 = 1;
const EIGHT: u32 = 2;
const FOUR: u32 = 3;

/// How each step of `build` matches, with `DATA + 0x10` in DR0 and `dr7_value` in DR7. RDI holds `DATA`.
fn matches(dr7_value: u32, build: Build) -> Vec<u8> {
    let (m, exit) = Guest::new(|a| {
        a.mov(rdi, DATA)?;
        a.lea(rax, qword_ptr(rdi + 0x10))?;
        a.mov(dr0, rax)?;
        a.mov(eax, dr7_value)?;
        a.mov(dr7, rax)?;
        build(a)?;
        stop(a)
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    let steps = &m.observer(0).expect("CPU 0").steps;
    steps[6..steps.len() - 2].iter().map(|step| step.breakpoints).collect()
}

/// A load and a store of four bytes at the address, a store just below it and one just above.
fn around(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(eax, dword_ptr(rdi + 0x10))?;
    a.mov(dword_ptr(rdi + 0x10), eax)?;
    a.mov(dword_ptr(rdi + 0xc), eax)?;
    a.mov(dword_ptr(rdi + 0x14), eax)
}

#[test]
fn types_choose_loads_and_stores() {
    assert_eq!(matches(control(WRITE, FOUR), around), [0, 1, 0, 0]);
    assert_eq!(matches(control(READ_WRITE, FOUR), around), [1, 1, 0, 0]);
    assert_eq!(matches(control(PORT, FOUR), around), [0; 4]);
    assert_eq!(matches(control(EXECUTE, BYTE), around), [0; 4]);
}

#[test]
fn lengths_make_aligned_ranges() {
    let bytes: Build = |a| {
        for at in [0xf, 0x10, 0x11, 0x12, 0x13, 0x14, 0x17, 0x18] {
            a.mov(byte_ptr(rdi + at), 0)?;
        }
        Ok(())
    };
    assert_eq!(matches(control(WRITE, BYTE), bytes), [0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(matches(control(WRITE, WORD), bytes), [0, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(matches(control(WRITE, FOUR), bytes), [0, 1, 1, 1, 1, 0, 0, 0]);
    assert_eq!(matches(control(WRITE, EIGHT), bytes), [0, 1, 1, 1, 1, 1, 1, 0]);
    // The low bits of the address within the length mean nothing.
    let inside: Build = |a| {
        a.lea(rcx, qword_ptr(rdi + 0x13))?;
        a.mov(dr0, rcx)?;
        a.mov(byte_ptr(rdi + 0x10), 0)
    };
    assert_eq!(matches(control(WRITE, FOUR), inside), [0, 0, 1]);
    // An access from below reaches into the range.
    assert_eq!(matches(control(WRITE, BYTE), |a| a.mov(qword_ptr(rdi + 9), 0)), [1]);
    assert_eq!(matches(control(WRITE, BYTE), |a| a.mov(qword_ptr(rdi + 8), 0)), [0]);
}

#[test]
fn instructions_match_by_their_first_byte_when_they_retire() {
    let string: Build = |a| {
        let mut here = a.create_label();
        a.lea(rcx, qword_ptr(here))?;
        a.mov(dr0, rcx)?;
        a.mov(ecx, 2)?;
        a.mov(rsi, rdi)?;
        a.set_label(&mut here)?;
        a.rep().movsb()?;
        a.nop()
    };
    assert_eq!(matches(control(EXECUTE, BYTE), string), [0, 0, 0, 0, 0, 1, 0]);
    // Lengths are for data.
    assert_eq!(matches(control(EXECUTE, WORD), string), [0; 7]);
}

#[test]
fn accesses_beyond_the_listed_ones_match() {
    // INT pushes five values; the last, RIP, lies lowest.
    let (m, exit) = Guest::new(|a| {
        a.mov(eax, control(WRITE, EIGHT))?;
        a.mov(dr7, rax)?;
        a.lea(rcx, qword_ptr(rsp - 40))?;
        a.mov(dr0, rcx)?;
        a.int3()?;
        stop(a)
    })
    .handler(3, |a| a.iretq())
    .run();
    assert_eq!(exit, Exit::Halted);
    let steps = &m.observer(0).expect("CPU 0").steps;
    let matched = steps.iter().filter(|step| step.breakpoints != 0);
    assert_eq!(matched.map(|step| step.kind).collect::<Vec<_>>(), [StepKind::SoftwareInterrupt { vector: 3 }]);
}

#[test]
fn each_register_matches_by_itself() {
    let m = run(|a| {
        a.mov(rdi, DATA)?;
        a.mov(dr1, rdi)?;
        a.mov(dr3, rdi)?;
        a.mov(eax, 0xf050_0000u32)?; // DR1 stores of two bytes, DR3 loads and stores of four
        a.mov(dr7, rax)?;
        a.mov(al, byte_ptr(rdi))?;
        a.mov(byte_ptr(rdi), al)?;
        a.xor(ecx, ecx)?;
        a.mov(dr1, rcx)?;
        a.mov(dr3, rcx)?;
        a.mov(ecx, 0x400)?;
        a.mov(dr7, rcx)?; // as after reset: nothing matches
        a.mov(byte_ptr(rdi), al)
    });
    let matched = m.observer(0).expect("CPU 0").steps.iter().map(|step| step.breakpoints).filter(|matched| *matched != 0);
    assert_eq!(matched.collect::<Vec<_>>(), [0b1000, 0b1010]);
}

#[test]
fn faulting_instructions_match_nothing() {
    let (m, exit) = Guest::new(|a| {
        a.mov(rdi, DATA)?;
        a.mov(dr0, rdi)?;
        a.mov(eax, control(READ_WRITE, EIGHT))?;
        a.mov(dr7, rax)?;
        a.div(qword_ptr(rdi)) // loads zero
    })
    .handler(0, stop)
    .run();
    assert_eq!(exit, Exit::Halted);
    assert!(m.observer(0).expect("CPU 0").steps.iter().all(|step| step.breakpoints == 0));
}
