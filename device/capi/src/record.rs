//! Single instructions and requests, where the demand asks for them.

use vm_pmu::Record;
use vm_pmu::arch::feed::{Branch, DataSource, Fabric, Fetch, LineStates, Memory, Request, Sample, Stage, Stages, Traits};

use crate::machine::{VmPmuMachine, thread};
use crate::pointer::{Growing, take};
use crate::status::{Failure, VmPmuStatus, argument, guarded};
use crate::vocabulary::{
    BRANCHES, DATA, FABRIC_COMMANDS, FETCH_SOURCES, FLUSHES, PREDICTIONS, REQUEST_KINDS, SNOOPS, STORE_OUTCOMES, SUPPLIERS, TRANSLATIONS,
    UNITS, pick,
};

/// In VmPmuRecord::flags: the branch was taken.
pub const VM_PMU_RECORD_TAKEN: u32 = 1 << 0;
/// In VmPmuRecord::flags: the instruction read memory.
pub const VM_PMU_RECORD_LOAD: u32 = 1 << 1;
/// In VmPmuRecord::flags: the instruction wrote memory.
pub const VM_PMU_RECORD_STORE: u32 = 1 << 2;
/// In VmPmuRecord::flags: the fetch fields describe a miss of the instruction's fetch.
pub const VM_PMU_RECORD_FETCH: u32 = 1 << 3;
/// In VmPmuRecord::flags: its first-level instruction cache missed.
pub const VM_PMU_RECORD_FETCH_MISS: u32 = 1 << 4;
/// In VmPmuRecord::flags: its line was on its way already.
pub const VM_PMU_RECORD_FETCH_PENDING: u32 = 1 << 5;
/// In VmPmuRecord::flags: it was a prefetch, not a demand fetch; its address may be anywhere.
pub const VM_PMU_RECORD_FETCH_PREFETCH: u32 = 1 << 6;
/// In VmPmuRecord::flags: reload_source is known.
pub const VM_PMU_RECORD_RELOAD_SOURCE: u32 = 1 << 7;
/// In VmPmuRecord::flags: walk_source is known.
pub const VM_PMU_RECORD_WALK_SOURCE: u32 = 1 << 8;
/// In VmPmuRecord::flags: another cache that had the line in state T supplied it.
pub const VM_PMU_RECORD_TAGGED_INTERVENTION: u32 = 1 << 9;

const FLAGS: u32 = (1 << 10) - 1;

/// How many stages an instruction has: VmPmuStage.
pub const VM_PMU_STAGES: usize = 12;

const _: () = assert!(Stage::ALL.len() == VM_PMU_STAGES);

/// One completed instruction. A field of zero is not known.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct VmPmuRecord {
    /// sizeof(VmPmuRecord).
    pub size: usize,
    /// The instruction's effective (virtual) address; on IA-64 that of its bundle.
    pub address: u64,
    /// Its encoding: up to eight bytes, 41 bits on IA-64, as a little-endian number.
    pub encoding: u64,
    /// Where its branch went, or would have gone.
    pub branch_target: u64,
    /// The effective (virtual) address of its access to memory, with VM_PMU_RECORD_LOAD or VM_PMU_RECORD_STORE.
    pub memory_address: u64,
    /// The effective (virtual) address that was fetched, with VM_PMU_RECORD_FETCH.
    pub fetch_address: u64,
    /// The real address of its data.
    pub real_address: u64,
    /// VM_PMU_RECORD_...
    pub flags: u32,
    /// VM_PMU_TRAIT_...: its other properties and events.
    pub traits: u32,
    /// The cycles from the completion of the instruction before it to its own: 1 if they are not counted.
    pub cycles: u32,
    /// From issue to data, in cycles of the thread's clock; 0 if not known.
    pub memory_latency: u32,
    /// From the fetch's request to the instructions, in cycles of the thread's clock; 0 if not known.
    pub fetch_latency: u32,
    /// Cycles in which it was next to complete but stalled.
    pub stall: u32,
    /// When it reached each stage, in cycles of its thread since it was marked.
    pub stage_cycles: [u32; VM_PMU_STAGES],
    /// The stages that it reached, one bit each; 0 without a pipeline model.
    pub stages: u16,
    /// Its slot in the bundle on IA-64, else 0.
    pub slot: u8,
    /// VmPmuBranch: its kind of control transfer.
    pub branch: u8,
    /// VmPmuPrediction.
    pub prediction: u8,
    /// The size of its access to memory in bytes.
    pub memory_size: u8,
    /// VmPmuData: where its data came from.
    pub data: u8,
    /// With VM_PMU_DATA_CACHE the cache's level, from 1.
    pub data_level: u8,
    /// VmPmuTranslation of its access to memory.
    pub memory_translation: u8,
    /// VmPmuTranslation of its fetch.
    pub fetch_translation: u8,
    /// VmPmuUnit: the unit that executed it.
    pub unit: u8,
    /// VmPmuFetchSource: where it was fetched from.
    pub fetch_source: u8,
    /// The processor's own code of what reloaded the data cache (POWER9: 5 bits), with VM_PMU_RECORD_RELOAD_SOURCE.
    pub reload_source: u8,
    /// The same code for the page-table entry that was loaded, with VM_PMU_RECORD_WALK_SOURCE.
    pub walk_source: u8,
    /// VmPmuStoreOutcome of a store.
    pub store_outcome: u8,
    /// The binary logarithm of the page's size in bytes; 0 if not known.
    pub page_bits: u8,
    /// 4 bits: the reason of its stall (POWER9: SIER.FIN_STALL_REASON).
    pub stall_reason: u8,
    /// VM_PMU_LINE_STATE_...: the states that the lines of the last-level cache had before it.
    pub line_states: u8,
    /// VmPmuFabricCommand: its command to the fabric.
    pub fabric_command: u8,
    /// How often the fabric answered with a retry.
    pub fabric_retries: u8,
    /// 3 bits: the scope, as the processor's manual encodes it (POWER9: Table A-7).
    pub fabric_scope: u8,
    /// 5 bits: the combined response.
    pub fabric_response: u8,
    /// 3 bits: the type of the transaction.
    pub fabric_transaction: u8,
    /// 2 bits: how busy the local memory was.
    pub fabric_memory_busy: u8,
    /// VmPmuFlush: why its first attempt was flushed.
    pub flush: u8,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuRecord {
    const NAME: &'static str = "VmPmuRecord";
    const FIRST: usize = std::mem::offset_of!(VmPmuRecord, fabric_memory_busy) + 1;
}

/// Converts a record of the caller.
pub(crate) fn record(given: &VmPmuRecord) -> Result<Record, Failure> {
    let has = |flag: u32| given.flags & flag != 0;
    if given.flags & !FLAGS != 0 {
        return Err(argument(format!("the record has flags {:#x} that this library does not know", given.flags & !FLAGS)));
    }
    let branch = pick(&BRANCHES, given.branch, "branch")?;
    let prediction = pick(&PREDICTIONS, given.prediction, "prediction")?;
    let branch = branch.map(|kind| Branch { kind, taken: has(VM_PMU_RECORD_TAKEN), target: given.branch_target, prediction });
    let source = match pick(&DATA, given.data, "data")? {
        DataSource::Cache(_) => DataSource::Cache(given.data_level.max(1)),
        source => source,
    };
    let memory = Memory {
        address: given.memory_address,
        size: given.memory_size,
        load: has(VM_PMU_RECORD_LOAD),
        store: has(VM_PMU_RECORD_STORE),
        latency: given.memory_latency,
        source,
        translation: pick(&TRANSLATIONS, given.memory_translation, "memory_translation")?,
    };
    let fetch = Fetch {
        address: given.fetch_address,
        cache_miss: has(VM_PMU_RECORD_FETCH_MISS),
        pending: has(VM_PMU_RECORD_FETCH_PENDING),
        prefetch: has(VM_PMU_RECORD_FETCH_PREFETCH),
        latency: given.fetch_latency,
        translation: pick(&TRANSLATIONS, given.fetch_translation, "fetch_translation")?,
    };
    Ok(Record {
        address: given.address,
        slot: given.slot,
        encoding: given.encoding,
        cycles: given.cycles,
        branch,
        memory: (memory.load || memory.store).then_some(memory),
        fetch: has(VM_PMU_RECORD_FETCH).then_some(fetch),
        sample: sample(given)?,
    })
}

fn sample(given: &VmPmuRecord) -> Result<Sample, Failure> {
    let has = |flag: u32| given.flags & flag != 0;
    let unknown = |bits: u64, what: &str| argument(format!("the record has {what} {bits:#x} of which this library does not know all"));
    if u32::from(given.stages) >> VM_PMU_STAGES != 0 {
        return Err(unknown(given.stages.into(), "stages"));
    }
    let reached = Stage::ALL.into_iter().zip(given.stage_cycles).filter(|(stage, _)| given.stages >> *stage as u16 & 1 == 1);
    let stages = reached.fold(Stages::NONE, |stages, (stage, cycles)| stages.with(stage, cycles));
    Ok(Sample {
        unit: pick(&UNITS, given.unit, "unit")?,
        traits: Traits::from_bits(given.traits).ok_or_else(|| unknown(given.traits.into(), "traits"))?,
        fetch_source: pick(&FETCH_SOURCES, given.fetch_source, "fetch_source")?,
        reload_source: has(VM_PMU_RECORD_RELOAD_SOURCE).then_some(given.reload_source),
        walk_source: has(VM_PMU_RECORD_WALK_SOURCE).then_some(given.walk_source),
        store_outcome: pick(&STORE_OUTCOMES, given.store_outcome, "store_outcome")?,
        page_bits: given.page_bits,
        fabric: Fabric {
            command: pick(&FABRIC_COMMANDS, given.fabric_command, "fabric_command")?,
            retries: given.fabric_retries,
            tagged_intervention: has(VM_PMU_RECORD_TAGGED_INTERVENTION),
            scope: given.fabric_scope,
            response: given.fabric_response,
            transaction: given.fabric_transaction,
            memory_busy: given.fabric_memory_busy,
        },
        stages: (given.stages != 0).then_some(stages),
        stall: given.stall,
        stall_reason: given.stall_reason,
        real_address: given.real_address,
        line_states: LineStates::from_bits(given.line_states).ok_or_else(|| unknown(given.line_states.into(), "line states"))?,
        flush: pick(&FLUSHES, given.flush, "flush")?,
    })
}

/// Reports one instruction of thread `thread`, where VmPmuDemand::records asks for it: after its signals have been added and, if it reached
/// a deadline, before vm_pmu_service(). More records than are demanded do no harm.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_record(machine: *const VmPmuMachine, thread: u32, record: *const VmPmuRecord) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (thread, given) = unsafe { (self::thread(machine, thread)?, take(record)?) };
        thread.record(&self::record(&given)?);
        Ok(())
    })
}

/// One request that left a core's own caches.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuRequest {
    /// sizeof(VmPmuRequest).
    pub size: usize,
    /// The physical address of the line.
    pub physical: u64,
    /// From the request to the data, in cycles of the thread's clock; 0 if not known.
    pub latency: u32,
    /// VmPmuRequestKind: what it requested.
    pub kind: u8,
    /// VmPmuSupplier of the data.
    pub supplier: u8,
    /// VmPmuSnoop of other caches.
    pub snoop: u8,
    /// One more than the number of the cluster (on Knights Landing: tile) whose cache had the line, if it was another; 0 if not known.
    pub holder: u32,
    /// One more than the physical address of the line that a memory-side cache gave up for this one; 0 if there was none or it is not known.
    pub displaced: u64,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuRequest {
    const NAME: &'static str = "VmPmuRequest";
    const FIRST: usize = std::mem::offset_of!(VmPmuRequest, snoop) + 1;
}

/// Converts a request of the caller.
pub(crate) fn request(given: &VmPmuRequest) -> Result<Request, Failure> {
    Ok(Request {
        kind: pick(&REQUEST_KINDS, given.kind, "kind")?,
        supplier: pick(&SUPPLIERS, given.supplier, "supplier")?,
        snoop: pick(&SNOOPS, given.snoop, "snoop")?,
        latency: given.latency,
        physical: given.physical,
        holder: given.holder.checked_sub(1).and_then(|holder| u16::try_from(holder).ok()),
        displaced: given.displaced.checked_sub(1),
    })
}

/// Reports a request of thread `thread`, where VmPmuDemand::records has VM_PMU_RECORDS_REQUESTS: after the signals of the instruction that
/// made it have been added.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_request(machine: *const VmPmuMachine, thread: u32, request: *const VmPmuRequest) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (thread, given) = unsafe { (self::thread(machine, thread)?, take(request)?) };
        thread.request(&self::request(&given)?);
        Ok(())
    })
}
