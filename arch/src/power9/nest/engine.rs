//! The engine that programs the counters and posts them: what it does in each of its slots.

use super::control::{Command, ControlCell, Mode, SPEEDS, Status};
use super::counter::{Overflow, Prescaler, Setting};
use super::place::{self, CELLS, FLEXIBLE};
use super::posting::Passed;
use super::unit::Kind;
use super::{Nest, Totals};
use crate::memory::Memory;

/// The firmware's version cell and that of slots that came late, from the start of the region.
const VERSION_CELL: u64 = 0x2_FC00;
const LATE_CELL: u64 = 0x2_FC20;
/// The version of the engine that is modelled: major 2, 31 May 2018.
const VERSION: u64 = 0x2000_3105_2018_0000;

/// The slots in which the counters are programmed.
pub(super) const CONFIGURING: u8 = 4;
/// The slots that follow each other.
const SLOTS: u8 = 8;

/// What the engine remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Engine {
    /// Whether it has had its first slot.
    pub begun: bool,
    /// The number of the next slot, 1 to 8.
    pub slot: u8,
    /// Whether it waits for a command.
    pub paused: bool,
    /// Whether it programs the counters.
    pub configuring: bool,
    /// The speed it uses.
    pub speed: u64,
    /// The mode it uses, valid or not.
    pub mode: u64,
    /// The units it uses.
    pub availability: u64,
    /// How many visits each group still waits.
    pub delays: [u8; 7],
    /// Whether the next posting of group 2 is that of the X links.
    pub x_links: bool,
    /// The host bridges that the next posting of group 4 has: 0 and 1, 2 and 3, or 4 and 5.
    pub bridges: u8,
    /// The slots that came late, or not at all.
    pub late: u64,
    /// Whether memory has refused a value that the engine had to write, its status or another of its cells: it writes it again.
    pub untold: bool,
}

impl Engine {
    pub(super) const fn new() -> Engine {
        Engine {
            begun: false,
            slot: 1,
            paused: false,
            configuring: false,
            speed: 0,
            mode: 0,
            availability: 0,
            delays: [0; 7],
            x_links: false,
            bridges: 0,
            late: 0,
            untold: false,
        }
    }

    /// The status that forbids posting, while speed or mode is invalid.
    const fn complaint(&self) -> Option<Status> {
        if Mode::of_value(self.mode).is_none() {
            Some(Status::BadMode)
        } else if self.speed >= SPEEDS {
            Some(Status::BadSpeed)
        } else {
            None
        }
    }

    /// Whether counters are posted.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.begun && !self.paused && !self.configuring && self.complaint().is_none()
    }

    /// Whether it counts the flexible mode's events.
    pub(super) const fn is_flexible(&self) -> bool {
        matches!(Mode::of_value(self.mode), Some(Mode::Flexible))
    }

    /// The prescaler that it programs: a slower speed would lose what goes beyond 16 bits.
    pub(super) const fn prescaler(&self) -> Prescaler {
        if self.speed < 4 { Prescaler::By8 } else { Prescaler::By16 }
    }

    /// Programs the counters from the first slot on.
    fn configure_anew(&mut self) {
        self.configuring = true;
        self.slot = 1;
    }

    /// Whether a visit to `group` posts it.
    fn visit(&mut self, group: u8) -> bool {
        let speed = self.speed.min(SPEEDS) as u8;
        let wait = if group < 4 { speed } else { speed / 8 };
        let Some(delay) = self.delays.get_mut(usize::from(group.saturating_sub(1))) else { return false };
        let due = *delay == 0;
        *delay = if due { wait } else { *delay - 1 };
        due
    }
}

impl Nest {
    /// One slot: reads the control block, and posts what is due.
    pub(super) fn slot<M: Memory>(&mut self, totals: &Totals, memory: &M, passed: &mut Passed<M::Error>) {
        self.write_again(memory, passed);
        self.begin(memory, passed);
        self.obey(totals, memory, passed);
        let status = self.engine.complaint();
        match status {
            Some(status) => self.write_cell(ControlCell::Status, status.value(), memory, passed),
            None if self.engine.configuring => self.configure(memory, passed),
            None if self.engine.paused => {}
            None => self.post_slot(totals, memory, passed),
        }
        self.engine.slot = self.engine.slot % SLOTS + 1;
    }

    fn write_cell<M: Memory>(&mut self, cell: ControlCell, value: u64, memory: &M, passed: &mut Passed<M::Error>) {
        self.store(cell.address(self.home), value, memory, passed);
    }

    fn store<M: Memory>(&mut self, address: u64, value: u64, memory: &M, passed: &mut Passed<M::Error>) {
        self.engine.untold |= passed.take(memory.store(address, value));
    }

    /// Writes again what memory has refused, so that a later reader finds an engine that has begun. The cells get their present values. A
    /// command that could not be cleared is still there, and is obeyed again.
    fn write_again<M: Memory>(&mut self, memory: &M, passed: &mut Passed<M::Error>) {
        if !core::mem::take(&mut self.engine.untold) {
            return;
        }
        self.store(place::address(self.home, VERSION_CELL), VERSION, memory, passed);
        if self.read_cell(ControlCell::Availability, 0, memory, passed) == 0 {
            self.write_cell(ControlCell::Availability, self.engine.availability, memory, passed);
        }
        let status = match self.engine.complaint() {
            Some(complaint) => complaint,
            None if self.engine.configuring => Status::Initializing,
            None if self.engine.paused => Status::Paused,
            None => Status::Running,
        };
        self.write_cell(ControlCell::Status, status.value(), memory, passed);
        if status == Status::Running || status == Status::Paused {
            self.write_cell(ControlCell::ModeInForce, self.engine.mode, memory, passed);
        }
        if self.engine.late != 0 {
            self.store(place::address(self.home, LATE_CELL), self.engine.late, memory, passed);
        }
    }

    /// The value of a cell, or its value `before` where it cannot be read.
    fn read_cell<M: Memory>(&self, cell: ControlCell, before: u64, memory: &M, passed: &mut Passed<M::Error>) -> u64 {
        match memory.load(cell.address(self.home)) {
            Ok(value) => value,
            Err(error) => {
                passed.take(Err(error));
                before
            }
        }
    }

    /// The first slot of all.
    fn begin<M: Memory>(&mut self, memory: &M, passed: &mut Passed<M::Error>) {
        if self.engine.begun {
            return;
        }
        self.engine.begun = true;
        self.clear(memory, passed);
        self.store(place::address(self.home, VERSION_CELL), VERSION, memory, passed);
        self.write_cell(ControlCell::Status, Status::Initializing.value(), memory, passed);
        self.write_cell(ControlCell::Command, 0, memory, passed);
        if self.read_cell(ControlCell::Availability, 0, memory, passed) == 0 {
            self.write_cell(ControlCell::Availability, self.availability.0, memory, passed);
        }
        self.engine.speed = self.read_cell(ControlCell::Speed, 0, memory, passed);
        self.engine.availability = self.read_cell(ControlCell::Availability, self.availability.0, memory, passed);
        self.engine.mode = self.read_cell(ControlCell::Mode, 0, memory, passed);
        self.engine.configure_anew();
    }

    /// Checks for a command, another speed, other units, another mode.
    fn obey<M: Memory>(&mut self, totals: &Totals, memory: &M, passed: &mut Passed<M::Error>) {
        let mut begins = false;
        let mut clears = false;
        if let Some(command) = Command::of_value(self.read_cell(ControlCell::Command, 0, memory, passed)) {
            match command {
                Command::Resume => {
                    self.engine.paused = false;
                    self.write_cell(ControlCell::Status, Status::Running.value(), memory, passed);
                }
                Command::Pause => {
                    self.engine.paused = true;
                    self.forget_readings();
                    self.write_cell(ControlCell::Status, Status::Paused.value(), memory, passed);
                }
                Command::Clear => {
                    self.engine.paused = false;
                    (begins, clears) = (true, true);
                }
            }
            self.write_cell(ControlCell::Command, 0, memory, passed);
        }
        let speed = self.read_cell(ControlCell::Speed, self.engine.speed, memory, passed);
        let availability = self.read_cell(ControlCell::Availability, self.engine.availability, memory, passed);
        let mode = self.read_cell(ControlCell::Mode, self.engine.mode, memory, passed);
        if speed != self.engine.speed {
            (begins, clears) = (true, true);
        }
        begins |= availability != self.engine.availability || mode != self.engine.mode;
        (self.engine.speed, self.engine.availability, self.engine.mode) = (speed, availability, mode);
        if clears {
            self.clear(memory, passed);
        }
        if begins {
            self.write_cell(ControlCell::Status, Status::Initializing.value(), memory, passed);
            self.engine.configure_anew();
        }
        if self.engine.configuring && self.engine.slot == 1 && self.engine.complaint().is_none() {
            self.program(totals);
        }
    }

    /// Clears the postings of both modes, and what has still to be added to them.
    fn clear<M: Memory>(&mut self, memory: &M, passed: &mut Passed<M::Error>) {
        self.pending.fill(0);
        for first in [0, u64::from(FLEXIBLE)] {
            for cell in 0..CELLS as u64 {
                passed.take(memory.store(place::address(self.home, first + 8 * cell), 0));
            }
        }
    }

    /// Programs every counter: all start from zero.
    fn program(&mut self, totals: &Totals) {
        let setting = Setting { prescalers: [self.engine.prescaler(); 4], overflow: Overflow::RunOn };
        self.settings.fill(setting);
        self.restart(totals);
        self.forget_readings();
    }

    /// A slot of configuration; at the end of the fourth it is done.
    fn configure<M: Memory>(&mut self, memory: &M, passed: &mut Passed<M::Error>) {
        if self.engine.slot < CONFIGURING {
            return;
        }
        self.engine.configuring = false;
        let status = if self.engine.paused { Status::Paused } else { Status::Running };
        self.write_cell(ControlCell::Status, status.value(), memory, passed);
        self.write_cell(ControlCell::ModeInForce, self.engine.mode, memory, passed);
    }

    /// Posts what is due of the groups that this slot visits.
    fn post_slot<M: Memory>(&mut self, totals: &Totals, memory: &M, passed: &mut Passed<M::Error>) {
        let second = match self.engine.slot {
            2 => 4,
            4 => 5,
            6 => 6,
            8 => 7,
            _ => 2,
        };
        let first = if second == 2 { 1 } else { 3 };
        for group in [first, second] {
            if self.engine.visit(group) {
                self.post_turn(group, totals, memory, passed);
            }
        }
    }

    /// Posts `group`, or the part of it whose turn it is.
    fn post_turn<M: Memory>(&mut self, group: u8, totals: &Totals, memory: &M, passed: &mut Passed<M::Error>) {
        match group {
            2 => {
                let x_links = self.engine.x_links;
                self.engine.x_links = !x_links;
                if x_links {
                    self.post_group(2, &|unit| unit.kind != Kind::ALink, totals, memory, passed);
                } else {
                    self.post_banks(2, &|unit| unit.kind == Kind::ALink, totals, memory, passed);
                }
            }
            4 => {
                let pair = self.engine.bridges.min(2);
                self.engine.bridges = (pair + 1) % 3;
                self.post_group(4, &|unit| unit.number / 2 == pair, totals, memory, passed);
            }
            _ => self.post_group(group, &|_| true, totals, memory, passed),
        }
    }

    /// Reports slots that came late to the guest.
    pub(super) fn report_late<M: Memory>(&mut self, slots: u64, memory: &M, passed: &mut Passed<M::Error>) {
        self.engine.late = self.engine.late.wrapping_add(slots);
        self.store(place::address(self.home, LATE_CELL), self.engine.late, memory, passed);
    }
}
