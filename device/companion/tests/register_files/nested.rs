//! A guest under a host on POWER9, worked out by hand: 13 cycles for a look-up of the second-level TLB, 15 for a line of the second cache,
//! 340 for one of memory and 50 to open its page there, and 20 for a walk in addition to its reads.

use std::cell::RefCell;

use vm_pmu_arch::event::{Drive, Internal, POWER9};
use vm_pmu_arch::feed::{GuestLevel, NestedStep, NestedWalk, PageSize, Request, Totals};

use super::*;
use vm_pmu_companion::{Clock, Guest, Host, Invalidation, Pmu};

/// A page of memory that holds all tables. It begins with those of the host, one line per level.
const TABLES: u64 = 0x7000_0000;
/// Guest real addresses of the guest's tables, and of its data.
const GUEST_TABLES: u64 = 0x1000_0000;
const GUEST_DATA: u64 = 0x1060_0000;

/// A guest of one process with pages of 4 KiB, under a host with pages of 2 MiB.
struct Pair;

impl PageTables for Pair {
    fn walk(&mut self, _address: u64) -> Walk {
        unreachable!("both trees are told")
    }

    fn nested(&mut self, address: u64) -> Option<Guest> {
        let entry = |level: u64, shift: u64| GUEST_TABLES + level * 128 + (address >> shift) % 16 * 8;
        let entries = [entry(1, 39), entry(2, 30), entry(3, 21), entry(4, 12), 0];
        let walk = Walk { entries, levels: 4, page_bits: 12, global: false };
        Some(Guest { process_entry: Some(GUEST_TABLES), walk, real: GUEST_DATA + address % 0x20_0000 })
    }

    fn host(&mut self, real: u64) -> Host {
        let entry = |level: u64, shift: u64| TABLES + level * 128 + (real >> shift) % 16 * 8;
        let walk = Walk { entries: [entry(0, 39), entry(1, 30), entry(2, 21), 0, 0], levels: 3, page_bits: 21, global: false };
        let physical = if real < GUEST_DATA { TABLES + 0x1000 + (real - GUEST_TABLES) } else { 0x100_0000 + (real - GUEST_DATA) };
        Host { walk, physical }
    }
}

/// A PMU that keeps the steps that it takes.
struct Recorder {
    totals: Box<Totals>,
    steps: RefCell<Vec<NestedStep>>,
}

impl Recorder {
    fn new() -> Recorder {
        Recorder { totals: Box::new(Totals::new()), steps: RefCell::default() }
    }
}

impl Pmu for Recorder {
    fn totals(&self) -> &Totals {
        &self.totals
    }

    fn reached(&self, _signal: Signal) -> bool {
        false
    }

    fn service(&self) {}

    fn advance(&self, cycles: u64, states: &[Signal]) {
        self.totals.advance(cycles, states);
    }

    fn request(&self, _request: &Request) {}

    fn nested(&self, step: &NestedStep) {
        self.steps.borrow_mut().push(*step);
    }
}

fn demand_of_steps() -> Demand {
    let mut demand = Demand::default();
    demand.replace(SignalSet::ALL, false, Records::NESTED);
    demand
}

/// Returns the steps that translate a load from `address`.
fn steps(pmu: &Recorder, follower: &mut Follower<'_>, tables: &mut impl PageTables, address: u64) -> Vec<NestedStep> {
    let access = Access { address, physical: 0x200_0000, size: 8, ..Access::default() };
    let writes = [Register((address >> 12) as u16 % 16)];
    let operation = Operation { width: 8, addresses: &[Register(30)], writes: &writes, ..Operation::default() };
    let load = Instruction { length: 0, class: Class::Load, operation: Some(operation), accesses: &[access], ..Instruction::default() };
    follower.execute(&load, tables);
    follower.deliver(pmu, &[], |_| {});
    pmu.steps.take()
}

/// Returns a step with a look-up that hit a page of 2 MiB, and a read of an entry of the guest's that took `entry` cycles.
fn read(level: GuestLevel, entry: u32) -> NestedStep {
    NestedStep::Walk(NestedWalk { looked_up: true, host: Some(PageSize::Size2M), cycles: [13, 0, 0, 0, 0, entry], ..NestedWalk::of(level) })
}

/// Returns the steps to the first page.
fn first_steps() -> [NestedStep; 6] {
    // Nothing is cached of the host. All lines lie in one DRAM page, which the first opens.
    let process = NestedWalk { looked_up: true, cycles: [13, 390, 340, 340, 0, 340], ..NestedWalk::of(GuestLevel::Process) };
    // The data are 6 MiB further: their entry of the host's third level is in the line that the walk of the process table brought.
    let last = NestedWalk { looked_up: true, known: 2, cycles: [13, 0, 0, 15 + 20, 0, 0], ..NestedWalk::of(GuestLevel::Final) };
    let [first, second, third, fourth] =
        [GuestLevel::Level1, GuestLevel::Level2, GuestLevel::Level3, GuestLevel::Level4].map(|level| read(level, 340));
    [NestedStep::Walk(process), first, second, third, fourth, NestedStep::Walk(last)]
}

#[test]
fn each_entry_of_a_guest_is_looked_up_and_the_hosts_tables_are_walked_where_that_misses() {
    let companion = Builder::new("power9").unwrap().build();
    let pmu = Recorder::new();
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&demand_of_steps());
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, 0), first_steps());
    // Five directories and leaves of the host were read, and five entries of the guest's; that of the process table is in no tree.
    let counts = [Signal::DataWalksFromMemory, Signal::DataWalksFromL2, Signal::DataWalkLeavesFromMemory, Signal::DataWalkLeavesFromL2];
    assert_eq!(counts.map(|signal| pmu.totals.get(signal)), [3 + 5, 1, 2, 1]);
    assert_eq!([Signal::DataWalks, Signal::DataTlbL2Misses4k].map(|signal| pmu.totals.get(signal)), [1, 1]);
}

#[test]
fn a_walk_of_a_guest_goes_on_below_the_directory_that_is_known() {
    let companion = Builder::new("power9").unwrap().build();
    let pmu = Recorder::new();
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&demand_of_steps());
    steps(&pmu, &mut follower, &mut Pair, 0);
    // The next page: its entry is in a line that the second cache has, and the host page of its data is cached.
    let last =
        NestedWalk { looked_up: true, host: Some(PageSize::Size2M), cycles: [13 + 20, 0, 0, 0, 0, 0], ..NestedWalk::of(GuestLevel::Final) };
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, 0x1000), [read(GuestLevel::Level4, 15), NestedStep::Walk(last)]);
    assert_eq!(pmu.totals.get(Signal::WalkCacheHitsLevel3), 1);
    // 1 GiB and 2 MiB further, the second level has another entry of the cached line.
    let below = [GuestLevel::Level2, GuestLevel::Level3, GuestLevel::Level4].map(|level| read(level, 15));
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, (1 << 30) + (1 << 21)), [&below[..], &[NestedStep::Walk(last)]].concat());
    assert_eq!(pmu.totals.get(Signal::WalkCacheHitsLevel1), 1);
}

#[test]
fn the_first_look_up_asks_for_guest_and_host() {
    let companion = Builder::new("power9").unwrap().build();
    let pmu = Recorder::new();
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&demand_of_steps());
    // 64 other pages evict the first from the first level of 64 entries; each set of four of the second level keeps its page.
    (0..65).for_each(|page| _ = steps(&pmu, &mut follower, &mut Pair, page << 12));
    let host = Some(PageSize::Size2M);
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, 0), [NestedStep::First { guest: PageSize::Size4K, host }]);
    // The first level has it again.
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, 0), []);
    // The host reclaims its page: the guest's translation stays, and the host's tables are walked without another look-up. They are in the
    // second cache, and the directories are invalidated.
    follower.invalidate(Invalidation::HostPage(GUEST_DATA));
    let walk = NestedWalk { cycles: [0, 15, 15, 15 + 20, 0, 0], ..NestedWalk::of(GuestLevel::Final) };
    let first = NestedStep::First { guest: PageSize::Size4K, host: None };
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, 0), [first, NestedStep::Walk(walk)]);
    // The guest reclaims its own page: the host page of its data is now cached.
    follower.invalidate(Invalidation::Page(0));
    let again = steps(&pmu, &mut follower, &mut Pair, 0);
    assert_eq!(again.len(), 6);
    assert!(matches!(again[5], NestedStep::Walk(NestedWalk { host: Some(PageSize::Size2M), .. })));
}

#[test]
fn steps_are_kept_only_where_they_are_wanted() {
    let companion = Builder::new("power9").unwrap().build();
    let pmu = Recorder::new();
    let mut follower = follow(&companion, 0);
    assert_eq!(steps(&pmu, &mut follower, &mut Pair, 0), []);
    assert_eq!(pmu.totals.get(Signal::DataWalksFromMemory), 8);
}

#[test]
fn a_guest_that_does_not_translate_is_translated_by_its_host_alone() {
    struct Real;
    impl PageTables for Real {
        fn walk(&mut self, _address: u64) -> Walk {
            unreachable!("both trees are told")
        }
        fn nested(&mut self, address: u64) -> Option<Guest> {
            Some(Guest { process_entry: None, walk: Walk::direct(34), real: GUEST_DATA + address })
        }
        fn host(&mut self, real: u64) -> Host {
            Pair.host(real)
        }
    }
    let companion = Builder::new("power9").unwrap().build();
    let pmu = Recorder::new();
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&demand_of_steps());
    let walk = NestedWalk { looked_up: false, cycles: [0, 390, 340, 340 + 20, 0, 0], ..NestedWalk::of(GuestLevel::Final) };
    assert_eq!(steps(&pmu, &mut follower, &mut Real, 0), [NestedStep::Walk(walk)]);
    // The page of 2 MiB serves all addresses in it.
    assert_eq!(steps(&pmu, &mut follower, &mut Real, 0x10_0000), []);
    assert_eq!(pmu.totals.get(Signal::DataTlbL2Misses2m), 1);
}

#[test]
fn walks_that_overlap_have_two_walkers() {
    // Independent loads of pages with nothing in common but directories.
    let companion = Builder::new("power9").unwrap().clock(Clock::Companion).build();
    let pmu = Recorder::new();
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&demand_of_steps());
    let walkers: Vec<Vec<u8>> = (0..4u64)
        .map(|page| {
            let steps = steps(&pmu, &mut follower, &mut Pair, page << 12);
            let walker = |step: &NestedStep| if let NestedStep::Walk(walk) = step { Some(walk.walker) } else { None };
            steps.iter().filter_map(walker).collect()
        })
        .collect();
    // The first takes 3,000 cycles and keeps the first walker busy; the others, of 61 each, follow each other on the second.
    assert_eq!(walkers, [vec![0; 6], vec![1; 2], vec![1; 2], vec![1; 2]]);
}

/// Guests of many processes with pages of each size, spread over memory that a host maps by pages of each size.
struct Spread;

/// Returns a number between 0 and `below`, deterministic by `seed`.
fn draw(seed: u64, below: u64) -> u64 {
    let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) % below
}

/// Returns a guest real address: in one of four kinds of host page, one of three areas of 1 GiB, one of four of 2 MiB in each, and any
/// page.
fn spread(seed: u64) -> u64 {
    let kind = draw(seed, 4) << 34;
    kind + (draw(seed ^ 1 << 50, 3) << 30) + (draw(seed ^ 1 << 51, 4) << 21) + (draw(seed ^ 1 << 52, 512) << 12)
}

impl PageTables for Spread {
    fn walk(&mut self, _address: u64) -> Walk {
        unreachable!("both trees are told")
    }

    fn nested(&mut self, address: u64) -> Option<Guest> {
        let (page_bits, levels) = [(12, 4), (16, 4), (21, 3), (30, 2)][(address >> 40 & 3) as usize];
        let entry = |level: u64, shift: u64| spread(address >> shift | level << 60) + (address >> shift) % 64 * 8;
        let entries = [entry(1, 39), entry(2, 30), entry(3, 21), entry(4, 12), 0];
        let process_entry = Some(spread(address >> 42 | 5 << 60));
        Some(Guest {
            process_entry,
            walk: Walk { entries, levels, page_bits, global: false },
            real: spread(address >> page_bits | 6 << 60),
        })
    }

    fn host(&mut self, real: u64) -> Host {
        let (page_bits, levels) = [(12, 4), (16, 4), (21, 3), (30, 2)][(real >> 34 & 3) as usize];
        let entry = |level: u64, shift: u64| (1 << 40) + level * 0x100_0000 + (real >> shift) * 8 % 0x100_0000;
        let entries = [entry(0, 39), entry(1, 30), entry(2, 21), entry(3, 12), 0];
        Host { walk: Walk { entries, levels, page_bits, global: false }, physical: real }
    }
}

/// Returns the steps of loads all over the guests.
fn all_steps() -> Vec<NestedStep> {
    let companion = Builder::new("power9").unwrap().clock(Clock::Companion).build();
    let pmu = Recorder::new();
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&demand_of_steps());
    let mut all = Vec::new();
    for number in 0..6_000u64 {
        // One of 32 processes, mostly one of the last pages, of each size.
        let (process, size) = (draw(number / 16, 32), draw(number, 4));
        let bits = [12, 16, 21, 30][size as usize];
        let page = draw(number / 40 * 8 + number % 8, 4_096) % (1 << (40 - bits));
        all.extend(steps(&pmu, &mut follower, &mut Spread, process << 42 | size << 40 | page << bits));
        if number % 50 == 49 {
            // The host reclaims a page of data that was used before.
            follower.invalidate(Invalidation::HostPage(spread(page | 6 << 60)));
        }
    }
    assert_eq!(follower.lost_nested_steps(), 0);
    all
}

/// Returns MMCR1 with the event with this code in PMC1: SEL in bits 7:0 of the code, COMB in 11:10, UNIT in 15:12 (section 5.15).
fn mmcr1(code: u64) -> u64 {
    (code & 0xFF) << 24 | (code >> 10 & 3) << 38 | (code >> 12 & 15) << 60
}

#[test]
fn every_event_of_nested_translation_is_counted() {
    let steps = all_steps();
    let (mut events, mut missing) = (0, Vec::new());
    for entry in POWER9.entries {
        let Drive::Internal(Internal::Nested(event)) = entry.drive else { continue };
        events += 1;
        let rig = Rig::new("power9", 1, 1);
        let thread = rig.machine.thread(0).unwrap();
        for (spr, value) in [(798, mmcr1(entry.select.into())), (795, 0)] {
            thread.write(vm_pmu_arch::access::Address::Spr(spr), value).unwrap();
        }
        // A cycle passes in which the new selection does not count.
        thread.totals().add(Signal::Cycles, 1);
        assert!(thread.demand().records().nested, "{}", entry.name);
        steps.iter().for_each(|step| thread.nested(step));
        let counted = thread.read(vm_pmu_arch::access::Address::Spr(787)).unwrap();
        assert_eq!(counted, steps.iter().map(|step| event.amount(step)).sum::<u64>(), "{}", entry.name);
        if counted == 0 {
            missing.push(entry.name);
        }
    }
    assert_eq!((events, missing), (210, Vec::new()));
}

#[test]
fn codes_of_a_level_add_up() {
    let steps = all_steps();
    let sum = |name: &str| {
        let entry = POWER9.entries.iter().find(|entry| entry.name == name).unwrap();
        let Drive::Internal(Internal::Nested(event)) = entry.drive else { panic!("{name} is of something else") };
        steps.iter().map(|step| event.amount(step)).sum::<u64>()
    };
    for level in ["ANY", "PRTE", "LVL1", "LVL2", "LVL3", "LVL4", "FIN"] {
        let of = |what: &str| sum(&["PM_RDXTLB_", level, "_NSTD_", what].concat());
        assert_eq!(of("ACC"), of("ANY_HST_HIT") + of("MISS"), "{level}");
        assert_eq!(of("ANY_HST_HIT"), ["4K_HST_HIT", "64K_HST_HIT", "2M_HST_HIT", "1G_HST_HIT"].map(of).iter().sum::<u64>(), "{level}");
        for walker in ["0", "1"] {
            let of = |what: &str| sum(&["PM_RDXWALK_TW", walker, "_", level, "_GST_", what].concat());
            let parts = ["TLB_ACC_HST", "LVL1_ACC_HST", "LVL2_ACC_HST", "LVL3_ACC_HST"].map(of).iter().sum::<u64>() + of("LVL4_ACC_HST");
            assert_eq!(of("ANY_HST"), parts, "{walker} {level}");
            if level != "FIN" {
                assert_eq!(of("ANY_HST_WITH_GST_MEM_ACC"), parts + of("MEM_ACC"), "{walker} {level}");
            }
        }
    }
    for guest in ["ANY", "4K", "64K", "2M", "1G"] {
        let of = |host: &str| sum(&["PM_RDXTLB_", guest, "_GST_", host, "_HST_HITHIT"].concat());
        assert_eq!(of("ANY"), ["4K", "64K", "2M", "1G"].map(of).iter().sum::<u64>(), "{guest}");
    }
}
