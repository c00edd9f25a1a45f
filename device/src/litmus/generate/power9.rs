//! What a driver of POWER9 does: counters near their overflow, events of the catalogue in MMCR1, sampling and thresholds in MMCRA, freezes
//! and conditions in MMCR0; and numbers next to those of the registers.

use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{GuestLevel, NestedStep, NestedWalk, PageSize, Signal};
use vm_pmu_arch::model::Occurrence;
use vm_pmu_arch::power9::{Bescr, Mmcr0, Mmcr1, Mmcr2, Mmcra, Mmcrc, spr};

use super::{Driver, Source, records, small_negative};
use crate::litmus::{CollectionStep, Posted, Step};

pub(super) static POWER9: Driver = Driver {
    name: "power9",
    unit: "core",
    threads: &[1, 2, 4],
    write,
    read,
    occurrence,
    record: Some(records::with_signals),
    request: None,
    nested: Some(nested),
    clocks: &[Signal::TimeBaseTicks],
    pins: 4,
    opening: |_, _| Ok(Vec::new()),
    sequence: Some(collection),
};

/// What a core posts: mostly what happens while its engine runs, with little left to the next posting.
fn collection(_source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    let posted = Posted { refused: if bytes.ratio(1, 4)? { [0x4020].into() } else { Vec::new() }, ..Posted::default() };
    let step = match bytes.int_in_range(0..=11u8)? {
        0 => CollectionStep::Init(if bytes.ratio(3, 4)? { 0x4000 } else { bytes.arbitrary()? }),
        1..=2 => CollectionStep::Start,
        3 => CollectionStep::Stop,
        4 => CollectionStep::Interval(bytes.int_in_range(0..=900)?),
        5..=7 => CollectionStep::Pass(bytes.int_in_range(0..=2000)?, posted),
        8 => {
            let ldbar = u64::from(bytes.arbitrary::<bool>()?) << 63 | u64::from(bytes.int_in_range(0..=3u8)?) << 13;
            return Ok([Step::Write(Address::Spr(spr::LDBAR), ldbar, None)].into());
        }
        // CPM_INST, another event, and an offset that none has.
        9 => CollectionStep::Inject(*bytes.choose(&[0x20, 0x28, 0x4])?, bytes.int_in_range(0..=1500)?),
        // Enough for a step.
        10 => return Ok([Step::Feed(1, [(Signal::InstructionsRetired, bytes.int_in_range(0..=1500)?)].into())].into()),
        _ => CollectionStep::Post(posted),
    };
    Ok([Step::Collection(step)].into())
}

/// Any step of a nested translation.
fn nested(bytes: &mut Unstructured<'_>) -> Result<NestedStep> {
    let host = if bytes.arbitrary()? { Some(*bytes.choose(&PageSize::ALL)?) } else { None };
    if bytes.ratio(1, 4)? {
        return Ok(NestedStep::First { guest: *bytes.choose(&PageSize::ALL)?, host });
    }
    let looked_up = bytes.arbitrary()?;
    let mut walk = NestedWalk {
        walker: bytes.int_in_range(0..=1)?,
        looked_up,
        host: host.filter(|_| looked_up),
        known: bytes.int_in_range(0..=3)?,
        ..NestedWalk::of(*bytes.choose(&GuestLevel::ALL)?)
    };
    for cycles in &mut walk.cycles {
        *cycles = bytes.int_in_range(0..=40)?;
    }
    Ok(NestedStep::Walk(walk))
}

fn read(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Address> {
    Ok(match bytes.int_in_range(0..=15u8)? {
        0 => Address::Spr(bytes.arbitrary()?),
        1..=2 => Address::Spr(bytes.int_in_range(768..=806)?),
        3..=5 => Address::Bhrb(bytes.int_in_range(0..=33)?),
        _ => source.register(bytes)?,
    })
}

fn write(source: &Source, bytes: &mut Unstructured<'_>) -> Result<(Address, u64)> {
    Ok(match bytes.int_in_range(0..=23u8)? {
        0 => (read(source, bytes)?, bytes.arbitrary()?),
        1 => (Address::Bhrb(bytes.int_in_range(0..=33)?), bytes.arbitrary()?),
        2 => (Address::Imc, matched(bytes)?),
        3 => (Address::Spr(spr::MMCRC), arbitrary_of(bytes, Mmcrc::WRITABLE)?),
        4 => (Address::Spr(spr::MMCR2), sparse(bytes, Mmcr2::WRITABLE)?),
        5 => (Address::Spr(bytes.int_in_range(spr::BESCRS..=spr::BESCRRU)?), sparse(bytes, u64::MAX)?),
        6 => (Address::Spr(spr::BESCR), arbitrary_of(bytes, Bescr::WRITABLE)?),
        7 => (Address::Spr(bytes.int_in_range(spr::SIER..=spr::SDAR)?), bytes.arbitrary()?),
        8..=10 => (either(bytes, spr::MMCRA)?, mmcra(bytes)?),
        11..=13 => (either(bytes, spr::MMCR1)?, mmcr1(source, bytes)?),
        14..=18 => (either(bytes, spr::MMCR0)?, mmcr0(bytes)?),
        _ => {
            let number = bytes.int_in_range(spr::PMC1..=spr::PMC6)?;
            (either(bytes, number)?, count(bytes)?)
        }
    })
}

/// A register by its privileged number, or now and then by that of problem state.
fn either(bytes: &mut Unstructured<'_>, number: u16) -> Result<Address> {
    Ok(Address::Spr(if bytes.ratio(1, 6)? { number - spr::PRIVILEGED } else { number }))
}

fn arbitrary_of(bytes: &mut Unstructured<'_>, mask: u64) -> Result<u64> {
    Ok(bytes.arbitrary::<u64>()? & mask)
}

/// Few bits, so that freezes are mostly off.
fn sparse(bytes: &mut Unstructured<'_>, mask: u64) -> Result<u64> {
    let mut value = 0;
    for _ in 0..bytes.int_in_range(0..=3u8)? {
        value |= 1u64 << bytes.int_in_range(0..=63u32)?;
    }
    Ok(value & mask)
}

/// A counter shortly before it turns negative, shortly before it wraps, or anywhere.
fn count(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=7u8)? {
        0 => bytes.arbitrary()?,
        1 => 0,
        2..=3 => small_negative(bytes)? & 0xFFFF_FFFF,
        _ => 0x8000_0000u64.wrapping_sub(u64::from(bytes.int_in_range(0..=60u8)?)),
    })
}

fn mmcr0(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let mut mmcr0 = Mmcr0::written(sparse(bytes, Mmcr0::WRITABLE & 0xFFFF_FFFF)?);
    mmcr0.set_fc(bytes.ratio(1, 8)?);
    mmcr0.set_pmae(bytes.ratio(3, 4)?);
    mmcr0.set_pmc1ce(bytes.arbitrary()?);
    mmcr0.set_pmcjce(bytes.arbitrary()?);
    mmcr0.set_fcece(bytes.arbitrary()?);
    mmcr0.set_cc56run(bytes.arbitrary()?);
    mmcr0.set_tbee(bytes.ratio(1, 4)?);
    mmcr0.set_tbsel(bytes.int_in_range(0..=3)?);
    mmcr0.set_pmcc(bytes.int_in_range(0..=3)?);
    mmcr0.set_ebe(bytes.ratio(1, 4)?);
    Ok(mmcr0.bits())
}

/// Events for all four counters. An event's code has its SEL in bits 7:0, COMB in 11:10, UNIT in 15:12 and the counter in 18:16, where 0
/// is any (section 5.15).
fn mmcr1(source: &Source, bytes: &mut Unstructured<'_>) -> Result<u64> {
    if bytes.ratio(1, 12)? {
        return arbitrary_of(bytes, Mmcr1::WRITABLE);
    }
    let mut mmcr1 = 0;
    for counter in 0..4u32 {
        let start = bytes.choose_index(source.catalogue.entries.len())?;
        let fits = |code: u32| matches!(code >> 16 & 7, pmc if pmc == 0 || pmc == counter + 1);
        let from = source.catalogue.entries.iter().cycle().skip(start).take(source.catalogue.entries.len());
        let coded = from.filter(|entry| source.driver.selects(entry));
        let code = u64::from(coded.map(|entry| entry.select).find(|code| fits(*code)).unwrap_or(0));
        let falling = u64::from(bytes.ratio(1, 10)?);
        mmcr1 |= (code & 0xFF | falling) << (24 - 8 * counter);
        mmcr1 |= (code >> 10 & 3) << (38 - 2 * counter);
        mmcr1 |= (code >> 12 & 15) << (60 - 4 * counter);
    }
    let mut mmcr1 = Mmcr1::written(mmcr1);
    mmcr1.set_dc_rld_qual(bytes.ratio(1, 4)?);
    mmcr1.set_ic_rld_qual(bytes.ratio(1, 4)?);
    Ok(mmcr1.bits())
}

fn mmcra(bytes: &mut Unstructured<'_>) -> Result<u64> {
    if bytes.ratio(1, 12)? {
        return bytes.arbitrary();
    }
    let mut mmcra = Mmcra::default();
    mmcra.set_sample_enable(bytes.ratio(3, 4)?);
    mmcra.set_rand_samp_mode(bytes.int_in_range(0..=2)?);
    mmcra.set_rand_samp_elig(bytes.int_in_range(0..=7)?);
    mmcra.set_sample_reset(bytes.ratio(1, 8)?);
    mmcra.set_sdar_mode(bytes.int_in_range(0..=3)?);
    mmcra.set_ifm(bytes.int_in_range(0..=3)?);
    if bytes.ratio(1, 2)? {
        mmcra.set_thresh_start(bytes.int_in_range(0..=15)?);
        mmcra.set_thresh_end(bytes.int_in_range(0..=15)?);
        mmcra.set_thresh_event_sel(bytes.int_in_range(0..=7)?);
        mmcra.set_thresh_cmp_exp(bytes.int_in_range(0..=7)?);
        mmcra.set_thresh_cmp_mantissa(bytes.int_in_range(0..=127)?);
    }
    // The five filters of the branch history.
    let filters = if bytes.ratio(1, 3)? { arbitrary_of(bytes, 0x1F << 32)? } else { 0 };
    Ok(mmcra.bits() | filters)
}

/// Bits to compare in the upper half, their values in the lower.
fn matched(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let compared: u32 = if bytes.arbitrary()? { 0xFC00_0000 } else { bytes.arbitrary()? };
    Ok(u64::from(compared) << 32 | u64::from(compared & bytes.arbitrary::<u32>()?))
}

fn occurrence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Occurrence> {
    Ok(Occurrence { select: source.entry(bytes)?.select, umask: 0 })
}
