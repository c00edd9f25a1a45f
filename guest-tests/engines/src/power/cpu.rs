//! One CPU: its state, its observer, and a step of it.

use vm_pmu::decode::power::{Touch, Word, category, marks, operation};

use super::exec::{Then, execute};
use super::interrupt::{Delivery, Exception, Fault};
use super::observer::{Alerts, CpuView, Observer};
use super::radix::Purpose;
use super::registers::{bescr, msr, reason, spr, vector};
use super::state::{Core, Stop};
use super::step::{Notice, Taken, Transaction};

pub(crate) struct Cpu<O> {
    pub(crate) core: Core,
    pub(crate) observer: O,
}

/// What a CPU that waits waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It does not.
    Running,
    /// This many cycles at most.
    Cycles(u64),
    /// Something that time alone does not bring.
    Forever,
}

impl<O: Observer> Cpu<O> {
    /// Reports the context to the observer.
    pub(crate) fn announce(&mut self) {
        self.core.context_changed = false;
        self.observer.context(&CpuView::new(&self.core));
    }

    #[inline]
    fn settle(&mut self, cycles: u32, alerts: Alerts) {
        let cycles = alerts.cycles.unwrap_or(cycles);
        self.core.cycles = self.core.cycles.saturating_add(u64::from(cycles));
        if alerts.stop && self.core.stop.is_none() {
            self.core.stop = Some(Stop::Observer);
        }
        if self.core.context_changed {
            self.announce();
        }
    }

    /// Reads what the observer holds pending, and updates BESCR; returns whether an interrupt is pending.
    #[inline]
    fn interrupted(&mut self) -> bool {
        let pending = self.observer.pending();
        if let Some(event) = pending.event_based {
            let old = self.core.bescr();
            let mut new = old & !(bescr::PME | bescr::PMEO);
            if event.enabled {
                new |= bescr::PME;
            }
            if event.occurred {
                new |= bescr::PMEO;
            }
            // The observer knows what it returned: no change of context.
            self.core.spr[usize::from(spr::BESCR)] = new;
        }
        pending.interrupt
    }

    /// One instruction, or an interrupt or event-based branch instead of it.
    pub(crate) fn step(&mut self) {
        if !self.attend() {
            self.instruction();
        }
    }

    /// Takes an event-based branch or an interrupt that is due; returns whether one was.
    #[inline]
    pub(crate) fn attend(&mut self) -> bool {
        let interrupt = self.interrupted();
        if self.core.event_based_branch_due() {
            let target = self.core.spr[usize::from(spr::EBBHR)] & !3;
            let address = self.core.pc;
            self.take(Taken::EventBasedBranch, address, target, Core::event_based_branch);
            return true;
        }
        if interrupt && self.core.msr & msr::EE != 0 {
            let delivery = Delivery::new(vector::PERFORMANCE_MONITOR, self.core.pc, 0);
            self.deliver(&delivery);
            return true;
        }
        false
    }

    /// One instruction.
    #[inline]
    pub(crate) fn instruction(&mut self) {
        let core = &mut self.core;
        core.step.begin(core.pc, core.msr, core.run());
        let word = match core.fetch() {
            Ok(word) => word,
            Err(fault) => return self.fault(fault, 0),
        };
        core.step.encoding = word;
        core.next = core.effective(core.pc.wrapping_add(4));
        let Some(op) = operation(word) else {
            return self.fault(Fault::illegal(), word);
        };
        let w = Word(word);
        match execute(core, op, w, &mut self.observer) {
            Ok(then) => {
                (core.step.category, core.step.marks) = (category(op, w), marks(op, w));
                self.complete(then);
            }
            Err(fault) => self.fault(fault, word),
        }
    }

    /// The instruction that the step describes has completed.
    #[inline]
    pub(crate) fn complete(&mut self, then: Then) {
        let core = &mut self.core;
        // It met another, or stored more than there is room for.
        core.resumed();
        let traced = core.step.msr & (msr::SE | msr::BE);
        core.step.next = core.next;
        core.pc = core.next;
        if !core.activities.is_empty() {
            self.report_activities();
        }
        let core = &mut self.core;
        let alerts = self.observer.retire(&core.step, &CpuView::new(core));
        let cycles = core.step.cycles;
        if let Some(checkpoint) = core.checkpoint.as_mut().filter(|_| core.step.run && core.step.transaction != Some(Transaction::Begin)) {
            checkpoint.run.0 += 1;
            checkpoint.run.1 += u64::from(alerts.cycles.unwrap_or(cycles));
        }
        self.settle(cycles, alerts);
        if let Then::SystemCall { hypervisor } = then {
            let delivery = Delivery { hypervisor, ..Delivery::new(vector::SYSTEM_CALL, self.core.pc, 0) };
            self.deliver(&delivery);
        } else if traced != 0 && then == Then::Next {
            self.trace(traced);
        }
    }

    /// Reports what devices did in the instruction.
    #[cold]
    fn report_activities(&mut self) {
        for activity in std::mem::take(&mut self.core.activities) {
            self.observer.device(&activity);
        }
    }

    #[cold]
    fn trace(&mut self, traced: u64) {
        let step = &self.core.step;
        if traced & msr::SE == 0 && step.branch.is_none() {
            return;
        }
        let mut why = reason::TRACED;
        let stored = step.access.map(|access| access.store).or(match step.touched.map(|touched| touched.why) {
            Some(Touch::Store) => Some(true),
            Some(Touch::Load | Touch::Stream | Touch::Execute | Touch::Flush | Touch::InstructionBlock) => Some(false),
            Some(Touch::Translation | Touch::LocalTranslation | Touch::Segment) | None => None,
        });
        why |= match stored {
            Some(true) => reason::TRACED_STORE,
            Some(false) => reason::TRACED_LOAD,
            None => 0,
        };
        let delivery = Delivery::new(vector::TRACE, self.core.pc, why);
        self.deliver(&delivery);
    }

    #[cold]
    fn fault(&mut self, fault: Fault, word: u32) {
        let Fault(exception) = fault;
        let delivery = self.core.delivery(exception, word);
        if matches!(exception, Exception::InstructionStorage | Exception::Untranslated { purpose: Purpose::Fetch, .. }) {
            self.core.step.real = 0;
        }
        self.deliver(&delivery);
    }

    fn deliver(&mut self, delivery: &Delivery) {
        let target = self.core.entry(delivery).0;
        self.take(Taken::Interrupt(delivery.vector), delivery.address, target, |core| core.interrupt(delivery));
    }

    fn take(&mut self, taken: Taken, address: u64, target: u64, change: impl FnOnce(&mut Core)) {
        let notice = Notice { taken, address, target, msr: self.core.msr, cycles: 1 };
        let alerts = self.observer.notice(&notice, &CpuView::new(&self.core));
        change(&mut self.core);
        self.settle(notice.cycles, alerts);
    }

    /// Whether the CPU waits, and for what.
    pub(crate) fn wait(&mut self) -> Wait {
        if !self.core.waiting {
            return Wait::Running;
        }
        // An interrupt ends the wait even while MSR.EE disables it.
        if self.interrupted() || self.core.event_based_branch_due() {
            self.core.waiting = false;
            self.announce();
            return Wait::Running;
        }
        self.observer.wait_deadline().map_or(Wait::Forever, |cycles| Wait::Cycles(cycles.max(1)))
    }

    /// `cycles` cycles elapse while the CPU waits.
    pub(crate) fn elapse(&mut self, cycles: u64) {
        self.core.cycles = self.core.cycles.saturating_add(cycles);
        self.observer.waited(cycles);
    }
}
