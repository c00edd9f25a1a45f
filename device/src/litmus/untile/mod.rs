//! Boxes that threads share, in litmus files: their events, their clocks, and their registers by name.

mod act;
mod mesh;
mod names;
mod text;

use alloc::boxed::Box;

use vm_pmu_arch::access::{Address, PciAddress};

use super::Step;
use crate::untile::{Domain, Kind, Place, Stage, Transaction, UnitId, at_msr};

pub use mesh::MeshStep;

pub(super) use act::{Access, act, move_boxes, obey, outcome};
#[cfg(feature = "arbitrary")]
pub(super) use names::address_of_register;
pub(super) use names::{address, name, registers};
pub(super) use text::{configuration, parse, print};

/// A statement about the boxes that all threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum UntileStep {
    /// `tick CLOCK N`: a clock advances by N.
    Tick(Domain, u64),
    /// `pass N`: N cycles of the CPUs' clock elapse, and the clocks tick at their default frequencies.
    Pass(u64),
    /// `happen UNIT EVENT EACH [clocks=N]`: an event occurs in a box, `EACH` times in every one of the next N clocks, by default in one.
    Happen {
        /// The box.
        unit: UnitId,
        /// The event select.
        select: u8,
        /// The unit mask.
        umask: u8,
        /// How often per clock.
        each: u64,
        /// For how many clocks.
        clocks: u64,
    },
    /// `queue UNIT EVENT CHANGE`: a queue has that many entries more, or fewer, than before.
    Queue {
        /// The box.
        unit: UnitId,
        /// The event select.
        select: u8,
        /// The unit mask.
        umask: u8,
        /// The difference.
        change: i64,
    },
    /// `queue UNIT EVENT =LEVEL`: a queue has that many entries.
    SetQueue {
        /// The box.
        unit: UnitId,
        /// The event select.
        select: u8,
        /// The unit mask.
        umask: u8,
        /// The entries.
        level: u64,
    },
    /// `transact UNIT STAGE KEY=VALUE ...`: a request at a CHA.
    Transact(u8, Box<Transaction>, Stage),
    /// `listens UNIT yes | no`: whether a counter of the box listens to events in it.
    Listens(UnitId, bool),
    /// `counting yes | no`: whether any counter of any box counts.
    Counting(bool),
    /// `read pci:BUS:DEVICE.FUNCTION:OFFSET/SIZE = VALUE`: a read of configuration space as on a bus.
    Read(Configuration, u32),
    /// `write pci:BUS:DEVICE.FUNCTION:OFFSET/SIZE VALUE`: a write of configuration space as on a bus.
    Write(Configuration, u32),
    /// `reset untile`: every box returns to its state at power-on.
    Reset,
    /// `tick all N`: all clocks advance by N, in step.
    TickAll(u64),
    /// A statement about messages of the mesh.
    Mesh(MeshStep),
}

/// Bytes of configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub struct Configuration {
    /// Bus.
    pub bus: u8,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
    /// Offset in bytes, below 4,096.
    pub offset: u16,
    /// How many bytes.
    pub size: u8,
}

/// The box that an address belongs to.
fn unit_at(address: Address) -> Option<UnitId> {
    match address {
        Address::Msr(number) => match at_msr(number)? {
            Place::Unit(unit, _) => Some(unit),
            Place::GlobalControl | Place::GlobalStatus | Place::Config => UnitId::new(Kind::Ubox, 0),
        },
        Address::Pci(PciAddress { bus, device, function, .. }) => names::unit_of_function(bus, device, function),
        _ => None,
    }
}

/// The box that a statement is about.
pub(super) fn unit_of(step: &Step) -> Option<UnitId> {
    match step {
        Step::Write(address, ..) | Step::Read(address, _) => unit_at(*address),
        Step::Untile(step) => match step {
            UntileStep::Happen { unit, .. }
            | UntileStep::Queue { unit, .. }
            | UntileStep::SetQueue { unit, .. }
            | UntileStep::Listens(unit, _) => Some(*unit),
            UntileStep::Transact(cha, ..) => UnitId::new(Kind::Cha, *cha),
            UntileStep::Read(place, _) | UntileStep::Write(place, _) => names::unit_of_function(place.bus, place.device, place.function),
            UntileStep::Mesh(step) => step.unit(),
            UntileStep::Tick(..) | UntileStep::TickAll(_) | UntileStep::Pass(_) | UntileStep::Counting(_) | UntileStep::Reset => None,
        },
        _ => None,
    }
}

/// Whether a statement is about boxes at all.
pub(super) fn concerns(step: &Step) -> bool {
    matches!(step, Step::Untile(_)) || unit_of(step).is_some() || matches!(step, Step::Write(Address::Pci(_), ..))
}

/// Whether a file can state it: numbers that boxes, requests and places in configuration space have.
#[cfg(feature = "arbitrary")]
pub(super) fn can_be_said(step: &UntileStep) -> bool {
    const MOST_OPCODE: u16 = 0x3FF;
    match step {
        UntileStep::Transact(cha, transaction, _) => {
            *cha < Kind::Cha.count() && transaction.opcode <= MOST_OPCODE && transaction.tile < Kind::Cha.count() && transaction.thread < 8
        }
        UntileStep::Read(place, _) | UntileStep::Write(place, _) => {
            let is_aligned = matches!(place.size, 1 | 2 | 4) && place.offset.is_multiple_of(place.size.into());
            is_aligned && place.device < 32 && place.function < 8 && place.offset < 0x1000
        }
        UntileStep::Mesh(step) => step.can_be_said(),
        _ => true,
    }
}

/// At most how much its totals grow.
pub(super) fn events(step: &UntileStep) -> u64 {
    // A clock is at most 16 times the CPUs' own, and queues have at most what was put into them.
    const FASTEST: u64 = 16;
    match step {
        UntileStep::Tick(_, clocks) | UntileStep::TickAll(clocks) | UntileStep::Pass(clocks) => clocks.saturating_mul(FASTEST),
        UntileStep::Happen { each, clocks, .. } => each.saturating_mul(*clocks),
        UntileStep::Transact(_, _, Stage::Served { clocks }) => *clocks,
        UntileStep::Mesh(_) => mesh::EVENTS,
        _ => 0,
    }
}
