//! The boxes of Knights Landing's untile: counters of events that belong to no thread, shared by all threads.
//!
//! Chapters 3 to 8 of the manual say what they count. A [`Unit`] is one box, whatever its kind: a control that freezes and resets, up to
//! four counters of 48 bits with their controls, a status, in some boxes a fixed counter of their clock and in a CHA two filters.
//! [`UnitId`] is the table of the 66 boxes there are, and where each has its registers: in model-specific registers or in PCI
//! configuration space. The [`Ubox`] controls them all: it keeps which overflowed, freezes the others and interrupts the chosen tiles.
//!
//! # What drives them
//!
//! A box counts by the clock of its [`Domain`], and events of its mesh stop by UCLK; the embedder keeps these [`Clocks`].
//! [`Unit::deadline`] says when something becomes due by clocks alone. Events in a box ([`Unit::inject`]), changes of its queues
//! ([`Unit::change_queue`]) and the requests at a CHA ([`Unit::transact`]) are reported as they occur, by the embedder or its companion,
//! with the manual's event selects and unit masks. Changes of queues are reported whether they are counted or not, because a counter
//! counts the entries that are there when it begins.
//!
//! The crate `vm-pmu` shares them between threads, routes addresses and delivers interrupts.

mod boxes;
mod clocks;
mod counter;
mod happening;
mod held;
mod registers;
mod selects;
mod setting;
mod state;
mod transaction;
mod ubox;
mod unit;

pub use boxes::{CHAS, Domain, FIRST_FUNCTIONS, Kind, PciFunction, Place, UNITS, UnitId, UnitRegister, address_of, at_msr, at_offset};
pub use clocks::Clocks;
pub use happening::Stage;
pub use held::{Held, HeldQueue};
pub use registers::{
    BoxControl, BoxStatus, ChaFilter0, ChaFilter1, Counter48, CounterControl, FixedControl, GlobalControl, GlobalStatus, PcuCounterControl,
    PcuFilter, UboxCounterControl, UboxFilter, UboxFixedControl, UntileConfig,
};
pub use state::UnitState;
pub use transaction::{FilterState, Lookup, Source, Transaction};
pub use ubox::{Consequence, Ubox};
pub use unit::Unit;
