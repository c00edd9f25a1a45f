//! What devices do through a PCIe host bridge (PHB), as the nest counts it.

use vm_pmu_arch::power9::nest::Kind;

use super::Chip;
use super::chip::blocks;

/// The boundary that no request crosses, in bytes (PCI Express Base Specification, 2.2.7).
const PAGE: u64 = 4096;
/// The least payload of a request in bytes.
const LEAST: u64 = 128;
/// The counters of a bridge follow those of the one before; each has its clock first.
const FIRST: u32 = 0x338;
const SIZE: u32 = 0x20;
const DMA_READS: u32 = 0x08;
const DMA_WRITES: u32 = 0x10;
const LOAD_ANSWERS: u32 = 0x18;

/// A PCIe host bridge of a chip: it counts what comes from its link.
///
/// A transfer comes as requests of limited size, none of which crosses a boundary of 4 KiB. Here each request ends at a multiple of the
/// limit, as those of devices do that read or write long buffers. Whoever moves the data tells the companion too.
///
/// ```
/// use vm_pmu::memory::{Chip, Event, HostBridge, Nest};
///
/// let chip = Chip::new(0, Nest::new(0));
/// let bridge = HostBridge::new(2).unwrap();
/// // 4,096 bytes at a multiple of 512 are eight requests of 512.
/// assert_eq!(bridge.dma_read(&chip, 0x1_0000, 4096), 8);
/// assert_eq!(chip.totals().get(Event::named("PM_PHB2_DMA_RD_FROM_PCIE").unwrap()), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBridge {
    number: u8,
    payload: u64,
    read_request: u64,
}

impl HostBridge {
    /// The bridge of this number, of six, with 512 bytes as the limit of reads (Max_Read_Request_Size after a reset) and 256 as that of
    /// writes.
    #[must_use]
    pub fn new(number: u8) -> Option<HostBridge> {
        (number < Kind::Phb.instances()).then_some(HostBridge { number, payload: 256, read_request: 512 })
    }

    /// With these limits in bytes, of what a write carries and of what a read asks for: Max_Payload_Size and Max_Read_Request_Size. A limit
    /// that is not a power of two from 128 to 4,096 is brought to the next lower one that is.
    #[must_use]
    pub fn limits(self, payload: u64, read_request: u64) -> HostBridge {
        let legal = |limit: u64| 1 << limit.clamp(LEAST, PAGE).ilog2();
        HostBridge { payload: legal(payload), read_request: legal(read_request), ..self }
    }

    /// A device reads `bytes` of memory from `address` on. Returns how many requests that is.
    pub fn dma_read(&self, chip: &Chip, address: u64, bytes: u64) -> u64 {
        self.count(chip, DMA_READS, blocks(address, bytes, self.read_request))
    }

    /// A device writes `bytes` of memory from `address` on. Returns how many requests that is.
    pub fn dma_write(&self, chip: &Chip, address: u64, bytes: u64) -> u64 {
        self.count(chip, DMA_WRITES, blocks(address, bytes, self.payload))
    }

    /// A device answers loads of a processor from its registers or memory, one for each.
    pub fn load_answered(&self, chip: &Chip, loads: u64) {
        self.count(chip, LOAD_ANSWERS, loads);
    }

    fn count(&self, chip: &Chip, counter: u32, amount: u64) -> u64 {
        chip.add_at(FIRST + SIZE * u32::from(self.number) + counter, amount);
        amount
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::power9::nest::{Event, Nest};

    use super::*;

    fn counts(chip: &Chip, number: u32) -> [u64; 3] {
        [DMA_READS, DMA_WRITES, LOAD_ANSWERS].map(|counter| chip.totals().get(Event::at(FIRST + SIZE * number + counter).unwrap()))
    }

    #[test]
    fn each_of_six_bridges_counts_its_own() {
        for number in 0..6 {
            let chip = Chip::new(0, Nest::new(0));
            let bridge = HostBridge::new(number).unwrap();
            bridge.dma_read(&chip, 0, 1024);
            bridge.dma_write(&chip, 0, 1024);
            bridge.load_answered(&chip, 5);
            // Two reads of 512 bytes, four writes of 256.
            assert_eq!(counts(&chip, u32::from(number)), [2, 4, 5]);
            let all: u64 = Event::all().map(|event| chip.totals().get(event)).sum();
            assert_eq!(all, 11);
        }
        assert_eq!(HostBridge::new(6), None);
    }

    #[test]
    fn a_request_ends_at_a_multiple_of_its_limit() {
        // Bytes 100 to 611 are in the blocks of 512 from 0 and from 512 on.
        assert_eq!(blocks(100, 512, 512), 2);
        assert_eq!(blocks(512, 512, 512), 1);
        assert_eq!(blocks(4095, 2, 4096), 2);
        assert_eq!(blocks(7, 0, 128), 0);
    }

    #[test]
    fn limits_are_powers_of_two_in_range() {
        let bridge = HostBridge::new(0).unwrap().limits(300, 1 << 20);
        assert_eq!((bridge.payload, bridge.read_request), (256, 4096));
        assert_eq!(bridge.limits(0, 1).payload, 128);
    }
}
