//! Guests for the PMU of the first Itanium.
//!
//! They follow the rules of [Montecito's](crate::montecito). The interpreter's processor identifies itself as a Montecito; no guest asks.

mod range;

super::ia64::for_part! { (&crate::ia64::part::ITANIUM): access branches count hostile linux_driver overflow pal privilege }
super::ia64::for_part! { (crate::ia64::facts::Part::Itanium): instruction_ear profile }
// What both parts do, and nothing more.
super::ia64::for_part! { (crate::ia64::facts::Part::Itanium, |_| {}): data_ear opcode trace }

super::guests! {
    "itanium" Ia64;
    "count" 1 steps count "counts instructions, operations, accesses, checks, branches and the register stack's work exactly";
    "privilege" 1 steps privilege "counts by privilege level for one process, several and the whole system, and keeps users out";
    "overflow" 1 steps overflow "overflows at exact events: freezing, vector, several at once, masked and held back";
    "linux-driver" 1 steps linux_driver "does with the registers what Linux's driver does, from boot to unload";
    "access" 1 steps access "reads and writes every register number from every privilege level";
    "hostile" 1 steps hostile "writes arbitrary values to every register, then checks that counts are unaffected";
    "pal" 1 steps pal "asks firmware for the monitors and halts with them frozen";
    "opcode" 1 steps opcode "counts instructions by their opcodes, with both matchers";
    "range" 1 steps range "counts in ranges of instructions and of data, with and without opcodes";
    "data-ear" 1 companion data_ear "captures loads from every level under every threshold and translations";
    "instruction-ear" 1 companion instruction_ear "captures fetches from every level under every threshold, and translations of code";
    "trace" 1 companion trace "reads a known sequence of branches back under every filter";
    "branches" 1 companion branches "counts branches in loops by kind, place in the bundle and prediction";
    "profile" 1 companion profile "profiles where loads miss and code loops, by every eighth capture";
}
