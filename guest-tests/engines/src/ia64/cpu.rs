//! One thread: its state, its observer, and a step of it.

use super::bundle::{Bundle, Unit};
use super::exec::{Flow, execute};
use super::interrupt::{Delivery, Fault};
use super::observer::{Alerts, CpuView, L3Miss, Observer};
use super::registers::{cr, isr, psr, vector};
use super::state::{Core, PAL_ENTRY, Stop};
use super::step::{Notice, Step, Taken};
use super::unimplemented::{Unimplemented, mnemonic};

pub(crate) struct Cpu<O> {
    pub(crate) core: Core,
    pub(crate) observer: O,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) cycles: u32,
    pub(crate) miss: Option<L3Miss>,
    /// Cycles since an instruction completed, if not with this step.
    pub(crate) idle: Option<u64>,
    /// `hint @pause` was executed.
    pub(crate) pause: bool,
    /// An issue group may end here: after a stop, a bundle or an interruption.
    pub(crate) boundary: bool,
}

impl<O: Observer> Cpu<O> {
    /// Reports the context to the observer.
    pub(crate) fn announce(&mut self) {
        self.core.context_changed = false;
        self.observer.context(&CpuView::new(&self.core));
    }

    fn settle(&mut self, cycles: u32, alerts: Alerts) -> Done {
        if alerts.stop && self.core.stop.is_none() {
            self.core.stop = Some(Stop::Observer);
        }
        if self.core.context_changed {
            self.announce();
        }
        Done { cycles: alerts.cycles.unwrap_or(cycles), miss: alerts.l3_miss, idle: alerts.idle, pause: false, boundary: true }
    }

    /// Requests the interrupts that are due at this cycle. Returns whether one is newly pending.
    #[inline]
    pub(crate) fn poll(&mut self) -> bool {
        let mut new = false;
        if self.core.timer.is_some_and(|at| at <= self.core.cycles) {
            self.core.timer = None;
            self.core.request(cr::ITV);
            new = true;
        }
        if self.observer.interrupt() {
            self.core.request(cr::PMV);
            new = true;
        }
        new && self.core.sapic.due()
    }

    /// One instruction, or an interrupt or a procedure of the firmware instead of it.
    pub(crate) fn step(&mut self) -> Done {
        let core = &mut self.core;
        core.stores.clear();
        let first = core.ri == 0 || core.arrived;
        if first && core.psr & psr::I != 0 && core.sapic.due() {
            let delivery = Delivery { vector: vector::EXTERNAL_INTERRUPT, slot: core.ri, ..Delivery::default() };
            return self.take(&delivery, false);
        }
        if core.ip == PAL_ENTRY {
            return self.firmware();
        }
        core.step.begin(core.ip, core.psr_now(), core.stack.frame());
        core.step.slot = core.ri;
        core.step.first = first;
        core.step.cycles = u32::from(first);
        if first {
            match core.fetch() {
                Ok(bundle) => core.bundle = bundle,
                Err(fault) => return self.fault(fault),
            }
        }
        let slot = core.bundle.slot(usize::from(core.ri));
        // The second half of a long instruction is no place to start at.
        if slot.unit == Unit::X && core.ri != 1 {
            return self.fault(Fault::IllegalOperation);
        }
        core.step.bundle = core.bundle.words;
        core.step.unit = slot.unit;
        core.step.encoding = slot.word.0;
        core.step.upper = slot.upper;
        core.step.stop = slot.stop;
        match execute(core, slot, &mut self.observer) {
            Ok(flow) => self.complete(flow, slot.last),
            Err(Fault::Unimplemented) => match mnemonic(slot.unit, slot.word) {
                Some(mnemonic) => {
                    let core = &mut self.core;
                    let Step { ip, slot, unit, encoding, .. } = core.step;
                    core.stop = Some(Stop::Unimplemented(Box::new(Unimplemented { ip, slot, unit, encoding, mnemonic })));
                    Done::default()
                }
                None => self.fault(Fault::IllegalOperation),
            },
            Err(fault) => self.fault(fault),
        }
    }

    fn complete(&mut self, flow: Flow, last: bool) -> Done {
        let core = &mut self.core;
        let before = core.step.psr;
        if before & psr::IC != 0 {
            core.previous = core.step.ip;
        }
        match flow {
            Flow::Returned => {}
            Flow::Taken(target) => {
                core.ip = target & !15;
                core.ri = 0;
                core.arrived = true;
            }
            Flow::Next if last => {
                core.ip = core.ip.wrapping_add(16);
                core.ri = 0;
                core.arrived = true;
            }
            Flow::Next => {
                core.ri += 1;
                core.arrived = false;
            }
        }
        // Bits for one instruction only are cleared, except those that `rfi` sets for its target.
        if flow != Flow::Returned {
            core.psr &= !(before & psr::ONCE);
        }
        core.step.next = core.ip;
        let alerts = self.observer.retire(&core.step, &CpuView::new(core));
        let (pause, boundary, cycles) = (core.step.pause, core.step.stop || core.arrived, core.step.cycles);
        let done = Done { pause, boundary, ..self.settle(cycles, alerts) };
        match self.trap(flow, before) {
            Some(delivery) => {
                let taken = self.take(&delivery, true);
                Done { cycles: done.cycles.saturating_add(taken.cycles), boundary: true, ..done }
            }
            None => done,
        }
    }

    /// The trap that follows an instruction, the most urgent one of those that are due.
    fn trap(&self, flow: Flow, before: u64) -> Option<Delivery> {
        let lowered = self.core.psr & psr::CPL > before & psr::CPL;
        let lower = before & psr::LP != 0 && lowered && flow != Flow::Returned;
        let branch = before & psr::TB != 0 && matches!(flow, Flow::Taken(_));
        let step = before & psr::SS != 0 && flow != Flow::Returned;
        let float = self.core.step.float_trap;
        let chosen = if float != 0 {
            vector::FLOATING_TRAP
        } else if lower {
            vector::LOWER_PRIVILEGE
        } else if branch {
            vector::TAKEN_BRANCH
        } else if step {
            vector::SINGLE_STEP
        } else {
            return None;
        };
        let float = if float == 0 { 0 } else { isr::FLOATING_TRAP | float };
        let code = float | u64::from(lower) << 1 | u64::from(branch) << 2 | u64::from(step) << 3;
        Some(Delivery { vector: chosen, isr: code, slot: self.core.step.slot, ..Delivery::default() })
    }

    #[cold]
    fn fault(&mut self, fault: Fault) -> Done {
        match self.core.delivery(fault) {
            Some(delivery) => self.take(&delivery, true),
            None => Done::default(),
        }
    }

    fn take(&mut self, delivery: &Delivery, synchronous: bool) -> Done {
        let core = &self.core;
        let notice = Notice {
            taken: Taken::Interruption(delivery.vector),
            ip: core.ip,
            slot: delivery.slot,
            target: core.entry(delivery.vector),
            psr: core.psr_now(),
            synchronous,
            cycles: 1,
        };
        let alerts = self.observer.notice(&notice, &CpuView::new(core));
        self.core.interrupt(delivery);
        self.settle(notice.cycles, alerts)
    }

    /// A procedure of the firmware.
    #[cold]
    fn firmware(&mut self) -> Done {
        let index = self.core.gr(28).0;
        let target = self.core.br[0] & !15;
        if let Err(fault) = self.call_firmware(index) {
            return self.fault(fault);
        }
        let psr = self.core.psr_now();
        let notice = Notice { taken: Taken::Firmware(index), ip: PAL_ENTRY, slot: 0, target, psr, synchronous: true, cycles: 1 };
        let alerts = self.observer.notice(&notice, &CpuView::new(&self.core));
        self.core.ip = target;
        self.core.arrived = true;
        self.settle(notice.cycles, alerts)
    }
}

impl Core {
    fn instruction_breakpoint(&self) -> bool {
        self.ibr.chunks_exact(2).any(|pair| {
            pair[1] >> 63 != 0 && pair[1] >> (56 + self.cpl()) & 1 != 0 && (self.ip ^ pair[0]) & (pair[1] | 0xFF << 56) & !15 == 0
        })
    }

    /// The bundle at the current address.
    #[inline]
    fn fetch(&self) -> Result<Bundle, Fault> {
        let physical = Self::physical(self.ip);
        let memory = &self.shared.memory;
        if physical.checked_add(16).is_none_or(|end| end > memory.size()) {
            return Err(Fault::NoInstructionMemory);
        }
        if self.psr & (psr::DB | psr::ID) == psr::DB && self.instruction_breakpoint() {
            return Err(Fault::InstructionDebug);
        }
        Bundle::new(memory.read(physical, 8), memory.read(physical + 8, 8)).ok_or(Fault::IllegalOperation)
    }
}
