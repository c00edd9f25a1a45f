//! The engine of a chip: its slots, its control block, its turns (`docs/notes/power9-nest.md`, N2, N5, N12 to N23; P42 to P51).

use std::collections::{BTreeMap, BTreeSet};

use super::counters::{Counters, Frequencies};
use super::map::{
    A_LINKS, AVAILABILITY, CELLS, COMMAND, FLEXIBLE, LATE, MODE, MODE_IN_FORCE, REGION, SPEED, STATUS, VERSION, X_LINKS, updates,
};
use super::memory::Memory;

/// The version that the firmware says: major 2, of 31, 05, 2018.
const FIRMWARE: u64 = 0x2000_3105_2018_0000;
/// The units of table 6-10.
const UNITS: u64 = 0xFFFF_8073_F007_E000;
/// The highest speed and the highest mode.
const MOST_SPEED: u64 = 11;
const MOST_MODE: u64 = 1;
/// How many of the slots that come due at once are had.
const IN_TIME: u128 = 24;

/// A chip as it is at power-on.
#[derive(Clone, Copy)]
pub struct Description {
    /// The home base in bytes.
    pub home: u64,
    /// The vector of its units, if it is not that of the guide.
    pub units: Option<u64>,
    /// The cycles from slot to slot, if they are not 500 us.
    pub slot: Option<u64>,
    /// The clocks.
    pub frequencies: Frequencies,
}

/// What memory refused: how many accesses, and the address of the first; `None` if it is not known how many.
pub(super) struct Refused(pub(super) Option<Option<(u64, u64)>>);

impl Default for Refused {
    fn default() -> Refused {
        Refused(Some(None))
    }
}

impl Refused {
    fn add(&mut self, address: u64) {
        if let Some(known) = &mut self.0 {
            let (count, first) = known.unwrap_or((0, address));
            *known = Some((count + 1, first));
        }
    }

    /// Takes over what another has.
    pub(super) fn join(&mut self, other: &mut Refused) {
        self.0 = match (self.0, core::mem::take(other).0) {
            (Some(None), other) => other,
            (one, Some(None)) => one,
            (Some(Some((one, first))), Some(Some((other, _)))) => Some(Some((one + other, first))),
            _ => None,
        };
    }
}

/// One chip.
pub(super) struct Chip {
    pub(super) number: u32,
    pub(super) description: Description,
    pub(super) counters: Counters,
    /// The cycles since the last slot was due.
    since: u64,
    begun: bool,
    /// The last of the eight states, from 1.
    state: u32,
    /// The slots of configuration that are left.
    left: u32,
    paused: bool,
    /// The slots that have come late since power-on.
    late: u64,
    speed: u64,
    mode: u64,
    units: u64,
    /// How many visits each group waits, from group 1.
    delays: [u64; 7],
    /// The next turn of groups 2 and 4.
    link_turn: u32,
    bridge_turn: u32,
    /// What memory has not taken of what is to be added, by its group and cell, as A links stand in cells of other groups; `None` if it is not
    /// known.
    pending: BTreeMap<(u32, u32), Option<u64>>,
    /// The last value that the engine has said in each of its cells, and those of them that memory has not taken.
    said: BTreeMap<u32, u64>,
    unsaid: BTreeSet<u32>,
    /// Whether it has read what is not known: nothing of it is known from there on.
    pub(super) lost: bool,
    pub(super) refused: Refused,
}

impl Chip {
    pub(super) fn new(number: u32, description: Description) -> Chip {
        Chip {
            number,
            description,
            counters: Counters::new(description.frequencies),
            since: 0,
            begun: false,
            state: 0,
            left: 0,
            paused: false,
            late: 0,
            speed: 0,
            mode: 0,
            units: description.units.unwrap_or(UNITS),
            delays: [0; 7],
            link_turn: A_LINKS,
            bridge_turn: 0,
            pending: BTreeMap::new(),
            said: BTreeMap::new(),
            unsaid: BTreeSet::new(),
            lost: false,
            refused: Refused::default(),
        }
    }

    /// The cycles from slot to slot: 500 us, unless it is said otherwise (N14).
    pub(super) fn slot_cycles(&self) -> u64 {
        self.description.slot.unwrap_or(self.description.frequencies.nest / 2000).max(1)
    }

    /// The cycles to the next slot.
    pub(super) fn until_slot(&self) -> u64 {
        self.slot_cycles() - self.since
    }

    fn is_legal(&self) -> bool {
        self.speed <= MOST_SPEED && self.mode <= MOST_MODE
    }

    /// Whether it posts.
    pub(super) fn posts(&self) -> bool {
        self.begun && self.left == 0 && !self.paused && self.is_legal()
    }

    /// So many cycles pass, with each slot at its time.
    pub(super) fn pass(&mut self, mut cycles: u64, memory: &mut Memory) {
        while cycles != 0 {
            let now = cycles.min(self.until_slot());
            cycles -= now;
            self.counters.pass(now);
            self.since += now;
            if self.since == self.slot_cycles() {
                self.since = 0;
                self.slot(memory);
            }
        }
    }

    /// So many cycles pass at once: the first slots are had, the others come late (N14, P51).
    pub(super) fn pass_at_once(&mut self, cycles: u64, memory: &mut Memory) {
        let slots = (u128::from(self.since) + u128::from(cycles)) / u128::from(self.slot_cycles());
        if slots <= IN_TIME {
            return self.pass(cycles, memory);
        }
        let in_time = self.until_slot() + (IN_TIME as u64 - 1) * self.slot_cycles();
        self.pass(in_time, memory);
        self.counters.pass(cycles - in_time);
        self.since = (cycles - in_time) % self.slot_cycles();
        self.late = self.late.wrapping_add((slots - IN_TIME) as u64);
        self.say(LATE, self.late, memory);
    }

    /// Host firmware pauses the engine before it starts an operating system: four slots, the command, and the slot that obeys it (N27).
    pub(super) fn boot(&mut self, memory: &mut Memory) {
        self.pass(self.until_slot().saturating_add(self.slot_cycles().saturating_mul(3)), memory);
        self.store(COMMAND, 2, memory);
        self.pass(self.slot_cycles(), memory);
    }

    /// Posts everything at once, whatever its turn; turns and delays stay as they are.
    pub(super) fn post_now(&mut self, memory: &mut Memory) {
        if self.posts() {
            for group in 1..=7 {
                if !self.has_events(group) {
                    continue;
                }
                let turns: &[u32] = match group {
                    2 => &[A_LINKS, X_LINKS],
                    4 => &[0, 1, 2],
                    _ => &[0],
                };
                self.post_group(group, turns, memory);
            }
        }
    }

    /// The address of a cell; a region does not go on at the first address (P50).
    pub(super) fn address(&self, cell: u32) -> Option<u64> {
        self.description.home.checked_add(REGION)?.checked_add(u64::from(cell))
    }

    /// Reads a cell.
    fn load(&mut self, cell: u32, memory: &Memory) -> Option<u64> {
        let loaded = self.address(cell).and_then(|address| memory.load(address));
        if loaded.is_none() {
            self.refused.add(self.address(cell).unwrap_or(u64::MAX));
        }
        self.lost |= loaded == Some(None);
        loaded.flatten()
    }

    fn store(&mut self, cell: u32, value: u64, memory: &mut Memory) -> bool {
        let is_taken = self.address(cell).is_some_and(|address| memory.store(address, value));
        if !is_taken {
            self.refused.add(self.address(cell).unwrap_or(u64::MAX));
        }
        is_taken
    }

    /// Adds to a cell, with what it did not take before (P50). An amount may be unknown.
    fn post(&mut self, group: u32, cell: u32, amount: Option<u64>, memory: &mut Memory) {
        let waiting = self.pending.remove(&(group, cell)).unwrap_or(Some(0));
        let sum = waiting.zip(amount).map(|(waiting, amount)| waiting.wrapping_add(amount));
        if sum == Some(0) {
            return;
        }
        let address = self.address(cell);
        let is_taken = address.is_some_and(|address| match sum {
            Some(sum) => memory.add(address, sum),
            None => memory.forget(address),
        });
        if is_taken {
            return;
        }
        self.pending.insert((group, cell), sum);
        match sum {
            Some(_) => self.refused.add(address.unwrap_or(u64::MAX)),
            // If it is 0, there is no access.
            None => self.refused = Refused(None),
        }
    }

    /// Says `value` in a cell. What memory does not take is said again in later slots (P50).
    fn say(&mut self, cell: u32, value: u64, memory: &mut Memory) {
        self.said.insert(cell, value);
        if self.store(cell, value, memory) {
            self.unsaid.remove(&cell);
        } else {
            self.unsaid.insert(cell);
        }
    }

    /// Says again what memory has not taken. Nothing says whether the engine then says the rest again too.
    fn say_again(&mut self, memory: &mut Memory) {
        if self.unsaid.is_empty() {
            return;
        }
        for cell in [VERSION, AVAILABILITY, STATUS, MODE_IN_FORCE, LATE] {
            let found = self.address(cell).and_then(|address| memory.load(address));
            match (cell, self.said.get(&cell).copied()) {
                (AVAILABILITY, _) if self.unsaid.contains(&cell) => self.say_units(memory),
                (AVAILABILITY, _) if found.is_none_or(|units| units == Some(0)) => self.doubt(cell, memory),
                (AVAILABILITY, _) | (_, None) => {}
                (_, Some(value)) if self.unsaid.contains(&cell) => self.say(cell, value, memory),
                (_, Some(value)) if found != Some(Some(value)) => self.doubt(cell, memory),
                (_, Some(_)) => {}
            }
        }
    }

    /// What a cell says now is not known, nor how often it is said.
    fn doubt(&mut self, cell: u32, memory: &mut Memory) {
        if !self.address(cell).is_some_and(|address| memory.forget(address)) {
            self.refused = Refused(None);
        }
    }

    /// Availability is written if the cell is 0 (N17).
    fn say_units(&mut self, memory: &mut Memory) {
        self.unsaid.remove(&AVAILABILITY);
        if self.load(AVAILABILITY, memory).is_none_or(|units| units == 0) {
            self.say(AVAILABILITY, self.description.units.unwrap_or(UNITS), memory);
        }
    }

    /// Both blocks of postings are cleared, and what waits for them is dropped (N17 to N19).
    fn clear(&mut self, memory: &mut Memory) {
        for block in [0, FLEXIBLE] {
            for cell in 0..CELLS {
                self.pending.retain(|(_, waiting), _| *waiting != block + 8 * cell);
                self.store(block + 8 * cell, 0, memory);
            }
        }
    }

    /// One slot.
    fn slot(&mut self, memory: &mut Memory) {
        self.state = self.state % 8 + 1;
        let is_first = !self.begun;
        if !is_first {
            self.say_again(memory);
        } else {
            // The first slot of all (N17).
            self.begun = true;
            self.clear(memory);
            self.say(VERSION, FIRMWARE, memory);
            self.say(STATUS, 0, memory);
            self.store(COMMAND, 0, memory);
            self.say_units(memory);
            for cell in [SPEED, AVAILABILITY, MODE] {
                self.heed(cell, memory);
            }
        }
        let is_cleared = self.obey(memory);
        // A change of any of the settings configures (N19).
        let [speed, units, mode] = [SPEED, AVAILABILITY, MODE].map(|cell| self.heed(cell, memory));
        if is_cleared || speed {
            self.clear(memory);
        }
        if is_first || is_cleared || speed || units || mode {
            self.begin(is_first, memory);
        }
        // Every slot says what is wrong.
        if self.speed > MOST_SPEED && self.mode > MOST_MODE {
            // Nothing says which of the two.
            self.say(STATUS, 3, memory);
            self.doubt(STATUS, memory);
        } else if !self.is_legal() {
            self.say(STATUS, if self.speed > MOST_SPEED { 3 } else { 4 }, memory);
        }
        if self.left != 0 {
            self.left -= 1;
            if self.left == 0 {
                self.say(STATUS, if self.paused { 2 } else { 1 }, memory);
                self.say(MODE_IN_FORCE, self.mode, memory);
            }
        } else if self.posts() {
            self.visit(memory);
        }
    }

    /// Reads a setting; returns whether it has changed. What cannot be read is as before.
    fn heed(&mut self, cell: u32, memory: &Memory) -> bool {
        let Some(value) = self.load(cell, memory) else { return false };
        let setting = match cell {
            SPEED => &mut self.speed,
            AVAILABILITY => &mut self.units,
            _ => &mut self.mode,
        };
        core::mem::replace(setting, value) != value
    }

    /// Reads the command and obeys it (N18). Returns whether it was to clear, which configures.
    fn obey(&mut self, memory: &mut Memory) -> bool {
        let Some(command @ 1..=3) = self.load(COMMAND, memory) else { return false };
        self.store(COMMAND, 0, memory);
        match command {
            1 => self.paused = false,
            2 => {
                self.paused = true;
                self.counters.forget_readings();
            }
            _ => self.paused = false,
        }
        if command != 3 {
            // That a command says 1 or 2, and that the status of configuration is 0, contradict each other; and so do illegal settings.
            if self.left == 0 && self.is_legal() {
                self.say(STATUS, command, memory);
            } else {
                self.doubt(STATUS, memory);
            }
        }
        command == 3
    }

    /// Configuration begins, in the state 1, or it waits for legal settings (N19, N20).
    fn begin(&mut self, is_first: bool, memory: &mut Memory) {
        if !self.is_legal() {
            self.left = 0;
            return;
        }
        // The first slot of all has said so already.
        if !is_first {
            self.say(STATUS, 0, memory);
        }
        self.state = 1;
        self.left = 4;
        self.counters.configure(self.mode == 1, if self.speed <= 3 { 8 } else { 16 });
        self.counters.forget_readings();
    }

    /// Whether the mode has events in a group: the flexible one only in four (N22).
    fn has_events(&self, group: u32) -> bool {
        self.mode == 0 || matches!(group, 1 | 2 | 5 | 6)
    }

    /// Visits the groups of the state (N14, N15).
    fn visit(&mut self, memory: &mut Memory) {
        let groups: &[u32] = match self.state {
            2 => &[3, 4],
            4 => &[3, 5],
            6 => &[3, 6],
            8 => &[3, 7],
            _ => &[1, 2],
        };
        for &group in groups {
            let at = group as usize - 1;
            if self.delays[at] != 0 {
                self.delays[at] -= 1;
                continue;
            }
            self.delays[at] = if group <= 3 { self.speed } else { self.speed / 8 };
            // The links and the host bridges take turns (N16).
            let turn = match group {
                2 => {
                    self.link_turn = 1 - self.link_turn;
                    1 - self.link_turn
                }
                4 => {
                    self.bridge_turn = (self.bridge_turn + 1) % 3;
                    (self.bridge_turn + 2) % 3
                }
                _ => 0,
            };
            // A group without events has its visits too.
            if self.has_events(group) {
                self.post_group(group, &[turn], memory);
            }
        }
    }

    /// Posts turns of a group: its count of updates, its counters, its count of updates. The A links have no counts of updates (N2, N16).
    fn post_group(&mut self, group: u32, turns: &[u32], memory: &mut Memory) {
        let block = if self.mode == 1 { FLEXIBLE } else { 0 };
        let (head, tail) = updates(group);
        let has_updates = group != 2 || turns.contains(&X_LINKS);
        if has_updates {
            self.post(group, block + head, Some(1), memory);
        }
        for turn in turns {
            let available = self.units;
            for (cell, amount) in self.counters.take(group, *turn, available) {
                self.post(group, cell, amount, memory);
            }
        }
        if has_updates {
            self.post(group, block + tail, Some(1), memory);
        }
    }

    /// The chip is as at power-on again; memory stays.
    pub(super) fn reset(&mut self) {
        *self = Chip { lost: self.lost, ..Chip::new(self.number, self.description) };
    }
}
