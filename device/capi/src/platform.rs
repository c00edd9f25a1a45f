//! POWER9's chips, whose nests post themselves into the guest's memory, and the calls that start and stop that.

use std::ffi::c_char;

use vm_pmu::memory::{Availability, Chip, Event, Frequencies, Nest, Platform, REGION, REGION_SIZE};

use crate::handle::{self, Handle};
use crate::machine::{VM_PMU_MOST_THREADS, VmPmuMachine, machine};
use crate::memory::{VmPmuMemory, VmPmuPassed, memory, tell};
use crate::pointer::{Growing, borrow, fillable, list, put, take, text, writable};
use crate::snapshot::{VmPmuSnapshot, refused};
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// The chips of a POWER9 machine, and the PIRs by which calls name its threads. Callers only get pointers to it.
pub struct VmPmuPlatform {
    platform: Platform,
}

impl Handle for VmPmuPlatform {
    const KIND: &'static str = "a platform";
}

/// Callers share a platform between host threads, and may destroy it on a different thread than the one that made it.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<VmPmuPlatform>();
};

/// The most chips of a platform: a PIR has seven bits for a chip's number.
pub const VM_PMU_MOST_CHIPS: usize = 128;

/// How a chip is made. Set `size` to its sizeof; zero means the default of every field except `home` and `id`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuChip {
    /// sizeof(VmPmuChip).
    pub size: usize,
    /// Its home base in bytes, a multiple of 8: the region that it posts into is at 180000h from there.
    pub home: u64,
    /// The cycles of the nest from one slot of the engine to the next; 0 is the default.
    pub slot_cycles: u64,
    /// The units that it has, one bit each, the most significant being the SMP interconnect; 0 means those of the guide's table 6-10.
    pub units: u64,
    /// The frequency of the nest in hertz; 0 is 2 GHz.
    pub nest_hertz: u64,
    /// The frequency of the host bridges in hertz; 0 is 2 GHz.
    pub host_bridge_hertz: u64,
    /// The frequency of the memory modules in hertz, half of their data rate; 0 is that of DDR4-2667.
    pub memory_hertz: u64,
    /// The number by which the device tree knows it (chip-id): 0 to 127.
    pub id: u32,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuChip {
    const NAME: &'static str = "VmPmuChip";
    const FIRST: usize = std::mem::offset_of!(VmPmuChip, id) + 4;
}

/// How a platform is made.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuPlatformOptions {
    /// sizeof(VmPmuPlatformOptions).
    pub size: usize,
    /// Pointers to the chips; null if there are none.
    pub chips: *const *const VmPmuChip,
    /// How many chips: VM_PMU_MOST_CHIPS at most.
    pub chip_count: usize,
    /// The PIRs of the machine's threads, in their order: the number of a thread's chip is in the bits from 8 on, that of its core in bits
    /// 2 to 7, its own in bits 0 and 1 (bit 0 is the least significant here); null if there are none.
    pub pirs: *const u32,
    /// How many PIRs: VM_PMU_MOST_THREADS at most.
    pub pir_count: usize,
}

// SAFETY: `repr(C)`, `size` first; integers and pointers that are checked before use.
unsafe impl Growing for VmPmuPlatformOptions {
    const NAME: &'static str = "VmPmuPlatformOptions";
    const FIRST: usize = std::mem::offset_of!(VmPmuPlatformOptions, pir_count) + size_of::<usize>();
}

fn chip_of(given: &VmPmuChip) -> Chip {
    let usual = Frequencies::default();
    let or = |given: u64, usual: u64| if given == 0 { usual } else { given };
    let frequencies = Frequencies {
        nest: or(given.nest_hertz, usual.nest),
        host_bridge: or(given.host_bridge_hertz, usual.host_bridge),
        memory: or(given.memory_hertz, usual.memory),
    };
    let mut nest = Nest::new(given.home).with_frequencies(frequencies);
    if given.units != 0 {
        nest = nest.with_units(Availability(given.units));
    }
    if given.slot_cycles != 0 {
        nest = nest.with_slot(given.slot_cycles);
    }
    Chip::new(given.id, nest)
}

/// Makes the chips of a POWER9 machine. They are written to `platform` and live until vm_pmu_platform_destroy(). They may be used from
/// several host threads at once.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_platform_create(options: *const VmPmuPlatformOptions, platform: *mut *mut VmPmuPlatform) -> VmPmuStatus {
    guarded(|| {
        writable(platform, "where the platform is to be written")?;
        // SAFETY: the caller's promise.
        let given = unsafe { take(options) }?;
        if given.chip_count > VM_PMU_MOST_CHIPS {
            return Err(argument(format!("{} chips are too many: {VM_PMU_MOST_CHIPS} are the most", given.chip_count)));
        }
        if u32::try_from(given.pir_count).is_ok_and(|count| count <= VM_PMU_MOST_THREADS) {
            // SAFETY: the caller's promise.
            let (chips, pirs) = unsafe {
                (list(given.chips, given.chip_count, "the list of chips")?, list(given.pirs, given.pir_count, "the list of PIRs")?)
            };
            // SAFETY: the caller's promise.
            let chips = chips.iter().map(|chip| unsafe { take(*chip) }.map(|chip| chip_of(&chip))).collect::<Result<Vec<_>, _>>()?;
            let made = Platform::new(chips, pirs.to_vec()).map_err(|error| argument(format!("{error}")))?;
            let made = handle::hand_out(VmPmuPlatform { platform: made });
            // SAFETY: the caller's promise.
            return unsafe { put(platform, made, "where the platform is to be written") };
        }
        Err(argument(format!("{} PIRs are too many: {VM_PMU_MOST_THREADS} threads are the most", given.pir_count)))
    })
}

/// Destroys a platform. Null is allowed and does nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a platform is one that vm_pmu_platform_create() made and that has not been
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_platform_destroy(platform: *mut VmPmuPlatform) -> VmPmuStatus {
    guarded(|| handle::destroy(platform))
}

/// The platform at `pointer`.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn platform<'a>(pointer: *const VmPmuPlatform) -> Result<&'a Platform, Failure> {
    // SAFETY: the caller's promise.
    Ok(&unsafe { borrow(pointer, "the platform") }?.platform)
}

/// The chip of this number.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn chip<'a>(pointer: *const VmPmuPlatform, id: u32) -> Result<&'a Chip, Failure> {
    // SAFETY: the caller's promise.
    let found = unsafe { platform(pointer) }?.chips().iter().find(|chip| chip.id() == id);
    found.ok_or_else(|| misuse(VmPmuStatus::ErrorRange, format!("there is no chip {id}: chips go by the numbers that they were made with")))
}

/// The event that is posted there.
fn event(offset: u32) -> Result<Event, Failure> {
    Event::at(offset).ok_or_else(|| {
        misuse(VmPmuStatus::ErrorRange, format!("no reported event is posted at {offset:#x}: vm_pmu_chip_event_named() knows the offsets"))
    })
}

/// Lets `cycles` of the nest go by on every chip, whose engines post to `memory` in their slots. What that did, all chips together, is told in
/// `passed`, which may be null.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_platform_advance(
    platform: *const VmPmuPlatform,
    cycles: u64,
    memory: *const VmPmuMemory,
    passed: *mut VmPmuPassed,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (platform, memory) = (self::platform(platform)?, self::memory(memory)?);
            fillable(passed)?;
            tell(passed, &platform.advance(cycles, &memory))
        }
    })
}

/// On every chip, runs the slots after which an operating system finds the engine paused: for a guest that starts after host firmware.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_platform_boot(
    platform: *const VmPmuPlatform,
    memory: *const VmPmuMemory,
    passed: *mut VmPmuPassed,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (platform, memory) = (self::platform(platform)?, self::memory(memory)?);
            fillable(passed)?;
            tell(passed, &platform.boot(&memory))
        }
    })
}

/// Answers a call of the guest to host firmware: OPAL_IMC_COUNTERS_INIT (149), START (150) or STOP (151), with its first three arguments.
/// The value for the guest's register, such as 0 for OPAL_SUCCESS, is written to `result`.
///
/// Calls about cores go to those of `machine`, whose threads are those of the PIRs in their order; without a machine (null) they succeed
/// and do nothing. VM_PMU_STATUS_FAULT_UNCLAIMED for every other number: the call belongs to another component.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_platform_call(
    platform: *const VmPmuPlatform,
    machine: *const VmPmuMachine,
    memory: *const VmPmuMemory,
    number: u64,
    first: u64,
    second: u64,
    third: u64,
    result: *mut i64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (platform, memory) = (self::platform(platform)?, self::memory(memory)?);
            writable(result, "where the result is to be written")?;
            let arguments = [first, second, third];
            let outcome = if machine.is_null() {
                platform.call(number, arguments, &memory)
            } else {
                platform.call_with(&self::machine(machine)?.machine, number, arguments, &memory)
            };
            let outcome = outcome.ok_or(Failure::Fault(vm_pmu::Fault::Unclaimed))?;
            put(result, outcome.value(), "where the result is to be written")
        }
    })
}

/// Writes to `offset` where the counter of the event of this name is posted, in bytes from the start of a chip's region, such as
/// "PM_PB_CYC" or "PM_MCS01_64B_RD_DISP_PORT01": for vm_pmu_chip_add(). Clocks and counts of updates are not such events.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_event_named(name: *const c_char, offset: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "the event's name") }?;
        let found = Event::named(name);
        let found =
            found.ok_or_else(|| misuse(VmPmuStatus::ErrorName, format!("the nest of power9 has no event \"{name}\" to be reported")))?;
        // SAFETY: the caller's promise.
        unsafe { put(offset, found.offset(), "where the offset is to be written") }
    })
}

/// The event that is posted at `offset` occurred `amount` times on chip `chip`. It takes no lock: any host thread may call it at any time.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_add(platform: *const VmPmuPlatform, chip: u32, offset: u32, amount: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::chip(platform, chip) }?.add(event(offset)?, amount);
        Ok(())
    })
}

/// Posts to `memory` everything that chip `chip` has counted, if its engine runs: for an embedder that posts when the guest reads. Fills
/// `passed`, which may be null, with the result.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_post(
    platform: *const VmPmuPlatform,
    chip: u32,
    memory: *const VmPmuMemory,
    passed: *mut VmPmuPassed,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (chip, memory) = (self::chip(platform, chip)?, self::memory(memory)?);
            fillable(passed)?;
            tell(passed, &chip.post_now(&memory))
        }
    })
}

/// Writes to `cycles` how many cycles of the nest there are to the next slot of chip `chip`.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_until_slot(platform: *const VmPmuPlatform, chip: u32, cycles: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(cycles, self::chip(platform, chip)?.until_slot(), "where the cycles are to be written") }
    })
}

/// Writes to `running` whether the engine of chip `chip` posts.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_running(platform: *const VmPmuPlatform, chip: u32, running: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(running, self::chip(platform, chip)?.is_running(), "where the answer is to be written") }
    })
}

/// Writes to `value` the value of the register whose first counter is posted `offset` bytes from the start of the region of chip `chip`.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_register(platform: *const VmPmuPlatform, chip: u32, offset: u32, value: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let held = unsafe { self::chip(platform, chip) }?.register(offset);
        let held = held.ok_or_else(|| misuse(VmPmuStatus::ErrorRange, format!("no register's first counter is posted at {offset:#x}")))?;
        // SAFETY: the caller's promise.
        unsafe { put(value, held, "where the value is to be written") }
    })
}

/// Writes to `address` and `bytes` the start and the length of the region that chip `chip` posts into. An operating system must not use it
/// as its own memory, so a device tree must reserve it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_region(platform: *const VmPmuPlatform, chip: u32, address: *mut u64, bytes: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let begins = self::chip(platform, chip)?.home().wrapping_add(REGION);
            writable(bytes, "where the length is to be written")?;
            put(address, begins, "where the address is to be written")?;
            put(bytes, REGION_SIZE, "where the length is to be written")
        }
    })
}

/// Brings chip `chip` to its state at power-on.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_reset(platform: *const VmPmuPlatform, chip: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::chip(platform, chip) }?.reset();
        Ok(())
    })
}

/// Saves everything that chip `chip` remembers: counters, engine, clocks, home, units, and totals. What it has posted is in the guest's
/// memory and saved with that. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_save(platform: *const VmPmuPlatform, chip: u32, snapshot: *mut *mut VmPmuSnapshot) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let chip = unsafe { self::chip(platform, chip) }?;
        writable(snapshot, "where the snapshot is to be written")?;
        let saved = chip.save().map_err(refused)?;
        // SAFETY: the caller's promise.
        unsafe { put(snapshot, VmPmuSnapshot::handed_out(saved), "where the snapshot is to be written") }
    })
}

/// Makes chip `chip` remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a chip of the same number.
/// VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged or of something else: then nothing is changed.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_chip_load(platform: *const VmPmuPlatform, chip: u32, bytes: *const u8, length: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (chip, bytes) = unsafe { (self::chip(platform, chip)?, list(bytes, length, "the snapshot")?) };
        chip.load(bytes).map_err(refused)
    })
}
