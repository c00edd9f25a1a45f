//! What an embedder reports of an instruction that it executed.

use vm_pmu_arch::feed::BranchKind;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AccessKind {
    /// It reads.
    #[default]
    Load,
    /// It writes.
    Store,
    /// It writes around the caches, through the write-combining buffers.
    StreamingStore,
    /// It prefetches a line that will be read.
    PrefetchLoad,
    /// It prefetches a line that will be written.
    PrefetchStore,
    /// It prefetches a line that will be read once.
    PrefetchOnce,
    /// It drives a line out of every cache.
    Flush,
    /// The register stack engine reads.
    RegisterStackLoad,
    /// The register stack engine writes.
    RegisterStackStore,
}

/// One access to memory. One that crosses into a page that is not contiguous in physical memory is reported as two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// The virtual address.
    pub address: u64,
    /// The physical address of the first byte.
    pub physical: u64,
    /// Its size in bytes.
    pub size: u8,
    /// What it does.
    pub kind: AccessKind,
    /// It is part of a locked read-modify-write.
    pub locked: bool,
    /// It goes to a device, or to memory that is not cached.
    pub uncached: bool,
}

/// What decides how long an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Class {
    /// One that takes a cycle, apart from accesses.
    #[default]
    Simple,
    /// A division.
    Divide,
    /// One that waits until the stores before it are done.
    Fence,
    /// One that waits until everything before it is done, and restarts the pipeline.
    Serializing,
    /// Not an instruction: an interrupt or exception that is taken.
    Exception,
}

/// The control transfer of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Its kind.
    pub kind: BranchKind,
    /// Whether it left the next sequential address.
    pub taken: bool,
    /// Where it went, or would have gone.
    pub target: u64,
}

/// One executed instruction, or an interrupt or exception that was taken.
///
/// ```
/// use vm_pmu::companion::{Access, AccessKind, Instruction};
///
/// let access = Access { address: 0x8000, physical: 0x8000, size: 8, kind: AccessKind::Load, ..Access::default() };
/// let load = Instruction { address: 0x1000, physical: 0x1000, length: 4, accesses: &[access], ..Instruction::default() };
/// assert_eq!(load.micro_ops, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Its virtual address.
    pub address: u64,
    /// Its physical address.
    pub physical: u64,
    /// Its length in bytes; 0 if nothing was fetched.
    pub length: u8,
    /// The physical address of the next page, if the instruction crosses into it and it does not follow in physical memory.
    pub next_page: Option<u64>,
    /// How many slots of a cycle it takes.
    pub micro_ops: u8,
    /// Its class, which decides how long it takes.
    pub class: Class,
    /// Whether it is one of the floating-point or vector unit.
    pub floating_point: bool,
    /// How many segment registers it loads.
    pub segment_loads: u8,
    /// What it accesses, in order.
    pub accesses: &'a [Access],
    /// Its control transfer, if it is one.
    pub transfer: Option<Transfer>,
}

impl Default for Instruction<'_> {
    fn default() -> Self {
        Instruction {
            address: 0,
            physical: 0,
            length: 0,
            next_page: None,
            micro_ops: 1,
            class: Class::Simple,
            floating_point: false,
            segment_loads: 0,
            accesses: &[],
            transfer: None,
        }
    }
}
