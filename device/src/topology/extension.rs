//! What a part has in addition to the PMUs of its threads, and how it plugs into a machine.
//!
//! A machine holds one [`Extension`], and each of its packages holds one, if the part has them: `of_machine` and `of_package` are the list. The rest of a machine
//! knows no part. What else an embedder does with an extension is in a module of its own, which finds it by its type: `untile` and `collection`.

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

    /// Whether the register at `address` is one of the extension's. No thread's PMU has it then.
    fn has(&self, _address: Address) -> bool {
        false
    }

    /// Reads one of its registers. The packages are interrupted in any case.
    fn read(&self, _address: Address) -> (Result<u64, Fault>, Packages) {
        (Err(Fault::Unclaimed), 0)
    }

    /// Writes one of its registers. The packages are interrupted in any case.
    fn write(&self, _address: Address, _value: u64) -> (Result<(), Fault>, Packages) {
        (Err(Fault::Unclaimed), 0)
    }

    /// The signals that every thread of the package must report.
    fn demand(&self) -> SignalSet {
        SignalSet::EMPTY
    }

    /// A thread of the package may have changed its state. Its PMU is locked. Called only while the package is [followed](super::Package::extension_running).
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
    /// Of Knights Landing's boxes.
    #[cfg(feature = "knl")]
    pub(super) untile: super::untile::Options,
}

impl Options {
    /// Whether the part has what was chosen.
    #[cfg_attr(not(feature = "knl"), allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "no part of this build has options"))]
    pub(super) fn check(&self, _part: Part) -> Result<(), BuildError> {
        #[cfg(feature = "knl")]
        self.untile.check(_part)?;
        Ok(())
    }

    /// The extension of a machine of this part.
    pub(super) fn of_machine(&self, part: Part) -> Option<Box<dyn Extension>> {
        match part {
            #[cfg(feature = "knl")]
            Part::Knl(_) => Some(Box::new(self.untile.build())),
            #[allow(unreachable_patterns, reason = "every part of this build may have one")]
            _ => None,
        }
    }

    /// The extension of a package of this part.
    pub(super) fn of_package(part: Part) -> Option<Box<dyn Extension>> {
        match part {
            #[cfg(feature = "power9")]
            Part::Power9(_) => Some(Box::new(super::collection::Collector::default())),
            #[allow(unreachable_patterns, reason = "every part of this build may have one")]
            _ => None,
        }
    }
}
