//! How fast the untile's clocks run in relation to the CPUs'.

use super::Domain;

/// The frequencies of the CPUs' clock and of the untile's three clocks, all in the same unit: only their ratios matter.
///
/// The usual ones are those of a Xeon Phi 7250 in megahertz: cores at 1.4 GHz, a mesh at 1.7 GHz, DDR4-2400. ECLK is not public: MCDRAM of
/// 7.2 GT/s moves 460.8 GB/s with eight controllers, which is a line of 64 bytes each at 900 MHz, and Max Inc of RPQ and WPQ is 1 (decision
/// T17).
///
/// ```
/// use vm_pmu::untile::Frequencies;
///
/// let usual = Frequencies::default();
/// assert_eq!(usual, Frequencies { cpu: 1400, uclk: 1700, eclk: 900, dclk: 1200 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frequencies {
    /// The CPUs' clock; 0 is taken as 1.
    pub cpu: u32,
    /// UCLK, the untile's. A clock of frequency 0 does not run.
    pub uclk: u32,
    /// ECLK, MCDRAM's.
    pub eclk: u32,
    /// DCLK, the DDR memory's.
    pub dclk: u32,
}

impl Default for Frequencies {
    fn default() -> Frequencies {
        Frequencies { cpu: 1400, uclk: 1700, eclk: 900, dclk: 1200 }
    }
}

impl Frequencies {
    /// All clocks as fast as the CPUs'.
    pub const EQUAL: Frequencies = Frequencies { cpu: 1, uclk: 1, eclk: 1, dclk: 1 };

    /// The frequency of a clock.
    #[must_use]
    pub const fn of(&self, domain: Domain) -> u32 {
        match domain {
            Domain::Uclk => self.uclk,
            Domain::Eclk => self.eclk,
            Domain::Dclk => self.dclk,
        }
    }

    /// How many clocks of `domain` take as long as `cycles` of the CPUs' clock, to the nearest.
    ///
    /// ```
    /// use vm_pmu::untile::{Domain, Frequencies};
    ///
    /// // 216 * 17 / 14 = 262.3
    /// assert_eq!(Frequencies::default().clocks(Domain::Uclk, 216), 262);
    /// ```
    #[must_use]
    pub fn clocks(&self, domain: Domain, cycles: u64) -> u64 {
        let cpu = u128::from(self.cpu.max(1));
        let clocks = (u128::from(cycles) * u128::from(self.of(domain)) + cpu / 2) / cpu;
        u64::try_from(clocks).unwrap_or(u64::MAX)
    }
}

/// A time in cycles of the CPUs' clock, as a fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    over: u128,
    under: u64,
    is_stop: bool,
}

impl Time {
    /// Whether something is due then.
    pub(super) fn is_stop(self) -> bool {
        self.is_stop
    }

    /// The cycles until then, including the one that it is in.
    pub(super) fn cycles(self) -> u64 {
        u64::try_from(self.over.div_ceil(u128::from(self.under))).unwrap_or(u64::MAX)
    }
}

/// The exact ratios of the clocks to the CPUs'. The phase of each is the elapsed fraction of a tick, in units of one over the CPUs'
/// frequency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratios {
    cpu: u32,
    frequencies: [u32; 3],
    phases: [u32; 3],
}

impl Ratios {
    pub(super) fn new(frequencies: Frequencies) -> Ratios {
        Ratios { cpu: frequencies.cpu.max(1), frequencies: Domain::ALL.map(|domain| frequencies.of(domain)), phases: [0; 3] }
    }

    pub(super) fn phases(&self) -> [u32; 3] {
        self.phases
    }

    /// Brings each phase below a tick.
    pub(super) fn set_phases(&mut self, phases: [u32; 3]) {
        self.phases = phases.map(|phase| phase.checked_rem(self.cpu).unwrap_or(0));
    }

    /// The first time, up to cycle `end`, at which a clock that has ticked `gone` times has made `ahead` more ticks (at least one); else
    /// the end.
    pub(super) fn first(&self, gone: [u64; 3], ahead: [u64; 3], end: u64) -> Time {
        let mut first = Time { over: end.into(), under: 1, is_stop: false };
        let clocks = self.frequencies.into_iter().zip(self.phases).zip(gone.into_iter().zip(ahead));
        for ((frequency, phase), (gone, ahead)) in clocks.filter(|((frequency, _), _)| *frequency != 0) {
            let tick = u128::from(gone) + u128::from(ahead.max(1));
            let time = Time { over: tick * u128::from(self.cpu) - u128::from(phase), under: frequency.into(), is_stop: true };
            // A time beyond the end is not compared, as the product would overflow.
            let is_within = time.over <= u128::from(end) * u128::from(time.under);
            let is_before = || time.over * u128::from(first.under) < first.over * u128::from(time.under);
            if is_within && (!first.is_stop || is_before()) {
                first = time;
            }
        }
        first
    }

    /// How often each clock has ticked by `time`.
    pub(super) fn gone_by(&self, time: Time) -> [u64; 3] {
        core::array::from_fn(|number| {
            let [frequency, phase] = [self.frequencies, self.phases].map(|all| u128::from(all.get(number).copied().unwrap_or(0)));
            let under = u128::from(time.under);
            let ticks = (phase * under + time.over * frequency) / (u128::from(self.cpu) * under);
            u64::try_from(ticks).unwrap_or(u64::MAX)
        })
    }

    /// Advances the phases by `cycles`.
    pub(super) fn go_on(&mut self, cycles: u64) {
        for (phase, frequency) in self.phases.iter_mut().zip(self.frequencies) {
            let parts = u128::from(*phase) + u128::from(cycles) * u128::from(frequency);
            *phase = (parts % u128::from(self.cpu)) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advances by `cycles` and counts ticks.
    fn advance(ratios: &mut Ratios, cycles: u64) -> [u64; 3] {
        let end = Time { over: cycles.into(), under: 1, is_stop: false };
        let gone = ratios.gone_by(end);
        ratios.go_on(cycles);
        gone
    }

    #[test]
    fn fourteen_cycles_are_seventeen_nine_and_twelve_clocks_however_they_are_cut() {
        let mut ratios = Ratios::new(Frequencies::default());
        assert_eq!(advance(&mut ratios, 14), [17, 9, 12]);
        let mut sum = [0; 3];
        for part in [1, 2, 3, 5, 3] {
            let gone = advance(&mut ratios, part);
            sum = core::array::from_fn(|number| sum[number] + gone[number]);
        }
        assert_eq!(sum, [17, 9, 12]);
        assert_eq!(ratios.phases(), [0; 3]);
        assert_eq!(advance(&mut ratios, 1_400_000_000_000), [1_700_000_000_000, 900_000_000_000, 1_200_000_000_000]);
    }

    #[test]
    fn the_first_that_is_due_is_found_within_a_cycle() {
        // Clocks of 3, 2 and 1 a cycle: the second tick of the first comes at 2/3, the first of the second at 1/2.
        let ratios = Ratios::new(Frequencies { cpu: 1, uclk: 3, eclk: 2, dclk: 1 });
        let first = ratios.first([0; 3], [2, 1, 1], 10);
        assert_eq!((first.over, first.under, first.is_stop(), first.cycles()), (1, 2, true, 1));
        assert_eq!(ratios.gone_by(first), [1, 1, 0]);
        let then = ratios.first([1, 1, 0], [1, 100, 100], 10);
        assert_eq!((then.over, then.under), (2, 3));
        assert_eq!(ratios.gone_by(then), [2, 1, 0]);
        assert!(!ratios.first([2, 1, 0], [100; 3], 10).is_stop());
    }

    #[test]
    fn the_largest_numbers_fit() {
        let mut ratios = Ratios::new(Frequencies { cpu: u32::MAX, uclk: u32::MAX, eclk: 1, dclk: 0 });
        ratios.set_phases([u32::MAX - 1, u32::MAX, 7]);
        let first = ratios.first([u64::MAX, 0, 0], [u64::MAX, u64::MAX, 1], u64::MAX);
        assert!(!first.is_stop());
        let first = ratios.first([0; 3], [u64::MAX - 1, u64::MAX, 1], u64::MAX);
        assert!(first.is_stop());
        // The second: u64::MAX is u32::MAX * (u32::MAX + 2).
        assert_eq!(ratios.gone_by(first), [u64::MAX - 1, u64::from(u32::MAX) + 1, 0]);
        ratios.go_on(u64::MAX);
        let slow = Ratios::new(Frequencies { cpu: 0, uclk: u32::MAX, eclk: 0, dclk: 0 });
        assert_eq!(slow.gone_by(Time { over: u64::MAX.into(), under: 1, is_stop: false }), [u64::MAX, 0, 0]);
    }
}
