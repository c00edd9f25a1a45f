//! The architectural state of one thread.

use std::sync::{Arc, Mutex, PoisonError};

use super::alat::{Alat, Target};
use super::bundle::Bundle;
use super::float::Float;
use super::registers::{MONTECITO_CPUID, ar, cr, psr};
use super::sapic::Sapic;
use super::stack::{RegisterStack, rotated_floating, rotated_predicate};
use super::step::Step;
use super::unimplemented::Unimplemented;
use crate::memory::Memory;

/// The address of the console's byte.
pub const CONSOLE: u64 = DEVICES + 0xE9;
/// The address of the byte that ends the run.
pub const EXIT: u64 = DEVICES + 0xF4;
/// Where the engine's devices are, outside any RAM.
pub const DEVICES: u64 = 1 << 48;
/// Bytes of the engine's devices.
pub(crate) const DEVICES_SIZE: u64 = 0x1000;
/// The entry of the firmware's procedures. A branch here runs one; see the [module](super#the-firmware).
pub const PAL_ENTRY: u64 = DEVICES + DEVICES_SIZE;

/// Physical addresses: what is left of a virtual address when the region and the attribute bit are taken away.
pub(crate) const PHYSICAL: u64 = (1 << 61) - 1;

/// Bytes of console output that are kept.
pub(crate) const CONSOLE_LIMIT: usize = 1 << 20;

/// Why the machine stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The guest wrote its status.
    Status(u8),
    /// The observer asked for it.
    Observer,
    /// An instruction that the engine does not have.
    Unimplemented(Box<Unimplemented>),
}

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Memory>,
    pub(crate) console: Mutex<Vec<u8>>,
}

impl Shared {
    pub(crate) fn print(&self, byte: u8) {
        let mut console = self.console.lock().unwrap_or_else(PoisonError::into_inner);
        if console.len() < CONSOLE_LIMIT {
            console.push(byte);
        }
    }
}

/// What a thread that halted gives back when it wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt {
    /// PMC0 as it was before the firmware froze the monitors, if it did.
    pub(crate) pmc0: Option<u64>,
}

/// One thread without its observer.
pub(crate) struct Core {
    pub(crate) index: usize,
    /// r0 to r31 of the current bank, r0 unused.
    pub(crate) general: [u64; 32],
    /// NaT bits of r0 to r31.
    pub(crate) general_nats: u32,
    /// r16 to r31 of the other bank.
    pub(crate) bank: [u64; 16],
    pub(crate) bank_nats: u32,
    pub(crate) stack: RegisterStack,
    pub(crate) floating: Box<[Float; 128]>,
    /// The predicates without rotation; bit 0 is always set.
    pub(crate) predicates: u64,
    pub(crate) br: [u64; 8],
    pub(crate) ar: Box<[u64; 128]>,
    pub(crate) cr: Box<[u64; 128]>,
    pub(crate) rr: [u64; 8],
    pub(crate) pkr: [u64; 16],
    pub(crate) ibr: [u64; 8],
    pub(crate) dbr: [u64; 8],
    pub(crate) cpuid: [u64; 5],
    /// PSR without `ri`.
    pub(crate) psr: u64,
    pub(crate) ip: u64,
    pub(crate) ri: u8,
    /// The bundle that runs, since its first instruction that did.
    pub(crate) bundle: Bundle,
    /// The bundle of the last instruction that retired while PSR.ic was 1.
    pub(crate) previous: u64,
    /// The thread came to its place other than by falling through.
    pub(crate) arrived: bool,
    pub(crate) alat: Alat,
    pub(crate) sapic: Sapic,
    /// Cycles of the core.
    pub(crate) cycles: u64,
    /// What is added to the cycles for ar.itc.
    pub(crate) itc_offset: u64,
    /// The cycle at which ar.itc reaches cr.itm, if it is ahead.
    pub(crate) timer: Option<u64>,
    pub(crate) context_changed: bool,
    pub(crate) foreground: bool,
    pub(crate) halted: Option<Halt>,
    pub(crate) urgency: u8,
    /// The cycle at which the data arrives that the thread waits for.
    pub(crate) ready: u64,
    /// The cycle at which the thread may leave the foreground although it executes nothing: told to the observer with each step.
    pub(crate) change_due: Option<u64>,
    /// The last branch to the firmware was a call.
    pub(crate) firmware_called: bool,
    /// Stores of the current step, for the ALATs of the other threads.
    pub(crate) stores: Vec<(u64, u8)>,
    pub(crate) step: Step,
    pub(crate) stop: Option<Stop>,
    pub(crate) shared: Arc<Shared>,
}

impl Core {
    pub(crate) fn new(index: usize, backing_store: u64, shared: Arc<Shared>) -> Self {
        let mut floating = Box::new([Float::ZERO; 128]);
        floating[1] = Float::ONE;
        let mut application = Box::new([0; 128]);
        // Round to nearest, traps masked, extended precision of all but status field 1, which is wider.
        application[ar::FPSR] = 0x0009_804C_0270_033F;
        Self {
            index,
            general: [0; 32],
            general_nats: 0,
            bank: [0; 16],
            bank_nats: 0,
            stack: RegisterStack::new(backing_store),
            floating,
            predicates: 1,
            br: [0; 8],
            ar: application,
            cr: Box::new([0; 128]),
            rr: [0; 8],
            pkr: [0; 16],
            ibr: [0; 8],
            dbr: [0; 8],
            cpuid: MONTECITO_CPUID,
            psr: psr::BN,
            ip: 0,
            ri: 0,
            bundle: Bundle::default(),
            previous: 0,
            arrived: true,
            alat: Alat::default(),
            sapic: Sapic::default(),
            cycles: 0,
            itc_offset: 0,
            timer: None,
            context_changed: false,
            foreground: false,
            halted: None,
            urgency: 5,
            ready: 0,
            change_due: None,
            firmware_called: false,
            stores: Vec::new(),
            step: Step::default(),
            stop: None,
            shared,
        }
    }

    /// The physical address of a virtual one: the identity except for the upper three bits.
    #[inline]
    pub(crate) fn physical(address: u64) -> u64 {
        address & PHYSICAL
    }

    pub(crate) fn cpl(&self) -> u8 {
        (self.psr >> psr::CPL_SHIFT & 3) as u8
    }

    pub(crate) fn psr_now(&self) -> u64 {
        self.psr | u64::from(self.ri) << psr::RI_SHIFT
    }

    /// Changes PSR except `ri`; the banks of registers follow.
    pub(crate) fn set_psr(&mut self, value: u64) {
        let value = value & psr::ALL & !psr::RI;
        let changed = self.psr ^ value;
        if changed & psr::BN != 0 {
            for (current, other) in self.general[16..].iter_mut().zip(&mut self.bank) {
                std::mem::swap(current, other);
            }
            let nats = self.general_nats >> 16;
            self.general_nats = self.general_nats & 0xFFFF | self.bank_nats << 16;
            self.bank_nats = nats;
        }
        self.psr = value;
        self.context_changed |= changed & !psr::ONCE != 0;
    }

    /// A general register and its NaT bit. Registers outside the frame, whose contents the architecture leaves open, are 0.
    #[inline]
    pub(crate) fn gr(&self, number: usize) -> (u64, bool) {
        if number < 32 {
            (self.general[number], self.general_nats >> number & 1 != 0)
        } else if number - 32 < self.stack.sof {
            self.stack.get(self.stack.physical(number))
        } else {
            (0, false)
        }
    }

    /// Writes a general register that was checked to be a valid target; r0 keeps 0.
    #[inline]
    pub(crate) fn set_gr(&mut self, number: usize, value: u64, nat: bool) {
        if number >= 32 {
            let physical = self.stack.physical(number);
            self.stack.set(physical, value, nat);
        } else if number != 0 {
            self.general[number] = value;
            self.general_nats = self.general_nats & !(1 << number) | u32::from(nat) << number;
        }
    }

    /// What the ALAT knows a general register by.
    pub(crate) fn general_target(&self, number: usize) -> Target {
        Target::General(if number < 32 { number } else { 32 + self.stack.physical(number) } as u8)
    }

    fn rotated_floating(&self, number: usize) -> usize {
        rotated_floating(number, self.stack.rrb_fr)
    }

    /// What the ALAT knows a floating-point register by.
    pub(crate) fn floating_target(&self, number: usize) -> Target {
        Target::Floating(self.rotated_floating(number) as u8)
    }

    pub(crate) fn fr(&self, number: usize) -> Float {
        self.floating[self.rotated_floating(number)]
    }

    /// Writes a floating-point register that was checked to be a valid target.
    pub(crate) fn set_fr(&mut self, number: usize, value: Float) {
        let physical = self.rotated_floating(number);
        if physical > 1 {
            self.floating[physical] = value;
            // PSR.mfl and mfh are no part of the performance monitor's context.
            self.psr |= if number < 32 { psr::MFL } else { psr::MFH };
        }
    }

    fn rotated_predicate(&self, number: usize) -> usize {
        rotated_predicate(number, self.stack.rrb_pr)
    }

    #[inline]
    pub(crate) fn predicate(&self, number: usize) -> bool {
        self.predicates >> self.rotated_predicate(number) & 1 != 0
    }

    /// Writes a predicate; p0 keeps 1.
    pub(crate) fn set_predicate(&mut self, number: usize, value: bool) {
        let at = self.rotated_predicate(number);
        self.predicates = self.predicates & !(1 << at) | u64::from(value) << at | 1;
    }

    /// An application register, whatever the rules.
    pub(crate) fn peek_ar(&self, number: usize) -> u64 {
        match number {
            ar::BSP => self.stack.bsp,
            ar::BSPSTORE => self.stack.bspstore,
            ar::RNAT => self.stack.rnat,
            ar::ITC => self.cycles.wrapping_add(self.itc_offset),
            ar::RUC => self.cycles,
            _ => self.ar[number],
        }
    }

    /// A control register, whatever the rules and without effect.
    pub(crate) fn peek_cr(&self, number: usize) -> u64 {
        match number {
            cr::TPR => self.sapic.tpr,
            cr::IVR => u64::from(self.sapic.highest()),
            68..=71 => self.sapic.requested[number - cr::IRR0],
            _ => self.cr[number],
        }
    }

    /// Recalculates when the interval timer is due.
    pub(crate) fn set_timer(&mut self) {
        let distance = self.cr[cr::ITM].wrapping_sub(self.peek_ar(ar::ITC));
        self.timer = self.cycles.checked_add(distance).filter(|_| distance != 0);
    }
}
