//! The POWER interpreter against results worked out from the Power ISA 3.0B.

mod counted;
mod facilities;
mod firmware;
mod guests;
mod instructions;
mod interrupts;
mod monitor;
mod observed;
mod properties;
mod saved;
mod support;
