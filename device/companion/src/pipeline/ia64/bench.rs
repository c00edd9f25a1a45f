//! Bundles for pipeline tests, and a bench that runs them.

use crate::bundle::Bundle;
use crate::ia64_register::FLOATING;
use crate::instruction::{Access, AccessKind, Class, Instruction, Operation, Register};
use crate::pipeline::touch::{Source, Touch};
use crate::pipeline::{Continuation, Findings};
use crate::tally::Tally;

/// Templates: the last bit is the stop at the end.
pub(in crate::pipeline) const MII: u8 = 0x00;
pub(in crate::pipeline) const MLX: u8 = 0x04;
pub(in crate::pipeline) const MMI: u8 = 0x08;
pub(in crate::pipeline) const M_MI: u8 = 0x0A;
pub(in crate::pipeline) const MFI: u8 = 0x0C;
pub(in crate::pipeline) const MMF: u8 = 0x0E;
pub(in crate::pipeline) const MIB: u8 = 0x10;
pub(in crate::pipeline) const BBB: u8 = 0x16;
pub(in crate::pipeline) const STOP: u8 = 1;

pub(in crate::pipeline) const NOP: u64 = 1 << 27;
pub(in crate::pipeline) const NOP_B: u64 = 2 << 37;
pub(in crate::pipeline) const ADD: u64 = 8 << 37;
pub(in crate::pipeline) const COMPARE: u64 = 0xC << 37;
pub(in crate::pipeline) const LD8: u64 = 4 << 37 | 3 << 30;
pub(in crate::pipeline) const LD8_FILL: u64 = 4 << 37 | 0x1B << 30;
pub(in crate::pipeline) const LD8_ACQUIRE: u64 = 4 << 37 | 0x17 << 30;
pub(in crate::pipeline) const ST8: u64 = 4 << 37 | 0x33 << 30;
pub(in crate::pipeline) const ST8_SPILL: u64 = 4 << 37 | 0x3B << 30;
pub(in crate::pipeline) const FMA: u64 = 8 << 37;
pub(in crate::pipeline) const FRCPA: u64 = 1 << 33;
pub(in crate::pipeline) const FCMP: u64 = 4 << 37;
pub(in crate::pipeline) const LDFD: u64 = 6 << 37 | 3 << 30;
pub(in crate::pipeline) const EXTRACT: u64 = 5 << 37 | 1 << 34;
pub(in crate::pipeline) const ALLOC: u64 = 1 << 37 | 6 << 33;
pub(in crate::pipeline) const MOVL: u64 = 6 << 37;
pub(in crate::pipeline) const BRANCH: u64 = 4 << 37 | 2 << 33 | 6;
pub(in crate::pipeline) const CLOOP: u64 = 4 << 37 | 5 << 6;
pub(in crate::pipeline) const PADD: u64 = 8 << 37 | 1 << 34;
pub(in crate::pipeline) const SRLZ_D: u64 = 3 << 31;
/// A move to AR32 (CCV), and to AR16 (RSC).
pub(in crate::pipeline) const MOVE_CCV: u64 = 1 << 37 | 0x2A << 27 | 32 << 20;
pub(in crate::pipeline) const MOVE_RSC: u64 = 1 << 37 | 0x2A << 27 | 16 << 20;
pub(in crate::pipeline) const BSW: u64 = 0x0D << 27;

pub(in crate::pipeline) const MEMORY: u32 = 200;

/// An instruction of a slot.
#[derive(Clone, Copy, Default)]
pub(in crate::pipeline) struct Slot<'a> {
    pub(in crate::pipeline) word: u64,
    pub(in crate::pipeline) class: Class,
    pub(in crate::pipeline) addresses: &'a [Register],
    pub(in crate::pipeline) reads: &'a [Register],
    pub(in crate::pipeline) writes: &'a [Register],
    pub(in crate::pipeline) touch: Option<Touch>,
    pub(in crate::pipeline) accesses: &'a [Access],
    pub(in crate::pipeline) continuation: Continuation,
    pub(in crate::pipeline) may_trap: bool,
}

pub(in crate::pipeline) fn plain<'a>(word: u64) -> Slot<'a> {
    Slot {
        word,
        class: Class::Simple,
        addresses: &[],
        reads: &[],
        writes: &[],
        touch: None,
        accesses: &[],
        continuation: Continuation::Sequential,
        may_trap: false,
    }
}

pub(in crate::pipeline) fn touch(address: u64, kind: AccessKind) -> Touch {
    Touch::new(&Access { address, physical: address, size: 8, kind, ..Access::default() }, address >> 6)
}

/// Returns a touch that missed.
pub(in crate::pipeline) fn missed(address: u64, latency: u32, source: Source) -> Touch {
    Touch { missed: true, latency, source, ..touch(address, AccessKind::Load) }
}

pub(in crate::pipeline) fn load<'a>(writes: &'a [Register], addresses: &'a [Register], touch: Touch) -> Slot<'a> {
    Slot { class: Class::Load, addresses, writes, touch: Some(touch), ..plain(LD8) }
}

pub(in crate::pipeline) fn store<'a>(address: u64) -> Slot<'a> {
    Slot { class: Class::Store, touch: Some(touch(address, AccessKind::Store)), ..plain(ST8) }
}

/// A pipeline.
pub(in crate::pipeline) trait Executes {
    fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, tally: &mut Tally);
}

pub(in crate::pipeline) struct Bench<C> {
    pub(in crate::pipeline) core: C,
    pub(in crate::pipeline) tally: Tally,
    pub(in crate::pipeline) address: u64,
    pub(in crate::pipeline) found: Findings,
}

impl<C: Executes> Bench<C> {
    pub(in crate::pipeline) fn of(core: C) -> Bench<C> {
        Bench { core, tally: Tally::new(), address: 0x4000, found: Findings::NONE }
    }

    /// Runs a bundle in sequence.
    pub(in crate::pipeline) fn bundle(&mut self, template: u8, slots: [Slot<'_>; 3]) {
        self.part(template, slots, if template & 0x1E == MLX { 2 } else { 3 });
    }

    /// Runs the first `count` instructions of a bundle in sequence.
    pub(in crate::pipeline) fn part(&mut self, template: u8, slots: [Slot<'_>; 3], count: usize) {
        let words = slots.map(|slot| slot.word);
        // A long instruction has its operation in the last slot.
        let words = if template & 0x1E == MLX { [words[0], 0, words[1]] } else { words };
        let bundle = Bundle::new(template, words);
        for (number, slot) in slots.iter().enumerate().take(count) {
            let Slot { addresses, reads, writes, may_trap, .. } = *slot;
            let operation = Operation { width: 8, may_trap, addresses, reads, writes, ..Operation::default() };
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
            self.found = Findings::NONE;
        }
        self.address += 16;
    }

    /// Runs the bundle W of the notes `count` times.
    pub(in crate::pipeline) fn w(&mut self, count: usize) {
        (0..count).for_each(|_| self.bundle(MII | STOP, [plain(NOP); 3]));
    }

    /// Runs one instruction in the first slot, with a stop at the end of the bundle.
    pub(in crate::pipeline) fn first(&mut self, slot: Slot<'_>) {
        self.bundle(MII | STOP, [slot, plain(NOP), plain(NOP)]);
    }

    pub(in crate::pipeline) fn branch(&mut self, template: u8, word: u64, continuation: Continuation) {
        self.bundle(template, [plain(NOP), plain(NOP), Slot { continuation, ..plain(word) }]);
    }
}

pub(in crate::pipeline) const R4: &[Register] = &[Register(4)];
pub(in crate::pipeline) const R5: &[Register] = &[Register(5)];

pub(in crate::pipeline) fn add<'a>(writes: &'a [Register], reads: &'a [Register]) -> Slot<'a> {
    Slot { reads, writes, ..plain(ADD) }
}

/// Returns a load whose translation takes `translation` clocks.
pub(in crate::pipeline) fn translated(translation: u32, walked: bool) -> Touch {
    Touch { translation, walked, ..touch(0x2000, AccessKind::Load) }
}

/// Runs a random stream of bundles.
pub(in crate::pipeline) fn random(bench: &mut Bench<impl Executes>, state: &mut u64, count: usize) {
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
