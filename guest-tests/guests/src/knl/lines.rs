//! Lines of memory that no cache has seen, each in its own page, so that no prefetcher follows them.

use iced_x86::code_asm::*;

use super::{COUNTER, EN, OS, PART, SELECT};
use crate::runtime::{Built, Kernel};

/// MSR_OFFCORE_RESP0.
pub(super) const OFFCORE_RESP: u32 = 0x1A6;
/// OFFCORE_RESP.OFFCORE_RESP_0 and _1.
pub(super) const BY_FIRST: u64 = 0x01B7;
pub(super) const BY_SECOND: u64 = 0x02B7;

/// Request types of table 1-1.
pub(super) const DEMAND_DATA_RD: u64 = 1 << 0;
pub(super) const DEMAND_RFO: u64 = 1 << 1;
/// Responses: any; and with their snoops DDR, MCDRAM and other tiles, as section 1.2.4 puts them together.
pub(super) const ANY_RESPONSE: u64 = 1 << 16;
pub(super) const DDR: u64 = 1 << 23 | 1 << 24 | 1 << 31 | 1 << 32;
pub(super) const MCDRAM: u64 = 1 << 21 | 1 << 22 | 1 << 31 | 1 << 32;
pub(super) const OTHER_TILE: u64 = 1 << 19 | 1 << 22 | 1 << 35 | 1 << 36;
pub(super) const OWN_TILE_MODIFIED: u64 = 1 << 25;
pub(super) const OWN_TILE_CLEAN: u64 = 1 << 26 | 1 << 27 | 1 << 28;
/// Weighted cycles.
pub(super) const OUTSTANDING: u64 = 1 << 38;

/// Lines of a batch.
pub(super) const BATCH: u64 = 8;

/// 2 MiB that nothing else uses, one page of the guest's.
const ARRAY: u64 = 0x100_0000;
const PAGE: u64 = 4096;
const LINE: u64 = 64;
/// The most batches: all pages but one.
const BATCHES: u64 = 511 / BATCH;

/// L2_REQUESTS.REFERENCE.
const L2_REQUESTS: u64 = 0x4F2E;

/// Where the lines of batch `batch` are, each in another page and another set of the first level.
fn lines(batch: u64) -> impl Iterator<Item = u64> {
    debug_assert!(batch < BATCHES, "there is no such batch");
    (0..BATCH).map(move |n| ARRAY + (batch * BATCH + n) * PAGE + n * LINE)
}

/// What every CPU does that takes part: its other counter counts from now on, so that its caches are followed whatever else is counted, and
/// the translation of the lines is known.
pub(super) fn begin(k: &mut Kernel) -> Built<()> {
    k.wrmsr(SELECT + 1, L2_REQUESTS | OS | EN)?;
    k.a.mov(rax, qword_ptr(ARRAY + 511 * PAGE))
}

/// Loads each line of a batch.
pub(super) fn load(k: &mut Kernel, batch: u64) -> Built<()> {
    lines(batch).try_for_each(|line| k.a.mov(rax, qword_ptr(line)))
}

/// Stores to each line of a batch.
pub(super) fn store(k: &mut Kernel, batch: u64) -> Built<()> {
    lines(batch).try_for_each(|line| k.a.mov(qword_ptr(line), rax))
}

/// Loads the first half of a batch and stores to the other.
pub(super) fn load_and_store(k: &mut Kernel, batch: u64) -> Built<()> {
    for (n, line) in (0..).zip(lines(batch)) {
        if n < BATCH / 2 { k.a.mov(rax, qword_ptr(line))? } else { k.a.mov(qword_ptr(line), rax)? }
    }
    Ok(())
}

/// Flushes each line of a batch from every cache of the tiles, so that MCDRAM alone has it.
pub(super) fn flush(k: &mut Kernel, batch: u64) -> Built<()> {
    lines(batch).try_for_each(|line| k.a.clflush(byte_ptr(line)))
}

/// Begins to count the requests that `chosen` describes, with counter 0.
pub(super) fn start(k: &mut Kernel, chosen: u64) -> Built<()> {
    k.wrmsr(OFFCORE_RESP, chosen)?;
    k.wrmsr(COUNTER, 0)?;
    PART.enable(k, 0, BY_FIRST | OS)
}

/// Ends that; the count is in RAX.
pub(super) fn stop(k: &mut Kernel) -> Built<()> {
    PART.disable(k, 0, BY_FIRST | OS)?;
    k.rdmsr(COUNTER)
}
