//! Counts of requests between nodes by the northbridge of a K8 (sections 10.2.1.7 of its guide).

use proptest::prelude::*;
use vm_pmu_arch::access::Address;

use super::*;
use vm_pmu_companion::{Clock, DeviceOperation, DeviceRequest, IoRange, Untranslated};

/// Bytes of memory of each node.
const MEMORY: u64 = 1 << 20;

/// Returns two nodes of one core each, and their companion.
fn nodes() -> (Rig, Companion) {
    (Rig::new("k8", 2, 1), Builder::new("k8").unwrap().packages(2).memory_per_package(MEMORY).build())
}

fn access(rig: &Rig, follower: &mut Follower<'_>, access: Access) {
    follower.execute(&Instruction { length: 0, accesses: &[access], ..Instruction::default() }, &mut Untranslated(12));
    rig.deliver(follower);
}

/// Returns the counts of requests to local memory and to remote memory.
fn requests(rig: &Rig, thread: usize) -> [u64; 2] {
    [Signal::MemoryRequestsLocal, Signal::MemoryRequestsRemote].map(|signal| rig.get(thread, signal))
}

#[test]
fn node_loads_and_node_load_misses_are_the_lines_that_a_guest_reads() {
    // Linux counts node-loads with E9h B8h and node-load-misses with E9h 98h: EN, OS and USR are bits 22, 17 and 16.
    let (rig, companion) = nodes();
    let thread = rig.machine.thread(0).unwrap();
    thread.write(Address::Msr(0xC001_0000), 0x0043_B8E9).unwrap();
    thread.write(Address::Msr(0xC001_0001), 0x0043_98E9).unwrap();
    thread.write(Address::Msr(0xC001_0002), 0x0043_A8E9).unwrap();
    // A kind and a target without a source: no path.
    thread.write(Address::Msr(0xC001_0003), 0x0043_38E9).unwrap();
    let mut follower = follow(&companion, 0);
    // Three lines of the own node, five of the other one, and one of each that is in the cache.
    for address in [0x1000, 0x5400, 0xA840] {
        access(&rig, &mut follower, load(address));
    }
    for address in [0x1000, 0x5400, 0xA840, 0xF080, 0x6600].map(|address| MEMORY + address) {
        access(&rig, &mut follower, load(address));
    }
    access(&rig, &mut follower, load(0x1008));
    access(&rig, &mut follower, load(MEMORY + 0x1008));
    let counts = [0xC001_0004, 0xC001_0005, 0xC001_0006, 0xC001_0007].map(|counter| thread.read(Address::Msr(counter)).unwrap());
    assert_eq!(counts, [8, 5, 3, 0]);
}

#[test]
fn ownership_and_write_backs_go_to_the_node_that_has_the_memory() {
    let (rig, companion) = nodes();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    // Both read a line of the second node, so both share it; the first one asks for its ownership, and flushes it.
    access(&rig, &mut followers[0], load(MEMORY));
    access(&rig, &mut followers[1], load(MEMORY));
    assert_eq!((requests(&rig, 0), requests(&rig, 1)), ([0, 1], [1, 0]));
    access(&rig, &mut followers[0], store(MEMORY));
    assert_eq!(requests(&rig, 0), [0, 2]);
    access(&rig, &mut followers[0], Access { kind: AccessKind::Flush, ..load(MEMORY) });
    assert_eq!(requests(&rig, 0), [0, 3]);
    // A flush of a line that no cache has writes nothing.
    access(&rig, &mut followers[0], Access { kind: AccessKind::Flush, ..load(MEMORY) });
    assert_eq!(requests(&rig, 0), [0, 3]);
}

/// The counts of EBh, from bit 0 up, and those of E5h, from bit 2 up.
const COMMANDS: [Signal; 7] = [
    Signal::SizedWritesNonPostedBytes,
    Signal::SizedWritesNonPostedDoublewords,
    Signal::SizedWritesPostedBytes,
    Signal::SizedWritesPostedDoublewords,
    Signal::SizedReadsBytes,
    Signal::SizedReadsDoublewords,
    Signal::SizedReadModifyWrites,
];
const BLOCKS: [Signal; 4] = [Signal::SizedWritesOf32, Signal::SizedWritesOf64, Signal::SizedReadsOf32, Signal::SizedReadsOf64];

#[test]
fn accesses_to_the_local_apic_stay_in_the_core() {
    let (rig, companion) = nodes();
    let mut follower = follow(&companion, 0);
    let counts = || [Signal::IoRequestsLocal, Signal::UncacheableRequests, Signal::SizedReadsBytes].map(|signal| rig.get(0, signal));
    let uncached = |address| Access { uncached: true, size: 4, ..load(address) };
    // Its first and its last register, and the address after its page.
    access(&rig, &mut follower, uncached(0xFEE0_0000));
    access(&rig, &mut follower, uncached(0xFEE0_0FF0));
    assert_eq!(counts(), [0, 0, 0]);
    access(&rig, &mut follower, uncached(0xFEE0_1000));
    assert_eq!(counts(), [1, 1, 1]);
}

#[test]
fn a_write_combining_buffer_is_written_whole_or_by_halves() {
    let (rig, companion) = nodes();
    let (mut follower, mut other) = (follow(&companion, 0), follow(&companion, 1));
    let counts = || [&COMMANDS[2..4], &BLOCKS[..2]].concat().iter().map(|signal| rig.get(0, *signal)).collect::<Vec<_>>();
    let mut stream = |first: u64, bytes: u64| {
        let store = |address: u64| Access { kind: AccessKind::StreamingStore, ..load(address) };
        (0..bytes / 8).for_each(|number| access(&rig, &mut follower, store(first + 8 * number)));
        // A fence writes out the rest.
        follower.execute(&Instruction { length: 0, class: Class::Fence, ..Instruction::default() }, &mut Untranslated(12));
        rig.deliver(&mut follower);
    };
    // 64 bytes: one command of doublewords.
    stream(0x2000, 64);
    assert_eq!(counts(), [0, 1, 0, 1]);
    // 40 bytes: one command of 32 bytes, and one of the other half's first eight.
    stream(0x2100, 40);
    assert_eq!(counts(), [1, 2, 1, 1]);
    // Three requests to memory of the own node.
    assert_eq!(requests(&rig, 0), [3, 0]);
    // Memory of the other node counts the block, once a thread there reports.
    stream(MEMORY + 0x2000, 64);
    assert_eq!((counts(), requests(&rig, 0)), (Vec::from([1, 3, 1, 1]), [3, 1]));
    access(&rig, &mut other, load(MEMORY));
    assert_eq!(rig.get(1, Signal::SizedWritesOf64), 1);
}

/// Returns two nodes; the second has I/O from 3 GiB to 3.5 GiB, and the first from there to 4 GiB.
fn with_io() -> (Rig, Companion) {
    let (rig, _) = nodes();
    let builder = Builder::new("k8").unwrap().packages(2).memory_per_package(MEMORY);
    let ranges = [IoRange { package: 1, first: 0xC000_0000, bytes: 1 << 29 }, IoRange { package: 0, first: 0xE000_0000, bytes: 1 << 29 }];
    (rig, ranges.into_iter().fold(builder, Builder::io_range).build())
}

/// Counts every path of E9h of one node, in four consecutive counters: 0xC001_0000 selects, 0xC001_0004 counts.
fn paths(rig: &Rig, thread: usize, masks: [u8; 4], work: impl FnOnce()) -> [u64; 4] {
    let thread = rig.machine.thread(thread).unwrap();
    for (number, mask) in (0u32..).zip(masks) {
        thread.write(Address::Msr(0xC001_0004 + number), 0).unwrap();
        thread.write(Address::Msr(0xC001_0000 + number), 0x0043_00E9 | u64::from(mask) << 8).unwrap();
    }
    work();
    [0, 1, 2, 3].map(|number| thread.read(Address::Msr(0xC001_0004 + number)).unwrap())
}

#[test]
fn uncached_accesses_are_of_processors_to_io_of_either_node() {
    let (rig, companion) = with_io();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    let uncached = |kind, address, size| Access { kind, size, uncached: true, ..load(address) };
    let counts = paths(&rig, 0, [0xA4, 0x94, 0x64, 0xF4], || {
        // The first node: a load of a byte and a store of eight bytes to its own I/O, a load of eight bytes of the other's.
        access(&rig, &mut followers[0], uncached(AccessKind::Load, 0xE000_0001, 1));
        access(&rig, &mut followers[0], uncached(AccessKind::Store, 0xE000_0008, 8));
        access(&rig, &mut followers[0], uncached(AccessKind::Load, 0xC000_0000, 8));
        // The second node: three stores of a byte to the first's I/O, which appear in its totals when it next reports.
        (0..3).for_each(|number| access(&rig, &mut followers[1], uncached(AccessKind::Store, 0xF000_0000 + number, 1)));
        access(&rig, &mut followers[0], load(0x1000));
    });
    assert_eq!(counts, [2, 1, 3, 6]);
    assert_eq!(COMMANDS.map(|signal| rig.get(0, signal)), [0, 1, 0, 0, 1, 1, 0]);
    assert_eq!(COMMANDS.map(|signal| rig.get(1, signal)), [3, 0, 0, 0, 0, 0, 0]);
    // Addresses in no range are memory.
    access(&rig, &mut followers[0], uncached(AccessKind::Load, 0x3000, 4));
    assert_eq!(requests(&rig, 0), [2, 0]);
}

#[test]
fn devices_reach_memory_and_io_of_either_node() {
    let (rig, companion) = with_io();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    let devices = |node: usize| &rig.machine.devices(node).unwrap().totals;
    let reports = |package, physical, size, operation| {
        companion.device(&DeviceRequest { package, physical, size, operation }, devices(package), &everything());
    };
    let memory = |package: u64| package * MEMORY + 0x8000;
    let counts = paths(&rig, 0, [0xA2, 0x92, 0xA1, 0x91], || {
        // Two lines of its own memory, one of the other's; two accesses to its own I/O, one to the other's.
        reports(0, memory(0), 128, DeviceOperation::Read);
        reports(0, memory(1), 32, DeviceOperation::Write);
        reports(0, 0xE000_0000, 4, DeviceOperation::Write);
        reports(0, 0xE000_0000, 4, DeviceOperation::Read);
        reports(0, 0xC000_0000, 4, DeviceOperation::Write);
    });
    assert_eq!(counts, [2, 1, 2, 1]);
    // A device of the second node accesses the first's I/O, which a thread of the first reports.
    let counts = paths(&rig, 0, [0x61, 0x64, 0xE1, 0xFF], || {
        reports(1, 0xE000_0000, 4, DeviceOperation::Write);
        access(&rig, &mut followers[0], load(0x1000));
    });
    // The load is one of the paths of FFh.
    assert_eq!(counts, [1, 0, 1, 2]);
    // Bytes, blocks of 32 and of 64 bytes, and both kinds of reads, of the first node's devices: E5h counts where the memory is.
    reports(0, memory(0), 32, DeviceOperation::Read);
    reports(0, memory(0) + 1, 2, DeviceOperation::Read);
    reports(0, memory(0), 64, DeviceOperation::DisplayRead);
    reports(0, memory(0) + 5, 1, DeviceOperation::Write);
    reports(0, memory(0), 8, DeviceOperation::Atomic);
    // Posted bytes: 1 to memory and 2 to I/O; posted doublewords: 32 bytes to the other node. Reads of bytes: I/O, and two bytes.
    assert_eq!(COMMANDS.map(|signal| devices(0).get(signal)), [0, 0, 3, 1, 2, 4, 1]);
    assert_eq!(BLOCKS.map(|signal| devices(0).get(signal)), [0, 0, 1, 3]);
    access(&rig, &mut followers[1], load(MEMORY));
    assert_eq!(rig.get(1, Signal::SizedWritesOf32), 1);
    let upstream = [Signal::UpstreamDisplayReads, Signal::UpstreamReads, Signal::UpstreamWrites];
    // Reads: two lines, I/O, 32 and 2 bytes. Writes: to the other node's memory, two to I/O, one byte, and the atomic operation.
    assert_eq!(upstream.map(|signal| devices(0).get(signal)), [1, 5, 5]);
}

#[test]
fn accesses_to_the_aperture_are_looked_up_where_they_enter_the_machine() {
    let (rig, _) = nodes();
    let companion = Builder::new("k8").unwrap().packages(2).memory_per_package(MEMORY).aperture(0xD000_0000, 1 << 20).build();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    let counts = |node| [Signal::ApertureAccesses, Signal::ApertureMisses].map(|signal| rig.get(node, signal));
    let uncached = |address| Access { uncached: true, ..load(address) };
    // Two accesses to one page of the aperture, one after its end; and a line, which is cached the second time.
    for address in [0xD000_0000, 0xD000_0FF8, 0xD010_0000] {
        access(&rig, &mut followers[0], uncached(address));
    }
    access(&rig, &mut followers[0], load(0xD000_1000));
    access(&rig, &mut followers[0], load(0xD000_1008));
    assert_eq!(counts(0), [3, 2]);
    // The other node has its own buffer.
    access(&rig, &mut followers[1], uncached(0xD000_0000));
    assert_eq!(counts(1), [1, 1]);
    // A device of the first node shares that node's buffer.
    let devices = &rig.machine.devices(0).unwrap().totals;
    for physical in [0xD000_0040, 0xD000_2000] {
        companion.device(&DeviceRequest { physical, size: 64, ..DeviceRequest::default() }, devices, &everything());
    }
    assert_eq!([Signal::DeviceApertureAccesses, Signal::ApertureMisses].map(|signal| devices.get(signal)), [2, 1]);
}

#[test]
fn what_a_link_sends_and_what_it_does_not_are_all_that_it_can() {
    let rig = Rig::new("k8", 2, 1);
    let companion = Builder::new("k8").unwrap().packages(2).memory_per_package(MEMORY).clock(Clock::Companion).build();
    // F6h of node 0 in four counters: commands, data, releases, idle; EN, OS and USR are bits 22, 17 and 16.
    let thread = rig.machine.thread(0).unwrap();
    for (number, mask) in [(0, 1), (1, 2), (2, 4), (3, 8)] {
        thread.write(Address::Msr(0xC001_0000 + number), 0x0043_00F6 | mask << 8).unwrap();
    }
    let mut follower = companion.follower(0).unwrap();
    let mut demand = Demand::default();
    demand.replace(
        [Signal::Link0Commands, Signal::Link0Data, Signal::Link0Releases, Signal::Link0Idle, Signal::Cycles].into_iter().collect(),
        false,
        Records::NONE,
    );
    follower.sync(&demand);
    let mut cycles = 0;
    for number in 0..4_000u64 {
        let accesses = [load(MEMORY + number % 64 * 64)];
        let accesses: &[Access] = if number % 40 == 0 { &accesses } else { &[] };
        follower.execute(&Instruction { length: 0, accesses, ..Instruction::default() }, &mut Untranslated(12));
        cycles += follower.deliver(&thread, &[], |_| {});
    }
    let counts = [4, 5, 6, 7].map(|number| thread.read(Address::Msr(0xC001_0000 + number)).unwrap());
    // Each of the 64 lines once at most; 100 loads of every fortieth are 8 lines.
    assert_eq!(counts[..3], [3 * 8, 0, 3 * 8]);
    // A doubleword every second cycle, but for the last 512 cycles, which are not counted yet.
    let could = counts.iter().sum::<u64>();
    assert!(cycles > 2_048 && could <= cycles / 2 && could + 256 >= cycles / 2, "{could} of {cycles}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_request_of_a_core_goes_to_one_node(seed in any::<u64>(), boundary in 12u32..31) {
        // E9h B8h is the sum of all commands for lines (EAh) and of the writes of write-combining buffers; F4h is that of uncached
        // accesses.
        let rig = Rig::new("k8", 2, 2);
        let builder = Builder::new("k8").unwrap().packages(2).threads(2).memory_per_package(1 << boundary);
        let companion = builder.build();
        let mut followers: Vec<_> = (0..4).map(|number| (follow(&companion, number), Noise::new(seed ^ number as u64))).collect();
        for _ in 0..500 {
            for (follower, noise) in &mut followers {
                noise.next(|instruction| rig.run(follower, instruction));
            }
        }
        let lines = [
            Signal::ReadBlocks,
            Signal::ReadBlocksShared,
            Signal::ReadBlocksModified,
            Signal::ChangesToDirty,
            Signal::VictimBlocks,
        ];
        let sum = |thread: usize, signals: &[Signal]| signals.iter().map(|signal| rig.get(thread, *signal)).sum::<u64>();
        for thread in 0..4 {
            prop_assert!(sum(thread, &lines) != 0);
            prop_assert_eq!(requests(&rig, thread).iter().sum::<u64>(), sum(thread, &lines) + sum(thread, &COMMANDS[2..4]));
            let io = sum(thread, &[Signal::IoRequestsLocal, Signal::IoRequestsRemote]);
            prop_assert_eq!(io, sum(thread, &COMMANDS[..2]) + sum(thread, &COMMANDS[4..6]));
            prop_assert!(sum(thread, &COMMANDS[2..4]) >= rig.get(thread, Signal::WriteCombiningFlushes));
        }
        // All I/O belongs to the first node, which reports the second's accesses when it next reports.
        access(&rig, &mut followers[0].0, load(0x7_0000_0000));
        let of = |first: usize, signal| rig.get(first, signal) + rig.get(first + 1, signal);
        prop_assert_eq!(of(0, Signal::IoRequestsFromRemote), of(2, Signal::IoRequestsRemote));
        prop_assert_eq!(of(0, Signal::IoRequestsRemote) + of(2, Signal::IoRequestsLocal), 0);
    }
}
