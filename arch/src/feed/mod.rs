//! What an emulator reports, and what the model asks of it.
//!
//! Counting is pulled. The embedder adds to [`Totals`] where it executes; a model remembers the totals up to which it has counted, and
//! subtracts. The model in turn writes [`Deadlines`]: totals at which something becomes visible to the guest. Between two deadlines,
//! register accesses and changes of [`Context`], the model is not called at all.
//!
//! # Steps and cycles
//!
//! The time between two calls of the model is one *step*: `c` cycles elapsed, and each signal grew by some amount. Plain counting needs
//! nothing else. Counter masks, inversion and edge detection depend on single cycles, and an emulator that is not cycle-accurate has
//! none. So a step has this fixed meaning:
//!
//! 1. One cycle is open when the step begins. The events of the step ([`Kind::Event`] and [`Kind::Level`]) occur in that cycle.
//! 2. The cycles of the step then end, one after the other. The first one has the events; the others have none.
//! 3. A step of no cycles leaves its events in the open cycle, which the next step ends.
//! 4. The `n` cycles of a state ([`Kind::State`]) are the last `n` of the step's.
//! 5. [`Demand::levels`] asks whether a state held before a counter of its edges started. A state that is not reported is at rest.
//!
//! A model that must see single cycles sets the deadline of [`Signal::Cycles`] one cycle ahead. An embedder that serves deadlines then
//! makes every step as fine as its own clock, and the guest cannot see how it batches. An embedder that simulates cycles gets
//! cycle-accurate masks and edges from the same rule.
//!
//! An embedder that advances a thread by many cycles without events, all in the same states, can [promise](Feed::steady) so. What the cycles
//! count then follows from one of them, and they are one step up to the next overflow.

mod cells;
mod context;
mod deadlines;
mod demand;
mod nested;
mod record;
mod records;
mod request;
mod sample;
mod section;
mod set;
mod signal;
mod supply;
mod totals;

pub use cells::{Make, Vocabulary};
pub use context::Context;
pub use deadlines::{Deadlines, Pace};
pub use demand::Demand;
pub use nested::{GuestLevel, NestedStep, NestedWalk, PageSize};
pub use record::{Branch, BranchKind, DataSource, Fetch, Memory, Prediction, Record, Translation};
pub use records::{Occasion, Records};
pub use request::{HeldAs, Request, RequestKind, Snoop, Supplier};
pub use sample::{ExecutionUnit, Fabric, FabricCommand, FetchSource, Flush, LineStates, Sample, Stage, Stages, StoreOutcome, Traits};
pub use section::Section;
pub use set::SignalSet;
pub use signal::{Kind, Signal, Unit};
pub use supply::Supply;
pub use totals::Totals;

use crate::atomic::AtomicU64;

/// What a counter covers: a hardware thread, or what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Scope {
    /// The thread only.
    #[default]
    Thread,
    /// Every thread of its package, and the package's own units.
    Package,
    /// Every thread of its package.
    Threads,
    /// Its package's own units only.
    Devices,
    /// Some of the first 32 threads of its package, one bit each.
    Members(u32),
}

/// A hardware thread as a model sees it: totals to subtract, deadlines to set.
///
/// [`Lone`] is the simplest: one thread and nothing around it. The crate `vm-pmu` has one for a thread within a machine.
pub trait Feed {
    /// The total of `signal` over `scope`, which never shrinks.
    fn total(&self, signal: Signal, scope: Scope) -> u64;

    /// Asks to be serviced when `signal` has grown by `allowance` since its total over `scope` was `base`; the nearest of several
    /// requests applies. An allowance of a wide scope is divided among the arrays it covers, so that they cannot overrun it together.
    fn arm(&self, signal: Signal, scope: Scope, base: u64, allowance: u64);

    /// Cancels what was asked for `signal` within `scope`.
    fn disarm(&self, signal: Signal, scope: Scope);

    /// What the embedder reports at all: a model waits for nothing else.
    #[inline]
    fn supply(&self) -> &Supply {
        const { &Supply::ALL }
    }

    /// Whether `signal` is ever added to.
    #[inline]
    fn supplies(&self, signal: Signal) -> bool {
        self.supply().signals.contains(signal)
    }

    /// The states in which every cycle of `clock` is spent until the next call of the model, as long as the embedder promises that none of
    /// these cycles has an event. A model then sets its deadlines where something becomes visible, and needs no single cycles before.
    #[inline]
    fn steady(&self, _clock: Scope) -> Option<&SignalSet> {
        None
    }

    /// Whether `signal` never grows [within a block](Pace::between_blocks): its deadline costs nothing until it does.
    #[inline]
    fn comes_between_blocks(&self, _signal: Signal) -> bool {
        false
    }
}

/// One hardware thread with nothing around it: every scope is the thread itself.
///
/// ```
/// use vm_pmu_arch::feed::{Feed, Lone, Scope, Signal};
///
/// let thread = Lone::new();
/// thread.totals.add(Signal::Loads, 3);
/// thread.arm(Signal::Loads, Scope::Thread, 3, 10);
/// assert_eq!(thread.deadlines.get(Signal::Loads), 13);
/// ```
///
/// It has every signal. Where memory is short, one [of a part](Lone::of) has the part's.
#[derive(Debug)]
pub struct Lone<const OWN: usize = { Vocabulary::Every.own_cells() }, const DEADLINES: usize = { Vocabulary::Every.deadline_cells() }> {
    /// The totals so far.
    pub totals: Totals<[AtomicU64; OWN]>,
    /// When the model must be serviced.
    pub deadlines: Deadlines<[AtomicU64; DEADLINES]>,
}

impl Lone {
    /// A thread that has every signal. Its totals are zero, and it has no deadline.
    #[must_use]
    pub const fn new() -> Lone {
        Lone::of(Vocabulary::Every)
    }
}

impl Default for Lone {
    fn default() -> Self {
        Lone::new()
    }
}

impl<const OWN: usize, const DEADLINES: usize> Lone<OWN, DEADLINES> {
    /// A thread that has the signals of `vocabulary`. Its totals are zero, and it has no deadline.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Feed, Lone, Scope, Signal, Vocabulary};
    ///
    /// const K8: Vocabulary = Vocabulary::K8;
    /// static THREAD: Lone<{ K8.own_cells() }, { K8.deadline_cells() }> = Lone::of(K8);
    /// assert!(size_of_val(&THREAD) <= 4096);
    /// THREAD.totals.add(Signal::DramPageHits, 1);
    /// THREAD.totals.add(Signal::StallDecimalCycles, 1); // POWER9's
    /// assert_eq!(THREAD.total(Signal::DramPageHits, Scope::Thread), 1);
    /// assert_eq!(THREAD.total(Signal::StallDecimalCycles, Scope::Thread), 0);
    /// ```
    #[must_use]
    pub const fn of(vocabulary: Vocabulary) -> Self {
        Lone { totals: Totals::of(vocabulary), deadlines: Deadlines::of(vocabulary, Pace::new(Signal::Cycles, 4)) }
    }
}

impl<const OWN: usize, const DEADLINES: usize> Feed for Lone<OWN, DEADLINES> {
    #[inline]
    fn total(&self, signal: Signal, _scope: Scope) -> u64 {
        self.totals.get(signal)
    }

    fn arm(&self, signal: Signal, _scope: Scope, base: u64, allowance: u64) {
        self.deadlines.lower_own(signal, base.saturating_add(allowance), &self.totals);
    }

    fn disarm(&self, signal: Signal, _scope: Scope) {
        self.deadlines.set_own(signal, Deadlines::NEVER, &self.totals);
    }
}
