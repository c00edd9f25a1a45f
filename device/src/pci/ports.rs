//! The two ports that access the first 256 bytes of each function.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

use super::{Location, Space, read_parts, write_parts};

/// The port of the address, and the first of the eight of [`Ports`].
pub const ADDRESS_PORT: u16 = 0xCF8;
/// The first of the four ports of data.
pub const DATA_PORT: u16 = 0xCFC;
/// How many ports [`Ports`] has, from [`ADDRESS_PORT`] on.
pub const PORTS: u16 = 8;

const ENABLE: u32 = 1 << 31;
/// The bits of the address that exist: enable, bus, device, function, register.
const ADDRESS_BITS: u32 = ENABLE | 0x00FF_FFFC;

/// The ports of configuration mechanism 1 (PCI Local Bus Specification 3.0, section 3.2.2.3.2): four bytes written to CF8h name a function
/// and one of its first 64 registers, and a read or write of CFCh to CFFh accesses that register.
///
/// All CPUs share the address, which is the bridge's: guests take a lock around the two accesses.
///
/// Knights Landing's boxes have their counters behind the first 256 bytes. Through the ports a guest finds the functions and their headers;
/// to count it needs the [`Window`](super::Window).
///
/// ```
/// use vm_pmu::pci::Ports;
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("knl").unwrap().build(|_thread, _counter| {}).unwrap();
/// let ports = Ports::new(&machine);
/// ports.write(0xCF8, &0x80FF_4200_u32.to_le_bytes()); // bus FFh, device 8, function 2, register 0
/// let mut device = [0; 2];
/// ports.read(0xCFE, &mut device);
/// assert_eq!(u16::from_le_bytes(device), 0x7843);
/// ```
#[derive(Debug)]
pub struct Ports<S> {
    space: S,
    address: AtomicU32,
}

impl<S: Space> Ports<S> {
    /// The ports, with an address of 0, as after a reset.
    pub fn new(space: S) -> Ports<S> {
        Ports { space, address: AtomicU32::new(0) }
    }

    /// What port CF8h reads as, to be saved: enable in bit 31, the number of the [`Location`] in bits 23:8, the register's offset in 7:2.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.address.load(Acquire)
    }

    /// Names another register, as a write of CF8h does: a saved address, or 0 for a reset. Bits that do not exist are dropped.
    pub fn set_address(&self, address: u32) {
        self.address.store(address & ADDRESS_BITS, Release);
    }

    /// Whether an access of `length` bytes at `port` goes to configuration space. Other accesses, like a byte at CF9h, belong to other
    /// devices of the monitor; [`read`](Ports::read) answers them with ones and [`write`](Ports::write) drops them.
    #[must_use]
    pub fn claims(&self, port: u16, length: usize) -> bool {
        is_address(port, length) || self.named(port, length).is_some()
    }

    /// IN: fills `data` with what is at `port`, 1, 2 or 4 bytes.
    pub fn read(&self, port: u16, data: &mut [u8]) {
        if is_address(port, data.len()) {
            data.copy_from_slice(&self.address().to_le_bytes());
            return;
        }
        match self.named(port, data.len()) {
            Some((at, offset)) => read_parts(offset, data, |offset, size| Some(self.space.read(at, offset as u16, size))),
            None => data.fill(0xFF),
        }
    }

    /// OUT: writes `data`, 1, 2 or 4 bytes, to `port`.
    pub fn write(&self, port: u16, data: &[u8]) {
        if let (true, Ok(bytes)) = (port == ADDRESS_PORT, <[u8; 4]>::try_from(data)) {
            self.set_address(u32::from_le_bytes(bytes));
        } else if let Some((at, offset)) = self.named(port, data.len()) {
            write_parts(offset, data, |offset, size, value| self.space.write(at, offset as u16, size, value));
        }
    }

    /// The function and offset of an access to the ports of data, if the address names a register.
    fn named(&self, port: u16, length: usize) -> Option<(Location, u64)> {
        let within = port.checked_sub(DATA_PORT).filter(|within| length <= 4 && usize::from(*within) + length <= 4)?;
        let address = self.address();
        (address & ENABLE != 0).then(|| (Location::of((address >> 8) as u16), u64::from(address & 0xFC) + u64::from(within)))
    }
}

fn is_address(port: u16, length: usize) -> bool {
    port == ADDRESS_PORT && length == 4
}
