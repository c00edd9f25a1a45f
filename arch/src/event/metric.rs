//! What is computed from counts, and which events a manual counts together.
//!
//! The tables are made at build time from the folders in `arch/events/`.

include!(concat!(env!("OUT_DIR"), "/metrics.rs"));

/// A number that is computed from counts of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in the manual, without `(%)`, and with `_` for every blank.
    pub name: &'static str,
    /// What the manual files it under; nothing for one that only the table of formulas has.
    pub categories: &'static [&'static str],
    /// The table that files it, or else the table of formulas.
    pub table: &'static str,
    /// The unit of the result: `percent`, `ratio`, `cycles`, `cycles per instruction` and so on.
    pub unit: &'static str,
    /// The formula: whole numbers, names of events, of unit masks (`EVENT.MASK`) and of other metrics, `+ - * /` and brackets.
    pub formula: &'static str,
    /// Names in the formula that look like events and that the part does not have: it cannot be computed.
    pub missing: &'static [&'static str],
    /// Names in the formula that are read as something else.
    pub replaced: &'static [Replacement],
    /// Names in the formula that are no events and that whoever computes it must know.
    pub given: &'static [&'static str],
    /// What it says, in one line.
    pub summary: &'static str,
}

/// A name that the formula of a metric took over from an earlier part, and what stands for it on this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The name that is printed.
    pub name: &'static str,
    /// What it is read as: a formula of events, and of edges of events (`EVENT.EDGES`).
    pub formula: &'static str,
    /// Why it may be.
    pub evidence: &'static str,
}

impl Replacement {
    /// The names in what it is read as.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        names(self.formula)
    }
}

/// The names in a formula, in its order.
fn names(formula: &'static str) -> impl Iterator<Item = &'static str> {
    formula
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '.'))
        .filter(|word| word.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

impl Metric {
    /// The names in the formula, in its order; a name that is there twice comes twice.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        names(self.formula)
    }
}

/// Events that a manual counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its number.
    pub number: u32,
    /// Its name; several groups may have one.
    pub name: &'static str,
    /// The codes of what the programmable counters count, from the first counter on.
    pub codes: [u64; 4],
    /// The names of those events.
    pub events: [&'static str; 4],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{MONTECITO, POWER9};

    #[test]
    fn power9_has_the_groups_of_its_guide() {
        assert_eq!(POWER9_GROUPS.len(), 252);
        let group = POWER9_GROUPS.iter().find(|group| group.name == "pm_l3_5").expect("the guide has it");
        assert_eq!(group.codes, [0x1_60A4, 0x2_60A4, 0x3_60A4, 0x4_60A4]);
        assert_eq!(group.events, ["PM_L3_HIT", "PM_L3_LD_HIT", "PM_L3_CO_LCO", "RESERVED"]);
    }

    #[test]
    fn power9_has_the_metrics_of_its_guide() {
        assert_eq!(POWER9_METRICS.iter().filter(|metric| metric.table.starts_with("5-")).count(), 402);
        let metric = POWER9_METRICS.iter().find(|metric| metric.name == "dcache_miss_cpi").expect("the guide has it");
        assert_eq!(metric.formula, "(DCACHE_MISS_STALL_CPI / RUN_CPI) * 100");
        assert_eq!((metric.table, metric.unit, metric.categories), ("5-19", "percent", ["Estimated Data Cache Miss CPI"].as_slice()));
    }

    #[test]
    fn power9_has_the_metrics_of_its_nest() {
        let of = |table: &str| POWER9_METRICS.iter().filter(|metric| metric.table == table).count();
        // Rows with a formula, for two memory controllers, eight DRAM ports, six halves of X links, six host bridges. One formula of table
        // 6-8 is in table 6-7 already.
        let rows =
            [("6-2", 11), ("6-3", 4 * 2), ("6-4", 6 * 2), ("6-5", 2 * 8), ("6-6", 3 * 8), ("6-7", 3 * 6), ("6-8", 2 * 6), ("6-9", 3 * 6)];
        for (table, count) in rows {
            assert_eq!(of(table), count, "{table}");
        }
        assert_eq!(POWER9_METRICS.len(), 402 + rows.iter().map(|(_, count)| count).sum::<usize>());
    }

    #[test]
    fn metrics_of_the_nest_are_of_posted_events_and_given_frequencies() {
        for metric in POWER9_METRICS.iter().filter(|metric| metric.table.starts_with("6-")) {
            for name in metric.names().filter(|name| !metric.given.contains(name)) {
                // Spelled as the catalogue has it, so that one name is one count.
                let event = POWER9.event_named(name).filter(|event| event.name == name);
                assert!(event.is_some_and(|event| event.offset.is_some()), "{name} of {}", metric.name);
            }
            assert!(metric.given.iter().all(|name| ["PB_Freq", "MBA_Freq", "PHB_Freq"].contains(name)), "{}", metric.name);
        }
    }

    #[test]
    fn what_a_metric_of_the_nest_needs_is_posted_in_one_mode() {
        use crate::event::Collection;
        for metric in POWER9_METRICS.iter().filter(|metric| metric.table.starts_with("6-")) {
            let modes = || metric.names().filter_map(|name| POWER9.event_named(name)?.collection);
            let excludes = |mode: Collection| modes().all(|of_event| of_event != mode);
            assert!(excludes(Collection::Default) || excludes(Collection::Flexible), "{}", metric.name);
        }
    }

    #[test]
    fn a_memory_controller_adds_up_its_ports() {
        let metric = POWER9_METRICS.iter().find(|metric| metric.name == "total_mcs01_read_bw").expect("the guide has it");
        assert_eq!(metric.formula, "(((PM_MCS01_64B_RD_DISP_PORT01 + PM_MCS01_64B_RD_DISP_PORT23) * 64) / PM_PB_CYC) * PB_Freq");
        assert_eq!((metric.unit, metric.given), ("bytes per second", ["PB_Freq"].as_slice()));
    }

    #[test]
    fn what_a_formula_has_from_an_earlier_part_is_marked() {
        let of = |name: &str| POWER9_METRICS.iter().find(|metric| metric.name == name).expect("the guide has it");
        assert_eq!(of("RC_LD_Busy").missing, ["PM_L2_RCLD_BUSY_RC_FULL"]);
        let metric = of("IERAT_Miss_Rate");
        assert_eq!((metric.missing, metric.replaced.len()), ([].as_slice(), 1));
        let replaced = metric.replaced[0];
        assert_eq!((replaced.name, replaced.formula), ("PM_IERAT_MISS", "PM_IERAT_RELOAD"));
    }

    #[test]
    fn a_metric_is_left_out_of_the_formulas_that_linux_has_without_it() {
        let reads = |name: &str, expected: &[(&str, &str)]| {
            let metric = POWER9_METRICS.iter().find(|metric| metric.name == name).expect("the guide has it");
            let replaced = metric.replaced.iter().map(|replaced| (replaced.name, replaced.formula));
            assert!(replaced.eq(expected.iter().copied()), "{name}");
        };
        reads("LSU_OTHER_STALL_CPI", &[("DARQ_STALL_CPI", "0")]);
        reads("OTHER_STALL_CPI", &[("EXCEPTION_STALL_CPI", "0"), ("ISYNC_STALL_CPI", "0")]);
        reads("STALL_CPI", &[]);
        reads("DARQ_STALL_CPI", &[]);
    }

    #[test]
    fn names_are_read_as_events_of_the_catalogue_or_their_edges() {
        for replaced in POWER9_METRICS.iter().flat_map(|metric| metric.replaced) {
            for name in replaced.names() {
                let event = name.strip_suffix(".EDGES").unwrap_or(name);
                assert!(POWER9.event_named(event).is_some(), "{name} for {}", replaced.name);
            }
        }
    }

    #[test]
    fn formulas_name_events_of_the_catalogue() {
        let is_metric = |name: &str| POWER9_METRICS.iter().any(|metric| metric.name == name);
        for metric in POWER9_METRICS {
            for name in metric.names().filter(|name| !is_metric(name) && !metric.given.contains(name)) {
                let is_event = POWER9.event_named(name).is_some();
                let is_replaced = metric.replaced.iter().any(|replaced| replaced.name == name);
                assert_ne!(is_event, metric.missing.contains(&name) || is_replaced, "{name} of {}", metric.name);
            }
        }
    }

    #[test]
    fn groups_have_the_codes_and_names_of_the_catalogue() {
        for group in POWER9_GROUPS {
            for (code, name) in group.codes.into_iter().zip(group.events) {
                let event = u32::try_from(code).ok().and_then(|code| POWER9.select(code)).map(|(event, _)| event);
                match event {
                    Some(event) => assert!(event.is_called(name), "{code:#x} of {} is {}, not {name}", group.name, event.name),
                    None => assert!(name == "RESERVED" || code == 0, "{code:#x} of {}", group.name),
                }
            }
        }
    }

    #[test]
    fn montecito_has_the_derived_monitors_of_its_manual() {
        let of = |table: &str| MONTECITO_METRICS.iter().filter(|metric| metric.table == table).count();
        // Two formulas of a row are two: three rows of table 4-36 and seven of table 4-38.
        let rows =
            [("4-2", 1), ("4-5", 3), ("4-9", 6), ("4-18", 6), ("4-20", 5), ("4-32", 23), ("4-34", 1), ("4-36", 7 + 3), ("4-38", 26 + 7)];
        for (table, count) in rows.into_iter().chain([("4-40", 7), ("4.11.2", 1)]) {
            assert_eq!(of(table), count, "{table}");
        }
    }

    #[test]
    fn formulas_of_montecito_name_what_is_counted() {
        let is_metric = |name: &str| MONTECITO_METRICS.iter().any(|metric| metric.name == name);
        for metric in MONTECITO_METRICS {
            for name in metric.names().filter(|name| !is_metric(name)) {
                let entry = MONTECITO.entries.iter().find(|entry| entry.name == name);
                let is_one_count = entry.is_some_and(|entry| entry.umask.is_some() || MONTECITO.masks(entry).is_empty());
                assert!(is_one_count, "{name} of {}", metric.name);
            }
        }
    }

    #[test]
    fn a_formula_gives_its_names_in_order() {
        let metric = Metric {
            name: "SHARE",
            categories: &[],
            table: "",
            unit: "percent",
            formula: "100 * PM_A / (PM_A + PM_B)",
            missing: &[],
            replaced: &[],
            given: &[],
            summary: "",
        };
        assert!(metric.names().eq(["PM_A", "PM_A", "PM_B"]));
    }

    #[test]
    fn knights_landing_has_the_bandwidths_of_section_3_1() {
        let formula = |name: &str| KNL_METRICS.iter().find(|metric| metric.name == name).map(|metric| metric.formula);
        assert_eq!(KNL_METRICS.len(), 3);
        assert_eq!(formula("MCDRAM_CACHE_WRITE_BANDWIDTH"), Some("(WPQ.INSERTS - CAS.READS) * 64 / Time"));
        assert!(KNL_METRICS.iter().all(|metric| metric.table == "3.1" && metric.unit == "bytes per second"));
    }
}
