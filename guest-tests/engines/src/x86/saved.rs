//! The state of a machine between two steps, in terms of the architecture: any engine can continue from it.

use serde::{Deserialize, Serialize};

use crate::dma::DmaState;
use crate::memory::DecodedLines;
use crate::pages::Page;

/// A machine between two steps: its CPUs, its memory, and what they share. The owners of ports and devices save theirs.
///
/// [`Machine::save`](super::Machine::save) makes one, [`Machine::restore`](super::Machine::restore) takes it. What an engine does not have
/// may stay as in [`Saved::default`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Bytes of RAM, which starts at 0.
    pub ram: u64,
    /// The CPUs, in the order of their APIC IDs.
    pub cpus: Vec<CpuState>,
    /// Whose turn it is, where CPUs run in turn.
    pub turn: Turn,
    /// The pages of RAM that are not all zeros, in ascending order.
    pub pages: Vec<Page>,
    /// The lines of RAM that a decoder has read since they were last written, by page in ascending order.
    /// [`Step::code_written`](super::Step::code_written) reports a store to such a line.
    pub decoded: Vec<DecodedLines>,
    /// What was written to the console, at most a MiB.
    pub console: Vec<u8>,
    /// The PCI configuration address, of port CF8h.
    pub configuration_address: u32,
    /// The device that accesses RAM by itself, if the machine has it.
    pub dma: Option<DmaState>,
}

/// The round of CPUs that run in turn. In a round each that is not halted takes so many steps, and then time advances for those that are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The CPU whose turn it is.
    pub cpu: usize,
    /// How many steps of its turn it has taken.
    pub taken: u32,
    /// The cycle, by its own clock, at which each CPU before it began its turn, and it too if it has taken steps. One that is missing
    /// begins as it is.
    pub began: Vec<u64>,
    /// Some CPU had something to do in this round.
    pub running: bool,
    /// Cycles that elapsed on the CPU that ran longest in this round.
    pub ran: u64,
    /// Cycles until the first of the halted CPUs before it wakes by itself, if one does.
    pub wake: Option<u64>,
}

/// One CPU in 64-bit mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuState {
    /// RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, and R8 to R15.
    pub gpr: [u64; 16],
    /// The address of the next instruction.
    pub rip: u64,
    /// RFLAGS, without RF.
    pub rflags: u64,
    /// The current privilege level, 0 to 3.
    pub cpl: u8,
    /// ES, CS, SS, DS, FS, GS. The bases of the last two are the MSRs FS_BASE and GS_BASE.
    pub segments: [SegmentState; 6],
    /// The global descriptor table.
    pub gdtr: TableState,
    /// The interrupt descriptor table.
    pub idtr: TableState,
    /// The local descriptor table.
    pub ldtr: SegmentState,
    /// The task register.
    pub tr: SegmentState,
    /// CR0; protection and paging are on.
    pub cr0: u64,
    /// CR2, the address of the last page fault.
    pub cr2: u64,
    /// CR3, the root of the page tables.
    pub cr3: u64,
    /// CR4; PAE is on.
    pub cr4: u64,
    /// DR0 to DR7, of which 4 and 5 do not exist.
    pub dr: [u64; 8],
    /// XMM0 to XMM15, the low half of each first.
    pub xmm: [[u64; 2]; 16],
    /// Model-specific registers but those of performance monitoring.
    pub msrs: MsrState,
    /// What holds off interrupts before the next instruction.
    pub shadow: Shadow,
    /// The CPU waits in HLT.
    pub halted: bool,
    /// A non-maskable interrupt is latched.
    pub nmi_pending: bool,
    /// Non-maskable interrupts are blocked until IRET.
    pub nmi_blocked: bool,
    /// A debug trap of a single step is due before the next instruction.
    pub debug_trap: bool,
    /// The next instruction is a repeated one that has begun: interrupts push RF.
    pub repeating: bool,
    /// Cycles since the start, halted ones included.
    pub cycles: u64,
    /// The local APIC.
    pub apic: ApicState,
    /// Interrupts on their way to it.
    pub mail: MailState,
    /// Translations that the CPU remembers, whatever its page tables now contain. An engine may leave them out, as processors may forget
    /// any at any time; a guest that changes its tables without a flush sees the change earlier then.
    pub translations: Vec<Translation>,
    /// The translation that instructions are fetched by, which lasts until execution leaves the page. An engine may leave it out too.
    pub fetching: Option<Fetching>,
}

impl CpuState {
    /// CR8: the upper half of the local APIC's task priority.
    ///
    /// ```
    /// use vm_pmu_engines::x86::{ApicState, CpuState};
    ///
    /// let state = CpuState { apic: ApicState { tpr: 0x93, ..ApicState::default() }, ..CpuState::default() };
    /// assert_eq!(state.cr8(), 9);
    /// ```
    #[must_use]
    pub fn cr8(&self) -> u64 {
        u64::from(self.apic.tpr >> 4)
    }
}

/// A segment register, or LDTR or TR, with what was read from its descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentState {
    /// The selector.
    pub selector: u16,
    /// The base.
    pub base: u64,
    /// The limit in bytes.
    pub limit: u32,
    /// Bits 40 to 47 of the descriptor: type, S, DPL, P. A code segment is always one of 64-bit code.
    pub access: u8,
}

/// GDTR or IDTR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableState {
    /// The base.
    pub base: u64,
    /// The limit in bytes.
    pub limit: u16,
}

/// Model-specific registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MsrState {
    /// The time-stamp counter.
    pub tsc: u64,
    /// TSC_AUX, which RDTSCP shows.
    pub tsc_aux: u64,
    /// APIC_BASE.
    pub apic_base: u64,
    /// SYSENTER_CS, SYSENTER_ESP and SYSENTER_EIP.
    pub sysenter: [u64; 3],
    /// PAT.
    pub pat: u64,
    /// EFER; long mode is on.
    pub efer: u64,
    /// STAR.
    pub star: u64,
    /// LSTAR.
    pub lstar: u64,
    /// CSTAR.
    pub cstar: u64,
    /// SFMASK.
    pub sfmask: u64,
    /// KERNEL_GS_BASE.
    pub kernel_gs_base: u64,
}

/// What holds off interrupts for one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shadow {
    /// Nothing.
    #[default]
    None,
    /// STI with IF clear before: maskable interrupts wait.
    Sti,
    /// A load of SS: NMIs and debug traps wait too.
    Stack,
}

/// A local APIC in xAPIC mode. Its ID is the CPU's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApicState {
    /// The task priority.
    pub tpr: u8,
    /// The logical destination register.
    pub ldr: u32,
    /// The destination format register.
    pub dfr: u32,
    /// The spurious-interrupt vector register.
    pub svr: u32,
    /// The vectors in service, bit n of word m for vector 64 m + n.
    pub isr: [u64; 4],
    /// The vectors requested.
    pub irr: [u64; 4],
    /// The error status register, as it reads.
    pub esr: u32,
    /// Errors since it was last written.
    pub esr_pending: u32,
    /// The low half of the interrupt command register.
    pub icr_low: u32,
    /// Its high half.
    pub icr_high: u32,
    /// The local vector table: timer, thermal sensor, performance counters, LINT0, LINT1, error.
    pub lvt: [u32; 6],
    /// The timer.
    pub timer: TimerState,
}

/// The timer of a local APIC, which counts the CPU's cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerState {
    /// The initial count.
    pub initial: u32,
    /// The divide configuration register.
    pub divide: u32,
    /// The cycle at which the current period started.
    pub start: u64,
    /// The count that it started from; 0 while the timer is stopped.
    pub from: u32,
}

/// Interrupts that the CPU has not yet taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailState {
    /// Fixed interrupts, bit n of word m for vector 64 m + n.
    pub fixed: [u64; 4],
    /// A non-maskable interrupt.
    pub nmi: bool,
    /// The performance-counter interrupt of the local vector table.
    pub performance: bool,
}

/// A translation of a page of 4 KiB, or of such a piece of a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// The linear address divided by 4096.
    pub page: u64,
    /// The physical address divided by 4096.
    pub frame: u64,
    /// What it allows: bits 0 to 2 reads, writes and fetches at levels 0 to 2, bits 3 to 5 the same at level 3. Writes only once the page is
    /// marked dirty.
    pub grants: u8,
}

/// The translation that instructions are fetched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetching {
    /// The linear address divided by 4096.
    pub page: u64,
    /// The physical address divided by 4096.
    pub frame: u64,
    /// It is for level 3, and for no other; else for levels 0 to 2.
    pub user: bool,
}
