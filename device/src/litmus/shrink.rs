//! Smaller programs that still show the same.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use vm_pmu_arch::feed::{Record, Sample, Signal};

use super::{CollectionStep, Litmus, Step, UntileStep};

/// How often a smaller program may be tried.
const TRIES: usize = 20_000;

impl Litmus {
    /// A smaller program for which `shows` still holds: without the statements that it does not need, with fewer repetitions and signals, and
    /// with simpler numbers. Statements keep the lines that they have. If `shows` does not hold for the program, it is returned as it is.
    ///
    /// ```
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let header = "title: t\npmu: k8\nsection: s\n";
    /// let text = format!("{header}write PerfCtr0 5\nwrite PerfCtr1 0xff\nsave\nread PerfCtr1 = 0\n");
    /// let litmus: Litmus = text.parse().unwrap();
    /// let small = litmus.shrink(|smaller| smaller.run().is_err());
    /// assert_eq!(small.to_string(), format!("{header}\nwrite PerfCtr1 0x1\nread PerfCtr1 = 0x0\n"));
    /// ```
    #[must_use]
    pub fn shrink(&self, mut shows: impl FnMut(&Litmus) -> bool) -> Litmus {
        let mut smallest = self.clone();
        let mut left = TRIES;
        let mut shows = |smaller: &Litmus| {
            left = left.saturating_sub(1);
            left != 0 && smaller.builder().check().is_ok() && shows(smaller)
        };
        if !shows(self) {
            return smallest;
        }
        loop {
            let before = smallest.clone();
            remove_statements(&mut smallest, &mut shows);
            simplify_statements(&mut smallest, &mut shows);
            simplify_machine(&mut smallest, &mut shows);
            if smallest == before {
                return smallest;
            }
        }
    }
}

/// Leaves out stretches of statements, long ones first.
fn remove_statements(smallest: &mut Litmus, shows: &mut impl FnMut(&Litmus) -> bool) {
    let mut length = smallest.steps.len().div_ceil(2);
    while length != 0 {
        let mut end = smallest.steps.len();
        while end != 0 {
            let from = end.saturating_sub(length);
            let mut smaller = smallest.clone();
            smaller.steps.drain(from..end);
            if !smaller.steps.is_empty() && shows(&smaller) {
                *smallest = smaller;
            }
            end = from;
        }
        length /= 2;
    }
}

fn simplify_statements(smallest: &mut Litmus, shows: &mut impl FnMut(&Litmus) -> bool) {
    // From the end: how often something is repeated decides which bits of an earlier number are needed.
    for place in (0..smallest.steps.len()).rev() {
        // Each simplification can be possible again after another.
        let mut tried = 0;
        while let Some(simpler) = smallest.steps.get(place).and_then(|(_, step)| simpler(step).into_iter().nth(tried)) {
            let mut smaller = smallest.clone();
            if let Some((_, step)) = smaller.steps.get_mut(place) {
                *step = simpler;
            }
            if shows(&smaller) {
                *smallest = smaller;
                tried = 0;
            } else {
                tried += 1;
            }
        }
    }
}

fn simplify_machine(smallest: &mut Litmus, shows: &mut impl FnMut(&Litmus) -> bool) {
    let machines = [(1, 1), (1, smallest.threads), (smallest.packages, 1)];
    for (packages, threads) in machines {
        if (packages, threads) != (smallest.packages, smallest.threads) {
            let smaller = Litmus { packages, threads, ..smallest.clone() };
            if shows(&smaller) {
                *smallest = smaller;
            }
        }
    }
    if smallest.shared_counters {
        let smaller = Litmus { shared_counters: false, ..smallest.clone() };
        if shows(&smaller) {
            *smallest = smaller;
        }
    }
}

/// Statements that are simpler than `step`, the simplest first.
fn simpler(step: &Step) -> Vec<Step> {
    match step {
        Step::Write(address, value, fault) => numbers(*value).map(|value| Step::Write(*address, value, *fault)).collect(),
        Step::Feed(times, signals) => {
            let fewer = numbers(*times).filter(|times| *times != 0).map(|times| Step::Feed(times, signals.clone()));
            let less = amounts(signals).into_iter().filter(|signals| !signals.is_empty()).map(|signals| Step::Feed(*times, signals));
            fewer.chain(less).collect()
        }
        Step::Devices(signals) => amounts(signals).into_iter().filter(|signals| !signals.is_empty()).map(Step::Devices).collect(),
        Step::Record(times, record, signals) => {
            let fewer = numbers(*times).filter(|times| *times != 0).map(|times| Step::Record(times, record.clone(), signals.clone()));
            let less = amounts(signals).into_iter().map(|signals| Step::Record(*times, record.clone(), signals));
            let plainer = records(record).into_iter().map(|record| Step::Record(*times, Box::new(record), signals.clone()));
            fewer.chain(less).chain(plainer).collect()
        }
        Step::Request(times, request) => numbers(*times).filter(|times| *times != 0).map(|times| Step::Request(times, *request)).collect(),
        Step::Inject(occurrence, amount) => numbers(*amount).map(|amount| Step::Inject(*occurrence, amount)).collect(),
        Step::InjectPackage(occurrence, amount) => numbers(*amount).map(|amount| Step::InjectPackage(*occurrence, amount)).collect(),
        Step::Untile(UntileStep::TickAll(clocks)) => numbers(*clocks).map(|clocks| Step::Untile(UntileStep::TickAll(clocks))).collect(),
        Step::Collection(CollectionStep::Pass(cycles, posted)) => {
            numbers(*cycles).map(|cycles| Step::Collection(CollectionStep::Pass(cycles, posted.clone()))).collect()
        }
        Step::Collection(CollectionStep::Inject(offset, amount)) => {
            numbers(*amount).map(|amount| Step::Collection(CollectionStep::Inject(*offset, amount))).collect()
        }
        Step::Context(fields) => {
            let without = |place: usize| {
                let mut fewer = fields.clone();
                fewer.remove(place);
                Step::Context(fewer)
            };
            let mut all: Vec<Step> = if fields.len() > 1 { (0..fields.len()).map(without).collect() } else { Vec::new() };
            for (place, (_, value)) in fields.iter().enumerate() {
                all.extend(numbers(*value).map(|value| {
                    let mut plainer = fields.clone();
                    plainer.get_mut(place).into_iter().for_each(|(_, old)| *old = value);
                    Step::Context(plainer)
                }));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Simpler numbers: 0, 1, half of it, and it without each of its bits.
fn numbers(value: u64) -> impl Iterator<Item = u64> {
    let bits = (0..u64::BITS).rev().map(move |bit| value & !(1 << bit));
    // Only smaller ones, so that this ends.
    [0, 1, value / 2].into_iter().chain(bits).filter(move |simpler| *simpler < value)
}

/// The signals without each of them, then with simpler amounts.
fn amounts(signals: &[(Signal, u64)]) -> Vec<Vec<(Signal, u64)>> {
    let mut all = Vec::new();
    for place in 0..signals.len() {
        let mut fewer = signals.to_vec();
        fewer.remove(place);
        all.push(fewer);
    }
    for (place, (_, amount)) in signals.iter().enumerate() {
        for simpler in numbers(*amount) {
            let mut less = signals.to_vec();
            less.get_mut(place).into_iter().for_each(|(_, amount)| *amount = simpler);
            all.push(less);
        }
    }
    all
}

/// Records that say less.
fn records(record: &Record) -> Vec<Record> {
    let plainer = vec![
        Record::at(0),
        Record { branch: None, ..*record },
        Record { memory: None, ..*record },
        Record { fetch: None, ..*record },
        Record { sample: Sample::default(), ..*record },
        Record { address: 0, ..*record },
        Record { encoding: 0, ..*record },
        Record { cycles: 1, ..*record },
    ];
    plainer.into_iter().filter(|plainer| plainer != record).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn program(steps: &str) -> Litmus {
        alloc::format!("title: t\npmu: k8\nsection: s\nthreads: 2\n{steps}").parse().expect("a litmus file")
    }

    #[test]
    fn only_what_it_takes_to_overflow_is_left() {
        let steps = "write PerfCtr1 7\nwrite PerfCtr0 -2\nthread 1\nwrite PerfCtr3 9\nthread 0\nwrite PerfEvtSel0 0x5200c0\nsave\n\
                     repeat 40 feed instructions_retired=1 cycles=3\ninterrupts none\n";
        let small = program(steps).shrink(|smaller| smaller.run().is_err());
        let text = small.to_string();
        let (_, statements) = text.split_once("section: s\n\n").expect("a header");
        // Two instructions overflow a counter of 48 bits that is two below. EN, INT, OS and the event are needed.
        let expected = "write PerfCtr0 0xfffffffffffe\nwrite PerfEvtSel0 0x5200c0\nrepeat 2 feed instructions_retired=1\ninterrupts none\n";
        assert_eq!(statements, expected);
        assert_eq!(small.threads, 1);
    }

    #[test]
    fn a_program_that_does_not_show_it_stays_as_it_is() {
        let litmus = program("save\nreset cold\n");
        assert_eq!(litmus.shrink(|_| false), litmus);
    }

    #[test]
    fn the_lines_of_statements_stay() {
        let litmus = program("save\nsave\nread PerfCtr0 = 1\n");
        let line = litmus.steps.last().map(|(line, _)| *line);
        let small = litmus.shrink(|smaller| smaller.run().is_err_and(|failure| Some(failure.line) == line));
        assert_eq!(small.steps.iter().map(|(line, _)| Some(*line)).collect::<Vec<_>>(), [line]);
    }

    #[test]
    fn a_record_is_kept_as_far_as_it_is_needed() {
        let litmus = program("record address=0x40 cycles=9 feed cycles=9 instructions_retired=1\n");
        let small = litmus.shrink(|smaller| matches!(smaller.steps.as_slice(), [(_, Step::Record(_, record, _))] if record.cycles == 9));
        assert_eq!(
            small.steps.first().map(|(_, step)| step.clone()),
            Some(Step::Record(1, Box::new(Record { cycles: 9, ..Record::at(0) }), Vec::new()))
        );
    }
}
