//! Companions: the content is their own form.

use alloc::vec::Vec;

use super::envelope::Identity;
use super::{Kind, SnapshotError};
use crate::companion::{Companion, Follower};

/// Companions as snapshots. (Feature `companion`.)
pub trait CompanionSnapshot {
    /// Saves as [`save`](Companion::save) does, in the form of machines and chips: see [`snapshot`](crate::snapshot).
    ///
    /// # Errors
    /// [`SnapshotError::OutOfMemory`]; [`SnapshotError::Companion`] when there is not one follower per thread.
    fn save_snapshot(&self, followers: &[&Follower<'_>]) -> Result<Vec<u8>, SnapshotError>;

    /// Makes the companion and its followers remember what [`save_snapshot`](CompanionSnapshot::save_snapshot) saved, all of it
    /// or nothing.
    ///
    /// ```
    /// use vm_pmu::companion::Builder;
    /// use vm_pmu::snapshot::CompanionSnapshot;
    ///
    /// let companion = Builder::new("k8").unwrap().build();
    /// let mut follower = companion.follower(0).unwrap();
    /// let bytes = companion.save_snapshot(&[&follower]).unwrap();
    /// assert_eq!(companion.load_snapshot(&bytes, &mut [&mut follower]), Ok(()));
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`], and nothing is changed.
    fn load_snapshot(&self, bytes: &[u8], followers: &mut [&mut Follower<'_>]) -> Result<(), SnapshotError>;
}

impl CompanionSnapshot for Companion {
    fn save_snapshot(&self, followers: &[&Follower<'_>]) -> Result<Vec<u8>, SnapshotError> {
        identity(self).wrap(&self.save(followers).map_err(SnapshotError::Companion)?)
    }

    fn load_snapshot(&self, bytes: &[u8], followers: &mut [&mut Follower<'_>]) -> Result<(), SnapshotError> {
        self.restore(identity(self).unwrap(bytes, usize::MAX)?, followers).map_err(SnapshotError::Companion)
    }
}

fn identity(companion: &Companion) -> Identity<'static> {
    Identity { kind: Kind::Companion, part: companion.profile().name, revision: "" }
}
