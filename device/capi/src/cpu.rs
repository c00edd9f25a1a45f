//! A CPU of an emulator: all that stands between what it executes and its PMU.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use vm_pmu::arch::feed::{Occasion, Record, SignalSet};
#[cfg(feature = "companion")]
use vm_pmu::companion::Follower;
use vm_pmu::cpu::{Counts, Step};
use vm_pmu::{Countdown, Cpu, Deadlines, Signal};

#[cfg(feature = "companion")]
use crate::companion::{Borrower, VmPmuCompanion, companion};
use crate::context::{VmPmuContext, context};
use crate::demand::{VM_PMU_SIGNAL_WORDS, VmPmuDemand, has, told};
use crate::handle::{self, Handle};
use crate::machine::{Callbacks, VmPmuMachine, machine, signal, thread};
use crate::pointer::{Growing, borrow, fill, list, offer, put, take, writable};
use crate::record::{VmPmuRecord, record};
use crate::records::records;
use crate::registers::address;
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// A CPU of an emulator, attached to one hardware thread of a machine. Callers only get pointers to it.
pub struct VmPmuCpu {
    /// Used by one call at a time: see `busy`.
    cpu: UnsafeCell<Cpu<'static, Callbacks>>,
    /// A call uses it. One host thread at a time does, so this is no lock: it refuses a call out of a callback.
    busy: Cell<bool>,
    /// The countdown in memory of the caller's; null while the CPU has its own.
    countdown: Cell<*mut u64>,
    machine: NonNull<VmPmuMachine>,
    /// Whose follower it has, with the number of the thread.
    #[cfg(feature = "companion")]
    companion: Cell<Option<(NonNull<VmPmuCompanion>, u32)>>,
}

impl Handle for VmPmuCpu {
    const KIND: &'static str = "a CPU";

    fn may_go(&self) -> Result<(), Failure> {
        self.enter().map(drop)
    }
}

impl VmPmuCpu {
    /// Begins a call that uses the CPU.
    #[inline(always)]
    fn enter(&self) -> Result<Entered<'_>, Failure> {
        if self.busy.replace(true) {
            return Err(in_use());
        }
        let entered = Entered { whole: self };
        let place = self.countdown.get();
        if !place.is_null() {
            // SAFETY: the caller keeps the cell until the CPU is destroyed, and no generated code uses it during a call.
            entered.countdown().cell().set(unsafe { place.read() });
        }
        Ok(entered)
    }
}

#[cold]
fn in_use() -> Failure {
    argument("the CPU is in use by another call: one host thread at a time uses it, and no callback of its own")
}

impl Drop for VmPmuCpu {
    fn drop(&mut self) {
        self.cpu.get_mut().settle();
        #[cfg(feature = "companion")]
        if let Some((companion, number)) = self.companion.get()
            && let Some(follower) = self.cpu.get_mut().unfollow()
        {
            // SAFETY: a companion refuses to be destroyed while it has lent a follower.
            unsafe { companion.as_ref() }.give_back(number, follower);
        }
        // SAFETY: a machine refuses to be destroyed while it has CPUs.
        unsafe { self.machine.as_ref() }.cpus.fetch_sub(1, Relaxed);
    }
}

/// The right to use a CPU, for one call.
pub(crate) struct Entered<'a> {
    whole: &'a VmPmuCpu,
}

#[cfg(feature = "companion")]
impl<'a> Entered<'a> {
    /// The companion whose follower it has, with the number of the thread.
    #[inline(always)]
    pub(crate) fn companion(&self) -> Option<(&'a VmPmuCompanion, u32)> {
        let (companion, thread) = self.whole.companion.get()?;
        // SAFETY: a companion refuses to be destroyed while it has lent a follower.
        Some((unsafe { companion.as_ref() }, thread))
    }
}

impl Deref for Entered<'_> {
    type Target = Cpu<'static, Callbacks>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        // SAFETY: `busy` lets one of these live at a time.
        unsafe { &*self.whole.cpu.get() }
    }
}

impl DerefMut for Entered<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: the same.
        unsafe { &mut *self.whole.cpu.get() }
    }
}

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let place = self.whole.countdown.get();
        if !place.is_null() {
            // SAFETY: as where it was read.
            unsafe { place.write(self.countdown().cell().get()) };
        }
        self.whole.busy.set(false);
    }
}

#[cfg(feature = "companion")]
impl std::fmt::Debug for VmPmuCpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VmPmuCpu").field("busy", &self.busy).finish_non_exhaustive()
    }
}

#[cfg(feature = "companion")]
impl Borrower for VmPmuCpu {
    fn hold(&self) -> Result<NonNull<Follower<'static>>, Failure> {
        let mut entered = self.enter()?;
        let follower = entered.follower_mut().map(NonNull::from).ok_or_else(in_use)?;
        std::mem::forget(entered);
        Ok(follower)
    }

    fn release(&self) {
        drop(Entered { whole: self });
    }
}

/// The CPU at `pointer`, for one call.
///
/// # Safety
/// The rules for pointers hold.
#[inline(always)]
pub(crate) unsafe fn cpu<'a>(pointer: *const VmPmuCpu) -> Result<Entered<'a>, Failure> {
    // SAFETY: the caller's promise.
    unsafe { borrow(pointer, "the CPU") }?.enter()
}

/// A signal that grows with each instruction of a block.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuGrowth {
    /// The number of the signal.
    pub signal: u32,
    /// How much each instruction adds to it.
    pub amount: u32,
}

/// The most signals in VmPmuCpuOptions::growing.
pub const VM_PMU_MOST_GROWING: usize = 6;

/// How a CPU is made. Set `size` to its sizeof and leave fields that are not needed at zero.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuCpuOptions {
    /// sizeof(VmPmuCpuOptions).
    pub size: usize,
    /// What grows with the instructions of blocks, in addition to instructions; VM_PMU_MOST_GROWING at most. An instruction is one cycle
    /// unless the list says otherwise.
    pub growing: *const VmPmuGrowth,
    /// How many `growing` has.
    pub growing_count: u32,
    /// The signal whose sum in a block the countdown counts beside instructions, such as branches; 0 for none.
    pub paired_signal: u32,
    /// A VmPmuCompanion that makes what the emulator does not add, or null. The CPU has its follower of this thread until it is destroyed. A
    /// library without the feature `companion` refuses one.
    pub companion: *mut c_void,
    /// The numbers of the signals that the emulator adds itself although the companion could make them, or null.
    pub kept: *const u32,
    /// How many `kept` has.
    pub kept_count: usize,
}

// SAFETY: `repr(C)`, `size` first; integers, and pointers that are checked before use.
unsafe impl Growing for VmPmuCpuOptions {
    const NAME: &'static str = "VmPmuCpuOptions";
    const FIRST: usize = std::mem::offset_of!(VmPmuCpuOptions, kept_count) + size_of::<usize>();
}

impl VmPmuCpuOptions {
    const USUAL: VmPmuCpuOptions = VmPmuCpuOptions {
        size: size_of::<VmPmuCpuOptions>(),
        growing: std::ptr::null(),
        growing_count: 0,
        paired_signal: 0,
        companion: std::ptr::null_mut(),
        kept: std::ptr::null(),
        kept_count: 0,
    };
}

/// # Safety
/// The rules for pointers hold, for those that `options` has.
unsafe fn countdown(options: &VmPmuCpuOptions) -> Result<Countdown, Failure> {
    let count = usize::try_from(options.growing_count).unwrap_or(usize::MAX);
    if count > VM_PMU_MOST_GROWING {
        return Err(argument(format!("{count} signals that grow with instructions are too many: {VM_PMU_MOST_GROWING} are the most")));
    }
    // What is named twice has the last amount: the rest of the list changes nothing.
    let mut amounts = [(Signal::InstructionsRetired, 1); VM_PMU_MOST_GROWING];
    // SAFETY: the caller's promise.
    let growing = unsafe { list(options.growing, count, "the list of signals that grow with instructions") }?;
    for (place, growth) in amounts.iter_mut().zip(growing) {
        *place = match signal(growth.signal)? {
            Signal::InstructionsRetired => {
                return Err(argument("an instruction adds 1 to instructions_retired: leave this signal out of the list"));
            }
            known => (known, growth.amount),
        };
    }
    let countdown = Countdown::with(amounts);
    Ok(if options.paired_signal == 0 { countdown } else { countdown.paired(signal(options.paired_signal)?) })
}

/// Makes a CPU whose PMU is that of thread `thread` of `machine`. `options` may be null. It lives until vm_pmu_cpu_destroy(), and the machine,
/// and the companion if there is one, refuse to be destroyed before.
///
/// A CPU calls the PMU when something becomes visible to the guest, and knows what is counted at the moment. An emulator reports what it executes
/// in the words that fit it:
///
/// - instruction by instruction: vm_pmu_cpu_retire(), or vm_pmu_cpu_complete() for steps that have more to report;
/// - in translated blocks: vm_pmu_enter() or the same in generated code, vm_pmu_cpu_refill() when a block does not fit, and
///   vm_pmu_cpu_take_back() when one is left before its end;
/// - by a clock of its own: vm_pmu_cpu_advance() and vm_pmu_cpu_until();
/// - with a companion: vm_pmu_cpu_execute() before vm_pmu_cpu_complete(), while vm_pmu_cpu_is_followed().
///
/// All of them may be mixed. The guest's accesses are vm_pmu_cpu_read() and vm_pmu_cpu_write(), its state is reported by
/// vm_pmu_cpu_set_context(). Other calls for the thread of a CPU, as by vm_pmu_inject(), are made within vm_pmu_cpu_access(), or after
/// vm_pmu_cpu_sync() where they do not change registers. One host thread at a time uses a CPU; the callbacks of VmPmuOptions are called while
/// it is in use, and calls for the same CPU are refused there.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_create(
    machine: *const VmPmuMachine,
    thread: u32,
    options: *const VmPmuCpuOptions,
    cpu: *mut *mut VmPmuCpu,
) -> VmPmuStatus {
    guarded(|| {
        writable(cpu, "where the CPU is to be written")?;
        // SAFETY: the caller's promise.
        let (options, pmu) =
            unsafe { (if options.is_null() { VmPmuCpuOptions::USUAL } else { take(options)? }, self::thread(machine, thread)?) };
        // SAFETY: the same.
        let (whole, countdown) = unsafe { (self::machine(machine)?, self::countdown(&options)?) };
        // SAFETY: the same.
        let kept = unsafe { list(options.kept, options.kept_count, "the list of signals that the emulator adds itself") }?;
        let kept = kept.iter().map(|number| signal(*number)).collect::<Result<SignalSet, _>>()?;
        #[cfg(not(feature = "companion"))]
        if !options.companion.is_null() {
            return Err(crate::status::misuse(
                VmPmuStatus::ErrorUnsupported,
                "this library has no companion: the feature `companion` has it",
            ));
        }
        whole.cpus.fetch_add(1, Relaxed);
        let made = handle::hand_out(VmPmuCpu {
            cpu: UnsafeCell::new(Cpu::with_countdown(pmu, countdown)),
            busy: Cell::new(false),
            countdown: Cell::new(std::ptr::null_mut()),
            machine: NonNull::from(whole),
            #[cfg(feature = "companion")]
            companion: Cell::new(None),
        });
        #[cfg(feature = "companion")]
        // SAFETY: it has just been made, and nobody else has it.
        if let Err(refused) = unsafe { follow(&*made, thread, options.companion.cast(), whole, kept) } {
            handle::destroy(made)?;
            return Err(refused);
        }
        #[cfg(not(feature = "companion"))]
        let _ = kept;
        // SAFETY: the caller's promise.
        unsafe { put(cpu, made, "where the CPU is to be written") }
    })
}

/// Gives the CPU the follower of its thread, if there is a companion.
///
/// # Safety
/// The rules for pointers hold.
#[cfg(feature = "companion")]
unsafe fn follow(
    cpu: &VmPmuCpu,
    thread: u32,
    companion: *const VmPmuCompanion,
    machine: &VmPmuMachine,
    kept: SignalSet,
) -> Result<(), Failure> {
    if companion.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let companion = unsafe { self::companion(companion) }?;
    companion.follows(&machine.machine)?;
    let follower = companion.lend(thread, cpu)?;
    cpu.companion.set(Some((NonNull::from(companion), thread)));
    cpu.enter()?.follow(follower, kept);
    Ok(())
}

/// Destroys a CPU. Null is allowed and does nothing. What its blocks have executed is added to the totals.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a CPU is one that vm_pmu_cpu_create() made and that has not been destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_destroy(cpu: *mut VmPmuCpu) -> VmPmuStatus {
    guarded(|| handle::destroy(cpu))
}

// ---- Steps ----

/// The most signals that a step names, and the most states that hold in it.
pub const VM_PMU_MOST_STEP: usize = 48;

/// Signals of the caller's, all of which are known.
#[derive(Clone, Copy)]
struct Listed<'a>(&'a [u32]);

impl<'a> Listed<'a> {
    /// # Safety
    /// The rules for pointers hold.
    #[inline(always)]
    unsafe fn new(numbers: *const u32, count: usize, what: &str) -> Result<Listed<'a>, Failure> {
        if count > VM_PMU_MOST_STEP {
            return Err(argument(format!("{what} has {count} signals: {VM_PMU_MOST_STEP} are the most")));
        }
        // SAFETY: the caller's promise.
        let numbers = unsafe { list(numbers, count, what) }?;
        for number in numbers {
            signal(*number)?;
        }
        Ok(Listed(numbers))
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = Signal> {
        self.0.iter().filter_map(|number| Signal::from_number(u16::try_from(*number).ok()?))
    }

    /// Calls `work` with them, without an allocation.
    #[inline]
    fn with<T>(self, work: impl FnOnce(&[Signal]) -> T) -> T {
        let mut signals = [Signal::Cycles; VM_PMU_MOST_STEP];
        for (place, signal) in signals.iter_mut().zip(self.iter()) {
            *place = signal;
        }
        work(signals.get(..self.0.len()).unwrap_or(&signals))
    }
}

/// The CPU completed an instruction or another step, such as an interrupt that it took: adds one to each of the `count` signals at `signals`
/// and `cycles` to the cycles, and serves deadlines. A signal that occurred twice is named twice; VM_PMU_MOST_STEP at most. Signals that are not
/// demanded may be named too. While a companion makes the cycles, `cycles` is not added.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_retire(cpu: *mut VmPmuCpu, signals: *const u32, count: usize, cycles: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, signals) = unsafe { (self::cpu(cpu)?, Listed::new(signals, count, "the list of signals")?) };
        signals.with(|signals| cpu.retire(signals, cycles));
        Ok(())
    })
}

/// In VmPmuStep::occasions: it is a control transfer.
pub const VM_PMU_OCCASION_BRANCH: u32 = 1 << 0;
/// In VmPmuStep::occasions: a control transfer that was taken.
pub const VM_PMU_OCCASION_TAKEN: u32 = 1 << 1;
/// In VmPmuStep::occasions: it accessed memory.
pub const VM_PMU_OCCASION_MEMORY: u32 = 1 << 2;
/// In VmPmuStep::occasions: its fetch missed something. A companion knows it by itself.
pub const VM_PMU_OCCASION_FETCH: u32 = 1 << 3;

/// An instruction that a CPU completed, or another step of it. Set `size` to its sizeof and leave fields that are not needed at zero.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuStep {
    /// sizeof(VmPmuStep).
    pub size: usize,
    /// The numbers of the signals that grew by one each, VM_PMU_MOST_STEP at most, or null. A signal that occurred twice is named twice.
    pub signals: *const u32,
    /// How many `signals` has.
    pub signal_count: u32,
    /// How many `states` has.
    pub state_count: u32,
    /// The numbers of the emulator's states that hold in every cycle of the step, such as masked interrupts, VM_PMU_MOST_STEP at most, or null:
    /// used while a companion makes the cycles.
    pub states: *const u32,
    /// The cycles of the step; not added while a companion makes them.
    pub cycles: u64,
    /// Passed to `record`.
    pub user: *mut c_void,
    /// Called where the record of the instruction is wanted: fills in what the emulator knows, all fields except `size`, which are 0 at first, and
    /// returns true; or returns false. Null for a step that is no instruction. It may call every function except those of this CPU, and must return.
    pub record: Option<unsafe extern "C" fn(user: *mut c_void, record: *mut VmPmuRecord) -> bool>,
    /// VM_PMU_OCCASION_...: what may cause its record to be wanted, beside a deadline.
    pub occasions: u32,
}

// SAFETY: `repr(C)`, `size` first; integers, pointers that are checked before use, and a function that may be absent.
unsafe impl Growing for VmPmuStep {
    const NAME: &'static str = "VmPmuStep";
    const FIRST: usize = std::mem::offset_of!(VmPmuStep, occasions) + size_of::<u32>();
}

/// A step, checked.
struct Completed<'s> {
    signals: Listed<'s>,
    states: Listed<'s>,
    step: &'s VmPmuStep,
    /// Why the record that was wanted is none.
    refused: Cell<Option<Failure>>,
}

impl Step for Completed<'_> {
    #[inline]
    fn count(&self, counts: &Counts<'_>) {
        self.signals.iter().for_each(|signal| counts.add(signal, 1));
        if !counts.is_timed() {
            counts.add(Signal::Cycles, self.step.cycles);
        }
    }

    fn states(&self) -> impl Iterator<Item = Signal> {
        self.states.iter()
    }

    #[inline]
    fn occasion(&self) -> Occasion {
        let has = |occasion: u32| self.step.occasions & occasion != 0;
        Occasion {
            branch: has(VM_PMU_OCCASION_BRANCH | VM_PMU_OCCASION_TAKEN),
            taken: has(VM_PMU_OCCASION_TAKEN),
            memory: has(VM_PMU_OCCASION_MEMORY),
            fetch: has(VM_PMU_OCCASION_FETCH),
        }
    }

    #[cold]
    fn record(&self) -> Option<Record> {
        let mut given = VmPmuRecord { size: size_of::<VmPmuRecord>(), ..VmPmuRecord::default() };
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        let is_known = unsafe { self.step.record?(self.step.user, &raw mut given) };
        if is_known { record(&given).map_err(|refused| self.refused.set(Some(refused))).ok() } else { None }
    }
}

/// The CPU completed a step: adds what it counts, reports its record where one is wanted, with what the companion knows of it, and serves
/// deadlines. Writes to `cycles`, which may be null, how many cycles the companion made: 0 unless it makes them. A record that has a value
/// without a meaning is refused: the step is counted nevertheless.
///
/// An instruction of a CPU that is followed has been reported by vm_pmu_cpu_execute() before: what the companion made of it comes first. If it was
/// entered as a block of its own, the step does not name what the countdown counts.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_complete(cpu: *mut VmPmuCpu, step: *const VmPmuStep, cycles: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, step) = unsafe { (self::cpu(cpu)?, take(step)?) };
        let counts = [step.signal_count, step.state_count].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        // SAFETY: the same.
        let signals = unsafe { Listed::new(step.signals, counts[0], "the list of signals") }?;
        // SAFETY: the same.
        let states = unsafe { Listed::new(step.states, counts[1], "the list of states") }?;
        if !cycles.is_null() {
            writable(cycles, "where the cycles are to be written")?;
        }
        let completed = Completed { signals, states, step: &step, refused: Cell::new(None) };
        let made = cpu.complete(&completed);
        if let Some(refused) = completed.refused.take() {
            return Err(refused);
        }
        // SAFETY: the same.
        unsafe { offer(cycles, made.unwrap_or(0), "where the cycles are to be written") }
    })
}

/// Lets `cycles` go by in which nothing else occurs, all of the `count` signals at `states` holding in each of them, and serves every deadline on
/// the way: for an emulator with a clock of its own, and for a CPU that waits. The signal of cycles is one of the states while the CPU
/// runs; VM_PMU_MOST_STEP at most.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_advance(cpu: *mut VmPmuCpu, cycles: u64, states: *const u32, count: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, states) = unsafe { (self::cpu(cpu)?, Listed::new(states, count, "the list of states")?) };
        states.with(|states| cpu.advance(cycles, states));
        Ok(())
    })
}

/// Writes to `cycles` how many cycles may go by in the `count` states at `states` before something becomes due; VM_PMU_NEVER if nothing does.
/// For the timer of a CPU that waits.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_until(cpu: *mut VmPmuCpu, states: *const u32, count: usize, cycles: *mut u64) -> VmPmuStatus {
    guarded(|| {
        writable(cycles, "where the cycles are to be written")?;
        // SAFETY: the caller's promise.
        let (mut cpu, states) = unsafe { (self::cpu(cpu)?, Listed::new(states, count, "the list of states")?) };
        let until = states.with(|states| cpu.until(states)).unwrap_or(Deadlines::NEVER);
        // SAFETY: the same.
        unsafe { put(cycles, until, "where the cycles are to be written") }
    })
}

// ---- Blocks ----

/// The lowest bit of the number of instructions in a countdown: the bits below it count VmPmuCpuOptions::paired_signal. What a block of up
/// to 512 instructions subtracts is a constant of 31 bits, which fits into an instruction of most hosts.
pub const VM_PMU_COUNTDOWN_SHIFT: u32 = 21;

/// The most instructions of a block.
pub const VM_PMU_MOST_INSTRUCTIONS: u64 = 1 << (VM_PMU_COUNTDOWN_SHIFT - 2);

const _: () = assert!(VM_PMU_COUNTDOWN_SHIFT == Countdown::SHIFT && VM_PMU_MOST_INSTRUCTIONS == Countdown::MOST);

/// Writes to `countdown` where the CPU's countdown is: the same until vm_pmu_cpu_place(). Generated code subtracts what vm_pmu_takes() returns for
/// its block, calls vm_pmu_cpu_refill() if the difference is negative as a signed number, and otherwise stores it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_countdown(cpu: *const VmPmuCpu, countdown: *mut *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let cpu = unsafe { self::cpu(cpu) }?;
        let place = cpu.whole.countdown.get();
        let place = if place.is_null() { cpu.countdown().cell().as_ptr() } else { place };
        // SAFETY: the same.
        unsafe { put(countdown, place, "where the countdown's place is to be written") }
    })
}

/// Moves the countdown to `countdown`, 8 bytes of the caller's that remain until the CPU is destroyed: next to what its generated code uses.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_place(cpu: *mut VmPmuCpu, countdown: *mut u64) -> VmPmuStatus {
    guarded(|| {
        writable(countdown, "where the countdown is to be")?;
        // It is written there where the call ends. SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.whole.countdown.set(countdown);
        Ok(())
    })
}

/// A block of `instructions` does not fit: serves deadlines, and writes to `allowed` how many of its instructions to enter as a block of their
/// own. Such a block fits, and no deadline comes before the last of them. Look for interrupts before it is entered.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_refill(cpu: *mut VmPmuCpu, instructions: u32, allowed: *mut u32) -> VmPmuStatus {
    guarded(|| {
        writable(allowed, "where the number of instructions is to be written")?;
        // SAFETY: the caller's promise.
        let fits = unsafe { self::cpu(cpu) }?.refill(instructions);
        // SAFETY: the same.
        unsafe { put(allowed, fits, "where the number of instructions is to be written") }
    })
}

/// A block was left before its end: gives back the instructions that were not executed, as vm_pmu_takes() returns for them. What has been added
/// to the totals stays there.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_take_back(cpu: *mut VmPmuCpu, takes: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.take_back(takes);
        Ok(())
    })
}

/// Writes to `wants` whether the record of the instruction that was last executed is wanted, because it reached a deadline: for blocks, between
/// one that ended and vm_pmu_cpu_refill(). If so, vm_pmu_cpu_record() comes next.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_wants_record(cpu: *mut VmPmuCpu, wants: *mut bool) -> VmPmuStatus {
    guarded(|| {
        writable(wants, "where the answer is to be written")?;
        // SAFETY: the caller's promise.
        let answer = unsafe { self::cpu(cpu) }?.wants_record();
        // SAFETY: the same.
        unsafe { put(wants, answer, "where the answer is to be written") }
    })
}

/// Reports a record that is wanted: for emulators that complete no steps.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_record(cpu: *mut VmPmuCpu, record: *const VmPmuRecord) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, given) = unsafe { (self::cpu(cpu)?, take(record)?) };
        cpu.record(&self::record(&given)?);
        Ok(())
    })
}

/// Adds to the totals what blocks have executed, and writes to `executed`, which may be null, how many instructions that was. Before the machine
/// is saved, and before totals are read.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_settle(cpu: *mut VmPmuCpu, executed: *mut u64) -> VmPmuStatus {
    guarded(|| {
        if !executed.is_null() {
            writable(executed, "where the number of instructions is to be written")?;
        }
        // SAFETY: the caller's promise.
        let instructions = unsafe { self::cpu(cpu) }?.settle();
        // SAFETY: the same.
        unsafe { offer(executed, instructions, "where the number of instructions is to be written") }
    })
}

// ---- What is counted ----

/// Brings everything up to date between two blocks or steps: what blocks have executed is in the totals, deadlines are served, and the demand
/// is the current one. Call it before one of several pending interrupts is chosen, if the countdown has no instruction left; and when
/// vm_pmu_cpu_is_stale().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_sync(cpu: *mut VmPmuCpu) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.sync();
        Ok(())
    })
}

/// Writes to `stale` whether what is demanded has changed since it was last read, by a register access of this CPU's or another's: a CPU that
/// executes blocks asks at their ends.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_is_stale(cpu: *const VmPmuCpu, stale: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let answer = unsafe { self::cpu(cpu) }?.is_stale();
        // SAFETY: the same.
        unsafe { put(stale, answer, "where the answer is to be written") }
    })
}

/// Fills `demand` with what the emulator itself must add and report at the moment: what is demanded without what the companion makes. Its epoch
/// changes whenever it may have changed, after vm_pmu_cpu_sync(), an access or a step: translated blocks that add signals depend on it. In
/// blocks it has the pace too, which the countdown adds.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_demand(cpu: *const VmPmuCpu, demand: *mut VmPmuDemand) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let cpu = unsafe { self::cpu(cpu) }?;
        let own = VmPmuDemand { epoch: cpu.edition(), ..told(cpu.own_demand()) };
        // SAFETY: the same.
        unsafe { fill(demand, own) }
    })
}

/// Writes to `followed` whether instructions must be reported by vm_pmu_cpu_execute() at the moment.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_is_followed(cpu: *const VmPmuCpu, followed: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let answer = unsafe { self::cpu(cpu) }?.is_followed();
        // SAFETY: the same.
        unsafe { put(followed, answer, "where the answer is to be written") }
    })
}

/// The set of the signals whose bits are set in VM_PMU_SIGNAL_WORDS words.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn set(words: *const u64) -> Result<SignalSet, Failure> {
    // SAFETY: the caller's promise.
    let words = unsafe { list(words, VM_PMU_SIGNAL_WORDS, "the words of the signals") }?;
    Ok(Signal::all().filter(|signal| has(words, *signal)).collect())
}

/// Adds to the totals of `signals`, VM_PMU_SIGNAL_WORDS words in the form of VmPmuDemand::signals, and reports `records`, VM_PMU_RECORDS_...,
/// even while the PMU does not demand them: for other devices that count what the CPU does. Takes the place of what was watched before.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_watch(cpu: *mut VmPmuCpu, signals: *const u64, records: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, signals) = unsafe { (self::cpu(cpu)?, set(signals)?) };
        cpu.watch(signals, self::records(records)?);
        Ok(())
    })
}

/// Leaves `records`, VM_PMU_RECORDS_..., out for a time although they are demanded, 0 at first: for records that cost much and that the guest seldom
/// looks at.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_leave_out(cpu: *mut VmPmuCpu, records: u32) -> VmPmuStatus {
    guarded(|| {
        let records = self::records(records)?;
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.leave_out(records);
        Ok(())
    })
}

/// State `state` of the emulator holds from now on, or no longer: for counters of its edges, which may start within it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_set_level(cpu: *mut VmPmuCpu, state: u32, holds: bool) -> VmPmuStatus {
    guarded(|| {
        let state = signal(state)?;
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.set_level(state, holds);
        Ok(())
    })
}

// ---- Registers and contexts ----

/// The guest reads register `number` of address space `space` (VmPmuSpace). What was executed before has been counted; the accessing
/// instruction is counted afterwards, and in a block it is the last and adds nothing to the paired signal. Otherwise as vm_pmu_read().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_read(cpu: *mut VmPmuCpu, space: u32, number: u64, value: *mut u64) -> VmPmuStatus {
    guarded(|| {
        writable(value, "where the value is to be written")?;
        // SAFETY: the caller's promise.
        let (mut cpu, address) = (unsafe { self::cpu(cpu) }?, address(space, number)?);
        let read = cpu.access(|pmu| pmu.read(address))?;
        // SAFETY: the same.
        unsafe { put(value, read, "where the value is to be written") }
    })
}

/// The guest writes `value` to register `number` of address space `space` (VmPmuSpace), as in vm_pmu_cpu_read(). With a fault nothing is
/// written.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_write(cpu: *mut VmPmuCpu, space: u32, number: u64, value: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, address) = (unsafe { self::cpu(cpu) }?, address(space, number)?);
        Ok(cpu.access(|pmu| pmu.write(address, value))?)
    })
}

/// Calls `work` with `user` while the CPU is as at an access of the guest to its PMU: there other functions of this header may be called for its
/// thread, except those of the CPU itself. It must return: no C++ exception and no longjmp may leave it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_access(
    cpu: *mut VmPmuCpu,
    work: Option<unsafe extern "C" fn(user: *mut c_void)>,
    user: *mut c_void,
) -> VmPmuStatus {
    guarded(|| {
        let work = work.ok_or_else(|| argument("the work is null: a function is needed"))?;
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        unsafe { self::cpu(cpu) }?.access(|_| unsafe { work(user) });
        Ok(())
    })
}

/// The state of the processor from now on, with whether it is halted. What was reported before occurred in the old one. Where no counter depends
/// on a change, or the counts of both states add up, the PMU learns of it later: most changes cost a few comparisons.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_set_context(cpu: *mut VmPmuCpu, context: *const VmPmuContext) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, given) = unsafe { (self::cpu(cpu)?, take(context)?) };
        cpu.set_context(self::context(&given)?);
        Ok(())
    })
}

/// What the processor's state has become within a block, in fields that no counter depends on, such as flags and a time base: for an emulator that
/// reads them only when the guest accesses its PMU, which comes next. The accessing instruction is not counted before.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_refresh_context(cpu: *mut VmPmuCpu, context: *const VmPmuContext) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (mut cpu, given) = unsafe { (self::cpu(cpu)?, take(context)?) };
        cpu.refresh_context(self::context(&given)?);
        Ok(())
    })
}

/// The machine has been restored or reset, and so has the companion: reads the context and the demand again. Instructions that blocks have
/// executed and that were not settled belong to the state before, and are discarded.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_restored(cpu: *mut VmPmuCpu) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.restored();
        Ok(())
    })
}
