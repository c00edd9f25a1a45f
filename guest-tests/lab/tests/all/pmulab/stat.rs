//! `pmulab stat`.

use std::fs;
use std::path::Path;

use super::*;

#[test]
fn the_chapter_shows_what_it_prints() {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/pmulab.md");
    let chapter = fs::read_to_string(chapter).expect("the chapter is there");
    let blocks = chapter.split("```text\n$ pmulab stat ").skip(1);
    let mut seen = 0;
    for block in blocks.filter_map(|rest| rest.split("```").next()) {
        let (command, wanted) = block.split_once('\n').expect("a command and its output");
        let words: Vec<&str> = std::iter::once("stat").chain(command.split_whitespace()).collect();
        let shown = shown(&words);
        assert!(shown.starts_with(wanted.trim_end_matches("...\n")), "{command}:\n{shown}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn every_part_counts_its_usual_events() {
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let counted = json(&["stat", "count", "--pmu", pmu, "--format", "json"]);
        let events = counted["events"].as_array().unwrap();
        assert!(events.len() >= 5, "{pmu}");
        for name in ["cycles", "instructions"] {
            let row = events.iter().find(|row| row["asked"] == name).unwrap();
            assert!(row["count"].as_f64().unwrap() > 1000.0, "{pmu} {name}");
        }
    }
}

#[test]
fn json_says_how_each_count_came_about() {
    let counted = json(&["stat", "filter", "--pmu", "k8", "-e", "instructions:u,cycles", "-r", "2", "--format", "json"]);
    assert_eq!((&counted["guest"], &counted["pmu"], &counted["passed"]), (&"filter".into(), &"k8".into(), &true.into()));
    assert_eq!((&counted["repeats"], &counted["runs"], &counted["multiplexed"]), (&2.into(), &1.into(), &false.into()));
    let row = &counted["events"][0];
    assert_eq!((&row["asked"], &row["event"]), (&"instructions:u".into(), &"RETIRED_INSTRUCTIONS:u".into()));
    assert_eq!((&row["counted_percent"], &row["deviation_percent"], &row["group"]), (&100.0.into(), &0.0.into(), &1.into()));
    assert_eq!(row["ratio"], Value::Null);
}

#[test]
fn fields_are_those_of_perf() {
    let text = shown(&["stat", "filter", "--pmu", "k8", "-x", ";", "-e", "cycles,instructions"]);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(b';').from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    // Count, unit, event, time, share, ratio and its unit, as perf-stat(1) lists them without repeats.
    assert_eq!(rows[1].iter().collect::<Vec<_>>(), ["1125", "", "instructions", "1125", "100.00", "1.00", "insn per cycle"]);
    assert_eq!(rows[0].len(), 7);
}

#[test]
fn turns_show_their_share_of_the_time() {
    let arguments = ["stat", "profile", "--pmu", "k8", "--multiplex=500", "--format", "json"];
    let counted = json(&arguments);
    let shares: Vec<f64> = counted["events"].as_array().unwrap().iter().map(|row| row["counted_percent"].as_f64().unwrap()).collect();
    assert_eq!(counted["runs"], 1);
    // Four events fit; two are in the other group.
    assert!((shares[0] + shares[5] - 100.0).abs() < 1e-9, "{shares:?}");
    assert!(shares.iter().all(|share| (45.0..55.0).contains(share)), "{shares:?}");
}

#[test]
fn metrics_come_from_the_parts_own_formulas() {
    let counted = json(&["stat", "branches", "--pmu", "montecito", "-M", "all", "--format", "json"]);
    let metrics = counted["metrics"].as_array().unwrap();
    assert!(metrics.iter().filter(|metric| metric["value"].is_number()).count() > 10);
    assert_eq!(mistake(&["stat", "count", "--pmu", "k8", "-M", "all"]), "the manual of k8 has no metrics");
}

#[test]
fn boxes_are_counted_once_for_the_machine() {
    // Eight CPUs, each of which could read it.
    let counted = json(&["stat", "any-thread", "--pmu", "knl", "-e", "ubox::FIXED,cycles", "--format", "json"]);
    let clock = counted["events"][0]["count"].as_f64().unwrap();
    let cycles = counted["cycles"].as_f64().unwrap();
    assert!(clock > 0.0 && clock < cycles, "{clock} of {cycles}");
}

#[test]
fn mistakes_name_what_was_probably_meant() {
    let line = mistake(&["stat", "count", "--pmu", "k8", "-e", "DATA_CACHE_MISS"]);
    assert!(line.contains("did you mean DATA_CACHE_MISSES"), "{line}");
    let line = mistake(&["stat", "cuont", "--pmu", "k8"]);
    assert!(line.contains("did you mean count"), "{line}");
    let line = mistake(&["stat", "count", "--pmu", "k8", "-e", "cycles:int"]);
    assert!(line.contains("leave it out"), "{line}");
    let line = mistake(&["stat", "count", "--pmu", "power9", "-e", "PM_MCS01_64B_RD_DISP_PORT01"]);
    assert!(line.contains("posted into memory"), "{line}");
}

#[test]
fn a_guest_that_fails_is_status_1() {
    assert_eq!(pmulab(&["stat", "count", "--pmu", "k8", "--steps", "1000", "-e", "cycles"]).status.code(), Some(1));
}
