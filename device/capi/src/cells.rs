//! Totals and deadlines, for generated code.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

use vm_pmu::arch::atomic::AtomicU64;
use vm_pmu::arch::feed::Vocabulary;
use vm_pmu::topology::Source;
use vm_pmu::{Deadlines, Signal, Totals};

use crate::machine::{VmPmuMachine, package, signal, thread};
use crate::pointer::{Growing, fill, list};
use crate::status::{VmPmuStatus, argument, guarded};

/// Where the totals and deadlines of a thread, or of a package's devices, are.
///
/// The pointers are valid until the machine is destroyed, and the same at every call: translated code may use them as constants. Cells are
/// consecutive 64-bit numbers in the host's byte order, one for each signal that the part has. That of signal n is
/// `total_cells[cell_of_signal[n]]`, which vm_pmu_total() finds. It is the same for all threads and devices of a machine, and another for another
/// part or in a later library.
///
/// One host thread at a time adds to a thread's totals: the one that runs it. A plain addition to memory is enough, it need not be atomic.
/// Other host threads may read totals, and may write deadlines and horizon: read those again every time, with a load of 64 bits. In C and
/// C++ the functions at the end of this header do so.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuCells {
    /// sizeof(VmPmuCells).
    pub size: usize,
    /// The totals, to which the embedder adds.
    pub total_cells: *mut u64,
    /// The totals at which vm_pmu_service() must be called, in the same order; VM_PMU_NEVER where there is no deadline. Only to be read.
    pub deadline_cells: *const u64,
    /// The total of the pace before which no deadline can come, as long as the embedder keeps to VmPmuOptions::pace_most. Only to be read.
    pub horizon: *const u64,
    /// How many signals the library has.
    pub signals: u32,
    /// The number of the signal that sets the pace.
    pub pace: u32,
    /// The cell of each signal, by the signal's number; VM_PMU_NO_CELL of a signal that the part does not have.
    pub cell_of_signal: *const u16,
    /// The total of the pace. Only to be read.
    pub pace_total: *const u64,
    /// The two numbers whose sum vm_pmu_epoch() returns, of the thread and of its package: see vm_pmu_epoch_of(). Only to be read. This is
    /// the first.
    pub own_epoch: *const u32,
    /// The second of the two numbers.
    pub package_epoch: *const u32,
    /// The bits of VmPmuContext::machine_state whose changes must be reported at once; all bits if changes of the privilege level must be:
    /// see vm_pmu_sensitivity(). Only to be read.
    pub sensitivity: *const u64,
    /// Not 0 while contexts may be reported as sums: see vm_pmu_contexts_add_up(). Only to be read.
    pub contexts_add_up: *const u32,
}

// SAFETY: `repr(C)`, `size` first; integers and pointers.
unsafe impl Growing for VmPmuCells {
    const NAME: &'static str = "VmPmuCells";
    // All of it: a program that was compiled when cells were in the order of the signals has a smaller structure, and is refused.
    const FIRST: usize = std::mem::offset_of!(VmPmuCells, contexts_add_up) + size_of::<*const u32>();
}

/// In VmPmuCells::cell_of_signal: the part does not have the signal, which is not counted.
pub const VM_PMU_NO_CELL: u16 = u16::MAX;

/// The deadline of a signal that has none.
pub const VM_PMU_NEVER: u64 = u64::MAX;

const _: () = {
    assert!(VM_PMU_NEVER == Deadlines::NEVER);
    assert!(
        Totals::CELLS_OFFSET.is_multiple_of(8) && Deadlines::CELLS_OFFSET.is_multiple_of(8) && Deadlines::HORIZON_OFFSET.is_multiple_of(8)
    );
    assert!(Signal::COUNT < VM_PMU_NO_CELL as usize);
};

/// For cells without their own epoch or context.
static NOTHING: AtomicU32 = AtomicU32::new(0);
static INSENSITIVE: AtomicU64 = AtomicU64::new(0);

/// The cell of each signal in a vocabulary, by the signal's number.
fn cell_of_signal(vocabulary: Vocabulary) -> &'static [u16] {
    macro_rules! table {
        ($($vocabulary:ident)+) => {
            match vocabulary {
                $( Vocabulary::$vocabulary => {
                    static TABLE: OnceLock<Vec<u16>> = OnceLock::new();
                    &TABLE
                } )+
            }
        };
    }
    let cell = |signal| vocabulary.cell(signal).and_then(|cell| u16::try_from(cell).ok()).unwrap_or(VM_PMU_NO_CELL);
    table!(Every K8 Knl Power9 Itanium Montecito).get_or_init(|| Signal::all().map(cell).collect())
}

fn cells(
    vocabulary: Vocabulary,
    (totals, deadlines): (&Totals, &Deadlines),
    [own_epoch, package_epoch]: [&AtomicU32; 2],
    context: (&AtomicU64, &AtomicU32),
) -> VmPmuCells {
    // Totals, deadlines and horizon are atomics of 64 bits: they may be written through a shared reference.
    let start = std::ptr::from_ref(deadlines).cast::<u8>();
    let total_cells = std::ptr::from_ref(totals).cast::<u8>().wrapping_add(Totals::CELLS_OFFSET).cast::<u64>();
    let pace = deadlines.pace().signal;
    VmPmuCells {
        size: size_of::<VmPmuCells>(),
        total_cells: total_cells.cast_mut(),
        deadline_cells: start.wrapping_add(Deadlines::CELLS_OFFSET).cast::<u64>(),
        horizon: start.wrapping_add(Deadlines::HORIZON_OFFSET).cast::<u64>(),
        signals: Signal::COUNT as u32,
        pace: pace.number().into(),
        cell_of_signal: cell_of_signal(vocabulary).as_ptr(),
        pace_total: total_cells.wrapping_add(vocabulary.cell(pace).unwrap_or(0)),
        own_epoch: own_epoch.as_ptr().cast_const(),
        package_epoch: package_epoch.as_ptr().cast_const(),
        sensitivity: context.0.as_ptr().cast_const(),
        contexts_add_up: context.1.as_ptr().cast_const(),
    }
}

/// Fills `cells` with where the totals and deadlines of thread `thread` are.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cells(machine: *const VmPmuMachine, thread: u32, cells: *mut VmPmuCells) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let thread = self::thread(machine, thread)?;
            let context = (thread.sensitivity(), thread.contexts_add_up());
            fill(cells, self::cells(thread.part().vocabulary(), (thread.totals(), thread.deadlines()), thread.epochs(), context))
        }
    })
}

/// A deadline of thread `thread` has been reached: counts up to now, delivers what is due, sets new deadlines.
///
/// Before it, add all signals of the instruction, and report its record if it is wanted.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_service(machine: *const VmPmuMachine, thread: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.service();
        Ok(())
    })
}

/// The horizon of thread `thread` has been reached: services it if a deadline has been reached, and moves the horizon on.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_check(machine: *const VmPmuMachine, thread: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::thread(machine, thread) }?.check();
        Ok(())
    })
}

/// Thread `thread` completed an instruction or another step, such as an interrupt that it took: adds one to each of the `count` signals at
/// `signals` and `cycles` to the cycles, and services the PMU if a deadline has been reached. A signal that occurred twice is named twice.
/// The shortest way for an interpreter; signals that are not demanded may be named too.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_retire(
    machine: *const VmPmuMachine,
    thread: u32,
    signals: *const u32,
    count: usize,
    cycles: u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (thread, signals) = unsafe { (self::thread(machine, thread)?, list(signals, count, "the list of signals")?) };
        for number in signals {
            signal(*number)?;
        }
        for number in signals {
            thread.totals().add(signal(*number)?, 1);
        }
        thread.retire(&[], cycles);
        Ok(())
    })
}

/// Lets `cycles` go by, all of the `count` signals at `states` holding in each of them: adds to their totals and services the thread at
/// every deadline on the way. The signal of cycles is one of the states.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_advance(
    machine: *const VmPmuMachine,
    thread: u32,
    cycles: u64,
    states: *const u32,
    count: usize,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (thread, states) = unsafe { (self::thread(machine, thread)?, list(states, count, "the list of states")?) };
        if states.len() > Signal::COUNT {
            return Err(argument(format!("{count} states are too many: each signal is named once")));
        }
        let states = states.iter().map(|number| signal(*number)).collect::<Result<Vec<_>, _>>()?;
        thread.advance(cycles, &states);
        Ok(())
    })
}

/// Fills `cells` with where the totals and deadlines of the devices of package `package` are: traffic that no thread caused.
///
/// One host thread at a time adds to them.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_device_cells(machine: *const VmPmuMachine, package: u32, cells: *mut VmPmuCells) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (machine, number) = unsafe { self::package(machine, package) }?;
        match (machine.devices(number), machine.device_epoch(number)) {
            // SAFETY: the caller's promise.
            (Some(Source { totals, deadlines, .. }), Some(epoch)) => unsafe {
                let vocabulary = machine.part().vocabulary();
                fill(cells, self::cells(vocabulary, (totals, deadlines), [&NOTHING, epoch], (&INSENSITIVE, &NOTHING)))
            },
            _ => Err(crate::status::misuse(VmPmuStatus::ErrorRange, format!("there is no package {number}"))),
        }
    })
}

/// A deadline of the devices of package `package` has been reached.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_service_devices(machine: *const VmPmuMachine, package: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (machine, number) = unsafe { self::package(machine, package) }?;
        machine.service_devices(number);
        Ok(())
    })
}

/// The horizon of the devices of package `package` has been reached: as vm_pmu_check() for a thread.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_check_devices(machine: *const VmPmuMachine, package: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (machine, number) = unsafe { self::package(machine, package) }?;
        machine.check_devices(number);
        Ok(())
    })
}
