//! Bundles of IA-64: three instructions of 41 bits, and what their encoding says of branches.

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

/// What a template says of its slots.
#[derive(Clone, Copy, Debug)]
struct Shape {
    units: [Unit; 3],
    kind: Template,
    /// The slots of the B unit, one bit each.
    branches: u8,
    /// The slots that a stop follows, one bit each: of a long instruction both of its slots.
    stops: u8,
    /// The slot of the last instruction.
    last: u8,
}

/// The templates. Reserved ones are taken for the first.
static SHAPES: [Shape; 32] = {
    use Unit::{B, F, I, M, X};
    let mut shapes = [Shape { units: [M, I, I], kind: Template::Other, branches: 0, stops: 0, last: 2 }; 32];
    let mut template = 0;
    while template < shapes.len() {
        let shape = &mut shapes[template];
        let (units, kind) = match template as u64 & 0x1E {
            LONG => ([M, X, X], Template::Other),
            0x08 | 0x0A => ([M, M, I], Template::Other),
            0x0C => ([M, F, I], Template::Other),
            0x0E => ([M, M, F], Template::Mmf),
            0x10 => ([M, I, B], Template::Mib),
            0x12 => ([M, B, B], Template::Mbb),
            0x16 => ([B, B, B], Template::Bbb),
            0x18 => ([M, M, B], Template::Mmb),
            0x1C => ([M, F, B], Template::Mfb),
            _ => ([M, I, I], Template::Other),
        };
        (shape.units, shape.kind) = (units, kind);
        shape.branches = match kind {
            Template::Mbb => 0b110,
            Template::Bbb => 0b111,
            Template::Mib | Template::Mmb | Template::Mfb => 0b100,
            Template::Mmf | Template::Other => 0,
        };
        let end = if template & 1 == 0 { 0 } else { 0b100 };
        shape.stops = match template as u64 & 0x1E {
            LONG => end | end >> 1,
            0x02 => end | 0b010,
            0x0A => end | 0b001,
            _ => end,
        };
        shape.last = if template as u64 & 0x1E == LONG { 1 } else { 2 };
        template += 1;
    }
    shapes
};

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
        (0..3).filter(|slot| self.has_branch(*slot)).fold(0, |all, slot| all | 1 << slot)
    }

    /// Whether there is a branch in a slot.
    #[inline]
    fn has_branch(&self, slot: u8) -> bool {
        if self.is_long() {
            return slot == 1 && matches!(self.encoding(2) >> 37, 0xC | 0xD);
        }
        self.shape().branches >> slot & 1 != 0 && is_branch(self.encoding(slot))
    }

    /// Whether it has a long instruction, in slot 1.
    #[inline]
    fn is_long(&self) -> bool {
        self.shape().last == 1
    }

    #[inline]
    fn shape(&self) -> &'static Shape {
        let [reserved, ..] = &SHAPES;
        SHAPES.get((self.first() & 0x1F) as usize).unwrap_or(reserved)
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
    #[inline]
    pub(super) fn kind(&self) -> Template {
        self.shape().kind
    }

    /// The unit of the instruction's slot, and its 41 bits. Reserved templates are taken for the first.
    #[inline]
    pub(super) fn decoded(&self) -> (Unit, u64) {
        let unit = self.shape().units.get(usize::from(self.slot.min(2))).copied().unwrap_or(Unit::M);
        (unit, self.instruction())
    }

    /// Whether a stop follows the instruction's slot.
    #[inline]
    pub(super) fn stops_behind(&self) -> bool {
        self.shape().stops >> self.slot.min(2) & 1 != 0
    }

    /// Whether the instruction is the last of its bundle.
    #[inline]
    pub(super) fn is_last(&self) -> bool {
        self.slot >= self.shape().last
    }

    /// Whether its last branch is not behind the instruction's slot.
    pub(super) fn is_last_branch(&self) -> bool {
        self.branches() >> (self.slot.min(2) + 1) == 0
    }

    /// The 41 bits of a slot.
    #[inline]
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
    #[inline]
    fn instruction(&self) -> u64 {
        self.encoding(if self.is_long() && self.slot == 1 { 2 } else { self.slot })
    }

    /// The branch in the instruction's slot.
    #[inline]
    pub(super) fn branch(&self) -> Option<Branch> {
        self.has_branch(self.slot.min(2)).then(|| self.decoded_branch())
    }

    /// The branch that the instruction is.
    fn decoded_branch(&self) -> Branch {
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
        Branch { target, calls, counted, always, fixed, hint, many: field(word, 12, 1) == 1 }
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
        if self.shape().branches >> self.slot.min(2) & 1 == 0 {
            return None;
        }
        let word = self.instruction();
        if word >> 37 != 7 {
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
