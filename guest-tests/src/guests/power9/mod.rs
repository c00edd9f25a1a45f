//! Guests for the PMU of POWER9.
//!
//! What they count follows the rules that every register access sees the counts up to the instructions before it, and that an
//! instruction counts in the state it starts in: the mtspr that lets counters go is the first instruction counted, the one that freezes
//! them is not counted.

mod access;
mod branch_history;
mod chain;
mod count;
mod ebb;
mod fields;
mod hostile;
mod latency;
mod measured;
mod probe;
mod sample;

use super::{Assembly, Guest};

/// MMCR0: freeze counters.
const FC: u64 = 0x8000_0000;

macro_rules! guests {
    ($( $name:literal $cpus:literal $footing:ident $module:ident $summary:literal; )+) => {
        /// The guests.
        pub static GUESTS: &[Guest] = &[
            $( Guest {
                pmu: "power9",
                name: $name,
                summary: $summary,
                cpus: $cpus,
                needs_companion: guests!(companion $footing),
                foretells_cycles: !guests!(companion $footing),
                assembly: Assembly::Power($module::build),
            } ),+
        ];
    };
    (companion steps) => { false };
    (companion companion) => { true };
}

guests! {
    "count" 1 steps count "counts a known mix of instructions on every counter";
    "access" 1 steps access "touches every register from every state, and sees what comes of it";
    "ebb" 1 steps ebb "takes event-based branches in problem state, and has them taken away and given back";
    "sample" 1 steps sample "profiles a loop by random and by continuous sampling";
    "probe" 1 steps probe "samples at ProbeNops, with the values there, and at matched instructions";
    "branch-history" 1 companion branch_history "reads a known sequence of branches back under every filter";
    "latency" 1 companion latency "times sampled loads from each level";
    "measured" 1 companion measured "counts caches, translation and predictions with known answers";
    "hostile" 1 steps hostile "writes everything everywhere, then counts";
}
