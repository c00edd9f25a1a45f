//! The latencies of the first Itanium, from the producer of a result to its consumer: the table of section I1 of the notes.

use crate::pipeline::ia64::rows::{Consumer, Producer};

/// Minimum clocks from a parallel result to its use in another unit (PI16).
pub(super) const BYPASS: u64 = 4;

/// Returns the clocks from the producer to the consumer; for loads, from the arrival of their data.
pub(super) fn latency(producer: Producer, consumer: Consumer) -> u64 {
    use Consumer as C;
    match (producer, consumer) {
        (_, C::Written) => 0,
        // Moves to BR and PFS, and state saved by calls.
        (Producer::Integer | Producer::Slow | Producer::Compare, C::Branch) => 0,
        (Producer::Integer | Producer::Slow, C::Parallel) => 3,
        (Producer::Slow, C::Address) => 2,
        (Producer::Integer | Producer::Slow | Producer::Compare, _) => 1,
        (Producer::Parallel, C::Parallel) => 2,
        (Producer::Parallel, _) => BYPASS,
        (Producer::MoveBranch, C::Parallel) => 3,
        (Producer::Probe | Producer::MoveBranch, _) => 2,
        (Producer::Setf, C::Getf | C::Store) => 8,
        (Producer::Setf, _) => 9,
        (Producer::Float | Producer::FloatOther | Producer::FloatFixed, C::Getf) => 7,
        (Producer::Float | Producer::FloatOther | Producer::FloatFixed, C::Store) => 8,
        (Producer::Float, C::FloatOther) | (Producer::FloatFixed, _) => 7,
        (Producer::Float | Producer::FloatOther, _) => 5,
        (Producer::FloatCompare, C::Branch) => 1,
        (Producer::FloatCompare | Producer::Estimate, _) => 2,
        (Producer::Load, C::Address | C::Parallel) => 1,
        (Producer::Load, _) => 0,
        (Producer::FloatLoad, _) => 3,
        (Producer::Move5, _) => 5,
        (Producer::Move6, C::Parallel) => 7,
        (Producer::Move6, _) => 6,
        (Producer::MoveLoop | Producer::Move12 | Producer::Move35, C::Parallel) => 14,
        (Producer::MoveLoop | Producer::Move12 | Producer::Move35, _) => 13,
    }
}

#[test]
fn no_result_takes_longer_than_the_longest_latency() {
    crate::pipeline::ia64::readiness::assert_no_latency_is_longer(latency);
}
