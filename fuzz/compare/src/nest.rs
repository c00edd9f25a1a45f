//! Statements about the nests of chips: how a reference executes them, and what is compared of them.

use std::collections::BTreeMap;

use vm_pmu::arch::event;
use vm_pmu::arch::power9::nest::{Outcome, Overflow};
use vm_pmu::litmus::{ChipSetting, Chips, Litmus, MemoryPlace, NestStep, Step};
use vm_pmu_reference::nest::{Description, Frequencies, Nests, Place};

use crate::{Agreed, Disagreement};

/// The most slots of one statement that an embedder executes.
const MOST_SLOTS: u64 = 10_000;

/// The statement with what the reference sees as its expectation, or `None` where it does not know that.
fn show(nests: &mut Nests, step: &NestStep) -> Option<NestStep> {
    // Chip 0 is there as soon as a statement needs a chip.
    if nests.is_empty() && !matches!(step, NestStep::Chip(_) | NestStep::Hole(..) | NestStep::NoHole | NestStep::Refused(_)) {
        put(nests, &ChipSetting::default());
    }
    let place = |place: &MemoryPlace| match place {
        MemoryPlace::Cell(offset) => Place::Cell(*offset),
        MemoryPlace::Bytes(address, size) => Place::Bytes(*address, *size),
    };
    match step {
        NestStep::Chip(setting) => put(nests, setting),
        NestStep::Current(number) => nests.choose(*number),
        NestStep::Tick(cycles) => tick(nests, *cycles),
        NestStep::AtOnce(cycles) => nests.at_once(*cycles),
        NestStep::Slots(slots) => {
            let cycles = nests.cycles_of(*slots);
            tick(nests, cycles);
        }
        NestStep::Boot => nests.boot(),
        NestStep::Reset => nests.reset(),
        NestStep::Happen(event, amount) => nests.happen(event.offset(), *amount),
        NestStep::Program(cell, setting) => {
            nests.program(*cell, setting.prescalers.map(|prescaler| u32::from(prescaler.bits())), setting.overflow == Overflow::Freeze);
        }
        NestStep::PostNow => nests.post_now(),
        NestStep::Read(at, value) => return Some(NestStep::Read(*at, nests.read(place(at))?.unwrap_or(*value))),
        NestStep::Write(at, value) => nests.write(place(at), *value),
        NestStep::Register(cell, _) => return Some(NestStep::Register(*cell, nests.register(*cell)?)),
        NestStep::Hole(from, to) => nests.add_hole(*from, *to),
        NestStep::NoHole => nests.fill_holes(),
        NestStep::Refused(_) => return Some(NestStep::Refused(nests.take_refused()?)),
        NestStep::Call(number, arguments, _) => {
            let outcome = nests.call(*number, *arguments)?.map(|value| match value {
                0 => Outcome::Success,
                -1 => Outcome::Parameter,
                _ => Outcome::Hardware,
            });
            return Some(NestStep::Call(*number, *arguments, outcome));
        }
        NestStep::Posting(_) => return Some(NestStep::Posting(nests.posts())),
    }
    Some(step.clone())
}

fn put(nests: &mut Nests, setting: &ChipSetting) {
    let ChipSetting { chip, home, units, slot, frequencies } = *setting;
    let frequencies = Frequencies { nest: frequencies.nest, host_bridge: frequencies.host_bridge, memory: frequencies.memory };
    nests.power_on(chip, Description { home, units, slot, frequencies });
}

fn tick(nests: &mut Nests, cycles: u64) {
    if nests.most_slots(cycles) <= MOST_SLOTS {
        nests.tick(cycles);
    }
}

/// The chips of the machine, and their reference.
pub(crate) struct Both {
    chips: Chips,
    nests: Nests,
}

impl Both {
    pub(crate) fn new(litmus: &Litmus) -> Both {
        Both { chips: Chips::new(litmus.packages, litmus.threads), nests: Nests::new(litmus.packages, litmus.threads) }
    }

    /// The machine is saved and restored into a new one.
    pub(crate) fn save(&mut self) {
        self.chips.save();
    }

    /// Executes a statement on both, and adds it to the program that is shown, with what the reference saw as its expectation.
    ///
    /// # Errors
    /// They show or leave different things.
    pub(crate) fn compare(&mut self, step: &NestStep, program: &mut Litmus, agreed: &mut Agreed) -> Result<(), Box<Disagreement>> {
        let expected = if self.nests.is_lost() { None } else { show(&mut self.nests, step) };
        let expected = expected.filter(|_| !self.nests.is_lost());
        let mut push = |step: &NestStep| program.steps.push((program.steps.len() + 1, Step::Nest(step.clone())));
        push(expected.as_ref().unwrap_or(step));
        let differing = match (self.chips.execute(step), expected) {
            // What cannot be executed changes neither.
            (Err(_), _) => None,
            (Ok(seen), Some(expected)) if !agree(&seen, &expected) => Some([seen, expected]),
            (Ok(_), expected) => {
                agreed.nests += usize::from(expected.is_some());
                agreed.unknown_nests += usize::from(expected.is_none());
                let differing = if can_write(step) { self.difference() } else { None };
                differing.iter().for_each(|[_, expected]| push(expected));
                differing
            }
        };
        match differing.map(|both| both.map(|step| word(&step))) {
            Some([model, reference]) => Err(Box::new(Disagreement { model, reference, litmus: program.clone() })),
            None => Ok(()),
        }
    }

    /// The first eight bytes of memory that differ: loads of the values of both.
    fn difference(&self) -> Option<[NestStep; 2]> {
        let [seen, expected] = [self.chips.bytes(), self.nests.memory().collect()];
        if seen == expected || self.nests.is_lost() {
            return None;
        }
        let [seen, expected]: [BTreeMap<u64, u8>; 2] = [seen, expected].map(|bytes| bytes.into_iter().collect());
        let differs = |address: &&u64| self.nests.knows(**address) && seen.get(address) != expected.get(address);
        let first = seen.keys().chain(expected.keys()).filter(differs).min()? & !7;
        let load = |bytes: &BTreeMap<u64, u8>| {
            let value = (0..8).fold(0, |value, at| value << 8 | u64::from(bytes.get(&(first + at)).copied().unwrap_or(0)));
            NestStep::Read(MemoryPlace::Bytes(first, 8), value)
        };
        Some([load(&seen), load(&expected)])
    }
}

/// Whether both showed the same. How often the engine asks memory that refuses is no rule of any source, but that it was refused, and where
/// first.
fn agree(seen: &NestStep, expected: &NestStep) -> bool {
    match (seen, expected) {
        (NestStep::Refused(Some((_, seen))), NestStep::Refused(Some((_, expected)))) => seen == expected,
        _ => seen == expected,
    }
}

/// Whether the statement can change memory.
fn can_write(step: &NestStep) -> bool {
    !matches!(
        step,
        NestStep::Current(_)
            | NestStep::Happen(..)
            | NestStep::Program(..)
            | NestStep::Read(..)
            | NestStep::Register(..)
            | NestStep::Refused(_)
            | NestStep::Posting(_)
    )
}

/// What a statement showed.
fn word(step: &NestStep) -> String {
    match step {
        NestStep::Read(_, value) | NestStep::Register(_, Some(value)) => format!("{value:#x}"),
        NestStep::Register(_, None) => "no register".into(),
        NestStep::Refused(refused) => format!("refused {refused:?}"),
        NestStep::Call(_, _, outcome) => format!("{outcome:?}"),
        step => format!("{step:?}"),
    }
}

/// At the end every register of every chip is read, and what memory refused.
pub(crate) fn ending(litmus: &Litmus) -> Vec<Step> {
    if !litmus.steps.iter().any(|(_, step)| matches!(step, Step::Nest(_))) {
        return Vec::new();
    }
    let mut chips: Vec<u32> = litmus
        .steps
        .iter()
        .filter_map(|(_, step)| match step {
            Step::Nest(NestStep::Chip(setting)) => Some(setting.chip),
            _ => None,
        })
        .collect();
    chips.sort_unstable();
    chips.dedup();
    if chips.is_empty() {
        chips.push(0);
    }
    let cells: Vec<u32> = event::POWER9.events().filter(|entry| entry.unit == "nest").filter_map(|entry| entry.offset).collect();
    let of_chip = |chip| {
        let registers = cells.iter().map(|cell| NestStep::Register(*cell, None));
        [NestStep::Current(chip)].into_iter().chain(registers).chain([NestStep::Posting(false), NestStep::Refused(None)])
    };
    chips.into_iter().flat_map(of_chip).map(Step::Nest).collect()
}
