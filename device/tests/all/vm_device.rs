//! Configuration space on the buses of `vm-device`.

use std::sync::{Arc, Mutex};

use vm_device::bus::{Error, MmioAddress, MmioRange, PioAddress, PioRange};
use vm_device::device_manager::{IoManager, MmioManager, PioManager};
use vm_device::{DeviceMmio, DevicePio, MutDeviceMmio, MutDevicePio};
use vm_pmu::pci::{ADDRESS_PORT, DATA_PORT, Function, Location, PORTS, Ports, Window};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::untile::{Domain, Kind, UnitId};

const BASE: u64 = 0xE000_0000;
const CHANNEL: Location = Location { bus: 0xFF, device: 8, function: 2 };
const IDENTITY: [u8; 4] = [0x86, 0x80, 0x43, 0x78];

type Line = fn(usize, u32);

fn machine() -> Arc<Machine<Line>> {
    let nowhere: Line = |_thread, _counter| {};
    Arc::new(Builder::new("knl").unwrap().threads(2).build(nowhere).unwrap())
}

/// A monitor's buses with the window at [`BASE`] and the ports, and what is behind them.
fn buses() -> (IoManager, Arc<Machine<Line>>) {
    let machine = machine();
    let window = Window::new(Arc::clone(&machine));
    let mut devices = IoManager::new();
    devices.register_mmio(MmioRange::new(MmioAddress(BASE), window.size()).unwrap(), Arc::new(window)).unwrap();
    devices.register_pio(PioRange::new(PioAddress(ADDRESS_PORT), PORTS).unwrap(), Arc::new(Ports::new(Arc::clone(&machine)))).unwrap();
    (devices, machine)
}

#[test]
fn a_guest_finds_a_channel_by_ports_and_counts_with_it_through_the_window() {
    let (devices, machine) = buses();
    let mut data = [0; 4];
    devices.pio_write(PioAddress(ADDRESS_PORT), &0x80FF_4200_u32.to_le_bytes()).unwrap();
    devices.pio_read(PioAddress(DATA_PORT), &mut data).unwrap();
    assert_eq!(data, IDENTITY);

    let channel = BASE + 0xFF4_2000;
    devices.mmio_write(MmioAddress(channel + 0xB20), &0x0040_0103_u32.to_le_bytes()).unwrap();
    let untile = machine.untile().unwrap();
    untile.inject(UnitId::new(Kind::McDclk, 0).unwrap(), 0x03, 0x01, 1, 5);
    untile.tick(Domain::Dclk, 100);
    let mut counter = [0; 8];
    devices.mmio_read(MmioAddress(channel + 0xB00), &mut counter).unwrap();
    assert_eq!(u64::from_le_bytes(counter), 5);
}

#[test]
fn every_size_arrives_at_its_bytes_and_what_is_not_there_reads_as_ones() {
    let (devices, _machine) = buses();
    for (offset, length) in [(0, 1), (1, 1), (2, 2), (0, 4), (1, 2), (1, 3)] {
        let mut data = vec![0; length];
        devices.mmio_read(MmioAddress(BASE + 0xFF4_2000 + offset), &mut data).unwrap();
        assert_eq!(data, IDENTITY[offset as usize..][..length]);
    }
    let mut data = [0; 4];
    for absent in [0, 0xFF4_7000, 0x100_0000, 0xFF_F000] {
        devices.mmio_read(MmioAddress(BASE + absent), &mut data).unwrap();
        assert_eq!(data, [0xFF; 4], "offset {absent:#x}");
        devices.mmio_write(MmioAddress(BASE + absent), &[0; 4]).unwrap();
        data = [0; 4];
    }
    // Beyond the window the bus itself answers.
    assert_eq!(devices.mmio_read(MmioAddress(BASE + (256 << 20) - 2), &mut data), Err(Error::DeviceNotFound));
}

#[test]
fn functions_go_one_by_one_beside_those_of_the_monitor() {
    let machine = machine();
    let window = Window::new(&*machine);
    let mut devices = IoManager::new();
    for at in machine.untile().unwrap().functions() {
        let base = MmioAddress(BASE + window.offset(at).unwrap());
        devices.register_mmio(MmioRange::new(base, 0x1000).unwrap(), Arc::new(Function::new(Arc::clone(&machine), at))).unwrap();
    }
    let mut data = [0; 4];
    devices.mmio_read(MmioAddress(BASE + window.offset(CHANNEL).unwrap()), &mut data).unwrap();
    assert_eq!(data, IDENTITY);
    devices.mmio_write(MmioAddress(BASE + 0xFF4_2B20), &0x0040_0103_u32.to_le_bytes()).unwrap();
    assert_eq!(machine.untile().unwrap().pci_read(0xFF, 8, 2, 0xB20, 4), 0x0040_0103);
    assert_eq!(devices.mmio_read(MmioAddress(BASE), &mut data), Err(Error::DeviceNotFound), "that place is free for a host bridge");
}

#[test]
fn ports_may_be_registered_in_several_ranges() {
    let ports = Arc::new(Ports::new(machine()));
    let mut devices = IoManager::new();
    devices
        .register_pio(PioRange::new(PioAddress(ADDRESS_PORT), 1).unwrap(), Arc::clone(&ports) as Arc<dyn DevicePio + Send + Sync>)
        .unwrap();
    devices.register_pio(PioRange::new(PioAddress(DATA_PORT), 4).unwrap(), Arc::clone(&ports) as Arc<dyn DevicePio + Send + Sync>).unwrap();
    ports.set_address(0x80FF_4200);
    let mut data = [0; 2];
    devices.pio_read(PioAddress(0xCFE), &mut data).unwrap();
    assert_eq!(data, IDENTITY[2..]);
    DevicePio::pio_read(&*ports, PioAddress(0xFFFF), 0xFFFF, &mut data);
    assert_eq!(data, [0xFF; 2], "no port is there");
    DevicePio::pio_write(&*ports, PioAddress(0xFFFF), 0xFFFF, &data);
}

#[test]
fn devices_for_exclusive_use_answer_alike() {
    let machine = machine();
    let mut data = [0; 4];
    let mut window = Window::new(&*machine);
    MutDeviceMmio::mmio_read(&mut window, MmioAddress(BASE), 0xFF4_2000, &mut data);
    assert_eq!(data, IDENTITY);
    let mut function = Function::new(&*machine, CHANNEL);
    MutDeviceMmio::mmio_write(&mut window, MmioAddress(BASE), 0xFF4_2B20, &[3, 1, 0x40, 0]);
    MutDeviceMmio::mmio_read(&mut function, MmioAddress(BASE), 0xB20, &mut data);
    assert_eq!(data, [3, 1, 0x40, 0]);
    MutDeviceMmio::mmio_write(&mut function, MmioAddress(BASE), 0xB20, &[4]);
    let mut ports = Ports::new(&*machine);
    MutDevicePio::pio_write(&mut ports, PioAddress(ADDRESS_PORT), 0, &0x80FF_4200_u32.to_le_bytes());
    MutDevicePio::pio_read(&mut ports, PioAddress(ADDRESS_PORT), 4, &mut data);
    assert_eq!(data, IDENTITY);
    // Behind a lock, as some monitors keep their devices.
    DeviceMmio::mmio_read(&Mutex::new(window), MmioAddress(BASE), 0xFF4_2B20, &mut data);
    assert_eq!(data, [4, 1, 0x40, 0]);
}

#[test]
fn vcpus_use_the_buses_at_once() {
    let (devices, machine) = buses();
    let places = machine.untile().unwrap().functions().collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for vcpu in 0..8_usize {
            let (devices, places) = (&devices, &places);
            scope.spawn(move || {
                // Each has functions of its own, whose command registers it writes.
                for at in places.iter().skip(vcpu).step_by(8) {
                    let register = MmioAddress(BASE + (u64::from(at.number().unwrap()) << 12) + 4);
                    for value in (0..8).cycle().take(500) {
                        let mut data = [0];
                        devices.mmio_write(register, &[value]).unwrap();
                        devices.mmio_read(register, &mut data).unwrap();
                        assert_eq!(data, [value]);
                    }
                }
            });
        }
    });
}
