//! Code that is being written.

use std::fmt;

use super::bundle::{self, Slot, Template};
use super::op::{self, Label, Op, Part, Unit, Use};
use super::{Gr, movl, movl_label, nop};
use crate::image::Mark;

/// Why code cannot be assembled. Addresses are those of the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssembleError {
    /// An operand does not fit its field, or the instruction has no such operand.
    Operand {
        /// The bundle's address.
        address: u64,
        /// The operand.
        value: i64,
    },
    /// An instruction is in a slot that is not for it, or the template has another number of instructions.
    Slot {
        /// The bundle's address.
        address: u64,
        /// The slot, or how many instructions were given.
        slot: usize,
    },
    /// A bundle is not at a multiple of 16 bytes.
    Alignment {
        /// The bundle's address.
        address: u64,
    },
    /// A branch does not reach its label, or a label that must be at a bundle is not.
    TooFar {
        /// The bundle's address.
        address: u64,
        /// The label's.
        target: u64,
    },
    /// A label was used and never placed.
    Nowhere {
        /// The address of a bundle that uses it.
        address: u64,
    },
    /// A label is placed twice, or two things are at one address.
    Twice {
        /// The second one.
        address: u64,
    },
}

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand { address, value } => write!(f, "at {address:#x}: the operand {value:#x} does not fit"),
            Self::Slot { address, slot } => write!(f, "at {address:#x}: what is given for slot {slot} does not fit the template"),
            Self::Alignment { address } => write!(f, "at {address:#x}: a bundle is not at a multiple of 16 bytes"),
            Self::TooFar { address, target } => write!(f, "at {address:#x}: a branch does not reach {target:#x}"),
            Self::Nowhere { address } => write!(f, "at {address:#x}: the label is nowhere"),
            Self::Twice { address } => write!(f, "at {address:#x}: the place is taken already"),
        }
    }
}

impl std::error::Error for AssembleError {}

/// Where a label's address is missing.
#[derive(Clone, Copy, Debug)]
enum Gap {
    /// In an instruction of the bundle at this offset.
    Slot { offset: usize, slot: usize, how: Use },
    /// Eight bytes of data.
    Data { offset: usize },
}

/// Code that is being written. Data in it are little-endian.
#[derive(Clone, Debug)]
pub struct Assembler {
    base: u64,
    code: Vec<u8>,
    labels: Vec<Option<u64>>,
    gaps: Vec<(Label, Gap)>,
    marks: Vec<Mark>,
    error: Option<AssembleError>,
}

/// Bytes of a bundle.
const BUNDLE: usize = 16;
/// The bits of a slot.
const SLOT: u128 = (1 << 41) - 1;

/// The lowest bit of a slot in its bundle.
const fn place(slot: usize) -> u32 {
    5 + 41 * slot as u32
}

impl Assembler {
    /// Nothing yet; the first bundle is at `base`.
    #[must_use]
    pub fn new(base: u64) -> Self {
        Self { base, code: Vec::new(), labels: Vec::new(), gaps: Vec::new(), marks: Vec::new(), error: None }
    }

    /// The address of what comes next.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.base + self.code.len() as u64
    }

    fn fail(&mut self, error: AssembleError) {
        self.error.get_or_insert(error);
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts `label` here: at the next bundle, or at data.
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

    /// A bundle with an instruction for each slot; of MLX, for the first and for the other two together.
    pub fn bundle<const N: usize>(&mut self, template: Template, ops: [Op; N]) {
        self.encode(template, &ops);
    }

    /// An instruction in its own bundle, with a stop at the end and no-operations in the other slots.
    pub fn put(&mut self, op: Op) {
        let (template, ops) = bundle::alone(op, nop(0));
        self.encode(template, &ops);
    }

    /// The instructions of one group, packed; a stop at the end.
    pub fn group<const N: usize>(&mut self, ops: [Op; N]) {
        for (template, ops) in bundle::pack(&ops, nop(0)) {
            self.encode(template, &ops);
        }
    }

    /// A number, by `movl` in its own bundle whatever the number is.
    pub fn load(&mut self, r1: Gr, value: u64) {
        self.put(movl(r1, value));
    }

    /// The address of `label`, by `movl` in its own bundle.
    pub fn load_address(&mut self, r1: Gr, label: Label) {
        self.put(movl_label(r1, label));
    }

    fn encode(&mut self, template: Template, ops: &[Op]) {
        let address = self.address();
        let offset = self.code.len();
        if !address.is_multiple_of(BUNDLE as u64) {
            self.fail(AssembleError::Alignment { address });
        }
        if ops.len() != template.instructions() {
            self.fail(AssembleError::Slot { address, slot: ops.len() });
        }
        let mut word = u128::from(template.code);
        let slots = template.slots.into_iter().enumerate().filter(|(_, slot)| *slot != Slot::L);
        for ((number, slot), op) in slots.zip(ops) {
            if !slot.takes(op.unit) {
                self.fail(AssembleError::Slot { address, slot: number });
            }
            if let Some(value) = op.unfit {
                self.fail(AssembleError::Operand { address, value });
            }
            let common = if let Unit::Any(common) = op.unit { slot.encoding(common) } else { 0 };
            word |= u128::from(op.bits | common) << place(number);
            if slot == Slot::X {
                word |= u128::from(op.long) << place(number - 1);
            }
            for (label, how) in op.uses.into_iter().flatten() {
                self.gaps.push((label, Gap::Slot { offset, slot: number, how }));
            }
        }
        self.code.extend_from_slice(&word.to_le_bytes());
    }

    /// Eight bytes of data.
    pub fn doubleword(&mut self, value: u64) {
        self.code.extend_from_slice(&value.to_le_bytes());
    }

    /// Eight bytes with the address of `label`.
    pub fn address_of(&mut self, label: Label) {
        self.gaps.push((label, Gap::Data { offset: self.code.len() }));
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
        for (label, gap) in std::mem::take(&mut self.gaps) {
            match self.labels.get(label.0).copied().flatten() {
                Some(target) => self.resolve(target, gap),
                None => {
                    let (Gap::Slot { offset, .. } | Gap::Data { offset }) = gap;
                    self.fail(AssembleError::Nowhere { address: self.base + offset as u64 });
                }
            }
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let place = |label: &Label| self.labels.get(label.0).copied().flatten().ok_or(AssembleError::Nowhere { address: self.base });
        let addresses = labels.iter().map(place).collect::<Result<_, _>>()?;
        Ok((self.code, addresses))
    }

    fn resolve(&mut self, target: u64, gap: Gap) {
        match gap {
            Gap::Data { offset } => {
                if let Some(place) = self.code.get_mut(offset..offset + 8) {
                    place.copy_from_slice(&target.to_le_bytes());
                }
            }
            Gap::Slot { offset, slot, how } => self.resolve_slot(target, offset, slot, how),
        }
    }

    fn resolve_slot(&mut self, target: u64, offset: usize, slot: usize, how: Use) {
        let address = self.base + offset as u64;
        let distance = (target.wrapping_sub(address) as i64) >> 4;
        let far = AssembleError::TooFar { address, target };
        let empty = Op::new(Unit::X, 0, 0);
        let op = match how {
            Use::Address => super::moves::long(empty, target),
            _ if !target.is_multiple_of(BUNDLE as u64) => return self.fail(far),
            Use::Distance(parts) if op::fits(distance, parts) => empty.spread(distance as u64, parts),
            Use::Distance(_) => return self.fail(far),
            Use::Long => {
                const LAST: &[Part] = &[(13, 20)];
                let op = empty.spread(distance as u64, LAST).spread((distance < 0).into(), &[(36, 1)]);
                Op { long: ((distance as u64 >> 20) & ((1 << 39) - 1)) << 2, ..op }
            }
        };
        let Some(bytes) = self.code.get_mut(offset..offset + BUNDLE) else { return };
        let mut word = [0; BUNDLE];
        word.copy_from_slice(bytes);
        let mut bits = (u128::from(op.bits) & SLOT) << place(slot);
        if slot == 2 {
            bits |= u128::from(op.long) << place(1);
        }
        bytes.copy_from_slice(&(u128::from_le_bytes(word) | bits).to_le_bytes());
    }
}
