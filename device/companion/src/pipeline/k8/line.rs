//! Lines: the macro-operations that are dispatched together.

use super::WIDTH;
use super::rows::{DecodePath, K8Row, K8Unit};
use crate::instruction::{Class, Operation, Register};
use crate::pipeline::part::{GENERAL, PLAIN};
use crate::pipeline::resources::registers::ANY;
use crate::pipeline::{Continuation, MOST, Touch};

/// The registers of a macro-operation. Registers beyond the array sizes are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    pub(super) addresses: [u16; 3],
    pub(super) reads: [u16; 5],
    pub(super) writes: [u16; 4],
    pub(super) address_count: u8,
    pub(super) read_count: u8,
    pub(super) write_count: u8,
}

/// Copies as many registers as fit, and returns their number.
#[inline]
fn copy<const PLACES: usize>(to: &mut [u16; PLACES], from: &[Register]) -> u8 {
    match (from, &mut to[..]) {
        // The usual cases.
        ([], _) => 0,
        ([register], [place, ..]) => {
            *place = register.0 % ANY;
            1
        }
        ([first, second], [place, next, ..]) => {
            (*place, *next) = (first.0 % ANY, second.0 % ANY);
            2
        }
        _ => copy_all(to, from),
    }
}

#[inline(never)]
fn copy_all(to: &mut [u16], from: &[Register]) -> u8 {
    let mut count = 0;
    for (place, register) in to.iter_mut().zip(from) {
        *place = register.0 % ANY;
        count += 1;
    }
    count
}

impl Operands {
    pub(super) const NONE: Operands =
        Operands { addresses: [0; 3], reads: [0; 5], writes: [0; 4], address_count: 0, read_count: 0, write_count: 0 };

    /// The registers of an instruction without operands: it reads the previous such result and writes one for the next.
    pub(super) const UNKNOWN: Operands =
        Operands { addresses: [ANY; 3], reads: [ANY; 5], writes: [ANY; 4], address_count: 1, read_count: 1, write_count: 1 };

    /// Sets the registers to those of an instruction. A plain one computes no address.
    #[inline(always)]
    pub(super) fn set<const KIND: u8>(&mut self, operation: Option<&Operation<'_>>) {
        match operation {
            Some(operation) => {
                self.address_count = if KIND == PLAIN { 0 } else { copy(&mut self.addresses, operation.addresses) };
                self.read_count = copy(&mut self.reads, operation.reads);
                self.write_count = copy(&mut self.writes, operation.writes);
            }
            None => *self = Operands { address_count: u8::from(KIND != PLAIN), ..Operands::UNKNOWN },
        }
    }

    pub(super) fn addresses(&self) -> &[u16] {
        self.addresses.get(..usize::from(self.address_count)).unwrap_or(&[])
    }

    pub(super) fn reads(&self) -> &[u16] {
        self.reads.get(..usize::from(self.read_count)).unwrap_or(&[])
    }

    pub(super) fn writes(&self) -> &[u16] {
        self.writes.get(..usize::from(self.write_count)).unwrap_or(&[])
    }
}

/// A macro-operation that waits for its line to be dispatched, without its registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct MacroOperation {
    pub(super) row: K8Row,
    pub(super) class: Class,
    /// Its accesses among those of the line.
    pub(super) touches: (u8, u8),
    /// Whether it is the second of two.
    pub(super) second: bool,
    /// Whether its instruction reads memory.
    pub(super) loads: bool,
    /// The continuation of the instruction, if this is its last macro-operation.
    pub(super) continuation: Continuation,
    pub(super) segment_loads: u8,
    /// [`PLAIN`], [`SHORT`](crate::pipeline::part::SHORT) or [`GENERAL`].
    pub(super) kind: u8,
}

impl MacroOperation {
    pub(super) const NONE: MacroOperation = MacroOperation {
        row: K8Row { path: DecodePath::Direct, unit: K8Unit::None, latency: 0, every: 1 },
        class: Class::Nop,
        touches: (0, 0),
        second: false,
        loads: false,
        continuation: Continuation::Sequential,
        segment_loads: 0,
        kind: GENERAL,
    };

    /// The macro-operation of any plain instruction.
    pub(super) const PLAIN: MacroOperation =
        MacroOperation { row: K8Row::PLAIN, class: Class::Simple, kind: PLAIN, ..MacroOperation::NONE };

    /// Returns its kind, which is known to be at most the kind that it has.
    #[inline(always)]
    fn exact_kind(&self) -> u8 {
        let computes = self.touches.0 == self.touches.1 && self.row == K8Row::PLAIN && self.segment_loads == 0 && !self.second;
        let goes_on = matches!(self.continuation, Continuation::Sequential | Continuation::Taken | Continuation::Resteered(_));
        if computes && goes_on { PLAIN } else { self.kind }
    }

    /// Whether it takes an entry of the scheduler of its position.
    #[inline]
    pub(super) fn is_scheduled(&self) -> bool {
        self.touches.0 < self.touches.1 || self.row.unit != K8Unit::None && !self.row.unit.is_floating()
    }
}

/// The resources that a line needs to be dispatched, beyond those of short lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Whether it needs an entry of the floating-point scheduler.
    pub(super) floating: bool,
    /// Whether everything before it must have completed.
    pub(super) serializes: bool,
    /// Whether it is a far transfer or an exception.
    pub(super) far: bool,
    /// Number of segment registers that it loads.
    pub(super) segments: u16,
    /// Number of cycles that its dispatch takes.
    pub(super) lines: u8,
}

impl Needs {
    /// The needs of a short line.
    pub(super) const NONE: Needs = Needs { floating: false, serializes: false, far: false, segments: 0, lines: 1 };
}

/// Macro-operations that are dispatched together.
#[derive(Clone, Debug)]
pub(super) struct DispatchLine {
    pub(super) operations: [MacroOperation; WIDTH],
    pub(super) operands: [Operands; WIDTH],
    pub(super) count: usize,
    /// The highest kind of its macro-operations.
    pub(super) kind: u8,
    pub(super) touches: [Touch; MOST],
    pub(super) touch_count: usize,
    /// The cycle in which its last byte has been fetched.
    pub(super) ready: u64,
    /// The piece of code that contains its first byte.
    pub(super) piece: u64,
}

impl DispatchLine {
    pub(super) const EMPTY: DispatchLine = DispatchLine {
        operations: [MacroOperation::NONE; WIDTH],
        operands: [Operands::NONE; WIDTH],
        count: 0,
        kind: PLAIN,
        touches: [Touch::NONE; MOST],
        touch_count: 0,
        ready: 0,
        piece: 0,
    };

    /// Adds a macro-operation of at most kind `KIND` with the registers of `operation`, if there is room.
    #[inline(always)]
    pub(super) fn push<const KIND: u8>(&mut self, added: MacroOperation, operation: Option<&Operation<'_>>) {
        if let Some((place, operands)) = self.operations.get_mut(self.count).zip(self.operands.get_mut(self.count)) {
            let kind = added.exact_kind();
            *place = MacroOperation { kind, ..added };
            operands.set::<KIND>(operation);
            self.kind = self.kind.max(kind);
            self.count += 1;
        }
    }

    /// Returns a macro-operation of at most kind `KIND` and its registers.
    #[inline(always)]
    pub(super) fn operation<const KIND: u8>(&self, position: usize) -> Option<(MacroOperation, &Operands)> {
        let operation = if KIND == PLAIN { MacroOperation::PLAIN } else { *self.operations.get(position)? };
        // Of short ones the units are of one cycle.
        let K8Row { path, unit, .. } = operation.row;
        let unit = if unit == K8Unit::None { unit } else { K8Unit::Integer };
        let row = if KIND == GENERAL { operation.row } else { K8Row { path, unit, ..K8Row::PLAIN } };
        Some((MacroOperation { row, ..operation }, self.operands.get(position)?))
    }

    /// Returns the access at a place, which hits in a line that is not [`GENERAL`].
    #[inline(always)]
    pub(super) fn touch<const KIND: u8>(&self, place: u8) -> Option<Touch> {
        let touch = self.touches.get(usize::from(place))?;
        Some(if KIND == GENERAL { *touch } else { touch.of_hit() })
    }

    /// Returns the needs of the line.
    pub(super) fn needs(&self) -> Needs {
        let mut needs = Needs::NONE;
        for (position, operation) in self.operations.iter().take(self.count).enumerate() {
            needs.floating |= operation.row.unit.is_floating();
            needs.serializes |= matches!(operation.class, Class::Serializing | Class::Fence);
            needs.far |= operation.class == Class::Exception || operation.continuation == Continuation::Far;
            needs.segments += u16::from(operation.segment_loads);
            if let (DecodePath::Vector(lines), 0) = (operation.row.path, position) {
                needs.lines = lines.max(1);
            }
        }
        needs
    }

    /// Clears the line after its dispatch.
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.count, self.kind) = (0, PLAIN);
        self.touch_count = 0;
        self.ready = 0;
    }
}
