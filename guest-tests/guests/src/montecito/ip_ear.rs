//! `ip-ear`: retired instruction pointers, the cycles between them, and how the capture ends.

use vm_pmu::arch::montecito::{Pmc42, Pmd38, RetiredEntry};

use crate::ia64::facts::Part;
use crate::ia64::{Kernel, VECTORS};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::vector;
use vm_pmu_engines::image::Image;

const PART: Part = Part::Montecito;
/// Entries of the buffer.
const DEPTH: u64 = 16;
/// mode of PMC42: retired instruction pointers.
const RETIRED: u8 = 0b100;

/// An entry: a bundle, the cycles since the one before, and whether the pipeline was flushed since.
#[derive(Clone, Copy)]
struct Entry {
    bundle: u64,
    cycles: u8,
    flushed: bool,
    /// The capture ended early with so many cycles of the delay left, which replace the lowest bits of the address.
    left: Option<u8>,
}

impl Entry {
    fn at(bundle: u64, cycles: u8) -> Entry {
        Entry { bundle, cycles, flushed: false, left: None }
    }

    fn bits(self) -> u64 {
        let mut entry = RetiredEntry::default();
        entry.set_cycl(self.cycles & 0xF);
        entry.set_high(self.bundle >> 12);
        entry.set_low(self.left.unwrap_or((self.bundle >> 4) as u8));
        entry.bits()
    }

    /// Four bits of PMD39: the upper two of the cycles, then f and ef.
    fn extension(self) -> u64 {
        u64::from(self.cycles >> 4) << 2 | u64::from(self.flushed) << 1 | u64::from(self.left.is_some())
    }
}

/// Captures at these levels.
fn capture(k: &mut Kernel, plm: u8, delay: u8) {
    let mut pmc = Pmc42::default();
    pmc.set_plm(plm);
    pmc.set_mode(RETIRED);
    pmc.set_delay(delay);
    PART.empty(k);
    k.write_pmc(42, pmc.bits());
}

/// Has PMC4 count instructions of level 0; it freezes everything with the `instructions`th.
fn freeze_at(k: &mut Kernel, instructions: u64) {
    k.write_pmc(4, PART.counter("IA64_INST_RETIRED", 0b0001, true));
    k.write_pmd(4, PART.before(instructions));
}

fn check(k: &mut Kernel, name: &str, entries: &[Entry]) {
    // Captures nothing more, whatever has frozen.
    k.write_pmc(42, 0);
    let count = entries.len() as u64;
    let mut index = Pmd38::default();
    index.set_ebi((count % DEPTH) as u8);
    index.set_full(count >= DEPTH);
    k.read_pmd(R16, 38);
    k.check_is(&format!("{name}: the index"), R16, index.bits());
    for (number, entry) in (0u64..).zip(entries).skip(count.saturating_sub(DEPTH) as usize) {
        let place = number % DEPTH;
        k.read_pmd(R16, 48 + place as u8);
        k.check_is(&format!("{name}: entry {number}"), R16, entry.bits());
        // Those of PMD48, 56, 49, 57 and so on.
        let nibble = if place < 8 { 2 * place } else { 2 * (place - 8) + 1 };
        k.read_pmd(R16, 39);
        k.a.put(extr_u(R16, R16, 4 * nibble, 4));
        k.check_is(&format!("{name}: extension of entry {number}"), R16, entry.extension());
    }
    k.write_pmc(4, 0);
    k.write_pmc(0, 0);
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    k.main();
    early(&mut k);
    for (delay, instructions) in [(0, 11), (1, 11), (3, 13), (20, 16)] {
        delayed(&mut k, delay, instructions);
    }
    frozen_then_early(&mut k);
    flushed(&mut k);
    k.end_main();
    k.finish()
}

/// From `sum` to `rum`: the bundle of `sum`, of which the last two slots are captured, each bundle after it a cycle later, that of `rum`,
/// and one more entry with the whole delay left.
fn early(k: &mut Kernel) {
    for (nops, delay) in [(3, 0), (13, 200), (20, 7)] {
        capture(k, 0b0001, delay);
        let begin = k.a.address();
        k.user_monitors(true);
        k.nops(nops);
        k.user_monitors(false);
        let mut entries = vec![Entry::at(begin, 0)];
        entries.extend((1..=nops as u64 + 1).map(|bundle| Entry::at(begin + 16 * bundle, 1)));
        let end = begin + 16 * (nops as u64 + 1);
        entries.push(Entry { left: Some(delay), ..Entry::at(end, 0) });
        check(k, &format!("rum behind {nops} bundles"), &entries);
    }
    // No level.
    capture(k, 0b1110, 0);
    k.user_monitors(true);
    k.nops(3);
    k.user_monitors(false);
    check(k, "other levels", &[]);
}

/// The instruction that freezes is in a bundle: two are in that of `sum`, three in each after it. Entries continue for `delay` cycles; that
/// of the last cycle has the bundle before.
fn delayed(k: &mut Kernel, delay: u8, instructions: u64) {
    freeze_at(k, instructions);
    capture(k, 0b0001, delay);
    let begin = k.a.address();
    k.user_monitors(true);
    k.nops(30);
    k.user_monitors(false);
    let freezing = (instructions - 2).div_ceil(3);
    // With no delay the bundle that freezes has an entry, and another one at once.
    let (last, cycles) = if delay == 0 { (freezing, 0) } else { (freezing + u64::from(delay) - 1, 1) };
    let mut entries = vec![Entry::at(begin, 0)];
    entries.extend((1..=last).map(|bundle| Entry::at(begin + 16 * bundle, 1)));
    entries.push(Entry::at(begin + 16 * last, cycles));
    check(k, &format!("a freeze by instruction {instructions}, {delay} cycles before the end"), &entries);
}

/// `rum` while the delay runs: it ends at once, and the entry contains what was left of the delay.
fn frozen_then_early(k: &mut Kernel) {
    // The third bundle of no-operations freezes; five follow, and that of rum.
    freeze_at(k, 2 + 3 * 3);
    capture(k, 0b0001, 50);
    let begin = k.a.address();
    k.user_monitors(true);
    k.nops(8);
    k.user_monitors(false);
    let mut entries = vec![Entry::at(begin, 0)];
    entries.extend((1..=9).map(|bundle| Entry::at(begin + 16 * bundle, 1)));
    // A cycle for each of the six bundles since.
    entries.push(Entry { left: Some(50 - 6), ..Entry::at(begin + 16 * 9, 0) });
    check(k, "rum while the delay runs", &entries);
}

/// A fault at level 0: it takes a cycle, and the pipeline is flushed before the handler's first bundle.
fn flushed(k: &mut Kernel) {
    k.expect_faults();
    // Two after sum, three of no-operations, and two of the vector's, before its branch.
    freeze_at(k, 2 + 3 + 2);
    capture(k, 0b0001, 0);
    let begin = k.a.address();
    k.user_monitors(true);
    k.nops(1);
    k.a.put(break_(7));
    k.user_monitors(false);
    let entry = VECTORS + u64::from(vector::BREAK);
    let entries = [Entry::at(begin, 0), Entry::at(begin + 16, 1), Entry { flushed: true, ..Entry::at(entry, 2) }, Entry::at(entry, 0)];
    check(k, "a fault", &entries);
    k.check_faults("the fault", 1, vector::BREAK, 0);
}
