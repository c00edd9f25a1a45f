//! The state of a machine between two instructions, in terms of the architecture.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::alat::AdvancedLoad;
use super::changes::Changes;
use super::float::Float;
use crate::pages::Page;
use crate::turn::Turn;

/// A machine between two instructions, without its observers: its cores, its memory, and what they share.
///
/// [`Machine::save`](super::Machine::save) makes one, [`Machine::restore`](super::Machine::restore) takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Bytes of RAM, which starts at 0.
    pub ram: u64,
    /// Cycles that a thread may stay in the foreground while the other one could run.
    pub quantum: u64,
    /// The cores, in their order.
    pub cores: Vec<CoreState>,
    /// The position in the turn of the cores.
    pub turn: Turn,
    /// The pages of RAM that are not all zeros, in ascending order.
    pub pages: Vec<Page>,
    /// What was stored to the console, at most a MiB.
    pub console: Vec<u8>,
}

/// One core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreState {
    /// Its threads, one or two.
    pub threads: Vec<ThreadState>,
    /// The number of the thread in the foreground, among these.
    pub foreground: usize,
    /// Cycles since the start: what AR.RUC reads.
    pub cycles: u64,
    /// Cycles since the thread in the foreground went there.
    pub used: u64,
    /// `hint @pause` was executed, and its issue group has not ended.
    pub pause: bool,
    /// Whether data is on its way for each thread that stands still for it.
    pub due: [bool; 2],
    /// What is known of the thread in the foreground, and of a change that is held up.
    #[serde(default)]
    pub changes: Changes,
}

/// One thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadState {
    /// r0 to r31 of the bank that PSR.bn chooses; r0 is 0.
    pub general: [u64; 32],
    /// Their NaT bits, that of r0 at bit 0.
    pub general_nats: u32,
    /// r16 to r31 of the other bank.
    pub bank: [u64; 16],
    /// Their NaT bits, that of r16 at bit 0.
    pub bank_nats: u32,
    /// The stacked general registers.
    pub stack: StackState,
    /// The 128 floating-point registers, without rotation; f0 is 0 and f1 is 1.
    pub floating: Vec<Float>,
    /// The predicates without rotation; that of p0 at bit 0, which is set.
    pub predicates: u64,
    /// The branch registers.
    pub br: [u64; 8],
    /// The application registers that have no other field here, by their numbers: KR0 to KR7, RSC, CCV, UNAT, FPSR, PFS, LC, EC and so on.
    /// One that is missing is 0.
    pub ars: BTreeMap<u8, u64>,
    /// The control registers that have no other field here, by their numbers. One that is missing is 0.
    pub crs: BTreeMap<u8, u64>,
    /// The region registers.
    pub rr: [u64; 8],
    /// The protection key registers.
    pub pkr: [u64; 16],
    /// The instruction breakpoint registers.
    pub ibr: [u64; 8],
    /// The data breakpoint registers.
    pub dbr: [u64; 8],
    /// The processor status register, with the slot of the next instruction in `ri`.
    pub psr: u64,
    /// The address of the next instruction's bundle.
    pub ip: u64,
    /// The bundle whose next instruction runs, its lower half first, once one of its instructions has run: stores to it since then come too
    /// late for it. Before that the bundle is fetched.
    pub bundle: Option<[u64; 2]>,
    /// The address of the bundle whose instruction was the last to retire while PSR.ic was 1: what IIPA gets.
    pub previous: u64,
    /// The advanced load address table, the oldest entry first.
    pub alat: Vec<AdvancedLoad>,
    /// CR.TPR.
    pub tpr: u64,
    /// CR.IRR0 to CR.IRR3: the interrupt vectors that are requested.
    pub requested: [u64; 4],
    /// The interrupt vectors in service, in the same order.
    pub in_service: [u64; 4],
    /// AR.ITC, at the core's `cycles`.
    pub itc: u64,
    /// The cycle of the core at which the interval timer's interrupt comes, if it has not come.
    pub timer: Option<u64>,
    /// In PAL_HALT_LIGHT: PMC0 as the thread finds it when it wakes.
    pub halted: Option<u64>,
    /// In PAL_HALT, which leaves PMC0 alone.
    #[serde(default)]
    pub halted_alone: bool,
    /// The urgency, 0 to 7.
    pub urgency: u8,
    /// The cycle of the core at which the data that the thread waits for arrives, or arrived.
    pub ready: u64,
    /// The last branch that may have gone to the firmware was a call.
    pub firmware_called: bool,
}

/// The stacked general registers of a thread, the current frame and the pointers of the register stack engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackState {
    /// The 96 physical registers, each with its NaT bit.
    pub registers: Vec<(u64, bool)>,
    /// The physical register of r32, without rotation.
    pub bottom: usize,
    /// The current frame marker, with sof, sol, sor and the rotation bases as CR.IFS has them.
    pub cfm: u64,
    /// Registers below the frame that are not in memory yet.
    pub dirty: usize,
    /// Registers below those that are in memory and still in the file.
    pub clean: usize,
    /// AR.BSP.
    pub bsp: u64,
    /// AR.BSPSTORE.
    pub bspstore: u64,
    /// AR.RNAT.
    pub rnat: u64,
}
