//! Guests for the boxes of Knights Landing's untile.
//!
//! Addresses, devices and functions are those of Linux's driver (`uncore_snbep.c`, the knl_ parts), status registers and the UBox's global
//! control those of likwid (docs/notes/knights-landing-drivers.md, section 5).
//!
//! What they count follows two rules. Without the companion's time every instruction is one clock of the untile, of whichever clock. An
//! access to a register comes before the clock of its own instruction: the write that starts a counter is the first that it counts, an
//! access that looks at it or stops it is not counted.

mod boxes;
mod linux_uncore;
mod pci_probe;

use super::super::runtime::{Built, Kernel};

/// A counter's control: it counts.
const EN: u32 = 1 << 22;
/// A box's control: what a driver begins with, both resets and the bit that every part wants set.
const INIT: u32 = 0x1_0003;
/// A box's control: its counters stand still.
const FREEZE: u32 = 1 << 8;

super::super::guests! {
    "knl" X86;
    "pci-probe" 1 steps pci_probe "scans configuration space for the untile's boxes as Linux does, and looks at their headers";
    "linux-uncore" 1 steps linux_uncore "drives every box as Linux does: init, freeze, program, count, read in two halves";
}
