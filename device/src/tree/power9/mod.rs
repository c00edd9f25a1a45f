//! What a device tree tells a POWER9 operating system about its performance monitors.
//!
//! A device tree describes two kinds: the counters that post themselves into memory ([`write_imc_counters`]), and the PMU of the core
//! ([`write_performance_monitor`], [`write_cpu_version`]). The POWER9 PMU User's Guide leaves the tree to a file that it does not print
//! (section 6.3); names of nodes and properties are those of the public firmware, as Linux reads them (`docs/notes/power9-nest.md`, N32 to
//! N34). The counters with their offsets and names are those of the guide's table 6-10, and for the cells that it leaves free those of the
//! public catalogue.
//!
//! ```
//! use vm_pmu::tree::power9::{self, Chip, ImcCounters};
//! use vm_pmu::tree::vm_fdt::FdtWriter;
//!
//! # fn main() -> Result<(), power9::Error> {
//! let chips = [Chip::new(0, 0x2_0000_0000), Chip::new(8, 0x202_0000_0000)];
//! // The guest must not use the memory that the chips post into.
//! let mut fdt = FdtWriter::new_with_mem_reserv(&power9::reservations(&chips)?)?;
//! let root = fdt.begin_node("")?;
//!
//! let cpus = fdt.begin_node("cpus")?;
//! let features = fdt.begin_node("ibm,powerpc-cpu-features")?;
//! fdt.property_u32("isa", power9::ISA)?;
//! fdt.property_string("compatible", "ibm,powerpc-cpu-features")?;
//! power9::write_performance_monitor(&mut fdt)?;
//! fdt.end_node(features)?;
//! fdt.end_node(cpus)?;
//!
//! let next = power9::write_imc_counters(&mut fdt, &ImcCounters { first_phandle: 0x100, ..ImcCounters::of(&chips) })?;
//! assert!(next > 0x100, "phandles from 0x100 are taken, and those from `next` are free");
//! fdt.end_node(root)?;
//! let blob = fdt.finish()?;
//! # assert!(blob.len() > 10_000);
//! # Ok(())
//! # }
//! ```

mod catalogue;
mod chip;
mod counters;
mod error;
mod monitor;
mod units;

pub use catalogue::{ImcCatalogue, Told};
pub use chip::{Chip, reservations};
pub use counters::{ImcCounters, write_imc_catalogue, write_imc_counters};
pub use error::Error;
pub use monitor::{ISA, write_cpu_version, write_performance_monitor};
pub use vm_pmu_arch::power9::nest::Availability;
