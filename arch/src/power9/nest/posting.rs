//! Posting: what counters hold is added to the guest's memory.

use super::counter::{Setting, difference, narrow};
use super::place::{self, Bank, CELLS, FLEXIBLE, GROUP_CELLS, GROUPS, Width, banks};
use super::totals::{Source, index_of, source};
use super::unit::{Availability, Unit};
use super::{Nest, Totals};
use crate::memory::Memory;

/// The last reading of a free-running counter where it is not known: no reading has so many bits.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The result of advancing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed<E> {
    /// The slots that the engine had.
    pub slots: u32,
    /// The slots that it did not have, because too many came due at once: they are counted in memory.
    pub late: u64,
    /// The accesses that memory refused. What was to be added is kept, and added when memory takes it.
    pub refused: u32,
    /// Why the first of them was refused.
    pub error: Option<E>,
}

impl<E> Passed<E> {
    pub(in crate::power9) const fn new() -> Passed<E> {
        Passed { slots: 0, late: 0, refused: 0, error: None }
    }

    /// Notes the outcome of an access. Returns whether it was refused.
    pub(in crate::power9) fn take(&mut self, outcome: Result<(), E>) -> bool {
        let Err(error) = outcome else { return false };
        self.refused = self.refused.saturating_add(1);
        self.error.get_or_insert(error);
        true
    }

    /// Adds what another step returned.
    pub fn join(&mut self, other: Passed<E>) {
        self.slots = self.slots.saturating_add(other.slots);
        self.late = self.late.saturating_add(other.late);
        self.refused = self.refused.saturating_add(other.refused);
        if let (None, Some(error)) = (&self.error, other.error) {
            self.error = Some(error);
        }
    }

    /// The first refusal as an error.
    ///
    /// # Errors
    ///
    /// Why the first access was refused, if any was.
    pub fn ok(self) -> Result<(), E> {
        self.error.map_or(Ok(()), Err)
    }
}

/// Cells that follow each other and are due together.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u16,
    count: u16,
}

/// The offset of the first cell of a group within its mode's postings, in bytes.
const fn group_offset(group: u8) -> u32 {
    (group as u32).saturating_sub(1) * 8 * GROUP_CELLS as u32
}

impl Nest {
    /// The total of what the counter posted at `index` counts.
    fn total(&self, index: u16, totals: &Totals) -> u64 {
        match source(index) {
            Source::Nothing => 0,
            Source::Clock(domain) => self.clocks.total(domain),
            Source::Event(event) => totals.at(event),
        }
    }

    /// Every prescaled counter starts from zero.
    pub(super) fn restart(&mut self, totals: &Totals) {
        self.restart_those(|width| width == Width::Prescaled, totals);
    }

    /// Every counter starts from zero.
    pub(super) fn restart_all(&mut self, totals: &Totals) {
        self.restart_those(|_| true, totals);
    }

    fn restart_those(&mut self, chosen: fn(Width) -> bool, totals: &Totals) {
        for flexible in [false, true] {
            for (number, _) in banks(flexible).iter().enumerate().filter(|(_, bank)| chosen(bank.width)) {
                self.restart_bank(flexible, number, totals);
            }
        }
    }

    /// The counters of one bank start from zero.
    pub(super) fn restart_bank(&mut self, flexible: bool, number: usize, totals: &Totals) {
        let Some(bank) = banks(flexible).get(number) else { return };
        for counter in 0..bank.counters() {
            let index = index_of(bank.offset_of(counter));
            let total = self.total(index, totals);
            if let Some(base) = self.bases.get_mut(usize::from(index)) {
                *base = total;
            }
        }
    }

    /// Forgets the last readings of the free-running counters: their next reading is not posted.
    pub(super) fn forget_readings(&mut self) {
        self.readings.fill(UNKNOWN);
    }

    /// Posts the banks of a group that `chosen` admits, between its two counts of updates.
    pub(super) fn post_group<M: Memory>(
        &mut self,
        group: u8,
        chosen: &dyn Fn(Unit) -> bool,
        totals: &Totals,
        memory: &M,
        passed: &mut Passed<M::Error>,
    ) {
        let first = group_offset(group) + if self.engine.is_flexible() { FLEXIBLE } else { 0 };
        let is_posted = |bank: &Bank| bank.group == group;
        if !banks(self.engine.is_flexible()).iter().any(is_posted) {
            return;
        }
        let mut run = Run::default();
        self.add(index_of(first), 1, &mut run, memory, passed);
        self.post_banks_to(&mut run, group, chosen, totals, memory, passed);
        self.add(index_of(first + 8 * (GROUP_CELLS as u32 - 1)), 1, &mut run, memory, passed);
        self.write(run, memory, passed);
    }

    /// Posts the banks of a group that `chosen` admits.
    pub(super) fn post_banks<M: Memory>(
        &mut self,
        group: u8,
        chosen: &dyn Fn(Unit) -> bool,
        totals: &Totals,
        memory: &M,
        passed: &mut Passed<M::Error>,
    ) {
        let mut run = Run::default();
        self.post_banks_to(&mut run, group, chosen, totals, memory, passed);
        self.write(run, memory, passed);
    }

    fn post_banks_to<M: Memory>(
        &mut self,
        run: &mut Run,
        group: u8,
        chosen: &dyn Fn(Unit) -> bool,
        totals: &Totals,
        memory: &M,
        passed: &mut Passed<M::Error>,
    ) {
        let availability = Availability(self.engine.availability);
        let flexible = self.engine.is_flexible();
        for (number, bank) in banks(flexible).iter().enumerate() {
            if bank.group == group && (group == 1 || availability.has(bank.unit)) && chosen(bank.unit) {
                let setting = self.setting(flexible, number);
                self.post_bank(bank, setting, run, totals, memory, passed);
            }
        }
    }

    fn post_bank<M: Memory>(
        &mut self,
        bank: &Bank,
        setting: Setting,
        run: &mut Run,
        totals: &Totals,
        memory: &M,
        passed: &mut Passed<M::Error>,
    ) {
        for counter in (0..bank.counters()).filter(|counter| bank.is_used(*counter)) {
            let index = index_of(bank.offset_of(counter));
            let amount = match bank.width {
                Width::Prescaled => {
                    let (count, base) = self.narrow(bank, setting, counter, totals);
                    if let Some(cell) = self.bases.get_mut(usize::from(index)) {
                        *cell = base;
                    }
                    u64::from(count)
                }
                Width::Counter48 => self.read_running(index, self.total(index, totals), 48),
                Width::Counter32 => {
                    self.read_running(index, self.total(index, totals) >> bank.pulse_bits(counter), 32) << bank.posted_bits(counter)
                }
            };
            self.add(index, amount, run, memory, passed);
        }
    }

    /// The total from which a counter counts.
    fn base(&self, index: u16) -> u64 {
        self.bases.get(usize::from(index)).copied().unwrap_or(0)
    }

    /// What a counter of a PMUlet holds, and the total from which it counts once it has been read.
    fn narrow(&self, bank: &Bank, setting: Setting, counter: u16, totals: &Totals) -> (u16, u64) {
        let index = index_of(bank.offset_of(counter));
        let bits = setting.prescalers.get(usize::from(counter)).map_or(0, |prescaler| prescaler.bits());
        narrow(self.total(index, totals), self.base(index), bits + bank.pulse_bits(counter), setting.overflow)
    }

    /// Reads a free-running counter. Returns how much it has grown since its last reading.
    fn read_running(&mut self, index: u16, total: u64, width: u8) -> u64 {
        let reading = difference(total, 0, width);
        match self.readings.get_mut(usize::from(index)).map(|last| core::mem::replace(last, reading)) {
            None | Some(UNKNOWN) => 0,
            Some(before) => difference(reading, before, width),
        }
    }

    /// Adds a cell that is due, with what memory refused before, to the run, or begins another run.
    fn add<M: Memory>(&mut self, index: u16, amount: u64, run: &mut Run, memory: &M, passed: &mut Passed<M::Error>) {
        if let Some(pending) = self.pending.get_mut(usize::from(index)) {
            *pending = pending.wrapping_add(amount);
        }
        if run.first + run.count == index {
            run.count += 1;
        } else {
            self.write(core::mem::replace(run, Run { first: index, count: 1 }), memory, passed);
        }
    }

    /// Adds to memory what is due to a run of cells.
    fn write<M: Memory>(&mut self, run: Run, memory: &M, passed: &mut Passed<M::Error>) {
        let address = self.address(run.first);
        let first = usize::from(run.first);
        if let Some(amounts) = self.pending.get_mut(first..first + usize::from(run.count)) {
            memory.add_run(address, amounts, |error| {
                passed.take(Err(error));
            });
        }
    }

    /// The address of a cell.
    fn address(&self, index: u16) -> u64 {
        let index = u64::from(index);
        let offset = match index.checked_sub(CELLS as u64) {
            Some(flexible) => u64::from(FLEXIBLE) + 8 * flexible,
            None => 8 * index,
        };
        place::address(self.home, offset)
    }

    /// Posts every group of the mode in force at once, whatever their turns and delays, if the engine runs.
    ///
    /// For an embedder that posts when the guest reads, and not by the clock. It obeys no command: only a slot does, so such an embedder
    /// [advances](Nest::advance) by a slot first.
    pub fn post_now<M: Memory>(&mut self, totals: &Totals, memory: &M) -> Passed<M::Error> {
        let mut passed = Passed::new();
        if self.engine.is_running() {
            for group in 1..=GROUPS {
                self.post_group(group, &|_| true, totals, memory, &mut passed);
            }
        }
        passed
    }

    /// What a PMUlet holds: the register whose first counter is posted `offset` bytes from the start of the region, four counters of 16
    /// bits, the first in bits 0:15 (section 6.1.3). A host bridge's counter is in bits 0:47, and the two of a memory buffer's register
    /// are 32 bits each. `None` where no register's first counter is posted.
    #[must_use]
    pub fn register(&self, offset: u32, totals: &Totals) -> Option<u64> {
        let flexible = offset >= FLEXIBLE;
        let (number, bank) = banks(flexible).iter().enumerate().rfind(|(_, bank)| bank.offset <= offset)?;
        let counter =
            u16::try_from((offset - bank.offset) / 8).ok().filter(|counter| *counter < bank.counters() && offset.is_multiple_of(8))?;
        let reading = |counter| {
            let index = index_of(bank.offset_of(counter));
            self.total(index, totals).wrapping_sub(self.base(index)) >> bank.pulse_bits(counter)
        };
        match (bank.width, counter) {
            (Width::Prescaled, 0) => {
                let setting = self.setting(flexible, number);
                let count = |counter| if bank.is_used(counter) { self.narrow(bank, setting, counter, totals).0 } else { 0 };
                Some((0..4).fold(0, |register, counter| register << 16 | u64::from(count(counter))))
            }
            (Width::Prescaled, _) => None,
            (Width::Counter48, _) => Some(reading(counter) << 16),
            (Width::Counter32, 0) => Some(reading(0) << 32 | difference(reading(1), 0, 32)),
            (Width::Counter32, 2) => Some(reading(2) << 32),
            (Width::Counter32, _) => None,
        }
    }
}
