//! The words after an event, as x86 parts take them.

use crate::dialect::letters;
use crate::number;

/// Which words a part has.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Limits {
    /// The bits of a counter.
    pub bits: u32,
    /// Whether a counter can count for every thread of its core (AnyThread).
    pub any_thread: bool,
}

/// The modifiers of a select, in addition to its event and unit mask.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Modifiers {
    /// It counts at privilege levels above 0.
    pub user: bool,
    /// It counts at privilege level 0.
    pub kernel: bool,
    /// It counts edges.
    pub edge: bool,
    /// It counts clocks with fewer.
    pub invert: bool,
    /// An overflow asks for an interrupt.
    pub interrupt: bool,
    /// The pin toggles at overflow.
    pub pin: bool,
    /// It counts for every thread of the core.
    pub any_thread: bool,
    /// It counts at all.
    pub enabled: bool,
    /// It counts clocks with at least so many; 0 adds them up.
    pub at_least: u8,
}

impl Modifiers {
    /// The words that [`Words`] make it of.
    pub(in super::super) fn words(&self) -> Vec<String> {
        let mut words = vec![levels(self.user, self.kernel).to_owned()];
        let flags = [
            (self.edge, "e"),
            (self.invert, "inv"),
            (self.pin, "pc"),
            (self.interrupt, "int"),
            (self.any_thread, "any"),
            (!self.enabled, "noen"),
        ];
        words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
        if self.at_least != 0 {
            words.push(format!("c={}", self.at_least));
        }
        words
    }
}

/// The word for the privilege levels that are counted.
pub(in super::super) fn levels(user: bool, kernel: bool) -> &'static str {
    match (user, kernel) {
        (true, true) => "uk",
        (true, false) => "u",
        (false, true) => "k",
        (false, false) => "nouk",
    }
}

/// What `nouk` says.
const NO_LEVEL: (bool, bool) = (false, false);

fn contradiction() -> String {
    "`nouk` counts at no privilege level: leave it out, or `u` and `k`".to_owned()
}

/// What the words after an event ask for.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Words {
    pub umask: Option<u8>,
    pub levels: Option<(bool, bool)>,
    pub edge: bool,
    pub invert: bool,
    pub interrupt: bool,
    pub pin: bool,
    pub any_thread: bool,
    pub disabled: bool,
    pub at_least: u8,
    pub period: Option<u64>,
}

impl Words {
    /// Takes a modifier; whether it was one.
    ///
    /// # Errors
    /// The modifier has no such value.
    pub(in super::super) fn modify(&mut self, word: &str, limits: &Limits) -> Result<bool, String> {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "e" | "edge" => self.edge = true,
            "i" | "inv" => self.invert = true,
            "int" => self.interrupt = true,
            "pc" => self.pin = true,
            "any" if limits.any_thread => self.any_thread = true,
            "noen" => self.disabled = true,
            "nouk" if self.levels.is_some_and(|levels| levels != NO_LEVEL) => return Err(contradiction()),
            "nouk" => self.levels = Some(NO_LEVEL),
            levels if !levels.is_empty() && letters::are_of(levels, "uk") => {
                letters::once(levels)?;
                if self.levels == Some(NO_LEVEL) {
                    return Err(contradiction());
                }
                let (user, kernel) = self.levels.unwrap_or_default();
                self.levels = Some((user || levels.contains('u'), kernel || levels.contains('k')));
            }
            other => match other.split_once('=') {
                Some(("c" | "cmask", least)) => {
                    let least = number::parse(least).and_then(|least| u8::try_from(least).ok());
                    self.at_least = least.ok_or(format!("`{word}` is not a counter mask: it is a number up to 255"))?;
                }
                Some(("period", period)) => {
                    let period = number::parse(period).filter(|period| (1..1 << limits.bits).contains(period));
                    self.period = Some(period.ok_or(format!("`{word}` is not a period: it is a number from 1 to 2^{} - 1", limits.bits))?);
                }
                _ => return Ok(false),
            },
        }
        Ok(true)
    }

    /// All but the event and its unit mask.
    pub(in super::super) fn modifiers(&self) -> Modifiers {
        let (user, kernel) = self.levels.unwrap_or((true, true));
        Modifiers {
            user,
            kernel,
            edge: self.edge,
            invert: self.invert,
            interrupt: self.interrupt,
            pin: self.pin,
            any_thread: self.any_thread,
            enabled: !self.disabled,
            at_least: self.at_least,
        }
    }

    /// Notes on what may surprise, where a clock adds `most` at most.
    pub(in super::super) fn advise(&self, most: u32, notes: &mut Vec<String>) {
        match (self.at_least, self.invert) {
            (0, true) => notes.push("inv means nothing without cmask".to_owned()),
            (least, false) if u32::from(least) > most => notes.push(format!("no clock has {least} of them: {most} is the most")),
            _ => {}
        }
        if self.period.is_some() && !self.interrupt {
            notes.push("without `int` the overflow asks for no interrupt".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_level_and_a_level_contradict_each_other() {
        let limits = Limits { bits: 48, any_thread: false };
        for [first, second] in [["nouk", "u"], ["k", "nouk"], ["uk", "nouk"]] {
            let mut words = Words::default();
            assert_eq!(words.modify(first, &limits), Ok(true));
            assert_eq!(words.modify(second, &limits), Err(contradiction()), "{first}:{second}");
        }
    }
}
