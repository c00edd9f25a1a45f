//! Machines.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use vm_pmu_arch::registry::State;

use super::envelope::Identity;
use super::extensions::{self, CollectionState, UntileState, collections, untile};
use super::{Kind, SnapshotError, content};
use crate::irq::InterruptLine;
use crate::topology::Machine;

/// What a machine remembers.
#[derive(Serialize, Deserialize)]
struct Content {
    packages: u64,
    /// Threads of each package.
    threads: u64,
    /// What each thread's PMU remembers.
    pmus: Vec<State>,
    /// What the boxes remember, on parts that have them.
    untile: Option<UntileState>,
    /// What each package remembers for posting into memory, on parts that post.
    collections: Vec<CollectionState>,
}

/// An upper bound of the bytes of a thread, and of the rest of a machine without extensions.
const THREAD: usize = 8 << 10;
const REST: usize = 12 << 10;

impl<L: InterruptLine> Machine<L> {
    /// Everything that the machine remembers, as bytes that [`load`](Machine::load) takes, here or in another process: its PMUs, the boxes
    /// that they share, and what packages post into memory. The options of the builder, totals and deadlines are not part of it.
    ///
    /// An interrupt that becomes due by saving is delivered before this returns: save the interrupt controllers afterwards. See
    /// [`snapshot`](crate::snapshot) for the form. (Feature `snapshot`.)
    ///
    /// # Errors
    /// [`SnapshotError::OutOfMemory`].
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        // Boxes first: their overflows interrupt threads, and the PMUs remember that.
        let untile = untile::state(self);
        let pmus = self.states();
        let collections = collections::states(self);
        let (packages, threads) = self.shape();
        self.identity().wrap(&content::write(&Content { packages, threads, pmus, untile, collections })?)
    }

    /// Makes the machine remember what was saved, all of it or nothing. Events that were added to the totals before are not counted. Check
    /// the demand afterwards. (Feature `snapshot`.)
    ///
    /// ```
    /// use vm_pmu::snapshot::SnapshotError;
    /// use vm_pmu::topology::Builder;
    ///
    /// let machine = Builder::new("power9").unwrap().threads(4).build(|_thread, _counter| {}).unwrap();
    /// let bytes = machine.save().unwrap();
    /// assert_eq!(machine.load(&bytes), Ok(()));
    ///
    /// let smaller = Builder::new("power9").unwrap().threads(2).build(|_thread, _counter| {}).unwrap();
    /// assert_eq!(smaller.load(&bytes), Err(SnapshotError::Shape { saved: (1, 4), target: (1, 2) }));
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`], and nothing is changed.
    pub fn load(&self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let content: Content = content::read(self.identity().unwrap(bytes, self.most())?)?;
        let (saved, target) = ((content.packages, content.threads), self.shape());
        if saved != target {
            return Err(SnapshotError::Shape { saved, target });
        }
        if !extensions::fit(self, content.untile.as_ref(), &content.collections) || self.accepts(&content.pmus).is_err() {
            return Err(SnapshotError::Content);
        }
        // The only step that may still refuse comes first: if it does, nothing is changed.
        if !untile::restore(self, content.untile.as_ref()) {
            return Err(SnapshotError::Content);
        }
        self.restore(&content.pmus).map_err(|_| SnapshotError::Content)?;
        collections::restore(self, &content.collections);
        Ok(())
    }

    fn identity(&self) -> Identity<'static> {
        Identity { kind: Kind::Machine, part: self.part().name(), revision: self.part().revision_letter() }
    }

    /// The numbers of packages and of threads per package.
    fn shape(&self) -> (u64, u64) {
        (self.packages() as u64, (self.threads() / self.packages().max(1)) as u64)
    }

    /// The most bytes that its content takes.
    fn most(&self) -> usize {
        self.threads().saturating_mul(THREAD).saturating_add(extensions::most(self)).saturating_add(REST)
    }
}
