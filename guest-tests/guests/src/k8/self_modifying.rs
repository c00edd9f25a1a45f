//! `self-modifying`: stores into code, and stores past the caches.

use iced_x86::code_asm::*;

use super::measure::{Count, Part, begin, count, identities, measure};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Stores into code in a round.
const TURNS: u64 = 10;

/// Each store changes an instruction: one that follows and has been fetched already, or one that has been executed before and is elsewhere.
/// The fetcher has to begin anew after the first kind alone.
///
/// Code and data cache both have the line, and share it: the store has to ask for permission, but misses nothing. It takes the line from
/// the instruction cache, which has to get it again before the instruction is executed: from the data cache.
const fn stored(restarts: u64) -> [Count; 8] {
    [
        count("PIPELINE_RESTART_DUE_TO_SELF_MODIFYING_CODE", 0x21, restarts),
        count("RETIRED_BRANCH_RESYNCS", 0xC7, restarts),
        count("INSTRUCTION_CACHE_MISSES", 0x81, TURNS),
        count("INSTRUCTION_CACHE_REFILLS_FROM_L2", 0x82, 0),
        count("INSTRUCTION_CACHE_REFILLS_FROM_SYSTEM", 0x83, TURNS),
        count("DATA_CACHE_MISSES", 0x41, 0),
        count("CACHE_BLOCK:READ_TO_DIRTY", 0x20EA, TURNS),
        count("DRAM_ACCESSES_PAGE, all", 0x07E0, 0),
    ]
}

/// Where streaming stores go, and how many lines of it they write.
const REGION: u64 = 0x100_0000;
const LINES: u64 = 64;
const LINE: u64 = 64;
/// Quadwords of a line.
const QUADWORDS: u64 = 8;

/// Stores past the caches to `quadwords` pieces of each line, after `loads` loads of which each is the first one of a line.
///
/// Every store is a miss, none a refill. A buffer is written out once for each line: when it is full, when another line needs it, or at a
/// fence. Caches lose the line, so that it is read again in the next round.
const fn streamed(quadwords: u64, loads: u64) -> [Count; 16] {
    let stores = LINES * quadwords;
    [
        count("DATA_CACHE_ACCESSES", 0x40, stores + loads),
        count("DATA_CACHE_MISSES", 0x41, stores + loads),
        count("DATA_CACHE_REFILLS, all", 0x1F42, loads),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM:EXCLUSIVE", 0x0443, loads),
        count("DATA_CACHE_REFILLS_FROM_SYSTEM in other states", 0x1B43, 0),
        count("MEMORY_REQUESTS:NON_CACHEABLE", 0x0165, 0),
        count("MEMORY_REQUESTS:WRITE_COMBINING", 0x0265, LINES),
        count("MEMORY_REQUESTS:STREAMING_STORE", 0x8065, LINES),
        count("QUADWORDS_WRITTEN_TO_SYSTEM", 0x016D, stores),
        count("DATA_PREFETCHES:ATTEMPTED", 0x0267, 0),
        count("REQUESTS_TO_L2:DATA", 0x027D, loads),
        count("L2_FILL_WRITEBACK, all", 0x037F, 0),
        count("SYSTEM_READ_RESPONSES:EXCLUSIVE", 0x016C, loads),
        count("DRAM_ACCESSES_PAGE, all", 0x07E0, LINES + loads),
        count("CACHE_BLOCK:VICTIM_WRITEBACK", 0x01EA, 0),
        count("CACHE_BLOCK:READ_BLOCK_MODIFIED", 0x10EA, 0),
    ]
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let mut elsewhere = k.a.create_label();
    k.routine("changed");
    here(&mut k.a, &mut elsewhere)?;
    k.a.mov(al, 0)?;
    k.a.ret()?;

    k.main()?;
    begin(&mut k)?;
    // The instruction that is changed ends 20 bytes after the store: in its line or in the next one.
    let near: Part<'_> = &|k| {
        let a = &mut k.a;
        let (mut again, mut changed) = (a.create_label(), a.create_label());
        a.lea(rdi, ptr(changed))?;
        a.mov(ecx, TURNS as u32)?;
        here(a, &mut again)?;
        a.mov(byte_ptr(rdi + 1), cl)?;
        for _ in 0..18 {
            a.nop()?;
        }
        here(a, &mut changed)?;
        a.mov(al, 0)?;
        a.dec(ecx)?;
        a.jne(again)
    };
    let far: Part<'_> = &|k| {
        let a = &mut k.a;
        let mut again = a.create_label();
        a.lea(rdi, ptr(elsewhere))?;
        a.mov(ecx, TURNS as u32)?;
        here(a, &mut again)?;
        a.mov(byte_ptr(rdi + 1), cl)?;
        a.call(elsewhere)?;
        a.dec(ecx)?;
        a.jne(again)
    };
    measure(&mut k, "code that follows", 2, &stored(TURNS), near)?;
    measure(&mut k, "code elsewhere", 2, &stored(0), far)?;
    identities(&mut k, "code that follows", near)?;
    measure(&mut k, "whole lines streamed", 2, &streamed(QUADWORDS, 0), &|k| stream(k, 1, QUADWORDS, false))?;
    measure(&mut k, "parts of lines streamed", 2, &streamed(1, 0), &|k| stream(k, 1, 1, false))?;
    // Every other line, as the prefetcher would fetch some otherwise.
    measure(&mut k, "lines loaded and streamed", 2, &streamed(QUADWORDS, LINES), &|k| stream(k, 2, QUADWORDS, true))?;
    k.a.ret()?;
    k.finish()
}

/// Streams so many quadwords into each of [`LINES`] lines, `apart` lines apart, then waits until all are written. If `loads`, loads each
/// line before any is written.
fn stream(k: &mut Kernel, apart: u64, quadwords: u64, loads: bool) -> Built<()> {
    let a = &mut k.a;
    let each = |a: &mut CodeAssembler, access: &dyn Fn(&mut CodeAssembler) -> Built<()>| {
        let mut again = a.create_label();
        a.mov(edx, REGION as u32)?;
        here(a, &mut again)?;
        access(a)?;
        a.add(rdx, (apart * LINE) as i32)?;
        a.cmp(rdx, (REGION + LINES * apart * LINE) as i32)?;
        a.jb(again)
    };
    if loads {
        each(a, &|a| a.mov(rax, qword_ptr(rdx)))?;
    }
    each(a, &|a| (0..quadwords).try_for_each(|n| a.movnti(qword_ptr(rdx + 8 * n), rax)))?;
    a.sfence()
}
