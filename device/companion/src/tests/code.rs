//! Code that is prefetched and fetched while other requests are in flight.

use super::*;
use crate::Bundle;

/// `{ .mii ;; }`, `{ .mib ;; }`, and nops of M and I units and of B.
const MII: u8 = 0x01;
const MIB: u8 = 0x11;
const NOP: u64 = 1 << 27;
const NOP_B: u64 = 2 << 37;
/// `br.cond.sptk` with and without `.many`.
const BRANCH: u64 = 4 << 37;
const MANY: u64 = 1 << 12;
const LINE: u64 = 64;
const PAGE: u64 = 0x1000;
const UNCACHEABLE: u64 = 1 << 63;

/// Reports instructions of bundles, on one package or on the other.
struct Program<'a> {
    report: &'a mut dyn FnMut(bool, &Instruction<'_>),
}

impl Program<'_> {
    fn bundle(&mut self, address: u64, template: u8, last: u64, target: Option<u64>, accesses: &[Access]) {
        let bundle = Bundle::new(template, [NOP, NOP, last]);
        for slot in 0..3 {
            let transfer = target.filter(|_| slot == 2).map(|target| Transfer { kind: BranchKind::Conditional, taken: true, target });
            let accesses = if slot == 0 { accesses } else { &[] };
            let class = if slot == 2 && target.is_some() { Class::Branch } else { Class::Nop };
            let bundle = Some(bundle.at(slot));
            (self.report)(
                false,
                &Instruction { address, physical: address, length: 16, class, accesses, transfer, bundle, ..Instruction::default() },
            );
        }
    }

    fn straight(&mut self, begin: u64, bundles: u64) {
        (0..bundles).for_each(|number| self.bundle(begin + 16 * number, MII, NOP, None, &[]));
    }

    fn branch(&mut self, address: u64, hint: u64, target: u64) {
        self.bundle(address, MIB, BRANCH | hint, Some(target), &[]);
    }

    fn presage(&mut self, address: u64, target: u64) {
        let bundles = target.wrapping_sub(address) >> 4;
        self.bundle(address, MIB, 7 << 37 | (bundles >> 20 & 1) << 36 | (bundles & 0xF_FFFF) << 13, None, &[]);
    }

    /// Makes the other package read a line, or take it.
    fn elsewhere(&mut self, access: Access) {
        (self.report)(true, &Instruction { class: Class::Store, accesses: &[access], ..Instruction::default() });
    }

    /// Leaves the lines of these pages in the second level, and others in their place in the first.
    fn warm(&mut self, pages: &[u64], others: u64) {
        for page in pages {
            (0..PAGE / LINE).for_each(|line| self.straight(page + LINE * line, 1));
        }
        (0..4 * PAGE / LINE).for_each(|line| self.straight(others + LINE * line, 1));
    }

    fn round(&mut self, begin: u64, round: u64) {
        let pages = begin + 8 * PAGE * round;
        let [here, there, warm, cold] = [0, 1, 2, 3].map(|page| pages + PAGE * page);
        self.warm(&[warm], begin + (1 << 27));
        for page in [here, there, cold] {
            self.straight(page + PAGE - 16, 1);
        }
        // A stream of lines of memory, left by a branch after some bundles, to a line of the second level or of memory.
        let next = if round.is_multiple_of(2) { warm + 16 * LINE } else { cold };
        self.branch(here, MANY, there + LINE);
        self.straight(there + LINE, round);
        self.presage(there + LINE + 16 * round, warm + LINE * (round % 8));
        self.branch(there + LINE + 16 * (round + 1), 0, next);
        // A stream of lines of the second level.
        self.branch(next, MANY, warm + 32 * LINE);
        self.straight(warm + 32 * LINE, 16);
        // The other half of a line in flight that is taken away or arrives.
        let at = warm + 36 * LINE;
        let [prefetched, fetched, comes, shared] = [0x400, 0x480, 0x500, 0x580].map(|offset| cold + offset);
        self.presage(at, prefetched);
        self.elsewhere(store(prefetched));
        self.presage(at, prefetched + LINE);
        self.presage(at, fetched);
        self.elsewhere(store(fetched));
        self.branch(at + 16, 0, fetched + LINE);
        self.straight(fetched + LINE, 1);
        self.presage(at, comes);
        self.branch(at + 16, 0, comes + LINE);
        self.straight(comes + LINE, 1);
        // A line that only the third level has: another core reads it, or it is of a page that was warmed long ago.
        self.straight(shared, 1);
        self.elsewhere(load(shared));
        self.presage(at, shared);
        self.presage(at, begin + 8 * PAGE * (round / 8) + 2 * PAGE + 40 * LINE);
        // Code in a line that is in flight as data.
        let both = cold + 0xA00;
        self.bundle(at, MII, NOP, None, &[Access { kind: AccessKind::PrefetchLoad, ..load(both) }]);
        self.straight(at + 16, 8);
        self.presage(at + 16 * 9, both);
        self.branch(at + 16 * 10, 0, both + LINE);
        self.straight(both + LINE, 1);
        // Many requests for data are in flight when code misses.
        let code = here + 0x800;
        for pass in 0..2 {
            for number in 0..23 {
                let data = begin + (1 << 26) + ((round * 2 + pass) * 23 + number) * 128;
                let prefetch = Access { kind: AccessKind::PrefetchLoad, ..load(data) };
                self.bundle(code + 16 * number, MII, NOP, None, &[prefetch]);
            }
            match pass {
                0 => self.straight(code + 16 * 23, 1),
                _ => self.branch(code + 16 * 23, MANY, cold + 0x800),
            }
        }
        self.straight(cold + 0x800, 8);
    }

    /// Brings a line from memory while another is read in the second level, at one of many distances.
    fn meet(&mut self, begin: u64) {
        let [here, there, fetched, prefetched, cold] = [0, 1, 2, 3, 4].map(|page| begin + PAGE * page);
        self.warm(&[fetched, prefetched], begin + (1 << 27));
        self.straight(here, 2);
        self.straight(there, 2 + PAGE / LINE);
        for distance in 0..PAGE / LINE {
            self.presage(here + 16, cold + 128 * distance);
            // The pipeline is flushed each time.
            (0..10).for_each(|_| self.straight(here, 1));
            self.straight(there, distance);
            self.presage(there + 16 * distance, prefetched + LINE * distance);
            self.branch(there + 16 * (distance + 1), 0, fetched + LINE * distance);
            self.straight(fetched + LINE * distance, 1);
        }
    }
}

/// Makes the front end of an Itanium prefetch and wait, with pages of its own from `begin` on. The first argument of `report` tells whether
/// the instruction is executed on another package.
pub(super) fn ahead(begin: u64, mut report: impl FnMut(bool, &Instruction<'_>)) {
    let mut program = Program { report: &mut report };
    (0..24).for_each(|round| program.round(begin, round));
    program.meet(begin + (1 << 24));
    let bundle = Some(Bundle::new(MIB, [NOP, NOP, NOP_B]));
    let address = begin | UNCACHEABLE;
    report(false, &Instruction { address: begin, physical: address, length: 16, bundle, ..Instruction::default() });
}

#[test]
fn a_prefetched_line_is_waited_for_as_long_as_it_takes() {
    use crate::{Clock, parts};
    let cycles = |hint: u64| {
        let companion = Builder::of(&parts::MONTECITO).clock(Clock::Companion).build();
        let (rig, mut follower) = (Rig::new(1), follow(&companion, 0));
        let mut report = |_: bool, instruction: &Instruction<'_>| {
            follower.execute(instruction, &mut crate::Untranslated(14));
            rig.deliver(&mut follower);
        };
        let mut program = Program { report: &mut report };
        program.branch(0x4000, hint, 0x10_0000);
        program.straight(0x10_0000, 16);
        program.straight(0x4010, 1);
        [Signal::FetchIdleMissCycles, Signal::ReadAddressBufferHits, Signal::L2InstructionSpeculativeAborts]
            .map(|signal| rig.get(0, signal))
    };
    // Without prefetches the line of the branch and the first and third after it come from memory in 200 clocks, the first two of them
    // after 24 for a DRAM row. The second and fourth come from the second level seven clocks after their look-up: 2 * 224 + 200 + 2 * 7.
    assert_eq!(cycles(0), [662, 0, 0]);
    // The stream requests the second line in the first clock after the first one's look-up, t. It arrives with that at t+224, and is
    // available seven clocks later. It is looked up at t+227, after a clock in which the first is written, and two pairs: four clocks. The
    // third has arrived at t+202, the fourth seven clocks later. 2 * 224 + 4.
    assert_eq!(cycles(MANY), [452, 1, 1]);
}
