//! `mc-cas`: what the channels of DDR read and write while MCDRAM is their cache.

use iced_x86::code_asm::*;

use super::boxes::{Kind, Unit};
use super::traffic::{Access, LINE, NEAR_MEMORY, REGION, Traffic, counters, list};
use super::{EN, RESET_COUNTERS};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

/// Lines of each stream: enough that every channel has some.
const LINES: u64 = 512;
const SCRATCH: u64 = REGION + (4 << 20);
/// CAS of reads, of writes and of both (table 4-1).
const EVENTS: [(&str, u32); 3] = [("CAS reads", 0x0103), ("CAS writes", 0x0203), ("CAS of both", 0x0303)];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    let controls = list(&mut k, Unit::of(Kind::McDclk).map(Unit::control));
    let lists = [0, 1, 2].map(|n| counters(&mut k, Unit::of(Kind::McDclk), n));
    k.main()?;
    for (n, (_, event)) in (0..).zip(EVENTS) {
        let control = list(&mut k, Unit::of(Kind::McDclk).map(|unit| unit.counter_control(n)));
        traffic.fill(&mut k, control, event | EN)?;
    }
    traffic.warm(&mut k, SCRATCH, LINES, LINE)?;
    // The tables that translate the addresses further up are known then too.
    traffic.touch(&mut k, Access::Load, SCRATCH + NEAR_MEMORY, 1, LINE)?;
    for (what, access, base, reads, writes) in [
        ("loads of what only DDR has", Access::Load, REGION, 1, 0),
        ("flushes of what is unchanged", Access::Flush, REGION, 0, 0),
        ("stores of what MCDRAM has", Access::Store, REGION, 0, 0),
        ("write-backs, which MCDRAM keeps", Access::Flush, REGION, 0, 0),
        ("loads that drive newer lines out of MCDRAM", Access::Load, REGION + NEAR_MEMORY, 1, 1),
        ("flushes again", Access::Flush, REGION + NEAR_MEMORY, 0, 0),
        ("loads that drive unchanged lines out of MCDRAM", Access::Load, REGION, 1, 0),
        ("streaming stores over what MCDRAM has", Access::Stream, REGION, 0, 0),
        ("streaming stores that drive newer lines out", Access::Stream, REGION + NEAR_MEMORY, 0, 1),
    ] {
        traffic.fill(&mut k, controls, RESET_COUNTERS)?;
        traffic.measure(&mut k, access, base, LINES, LINE)?;
        for (list, ((name, _), right)) in lists.into_iter().zip(EVENTS.into_iter().zip([reads, writes, reads + writes])) {
            traffic.sum(&mut k, list)?;
            k.check_is(&format!("{what}: {name}"), rax, right * LINES)?;
        }
        for unit in Unit::of(Kind::McDclk) {
            // All accesses of a channel are its reads and its writes.
            unit.counter(0).read_counter(&mut k)?;
            k.a.mov(rbx, rax)?;
            unit.counter(1).read_counter(&mut k)?;
            k.a.add(rbx, rax)?;
            unit.counter(2).read_counter(&mut k)?;
            k.check_same(&format!("{what}: {}, both together", unit.name()), rax, rbx)?;
            let busy = reads + writes != 0;
            k.check(&format!("{what}: {} has some", unit.name()), rbx, u64::from(busy), if busy { 2 * LINES } else { 0 })?;
        }
    }
    k.a.ret()?;
    k.finish()
}
