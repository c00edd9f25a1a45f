//! The companion's counts for each place of memory and each interconnect.

use std::ffi::c_void;

use vm_pmu::companion::{Asked, CHANNELS, Carried, LINKS, PORTS, Place};

use crate::companion::{VmPmuCompanion, companion};
use crate::pointer::{Growing, put};
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// A kind of places that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuPlaceKind {
    /// A controller of near memory: on Knights Landing an EDC.
    NearMemory = 0,
    /// A channel of DRAM.
    Channel = 1,
}

/// How often a place of memory did something since its last report.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuPlace {
    /// sizeof(VmPmuPlace) of the library: fields behind it are not there.
    pub size: usize,
    /// How often: accesses, never 0.
    pub amount: u64,
    /// What it did, as a VmPmuSignal: memory_reads and memory_writes of a channel; near_memory_reads, near_memory_writes and the four of
    /// the memory_side_cache of a controller of near memory.
    pub signal: u32,
    /// VmPmuPlaceKind.
    pub kind: u32,
    /// The controller, from 0 on through all packages.
    pub controller: u32,
    /// The channel, from 0 on in its controller; 0 of near memory.
    pub channel: u32,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuPlace {
    const NAME: &'static str = "VmPmuPlace";
    const FIRST: usize = std::mem::offset_of!(VmPmuPlace, channel) + 4;
}

/// The number of ports at which requests begin.
pub const VM_PMU_PORTS: usize = 4;

const _: () = assert!(VM_PMU_PORTS == PORTS);

/// What the interconnect of a package did since its last report.
///
/// A request begins at a cache or device of the package: to read a line, to own it, to write it, or to flush it from every cache.
/// Consecutive lines go to the ports in turn.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuInterconnect {
    /// sizeof(VmPmuInterconnect) of the library: fields behind it are not there.
    pub size: usize,
    /// Requests sent within the package, by port.
    pub requests_within: [u64; VM_PMU_PORTS],
    /// Requests sent to packages of other groups too, by port: one of them has the memory of the line, or had the line in a cache.
    pub requests_beyond: [u64; VM_PMU_PORTS],
    /// Lines that moved from one place of the package to another: its caches, its memory, its devices.
    pub lines_within: u64,
    /// Lines that came from another package or went there.
    pub lines_beyond: u64,
    /// The package.
    pub package: u32,
    /// Requests sent to all packages of the group, by port.
    pub requests_to_group: [u64; VM_PMU_PORTS],
    /// The links to other packages of the group.
    pub links: [VmPmuLink; VM_PMU_LINKS],
    /// What each channel of memory is asked for, in the order of VM_PMU_PLACE_KIND_CHANNEL.
    pub channels: [VmPmuAsked; VM_PMU_CHANNELS],
}

/// The number of links of a package that are counted.
pub const VM_PMU_LINKS: usize = 3;
/// The number of channels of memory of a package that count what they are asked for.
pub const VM_PMU_CHANNELS: usize = 8;

const _: () = assert!(VM_PMU_LINKS == LINKS && VM_PMU_CHANNELS == CHANNELS);

/// What half of a link carried in one direction.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuCarried {
    /// Commands, which each package shows its caches and its memory.
    pub commands: u64,
    /// Answers of a package to commands.
    pub answers: u64,
    /// Lines of data.
    pub lines: u64,
}

/// What a link carried, by its halves: the first has the even lines, the second the odd ones.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuLink {
    /// To the other package.
    pub sent: [VmPmuCarried; 2],
    /// From the other package.
    pub received: [VmPmuCarried; 2],
}

/// What a channel of memory is asked for, whoever gives the data in the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuAsked {
    /// Reads of lines that are to be written.
    pub owned: u64,
    /// Reads of lines by the prefetchers of data.
    pub prefetched: u64,
    /// Writes of a part of a line by devices.
    pub partly_written: u64,
    /// Atomic operations, done at the memory.
    pub atomics: u64,
    /// Rows of DRAM that were opened, on parts whose lines go to channels in turn.
    pub activations: u64,
}

fn carried(halves: [Carried; 2]) -> [VmPmuCarried; 2] {
    halves.map(|Carried { commands, answers, lines }| VmPmuCarried { commands, answers, lines })
}

fn asked(of: Asked) -> VmPmuAsked {
    let Asked { owned, prefetched, partly_written, atomics, activations } = of;
    VmPmuAsked { owned, prefetched, partly_written, atomics, activations }
}

/// The caller's function, or the error that there is none.
pub(crate) fn told<T>(function: Option<T>) -> Result<T, Failure> {
    function.ok_or_else(|| argument("the function to be called is null: it is needed"))
}

/// Turns on or off that controllers and channels of memory, and interconnects, count separately, for vm_pmu_companion_take_places() and
/// vm_pmu_companion_take_interconnects(). While they do, every follower is active from its next vm_pmu_follow_sync() on;
/// vm_pmu_follow_is_stale() returns whether that is due. Counts that have not been taken when this changes are dropped.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_watch_places(companion: *const VmPmuCompanion, on: bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.companion().watch_places(on);
        Ok(())
    })
}

/// Writes to `has` whether any place has something to report.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_has_places(companion: *const VmPmuCompanion, has: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(has, self::companion(companion)?.companion().has_places(), "where the answer is to be written") }
    })
}

/// Calls `tell`, with `user`, for each place with counts since the last call, once per signal. The order is fixed: package after package,
/// near memory before channels, each place's signals in their order. These counts are also in the totals of the threads and devices that
/// caused them. If several host threads call this at once, each count is reported to only one of them.
///
/// `tell` is called with no lock held: it may call every function except vm_pmu_companion_destroy(). It must return: no C++ exception and
/// no longjmp may leave it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_take_places(
    companion: *const VmPmuCompanion,
    tell: Option<unsafe extern "C" fn(user: *mut c_void, place: *const VmPmuPlace)>,
    user: *mut c_void,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::companion(companion) }?;
        let tell = told(tell)?;
        if !whole.companion().has_places() {
            return Ok(());
        }
        let fill = |list: &mut Vec<_>| whole.companion().take_places(|place, signal, amount| list.push((place, signal, amount)));
        whole.lists.places.through(fill, |(place, signal, amount)| {
            let (kind, controller, channel) = match place {
                Place::NearMemory(controller) => (VmPmuPlaceKind::NearMemory, controller, 0),
                Place::Channel { controller, channel } => (VmPmuPlaceKind::Channel, controller, channel),
            };
            let place = VmPmuPlace {
                size: size_of::<VmPmuPlace>(),
                amount,
                signal: signal.number().into(),
                kind: kind as u32,
                controller: controller.into(),
                channel: channel.into(),
            };
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            unsafe { tell(user, &raw const place) };
        });
        Ok(())
    })
}

/// Writes to `has` whether any package's interconnect has something to report.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_has_interconnects(companion: *const VmPmuCompanion, has: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(has, self::companion(companion)?.companion().has_interconnects(), "where the answer is to be written") }
    })
}

/// Calls `tell`, with `user`, for the interconnect of each package that did something since the last call, package after package. As with
/// places, it is kept while they are watched, and dropped when that changes.
///
/// The rules for the function of vm_pmu_companion_take_places() apply to this one.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_take_interconnects(
    companion: *const VmPmuCompanion,
    tell: Option<unsafe extern "C" fn(user: *mut c_void, interconnect: *const VmPmuInterconnect)>,
    user: *mut c_void,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::companion(companion) }?;
        let tell = told(tell)?;
        if !whole.companion().has_interconnects() {
            return Ok(());
        }
        let fill = |list: &mut Vec<_>| whole.companion().take_interconnects(|package, did| list.push((package, *did)));
        whole.lists.interconnects.through(fill, |(package, did)| {
            let interconnect = VmPmuInterconnect {
                size: size_of::<VmPmuInterconnect>(),
                requests_within: did.requests_within,
                requests_beyond: did.requests_beyond,
                lines_within: did.lines_within,
                lines_beyond: did.lines_beyond,
                package: u32::try_from(package).unwrap_or(u32::MAX),
                requests_to_group: did.requests_to_group,
                links: did.links.map(|link| VmPmuLink { sent: carried(link.sent), received: carried(link.received) }),
                channels: did.channels.map(asked),
            };
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            unsafe { tell(user, &raw const interconnect) };
        });
        Ok(())
    })
}

/// Writes to `agent` which agent orders accesses to the line with the physical address `physical`: on Knights Landing the number of one of
/// 38 CHAs, as vm_pmu_box_transact() takes it; 0 on other parts.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_home(companion: *const VmPmuCompanion, physical: u64, agent: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(agent, self::companion(companion)?.companion().home(physical).into(), "where the agent is to be written") }
    })
}
