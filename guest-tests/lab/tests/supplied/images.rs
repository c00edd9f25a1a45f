//! Guests that execute what no other guest does.

use iced_x86::code_asm::*;
use vm_pmu::Part;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{F1, F2, R0 as ZERO, R3, R5, R6, R7, R8, R9};
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
        k.a.fmr(F1, F2);
    }
    k.a.tlbie(R7, ZERO);
    // Loads from a page whose translation has been forgotten.
    k.a.load(R9, 0x110_0000);
    for _ in 0..64 {
        k.a.tlbie(R9, ZERO);
        k.a.ld(R6, 0, R9);
    }
    let outgrown = k.a.label();
    k.a.tbegin_dot();
    k.a.beq(outgrown);
    // 8 KiB are 1024 doublewords.
    (0..1025).for_each(|_| k.a.std(R3, 0, R8));
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
