//! `thresholds`: threshold, inversion and edge detection, of a clock, which is there in every clock, and of reads, which are there now and
//! then.

use iced_x86::code_asm::*;

use super::boxes::{At, Kind, Unit};
use super::traffic::{AROUND, Access, FAR, REGION, Traffic, counters, list};
use super::{EN, INIT, RESET_COUNTERS};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

const EDGE: u32 = 1 << 18;
const INVERT: u32 = 1 << 23;
const NOPS: u64 = 20;
const LINES: u64 = 64;
const SCRATCH: u64 = REGION + (1 << 20);
/// EDCs.
const EDCS: u64 = 8;

const fn threshold(n: u32) -> u32 {
    n << 24
}

/// The effect of a control on a clock: whether all of it is counted, or nothing.
const OF_CLOCK: [(&str, u32, bool); 10] = [
    ("as it is", 0, true),
    ("at least one", threshold(1), true),
    ("at least two", threshold(2), false),
    ("less than one", threshold(1) | INVERT, false),
    ("less than two", threshold(2) | INVERT, true),
    ("less than 255", threshold(255) | INVERT, true),
    ("inverted without a threshold", INVERT, true),
    ("edges", EDGE, false),
    ("edges of at least one", EDGE | threshold(1), false),
    ("edges of less than two", EDGE | INVERT | threshold(2), false),
];

/// The effect of a control on reads that are some clocks apart, in all EDCs together.
const OF_READS: [(&str, u32, u64); 8] = [
    ("reads", 0, LINES),
    ("clocks with a read", threshold(1), LINES),
    ("clocks with two reads", threshold(2), 0),
    ("clocks without a read", threshold(1) | INVERT, EDCS * WINDOW - LINES),
    ("clocks with less than two", threshold(2) | INVERT, EDCS * WINDOW),
    ("reads that begin", EDGE, LINES),
    ("reads that begin, by a threshold", EDGE | threshold(1), LINES),
    ("inverted without a threshold", INVERT, LINES),
];
const WINDOW: u64 = AROUND + Access::Load.instructions() * LINES;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    k.main()?;
    for kind in [Kind::Cha, Kind::McUclk, Kind::McDclk, Kind::EdcUclk, Kind::EdcEclk, Kind::M2pcie, Kind::Irp] {
        for unit in Unit::of(kind).take(1) {
            of_clock(&mut k, unit)?;
        }
    }
    let kind = || Unit::of(Kind::EdcEclk);
    let controls = list(&mut k, kind().map(Unit::control));
    let selects = list(&mut k, kind().map(|unit| unit.counter_control(1)));
    let reads = counters(&mut k, kind(), 1);
    traffic.fill(&mut k, selects, 0x0101 | EN)?;
    traffic.warm(&mut k, SCRATCH, LINES, FAR)?;
    for (what, bits, right) in OF_READS {
        traffic.fill(&mut k, selects, 0x0101 | EN | bits)?;
        traffic.fill(&mut k, controls, RESET_COUNTERS)?;
        traffic.measure(&mut k, Access::Load, REGION, LINES, FAR)?;
        traffic.sum(&mut k, reads)?;
        k.check_is(what, rax, right)?;
        traffic.touch(&mut k, Access::Flush, REGION, LINES, FAR)?;
    }
    k.a.ret()?;
    k.finish()
}

fn of_clock(k: &mut Kernel, unit: Unit) -> Built<()> {
    let (counter, control, clock) = (unit.counter(0), unit.counter_control(0), unit.clock().unwrap_or(0));
    let stop = match control {
        At::Msr(_) => 3,
        At::Pci(_, 0..0x100) => 5,
        At::Pci(..) => 1,
    };
    for (what, bits, counts) in OF_CLOCK {
        unit.control().write(k, INIT)?;
        control.write(k, clock | bits | EN)?;
        for _ in 0..NOPS {
            k.a.nop()?;
        }
        control.write(k, clock | bits)?;
        counter.read_counter(k)?;
        let right = if counts { 1 + NOPS + stop } else { 0 };
        k.check_is(&format!("{}, clock {what}", unit.name()), rax, right)?;
    }
    Ok(())
}
