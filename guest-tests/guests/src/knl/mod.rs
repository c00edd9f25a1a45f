//! Guests for the PMU of Intel Knights Landing: a hardware thread's own here, the boxes in [`untile`].
//!
//! In what they count, every register access sees the counts up to the instructions before it, and an instruction counts at the level it
//! starts at: the WRMSR that enables a counter is the first instruction counted, the one that disables it is not counted.

mod any_thread;
mod branches;
mod count;
mod filter;
mod freeze;
mod global_control;
mod helpers;
mod hostile;
mod latency;
mod lines;
mod linux_driver;
mod offcore;
mod overflow;
mod part;
mod probe;
mod tile;
pub mod untile;

use super::x86::{EN, INSTRUCTIONS, INT, OS, USR};
use part::PART;

super::x86::for_part! { clock nmi_watchdog profile user_rdpmc }

/// IA32_PERFEVTSEL0.
const SELECT: u32 = 0x186;
/// IA32_PMC0, whose writes take 32 bits and their sign.
const LEGACY: u32 = 0xC1;
/// IA32_A_PMC0, the same counter in full width.
const COUNTER: u32 = 0x4C1;
/// IA32_FIXED_CTR0: instructions; then core clocks and reference clocks.
const FIXED: u32 = 0x309;
/// IA32_FIXED_CTR_CTRL.
const FIXED_CONTROL: u32 = 0x38D;
/// IA32_PERF_GLOBAL_STATUS.
const GLOBAL_STATUS: u32 = 0x38E;
/// IA32_PERF_GLOBAL_CTRL.
const GLOBAL_CONTROL: u32 = 0x38F;
/// IA32_PERF_GLOBAL_OVF_CTRL.
const OVERFLOW_CONTROL: u32 = 0x390;
/// IA32_DEBUGCTL.
const DEBUG_CONTROL: u32 = 0x1D9;

const CLOCKS: u64 = 0x3C;

/// In IA32_FIXED_CTR_CTRL, for IA32_FIXED_CTR0: level 0, the levels above, and an interrupt.
const FIXED_OS: u64 = 1;
const FIXED_USR: u64 = 2;
const FIXED_PMI: u64 = 8;

/// Both general counters and the three fixed ones, in the global registers.
const ALL: u64 = 0x7_0000_0003;
/// The index of RDPMC for IA32_FIXED_CTR0.
const RDPMC_FIXED: u32 = 1 << 30;
/// The values of a counter.
const COUNTER_MASK: u64 = (1 << 40) - 1;

/// What a counter of 40 bits holds that wraps after `n`.
const fn before_overflow(n: u64) -> u64 {
    n.wrapping_neg() & COUNTER_MASK
}

super::guests! {
    "knl" X86;
    "probe" 1 steps probe "detects the PMU as Linux does, from CPUID to a counter that keeps a written value";
    "count" 1 steps count "counts known code on general and fixed counters, read and written in every way";
    "filter" 1 steps filter "counts ring 3 and ring 0 apart and together, on general and fixed counters";
    "branches" 1 steps branches "counts retired branches by all 256 masks of classes";
    "global-control" 1 steps global_control "starts and stops counters together";
    "overflow" 1 steps overflow "takes an interrupt after exactly N, as NMI and as vector, masked, acknowledged and rearmed";
    "freeze" 1 steps freeze "stops every counter at the event that overflows";
    "profile" 1 steps profile "samples ring 3 every 97 instructions and reports a histogram";
    "linux-driver" 1 steps linux_driver "does what Linux does: starts, samples by NMI, handles two overflows at once, resets";
    "nmi-watchdog" 1 steps nmi_watchdog "takes an NMI every 5000 clocks by a fixed counter, and halts in between";
    "user-rdpmc" 1 steps user_rdpmc "reads counters from ring 3, with and without permission, by good and bad indices";
    "hostile" 1 steps hostile "writes every bit of every register, its neighbours, and patterns, at both rings, and counts afterwards";
    "clock" 1 steps clock "counts, samples and halts by cycles, whatever a cycle of the engine is";
    "any-thread" 8 steps any_thread "counts for all four threads of a core: their instructions, and the clock while one runs";
    "tile" 16 events tile "counts the requests of its own tile on each of its CPUs, and none of another tile's";
    "offcore" 16 events offcore "counts reads and writes by what supplied the data: DDR, MCDRAM, another tile, its own tile";
    "latency" 1 events latency "finds the mean time that data takes, by weighted cycles";
}
