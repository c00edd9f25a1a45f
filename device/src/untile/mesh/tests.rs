//! Routes, laws of conservation, and that every event of a mesh stop that is called driven is counted.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use proptest::prelude::*;
use vm_pmu_arch::event::{Drive, Internal, KNL};
use vm_pmu_arch::feed::{Request, RequestKind, Supplier};
use vm_pmu_arch::knl::untile::UnitId;

use super::devices::{DeviceAccess, from_tile};
use super::fabric::Mesh;
use super::message::{Agent, Controllers, Home, Message, Ring, steps};
use super::plan::Stop;
use crate::untile::report::Report;

/// What stops counted: by the place of their box, select and unit mask.
type Counts = BTreeMap<(usize, u8, u8), u64>;

fn stop(name: &str) -> Stop {
    Stop::of(UnitId::named(name).unwrap()).unwrap()
}

impl Report for Counts {
    fn demands(&self, _select: u8) -> bool {
        true
    }

    fn of_mesh(&self) -> u64 {
        u64::MAX
    }

    fn add(&mut self, unit: UnitId, select: u8, umask: u8, amount: u64) {
        *self.entry((unit.index(), select, umask)).or_default() += amount;
    }
}

fn carry(mesh: &mut Mesh, message: &Message, now: u64, counts: &mut Counts) -> u64 {
    mesh.carry(message, now, counts)
}

fn of(counts: &Counts, name: &str, select: u8, umask: u8) -> u64 {
    counts.get(&(UnitId::named(name).unwrap().index(), select, umask)).copied().unwrap_or(0)
}

/// The sum over all boxes and the bits of `umasks`.
fn sum(counts: &Counts, selects: &[u8], umasks: u8) -> u64 {
    counts.iter().filter(|((_, select, umask), _)| selects.contains(select) && umask & umasks != 0).map(|(_, count)| count).sum()
}

#[test]
fn every_box_has_a_stop_of_its_own() {
    for name in ["cha", "edc-uclk", "mc-uclk", "m2pcie"] {
        for unit in UnitId::all().filter(|unit| unit.kind().unit() == name) {
            assert_eq!(Stop::of(unit).and_then(Stop::unit), Some(unit));
        }
    }
}

#[test]
fn a_message_goes_along_its_column_then_along_its_row() {
    let (mut mesh, mut counts) = (Mesh::new(), Counts::new());
    // From row 1, column 0 (CHA 0) to row 3, column 2 (CHA 8): down by CHA 3 to CHA 6, then right by CHA 7 to CHA 8. The run down ends in
    // an odd row, the one to the right in an even column.
    let message = Message { from: stop("cha0"), agent: Agent::Cores, to: stop("cha8"), ring: Ring::Bl };
    // Two hops of one clock, and two of two.
    assert_eq!(carry(&mut mesh, &message, 100, &mut counts), 100 + 2 + 4);
    // Data take two slots.
    assert_eq!([of(&counts, "cha3", 0xAA, 8), of(&counts, "cha6", 0xAA, 8)], [2, 2]);
    assert_eq!([of(&counts, "cha7", 0xAB, 4), of(&counts, "cha8", 0xAB, 4)], [2, 2]);
    assert_eq!(sum(&counts, &[0xAA, 0xAB], 0xFF), 8);
    // One credit of agent 1 for row 3, held for the two clocks to the turn.
    assert_eq!([of(&counts, "cha0", 0x8C, 8), of(&counts, "cha0", 0x8D, 2), of(&counts, "cha0", 0x8E, 8)], [1, 1, 2]);
}

#[test]
fn the_second_of_two_messages_waits_for_the_slots_of_the_first() {
    let (mut mesh, mut counts) = (Mesh::new(), Counts::new());
    let message = Message { from: stop("cha0"), agent: Agent::Cores, to: stop("cha3"), ring: Ring::Bl };
    assert_eq!(carry(&mut mesh, &message, 0, &mut counts), 1);
    // The slots of the first are two clocks, and so is the time in which the stop takes it.
    assert_eq!(carry(&mut mesh, &message, 0, &mut counts), 3);
    assert_eq!([of(&counts, "cha0", 0x9E, 0x40), of(&counts, "cha0", 0x91, 0x40)], [1, 1]);
    assert_eq!([of(&counts, "cha0", 0x90, 0x40), of(&counts, "cha0", 0x98, 0x40)], [2, 2]);
}

#[test]
fn a_read_that_misses_near_memory_takes_seven_messages() {
    let request = Request { supplier: Supplier::Memory { far: false }, ..Request::of(RequestKind::DataRead) };
    let rings: Vec<Ring> = steps(&request, 0, &Home::of(8, Controllers::Both)).map(|message| message.ring).collect();
    assert_eq!(rings, [Ring::Ad, Ring::Ad, Ring::Ad, Ring::Bl, Ring::Bl, Ring::Ak, Ring::Ak]);
}

fn any_message() -> impl Strategy<Value = Message> {
    let names = || prop_oneof![(0u8..38).prop_map(|n| ("cha", n)), (0u8..8).prop_map(|n| ("edc-uclk", n)), Just(("m2pcie", 0))];
    let to_stop =
        |(kind, number): (&str, u8)| Stop::of(UnitId::named(&alloc::format!("{kind}{number}")).or(UnitId::named(kind)).unwrap()).unwrap();
    (names(), names(), 0usize..4, any::<bool>()).prop_map(move |(from, to, ring, cores)| {
        let ring = Ring::ALL[ring];
        let agent = if cores && ring != Ring::Iv { Agent::Cores } else { Agent::Home };
        Message { from: to_stop(from), agent, to: to_stop(to), ring }
    })
}

/// The hops of a message that end at a stop with a box.
fn hops_to_boxes(message: &Message) -> u64 {
    let (from, to) = (message.from, message.to);
    let rows = (from.row.min(to.row)..=from.row.max(to.row)).filter(|row| *row != from.row).map(|row| Stop { row, column: from.column });
    let columns = (from.column.min(to.column)..=from.column.max(to.column)).filter(|at| *at != from.column);
    rows.chain(columns.map(|column| Stop { row: to.row, column })).filter(|stop| stop.unit().is_some()).count() as u64
}

const RINGS: [(Ring, [u8; 2]); 4] =
    [(Ring::Ad, [0xA6, 0xA7]), (Ring::Ak, [0xA8, 0xA9]), (Ring::Bl, [0xAA, 0xAB]), (Ring::Iv, [0xAC, 0xAD])];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn slots_in_use_are_those_of_the_hops(messages in prop::collection::vec((any_message(), 0u64..4), 1..200)) {
        let (mut mesh, mut counts, mut now) = (Mesh::new(), Counts::new(), 0);
        for (message, passed) in &messages {
            now += passed;
            carry(&mut mesh, message, now, &mut counts);
        }
        for (ring, selects) in RINGS {
            let hops: u64 = messages.iter().filter(|(message, _)| message.ring == ring).map(|(message, _)| hops_to_boxes(message)).sum();
            prop_assert_eq!(sum(&counts, &selects, 0xFF), hops * ring.slots());
        }
    }

    #[test]
    fn every_run_of_a_message_leaves_by_its_queue_or_past_it(messages in prop::collection::vec((any_message(), 0u64..4), 1..200)) {
        let (mut mesh, mut counts, mut now) = (Mesh::new(), Counts::new(), 0);
        for (message, passed) in &messages {
            now += passed;
            carry(&mut mesh, message, now, &mut counts);
        }
        let vertical = messages.iter().filter(|(message, _)| message.from.row != message.to.row).count() as u64;
        prop_assert_eq!(sum(&counts, &[0x91, 0x9E], 0xFF), vertical);
        // Turns at a place without a box are not counted.
        let turns = messages.iter().filter(|(message, _)| message.from.column != message.to.column);
        let turns = turns.filter(|(message, _)| Stop { row: message.to.row, column: message.from.column }.unit().is_some()).count() as u64;
        prop_assert_eq!(sum(&counts, &[0x95, 0x9F], 0xFF), turns);
    }

    #[test]
    fn a_message_that_looks_for_what_is_free_counts_what_one_that_does_not_counts(
        messages in prop::collection::vec((any_message(), 0u64..4, 0u64..30), 1..300),
        first in prop_oneof![4 => Just(0u64), 1 => Just(u64::MAX / 2 - 200)],
    ) {
        let (mut mesh, mut counts) = (Mesh::new(), Counts::new());
        let (mut plain, mut counts_of_plain, mut now) = (Mesh::new(), Counts::new(), first);
        for (message, passed, ahead) in messages {
            // Some messages set out before others that were carried already.
            now += passed;
            let there = carry(&mut mesh, &message, now + ahead, &mut counts);
            prop_assert_eq!(there, plain.carry_plainly(&message, now + ahead, &mut counts_of_plain));
        }
        prop_assert_eq!(counts, counts_of_plain);
        prop_assert_eq!(mesh.save(now), plain.save(now));
    }

    #[test]
    fn a_saved_mesh_goes_on_alike(messages in prop::collection::vec(any_message(), 2..100), later in 0u64..1000) {
        let (mut mesh, mut other, mut counts) = (Mesh::new(), Mesh::new(), Counts::new());
        let (first, second) = messages.split_at(messages.len() / 2);
        for message in first {
            carry(&mut mesh, message, 50, &mut counts);
        }
        other.load(&mesh.save(60), 60 + later);
        for message in second {
            let (mut here, mut there) = (Counts::new(), Counts::new());
            let arrives = carry(&mut mesh, message, 60, &mut here);
            prop_assert_eq!(arrives + later, carry(&mut other, message, 60 + later, &mut there));
            prop_assert_eq!(here, there);
        }
    }
}

/// What stops count of more requests than the mesh carries, and of a device that reads, if it takes part.
fn overloaded(with_device: bool) -> Counts {
    let (mut mesh, mut counts) = (Mesh::new(), Counts::new());
    let mut seed = 1u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let suppliers = [
        Supplier::Memory { far: false },
        Supplier::NearMemory { far: true },
        Supplier::OtherCluster { far: true },
        Supplier::OtherCluster { far: false },
        Supplier::Device,
    ];
    let kinds = [RequestKind::DataRead, RequestKind::WriteBack, RequestKind::Ownership, RequestKind::PartialWrite];
    // Thirty requests in every clock: for lines of all CHAs, of few, of one, and for those that one tile has.
    for phase in 0..4 {
        for number in 0..20_000u64 {
            let supplier = if phase == 3 { Supplier::OtherCluster { far: true } } else { suppliers[random(5) as usize] };
            let kind = kinds[if phase == 3 { 0 } else { random(4) as usize }];
            let holder = if phase == 3 { 13 } else { random(38) };
            let request = Request { supplier, holder: Some(holder as u16), ..Request::of(kind) };
            let (tile, home) = match phase {
                0 => (random(38), random(38)),
                1 => (random(38), 4 * random(3)),
                2 => (random(38), 13),
                _ => (24, random(38)),
            };
            // Each load begins when the mesh is empty.
            let now = 1_000_000 * phase + number / 30;
            steps(&request, tile as u8, &Home::of(home as u8, Controllers::Both))
                .fold(now, |time, message| carry(&mut mesh, &message, time, &mut counts));
            if with_device {
                DeviceAccess::Read
                    .steps(&Home::of(home as u8, Controllers::Both))
                    .fold(now, |time, message| carry(&mut mesh, &message, time, &mut counts));
                if let Some(data) = from_tile(tile as u8) {
                    carry(&mut mesh, &data, now, &mut counts);
                }
            }
        }
    }
    counts
}

#[test]
fn every_event_of_requests_is_counted_by_some_stop() {
    assert_driven_events_are_in(&overloaded(false), "cms", &[Internal::Request]);
}

#[test]
fn every_event_of_devices_is_counted_by_some_stop() {
    assert_driven_events_are_in(&overloaded(true), "cms", &[Internal::Device]);
}

/// Every event of `unit` that one of `internals` drives is among `counts`.
fn assert_driven_events_are_in(counts: &Counts, unit: &str, internals: &[Internal]) {
    let is_counted = |select: u32, umask: u32| {
        counts.keys().any(|(_, of, mask)| u32::from(*of) == select && (umask == 0 || u32::from(*mask) & umask != 0))
    };
    let is_driven = |drive| matches!(drive, Drive::Internal(internal) if internals.contains(&internal));
    let driven = KNL.entries.iter().filter(|entry| entry.unit == unit && is_driven(entry.drive));
    let missing: Vec<_> =
        driven.filter(|entry| !is_counted(entry.select, entry.umask.unwrap_or(0))).map(|entry| (entry.name, entry.umask)).collect();
    assert!(missing.is_empty(), "{} {missing:?}", missing.len());
}

#[test]
fn of_a_line_in_an_unknown_tile_only_the_request_and_its_end_are_known() {
    let request = Request { supplier: Supplier::OtherCluster { far: false }, ..Request::of(RequestKind::DataRead) };
    let of = |request: &Request| {
        steps(request, 0, &Home::of(8, Controllers::Both)).map(|message| (message.from, message.ring, message.to)).collect::<Vec<_>>()
    };
    let (asks, home, holder) = (stop("cha0"), stop("cha8"), stop("cha21"));
    assert_eq!(of(&request), [(asks, Ring::Ad, home), (home, Ring::Ak, asks)]);
    let known =
        [(asks, Ring::Ad, home), (home, Ring::Iv, holder), (holder, Ring::Ak, home), (holder, Ring::Bl, asks), (home, Ring::Ak, asks)];
    assert_eq!(of(&Request { holder: Some(21), ..request }), known);
}

#[test]
fn agent_1_has_no_queue_of_its_own_to_the_iv_ring() {
    let (mut mesh, mut counts) = (Mesh::new(), Counts::new());
    carry(&mut mesh, &Message { from: stop("cha0"), agent: Agent::Cores, to: stop("cha3"), ring: Ring::Iv }, 0, &mut counts);
    // EGRESS_VERT_BYPASS, IV_AG0 of table 6-32.
    assert_eq!(sum(&counts, &[0x9E], 0xFF), of(&counts, "cha0", 0x9E, 0x08));
}
