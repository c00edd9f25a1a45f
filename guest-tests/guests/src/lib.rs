//! Guests: bare-metal programs that use a PMU as a driver does and check what they see.
//!
//! [`protocol`] describes what a guest finds at its entry and how it reports; a guest from an ELF file does the same. [`runtime`] has what
//! the x86 guests here are built from, [`power`] the same for POWER, [`ia64`] for IA-64. Guests that are the same on every part of an
//! architecture are in `x86` and `ia64`.
#![forbid(unsafe_code)]

/// The guests of one PMU: its name and the kind of its [`Assembly`], then a line for each guest. The line has the guest's name; its CPUs;
/// after a slash the number of chips, if it needs POWER chips with nests and firmware, or nodes of K8; in brackets what MCDRAM is used as,
/// if not as a cache; its footing; its module; and what it does. Footings: every step is a cycle (`steps`); the same, but the companion is needed for events (`events`); the companion is needed and keeps the time
/// (`companion`).
macro_rules! guests {
    ($pmu:literal $assembly:ident; $( $name:literal $cpus:literal $(/ $chips:literal)? $(($mode:ident))? $footing:ident $module:ident $summary:literal; )+) => {
        /// The guests.
        pub static GUESTS: &[$crate::Guest] = &[
            $( $crate::Guest {
                pmu: $pmu,
                name: $name,
                summary: $summary,
                cpus: $cpus,
                chips: 0 $(+ $chips)?,
                memory_mode: $crate::guests!(@mode $($mode)?),
                needs_companion: $crate::guests!(@companion $footing),
                foretells_cycles: $crate::guests!(@cycles $footing),
                assembly: $crate::Assembly::$assembly($module::build),
            } ),+
        ];
    };
    (@mode) => { ::vm_pmu::die::MemoryMode::Cache };
    (@mode $mode:ident) => { ::vm_pmu::die::MemoryMode::$mode };
    (@companion steps) => { false };
    (@companion $footing:ident) => { true };
    (@cycles companion) => { false };
    (@cycles $footing:ident) => { true };
}
use guests;

pub mod ia64;
pub mod itanium;
pub mod k8;
pub mod knl;
pub mod montecito;
pub mod power;
pub mod power9;
pub mod protocol;
pub mod runtime;
mod x86;

use std::error::Error;

use runtime::Built;
use vm_pmu::die::MemoryMode;
use vm_pmu_engines::ia64::assemble::AssembleError as Ia64Error;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::AssembleError as PowerError;

/// How a guest is assembled.
#[derive(Clone, Copy, Debug)]
pub enum Assembly {
    /// For x86-64.
    X86(fn() -> Built<Image>),
    /// For POWER, little-endian if asked for.
    Power(fn(bool) -> Result<Image, PowerError>),
    /// For IA-64, always little-endian.
    Ia64(fn() -> Result<Image, Ia64Error>),
}

/// A guest.
#[derive(Clone, Copy, Debug)]
pub struct Guest {
    /// The PMU that it is for.
    pub pmu: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// How many CPUs it needs.
    pub cpus: usize,
    /// How many POWER chips with nests and host firmware they are divided among, or how many nodes with memory; 0 where there are none.
    pub chips: usize,
    /// What its Knights Landing uses MCDRAM as.
    pub memory_mode: MemoryMode,
    /// It counts what only the companion makes.
    pub needs_companion: bool,
    /// It relies on every step being one cycle: the companion keeps no time for it.
    pub foretells_cycles: bool,
    /// Assembles it.
    pub assembly: Assembly,
}

impl Guest {
    /// Its image; POWER guests are little-endian if asked for.
    ///
    /// # Errors
    /// Those of its assembler.
    pub fn image(&self, little_endian: bool) -> Result<Image, Box<dyn Error + Send + Sync>> {
        match self.assembly {
            Assembly::X86(build) => build().map_err(Into::into),
            Assembly::Power(build) => build(little_endian).map_err(Into::into),
            Assembly::Ia64(build) => build().map_err(Into::into),
        }
    }
}

/// Every guest.
pub fn all() -> impl Iterator<Item = &'static Guest> {
    let knl = knl::GUESTS.iter().chain(knl::untile::GUESTS);
    k8::GUESTS.iter().chain(knl).chain(power9::GUESTS).chain(power9::nest::GUESTS).chain(montecito::GUESTS).chain(itanium::GUESTS)
}

/// The guests for one PMU.
pub fn of(pmu: &str) -> impl Iterator<Item = &'static Guest> {
    all().filter(move |guest| guest.pmu == pmu)
}

/// The guest of this name for this PMU.
///
/// ```
/// assert!(vm_pmu_guests::named("k8", "count").is_some());
/// assert!(vm_pmu_guests::named("k8", "nothing").is_none());
/// ```
#[must_use]
pub fn named(pmu: &str, name: &str) -> Option<&'static Guest> {
    of(pmu).find(|guest| guest.name == name)
}
