//! What PMC1 to PMC4 count (POWER9 PMU User's Guide, A.4 and 5.15.1; decisions P13, P14, P16).

use vm_pmu_arch::event::{Drive, Entry, Internal, POWER9, Reloads};
use vm_pmu_arch::feed::{Kind, Signal};

use super::bits::mmcr1;

/// What a counter counts.
#[derive(Clone)]
pub(super) enum Chosen {
    /// Nothing.
    Off,
    /// These entries of the catalogue: none, one, or the two bits of the event bus added.
    Sum(Vec<&'static Entry>),
    /// The carries of another counter, by its number from 0.
    Carries(usize),
    /// The falling edges of what these entries add up to, all of which signals tell in any state of the thread.
    Falls(Vec<&'static Entry>),
    /// What else needs single cycles: both bits of the event bus at once, and falling edges of what the reference is not told.
    Cycles,
}

/// The entry of the catalogue for these fields on counter `number`, from 0.
fn entry(number: u32, unit: u64, comb: u64, sel: u64) -> Option<&'static Entry> {
    POWER9.entries.iter().filter(|entry| entry.unit == "core").find(|entry| {
        let code = u64::from(entry.select);
        let counter = code >> 16 & 7;
        (code & 0xFF, code >> 10 & 3, code >> 12 & 15) == (sel, comb, unit) && (counter == 0 || counter == u64::from(number) + 1)
    })
}

/// Whether a selector takes its event from the bus (Table A-2).
fn on_the_bus(sel: u64) -> bool {
    sel & 0xC0 == 0x80
}

/// What MMCR1 makes counter `number`, from 0, count.
pub(super) fn chosen(register: u64, number: u32) -> Chosen {
    let (unit, comb, sel) = (mmcr1::unit(register, number), mmcr1::comb(register, number), mmcr1::sel(register, number));
    if sel == 0 {
        return Chosen::Off;
    }
    let whole = entry(number, unit, comb, sel);
    // The lowest bit selects falling edges, but of the one code that is listed with it (P14).
    let falling = sel & 1 != 0 && whole.is_none();
    let sel = if falling { sel & !1 } else { sel };
    if let Some(source) = overflowing(entry(number, unit, comb, sel)) {
        // Overflows have as many falling edges as there are overflows.
        return Chosen::Carries(source);
    }
    if on_the_bus(sel) && comb == 0b01 {
        return Chosen::Cycles;
    }
    let added: &[u64] = if on_the_bus(sel) && comb == 0b11 { &[0b00, 0b10] } else { &[comb] };
    let entries: Vec<_> = added.iter().filter_map(|comb| entry(number, unit, *comb, sel)).collect();
    match falling {
        false => Chosen::Sum(entries),
        true if entries.iter().all(|entry| is_told(entry)) => Chosen::Falls(entries),
        true => Chosen::Cycles,
    }
}

/// Whether signals tell each clock of an entry, whatever the thread's state.
fn is_told(entry: &Entry) -> bool {
    let told = |signal: &Signal| *signal != Signal::Cycles && signal.kind() != Kind::Level;
    let signals = entry.drive == Drive::Signals && entry.signals.iter().all(told);
    signals && entry.when.is_empty() && entry.reloads == Reloads::None
}

/// The counter whose overflows an entry counts, from 0.
fn overflowing(entry: Option<&'static Entry>) -> Option<usize> {
    match entry?.drive {
        Drive::Internal(Internal::Overflow(source)) => Some(usize::from(source) - 1),
        _ => None,
    }
}

/// Whether an event that is told by its code reaches counter `number`, from 0.
///
/// A code without a counter is one of the event bus, which is the same on every counter.
pub(super) fn reaches(register: u64, number: u32, code: u32) -> bool {
    let (unit, comb, sel) = (mmcr1::unit(register, number), mmcr1::comb(register, number), mmcr1::sel(register, number));
    // The fields of a code (5.15.1): PMCxSEL, MARK, PMCxCOMB, PMCxUNIT and PMC. With any other bit it names no event of a counter.
    if code & !0x7_FDFF != 0 {
        return false;
    }
    let code = u64::from(code);
    let own = match code >> 16 & 7 {
        0 => on_the_bus(code & 0xFF),
        counter => counter == u64::from(number) + 1,
    };
    let told = code >> 10 & 3;
    let bus = on_the_bus(sel);
    let bit = comb == told || bus && matches!((comb, told), (0b01 | 0b11, 0b00 | 0b10));
    let falling = sel & 1 != 0 && entry(number, unit, comb, sel).is_none();
    let sel = if falling { sel & !1 } else { sel };
    sel != 0 && own && unit == code >> 12 & 15 && sel == code & 0xFF && bit
}
