//! The chips of a litmus file.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use vm_pmu_arch::power9::nest::{Availability, Frequencies, Nest, Outcome, Passed, Request, Totals};

use super::ChipSetting;
use super::ram::Ram;

/// The nest of one chip.
#[derive(Debug)]
pub(super) struct Chip {
    pub(super) number: u32,
    pub(super) nest: Box<Nest>,
    pub(super) totals: Box<Totals>,
}

impl Chip {
    fn new(setting: &ChipSetting) -> Chip {
        let mut nest = Nest::new(setting.home);
        if setting.frequencies != Frequencies::default() {
            nest = nest.with_frequencies(setting.frequencies);
        }
        if let Some(units) = setting.units {
            nest = nest.with_units(Availability(units));
        }
        if let Some(cycles) = setting.slot {
            nest = nest.with_slot(cycles);
        }
        Chip { number: setting.chip, nest: Box::new(nest), totals: Box::new(Totals::new()) }
    }
}

/// The chips of a machine, and the memory that they post into. If the file names none, there is chip 0 with its home base at 0.
#[derive(Debug, Default)]
pub struct Chips {
    chips: Vec<Chip>,
    /// The index of the current one.
    current: usize,
    pub(super) ram: Ram,
    /// The accesses that were refused, and the address of the first.
    pub(super) refused: Option<(u64, u64)>,
    /// Cores of a chip, and threads of a core.
    cores: (usize, usize),
}

impl Chips {
    /// No chip yet, for a machine with that many packages and threads per package.
    #[must_use]
    pub fn new(packages: usize, threads: usize) -> Chips {
        Chips { cores: (packages, threads), ..Chips::default() }
    }

    /// The bytes of memory that are not zero, with their addresses.
    #[must_use]
    pub fn bytes(&self) -> Vec<(u64, u8)> {
        let mut bytes = Vec::new();
        self.ram.each(|address, byte| bytes.push((address, byte)));
        bytes
    }

    /// Puts in a chip in its state at power-on, in place of an earlier one with its number.
    pub(super) fn put(&mut self, setting: &ChipSetting) {
        self.ram.add_region(setting.home);
        let chip = Chip::new(setting);
        self.current = match self.chips.iter_mut().enumerate().find(|(_, known)| known.number == chip.number) {
            Some((place, known)) => {
                *known = chip;
                place
            }
            None => {
                self.chips.push(chip);
                self.chips.len() - 1
            }
        };
    }

    /// Adds chip 0 if there is no chip.
    fn settle(&mut self) {
        if self.chips.is_empty() {
            self.put(&ChipSetting::default());
        }
    }

    /// Makes the chip of this number the current one; returns whether it exists.
    pub(super) fn choose(&mut self, number: u32) -> bool {
        self.settle();
        let place = self.chips.iter().position(|chip| chip.number == number);
        self.current = place.unwrap_or(self.current);
        place.is_some()
    }

    /// Does something with the current chip and memory.
    pub(super) fn with<T>(&mut self, work: impl FnOnce(&mut Chip, &Ram) -> T) -> Option<T> {
        self.settle();
        self.chips.get_mut(self.current).map(|chip| work(chip, &self.ram))
    }

    /// Does something with every chip, and notes what memory refused.
    pub(super) fn each(&mut self, mut work: impl FnMut(&mut Chip, &Ram) -> Passed<u64>) {
        self.settle();
        let mut passed = Passed { slots: 0, late: 0, refused: 0, error: None };
        for chip in &mut self.chips {
            passed.join(work(chip, &self.ram));
        }
        self.note(passed);
    }

    /// Notes what memory refused.
    pub(super) fn note(&mut self, passed: Passed<u64>) {
        if let Some(address) = passed.error {
            let (count, first) = self.refused.unwrap_or((0, address));
            self.refused = Some((count + u64::from(passed.refused), first));
        }
    }

    /// Answers a call: a PIR is known if its chip is one of these, and the machine has its core and thread.
    pub(super) fn call(&mut self, number: u64, arguments: [u64; 3]) -> Option<Outcome> {
        self.settle();
        let request = Request::of(number, arguments)?;
        let chip = self.chips.iter().find(|chip| u64::from(chip.number) == request.chip());
        let (core, thread) = (request.pir >> 2 & 0x3F, request.pir & 3);
        let (cores, threads) = self.cores;
        let is_known = chip.is_some() && core < cores as u64 && thread < threads as u64;
        Some(match (request.refusal(is_known), request.nest_command(), chip) {
            (Some(outcome), ..) => outcome,
            (None, Some(command), Some(chip)) => match command.give(chip.nest.home(), &self.ram) {
                Ok(true) => Outcome::Success,
                Ok(false) | Err(_) => Outcome::Hardware,
            },
            (None, ..) => Outcome::Success,
        })
    }

    /// Replaces the chips by others that remember the same. The memory is the guest's, and stays.
    pub fn save(&mut self) {
        for chip in &mut self.chips {
            let (state, happened) = (chip.nest.state(), chip.totals.snapshot());
            let totals = Totals::new();
            totals.restore(&happened);
            (*chip.nest, *chip.totals) = (Nest::from_state(&state), totals);
        }
    }

    /// A digest of the memory and of all that chips remember.
    pub(in crate::litmus) fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.ram.each(|address, byte| (address, byte).hash(&mut digest));
        self.chips.iter().for_each(|chip| chip.nest.state().hash(&mut digest));
        digest.finish()
    }
}

/// FNV-1a of 64 bits over words of 8 bytes, as most of the input is words.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        for word in words.chain(rest.iter().map(|byte| u64::from(*byte))) {
            self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(23);
        }
    }
}
