//! Bundles of IA-64: three instructions of 41 bits, and what their encoding says of branches.

/// The templates, without their lowest bit, whose slots hold branches, and these slots.
const BRANCHES: [(u64, u8); 5] = [(0x10, 0b100), (0x12, 0b110), (0x16, 0b111), (0x18, 0b100), (0x1C, 0b100)];
/// The template of long instructions, without its lowest bit.
const LONG: u64 = 0x04;

/// The unit of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    M,
    I,
    F,
    B,
    /// The long instruction of two slots.
    X,
}

/// The kinds of bundles that dispersal tells apart, without their stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Template {
    Mib,
    Mbb,
    Bbb,
    Mmb,
    Mfb,
    Mmf,
    /// Others without a branch.
    Other,
}

/// The bundle that an instruction of IA-64 lies in, and its place there.
///
/// ```
/// use vm_pmu::companion::Bundle;
///
/// // { .bbb (p6) br.cond.dptk 0x20 ; br.ret.sptk b0 ; nop.b ;; }
/// let branch = 4 << 37 | 2 << 33 | 2 << 13 | 6;
/// let give_back = 0x21 << 27 | 4 << 6;
/// let nop = 2 << 37;
/// let bundle = Bundle::new(0x17, [branch, give_back, nop]);
/// assert_eq!(bundle.branches(), 0b011);
/// assert_eq!(bundle.at(1).slot, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Bundle {
    /// Its 16 bytes, as two little-endian words.
    pub words: [u64; 2],
    /// The slot of the instruction, 0 to 2. A long one is in slot 1.
    pub slot: u8,
    /// The previous function state (AR.PFS) that a taken call saved or a taken return restored, if the embedder tells it.
    pub function_state: Option<u64>,
}

/// Where a branch takes its target from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Relative,
    Return,
    Indirect,
}

/// What the encoding of a branch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) target: Target,
    /// It saves the address behind it.
    pub(super) calls: bool,
    /// A loop counter decides it.
    pub(super) counted: bool,
    /// Nothing decides it: it is always taken.
    pub(super) always: bool,
    /// The hint is what is predicted, not only what prediction begins with.
    pub(super) fixed: bool,
    /// What the hint says: taken.
    pub(super) hint: bool,
    /// Much sequential code follows at the target.
    pub(super) many: bool,
}

/// What `brp` with the hint *important* announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Announced {
    /// The bundle of the branch.
    pub(super) bundle: u64,
    pub(super) target: u64,
}

impl Bundle {
    /// A bundle of this template and these three instructions, at the first of them.
    #[must_use]
    pub const fn new(template: u8, slots: [u64; 3]) -> Bundle {
        const SLOT: u64 = (1 << 41) - 1;
        let [first, second, third] = slots;
        let low = template as u64 & 31 | (first & SLOT) << 5 | second << 46;
        Bundle { words: [low, (second & SLOT) >> 18 | third << 23], slot: 0, function_state: None }
    }

    /// The same bundle at another slot.
    #[must_use]
    pub const fn at(self, slot: u8) -> Bundle {
        Bundle { slot, ..self }
    }

    /// The slots that hold a branch, one bit each; a long branch is in slot 1. `rfi` and failed checks are none.
    #[must_use]
    pub fn branches(&self) -> u8 {
        let template = self.template();
        if template == LONG {
            return u8::from(matches!(self.encoding(2) >> 37, 0xC | 0xD)) << 1;
        }
        let places = BRANCHES.iter().find(|(with, _)| *with == template).map_or(0, |(_, places)| *places);
        (0..3).filter(|slot| places >> slot & 1 != 0 && is_branch(self.encoding(*slot))).fold(0, |all, slot| all | 1 << slot)
    }

    /// The template without the bit that says whether a stop ends the bundle.
    fn template(&self) -> u64 {
        self.first() & 0x1E
    }

    fn first(&self) -> u64 {
        let [first, _] = self.words;
        first
    }

    /// Whether a stop ends the bundle.
    pub(super) fn stops(&self) -> bool {
        self.first() & 1 != 0
    }

    /// What the template is to dispersal.
    pub(super) fn kind(&self) -> Template {
        match self.template() {
            0x10 => Template::Mib,
            0x12 => Template::Mbb,
            0x16 => Template::Bbb,
            0x18 => Template::Mmb,
            0x1C => Template::Mfb,
            0x0E => Template::Mmf,
            _ => Template::Other,
        }
    }

    /// The unit of the instruction's slot, and its 41 bits. Reserved templates are taken for the first.
    pub(super) fn decoded(&self) -> (Unit, u64) {
        use Unit::{B, F, I, M, X};
        let units = match self.template() {
            0x04 => [M, X, X],
            0x08 | 0x0A => [M, M, I],
            0x0C => [M, F, I],
            0x0E => [M, M, F],
            0x10 => [M, I, B],
            0x12 => [M, B, B],
            0x16 => [B, B, B],
            0x18 => [M, M, B],
            0x1C => [M, F, B],
            _ => [M, I, I],
        };
        let unit = units.get(usize::from(self.slot.min(2))).copied().unwrap_or(M);
        (unit, self.instruction())
    }

    /// Whether a stop follows the instruction's slot.
    pub(super) fn stops_behind(&self) -> bool {
        match (self.template(), self.slot) {
            (LONG, 1) | (_, 2..) => self.stops(),
            (0x02, 1) | (0x0A, 0) => true,
            _ => false,
        }
    }

    /// Whether the instruction is the last of its bundle.
    pub(super) fn is_last(&self) -> bool {
        self.slot >= 2 || self.template() == LONG && self.slot == 1
    }

    /// Whether its last branch is not behind the instruction's slot.
    pub(super) fn is_last_branch(&self) -> bool {
        self.branches() >> (self.slot.min(2) + 1) == 0
    }

    /// The 41 bits of a slot.
    fn encoding(&self, slot: u8) -> u64 {
        const SLOT: u64 = (1 << 41) - 1;
        let [low, high] = self.words;
        match slot {
            0 => low >> 5 & SLOT,
            1 => (low >> 46 | high << 18) & SLOT,
            _ => high >> 23,
        }
    }

    /// The 41 bits of the instruction; of a long one those that hold the operation.
    fn instruction(&self) -> u64 {
        if self.template() == LONG && self.slot == 1 { self.encoding(2) } else { self.encoding(self.slot) }
    }

    /// The branch in the instruction's slot.
    pub(super) fn branch(&self) -> Option<Branch> {
        if self.branches() >> self.slot.min(2) & 1 == 0 {
            return None;
        }
        let word = self.instruction();
        let (major, kind, unqualified) = (word >> 37, field(word, 6, 3), field(word, 0, 6) == 0);
        let target = match (major, field(word, 27, 6)) {
            (0, 0x21) => Target::Return,
            (0 | 1, _) => Target::Indirect,
            _ => Target::Relative,
        };
        let counted = major == 4 && kind >= 5;
        // A loop with a condition goes on by a predicate and by a counter.
        let always = unqualified && (major != 4 || kind == 0);
        let calls = matches!(major, 1 | 5 | 0xD);
        let (fixed, hint) = (field(word, 34, 1) == 0, field(word, 33, 1) == 0);
        Some(Branch { target, calls, counted, always, fixed, hint, many: field(word, 12, 1) == 1 })
    }

    /// What the instruction announces, if it is a `brp` to a relative target with the hint *important*. `address` is the bundle's.
    pub(super) fn announced(&self, address: u64) -> Option<Announced> {
        let target = self.presaged(address).filter(|_| field(self.instruction(), 35, 1) == 1)?;
        let word = self.instruction();
        let tag = sign_extend(field(word, 33, 2) << 7 | field(word, 6, 7), 9);
        Some(Announced { bundle: address.wrapping_add(tag << 4), target })
    }

    /// The target that the instruction names, if it is a `brp` to a relative one. `address` is the bundle's.
    #[inline]
    pub(super) fn presaged(&self, address: u64) -> Option<u64> {
        let word = self.instruction();
        if word >> 37 != 7 {
            return None;
        }
        let places = BRANCHES.iter().find(|(with, _)| *with == self.template()).map_or(0, |(_, places)| *places);
        if places >> self.slot.min(2) & 1 == 0 {
            return None;
        }
        let distance = sign_extend(field(word, 36, 1) << 20 | field(word, 13, 20), 21);
        Some(address.wrapping_add(distance << 4))
    }
}

/// Whether an instruction of the B unit is a branch.
fn is_branch(word: u64) -> bool {
    match word >> 37 {
        0 => matches!(field(word, 27, 6), 0x20 | 0x21),
        1 | 4 | 5 => true,
        _ => false,
    }
}

/// `length` bits from bit `low` on.
fn field(word: u64, low: u32, length: u32) -> u64 {
    word >> low & ((1 << length) - 1)
}

/// A number of `bits` bits whose highest is its sign.
fn sign_extend(value: u64, bits: u32) -> u64 {
    ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
}
