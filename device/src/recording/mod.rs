//! Recordings: what an embedder did with a machine, as the program of a litmus file.
//!
//! A machine that records keeps every access to registers, what was fed, every context, injection, record and request, in the order in which
//! they came, and what the guest saw: values, faults, interrupts, levels. [`Litmus::run`] then does the same to a new machine and stops where
//! it shows something else: a fault that somebody met in their emulator arrives as a file. (Feature `recording`.)
//!
//! ```
//! use vm_pmu::Signal;
//! use vm_pmu::topology::Builder;
//!
//! let machine = Builder::new("k8").unwrap().build(|_thread, _counter| {}).unwrap();
//! machine.start_recording(1_000).unwrap();
//! let cpu = machine.thread(0).unwrap();
//! cpu.x86().wrmsr(0xC001_0000, 0x0042_00C0).unwrap(); // PerfEvtSel0: retired instructions, OS, EN
//! cpu.retire(&[Signal::InstructionsRetired], 1);
//! assert_eq!(cpu.x86().rdpmc(0), Ok(1));
//! let recording = machine.stop_recording().unwrap();
//!
//! let text = recording.litmus.to_string();
//! assert!(text.contains("write PerfEvtSel0 0x4200c0\nfeed cycles=1 instructions_retired=1\nread rdpmc:0x0 = 0x1\n"), "{text}");
//! assert!(recording.litmus.run().is_ok());
//! ```
//!
//! Recording is for debugging: a recording allocates memory as it grows, and each call compares the totals of all signals. A machine that does
//! not record checks a flag in each call.
//!
//! If several host threads use a machine at once, the recording has their calls in the order in which they began. Their effects on each other
//! may have come in another order. A machine sees what a thread added to its totals only at the next call. If several threads have added
//! something by then, the recording has one thread after the other, and the one that calls last.

mod recorder;

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::any::Any;

use vm_pmu_arch::feed::{Records, Signal, SignalSet};

use crate::irq::{InterruptLine, Unconnected};
use crate::litmus::{Beginning, ContextField, Failure, Litmus, Run, Step, topmost};
use crate::snapshot::SnapshotError;
use crate::topology::{Machine, Thread};
use crate::untile::{Buses, Frequencies};
use recorder::Recorder;
use vm_pmu_arch::die::Die;

/// What a machine [recorded](crate::recording).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recording {
    /// The program. Its title and section may be changed.
    pub litmus: Litmus,
    /// How many calls it lacks, for which litmus files have no statement: events injected into a core's collection for a thread that it lacks.
    pub left_out: u64,
    /// It ends early: it became too long, or the machine was restored.
    pub is_cut: bool,
}

impl<L: InterruptLine> Machine<L> {
    /// Starts to record what is done with the machine, up to `most` statements: see [`recording`](crate::recording). An earlier recording that
    /// was not stopped is dropped. (Feature `recording`.)
    ///
    /// # Errors
    /// [`SnapshotError`], if what the machine remembers cannot be saved: the recording begins with it.
    pub fn start_recording(&self, most: usize) -> Result<(), SnapshotError> {
        drop(self.unseat());
        let (signals, records) = (self.supplied(), self.supplied_records());
        let beginning = Beginning {
            supplies: Some(signals).filter(|signals| ![SignalSet::ALL, self.part().vocabulary().signals()].contains(signals)),
            supplies_records: Some(records).filter(|records| *records != Records::ALL),
            is_recording: true,
            frequencies: self.untile().map(|boxes| boxes.frequencies()).filter(|frequencies| *frequencies != Frequencies::default()),
            die: self.untile().map(|boxes| boxes.die()).filter(|die| *die != Die::default()),
            buses: self.untile().map(|boxes| boxes.buses()).filter(|buses| *buses != Buses::default()),
            state: Vec::new(),
        };
        let mut litmus = Litmus {
            title: "A recording".into(),
            section: "what a guest and its embedder did".into(),
            part: self.part(),
            packages: self.packages(),
            threads: self.threads().checked_div(self.packages()).unwrap_or(1),
            shared_counters: self.shares_counters(),
            beginning,
            steps: Vec::new(),
        };
        let state = self.save()?;
        let is_new = litmus.builder().build(Unconnected).is_ok_and(|new| new.save().is_ok_and(|new| new == state));
        if !is_new {
            litmus.beginning.state = state;
        }
        let mut recorder = Recorder::new(litmus, most, self);
        let has_time_base = ContextField::from_word(self.part(), "time_base").is_some();
        for thread in (0..self.threads()).filter_map(|number| self.thread(number)).filter(|_| has_time_base) {
            // A time base is its ticks and an offset: a new machine has no ticks yet.
            let ticks = thread.totals().get(Signal::TimeBaseTicks);
            if ticks != 0 {
                let value = thread.context().time_base.wrapping_add(ticks);
                recorder.say(thread.number(), Step::Context([(ContextField::TimeBase, value)].into()));
            }
        }
        self.seat(Box::new(recorder));
        Ok(())
    }

    /// Whether the machine [records](Machine::start_recording). (Feature `recording`.)
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.is_watched()
    }

    /// Stops recording. Returns what was recorded, with the value of every register at the end, or `None` if the machine did not record.
    /// (Feature `recording`.)
    #[must_use]
    pub fn stop_recording(&self) -> Option<Recording> {
        // The PMUs count up to now for it, so it is recorded as well.
        let state = self.save();
        let witness: Box<dyn Any> = self.unseat()?;
        let mut recorder = *witness.downcast::<Recorder>().ok()?;
        recorder.end(self);
        if !recorder.is_cut() {
            let end = recorder.litmus().builder().build(Unconnected).ok().zip(state.ok());
            if let Some((end, state)) = end
                && end.load(&state).is_ok()
            {
                (0..end.threads()).filter_map(|number| end.thread(number)).for_each(|thread| read_all(thread, end.part(), &mut recorder));
            }
        }
        Some(recorder.finish())
    }
}

/// Reads every register of a thread from where all can be read.
fn read_all<L: InterruptLine>(thread: Thread<'_, L>, part: crate::Part, recorder: &mut Recorder) {
    let changes = topmost(part);
    let context = changes.iter().fold(thread.context(), |context, (field, value)| field.set(part, context, *value, 0));
    thread.set_context(context);
    recorder.say(thread.number(), Step::Context(changes.to_vec()));
    for register in thread.registers() {
        if let Ok(value) = thread.read(register.address) {
            recorder.say(thread.number(), Step::Read(register.address, Ok(value)));
        }
    }
}

impl Litmus {
    /// Runs the program on a machine that [records](crate::recording): what it shows is stated in the program that this returns, whether the
    /// program expected it or not. Statements about the nests of chips are left out, as no machine sees them. (Feature `recording`.)
    ///
    /// ```
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let text = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 5\nread PerfCtr0 = 0\n";
    /// let recording = text.parse::<Litmus>().unwrap().recorded().unwrap();
    /// assert!(recording.litmus.to_string().contains("read PerfCtr0 = 0x5\n"));
    /// ```
    ///
    /// # Errors
    /// The machine cannot be built or saved.
    pub fn recorded(&self) -> Result<Recording, Failure> {
        let mut run = Run::new(self)?;
        let refused = |error: &dyn core::fmt::Display| Failure { line: 0, message: error.to_string() };
        run.machine.start_recording(usize::MAX).map_err(|error| refused(&error))?;
        self.steps.iter().try_for_each(|(line, step)| perform(&mut run, *line, step)).map_err(|error| refused(&error))?;
        run.machine.stop_recording().ok_or_else(|| refused(&"the machine did not record"))
    }
}

/// Executes a statement on a machine that may record.
fn perform(run: &mut Run<'_>, line: usize, step: &Step) -> Result<(), SnapshotError> {
    match step {
        // The machine goes on itself: another one would not record.
        Step::Save => run.machine.save().map(drop)?,
        Step::Nest(_) => {}
        // What it expects does not matter.
        step => drop(run.execute(line, step)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Builder;

    #[test]
    fn a_recording_that_is_full_keeps_what_it_has() {
        let machine = Builder::new("k8").expect("a part").build(Unconnected).expect("a machine");
        machine.start_recording(2).expect("it is saved");
        let cpu = machine.thread(0).expect("a thread");
        cpu.x86().wrmsr(0xC001_0004, 7).expect("PerfCtr0");
        assert_eq!(cpu.x86().rdmsr(0xC001_0004), Ok(7));
        assert_eq!(cpu.x86().rdmsr(0xC001_0005), Ok(0));
        let recording = machine.stop_recording().expect("it records");
        assert!(recording.is_cut);
        assert_eq!((recording.litmus.steps.len(), recording.litmus.run()), (2, Ok(1)));
    }

    #[test]
    fn what_is_asked_of_a_package_that_is_not_there_is_left_out() {
        let machine = Builder::new("k8").expect("a part").build(Unconnected).expect("a machine");
        machine.start_recording(100).expect("it is saved");
        assert!(!machine.inject_package(7, vm_pmu_arch::model::Occurrence { select: 0xE0, umask: 1 }, 3));
        let recording = machine.stop_recording().expect("it records");
        assert!(recording.litmus.run().is_ok());
    }

    #[test]
    fn a_recording_has_the_die_and_the_buses_of_its_machine() {
        use vm_pmu_arch::access::Address;

        use crate::untile::{Agent, Buses, DeviceAccess, Message, Ring, Stop, UnitId};
        use vm_pmu_arch::die::{ClusterMode, Die, Tiles};

        let die = Die { tiles: Tiles::usual(34), cluster: ClusterMode::Hemisphere, ..Die::default() };
        let builder = Builder::new("knl").expect("a part").packages(34).die(die).buses(Buses { irp: 3, memory: 9 });
        let machine = builder.build(Unconnected).expect("a machine");
        machine.start_recording(1000).expect("it is saved");
        let boxes = machine.untile().expect("boxes");
        let stop = |name| Stop::of(UnitId::named(name).expect("a box")).expect("a stop");
        // VERT_RING_AD_IN_USE of CHA 3, and TRANSACTIONS_COUNT of the IRP.
        assert_eq!(boxes.write(Address::Msr(0xE01 + 3 * 12), 0x0040_0FA6), Ok(()));
        boxes.pci_write(3, 5, 6, 0xD8, 4, 0x0040_0116);
        boxes.carry(&Message { from: stop("cha0"), agent: Agent::Cores, to: stop("cha3"), ring: Ring::Ad });
        boxes.device_at(DeviceAccess::Read, 0x4_0000, 7, false);
        boxes.tick_all(100);
        assert_eq!((boxes.read(Address::Msr(0xE08 + 3 * 12)), boxes.pci_read(3, 5, 6, 0xA0, 4)), (Ok(1), 1));
        let recording = machine.stop_recording().expect("it records");
        let again: Litmus = recording.litmus.to_string().parse().expect("its own text");
        assert_eq!((again.beginning.die, recording.left_out, again.run().is_ok()), (Some(die), 0, true));
    }

    /// Has arbitrary programs recorded from their middle on, when totals, counters and time bases are no longer new.
    #[cfg(feature = "arbitrary")]
    fn second_halves_happen_again(part: &str) {
        use alloc::format;

        let part = crate::Part::named(part).expect("a part");
        let mut tried = 0;
        for seed in 0..200 {
            let bytes = crate::litmus::random_bytes(seed, 2_000);
            let Ok(program) = Litmus::arbitrary(part, &mut arbitrary::Unstructured::new(&bytes)) else { continue };
            let mut run = Run::new(&program).expect("a machine");
            let middle = program.steps.len() / 2;
            for (number, (line, step)) in program.steps.iter().enumerate() {
                if number == middle {
                    run.machine.start_recording(usize::MAX).expect("it is saved");
                }
                perform(&mut run, *line, step).expect("it is saved");
            }
            let Some(recording) = run.machine.stop_recording() else { continue };
            let text = recording.litmus.to_string();
            let again: Litmus = text.parse().expect("its own text");
            let outcome = again.run().map_err(|failure| format!("seed {seed}: {failure} of\n{text}"));
            assert!(outcome.is_ok(), "{outcome:?}");
            tried += 1;
        }
        assert!(tried > 100, "{tried} programs");
    }

    #[cfg(feature = "arbitrary")]
    #[test]
    fn second_halves_of_the_k8_happen_again() {
        second_halves_happen_again("k8");
    }

    #[cfg(feature = "arbitrary")]
    #[test]
    fn second_halves_of_knights_landing_happen_again() {
        second_halves_happen_again("knl");
    }

    #[cfg(feature = "arbitrary")]
    #[test]
    fn second_halves_of_power9_happen_again() {
        second_halves_happen_again("power9");
    }

    #[cfg(feature = "arbitrary")]
    #[test]
    fn second_halves_of_the_first_itanium_happen_again() {
        second_halves_happen_again("itanium");
    }

    #[cfg(feature = "arbitrary")]
    #[test]
    fn second_halves_of_montecito_happen_again() {
        second_halves_happen_again("montecito");
    }
}
