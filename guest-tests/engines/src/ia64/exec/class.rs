//! What an instruction mostly does, determined from its encoding alone.

use crate::ia64::bundle::Unit;
use crate::ia64::step::Class;
use crate::ia64::word::Word;

/// The class, and whether it is a `nop`.
pub(crate) fn classify(unit: Unit, w: Word) -> (Class, bool) {
    let class = match unit {
        Unit::B => branch(w),
        Unit::X => match w.major() {
            0 if w.x6() == 1 => Class::Nop,
            0 => Class::System,
            0xC | 0xD => Class::Branch,
            _ => Class::Integer,
        },
        Unit::F => match (w.major(), w.bit(33), w.x6()) {
            (0, false, 1) => Class::Nop,
            (0, false, 0) => Class::System,
            _ => Class::Floating,
        },
        Unit::I => match (w.major(), w.x3(), w.x6()) {
            (0, 0, 1) => Class::Nop,
            (0, 0, 0) => Class::System,
            (0, 1, _) => Class::Check,
            _ => Class::Integer,
        },
        Unit::M => match w.major() {
            0 => memory_0(w),
            1 => memory_1(w),
            4..=7 => storage(w),
            _ => Class::Integer,
        },
    };
    // `hint` differs from `nop` in bit 26; B slots distinguish them by x6.
    let nop = class == Class::Nop
        && match unit {
            Unit::B => w.major() == 2 && w.x6() == 0,
            _ => !w.bit(26),
        };
    (class, nop)
}

fn branch(w: Word) -> Class {
    match (w.major(), w.x6()) {
        (0, 0x20 | 0x21) | (1 | 4 | 5, _) => Class::Branch,
        (0, 0x02 | 0x04 | 0x05) => Class::RegisterStack,
        (2 | 7, _) => Class::Nop,
        _ => Class::System,
    }
}

fn memory_0(w: Word) -> Class {
    match w.x3() {
        4..=7 => Class::Check,
        0 => match (w.bits(27, 4), w.bits(31, 2)) {
            (1, 0) => Class::Nop,
            (0xA | 0xC, 0) => Class::RegisterStack,
            (0..=3, 1..=3) => Class::Synchronize,
            (8, 2) => Class::Integer,
            _ => Class::System,
        },
        _ => Class::System,
    }
}

fn memory_1(w: Word) -> Class {
    match w.x3() {
        1 | 3 => Class::Check,
        6 => Class::RegisterStack,
        0 => match w.x6() {
            0x22 | 0x2A => Class::Integer,
            0x00..=0x06 | 0x10..=0x17 | 0x21 | 0x24 | 0x25 | 0x29 | 0x2C | 0x2D => Class::SystemRegister,
            0x30 => Class::Synchronize,
            _ => Class::System,
        },
        _ => Class::System,
    }
}

fn storage(w: Word) -> Class {
    let x6 = w.memory_x6();
    match (w.major(), w.bit(27) && !w.bit(36)) {
        // getf, the semaphores and the 16-byte forms; setf.
        (4, true) => match x6 {
            0x1C..=0x1F => Class::Integer,
            0x28 | 0x2C => Class::Load,
            0x30 | 0x34 => Class::Store,
            _ => Class::Semaphore,
        },
        (6, true) if (0x1C..=0x1F).contains(&x6) => Class::Integer,
        (6 | 7, _) if (0x2C..=0x2F).contains(&x6) => Class::Prefetch,
        _ if x6 >= 0x30 => Class::Store,
        _ => Class::Load,
    }
}
