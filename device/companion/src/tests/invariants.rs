//! Invariants of every stream.

use alloc::collections::{BTreeMap, BTreeSet};

use vm_pmu_arch::feed::Totals;

use super::*;
use crate::caches::Cluster;
use crate::caches::line::{Line, LineState};
use crate::{Bundle, Clock, DeviceOperation, DeviceRequest, Fill, Replacement, RestoreError, STATE_VERSION, parts};

/// Returns every valid line of a cluster: its outer number, and the strongest state there.
fn lines(cluster: &Cluster) -> BTreeMap<u64, LineState> {
    let mut all = BTreeMap::new();
    let mut see = |number: u64, state: LineState| {
        let strongest = all.entry(number).or_insert(state);
        *strongest = state.max(*strongest);
    };
    let bits = cluster.inner_bits();
    for caches in &cluster.cores {
        for word in caches.data.words().chain(caches.code.words()) {
            see(Line(word).number() >> bits, Line(word).state());
        }
    }
    for sets in [Some(&cluster.second), cluster.second_code.as_ref(), cluster.third.as_ref()].into_iter().flatten() {
        sets.words().for_each(|word| see(Line(word).number(), Line(word).state()));
    }
    all
}

#[test]
fn a_line_that_one_cluster_may_write_no_other_has() {
    for profile in parts::ALL {
        let threads = 3 * usize::from(profile.cores) * usize::from(profile.threads);
        let companion = Builder::of(profile).threads(threads).build();
        let rig = Rig::new(threads);
        let mut followers: Vec<_> = (0..threads).map(|number| (follow(&companion, number), Noise::new(1000 + number as u64))).collect();
        for round in 0..12_000 / threads {
            for (follower, noise) in &mut followers {
                noise.next(|instruction| rig.run(follower, instruction));
            }
            if round % 97 != 0 {
                continue;
            }
            let clusters: Vec<_> = companion.system.clusters.iter().map(|cluster| lines(&cluster.lock())).collect();
            for (number, here) in clusters.iter().enumerate() {
                for (line, state) in here.iter().filter(|(_, state)| state.writable()) {
                    let elsewhere = clusters.iter().enumerate().any(|(other, there)| other != number && there.contains_key(line));
                    assert!(!elsewhere, "{}: line {line:#x} is {state:?} in cluster {number} and in another", profile.name);
                }
                let owners = |line| clusters.iter().filter(|there| there.get(line).is_some_and(|state: &LineState| state.dirty())).count();
                assert!(here.keys().all(|line| owners(line) <= 1), "{}: two owners", profile.name);
            }
        }
    }
}

#[test]
fn a_line_is_once_in_a_set_and_an_inclusive_level_has_it_too() {
    for profile in parts::ALL {
        let threads = usize::from(profile.cores) * usize::from(profile.threads);
        let companion = Builder::of(profile).threads(threads).build();
        let rig = Rig::new(threads);
        let mut followers: Vec<_> = (0..threads).map(|number| (follow(&companion, number), Noise::new(5 + number as u64))).collect();
        for _ in 0..20_000 / threads {
            for (follower, noise) in &mut followers {
                noise.next(|instruction| rig.run(follower, instruction));
            }
        }
        let cluster = companion.system.clusters.first().unwrap().lock();
        let numbers = |sets: &crate::sets::Sets| {
            let mut all: Vec<u64> = sets.words().map(|word| Line(word).number()).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{}: a line twice", profile.name);
            all
        };
        let second = numbers(&cluster.second);
        let code = cluster.second_code.as_ref().map_or_else(|| second.clone(), numbers);
        let bits = cluster.inner_bits();
        for caches in &cluster.cores {
            let (data, fetched) = (numbers(&caches.data), numbers(&caches.code));
            let within = |line: &u64, level: &[u64]| level.binary_search(&(line >> bits)).is_ok();
            match profile.caches.second_fill {
                Fill::Inclusive => {
                    assert!(data.iter().all(|line| within(line, &second)), "{}: data beyond the second level", profile.name);
                    assert!(fetched.iter().all(|line| within(line, &code)), "{}: code beyond the second level", profile.name);
                }
                Fill::Victims => {
                    assert!(!data.iter().chain(&fetched).any(|line| within(line, &second)), "{}: a line in both levels", profile.name);
                }
            }
        }
        if let (Some((_, fill)), Some(third)) = (profile.caches.third, cluster.third.as_ref()) {
            let third = numbers(third);
            let has = |line: &u64| third.binary_search(line).is_ok();
            match fill {
                Fill::Inclusive => assert!(second.iter().chain(&code).all(has), "{}: a line beyond the third level", profile.name),
                Fill::Victims => assert!(!second.iter().any(has), "{}: a line in both levels", profile.name),
            }
        }
    }
}

#[test]
fn what_is_delivered_together_is_what_is_delivered_apart() {
    for profile in parts::ALL {
        // Idle link slots are counted on delivery, by their own rule.
        let idle = |signal: &Signal| signal.name().starts_with("link") && signal.name().ends_with("_idle");
        let run = |block: usize| {
            let companion = Builder::of(profile).clock(Clock::Companion).build();
            let rig = Rig::new(1);
            let (mut follower, mut noise) = (follow(&companion, 0), Noise::new(3));
            for number in 1..=4_000 {
                noise.next(|instruction| follower.execute(instruction, &mut Tables));
                if number % block == 0 {
                    rig.deliver(&mut follower);
                }
            }
            Signal::all().filter(|signal| !idle(signal)).map(|signal| rig.get(0, signal)).collect::<Vec<_>>()
        };
        let [apart, together] = [1, 40].map(run);
        let different: Vec<_> = Signal::all()
            .filter(|signal| !idle(signal))
            .zip(apart.iter().zip(&together))
            .filter(|(_, (apart, together))| apart != together)
            .collect();
        assert!(different.is_empty(), "{}: {different:?}", profile.name);
    }
}

#[test]
fn restored_it_goes_on_as_if_nothing_had_been() {
    for profile in parts::ALL {
        let random = crate::Profile {
            caches: crate::Caches { data: profile.caches.data.replaced(Replacement::Random), ..profile.caches },
            ..**profile
        };
        let threads = 2 * usize::from(profile.cores) * usize::from(profile.threads);
        let threads = 2 * threads;
        let builder = Builder::of(&random).aperture(0x4000_0000, 1 << 28).packages(2).threads(threads / 2).memory_per_package(0x2000_0000);
        let build = || builder.clock(Clock::Companion).seed(5).build();
        let step = |rig: &Rig, followers: &mut Vec<Follower<'_>>, noises: &mut Vec<Noise>, steps: usize| {
            for _ in 0..steps {
                for (follower, noise) in followers.iter_mut().zip(noises.iter_mut()) {
                    noise.next(|instruction| rig.run(follower, instruction));
                }
            }
        };
        let first = build();
        let mut followers: Vec<_> = (0..threads).map(|number| follow(&first, number)).collect();
        let mut noises: Vec<_> = (0..threads).map(|number| Noise::new(number as u64)).collect();
        step(&Rig::new(threads), &mut followers, &mut noises, 3_000 / threads);
        let saved = first.save(&followers.iter().collect::<Vec<_>>()).unwrap();

        let second = build();
        let mut others: Vec<_> = (0..threads).map(|number| follow(&second, number)).collect();
        second.restore(&saved, &mut others.iter_mut().collect::<Vec<_>>()).unwrap();
        assert!(second.save(&others.iter().collect::<Vec<_>>()).unwrap() == saved, "{}", profile.name);
        let mut same: Vec<_> = noises.to_vec();
        let (here, there) = (Rig::new(threads), Rig::new(threads));
        step(&here, &mut followers, &mut noises, 3_000 / threads);
        step(&there, &mut others, &mut same, 3_000 / threads);
        assert!(here.all() == there.all(), "{}", profile.name);
    }
}

#[test]
fn a_pipeline_of_bundles_goes_on_where_it_was_saved_and_reports_the_same_in_one_step() {
    let montecito = crate::parts::MONTECITO;
    let run = |profile: &crate::Profile, block: usize, restores: bool| {
        let build = || Builder::of(profile).threads(1).clock(Clock::Companion).build();
        let (first, second, rig) = (build(), build(), Rig::new(1));
        let (mut here, mut there, mut count) = (follow(&first, 0), follow(&second, 0), 0);
        let mut drive = |follower: &mut Follower<'_>, seed: u64| {
            bundles::wander(seed, 1_000, |instruction| {
                follower.execute(instruction, &mut Tables);
                count += 1;
                if count % block == 0 {
                    rig.deliver(follower);
                }
            });
            rig.deliver(follower);
        };
        drive(&mut here, 1);
        if restores {
            second.restore(&first.save(&[&here]).unwrap(), &mut [&mut there]).unwrap();
        }
        drive(if restores { &mut there } else { &mut here }, 2);
        rig.all()
    };
    for profile in [&montecito, &parts::ITANIUM] {
        assert!(run(profile, 1, false) == run(profile, 1, true));
        // More runs of clocks than are kept in order.
        assert!(run(profile, 1, false) == run(profile, 1_500, false));
    }
}

#[test]
fn saved_bytes_that_do_not_fit_are_refused_and_change_nothing() {
    let companion = Builder::new("k8").unwrap().build();
    let mut follower = follow(&companion, 0);
    let rig = Rig::new(1);
    let mut noise = Noise::new(1);
    (0..500).for_each(|_| noise.next(|instruction| rig.run(&mut follower, instruction)));
    let saved = companion.save(&[&follower]).unwrap();
    let mut restore = |bytes: &[u8]| {
        let result = companion.restore(bytes, &mut [&mut follower]);
        assert!(result.is_ok() || companion.save(&[&follower]).unwrap() == saved);
        result
    };
    assert_eq!(restore(&saved), Ok(()));
    assert_eq!(restore(&[]), Err(RestoreError::NotAState));
    assert_eq!(restore(&[0; 4096]), Err(RestoreError::NotAState));
    assert_eq!(restore(saved.get(..saved.len() - 8).unwrap()), Err(RestoreError::Damaged));
    let changed = |at: usize| {
        let mut bytes = saved.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    assert_eq!(restore(&changed(8)), Err(RestoreError::Version { saved: STATE_VERSION ^ 0x40 }));
    assert_eq!(restore(&changed(16)), Err(RestoreError::Shape));
    assert_eq!(restore(&changed(saved.len() / 2)), Err(RestoreError::Damaged));
    assert_eq!(companion.save(&[]), Err(RestoreError::Followers));
}

/// Pages of every size that POWER9 distinguishes, for code and for data, with entries of each level all over the caches.
struct Sizes;

impl PageTables for Sizes {
    fn walk(&mut self, address: u64) -> Walk {
        let (page_bits, levels) = match address {
            0x50_0000..0x60_0000 | 0x300_0000..0x310_0000 => (16, 4),
            0x60_0000..0x80_0000 | 0x4000_0000..0x4800_0000 => (21, 3),
            0x4800_0000.. => (30, 2),
            _ => (12, 4),
        };
        let entry = |level: u64| 0x7000_0000 + level * 0x100_0000 + (address >> 16) % 0x4000 * 128;
        Walk { entries: [entry(3), entry(2), entry(1), entry(0), 0], levels, page_bits, global: false }
    }
}

/// Reports loads from memory, each followed by more than a core of POWER9 has in flight: first instructions that write no register, then
/// taken branches.
fn crowd(mut report: impl FnMut(&Instruction<'_>)) {
    let nothing = Some(Operation::default());
    for (address, jumps) in [(0x4700_0000, false), (0x4702_0000, true)] {
        let access = Access { address, physical: address, size: 8, ..Access::default() };
        let load = Instruction { class: Class::Load, operation: nothing, accesses: &[access], ..Instruction::default() };
        report(&load);
        for number in 0..400 {
            let here = 0x40_0000 + 64 * (number & 1);
            let target = 0x40_0000 + 64 * (1 - (number & 1));
            let transfer = Transfer { kind: BranchKind::DirectJump, taken: true, target };
            let plain = Instruction { address: here, physical: here, length: 4, operation: nothing, ..Instruction::default() };
            let jump = Instruction { class: Class::Branch, transfer: Some(transfer), ..plain };
            let other = Instruction { length: 0, ..plain };
            report(if jumps { &jump } else { &other });
        }
    }
}

/// Reports multiplications of the first Itanium: two pairs in a group, which are eight operations, and a single one.
fn multiply(mut report: impl FnMut(&Instruction<'_>)) {
    const MFI: u8 = 0x0C;
    const NOP: u64 = 1 << 27;
    // fpma f8=f3,f4,f2 and fmpy f8=f3,f4.
    let (pair, single) = (9 << 37 | 1 << 36 | 4 << 27 | 3 << 20 | 2 << 13, 8 << 37 | 4 << 27 | 3 << 20);
    for (number, (stop, word)) in [(0, pair), (1, pair), (1, single)].into_iter().enumerate() {
        let address = 0x60_0000 + 16 * number as u64;
        let bundle = Bundle::new(MFI | stop, [NOP, word, NOP]);
        for slot in 0..3 {
            let bundle = Some(bundle.at(slot));
            report(&Instruction { address, physical: address, length: 16, bundle, ..Instruction::default() });
        }
    }
}

/// Sink of instructions of two threads.
type Report<'a> = dyn FnMut(bool, &Instruction<'_>) + 'a;

/// Reports an access as an instruction of one of two threads.
fn access_of(class: Class, access: Access) -> impl FnOnce(&mut Report<'_>, bool) {
    move |report, second| {
        let writes: &[Register] = if class == Class::Load { &[Register(1)] } else { &[] };
        let operation = Some(Operation { width: 8, writes, ..Operation::default() });
        report(second, &Instruction { class, operation, accesses: &[access], ..Instruction::default() });
    }
}

/// Reports instructions of two POWER9 threads of a core: the first has operations in flight when the second begins, in cycles in which the
/// first has taken the resources that it needs.
fn rivals(round: u64, mut report: impl FnMut(bool, &Instruction<'_>)) {
    let at = |address| Access { address, physical: address, size: 8, ..Access::default() };
    let from_memory = |number: u64| at(0x4100_0000 + (round * 64 + number) * 0x2000);
    let hit = |slice: u64| at(0x100_0000 + 8 * slice);
    let (one, two) = ([Register(1)], [Register(2)]);
    let plain = Instruction {
        class: Class::Simple,
        operation: Some(Operation { width: 8, writes: &two, ..Operation::default() }),
        ..Instruction::default()
    };
    let chained = Operation { width: 8, reads: &one, writes: &one, ..Operation::default() };
    // The second has nothing in flight, and all its loads hit the first level.
    for slice in 0..4 {
        access_of(Class::Load, hit(slice))(&mut report, true);
    }
    report(true, &Instruction { class: Class::Serializing, operation: Some(Operation::default()), ..Instruction::default() });
    let load = |access| access_of(Class::Load, access);
    let store = |access: Access| access_of(Class::Store, Access { kind: AccessKind::Store, ..access });
    match round % 9 {
        0 => {
            // The load queue of a slice, and the recirculation queue.
            let slice = round / 9 % 2;
            for number in 0..32 {
                let there = from_memory(number);
                load(Access { address: there.address + 8 * slice, physical: there.physical + 8 * slice, ..there })(&mut report, false);
            }
            load(hit(slice))(&mut report, true);
            load(hit(slice + 2))(&mut report, true);
        }
        1 => {
            // The miss queue.
            for number in 0..16 {
                let mut access = from_memory(number);
                access.address += 8 * number;
                access.physical += 8 * number;
                load(access)(&mut report, false);
            }
            load(from_memory(60))(&mut report, true);
        }
        2 => {
            // The history buffer.
            load(from_memory(0))(&mut report, false);
            (0..140).for_each(|_| report(false, &plain));
            report(true, &plain);
        }
        3 => {
            // The issue queues.
            load(from_memory(0))(&mut report, false);
            (0..60).for_each(|_| report(false, &Instruction { operation: Some(chained), ..plain }));
            report(true, &plain);
        }
        4 => {
            // Stores to one slice, some of which have to be translated first; the second thread stores there too.
            for number in 0..40 {
                for second in [false, true] {
                    store(if number % 2 == 0 { hit(4 * number) } else { from_memory(number) })(&mut report, second);
                }
            }
        }
        5 => {
            // A barrier, and a later load of a line that the other thread writes.
            (0..8).for_each(|number| store(hit(64 + 16 * number))(&mut report, true));
            report(true, &Instruction { class: Class::Fence, operation: Some(Operation::default()), ..Instruction::default() });
            store(hit(0))(&mut report, false);
            load(hit(0))(&mut report, true);
        }
        6 => {
            // Additions that compete for the second's ports, and branches whose flushes delay it.
            for number in 0..200 {
                report(false, &plain);
                report(number % 3 == 0, &plain);
            }
            let class = Class::FloatDivide;
            (0..16).for_each(|_| report(false, &Instruction { class, ..plain }));
            // A store whose address is late, and a load of its bytes, at its own address or at another.
            for address in [0x100_0000, 0x100_0000, 0x180_0000] {
                report(false, &Instruction { class: Class::SignedDivide, operation: Some(chained), ..plain });
                let access = Access { kind: AccessKind::Store, ..at(0x100_0000) };
                let operation = Some(Operation { width: 8, addresses: &one, ..Operation::default() });
                report(false, &Instruction { class: Class::Store, operation, accesses: &[access], ..Instruction::default() });
                let access = Access { address, ..at(0x100_0000) };
                let load = Instruction { class: Class::Load, operation: plain.operation, accesses: &[access], ..Instruction::default() };
                report(false, &Instruction { address, ..load });
            }
        }
        7 => {
            // The queue of accesses that wait for translations.
            let untranslated = |number: u64| at(0x10_0000_0000 + ((round * 16 + number) << 24));
            (0..8).for_each(|number| load(untranslated(number))(&mut report, false));
            load(untranslated(8))(&mut report, true);
        }
        _ => {
            // Finished loads behind an unfinished one, and then stores.
            load(from_memory(0))(&mut report, false);
            (0..80).for_each(|number| load(hit(number % 2 + round / 9 % 2 * 2))(&mut report, false));
            load(from_memory(1))(&mut report, false);
            (0..80).for_each(|number| store(hit(number))(&mut report, false));
        }
    }
}

/// Reports streams that POWER9's prefetcher runs ahead of, and first uses of the prefetched lines: loads, fetches and walks, from the
/// second level and, where other lines of their set have been loaded in between, from the third; and unused ones.
fn prefetched(mut report: impl FnMut(&Instruction<'_>)) {
    /// Distances of lines of one set of the second level, and of both levels.
    const SECOND: u64 = 0x1_0000;
    const BOTH: u64 = 0x8_0000;
    // The first line of a stream, the interfering lines, and the addresses then loaded and executed: the data themselves, or pages that
    // nothing else uses, whose entries are the data.
    let entries = |page: u64| (0x7000_0000 + page * 128, (page + 3) << 16, (page + 4) << 16);
    let data = |first: u64| (first, first + 3 * 128, first + 4 * 128);
    let streams = [
        (entries(0x3000), 0, 0),
        (data(0x6800_0000), 0, 0),
        (entries(0x3100), SECOND, 8),
        (data(0x6810_0000), SECOND, 8),
        (data(0x6820_0000), BOTH, 40),
    ];
    for ((first, loaded, executed), apart, others) in streams {
        let mut load_of = |address: u64| report(&Instruction { class: Class::Load, accesses: &[load(address)], ..Instruction::default() });
        // Lines 3 and 4 are prefetched.
        (0..3).for_each(|line| load_of(first + line * 128));
        for line in [3, 4] {
            (1..=others).for_each(|number| load_of(first + line * 128 + number * apart));
        }
        load_of(loaded);
        report(&Instruction { address: executed, physical: executed, length: 4, ..Instruction::default() });
    }
}

/// Reports a full write-combining buffer and a half-full one, which noise rarely produces.
fn written_out(mut report: impl FnMut(&Instruction<'_>)) {
    for offset in [0, 16, 32, 48, 64, 80] {
        let piece = Access { kind: AccessKind::StreamingStore, size: 16, ..load(0x1800_0000 + offset) };
        report(&Instruction { class: Class::Store, accesses: &[piece], ..Instruction::default() });
    }
    report(&Instruction { class: Class::Fence, ..Instruction::default() });
}

/// Reports prefetches of so many consecutive lines that a small third level evicts others for them.
fn displaced(mut report: impl FnMut(&Instruction<'_>)) {
    for line in 0..2_000 {
        let access = Access { kind: AccessKind::PrefetchLoad, ..load(0x1000_0000 + 128 * line) };
        report(&Instruction { class: Class::Load, accesses: &[access], ..Instruction::default() });
    }
}

/// Returns machines of the part: two packages; for the K8 also six, with three links and an aperture; for POWER9 also four, in two groups,
/// with every place that its machines can have and small caches.
fn machines(profile: &crate::Profile) -> Vec<(Builder, usize)> {
    let plain = (Builder::of(profile), 2);
    match profile.name {
        "power9" => {}
        "montecito" => {
            let third = Some((crate::CacheGeometry::lru(64 << 10, 4), Fill::Inclusive));
            let profile = crate::Profile { caches: crate::Caches { third, ..profile.caches }, ..*profile };
            return Vec::from([plain, (Builder::of(&profile), 2)]);
        }
        "k8" => return Vec::from([plain, (Builder::of(profile).aperture(0x4000_0000, 1 << 28), 6)]),
        _ => return Vec::from([plain]),
    }
    let small = |bytes| crate::CacheGeometry::lru(bytes, 8);
    let second = crate::SecondLevel::Unified(small(32 << 10));
    let third = Some((small(128 << 10), Fill::Victims));
    let memory = crate::MemoryGeometry { buffer_bytes: 256 << 10, ..profile.memory };
    let profile = crate::Profile { caches: crate::Caches { second, third, ..profile.caches }, memory, ..*profile };
    Vec::from([plain, (Builder::of(&profile).packages_per_group(2).buffered().lent_clusters(1), 4)])
}

/// Runs everything on one machine of the part. Returns the names of the signals that occur, and of those that it claims to supply.
fn made_and_said(name: &str, cores: usize, builder: Builder, packages: usize) -> [BTreeSet<&'static str>; 2] {
    let threads = 2 * cores;
    let companion = builder.packages(packages).threads(threads).memory_per_package(0x2000_0000).clock(Clock::Companion).build();
    let rig = Rig::new(packages * threads);
    let mut followers: Vec<_> = (0..packages * threads).map(|number| (follow(&companion, number), Noise::new(number as u64))).collect();
    for round in 0..24_000 / threads {
        for (follower, noise) in &mut followers {
            noise.next(|instruction| match name {
                "power9" => follower.execute(instruction, &mut Sizes),
                _ => follower.execute(instruction, &mut Tables),
            });
            if round % 20 == 0 {
                rig.deliver(follower);
            }
        }
    }
    if name == "power9" {
        // Lines of hot data.
        let request = DeviceRequest { physical: 0x100_0000, size: 4096, operation: DeviceOperation::Inject, ..DeviceRequest::default() };
        companion.device(&request, &Totals::new(), &everything());
    }
    for follower in &mut followers {
        let number = follower.0.number() as u64;
        bundles::wander(number, 2_000, |instruction| rig.run(&mut follower.0, instruction));
        crowd(|instruction| rig.run(&mut follower.0, instruction));
        multiply(|instruction| rig.run(&mut follower.0, instruction));
        stalls::waits(0x6000_0000 + (number << 20), |instruction| rig.run(&mut follower.0, instruction));
    }
    if name == "itanium" || name == "montecito" {
        code::ahead(0x1_0000_0000, |other, instruction| rig.run(&mut followers[if other { threads } else { 0 }].0, instruction));
        followers[0].0.invalidate(crate::Invalidation::All);
        rig.deliver(&mut followers[0].0);
    }
    written_out(|instruction| rig.run(&mut followers[0].0, instruction));
    if name == "montecito" {
        displaced(|instruction| rig.run(&mut followers[0].0, instruction));
        second::crowd(|instruction| rig.run(&mut followers[0].0, instruction));
    }
    if name == "power9" {
        for round in 0..27 {
            rivals(round, |second, instruction| rig.run(&mut followers[usize::from(second)].0, instruction));
        }
        prefetched(|instruction| {
            followers[0].0.execute(instruction, &mut Sizes);
            rig.deliver(&mut followers[0].0);
        });
    }
    let names = |is: &dyn Fn(Signal) -> bool| Signal::all().filter(|signal| is(*signal)).map(Signal::name).collect();
    [names(&|signal| rig.sum(&[signal]) != 0), names(&|signal| companion.supplies(signal))]
}

#[test]
fn what_it_says_it_makes_it_makes_and_nothing_else() {
    for profile in parts::ALL {
        let cores = usize::from(profile.cores) * usize::from(profile.threads);
        let [mut made, mut said] = [BTreeSet::new(), BTreeSet::new()];
        for (builder, packages) in machines(profile) {
            let [here, supplied] = made_and_said(profile.name, cores, builder, packages);
            assert!(here.is_subset(&supplied), "{}: makes {:?}", profile.name, here.difference(&supplied));
            made.extend(here);
            said.extend(supplied);
        }
        let missing: Vec<_> = said.difference(&made).collect();
        assert!(missing.is_empty(), "{}: does not make {missing:?}", profile.name);
    }
}

#[test]
fn a_follower_that_nobody_asks_does_nothing() {
    let companion = Builder::new("k8").unwrap().clock(Clock::Companion).build();
    let rig = Rig::new(1);
    let mut follower = companion.follower(0).unwrap();
    let before = companion.save(&[&follower]).unwrap();
    follower.sync(&Demand::default());
    assert!(!follower.is_active() && !follower.keeps_time());
    let mut noise = Noise::new(1);
    (0..500).for_each(|_| noise.next(|instruction| rig.run(&mut follower, instruction)));
    assert!(rig.all().iter().all(|total| *total == 0));
    assert!(companion.save(&[&follower]).unwrap() == before);
}
