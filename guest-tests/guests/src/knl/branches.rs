//! `branches`: BR_INST_RETIRED, each bit of whose unit mask leaves a class of branches out.

use iced_x86::code_asm::*;

use super::{COUNTER, EN, OS, SELECT};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

const BR_INST_RETIRED: u64 = 0xC4;

/// By the bits of the unit mask: how many of each class the mix has, and its CALL.
const CLASSES: [u64; 8] = [
    4, // conditional, taken: a loop of five
    2, // direct calls: of the mix itself, and one in it
    3, // indirect calls: two by register, one by memory
    5, // returns: one for each call
    6, // indirect jumps
    7, // direct jumps
    8, // far: four INT and four IRETQ
    3, // conditional, not taken: the end of the loop, and two
];

/// Masks that the manual names, and others, with what each leaves in.
const MASKS: &[(&str, u8, u64)] = &[
    ("ALL_BRANCHES", 0x00, 38),
    ("JCC", 0x7E, 4 + 3),
    ("TAKEN_JCC", 0xFE, 4),
    ("CALL", 0xF9, 2 + 3),
    ("REL_CALL", 0xFD, 2),
    ("IND_CALL", 0xFB, 3),
    ("RETURN", 0xF7, 5),
    ("NON_RETURN_IND", 0xEB, 3 + 6),
    ("FAR_BRANCH", 0xBF, 8),
    ("all but those not taken", 0x80, 35),
    ("nothing", 0xFF, 0),
];

fn counted(mask: u8) -> u64 {
    (0..).zip(CLASSES).filter(|(bit, _)| mask >> bit & 1 == 0).map(|(_, class)| class).sum()
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let place = k.reserve(8);
    let table: Vec<u8> = (0..=u8::MAX).map(|mask| counted(mask) as u8).collect();
    let table = k.place(&table);
    k.handler(0x81)?;
    k.a.iretq()?;
    let mix = mix(&mut k, place)?;

    k.main()?;
    for (name, mask, right) in MASKS {
        k.wrmsr(COUNTER, 0)?;
        k.wrmsr(SELECT, u64::from(*mask) << 8 | BR_INST_RETIRED | OS | EN)?;
        k.a.call(mix)?;
        k.wrmsr(SELECT, 0)?;
        k.rdmsr(COUNTER)?;
        k.check_is(&format!("BR_INST_RETIRED.{name}"), rax, *right)?;
    }
    // Each of the 256, on counter 1.
    let (mut again, mut right) = (k.a.create_label(), k.a.create_label());
    k.a.xor(r12d, r12d)?;
    k.a.xor(r13d, r13d)?;
    here(&mut k.a, &mut again)?;
    k.wrmsr(COUNTER + 1, 0)?;
    k.a.mov(eax, r12d)?;
    k.a.shl(eax, 8)?;
    k.a.or(eax, (BR_INST_RETIRED | OS | EN) as i32)?;
    k.a.xor(edx, edx)?;
    k.a.mov(ecx, SELECT + 1)?;
    k.a.wrmsr()?;
    k.a.call(mix)?;
    k.wrmsr(SELECT + 1, 0)?;
    k.rdmsr(COUNTER + 1)?;
    k.a.movzx(edx, byte_ptr(r12 + table))?;
    k.a.cmp(rax, rdx)?;
    k.a.je(right)?;
    k.a.inc(r13)?;
    here(&mut k.a, &mut right)?;
    k.a.inc(r12d)?;
    k.a.cmp(r12d, 256)?;
    k.a.jb(again)?;
    k.check_is("masks of all 256 that count something else than the classes they leave in", r13, 0)?;
    k.a.ret()?;
    k.finish()
}

/// The code that has [`CLASSES`], counted from its CALL to its RET.
fn mix(k: &mut Kernel, place: u64) -> Built<CodeLabel> {
    let a = &mut k.a;
    let (mut leaf, mut mix, mut again) = (a.create_label(), a.create_label(), a.create_label());
    k.routine("leaf");
    let a = &mut k.a;
    here(a, &mut leaf)?;
    a.ret()?;
    k.routine("mix");
    let a = &mut k.a;
    here(a, &mut mix)?;
    a.mov(ecx, 5)?;
    here(a, &mut again)?;
    a.dec(ecx)?;
    a.jne(again)?;
    a.jne(again)?;
    a.jne(again)?;
    a.call(leaf)?;
    a.lea(rdx, ptr(leaf))?;
    a.call(rdx)?;
    a.call(rdx)?;
    a.mov(qword_ptr(place), rdx)?;
    a.call(qword_ptr(place))?;
    for _ in 0..6 {
        let mut next = a.create_label();
        a.lea(rdx, ptr(next))?;
        a.jmp(rdx)?;
        here(a, &mut next)?;
    }
    for _ in 0..7 {
        let mut next = a.create_label();
        a.jmp(next)?;
        here(a, &mut next)?;
    }
    for _ in 0..4 {
        a.int(0x81)?;
    }
    a.ret()?;
    Ok(mix)
}
