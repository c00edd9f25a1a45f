//! The boxes that all threads share: Knights Landing's untile.

use std::ffi::c_char;

use vm_pmu::topology::Untile;
use vm_pmu::untile::{Domain, FilterState, Kind, Lookup, Source, Stage, Transaction, UnitId};

use crate::machine::{Callbacks, VmPmuMachine, machine};
use crate::pointer::{Growing, offer, put, take, text, writable};
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};
use crate::vocabulary::pick;

/// A clock of the untile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuClock {
    /// UCLK, the untile's.
    Uclk = 0,
    /// ECLK, MCDRAM's.
    Eclk = 1,
    /// DCLK, the DDR memory's.
    Dclk = 2,
    /// All three in step, for an embedder whose clocks run equally fast.
    All = 3,
}

/// The untile of the machine.
///
/// # Safety
/// The rules for pointers hold.
pub(crate) unsafe fn untile<'a>(pointer: *const VmPmuMachine) -> Result<Untile<'a, Callbacks>, Failure> {
    // SAFETY: the caller's promise.
    let machine = &unsafe { machine(pointer) }?.machine;
    let found = machine.untile();
    found.ok_or_else(|| misuse(VmPmuStatus::ErrorUnsupported, format!("{} has no boxes: Knights Landing (knl) has", machine.part().name())))
}

/// The box of this number.
pub(crate) fn unit(number: u32) -> Result<UnitId, Failure> {
    let found = usize::try_from(number).ok().and_then(|number| UnitId::all().nth(number));
    found
        .ok_or_else(|| misuse(VmPmuStatus::ErrorRange, format!("there is no box {number}: there are {}, from 0 on", UnitId::all().count())))
}

/// The CHA of this number.
pub(crate) fn cha(number: u32) -> Result<u8, Failure> {
    let found = u8::try_from(number).ok().filter(|cha| UnitId::new(Kind::Cha, *cha).is_some());
    found.ok_or_else(|| misuse(VmPmuStatus::ErrorRange, format!("there is no CHA {number}: there are {}", Kind::Cha.count())))
}

/// Writes to `number` the number of the box of this name: its unit and its number there, such as "cha12", "mc-dclk5", "ubox". The boxes of
/// a unit have consecutive numbers.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_named(name: *const c_char, number: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "the box's name") }?;
        let found = UnitId::named(name);
        let found = found.ok_or_else(|| misuse(VmPmuStatus::ErrorName, format!("there is no box \"{name}\"; one is \"cha0\"")))?;
        // SAFETY: the caller's promise.
        unsafe { put(number, u32::try_from(found.index()).unwrap_or(u32::MAX), "where the number is to be written") }
    })
}

/// Writes to `listens` whether any counter of box `number` listens to its events (vm_pmu_box_inject()): while none does, they need not be
/// reported. Levels of queues, and requests that enter or leave a table, must always be reported.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_listens(machine: *const VmPmuMachine, number: u32, listens: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(listens, untile(machine)?.listens(unit(number)?), "where the answer is to be written") }
    })
}

/// Event `select` with sub-event `umask` occurs in box `number`, `each` times in every one of the next `clocks` clocks. Writes to `taken`,
/// which may be null, whether a counter counts it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_inject(
    machine: *const VmPmuMachine,
    number: u32,
    select: u8,
    umask: u8,
    each: u64,
    clocks: u64,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let took = untile(machine)?.inject(unit(number)?, select, umask, each, clocks);
            offer(taken, took, "where the answer is to be written")
        }
    })
}

/// The queue of event `select` and sub-event `umask` of box `number` has `change` entries more than before; a state (of cycles) that begins
/// or ends is one more or less. Always report it: a counter that starts later counts the entries that are there. Writes to `taken`, which
/// may be null, whether a counter follows it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_queue(
    machine: *const VmPmuMachine,
    number: u32,
    select: u8,
    umask: u8,
    change: i64,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let took = untile(machine)?.change_queue(unit(number)?, select, umask, change);
            offer(taken, took, "where the answer is to be written")
        }
    })
}

/// The queue of event `select` and sub-event `umask` of box `number` has `level` entries, whatever was reported before. Writes to `taken`,
/// which may be null, whether a counter follows it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_set_queue(
    machine: *const VmPmuMachine,
    number: u32,
    select: u8,
    umask: u8,
    level: u64,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let took = untile(machine)?.set_queue(unit(number)?, select, umask, level);
            offer(taken, took, "where the answer is to be written")
        }
    })
}

/// In VmPmuTransaction::flags: a cache answered it, not memory.
pub const VM_PMU_TRANSACTION_HIT: u32 = 1 << 0;
/// In VmPmuTransaction::flags: it belongs to another node; the part has only one.
pub const VM_PMU_TRANSACTION_REMOTE: u32 = 1 << 1;
/// In VmPmuTransaction::flags: it is for near memory, as distinguished by filter 1.
pub const VM_PMU_TRANSACTION_NEAR_MEMORY: u32 = 1 << 2;
/// In VmPmuTransaction::flags: it is not coherent.
pub const VM_PMU_TRANSACTION_NON_COHERENT: u32 = 1 << 3;
/// In VmPmuTransaction::flags: it is isochronous.
pub const VM_PMU_TRANSACTION_ISOCHRONOUS: u32 = 1 << 4;

/// One request at a caching and home agent (CHA).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuTransaction {
    /// sizeof(VmPmuTransaction).
    pub size: usize,
    /// With stage 2, after how many clocks it leaves the table of requests.
    pub clocks: u64,
    /// VM_PMU_TRANSACTION_...
    pub flags: u32,
    /// Its opcode, 10 bits.
    pub opcode: u16,
    /// The queue that it came through: 0 IRQ (a tile), 1 an eviction from the snoop filter, 2 PRQ (a device), 3 IPQ (a snoop).
    pub source: u8,
    /// Its lookup in the snoop filter: 0 data to read, 1 to write, 2 a snoop from outside, 3 something else.
    pub lookup: u8,
    /// The state of the line in the snoop filter: 0 invalid, 1 shared, 2 exclusive, 3 modified.
    pub state: u8,
    /// The tile that made it, 0 to 37.
    pub tile: u8,
    /// The thread of the tile that made it, 0 to 7.
    pub thread: u8,
    /// Its stage: 0 it enters the table of requests, 1 it leaves the table, 2 it enters and leaves after `clocks`, for an embedder that
    /// does not follow it.
    pub stage: u8,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuTransaction {
    const NAME: &'static str = "VmPmuTransaction";
    const FIRST: usize = std::mem::offset_of!(VmPmuTransaction, stage) + 1;
}

const FLAGS: u32 = (1 << 5) - 1;

fn transaction(given: &VmPmuTransaction) -> Result<(Transaction, Stage), Failure> {
    let has = |flag: u32| given.flags & flag != 0;
    if given.flags & !FLAGS != 0 {
        return Err(argument(format!("the transaction has flags {:#x} that this library does not know", given.flags & !FLAGS)));
    }
    let stages = [Stage::Enters, Stage::Leaves, Stage::Served { clocks: given.clocks }];
    let transaction = Transaction {
        source: pick(&Source::ALL, given.source, "source")?,
        hit: has(VM_PMU_TRANSACTION_HIT),
        lookup: pick(&Lookup::ALL, given.lookup, "lookup")?,
        state: pick(&FilterState::ALL, given.state, "state")?,
        opcode: given.opcode,
        tile: given.tile,
        thread: given.thread,
        local: !has(VM_PMU_TRANSACTION_REMOTE),
        near_memory: has(VM_PMU_TRANSACTION_NEAR_MEMORY),
        non_coherent: has(VM_PMU_TRANSACTION_NON_COHERENT),
        isochronous: has(VM_PMU_TRANSACTION_ISOCHRONOUS),
    };
    Ok((transaction, pick(&stages, given.stage, "stage")?))
}

/// Reports a request at CHA `cha`. Always report that it enters and that it leaves. Writes to `taken`, which may be null, whether a counter
/// counts it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_transact(
    machine: *const VmPmuMachine,
    cha: u32,
    transaction: *const VmPmuTransaction,
    taken: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (untile, given) = unsafe { (untile(machine)?, take(transaction)?) };
        let number = self::cha(cha)?;
        let (request, stage) = self::transaction(&given)?;
        // SAFETY: the caller's promise.
        unsafe { offer(taken, untile.transact(number, &request, stage), "where the answer is to be written") }
    })
}

/// Writes to `clocks` how far `clock` (VmPmuClock, one of the three) has advanced.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_clocks(machine: *const VmPmuMachine, clock: u32, clocks: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let untile = unsafe { untile(machine) }?;
        let domain = usize::try_from(clock).ok().and_then(|clock| Domain::ALL.get(clock));
        let domain = domain.ok_or_else(|| argument(format!("there is no clock {clock}: there are 0 to {}", Domain::ALL.len() - 1)))?;
        // SAFETY: the caller's promise.
        unsafe { put(clocks, untile.clocks(*domain), "where the clocks are to be written") }
    })
}

/// So many cycles of the CPUs' clock went by: each of the three clocks ticks as often as the machine's frequencies say, exactly, however the
/// cycles are cut. Whatever overflows on the way does so at its own tick; interrupts are raised at the end of the cycle in which that is.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_boxes_advance(machine: *const VmPmuMachine, cycles: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { untile(machine) }?.advance(cycles);
        Ok(())
    })
}

/// Advances a clock (VmPmuClock) by `clocks`, for an embedder that keeps the clocks itself. Each overflow on the way comes at its own
/// clock: its interrupts are raised there, before the rest of the clocks.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_tick(machine: *const VmPmuMachine, clock: u32, clocks: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let untile = unsafe { untile(machine) }?;
        match usize::try_from(clock).ok().and_then(|clock| Domain::ALL.get(clock)) {
            Some(domain) => untile.tick(*domain, clocks),
            None if clock == VmPmuClock::All as u32 => untile.tick_all(clocks),
            None => return Err(argument(format!("there is no clock {clock}: VmPmuClock has 0 to {}", VmPmuClock::All as u32))),
        }
        Ok(())
    })
}

/// Writes to `counting` whether any counter of any box counts: while none does, clocks need not advance.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_boxes_count(machine: *const VmPmuMachine, counting: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { put(counting, untile(machine)?.is_counting(), "where the answer is to be written") }
    })
}

/// Brings every register of the boxes to its value after power-on.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_boxes_reset(machine: *const VmPmuMachine) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { untile(machine) }?.reset();
        Ok(())
    })
}

/// `address` in configuration space in the form of [`VmPmuSpace::Pci`](crate::registers::VmPmuSpace::Pci), but to the byte: bus, device,
/// function, offset. Accesses have 1, 2 or 4 bytes, and their offset is a multiple of that.
fn place(address: u32, bytes: u32) -> Result<(u8, u8, u8, u16, u8), Failure> {
    if address >= 1 << 28 {
        return Err(argument(format!("{address:#x} is no address of configuration space: those have 28 bits")));
    }
    if !matches!(bytes, 1 | 2 | 4) || !address.is_multiple_of(bytes) {
        return Err(argument(format!(
            "no bus makes an access of {bytes} bytes at {address:#x}: there are 1, 2 and 4, at multiples of that"
        )));
    }
    Ok(((address >> 20) as u8, (address >> 15) as u8 & 0x1F, (address >> 12) as u8 & 7, address as u16 & 0xFFF, bytes as u8))
}

/// A read of `bytes` bytes (1, 2 or 4) of PCI configuration space at `address`, numbered as VM_PMU_SPACE_PCI is, as on a bus: all ones
/// where no function of the PMU is.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_pci_read(machine: *const VmPmuMachine, address: u32, bytes: u32, value: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let untile = unsafe { untile(machine) }?;
        writable(value, "where the value is to be written")?;
        let (bus, device, function, offset, size) = place(address, bytes)?;
        // SAFETY: the caller's promise.
        unsafe { put(value, untile.pci_read(bus, device, function, offset, size), "where the value is to be written") }
    })
}

/// A write of `bytes` bytes (1, 2 or 4) of PCI configuration space at `address`, as on a bus: ignored where no function of the PMU is.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_pci_write(machine: *const VmPmuMachine, address: u32, bytes: u32, value: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let untile = unsafe { untile(machine) }?;
        let (bus, device, function, offset, size) = place(address, bytes)?;
        untile.pci_write(bus, device, function, offset, size, value);
        Ok(())
    })
}
