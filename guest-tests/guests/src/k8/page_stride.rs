//! `page-stride`: one load from each of many pages of 4 KiB, through the guest's own tables.
//!
//! The geometry, for data: 32 translations of 4 KiB in the first level, of which the least recently used is replaced; 512 in the second, in
//! 128 sets of four, by the lowest bits of the page's number; then a walk, which remembers 24 entries of the upper tables and so reads the
//! last one alone, from the L2 cache.

use iced_x86::code_asm::*;

use super::measure::{Count, begin, count, identities, measure};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// The virtual address of the first page: the first of the upper half.
const HIGH: u64 = 0xFFFF_8000_0000_0000;
/// Where the tables are: of directory pointers, of directories, and two of pages.
const TABLES: u64 = 0x100_0000;
/// Where the pages are, one after the other.
const PAGES: u64 = 0x120_0000;
const PAGE: u64 = 4096;
/// As many pages as two tables lead to.
const MOST: u64 = 1024;

const PRESENT: u64 = 3;

/// What a round of one load from each page shows, of which `second` find their translation in the second level, and `walks` in neither.
/// Walks read `entries` table entries.
///
/// The loads are spread over all lines of a page: each set of the data cache has two of the 1024 lines, and keeps them. The tables
/// are in the L2 cache, which nothing else is written to.
const fn counts(loads: u64, second: u64, walks: u64, entries: u64) -> [Count; 12] {
    [
        count("DATA_CACHE_ACCESSES", 0x40, loads),
        count("DATA_CACHE_MISSES", 0x41, 0),
        count("L1_DTLB_MISS_AND_L2_DTLB_HIT", 0x45, second),
        count("L1_DTLB_AND_L2_DTLB_MISS", 0x46, walks),
        count("REQUESTS_TO_L2:TLB_WALK", 0x047D, entries),
        count("L2_CACHE_MISS:TLB_WALK", 0x047E, 0),
        count("REQUESTS_TO_L2, all", 0x077D, entries),
        count("L1_ITLB_MISS_AND_L2_ITLB_HIT", 0x84, 0),
        count("L1_ITLB_MISS_AND_L2_ITLB_MISS", 0x85, 0),
        // A walk leaves the line where it is.
        count("L2_FILL_WRITEBACK:L2_FILLS", 0x017F, 0),
        count("SYSTEM_READ_RESPONSES, all", 0x076C, 0),
        count("DRAM_ACCESSES_PAGE, all", 0x07E0, 0),
    ]
}

/// A round over so many pages.
const LOOPS: [(&str, u64, [Count; 12]); 7] = [
    ("16 pages", 16, counts(16, 0, 0, 0)),
    ("32 pages", 32, counts(32, 0, 0, 0)),
    // One too many: each translation has just been replaced when it is needed.
    ("33 pages", 33, counts(33, 33, 0, 0)),
    ("256 pages", 256, counts(256, 256, 0, 0)),
    ("512 pages", 512, counts(512, 512, 0, 0)),
    // Set 0 has a fifth page for its four places, and finds none of the five.
    ("513 pages", 513, counts(513, 508, 5, 5)),
    // Each set has eight pages.
    ("1024 pages", MOST, counts(MOST, 0, MOST, MOST)),
];

/// After INVLPG of one of 16 pages: its load alone walks. INVLPG forgets the entries of upper tables too, so the walk reads all four.
const ONE_FORGOTTEN: [Count; 12] = counts(16, 0, 1, 4);

/// After MOV to CR3: every page walks. The code's page of 2 MiB does so first, which takes three entries; the first page's walk then reads
/// four, none of which the code's has read, and the others one each.
const fn all_forgotten(pages: u64) -> [Count; 12] {
    let mut counts = counts(pages, 0, pages, 3 + 4 + pages - 1);
    counts[8] = count("L1_ITLB_MISS_AND_L2_ITLB_MISS", 0x85, 1);
    counts
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    begin(&mut k)?;
    // The tables of the engine lead to this one.
    k.a.mov(rax, cr3)?;
    k.a.mov(edx, (TABLES | PRESENT) as u32)?;
    k.a.mov(qword_ptr(rax + 8 * (HIGH >> 39 & 0x1FF)), rdx)?;
    for (what, pages, counts) in &LOOPS {
        measure(&mut k, what, 2, counts, &|k| loads(k, *pages))?;
    }
    measure(&mut k, "16 pages, INVLPG of one", 2, &ONE_FORGOTTEN, &|k| {
        k.a.mov(rdi, HIGH + 3 * PAGE)?;
        k.a.invlpg(byte_ptr(rdi))?;
        loads(k, 16)
    })?;
    for (what, pages) in [("16 pages, MOV to CR3", 16), ("256 pages, MOV to CR3", 256)] {
        measure(&mut k, what, 2, &all_forgotten(pages), &|k| {
            k.a.mov(rax, cr3)?;
            k.a.mov(cr3, rax)?;
            loads(k, pages)
        })?;
    }
    identities(&mut k, "1024 pages", &|k| loads(k, MOST))?;
    k.a.ret()?;
    let mut image = k.finish()?;
    image = image.with(TABLES, tables());
    Ok(image)
}

/// The guest's tables.
fn tables() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut table = |entries: &mut dyn Iterator<Item = u64>| {
        let end = bytes.len() + PAGE as usize;
        bytes.extend(entries.flat_map(u64::to_le_bytes));
        bytes.resize(end, 0);
    };
    table(&mut [(TABLES + PAGE) | PRESENT].into_iter());
    table(&mut [(TABLES + 2 * PAGE) | PRESENT, (TABLES + 3 * PAGE) | PRESENT].into_iter());
    for first in [0, 512] {
        table(&mut (first..first + 512).map(|page| (PAGES + page * PAGE) | PRESENT));
    }
    bytes
}

/// Loads from each of `pages` pages: from the first line of eight of them, from the second of the next eight, and so on. The lowest nine
/// bits of the line's number, which choose the set, are then those of the page's number, in another order.
fn loads(k: &mut Kernel, pages: u64) -> Built<()> {
    let a = &mut k.a;
    let mut again = a.create_label();
    a.mov(rdi, HIGH)?;
    a.xor(ecx, ecx)?;
    here(a, &mut again)?;
    a.mov(eax, ecx)?;
    a.shr(eax, 3)?;
    a.and(eax, 63)?;
    a.shl(eax, 6)?;
    a.mov(rax, qword_ptr(rdi + rax))?;
    a.add(rdi, PAGE as i32)?;
    a.inc(ecx)?;
    a.cmp(ecx, pages as i32)?;
    a.jb(again)
}
