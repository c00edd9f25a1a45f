//! Configuration space through the window, the ports and function by function: sizes, alignment, and where nothing is.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use vm_pmu::pci::{ADDRESS_PORT, DATA_PORT, Function, Location, PORTS, Ports, Space, Window};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::untile::Buses;

/// The first channel of the first memory controller, whose counter 0 is at A00h and whose control of it is at B20h.
const CHANNEL: Location = Location { bus: 0xFF, device: 8, function: 2 };

fn machine() -> Machine<fn(usize, u32)> {
    let nowhere: fn(usize, u32) = |_thread, _counter| {};
    Builder::new("knl").unwrap().threads(2).build(nowhere).unwrap()
}

/// An access: where, at which offset, of how many bytes, and what was written.
type Access = (Location, u16, u8, Option<u32>);

/// A space that tells every access that reaches it, and reads as the offsets of the bytes.
#[derive(Default)]
struct Witness(Mutex<Vec<Access>>);

impl Space for Witness {
    fn read(&self, at: Location, offset: u16, size: u8) -> u32 {
        self.0.lock().unwrap().push((at, offset, size, None));
        u32::from_le_bytes([0, 1, 2, 3].map(|byte| offset as u8 + byte))
    }

    fn write(&self, at: Location, offset: u16, size: u8, value: u32) {
        self.0.lock().unwrap().push((at, offset, size, Some(value)));
    }
}

impl Witness {
    fn told(&self) -> Vec<Access> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn load<const SIZE: usize>(read: impl Fn(&mut [u8])) -> [u8; SIZE] {
    let mut data = [0x55; SIZE];
    read(&mut data);
    data
}

#[test]
fn an_aligned_access_of_one_two_or_four_bytes_arrives_as_it_is() {
    let witness = Witness::default();
    let window = Window::new(&witness);
    let base = window.offset(CHANNEL).unwrap();
    assert_eq!(base, 0xFF4_2000);
    assert_eq!(load::<4>(|data| window.read(base + 0x10, data)), [0x10, 0x11, 0x12, 0x13]);
    assert_eq!(load::<2>(|data| window.read(base + 0x12, data)), [0x12, 0x13]);
    assert_eq!(load::<1>(|data| window.read(base + 0x13, data)), [0x13]);
    window.write(base + 0x14, &[1, 2, 3, 4]);
    window.write(base + 0x16, &[5, 6]);
    window.write(base + 0x17, &[7]);
    let expected = [
        (CHANNEL, 0x10, 4, None),
        (CHANNEL, 0x12, 2, None),
        (CHANNEL, 0x13, 1, None),
        (CHANNEL, 0x14, 4, Some(0x0403_0201)),
        (CHANNEL, 0x16, 2, Some(0x0605)),
        (CHANNEL, 0x17, 1, Some(0x07)),
    ];
    assert_eq!(witness.told(), expected);
}

#[test]
fn any_other_access_is_taken_in_aligned_parts_the_lowest_first() {
    let witness = Witness::default();
    let function = Function::new(&witness, CHANNEL);
    assert_eq!(load::<8>(|data| function.read(0x20, data)), [0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27]);
    assert_eq!(witness.told(), [(CHANNEL, 0x20, 4, None), (CHANNEL, 0x24, 4, None)]);
    assert_eq!(load::<4>(|data| function.read(0x21, data)), [0x21, 0x22, 0x23, 0x24]);
    assert_eq!(witness.told(), [(CHANNEL, 0x21, 1, None), (CHANNEL, 0x22, 2, None), (CHANNEL, 0x24, 1, None)]);
    function.write(0x22, &[1, 2, 3]);
    assert_eq!(witness.told(), [(CHANNEL, 0x22, 2, Some(0x0201)), (CHANNEL, 0x24, 1, Some(3))]);
    function.read(0x20, &mut []);
    function.write(0x20, &[]);
    assert_eq!(witness.told(), []);
}

#[test]
fn an_access_does_not_run_on_into_the_next_function_of_one_but_does_in_the_window() {
    let witness = Witness::default();
    let function = Function::new(&witness, CHANNEL);
    assert_eq!(load::<8>(|data| function.read(0xFFC, data)), [0xFC, 0xFD, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    function.write(0x1000, &[1, 2, 3, 4]);
    function.write(u64::MAX, &[1, 2]);
    assert_eq!(witness.told(), [(CHANNEL, 0xFFC, 4, None)]);

    let window = Window::new(&witness);
    window.write(0xFF4_2FFC, &[1, 0, 0, 0, 2, 0, 0, 0]);
    let next = Location { function: 3, ..CHANNEL };
    assert_eq!(witness.told(), [(CHANNEL, 0xFFC, 4, Some(1)), (next, 0, 4, Some(2))]);
}

#[test]
fn a_window_ends_with_its_last_bus() {
    let witness = Witness::default();
    let window = Window::of_buses(&witness, 0xFE, 0xFE);
    assert_eq!(window.size(), 1 << 20);
    assert_eq!(window.offset(CHANNEL), None);
    assert_eq!(window.offset(Location { bus: 0xFE, device: 32, function: 0 }), None);
    assert_eq!(window.offset(Location { bus: 0xFE, device: 31, function: 7 }), Some(0xF_F000));
    assert_eq!(load::<8>(|data| window.read(0xF_FFFC, data)), [0xFC, 0xFD, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    window.write(1 << 20, &[0; 4]);
    window.write(u64::MAX - 1, &[0; 8]);
    assert_eq!(witness.told(), [(Location { bus: 0xFE, device: 31, function: 7 }, 0xFFC, 4, None)]);
    // A last bus below the first leaves the first.
    assert_eq!(Window::of_buses(&witness, 9, 3).size(), 1 << 20);
    assert_eq!(Window::new(&witness).size(), 256 << 20);
}

#[test]
fn only_four_bytes_at_the_address_port_name_a_register() {
    let ports = Ports::new(Witness::default());
    for port in 0xCF8..0xCFC {
        ports.write(port, &[0x80]);
        ports.write(port, &[0x80, 0x80]);
    }
    ports.write(0xCFA, &[0, 0, 0, 0x80]);
    assert_eq!(ports.address(), 0);
    assert_eq!(load::<2>(|data| ports.read(0xCF8, data)), [0xFF; 2]);
    ports.write(0xCF8, &0xFFFF_42FF_u32.to_le_bytes());
    assert_eq!(ports.address(), 0x80FF_42FC, "bits that do not exist stay zero");
    assert_eq!(load::<4>(|data| ports.read(0xCF8, data)), [0xFC, 0x42, 0xFF, 0x80]);
    ports.set_address(0x7F00_0003);
    assert_eq!(ports.address(), 0);
}

#[test]
fn data_ports_reach_the_bytes_of_the_named_register_and_no_others() {
    let witness = Witness::default();
    let ports = Ports::new(&witness);
    ports.set_address(0x80FF_4240);
    assert_eq!(load::<4>(|data| ports.read(0xCFC, data)), [0x40, 0x41, 0x42, 0x43]);
    assert_eq!(load::<2>(|data| ports.read(0xCFE, data)), [0x42, 0x43]);
    assert_eq!(load::<2>(|data| ports.read(0xCFD, data)), [0x41, 0x42]);
    ports.write(0xCFF, &[9]);
    let expected =
        [(0x40, 4, None), (0x42, 2, None), (0x41, 1, None), (0x42, 1, None), (0x43, 1, Some(9))].map(|(o, s, v)| (CHANNEL, o, s, v));
    assert_eq!(witness.told(), expected);
    for (port, length) in [(0xCFE, 4), (0xCFF, 2), (0xCFC, 8), (0xD00, 1), (0xCF7, 4), (0, 1), (0xFFFF, 4)] {
        let mut data = vec![0; length];
        assert!(!ports.claims(port, length));
        ports.read(port, &mut data);
        assert_eq!(data, vec![0xFF; length], "{length} bytes at {port:#x}");
        ports.write(port, &data);
    }
    assert!(ports.claims(ADDRESS_PORT, 4) && ports.claims(DATA_PORT, 4) && ports.claims(ADDRESS_PORT + PORTS - 1, 1));
    assert!(!ports.claims(0xCF9, 1), "a reset control register may be there");
    ports.set_address(0x00FF_4240);
    assert!(!ports.claims(0xCFC, 4));
    assert_eq!(load::<4>(|data| ports.read(0xCFC, data)), [0xFF; 4], "nothing is enabled");
    ports.write(0xCFC, &[0; 4]);
    assert_eq!(witness.told(), []);
}

#[test]
fn where_no_function_is_everything_reads_as_ones_and_writes_are_dropped() {
    let k8 = Builder::new("k8").unwrap().build(|_thread: usize, _counter: u32| {}).unwrap();
    let window = Window::new(&k8);
    assert_eq!(load::<4>(|data| window.read(0xFF4_2000, data)), [0xFF; 4]);
    window.write(0xFF4_2000, &[0; 4]);

    let knl = machine();
    let present = knl.untile().unwrap().functions().collect::<Vec<_>>();
    let before = knl.untile().unwrap().state();
    for number in 0..=u16::MAX {
        let function = Function::new(&knl, Location::of(number));
        assert_eq!(function.is_present(), present.contains(&function.location()), "{:?}", function.location());
        if !function.is_present() {
            assert_eq!(function.read_register(0xB20 / 4), u32::MAX);
            function.write_register(0xB20 / 4, 0, &[0; 4]);
        }
    }
    assert_eq!(knl.untile().unwrap().state(), before);
    let nowhere = Function::new(&knl, Location { bus: 0xFF, device: 40, function: 2 });
    assert!(!nowhere.is_present());
}

#[test]
fn the_functions_are_on_the_buses_that_were_chosen() {
    let nowhere = |_thread: usize, _counter: u32| {};
    let chosen = Builder::new("knl").unwrap().buses(Buses { irp: 3, memory: 7 }).build(nowhere).unwrap();
    let mut functions = chosen.untile().unwrap().functions().collect::<Vec<_>>();
    assert!(functions.iter().all(|at| at.bus == 7 || at.bus == 3 && at.device == 5));
    assert!(functions.iter().all(|at| Function::new(&chosen, *at).read_register(0) & 0xFFFF == 0x8086));
    let count = functions.len();
    functions.sort();
    functions.dedup();
    assert_eq!(functions.len(), count, "no two at one place");
}

#[test]
fn a_register_is_written_byte_by_byte_from_where_a_monitor_says() {
    let function = Function::new(Arc::new(machine()), CHANNEL);
    let control = 0xB20 / 4;
    function.write_register(control, 0, &0x0040_0103_u32.to_le_bytes());
    assert_eq!(function.read_register(control), 0x0040_0103);
    function.write_register(control, 1, &[2]);
    assert_eq!(function.read_register(control), 0x0040_0203);
    function.write_register(control, 2, &[0, 0, 0xFF]);
    assert_eq!(function.read_register(control), 0x0000_0203, "the third byte is beyond the register");
    function.write_register(control, 4, &[0xFF]);
    function.write_register(control, 255, &[0xFF]);
    function.write_register(1024, 0, &[0xFF; 4]);
    function.write_register(u16::MAX, 3, &[0xFF; 4]);
    assert_eq!(function.read_register(control), 0x0000_0203);
    assert_eq!(function.read_register(1024), u32::MAX);
    assert_eq!(function.read_register(u16::MAX), u32::MAX);
}

#[test]
fn window_ports_and_function_show_the_same_registers() {
    let machine = machine();
    let (window, ports, function) = (Window::new(&machine), Ports::new(&machine), Function::new(&machine, CHANNEL));
    let base = window.offset(CHANNEL).unwrap();
    for offset in (0..0x100).step_by(4) {
        ports.set_address(1 << 31 | 0xFF42 << 8 | offset);
        let by_ports = u32::from_le_bytes(load(|data| ports.read(0xCFC, data)));
        let by_window = u32::from_le_bytes(load(|data| window.read(base + u64::from(offset), data)));
        assert_eq!([by_ports, by_window], [function.read_register(offset as u16 / 4); 2], "offset {offset:#x}");
    }
    // A counter of 48 bits, of 8 bytes in memory.
    window.write(base + 0xB00, &0x0000_1234_5678_9ABC_u64.to_le_bytes());
    assert_eq!(u64::from_le_bytes(load(|data| window.read(base + 0xB00, data))), 0x1234_5678_9ABC);
    assert_eq!([function.read_register(0xB00 / 4), function.read_register(0xB04 / 4)], [0x5678_9ABC, 0x1234]);
}

#[test]
fn threads_of_the_host_may_use_the_devices_at_once() {
    let machine = Arc::new(machine());
    let window = Arc::new(Window::new(Arc::clone(&machine)));
    let ports = Arc::new(Ports::new(Arc::clone(&machine)));
    let functions = machine.untile().unwrap().functions().collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for worker in 0..8_usize {
            let (window, ports, functions) = (&window, &ports, &functions);
            scope.spawn(move || {
                for round in 0..2000_u32 {
                    let at = functions[(round as usize * 7 + worker) % functions.len()];
                    let base = window.offset(at).unwrap();
                    assert_eq!(load::<2>(|data| window.read(base, data)), [0x86, 0x80]);
                    window.write(base + 4, &round.to_le_bytes());
                    let [command] = load(|data| window.read(base + 4, data));
                    assert!(command < 8, "whoever wrote it last, bits that do not exist stay zero");
                    ports.write(0xCF8, &(1 << 31 | u32::from(at.number().unwrap()) << 8).to_le_bytes());
                    // Whichever function another has named meanwhile, its vendor is the same.
                    assert_eq!(load::<2>(|data| ports.read(0xCFC, data)), [0x86, 0x80]);
                }
            });
        }
    });
}

/// Offsets in the window at which something is, or nearly.
fn offsets() -> impl Strategy<Value = u64> {
    let near = (0..3_u64, 0..32_u64, 0..8_u64, 0..0x1010_u64)
        .prop_map(|(bus, device, function, offset)| ([0, 1, 0xFF][bus as usize] << 20 | device << 15 | function << 12) + offset);
    prop_oneof![8 => near, 1 => any::<u64>()]
}

proptest! {
    #[test]
    fn an_access_of_any_size_anywhere_reads_what_its_bytes_read_one_by_one(
        writes in prop::collection::vec((offsets(), prop::collection::vec(any::<u8>(), 0..10)), 0..20),
        offset in offsets(),
        length in 0..20_usize,
    ) {
        let machine = machine();
        let window = Window::new(&machine);
        for (offset, data) in writes {
            window.write(offset, &data);
        }
        let mut whole = vec![0; length];
        window.read(offset, &mut whole);
        let bytes = (0..length as u64).map(|byte| match offset.checked_add(byte) {
            Some(at) => load::<1>(|data| window.read(at, data))[0],
            None => 0xFF,
        });
        prop_assert_eq!(whole, bytes.collect::<Vec<_>>());
    }

    #[test]
    fn ports_answer_every_access(accesses in prop::collection::vec((0xCF0..0xD08_u16, prop::collection::vec(any::<u8>(), 0..10)), 0..50)) {
        let machine = machine();
        let ports = Ports::new(&machine);
        for (port, mut data) in accesses {
            let claimed = ports.claims(port, data.len());
            ports.write(port, &data);
            ports.read(port, &mut data);
            prop_assert!(claimed || ports.claims(port, data.len()) || data.iter().all(|byte| *byte == 0xFF));
        }
    }
}
