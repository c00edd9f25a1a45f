//! Fast paths do the same as the general one: in every signal, in every outcome and in saved state.

use super::*;
use crate::outcome::Outcome;
use crate::pipeline::takes_the_long_way;
use crate::{Bundle, Clock, Invalidation, Profile, parts};

/// Reports a stream in which most instructions only compute: up to 60 of them after each noise instruction.
fn computing(seed: u64, steps: usize, mut report: impl FnMut(&Instruction<'_>)) {
    let mut noise = Noise::new(seed);
    for _ in 0..steps {
        noise.next(&mut report);
        let (mut address, length) = (0x7000 + noise.draw(64) * 4, 4 * noise.draw(2) as u8);
        // Few registers make chains, many make independent instructions.
        let registers = [2, 8, 40][noise.draw(3) as usize];
        for _ in 0..noise.draw(60) {
            let drawn: [Register; 4] = core::array::from_fn(|_| Register(noise.draw(registers) as u16));
            let [reads, writes] = [noise.draw(4) as usize, noise.draw(3) as usize];
            let operation =
                Operation { width: 8, reads: &drawn[..reads], addresses: &drawn[3..], writes: &drawn[..writes], ..Operation::default() };
            let operation = (noise.draw(8) != 0).then_some(operation);
            let class = [Class::Simple, Class::Shift, Class::AddressScaled, Class::Nop, Class::Multiply][noise.draw(5) as usize];
            report(&Instruction { address, physical: address, length, class, operation, ..Instruction::default() });
            address += u64::from(length);
        }
    }
}

/// Reports a stream in which most instructions hit: loads, stores, branches and additions in a page of code, on a few lines of data, some
/// 40 after each noise instruction.
fn hitting(seed: u64, steps: usize, mut report: impl FnMut(&Instruction<'_>)) {
    let mut noise = Noise::new(seed);
    for _ in 0..steps {
        if noise.draw(3) == 0 {
            noise.next(&mut report);
        }
        let mut address = 0x7000 + noise.draw(256) * 4;
        let registers = [2, 8, 40][noise.draw(3) as usize];
        // A few lines of one page, and now and then of others.
        let first = 0x100_0000 + [0, 0, 0, 0x1000, 0x8000][noise.draw(5) as usize];
        for _ in 0..noise.draw(80) {
            let length = if noise.draw(32) == 0 { 0 } else { 1 + noise.draw(8) as u8 };
            let drawn: [Register; 4] = core::array::from_fn(|_| Register(noise.draw(registers) as u16));
            let [reads, writes] = [noise.draw(3) as usize, noise.draw(3) as usize];
            let [width, prefixes] = [1 << noise.draw(4), if noise.draw(64) == 0 { 5 } else { 0 }];
            let operation = Operation {
                width,
                prefixes,
                reads: &drawn[..reads],
                addresses: &drawn[2..2 + noise.draw(2) as usize],
                writes: &drawn[..writes],
                ..Operation::default()
            };
            let operation = (noise.draw(16) != 0).then_some(operation);
            let data = first + noise.draw(64) * 8 + if noise.draw(16) == 0 { noise.draw(8) } else { 0 };
            let (size, locked) = (1 << noise.draw(5), noise.draw(64) == 0);
            let accesses = [Access { size, locked, ..load(data) }, Access { size, locked, ..store(data) }];
            let kinds = [BranchKind::DirectJump, BranchKind::DirectCall, BranchKind::IndirectJump, BranchKind::Return];
            let back = Transfer {
                kind: if noise.draw(4) == 0 { kinds[noise.draw(4) as usize] } else { BranchKind::Conditional },
                taken: noise.draw(4) == 0,
                target: 0x7000 + noise.draw(64) * 16,
            };
            let near = |kind| Some(Transfer { kind, taken: true, ..back });
            let (class, accesses, transfer): (_, &[Access], _) = match noise.draw(18) {
                16 => (Class::Call, &accesses[1..], near(BranchKind::DirectCall)),
                17 => (Class::Return, &accesses[..1], near(BranchKind::Return)),
                0..=3 => (Class::Load, &accesses[..1], None),
                4 | 5 => (Class::Store, &accesses[1..], None),
                6 => (Class::Push, &accesses[1..], None),
                7 => ([Class::Simple, Class::Pop][noise.draw(2) as usize], &accesses[..1], None),
                8 => (Class::Simple, &accesses[1..], None),
                9 => (Class::Simple, &accesses[..], None),
                10..=12 => (Class::Branch, &[], Some(Transfer { taken: back.taken || back.kind != BranchKind::Conditional, ..back })),
                13 => (Class::ALL[noise.draw(Class::ALL.len() as u64) as usize], &[], None),
                _ => (Class::Simple, &[], None),
            };
            let floating_point = noise.draw(32) == 0;
            let segment_loads = u8::from(noise.draw(128) == 0);
            let code = Instruction { address, physical: address, length, class, operation, ..Instruction::default() };
            report(&Instruction { accesses, transfer, floating_point, segment_loads, ..code });
            address = match transfer {
                Some(Transfer { taken: true, target, .. }) => target,
                _ => address + u64::from(length),
            };
        }
    }
}

/// Reports a stream in which up to 150 instructions that hit follow each load that misses. Half of them need its data, so that queues fill.
/// Some wait for earlier instructions.
fn waiting(seed: u64, steps: u64, mut report: impl FnMut(&Instruction<'_>)) {
    let mut noise = Noise::new(seed);
    let missing = [Register(1)];
    for step in 0..steps {
        let far = [load(0x800_0000 + step * 0x1_1040)];
        let operation = Operation { width: 8, writes: &missing, ..Operation::default() };
        let code = Instruction { address: 0x7000, physical: 0x7000, length: 4, ..Instruction::default() };
        report(&Instruction { class: Class::Load, accesses: &far, operation: Some(operation), ..code });
        // Branches, or accesses, are few or many.
        let [branches, accesses] = [1 + noise.draw(4), 1 + noise.draw(4)];
        for number in 0..noise.draw(150) {
            let address = 0x7004 + number % 200 * 4;
            let own = [Register(8 + noise.draw(30) as u16)];
            let reads: &[Register] = if noise.draw(2) == 0 { &missing } else { &own };
            let code = Instruction { address, physical: address, ..code };
            let near = [load(0x100_0000 + noise.draw(64) * 8)];
            let operation = Operation { width: 8, reads, writes: &own, ..Operation::default() };
            let waits = Operation { addresses: reads, reads: &[], ..operation };
            let transfer = Transfer { kind: BranchKind::Conditional, taken: noise.draw(2) == 0, target: address + 4 };
            let seldom = [Class::Fence, Class::TranslationInvalidation][noise.draw(2) as usize];
            report(&match noise.draw(8) {
                _ if noise.draw(60) == 0 => Instruction { class: seldom, operation: Some(operation), ..code },
                drawn if drawn < accesses => Instruction { class: Class::Load, accesses: &near, operation: Some(waits), ..code },
                6.. if branches == 1 => Instruction { class: Class::Branch, operation: Some(operation), transfer: Some(transfer), ..code },
                _ => Instruction { operation: Some(operation), ..code },
            });
        }
    }
}

/// Reports a stream of bundles most of which hit: loads, stores, additions, compares and branches in two pages of code, on a few lines of
/// data, some 40 bundles after each noise instruction.
fn bundled(seed: u64, steps: usize, mut report: impl FnMut(&Instruction<'_>)) {
    use crate::ia64_register::{FLOATING, PREDICATES};
    const ADD: u64 = 8 << 37;
    const COMPARE: u64 = 0xC << 37;
    const LD8: u64 = 4 << 37 | 3 << 30;
    const LDFD: u64 = 6 << 37 | 3 << 30;
    const ST8: u64 = 4 << 37 | 0x33 << 30;
    const BRANCH: u64 = 4 << 37;
    const PRESAGE: u64 = 7 << 37 | 1 << 35;
    let mut noise = Noise::new(seed);
    for _ in 0..steps {
        if noise.draw(3) == 0 {
            noise.next(&mut report);
        }
        let mut address = 0x7000 + noise.draw(256) * 16;
        let registers = [2, 8, 40][noise.draw(3) as usize];
        let first = 0x100_0000 + [0, 0, 0, 0x1000, 0x8000][noise.draw(5) as usize];
        for _ in 0..noise.draw(80) {
            // MII, MMI, MFI, MIB, MBB and BBB, with a stop at the end or not.
            let template = [0x00, 0x00, 0x08, 0x0C, 0x10, 0x12, 0x16][noise.draw(7) as usize];
            let memory = template != 0x16;
            let float = noise.draw(4) == 0;
            let loads = noise.draw(3) != 0;
            let word = match (memory, loads, float) {
                (false, ..) => BRANCH,
                (_, true, true) => LDFD,
                (_, true, false) => LD8,
                _ => ST8,
            };
            let hints = noise.draw(4) << 33 | noise.draw(2) << 12 | [0, 2, 5][noise.draw(3) as usize] << 6 | noise.draw(8);
            let last = match (template, noise.draw(6)) {
                (0x10.., 0) => PRESAGE | noise.draw(64) << 13,
                (0x10.., _) => BRANCH | hints,
                _ => ADD,
            };
            let middle = if template >= 0x12 { BRANCH | hints } else { [ADD, COMPARE][noise.draw(2) as usize] };
            let bundle = Bundle::new(template | noise.draw(2) as u8, [word, middle, last]);
            let mut next = None;
            for slot in 0..3 {
                let drawn: [Register; 4] = core::array::from_fn(|_| match noise.draw(8) {
                    0 => Register(PREDICATES + noise.draw(16) as u16),
                    1 => Register(FLOATING + noise.draw(8) as u16),
                    _ => Register(noise.draw(registers) as u16),
                });
                let [reads, writes] = [noise.draw(3) as usize, noise.draw(3) as usize];
                let (reads, addresses, writes) = (&drawn[..reads], &drawn[2..2 + noise.draw(2) as usize], &drawn[..writes]);
                let operation =
                    Some(Operation { width: 8, reads, addresses, writes, may_trap: noise.draw(32) == 0, ..Operation::default() });
                let data = first + noise.draw(64) * 8 + if noise.draw(16) == 0 { noise.draw(8) } else { 0 };
                let (size, locked) = (1 << noise.draw(5), noise.draw(64) == 0);
                let accesses = [Access { size, locked, ..load(data) }, Access { size, locked, ..store(data) }];
                let branches = bundle.branches() >> slot & 1 != 0;
                let transfer = branches.then(|| Transfer {
                    kind: [BranchKind::Conditional, BranchKind::DirectJump, BranchKind::DirectCall][noise.draw(3) as usize],
                    taken: noise.draw(4) == 0,
                    target: 0x7000 + noise.draw(256) * 16,
                });
                let (class, accesses): (_, &[Access]) = match (slot, word) {
                    (0, LD8 | LDFD) => (Class::Load, &accesses[..1]),
                    (0, ST8) => (Class::Store, &accesses[1..]),
                    _ if branches => (Class::Branch, &[]),
                    _ => (Class::Simple, &[]),
                };
                let length = if slot == 0 || noise.draw(16) == 0 { 16 } else { 0 };
                let code = Instruction {
                    address,
                    physical: address,
                    length,
                    class,
                    operation,
                    bundle: Some(bundle.at(slot)),
                    ..Instruction::default()
                };
                report(&Instruction { accesses, transfer, ..code });
                if let Some(Transfer { taken: true, target, .. }) = transfer {
                    next = Some(target);
                    break;
                }
            }
            address = next.unwrap_or(address + 16);
        }
    }
}

/// Counts and outcomes, saved state, and the number of instructions that took a fast path.
type Done = (Vec<u64>, Vec<Outcome>, Vec<u8>, usize);

/// Runs a stream on the first thread of a machine. Other clusters and cores occasionally take its lines, or invalidate its translations.
/// The second thread of its core, if any, runs at the same time, or not.
fn run(
    profile: &Profile,
    (demand, clock, competes): (&Demand, Clock, bool),
    long: bool,
    stream: impl Fn(&mut dyn FnMut(&Instruction<'_>)),
) -> Done {
    let (threads, cores) = (usize::from(profile.threads), usize::from(profile.cores));
    let companion = Builder::of(profile).threads(threads * cores + 1).clock(clock).build();
    let rig = Rig::new(threads * cores + 1);
    let mut others: Vec<_> = (0..=threads * cores).map(|number| companion.follower(number).unwrap()).collect();
    let mut follower = others.remove(0);
    for follower in others.iter_mut().filter(|other| other.number() % threads == 0).chain([&mut follower]) {
        follower.sync(demand);
        if long {
            follower.go_the_long_way();
        }
    }
    if competes && threads > 1 {
        others[0].set_halted(false);
    }
    let (mut noise, mut outcomes) = (Noise::new(77), Vec::new());
    stream(&mut |instruction| {
        follower.execute(instruction, &mut Tables);
        if noise.draw(4) != 0 {
            rig.deliver(&mut follower);
        }
        outcomes.push(*follower.outcome());
        match noise.draw(200) {
            0 => {
                // A thread of another core, or of another cluster.
                let number = threads * (1 + noise.draw(cores as u64) as usize) - 1;
                let address = 0x100_0000 + noise.draw(64) * 8;
                let access = if noise.draw(2) == 0 { load(address) } else { store(address) };
                let address = if noise.draw(8) == 0 { 0x7000 + noise.draw(64) * 8 } else { 0x40_0000 };
                let code = Instruction { address, physical: address, length: 4, ..Instruction::default() };
                let writes_code = noise.draw(8) == 0;
                let access = if writes_code { store(0x7000 + noise.draw(64) * 16) } else { access };
                rig.run(&mut others[number], &Instruction { accesses: &[access], ..code });
            }
            1 if noise.draw(8) == 0 => follower.invalidate(Invalidation::Page(0x100_0000)),
            2 if noise.draw(8) == 0 => follower.invalidate(Invalidation::All),
            _ => {}
        }
    });
    rig.deliver(&mut follower);
    let followers: Vec<_> = [&follower].into_iter().chain(&others).collect();
    (rig.all(), outcomes, companion.save(&followers).unwrap(), follower.shorts)
}

/// Returns a demand for all signals that do not disable the fast path of a pipeline.
pub(super) fn counted() -> Demand {
    let mut demand = Demand::default();
    demand.replace(Signal::all().filter(|signal| !takes_the_long_way(*signal)).collect(), false, Records::NONE);
    demand
}

fn assert_same(name: &str, short: &Done, long: &Done) {
    let different = short.1.iter().zip(&long.1).position(|(short, long)| short != long);
    assert_eq!(different.map(|number| (number, short.1[number], long.1[number])), None, "{name}: what is told");
    let counts: Vec<_> = Signal::all().zip(short.0.iter().zip(&long.0)).filter(|(_, (short, long))| short != long).collect();
    assert!(counts.is_empty() && short.0 == long.0, "{name}: what is counted: {counts:?}");
    assert!(short.2 == long.2, "{name}: what is saved");
    // Otherwise nothing would be compared.
    assert!(short.3 * 4 >= short.1.len() && long.3 == 0, "{name}: {} of {} went a short way", short.3, short.1.len());
}

#[test]
fn an_instruction_that_only_computes_does_the_same_the_short_way() {
    for profile in parts::ALL {
        let [short, long] =
            [false, true].map(|long| run(profile, (&counted(), Clock::Companion, false), long, |report| computing(11, 1_500, report)));
        assert_same(profile.name, &short, &long);
    }
}

#[test]
fn an_instruction_that_hits_does_the_same_the_short_way() {
    for (profile, seed) in parts::ALL.iter().flat_map(|profile| [5, 6, 7].map(|seed| (profile, seed))) {
        let [short, long] =
            [false, true].map(|long| run(profile, (&counted(), Clock::Companion, false), long, |report| hitting(seed, 800, report)));
        assert_same(profile.name, &short, &long);
    }
}

#[test]
fn an_instruction_of_a_bundle_that_hits_does_the_same_the_short_way() {
    for (profile, seed) in [&parts::MONTECITO, &parts::ITANIUM].iter().flat_map(|profile| [5, 6, 7].map(|seed| (profile, seed))) {
        let demand = if seed == 7 { everything() } else { counted() };
        let [short, long] =
            [false, true].map(|long| run(profile, (&demand, Clock::Companion, false), long, |report| bundled(seed, 500, report)));
        assert_same(profile.name, &short, &long);
    }
}

#[test]
fn an_instruction_that_hits_does_the_same_the_short_way_while_everything_is_counted() {
    for profile in parts::ALL {
        let [short, long] =
            [false, true].map(|long| run(profile, (&everything(), Clock::Companion, false), long, |report| hitting(9, 300, report)));
        assert_same(profile.name, &short, &long);
    }
}

#[test]
fn an_instruction_that_hits_does_the_same_the_short_way_beside_another_thread() {
    for profile in parts::ALL {
        let [short, long] =
            [false, true].map(|long| run(profile, (&counted(), Clock::Companion, true), long, |report| hitting(3, 300, report)));
        assert_same(profile.name, &short, &long);
    }
}

#[test]
fn an_instruction_that_hits_does_the_same_the_short_way_while_queues_are_full() {
    for (profile, competes) in parts::ALL.iter().flat_map(|profile| [false, true].map(|competes| (profile, competes))) {
        let [short, long] =
            [false, true].map(|long| run(profile, (&counted(), Clock::Companion, competes), long, |report| waiting(2, 150, report)));
        assert_same(profile.name, &short, &long);
    }
}

#[test]
fn an_instruction_that_hits_does_the_same_the_short_way_while_only_events_are_followed() {
    for (profile, seed) in parts::ALL.iter().flat_map(|profile| [4, 8].map(|seed| (profile, seed))) {
        let setup = (&everything(), Clock::Embedder, false);
        let [short, long] = [false, true].map(|long| run(profile, setup, long, |report| hitting(seed, 500, report)));
        assert_same(profile.name, &short, &long);
        if profile.pipeline.is_ia64() {
            let [short, long] = [false, true].map(|long| run(profile, setup, long, |report| bundled(seed, 500, report)));
            assert_same(profile.name, &short, &long);
        }
    }
}

/// Executes two threads of a core in turn, instruction by instruction. Returns the outcomes, the counts of each on the way, the saved
/// state, and the number of instructions that took a fast path.
fn together(profile: &Profile, seed: u64, long: bool) -> (Vec<Outcome>, Vec<Vec<u64>>, Vec<u8>, usize) {
    let companion = Builder::of(profile).threads(2).clock(Clock::Companion).build();
    let rig = Rig::new(2);
    let mut followers = [0, 1].map(|number| companion.follower(number).unwrap());
    for follower in &mut followers {
        follower.sync(&counted());
        if long {
            follower.go_the_long_way();
        }
    }
    let (mut noise, mut outcomes, mut counts) = (Noise::new(seed), Vec::new(), Vec::new());
    for step in 0..4_000u64 {
        let number = noise.draw(2) as usize;
        let own = [Register(8 + noise.draw(6) as u16)];
        let address = 0x7000 + number as u64 * 0x400 + step % 60 * 4;
        let data = 0x100_0000 + number as u64 * 0x1000 + noise.draw(64) * 8;
        let [near, written] = [[load(data)], [store(data)]];
        let operation = Operation { width: 8, reads: &own, writes: &own, ..Operation::default() };
        let branch = Transfer { kind: BranchKind::Conditional, taken: noise.draw(4) == 0, target: address + 4 };
        let (class, accesses, transfer): (_, &[Access], _) = match noise.draw(8) {
            0 => (Class::Load, &near, None),
            1 => (Class::Store, &written, None),
            2 => (Class::Branch, &[], Some(branch)),
            _ => (Class::Simple, &[], None),
        };
        let code = Instruction { address, physical: address, length: 4, operation: Some(operation), ..Instruction::default() };
        rig.run(&mut followers[number], &Instruction { class, accesses, transfer, ..code });
        outcomes.push(*followers[number].outcome());
        if step % 8 == 0 {
            counts.push(rig.all());
        }
    }
    let saved = companion.save(&[&followers[0], &followers[1]]).unwrap();
    (outcomes, counts, saved, followers.iter().map(|follower| follower.shorts).sum())
}

#[test]
fn threads_that_compete_do_the_same_the_short_way_in_turn() {
    for profile in [&parts::KNL, &parts::POWER9] {
        let [short, long] = [false, true].map(|long| together(profile, 6, long));
        let told = short.0.iter().zip(&long.0).position(|(short, long)| short != long);
        assert_eq!(told, None, "{}: which instruction is told of otherwise", profile.name);
        let counts = short.1.iter().zip(&long.1).position(|(short, long)| short != long);
        assert_eq!(counts, None, "{}: when it has counted otherwise first", profile.name);
        assert!(short.2 == long.2, "{}: what is saved", profile.name);
        assert!(short.3 > 3_000 && long.3 == 0, "{}: {} went a short way", profile.name, short.3);
    }
}
