//! `stride`: loads through a region at several distances, and the prefetcher's work on them.
//!
//! The geometry: lines of 64 bytes; a data cache of 512 sets of two, least recently used; an L2 cache of 1024 sets of 16 that holds what
//! the first level gives up; a prefetcher that, when two adjacent lines miss one after the other, fetches the second line beyond them into
//! the L2 cache, unless that lies beyond the piece of 4 KiB.
//!
//! All regions except the smallest hold 24 lines for each set of the L2 cache that they use, in the order of their addresses. One line of
//! them can be in the first level and 16 in the second, so a round finds none that the round before left: each line is displaced before its
//! turn comes again. There are no stores: lines are exclusive, and leave without being written.

use iced_x86::code_asm::*;

use super::measure::{Count, Part, begin, count, identities, measure};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

const LINE: u64 = 64;
/// Lines of 4 KiB, the piece that the prefetcher stays in.
const PIECE: u64 = 4096 / LINE;
/// Bytes of a page of DRAM. There are 32 banks and at most 16 pages open: an access that returns after 32 pages finds its page closed.
const DRAM_PAGE: u64 = 16 << 10;

/// Where the regions begin: on a page of 2 MiB, in set 0 of each cache.
const REGION: u64 = 0x100_0000;
/// Another one, which nothing else uses, for the loads that go down.
const OTHER: u64 = 0x140_0000;

const SMALL: u64 = 128 << 10;
const LARGE: u64 = 3 << 19;

/// What the prefetcher does in a round over all lines of `bytes`.
///
/// The last two lines of a piece have their target beyond it. The first line of the region follows no adjacent one, so it has none.
/// The first line of a piece follows the last one of the piece before.
const fn attempts(bytes: u64) -> u64 {
    (PIECE - 2) * (bytes / LINE / PIECE) - 1
}

/// What a round shows, all loads being aligned: `loads` of which `misses` miss in the first level, and `found` of these not in the second.
/// The prefetcher makes `attempts`, of which `cancelled` find their line in a cache.
struct Shape {
    loads: u64,
    misses: u64,
    found: u64,
    attempts: u64,
    cancelled: u64,
    /// Pages of DRAM that are entered, each found closed.
    pages: u64,
}

impl Shape {
    const fn counts(&self) -> [Count; 16] {
        let system = self.misses - self.found;
        // What the prefetcher reads comes from the system too, but goes to the L2 cache.
        let read = system + self.attempts - self.cancelled;
        [
            count("DATA_CACHE_ACCESSES", 0x40, self.loads),
            count("DATA_CACHE_MISSES", 0x41, self.misses),
            count("DATA_CACHE_REFILLS:L2_EXCLUSIVE", 0x0442, self.found),
            count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE", 0x0443, system),
            count("DATA_PREFETCHES:CANCELLED", 0x0167, self.cancelled),
            count("DATA_PREFETCHES:ATTEMPTED", 0x0267, self.attempts),
            count("SYSTEM_READ_RESPONSES, all", 0x076C, read),
            count("DRAM_ACCESSES_PAGE:MISS", 0x02E0, self.pages),
            count("DATA_CACHE_REFILLS:SYSTEM", 0x0142, system),
            count("DATA_CACHE_LINES_EVICTED:EXCLUSIVE", 0x0444, self.misses),
            count("REQUESTS_TO_L2:DATA", 0x027D, self.misses),
            count("L2_CACHE_MISS:DATA", 0x027E, system),
            // Each refill sends a line of the full first level down.
            count("L2_FILL_WRITEBACK:L2_FILLS", 0x017F, self.misses + self.attempts - self.cancelled),
            count("L2_FILL_WRITEBACK:L2_WRITEBACKS", 0x027F, 0),
            count("DRAM_ACCESSES_PAGE:HIT", 0x01E0, read - self.pages),
            count("DRAM_ACCESSES_PAGE:CONFLICT", 0x04E0, 0),
        ]
    }
}

/// Eight loads for each of 2048 lines, four for each set of the first level: the first load of a line misses, and its line is in the L2
/// cache, which has room for two in each set; so are the prefetcher's targets, if they are not in the first level.
const EIGHT: Shape =
    Shape { loads: SMALL / 8, misses: SMALL / LINE, found: SMALL / LINE, attempts: attempts(SMALL), cancelled: attempts(SMALL), pages: 0 };

/// Every load misses in the first level. The L2 cache has the lines that the prefetcher has fetched since the round before.
const EACH_LINE: Shape = Shape {
    loads: LARGE / LINE,
    misses: LARGE / LINE,
    found: attempts(LARGE),
    attempts: attempts(LARGE),
    cancelled: 0,
    pages: LARGE / DRAM_PAGE,
};

/// Every load misses everywhere, and no two lines are adjacent.
const fn apart(stride: u64) -> Shape {
    let loads = LARGE / stride;
    Shape { loads, misses: loads, found: 0, attempts: 0, cancelled: 0, pages: LARGE / DRAM_PAGE }
}

/// 65 lines on each time: of 379 lines no two are in one set, as 65 shares no divisor with 512. The first level keeps them all.
const ODD: u64 = 4096 + LINE;
const SPREAD: Shape = Shape { loads: LARGE.div_ceil(ODD), misses: 0, found: 0, attempts: 0, cancelled: 0, pages: 0 };

/// Lines at this distance share a set of each level.
const ONE_SET: u64 = 64 << 10;

/// What a round over so many lines of one set shows: two stay in the first level. If there are more, each misses there, and the L2 cache
/// has them as long as there are at most sixteen besides the two. One more than that, and every line is displaced just before its turn.
const fn one_set(lines: u64) -> [Count; 4] {
    let misses = if lines <= 2 { 0 } else { lines };
    let found = if lines <= 2 + 16 { misses } else { 0 };
    [
        count("DATA_CACHE_MISSES", 0x41, misses),
        count("DATA_CACHE_REFILLS:L2_EXCLUSIVE", 0x0442, found),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE", 0x0443, misses - found),
        count("DATA_CACHE_LINES_EVICTED:EXCLUSIVE", 0x0444, misses),
    ]
}

/// How many of the counts are taken: a round over all lines takes its time.
const ALL: usize = 16;
const FIRST: usize = 8;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    begin(&mut k)?;
    let mut take = |what: &str, warm: usize, shape: &Shape, some: usize, body: Part<'_>| {
        measure(&mut k, what, warm, shape.counts().get(..some).unwrap_or(&[]), body)
    };
    take("stride 8", 1, &EIGHT, ALL, &|k| loads(k, 8, SMALL, 8))?;
    // The first round fills the L2 cache. What fills a place displaces nothing, so that it takes another one to have each line displaced.
    take("stride 64", 2, &EACH_LINE, ALL, &|k| loads(k, LINE, LARGE, 8))?;
    take("stride 128", 1, &apart(128), FIRST, &|k| loads(k, 128, LARGE, 8))?;
    take("stride 256", 1, &apart(256), FIRST, &|k| loads(k, 256, LARGE, 8))?;
    // Eight sets of the first level, sixteen of the second: 24 lines for each of these too.
    take("stride 4096", 1, &apart(4096), ALL, &|k| loads(k, 4096, LARGE, 8))?;
    take("stride 4160", 1, &SPREAD, ALL, &|k| loads(k, ODD, LARGE, 1))?;
    take("stride -64", 1, &EACH_LINE, FIRST, &down)?;
    for lines in [2, 3, 18, 19] {
        measure(&mut k, &format!("{lines} lines of one set"), 2, &one_set(lines), &|k| loads(k, ONE_SET, lines * ONE_SET, 1))?;
    }
    identities(&mut k, "stride 256", &|k| loads(k, 256, LARGE, 8))?;
    k.a.ret()?;
    k.finish()
}

/// Loads at each multiple of `stride` below `bytes`, `unroll` in a turn of the loop.
fn loads(k: &mut Kernel, stride: u64, bytes: u64, unroll: u64) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(edx, REGION as u32)?;
    here(a, &mut again)?;
    for n in 0..unroll {
        a.mov(rax, qword_ptr(rdx + n * stride))?;
    }
    a.add(rdx, (unroll * stride) as i32)?;
    a.cmp(rdx, (REGION + bytes) as i32)?;
    a.jb(again)
}

/// Loads each line of the other region, the last one first.
fn down(k: &mut Kernel) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(edx, (OTHER + LARGE) as u32)?;
    here(a, &mut again)?;
    a.sub(rdx, 8 * LINE as i32)?;
    for n in (0..8).rev() {
        a.mov(rax, qword_ptr(rdx + n * LINE))?;
    }
    a.cmp(rdx, OTHER as i32)?;
    a.ja(again)
}
