//! The CPUs that are modelled: one file each, with the sources of its numbers.

mod itanium;
mod k8;
mod knl;
mod montecito;
mod power9;

pub use itanium::ITANIUM;
pub use k8::K8;
pub use knl::KNL;
pub use montecito::MONTECITO;
pub use power9::POWER9;

use super::Profile;

/// Every modelled CPU.
pub const ALL: &[&Profile] = &[&K8, &KNL, &ITANIUM, &MONTECITO, &POWER9];

/// The CPU of this name: that of the part.
///
/// ```
/// use vm_pmu::companion::parts;
///
/// assert_eq!(parts::named("k8").unwrap().caches.data.bytes, 64 << 10);
/// assert!(parts::named("z80").is_none());
/// ```
#[must_use]
pub fn named(name: &str) -> Option<&'static Profile> {
    ALL.iter().copied().find(|profile| profile.name == name)
}
