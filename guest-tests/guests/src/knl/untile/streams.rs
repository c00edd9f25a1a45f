//! Streams of accesses to memory, and what the boxes of MCDRAM and DDR count of each.

use iced_x86::code_asm::*;

use super::boxes::{Kind, Unit};
use super::traffic::{AROUND, Access, LINE, List, REGION, Traffic, counters, list};
use super::{EN, RESET_COUNTERS};
use crate::runtime::{Built, Kernel, cell, own};
use vm_pmu_engines::x86::Image;

/// Lines of each stream.
const LINES: u64 = 1024;
/// Where the code warms up: its bytes in MCDRAM are used by nothing else.
pub(super) const SCRATCH: u64 = REGION + (4 << 20);

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

/// How the bandwidth of MCDRAM follows from the counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// As a cache: reads less misses, and writes less what came from DDR (section 3.1).
    Cache,
    /// As memory: what the queues got, as nothing goes between DDR and MCDRAM (tables 3-2 and 3-3).
    Flat,
}

/// A stream.
pub(super) struct Stream {
    name: &'static str,
    access: Access,
    /// Where its lines begin.
    base: u64,
    /// How often each event counts each line.
    counts: [u64; 8],
    /// How often each line is read from MCDRAM by the cores, and written to it.
    read: u64,
    written: u64,
}

/// A stream: its name, what is done to the lines from where on, how often each event counts each line, and how often each line is read from
/// and written to MCDRAM by the cores.
pub(super) const fn stream(name: &'static str, access: Access, base: u64, counts: [u64; 8], read: u64, written: u64) -> Stream {
    Stream { name, access, base, counts, read, written }
}

/// A guest of these streams, one after the other; `further` is an address that no stream has, near those further up.
pub(super) fn guest(streams: &[Stream], further: u64, formula: Formula) -> Built<Image> {
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
    traffic.touch(&mut k, Access::Load, further, 1, LINE)?;
    // How many bytes the cores read and wrote in all.
    k.a.xor(r12d, r12d)?;
    k.a.xor(r13d, r13d)?;
    for stream in streams {
        measure(&mut k, &traffic, controls, lists, stream, formula)?;
    }
    let read: u64 = streams.iter().map(|stream| stream.read).sum();
    let written: u64 = streams.iter().map(|stream| stream.written).sum();
    k.check_is("all streams: bytes read from MCDRAM", r12, read * LINES * LINE)?;
    k.check_is("all streams: bytes written to MCDRAM", r13, written * LINES * LINE)?;
    k.a.add(r12, r13)?;
    k.check_is("all streams: bytes of MCDRAM", r12, (read + written) * LINES * LINE)?;
    k.a.ret()?;
    k.finish()
}

/// Runs a stream and checks each event and what follows from them. Adds to R12 the bytes read and to R13 those written.
fn measure(k: &mut Kernel, traffic: &Traffic, controls: List, lists: [List; 8], stream: &Stream, formula: Formula) -> Built<()> {
    let Stream { name: what, access, base, counts, read, written } = *stream;
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
    if formula == Formula::Cache {
        k.a.sub(rbx, cell(own(MISS_CLEAN)))?;
        k.a.sub(rbx, cell(own(MISS_DIRTY)))?;
    }
    k.a.shl(rbx, 6)?;
    k.a.add(r12, rbx)?;
    k.check_is(&format!("{what}: bytes read"), rbx, read * LINES * LINE)?;
    k.a.mov(r14, cell(own(WPQ)))?;
    if formula == Formula::Cache {
        k.a.sub(r14, cell(own(CAS_READS)))?;
    }
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
