//! Knights Landing's fabric as a whole: laws of conservation over random traffic, and the formulas of its manual and of `perf` on what
//! programs do, read through the boxes' own registers.

mod modes;

use proptest::prelude::*;
use vm_pmu::arch::feed::{Demand, Records, Request, RequestKind, SignalSet, Supplier};
use vm_pmu::companion::{Access, AccessKind, Companion, Follower, Instruction, Untranslated};
use vm_pmu::die::{ClusterMode, Die, Tiles};
use vm_pmu::layout::Layout;
use vm_pmu::topology::{Builder, Machine, Untile};
use vm_pmu::untile::{Domain, Kind, Stage, Transaction, UnitId, UnitRegister, address_of};
use vm_pmu::{Address, Part};

type Line = fn(usize, u32);

const LINE: u64 = 64;
/// Bytes of the companion's MCDRAM: lines so far from each other share a place.
const MCDRAM: u64 = 64 << 20;
/// MCDRAM as a cache: what it had, of 02h of an EDC (table 3-1), and its queues of reads and of writes, 01h and 02h of its other half.
const HITS: u32 = 0x03;
const MISSES_OF_LINES: u32 = 0x0C;
const MISSES: u32 = 0x1C;

fn layout(tiles: usize) -> Layout {
    Layout::of(Part::named("knl").unwrap()).cores(2 * tiles)
}

fn machine(tiles: usize) -> Machine<Line> {
    let line: Line = |_thread, _counter| {};
    layout(tiles).pmus().build(line).unwrap()
}

fn units(kind: Kind) -> impl Iterator<Item = UnitId> {
    UnitId::all().filter(move |unit| unit.kind() == kind)
}

/// Writes a register of a box.
fn write(untile: &Untile<'_, Line>, unit: UnitId, register: UnitRegister, value: u32) {
    let at = address_of(unit, register).unwrap();
    match unit.pci() {
        Some(place) => untile.pci_write(if place.of_irp { 0 } else { 0xFF }, place.device, place.function, at as u16, 4, value),
        None => untile.write(Address::Msr(at), value.into()).unwrap(),
    }
}

/// Counter `number` of every box of `kind` counts, from zero on. Filters let everything through.
fn count(untile: &Untile<'_, Line>, kind: Kind, number: u8, select: u32, umask: u32) {
    for unit in units(kind) {
        if kind == Kind::Cha {
            write(untile, unit, UnitRegister::Filter(0), 0x1F << 17);
            write(untile, unit, UnitRegister::Filter(1), 0x3B);
        }
        write(untile, unit, UnitRegister::Counter(number), 0);
        write(untile, unit, UnitRegister::CounterControl(number), 1 << 22 | umask << 8 | select);
    }
}

fn value(untile: &Untile<'_, Line>, unit: UnitId, number: u8) -> u64 {
    let at = address_of(unit, UnitRegister::Counter(number)).unwrap();
    match unit.pci() {
        Some(place) => u64::from(untile.pci_read(if place.of_irp { 0 } else { 0xFF }, place.device, place.function, at as u16, 4)),
        None => untile.read(Address::Msr(at)).unwrap(),
    }
}

/// The sum over all boxes of `kind`.
fn sum(untile: &Untile<'_, Line>, kind: Kind, number: u8) -> u64 {
    units(kind).map(|unit| value(untile, unit, number)).sum()
}

/// What a tile's first thread does, as an emulator reports it.
struct Program<'a> {
    untile: Untile<'a, Line>,
    companion: &'a Companion,
    followers: Vec<Follower<'a>>,
    machine: &'a Machine<Line>,
    /// Requests that left their tiles, and their clocks in the tables of requests.
    requests: Vec<Request>,
    clocks: u64,
}

impl<'a> Program<'a> {
    fn new(machine: &'a Machine<Line>, companion: &'a Companion) -> Program<'a> {
        let mut demand = Demand::default();
        demand.replace(SignalSet::EMPTY, false, Records::REQUESTS);
        companion.watch_places(true);
        let first = (0..machine.threads()).step_by(8).filter_map(|thread| companion.follower(thread));
        let followers = first.map(|mut follower| {
            follower.sync(&demand);
            follower
        });
        let followers = followers.collect();
        Program { untile: machine.untile().unwrap(), companion, followers, machine, requests: Vec::new(), clocks: 0 }
    }

    /// Tile `tile` accesses a line.
    fn access(&mut self, tile: usize, kind: AccessKind, address: u64) {
        let follower = &mut self.followers[tile];
        let access = Access { address, physical: address, size: 8, kind, ..Access::default() };
        follower.execute(&Instruction { length: 0, accesses: &[access], ..Instruction::default() }, &mut Untranslated(30));
        for request in follower.requests() {
            let Some(transaction) = Transaction::of(request, tile as u8, 0) else { continue };
            let home = self.companion.home(request.physical) as u8;
            let clocks = self.untile.frequencies().clocks(Domain::Uclk, request.latency.into()).max(1);
            self.untile.transact(home, &transaction, Stage::Served { clocks });
            self.untile.carry_request(request, tile as u8, home);
            self.clocks += clocks;
            self.requests.push(*request);
        }
        follower.deliver(&self.machine.thread(8 * tile).unwrap(), &[], |_| {});
        let untile = self.untile;
        self.companion.take_places(|place, signal, amount| {
            if let Some((unit, select, umask)) = place.event(signal) {
                untile.inject(unit, select, umask, 1, amount);
            }
        });
        untile.tick_all(1_000);
    }

    /// Tile `tile` accesses 64 lines of different pages, so that nothing is prefetched.
    fn each(&mut self, tile: usize, kind: AccessKind, first: u64) {
        (0..64).for_each(|number| self.access(tile, kind, first + number * 0x1040));
    }
}

/// Lines of the programs: the second shares its places of MCDRAM with the first.
const LINES: u64 = 0x10_0000;
const OTHERS: u64 = LINES + MCDRAM;

/// What of a box a counter counts.
type What = (Kind, u32, u32);

/// Counts `counters` while tile 0 reads 64 lines of a full MCDRAM, which has others in their places, drives them out, reads them again, writes
/// them and drives them out again.
fn counted<const N: usize>(counters: [What; N]) -> [u64; N] {
    counted_by(&layout(2), LINES, Some(OTHERS), counters)
}

/// The same of 64 lines from `first` on. The lines `others`, if there are any, are in their places of the cache before.
fn counted_by<const N: usize>(layout: &Layout, first: u64, others: Option<u64>, counters: [What; N]) -> [u64; N] {
    let line: Line = |_thread, _counter| {};
    let (machine, companion) = (layout.pmus().build(line).unwrap(), layout.companion().unwrap().build());
    let mut program = Program::new(&machine, &companion);
    others.into_iter().for_each(|others| program.each(0, AccessKind::Load, others));
    let mut used = [0; 9];
    let numbers = counters.map(|(kind, select, umask)| {
        let number = used[kind as usize];
        used[kind as usize] += 1;
        count(&program.untile, kind, number, select, umask);
        number
    });
    for kind in [AccessKind::Load, AccessKind::Flush, AccessKind::Load, AccessKind::Store, AccessKind::Flush] {
        program.each(0, kind, first);
    }
    core::array::from_fn(|place| sum(&program.untile, counters[place].0, numbers[place]))
}

#[test]
fn bandwidth_of_mcdram_as_a_cache_is_what_cores_read_and_wrote() {
    // Section 3.1, in bytes. The second reads are those of cores from MCDRAM; the first ones are DDR's.
    let [reads, missed, writes, filled] = counted([
        (Kind::EdcEclk, 0x01, 0x01),
        (Kind::EdcUclk, 0x02, MISSES_OF_LINES),
        (Kind::EdcEclk, 0x02, 0x01),
        (Kind::McDclk, 0x03, 0x01),
    ]);
    assert_eq!((reads - missed) * LINE, 64 * LINE);
    assert_eq!((writes - filled) * LINE, 64 * LINE);
}

#[test]
fn bandwidth_of_ddr_is_what_mcdram_lacked() {
    // perf lists UNC_M_CAS_COUNT.ALL, RD and WR; a column is a line. Nothing that MCDRAM gave up was newer.
    assert_eq!(counted([(Kind::McDclk, 0x03, 0x03), (Kind::McDclk, 0x03, 0x01), (Kind::McDclk, 0x03, 0x02)]), [64, 64, 0]);
}

#[test]
fn half_of_the_reads_hit_mcdram() {
    // UNC_E_EDC_ACCESS: hits, misses of all kinds, and those of a place without a line, which a full MCDRAM has not.
    assert_eq!(counted([(Kind::EdcUclk, 0x02, HITS), (Kind::EdcUclk, 0x02, MISSES), (Kind::EdcUclk, 0x02, 0x10)]), [64, 64, 0]);
}

#[test]
fn an_empty_mcdram_misses_invalid_places() {
    let (machine, companion) = (machine(2), layout(2).companion().unwrap().build());
    let mut program = Program::new(&machine, &companion);
    count(&program.untile, Kind::EdcUclk, 0, 0x02, 0x10);
    count(&program.untile, Kind::EdcUclk, 1, 0x02, MISSES_OF_LINES);
    [LINES, OTHERS].into_iter().for_each(|first| program.each(0, AccessKind::Load, first));
    assert_eq!([0, 1].map(|number| sum(&program.untile, Kind::EdcUclk, number)), [64, 64]);
}

#[test]
fn latency_in_the_table_of_requests_is_occupancy_over_inserts() {
    let (machine, companion) = (machine(2), layout(2).companion().unwrap().build());
    let mut program = Program::new(&machine, &companion);
    count(&program.untile, Kind::Cha, 0, 0x36, 0x31);
    count(&program.untile, Kind::Cha, 1, 0x35, 0x31);
    program.each(0, AccessKind::Load, LINES);
    program.each(1, AccessKind::Load, LINES);
    let [occupancy, inserts] = [0, 1].map(|number| sum(&program.untile, Kind::Cha, number));
    // Each line comes from memory once, and once from the tile that has it.
    assert_eq!((inserts, occupancy), (128, program.clocks));
    assert_eq!(occupancy / inserts, program.clocks / program.requests.len() as u64);
}

#[test]
fn utilization_of_a_ring_is_its_messages_over_the_clocks() {
    let (machine, companion) = (machine(1), layout(1).companion().unwrap().build());
    let mut program = Program::new(&machine, &companion);
    // The stop below tile 0 is CHA 3's: VERT_RING_AD_IN_USE down, and the clocks of the box.
    let below = UnitId::named("cha3").unwrap();
    count(&program.untile, Kind::Cha, 0, 0xA6, 0x0C);
    count(&program.untile, Kind::Cha, 1, 0x00, 0x00);
    count(&program.untile, Kind::EdcEclk, 0, 0x01, 0x01);
    program.each(0, AccessKind::Load, LINES);
    // Requests go down from row 1 unless their CHA is in it too. CHAs of the upper half ask controllers above, and those of the lower half
    // are below already. Nothing is in MCDRAM, so its first controller, in row 0, asks that of DDR, in row 4 of its column.
    let homes = program.requests.iter().map(|request| companion.home(request.physical));
    let in_first_row = [0, 1, 2, 19, 20, 21];
    let asking = homes.filter(|home| !in_first_row.contains(home)).count() as u64;
    let down = asking + value(&program.untile, UnitId::named("edc-eclk0").unwrap(), 0);
    assert!(down > 32, "{down}");
    assert_eq!([0, 1].map(|number| value(&program.untile, below, number)), [down, 64 * 1_000]);
}

#[test]
fn the_controller_that_reads_a_line_is_the_one_that_the_mesh_asks() {
    let (machine, companion) = (machine(1), layout(1).companion().unwrap().build());
    assert_eq!(layout(1).die(), None);
    let mut program = Program::new(&machine, &companion);
    count(&program.untile, Kind::EdcEclk, 0, 0x01, 0x01);
    // Acknowledges that a controller sends up or down: by its queue (TxR_VERT_INSERTS) and past it (TxR_VERT_BYPASS).
    count(&program.untile, Kind::EdcUclk, 0, 0x91, 0x02);
    count(&program.untile, Kind::EdcUclk, 1, 0x9E, 0x02);
    program.each(0, AccessKind::Load, LINES);
    // CHAs are in other rows than controllers, and each read is acknowledged once.
    for number in 0..8 {
        let [back, front] = [Kind::EdcEclk, Kind::EdcUclk].map(|kind| UnitId::new(kind, number).unwrap());
        let read = value(&program.untile, back, 0);
        assert_eq!(value(&program.untile, front, 0) + value(&program.untile, front, 1), read, "EDC {number}");
        assert_ne!(read, 0);
    }
}

fn any_access() -> impl Strategy<Value = (usize, AccessKind, u64)> {
    let kinds = prop_oneof![4 => Just(AccessKind::Load), 2 => Just(AccessKind::Store), 1 => Just(AccessKind::Flush)];
    // Sixteen lines in each of four parts of memory that share their places of MCDRAM.
    (0usize..2, kinds, 0u64..16, 0u64..4).prop_map(|(tile, kind, line, part)| (tile, kind, LINES + part * MCDRAM + line * 0x1040))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn reads_at_a_memory_port_are_the_misses_that_reached_it(accesses in prop::collection::vec(any_access(), 1..120)) {
        let (machine, companion) = (machine(2), layout(2).companion().unwrap().build());
        let mut program = Program::new(&machine, &companion);
        count(&program.untile, Kind::EdcEclk, 0, 0x01, 0x01);
        count(&program.untile, Kind::EdcUclk, 0, 0x02, HITS);
        count(&program.untile, Kind::EdcUclk, 1, 0x02, MISSES);
        count(&program.untile, Kind::McDclk, 0, 0x03, 0x01);
        accesses.into_iter().for_each(|(tile, kind, address)| program.access(tile, kind, address));
        let untile = &program.untile;
        // Every controller of MCDRAM reads for its own hits and misses; and DDR reads what it lacked.
        for number in 0..8 {
            let [back, front] = [Kind::EdcEclk, Kind::EdcUclk].map(|kind| UnitId::new(kind, number).unwrap());
            prop_assert_eq!(value(untile, back, 0), value(untile, front, 0) + value(untile, front, 1));
        }
        prop_assert_eq!(sum(untile, Kind::McDclk, 0), sum(untile, Kind::EdcUclk, 1));
        // Tiles were answered by as many of each.
        let of = |supplies: fn(&Supplier) -> bool| program.requests.iter().filter(|request| supplies(&request.supplier)).count() as u64;
        prop_assert_eq!(of(|supplier| matches!(supplier, Supplier::NearMemory { .. })), sum(untile, Kind::EdcUclk, 0));
        prop_assert_eq!(of(|supplier| matches!(supplier, Supplier::Memory { .. })), sum(untile, Kind::EdcUclk, 1));
    }

    #[test]
    fn what_enters_the_tables_has_left_or_is_there(steps in prop::collection::vec((0u8..38, any::<bool>()), 1..200)) {
        let machine = machine(1);
        let untile = machine.untile().unwrap();
        count(&untile, Kind::Cha, 0, 0x36, 0x31);
        count(&untile, Kind::Cha, 1, 0x35, 0x31);
        let request = Transaction { opcode: 0x182, ..Transaction::default() };
        let (mut there, mut entered, mut occupied) = ([0u64; 38], 0, 0);
        for (home, enters) in steps {
            let own = &mut there[usize::from(home)];
            if enters {
                untile.transact(home, &request, Stage::Enters);
                *own += 1;
                entered += 1;
            } else if *own > 0 {
                untile.transact(home, &request, Stage::Leaves);
                *own -= 1;
            }
            untile.tick_all(3);
            occupied += 3 * there.iter().sum::<u64>();
        }
        prop_assert_eq!([0, 1].map(|number| sum(&untile, Kind::Cha, number)), [occupied, entered]);
    }

    #[test]
    fn requests_of_tiles_come_into_a_queue_once_and_are_hits_or_misses(
        requests in prop::collection::vec((0u8..38, 0u8..38, 0u64..40, any::<bool>()), 1..150),
    ) {
        let machine = machine(1);
        let untile = machine.untile().unwrap();
        // RxR_INSERTS of IRQ, TOR_INSERTS of it, and its hits and misses.
        let counters = [(0x13, 0x01), (0x35, 0x31), (0x35, 0x11), (0x35, 0x21)];
        (0..4).zip(counters).for_each(|(number, (select, umask))| count(&untile, Kind::Cha, number, select, umask));
        for (tile, home, line, other) in &requests {
            let supplier = if *other { Supplier::OtherCluster { far: false } } else { Supplier::NearMemory { far: false } };
            let request = Request { supplier, physical: LINE * line, ..Request::of(RequestKind::DataRead) };
            untile.transact(*home, &Transaction::of(&request, *tile, 0).unwrap(), Stage::Served { clocks: 10 });
            untile.carry_request(&request, *tile, *home);
        }
        untile.tick_all(20_000);
        let others = requests.iter().filter(|(.., other)| *other).count() as u64;
        let all = requests.len() as u64;
        prop_assert_eq!([0, 1, 2, 3].map(|number| sum(&untile, Kind::Cha, number)), [all, all, others, all - others]);
    }
}

#[test]
fn a_request_that_displaces_a_line_names_it_and_the_controller_asks_for_it() {
    let (machine, companion) = (machine(1), layout(1).companion().unwrap().build());
    let mut program = Program::new(&machine, &companion);
    program.each(0, AccessKind::Load, LINES);
    assert!(program.requests.iter().all(|request| request.displaced.is_none()), "every place was empty");
    program.requests.clear();
    // TOR_INSERTS of IPQ: snoops of memory controllers.
    count(&program.untile, Kind::Cha, 0, 0x35, 0x38);
    program.each(0, AccessKind::Load, OTHERS);
    let displaced: Vec<_> = program.requests.iter().map(|request| request.displaced).collect();
    assert_eq!(displaced, program.requests.iter().map(|request| Some(request.physical - MCDRAM)).collect::<Vec<_>>());
    assert_eq!(sum(&program.untile, Kind::Cha, 0), 64);
    program.requests.clear();
    // They hit now, and nothing is given up.
    program.each(0, AccessKind::Flush, OTHERS);
    program.each(0, AccessKind::Load, OTHERS);
    assert!(program.requests.len() >= 64 && program.requests.iter().all(|request| request.displaced.is_none()));
}

/// What the stop of a CHA counts of its AD ring, down or up, while tile `tile` reads a line of CHA `home` from MCDRAM.
fn vertical_requests(die: Option<Die>, tile: u8, home: u8, physical: u64, stop: &str) -> u64 {
    let line: Line = |_thread, _counter| {};
    let builder = Builder::of(Part::named("knl").unwrap());
    let machine = die.map_or(builder, |die| builder.die(die)).build(line).unwrap();
    let untile = machine.untile().unwrap();
    count(&untile, Kind::Cha, 0, 0xA6, 0x0F);
    let supplier = Supplier::NearMemory { far: false };
    untile.carry_request(&Request { supplier, physical, ..Request::of(RequestKind::DataRead) }, tile, home);
    value(&untile, UnitId::named(stop).unwrap(), 0)
}

#[test]
fn a_tile_sends_from_its_place_on_the_die() {
    // Without the tile at place 0, tile 0 is at place 1 in row 1, column 1. Its request for CHA 7, in row 3 of that column, passes CHA 4.
    let die = Die { tiles: Tiles::ALL.without(0), ..Die::default() };
    assert_eq!([None, Some(die)].map(|die| vertical_requests(die, 0, 7, 1 << 40, "cha4")), [1, 2]);
    assert_eq!([None, Some(die)].map(|die| vertical_requests(die, 0, 7, 1 << 40, "cha3")), [1, 0]);
}

#[test]
fn a_filter_for_a_tile_names_its_place() {
    let line: Line = |_thread, _counter| {};
    let die = Die { tiles: Tiles::ALL.without(0), ..Die::default() };
    let machine = Builder::of(Part::named("knl").unwrap()).die(die).build(line).unwrap();
    let untile = machine.untile().unwrap();
    let transaction = Transaction { tile: 0, ..Transaction::default() };
    let cha = UnitId::named("cha0").unwrap();
    // TOR_INSERTS with tid_en, and the tile's number in bits 8 to 3 of filter 0.
    let counted = [0u32, 1].map(|place| {
        count(&untile, Kind::Cha, 0, 0x35, 0x31);
        write(&untile, cha, UnitRegister::Filter(0), 0x1F << 17 | place << 3);
        write(&untile, cha, UnitRegister::CounterControl(0), 1 << 22 | 1 << 19 | 0x31 << 8 | 0x35);
        untile.transact(0, &transaction, Stage::Served { clocks: 1 });
        untile.tick_all(10);
        value(&untile, cha, 0)
    });
    assert_eq!(counted, [0, 1]);
}

#[test]
fn lines_of_an_agent_are_in_any_memory_when_all_ask_all() {
    let die = |cluster| Die { cluster, ..Die::default() };
    // Tile 0 beside CHA 0 asks it for all of its lines: its requests to MCDRAM go up column 0 to a controller in row 0, which counts nothing
    // there, or down by CHA 3 to one in row 8.
    let down = |cluster: ClusterMode| {
        let companion = vm_pmu::companion::Builder::new("knl").unwrap().die(die(cluster)).build();
        let lines = (0..4_000).map(|line| LINE * line).filter(|physical| companion.home(*physical) == 0);
        let counts: Vec<_> = lines.map(|physical| vertical_requests(Some(die(cluster)), 0, 0, physical, "cha3")).collect();
        (counts.len() as u64, counts.iter().sum::<u64>())
    };
    assert_eq!(down(ClusterMode::Quadrant).1, 0);
    // Half of them are in the lower half of the die.
    for cluster in [ClusterMode::AllToAll, ClusterMode::Hemisphere] {
        let (lines, down) = down(cluster);
        assert!(lines > 60 && (2 * lines / 5..=3 * lines / 5).contains(&down), "{cluster:?}: {down} of {lines}");
    }
}
