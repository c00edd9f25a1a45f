//! What every PMU model can do, whatever its registers.

use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::event::Catalogue;
use crate::feed::{Context, Demand, Feed, Record, Request, Signal, SignalSet};
use crate::layout::Field;

/// Something that happened, named as a guest would select it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occurrence {
    /// The event select.
    pub select: u32,
    /// The unit mask bits that describe it: one bit of a set, one bit of each group of fields, or an ordinal; 0 where the event has none.
    pub umask: u32,
}

/// How an x86 part shows itself by CPUID: drivers find a PMU that no feature bit announces by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuidIdentity {
    /// The vendor, as functions 0 and 8000_0000h spell it in EBX, EDX and ECX.
    pub vendor: [u8; 12],
    /// Family, model and stepping, as functions 1 and 8000_0001h have them in EAX.
    pub signature: u32,
    /// Leaf 0Ah, architectural performance monitoring, as EAX, EBX, ECX and EDX; nothing for a part without it.
    pub monitoring: Option<[u32; 4]>,
}

/// What the threads of a package see of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shared {
    /// A register that the package has once.
    pub register: u64,
    /// The thread's number within the package.
    pub thread: u8,
    /// How many threads the package has.
    pub threads: u8,
    /// The threads that run, one bit each: on POWER those with their run latch set.
    pub running: u32,
    /// One thing more that others must know of a thread, one bit each: on x86 that it is at a privilege level above 0, on Montecito that
    /// its ranges or opcodes constrain something.
    pub user: u32,
}

impl Shared {
    /// A thread alone in its package.
    pub const ALONE: Shared = Shared { register: 0, thread: 0, threads: 1, running: 0, user: 0 };
}

impl Default for Shared {
    fn default() -> Self {
        Shared::ALONE
    }
}

/// How a reset came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reset {
    /// Power came on.
    Cold,
    /// The power stayed on: what the part keeps then, it keeps.
    Warm,
}

/// A register, for whoever shows registers.
#[derive(Clone, Copy, Debug)]
pub struct RegisterDescription {
    /// The manual's name.
    pub name: &'static str,
    /// Its address.
    pub address: Address,
    /// Its fields.
    pub fields: &'static [Field],
}

/// One hardware thread's PMU.
///
/// The embedder keeps these habits, and everything else follows:
///
/// - it adds to its totals what it executes, all signals of one instruction before it looks at a deadline;
/// - when a total reaches its deadline it calls [`service`](Model::service) before the next instruction, and before that
///   [`record`](Model::record) where the demand asks for records;
/// - before a guest's register access it brings the totals up to the instructions before the accessing one;
/// - it calls [`set_context`](Model::set_context) when something in the [`Context`] changes;
/// - where the demand then asks for [levels](Demand::levels) it tells them;
/// - after each call it takes the [`Alerts`] and delivers the interrupts in them.
pub trait Model {
    /// Whether the threads of a machine share boxes of counters: Knights Landing's untile.
    const HAS_UNTILE: bool = false;
    /// Whether the chip has counters that post themselves into memory: POWER9's nest.
    const HAS_NEST: bool = false;
    /// Whether a package of a machine posts what its threads count into memory: the collection of a POWER9's core.
    const POSTS_TO_MEMORY: bool = false;
    /// How many threads a package may have. `None` where nothing of the model depends on their number.
    const PACKAGE_THREADS: Option<&'static [usize]> = None;
    /// How many packages a machine may have at most. `None` where nothing of the model depends on their number.
    const MOST_PACKAGES: Option<usize> = None;
    /// Whether a counter that one thread of a package uses is taken from the others: [`claims`](Model::claims).
    const SHARES_COUNTERS: bool = false;

    /// Reads a register.
    ///
    /// # Errors
    /// The [`Fault`] that the access raises.
    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault>;

    /// Writes a register.
    ///
    /// # Errors
    /// The [`Fault`] that the access raises; then nothing is written.
    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault>;

    /// Counts what has happened up to now, and sets new deadlines.
    fn service(&mut self, feed: &impl Feed);

    /// Tells the model the thread's new state. What happened before this call happened in the old one.
    fn set_context(&mut self, context: Context, feed: &impl Feed);

    /// Takes over the thread's new state if nobody but this thread's counters can know: some stop and some begin, but nothing is demanded, made or
    /// alerted. What the thread [shares](Model::shared) may change where nobody `hears` it. Returns whether it did; if not, some have at most
    /// counted up to now, and [`set_context`](Model::set_context) has to be called.
    fn change_quietly(&mut self, _context: &Context, _hears: bool, _feed: &impl Feed) -> bool {
        false
    }

    /// The bits of [`Context::machine_state`] that must be told by [`set_context`](Model::set_context) when they change, until the demand is looked at
    /// anew; all of them where the privilege level must be and none of them says it. A change of other bits, or of the level where there are none, may
    /// wait until the next call but [`service`](Model::service) or [`record`](Model::record). What else a context has is told always.
    fn sensitivity(&self) -> u64 {
        u64::MAX
    }

    /// Whether it makes no difference in which order contexts come until the next deadline: what is counted in each of them adds up. Then an embedder may tell
    /// what went by in all stays in one context at once, and after it all in another. It holds for contexts that were told since a register was accessed
    /// last and that differ in the privilege level and [`Context::machine_state`] alone. Asked behind [`set_context`](Model::set_context) and [`change_quietly`](Model::change_quietly); any other call may make it untrue.
    fn contexts_add_up(&self) -> bool {
        false
    }

    /// The thread's state as the model knows it.
    fn context(&self) -> &Context;

    /// Something happened `amount` times (or for `amount` cycles) that no signal tells. Returns whether some counter took it.
    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool;

    /// One instruction, where [`Demand::records`] asks for it: after its signals have been added, before [`service`](Model::service) if a
    /// deadline has been reached. It may count and alert as `service` does.
    fn record(&mut self, record: &Record, feed: &impl Feed);

    /// What must be reported at the moment. It may hold more than is counted for a while, where a freeze is likely to be soon over.
    fn demand(&self) -> &Demand;

    /// The signals that counters follow, whether anybody [supplies](Feed::supply) them or not: the demand names those that are.
    fn followed(&self) -> SignalSet;

    /// The levels of the states that [`Demand::levels`] asks for: `holds` says whether a state holds right now, and nothing if nobody knows. It
    /// is told before anything else happens; of what is told later or not at all, the rest is assumed.
    fn supply_levels(&mut self, _holds: impl Fn(Signal) -> Option<bool>, _feed: &impl Feed) {}

    /// The signals that counters of this thread follow beyond it: every thread within their scope must report them.
    fn wide_demand(&self) -> SignalSet {
        SignalSet::EMPTY
    }

    /// Whether counters of this thread count what instructions of the package's other threads do, as far as those instructions are
    /// tagged: every thread within its package must then record each instruction, and what it was [tagged](Model::tags_of) for comes
    /// here by [`hear`](Model::hear).
    fn wide_records(&self) -> bool {
        false
    }

    /// What the thread's own address ranges and opcode matchers make of an instruction that it executed, as a word that means something
    /// to models of the same part. It is asked for each while records of all are wanted: what is injected next belongs to the
    /// instruction.
    fn tags_of(&mut self, _record: &Record) -> u64 {
        0
    }

    /// Whether counters of this thread count what another thread of the package is [injected](Model::overhear) or its model
    /// [makes](Model::take_made).
    fn overhears(&self) -> bool {
        false
    }

    /// What the model itself made of the last call that counters of other threads may count, as a word that means something to models of
    /// the same part: captures, changes of the privilege level. 0 is nothing.
    fn take_made(&mut self) -> u64 {
        0
    }

    /// Another thread of the package executed an instruction, after its signals were added, that is tagged so; of it, or where there are
    /// no tags of a change of its context, its model [made](Model::take_made) this.
    fn hear(&mut self, _tags: Option<u64>, _made: u64, _feed: &impl Feed) {}

    /// Another thread of the package was injected this, while [its tags](Model::injected_tags) were these: counters that look beyond
    /// their thread take it. Returns whether some counter did.
    fn overhear(&mut self, _occurrence: Occurrence, _amount: u64, _tags: u64, _feed: &impl Feed) -> bool {
        false
    }

    /// Thread `from` of the package, which may be this one, made a request that left its core's caches: counters that follow them count it.
    fn request(&mut self, _request: &Request, _from: u8, _feed: &impl Feed) {}

    /// A counter of the boxes that all threads share overflowed, and this thread is one of those to be interrupted.
    fn interrupt_by_untile(&mut self, _feed: &impl Feed) {}

    /// Whether counters of this thread follow the requests of the package's other threads, so that all of them must tell theirs.
    fn wide_requests(&self) -> bool {
        false
    }

    /// Whether the thread must be told at once when another of its package changes what they [share](Model::shared). One that says no
    /// is told when it begins to say yes.
    fn heeds_others(&self) -> bool {
        true
    }

    /// The tags of what is injected now, for [`overhear`](Model::overhear).
    fn injected_tags(&self) -> u64 {
        0
    }

    /// The model takes the place of one with this demand: the epoch of its own goes on from there.
    fn succeed_demand(&mut self, before: &Demand);

    /// What there is to tell since the last call.
    fn take_alerts(&mut self) -> Alerts;

    /// Brings the registers to their values after a reset.
    fn reset(&mut self, reset: Reset, feed: &impl Feed);

    /// The counters, one bit each, that select an event of a unit shared beyond the thread.
    fn claims(&self) -> u32 {
        0
    }

    /// The shared counters that the thread holds, one bit each.
    fn granted(&self) -> u32 {
        0
    }

    /// Tells the model which shared counters it holds (`granted`) and which of its counters another thread's claim makes useless
    /// (`blocked`), one bit each.
    fn set_grants(&mut self, _granted: u32, _blocked: u32, _feed: &impl Feed) {}

    /// Wishes for a deadline at every toggle of these pins, one bit each. A pin that toggles at every increment of a counter does so once in a
    /// cycle, whatever the counter grows by, and is followed while it is watched.
    fn watch_pins(&mut self, _pins: u32, _feed: &impl Feed) {}

    /// How often pin `pin` has toggled; its level is the lowest bit.
    fn pin_toggles(&mut self, _pin: u32, _feed: &impl Feed) -> u64 {
        0
    }

    /// What the thread knows of its package: of itself it is up to date.
    fn shared(&self) -> Shared {
        Shared::ALONE
    }

    /// Another thread of the package has changed what they share.
    fn set_shared(&mut self, _shared: Shared, _feed: &impl Feed) {}

    /// The instructions that [`Signal::MatchedInstructions`] counts, as a value and the bits
    /// of it that are compared with an instruction's encoding; `None` while nothing is to be matched.
    fn instruction_match(&self) -> Option<(u64, u64)> {
        None
    }

    /// The events that the model can count.
    fn catalogue(&self) -> &'static Catalogue;

    /// The registers.
    fn registers(&self) -> &'static [RegisterDescription];
}
