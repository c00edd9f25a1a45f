//! One CPU with its observer: steps, boundaries, halting.

use super::cache::CodeCache;
use super::exec::execute;
use super::executor::Executor;
use super::fault::{Fault, Stop, vector};
use super::flags::{IF, TF};
use super::observer::{CpuView, Observer};
use super::saved::{Fetching, Shadow};
use super::state::{Core, RSP};
use super::step::StepKind;
use crate::memory::PAGE;

pub(crate) struct Cpu<O> {
    pub(crate) core: Box<Core>,
    pub(crate) observer: O,
    /// The executor that replaces the interpreter, if there is one.
    executor: Option<Box<dyn Executor<O>>>,
    cache: CodeCache,
}

/// What a CPU waits for in HLT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: it runs.
    Running,
    /// Something that happens by itself after so many cycles.
    Cycles(u64),
    /// Another CPU or a device.
    Others,
}

/// Whether something must be checked before the next instruction.
#[inline]
fn is_due(core: &Core) -> bool {
    core.attention || core.cycles >= core.apic.timer.deadline || core.shared.interrupter.mailbox(core.index).full()
}

impl<O: Observer> Cpu<O> {
    pub(crate) fn new(core: Core, observer: O) -> Self {
        Self { core: Box::new(core), observer, executor: None, cache: CodeCache::new() }
    }

    /// The CPU is about to run on.
    pub(crate) fn begin(&mut self) {
        self.core.stop = None;
        self.core.attention = true;
        if let Some(executor) = &mut self.executor {
            executor.begin(&mut self.core);
        }
        self.announce();
    }

    /// Has something else execute the instructions of a CPU that has not run.
    pub(crate) fn executed_by(&mut self, executor: Box<dyn Executor<O>>) {
        self.core.rehearsal.possible = executor.rehearses();
        self.executor = Some(executor);
    }

    /// At least one step, and at most `most` of them, if nothing is due between those; returns how many. Only for a CPU that is not halted.
    #[inline]
    pub(crate) fn advance(&mut self, most: u32) -> u32 {
        if let Some(executor) = &mut self.executor
            && most > 1
            && !is_due(&self.core)
        {
            let due = self.core.apic.timer.deadline.saturating_sub(self.core.cycles);
            let most = u32::try_from(due).map_or(most, |due| due.min(most));
            let done = executor.run(&mut self.core, &mut self.observer, most);
            if done != 0 {
                return done;
            }
        }
        self.step();
        1
    }

    /// One step: a taken interrupt, or an instruction. Only for a CPU that is not halted.
    #[inline]
    pub(crate) fn step(&mut self) {
        let core = &mut *self.core;
        if is_due(core) {
            if core.stop.is_some() {
                return;
            }
            self.boundary();
            return;
        }
        self.instruction();
    }

    #[inline]
    fn instruction(&mut self) {
        let core = &mut *self.core;
        let rip = core.rip;
        core.repeating = false;
        core.step.begin(rip);
        core.step.cpl = core.cpl;
        core.step.interrupts_masked = core.rflags & IF == 0;
        core.step.interrupt_pending = core.apic.interrupt_pending();
        let traps = core.rflags & TF != 0;
        // Both are rare: one question for the two.
        let debugged = traps | core.matching;
        let rsp = core.gpr[RSP];
        let outcome = match self.cache.fetch(core) {
            Ok(decoded) => {
                // The length first: read after the copy, it waits for the copy's store.
                core.next = rip.wrapping_add(u64::from(decoded.info.length));
                core.step.instruction = decoded.info;
                core.gpr[usize::from(super::state::NEXT)] = core.next;
                let executed = match &mut self.executor {
                    None => execute(core, decoded, &mut self.observer),
                    Some(executor) => executor.execute(core, decoded, &mut self.observer),
                };
                executed.map_err(|f| if decoded.stack { f.on_stack() } else { f })
            }
            Err(fault) => Err(fault),
        };
        match outcome {
            Ok(()) => {
                if core.repeating {
                    core.step.kind = StepKind::Iteration;
                    core.next = rip;
                }
                if debugged {
                    core.debug(traps);
                }
            }
            Err(fault) => {
                core.gpr[RSP] = rsp;
                core.repeating = false;
                core.shadow = Shadow::None;
                core.raise(fault);
                if fault == Fault::Stop || core.stop.is_some() {
                    return;
                }
                core.match_breakpoints();
            }
        }
        self.finish();
    }

    /// Completes a step: RIP, time, and the report to the observer.
    #[inline]
    fn finish(&mut self) {
        let core = &mut *self.core;
        core.step.next_rip = core.next;
        let mut cycles = core.step.cycles;
        let alerts = self.observer.retire(&core.step, &CpuView::new(core));
        core.rip = core.next;
        if alerts.any() {
            cycles = alerts.cycles.unwrap_or(cycles);
            if alerts.performance_interrupt {
                core.performance_interrupt();
            }
            if alerts.stop {
                core.stop(Stop::Observer);
            }
        }
        core.cycles = core.cycles.wrapping_add(u64::from(cycles));
        if core.context_changed {
            core.context_changed = false;
            self.observer.context(&CpuView::new(core));
        }
        if core.serialised {
            core.serialised = false;
            self.cache.flush();
        }
    }

    /// Takes in what waits in the mailbox and the timer.
    pub(crate) fn collect(&mut self) {
        let core = &mut *self.core;
        let mailbox = core.shared.interrupter.mailbox(core.index);
        if mailbox.full() {
            let mail = mailbox.collect();
            for (word, mut set) in (0u8..).zip(mail.fixed) {
                while set != 0 {
                    core.apic.accept(word * 64 + set.trailing_zeros() as u8);
                    set &= set - 1;
                }
            }
            core.nmi_pending |= mail.nmi;
            if mail.performance {
                core.performance_interrupt();
            }
        }
        core.apic.tick(core.cycles);
    }

    /// The boundary before an instruction, when something may be due: in order a debug trap, an
    /// NMI, a maskable interrupt; else the instruction.
    #[cold]
    fn boundary(&mut self) {
        self.collect();
        let core = &mut *self.core;
        let shadow = std::mem::take(&mut core.shadow);
        // A shadow covers one instruction, so check again after it.
        core.attention = shadow != Shadow::None;
        if core.debug_trap && shadow != Shadow::Stack {
            self.event(|core| {
                core.debug_trap = false;
                core.dr[6] |= 1 << 14;
                core.raise(Fault::without(vector::DB));
            });
        } else if core.nmi_pending && !core.nmi_blocked && shadow != Shadow::Stack {
            self.event(Core::take_nmi);
        } else if core.rflags & IF != 0
            && shadow == Shadow::None
            && let Some(vector) = core.apic.acknowledge()
        {
            self.event(|core| core.take_interrupt(vector));
        } else {
            self.instruction();
        }
    }

    fn event(&mut self, deliver: impl FnOnce(&mut Core)) {
        let core = &mut *self.core;
        core.attention = true;
        // Nothing was fetched, so the code cache need not know.
        core.step.physical = core.page_walk(core.rip).map_or(0, |walk| walk.physical);
        core.step.cpl = core.cpl;
        core.step.interrupts_masked = core.rflags & IF == 0;
        core.step.interrupt_pending = core.apic.interrupt_pending();
        deliver(core);
        core.repeating = false;
        if core.stop.is_none() {
            core.match_breakpoints();
            self.finish();
        }
    }

    /// By which translation it fetches instructions.
    pub(crate) fn fetching(&self) -> Option<Fetching> {
        self.cache.fetching(self.core.tlb.epoch())
    }

    /// Decodes everything anew, and fetches by this translation.
    pub(crate) fn fetch_by(&mut self, fetching: Option<Fetching>) {
        self.cache = CodeCache::new();
        if let Some(fetching) = fetching {
            let ram = self.core.is_ram(fetching.frame * PAGE);
            self.cache.fetch_by(fetching, ram, self.core.tlb.epoch());
        }
    }

    /// Reports the context at the start to the observer.
    fn announce(&mut self) {
        if self.core.context_changed {
            self.core.context_changed = false;
            self.observer.context(&CpuView::new(&self.core));
        }
    }

    /// Wakes a halted CPU if something is pending for it; else returns what it waits for.
    pub(crate) fn wait(&mut self) -> Wait {
        if !self.core.halted {
            return Wait::Running;
        }
        self.collect();
        let core = &mut *self.core;
        let enabled = core.rflags & IF != 0;
        let wakes =
            (core.nmi_pending && !core.nmi_blocked) || (enabled && core.apic.interrupt_pending()) || core.debug_trap || core.stop.is_some();
        if wakes {
            core.halted = false;
            core.attention = true;
            self.observer.context(&CpuView::new(core));
            return Wait::Running;
        }
        let timer = if enabled { core.apic.timer_wake() } else { None };
        let timer = timer.map(|at| at.saturating_sub(core.cycles).max(1));
        let observer = self.observer.halt_deadline().map(|n| n.max(1));
        match (timer, observer) {
            (Some(a), Some(b)) => Wait::Cycles(a.min(b)),
            (Some(n), None) | (None, Some(n)) => Wait::Cycles(n),
            (None, None) => Wait::Others,
        }
    }

    /// `cycles` cycles elapse in HLT.
    pub(crate) fn elapse(&mut self, cycles: u64) {
        self.core.cycles = self.core.cycles.wrapping_add(cycles);
        let alerts = self.observer.halted_cycles(cycles);
        if alerts.performance_interrupt {
            self.core.performance_interrupt();
        }
        if alerts.stop {
            self.core.stop(Stop::Observer);
        }
    }
}
