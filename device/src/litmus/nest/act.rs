//! Executes the statements of a litmus file about the nest.

use alloc::format;
use alloc::string::String;

use vm_pmu_arch::power9::nest::{Nest, Outcome, Passed, REGION, Totals};

use super::chips::Chips;
use super::ram::Ram;
use super::{MemoryPlace, NestStep, print};

/// The most slots of one statement: a file cannot run forever.
const MOST_SLOTS: u64 = 10_000;
/// How many slots an engine keeps in time when many are due at once.
const SLOTS_AT_ONCE: u64 = 24;

/// How cycles are advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::litmus) enum Access {
    /// As many at once as possible without a late slot.
    Whole,
    /// At first one by one, then slot by slot.
    Single,
    /// In parts of many lengths.
    Parts,
}

/// How many cycles are advanced one by one.
const SINGLE: u64 = 100;

/// The result of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::litmus) enum Seen {
    /// The statement shows nothing.
    Nothing,
    /// The value of a register or of memory, if it exists.
    Value(Option<u64>),
    /// The accesses that memory refused, and the address of the first.
    Refused(Option<(u64, u64)>),
    /// The result of a call.
    Result(Option<Outcome>),
    /// Whether an engine posts.
    Posting(bool),
}

/// Executes one statement; returns whether it checked something.
pub(in crate::litmus) fn obey(chips: &mut Chips, step: &NestStep) -> Result<bool, String> {
    let seen = act(chips, step, Access::Whole)?;
    if let (NestStep::Read(place, _), Seen::Value(None)) = (step, seen) {
        return Err(no_memory(place));
    }
    let told = outcome(step, seen);
    if told != *step {
        return Err(format!("it is `{}`, expected `{}`", print(&told), print(step)));
    }
    Ok(seen != Seen::Nothing)
}

fn no_memory(place: &MemoryPlace) -> String {
    let place = super::text::place(place);
    format!("there is no memory at {place}: it is where chips have their regions, {REGION:#x} behind a home base, but for holes")
}

/// The statement, with what was seen as its expectation.
pub(in crate::litmus) fn outcome(step: &NestStep, seen: Seen) -> NestStep {
    match (step, seen) {
        (NestStep::Read(place, _), Seen::Value(Some(value))) => NestStep::Read(*place, value),
        (NestStep::Register(offset, _), Seen::Value(value)) => NestStep::Register(*offset, value),
        (NestStep::Refused(_), Seen::Refused(refused)) => NestStep::Refused(refused),
        (NestStep::Call(number, arguments, _), Seen::Result(result)) => NestStep::Call(*number, *arguments, result),
        (NestStep::Posting(_), Seen::Posting(posts)) => NestStep::Posting(posts),
        (step, _) => step.clone(),
    }
}

impl Chips {
    /// Executes one statement; returns it with what was seen as its expectation.
    ///
    /// ```
    /// use vm_pmu::litmus::{Chips, NestStep};
    ///
    /// let mut chips = Chips::new(1, 4);
    /// assert_eq!(chips.execute(&NestStep::Slots(4)), Ok(NestStep::Slots(4)));
    /// // Configured, so that its engine posts.
    /// assert_eq!(chips.execute(&NestStep::Posting(false)), Ok(NestStep::Posting(true)));
    /// ```
    ///
    /// # Errors
    /// The statement names a chip or a place that is not there, or has too many slots.
    pub fn execute(&mut self, step: &NestStep) -> Result<NestStep, String> {
        act(self, step, Access::Whole).map(|seen| outcome(step, seen))
    }
}

/// Executes one statement in the given manner; returns what it showed.
pub(in crate::litmus) fn act(chips: &mut Chips, step: &NestStep, access: Access) -> Result<Seen, String> {
    match step {
        NestStep::Chip(setting) => chips.put(setting),
        NestStep::Current(number) if !chips.choose(*number) => {
            return Err(format!("there is no chip {number}: write `nest chip={number}`"));
        }
        NestStep::Current(_) => {}
        NestStep::Tick(cycles) => tick(chips, *cycles, access)?,
        NestStep::AtOnce(cycles) => chips.each(|chip, ram| chip.nest.advance(*cycles, &chip.totals, ram)),
        NestStep::Slots(slots) => {
            let cycles = chips.with(|chip, _| slots_in_cycles(&chip.nest, *slots)).unwrap_or(0);
            tick(chips, cycles, access)?;
        }
        NestStep::Boot => chips.each(|chip, ram| chip.nest.boot(&chip.totals, ram)),
        NestStep::Reset => {
            chips.with(|chip, _| chip.nest.reset(&chip.totals));
        }
        NestStep::Happen(event, amount) => {
            chips.with(|chip, _| chip.totals.add(*event, *amount));
        }
        NestStep::Program(offset, setting) => {
            let programmed = chips.with(|chip, _| chip.nest.program_at(*offset, *setting, &chip.totals));
            if programmed != Some(true) {
                return Err(format!("no PMUlet's first counter is posted to {}", super::places::name(*offset)));
            }
        }
        NestStep::PostNow => {
            if let Some(passed) = chips.with(|chip, ram| chip.nest.post_now(&chip.totals, ram)) {
                chips.note(passed);
            }
        }
        NestStep::Read(place, _) => return Ok(Seen::Value(at(chips, *place, |ram, address, size| ram.read(address, size)))),
        NestStep::Write(place, value) => {
            if !at(chips, *place, |ram, address, size| ram.write(address, size, *value)) {
                return Err(no_memory(place));
            }
        }
        NestStep::Register(offset, _) => {
            return Ok(Seen::Value(chips.with(|chip, _| chip.nest.register(*offset, &chip.totals)).flatten()));
        }
        NestStep::Hole(from, to) => chips.ram.add_hole(*from, *to),
        NestStep::NoHole => chips.ram.fill_holes(),
        NestStep::Refused(_) => return Ok(Seen::Refused(chips.refused.take())),
        NestStep::Call(number, arguments, _) => return Ok(Seen::Result(chips.call(*number, *arguments))),
        NestStep::Posting(_) => return Ok(Seen::Posting(chips.with(|chip, _| chip.nest.engine().is_running()).unwrap_or(false))),
    }
    Ok(Seen::Nothing)
}

/// Does something at a place of the current chip's memory.
fn at<T: Default>(chips: &mut Chips, place: MemoryPlace, work: impl FnOnce(&Ram, u64, u8) -> T) -> T {
    let done = chips.with(|chip, ram| match place {
        MemoryPlace::Cell(offset) => work(ram, chip.nest.home().wrapping_add(REGION + u64::from(offset)), 8),
        MemoryPlace::Bytes(address, size) => work(ram, address, size),
    });
    done.unwrap_or_default()
}

/// The cycles to the last of so many slots.
fn slots_in_cycles(nest: &Nest, slots: u64) -> u64 {
    match slots.checked_sub(1) {
        Some(more) => nest.slot_cycles().saturating_mul(more).saturating_add(nest.until_slot()),
        None => 0,
    }
}

/// Advances every chip by cycles, with every slot at its time.
fn tick(chips: &mut Chips, cycles: u64, access: Access) -> Result<(), String> {
    let mut most = 0;
    let mut count = |nest: &Nest| most = most.max(cycles / nest.slot_cycles());
    chips.each(|chip, _| {
        count(&chip.nest);
        Passed { slots: 0, late: 0, refused: 0, error: None }
    });
    if most > MOST_SLOTS {
        return Err(format!("{cycles} cycles are {most} slots, which are too many: {MOST_SLOTS} are the most; or write `at-once`"));
    }
    chips.each(|chip, ram| advance(&mut chip.nest, &chip.totals, ram, cycles, access));
    Ok(())
}

fn advance(nest: &mut Nest, totals: &Totals, ram: &Ram, cycles: u64, access: Access) -> Passed<u64> {
    let mut sum = Passed { slots: 0, late: 0, refused: 0, error: None };
    let mut left = cycles;
    let mut part = 1u64;
    while left != 0 {
        let in_time = slots_in_cycles(nest, SLOTS_AT_ONCE);
        let now = match access {
            Access::Whole => in_time,
            Access::Single if cycles - left < SINGLE => 1,
            Access::Single => nest.until_slot(),
            Access::Parts => part.min(in_time),
        };
        let now = now.min(left);
        sum.join(nest.advance(now, totals, ram));
        left -= now;
        part = part.saturating_mul(3);
    }
    sum
}
