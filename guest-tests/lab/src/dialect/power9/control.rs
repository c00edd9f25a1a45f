//! MMCR0 and MMCR2 in words: who is frozen when (appendices A.3 and A.5).

use vm_pmu::arch::layout::Field;
use vm_pmu::arch::power9::{CounterFreezes, Mmcr0, Mmcr2};

use crate::number::grouped;

/// What a field of MMCR0 says, where that is more than its summary.
pub(super) fn mmcr0(field: &Field, value: u64) -> Option<String> {
    let register = Mmcr0::of(value);
    let is_set = field.of(value) != 0;
    Some(match field.name {
        "FCP" if is_set && register.fcpc() => "freeze counters and BHRB in problem state with MSR[HV] = 1".to_owned(),
        "FCP" if is_set => "freeze counters and BHRB in problem state".to_owned(),
        "FCPC" if is_set && register.fcp() => "FCP is for problem state with MSR[HV] = 1".to_owned(),
        "FCPC" if is_set => "freeze counters and BHRB in problem state with MSR[HV] = 0".to_owned(),
        "TBSEL" => time_base(register.tbsel()),
        "PMCC" => access(register.pmcc()).to_owned(),
        "PMCjCE" if is_set && register.pmcc() == 0b11 => "a negative PMC2-4 is an enabled condition".to_owned(),
        "FC5-6" | "CC56RUN" if is_set && register.pmcc() == 0b11 => "nothing: PMCC takes PMC5-6 out of the PMU".to_owned(),
        "EBE" if is_set => "alerts are event-based branches, not interrupts; a write of BESCR reaches PMAE and PMAO".to_owned(),
        _ => return None,
    })
}

/// Bits 47, 51, 55 and 63 of the time base rise once in so many ticks.
fn time_base(tbsel: u8) -> String {
    let bit: u32 = match tbsel {
        0b00 => 47,
        0b01 => 51,
        0b10 => 55,
        _ => 63,
    };
    format!("bit {bit} of the time base: once in {} ticks", grouped(1 << (64 - bit)))
}

const fn access(pmcc: u8) -> &'static str {
    match pmcc {
        0b00 => "PMC1-6; problem state reads and does not write",
        0b01 => "PMC1-6; problem state neither reads nor writes",
        0b10 => "PMC1-6; problem state reads and writes PMC1-6 and fields of MMCR0 and MMCR2",
        _ => "PMC1-4, with PMC5-6 out of the PMU; problem state as with 2, without PMC5-6",
    }
}

/// The bits of a counter in MMCR2, by their names.
pub(super) fn within(field: &Field) -> Vec<(String, Field)> {
    let Some(number) = field.name.strip_prefix('C').filter(|number| number.parse::<usize>().is_ok()) else { return Vec::new() };
    let named = CounterFreezes::FIELDS.iter().filter(|one| one.name != "Reserved");
    // The table has those of PMC1, from the most significant bit on.
    let lower = 63 - field.high;
    named.map(|one| (one.name.replace('n', number), Field { high: one.high - lower, low: one.low - lower, ..*one })).collect()
}

/// What the nine bits of a counter in MMCR2 say: the names of those that are set, and when they freeze.
pub(super) fn mmcr2(field: &Field, value: u64) -> Option<String> {
    let number = field.name.strip_prefix('C')?.parse::<usize>().ok()?;
    let freezes = Mmcr2::of(value).freezes(number.checked_sub(1)?);
    let words: Vec<String> = CounterFreezes::FIELDS
        .iter()
        .filter(|one| one.of(freezes.bits()) != 0 && one.name != "Reserved")
        .map(|one| format!("FC{number}{}: {}", one.name.trim_start_matches("FCn"), freeze(one.name, freezes)))
        .collect();
    Some(words.join("; "))
}

/// The names of a counter's bits in MMCR2 that are set.
pub(super) fn label(field: &Field, value: u64) -> Option<String> {
    let number = field.name.strip_prefix('C')?;
    let freezes = Mmcr2::of(value).freezes(number.parse::<usize>().ok()?.checked_sub(1)?);
    let set = CounterFreezes::FIELDS.iter().filter(|one| one.of(freezes.bits()) != 0 && one.name != "Reserved");
    let names: Vec<String> = set.map(|one| one.name.replace('n', number)).collect();
    Some(names.join(", ")).filter(|names| !names.is_empty())
}

fn freeze(name: &str, freezes: CounterFreezes) -> &'static str {
    match (name, freezes.fcp(), freezes.fcpc()) {
        ("FCnS", ..) => "not in privileged state",
        ("FCnP", _, false) => "not in problem state",
        ("FCnP", _, true) => "not in problem state with MSR[HV] = 1",
        ("FCnPC", false, _) => "not in problem state with MSR[HV] = 0",
        ("FCnPC", true, _) => "as said",
        ("FCnM1", ..) => "not while MSR[PMM] is 1",
        ("FCnM0", ..) => "not while MSR[PMM] is 0",
        ("FCnWAIT", ..) => "not while CTRL[RUN] is 0",
        ("FCnH", ..) => "not in hypervisor state",
        ("FCnTI", ..) => "not with tags inactive",
        _ => "not with tags active",
    }
}
