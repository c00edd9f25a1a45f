//! What Knights Landing's M2PCIe and IRP count of devices and of tiles' requests to them, read through their own registers.

use vm_pmu::Part;
use vm_pmu::arch::event::{Drive, Entry, Internal, KNL};
use vm_pmu::arch::feed::{Request, RequestKind, Supplier};
use vm_pmu::topology::{Builder, Machine, Untile};
use vm_pmu::untile::{Agent, DeviceAccess, Message, Ring, Stop, UnitId};

type Line = fn(usize, u32);

fn part() -> Machine<Line> {
    let line: Line = |_thread, _counter| {};
    Builder::of(Part::named("knl").unwrap()).packages(32).threads(8).build(line).unwrap()
}

/// Bus, device and function, and the offsets of counter 0's control and of the counter.
const M2PCIE: (u8, u8, u8, u16, u16) = (0xFF, 12, 1, 0xD8, 0xA0);
const IRP: (u8, u8, u8, u16, u16) = (0, 5, 6, 0xD8, 0xA0);

/// Answers of the IRP to snoops.
const SNOOP_RESPONSES: u32 = 0x17;

/// What counter 0 of a box counts of `select` and `umask` while `act` goes on.
fn counted(place: (u8, u8, u8, u16, u16), select: u32, umask: u32, act: impl Fn(&Untile<'_, Line>)) -> u32 {
    let (bus, device, function, control, counter) = place;
    let machine = part();
    let untile = machine.untile().unwrap();
    untile.pci_write(bus, device, function, control, 4, 1 << 22 | umask << 8 | select);
    act(&untile);
    untile.tick_all(20_000);
    untile.pci_read(bus, device, function, counter, 4)
}

/// A request of a tile to a device, by the CHA beside it.
fn to_device(untile: &Untile<'_, Line>, kind: RequestKind, home: u8) {
    untile.carry_request(&Request { supplier: Supplier::Device, ..Request::of(kind) }, home, home);
}

/// Devices and tiles do everything at once, by CHAs of both halves of the die.
fn overload(untile: &Untile<'_, Line>) {
    for access in DeviceAccess::ALL {
        for number in 0..40u64 {
            for home in [5, 30] {
                untile.device_at(access, 4096 * number + 64 * u64::from(home), home, false);
            }
        }
        untile.tick_all(10_000);
    }
    for kind in [RequestKind::PartialRead, RequestKind::PartialWrite] {
        for _ in 0..8 {
            (0..38).for_each(|home| to_device(untile, kind, home));
        }
        untile.tick_all(10_000);
    }
    for kind in [RequestKind::Code, RequestKind::DataRead, RequestKind::Ownership] {
        answers(untile, kind);
    }
}

/// A line of CHA 2, which is one hop below the devices' stop.
const LINE: u64 = 0x4000;

/// Tile 2, which is beside the CHA, asks for the line.
fn ask(untile: &Untile<'_, Line>, kind: RequestKind) {
    untile.carry_request(&Request { physical: LINE, supplier: Supplier::NearMemory { far: false }, ..Request::of(kind) }, 2, 2);
}

/// A device prefetches the line.
fn prefetch(untile: &Untile<'_, Line>) {
    untile.device_at(DeviceAccess::Prefetch, LINE, 2, false);
}

/// Another device has written eight lines at this clock, so that data wait sixteen clocks in M2PCIe.
fn write_others(untile: &Untile<'_, Line>) {
    for number in 0..8 {
        untile.device_at(DeviceAccess::Prefetch, 0x8000 + 64 * number, 2, false);
    }
    untile.tick_all(2_000);
    for number in 0..8 {
        untile.device_at(DeviceAccess::Write, 0x8000 + 64 * number, 2, false);
    }
}

/// Acknowledges from the CHA's stop to the devices' fill the ring, so that a grant waits.
fn fill(untile: &Untile<'_, Line>) {
    let [from, to] = ["cha2", "m2pcie"].map(|name| Stop::of(UnitId::named(name).unwrap()).unwrap());
    (0..200).for_each(|_| untile.carry(&Message { from, agent: Agent::Home, to, ring: Ring::Ak }));
}

/// Requests of this kind get each of the four answers of the IRP.
fn answers(untile: &Untile<'_, Line>, kind: RequestKind) {
    // The grant waits for the ring, and the snoop goes by another.
    fill(untile);
    prefetch(untile);
    untile.tick_all(60);
    ask(untile, kind);
    untile.tick_all(10_000);
    // The line is granted and not written.
    prefetch(untile);
    untile.tick_all(10_000);
    ask(untile, kind);
    untile.tick_all(10_000);
    // Data wait in M2PCIe behind those of others, or are on their way to the CHA.
    for clocks in 0..32 {
        prefetch(untile);
        write_others(untile);
        untile.device_at(DeviceAccess::Write, LINE, 2, false);
        untile.tick_all(clocks);
        ask(untile, kind);
        untile.tick_all(10_000);
    }
}

#[test]
fn every_event_between_the_mesh_and_devices_is_counted() {
    let is_driven = |entry: &&Entry| matches!(entry.drive, Drive::Internal(Internal::Request | Internal::Device));
    let missing: Vec<_> = [("m2pcie", M2PCIE), ("irp", IRP)]
        .into_iter()
        .flat_map(|(unit, place)| {
            KNL.entries.iter().filter(move |entry| entry.unit == unit).filter(is_driven).map(move |entry| (entry, place))
        })
        .filter(|(entry, place)| {
            let umask = entry.umask.unwrap_or(0);
            // An answer to a snoop counts with its kind, and a kind with its answer.
            let umask = match (entry.select, umask) {
                (SNOOP_RESPONSES, 0) => 0x7F,
                (SNOOP_RESPONSES, answer) if answer & 0x0F != 0 => answer | 0x70,
                (SNOOP_RESPONSES, kind) => kind | 0x0F,
                (_, umask) => umask,
            };
            counted(*place, entry.select, umask, overload) == 0
        })
        .map(|(entry, _)| entry.name)
        .collect();
    assert!(missing.is_empty(), "{} {missing:?}", missing.len());
}

#[test]
fn a_device_that_writes_a_line_sends_a_request_and_data_and_gets_one_acknowledge() {
    // CHA 5 is in the left half of the die.
    let write = |untile: &Untile<'_, Line>| untile.device(DeviceAccess::Write, 5, false);
    // TxC_INSERTS of AD_0 and BL_0, acknowledges to the IRP; memory sends it no data.
    assert_eq!([0x01, 0x04].map(|umask| counted(M2PCIE, 0x24, umask, write)), [1, 1]);
    assert_eq!([counted(IRP, 0x0A, 0, write), counted(IRP, 0x01, 0, write)], [1, 0]);
    // Cycles not empty: a clock for the request, two for the data.
    assert_eq!([0x01, 0x04].map(|umask| counted(M2PCIE, 0x23, umask, write)), [1, 2]);
}

#[test]
fn a_device_answers_a_read_after_four_hundred_clocks_and_its_credit_goes_back() {
    // CHA 30 is in the right half of the die.
    let read = |untile: &Untile<'_, Line>| to_device(untile, RequestKind::PartialRead, 30);
    // NCS comes: two clocks in M2PCIe, one in the IRP, and then 400 outstanding. One credit goes back by AK_CRD_1.
    assert_eq!([0x04, 0x80].map(|umask| counted(M2PCIE, 0x10, umask, read)), [2, 2]);
    assert_eq!([0x09, 0x0D].map(|select| counted(IRP, select, 0, read)), [1, 400]);
    assert_eq!([0x08, 0x80].map(|umask| counted(M2PCIE, 0x24, umask, read)), [0, 1]);
}

#[test]
fn the_ninth_request_at_once_finds_the_entries_to_the_mesh_taken() {
    // Eight entries, and one leaves in each clock: all at one time, the ninth is the first that waits.
    let requests = |number: u32| move |untile: &Untile<'_, Line>| (0..number).for_each(|_| untile.device(DeviceAccess::Prefetch, 5, false));
    assert_eq!([8, 9, 12].map(|number| counted(IRP, 0x18, 0, requests(number))), [0, 1, 4]);
}

#[test]
fn a_restored_machine_goes_on_with_what_was_on_its_way() {
    let (machine, other) = (part(), part());
    let (untile, restored) = (machine.untile().unwrap(), other.untile().unwrap());
    let (bus, device, function, control, counter) = IRP;
    // STALL_CYCLES_AD_EGRESS_CREDITS_ESEL: eight requests find entries.
    untile.pci_write(bus, device, function, control, 4, 0x0040_0018);
    (0..8).for_each(|number| untile.device_at(DeviceAccess::Prefetch, 64 * number, 5, false));
    let state = untile.state();
    assert!(restored.restore(&state));
    assert_eq!(restored.state(), state);
    // The ninth finds none.
    restored.device_at(DeviceAccess::Prefetch, 64 * 8, 5, false);
    restored.tick_all(1);
    assert_eq!(restored.pci_read(bus, device, function, counter, 4), 1);
}

/// What the IRP answers to a tile that asks for the line `clocks` after `act`: the count of each answer, for any kind of snoop.
fn answered(act: impl Fn(&Untile<'_, Line>), clocks: u64) -> [u32; 4] {
    [0x01, 0x02, 0x04, 0x08].map(|answer| {
        counted(IRP, 0x17, 0x70 | answer, |untile| {
            act(untile);
            untile.tick_all(clocks);
            ask(untile, RequestKind::DataRead);
        })
    })
}

#[test]
fn a_line_that_a_device_prefetched_is_exclusive_in_the_irp_until_a_tile_takes_it() {
    assert_eq!(answered(prefetch, 10_000), [0, 0, 1, 0]);
    // A second tile finds it gone, and the agent knows.
    let taken = |untile: &Untile<'_, Line>| {
        prefetch(untile);
        untile.tick_all(10_000);
        ask(untile, RequestKind::DataRead);
    };
    assert_eq!(answered(taken, 10_000), [0, 0, 1, 0]);
}

#[test]
fn nobody_asks_the_irp_for_a_line_that_it_has_written_back() {
    let written = |untile: &Untile<'_, Line>| {
        prefetch(untile);
        untile.tick_all(10_000);
        untile.device_at(DeviceAccess::Write, LINE, 2, false);
    };
    assert_eq!(answered(written, 10_000), [0; 4]);
    // Without a prefetch the agent keeps others waiting until the write is done.
    assert_eq!(answered(|untile| untile.device_at(DeviceAccess::Write, LINE, 2, false), 0), [0; 4]);
}

#[test]
fn data_that_wait_for_the_mesh_are_modified_and_data_on_their_way_are_missed() {
    let written = |untile: &Untile<'_, Line>| {
        prefetch(untile);
        write_others(untile);
        untile.device_at(DeviceAccess::Write, LINE, 2, false);
    };
    // The ninth line leaves M2PCIe at clock 18. The tile asks the CHA beside it, and the snoop is there a clock later.
    assert_eq!([16, 17].map(|clocks| answered(written, clocks)), [[0, 0, 0, 1], [1, 0, 0, 0]]);
}

#[test]
fn a_prefetched_line_is_written_without_another_request_for_it() {
    let both = |untile: &Untile<'_, Line>| {
        prefetch(untile);
        untile.tick_all(10_000);
        untile.device_at(DeviceAccess::Write, LINE, 2, false);
    };
    // RFO, I2M and WbMtoI; requests by AD, and data.
    assert_eq!([0x08, 0x10, 0x40].map(|operation| counted(IRP, 0x13, operation, both)), [1, 0, 1]);
    assert_eq!([0x01, 0x04].map(|umask| counted(M2PCIE, 0x24, umask, both)), [1, 1]);
}

#[test]
fn a_snoop_is_in_the_irp_until_its_answer_leaves_for_the_mesh() {
    let snooped = |untile: &Untile<'_, Line>| {
        prefetch(untile);
        untile.tick_all(10_000);
        ask(untile, RequestKind::Ownership);
    };
    // Acknowledges leave M2PCIe in a clock. The snoop invalidates, and is no other kind.
    assert_eq!(counted(IRP, 0x12, 0x02, snooped), 1);
    assert_eq!([0x10, 0x20, 0x40].map(|kind| counted(IRP, 0x17, 0x0F | kind, snooped)), [0, 0, 1]);
}
