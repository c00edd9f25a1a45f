//! Parts, signals, and the events of the parts.

use std::ffi::c_char;

use vm_pmu::Signal;
use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::registry::NAMES;

use crate::machine::{part, signal};
use crate::pointer::{Growing, fill, put, text, writable};
use crate::status::{VmPmuStatus, guarded, misuse};

/// A text that lives as long as the program. It does not end with a zero byte: print it with "%.*s".
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuText {
    /// Its bytes, UTF-8.
    pub bytes: *const c_char,
    /// Their number.
    pub length: usize,
}

impl VmPmuText {
    fn of(text: &'static str) -> VmPmuText {
        VmPmuText { bytes: text.as_ptr().cast(), length: text.len() }
    }
}

/// How closely the count of an event matches that of the real part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuFidelity {
    /// Known from the executed instructions, and an engine of this project supplies it.
    Exact = 0,
    /// A component of this project, such as the companion, supplies it, with a difference that VmPmuEvent::rule names.
    Approximate = 1,
    /// No signal describes it: vm_pmu_inject() reports it.
    Injected = 2,
    /// A signal or a record describes it, but only an embedder can supply that. Ranks between Approximate and Injected.
    Embedder = 3,
}

/// In VmPmuEvent::flags: the entry is a unit mask of an event, and umask has its bits.
pub const VM_PMU_EVENT_UMASK: u32 = 1 << 0;
/// In VmPmuEvent::flags: a fixed counter counts it, which counts nothing else.
pub const VM_PMU_EVENT_FIXED: u32 = 1 << 1;
/// In VmPmuEvent::flags: it is posted into memory, at offset bytes from the start of its region.
pub const VM_PMU_EVENT_POSTED: u32 = 1 << 2;

/// An event of a part, or one unit mask of an event.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuEvent {
    /// sizeof(VmPmuEvent).
    pub size: usize,
    /// Its name: EVENT, or EVENT.MASK.
    pub name: VmPmuText,
    /// The unit of the part that it belongs to.
    pub unit: VmPmuText,
    /// What it counts, in one line.
    pub summary: VmPmuText,
    /// How the count differs from the real part's, if it is not exact.
    pub rule: VmPmuText,
    /// The section of the manual.
    pub section: VmPmuText,
    /// The numbers of the signals whose sum it is: signal_count of them, which live as long as the program.
    pub signals: *const u16,
    /// How many there are.
    pub signal_count: u32,
    /// VM_PMU_EVENT_...
    pub flags: u32,
    /// The event select; for a posted event its offset.
    pub select: u32,
    /// The unit mask, with VM_PMU_EVENT_UMASK.
    pub umask: u32,
    /// The offset at which it is posted, with VM_PMU_EVENT_POSTED.
    pub offset: u32,
    /// The counters that can count it, one bit each, by number.
    pub counters: u32,
    /// The most increments in one cycle.
    pub max_per_cycle: u32,
    /// VmPmuFidelity.
    pub fidelity: u32,
}

// SAFETY: `repr(C)`, `size` first; integers and pointers.
unsafe impl Growing for VmPmuEvent {
    const NAME: &'static str = "VmPmuEvent";
    const FIRST: usize = std::mem::offset_of!(VmPmuEvent, fidelity) + size_of::<u32>();
}

fn told(entry: &'static Entry) -> VmPmuEvent {
    let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
    VmPmuEvent {
        size: size_of::<VmPmuEvent>(),
        name: VmPmuText::of(entry.name),
        unit: VmPmuText::of(entry.unit),
        summary: VmPmuText::of(entry.summary),
        rule: VmPmuText::of(entry.rule),
        section: VmPmuText::of(entry.section),
        // A `Signal` is `repr(u16)`: a list of them is one of their numbers.
        signals: entry.signals.as_ptr().cast(),
        signal_count: u32::try_from(entry.signals.len()).unwrap_or(u32::MAX),
        flags: flag(entry.umask.is_some(), VM_PMU_EVENT_UMASK)
            | flag(entry.fixed, VM_PMU_EVENT_FIXED)
            | flag(entry.offset.is_some(), VM_PMU_EVENT_POSTED),
        select: entry.select,
        umask: entry.umask.unwrap_or(0),
        offset: entry.offset.unwrap_or(0),
        counters: entry.counters,
        max_per_cycle: entry.max_per_cycle,
        fidelity: match entry.fidelity {
            Fidelity::Exact => VmPmuFidelity::Exact,
            Fidelity::Approximate => VmPmuFidelity::Approximate,
            Fidelity::Embedder => VmPmuFidelity::Embedder,
            Fidelity::Injected => VmPmuFidelity::Injected,
        } as u32,
    }
}

/// Writes to `name` the name of part `number`, counted from 0. VM_PMU_STATUS_ERROR_RANGE when there are no more.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_part_name(number: u32, name: *mut VmPmuText) -> VmPmuStatus {
    guarded(|| {
        let found = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
        let found = found
            .ok_or_else(|| misuse(VmPmuStatus::ErrorRange, format!("there is no part {number}: there are {}, from 0 on", NAMES.len())))?;
        // SAFETY: the caller's promise.
        unsafe { put(name, VmPmuText::of(found), "where the name is to be written") }
    })
}

/// Fills `event` with entry `number` of the catalogue of the part of this name, counted from 0: each event is followed by its unit masks.
/// VM_PMU_STATUS_ERROR_RANGE when there are no more.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_event(part: *const c_char, number: u32, event: *mut VmPmuEvent) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let entries = unsafe { self::part(part) }?.catalogue().entries;
        let found = usize::try_from(number).ok().and_then(|number| entries.get(number));
        let found = found.ok_or_else(|| {
            misuse(VmPmuStatus::ErrorRange, format!("there is no event {number}: the catalogue has {} entries, from 0 on", entries.len()))
        })?;
        // SAFETY: the caller's promise.
        unsafe { fill(event, told(found)) }
    })
}

/// Fills `event` with the event or unit mask of this name, EVENT or EVENT.MASK, in upper or lower case; an event may be named by an alias.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_event_named(part: *const c_char, name: *const c_char, event: *mut VmPmuEvent) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (part, name) = unsafe { (self::part(part)?, text(name, "the event's name")?) };
        let found = part.catalogue().named(name);
        let found = found.ok_or_else(|| misuse(VmPmuStatus::ErrorName, format!("{} has no event \"{name}\"", part.name())))?;
        // SAFETY: the caller's promise.
        unsafe { fill(event, told(found)) }
    })
}

/// Writes to `number` the number of the signal of this name, such as "instructions_retired".
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_signal_named(name: *const c_char, number: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "the signal's name") }?;
        let found = Signal::from_name(name);
        let found = found.ok_or_else(|| misuse(VmPmuStatus::ErrorName, format!("there is no signal \"{name}\"")))?;
        // SAFETY: the caller's promise.
        unsafe { put(number, found.number().into(), "where the number is to be written") }
    })
}

/// Writes to `name` and `summary` the name and the description of signal `number`.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_signal(number: u32, name: *mut VmPmuText, summary: *mut VmPmuText) -> VmPmuStatus {
    guarded(|| {
        let found = signal(number)?;
        writable(summary, "where the summary is to be written")?;
        // SAFETY: the caller's promise.
        unsafe {
            put(name, VmPmuText::of(found.name()), "where the name is to be written")?;
            put(summary, VmPmuText::of(found.summary()), "where the summary is to be written")
        }
    })
}
