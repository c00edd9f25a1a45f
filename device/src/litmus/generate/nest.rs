//! Programs about the nest of POWER9: a chip or two, events of a few counters, slots, the control block, holes, calls.

use alloc::boxed::Box;
use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::power9::nest::{
    Availability, ControlCell, DEFAULT_BANKS, Event, FLEXIBLE_BANKS, Frequencies, Outcome, Overflow, Prescaler, REGION, REGION_SIZE,
    Setting,
};
use vm_pmu_arch::registry::Part;

use super::MAX_STEPS;
use crate::litmus::nest::{ChipSetting, MemoryPlace, NestStep};
use crate::litmus::{Beginning, Litmus, Step};

/// How many events a program uses.
const EVENTS: usize = 4;
/// The slots that configure, and one more that posts.
const CONFIGURED: u64 = 5;

impl Litmus {
    /// A program about the nest of POWER9 chips and their memory, from arbitrary bytes.
    ///
    /// # Errors
    /// When the bytes are used up before the program has a header, or this build does not have the part.
    pub fn arbitrary_nest(bytes: &mut Unstructured<'_>) -> Result<Litmus> {
        let part = Part::named("power9").ok_or(arbitrary::Error::IncorrectFormat)?;
        let possible: Vec<Event> = Event::all().collect();
        let mut events = Vec::new();
        for _ in 0..EVENTS {
            events.push(*bytes.choose(&possible)?);
        }
        let mut steps = [Step::Nest(NestStep::Chip(Box::new(chip(bytes)?))), Step::Nest(NestStep::Slots(CONFIGURED))].to_vec();
        while !bytes.is_empty() && steps.len() < MAX_STEPS {
            steps.push(if bytes.ratio(1, 16)? { Step::Save } else { Step::Nest(step(&events, bytes)?) });
        }
        Ok(Litmus {
            title: "An arbitrary program of the nest".into(),
            section: "the contract".into(),
            part,
            packages: 1,
            threads: 4,
            shared_counters: false,
            beginning: Beginning::default(),
            steps: (1..).zip(steps).collect(),
        })
    }
}

fn chip(bytes: &mut Unstructured<'_>) -> Result<ChipSetting> {
    let rarely = if bytes.ratio(1, 8)? { bytes.arbitrary()? } else { 0u64 };
    let mut frequencies = Frequencies::default();
    if bytes.ratio(1, 4)? {
        frequencies = Frequencies { nest: 1 + u64::from(bytes.arbitrary::<u16>()?), host_bridge: 1000, memory: rarely.max(1) };
    }
    Ok(ChipSetting {
        chip: u32::from(bytes.ratio(1, 6)?),
        home: u64::from(bytes.arbitrary::<u8>()?) << 20 ^ rarely,
        units: match bytes.int_in_range(0..=3u8)? {
            0 => None,
            1 => Some(bytes.arbitrary()?),
            _ => Some(Availability::EVERY.0),
        },
        slot: Some(match bytes.int_in_range(0..=5u8)? {
            0 => 1,
            1 => 1 + (bytes.arbitrary::<u64>()? >> 24),
            _ => bytes.int_in_range(1..=2000)?,
        }),
        frequencies,
    })
}

fn step(events: &[Event], bytes: &mut Unstructured<'_>) -> Result<NestStep> {
    Ok(match bytes.int_in_range(0..=29u8)? {
        0..=6 => NestStep::Happen(*bytes.choose(events)?, amount(bytes)?),
        7..=10 => NestStep::Slots(bytes.int_in_range(0..=30)?),
        11..=12 => NestStep::Tick(bytes.int_in_range(0..=500)?),
        13 => NestStep::AtOnce(if bytes.ratio(1, 4)? { bytes.arbitrary::<u64>()? >> 8 } else { bytes.int_in_range(0..=100_000)? }),
        14..=16 => control(bytes)?,
        17 => NestStep::Write(place(events, bytes)?, u64::from(bytes.arbitrary::<u8>()?)),
        18..=19 => NestStep::Read(place(events, bytes)?, 0),
        20 => program(bytes)?,
        21 => NestStep::PostNow,
        22 => NestStep::Register(pmulet(bytes)?, None),
        23 => hole(bytes)?,
        24 => NestStep::NoHole,
        25 => NestStep::Refused(None),
        26 => {
            let pir = if bytes.ratio(1, 4)? { bytes.arbitrary()? } else { bytes.int_in_range(0..=3u64)? };
            let kind = bytes.int_in_range(0..=4u64)?;
            let number = bytes.int_in_range(148..=152u64)?;
            NestStep::Call(number, [kind, pir, pir], Some(Outcome::Success))
        }
        27 => NestStep::Posting(true),
        28 => NestStep::Current(u32::from(bytes.arbitrary::<bool>()?)),
        _ => match bytes.int_in_range(0..=3u8)? {
            0 => NestStep::Chip(Box::new(chip(bytes)?)),
            1 => NestStep::Reset,
            _ => NestStep::Boot,
        },
    })
}

fn amount(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=7u8)? {
        0 => bytes.arbitrary()?,
        // Near the wraps of 16 bits behind a prescaler, of 32 and of 48.
        1 => (1u64 << *bytes.choose(&[20u8, 24, 28, 32, 36, 48])?).wrapping_sub(u64::from(bytes.arbitrary::<u8>()?)),
        _ => u64::from(bytes.arbitrary::<u16>()?),
    })
}

/// A command, a speed, units or a mode.
fn control(bytes: &mut Unstructured<'_>) -> Result<NestStep> {
    let cell = *bytes.choose(&[
        ControlCell::Command,
        ControlCell::Command,
        ControlCell::Speed,
        ControlCell::Availability,
        ControlCell::Mode,
        ControlCell::Status,
    ])?;
    let value = match cell {
        ControlCell::Speed => bytes.int_in_range(0..=13)?,
        ControlCell::Availability => bytes.arbitrary()?,
        ControlCell::Mode => bytes.int_in_range(0..=2)?,
        _ => bytes.int_in_range(0..=4)?,
    };
    Ok(NestStep::Write(MemoryPlace::Cell(cell.offset() as u32), value))
}

/// A cell of one of the events, or any bytes of the first chips' regions.
fn place(events: &[Event], bytes: &mut Unstructured<'_>) -> Result<MemoryPlace> {
    if bytes.ratio(3, 4)? {
        return Ok(MemoryPlace::Cell(bytes.choose(events)?.offset()));
    }
    let size = *bytes.choose(&[1u8, 2, 4, 8])?;
    Ok(MemoryPlace::Bytes(address(bytes)?, if size == 1 { 1 } else { 8 }))
}

fn address(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let home = u64::from(bytes.int_in_range(0..=3u8)?) << 20;
    Ok(home + REGION + bytes.int_in_range(0..=0x800)?)
}

fn hole(bytes: &mut Unstructured<'_>) -> Result<NestStep> {
    let from = address(bytes)?;
    let length = if bytes.ratio(1, 4)? { REGION_SIZE } else { bytes.int_in_range(1..=64)? };
    Ok(NestStep::Hole(from, from + length))
}

fn pmulet(bytes: &mut Unstructured<'_>) -> Result<u32> {
    let banks = if bytes.ratio(3, 4)? { &DEFAULT_BANKS[..] } else { &FLEXIBLE_BANKS[..] };
    Ok(bytes.choose(banks)?.offset)
}

fn program(bytes: &mut Unstructured<'_>) -> Result<NestStep> {
    let codes: u8 = bytes.arbitrary()?;
    let prescalers = [6, 4, 2, 0].map(|low| Prescaler::of_code(codes >> low));
    let overflow = if bytes.arbitrary()? { Overflow::Freeze } else { Overflow::RunOn };
    Ok(NestStep::Program(pmulet(bytes)?, Setting { prescalers, overflow }))
}
