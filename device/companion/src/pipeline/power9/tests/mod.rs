//! The known answers KA1 to KA13 of `docs/notes/pipelines-power9.md`, section 3: each is worked out there by hand.

mod flushes;
mod life;
mod machines;
mod queues;
mod threads;
mod waits;

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::reasons::{REASONS, Reason};
use super::{Power9Pipeline, Power9State, STATES, SharedUnits};
use crate::bytes::{Reader, Writer};
use crate::instruction::{Access, AccessKind, Class, Instruction, Operation, Register};
use crate::pipeline::sharing::{SharedState, Sharing, Threads};
use crate::pipeline::touch::{Source, Touch};
use crate::pipeline::{Continuation, Findings};
use crate::tally::Tally;

/// Latencies of a load from memory, and from the second level.
const MEMORY: u32 = 340;
const SECOND: u32 = 15;
/// A register that is always ready.
const FREE: u16 = 200;

/// A warm core whose first instruction is dispatched in cycle 0.
struct Bench {
    core: Power9Pipeline,
    tally: Tally,
    found: Findings,
    /// The state shared with other threads of its core; the running threads, one bit each; and the number of this one.
    sharing: Option<(Sharing, u32, usize)>,
}

fn instruction<'a>(class: Class, operation: Operation<'a>) -> Instruction<'a> {
    Instruction { class, operation: Some(operation), ..Instruction::default() }
}

impl Bench {
    fn new() -> Bench {
        let mut core = Power9Pipeline::new();
        (core.watches, core.told, core.predicts) = (true, true, true);
        Bench { core, tally: Tally::new(), found: Findings::NONE, sharing: None }
    }

    fn run(&mut self, instruction: &Instruction<'_>) {
        let mut threads = match &mut self.sharing {
            Some((sharing, running, thread)) => {
                let (missed, threads) = Threads::on_core_time(sharing, *thread, *running, self.core.now());
                self.core.shift(missed);
                threads
            }
            None => Threads::ALONE,
        };
        self.core.execute(instruction, &self.found, &mut threads, &mut self.tally);
        self.found = Findings::NONE;
    }

    fn operate(&mut self, class: Class, to: u16, from: u16) {
        self.run(&instruction(class, Operation { width: 8, reads: &[Register(from)], writes: &[Register(to)], ..Operation::default() }));
    }

    fn add(&mut self, to: u16, from: u16) {
        self.operate(Class::Simple, to, from);
    }

    fn adds(&mut self, count: usize) {
        (0..count).for_each(|_| self.add(100, FREE));
    }

    fn touch(&mut self, address: u64, kind: AccessKind) -> &mut Touch {
        let access = Access { address, physical: address, size: 8, kind, ..Access::default() };
        self.found.touches[0] = Touch::new(&access, address >> 7);
        self.found.count = 1;
        &mut self.found.touches[0]
    }

    fn load(&mut self, to: u16, address: u64, miss: Option<(u32, Source)>) {
        let touch = self.touch(address, AccessKind::Load);
        if let Some((latency, source)) = miss {
            (touch.missed, touch.latency, touch.source) = (true, latency, source);
        }
        self.run(&instruction(
            Class::Load,
            Operation { width: 8, addresses: &[Register(FREE)], writes: &[Register(to)], ..Operation::default() },
        ));
    }

    fn store(&mut self, from: u16, address: u64) {
        self.touch(address, AccessKind::Store);
        self.run(&instruction(
            Class::Store,
            Operation { width: 8, addresses: &[Register(FREE)], reads: &[Register(from)], ..Operation::default() },
        ));
    }

    /// Counts queues and units up to cycle `until`.
    fn settle(&mut self, until: u64) {
        if let Some(shared) = self.sharing.as_mut().and_then(|(sharing, ..)| SharedUnits::of(&mut sharing.of_part)) {
            core::mem::swap(&mut self.core.shared, shared);
        }
        let thread = self.sharing.as_ref().map_or(0, |(_, _, thread)| *thread);
        while self.core.shared.watch.begin() < until {
            let next = self.core.shared.watch.begin() + 64;
            self.core.shared.watch.count(next);
        }
        self.core.collect(thread, until);
        if let Some(shared) = self.sharing.as_mut().and_then(|(sharing, ..)| SharedUnits::of(&mut sharing.of_part)) {
            core::mem::swap(&mut self.core.shared, shared);
        }
    }

    /// Returns the count of `signal`.
    fn count(&self, signal: Signal) -> u64 {
        self.tally.get(signal)
    }

    /// Completes everything. Returns the number of cycles, and the cycles of each reason and state.
    fn finish(self) -> Answer {
        self.finish_from(0)
    }

    /// Finishes a thread that began in cycle `begin` of the core.
    fn finish_from(mut self, begin: u64) -> Answer {
        if self.sharing.is_none() && self.core.shared.watch.active {
            self.settle(self.core.completed + 1);
        }
        let core = &mut self.core;
        let end = core.completed + 1;
        let cycles = end - begin;
        let blocked = core.blocked;
        core.own_until(blocked.reason, blocked.until - u64::from(blocked.last != blocked.reason));
        core.own_until(blocked.last, blocked.until);
        core.own_until(Reason::AllFinished, end);
        let mut reasons = [0; REASONS];
        while let Some((reason, cycles)) = core.reasons.peek() {
            reasons[usize::from(reason)] += cycles;
            core.reasons.take(cycles);
        }
        core.account.pass(1 << 20);
        let mut states = [0; STATES.len()];
        while let Some((cycles, held)) = core.account.next(u64::MAX) {
            states.iter_mut().enumerate().filter(|(state, _)| held >> state & 1 == 1).for_each(|(_, sum)| *sum += cycles);
        }
        assert_eq!(reasons.iter().sum::<u64>(), cycles, "PP42: every cycle has one reason");
        Answer { cycles, reasons, states }
    }
}

struct Answer {
    cycles: u64,
    reasons: [u64; REASONS],
    states: [u64; STATES.len()],
}

impl Answer {
    /// Asserts the number of cycles, and the nonzero cycles of reasons.
    fn expect(&self, cycles: u64, reasons: &[(Reason, u64)]) {
        let found: Vec<_> = Reason::ALL.into_iter().zip(self.reasons).filter(|(_, cycles)| *cycles != 0).collect();
        let mut reasons = reasons.to_vec();
        reasons.sort_by_key(|(reason, _)| *reason as u8);
        assert_eq!((self.cycles, found), (cycles, reasons));
    }

    fn state(&self, state: Power9State) -> u64 {
        self.states[state as usize]
    }
}

use Reason::{AllFinished, Branch, Empty, EmptyMisprediction, Finish, Fixed, HeldOther};

#[test]
fn ka1_a_chain_of_adds() {
    let mut bench = Bench::new();
    (0..100).for_each(|_| bench.add(1, 1));
    let answer = bench.finish();
    answer.expect(204, &[(HeldOther, 1), (Fixed, 101), (Finish, 100), (AllFinished, 2)]);
    assert_eq!(answer.state(Power9State::HeldIssueQueue), 52);
    assert_eq!(answer.state(Power9State::DispatchHeld), 52);
}

#[test]
fn ka2_independent_adds() {
    let mut bench = Bench::new();
    bench.adds(600);
    let answer = bench.finish();
    answer.expect(155, &[(HeldOther, 1), (Fixed, 2), (Finish, 150), (AllFinished, 2)]);
    assert_eq!(answer.state(Power9State::DispatchHeld), 0);
    assert_eq!([Power9State::FixedAllBusy, Power9State::FixedBusy, Power9State::FixedIdle].map(|state| answer.state(state)), [150, 150, 5]);
}

#[test]
fn ka3_a_division_under_work() {
    for work in [0, 40] {
        let mut bench = Bench::new();
        bench.operate(Class::SignedDivide, 1, 2);
        bench.adds(work);
        bench.add(3, 1);
        let reasons = [(HeldOther, 1), (Reason::FixedLong, 24), (Fixed, 1), (Finish, 2), (AllFinished, 2)];
        bench.finish().expect(30, &reasons);
    }
}

#[test]
fn ka4_a_load_from_memory_under_a_full_window() {
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((MEMORY, Source::Memory)));
    // Without results, so that the history buffer does not fill before the completion table.
    let add = instruction(Class::Simple, Operation { width: 8, reads: &[Register(FREE)], ..Operation::default() });
    (0..300).for_each(|_| bench.run(&add));
    let answer = bench.finish();
    answer.expect(361, &[(HeldOther, 2), (Reason::MissMemory, 340), (Fixed, 2), (Finish, 13), (AllFinished, 4)]);
    assert_eq!((answer.state(Power9State::WindowFull), answer.state(Power9State::MissQueueEmpty)), (289, 24));
}

#[test]
fn ka4_with_results_fills_the_history_buffer_first() {
    // The load and 127 adds take all 128 entries by the end of cycle 22: 108 by cycle 17, then four per cycle. All complete at 343. The
    // other 173 are dispatched from 344 on and issued four per cycle from 345 to 388.
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((MEMORY, Source::Memory)));
    bench.adds(300);
    let answer = bench.finish();
    assert_eq!((answer.cycles, answer.state(Power9State::HeldHistory), answer.state(Power9State::WindowFull)), (393, 321, 0));
}

#[test]
fn ka6_a_store_is_forwarded_to_a_load() {
    let mut bench = Bench::new();
    bench.store(FREE, 0x1000);
    bench.load(4, 0x1000, None);
    let reasons =
        [(HeldOther, 1), (Reason::StoreFinish, 4), (Finish, 2), (Reason::StoreDataWait, 3), (Reason::Forward, 4), (AllFinished, 2)];
    bench.finish().expect(16, &reasons);
}

#[test]
fn a_load_into_its_own_address_register_is_no_update_form() {
    // Each needs the data of the previous one: issued at 1, 5 and 9.
    let mut bench = Bench::new();
    for _ in 0..3 {
        bench.touch(0x1000, AccessKind::Load);
        let operation = Operation { width: 8, addresses: &[Register(1)], writes: &[Register(1)], ..Operation::default() };
        bench.run(&instruction(Class::Load, operation));
    }
    bench.finish().expect(16, &[(HeldOther, 1), (Reason::LoadFinish, 10), (Finish, 3), (AllFinished, 2)]);
}

#[test]
fn the_base_of_an_update_form_is_ready_before_the_data() {
    // The second one is issued two cycles after the first.
    let mut bench = Bench::new();
    for to in [1, 2] {
        bench.touch(0x1000, AccessKind::Load);
        let writes = &[Register(to), Register(3)];
        bench.run(&instruction(Class::Load, Operation { width: 8, addresses: &[Register(3)], writes, ..Operation::default() }));
    }
    bench.finish().expect(10, &[(HeldOther, 1), (Reason::LoadFinish, 5), (Finish, 2), (AllFinished, 2)]);
}

#[test]
fn ka7_a_mispredicted_branch_on_a_load() {
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((SECOND, Source::Second)));
    bench.add(2, 1);
    bench.found.continuation = Continuation::Mispredicted;
    bench.run(&instruction(Class::Branch, Operation { reads: &[Register(2)], ..Operation::default() }));
    bench.add(3, FREE);
    assert_eq!(bench.count(Signal::StallsEndedEmpty), 1);
    let reasons =
        [(HeldOther, 2), (Reason::MissSecond, 15), (Fixed, 3), (Branch, 1), (Finish, 4), (AllFinished, 4), (EmptyMisprediction, 10)];
    bench.finish().expect(39, &reasons);
}

#[test]
fn ka7_and_its_target_comes_from_the_second_level() {
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((SECOND, Source::Second)));
    bench.add(2, 1);
    bench.found.continuation = Continuation::Mispredicted;
    bench.run(&instruction(Class::Branch, Operation { reads: &[Register(2)], ..Operation::default() }));
    (bench.found.line, bench.found.code) = (SECOND, Some(Source::Second));
    let operation = Operation { width: 8, reads: &[Register(FREE)], writes: &[Register(3)], ..Operation::default() };
    bench.run(&Instruction { address: 0x4000, length: 4, ..instruction(Class::Simple, operation) });
    assert_eq!([Signal::FetchMissesAfterMisprediction, Signal::FetchMissesAfterPrediction].map(|signal| bench.count(signal)), [1, 0]);
    let answer = bench.finish();
    assert_eq!(answer.cycles, 54);
    assert_eq!(answer.reasons[Reason::EmptyMispredictionMiss as usize], 25);
    assert_eq!(answer.reasons[EmptyMisprediction as usize], 0);
}

#[test]
fn ka8_a_translation_under_work() {
    for (translation, cycles) in [(13, 21), (35, 43)] {
        let mut bench = Bench::new();
        bench.touch(0x1000, AccessKind::Load).translation = translation;
        bench.run(&instruction(
            Class::Load,
            Operation { width: 8, addresses: &[Register(FREE)], writes: &[Register(1)], ..Operation::default() },
        ));
        bench.adds(30);
        let reasons =
            [(HeldOther, 1), (Reason::Translation, u64::from(translation)), (Reason::LoadFinish, 4), (Finish, 1), (AllFinished, 2)];
        bench.finish().expect(cycles, &reasons);
    }
}

#[test]
fn walks_that_overlap_count_one_after_the_other() {
    let mut bench = Bench::new();
    for number in 0..2 {
        let touch = bench.touch(0x1000 * (1 + u64::from(number)), AccessKind::Load);
        (touch.translation, touch.walked) = (35, true);
        bench.run(&instruction(
            Class::Load,
            Operation { width: 8, addresses: &[Register(FREE)], writes: &[Register(number)], ..Operation::default() },
        ));
    }
    assert_eq!(bench.finish().state(Power9State::DataWalk), 70);
}

#[test]
fn dispatch_is_starved_while_code_is_walked_for() {
    let mut bench = Bench::new();
    bench.adds(1);
    (bench.found.translation, bench.found.walk) = (20, 20);
    bench.run(&Instruction { address: 0x4000, length: 4, ..instruction(Class::Simple, Operation::default()) });
    let answer = bench.finish();
    // The first is dispatched at 0. The walk ends at 20, and the code fetched then is dispatched at 28.
    assert_eq!((answer.state(Power9State::CodeWalk), answer.state(Power9State::Starved)), (20, 27));
}

#[test]
fn ka9_a_chain_of_floating_point_additions() {
    let mut bench = Bench::new();
    (0..10).for_each(|_| bench.operate(Class::FloatAdd, 40, 40));
    bench.finish().expect(74, &[(HeldOther, 1), (Reason::Float, 61), (Finish, 10), (AllFinished, 2)]);
}

#[test]
fn ka10_independent_floating_point_divisions() {
    let mut bench = Bench::new();
    (0..5).for_each(|_| bench.operate(Class::FloatDivide, 40, FREE));
    let answer = bench.finish();
    answer.expect(45, &[(HeldOther, 1), (Reason::FloatLong, 40), (Finish, 2), (AllFinished, 2)]);
    assert_eq!(answer.state(Power9State::FloatAllBusy), 8);
}

#[test]
fn ka11_a_synchronization_between_two_adds() {
    let mut bench = Bench::new();
    bench.add(1, FREE);
    bench.run(&instruction(Class::Serializing, Operation::default()));
    bench.add(2, FREE);
    let reasons = [
        (HeldOther, 3),
        (Fixed, 4),
        (Reason::LoadStoreOther, 4),
        (Finish, 3),
        (AllFinished, 6),
        (Reason::EmptyHeldSynchronization, 2),
        (Empty, 10),
    ];
    bench.finish().expect(32, &reasons);
}

#[test]
fn a_move_to_a_register_that_is_not_renamed_waits_for_all_before_it() {
    // The add completes at 5, so the move is dispatched at 8, issued at 9 and finishes at 21.
    let mut bench = Bench::new();
    bench.add(1, FREE);
    bench.run(&instruction(Class::System, Operation { width: 8, reads: &[Register(1)], ..Operation::default() }));
    let reasons = [(HeldOther, 2), (Fixed, 2 + 12), (Finish, 2), (AllFinished, 4), (Reason::EmptyHeldSynchronization, 2)];
    bench.finish().expect(24, &reasons);
}

#[test]
fn ka12_loads_from_the_second_level_fill_the_queue_of_misses() {
    let mut bench = Bench::new();
    (0..20).for_each(|number| bench.load(1, 0x1_0000 + 136 * number, Some((SECOND, Source::Second))));
    assert_eq!(bench.count(Signal::RejectsMissQueue), 4);
    let answer = bench.finish();
    answer.expect(31, &[(HeldOther, 1), (Reason::MissSecond, 23), (Finish, 5), (AllFinished, 2)]);
    assert_eq!(answer.state(Power9State::MissQueueFull), 10);
}

#[test]
fn a_load_of_a_line_on_its_way_finishes_a_cycle_after_the_load_that_asked_for_it() {
    // The line arrives at 1 + 15; the second load, which hits the first level by then, finishes at 17 (PP30).
    let mut bench = Bench::new();
    bench.load(1, 0x1000, Some((SECOND, Source::Third)));
    bench.load(2, 0x1008, None);
    bench.finish().expect(20, &[(HeldOther, 1), (Reason::MissThird, 15), (Finish, 2), (AllFinished, 2)]);
}

#[test]
fn ka13_stores_in_turn() {
    let mut bench = Bench::new();
    (0..40).for_each(|number| bench.store(FREE, 0x1_0000 + 136 * number));
    assert_eq!((bench.core.shared.sent, bench.core.shared.taken), (56, 87));
    // The queue is full from 37 to 57, long after the thread is done.
    bench.settle(100);
    let answer = bench.finish();
    answer.expect(17, &[(HeldOther, 1), (Reason::StoreFinish, 4), (Finish, 10), (AllFinished, 2)]);
    assert_eq!((answer.state(Power9State::SecondStoreQueueFull), answer.state(Power9State::StoreQueueFull)), (21, 0));
}

#[test]
fn a_load_of_a_part_of_a_store_waits_for_the_second_level() {
    // The store completes at 7, moves on at 8 and is taken at 9: the load finishes 4 later.
    let mut bench = Bench::new();
    bench.touch(0x1000, AccessKind::Store).size = 4;
    bench.run(&instruction(Class::Store, Operation { width: 4, reads: &[Register(FREE)], ..Operation::default() }));
    bench.load(4, 0x1000, None);
    let reasons =
        [(HeldOther, 1), (Reason::StoreFinish, 4), (Finish, 2), (Reason::StoreDataWait, 3), (Reason::LoadFinish, 4), (AllFinished, 2)];
    bench.finish().expect(16, &reasons);
}

#[test]
fn a_barrier_is_answered_by_the_second_level() {
    // The store is taken at 9, so the barrier completes at 9 + 15 + 1; it has finished at 5 too.
    let mut bench = Bench::new();
    bench.store(FREE, 0x1000);
    bench.run(&instruction(Class::Fence, Operation::default()));
    let reasons = [(HeldOther, 1), (Reason::StoreFinish, 4), (Finish, 1), (Reason::BlockedBarrier, 18), (AllFinished, 2)];
    bench.finish().expect(26, &reasons);
}

#[test]
fn what_follows_a_barrier_waits_for_its_answer_too() {
    // As above; the addition has finished at 3, long before, and the one that needs it at 5.
    let mut bench = Bench::new();
    bench.store(FREE, 0x1000);
    bench.run(&instruction(Class::Fence, Operation::default()));
    bench.add(1, FREE);
    bench.add(2, 1);
    let reasons = [(HeldOther, 1), (Reason::StoreFinish, 4), (Finish, 1), (Reason::BlockedBarrier, 18), (AllFinished, 2)];
    bench.finish().expect(26, &reasons);
}

#[test]
fn the_data_of_a_store_are_issued_after_its_translation() {
    // The address is issued at 1 and translated at 14; the data follow at 16, and the load that forwards them is launched at 22.
    let mut bench = Bench::new();
    bench.touch(0x1000, AccessKind::Store).translation = 13;
    bench.run(&instruction(Class::Store, Operation { width: 8, reads: &[Register(FREE)], ..Operation::default() }));
    bench.load(4, 0x1000, None);
    let reasons = [
        (HeldOther, 1),
        (Reason::Translation, 13),
        (Reason::StoreFinish, 4),
        (Finish, 2),
        (Reason::StoreDataWait, 3),
        (Reason::Forward, 4),
        (AllFinished, 2),
    ];
    bench.finish().expect(29, &reasons);
}

#[test]
fn an_exception_keeps_the_oldest_from_completing() {
    // Dispatched at 0 and finished at 1, it completes 30 + 1 + 2 later; the handler begins at 35, and completes at 35 + 5.
    let mut bench = Bench::new();
    bench.found.continuation = Continuation::Far;
    bench.run(&instruction(Class::Exception, Operation::default()));
    bench.add(1, FREE);
    assert_eq!(bench.count(Signal::OldestFlushes), 1);
    let reasons = [
        (Reason::DispatchFinish, 1),
        (Finish, 2),
        (Reason::BlockedException, 30),
        (Reason::OldestFlush, 1),
        (AllFinished, 4),
        (HeldOther, 1),
        (Fixed, 2),
    ];
    bench.finish().expect(41, &reasons);
}

#[test]
fn instructions_that_name_no_registers_follow_each_other() {
    let mut bench = Bench::new();
    (0..100).for_each(|_| bench.run(&Instruction::default()));
    assert_eq!(bench.finish().cycles, 204);
}

#[test]
fn a_pipeline_goes_on_where_it_was_saved() {
    let run = |save_at: Option<usize>| {
        let mut bench = Bench::new();
        for number in 0..400u64 {
            if save_at == Some(number as usize) {
                while bench.core.account.next(0).is_some() {}
                let mut writer = Writer::default();
                bench.core.save(&mut writer);
                bench.core = Power9Pipeline::new();
                bench.core.load(&mut Reader(&writer.0)).expect("it was saved here");
            }
            match number % 7 {
                0 => bench.load(1, 0x1000 + 72 * number, (number % 3 == 0).then_some((MEMORY, Source::Memory))),
                1 => bench.store(1, 0x1000 + 72 * number - 72),
                2 => bench.load(2, 0x1000 + 72 * number - 144, None),
                3 => bench.operate(Class::FloatDivide, 40, 40),
                4 if number % 5 == 0 => {
                    bench.found.continuation = Continuation::Mispredicted;
                    bench.run(&instruction(Class::Branch, Operation { reads: &[Register(2)], ..Operation::default() }));
                }
                _ => bench.add(3, 2),
            }
        }
        (bench.core.completed, bench.core.unowned, bench.core.group.at)
    };
    assert_eq!(run(None), run(Some(203)));
}

#[test]
fn each_cycle_of_many_accesses_has_the_reason_of_its_access() {
    let mut bench = Bench::new();
    let first = *bench.touch(0x1000, AccessKind::Load);
    // All are in the slice of the first, one a cycle.
    bench.found.touches = core::array::from_fn(|number| Touch { address: first.address + 32 * number as u64, ..first });
    bench.found.count = 8;
    bench.run(&instruction(Class::Load, Operation { addresses: &[Register(FREE)], writes: &[Register(1)], ..Operation::default() }));
    // Issued at 1, the last is launched at 8.
    bench.finish().expect(15, &[(HeldOther, 1), (Reason::LoadFinish, 7 + 4), (Finish, 1), (AllFinished, 2)]);
}
