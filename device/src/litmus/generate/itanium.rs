//! What a driver of the first Itanium does: four counters, one union of ranges, two opcode matchers, captures and the branch trace.

use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::Drive;
use vm_pmu_arch::feed::Signal;

use super::{Driver, Source, ia64, small_negative};
use crate::litmus::Step;

pub(super) static ITANIUM: Driver = Driver {
    name: "itanium",
    unit: "",
    threads: &[1],
    write,
    read,
    occurrence: ia64::occurrence,
    record: Some(ia64::record),
    request: None,
    nested: None,
    clocks: &[Signal::TimeBaseTicks],
    pins: 8,
    opening: ia64::opening,
    sequence: Some(sequence),
};

fn read(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Address> {
    if bytes.ratio(1, 8)? { ia64::any(bytes) } else { source.register(bytes) }
}

fn write(source: &Source, bytes: &mut Unstructured<'_>) -> Result<(Address, u64)> {
    let address = match bytes.int_in_range(0..=9u8)? {
        0 => ia64::any(bytes)?,
        1..=3 => Address::Pmc(bytes.int_in_range(4..=7)?),
        4..=5 => Address::Pmd(bytes.int_in_range(4..=7)?),
        6 => Address::Pmc(0),
        _ => source.register(bytes)?,
    };
    Ok((address, value(source, bytes, address)?))
}

/// What a driver writes to a register.
fn value(source: &Source, bytes: &mut Unstructured<'_>, address: Address) -> Result<u64> {
    if bytes.ratio(1, 16)? {
        return bytes.arbitrary();
    }
    Ok(match address {
        Address::Pmc(0) => ia64::seldom(bytes, 8, 1)? | ia64::seldom_of(bytes, 6, 0xF0)?,
        Address::Pmc(index @ 4..=7) => configuration(source, bytes, index)?,
        Address::Pmc(8 | 9) => {
            let slots = if bytes.ratio(1, 3)? { bytes.int_in_range(0..=15u64)? } else { 15 };
            compared(ia64::left_out(bytes)?) << 3 | compared(ia64::encoding(bytes)?) << 33 | slots << 60
        }
        Address::Pmc(10 | 11) => {
            let mode = ia64::seldom(bytes, 3, 1 << 7)? | bytes.int_in_range(0..=15u64)? << 16;
            let sets = if bytes.ratio(1, 6)? { bytes.int_in_range(0..=3u64)? } else { 0 };
            let tags = u64::from(bytes.ratio(1, 2)?) << 28;
            ia64::levels(bytes)? | bytes.int_in_range(0..=1u64)? << 6 | mode | sets << 24 | tags
        }
        Address::Pmc(12) => {
            let masks = if bytes.ratio(1, 2)? { 0x1FF << 7 } else { bytes.int_in_range(0..=0x1FFu64)? << 7 };
            ia64::levels(bytes)? | bytes.int_in_range(0..=1u64)? << 6 | masks
        }
        Address::Pmc(13) => bytes.int_in_range(0..=1)?,
        Address::Pmd(4..=7) => match bytes.int_in_range(0..=7u8)? {
            0 => 0,
            1 => (1 << 32) - u64::from(bytes.int_in_range(1..=40u8)?),
            _ => small_negative(bytes)?,
        },
        Address::Pmd(16) => ia64::seldom_of(bytes, 3, 15)?,
        Address::Ibr(index) => ia64::breakpoint(bytes, index, ia64::bundle)?,
        Address::Dbr(index) => ia64::breakpoint(bytes, index, ia64::data)?,
        _ => ia64::seldom(bytes, 2, 0x4000_0000_0000_0013)?,
    })
}

/// The 27 bits of an encoding that a matcher compares: bits 40:27 above bits 12:0.
const fn compared(encoding: u64) -> u64 {
    (encoding >> 27 & 0x3FFF) << 13 | encoding & 0x1FFF
}

/// What counter `index` counts.
fn configuration(source: &Source, bytes: &mut Unstructured<'_>, index: u8) -> Result<u64> {
    let (select, umask) = match bytes.int_in_range(0..=7u8)? {
        0 => (bytes.arbitrary::<u8>()?.into(), bytes.int_in_range(0..=15u64)?),
        1..=2 => ia64::selection(source, bytes, |entry| matches!(entry.drive, Drive::Internal(_)))?,
        3..=4 => ia64::selection(source, bytes, |entry| entry.select <= 0x12)?,
        _ => ia64::selection(source, bytes, |entry| entry.counters >> index & 1 == 1)?,
    };
    let umask = if bytes.ratio(1, 8)? { bytes.int_in_range(0..=15)? } else { umask };
    let notified = ia64::seldom(bytes, 4, 1 << 4)?;
    let interrupts = u64::from(bytes.ratio(2, 3)?) << 5;
    let privileged = u64::from(bytes.ratio(1, 2)?) << 6;
    let threshold = if bytes.ratio(1, 8)? { bytes.int_in_range(1..=7u64)? << 20 } else { 0 };
    let sets = if bytes.ratio(1, 4)? { bytes.int_in_range(0..=3u64)? } else { 0 };
    let whose = notified | interrupts | privileged;
    Ok(ia64::levels(bytes)? | whose | (select & 0x7F) << 8 | umask << 16 | threshold | sets << 24)
}

/// Statements that need several registers.
fn sequence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    let number = bytes.int_in_range(4..=7u8)?;
    let pair = 2 * bytes.int_in_range(0..=3u8)?;
    let addresses: &[Address] = match bytes.int_in_range(0..=10u8)? {
        0 => return ia64::turn(source, bytes),
        1 => return handler(source, bytes, number),
        2..=4 => &[Address::Pmd(number), Address::Pmc(number), Address::Pmc(0)],
        5 => &[Address::Ibr(pair), Address::Ibr(pair + 1), Address::Pmc(13)],
        6 => &[Address::Dbr(pair), Address::Dbr(pair + 1), Address::Pmc(11)],
        7 => &[Address::Pmc(8), Address::Pmc(9)],
        8 => &[Address::Pmc(10), Address::Pmd(0)],
        9 => &[Address::Pmc(11), Address::Pmd(3), Address::Pmd(17)],
        _ => &[Address::Pmc(12), Address::Pmd(16)],
    };
    ia64::writes(source, bytes, addresses, value)
}

/// What a driver does after an interrupt: it reads PMC0, a counter, the captures and the trace, and continues.
fn handler(source: &Source, bytes: &mut Unstructured<'_>, number: u8) -> Result<Vec<Step>> {
    let looked = [Address::Pmc(0), Address::Pmd(number)].into_iter();
    let captures = (0..=3).chain(8..=17).map(Address::Pmd);
    let reads = looked.chain(captures).map(|address| Step::Read(address, Ok(0)));
    let again = [Address::Pmd(16), Address::Pmd(number)].map(|address| Ok(Step::Write(address, value(source, bytes, address)?, None)));
    let again = again.into_iter().collect::<Result<Vec<Step>>>()?;
    Ok(ia64::privileged(source, reads.chain(again).chain([Step::Write(Address::Pmc(0), 0, None)])))
}
