//! `code`: chains of jumps, one in each line of the code, in lines of one set, or one in each page.
//!
//! The geometry: an instruction cache of 64 KiB, two ways, 512 sets, least recently used; then the L2 cache of 1024 sets of 16, which
//! holds what the first level gives up; for pages of 4 KiB 32 translations in the first level and 512 in the second, four for each of
//! 128 sets.
//!
//! # The window
//!
//! A round also counts its own code. So that is known to the byte: [`thunk`] clears the counters and jumps into the chain, all in one line;
//! the chain comes back to the next one, which reads the four counters. That line is one more than the chain has. It is in a set of the
//! cache with nothing else of the guest but a line of the chain.

use iced_x86::code_asm::*;

use super::measure::{Count, Part, Round, Warm, begin, clear, count, identities_within, read, rounds};
use crate::runtime::{Built, KERNEL_CODE, Kernel, here};
use vm_pmu_engines::x86::Image;

const LINE: u64 = 64;
const PAGE: u64 = 4096;
/// Bytes of a page of DRAM.
const DRAM_PAGE: u64 = 16 << 10;
/// Lines of a page.
const IN_PAGE: u64 = PAGE / LINE;
/// From line to line within a page, in lines: no line follows the one before it.
const STEP: u64 = 17;

/// Where the chains begin, in set 0.
const SMALL: u64 = 0x100_0000;
const MIDDLE: u64 = 0x110_0000;
const LARGE: u64 = 0x140_0000;
const SMALL_BYTES: u64 = 32 << 10;
const MIDDLE_BYTES: u64 = 128 << 10;
const LARGE_BYTES: u64 = 2 << 20;

/// Set 448 of the cache, beyond all sets that [`MOST_KERNEL`] bytes reach, and a page of DRAM in the last bank.
const THUNK: u64 = 0x127_F000;
/// Where the thunk reads the counters.
const BACK: u64 = THUNK + LINE;
/// The kernel's code stays in the first sets.
const MOST_KERNEL: u64 = 448 * LINE;

/// What every round over a chain of `lines` lines shows, of which all and the thunk's, or none, miss in the cache.
///
/// An instruction that a jump leads to is a fetch, though the 16 bytes around it were fetched before. Of the thunk's, two more pieces
/// belong to counter 0, the first one: the second piece of the code that clears, and the first one of the code that reads.
const fn near(lines: u64, misses: u64) -> [Count; 13] {
    [
        count("INSTRUCTION_CACHE_FETCHES", 0x80, lines + 2),
        count("INSTRUCTION_CACHE_MISSES", 0x81, misses),
        count("INSTRUCTION_CACHE_REFILLS_FROM_L2", 0x82, misses),
        count("INSTRUCTION_CACHE_REFILLS_FROM_SYSTEM", 0x83, 0),
        // A page of 2 MiB for each chain, one for the thunk, one for the kernel: there is room for eight.
        count("L1_ITLB_MISS_AND_L2_ITLB_HIT", 0x84, 0),
        count("L1_ITLB_MISS_AND_L2_ITLB_MISS", 0x85, 0),
        count("REQUESTS_TO_L2:INSTRUCTIONS", 0x017D, misses),
        count("L2_CACHE_MISS:INSTRUCTIONS", 0x017E, 0),
        // A set that misses is full: each refill sends a line down.
        count("L2_FILL_WRITEBACK:L2_FILLS", 0x017F, misses),
        count("SYSTEM_READ_RESPONSES, all", 0x076C, 0),
        count("DATA_CACHE_ACCESSES", 0x40, 0),
        count("DRAM_ACCESSES_PAGE, all", 0x07E0, 0),
        count("CACHE_BLOCK:SHARED_ICACHE_REFILL", 0x08EA, 0),
    ]
}

/// 32,768 lines, 32 for each set of the L2 cache: each is read from memory, and so is the line of the thunk.
///
/// The chain goes through its pages of DRAM one by one and finds each one closed, except the first: that is in bank 0, as is the code which
/// led into this round, and was read from memory too. The line of the thunk is in bank 31, as is the last page of the chain. Both find
/// another page open in their bank.
const FAR: [Count; 12] = {
    const MISSES: u64 = LARGE_BYTES / LINE + 1;
    const PAGES: u64 = LARGE_BYTES / DRAM_PAGE;
    [
        count("INSTRUCTION_CACHE_FETCHES", 0x80, MISSES + 1),
        count("INSTRUCTION_CACHE_MISSES", 0x81, MISSES),
        count("INSTRUCTION_CACHE_REFILLS_FROM_L2", 0x82, 0),
        count("INSTRUCTION_CACHE_REFILLS_FROM_SYSTEM", 0x83, MISSES),
        count("REQUESTS_TO_L2:INSTRUCTIONS", 0x017D, MISSES),
        count("L2_CACHE_MISS:INSTRUCTIONS", 0x017E, MISSES),
        // Clean lines go where the code was: nothing is written back.
        count("L2_FILL_WRITEBACK, all", 0x037F, MISSES),
        count("SYSTEM_READ_RESPONSES:EXCLUSIVE", 0x016C, MISSES),
        count("DRAM_ACCESSES_PAGE:HIT", 0x01E0, MISSES - PAGES - 1),
        count("DRAM_ACCESSES_PAGE:MISS", 0x02E0, PAGES - 1),
        count("DRAM_ACCESSES_PAGE:CONFLICT", 0x04E0, 2),
        count("CACHE_BLOCK:SHARED_ICACHE_REFILL", 0x08EA, MISSES),
    ]
};

/// Lines at this distance share a set of each level.
const ONE_SET: u64 = 64 << 10;
/// The first line of the first chain of such lines, which is beyond the sets of kernel and thunk; the next chain's are four sets on.
const WAYS: u64 = 0x190_7400;
const WAYS_APART: u64 = 4 * LINE;

/// What a chain over so many lines of one set shows: two stay in the first level, sixteen more in the second.
const fn one_set(lines: u64) -> [Count; 4] {
    let misses = if lines <= 2 { 0 } else { lines };
    let found = if lines <= 2 + 16 { misses } else { 0 };
    [
        count("INSTRUCTION_CACHE_FETCHES", 0x80, lines + 2),
        count("INSTRUCTION_CACHE_MISSES", 0x81, misses),
        count("INSTRUCTION_CACHE_REFILLS_FROM_L2", 0x82, found),
        count("INSTRUCTION_CACHE_REFILLS_FROM_SYSTEM", 0x83, misses - found),
    ]
}

/// Lines of a chain through one set.
const SETS: [u64; 4] = [2, 3, 18, 19];

/// What a chain over so many pages of 4 KiB shows, of which `second` find their translation in the second level, and `walks` in neither. A
/// walk reads the last table's entry; the upper ones are remembered.
const fn pages(pages: u64, second: u64, walks: u64) -> [Count; 8] {
    [
        count("INSTRUCTION_CACHE_FETCHES", 0x80, pages + 2),
        count("INSTRUCTION_CACHE_MISSES", 0x81, 0),
        count("L1_ITLB_MISS_AND_L2_ITLB_HIT", 0x84, second),
        count("L1_ITLB_MISS_AND_L2_ITLB_MISS", 0x85, walks),
        count("REQUESTS_TO_L2:TLB_WALK", 0x047D, walks),
        count("L2_CACHE_MISS:TLB_WALK", 0x047E, 0),
        count("L1_DTLB_MISS_AND_L2_DTLB_HIT", 0x45, 0),
        count("L1_DTLB_AND_L2_DTLB_MISS", 0x46, 0),
    ]
}

/// Pages of a chain and what it shows: the same as for data.
const CHAINS: [(&str, u64, [Count; 8]); 5] = [
    ("32 pages", 32, pages(32, 0, 0)),
    ("33 pages", 33, pages(33, 33, 0)),
    ("512 pages", 512, pages(512, 512, 0)),
    ("513 pages", 513, pages(513, 508, 5)),
    ("1024 pages", 1024, pages(1024, 0, 1024)),
];

/// The first page's virtual address, and how far apart the chains of pages begin: at the same set of translations.
const HIGH: u64 = 0xFFFF_8000_0000_0000;
const APART: u64 = 1024 * PAGE;
/// Where the tables are: of directory pointers, of directories, then two of pages for each chain.
const TABLES: u64 = 0x180_0000;
const PRESENT: u64 = 3;
/// The three pages that all chains are made of: the even ones, the odd ones and the last one. Neighbours are different ones, so that each
/// jump leads to another line.
const JUMPS: [u64; 3] = [0x120_0000, 0x120_1000, 0x120_2000];
/// Where in its page each jump is: in lines whose sets the kernel's code leaves a place in.
const OFFSET: u64 = 0x800;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    begin(&mut k)?;
    k.a.mov(rax, cr3)?;
    k.a.mov(edx, (TABLES | PRESENT) as u32)?;
    k.a.mov(qword_ptr(rax + 8 * (HIGH >> 39 & 0x1FF)), rdx)?;
    // First, as its code must be in the kernel's first page of DRAM.
    window(&mut k, "2 MiB", &FAR, LARGE)?;
    window(&mut k, "32 KiB", &near(SMALL_BYTES / LINE, 0), SMALL)?;
    window(&mut k, "128 KiB", &near(MIDDLE_BYTES / LINE, MIDDLE_BYTES / LINE + 1), MIDDLE)?;
    for (n, lines) in (0..).zip(SETS) {
        window(&mut k, &format!("{lines} lines of one set"), &one_set(lines), WAYS + n * WAYS_APART)?;
    }
    for (n, (what, _, counts)) in (0..).zip(&CHAINS) {
        window(&mut k, what, counts, HIGH + n * APART + OFFSET)?;
    }
    identities_within(&mut k, "128 KiB", &|k| through(k, MIDDLE))?;
    k.a.ret()?;
    let mut image = k.finish()?;
    assert!(image.segments.iter().all(|segment| segment.address != KERNEL_CODE || segment.size < MOST_KERNEL));
    for (at, bytes) in [(SMALL, SMALL_BYTES), (MIDDLE, MIDDLE_BYTES), (LARGE, LARGE_BYTES)] {
        image = image.with(at, chain(bytes));
    }
    for (first, lines) in (0..).map(|n| WAYS + n * WAYS_APART).zip(SETS) {
        for n in 0..lines {
            image = image.with(first + n * ONE_SET, if n + 1 < lines { jump(ONE_SET) } else { LEAVE.to_vec() });
        }
    }
    for (at, code) in JUMPS.into_iter().zip([jump(PAGE), jump(PAGE), LEAVE.to_vec()]) {
        image = image.with(at + OFFSET, code);
    }
    Ok(image.with(TABLES, tables()).with(THUNK, thunk()?))
}

/// Measures the chain that begins at `start`.
fn window(k: &mut Kernel, what: &str, counts: &[Count], start: u64) -> Built<()> {
    let nothing: Part<'_> = &|_| Ok(());
    rounds(k, what, counts, &Round { warm: Warm::Rounds(2), before: nothing, window: &|k| through(k, start), after: nothing })
}

/// Goes through the chain that begins at `start`, and counts.
fn through(k: &mut Kernel, start: u64) -> Built<()> {
    let mut back = k.a.create_label();
    k.a.mov(rbx, start)?;
    k.a.mov(edi, BACK as u32)?;
    k.a.lea(rsi, ptr(back))?;
    k.a.mov(eax, THUNK as u32)?;
    k.a.jmp(rax)?;
    here(&mut k.a, &mut back)
}

/// The code around the window: RBX leads into the chain, RDI back out of it, RSI to the code that measures.
fn thunk() -> Built<Vec<u8>> {
    let mut a = CodeAssembler::new(64)?;
    clear(&mut a)?;
    a.jmp(rbx)?;
    let mut code = a.assemble(THUNK)?;
    code.resize(LINE as usize, 0x90);
    let mut a = CodeAssembler::new(64)?;
    read(&mut a)?;
    a.jmp(rsi)?;
    code.extend(a.assemble(BACK)?);
    Ok(code)
}

/// JMP to `distance` bytes further on.
fn jump(distance: u64) -> Vec<u8> {
    let mut code = vec![0xE9];
    code.extend_from_slice(&(distance as u32).wrapping_sub(5).to_le_bytes());
    code
}

/// JMP by RDI.
const LEAVE: [u8; 2] = [0xFF, 0xE7];

/// A jump at the beginning of each line, page after page.
fn chain(bytes: u64) -> Vec<u8> {
    let mut code = vec![0; bytes as usize];
    let at = |n: u64| (n / IN_PAGE * IN_PAGE + n * STEP % IN_PAGE) * LINE;
    let lines = bytes / LINE;
    for n in 0..lines {
        let one = if n + 1 < lines { jump(at(n + 1).wrapping_sub(at(n))) } else { LEAVE.to_vec() };
        code[at(n) as usize..][..one.len()].copy_from_slice(&one);
    }
    code
}

/// The tables of the chains of pages.
fn tables() -> Vec<u8> {
    let table = |entries: Vec<u64>| {
        let mut bytes: Vec<u8> = entries.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.resize(PAGE as usize, 0);
        bytes
    };
    let of_pages = CHAINS.iter().flat_map(|(_, pages, _)| {
        let page = |n| if n + 1 == *pages { JUMPS[2] } else { JUMPS[(n % 2) as usize] };
        [0, 512].map(|first| (first..first + 512).map(|n| if n < *pages { page(n) | PRESENT } else { 0 }).collect())
    });
    let directories = (2..2 + 2 * CHAINS.len() as u64).map(|n| (TABLES + n * PAGE) | PRESENT).collect();
    [vec![(TABLES + PAGE) | PRESENT], directories].into_iter().chain(of_pages).flat_map(table).collect()
}
