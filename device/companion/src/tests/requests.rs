//! Requests, their suppliers, and the maximum number of requests of an instruction.

use vm_pmu_arch::feed::{HeldAs, Request, RequestKind, Snoop, Supplier};

use super::*;
use crate::{Invalidation, Untranslated};

/// Returns a follower whose requests are demanded.
fn asking(companion: &Companion, number: usize) -> Follower<'_> {
    let mut demand = Demand::default();
    demand.replace(SignalSet::ALL, false, Records::REQUESTS);
    let mut follower = companion.follower(number).unwrap();
    follower.sync(&demand);
    follower
}

fn accessing(accesses: &[Access]) -> Instruction<'_> {
    Instruction { length: 0, accesses, ..Instruction::default() }
}

/// Returns the requests of an instruction without page tables.
fn requests(rig: &Rig, follower: &mut Follower<'_>, instruction: &Instruction<'_>) -> Vec<Request> {
    follower.execute(instruction, &mut Untranslated(12));
    let made = follower.requests().to_vec();
    rig.deliver(follower);
    assert!(follower.requests().is_empty());
    made
}

/// Returns the only request of an access.
fn request(rig: &Rig, follower: &mut Follower<'_>, access: Access) -> Request {
    let made = requests(rig, follower, &accessing(&[access]));
    assert_eq!(made.len(), 1, "{made:?}");
    made[0]
}

fn kinds(made: &[Request]) -> Vec<RequestKind> {
    made.iter().map(|request| request.kind).collect()
}

/// Whether it is a request for a line, to be read, written or executed.
fn asks_for_line(request: &Request) -> bool {
    use RequestKind as K;
    matches!(
        request.kind,
        K::DataRead
            | K::DataReadPrefetch
            | K::SoftwarePrefetch
            | K::Ownership
            | K::OwnershipPrefetch
            | K::Code
            | K::CodeReadPrefetch
            | K::CodePrefetch
    )
}

#[test]
fn each_access_makes_the_request_of_its_kind() {
    // Table 1-1.
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = asking(&companion, 0);
    let kind = |access: Access, kind| Access { kind, ..access };
    for (access, right) in [
        (load(0x1_0000), RequestKind::DataRead),
        (store(0x2_0000), RequestKind::Ownership),
        (kind(load(0x3_0000), AccessKind::PrefetchLoad), RequestKind::SoftwarePrefetch),
        (kind(load(0x4_0000), AccessKind::PrefetchOnce), RequestKind::SoftwarePrefetch),
        (kind(load(0x5_0000), AccessKind::PrefetchStore), RequestKind::OwnershipPrefetch),
        (Access { uncached: true, ..load(0x6_0000) }, RequestKind::PartialRead),
        (Access { uncached: true, ..store(0x7_0000) }, RequestKind::PartialWrite),
        (Access { size: 64, ..kind(load(0x8_0000), AccessKind::StreamingStore) }, RequestKind::FullStreamingStore),
        (kind(load(0x2_0000), AccessKind::Flush), RequestKind::WriteBack),
    ] {
        let made = request(&rig, &mut follower, access);
        assert_eq!((made.kind, made.physical), (right, access.physical), "{access:?}");
    }
    let code = Instruction { address: 0x9_0000, physical: 0x9_0000, length: 4, ..Instruction::default() };
    assert_eq!(kinds(&requests(&rig, &mut follower, &code)), [RequestKind::Code]);
    // A hit in the first level, and a clean line that is displaced, make no request.
    assert!(requests(&rig, &mut follower, &accessing(&[load(0x1_0008)])).is_empty());
    assert!(requests(&rig, &mut follower, &accessing(&[kind(load(0x1_0000), AccessKind::Flush)])).is_empty());
    // A partial line waits in its buffer until a fence.
    let part = kind(load(0xA_0000), AccessKind::StreamingStore);
    assert!(requests(&rig, &mut follower, &accessing(&[part])).is_empty());
    let fence = Instruction { class: Class::Fence, ..accessing(&[]) };
    assert_eq!(kinds(&requests(&rig, &mut follower, &fence)), [RequestKind::PartialStreamingStore]);
    // A locked access across two lines locks the bus once, and reads both; the store that follows hits.
    let split = Access { locked: true, ..load(0xB_003C) };
    let made = requests(&rig, &mut follower, &accessing(&[split, Access { kind: AccessKind::Store, ..split }]));
    assert_eq!(kinds(&made)[..3], [RequestKind::BusLock, RequestKind::DataRead, RequestKind::DataRead]);
    assert_eq!([made[1].physical, made[2].physical], [0xB_0000, 0xB_0040]);
}

#[test]
fn the_prefetcher_asks_for_data_as_the_first_level_s_and_for_ownership_as_the_second_s() {
    // Table 1-1 has no bit for data that the second level prefetches.
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = asking(&companion, 0);
    // The second of two adjacent lines prefetches the line four further on.
    request(&rig, &mut follower, load(0x1_0000));
    let made = requests(&rig, &mut follower, &accessing(&[load(0x1_0040)]));
    assert_eq!(kinds(&made), [RequestKind::DataRead, RequestKind::DataReadPrefetch]);
    assert_eq!(made[1].physical, 0x1_0140);
    request(&rig, &mut follower, store(0x2_0000));
    let made = requests(&rig, &mut follower, &accessing(&[store(0x2_0040)]));
    assert_eq!(kinds(&made), [RequestKind::Ownership, RequestKind::OwnershipPrefetch]);
    // A prefetched line is not requested again: the second level has it.
    assert_eq!(request(&rig, &mut follower, load(0x1_0140)).supplier, Supplier::OwnCluster(HeldAs::Exclusive));
}

#[test]
fn the_own_tile_supplies_what_its_second_level_or_other_core_has() {
    let companion = Builder::new("knl").unwrap().threads(8).build();
    let rig = Rig::new(8);
    let (mut first, mut other) = (asking(&companion, 0), asking(&companion, 4));
    let of = |state| (Supplier::OwnCluster(state), Snoop::None, 17);
    let got = |request: Request| (request.supplier, request.snoop, request.latency);
    request(&rig, &mut first, load(0x1_0000));
    assert_eq!(got(request(&rig, &mut other, load(0x1_0000))), of(HeldAs::Exclusive));
    // Modified in the first level of the other core.
    request(&rig, &mut first, store(0x2_0000));
    assert_eq!(got(request(&rig, &mut other, load(0x2_0000))), of(HeldAs::Modified));
    request(&rig, &mut first, store(0x3_0000));
    let made = request(&rig, &mut other, store(0x3_0000));
    assert_eq!((made.kind, got(made)), (RequestKind::Ownership, of(HeldAs::Modified)));
}

#[test]
fn another_tile_forwards_what_it_has_clean_or_modified() {
    // Eight tiles, two in each quadrant: tiles 0 and 1 are near each other, tile 2 is far.
    let companion = Builder::new("knl").unwrap().threads(64).build();
    let rig = Rig::new(64);
    let mut tiles: Vec<_> = [0, 8, 16].map(|number| asking(&companion, number)).into();
    let mut siblings: Vec<_> = [4, 12, 20].map(|number| asking(&companion, number)).into();
    let ask = |followers: &mut Vec<Follower<'_>>, tile: usize, access: Access| {
        let made = request(&rig, &mut followers[tile], access);
        (made.supplier, made.snoop, made.latency, made.holder)
    };
    let other = |far, snoop, holder| (Supplier::OtherCluster { far }, snoop, 160, Some(holder));
    let own = |state| (Supplier::OwnCluster(state), Snoop::None, 17, None);
    ask(&mut tiles, 0, load(0x1_0000));
    assert_eq!(ask(&mut tiles, 1, load(0x1_0000)), other(false, Snoop::Forwarded, 0));
    // The last reader answers for the line; the previous one only shares it.
    assert_eq!(ask(&mut siblings, 1, load(0x1_0000)), own(HeldAs::Forward));
    assert_eq!(ask(&mut siblings, 0, load(0x1_0000)), own(HeldAs::Shared));
    assert_eq!(ask(&mut tiles, 2, load(0x1_0000)), other(true, Snoop::Forwarded, 1));
    // Write permission: the data were present.
    let leave = (Supplier::OwnCluster(HeldAs::Shared), Snoop::None, 160, None);
    assert_eq!(ask(&mut tiles, 0, store(0x1_0000)), leave);
    assert_eq!(ask(&mut tiles, 1, load(0x1_0000)), other(false, Snoop::Modified, 0));
    ask(&mut tiles, 2, store(0x2_0000));
    assert_eq!(ask(&mut tiles, 0, store(0x2_0000)), other(true, Snoop::Modified, 2));
}

#[test]
fn a_line_that_mcdram_lacked_comes_from_ddr_and_then_from_mcdram() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = asking(&companion, 0);
    let mut ask = || {
        let made = request(&rig, &mut follower, load(0x1_0000));
        requests(&rig, &mut follower, &accessing(&[Access { kind: AccessKind::Flush, ..load(0x1_0000) }]));
        made
    };
    // 216 cycles for the lookup, and 182 to DDR with a page that is opened in 20.
    let first = ask();
    assert!(matches!(first.supplier, Supplier::Memory { .. }));
    assert_eq!(first.latency, 216 + 182 + 20);
    let second = ask();
    assert!(matches!(second.supplier, Supplier::NearMemory { .. }));
    assert_eq!(second.latency, 216);
}

#[test]
fn memory_is_near_to_the_tiles_of_one_quadrant() {
    // Section 1.2.4: as in SNC4, near without a snoop, far with none needed.
    let companion = Builder::new("knl").unwrap().threads(32).build();
    let rig = Rig::new(32);
    let mut tiles: Vec<_> = [0, 8, 16, 24].map(|number| asking(&companion, number)).into();
    let mut near = [0; 4];
    for line in 0..1000u64 {
        let access = load(0x10_0000 + line * 0x1_0000);
        let mut of_line = 0;
        for (tile, follower) in tiles.iter_mut().enumerate() {
            let made = request(&rig, follower, access);
            requests(&rig, follower, &accessing(&[Access { kind: AccessKind::Flush, ..access }]));
            let (Supplier::NearMemory { far } | Supplier::Memory { far }) = made.supplier else { panic!("{made:?}") };
            assert_eq!(made.snoop, if far { Snoop::NotNeeded } else { Snoop::None });
            near[tile] += u32::from(!far);
            of_line += u32::from(!far);
        }
        assert_eq!(of_line, 1, "line {line} is near to one of four");
    }
    assert!(near.iter().all(|lines| (200..=300).contains(lines)), "{near:?}");
}

#[test]
fn requests_by_supplier_add_up_to_references_and_misses_of_the_second_level() {
    let companion = Builder::new("knl").unwrap().threads(32).build();
    let rig = Rig::new(32);
    let mut followers: Vec<_> = (0..32).map(|number| (asking(&companion, number), Noise::new(60 + number as u64))).collect();
    let mut all = Vec::new();
    for _ in 0..1_500 {
        for (follower, noise) in &mut followers {
            noise.next(|instruction| {
                // Another test covers more requests than fit.
                if instruction.accesses.len() <= 2 {
                    follower.execute(instruction, &mut Tables);
                    all.extend_from_slice(follower.requests());
                    rig.deliver(follower);
                }
            });
        }
    }
    assert!(followers.iter().all(|(follower, _)| follower.lost_requests() == 0));
    let count = |is: &dyn Fn(&Request) -> bool| all.iter().filter(|request| is(request)).count() as u64;
    let own = count(&|request| asks_for_line(request) && matches!(request.supplier, Supplier::OwnCluster(_)));
    let other = count(&|request| matches!(request.supplier, Supplier::OtherCluster { .. }));
    let near = count(&|request| matches!(request.supplier, Supplier::NearMemory { .. }));
    let memory = count(&|request| matches!(request.supplier, Supplier::Memory { .. }));
    assert!(own > 0 && other > 0 && near > 0 && memory > 0);
    assert_eq!(own + other + near + memory, rig.sum(&[Signal::L2References]));
    assert_eq!(other + near + memory, rig.sum(&[Signal::L2Misses]));
    assert_eq!(count(&asks_for_line), own + other + near + memory);
    // Streaming stores look up the memory-side cache too.
    let streamed = count(&|request| matches!(request.kind, RequestKind::FullStreamingStore | RequestKind::PartialStreamingStore));
    assert_eq!(streamed, rig.sum(&[Signal::StreamingStoreFlushes]));
    assert_eq!(near + memory + streamed, rig.sum(&[Signal::NearMemoryReads]));
    assert_eq!(count(&|request| request.kind == RequestKind::WriteBack), rig.sum(&[Signal::VictimBlocks]));
    let partial = count(&|request| matches!(request.kind, RequestKind::PartialRead | RequestKind::PartialWrite));
    assert_eq!(partial, rig.sum(&[Signal::UncacheableRequests]));
}

/// Tables of five levels, every entry in a separate line.
struct Deep;

impl PageTables for Deep {
    fn walk(&mut self, address: u64) -> Walk {
        let entry = |level: u64| 0x7000_0000 + (address >> 12) * 0x1000 + level * 0x200;
        Walk { entries: [0, 1, 2, 3, 4].map(entry), levels: 5, page_bits: 12, global: false }
    }
}

#[test]
fn code_that_is_run_into_was_fetched_ahead_and_code_that_is_jumped_to_was_not() {
    // Table 1-1, bit 2: demand code reads and prefetch code reads.
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = asking(&companion, 0);
    let at = |address| Instruction { address, physical: address, length: 4, ..Instruction::default() };
    let mut made = |address| kinds(&requests(&rig, &mut follower, &at(address)));
    assert_eq!(made(0x9_0000), [RequestKind::Code]);
    assert_eq!(made(0x9_0040), [RequestKind::CodeReadPrefetch]);
    assert_eq!(made(0x9_0100), [RequestKind::Code], "two lines on");
    assert_eq!(made(0x9_00C0), [RequestKind::Code], "a line back");
    assert_eq!(made(0x9_0040), [], "the first level has it");
    assert_eq!(made(0x9_0080), [RequestKind::CodeReadPrefetch]);
}

#[test]
fn the_worst_instruction_fits() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = asking(&companion, 0);
    // Every line of the second level is dirty, and every write-combining buffer has some data.
    for line in 0..(1 << 20) / 64 {
        requests(&rig, &mut follower, &accessing(&[store(0x1000_0000 + line * 64)]));
    }
    for buffer in 0..4 {
        requests(&rig, &mut follower, &accessing(&[Access { kind: AccessKind::StreamingStore, ..load(0x2000_0000 + buffer * 64) }]));
    }
    follower.invalidate(Invalidation::All);
    let across = |address: u64, kind| Access { locked: true, kind, ..load(address) };
    let accesses = [across(0x300_0FFC, AccessKind::Load), across(0x310_0FFC, AccessKind::Store)];
    let worst = Instruction { address: 0x40_0FFE, physical: 0x40_0FFE, length: 8, accesses: &accesses, ..Instruction::default() };
    follower.execute(&worst, &mut Deep);
    let made = follower.requests();
    let of = |kind| made.iter().filter(|request| request.kind == kind).count();
    // Two pages of code and four of data: six walks of five, and three pairs of lines. The second line of each access continues a stream.
    assert_eq!(of(RequestKind::DataRead), 6 * 5 + 2);
    // The second line of code follows the first.
    assert_eq!([of(RequestKind::Code), of(RequestKind::CodeReadPrefetch), of(RequestKind::Ownership)], [1, 1, 2]);
    assert_eq!([of(RequestKind::DataReadPrefetch), of(RequestKind::OwnershipPrefetch)], [1, 1]);
    assert_eq!([of(RequestKind::BusLock), of(RequestKind::PartialStreamingStore)], [1, 4]);
    // Each of the 38 lines evicts one.
    assert_eq!(of(RequestKind::WriteBack), 38);
    assert_eq!(made.len(), 81);
    assert_eq!(follower.lost_requests(), 0);
}

#[test]
fn what_finds_no_place_is_lost_and_counted() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = asking(&companion, 0);
    let many: Vec<Access> = (0..200).map(|line| load(0x10_0000 + line * 0x1_0000)).collect();
    assert_eq!(requests(&rig, &mut follower, &accessing(&many)).len(), 128);
    assert_eq!(follower.lost_requests(), 72);
}

#[test]
fn a_follower_whose_requests_alone_are_wanted_is_active_and_none_are_kept_for_nobody() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = companion.follower(0).unwrap();
    let mut demand = Demand::default();
    demand.replace(SignalSet::EMPTY, false, Records::REQUESTS);
    follower.sync(&demand);
    assert!(follower.is_active() && follower.follows_accesses());
    assert_eq!(requests(&rig, &mut follower, &accessing(&[load(0x1_0000)])).len(), 1);
    follower.sync(&everything());
    assert!(requests(&rig, &mut follower, &accessing(&[load(0x2_0000)])).is_empty());
}

#[test]
fn every_part_tells_its_requests() {
    for profile in crate::parts::ALL {
        let companion = Builder::of(profile).build();
        let rig = Rig::new(1);
        let mut follower = asking(&companion, 0);
        let mut from_memory = 0;
        for line in 0..100 {
            let made = request(&rig, &mut follower, load(0x10_0000 + line * 0x1_0000));
            assert_eq!(made.kind, RequestKind::DataRead, "{}", profile.name);
            from_memory += u64::from(matches!(made.supplier, Supplier::Memory { .. }));
        }
        assert_eq!(from_memory, 100, "{}", profile.name);
    }
}
