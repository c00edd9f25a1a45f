//! The requests that left a core's caches, as a follower keeps them, and as agents of Knights Landing's mesh see them.

use std::ffi::c_void;

use vm_pmu::arch::feed::Request;
use vm_pmu::untile::{Domain, Stage, Transaction};

use crate::companion::{VmPmuCompanion, companion};
use crate::machine::VmPmuMachine;
use crate::places::told;
use crate::pointer::{offer, take};
use crate::record::{self, VmPmuRequest};
use crate::status::{VmPmuStatus, argument, guarded};
use crate::untile::{cha, untile};
use crate::vocabulary::{REQUEST_KINDS, SNOOPS, SUPPLIERS, number};

/// Whether the follower of thread `thread` shall keep requests even while the thread's own PMU asks for none: for somebody else who counts
/// them, as agents of Knights Landing's mesh do. It holds from the next vm_pmu_follow_sync() on, and is in no snapshot.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_keep_requests(companion: *const VmPmuCompanion, thread: u32, on: bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.keep_requests(thread, on)
    })
}

/// Calls `tell`, with `user`, for each request that has left the first-level caches of the core of thread `thread` since the last
/// vm_pmu_follow_deliver(), in their order: to be called between vm_pmu_follow() and that function, which tells the thread's own PMU and forgets
/// them. There are some where the thread's demand has VM_PMU_RECORDS_REQUESTS, or vm_pmu_follow_keep_requests() asked for them; 128 at most.
///
/// `tell` is called while the follower is in use: it may call every function but those that follow the same thread, and
/// vm_pmu_companion_destroy(). It must return: no C++ exception and no longjmp may leave it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_requests(
    companion: *const VmPmuCompanion,
    thread: u32,
    tell: Option<unsafe extern "C" fn(user: *mut c_void, request: *const VmPmuRequest)>,
    user: *mut c_void,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let follower = unsafe { self::companion(companion) }?.follower(thread)?;
        let tell = told(tell)?;
        for request in follower.requests() {
            let request = handed_out(request);
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            unsafe { tell(user, &raw const request) };
        }
        Ok(())
    })
}

fn handed_out(request: &Request) -> VmPmuRequest {
    VmPmuRequest {
        size: size_of::<VmPmuRequest>(),
        physical: request.physical,
        latency: request.latency,
        kind: number(&REQUEST_KINDS, &request.kind),
        supplier: number(&SUPPLIERS, &request.supplier),
        snoop: number(&SNOOPS, &request.snoop),
    }
}

/// `request`, which thread `thread` (0 to 7) of tile `tile` (0 to 37) made, at CHA `cha`, which is that of its line (vm_pmu_companion_home()):
/// it comes into the table of requests and will have left after its latency: that many cycles of the CPUs, in clocks of the untile by the machine's
/// frequencies. What stays in the tile comes to no CHA. Writes to `taken`, which may be null, whether a counter counts it. Opcodes are those of
/// the server parts before this one; who knows better tells
/// vm_pmu_box_transact().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_request(
    machine: *const VmPmuMachine,
    cha: u32,
    request: *const VmPmuRequest,
    tile: u32,
    thread: u32,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (untile, given) = unsafe { (untile(machine)?, take(request)?) };
        let (cha, request) = (self::cha(cha)?, record::request(&given)?);
        let below = |number: u32, end: u8| u8::try_from(number).ok().filter(|number| *number < end);
        let (Some(tile), Some(thread)) = (below(tile, 38), below(thread, 8)) else {
            return Err(argument(format!("there is no thread {thread} of tile {tile}: tiles are 0 to 37, and threads of a tile 0 to 7")));
        };
        let transaction = Transaction::of(&request, tile, thread);
        let clocks = untile.frequencies().clocks(Domain::Uclk, request.latency.into());
        let took = transaction.is_some_and(|transaction| untile.transact(cha, &transaction, Stage::Served { clocks }));
        // SAFETY: the caller's promise.
        unsafe { offer(taken, took, "where the answer is to be written") }
    })
}
