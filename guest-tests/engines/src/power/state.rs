//! The architectural state of one CPU.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::footprint::{BLOCK, Footprints};
use super::registers::{POWER9_PVR, bescr, facility, lpcr, msr, spr};
use super::step::{DeviceActivity, Step};
use super::vectors::Vectors;
use crate::dma::Dma;
use crate::memory::Memory;

/// The effective address of the console's byte.
pub const CONSOLE: u64 = DEVICES + 0xE9;
/// The effective address of the byte that ends the run.
pub const EXIT: u64 = DEVICES + 0xF4;
/// Where the engine's devices are, outside any RAM.
pub const DEVICES: u64 = 1 << 48;
/// Bytes of the engine's devices.
pub(crate) const DEVICES_SIZE: u64 = 0x1000;

/// Real addresses have 60 bits: in real mode the upper four of an effective address do not matter.
const REAL: u64 = (1 << 60) - 1;

/// Bytes of console output that are kept.
pub(crate) const CONSOLE_LIMIT: usize = 1 << 20;

/// Why the machine stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The guest wrote its status.
    Status(u8),
    /// The observer asked for it.
    Observer,
}

/// How often the time base ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBase {
    /// Ticks in `cycles` cycles.
    pub ticks: u32,
    /// Cycles in which it ticks `ticks` times; 0 counts as 1.
    pub cycles: u32,
}

impl Default for TimeBase {
    /// One tick every 8 cycles: 512 MHz at 4.096 GHz.
    fn default() -> Self {
        Self { ticks: 1, cycles: 8 }
    }
}

/// What all CPUs share.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Memory>,
    pub(crate) console: Mutex<Vec<u8>>,
    /// For each CPU the block that its reservation covers, with its lowest bit set, or 0.
    pub(crate) reservations: Box<[AtomicU64]>,
    pub(crate) footprints: Footprints,
    pub(crate) time_base: TimeBase,
    pub(crate) dma: Dma,
}

impl Shared {
    pub(crate) fn print(&self, byte: u8) {
        let mut console = self.console.lock().unwrap_or_else(PoisonError::into_inner);
        if console.len() < CONSOLE_LIMIT {
            console.push(byte);
        }
    }

    /// A store by CPU `index` to the block of `real`: the reservations of others end.
    pub(crate) fn lose_reservations(&self, index: usize, real: u64) {
        let block = real & !(BLOCK - 1) | 1;
        for (other, reservation) in self.reservations.iter().enumerate() {
            if other != index && reservation.load(Ordering::Relaxed) == block {
                reservation.store(0, Ordering::Relaxed);
            }
        }
    }
}

/// One CPU without its observer.
pub(crate) struct Core {
    pub(crate) index: usize,
    pub(crate) gpr: [u64; 32],
    pub(crate) fpr: [u64; 32],
    pub(crate) vectors: Vectors,
    pub(crate) fpscr: u64,
    pub(crate) cr: u32,
    pub(crate) lr: u64,
    pub(crate) ctr: u64,
    pub(crate) xer: u64,
    pub(crate) msr: u64,
    pub(crate) pc: u64,
    /// Where execution continues if the current instruction completes.
    pub(crate) next: u64,
    /// The registers that only hold what was written to them, and those that others are views of.
    pub(crate) spr: Box<[u64; 1024]>,
    pub(crate) context_changed: bool,
    pub(crate) waiting: bool,
    pub(crate) cycles: u64,
    /// What is added to the ticks since the start.
    pub(crate) time_offset: u64,
    pub(crate) checkpoint: Option<Box<Checkpoint>>,
    pub(crate) step: Step,
    pub(crate) stop: Option<Stop>,
    /// What devices have done in the current instruction.
    pub(crate) activities: Vec<DeviceActivity>,
    pub(crate) shared: Arc<Shared>,
}

impl Core {
    /// The CPU waits for an interrupt, which is announced as a change of context.
    pub(crate) fn begin_to_wait(&mut self) {
        self.waiting = true;
        self.context_changed = true;
    }

    pub(crate) fn new(index: usize, little_endian: bool, shared: Arc<Shared>) -> Self {
        let mut registers = Box::new([0; 1024]);
        let endian = if little_endian { msr::LE } else { 0 };
        let mut set = |number: u16, value: u64| registers[usize::from(number)] = value;
        set(spr::PVR, POWER9_PVR);
        set(spr::PIR, index as u64);
        set(spr::PPR, 4 << 50);
        set(spr::FSCR, facility::TAR | facility::DSCR);
        let all = facility::TAR | facility::EBB | facility::TM | facility::BHRB | facility::PM | facility::DSCR;
        set(spr::HFSCR, all | facility::VEC | facility::FP);
        if little_endian {
            set(spr::LPCR, lpcr::ILE);
            set(spr::HID0, super::registers::HID0_HILE);
        }
        Self {
            index,
            gpr: [0; 32],
            fpr: [0; 32],
            vectors: Vectors::default(),
            fpscr: 0,
            cr: 0,
            lr: 0,
            ctr: 0,
            xer: 0,
            msr: msr::SF | msr::HV | msr::ME | endian,
            pc: 0,
            next: 0,
            spr: registers,
            context_changed: false,
            waiting: false,
            cycles: 0,
            time_offset: 0,
            checkpoint: None,
            step: Step::default(),
            stop: None,
            activities: Vec::new(),
            shared,
        }
    }

    pub(crate) fn little_endian(&self) -> bool {
        self.msr & msr::LE != 0
    }

    pub(crate) fn problem(&self) -> bool {
        self.msr & msr::PR != 0
    }

    /// Hypervisor state: HV=1 and PR=0.
    pub(crate) fn hypervisor(&self) -> bool {
        self.msr & (msr::HV | msr::PR) == msr::HV
    }

    /// The effective address that the mode gives to `address`: 32-bit mode has 32 bits.
    #[inline]
    pub(crate) fn effective(&self, address: u64) -> u64 {
        if self.msr & msr::SF == 0 { address & 0xFFFF_FFFF } else { address }
    }

    /// The real address of an effective one: the identity except for the upper four bits, translated or not.
    #[inline]
    pub(crate) fn real(address: u64) -> u64 {
        address & REAL
    }

    pub(crate) fn time_base(&self) -> u64 {
        let TimeBase { ticks, cycles } = self.shared.time_base;
        let since = u128::from(self.cycles) * u128::from(ticks) / u128::from(cycles.max(1));
        (since as u64).wrapping_add(self.time_offset)
    }

    pub(crate) fn set_time_base(&mut self, value: u64) {
        self.time_offset = 0;
        self.time_offset = value.wrapping_sub(self.time_base());
    }

    pub(crate) fn priority(&self) -> u8 {
        (self.spr[usize::from(spr::PPR)] >> 50 & 7) as u8
    }

    pub(crate) fn set_priority(&mut self, priority: u64) {
        let ppr = &mut self.spr[usize::from(spr::PPR)];
        let new = *ppr & !(7 << 50) | priority << 50;
        self.context_changed |= new != *ppr;
        *ppr = new;
    }

    pub(crate) fn bescr(&self) -> u64 {
        self.spr[usize::from(spr::BESCR)]
    }

    pub(crate) fn set_bescr(&mut self, value: u64) {
        let value = value & (bescr::GE | bescr::PME | bescr::TS | bescr::PMEO);
        let old = std::mem::replace(&mut self.spr[usize::from(spr::BESCR)], value);
        self.context_changed |= old != value;
    }

    pub(crate) fn set_msr(&mut self, value: u64) {
        let value = value & msr::ALL;
        self.context_changed |= value != self.msr;
        self.msr = value;
    }

    pub(crate) fn run(&self) -> bool {
        self.spr[usize::from(spr::CTRL)] & 1 != 0
    }

    /// The value of an SPR by its reading number, without any rule of access; of those the engine has.
    pub(crate) fn peek_spr(&self, number: u16) -> u64 {
        match number {
            spr::XER => self.xer,
            spr::LR => self.lr,
            spr::CTR => self.ctr,
            spr::DSCR_USER => self.spr[usize::from(spr::DSCR)],
            spr::CTRL_READ => self.spr[usize::from(spr::CTRL)],
            spr::SPRG3_USER => self.spr[usize::from(spr::SPRG3)],
            spr::TEXASRU => self.spr[usize::from(spr::TEXASR)] >> 32,
            spr::TB => self.time_base(),
            spr::TBU => self.time_base() >> 32,
            spr::BESCRS | spr::BESCRR => self.bescr(),
            spr::BESCRSU | spr::BESCRRU => self.bescr() >> 32,
            spr::PPR32 => self.spr[usize::from(spr::PPR)] >> 32,
            _ => self.spr.get(usize::from(number)).copied().unwrap_or(0),
        }
    }

    pub(crate) fn reserve(&self, real: u64) {
        if let Some(reservation) = self.shared.reservations.get(self.index) {
            reservation.store(real & !(BLOCK - 1) | 1, Ordering::Relaxed);
        }
    }

    /// Ends the reservation; returns whether it covered `real`.
    pub(crate) fn take_reservation(&self, real: u64) -> bool {
        let taken = self.shared.reservations.get(self.index).map_or(0, |reservation| reservation.swap(0, Ordering::Relaxed));
        taken == real & !(BLOCK - 1) | 1
    }

    /// Vector-scalar register `number`, 0 to 63, the upper doubleword first.
    pub(crate) fn vector(&self, number: usize) -> [u64; 2] {
        match number.checked_sub(32) {
            Some(high) => self.vectors.high[high & 31],
            None => [self.fpr[number], self.vectors.lower[number]],
        }
    }

    pub(crate) fn set_vector(&mut self, number: usize, value: [u64; 2]) {
        match number.checked_sub(32) {
            Some(high) => self.vectors.high[high & 31] = value,
            None => [self.fpr[number], self.vectors.lower[number]] = value,
        }
    }
}
