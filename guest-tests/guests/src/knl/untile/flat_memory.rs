//! `flat-memory`: MCDRAM as memory above DDR, and its bandwidth by the queues, whose events are valid in this mode too (tables 3-2 and 3-3).
//!
//! A line of MCDRAM is read once from the read queues or written once through the write queues, and is neither a hit nor a miss. A line of
//! DDR does not reach MCDRAM.

use super::streams::{Formula, Stream, guest, stream};
use super::traffic::{Access, REGION};
use crate::runtime::Built;
use vm_pmu_engines::x86::Image;

/// Where MCDRAM begins: the machine has 32 MiB and twice the 64 MiB of MCDRAM.
const MCDRAM: u64 = (32 + 64) << 20;
/// DDR that nothing else uses.
const DDR: u64 = REGION;
/// Lines further up than those of the first streams.
const OTHER: u64 = 2 << 20;

const STREAMS: [Stream; 10] = [
    stream("loads from DDR", Access::Load, DDR, [0, 0, 0, 0, 0, 0, 1, 0], 0, 0),
    stream("flushes of these", Access::Flush, DDR, [0; 8], 0, 0),
    stream("stores to DDR, which read it", Access::Store, DDR, [0, 0, 0, 0, 0, 0, 1, 0], 0, 0),
    stream("write-backs to DDR", Access::Flush, DDR, [0, 0, 0, 0, 0, 0, 0, 1], 0, 0),
    stream("streaming stores to DDR", Access::Stream, DDR + OTHER, [0, 0, 0, 0, 0, 0, 0, 1], 0, 0),
    stream("loads from MCDRAM", Access::Load, MCDRAM, [1, 0, 0, 0, 0, 0, 0, 0], 1, 0),
    stream("flushes of what is unchanged", Access::Flush, MCDRAM, [0; 8], 0, 0),
    stream("stores to MCDRAM, which read it", Access::Store, MCDRAM, [1, 0, 0, 0, 0, 0, 0, 0], 1, 0),
    stream("write-backs to MCDRAM", Access::Flush, MCDRAM, [0, 1, 0, 0, 0, 0, 0, 0], 0, 1),
    stream("streaming stores to MCDRAM", Access::Stream, MCDRAM + OTHER, [0, 1, 0, 0, 0, 0, 0, 0], 0, 1),
];

pub(super) fn build() -> Built<Image> {
    guest(&STREAMS, MCDRAM + (4 << 20), Formula::Flat)
}
