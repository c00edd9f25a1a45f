//! One function: its registers, by number or by offset.

use super::{FUNCTION_BYTES, Location, Space, read_parts, write_parts};

/// One function of a [`Space`], for a monitor's PCI bus or memory bus.
///
/// ```
/// use std::sync::Arc;
/// use vm_pmu::pci::{Function, Location};
/// use vm_pmu::topology::Builder;
///
/// let machine = Arc::new(Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap());
/// // A device for each function that the part has, to be put on the monitor's PCI bus.
/// let devices = machine.untile().unwrap().functions().map(|at| Function::new(Arc::clone(&machine), at)).collect::<Vec<_>>();
/// let channel = devices.iter().find(|device| device.location() == Location { bus: 0xFF, device: 8, function: 2 }).unwrap();
/// assert_eq!(channel.read_register(0), 0x7843_8086);
/// channel.write_register(0xB20 / 4, 0, &0x0040_0103_u32.to_le_bytes());
/// assert_eq!(channel.read_register(0xB20 / 4), 0x0040_0103);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Function<S> {
    space: S,
    at: Location,
}

impl<S: Space> Function<S> {
    /// The function at `at`. If `space` has none there, it reads as ones.
    pub fn new(space: S, at: Location) -> Function<S> {
        Function { space, at }
    }

    /// Its location.
    #[must_use]
    pub fn location(&self) -> Location {
        self.at
    }

    /// Whether a function is there: its vendor ID is valid.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.space.read(self.at, 0, 2) & 0xFFFF != 0xFFFF
    }

    /// Register `number`, a dword, from 0 to 1,023; beyond that ones.
    #[must_use]
    pub fn read_register(&self, number: u16) -> u32 {
        match number.checked_mul(4) {
            Some(offset) if u64::from(offset) < FUNCTION_BYTES => self.space.read(self.at, offset, 4),
            _ => u32::MAX,
        }
    }

    /// Writes `data` into register `number`, from its byte `first` (0 to 3) on. Bytes that do not fit, or a register beyond 1,023, are
    /// dropped.
    pub fn write_register(&self, number: u16, first: u8, data: &[u8]) {
        let fitting = 4_usize.saturating_sub(usize::from(first)).min(data.len());
        if let Some(data) = data.get(..fitting) {
            self.write(u64::from(number) * 4 + u64::from(first), data);
        }
    }

    /// Fills `data` with the bytes from `offset` on; bytes beyond 4 KiB read as ones.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        read_parts(offset, data, |at, size| inside(at).map(|at| self.space.read(self.at, at, size)));
    }

    /// Writes `data` from byte `offset` on; bytes beyond 4 KiB are dropped.
    pub fn write(&self, offset: u64, data: &[u8]) {
        write_parts(offset, data, |at, size, value| {
            if let Some(at) = inside(at) {
                self.space.write(self.at, at, size, value);
            }
        });
    }
}

/// `offset`, if a function has it.
fn inside(offset: u64) -> Option<u16> {
    u16::try_from(offset).ok().filter(|offset| u64::from(*offset) < FUNCTION_BYTES)
}
