//! The laboratory: it runs guests on engines with PMUs attached, and shows what the PMUs can do.
//!
//! [`runner`] runs a guest and makes its [`report`]. [`entries`] tells what an event's catalogue entry needs and who supplies it, [`dialect`] how a
//! particular PMU's registers select events, and what other tools call them. [`commands`] is the program `pmulab`.
#![forbid(unsafe_code)]

pub mod commands;
pub mod dialect;
pub mod engines;
pub mod entries;
pub mod error;
pub mod metrics;
pub mod number;
pub mod output;
pub mod report;
pub mod request;
pub mod runner;
pub mod suggest;
pub mod text;
