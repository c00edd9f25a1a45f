//! Metrics of the nest: two chips of a group post what a device's traffic makes of them.

use std::collections::BTreeMap;

use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
use vm_pmu::arch::event::POWER9;
use vm_pmu::arch::feed::{Demand, Totals};
use vm_pmu::companion::{Builder, Companion, DeviceOperation, DeviceRequest};
use vm_pmu::memory::{Chip, FLEXIBLE, Frequencies, Guest, HostBridge, Nest, REGION, Traffic};
use vm_pmu_board::power::scale;

use super::check;

/// Bytes of memory of each chip that is accessed, and lines of them.
const MEMORY: u64 = 1 << 20;
const LINE: u64 = 128;
const LINES: u64 = MEMORY / LINE;
/// Bytes of a piece of a transfer.
const PIECE: u64 = 4096;
/// The home memory of the first chip, and bytes to that of the next.
const HOME: u64 = 4 << 20;
const HOME_SIZE: u64 = 4 << 20;
/// Additions to one line.
const ADDITIONS: u64 = 256;
/// Loads from the device.
const ANSWERS: u64 = 7;

/// Cycles of the nest from slot to slot, and slots: all that is posted is posted at the same distance from their beginning and from their
/// end, and clocks are whole steps of every prescaler.
const SLOT: u64 = 500;
const SLOTS: u64 = 3072;
/// Hertz of the interconnect, of host bridges and of memory.
const FREQUENCIES: Frequencies = Frequencies { nest: 2_000_000_000, host_bridge: 2_000_000_000, memory: 1_000_000_000 };
/// The seconds that all of them take.
const SECONDS: f64 = (SLOTS * SLOT) as f64 / FREQUENCIES.nest as f64;
const GIVEN: [(&str, f64); 3] =
    [("PB_Freq", FREQUENCIES.nest as f64), ("PHB_Freq", FREQUENCIES.host_bridge as f64), ("MBA_Freq", FREQUENCIES.memory as f64)];

type Counts = BTreeMap<&'static str, u64>;

struct Machine {
    memory: GuestMemoryMmap<()>,
    chips: [Chip; 2],
    companion: Companion,
    traffic: Traffic,
    bridge: HostBridge,
}

impl Machine {
    fn new() -> Machine {
        let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 16 << 20)]).unwrap();
        let chip = |id: u32| {
            let nest = Nest::new(HOME + HOME_SIZE * u64::from(id));
            Chip::new(id, nest.with_frequencies(FREQUENCIES).with_slot(SLOT))
        };
        let companion = Builder::new("power9").unwrap().packages(2).threads(8).memory_per_package(MEMORY).build();
        let traffic = Traffic::new(&companion, 2);
        Machine { memory, chips: [chip(0), chip(1)], companion, traffic, bridge: HostBridge::new(0).unwrap() }
    }

    fn advance(&self, slots: u64) {
        // One at a time: of many that come at once most are late.
        for _ in 0..slots {
            self.chips.iter().for_each(|chip| chip.advance(SLOT, &Guest(&self.memory)).ok().unwrap());
        }
    }

    /// What each chip's cells of the default mode hold, in events.
    fn posted(&self) -> [Counts; 2] {
        self.chips.each_ref().map(|chip| {
            let cell = |offset: u32| {
                let mut bytes = [0; 8];
                self.memory.read_slice(&mut bytes, GuestAddress(chip.home() + REGION + u64::from(offset))).unwrap();
                u64::from_be_bytes(bytes) * scale(offset)
            };
            let nest = POWER9.events().filter(|entry| entry.unit == "nest");
            let posted = nest.filter_map(|entry| Some((entry.name, entry.offset.filter(|offset| *offset < FLEXIBLE)?)));
            posted.map(|(name, offset)| (name, cell(offset))).collect()
        })
    }

    /// A device behind the bridge of the first chip does the same with all memory of a chip.
    fn transfer(&self, chip: u64, operation: DeviceOperation) {
        for piece in 0..MEMORY / PIECE {
            let physical = MEMORY * chip + PIECE * piece;
            match operation {
                DeviceOperation::Read => self.bridge.dma_read(&self.chips[0], physical, PIECE),
                _ => self.bridge.dma_write(&self.chips[0], physical, PIECE),
            };
            self.access(physical, PIECE, operation);
        }
    }

    fn access(&self, physical: u64, size: u64, operation: DeviceOperation) {
        let request = DeviceRequest { package: 0, physical, size, operation };
        self.companion.device(&request, &Totals::new(), &Demand::default());
        self.traffic.flush(&self.companion, &self.chips);
    }
}

/// By how much the cells of both chips grow over the slots: all memory of the first chip is read and written, that of the second read, the
/// first line added to, and registers of the device are loaded.
fn grown() -> [Counts; 2] {
    let machine = Machine::new();
    machine.advance(4);
    assert!(machine.traffic.sync(&machine.companion, &machine.chips));
    machine.advance(SLOTS);
    let before = machine.posted();
    machine.transfer(0, DeviceOperation::Read);
    machine.transfer(0, DeviceOperation::Write);
    machine.transfer(1, DeviceOperation::Read);
    (0..ADDITIONS).for_each(|_| machine.access(0, 8, DeviceOperation::Atomic));
    machine.bridge.load_answered(&machine.chips[0], ANSWERS);
    machine.advance(SLOTS);
    let mut after = machine.posted();
    for (after, before) in after.iter_mut().zip(&before) {
        after.iter_mut().for_each(|(name, count)| *count -= before[name]);
    }
    after
}

/// So many in a second.
fn rate(number: u64) -> f64 {
    number as f64 / SECONDS
}

/// So many lines, in bytes in a second.
fn bandwidth(lines: u64) -> f64 {
    rate(lines * LINE)
}

#[test]
fn bandwidths_of_the_first_chip_are_the_bytes_that_were_moved() {
    let [first, _] = grown();
    // Half of the lines are at MC01, among them the one that is added to, which is read and written for each addition. An eighth is at each
    // memory buffer.
    let right = [
        ("total_mcs01_read_bw", bandwidth(LINES / 2 + ADDITIONS)),
        ("total_mcs01_write_bw", bandwidth(LINES / 2 + ADDITIONS)),
        ("total_mcs01_read_or_write_bw", bandwidth(LINES + 2 * ADDITIONS)),
        ("total_mcs23_read_bw", bandwidth(LINES / 2)),
        ("total_mcs23_write_bw", bandwidth(LINES / 2)),
        ("mcs01_amo_req_disp_rate", rate(ADDITIONS)),
        ("mba0_read_BW", bandwidth(LINES / 8 + ADDITIONS)),
        ("mba1_read_BW", bandwidth(LINES / 8)),
        ("mba7_write_BW", bandwidth(LINES / 8)),
        // What is read and what is written moves within the chip, an addition does not; what the second chip has comes from there.
        ("total_int_pb_bw", bandwidth(2 * LINES)),
        ("total_ext_pb_bw_sent", bandwidth(LINES)),
    ];
    check(&first, &GIVEN, &right);
}

#[test]
fn pumps_of_the_first_chip_are_its_requests() {
    let [first, second] = grown();
    let right =
        [("total_local_node_pumps", rate(2 * LINES + ADDITIONS)), ("total_group_pumps", rate(LINES)), ("total_vector_group_pumps", 0.0)];
    check(&first, &GIVEN, &right);
    check(&second, &GIVEN, &right.map(|(name, _)| (name, 0.0)));
}

#[test]
fn the_link_between_the_chips_carries_commands_one_way_and_lines_the_other() {
    let [first, second] = grown();
    // Even lines go by the even half. A command and an answer take a slot each, a line nine with its header: in per cent of the cycles.
    let half = LINES / 2;
    let utilization = |slots: u64| slots as f64 / (SLOTS * SLOT) as f64 * 100.0;
    check(
        &first,
        &GIVEN,
        &[
            ("xlink0_even_data_bw", bandwidth(half)),
            ("xlink0_odd_data_bw", bandwidth(half)),
            ("xlink0_even_rcmd_rate", 0.0),
            ("xlink0_even_total_utilization", utilization(10 * half)),
        ],
    );
    check(
        &second,
        &GIVEN,
        &[
            ("xlink0_even_data_bw", 0.0),
            ("xlink0_even_rcmd_rate", rate(half)),
            ("xlink0_odd_rcmd_rate", rate(half)),
            ("xlink0_odd_total_utilization", utilization(half)),
            ("total_mcs01_read_bw", bandwidth(half)),
        ],
    );
}

#[test]
fn rates_of_the_host_bridge_are_its_requests_and_answers() {
    let [first, second] = grown();
    // Reads ask for 512 bytes, writes carry 256.
    let right = [
        ("phb0_dma_rd_rate", rate(2 * MEMORY / 512)),
        ("phb0_dma_wr_rate", rate(MEMORY / 256)),
        ("phb0_mmio_load_rate", rate(ANSWERS)),
        ("phb1_dma_rd_rate", 0.0),
    ];
    check(&first, &GIVEN, &right);
    check(&second, &GIVEN, &right.map(|(name, _)| (name, 0.0)));
}

#[test]
fn the_metrics_that_perf_has_of_memory_are_the_bytes_that_were_moved() {
    const MIB: f64 = (1 << 20) as f64;
    let [first, _] = grown();
    let of = |pair: &str, kind: &str| {
        let cell = |ports: &str| first[format!("PM_MCS{pair}_64B_{kind}_DISP_PORT{ports}").as_str()];
        (cell("01") + cell("23")) as f64
    };
    // perf's numbers for a block of 64 bytes in MiB and, of hv_24x7, whose counts are not scaled, for 256 of them in MB have two digits.
    const BLOCK: f64 = 6.1e-5;
    const STEP: f64 = 1.6e-2;
    let is = |seen: f64, right: f64, digits: f64| assert!((seen / right - 1.0).abs() < digits, "{seen}, not {right}");
    let added = (ADDITIONS * LINE) as f64;
    let half = (MEMORY / 2) as f64;
    // mcs01-read, mcs23-read, mcs01-write, mcs23-write, Memory-bandwidth-MCS.
    let rows = [("01", "RD", half + added), ("23", "RD", half), ("01", "WR", half + added), ("23", "WR", half)];
    for (pair, kind, bytes) in rows {
        is(of(pair, kind) * BLOCK, bytes / MIB, 1e-3);
    }
    let all: f64 = rows.iter().map(|(pair, kind, _)| of(pair, kind)).sum();
    is(all * BLOCK, (4.0 * half + 2.0 * added) / MIB, 1e-3);
    // Memory_RD_BW_Chip, Memory_WR_BW_Chip.
    for kind in ["RD", "WR"] {
        is((of("01", kind) + of("23", kind)) / 256.0 * STEP, (2.0 * half + added) / 1e6, 0.025);
    }
    // powerbus_freq, in GHz.
    is(first["PM_PB_CYC"] as f64 / SECONDS * 1e-9, FREQUENCIES.nest as f64 * 1e-9, 1e-9);
}
