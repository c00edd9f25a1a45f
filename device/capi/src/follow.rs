//! Reports what a thread of the guest executes to the companion, and the companion's events to the thread's PMU.

use std::ffi::c_void;

use vm_pmu::Signal;
use vm_pmu::arch::feed::{DataSource, Fetch, Stage, Translation};
use vm_pmu::companion::{Access, Bundle, Instruction, Invalidation, Operation, Outcome, Transfer};

use crate::companion::{VmPmuCompanion, companion};
use crate::cpu::{VmPmuCpu, cpu, set};
use crate::demand::words;
use crate::instruction::{
    CLASSES, FLAGS, VM_PMU_INSTRUCTION_BUNDLE, VM_PMU_INSTRUCTION_FLOATING_POINT, VM_PMU_INSTRUCTION_FUNCTION_STATE,
    VM_PMU_INSTRUCTION_NEXT_PAGE, VM_PMU_INSTRUCTION_TAKEN, VM_PMU_MOST_ACCESSES, VmPmuAccess, VmPmuInstruction, access, operation,
};
use crate::machine::{VmPmuMachine, machine, signal, thread};
use crate::pointer::{borrow, list, offer, put, take, writable};
use crate::record::VM_PMU_STAGES;
use crate::records::records;
use crate::status::{Failure, VmPmuStatus, argument, guarded};
use crate::vocabulary::{BRANCHES, DATA, FABRIC_COMMANDS, FETCH_SOURCES, FLUSHES, PREDICTIONS, STORE_OUTCOMES, TRANSLATIONS, number, pick};

/// Thread `thread` of the guest executed `instruction`. While its follower is not active, nothing needs to be reported, and reports are
/// ignored. Call vm_pmu_follow_deliver() next.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow(companion: *const VmPmuCompanion, thread: u32, instruction: *const VmPmuInstruction) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::companion(companion) }?;
        let mut follower = whole.own_follower(thread)?;
        // SAFETY: the same.
        unsafe { converted(instruction, |executed| follower.execute(executed, &mut whole.tables(thread))) }
    })
}

/// Converts an instruction of the caller, for `work`.
///
/// # Safety
/// The rules for pointers hold.
#[inline(always)]
pub(crate) unsafe fn converted(instruction: *const VmPmuInstruction, work: impl FnOnce(&Instruction<'_>)) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let given = unsafe { take(instruction) }?;
    if given.access_count > VM_PMU_MOST_ACCESSES {
        return Err(argument(format!("{} accesses are too many: {VM_PMU_MOST_ACCESSES} are the most", given.access_count)));
    }
    let unknown = given.flags & !FLAGS;
    if unknown != 0 {
        return Err(argument(format!("the instruction has flags {unknown:#x} that this library does not know")));
    }
    // SAFETY: the caller's promise.
    let told = unsafe { list(given.accesses, given.access_count, "the list of accesses") }?;
    // SAFETY: the same promise.
    let operation = unsafe { operation(&given) }?;
    // Few have more than two, and making 64 takes a while.
    match told.len() {
        0..=2 => with_accesses(&given, told, &mut [Access::default(); 2], operation, work),
        _ => with_accesses(&given, told, &mut [Access::default(); VM_PMU_MOST_ACCESSES], operation, work),
    }
}

/// Converts the instruction, whose accesses are `told`; `accesses` has at least as many places.
#[inline(always)]
fn with_accesses(
    given: &VmPmuInstruction,
    told: &[VmPmuAccess],
    accesses: &mut [Access],
    operation: Option<Operation<'_>>,
    work: impl FnOnce(&Instruction<'_>),
) -> Result<(), Failure> {
    for (place, told) in accesses.iter_mut().zip(told) {
        *place = access(told)?;
    }
    let kind = pick(&BRANCHES, given.branch, "branch")?;
    work(&Instruction {
        address: given.address,
        physical: given.physical,
        length: given.bytes,
        next_page: (given.flags & VM_PMU_INSTRUCTION_NEXT_PAGE != 0).then_some(given.next_page),
        micro_ops: given.micro_ops.max(1),
        class: pick(&CLASSES, given.instruction_class, "instruction_class")?,
        operation,
        floating_point: given.flags & VM_PMU_INSTRUCTION_FLOATING_POINT != 0,
        segment_loads: given.segment_loads,
        accesses: accesses.get(..told.len()).unwrap_or(accesses),
        transfer: kind.map(|kind| Transfer { kind, taken: given.flags & VM_PMU_INSTRUCTION_TAKEN != 0, target: given.target }),
        bundle: (given.flags & VM_PMU_INSTRUCTION_BUNDLE != 0).then(|| Bundle {
            words: given.bundle,
            slot: given.slot,
            function_state: (given.flags & VM_PMU_INSTRUCTION_FUNCTION_STATE != 0).then_some(given.function_state),
        }),
    });
    Ok(())
}

/// Sets in `holding`, VM_PMU_SIGNAL_WORDS words, the bits of the states that the companion supplies for thread `thread` and that hold right
/// now; the other bits stay. For vm_pmu_supply_levels(); the companion knows them while it keeps time.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_levels(companion: *const VmPmuCompanion, thread: u32, holding: *mut u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::companion(companion) }?;
        let follower = whole.follower(thread)?;
        let words = words(&Signal::all().filter(|signal| follower.holds(*signal) == Some(true)).collect());
        let what = "where the states that hold are to be written";
        for (number, word) in words.into_iter().enumerate() {
            // SAFETY: the caller's promise: so many words.
            unsafe {
                let place = holding.wrapping_add(number);
                let before = *borrow(place, what)?;
                put(place, before | word, what)?;
            }
        }
        Ok(())
    })
}

/// In VmPmuOutcome::flags: the fetch fields describe a miss of the instruction's fetch.
pub const VM_PMU_OUTCOME_FETCH: u32 = 1 << 0;
/// In VmPmuOutcome::flags: its first-level instruction cache missed.
pub const VM_PMU_OUTCOME_FETCH_MISS: u32 = 1 << 1;
/// In VmPmuOutcome::flags: its line was on its way already.
pub const VM_PMU_OUTCOME_FETCH_PENDING: u32 = 1 << 2;
/// In VmPmuOutcome::flags: it was a prefetch, not a demand fetch.
pub const VM_PMU_OUTCOME_FETCH_PREFETCH: u32 = 1 << 3;
/// In VmPmuOutcome::flags: the companion keeps time, and `cycles` is known.
pub const VM_PMU_OUTCOME_CYCLES: u32 = 1 << 4;
/// In VmPmuOutcome::flags: `walk_source` is known.
pub const VM_PMU_OUTCOME_WALK_SOURCE: u32 = 1 << 5;
/// In VmPmuOutcome::flags: `reload_source` is known.
pub const VM_PMU_OUTCOME_RELOAD_SOURCE: u32 = 1 << 6;
/// In VmPmuOutcome::flags: a cache that had the line in state T gave it, for VM_PMU_RECORD_TAGGED_INTERVENTION.
pub const VM_PMU_OUTCOME_TAGGED_INTERVENTION: u32 = 1 << 7;

/// The outcome of the last instruction: the fields of a VmPmuRecord other than addresses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuOutcome {
    /// sizeof(VmPmuOutcome) of the library: fields beyond it do not exist.
    pub size: usize,
    /// The address that was fetched, with VM_PMU_OUTCOME_FETCH.
    pub fetch_address: u64,
    /// VM_PMU_OUTCOME_...
    pub flags: u32,
    /// From issue to data, in cycles: the longest of its accesses.
    pub latency: u32,
    /// From the fetch's request to the instructions, in cycles.
    pub fetch_latency: u32,
    /// Its cycles, with VM_PMU_OUTCOME_CYCLES.
    pub cycles: u32,
    /// VmPmuPrediction.
    pub prediction: u8,
    /// VmPmuData: where the data of the longest access came from.
    pub data: u8,
    /// With VM_PMU_DATA_CACHE the level of the cache.
    pub data_level: u8,
    /// VmPmuTranslation of its first access.
    pub translation: u8,
    /// VmPmuTranslation of its fetch.
    pub fetch_translation: u8,
    /// VmPmuFetchSource: where its code came from.
    pub fetch_source: u8,
    /// With VM_PMU_OUTCOME_WALK_SOURCE the code that POWER9 has for where the last page-table entry of its first access was read.
    pub walk_source: u8,
    /// The binary logarithm of the size of that access's page in bytes, if the first level of the translation buffers did not have it;
    /// else 0.
    pub page_bits: u8,
    /// Cycles after its issue in which it was the oldest that had not finished, with `stages`.
    pub stall: u32,
    /// VM_PMU_TRAIT_...: further properties that the pipeline finds, with `stages`.
    pub traits: u32,
    /// When it reached each stage, in cycles from its decoding on.
    pub stage_cycles: [u32; VM_PMU_STAGES],
    /// The stages that it reaches, one bit each, those after its dispatch included. 0 unless the part is POWER9, the companion keeps time and
    /// the demand asks for records.
    pub stages: u16,
    /// The reason of its stall (POWER9: SIER.FIN_STALL_REASON), with `stages`.
    pub stall_reason: u8,
    /// VmPmuStoreOutcome of its store.
    pub store_outcome: u8,
    /// VmPmuFabricCommand: what the cluster asked the other caches and memory for, for the longest access.
    pub fabric_command: u8,
    /// With VM_PMU_OUTCOME_RELOAD_SOURCE the code that POWER9 has for where the data of the longest access came from.
    pub reload_source: u8,
    /// How far that command went and had to go, where the part predicts it: POWER9's SIER.EXT, 0 if nobody else was asked.
    pub fabric_scope: u8,
    /// How often it was repeated, each time farther.
    pub fabric_retries: u8,
    /// VmPmuFlush: why its first attempt was flushed, with `stages`.
    pub flush: u8,
}

fn translation(value: Translation) -> u8 {
    // The interface has two levels of buffers, as no part has more.
    number(&TRANSLATIONS, &if matches!(value, Translation::Hit(3..)) { Translation::Hit(2) } else { value })
}

fn told(outcome: &Outcome) -> VmPmuOutcome {
    let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
    let nothing = Fetch { address: 0, cache_miss: false, pending: false, prefetch: false, latency: 0, translation: Translation::Unknown };
    let fetch = outcome.fetch.unwrap_or(nothing);
    let (data, data_level) = match outcome.source {
        DataSource::Cache(level) => (number(&DATA, &DataSource::Cache(1)), level),
        other => (number(&DATA, &other), 0),
    };
    let (walk_source, reload_source) = (outcome.walk_code(), outcome.reload_code());
    VmPmuOutcome {
        size: size_of::<VmPmuOutcome>(),
        fetch_address: fetch.address,
        flags: flag(outcome.fetch.is_some(), VM_PMU_OUTCOME_FETCH)
            | flag(fetch.cache_miss, VM_PMU_OUTCOME_FETCH_MISS)
            | flag(fetch.pending, VM_PMU_OUTCOME_FETCH_PENDING)
            | flag(fetch.prefetch, VM_PMU_OUTCOME_FETCH_PREFETCH)
            | flag(outcome.cycles.is_some(), VM_PMU_OUTCOME_CYCLES)
            | flag(walk_source.is_some(), VM_PMU_OUTCOME_WALK_SOURCE)
            | flag(reload_source.is_some(), VM_PMU_OUTCOME_RELOAD_SOURCE)
            | flag(outcome.tagged_intervention(), VM_PMU_OUTCOME_TAGGED_INTERVENTION),
        latency: outcome.latency,
        fetch_latency: fetch.latency,
        cycles: outcome.cycles.unwrap_or(0),
        prediction: number(&PREDICTIONS, &outcome.prediction),
        data,
        data_level,
        translation: translation(outcome.translation),
        fetch_translation: translation(fetch.translation),
        fetch_source: number(&FETCH_SOURCES, &outcome.fetch_source),
        walk_source: walk_source.unwrap_or(0),
        page_bits: outcome.page_bits,
        stall: outcome.stall,
        traits: outcome.traits.bits(),
        stage_cycles: Stage::ALL.map(|stage| outcome.stages.and_then(|stages| stages.at(stage)).unwrap_or(0)),
        stages: Stage::ALL
            .into_iter()
            .fold(0, |reached, stage| reached | u16::from(outcome.stages.is_some_and(|stages| stages.at(stage).is_some())) << stage as u16),
        stall_reason: outcome.stall_reason,
        store_outcome: number(&STORE_OUTCOMES, &outcome.store_outcome),
        fabric_command: number(&FABRIC_COMMANDS, &outcome.command),
        reload_source: reload_source.unwrap_or(0),
        fabric_scope: outcome.scope,
        fabric_retries: outcome.retries,
        flush: number(&FLUSHES, &outcome.flush),
    }
}

/// The most states that can hold in a delivery.
pub const VM_PMU_MOST_HELD: usize = 48;

/// Adds the events of the follower of thread `thread` since the last call to the thread's totals in `machine`, servicing the PMU at each
/// deadline on the way. Writes to `cycles`, which may be null, how many cycles elapsed: 0 unless the companion keeps time.
///
/// `events` is called once, after the companion's events have been added, with the outcome of the last instruction. There an embedder adds
/// the events that it knows itself, reports the instruction's record where one is wanted, and compares the deadlines of its own events, in
/// this order. While vm_pmu_follow_requests() finds requests it leaves out the last: every deadline is compared after they have been
/// reported. It may be null. It is called while the follower is in use: it may call every function except those that follow the same thread, and except
/// those that destroy the companion or the machine. It must return: no C++ exception and no longjmp may leave it. `held` are `held_count` signals of states that hold in all of these cycles, such as masked interrupts; VM_PMU_MOST_HELD at most.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_deliver(
    companion: *const VmPmuCompanion,
    machine: *const VmPmuMachine,
    thread: u32,
    held: *const u32,
    held_count: usize,
    events: Option<unsafe extern "C" fn(user: *mut c_void, outcome: *const VmPmuOutcome)>,
    user: *mut c_void,
    cycles: *mut u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (whole, cpu) = unsafe { (self::companion(companion)?, self::thread(machine, thread)?) };
        // SAFETY: the same.
        whole.follows(&unsafe { self::machine(machine) }?.machine)?;
        if held_count > VM_PMU_MOST_HELD {
            return Err(argument(format!("{held_count} states are too many: {VM_PMU_MOST_HELD} are the most")));
        }
        let mut states = [Signal::Cycles; VM_PMU_MOST_HELD];
        // SAFETY: the caller's promise.
        let numbers = unsafe { list(held, held_count, "the list of states") }?;
        for (state, held) in states.iter_mut().zip(numbers) {
            *state = signal(*held)?;
        }
        if !cycles.is_null() {
            writable(cycles, "where the cycles are to be written")?;
        }
        let passed = whole.own_follower(thread)?.deliver(&cpu, states.get(..numbers.len()).unwrap_or(&[]), |outcome| {
            if let Some(events) = events {
                let outcome = told(outcome);
                // SAFETY: the embedder gave the function for this, and its pointer with it.
                unsafe { events(user, &raw const outcome) };
            }
        });
        // SAFETY: the caller's promise.
        unsafe { offer(cycles, passed, "where the cycles are to be written") }
    })
}

/// The follower of thread `thread` reads what `machine` counts now. Call it at the beginning and whenever vm_pmu_epoch() has changed, with
/// everything delivered. Writes to `active`, which may be null, whether instructions need to be reported.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_sync(
    companion: *const VmPmuCompanion,
    machine: *const VmPmuMachine,
    thread: u32,
    active: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (whole, cpu) = unsafe { (self::companion(companion)?, self::thread(machine, thread)?) };
        // SAFETY: the same.
        whole.follows(&unsafe { self::machine(machine) }?.machine)?;
        let mut follower = whole.own_follower(thread)?;
        if !active.is_null() {
            writable(active, "where the answer is to be written")?;
        }
        follower.sync(&whole.wanted(thread, cpu.demand()));
        // SAFETY: the caller's promise.
        unsafe { offer(active, follower.is_active(), "where the answer is to be written") }
    })
}

/// Writes to `stale` whether vm_pmu_companion_watch_places() or vm_pmu_traffic_sync() has changed, since the last vm_pmu_follow_sync(),
/// whether places are watched: the next vm_pmu_follow_sync() of thread `thread` takes that into account.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_is_stale(companion: *const VmPmuCompanion, thread: u32, stale: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let answer = unsafe { self::companion(companion) }?.follower(thread)?.is_stale();
        // SAFETY: the caller's promise.
        unsafe { put(stale, answer, "where the answer is to be written") }
    })
}

/// Thread `thread` is halted, or runs again. The threads of a core compete where the companion has a model of that: a thread that runs has its
/// share of what they have in common, whether it is followed or not. At first no thread runs; one that is followed does from its first
/// vm_pmu_follow() on. So call it when the thread halts, and when it goes on.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_set_halted(companion: *const VmPmuCompanion, thread: u32, halted: bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.follower(thread)?.set_halted(halted);
        Ok(())
    })
}

/// Writes to `supplies` whether the follower of thread `thread` supplies signal `signal` at the moment: then the embedder must not add it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_supplies(
    companion: *const VmPmuCompanion,
    thread: u32,
    signal: u32,
    supplies: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let whole = unsafe { self::companion(companion) }?;
        let answer = whole.follower(thread)?.supplies(self::signal(signal)?);
        // SAFETY: the caller's promise.
        unsafe { put(supplies, answer, "where the answer is to be written") }
    })
}

/// Which translations a processor forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuForgotten {
    /// All of the core.
    All = 0,
    /// All except those of global pages.
    NonGlobal = 1,
    /// The translation of the page with the given address.
    Page = 2,
    /// The host's translation of the page with the given guest real address, and all that was derived from those of the host.
    HostPage = 3,
}

/// Thread `thread` forgets translations: `what` is a VmPmuForgotten, and `address` the virtual address of VM_PMU_FORGOTTEN_PAGE
/// or the guest real address of VM_PMU_FORGOTTEN_HOST_PAGE.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_follow_invalidate(companion: *const VmPmuCompanion, thread: u32, what: u32, address: u64) -> VmPmuStatus {
    guarded(|| {
        let what = invalidation(what, address)?;
        // SAFETY: the caller's promise.
        unsafe { self::companion(companion) }?.follower(thread)?.invalidate(what);
        Ok(())
    })
}

/// Converts a VmPmuForgotten of the caller.
pub(crate) fn invalidation(what: u32, address: u64) -> Result<Invalidation, Failure> {
    match what {
        0 => Ok(Invalidation::All),
        1 => Ok(Invalidation::NonGlobal),
        2 => Ok(Invalidation::Page(address)),
        3 => Ok(Invalidation::HostPage(address)),
        other => Err(argument(format!("{other} is nothing to forget: VmPmuForgotten has 0 to 3"))),
    }
}

/// The CPU executes `instruction`, which is reported to its companion: while vm_pmu_cpu_is_followed().
/// vm_pmu_cpu_retire() or vm_pmu_cpu_complete() comes next.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_execute(cpu: *mut VmPmuCpu, instruction: *const VmPmuInstruction) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let mut cpu = unsafe { self::cpu(cpu) }?;
        let (companion, thread) =
            cpu.companion().ok_or_else(|| argument("the CPU has no companion: VmPmuCpuOptions::companion gives it one"))?;
        // SAFETY: the caller's promise.
        unsafe { converted(instruction, |executed| cpu.execute(executed, &mut companion.tables(thread))) }
    })
}

/// The CPU forgets translations: `what` is a VmPmuForgotten, and `address` as in vm_pmu_follow_invalidate(). Without a companion this does
/// nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_invalidate(cpu: *mut VmPmuCpu, what: u32, address: u64) -> VmPmuStatus {
    guarded(|| {
        let what = invalidation(what, address)?;
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.invalidate(what);
        Ok(())
    })
}

/// Chooses what is worth following for, all of it at first: the companion follows while one of `signals`, VM_PMU_SIGNAL_WORDS words in the form
/// of VmPmuDemand::signals, or one of `records`, VM_PMU_RECORDS_..., is demanded, and then it makes the others too. For an emulator that executes
/// slowly while it is followed: it adds other signals itself as long as it is not, and reports records without the companion's part.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_follow_for(cpu: *mut VmPmuCpu, signals: *const u64, records: u32) -> VmPmuStatus {
    guarded(|| {
        let records = self::records(records)?;
        // SAFETY: the caller's promise.
        let (mut cpu, signals) = unsafe { (self::cpu(cpu)?, set(signals)?) };
        cpu.follow_for(signals, records);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use vm_pmu::arch::feed::{FabricCommand, Stages};

    use super::*;

    #[test]
    fn an_outcome_is_told_in_the_numbers_of_records() {
        let mut outcome = Outcome::default();
        (outcome.source, outcome.translation, outcome.cycles) = (DataSource::Cache(3), Translation::Hit(4), Some(7));
        let told = told(&outcome);
        assert_eq!((told.data, told.data_level, told.translation), (2, 3, 2));
        assert_eq!((told.flags, told.cycles), (VM_PMU_OUTCOME_CYCLES | VM_PMU_OUTCOME_RELOAD_SOURCE, 7));
        // Table A-6 of POWER9's guide: the own third level, without a conflict.
        assert_eq!(told.reload_source, 0x04);
    }

    #[test]
    fn the_stages_of_an_outcome_are_told_as_those_of_a_record() {
        let mut outcome = Outcome::default();
        outcome.stages = Some(Stages::NONE.with(Stage::Issued, 1).with(Stage::Completed, 343));
        (outcome.stall, outcome.stall_reason, outcome.command) = (340, 4, FabricCommand::ReadToModify);
        (outcome.scope, outcome.retries) = (6, 2);
        let told = told(&outcome);
        let (issued, completed) = (Stage::Issued as usize, Stage::Completed as usize);
        assert_eq!(told.stages, 1 << issued | 1 << completed);
        assert_eq!((told.stage_cycles.get(issued), told.stage_cycles.get(completed)), (Some(&1), Some(&343)));
        assert_eq!((told.stall, told.stall_reason, told.fabric_command), (340, 4, number(&FABRIC_COMMANDS, &FabricCommand::ReadToModify)));
        assert_eq!((told.fabric_scope, told.fabric_retries), (6, 2));
        assert_eq!(super::told(&Outcome::default()).stages, 0);
    }
}
