//! The counters that post themselves into memory.

use alloc::format;
use alloc::vec::Vec;

use vm_fdt::FdtWriter;
use vm_pmu_arch::power9::nest::{Availability, CONTROL_BLOCK, REGION, REGION_SIZE};

use super::Error;
use super::catalogue::ImcCatalogue;
use super::chip::{self, Chip};
use super::units::{self, Domain, Unit};

/// The public catalogue in whose form the events are described (N32).
const VERSION_ID: u32 = 0x20;
/// How much memory the counters of a core or a thread take, in bytes (N30).
const CORE_SIZE: u32 = 0x2000;
/// A cell, in bytes.
const CELL: u32 = 8;

/// Which counters to describe, and where they are.
#[derive(Clone, Copy, Debug)]
pub struct ImcCounters<'c> {
    /// The chips: 1 to 128, of different numbers and home memories.
    pub chips: &'c [Chip],
    /// Which of their counters are described.
    pub catalogue: ImcCatalogue,
    /// The first phandle that is not taken in the tree, 1 to FFFFFFFEh. One is needed for each unit, 56 at most.
    pub first_phandle: u32,
}

impl<'c> ImcCounters<'c> {
    /// The nest of `chips` in the default mode with all of its events, and phandles from 1 on.
    #[must_use]
    pub const fn of(chips: &'c [Chip]) -> ImcCounters<'c> {
        ImcCounters { chips, catalogue: ImcCatalogue::NEST, first_phandle: 1 }
    }
}

/// Writes the node `imc-counters` into the open node, which may be any: firmware puts it at the root, and it is found by what it is
/// compatible with. Returns the first phandle that is still free.
///
/// A unit of the nest is described if any of the chips has it. Its node has the home memory of every chip, as in firmware's tree; on a chip
/// without the unit its cells never change. The unit `update_count` has the count of updates at the head of table 6-10 (`Update_count_h1`),
/// which belongs to no unit. Scales are those of the engine's speeds 0 to 3. At slower speeds a count with a prescaler is worth 256 times
/// as much, and no node says so.
///
/// An operating system finds such a node after host firmware. Firmware that runs in the guest adds `base-addr` and `chip-id` itself, and
/// gives up if they are there already: for it use [`write_imc_catalogue`].
///
/// The trace of a core's samples (type 2) is left out: its node is the setting of a register, not a counter.
///
/// # Errors
///
/// What is wrong with the chips or the phandles; then nothing is written. [`Error::Fdt`]: the writer has one of the phandles already, or
/// too many nodes are open; what it has written is then not a valid tree.
pub fn write_imc_counters(fdt: &mut FdtWriter, description: &ImcCounters<'_>) -> Result<u32, Error> {
    chip::check(description.chips)?;
    let availabilities: Vec<Availability> = description.chips.iter().map(|chip| chip.availability).collect();
    let units = units::units(&description.catalogue, &availabilities);
    let first = description.first_phandle;
    let needed = u32::try_from(units.len()).unwrap_or(u32::MAX);
    // The last phandle used is FFFFFFFEh at most.
    let next = first.checked_add(needed).filter(|_| first != 0).ok_or(Error::Phandles { first, needed })?;
    let homes: Vec<u64> = description.chips.iter().map(|chip| chip.home).collect();
    let numbers: Vec<u32> = description.chips.iter().map(|chip| chip.id).collect();

    let node = fdt.begin_node("imc-counters")?;
    write_units(fdt, &units, first, Some((&homes, &numbers)))?;
    fdt.end_node(node)?;
    Ok(next)
}

/// Writes the catalogue of counters into the open node, which is the root of a separate tree. Firmware that runs in the guest loads it from
/// flash, selected by the PVR, and puts it into its tree as `imc-counters` (skiboot `hw/imc.c`).
///
/// It describes every unit of every chip. The firmware removes those that a chip's control block does not have, and adds the chips' numbers
/// and homes. Phandles begin at 1.
///
/// # Errors
///
/// [`Error::Fdt`]: the writer has one of the phandles already, or too many nodes are open.
///
/// ```
/// use vm_pmu::tree::power9::{ImcCatalogue, Told, write_imc_catalogue};
/// use vm_pmu::tree::vm_fdt::FdtWriter;
///
/// # fn main() -> Result<(), vm_pmu::tree::power9::Error> {
/// let mut fdt = FdtWriter::new()?;
/// let root = fdt.begin_node("")?;
/// write_imc_catalogue(&mut fdt, &ImcCatalogue { told: Told::ByNest, ..ImcCatalogue::NEST })?;
/// fdt.end_node(root)?;
/// let blob = fdt.finish()?;
/// // Firmware has 256 KiB for it.
/// assert!(blob.len() < 0x4_0000);
/// # Ok(())
/// # }
/// ```
pub fn write_imc_catalogue(fdt: &mut FdtWriter, catalogue: &ImcCatalogue) -> Result<(), Error> {
    let units = units::units(catalogue, &[Availability::EVERY]);
    write_units(fdt, &units, 1, None)?;
    Ok(())
}

/// Writes the content of the node of the counters, with phandles from `first` on and the homes and numbers of chips, if known.
fn write_units(fdt: &mut FdtWriter, units: &[Unit], first: u32, chips: Option<(&[u64], &[u32])>) -> Result<(), vm_fdt::Error> {
    fdt.property_string("compatible", "ibm,opal-in-memory-counters")?;
    fdt.property_u32("#address-cells", 1)?;
    fdt.property_u32("#size-cells", 1)?;
    fdt.property_u32("version-id", VERSION_ID)?;
    for (unit, phandle) in units.iter().zip(first..) {
        write_events(fdt, unit, phandle)?;
        write_unit(fdt, unit, phandle, chips)?;
    }
    Ok(())
}

/// Writes the node of a unit's events.
fn write_events(fdt: &mut FdtWriter, unit: &Unit, phandle: u32) -> Result<(), vm_fdt::Error> {
    let node = fdt.begin_node(&format!("{}-events", unit.name))?;
    fdt.property_u32("#address-cells", 1)?;
    fdt.property_u32("#size-cells", 1)?;
    fdt.property_phandle(phandle)?;
    for event in &unit.events {
        let node = fdt.begin_node(&format!("event@{:x}", event.reg))?;
        fdt.property_string("event-name", event.name)?;
        fdt.property_array_u32("reg", &[event.reg, CELL])?;
        if !event.summary.is_empty() {
            fdt.property_string("desc", event.summary)?;
        }
        fdt.end_node(node)?;
    }
    fdt.end_node(node)
}

/// Writes the node of a unit.
fn write_unit(fdt: &mut FdtWriter, unit: &Unit, events: u32, chips: Option<(&[u64], &[u32])>) -> Result<(), vm_fdt::Error> {
    let node = fdt.begin_node(&format!("{}@{:x}", unit.name, unit.base))?;
    fdt.property_string("compatible", "ibm,imc-counters")?;
    fdt.property_string("events-prefix", &unit.prefix)?;
    fdt.property_string("scale", &format!("{}", unit.scale))?;
    fdt.property_array_u32("reg", &[unit.base, CELL])?;
    fdt.property_u32("events", events)?;
    fdt.property_u32("type", kind(unit.domain))?;
    match unit.domain {
        Domain::Nest => {
            fdt.property_u32("size", REGION_SIZE as u32)?;
            fdt.property_u32("offset", REGION as u32)?;
            fdt.property_u32("cb_offset", CONTROL_BLOCK as u32)?;
            if let Some((homes, numbers)) = chips {
                fdt.property_array_u64("base-addr", homes)?;
                fdt.property_array_u32("chip-id", numbers)?;
            }
        }
        // The operating system says where.
        Domain::Core | Domain::Thread => fdt.property_u32("size", CORE_SIZE)?,
    }
    fdt.end_node(node)
}

/// The property `type` (N32).
const fn kind(domain: Domain) -> u32 {
    match domain {
        Domain::Nest => 0x10,
        Domain::Core => 4,
        Domain::Thread => 1,
    }
}
