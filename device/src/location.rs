//! The place of a PCI function.

/// The place of a PCI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Bus, 0 to 255.
    pub bus: u8,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
}

impl Location {
    /// The location of a number of 16 bits: bus in bits 15:8, device in bits 7:3, function in bits 2:0. Requester IDs and the address port
    /// use this form.
    ///
    /// ```
    /// use vm_pmu::pci::Location;
    ///
    /// assert_eq!(Location::of(0xFF42), Location { bus: 0xFF, device: 8, function: 2 });
    /// assert_eq!(Location::of(0xFF42).number(), Some(0xFF42));
    /// ```
    #[must_use]
    pub const fn of(number: u16) -> Location {
        Location { bus: (number >> 8) as u8, device: (number >> 3) as u8 & 31, function: number as u8 & 7 }
    }

    /// The number of 16 bits from which [`of`](Location::of) makes this location; `None` for a device above 31 or a function above 7.
    #[must_use]
    pub const fn number(self) -> Option<u16> {
        if self.device > 31 || self.function > 7 {
            return None;
        }
        Some((self.bus as u16) << 8 | (self.device as u16) << 3 | self.function as u16)
    }
}
