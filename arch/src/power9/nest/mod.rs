//! The nest of a POWER9 chip: counters that no instruction reads, and that an engine posts into the guest's memory.
//!
//! Chapter 6 of the POWER9 Performance Monitor Unit User's Guide 1.2, and what public firmware does, as `docs/notes/power9-nest.md` says
//! of each fact.
//!
//! - A PMUlet is a register of four 16-bit counters, each behind a prescaler of 4, 8, 16 or 20 bits; PCIe host bridges have counters of 48
//!   bits. Table 6-1 is [`Kind`], table 6-10 is [`DEFAULT_BANKS`].
//! - An engine on the chip reads them in turn, in slots of 500 us, and adds what they counted to cells of 8 bytes in a region of memory,
//!   big-endian. Before and after each of seven groups it increments a count of updates.
//! - Host software controls the engine through a control block in the same region ([`ControlCell`]): pause, resume, clear, speed, mode.
//! - The embedder or its companion adds events to [`Totals`]; the clocks come from the nest's cycles alone.
//!
//! ```
//! use core::cell::RefCell;
//! use vm_pmu_arch::memory::Memory;
//! use vm_pmu_arch::power9::nest::{Event, Nest, REGION, Totals};
//!
//! /// A megabyte and three quarters, with the home base at 0.
//! struct Ram(RefCell<Vec<u64>>);
//! impl Memory for Ram {
//!     type Error = u64;
//!     fn load(&self, address: u64) -> Result<u64, u64> {
//!         self.0.borrow().get(address as usize / 8).copied().ok_or(address)
//!     }
//!     fn store(&self, address: u64, value: u64) -> Result<(), u64> {
//!         *self.0.borrow_mut().get_mut(address as usize / 8).ok_or(address)? = value;
//!         Ok(())
//!     }
//!     fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
//!         self.store(address, self.load(address)?.wrapping_add(amount))
//!     }
//! }
//!
//! let memory = Ram(RefCell::new(vec![0; 0x1C_0000 / 8]));
//! let (mut nest, totals) = (Nest::new(0), Totals::new());
//! // Four slots program the counters, the next ones post them.
//! nest.advance(4 * nest.slot_cycles(), &totals, &memory).ok().unwrap();
//! totals.add(Event::at(0x48).unwrap(), 1000);
//! nest.advance(8 * nest.slot_cycles(), &totals, &memory).ok().unwrap();
//! // PM_MCS23_64B_RD_OR_WR_DISP_PORT01, behind a prescaler of 8 bits.
//! assert_eq!(memory.load(REGION + 0x48), Ok(1000 >> 8));
//! ```

mod call;
mod clocks;
mod control;
mod counter;
mod engine;
mod place;
mod posting;
mod state;
mod totals;
mod unit;

pub use call::{Call, CallType, Outcome, Request};
pub use clocks::{Clocks, Frequencies};
pub use control::{Command, ControlCell, Mode, SPEEDS, Status};
pub use counter::{Overflow, Prescaler, Setting};
pub use engine::Engine;
pub use place::{Bank, CELLS, CONTROL_BLOCK, DEFAULT_BANKS, FLEXIBLE, FLEXIBLE_BANKS, GROUPS, REGION, REGION_SIZE, Width};
pub use posting::Passed;
pub use state::State;
pub use totals::{Event, TOTALS, Totals};
pub use unit::{Availability, ClockDomain, Grouping, Kind, Unit};

use crate::memory::Memory;
use place::banks;

/// The most slots that the engine has at once; further ones are late and are counted in memory.
const MOST_SLOTS: u32 = 24;

/// The registers of both modes' banks.
const SETTINGS: usize = DEFAULT_BANKS.len() + FLEXIBLE_BANKS.len();

/// The counters of one chip and the engine that posts them.
#[derive(Clone, Debug)]
pub struct Nest {
    home: u64,
    availability: Availability,
    slot_cycles: u64,
    clocks: Clocks,
    /// The cycles to the next slot.
    until: u64,
    engine: Engine,
    settings: [Setting; SETTINGS],
    /// For each counter, the total from which it counts: since it was read, or programmed, or for a free-running one since power-on.
    bases: [u64; TOTALS],
    /// For each free-running counter, its last reading.
    readings: [u64; CELLS],
    /// What has not been added to memory yet.
    pending: [u64; TOTALS],
}

impl Nest {
    /// The counters of a chip whose home base in memory is `home` bytes, with the units of table 6-10, the usual clocks and slots of
    /// 500 us. `home` is a multiple of 8 with the whole region after it; otherwise memory refuses every access.
    #[must_use]
    pub fn new(home: u64) -> Nest {
        let frequencies = Frequencies::default();
        let slot_cycles = frequencies.nest / 2000;
        Nest {
            home,
            availability: Availability::GUIDE,
            slot_cycles,
            clocks: Clocks::new(frequencies),
            until: slot_cycles,
            engine: Engine::new(),
            settings: [Setting::default(); SETTINGS],
            bases: [0; TOTALS],
            readings: [posting::UNKNOWN; CELLS],
            pending: [0; TOTALS],
        }
    }

    /// With these units instead.
    #[must_use]
    pub fn with_units(self, availability: Availability) -> Nest {
        Nest { availability, ..self }
    }

    /// With clocks of these frequencies instead, and slots of 500 us by them.
    #[must_use]
    pub fn with_frequencies(self, frequencies: Frequencies) -> Nest {
        Nest { clocks: Clocks::new(frequencies), ..self }.with_slot(frequencies.nest / 2000)
    }

    /// With a slot every so many cycles of the nest instead, at least one. Between two postings at speeds 0 to 3 a counter of 16 bits holds
    /// no more than 2^24 events: with slots that are many milliseconds apart, the clocks wrap.
    #[must_use]
    pub fn with_slot(self, cycles: u64) -> Nest {
        let slot_cycles = cycles.max(1);
        Nest { slot_cycles, until: slot_cycles, ..self }
    }

    /// The home base in bytes.
    #[must_use]
    pub const fn home(&self) -> u64 {
        self.home
    }

    /// The units that the chip has.
    #[must_use]
    pub const fn units(&self) -> Availability {
        self.availability
    }

    /// The cycles of the nest from one slot to the next.
    #[must_use]
    pub const fn slot_cycles(&self) -> u64 {
        self.slot_cycles
    }

    /// The cycles of the nest to the next slot: an embedder that advances by them before anything else happens has every slot at its time.
    #[must_use]
    pub const fn until_slot(&self) -> u64 {
        self.until
    }

    /// The counts of the clocks.
    #[must_use]
    pub const fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// What the engine does.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Advances the nest by `cycles`, with every slot that comes due. If more than 24 come due at once, the rest are late: they are
    /// counted in memory, and the counters are posted with the next slot, those of 16 bits with what 16 bits hold.
    ///
    /// What memory refuses is reported in the return value and kept for the next time. A posting that could not be cleared is not kept.
    pub fn advance<M: Memory>(&mut self, cycles: u64, totals: &Totals, memory: &M) -> Passed<M::Error> {
        let mut passed = Passed::new();
        let mut left = cycles;
        while left >= self.until {
            if passed.slots == MOST_SLOTS {
                self.advance_late(left, memory, &mut passed);
                return passed;
            }
            left -= self.until;
            self.clocks.advance(self.until);
            self.until = self.slot_cycles;
            self.slot(totals, memory, &mut passed);
            passed.slots += 1;
        }
        self.clocks.advance(left);
        self.until -= left;
        passed
    }

    /// Brings the engine to where host firmware leaves it to an operating system: past the slots that program the counters, and then
    /// paused by a command. For an embedder whose guest begins there; host firmware that runs writes the command itself.
    pub fn boot<M: Memory>(&mut self, totals: &Totals, memory: &M) -> Passed<M::Error> {
        let mut passed = self.advance(self.until, totals, memory);
        for _ in 1..engine::CONFIGURING {
            passed.join(self.advance(self.until, totals, memory));
        }
        passed.take(memory.store(ControlCell::Command.address(self.home), Command::Pause.value()));
        passed.join(self.advance(self.until, totals, memory));
        passed
    }

    /// As power-on leaves it: the same chip, with everything counted and pending forgotten. What is in memory stays: in its first slot
    /// the engine clears the postings, and uses the speed, mode and availability that it finds.
    pub fn reset(&mut self, totals: &Totals) {
        let (engine, until) = (Engine::new(), self.slot_cycles);
        self.clocks = Clocks::new(self.clocks.frequencies);
        (self.engine, self.until) = (engine, until);
        self.settings.fill(Setting::default());
        self.pending.fill(0);
        self.forget_readings();
        self.restart_all(totals);
    }

    /// Advances by `cycles` with more slots than the engine can still have.
    fn advance_late<M: Memory>(&mut self, cycles: u64, memory: &M, passed: &mut Passed<M::Error>) {
        let beyond = cycles - self.until;
        let step = self.slot_cycles.max(1);
        passed.late = 1 + beyond / step;
        self.clocks.advance(cycles);
        self.until = step - beyond % step;
        self.report_late(passed.late, memory, passed);
    }

    /// How the PMUlet counts whose first counter is posted `offset` bytes from the start of the region.
    #[must_use]
    pub fn setting_at(&self, offset: u32) -> Option<Setting> {
        let (flexible, number) = pmulet(offset)?;
        Some(self.setting(flexible, number))
    }

    /// Programs the PMUlet whose first counter is posted `offset` bytes from the start of the region, as tools do that know its
    /// registers: its counters start from zero. The engine programs it anew whenever it configures. Returns whether there is such a
    /// PMUlet.
    pub fn program_at(&mut self, offset: u32, setting: Setting, totals: &Totals) -> bool {
        let Some((flexible, number)) = pmulet(offset) else { return false };
        if let Some(slot) = self.settings.get_mut(place_of(flexible, number)) {
            *slot = setting;
        }
        self.restart_bank(flexible, number, totals);
        true
    }

    fn setting(&self, flexible: bool, number: usize) -> Setting {
        self.settings.get(place_of(flexible, number)).copied().unwrap_or_default()
    }
}

/// The place of a bank's setting.
const fn place_of(flexible: bool, number: usize) -> usize {
    if flexible { DEFAULT_BANKS.len() + number } else { number }
}

/// The mode and number of the PMUlet whose first counter is posted at `offset`.
fn pmulet(offset: u32) -> Option<(bool, usize)> {
    let flexible = offset >= FLEXIBLE;
    let number = banks(flexible).iter().position(|bank| bank.offset == offset && bank.width == Width::Prescaled)?;
    Some((flexible, number))
}
