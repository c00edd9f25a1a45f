//! Arbitrary streams of instructions, by several threads, on every modelled CPU: nothing may panic, what manuals say must add up, and a
//! companion that is saved and restored on the way continues without a difference.
#![no_main]

#[path = "shared/small.rs"]
mod small;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::Signal;
use vm_pmu::arch::feed::{BranchKind, Demand, Records, SignalSet};
use vm_pmu::companion::{
    Access, AccessKind, Builder, Bundle, Class, Clock, Companion, Elements, Follower, Instruction, Invalidation, Microarchitecture,
    Operation, PageTables, Register, Transfer, Walk, parts,
};
use vm_pmu::topology::{self, Machine};

use small::small;

/// What a cycle of Montecito's pipeline is: of a group, or lost to one reason.
const REASONS: &[Signal] = &[
    Signal::RetirementCycles,
    Signal::InstructionFetchStallCycles,
    Signal::FlushBranchCycles,
    Signal::FlushExceptionCycles,
    Signal::StallMemoryCycles,
    Signal::StallExecutionCycles,
    Signal::StallRegisterStackCycles,
];

/// The same of the first Itanium's.
const ACCOUNT: &[Signal] = &[
    Signal::InherentExecutionCycles,
    Signal::IssueLimitCycles,
    Signal::FrontEndEmptyL2Cycles,
    Signal::FrontEndEmptyL3Cycles,
    Signal::FrontEndEmptyMemoryCycles,
    Signal::FrontEndEmptyTranslationCycles,
    Signal::FrontEndEmptyBubbleCycles,
    Signal::FlushBranchCycles,
    Signal::FlushExceptionCycles,
    Signal::StallMemoryCycles,
    Signal::StallExecutionCycles,
    Signal::StallRegisterStackCycles,
];

/// The classes of POWER9's stack of cycles. Every cycle is in one of them.
const STACK: &[Signal] = &[
    Signal::RetirementCycles,
    Signal::FrontEndEmptyCycles,
    Signal::ThreadBlockedCycles,
    Signal::AllFinishedCycles,
    Signal::IssueHeldCycles,
    Signal::StallCycles,
];

/// The reasons of stalls of the dispatch.
const DISPATCH_STALLS: &[Signal] = &[
    Signal::DispatchStallBranchAbortCycles,
    Signal::DispatchStallSerializationCycles,
    Signal::DispatchStallSegmentLoadCycles,
    Signal::DispatchStallReorderBufferCycles,
    Signal::DispatchStallReservationStationCycles,
    Signal::DispatchStallFloatingPointCycles,
    Signal::DispatchStallLoadStoreCycles,
    Signal::DispatchStallAllQuietCycles,
    Signal::DispatchStallFarTransferCycles,
];

/// Why Knights Landing allocates nothing: one reason a cycle.
const NOT_ALLOCATED: &[Signal] = &[
    Signal::DispatchStallReorderBufferCycles,
    Signal::DispatchStallBranchAbortCycles,
    Signal::DispatchStallReservationStationCycles,
    Signal::DispatchStallSerializationCycles,
    Signal::FrontEndEmptyCycles,
];

/// Page tables out of an address.
struct Tables;

impl PageTables for Tables {
    fn walk(&mut self, address: u64) -> Walk {
        let entry = |level: u32| (address >> (12 + 9 * level)).wrapping_mul(8);
        Walk {
            entries: [entry(3), entry(2), entry(1), entry(0), address],
            levels: (address >> 40) as u8,
            page_bits: [12, 16, 21, 30, 0, 255][(address >> 36) as usize % 6],
            global: address & 0x10_0000 != 0,
        }
    }
}

/// An address: near others, or anywhere.
fn address(input: &mut Unstructured<'_>) -> arbitrary::Result<u64> {
    Ok(if input.ratio(7, 8)? { u64::from(input.arbitrary::<u16>()?) << 4 } else { input.arbitrary()? })
}

fn access(input: &mut Unstructured<'_>) -> arbitrary::Result<Access> {
    let address = address(input)?;
    Ok(Access {
        address,
        physical: if input.ratio(15, 16)? { address } else { input.arbitrary()? },
        size: if input.ratio(15, 16)? { 1 << input.int_in_range(0..=6)? } else { input.arbitrary()? },
        kind: *input.choose(&AccessKind::ALL)?,
        locked: input.ratio(1, 16)?,
        uncached: input.ratio(1, 32)?,
    })
}

/// A few registers, some of which many instructions have.
fn registers(input: &mut Unstructured<'_>) -> arbitrary::Result<Vec<Register>> {
    let count = input.int_in_range(0..=3)?;
    (0..count).map(|_| Ok(Register(if input.ratio(7, 8)? { input.int_in_range(0..=15)? } else { input.arbitrary()? }))).collect()
}

fn bundle(input: &mut Unstructured<'_>) -> arbitrary::Result<Option<Bundle>> {
    if input.ratio(3, 4)? {
        return Ok(None);
    }
    Ok(Some(Bundle { words: input.arbitrary()?, slot: input.arbitrary()?, function_state: input.arbitrary()? }))
}

/// Reports an arbitrary instruction to `tell`.
fn instruction(input: &mut Unstructured<'_>, tell: impl FnOnce(&Instruction<'_>)) -> arbitrary::Result<()> {
    use BranchKind as B;
    let count = input.int_in_range(0..=3)?;
    let accesses = (0..count).map(|_| access(input)).collect::<arbitrary::Result<Vec<_>>>()?;
    let at = address(input)?;
    let kinds = [B::Conditional, B::DirectJump, B::IndirectJump, B::DirectCall, B::IndirectCall, B::Return, B::Far];
    let transfer = if input.ratio(1, 2)? {
        Some(Transfer { kind: *input.choose(&kinds)?, taken: input.arbitrary()?, target: address(input)? })
    } else {
        None
    };
    let [addresses, reads, writes] = [registers(input)?, registers(input)?, registers(input)?];
    let operation = if input.ratio(7, 8)? {
        let width = if input.ratio(7, 8)? { 1 << input.int_in_range(0..=6)? } else { input.arbitrary()? };
        let elements = *input.choose(&Elements::ALL)?;
        let (packed, upper, may_trap, prefixes) = (input.arbitrary()?, input.arbitrary()?, input.arbitrary()?, input.int_in_range(0..=14)?);
        Some(Operation { width, packed, elements, upper, may_trap, prefixes, addresses: &addresses, reads: &reads, writes: &writes })
    } else {
        None
    };
    tell(&Instruction {
        address: at,
        physical: if input.ratio(15, 16)? { at } else { input.arbitrary()? },
        length: input.int_in_range(0..=15)?,
        next_page: if input.ratio(1, 32)? { Some(input.arbitrary()?) } else { None },
        micro_ops: input.arbitrary()?,
        class: *input.choose(&Class::ALL)?,
        operation,
        floating_point: input.arbitrary()?,
        segment_loads: if input.ratio(1, 32)? { input.arbitrary()? } else { 0 },
        accesses: &accesses,
        transfer,
        bundle: bundle(input)?,
        ..Instruction::default()
    });
    Ok(())
}

fn everything() -> Demand {
    let mut demand = Demand::default();
    demand.replace(SignalSet::ALL, false, Records::REQUESTS);
    demand
}

type Line = fn(usize, u32);

fn deliver(machine: &Machine<Line>, follower: &mut Follower<'_>) {
    let thread = machine.thread(follower.number()).expect("a thread each");
    follower.deliver(&thread, &[], |_| {});
}

fn followers(companion: &Companion) -> Vec<Follower<'_>> {
    let mut all: Vec<Follower<'_>> = (0..companion.threads()).filter_map(|number| companion.follower(number)).collect();
    all.iter_mut().for_each(|follower| follower.sync(&everything()));
    all
}

fn run(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let mut profile = small(input.choose(parts::ALL)?);
    if input.ratio(1, 4)? {
        // Another part's pipeline on these caches, as an embedder's own profile may have it.
        profile.pipeline = *input.choose(&[Microarchitecture::K8, Microarchitecture::Knl, Microarchitecture::Power9])?;
    }
    let profile = &profile;
    let threads = input.int_in_range(1..=4)?;
    let packages = input.int_in_range(1..=3)?;
    let (group, lent) = (input.int_in_range(1..=3)?, input.int_in_range(0..=2)?);
    let builder = Builder::of(profile).threads(threads).packages(packages).packages_per_group(group).lent_clusters(lent);
    let companion = builder.clock(Clock::Companion).memory_per_package(1 << 19).build();
    let line: Line = |_, _| {};
    let machine = topology::Builder::new("k8").expect("known").threads(threads).packages(packages).build(line).unwrap();
    companion.watch_places(true);
    let mut all = followers(&companion);
    let (mut saves, mut bundled) = (0, false);
    while !input.is_empty() {
        let number = input.int_in_range(0..=all.len() - 1)?;
        let follower = &mut all[number];
        match input.int_in_range(0..=63u8)? {
            0 => follower.invalidate(Invalidation::All),
            1 => follower.invalidate(Invalidation::NonGlobal),
            2 => follower.invalidate(Invalidation::Page(address(input)?)),
            3 if saves < 2 => {
                saves += 1;
                all.iter_mut().for_each(|follower| deliver(&machine, follower));
                let saved = companion.save(&all.iter().collect::<Vec<_>>()).expect("one a thread");
                companion.restore(&saved, &mut all.iter_mut().collect::<Vec<_>>()).expect("it was saved here");
                assert!(companion.save(&all.iter().collect::<Vec<_>>()).expect("one a thread") == saved);
            }
            4 => follower.set_halted(input.arbitrary()?),
            _ => {
                instruction(input, |instruction| {
                    bundled |= instruction.bundle.is_some();
                    follower.execute(instruction, &mut Tables);
                })?;
                if input.ratio(3, 4)? {
                    deliver(&machine, follower);
                }
            }
        }
    }
    all.iter_mut().for_each(|follower| deliver(&machine, follower));
    for number in 0..machine.threads() {
        let thread = machine.thread(number).expect("it is one of them");
        let sum = |signals: &[Signal]| signals.iter().map(|signal| thread.totals().get(*signal)).sum::<u64>();
        let cycles = sum(&[Signal::Cycles]);
        match profile.pipeline {
            Microarchitecture::Power9 => assert_eq!(cycles, sum(STACK)),
            Microarchitecture::Montecito => assert_eq!(cycles, sum(REASONS)),
            Microarchitecture::Itanium => assert_eq!(cycles, sum(ACCOUNT)),
            Microarchitecture::Knl => {
                assert!(sum(NOT_ALLOCATED) <= cycles);
                assert!(sum(&[Signal::DispatchStallReservationStationCycles]) <= sum(&[Signal::ReservationStationFullCycles]));
            }
            _ => {
                // A cycle without a line is no cycle of a stall, and a stall has one reason at least.
                assert!(sum(&[Signal::DecoderEmptyCycles, Signal::DispatchStallCycles]) <= cycles);
                assert!(sum(&[Signal::DispatchStallCycles]) <= sum(DISPATCH_STALLS));
            }
        }
        // Itaniums also miss what no cache keeps, and lines that are on their way.
        if !matches!(profile.pipeline, Microarchitecture::Itanium | Microarchitecture::Montecito) {
            let refills = sum(&[Signal::InstructionCacheRefillsL2, Signal::InstructionCacheRefillsSystem]);
            // A bundle may name the target of a branch, whose line is prefetched.
            let misses = sum(&[Signal::InstructionCacheMisses]);
            assert!(misses == refills || bundled && misses < refills);
        }
    }
    let mut places = [0; 2];
    companion.take_places(|_, signal, amount| match signal {
        Signal::MemoryReads => places[0] += amount,
        Signal::NearMemoryReads => places[1] += amount,
        _ => {}
    });
    if packages == 1 {
        let sum = |signal| (0..threads).filter_map(|number| machine.thread(number)).map(|thread| thread.totals().get(signal)).sum::<u64>();
        assert_eq!(places, [Signal::MemoryReads, Signal::NearMemoryReads].map(sum));
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Input that ends early has been run as far as it went.
    let _ = run(&mut Unstructured::new(bytes));
});
