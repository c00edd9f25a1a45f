//! What a page is drawn from: what passes during a run, and the registers behind it, thinned as the run grows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use vm_pmu::arch::model::RegisterDescription;
use vm_pmu_board::report::Posted;
use vm_pmu_board::trace::{BoxCount, Sample, Sink};

use super::boxes::Boxes;
use super::moments::{Moments, Time};
use super::nests::Nests;
use crate::report::{Action, Trace};

/// The most moments of all CPUs.
pub const MOST_MOMENTS: usize = 8192;
/// The fewest that a CPU may have before they are thinned.
const FEWEST_MOMENTS: usize = 64;
/// The most intervals of one kind, and the most interrupts, of a CPU; beyond, they are thinned.
pub const MOST_INTERVALS: usize = 2000;
/// A run's first registers are taken at least every so many instructions.
const FIRST_EVERY: u64 = 10;

/// A stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When it began.
    pub from: Time,
    /// When it ended; none if the run ended before.
    pub to: Option<Time>,
}

/// An interrupt, from its request until it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// When it was asked for.
    pub asked: Time,
    /// The address of the instruction before which that was.
    pub address: u64,
    /// The counters that asked.
    pub counters: Vec<u32>,
    /// How often it was asked for again before it was taken.
    pub again: u64,
    /// When it was taken; none if it never was.
    pub taken: Option<Time>,
}

impl Interrupt {
    /// Instructions and cycles from the request until it was taken.
    #[must_use]
    pub fn latency(&self) -> Option<Time> {
        let taken = self.taken?;
        Some(Time {
            instruction: taken.instruction.saturating_sub(self.asked.instruction),
            cycle: taken.cycle.saturating_sub(self.asked.cycle),
        })
    }
}

/// Things that begin and end, one after the other. Of too many every second is left out, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thinned<T> {
    /// Those that are kept, at most [`MOST_INTERVALS`], and the one that has not ended.
    pub kept: Vec<T>,
    /// How many there were.
    pub all: u64,
    /// One of so many is kept.
    pub stride: u64,
    /// The one that has not ended.
    open: Option<T>,
}

impl<T> Default for Thinned<T> {
    fn default() -> Thinned<T> {
        Thinned { kept: Vec::new(), all: 0, stride: 1, open: None }
    }
}

impl<T> Thinned<T> {
    fn begin(&mut self, one: T) {
        self.all += 1;
        self.open = Some(one);
    }

    /// Ends the open one, if there is one.
    fn end(&mut self, end: impl FnOnce(&mut T)) {
        let Some(mut one) = self.open.take() else { return };
        end(&mut one);
        if (self.all - 1).is_multiple_of(self.stride) {
            self.kept.push(one);
        }
        if self.kept.len() > MOST_INTERVALS {
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride *= 2;
        }
    }

    fn finish(&mut self) {
        self.kept.extend(self.open.take());
    }
}

/// What passed on a CPU.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// Its registers.
    pub registers: Vec<&'static RegisterDescription>,
    /// Its moments.
    pub moments: Moments,
    /// When its PMU was frozen.
    pub freezes: Thinned<Interval>,
    /// Whether anything was ever told of a freeze: the part freezes as a whole.
    pub can_freeze: bool,
    /// Its interrupts.
    pub interrupts: Thinned<Interrupt>,
    /// The shortest latency of all, in instructions and in cycles.
    pub fastest: Option<Time>,
    /// The longest latency of all.
    pub slowest: Option<Time>,
    /// At which privilege levels it was, halted, or in the background.
    pub levels: BTreeMap<String, Thinned<Interval>>,
    /// The level that it is at.
    level: Option<String>,
    /// The end.
    pub end: Time,
    /// What passed, whose registers are not known yet.
    passed: Option<Trace>,
}

impl Cpu {
    fn tell(&mut self, entry: &Trace) {
        let time = Time::from(entry);
        self.end = time;
        match &entry.action {
            Action::Freeze { frozen, .. } => {
                self.can_freeze = true;
                self.freezes.end(|interval| interval.to = Some(time));
                if *frozen {
                    self.freezes.begin(Interval { from: time, to: None });
                }
            }
            Action::Interrupt { counters } => match &mut self.interrupts.open {
                Some(open) => {
                    open.again += 1;
                    let more: Vec<u32> = counters.iter().filter(|counter| !open.counters.contains(counter)).copied().collect();
                    open.counters.extend(more);
                }
                None => {
                    let (address, counters) = (entry.address, counters.clone());
                    self.interrupts.begin(Interrupt { asked: time, address, counters, again: 0, taken: None });
                }
            },
            Action::Taken => self.taken(time),
            Action::Context { privilege, halted, foreground, .. } => {
                let name = match (foreground, halted) {
                    (false, _) => "background".to_owned(),
                    (true, true) => "halted".to_owned(),
                    (true, false) => format!("level {privilege}"),
                };
                // Another address space at the same level is no other level.
                if self.level.as_ref() != Some(&name) {
                    if let Some(before) = self.level.replace(name.clone()).and_then(|before| self.levels.get_mut(&before)) {
                        before.end(|interval| interval.to = Some(time));
                    }
                    self.levels.entry(name).or_default().begin(Interval { from: time, to: None });
                }
            }
            _ => {}
        }
        self.passed = Some(entry.clone());
    }

    fn taken(&mut self, time: Time) {
        let latency = self.interrupts.open.as_ref().and_then(|open| Interrupt { taken: Some(time), ..open.clone() }.latency());
        if let Some(latency) = latency {
            let both = |one: Option<Time>, choose: fn(u64, u64) -> u64| {
                let one = one.unwrap_or(latency);
                Some(Time { instruction: choose(one.instruction, latency.instruction), cycle: choose(one.cycle, latency.cycle) })
            };
            self.fastest = both(self.fastest, u64::min);
            self.slowest = both(self.slowest, u64::max);
        }
        self.interrupts.end(|interrupt| interrupt.taken = Some(time));
    }

    fn sample(&mut self, sample: &Sample<'_>, most: usize) {
        let time = Time { instruction: sample.instruction, cycle: sample.cycle };
        self.end = time;
        let values = sample.values.iter().map(|one| one.value).enumerate();
        self.moments.add(time, self.passed.take(), values, most);
    }

    /// The run is over.
    fn finish(&mut self) {
        self.moments.finish();
        self.freezes.finish();
        self.interrupts.finish();
        self.levels.values_mut().for_each(Thinned::finish);
    }
}

/// Follows a run for its page. Its memory does not grow with the run.
#[derive(Debug, Default)]
pub struct Watch {
    cpus: Mutex<Vec<Cpu>>,
    boxes: Mutex<Boxes>,
    nests: Mutex<Nests>,
}

impl Watch {
    /// What passed, a CPU after the other, what boxes counted, and what nests posted.
    #[must_use]
    pub fn finish(&self) -> (Vec<Cpu>, Boxes, Nests) {
        let mut cpus = std::mem::take(&mut *lock(&self.cpus));
        cpus.iter_mut().for_each(Cpu::finish);
        let mut boxes = std::mem::take(&mut *lock(&self.boxes));
        boxes.finish();
        let mut nests = std::mem::take(&mut *lock(&self.nests));
        nests.finish();
        (cpus, boxes, nests)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most moments of each of so many CPUs.
fn most(cpus: usize) -> usize {
    (MOST_MOMENTS / cpus.max(1)).max(FEWEST_MOMENTS)
}

impl Sink for Watch {
    fn begin(&self, thread: usize, registers: &[&'static RegisterDescription]) {
        let mut cpus = lock(&self.cpus);
        if cpus.len() <= thread {
            cpus.resize_with(thread + 1, Cpu::default);
        }
        cpus[thread].registers = registers.to_vec();
    }

    fn tell(&self, entry: &Trace) {
        if let Some(cpu) = lock(&self.cpus).get_mut(entry.thread) {
            cpu.tell(entry);
        }
    }

    fn sample(&self, sample: &Sample<'_>) {
        let mut cpus = lock(&self.cpus);
        let most = most(cpus.len());
        if let Some(cpu) = cpus.get_mut(sample.thread) {
            cpu.sample(sample, most);
        }
    }

    fn every(&self) -> u64 {
        lock(&self.cpus).iter().map(|cpu| cpu.moments.stride.max(1)).max().unwrap_or(1).saturating_mul(FIRST_EVERY)
    }

    fn boxes(&self, cycle: u64, counts: &[BoxCount]) {
        lock(&self.boxes).sample(cycle, counts);
    }

    fn posted(&self, cycle: u64, posted: &[Posted]) {
        lock(&self.nests).sample(cycle, posted);
    }

    fn every_of_boxes(&self) -> Option<u64> {
        Some(lock(&self.boxes).every())
    }

    fn every_of_nests(&self) -> Option<u64> {
        Some(lock(&self.nests).every())
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::Part;
    use vm_pmu_board::trace::Value;

    use super::super::moments::Moment;
    use super::*;
    use crate::dialect::select::register;

    /// A CPU of two registers, whose first holds the number of the instruction.
    fn watched(instructions: u64) -> Cpu {
        let part = Part::named("k8").unwrap();
        let registers = ["PerfCtr0", "PerfCtr1"].map(|name| register(part, name).unwrap());
        let watch = Watch::default();
        watch.begin(0, &registers);
        for instruction in 0..instructions {
            let values = [Value { register: registers[0], value: instruction }, Value { register: registers[1], value: 7 }];
            watch.sample(&Sample { thread: 0, instruction, cycle: 2 * instruction, values: &values });
        }
        watch.finish().0.remove(0)
    }

    /// What the first register holds at each moment.
    fn values(cpu: &Cpu) -> Vec<(u64, u64)> {
        let mut value = 0;
        let at = |moment: &Moment| {
            value = *moment.changes.get(&0).unwrap_or(&value);
            (moment.time.instruction, value)
        };
        cpu.moments.kept.iter().map(at).collect()
    }

    #[test]
    fn a_short_run_keeps_every_moment() {
        let cpu = watched(100);
        assert_eq!((cpu.moments.kept.len(), cpu.moments.all, cpu.moments.stride), (100, 100, 1));
        assert_eq!(cpu.moments.kept[0].changes, BTreeMap::from([(0, 0), (1, 7)]));
        assert_eq!(cpu.moments.kept[1].changes, BTreeMap::from([(0, 1)]));
    }

    #[test]
    fn a_thinned_run_has_the_right_values_at_the_moments_that_are_kept() {
        let cpu = watched(3 * MOST_MOMENTS as u64);
        assert_eq!(cpu.moments.stride, 4);
        assert!(cpu.moments.kept.len() <= MOST_MOMENTS + 1, "{}", cpu.moments.kept.len());
        for (instruction, value) in values(&cpu) {
            assert_eq!(value, instruction);
        }
        assert_eq!(values(&cpu).last(), Some(&(3 * MOST_MOMENTS as u64 - 1, 3 * MOST_MOMENTS as u64 - 1)));
    }

    fn told(entries: impl IntoIterator<Item = (u64, Action)>) -> Cpu {
        let mut cpu = Cpu::default();
        for (instruction, action) in entries {
            cpu.tell(&Trace { thread: 0, instruction, cycle: 3 * instruction, address: 0x40, action });
        }
        cpu.finish();
        cpu
    }

    #[test]
    fn an_interrupt_that_is_asked_for_again_is_one() {
        let ask = |counter| Action::Interrupt { counters: vec![counter] };
        let cpu = told([(10, ask(0)), (12, ask(1)), (15, Action::Taken), (20, ask(0))]);
        assert_eq!(cpu.interrupts.all, 2);
        let [first, second] = cpu.interrupts.kept.as_slice() else { panic!("{:?}", cpu.interrupts) };
        assert_eq!((first.counters.as_slice(), first.again), ([0, 1].as_slice(), 1));
        assert_eq!(first.latency(), Some(Time { instruction: 5, cycle: 15 }));
        assert_eq!(second.latency(), None);
        assert_eq!((cpu.fastest, cpu.slowest), (first.latency(), first.latency()));
    }

    #[test]
    fn of_too_many_intervals_one_of_some_is_kept_and_all_are_counted() {
        let freeze = |instruction| (instruction, Action::Freeze { frozen: instruction % 2 == 0, written: true });
        let cpu = told((0..6000).map(freeze));
        assert_eq!((cpu.freezes.all, cpu.freezes.stride, cpu.freezes.kept.len()), (3000, 2, 1500));
        // The third freeze, of instructions 4 to 5, is the second that is kept.
        assert_eq!(cpu.freezes.kept[1].from.instruction, 4);
        assert_eq!(cpu.freezes.kept[1].to, Some(Time { instruction: 5, cycle: 15 }));
    }

    #[test]
    fn a_level_lasts_until_another_one_whatever_the_address_space() {
        let level = |privilege, process| Action::Context { privilege, halted: false, foreground: true, process: Some(process) };
        let cpu = told([(0, level(0, 1)), (4, level(3, 1)), (6, level(3, 2)), (9, level(0, 2))]);
        let of = |name: &str| {
            cpu.levels[name].kept.iter().map(|one| (one.from.instruction, one.to.map(|to| to.instruction))).collect::<Vec<_>>()
        };
        assert_eq!(of("level 3"), [(4, Some(9))]);
        assert_eq!(of("level 0"), [(0, Some(4)), (9, None)]);
    }
}
