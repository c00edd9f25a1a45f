//! Samples added up.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Places, Profile};

/// What fell on one symbol, address or line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The symbol, address or line.
    pub name: String,
    /// How many samples.
    pub samples: u64,
    /// How many events they stand for.
    pub events: u64,
}

/// What fell on each symbol, the most first; an address without one stands for itself.
#[must_use]
pub fn by_symbol(profile: &Profile, places: &Places) -> Vec<Total> {
    add_up(profile, |address| Some(places.name(address)))
}

/// What fell on each line of the source, the most first, as far as lines are known.
#[must_use]
pub fn by_line(profile: &Profile, places: &Places) -> Vec<Total> {
    add_up(profile, |address| {
        let place = places.at(address)?;
        Some(format!("{}:{}", place.file?, place.line?))
    })
}

fn add_up(profile: &Profile, name: impl Fn(u64) -> Option<String>) -> Vec<Total> {
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    for sample in &profile.samples {
        let Some(name) = name(sample.address) else { continue };
        let total = totals.entry(name.clone()).or_insert(Total { name, samples: 0, events: 0 });
        total.samples += 1;
        total.events += sample.period;
    }
    let mut totals: Vec<Total> = totals.into_values().collect();
    totals.sort_by(|left, right| right.events.cmp(&left.events).then_with(|| left.name.cmp(&right.name)));
    totals
}

#[cfg(test)]
mod tests {
    use vm_pmu_board::beside::Sample;

    use super::*;

    #[test]
    fn the_most_events_come_first() {
        let sample = |address, period| Sample { address, period, ..Sample::default() };
        let profile = Profile { samples: vec![sample(0x10, 5), sample(0x20, 5), sample(0x20, 10)], ..Profile::default() };
        let total = |name: &str, samples, events| Total { name: name.to_owned(), samples, events };
        assert_eq!(by_symbol(&profile, &Places::default()), [total("0x20", 2, 15), total("0x10", 1, 5)]);
        assert!(by_line(&profile, &Places::default()).is_empty());
    }
}
