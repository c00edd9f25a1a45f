//! A program of bundles in which Montecito's pipeline waits for every possible reason.

use super::*;
use crate::bundle::Bundle;
use crate::ia64_register::{APPLICATION, FLOATING, PREDICATES};

const MII: u8 = 0x00;
const MMI: u8 = 0x08;
const MFI: u8 = 0x0C;
const MIB: u8 = 0x10;
const STOP: u8 = 1;

const NOP: u64 = 1 << 27;
const ADD: u64 = 8 << 37;
const PADD: u64 = 8 << 37 | 1 << 34;
const LD8: u64 = 4 << 37 | 3 << 30;
const LD8_ACQUIRE: u64 = 4 << 37 | 0x17 << 30;
const LD8_FILL: u64 = 4 << 37 | 0x1B << 30;
const LDF8: u64 = 6 << 37 | 1 << 30;
const ST8: u64 = 4 << 37 | 0x33 << 30;
const ST8_SPILL: u64 = 4 << 37 | 0x3B << 30;
const FMA: u64 = 8 << 37;
const FCMP: u64 = 4 << 37;
const ALLOC: u64 = 1 << 37 | 6 << 33;
const LOADRS: u64 = 0xA << 27;
const COVER: u64 = 0x02 << 27;
const BSW: u64 = 0x0D << 27;
const CLOOP: u64 = 4 << 37 | 5 << 6;
const SRLZ_D: u64 = 3 << 31;
/// Moves to and from AR32 (CCV), and to AR16 (RSC).
const TO_CCV: u64 = 1 << 37 | 0x2A << 27 | 32 << 20;
const FROM_CCV: u64 = 1 << 37 | 0x22 << 27 | 32 << 20;
const TO_RSC: u64 = 1 << 37 | 0x2A << 27 | 16 << 20;

const R4: &[Register] = &[Register(4)];
const R5: &[Register] = &[Register(5)];
const F8: &[Register] = &[Register(FLOATING + 8)];
const P6: &[Register] = &[Register(PREDICATES + 6)];
const CCV: &[Register] = &[Register(APPLICATION + 32)];
const RSC: &[Register] = &[Register(APPLICATION + 16)];

/// An instruction of a slot.
#[derive(Clone, Copy, Default)]
struct Slot<'a> {
    word: u64,
    class: Class,
    addresses: &'a [Register],
    reads: &'a [Register],
    writes: &'a [Register],
    accesses: &'a [Access],
    transfer: Option<Transfer>,
}

const fn plain<'a>(word: u64) -> Slot<'a> {
    Slot { word, class: Class::Simple, addresses: &[], reads: &[], writes: &[], accesses: &[], transfer: None }
}

fn moves<'a>(word: u64, reads: &'a [Register], writes: &'a [Register]) -> Slot<'a> {
    Slot { reads, writes, ..plain(word) }
}

fn accesses(word: u64, accesses: &[Access]) -> Slot<'_> {
    Slot { accesses, class: Class::Load, ..plain(word) }
}

/// A program that is executed.
struct Program<F> {
    address: u64,
    report: F,
}

impl<F: FnMut(&Instruction<'_>)> Program<F> {
    fn bundle(&mut self, template: u8, slots: [Slot<'_>; 3]) {
        let whole = Bundle::new(template, slots.map(|slot| slot.word));
        for (number, slot) in slots.into_iter().enumerate() {
            let Slot { class, addresses, reads, writes, accesses, transfer, .. } = slot;
            (self.report)(&Instruction {
                address: self.address,
                physical: self.address,
                length: 16,
                class,
                operation: Some(Operation { width: 8, addresses, reads, writes, ..Operation::default() }),
                accesses,
                transfer,
                bundle: Some(whole.at(number as u8)),
                ..Instruction::default()
            });
        }
        self.address += 16;
    }

    /// Runs one instruction, with a stop after it.
    fn first(&mut self, slot: Slot<'_>) {
        self.bundle(MII | STOP, [slot, plain(NOP), plain(NOP)]);
    }

    fn branch(&mut self, slot: Slot<'_>) {
        self.bundle(MIB | STOP, [plain(NOP), plain(NOP), slot]);
    }

    fn wait(&mut self, bundles: usize) {
        (0..bundles).for_each(|_| self.bundle(MII | STOP, [plain(NOP); 3]));
    }
}

/// Reports the program, whose data begin at `data` and have not been accessed before.
pub(super) fn waits(data: u64, report: impl FnMut(&Instruction<'_>)) {
    let mut program = Program { address: 0x48_0000, report };
    let line = |number: u64| data + 128 * number;
    program.wait(40);
    // EXE: registers of each kind.
    program.first(moves(PADD, &[], R4));
    program.first(moves(ADD, R4, R5));
    program.bundle(MFI | STOP, [plain(NOP), moves(FMA, &[], F8), plain(NOP)]);
    program.bundle(MFI | STOP, [plain(NOP), moves(FMA, F8, F8), plain(NOP)]);
    program.bundle(MFI | STOP, [plain(NOP), moves(FCMP, F8, P6), plain(NOP)]);
    program.first(moves(ADD, P6, R5));
    program.first(moves(TO_CCV, &[], CCV));
    program.first(moves(FROM_CCV, CCV, R4));
    program.first(Slot { writes: R4, ..accesses(LD8, &[load(line(0))]) });
    program.first(moves(ADD, R4, R5));
    // REN
    let stacked = |kind| [0, 1, 2, 3].map(|number: u64| Access { kind, ..load(data + 0x8000 + 8 * number) });
    program.first(moves(TO_RSC, &[], RSC));
    program.first(accesses(ALLOC, &stacked(AccessKind::RegisterStackStore)));
    program.first(accesses(LOADRS, &stacked(AccessKind::RegisterStackLoad)));
    program.branch(accesses(COVER, &stacked(AccessKind::RegisterStackLoad)));
    program.branch(plain(BSW));
    program.wait(1);
    // DET
    program.first(moves(TO_CCV, &[], CCV));
    program.first(Slot { class: Class::Fence, ..plain(SRLZ_D) });
    program.first(accesses(LD8_ACQUIRE, &[load(line(1))]));
    program.first(accesses(ST8, &[store(line(2))]));
    program.first(accesses(ST8_SPILL, &[store(line(3))]));
    program.first(accesses(LD8_FILL, &[load(line(3))]));
    (0..40).for_each(|_| program.bundle(MMI | STOP, [accesses(ST8, &[store(line(4))]), accesses(ST8, &[store(line(4))]), plain(NOP)]));
    // A store reaches DET when the line of the earlier load arrives: one second-level latency after that executed.
    for number in 0..8 {
        program.first(accesses(ST8, &[store(line(8 + number as u64))]));
        program.wait(300);
        program.first(accesses(LD8, &[load(line(8 + number as u64))]));
        program.wait(number);
        program.first(accesses(ST8, &[store(line(4))]));
    }
    (0..9).for_each(|number| program.first(accesses(LD8, &[load(line(32 + number))])));
    program.wait(300);
    // More accesses than the second level's queue and its fills have entries for.
    (0..60).for_each(|number| program.first(accesses(LDF8, &[load(line(64 + number))])));
    // A counted loop ends, and its next code is elsewhere.
    let again = Transfer { kind: BranchKind::Conditional, taken: false, target: program.address };
    program.branch(Slot { class: Class::Branch, transfer: Some(again), ..plain(CLOOP) });
    program.wait(40);
}
