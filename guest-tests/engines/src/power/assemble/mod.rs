//! A small assembler: machine code from Rust, with labels, in both byte orders.
//!
//! ```
//! use vm_pmu_engines::power::assemble::{Assembler, R3, R4};
//!
//! let mut a = Assembler::new(0x1000, true);
//! let again = a.label();
//! a.load(R4, 10);
//! a.mtctr(R4);
//! a.here(again);
//! a.addi(R3, R3, 2);
//! a.bdnz(again);
//! assert_eq!(a.finish().unwrap().len(), 16);
//! ```
//!
//! A method is an instruction and has its mnemonic; `_dot` is the dot of a record form. Operands are in the order of the manuals. What
//! cannot be encoded is noticed at once and reported by [`Assembler::finish`].

mod branches;
mod fixed;
mod floating;
mod storage;
mod system;
mod vector;

use std::fmt;

use crate::image::Mark;

/// A general purpose register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpr(u8);

/// A floating-point register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fpr(u8);

/// A field of the condition register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field(u8);

macro_rules! registers {
    ($kind:ident $what:literal: $($name:ident $number:literal),*) => {
        $(#[doc = concat!($what, " ", $number, ".")] pub const $name: $kind = $kind($number);)*

        impl $kind {
            /// The register of this number; only its lowest bits matter.
            #[must_use]
            pub const fn new(number: u8) -> Self {
                Self(number % [$($number),*].len() as u8)
            }

            /// Its number.
            #[must_use]
            pub const fn number(self) -> u8 {
                self.0
            }

            pub(crate) fn bits(self) -> u32 {
                u32::from(self.0)
            }
        }
    };
}

registers!(Gpr "General purpose register": R0 0, R1 1, R2 2, R3 3, R4 4, R5 5, R6 6, R7 7, R8 8, R9 9, R10 10, R11 11, R12 12, R13 13,
    R14 14, R15 15, R16 16, R17 17, R18 18, R19 19, R20 20, R21 21, R22 22, R23 23, R24 24, R25 25, R26 26, R27 27, R28 28, R29 29,
    R30 30, R31 31);
registers!(Fpr "Floating-point register": F0 0, F1 1, F2 2, F3 3, F4 4, F5 5, F6 6, F7 7, F8 8, F9 9, F10 10, F11 11, F12 12, F13 13,
    F14 14, F15 15, F16 16, F17 17, F18 18, F19 19, F20 20, F21 21, F22 22, F23 23, F24 24, F25 25, F26 26, F27 27, F28 28, F29 29,
    F30 30, F31 31);
registers!(Field "Condition register field": CR0 0, CR1 1, CR2 2, CR3 3, CR4 4, CR5 5, CR6 6, CR7 7);

/// A place in the code, to be named before or after it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Why code cannot be assembled. Addresses are those of the instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssembleError {
    /// An operand does not fit its field.
    Operand {
        /// The instruction's address.
        address: u64,
        /// The operand.
        value: i64,
    },
    /// A branch does not reach its label.
    TooFar {
        /// The instruction's address.
        address: u64,
        /// The label's.
        target: u64,
    },
    /// A label was used and never placed.
    Nowhere {
        /// The address of an instruction that uses it.
        address: u64,
    },
    /// A label is at two places.
    Twice {
        /// The second one.
        address: u64,
    },
}

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand { address, value } => write!(f, "at {address:#x}: the operand {value:#x} does not fit"),
            Self::TooFar { address, target } => write!(f, "at {address:#x}: a branch does not reach {target:#x}"),
            Self::Nowhere { address } => write!(f, "at {address:#x}: the label is nowhere"),
            Self::Twice { address } => write!(f, "at {address:#x}: the label is elsewhere already"),
        }
    }
}

impl std::error::Error for AssembleError {}

/// How a label's address goes into an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// 24 bits of a distance in words: `b`.
    Far,
    /// 14 bits of a distance in words: `bc`.
    Near,
    /// Bits 32:47 of the address.
    High,
    /// Bits 48:63 of the address.
    Low,
    /// A doubleword of data.
    Whole,
}

/// Code that is being written.
#[derive(Clone, Debug)]
pub struct Assembler {
    base: u64,
    little_endian: bool,
    code: Vec<u8>,
    labels: Vec<Option<u64>>,
    uses: Vec<(usize, Label, Use)>,
    marks: Vec<Mark>,
    error: Option<AssembleError>,
}

impl Assembler {
    /// Nothing yet; the first instruction is at `base`.
    #[must_use]
    pub fn new(base: u64, little_endian: bool) -> Self {
        Self { base, little_endian, code: Vec::new(), labels: Vec::new(), uses: Vec::new(), marks: Vec::new(), error: None }
    }

    /// The address of what comes next.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.base + self.code.len() as u64
    }

    /// Whether the code is for little-endian mode.
    #[must_use]
    pub fn little_endian(&self) -> bool {
        self.little_endian
    }

    fn fail(&mut self, error: AssembleError) {
        self.error.get_or_insert(error);
    }

    /// A label that is nowhere yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts `label` here.
    pub fn here(&mut self, label: Label) {
        let address = self.address();
        match self.labels.get_mut(label.0) {
            Some(place @ None) => *place = Some(address),
            _ => self.fail(AssembleError::Twice { address }),
        }
    }

    /// A label that is here.
    pub fn mark(&mut self) -> Label {
        let label = self.label();
        self.here(label);
        label
    }

    /// A routine of this name begins here. It reaches to the next one.
    pub fn routine(&mut self, name: &str) {
        self.marks.push(Mark::begin(self.address(), name));
    }

    /// The routine ends here, and what follows belongs to none.
    pub fn end_routine(&mut self) {
        self.marks.push(Mark::end(self.address()));
    }

    /// Where routines begin and end, for [`Image::with_marks`](crate::image::Image::with_marks).
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Any instruction, as the number that it is.
    pub fn word(&mut self, word: u32) {
        let bytes = if self.little_endian { word.to_le_bytes() } else { word.to_be_bytes() };
        self.code.extend_from_slice(&bytes);
    }

    /// A doubleword of data.
    pub fn doubleword(&mut self, value: u64) {
        let bytes = if self.little_endian { value.to_le_bytes() } else { value.to_be_bytes() };
        self.code.extend_from_slice(&bytes);
    }

    /// A doubleword with the address of `label`.
    pub fn address_of(&mut self, label: Label) {
        self.uses.push((self.code.len(), label, Use::Whole));
        self.doubleword(0);
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// Zeros up to a multiple of `boundary` bytes.
    pub fn align(&mut self, boundary: u64) {
        let gap = self.address().next_multiple_of(boundary.max(1)) - self.address();
        self.code.resize(self.code.len() + gap as usize, 0);
    }

    /// Zeros up to `address`, which is not below the current one.
    pub fn skip_to(&mut self, address: u64) {
        match address.checked_sub(self.address()) {
            Some(gap) => self.code.resize(self.code.len() + gap as usize, 0),
            None => self.fail(AssembleError::Twice { address }),
        }
    }

    fn labelled(&mut self, word: u32, label: Label, how: Use) {
        self.uses.push((self.code.len(), label, how));
        self.word(word);
    }

    /// A signed operand of `bits` bits whose lowest `zeros` bits are zero.
    fn signed(&mut self, value: i64, bits: u32, zeros: u32) -> u32 {
        let least = -1i64 << (bits - 1);
        if !(least..-least).contains(&value) || value & ((1 << zeros) - 1) != 0 {
            let address = self.address();
            self.fail(AssembleError::Operand { address, value });
        }
        value as u32 & (u32::MAX >> (32 - bits))
    }

    /// An unsigned operand of `bits` bits.
    fn unsigned(&mut self, value: u32, bits: u32) -> u32 {
        let mask = u32::MAX >> (32 - bits);
        if value & !mask != 0 {
            let address = self.address();
            self.fail(AssembleError::Operand { address, value: value.into() });
        }
        value & mask
    }

    /// The code.
    ///
    /// # Errors
    /// The first [`AssembleError`] that was noticed.
    pub fn finish(self) -> Result<Vec<u8>, AssembleError> {
        self.finish_with(&[]).map(|(code, _)| code)
    }

    /// The code, and the addresses of `labels`.
    ///
    /// # Errors
    /// The first [`AssembleError`] that was noticed.
    pub fn finish_with(mut self, labels: &[Label]) -> Result<(Vec<u8>, Vec<u64>), AssembleError> {
        for (offset, label, how) in std::mem::take(&mut self.uses) {
            let address = self.base + offset as u64;
            match self.labels.get(label.0).copied().flatten() {
                Some(target) => self.resolve(offset, target, how),
                None => self.fail(AssembleError::Nowhere { address }),
            }
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let place = |label: &Label| self.labels.get(label.0).copied().flatten().ok_or(AssembleError::Nowhere { address: self.base });
        let addresses = labels.iter().map(place).collect::<Result<_, _>>()?;
        Ok((self.code, addresses))
    }

    fn resolve(&mut self, offset: usize, target: u64, how: Use) {
        let address = self.base + offset as u64;
        let distance = target.wrapping_sub(address) as i64;
        let bits = match how {
            Use::Whole => {
                let bytes = if self.little_endian { target.to_le_bytes() } else { target.to_be_bytes() };
                if let Some(place) = self.code.get_mut(offset..offset + 8) {
                    place.copy_from_slice(&bytes);
                }
                return;
            }
            Use::Far if (-0x200_0000..0x200_0000).contains(&distance) => distance as u32 & 0x03FF_FFFC,
            Use::Near if (-0x8000..0x8000).contains(&distance) => distance as u32 & 0xFFFC,
            Use::High if target < 1 << 31 => (target >> 16) as u32,
            Use::Low if target < 1 << 31 => target as u32 & 0xFFFF,
            _ => return self.fail(AssembleError::TooFar { address, target }),
        };
        let Some(place) = self.code.get_mut(offset..offset + 4) else { return };
        let old = [place[0], place[1], place[2], place[3]];
        let word = if self.little_endian { u32::from_le_bytes(old) } else { u32::from_be_bytes(old) } | bits;
        place.copy_from_slice(&if self.little_endian { word.to_le_bytes() } else { word.to_be_bytes() });
    }
}
