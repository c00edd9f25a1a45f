//! The POWER interpreter against results worked out from the Power ISA 3.0B.

mod devices;
mod facilities;
mod firmware;
mod instructions;
mod interrupts;
mod observed;
mod properties;
mod radix;
mod saved;
mod support;
