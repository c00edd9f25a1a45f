//! Cells of 8 bytes in the memory of a guest.

use core::fmt;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use vm_memory::bitmap::Bitmap;
use vm_memory::{GuestAddress, GuestMemory, Permissions, VolatileMemory};
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::memory::Memory;

/// How often an addition is tried while others write to the cell, before it is postponed.
const ATTEMPTS: u32 = 64;

/// A guest's memory, for posting into it. Cells are big-endian, and writes are marked in the memory's dirty bitmap.
#[derive(Debug)]
pub struct Guest<'m, M: ?Sized>(pub &'m M);

impl<M: ?Sized> Clone for Guest<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ?Sized> Copy for Guest<'_, M> {}

/// Why a cell could not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryError {
    /// The guest has no memory there.
    Outside {
        /// The address of the cell.
        address: u64,
    },
    /// The guest's address or the host's mapping of it is not a multiple of 8.
    Misaligned {
        /// The address of the cell.
        address: u64,
    },
    /// Others wrote to the cell at every attempt: the addition is postponed.
    Contended {
        /// The address of the cell.
        address: u64,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Outside { address } => {
                write!(formatter, "the guest has no memory at {address:#x}: a home base needs {:#x} bytes behind it", END)
            }
            MemoryError::Misaligned { address } => write!(formatter, "{address:#x} is no multiple of 8: home bases are aligned"),
            MemoryError::Contended { address } => {
                write!(formatter, "the guest keeps writing to {address:#x}: what is due is added at the next posting")
            }
        }
    }
}

impl core::error::Error for MemoryError {}

/// Where the region ends, from the home base.
const END: u64 = vm_pmu_arch::power9::nest::REGION + vm_pmu_arch::power9::nest::REGION_SIZE;

impl<M: GuestMemory + ?Sized> Guest<'_, M> {
    fn with<T>(&self, address: u64, writes: bool, work: impl FnOnce(&AtomicU64) -> Option<T>) -> Result<T, MemoryError> {
        let outside = MemoryError::Outside { address };
        if !address.is_multiple_of(8) {
            return Err(MemoryError::Misaligned { address });
        }
        let access = if writes { Permissions::ReadWrite } else { Permissions::Read };
        let mut slices = self.0.get_slices(GuestAddress(address), size_of::<u64>(), access).map_err(|_| outside)?;
        let slice = slices.next().and_then(Result::ok).filter(|slice| slice.len() == size_of::<u64>()).ok_or(outside)?;
        let cell = slice.get_atomic_ref::<AtomicU64>(0).map_err(|_| MemoryError::Misaligned { address })?;
        let value = work(cell).ok_or(MemoryError::Contended { address })?;
        if writes {
            slice.bitmap().mark_dirty(0, size_of::<u64>());
        }
        Ok(value)
    }
}

impl<M: GuestMemory + ?Sized> Memory for Guest<'_, M> {
    type Error = MemoryError;

    fn load(&self, address: u64) -> Result<u64, MemoryError> {
        self.with(address, false, |cell| Some(u64::from_be(cell.load(Acquire))))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), MemoryError> {
        self.with(address, true, |cell| {
            cell.store(value.to_be(), Release);
            Some(())
        })
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), MemoryError> {
        self.with(address, true, |cell| add(cell, amount))
    }

    fn add_run(&self, address: u64, amounts: &mut [u64], mut refused: impl FnMut(MemoryError)) {
        // The cells nearly always lie in one piece of memory, which is looked up once.
        let size = 8 * amounts.len();
        let slices = self.0.get_slices(GuestAddress(address), size, Permissions::ReadWrite).ok();
        let slice = slices.and_then(|mut slices| slices.next()).and_then(Result::ok);
        let whole = slice.filter(|slice| slice.len() == size && address.is_multiple_of(8));
        for (place, amount) in (0..).zip(amounts).filter(|(_, amount)| **amount != 0) {
            let address = address.saturating_add(8 * place as u64);
            let outcome = match whole.as_ref().map(|slice| (slice, slice.get_atomic_ref::<AtomicU64>(8 * place))) {
                Some((slice, Ok(cell))) => {
                    let added = add(cell, *amount);
                    slice.bitmap().mark_dirty(8 * place, size_of::<u64>());
                    added.ok_or(MemoryError::Contended { address })
                }
                Some((_, Err(_))) | None => self.add(address, *amount),
            };
            match outcome {
                Ok(()) => *amount = 0,
                Err(error) => refused(error),
            }
        }
    }
}

/// Adds to a big-endian cell; `None` if others wrote to it at every attempt.
fn add(cell: &AtomicU64, amount: u64) -> Option<()> {
    let mut old = cell.load(Acquire);
    for _ in 0..ATTEMPTS {
        let new = u64::from_be(old).wrapping_add(amount).to_be();
        match cell.compare_exchange_weak(old, new, AcqRel, Acquire) {
            Ok(_) => return Some(()),
            Err(now) => old = now,
        }
    }
    None
}
