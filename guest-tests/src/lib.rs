//! Engines that execute guests, the guests, litmus files, and the program `pmulab`.
pub mod book;
pub mod engine;
pub mod lab;
pub mod report;
