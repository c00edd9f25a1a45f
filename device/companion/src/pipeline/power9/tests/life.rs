//! KA5 and records of other instructions (PP57, PP58). Cycles are those of the pipeline, which dispatches the first instruction at 0.

use vm_pmu_arch::feed::{Stage, Stages, Traits};

use super::*;
use crate::outcome::Outcome;

impl Bench {
    /// Returns the record of the last instruction.
    pub(super) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome::default();
        self.core.tell(&mut outcome);
        outcome
    }
}

/// Returns when each stage was reached, in the order of `Stage::ALL`.
fn cycles(outcome: &Outcome) -> Vec<Option<u32>> {
    let stages = outcome.stages.unwrap_or(Stages::NONE);
    Stage::ALL.into_iter().map(|stage| stages.at(stage)).collect()
}

// In the order of `Stage::ALL`: decoded, dispatched, issued, first miss, second level dispatched and done, reload, next to finish,
// finished, next to complete, completed, drained.

#[test]
fn ka5_a_load_from_memory() {
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((MEMORY, Source::Memory)));
    let outcome = bench.outcome();
    let (miss, here) = (Some(5), Some(341));
    assert_eq!(cycles(&outcome), [Some(0), Some(0), Some(1), miss, miss, here, here, Some(0), here, Some(0), Some(343), None]);
    assert_eq!((outcome.stall, outcome.stall_reason, outcome.traits), (340, 4, Traits::AFTER_EMPTY));
}

#[test]
fn a_load_that_another_one_hides_finishes_before_it_is_next_to_complete() {
    // Both are issued at 1, each to its slice, and finish at 16; the first completes at 18, with the second behind it.
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((SECOND, Source::Second)));
    bench.load(2, 0x2008, Some((SECOND, Source::Second)));
    let outcome = bench.outcome();
    let (miss, here) = (Some(5), Some(16));
    assert_eq!(cycles(&outcome), [Some(0), Some(0), Some(1), miss, miss, here, here, here, here, Some(18), Some(18), None]);
    assert_eq!((outcome.stall, outcome.stall_reason, outcome.traits), (0, 1, Traits::empty()));
}

#[test]
fn a_load_of_a_line_on_its_way_says_that_it_was_merged() {
    // As in the test next to KA4: the line arrives at 16, and this load finishes a cycle later. It makes no request to the second level.
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((SECOND, Source::Second)));
    bench.load(2, 0x1008, None);
    let outcome = bench.outcome();
    let here = Some(17);
    assert_eq!(cycles(&outcome), [Some(0), Some(0), Some(1), Some(5), None, None, here, Some(16), here, Some(18), Some(19), None]);
    assert_eq!((outcome.stall_reason, outcome.traits), (1, Traits::LOAD_MERGED));
}

#[test]
fn ka6_a_load_that_takes_the_data_of_a_store_misses_nothing() {
    // Its own codes are LHS 3 and ST_FWD 4.
    let mut bench = Bench::new();
    bench.store(FREE, 0x1000);
    bench.load(4, 0x1000, None);
    let outcome = bench.outcome();
    let expected = [Some(0), Some(0), Some(1), None, None, None, None, Some(5), Some(13), Some(7), Some(15), None];
    assert_eq!(cycles(&outcome), expected);
    assert_eq!((outcome.stall, outcome.stall_reason, outcome.traits), (7, 6, Traits::STORE_FORWARDED));
}

#[test]
fn a_store_leaves_its_queue_after_it_has_completed() {
    // KA13: it completes at 7, leaves the queue at 8, and the second level takes it at 9 and needs its 15 cycles.
    let mut bench = Bench::new();
    bench.store(FREE, 0x1000);
    let outcome = bench.outcome();
    let expected = [Some(0), Some(0), Some(1), None, Some(9), Some(24), None, Some(0), Some(5), Some(0), Some(7), Some(8)];
    assert_eq!(cycles(&outcome), expected);
    assert_eq!((outcome.stall, outcome.stall_reason), (4, 7));
    // The second one moves on in the next cycle and waits for the second level until 11.
    bench.store(FREE, 0x1008);
    let stages = bench.outcome().stages.unwrap();
    assert_eq!([Stage::Drained, Stage::SecondLevelDispatched].map(|stage| stages.at(stage)), [Some(9), Some(11)]);
}

#[test]
fn ka7_a_mispredicted_branch_and_the_first_instruction_behind_it() {
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((SECOND, Source::Second)));
    bench.add(2, 1);
    bench.found.continuation = Continuation::Mispredicted;
    bench.run(&instruction(Class::Branch, Operation { reads: &[Register(2)], ..Operation::default() }));
    let outcome = bench.outcome();
    let branch = [Some(0), Some(0), Some(18), None, None, None, None, Some(18), Some(20), Some(20), Some(22), None];
    assert_eq!(cycles(&outcome), branch);
    assert_eq!((outcome.stall, outcome.stall_reason), (1, 9));
    bench.add(3, FREE);
    let outcome = bench.outcome();
    let stages = outcome.stages.unwrap();
    // Decoded five cycles before its dispatch at the earliest. It is dispatched at 33, issued a cycle later, finishes at 36.
    let after = |stage| stages.at(stage).unwrap() - stages.at(Stage::Dispatched).unwrap();
    assert_eq!([Stage::Issued, Stage::NextToFinish, Stage::Finished, Stage::NextToComplete, Stage::Completed].map(after), [1, 0, 3, 0, 5]);
    assert_eq!((outcome.stall_reason, outcome.traits), (12, Traits::AFTER_EMPTY));
}

#[test]
fn an_instruction_is_decoded_three_cycles_after_its_fetch() {
    // Each block of 32 bytes is fetched a cycle after the previous one: the second at 1, to be dispatched at 9 (PP3).
    let mut bench = Bench::new();
    for address in [0x40, 0x60] {
        let operation = Operation { width: 8, reads: &[Register(FREE)], writes: &[Register(3)], ..Operation::default() };
        bench.run(&Instruction { address, length: 4, ..instruction(Class::Simple, operation) });
    }
    assert_eq!(bench.core.group.at, 9);
    assert_eq!(bench.outcome().stages.and_then(|stages| stages.at(Stage::Dispatched)), Some(5));
}

#[test]
fn the_reason_is_that_of_the_kind_of_instruction() {
    let rows = [
        (Class::SignedDivide, 8),
        (Class::Simple, 12),
        (Class::Multiply, 12),
        (Class::FloatDivide, 10),
        // The list of reasons has no code for short operations of the vector-scalar unit.
        (Class::FloatAdd, 0),
        (Class::Branch, 14),
    ];
    for (class, reason) in rows {
        let mut bench = Bench::new();
        bench.operate(class, 1, FREE);
        assert_eq!(bench.outcome().stall_reason, reason, "{class:?}");
    }
}

#[test]
fn decimal_instructions_say_so_and_what_no_unit_executes_is_not_issued() {
    let mut bench = Bench::new();
    bench.operate(Class::Decimal, 1, FREE);
    assert!(bench.outcome().traits.contains(Traits::DECIMAL));
    bench.run(&instruction(Class::Nop, Operation::default()));
    let outcome = bench.outcome();
    assert!(!outcome.traits.contains(Traits::DECIMAL));
    assert_eq!(outcome.stages.and_then(|stages| stages.at(Stage::Issued)), None);
}
