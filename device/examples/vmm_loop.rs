//! A virtual machine monitor in the way of rust-vmm, with the PMU of a Knights Landing tile.
//!
//! Two vCPUs run, each on a host thread of its own, and come back with an exit when they need the monitor: RDMSR and WRMSR go to the PMU,
//! memory and ports to the devices of an `IoManager`, and interrupts come through an `EventFd` each. Here a vCPU is a list of what its
//! guest does; with `kvm-ioctls` it is a `VcpuFd`, whose `run` returns much the same exits.

use std::error::Error;
use std::sync::Arc;
use std::thread;

use vm_device::bus::{MmioAddress, MmioRange, PioAddress, PioRange};
use vm_device::device_manager::{IoManager, MmioManager, PioManager};
use vm_pmu::irq::EventFdLine;
use vm_pmu::pci::{ADDRESS_PORT, DATA_PORT, Location, PORTS, Ports, Window};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::untile::{Kind, UnitId};
use vm_pmu::{Fault, Signal};

/// Why the monitor gives up.
type Failure = Box<dyn Error + Send + Sync>;

/// Where the guest finds configuration space in memory.
const WINDOW: u64 = 0xE000_0000;
const EFER: u32 = 0xC000_0080;

/// Why a vCPU comes back.
#[derive(Clone, Copy)]
enum Exit {
    /// OUT of four bytes to a port.
    IoOut(u16, u32),
    /// IN of four bytes from a port.
    IoIn(u16),
    /// A store of four bytes to memory that is a device's.
    MmioWrite(u64, u32),
    /// A load of four bytes.
    MmioRead(u64),
    /// WRMSR: number and value.
    Wrmsr(u32, u64),
    /// RDMSR: number.
    Rdmsr(u32),
    /// The guest executed so many instructions, each of which reads memory.
    Ran(u64),
    /// HLT: this guest is done.
    Halt,
}

/// A vCPU: what its guest does, and what it was answered.
struct Vcpu {
    number: usize,
    exits: std::vec::IntoIter<Exit>,
    log: String,
}

impl Vcpu {
    fn new(number: usize, exits: Vec<Exit>) -> Vcpu {
        Vcpu { number, exits: exits.into_iter(), log: String::new() }
    }

    /// Enters the guest until it needs the monitor.
    fn run(&mut self) -> Exit {
        self.exits.next().unwrap_or(Exit::Halt)
    }

    fn note(&mut self, what: &str) {
        self.log += &format!("vCPU {}: {what}\n", self.number);
    }
}

/// What the monitor has beside the vCPUs.
struct Monitor {
    machine: Arc<Machine<EventFdLine>>,
    devices: IoManager,
}

impl Monitor {
    fn new(vcpus: usize) -> Result<Monitor, Failure> {
        let line = EventFdLine::create(vcpus)?;
        let machine = Arc::new(Builder::new("knl")?.threads(vcpus).build(line)?);
        let mut devices = IoManager::new();
        let window = Window::new(Arc::clone(&machine));
        devices.register_mmio(MmioRange::new(MmioAddress(WINDOW), window.size())?, Arc::new(window))?;
        devices.register_pio(PioRange::new(PioAddress(ADDRESS_PORT), PORTS)?, Arc::new(Ports::new(Arc::clone(&machine))))?;
        Ok(Monitor { machine, devices })
    }

    /// Runs a vCPU until its guest halts. Returns what it noted.
    fn run(&self, mut vcpu: Vcpu) -> Result<String, Failure> {
        let pmu = self.machine.thread(vcpu.number).ok_or("no such thread")?;
        let interrupt = self.machine.line().eventfd(vcpu.number).ok_or("no such interrupt line")?;
        loop {
            let mut data = [0; 4];
            match vcpu.run() {
                Exit::IoOut(port, value) => self.devices.pio_write(PioAddress(port), &value.to_le_bytes())?,
                Exit::IoIn(port) => {
                    self.devices.pio_read(PioAddress(port), &mut data)?;
                    vcpu.note(&format!("port {port:X}h reads {:#010X}", u32::from_le_bytes(data)));
                }
                Exit::MmioWrite(address, value) => self.devices.mmio_write(MmioAddress(address), &value.to_le_bytes())?,
                Exit::MmioRead(address) => {
                    self.devices.mmio_read(MmioAddress(address), &mut data)?;
                    vcpu.note(&format!("memory at {address:#X} reads {}", u32::from_le_bytes(data)));
                }
                Exit::Wrmsr(number, value) => {
                    if pmu.x86().wrmsr(number, value).is_err() {
                        vcpu.note(&format!("#GP for WRMSR {number:X}h"));
                    }
                }
                Exit::Rdmsr(number) => match pmu.x86().rdmsr(number) {
                    Ok(value) => vcpu.note(&format!("RDMSR {number:X}h reads {value:#X}")),
                    Err(Fault::Unclaimed) if number == EFER => vcpu.note("RDMSR C0000080h is the monitor's own"),
                    Err(_) => vcpu.note(&format!("#GP for RDMSR {number:X}h")),
                },
                Exit::Ran(instructions) => self.execute(&pmu, instructions),
                Exit::Halt => return Ok(vcpu.log),
            }
            // Before it enters the guest again. The interrupt's handler acknowledges the overflow.
            if interrupt.read().is_ok() {
                let status = pmu.x86().rdmsr(0x38E)?;
                vcpu.note(&format!("interrupted, IA32_PERF_GLOBAL_STATUS is {status:#X}"));
                pmu.x86().wrmsr(0x390, status)?;
            }
        }
    }

    /// What instructions do: they retire, take time, and read memory, which lies behind another channel for each guest.
    fn execute(&self, pmu: &Thread<'_, EventFdLine>, instructions: u64) {
        let channel = u8::try_from(pmu.number()).ok().and_then(|number| UnitId::new(Kind::McDclk, number));
        for _ in 0..instructions {
            pmu.totals().add(Signal::InstructionsRetired, 1);
            pmu.totals().add(Signal::Cycles, 1);
            if pmu.due() {
                pmu.check();
            }
            if let (Some(untile), Some(channel)) = (self.machine.untile(), channel) {
                untile.inject(channel, 0x03, 0x01, 1, 1);
            }
        }
    }
}

/// The first guest finds its channel of a memory controller, has it count reads, and looks at the count.
fn counts_memory() -> Vec<Exit> {
    let channel = Location { bus: 0xFF, device: 8, function: 2 };
    let number = u32::from(channel.number().unwrap_or_default());
    let register = |offset: u64| WINDOW + u64::from(number << 12) + offset;
    vec![
        Exit::Rdmsr(EFER),
        Exit::IoOut(ADDRESS_PORT, 1 << 31 | number << 8),
        Exit::IoIn(DATA_PORT),
        Exit::IoOut(ADDRESS_PORT, 1 << 31 | 1 << 16), // bus 1, where nothing is
        Exit::IoIn(DATA_PORT),
        Exit::MmioWrite(register(0xB20), 0x0040_0103), // control of counter 0: CAS reads, enable
        Exit::Ran(500),
        Exit::MmioWrite(register(0xB20), 0x0000_0103),
        Exit::MmioRead(register(0xB00)), // counter 0
        Exit::Halt,
    ]
}

/// The second guest is interrupted by the overflow of a counter of its own.
fn samples_instructions() -> Vec<Exit> {
    vec![
        Exit::Wrmsr(0x38F, 1),                                // IA32_PERF_GLOBAL_CTRL: counter 0
        Exit::Wrmsr(0xC1, u64::from(0u32.wrapping_sub(300))), // IA32_PMC0
        Exit::Wrmsr(0x186, 0x0052_00C0),                      // IA32_PERFEVTSEL0: instructions retired, OS, INT, EN
        Exit::Ran(299),
        Exit::Rdmsr(0x38E),
        Exit::Ran(1),
        Exit::Rdmsr(0x38E),
        Exit::Rdmsr(0xC1),
        Exit::Wrmsr(0x186, 1 << 32), // a reserved bit
        Exit::Halt,
    ]
}

/// Runs both guests at once. Returns what is printed: what each noted, one after the other.
pub(crate) fn run() -> Result<String, Failure> {
    let monitor = Monitor::new(2)?;
    let vcpus = [Vcpu::new(0, counts_memory()), Vcpu::new(1, samples_instructions())];
    let logs = thread::scope(|scope| {
        let monitor = &monitor;
        let running = vcpus.map(|vcpu| scope.spawn(move || monitor.run(vcpu)));
        running.map(|vcpu| vcpu.join().unwrap_or_else(|_| Err("a vCPU's thread panicked".into())))
    });
    let mut printed = String::new();
    for log in logs {
        printed += &log?;
    }
    Ok(printed)
}

fn main() -> Result<(), Failure> {
    print!("{}", run()?);
    Ok(())
}
