//! `mcdram-bandwidth`: the bandwidth of MCDRAM as a cache, computed from seven events as section 3.1 of the manual does.
//!
//! Reads of the cores are what the read queues got less what missed; writes are what the write queues got less the reads of DDR, each of
//! which fills a line. So a line that comes from DDR is neither, one that MCDRAM has is read once, and a write-back or a streaming store is
//! written once. A streaming store makes a lookup as well, which according to the manual counts as a read where it hits. The manual takes no
//! misses away that found a place of MCDRAM empty, so by its formula these are read.

use iced_x86::code_asm::*;

use super::boxes::{Kind, Unit};
use super::traffic::{AROUND, Access, LINE, List, NEAR_MEMORY, REGION, Traffic, counters, list};
use super::{EN, RESET_COUNTERS};
use crate::runtime::{Built, Kernel, cell, own};
use vm_pmu_engines::x86::Image;

/// Lines of each stream.
const LINES: u64 = 1024;
/// Where the code warms up: its bytes in MCDRAM are used by nothing else.
const SCRATCH: u64 = REGION + (4 << 20);
/// Where streaming stores begin.
const OTHER: u64 = REGION + (2 << 20);

/// The events, in the order of their cells: kind of box, counter, event and unit mask (tables 3-1 to 3-3, 4-1).
const EVENTS: [(&str, Kind, u16, u32); 8] = [
    ("RPQ", Kind::EdcEclk, 0, 0x0101),
    ("WPQ", Kind::EdcEclk, 1, 0x0102),
    ("HIT_CLEAN", Kind::EdcUclk, 0, 0x0102),
    ("HIT_DIRTY", Kind::EdcUclk, 1, 0x0202),
    ("MISS_CLEAN", Kind::EdcUclk, 2, 0x0402),
    ("MISS_DIRTY", Kind::EdcUclk, 3, 0x0802),
    ("CAS reads", Kind::McDclk, 0, 0x0103),
    ("CAS writes", Kind::McDclk, 1, 0x0203),
];
const RPQ: u32 = 0;
const WPQ: u32 = 1;
const MISS_CLEAN: u32 = 4;
const MISS_DIRTY: u32 = 5;
const CAS_READS: u32 = 6;

/// A stream: its name, what is done to the lines from where on, which of the events count each line, and whether each line is read from
/// and written to MCDRAM by the cores.
type Stream = (&'static str, Access, u64, [u64; 8], u64, u64);

const STREAMS: [Stream; 15] = [
    ("loads where MCDRAM has nothing", Access::Load, REGION + NEAR_MEMORY, [1, 1, 0, 0, 0, 0, 1, 0], 1, 0),
    ("flushes of what is unchanged", Access::Flush, REGION + NEAR_MEMORY, [0; 8], 0, 0),
    ("loads that drive unchanged lines out of MCDRAM", Access::Load, REGION, [1, 1, 0, 0, 1, 0, 1, 0], 0, 0),
    ("flushes of these", Access::Flush, REGION, [0; 8], 0, 0),
    ("loads of what MCDRAM has", Access::Load, REGION, [1, 0, 1, 0, 0, 0, 0, 0], 1, 0),
    ("flushes again", Access::Flush, REGION, [0; 8], 0, 0),
    ("stores, which read what MCDRAM has", Access::Store, REGION, [1, 0, 1, 0, 0, 0, 0, 0], 1, 0),
    ("write-backs", Access::Flush, REGION, [0, 1, 0, 0, 0, 0, 0, 0], 0, 1),
    ("loads of what MCDRAM has newer than DDR", Access::Load, REGION, [1, 0, 0, 1, 0, 0, 0, 0], 1, 0),
    ("streaming stores over what the tile and MCDRAM have", Access::Stream, REGION, [1, 1, 0, 1, 0, 0, 0, 0], 1, 1),
    ("loads that drive newer lines out of MCDRAM", Access::Load, REGION + NEAR_MEMORY, [1, 1, 0, 0, 0, 1, 1, 1], 0, 0),
    ("streaming stores where MCDRAM has nothing", Access::Stream, OTHER, [1, 1, 0, 0, 0, 0, 0, 0], 1, 1),
    ("streaming stores that drive newer lines out", Access::Stream, OTHER + NEAR_MEMORY, [1, 1, 0, 0, 0, 1, 0, 1], 0, 1),
    ("flushes of what is unchanged, at last", Access::Flush, REGION + NEAR_MEMORY, [0; 8], 0, 0),
    ("streaming stores that drive unchanged lines out", Access::Stream, REGION, [1, 1, 0, 0, 1, 0, 0, 0], 0, 1),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    let lists = EVENTS.map(|(_, kind, n, _)| counters(&mut k, Unit::of(kind), n));
    let kinds = [Kind::EdcUclk, Kind::EdcEclk, Kind::McDclk];
    let controls = list(&mut k, kinds.into_iter().flat_map(Unit::of).map(Unit::control));
    k.main()?;
    for (_, kind, n, event) in EVENTS {
        let control = list(&mut k, Unit::of(kind).map(|unit| unit.counter_control(n)));
        traffic.fill(&mut k, control, event | EN)?;
    }
    for unit in Unit::of(Kind::EdcEclk).take(1) {
        if let Some((_, control)) = unit.fixed() {
            control.write(&mut k, 1)?;
        }
    }
    traffic.warm(&mut k, SCRATCH, LINES, LINE)?;
    // The tables that translate the addresses further up are known then too.
    traffic.touch(&mut k, Access::Load, SCRATCH + NEAR_MEMORY, 1, LINE)?;
    // How many bytes the cores read and wrote in all.
    k.a.xor(r12d, r12d)?;
    k.a.xor(r13d, r13d)?;
    for stream in STREAMS {
        measure(&mut k, &traffic, controls, lists, stream)?;
    }
    let read: u64 = STREAMS.iter().map(|stream| stream.4).sum();
    let written: u64 = STREAMS.iter().map(|stream| stream.5).sum();
    k.check_is("all streams: bytes read from MCDRAM", r12, read * LINES * LINE)?;
    k.check_is("all streams: bytes written to MCDRAM", r13, written * LINES * LINE)?;
    k.a.add(r12, r13)?;
    k.check_is("all streams: bytes of MCDRAM", r12, (read + written) * LINES * LINE)?;
    k.a.ret()?;
    k.finish()
}

/// Runs a stream and checks each event and what follows from them. Adds to R12 the bytes read and to R13 those written.
fn measure(k: &mut Kernel, traffic: &Traffic, controls: List, lists: [List; 8], stream: Stream) -> Built<()> {
    let (what, access, base, counts, read, written) = stream;
    traffic.fill(k, controls, RESET_COUNTERS)?;
    traffic.measure(k, access, base, LINES, LINE)?;
    for (event, list) in (0..).zip(lists) {
        traffic.sum(k, list)?;
        k.a.mov(cell(own(event)), rax)?;
    }
    for (event, count) in counts.iter().enumerate() {
        k.a.mov(rax, cell(own(event as u32)))?;
        let (name, ..) = EVENTS[event];
        k.check_is(&format!("{what}: {name}"), rax, count * LINES)?;
    }
    k.a.mov(rbx, cell(own(RPQ)))?;
    k.a.sub(rbx, cell(own(MISS_CLEAN)))?;
    k.a.sub(rbx, cell(own(MISS_DIRTY)))?;
    k.a.shl(rbx, 6)?;
    k.a.add(r12, rbx)?;
    k.check_is(&format!("{what}: bytes read"), rbx, read * LINES * LINE)?;
    k.a.mov(r14, cell(own(WPQ)))?;
    k.a.sub(r14, cell(own(CAS_READS)))?;
    k.a.shl(r14, 6)?;
    k.a.add(r13, r14)?;
    k.check_is(&format!("{what}: bytes written"), r14, written * LINES * LINE)?;
    // The rate of both together: bytes in a thousand clocks of MCDRAM.
    let Some((clocks, _)) = Unit::of(Kind::EdcEclk).next().and_then(Unit::fixed) else { return Ok(()) };
    let right = AROUND + access.instructions() * LINES;
    clocks.read_counter(k)?;
    k.a.mov(rbp, rax)?;
    k.check_is(&format!("{what}: clocks"), rbp, right)?;
    k.a.lea(rax, qword_ptr(rbx + r14))?;
    k.a.imul_3(rax, rax, 1000)?;
    k.a.xor(edx, edx)?;
    k.a.div(rbp)?;
    k.check_is(&format!("{what}: bytes in a thousand clocks"), rax, (read + written) * LINES * LINE * 1000 / right)
}
