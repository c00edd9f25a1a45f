//! The programs that both tables of known answers share, sections M3 and I3 of the notes.

use super::bench::*;
use crate::ia64_register::{FLOATING, PREDICATES};
use crate::instruction::{Access, AccessKind, Class, Register};
use crate::pipeline::Continuation;
use crate::pipeline::touch::{Source, Touch};

const F8: &[Register] = &[Register(FLOATING + 8)];
const P6: &[Register] = &[Register(PREDICATES + 6)];

impl<C: Executes> Bench<C> {
    /// Runs a chain of `count` additions.
    pub(in crate::pipeline) fn additions(&mut self, count: usize) {
        (0..count).for_each(|_| self.first(add(R4, R4)));
    }

    /// Runs a hundred pairs of bundles, with a stop after each pair.
    pub(in crate::pipeline) fn pairs(&mut self, template: u8, first: [Slot<'_>; 3], second: [Slot<'_>; 3]) {
        for _ in 0..100 {
            self.bundle(template, first);
            self.bundle(template | STOP, second);
        }
    }

    /// Runs a chain of a hundred loads, each of its own line, so that none waits for the line of another.
    pub(in crate::pipeline) fn chain_of_loads(&mut self, touch: Touch) {
        (0..100).for_each(|line| self.first(load(R4, R4, Touch { line, ..touch })));
    }

    /// Runs a load from memory whose use is eleven groups later.
    pub(in crate::pipeline) fn late_use(&mut self, latency: u32) {
        self.first(load(R4, &[], missed(0x1000, latency, Source::Memory)));
        self.w(10);
        self.first(add(R5, R4));
    }

    /// Runs a chain of a hundred multiplications.
    pub(in crate::pipeline) fn multiplications(&mut self) {
        let multiply = Slot { reads: F8, writes: F8, ..plain(FMA) };
        (0..100).for_each(|_| self.bundle(MFI | STOP, [plain(NOP), multiply, plain(NOP)]));
    }

    /// Runs `frcpa` and seven multiplications in a chain, with a group after each.
    pub(in crate::pipeline) fn division(&mut self) {
        for number in 0..8 {
            let word = if number == 0 { FRCPA } else { FMA };
            let writes: &[Register] = if number == 0 { &[Register(FLOATING + 8), Register(PREDICATES + 6)] } else { F8 };
            self.bundle(MFI | STOP, [plain(NOP), Slot { reads: F8, writes, ..plain(word) }, plain(NOP)]);
            self.w(1);
        }
    }

    /// Runs a mispredicted branch between ten groups and ten others.
    pub(in crate::pipeline) fn misprediction(&mut self) {
        self.w(10);
        self.branch(MIB | STOP, BRANCH, Continuation::Mispredicted);
        self.address = 0x8000;
        self.w(10);
    }

    /// Runs a mispredicted branch that depends, through a compare, on the data of a load from the second level.
    pub(in crate::pipeline) fn misprediction_on_a_load(&mut self, latency: u32) {
        self.w(10);
        self.first(load(R4, &[], missed(0x1000, latency, Source::Second)));
        let compare = Slot { reads: R4, writes: P6, ..plain(COMPARE) };
        self.bundle(MIB | STOP, [compare, plain(NOP), Slot { reads: P6, continuation: Continuation::Mispredicted, ..plain(BRANCH) }]);
        self.address = 0x8000;
        self.w(10);
    }

    /// Runs a load with a translation of `clocks` clocks and without a use, between ten groups and ten others.
    pub(in crate::pipeline) fn translation(&mut self, clocks: u32, walked: bool) {
        self.w(10);
        self.first(load(&[Register(7)], &[], translated(clocks, walked)));
        self.w(10);
    }

    /// Runs an `alloc` that spills ten registers, between ten groups and ten others.
    pub(in crate::pipeline) fn spills(&mut self) {
        let spill = Access { kind: AccessKind::RegisterStackStore, size: 8, ..Access::default() };
        self.w(10);
        self.first(Slot { class: Class::System, writes: &[Register(40)], accesses: &[spill; 10], ..plain(ALLOC) });
        self.w(10);
    }

    /// Runs a load of data that were stored just before, and its use.
    pub(in crate::pipeline) fn forwarding(&mut self) {
        self.first(store(0x1000));
        self.first(load(R4, &[], touch(0x1000, AccessKind::Load)));
        self.first(add(R5, R4));
    }

    /// Runs a hundred groups of two stores.
    pub(in crate::pipeline) fn stores(&mut self) {
        for number in 0..100 {
            self.bundle(MMI | STOP, [store(0x1000 + 16 * number), store(0x1008 + 16 * number), plain(NOP)]);
        }
    }
}
