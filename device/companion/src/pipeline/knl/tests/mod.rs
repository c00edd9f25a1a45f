//! The known answers B1 to B16 of `docs/notes/pipelines-x86.md`, part two, section 3: each is worked out there by hand.

mod threads;

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::front::KnlFrontEnd;
use super::signals::NOT_ALLOCATED;
use super::{EVENTS, KnlPipeline, STATES};
use crate::bytes::{Reader, Writer};
use crate::instruction::{Access, AccessKind, Class, Instruction, Operation, Register};
use crate::pipeline::sharing::{Sharing, Threads};
use crate::pipeline::{Continuation, Findings, Touch};
use crate::tally::Tally;

const FLAGS: Register = Register(100);
/// Latency of a load from MCDRAM.
const MCDRAM: u32 = 216;

/// A core with a warm first level, whose first group is allocated in cycle 0.
struct Bench {
    core: KnlPipeline,
    tally: Tally,
    found: Findings,
    /// The address of the next access: each has its own line.
    address: u64,
    /// The state shared with the other threads of its core, if any run; these threads; and the number of this one.
    sharing: Option<(Sharing, u32, usize)>,
    offset: u64,
}

fn instruction<'a>(class: Class, operation: Operation<'a>) -> Instruction<'a> {
    Instruction { class, operation: Some(operation), ..Instruction::default() }
}

/// The states by the manual's names.
const SHORT: [&str; STATES.len()] =
    ["ROB_FULL", "MISPREDICTS", "RAT_STALL", "serialization", "NOT_DELIVERED", "RS_FULL", "MEC", "DIV_BUSY", "D_WALK", "I_WALK", "FILL"];

impl Bench {
    fn new() -> Bench {
        Bench { core: KnlPipeline::new(), tally: Tally::new(), found: Findings::NONE, address: 0x1_0000, sharing: None, offset: 0 }
    }

    fn run(&mut self, instruction: &Instruction<'_>) {
        let now = self.core.now();
        let mut threads = match &mut self.sharing {
            Some((sharing, running, thread)) => Threads::new(sharing, *thread, *running, now, &mut self.offset),
            None => Threads::ALONE,
        };
        self.core.execute(instruction, &self.found, &mut threads, &mut self.tally);
        self.found = Findings::NONE;
    }

    fn touch(&mut self, kind: AccessKind, size: u8, missed: bool) -> Access {
        self.address += 64;
        self.touch_at(self.address, kind, size, missed)
    }

    fn touch_at(&mut self, address: u64, kind: AccessKind, size: u8, missed: bool) -> Access {
        let access = Access { address, physical: address, size, kind, ..Access::default() };
        let touch = Touch { missed, latency: if missed { MCDRAM } else { 0 }, ..Touch::new(&access, address >> 6) };
        self.found.touches[self.found.count] = touch;
        self.found.count += 1;
        access
    }

    /// Runs an ADD of two registers of 64 bits.
    fn add(&mut self, to: u16, from: u16) {
        let (to, from) = (Register(to), Register(from));
        self.run(&instruction(Class::Simple, Operation { width: 8, reads: &[to, from], writes: &[to, FLAGS], ..Operation::default() }));
    }

    /// Runs `count` additions that only need registers that are ready.
    fn independent(&mut self, count: u16) {
        (0..count).for_each(|number| self.add(10 + number % 80, 10 + number % 80));
    }

    fn load(&mut self, to: u16, missed: bool) {
        let access = self.touch(AccessKind::Load, 8, missed);
        self.load_of(to, access);
    }

    fn load_of(&mut self, to: u16, access: Access) {
        let operation = Operation { width: access.size, writes: &[Register(to)], ..Operation::default() };
        self.run(&Instruction { accesses: &[access], ..instruction(Class::Load, operation) });
    }

    fn store_of(&mut self, from: u16, access: Access) {
        let operation = Operation { width: access.size, reads: &[Register(from)], ..Operation::default() };
        self.run(&Instruction { accesses: &[access], ..instruction(Class::Store, operation) });
    }

    fn mispredicted(&mut self, needs: Register) {
        self.found.continuation = Continuation::Mispredicted;
        self.run(&instruction(Class::Branch, Operation { reads: &[needs], ..Operation::default() }));
    }

    /// Returns the cycles up to the last completion.
    fn cycles(&mut self) -> u64 {
        self.core.completed.at + 1
    }

    /// Returns the cycles of every state that has any, including those of instructions in flight.
    fn states(&mut self) -> Vec<(&'static str, u64)> {
        self.states_until(1 << 20)
    }

    /// Returns the cycles of every state up to cycle `until`.
    fn states_until(&mut self, until: u64) -> Vec<(&'static str, u64)> {
        self.core.pass(until);
        let mut all = [0; STATES.len()];
        while let Some((cycles, states)) = self.core.account.next(u64::MAX) {
            all.iter_mut().enumerate().filter(|(number, _)| states >> number & 1 == 1).for_each(|(_, held)| *held += cycles);
        }
        (0..STATES.len()).filter(|state| all[*state] != 0).map(|state| (SHORT[state], all[state])).collect()
    }

    /// Returns the events that have occurred.
    fn events(&self) -> Vec<(&'static str, u64)> {
        EVENTS.iter().map(|signal| (signal.name(), self.tally.get(*signal))).filter(|(_, count)| *count != 0).collect()
    }
}

/// Returns the cycles without allocation among these states, whatever the reason: NO_ALLOC_CYCLES.ALL.
fn all(states: &[(&'static str, u64)]) -> u64 {
    let reasons = NOT_ALLOCATED.count_ones() as usize;
    states.iter().filter(|(name, _)| SHORT[..reasons].contains(name)).map(|(_, cycles)| cycles).sum()
}

#[test]
fn b1_a_chain_of_additions_takes_a_cycle_each() {
    let mut bench = Bench::new();
    (0..20).for_each(|_| bench.add(1, 2));
    assert_eq!(bench.cycles(), 22);
    assert_eq!(bench.states(), []);
}

#[test]
fn b2_independent_additions_go_two_a_cycle_and_just_fit_into_the_window() {
    let mut bench = Bench::new();
    bench.independent(72);
    assert_eq!(bench.cycles(), 38);
    assert_eq!(bench.states(), []);
}

#[test]
fn b3_a_long_chain_fills_both_stations_and_one_micro_operation_goes_on_each_cycle() {
    let mut bench = Bench::new();
    (0..80).for_each(|_| bench.add(1, 2));
    assert_eq!(bench.cycles(), 82);
    assert_eq!(bench.states(), [("RS_FULL", 35)]);
}

#[test]
fn b4_a_division_keeps_the_divider_and_not_what_follows() {
    let mut bench = Bench::new();
    let operation = Operation { width: 8, reads: &[Register(200), Register(201)], writes: &[Register(200)], ..Operation::default() };
    bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatDivide, operation) });
    bench.independent(40);
    assert_eq!(bench.cycles(), 64);
    assert_eq!(bench.states(), [("DIV_BUSY", 32)]);
}

#[test]
fn b5_a_load_from_memory_fills_the_reorder_buffer() {
    let mut bench = Bench::new();
    bench.load(1, true);
    bench.independent(100);
    assert_eq!(bench.cycles(), 268);
    assert_eq!(bench.states(), [("ROB_FULL", 182)]);
}

#[test]
fn b6_what_needs_a_load_from_memory_fills_the_stations() {
    let mut bench = Bench::new();
    bench.load(1, true);
    (0..40).for_each(|number| bench.add(10 + number, 1));
    assert_eq!(bench.cycles(), 238);
    assert_eq!(bench.states(), [("RAT_STALL", 205), ("RS_FULL", 206)]);
}

#[test]
fn b7_an_address_that_is_not_known_holds_up_the_station_of_memory() {
    let mut bench = Bench::new();
    bench.load(1, true);
    let access = bench.touch(AccessKind::Load, 8, false);
    let operation = Operation { width: 8, addresses: &[Register(1)], writes: &[Register(2)], ..Operation::default() };
    bench.run(&Instruction { accesses: &[access], ..instruction(Class::Load, operation) });
    for number in 0..20 {
        let access = bench.touch(AccessKind::Load, 16, false);
        let operation = Operation { width: 16, packed: true, writes: &[Register(40 + number)], ..Operation::default() };
        bench.run(&Instruction { floating_point: true, accesses: &[access], ..instruction(Class::Load, operation) });
    }
    assert_eq!(bench.cycles(), 233);
    assert_eq!(bench.states(), [("RAT_STALL", 211), ("RS_FULL", 212), ("MEC", 212)]);
}

#[test]
fn b8_a_chain_of_floating_point_additions_fills_the_vector_stations() {
    let mut bench = Bench::new();
    let operation = Operation { width: 8, reads: &[Register(200), Register(201)], writes: &[Register(200)], ..Operation::default() };
    (0..60).for_each(|_| bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatAdd, operation) }));
    assert_eq!(bench.cycles(), 362);
    assert_eq!(bench.states(), [("RAT_STALL", 79), ("RS_FULL", 94)]);
}

#[test]
fn b9_a_chain_through_memory_forwards_from_store_to_load() {
    let mut bench = Bench::new();
    for _ in 0..4 {
        let access = bench.touch_at(0x8000, AccessKind::Load, 8, false);
        bench.load_of(1, access);
        let access = bench.touch_at(0x8000, AccessKind::Store, 8, false);
        bench.store_of(1, access);
    }
    assert_eq!(bench.cycles(), 34);
    assert_eq!(bench.events(), [("loads_recycled_data", 3), ("loads_recycled", 3)]);
    assert_eq!(bench.states(), []);
}

#[test]
fn b10_a_load_of_more_bytes_than_a_store_has_waits_until_it_is_written() {
    let mut bench = Bench::new();
    let access = bench.touch_at(0x8000, AccessKind::Store, 4, false);
    bench.store_of(1, access);
    let access = bench.touch_at(0x8000, AccessKind::Load, 8, false);
    bench.load_of(2, access);
    assert_eq!(bench.cycles(), 11);
    assert_eq!(bench.events(), [("loads_recycled_overlap", 1), ("loads_recycled", 1)]);
}

#[test]
fn b11_sixteen_stores_wait_to_be_written_and_more_are_recycled() {
    let mut bench = Bench::new();
    bench.load(1, true);
    for _ in 0..20 {
        let access = bench.touch(AccessKind::Store, 8, false);
        bench.store_of(2, access);
    }
    assert_eq!(bench.cycles(), 228);
    assert_eq!(bench.events(), [("stores_recycled_address", 4), ("stores_recycled", 4)]);
    assert_eq!(bench.states(), []);
}

#[test]
fn b12_a_misprediction_is_waited_for_until_it_completes_and_then_the_front_end() {
    let mut bench = Bench::new();
    bench.mispredicted(FLAGS);
    bench.independent(4);
    assert_eq!(bench.cycles(), 17);
    let states = bench.states();
    assert_eq!(states, [("MISPREDICTS", 1), ("NOT_DELIVERED", 10)]);
    assert_eq!(all(&states), 11);
}

#[test]
fn b13_a_wrong_path_fills_the_reorder_buffer_behind_a_load() {
    let mut bench = Bench::new();
    bench.load(1, true);
    let test = Operation { width: 8, reads: &[Register(1)], writes: &[FLAGS], ..Operation::default() };
    bench.run(&instruction(Class::Simple, test));
    bench.mispredicted(FLAGS);
    bench.independent(4);
    assert_eq!(bench.cycles(), 234);
    let states = bench.states();
    assert_eq!(states, [("ROB_FULL", 182), ("MISPREDICTS", 1), ("NOT_DELIVERED", 10)]);
    assert_eq!(all(&states), 193);
}

#[test]
fn b14_the_right_path_waits_for_the_branch_to_complete() {
    let mut bench = Bench::new();
    bench.load(1, true);
    bench.mispredicted(Register(101));
    bench.independent(4);
    assert_eq!(bench.cycles(), 222);
    assert_eq!(bench.states(), [("MISPREDICTS", 216)]);
}

#[test]
fn b15_a_translation_of_the_second_level_is_hidden_by_no_stall() {
    for (translation, cycles) in [(8, 28), (0, 20)] {
        let mut bench = Bench::new();
        let access = bench.touch(AccessKind::Load, 8, false);
        bench.found.touches[0].translation = translation;
        bench.load_of(1, access);
        bench.independent(29);
        assert_eq!(bench.cycles(), cycles);
        assert_eq!(bench.states(), []);
    }
}

#[test]
fn b16_flows_of_microcode_have_the_front_end_for_themselves() {
    let mut bench = Bench::new();
    let (first, second) = (Register(1), Register(2));
    let operation = Operation { width: 8, reads: &[first, second], writes: &[first, second], ..Operation::default() };
    (0..4).for_each(|_| bench.run(&instruction(Class::Exchange, operation)));
    assert_eq!(bench.cycles(), 34);
    assert_eq!(bench.events(), [("microcode_entries", 4)]);
    assert_eq!(bench.states(), []);
}

/// Instructions without known registers depend on each other through the shortest operation.
#[test]
fn an_instruction_without_registers_needs_the_one_before() {
    let mut bench = Bench::new();
    (0..12).for_each(|_| bench.run(&Instruction::default()));
    assert_eq!(bench.cycles(), 14);
}

#[test]
fn additions_to_one_place_in_memory_are_seven_cycles_apart() {
    let chain = |count: usize| {
        let mut bench = Bench::new();
        for _ in 0..count {
            let load = bench.touch_at(0x8000, AccessKind::Load, 8, false);
            let store = bench.touch_at(0x8000, AccessKind::Store, 8, false);
            let operation = Operation { width: 8, reads: &[Register(1)], writes: &[FLAGS], ..Operation::default() };
            bench.run(&Instruction { accesses: &[load, store], ..instruction(Class::Simple, operation) });
        }
        bench.cycles()
    };
    // InstLatX64, tests 76 to 83.
    assert_eq!(chain(9) - chain(1), 8 * 7);
}

#[test]
fn a_chain_of_locked_additions_takes_thirteen_cycles_each() {
    let chain = |count: usize| {
        let mut bench = Bench::new();
        for _ in 0..count {
            let load = bench.touch_at(0x8000, AccessKind::Load, 8, false);
            let store = bench.touch_at(0x8000, AccessKind::Store, 8, false);
            bench.found.touches.iter_mut().for_each(|touch| touch.locked = true);
            let accesses = [load, store].map(|access| Access { locked: true, ..access });
            let operation = Operation { width: 8, reads: &[Register(1)], writes: &[FLAGS], ..Operation::default() };
            bench.run(&Instruction { accesses: &accesses, ..instruction(Class::Simple, operation) });
        }
        bench.cycles()
    };
    // InstLatX64, tests 84 to 89.
    assert_eq!(chain(9) - chain(1), 8 * 13);
}

#[test]
fn two_loads_of_one_line_share_its_arrival() {
    let mut bench = Bench::new();
    let access = bench.touch_at(0x8000, AccessKind::Load, 8, true);
    bench.load_of(1, access);
    // The cache already has the line.
    let access = bench.touch_at(0x8008, AccessKind::Load, 8, false);
    bench.load_of(2, access);
    // The second is issued one cycle later and gets its data with the first, in cycle 217.
    assert_eq!(bench.cycles(), 218);
}

#[test]
fn the_thirteenth_miss_waits_for_the_first() {
    let mut bench = Bench::new();
    (0..13).for_each(|number| bench.load(number, true));
    // One is issued per cycle from 1 on; the first line arrives in 217, and the thirteenth is requested then.
    assert_eq!(bench.cycles(), 217 + 216 + 1);
}

#[test]
fn a_serialising_instruction_waits_for_everything_before_it() {
    let mut bench = Bench::new();
    (0..12).for_each(|_| bench.add(1, 2));
    bench.run(&instruction(Class::Serializing, Operation::default()));
    bench.add(3, 4);
    // The additions are allocated in 0 to 5 and complete in 13. CPUID is allocated in 14 and occupies the front end for 63 cycles.
    assert_eq!(bench.cycles(), 14 + 63 + 2 + 1);
    assert_eq!(bench.states(), [("serialization", 8)]);
}

#[test]
fn a_divider_that_is_taken_is_waited_for() {
    let mut bench = Bench::new();
    for number in 0..2 {
        let (to, from) = (Register(200 + number), Register(210));
        let operation = Operation { width: 4, reads: &[to, from], writes: &[to], ..Operation::default() };
        bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatDivide, operation) });
    }
    // 1 and 18, with a latency of 27.
    assert_eq!(bench.cycles(), 18 + 27 + 1);
    assert_eq!(bench.states(), [("DIV_BUSY", 34)]);
}

#[test]
fn a_push_does_not_wait_for_what_it_stores_to_change_the_stack_pointer() {
    let mut bench = Bench::new();
    bench.load(1, true);
    let stack = Register(4);
    for _ in 0..2 {
        let access = bench.touch(AccessKind::Store, 8, false);
        let operation = Operation { width: 8, addresses: &[stack], reads: &[Register(1)], writes: &[stack], ..Operation::default() };
        bench.run(&Instruction { accesses: &[access], ..instruction(Class::Push, operation) });
    }
    let operation = Operation { width: 8, addresses: &[stack], writes: &[stack], ..Operation::default() };
    let access = bench.touch(AccessKind::Load, 8, true);
    bench.run(&Instruction { accesses: &[access], ..instruction(Class::Load, operation) });
    // Stack pointers at 2 and 3: the second load is issued in 3, two cycles after the first.
    assert_eq!(bench.cycles(), 3 + 216 + 1);
}

/// Returns an instruction of four bytes at `address`.
fn code<'a>(address: u64, operation: Operation<'a>) -> Instruction<'a> {
    Instruction { address, physical: address, length: 4, ..instruction(Class::Simple, operation) }
}

#[test]
fn two_instructions_are_decoded_a_cycle_and_a_long_one_alone() {
    let run = |lengths: [u8; 2]| {
        let (mut bench, mut address) = (Bench::new(), 0x1000);
        for number in 0..64 {
            let length = lengths[number % 2];
            bench.run(&Instruction { length, ..code(address, Operation::default()) });
            address += u64::from(length);
        }
        bench.cycles()
    };
    // The first piece is fetched in 1 and decoded in 2; each pair is allocated, issued and completed in one cycle each after its decoding.
    assert_eq!(run([4, 4]), 2 + 31 + 3 + 1);
    // Of 9 and 3 bytes: each has a cycle of its own.
    assert_eq!(run([9, 3]), 2 + 63 + 3 + 1);
    // A piece of 16 bytes is fetched each cycle.
    assert_eq!(run([8, 8]), 2 + 31 + 3 + 1);
}

#[test]
fn a_loop_of_one_pair_takes_a_cycle_and_a_target_that_the_decoder_finds_six_more() {
    let run = |continuation: Continuation| {
        let mut bench = Bench::new();
        for _ in 0..100 {
            bench.run(&code(0x1000, Operation::default()));
            bench.found.continuation = continuation;
            bench.run(&Instruction { class: Class::Branch, ..code(0x1004, Operation::default()) });
        }
        (bench.cycles(), bench.states())
    };
    // Decoded in 2, allocated in 3, issued in 4, completed in 5.
    assert_eq!(run(Continuation::Taken), (5 + 99 + 1, [("NOT_DELIVERED", 3)].into()));
    assert_eq!(run(Continuation::Resteered(1)), (5 + 99 * 7 + 1, [("NOT_DELIVERED", 3 + 99 * 6)].into()));
}

#[test]
fn a_miss_of_code_is_pending_for_its_latency_and_starves_allocation_for_what_the_queue_does_not_hide() {
    let mut bench = Bench::new();
    bench.run(&code(0x1000, Operation::default()));
    bench.found.line = 50;
    bench.run(&code(0x1010, Operation::default()));
    // Fetched in 1 and in 2 + 50, allocated in 3 and in 54.
    assert_eq!(bench.cycles(), 54 + 2 + 1);
    assert_eq!(bench.states(), [("NOT_DELIVERED", 3 + 50), ("FILL", 50)]);
}

#[test]
fn walks_of_data_and_of_code_take_turns() {
    let mut bench = Bench::new();
    let access = bench.touch(AccessKind::Load, 8, false);
    (bench.found.touches[0].translation, bench.found.touches[0].walked) = (30, true);
    bench.load_of(1, access);
    (bench.found.translation, bench.found.walk) = (30, 30);
    bench.run(&code(0x1000, Operation::default()));
    // A data walk from 1 to 31, then a code walk to 61: decoded in 62, allocated in 63.
    assert_eq!(bench.cycles(), 63 + 2 + 1);
    assert_eq!(bench.states(), [("NOT_DELIVERED", 62), ("D_WALK", 30), ("I_WALK", 30)]);
}

#[test]
fn a_restart_waits_until_every_store_is_written() {
    let mut bench = Bench::new();
    let access = bench.touch(AccessKind::Store, 8, true);
    bench.store_of(1, access);
    bench.found.continuation = Continuation::Restarted;
    bench.run(&instruction(Class::Simple, Operation::default()));
    bench.add(3, 4);
    // The line of the store arrives in 1 + 216. From 1 to 36 a wrong path fills the window. The right one is allocated twelve cycles later.
    assert_eq!(bench.cycles(), 217 + 12 + 2 + 1);
    assert_eq!(bench.states(), [("ROB_FULL", 217 - 36), ("NOT_DELIVERED", 11)]);
}

#[test]
fn saved_in_the_middle_it_goes_on_as_if_nothing_had_been() {
    let step = |bench: &mut Bench, number: u64| {
        match number % 7 {
            0 => bench.load(1, number.is_multiple_of(3)),
            1 => {
                let access = bench.touch(AccessKind::Store, 8, number.is_multiple_of(5));
                bench.store_of(1, access);
            }
            2 => bench.mispredicted(FLAGS),
            3 => bench.run(&instruction(Class::Divide, Operation { width: 4, reads: &[Register(1)], ..Operation::default() })),
            4 => bench.run(&code(0x1000 + number * 4, Operation::default())),
            _ => bench.add(1, 2),
        };
    };
    let mut bench = Bench::new();
    (0..300).for_each(|number| step(&mut bench, number));
    while bench.core.account.next(u64::MAX).is_some() {}
    let mut writer = Writer::default();
    bench.core.save(&mut writer);
    let mut other = Bench { tally: bench.tally.clone(), address: bench.address, ..Bench::new() };
    let mut reader = Reader(&writer.0);
    other.core.load(&mut reader).unwrap();
    assert!(reader.0.is_empty());
    for bench in [&mut bench, &mut other] {
        (300..600).for_each(|number| step(bench, number));
    }
    assert_eq!((bench.cycles(), bench.states(), bench.events()), (other.cycles(), other.states(), other.events()));
}

#[test]
fn a_request_that_finds_twelve_lines_on_their_way_is_rejected_once() {
    // Loads issue one per cycle, the first at 1. The 13th waits until 217 for the first line; each of those behind it finds one free. The
    // 25th is ready at 229 and waits for the line of the 13th, until 433.
    for (loads, rejects) in [(12, 0), (13, 1), (24, 1), (25, 2)] {
        let mut bench = Bench::new();
        (0..loads).for_each(|number| bench.load(20 + number, true));
        bench.cycles();
        assert_eq!(bench.tally.get(Signal::SecondLevelQueueRejects), rejects, "{loads}");
    }
}

#[test]
fn prefixes_beyond_three_take_three_cycles_for_each_three_begun() {
    // Each of ten NOPs is decoded six cycles after the previous one with four prefixes, and nine with seven; with three, two are decoded
    // per cycle. The first is fetched in cycle 1 and decoded from 2 on.
    for (prefixes, last) in [(3, 2 + 4), (4, 1 + 10 * 6), (7, 1 + 10 * 9)] {
        let mut front = KnlFrontEnd::new();
        let delivered = (0..10).map(|number| {
            let operation = Operation { prefixes, ..Operation::default() };
            let nop = Instruction { address: number, length: 1, ..instruction(Class::Nop, operation) };
            front.deliver(&nop, None, &mut 0)
        });
        assert_eq!(delivered.last(), Some(last + 1), "{prefixes}");
    }
}
