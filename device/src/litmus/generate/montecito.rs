//! What a driver of Montecito does: counters near their wrap with events of the catalogue, constraints that match the records, captures of
//! addresses and traces, freezing, and two threads that take turns.

use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::Drive;
use vm_pmu_arch::feed::Signal;

use super::{Driver, Source, ia64, small_negative};
use crate::litmus::Step;

pub(super) static MONTECITO: Driver = Driver {
    name: "montecito",
    unit: "",
    threads: &[1, 2, 2],
    write,
    read,
    occurrence: ia64::occurrence,
    record: Some(ia64::record),
    request: None,
    nested: None,
    clocks: &[Signal::TimeBaseTicks],
    pins: 16,
    opening: ia64::opening,
    sequence: Some(sequence),
};

fn read(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Address> {
    if bytes.ratio(1, 8)? { ia64::any(bytes) } else { source.register(bytes) }
}

fn write(source: &Source, bytes: &mut Unstructured<'_>) -> Result<(Address, u64)> {
    let address = match bytes.int_in_range(0..=9u8)? {
        0 => ia64::any(bytes)?,
        1..=3 => Address::Pmc(bytes.int_in_range(4..=15)?),
        4..=5 => Address::Pmd(bytes.int_in_range(4..=15)?),
        6 => Address::Pmc(0),
        _ => source.register(bytes)?,
    };
    Ok((address, value(source, bytes, address)?))
}

/// What a driver writes to a register; the bits are those of Tables 3-5 to 3-32.
fn value(source: &Source, bytes: &mut Unstructured<'_>, address: Address) -> Result<u64> {
    if bytes.ratio(1, 16)? {
        return bytes.arbitrary();
    }
    Ok(match address {
        Address::Pmc(0) => ia64::seldom(bytes, 8, 1)? | ia64::seldom_of(bytes, 6, 0xFFF0)?,
        Address::Pmc(index @ 4..=15) => configuration(source, bytes, index)?,
        Address::Pmc(32 | 34) => {
            let slots = if bytes.ratio(1, 3)? { bytes.int_in_range(0..=15u64)? } else { 15 };
            ia64::left_out(bytes)? | slots << 48 | bytes.int_in_range(0..=3u64)? << 56
        }
        Address::Pmc(33 | 35) => ia64::encoding(bytes)?,
        Address::Pmc(36) => 0xFFFF_FFF0 | bytes.int_in_range(0..=15u64)?,
        Address::Pmc(37) => {
            let cache = 0b10 << 12 | *bytes.choose(&[0xFFu64, 0xFE, 0xFC, 0xF0, 0xC0, 0x80, 0x40, 0])? << 5;
            let translations = bytes.int_in_range(0..=7u64)? << 5;
            ia64::levels(bytes)? | bytes.int_in_range(0..=1u64)? << 4 | if bytes.ratio(2, 3)? { cache } else { translations }
        }
        Address::Pmc(38) => 0x0924 | bytes.arbitrary::<u64>()? & 0x0492 | ia64::seldom(bytes, 4, 1 << 13)?,
        Address::Pmc(39) => {
            let masks = if bytes.ratio(1, 2)? { 0x3F << 8 } else { bytes.int_in_range(0..=0x3Fu64)? << 8 };
            let kinds = ia64::seldom_of(bytes, 3, 3)? << 14;
            ia64::levels(bytes)? | bytes.int_in_range(0..=1u64)? << 6 | ia64::seldom(bytes, 10, 1 << 7)? | masks | kinds
        }
        Address::Pmc(40) => {
            let mode = *bytes.choose(&[0u64, 0, 1, 2])? << 7;
            let umask = bytes.int_in_range(0..=15u64)? << 16;
            ia64::levels(bytes)? | bytes.int_in_range(0..=1u64)? << 6 | mode | umask | 0b10 << 24
        }
        Address::Pmc(41) => {
            let fixed = 0x2078_FEFE_FEFE & !(0b1111 << 45 | 0x1818_1818);
            fixed | bytes.arbitrary::<u64>()? & 0x1818_1818 | bytes.int_in_range(0..=15u64)? << 45
        }
        Address::Pmc(42) => {
            let mode = *bytes.choose(&[0u64, 0, 4, 4, 4, 1])? << 8;
            let delay = u64::from(bytes.int_in_range(0..=40u8)?) << 11;
            ia64::levels(bytes)? | bytes.int_in_range(0..=1u64)? << 6 | mode | delay
        }
        Address::Pmd(4..=15) => match bytes.int_in_range(0..=7u8)? {
            0 => 0,
            1 => small_negative(bytes)?,
            _ => (1 << 47) - u64::from(bytes.int_in_range(1..=16u8)?),
        },
        Address::Pmd(38) => ia64::seldom_of(bytes, 3, 0x2F)?,
        Address::Ibr(index) => ia64::breakpoint(bytes, index, ia64::bundle)?,
        Address::Dbr(index) => ia64::breakpoint(bytes, index, ia64::data)?,
        _ => ia64::seldom(bytes, 2, 0x4000_0000_0000_0013)?,
    })
}

/// What counter `index` counts: its events exist, and are mostly those that it may count.
fn configuration(source: &Source, bytes: &mut Unstructured<'_>, index: u8) -> Result<u64> {
    // PMC5 selects the events of L1D, PMC4 and PMC6 those of L2D (sections 4.8.2 and 4.8.4).
    let (select, umask) = match (bytes.int_in_range(0..=11u8)?, index) {
        (0, _) => (bytes.arbitrary::<u8>()?.into(), bytes.int_in_range(0..=15u64)?),
        (1..=3, _) => ia64::selection(source, bytes, |entry| matches!(entry.drive, Drive::Internal(_)))?,
        (4..=6, 4..=9) => {
            let data = if index == 5 || bytes.ratio(1, 3)? { 0xC0..=0xD9 } else { 0xE0..=0xF3 };
            ia64::selection(source, bytes, |entry| data.contains(&entry.select))?
        }
        (7..=8, _) => ia64::selection(source, bytes, |entry| entry.select <= 0x12)?,
        _ => ia64::selection(source, bytes, |entry| entry.counters >> index & 1 == 1)?,
    };
    let umask = if bytes.ratio(1, 8)? { bytes.int_in_range(0..=15)? } else { umask };
    let notified = ia64::seldom(bytes, 4, 1 << 4)?;
    let interrupts = u64::from(bytes.ratio(2, 3)?) << 5;
    let privileged = u64::from(bytes.ratio(1, 2)?) << 6;
    let threshold = if bytes.ratio(1, 8)? { bytes.int_in_range(1..=7u64)? << 20 } else { 0 };
    let sets = if bytes.ratio(1, 12)? { bytes.int_in_range(0..=3u64)? } else { 0b10 };
    let states = if bytes.ratio(1, 3)? { bytes.int_in_range(0..=15u64)? } else { 15 };
    let whose = notified | interrupts | privileged | ia64::seldom(bytes, 4, 1 << 26)?;
    Ok(ia64::levels(bytes)? | whose | (select & 0xFF) << 8 | umask << 16 | threshold | sets << 24 | states << 27)
}

/// Statements that need several registers.
fn sequence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    let number = bytes.int_in_range(4..=15u8)?;
    let pair = 2 * bytes.int_in_range(0..=3u8)?;
    let addresses: &[Address] = match bytes.int_in_range(0..=16u8)? {
        0..=1 => return ia64::turn(source, bytes),
        2 => return handler(source, bytes, number),
        3..=5 | 12..=15 => &[Address::Pmd(number), Address::Pmc(number), Address::Pmc(0)],
        6 => &[Address::Ibr(pair), Address::Ibr(pair + 1), Address::Pmc(38), Address::Pmc(32)],
        7 => &[Address::Dbr(pair), Address::Dbr(pair + 1), Address::Pmc(41)],
        8 => &[Address::Pmc(32), Address::Pmc(33), Address::Pmc(34), Address::Pmc(35), Address::Pmc(36)],
        9 => &[Address::Pmc(37)],
        10 => &[Address::Pmc(40), Address::Pmd(33), Address::Pmd(36)],
        11 => &[Address::Pmc(39), Address::Pmd(38), Address::Pmc(42)],
        _ => &[Address::Pmc(42), Address::Pmd(38)],
    };
    ia64::writes(source, bytes, addresses, value)
}

/// What a driver does after an interrupt: it reads PMC0, a counter and the captures, and continues.
fn handler(source: &Source, bytes: &mut Unstructured<'_>, number: u8) -> Result<Vec<Step>> {
    let looked = [Address::Pmc(0), Address::Pmd(number)].into_iter();
    let captures = (32..=36).chain(38..=39).chain(48..=63).map(Address::Pmd);
    let reads = looked.chain(captures).map(|address| Step::Read(address, Ok(0)));
    let again = [Address::Pmd(38), Address::Pmd(number)].map(|address| Ok(Step::Write(address, value(source, bytes, address)?, None)));
    let again = again.into_iter().collect::<Result<Vec<Step>>>()?;
    Ok(ia64::privileged(source, reads.chain(again).chain([Step::Write(Address::Pmc(0), 0, None)])))
}
