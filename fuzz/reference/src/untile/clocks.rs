//! The three clocks, by themselves and in the cycles of the CPUs (T17).

use vm_pmu_arch::knl::untile::Domain;

use super::Untile;

const DOMAINS: [Domain; 3] = [Domain::Uclk, Domain::Eclk, Domain::Dclk];
/// How often each clock ticks in so many cycles of the CPUs: cores at 1.4 GHz, UCLK at 1.7, ECLK at 0.9, DCLK at 1.2.
const TICKS: [u128; 3] = [17, 9, 12];
const CYCLES: u128 = 14;
/// A multiple of all of them, so that every tick is at a whole number of parts of a cycle.
const PARTS: u128 = 17 * 9 * 12;

/// How much of a tick each clock has behind it, in parts of [`CYCLES`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phases([u128; 3]);

impl Untile {
    /// In how many clocks something changes.
    pub(super) fn stretch(&self, domain: Domain) -> u64 {
        self.units.iter().map(|unit| unit.stretch(domain, self.frozen)).min().unwrap_or(u64::MAX)
    }

    /// So many clocks go by, no more than the stretch.
    pub(super) fn let_pass(&mut self, domain: Domain, clocks: u64) {
        let frozen = self.frozen;
        self.units.iter_mut().for_each(|unit| unit.let_pass(domain, frozen, clocks));
    }

    /// So many cycles of the CPUs go by. Ticks come in their order in time; those at one time are counted before anything is frozen.
    pub(super) fn let_cycles_pass(&mut self, cycles: u64) {
        let end = u128::from(cycles) * PARTS;
        let phases = self.phases.0;
        // The time of a tick of a clock, counted from here, and how many there are up to a time.
        let time = |clock: usize, tick: u128| (tick * CYCLES - phases[clock]) * (PARTS / TICKS[clock]);
        let ticks = |clock: usize, time: u128| (time / (PARTS / TICKS[clock]) + phases[clock]) / CYCLES;
        let mut done = [0u128; 3];
        loop {
            let next = |clock: usize| time(clock, done[clock] + u128::from(self.stretch(DOMAINS[clock])));
            let until = (0..3).map(next).min().unwrap_or(end).min(end);
            for (clock, domain) in DOMAINS.into_iter().enumerate() {
                let now = ticks(clock, until) - done[clock];
                if now != 0 {
                    self.let_pass(domain, now as u64);
                }
                done[clock] += now;
            }
            self.settle();
            if until == end {
                break;
            }
        }
        for clock in 0..3 {
            self.phases.0[clock] = (phases[clock] + u128::from(cycles) * TICKS[clock]) % CYCLES;
        }
    }
}
