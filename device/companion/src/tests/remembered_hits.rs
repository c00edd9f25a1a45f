//! Lookups that a thread repeats without the lock of its cluster, beside others that find, change and take the same lines.

use super::short::counted;
use super::*;
use crate::outcome::Outcome;
use crate::{Clock, Invalidation, Profile, parts};

/// Counts and outcomes, state saved on the way, and the number of instructions that took a fast path.
type Done = (Vec<u64>, Vec<Outcome>, Vec<u64>, usize);

/// Returns a hash of a long list of bytes.
fn digest(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(7, |digest, word| {
        let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        (digest ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    })
}

/// Executes loads, stores, branches and additions in turn on the threads of two clusters, on pages of their own and a common one. They use
/// few lines, whose sets are the same in every page, so that most hit. Their code is in a few lines too, of pages of their own.
fn in_turn(profile: &Profile, clock: Clock, seed: u64, long: bool) -> Done {
    let (threads, cores) = (usize::from(profile.threads), usize::from(profile.cores));
    let all = 2 * threads * cores;
    let companion = Builder::of(profile).threads(all).clock(clock).build();
    let rig = Rig::new(all);
    let mut followers: Vec<_> = (0..all).map(|number| companion.follower(number).unwrap()).collect();
    let demand = if clock == Clock::Companion { counted() } else { everything() };
    for follower in &mut followers {
        follower.sync(&demand);
        if long {
            follower.go_the_long_way();
        }
    }
    let (mut noise, mut outcomes, mut saved) = (Noise::new(seed), Vec::new(), Vec::new());
    let (mut number, mut common) = (0, 3);
    for step in 0..6_000 {
        if noise.draw(6) == 0 {
            // Mostly the same thread of the other core. More than two threads per core would overflow one set.
            let cluster = threads * cores;
            number = match noise.draw(8) {
                0 => number / threads * threads + noise.draw(threads.min(2) as u64) as usize,
                1 => noise.draw(2) as usize * cluster,
                _ => number / cluster * cluster + (number % cluster + threads) % cluster,
            };
        }
        if noise.draw(600) == 0 {
            // Now and then all write to the common page.
            common = [40, 40, 3][noise.draw(3) as usize];
        }
        let follower = &mut followers[number];
        let own = [0, 0, 0, 1, 2, 3][noise.draw(6) as usize];
        let page = if noise.draw(common) == 0 { 0 } else { 1 + 4 * number as u64 + own };
        // Rarely used pages are in other sets.
        let line = if own > 1 { 512 } else { [0, 0, 0, 128, 256][noise.draw(5) as usize] };
        let address = 0x100_0000 + page * 0x1_0000 + line + noise.draw(8) * 8;
        let access = match noise.draw(40) {
            0 => Access { locked: true, ..store(address) },
            1..=12 => store(address),
            _ => Access { size: 1 << noise.draw(4), ..load(address) },
        };
        let page = [0, 0, 0, 0, 1, 2][noise.draw(6) as usize] + 3 * number as u64;
        let code = 0x7000 + page * 0x1_0000 + [0, 0, 0, 128, 512][noise.draw(5) as usize] + noise.draw(4) * 4;
        let branch = Transfer { kind: BranchKind::Conditional, taken: noise.draw(3) == 0, target: code + 4 };
        let (class, accesses, transfer): (_, &[Access], _) = match (noise.draw(8), access.kind) {
            (0, _) => (Class::Branch, &[], Some(branch)),
            (1 | 2, _) => (Class::Simple, &[], None),
            (_, AccessKind::Store) => (Class::Store, &[access], None),
            _ => (Class::Load, &[access], None),
        };
        let code = Instruction { address: code, physical: code, length: 4, ..Instruction::default() };
        rig.run(follower, &Instruction { class, accesses, transfer, ..code });
        outcomes.push(*follower.outcome());
        match noise.draw(3_000) {
            0 => follower.invalidate(Invalidation::Page(address)),
            1 => follower.invalidate(Invalidation::All),
            _ => {}
        }
        if step % 300 == 299 {
            let followers: Vec<_> = followers.iter().collect();
            saved.push(digest(&companion.save(&followers).unwrap()));
        }
    }
    (rig.all(), outcomes, saved, followers.iter().map(|follower| follower.shorts).sum())
}

#[test]
fn what_is_found_again_is_found_as_if_it_were_looked_up() {
    let clocks = [(Clock::Embedder, 1), (Clock::Embedder, 2), (Clock::Companion, 3)];
    for (profile, (clock, seed)) in parts::ALL.iter().flat_map(|profile| clocks.map(|clock| (profile, clock))) {
        let [short, long] = [false, true].map(|long| in_turn(profile, clock, seed, long));
        let told = short.1.iter().zip(&long.1).position(|(short, long)| short != long);
        assert_eq!(told.map(|number| (number, short.1[number], long.1[number])), None, "{}: what is told", profile.name);
        let counted: Vec<_> = short.0.iter().zip(&long.0).enumerate().filter(|(_, (short, long))| short != long).collect();
        assert!(counted.is_empty(), "{}: what is counted: {counted:?}", profile.name);
        let differ = short.2.iter().zip(&long.2).position(|(short, long)| short != long);
        assert_eq!(differ, None, "{}: which is the first that is saved otherwise", profile.name);
        // Otherwise nothing would be compared.
        assert!(short.3 > 3_000 && long.3 == 0, "{}: {} went a short way", profile.name, short.3);
    }
}

#[test]
fn a_second_follower_of_a_thread_leaves_nothing_known_to_the_first() {
    for profile in parts::ALL {
        let [short, long] = [false, true].map(|long| {
            let companion = Builder::of(profile).clock(Clock::Embedder).build();
            let rig = Rig::new(1);
            let mut followers = [companion.follower(0).unwrap(), companion.follower(0).unwrap()];
            for follower in &mut followers {
                follower.sync(&everything());
                if long {
                    follower.go_the_long_way();
                }
            }
            let code = Instruction { address: 0x7000, physical: 0x7000, length: 4, class: Class::Load, ..Instruction::default() };
            // Each uses its own line of a set twice, so that it remembers it as the most recently used of the set, which the other's then
            // is.
            for number in [0, 1, 0, 1] {
                let accesses = [load(0x100_0000 + 0x1_0000 * number as u64)];
                for _ in 0..2 {
                    rig.run(&mut followers[number], &Instruction { accesses: &accesses, ..code });
                }
            }
            companion.save(&[&followers[0]]).unwrap()
        });
        assert!(short == long, "{}", profile.name);
    }
}

/// Uses a page, then others whose translations displace it from the first level while its line stays there, and then the page again. The
/// page and the others are remembered in different places.
fn displaced(profile: &Profile, long: bool) -> (Vec<u64>, Vec<Outcome>, Vec<u8>) {
    let companion = Builder::of(profile).clock(Clock::Embedder).build();
    let rig = Rig::new(1);
    let mut follower = companion.follower(0).unwrap();
    follower.sync(&everything());
    if long {
        follower.go_the_long_way();
    }
    let (mut noise, mut outcomes) = (Noise::new(5), Vec::new());
    for round in 0..60 {
        // Lines in sets that nothing else uses, page walks included.
        let page = 0x100_0800 + 0x1_0000 * (round % 3);
        let others = noise.draw(200);
        // Pages whose numbers end in other digits.
        let addresses = (0..others).map(|_| 0x200_1100 + noise.draw(12) * 0x1_0000 + noise.draw(12) * 0x1000).collect::<Vec<_>>();
        for address in [page; 2].into_iter().chain(addresses).chain([page; 2]) {
            let accesses = [if noise.draw(4) == 0 { store(address) } else { load(address) }];
            let class = if accesses[0].kind == AccessKind::Store { Class::Store } else { Class::Load };
            rig.run(
                &mut follower,
                &Instruction { address: 0x7000, physical: 0x7000, length: 4, class, accesses: &accesses, ..Instruction::default() },
            );
            outcomes.push(*follower.outcome());
        }
    }
    (rig.all(), outcomes, companion.save(&[&follower]).unwrap())
}

#[test]
fn a_page_whose_translation_was_displaced_is_not_found_again() {
    for profile in parts::ALL {
        let [short, long] = [false, true].map(|long| displaced(profile, long));
        let told = short.1.iter().zip(&long.1).position(|(short, long)| short != long);
        assert_eq!(told.map(|number| (number, short.1[number], long.1[number])), None, "{}: what is told", profile.name);
        assert!(short.0 == long.0 && short.2 == long.2, "{}: what is counted or saved", profile.name);
    }
}

#[test]
fn what_another_core_reads_changes_the_order_of_use_that_stores_through_are_known_by() {
    for profile in parts::ALL.iter().filter(|profile| profile.cores > 1) {
        let [short, long] = [false, true].map(|long| {
            let threads = usize::from(profile.threads);
            let companion = Builder::of(profile).threads(2 * threads).clock(Clock::Embedder).build();
            let rig = Rig::new(2 * threads);
            let mut followers: Vec<_> = (0..2 * threads).map(|number| companion.follower(number).unwrap()).collect();
            for follower in &mut followers {
                follower.sync(&everything());
                if long {
                    follower.go_the_long_way();
                }
            }
            let code = Instruction { address: 0x7000, physical: 0x7000, length: 4, ..Instruction::default() };
            // Two pages of the size of a way of the second level, so that both lines are in one set.
            let accesses = [[store(0x100_0800)], [load(0x200_0800)]];
            for number in [0, 0, 0, 1, 0] {
                let class = [Class::Store, Class::Load][number];
                rig.run(&mut followers[number * threads], &Instruction { class, accesses: &accesses[number], ..code });
            }
            companion.save(&followers.iter().collect::<Vec<_>>()).unwrap()
        });
        assert!(short == long, "{}", profile.name);
    }
}
