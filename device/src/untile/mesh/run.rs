//! The straight runs of which a message's way is made: along the vertical rings, then along the horizontal ones.

use vm_pmu_arch::knl::untile::UnitId;

use super::message::Ring;
use super::plan::{BELOW, COLUMNS, ROWS, Stop, clocks_of_hop};

/// The number of stops in a column or in a row.
pub(super) const fn length(horizontal: bool) -> usize {
    if horizontal { COLUMNS as usize } else { ROWS as usize }
}

/// How long a message takes from stop `at` to the end of its line. The first two ways lead up or left.
pub(super) const fn lead(horizontal: bool, way: usize, at: usize) -> u64 {
    let hops = if way < 2 { at } else { length(horizontal) - 1 - at };
    hops as u64 * clocks_of_hop(horizontal)
}

/// What the ends of a run within its line decide.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    hops: u8,
    /// Its bit among even and odd slots up or left, and even and odd slots down or right. Slots are even or odd by the row or column where
    /// they end, which is chosen.
    way: u8,
    /// The place in the line of the first link that it takes. A link leaves each stop but the last.
    first: u8,
    /// The clocks from its start to the end of the line.
    lead: u8,
}

impl Shape {
    const fn of(horizontal: bool, from: usize, to: usize) -> Shape {
        let way = (to & 1) + if to < from { 0 } else { 2 };
        let first = if from < to { from } else { to + 1 };
        Shape { hops: from.abs_diff(to) as u8, way: way as u8, first: first as u8, lead: lead(horizontal, way, from) as u8 }
    }

    /// Those of every pair of ends, of which `PAIRS` are in a line.
    const fn all<const PAIRS: usize>(horizontal: bool) -> [Shape; PAIRS] {
        let mut shapes = [Shape { hops: 0, way: 0, first: 0, lead: 0 }; PAIRS];
        let mut pair = 0;
        while pair < PAIRS {
            shapes[pair] = Shape::of(horizontal, pair / length(horizontal), pair % length(horizontal));
            pair += 1;
        }
        shapes
    }
}

const DOWN: [Shape; ROWS as usize * ROWS as usize] = Shape::all(false);
const ACROSS: [Shape; COLUMNS as usize * COLUMNS as usize] = Shape::all(true);

/// A run of a message. Stops are those of the places with these [indexes](Stop::index).
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) horizontal: bool,
    pub(super) from: usize,
    pub(super) to: usize,
    /// The column, or the row.
    pub(super) of: u8,
    shape: Shape,
}

impl Run {
    #[inline(always)]
    pub(super) fn down(from: Stop, to: Stop) -> Run {
        let shape = DOWN.get(usize::from(from.row) * length(false) + usize::from(to.row)).copied().unwrap_or_default();
        Run { horizontal: false, from: from.index(), to: to.index(), of: from.column, shape }
    }

    #[inline(always)]
    pub(super) fn across(from: Stop, to: Stop) -> Run {
        let shape = ACROSS.get(usize::from(from.column) * length(true) + usize::from(to.column)).copied().unwrap_or_default();
        Run { horizontal: true, from: from.index(), to: to.index(), of: from.row, shape }
    }

    /// Its place in pairs of selects.
    pub(super) fn axis(self) -> usize {
        usize::from(self.horizontal)
    }

    pub(super) fn hops(self) -> u8 {
        self.shape.hops
    }

    /// The place in its line of the first link that it takes.
    pub(super) fn first(self) -> usize {
        self.shape.first.into()
    }

    /// The clocks from its start to the end of its line.
    pub(super) fn lead(self) -> u64 {
        self.shape.lead.into()
    }

    /// The boxes at its stops but the first.
    #[inline(always)]
    pub(super) fn units(self) -> impl Iterator<Item = UnitId> {
        let step = if self.horizontal { 1 } else { BELOW };
        let step = if self.shape.way < 2 { step.wrapping_neg() } else { step };
        let mut at = self.from;
        (0..self.shape.hops).filter_map(move |_| {
            at = at.wrapping_add(step);
            Stop::unit_at(at)
        })
    }

    /// Its bit among the slots of the ring. The IV ring has no odd ones (tables 6-52 and 6-53).
    pub(super) fn way(self, ring: Ring) -> usize {
        usize::from(self.shape.way & if ring == Ring::Iv { 2 } else { 3 })
    }

    /// The clocks of all its hops.
    pub(super) fn clocks(self) -> u64 {
        u64::from(self.shape.hops) * clocks_of_hop(self.horizontal)
    }

    /// The clocks around the whole ring: there and back.
    pub(super) fn round(self) -> u64 {
        2 * clocks_of_hop(self.horizontal) * length(self.horizontal) as u64
    }
}
