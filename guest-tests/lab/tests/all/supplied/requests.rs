//! Requests that leave a tile of Knights Landing, as its home agents see them.

use vm_pmu::arch::event::{Drive, Entry, Internal, KNL};
use vm_pmu::arch::feed::{Demand, Records, Request, SignalSet};
use vm_pmu::companion::{Access, AccessKind, Builder, Companion, Follower, Instruction, Untranslated};
use vm_pmu::untile::{DeviceAccess, Kind, Stage, Transaction, UnitId, UnitRegister, address_of};
use vm_pmu::{Address, topology};
use vm_pmu_board::Lines;

/// A counter's control: it counts.
const EN: u64 = 1 << 22;
/// A box's control: what a driver begins with.
const INIT: u64 = 0x1_0003;
/// Filter 0: lines in every state. Filter 1: every opcode, of both nodes, near memory or not.
const STATES: u64 = 0x1F << 17;
const OPCODES: u64 = 0x3B;
/// The home agents.
const CHAS: u8 = 38;
/// Lines that are accessed.
const LINES: u64 = 256;
/// Bytes from one to the next: each is in its own page.
const APART: u64 = 4096 + 64;

fn follow(companion: &Companion, number: usize) -> Follower<'_> {
    let mut demand = Demand::default();
    demand.replace(SignalSet::EMPTY, false, Records::REQUESTS);
    let mut follower = companion.follower(number).unwrap();
    follower.sync(&demand);
    follower
}

/// The requests of two tiles of which the second reads and writes what the first has stored to.
fn requests(companion: &Companion) -> Vec<(Request, u8)> {
    let pmus = topology::Builder::new("knl").unwrap().packages(2).threads(8).build(Lines::new(16)).unwrap();
    let mut made = Vec::new();
    let second = LINES * APART;
    for (tile, kind, first) in
        [(0, AccessKind::Store, 0), (1, AccessKind::Load, 0), (0, AccessKind::Store, second), (1, AccessKind::Store, second)]
    {
        let thread = 8 * usize::from(tile);
        let mut follower = follow(companion, thread);
        for line in 0..LINES {
            let address = first + line * APART;
            let access = Access { address, physical: address, size: 8, kind, ..Access::default() };
            follower.execute(&Instruction { accesses: &[access], ..Instruction::default() }, &mut Untranslated(12));
            made.extend(follower.requests().iter().map(|request| (*request, tile)));
            follower.deliver(&pmus.thread(thread).unwrap(), &[], |_| {});
        }
    }
    made
}

/// What the home agents count of `entry` in these requests, and where it is an event of devices, in two reads by a device of a line of each
/// agent, the second of a line that a tile has.
fn counted(entry: &Entry, requests: &[(Request, u8)], companion: &Companion) -> u64 {
    let pmus = topology::Builder::new("knl").unwrap().packages(2).threads(8).build(Lines::new(16)).unwrap();
    let untile = pmus.untile().unwrap();
    let at = |cha: u8, register| address_of(UnitId::new(Kind::Cha, cha).unwrap(), register).unwrap();
    let control = EN | u64::from(entry.umask.unwrap_or(0)) << 8 | u64::from(entry.select);
    for cha in 0..CHAS {
        for (register, value) in [
            (UnitRegister::Control, INIT),
            (UnitRegister::Filter(0), STATES),
            (UnitRegister::Filter(1), OPCODES),
            (UnitRegister::CounterControl(0), control),
        ] {
            untile.write(Address::Msr(at(cha, register)), value).unwrap();
        }
    }
    for (request, tile) in requests {
        let Some(transaction) = Transaction::of(request, *tile, 0) else { continue };
        let cha = u8::try_from(companion.home(request.physical)).unwrap();
        untile.transact(cha, &transaction, Stage::Served { clocks: 10 });
        untile.tick_all(1);
    }
    for cha in (0..CHAS).filter(|_| entry.drive == Drive::Internal(Internal::Device)) {
        [false, true].into_iter().for_each(|hit| untile.device(DeviceAccess::Read, cha, hit));
        untile.tick_all(1);
    }
    untile.tick_all(10);
    (0..CHAS).map(|cha| untile.read(Address::Msr(at(cha, UnitRegister::Counter(0)))).unwrap()).sum()
}

#[test]
fn every_event_of_requests_is_counted_by_some_home_agent() {
    let companion = Builder::new("knl").unwrap().threads(16).build();
    let requests = requests(&companion);
    // What an agent does beyond that is read in a test of the fabric.
    let told = |entry: &&Entry| {
        let of_requests: &[u32] = match entry.select {
            0x11 | 0x13 => &[0x01, 0x10],
            0x34 => &[0x03, 0x05, 0x11],
            0x35 | 0x36 => &[0x31, 0x11, 0x21, 0x34, 0x14, 0x24, 0x1D, 0x2D],
            _ => &[],
        };
        let driven = matches!(entry.drive, Drive::Internal(Internal::Request | Internal::Device));
        entry.unit == "cha" && driven && entry.umask.is_some_and(|umask| of_requests.contains(&umask))
    };
    let missing: Vec<&str> =
        KNL.entries.iter().filter(told).filter(|entry| counted(entry, &requests, &companion) == 0).map(|entry| entry.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_device_that_reads_a_line_of_every_home_agent_is_one_request_of_the_prq_at_each() {
    let companion = Builder::new("knl").unwrap().threads(8).build();
    let entry = KNL.entries.iter().find(|entry| entry.unit == "cha" && entry.select == 0x35 && entry.umask == Some(0x24)).unwrap();
    // One of the two lines of each agent is in no tile.
    assert_eq!(counted(entry, &[], &companion), u64::from(CHAS));
}
