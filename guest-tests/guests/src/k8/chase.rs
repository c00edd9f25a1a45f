//! `chase`: pointers through 2 KiB, 48 KiB, 512 KiB and 8 MiB, and stores to, then loads from, every other line of 2 MiB.
//!
//! The geometry: a data cache of 64 KiB, two ways, 512 sets, least recently used; an L2 cache of 1 MiB, 16 ways, 1024 sets, that takes in
//! what the first level gives up and gives up what that takes back; lines of 64 bytes.
//!
//! # What stays where
//!
//! Every pass touches each line of its array once, in the same order, and nothing else.
//!
//! A set of the data cache that two lines or fewer share keeps them: no pass but the first misses. Where more lines share it, two others of
//! the set have been used since each line was last used, when its turn comes: every access misses.
//!
//! A set of the L2 cache takes in a line for each miss. If the requested line was there, it leaves a place, and nothing is displaced. If no
//! requested line is there, each line that comes in displaces one, and the tree turns each of its pointers each time it passes them:
//! sixteen lines displace sixteen different ones. So a line stays while sixteen others come, after it has been in the first level while one
//! other of its L2 set came. An array with 8 lines for each set of the L2 cache finds them all; one with 32 finds none.

use iced_x86::code_asm::*;

use super::measure::{Count, begin, count, identities, measure, measure_after};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Where the array begins: in set 0 of each cache, and in another bank of DRAM than the code does.
const ARRAY: u64 = 0x102_0000;
const LINE: u64 = 64;
/// From line to line, in lines: no two lines within eight steps are adjacent, so the prefetcher has nothing to follow. It shares no divisor
/// with the number of lines.
const STEP: u64 = 17;
/// Loads in a turn of the loop.
const UNROLL: u64 = 8;

/// Bytes of a page of DRAM. Thirty-two banks follow each other page by page, and at most 16 pages are open, so a pass over 8 MiB finds no
/// page open that it left.
const DRAM_PAGE: u64 = 16 << 10;

/// What `loads` loads show of which `l2` miss and find their line in the L2 cache.
///
/// The lines were stored to when the chain was made, and stay modified as long as they stay in a cache. A refill displaces a line of the
/// array, which the L2 cache takes in at the place that the refill left: it gives nothing up, and the system is not involved.
const fn near(loads: u64, l2: u64) -> [Count; 37] {
    [
        count("DATA_CACHE_ACCESSES", 0x40, loads),
        count("DATA_CACHE_MISSES", 0x41, l2),
        count("DATA_CACHE_REFILLS, all", 0x1F42, l2),
        count("DATA_CACHE_REFILLS:SYSTEM", 0x0142, 0),
        count("DATA_CACHE_REFILLS:L2_SHARED", 0x0242, 0),
        count("DATA_CACHE_REFILLS:L2_EXCLUSIVE", 0x0442, 0),
        count("DATA_CACHE_REFILLS:L2_OWNED", 0x0842, 0),
        count("DATA_CACHE_REFILLS:L2_MODIFIED", 0x1042, l2),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:INVALID", 0x0143, 0),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:SHARED", 0x0243, 0),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE", 0x0443, 0),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:OWNED", 0x0843, 0),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:MODIFIED", 0x1043, 0),
        count("DATA_CACHE_LINES_EVICTED:INVALID", 0x0144, 0),
        count("DATA_CACHE_LINES_EVICTED:SHARED", 0x0244, 0),
        count("DATA_CACHE_LINES_EVICTED:EXCLUSIVE", 0x0444, 0),
        count("DATA_CACHE_LINES_EVICTED:OWNED", 0x0844, 0),
        count("DATA_CACHE_LINES_EVICTED:MODIFIED", 0x1044, l2),
        // One page of 2 MiB; the first-level buffer has room for eight.
        count("L1_DTLB_MISS_AND_L2_DTLB_HIT", 0x45, 0),
        count("L1_DTLB_AND_L2_DTLB_MISS", 0x46, 0),
        count("DATA_PREFETCHES:ATTEMPTED", 0x0267, 0),
        count("SYSTEM_READ_RESPONSES:EXCLUSIVE", 0x016C, 0),
        count("SYSTEM_READ_RESPONSES:MODIFIED", 0x026C, 0),
        count("SYSTEM_READ_RESPONSES:SHARED", 0x046C, 0),
        count("QUADWORDS_WRITTEN_TO_SYSTEM", 0x016D, 0),
        count("REQUESTS_TO_L2:DATA", 0x027D, l2),
        count("REQUESTS_TO_L2:TLB_WALK", 0x047D, 0),
        count("L2_CACHE_MISS:DATA", 0x027E, 0),
        count("L2_CACHE_MISS:TLB_WALK", 0x047E, 0),
        count("L2_FILL_WRITEBACK:L2_FILLS", 0x017F, l2),
        count("L2_FILL_WRITEBACK:L2_WRITEBACKS", 0x027F, 0),
        count("DRAM_ACCESSES_PAGE:HIT", 0x01E0, 0),
        count("DRAM_ACCESSES_PAGE:MISS", 0x02E0, 0),
        count("DRAM_ACCESSES_PAGE:CONFLICT", 0x04E0, 0),
        count("CACHE_BLOCK:VICTIM_WRITEBACK", 0x01EA, 0),
        count("CACHE_BLOCK:DCACHE_LOAD_MISS", 0x04EA, 0),
        count("CACHE_BLOCK:READ_TO_DIRTY", 0x20EA, 0),
    ]
}

/// 32 lines: one in each of 32 sets.
const SMALL: u64 = 2 << 10;
/// 768 lines: two in 256 sets, one in the others.
const FITS: u64 = 48 << 10;
/// 8192 lines: sixteen for each set of the first level, eight for each of the second.
const SECOND: u64 = 512 << 10;
/// 131,072 lines: 128 for each set of the L2 cache.
const BEYOND: u64 = 8 << 20;

const LOADS: u64 = BEYOND / LINE;
const DIRTY_L1: u64 = (64 << 10) / LINE;
const DIRTY_L2: u64 = (1 << 20) / LINE;

/// The passes over 8 MiB, which are few as they take their time: one that finds what making the chain has left, and one after it. In both
/// every load misses everywhere.
///
/// Making the chain fills both levels with modified lines. The first pass displaces all of them: those of the first level into the second,
/// and all of them to memory. It puts exclusive ones in their place. So the second pass displaces clean lines alone: its requests to the
/// system are reads, and what leaves the first level is exclusive.
///
/// The order goes over the array in [`STEP`] sweeps, each of which enters each page of DRAM once: the page is missed there, and hit by the
/// other 14 or 15 loads of the sweep.
const FAR: [Count; 8] = {
    const PAGES: u64 = STEP * (BEYOND / DRAM_PAGE);
    [
        count("DATA_CACHE_MISSES, first pass", 0x41, LOADS),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE, first pass", 0x0443, LOADS),
        count("DATA_CACHE_LINES_EVICTED:MODIFIED, first pass", 0x1044, DIRTY_L1),
        count("L2_FILL_WRITEBACK:L2_WRITEBACKS, first pass", 0x027F, DIRTY_L1 + DIRTY_L2),
        count("DATA_CACHE_LINES_EVICTED:EXCLUSIVE", 0x0444, LOADS),
        count("CACHE_BLOCK:VICTIM_WRITEBACK and DCACHE_LOAD_MISS", 0x05EA, LOADS),
        count("DRAM_ACCESSES_PAGE:HIT", 0x01E0, LOADS - PAGES),
        count("DRAM_ACCESSES_PAGE:MISS", 0x02E0, PAGES),
    ]
};

/// Every other line of it: 16,384 lines, 32 for each of the 512 sets of the L2 cache that have any.
const WRITTEN: u64 = 2 << 20;

/// Every other line is stored to, then, in a second pass, loaded. Neither pass finds a line that the one before left, since 32 lines
/// compete for 17 places. A store that misses brings its line in modified, a load exclusive. What the stores left is written back while the
/// loads displace it; the stores displace clean lines.
const STORED: [Count; 8] = {
    const LINES: u64 = WRITTEN / LINE / 2;
    [
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE", 0x0443, LINES),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:MODIFIED", 0x1043, LINES),
        count("DATA_CACHE_LINES_EVICTED:MODIFIED", 0x1044, LINES),
        // A line is eight quadwords.
        count("QUADWORDS_WRITTEN_TO_SYSTEM", 0x016D, 8 * LINES),
        count("SYSTEM_READ_RESPONSES, exclusive and modified", 0x036C, 2 * LINES),
        // Two reads and a write for each line.
        count("DRAM_ACCESSES_PAGE, all", 0x07E0, 3 * LINES),
        count("CACHE_BLOCK:VICTIM_WRITEBACK", 0x01EA, LINES),
        count("CACHE_BLOCK:READ_BLOCK_MODIFIED", 0x10EA, LINES),
    ]
};

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    begin(&mut k)?;
    for (what, bytes, misses) in [("2 KiB", SMALL, 0), ("48 KiB", FITS, 0), ("512 KiB", SECOND, SECOND / LINE)] {
        chain(&mut k, bytes)?;
        measure(&mut k, what, 1, &near(bytes / LINE, misses), &|k| chase(k, bytes))?;
    }
    identities(&mut k, "512 KiB", &|k| chase(k, SECOND))?;
    measure(&mut k, "2 MiB stored and loaded", 1, &STORED, &|k| {
        every_other(k, |a, place| a.mov(place, rax))?;
        every_other(k, |a, place| a.mov(rax, place))
    })?;
    measure_after(&mut k, "8 MiB", &|k| chain(k, BEYOND), &FAR, &|k| chase(k, BEYOND))?;
    k.a.ret()?;
    k.finish()
}

/// Makes each line of the array point to the one that follows it in the order, and stores to each once.
fn chain(k: &mut Kernel, bytes: u64) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(eax, ARRAY as u32)?;
    a.mov(ecx, (bytes / LINE / UNROLL) as u32)?;
    here(a, &mut again)?;
    for n in 0..UNROLL {
        let (from, to) = if n % 2 == 0 { (rax, rdx) } else { (rdx, rax) };
        a.lea(to, ptr(from + STEP * LINE))?;
        a.lea(rsi, ptr(to - bytes))?;
        a.cmp(to, (ARRAY + bytes) as i32)?;
        a.cmovae(to, rsi)?;
        a.mov(qword_ptr(from), to)?;
    }
    a.dec(ecx)?;
    a.jne(again)
}

/// Follows the pointers once round.
fn chase(k: &mut Kernel, bytes: u64) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(eax, ARRAY as u32)?;
    a.mov(ecx, (bytes / LINE / UNROLL) as u32)?;
    here(a, &mut again)?;
    for _ in 0..UNROLL {
        a.mov(rax, qword_ptr(rax))?;
    }
    a.dec(ecx)?;
    a.jne(again)
}

/// Does `access` to each line of even number.
fn every_other(k: &mut Kernel, access: impl Fn(&mut CodeAssembler, AsmMemoryOperand) -> Built<()>) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(edx, ARRAY as u32)?;
    here(a, &mut again)?;
    for n in 0..UNROLL {
        access(a, qword_ptr(rdx + 2 * n * LINE))?;
    }
    a.add(rdx, (2 * UNROLL * LINE) as i32)?;
    a.cmp(rdx, (ARRAY + WRITTEN) as i32)?;
    a.jb(again)
}
