//! Montecito's latencies, from the producer of a result to its consumer: the table of section M1 of the notes.

use crate::pipeline::ia64::rows::{Consumer, Producer};

/// Returns the clocks from the producer to the consumer.
pub(super) fn latency(producer: Producer, consumer: Consumer) -> u64 {
    use Consumer as C;
    match (producer, consumer) {
        (_, C::Written) => 0,
        (Producer::Integer | Producer::Slow | Producer::MoveBranch, C::Parallel) => 3,
        (Producer::Integer | Producer::Slow, _) => 1,
        (Producer::Parallel, C::Address) => 4,
        (Producer::Parallel, C::Parallel) => 2,
        (Producer::Parallel, _) => 3,
        (Producer::Probe, C::Address | C::Parallel) => 6,
        (Producer::Probe, _) => 5,
        (Producer::Setf, _) => 6,
        (Producer::Float | Producer::FloatOther | Producer::FloatFixed, _) => 4,
        (Producer::Compare, C::Branch) => 0,
        (Producer::Compare, _) => 1,
        (Producer::FloatCompare, C::Branch) => 1,
        (Producer::FloatCompare | Producer::Estimate, _) => 2,
        (Producer::Load, C::Address) => 1,
        (Producer::Load, C::Parallel) => 2,
        (Producer::Load, _) => 0,
        (Producer::FloatLoad, C::Address) => 2,
        (Producer::FloatLoad, C::Parallel) => 3,
        (Producer::FloatLoad, _) => 1,
        (Producer::MoveBranch | Producer::MoveLoop, _) => 2,
        (Producer::Move5, _) => 5,
        (Producer::Move6, _) => 6,
        (Producer::Move12, _) => 12,
        (Producer::Move35, _) => 35,
    }
}

#[test]
fn no_result_takes_longer_than_the_longest_latency() {
    crate::pipeline::ia64::readiness::assert_no_latency_is_longer(latency);
}
