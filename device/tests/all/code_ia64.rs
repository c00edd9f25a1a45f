//! Caches of code of Itanium processors, read through PMC and PMD: what was done is listed here, and what it counts is worked out by hand.

use vm_pmu::Context;
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::feed::BranchKind;
use vm_pmu::arch::montecito::Pmc;
use vm_pmu::arch::registry::Part;
use vm_pmu::companion::{
    Access, AccessKind, Builder, Bundle, CacheGeometry, Caches, Companion, Fill, Follower, Instruction, Invalidation, Profile, SecondLevel,
    Transfer, Untranslated, parts,
};
use vm_pmu::topology::{self, Machine};

/// PSR.up, bit 2.
const UP: u64 = 1 << 2;
/// `{ .mib ;; }`, and the slot of its branch.
const MIB: u8 = 0x11;
const BRANCH_SLOT: u8 = 2;
const NOP_B: u64 = 2 << 37;
/// `br.cond.sptk`, and its hint `.many`.
const BRANCH: u64 = 4 << 37;
const MANY: u64 = 1 << 12;
/// A physical address of memory that is not cached.
const UNCACHEABLE: u64 = 1 << 63;
/// Where code is: each at the begin of a page of 4 KiB.
const HERE: u64 = 0x10_0000;
const THERE: u64 = 0x20_0000;
const PAGE: u64 = 0x1000;

type Quiet = fn(usize, u32);

/// Two packages whose threads are followed. Thread 0 counts.
struct System<'a> {
    machine: Machine<Quiet>,
    followers: Vec<Follower<'a>>,
}

/// Two packages with one core each.
fn companion(part: &Profile) -> Companion {
    Builder::of(part).packages(2).threads(usize::from(part.threads)).always().build()
}

impl<'a> System<'a> {
    /// Counter 4 of the first thread counts the event of this name.
    fn new(companion: &'a Companion, name: &str) -> System<'a> {
        let part = companion.profile();
        let quiet: Quiet = |_, _| {};
        let machine = topology::Builder::new(part.name).unwrap().packages(2).threads(usize::from(part.threads)).build(quiet).unwrap();
        for number in 0..machine.threads() {
            machine.thread(number).unwrap().set_context(Context::ia64(UP, 0));
        }
        let entries = Part::named(part.name).unwrap().catalogue().entries;
        let entry: &Entry = entries.iter().find(|entry| entry.name == name).unwrap();
        let mut pmc = Pmc::default();
        pmc.set_plm(0b1111);
        pmc.set_es(u8::try_from(entry.select).unwrap());
        pmc.set_umask(u8::try_from(entry.umask.unwrap_or(0)).unwrap());
        pmc.set_ism(0b10);
        pmc.set_mesi(0b1111);
        machine.thread(0).unwrap().ia64().mov_to_pmc(4, pmc.bits()).unwrap();
        let mut followers: Vec<_> = (0..machine.threads()).map(|number| companion.follower(number).unwrap()).collect();
        for follower in &mut followers {
            follower.sync(&machine.thread(follower.number()).unwrap().demand());
        }
        System { machine, followers }
    }

    fn run(&mut self, number: usize, instruction: &Instruction<'_>) {
        let Some(follower) = self.followers.get_mut(number) else { return };
        follower.execute(instruction, &mut Untranslated(14));
        follower.deliver(&self.machine.thread(number).unwrap(), &[], |_| {});
    }

    /// The last instruction of the bundle at this address.
    fn last_slot(&mut self, number: usize, address: u64, word: u64, target: Option<u64>) {
        let transfer = target.map(|target| Transfer { kind: BranchKind::Conditional, taken: true, target });
        let bundle = Some(Bundle::new(MIB, [0, 0, word]).at(BRANCH_SLOT));
        self.run(number, &Instruction { address, physical: address, length: 16, transfer, bundle, ..Instruction::default() });
    }

    /// Bundles without a branch, from `begin` up to `end`.
    fn straight(&mut self, begin: u64, end: u64) {
        (begin..end).step_by(16).for_each(|address| self.last_slot(0, address, NOP_B, None));
    }

    fn access(&mut self, number: usize, kind: AccessKind, physical: u64) {
        let accesses = [Access { address: physical, physical, size: 8, kind, ..Access::default() }];
        self.run(number, &Instruction { address: HERE, physical: HERE, accesses: &accesses, ..Instruction::default() });
    }

    /// Lets the first core see what others asked it for: it does when it next asks its second level for something.
    fn see(&mut self) {
        self.access(0, AccessKind::Load, 0x7000_0000);
    }

    fn count(&self) -> u64 {
        self.machine.thread(0).unwrap().ia64().mov_from_pmd(4).unwrap()
    }
}

/// What each of these events counts of `work`, alone.
fn expect(part: &Profile, counts: &[(&str, u64)], work: impl Fn(&mut System<'_>)) {
    for (name, count) in counts {
        let companion = companion(part);
        let mut system = System::new(&companion, name);
        work(&mut system);
        assert_eq!(system.count(), *count, "{name}");
    }
}

/// `brp` to a target so many bundles away.
fn presage(bundles: u64) -> u64 {
    7 << 37 | (bundles & 0xF_FFFF) << 13
}

#[test]
fn a_stream_asks_for_the_line_behind_the_one_that_is_fetched() {
    let work = |system: &mut System<'_>| {
        system.last_slot(0, HERE, BRANCH | MANY, Some(THERE));
        system.straight(THERE, THERE + 3 * 64);
    };
    // Fetched: the line of HERE and the first of THERE. Prefetched: the second, third and fourth of THERE. Lines of 128 bytes have two of them, so
    // the second and the fourth are in a line that the one before brought.
    let counts = [
        ("L1I_PREFETCHES", 3),
        ("L1I_STRM_PREFETCHES", 3),
        ("L2I_PREFETCHES", 3),
        ("L2I_DEMAND_READS", 2),
        ("L1I_FILLS", 5),
        ("ISB_BUNPAIRS_IN", 10),
        ("L2I_READS.HIT.DMND", 0),
        ("L2I_READS.MISS.DMND", 2),
        ("L2I_READS.HIT.PFTCH", 2),
        ("L2I_READS.MISS.PFTCH", 1),
        ("L2I_READS.HIT.ALL", 2),
        ("L2I_READS.MISS.ALL", 3),
        ("L2I_READS.ALL.DMND", 2),
        ("L2I_READS.ALL.PFTCH", 3),
        ("L2I_READS.ALL.ALL", 5),
        ("L3_READS.INST_FETCH.MISS", 3),
    ];
    expect(&parts::MONTECITO, &counts, work);
}

#[test]
fn a_stream_of_the_first_itanium_asks_for_lines_of_32_bytes() {
    let work = |system: &mut System<'_>| {
        system.last_slot(0, HERE, BRANCH | MANY, Some(THERE));
        system.straight(THERE, THERE + 3 * 32);
    };
    // As above, with three lines of 32 bytes fetched. Lines of 64 bytes have two of them.
    let counts = [
        ("L1I_PREFETCH_READS", 3),
        ("L2_INST_PREFETCH_READS", 3),
        ("L2_INST_DEMAND_READS", 2),
        ("ISB_LINES_IN", 5),
        ("L2_REFERENCES", 5),
        ("L2_MISSES", 3),
        ("L3_READS.INST_READS.MISS", 3),
    ];
    expect(&parts::ITANIUM, &counts, work);
}

#[test]
fn a_stream_ends_with_its_page() {
    // Two lines of the page are left: the second one is prefetched.
    expect(&parts::MONTECITO, &[("L1I_PREFETCHES", 1)], |system| {
        let target = THERE + PAGE - 2 * 64;
        system.last_slot(0, HERE, BRANCH | MANY, Some(target));
        system.straight(target, THERE + PAGE + 4 * 64);
    });
}

#[test]
fn another_taken_branch_ends_a_stream() {
    // One line behind THERE; nothing behind HERE.
    expect(&parts::MONTECITO, &[("L1I_PREFETCHES", 1)], |system| {
        system.last_slot(0, HERE, BRANCH | MANY, Some(THERE));
        system.straight(THERE, THERE + 16);
        system.last_slot(0, THERE + 16, BRANCH, Some(HERE));
        system.straight(HERE, HERE + 4 * 64);
    });
}

#[test]
fn a_branch_without_the_hint_begins_no_stream() {
    expect(&parts::MONTECITO, &[("L1I_PREFETCHES", 0), ("L2I_DEMAND_READS", 5)], |system| {
        system.last_slot(0, HERE, BRANCH, Some(THERE));
        system.straight(THERE, THERE + 4 * 64);
    });
}

#[test]
fn brp_brings_the_line_of_its_target() {
    let work = |system: &mut System<'_>| {
        // 8 lines of 64 bytes are 32 bundles.
        system.last_slot(0, HERE, presage(32), None);
        system.last_slot(0, HERE + 16, BRANCH, Some(HERE + 8 * 64));
        system.straight(HERE + 8 * 64, HERE + 9 * 64);
    };
    let counts = [("L1I_PREFETCHES", 1), ("L1I_STRM_PREFETCHES", 0), ("L2I_PREFETCHES", 1), ("L2I_DEMAND_READS", 1), ("L1I_FILLS", 2)];
    expect(&parts::MONTECITO, &counts, work);
}

#[test]
fn a_prefetch_of_a_line_that_is_there_asks_no_further() {
    let counts = [("L1I_PREFETCHES", 1), ("L2I_PREFETCHES", 0)];
    expect(&parts::MONTECITO, &counts, |system| system.last_slot(0, HERE, presage(0), None));
}

#[test]
fn uncacheable_code_is_read_pair_by_pair_each_time() {
    let work = |system: &mut System<'_>| {
        for _ in 0..2 {
            for address in [THERE, THERE + 16, THERE + 32] {
                let bundle = Some(Bundle::new(MIB, [0, 0, NOP_B]).at(BRANCH_SLOT));
                let physical = address | UNCACHEABLE;
                system.run(0, &Instruction { address, physical, length: 16, bundle, ..Instruction::default() });
            }
        }
    };
    // Three bundles are two pairs, twice.
    let counts = [
        ("L2I_UC_READS.MISS.DMND", 4),
        ("L2I_UC_READS.MISS.ALL", 4),
        ("L2I_UC_READS.ALL.DMND", 4),
        ("L2I_UC_READS.ALL.ALL", 4),
        ("L1I_READS", 4),
        ("L2I_DEMAND_READS", 4),
        ("ISB_BUNPAIRS_IN", 4),
        ("L1I_FILLS", 0),
        ("L2I_READS.ALL.ALL", 0),
        ("BUS_MEMORY.LT_128BYTE.SELF", 4),
    ];
    expect(&parts::MONTECITO, &counts, work);
}

#[test]
fn a_flush_asks_the_own_caches_of_code() {
    // The line of code is there once: the second flush finds nothing.
    let work = |system: &mut System<'_>| {
        system.straight(THERE, THERE + 16);
        system.access(0, AccessKind::Flush, THERE);
        system.access(0, AccessKind::Flush, THERE);
        system.straight(THERE, THERE + 16);
    };
    let counts = [("L1I_SNOOP", 2), ("L2I_SNOOP_HITS", 1)];
    expect(&parts::MONTECITO, &counts, work);
}

#[test]
fn a_store_of_another_core_takes_code_away() {
    let work = |system: &mut System<'_>| {
        system.straight(THERE, THERE + 16);
        system.access(2, AccessKind::Store, THERE);
        system.see();
        system.straight(THERE + 32, THERE + 48);
    };
    // Both halves of a line of 128 bytes are asked for. Then the code is fetched again.
    let counts = [("L1I_SNOOP", 2), ("L2I_SNOOP_HITS", 1), ("L2I_READS.MISS.DMND", 2)];
    expect(&parts::MONTECITO, &counts, work);
}

#[test]
fn a_look_up_gives_way_to_a_snoop_of_its_line() {
    let work = |system: &mut System<'_>| {
        // The core sees the snoop with its next request, which is for the other half of the line. The second one is a prefetch.
        system.straight(THERE, THERE + 16);
        system.access(2, AccessKind::Store, THERE);
        system.straight(THERE + 64, THERE + 80);
        system.straight(HERE, HERE + 16);
        system.access(2, AccessKind::Store, HERE);
        system.last_slot(0, HERE + 16, presage(3), None);
    };
    let [fetched, prefetched] = [["MISS.DMND", "ALL.DMND"], ["MISS.PFTCH", "ALL.PFTCH"]];
    for (kinds, count) in [(fetched, 1), (prefetched, 1), (["MISS.ALL", "ALL.ALL"], 2)] {
        for kind in kinds {
            expect(&parts::MONTECITO, &[(&format!("L2I_HIT_CONFLICTS.{kind}"), count)], work);
        }
    }
}

#[test]
fn a_fetch_of_another_core_leaves_code_where_it_is() {
    let work = |system: &mut System<'_>| {
        system.straight(THERE, THERE + 16);
        system.last_slot(2, THERE, NOP_B, None);
        system.see();
        system.straight(THERE + 32, THERE + 48);
    };
    let counts = [("L1I_SNOOP", 0), ("L2I_SNOOP_HITS", 0), ("L2I_READS.MISS.DMND", 1)];
    expect(&parts::MONTECITO, &counts, work);
}

#[test]
fn lines_that_leave_the_second_and_third_level_are_asked_of_the_first() {
    // A second level of code of one line and a third of four, one set each. The second and third line of code each take the place of the one before:
    // two victims. Then six lines of data come, and the third level gives up five of its seven lines, the one that the second level of code has
    // among them.
    let small = |bytes, ways| CacheGeometry::lru(bytes, ways);
    let second = SecondLevel::Split { instruction: small(128, 1), data: small(64 << 10, 8) };
    let caches = Caches { second, third: Some((small(4 * 128, 4), Fill::Inclusive)), ..parts::MONTECITO.caches };
    let part = Profile { caches, ..parts::MONTECITO };
    let work = |system: &mut System<'_>| {
        for line in 0..3 {
            system.last_slot(0, THERE + 128 * line, NOP_B, None);
        }
        for line in 0..6 {
            system.access(0, AccessKind::Load, 0x4000_0000 + 128 * line);
        }
    };
    // Nine lines came into a third level of four.
    let counts = [("L2I_VICTIMIZATION", 2), ("L1I_SNOOP", 2 * (2 + 5)), ("L2I_SNOOP_HITS", 1)];
    expect(&part, &counts, work);
}

#[test]
fn purges_and_walks_are_seen_by_the_first_level() {
    let work = |system: &mut System<'_>| {
        // A walk; a purge; and the walk again.
        system.straight(THERE, THERE + 16);
        system.followers[0].invalidate(Invalidation::All);
        system.straight(THERE + 32, THERE + 48);
    };
    expect(&parts::MONTECITO, &[("L1I_PURGE", 3)], work);
}
