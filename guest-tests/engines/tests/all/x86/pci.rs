//! PCI configuration space: by ports CF8h and CFCh, and through the window at E000_0000h.

use std::sync::Mutex;

use super::support::*;

const FUNCTION: PciFunction = PciFunction { bus: 0x5A, device: 17, function: 3 };

/// Keeps the accesses, and returns four bytes of a pattern.
#[derive(Default)]
struct Recorder {
    reads: Mutex<Vec<(PciFunction, u16, u8)>>,
    writes: Mutex<Vec<(PciFunction, u16, u8, u32)>>,
    ports: Mutex<Vec<(u16, u8)>>,
}

impl MachineBus for Recorder {
    fn pci_read(&self, _: usize, at: PciFunction, offset: u16, size: u8) -> u32 {
        self.reads.lock().expect("whole").push((at, offset, size));
        0x1234_5678
    }

    fn pci_write(&self, _: usize, at: PciFunction, offset: u16, size: u8, value: u32) {
        self.writes.lock().expect("whole").push((at, offset, size, value));
    }

    fn port_in(&self, _: usize, port: u16, size: u8) -> u32 {
        self.ports.lock().expect("whole").push((port, size));
        0xABAB_ABAB
    }

    fn port_out(&self, _: usize, port: u16, size: u8, _: u32) {
        self.ports.lock().expect("whole").push((port, size));
    }
}

fn run_on(bus: &Arc<Recorder>, build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Machine<Log> {
    let guest = Guest::new(|a| {
        build(a)?;
        stop(a)
    });
    let bus = Arc::clone(bus);
    let mut m = Machine::new(&Config::default(), &guest.image, bus, |_| Log::default()).expect("loads");
    assert_eq!(m.run(Limits::steps(1000)), Exit::Halted);
    m
}

fn select(a: &mut CodeAssembler, word: u32) -> Result<(), IcedError> {
    a.mov(edx, 0xCF8)?;
    a.mov(eax, word)?;
    a.out(dx, eax)
}

#[test]
fn the_address_port_keeps_enable_bus_device_function_and_register() {
    let bus = Arc::default();
    let m = run_on(&bus, |a| {
        select(a, u32::MAX)?;
        a.in_(eax, dx)
    });
    assert_eq!(gpr(&m, RAX), 0x80FF_FFFC);
    assert!(bus.ports.lock().expect("whole").is_empty());
}

#[test]
fn the_data_ports_reach_the_bytes_of_the_named_register_in_every_size() {
    let bus = Arc::default();
    let m = run_on(&bus, |a| {
        select(a, 0x8000_0000 | 0x5A << 16 | 17 << 11 | 3 << 8 | 0xA4)?;
        a.mov(edx, 0xCFC)?;
        a.in_(eax, dx)?;
        a.mov(r8, rax)?;
        a.mov(rax, u64::MAX)?;
        a.mov(edx, 0xCFE)?;
        a.in_(ax, dx)?;
        a.mov(r9, rax)?;
        a.mov(edx, 0xCFF)?;
        a.in_(al, dx)?;
        a.mov(eax, 0xAABB_CCDDu32)?;
        a.out(dx, al)?;
        a.mov(edx, 0xCFD)?;
        a.out(dx, ax)?;
        a.mov(edx, 0xCFC)?;
        a.out(dx, eax)
    });
    assert_eq!((gpr(&m, 8), gpr(&m, 9)), (0x1234_5678, 0xFFFF_FFFF_FFFF_5678));
    assert_eq!(*bus.reads.lock().expect("whole"), [(FUNCTION, 0xA4, 4), (FUNCTION, 0xA6, 2), (FUNCTION, 0xA7, 1)]);
    let written = [(FUNCTION, 0xA7, 1, 0xDD), (FUNCTION, 0xA5, 2, 0xCCDD), (FUNCTION, 0xA4, 4, 0xAABB_CCDD)];
    assert_eq!(*bus.writes.lock().expect("whole"), written);
    assert!(bus.ports.lock().expect("whole").is_empty());
}

#[test]
fn what_is_no_configuration_access_goes_to_the_ports() {
    let bus = Arc::default();
    let m = run_on(&bus, |a| {
        // Data while no function is named.
        a.mov(edx, 0xCFC)?;
        a.in_(eax, dx)?;
        a.mov(r8, rax)?;
        a.out(dx, eax)?;
        // Less than all of the address.
        a.mov(edx, 0xCF8)?;
        a.in_(ax, dx)?;
        a.out(dx, al)?;
        a.mov(edx, 0xCF9)?;
        a.in_(al, dx)?;
        // Over the end of the data.
        select(a, 0x8000_0000)?;
        a.mov(edx, 0xCFF)?;
        a.in_(ax, dx)
    });
    assert_eq!(gpr(&m, 8), 0xABAB_ABAB);
    assert_eq!(*bus.ports.lock().expect("whole"), [(0xCFC, 4), (0xCFC, 4), (0xCF8, 2), (0xCF8, 1), (0xCF9, 1), (0xCFF, 2)]);
    assert!(bus.reads.lock().expect("whole").is_empty());
    assert!(bus.writes.lock().expect("whole").is_empty());
}

#[test]
fn all_cpus_share_the_address() {
    let guest = Guest::new(|a| {
        let mut second = a.create_label();
        a.mov(rbx, DATA)?;
        a.test(edi, edi)?;
        a.jne(second)?;
        select(a, 0x8000_0040)?;
        a.mov(dword_ptr(rbx), 1)?;
        stop(a)?;
        a.set_label(&mut second)?;
        a.pause()?;
        a.cmp(dword_ptr(rbx), 1)?;
        a.jne(second)?;
        a.mov(edx, 0xCF8)?;
        a.in_(eax, dx)?;
        stop(a)
    });
    let config = Config { cpus: 2, ..Config::default() };
    let mut m = guest.machine(&config, |_| Log::default());
    assert_eq!(m.run(Limits::steps(1000)), Exit::Halted);
    assert_eq!(m.cpu(1).expect("CPU 1").gpr(RAX), 0x8000_0040);
}

#[test]
fn the_window_reaches_4_kib_of_a_function_in_every_size() {
    let bus = Arc::default();
    let address = CONFIGURATION_WINDOW + (0x5A << 20 | 17 << 15 | 3 << 12 | 0xB38);
    let m = run_on(&bus, |a| {
        a.mov(rbx, address)?;
        a.mov(r8, qword_ptr(rbx))?;
        a.mov(r9d, dword_ptr(rbx + 4))?;
        a.movzx(r10d, word_ptr(rbx + 2))?;
        a.movzx(r11d, byte_ptr(rbx + 1))?;
        a.mov(rax, 0x1122_3344_5566_7788u64)?;
        a.mov(qword_ptr(rbx), rax)?;
        a.mov(byte_ptr(rbx + 3), al)
    });
    assert_eq!([8, 9, 10, 11].map(|n| gpr(&m, n)), [0x1234_5678_1234_5678, 0x1234_5678, 0x5678, 0x78]);
    let read = [(0xB38, 4), (0xB3C, 4), (0xB3C, 4), (0xB3A, 2), (0xB39, 1)].map(|(offset, size)| (FUNCTION, offset, size));
    assert_eq!(*bus.reads.lock().expect("whole"), read);
    let written = [(0xB38, 4, 0x5566_7788), (0xB3C, 4, 0x1122_3344), (0xB3B, 1, 0x88)];
    assert_eq!(*bus.writes.lock().expect("whole"), written.map(|(offset, size, value)| (FUNCTION, offset, size, value)));
}

#[test]
fn a_misaligned_access_to_the_window_comes_in_aligned_parts() {
    let bus = Arc::default();
    let m = run_on(&bus, |a| {
        a.mov(rbx, FUNCTION.window_address(0x101))?;
        a.mov(eax, dword_ptr(rbx))
    });
    assert_eq!(*bus.reads.lock().expect("whole"), [(0x101, 1), (0x102, 2), (0x104, 1)].map(|(offset, size)| (FUNCTION, offset, size)));
    // A byte 78h, a word 5678h and a byte 78h.
    assert_eq!(gpr(&m, RAX), 0x7856_7878);
}

#[test]
fn where_no_function_is_everything_reads_as_ones() {
    let m = run(|a| {
        select(a, 0x8000_0000)?;
        a.mov(edx, 0xCFC)?;
        a.in_(eax, dx)?;
        a.mov(r8, rax)?;
        a.mov(rbx, CONFIGURATION_WINDOW)?;
        a.mov(r9, qword_ptr(rbx))?;
        a.movzx(r10d, byte_ptr(rbx))?;
        a.mov(dword_ptr(rbx), 0)
    });
    assert_eq!([8, 9, 10].map(|n| gpr(&m, n)), [0xFFFF_FFFF, u64::MAX, 0xFF]);
}

#[test]
fn the_window_ends_after_256_buses() {
    struct Beyond(Mutex<Vec<u64>>);
    impl MachineBus for Beyond {
        fn pci_read(&self, _: usize, at: PciFunction, offset: u16, size: u8) -> u32 {
            assert_eq!((at, offset, size), (PciFunction { bus: 0xFF, device: 31, function: 7 }, 0xFFC, 4));
            0
        }

        fn mmio_read(&self, _: usize, address: u64, _: u8) -> u64 {
            self.0.lock().expect("whole").push(address);
            0
        }
    }
    let guest = Guest::new(|a| {
        a.mov(ebx, 0xEFFF_FFFCu32)?;
        a.mov(eax, dword_ptr(rbx))?;
        a.mov(eax, dword_ptr(rbx + 4))?;
        stop(a)
    });
    let bus = Arc::new(Beyond(Mutex::default()));
    let mut m = Machine::new(&Config::default(), &guest.image, bus.clone(), |_| Log::default()).expect("loads");
    assert_eq!(m.run(Limits::steps(100)), Exit::Halted);
    assert_eq!(*bus.0.lock().expect("whole"), [0xF000_0000]);
}
