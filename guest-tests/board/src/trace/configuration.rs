//! Accesses in PCI configuration space, as traces have them: of whole doublewords.

use vm_pmu::arch::access::PciAddress;

/// A part of a doubleword of configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// The doubleword.
    pub(crate) address: PciAddress,
    /// How far they are from its lowest, in bits.
    shift: u32,
    size: u8,
}

impl Bytes {
    /// `size` bytes (1, 2 or 4) from the place that `at` names on.
    pub(crate) fn at(at: PciAddress, size: u8) -> Bytes {
        let shift = u32::from(at.offset & 3) * 8;
        Bytes { address: PciAddress { offset: at.offset & !3, ..at }, shift, size }
    }

    /// What a read of them showed, in its place in the doubleword.
    pub(crate) fn read(self, value: u32) -> u64 {
        u64::from(value) << self.shift
    }

    /// What the doubleword is to hold by a write of them, if it held `before`.
    pub(crate) fn written(self, before: u64, value: u32) -> u64 {
        let mask = (u64::MAX >> (64 - 8 * u64::from(self.size.clamp(1, 4)))) << self.shift;
        before & !mask | u64::from(value) << self.shift & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(offset: u16, size: u8) -> Bytes {
        Bytes::at(PciAddress { bus: 0xFF, device: 8, function: 2, offset }, size)
    }

    #[test]
    fn bytes_are_at_their_place_in_the_doubleword() {
        assert_eq!(bytes(0xF6, 2).address.offset, 0xF4);
        assert_eq!(bytes(0xF6, 2).read(0x1234), 0x1234_0000);
        assert_eq!(bytes(0xF5, 1).written(0x1122_3344, 0xAA), 0x1122_AA44);
        assert_eq!(bytes(0xF4, 4).written(0x1122_3344, 0x5566_7788), 0x5566_7788);
    }
}
