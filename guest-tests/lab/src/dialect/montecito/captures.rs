//! PMD4-15, 32-39 and 48-63: counts and what was captured (Montecito manual, sections 3.3.2 and 3.3.7 to 3.3.10).

use vm_pmu::arch::layout::Field;
use vm_pmu::arch::montecito::{Pmd33, Pmd36, Pmd38, TraceEntry};

use super::LIMITS;
use crate::dialect::ia64::fields;

pub(super) fn meaning(number: u8, field: &Field, value: u64) -> Option<String> {
    let bits = field.of(value);
    Some(match (number, field.name) {
        (4..=15, "count") => fields::count(bits, LIMITS.bits),
        (4..=15, _) => String::new(),
        (32, _) => String::new(),
        (33, "latency") => latency(bits),
        (34, "stat") | (33, "stat") => status(bits),
        (33, "overflow") if bits == 1 && Pmd33::written(value).stat() == 0 => String::new(),
        (34, _) => format!("line at {:#x}", value & !31),
        (35, "latency") => latency(bits),
        (36, "Instruction Address") => {
            let pmd = Pmd36::written(value);
            let bundle = (value & !15).wrapping_add(if pmd.bn() { 16 } else { 0 });
            if pmd.vl() { format!("bundle at {bundle:#x}") } else { "not valid".to_owned() }
        }
        (36, "vl") if bits == 0 => "slot and address are not valid".to_owned(),
        (38, "ebi") => {
            let pmd = Pmd38::written(value);
            match (pmd.full(), pmd.ebi()) {
                (false, 0) => "the buffer is empty".to_owned(),
                (false, next) => format!("PMD48 to PMD{} are written", 47 + next),
                (true, next) => format!("every entry is written; the oldest is PMD{}", 48 + next),
            }
        }
        (39, _) => extensions(value),
        (48..=63, "Address") => format!("bundle at {:#x}", value & !15),
        (48..=63, "s") => if bits == 1 { "a source" } else { "a target, or nothing" }.to_owned(),
        (48..=63, "mp") => match (TraceEntry::written(value).s(), bits) {
            (true, 1) => "mispredicted".to_owned(),
            (true, _) => "predicted".to_owned(),
            (false, 1) => "valid".to_owned(),
            (false, _) => "not valid".to_owned(),
        },
        (48..=63, "slot") => match (TraceEntry::written(value).s(), bits) {
            (true, 3) => "no branch of the bundle was taken".to_owned(),
            (true, slot) => format!("the branch of slot {slot} was taken"),
            (false, _) => String::new(),
        },
        _ => return None,
    })
}

fn latency(cycles: u64) -> String {
    if cycles == 0 { String::new() } else { format!("{cycles} cycles") }
}

fn status(stat: u64) -> String {
    match stat {
        0 => "nothing was captured",
        1 => "captured; of a translation miss: served by the second level",
        2 => "of a translation miss: served by the walker",
        _ => "captured; of a translation miss: a fault",
    }
    .to_owned()
}

/// The four bits of each entry that is not 0: those of PMD48, 56, 49, 57 and so on from bit 0 up.
fn extensions(value: u64) -> String {
    let nibble = |place: u64| (value >> (4 * place) & 15, 48 + place / 2 + 8 * (place % 2));
    let said: Vec<String> = (0..16).map(nibble).filter(|(bits, _)| *bits != 0).map(|(bits, pmd)| format!("PMD{pmd} {bits:#x}")).collect();
    match said.len() {
        0 => String::new(),
        _ => format!("{}; of a trace 1 is the second bundle, 2 a flush of the back end", said.join(", ")),
    }
}
