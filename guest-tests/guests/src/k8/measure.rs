//! Counts with a known answer: the frame in which guests take them.
//!
//! Every count here depends on what caches, translation buffers and predictor hold when it begins. So what is measured runs in rounds: some
//! to warm up, then one for every four events. From round to round nothing but the body touches memory, branches on a condition, calls or
//! returns, so that each measured round begins as the one before it ended. All code of it has run before. In the first warm-up round it had
//! not: the lines of its end are read from memory last, which a second warm-up round corrects where open pages of DRAM are counted.
//!
//! Counters are never disabled in between: a machine that models caches only while a counter counts must see every round.
//!
//! A window begins after the WRMSR that clears its counter, and ends before the RDMSR that reads it. Apart from the body it contains no
//! access to memory.

use iced_x86::code_asm::*;

use super::{COUNTER, EN, OS, SELECT};
use crate::runtime::{Built, Kernel, cell, here, own};

/// The cell with the extended model that CPUID shows: 2 or more for revision E.
const MODEL: u32 = 23;
/// The first revision that has the [`NEWER`] events.
const REVISION_E: i32 = 2;
/// Events that revision E has and revision C has not; and writes of devices among the probes, which are as new.
const NEWER: [u64; 4] = [0xE5, 0xE9, 0xEA, 0xEB];
const UPSTREAM_WRITES: u64 = 0x40EC;

/// The counters, and as many events in a group.
const GROUP: usize = 4;
/// Groups whose counts fit into R8 to R15, four counts of 32 bits for each counter.
const BATCH: usize = 4;

const HELD: [(AsmRegister64, AsmRegister64); GROUP] = [(r8, r9), (r10, r11), (r12, r13), (r14, r15)];

/// An event and its right count.
#[derive(Clone, Copy)]
pub(super) struct Count {
    /// The event's name.
    pub(super) name: &'static str,
    /// Event select and unit mask.
    pub(super) select: u64,
    /// What must be counted.
    pub(super) right: u64,
}

/// An event and its right count.
pub(super) const fn count(name: &'static str, select: u64, right: u64) -> Count {
    Count { name, select, right }
}

/// A counter that is left alone, because another core uses the one of its number.
pub(super) const UNUSED: Count = Count { name: "", select: 0, right: 0 };

impl Count {
    fn used(&self) -> bool {
        !self.name.is_empty()
    }

    /// What its PerfEvtSel holds.
    pub(super) fn enabled(&self) -> u64 {
        if self.used() { self.select | OS | EN } else { 0 }
    }
}

/// Emits a part of a round.
pub(super) type Part<'a> = &'a dyn Fn(&mut Kernel) -> Built<()>;

const NOTHING: Part<'static> = &|_| Ok(());

/// What comes before the first round that counts.
#[derive(Clone, Copy)]
pub(super) enum Warm<'a> {
    /// So many rounds, at least one.
    Rounds(usize),
    /// Something else; the first round's code is then not warm.
    By(Part<'a>),
}

/// What a round consists of. The parts may use RAX, RBX, RCX, RDX, RSI and RDI.
pub(super) struct Round<'a> {
    /// What comes before the first round that counts.
    pub(super) warm: Warm<'a>,
    /// Before the counters are cleared.
    pub(super) before: Part<'a>,
    /// Clears the counters by [`clear`], does what is measured, and reads them by [`read`].
    pub(super) window: Part<'a>,
    /// After they were read.
    pub(super) after: Part<'a>,
}

/// To be done before anything else: the first counter counts, and the revision is known.
pub(super) fn begin(k: &mut Kernel) -> Built<()> {
    k.wrmsr(SELECT, 0x41 | OS | EN)?;
    let a = &mut k.a;
    a.mov(eax, 1)?;
    a.cpuid()?;
    a.shr(eax, 16)?;
    a.and(eax, 15)?;
    a.mov(cell(own(MODEL)), rax)
}

/// Measures `body`, after `warm` rounds to warm up.
pub(super) fn measure(k: &mut Kernel, what: &str, warm: usize, counts: &[Count], body: Part<'_>) -> Built<()> {
    rounds(k, what, counts, &Round { warm: Warm::Rounds(warm), before: NOTHING, window: &|k| around(k, body), after: NOTHING })
}

/// Measures `body`, after `warm`.
pub(super) fn measure_after(k: &mut Kernel, what: &str, warm: Part<'_>, counts: &[Count], body: Part<'_>) -> Built<()> {
    rounds(k, what, counts, &Round { warm: Warm::By(warm), before: NOTHING, window: &|k| around(k, body), after: NOTHING })
}

/// Measures rounds.
pub(super) fn rounds(k: &mut Kernel, what: &str, counts: &[Count], round: &Round<'_>) -> Built<()> {
    for batch in counts.chunks(GROUP * BATCH) {
        take(k, batch, round)?;
        for (n, count) in batch.iter().enumerate().filter(|(_, count)| count.used()) {
            let mut skip = k.a.create_label();
            let bound = NEWER.contains(&(count.select & 0xFF)) || count.select == UPSTREAM_WRITES;
            if bound {
                k.a.cmp(cell(own(MODEL)), REVISION_E)?;
                k.a.jb(skip)?;
            }
            held(k, n, batch.len().div_ceil(GROUP), rax)?;
            k.check_is(&format!("{what}: {}", count.name), rax, count.right)?;
            if bound {
                here(&mut k.a, &mut skip)?;
            }
        }
    }
    Ok(())
}

/// Checks the manual's relations between events, whatever `body` does as long as it has no streaming stores: each data cache miss is a
/// refill (41h and 42h), each refill from the system one by state (42h and 43h), each miss of the instruction cache a refill (81h to 83h).
pub(super) fn identities(k: &mut Kernel, what: &str, body: Part<'_>) -> Built<()> {
    identities_within(k, what, &|k| around(k, body))
}

/// The same with a window of the guest's own.
pub(super) fn identities_within(k: &mut Kernel, what: &str, window: Part<'_>) -> Built<()> {
    let event = |select| count("an event", select, 0);
    let events = [0x0041, 0x1F42, 0x0142, 0x1F43, 0x0081, 0x0082, 0x0083].map(event);
    take(k, &events, &Round { warm: Warm::Rounds(1), before: NOTHING, window, after: NOTHING })?;
    let groups = events.len().div_ceil(GROUP);
    for (name, one, other) in [("data cache misses and refills", 0, 1), ("refills from the system, and by state", 2, 3)] {
        held(k, one, groups, rax)?;
        held(k, other, groups, rdx)?;
        k.check_same(&format!("{what}: {name}"), rax, rdx)?;
    }
    held(k, 5, groups, rdx)?;
    held(k, 6, groups, rax)?;
    k.a.add(rdx, rax)?;
    held(k, 4, groups, rax)?;
    k.check_same(&format!("{what}: instruction cache misses and refills"), rax, rdx)
}

/// Moves count `n` of a batch to `to`.
fn held(k: &mut Kernel, n: usize, groups: usize, to: AsmRegister64) -> Built<()> {
    let (low, high) = HELD[n % GROUP];
    // The last one taken is lowest.
    let age = groups - 1 - n / GROUP;
    k.a.mov(to, if age < 2 { low } else { high })?;
    if age.is_multiple_of(2) {
        k.a.shl(to, 32)?;
    }
    k.a.shr(to, 32)
}

/// Clears the counters: 23 bytes of code. Changes RAX, RCX and RDX.
pub(super) fn clear(a: &mut CodeAssembler) -> Built<()> {
    a.mov(ecx, COUNTER)?;
    a.xor(eax, eax)?;
    a.xor(edx, edx)?;
    a.wrmsr()?;
    for _ in 1..GROUP {
        a.inc(ecx)?;
        a.wrmsr()?;
    }
    Ok(())
}

/// Reads the counters and keeps their values: 19 bytes of code for each, of which the first seven read it. Changes RAX, RCX and RDX.
pub(super) fn read(a: &mut CodeAssembler) -> Built<()> {
    for (n, (low, high)) in (0..).zip(HELD) {
        a.mov(ecx, COUNTER + n)?;
        a.rdmsr()?;
        a.shld(high, low, 32)?;
        a.shl(low, 32)?;
        a.or(low, rax)?;
    }
    Ok(())
}

fn around(k: &mut Kernel, body: Part<'_>) -> Built<()> {
    clear(&mut k.a)?;
    body(k)?;
    read(&mut k.a)
}

fn program(k: &mut Kernel, group: &[Count]) -> Built<()> {
    for n in 0..GROUP {
        k.wrmsr(SELECT + n as u32, group.get(n).unwrap_or(&UNUSED).enabled())?;
    }
    Ok(())
}

/// The rounds of one batch; the counts are in R8 to R15 afterwards.
fn take(k: &mut Kernel, batch: &[Count], round: &Round<'_>) -> Built<()> {
    let groups: Vec<&[Count]> = batch.chunks(GROUP).collect();
    let mut window = k.a.create_label();
    // RDI holds where programming leads to, RBP where a round does: no condition, no call and no memory is needed.
    let mut programs: Vec<CodeLabel> = groups.iter().map(|_| k.a.create_label()).collect();
    let mut end = k.a.create_label();
    // Everything is programmed once, so that its code is in the caches, the first group last.
    for program in programs.iter().rev() {
        let mut back = k.a.create_label();
        k.a.lea(rdi, ptr(back))?;
        k.a.jmp(*program)?;
        here(&mut k.a, &mut back)?;
    }
    match round.warm {
        Warm::Rounds(rounds) => {
            for _ in 1..rounds {
                let mut back = k.a.create_label();
                k.a.lea(rbp, ptr(back))?;
                k.a.jmp(window)?;
                here(&mut k.a, &mut back)?;
            }
            // At least once. From here on nothing is executed for the first time.
            k.a.lea(rbp, ptr(programs[0]))?;
            k.a.jmp(window)?;
        }
        Warm::By(part) => {
            part(k)?;
            k.a.lea(rdi, ptr(window))?;
        }
    }
    for n in 0..groups.len() {
        here(&mut k.a, &mut programs[n])?;
        program(k, groups[n])?;
        k.a.lea(rbp, ptr(*programs.get(n + 1).unwrap_or(&end)))?;
        k.a.jmp(rdi)?;
    }
    here(&mut k.a, &mut window)?;
    (round.before)(k)?;
    (round.window)(k)?;
    (round.after)(k)?;
    k.a.lea(rdi, ptr(window))?;
    k.a.jmp(rbp)?;
    here(&mut k.a, &mut end)
}
