//! What of a run is kept.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;

use super::Listener;
use crate::report::Action;

/// Which entries are kept, of those that are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// Those before the first check of the guest that fails, and as many after it.
    AroundFailure,
}

/// A kind of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register was read.
    Read,
    /// A register was written.
    Write,
    /// The PMU asked for an interrupt, or one was taken.
    Interrupt,
    /// An access was refused.
    Fault,
    /// The PMU froze or went on by itself.
    Freeze,
    /// The PMU froze or went on because of a write.
    FreezeByWrite,
    /// The privilege level, or another part of the context, changed.
    Context,
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// None.
    pub const NONE: Kinds = Kinds(0);

    /// This set with `kind`.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u8)
    }

    /// Whether `kind` is in the set.
    #[must_use]
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }
}

impl Default for Kinds {
    /// All but contexts, and freezes that a write shows already.
    fn default() -> Kinds {
        [Kind::Read, Kind::Write, Kind::Interrupt, Kind::Fault, Kind::Freeze].into_iter().fold(Kinds::NONE, Kinds::with)
    }
}

/// What ends a trace. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// A register is written with a value, or read as it.
    Value {
        /// The manual's name of the register.
        register: String,
        /// The value.
        value: u64,
    },
    /// A check of the guest fails.
    Failure,
    /// A counter asks for an interrupt.
    Overflow,
}

/// What of a run is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// How many entries of each thread at most; with [`Keep::AroundFailure`], on each side of the check.
    pub most: usize,
    /// Which of them.
    pub keep: Keep,
    /// Entries of these kinds.
    pub kinds: Kinds,
    /// Accesses to these registers, by the manual's names; all if there is none.
    pub registers: Vec<String>,
    /// Entries of this thread; of all if there is none.
    pub thread: Option<usize>,
    /// What ends the trace.
    pub until: Option<Until>,
}

impl Choice {
    /// The first `most` entries of each thread.
    #[must_use]
    pub fn first(most: usize) -> Choice {
        Choice { most, ..Choice::default() }
    }

    /// Whether checks of the guest matter.
    #[must_use]
    pub fn looks_at_checks(&self) -> bool {
        self.most != 0 && (self.keep == Keep::AroundFailure || self.until == Some(Until::Failure))
    }

    /// Whether an entry is wanted.
    pub(super) fn wants(&self, action: &Action) -> bool {
        let kind = match action {
            Action::Write { .. } => Kind::Write,
            Action::Read { .. } => Kind::Read,
            Action::Fault { .. } => Kind::Fault,
            Action::Interrupt { .. } | Action::Taken => Kind::Interrupt,
            Action::Freeze { written: false, .. } => Kind::Freeze,
            Action::Freeze { written: true, .. } => Kind::FreezeByWrite,
            Action::Context { .. } => Kind::Context,
            Action::Check { .. } => return true,
        };
        let named = action.register().is_none_or(|name| self.registers.is_empty() || self.registers.iter().any(|one| one == name));
        self.kinds.contains(kind) && named
    }

    /// Whether an entry ends the trace.
    pub(super) fn ends(&self, action: &Action) -> bool {
        match (&self.until, action) {
            (
                Some(Until::Value { register, value }),
                Action::Write { register: name, value: given, .. } | Action::Read { register: name, value: given },
            ) => register == name && value == given,
            (Some(Until::Failure), Action::Check { .. }) | (Some(Until::Overflow), Action::Interrupt { .. }) => true,
            _ => false,
        }
    }
}

/// Knows the checks that a guest reports.
pub trait Checks: Debug + Send + Sync {
    /// A store of `size` bytes to the physical address `address` is done: the first failing check that shows by it.
    fn stored(&self, address: u64, size: u64) -> Option<Action>;
}

/// What the threads of a machine are traced by.
#[derive(Clone, Debug, Default)]
pub struct Tracer {
    pub(super) choice: Choice,
    pub(super) listener: Option<Listener>,
    pub(super) checks: Option<Arc<dyn Checks>>,
    registers: Option<&'static [RegisterDescription]>,
    over: Arc<AtomicBool>,
}

impl Tracer {
    /// Keeps what is chosen.
    #[must_use]
    pub fn new(choice: Choice) -> Tracer {
        Tracer { choice, ..Tracer::default() }
    }

    /// The same, with someone who follows everything, whatever is kept.
    #[must_use]
    pub fn with_listener(self, listener: Option<Listener>) -> Tracer {
        Tracer { listener, ..self }
    }

    /// The same, with the checks of the guest, where they matter.
    #[must_use]
    pub fn with_checks(self, checks: Option<Arc<dyn Checks>>) -> Tracer {
        Tracer { checks, ..self }
    }

    /// The same, where registers have the names of `registers`, those of what is around the threads among them. By default there are those of a
    /// thread alone.
    #[must_use]
    pub fn with_registers(self, registers: &'static [RegisterDescription]) -> Tracer {
        Tracer { registers: Some(registers), ..self }
    }

    /// The registers that accesses are known by.
    pub(super) fn registers<L: InterruptLine>(&self, thread: &Thread<'_, L>) -> &'static [RegisterDescription] {
        self.registers.unwrap_or_else(|| thread.registers())
    }

    /// On some thread it happened that ends the trace, or around which it is.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
