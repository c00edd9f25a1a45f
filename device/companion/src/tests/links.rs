//! Traffic of HyperTransport links of K8 nodes: section 10.2.1.9 of its guide.
//!
//! Doublewords of each packet: a request and a probe have two, a response one, a line of data 16 more. Each packet is released with one.

use proptest::prelude::*;

use super::*;
use crate::fabric::hypertransport::{OF_LINKS, Transaction};
use crate::tally::Tally;
use crate::{DeviceOperation, DeviceRequest, IoRange, Routes, Untranslated};

/// Bytes of memory of each node.
const MEMORY: u64 = 1 << 20;

fn nodes(packages: usize) -> (Rig, Builder) {
    (Rig::packages(packages), Builder::new("k8").unwrap().packages(packages).memory_per_package(MEMORY))
}

fn access(rig: &Rig, follower: &mut Follower<'_>, access: Access) {
    follower.execute(&Instruction { length: 0, accesses: &[access], ..Instruction::default() }, &mut Untranslated(12));
    rig.deliver(follower);
}

/// Returns the commands, data and releases that a node sent on a link: those that its thread reported, and pending ones.
fn sent(rig: &Rig, companion: &Companion, node: usize, link: usize) -> [u64; 3] {
    let shared = companion.system.shared.lock();
    let waiting = |signal| shared.abroad.get(node).map_or(0, |tally| tally.get(signal));
    let devices = &rig.devices[node];
    [0, 1, 2].map(|kind| OF_LINKS[link][kind]).map(|signal| rig.get(node, signal) + devices.get(signal) + waiting(signal))
}

#[test]
fn a_line_of_the_other_node_takes_a_request_a_probe_two_answers_and_the_end() {
    let (rig, builder) = nodes(2);
    let companion = builder.build();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    let both = || [0, 1].map(|node| sent(&rig, &companion, node, 0));
    access(&rig, &mut followers[0], load(MEMORY));
    // Node 0 sends the request and its completion, 2 + 1, and releases three packets. Node 1 sends the probe, the answer of its own caches
    // and that of memory, 2 + 1 + 1 with the line, and releases two.
    assert_eq!(both(), [[3, 0, 3], [4, 16, 2]]);
    // A line of its own: node 0 probes node 1, which answers.
    access(&rig, &mut followers[0], load(0));
    assert_eq!(both(), [[5, 0, 4], [5, 16, 3]]);
    // It writes its own line, which it holds exclusively: nothing is sent. Then node 1 reads it: request, probe, the owner's answer with
    // the line, which cancels the memory read in its own node, and the end.
    access(&rig, &mut followers[0], store(0));
    assert_eq!(both(), [[5, 0, 4], [5, 16, 3]]);
    access(&rig, &mut followers[1], load(0));
    // Node 0: probe 2, answer 1 with 16. Node 1: request 2, end 1. Each releases what the other sent.
    assert_eq!(both(), [[8, 16, 6], [8, 16, 5]]);
    // Node 1 wants to write it: request, probe, answer with the line from its owner, done and the end.
    access(&rig, &mut followers[1], store(0));
    assert_eq!(both(), [[12, 32, 8], [11, 16, 8]]);
    // Node 1 flushes it: request, probe, answer of node 0, done, end. The line that it writes back: request and line, done, end.
    access(&rig, &mut followers[1], Access { kind: AccessKind::Flush, ..load(0) });
    assert_eq!(both(), [[12 + 4 + 1, 32, 8 + 2 + 2], [11 + 3 + 3, 32, 8 + 3 + 1]]);
}

#[test]
fn a_written_buffer_has_its_data_and_answers_go_to_the_memory() {
    let (rig, builder) = nodes(2);
    let companion = builder.build();
    let mut follower = follow(&companion, 0);
    let _other = follow(&companion, 1);
    // Eight bytes of a line of node 1: request with a mask and two doublewords, probe, answer of node 0 to node 1, done, end.
    access(&rig, &mut follower, Access { kind: AccessKind::StreamingStore, ..load(MEMORY) });
    follower.execute(&Instruction { length: 0, class: Class::Fence, ..Instruction::default() }, &mut Untranslated(12));
    rig.deliver(&mut follower);
    assert_eq!([0, 1].map(|node| sent(&rig, &companion, node, 0)), [[2 + 1 + 1, 3, 2], [2 + 1, 0, 3]]);
}

#[test]
fn devices_and_io_are_behind_the_first_free_link() {
    let (rig, builder) = nodes(2);
    let companion = builder.io_range(IoRange { package: 0, first: 0xC000_0000, bytes: 1 << 28 }).build();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    let uncached = |kind, address, size| Access { kind, size, uncached: true, ..load(address) };
    // Node 1 stores four bytes and loads eight: two requests, the first with a doubleword, go on to the device; both come back, the second with two
    // doublewords.
    access(&rig, &mut followers[1], uncached(AccessKind::Store, 0xC000_0000, 4));
    access(&rig, &mut followers[1], uncached(AccessKind::Load, 0xC000_0008, 8));
    assert_eq!([0, 1].map(|node| sent(&rig, &companion, node, 0)), [[2, 2, 2], [4, 1, 2]]);
    assert_eq!([0, 1].map(|node| sent(&rig, &companion, node, 1)), [[4, 1, 2], [0, 0, 0]]);
    // A device of node 0 reads a line of its memory: the device gets it, and node 1 is probed and answers.
    let totals = &rig.devices[0];
    let device = |operation, size| {
        let request = DeviceRequest { package: 0, physical: 0x4000, size, operation };
        companion.device(&request, totals, &everything());
    };
    device(DeviceOperation::Read, 64);
    assert_eq!([0, 1].map(|node| sent(&rig, &companion, node, 0)), [[4, 2, 3], [5, 1, 3]]);
    assert_eq!(sent(&rig, &companion, 0, 1), [5, 17, 3]);
    // It writes four bytes: they are taken in.
    device(DeviceOperation::Write, 4);
    assert_eq!(sent(&rig, &companion, 0, 1), [5, 17, 4]);
    // An atomic operation on eight bytes: they come in, and the old bytes go out.
    device(DeviceOperation::Atomic, 8);
    assert_eq!(sent(&rig, &companion, 0, 1), [6, 19, 5]);
}

#[test]
fn nothing_is_sent_while_no_link_is_counted() {
    let (rig, builder) = nodes(2);
    let companion = builder.build();
    let mut follower = companion.follower(0).unwrap();
    let mut demand = Demand::default();
    demand.replace(SignalSet::from_iter([Signal::MemoryRequestsRemote]), false, Records::NONE);
    follower.sync(&demand);
    access(&rig, &mut follower, load(MEMORY));
    assert_eq!([0, 1].map(|node| sent(&rig, &companion, node, 0)), [[0; 3]; 2]);
    let idle = companion.system.shared.lock().sent.iter().all(|links| *links == [0; 3]);
    assert!(idle, "and nothing is remembered");
}

/// Returns all traffic of one transaction, on all links of all nodes.
fn transact(companion: &Companion, transaction: &Transaction) -> [u64; 3] {
    let mut tally = Tally::new();
    companion.system.transact(&mut companion.system.shared.lock(), transaction, &mut tally);
    let shared = companion.system.shared.lock();
    let tallies = || shared.abroad.iter().chain([&tally]);
    [0, 1, 2].map(|kind| OF_LINKS.iter().flat_map(|link| tallies().map(move |tally| tally.get(link[kind]))).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn probes_are_answered_and_what_crosses_a_link_is_released(
        packages in 1usize..=8,
        seed in any::<[usize; 3]>(),
        owned in any::<bool>(),
        written in 0u64..=16,
    ) {
        let companion = nodes(packages).1.build();
        let [source, target, owner] = seed.map(|number| number % packages);
        let transaction = Transaction { source, target, written, read: 16 * u64::from(written == 0), owner: owned.then_some(owner) };
        let [commands, data, releases] = transact(&companion, &transaction);
        // By distance only: the request, a probe on each link of a tree to all others, an answer of each, and the packets of the target or
        // owner.
        let routes = Routes::ladder(packages);
        let far = |from, to| routes.distance(from, to).unwrap() as u64;
        let probes = packages as u64 - 1;
        let answered = if written == 0 { source } else { target };
        let answers: u64 = (0..packages).map(|node| far(node, answered)).sum();
        let cancels = owned && written == 0;
        let told = if cancels { far(owner, target) } else { far(target, source) };
        let (there, back) = (far(source, target), far(source, target));
        prop_assert_eq!(commands, 2 * there + 2 * probes + answers + told + back);
        let given = if owned { 16 * far(owner, answered) } else { 0 };
        let read = if written == 0 && !owned { 16 * far(target, source) } else { 0 };
        prop_assert_eq!(data, written * there + given + read);
        prop_assert_eq!(releases, there + probes + answers + told + back);
    }

    #[test]
    fn what_leaves_a_node_enters_the_other(seed in any::<u64>()) {
        // Each packet that crosses the link between two nodes is released by the other: requests and ends of one direction, probes and answers of both.
        let (rig, builder) = nodes(2);
        let companion = builder.memory_per_package(0x2000_0000).build();
        let mut followers = [0, 1].map(|number| (follow(&companion, number), Noise::new(seed ^ number as u64)));
        for _ in 0..500 {
            for (follower, noise) in &mut followers {
                noise.next(|instruction| rig.run(follower, instruction));
            }
        }
        let [[commands, data, releases], [other_commands, other_data, other_releases]] = [0, 1].map(|node| sent(&rig, &companion, node, 0));
        prop_assert!(commands != 0 && other_commands != 0 && data != 0 && other_data != 0);
        // A command has one doubleword or two, and a packet one command.
        prop_assert!(other_releases <= commands && commands <= 2 * other_releases);
        prop_assert!(releases <= other_commands && other_commands <= 2 * releases);
        // Whole transactions were sent: each has an end or an answer for each request, so both directions together release all packets.
        prop_assert!(commands + other_commands > releases + other_releases);
    }
}
