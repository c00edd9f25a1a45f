//! Engines that execute guests, the guests, litmus files, and the program `pmulab`.
pub mod attach;
pub mod engine;
pub mod guests;
pub mod report;
pub mod runner;
