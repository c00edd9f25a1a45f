//! MSR_OFFCORE_RESP0 and 1: the requests that OFFCORE_RESP counts, by the names of table 1-1 (section 1.2.4).

use vm_pmu::arch::knl::OffcoreResp;
use vm_pmu::arch::layout::Field;

use crate::{number, suggest};

/// The types of requests.
const TYPES: u64 = 0xFFFF;
/// The types that only MSR_OFFCORE_RESP1 has, for IA32_PMC1.
const SECOND_ONLY: u64 = 1 << 8 | 1 << 11 | 1 << 14;
/// The types that bring no data.
const NO_DATA: u64 = SECOND_ONLY;
const ANY_RESPONSE: u64 = 1 << 16;
/// Suppliers in the untile, which come with a snoop response.
const UNTILE: u64 = 0xFF << 17;
/// Suppliers in the own tile.
const OWN_TILE: u64 = 0xF << 25;
/// Snoop responses.
const SNOOPS: u64 = 0x7F << 31;
const OUTSTANDING: u64 = 1 << 38;
/// Near memory, and the snoop response that it comes with.
const NEAR: (u64, u64) = (1 << 21 | 1 << 23, 1 << 31);
/// Far memory that is no other tile's, and the snoop response that it comes with.
const FAR: (u64, u64) = (1 << 24, 1 << 32);

/// What `rsp=` chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) bits: u64,
    /// Whether it was said by names: what means nothing is a mistake then.
    by_name: bool,
}

impl Chosen {
    /// Reads names of table 1-1 joined by `+`, or a number.
    ///
    /// # Errors
    /// A name is unknown, or the register refuses the number.
    pub(super) fn read(text: &str) -> Result<Chosen, String> {
        if let Some(bits) = number::parse(text) {
            let refused = bits & OffcoreResp::REFUSED;
            return match refused {
                0 => Ok(Chosen { bits, by_name: false }),
                _ => Err(format!("`{text}` cannot be written: bits 63 to 39 are refused")),
            };
        }
        let mut bits = 0;
        for word in text.split('+') {
            let found = OffcoreResp::FIELDS.iter().find(|field| is_named(field) && field.name.eq_ignore_ascii_case(word));
            let Some(field) = found else {
                let names = OffcoreResp::FIELDS.iter().filter(|field| is_named(field)).map(|field| field.name);
                let hint = suggest::did_you_mean(word, names, "`pmulab decode --pmu knl MSR_OFFCORE_RESP0=0x7fffffffff` shows them");
                return Err(format!("no request, supplier or snoop response is called `{word}`{hint}"));
            };
            bits |= field.mask();
        }
        Ok(Chosen { bits, by_name: true })
    }

    /// Whether the requests and the responses are some that this register knows: one of the two has each of them.
    pub(super) fn fits(self, register: u8) -> bool {
        let first_alone = self.bits & OUTSTANDING != 0;
        // Beside what both know, a type that only the second knows adds nothing in the first.
        let second_alone = self.bits & SECOND_ONLY != 0 && self.bits & TYPES & !SECOND_ONLY == 0;
        if register == 0 { !second_alone } else { !first_alone }
    }

    /// The counters that count it through this register, one bit each.
    ///
    /// # Errors
    /// Something that was said by name means nothing, alone or in this register. What a number has of that is noted.
    pub(super) fn counters(self, register: u8, notes: &mut Vec<String>) -> Result<u32, String> {
        for problem in self.problems(register) {
            if self.by_name {
                return Err(problem);
            }
            notes.push(problem);
        }
        notes.extend(self.remarks(register));
        Ok(match register {
            0 if self.bits & OUTSTANDING != 0 => 0b01,
            1 if self.bits & SECOND_ONLY != 0 => 0b10,
            _ => 0b11,
        })
    }

    /// What counts nothing, or not what it says.
    fn problems(self, register: u8) -> Vec<String> {
        let bits = self.bits;
        let mut problems = Vec::new();
        let elsewhere = bits & if register == 0 { SECOND_ONLY } else { OUTSTANDING };
        if elsewhere != 0 {
            let other = 1 - register;
            problems.push(format!(
                "{} {} something in MSR_OFFCORE_RESP{other} alone: count OFFCORE_RESP_{other}",
                names(elsewhere).join(" and "),
                if elsewhere.count_ones() == 1 { "means" } else { "mean" }
            ));
        }
        if bits & TYPES & !reserved() == 0 {
            problems.push("no type of request is chosen: nothing is counted".to_owned());
        }
        if bits & (ANY_RESPONSE | OUTSTANDING) != 0 {
            return problems;
        }
        let (untile, snoops) = (bits & UNTILE & !reserved(), bits & SNOOPS & !reserved());
        match (untile, snoops, bits & OWN_TILE) {
            (0, 0, 0) => problems.push("no response is chosen: nothing is counted; ANY_RESPONSE takes all".to_owned()),
            (0, snoops, _) if snoops != 0 => {
                problems.push(format!("{} asks for a supplier of the untile, bits 17 to 24", names(snoops).join("+")));
            }
            (untile, 0, _) if untile != 0 => {
                problems.push(format!("{} asks for a snoop response, bits 31 to 37", names(untile).join("+")));
            }
            _ => {}
        }
        problems
    }

    /// What is worth knowing about what does count.
    fn remarks(self, register: u8) -> Vec<String> {
        let bits = self.bits;
        let mut remarks = Vec::new();
        let odd = bits & reserved();
        if odd != 0 && !self.by_name {
            remarks.push(format!("{odd:#x} is reserved: it is kept and chooses nothing"));
        }
        let responses = bits & (UNTILE | OWN_TILE | SNOOPS) & !reserved();
        if register == 0 && bits & OUTSTANDING != 0 {
            remarks.push("it adds up the clocks that requests with data are outstanding, whatever their response".to_owned());
        } else if bits & ANY_RESPONSE != 0 {
            if responses != 0 {
                remarks.push(format!("with ANY_RESPONSE, {} does not matter", names(responses).join("+")));
            }
        } else {
            for (memory, snoop) in [NEAR, FAR] {
                if bits & memory != 0 && bits & SNOOPS != 0 && bits & snoop == 0 {
                    remarks.push(format!("{} comes with {} alone", names(bits & memory).join(" and "), names(snoop).join("")));
                }
            }
            if bits & NO_DATA != 0 && register == 1 {
                remarks.push(format!("{} brings no data, and is counted by ANY_RESPONSE alone", names(bits & NO_DATA).join(" and ")));
            }
        }
        remarks
    }
}

fn is_named(field: &Field) -> bool {
    field.name != "Reserved"
}

/// The bits without a meaning that keep what is written.
fn reserved() -> u64 {
    OffcoreResp::FIELDS.iter().filter(|field| !is_named(field)).fold(0, |bits, field| bits | field.mask()) & OffcoreResp::WRITABLE
}

/// The names of the bits.
fn names(bits: u64) -> Vec<&'static str> {
    OffcoreResp::FIELDS.iter().filter(|field| is_named(field) && field.mask() & bits != 0).map(|field| field.name).collect()
}

/// The bits as `rsp=` takes them.
pub(super) fn text(bits: u64) -> String {
    if bits & (reserved() | OffcoreResp::REFUSED) != 0 || bits == 0 { format!("{bits:#x}") } else { names(bits).join("+") }
}

/// What the register asks OFFCORE_RESP to count.
pub(super) fn notation(register: u8, value: u64) -> Option<String> {
    (value != 0).then(|| format!("OFFCORE_RESP:OFFCORE_RESP_{register}:rsp={}", text(value)))
}

/// The effect of a bit, given the others.
pub(super) fn meaning(register: u8, field: &Field, value: u64) -> Option<String> {
    let bit = field.mask();
    if value & bit == 0 || !is_named(field) {
        return None;
    }
    let summary = field.summary.trim();
    let is_weighted = register == 0 && value & OUTSTANDING != 0;
    let without = if bit & if register == 0 { SECOND_ONLY } else { OUTSTANDING } != 0 {
        "means nothing in this register"
    } else if bit & (UNTILE | OWN_TILE | SNOOPS | ANY_RESPONSE) != 0 && is_weighted {
        "has no effect with OUTSTANDING"
    } else if bit & (UNTILE | OWN_TILE | SNOOPS) != 0 && value & ANY_RESPONSE != 0 {
        "has no effect with ANY_RESPONSE"
    } else if bit & UNTILE != 0 && value & SNOOPS & !reserved() == 0 {
        "counts nothing without a snoop response, bits 31 to 37"
    } else if bit & SNOOPS != 0 && value & UNTILE & !reserved() == 0 {
        "counts nothing without a supplier of the untile, bits 17 to 24"
    } else {
        return Some(summary.to_owned());
    };
    Some(format!("{summary}; {without}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(register: u8, text: &str) -> Result<(u32, Vec<String>), String> {
        let mut notes = Vec::new();
        let counters = Chosen::read(text)?.counters(register, &mut notes)?;
        Ok((counters, notes))
    }

    #[test]
    fn names_are_the_bits_of_table_1_1() {
        // The first of the six frequent combinations: bits 0, 23, 24, 31 and 32.
        let text = "DEMAND_DATA_RD+DRAM_NEAR+DRAM_FAR+SNOOP_NONE+NO_SNOOP_NEEDED";
        assert_eq!(Chosen::read(text).map(|chosen| chosen.bits), Ok(0x1_8180_0001));
        assert_eq!(super::text(0x1_8180_0001), text);
        assert_eq!(Chosen::read("demand_rfo+any_response").map(|chosen| chosen.bits), Ok(0x1_0002));
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let message = Chosen::read("DEMAND_DATA_RE").unwrap_err();
        assert!(message.starts_with("no request, supplier or snoop response is called `DEMAND_DATA_RE`: did you mean DEMAND_DATA_RD"));
        assert!(Chosen::read("0x8000000000").is_err(), "bit 39 is refused");
        assert!(Chosen::read("Reserved").is_err());
    }

    #[test]
    fn some_bits_choose_the_counter() {
        assert_eq!(counters(0, "DEMAND_DATA_RD+ANY_RESPONSE").unwrap().0, 0b11);
        assert_eq!(counters(0, "DEMAND_DATA_RD+OUTSTANDING").unwrap().0, 0b01);
        assert_eq!(counters(1, "PARTIAL_WRITES+ANY_RESPONSE").unwrap().0, 0b10);
    }

    #[test]
    fn what_means_nothing_is_refused_by_name_and_noted_by_number() {
        for (register, text, number) in [
            (0, "PARTIAL_WRITES+ANY_RESPONSE", "0x10100"),
            (1, "DEMAND_DATA_RD+OUTSTANDING", "0x4000000001"),
            (0, "ANY_RESPONSE", "0x10000"),
            (0, "DEMAND_DATA_RD", "1"),
            (0, "DEMAND_DATA_RD+DRAM_NEAR", "0x800001"),
            (0, "DEMAND_DATA_RD+SNOOP_NONE", "0x80000001"),
        ] {
            assert!(counters(register, text).is_err(), "{text}");
            assert_eq!(counters(register, number).unwrap().1.len(), 1, "{number}");
        }
    }

    #[test]
    fn suppliers_of_the_own_tile_need_no_snoop_response() {
        assert_eq!(counters(0, "DEMAND_DATA_RD+L2_HITE_THIS_TILE"), Ok((0b11, Vec::new())));
    }

    #[test]
    fn a_bit_that_lacks_another_says_so() {
        let said = |name: &str, value: u64| {
            let field = OffcoreResp::FIELDS.iter().find(|field| field.name == name).unwrap();
            meaning(0, field, value).unwrap()
        };
        assert!(said("DRAM_NEAR", 0x80_0001).ends_with("counts nothing without a snoop response, bits 31 to 37"));
        assert_eq!(said("DRAM_NEAR", 0x8080_0001), "data from DDR memory, near");
        assert!(said("DRAM_NEAR", 0x81_0001).ends_with("has no effect with ANY_RESPONSE"));
    }
}
