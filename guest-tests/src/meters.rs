//! Counting beside a guest: POWER9 PMUs of the host's own, that follow the totals of a guest's thread.
//!
//! The guest's PMU is not touched, and as many sets of events as are wanted are counted in one run. What a meter needs of the embedder:
//! the totals of [`signals`](Meters::signals), and every change of the thread's context.

use vm_pmu::arch::event::{Drive, Internal, POWER9};
use vm_pmu::arch::feed::{Feed, Scope, SignalSet};
use vm_pmu::arch::model::Model;
use vm_pmu::arch::power9::encode::{EventCode, Options, Refusal, encode};
use vm_pmu::arch::power9::{COUNTERS, Power9, Revision, spr};
use vm_pmu::{Address, Context, Signal, Totals};

/// The totals of one thread, without deadlines: nothing alerts.
struct Quiet<'a>(&'a Totals);

impl Feed for Quiet<'_> {
    fn total(&self, signal: Signal, _scope: Scope) -> u64 {
        self.0.get(signal)
    }

    fn arm(&self, _signal: Signal, _scope: Scope, _base: u64, _allowance: u64) {}

    fn disarm(&self, _signal: Signal, _scope: Scope) {}
}

/// Counts sets of events in one thread.
///
/// ```
/// use vm_pmu::arch::power9::encode::EventCode;
/// use vm_pmu::{Context, Signal, Totals};
/// use vm_pmu_guest_tests::meters::Meters;
///
/// let totals = Totals::new();
/// // PM_INST_CMPL and PM_MRK_INST_CMPL, which is of sampled instructions and cannot be counted from totals.
/// let codes = [EventCode::from_bits(0x1_0002), EventCode::from_bits(0x4_01E0)];
/// let mut meters = Meters::new(&[&codes], Context::power(0, 1), &totals).unwrap();
/// totals.add(Signal::InstructionsRetired, 5);
/// assert_eq!(meters.counts(&totals), [[Some(5), None]]);
/// ```
#[derive(Debug)]
pub struct Meters(Vec<Meter>);

/// A PMU and what it counts.
#[derive(Debug)]
struct Meter {
    pmu: Power9,
    /// Of each code the index of its counter, if it can be counted.
    places: Vec<Option<usize>>,
    /// What the counters held when they were last looked at.
    held: [u32; COUNTERS],
    sums: [u64; COUNTERS],
}

impl Meters {
    /// Begins to count each set of `codes` in a thread with these totals.
    ///
    /// # Errors
    /// Codes of one set cannot be counted together.
    pub fn new(codes: &[&[EventCode]], context: Context, totals: &Totals) -> Result<Meters, Refusal> {
        codes.iter().map(|codes| Meter::new(codes, context, totals)).collect::<Result<_, _>>().map(Meters)
    }

    /// The signals whose totals must be kept.
    #[must_use]
    pub fn signals(&self) -> SignalSet {
        self.0.iter().fold(SignalSet::EMPTY, |signals, meter| signals.union(meter.pmu.demand().signals()))
    }

    /// The thread's context is another from now on.
    pub fn set_context(&mut self, context: Context, totals: &Totals) {
        for meter in &mut self.0 {
            meter.look(totals);
            meter.pmu.set_context(context, &Quiet(totals));
        }
    }

    /// The counts of the codes of each set up to now; nothing for what totals do not tell: sampled instructions and thresholds.
    ///
    /// Between two calls of this and of [`set_context`](Meters::set_context) a counter must not grow by 2^32.
    pub fn counts(&mut self, totals: &Totals) -> Vec<Vec<Option<u64>>> {
        self.0.iter_mut().map(|meter| meter.counts(totals)).collect()
    }
}

impl Meter {
    fn new(codes: &[EventCode], context: Context, totals: &Totals) -> Result<Meter, Refusal> {
        let encoding = encode(codes, Options::default())?;
        let feed = Quiet(totals);
        let mut pmu = Power9::new(Revision::default());
        for (number, value) in [(spr::MMCR1, encoding.mmcr1), (spr::MMCR0, encoding.mmcr0)] {
            // It begins in hypervisor state, where nothing is refused.
            let _ = pmu.write(Address::Spr(number), value, &feed);
        }
        pmu.set_context(context, &feed);
        let place = |(index, code): (usize, &EventCode)| {
            let counter = encoding.counter_of(index).filter(|_| follows_totals(*code))?;
            usize::from(counter).checked_sub(1)
        };
        Ok(Meter { pmu, places: codes.iter().enumerate().map(place).collect(), held: [0; COUNTERS], sums: [0; COUNTERS] })
    }

    /// Takes up what the counters have grown by.
    fn look(&mut self, totals: &Totals) {
        let counters = self.pmu.state(&Quiet(totals)).counters;
        for ((sum, held), now) in self.sums.iter_mut().zip(&mut self.held).zip(counters) {
            *sum += u64::from(now.wrapping_sub(*held));
            *held = now;
        }
    }

    fn counts(&mut self, totals: &Totals) -> Vec<Option<u64>> {
        self.look(totals);
        self.places.iter().map(|place| self.sums.get((*place)?).copied()).collect()
    }
}

/// Whether totals alone tell how often an event happens.
fn follows_totals(code: EventCode) -> bool {
    let listed = POWER9.events().find(|event| {
        let selection = EventCode::from_bits(event.select.into()).selection();
        selection == code.selection() || selection == code.selection().on_any_counter()
    });
    let drive = listed.map(|event| event.drive);
    !matches!(
        drive,
        Some(
            Drive::Sampled { .. }
                | Drive::Internal(
                    Internal::ThresholdMet | Internal::ThresholdNotMet | Internal::ThresholdExceeded(_) | Internal::ThresholdAccumulated
                )
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: u64 = 1 << 14;
    const RUN: u64 = 1;

    #[test]
    fn each_set_counts_for_itself_and_by_the_state_of_the_thread() {
        let totals = Totals::new();
        let sets = [&[0x1_0002u64, 0x5_00FA][..], &[0x2_001E, 0x6_00F4]]
            .map(|set| set.iter().map(|code| EventCode::from_bits(*code)).collect::<Vec<_>>());
        let mut meters = Meters::new(&[&sets[0], &sets[1]], Context::power(0, RUN), &totals).unwrap();
        assert!(meters.signals().contains(Signal::InstructionsRetired) && meters.signals().contains(Signal::Cycles));
        totals.add(Signal::InstructionsRetired, 10);
        totals.add(Signal::Cycles, 30);
        // The run latch goes off: PMC5 and PMC6 stand still.
        meters.set_context(Context::power(PROBLEM, 0), &totals);
        totals.add(Signal::InstructionsRetired, 1);
        totals.add(Signal::Cycles, 4);
        assert_eq!(meters.counts(&totals), [[Some(11), Some(10)], [Some(34), Some(30)]]);
    }

    #[test]
    fn counts_go_beyond_32_bits() {
        let totals = Totals::new();
        let codes = [EventCode::from_bits(0x2_001E)];
        let mut meters = Meters::new(&[&codes], Context::power(0, RUN), &totals).unwrap();
        for _ in 0..3 {
            totals.add(Signal::Cycles, u64::from(u32::MAX));
            meters.counts(&totals);
        }
        assert_eq!(meters.counts(&totals), [[Some(3 * u64::from(u32::MAX))]]);
    }

    #[test]
    fn what_cannot_be_counted_together_is_refused() {
        let codes = [EventCode::from_bits(0x1_0002), EventCode::from_bits(0x1_001E)];
        assert!(Meters::new(&[&codes], Context::power(0, RUN), &Totals::new()).is_err());
    }
}
