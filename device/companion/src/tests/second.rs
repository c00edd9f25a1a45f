//! A stream of bundles that exercises every feature of the queue of Montecito's second level.

use super::*;
use crate::Bundle;

/// Two M slots and one F slot, with a stop or without.
const MMF: u8 = 0x0E;
const STOP: u8 = 1;
const NOP: u64 = 1 << 27;
const LDFD: u64 = 6 << 37 | 3 << 30;
const ST8: u64 = 4 << 37 | 0x33 << 30;
/// `mf.a`.
const ACCEPTED: u64 = 2 << 31 | 3 << 27;

/// Code, lines that are used again, and lines that are used once.
const CODE: u64 = 0x50_0000;
const CODE_BYTES: u64 = 1 << 12;
const HOT: u64 = 0x5100_0000;
const COLD: u64 = 0x5200_0000;
const LINE: u64 = 128;

/// Reports the stream: groups of four drawn instructions, then more stores to new lines than the second level has lines.
pub(super) fn crowd(mut report: impl FnMut(&Instruction<'_>)) {
    let (mut here, mut cold, mut state) = (CODE, COLD, 3u64);
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut bundle = |template: u8, slots: [(u64, Option<Access>); 2]| {
        let bundle = Bundle::new(template, [slots[0].0, slots[1].0, NOP]);
        for (slot, access) in [slots[0].1, slots[1].1, None].into_iter().enumerate() {
            let class = if slots.get(slot).is_some_and(|(word, _)| *word == ACCEPTED) { Class::Fence } else { Class::Simple };
            report(&Instruction {
                address: here,
                physical: here,
                length: 16,
                class,
                operation: Some(Operation::default()),
                accesses: access.as_slice(),
                bundle: Some(bundle.at(slot as u8)),
                ..Instruction::default()
            });
        }
        here = CODE + (here + 16) % CODE_BYTES;
    };
    let access = |kind, address| Some(Access { address, physical: address, size: 8, kind, ..Access::default() });
    for _ in 0..1_500 {
        let slots = [(); 4].map(|()| {
            let hot = HOT + draw(4) * LINE + draw(16) * 8;
            match draw(16) {
                0..6 => (LDFD, access(AccessKind::Load, hot)),
                6..12 => (ST8, access(AccessKind::Store, hot)),
                12 => (ACCEPTED, None),
                number => {
                    cold += LINE;
                    if number == 13 { (ST8, access(AccessKind::Store, cold)) } else { (LDFD, access(AccessKind::Load, cold)) }
                }
            }
        });
        bundle(MMF, [slots[0], slots[1]]);
        bundle(MMF | STOP, [slots[2], slots[3]]);
    }
    for _ in 0..6_000 {
        cold += LINE;
        bundle(MMF | STOP, [(ST8, access(AccessKind::Store, cold)), (NOP, None)]);
    }
}
