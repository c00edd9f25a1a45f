//! The guest's memory, for counters that post themselves there: in-memory collection.
//!
//! A model reaches memory in cells of 8 bytes whose values are big-endian, whatever the guest's byte order. The implementation decides
//! which addresses there are; a model uses only those of the region that it was given.

/// Cells of 8 bytes at real addresses.
///
/// Every access is atomic: a concurrent reader sees the value before or after it, and an addition loses nothing that another writer adds.
pub trait Memory {
    /// Why an address could not be reached.
    type Error;

    /// What the cell at `address` holds.
    ///
    /// # Errors
    ///
    /// The address is not there, or is no multiple of 8.
    fn load(&self, address: u64) -> Result<u64, Self::Error>;

    /// Stores `value` to the cell at `address`.
    ///
    /// # Errors
    ///
    /// The address is not there, or is no multiple of 8: nothing is stored.
    fn store(&self, address: u64, value: u64) -> Result<(), Self::Error>;

    /// Adds `amount` to the cell at `address`, modulo 2^64.
    ///
    /// # Errors
    ///
    /// The address is not there, or is no multiple of 8: nothing is added.
    fn add(&self, address: u64, amount: u64) -> Result<(), Self::Error>;

    /// Adds `amounts` to the cells that follow each other from `address` on, in their order and each by itself as [`add`](Memory::add)
    /// does, except zeros. An amount that was added becomes 0. One that was refused stays, and `refused` is called with the error.
    ///
    /// Override it where many cells are found at once at less cost than one by one.
    fn add_run(&self, address: u64, amounts: &mut [u64], mut refused: impl FnMut(Self::Error)) {
        for (place, amount) in (0..).zip(amounts).filter(|(_, amount)| **amount != 0) {
            match self.add(address.saturating_add(8 * place), *amount) {
                Ok(()) => *amount = 0,
                Err(error) => refused(error),
            }
        }
    }
}
