//! Guests that execute what no other guest does.

use iced_x86::code_asm::*;
use vm_pmu::Part;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{CR0, F1, F2, F3, R0 as ZERO, R3, R5, R6, R7, R8, R9, R13};
use vm_pmu_engines::power::registers::msr;
use vm_pmu_guests::power;
use vm_pmu_guests::runtime::{Built, Kernel, here};

/// A little of everything that the engine of the part knows and other guests do not have.
pub(super) fn medley(part: Part) -> Option<Image> {
    match part {
        Part::K8(_) | Part::Knl(_) => Some(x86().unwrap()),
        Part::Power9(_) => Some(of_power()),
        Part::Itanium(_) | Part::Montecito(_) => None,
    }
}

/// Accesses that match each debug register, x87, packed and scalar SSE, and a store into code that comes next.
fn x86() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    let buffer = k.reserve(128) as u32;
    let a = &mut k.a;
    let mut code = a.create_label();
    a.mov(ebx, buffer)?;
    a.mov(dr0, rbx)?;
    a.mov(dr1, rbx)?;
    a.mov(dr2, rbx)?;
    a.mov(dr3, rbx)?;
    // Loads and stores of four bytes, each.
    a.mov(eax, 0xFFFF_0000u32)?;
    a.mov(dr7, rax)?;
    a.mov(dword_ptr(rbx), eax)?;
    a.fnop()?;
    // CR4.OSFXSR, without which there is no SSE.
    a.mov(rax, cr4)?;
    a.or(eax, 1 << 9)?;
    a.mov(cr4, rax)?;
    a.movdqu(xmm0, xmmword_ptr(rbx))?;
    a.pxor(xmm0, xmm0)?;
    a.movd(xmm1, eax)?;
    a.lea(rcx, ptr(code))?;
    a.mov(byte_ptr(rcx), 0x90)?;
    here(a, &mut code)?;
    a.nop()?;
    a.ret()?;
    k.finish()
}

/// A barrier of translations, divisions, probe no-operations, vectors, moves, an invalidation for others, loads without a translation, a transaction that loads from a
/// line that no cache has, and one that stores more than it may.
fn of_power() -> Image {
    let mut k = power::Kernel::new(true);
    k.main();
    k.a.ptesync();
    k.a.load(R3, 7);
    k.a.load(R5, 3);
    for _ in 0..64 {
        k.a.divd(R6, R3, R5);
        k.a.probe(false);
        k.a.probe(true);
    }
    k.a.load(R7, 0x100_0000);
    k.set_state(msr::FP | msr::VSX | msr::TM);
    let buffer = k.reserve(16);
    k.a.load(R8, buffer);
    for _ in 0..16 {
        k.a.lxvd2x(1, ZERO, R8);
        k.a.stxvd2x(1, ZERO, R8);
        k.a.xvadddp(1, 2, 3);
        k.a.xvaddsp(1, 2, 3);
        k.a.xvmaddadp(1, 2, 3);
        k.a.xvmaddasp(1, 2, 3);
        k.a.xvdivdp(1, 2, 3);
        k.a.xvdivsp(1, 2, 3);
        k.a.fadds(F1, F2, F3);
        k.a.fmr(F1, F2);
    }
    k.a.tlbie(R7, ZERO);
    // Loads from a page whose translation has been forgotten.
    k.a.load(R9, 0x110_0000);
    for _ in 0..64 {
        k.a.tlbie(R9, ZERO);
        k.a.ld(R6, 0, R9);
    }
    conflicts(&mut k);
    k.a.load(R6, 1 << 31);
    k.a.word(31 << 26 | 0b01010 << 21 | 6 << 11 | 278 << 1);
    // addis of 0, and a load at its result.
    k.a.word(15 << 26 | 6 << 21 | 8 << 16);
    k.a.ld(R6, 0, R6);
    let outgrown = k.a.label();
    k.a.tbegin_dot();
    k.a.beq(outgrown);
    // 8 KiB are 1024 doublewords.
    (0..1025).for_each(|_| k.a.std(R3, 0, R9));
    k.a.here(outgrown);
    let failed = k.a.label();
    k.a.tbegin_dot();
    k.a.beq(failed);
    k.a.tbegin_dot();
    k.a.ld(R8, 0, R7);
    k.a.tsuspend_dot();
    k.a.tresume_dot();
    k.a.tend_dot();
    k.a.tend_dot();
    k.a.here(failed);
    k.end_main();
    k.finish().unwrap()
}

/// What CPU 1 does to a transaction of CPU 0 that has stored to a doubleword.
const ATTACKS: [fn(&mut power::Kernel); 6] = [
    |k| k.a.ld(R6, 0, R9),
    |k| k.a.std(R6, 0, R9),
    |k| within(k, |k| k.a.ld(R6, 0, R9)),
    |k| within(k, |k| k.a.std(R6, 0, R9)),
    // It has only loaded from the next line.
    |k| within(k, |k| k.a.std(R6, 128, R9)),
    |k| k.a.tlbie(R9, ZERO),
];

/// A transaction.
fn within(k: &mut power::Kernel, body: impl Fn(&mut power::Kernel)) {
    let failed = k.a.label();
    k.a.tbegin_dot();
    k.a.beq(failed);
    body(k);
    k.a.tend_dot();
    k.a.here(failed);
}

/// Transactions of CPU 0 that fail because of CPU 1, if there is one; and those of each that fail by themselves.
fn conflicts(k: &mut power::Kernel) {
    const DCBF: u32 = 31 << 26 | 9 << 11 | 86 << 1;
    k.a.load(R9, 0x120_0000);
    for (number, attack) in (1..).zip(ATTACKS) {
        let (second, done) = (k.a.label(), k.a.label());
        k.a.load(R5, number);
        k.a.ld(R6, power::CPU, R13);
        k.a.cmpdi(CR0, R6, 0);
        k.a.bne(second);
        announce(k, 0x1000, 0x1008);
        within(k, |k| {
            k.a.std(R5, 0, R9);
            k.a.ld(R6, 128, R9);
            (0..40).for_each(|_| k.a.nop());
        });
        k.a.b(done);
        k.a.here(second);
        announce(k, 0x1008, 0x1000);
        (0..20).for_each(|_| k.a.nop());
        attack(k);
        k.a.here(done);
    }
    // Each CPU has a line of its own.
    k.a.ld(R6, power::CPU, R13);
    k.a.sldi(R6, R6, 12);
    k.a.add(R9, R9, R6);
    within(k, |k| {
        k.a.std(R5, 0, R9);
        k.a.tsuspend_dot();
        k.a.std(R5, 8, R9);
        k.a.tresume_dot();
    });
    for _ in 0..4 {
        within(k, |k| k.a.word(DCBF));
        k.a.addi(R9, R9, 8);
    }
}

/// Writes the number in R5 to one place, and waits a while for it in another, where the other CPU writes it.
fn announce(k: &mut power::Kernel, own: i64, other: i64) {
    let there = k.a.label();
    k.a.std(R5, own, R9);
    k.a.load(R6, 50);
    k.a.mtctr(R6);
    let again = k.a.mark();
    k.a.ld(R6, other, R9);
    k.a.cmpd(CR0, R6, R5);
    k.a.beq(there);
    k.a.bdnz(again);
    k.a.here(there);
}
