//! Operations of the queue from a group of the pipeline.

use super::SecondQueue;
use super::operation::{OperationKind, Order, QueuedOperation};
use crate::instruction::AccessKind;
use crate::pipeline::Source;
use crate::pipeline::ia64::group::{InstructionGroup, Reference};
use crate::pipeline::ia64::rows::Special;
use crate::pipeline::montecito::memory::passes;

impl SecondQueue {
    /// Takes the accesses of a group that is in stage L1D in clock `now`.
    pub(in crate::pipeline::montecito) fn take(&mut self, group: &InstructionGroup, now: u64) {
        let accesses = group.references().iter().filter(|reference| passes(reference)).map(|reference| access(reference, now));
        self.wait(now, accesses.chain(others(group)));
    }
}

fn access(reference: &Reference, now: u64) -> QueuedOperation {
    let touch = &reference.touch;
    let kind = match touch.kind {
        _ if touch.locked => OperationKind::Modification,
        _ if touch.stores() => OperationKind::of_store(touch.size),
        AccessKind::PrefetchLoad | AccessKind::PrefetchStore | AccessKind::PrefetchOnce => OperationKind::Prefetch,
        _ if reference.floating => OperationKind::FloatingLoad,
        _ => OperationKind::IntegerLoad,
    };
    let order = match reference.special {
        _ if touch.locked => Order::Semaphore,
        Special::Acquire => Order::Acquire,
        Special::Release => Order::Release,
        _ => Order::None,
    };
    let operation = QueuedOperation::new(kind, touch.line >> 1, touch.address, touch.size).ordered(order);
    if touch.uncached || touch.kind == AccessKind::StreamingStore {
        operation.uncacheable()
    } else if touch.missed && touch.source != Source::Second {
        operation.missing(reference.arrival.saturating_sub(now), reference.evicts)
    } else {
        operation
    }
}

/// Returns the operations of `mf`, `mf.a`, `sync.i` and line flushes.
fn others(group: &InstructionGroup) -> impl Iterator<Item = QueuedOperation> {
    let singles = group.singles;
    let all = [
        (singles.fences, Order::Fence),
        (singles.accepts, Order::Synchronization),
        (singles.synchronizes, Order::Synchronization),
        (singles.flushes, Order::None),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, order)| QueuedOperation::bare(order))
}
