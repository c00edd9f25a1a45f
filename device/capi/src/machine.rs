//! Machines: how they are made, their shape, and how they are destroyed.

use std::ffi::{c_char, c_void};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{Builder, Machine, Thread};
#[cfg(feature = "knl")]
use vm_pmu::untile::{Buses, Frequencies};
use vm_pmu::{Lines, Pace, Part, Signal, SignalSet};

#[cfg(feature = "knl")]
use crate::die::Choice;
use crate::handle::{self, Handle};
use crate::pointer::{Growing, borrow, list, put, take, text, writable};
use crate::records::records;
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// A machine: the PMUs of all hardware threads, and what they share. Callers only get pointers to it.
pub struct VmPmuMachine {
    pub(crate) machine: Machine<Callbacks>,
    packages: u32,
    /// How many CPUs are attached to it.
    pub(crate) cpus: AtomicU32,
}

impl Handle for VmPmuMachine {
    const KIND: &'static str = "a machine";

    fn may_go(&self) -> Result<(), Failure> {
        match self.cpus.load(Relaxed) {
            0 => {}
            cpus => return Err(argument(format!("the machine has {cpus} CPUs: destroy them before it, by vm_pmu_cpu_destroy()"))),
        }
        match self.machine.line().running.load(Relaxed) {
            0 => Ok(()),
            _ => Err(argument("a callback of the machine is running: destroy the machine when it has returned")),
        }
    }
}

/// The most threads of a machine, in all its packages.
pub const VM_PMU_MOST_THREADS: u32 = 16384;

/// In VmPmuOptions::flags: a counter that one thread uses for a unit of the package stays usable to the others for their own events. The
/// K8's manual says that it does not; a driver that assumes it does loses counts unless this is set.
pub const VM_PMU_OPTION_SHARE_COUNTERS: u32 = 1 << 0;

/// In VmPmuOptions::flags: irp_bus and memory_bus are set.
pub const VM_PMU_OPTION_BUSES: u32 = 1 << 1;

/// In VmPmuOptions::flags: cpu_frequency, uclk_frequency, eclk_frequency and dclk_frequency are set.
pub const VM_PMU_OPTION_FREQUENCIES: u32 = 1 << 2;

/// A level in vm_pmu_lines() and the callback of that name. POWER: a performance monitor interrupt exists, taken at vector F00h when
/// MSR.EE allows.
pub const VM_PMU_LINE_INTERRUPT: u32 = 1 << 0;

/// A level in vm_pmu_lines() and the callback of that name. POWER: an event-based exception exists; the branch is taken when BESCR.GE
/// and problem state allow.
pub const VM_PMU_LINE_EVENT_BASED_BRANCH: u32 = 1 << 1;

/// How a machine is made. Set `size` to its sizeof and leave fields that are not needed at zero: zero always means the default.
///
/// The callbacks are called with no lock held, on the host thread that noticed the event, which need not be the one that runs the guest's
/// thread: they may call any function of this header except vm_pmu_machine_destroy(). They must return: no C++ exception and no longjmp may
/// leave them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuOptions {
    /// sizeof(VmPmuOptions).
    pub size: usize,
    /// The part's revision by its letter, or null for the default one.
    pub revision: *const c_char,
    /// How many packages; 0 is one. Knights Landing, where a package is a tile, has up to 38.
    pub packages: u32,
    /// How many threads a package has; 0 is one. On POWER9 a package is a core, of 1, 2 or 4; on Montecito it is a core of 1 or 2, and the
    /// first Itanium has one; on Knights Landing it is a tile, of up to 8, and its threads 0 to 3 are those of its first core.
    pub threads: u32,
    /// VM_PMU_OPTION_SHARE_COUNTERS, VM_PMU_OPTION_BUSES, VM_PMU_OPTION_FREQUENCIES.
    pub flags: u32,
    /// The signal that sets the pace for vm_pmu_due() and vm_pmu_room(): its total is always kept, demanded or not. Used if pace_most is
    /// not 0.
    pub pace_signal: u32,
    /// The most that any signal grows while the pace grows by one; 0 means a pace of cycles and a most of 4.
    pub pace_most: u32,
    /// Knights Landing: the bus of the IRP, with VM_PMU_OPTION_BUSES; else 0.
    pub irp_bus: u8,
    /// Knights Landing: the bus of the memory controllers, MCDRAM controllers and M2PCIe, with VM_PMU_OPTION_BUSES; else FFh.
    pub memory_bus: u8,
    /// Zero.
    pub reserved: u16,
    /// Passed to the callbacks.
    pub user: *mut c_void,
    /// Counter `counter` of hardware thread `thread` requests its interrupt, once; or null. On x86 the embedder delivers it as the
    /// performance-counter entry of the thread's local APIC says; on IA-64 it makes the vector of PMV pending.
    pub raise: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, counter: u32)>,
    /// The requests of a thread that stay raised until the guest removes their cause now have these levels (VM_PMU_LINE_...); or null.
    pub lines: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, levels: u32)>,
    /// These pins, one bit each, have toggled at least once; or null.
    pub pins: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, pins: u32)>,
    /// An interrupt was due `events` events ago: a deadline was passed, or one instruction brought several events; or null.
    pub late: Option<unsafe extern "C" fn(user: *mut c_void, thread: u32, events: u64)>,
    /// Knights Landing: the frequency of the CPUs' clock for vm_pmu_boxes_advance(), with VM_PMU_OPTION_FREQUENCIES; else 1400. All four
    /// are in the same unit, and only their ratios matter.
    pub cpu_frequency: u32,
    /// The same of UCLK; else 1700.
    pub uclk_frequency: u32,
    /// The same of ECLK; else 900.
    pub eclk_frequency: u32,
    /// The same of DCLK; else 1200.
    pub dclk_frequency: u32,
    /// The numbers of the signals that the embedder, with a companion, ever adds to: no deadline is set for any other. Null means all of
    /// them. Cycles and pace_signal are always among them. The list is not used after vm_pmu_machine_create().
    pub supplied: *const u32,
    /// The numbers of the signals that never grow by more than the pace does, or null: for these the deadline itself is the horizon.
    /// pace_signal is one. The list is not used after vm_pmu_machine_create().
    pub pace_single: *const u32,
    /// How many signals `supplied` has; 0 means all of them.
    pub supplied_count: u32,
    /// How many signals `pace_single` has.
    pub pace_single_count: u32,
    /// VM_PMU_RECORDS_...: the kinds of records that the embedder ever reports; 0 means all of them, VM_PMU_RECORDS_NEVER none.
    pub records: u32,
    /// How many signals `pace_between_blocks` has.
    pub pace_between_blocks_count: u32,
    /// The numbers of the signals that never grow within a block, as interrupts and exceptions do not, or null. The horizon does not
    /// include them: after each addition to one, check vm_pmu_reached() for it, and call vm_pmu_check() if it has reached its deadline. The
    /// list is not used after vm_pmu_machine_create().
    pub pace_between_blocks: *const u32,
    /// Knights Landing: which tiles the die has, a bit for each of 38 places; 0 means that nothing is chosen: with a cluster mode all of
    /// them, without one tile n is at place n. Package n is the tile of the n-th bit that is set.
    pub tiles: u64,
    /// Knights Landing: bytes of DDR, with a cluster mode of several nodes, which have equal parts, one after the other, and with MCDRAM that
    /// is memory, which begins behind them.
    pub memory: u64,
    /// Knights Landing: VmPmuClusterMode.
    pub cluster_mode: u32,
    /// Knights Landing: VmPmuMemoryMode.
    pub memory_mode: u32,
    /// Knights Landing: bytes of MCDRAM; 0 is 64 MiB, where the part has 16 GiB.
    pub mcdram: u64,
}

// SAFETY: `repr(C)`, `size` first; integers, pointers that are checked before use, and functions that may be absent.
unsafe impl Growing for VmPmuOptions {
    const NAME: &'static str = "VmPmuOptions";
    const FIRST: usize = std::mem::offset_of!(VmPmuOptions, late) + size_of::<usize>();
}

impl VmPmuOptions {
    const USUAL: VmPmuOptions = VmPmuOptions {
        size: size_of::<VmPmuOptions>(),
        revision: std::ptr::null(),
        packages: 0,
        threads: 0,
        flags: 0,
        pace_signal: 0,
        pace_most: 0,
        irp_bus: 0,
        memory_bus: 0,
        reserved: 0,
        user: std::ptr::null_mut(),
        raise: None,
        lines: None,
        pins: None,
        late: None,
        cpu_frequency: 0,
        uclk_frequency: 0,
        eclk_frequency: 0,
        dclk_frequency: 0,
        supplied: std::ptr::null(),
        pace_single: std::ptr::null(),
        supplied_count: 0,
        pace_single_count: 0,
        records: 0,
        pace_between_blocks_count: 0,
        pace_between_blocks: std::ptr::null(),
        tiles: 0,
        memory: 0,
        cluster_mode: 0,
        memory_mode: 0,
        mcdram: 0,
    };
}

/// An interrupt line that calls functions of the embedder.
#[derive(Debug)]
pub(crate) struct Callbacks {
    user: *mut c_void,
    raise: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    lines: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    pins: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    late: Option<unsafe extern "C" fn(*mut c_void, u32, u64)>,
    /// How many of them are running.
    running: AtomicU32,
}

impl Callbacks {
    /// Calls one of them: the machine is not destroyed meanwhile.
    fn call(&self, callback: impl FnOnce(*mut c_void)) {
        self.running.fetch_add(1, Relaxed);
        callback(self.user);
        self.running.fetch_sub(1, Relaxed);
    }
}

// SAFETY: the pointer is only passed to functions that, as the embedder states, may be called on any host thread that uses the machine.
unsafe impl Send for Callbacks {}
// SAFETY: the same.
unsafe impl Sync for Callbacks {}

/// Callers share a machine between host threads, and may destroy it on a different thread than the one that made it.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<VmPmuMachine>();
};

/// Machines have no more than [`VM_PMU_MOST_THREADS`].
fn narrow(thread: usize) -> u32 {
    u32::try_from(thread).unwrap_or(u32::MAX)
}

pub(crate) fn levels(lines: Lines) -> u32 {
    let interrupt = if lines.interrupt { VM_PMU_LINE_INTERRUPT } else { 0 };
    interrupt | if lines.event_based_branch { VM_PMU_LINE_EVENT_BASED_BRANCH } else { 0 }
}

impl InterruptLine for Callbacks {
    fn raise(&self, thread: usize, counter: u32) {
        if let Some(raise) = self.raise {
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            self.call(|user| unsafe { raise(user, narrow(thread), counter) });
        }
    }

    fn lines(&self, thread: usize, lines: Lines) {
        if let Some(told) = self.lines {
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            self.call(|user| unsafe { told(user, narrow(thread), levels(lines)) });
        }
    }

    fn pins(&self, thread: usize, pins: u32) {
        if let Some(told) = self.pins {
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            self.call(|user| unsafe { told(user, narrow(thread), pins) });
        }
    }

    fn late(&self, thread: usize, events: u64) {
        if let Some(told) = self.late {
            // SAFETY: the embedder gave the function for this, and its pointer with it.
            self.call(|user| unsafe { told(user, narrow(thread), events) });
        }
    }
}

/// The signal of this number.
pub(crate) fn signal(number: u32) -> Result<Signal, Failure> {
    u16::try_from(number).ok().and_then(Signal::from_number).ok_or_else(|| {
        misuse(VmPmuStatus::ErrorRange, format!("there is no signal {number}: this library has {}, from 0 on", Signal::COUNT))
    })
}

/// The part of this name.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn part(name: *const c_char) -> Result<Part, Failure> {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name, "the part's name") }?;
    Builder::new(name).map(|builder| builder.part()).map_err(|unknown| misuse(VmPmuStatus::ErrorName, unknown.to_string()))
}

/// The machine at `pointer`.
///
/// # Safety
/// The rules for pointers hold.
#[inline(always)]
pub(crate) unsafe fn machine<'a>(pointer: *const VmPmuMachine) -> Result<&'a VmPmuMachine, Failure> {
    // SAFETY: the caller's promise.
    unsafe { borrow(pointer, "the machine") }
}

/// Thread `number` of the machine at `pointer`.
///
/// # Safety
/// The rules for pointers hold.
#[inline(always)]
pub(crate) unsafe fn thread<'a>(pointer: *const VmPmuMachine, number: u32) -> Result<Thread<'a, Callbacks>, Failure> {
    // SAFETY: the caller's promise.
    let machine = &unsafe { machine(pointer) }?.machine;
    usize::try_from(number).ok().and_then(|number| machine.thread(number)).ok_or_else(|| no_thread(number, machine.threads()))
}

#[cold]
fn no_thread(number: u32, threads: usize) -> Failure {
    misuse(VmPmuStatus::ErrorRange, format!("there is no thread {number}: the machine has {threads}, from 0 on"))
}

/// The machine at `pointer`, and `number` checked as one of its packages.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn package<'a>(pointer: *const VmPmuMachine, number: u32) -> Result<(&'a Machine<Callbacks>, usize), Failure> {
    // SAFETY: the caller's promise.
    let whole = unsafe { machine(pointer) }?;
    match usize::try_from(number) {
        Ok(place) if number < whole.packages => Ok((&whole.machine, place)),
        _ => Err(misuse(VmPmuStatus::ErrorRange, format!("there is no package {number}: the machine has {}, from 0 on", whole.packages))),
    }
}

/// The set of the `count` signals whose numbers are at `pointer`.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn signals(pointer: *const u32, count: u32, what: &str) -> Result<SignalSet, Failure> {
    // SAFETY: the caller's promise.
    let numbers = unsafe { list(pointer, wide(count), what) }?;
    numbers.iter().map(|number| signal(*number)).collect()
}

/// # Safety
/// The rules for pointers hold, for those that `options` has.
unsafe fn build(part: Part, options: &VmPmuOptions) -> Result<VmPmuMachine, Failure> {
    let (packages, threads) = (options.packages.max(1), options.threads.max(1));
    if packages.checked_mul(threads).is_none_or(|all| all > VM_PMU_MOST_THREADS) {
        return Err(argument(format!("{packages} packages of {threads} threads are too many: {VM_PMU_MOST_THREADS} threads are the most")));
    }
    if packages > u32::from(u16::MAX) || threads > u32::from(u16::MAX) {
        return Err(argument("a machine has at most 65,535 packages, and a package as many threads"));
    }
    let unknown = options.flags & !(VM_PMU_OPTION_SHARE_COUNTERS | VM_PMU_OPTION_BUSES | VM_PMU_OPTION_FREQUENCIES);
    if unknown != 0 || options.reserved != 0 {
        return Err(argument(format!("the options set what this library does not know (flags {unknown:#x}): it must be zero")));
    }
    let mut builder = Builder::of(part).packages(wide(packages)).threads(wide(threads));
    if options.flags & VM_PMU_OPTION_SHARE_COUNTERS != 0 {
        builder = builder.share_counters();
    }
    #[cfg(feature = "knl")]
    {
        builder = with_boxes(builder, options)?;
    }
    let pace = match options.pace_most {
        0 => Pace::default(),
        most => Pace::new(signal(options.pace_signal)?, most),
    };
    // SAFETY: the caller's promise.
    let single =
        unsafe { signals(options.pace_single, options.pace_single_count, "the list of signals that grow no faster than the pace") }?;
    let (between, count) = (options.pace_between_blocks, options.pace_between_blocks_count);
    // SAFETY: the caller's promise.
    let between = unsafe { signals(between, count, "the list of signals that never grow within a block") }?;
    builder = builder.pace(pace.single(single).between_blocks(between));
    if options.supplied_count != 0 {
        // SAFETY: the caller's promise.
        builder = builder.supplies(unsafe { signals(options.supplied, options.supplied_count, "the list of supplied signals") }?);
    }
    if options.records != 0 {
        builder = builder.supplies_records(records(options.records)?);
    }
    let VmPmuOptions { user, raise, lines, pins, late, .. } = *options;
    let machine = builder.build(Callbacks { user, raise, lines, pins, late, running: AtomicU32::new(0) });
    Ok(VmPmuMachine {
        machine: machine.map_err(|refused| misuse(VmPmuStatus::ErrorUnsupported, refused.to_string()))?,
        packages,
        cpus: AtomicU32::new(0),
    })
}

#[cfg(feature = "knl")]
/// Applies the options for boxes.
fn with_boxes(builder: Builder, options: &VmPmuOptions) -> Result<Builder, Failure> {
    let mut builder = builder;
    if options.flags & VM_PMU_OPTION_BUSES != 0 {
        builder = builder.buses(Buses { irp: options.irp_bus, memory: options.memory_bus });
    }
    if options.flags & VM_PMU_OPTION_FREQUENCIES != 0 {
        builder = builder.frequencies(Frequencies {
            cpu: options.cpu_frequency,
            uclk: options.uclk_frequency,
            eclk: options.eclk_frequency,
            dclk: options.dclk_frequency,
        });
    }
    let VmPmuOptions { tiles, cluster_mode, memory_mode, mcdram, memory, .. } = *options;
    if let Some(die) = crate::die::chosen(&Choice { tiles, cluster_mode, memory_mode, mcdram, memory })? {
        builder = builder.die(die);
    }
    Ok(builder)
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Makes a machine of the part of this name: "k8", "knl", "power9", "itanium", "montecito"; vm_pmu_part_name() lists them.
///
/// `options` may be null, for one package of one thread without callbacks. The machine is written to `machine`, and lives until
/// vm_pmu_machine_destroy(). It never moves, and nothing is allocated for it later. It may be used from several host threads at once.
///
/// Options that the part does not have are refused with VM_PMU_STATUS_ERROR_UNSUPPORTED: a number of threads or packages that it cannot
/// have, shared counters on a part other than the K8, buses or frequencies of boxes, tiles or a cluster mode on a part without boxes.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_machine_create(
    name: *const c_char,
    options: *const VmPmuOptions,
    machine: *mut *mut VmPmuMachine,
) -> VmPmuStatus {
    guarded(|| {
        writable(machine, "where the machine is to be written")?;
        // SAFETY: the caller's promise.
        let (part, options) = unsafe { (part(name)?, if options.is_null() { VmPmuOptions::USUAL } else { take(options)? }) };
        let part = if options.revision.is_null() {
            part
        } else {
            // SAFETY: the caller's promise.
            let letter = unsafe { text(options.revision, "the revision") }?;
            part.revision(letter).ok_or_else(|| {
                let letters: Vec<&str> = part.revision_letters().collect();
                let (name, letters) = (part.name(), letters.join(", "));
                misuse(VmPmuStatus::ErrorName, format!("{name} has no revision \"{letter}\": there are {letters}"))
            })?
        };
        // SAFETY: the caller's promise.
        let built = unsafe { build(part, &options) }?;
        // SAFETY: the caller's promise.
        unsafe { put(machine, handle::hand_out(built), "where the machine is to be written") }
    })
}

/// Destroys a machine. Null is allowed and does nothing. While a callback of the machine runs, or it has a VmPmuCpu, this is refused.
///
/// No other call may be using the machine. Afterwards neither it nor pointers to its cells may be used.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_machine_destroy(machine: *mut VmPmuMachine) -> VmPmuStatus {
    guarded(|| handle::destroy(machine))
}

/// Writes how many packages the machine has, how many threads in all, and how many bytes it takes. Each of the pointers may be null.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_machine_shape(
    machine: *const VmPmuMachine,
    packages: *mut u32,
    threads: *mut u32,
    bytes: *mut usize,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let whole = self::machine(machine)?;
            offer_all(packages, whole.packages)?;
            offer_all(threads, narrow(whole.machine.threads()))?;
            offer_all(bytes, whole.machine.footprint())
        }
    })
}

/// # Safety
/// The rules for pointers hold.
unsafe fn offer_all<T>(pointer: *mut T, value: T) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { crate::pointer::offer(pointer, value, "where a number is to be written") }
}
