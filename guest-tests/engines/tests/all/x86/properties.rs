//! What holds for any operands, and any bytes as code.

use vm_pmu::companion::{AccessKind, Class};
use vm_pmu::decode::x86::decode;

use super::support::*;

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
        (if r == 0 { ZF } else { 0 }) | (if bit(r, size - 1) { SF } else { 0 }) | if even { PF } else { 0 }
    };
    if op < 4 {
        let subtract = op >= 2;
        c = op % 2 == 1 && carry;
        for n in 0..size {
            let (x, y) = (bit(a, n), bit(b, n));
            r |= u64::from(x ^ y ^ c) << n;
            let before = c;
            c = if subtract { !x && (y || c) || y && c } else { x && y || c && (x || y) };
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

/// Checks the kind of a branch, and how many loads and stores an instruction of a plain class made, against its bytes.
fn check(step: &Step) -> Result<(), TestCaseError> {
    let bytes = step.instruction.encoding.to_le_bytes();
    let length = usize::from(step.instruction.length);
    if step.kind != StepKind::Instruction || length > bytes.len() {
        return Ok(());
    }
    let described = decode(&bytes[..length], vm_pmu::decode::x86::Mode::Bits64, step.rip).expect("it was executed").description;
    prop_assert_eq!(step.branch.map(|branch| branch.kind), described.branch.map(|branch| branch.kind), "{:x?}", &bytes[..length]);
    let plain = [
        Class::Simple,
        Class::Load,
        Class::Store,
        Class::Push,
        Class::Pop,
        Class::Branch,
        Class::Call,
        Class::Return,
        Class::Extend,
        Class::Shift,
        Class::AddWithCarry,
        Class::Exchange,
        Class::Multiply,
        Class::WideMultiply,
    ];
    if plain.contains(&described.operands.class) {
        let of = |wanted: &[AccessKind]| described.accesses().iter().filter(|access| wanted.contains(&access.kind)).count();
        let made = (of(&[AccessKind::Load]), of(&[AccessKind::Store, AccessKind::StreamingStore]));
        prop_assert_eq!((usize::from(step.loads), usize::from(step.stores)), made, "{:x?}", &bytes[..length]);
    }
    Ok(())
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

    /// Whatever the bytes, the run ends with a reason and not a panic, and what is executed is what the bytes say.
    #[test]
    fn arbitrary_code_never_panics_and_is_what_its_bytes_say(
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
        // Every fault skips a byte, so that the bytes after it are executed too.
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
        let mut m = Machine::new(&config, &image, Arc::new(EmptyBus), |_| Log::default()).expect("loads");
        let _ = m.run(Limits { steps: 400, cycles: 100_000 });
        for step in &m.observer(0).expect("CPU 0").steps {
            check(step)?;
        }
    }
}
