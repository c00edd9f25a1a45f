//! The nests of POWER9 chips, which post their counters into memory: written from the POWER9 PMU User's Guide 1.2, chapter 6, and, as the
//! guide leaves open how counters are posted, from the facts of public firmware in `docs/notes/power9-nest.md` and decisions P42 to P52.
//!
//! `docs/notes/reference-nest.md` lists what it does not know.

mod counters;
mod engine;
mod map;
mod memory;

pub use counters::Frequencies;
pub use engine::Description;

use engine::{Chip, Refused};
use map::{COMMAND, REGION, STATUS};
use memory::Memory;

/// Somewhere in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Eight bytes at this offset from the start of the current chip's region.
    Cell(u32),
    /// So many bytes at an address.
    Bytes(u64, u8),
}

/// The nests of a machine's chips and the memory that they post into. A chip is put in before anything else is done.
pub struct Nests {
    chips: Vec<Chip>,
    current: usize,
    memory: Memory,
    refused: Refused,
    /// Cores of a chip, and threads of a core.
    cores: (u64, u64),
}

impl Nests {
    /// No chip yet, of a machine with so many cores a chip and threads a core.
    #[must_use]
    pub fn new(cores: usize, threads: usize) -> Nests {
        Nests {
            chips: Vec::new(),
            current: 0,
            memory: Memory::default(),
            refused: Refused::default(),
            cores: (cores as u64, threads as u64),
        }
    }

    /// Whether a chip has been put in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chips.is_empty()
    }

    /// Puts in a chip in its state at power-on, in place of an earlier one with its number; it is the current one from here on.
    pub fn power_on(&mut self, number: u32, description: Description) {
        self.memory.add_region(description.home);
        let lost = self.is_lost();
        let mut chip = Chip::new(number, description);
        chip.lost = lost;
        match self.chips.iter().position(|known| known.number == number) {
            Some(place) => {
                self.chips[place] = chip;
                self.current = place;
            }
            None => {
                self.chips.push(chip);
                self.current = self.chips.len() - 1;
            }
        }
    }

    /// The chip of this number is the current one, if it exists.
    pub fn choose(&mut self, number: u32) {
        self.current = self.chips.iter().position(|known| known.number == number).unwrap_or(self.current);
    }

    fn chip(&mut self) -> &mut Chip {
        &mut self.chips[self.current]
    }

    /// The most slots that so many cycles are on any chip.
    #[must_use]
    pub fn most_slots(&self, cycles: u64) -> u64 {
        self.chips.iter().map(|chip| cycles / chip.slot_cycles()).max().unwrap_or(0)
    }

    /// The cycles to the last of so many slots of the current chip.
    pub fn cycles_of(&mut self, slots: u64) -> u64 {
        let chip = self.chip();
        slots.checked_sub(1).map_or(0, |more| chip.slot_cycles().saturating_mul(more).saturating_add(chip.until_slot()))
    }

    /// Does something with every chip, in the order in which they were put in.
    fn each(&mut self, work: impl Fn(&mut Chip, &mut Memory)) {
        for chip in &mut self.chips {
            work(chip, &mut self.memory);
            self.refused.join(&mut chip.refused);
        }
    }

    /// So many cycles of the nest pass on every chip, with each slot at its time.
    pub fn tick(&mut self, cycles: u64) {
        self.each(|chip, memory| chip.pass(cycles, memory));
    }

    /// So many cycles pass at once.
    pub fn at_once(&mut self, cycles: u64) {
        self.each(|chip, memory| chip.pass_at_once(cycles, memory));
    }

    /// Host firmware pauses the engine of every chip before it starts an operating system: four slots, the command, and the slot that obeys
    /// it (N27).
    pub fn boot(&mut self) {
        self.each(Chip::boot);
    }

    /// The current chip is as at power-on.
    pub fn reset(&mut self) {
        self.chip().reset();
    }

    /// The event that is posted at `cell` occurs so often on the current chip.
    pub fn happen(&mut self, cell: u32, amount: u64) {
        self.chip().counters.happen(cell, u128::from(amount));
    }

    /// The PMUlet whose first counter is posted at `cell` begins from zero, with prescalers of these widths.
    pub fn program(&mut self, cell: u32, bits: [u32; 4], freezes: bool) {
        self.chip().counters.program(cell, bits, freezes);
    }

    /// The current chip posts everything at once.
    pub fn post_now(&mut self) {
        let chip = &mut self.chips[self.current];
        chip.post_now(&mut self.memory);
        self.refused.join(&mut chip.refused);
    }

    fn address(&mut self, place: Place) -> (u64, u8) {
        match place {
            Place::Cell(offset) => (self.chip().description.home.wrapping_add(REGION + u64::from(offset)), 8),
            Place::Bytes(address, size) => (address, size),
        }
    }

    /// What the guest loads: `None` if it is not known, and within that `None` if there is no memory.
    pub fn read(&mut self, place: Place) -> Option<Option<u64>> {
        let (address, size) = self.address(place);
        match self.memory.read(address, size) {
            Some(known) => known.map(Some),
            None => Some(None),
        }
    }

    /// The guest stores.
    pub fn write(&mut self, place: Place, value: u64) {
        let (address, size) = self.address(place);
        self.memory.write(address, size, value);
    }

    /// The value of the register whose first counter is posted at `cell`, if there is one; `None` if it is not known.
    pub fn register(&mut self, cell: u32) -> Option<Option<u64>> {
        self.chip().counters.register(cell)
    }

    /// There is no memory from `from` up to, but not including, `to`.
    pub fn add_hole(&mut self, from: u64, to: u64) {
        self.memory.add_hole(from, to);
    }

    /// Memory has no hole any more.
    pub fn fill_holes(&mut self) {
        self.memory.fill_holes();
    }

    /// The accesses that memory has refused since the last call, and the address of the first; `None` if that is not known.
    pub fn take_refused(&mut self) -> Option<Option<(u64, u64)>> {
        core::mem::take(&mut self.refused).0
    }

    /// Whether the current chip's engine posts.
    pub fn posts(&mut self) -> bool {
        self.chip().posts()
    }

    /// What firmware answers to a call: 0, -1 for a wrong parameter, -6 for a hardware error; `None` if it is no call of in-memory
    /// collection (N24 to N28, P52). Not known at all where the status is not.
    pub fn call(&mut self, number: u64, arguments: [u64; 3]) -> Option<Option<i64>> {
        let (kind, second, third) = (arguments[0] as u32, arguments[1] as u32, arguments[2] as u32);
        let pir = match number {
            149 => third,
            150 | 151 => second,
            _ => return Some(None),
        };
        let chip = self.chips.iter().find(|chip| chip.number == pir >> 8);
        let (core, thread) = (u64::from(pir >> 2 & 0x3F), u64::from(pir & 3));
        let chip = chip.filter(|_| core < self.cores.0 && thread < self.cores.1);
        let result = match (number, kind, chip) {
            (149, 2 | 3, None) => -1,
            (149, ..) => 0,
            (_, _, None) => -1,
            (_, 1, Some(chip)) => {
                match chip.address(STATUS).zip(chip.address(COMMAND)).map(|(status, command)| (self.memory.load(status), command)) {
                    Some((Some(None), command)) => {
                        self.memory.forget(command);
                        return None;
                    }
                    Some((Some(Some(status)), command)) if status != 0 && self.memory.store(command, number - 149) => 0,
                    _ => -6,
                }
            }
            _ => 0,
        };
        Some(Some(result))
    }

    /// The bytes of memory that are not zero.
    pub fn memory(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        self.memory.bytes()
    }

    /// Whether the byte at `address` is known.
    #[must_use]
    pub fn knows(&self, address: u64) -> bool {
        self.memory.knows(address)
    }

    /// Whether nothing is known any more: an engine has read what is not known.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.chips.iter().any(|chip| chip.lost)
    }
}
