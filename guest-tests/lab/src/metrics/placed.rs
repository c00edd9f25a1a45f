//! Which events are counted together where each counter has its own register, and some events exclude each other.

use vm_pmu::arch::event::{Attribution, Catalogue, CounterSet, Entry, Metric};

use super::plan::needed;

/// An event or unit mask, on a counter.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// What is counted.
    pub entry: &'static Entry,
    /// The number of the counter.
    pub counter: u32,
}

/// The runs that count what metrics need: a guest that does the same every time is run once for each.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// What each run counts, in the order of the counters; where units have their own counters, unit after unit.
    pub runs: Vec<Vec<Placed>>,
    /// Events that are needed and cannot be counted.
    pub uncounted: Vec<&'static str>,
}

/// Places what `metrics` need, whose formulas name metrics of `table`, on the counters of the part with this catalogue.
///
/// A metric that names a missing event is left out: no count gives it a value. Each event goes to the first run that has room for it,
/// those that exclude most others first.
#[must_use]
pub fn place(metrics: &[&Metric], table: &[Metric], catalogue: &Catalogue) -> Placement {
    let mut placement = Placement::default();
    let mut entries: Vec<&'static Entry> = Vec::new();
    for name in needed(metrics, table) {
        match catalogue.named(name) {
            Some(entry) => entries.push(entry),
            None => placement.uncounted.push(name),
        }
    }
    entries.sort_by_key(|entry| (rank(entry.set), allowed(entry).count_ones(), entry.select, entry.umask));
    let mut runs: Vec<Vec<&'static Entry>> = Vec::new();
    for entry in entries {
        let with = |run: &Vec<&'static Entry>| run.iter().copied().chain([entry]).collect::<Vec<_>>();
        let fits = |run: &[&'static Entry]| assign_in_units(run, catalogue).is_some();
        match runs.iter_mut().find_map(|run| Some(with(run)).filter(|with| fits(with)).map(|with| (run, with))) {
            Some((run, with)) => *run = with,
            None if fits(&[entry]) => runs.push(vec![entry]),
            None => placement.uncounted.push(entry.name),
        }
    }
    placement.runs = runs.iter().filter_map(|run| assign_in_units(run, catalogue)).collect();
    placement
}

/// A counter for each of `entries`, if all can be counted together: each unit of `catalogue` that has selects of its own has counters of
/// its own too.
fn assign_in_units(entries: &[&'static Entry], catalogue: &Catalogue) -> Option<Vec<Placed>> {
    if catalogue.units.is_empty() {
        return assign(entries);
    }
    let of_unit = |unit: &&str| entries.iter().copied().filter(|entry| entry.unit == *unit).collect::<Vec<_>>();
    let placed: Option<Vec<Vec<Placed>>> = catalogue.units.iter().map(|unit| assign(&of_unit(unit))).collect();
    placed.map(|units| units.into_iter().flatten().collect())
}

/// Events of sets first, those of one set together.
fn rank(set: CounterSet) -> (u8, u8) {
    match set {
        CounterSet::L2Data(number) => (0, number),
        CounterSet::L1Data(number) => (1, number),
        CounterSet::None => (2, 0),
    }
}

/// The counters that count an entry rightly, one bit each.
///
/// An event that may occur while its thread does not run is counted rightly only by Montecito's PMD4 to 9, which continue meanwhile
/// (section 4.2.1); cycles are the exception that the section names.
fn allowed(entry: &Entry) -> u32 {
    const GOING_ON: u32 = 0x03F0;
    let rightly = entry.attribution == Attribution::Active || entry.event_name() == "CPU_OP_CYCLES" || entry.counters & GOING_ON == 0;
    if rightly { entry.counters } else { entry.counters & GOING_ON }
}

/// The events of one set of Montecito's second-level data cache that share a unit mask (section 4.8.4).
struct Group {
    set: u8,
    umask: Option<u32>,
    members: Vec<&'static Entry>,
}

/// A counter for each of `entries`, in the order of the counters, if all can be counted together.
fn assign(entries: &[&'static Entry]) -> Option<Vec<Placed>> {
    let mut free: u32 = entries.iter().fold(0, |bits, entry| bits | entry.counters);
    let mut placed: Vec<Placed> = Vec::new();
    let mut put = |entry: &'static Entry, choice: u32, free: &mut u32| {
        let counter = (choice & *free & allowed(entry)).trailing_zeros();
        *free &= !1u32.checked_shl(counter)?;
        placed.push(Placed { entry, counter });
        Some(())
    };
    let first: Vec<&'static Entry> = entries.iter().copied().filter(|entry| matches!(entry.set, CounterSet::L1Data(_))).collect();
    if first.iter().any(|entry| Some(entry.set) != first.first().map(|first| first.set)) {
        return None;
    }
    // One of a set of the first level has to be on PMC5.
    if let Some(entry) = first.first() {
        put(entry, 1 << 5, &mut free)?;
    }
    let mut groups: Vec<Group> = Vec::new();
    for entry in entries {
        let CounterSet::L2Data(set) = entry.set else { continue };
        // Of the two events of cancelled operations one can be counted at a time.
        let cancels = |entry: &Entry| entry.name.starts_with("L2D_OZQ_CANCELS");
        if cancels(entry) && entries.iter().any(|other| cancels(other) && other.select != entry.select) {
            return None;
        }
        match groups.iter_mut().find(|group| group.set == set && group.umask == entry.umask) {
            Some(group) => group.members.push(entry),
            None => groups.push(Group { set, umask: entry.umask, members: vec![entry] }),
        }
    }
    // PMC6 leads 7 and 9, PMC4 leads 5 and 8: the larger group goes where PMC5 cannot be taken.
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    let trios: [(u32, u32); 2] = [(1 << 6, 1 << 7 | 1 << 9), (1 << 4, 1 << 5 | 1 << 8)];
    if groups.len() > trios.len() {
        return None;
    }
    for (group, (leader, others)) in groups.iter().zip(trios) {
        for (index, entry) in group.members.iter().enumerate() {
            put(entry, if index == 0 { leader } else { others }, &mut free)?;
        }
    }
    let mut rest: Vec<&'static Entry> = first.into_iter().skip(1).collect();
    rest.extend(entries.iter().copied().filter(|entry| entry.set == CounterSet::None));
    rest.sort_by_key(|entry| allowed(entry).count_ones());
    for entry in rest {
        // What any counter takes leaves the lower ones to what needs them.
        let upper = allowed(entry) & free & !0x03F0;
        put(entry, if upper == 0 { u32::MAX } else { upper }, &mut free)?;
    }
    placed.sort_by_key(|placed| placed.counter);
    Some(placed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_pmu::arch::event::{KNL, KNL_METRICS, MONTECITO, MONTECITO_METRICS};

    #[test]
    fn boxes_of_several_units_are_counted_at_once() {
        let all: Vec<&Metric> = KNL_METRICS.iter().collect();
        let placement = place(&all, KNL_METRICS, &KNL);
        assert!(placement.uncounted.is_empty());
        let [run] = placement.runs.as_slice() else { panic!("one run is enough: {placement:?}") };
        let mut placed: Vec<(&str, &str)> = run.iter().map(|placed| (placed.entry.unit, placed.entry.name)).collect();
        placed.sort_unstable();
        let expected = [
            ("edc-eclk", "RPQ.INSERTS"),
            ("edc-eclk", "WPQ.INSERTS"),
            ("edc-uclk", "EDC_HIT_MISS.MISS_CLEAN"),
            ("edc-uclk", "EDC_HIT_MISS.MISS_DIRTY"),
            ("mc-dclk", "CAS.READS"),
        ];
        assert_eq!(placed, expected);
        for unit in ["edc-eclk", "edc-uclk", "mc-dclk"] {
            let counters: Vec<u32> = run.iter().filter(|placed| placed.entry.unit == unit).map(|placed| placed.counter).collect();
            assert!(counters.windows(2).all(|pair| pair[0] < pair[1]) && counters.iter().all(|counter| *counter < 4), "{unit}");
        }
    }

    fn of(names: &[&str]) -> Option<Vec<(u32, &'static str)>> {
        let entries: Vec<&'static Entry> = names.iter().map(|name| MONTECITO.named(name).expect("the manual has it")).collect();
        Some(assign(&entries)?.into_iter().map(|placed| (placed.counter, placed.entry.name)).collect())
    }

    #[test]
    fn an_event_of_a_set_of_the_first_level_is_on_pmc5() {
        let placed = of(&["IA64_INST_RETIRED.THIS", "LOADS_RETIRED", "UC_LOADS_RETIRED"]).expect("they go together");
        assert!(placed.contains(&(5, "LOADS_RETIRED")));
    }

    #[test]
    fn sets_of_the_first_level_exclude_each_other() {
        assert!(of(&["LOADS_RETIRED", "STORES_RETIRED"]).is_none());
    }

    #[test]
    fn two_sets_of_the_second_level_are_led_by_pmc6_and_pmc4() {
        assert_eq!(of(&["L2D_BYPASS.L2_DATA1", "L2D_OZQ_ACQUIRE"]), Some(vec![(4, "L2D_OZQ_ACQUIRE"), (6, "L2D_BYPASS.L2_DATA1")]));
        assert!(of(&["L2D_BYPASS.L2_DATA1", "L2D_OZQ_ACQUIRE", "L2D_OZDB_FULL.THIS"]).is_none());
    }

    #[test]
    fn unit_masks_of_one_set_need_a_leader_each() {
        assert!(of(&["L2D_REFERENCES.READS", "L2D_REFERENCES.WRITES"]).is_some());
        assert!(of(&["L2D_REFERENCES.READS", "L2D_REFERENCES.WRITES", "L2D_REFERENCES.ALL"]).is_none());
    }

    #[test]
    fn the_two_events_of_cancelled_operations_exclude_each_other() {
        assert!(of(&["L2D_OZQ_CANCELS0.RECIRC", "L2D_OZQ_CANCELS1.ANY"]).is_none());
    }

    #[test]
    fn halted_cycles_have_one_counter() {
        assert_eq!(of(&["CPU_OP_CYCLES_HALTED"]), Some(vec![(10, "CPU_OP_CYCLES_HALTED")]));
    }

    #[test]
    fn what_may_happen_in_the_background_has_six_counters() {
        let reads = ["L3_READS.ALL.HIT", "L3_READS.ALL.MISS", "L3_READS.ALL.ALL", "L3_MISSES", "L3_REFERENCES", "L3_INSERTS"];
        assert!(of(&reads).expect("six are enough").iter().all(|(counter, _)| (4..10).contains(counter)));
        assert!(of(&[reads.as_slice(), &["L2D_MISSES"]].concat()).is_none());
    }

    #[test]
    fn everything_that_the_metrics_need_is_counted_once() {
        let all: Vec<&Metric> = MONTECITO_METRICS.iter().collect();
        let placement = place(&all, MONTECITO_METRICS, &MONTECITO);
        assert!(placement.uncounted.is_empty());
        let mut names: Vec<&str> = placement.runs.iter().flatten().map(|placed| placed.entry.name).collect();
        names.sort_unstable();
        assert!(names.into_iter().eq(needed(&all, MONTECITO_METRICS)));
        for run in &placement.runs {
            assert!(run.windows(2).all(|pair| pair[0].counter < pair[1].counter), "{run:?}");
            assert!(run.iter().all(|placed| placed.entry.counters & 1 << placed.counter != 0), "{run:?}");
        }
    }
}
