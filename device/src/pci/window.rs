//! The window of memory that accesses all functions.

use super::{FUNCTION_BYTES, Location, Space, read_parts, write_parts};

/// The shift of a function's number in the window.
const FUNCTION_SHIFT: u32 = FUNCTION_BYTES.trailing_zeros();
/// How many functions a bus can have.
const FUNCTIONS_OF_A_BUS: u64 = 256;
/// How many bytes of the window a bus has.
const BUS_BYTES: u64 = FUNCTIONS_OF_A_BUS * FUNCTION_BYTES;

/// The window through which a guest reaches configuration space as memory: 4 KiB a function, 1 MiB a bus (PCI Express Base Specification
/// 3.0, section 7.2.2). The MCFG table of the firmware tells the guest where it is.
///
/// ```
/// use vm_pmu::pci::{Location, Window};
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("knl").unwrap().build(|_thread, _counter| {}).unwrap();
/// let window = Window::new(&machine);
/// assert_eq!(window.size(), 256 << 20);
/// assert_eq!(window.offset(Location { bus: 0xFF, device: 8, function: 2 }), Some(0xFF4_2000));
/// // Bus FFh alone, for a monitor that has its own window for the other buses.
/// assert_eq!(Window::of_buses(&machine, 0xFF, 0xFF).size(), 1 << 20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Window<S> {
    space: S,
    first: u8,
    last: u8,
}

impl<S: Space> Window<S> {
    /// The window of all 256 buses: 256 MiB.
    pub fn new(space: S) -> Window<S> {
        Window { space, first: 0, last: u8::MAX }
    }

    /// The window of buses `first` to `last`, 1 MiB each. If `last` is below `first`, it has bus `first` alone.
    pub fn of_buses(space: S, first: u8, last: u8) -> Window<S> {
        Window { space, first, last: last.max(first) }
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn size(&self) -> u64 {
        (u64::from(self.last - self.first) + 1) * BUS_BYTES
    }

    /// The offset of a function in the window, in bytes; `None` if it is outside.
    #[must_use]
    pub fn offset(&self, at: Location) -> Option<u64> {
        let number = at.number().filter(|_| (self.first..=self.last).contains(&at.bus))?;
        Some((u64::from(number) - u64::from(self.first) * FUNCTIONS_OF_A_BUS) << FUNCTION_SHIFT)
    }

    /// Fills `data` with the bytes from `offset` on in the window; bytes beyond its end read as ones.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        read_parts(offset, data, |at, size| self.place(at).map(|(location, offset)| self.space.read(location, offset, size)));
    }

    /// Writes `data` from `offset` on in the window; bytes beyond its end are dropped.
    pub fn write(&self, offset: u64, data: &[u8]) {
        write_parts(offset, data, |at, size, value| {
            if let Some((location, offset)) = self.place(at) {
                self.space.write(location, offset, size, value);
            }
        });
    }

    fn place(&self, offset: u64) -> Option<(Location, u16)> {
        let inside = Some(offset).filter(|offset| *offset < self.size())?;
        let number = (inside >> FUNCTION_SHIFT) + u64::from(self.first) * FUNCTIONS_OF_A_BUS;
        Some((Location::of(u16::try_from(number).ok()?), (inside % FUNCTION_BYTES) as u16))
    }
}
