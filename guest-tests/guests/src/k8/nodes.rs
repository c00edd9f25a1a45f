//! `nodes`: a CPU reads memory of its own node, then of the other node, then what the other node's CPU has modified. Both nodes count.
//!
//! Memory is divided among the nodes in equal parts. Linux counts `node-loads` with B8E9h, and `node-load-misses` with 98E9h. Links carry packets of
//! doublewords: a request and a probe have two, a response one, a line of data 16 more; each packet is released with one.

use iced_x86::code_asm::*;

use super::measure::{Count, Part, Round, Warm, begin, clear, count, read, rounds};
use super::turn;
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Lines that are read in a round, of 64 bytes.
const LINES: u64 = 32;
const LINE: u64 = 64;
/// Memory of each node that nothing else uses. The engines have 32 MiB, of which the second half belongs to the second node.
const OWN: u64 = 8 << 20;
const OTHER: u64 = 24 << 20;

/// What a link sends for a line.
struct Sent {
    commands: u64,
    data: u64,
    releases: u64,
}

/// What a node counts for a line.
struct Right {
    /// Requests of its CPU to its memory, and to the other node's. What comes from another CPU to memory is no path of E9h.
    own: u64,
    other: u64,
    dram: u64,
    /// Probes for its memory that found nothing, and those that found the line modified.
    misses: u64,
    modified: u64,
    sent: Sent,
}

impl Right {
    /// With the events in the order in which four are counted together.
    const fn counts(&self) -> [Count; 12] {
        let Right { own, other, dram, misses, modified, ref sent } = *self;
        [
            count("CPU_IO_REQUESTS_TO_MEMORY_IO, node-loads", 0xB8E9, LINES * (own + other)),
            count("CPU_IO_REQUESTS_TO_MEMORY_IO, node-load-misses", 0x98E9, LINES * other),
            count("CPU_IO_REQUESTS_TO_MEMORY_IO, from the CPU here to memory here", 0xA8E9, LINES * own),
            count("CPU_IO_REQUESTS_TO_MEMORY_IO, from the other CPU to I/O here", 0x64E9, 0),
            count("DRAM_ACCESSES_PAGE, all", 0x07E0, LINES * dram),
            count("PROBE:MISS", 0x01EC, LINES * misses),
            count("PROBE:HIT_DIRTY_WITH_MEMORY_CANCEL", 0x08EC, LINES * modified),
            count("PROBE:HIT_CLEAN", 0x02EC, 0),
            count("HYPERTRANSPORT_LINK0:COMMAND_DWORD_SENT", 0x01F6, LINES * sent.commands),
            count("HYPERTRANSPORT_LINK0:DATA_DWORD_SENT", 0x02F6, LINES * sent.data),
            count("HYPERTRANSPORT_LINK0:BUFFER_RELEASE_DWORD_SENT", 0x04F6, LINES * sent.releases),
            count("HYPERTRANSPORT_LINK1:COMMAND_DWORD_SENT", 0x01F7, 0),
        ]
    }
}

/// What is read.
struct Phase {
    what: &'static str,
    region: u64,
    /// The second CPU has stored to each line before.
    modified: bool,
    /// What each node counts.
    nodes: [Right; 2],
}

const NOTHING: Right = Right { own: 0, other: 0, dram: 0, misses: 0, modified: 0, sent: Sent { commands: 0, data: 0, releases: 0 } };

const PHASES: [Phase; 3] = [
    Phase {
        what: "memory of node 0",
        region: OWN,
        modified: false,
        // Node 0 probes node 1, which answers that it has nothing.
        nodes: [
            Right { own: 1, dram: 1, misses: 1, sent: Sent { commands: 2, data: 0, releases: 1 }, ..NOTHING },
            Right { sent: Sent { commands: 1, data: 0, releases: 1 }, ..NOTHING },
        ],
    },
    Phase {
        what: "memory of node 1",
        region: OTHER,
        modified: false,
        // Node 0 sends the request and the end. Node 1 sends a probe, the answer of its own caches, and that of memory with the line.
        nodes: [
            Right { other: 1, sent: Sent { commands: 3, data: 0, releases: 3 }, ..NOTHING },
            Right { dram: 1, misses: 1, sent: Sent { commands: 4, data: 16, releases: 2 }, ..NOTHING },
        ],
    },
    Phase {
        what: "memory of node 0 that node 1 modified",
        region: OWN,
        modified: true,
        // Node 0 probes node 1, which answers with the line, and cancels the read of memory.
        nodes: [
            Right { own: 1, modified: 1, sent: Sent { commands: 2, data: 0, releases: 2 }, ..NOTHING },
            Right { sent: Sent { commands: 2, data: 16, releases: 1 }, ..NOTHING },
        ],
    },
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    turn::handle(&mut k)?;
    let met: Vec<u64> = PHASES.iter().map(|_| k.reserve(8)).collect();
    // CPU 0 ends the guest: not before CPU 1 has reported.
    let done = k.reserve(8);
    let mut second = k.a.create_label();
    k.main()?;
    k.a.mov(rbp, rdi)?;
    begin(&mut k)?;
    k.a.test(rbp, rbp)?;
    k.a.jne(second)?;
    for (phase, met) in PHASES.iter().zip(&met) {
        let [node, _] = &phase.nodes;
        k.barrier(*met, 2)?;
        // The second CPU prepares its lines and clears its counters when these are flushed.
        let before: Part<'_> = &|k| {
            lines(k, phase.region, |k| k.a.clflush(byte_ptr(rbx)))?;
            turn::pass(k)?;
            turn::wait(k)
        };
        let window: Part<'_> = &|k| {
            clear(&mut k.a)?;
            lines(k, phase.region, |k| k.a.mov(rax, qword_ptr(rbx)))?;
            read(&mut k.a)
        };
        // The next round begins when the other CPU has read its counters.
        let after: Part<'_> = &|k| {
            turn::pass(k)?;
            turn::wait(k)
        };
        let round = Round { warm: Warm::Rounds(2), before, window, after };
        rounds(&mut k, &format!("node 0, {}", phase.what), &node.counts(), &round)?;
    }
    k.barrier(done, 2)?;
    k.a.ret()?;
    here(&mut k.a, &mut second)?;
    for (phase, met) in PHASES.iter().zip(&met) {
        let [_, node] = &phase.nodes;
        k.barrier(*met, 2)?;
        let before: Part<'_> = &|k| {
            turn::wait(k)?;
            if phase.modified { lines(k, phase.region, |k| k.a.mov(qword_ptr(rbx), rcx)) } else { Ok(()) }
        };
        // All of the first CPU's round is in this one.
        let window: Part<'_> = &|k| {
            clear(&mut k.a)?;
            turn::pass(k)?;
            turn::wait(k)?;
            read(&mut k.a)
        };
        let round = Round { warm: Warm::Rounds(2), before, window, after: &turn::pass };
        rounds(&mut k, &format!("node 1, {}", phase.what), &node.counts(), &round)?;
    }
    k.barrier(done, 2)?;
    k.a.ret()?;
    k.finish()
}

/// Does `each` with every line of a region, whose address is in RBX. Changes RBX and RCX.
fn lines(k: &mut Kernel, region: u64, each: impl Fn(&mut Kernel) -> Built<()>) -> Built<()> {
    let mut again = k.a.create_label();
    k.a.mov(rbx, region)?;
    k.a.mov(ecx, LINES as u32)?;
    here(&mut k.a, &mut again)?;
    each(k)?;
    k.a.add(rbx, LINE as i32)?;
    k.a.dec(ecx)?;
    k.a.jne(again)
}
