//! What a PMU model can do, whatever its registers.
//!
//! Every part implements [`Model`]. What only some parts have is a capability, a separate trait:
//!
//! | capability | what the part has | which parts |
//! | --- | --- | --- |
//! | [`LazyContexts`] | changes of context that may be reported late | all five |
//! | [`Levels`] | counters of edges, which ask for levels when they start | K8, Knights Landing, POWER9 |
//! | [`SharedState`] | a register that a package has once, or counts that depend on other threads | Knights Landing, POWER9, Montecito |
//! | [`PackageScope`] | counters that count what other threads of the package do | K8, Knights Landing, Itanium, Montecito |
//! | [`Tagging`] | address ranges and opcode matchers that other threads' counters use | Montecito |
//! | [`Requests`] | counters of requests that leave a core's caches | Knights Landing |
//! | [`NestedTranslation`] | counters of what table walkers do for a guest under a host | POWER9 |
//! | [`UncoreInterrupts`] | interrupts by counters that belong to no thread | Knights Landing |
//! | [`Arbitration`] | counters that one thread takes from the others | K8 |
//! | [`Pins`] | pins that toggle with a counter | K8, Itanium, Montecito |
//! | [`InstructionMatching`] | a register that instructions are compared with | POWER9 |
//!
//! [`Pmu`](crate::registry::Pmu), a PMU of whichever part, implements all of them. For a part without a capability it does nothing and
//! returns a neutral value.

mod arbitration;
mod contexts;
mod levels;
mod matching;
mod nested;
mod package_scope;
mod pins;
mod requests;
mod shape;
mod shared;
mod tagging;
mod uncore_interrupts;

pub use arbitration::Arbitration;
pub use contexts::LazyContexts;
pub use levels::Levels;
pub use matching::InstructionMatching;
pub use nested::NestedTranslation;
pub use package_scope::PackageScope;
pub use pins::Pins;
pub use requests::Requests;
pub use shape::Shape;
pub use shared::{Shared, SharedState};
pub use tagging::Tagging;
pub use uncore_interrupts::UncoreInterrupts;

use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::event::Catalogue;
use crate::feed::{Context, Demand, Feed, Record, SignalSet};
use crate::layout::Field;

/// An occurrence, named as a guest would select it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Occurrence {
    /// The event select.
    pub select: u32,
    /// The unit mask bits that describe it: one bit of a set, one bit of each group of fields, or an ordinal; 0 where the event has none.
    pub umask: u32,
}

/// How an x86 part shows itself by CPUID: by this, drivers find a PMU that no feature bit announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuidIdentity {
    /// The vendor, as functions 0 and 8000_0000h spell it in EBX, EDX and ECX.
    pub vendor: [u8; 12],
    /// Family, model and stepping, as functions 1 and 8000_0001h have them in EAX.
    pub signature: u32,
    /// Leaf 0Ah, architectural performance monitoring, as EAX, EBX, ECX and EDX; nothing for a part without it.
    pub monitoring: Option<[u32; 4]>,
}

/// How a reset came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reset {
    /// Power came on.
    Cold,
    /// The power stayed on: registers that survive such a reset keep their values.
    Warm,
}

/// A register, as listings show it.
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
/// The embedder does the following, and the model can rely on it:
///
/// - it adds what it executes to its totals, all signals of one instruction before it compares with a deadline;
/// - when a total reaches its deadline it calls [`service`](Model::service) before the next instruction, and before that
///   [`record`](Model::record) where the demand asks for records;
/// - before a guest's register access it brings the totals up to the instructions before the accessing one;
/// - it calls [`set_context`](Model::set_context) when something in the [`Context`] changes;
/// - where the demand then asks for [levels](Demand::levels) it [supplies](Levels::supply_levels) them;
/// - after each call it takes the [`Alerts`] and delivers the interrupts in them.
pub trait Model {
    /// What a machine of the part may look like.
    const SHAPE: Shape = Shape::ANY;

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

    /// Counts up to now, and sets new deadlines.
    fn service(&mut self, feed: &impl Feed);

    /// Sets the thread's new state. Everything before this call belongs to the old one.
    fn set_context(&mut self, context: Context, feed: &impl Feed);

    /// The thread's state as the model knows it.
    fn context(&self) -> &Context;

    /// An event without a signal occurred `amount` times, or for `amount` cycles. Returns whether a counter counted it.
    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool;

    /// One instruction, where [`Demand::records`] asks for it: after its signals have been added, before [`service`](Model::service) if a
    /// deadline has been reached. It may count and alert as `service` does.
    fn record(&mut self, record: &Record, feed: &impl Feed);

    /// What must be reported at the moment. It may hold more than is counted for a while, where a freeze is likely to end soon.
    fn demand(&self) -> &Demand;

    /// The signals that counters follow, whether they are [supplied](Feed::supply) or not. The demand names only those that are supplied.
    fn followed(&self) -> SignalSet;

    /// The model replaces one whose demand was `before`: the epoch of its own demand continues from there.
    fn succeed_demand(&mut self, before: &Demand);

    /// The interrupts and other changes since the last call.
    fn take_alerts(&mut self) -> Alerts;

    /// Brings the registers to their values after a reset.
    fn reset(&mut self, reset: Reset, feed: &impl Feed);

    /// The events that the model can count.
    fn catalogue(&self) -> &'static Catalogue;

    /// The registers.
    fn registers(&self) -> &'static [RegisterDescription];
}
