//! Samples of the counters of boxes, for who follows a run.
//!
//! A box is looked through where it is written, so only what the guest has programmed is read afterwards: the counters of one box at its
//! writes, and all that are enabled every now and then. While none is enabled, a step costs two comparisons.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use vm_pmu::arch::knl::untile::{CounterControl, FixedControl, UboxFixedControl};
use vm_pmu::topology::Untile;
use vm_pmu::untile::{Kind, Place, UNITS, UnitId, UnitRegister};

use crate::Lines;
use crate::trace::{BoxCount, Listener};

/// Nothing is due.
const NEVER: u64 = u64::MAX;

/// For so many cycles the other half of a counter is expected to be written.
const BETWEEN_HALVES: u64 = 100;

/// A register of a box that is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) place: Place,
    /// Of a counter in two doublewords, whether it is the upper one.
    pub(super) half: Option<bool>,
}

impl Written {
    /// A register that is written as a whole.
    pub(super) fn whole(place: Place) -> Written {
        Written { place, half: None }
    }
}

/// A counter that the guest has programmed.
#[derive(Clone, Copy, Debug)]
struct Programmed {
    count: BoxCount,
    /// One of its halves, the upper one if true, was written at this cycle, and the other one was not yet. Until then it would seem to hold
    /// something far away from everything that it is to hold.
    half: Option<(bool, u64)>,
}

impl Programmed {
    fn read(&mut self, untile: &Untile<'_, Lines>, now: u64) -> Option<BoxCount> {
        let count = &mut self.count;
        count.value = untile.look(count.unit, count.counter.map_or(UnitRegister::Fixed, UnitRegister::Counter));
        self.half.is_none_or(|(_, since)| now.saturating_sub(since) > BETWEEN_HALVES).then_some(*count)
    }

    /// A half of it, or all of it, was written.
    fn write(&mut self, half: Option<bool>, now: u64) {
        self.half = half.filter(|half| self.half.is_none_or(|(before, _)| before == *half)).map(|half| (half, now));
    }
}

/// What the boxes of a machine are sampled by.
#[derive(Debug)]
pub(super) struct BoxSamples {
    listener: Listener,
    /// The furthest cycle of any CPU.
    now: AtomicU64,
    /// When all that are enabled are due.
    due: AtomicU64,
    /// Of each box the counters that the guest has programmed at some time.
    programmed: Mutex<Vec<Vec<Programmed>>>,
}

impl BoxSamples {
    /// For `listener`, if it asks for boxes.
    pub(super) fn new(listener: &Listener, untile: &Untile<'_, Lines>) -> Option<BoxSamples> {
        listener.0.every_of_boxes()?;
        let samples = BoxSamples {
            listener: listener.clone(),
            now: AtomicU64::new(0),
            due: AtomicU64::new(NEVER),
            programmed: Mutex::new(vec![Vec::new(); UNITS]),
        };
        samples.scan(untile);
        Some(samples)
    }

    /// Looks through every box, whoever has written it.
    pub(super) fn scan(&self, untile: &Untile<'_, Lines>) {
        let mut programmed = self.lock();
        for (unit, counts) in UnitId::all().zip(programmed.iter_mut()) {
            self.look_through(untile, unit, counts);
        }
    }

    /// What is about to be written: what its box has counted so far.
    pub(super) fn before_write(&self, untile: &Untile<'_, Lines>, written: Written) {
        if let Place::Unit(unit, _) = written.place
            && let Some(counts) = self.lock().get_mut(unit.index())
        {
            self.tell(untile, counts);
        }
    }

    /// What was written.
    pub(super) fn after_write(&self, untile: &Untile<'_, Lines>, written: Written) {
        let Place::Unit(unit, register) = written.place else {
            // What stops or starts all boxes.
            return self.due.store(0, Ordering::Release);
        };
        if let Some(counts) = self.lock().get_mut(unit.index()) {
            self.look_through(untile, unit, counts);
            let counter = match register {
                UnitRegister::Counter(number) => Some(Some(number)),
                UnitRegister::Fixed => Some(None),
                _ => None,
            };
            if let Some(one) = counts.iter_mut().find(|one| Some(one.count.counter) == counter) {
                one.write(written.half, self.now.load(Ordering::Relaxed));
            }
            self.tell(untile, counts);
        }
    }

    /// A CPU has come to `cycle`.
    #[inline]
    pub(super) fn step(&self, untile: &Untile<'_, Lines>, cycle: u64) {
        if self.now.load(Ordering::Relaxed) < cycle {
            self.now.fetch_max(cycle, Ordering::Relaxed);
        }
        if self.due.load(Ordering::Acquire) <= cycle {
            self.sample(untile);
        }
    }

    /// Samples all that are enabled, and says when it is to be done again.
    pub(super) fn sample(&self, untile: &Untile<'_, Lines>) {
        let mut programmed = self.lock();
        let now = self.now.load(Ordering::Relaxed);
        let mut enabled: Vec<&mut Programmed> = programmed.iter_mut().flatten().filter(|one| one.count.control.is_some()).collect();
        let every = self.listener.0.every_of_boxes().filter(|_| !enabled.is_empty());
        let counts: Vec<BoxCount> = enabled.iter_mut().filter_map(|one| one.read(untile, now)).collect();
        self.due.store(every.map_or(NEVER, |every| now.saturating_add(every)), Ordering::Release);
        if !counts.is_empty() {
            self.listener.0.boxes(now, &counts);
        }
    }

    /// Reads what the counters of a box hold, and tells of it.
    fn tell(&self, untile: &Untile<'_, Lines>, counts: &mut [Programmed]) {
        let now = self.now.load(Ordering::Relaxed);
        let counts: Vec<BoxCount> = counts.iter_mut().filter_map(|one| one.read(untile, now)).collect();
        if !counts.is_empty() {
            self.listener.0.boxes(now, &counts);
        }
    }

    /// Finds out which counters of a box are enabled; `counts` are those that have ever been.
    fn look_through(&self, untile: &Untile<'_, Lines>, unit: UnitId, counts: &mut Vec<Programmed>) {
        let fixed = unit.kind().has_fixed().then_some(None);
        for counter in (0..unit.kind().counters()).map(|number| Some(number as u8)).chain(fixed) {
            let control = counter.map_or(UnitRegister::FixedControl, UnitRegister::CounterControl);
            let control = Some(untile.look(unit, control)).filter(|control| enables(unit.kind(), counter, *control));
            match counts.iter_mut().find(|one| one.count.counter == counter) {
                Some(one) => one.count.control = control,
                None if control.is_some() => {
                    counts.push(Programmed { count: BoxCount { unit, counter, control, value: 0 }, half: None });
                }
                None => {}
            }
        }
        if counts.iter().any(|one| one.count.control.is_some()) && self.due.load(Ordering::Acquire) == NEVER {
            self.due.store(0, Ordering::Release);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<Programmed>>> {
        self.programmed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a control of a counter enables it.
fn enables(kind: Kind, counter: Option<u8>, control: u64) -> bool {
    match (counter, kind) {
        // The bit is the same in the controls of the UBox and of the power control unit.
        (Some(_), _) => CounterControl::written(control).en(),
        (None, Kind::Ubox) => UboxFixedControl::written(control).en(),
        (None, _) => FixedControl::written(control).en(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vm_pmu::Part;
    use vm_pmu::arch::model::RegisterDescription;
    use vm_pmu::topology::{Builder, Machine};
    use vm_pmu::untile::Domain;

    use super::*;
    use crate::report::Trace;
    use crate::trace::{Sample, Sink};

    /// Keeps everything of boxes.
    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<(u64, Vec<BoxCount>)>>);

    impl Sink for Kept {
        fn begin(&self, _thread: usize, _registers: &[&'static RegisterDescription]) {}
        fn tell(&self, _entry: &Trace) {}
        fn sample(&self, _sample: &Sample<'_>) {}
        fn every(&self) -> u64 {
            u64::MAX
        }
        fn boxes(&self, cycle: u64, counts: &[BoxCount]) {
            self.0.lock().unwrap().push((cycle, counts.to_vec()));
        }
        fn every_of_boxes(&self) -> Option<u64> {
            Some(100)
        }
    }

    impl Kept {
        /// Cycles and values of what has been told since the last call.
        fn take(&self) -> Vec<(u64, Vec<u64>)> {
            let told = std::mem::take(&mut *self.0.lock().unwrap());
            told.into_iter().map(|(cycle, counts)| (cycle, counts.iter().map(|count| count.value).collect())).collect()
        }
    }

    fn machine() -> Machine<Lines> {
        let part = Part::named("knl").expect("a part");
        Builder::of(part).packages(1).threads(8).build(Lines::new(8)).expect("a machine")
    }

    /// Control and value of counter `number` of CHA 2.
    fn cha(number: u8) -> [UnitRegister; 2] {
        [UnitRegister::CounterControl(number), UnitRegister::Counter(number)]
    }

    /// Writes a register of CHA 2 as an instruction does.
    fn write(samples: &BoxSamples, machine: &Machine<Lines>, register: UnitRegister, value: u64) {
        let (untile, unit) = (machine.untile().unwrap(), UnitId::new(Kind::Cha, 2).unwrap());
        let msr = vm_pmu::untile::address_of(unit, register).unwrap();
        let written = Written::whole(Place::Unit(unit, register));
        samples.before_write(&untile, written);
        machine.thread(0).unwrap().x86().wrmsr(msr, value).unwrap();
        samples.after_write(&untile, written);
    }

    #[test]
    fn a_box_is_told_of_before_and_behind_a_write_to_it() {
        let (machine, kept) = (machine(), Arc::new(Kept::default()));
        let untile = machine.untile().unwrap();
        let samples = BoxSamples::new(&Listener(Arc::clone(&kept) as Arc<_>), &untile).unwrap();
        let [control, counter] = cha(1);
        // EN, and event 0: the untile's clock.
        write(&samples, &machine, control, 1 << 22);
        assert_eq!(kept.take(), [(0, vec![0])]);
        untile.tick(Domain::Uclk, 30);
        samples.step(&untile, 7);
        assert_eq!(kept.take(), [(7, vec![30])]);
        untile.tick(Domain::Uclk, 12);
        write(&samples, &machine, counter, 5);
        assert_eq!(kept.take(), [(7, vec![42]), (7, vec![5])]);
    }

    #[test]
    fn what_is_enabled_is_told_of_as_often_as_the_listener_asks_and_nothing_afterwards() {
        let (machine, kept) = (machine(), Arc::new(Kept::default()));
        let untile = machine.untile().unwrap();
        let samples = BoxSamples::new(&Listener(Arc::clone(&kept) as Arc<_>), &untile).unwrap();
        (0..500).for_each(|cycle| samples.step(&untile, cycle));
        assert_eq!(kept.take(), [], "nothing is enabled");
        write(&samples, &machine, cha(0)[0], 1 << 22);
        kept.take();
        (500..800).for_each(|cycle| samples.step(&untile, cycle));
        assert_eq!(kept.take().iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>(), [500, 600, 700]);
        write(&samples, &machine, cha(0)[0], 0);
        kept.take();
        (800..2000).for_each(|cycle| samples.step(&untile, cycle));
        assert_eq!(kept.take(), []);
    }

    #[test]
    fn a_counter_of_which_one_half_is_written_waits_for_the_other() {
        let (machine, kept) = (machine(), Arc::new(Kept::default()));
        let untile = machine.untile().unwrap();
        let irp = UnitId::new(Kind::Irp, 0).unwrap();
        // EN of counter 0 of the IRP, and its halves.
        untile.pci_write(0, 5, 6, 0xD8, 4, 1 << 22);
        let samples = BoxSamples::new(&Listener(Arc::clone(&kept) as Arc<_>), &untile).unwrap();
        let write = |upper: bool, value: u32| {
            let written = Written { place: Place::Unit(irp, UnitRegister::Counter(0)), half: Some(upper) };
            samples.before_write(&untile, written);
            untile.pci_write(0, 5, 6, if upper { 0xA4 } else { 0xA0 }, 4, value);
            samples.after_write(&untile, written);
        };
        samples.step(&untile, 10);
        kept.take();
        write(true, 0xFFFF);
        samples.step(&untile, 110);
        write(false, 0xFFFF_FF9C);
        assert_eq!(kept.take(), [(10, vec![0]), (110, vec![0xFFFF_FFFF_FF9C])]);
        // The other half is not written any more.
        write(false, 0);
        samples.step(&untile, 211);
        assert_eq!(kept.take(), [(110, vec![0xFFFF_FFFF_FF9C]), (211, vec![0xFFFF_0000_0000])]);
    }

    #[test]
    fn what_was_programmed_before_is_found() {
        let (machine, kept) = (machine(), Arc::new(Kept::default()));
        // EN of the fixed counter of channel 3's box is bit 0.
        machine.untile().unwrap().pci_write(0xFF, 9, 2, 0xB44, 4, 1);
        let untile = machine.untile().unwrap();
        let samples = BoxSamples::new(&Listener(Arc::clone(&kept) as Arc<_>), &untile).unwrap();
        samples.step(&untile, 1);
        let told = kept.0.lock().unwrap().clone();
        let channel = UnitId::new(Kind::McDclk, 3).unwrap();
        assert_eq!(told, [(1, vec![BoxCount { unit: channel, counter: None, control: Some(1), value: 0 }])]);
    }
}
