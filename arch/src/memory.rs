//! The guest's memory, for what writes itself there: in-memory collection.
//!
//! A model reaches memory in cells of 8 bytes whose values are big-endian, whatever the guest's byte order. Whoever implements this decides
//! which addresses there are; a model passes none but those of the region it was given.

/// Cells of 8 bytes at real addresses.
///
/// Every access is atomic: who reads a cell meanwhile sees the value before or after it, and an addition loses none of another writer's.
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

    /// Adds `amounts` to the cells that follow each other from `address` on, in their order and each by itself as [`add`](Memory::add) does,
    /// but for zeros. What was added becomes 0; what was not stays, and `refused` is told why.
    ///
    /// Who can find many cells at once at less cost than one by one does so here.
    fn add_run(&self, address: u64, amounts: &mut [u64], mut refused: impl FnMut(Self::Error)) {
        for (place, amount) in (0..).zip(amounts).filter(|(_, amount)| **amount != 0) {
            match self.add(address.saturating_add(8 * place), *amount) {
                Ok(()) => *amount = 0,
                Err(error) => refused(error),
            }
        }
    }
}
