//! Engines around [Unicorn](https://www.unicorn-engine.org), an emulator from outside the project.
//!
//! Unicorn is the translator of QEMU as a library: it executes instructions, and has neither interrupt controllers nor devices. Everything
//! of a machine except its processor is that of the project's own engines. Instructions for which Unicorn has no hook, or that end in a
//! fault, are completed there as well. What blocks of code add to counts is worked out once a block ([`blocks`](super::blocks)).
//!
//! Unicorn's license is the GPL. This package is not published, and nothing else in the project depends on it.

pub mod power;
mod ram;
pub mod x86;
