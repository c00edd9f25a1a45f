//! The requests that left a core's caches, as a follower keeps them, and as they reach agents of Knights Landing's mesh.

use std::ffi::c_void;

use vm_pmu::arch::feed::Request;
use vm_pmu::untile::{Domain, Stage, Transaction};

use crate::companion::{VmPmuCompanion, companion};
use crate::cpu::{VmPmuCpu, cpu};
use crate::machine::VmPmuMachine;
use crate::places::told;
use crate::pointer::{offer, take};
use crate::record::{self, VmPmuRequest};
use crate::status::{VmPmuStatus, argument, guarded};
use crate::untile::{cha, untile};
use crate::vocabulary::{REQUEST_KINDS, SNOOPS, SUPPLIERS, number};

/// Sets whether the follower of thread `thread` keeps requests even while the thread's own PMU does not want them: for other components
/// that count them, such as agents of Knights Landing's mesh. It takes effect at the next vm_pmu_follow_sync(), and is in no snapshot.
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
/// vm_pmu_follow_deliver(), in order. Call it between vm_pmu_follow() and vm_pmu_follow_deliver(), which reports them to the thread's own
/// PMU and drops them. Requests are kept, 128 at most, if the thread's demand has VM_PMU_RECORDS_REQUESTS, or after
/// vm_pmu_follow_keep_requests().
///
/// `tell` is called while the follower is in use: it may call every function except those that follow the same thread, and except
/// those that destroy the companion. It must return: no C++ exception and no longjmp may leave it.
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

/// Calls `tell`, with `user`, for each request that leaves the first-level caches of the CPU's core, in order, while VM_PMU_RECORDS_REQUESTS is
/// watched: for devices of the machine that count them. The PMU gets requests as it demands them. Only with a companion.
///
/// `tell` is called on the host thread that uses the CPU, by vm_pmu_cpu_complete(), vm_pmu_cpu_execute_trace() and vm_pmu_cpu_complete_trace(): it
/// may call every function except those of this CPU. It must return: no C++ exception and no longjmp may leave it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_observe_requests(
    cpu: *mut VmPmuCpu,
    tell: Option<unsafe extern "C" fn(user: *mut c_void, request: *const VmPmuRequest)>,
    user: *mut c_void,
) -> VmPmuStatus {
    /// What the embedder gave.
    struct Observed(unsafe extern "C" fn(*mut c_void, *const VmPmuRequest), *mut c_void);
    // SAFETY: the pointer is only passed to the function, which may be called on any host thread that uses the CPU.
    unsafe impl Send for Observed {}
    impl Observed {
        fn tell(&self, request: &Request) {
            let request = handed_out(request);
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            unsafe { (self.0)(self.1, &raw const request) };
        }
    }
    guarded(|| {
        let observed = Observed(told(tell)?, user);
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.observe_requests(move |request| observed.tell(request));
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
        holder: request.holder.map_or(0, |holder| u32::from(holder) + 1),
        displaced: request.displaced.map_or(0, |line| line.saturating_add(1)),
    }
}

/// Reports `request`, made by thread `thread` (0 to 7) of tile `tile` (0 to 37), to CHA `cha`, which is that of its line
/// (vm_pmu_companion_home()). It enters the table of requests and leaves it after its latency in cycles of the CPUs, converted to clocks of
/// the untile by the machine's frequencies. Its messages cross the mesh. A request that stays in the tile reaches no CHA. Writes to `taken`, which may be null, whether
/// a counter counts it. Opcodes are those of the server parts before this one; an embedder that knows the real ones calls
/// vm_pmu_box_transact() instead.
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
        untile.carry_request(&request, tile, cha);
        // SAFETY: the caller's promise.
        unsafe { offer(taken, took, "where the answer is to be written") }
    })
}
