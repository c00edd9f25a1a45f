//! Companions: the content is their own form.

use alloc::vec::Vec;

use super::envelope::Identity;
use super::{Kind, SnapshotError};
use crate::companion::{Companion, Follower};

impl Companion {
    /// As [`save`](Companion::save), in the form of machines and chips: see [`snapshot`](crate::snapshot). (Feature `snapshot`.)
    ///
    /// # Errors
    /// [`SnapshotError::OutOfMemory`]; [`SnapshotError::Companion`] when there is not one follower per thread.
    pub fn save_snapshot(&self, followers: &[&Follower<'_>]) -> Result<Vec<u8>, SnapshotError> {
        self.identity().wrap(&self.save(followers).map_err(SnapshotError::Companion)?)
    }

    /// Makes the companion and its followers remember what [`save_snapshot`](Companion::save_snapshot) saved, all of it or nothing.
    /// (Feature `snapshot`.)
    ///
    /// ```
    /// use vm_pmu::companion::Builder;
    ///
    /// let companion = Builder::new("k8").unwrap().build();
    /// let mut follower = companion.follower(0).unwrap();
    /// let bytes = companion.save_snapshot(&[&follower]).unwrap();
    /// assert_eq!(companion.load_snapshot(&bytes, &mut [&mut follower]), Ok(()));
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`], and nothing is changed.
    pub fn load_snapshot(&self, bytes: &[u8], followers: &mut [&mut Follower<'_>]) -> Result<(), SnapshotError> {
        self.restore(self.identity().unwrap(bytes, usize::MAX)?, followers).map_err(SnapshotError::Companion)
    }

    fn identity(&self) -> Identity<'static> {
        Identity { kind: Kind::Companion, part: self.profile().name, revision: "" }
    }
}
