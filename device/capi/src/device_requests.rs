//! What devices do to memory and to each other, by the package that they are behind.

use vm_pmu::arch::feed::{Demand, Totals};
use vm_pmu::companion::{DeviceOperation, DeviceRequest};
use vm_pmu::topology::Machine;

use crate::companion::{VmPmuCompanion, companion};
use crate::machine::{Callbacks, VmPmuMachine, package};
use crate::pointer::{Growing, offer, offerable, take};
use crate::status::{Failure, VmPmuStatus, guarded, misuse};
use crate::vocabulary::pick;

/// What a device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuDeviceOperation {
    /// It reads.
    Read = 0,
    /// It reads what a display is refreshed with.
    DisplayRead = 1,
    /// It writes.
    Write = 2,
    /// It has an atomic operation done at the memory.
    Atomic = 3,
    /// It writes, and offers whole lines to the caches: a third level of victims whose cores have a copy takes the line instead of memory.
    /// Elsewhere it is a write.
    Inject = 4,
}

/// An access by a device, to memory or to I/O of another device (VmPmuCompanionOptions::io_ranges).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuDeviceRequest {
    /// sizeof(VmPmuDeviceRequest).
    pub size: usize,
    /// The physical address of the first byte.
    pub physical: u64,
    /// How many bytes. At most 4,096 are taken: report a longer transfer in parts.
    pub bytes: u64,
    /// The package of the companion that the device is behind.
    pub package: u32,
    /// VmPmuDeviceOperation.
    pub operation: u32,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuDeviceRequest {
    const NAME: &'static str = "VmPmuDeviceRequest";
    const FIRST: usize = std::mem::offset_of!(VmPmuDeviceRequest, operation) + 4;
}

/// The request that the caller means, in a companion of that many packages.
fn request(given: &VmPmuDeviceRequest, packages: u32) -> Result<DeviceRequest, Failure> {
    let VmPmuDeviceRequest { physical, bytes, package, operation, .. } = *given;
    if package >= packages {
        return Err(misuse(VmPmuStatus::ErrorRange, format!("there is no package {package}: the companion has {packages}, from 0 on")));
    }
    let operation = pick(&DeviceOperation::ALL, operation, "the operation, VmPmuDeviceOperation,")?;
    Ok(DeviceRequest { package: usize::try_from(package).unwrap_or(usize::MAX), physical, size: bytes, operation })
}

/// Has a device of package `number` do what `access` does, which adds to the totals of the package's devices, and compares their deadlines.
fn count(machine: &Machine<Callbacks>, number: usize, access: impl FnOnce(&Totals, &Demand) -> u64) -> u64 {
    let (Some(devices), Some(demand)) = (machine.devices(number), machine.device_demand(number)) else { return 0 };
    let modified = access(&devices.totals, &demand);
    machine.check_devices(number);
    if demand.signals().iter().any(|signal| devices.deadlines.reached(signal, &devices.totals)) {
        machine.service_devices(number);
    }
    modified
}

/// A device behind package `request->package` of the companion does what `request` says: caches drop what it writes and answer what it reads.
/// The events are added to the totals of the devices of package `counted` of `machine`, and their deadlines are compared. On the K8 that is
/// the same package; on POWER9, where a package of the machine is a core, and on Knights Landing, where it is a tile, it is any of those.
/// Each line counts as an access. Writes to `modified`, which may be null, which of the lines a cache had modified: bit 0 is the first, and
/// 64 lines at most are taken. One host thread at a time calls it for a package.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_device(
    companion: *const VmPmuCompanion,
    machine: *const VmPmuMachine,
    counted: u32,
    request: *const VmPmuDeviceRequest,
    modified: *mut u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (whole, (machine, counted), given) = unsafe { (self::companion(companion)?, package(machine, counted)?, take(request)?) };
        whole.follows(machine)?;
        let request = self::request(&given, whole.packages)?;
        offerable(modified, "where the modified lines are to be written")?;
        let lines = count(machine, counted, |totals, demand| whole.companion().device(&request, totals, demand));
        // SAFETY: the caller's promise.
        unsafe { offer(modified, lines, "where the modified lines are to be written") }
    })
}

/// A device of package `package` of `machine`, behind the package that has the memory, reads or writes `bytes` bytes of physical memory from
/// `physical` on: caches drop what it writes and answer what it reads. The events are added to the totals of the package's devices, and
/// their deadlines are compared. At most 4,096 bytes are taken: report a longer transfer in parts. One host thread at a time calls it for a
/// package.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_device_access(
    companion: *const VmPmuCompanion,
    machine: *const VmPmuMachine,
    package: u32,
    physical: u64,
    bytes: u64,
    writes: bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (companion, (machine, package)) = unsafe { (self::companion(companion)?, self::package(machine, package)?) };
        companion.follows(machine)?;
        count(machine, package, |totals, demand| companion.companion().device_access(physical, bytes, writes, totals, demand));
        Ok(())
    })
}
