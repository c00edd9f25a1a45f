//! Bundles of IA-64: three instructions of 41 bits, and the branch information in their encoding.

/// The template of long instructions, without its lowest bit.
const LONG: u64 = 0x04;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    M,
    I,
    F,
    B,
    /// The long instruction of two slots.
    X,
}

/// The kinds of bundles that dispersal distinguishes, without their stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    Mib,
    Mbb,
    Bbb,
    Mmb,
    Mfb,
    Mmf,
    /// Others without a branch.
    Other,
}

/// The properties of a template's slots.
#[derive(Clone, Copy, Debug)]
struct Shape {
    units: [Unit; 3],
    kind: Template,
    /// The slots of the B unit, one bit each.
    branches: u8,
    /// The slots that a stop follows, one bit each; for a long instruction, both of its slots.
    stops: u8,
    /// The slot of the last instruction.
    last: u8,
}

/// The templates. Reserved ones are treated like the first.
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
    /// The previous function state (AR.PFS) that a taken call saved or a taken return restored, if the embedder reports it.
    pub function_state: Option<u64>,
}

/// The source of a branch's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Relative,
    Return,
    Indirect,
}

/// The properties of a branch that its encoding gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) target: Target,
    /// Whether it saves the address behind it.
    pub(crate) calls: bool,
    /// Whether a loop counter decides it.
    pub(crate) counted: bool,
    /// Whether it is always taken, since nothing decides it.
    pub(crate) always: bool,
    /// Whether the hint is always the prediction, not only its initial value.
    pub(crate) fixed: bool,
    /// Whether the hint is *taken*.
    pub(crate) hint: bool,
    /// Whether much sequential code follows at the target.
    pub(crate) many: bool,
}

/// The branch that `brp` with the hint *important* announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    /// The bundle of the branch.
    pub(crate) bundle: u64,
    pub(crate) target: u64,
}

impl Bundle {
    /// Creates a bundle of this template and these three instructions, at the first of them.
    #[must_use]
    pub const fn new(template: u8, slots: [u64; 3]) -> Bundle {
        const SLOT: u64 = (1 << 41) - 1;
        let [first, second, third] = slots;
        let low = template as u64 & 31 | (first & SLOT) << 5 | second << 46;
        Bundle { words: [low, (second & SLOT) >> 18 | third << 23], slot: 0, function_state: None }
    }

    /// Returns this bundle at another slot.
    #[must_use]
    pub const fn at(self, slot: u8) -> Bundle {
        Bundle { slot, ..self }
    }

    /// Returns the slots that hold a branch, one bit each; a long branch is in slot 1. `rfi` and failed checks do not count.
    #[must_use]
    pub fn branches(&self) -> u8 {
        (0..3).filter(|slot| self.has_branch(*slot)).fold(0, |all, slot| all | 1 << slot)
    }

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
    pub(crate) fn stops(&self) -> bool {
        self.first() & 1 != 0
    }

    /// Returns the kind of the template for dispersal.
    #[inline]
    pub(crate) fn kind(&self) -> Template {
        self.shape().kind
    }

    /// Returns the unit of the instruction's slot, and its 41 bits. Reserved templates are treated like the first.
    #[inline]
    pub(crate) fn decoded(&self) -> (Unit, u64) {
        let unit = self.shape().units.get(usize::from(self.slot.min(2))).copied().unwrap_or(Unit::M);
        (unit, self.instruction())
    }

    #[inline]
    pub(crate) fn stops_behind(&self) -> bool {
        self.shape().stops >> self.slot.min(2) & 1 != 0
    }

    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        self.slot >= self.shape().last
    }

    /// Whether no branch follows the instruction's slot.
    pub(crate) fn is_last_branch(&self) -> bool {
        self.branches() >> (self.slot.min(2) + 1) == 0
    }

    /// Returns the 41 bits of a slot.
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

    /// Returns the 41 bits of the instruction; for a long one, those that hold the operation.
    #[inline]
    fn instruction(&self) -> u64 {
        self.encoding(if self.is_long() && self.slot == 1 { 2 } else { self.slot })
    }

    #[inline]
    pub(crate) fn branch(&self) -> Option<Branch> {
        self.has_branch(self.slot.min(2)).then(|| self.decoded_branch())
    }

    fn decoded_branch(&self) -> Branch {
        let word = self.instruction();
        let (major, kind, unqualified) = (word >> 37, field(word, 6, 3), field(word, 0, 6) == 0);
        let target = match (major, field(word, 27, 6)) {
            (0, 0x21) => Target::Return,
            (0 | 1, _) => Target::Indirect,
            _ => Target::Relative,
        };
        let counted = major == 4 && kind >= 5;
        // A loop with a condition continues by a predicate and by a counter.
        let always = unqualified && (major != 4 || kind == 0);
        let calls = matches!(major, 1 | 5 | 0xD);
        let (fixed, hint) = (field(word, 34, 1) == 0, field(word, 33, 1) == 0);
        Branch { target, calls, counted, always, fixed, hint, many: field(word, 12, 1) == 1 }
    }

    /// Returns the branch that the instruction announces, if it is a `brp` to a relative target with the hint *important*. `address` is the
    /// bundle's.
    pub(crate) fn announced(&self, address: u64) -> Option<Announced> {
        let target = self.presaged(address).filter(|_| field(self.instruction(), 35, 1) == 1)?;
        let word = self.instruction();
        let tag = sign_extend(field(word, 33, 2) << 7 | field(word, 6, 7), 9);
        Some(Announced { bundle: address.wrapping_add(tag << 4), target })
    }

    /// Returns the target that the instruction names, if it is a `brp` to a relative one. `address` is the bundle's.
    #[inline]
    pub(crate) fn presaged(&self, address: u64) -> Option<u64> {
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

/// Returns `length` bits from bit `low` on.
fn field(word: u64, low: u32, length: u32) -> u64 {
    word >> low & ((1 << length) - 1)
}

fn sign_extend(value: u64, bits: u32) -> u64 {
    ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
}
