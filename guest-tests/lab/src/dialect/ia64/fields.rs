//! What the fields say that the IA-64 parts have in common.

use vm_pmu::arch::layout::Field;

use crate::number::grouped;

/// Numbers in a sentence: `0 and 3`, `0, 1 and 3`.
pub(in super::super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The numbers of the bits that are set.
pub(in super::super) fn bits(value: u64) -> Vec<u32> {
    (0..u64::BITS).filter(|bit| value >> bit & 1 == 1).collect()
}

/// plm of a monitor that `does` something.
pub(in super::super) fn levels(plm: u64, does: &str) -> String {
    match bits(plm).iter().map(u32::to_string).collect::<Vec<_>>().as_slice() {
        [] => format!("{does} at no privilege level: off"),
        [one] => format!("{does} at privilege level {one}"),
        many => format!("{does} at privilege levels {}", listed(many)),
    }
}

/// pm of a monitor that `does` something.
pub(in super::super) fn privileged(pm: u64, does: &str) -> String {
    format!("{does} while PSR.{} is 1", if pm == 0 { "up" } else { "pp" })
}

/// PMC0.overflow.
pub(in super::super) fn overflows(set: u64) -> String {
    let names: Vec<String> = bits(set).iter().map(|bit| format!("PMD{}", bit + 4)).collect();
    match names.len() {
        0 => String::new(),
        1 => format!("{} has overflowed", listed(&names)),
        _ => format!("{} have overflowed", listed(&names)),
    }
}

/// A count of `width` bits.
pub(in super::super) fn count(value: u64, width: u32) -> String {
    match value {
        0 => String::new(),
        // Half way up it is a preload: nothing counts that far.
        value if value >> (width - 1) != 0 => format!("{} more until it overflows", grouped((1 << width) - value)),
        value => grouped(value),
    }
}

/// PMC.threshold of an event that comes at most `most` times a cycle.
pub(in super::super) fn threshold(threshold: u64, most: u32) -> String {
    match threshold {
        0 => String::new(),
        more if more >= u64::from(most) => {
            format!("counts cycles with more than {more}; there is none, for a cycle has {most} at most")
        }
        more => format!("counts cycles with more than {more}"),
    }
}

/// A breakpoint register: an address in an even one, what is compared in an odd one.
pub(in super::super) fn breakpoint(number: u8, field: &Field, value: u64) -> Option<String> {
    match (number & 1, field.name) {
        (0, _) => Some(String::new()),
        (_, "mask") => Some(compared(field.of(value))),
        (_, "plm") => Some(levels(field.of(value), "matches")),
        _ => None,
    }
}

/// An odd breakpoint register's mask.
fn compared(mask: u64) -> String {
    let ignored = !mask & ((1 << 56) - 1);
    match ignored {
        0 => "one address".to_owned(),
        _ if mask == 0 => "bits 55:0 of an address do not matter".to_owned(),
        _ if (ignored + 1).is_power_of_two() => {
            let length = ignored + 1;
            format!("a range of {} bytes ({length:#x})", grouped(length))
        }
        _ => "the bits that are set are compared".to_owned(),
    }
}

/// Two bits that let each of two kinds through: 10 `upper`, 01 `lower`.
pub(in super::super) fn either(mask: u64, upper: &str, lower: &str) -> String {
    match mask {
        0 => "none".to_owned(),
        1 => format!("{lower} only"),
        2 => format!("{upper} only"),
        _ => "all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preload_says_how_much_is_left() {
        assert_eq!(count((1 << 47) - 1000, 47), "1,000 more until it overflows");
        assert_eq!(count(1000, 47), "1,000");
        assert_eq!(count(0, 47), "");
    }

    #[test]
    fn a_threshold_that_no_cycle_exceeds_is_said() {
        assert!(threshold(6, 6).contains("there is none"));
        assert_eq!(threshold(5, 6), "counts cycles with more than 5");
    }

    #[test]
    fn levels_are_listed() {
        assert_eq!(levels(0b1001, "counts"), "counts at privilege levels 0 and 3");
        assert_eq!(levels(0, "counts"), "counts at no privilege level: off");
    }
}
