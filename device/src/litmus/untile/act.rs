//! Executes the statements of a litmus file about boxes.

use alloc::format;
use alloc::string::String;

use super::{Configuration, UntileStep};
use crate::irq::InterruptLine;
use crate::topology::{Machine, Untile};
use crate::untile::Domain;

/// Executes one statement; returns whether it checked something.
pub(in crate::litmus) fn obey<L: InterruptLine>(machine: &Machine<L>, step: &UntileStep) -> Result<bool, String> {
    let untile = machine.untile().ok_or("the part has no boxes that threads share")?;
    if let UntileStep::Tick(_, clocks @ MOST..) | UntileStep::TickAll(clocks @ MOST..) | UntileStep::Pass(clocks @ MOST..) = step {
        return Err(format!("{clocks} clocks are too many: {MOST} are"));
    }
    let seen = act(untile, step, Access::Whole);
    match step {
        UntileStep::Listens(unit, expected) if seen != u64::from(*expected) => {
            Err(format!("{unit} {}, expected otherwise", if *expected { "does not listen" } else { "listens" }))
        }
        UntileStep::Counting(expected) if seen != u64::from(*expected) => {
            Err(format!("{} counts, expected otherwise", if *expected { "nothing" } else { "a counter" }))
        }
        UntileStep::Read(place, expected) if seen != u64::from(*expected) => {
            let Configuration { bus, device, function, offset, size } = place;
            Err(format!("pci:{bus:02x}:{device:02x}.{function}:{offset:#x}/{size} gave {seen:#x}, expected {expected:#x}"))
        }
        UntileStep::Listens(..) | UntileStep::Counting(_) | UntileStep::Read(..) => Ok(true),
        _ => Ok(false),
    }
}

/// The most clocks of one statement, so that the totals do not overflow.
const MOST: u64 = 1 << 52;

/// How clocks are advanced and how much is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::litmus) enum Access {
    /// All at once; everything is reported.
    Whole,
    /// One by one, while there are not too many, and every box counts up to each; everything is reported.
    Single,
    /// All at once, and only what is counted is reported.
    Demanded,
    /// In parts of many lengths; everything is reported.
    Parts,
}

/// The most clocks that are advanced one by one.
const SINGLE: u64 = 512;
/// For how many of them every box counts up to each.
const COUNTED_EACH: u64 = 100;

/// What advances.
#[derive(Clone, Copy)]
enum Time {
    /// A clock.
    One(Domain),
    /// All clocks, in step.
    All,
    /// The cycles of the CPUs.
    Cpus,
}

fn tick<L: InterruptLine>(untile: Untile<'_, L>, time: Time, clocks: u64, access: Access) {
    let mut left = clocks;
    let mut part = 1;
    while left != 0 {
        let now = match access {
            Access::Whole | Access::Demanded => left,
            Access::Single if clocks - left < SINGLE => 1,
            Access::Single => left.div_ceil(2),
            Access::Parts => part.min(left),
        };
        match time {
            Time::One(domain) => untile.tick(domain, now),
            Time::All => untile.tick_all(now),
            Time::Cpus => untile.advance(now),
        }
        if access == Access::Single && clocks - left < COUNTED_EACH {
            untile.service();
        }
        left -= now;
        part = part.saturating_mul(3);
    }
}

/// Executes one statement in the given manner; returns what it showed.
pub(in crate::litmus) fn act<L: InterruptLine>(untile: Untile<'_, L>, step: &UntileStep, access: Access) -> u64 {
    let is_reported = |unit| access != Access::Demanded || untile.listens(unit);
    match step {
        UntileStep::Tick(domain, clocks) => {
            if access != Access::Demanded || untile.is_counting() {
                tick(untile, Time::One(*domain), *clocks, access);
            }
            0
        }
        UntileStep::TickAll(clocks) => {
            if access != Access::Demanded || untile.is_counting() {
                tick(untile, Time::All, *clocks, access);
            }
            0
        }
        // Leaving cycles out would shift the ticks that follow.
        UntileStep::Pass(cycles) => {
            tick(untile, Time::Cpus, *cycles, access);
            0
        }
        UntileStep::Happen { unit, select, umask, each, clocks } => {
            u64::from(is_reported(*unit) && untile.inject(*unit, *select, *umask, *each, *clocks))
        }
        UntileStep::Queue { unit, select, umask, change } => u64::from(untile.change_queue(*unit, *select, *umask, *change)),
        UntileStep::SetQueue { unit, select, umask, level } => u64::from(untile.set_queue(*unit, *select, *umask, *level)),
        UntileStep::Transact(cha, transaction, stage) => u64::from(untile.transact(*cha, transaction, *stage)),
        UntileStep::Mesh(step) => {
            step.act(untile);
            0
        }
        UntileStep::Listens(unit, _) => u64::from(untile.listens(*unit)),
        UntileStep::Counting(_) => u64::from(untile.is_counting()),
        UntileStep::Read(place, _) => u64::from(untile.pci_read(place.bus, place.device, place.function, place.offset, place.size)),
        UntileStep::Write(place, value) => {
            untile.pci_write(place.bus, place.device, place.function, place.offset, place.size, *value);
            0
        }
        UntileStep::Reset => {
            untile.reset();
            0
        }
    }
}

/// The statement, with what was observed as its expectation.
pub(in crate::litmus) fn outcome(step: &UntileStep, seen: u64) -> UntileStep {
    match step {
        UntileStep::Listens(unit, _) => UntileStep::Listens(*unit, seen != 0),
        UntileStep::Counting(_) => UntileStep::Counting(seen != 0),
        UntileStep::Read(place, _) => UntileStep::Read(*place, seen as u32),
        step => step.clone(),
    }
}

/// Moves the boxes of `from` to `to`, as they are now; returns whether they fit.
pub(in crate::litmus) fn move_boxes<L: InterruptLine>(from: &Machine<L>, to: &Machine<L>) -> bool {
    match (from.untile(), to.untile()) {
        (Some(from), Some(to)) => to.restore(&from.state()),
        (None, None) => true,
        _ => false,
    }
}
