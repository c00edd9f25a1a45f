//! Changes of programs, as a fuzzer makes them: statement by statement, so that what comes behind a change keeps its meaning.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::Signal;
use vm_pmu_arch::model::Model;

use super::generate::limit_states;
use super::{Litmus, Step};

/// The longest stretch of statements that is moved at once.
const STRETCH: usize = 4;
/// The most changes at once.
const CHANGES: u8 = 4;

/// Makes a new program for the same part, which statements are taken from.
pub type Maker<'a> = &'a dyn Fn(&mut Unstructured<'_>) -> Result<Litmus>;

impl Litmus {
    /// Changes the program in one to four places: statements are inserted, deleted, repeated or swapped, or one operand changes. New
    /// statements come from what `maker` makes. A change that a fuzzer's program cannot have is not made.
    ///
    /// ```
    /// use arbitrary::Unstructured;
    /// use vm_pmu::Part;
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let part = Part::named("k8").unwrap();
    /// let noise: Vec<u8> = (0..2000u32).map(|number| (number.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    /// let mut program: Litmus = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 1\n".parse().unwrap();
    /// program.mutate(&mut Unstructured::new(&noise), &|bytes| Litmus::arbitrary(part, bytes)).unwrap();
    /// assert!(Litmus::from_bytes(part, &program.to_bytes()).is_ok());
    /// ```
    ///
    /// # Errors
    /// When the bytes are used up.
    pub fn mutate(&mut self, bytes: &mut Unstructured<'_>, maker: Maker<'_>) -> Result<()> {
        for _ in 0..bytes.int_in_range(1..=CHANGES)? {
            let mut changed = self.clone();
            changed.change(bytes, maker)?;
            changed.number();
            if changed.admit().is_ok() {
                *self = changed;
            }
        }
        Ok(())
    }

    /// This program with a stretch of `other`, a program for the same part, in place of a stretch of its own.
    ///
    /// # Errors
    /// When the bytes are used up.
    pub fn cross(&self, other: &Litmus, bytes: &mut Unstructured<'_>) -> Result<Litmus> {
        let mut crossed = self.clone();
        let (from, to) = range(other.steps.len(), other.steps.len(), bytes)?;
        let taken: Vec<_> = other.steps.get(from..to).unwrap_or(&[]).to_vec();
        let (from, to) = range(self.steps.len(), self.steps.len(), bytes)?;
        // Mostly what was there stays.
        let end = if bytes.ratio(1, 3)? { to } else { from };
        crossed.steps.splice(from..end, taken);
        crossed.number();
        Ok(if crossed.admit().is_ok() { crossed } else { self.clone() })
    }

    /// The longest beginning of the program that takes at most so many bytes.
    #[must_use]
    pub fn within(mut self, most: usize) -> Litmus {
        while self.to_bytes().len() > most && !self.steps.is_empty() {
            let kept = self.steps.len() - self.steps.len().div_ceil(8);
            self.steps.truncate(kept);
        }
        self
    }

    /// Numbers the statements from 1.
    fn number(&mut self) {
        for (number, (line, _)) in (1..).zip(&mut self.steps) {
            *line = number;
        }
    }

    fn change(&mut self, bytes: &mut Unstructured<'_>, maker: Maker<'_>) -> Result<()> {
        let count = self.steps.len();
        match bytes.int_in_range(0..=15u8)? {
            0..=4 => {
                let made = maker(bytes)?;
                let (from, to) = range(made.steps.len(), STRETCH, bytes)?;
                let place = bytes.int_in_range(0..=count)?;
                self.steps.splice(place..place, made.steps.get(from..to).unwrap_or(&[]).iter().cloned());
            }
            5 => {
                let (from, to) = range(count, STRETCH, bytes)?;
                self.steps.drain(from..to);
            }
            6 => {
                let (from, to) = range(count, STRETCH, bytes)?;
                let place = bytes.int_in_range(0..=count)?;
                let copy = self.steps.get(from..to).unwrap_or(&[]).to_vec();
                self.steps.splice(place..place, copy);
            }
            7 if count > 1 => {
                let (one, other) = (bytes.choose_index(count)?, bytes.choose_index(count)?);
                self.steps.swap(one, other);
            }
            8 if bytes.ratio(1, 4)? => {
                let made = maker(bytes)?;
                (self.threads, self.packages, self.shared_counters) = (made.threads, made.packages, made.shared_counters);
            }
            _ if count != 0 => {
                let place = bytes.choose_index(count)?;
                let changed = match self.steps.get(place) {
                    Some((_, step)) => self.operand(step, bytes)?,
                    None => None,
                };
                if let (Some(step), Some((_, old))) = (changed.filter(|step| self.can_be_read(step)), self.steps.get_mut(place)) {
                    *old = step;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The statement with one operand changed, if there is such a statement.
    fn operand(&self, step: &Step, bytes: &mut Unstructured<'_>) -> Result<Option<Step>> {
        if bytes.ratio(1, 4)? {
            return one_byte(step, bytes);
        }
        Ok(Some(match step {
            Step::Write(address, value, _) if bytes.ratio(2, 3)? => Step::Write(*address, number(*value, bytes)?, None),
            Step::Write(address, value, _) => Step::Write(self.address(*address, bytes)?, *value, None),
            Step::Read(address, _) => Step::Read(self.address(*address, bytes)?, Ok(0)),
            Step::Feed(times, signals) => {
                let (times, signals) = self.amounts(*times, signals, bytes)?;
                Step::Feed(times, signals)
            }
            Step::Record(times, record, signals) => {
                let (times, signals) = self.amounts(*times, signals, bytes)?;
                Step::Record(times, record.clone(), signals)
            }
            Step::Devices(signals) => Step::Devices(self.amounts(1, signals, bytes)?.1),
            Step::Inject(occurrence, amount) => Step::Inject(*occurrence, number(*amount, bytes)?),
            Step::InjectPackage(occurrence, amount) => Step::InjectPackage(*occurrence, number(*amount, bytes)?),
            Step::Context(fields) => {
                let mut fields = fields.clone();
                if let Some((_, value)) = pick(&mut fields, bytes)? {
                    *value = number(*value, bytes)?;
                }
                Step::Context(fields)
            }
            step => return one_byte(step, bytes),
        }))
    }

    /// Another register, a neighbour, or one that the program uses.
    fn address(&self, address: Address, bytes: &mut Unstructured<'_>) -> Result<Address> {
        Ok(match (bytes.int_in_range(0..=5u8)?, address) {
            (0, Address::Msr(number)) => Address::Msr(number ^ 1 << bytes.int_in_range(0..=4)?),
            (0, Address::Rdpmc(index)) => Address::Rdpmc(index ^ 1 << bytes.int_in_range(0..=31)?),
            (0, Address::Spr(number)) => Address::Spr(number ^ 1 << bytes.int_in_range(0..=9)?),
            (0, Address::Pmc(index)) => Address::Pmc(index ^ 1 << bytes.int_in_range(0..=7)?),
            (0, Address::Pmd(index)) => Address::Pmd(index ^ 1 << bytes.int_in_range(0..=7)?),
            (1..=2, _) => {
                let used = |(_, step): &(usize, Step)| match step {
                    Step::Write(address, ..) | Step::Read(address, _) => Some(*address),
                    _ => None,
                };
                let used: Vec<Address> = self.steps.iter().filter_map(used).collect();
                bytes.choose(&used).copied().unwrap_or(address)
            }
            _ => {
                let pmu = self.part.build();
                bytes.choose(pmu.registers())?.address
            }
        })
    }

    /// The repetitions and signals with one of them changed.
    fn amounts(&self, times: u64, signals: &[(Signal, u64)], bytes: &mut Unstructured<'_>) -> Result<(u64, Vec<(Signal, u64)>)> {
        let mut signals = signals.to_vec();
        let mut times = times;
        match bytes.int_in_range(0..=7u8)? {
            0 => times = bytes.int_in_range(1..=64)?,
            1 if signals.len() > 1 => {
                signals.remove(bytes.choose_index(signals.len())?);
            }
            2..=3 => {
                let signal = self.signal(bytes)?;
                if !signals.iter().any(|(known, _)| *known == signal) {
                    match pick(&mut signals, bytes)? {
                        Some((old, _)) if bytes.ratio(1, 2)? => *old = signal,
                        _ => signals.push((signal, bytes.int_in_range(1..=4)?)),
                    }
                }
            }
            4 => {
                if let Some((_, amount)) = pick(&mut signals, bytes)? {
                    *amount = number(*amount, bytes)?;
                }
            }
            _ => {
                if let Some((_, amount)) = pick(&mut signals, bytes)? {
                    *amount = bytes.int_in_range(0..=16)?;
                }
            }
        }
        limit_states(&mut signals);
        Ok((times, signals))
    }

    /// A signal of the program, or one that an event of the part counts.
    fn signal(&self, bytes: &mut Unstructured<'_>) -> Result<Signal> {
        if bytes.ratio(1, 2)? {
            let fed = self.steps.iter().flat_map(|(_, step)| match step {
                Step::Feed(_, signals) | Step::Record(_, _, signals) | Step::Devices(signals) => signals.as_slice(),
                _ => &[],
            });
            let fed: Vec<Signal> = fed.map(|(signal, _)| *signal).collect();
            if let Ok(signal) = bytes.choose(&fed) {
                return Ok(*signal);
            }
        }
        let entry = bytes.choose(self.part.catalogue().entries)?;
        let count = entry.signals.len();
        Ok(if count == 0 { Signal::Cycles } else { entry.signals.get(bytes.choose_index(count)?).copied().unwrap_or(Signal::Cycles) })
    }

    /// Whether a litmus file can say the statement.
    fn can_be_read(&self, step: &Step) -> bool {
        let alone = Litmus { steps: [(1, step.clone())].into(), ..self.clone() };
        let read = alone.to_string().parse::<Litmus>();
        read.is_ok_and(|read| read.steps.first().is_some_and(|(_, read)| read == step))
    }
}

/// The statement of which one byte has another value.
fn one_byte(step: &Step, bytes: &mut Unstructured<'_>) -> Result<Option<Step>> {
    let mut encoded = postcard::to_allocvec(step).unwrap_or_default();
    let chosen = bytes.choose_index(encoded.len())?;
    let changed: u8 = if bytes.ratio(1, 2)? { 1 << bytes.int_in_range(0..=7)? } else { bytes.arbitrary()? };
    if let Some(byte) = encoded.get_mut(chosen) {
        *byte ^= changed;
    }
    Ok(postcard::from_bytes(&encoded).ok())
}

fn pick<'a, T>(list: &'a mut [T], bytes: &mut Unstructured<'_>) -> Result<Option<&'a mut T>> {
    if list.is_empty() {
        return Ok(None);
    }
    let chosen = bytes.choose_index(list.len())?;
    Ok(list.get_mut(chosen))
}

/// A range of at most `longest` out of `count`, mostly not empty.
fn range(count: usize, longest: usize, bytes: &mut Unstructured<'_>) -> Result<(usize, usize)> {
    if count == 0 {
        return Ok((0, 0));
    }
    let from = bytes.choose_index(count)?;
    Ok((from, from + bytes.int_in_range(1..=longest.min(count - from).max(1))?))
}

/// A number near the old one, at a boundary of a register's width, or with one bit changed.
fn number(old: u64, bytes: &mut Unstructured<'_>) -> Result<u64> {
    const WIDTHS: [u32; 8] = [8, 16, 31, 32, 40, 47, 48, 63];
    Ok(match bytes.int_in_range(0..=9u8)? {
        0..=3 => old ^ 1 << bytes.int_in_range(0..=63)?,
        4 => old.wrapping_add(1),
        5 => old.wrapping_sub(1),
        6 => *bytes.choose(&[0, 1, u64::MAX])?,
        7 => (1u64 << bytes.choose(&WIDTHS)?).wrapping_sub(bytes.int_in_range(0..=4)?),
        8 => bytes.int_in_range(0..=60u64)?.wrapping_neg(),
        _ => old ^ u64::from(bytes.arbitrary::<u8>()?) << (8 * bytes.int_in_range(0..=7u32)?),
    })
}

/// `length` random bytes or a few more, the same for the same seed.
#[must_use]
pub fn random_bytes(seed: u32, length: usize) -> Box<[u8]> {
    // SplitMix64.
    let mut state = u64::from(seed);
    let next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31).to_le_bytes()
    };
    core::iter::repeat_with(next).take(length.div_ceil(8)).flatten().collect()
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::registry::{NAMES, Part};

    use super::*;
    use crate::litmus::Trial;

    type Boxed = Box<dyn Fn(&mut Unstructured<'_>) -> Result<Litmus>>;

    /// The generator of each target's programs.
    fn makers() -> Vec<(Part, Boxed)> {
        let part = |name| Part::named(name).expect("known");
        let mut makers: Vec<(Part, Boxed)> = Vec::new();
        for name in NAMES {
            makers.push((part(name), Box::new(move |bytes| Litmus::arbitrary(part(name), bytes))));
        }
        makers.push((part("knl"), Box::new(Litmus::arbitrary_untile)));
        makers.push((part("power9"), Box::new(Litmus::arbitrary_nest)));
        makers
    }

    #[test]
    fn a_changed_program_is_one_that_is_read_back_and_keeps_the_contract() {
        for (part, maker) in makers() {
            let mut trial = Trial::new();
            let mut program = maker(&mut Unstructured::new(&random_bytes(7, 600))).expect("bytes enough");
            for seed in 0..60 {
                let _ = program.mutate(&mut Unstructured::new(&random_bytes(seed, 1500)), &*maker);
                program = program.within(600);
                let again = Litmus::from_bytes(part, &program.to_bytes()).expect("a program");
                assert_eq!(steps(&again), steps(&program), "{program}");
                let text: Litmus = program.to_string().parse().unwrap_or_else(|error| panic!("{error}: {program}"));
                assert_eq!(steps(&text), steps(&program), "{program}");
                trial.contract(&program).unwrap_or_else(|broken| panic!("{broken}"));
            }
        }
    }

    fn steps(litmus: &Litmus) -> Vec<&Step> {
        litmus.steps.iter().map(|(_, step)| step).collect()
    }

    #[test]
    fn every_kind_of_statement_of_the_generators_survives_its_bytes() {
        for (part, maker) in makers() {
            for seed in 0..200 {
                let program = maker(&mut Unstructured::new(&random_bytes(seed, 1500))).expect("bytes enough");
                let again = Litmus::from_bytes(part, &program.to_bytes()).unwrap_or_else(|refused| panic!("{refused}: {program}"));
                assert_eq!((steps(&again), again.threads, again.packages), (steps(&program), program.threads, program.packages));
            }
        }
    }

    #[test]
    fn a_crossed_program_has_statements_of_both() {
        let read = |text: &str| -> Litmus { alloc::format!("title: t\npmu: k8\nsection: s\n{text}").parse().expect("a litmus file") };
        let (one, other) = (read("save\nsave\nsave\nsave\n"), read("reset cold\nreset cold\n"));
        let crossed = (0..20).map(|seed| one.cross(&other, &mut Unstructured::new(&random_bytes(seed, 64))).expect("bytes enough"));
        let has = |litmus: &Litmus, wanted: &Step| litmus.steps.iter().any(|(_, step)| step == wanted);
        let (mut both, reset) = (0, Step::Reset(vm_pmu_arch::model::Reset::Cold));
        for litmus in crossed {
            assert!(has(&litmus, &reset), "{litmus}");
            both += usize::from(has(&litmus, &Step::Save));
        }
        assert!(both > 10, "{both}");
    }

    #[test]
    fn what_is_too_long_loses_its_end() {
        let text = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 1\nwrite PerfCtr1 2\nwrite PerfCtr2 3\n";
        let litmus: Litmus = text.parse().expect("a litmus file");
        let most = litmus.to_bytes().len() - 1;
        assert_eq!(steps(&litmus.clone().within(most)), steps(&litmus)[..2]);
    }
}
