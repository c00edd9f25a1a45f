//! How a guest reports: the same for every engine and for guests from outside.
//!
//! # Entry
//!
//! On x86, every CPU starts at the entry in 64-bit mode, CPL 0, interrupts disabled, paging on with at least the first 4 GiB mapped to
//! themselves, RDI its number, RSP the top of its own stack. Ring 3 may use the 2 MiB at [`USER`].
//! On POWER the entry is that of [`power::Machine`](vm_pmu_engines::power::Machine); on Itanium that of
//! [`itanium::Machine`](vm_pmu_engines::ia64::Machine).
//!
//! # Report
//!
//! The guest writes to physical address [`REPORT`], 64 bits each, in its own byte order, which the magic shows:
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | [`MAGIC`] |
//! | 8 | how many checks follow, at most [`MAX_CHECKS`] |
//! | 16 | how many samples follow, at most [`MAX_SAMPLES`] |
//! | 20h | the checks, 32 bytes each: address of the label, what was seen, the least and the most that is right |
//! | 4000h | the samples, 24 bytes each: address sampled, address of the label, hits |
//!
//! A label is text that ends with a zero byte. A guest that reports nothing leaves the magic out. The magic may come last. If it comes first, a
//! guest stores the four numbers of a check in their order, so that whoever follows the run knows with the last one what became of the check.
//!
//! # Console and end
//!
//! A byte written to port E9h goes to the console, on POWER and Itanium one stored to [`power::CONSOLE`](vm_pmu_engines::power::CONSOLE) or
//! [`itanium::CONSOLE`](vm_pmu_engines::ia64::CONSOLE). A byte written to port F4h, there stored to
//! [`power::EXIT`](vm_pmu_engines::power::EXIT) or [`itanium::EXIT`](vm_pmu_engines::ia64::EXIT), ends the run: 0 for a guest that found
//! everything right.

use serde::Serialize;

/// The physical address of the report.
pub const REPORT: u64 = 0x1_0000;
/// The first eight bytes of a report, as a number: `VMPMUREP` if it is little-endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"VMPMUREP");
/// The most checks.
pub const MAX_CHECKS: u64 = 500;
/// The most samples.
pub const MAX_SAMPLES: u64 = 500;
/// What ring 3 may use.
pub const USER: std::ops::Range<u64> = 0x40_0000..0x60_0000;

pub(crate) const REPORT_CHECKS: u64 = REPORT + 0x20;
pub(crate) const REPORT_SAMPLES: u64 = REPORT + 0x4000;

/// Something a guest checked and its right value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is.
    pub name: String,
    /// What the guest saw.
    pub seen: u64,
    /// The least that is right.
    pub least: u64,
    /// The most that is right.
    pub most: u64,
}

impl Check {
    /// Whether what was seen is right.
    #[must_use]
    pub fn passed(&self) -> bool {
        (self.least..=self.most).contains(&self.seen)
    }
}

/// How often samples fell on one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The interrupted instruction's address.
    pub address: u64,
    /// The name of the place, where the guest gave one.
    pub label: String,
    /// How often.
    pub hits: u64,
}

/// The longest label that is read, in bytes.
const LONGEST: u64 = 120;

/// What a guest reported; empty when it reported nothing. `load` fills bytes from a physical address, or returns that it cannot.
#[must_use]
pub fn read(load: impl Fn(u64, &mut [u8]) -> bool) -> (Vec<Check>, Vec<Sample>) {
    let Some(little_endian) = order(&load) else { return (Vec::new(), Vec::new()) };
    let word = |address| word(&load, little_endian, address);
    let checks = (0..word(REPORT + 8).min(MAX_CHECKS)).map(|number| check(&load, little_endian, number));
    let samples = (0..word(REPORT + 16).min(MAX_SAMPLES)).map(|n| {
        let at = REPORT_SAMPLES + 24 * n;
        Sample { address: word(at), label: label(&load, word(at + 8), n), hits: word(at + 16) }
    });
    (checks.collect(), samples.collect())
}

/// The first failing check that shows by a store of `size` bytes to the physical address `address`, which is done: by the last number of the
/// check, or by the magic or the number of checks. `load` is as for [`read`].
#[must_use]
pub fn failure(load: impl Fn(u64, &mut [u8]) -> bool, address: u64, size: u64) -> Option<Check> {
    let end = address.checked_add(size)?;
    let (header, report) = (REPORT..REPORT + 16, REPORT_CHECKS..REPORT_CHECKS + 32 * MAX_CHECKS);
    let failed = |check: &Check| !check.passed();
    if header.contains(&address) {
        let little_endian = order(&load)?;
        let checks = word(&load, little_endian, REPORT + 8).min(MAX_CHECKS);
        return (0..checks).map(|number| check(&load, little_endian, number)).find(failed);
    }
    let number = report.contains(&address).then(|| (address - REPORT_CHECKS) / 32)?;
    let completes = size != 0 && end == REPORT_CHECKS + 32 * (number + 1);
    let little_endian = completes.then(|| order(&load))??;
    Some(check(&load, little_endian, number)).filter(failed)
}

/// Whether a report is little-endian; `None` where there is none.
fn order(load: &impl Fn(u64, &mut [u8]) -> bool) -> Option<bool> {
    match word(load, true, REPORT) {
        MAGIC => Some(true),
        other if other == MAGIC.swap_bytes() => Some(false),
        _ => None,
    }
}

fn word(load: &impl Fn(u64, &mut [u8]) -> bool, little_endian: bool, address: u64) -> u64 {
    let mut bytes = [0; 8];
    let value = if load(address, &mut bytes) { u64::from_le_bytes(bytes) } else { 0 };
    if little_endian { value } else { value.swap_bytes() }
}

fn check(load: &impl Fn(u64, &mut [u8]) -> bool, little_endian: bool, number: u64) -> Check {
    let at = REPORT_CHECKS + 32 * number;
    let word = |address| word(load, little_endian, address);
    Check { name: label(load, word(at), number), seen: word(at + 8), least: word(at + 16), most: word(at + 24) }
}

fn label(load: impl Fn(u64, &mut [u8]) -> bool, address: u64, number: u64) -> String {
    let byte = |at| {
        let mut byte = [0];
        (load(at, &mut byte) && byte != [0]).then_some(byte[0])
    };
    let bytes: Vec<u8> = (0..LONGEST).map_while(|n| address.checked_add(n).and_then(byte)).collect();
    if bytes.is_empty() { format!("number {number}") } else { String::from_utf8_lossy(&bytes).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report whose only check is that 4 was seen instead of 3; its label is at 0.
    fn load(address: u64, into: &mut [u8]) -> bool {
        let words = [(REPORT, MAGIC), (REPORT + 8, 1), (REPORT_CHECKS + 8, 4), (REPORT_CHECKS + 16, 3), (REPORT_CHECKS + 24, 3)];
        let value = words.iter().find(|(at, _)| *at == address).map_or(0, |(_, value)| *value);
        into.copy_from_slice(&value.to_le_bytes()[..into.len()]);
        true
    }

    #[test]
    fn a_failing_check_shows_by_its_last_number_or_by_the_header() {
        let check = Some(Check { name: "number 0".to_owned(), seen: 4, least: 3, most: 3 });
        for (address, size) in [(REPORT_CHECKS + 24, 8), (REPORT_CHECKS + 28, 4), (REPORT, 8), (REPORT + 8, 8)] {
            assert_eq!(failure(load, address, size), check, "{size} bytes at {address:#x}");
        }
        // Another number of it, half of the last one, number 500, and what is no report.
        let beyond = REPORT_CHECKS + 32 * MAX_CHECKS + 24;
        for (address, size) in [(REPORT_CHECKS + 16, 8), (REPORT_CHECKS + 24, 4), (beyond, 8), (REPORT + 16, 8), (0, 8), (u64::MAX, 8)] {
            assert_eq!(failure(load, address, size), None, "{size} bytes at {address:#x}");
        }
    }

    #[test]
    fn nothing_fails_before_the_magic_is_there() {
        let without = |address, into: &mut [u8]| {
            load(address, into)
                && (address != REPORT || {
                    into.fill(0);
                    true
                })
        };
        assert_eq!(failure(without, REPORT_CHECKS + 24, 8), None);
    }
}
