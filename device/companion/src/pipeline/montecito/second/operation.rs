//! Operations of the second level's queue.

/// Address bits within a line, a bank, and the chunk by which stores are matched.
const LINE_BITS: u32 = 7;
const BANK_BITS: u32 = 4;
const CHUNK_BITS: u32 = 2;
/// Number of banks of the data array, and of banks per line.
const BANKS: u32 = 16;
const LINE_BANKS: u64 = 8;
/// Sets of the cache: bits 14:7 of an address (M table 2-9).
const SETS: u64 = 256;
/// Stores of fewer bytes read first. Chosen: the chunk by which stores are matched.
const WHOLE: u8 = 1 << CHUNK_BITS;

/// Kinds of operations that L2D_OPS_ISSUED distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline::montecito) enum OperationKind {
    /// An integer load.
    #[default]
    IntegerLoad,
    /// A floating-point load.
    FloatingLoad,
    /// A semaphore, or a store that reads first.
    Modification,
    /// Another store.
    Store,
    /// A prefetch.
    Prefetch,
    /// Neither load nor store.
    Other,
}

impl OperationKind {
    pub(super) const ALL: [OperationKind; OperationKind::Other as usize + 1] = [
        OperationKind::IntegerLoad,
        OperationKind::FloatingLoad,
        OperationKind::Modification,
        OperationKind::Store,
        OperationKind::Prefetch,
        OperationKind::Other,
    ];

    /// Returns the kind of a store of `size` bytes.
    pub(in crate::pipeline::montecito) fn of_store(size: u8) -> OperationKind {
        if size < WHOLE { OperationKind::Modification } else { OperationKind::Store }
    }

    /// Whether it loads registers and changes nothing.
    pub(super) fn loads(self) -> bool {
        matches!(self, OperationKind::IntegerLoad | OperationKind::FloatingLoad)
    }

    pub(super) fn reads(self) -> bool {
        matches!(self, OperationKind::IntegerLoad | OperationKind::FloatingLoad | OperationKind::Modification | OperationKind::Prefetch)
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, OperationKind::Modification | OperationKind::Store)
    }
}

/// Ordering of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline::montecito) enum Order {
    #[default]
    None,
    /// Later operations wait for it.
    Acquire,
    /// It waits for all earlier operations.
    Release,
    /// A semaphore: acquire, and waits for all earlier operations.
    Semaphore,
    /// `mf`: acquire and release.
    Fence,
    /// `mf.a` or `sync.i`: waits for all earlier operations.
    Synchronization,
}

impl Order {
    pub(super) const ALL: [Order; Order::Synchronization as usize + 1] =
        [Order::None, Order::Acquire, Order::Release, Order::Semaphore, Order::Fence, Order::Synchronization];

    pub(super) fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::Semaphore | Order::Fence)
    }

    pub(super) fn releases(self) -> bool {
        matches!(self, Order::Release | Order::Fence)
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline::montecito) struct QueuedOperation {
    /// Place of its first byte: line number and byte offset.
    pub(super) place: u64,
    /// Its size in bytes; 0 if it has no address.
    pub(super) size: u8,
    pub(super) kind: OperationKind,
    pub(super) order: Order,
    /// Whether it bypasses the cache.
    pub(super) uncached: bool,
    /// Whether the cache misses its line, and whether a modified line is evicted for it.
    pub(super) missed: bool,
    pub(super) evicts: bool,
    /// Clocks from stage L1D to its data, if it misses and nothing delays it.
    pub(super) latency: u64,
}

impl QueuedOperation {
    /// Returns an operation on `size` bytes at `address`, in line `line` of 128 bytes.
    pub(in crate::pipeline::montecito) fn new(kind: OperationKind, line: u64, address: u64, size: u8) -> QueuedOperation {
        QueuedOperation {
            place: line << LINE_BITS | address & ((1 << LINE_BITS) - 1),
            size: size.max(1),
            kind,
            ..QueuedOperation::default()
        }
    }

    /// Returns an operation without an address.
    pub(in crate::pipeline::montecito) fn bare(order: Order) -> QueuedOperation {
        QueuedOperation { kind: OperationKind::Other, order, ..QueuedOperation::default() }
    }

    pub(in crate::pipeline::montecito) fn ordered(self, order: Order) -> QueuedOperation {
        QueuedOperation { order, ..self }
    }

    /// Makes it a miss whose data arrive `latency` clocks after stage L1D.
    pub(in crate::pipeline::montecito) fn missing(self, latency: u64, evicts: bool) -> QueuedOperation {
        QueuedOperation { missed: true, evicts, latency: latency.max(1), ..self }
    }

    pub(in crate::pipeline::montecito) fn uncacheable(self) -> QueuedOperation {
        QueuedOperation { uncached: true, missed: false, ..self }
    }

    /// Whether it looks up a line.
    pub(super) fn looks_up(&self) -> bool {
        self.size != 0 && !self.uncached
    }

    pub(super) fn line(&self) -> u64 {
        self.place >> LINE_BITS
    }

    pub(super) fn set(&self) -> u64 {
        set(self.line())
    }

    /// Returns the part of its line that it needs first.
    pub(super) fn part(&self) -> u64 {
        self.place >> (BANK_BITS + 1) & (PARTS - 1)
    }

    /// Returns its banks, one bit each.
    pub(super) fn banks(&self) -> u16 {
        if !self.looks_up() {
            return 0;
        }
        let (first, last) = (self.place >> BANK_BITS, self.place.wrapping_add(u64::from(self.size) - 1) >> BANK_BITS);
        (0..=last.wrapping_sub(first).min(LINE_BANKS)).fold(0, |banks, bank| banks | 1 << (first.wrapping_add(bank) % u64::from(BANKS)))
    }

    /// Whether it is not aligned to its size.
    pub(super) fn is_misaligned(&self) -> bool {
        let size = u64::from(self.size.max(1)).next_power_of_two();
        !self.place.is_multiple_of(size)
    }

    /// Whether it shares a chunk of four bytes with another operation, and one of them writes.
    pub(super) fn conflicts(&self, other: &QueuedOperation) -> bool {
        let last = |of: &QueuedOperation| of.place.wrapping_add(u64::from(of.size) - 1) >> CHUNK_BITS;
        self.looks_up()
            && other.looks_up()
            && (self.kind.writes() || other.kind.writes())
            && self.place >> CHUNK_BITS <= last(other)
            && other.place >> CHUNK_BITS <= last(self)
    }
}

/// Returns the set of a line.
pub(super) fn set(line: u64) -> u64 {
    line % SETS
}

/// Number of 32-byte parts in which a line is moved, one per clock (M 2.3.3.3).
pub(super) const PARTS: u64 = 4;

/// Returns the banks of part `part` of `line`, one bit each.
pub(super) fn banks_of(line: u64, part: u64) -> u16 {
    0b11 << (line % 2 * LINE_BANKS + part % PARTS * 2)
}
