//! Engines that execute guests, the guests, litmus files, and the program `pmulab`.
// Engines outside Rust share the guest's memory, which takes a call that Rust cannot check: each stands in a file of its own, with its reason.
#![cfg_attr(not(any(feature = "kvm", feature = "unicorn")), forbid(unsafe_code))]
#![deny(unsafe_code)]

pub mod attach;
pub mod book;
pub mod driven;
pub mod engine;
pub mod guests;
pub mod known;
pub mod lab;
pub mod placing;
pub mod report;
pub mod runner;
