//! The first Itanium's performance monitor, written from the fragment of its reference manual (6.2.4 to 6.2.7), the Itanium Architecture
//! Software Developer's Manual, volume 2, section 7.2, and where they are silent from `docs/notes/itanium.md` and the decisions M43 to M56.
//!
//! `docs/notes/reference-itanium.md` lists what the reference does not know.

mod addresses;
mod bits;
mod tags;
mod thread;
mod trace;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::event::{Drive, Entry, Internal, UnitMask};
use vm_pmu_arch::feed::{Context, Kind, Record, Signal};
use vm_pmu_arch::model::{Occurrence, Reset};

use crate::Reference;
use crate::ia64::{self, Amount, of};
use tags::{Last, Tags};
use thread::{Captures, Thread};

/// One first Itanium, or several that have nothing in common.
pub struct Itanium {
    threads: Vec<Thread>,
    /// Interrupts since they were last taken; `None` where they are not known.
    asked: Option<Vec<(usize, u32)>>,
}

/// What captures or a change of level make is filtered when it is made.
const fn is_captured(drive: Drive) -> bool {
    matches!(
        drive,
        Drive::Internal(
            Internal::DataAddressCapture | Internal::InstructionAddressCapture | Internal::TraceEntry | Internal::PrivilegeChange(_)
        )
    )
}

/// What an entry adds at an instruction, where nothing stops it.
fn of_entry(own: &Thread, entry: &Entry, signals: &[(Signal, u64)], captures: &Captures) -> Amount {
    match entry.drive {
        // The clock stands still; what else is told is counted (docs/notes/montecito.md, R11).
        Drive::Signals if own.context.halted && entry.signals.contains(&Signal::Cycles) => Some(0),
        Drive::Signals => Some(entry.signals.iter().map(|signal| u128::from(of(signals, *signal))).sum()),
        Drive::Internal(Internal::TaggedInstructions(_)) => Some(u128::from(of(signals, Signal::InstructionsRetired))),
        Drive::Internal(Internal::PrivilegeChange(_)) => Some(0),
        Drive::Internal(Internal::DataAddressCapture) => captures.data,
        Drive::Internal(Internal::InstructionAddressCapture) => captures.instruction,
        Drive::Internal(Internal::TraceEntry) => captures.branches,
        _ => None,
    }
}

/// What counter `number` is told at an instruction, where nothing stops it.
fn told(own: &Thread, entries: &[&Entry], signals: &[(Signal, u64)], tags: &Tags, captures: &Captures) -> Amount {
    let mut sum: Amount = Some(0);
    for entry in entries {
        let told = of_entry(own, entry, signals, captures);
        let passes = told == Some(0) || is_captured(entry.drive) || own.filter().lets_through(entry, Some(tags)) != Some(false);
        sum = sum.zip(if passes { told } else { Some(0) }).map(|(sum, told)| sum + told);
    }
    sum
}

/// Whether single cycles of what comes cannot be told apart.
fn is_blurred(entries: &[&Entry], signals: &[(Signal, u64)]) -> bool {
    let own = entries.iter().flat_map(|entry| entry.signals);
    own.into_iter().any(|signal| signal.kind() != Kind::Event && of(signals, *signal) != 0)
}

/// What an injection tells counter `number`, where nothing stops it.
fn injected(own: &Thread, number: usize, event: &Entry, entries: &[&Entry], occurrence: Occurrence, amount: u64) -> Amount {
    let configuration = own.pmc[number];
    if u64::from(occurrence.select) != configuration >> 8 & 0x7F || amount == 0 {
        return Some(0);
    }
    // The clock stands still, whoever says that it ticks.
    if own.context.halted && entries.iter().any(|entry| entry.signals.contains(&Signal::Cycles)) {
        return Some(0);
    }
    let programmed = (configuration >> 16 & 0xF) as u32;
    let told = match event.shape {
        UnitMask::None => Some(u128::from(amount)),
        _ if entries.is_empty() => Some(0),
        UnitMask::Ordinal if occurrence.umask != programmed => Some(0),
        UnitMask::Ordinal => Some(u128::from(amount)),
        _ => None,
    };
    // For a counter of captures no instruction need be reported.
    let tags = own.last.tags().filter(|_| !entries.iter().any(|entry| is_captured(entry.drive)));
    match entries.iter().try_fold(false, |any, entry| Some(any | own.filter().lets_through(entry, tags.as_ref())?)) {
        _ if told == Some(0) => told,
        Some(true) => told,
        Some(false) => Some(0),
        None => None,
    }
}

impl Itanium {
    /// So many processors, as after power-on.
    #[must_use]
    pub fn new(threads: usize) -> Itanium {
        Itanium { threads: (0..threads).map(|_| Thread::new()).collect(), asked: Some(Vec::new()) }
    }

    /// The counters of a thread grow.
    fn add(&mut self, thread: usize, amounts: [Amount; 4]) {
        match self.threads[thread].add(amounts) {
            Ok(None) => {}
            Ok(Some(counter)) => self.ask(thread, counter),
            Err(()) => self.asked = None,
        }
    }

    fn ask(&mut self, thread: usize, counter: u32) {
        if let Some(asked) = &mut self.asked {
            asked.push((thread, counter));
        }
    }
}

impl Reference for Itanium {
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
        self.threads[thread].last.change();
        if let Some(counter) = self.threads[thread].write(address, value)? {
            self.ask(thread, counter);
        }
        Ok(())
    }

    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>> {
        self.threads[thread].read(address)
    }

    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], record: &Record) {
        let own = &mut self.threads[thread];
        let tags = own.filter().look(record, &own.context);
        let cycles = of(signals, Signal::Cycles);
        let captures = own.capture(record, &tags, cycles);
        own.last = Last::Told(tags);
        let amounts = [4, 5, 6, 7].map(|number| {
            let Some((event, entries)) = own.chosen(number) else { return Some(0) };
            let told = told(own, &entries, signals, &tags, &captures);
            own.counted(number, event, told, is_blurred(&entries, signals), cycles)
        });
        self.add(thread, amounts);
    }

    /// A processor is alone in its package; no event of the part counts what devices do.
    fn devices(&mut self, _: &[(Signal, u64)]) {}

    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64) {
        let own = &mut self.threads[thread];
        let amounts = [4, 5, 6, 7].map(|number| {
            let Some((event, entries)) = own.chosen(number) else { return Some(0) };
            let told = injected(own, number, event, &entries, occurrence, amount);
            own.counted(number, event, told, false, 0)
        });
        self.add(thread, amounts);
    }

    fn set_context(&mut self, thread: usize, context: Context) {
        let own = &mut self.threads[thread];
        if own.context.privilege != context.privilege {
            // A change is counted in the state that it leaves (docs/notes/itanium.md 2.1).
            let amounts = [4, 5, 6, 7].map(|number| {
                let changes = |entry: &&Entry| matches!(entry.drive, Drive::Internal(Internal::PrivilegeChange(_)));
                let chosen = own.chosen(number).filter(|(_, entries)| entries.iter().any(changes));
                chosen.map_or(Some(0), |(event, _)| own.counted(number, event, Some(1), false, 0))
            });
            self.add(thread, amounts);
        }
        if self.threads[thread].context != context {
            self.threads[thread].last.change();
            self.threads[thread].lose_open_cycle();
        }
        self.threads[thread].context = context;
    }

    fn reset(&mut self, thread: usize, _: Reset) {
        self.threads[thread] = Thread::new();
    }

    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        let unsure = self.threads.iter().any(|thread| thread.counters.frozen().is_none());
        ia64::take_sorted(&mut self.asked, unsure)
    }
}
