//! Resources of pipelines that several parts have: queues, ports, registers, stores and misses in flight; and the cycles that are to be
//! reported.

pub(super) mod account;
pub(super) mod early_loads;
pub(super) mod memory;
pub(super) mod ports;
pub(super) mod queue;
pub(super) mod reasons;
pub(super) mod redirect;
pub(super) mod registers;
pub(super) mod saving;
pub(super) mod sequence;
pub(super) mod steps;

use saving::{small, time};
