//! The known answers PM-K1 to PM-K22, PM-K26 and PM-K27 of `docs/notes/pipelines-ia64.md`, section M3: each is worked out there by hand.

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::super::super::bundle::Bundle;
use super::super::super::bytes::{Reader, Writer};
use super::super::super::ia64_register::{APPLICATION, FLOATING, PREDICATES};
use super::super::super::instruction::{Access, AccessKind, Class, Instruction, Operation, Register};
use super::super::super::tally::Tally;
use super::super::touch::{Source, Touch};
use super::super::{Continuation, Found};
use super::signals::State;
use super::{Core, End, STATES};

/// Templates: the last bit is the stop at the end.
const MII: u8 = 0x00;
const MLX: u8 = 0x04;
const MMI: u8 = 0x08;
const M_MI: u8 = 0x0A;
const MFI: u8 = 0x0C;
const MIB: u8 = 0x10;
const STOP: u8 = 1;

const NOP: u64 = 1 << 27;
const NOP_B: u64 = 2 << 37;
const ADD: u64 = 8 << 37;
const COMPARE: u64 = 0xC << 37;
const LD8: u64 = 4 << 37 | 3 << 30;
const LD8_FILL: u64 = 4 << 37 | 0x1B << 30;
const LD8_ACQUIRE: u64 = 4 << 37 | 0x17 << 30;
const ST8: u64 = 4 << 37 | 0x33 << 30;
const ST8_SPILL: u64 = 4 << 37 | 0x3B << 30;
const FMA: u64 = 8 << 37;
const FRCPA: u64 = 1 << 33;
const ALLOC: u64 = 1 << 37 | 6 << 33;
const MOVL: u64 = 6 << 37;
const BRANCH: u64 = 4 << 37 | 2 << 33 | 6;
const CLOOP: u64 = 4 << 37 | 5 << 6;
const PADD: u64 = 8 << 37 | 1 << 34;
const SRLZ_D: u64 = 3 << 31;
/// A move to AR32 (CCV), and to AR16 (RSC).
const MOVE_CCV: u64 = 1 << 37 | 0x2A << 27 | 32 << 20;
const MOVE_RSC: u64 = 1 << 37 | 0x2A << 27 | 16 << 20;
const BSW: u64 = 0x0D << 27;

const MEMORY: u32 = 200;

/// An instruction of a slot.
#[derive(Clone, Copy, Default)]
struct Slot<'a> {
    word: u64,
    class: Class,
    addresses: &'a [Register],
    reads: &'a [Register],
    writes: &'a [Register],
    touch: Option<Touch>,
    accesses: &'a [Access],
    continuation: Continuation,
}

const fn plain<'a>(word: u64) -> Slot<'a> {
    Slot {
        word,
        class: Class::Simple,
        addresses: &[],
        reads: &[],
        writes: &[],
        touch: None,
        accesses: &[],
        continuation: Continuation::Sequential,
    }
}

fn touch(address: u64, kind: AccessKind) -> Touch {
    Touch::new(&Access { address, physical: address, size: 8, kind, ..Access::default() }, address >> 6)
}

/// A touch that missed.
fn missed(address: u64, latency: u32, source: Source) -> Touch {
    Touch { missed: true, latency, source, ..touch(address, AccessKind::Load) }
}

fn load<'a>(writes: &'a [Register], addresses: &'a [Register], touch: Touch) -> Slot<'a> {
    Slot { class: Class::Load, addresses, writes, touch: Some(touch), ..plain(LD8) }
}

fn store<'a>(address: u64) -> Slot<'a> {
    Slot { class: Class::Store, touch: Some(touch(address, AccessKind::Store)), ..plain(ST8) }
}

struct Bench {
    core: Core,
    tally: Tally,
    address: u64,
    found: Found,
}

/// What a run took.
struct Answer {
    states: [u64; STATES.len()],
    events: Vec<(Signal, u64)>,
}

impl Answer {
    fn state(&self, state: State) -> u64 {
        self.states[state as usize]
    }

    /// Groups and bubbles.
    fn cycles(&self) -> u64 {
        self.states[..State::DispersalStall as usize].iter().sum()
    }

    fn event(&self, signal: Signal) -> u64 {
        self.events.iter().find(|(each, _)| *each == signal).map_or(0, |(_, count)| *count)
    }

    /// Cycles of execution, of which groups.
    fn expect(&self, cycles: u64, groups: u64) {
        assert_eq!((self.cycles(), self.state(State::Completion)), (cycles, groups));
        let lost = [Signal::SlotsNotDispersedStop, Signal::SlotsNotDispersedImplicit, Signal::SlotsNotDispersedFrontEnd];
        let lost = lost.iter().map(|signal| self.event(*signal)).sum::<u64>() + self.event(Signal::SlotsNotDispersedLong);
        assert_eq!(lost, self.event(Signal::SlotsNotDispersed));
        // PM44
        let slots = 6 * (cycles - self.state(State::DispersalStall));
        assert_eq!(slots, self.event(Signal::InstructionsDispersed) + lost - self.event(Signal::SlotsOvercounted));
    }

    /// Slots that a stop, an implicit stop, the front end and long instructions took.
    fn slots(&self) -> [u64; 4] {
        [Signal::SlotsNotDispersedStop, Signal::SlotsNotDispersedImplicit, Signal::SlotsNotDispersedFrontEnd, Signal::SlotsNotDispersedLong]
            .map(|signal| self.event(signal))
    }
}

impl Bench {
    fn new() -> Bench {
        Bench { core: Core::new(), tally: Tally::new(), address: 0x4000, found: Found::NONE }
    }

    /// A bundle in sequence.
    fn bundle(&mut self, template: u8, slots: [Slot<'_>; 3]) {
        let words = slots.map(|slot| slot.word);
        // A long instruction has its operation in the last slot.
        let words = if template & 0x1E == MLX { [words[0], 0, words[1]] } else { words };
        let bundle = Bundle::new(template, words);
        let count = if template & 0x1E == MLX { 2 } else { 3 };
        for (number, slot) in slots.iter().enumerate().take(count) {
            let operation =
                Operation { width: 8, addresses: slot.addresses, reads: slot.reads, writes: slot.writes, ..Operation::default() };
            if let Some(touch) = slot.touch {
                self.found.touches[0] = touch;
                self.found.count = 1;
            }
            self.found.continuation = slot.continuation;
            let instruction = Instruction {
                address: self.address,
                length: 16,
                class: slot.class,
                operation: Some(operation),
                accesses: slot.accesses,
                bundle: Some(bundle.at(number as u8)),
                ..Instruction::default()
            };
            self.core.execute(&instruction, &self.found, &mut self.tally);
            self.found = Found::NONE;
        }
        self.address += 16;
    }

    /// The bundle w, so many times.
    fn w(&mut self, count: usize) {
        (0..count).for_each(|_| self.bundle(MII | STOP, [plain(NOP); 3]));
    }

    /// One instruction in the first slot, and a stop behind the bundle.
    fn first(&mut self, slot: Slot<'_>) {
        self.bundle(MII | STOP, [slot, plain(NOP), plain(NOP)]);
    }

    fn branch(&mut self, template: u8, word: u64, continuation: Continuation) {
        self.bundle(template, [plain(NOP), plain(NOP), Slot { continuation, ..plain(word) }]);
    }

    fn finish(mut self) -> Answer {
        self.core.close(End::Stop, &mut self.tally);
        while self.core.filled != 0 {
            self.core.pass(0);
        }
        let mut states = [0; STATES.len()];
        while let Some((clocks, held)) = self.core.track.next(u64::MAX) {
            states.iter_mut().enumerate().filter(|(state, _)| held >> state & 1 == 1).for_each(|(_, sum)| *sum += clocks);
        }
        // What the front end did is reported later than it did it.
        while let Some((cause, clocks)) = self.core.front.reports.peek() {
            if let Some(state) = super::IDLE_STATES.get(usize::from(cause).wrapping_sub(1)) {
                states[*state as usize] += clocks;
            }
            self.core.front.reports.take(clocks);
        }
        Answer { states, events: super::EVENTS.map(|signal| (signal, self.tally.get(signal))).into() }
    }
}

const R4: &[Register] = &[Register(4)];
const R5: &[Register] = &[Register(5)];

fn add<'a>(writes: &'a [Register], reads: &'a [Register]) -> Slot<'a> {
    Slot { reads, writes, ..plain(ADD) }
}

#[test]
fn k1_a_chain_of_additions() {
    let run = |count| {
        let mut bench = Bench::new();
        (0..count).for_each(|_| bench.first(add(R4, R4)));
        bench.finish()
    };
    let answer = run(100);
    answer.expect(100, 100);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (300, [300, 0, 0, 0]));
    // A hundred clocks more.
    let (first, second) = (run(200), run(300));
    assert_eq!(second.state(State::IdleFull) - first.state(State::IdleFull), 50);
    assert_eq!(second.event(Signal::FetchLostFullBundles) - first.event(Signal::FetchLostFullBundles), 100);
}

#[test]
fn k2_six_additions_a_clock() {
    let mut bench = Bench::new();
    for _ in 0..100 {
        bench.bundle(MMI, [plain(ADD); 3]);
        bench.bundle(MMI | STOP, [plain(ADD); 3]);
    }
    let answer = bench.finish();
    answer.expect(100, 100);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (600, [0; 4]));
}

#[test]
fn k3_more_loads_than_ports() {
    let mut bench = Bench::new();
    let each = load(&[], &[], touch(0x1000, AccessKind::Load));
    for _ in 0..100 {
        bench.bundle(MMI, [each, each, plain(NOP)]);
        bench.bundle(MMI | STOP, [each, each, plain(NOP)]);
    }
    let answer = bench.finish();
    answer.expect(200, 200);
    assert_eq!((answer.slots(), answer.event(Signal::SlotsOvercounted)), ([300, 300, 0, 0], 0));
}

#[test]
fn k4_a_stop_inside_a_bundle() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        bench.bundle(M_MI, [plain(ADD); 3]);
        bench.bundle(MFI | STOP, [plain(NOP); 3]);
    }
    let answer = bench.finish();
    answer.expect(20, 20);
    assert_eq!(answer.event(Signal::InstructionsDispersed), 60);
    assert_eq!((answer.slots(), answer.event(Signal::SlotsOvercountedStop)), ([60, 0, 0, 10], 10));
}

#[test]
fn k5_long_instructions() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        bench.bundle(MLX, [plain(NOP), plain(MOVL), plain(0)]);
        bench.bundle(MMI | STOP, [plain(NOP); 3]);
    }
    let answer = bench.finish();
    answer.expect(10, 10);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (50, [0, 0, 0, 10]));
}

#[test]
fn k6_a_branch_that_is_not_taken_splits() {
    let mut bench = Bench::new();
    for _ in 0..100 {
        bench.branch(MIB, BRANCH, Continuation::Sequential);
        bench.w(1);
    }
    let answer = bench.finish();
    answer.expect(200, 200);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (600, [300, 300, 0, 0]));
}

#[test]
fn k7_k8_a_chain_of_loads() {
    for (touch, cycles) in [(touch(0x1000, AccessKind::Load), 199), (missed(0x1000, 5, Source::Second), 595)] {
        let mut bench = Bench::new();
        for number in 0..100 {
            // Each a line of its own, so that no load waits for the line of another.
            bench.first(load(R4, R4, Touch { line: number, ..touch }));
        }
        let answer = bench.finish();
        answer.expect(cycles, 100);
        assert_eq!(answer.state(State::Execution), cycles - 100);
        assert_eq!(answer.state(State::General), cycles - 100);
        assert_eq!((answer.state(State::GeneralNoLoad), answer.state(State::DispersalStall)), (0, cycles - 100));
    }
}

#[test]
fn k9_groups_complete_under_a_miss() {
    let mut bench = Bench::new();
    bench.first(load(R4, &[], missed(0x1000, MEMORY, Source::Memory)));
    bench.w(10);
    bench.first(add(R5, R4));
    let answer = bench.finish();
    answer.expect(201, 12);
    assert_eq!(answer.state(State::General), 189);
}

#[test]
fn k10_a_chain_of_multiplications() {
    let f8 = &[Register(FLOATING + 8)];
    let mut bench = Bench::new();
    for _ in 0..100 {
        bench.bundle(MFI | STOP, [plain(NOP), Slot { reads: f8, writes: f8, ..plain(FMA) }, plain(NOP)]);
    }
    let answer = bench.finish();
    answer.expect(397, 100);
    assert_eq!((answer.state(State::Floating), answer.state(State::General)), (297, 0));
}

#[test]
fn k11_a_division() {
    let f8 = &[Register(FLOATING + 8)];
    let mut bench = Bench::new();
    for number in 0..8 {
        let word = if number == 0 { FRCPA } else { FMA };
        let writes: &[Register] = if number == 0 { &[Register(FLOATING + 8), Register(PREDICATES + 6)] } else { f8 };
        bench.bundle(MFI | STOP, [plain(NOP), Slot { reads: f8, writes, ..plain(word) }, plain(NOP)]);
        bench.w(1);
    }
    let answer = bench.finish();
    answer.expect(30, 16);
    assert_eq!(answer.state(State::Floating), 14);
}

#[test]
fn k12_a_mispredicted_branch() {
    let mut bench = Bench::new();
    bench.w(10);
    bench.branch(MIB | STOP, BRANCH, Continuation::Mispredicted);
    bench.address = 0x8000;
    bench.w(10);
    let answer = bench.finish();
    answer.expect(27, 21);
    assert_eq!((answer.state(State::FlushBranch), answer.state(State::DispersalStall)), (6, 6));
    assert_eq!((answer.state(State::IdleFlush), answer.event(Signal::FetchLostFlushBundles)), (1, 2));
    assert_eq!(answer.event(Signal::SupplyLostFlushBundles), 4);
    assert_eq!(answer.state(State::Starved), 0);
}

#[test]
fn k13_a_mispredicted_branch_on_a_load() {
    let p6 = &[Register(PREDICATES + 6)];
    let mut bench = Bench::new();
    bench.w(10);
    bench.first(load(R4, &[], missed(0x1000, 5, Source::Second)));
    let compare = Slot { reads: R4, writes: p6, ..plain(COMPARE) };
    bench.bundle(MIB | STOP, [compare, plain(NOP), Slot { reads: p6, continuation: Continuation::Mispredicted, ..plain(BRANCH) }]);
    bench.address = 0x8000;
    bench.w(10);
    let answer = bench.finish();
    answer.expect(32, 22);
    assert_eq!((answer.state(State::General), answer.state(State::Predicates), answer.state(State::FlushBranch)), (4, 0, 6));
}

/// A load whose translation takes so long.
fn translated(translation: u32, walked: bool) -> Touch {
    Touch { translation, walked, ..touch(0x2000, AccessKind::Load) }
}

#[test]
fn k14_k16_a_translation_that_misses() {
    for (translation, walked, cycles, state) in [(4, false, 25, State::Transfer), (25, true, 46, State::Walk)] {
        let mut bench = Bench::new();
        bench.w(10);
        bench.first(load(&[Register(7)], &[], translated(translation, walked)));
        bench.w(10);
        let answer = bench.finish();
        answer.expect(cycles, 21);
        assert_eq!([state, State::DataCache, State::Memory].map(|state| answer.state(state)), [u64::from(translation); 3]);
    }
}

#[test]
fn k15_a_late_stage_hides_an_earlier_one() {
    let mut bench = Bench::new();
    bench.w(10);
    bench.first(load(R4, &[], missed(0x1000, 5, Source::Second)));
    bench.first(load(&[Register(7)], &[], translated(4, false)));
    bench.first(add(R5, R4));
    bench.w(10);
    let answer = bench.finish();
    answer.expect(27, 23);
    assert_eq!((answer.state(State::Execution), answer.state(State::General), answer.state(State::Transfer)), (0, 0, 4));
}

#[test]
fn k17_spills_of_an_alloc() {
    let spill = Access { kind: AccessKind::RegisterStackStore, size: 8, ..Access::default() };
    let mut bench = Bench::new();
    bench.w(10);
    bench.first(Slot { class: Class::System, writes: &[Register(40)], accesses: &[spill; 10], ..plain(ALLOC) });
    bench.w(10);
    let answer = bench.finish();
    answer.expect(26, 21);
    assert_eq!((answer.state(State::Spill), answer.state(State::RegisterStack)), (5, 5));
}

#[test]
fn k18_a_counted_loop_of_one_pair() {
    let mut bench = Bench::new();
    for number in 0..50 {
        bench.address = 0x4000;
        bench.bundle(MFI, [plain(NOP); 3]);
        bench.branch(MIB, CLOOP, if number == 49 { Continuation::Sequential } else { Continuation::Taken });
    }
    bench.w(1);
    let answer = bench.finish();
    answer.expect(53, 51);
    assert_eq!((answer.state(State::IdleLoop), answer.state(State::Starved)), (2, 2));
    assert_eq!(answer.event(Signal::FetchLostLoopBundles), 4);
    // Three more for the last group, which is a stop's.
    assert_eq!(answer.slots(), [3, 0, 12, 0]);
}

#[test]
fn k19_a_counted_loop_of_one_bundle() {
    let mut bench = Bench::new();
    for number in 0..50 {
        bench.address = 0x4000;
        bench.branch(MIB, CLOOP, if number == 49 { Continuation::Sequential } else { Continuation::Taken });
    }
    // The last is taken for a bundle that nothing follows: the next pair.
    bench.address = 0x4020;
    bench.core.last = None;
    bench.bundle(MFI, [plain(NOP); 3]);
    bench.bundle(MFI | STOP, [plain(NOP); 3]);
    let answer = bench.finish();
    answer.expect(53, 51);
    assert_eq!(answer.event(Signal::FetchLostUnreachedBundles), 50);
    assert_eq!(answer.event(Signal::SupplyLostUnreachedBundles), 50);
    assert_eq!(answer.slots(), [0, 0, 150 + 12, 0]);
}

#[test]
fn k20_a_line_from_the_second_level() {
    let mut bench = Bench::new();
    for number in 0..60 {
        if number == 30 {
            (bench.found.line, bench.found.code) = (4, Some(Source::Second));
        }
        bench.bundle(MFI, [plain(NOP); 3]);
        bench.bundle(MFI, [plain(NOP); 3]);
    }
    let answer = bench.finish();
    answer.expect(68, 60);
    assert_eq!([State::Starved, State::IdleMiss, State::IdleFill].map(|state| answer.state(state)), [8, 7, 1]);
    assert_eq!((answer.event(Signal::SupplyLostMissBundles), answer.event(Signal::SupplyLostFillBundles)), (14, 2));
    assert_eq!(answer.slots(), [0, 0, 48, 0]);
}

#[test]
fn k21_a_line_from_the_second_level_behind_a_full_buffer() {
    let mut bench = Bench::new();
    bench.w(30);
    (bench.found.line, bench.found.code) = (4, Some(Source::Second));
    bench.w(30);
    let answer = bench.finish();
    answer.expect(62, 60);
    assert_eq!([State::Starved, State::IdleMiss, State::IdleFill].map(|state| answer.state(state)), [2, 7, 1]);
    assert_eq!(answer.slots(), [180, 0, 12, 0]);
}

#[test]
fn k22_a_load_of_what_is_being_stored() {
    let mut bench = Bench::new();
    bench.first(store(0x1000));
    bench.first(load(R4, &[], touch(0x1000, AccessKind::Load)));
    bench.first(add(R5, R4));
    bench.w(5);
    let answer = bench.finish();
    answer.expect(12, 8);
    assert_eq!(answer.state(State::General), 4);
}

#[test]
fn k26_more_misses_than_places() {
    let mut bench = Bench::new();
    for number in 0..9 {
        bench.first(load(&[Register(10 + number)], &[], missed(0x1000 + 256 * u64::from(number), MEMORY, Source::Memory)));
    }
    let answer = bench.finish();
    answer.expect(200, 9);
    assert_eq!(answer.state(State::FillBuffer), 191);
}

#[test]
fn k27_more_stores_than_places() {
    let mut bench = Bench::new();
    for number in 0..100 {
        bench.bundle(MMI | STOP, [store(0x1000 + 16 * number), store(0x1008 + 16 * number), plain(NOP)]);
    }
    let answer = bench.finish();
    answer.expect(188, 100);
    assert_eq!(answer.state(State::StoreBuffer), 88);
}

#[test]
fn a_write_of_a_register_that_a_load_has_not_brought_waits() {
    // PM14: as if it were read.
    let mut bench = Bench::new();
    bench.first(load(R4, &[], missed(0x1000, 14, Source::Third)));
    bench.first(add(R4, &[]));
    let answer = bench.finish();
    answer.expect(2 + 13, 2);
    assert_eq!(answer.state(State::General), 13);
}

#[test]
fn a_parallel_result_as_an_address_empties_the_pipeline() {
    // PM12: eight clocks from one to the other, of which six are the flush.
    let mut bench = Bench::new();
    bench.first(Slot { writes: R4, ..plain(PADD) });
    bench.first(load(R5, R4, touch(0x1000, AccessKind::Load)));
    let answer = bench.finish();
    answer.expect(9, 2);
    assert_eq!((answer.state(State::FlushException), answer.state(State::GeneralNoLoad)), (6, 1));
}

#[test]
fn an_access_behind_an_acquiring_load_waits_for_its_data() {
    // PM19: the data come 14 clocks after execution; the store is in DET two clocks after it.
    let mut bench = Bench::new();
    bench.first(Slot { word: LD8_ACQUIRE, ..load(R4, &[], missed(0x1000, 14, Source::Third)) });
    bench.first(store(0x2000));
    let answer = bench.finish();
    answer.expect(2 + 12, 2);
    assert_eq!(answer.state(State::Ordering), 12);
}

#[test]
fn a_fill_waits_for_the_spill_of_its_bit() {
    // PM20: the next group would be in DET a clock later; five are between them.
    let mut bench = Bench::new();
    bench.first(Slot { word: ST8_SPILL, ..store(0x1000) });
    bench.first(Slot { word: LD8_FILL, ..load(R4, &[], touch(0x1000, AccessKind::Load)) });
    let answer = bench.finish();
    answer.expect(2 + 4, 2);
    assert_eq!(answer.state(State::CollectedNat), 4);
}

#[test]
fn a_serialization_of_data_waits_for_the_registers_before_it() {
    // PM21: it is in DET two clocks after the move executed, so ten are left of twelve.
    let mut bench = Bench::new();
    bench.first(Slot { class: Class::System, writes: &[Register(APPLICATION + 32)], ..plain(MOVE_CCV) });
    bench.first(Slot { class: Class::Fence, ..plain(SRLZ_D) });
    let answer = bench.finish();
    answer.expect(2 + 10, 2);
    assert_eq!(answer.state(State::Serialization), 10);
}

#[test]
fn an_alloc_waits_for_a_write_of_the_stack_configuration() {
    // PM26: the move executes three clocks after dispersal, `alloc` is in REN two after it: thirteen are left.
    let mut bench = Bench::new();
    bench.first(Slot { class: Class::System, writes: &[Register(APPLICATION + 16)], ..plain(MOVE_RSC) });
    bench.first(Slot { class: Class::System, writes: &[Register(40)], ..plain(ALLOC) });
    let answer = bench.finish();
    answer.expect(2 + 13, 2);
    assert_eq!(answer.state(State::StackRegister), 13);
}

#[test]
fn a_switch_of_banks_takes_six_clocks() {
    // PM27
    let mut bench = Bench::new();
    bench.branch(MIB | STOP, BSW, Continuation::Sequential);
    bench.w(5);
    let answer = bench.finish();
    answer.expect(6 + 5, 6);
    assert_eq!(answer.state(State::Bank), 5);
}

#[test]
fn an_instruction_elsewhere_without_a_branch_empties_the_pipeline() {
    let mut bench = Bench::new();
    bench.w(3);
    bench.address = 0x9000;
    bench.w(1);
    let answer = bench.finish();
    answer.expect(4 + 15, 4);
    assert_eq!(answer.state(State::FlushException), 15);
}

/// A stream in which each choice is drawn.
fn random(bench: &mut Bench, state: &mut u64, count: usize) {
    let mut draw = |below: u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    };
    for _ in 0..count {
        let (from, to) = ([Register(draw(24) as u16)], [Register(draw(24) as u16)]);
        let (floats, line) = ([Register(FLOATING + draw(4) as u16)], draw(64));
        let touch = match draw(6) {
            0 => missed(64 * line, 5, Source::Second),
            1 => missed(64 * line, MEMORY, Source::Memory),
            2 => translated(4, false),
            _ => touch(64 * line, AccessKind::Load),
        };
        let memory = match draw(6) {
            0 | 1 => load(&to, &from, touch),
            2 => store(64 * line),
            3 => Slot { word: LD8_FILL, ..load(&to, &from, touch) },
            4 => Slot { word: ST8_SPILL, ..store(64 * line) },
            _ => add(&to, &from),
        };
        if draw(16) == 0 {
            (bench.found.line, bench.found.code) = (4, Some(Source::Second));
        }
        match draw(8) {
            0 => bench.bundle(MFI | draw(2) as u8, [memory, Slot { reads: &floats, writes: &floats, ..plain(FMA) }, add(&to, &from)]),
            1 => bench.bundle(M_MI | draw(2) as u8, [memory, add(&to, &from), add(&from, &to)]),
            2 => bench.bundle(MLX | draw(2) as u8, [memory, plain(MOVL), plain(0)]),
            3 => bench.branch(MIB | draw(2) as u8, NOP_B, Continuation::Sequential),
            4 => {
                let continuation = match draw(4) {
                    0 => Continuation::Mispredicted,
                    1 => Continuation::Taken,
                    2 => Continuation::Resteered(1),
                    _ => Continuation::Sequential,
                };
                bench.branch(MIB | draw(2) as u8, BRANCH, continuation);
                if continuation != Continuation::Sequential {
                    bench.address = 0x4000 + 16 * draw(64);
                }
            }
            _ => bench.bundle(MMI | draw(2) as u8, [memory, add(&to, &from), add(&from, &to)]),
        }
    }
}

#[test]
fn every_clock_has_one_reason_and_every_slot_one_place() {
    for seed in 0..20 {
        let mut bench = Bench::new();
        random(&mut bench, &mut { seed }, 2_000);
        let answer = bench.finish();
        answer.expect(answer.cycles(), answer.state(State::Completion));
        let stalls = [State::Memory, State::Execution, State::RegisterStack].map(|state| answer.state(state)).iter().sum::<u64>();
        let flushes = answer.state(State::FlushBranch) + answer.state(State::FlushException);
        assert_eq!(answer.state(State::DispersalStall), stalls + flushes);
        assert!(answer.state(State::General) <= answer.state(State::Execution) && answer.state(State::General) > 0);
        assert_eq!(answer.state(State::DataCache), answer.state(State::Memory));
    }
}

#[test]
fn restored_it_goes_on_as_if_nothing_had_been() {
    let run = |restore: bool| {
        let (mut bench, mut state) = (Bench::new(), 7);
        random(&mut bench, &mut state, 500);
        if restore {
            let mut writer = Writer::default();
            bench.core.save(&mut writer);
            let mut core = Core::new();
            core.load(&mut Reader(&writer.0)).unwrap();
            bench.core = core;
        } else {
            bench.core.track.clear();
        }
        random(&mut bench, &mut state, 500);
        let answer = bench.finish();
        (answer.states, answer.events)
    };
    assert!(run(false) == run(true));
}
