//! The counters of one thread beside the guest's: programmed, read, taken in turns, and sampled.

use std::sync::Arc;

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::topology::{Machine, Thread};
use vm_pmu::untile::at_msr;

use super::host::as_host;
use super::plan::{Counter, Found, Group, Plan, Sample};
use crate::Lines;

/// Steps after which counts are taken from the counters. The narrowest has 32 bits, and no step takes 250 of an event on average.
const SETTLE: u64 = 1 << 24;

/// The counters of one thread.
#[derive(Debug)]
pub(crate) struct Bank<'a> {
    machine: &'a Machine<Lines>,
    number: usize,
    plan: Arc<Plan>,
    /// The group that counts.
    current: usize,
    /// What its counters held when their counts were last taken.
    held: Vec<u64>,
    /// The cycle at which it began to count.
    since: u64,
    steps: u64,
    /// The glue was told of an overflow.
    raised: bool,
    found: Found,
}

impl<'a> Bank<'a> {
    /// The counters of thread `number` of `machine`, about to count.
    pub(crate) fn new(machine: &'a Machine<Lines>, number: usize, plan: Arc<Plan>) -> Bank<'a> {
        let counts = plan.groups().iter().map(|group| vec![0; group.counters.len()]).collect();
        let counting = vec![0; plan.groups().len()];
        let found = Found { counts, counting, ..Found::default() };
        let mut bank = Bank { machine, number, plan, current: 0, held: Vec::new(), since: 0, steps: 0, raised: false, found };
        bank.start();
        bank
    }

    /// Whether the guest's own register accesses are repeated.
    #[inline]
    pub(crate) fn repeats(&self) -> bool {
        matches!(*self.plan, Plan::Repeat)
    }

    /// A step of the thread has been counted, which began at cycle `now`. `sample` is what is known of a sample taken at it.
    #[inline]
    pub(crate) fn stepped(&mut self, now: u64, sample: impl FnOnce() -> Sample) {
        self.steps += 1;
        let plan = Arc::clone(&self.plan);
        match &*plan {
            Plan::Sample { group, period, most } if self.has_overflowed() => self.sample(group, *period, *most, sample),
            Plan::Multiplex { groups, cycles } if now.saturating_sub(self.since) >= *cycles => self.turn(groups.len(), now),
            _ if self.steps.is_multiple_of(SETTLE) => self.settle(),
            _ => {}
        }
    }

    /// The run is over, at cycle `now`: takes the last counts. `own` is the thread of the guest's own PMU.
    pub(crate) fn finish(&mut self, now: u64, own: Thread<'_, Lines>) -> Found {
        self.settle();
        self.pass(now);
        self.found.cycles = now;
        self.found.is_alike = self.machine.thread(self.number).is_some_and(|thread| thread.state() == own.state());
        self.found.clone()
    }

    /// The glue was told of an overflow.
    pub(crate) fn raise(&mut self) {
        self.raised = true;
    }

    fn has_overflowed(&mut self) -> bool {
        std::mem::take(&mut self.raised)
            || self.machine.line().take(self.number).is_some()
            || self.machine.thread(self.number).is_some_and(|thread| thread.lines().interrupt)
    }

    /// Sets up the current group.
    fn start(&mut self) {
        let Some(group) = self.plan.groups().get(self.current) else { return };
        let held = as_host(self.machine, self.number, |thread| {
            self.write(thread, &group.writes);
            group.counters.iter().map(|counter| self.read(thread, counter)).collect()
        });
        self.held = held.unwrap_or_default();
    }

    /// Takes what the counters have grown by.
    fn settle(&mut self) {
        let Some(group) = self.plan.groups().get(self.current) else { return };
        let values: Option<Vec<u64>> =
            as_host(self.machine, self.number, |thread| group.counters.iter().map(|counter| self.read(thread, counter)).collect());
        let Some(counts) = self.found.counts.get_mut(self.current) else { return };
        let places = counts.iter_mut().zip(self.held.iter_mut()).zip(&group.counters);
        for (((count, held), counter), value) in places.zip(values.unwrap_or_default()) {
            if self.number.is_multiple_of(counter.shared_by.max(1)) {
                *count += grown(*held, value, counter);
            }
            *held = value;
        }
    }

    /// The current group has counted up to cycle `now`.
    fn pass(&mut self, now: u64) {
        if let Some(counting) = self.found.counting.get_mut(self.current) {
            *counting += now.saturating_sub(self.since);
        }
        self.since = now;
    }

    /// The next of `groups` groups takes its turn.
    fn turn(&mut self, groups: usize, now: u64) {
        self.settle();
        self.pass(now);
        if groups > 1 {
            if let Some(group) = self.plan.groups().get(self.current) {
                as_host(self.machine, self.number, |thread| self.write(thread, &group.stops));
            }
            self.current = (self.current + 1) % groups;
            self.start();
        }
    }

    /// The counter has overflowed: takes a sample and sets it up again. What it has counted since belongs to the next sample.
    fn sample(&mut self, group: &Group, period: u64, most: usize, sample: impl FnOnce() -> Sample) {
        let Some(counter) = group.counters.first() else { return };
        let Some(address) = counter.registers.first() else { return };
        let Some(held) = self.held.first().copied() else { return };
        let value = as_host(self.machine, self.number, |thread| self.read(thread, counter)).unwrap_or(held);
        let counted = grown(held, value, counter);
        let first = group.writes.iter().find(|(register, _)| register == address).map_or(0, |(_, value)| *value);
        // It began with what the sample before had too many.
        let passed = counted + held.wrapping_sub(first);
        let (samples, beyond) = (passed / period.max(1), passed % period.max(1));
        let again = first.wrapping_add(beyond);
        let writes: Vec<(Address, u64)> =
            group.writes.iter().map(|(register, value)| (*register, if register == address { again } else { *value })).collect();
        as_host(self.machine, self.number, |thread| self.write(thread, &writes));
        // Setting it up may let go of a request that the PMU still held.
        self.machine.line().take(self.number);
        self.raised = false;
        self.held = vec![again];
        if let Some(count) = self.found.counts.first_mut().and_then(|counts| counts.first_mut()) {
            *count += counted;
        }
        if samples == 0 {
            return;
        }
        if self.found.samples.len() < most {
            self.found.samples.push(Sample { thread: self.number, period: samples * period, ..sample() });
        } else {
            self.found.dropped += 1;
        }
    }

    /// Writes registers. Those of boxes are the machine's, and the first thread writes them.
    fn write(&self, thread: Thread<'_, Lines>, writes: &[(Address, u64)]) {
        for (address, value) in writes {
            let written = match self.machine.untile().filter(|_| is_of_box(*address)) {
                Some(_) if self.number != 0 => Ok(()),
                Some(untile) => untile.write(*address, *value),
                None => thread.write(*address, *value),
            };
            debug_assert!(written.is_ok(), "the host may write {address}: {written:?}");
        }
    }

    fn read(&self, thread: Thread<'_, Lines>, counter: &Counter) -> u64 {
        let read = |address: &Address| -> Result<u64, Fault> {
            match self.machine.untile().filter(|_| is_of_box(*address)) {
                Some(untile) => untile.read(*address),
                None => thread.look(*address),
            }
        };
        let value = match counter.registers.as_slice() {
            [low, high] => read(low).and_then(|low| Ok(read(high)? << 32 | low & 0xFFFF_FFFF)),
            [whole] => read(whole),
            _ => Ok(0),
        };
        debug_assert!(value.is_ok(), "the host may read {:?}: {value:?}", counter.registers);
        value.unwrap_or(0) & mask(counter)
    }
}

/// Whether a register is of a box, where the part has such.
fn is_of_box(address: Address) -> bool {
    match address {
        Address::Msr(number) => at_msr(number).is_some(),
        Address::Pci(_) => true,
        _ => false,
    }
}

fn mask(counter: &Counter) -> u64 {
    u64::MAX >> (64 - counter.bits.clamp(1, 64))
}

/// By how much a counter has grown.
fn grown(held: u64, value: u64, counter: &Counter) -> u64 {
    value.wrapping_sub(held) & mask(counter)
}
