//! `mcdram-bandwidth`: the bandwidth of MCDRAM as a cache, computed from seven events as section 3.1 of the manual does.
//!
//! Reads of the cores are what the read queues got less what missed; writes are what the write queues got less the reads of DDR, each of
//! which fills a line. So a line that comes from DDR is neither, one that MCDRAM has is read once, and a write-back or a streaming store is
//! written once. A streaming store makes a lookup as well, which according to the manual counts as a read where it hits. The manual takes no
//! misses away that found a place of MCDRAM empty, so by its formula these are read.

use super::streams::{Formula, SCRATCH, Stream, guest, stream};
use super::traffic::{Access, NEAR_MEMORY, REGION};
use crate::runtime::Built;
use vm_pmu_engines::x86::Image;

/// Where streaming stores begin.
const OTHER: u64 = REGION + (2 << 20);

const STREAMS: [Stream; 15] = [
    stream("loads where MCDRAM has nothing", Access::Load, REGION + NEAR_MEMORY, [1, 1, 0, 0, 0, 0, 1, 0], 1, 0),
    stream("flushes of what is unchanged", Access::Flush, REGION + NEAR_MEMORY, [0; 8], 0, 0),
    stream("loads that drive unchanged lines out of MCDRAM", Access::Load, REGION, [1, 1, 0, 0, 1, 0, 1, 0], 0, 0),
    stream("flushes of these", Access::Flush, REGION, [0; 8], 0, 0),
    stream("loads of what MCDRAM has", Access::Load, REGION, [1, 0, 1, 0, 0, 0, 0, 0], 1, 0),
    stream("flushes again", Access::Flush, REGION, [0; 8], 0, 0),
    stream("stores, which read what MCDRAM has", Access::Store, REGION, [1, 0, 1, 0, 0, 0, 0, 0], 1, 0),
    stream("write-backs", Access::Flush, REGION, [0, 1, 0, 0, 0, 0, 0, 0], 0, 1),
    stream("loads of what MCDRAM has newer than DDR", Access::Load, REGION, [1, 0, 0, 1, 0, 0, 0, 0], 1, 0),
    stream("streaming stores over what the tile and MCDRAM have", Access::Stream, REGION, [1, 1, 0, 1, 0, 0, 0, 0], 1, 1),
    stream("loads that drive newer lines out of MCDRAM", Access::Load, REGION + NEAR_MEMORY, [1, 1, 0, 0, 0, 1, 1, 1], 0, 0),
    stream("streaming stores where MCDRAM has nothing", Access::Stream, OTHER, [1, 1, 0, 0, 0, 0, 0, 0], 1, 1),
    stream("streaming stores that drive newer lines out", Access::Stream, OTHER + NEAR_MEMORY, [1, 1, 0, 0, 0, 1, 0, 1], 0, 1),
    stream("flushes of what is unchanged, at last", Access::Flush, REGION + NEAR_MEMORY, [0; 8], 0, 0),
    stream("streaming stores that drive unchanged lines out", Access::Stream, REGION, [1, 1, 0, 0, 1, 0, 0, 0], 0, 1),
];

pub(super) fn build() -> Built<Image> {
    guest(&STREAMS, SCRATCH + NEAR_MEMORY, Formula::Cache)
}
