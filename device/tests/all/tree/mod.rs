//! The nodes of a POWER9's performance monitors, read back by parsers and by a driver's rules.

mod any;
mod catalogue;
mod described;
mod driver;
mod nodes;
mod parsed;
#[cfg(feature = "memory")]
mod posted;
mod refused;

use parsed::Node;
use vm_pmu::tree::power9::{self, Availability, Chip, Error, ImcCounters};
use vm_pmu::tree::vm_fdt::FdtWriter;

/// Home memory at 8 GiB.
const HOME: u64 = 0x2_0000_0000;

/// Every unit that the availability has a bit for.
const EVERYTHING: Availability = Availability(u64::MAX);

/// A tree with the counters at its root.
fn blob(description: &ImcCounters<'_>) -> Result<Vec<u8>, Error> {
    let mut fdt = FdtWriter::new().unwrap();
    let root = fdt.begin_node("").unwrap();
    power9::write_imc_counters(&mut fdt, description)?;
    fdt.end_node(root).unwrap();
    Ok(fdt.finish().unwrap())
}

/// The same, parsed.
fn tree(description: &ImcCounters<'_>) -> Node {
    parsed::parse(&blob(description).unwrap())
}

/// The nest of one chip with these units.
fn nest_with(availability: Availability) -> Node {
    tree(&ImcCounters::of(&[Chip { availability, ..Chip::new(0, HOME) }]))
}

/// The PMUs that a driver finds there.
fn pmus_with(availability: Availability) -> Vec<driver::Pmu> {
    driver::probe(&nest_with(availability)).unwrap()
}
