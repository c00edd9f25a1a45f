//! Engines that execute guests, the guests, litmus files, and the program `pmulab`.
#![forbid(unsafe_code)]

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
