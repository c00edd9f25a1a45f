//! The floor plan.
//!
//! Nine rows, since transgresses 0 to 8 are rows (tables 6-1 and 6-2), of six columns. MCDRAM controllers are at the four corners, DDR
//! controllers at both ends of the middle row, PCI Express at the top, and 38 tiles in between (Hot Chips 2015). Chosen: the two places in
//! the last row of tiles that have none, and the numbers. These follow the quadrants of the companion's hash: upper left, lower left, upper
//! right, lower right.

use vm_pmu_arch::knl::untile::{Kind, UnitId};

/// Rows and columns.
pub(super) const ROWS: u8 = 9;
pub(super) const COLUMNS: u8 = 6;

const fn at(row: u8, column: u8) -> Stop {
    Stop { row, column }
}

/// The tiles, each with a CHA.
#[rustfmt::skip]
const TILES: [Stop; 38] = [
    at(1, 0), at(1, 1), at(1, 2), at(2, 0), at(2, 1), at(2, 2), at(3, 0), at(3, 1), at(3, 2), at(4, 1),
    at(5, 0), at(5, 1), at(5, 2), at(6, 0), at(6, 1), at(6, 2), at(7, 0), at(7, 1), at(4, 2),
    at(1, 3), at(1, 4), at(1, 5), at(2, 3), at(2, 4), at(2, 5), at(3, 3), at(3, 4), at(3, 5), at(4, 3),
    at(5, 3), at(5, 4), at(5, 5), at(6, 3), at(6, 4), at(6, 5), at(7, 4), at(7, 5), at(4, 4),
];
/// The controllers of MCDRAM.
const EDCS: [Stop; 8] = [at(0, 0), at(0, 1), at(8, 0), at(8, 1), at(0, 4), at(0, 5), at(8, 4), at(8, 5)];
/// The controllers of DDR.
const CONTROLLERS: [Stop; 2] = [at(4, 0), at(4, 5)];
/// PCI Express.
const DEVICES: [Stop; 1] = [at(0, 2)];

/// The clocks of a hop: one vertically and two horizontally, since tiles are wider than high; chosen.
pub(super) const fn clocks_of_hop(horizontal: bool) -> u64 {
    if horizontal { 2 } else { 1 }
}

/// From one index to that of the stop below.
pub(super) const BELOW: usize = COLUMNS as usize;

/// The box of each place, as [`Stop::unit`] returns it.
const BOXES: [Option<UnitId>; ROWS as usize * COLUMNS as usize] = {
    let mut boxes = [None; ROWS as usize * COLUMNS as usize];
    let kinds: [(Kind, &[Stop]); 4] = [(Kind::Cha, &TILES), (Kind::EdcUclk, &EDCS), (Kind::McUclk, &CONTROLLERS), (Kind::M2pcie, &DEVICES)];
    let mut kind = 0;
    while kind < kinds.len() {
        let (name, stops) = kinds[kind];
        let mut number = 0;
        while number < stops.len() {
            boxes[stops[number].index()] = UnitId::new(name, number as u8);
            number += 1;
        }
        kind += 1;
    }
    boxes
};

/// A place on the die, and its mesh stop: row 0 is the uppermost, column 0 the leftmost.
///
/// ```
/// use vm_pmu::untile::{Stop, UnitId};
///
/// // The first and the last CHA are three rows and four columns apart.
/// let [first, last] = ["cha0", "cha37"].map(|name| Stop::of(UnitId::named(name).unwrap()).unwrap());
/// assert_eq!(first.distance(last), 3 + 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stop {
    pub(super) row: u8,
    pub(super) column: u8,
}

impl Stop {
    /// The stop of a box. The PCU and the UBox have none here. The IRP is behind M2PCIe, and both halves of a controller share a stop.
    #[must_use]
    pub fn of(unit: UnitId) -> Option<Stop> {
        let number = usize::from(unit.number());
        match unit.kind() {
            Kind::Cha => TILES.get(number),
            Kind::EdcUclk | Kind::EdcEclk => EDCS.get(number),
            Kind::McUclk => CONTROLLERS.get(number),
            // Channels 0 to 2 are those of the first controller.
            Kind::McDclk => CONTROLLERS.get(number / 3),
            Kind::M2pcie | Kind::Irp => DEVICES.first(),
            Kind::Pcu | Kind::Ubox => None,
        }
        .copied()
    }

    /// The box whose counters count what its stop does, if a box is there: of two halves of a controller the one with the untile's clock.
    #[must_use]
    pub fn unit(self) -> Option<UnitId> {
        BOXES.get(self.index()).copied().flatten()
    }

    /// The box of the place with this [index](Stop::index).
    pub(super) fn unit_at(index: usize) -> Option<UnitId> {
        BOXES.get(index).copied().flatten()
    }

    /// How many hops a message makes from here to `to`.
    #[must_use]
    pub fn distance(self, to: Stop) -> u32 {
        u32::from(self.row.abs_diff(to.row)) + u32::from(self.column.abs_diff(to.column))
    }

    /// Whether it is right of the middle.
    pub(in super::super) const fn is_in_right_half(self) -> bool {
        self.column >= COLUMNS / 2
    }

    /// Its place among all.
    pub(super) const fn index(self) -> usize {
        self.row as usize * COLUMNS as usize + self.column as usize
    }
}

impl Stop {
    /// The stop of tile `number`.
    pub(super) fn of_tile(number: usize) -> Option<Stop> {
        TILES.get(number).copied()
    }

    /// The stop of controller `number` of MCDRAM.
    pub(super) fn of_mcdram(number: usize) -> Option<Stop> {
        EDCS.get(number).copied()
    }

    /// The stop of controller `number` of DDR.
    pub(super) fn of_ddr(number: usize) -> Option<Stop> {
        CONTROLLERS.get(number).copied()
    }

    /// The stop of M2PCIe.
    pub(in super::super) fn of_devices() -> Option<Stop> {
        DEVICES.first().copied()
    }
}
