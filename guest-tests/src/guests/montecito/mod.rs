//! Guests for the PMU of Montecito.
//!
//! What they count follows the rules that every register access sees the counts up to the instructions before it, and that an
//! instruction counts in the state it starts in: the `sum` that lets counters go is not counted, the `rum` that stops them is.

mod two_threads;
mod urgency;

super::ia64::for_part! { MONTECITO: access count hostile linux_driver overflow pal privilege }

super::guests! {
    "montecito" Itanium;
    "count" 1 steps count "counts instructions, operations, accesses, checks, branches and the register stack's work exactly";
    "privilege" 1 steps privilege "counts by privilege level for one process, several and the whole system, and keeps users out";
    "overflow" 1 steps overflow "overflows at exact events: freezing, vector, several at once, masked and held back";
    "linux-driver" 1 steps linux_driver "does with the registers what Linux's driver does, from boot to unload";
    "access" 1 steps access "reads and writes every register number from every privilege level";
    "hostile" 1 steps hostile "writes noise into every register, then counts as if nothing had been";
    "pal" 1 steps pal "asks firmware for the monitors and halts with them frozen";
    "two-threads" 2 steps two_threads "takes turns with the other thread of the core, and counts its own and both";
    "urgency" 2 events urgency "gives way at misses of the third-level cache";
}
