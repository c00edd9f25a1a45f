//! Guests for the PMU of Montecito.
//!
//! In what they count, every register access sees the counts up to the instructions before it, and an instruction counts in the state it
//! starts in: the `sum` that starts counters is not counted, the `rum` that stops them is.

mod data_ear;
mod gates;
mod halt;
mod ip_ear;
mod opcode;
mod range;
mod speculation;
mod trace;
mod two_threads;
mod urgency;

super::ia64::for_part! { (&crate::ia64::part::MONTECITO): access branches count hostile linux_driver overflow pal privilege }
super::ia64::for_part! { (crate::ia64::facts::Part::Montecito): instruction_ear profile }

super::guests! {
    "montecito" Ia64;
    "count" 1 steps count "counts instructions, operations, accesses, checks, branches and the register stack's work exactly";
    "privilege" 1 steps privilege "counts by privilege level for one process, several and the whole system, and keeps users out";
    "overflow" 1 steps overflow "overflows at exact events: freezing, vector, several at once, masked and held back";
    "linux-driver" 1 steps linux_driver "does with the registers what Linux's driver does, from boot to unload";
    "access" 1 steps access "reads and writes every register number from every privilege level";
    "hostile" 1 steps hostile "writes arbitrary values to every register, then checks that counts are unaffected";
    "pal" 1 steps pal "asks firmware for the monitors and halts with them frozen";
    "halt" 1 steps halt "counts the cycles of a halt, overflows in one, and has none where firmware froze the monitors";
    "two-threads" 2 steps two_threads "takes turns with the other thread of the core, and counts its own and both";
    "urgency" 2 events urgency "switches threads at misses of the third-level cache";
    "gates" 2 companion gates "has changes of threads held up, by moves, by progress and by a halt";
    "opcode" 1 steps opcode "counts instructions by their opcodes, with both matchers on four channels";
    "range" 1 steps range "counts in ranges of instructions and of data, coarse and fine, and what can be combined";
    "speculation" 1 steps speculation "counts deferred loads by reason, displaced advanced loads, failed checks of flags, tiny results and traps of results";
    "data-ear" 1 companion data_ear "captures loads from every level under every threshold, translations and checks of advanced loads";
    "instruction-ear" 1 companion instruction_ear "captures fetches from every level under every threshold, and translations of code";
    "trace" 1 companion trace "reads a known sequence of branches back under every filter, and rfi, checks and faults";
    "ip-ear" 1 steps ip_ear "captures retired instruction pointers, with delays and without";
    "branches" 1 companion branches "counts branches in loops by kind, place in the bundle and prediction";
    "profile" 1 companion profile "profiles where loads miss and code loops, by every eighth capture";
}
