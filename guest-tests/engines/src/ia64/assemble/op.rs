//! An instruction before it has its slot.

use super::{Gr, Pr};

/// A place in the code, to be named before or after it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(pub(super) usize);

/// What slots an instruction fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// M or I.
    A,
    M,
    I,
    F,
    B,
    /// The last two slots of MLX.
    X,
    /// Any, with an encoding for each: `nop`, `hint` and `break`.
    Any(Common),
}

/// The instructions that every unit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Common {
    Break,
    Nop,
    Hint,
}

/// A run of bits: the lowest bit and how many.
pub(super) type Part = (u32, u32);

/// The parts of immediates that several formats share, least significant first.
pub(super) mod parts {
    use super::Part;

    /// Nine bits: increments of loads.
    pub(crate) const LOAD_INCREMENT: &[Part] = &[(13, 7), (27, 1), (36, 1)];
    /// Nine bits: increments of stores.
    pub(crate) const STORE_INCREMENT: &[Part] = &[(6, 7), (27, 1), (36, 1)];
    /// Eight bits in the place of GR r2.
    pub(crate) const EIGHT: &[Part] = &[(13, 7), (36, 1)];
    /// 21 bits of an IP-relative branch, of `brp` and of `chk.a`.
    pub(crate) const BRANCH: &[Part] = &[(13, 20), (36, 1)];
    /// 21 bits of `chk.s`.
    pub(crate) const CHECK: &[Part] = &[(6, 7), (20, 13), (36, 1)];
    /// 21 bits of `fchkf`, and of what every unit has.
    pub(crate) const LOW: &[Part] = &[(6, 20), (36, 1)];
}

/// How a label goes into an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A distance in bundles.
    Distance(&'static [Part]),
    /// The distance of `brl`: 20 bits and the sign in the last slot, 39 bits in the one before.
    Long,
    /// The address, by `movl`.
    Address,
}

/// What may be added to an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Allows {
    /// No qualifying predicate.
    pub(super) always: bool,
    /// An increment by a number.
    pub(super) number: Option<Increment>,
    /// An increment by a register.
    pub(super) register: bool,
    /// A hint of locality.
    pub(super) locality: bool,
    /// A status field.
    pub(super) status_field: bool,
    /// Branch hints: where the one of prediction goes.
    pub(super) branch: Option<BranchHints>,
}

/// How the increment of an instruction is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Increment {
    /// In these bits.
    Any(&'static [Part]),
    /// This number alone.
    Only(i64),
}

/// How the hint of a branch is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BranchHints {
    /// Two bits at 33.
    Two,
    /// Three bits at 32, of which the lowest is 1.
    Three,
}

/// A hint of how a cache line is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// Temporal at every level; no completer.
    Temporal,
    /// Not temporal at level 1: `.nt1`.
    Nt1,
    /// Not temporal at level 2: `.nt2`.
    Nt2,
    /// Not temporal at any level: `.nta`.
    Nta,
}

/// A hint of what a branch will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whether {
    /// Static, taken: `.sptk`.
    Sptk,
    /// Static, not taken: `.spnt`.
    Spnt,
    /// Dynamic, taken at first: `.dptk`.
    Dptk,
    /// Dynamic, not taken at first: `.dpnt`.
    Dpnt,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Op {
    pub(super) unit: Unit,
    /// The 41 bits of its slot, the last of two.
    pub(super) bits: u64,
    /// The 41 bits of the L slot.
    pub(super) long: u64,
    pub(super) uses: [Option<(Label, Use)>; 2],
    pub(super) allows: Allows,
    /// It must be the last one of its group.
    pub(super) last: bool,
    /// An operand that did not fit.
    pub(super) unfit: Option<i64>,
}

impl Op {
    /// An instruction of this major opcode, with the bits that are always the same.
    pub(super) const fn new(unit: Unit, major: u64, bits: u64) -> Self {
        let allows = Allows { always: false, number: None, register: false, locality: false, status_field: false, branch: None };
        Self { unit, bits: major << 37 | bits, long: 0, uses: [None; 2], allows, last: false, unfit: None }
    }

    fn refuse(mut self, value: i64) -> Self {
        self.unfit.get_or_insert(value);
        self
    }

    /// An unsigned operand of `bits` bits at bit `at`.
    pub(super) fn field(mut self, value: u64, at: u32, bits: u32) -> Self {
        let mask = (1 << bits) - 1;
        self.bits |= (value & mask) << at;
        if value & !mask != 0 { self.refuse(value as i64) } else { self }
    }

    /// An operand that is taken as it is, in parts from its least significant bit on.
    pub(super) fn spread(mut self, value: u64, parts: &[Part]) -> Self {
        let mut left = value;
        for (at, bits) in parts {
            self.bits |= (left & ((1 << bits) - 1)) << at;
            left >>= bits;
        }
        self
    }

    /// A signed operand in parts from its least significant bit on.
    pub(super) fn signed(self, value: i64, parts: &[Part]) -> Self {
        let op = self.spread(value as u64, parts);
        if fits(value, parts) { op } else { op.refuse(value) }
    }

    /// An unsigned operand in parts from its least significant bit on.
    pub(super) fn unsigned(self, value: u64, parts: &[Part]) -> Self {
        let op = self.spread(value, parts);
        if value >> width(parts) == 0 { op } else { op.refuse(value as i64) }
    }

    /// An operand that can have some values only: `code` is that of `value`.
    pub(super) fn coded(self, value: i64, code: Option<u64>, at: u32, bits: u32) -> Self {
        match code {
            Some(code) => self.field(code, at, bits),
            None => self.refuse(value),
        }
    }

    pub(super) fn label(mut self, label: Label, how: Use) -> Self {
        if let Some(free) = self.uses.iter_mut().find(|slot| slot.is_none()) {
            *free = Some((label, how));
        }
        self
    }

    pub(super) fn allowing(mut self, allows: Allows) -> Self {
        self.allows = allows;
        self
    }

    /// What has no qualifying predicate.
    pub(super) fn always(mut self) -> Self {
        self.allows.always = true;
        self
    }

    /// What must be the last one of its group.
    pub(super) fn last(mut self) -> Self {
        self.last = true;
        self
    }

    pub(super) fn r1(self, register: Gr) -> Self {
        self.field(register.bits(), 6, 7)
    }

    pub(super) fn r2(self, register: Gr) -> Self {
        self.field(register.bits(), 13, 7)
    }

    pub(super) fn r3(self, register: Gr) -> Self {
        self.field(register.bits(), 20, 7)
    }

    /// Executed only if `predicate` is 1.
    pub fn when(self, predicate: Pr) -> Self {
        if self.allows.always { self.refuse(predicate.bits() as i64) } else { self.field(predicate.bits(), 0, 6) }
    }

    /// The address register is incremented by a number after the access: nine signed bits, or what is loaded by a load of pairs.
    pub fn post(mut self, increment: i64) -> Self {
        match self.allows.number {
            Some(Increment::Any(parts)) => {
                // M3, M5, M8, M10 and M15 have the major opcode after that of the format without a number.
                self.bits |= 1 << 37;
                self.allows = Allows { locality: self.allows.locality, ..Allows::default() };
                self.signed(increment, parts)
            }
            Some(Increment::Only(only)) if only == increment => {
                self.bits |= 1 << 36;
                self.allows.number = None;
                self
            }
            _ => self.refuse(increment),
        }
    }

    /// The address register is incremented by `register` after the access.
    pub fn post_reg(mut self, register: Gr) -> Self {
        if self.allows.register {
            self.allows = Allows { locality: self.allows.locality, ..Allows::default() };
            self.bits |= 1 << 36;
            self.r2(register)
        } else {
            self.refuse(register.bits() as i64)
        }
    }

    /// With a hint of locality.
    pub fn locality(self, hint: Locality) -> Self {
        if self.allows.locality { self.field(hint as u64, 28, 2) } else { self.refuse(hint as i64) }
    }

    /// With this status field of FPSR, 0 to 3.
    pub fn sf(self, field: u8) -> Self {
        if self.allows.status_field { self.field(field.into(), 34, 2) } else { self.refuse(field.into()) }
    }

    /// With a hint of what the branch will do.
    pub fn whether(self, hint: Whether) -> Self {
        let bits = hint as u64;
        match self.allows.branch {
            Some(BranchHints::Two) => self.field(bits, 33, 2),
            Some(BranchHints::Three) => self.field(bits << 1 | 1, 32, 3),
            None => self.refuse(bits as i64),
        }
    }

    /// A branch with much straight code at its target: `.many`.
    pub fn many(self) -> Self {
        if self.allows.branch.is_some() { self.field(1, 12, 1) } else { self.refuse(1) }
    }

    /// A prediction that is important: `.imp`, of `brp`.
    pub fn imp(self) -> Self {
        if matches!((self.unit, self.bits >> 37), (Unit::B, 2 | 7)) { self.field(1, 35, 1) } else { self.refuse(1) }
    }

    /// A branch whose prediction is not to be kept: `.clr`.
    pub fn clr(self) -> Self {
        if self.allows.branch.is_some() { self.field(1, 35, 1) } else { self.refuse(1) }
    }
}

fn width(parts: &[Part]) -> u32 {
    parts.iter().map(|part| part.1).sum()
}

/// Whether a number fits the parts, as a signed one.
pub(super) fn fits(value: i64, parts: &[Part]) -> bool {
    let least = -1i64 << (width(parts) - 1);
    (least..-least).contains(&value)
}
