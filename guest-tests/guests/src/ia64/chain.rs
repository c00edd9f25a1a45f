//! Pointers from line to line of memory, and what follows them in user code.
//!
//! The geometry of the companions: a data cache of 16 KiB and four ways, whose sets repeat every 4 KiB; a second level whose sets repeat
//! every 32 KiB with eight ways on Montecito, every 16 KiB with six ways on the first Itanium; a third level whose sets repeat every MiB,
//! with twelve ways and with four. A pass touches each line once, always in the same order. A set whose lines have room keeps them all; of
//! a set that has twice as many lines as ways, or more, each is gone when its turn comes, although replacement evicts a line not used
//! recently rather than the least recently used.
//!
//! Pages are 16 KiB. Montecito's first-level buffer holds 32 pieces of 4 KiB, its second 128 pages; the first Itanium's hold 32 and 96.

use super::Kernel;
use super::facts::Part;
use vm_pmu_engines::ia64::assemble::*;

/// Where arrays begin.
const ARRAY: u64 = 0x40_0C00;
/// Bundles of no-operations after each load and the use of its data, four cycles: so the use waits for the data before the next load is
/// dispersed, which in a pipeline comes four cycles before it executes.
const APART: usize = 8;

/// Lines that are chained.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    /// What it is called.
    pub(crate) name: &'static str,
    /// How many lines.
    pub(crate) lines: u64,
    /// Bytes from one to the next.
    stride: u64,
}

/// 16 lines of 64 bytes: in the data cache.
pub(crate) const FIRST: Chain = Chain { name: "first level", lines: 16, stride: 64 };
/// Eight lines in one set of the data cache, in several of the second level, which keep them.
pub(crate) const SECOND: Chain = Chain { name: "second level", lines: 8, stride: 4 << 10 };
/// 16 lines in one set of the second level, in several of the third.
const MONTECITO_THIRD: Chain = Chain { name: "third level", lines: 16, stride: 32 << 10 };
const ITANIUM_THIRD: Chain = Chain { name: "third level", lines: 16, stride: 16 << 10 };
/// 24 lines in one set of the third level, and in one bank of DRAM, each in another row.
pub(crate) const MEMORY: Chain = Chain { name: "memory", lines: 24, stride: 1 << 20 };
/// 64 pages: twice what the first-level buffer has, and in the second.
pub(crate) const PAGES: Chain = Chain { name: "64 pages", lines: 64, stride: (16 << 10) + 128 };
/// 256 pages: more than the second-level buffer has.
pub(crate) const MORE_PAGES: Chain = Chain { name: "256 pages", lines: 256, stride: (16 << 10) + 128 };

/// Where user code follows a chain.
#[derive(Clone, Copy)]
pub(crate) struct Chase {
    entry: Label,
    /// The bundle whose first slot is the load.
    pub(crate) load: u64,
}

impl Chase {
    /// The code that follows a chain from r16, r17 times and once.
    pub(crate) fn new(k: &mut Kernel) -> Chase {
        k.a.routine("chase");
        let entry = k.a.mark();
        k.a.put(mov_to_ar_i(Ar::LC, R17));
        let again = k.a.mark();
        let load = k.a.address();
        k.a.put(ld8(R16, R16));
        k.a.put(mov(R18, R16));
        k.nops(APART);
        k.a.put(br_cloop(again));
        k.system_call();
        Chase { entry, load }
    }
}

impl Chain {
    /// The chain whose data come from the third level of `part`.
    pub(crate) fn third(part: Part) -> Chain {
        match part {
            Part::Montecito => MONTECITO_THIRD,
            Part::Itanium => ITANIUM_THIRD,
        }
    }

    /// Address of the `n`th line.
    pub(crate) const fn line(&self, n: u64) -> u64 {
        ARRAY + n * self.stride
    }

    /// Makes the chain, whose last line points at the first. Changes r2 to r5 and LC.
    pub(crate) fn link(&self, k: &mut Kernel) {
        k.a.load(R4, self.line(0));
        k.a.load(R5, self.stride);
        k.repeat(self.lines - 1, |k| {
            k.a.put(add(R3, R4, R5));
            k.a.put(st8(R4, R3));
            k.a.put(mov(R4, R3));
        });
        k.a.load(R3, self.line(0));
        k.a.put(st8(R4, R3));
    }

    /// Follows it in user code from the first line, `loads` loads, with `state` set in PSR in addition. Changes r16 to r18.
    pub(crate) fn follow(&self, k: &mut Kernel, chase: Chase, loads: u64, state: u64) {
        k.a.load(R16, self.line(0));
        k.a.load(R17, loads - 1);
        k.enter_user(chase.entry, state);
    }
}
