//! Why events stay injected.

use super::{Catalogue, Entry, Fidelity};

include!(concat!(env!("OUT_DIR"), "/reasons.rs"));

/// Why nothing in this project can know certain events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reason {
    /// The reason, a sentence.
    pub text: &'static str,
    /// The names of the events, of unit masks with that of their event; an asterisk stands for any text.
    pub events: &'static [&'static str],
}

impl Reason {
    /// Whether the reason is that of the injected entry `entry`.
    ///
    /// ```
    /// use vm_pmu_arch::event::{POWER9, Reason};
    ///
    /// let reason = Reason { text: "No one tells.", events: &["PM_FREQ_*"] };
    /// assert!(reason.is_of(POWER9.event_named("PM_FREQ_UP").unwrap()));
    /// // An event that is driven needs none.
    /// assert!(!reason.is_of(POWER9.event_named("PM_CYC").unwrap()));
    /// ```
    #[must_use]
    pub fn is_of(&self, entry: &Entry) -> bool {
        entry.fidelity == Fidelity::Injected && self.events.iter().any(|pattern| fits(pattern, entry.name))
    }
}

/// The reasons of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reasons {
    /// The units all of whose injected events have a reason.
    pub units: &'static [&'static str],
    /// The reasons.
    pub all: &'static [Reason],
}

impl Catalogue {
    /// Why events of the part stay injected, if that has been written down.
    #[must_use]
    pub fn reasons(&self) -> Option<&'static Reasons> {
        REASONS.iter().find(|(pmu, _)| *pmu == self.pmu).map(|(_, reasons)| reasons)
    }
}

/// Whether `name` is what `pattern` says, in which an asterisk stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => name.strip_prefix(begin).is_some_and(|rest| {
            let places = rest.char_indices().map(|(place, _)| place).chain([rest.len()]);
            places.filter_map(|place| rest.get(place..)).any(|rest| fits(end, rest))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asterisk_stands_for_any_text() {
        let names = ["PM_A_PUMP_B", "PM_PUMP_B", "PM_A_PUMP"];
        assert_eq!(names.map(|name| fits("PM_*_PUMP_*", name)), [true, false, false]);
        assert_eq!(names.map(|name| fits("PM_A*PUMP", name)), [false, false, true]);
        assert!(fits("PM_A_PUMP*", "PM_A_PUMP"));
    }
}
