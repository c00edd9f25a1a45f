//! Counts the companion's traffic between caches and memory in the nests of POWER9's chips.

use vm_pmu::companion::{Companion, parts};
use vm_pmu::memory::{Chip, Traffic};

use crate::companion::{VmPmuCompanion, companion};
use crate::handle::{self, Handle};
use crate::platform::{VmPmuPlatform, platform};
use crate::pointer::{borrow, list, offer, put, writable};
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// Connects a companion to the chips of a platform: it converts traffic between caches and memory to the events that the nests count.
/// Callers only get pointers to it.
///
/// Each package of the companion is a chip, in the order in which the platform was given them. Lines that memory reads or writes count as
/// blocks of 64 bytes at the controller and the port that have the line. Requests that leave the caches of a pair of cores, or that a
/// device makes, count as pumps of the scope that they are sent in. 512 bytes of moved lines count as a transfer. X links count commands,
/// answers and data between the chips of a group. It has no pointer to companion or platform: both are given to each call.
pub struct VmPmuTraffic {
    traffic: Traffic,
    chips: usize,
}

impl Handle for VmPmuTraffic {
    const KIND: &'static str = "a traffic";
}

/// Callers share a traffic between host threads, and may destroy it on a different thread than the one that made it.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<VmPmuTraffic>();
};

/// The bytes that a chip has moved so far, which make its transfers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuMoved {
    /// Within the chip.
    pub within: u64,
    /// To other chips or from them.
    pub beyond: u64,
}

/// The traffic, and its companion and chips.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn joined<'a>(
    traffic: *const VmPmuTraffic,
    companion: *const VmPmuCompanion,
    platform: *const VmPmuPlatform,
) -> Result<(&'a Traffic, &'a Companion, &'a [Chip]), Failure> {
    // SAFETY: the caller's promise.
    let (traffic, companion, chips) =
        unsafe { (self::traffic(traffic)?, self::companion(companion)?.companion(), self::platform(platform)?.chips()) };
    if chips.len() != traffic.chips {
        return Err(argument(format!("the platform has {} chips: this traffic was made for one of {}", chips.len(), traffic.chips)));
    }
    Ok((&traffic.traffic, companion, chips))
}

/// The traffic at `pointer`.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn traffic<'a>(pointer: *const VmPmuTraffic) -> Result<&'a VmPmuTraffic, Failure> {
    // SAFETY: the caller's promise.
    unsafe { borrow(pointer, "the traffic") }
}

/// Checks that `count` is one for each chip.
fn one_each(traffic: &VmPmuTraffic, count: usize) -> Result<(), Failure> {
    if count == traffic.chips {
        return Ok(());
    }
    Err(argument(format!("the list has {count} elements: one for each chip is needed, here {}", traffic.chips)))
}

/// Makes a traffic from `companion`, of power9, to the chips of `platform`, with nothing moved. It is written to `traffic` and lives until
/// vm_pmu_traffic_destroy(). It may be used from several host threads at once.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_traffic_create(
    companion: *const VmPmuCompanion,
    platform: *const VmPmuPlatform,
    traffic: *mut *mut VmPmuTraffic,
) -> VmPmuStatus {
    guarded(|| {
        writable(traffic, "where the traffic is to be written")?;
        // SAFETY: the caller's promise.
        let (companion, chips) = unsafe { (self::companion(companion)?.companion(), self::platform(platform)?.chips().len()) };
        let followed = companion.profile().name;
        if followed != parts::POWER9.name {
            return Err(argument(format!("the companion is of {followed}: traffic is counted in the nests of {}", parts::POWER9.name)));
        }
        let made = handle::hand_out(VmPmuTraffic { traffic: Traffic::new(companion, chips), chips });
        // SAFETY: the caller's promise.
        unsafe { put(traffic, made, "where the traffic is to be written") }
    })
}

/// Destroys a traffic. Null is allowed and does nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a traffic is one that vm_pmu_traffic_create() made and that has not been
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_traffic_destroy(traffic: *mut VmPmuTraffic) -> VmPmuStatus {
    guarded(|| handle::destroy(traffic))
}

/// Has the companion watch its places while the engine of any chip posts, and only then. Call it when an engine may have been started or
/// stopped, that is after vm_pmu_platform_boot(), vm_pmu_platform_call() and vm_pmu_platform_advance(). Then call vm_pmu_follow_sync() for
/// each follower that this makes stale (vm_pmu_follow_is_stale()). Writes to `watches`, which may be null, whether places are watched;
/// while they are not, traffic is not counted.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_traffic_sync(
    traffic: *const VmPmuTraffic,
    companion: *const VmPmuCompanion,
    platform: *const VmPmuPlatform,
    watches: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (traffic, companion, chips) = unsafe { joined(traffic, companion, platform) }?;
        if !watches.is_null() {
            writable(watches, "where the answer is to be written")?;
        }
        // SAFETY: the caller's promise.
        unsafe { offer(watches, traffic.sync(companion, chips), "where the answer is to be written") }
    })
}

/// Reports to the chips what has moved since the last call. Call it after each access, or after a block of them, and before the nest
/// advances. Any host thread may call it; nothing is reported twice. While nothing has moved it costs two loads.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_traffic_flush(
    traffic: *const VmPmuTraffic,
    companion: *const VmPmuCompanion,
    platform: *const VmPmuPlatform,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (traffic, companion, chips) = unsafe { joined(traffic, companion, platform) }?;
        traffic.flush(companion, chips);
        Ok(())
    })
}

/// Writes to `moved` what each chip has moved, `count` of them: one for each chip of the platform, in their order. Transfers that are not
/// complete yet are in no chip's snapshot, so save this in addition.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_traffic_moved(traffic: *const VmPmuTraffic, moved: *mut VmPmuMoved, count: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let traffic = unsafe { self::traffic(traffic) }?;
        one_each(traffic, count)?;
        for (place, [within, beyond]) in traffic.traffic.moved().into_iter().enumerate() {
            writable(moved, "the list of what was moved")?;
            // SAFETY: the caller's promise: `count` of them may be written there.
            unsafe { put(moved.add(place), VmPmuMoved { within, beyond }, "the list of what was moved") }?;
        }
        Ok(())
    })
}

/// Continues from where vm_pmu_traffic_moved() was called: `count` of `moved`, one for each chip of the platform, in their order.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_traffic_restore(traffic: *const VmPmuTraffic, moved: *const VmPmuMoved, count: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let traffic = unsafe { self::traffic(traffic) }?;
        one_each(traffic, count)?;
        // SAFETY: the caller's promise.
        let moved = unsafe { list(moved, count, "the list of what was moved") }?;
        traffic.traffic.restore(&moved.iter().map(|moved| [moved.within, moved.beyond]).collect::<Vec<_>>());
        Ok(())
    })
}
