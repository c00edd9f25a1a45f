//! What supplies the signals and records that drive an event, and which word that warrants.
//!
//! The tables of an engine's glue name what the engine supplies ([`x86::supplies`] and those of [`power`] and [`ia64`]), and the
//! companion's profile names what the companion supplies ([`Companion::supplies`]). [`records`] has what either reports of a sampled
//! instruction.

mod embedder;
pub mod records;

pub use embedder::Embedder;

use vm_pmu::arch::event::{Drive, Entry, Fidelity, Initiator, Internal, When};
use vm_pmu::companion::{Builder, Companion};
use vm_pmu::{Part, Records, Signal, SignalSet, Supply, companion};
use vm_pmu_board::{ia64, power, x86};

use super::driven;

/// What an engine supplies by its own rule, which another emulator need not share: no event of these is exact.
const BY_RULE: &[Signal] = &[
    Signal::MicroOpsRetired,
    Signal::MicrocodedOpsRetired,
    Signal::RetirementCycles,
    Signal::InherentExecutionCycles,
    Signal::FloatingPointOperationsLow,
    Signal::FloatingPointOperationsHigh,
    Signal::AdvancedLoadReplacementsInteger,
    Signal::AdvancedLoadReplacementsFloatingPoint,
    Signal::InstructionFetches,
    Signal::DataCacheAccesses,
    Signal::FloatingPointIdleCycles,
    Signal::SelfModifyingCodeRestarts,
    Signal::ThreadSwitchesTimer,
    Signal::ThreadSwitchesThirdLevelMiss,
];

/// Whether the engine that executes the guests of `part` supplies `signal`.
fn engine_supplies(part: Part, signal: Signal) -> bool {
    match part {
        Part::Power9(_) => power::supplies(signal),
        Part::Itanium(_) | Part::Montecito(_) => ia64::supplies(signal),
        Part::K8(_) | Part::Knl(_) => x86::supplies(signal),
    }
}

/// What the engine that executes the guests of `part` supplies and records, together with the companion that follows it, if any does.
///
/// ```
/// use vm_pmu::{Part, Signal, companion};
/// use vm_pmu_lab::entries::known::supply;
///
/// let part = Part::named("power9").unwrap();
/// assert!(!supply(part, None).signals.contains(Signal::DataCacheLoadMisses));
/// assert!(supply(part, companion::Builder::new("power9").ok().as_ref()).signals.contains(Signal::DataCacheLoadMisses));
/// ```
#[must_use]
pub fn supply(part: Part, companion: Option<&companion::Builder>) -> Supply {
    let made = companion.map_or(SignalSet::EMPTY, companion::Builder::supplied);
    let told = companion.map_or(Records::NONE, |_| Records::REQUESTS.with(Records::NESTED));
    let own = match part {
        // These parts do not sample single instructions.
        Part::K8(_) | Part::Knl(_) => Records::NONE,
        Part::Power9(_) | Part::Itanium(_) | Part::Montecito(_) => Records::EVERY,
    };
    let signals = Signal::all().filter(|signal| engine_supplies(part, *signal)).collect::<SignalSet>();
    Supply { signals: signals.union(&made), records: own.with(told) }
}

/// What an embedder of one part and its companion can report. Another embedder reports anything else.
#[derive(Debug)]
pub struct Known {
    part: Part,
    embedder: Embedder,
    own: SignalSet,
    companion: Option<Companion>,
}

impl Known {
    /// What the laboratory reports of this part, with the companion, which keeps the time.
    #[must_use]
    pub fn of(part: Part) -> Known {
        Known::on(Embedder::Lab, part)
    }

    /// What `embedder` reports of this part.
    ///
    /// ```
    /// use vm_pmu::arch::event::Fidelity;
    /// use vm_pmu::Part;
    /// use vm_pmu_lab::entries::known::{Embedder, Known};
    ///
    /// let part = Part::named("k8").unwrap();
    /// let stalls = part.catalogue().named("DISPATCH_STALLS").unwrap();
    /// assert_eq!(Known::on(Embedder::Qemu, part).warrants(stalls), Fidelity::Embedder);
    /// assert_eq!(Known::on(Embedder::QemuTime, part).warrants(stalls), Fidelity::Approximate);
    /// ```
    #[must_use]
    pub fn on(embedder: Embedder, part: Part) -> Known {
        let companion = embedder.clock().and_then(|clock| Some(Builder::new(part.name()).ok()?.clock(clock).build()));
        Known { part, embedder, own: embedder.supplies(part), companion }
    }

    /// Whether the embedder supplies `signal` itself, in the laboratory its engine.
    ///
    /// ```
    /// use vm_pmu::{Part, Signal};
    /// use vm_pmu_lab::entries::known::Known;
    ///
    /// let supplies = |part: &str, signal| Known::of(Part::named(part).unwrap()).engine_supplies(signal);
    /// assert!(supplies("k8", Signal::FarTransfers) && !supplies("itanium", Signal::FarTransfers));
    /// ```
    #[must_use]
    pub fn engine_supplies(&self, signal: Signal) -> bool {
        self.own.contains(signal)
    }

    /// Whether the companion of the part supplies `signal`.
    #[must_use]
    pub fn companion_supplies(&self, signal: Signal) -> bool {
        self.companion.as_ref().is_some_and(|companion| companion.supplies(signal))
    }

    /// Whether the companion of the part makes `signal` of what an embedder tells it of devices, and of nothing else.
    #[must_use]
    pub fn is_of_devices_alone(&self, signal: Signal) -> bool {
        self.companion.as_ref().is_some_and(|companion| companion.supplied().contains(signal) && !companion.supplies(signal))
    }

    /// The signals of `entry` that neither engine nor companion supplies, in their order. The companion makes those of devices of what an
    /// embedder tells it.
    ///
    /// ```
    /// use vm_pmu::{Part, Signal};
    /// use vm_pmu_lab::entries::known::Known;
    ///
    /// let part = Part::named("k8").unwrap();
    /// let event = part.catalogue().named("RETIRED_BRANCH_RESYNCS").unwrap();
    /// assert_eq!(Known::of(part).left_out(event), [Signal::PipelineResyncs]);
    /// ```
    #[must_use]
    pub fn left_out(&self, entry: &Entry) -> Vec<Signal> {
        let made = |signal: &Signal| match entry.initiator {
            Initiator::Other => self.companion.as_ref().is_some_and(|companion| companion.supplies_of_devices(*signal)),
            _ => self.engine_supplies(*signal) || self.companion_makes(*signal),
        };
        let mut signals = driven::sources(entry);
        signals.retain(|signal| !made(signal));
        signals
    }

    fn companion_makes(&self, signal: Signal) -> bool {
        self.companion_supplies(signal) || self.is_of_devices_alone(signal)
    }

    /// The best word that what drives `entry` warrants; of an event with unit masks, the best of theirs. An event of which a part is
    /// supplied warrants *approximate*.
    ///
    /// ```
    /// use vm_pmu::Part;
    /// use vm_pmu::arch::event::Fidelity;
    /// use vm_pmu_lab::entries::known::Known;
    ///
    /// let part = Part::named("power9").unwrap();
    /// let warranted = |name: &str| Known::of(part).warrants(part.catalogue().event_named(name).unwrap());
    /// assert_eq!(warranted("PM_BR_CMPL"), Fidelity::Exact);
    /// assert_eq!(warranted("PM_DATA_FROM_L3"), Fidelity::Approximate);
    /// assert_eq!(warranted("PM_MRK_FAB_RSP_BKILL"), Fidelity::Embedder);
    /// ```
    #[must_use]
    pub fn warrants(&self, entry: &Entry) -> Fidelity {
        let masks = if entry.umask.is_none() { self.part.catalogue().masks(entry) } else { &[] };
        let listed = masks.iter().filter(|mask| mask.listed).map(|mask| self.of_leaf(mask)).min();
        listed.or_else(|| masks.iter().map(|mask| self.of_leaf(mask)).min()).unwrap_or_else(|| self.of_leaf(entry))
    }

    /// The word that holds for `entry` on this embedder: never a better one than the catalogue's. Of an event with unit masks, the best of
    /// theirs.
    #[must_use]
    pub fn word(&self, entry: &Entry) -> Fidelity {
        self.words(entry).next().unwrap_or(entry.fidelity)
    }

    /// The words that hold for the unit masks of an event, each once, the best first; its own, if it has none.
    pub fn words(&self, entry: &Entry) -> impl Iterator<Item = Fidelity> + use<> {
        let catalogue = self.part.catalogue();
        let masks = if entry.umask.is_none() { catalogue.masks(entry) } else { &[] };
        let here = |entry: &Entry| self.of_leaf(entry).max(entry.fidelity);
        let found: Vec<Fidelity> = match self.embedder {
            Embedder::Lab => catalogue.fidelities(entry).collect(),
            _ if masks.iter().any(|mask| mask.listed) => masks.iter().filter(|mask| mask.listed).map(here).collect(),
            _ => vec![here(entry)],
        };
        Fidelity::ALL.into_iter().filter(move |word| found.contains(word))
    }

    fn of_leaf(&self, entry: &Entry) -> Fidelity {
        let made = match entry.drive {
            _ if !self.embedder.feeds(entry) => Fidelity::Embedder,
            Drive::Internal(internal) => of_model(internal),
            Drive::Sampled { tests, amount } => records::fidelity(tests, amount),
            Drive::Signals => self.of_signals(entry),
        };
        // The engine of POWER has no external interrupts.
        if entry.when.contains(&When::ExternalPending) { made.max(Fidelity::Embedder) } else { made }
    }

    fn of_signals(&self, entry: &Entry) -> Fidelity {
        let signals = driven::sources(entry);
        match self.left_out(entry).len() {
            _ if signals.is_empty() => Fidelity::Injected,
            left if left == signals.len() => Fidelity::Embedder,
            0 if signals.iter().all(|signal| self.engine_supplies(*signal) && !BY_RULE.contains(signal)) => Fidelity::Exact,
            _ => Fidelity::Approximate,
        }
    }

    /// What reports `entry`: the source of its signals, the records of instructions, requests, or the model itself. Empty for what is
    /// only injected.
    #[must_use]
    pub fn of_entry(&self, entry: &Entry) -> String {
        match entry.drive {
            Drive::Signals if entry.initiator == Initiator::Other && !entry.signals.is_empty() => "embedder".to_owned(),
            Drive::Signals => self.by(&driven::sources(entry)),
            Drive::Internal(Internal::Request | Internal::Nested(_)) => "companion".to_owned(),
            Drive::Internal(Internal::Device) => "devices of an embedder".to_owned(),
            Drive::Sampled { tests, amount } if records::fidelity(tests, amount) == Fidelity::Embedder => {
                "records of an embedder".to_owned()
            }
            Drive::Sampled { .. } => "records".to_owned(),
            Drive::Internal(_) => "model".to_owned(),
        }
    }

    /// What reports the sum of these signals: `engine`, `companion`, either, both together, or one of them with an embedder that knows
    /// more. Empty where there is no signal.
    ///
    /// ```
    /// use vm_pmu::{Part, Signal};
    /// use vm_pmu_lab::entries::known::Known;
    ///
    /// let known = Known::of(Part::named("k8").unwrap());
    /// assert_eq!(known.by(&[Signal::InstructionsRetired]), "engine");
    /// assert_eq!(known.by(&[Signal::BranchesMispredicted, Signal::FarTransfers]), "engine and companion");
    /// assert_eq!(known.by(&[Signal::UpstreamReads]), "devices of an embedder");
    /// ```
    #[must_use]
    pub fn by(&self, signals: &[Signal]) -> String {
        if !signals.is_empty() && signals.iter().all(|signal| self.is_of_devices_alone(*signal)) {
            return "devices of an embedder".to_owned();
        }
        let companion = |signal: &Signal| self.companion_makes(*signal);
        let engine = |signal: &Signal| self.engine_supplies(*signal);
        let (mut names, word) = match (signals.iter().all(engine), signals.iter().all(companion)) {
            _ if signals.is_empty() => return String::new(),
            (true, true) => (vec![self.embedder.name(), "companion"], " or "),
            (true, false) => (vec![self.embedder.name()], " and "),
            (false, true) => (vec!["companion"], " and "),
            (false, false) => {
                let mut names = Vec::new();
                if signals.iter().any(|signal| engine(signal) && !companion(signal)) {
                    names.push(self.embedder.name());
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

/// How nearly a model makes by itself what only it can know.
const fn of_model(internal: Internal) -> Fidelity {
    match internal {
        // Its clocks are as fast as the glue lets them be, captures are of accesses that are drawn or of misses that the companion has, and
        // times between stages are those of records.
        Internal::Clock
        | Internal::Request
        | Internal::Device
        | Internal::Nested(_)
        | Internal::DataAddressCapture
        | Internal::InstructionAddressCapture
        | Internal::QualifiedCycles
        | Internal::TimeBaseBit
        | Internal::Rewind(_)
        | Internal::Saved(_)
        | Internal::ThresholdMet
        | Internal::ThresholdNotMet
        | Internal::ThresholdExceeded(_)
        | Internal::ThresholdAccumulated => Fidelity::Approximate,
        Internal::Posting
        | Internal::Suspended
        | Internal::Never
        | Internal::Overflow(_)
        | Internal::TraceEntry
        | Internal::PrivilegeChange(_)
        | Internal::TaggedInstructions(_) => Fidelity::Exact,
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::arch::event::{Amount, Test};
    use vm_pmu::arch::registry::NAMES;

    use vm_pmu::companion::Clock;

    use super::*;

    #[test]
    fn an_engine_with_a_companion_supplies_what_either_does() {
        for part in NAMES.iter().map(|name| Part::named(name).unwrap()) {
            let known = Known::of(part);
            let builder = Builder::new(part.name()).unwrap().clock(Clock::Companion);
            let (alone, together) = (supply(part, None), supply(part, Some(&builder)));
            for signal in Signal::all() {
                assert_eq!(alone.signals.contains(signal), known.engine_supplies(signal), "{signal:?}");
                // Accesses of devices are reported to the companion; no follower makes their signals.
                let either = known.engine_supplies(signal) || known.companion_makes(signal);
                assert_eq!(together.signals.contains(signal), either, "{signal:?}");
            }
        }
    }

    #[test]
    fn sources_of_data_are_told_where_the_companion_supplies_their_loads() {
        let known = Known::of(Part::named("power9").unwrap());
        for (code, signal) in [
            (0x00, Signal::LoadsFromL2),
            (0x04, Signal::LoadsFromL3),
            (0x14, Signal::LoadsFromOtherPackageClean),
            (0x15, Signal::LoadsFromOtherPackageModified),
            (0x19, Signal::LoadsFromOtherCoreModified),
            (0x1B, Signal::LoadsFromLocalMemory),
            (0x1D, Signal::LoadsFromRemoteMemory),
        ] {
            let reported = records::fidelity(&[Test::Load, Test::Source(1 << code)], Amount::Latency) == Fidelity::Approximate;
            assert_eq!(reported, known.companion_supplies(signal), "{code:#x}");
        }
    }
}
