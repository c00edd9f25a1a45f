//! The known answers A1 to A20 of `docs/notes/pipelines-x86.md`, part one, section 3: each is worked out there by hand.

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::{K8Pipeline, K8State, STATES};
use crate::instruction::{Access, AccessKind, Class, Elements, Instruction, Operation, Register};
use crate::pipeline::{Continuation, Findings, Touch};
use crate::tally::Tally;

const FLAGS: Register = Register(100);
/// Latency of a load from memory.
const MEMORY: u32 = 123;

/// A core with a warm first level, whose first line is dispatched in cycle 0.
struct Bench {
    core: K8Pipeline,
    tally: Tally,
    found: Findings,
    /// The address of the next access: each hits its own line and bank.
    address: u64,
}

fn instruction<'a>(class: Class, operation: Operation<'a>) -> Instruction<'a> {
    Instruction { class, operation: Some(operation), ..Instruction::default() }
}

impl Bench {
    fn new() -> Bench {
        Bench { core: K8Pipeline::new(), tally: Tally::new(), found: Findings::NONE, address: 0x1_0000 }
    }

    fn run(&mut self, instruction: &Instruction<'_>) {
        self.core.execute(instruction, &self.found, &mut self.tally);
        self.found = Findings::NONE;
    }

    fn touch(&mut self, kind: AccessKind, size: u8, missed: bool) -> Access {
        self.address += 64;
        self.touch_at(self.address, kind, size, missed)
    }

    fn touch_at(&mut self, address: u64, kind: AccessKind, size: u8, missed: bool) -> Access {
        let access = Access { address, physical: address, size, kind, ..Access::default() };
        let touch = Touch { missed, latency: if missed { MEMORY } else { 0 }, ..Touch::new(&access, address >> 6) };
        self.found.touches[self.found.count] = touch;
        self.found.count += 1;
        access
    }

    /// Runs an ADD of two registers of 64 bits.
    fn add(&mut self, to: u16, from: u16) {
        let (to, from) = (Register(to), Register(from));
        self.run(&instruction(Class::Simple, Operation { width: 8, reads: &[to, from], writes: &[to, FLAGS], ..Operation::default() }));
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

    fn mispredicted(&mut self) {
        self.found.continuation = Continuation::Mispredicted;
        self.run(&instruction(Class::Branch, Operation { reads: &[FLAGS], ..Operation::default() }));
    }

    /// Dispatches a partial line, and returns the cycles up to the last completion.
    fn cycles(&mut self) -> u64 {
        if self.core.line.count != 0 {
            self.core.dispatch(&mut self.tally);
        }
        self.core.completed.at + 1
    }

    /// Returns the cycles of every state that has any, including those of instructions in flight, but not those without floating-point
    /// work.
    fn states(&mut self) -> Vec<(&'static str, u64)> {
        let full = self.core.second_full.take(u64::MAX);
        self.core.account.hold(K8State::LoadStoreBuffer as usize, full);
        self.core.account.pass(1 << 20);
        let mut all = [0; STATES.len()];
        while let Some((cycles, states)) = self.core.account.next(u64::MAX) {
            all.iter_mut().enumerate().filter(|(number, _)| states >> number & 1 == 1).for_each(|(_, held)| *held += cycles);
        }
        let idle = K8State::FloatingIdle as usize;
        (0..STATES.len()).filter(|state| *state != idle && all[*state] != 0).map(|state| (SHORT[state], all[state])).collect()
    }
}

/// The states by the manual's codes.
const SHORT: [&str; STATES.len()] =
    ["D0h", "D1h", "D2h", "D3h", "D4h", "D5h", "D6h", "D7h", "D8h", "D9h", "DAh", "23h", "24h 02h", "24h 04h", "87h", "01h"];

#[test]
fn a1_a_chain_of_additions_takes_a_cycle_each() {
    let mut bench = Bench::new();
    (0..12).for_each(|_| bench.add(1, 2));
    assert_eq!(bench.cycles(), 14);
    assert_eq!(bench.states(), []);
}

#[test]
fn a2_independent_additions_go_three_a_cycle_and_just_fit_into_the_reorder_buffer() {
    let mut bench = Bench::new();
    (0..72).for_each(|number| bench.add(number, number));
    assert_eq!(bench.cycles(), 26);
    assert_eq!(bench.states(), []);
}

#[test]
fn a3_a_long_chain_fills_the_schedulers() {
    let mut bench = Bench::new();
    (0..60).for_each(|_| bench.add(1, 2));
    assert_eq!(bench.cycles(), 62);
    assert_eq!(bench.states(), [("D1h", 18), ("D6h", 18)]);
}

#[test]
fn a4_a_load_from_memory_fills_the_reorder_buffer() {
    let mut bench = Bench::new();
    bench.load(1, true);
    (0..90).for_each(|number| bench.add(10 + number % 80, 10 + number % 80));
    assert_eq!(bench.cycles(), 155);
    assert_eq!(bench.states(), [("D1h", 101), ("D5h", 101)]);
}

#[test]
fn a5_stores_behind_a_load_from_memory_fill_both_queues() {
    let mut bench = Bench::new();
    bench.load(1, true);
    for _ in 0..59 {
        let access = bench.touch(AccessKind::Store, 8, false);
        bench.store_of(2, access);
    }
    assert_eq!(bench.cycles(), 144);
    assert_eq!(bench.states(), [("D1h", 115), ("D8h", 115), ("23h", 122)]);
}

#[test]
fn a6_loads_go_two_a_cycle() {
    let mut bench = Bench::new();
    (0..60).for_each(|number| bench.load(number, false));
    assert_eq!(bench.cycles(), 34);
    assert_eq!(bench.states(), [("D1h", 7), ("D8h", 7)]);
}

#[test]
fn a7_eight_misses_overlap() {
    let mut bench = Bench::new();
    (0..24).for_each(|number| bench.load(number, true));
    assert_eq!(bench.cycles(), 372);
    assert_eq!(bench.states(), [("D1h", 1), ("D8h", 1)]);
}

#[test]
fn a8_a_chain_of_floating_point_additions_fills_their_scheduler() {
    let mut bench = Bench::new();
    let operation = Operation { width: 8, reads: &[Register(40), Register(41)], writes: &[Register(40)], ..Operation::default() };
    (0..60).for_each(|_| bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatAdd, operation) }));
    assert_eq!(bench.cycles(), 245);
    assert_eq!(bench.states(), [("D1h", 78), ("D7h", 78)]);
    assert_eq!(bench.tally.get(Signal::FloatingPointAddOps), 60);
}

#[test]
fn a9_a_chain_through_memory_forwards_from_store_to_load() {
    let mut bench = Bench::new();
    for _ in 0..4 {
        let access = bench.touch_at(0x8000, AccessKind::Load, 8, false);
        bench.load_of(1, access);
        let access = bench.touch_at(0x8000, AccessKind::Store, 8, false);
        bench.store_of(1, access);
    }
    assert_eq!(bench.cycles(), 30);
    assert_eq!(bench.states(), []);
}

#[test]
fn a9_additions_to_one_place_in_memory_take_seven_cycles_each() {
    let mut bench = Bench::new();
    for _ in 0..4 {
        let load = bench.touch_at(0x8000, AccessKind::Load, 8, false);
        let store = bench.touch_at(0x8000, AccessKind::Store, 8, false);
        let operation = Operation { width: 8, reads: &[Register(1)], writes: &[FLAGS], ..Operation::default() };
        bench.run(&Instruction { accesses: &[load, store], ..instruction(Class::Simple, operation) });
    }
    assert_eq!(bench.cycles(), 28);
}

/// Returns the cycles of a store of `stored` bytes and a load of `loaded` bytes, `apart` bytes further on.
fn store_and_load(stored: u8, loaded: u8, apart: u64) -> u64 {
    let mut bench = Bench::new();
    let access = bench.touch_at(0x8000, AccessKind::Store, stored, false);
    bench.store_of(1, access);
    let access = bench.touch_at(0x8000 + apart, AccessKind::Load, loaded, false);
    bench.load_of(2, access);
    bench.cycles()
}

#[test]
fn a10_a_load_takes_the_data_of_a_store_or_waits_until_it_is_written() {
    assert_eq!(store_and_load(1, 4, 0), 27);
    assert_eq!(store_and_load(4, 4, 0), 10);
    assert_eq!(store_and_load(4, 4, 64), 5);
}

#[test]
fn a10_only_the_bits_of_a_page_are_compared() {
    assert_eq!(store_and_load(4, 4, 0x1000), 27);
}

#[test]
fn a11_a_mispredicted_branch_empties_the_decoder_for_nine_cycles() {
    let mut bench = Bench::new();
    bench.mispredicted();
    (0..3).for_each(|number| bench.add(number, number));
    assert_eq!(bench.cycles(), 14);
    assert_eq!(bench.states(), [("D0h", 9)]);
}

#[test]
fn a12_a_wrong_path_fills_the_reorder_buffer_behind_a_load() {
    let mut bench = Bench::new();
    bench.load(1, true);
    let test = Operation { width: 8, reads: &[Register(1)], writes: &[FLAGS], ..Operation::default() };
    bench.run(&instruction(Class::Simple, test));
    bench.mispredicted();
    (0..3).for_each(|number| bench.add(10 + number, 10 + number));
    assert_eq!(bench.cycles(), 138);
    assert_eq!(bench.states(), [("D0h", 9), ("D1h", 102), ("D5h", 102)]);
}

#[test]
fn a13_the_right_path_waits_for_the_branch_to_complete() {
    let mut bench = Bench::new();
    bench.load(1, true);
    bench.add(2, 2);
    let operation = Operation { reads: &[Register(101)], ..Operation::default() };
    bench.found.continuation = Continuation::Mispredicted;
    bench.run(&instruction(Class::Branch, operation));
    (0..3).for_each(|number| bench.add(10 + number, 10 + number));
    assert_eq!(bench.cycles(), 128);
    assert_eq!(bench.states(), [("D0h", 9), ("D1h", 114), ("D2h", 114)]);
}

#[test]
fn a14_a_translation_of_the_second_level_is_hidden_by_no_stall() {
    for (translation, cycles) in [(7, 21), (0, 14)] {
        let mut bench = Bench::new();
        let access = bench.touch(AccessKind::Load, 8, false);
        bench.found.touches[0].translation = translation;
        bench.load_of(1, access);
        (0..29).for_each(|number| bench.add(10 + number, 10 + number));
        assert_eq!(bench.cycles(), cycles);
        assert_eq!(bench.states(), []);
    }
}

#[test]
fn a15_operations_of_two_parts_begin_in_any_position() {
    let mut bench = Bench::new();
    for number in 0..6 {
        let register = Register(number);
        let operation = Operation { width: 8, reads: &[register], writes: &[register], ..Operation::default() };
        bench.run(&instruction(Class::BitTest, operation));
    }
    assert_eq!(bench.cycles(), 8);
    let positions = [Signal::DoubleOperationsPosition0, Signal::DoubleOperationsPosition1, Signal::DoubleOperationsPosition2];
    assert_eq!(positions.map(|signal| bench.tally.get(signal)), [2, 2, 2]);
}

#[test]
fn a16_a_division_has_the_front_end_while_it_is_in_microcode() {
    let mut bench = Bench::new();
    let operation = Operation { width: 4, reads: &[Register(1)], writes: &[Register(1)], ..Operation::default() };
    bench.run(&instruction(Class::Divide, operation));
    (0..9).for_each(|number| bench.add(10 + number, 10 + number));
    assert_eq!(bench.cycles(), 44);
    assert_eq!(bench.states(), []);
}

#[test]
fn a17_loads_of_sixteen_bytes_are_two_operations_of_the_store_pipe() {
    let mut bench = Bench::new();
    for number in 0..6 {
        let access = bench.touch(AccessKind::Load, 16, false);
        let operation = Operation { width: 16, packed: true, writes: &[Register(40 + number)], ..Operation::default() };
        bench.run(&Instruction { floating_point: true, accesses: &[access], ..instruction(Class::Load, operation) });
    }
    assert_eq!(bench.cycles(), 18);
    assert_eq!(bench.tally.get(Signal::FloatingPointStoreLoads), 12);
    assert_eq!(bench.states(), []);
}

#[test]
fn a18_a_serialising_instruction_waits_for_everything_before_it() {
    let mut bench = Bench::new();
    (0..12).for_each(|_| bench.add(1, 2));
    bench.run(&instruction(Class::Serializing, Operation::default()));
    assert_eq!(bench.cycles(), 64);
    assert_eq!(bench.states(), [("D1h", 10), ("D3h", 10)]);
}

#[test]
fn a19_a_load_of_a_segment_register_waits_for_the_one_before() {
    let mut bench = Bench::new();
    for _ in 0..2 {
        bench.run(&Instruction { segment_loads: 1, ..instruction(Class::Simple, Operation { width: 2, ..Operation::default() }) });
    }
    bench.cycles();
    assert_eq!(bench.states(), [("D1h", 7), ("D4h", 7)]);
}

#[test]
fn a20_comparisons_to_flags_go_to_the_adder() {
    let mut bench = Bench::new();
    let operation = Operation { width: 8, reads: &[Register(40), Register(41)], writes: &[FLAGS], ..Operation::default() };
    (0..3).for_each(|_| bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatCompare, operation) }));
    // Issued at 4, 5 and 6, three cycles each.
    assert_eq!(bench.cycles(), 10);
    assert_eq!([Signal::FloatingPointFlagOps, Signal::FloatingPointAddOps].map(|signal| bench.tally.get(signal)), [3, 3]);
}

/// Instructions without known registers depend on each other through the shortest operation.
#[test]
fn an_instruction_without_registers_needs_the_one_before() {
    let mut bench = Bench::new();
    (0..12).for_each(|_| bench.run(&Instruction::default()));
    assert_eq!(bench.cycles(), 14);
}

#[test]
fn halves_of_a_vector_do_not_wait_for_each_other() {
    let mut bench = Bench::new();
    let operation =
        Operation { width: 16, packed: true, reads: &[Register(40), Register(41)], writes: &[Register(40)], ..Operation::default() };
    (0..10).for_each(|_| bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatAdd, operation) }));
    // The halves of the first issue at 4 and 5. Each pair needs the later half of the previous one, 4 cycles later: 5, 10, ... 50, and the
    // last second half one cycle later, at 4 + 9 * 5 + 1. It takes 4.
    assert_eq!(bench.cycles(), 4 + 9 * 5 + 1 + 4 + 1);
}

#[test]
fn a_store_of_sixteen_bytes_that_begins_at_the_last_position_is_made_once() {
    let mut bench = Bench::new();
    (0..2).for_each(|number| bench.add(number, number));
    let access = bench.touch_at(0x8000, AccessKind::Store, 16, false);
    let operation = Operation { width: 16, packed: true, reads: &[Register(40)], ..Operation::default() };
    bench.run(&Instruction { floating_point: true, accesses: &[access], ..instruction(Class::Store, operation) });
    bench.load(1, false);
    bench.cycles();
    assert!(bench.core.stores.find(0x8000, 16, 0).is_some());
    assert!(bench.core.stores.find(0x1_0040, 8, 0).is_none());
}

#[test]
fn stores_that_walk_wait_for_the_walker() {
    let mut bench = Bench::new();
    for _ in 0..100 {
        let access = bench.touch(AccessKind::Store, 8, false);
        bench.found.touches[0].translation = 13;
        bench.found.touches[0].walked = true;
        bench.store_of(1, access);
    }
    // The first accesses are in cycle 2. Each walk takes 13 cycles and begins when the previous one has ended; the last store completes a
    // cycle later.
    assert_eq!(bench.cycles(), 2 + 100 * 13 + 1 + 1);
}

/// Returns an instruction of four bytes at `address`.
fn code<'a>(address: u64, operation: Operation<'a>) -> Instruction<'a> {
    Instruction { address, physical: address, length: 4, ..instruction(Class::Simple, operation) }
}

#[test]
fn a_loop_of_one_line_takes_two_cycles() {
    let mut bench = Bench::new();
    for _ in 0..100 {
        bench.run(&code(0x1000, Operation::default()));
        bench.found.continuation = Continuation::Taken;
        bench.run(&Instruction { class: Class::Branch, ..code(0x1004, Operation::default()) });
    }
    // The first line is ready in cycle 2, the last one 198 cycles later; it completes two cycles after dispatch.
    assert_eq!(bench.cycles(), 2 + 198 + 2 + 1);
    // One cycle of each pair is empty, in which the fetcher waits.
    assert_eq!(bench.states(), [("D0h", 2 + 99), ("87h", 100)]);
}

#[test]
fn a_miss_of_code_empties_the_decoder_for_its_latency() {
    let mut bench = Bench::new();
    bench.run(&code(0x1000, Operation::default()));
    bench.found.line = 50;
    bench.run(&code(0x1010, Operation::default()));
    bench.cycles();
    // The first line has bytes of both pieces, which are fetched in cycles 1 and 2 + 50.
    assert_eq!(bench.states(), [("D0h", 53), ("87h", 50)]);
}

#[test]
fn the_target_of_a_far_transfer_is_fetched_after_it() {
    let mut bench = Bench::new();
    bench.run(&Instruction { class: Class::Exception, ..Instruction::default() });
    bench.found.line = 50;
    bench.run(&code(0x1000, Operation::default()));
    bench.cycles();
    assert_eq!(bench.states(), [("D0h", 50), ("D1h", 41), ("DAh", 41), ("87h", 50)]);
}

/// Runs locked additions to one location.
fn locked(count: usize) -> Bench {
    let mut bench = Bench::new();
    for _ in 0..count {
        let load = bench.touch_at(0x8000, AccessKind::Load, 8, false);
        let store = bench.touch_at(0x8000, AccessKind::Store, 8, false);
        bench.found.touches.iter_mut().for_each(|touch| touch.locked = true);
        let accesses = [load, store].map(|access| Access { locked: true, ..access });
        let operation = Operation { width: 8, reads: &[Register(1)], writes: &[FLAGS], ..Operation::default() };
        bench.run(&Instruction { accesses: &accesses, ..instruction(Class::Simple, operation) });
    }
    bench
}

#[test]
fn a_chain_of_locked_additions_takes_eighteen_cycles_each() {
    // InstLatX64, test 84.
    assert_eq!(locked(9).cycles() - locked(1).cycles(), 8 * 18);
}

#[test]
fn a_cycle_in_which_several_locked_additions_wait_counts_once() {
    let mut bench = locked(400);
    let cycles = bench.cycles();
    let states = bench.states();
    // The first one waits for its data from 1 to 4, each other one 18 cycles from the turn of the previous one.
    assert_eq!(states.iter().find(|(state, _)| *state == "24h 02h"), Some(&("24h 02h", 3 + 399 * 18)));
    assert_eq!(states.iter().find(|(state, _)| *state == "24h 04h"), Some(&("24h 04h", 400 * 12)));
    assert_eq!(cycles, 4 + 399 * 18 + 12 + 1);
}

#[test]
fn a_load_that_hits_a_line_on_its_way_waits_for_it() {
    // PK19: the first has X 124, and so has the second, which the first level counts as a hit; both complete then, and the addition that
    // needs the second at 125.
    let mut bench = Bench::new();
    let access = bench.touch_at(0x2_0000, AccessKind::Load, 8, true);
    bench.load_of(1, access);
    let access = bench.touch_at(0x2_0008, AccessKind::Load, 8, false);
    bench.load_of(2, access);
    bench.add(2, 3);
    assert_eq!(bench.cycles(), 126);
}

/// XMM registers, numbered separately.
const XMM: u16 = 40;

/// Runs an instruction of the vector unit; registers are numbers of XMM registers.
fn vector(bench: &mut Bench, class: Class, operation: Operation<'_>, [reads, writes]: [&[u16]; 2]) {
    let registers = |numbers: &[u16]| numbers.iter().map(|number| Register(XMM + number)).collect::<Vec<_>>();
    let (reads, writes) = (registers(reads), registers(writes));
    let operation = Operation { reads: &reads, writes: &writes, ..operation };
    bench.run(&Instruction { floating_point: true, ..instruction(class, operation) });
}

const ADDPS: Operation<'_> = Operation {
    width: 16,
    packed: true,
    elements: Elements::Singles,
    upper: false,
    may_trap: false,
    prefixes: 0,
    addresses: &[],
    reads: &[],
    writes: &[],
};
const MOVLPD: Operation<'_> = Operation { width: 8, packed: false, elements: Elements::Doubles, ..ADDPS };

/// Returns a bench whose XMM1 has singles, but doubles in its lower half.
fn mixed() -> Bench {
    let mut bench = Bench::new();
    vector(&mut bench, Class::FloatAdd, ADDPS, [&[1, 2], &[1]]);
    vector(&mut bench, Class::Load, MOVLPD, [&[1], &[1]]);
    bench
}

#[test]
fn a_vector_operation_on_halves_of_two_types_changes_the_type_once() {
    let mut bench = mixed();
    assert_eq!(bench.tally.get(Signal::FloatingPointRetypes), 0);
    vector(&mut bench, Class::FloatAdd, ADDPS, [&[1, 3], &[3]]);
    vector(&mut bench, Class::FloatAdd, ADDPS, [&[1, 4], &[4]]);
    assert_eq!(bench.tally.get(Signal::FloatingPointRetypes), 1);
}

#[test]
fn scalar_operations_moves_and_stores_do_not_ask_for_types() {
    let mut bench = mixed();
    vector(&mut bench, Class::FloatAdd, MOVLPD, [&[1, 2], &[1]]);
    vector(&mut bench, Class::Store, ADDPS, [&[1], &[]]);
    vector(&mut bench, Class::FloatMove, ADDPS, [&[1], &[5]]);
    assert_eq!(bench.tally.get(Signal::FloatingPointRetypes), 0);
    // The copy is as mixed as the original.
    vector(&mut bench, Class::FloatAdd, ADDPS, [&[5, 2], &[2]]);
    assert_eq!(bench.tally.get(Signal::FloatingPointRetypes), 1);
}

#[test]
fn a_register_whose_halves_are_written_as_one_type_has_one() {
    let mut bench = mixed();
    vector(&mut bench, Class::Load, Operation { upper: true, ..MOVLPD }, [&[1], &[1]]);
    vector(&mut bench, Class::FloatAdd, Operation { elements: Elements::Doubles, ..ADDPS }, [&[1, 2], &[2]]);
    assert_eq!(bench.tally.get(Signal::FloatingPointRetypes), 0);
}

#[test]
fn elements_that_are_not_told_differ_from_nothing() {
    let mut bench = mixed();
    vector(&mut bench, Class::Load, Operation { elements: Elements::Untold, ..MOVLPD }, [&[1], &[1]]);
    vector(&mut bench, Class::FloatAdd, ADDPS, [&[1, 2], &[2]]);
    assert_eq!(bench.tally.get(Signal::FloatingPointRetypes), 0);
}

#[test]
fn every_three_prefixes_beyond_three_take_a_cycle() {
    // Sixteen NOPs of nine bytes in nine pieces: with eight prefixes each waits one cycle, with five none. The last line is ready a cycle
    // after its last piece, and completes two cycles later.
    for (prefixes, waits) in [(8, 16), (5, 0)] {
        let mut bench = Bench::new();
        for number in 0..16 {
            let operation = Operation { prefixes, ..Operation::default() };
            bench.run(&Instruction { address: 9 * number, length: 9, ..instruction(Class::Nop, operation) });
        }
        assert_eq!(bench.cycles(), 9 + waits + 1 + 2 + 1, "{prefixes}");
    }
}
