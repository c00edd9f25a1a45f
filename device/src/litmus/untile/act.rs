//! Doing what a litmus file says of boxes.

use alloc::format;
use alloc::string::String;

use super::UntileStep;
use crate::irq::InterruptLine;
use crate::topology::{Machine, Untile};
use crate::untile::Domain;

/// Does one statement; whether it checked something.
pub(in crate::litmus) fn obey<L: InterruptLine>(machine: &Machine<L>, step: &UntileStep) -> Result<bool, String> {
    let untile = machine.untile().ok_or("the part has no boxes that threads share")?;
    if let UntileStep::Tick(_, clocks @ MOST..) | UntileStep::Pass(clocks @ MOST..) = step {
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
            Err(format!("{place:x?} gave {seen:#x}, expected {expected:#x}"))
        }
        UntileStep::Listens(..) | UntileStep::Counting(_) | UntileStep::Read(..) => Ok(true),
        _ => Ok(false),
    }
}

/// So many clocks of one statement would bring the totals to their end.
const MOST: u64 = 1 << 52;

/// How clocks are let go by and how much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::litmus) enum Access {
    /// All at once; everything is told.
    Whole,
    /// One after the other, while there are not too many, and every box is looked at after each; everything is told.
    Single,
    /// All at once, and only what somebody counts.
    Demanded,
    /// In parts of many lengths; everything is told.
    Parts,
}

/// The most clocks that are let go by one after the other.
const SINGLE: u64 = 512;
/// After how many of them every box is looked at.
const LOOKED_AT: u64 = 100;

/// Lets clocks of `domain` go by, or cycles of the CPUs where there is none.
fn tick<L: InterruptLine>(untile: Untile<'_, L>, domain: Option<Domain>, clocks: u64, access: Access) {
    let mut left = clocks;
    let mut part = 1;
    while left != 0 {
        let now = match access {
            Access::Whole | Access::Demanded => left,
            Access::Single if clocks - left < SINGLE => 1,
            Access::Single => left.div_ceil(2),
            Access::Parts => part.min(left),
        };
        match domain {
            Some(domain) => untile.tick(domain, now),
            None => untile.advance(now),
        }
        if access == Access::Single && clocks - left < LOOKED_AT {
            // Whatever deadlines say: every box counts up to here.
            let _ = untile.state();
        }
        left -= now;
        part = part.saturating_mul(3);
    }
}

/// Does one statement in some manner; what it showed.
pub(in crate::litmus) fn act<L: InterruptLine>(untile: Untile<'_, L>, step: &UntileStep, access: Access) -> u64 {
    let is_told = |unit| access != Access::Demanded || untile.listens(unit);
    match step {
        UntileStep::Tick(domain, clocks) => {
            if access != Access::Demanded || untile.is_counting() {
                tick(untile, Some(*domain), *clocks, access);
            }
            0
        }
        // Whoever leaves cycles out shifts the ticks that follow.
        UntileStep::Pass(cycles) => {
            tick(untile, None, *cycles, access);
            0
        }
        UntileStep::Happen { unit, select, umask, each, clocks } => {
            u64::from(is_told(*unit) && untile.inject(*unit, *select, *umask, *each, *clocks))
        }
        UntileStep::Queue { unit, select, umask, change } => u64::from(untile.change_queue(*unit, *select, *umask, *change)),
        UntileStep::SetQueue { unit, select, umask, level } => u64::from(untile.set_queue(*unit, *select, *umask, *level)),
        UntileStep::Transact(cha, transaction, stage) => u64::from(untile.transact(*cha, transaction, *stage)),
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

/// The statement with what was seen as its expectation.
pub(in crate::litmus) fn outcome(step: &UntileStep, seen: u64) -> UntileStep {
    match step {
        UntileStep::Listens(unit, _) => UntileStep::Listens(*unit, seen != 0),
        UntileStep::Counting(_) => UntileStep::Counting(seen != 0),
        UntileStep::Read(place, _) => UntileStep::Read(*place, seen as u32),
        step => step.clone(),
    }
}

/// Brings the boxes of `from` to `to`, as they are now; whether they fit.
pub(in crate::litmus) fn move_boxes<L: InterruptLine>(from: &Machine<L>, to: &Machine<L>) -> bool {
    match (from.untile(), to.untile()) {
        (Some(from), Some(to)) => to.restore(&from.state()),
        (None, None) => true,
        _ => false,
    }
}
