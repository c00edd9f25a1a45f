//! Guests for the PMU of Montecito.
//!
//! What they count follows the rules that every register access sees the counts up to the instructions before it, and that an
//! instruction counts in the state it starts in: the `sum` that lets counters go is not counted, the `rum` that stops them is.

mod count;
mod opcode;

super::guests! {
    "montecito" Itanium;
    "count" 1 steps count "counts instructions and cycles";
    "opcode" 1 steps opcode "counts instructions by their opcodes, with both matchers on four channels";
}
