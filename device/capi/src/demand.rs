//! What must be reported at the moment, and events without a signal.

use vm_pmu::{Demand, Occurrence, Signal, SignalSet};

use crate::machine::{VmPmuMachine, package, thread};
use crate::pointer::{Growing, fill, list, offer, put};
use crate::records::bits;
use crate::status::{VmPmuStatus, guarded, misuse};

/// How many words of 64 bits a set of signals has.
pub const VM_PMU_SIGNAL_WORDS: usize = 32;

const _: () = assert!(Signal::COUNT <= 64 * VM_PMU_SIGNAL_WORDS);

/// What must be reported at the moment: an embedder may omit the rest.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuDemand {
    /// sizeof(VmPmuDemand).
    pub size: usize,
    /// A number that changes when any other field does.
    pub epoch: u32,
    /// VM_PMU_RECORDS_...: which instructions vm_pmu_record() is wanted for.
    pub records: u32,
    /// Not 0 if a counter compares single cycles. The deadline of cycles is then one cycle ahead.
    pub per_cycle: u32,
    /// Not 0 if nothing is wanted at all.
    pub idle: u32,
    /// The signals whose totals counters follow: signal n is bit n % 64 of word n / 64.
    pub signals: [u64; VM_PMU_SIGNAL_WORDS],
    /// The states whose levels a counter of edges needs, in the same form. Supply them by vm_pmu_supply_levels() before any other event; at
    /// all other times this is empty.
    pub levels: [u64; VM_PMU_SIGNAL_WORDS],
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuDemand {
    const NAME: &'static str = "VmPmuDemand";
    const FIRST: usize = std::mem::offset_of!(VmPmuDemand, signals) + 8 * VM_PMU_SIGNAL_WORDS;
}

pub(crate) fn told(demand: &Demand) -> VmPmuDemand {
    VmPmuDemand {
        size: size_of::<VmPmuDemand>(),
        epoch: demand.epoch(),
        records: bits(demand.records()),
        per_cycle: demand.per_cycle().into(),
        idle: demand.is_idle().into(),
        signals: words(demand.signals()),
        levels: words(demand.levels()),
    }
}

/// The set as words: the signal of number `n` is bit `n % 64` of word `n / 64`.
pub(crate) fn words(set: &SignalSet) -> [u64; VM_PMU_SIGNAL_WORDS] {
    let mut words = [0; VM_PMU_SIGNAL_WORDS];
    for number in set.iter().map(|signal| usize::from(signal.number())) {
        if let Some(word) = words.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }
    words
}

/// Whether `words` have the bit of `signal`.
pub(crate) fn has(words: &[u64], signal: Signal) -> bool {
    let number = usize::from(signal.number());
    words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

/// Fills `demand` with what thread `thread` must report: what its own counters follow, and those of others in the whole package.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_demand(machine: *const VmPmuMachine, thread: u32, demand: *mut VmPmuDemand) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let wanted = self::thread(machine, thread)?.demand();
            fill(demand, told(&wanted))
        }
    })
}

/// Writes to `signals`, VM_PMU_SIGNAL_WORDS words in the form of VmPmuDemand::signals, the signals that the counters of thread `thread`,
/// and those of others in the whole package, follow in vain at the moment, because VmPmuOptions::supplied does not name them. Such counters
/// count nothing; an emulator can warn its user.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_unsupplied(machine: *const VmPmuMachine, thread: u32, signals: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let followed = self::thread(machine, thread)?.unsupplied();
            put(signals.cast::<[u64; VM_PMU_SIGNAL_WORDS]>(), words(&followed), "where the signals are to be written")
        }
    })
}

/// Supplies the levels that VmPmuDemand::levels of thread `thread` asks for: `holding` points to VM_PMU_SIGNAL_WORDS words, in which the
/// bits of the states that hold right now are set. A counter that starts within a state then does not take it for an edge. Call it before
/// any other event; if it is never called, every state is at rest.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_supply_levels(machine: *const VmPmuMachine, thread: u32, holding: *const u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (thread, holding) = unsafe { (self::thread(machine, thread)?, list(holding, VM_PMU_SIGNAL_WORDS, "the states that hold")?) };
        thread.supply_levels(|state| Some(has(holding, state)));
        Ok(())
    })
}

/// Writes to `epoch` the epoch of thread `thread`'s demand, without taking a lock: a register access of another thread can change it too.
/// Compare it once per block.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_epoch(machine: *const VmPmuMachine, thread: u32, epoch: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let now = self::thread(machine, thread)?.epoch();
            put(epoch, now, "where the epoch is to be written")
        }
    })
}

/// Fills `demand` with what the devices of package `package` must report.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_device_demand(machine: *const VmPmuMachine, package: u32, demand: *mut VmPmuDemand) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (machine, number) = unsafe { self::package(machine, package) }?;
        let wanted = machine.device_demand(number);
        let wanted = wanted.ok_or_else(|| misuse(VmPmuStatus::ErrorRange, format!("there is no package {number}")))?;
        // SAFETY: the caller's promise.
        unsafe { fill(demand, told(&wanted)) }
    })
}

/// An event without a signal occurred in thread `thread` `amount` times (or for `amount` cycles). It is named as a guest would select it:
/// the event, and the bits of the unit mask that describe it. Writes to `taken`, which may be null, whether a counter of the thread counted
/// it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_inject(
    machine: *const VmPmuMachine,
    thread: u32,
    select: u32,
    umask: u32,
    amount: u64,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let took = self::thread(machine, thread)?.inject(Occurrence { select, umask }, amount);
            offer(taken, took, "where the answer is to be written")
        }
    })
}

/// The same for an event of the whole package `package`: every thread of it that has a counter for the event counts it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_inject_package(
    machine: *const VmPmuMachine,
    package: u32,
    select: u32,
    umask: u32,
    amount: u64,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (machine, number) = self::package(machine, package)?;
            let took = machine.inject_package(number, Occurrence { select, umask }, amount);
            offer(taken, took, "where the answer is to be written")
        }
    })
}
