//! Guests for the PMU of the first Itanium.
//!
//! What they count follows the rules of [Montecito's](crate::guests::montecito).

mod data_ear;
mod instruction_ear;
mod opcode;
mod profile;
mod range;
mod trace;

super::guests! {
    "itanium" Itanium;
    "opcode" 1 steps opcode "counts instructions by their opcodes, with both matchers";
    "range" 1 steps range "counts in ranges of instructions and of data, with and without opcodes";
    "data-ear" 1 companion data_ear "captures loads from every level under every threshold and translations";
    "instruction-ear" 1 companion instruction_ear "captures fetches from every level under every threshold, and translations of code";
    "trace" 1 companion trace "reads a known sequence of branches back under every filter";
    "profile" 1 companion profile "profiles where loads miss and code loops, by every eighth capture";
}
