//! Guests for the PMU of the first Itanium.
//!
//! They follow the rules of [`montecito`](super::montecito)'s. The interpreter's processor says that it is a Montecito; no guest asks.

super::ia64::for_part! { ITANIUM: access count hostile linux_driver overflow pal privilege }

super::guests! {
    "itanium" Itanium;
    "count" 1 steps count "counts instructions, operations, accesses, checks, branches and the register stack's work exactly";
    "privilege" 1 steps privilege "counts by privilege level for one process, several and the whole system, and keeps users out";
    "overflow" 1 steps overflow "overflows at exact events: freezing, vector, several at once, masked and held back";
    "linux-driver" 1 steps linux_driver "does with the registers what Linux's driver does, from boot to unload";
    "access" 1 steps access "reads and writes every register number from every privilege level";
    "hostile" 1 steps hostile "writes noise into every register, then counts as if nothing had been";
    "pal" 1 steps pal "asks firmware for the monitors and halts with them frozen";
}
