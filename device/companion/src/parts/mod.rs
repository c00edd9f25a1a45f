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

use super::Profile;

macro_rules! parts {
    ($( $name:literal: $module:ident::$profile:ident; )+) => {
        $( #[cfg(feature = $name)] pub use $module::$profile; )+

        /// Every modelled CPU.
        pub const ALL: &[&Profile] = &[$( #[cfg(feature = $name)] &$profile ),+];
    };
}

parts! {
    "k8": k8::K8;
    "knl": knl::KNL;
    "itanium": itanium::ITANIUM;
    "montecito": montecito::MONTECITO;
    "power9": power9::POWER9;
}

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
