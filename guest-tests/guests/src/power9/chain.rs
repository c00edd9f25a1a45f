//! Pointers from line to line of an array, and what follows them in problem state.
//!
//! The geometry of the companion's POWER9: lines of 128 bytes; a data cache of 32 KiB, eight ways, 32 sets; an L2 of 512 KiB, eight ways,
//! 512 sets; an L3 of 10 MiB, twenty ways, 4096 sets, that takes in what the L2 gives up; an ERAT of 64 pages of 64 KiB, a TLB of 1024. All
//! replace the least recently used.
//!
//! A pass touches each line once, always in the same order. A set whose lines have room keeps them all; of a set that has more lines
//! than ways, each is gone when its turn comes.

use crate::power::Kernel;
use vm_pmu_engines::power::assemble::{CR0, Label, R3, R4, R5, R6, R7, R8, R14, R15};

/// Where arrays begin.
const ARRAY: u64 = 0x40_0C00;
const LINE: u64 = 128;
/// Loads in a turn of the loop.
const UNROLL: u64 = 8;

/// Lines that are chained.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    /// What it is called.
    pub(super) name: &'static str,
    /// How many lines, a multiple of eight.
    pub(super) lines: u64,
    /// Bytes from one to the next in memory.
    pub(super) stride: u64,
    /// The distance to the next one in the chain, in lines. No two within eight steps are adjacent, so nothing is fetched ahead; it shares
    /// no divisor with the number of lines.
    pub(super) step: u64,
}

/// 16 lines: in the data cache.
pub(super) const FIRST: Chain = Chain { name: "2 KiB", lines: 16, stride: LINE, step: 5 };
/// 512 lines: sixteen for each set of the data cache, one for each of the L2.
pub(super) const SECOND: Chain = Chain { name: "64 KiB", lines: 512, stride: LINE, step: 17 };
/// 8192 lines: sixteen for each set of the L2, two for each of the L3.
pub(super) const THIRD: Chain = Chain { name: "1 MiB", lines: 8192, stride: LINE, step: 17 };
/// 56 lines, all in one set of each cache, which has room for 28 in L2 and L3; in 56 pages; and in one bank of DRAM, each in another row.
pub(super) const MEMORY: Chain = Chain { name: "28 MiB", lines: 56, stride: 512 << 10, step: 1 };
/// 256 lines, each in another page and another set of the L2: four times what the ERAT has, a quarter of what the TLB has.
pub(super) const PAGES: Chain = Chain { name: "256 pages", lines: 256, stride: (64 << 10) + LINE, step: 1 };

impl Chain {
    /// Address of line `n` in memory.
    pub(super) const fn line(&self, n: u64) -> u64 {
        ARRAY + n * self.stride
    }

    /// Makes the chain.
    pub(super) fn link(&self, k: &mut Kernel) {
        let whole = self.lines * self.stride;
        for (register, value) in [(R3, ARRAY), (R4, self.lines), (R6, ARRAY + whole), (R7, whole), (R8, self.step * self.stride)] {
            k.a.load(register, value);
        }
        k.a.mtctr(R4);
        let (next, within) = (k.a.mark(), k.a.label());
        k.a.add(R5, R3, R8);
        k.a.cmpld(CR0, R5, R6);
        k.a.blt(within);
        k.a.subf(R5, R7, R5);
        k.a.here(within);
        k.a.std(R5, 0, R3);
        k.a.mr(R3, R5);
        k.a.bdnz(next);
    }

    /// Follows the chain in problem state, `passes` times. `chase` is [`chase`]'s.
    pub(super) fn follow(&self, k: &mut Kernel, chase: Label, passes: u64) {
        k.a.load(R14, ARRAY);
        k.a.load(R15, passes * self.lines / UNROLL);
        k.enter_user(chase, 0);
    }
}

/// The code that follows a chain from GPR 14, GPR 15 times eight loads.
pub(super) fn chase(k: &mut Kernel) -> Label {
    k.a.routine("chase");
    let entry = k.a.mark();
    k.a.mtctr(R15);
    let again = k.a.mark();
    for _ in 0..UNROLL {
        k.a.ld(R14, 0, R14);
    }
    k.a.bdnz(again);
    k.a.sc();
    entry
}
