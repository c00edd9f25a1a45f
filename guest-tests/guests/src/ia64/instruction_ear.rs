//! `instruction-ear`: what the instruction event-address registers capture of fetches from every level, and of translations.
//!
//! Code that the guest writes is spread over many lines, a branch in each. The geometry of the companions: an instruction cache of 16 KiB
//! and four ways, whose sets repeat every 4 KiB; a second level whose sets repeat every 128 KiB with eight ways on Montecito, which is for
//! code alone, every 16 KiB with six ways on the first Itanium; a third level whose sets repeat every MiB, with twelve ways and with four.
//! Of a set that has twice as many lines as ways, or more, each is gone when its turn comes. Pages are 16 KiB. Montecito's first-level
//! buffer holds 32 pieces of 4 KiB, its second 128 pages; the first Itanium's holds 64.

use vm_pmu::arch::{itanium, montecito};

use super::Kernel;
use super::facts::Part;
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::psr;

/// Where the lines begin. The loop that calls them is in other sets of the caches.
const ARRAY: u64 = 0x40_0C00;
/// How often the lines are executed while monitors run.
const PASSES: u64 = 2;
/// Captures up to an overflow.
const CAPTURES: u64 = 5;

/// Lines of code.
#[derive(Clone, Copy)]
struct Lines {
    name: &'static str,
    lines: u64,
    stride: u64,
}

/// Eight lines in one set of the instruction cache, in several of the second level.
const SECOND: Lines = Lines { name: "second level", lines: 8, stride: 4 << 10 };
/// 16 lines in one set of the second level, in several of the third.
const MONTECITO_THIRD: Lines = Lines { name: "third level", lines: 16, stride: 128 << 10 };
const ITANIUM_THIRD: Lines = Lines { name: "third level", lines: 16, stride: 16 << 10 };
/// 24 lines in one set of the third level, and in one bank of DRAM, each in another row.
const MEMORY: Lines = Lines { name: "memory", lines: 24, stride: 1 << 20 };
/// 64 pages: more than Montecito's first-level buffer has, and in the second.
const PAGES: Lines = Lines { name: "64 pages", lines: 64, stride: (16 << 10) + 128 };
/// 256 pages: more than any buffer has.
const MORE_PAGES: Lines = Lines { name: "256 pages", lines: 256, stride: (16 << 10) + 128 };

impl Lines {
    fn line(&self, n: u64) -> u64 {
        ARRAY + n * self.stride
    }

    /// Writes the code: each line branches to the next one, the last returns. Changes r2 to r7 and LC.
    fn write(&self, k: &mut Kernel) -> Result<(), AssembleError> {
        let mut onward = Assembler::new(0);
        let next = onward.label();
        onward.put(br_cond(next));
        onward.skip_to(self.stride);
        onward.here(next);
        let mut back = Assembler::new(0);
        back.put(br_ret(B0));
        let words =
            |code: &[u8], half: usize| code.iter().skip(8 * half).take(8).rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let (onward, back) = (onward.finish()?, back.finish()?);
        k.a.load(R4, self.line(0));
        k.a.load(R5, self.stride - 8);
        k.a.load(R6, words(&onward, 0));
        k.a.load(R7, words(&onward, 1));
        k.repeat(self.lines - 1, |k| {
            k.a.put(st8(R4, R6).post(8));
            k.a.put(st8(R4, R7));
            k.a.put(add(R4, R4, R5));
        });
        k.a.load(R6, words(&back, 0));
        k.a.load(R7, words(&back, 1));
        k.a.put(st8(R4, R6).post(8));
        k.a.put(st8(R4, R7));
        Ok(())
    }

    /// Has user code call them, twice [`PASSES`] times, of which monitors see the second half.
    fn call(&self, k: &mut Kernel, caller: Caller) {
        k.a.load(R16, self.line(0));
        k.a.load(R17, PASSES - 1);
        k.enter_user(caller.entry, 0);
    }
}

/// User code that calls lines.
#[derive(Clone, Copy)]
struct Caller {
    entry: Label,
    /// Where the lines return to.
    back: u64,
}

/// User code: the same bundles with monitors off and then on, so that what they fetch of it is in the caches. r16 is where to go, r17 how
/// often less one.
fn caller(k: &mut Kernel) -> Caller {
    let (round, done) = (k.a.label(), k.a.label());
    k.a.align(0x1000);
    k.a.routine("caller");
    let entry = k.a.mark();
    k.a.put(mov_to_br(B2, R16));
    k.a.put(cmp_ne(P1, P2, R0, R0));
    k.a.here(round);
    k.a.put(mov_to_ar_i(Ar::LC, R17));
    k.a.put(sum(psr::UP).when(P1));
    let again = k.a.mark();
    k.a.put(br_call_reg(B0, B2));
    let back = k.a.address();
    k.a.put(br_cloop(again));
    k.a.put(rum(psr::UP).when(P1));
    k.a.put(br_cond(done).when(P1));
    k.a.put(cmp_eq(P1, P2, R0, R0));
    k.a.put(br_cond(round));
    k.a.here(done);
    k.system_call();
    Caller { entry, back }
}

impl Part {
    fn fetched(self) -> &'static str {
        match self {
            Part::Montecito => "L1I_EAR_EVENTS",
            Part::Itanium => "INSTRUCTION_EAR_EVENTS",
        }
    }

    /// The setting of the instruction event-address registers for captures at level 3: of misses of the cache, or of translations.
    fn fetch_captures(self, k: &mut Kernel, translations: bool, umask: u8) {
        match self {
            Part::Montecito => {
                let mut pmc = montecito::Pmc37::default();
                pmc.set_plm(0b1000);
                // For misses of the cache the unit mask has a bit more, the lower one of ct.
                pmc.set_umask(umask & 0x7F);
                pmc.set_ct(if translations { 0 } else { 0b10 | umask >> 7 });
                k.write_pmc(37, pmc.bits());
            }
            Part::Itanium => {
                let mut pmc = itanium::Pmc10::default();
                pmc.set_plm(0b1000);
                pmc.set_tlb(translations);
                pmc.set_umask(umask);
                pmc.set_ism(0b10);
                k.write_pmc(10, pmc.bits());
            }
        }
    }

    /// Unit masks of misses of the cache, with the least latency that each captures, if it captures any: Montecito's table 3-16, of which 0
    /// captures what has been asked for already; on the first Itanium table 6-12.
    fn thresholds(self) -> &'static [(u8, Option<u16>)] {
        match self {
            Part::Montecito => &[
                (0xFF, Some(4)),
                (0xFE, Some(8)),
                (0xFC, Some(16)),
                (0xF8, Some(32)),
                (0xF0, Some(128)),
                (0xE0, Some(256)),
                (0xC0, Some(1024)),
                (0x80, Some(4096)),
                (0x40, Some(0)),
                (0x00, None),
            ],
            Part::Itanium => &[
                (0, Some(4)),
                (1, Some(8)),
                (2, Some(16)),
                (3, Some(32)),
                (4, Some(64)),
                (5, Some(128)),
                (6, Some(256)),
                (7, Some(512)),
                (8, Some(1024)),
                (9, Some(2048)),
                (10, Some(4096)),
                (11, None),
            ],
        }
    }

    /// Checks both registers: of a miss of the cache that took `latency`; or of a translation that `source` had, whose latency is not
    /// checked.
    fn check_fetch(self, k: &mut Kernel, name: &str, address: u64, latency: Option<u16>, source: u8) {
        let (registers, first) = match self {
            Part::Montecito => {
                let mut pmd = montecito::Pmd34::default();
                pmd.set_stat(source);
                pmd.set_line(address >> 5);
                ([34, 35], pmd.bits())
            }
            Part::Itanium => {
                let mut pmd = itanium::Pmd0::default();
                pmd.set_v(true);
                pmd.set_line(address >> 5);
                ([0, 1], pmd.bits())
            }
        };
        let [address, taken] = registers;
        k.read_pmd(R16, address);
        k.check_is(&format!("{name}: line and source"), R16, first);
        if let Some(latency) = latency {
            // The latency is in the lowest bits of either part's, and fits.
            k.read_pmd(R16, taken);
            k.check_is(&format!("{name}: latency"), R16, latency.into());
        }
    }
}

fn count(k: &mut Kernel, part: Part, start: u64, oi: bool) {
    k.write_pmc(4, part.counter(part.fetched(), 0b1000, oi));
    k.write_pmd(4, start);
}

fn check_count(k: &mut Kernel, name: &str, right: u64) {
    k.read_pmd(R16, 4);
    k.check_is(name, R16, right);
}

/// Assembles it.
pub(crate) fn build(part: Part) -> Result<vm_pmu_engines::image::Image, AssembleError> {
    let mut k = Kernel::new();
    let caller = caller(&mut k);
    k.main();
    let (third, latencies): (_, [u16; 3]) = match part {
        // The second level of code is its own, and takes seven cycles.
        Part::Montecito => (MONTECITO_THIRD, [7, 14, 200 + 24 + 24]),
        Part::Itanium => (ITANIUM_THIRD, [6, 21, 180 + 16 + 16]),
    };
    for (lines, latency) in [SECOND, third, MEMORY].into_iter().zip(latencies) {
        misses(&mut k, part, caller, lines, latency)?;
    }
    match part {
        Part::Montecito => {
            translations(&mut k, part, caller, PAGES, (0b001, 0b01))?;
            translations(&mut k, part, caller, MORE_PAGES, (0b010, 0b10))?;
        }
        Part::Itanium => translations(&mut k, part, caller, MORE_PAGES, (0b0100, 0))?,
    }
    k.end_main();
    k.finish()
}

/// Each line is a miss in every pass.
fn misses(k: &mut Kernel, part: Part, caller: Caller, lines: Lines, latency: u16) -> Result<(), AssembleError> {
    lines.write(k)?;
    for (umask, least) in part.thresholds() {
        part.fetch_captures(k, false, *umask);
        count(k, part, 0, false);
        lines.call(k, caller);
        let captured = least.is_some_and(|least| latency >= least);
        check_count(k, &format!("{}, unit mask {umask:#x}", lines.name), if captured { PASSES * lines.lines } else { 0 });
        if captured {
            let name = format!("{}, unit mask {umask:#x}, the last capture", lines.name);
            part.check_fetch(k, &name, lines.line(lines.lines - 1), Some(latency), 0b01);
        }
    }
    let (umask, _) = part.thresholds()[0];
    part.fetch_captures(k, false, umask);
    count(k, part, part.before(CAPTURES), true);
    lines.call(k, caller);
    let name = format!("{}, an overflow", lines.name);
    k.read_pmc(R16, 0);
    // fr, and the overflow bit of PMD4.
    k.check_is(&format!("{name}: PMC0"), R16, 0x11);
    part.check_fetch(k, &name, lines.line(CAPTURES - 1), Some(latency), 0b01);
    check_count(k, &format!("{name}: PMD4"), 0);
    k.write_pmc(4, 0);
    k.write_pmc(0, 0);
    Ok(())
}

/// Each line is a miss of the first-level buffer in every pass, and so is the page that the lines return to.
fn translations(k: &mut Kernel, part: Part, caller: Caller, lines: Lines, (bit, source): (u8, u8)) -> Result<(), AssembleError> {
    lines.write(k)?;
    for (umask, captured) in [(bit, true), (0b1111 & !bit, false), (0, false)] {
        part.fetch_captures(k, true, umask);
        count(k, part, 0, false);
        lines.call(k, caller);
        let name = format!("{}, unit mask {umask:#b}", lines.name);
        check_count(k, &name, if captured { PASSES * (lines.lines + 1) } else { 0 });
        if captured {
            part.check_fetch(k, &format!("{name}, the last capture"), caller.back, None, source);
        }
    }
    Ok(())
}
