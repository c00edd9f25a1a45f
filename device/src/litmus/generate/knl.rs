//! What a driver of Knights Landing's threads does: counters near their overflow, events of the tile, AnyThread, requests that a register
//! selects, global control and interrupt handling.

use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{HeldAs, Request, RequestKind, Signal, Snoop, Supplier};
use vm_pmu_arch::model::Occurrence;

use super::{Driver, Source, small_negative};
use crate::litmus::Step;

pub(super) static KNL: Driver = Driver {
    name: "knl",
    unit: "tile",
    threads: &[1, 2, 4, 8],
    write,
    read: address,
    occurrence,
    record: None,
    request: Some(request),
    nested: None,
    clocks: &[Signal::CoreActiveCycles, Signal::ReferenceCycles, Signal::CoreActiveReferenceCycles],
    pins: 0,
    opening,
    sequence: Some(sequence),
};

/// Every counter's bit of IA32_PERF_GLOBAL_CTRL.
const EVERY_COUNTER: u64 = 0x7_0000_0003;
/// The bits of a counter.
const COUNT: u64 = (1 << 40) - 1;
/// CORE_REJECT_L2Q, which counts for the core, and OFFCORE_RESP, which counts for the tile.
const WIDE: [u64; 3] = [0x31, 0x1B7, 0x2B7];

const SELECTS: [u32; 2] = [0x186, 0x187];
const COUNTERS: [u32; 7] = [0xC1, 0xC2, 0x4C1, 0x4C2, 0x309, 0x30A, 0x30B];
const OFFCORE: [u32; 2] = [0x1A6, 0x1A7];
const DEBUG_CTL: u32 = 0x1D9;
const FIXED_CTR_CTRL: u32 = 0x38D;
const GLOBAL_STATUS: u32 = 0x38E;
const GLOBAL_CTRL: u32 = 0x38F;
const GLOBAL_OVF_CTRL: u32 = 0x390;

fn address(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Address> {
    Ok(match bytes.int_in_range(0..=15u8)? {
        0 => Address::Msr(bytes.arbitrary()?),
        1 => Address::Rdpmc(bytes.arbitrary()?),
        2 => Address::Rdpmc(bytes.int_in_range(0..=3)?),
        3 => Address::Rdpmc(1 << 30 | bytes.int_in_range(0..=3)?),
        _ => source.register(bytes)?,
    })
}

fn write(source: &Source, bytes: &mut Unstructured<'_>) -> Result<(Address, u64)> {
    let number = match bytes.int_in_range(0..=15u8)? {
        0 => return Ok((address(source, bytes)?, bytes.arbitrary()?)),
        1 => return Ok((source.register(bytes)?, small_negative(bytes)?)),
        2..=5 => *bytes.choose(&SELECTS)?,
        6..=8 => *bytes.choose(&COUNTERS)?,
        9..=10 => *bytes.choose(&OFFCORE)?,
        11..=12 => FIXED_CTR_CTRL,
        13 => GLOBAL_CTRL,
        14 => DEBUG_CTL,
        _ => GLOBAL_OVF_CTRL,
    };
    Ok((Address::Msr(number), value(source, bytes, number)?))
}

/// What a driver writes to a register.
fn value(source: &Source, bytes: &mut Unstructured<'_>, number: u32) -> Result<u64> {
    Ok(match number {
        0x186 | 0x187 => select(source, bytes)?,
        0x1A6 | 0x1A7 => chosen(bytes)?,
        DEBUG_CTL => u64::from(bytes.ratio(2, 3)?) << 12 | u64::from(bytes.arbitrary::<u8>()? & 0b11),
        FIXED_CTR_CTRL => u64::from(bytes.arbitrary::<u16>()? & 0xFFF),
        GLOBAL_CTRL => {
            let seldom = if bytes.ratio(1, 3)? { bytes.arbitrary()? } else { 0u64 };
            EVERY_COUNTER & !seldom
        }
        GLOBAL_OVF_CTRL => bytes.arbitrary::<u64>()? & (EVERY_COUNTER | 7 << 61),
        _ => match bytes.int_in_range(0..=7u8)? {
            0 => bytes.arbitrary::<u64>()? & COUNT,
            _ => small_negative(bytes)? & COUNT,
        },
    })
}

/// An event select: an event of the tile, and often one that counts beyond its thread.
fn select(source: &Source, bytes: &mut Unstructured<'_>) -> Result<u64> {
    let event = if bytes.ratio(1, 4)? {
        *bytes.choose(&WIDE)?
    } else {
        let entry = source.entry(bytes)?;
        let umask: u8 = if bytes.ratio(1, 4)? { bytes.arbitrary()? } else { entry.umask.unwrap_or(0) as u8 };
        u64::from(entry.select & 0xFF) | u64::from(umask) << 8
    };
    let flags: u8 = bytes.arbitrary()?;
    let mask = if bytes.ratio(1, 3)? { *bytes.choose(&[1u64, 2, 3, 16])? } else { 0 };
    Ok(event | u64::from(flags | 0x40) << 16 | mask << 24)
}

/// A selection of requests: some types, and any response, or suppliers with snoops, or the mode of weighted cycles.
fn chosen(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let types = if bytes.ratio(1, 3)? { 1 << 15 } else { u64::from(bytes.arbitrary::<u16>()?) };
    Ok(match bytes.int_in_range(0..=7u8)? {
        0 => bytes.arbitrary::<u64>()? & 0x7F_FFFF_FFFF,
        1..=3 => types | 1 << 16,
        4..=6 => types | bytes.arbitrary::<u64>()? & 0x3F_FFFE_0000,
        _ => types | 1 << 38,
    })
}

fn request(bytes: &mut Unstructured<'_>) -> Result<Request> {
    let far = bytes.arbitrary()?;
    let suppliers = [
        Supplier::Unknown,
        Supplier::OwnCluster(*bytes.choose(&[HeldAs::Modified, HeldAs::Exclusive, HeldAs::Shared, HeldAs::Forward])?),
        Supplier::OtherCluster { far },
        Supplier::NearMemory { far },
        Supplier::Memory { far },
        Supplier::Device,
    ];
    Ok(Request {
        kind: *bytes.choose(&RequestKind::ALL)?,
        supplier: *bytes.choose(&suppliers)?,
        snoop: *bytes.choose(&[Snoop::None, Snoop::NotNeeded, Snoop::Forwarded, Snoop::Modified])?,
        latency: if bytes.ratio(1, 8)? { bytes.arbitrary()? } else { bytes.int_in_range(0..=40)? },
        physical: 0,
        holder: None,
        displaced: None,
    })
}

fn occurrence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Occurrence> {
    if bytes.ratio(1, 4)? {
        return Ok(Occurrence { select: 0x31, umask: 0 });
    }
    let entry = source.entry(bytes)?;
    let umask = if bytes.ratio(1, 4)? { u32::from(bytes.arbitrary::<u8>()?) } else { entry.umask.unwrap_or(0) };
    Ok(Occurrence { select: entry.select, umask })
}

/// Enables every counter globally, as drivers do.
fn opening(_source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    let all = Step::Write(Address::Msr(GLOBAL_CTRL), EVERY_COUNTER, None);
    Ok(if bytes.ratio(3, 4)? { [all].into() } else { Vec::new() })
}

/// A counter is loaded and started, or its interrupt is handled.
fn sequence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    let msr = |number| Address::Msr(number);
    if bytes.ratio(1, 3)? {
        let counter = msr(*bytes.choose(&COUNTERS)?);
        return Ok([
            Step::Write(msr(GLOBAL_CTRL), 0, None),
            Step::Read(msr(GLOBAL_STATUS), Ok(0)),
            Step::Write(msr(GLOBAL_OVF_CTRL), EVERY_COUNTER, None),
            Step::Write(counter, small_negative(bytes)? & COUNT, None),
            Step::Write(msr(GLOBAL_CTRL), EVERY_COUNTER, None),
        ]
        .into());
    }
    let number = bytes.int_in_range(0..=1u32)?;
    let control = if bytes.ratio(1, 3)? { FIXED_CTR_CTRL } else { 0x186 + number };
    let counter = if control == FIXED_CTR_CTRL { 0x309 + bytes.int_in_range(0..=2u32)? } else { 0x4C1 + number };
    let mut steps: Vec<Step> = [Step::Write(msr(counter), small_negative(bytes)? & COUNT, None)].into();
    if control != FIXED_CTR_CTRL && bytes.ratio(1, 3)? {
        steps.push(Step::Write(msr(0x1A6 + number), chosen(bytes)?, None));
    }
    steps.push(Step::Write(msr(control), value(source, bytes, control)?, None));
    Ok(steps)
}
