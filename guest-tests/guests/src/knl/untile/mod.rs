//! Guests for the boxes of Knights Landing's untile.
//!
//! Addresses, devices and functions are those of Linux's driver (`uncore_snbep.c`, the knl_ parts), status registers and the UBox's global
//! control those of likwid (docs/notes/knights-landing-drivers.md, section 5).
//!
//! What they count follows two rules. Without the companion's time every instruction is one clock of the untile, of each of its clocks;
//! with it the clocks go at the part's frequencies. An access to a register comes before the clock of its own instruction: the write that
//! starts a counter is the first that it counts, an access that reads or stops it is not counted.

mod boxes;
mod cha_filter;
mod dma;
mod edc_queues;
mod eight_cpus;
mod flat_memory;
mod frequencies;
mod global_freeze;
mod hostile;
mod hybrid_memory;
mod likwid_groups;
mod linux_uncore;
mod mc_cas;
mod mcdram_bandwidth;
mod mesh_events;
mod mesh_routes;
mod pci_probe;
mod streams;
mod thresholds;
mod tor_occupancy;
mod traffic;
mod untile_clocks;

use iced_x86::code_asm::*;

use super::super::runtime::{Built, Kernel, here};

/// A counter's control: it counts.
const EN: u32 = 1 << 22;
/// A counter's control: its overflow is reported.
const OV_EN: u32 = 1 << 20;
/// A box's control: what a driver begins with, both resets and the bit that every part wants set.
const INIT: u32 = 0x1_0003;
/// A box's control: its counters are stopped.
const FREEZE: u32 = 1 << 8;
/// A box's control: its counters become zero.
const RESET_COUNTERS: u32 = 1 << 1;

/// Waits until the untile's clock advances with this CPU's, and with no other: a CPU that is about to halt may have run further. Changes
/// RAX, RCX, RDX and R8 to R10.
fn catch_up(k: &mut Kernel) -> Built<()> {
    let mut again = k.a.create_label();
    k.wrmsr(0x703, EN.into())?;
    for register in [r8, r9, r10] {
        k.a.xor(register, register)?;
    }
    here(&mut k.a, &mut again)?;
    k.rdmsr(0x704)?;
    k.a.mov(rdx, rax)?;
    k.a.sub(rax, r8)?;
    k.a.mov(r8, rdx)?;
    k.a.inc(r9)?;
    // A hundred turns of this loop in a row, of 12 instructions each, every one a clock.
    k.a.cmp(rax, 12)?;
    k.a.cmovne(r9, r10)?;
    k.a.cmp(r9, 100)?;
    k.a.jne(again)?;
    k.wrmsr(0x703, 0)
}

super::super::guests! {
    "knl" X86;
    "pci-probe" 1 steps pci_probe "scans configuration space for the untile's boxes as Linux does, and checks their headers";
    "linux-uncore" 1 steps linux_uncore "drives every box as Linux does: init, freeze, program, count, read in two halves";
    "untile-clocks" 1 steps untile_clocks "counts the clock of every box by events and fixed counters";
    "untile-frequencies" 1 companion frequencies "compares the untile's three clocks with each other and with the core's";
    "thresholds" 1 events thresholds "applies thresholds, inversion and edge detection to clocks and reads";
    "mesh-events" 1 steps mesh_events "programs every event of the mesh stop in every kind of box";
    "mesh-routes" 1 events mesh_routes "reads lines of known CHAs, and compares what every mesh stop saw with the floor plan";
    "global-freeze" 2 steps global_freeze "has an overflow freeze every box and interrupt a tile, and acknowledges it";
    "likwid-groups" 1 steps likwid_groups "drives the untile as likwid does, by its global control";
    "untile-eight-cpus" 8 steps eight_cpus "has eight CPUs program boxes, their own and shared ones, at once";
    "untile-hostile" 2 steps hostile "writes patterns to every register of every box from two CPUs at once, and counts afterwards";
    "mcdram-bandwidth" 1 events mcdram_bandwidth "computes MCDRAM's bandwidth as a cache from seven events, by section 3.1 of the manual";
    "flat-memory" 1 (Flat) events flat_memory "reads and writes MCDRAM that is memory, and computes its bandwidth from its queues";
    "hybrid-memory" 1 (HybridHalf) events hybrid_memory "reads and writes MCDRAM of which half is memory and half a cache of DDR";
    "mc-cas" 1 events mc_cas "counts reads and writes of every channel of DDR";
    "edc-queues" 1 events edc_queues "counts what enters MCDRAM's queues while it holds everything";
    "cha-filter" 2 events cha_filter "has the CHAs filter requests by opcode, node, state and thread";
    "dma" 1 events dma "has a device read, write and add in memory, and counts its lines at the IRP, M2PCIe and the CHAs";
    "tor-occupancy" 1 events tor_occupancy "computes how long requests stay in the CHAs' tables";
}
