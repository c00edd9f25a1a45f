//! Snapshots that were damaged or made up, for machines of every part, a chip, translations of an NPU and companions: each is refused and changes nothing, or loads
//! into a machine that saves to bytes which load again, and that continues exactly as one into which those bytes were loaded.
//!
//! An input describes the changes to a good snapshot, which is made here, so the fuzzer needs no seeds.
#![no_main]

use std::fmt::Debug;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::arch::feed::{BranchKind, Demand, Records, SignalSet};
use vm_pmu::companion::{self, Access, Clock, Companion, Follower, Instruction, Invalidation, Transfer, Untranslated, parts};
use vm_pmu::memory::{Chip, Translations};
use vm_pmu::snapshot::{CompanionSnapshot, SnapshotError};
use vm_pmu::topology::Machine;
use vm_pmu::untile::Domain;
use vm_pmu::{Context, Record, Signal};

#[path = "../../device/tests/all/snapshot/bytes.rs"]
mod bytes;
#[path = "../../device/tests/all/snapshot/scenes.rs"]
#[allow(dead_code, reason = "the tests use what becomes of the scenes, this their beginning")]
mod scenes;
#[path = "shared/small.rs"]
mod small;

use scenes::{Cells, SCENES, Silent};

/// What can be saved, loaded and continued. The bytes are not interpreted: a load that is refused must leave every saved byte.
trait Saved {
    fn save(&self) -> Vec<u8>;
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;
    /// Uses everything that it has. Returns what can be seen of it.
    fn go_on(&mut self) -> Vec<u64>;
}

impl Saved for Machine<Silent> {
    fn save(&self) -> Vec<u8> {
        self.save().expect("there is memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        Machine::load(self, bytes)
    }

    fn go_on(&mut self) -> Vec<u64> {
        let mut seen = Vec::new();
        let contexts = [Context::x86(3, 0x202, 0), Context::power(1 << 14, 1), Context::ia64(1 << 2, 0), Context::RESET];
        for cpu in (0..self.threads()).filter_map(|number| self.thread(number)) {
            for context in contexts {
                for signal in Signal::all().filter(|signal| cpu.demand().wants(*signal)) {
                    cpu.totals().add(signal, 1000);
                }
                cpu.record(&Record { branch: None, ..Record::at(0x1_0000) });
                cpu.service();
                cpu.advance(1000, &[Signal::Cycles]);
                cpu.set_context(context);
            }
            for register in cpu.registers() {
                let value = cpu.read(register.address);
                seen.push(value.unwrap_or(0x0BAD));
                let _ = value.and_then(|value| cpu.write(register.address, value));
            }
        }
        if let Some(untile) = self.untile() {
            Domain::ALL.into_iter().for_each(|domain| untile.tick(domain, 1000));
        }
        if let Some(core) = self.collection(0) {
            let memory = Cells::default();
            core.advance(1000, &memory);
            core.post(&memory);
        }
        seen
    }
}

impl Saved for Chip {
    fn save(&self) -> Vec<u8> {
        self.save().expect("there is memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        Chip::load(self, bytes)
    }

    fn go_on(&mut self) -> Vec<u64> {
        self.advance(100_000, &Cells::default());
        let sum = scenes::end_chip(self);
        self.advance(1_000_000, &Cells::default());
        vec![sum]
    }
}

impl Saved for Translations {
    fn save(&self) -> Vec<u8> {
        self.save().expect("there is memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        Translations::load(self, bytes)
    }

    fn go_on(&mut self) -> Vec<u64> {
        let chip = scenes::chip();
        let mut seen = Vec::new();
        for number in 0..80 {
            let page = u64::from(number) % 70;
            seen.extend(self.by_entry(&chip, number % 3, page, || Some(page)));
            seen.extend(self.check_out(&chip, number % 5, page, || (page % 7 != 0).then_some(page)));
            seen.push(self.bind(number % 20, number as u8).into());
            seen.push(self.invalidate(&chip, number % 11, (number % 2 == 0).then_some(page)).into());
        }
        seen
    }
}

/// A companion with its followers.
struct Followed<'a> {
    companion: &'a Companion,
    followers: Vec<Follower<'a>>,
}

impl<'a> Followed<'a> {
    fn of(companion: &'a Companion) -> Followed<'a> {
        let followers = (0..companion.threads()).filter_map(|number| companion.follower(number)).collect();
        let mut followed = Followed { companion, followers };
        followed.update();
        followed
    }

    fn update(&mut self) {
        let mut everything = Demand::default();
        everything.replace(SignalSet::ALL, false, Records::REQUESTS);
        self.followers.iter_mut().for_each(|follower| follower.sync(&everything));
    }
}

impl Saved for Followed<'_> {
    fn save(&self) -> Vec<u8> {
        self.companion.save_snapshot(&self.followers.iter().collect::<Vec<_>>()).expect("one follower a thread")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let loaded = self.companion.load_snapshot(bytes, &mut self.followers.iter_mut().collect::<Vec<_>>());
        self.update();
        loaded
    }

    fn go_on(&mut self) -> Vec<u64> {
        let line: Silent = scenes::silent();
        let machine = vm_pmu::topology::Builder::new("k8").expect("known").threads(self.followers.len()).build(line).unwrap();
        for (round, number) in (0u64..24).zip((0..self.followers.len()).cycle()) {
            let follower = &mut self.followers[number];
            let address = 0x8000 + round % 5 * 0x440;
            let accesses = [Access { address, physical: address, size: 8, ..Access::default() }];
            let at = 0x1000 + round % 3 * 0x40;
            let transfer = Transfer { kind: BranchKind::Conditional, taken: round & 1 == 1, target: 0x1000 };
            let instruction = Instruction {
                address: at,
                physical: at,
                length: 4,
                accesses: &accesses,
                transfer: Some(transfer),
                ..Instruction::default()
            };
            follower.execute(&instruction, &mut Untranslated(12));
            if round == 20 {
                follower.invalidate(Invalidation::All);
            }
            let cpu = machine.thread(number).expect("one a follower");
            follower.deliver(&cpu, &[], |_| {});
        }
        let cpus = (0..machine.threads()).filter_map(|number| machine.thread(number));
        cpus.flat_map(|cpu| Signal::all().map(move |signal| cpu.totals().get(signal))).collect()
    }
}

/// Changes bytes, leaves them out, puts them in, and makes small numbers of CBOR large ones.
fn changed(good: &[u8], input: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    let mut bytes = good.to_vec();
    while !input.is_empty() {
        let place = input.int_in_range(0..=bytes.len())?;
        match input.int_in_range(0..=5u8)? {
            0 if place < bytes.len() => drop(bytes.remove(place)),
            1 => bytes.insert(place, input.arbitrary()?),
            2 if place < bytes.len() => {
                let number = input.arbitrary::<u64>()?.to_be_bytes();
                drop(bytes.splice(place..=place, [0x1B].into_iter().chain(number)));
            }
            3 if place < bytes.len() => {
                let number = 1u64 << input.int_in_range(0..=63)?;
                drop(bytes.splice(place..=place, [0x1B].into_iter().chain(number.to_be_bytes())));
            }
            4 => {
                let word = input.arbitrary::<u64>()?.to_le_bytes();
                bytes.iter_mut().skip(place & !7).zip(word).for_each(|(byte, new)| *byte = new);
            }
            _ => {
                let value = input.arbitrary()?;
                bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte = value);
            }
        }
    }
    Ok(bytes)
}

/// The sum that the companion's own form ends in.
fn with_sum(content: &[u8]) -> Vec<u8> {
    let body = &content[..content.len().saturating_sub(8)];
    let (low, high) = body.iter().fold((1u64, 0u64), |(low, high), byte| {
        let low = (low + u64::from(*byte)) % 0xFFFF_FFFB;
        (low, (high + low) % 0xFFFF_FFFB)
    });
    [body, &(high << 32 | low).to_le_bytes()].concat()
}

/// All of the input that is left.
fn rest<'a>(input: &mut Unstructured<'a>) -> arbitrary::Result<&'a [u8]> {
    input.bytes(input.len())
}

/// Makes a changed snapshot of a good one.
fn made_up(good: &[u8], has_a_sum: bool, input: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    Ok(match input.int_in_range(0..=7u8)? {
        0 => {
            // Some of it, then anything.
            let known = input.int_in_range(0..=good.len().min(64))?;
            [&good[..known], rest(input)?].concat()
        }
        1 => changed(good, input)?,
        2 => bytes::with_content(good, rest(input)?),
        3 if !good.is_empty() => {
            let end = good.len() - 4;
            bytes::signed(changed(&good[..end], input)?)
        }
        _ => {
            let content = changed(bytes::content(good), input)?;
            bytes::with_content(good, &if has_a_sum { with_sum(&content) } else { content })
        }
    })
}

/// Loads `bytes` into `target`; `twin` is another of the same kind, in any state.
fn load<T: Saved>(good: &[u8], bytes: &[u8], mut target: T, mut twin: T) {
    let before = target.save();
    if let Err(refused) = target.load(bytes) {
        assert!(!refused.to_string().is_empty());
        assert_ne!(bytes, good, "what was saved is not loaded: {refused}");
        same("after it refused", &target.save(), &before);
        return;
    }
    let saved = target.save();
    if bytes == good {
        same("loaded unchanged", &saved, &bytes.to_vec());
    }
    if let Err(refused) = twin.load(&saved) {
        panic!("what a machine saved that took made-up bytes is not loaded: {refused}");
    }
    same("saved, loaded and saved", &twin.save(), &saved);
    for _ in 0..2 {
        same("gone on from there", &twin.go_on(), &target.go_on());
        same("saved after going on", &twin.save(), &target.save());
    }
}

fn same<T: PartialEq + Debug>(when: &str, one: &T, other: &T) {
    assert!(one == other, "{when}: {one:?} is not {other:?}");
}

fn run(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let fresh = input.arbitrary()?;
    match input.int_in_range(0..=10usize)? {
        5 | 6 => {
            let good = scenes::stopped_chip().save().expect("there is memory");
            let bytes = made_up(&good, false, input)?;
            load(&good, &bytes, if fresh { scenes::chip() } else { scenes::stopped_chip() }, scenes::stopped_chip());
        }
        7..=9 => {
            let profile = small::small(input.choose(parts::ALL)?);
            let threads = input.int_in_range(1..=2)?;
            let packages = input.int_in_range(1..=2)?;
            let clock = if input.arbitrary()? { Clock::Companion } else { Clock::Embedder };
            let builder = companion::Builder::of(&profile).threads(threads).packages(packages).clock(clock).memory_per_package(1 << 19);
            let [old, new, other] = [(); 3].map(|()| builder.build());
            let mut first = Followed::of(&old);
            first.go_on();
            let good = first.save();
            let bytes = made_up(&good, true, input)?;
            let mut target = Followed::of(&new);
            if !fresh {
                target.go_on();
            }
            load(&good, &bytes, target, Followed::of(&other));
        }
        10 => {
            let mut first = Translations::new();
            first.go_on();
            let good = Saved::save(&first);
            let bytes = made_up(&good, false, input)?;
            load(&good, &bytes, if fresh { Translations::new() } else { first }, Translations::new());
        }
        number => {
            let scene = &SCENES[number];
            let good = scene.stopped().save().expect("there is memory");
            let bytes = made_up(&good, false, input)?;
            load(&good, &bytes, if fresh { scene.build() } else { scene.stopped() }, scene.build());
        }
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Input that ends early proves nothing.
    let _ = run(&mut Unstructured::new(bytes));
});
