//! Floating-point registers, and the part of their arithmetic that the engine has.

use serde::{Deserialize, Serialize};

/// The contents of a floating-point register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Float {
    /// The sign.
    pub negative: bool,
    /// The exponent, 17 bits.
    pub exponent: u32,
    /// The significand with its integer bit, 64 bits.
    pub significand: u64,
}

/// The exponent's bias.
const BIAS: i32 = 0xFFFF;
/// The exponent of infinities and NaNs.
const SPECIAL: u32 = 0x1_FFFF;
/// The exponent of integers in a register.
const INTEGER: u32 = 0x1_003E;
const TOP: u64 = 1 << 63;

impl Float {
    /// +0.0.
    pub(crate) const ZERO: Self = Self { negative: false, exponent: 0, significand: 0 };
    /// +1.0.
    pub(crate) const ONE: Self = Self { negative: false, exponent: 0xFFFF, significand: TOP };
    /// Not a thing: what a deferred load leaves.
    pub(crate) const NAT: Self = Self { negative: false, exponent: 0x1_FFFE, significand: 0 };

    pub(crate) fn is_nat(self) -> bool {
        self == Self::NAT
    }

    /// An integer as `setf.sig`, `ldf8` and `xma` leave it.
    pub(crate) fn integer(significand: u64) -> Self {
        Self { negative: false, exponent: INTEGER, significand }
    }

    pub(crate) fn is_nan(self) -> bool {
        self.exponent == SPECIAL && self.significand << 1 != 0
    }

    /// Whether it is a number whose exponent is farther from zero than `limit`.
    pub(crate) fn is_beyond(self, limit: u32) -> bool {
        let finite = self.exponent != SPECIAL && !self.is_nat() && !self.is_zero();
        finite && (self.exponent as i32 - BIAS).unsigned_abs() > limit
    }

    pub(crate) fn is_infinite(self) -> bool {
        self.exponent == SPECIAL && self.significand == TOP
    }

    pub(crate) fn is_zero(self) -> bool {
        self.significand == 0 && !self.is_nat()
    }

    pub(crate) fn from_f64(value: f64) -> Self {
        Self::from_double(value.to_bits())
    }

    /// What `ldfd` and `setf.d` make of a double in memory.
    pub(crate) fn from_double(bits: u64) -> Self {
        let negative = bits >> 63 != 0;
        let exponent = (bits >> 52 & 0x7FF) as u32;
        let fraction = bits & ((1 << 52) - 1);
        match (exponent, fraction) {
            (0, 0) => Self { negative, exponent: 0, significand: 0 },
            // A denormal keeps its form, with the exponent of the smallest normal one.
            (0, _) => Self { negative, exponent: 0xFC01, significand: fraction << 11 },
            (0x7FF, _) => Self { negative, exponent: SPECIAL, significand: TOP | fraction << 11 },
            _ => Self { negative, exponent: exponent + 0xFC00, significand: TOP | fraction << 11 },
        }
    }

    /// What `ldfs` and `setf.s` make of a single in memory.
    pub(crate) fn from_single(bits: u32) -> Self {
        let negative = bits >> 31 != 0;
        let exponent = bits >> 23 & 0xFF;
        let fraction = u64::from(bits & 0x7F_FFFF);
        match (exponent, fraction) {
            (0, 0) => Self { negative, exponent: 0, significand: 0 },
            (0, _) => Self { negative, exponent: 0xFF81, significand: fraction << 40 },
            (0xFF, _) => Self { negative, exponent: SPECIAL, significand: TOP | fraction << 40 },
            _ => Self { negative, exponent: exponent + 0xFF80, significand: TOP | fraction << 40 },
        }
    }

    /// What `ldfe` makes of ten bytes in memory.
    pub(crate) fn from_extended(significand: u64, sign_exponent: u16) -> Self {
        let negative = sign_exponent >> 15 != 0;
        let exponent = match sign_exponent & 0x7FFF {
            0 if significand == 0 => 0,
            0 => 0xC001,
            0x7FFF => SPECIAL,
            exponent => u32::from(exponent) + 0xC000,
        };
        Self { negative, exponent, significand }
    }

    /// What `stfe` stores: significand, and sign and exponent.
    pub(crate) fn to_extended(self) -> (u64, u16) {
        let exponent = match self.exponent {
            0 => 0,
            SPECIAL => 0x7FFF,
            exponent if exponent <= 0xC001 && self.significand & TOP == 0 => 0,
            exponent => (exponent.wrapping_sub(0xC000) & 0x7FFF) as u16,
        };
        (self.significand, u16::from(self.negative) << 15 | exponent)
    }

    /// What `stfd` and `getf.d` make of the register.
    pub(crate) fn to_double(self) -> u64 {
        let sign = u64::from(self.negative) << 63;
        let fraction = self.significand >> 11 & ((1 << 52) - 1);
        let exponent = match self.exponent {
            SPECIAL => 0x7FF,
            _ if self.significand & TOP == 0 => 0,
            exponent => u64::from(exponent.wrapping_sub(0xFC00) & 0x7FF),
        };
        sign | exponent << 52 | fraction
    }

    /// What `stfs` and `getf.s` make of the register.
    pub(crate) fn to_single(self) -> u32 {
        let sign = u32::from(self.negative) << 31;
        let fraction = (self.significand >> 40) as u32 & 0x7F_FFFF;
        let exponent = match self.exponent {
            SPECIAL => 0xFF,
            _ if self.significand & TOP == 0 => 0,
            exponent => exponent.wrapping_sub(0xFF80) & 0xFF,
        };
        sign | exponent << 23 | fraction
    }

    /// The nearest double, which arithmetic works with.
    pub(crate) fn to_f64(self) -> f64 {
        if self.exponent == SPECIAL {
            let value = if self.significand == TOP { f64::INFINITY } else { f64::NAN };
            return if self.negative { -value } else { value };
        }
        let exponent = self.exponent as i32 - BIAS - 63;
        let magnitude = scale(self.significand, exponent);
        if self.negative { -magnitude } else { magnitude }
    }
}

/// `value` times two to the power of `exponent`.
fn scale(value: u64, exponent: i32) -> f64 {
    let mut result = value as f64;
    let mut left = exponent.clamp(-2200, 2200);
    while left != 0 {
        let piece = left.clamp(-1000, 1000);
        result *= f64::from_bits(((1023 + piece) as u64) << 52);
        left -= piece;
    }
    result
}

/// How many bits a result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Those of a double, also where the status field asks for another precision.
    Double,
    /// Those of a single.
    Single,
}

/// The nearest number of `precision`.
pub(crate) fn round(value: f64, precision: Precision) -> Float {
    Float::from_f64(match precision {
        Precision::Double => value,
        Precision::Single => f64::from(value as f32),
    })
}
