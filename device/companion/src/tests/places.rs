//! Counts of each memory channel.

use super::*;
use crate::{Place, Untranslated, parts};

const OF_PLACES: [Signal; 9] = [
    Signal::NearMemoryReads,
    Signal::NearMemoryWrites,
    Signal::MemorySideCacheHitsClean,
    Signal::MemorySideCacheHitsModified,
    Signal::MemorySideCacheMissesClean,
    Signal::MemorySideCacheMissesModified,
    Signal::MemorySideCacheMissesInvalid,
    Signal::MemoryReads,
    Signal::MemoryWrites,
];

fn taken(companion: &Companion) -> Vec<(Place, Signal, u64)> {
    let mut all = Vec::new();
    companion.take_places(|place, signal, amount| all.push((place, signal, amount)));
    all
}

fn sum(taken: &[(Place, Signal, u64)], signal: Signal) -> u64 {
    taken.iter().filter(|(_, of, _)| *of == signal).map(|(_, _, amount)| amount).sum()
}

#[test]
fn what_places_did_adds_up_to_the_totals() {
    for profile in parts::ALL {
        let threads = 2 * usize::from(profile.cores) * usize::from(profile.threads);
        let companion = Builder::of(profile).threads(threads).build();
        companion.watch_places(true);
        let rig = Rig::new(threads);
        let mut followers: Vec<_> = (0..threads).map(|number| (follow(&companion, number), Noise::new(21 + number as u64))).collect();
        for _ in 0..24_000 / threads {
            for (follower, noise) in &mut followers {
                noise.next(|instruction| rig.run(follower, instruction));
            }
        }
        let devices = &rig.devices[0];
        for number in 0..100 {
            companion.device_access(number * 0x1000, 64, number % 2 == 0, devices, &everything());
        }
        assert!(companion.has_places());
        let taken = taken(&companion);
        for signal in OF_PLACES {
            let total = rig.sum(&[signal]) + devices.get(signal);
            assert_eq!(sum(&taken, signal), total, "{} {}", profile.name, signal.name());
        }
        let mut places: Vec<Place> = taken.iter().map(|(place, _, _)| *place).collect();
        assert!(places.is_sorted(), "{}", profile.name);
        places.dedup();
        // Eight EDCs and two controllers of three channels; two of four ports; one channel elsewhere.
        let expected = match profile.name {
            "knl" => 8 + 6,
            "power9" => 8,
            _ => 1,
        };
        assert_eq!(places.len(), expected, "{}: {places:?}", profile.name);
        assert!(!companion.has_places());
    }
}

#[test]
fn nothing_is_kept_while_nobody_watches() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    rig.run(&mut follower, &Instruction { accesses: &[load(0x1_0000)], ..Instruction::default() });
    assert!(!companion.has_places() && taken(&companion).is_empty());
    companion.watch_places(true);
    rig.run(&mut follower, &Instruction { accesses: &[load(0x2_0000)], ..Instruction::default() });
    assert!(companion.has_places());
    // Watching again changes nothing; stopping drops the counts.
    companion.watch_places(true);
    assert!(companion.has_places());
    companion.watch_places(false);
    assert!(!companion.has_places() && taken(&companion).is_empty());
}

#[test]
fn a_follower_is_active_while_places_are_watched() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&Demand::default());
    assert!(!follower.is_active() && !follower.is_stale());
    companion.watch_places(true);
    assert!(follower.is_stale());
    follower.sync(&Demand::default());
    assert!(follower.is_active() && follower.follows_accesses() && !follower.is_stale());
    rig.run(&mut follower, &Instruction { accesses: &[load(0x1_0000)], ..Instruction::default() });
    assert!(companion.has_places());
    assert!(rig.all().iter().all(|total| *total == 0));
    companion.watch_places(false);
    follower.sync(&Demand::default());
    assert!(!follower.is_active());
}

#[test]
fn the_bandwidth_of_mcdram_comes_out_of_its_controllers() {
    // Section 3.1, in lines: reads are RPQ minus both misses, writes are WPQ minus reads of DDR.
    let companion = Builder::new("knl").unwrap().build();
    companion.watch_places(true);
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    // Lines 512 bytes apart, in the order of their numbers: nothing is adjacent.
    let mut each = |kind: AccessKind| {
        for line in 0..1000 {
            let access = Access { kind, ..load(0x100_0000 + line * 512) };
            follower.execute(&Instruction { length: 0, accesses: &[access], ..Instruction::default() }, &mut Untranslated(21));
            rig.deliver(&mut follower);
        }
        let taken = taken(&companion);
        let of = |signal| sum(&taken, signal);
        // The first lines fill empty places.
        let misses = [Signal::MemorySideCacheMissesClean, Signal::MemorySideCacheMissesModified, Signal::MemorySideCacheMissesInvalid];
        let misses: u64 = misses.map(of).iter().sum();
        [of(Signal::NearMemoryReads) - misses, of(Signal::NearMemoryWrites) - of(Signal::MemoryReads), of(Signal::MemoryReads)]
    };
    // From DDR into MCDRAM: no traffic between core and MCDRAM.
    assert_eq!(each(AccessKind::Load), [0, 0, 1000]);
    assert_eq!(each(AccessKind::Flush), [0, 0, 0]);
    assert_eq!(each(AccessKind::Load), [1000, 0, 0]);
    // Written in the caches, then evicted.
    assert_eq!(each(AccessKind::Store), [0, 0, 0]);
    assert_eq!(each(AccessKind::Flush), [0, 1000, 0]);
}

#[test]
fn what_nobody_has_taken_yet_is_saved() {
    let build = || Builder::new("knl").unwrap().build();
    let (first, second) = (build(), build());
    first.watch_places(true);
    let rig = Rig::new(1);
    let mut follower = follow(&first, 0);
    let mut noise = Noise::new(4);
    (0..500).for_each(|_| noise.next(|instruction| rig.run(&mut follower, instruction)));
    let saved = first.save(&[&follower]).unwrap();
    let mut other = follow(&second, 0);
    second.restore(&saved, &mut [&mut other]).unwrap();
    assert!(second.has_places());
    assert_eq!(taken(&second), taken(&first));
}

#[test]
fn every_line_has_one_home_among_38() {
    let companion = Builder::new("knl").unwrap().build();
    let mut lines = [0u32; 38];
    (0..38_000u64).for_each(|line| lines[usize::from(companion.home(line * 64))] += 1);
    assert!(lines.iter().all(|count| (900..=1100).contains(count)), "{lines:?}");
    assert_eq!(companion.home(0x1234_0000), companion.home(0x1234_003F));
    assert_eq!(Builder::new("k8").unwrap().build().home(0x1234_0000), 0);
}
