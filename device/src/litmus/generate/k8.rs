//! What a driver of the K8 does: MSRs of the list and their neighbours, RDPMC, event selects of the catalogue.

use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::Signal;
use vm_pmu_arch::model::Occurrence;

use super::{Driver, Source, small_negative};

pub(super) static K8: Driver = Driver {
    name: "k8",
    unit: "",
    threads: &[1, 2],
    write,
    read: address,
    occurrence,
    record: None,
    request: None,
    nested: None,
    clocks: &[Signal::TimeBaseTicks],
    pins: 4,
    opening: |_, _| Ok(Vec::new()),
    sequence: None,
};

fn write(source: &Source, bytes: &mut Unstructured<'_>) -> Result<(Address, u64)> {
    Ok((address(source, bytes)?, value(source, bytes)?))
}

fn address(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Address> {
    Ok(match bytes.int_in_range(0..=15u8)? {
        0 => Address::Msr(bytes.arbitrary()?),
        1 => Address::Rdpmc(bytes.arbitrary()?),
        2 => Address::Rdpmc(bytes.int_in_range(0..=5)?),
        _ => source.register(bytes)?,
    })
}

/// What a driver writes: a selection of the catalogue, a small negative number, or anything.
fn value(source: &Source, bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=7u8)? {
        0 => bytes.arbitrary()?,
        1..=3 => small_negative(bytes)?,
        _ => {
            let entry = source.entry(bytes)?;
            let umask: u8 = if bytes.ratio(1, 4)? { bytes.arbitrary()? } else { entry.umask.unwrap_or(0) as u8 };
            let flags: u8 = bytes.arbitrary()?;
            let threshold = if bytes.ratio(1, 3)? { bytes.int_in_range(0..=4u8)? } else { 0 };
            u64::from(entry.select & 0xff) | u64::from(umask) << 8 | u64::from(flags | 0x40) << 16 | u64::from(threshold) << 24
        }
    })
}

fn occurrence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Occurrence> {
    let entry = source.entry(bytes)?;
    let umask = if bytes.ratio(1, 4)? { u32::from(bytes.arbitrary::<u8>()?) } else { entry.umask.unwrap_or(0) };
    Ok(Occurrence { select: entry.select, umask })
}
