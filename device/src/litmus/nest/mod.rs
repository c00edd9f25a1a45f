//! Counters that post themselves into memory, in litmus files: events in the nest of a chip, its clock, its memory, and calls.

mod act;
mod chips;
mod places;
mod ram;
mod text;

use alloc::boxed::Box;

#[cfg(feature = "arbitrary")]
use vm_pmu_arch::power9::nest::REGION_SIZE;
use vm_pmu_arch::power9::nest::{Event, Frequencies, Outcome, Setting};

pub(super) use act::{Access, Seen, act, obey, outcome};
pub use chips::Chips;
pub(super) use text::{STATEMENTS, parse, print};

/// A statement about the nest of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum NestStep {
    /// `nest KEY=VALUE ...`: a chip in its state at power-on, which is the current one from here on.
    Chip(Box<ChipSetting>),
    /// `chip N`: what follows is about that chip.
    Current(u32),
    /// `tick nest N`: every chip's nest advances by that many cycles, with every slot at its time.
    Tick(u64),
    /// `tick nest N at-once`: the same in one step, so that slots can come late.
    AtOnce(u64),
    /// `slots N`: every chip advances by the cycles of that many slots of the current chip.
    Slots(u64),
    /// `boot`: every chip runs the slots after which an operating system finds its engine paused.
    Boot,
    /// `reset nest`: the current chip returns to its state at power-on.
    Reset,
    /// `happen nest EVENT AMOUNT`: an event occurs on the current chip.
    Happen(Event, u64),
    /// `program CELL prescalers=A/B/C/D overflow=WHAT`: sets how the PMUlet counts whose first counter is posted to the cell.
    Program(u32, Setting),
    /// `post now`: the current chip posts everything at once.
    PostNow,
    /// `read PLACE = VALUE`: the guest loads from memory.
    Read(MemoryPlace, u64),
    /// `write PLACE VALUE`: the guest stores to memory.
    Write(MemoryPlace, u64),
    /// `register CELL = VALUE`, `register CELL = none`: the value of the register whose first counter is posted to the cell.
    Register(u32, Option<u64>),
    /// `hole FROM TO`: the guest has no memory from the first address up to, but not including, the second.
    Hole(u64, u64),
    /// `hole none`: memory has no hole any more.
    NoHole,
    /// `refused none`, `refused N at ADDRESS`: the accesses that memory refused since the last such line, and the address of the first.
    Refused(Option<(u64, u64)>),
    /// `call NUMBER A B C = RESULT`: a call of the guest, with its arguments; no result if it is another call.
    Call(u64, [u64; 3], Option<Outcome>),
    /// `posting yes | no`: whether the current chip's engine posts.
    Posting(bool),
}

/// A chip as a file describes it. What it leaves out has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub struct ChipSetting {
    /// The number of the chip.
    pub chip: u32,
    /// The home base in bytes.
    pub home: u64,
    /// The vector of its units.
    pub units: Option<u64>,
    /// The cycles of the nest from slot to slot.
    pub slot: Option<u64>,
    /// The clocks.
    pub frequencies: Frequencies,
}

/// Somewhere in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum MemoryPlace {
    /// `cell:NAME`, `cell:OFFSET`: 8 bytes at this offset from the start of the current chip's region, a multiple of 8.
    Cell(u32),
    /// `memory:ADDRESS/SIZE`: 1, 2, 4 or 8 bytes.
    Bytes(u64, u8),
}

/// Whether a file can state it: a chip with clocks that run, a whole cell, a range that is not empty.
#[cfg(feature = "arbitrary")]
pub(super) fn can_be_said(step: &NestStep) -> bool {
    let is_cell = |offset: u32| offset.is_multiple_of(8) && u64::from(offset) < REGION_SIZE;
    match step {
        NestStep::Chip(setting) => {
            let Frequencies { nest, host_bridge, memory } = setting.frequencies;
            setting.chip < MOST_CHIPS && setting.slot != Some(0) && nest != 0 && host_bridge != 0 && memory != 0
        }
        NestStep::Program(offset, _) | NestStep::Register(offset, _) => is_cell(*offset),
        NestStep::Read(place, value) | NestStep::Write(place, value) => match place {
            MemoryPlace::Cell(offset) => is_cell(*offset),
            MemoryPlace::Bytes(_, size @ (1 | 2 | 4)) => value >> (8 * size) == 0,
            MemoryPlace::Bytes(_, size) => *size == 8,
        },
        NestStep::Hole(from, to) => from < to,
        _ => true,
    }
}

/// The most chips of a fuzzer's program.
#[cfg(feature = "arbitrary")]
const MOST_CHIPS: u32 = 4;

/// How often something is repeated, and how far clocks advance each time.
pub(super) fn work(step: &NestStep) -> (u64, u64) {
    match step {
        NestStep::Slots(slots) => (*slots, 0),
        // As many slots, if each takes a cycle.
        NestStep::Tick(cycles) => (*cycles, 1),
        NestStep::AtOnce(cycles) => (1, *cycles),
        _ => (1, 0),
    }
}
