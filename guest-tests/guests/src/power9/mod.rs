//! Guests for the PMU of POWER9.
//!
//! In what they count, every register access sees the counts up to the instructions before it, and an instruction counts in the state it
//! starts in: the mtspr that starts counters is the first instruction counted, the one that freezes them is not counted.

mod access;
mod branch_history;
mod chain;
mod count;
mod counting;
mod ebb;
mod fields;
mod four_threads;
mod freeze_matrix;
mod handler;
mod hostile;
mod latency;
mod linux_driver;
mod masked;
mod measured;
pub mod nest;
mod nested_walks;
mod overflow;
mod probe;
mod sample;
mod trigger_chain;

/// MMCR0: freeze counters.
const FC: u64 = 0x8000_0000;

super::guests! {
    "power9" Power;
    "count" 1 steps count "counts a known mix of instructions on every counter";
    "freeze-matrix" 1 steps freeze_matrix "counts under every freeze in every state";
    "overflow" 1 steps overflow "takes an alert after exactly the programmed number of events";
    "trigger-chain" 1 steps trigger_chain "uses counters that wait for PMC1, and counters that count overflows";
    "masked" 1 steps masked "takes alerts while interrupts are disabled, and alerts that software sets";
    "four-threads" 4 steps four_threads "counts on the four threads of a core, each with its own counters";
    "linux-driver" 1 steps linux_driver "does what Linux's driver does with the registers, step by step";
    "access" 1 steps access "accesses every register from every state, and checks the results";
    "ebb" 1 steps ebb "takes event-based branches in problem state, with access withdrawn and restored";
    "sample" 1 steps sample "profiles a loop by random and by continuous sampling";
    "probe" 1 steps probe "samples at ProbeNops, with the values there, and at matched instructions";
    "branch-history" 1 companion branch_history "reads a known sequence of branches back under every filter";
    "latency" 1 companion latency "times sampled loads from each level";
    "measured" 1 companion measured "counts events of caches, translation and prediction whose numbers are known";
    "nested-walks" 1 companion nested_walks "counts the walks of a guest whose tables a host translates";
    "hostile" 1 steps hostile "writes arbitrary values to every register, then counts";
}
