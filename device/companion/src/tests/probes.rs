//! Effects of other processors' writes on loads and code in flight.

use vm_pmu_arch::feed::Signal;

use super::{Rig, follow};
use crate::{Access, AccessKind, Builder, Class, Clock, Companion, Follower, Instruction, Operation, Register};

/// A line that only memory has, and one that both processors use.
const FAR: u64 = 0x10_0000;
const SHARED: u64 = 0x20_0000;

/// Returns a machine whose first two processors share no cache.
fn processors(name: &str, threads: usize) -> Companion {
    Builder::new(name).unwrap().threads(threads).clock(Clock::Companion).build()
}

/// Runs an access by an instruction that needs no register.
fn access(rig: &Rig, follower: &mut Follower<'_>, code: u64, address: u64, kind: AccessKind) {
    let accesses = [Access { address, physical: address, size: 8, kind, ..Access::default() }];
    let class = if kind == AccessKind::Store { Class::Store } else { Class::Load };
    let operation = Some(Operation { width: 8, ..Operation::default() });
    rig.run(
        follower,
        &Instruction { address: code, physical: code, length: 4, class, operation, accesses: &accesses, ..Instruction::default() },
    );
}

/// Runs `count` additions, each with its own register.
fn additions(rig: &Rig, follower: &mut Follower<'_>, count: u16) {
    for number in 0..count {
        let register = [Register(number % 64)];
        let operation = Some(Operation { width: 8, reads: &register, writes: &register, ..Operation::default() });
        rig.run(follower, &Instruction { address: 0x1000, physical: 0x1000, length: 4, operation, ..Instruction::default() });
    }
}

/// Returns the restarts of a processor that loads a line from memory, if `waits`, and then the shared one, which the other processor
/// writes.
fn restarts(name: &str, threads: usize, waits: bool) -> u64 {
    let (companion, rig) = (processors(name, threads), Rig::new(threads));
    let (mut here, mut there) = (follow(&companion, 0), follow(&companion, threads - 1));
    access(&rig, &mut here, 0x1000, SHARED, AccessKind::Load);
    // Both lines of code, and the pages, are cached afterwards.
    access(&rig, &mut here, 0x1000, FAR + 0x40, AccessKind::Load);
    additions(&rig, &mut here, 4000);
    if waits {
        access(&rig, &mut here, 0x1000, FAR, AccessKind::Load);
    }
    access(&rig, &mut here, 0x1000, SHARED, AccessKind::Load);
    // The loads are dispatched, and that of the shared line has its data.
    additions(&rig, &mut here, 40);
    access(&rig, &mut there, 0x8000, SHARED, AccessKind::Store);
    access(&rig, &mut here, 0x1000, SHARED + 0x1000, AccessKind::Load);
    rig.get(0, Signal::MemoryOrderingFlushes)
}

#[test]
fn a_load_ahead_of_its_turn_whose_line_is_taken_begins_anew() {
    // PK31 and PL27: the load of the shared line has its data some hundred cycles before the one from memory.
    assert_eq!([("k8", 2), ("knl", 16)].map(|(name, threads)| restarts(name, threads, true)), [1, 1]);
}

#[test]
fn a_line_of_which_no_load_is_ahead_is_taken_without_a_restart() {
    assert_eq!([("k8", 2), ("knl", 16)].map(|(name, threads)| restarts(name, threads, false)), [0, 0]);
}

#[test]
fn code_in_flight_that_another_processor_writes_begins_anew() {
    // PK32: the load from memory has not completed when the line of its code is taken.
    let (companion, rig) = (processors("k8", 2), Rig::new(2));
    let (mut here, mut there) = (follow(&companion, 0), follow(&companion, 1));
    access(&rig, &mut here, 0x1000, FAR, AccessKind::Load);
    additions(&rig, &mut here, 6);
    access(&rig, &mut there, 0x8000, 0x1000, AccessKind::Store);
    access(&rig, &mut here, 0x1000, SHARED, AccessKind::Load);
    assert_eq!(rig.get(0, Signal::InstructionStreamRestarts), 1);
    assert_eq!(rig.get(1, Signal::InstructionStreamRestarts), 0);
}

#[test]
fn code_that_is_not_being_executed_is_written_without_a_restart() {
    let (companion, rig) = (processors("k8", 2), Rig::new(2));
    let (mut here, mut there) = (follow(&companion, 0), follow(&companion, 1));
    additions(&rig, &mut here, 6);
    // A load from memory that has not completed, of another line of code.
    access(&rig, &mut here, 0x3000, FAR, AccessKind::Load);
    access(&rig, &mut there, 0x8000, 0x1000, AccessKind::Store);
    access(&rig, &mut here, 0x3000, SHARED, AccessKind::Load);
    assert_eq!(rig.get(0, Signal::InstructionCacheInvalidations), 1);
    assert_eq!(rig.get(0, Signal::InstructionStreamRestarts), 0);
}
