//! Montecito's performance monitor, written from the Montecito Reference Manual for Software Development and Optimization 0.9, chapters 3
//! and 4, the Itanium Architecture Software Developer's Manual, volume 2, section 7.2, and where they are silent from
//! `docs/notes/montecito.md` and the decisions M1 to M62.
//!
//! `docs/notes/reference-montecito.md` lists what the reference does not know.

mod addresses;
mod buffer;
mod pointers;
mod registers;
mod selection;
mod tags;
mod thread;
mod trace;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::event::{Attribution, Drive, Entry, Initiator, Internal, MONTECITO};
use vm_pmu_arch::feed::{Context, Kind, Record, Signal};
use vm_pmu_arch::model::{Occurrence, Reset};

use crate::Reference;
use crate::ia64::{self, Amount, of};
use registers::INTERRUPTS;
use selection::{Choice, choice};
use tags::Told;
use thread::{Captures, Thread};

/// CPU_OP_CYCLES and CPU_OP_CYCLES_HALTED, whose clocks are each thread's own (M59, M62).
const CLOCK: u32 = 0x12;
const HALTED_CLOCK: u32 = 0x18;

/// One package: a core with its threads (M57).
pub struct Montecito {
    threads: Vec<Thread>,
    /// Interrupts since they were last taken; `None` where they are not known.
    asked: Option<Vec<(usize, u32)>>,
}

/// What comes about at once.
struct Moment<'a> {
    /// The thread that did it; `None` for a device.
    thread: Option<usize>,
    signals: &'a [(Signal, u64)],
    told: Option<Told>,
    captures: Captures,
    /// Something that no signal describes.
    injected: Option<(Occurrence, u64)>,
    /// The levels between which the thread changes, one bit each.
    levels: u32,
}

impl Moment<'_> {
    const fn of(thread: usize) -> Moment<'static> {
        Moment { thread: Some(thread), signals: &[], told: None, captures: Captures::NONE, injected: None, levels: 0 }
    }
}

/// Whether occurrences of an event may belong to no thread.
fn is_causal(event: &Entry) -> bool {
    !matches!(event.attribution, Attribution::Active | Attribution::Floating)
}

impl Montecito {
    /// A core with so many threads, as after power-on.
    #[must_use]
    pub fn new(threads: usize) -> Montecito {
        Montecito { threads: (0..threads).map(|_| Thread::new()).collect(), asked: Some(Vec::new()) }
    }

    fn is_halted(&self, thread: Option<usize>) -> bool {
        thread.is_some_and(|thread| self.threads[thread].context.halted)
    }

    /// Whether what `moment` brings of an entry belongs to counters of thread `owner` (4.2.1).
    fn belongs(&self, owner: usize, choice: &Choice, entry: &Entry, moment: &Moment<'_>) -> bool {
        let foreground = self.threads[owner].context.foreground;
        let (own, thread) = (moment.thread == Some(owner), moment.thread.is_some());
        match choice.event.select {
            HALTED_CLOCK => return own && foreground,
            // With .all both threads' clocks, but nothing while the own thread is halted and the other is not.
            CLOCK if self.is_halted(moment.thread) => return false,
            CLOCK if own => return foreground || choice.all,
            CLOCK => return choice.all && thread && !self.is_halted(Some(owner)),
            _ => {}
        }
        let attribution = match choice.event.attribution {
            Attribution::SelfFloating if entry.initiator == Initiator::Own => Attribution::Floating,
            Attribution::SelfFloating => Attribution::Causal,
            other => other,
        };
        if attribution != Attribution::Causal {
            return own || choice.all && thread;
        }
        let begun = match entry.initiator {
            _ if moment.injected.is_some() => thread,
            Initiator::Own | Initiator::Any => true,
            Initiator::Either => thread,
            Initiator::Other => !thread,
        };
        begun && (foreground || choice.all)
    }

    /// What lets an entry's occurrences through: the tags of who did it, and the states of lines that the counter selects.
    fn lets_through(&self, owner: usize, number: usize, choice: &Choice, entry: &Entry, moment: &Moment<'_>) -> Option<bool> {
        // What a device does belongs to no instruction. Whether a constraint of the owner keeps it out is not said.
        let thread = moment.thread.unwrap_or(owner);
        let tagged = self.threads[thread].filter().lets_through(entry, moment.told.as_ref())?;
        if thread != owner && self.is_halted(Some(thread)) {
            // A halted thread executes nothing that it could tell.
            return None;
        }
        if is_causal(choice.event) && thread != owner && !(tagged && self.threads[owner].filter().lets_through(entry, None) == Some(true)) {
            // It belongs to no thread: whose constraints decide is not said.
            return None;
        }
        let states = self.threads[owner].registers.states(number);
        let in_state = match states {
            _ if !choice.event.by_line_state => true,
            0xF => true,
            0 => false,
            states => match &moment.told {
                None if !tagged => false,
                told => told.as_ref()?.states.bits() & states != 0,
            },
        };
        Some(tagged && in_state)
    }

    /// What an entry adds to a counter, where nothing stops it.
    fn of_entry(&self, choice: &Choice, entry: &Entry, moment: &Moment<'_>) -> Amount {
        if let Some((_, amount)) = moment.injected {
            return Some(amount.into());
        }
        let told = |signal| Some(u128::from(of(moment.signals, signal)));
        match entry.drive {
            Drive::Signals => Some(entry.signals.iter().map(|signal| u128::from(of(moment.signals, *signal))).sum()),
            Drive::Internal(Internal::TaggedInstructions(_)) => told(Signal::InstructionsRetired),
            Drive::Internal(Internal::QualifiedCycles) => told(Signal::Cycles),
            Drive::Internal(Internal::DataAddressCapture) => moment.captures.data,
            Drive::Internal(Internal::InstructionAddressCapture) => moment.captures.instruction,
            Drive::Internal(Internal::TraceEntry) => moment.captures.trace,
            Drive::Internal(Internal::PrivilegeChange(_)) => Some(u128::from(moment.levels & choice.umask != 0)),
            _ => None,
        }
    }

    /// What a counter of thread `owner` adds in a moment, where nothing stops it and no threshold is set.
    fn amount(&self, owner: usize, number: usize, choice: &Choice, moment: &Moment<'_>) -> Amount {
        let mut entries = choice.entries.clone();
        if let Some((occurrence, amount)) = moment.injected {
            if amount == 0 || MONTECITO.first_select(occurrence.select) != choice.event.select {
                return Some(0);
            }
            entries = choice.reached_by(occurrence.umask)?;
        } else if moment.levels != 0 {
            // A change counts once for both its levels.
            entries.truncate(1);
        }
        let mut sum: Amount = Some(0);
        for entry in entries {
            if !self.belongs(owner, choice, entry, moment) {
                continue;
            }
            let own = self.of_entry(choice, entry, moment);
            let captured = matches!(
                entry.drive,
                Drive::Internal(
                    Internal::DataAddressCapture
                        | Internal::InstructionAddressCapture
                        | Internal::TraceEntry
                        | Internal::PrivilegeChange(_)
                )
            );
            // Captures were filtered when they were made.
            let passes = match moment.injected {
                None if captured => Some(true),
                _ if own == Some(0) => Some(true),
                // For such a counter alone no instruction need be reported.
                Some(_) if captured => self.lets_through(owner, number, choice, entry, &Moment { told: None, ..*moment }),
                _ => self.lets_through(owner, number, choice, entry, moment),
            };
            let own = match passes {
                Some(true) => own,
                Some(false) => Some(0),
                None => None,
            };
            sum = sum.zip(own).map(|(sum, own)| sum + own);
        }
        sum
    }

    /// Whether single cycles of what comes cannot be told apart.
    fn is_blurred(choice: &Choice, moment: &Moment<'_>) -> bool {
        let signals = choice.entries.iter().flat_map(|entry| entry.signals);
        signals.into_iter().any(|signal| signal.kind() != Kind::Event && of(moment.signals, *signal) != 0)
    }

    /// What a counter of thread `owner` adds in a moment.
    fn counted(&mut self, owner: usize, number: usize, moment: &Moment<'_>) -> Amount {
        let own = &self.threads[owner];
        let is_stopped = !own.admits(number) || number >= 10 && !own.context.foreground || own.counters.frozen() == Some(true);
        let index = number - 4;
        if is_stopped {
            let open = &mut self.threads[owner].open[index];
            *open = open.filter(|open| *open == 0);
            return Some(0);
        }
        let threshold = own.registers.threshold(number);
        let Some(choice) = choice(&own.registers, number) else { return Some(0) };
        if threshold != 0 && threshold >= choice.event.max_per_cycle {
            return Some(0);
        }
        let amount = self.amount(owner, number, &choice, moment);
        if threshold == 0 {
            return amount;
        }
        let amount = if Montecito::is_blurred(&choice, moment) { None } else { amount };
        let clock =
            if moment.thread == Some(owner) || choice.all && moment.thread.is_some() { of(moment.signals, Signal::Cycles) } else { 0 };
        let open = &mut self.threads[owner].open[index];
        *open = open.zip(amount).map(|(open, amount)| open + amount);
        let elsewhere = moment.thread != Some(owner) && !choice.all && of(moment.signals, Signal::Cycles) > 0;
        if elsewhere && *open != Some(0) && is_causal(choice.event) {
            // The owner is in the foreground, and so is the thread whose cycles are told, which cannot be: one of them runs.
            *open = None;
            return None;
        }
        if clock == 0 {
            return Some(0);
        }
        open.replace(0).map(|value| u128::from(value > u128::from(threshold)))
    }

    /// Everything counts what a moment brings, and overflows.
    fn settle(&mut self, moment: &Moment<'_>) {
        let mut entries = Vec::new();
        for owner in 0..self.threads.len() {
            let mut amounts = [Some(0); 12];
            for (amount, number) in amounts.iter_mut().zip(4..) {
                *amount = self.counted(owner, number, moment);
            }
            let own = &mut self.threads[owner];
            let asks = (4..16).filter(|number| own.registers.get(*number) & INTERRUPTS != 0).fold(0, |bits, number| bits | 1 << number);
            let added = own.counters.add(&amounts, asks);
            own.toggle(&added);
            match added.interrupt {
                Ok(None) => {}
                Ok(Some(counter)) => {
                    entries.push((owner, own.freeze()));
                    if let Some(asked) = &mut self.asked {
                        asked.push((owner, counter));
                    }
                }
                Err(()) => {
                    own.lose_sight();
                    self.asked = None;
                }
            }
        }
        entries.into_iter().for_each(|(thread, has_entry)| self.enter(thread, has_entry));
    }

    /// The buffer of a thread got, or may have got, an entry of a freeze, late or early. The manual does not say whether ETB_EVENT counts it.
    fn enter(&mut self, thread: usize, has_entry: bool) {
        if has_entry {
            self.settle(&Moment { captures: Captures { trace: None, ..Captures::NONE }, ..Moment::of(thread) });
        }
    }

    /// Whatever was known of the last instructions may have another meaning now.
    fn forget_instructions(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.last = None);
    }
}

impl Reference for Montecito {
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
        let has_entry = self.threads[thread].write(address, value)?;
        self.forget_instructions();
        if matches!(address, Address::Pmc(32..=36 | 38 | 41) | Address::Ibr(_) | Address::Dbr(_)) {
            // What constrains events changes within a cycle.
            self.threads.iter_mut().for_each(Thread::lose_open_cycle);
        }
        self.enter(thread, has_entry);
        Ok(())
    }

    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>> {
        self.threads[thread].read(address)
    }

    fn knows_faults_of(&mut self, _: usize, _: Address) -> bool {
        true
    }

    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], record: &Record) {
        let own = &mut self.threads[thread];
        let told = own.filter().look(record, &own.context);
        let captures = own.capture(record, &told, of(signals, Signal::Cycles));
        own.last = Some(told);
        self.settle(&Moment { signals, told: Some(told), captures, ..Moment::of(thread) });
    }

    fn devices(&mut self, signals: &[(Signal, u64)]) {
        self.settle(&Moment { thread: None, signals, ..Moment::of(0) });
    }

    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64) {
        let told = self.threads[thread].last;
        self.settle(&Moment { told, injected: Some((occurrence, amount)), ..Moment::of(thread) });
    }

    fn watch_pins(&mut self, thread: usize, pins: u32) {
        self.threads[thread].watch(pins);
    }

    fn pin_toggles(&mut self, thread: usize, pin: u32) -> Option<u64> {
        self.threads[thread].toggles(pin)
    }

    fn set_context(&mut self, thread: usize, context: Context) {
        let before = self.threads[thread].context;
        if before.privilege != context.privilege {
            // Counted in the state that is left (M21).
            self.settle(&Moment { levels: 1 << (before.privilege & 3) | 1 << (context.privilege & 3), ..Moment::of(thread) });
        }
        let has_entry = self.threads[thread].change(context);
        self.forget_instructions();
        self.enter(thread, has_entry);
        // In which of both states an entry would count is not known either.
        self.threads[thread].context = before;
        self.enter(thread, has_entry);
        self.threads[thread].context = context;
    }

    fn reset(&mut self, thread: usize, _: Reset) {
        self.threads[thread].reset();
        self.forget_instructions();
    }

    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        let unsure = self.threads.iter().any(|thread| thread.counters.frozen().is_none());
        ia64::take_sorted(&mut self.asked, unsure)
    }
}
