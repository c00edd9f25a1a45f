//! PMC0, PMC8-13 and what they capture: PMD0-3 and 8-17 (Itanium manual, sections 6.2.4 to 6.2.8).

use vm_pmu::arch::itanium::{Pmc10, Pmc11, TraceEntry};
use vm_pmu::arch::layout::Field;

use super::LIMITS;
use super::selection::instruction_sets;
use crate::dialect::ia64::fields;

/// What a field of a configuration register says.
pub(super) fn setting(number: u8, field: &Field, value: u64) -> Option<String> {
    let bits = field.of(value);
    Some(match (number, field.name) {
        (0, "overflow") => fields::overflows(bits),
        (8 | 9, "mask") => match 27 - bits.count_ones() {
            0 => "no bit is compared: every encoding".to_owned(),
            1 => "one bit of an encoding is compared".to_owned(),
            compared => format!("{compared} bits of an encoding are compared"),
        },
        (8 | 9, "match") => String::new(),
        (10, "plm") => fields::levels(bits, "captures fetches"),
        (11, "plm") => fields::levels(bits, "captures accesses"),
        (12, "plm") => fields::levels(bits, "captures branches"),
        (10..=12, "pm") => fields::privileged(bits, "captures"),
        (10 | 11, "tlb") => if bits == 1 { "translation misses" } else { "cache misses" }.to_owned(),
        (10 | 11, "ism") => instruction_sets(bits),
        (10, "umask") if Pmc10::written(value).tlb() => served(bits),
        (11, "umask") if Pmc11::written(value).tlb() => served(bits),
        (10, "umask") => latency(fetch_latency(bits)),
        (11, "umask") => latency(data_latency(bits)),
        (11, "pt") if bits == 0 => "data ranges constrain".to_owned(),
        (12, "tm") => format!("branches, taken or not: {}", fields::either(bits, "taken", "not taken")),
        (12, "ptm") => format!("predictions of the target: {}", fields::either(bits, "right ones", "wrong ones")),
        (12, "ppm") => format!("predictions of the path: {}", fields::either(bits, "right ones", "wrong ones")),
        (13, "ta") if bits == 0 => "the ranges of the IBRs constrain".to_owned(),
        _ => return None,
    })
}

/// The least latency by the unit mask of PMC10.
fn fetch_latency(umask: u64) -> Option<u64> {
    (umask <= 10).then(|| 4 << umask)
}

/// The least latency by the unit mask of PMC11: 7 is not used.
fn data_latency(umask: u64) -> Option<u64> {
    match umask {
        0..=6 => Some(4 << umask),
        8..=10 => Some(512 << (umask - 8)),
        _ => None,
    }
}

fn latency(least: Option<u64>) -> String {
    least.map_or_else(|| "nothing is captured".to_owned(), |cycles| format!("of {cycles} cycles and more"))
}

/// Which translation misses are captured.
fn served(umask: u64) -> String {
    let names = [(2, "the second level"), (4, "the walker"), (8, "software")];
    let names: Vec<String> = names.iter().filter(|(bit, _)| umask & bit != 0).map(|(_, name)| (*name).to_owned()).collect();
    if names.is_empty() { "none: nothing is captured".to_owned() } else { format!("misses served by {}", fields::listed(&names)) }
}

/// What a field of a data register says.
pub(super) fn captured(number: u8, field: &Field, value: u64) -> Option<String> {
    let bits = field.of(value);
    Some(match (number, field.name) {
        (4..=7, "count") => fields::count(bits, LIMITS.bits),
        (0, "v") if bits == 0 => "nothing was captured".to_owned(),
        (0, "Instruction Cache Line Address") => format!("line at {:#x}", value & !31),
        (1 | 3, "latency") if bits > 0 => format!("{bits} cycles"),
        (2, _) => String::new(),
        (3, "level") => match bits {
            1 => "served by the second level",
            2 => "served by the walker",
            3 => "served by software",
            _ => "",
        }
        .to_owned(),
        (17, "vl") if bits == 0 => "slot and address are not valid".to_owned(),
        (17, "Instruction Address") | (8..=15, "Address") => format!("bundle at {:#x}", value & !15),
        (8..=15, "b") => if bits == 1 { "a branch" } else { "a target, or nothing" }.to_owned(),
        (8..=15, "mp") => match (TraceEntry::written(value).b(), bits) {
            (true, 1) => "mispredicted",
            (true, _) => "predicted",
            (false, 1) => "valid",
            (false, _) => "not valid",
        }
        .to_owned(),
        (8..=15, "slot") => match (TraceEntry::written(value).b(), bits) {
            (true, 3) => "no branch of the bundle was taken".to_owned(),
            (true, slot) => format!("the branch of slot {slot} was taken"),
            (false, _) => String::new(),
        },
        (16, "bbi") => format!("PMD{} is written next", 8 + bits),
        _ => return None,
    })
}
