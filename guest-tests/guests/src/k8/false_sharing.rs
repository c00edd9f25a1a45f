//! `false-sharing`: two CPUs that increment a word each, first in separate lines, then in one line.
//!
//! The CPUs take [turns](super::turn), so only the words make traffic.
//!
//! Both measure the same rounds. Counters 0 and 1 belong to CPU 0, which counts the events of the northbridge with them, that is, of both
//! CPUs. Each begins a round when the other is ready, and is done when the other has read its counters.

use iced_x86::code_asm::*;

use super::measure::{Count, Part, Round, UNUSED, Warm, begin, clear, count, read, rounds};
use super::turn;
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Turns of each CPU in a round.
const TURNS: u64 = 50;

/// What a turn of each CPU does to its word.
#[derive(Clone, Copy)]
enum Access {
    /// INC: a load and a store.
    Increment,
    /// A store alone.
    Store,
}

/// What one access costs.
///
/// The other CPU has the line, modified. A load brings it here, shared; the other one owns it. The store then asks for permission, which
/// takes the line from its owner; that counts as a response of the system in the modified state. A store alone takes the line at once. The
/// line that was taken away stays, invalid, and is what the next refill displaces. A CPU that is asked for a line that it has modified or
/// owns sends it: eight quadwords. Memory takes no part.
struct Turn {
    /// Refills that arrive shared: by a load.
    shared: u64,
    /// Refills that arrive modified: by a store.
    modified: u64,
    /// Permissions to write.
    leaves: u64,
}

impl Turn {
    /// What CPU 0 counts.
    const fn first(&self) -> [Count; 16] {
        let (refills, leaves) = (TURNS * (self.shared + self.modified), TURNS * self.leaves);
        [
            count("PROBE:HIT_DIRTY_WITH_MEMORY_CANCEL", 0x08EC, 2 * refills),
            count("PROBE:HIT_DIRTY_NO_MEMORY_CANCEL", 0x04EC, 2 * leaves),
            count("DATA_CACHE_MISSES", 0x41, refills),
            count("DATA_CACHE_REFILLS:SYSTEM", 0x0142, refills),
            count("PROBE:MISS", 0x01EC, 0),
            count("PROBE:HIT_CLEAN", 0x02EC, 0),
            count("DATA_CACHE_REFILLS_FROM_SYSTEM:SHARED", 0x0243, TURNS * self.shared),
            count("DATA_CACHE_REFILLS_FROM_SYSTEM:MODIFIED", 0x1043, TURNS * self.modified),
            count("CACHE_BLOCK:READ_TO_DIRTY", 0x20EA, 2 * leaves),
            count("CACHE_BLOCK:DCACHE_LOAD_MISS", 0x04EA, 2 * TURNS * self.shared),
            count("DATA_CACHE_LINES_EVICTED:INVALID", 0x0144, refills),
            count("DATA_CACHE_LINES_EVICTED in other states", 0x1E44, 0),
            count("CACHE_BLOCK:READ_BLOCK_MODIFIED", 0x10EA, 2 * TURNS * self.modified),
            count("DRAM_ACCESSES_PAGE, all", 0x07E0, 0),
            count("SYSTEM_READ_RESPONSES:SHARED", 0x046C, TURNS * self.shared),
            count("QUADWORDS_WRITTEN_TO_SYSTEM", 0x016D, 8 * (refills + leaves)),
        ]
    }

    /// What CPU 1 counts, by the counters that it can use.
    const fn second(&self) -> [Count; 16] {
        let (refills, leaves) = (TURNS * (self.shared + self.modified), TURNS * self.leaves);
        let mut counts = [UNUSED; 16];
        counts[2] = count("DATA_CACHE_MISSES", 0x41, refills);
        counts[3] = count("DATA_CACHE_REFILLS, all", 0x1F42, refills);
        counts[6] = count("DATA_CACHE_REFILLS_FROM_SYSTEM, all", 0x1F43, refills);
        counts[7] = count("SYSTEM_READ_RESPONSES:MODIFIED", 0x026C, TURNS * self.modified + leaves);
        counts[10] = count("DATA_CACHE_LINES_EVICTED:INVALID", 0x0144, refills);
        counts[11] = count("REQUESTS_TO_L2:DATA", 0x027D, refills);
        counts[14] = count("L2_FILL_WRITEBACK, all", 0x037F, 0);
        counts[15] = count("QUADWORDS_WRITTEN_TO_SYSTEM", 0x016D, 8 * (refills + leaves));
        counts
    }
}

const APART: Turn = Turn { shared: 0, modified: 0, leaves: 0 };
const INCREMENTS: Turn = Turn { shared: 1, modified: 0, leaves: 1 };
const STORES: Turn = Turn { shared: 0, modified: 1, leaves: 0 };

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    // Two lines of which none is next to another, and one for both.
    let lines = k.reserve(6 * 64);
    let (own, common) = ([lines, lines + 2 * 64], lines + 4 * 64);
    turn::handle(&mut k)?;
    let phases = [
        ("words in two lines", &APART, Access::Increment, own),
        ("words in one line", &INCREMENTS, Access::Increment, [common, common + 8]),
        ("words in one line, stored alone", &STORES, Access::Store, [common, common + 8]),
    ];
    let met: Vec<u64> = phases.iter().map(|_| k.reserve(8)).collect();
    // CPU 0 ends the guest: not before CPU 1 has reported.
    let done = k.reserve(8);
    let mut second = k.a.create_label();
    k.main()?;
    k.a.mov(rbp, rdi)?;
    begin(&mut k)?;
    k.a.test(rbp, rbp)?;
    k.a.jne(second)?;
    for ((what, turn, access, [word, _]), met) in phases.iter().zip(&met) {
        k.barrier(*met, 2)?;
        let window: Part<'_> = &|k| {
            clear(&mut k.a)?;
            turns(k, |k| {
                touch(k, *access, *word)?;
                turn::pass(k)?;
                turn::wait(k)
            })?;
            read(&mut k.a)
        };
        rounds(
            &mut k,
            &format!("CPU 0, {what}"),
            &turn.first(),
            &Round { warm: Warm::Rounds(2), before: &turn::wait, window, after: &turn::hand_over },
        )?;
    }
    k.barrier(done, 2)?;
    k.a.ret()?;
    here(&mut k.a, &mut second)?;
    for ((what, turn, access, [_, word]), met) in phases.iter().zip(&met) {
        k.barrier(*met, 2)?;
        let window: Part<'_> = &|k| {
            clear(&mut k.a)?;
            turn::pass(k)?;
            turns(k, |k| {
                turn::wait(k)?;
                touch(k, *access, *word)?;
                turn::pass(k)
            })?;
            read(&mut k.a)
        };
        let nothing: Part<'_> = &|_| Ok(());
        rounds(
            &mut k,
            &format!("CPU 1, {what}"),
            &turn.second(),
            &Round { warm: Warm::Rounds(2), before: nothing, window, after: &turn::take_over },
        )?;
    }
    k.barrier(done, 2)?;
    k.a.ret()?;
    k.finish()
}

fn turns(k: &mut Kernel, turn: impl Fn(&mut Kernel) -> Built<()>) -> Built<()> {
    let mut again = k.a.create_label();
    k.a.mov(ebx, TURNS as u32)?;
    here(&mut k.a, &mut again)?;
    turn(k)?;
    k.a.dec(ebx)?;
    k.a.jne(again)
}

fn touch(k: &mut Kernel, access: Access, word: u64) -> Built<()> {
    match access {
        Access::Increment => k.a.inc(qword_ptr(word)),
        Access::Store => k.a.mov(qword_ptr(word), rbx),
    }
}
