//! Who knows what drives an event.

use vm_pmu::arch::event::{Drive, Entry, Internal};
use vm_pmu::companion::{Builder, Clock, Companion};
use vm_pmu::{Part, Signal};

use crate::{attach, driven};

/// What the engine and the companion of one part can tell. Anything else is an embedder's to report.
#[derive(Debug)]
pub struct Known {
    part: Part,
    companion: Option<Companion>,
}

impl Known {
    /// Of this part.
    #[must_use]
    pub fn of(part: Part) -> Known {
        Known { part, companion: Builder::new(part.name()).map(|builder| builder.clock(Clock::Companion).build()) }
    }

    /// Who tells `entry`: whoever reports its signals, the records of instructions, requests, or the model itself. Empty for what is only
    /// injected.
    #[must_use]
    pub fn of_entry(&self, entry: &Entry) -> String {
        match entry.drive {
            Drive::Signals => self.by(&driven::sources(entry)),
            Drive::Internal(Internal::Request) => "companion".to_owned(),
            Drive::Sampled { .. } => "records".to_owned(),
            Drive::Internal(_) => "model".to_owned(),
        }
    }

    /// Who reports the sum of these signals: `engine`, `companion`, either, both together, or one of them with an embedder that knows
    /// more. Empty where there is no signal.
    ///
    /// ```
    /// use vm_pmu::{Part, Signal};
    /// use vm_pmu_guest_tests::known::Known;
    ///
    /// let known = Known::of(Part::named("k8").unwrap());
    /// assert_eq!(known.by(&[Signal::InstructionsRetired]), "engine");
    /// assert_eq!(known.by(&[Signal::BranchesMispredicted, Signal::FarTransfers]), "engine and companion");
    /// assert_eq!(known.by(&[Signal::UpstreamReads]), "embedder");
    /// ```
    #[must_use]
    pub fn by(&self, signals: &[Signal]) -> String {
        let companion = |signal: &Signal| self.companion.as_ref().is_some_and(|companion| companion.supplies(*signal));
        let engine = |signal: &Signal| match self.part {
            Part::Power9(_) => attach::power::supplies(*signal),
            _ => attach::supplies(*signal),
        };
        let (mut names, word) = match (signals.iter().all(engine), signals.iter().all(companion)) {
            _ if signals.is_empty() => return String::new(),
            (true, true) => (vec!["engine", "companion"], " or "),
            (true, false) => (vec!["engine"], " and "),
            (false, true) => (vec!["companion"], " and "),
            (false, false) => {
                let mut names = Vec::new();
                if signals.iter().any(|signal| engine(signal) && !companion(signal)) {
                    names.push("engine");
                }
                if signals.iter().any(companion) {
                    names.push("companion");
                }
                (names, " and ")
            }
        };
        if !signals.iter().all(|signal| engine(signal) || companion(signal)) {
            names.push("embedder");
        }
        names.join(word)
    }
}
