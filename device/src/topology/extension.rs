//! What a part has in addition to the PMUs of its threads, and how it plugs into a machine.
//!
//! A machine has one [`Extension`], and so has each of its packages, if the part has them: `of_machine` and `of_package` list them. The
//! rest of a machine depends on no part. What else an embedder does with an extension is in a separate module, which finds it by its type:
//! `untile` and `collection`.

use core::any::Any;
use core::fmt;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::feed::{SignalSet, Totals};
use vm_pmu_arch::registry::Pmu;

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
