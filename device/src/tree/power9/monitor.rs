//! The PMU of the core.

use vm_fdt::FdtWriter;

use super::Error;

/// The property `isa` of features of version 3.0B of the architecture, and of the node `ibm,powerpc-cpu-features` of a POWER9 (skiboot
/// `core/cpufeatures.c`, Linux `arch/powerpc/kernel/dt_cpu_ftrs.c`).
pub const ISA: u32 = 3000;

/// The privileges that can use a feature, a bit each: the operating system, and the hypervisor.
const USABLE_BY_OPERATING_SYSTEM: u32 = 1 << 1;
const USABLE_BY_HYPERVISOR: u32 = 1 << 2;

/// How a feature is turned on: the reader knows how, and the tree names no bit of HFSCR or FSCR for it.
const KNOWN_WAY: u32 = 0;

/// Bits 0:15 of the PVR of a POWER9.
const VERSION: u32 = 0x004E;

/// Writes the node `performance-monitor-power9` into the open node, which must be `/cpus/ibm,powerpc-cpu-features`.
///
/// An operating system that finds the parent node takes the features of the processor from it. With this child it sets HFSCR\[60] and uses
/// the PMU of POWER9. The hypervisor and the operating system may use it, and problem state has no hardware capability bit for it. Without
/// the parent node the PVR alone decides, see [`write_cpu_version`]. The embedder writes the parent, with the property `isa` ([`ISA`]), and
/// the other features.
///
/// # Errors
///
/// [`Error::Fdt`]: no node is open, or too many are.
pub fn write_performance_monitor(fdt: &mut FdtWriter) -> Result<(), Error> {
    let node = fdt.begin_node("performance-monitor-power9")?;
    fdt.property_u32("isa", ISA)?;
    fdt.property_u32("usable-privilege", USABLE_BY_HYPERVISOR | USABLE_BY_OPERATING_SYSTEM)?;
    fdt.property_u32("hv-support", KNOWN_WAY)?;
    fdt.property_u32("os-support", KNOWN_WAY)?;
    Ok(fdt.end_node(node)?)
}

/// Writes the property `cpu-version` into the open node, which must be that of a processor (`/cpus/PowerPC,POWER9@...`).
///
/// `version` is the PVR, of 32 bits, as a guest's mfspr reads it: drivers choose their PMU by the PVR, and derive the revision from its
/// fields. With an architected version (0F00xxxxh) instead, an operating system would not know that it is on a POWER9.
///
/// # Errors
///
/// [`Error::NotPower9`] if bits 0:15 are not those of a POWER9; then nothing is written. [`Error::Fdt`]: no node is open, or it has
/// children already.
pub fn write_cpu_version(fdt: &mut FdtWriter, version: u32) -> Result<(), Error> {
    if version >> 16 != VERSION {
        return Err(Error::NotPower9(version));
    }
    Ok(fdt.property_u32("cpu-version", version)?)
}
