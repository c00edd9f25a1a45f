//! Litmus files: small readable programs that drive a PMU and state what must be observed.
//!
//! A file is a header of `key: value` lines and then one statement per line. `#` begins a comment, at the beginning of a line or after a
//! blank, but not before a capital letter as in `#GP`. The book's chapter on litmus files describes every statement. The same text checks a
//! rule of a manual, replays a bug report and prints what a fuzzer found. A file can have loops over tables of values, and several
//! programs, each of which is a [`Case`].
//!
//! ```
//! use vm_pmu::litmus::Litmus;
//!
//! let text = "
//! title: A counter overflows when it wraps to zero
//! pmu: k8
//! section: AMD BKDG 10.1
//!
//! write PerfCtr0 -2
//! write PerfEvtSel0 0x5200c0      # INT, EN, OS, retired instructions
//! repeat 2 feed instructions_retired=1
//! interrupts 0
//! read PerfCtr0 = 0
//! ";
//! let litmus: Litmus = text.parse().unwrap();
//! assert_eq!(litmus.run(), Ok(2)); // two expectations checked
//! ```

mod beginning;
mod case;
mod collection;
mod dialect;
#[cfg(feature = "arbitrary")]
mod encode;
mod execution;
mod expand;
#[cfg(feature = "arbitrary")]
mod generate;
mod levels;
mod mistake;
#[cfg(feature = "arbitrary")]
mod mutate;
mod nest;
mod nested;
mod number;
mod parse;
mod print;
mod record;
mod request;
mod run;
mod shrink;
#[cfg(feature = "snapshot")]
mod span;
mod subject;
mod trial;
mod untile;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{NestedStep, Record, Records, Request, Signal};
use vm_pmu_arch::model::{Occurrence, Reset};
use vm_pmu_arch::registry::Part;

pub use beginning::Beginning;
pub use case::Case;
pub use collection::{CollectionStep, Posted};
pub use dialect::{ContextField, PartField};
#[cfg(feature = "recording")]
pub(crate) use dialect::{changes, topmost};
#[cfg(feature = "arbitrary")]
pub use encode::DecodeError;
pub use execution::Execution;
pub use mistake::ParseError;
#[cfg(feature = "arbitrary")]
pub use mutate::{Maker, random_bytes};
pub use nest::{ChipSetting, Chips, MemoryPlace, NestStep};
pub use run::Failure;
#[cfg(feature = "recording")]
pub(crate) use run::Run;
pub use trial::{Broken, Trial};
pub use untile::{Configuration, MeshStep, UntileStep};

/// A litmus file: its subject, the machine it needs, and its statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Litmus {
    /// The rule that it checks, in one line.
    pub title: String,
    /// The section of the manual, or other source, that states the rule.
    pub section: String,
    /// The part, in the revision that the header names, or in the default one.
    pub part: Part,
    /// How many packages the machine has.
    pub packages: usize,
    /// How many threads a package has.
    pub threads: usize,
    /// Whether counters stay usable while another thread uses them for the package's unit.
    pub shared_counters: bool,
    /// Where it begins and what its embedder supplies, where that is not the usual.
    pub beginning: Beginning,
    /// The statements, each with its line in the file.
    pub steps: Vec<(usize, Step)>,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum Step {
    /// `thread N`: what follows is done by that thread.
    Thread(usize),
    /// `context FIELD=VALUE ...`: the thread's state changes.
    Context(Vec<(ContextField, u64)>),
    /// `write REGISTER VALUE [faults FAULT]`.
    Write(Address, u64, Option<Fault>),
    /// `read REGISTER = VALUE` or `read REGISTER faults FAULT`.
    Read(Address, Result<u64, Fault>),
    /// `[repeat N] feed SIGNAL=AMOUNT ...`: an instruction that does all of it, N times; deadlines are honoured. If the demand asks for a
    /// record, an empty one at address 0 is reported.
    Feed(u64, Vec<(Signal, u64)>),
    /// `[repeat N] record KEY=VALUE ... [feed SIGNAL=AMOUNT ...]`: the same, where more is known of the instruction.
    Record(u64, Box<Record>, Vec<(Signal, u64)>),
    /// `[repeat N] request KIND KEY=VALUE ...`: a request of this thread leaves its core's caches, N times; it is reported if the demand
    /// asks for requests.
    Request(u64, Request),
    /// `nested KIND KEY=VALUE ...`: a table walker makes a step of a nested translation; it is reported if the demand asks for such steps.
    Nested(NestedStep),
    /// `devices SIGNAL=AMOUNT ...`: the same as `feed`, done by the devices of the current thread's package.
    Devices(Vec<(Signal, u64)>),
    /// `inject SELECT[/UMASK] AMOUNT`: an event without a signal.
    Inject(Occurrence, u64),
    /// `interrupts NONE | COUNTER ...`: the requests of this thread since the last such line, in order.
    Interrupts(Vec<u32>),
    /// `lines interrupt=LEVEL branch=LEVEL`: the levels of the lines that stay raised.
    Lines(Lines),
    /// `late N`: the largest number of events by which an interrupt of this thread came too late, since the last such line.
    Late(u64),
    /// `watch PINS`: deadlines at every toggle of these pins.
    Watch(u32),
    /// `pins none | PIN ...`: the pins of this thread that were reported to have toggled since the last such line, one bit each.
    Pins(u32),
    /// `pin N toggles COUNT`.
    Pin(u32, u64),
    /// `demand none | SIGNAL ... [per_cycle]`: exactly these signals are wanted.
    Demand(Vec<Signal>, bool),
    /// `records none | at_deadline | taken_branches | branches | memory | fetches | every | requests | nested | sampled_addresses |
    /// sampled_outcomes ...`: the demand
    /// asks for records of exactly these instructions, and whether for requests and for outcomes of sampled instructions.
    Records(Records),
    /// `match none | VALUE MASK`: the instructions that are to be matched.
    Match(Option<(u64, u64)>),
    /// `epoch moved | same`: whether the demand's epoch differs from that at this thread's last such line, or at the start. A `save` starts
    /// again: another machine has its own epochs.
    Epoch(bool),
    /// `deadline SIGNAL never | in DISTANCE`.
    Deadline(Signal, Option<u64>),
    /// `save`: the machine is saved and restored into a new one.
    Save,
    /// `reset cold | warm`.
    Reset(Reset),
    /// A statement about the boxes that all threads share.
    Untile(UntileStep),
    /// A statement about the nest of a chip, whose counters post themselves into memory.
    Nest(NestStep),
    /// `inject package SELECT[/UMASK] AMOUNT`: an event of the whole package without a signal.
    InjectPackage(Occurrence, u64),
    /// `levels SIGNAL=LEVEL ...`: which of these states hold right now, 1, or do not, 0, and no other is known; it is supplied if the demand asks
    /// for levels.
    Levels(Vec<(Signal, bool)>),
    /// A statement about what the core of the current thread posts into memory.
    Collection(CollectionStep),
}

impl Litmus {
    /// At most how much it adds to a total.
    pub(crate) fn events(&self) -> u64 {
        self.steps.iter().map(|(_, step)| step.work()).fold(0, |sum, (times, each)| sum.saturating_add(each.saturating_mul(times)))
    }
}

impl Step {
    /// How often it does something, and at most how much that adds to totals each time.
    pub(crate) fn work(&self) -> (u64, u64) {
        let sum = |signals: &[(Signal, u64)]| signals.iter().fold(0u64, |sum, (_, amount)| sum.saturating_add(*amount));
        match self {
            Step::Feed(times, signals) | Step::Record(times, _, signals) => (*times, sum(signals)),
            Step::Devices(signals) => (1, sum(signals)),
            Step::Request(times, _) => (*times, 0),
            Step::Inject(_, amount) | Step::InjectPackage(_, amount) => (1, *amount),
            Step::Untile(step) => (1, untile::events(step)),
            Step::Nest(step) => nest::work(step),
            Step::Collection(CollectionStep::Inject(_, amount)) => (1, *amount),
            _ => (1, 0),
        }
    }

    /// Whether it only states what must be observed, and does nothing to a machine. A read is none: it can change what it reads.
    #[must_use]
    pub fn is_expectation(&self) -> bool {
        match self {
            Step::Interrupts(_)
            | Step::Lines(_)
            | Step::Late(_)
            | Step::Pins(_)
            | Step::Demand(..)
            | Step::Records(_)
            | Step::Match(_)
            | Step::Epoch(_)
            | Step::Deadline(..) => true,
            Step::Thread(_)
            | Step::Context(_)
            | Step::Write(..)
            | Step::Read(..)
            | Step::Feed(..)
            | Step::Record(..)
            | Step::Request(..)
            | Step::Nested(_)
            | Step::Devices(_)
            | Step::Inject(..)
            | Step::InjectPackage(..)
            | Step::Levels(_)
            | Step::Watch(_)
            | Step::Pin(..)
            | Step::Save
            | Step::Reset(_)
            | Step::Untile(_)
            | Step::Nest(_)
            | Step::Collection(_) => false,
        }
    }
}
