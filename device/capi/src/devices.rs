//! What devices do through a POWER9's host bridges and NVLinks, as the nests of its chips count it.

use vm_pmu::memory::{HostBridge, NvLink};

use crate::platform::{VmPmuPlatform, chip};
use crate::pointer::offer;
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// A device of a host bridge reads memory, in vm_pmu_chip_dma().
pub const VM_PMU_DMA_READ: u32 = 0;
/// It writes memory, in vm_pmu_chip_dma().
pub const VM_PMU_DMA_WRITE: u32 = 1;

/// What happens over an NVLink, between a processor and an accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuNvLinkTransfer {
    /// The accelerator reads memory of the processor.
    Reads = 0,
    /// The accelerator writes memory of the processor.
    Writes = 1,
    /// The accelerator has an atomic operation done at memory of the processor.
    Atomic = 2,
    /// The same, and gets the former value.
    AtomicReturns = 3,
    /// The accelerator gives back a line that it held.
    GivesBack = 4,
    /// The same, with data that it modified.
    GivesBackModified = 5,
    /// The processor reads memory of the accelerator.
    IsRead = 6,
    /// The processor writes memory of the accelerator.
    IsWritten = 7,
}

fn none(what: &str, number: u32, count: u8) -> Failure {
    misuse(VmPmuStatus::ErrorRange, format!("there is no {what} {number}: a chip has {count}, from 0 on"))
}

/// Host bridge `number` of a chip.
fn bridge(number: u32) -> Result<HostBridge, Failure> {
    u8::try_from(number).ok().and_then(HostBridge::new).ok_or_else(|| none("host bridge", number, 6))
}

/// A device behind PCIe host bridge `bridge`, 0 to 5, of the chip of this number reads (VM_PMU_DMA_READ) or writes (VM_PMU_DMA_WRITE)
/// `bytes` of memory from `address` on. It does so by requests that end at multiples of `limit` bytes: Max_Read_Request_Size or
/// Max_Payload_Size, a power of two from 128 to 4096; 0 is 512 for reads and 256 for writes. How many requests that is is told in
/// `requests`, which may be null. The companion is told by itself.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_dma(
    platform: *const VmPmuPlatform,
    chip: u32,
    bridge: u32,
    direction: u32,
    address: u64,
    bytes: u64,
    limit: u32,
    requests: *mut u64,
) -> VmPmuStatus {
    guarded(|| {
        if limit != 0 && !(limit.is_power_of_two() && (128..=4096).contains(&limit)) {
            return Err(argument(format!("the limit of requests is {limit}: it must be 0 or a power of two from 128 to 4096")));
        }
        let mut bridge = self::bridge(bridge)?;
        if limit != 0 {
            bridge = bridge.limits(u64::from(limit), u64::from(limit));
        }
        // SAFETY: the caller's promise.
        let chip = unsafe { self::chip(platform, chip) }?;
        let made = match direction {
            VM_PMU_DMA_READ => bridge.dma_read(chip, address, bytes),
            VM_PMU_DMA_WRITE => bridge.dma_write(chip, address, bytes),
            other => return Err(argument(format!("the direction is {other}: there are VM_PMU_DMA_READ and VM_PMU_DMA_WRITE"))),
        };
        // SAFETY: the same.
        unsafe { offer(requests, made, "where the number of requests is to be written") }
    })
}

/// A device behind PCIe host bridge `bridge`, 0 to 5, of the chip of this number answers `loads` loads of a processor from its registers or
/// memory.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_loads_answered(platform: *const VmPmuPlatform, chip: u32, bridge: u32, loads: u64) -> VmPmuStatus {
    guarded(|| {
        let bridge = self::bridge(bridge)?;
        // SAFETY: the caller's promise.
        bridge.load_answered(unsafe { self::chip(platform, chip) }?, loads);
        Ok(())
    })
}

/// Over NVLink `link`, 0 to 5, of the chip of this number `bytes` from `address` on are transferred in the way of `transfer`, a
/// VmPmuNvLinkTransfer. An atomic operation, and a line that is given back, have no address and no length: both are ignored.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_nvlink(
    platform: *const VmPmuPlatform,
    chip: u32,
    link: u32,
    transfer: u32,
    address: u64,
    bytes: u64,
) -> VmPmuStatus {
    guarded(|| {
        let link = u8::try_from(link).ok().and_then(NvLink::new).ok_or_else(|| none("NVLink", link, 6))?;
        // SAFETY: the caller's promise.
        let chip = unsafe { self::chip(platform, chip) }?;
        match transfer {
            0 => link.reads(chip, address, bytes),
            1 => link.writes(chip, address, bytes),
            2 | 3 => link.atomic(chip, transfer == VmPmuNvLinkTransfer::AtomicReturns as u32),
            4 | 5 => link.gives_back(chip, transfer == VmPmuNvLinkTransfer::GivesBackModified as u32),
            6 => link.is_read(chip, address, bytes),
            7 => link.is_written(chip, address, bytes),
            other => return Err(argument(format!("the transfer is {other}: there are 0 to 7, VmPmuNvLinkTransfer"))),
        }
        Ok(())
    })
}
