//! The companion: caches, translation buffers, predictors and timing of a modelled CPU, for emulators that have none.

use std::ffi::{c_char, c_void};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use vm_pmu::arch::feed::{Demand, Records, Signal, SignalSet};
use vm_pmu::companion::{Builder, Clock, Companion, Follower, Guest, Host, NODES, PageTables, Walk};
use vm_pmu::snapshot::CompanionSnapshot;
use vm_pmu::topology::Machine;

use crate::die::Choice;
use crate::handle::{self, Handle};
use crate::lists::Lists;
use crate::lock::{Mutex, MutexGuard};
use crate::machine::{Callbacks, VM_PMU_MOST_THREADS};
use crate::nodes::{VM_PMU_IO_RANGES, VmPmuIoRange, VmPmuNodeLink, VmPmuNodeRoute, io_range, routes};
use crate::pointer::{Growing, borrow, list, offer, put, take, text, writable};
use crate::snapshot::{VmPmuSnapshot, refused};
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// Caches, translation buffers and predictors of a machine, and a follower for each of its threads. Callers only get pointers to it.
pub struct VmPmuCompanion {
    /// They borrow from the companion, and are dropped before it.
    followers: Box<[Mutex<Slot>]>,
    companion: NonNull<Companion>,
    tables: Tables,
    pub(crate) lists: Lists,
    /// Whether each follower keeps requests even if its thread's PMU does not want them.
    requests: Box<[AtomicBool]>,
    /// How many packages it has.
    pub(crate) packages: u32,
}

impl Handle for VmPmuCompanion {
    const KIND: &'static str = "a companion";

    fn may_go(&self) -> Result<(), Failure> {
        if let Some(number) = self.all()?.iter().position(|follower| follower.is_lent()) {
            return Err(argument(format!(
                "a CPU has the follower of thread {number}: destroy the CPU before the companion, by vm_pmu_cpu_destroy()"
            )));
        }
        Ok(())
    }
}

/// Who has a follower of a companion until it gives it back.
pub(crate) trait Borrower: std::fmt::Debug {
    /// Begins a call that uses the follower.
    fn hold(&self) -> Result<NonNull<Follower<'static>>, Failure>;

    /// Ends it.
    fn release(&self);
}

/// Where the follower of a thread is.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each thread, and most have their follower")]
enum Slot {
    Here(Follower<'static>),
    With(NonNull<dyn Borrower>),
}

// SAFETY: a follower may be sent. Its borrower is used by one host thread at a time, by the caller's promise.
unsafe impl Send for Slot {}

/// A follower, for one call.
pub(crate) struct Held<'a> {
    follower: NonNull<Follower<'static>>,
    borrower: Option<NonNull<dyn Borrower>>,
    /// It keeps the follower, or the knowledge of who has it, from other calls.
    _slot: MutexGuard<'a, Slot>,
}

impl<'a> Held<'a> {
    /// Takes the lock, which is free if the caller keeps the rules.
    fn new(slot: &'a Mutex<Slot>, number: u32) -> Result<Held<'a>, Failure> {
        // If an earlier call panicked, the follower is in some state of its own; no state is unsound.
        let mut slot = slot.try_lock().ok_or_else(|| in_use(number))?;
        let (follower, borrower) = match &mut *slot {
            Slot::Here(follower) => (NonNull::from(follower), None),
            // SAFETY: it gives the follower back before it is destroyed.
            Slot::With(borrower) => (unsafe { borrower.as_ref() }.hold()?, Some(*borrower)),
        };
        Ok(Held { follower, borrower, _slot: slot })
    }

    fn is_lent(&self) -> bool {
        self.borrower.is_some()
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(borrower) = self.borrower {
            // SAFETY: as where it was held.
            unsafe { borrower.as_ref() }.release();
        }
    }
}

impl Deref for Held<'_> {
    type Target = Follower<'static>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        // SAFETY: the slot is locked, and a borrower holds the follower for this call.
        unsafe { self.follower.as_ref() }
    }
}

impl DerefMut for Held<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: the same.
        unsafe { self.follower.as_mut() }
    }
}

#[cold]
fn in_use(number: u32) -> Failure {
    argument(format!(
        "the follower of thread {number} is in use by another call: one host thread at a time uses it, and no callback of its own"
    ))
}

// SAFETY: it owns the companion, which may be shared and sent as its followers may be; the pointer of `tables` is only passed to a function
// that, as the embedder states, may be called on any host thread that uses the companion.
unsafe impl Send for VmPmuCompanion {}
// SAFETY: the same; followers are behind locks.
unsafe impl Sync for VmPmuCompanion {}

const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<Companion>();
    may_be_shared::<Mutex<Slot>>();
};

impl VmPmuCompanion {
    fn new(builder: Builder, packages: u32, tables: Tables) -> VmPmuCompanion {
        let companion = NonNull::from(Box::leak(Box::new(builder.build())));
        // SAFETY: it is freed only in `drop`, when nothing borrows from it any more.
        let lasting: &'static Companion = unsafe { companion.as_ref() };
        let followers = (0..lasting.threads()).filter_map(|number| lasting.follower(number));
        let followers: Box<[_]> = followers.map(|follower| Mutex::new(Slot::Here(follower))).collect();
        let requests = followers.iter().map(|_| AtomicBool::new(false)).collect();
        VmPmuCompanion { followers, companion, tables, lists: Lists::default(), requests, packages }
    }

    pub(crate) fn companion(&self) -> &Companion {
        // SAFETY: it lives as long as `self`.
        unsafe { self.companion.as_ref() }
    }

    /// Refuses PMUs of another part than the one that is followed.
    #[inline]
    pub(crate) fn follows(&self, machine: &Machine<Callbacks>) -> Result<(), Failure> {
        let (followed, counts) = (self.companion().profile().name, machine.part().name());
        if std::ptr::eq(followed, counts) || followed == counts { Ok(()) } else { Err(another_part(followed, counts)) }
    }

    /// The element of `list` for thread `number`.
    fn of<T>(list: &[T], number: u32) -> Result<&T, Failure> {
        let found = usize::try_from(number).ok().and_then(|number| list.get(number));
        found.ok_or_else(|| {
            misuse(VmPmuStatus::ErrorRange, format!("there is no thread {number}: the companion has {}, from 0 on", list.len()))
        })
    }

    /// The follower of thread `number`, for one call.
    pub(crate) fn follower(&self, number: u32) -> Result<Held<'_>, Failure> {
        Held::new(VmPmuCompanion::of(&self.followers, number)?, number)
    }

    /// The follower of thread `number`, which no CPU has, for one call.
    pub(crate) fn own_follower(&self, number: u32) -> Result<Held<'_>, Failure> {
        let held = self.follower(number)?;
        if held.is_lent() { Err(with_a_cpu(number)) } else { Ok(held) }
    }

    /// Gives the follower of thread `number` to `borrower`.
    pub(crate) fn lend(&self, number: u32, borrower: &(dyn Borrower + 'static)) -> Result<Follower<'static>, Failure> {
        let mut slot = VmPmuCompanion::of(&self.followers, number)?.try_lock().ok_or_else(|| in_use(number))?;
        match std::mem::replace(&mut *slot, Slot::With(NonNull::from(borrower))) {
            Slot::Here(follower) => Ok(follower),
            with => {
                *slot = with;
                Err(with_a_cpu(number))
            }
        }
    }

    /// Takes the follower of thread `number` back from the CPU that has it.
    pub(crate) fn give_back(&self, number: u32, follower: Follower<'static>) {
        if let Ok(slot) = VmPmuCompanion::of(&self.followers, number) {
            *slot.lock() = Slot::Here(follower);
        }
    }

    /// Sets whether the follower of thread `number` keeps requests even if its PMU does not want them.
    pub(crate) fn keep_requests(&self, number: u32, on: bool) -> Result<(), Failure> {
        VmPmuCompanion::of(&self.requests, number)?.store(on, Relaxed);
        Ok(())
    }

    /// The demand on the follower of thread `number`, whose PMU has `demand`.
    pub(crate) fn wanted(&self, number: u32, demand: Demand) -> Demand {
        if !VmPmuCompanion::of(&self.requests, number).is_ok_and(|keeps| keeps.load(Relaxed)) {
            return demand;
        }
        let mut requests = Demand::default();
        requests.replace(SignalSet::EMPTY, false, Records::REQUESTS);
        demand.with(&requests)
    }

    /// All followers.
    fn all(&self) -> Result<Vec<Held<'_>>, Failure> {
        self.followers.iter().zip(0..).map(|(slot, number)| Held::new(slot, number)).collect()
    }

    /// The page tables of thread `number`.
    pub(crate) fn tables(&self, number: u32) -> ThreadTables<'_> {
        ThreadTables { tables: &self.tables, number }
    }
}

impl Drop for VmPmuCompanion {
    fn drop(&mut self) {
        self.followers = Box::default();
        // SAFETY: it was made from a box, and the followers, the only borrowers, are dropped.
        drop(unsafe { Box::from_raw(self.companion.as_ptr()) });
    }
}

#[cold]
fn with_a_cpu(number: u32) -> Failure {
    argument(format!("a CPU has the follower of thread {number}: use the functions vm_pmu_cpu_... with it"))
}

#[cold]
fn another_part(followed: &str, counts: &str) -> Failure {
    argument(format!("the companion is of {followed} and the machine of {counts}: both must be of one part"))
}

/// Whose clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuClockOwner {
    /// The embedder: it adds cycles itself, and the companion reports only events.
    Embedder = 0,
    /// The companion: its pipeline decides how many cycles an instruction takes and why. The embedder adds no cycles while the follower
    /// is active.
    Companion = 1,
}

/// In VmPmuCompanionOptions::flags: every thread is followed even while nothing that the companion supplies is counted, so that caches are
/// warm.
pub const VM_PMU_COMPANION_ALWAYS: u32 = 1 << 0;
/// In VmPmuCompanionOptions::flags: memory has a buffer with a cache on each channel, a fourth level, on a part that has such buffers.
pub const VM_PMU_COMPANION_BUFFERED: u32 = 1 << 1;

/// How many entries of page tables can lead to a page.
pub const VM_PMU_WALK_ENTRIES: usize = 5;

/// The table entries that lead to the page of an address. The library sets it to a page of the default size without tables; the embedder
/// changes the fields that it knows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuWalk {
    /// sizeof(VmPmuWalk) of the library: fields beyond it are ignored.
    pub size: usize,
    /// Physical addresses of the table entries that lead to the page, root first.
    pub entries: [u64; VM_PMU_WALK_ENTRIES],
    /// How many of them there are.
    pub levels: u8,
    /// Bits of an address within the page.
    pub page_bits: u8,
    /// Not 0 if the translation survives VM_PMU_FORGOTTEN_NON_GLOBAL.
    pub global: u8,
}

/// The tables of a guest whose real addresses the tables of its host translate. The library sets it to a guest that does not translate, at
/// real address `address`; the embedder changes the fields that it knows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuGuestWalk {
    /// sizeof(VmPmuGuestWalk) of the library: fields beyond it are ignored.
    pub size: usize,
    /// The guest real address that the address is translated to.
    pub real: u64,
    /// The guest real address of the entry of the guest's process table, which a walk reads before the root, if `has_process_entry` is not 0.
    pub process_entry: u64,
    /// Guest real addresses of the table entries that lead to the page, root first.
    pub entries: [u64; VM_PMU_WALK_ENTRIES],
    /// How many of them there are.
    pub levels: u8,
    /// Bits of an address within the guest's page.
    pub page_bits: u8,
    /// Not 0 if the translation survives VM_PMU_FORGOTTEN_NON_GLOBAL.
    pub global: u8,
    /// Whether there is an entry of a process table.
    pub has_process_entry: u8,
}

/// The translation of a guest real address by the tables of the host. The library sets it to the same physical address, in a page of the
/// default size without tables.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuHostWalk {
    /// sizeof(VmPmuHostWalk) of the library: fields beyond it are ignored.
    pub size: usize,
    /// The physical address that the guest real address is translated to.
    pub physical: u64,
    /// Physical addresses of the table entries that lead to the page, root first.
    pub entries: [u64; VM_PMU_WALK_ENTRIES],
    /// How many of them there are.
    pub levels: u8,
    /// Bits of an address within the host's page.
    pub page_bits: u8,
}

/// How a companion is made. Set `size` to its sizeof; zero means the default.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuCompanionOptions {
    /// sizeof(VmPmuCompanionOptions).
    pub size: usize,
    /// How many packages; 0 is one.
    pub packages: u32,
    /// How many threads a package has; 0 is one. They fill one core after the other.
    pub threads: u32,
    /// VmPmuClockOwner.
    pub clock: u32,
    /// VM_PMU_COMPANION_ALWAYS.
    pub flags: u32,
    /// The seed of random replacement; 0 is the default.
    pub seed: u64,
    /// How many bytes of physical memory belong to each package, from address 0 up; 0 means that all belong to the first.
    pub memory_per_package: u64,
    /// Passed to `walk`.
    pub user: *mut c_void,
    /// Called when no translation buffer holds `address`: writes the table entries that lead to its page to `walk`. If null, pages have
    /// `page_bits` bits and no table is read. It is called while the thread's follower is in use: it may call every function except those
    /// that follow the same thread, and except those that destroy the companion or a machine. It must return: no C++ exception and no
    /// longjmp may leave it.
    pub walk: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, address: u64, walk: *mut VmPmuWalk)>,
    /// Bits of an address within a page, where `walk` does not say otherwise; 0 is 12.
    pub page_bits: u32,
    /// Called when the first level of translation buffers lacks `address`: if the thread is in a guest whose real addresses a host's tables
    /// translate, writes the guest's tables to `guest` and returns true; otherwise returns false, and `walk` has all. If null, no guest has a
    /// host. The rules of `walk` hold.
    pub nested: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, address: u64, guest: *mut VmPmuGuestWalk) -> bool>,
    /// Called for a guest real address that `nested` has told: writes the host's tables for it to `host`. If null, each is its own physical
    /// address. The rules of `walk` hold.
    pub host: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, real: u64, host: *mut VmPmuHostWalk)>,
    /// How many packages make a group: those of other groups are farther away than those of the own. 0 is all.
    pub packages_per_group: u32,
    /// How many further clusters each package has whose cores are off and whose third level is lent to the others, on a part whose third
    /// level is one of victims.
    pub lent_clusters: u32,
    /// How many threads a core has, where it has fewer than it could; 0 is as many as it could.
    pub core_threads: u32,
    /// Which tiles the die of a part with a mesh has, a bit for each of 38 places; 0 means that nothing is chosen: with a cluster mode all
    /// of them, without one tiles that fill the quadrants one after the other.
    pub tiles: u64,
    /// Physical addresses that are I/O behind a package, on the K8; null if there are none. Uncached accesses outside of them go to memory.
    /// Without any, all uncached accesses go to I/O of the first package. The list is not used after vm_pmu_companion_create().
    pub io_ranges: *const VmPmuIoRange,
    /// How packages are joined by HyperTransport links, on a part that has such links: the K8. Null is a ladder: packages 2n and 2n + 1 are
    /// joined by link 0, and link 2 of a package leads to link 1 of the one two numbers on. What is sent takes a shortest way, and of several
    /// the one by the link of the smallest number. The list is not used after vm_pmu_companion_create().
    pub links: *const VmPmuNodeLink,
    /// Ways that are taken instead of the shortest ones, over `links`; null if there are none. The list is not used after
    /// vm_pmu_companion_create().
    pub routes: *const VmPmuNodeRoute,
    /// How many ranges `io_ranges` has: VM_PMU_IO_RANGES at most.
    pub io_range_count: u32,
    /// How many links `links` has.
    pub link_count: u32,
    /// How many ways `routes` has.
    pub route_count: u32,
    /// VmPmuClusterMode, on a part with a mesh: Knights Landing. A mode of several nodes divides `memory_per_package` among them.
    pub cluster_mode: u32,
    /// VmPmuMemoryMode, on a part with a mesh. A mode other than a cache puts MCDRAM above `memory_per_package`.
    pub memory_mode: u32,
    /// How many bytes of MCDRAM a part with a mesh has; 0 is 64 MiB, where the part has 16 GiB: eight bytes are allocated for each line that
    /// is a cache.
    pub mcdram: u64,
    /// The first address of the graphics aperture, on a part that has one: the K8.
    pub aperture: u64,
    /// How many bytes the graphics aperture has; 0 means that there is none.
    pub aperture_bytes: u64,
}

// SAFETY: `repr(C)`, `size` first; integers, a pointer that is only passed on, others that are checked before use, and functions that may be
// absent.
unsafe impl Growing for VmPmuCompanionOptions {
    const NAME: &'static str = "VmPmuCompanionOptions";
    const FIRST: usize = std::mem::offset_of!(VmPmuCompanionOptions, page_bits) + 4;
}

/// The page tables of an embedder, if it has them.
struct Tables {
    user: *mut c_void,
    walk: Option<unsafe extern "C" fn(*mut c_void, u32, u64, *mut VmPmuWalk)>,
    nested: Option<unsafe extern "C" fn(*mut c_void, u32, u64, *mut VmPmuGuestWalk) -> bool>,
    host: Option<unsafe extern "C" fn(*mut c_void, u32, u64, *mut VmPmuHostWalk)>,
    page_bits: u8,
}

/// The page tables of one thread.
pub(crate) struct ThreadTables<'t> {
    tables: &'t Tables,
    number: u32,
}

impl PageTables for ThreadTables<'_> {
    fn walk(&mut self, address: u64) -> Walk {
        let Tables { user, walk, page_bits, .. } = *self.tables;
        let Some(ask) = walk else { return Walk::direct(page_bits) };
        let size = size_of::<VmPmuWalk>();
        let mut told = VmPmuWalk { size, entries: [0; VM_PMU_WALK_ENTRIES], levels: 0, page_bits, global: 0 };
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        unsafe { ask(user, self.number, address, &raw mut told) };
        Walk { entries: told.entries, levels: told.levels, page_bits: told.page_bits, global: told.global != 0 }
    }

    fn nested(&mut self, address: u64) -> Option<Guest> {
        let Tables { user, nested, .. } = *self.tables;
        let ask = nested?;
        let size = size_of::<VmPmuGuestWalk>();
        let entries = [0; VM_PMU_WALK_ENTRIES];
        // All bits of an address, as far as pages tell sizes apart.
        let page_bits = 63;
        let mut told =
            VmPmuGuestWalk { size, real: address, process_entry: 0, entries, levels: 0, page_bits, global: 0, has_process_entry: 0 };
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        let there = unsafe { ask(user, self.number, address, &raw mut told) };
        let walk = Walk { entries: told.entries, levels: told.levels, page_bits: told.page_bits, global: told.global != 0 };
        let process_entry = (told.has_process_entry != 0).then_some(told.process_entry);
        there.then_some(Guest { process_entry, walk, real: told.real })
    }

    fn host(&mut self, real: u64) -> Host {
        let Tables { user, host, page_bits, .. } = *self.tables;
        let Some(ask) = host else { return Host { walk: Walk::direct(page_bits), physical: real } };
        let size = size_of::<VmPmuHostWalk>();
        let mut told = VmPmuHostWalk { size, physical: real, entries: [0; VM_PMU_WALK_ENTRIES], levels: 0, page_bits };
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        unsafe { ask(user, self.number, real, &raw mut told) };
        let walk = Walk { entries: told.entries, levels: told.levels, page_bits: told.page_bits, global: false };
        Host { walk, physical: told.physical }
    }
}

/// The companion at `pointer`.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn companion<'a>(pointer: *const VmPmuCompanion) -> Result<&'a VmPmuCompanion, Failure> {
    // SAFETY: the caller's promise.
    unsafe { borrow(pointer, "the companion") }
}

/// A companion of the part of this name.
fn builder(name: &str) -> Result<Builder, Failure> {
    Builder::new(name).map_err(|unknown| misuse(VmPmuStatus::ErrorName, unknown.to_string()))
}

fn clock(number: u32) -> Result<Clock, Failure> {
    match number {
        0 => Ok(Clock::Embedder),
        1 => Ok(Clock::Companion),
        other => Err(argument(format!("clock is {other}: there are 0 and 1, VmPmuClockOwner"))),
    }
}

/// # Safety
/// The rules for pointers hold, for those that `given` has.
unsafe fn build(name: &str, given: &VmPmuCompanionOptions) -> Result<VmPmuCompanion, Failure> {
    let builder = builder(name)?;
    let (packages, threads) = (given.packages.max(1), given.threads.max(1));
    if packages.checked_mul(threads).is_none_or(|all| all > VM_PMU_MOST_THREADS) {
        return Err(argument(format!("{packages} packages of {threads} threads are too many: {VM_PMU_MOST_THREADS} threads are the most")));
    }
    let unknown = given.flags & !(VM_PMU_COMPANION_ALWAYS | VM_PMU_COMPANION_BUFFERED);
    if unknown != 0 {
        return Err(argument(format!("the companion's flags {unknown:#x} mean nothing to this library: they must be zero")));
    }
    let clock = clock(given.clock)?;
    let page_bits = match given.page_bits {
        0 => 12,
        bits @ 1..=63 => u8::try_from(bits).unwrap_or(12),
        other => return Err(argument(format!("page_bits is {other}: an address has 64 bits"))),
    };
    let wide = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let mut builder = builder.packages(wide(packages)).threads(wide(threads)).clock(clock).memory_per_package(given.memory_per_package);
    if given.seed != 0 {
        builder = builder.seed(given.seed);
    }
    if given.flags & VM_PMU_COMPANION_ALWAYS != 0 {
        builder = builder.always();
    }
    if given.flags & VM_PMU_COMPANION_BUFFERED != 0 {
        builder = builder.buffered();
    }
    if given.packages_per_group != 0 {
        builder = builder.packages_per_group(wide(given.packages_per_group));
    }
    builder = builder.lent_clusters(wide(given.lent_clusters));
    if given.core_threads != 0 {
        builder = builder.core_threads(wide(given.core_threads));
    }
    let VmPmuCompanionOptions { tiles, cluster_mode, memory_mode, mcdram, memory_per_package: memory, .. } = *given;
    if let Some(die) = crate::die::chosen(&Choice { tiles, cluster_mode, memory_mode, mcdram, memory })? {
        builder = builder.die(die);
    }
    // SAFETY: the caller's promise.
    let builder = unsafe { with_nodes(builder, given, packages) }?;
    Ok(VmPmuCompanion::new(
        builder,
        packages,
        Tables { user: given.user, walk: given.walk, nested: given.nested, host: given.host, page_bits },
    ))
}

/// Applies the options for I/O, links and the aperture.
///
/// # Safety
/// The rules for pointers hold, for those that `given` has.
unsafe fn with_nodes(mut builder: Builder, given: &VmPmuCompanionOptions, packages: u32) -> Result<Builder, Failure> {
    let wide = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    // SAFETY: the caller's promise.
    let (ranges, links, ways) = unsafe {
        (
            list(given.io_ranges, wide(given.io_range_count), "the list of ranges of I/O")?,
            list(given.links, wide(given.link_count), "the list of links")?,
            list(given.routes, wide(given.route_count), "the list of routes")?,
        )
    };
    if ranges.len() > VM_PMU_IO_RANGES {
        return Err(argument(format!("{} ranges of I/O are too many: {VM_PMU_IO_RANGES} are the most", ranges.len())));
    }
    for range in ranges {
        builder = builder.io_range(io_range(range, packages)?);
    }
    if !links.is_empty() || !ways.is_empty() {
        if wide(packages) > NODES {
            return Err(argument(format!("{packages} packages cannot be joined by links: {NODES} are the most")));
        }
        builder = builder.routes(routes(links, ways, packages)?);
    }
    if given.aperture_bytes != 0 {
        builder = builder.aperture(given.aperture, given.aperture_bytes);
    }
    Ok(builder)
}

/// Makes a companion of the part of this name: "k8", "knl", "itanium", "montecito", "power9".
///
/// `options` may be null, for one package of one thread. The companion is written to `companion` and lives until
/// vm_pmu_companion_destroy(). Later allocations for it are only what vm_pmu_companion_save() returns, and the list of places, at the first
/// call that takes them. It may be used from several host threads at once, but only one at a time follows a thread of the guest.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_create(
    name: *const c_char,
    options: *const VmPmuCompanionOptions,
    companion: *mut *mut VmPmuCompanion,
) -> VmPmuStatus {
    guarded(|| {
        writable(companion, "where the companion is to be written")?;
        const USUAL: VmPmuCompanionOptions = VmPmuCompanionOptions {
            size: size_of::<VmPmuCompanionOptions>(),
            packages: 0,
            threads: 0,
            clock: 0,
            flags: 0,
            seed: 0,
            memory_per_package: 0,
            user: std::ptr::null_mut(),
            walk: None,
            page_bits: 0,
            nested: None,
            host: None,
            packages_per_group: 0,
            lent_clusters: 0,
            core_threads: 0,
            tiles: 0,
            io_ranges: std::ptr::null(),
            links: std::ptr::null(),
            routes: std::ptr::null(),
            io_range_count: 0,
            link_count: 0,
            route_count: 0,
            cluster_mode: 0,
            memory_mode: 0,
            mcdram: 0,
            aperture: 0,
            aperture_bytes: 0,
        };
        // SAFETY: the caller's promise.
        let (name, given) = unsafe { (text(name, "the part's name")?, if options.is_null() { USUAL } else { take(options)? }) };
        // SAFETY: the caller's promise.
        let made = handle::hand_out(unsafe { build(name, &given) }?);
        // SAFETY: the same.
        unsafe { put(companion, made, "where the companion is to be written") }
    })
}

/// Lists the signals that a companion of the part of this name supplies with the VmPmuClockOwner `clock`, for VmPmuOptions::supplied.
/// Writes their numbers in order to `signals`, at most `capacity` of them, and to `count`, which may be null, how many there are.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_supplied(
    part: *const c_char,
    clock: u32,
    signals: *mut u32,
    capacity: u32,
    count: *mut u32,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let supplied = builder(unsafe { text(part, "the part's name") }?)?.clock(self::clock(clock)?).supplied();
        let numbers = || Signal::all().filter(|signal| supplied.contains(*signal)).map(|signal| u32::from(signal.number()));
        if capacity != 0 {
            writable(signals, "where the signals are to be written")?;
        }
        for (place, number) in (0..capacity).zip(numbers()) {
            // SAFETY: `capacity` of them may be written there, by the caller's promise.
            unsafe { signals.wrapping_add(usize::try_from(place).unwrap_or(0)).write(number) };
        }
        // SAFETY: the caller's promise.
        unsafe { offer(count, u32::try_from(numbers().count()).unwrap_or(u32::MAX), "where their number is to be written") }
    })
}

/// Destroys a companion. Null is allowed and does nothing. While a VmPmuCpu has one of its followers, this is refused.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a companion is one that vm_pmu_companion_create() made and that has not been
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_destroy(companion: *mut VmPmuCompanion) -> VmPmuStatus {
    guarded(|| handle::destroy(companion))
}

/// Saves everything that the companion and its followers remember, with everything delivered and no thread of the guest running. The
/// snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_save(companion: *const VmPmuCompanion, snapshot: *mut *mut VmPmuSnapshot) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::companion(companion) }?;
        writable(snapshot, "where the snapshot is to be written")?;
        let followers = whole.all()?;
        let saved = whole.companion().save_snapshot(&followers.iter().map(|follower| &**follower).collect::<Vec<_>>()).map_err(refused)?;
        // SAFETY: the caller's promise.
        unsafe { put(snapshot, VmPmuSnapshot::handed_out(saved), "where the snapshot is to be written") }
    })
}

/// Makes the companion and its followers remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a companion that was
/// made in the same way. Load the machine first, and call vm_pmu_follow_sync() for each thread afterwards.
///
/// VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged, of something else, or saved by a version with another form of companions: then
/// nothing is changed, and the embedder can start with cold caches instead.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_companion_load(companion: *const VmPmuCompanion, bytes: *const u8, length: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (whole, bytes) = unsafe { (self::companion(companion)?, list(bytes, length, "the snapshot")?) };
        let mut followers = whole.all()?;
        let mut followers: Vec<&mut Follower<'static>> = followers.iter_mut().map(|follower| &mut **follower).collect();
        whole.companion().load_snapshot(bytes, &mut followers).map_err(refused)
    })
}
