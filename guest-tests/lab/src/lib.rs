//! The laboratory: it runs guests on engines with PMUs attached, and shows what the PMUs can do.
//!
//! [`runner`] runs a guest and makes its [`report`]. [`stat`] counts events from outside, and [`profile`] has samples taken so. [`entries`]
//! has what an event's catalogue entry needs and what supplies it. [`symbols`] has what lies at an address of an ELF file. [`dialect`] has
//! how the registers of each PMU select events, and the names of other tools for events. [`suite`] has the litmus files that the program
//! carries, and [`conformance`] what they cover. [`timeline`] draws a run over time, and [`page`] shows it in a browser. [`commands`] is the
//! program `pmulab`.
#![forbid(unsafe_code)]

pub mod commands;
pub mod conformance;
mod debug;
pub mod dialect;
pub mod engines;
pub mod entries;
pub mod error;
mod files;
pub mod held;
pub mod hints;
pub mod interrupt;
pub mod metrics;
pub mod number;
pub mod output;
pub mod page;
pub mod profile;
pub mod progress;
pub mod report;
pub mod request;
pub mod runner;
pub mod stat;
pub mod suggest;
pub mod suite;
pub mod symbols;
pub mod text;
pub mod timeline;
mod unwind;
