//! `cha-filter`: which requests pass a CHA's filters.
//!
//! In every window CPU 0 loads, stores and flushes known lines, each in its own page, which no cache has. So every CHA's table of requests
//! gets so many reads of data, so many for ownership, and so many write-backs, all of which miss. In some, CPU 1 loads too.

use iced_x86::code_asm::*;

use super::boxes::CHA;
use super::traffic::{Access, FAR, REGION, Traffic};
use super::{EN, INIT, RESET_COUNTERS};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Lines that CPU 0 loads, and those that it stores to and that are written back.
const LOADS: u64 = 64;
const STORES: u64 = 48;
/// Lines that CPU 1 loads.
const OTHERS: u64 = 40;
const STORED: u64 = REGION + (1 << 20);
const OF_OTHER: u64 = REGION + (2 << 20);

/// TOR_INSERTS and SF_LOOKUP (tables 5-16 and 5-17).
const INSERTS: u32 = 0x35;
const LOOKUP: u32 = 0x34;
/// Control of a counter: the thread's filter applies.
const TID: u32 = 1 << 19;
/// Unit masks of TOR_INSERTS: from the tiles, supplied by caches, by memory.
const IRQ: u32 = 0x01;
const HIT: u32 = 0x10;
const MISS: u32 = 0x20;
/// Filter 1 as the manual wants it: both nodes, and what is not near memory.
const USUAL: u32 = 0x23;
const ALL_OPCODES: u32 = 1 << 3;
/// Filter 0: the line is modified, exclusive, shared in the snoop filter.
const MODIFIED: u32 = 1 << 20;
const EXCLUSIVE: u32 = 1 << 19;
const SHARED: u32 = 1 << 18;
/// Opcodes of a read of data, one for ownership, a write-back.
const READ: u32 = 0x182;
const OWN: u32 = 0x180;
const WRITE_BACK: u32 = 0x1C4;

/// A window: its name, unit mask and event of the counter, filters 0 and 1, and what must be counted.
type Case = (&'static str, u32, u32, u32, u64);

const EVERYTHING: u64 = LOADS + 2 * STORES;
const MISSES: u32 = (IRQ | MISS) << 8 | INSERTS;

const fn opcodes(first: u32, second: u32) -> u32 {
    USUAL | first << 9 | second << 19
}

/// What filter 1 passes.
const BY_OPCODE: [Case; 19] = [
    ("reads of data", MISSES, 0, opcodes(READ, 0), LOADS),
    ("requests for ownership", MISSES, 0, opcodes(OWN, 0), STORES),
    ("write-backs", MISSES, 0, opcodes(WRITE_BACK, 0), STORES),
    ("opcode 1 alone", MISSES, 0, opcodes(0, READ), LOADS),
    ("two opcodes", MISSES, 0, opcodes(READ, OWN), LOADS + STORES),
    ("an opcode that nobody sends", MISSES, 0, opcodes(0x3FF, 0), 0),
    ("all opcodes", MISSES, 0, USUAL | ALL_OPCODES, EVERYTHING),
    ("all opcodes, whatever the two say", MISSES, 0, opcodes(0x3FF, 0x3FF) | ALL_OPCODES, EVERYTHING),
    ("no opcode chosen", MISSES, 0, USUAL, EVERYTHING),
    ("Linux's local node, not near memory", MISSES, 0, 0x22, EVERYTHING),
    ("likwid's memory of both kinds", MISSES, 0, 0x30, EVERYTHING),
    ("no filter at all", MISSES, 0, 0, EVERYTHING),
    ("the remote node, which is not there", MISSES, 0, 0x21 | ALL_OPCODES, 0),
    ("non-coherent requests", MISSES, 0, USUAL | ALL_OPCODES | 1 << 30, 0),
    ("isochronous requests", MISSES, 0, USUAL | ALL_OPCODES | 1 << 31, 0),
    ("answered by another tile", (IRQ | HIT) << 8 | INSERTS, 0, USUAL, 0),
    ("answered by whomever", (IRQ | HIT | MISS) << 8 | INSERTS, 0, USUAL, EVERYTHING),
    ("of devices", 0x24 << 8 | INSERTS, 0, USUAL, 0),
    ("of no source", MISS << 8 | INSERTS, 0, USUAL, 0),
];

/// What the snoop filter's states pass; filter 1 does not matter.
const BY_STATE: [Case; 8] = [
    ("look-ups in no state", 0x1100 | LOOKUP, 0, 0, 0),
    ("look-ups that find a line modified", 0x1100 | LOOKUP, MODIFIED, opcodes(READ, 0), STORES),
    ("look-ups that find a line exclusive or shared", 0x1100 | LOOKUP, EXCLUSIVE | SHARED, 0, 0),
    ("look-ups in any state", 0x1100 | LOOKUP, MODIFIED | EXCLUSIVE | SHARED, 0, STORES),
    ("look-ups to write", 0x0500 | LOOKUP, MODIFIED, 0, STORES),
    ("look-ups to read data", 0x0300 | LOOKUP, MODIFIED, 0, 0),
    ("look-ups without the gate", 0x1000 | LOOKUP, MODIFIED, 0, 0),
    ("look-ups of no kind", 0x0100 | LOOKUP, MODIFIED, 0, 0),
];

/// What filter 0 passes while both CPUs load.
const BY_THREAD: [Case; 6] = [
    ("thread 0 of tile 0", MISSES | TID, 0, opcodes(READ, 0), LOADS),
    ("thread 1 of tile 0", MISSES | TID, 1, opcodes(READ, 0), OTHERS),
    ("thread 2 of tile 0", MISSES | TID, 2, opcodes(READ, 0), 0),
    ("thread 0 of tile 1", MISSES | TID, 1 << 3, opcodes(READ, 0), 0),
    ("every thread", MISSES, 1, opcodes(READ, 0), LOADS + OTHERS),
    ("thread 0 of tile 0, all its requests", MISSES | TID, 0, USUAL, EVERYTHING),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    // Which turn CPU 1 may take, and has taken; each in its own line.
    let (asked, done) = (k.reserve(64), k.reserve(64));
    let (mut alone, mut both) = (k.a.create_label(), k.a.create_label());
    k.routine("alone");
    here(&mut k.a, &mut alone)?;
    own_part(&mut k, &traffic)?;
    k.a.ret()?;
    k.routine("both");
    here(&mut k.a, &mut both)?;
    k.a.inc(qword_ptr(asked))?;
    own_part(&mut k, &traffic)?;
    await_same(&mut k, done, asked)?;
    k.a.ret()?;

    k.main()?;
    let mut second = k.a.create_label();
    k.a.test(rdi, rdi)?;
    k.a.jne(second)?;
    traffic.fill_chas(&mut k, CHA, INIT)?;
    // Something counts from now on, so that everything is followed.
    traffic.fill_chas(&mut k, CHA + 1, MISSES | EN)?;
    for part in [both, alone, both, alone] {
        traffic.window(&mut k, part)?;
    }
    for (cases, part) in [(&BY_OPCODE[..], alone), (&BY_STATE[..], alone), (&BY_THREAD[..], both)] {
        for (name, event, filter0, filter1, right) in cases {
            traffic.fill_chas(&mut k, CHA + 5, *filter0)?;
            traffic.fill_chas(&mut k, CHA + 6, *filter1)?;
            traffic.fill_chas(&mut k, CHA + 1, event | EN)?;
            traffic.fill_chas(&mut k, CHA, RESET_COUNTERS)?;
            traffic.window(&mut k, part)?;
            traffic.sum_chas(&mut k, CHA + 8)?;
            k.check_is(name, rax, *right)?;
        }
    }
    k.a.ret()?;

    // CPU 1 loads whenever it is asked, and flushes what it loaded.
    here(&mut k.a, &mut second)?;
    k.a.xor(ebx, ebx)?;
    let mut turn = k.a.create_label();
    here(&mut k.a, &mut turn)?;
    k.a.pause()?;
    k.a.cmp(qword_ptr(asked), rbx)?;
    k.a.je(turn)?;
    k.a.inc(rbx)?;
    traffic.touch(&mut k, Access::Load, OF_OTHER, OTHERS, FAR)?;
    traffic.touch(&mut k, Access::Flush, OF_OTHER, OTHERS, FAR)?;
    k.a.mov(qword_ptr(done), rbx)?;
    k.a.jmp(turn)?;
    k.finish()
}

/// What CPU 0 does in a window.
fn own_part(k: &mut Kernel, traffic: &Traffic) -> Built<()> {
    traffic.touch(k, Access::Load, REGION, LOADS, FAR)?;
    traffic.touch(k, Access::Store, STORED, STORES, FAR)?;
    traffic.touch(k, Access::Flush, REGION, LOADS, FAR)?;
    traffic.touch(k, Access::Flush, STORED, STORES, FAR)
}

/// Waits until the number at `one` is that at `other`.
fn await_same(k: &mut Kernel, one: u64, other: u64) -> Built<()> {
    let mut again = k.a.create_label();
    here(&mut k.a, &mut again)?;
    k.a.pause()?;
    k.a.mov(rax, qword_ptr(one))?;
    k.a.cmp(rax, qword_ptr(other))?;
    k.a.jne(again)
}
