//! The devices of the machine as a CPU reaches them: a console, an exit, and a device that accesses RAM by itself.

use super::footprint::{BLOCK, Failure};
use super::state::{CONSOLE, Core, DEVICES, DEVICES_SIZE, EXIT, Stop};
use super::step::DeviceActivity;
use crate::dma::{DmaAccess, DmaKind};

/// The effective address of the registers of the device that accesses RAM by itself ([`DmaRegister`](crate::dma::DmaRegister)).
pub const DMA: u64 = DEVICES + 0x800;
/// Bytes of its registers.
const DMA_SIZE: u64 = 0x100;
/// It reports what a page of this size has of a transfer: no request of PCI Express crosses a multiple of it.
pub(crate) const DMA_UNIT: u64 = 4096;

/// Which of its registers an access of `size` bytes reaches: the offset. Registers are dwords, and an access is within one.
fn dma_offset(real: u64, size: u8) -> Option<u16> {
    let offset = real.checked_sub(DMA).filter(|offset| *offset < DMA_SIZE)?;
    (offset % 4 + u64::from(size) <= 4).then_some(offset as u16)
}

impl Core {
    /// Whether an address is a device's.
    #[inline]
    pub(crate) fn device(address: u64) -> bool {
        (DEVICES..DEVICES + DEVICES_SIZE).contains(&Self::real(address))
    }

    /// What `size` bytes of a device at `real` hold, as a little-endian number. What is no register reads as 0.
    pub(crate) fn load_device(&mut self, real: u64, size: u8) -> u64 {
        let Some(offset) = dma_offset(real, size) else { return 0 };
        self.activities.push(DeviceActivity::Answer);
        self.shared.dma.read(offset, size).into()
    }

    /// `size` bytes are stored to a device at `real`: `value`, whose lowest byte is at the first address.
    pub(crate) fn store_device(&mut self, real: u64, size: u8, value: u64) {
        match real {
            CONSOLE => self.shared.print(value as u8),
            EXIT => self.stop = Some(Stop::Status(value as u8)),
            _ => {
                let Some(offset) = dma_offset(real, size) else { return };
                let Core { shared, activities, .. } = self;
                shared.dma.write(offset, size, value as u32, &shared.memory, |access| {
                    shared.disturbed_by_device(&access);
                    activities.push(DeviceActivity::Access(access));
                });
            }
        }
    }
}

impl super::state::Shared {
    /// A device is about to access RAM: reservations of what it writes end, and transactions that this meets fail.
    fn disturbed_by_device(&self, access: &DmaAccess) {
        let DmaAccess { kind, physical, bytes } = *access;
        let writes = kind != DmaKind::Read;
        let lines = (physical / BLOCK, (physical + bytes.max(1) - 1) / BLOCK);
        if writes {
            (lines.0..=lines.1).for_each(|line| self.lose_reservations(usize::MAX, line * BLOCK));
        }
        if self.footprints.are_live() {
            self.footprints.meet(lines, writes, Failure::NonTransactional, &self.memory);
        }
    }
}
