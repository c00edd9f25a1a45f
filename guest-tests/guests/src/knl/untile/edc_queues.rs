//! `edc-queues`: what MCDRAM's read and write queues get while it holds everything, which is the same as with flat memory.

use iced_x86::code_asm::*;

use super::boxes::{Kind, Unit};
use super::traffic::{Access, LINE, REGION, Traffic, counters, list};
use super::{EN, RESET_COUNTERS};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

/// Lines of each stream.
const LINES: u64 = 512;
const SCRATCH: u64 = REGION + (4 << 20);

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    let kinds = [Kind::EdcUclk, Kind::EdcEclk];
    let controls = list(&mut k, kinds.into_iter().flat_map(Unit::of).map(Unit::control));
    let reads = counters(&mut k, Unit::of(Kind::EdcEclk), 0);
    let writes = counters(&mut k, Unit::of(Kind::EdcEclk), 3);
    k.main()?;
    // RPQ and WPQ (tables 3-2 and 3-3); hits and misses of every kind in one counter (table 3-1).
    for (kind, n, event) in [(Kind::EdcEclk, 0, 0x0101), (Kind::EdcEclk, 3, 0x0102), (Kind::EdcUclk, 2, 0x0F02)] {
        let control = list(&mut k, Unit::of(kind).map(|unit| unit.counter_control(n)));
        traffic.fill(&mut k, control, event | EN)?;
    }
    traffic.warm(&mut k, SCRATCH, LINES, LINE)?;
    traffic.touch(&mut k, Access::Load, REGION, LINES, LINE)?;
    traffic.touch(&mut k, Access::Flush, REGION, LINES, LINE)?;
    for (what, access, read, written) in [
        ("loads", Access::Load, 1, 0),
        ("loads of what the tile has", Access::Load, 0, 0),
        ("stores to what the tile has", Access::Store, 0, 0),
        ("write-backs", Access::Flush, 0, 1),
        ("stores", Access::Store, 1, 0),
        ("write-backs again", Access::Flush, 0, 1),
        ("streaming stores, looked up first", Access::Stream, 1, 1),
    ] {
        traffic.fill(&mut k, controls, RESET_COUNTERS)?;
        traffic.measure(&mut k, access, REGION, LINES, LINE)?;
        traffic.sum(&mut k, reads)?;
        k.check_is(&format!("{what}: RPQ"), rax, read * LINES)?;
        traffic.sum(&mut k, writes)?;
        k.check_is(&format!("{what}: WPQ"), rax, written * LINES)?;
        for (back, front) in Unit::of(Kind::EdcEclk).zip(Unit::of(Kind::EdcUclk)) {
            // Write-backs make no lookup, all else does.
            back.counter(0).read_counter(&mut k)?;
            k.a.mov(rbx, rax)?;
            front.counter(2).read_counter(&mut k)?;
            k.check_same(&format!("{what}: {}, look-ups and reads", front.name()), rax, rbx)?;
        }
    }
    k.a.ret()?;
    k.finish()
}
