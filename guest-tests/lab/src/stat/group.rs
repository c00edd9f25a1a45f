//! Which events are counted together.

use vm_pmu::{Address, Part};
use vm_pmu_board::beside::{Counter, Group};

use super::counter;
use crate::dialect::Programming;
use crate::dialect::program;
use crate::error::Error;

/// An event to count.
#[derive(Clone, Debug)]
pub struct Event {
    /// As it was asked for.
    pub asked: String,
    /// With everything spelt out, as `encode` takes it.
    pub event: String,
    /// What is worth knowing about it: what `encode` notes and warns of.
    pub notes: Vec<String>,
    /// The group that counts it, and its place there.
    pub place: (usize, usize),
}

/// Events, and the groups that count them.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    /// The events, in the order in which they were asked for.
    pub events: Vec<Event>,
    /// The groups.
    pub groups: Vec<Group>,
}

impl Grouping {
    /// Whether a counter is a machine's and no thread's.
    #[must_use]
    pub fn has_boxes(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.counters).any(|counter| counter.shared_by == usize::MAX)
    }
}

/// Puts `events` into groups that can be counted together on `part`: each into the first that has room for it.
///
/// ```
/// use vm_pmu::Part;
/// use vm_pmu_lab::stat::group;
///
/// let part = Part::named("itanium").unwrap();
/// // The first Itanium has four counters.
/// let events = ["CPU_CYCLES", "NOPS_RETIRED", "L2_MISSES", "L3_MISSES", "DTLB_MISSES"].map(str::to_owned);
/// assert_eq!(group(part, &events).unwrap().groups.len(), 2);
/// ```
///
/// # Errors
/// An event cannot be counted by itself, or has a word that is for interrupts.
pub fn group(part: Part, events: &[String]) -> Result<Grouping, Error> {
    let mut members: Vec<Vec<usize>> = Vec::new();
    let texts = |group: &[usize]| group.iter().filter_map(|index| events.get(*index)).collect::<Vec<_>>();
    for (index, event) in events.iter().enumerate() {
        let mut words = event.split([':', '/']).skip(1);
        if let Some(word) = words.find(|word| matches!(*word, "int" | "ebb" | "noen") || word.starts_with("period=")) {
            return Err(Error::usage(format!("`{word}` of `{event}` is for drivers: leave it out; `pmulab record` takes samples")));
        }
        let alone = program(part, &[event])?;
        if alone.first().is_some_and(|one| counter(part, event, one).is_none()) {
            return Err(Error::usage(format!(
                "{event} is posted into memory by the chip, and no counter counts it: `pmulab run` shows what is posted"
            )));
        }
        let with = |group: &Vec<usize>| group.iter().copied().chain([index]).collect::<Vec<_>>();
        match members.iter_mut().find(|group| program(part, &texts(&with(group))).is_ok()) {
            Some(group) => group.push(index),
            None => members.push(vec![index]),
        }
    }
    let mut grouping = Grouping::default();
    let mut placed: Vec<Option<Event>> = events.iter().map(|_| None).collect();
    for (number, group) in members.iter().enumerate() {
        let programmings = program(part, &texts(group))?;
        for (place, (index, one)) in group.iter().zip(&programmings).enumerate() {
            let (Some(asked), Some(slot)) = (events.get(*index), placed.get_mut(*index)) else { continue };
            *slot = Some(Event {
                asked: asked.clone(),
                event: one.event.clone().unwrap_or_else(|| asked.clone()),
                notes: one.warnings.iter().chain(&one.notes).cloned().collect(),
                place: (number, place),
            });
        }
        grouping.groups.push(set_up(part, &texts(group), &programmings));
    }
    grouping.events = placed.into_iter().flatten().collect();
    Ok(grouping)
}

/// The group of these programmings, one for each of `asked`.
pub(crate) fn set_up(part: Part, asked: &[&String], programmings: &[Programming]) -> Group {
    let writes: Vec<(Address, u64)> =
        programmings.iter().flat_map(|one| &one.writes).map(|write| (write.register.address, write.value)).collect();
    let counters: Vec<Counter> = asked.iter().zip(programmings).filter_map(|(asked, one)| counter(part, asked, one)).collect();
    let stops = writes.iter().filter_map(|(address, _)| stop(*address)).collect();
    Group { writes, stops, counters }
}

/// The write that takes an event out of its counter, if `address` is what selects it there. Elsewhere the next group's writes do so.
fn stop(address: Address) -> Option<(Address, u64)> {
    let selects = match address {
        Address::Msr(number) => (0xC001_0000..=0xC001_0003).contains(&number) || matches!(number, 0x186 | 0x187),
        Address::Pmc(number) => (4..=15).contains(&number),
        _ => false,
    };
    selects.then_some((address, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(pmu: &str, events: &[&str]) -> Result<Grouping, Error> {
        let events: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
        group(Part::named(pmu).unwrap(), &events)
    }

    #[test]
    fn events_that_fit_are_one_group() {
        let grouping = grouped("k8", &["cycles", "instructions", "branches", "branch-misses"]).unwrap();
        assert_eq!(grouping.groups.len(), 1);
        assert_eq!(grouping.events[3].event, "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS:uk");
    }

    #[test]
    fn an_event_without_a_counter_left_goes_to_another_group() {
        // Knights Landing has two general counters, and fixed ones for cycles and instructions.
        let grouping = grouped("knl", &["branches", "branch-misses", "cache-misses", "cycles"]).unwrap();
        let places: Vec<(usize, usize)> = grouping.events.iter().map(|event| event.place).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (0, 2)]);
    }

    #[test]
    fn what_a_driver_alone_needs_is_refused() {
        assert!(grouped("k8", &["cycles:int"]).is_err());
        assert!(grouped("power9", &["PM_RUN_CYC:period=100"]).is_err());
    }

    #[test]
    fn what_the_nest_posts_is_no_counters() {
        let Err(Error::Usage(line)) = grouped("power9", &["PM_MCS01_64B_RD_DISP_PORT01"]) else { panic!("nothing is programmed") };
        assert!(line.contains("posted into memory"), "{line}");
    }
}
