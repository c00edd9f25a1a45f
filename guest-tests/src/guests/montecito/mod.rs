//! Guests for the PMU of Montecito.
//!
//! What they count follows the rules that every register access sees the counts up to the instructions before it, and that an
//! instruction counts in the state it starts in: the move to PMC0 that lets counters go is the first instruction counted, with the rest
//! of its bundle; the one that freezes them is not counted, nor is what follows in its bundle.

mod count;
mod counting;

super::guests! {
    "montecito" Itanium;
    "count" 1 steps count "counts a known mix of instructions, no-operations and cycles at two privilege levels";
}
