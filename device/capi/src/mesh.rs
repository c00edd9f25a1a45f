//! Messages over Knights Landing's mesh, and what devices do at its boxes.

use vm_pmu::untile::{Agent, DeviceAccess, Message, Ring, Stop};

use crate::machine::VmPmuMachine;
use crate::pointer::put;
use crate::status::{Failure, VmPmuStatus, argument, guarded};
use crate::untile::{cha, unit, untile};
use crate::vocabulary::pick;

/// A ring of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuRing {
    /// Addresses: requests.
    Ad = 0,
    /// Acknowledges.
    Ak = 1,
    /// Blocks of data.
    Bl = 2,
    /// Invalidations: snoops of tiles.
    Iv = 3,
}

/// Who sends a message at a stop of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuAgent {
    /// Agent 0: the CHA, or whatever else is at the stop.
    Home = 0,
    /// Agent 1: the tile's cores.
    Cores = 1,
}

/// What a device does with a line of memory, as Knights Landing's boxes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuDeviceAccess {
    /// It reads.
    Read = 0,
    /// It writes all of the line.
    Write = 1,
    /// It writes a part.
    PartialWrite = 2,
    /// It reads and writes at once.
    Atomic = 3,
    /// It is about to write: ownership is asked for ahead.
    Prefetch = 4,
    /// It interrupts (MSI): data that are no memory's.
    Interrupt = 5,
}

/// The stop of the mesh at which box `number` is.
fn stop(number: u32) -> Result<Stop, Failure> {
    Stop::of(unit(number)?).ok_or_else(|| argument(format!("box {number} is at no stop of the mesh")))
}

/// Writes to `listens` whether any counter listens to a stop of the mesh, to M2PCIe or to the IRP: while none does, messages need not be
/// reported by vm_pmu_box_carry().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_boxes_listen_to_mesh(machine: *const VmPmuMachine, listens: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(listens, untile(machine)?.listens_to_mesh(), "where the answer is to be written") }
    })
}

/// A message on ring `ring` (VmPmuRing) crosses the mesh from now on, from `agent` (VmPmuAgent) at the stop of box `from` to the stop of box
/// `to`. Its route, its waits and what the stops count of it follow from the floor plan and from what crosses the mesh already. Messages of
/// requests that vm_pmu_box_request() reports, and of accesses that vm_pmu_box_device() reports, are not reported a second time.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_carry(machine: *const VmPmuMachine, from: u32, agent: u32, to: u32, ring: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let untile = unsafe { untile(machine) }?;
        let agent = pick(&[Agent::Home, Agent::Cores], agent, "agent")?;
        untile.carry(&Message { from: stop(from)?, agent, to: stop(to)?, ring: pick(&Ring::ALL, ring, "ring")? });
        Ok(())
    })
}

/// A device makes `access` (VmPmuDeviceAccess) to the line at `physical`, which CHA `cha` orders (vm_pmu_companion_home()); a tile has the
/// line modified if `modified`, as vm_pmu_companion_device() returns it. The request comes to the CHA by PRQ, its messages cross the mesh, and
/// M2PCIe and the IRP count it. Caches learn of it by vm_pmu_companion_device().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_device(
    machine: *const VmPmuMachine,
    cha: u32,
    access: u32,
    physical: u64,
    modified: bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let untile = unsafe { untile(machine) }?;
        untile.device_at(pick(&DeviceAccess::ALL, access, "access")?, physical, self::cha(cha)?, modified);
        Ok(())
    })
}
