//! Bundles of the pipeline of Montecito, and what they take.

mod answers;
mod rules;
mod threads;

use alloc::vec::Vec;

use vm_pmu_arch::feed::Signal;

use super::super::super::bundle::Bundle;
use super::super::super::bytes::{Reader, Writer};
use super::super::super::ia64_register::{APPLICATION, FLOATING, PREDICATES};
use super::super::super::instruction::{Access, AccessKind, Class, Instruction, Operation, Register};
use super::super::super::tally::Tally;
use super::super::touch::{Source, Touch};
use super::super::{Continuation, Found, ThirdLevelMiss};
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

/// A load whose translation takes so long.
fn translated(translation: u32, walked: bool) -> Touch {
    Touch { translation, walked, ..touch(0x2000, AccessKind::Load) }
}
