//! Turns of two CPUs.
//!
//! A CPU passes the turn to the other one by an interrupt, for which the other one waits. A line of memory for the turn would be shared
//! itself, and the order in which CPUs poll it would be open; the local APIC is not cached, so a turn makes no traffic. What one CPU did has
//! been counted before the other sees the interrupt: counts are the same however the machine runs its CPUs. No CPU halts, because a counter
//! of the northbridge is stopped while its core halts.

use iced_x86::code_asm::*;

use crate::runtime::{APIC, APIC_EOI, APIC_ICR, APIC_IRR, Built, Kernel, here};

const VECTOR: u8 = 0x62;
/// The interrupt command that sends the vector to all other CPUs.
const TO_OTHERS: u32 = 0b11 << 18 | VECTOR as u32;

/// Handles the interrupt.
pub(super) fn handle(k: &mut Kernel) -> Built<()> {
    k.handler(VECTOR)?;
    k.apic(APIC_EOI, 0)?;
    k.a.iretq()
}

/// Passes the turn to the other CPU.
pub(super) fn pass(k: &mut Kernel) -> Built<()> {
    k.apic(APIC_ICR, TO_OTHERS)
}

/// Waits for the turn, which may have come already: polls until the interrupt is requested, then takes it.
pub(super) fn wait(k: &mut Kernel) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(eax, APIC)?;
    here(a, &mut again)?;
    a.pause()?;
    a.test(dword_ptr(rax + APIC_IRR + u32::from(VECTOR) / 32 * 0x10), 1 << (VECTOR % 32))?;
    a.je(again)?;
    a.sti()?;
    a.nop()?;
    a.cli()
}

/// Ends a round of the CPU that has read its counters first: it goes on when the other one has read its own too, as what it reports then takes
/// lines from the other one's cache. Each turn is taken before the next one is passed: a second interrupt is lost while the first is pending.
pub(super) fn hand_over(k: &mut Kernel) -> Built<()> {
    pass(k)?;
    wait(k)?;
    pass(k)
}

/// Ends a round of the other CPU, which has read its counters.
pub(super) fn take_over(k: &mut Kernel) -> Built<()> {
    wait(k)?;
    pass(k)?;
    wait(k)
}
