//! The modelled CPUs: one file each, with the sources of its numbers.

#[cfg(feature = "itanium")]
mod itanium;
#[cfg(feature = "k8")]
mod k8;
#[cfg(feature = "knl")]
mod knl;
#[cfg(feature = "montecito")]
mod montecito;
#[cfg(feature = "power9")]
mod power9;

use crate::Profile;

macro_rules! profiles {
    ($( $(#[$doc:meta])+ $feature:literal: $variant:ident = $pipeline:ident::$type:ident, $numbers:ident::$profile:ident; )+) => {
        $( #[cfg(feature = $feature)] pub use $numbers::$profile; )+

        /// Every modelled CPU.
        pub const ALL: &[&Profile] = &[$( #[cfg(feature = $feature)] &$profile ),+];
    };
}

for_each_part!(profiles);

/// Returns the modelled CPU of the part with this name.
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
