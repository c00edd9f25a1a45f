//! Programs made of arbitrary bytes, for fuzzers and property tests.

use alloc::vec;
use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::Catalogue;
use vm_pmu_arch::feed::{Kind, Signal};
use vm_pmu_arch::model::{Model, Occurrence, Reset};
use vm_pmu_arch::registry::Part;

use super::{ContextField, Litmus, Step};

/// The most statements of one program.
const MAX_STEPS: usize = 64;

impl Litmus {
    /// A program for `part` out of arbitrary bytes: sensible often enough to go deep, senseless often enough to surprise.
    ///
    /// # Errors
    /// When the bytes are used up before the program has a header.
    pub fn arbitrary(part: Part, bytes: &mut Unstructured<'_>) -> Result<Litmus> {
        let mut litmus = Litmus {
            title: "An arbitrary program".into(),
            section: "the contract".into(),
            part,
            packages: 1,
            threads: bytes.int_in_range(1..=2)?,
            shared_counters: bytes.arbitrary()?,
            steps: Vec::new(),
        };
        let addresses: Vec<Address> = part.build().registers().iter().map(|register| register.address).collect();
        while !bytes.is_empty() && litmus.steps.len() < MAX_STEPS {
            let step = step(part.catalogue(), &addresses, bytes)?;
            litmus.steps.push((litmus.steps.len() + 1, step));
        }
        Ok(litmus)
    }
}

fn step(catalogue: &Catalogue, addresses: &[Address], bytes: &mut Unstructured<'_>) -> Result<Step> {
    Ok(match bytes.int_in_range(0..=19u8)? {
        0..=4 => Step::Write(address(addresses, bytes)?, value(catalogue, bytes)?, None),
        5..=6 => Step::Read(address(addresses, bytes)?, Ok(0)),
        7..=11 => Step::Feed(bytes.int_in_range(1..=40)?, signals(catalogue, bytes)?),
        12 => Step::Devices(signals(catalogue, bytes)?),
        13..=14 => Step::Inject(occurrence(catalogue, bytes)?, amount(bytes)?),
        15 => Step::Context(vec![(field(bytes)?, bytes.int_in_range(0..=3)?)]),
        16 => Step::Thread(bytes.int_in_range(0..=1)?),
        17 => match bytes.int_in_range(0..=7u8)? {
            0 => Step::Reset(Reset::Cold),
            1 => Step::Reset(Reset::Warm),
            _ => Step::Save,
        },
        18 => Step::Watch(bytes.int_in_range(0..=15)?),
        _ => Step::Pin(bytes.int_in_range(0..=4)?, 0),
    })
}

fn field(bytes: &mut Unstructured<'_>) -> Result<ContextField> {
    const FIELDS: [ContextField; 4] =
        [ContextField::Privilege, ContextField::Halted, ContextField::InterruptFlag, ContextField::CounterEnable];
    bytes.choose(&FIELDS).copied()
}

fn address(addresses: &[Address], bytes: &mut Unstructured<'_>) -> Result<Address> {
    Ok(match bytes.int_in_range(0..=15u8)? {
        0 => Address::Msr(bytes.arbitrary()?),
        1 => Address::Rdpmc(bytes.arbitrary()?),
        2 => Address::Rdpmc(bytes.int_in_range(0..=5)?),
        _ => *bytes.choose(addresses)?,
    })
}

/// What a driver writes: a selection of the catalogue, a small negative number; or anything.
fn value(catalogue: &Catalogue, bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=7u8)? {
        0 => bytes.arbitrary()?,
        1..=3 => u64::from(bytes.int_in_range(0..=60u8)?).wrapping_neg(),
        _ => {
            let entry = bytes.choose(catalogue.entries)?;
            let umask: u8 = if bytes.ratio(1, 4)? { bytes.arbitrary()? } else { entry.umask.unwrap_or(0) as u8 };
            let flags: u8 = bytes.arbitrary()?;
            let threshold = if bytes.ratio(1, 3)? { bytes.int_in_range(0..=4u8)? } else { 0 };
            u64::from(entry.select & 0xff) | u64::from(umask) << 8 | u64::from(flags | 0x40) << 16 | u64::from(threshold) << 24
        }
    })
}

fn amount(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=15u8)? {
        // Several wraps of a 48-bit counter at once; the totals themselves must not wrap.
        0 => bytes.arbitrary::<u64>()? >> 14,
        1 => u64::from(bytes.arbitrary::<u16>()?),
        _ => u64::from(bytes.int_in_range(0..=4u8)?),
    })
}

/// Signals that some event of the catalogue follows, cycles most often.
fn signals(catalogue: &Catalogue, bytes: &mut Unstructured<'_>) -> Result<Vec<(Signal, u64)>> {
    let mut signals = Vec::new();
    for _ in 0..bytes.int_in_range(1..=4u8)? {
        let signal = match bytes.int_in_range(0..=3u8)? {
            0 => Signal::Cycles,
            1 => Signal::InstructionsRetired,
            _ => {
                let entry = bytes.choose(catalogue.entries)?;
                let mut all = entry.signals.iter().chain(entry.edges);
                let count = entry.signals.len() + entry.edges.len();
                if count == 0 { Signal::Cycles } else { all.nth(bytes.choose_index(count)?).copied().unwrap_or(Signal::Cycles) }
            }
        };
        if !signals.iter().any(|(other, _)| *other == signal) {
            signals.push((signal, amount(bytes)?));
        }
    }
    // The cycles of a state are among the cycles that pass.
    let passed = signals.iter().find(|(signal, _)| *signal == Signal::Cycles).map_or(0, |(_, amount)| *amount);
    for (_, amount) in signals.iter_mut().filter(|(signal, _)| signal.kind() == Kind::State) {
        *amount = (*amount).min(passed);
    }
    Ok(signals)
}

fn occurrence(catalogue: &Catalogue, bytes: &mut Unstructured<'_>) -> Result<Occurrence> {
    if bytes.ratio(1, 8)? {
        return Ok(Occurrence { select: bytes.arbitrary()?, umask: bytes.arbitrary()? });
    }
    let entry = bytes.choose(catalogue.entries)?;
    let umask = if bytes.ratio(1, 4)? { u32::from(bytes.arbitrary::<u8>()?) } else { entry.umask.unwrap_or(0) };
    Ok(Occurrence { select: entry.select, umask })
}
