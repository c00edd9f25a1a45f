//! Templates, and how instructions get their slots.

use super::op::{Common, Op, Unit};

/// A template: what units the slots of a bundle are for and where its stops are. `_S` in a name is a stop (volume 3, section 4.1, table
/// 4-2, "Template Field Encoding and Instruction Slot Mapping").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    pub(super) code: u8,
    pub(super) slots: [Slot; 3],
}

/// What a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    M,
    I,
    F,
    B,
    /// Immediate bits of the next slot.
    L,
    X,
}

macro_rules! templates {
    ($($name:ident $code:literal $a:ident $b:ident $c:ident;)*) => {
        impl Template {
            $(
                #[doc = concat!("Template ", stringify!($code), ".")]
                pub const $name: Self = Self { code: $code, slots: [Slot::$a, Slot::$b, Slot::$c] };
            )*
        }
    };
}

templates! {
    MII 0x00 M I I;
    MII_S 0x01 M I I;
    MI_S_I 0x02 M I I;
    MI_S_I_S 0x03 M I I;
    MLX 0x04 M L X;
    MLX_S 0x05 M L X;
    MMI 0x08 M M I;
    MMI_S 0x09 M M I;
    M_S_MI 0x0A M M I;
    M_S_MI_S 0x0B M M I;
    MFI 0x0C M F I;
    MFI_S 0x0D M F I;
    MMF 0x0E M M F;
    MMF_S 0x0F M M F;
    MIB 0x10 M I B;
    MIB_S 0x11 M I B;
    MBB 0x12 M B B;
    MBB_S 0x13 M B B;
    BBB 0x16 B B B;
    BBB_S 0x17 B B B;
    MMB 0x18 M M B;
    MMB_S 0x19 M M B;
    MFB 0x1C M F B;
    MFB_S 0x1D M F B;
}

impl Template {
    /// Those without stops, which [`pack`] chooses from.
    const PLAIN: [Self; 10] =
        [Self::MII, Self::MLX, Self::MMI, Self::MFI, Self::MMF, Self::MIB, Self::MBB, Self::BBB, Self::MMB, Self::MFB];

    /// How many instructions a bundle has: two if it is MLX, else three.
    #[must_use]
    pub const fn instructions(self) -> usize {
        if matches!(self.slots[1], Slot::L) { 2 } else { 3 }
    }

    /// The same with a stop at the end.
    #[must_use]
    pub const fn stop(self) -> Self {
        Self { code: self.code | 1, slots: self.slots }
    }
}

impl Slot {
    pub(super) fn takes(self, unit: Unit) -> bool {
        match unit {
            Unit::A => matches!(self, Self::M | Self::I),
            Unit::M => self == Self::M,
            Unit::I => self == Self::I,
            Unit::F => self == Self::F,
            Unit::B => self == Self::B,
            Unit::X => self == Self::X,
            Unit::Any(_) => self != Self::L,
        }
    }

    /// What is added to an instruction that every unit has.
    pub(super) fn encoding(self, common: Common) -> u64 {
        match (self, common) {
            (_, Common::Break) => 0,
            (Self::B, Common::Nop) => 2 << 37,
            (Self::B, Common::Hint) => 2 << 37 | 1 << 27,
            (_, Common::Nop) => 1 << 27,
            (_, Common::Hint) => 1 << 27 | 1 << 26,
        }
    }
}

/// The bundle of an instruction alone.
pub(super) fn alone(op: Op, nop: Op) -> (Template, Vec<Op>) {
    match op.unit {
        Unit::M if op.last => (Template::M_S_MI_S, vec![op, nop, nop]),
        Unit::A | Unit::M | Unit::Any(_) => (Template::MII_S, vec![op, nop, nop]),
        Unit::I => (Template::MII_S, vec![nop, op, nop]),
        Unit::F => (Template::MFI_S, vec![nop, op, nop]),
        Unit::B => (Template::MIB_S, vec![nop, nop, op]),
        Unit::X => (Template::MLX_S, vec![nop, op]),
    }
}

/// The bundles of a group.
pub(super) fn pack(mut ops: &[Op], nop: Op) -> Vec<(Template, Vec<Op>)> {
    let mut bundles = Vec::new();
    while let [first, rest @ ..] = ops {
        if first.last {
            bundles.push(alone(*first, nop));
            ops = rest;
            continue;
        }
        let mut best = (Template::MII, Vec::new(), 0);
        for template in Template::PLAIN {
            let (filled, taken) = fill(template, ops, nop);
            if taken > best.2 {
                best = (template, filled, taken);
            }
        }
        ops = ops.get(best.2..).unwrap_or_default();
        let template = if ops.is_empty() { best.0.stop() } else { best.0 };
        bundles.push((template, best.1));
    }
    bundles
}

/// The slots of one bundle, and how many of `ops` they take.
fn fill(template: Template, ops: &[Op], nop: Op) -> (Vec<Op>, usize) {
    let mut taken = 0;
    let mut filled = Vec::new();
    for slot in template.slots.into_iter().filter(|slot| *slot != Slot::L) {
        match ops.get(taken) {
            Some(op) if slot.takes(op.unit) && !op.last => {
                filled.push(*op);
                taken += 1;
            }
            _ => filled.push(nop),
        }
    }
    (filled, taken)
}
