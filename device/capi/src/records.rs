//! The kinds of records.

use vm_pmu::Records;

use crate::status::{Failure, argument};

/// In VmPmuDemand::records: a record is wanted of the instruction at which a deadline is reached.
pub const VM_PMU_RECORDS_AT_DEADLINE: u32 = 1 << 0;
/// In VmPmuDemand::records: of every taken branch.
pub const VM_PMU_RECORDS_TAKEN_BRANCHES: u32 = 1 << 1;
/// In VmPmuDemand::records: of every control transfer, taken or not.
pub const VM_PMU_RECORDS_BRANCHES: u32 = 1 << 2;
/// In VmPmuDemand::records: of every access to memory.
pub const VM_PMU_RECORDS_MEMORY: u32 = 1 << 3;
/// In VmPmuDemand::records: of every instruction whose fetch missed a cache or a translation buffer.
pub const VM_PMU_RECORDS_FETCHES: u32 = 1 << 4;
/// In VmPmuDemand::records: of every instruction.
pub const VM_PMU_RECORDS_EVERY: u32 = 1 << 5;
/// In VmPmuDemand::records: every request that left a core's own caches is wanted, by vm_pmu_request().
pub const VM_PMU_RECORDS_REQUESTS: u32 = 1 << 6;
/// In VmPmuOptions::records, in addition to VM_PMU_RECORDS_AT_DEADLINE: the embedder reports records of the accesses whose addresses a
/// register keeps in continuous sampling (POWER9's SDAR), so that deadlines may be set for each of them.
pub const VM_PMU_RECORDS_SAMPLED_ADDRESSES: u32 = 1 << 7;
/// In VmPmuDemand::records: the records at deadlines have the outcomes of the instructions that random sampling chooses (POWER9's SIER), as
/// far as known: the source of data, mispredictions, translations.
pub const VM_PMU_RECORDS_SAMPLED_OUTCOMES: u32 = 1 << 8;
/// In VmPmuDemand::records: what table walkers do for a guest under a host is wanted. A companion tells it whose page tables do.
pub const VM_PMU_RECORDS_NESTED: u32 = 1 << 9;
/// In VmPmuOptions::records, alone: the embedder never reports a record.
pub const VM_PMU_RECORDS_NEVER: u32 = 1 << 30;

pub(crate) fn bits(records: Records) -> u32 {
    let Records { at_deadline, taken_branches, branches, memory, fetches, every, requests, nested, sampled_addresses, sampled_outcomes } =
        records;
    let bit = |wanted: bool, bit: u32| if wanted { bit } else { 0 };
    bit(at_deadline, VM_PMU_RECORDS_AT_DEADLINE)
        | bit(taken_branches, VM_PMU_RECORDS_TAKEN_BRANCHES)
        | bit(branches, VM_PMU_RECORDS_BRANCHES)
        | bit(memory, VM_PMU_RECORDS_MEMORY)
        | bit(fetches, VM_PMU_RECORDS_FETCHES)
        | bit(every, VM_PMU_RECORDS_EVERY)
        | bit(requests, VM_PMU_RECORDS_REQUESTS)
        | bit(nested, VM_PMU_RECORDS_NESTED)
        | bit(sampled_addresses, VM_PMU_RECORDS_SAMPLED_ADDRESSES)
        | bit(sampled_outcomes, VM_PMU_RECORDS_SAMPLED_OUTCOMES)
}

/// The records that these bits name.
pub(crate) fn records(bits: u32) -> Result<Records, Failure> {
    let known = self::bits(Records::ALL);
    if bits & !known != 0 && bits != VM_PMU_RECORDS_NEVER {
        return Err(argument(format!("the records {bits:#x} are not all known: there are {known:#x}, or VM_PMU_RECORDS_NEVER alone")));
    }
    let has = |bit: u32| bits & bit != 0;
    Ok(Records {
        at_deadline: has(VM_PMU_RECORDS_AT_DEADLINE),
        taken_branches: has(VM_PMU_RECORDS_TAKEN_BRANCHES),
        branches: has(VM_PMU_RECORDS_BRANCHES),
        memory: has(VM_PMU_RECORDS_MEMORY),
        fetches: has(VM_PMU_RECORDS_FETCHES),
        every: has(VM_PMU_RECORDS_EVERY),
        requests: has(VM_PMU_RECORDS_REQUESTS),
        nested: has(VM_PMU_RECORDS_NESTED),
        sampled_addresses: has(VM_PMU_RECORDS_SAMPLED_ADDRESSES),
        sampled_outcomes: has(VM_PMU_RECORDS_SAMPLED_OUTCOMES),
    })
}
