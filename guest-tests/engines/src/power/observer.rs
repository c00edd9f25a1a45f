//! The hooks of the engine: how a performance monitor is attached.

use super::radix::{RadixWalk, TreeWalk};
use super::registers::{bescr, msr, spr};
use super::state::Core;
use super::step::{DeviceActivity, Notice, Step};

/// Why a register access is not performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprFault {
    /// The observer does not have this register: the engine's own rules hold.
    Unclaimed,
    /// A facility unavailable interrupt: F80h and HFSCR if the hypervisor keeps the facility away, else F60h and FSCR.
    FacilityUnavailable {
        /// Whether the hypervisor keeps it away.
        hypervisor: bool,
        /// The interrupt cause of FSCR or HFSCR, bits 0:7.
        cause: u8,
    },
    /// A hypervisor emulation assistance interrupt, E40h.
    EmulationAssistance,
    /// A program interrupt for a privileged instruction, 700h.
    Privileged,
    /// The access does nothing: a read leaves its register alone.
    NoOp,
}

/// What an observer asks for after a step or a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alerts {
    /// Stop the machine with [`Exit::Observer`](super::Exit::Observer).
    pub stop: bool,
    /// How many cycles it took, instead of its own number. The time base follows.
    pub cycles: Option<u32>,
}

impl Alerts {
    /// Nothing.
    pub const NONE: Self = Self { stop: false, cycles: None };
}

/// What a performance monitor holds pending for its CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// A performance monitor interrupt, a level: taken at F00h as soon as MSR.EE allows it, and again as long as it is there.
    pub interrupt: bool,
    /// BESCR.PME and BESCR.PMEO as they are now; `None` leaves both as software has them.
    pub event_based: Option<EventBased>,
}

/// The two bits of BESCR that belong to the performance monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventBased {
    /// PME, bit 31: enabled.
    pub enabled: bool,
    /// PMEO, bit 63: occurred. An event-based branch is taken while this is set, GE is, and the CPU is in problem state.
    pub occurred: bool,
}

/// A read-only view of one CPU.
#[derive(Clone, Copy)]
pub struct CpuView<'a> {
    core: &'a Core,
}

impl std::fmt::Debug for CpuView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuView")
            .field("index", &self.index())
            .field("pc", &format_args!("{:#x}", self.pc()))
            .field("msr", &format_args!("{:#x}", self.msr()))
            .field("cr", &format_args!("{:#x}", self.cr()))
            .field("gpr", &format_args!("{:x?}", self.core.gpr))
            .finish_non_exhaustive()
    }
}

impl<'a> CpuView<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        Self { core }
    }

    /// Number of the CPU.
    #[must_use]
    pub fn index(&self) -> usize {
        self.core.index
    }

    /// Address of the current instruction; in [`Observer::retire`] and after it that of the next one.
    #[must_use]
    pub fn pc(&self) -> u64 {
        self.core.pc
    }

    /// The machine state register.
    #[must_use]
    pub fn msr(&self) -> u64 {
        self.core.msr
    }

    /// MSR.PR: problem state.
    #[must_use]
    pub fn problem(&self) -> bool {
        self.core.msr & msr::PR != 0
    }

    /// MSR.HV=1 and PR=0: hypervisor state.
    #[must_use]
    pub fn hypervisor(&self) -> bool {
        self.core.hypervisor()
    }

    /// How the trees translate the effective address `address` of an access in the state `state` (MSR), if they do. An access while only one
    /// of MSR.IR and DR is set is taken as DR says.
    #[must_use]
    pub fn radix_walk(&self, address: u64, state: u64) -> Option<RadixWalk> {
        self.core.look_up(address, state)
    }

    /// The doubleword of RAM at `address`, as the guest translates data and in its byte order; `None` where there is none, where it is not
    /// aligned, or where a partition's tree translates what the guest's does. This changes nothing.
    #[must_use]
    pub fn peek(&self, address: u64) -> Option<u64> {
        let real = match (self.translates(), address.is_multiple_of(8)) {
            (_, false) => return None,
            (false, _) => Core::real(address),
            (true, _) => self.radix_walk(address, self.core.msr).filter(|walk| !walk.guest)?.walk.real,
        };
        let mut bytes = [0; 8];
        self.core.shared.memory.read_bytes(real, &mut bytes).ok()?;
        Some(if self.core.little_endian() { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// Whether radix trees translate addresses: LPCR has HR and UPRT.
    #[must_use]
    pub fn translates(&self) -> bool {
        self.core.radix()
    }

    /// How the tree of the partition in LPIDR translates the guest real address `real`.
    #[must_use]
    pub fn partition_walk(&self, real: u64) -> Option<TreeWalk> {
        self.core.partition_walk(self.core.peek_spr(spr::LPIDR), real)
    }

    /// A general purpose register; numbers above 31 read as 0.
    #[must_use]
    pub fn gpr(&self, number: usize) -> u64 {
        self.core.gpr.get(number).copied().unwrap_or(0)
    }

    /// The bits of a floating-point register; numbers above 31 read as 0.
    #[must_use]
    pub fn fpr(&self, number: usize) -> u64 {
        self.core.fpr.get(number).copied().unwrap_or(0)
    }

    /// The condition register, 32 bits.
    #[must_use]
    pub fn cr(&self) -> u32 {
        self.core.cr
    }

    /// The link register.
    #[must_use]
    pub fn lr(&self) -> u64 {
        self.core.lr
    }

    /// The count register.
    #[must_use]
    pub fn ctr(&self) -> u64 {
        self.core.ctr
    }

    /// The fixed-point exception register.
    #[must_use]
    pub fn xer(&self) -> u64 {
        self.core.xer
    }

    /// A special purpose register that the engine keeps, by the number it is read by, without any rule of access. 0 for registers it does
    /// not have.
    #[must_use]
    pub fn spr(&self, number: u16) -> u64 {
        self.core.peek_spr(number)
    }

    /// The run latch, CTRL bit 63.
    #[must_use]
    pub fn run(&self) -> bool {
        self.core.spr[usize::from(spr::CTRL)] & 1 != 0
    }

    /// The facility status and control register.
    #[must_use]
    pub fn fscr(&self) -> u64 {
        self.core.spr[usize::from(spr::FSCR)]
    }

    /// The hypervisor facility status and control register.
    #[must_use]
    pub fn hfscr(&self) -> u64 {
        self.core.spr[usize::from(spr::HFSCR)]
    }

    /// The event-based branch status and control register.
    #[must_use]
    pub fn bescr(&self) -> u64 {
        self.core.bescr()
    }

    /// BESCR.PME and BESCR.PMEO.
    #[must_use]
    pub fn event_based(&self) -> EventBased {
        let value = self.core.bescr();
        EventBased { enabled: value & bescr::PME != 0, occurred: value & bescr::PMEO != 0 }
    }

    /// The logical partition control register.
    #[must_use]
    pub fn lpcr(&self) -> u64 {
        self.core.spr[usize::from(spr::LPCR)]
    }

    /// The number of the logical partition.
    #[must_use]
    pub fn lpidr(&self) -> u64 {
        self.core.spr[usize::from(spr::LPIDR)]
    }

    /// The priority of the thread, 1 (very low) to 7 (very high); 4 is normal.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.core.priority()
    }

    /// The time base.
    #[must_use]
    pub fn time_base(&self) -> u64 {
        self.core.time_base()
    }

    /// Cycles since the start. Up to [`Observer::retire`] the current step's are not in it yet.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.core.cycles
    }

    /// Whether the CPU waits for an interrupt after `stop` or `wait`.
    #[must_use]
    pub fn waiting(&self) -> bool {
        self.core.waiting
    }
}

/// Watches one CPU, and takes the place of its performance monitor.
///
/// Order within a step: the register hook of the instruction, if any; then [`Observer::retire`]; then, if MSR, CTRL, FSCR, HFSCR,
/// BESCR, LPCR, LPIDR or the priority changed, or the CPU begins to wait, [`Observer::context`]; then, before the next instruction, [`Observer::pending`]. A
/// step therefore belongs to the context in force when it started. An interrupt is a [`Observer::notice`], then a context.
pub trait Observer {
    /// `mfspr` of any number, in any state, before the engine's own registers and rules.
    ///
    /// # Errors
    ///
    /// [`SprFault`]: what happens instead; [`SprFault::Unclaimed`] leaves the access to the engine.
    fn read_spr(&mut self, number: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        let _ = (number, cpu);
        Err(SprFault::Unclaimed)
    }

    /// `mtspr` of any number, in any state, before the engine's own registers and rules.
    ///
    /// # Errors
    ///
    /// [`SprFault`]: what happens instead; [`SprFault::Unclaimed`] leaves the access to the engine.
    fn write_spr(&mut self, number: u16, value: u64, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        let _ = (number, value, cpu);
        Err(SprFault::Unclaimed)
    }

    /// `mfbhrbe` of entry `index`, 0 to 1023, in any state. Reads 0 by default.
    ///
    /// # Errors
    ///
    /// [`SprFault`]: what happens instead.
    fn branch_history(&mut self, index: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        let _ = (index, cpu);
        Ok(0)
    }

    /// `clrbhrb`, in any state.
    ///
    /// # Errors
    ///
    /// [`SprFault`]: what happens instead.
    fn clear_branch_history(&mut self, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        let _ = cpu;
        Ok(())
    }

    /// `mfimc`: reads entry `index`, 0 to 1023, of the instruction matching facility, in any state. See the
    /// [module](super#the-instruction-matching-facility) for its encoding.
    ///
    /// # Errors
    ///
    /// [`SprFault`]: what happens instead. [`SprFault::Unclaimed`] makes it an illegal instruction.
    fn read_instruction_match(&mut self, index: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        let _ = (index, cpu);
        Err(SprFault::Unclaimed)
    }

    /// `mtimc`: writes entry `index`, 0 to 1023, of the instruction matching facility, in any state.
    ///
    /// # Errors
    ///
    /// [`SprFault`]: what happens instead. [`SprFault::Unclaimed`] makes it an illegal instruction.
    fn write_instruction_match(&mut self, index: u16, value: u64, cpu: &CpuView<'_>) -> Result<(), SprFault> {
        let _ = (index, value, cpu);
        Err(SprFault::Unclaimed)
    }

    /// `attn`, the instruction by which a CPU calls its support processor, in hypervisor state. Returns the value for GPR 3, or `None`
    /// where there is no such processor, which makes it an illegal instruction. Firmware contains it where the engine's host performs the
    /// call.
    #[cold]
    fn attention(&mut self, cpu: &CpuView<'_>) -> Option<u64> {
        let _ = cpu;
        None
    }

    /// MSR, CTRL, FSCR, HFSCR, BESCR, LPCR, LPIDR or the priority changed. Also called once at the start of every run.
    fn context(&mut self, cpu: &CpuView<'_>) {
        let _ = cpu;
    }

    /// A device did something by itself in an instruction, in its order: before the step of the instruction is reported. Bytes are as it
    /// left them.
    fn device(&mut self, activity: &DeviceActivity) {
        let _ = activity;
    }

    /// An instruction completed. Registers and memory are as it left them, the cycles as it found them.
    #[inline]
    fn retire(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        let _ = (step, cpu);
        Alerts::NONE
    }

    /// An interrupt or event-based branch is taken; registers are as before it.
    fn notice(&mut self, notice: &Notice, cpu: &CpuView<'_>) -> Alerts {
        let _ = (notice, cpu);
        Alerts::NONE
    }

    /// What the performance monitor holds pending. Called before every instruction, and while the CPU waits.
    #[inline]
    fn pending(&mut self) -> Pending {
        Pending::default()
    }

    /// `cycles` cycles elapsed while the CPU waited after `stop` or `wait`.
    fn waited(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// How many cycles may elapse while the CPU waits before [`Observer::pending`] could change by itself; `None` when it never does.
    fn wait_deadline(&self) -> Option<u64> {
        None
    }
}

/// The observer that watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
