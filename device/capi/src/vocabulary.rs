//! The properties of instructions and requests, as numbers of the interface.

use vm_pmu::arch::feed::{
    BranchKind, DataSource, ExecutionUnit, FabricCommand, FetchSource, Flush, HeldAs, Prediction, RequestKind, Snoop, Stage, StoreOutcome,
    Supplier, Translation,
};

use crate::status::{Failure, argument};

/// The kind of a control transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuBranch {
    /// The instruction is not a control transfer.
    None = 0,
    /// A conditional near branch.
    Conditional = 1,
    /// An unconditional near jump to a fixed target.
    DirectJump = 2,
    /// A near jump whose target comes from a register or memory.
    IndirectJump = 3,
    /// A near call of a fixed target.
    DirectCall = 4,
    /// A near call whose target comes from a register or memory.
    IndirectCall = 5,
    /// A near return.
    Return = 6,
    /// A far transfer: system call and return, interrupt return, far call and jump; on IA-64 rfi.
    Far = 7,
    /// A fault or trap left the flow of instructions, for its handler.
    Exception = 8,
    /// A speculation check failed and went to its recovery code: on IA-64 chk.s, chk.a, fchkf.
    FailedCheck = 9,
}

/// How a control transfer was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuPrediction {
    /// It was not predicted, or this is not known.
    None = 0,
    /// Direction and target were right.
    Right = 1,
    /// The direction was wrong.
    WrongDirection = 2,
    /// The direction was right, the target was not.
    WrongTarget = 3,
}

/// Where the data of a load came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuData {
    /// Not known.
    Unknown = 0,
    /// The store buffer of the same thread.
    StoreForward = 1,
    /// A cache of the same core, of VmPmuRecord::data_level.
    Cache = 2,
    /// A cache of another core of the same package, where the line was clean.
    OtherCore = 3,
    /// The same, where the line was modified.
    OtherCoreModified = 4,
    /// A cache of another package, where the line was clean.
    OtherPackage = 5,
    /// The same, where the line was modified.
    OtherPackageModified = 6,
    /// Memory of the same package.
    LocalMemory = 7,
    /// Memory of another package.
    RemoteMemory = 8,
    /// A device, or uncacheable memory.
    Device = 9,
    /// The third level of another core of the same package, where it is told from the levels before it and the line was clean.
    OtherL3 = 10,
    /// The same, where the line was modified.
    OtherL3Modified = 11,
    /// A third level of the same package that no core uses itself and that keeps lines of the others, where the line was clean.
    LentL3 = 12,
    /// The same, where the line was modified.
    LentL3Modified = 13,
    /// A cache of a package of another group, where the line was clean.
    DistantPackage = 14,
    /// The same, where the line was modified.
    DistantPackageModified = 15,
    /// Memory of a package of another group.
    DistantMemory = 16,
    /// A fourth level, in front of memory of the same package.
    LocalL4 = 17,
    /// A fourth level, in front of memory of another package.
    RemoteL4 = 18,
    /// A fourth level, in front of memory of a package of another group.
    DistantL4 = 19,
}

/// Where an address translation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuTranslation {
    /// Not known.
    Unknown = 0,
    /// The first level of translation buffers had it.
    FirstLevel = 1,
    /// The second level had it.
    SecondLevel = 2,
    /// A walk of the page tables by hardware.
    Walk = 3,
    /// A fault to software.
    Fault = 4,
}

/// The unit that executed an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuUnit {
    /// Not known: derived from branch and memory access; an instruction with neither is fixed point.
    Unknown = 0,
    /// The load/store unit; on IA-64 an M slot.
    LoadStore = 1,
    /// The branch unit; on IA-64 a B slot.
    Branch = 2,
    /// Fixed point; on IA-64 an I slot, and the long instruction of an MLX bundle except brl.
    FixedPoint = 3,
    /// Vector and scalar floating point, decimal; on IA-64 an F slot.
    VectorScalar = 4,
    /// None: the instruction is finished by the fetch unit.
    Fetch = 5,
}

/// Where an instruction was fetched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuFetchSource {
    /// Not known, which is taken as the first level.
    Unknown = 0,
    /// The first-level instruction cache.
    L1 = 1,
    /// The second level.
    L2 = 2,
    /// The third level.
    L3 = 3,
    /// Beyond the third level.
    Beyond = 4,
}

/// The outcome of a store in the second-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuStoreOutcome {
    /// It is not a store, or this is not known.
    None = 0,
    /// No machine of the second level was needed.
    Direct = 1,
    /// It completed in the second level.
    Completed = 2,
    /// It completed after another cache supplied modified data.
    Intervention = 3,
}

/// A command to the fabric between caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuFabricCommand {
    /// None was needed, or this is not known.
    None = 0,
    /// Read.
    Read = 1,
    /// Read with intent to modify.
    ReadToModify = 2,
    /// Claim a line that is held shared.
    Claim = 3,
    /// Invalidate the copies of others.
    Kill = 4,
}

/// Why the load/store unit flushed an instruction that was then executed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuFlush {
    /// It was not flushed, or this is not known.
    None = 0,
    /// A load had its data before an older store of the same bytes knew its address.
    StoreHitLoad = 1,
    /// The same, where the store has another effective address.
    Alias = 2,
    /// A load that reserves met an older one that waited.
    Reservation = 3,
}

/// What a request beyond a core's own caches is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuRequestKind {
    /// A line to read data from, for a load.
    DataRead = 0,
    /// The same for a prefetch by the first-level data cache itself.
    DataReadPrefetch = 1,
    /// A line for a prefetch instruction that reads.
    SoftwarePrefetch = 2,
    /// A line to write, for a store.
    Ownership = 3,
    /// A line to write, for a prefetch.
    OwnershipPrefetch = 4,
    /// A line to execute.
    Code = 5,
    /// A line to execute, for a prefetch of the second level.
    CodePrefetch = 6,
    /// Part of a line is read: uncacheable or write-combining memory.
    PartialRead = 7,
    /// Part of a line is written: uncacheable, write-through or write-protected memory.
    PartialWrite = 8,
    /// Uncacheable instructions.
    UncacheableCode = 9,
    /// The bus is locked, or a locked access is split between lines.
    BusLock = 10,
    /// A whole line that was combined from streaming stores.
    FullStreamingStore = 11,
    /// Part of a line that was combined from streaming stores.
    PartialStreamingStore = 12,
    /// A modified line that a cache displaced: it is written back.
    WriteBack = 13,
    /// A line to execute, for a prefetch by the first-level instruction cache itself.
    CodeReadPrefetch = 14,
}

/// The supplier of the data of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuSupplier {
    /// There is no data, or this is not known.
    Unknown = 0,
    /// A cache of the same cluster (on Knights Landing: tile), which had the line modified.
    OwnClusterModified = 1,
    /// The same, exclusive.
    OwnClusterExclusive = 2,
    /// The same, shared.
    OwnClusterShared = 3,
    /// The same, shared, as the cache that answers for the line (forward).
    OwnClusterForward = 4,
    /// A cache of another cluster, near.
    OtherCluster = 5,
    /// A cache of another cluster, in another quadrant of the mesh.
    OtherClusterFar = 6,
    /// Memory on the package (MCDRAM), near.
    NearMemory = 7,
    /// Memory on the package, in another quadrant of the mesh.
    NearMemoryFar = 8,
    /// Memory outside the package (DDR), near.
    Memory = 9,
    /// Memory outside the package, in another quadrant of the mesh.
    MemoryFar = 10,
    /// A device.
    Device = 11,
}

/// The snoop of other caches for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuSnoop {
    /// No other cache was snooped.
    None = 0,
    /// No other cache had to be snooped.
    NotNeeded = 1,
    /// A cache of another cluster had the line and passed it on.
    Forwarded = 2,
    /// A cache of another cluster had the line modified.
    Modified = 3,
}

/// A stage of an instruction: its bit in VmPmuRecord::stages, its index in VmPmuRecord::stage_cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuStage {
    /// Decoded.
    Decoded = 0,
    /// Dispatched.
    Dispatched = 1,
    /// Issued to its unit.
    Issued = 2,
    /// A load that missed the first-level data cache.
    FirstMiss = 3,
    /// Taken up by a machine of the second level.
    SecondLevelDispatched = 4,
    /// That machine is done.
    SecondLevelDone = 5,
    /// The load's data has arrived.
    Reload = 6,
    /// Next to finish.
    NextToFinish = 7,
    /// Finished.
    Finished = 8,
    /// Next to complete.
    NextToComplete = 9,
    /// Completed.
    Completed = 10,
    /// A store that has left the store queue.
    Drained = 11,
}

pub(crate) const BRANCHES: [Option<BranchKind>; 10] = [
    None,
    Some(BranchKind::Conditional),
    Some(BranchKind::DirectJump),
    Some(BranchKind::IndirectJump),
    Some(BranchKind::DirectCall),
    Some(BranchKind::IndirectCall),
    Some(BranchKind::Return),
    Some(BranchKind::Far),
    Some(BranchKind::Exception),
    Some(BranchKind::FailedCheck),
];

pub(crate) const PREDICTIONS: [Prediction; 4] = [Prediction::None, Prediction::Right, Prediction::WrongDirection, Prediction::WrongTarget];

pub(crate) const DATA: [DataSource; 20] = [
    DataSource::Unknown,
    DataSource::StoreForward,
    DataSource::Cache(1),
    DataSource::OtherCore { modified: false },
    DataSource::OtherCore { modified: true },
    DataSource::OtherPackage { modified: false },
    DataSource::OtherPackage { modified: true },
    DataSource::LocalMemory,
    DataSource::RemoteMemory,
    DataSource::Device,
    DataSource::OtherL3 { modified: false },
    DataSource::OtherL3 { modified: true },
    DataSource::LentL3 { modified: false },
    DataSource::LentL3 { modified: true },
    DataSource::DistantPackage { modified: false },
    DataSource::DistantPackage { modified: true },
    DataSource::DistantMemory,
    DataSource::LocalL4,
    DataSource::RemoteL4,
    DataSource::DistantL4,
];

pub(crate) const TRANSLATIONS: [Translation; 5] =
    [Translation::Unknown, Translation::Hit(1), Translation::Hit(2), Translation::Walk, Translation::Fault];

pub(crate) const UNITS: [ExecutionUnit; 6] = [
    ExecutionUnit::Unknown,
    ExecutionUnit::LoadStore,
    ExecutionUnit::Branch,
    ExecutionUnit::FixedPoint,
    ExecutionUnit::VectorScalar,
    ExecutionUnit::Fetch,
];

pub(crate) const FETCH_SOURCES: [FetchSource; 5] =
    [FetchSource::Unknown, FetchSource::L1, FetchSource::L2, FetchSource::L3, FetchSource::Beyond];

pub(crate) const STORE_OUTCOMES: [StoreOutcome; 4] =
    [StoreOutcome::None, StoreOutcome::Direct, StoreOutcome::Completed, StoreOutcome::Intervention];

pub(crate) const FABRIC_COMMANDS: [FabricCommand; 5] =
    [FabricCommand::None, FabricCommand::Read, FabricCommand::ReadToModify, FabricCommand::Claim, FabricCommand::Kill];

pub(crate) const FLUSHES: [Flush; 4] = [Flush::None, Flush::StoreHitLoad, Flush::Alias, Flush::Reservation];

pub(crate) const REQUEST_KINDS: [RequestKind; 15] = RequestKind::ALL;

pub(crate) const SUPPLIERS: [Supplier; 12] = [
    Supplier::Unknown,
    Supplier::OwnCluster(HeldAs::Modified),
    Supplier::OwnCluster(HeldAs::Exclusive),
    Supplier::OwnCluster(HeldAs::Shared),
    Supplier::OwnCluster(HeldAs::Forward),
    Supplier::OtherCluster { far: false },
    Supplier::OtherCluster { far: true },
    Supplier::NearMemory { far: false },
    Supplier::NearMemory { far: true },
    Supplier::Memory { far: false },
    Supplier::Memory { far: true },
    Supplier::Device,
];

pub(crate) const SNOOPS: [Snoop; 4] = [Snoop::None, Snoop::NotNeeded, Snoop::Forwarded, Snoop::Modified];

/// The element of `table` that `number` names.
pub(crate) fn pick<T: Copy>(table: &[T], number: impl Into<u32>, field: &str) -> Result<T, Failure> {
    let number = number.into();
    let found = usize::try_from(number).ok().and_then(|number| table.get(number).copied());
    found.ok_or_else(|| argument(format!("{field} is {number}: there are 0 to {}", table.len().saturating_sub(1))))
}

/// The index of `value` in a table of the interface.
pub(crate) fn number<T: PartialEq>(table: &[T], value: &T) -> u8 {
    table.iter().position(|known| known == value).and_then(|place| u8::try_from(place).ok()).unwrap_or(0)
}

const _: () = assert!(VmPmuStage::Drained as usize == Stage::Drained as usize && VmPmuStage::Reload as usize == Stage::Reload as usize);

#[cfg(test)]
mod tests {
    use super::*;

    fn at<T: Copy>(table: &[T], number: u8) -> T {
        pick(table, number, "a field").expect("it is in the table")
    }

    #[test]
    fn numbers_stand_for_what_the_header_says() {
        assert_eq!(at(&BRANCHES, VmPmuBranch::None as u8), None);
        assert_eq!(at(&BRANCHES, VmPmuBranch::Return as u8), Some(BranchKind::Return));
        assert_eq!(at(&BRANCHES, VmPmuBranch::FailedCheck as u8), Some(BranchKind::FailedCheck));
        assert_eq!(at(&PREDICTIONS, VmPmuPrediction::WrongTarget as u8), Prediction::WrongTarget);
        assert_eq!(at(&DATA, VmPmuData::OtherPackageModified as u8), DataSource::OtherPackage { modified: true });
        assert_eq!(at(&DATA, VmPmuData::Device as u8), DataSource::Device);
        assert_eq!(at(&DATA, VmPmuData::LentL3Modified as u8), DataSource::LentL3 { modified: true });
        assert_eq!(at(&DATA, VmPmuData::DistantL4 as u8), DataSource::DistantL4);
        assert_eq!(at(&TRANSLATIONS, VmPmuTranslation::SecondLevel as u8), Translation::Hit(2));
        assert_eq!(at(&TRANSLATIONS, VmPmuTranslation::Fault as u8), Translation::Fault);
        assert_eq!(at(&UNITS, VmPmuUnit::Fetch as u8), ExecutionUnit::Fetch);
        assert_eq!(at(&FETCH_SOURCES, VmPmuFetchSource::Beyond as u8), FetchSource::Beyond);
        assert_eq!(at(&STORE_OUTCOMES, VmPmuStoreOutcome::Intervention as u8), StoreOutcome::Intervention);
        assert_eq!(at(&FABRIC_COMMANDS, VmPmuFabricCommand::Kill as u8), FabricCommand::Kill);
        assert_eq!(at(&FLUSHES, VmPmuFlush::Reservation as u8), Flush::Reservation);
        assert_eq!(at(&REQUEST_KINDS, VmPmuRequestKind::PartialRead as u8), RequestKind::PartialRead);
        assert_eq!(at(&REQUEST_KINDS, VmPmuRequestKind::WriteBack as u8), RequestKind::WriteBack);
        assert_eq!(at(&REQUEST_KINDS, VmPmuRequestKind::CodeReadPrefetch as u8), RequestKind::CodeReadPrefetch);
        assert_eq!(at(&SUPPLIERS, VmPmuSupplier::NearMemoryFar as u8), Supplier::NearMemory { far: true });
        assert_eq!(at(&SUPPLIERS, VmPmuSupplier::Device as u8), Supplier::Device);
        assert_eq!(at(&SNOOPS, VmPmuSnoop::Modified as u8), Snoop::Modified);
    }

    #[test]
    fn other_numbers_are_refused() {
        assert!(pick(&SNOOPS, 4u8, "snoop").is_err());
    }
}
