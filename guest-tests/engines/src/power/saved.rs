//! The state of a machine between two instructions, in terms of the architecture: any engine can continue from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::state::TimeBase;
use super::vectors::Vectors;
use crate::dma::DmaState;
use crate::pages::Page;
use crate::turn::Turn;

/// A machine between two instructions, without its observers: its CPUs, its memory, and what they share.
///
/// [`Machine::save`](super::Machine::save) makes one, [`Machine::restore`](super::Machine::restore) takes it. What an engine does not have
/// may stay as in [`Saved::default`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Bytes of RAM, which starts at 0.
    pub ram: u64,
    /// The CPUs, in their order.
    pub cpus: Vec<CpuState>,
    /// The position in the turn of the CPUs; an engine without turns has the default.
    pub turn: Turn,
    /// The pages of RAM that are not all zeros, in ascending order.
    pub pages: Vec<Page>,
    /// What was stored to the console, at most a MiB.
    pub console: Vec<u8>,
    /// How often the time base ticks.
    pub time_base: TimeBase,
    /// The device that accesses RAM by itself.
    #[serde(default)]
    pub dma: DmaState,
}

/// One CPU. Registers of the performance monitor are its model's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuState {
    /// The general purpose registers.
    pub gpr: [u64; 32],
    /// The bits of the floating-point registers.
    pub fpr: [u64; 32],
    /// The rest of the vector-scalar registers.
    #[serde(default, skip_serializing_if = "Vectors::are_clear")]
    pub vectors: Vectors,
    /// The floating-point status and control register.
    pub fpscr: u64,
    /// The condition register, 32 bits.
    pub cr: u32,
    /// The link register.
    pub lr: u64,
    /// The count register.
    pub ctr: u64,
    /// The fixed-point exception register.
    pub xer: u64,
    /// The machine state register.
    pub msr: u64,
    /// The address of the next instruction.
    pub pc: u64,
    /// The time base, in ticks, at this many `cycles`.
    pub time_base: u64,
    /// Cycles since the start.
    pub cycles: u64,
    /// The special purpose registers that have no other field here, by the numbers they are written by; of two numbers, by the one with
    /// more privilege: SRR0, LPCR, BESCR, PPR, TAR, CTRL, PVR, PIR and so on. One that is missing is 0.
    pub sprs: BTreeMap<u16, u64>,
    /// It waits for an interrupt after `stop` or `wait`.
    pub waiting: bool,
    /// The real address of the block of 128 bytes that it has reserved.
    pub reservation: Option<u64>,
    /// What its transaction goes back to, if it is in one, running or suspended.
    pub transaction: Option<Box<Checkpoint>>,
}
