//! PMC0 and PMC32-42: the freeze, what constrains counts, and what is captured (Montecito manual, sections 3.3.3 to 3.3.10).

use vm_pmu::arch::layout::Field;
use vm_pmu::arch::montecito::{Pmc32, Pmc37, Pmc40, Pmc42};

use crate::dialect::ia64::fields;

/// What served a translation miss, by the bits of a unit mask.
const SERVERS: [&str; 3] = ["the second level", "the walker", "a fault"];

pub(super) fn meaning(number: u8, field: &Field, value: u64) -> Option<String> {
    let bits = field.of(value);
    match number {
        0 => match field.name {
            "overflow" => Some(fields::overflows(bits)),
            _ => None,
        },
        32..=35 => matcher(number, field, value),
        36 => Some(channel_opcode(field, bits)),
        37 => fetches(field, value),
        38 => ranges(field, bits),
        39 => trace(field, bits),
        40 => accesses(field, value),
        41 => memory(field, value),
        42 => retired(field, value),
        _ => None,
    }
}

fn matcher(number: u8, field: &Field, value: u64) -> Option<String> {
    let bits = field.of(value);
    Some(match (number, field.name) {
        (33 | 35, _) => String::new(),
        (_, "mask") => match 41 - bits.count_ones() {
            0 => "no bit is compared: every encoding".to_owned(),
            1 => "one bit of an encoding is compared".to_owned(),
            compared => format!("{compared} bits of an encoding are compared"),
        },
        (32, "inv") if bits == 1 && Pmc32::written(value).ig_ad() => "no effect while ig_ad is 1".to_owned(),
        (32, "ig_ad") if bits == 0 => "IBRP0 constrains channel 0, if PMC38 lets it".to_owned(),
        _ => return None,
    })
}

fn channel_opcode(field: &Field, bits: u64) -> String {
    match (bits, field.low) {
        (0, channel) => format!("opcode matcher {} constrains channel {channel}", channel % 2),
        (_, channel) => format!("channel {channel} takes every opcode"),
    }
}

fn ranges(field: &Field, bits: u64) -> Option<String> {
    let pair = field.name.strip_prefix("ig_ibrp")?;
    (bits == 0).then(|| format!("IBRP{pair} constrains channel {pair}"))
}

fn fetches(field: &Field, value: u64) -> Option<String> {
    let pmc = Pmc37::written(value);
    let bits = field.of(value);
    Some(match field.name {
        "plm" => fields::levels(bits, "captures fetches"),
        "pm" => fields::privileged(bits, "captures"),
        "ct" => match bits {
            0 => "misses of the first-level translation buffer",
            1 => "nothing",
            _ => "cache misses; bit 12 belongs to umask",
        }
        .to_owned(),
        "umask" if pmc.is_cache() => latency(pmc.cache_umask()),
        "umask" if pmc.ct() == 0 => served(bits),
        "umask" => String::new(),
        _ => return None,
    })
}

/// The unit mask of cache misses of fetches: bits 12:5 of PMC37.
fn latency(umask: u8) -> String {
    let least = match umask {
        0xFF => 4,
        0xFE => 8,
        0xFC => 16,
        0xF8 => 32,
        0xF0 => 128,
        0xE0 => 256,
        0xC0 => 1024,
        0x80 => 4096,
        0 => return "with bit 12 0: misses that hit the request buffer".to_owned(),
        0x40..=0x7F => return "with bit 12: every miss".to_owned(),
        _ => return "with bit 12: undefined".to_owned(),
    };
    format!("with bit 12 {umask:#04x}: misses of {least} cycles and more")
}

/// Which translation misses are captured.
fn served(umask: u64) -> String {
    let names: Vec<String> =
        SERVERS.iter().enumerate().filter(|(bit, _)| umask >> bit & 1 == 1).map(|(_, name)| (*name).to_owned()).collect();
    if names.is_empty() { "none: nothing is captured".to_owned() } else { format!("misses served by {}", fields::listed(&names)) }
}

fn trace(field: &Field, bits: u64) -> Option<String> {
    Some(match field.name {
        "plm" => fields::levels(bits, "captures branches"),
        "pm" => fields::privileged(bits, "captures"),
        "tm" => format!("branches, taken or not: {}", fields::either(bits, "taken", "not taken")),
        "ptm" => format!("predictions of the target: {}", fields::either(bits, "right ones", "wrong ones")),
        "ppm" => format!("predictions of the path: {}", fields::either(bits, "right ones", "wrong ones")),
        "brt" => match bits {
            0 => "branches of every type",
            1 => "IP-relative branches",
            2 => "returns",
            _ => "indirect branches that are no returns",
        }
        .to_owned(),
        _ => return None,
    })
}

fn accesses(field: &Field, value: u64) -> Option<String> {
    let pmc = Pmc40::written(value);
    let bits = field.of(value);
    Some(match field.name {
        "plm" => fields::levels(bits, "captures accesses"),
        "pm" => fields::privileged(bits, "captures"),
        "mode" => match bits {
            0 => "loads that miss the first-level data cache",
            1 => "misses of the first-level translation buffer",
            _ => "checks that fail in the ALAT",
        }
        .to_owned(),
        "umask" => match (pmc.mode(), bits) {
            (0, 0..=10) => format!("of {} cycles and more", 4u32 << bits),
            (0, _) => "nothing is captured".to_owned(),
            (1, umask) => served(umask >> 1),
            _ => String::new(),
        },
        "ism" if bits == 0b10 => "as it must be".to_owned(),
        "ism" => "only 10 is defined: nothing is captured".to_owned(),
        _ => return None,
    })
}

fn memory(field: &Field, value: u64) -> Option<String> {
    if let Some(pair) = field.name.strip_prefix("cfgdtag") {
        let enabled = pair.parse::<u32>().is_ok_and(|pair| value >> (45 + pair) & 1 == 1);
        let by = match field.of(value) {
            0 => "instruction and data",
            1 => "the instruction",
            2 => "the data's address",
            _ => "nothing",
        };
        return Some(if enabled { format!("memory events are constrained by {by}, pair {pair}") } else { String::new() });
    }
    None
}

fn retired(field: &Field, value: u64) -> Option<String> {
    let bits = field.of(value);
    Some(match field.name {
        "plm" => fields::levels(bits, "captures retired instruction pointers"),
        _ if Pmc42::written(value).mode() == 0 && field.name != "mode" => String::new(),
        "pm" => fields::privileged(bits, "captures"),
        "mode" => match bits {
            0 => "the buffer holds an execution trace, as PMC39 says",
            0b100 => "the buffer holds retired instruction pointers",
            _ => "no mode that is defined: nothing is captured",
        }
        .to_owned(),
        "delay" => format!("stops {bits} cycles after the counters"),
        _ => return None,
    })
}
