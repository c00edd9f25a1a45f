//! The words after an event: its unit mask, and what the register of its counter can be asked.

use std::ops::RangeInclusive;

use vm_pmu::arch::event::{Entry, UnitMask};

use super::ranges::{Opcode, Range};
use super::{KERNEL, USER};
use crate::dialect::letters;
use crate::dialect::select;
use crate::error::Error;
use crate::{number, suggest};

/// What differs between the parts.
pub(in super::super) struct Limits {
    /// The numbers of the counters.
    pub counters: RangeInclusive<u32>,
    /// The width of a count.
    pub bits: u32,
    /// The highest threshold.
    pub threshold: u8,
    /// Whether a counter can count both threads of a core, and by the states of cache lines.
    pub threads_and_states: bool,
    /// ism where nothing is said about it.
    pub ism: u8,
}

impl Limits {
    /// How many counts there are until a counter that holds 0 overflows.
    pub(in super::super) fn range(&self) -> u64 {
        1 << self.bits
    }
}

/// Every modifier, for suggestions.
const MODIFIERS: [&str; 16] = [
    "u",
    "k",
    "uk",
    "plm=0b1001",
    "pm",
    "oi",
    "int",
    "ev",
    "all",
    "threshold=1",
    "mesi=MESI",
    "pmc=4",
    "period=100000",
    "code=0x4000+0x1000",
    "data=0x8000+0x100",
    "ear=CACHE_LAT4",
];

/// Why `plm=` and letters are refused together.
const LEVELS_TWICE: &str = "says the privilege levels a second time: write `plm=`, or `u` and `k`";

/// The letters of the states of cache lines, from the lowest bit of PMC.MESI up.
const STATES: [char; 4] = ['i', 's', 'e', 'm'];

/// What the words after an event ask for.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Words {
    pub umask: Option<u8>,
    pub plm: Option<u8>,
    /// The levels are those of a mask, and not letters that add up.
    by_mask: bool,
    pub pm: bool,
    pub oi: bool,
    pub ev: bool,
    pub all: bool,
    pub threshold: u8,
    pub mesi: Option<u8>,
    pub ism: Option<u8>,
    pub pmc: Option<u32>,
    pub period: Option<u64>,
    pub code: Option<Range>,
    pub data: Option<Range>,
    pub opcode: Option<Opcode>,
    /// What the event address registers capture, in capitals.
    pub ear: Option<String>,
}

impl Words {
    /// Reads `words`, unit masks of an event among `masks`, and modifiers.
    ///
    /// # Errors
    /// A word is unknown, or asks for what the part does not have.
    pub(in super::super) fn read(words: &[&str], event: &str, shape: UnitMask, masks: &[Entry], limits: &Limits) -> Result<Words, Error> {
        let mut read = Words::default();
        for word in words {
            let mask = masks.iter().find(|mask| mask.is_called(word)).and_then(|mask| mask.umask);
            let bits = mask.map(u64::from).or_else(|| select::raw(word));
            match bits {
                // Unit masks may have the names of modifiers, ALL and INT: behind a unit mask they are modifiers.
                Some(_) if read.umask.is_some() && read.modify(word, limits).map_err(Error::usage)? => {}
                Some(bits) => read.add_mask(event, word, shape, bits)?,
                None if read.modify(word, limits).map_err(Error::usage)? => {}
                None => return Err(unknown(event, word, masks)),
            }
        }
        Ok(read)
    }

    fn add_mask(&mut self, event: &str, word: &str, shape: UnitMask, bits: u64) -> Result<(), Error> {
        let bits = u8::try_from(bits).ok().filter(|bits| *bits < 16);
        let bits = bits.ok_or_else(|| Error::usage(format!("`{word}` is not a unit mask: it has 4 bits")))?;
        match (self.umask, shape) {
            (Some(before), UnitMask::Ordinal) if before != bits => {
                return Err(Error::usage(format!("the unit masks of {event} exclude each other: give `{word}` a separate counter")));
            }
            (before, _) => self.umask = Some(before.unwrap_or(0) | bits),
        }
        Ok(())
    }

    /// Takes a modifier; whether it was one.
    fn modify(&mut self, word: &str, limits: &Limits) -> Result<bool, String> {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "pm" => self.pm = true,
            "oi" | "int" => self.oi = true,
            "ev" => self.ev = true,
            "all" if limits.threads_and_states => self.all = true,
            levels if !levels.is_empty() && letters::are_of(levels, "uk") => {
                letters::once(levels)?;
                if self.by_mask {
                    return Err(format!("`{levels}` {LEVELS_TWICE}"));
                }
                let user = if levels.contains('u') { USER } else { 0 };
                let kernel = if levels.contains('k') { KERNEL } else { 0 };
                self.plm = Some(self.plm.unwrap_or(0) | user | kernel);
            }
            other => match other.split_once('=') {
                Some((name, value)) => return self.assign(name, value, limits).map_err(|why| format!("`{word}` {why}")),
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn assign(&mut self, name: &str, value: &str, limits: &Limits) -> Result<bool, String> {
        let plain = || number::parse(value);
        let small = |most: u8| plain().and_then(|number| u8::try_from(number).ok()).filter(|number| *number <= most);
        match name {
            "plm" if self.plm.is_some() => return Err(LEVELS_TWICE.to_owned()),
            "plm" => {
                let bits = value.strip_prefix("0b").and_then(|digits| u8::from_str_radix(digits, 2).ok()).or_else(|| small(15));
                let bits = bits.filter(|bits| *bits < 16);
                self.plm = Some(bits.ok_or("is not a privilege level mask: it has a bit for each of 4 levels, 0b1001 is the outer two")?);
                self.by_mask = true;
            }
            "threshold" | "c" => {
                let most = limits.threshold;
                self.threshold = small(most).ok_or(format!("is not a threshold: it is a number up to {most}"))?;
            }
            "mesi" if limits.threads_and_states => {
                self.mesi = Some(states(value).ok_or("names no states of lines: write letters of MESI")?)
            }
            "ism" => self.ism = Some(small(3).ok_or("is not an instruction set mask: it is 0 to 3")?),
            "pmc" => {
                let counter = plain().and_then(|number| u32::try_from(number).ok()).filter(|number| limits.counters.contains(number));
                let (first, last) = (limits.counters.start(), limits.counters.end());
                self.pmc = Some(counter.ok_or(format!("is not a counter: there are PMC{first} to PMC{last}"))?);
            }
            "period" => {
                let period = plain().filter(|period| (1..limits.range()).contains(period));
                self.period = Some(period.ok_or(format!("is not a period: it is a number from 1 to 2^{} - 1", limits.bits))?);
            }
            "code" => self.code = Some(Range::read(value)?),
            "data" => self.data = Some(Range::read(value)?),
            "opcode" => self.opcode = Some(Opcode::read(value)?),
            "ear" => self.ear = Some(value.to_ascii_uppercase()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The privilege levels: those of applications and of the kernel, if nothing is said.
    pub(in super::super) fn levels(&self) -> u8 {
        self.plm.unwrap_or(USER | KERNEL)
    }

    /// The words that no register of the counter has.
    pub(in super::super) fn suffix(&self) -> String {
        let mut text = String::new();
        if let Some(period) = self.period {
            text.push_str(&format!(":period={period}"));
        }
        for (name, range) in [("code", &self.code), ("data", &self.data)] {
            if let Some(range) = range {
                text.push_str(&format!(":{name}={range}"));
            }
        }
        if let Some(opcode) = &self.opcode {
            text.push_str(&format!(":opcode={opcode}"));
        }
        if let Some(ear) = &self.ear {
            text.push_str(&format!(":ear={ear}"));
        }
        text
    }

    /// What is worth knowing about a period.
    pub(in super::super) fn advise_on_period(&self, limits: &Limits, notes: &mut Vec<String>) {
        match (self.period, self.oi) {
            (Some(_), false) => notes.push("without `oi` the overflow only sets its bit in PMC0".to_owned()),
            (None, true) => notes.push(format!("without a period the counter overflows after 2^{}", limits.bits)),
            _ => {}
        }
    }
}

/// The states of lines that `letters` name.
fn states(letters: &str) -> Option<u8> {
    if letters == "none" {
        return Some(0);
    }
    letters.chars().try_fold(0, |bits, letter| STATES.iter().position(|state| *state == letter).map(|bit| bits | 1 << bit))
}

/// The letters of states of lines, as [`Words`] take them.
pub(in super::super) fn letters(states: u8) -> String {
    match states {
        0 => "none".to_owned(),
        _ => (0..4).rev().filter(|bit| states >> bit & 1 == 1).map(|bit| STATES[bit].to_ascii_uppercase()).collect(),
    }
}

/// The privilege levels as [`Words`] take them.
pub(in super::super) fn levels(plm: u8) -> String {
    match plm {
        _ if plm == USER | KERNEL => "uk".to_owned(),
        USER => "u".to_owned(),
        KERNEL => "k".to_owned(),
        _ => format!("plm={plm:#06b}"),
    }
}

fn unknown(event: &str, word: &str, masks: &[Entry]) -> Error {
    let names = masks.iter().flat_map(|mask| mask.mask_name().into_iter().chain(mask.aliases.iter().copied()));
    let otherwise = if masks.is_empty() {
        "it has no unit masks, and modifiers are u, k, plm=, pm, oi, ev, threshold=, pmc=, period=, code=, data=, opcode=".to_owned()
    } else {
        suggest::there_are(names.clone())
    };
    let hint = suggest::did_you_mean(word, names.chain(MODIFIERS), &otherwise);
    Error::usage(format!("{event} has no unit mask or modifier `{word}`{hint}"))
}

/// The unit mask where none was given: that of all, or the only one.
///
/// # Errors
/// There are several, and none of them is all.
pub(in super::super) fn default_mask(event: &Entry, masks: &[Entry], notes: &mut Vec<String>) -> Result<u8, Error> {
    let whole = |mask: &&Entry| mask.mask_name().is_some_and(|name| name.split('.').all(|part| matches!(part, "ALL" | "ANY")));
    let picked = match masks {
        [] => return Ok(0),
        [only] => only,
        many => match many.iter().find(whole) {
            Some(whole) => {
                notes.push(format!("no unit mask was given: {} is set", whole.name));
                whole
            }
            None => {
                let there = suggest::there_are(many.iter().filter_map(Entry::mask_name));
                return Err(Error::usage(format!("say which unit mask of {}: {there}", event.name)));
            }
        },
    };
    // A unit mask of these catalogues has four bits.
    Ok((picked.umask.unwrap_or(0) & 15) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_a_mask_or_letters() {
        let limits = Limits { counters: 4..=7, bits: 32, threshold: 7, threads_and_states: false, ism: 0 };
        for [first, second] in [["plm=0b1000", "u"], ["k", "plm=8"]] {
            let mut words = Words::default();
            assert_eq!(words.modify(first, &limits), Ok(true));
            assert_eq!(words.modify(second, &limits), Err(format!("`{second}` {LEVELS_TWICE}")));
        }
    }
}
