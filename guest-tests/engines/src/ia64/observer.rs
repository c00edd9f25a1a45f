//! The hooks of the engine: how a performance monitor is attached.

use super::changes::Gate;
use super::float::Float;
use super::registers::{ar, cr, psr};
use super::state::Core;
use super::step::{Notice, Step, Switch};

/// Why a register access is not performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterFault {
    /// A privileged operation fault.
    PrivilegedOperation,
    /// A privileged register fault.
    PrivilegedRegister,
    /// A reserved register or field fault.
    ReservedRegisterField,
}

/// A request of the third-level cache that missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L3Miss {
    /// Cycles until the data arrives.
    pub latency: u32,
    /// The thread runs no instruction before that, in the foreground or back in it; else the observer knows how long it waits.
    pub waits: bool,
}

/// What an observer asks for after a step or a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alerts {
    /// Stop the machine with [`Exit::Observer`](super::Exit::Observer).
    pub stop: bool,
    /// How many cycles it took, instead of its own number.
    pub cycles: Option<u32>,
    /// The step missed the third-level cache: its latency is not among `cycles`, and the threads may change places.
    pub l3_miss: Option<L3Miss>,
    /// Cycles since the thread completed an instruction, if not with this one.
    pub idle: Option<u64>,
}

impl Alerts {
    /// Nothing.
    pub const NONE: Self = Self { stop: false, cycles: None, l3_miss: None, idle: None };
}

/// What PAL_PERF_MON_INFO returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerformanceMonitorInfo {
    /// The second return value, pm_info: counters in bits 7:0, their width in 15:8, the cycles event in 23:16, the event of retired
    /// instructions in 31:24.
    pub info: u64,
    /// The buffer: masks of 256 bits of the PMCs and of the PMDs that are implemented, of the counters that count cycles and of those
    /// that count retired instructions.
    pub buffer: [u64; 16],
}

/// A read-only view of one thread.
#[derive(Clone, Copy)]
pub struct CpuView<'a> {
    core: &'a Core,
}

impl std::fmt::Debug for CpuView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuView")
            .field("index", &self.index())
            .field("ip", &format_args!("{:#x}", self.ip()))
            .field("psr", &format_args!("{:#x}", self.psr()))
            .finish_non_exhaustive()
    }
}

impl<'a> CpuView<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        Self { core }
    }

    /// Number of the thread in the machine: core times threads a core, plus thread.
    #[must_use]
    pub fn index(&self) -> usize {
        self.core.index
    }

    /// Address of the current bundle; in [`Observer::retire`] and after it that of the next instruction's.
    #[must_use]
    pub fn ip(&self) -> u64 {
        self.core.ip
    }

    /// The processor status register, with the slot of the next instruction in `ri`.
    #[must_use]
    pub fn psr(&self) -> u64 {
        self.core.psr_now()
    }

    /// The current privilege level, 0 (the most privileged) to 3.
    #[must_use]
    pub fn cpl(&self) -> u8 {
        (self.core.psr >> psr::CPL_SHIFT & 3) as u8
    }

    /// A general register of the current frame and bank, and whether it is a NaT. Registers outside the frame are 0.
    #[must_use]
    pub fn gr(&self, number: usize) -> (u64, bool) {
        if number < 128 { self.core.gr(number) } else { (0, false) }
    }

    /// The nearest double of a floating-point register.
    #[must_use]
    pub fn fr(&self, number: usize) -> f64 {
        if number < 128 { self.core.fr(number).to_f64() } else { 0.0 }
    }

    /// The significand of a floating-point register.
    #[must_use]
    pub fn fr_significand(&self, number: usize) -> u64 {
        if number < 128 { self.core.fr(number).significand } else { 0 }
    }

    /// A floating-point register.
    #[must_use]
    pub fn float(&self, number: usize) -> Float {
        if number < 128 { self.core.fr(number) } else { Float::default() }
    }

    /// All predicates, without rotation; that of p0 at bit 0.
    #[must_use]
    pub fn predicates(&self) -> u64 {
        self.core.predicates
    }

    /// The address behind the current frame in the backing store, as if all of it were there.
    #[must_use]
    pub fn frame_end(&self) -> u64 {
        self.core.stack.end()
    }

    /// The stacked register that belongs at `address` in the backing store, if it is one of the frame or below it that is not in memory yet.
    #[must_use]
    pub fn stacked_at(&self, address: u64) -> Option<u64> {
        self.core.stack.belonging_at(address)
    }

    /// The little-endian doubleword of RAM at `address`, physical or as an access has it; `None` where there is none, or it is not aligned.
    /// This changes nothing.
    #[must_use]
    pub fn peek(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.core.shared.memory.read_bytes(Core::physical(address), &mut bytes).ok()?;
        address.is_multiple_of(8).then_some(u64::from_le_bytes(bytes))
    }

    /// A predicate, rotated as the instructions see it.
    #[must_use]
    pub fn predicate(&self, number: usize) -> bool {
        number < 64 && self.core.predicate(number)
    }

    /// A branch register.
    #[must_use]
    pub fn br(&self, number: usize) -> u64 {
        self.core.br.get(number).copied().unwrap_or(0)
    }

    /// An application register, without any rule of access.
    #[must_use]
    pub fn ar(&self, number: usize) -> u64 {
        if number < 128 { self.core.peek_ar(number) } else { 0 }
    }

    /// A control register, without any rule or effect of access.
    #[must_use]
    pub fn cr(&self, number: usize) -> u64 {
        if number < 128 { self.core.peek_cr(number) } else { 0 }
    }

    /// The default control register.
    #[must_use]
    pub fn dcr(&self) -> u64 {
        self.core.cr[cr::DCR]
    }

    /// An instruction breakpoint register, 0 to 7.
    #[must_use]
    pub fn ibr(&self, number: usize) -> u64 {
        self.core.ibr.get(number).copied().unwrap_or(0)
    }

    /// A data breakpoint register, 0 to 7.
    #[must_use]
    pub fn dbr(&self, number: usize) -> u64 {
        self.core.dbr.get(number).copied().unwrap_or(0)
    }

    /// The current frame marker: sof 6:0, sol 13:7, sor 17:14, rrb.gr 24:18, rrb.fr 31:25, rrb.pr 37:32.
    #[must_use]
    pub fn cfm(&self) -> u64 {
        self.core.stack.cfm()
    }

    /// The interval time counter.
    #[must_use]
    pub fn itc(&self) -> u64 {
        self.core.peek_ar(ar::ITC)
    }

    /// Cycles of its core since the start. Up to [`Observer::retire`] the current step's are not in it yet.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.core.cycles
    }

    /// Whether the thread is in the foreground of its core.
    #[must_use]
    pub fn foreground(&self) -> bool {
        self.core.foreground
    }

    /// Whether it halted in PAL_HALT or PAL_HALT_LIGHT.
    #[must_use]
    pub fn halted(&self) -> bool {
        self.core.halted.is_some()
    }

    /// In [`Observer::retire`], how many cycles may elapse before the threads of the core may change places by data that returns or the end of a
    /// quantum, if they may: an observer that knows what the thread waits for reports no more at once.
    #[must_use]
    pub fn until_change(&self) -> Option<u64> {
        self.core.change_due.map(|at| at.saturating_sub(self.core.cycles)).filter(|cycles| *cycles != 0)
    }

    /// Its urgency, 0 to 7.
    #[must_use]
    pub fn urgency(&self) -> u8 {
        self.core.urgency
    }
}

/// Watches one thread, and takes the place of its performance monitor.
///
/// Order within a step: the register hook of the instruction, if any; then [`Observer::retire`]; then, if PSR, DCR, an IBR or a DBR
/// changed or the thread halted or woke, [`Observer::context`]; then, before the next instruction, [`Observer::interrupt`]. A step
/// therefore belongs to the context in force when it started. An interruption is a [`Observer::notice`], then a context.
pub trait Observer {
    /// `mov =pmc` at privilege level 0 of any index, 0 to 255. Reads 0 by default.
    ///
    /// # Errors
    ///
    /// [`RegisterFault`]: what happens instead.
    fn read_pmc(&mut self, index: u8, cpu: &CpuView<'_>) -> Result<u64, RegisterFault> {
        let _ = (index, cpu);
        Ok(0)
    }

    /// `mov pmc=` at privilege level 0 of any index, 0 to 255.
    ///
    /// # Errors
    ///
    /// [`RegisterFault`]: what happens instead.
    fn write_pmc(&mut self, index: u8, value: u64, cpu: &CpuView<'_>) -> Result<(), RegisterFault> {
        let _ = (index, value, cpu);
        Ok(())
    }

    /// `mov =pmd` of any index, 0 to 255, at any privilege level. Reads 0 by default.
    ///
    /// # Errors
    ///
    /// [`RegisterFault`]: what happens instead.
    fn read_pmd(&mut self, index: u8, cpu: &CpuView<'_>) -> Result<u64, RegisterFault> {
        let _ = (index, cpu);
        Ok(0)
    }

    /// `mov pmd=` at privilege level 0 of any index, 0 to 255.
    ///
    /// # Errors
    ///
    /// [`RegisterFault`]: what happens instead.
    fn write_pmd(&mut self, index: u8, value: u64, cpu: &CpuView<'_>) -> Result<(), RegisterFault> {
        let _ = (index, value, cpu);
        Ok(())
    }

    /// PSR, DCR, an IBR or a DBR changed, or the thread halted or woke. Also called once at the start of every run.
    fn context(&mut self, cpu: &CpuView<'_>) {
        let _ = cpu;
    }

    /// An instruction retired. Registers and memory are as it left them, the cycles as it found them.
    #[inline]
    fn retire(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        let _ = (step, cpu);
        Alerts::NONE
    }

    /// An interruption is taken, or the firmware was called; for an interruption registers are as before it.
    fn notice(&mut self, notice: &Notice, cpu: &CpuView<'_>) -> Alerts {
        let _ = (notice, cpu);
        Alerts::NONE
    }

    /// The thread goes to the foreground or to the background. The thread that leaves the foreground is notified before the first of the
    /// cycles of the switch. The one that comes may return how many cycles pass before its next instruction, instead of those of the switch.
    fn switched(&mut self, switch: &Switch, cpu: &CpuView<'_>) -> Option<u32> {
        let _ = (switch, cpu);
        None
    }

    /// A change from this thread to the other one is held up.
    fn gated(&mut self, gate: Gate) {
        let _ = gate;
    }

    /// Whether the performance monitor raised an interrupt since the last call: an edge. Called before every instruction of the core, for
    /// the thread in the background too. The vector in PMV becomes pending unless PMV.m is set.
    #[inline]
    fn interrupt(&mut self) -> bool {
        false
    }

    /// `cycles` cycles elapsed in which the thread was in the foreground and ran nothing: it waited for data, or the threads changed
    /// places.
    fn stalled(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// `cycles` cycles elapsed while the core had nothing to run; called for each of its threads.
    fn waited(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// How many cycles may elapse before [`Observer::interrupt`] could change by itself while nothing runs; `None` when it never does.
    fn wait_deadline(&self) -> Option<u64> {
        None
    }

    /// What PAL_PERF_MON_INFO returns.
    fn performance_monitor_info(&self) -> PerformanceMonitorInfo {
        PerformanceMonitorInfo::default()
    }
}

/// The observer that watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
