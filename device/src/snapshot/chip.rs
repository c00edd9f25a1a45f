//! Chips whose nest posts into memory.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::envelope::{Identity, version_of};
use super::{Kind, SnapshotError, content};
use crate::memory::{Chip, ChipState};

/// What a chip remembers.
#[derive(Serialize, Deserialize)]
struct Content {
    id: u32,
    state: ChipState,
}

/// An upper bound of the size of the content in bytes.
const CONTENT: usize = 64 << 10;

/// The version since which free-running counters have a total from which they count.
const FREE_RUNNING_FROM: u32 = 6;

const IDENTITY: Identity<'static> = Identity { kind: Kind::Chip, part: "power9", revision: "" };

impl Chip {
    /// Everything that the chip remembers, as bytes that [`load`](Chip::load) takes: counters, engine, clocks, home, units, and totals.
    /// What it has posted is in the guest's memory and saved with that. See [`snapshot`](crate::snapshot) for the form. (Feature
    /// `snapshot`.)
    ///
    /// # Errors
    /// [`SnapshotError::OutOfMemory`].
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        IDENTITY.wrap(&content::write(&Content { id: self.id(), state: self.state() })?)
    }

    /// Makes the chip remember what was saved, all of it or nothing. (Feature `snapshot`.)
    ///
    /// ```
    /// use vm_pmu::arch::power9::nest::Nest;
    /// use vm_pmu::memory::Chip;
    /// use vm_pmu::snapshot::SnapshotError;
    ///
    /// let chip = Chip::new(0, Nest::new(0x1000_0000));
    /// let bytes = chip.save().unwrap();
    /// assert_eq!(chip.load(&bytes), Ok(()));
    /// assert_eq!(Chip::new(8, Nest::new(0x1000_0000)).load(&bytes), Err(SnapshotError::ChipId { saved: 0, target: 8 }));
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`], and nothing is changed.
    pub fn load(&self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let mut content: Content = content::read(IDENTITY.unwrap(bytes, CONTENT)?)?;
        let (saved, target) = (content.id, self.id());
        if saved != target {
            return Err(SnapshotError::ChipId { saved, target });
        }
        if version_of(bytes).is_some_and(|version| version < FREE_RUNNING_FROM) {
            content.state.nest.count_free_running_from_power_on();
        }
        self.restore(&content.state);
        Ok(())
    }
}
