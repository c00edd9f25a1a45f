//! Guests for the PMU of AMD K8.
//!
//! In what they count, every register access sees the counts up to the instructions before it, and an instruction counts at the level it
//! starts at: the WRMSR that enables a counter is the first instruction counted, the one that disables it is not counted.

mod branches;
mod call_depth;
mod chase;
mod code;
mod count;
mod dma;
mod edge_mask;
mod false_sharing;
mod filter;
mod hostile;
mod linux_probe;
mod measure;
mod nodes;
mod northbridge;
mod overflow;
mod page_stride;
mod part;
mod self_modifying;
mod stride;
mod turn;
mod two_cpus;

use super::x86::{EN, INSTRUCTIONS, INT, OS, USR};
use part::PART;

super::x86::for_part! { clock nmi_watchdog profile user_rdpmc }

/// PerfEvtSel0.
const SELECT: u32 = 0xC001_0000;
/// PerfCtr0.
const COUNTER: u32 = 0xC001_0004;

const EDGE: u64 = 1 << 18;
const INV: u64 = 1 << 23;

const CLOCKS: u64 = 0x76;

const fn cnt_mask(n: u64) -> u64 {
    n << 24
}

/// The values of a counter.
const COUNTER_MASK: u64 = (1 << 48) - 1;

super::guests! {
    "k8" X86;
    "count" 1 steps count "counts a known mix of instructions by every exact event, read by RDMSR and RDPMC";
    "filter" 1 steps filter "counts ring 3 and ring 0 apart and together";
    "overflow" 1 steps overflow "takes an interrupt after exactly N instructions, as NMI and as vector, masked, late and rearmed";
    "profile" 1 steps profile "samples ring 3 every 97 instructions and reports a histogram";
    "edge-mask" 1 steps edge_mask "counts masked interrupts, edges, and cycles by counter mask and inversion";
    "northbridge" 2 steps northbridge "has two cores claim, block and hand over counters of the northbridge";
    "user-rdpmc" 1 steps user_rdpmc "reads counters from ring 3, with and without permission, by good and bad indices";
    "hostile" 1 steps hostile "writes patterns to every register and its neighbours, at both rings, and counts afterwards";
    "linux-probe" 1 steps linux_probe "does what Linux does: probe, start, stop, sample by NMI";
    "nmi-watchdog" 1 steps nmi_watchdog "does what the K7 watchdogs of Linux and Xen do, and halts in between";
    "two-cpus" 2 steps two_cpus "has two CPUs count and overflow independently at the same time";
    "clock" 1 steps clock "counts, samples and halts by cycles, whatever a cycle of the engine is";
    "chase" 1 companion chase "follows pointers through 2 KiB to 8 MiB";
    "stride" 1 companion stride "loads at distances from 8 to 4160 bytes";
    "page-stride" 1 companion page_stride "loads from up to 1024 pages of 4 KiB, and invalidates their translations";
    "branches" 1 companion branches "takes branches that can be predicted and branches that cannot";
    "call-depth" 1 companion call_depth "nests up to 20 calls";
    "code" 1 companion code "jumps through up to 2 MiB of code and up to 1024 pages";
    "dma" 1 companion dma "has a device read and write memory, and counts its requests, the probes and DRAM";
    "nodes" 2 / 2 companion nodes "reads memory of both nodes, and what the other node modified, while both count requests, probes, DRAM and links";
    "false-sharing" 2 companion false_sharing "has two CPUs write words in one line in turn";
    "self-modifying" 1 companion self_modifying "stores into code, and past the caches";
}
