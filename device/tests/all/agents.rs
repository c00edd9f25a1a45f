//! What Knights Landing's home agents count of requests, read through their own registers.

use vm_pmu::arch::event::{Drive, Entry, Internal, KNL};
use vm_pmu::arch::feed::{Request, RequestKind, Snoop, Supplier};
use vm_pmu::topology::{Builder, Machine, Untile};
use vm_pmu::untile::{Agent, DeviceAccess, Message, Ring, Stage, Stop, Transaction, UnitId};
use vm_pmu::{Address, Part};

type Line = fn(usize, u32);

fn part() -> Machine<Line> {
    let line: Line = |_thread, _counter| {};
    Builder::of(Part::named("knl").unwrap()).packages(32).threads(8).build(line).unwrap()
}

/// The control of counter 0 of CHA `cha`, and its counter.
fn registers(cha: u8) -> [Address; 2] {
    [0xE01, 0xE08].map(|first| Address::Msr(first + 12 * u32::from(cha)))
}

/// CHA `cha` counts select and unit mask in its counter 0; filter 0 takes lines in every state, filter 1 requests of every kind.
fn count(untile: &Untile<'_, Line>, cha: u8, select: u32, umask: u32) {
    let [control, counter] = registers(cha);
    let filters = [(5, 0x1F << 17), (6, 0x3B)];
    filters.into_iter().for_each(|(at, value)| untile.write(Address::Msr(0xE00 + 12 * u32::from(cha) + at), value).unwrap());
    untile.write(counter, 0).unwrap();
    untile.write(control, u64::from(1 << 22 | umask << 8 | select)).unwrap();
}

fn read(untile: &Untile<'_, Line>, cha: u8) -> u64 {
    untile.tick_all(20_000);
    untile.read(registers(cha)[1]).unwrap()
}

fn request(kind: RequestKind, supplier: Supplier, physical: u64) -> Request {
    Request { supplier, physical, ..Request::of(kind) }
}

const NEAR: Supplier = Supplier::NearMemory { far: false };
const FAR: Supplier = Supplier::Memory { far: false };
/// The bytes from a line to the next one of the same set of a snoop filter.
const SET: u64 = 64 * 128;

/// The agent that is kept busy: at row 4, column 3, eight clocks from its MCDRAM controller at row 0, column 5.
const HOME: u8 = 28;

/// Line `number` of those from bit `region` of the address on; each is in another set.
fn line(region: u32, number: u64) -> u64 {
    (1 << region) + 128 * number
}

/// Tile `tile` makes `request`.
fn make(untile: &Untile<'_, Line>, request: &Request, tile: u64) {
    let tile = (tile % 38) as u8;
    untile.transact(HOME, &Transaction::of(request, tile, 0).unwrap(), Stage::Served { clocks: 10 });
    untile.carry_request(request, tile, HOME);
}

/// Messages of others on the AK and the IV ring, up and down through the agent's stop.
fn fill(untile: &Untile<'_, Line>) {
    let stop = |name| Stop::of(UnitId::named(name).unwrap()).unwrap();
    for _ in 0..60 {
        // They end in even rows, 2 and 6, and in odd ones, 3 and 5.
        for (from, to) in [("cha22", "cha32"), ("cha32", "cha22"), ("cha22", "cha29"), ("cha32", "cha25")] {
            let (from, to) = (stop(from), stop(to));
            for ring in [Ring::Ak, Ring::Iv] {
                untile.carry(&Message { from, agent: Agent::Home, to, ring });
            }
        }
    }
}

/// Bursts of everything that an agent does, one after the other, and each with other messages on the rings.
fn overload(untile: &Untile<'_, Line>) {
    let forwarded = |line: u64| Request {
        holder: Some(3),
        snoop: Snoop::Forwarded,
        ..request(RequestKind::DataRead, Supplier::OtherCluster { far: false }, line)
    };
    let bursts: [&dyn Fn(u64); 19] = [
        // Lines of one set: more requests than ways, and then full of modified lines that have to leave.
        &|number| make(untile, &request(RequestKind::Ownership, NEAR, SET * number), number),
        &|number| make(untile, &request(RequestKind::DataRead, NEAR, SET * (number + 40)), number),
        &|number| make(untile, &request(RequestKind::DataRead, NEAR, SET * (number + 80)), number),
        // One line again and again; lines of different sets.
        &|number| make(untile, &request(RequestKind::DataRead, NEAR, 64), number),
        &|number| make(untile, &request(RequestKind::DataRead, NEAR, line(30, number)), 1),
        // Others read them, of which the first has silently given them up; then they are shared and one takes them.
        // The snoops go up and the acknowledges down, so that no snoop waits for an acknowledge before it.
        &|number| make(untile, &request(RequestKind::DataRead, NEAR, line(30, number)), 35),
        &|number| make(untile, &request(RequestKind::Ownership, NEAR, line(30, number)), 3),
        &|number| make(untile, &forwarded(line(31, number)), number),
        // Memory's cache gives up lines that no tile has; then exclusive ones, and modified ones.
        &|number| make(untile, &Request { displaced: Some(line(32, number)), ..request(RequestKind::DataRead, FAR, line(33, number)) }, 4),
        &|number| make(untile, &Request { displaced: Some(line(33, number)), ..request(RequestKind::DataRead, FAR, line(34, number)) }, 4),
        &|number| make(untile, &Request { displaced: Some(line(30, number)), ..request(RequestKind::DataRead, FAR, line(35, number)) }, 4),
        // And lines that are asked for at that time.
        &|number| {
            make(untile, &request(RequestKind::DataRead, NEAR, line(28, number)), 4);
            make(untile, &Request { displaced: Some(line(28, number)), ..request(RequestKind::DataRead, FAR, line(29, number)) }, 5);
        },
        &|number| {
            make(untile, &request(RequestKind::WriteBack, Supplier::Unknown, line(27, number)), number);
            make(untile, &request(RequestKind::DataRead, NEAR, line(26, number)), number);
        },
        // Streaming stores to lines that a tile has modified, and devices.
        &|number| {
            make(untile, &request(RequestKind::Ownership, NEAR, line(36, number)), 5);
            make(untile, &request(RequestKind::FullStreamingStore, Supplier::Unknown, line(36, number)), 6);
        },
        &|number| make(untile, &request(RequestKind::PartialRead, Supplier::Device, line(25, number)), number),
        &|number| make(untile, &request(RequestKind::PartialWrite, Supplier::Device, line(25, number)), number),
        &|number| untile.device_at(DeviceAccess::Read, line(24, number / 4), HOME, false),
        &|number| untile.device_at(DeviceAccess::Write, line(23, number), HOME, false),
        &|number| untile.device_at(DeviceAccess::Write, line(31, number), HOME, true),
    ];
    for burst in bursts {
        fill(untile);
        (0..40).for_each(burst);
        untile.tick_all(10_000);
    }
}

fn is_driven(entry: &&Entry) -> bool {
    entry.unit == "cha" && matches!(entry.drive, Drive::Internal(Internal::Request | Internal::Device))
}

#[test]
fn every_event_of_requests_and_devices_is_counted_by_a_busy_agent() {
    let missing: Vec<_> = KNL
        .entries
        .iter()
        .filter(is_driven)
        .filter(|entry| {
            let machine = part();
            let untile = machine.untile().unwrap();
            // COUNTER0_OCCUPANCY follows the queue that the counter followed before.
            count(&untile, HOME, 0x36, 0x31);
            count(&untile, HOME, entry.select, entry.umask.unwrap_or(0));
            overload(&untile);
            read(&untile, HOME) == 0
        })
        .map(|entry| entry.name)
        .collect();
    assert!(missing.is_empty(), "{} {missing:?}", missing.len());
}

#[test]
fn entries_of_the_table_stay_for_their_clocks_whichever_counter_follows_it() {
    let machine = part();
    let untile = machine.untile().unwrap();
    count(&untile, HOME, 0x36, 0x31);
    count(&untile, HOME, 0x1F, 0);
    // Two requests of ten clocks each.
    (0..2).for_each(|number| make(&untile, &request(RequestKind::DataRead, NEAR, 64 * number), 0));
    assert_eq!(read(&untile, HOME), 20);
}

#[test]
fn requests_are_entries_of_the_table_once_and_those_rejected_are_a_part_of_them() {
    let counted = |select, umask| {
        let machine = part();
        let untile = machine.untile().unwrap();
        count(&untile, HOME, select, umask);
        overload(&untile);
        read(&untile, HOME)
    };
    // IRQ and PRQ: what comes in is what enters the table.
    let (irq, prq) = (counted(0x13, 0x01), counted(0x13, 0x10));
    assert_eq!([irq + prq, prq], [counted(0x35, 0x31), counted(0x35, 0x34)]);
    // Hits and misses are all.
    assert_eq!(counted(0x35, 0x11) + counted(0x35, 0x21), irq + prq);
    assert_eq!(counted(0x13, 0x04), counted(0x35, 0x38));
    assert_eq!(counted(0x35, 0x18) + counted(0x35, 0x28), counted(0x35, 0x38));
    // Every request is rejected at most once, and waits in the queue of rejected ones then.
    let (late_irq, late_prq) = (counted(0x13, 0x02), counted(0x13, 0x20));
    assert!(late_irq > 0 && late_irq < irq && late_prq > 0 && late_prq < prq, "{late_irq} of {irq}, {late_prq} of {prq}");
    // Rejects for any credit, a victim, a way or an address are the rejected requests.
    assert_eq!([0x01, 0x08, 0x20, 0x80].map(|reason| counted(0x19, reason)).iter().sum::<u64>(), late_irq);
    assert_eq!([0x01, 0x80].map(|reason| counted(0x21, reason)).iter().sum::<u64>(), late_prq);
    // Their first retries are those of all queues.
    let firsts = [0x19, 0x21, 0x23].map(|select| counted(select, 0x01)).iter().sum::<u64>();
    assert_eq!(counted(0x2B, 0x01), firsts);
    // A controller that snoops looks the line up once.
    assert_eq!(counted(0x34, 0x09), 40 + 40 + 40);
}
