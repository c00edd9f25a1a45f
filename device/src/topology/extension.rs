//! What a part has in addition to the PMUs of its threads, and how it plugs into a machine.
//!
//! A machine has one [`Extension`], and so has each of its packages, if the part has them: `of_machine` and `of_package` list them. The
//! rest of a machine depends on no part. What else an embedder does with an extension is in a separate module, which finds it by its type:
//! `untile` and `collection`.

use alloc::boxed::Box;
use core::any::Any;
use core::fmt;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::feed::{SignalSet, Totals};
use vm_pmu_arch::registry::{Part, Pmu};

use super::BuildError;

/// The packages whose threads are to be interrupted, one bit each.
pub(crate) type Packages = u64;

/// What a part has in addition to the PMUs of its threads.
pub(crate) trait Extension: Any + fmt::Debug + Send + Sync {
    /// How many bytes it takes.
    fn footprint(&self) -> usize;

    /// Whether the register at `address` is one of the extension's. No thread's PMU has that register.
    fn has(&self, _address: Address) -> bool {
        false
    }

    /// Reads one of its registers. The packages are interrupted even after a fault.
    fn read(&self, _address: Address) -> (Result<u64, Fault>, Packages) {
        (Err(Fault::Unclaimed), 0)
    }

    /// Writes one of its registers. The packages are interrupted even after a fault.
    fn write(&self, _address: Address, _value: u64) -> (Result<(), Fault>, Packages) {
        (Err(Fault::Unclaimed), 0)
    }

    /// The signals that every thread of the package must report.
    fn demand(&self) -> SignalSet {
        SignalSet::EMPTY
    }

    /// A thread of the package may have changed its state. Its PMU is locked. Called only while the extension runs.
    fn follow(&self, _thread: usize, _pmu: &Pmu, _totals: &Totals) {}
}

/// The extension, if it is one of this type.
#[cfg(any(feature = "knl", feature = "power9"))]
pub(super) fn as_type<T: Extension>(extension: Option<&dyn Extension>) -> Option<&T> {
    let extension: &dyn Any = extension?;
    extension.downcast_ref()
}

/// What the extensions of a machine are built with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    /// Those of Knights Landing's boxes.
    #[cfg(feature = "knl")]
    pub(super) untile: super::untile::Options,
}

impl Options {
    /// Checks that the part has what was chosen.
    #[cfg_attr(not(feature = "knl"), allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "no part of this build has options"))]
    pub(super) fn check(&self, _part: Part) -> Result<(), BuildError> {
        #[cfg(feature = "knl")]
        self.untile.check(_part)?;
        Ok(())
    }

    /// The extension of a machine of this part.
    #[cfg_attr(not(feature = "knl"), allow(clippy::unused_self, reason = "no part of this build has options"))]
    pub(super) fn of_machine(&self, _part: Part) -> Option<Box<dyn Extension>> {
        #[cfg(feature = "knl")]
        if _part.shape().has_untile {
            return Some(Box::new(self.untile.build()));
        }
        None
    }

    /// The extension of a package of this part.
    pub(super) fn of_package(_part: Part) -> Option<Box<dyn Extension>> {
        #[cfg(feature = "power9")]
        if _part.shape().posts_to_memory {
            return Some(Box::new(super::collection::Collector::default()));
        }
        None
    }
}
