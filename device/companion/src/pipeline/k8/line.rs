//! Lines: the macro-operations that are dispatched together.

use super::WIDTH;
use super::rows::{DecodePath, K8Row, K8Unit};
use crate::instruction::{Class, Operation, Register};
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

    pub(super) fn of(operation: Option<&Operation<'_>>) -> Operands {
        let mut operands = Operands::NONE;
        operands.set(operation);
        operands
    }

    /// Sets the registers to those of an instruction.
    #[inline]
    pub(super) fn set(&mut self, operation: Option<&Operation<'_>>) {
        let Some(operation) = operation else {
            *self = Operands::UNKNOWN;
            return;
        };
        self.address_count = copy(&mut self.addresses, operation.addresses);
        self.read_count = copy(&mut self.reads, operation.reads);
        self.write_count = copy(&mut self.writes, operation.writes);
    }

    /// Sets the registers to those of a plain instruction, which computes no address.
    #[inline]
    fn set_plain(&mut self, operation: Option<&Operation<'_>>) {
        let Some(operation) = operation else {
            *self = Operands::UNKNOWN;
            return;
        };
        self.read_count = copy(&mut self.reads, operation.reads);
        self.write_count = copy(&mut self.writes, operation.writes);
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

/// A macro-operation that waits for its line to be dispatched.
#[derive(Clone, Copy, Debug)]
pub(super) struct MacroOperation {
    pub(super) row: K8Row,
    pub(super) class: Class,
    pub(super) operands: Operands,
    /// Its accesses among those of the line.
    pub(super) touches: (u8, u8),
    /// Whether it is the second of two.
    pub(super) second: bool,
    /// Whether its instruction reads memory.
    pub(super) loads: bool,
    /// The continuation of the instruction, if this is its last macro-operation.
    pub(super) continuation: Continuation,
    pub(super) segment_loads: u8,
}

impl MacroOperation {
    pub(super) const NONE: MacroOperation = MacroOperation {
        row: K8Row { path: DecodePath::Direct, unit: K8Unit::None, latency: 0, every: 1 },
        class: Class::Nop,
        operands: Operands::NONE,
        touches: (0, 0),
        second: false,
        loads: false,
        continuation: Continuation::Sequential,
        segment_loads: 0,
    };
}

/// The resources that a line needs to be dispatched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// The positions whose scheduler accepts an operation, one bit each.
    pub(super) schedulers: u8,
    /// In a line on the fast path, the positions of macro-operations that are the second of two. They take no scheduler entry.
    pub(super) seconds: u8,
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
    /// Whether every macro-operation is a plain instruction and the pipeline does not restart behind it.
    pub(super) plain: bool,
    /// Whether every macro-operation is a plain instruction or took the [fast path](super::K8Pipeline::execute_short).
    pub(super) short: bool,
}

impl Needs {
    pub(super) const NONE: Needs = Needs {
        schedulers: 0,
        seconds: 0,
        floating: false,
        serializes: false,
        far: false,
        segments: 0,
        lines: 1,
        plain: true,
        short: true,
    };

    /// Adds a macro-operation on the fast path at `position`, with an access or without, after which execution continues as given.
    #[inline]
    pub(super) fn add_short(&mut self, position: usize, accesses: bool, continuation: Continuation) {
        self.schedulers |= 1 << position;
        self.plain &= !accesses && continuation != Continuation::Mispredicted;
    }

    /// Adds the second macro-operation of two at `position`, on the fast path.
    pub(super) fn add_second(&mut self, position: usize) {
        self.seconds |= 1 << position;
        self.plain = false;
    }

    /// Adds a macro-operation at `position`.
    #[inline]
    pub(super) fn add(&mut self, position: usize, operation: &MacroOperation) {
        let computes = operation.row.unit.is_floating();
        let scheduled = operation.touches.0 < operation.touches.1 || !computes && operation.row.unit != K8Unit::None;
        self.schedulers |= u8::from(scheduled) << position;
        self.floating |= computes;
        self.serializes |= matches!(operation.class, Class::Serializing | Class::Fence);
        self.far |= operation.class == Class::Exception || operation.continuation == Continuation::Far;
        self.segments += u16::from(operation.segment_loads);
        self.plain &= operation.row == K8Row::PLAIN
            && operation.touches.0 == operation.touches.1
            && operation.segment_loads == 0
            && matches!(operation.continuation, Continuation::Sequential | Continuation::Taken | Continuation::Resteered(_))
            && !operation.second
            && !self.far
            && !self.serializes;
        self.short &= self.plain;
        if let (DecodePath::Vector(lines), 0) = (operation.row.path, position) {
            self.lines = lines.max(1);
        }
    }
}

/// Macro-operations that are dispatched together.
#[derive(Clone, Debug)]
pub(super) struct DispatchLine {
    pub(super) operations: [MacroOperation; WIDTH],
    pub(super) count: usize,
    /// Macro-operations of plain instructions, for which only the registers are set.
    pub(super) plain: [bool; WIDTH],
    pub(super) touches: [Touch; MOST],
    pub(super) touch_count: usize,
    /// The cycle in which its last byte has been fetched.
    pub(super) ready: u64,
    /// The piece of code that contains its first byte.
    pub(super) piece: u64,
    /// Resources that its macro-operations need.
    pub(super) needs: Needs,
}

impl DispatchLine {
    /// Adds the macro-operation of a plain instruction with the registers of `operation`, if there is room.
    #[inline]
    pub(super) fn push_plain(&mut self, operation: Option<&Operation<'_>>) {
        let places = self.operations.get_mut(self.count).zip(self.plain.get_mut(self.count));
        if let Some((place, plain)) = places {
            place.operands.set_plain(operation);
            *plain = true;
            self.count += 1;
        }
    }

    /// Sets the fields other than registers of the macro-operations of plain instructions.
    #[inline]
    pub(super) fn fill_in(&mut self) {
        if self.plain == [false; WIDTH] {
            return;
        }
        let plain = self.operations.iter_mut().zip(self.plain).enumerate().filter(|(_, (_, plain))| *plain);
        for (position, (operation, _)) in plain {
            let Operands { reads, writes, read_count, write_count, .. } = operation.operands;
            let operands = Operands { reads, writes, read_count, write_count, ..Operands::NONE };
            *operation = MacroOperation { row: K8Row::PLAIN, class: Class::Simple, operands, ..MacroOperation::NONE };
            self.needs.add(position, operation);
        }
        self.plain = [false; WIDTH];
    }

    /// Clears the line after its dispatch.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.plain = [false; WIDTH];
        self.touch_count = 0;
        self.ready = 0;
        self.needs = Needs::NONE;
    }

    /// Determines the needs of the line after its macro-operations have been restored.
    pub(super) fn find_needs(&mut self) {
        self.needs = Needs::NONE;
        for (position, operation) in self.operations.iter().take(self.count).enumerate() {
            self.needs.add(position, operation);
        }
    }
}
