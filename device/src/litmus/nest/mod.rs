//! Counters that post themselves into memory, in litmus files: events in the nest of a chip, its clock, its memory, and calls.

mod act;
mod chips;
mod places;
mod ram;
mod text;

use alloc::boxed::Box;

use vm_pmu_arch::power9::nest::{Event, Frequencies, Outcome, Setting};

pub(super) use act::{Access, Seen, act, obey, outcome};
pub(super) use chips::Chips;
pub(super) use text::{STATEMENTS, parse, print};

/// A statement about the nest of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
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
pub enum MemoryPlace {
    /// `cell:NAME`, `cell:OFFSET`: 8 bytes at this offset from the start of the current chip's region, a multiple of 8.
    Cell(u32),
    /// `memory:ADDRESS/SIZE`: 1, 2, 4 or 8 bytes.
    Bytes(u64, u8),
}
