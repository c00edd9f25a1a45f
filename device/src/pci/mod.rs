//! PCI configuration space for a virtual machine monitor's buses: bytes at an offset of a function, of a window of memory, or of two ports.
//!
//! | device | what the guest does | where it goes on the monitor's buses |
//! | --- | --- | --- |
//! | [`Window`] | loads and stores: the enhanced mechanism (PCI Express Base Specification 3.0, section 7.2.2) | memory, 1 MiB a bus |
//! | [`Ports`] | IN and OUT: mechanism 1 (PCI Local Bus Specification 3.0, section 3.2.2.3.2) | ports CF8h to CFFh |
//! | [`Function`] | either, decoded by the monitor: one function, its registers | a PCI bus, or 4 KiB of memory |
//!
//! They access the functions through [`Space`]. A [`Machine`] is one: it has the functions of Knights Landing's boxes, and nothing else. A
//! monitor with other functions implements it itself and passes accesses on to the machine, or it puts a [`Function`] for each of
//! [`Untile::functions`](crate::topology::Untile::functions) on its PCI bus.
//!
//! # Accesses
//!
//! Configuration space is accessed by 1, 2 or 4 bytes, naturally aligned and little-endian. Any other access is split into such parts, the
//! lowest address first: 8 bytes are two dwords. So no access fails. Bytes that are in no function read as ones, and a write there is
//! dropped, as on a bus where no device answers.
//!
//! With the feature `vm-device` all three are devices on the buses of the crate of that name, for shared (`DeviceMmio`, `DevicePio`) and
//! for exclusive use (`MutDeviceMmio`, `MutDevicePio`). They need no lock: the boxes have their own.
//!
//! ```
//! use vm_pmu::pci::{Location, Window};
//! use vm_pmu::topology::Builder;
//!
//! let machine = Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap();
//! let window = Window::new(&machine);
//! // The first channel of the first memory controller.
//! let channel = window.offset(Location { bus: 0xFF, device: 8, function: 2 }).unwrap();
//! let mut identity = [0; 4];
//! window.read(channel, &mut identity);
//! assert_eq!(u32::from_le_bytes(identity), 0x7843_8086);
//! window.write(channel + 0xB20, &0x0040_0103_u32.to_le_bytes());
//! ```

mod function;
mod ports;
#[cfg(feature = "vm-device")]
mod vm_device;
mod window;

use alloc::sync::Arc;
use core::ops::Range;

pub use function::Function;
pub use ports::{ADDRESS_PORT, DATA_PORT, PORTS, Ports};
pub use window::Window;

pub use crate::location::Location;

use crate::irq::InterruptLine;
use crate::topology::Machine;

/// How many bytes of configuration space a function has.
pub const FUNCTION_BYTES: u64 = 4096;

/// The configuration space of a machine: some functions and their locations.
///
/// A [`Machine`] has those of its boxes. References to a space and an [`Arc`] of one are spaces too.
///
/// ```
/// use vm_pmu::irq::InterruptLine;
/// use vm_pmu::pci::{Location, Space, Window};
/// use vm_pmu::topology::{Builder, Machine};
///
/// /// A monitor with its own host bridge, at 00:00.0.
/// struct Everything<L>(Machine<L>);
///
/// impl<L: InterruptLine> Space for Everything<L> {
///     fn read(&self, at: Location, offset: u16, size: u8) -> u32 {
///         match (at.number(), offset, size) {
///             (Some(0), 0, 4) => 0x3C00_8086,
///             (Some(0), ..) => 0,
///             _ => self.0.read(at, offset, size),
///         }
///     }
///
///     fn write(&self, at: Location, offset: u16, size: u8, value: u32) {
///         self.0.write(at, offset, size, value);
///     }
/// }
///
/// let window = Window::new(Everything(Builder::new("knl").unwrap().build(|_thread, _counter| {}).unwrap()));
/// let read = |at| {
///     let mut identity = [0; 4];
///     window.read(window.offset(at).unwrap(), &mut identity);
///     u32::from_le_bytes(identity)
/// };
/// assert_eq!(read(Location::of(0)), 0x3C00_8086);
/// assert_eq!(read(Location::of(0xFF42)), 0x7843_8086);
/// assert_eq!(read(Location::of(1)), u32::MAX);
/// ```
pub trait Space {
    /// A read of `size` bytes (1, 2 or 4) at `offset`, below 4,096 and a multiple of `size`: returns the value in the lowest bits, or ones
    /// where no function is.
    fn read(&self, at: Location, offset: u16, size: u8) -> u32;

    /// A write of the `size` lowest bytes (1, 2 or 4) of `value` at `offset`, below 4,096 and a multiple of `size`: dropped where no
    /// function is.
    fn write(&self, at: Location, offset: u16, size: u8, value: u32);
}

impl<L: InterruptLine> Space for Machine<L> {
    fn read(&self, at: Location, offset: u16, size: u8) -> u32 {
        self.untile().map_or(u32::MAX, |untile| untile.pci_read(at.bus, at.device, at.function, offset, size))
    }

    fn write(&self, at: Location, offset: u16, size: u8, value: u32) {
        if let Some(untile) = self.untile() {
            untile.pci_write(at.bus, at.device, at.function, offset, size, value);
        }
    }
}

impl<S: Space + ?Sized> Space for &S {
    fn read(&self, at: Location, offset: u16, size: u8) -> u32 {
        (**self).read(at, offset, size)
    }

    fn write(&self, at: Location, offset: u16, size: u8, value: u32) {
        (**self).write(at, offset, size, value);
    }
}

impl<S: Space + ?Sized> Space for Arc<S> {
    fn read(&self, at: Location, offset: u16, size: u8) -> u32 {
        (**self).read(at, offset, size)
    }

    fn write(&self, at: Location, offset: u16, size: u8, value: u32) {
        (**self).write(at, offset, size, value);
    }
}

/// Splits an access of `length` bytes at `offset` into naturally aligned parts of at most four bytes, the lowest first: the offset of each,
/// and its bytes of the access.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let mut done = 0;
    core::iter::from_fn(move || {
        let at = offset.checked_add(done as u64)?;
        let size = [4, 2, 1].into_iter().find(|size| at.is_multiple_of(*size as u64) && length - done >= *size)?;
        let bytes = done..done + size;
        done = bytes.end;
        Some((at, bytes))
    })
}

/// Reads `data` part by part; `part` takes the offset and the size of each, and returns `None` where no function is.
fn read_parts(offset: u64, data: &mut [u8], mut part: impl FnMut(u64, u8) -> Option<u32>) {
    data.fill(0xFF);
    for (at, bytes) in parts(offset, data.len()) {
        let size = bytes.len() as u8;
        if let (Some(value), Some(bytes)) = (part(at, size), data.get_mut(bytes)) {
            bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, value)| *byte = value);
        }
    }
}

/// Writes `data` part by part; `part` takes the offset, the size and the value of each.
fn write_parts(offset: u64, data: &[u8], mut part: impl FnMut(u64, u8, u32)) {
    for (at, bytes) in parts(offset, data.len()) {
        let size = bytes.len() as u8;
        let bytes = data.get(bytes).unwrap_or_default();
        part(at, size, bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)));
    }
}
