//! Engines around [Unicorn](https://www.unicorn-engine.org), an emulator nobody here wrote.
//!
//! Unicorn is the translator of QEMU as a library: it executes instructions, and has neither interrupt controllers nor devices.
//! What a machine has beside its processor is that of the project's own engines; instructions that Unicorn shows nobody, or that
//! end in a fault, are completed there as well. What blocks of code add to counts is worked out once a block
//! ([`blocks`](super::blocks)).
//!
//! Unicorn's license is the GPL. This package is not published, and nothing else in the project depends on it.

pub mod power;
mod ram;
pub mod x86;
