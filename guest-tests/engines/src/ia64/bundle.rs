//! Bundles: three slots of 41 bits and the template that says what units they go to (SDM volume 1, 3.3).

use super::word::Word;

/// The kind of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A memory slot.
    #[default]
    M,
    /// An integer slot.
    I,
    /// A floating-point slot.
    F,
    /// A branch slot.
    B,
    /// The L and X slots of an MLX bundle, which are one instruction.
    X,
}

use Unit::{B, F, I, M, X};

/// The units of a template and whether there is a stop after each slot; `None` of the reserved templates.
type Template = Option<([Unit; 3], [bool; 3])>;

const fn template(units: [Unit; 3], stops: [bool; 3]) -> Template {
    Some((units, stops))
}

const TEMPLATES: [Template; 32] = [
    template([M, I, I], [false, false, false]),
    template([M, I, I], [false, false, true]),
    template([M, I, I], [false, true, false]),
    template([M, I, I], [false, true, true]),
    template([M, X, X], [false, false, false]),
    template([M, X, X], [false, false, true]),
    None,
    None,
    template([M, M, I], [false, false, false]),
    template([M, M, I], [false, false, true]),
    template([M, M, I], [true, false, false]),
    template([M, M, I], [true, false, true]),
    template([M, F, I], [false, false, false]),
    template([M, F, I], [false, false, true]),
    template([M, M, F], [false, false, false]),
    template([M, M, F], [false, false, true]),
    template([M, I, B], [false, false, false]),
    template([M, I, B], [false, false, true]),
    template([M, B, B], [false, false, false]),
    template([M, B, B], [false, false, true]),
    None,
    None,
    template([B, B, B], [false, false, false]),
    template([B, B, B], [false, false, true]),
    template([M, M, B], [false, false, false]),
    template([M, M, B], [false, false, true]),
    None,
    None,
    template([M, F, B], [false, false, false]),
    template([M, F, B], [false, false, true]),
    None,
    None,
];

/// A bundle that was fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bundle {
    /// As it is in memory: its lower half, its upper half.
    pub(crate) words: [u64; 2],
    slots: [u64; 3],
    units: [Unit; 3],
    stops: [bool; 3],
}

/// One instruction of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) unit: Unit,
    pub(crate) word: Word,
    /// The L slot of a long instruction, else 0.
    pub(crate) upper: u64,
    /// A stop follows.
    pub(crate) stop: bool,
    /// It is the last of its bundle.
    pub(crate) last: bool,
}

impl Bundle {
    /// The bundle in two halves of memory; `None` if its template is reserved.
    #[inline]
    pub(crate) fn new(low: u64, high: u64) -> Option<Self> {
        const SLOT: u64 = (1 << 41) - 1;
        let (units, stops) = TEMPLATES[(low & 31) as usize]?;
        Some(Self { words: [low, high], slots: [low >> 5 & SLOT, (low >> 46 | high << 18) & SLOT, high >> 23], units, stops })
    }

    /// The instruction in slot `index`; slot 1 is the long instruction of an MLX bundle.
    #[inline]
    pub(crate) fn slot(&self, index: usize) -> Slot {
        let unit = self.units[index];
        if unit == X {
            return Slot { unit, word: Word(self.slots[2]), upper: self.slots[1], stop: self.stops[2], last: true };
        }
        Slot { unit, word: Word(self.slots[index]), upper: 0, stop: self.stops[index], last: index == 2 }
    }
}
