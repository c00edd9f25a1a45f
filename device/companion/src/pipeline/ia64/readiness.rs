//! Readiness of the registers of a pipeline of bundles, and the waits of a group (PM14).

use crate::bytes::{Damaged, Reader, Writer};
use crate::ia64_register::PREDICATES;
use crate::instruction::Register;
use crate::pipeline::ia64::group::{InstructionGroup, PREDICATE_PRODUCERS};
use crate::pipeline::ia64::rows::{Consumer, Producer, ResultKind};
use crate::pipeline::resources::saving::{number, pick, time};

/// The origin of a register's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) struct Value {
    pub(in crate::pipeline) producer: Producer,
    /// The clock in which it was executed, or in which its data arrive.
    pub(in crate::pipeline) at: u64,
}

/// Maximum latency of any result on either part, in clocks.
pub(in crate::pipeline) const LONGEST_LATENCY: u64 = 35;

/// A register that a group waits for.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct Wait {
    pub(in crate::pipeline) kind: ResultKind,
    pub(in crate::pipeline) value: Value,
    pub(in crate::pipeline) consumer: Consumer,
    /// Length of the wait.
    pub(in crate::pipeline) clocks: u64,
}

/// The values of all registers.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Values {
    all: [Value; Register::COUNT + 1],
}

impl Values {
    pub(in crate::pipeline) fn new() -> Values {
        Values { all: [Value::default(); Register::COUNT + 1] }
    }

    fn of(&self, register: u16) -> Value {
        self.all.get(usize::from(register)).copied().unwrap_or_default()
    }

    /// Passes to `each` the registers that `group` has to wait for if it reaches execution in clock `now`. `latency` is the time from the
    /// value to its use.
    pub(in crate::pipeline) fn waits(
        &self,
        group: &InstructionGroup,
        now: u64,
        latency: impl Fn(Value, Consumer) -> u64,
        mut each: impl FnMut(Wait),
    ) {
        let mut tell = |register: u16, consumer: Consumer| {
            let value = self.of(register);
            if value.at == 0 || value.at + LONGEST_LATENCY < now {
                return;
            }
            let clocks = (value.at + latency(value, consumer)).saturating_sub(now);
            if clocks != 0 {
                each(Wait { kind: ResultKind::of(register), value, consumer, clocks });
            }
        };
        group.needed().iter().for_each(|needed| tell(needed.register, needed.consumer));
        // A register whose load has not brought its data must not be written.
        group.made().iter().filter(|made| self.of(made.register).producer.loads()).for_each(|made| tell(made.register, Consumer::Written));
        for (mut set, consumer) in [(group.qualifying, Consumer::Qualifying), (group.deciding, Consumer::Branch)] {
            while set != 0 {
                tell(PREDICATES + set.trailing_zeros() as u16, consumer);
                set &= set - 1;
            }
        }
    }

    /// Sets the times of the results of a group that executed in clock `now`.
    pub(in crate::pipeline) fn write(&mut self, group: &InstructionGroup, now: u64) {
        for made in group.made() {
            if let Some(value) = self.all.get_mut(usize::from(made.register)) {
                let arrival = group.references().get(usize::from(made.access)).map(|reference| reference.arrival);
                let producer = if made.producer.loads() && arrival.is_none() { Producer::Integer } else { made.producer };
                *value = Value { producer, at: arrival.unwrap_or(now) };
            }
        }
        for (set, producer) in group.predicates.into_iter().zip(PREDICATE_PRODUCERS) {
            let mut set = set;
            while set != 0 {
                if let Some(value) = self.all.get_mut(usize::from(PREDICATES) + set.trailing_zeros() as usize) {
                    *value = Value { producer, at: now };
                }
                set &= set - 1;
            }
        }
    }

    /// Updates results of the group whose access data arrive at other times than was known when it executed.
    pub(in crate::pipeline) fn bring(&mut self, group: &InstructionGroup) {
        for made in group.made() {
            if let Some(reference) = group.references().get(usize::from(made.access))
                && let Some(value) = self.all.get_mut(usize::from(made.register)).filter(|value| value.producer == made.producer)
            {
                value.at = reference.arrival;
            }
        }
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        self.all.iter().for_each(|value| writer.words(&[number(&Producer::ALL, &value.producer), value.at]));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for value in &mut self.all {
            *value = Value { producer: pick(&Producer::ALL, reader)?, at: time(reader, now)? };
        }
        Ok(())
    }
}

/// Asserts that no latency of a part exceeds [`LONGEST_LATENCY`], since registers that were made earlier are never waited for.
#[cfg(test)]
pub(in crate::pipeline) fn assert_no_latency_is_longer(latency: fn(Producer, Consumer) -> u64) {
    let all = Producer::ALL.into_iter().flat_map(|producer| Consumer::ALL.map(|consumer| latency(producer, consumer)));
    assert!(all.max() <= Some(LONGEST_LATENCY));
}
