//! `trace`: a known sequence of branches, read back from the trace buffer under its filters.

use vm_pmu::arch::{itanium, montecito};

use super::Kernel;
use super::facts::Part;
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::psr;

/// How often the sequence is executed, so that the companion's predictor knows it; the last times are traced.
const ROUNDS: u64 = 24;
/// An entry of a branch that was not taken.
const NOT_TAKEN: u8 = 3;

/// An entry of the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    /// A branch: its bundle, its slot or [`NOT_TAKEN`], and whether its path or target was predicted wrongly, by which the pipeline is
    /// flushed.
    Branch(u64, u8, bool),
    /// Another change of the flow, which counts as mispredicted: its bundle and slot.
    Other(u64, u8),
    /// The target of the one before.
    Target(u64),
}

impl Part {
    /// How many entries the buffer has.
    fn depth(self) -> u64 {
        match self {
            Part::Montecito => montecito::ENTRIES as u64,
            Part::Itanium => itanium::ENTRIES as u64,
        }
    }

    /// The register of the first entry, that of the index, and how many bits the latter has for the next entry.
    pub(crate) fn buffer(self) -> (u8, u8, u64) {
        match self {
            Part::Montecito => (48, 38, 4),
            Part::Itanium => (8, 16, 3),
        }
    }

    /// What an entry reads as.
    fn entry(self, entry: Entry) -> u64 {
        let (source, mispredicted, slot, bundle) = match entry {
            Entry::Branch(bundle, slot, wrong) => (true, wrong, slot, bundle),
            Entry::Other(bundle, slot) => (true, true, slot, bundle),
            // mp of a target is its valid bit.
            Entry::Target(bundle) => (false, true, 0, bundle),
        };
        match self {
            Part::Montecito => {
                let mut pmd = montecito::TraceEntry::default();
                pmd.set_s(source);
                pmd.set_mp(mispredicted);
                pmd.set_slot(slot);
                pmd.set_bundle(bundle >> 4);
                pmd.bits()
            }
            Part::Itanium => {
                let mut pmd = itanium::TraceEntry::default();
                pmd.set_b(source);
                pmd.set_mp(mispredicted);
                pmd.set_slot(slot);
                pmd.set_bundle(bundle >> 4);
                pmd.bits()
            }
        }
    }

    /// What the index reads as after so many entries.
    fn index(self, entries: u64) -> u64 {
        let (next, full) = ((entries % self.depth()) as u8, entries >= self.depth());
        match self {
            Part::Montecito => {
                let mut pmd = montecito::Pmd38::default();
                pmd.set_ebi(next);
                pmd.set_full(full);
                pmd.bits()
            }
            Part::Itanium => {
                let mut pmd = itanium::Pmd16::default();
                pmd.set_bbi(next);
                pmd.set_full(full);
                pmd.bits()
            }
        }
    }

    /// Empties the buffer.
    pub(crate) fn empty(self, k: &mut Kernel) {
        k.write_pmd(self.buffer().1, 0);
        if self == Part::Montecito {
            k.write_pmd(39, 0);
        }
    }

    /// Traces with these filters at some levels.
    pub(crate) fn trace(self, k: &mut Kernel, plm: u8, filters: Filters) {
        let Filters { tm, ptm, ppm, brt } = filters;
        match self {
            Part::Montecito => {
                let mut pmc = montecito::Pmc39::default();
                pmc.set_plm(plm);
                pmc.set_tm(tm);
                pmc.set_ptm(ptm);
                pmc.set_ppm(ppm);
                pmc.set_brt(brt);
                k.write_pmc(39, pmc.bits());
            }
            Part::Itanium => {
                let mut pmc = itanium::Pmc12::default();
                pmc.set_plm(plm);
                pmc.set_tm(tm);
                pmc.set_ptm(ptm);
                pmc.set_ppm(ppm);
                pmc.set_tar(true);
                pmc.set_bpt(true);
                pmc.set_bac(true);
                k.write_pmc(12, pmc.bits());
            }
        }
    }

    /// Freezes, and checks the index and the entries that are still there, as a driver reads them.
    pub(crate) fn check_entries(self, k: &mut Kernel, name: &str, entries: &[Entry]) {
        let (first, index, _) = self.buffer();
        k.write_pmc(0, 1);
        let count = entries.len() as u64;
        k.read_pmd(R16, index);
        k.check_is(&format!("{name}: the index"), R16, self.index(count));
        for (number, entry) in (0u64..).zip(entries).skip(count.saturating_sub(self.depth()) as usize) {
            let place = number % self.depth();
            k.read_pmd(R16, first + place as u8);
            k.check_is(&format!("{name}: entry {number}"), R16, self.entry(*entry));
            if self == Part::Montecito {
                // PMD39 has four bits an entry: those of PMD48, 56, 49, 57 and so on. The second of them is set if the pipeline was
                // flushed.
                let nibble = if place < 8 { 2 * place } else { 2 * (place - 8) + 1 };
                k.read_pmd(R16, 39);
                k.a.put(extr_u(R16, R16, 4 * nibble, 4));
                let flushed = matches!(entry, Entry::Branch(_, _, true));
                k.check_is(&format!("{name}: extension of entry {number}"), R16, if flushed { 0b0010 } else { 0 });
            }
        }
        k.write_pmc(0, 0);
    }

    /// The event that every capture is.
    pub(crate) fn traced(self) -> &'static str {
        match self {
            Part::Montecito => "ETB_EVENT",
            Part::Itanium => "BRANCH_EVENT",
        }
    }
}

/// What the buffer takes; brt is Montecito's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filters {
    pub(crate) tm: u8,
    pub(crate) ptm: u8,
    pub(crate) ppm: u8,
    pub(crate) brt: u8,
}

/// Everything.
pub(crate) const ALL: Filters = Filters { tm: 0b11, ptm: 0b11, ppm: 0b11, brt: 0b00 };

/// The bundles of the sequence, in which every branch is in slot 2.
#[derive(Clone, Copy)]
struct Sequence {
    entry: Label,
    call: u64,
    function: u64,
    returned: u64,
    indirect: u64,
    landed: u64,
    passed: u64,
    again: u64,
    cloop: u64,
    jump: u64,
    jumped: u64,
}

/// User code that goes through the sequence r17 times, the last r21 times with monitors on. Its indirect branch goes to r18, in the last
/// round to r19; its last one is taken, but not when r17 has come down to r20. p6 is 0.
fn sequence(k: &mut Kernel) -> (Sequence, [Label; 2]) {
    let a = &mut k.a;
    let (function, never, jumped) = (a.label(), a.label(), a.label());
    a.routine("sequence");
    let entry = a.mark();
    let round = a.mark();
    a.put(adds(R17, -1, R17));
    a.put(cmp_ltu(P1, P2, R17, R21));
    a.put(cmp_eq(P5, P4, R17, R0));
    a.put(mov_to_br(B2, R18));
    a.put(mov_to_br(B2, R19).when(P5));
    a.put(cmp_ne(P3, P4, R17, R20));
    a.put(mov_to_ar_i_imm(Ar::LC, 2));
    a.put(sum(psr::UP).when(P1));
    let call = a.address();
    a.put(br_call(B1, function));
    let returned = a.address();
    a.put(nop(0));
    let indirect = a.address();
    a.put(br_cond_reg(B2));
    let landing = a.mark();
    let landed = a.address();
    a.put(nop(0));
    let passing = a.mark();
    let passed = a.address();
    a.put(br_cond(never).when(P6).whether(Whether::Dpnt));
    let again = a.mark();
    let again_at = a.address();
    a.put(nop(0));
    let cloop = a.address();
    a.put(br_cloop(again));
    let jump = a.address();
    a.put(br_cond(jumped).when(P3).whether(Whether::Dptk));
    a.put(nop(0));
    a.here(jumped);
    let jumped = a.address();
    a.put(rum(psr::UP).when(P1));
    a.here(never);
    a.put(cmp_ne(P5, P4, R17, R0));
    a.put(br_cond(round).when(P5));
    a.put(break_(super::SYSTEM_CALL));
    a.routine("function");
    a.here(function);
    let function = a.address();
    a.put(br_ret(B1));
    let sequence = Sequence { entry, call, function, returned, indirect, landed, passed, again: again_at, cloop, jump, jumped };
    (sequence, [landing, passing])
}

/// How the last rounds differ from those before.
#[derive(Clone, Copy)]
struct Last {
    /// How many are traced.
    rounds: u64,
    /// The indirect branch goes beyond its former bundle in the last one.
    elsewhere: bool,
    /// The last branch is not taken in the last one.
    stays: bool,
}

const AS_BEFORE: Last = Last { rounds: 1, elsewhere: false, stays: false };

/// The guest while it runs the sequence.
struct Traced<'a> {
    k: &'a mut Kernel,
    part: Part,
    sequence: Sequence,
    landings: [Label; 2],
}

impl Traced<'_> {
    fn run(&mut self, name: &str, filters: Filters, last: Last, entries: &[Entry]) {
        let [landing, passing] = self.landings;
        let (k, part) = (&mut *self.k, self.part);
        part.empty(k);
        part.trace(k, 0b1000, filters);
        k.write_pmc(4, part.counter(part.traced(), 0b1000, false));
        k.write_pmd(4, 0);
        k.a.put(cmp_ne(P6, P7, R0, R0));
        k.a.load(R17, ROUNDS);
        k.a.load_address(R18, landing);
        k.a.load_address(R19, if last.elsewhere { passing } else { landing });
        k.a.load(R20, if last.stays { 0 } else { u64::MAX });
        k.a.load(R21, last.rounds);
        k.enter_user(self.sequence.entry, 0);
        part.check_entries(k, name, entries);
        // Montecito counts entries, the first Itanium branches.
        let branches = entries.iter().filter(|entry| part == Part::Montecito || !matches!(entry, Entry::Target(_)));
        k.read_pmd(R16, 4);
        k.check_is(&format!("{name}: PMD4"), R16, branches.count() as u64);
    }
}

/// The entries of one round if every branch is as predicted. The return is in the bundle that the call goes to, and takes its entry.
fn whole(s: &Sequence) -> Vec<Entry> {
    use Entry::{Branch, Target};
    vec![
        Branch(s.call, 2, false),
        Branch(s.function, 2, false),
        Target(s.returned),
        Branch(s.indirect, 2, false),
        Target(s.landed),
        Branch(s.passed, NOT_TAKEN, false),
        Branch(s.cloop, 2, false),
        Target(s.again),
        Branch(s.cloop, 2, false),
        Target(s.again),
        Branch(s.cloop, NOT_TAKEN, false),
        Branch(s.jump, 2, false),
        Target(s.jumped),
    ]
}

/// All that both parts have; then what `more` adds.
pub(crate) fn build(part: Part, more: impl FnOnce(&mut Kernel)) -> Result<vm_pmu_engines::image::Image, AssembleError> {
    use Entry::{Branch, Target};
    let mut k = Kernel::new();
    let (s, landings) = sequence(&mut k);
    k.main();
    let mut traced = Traced { k: &mut k, part, sequence: s, landings };
    let all = whole(&s);
    traced.run("everything", ALL, AS_BEFORE, &all);
    let twice: Vec<Entry> = all.iter().chain(&all).copied().collect();
    traced.run("two rounds", ALL, Last { rounds: 2, ..AS_BEFORE }, &twice);
    let not_taken = [Branch(s.passed, NOT_TAKEN, false), Branch(s.cloop, NOT_TAKEN, false)];
    let taken: Vec<Entry> = all.iter().filter(|entry| !matches!(entry, Branch(_, NOT_TAKEN, _))).copied().collect();
    traced.run("taken", Filters { tm: 0b10, ..ALL }, AS_BEFORE, &taken);
    traced.run("not taken", Filters { tm: 0b01, ..ALL }, AS_BEFORE, &not_taken);
    traced.run("neither", Filters { tm: 0b00, ..ALL }, AS_BEFORE, &[]);
    traced.run("right path", Filters { ppm: 0b10, ..ALL }, AS_BEFORE, &all);
    traced.run("wrong path, of which there is none", Filters { ppm: 0b01, ..ALL }, AS_BEFORE, &[]);
    traced.run("right target", Filters { ptm: 0b10, ..ALL }, AS_BEFORE, &all);
    traced.run("wrong target, of which there is none", Filters { ptm: 0b01, ..ALL }, AS_BEFORE, &[]);
    // The indirect branch goes to the bundle of the branch that is not taken, which takes the entry of the target.
    let elsewhere = Last { elsewhere: true, ..AS_BEFORE };
    let mut surprised = all.clone();
    surprised[3] = Branch(s.indirect, 2, true);
    surprised.remove(4);
    traced.run("another target", ALL, elsewhere, &surprised);
    let wrong = [Branch(s.indirect, 2, true), Target(s.passed)];
    traced.run("wrong target", Filters { ptm: 0b01, ..ALL }, elsewhere, &wrong);
    traced.run("right path, wrong target", Filters { ptm: 0b01, ppm: 0b10, ..ALL }, elsewhere, &wrong);
    // Of a wrong path the target's prediction is not known.
    let stays = Last { stays: true, ..AS_BEFORE };
    let mut fallen = all.clone();
    fallen.truncate(11);
    fallen.push(Branch(s.jump, NOT_TAKEN, true));
    traced.run("another path", ALL, stays, &fallen);
    traced.run("wrong path", Filters { ppm: 0b01, ..ALL }, stays, &[Branch(s.jump, NOT_TAKEN, true)]);
    traced.run("wrong path, right target", Filters { ptm: 0b10, ppm: 0b01, ..ALL }, stays, &[]);
    if part == Part::Montecito {
        types(&mut traced);
    }
    more(&mut k);
    k.end_main();
    k.finish()
}

/// The filter of types.
fn types(traced: &mut Traced<'_>) {
    use Entry::{Branch, Target};
    let s = traced.sequence;
    let relative = [
        Branch(s.call, 2, false),
        Target(s.function),
        Branch(s.passed, NOT_TAKEN, false),
        Branch(s.cloop, 2, false),
        Target(s.again),
        Branch(s.cloop, 2, false),
        Target(s.again),
        Branch(s.cloop, NOT_TAKEN, false),
        Branch(s.jump, 2, false),
        Target(s.jumped),
    ];
    traced.run("IP-relative", Filters { brt: 0b01, ..ALL }, AS_BEFORE, &relative);
    traced.run("returns", Filters { brt: 0b10, ..ALL }, AS_BEFORE, &[Branch(s.function, 2, false), Target(s.returned)]);
    traced.run("indirect", Filters { brt: 0b11, ..ALL }, AS_BEFORE, &[Branch(s.indirect, 2, false), Target(s.landed)]);
}
