//! Guests for the PMU of the first Itanium.
//!
//! What they count follows the rules of [Montecito's](crate::guests::montecito).

mod opcode;

super::guests! {
    "itanium" Itanium;
    "opcode" 1 steps opcode "counts instructions by their opcodes, with both matchers";
}
