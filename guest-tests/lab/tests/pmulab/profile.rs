//! `pmulab record`, `report` and `annotate`.

use std::path::Path;

use super::*;

/// Samples `guest` into a file of `folder`, and returns its path.
fn recorded(folder: &Path, arguments: &[&str]) -> String {
    let file = folder.join("samples").display().to_string();
    shown(&[&["record", "-o", &file], arguments].concat());
    file
}

#[test]
fn every_part_is_sampled_at_each_period() {
    let folder = tempfile::tempdir().unwrap();
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let file = recorded(folder.path(), &["-e", "cycles", "-c", "97", "--pmu", pmu, "count"]);
        let report = json(&["report", &file, "--format", "json"]);
        let counted = json(&["stat", "count", "--pmu", pmu, "-e", "cycles", "--format", "json"]);
        let cycles = counted["events"][0]["count"].as_f64().unwrap() as u64;
        // Whatever of a cycle's events belongs to the next sample is neither lost nor counted twice.
        assert_eq!(report["count"], cycles, "{pmu}");
        let events: u64 = report["symbols"].as_array().unwrap().iter().map(|total| total["events"].as_u64().unwrap()).sum();
        assert_eq!(events, cycles / 97 * 97, "{pmu}");
    }
}

#[test]
fn samples_lie_within_the_functions_that_the_guest_has_at_the_level() {
    // `profile` runs its two functions in ring 3 at 40_0000h to 40_001Fh.
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "instructions:u", "-c", "97", "--pmu", "k8", "profile"]);
    let text = std::fs::read_to_string(&file).unwrap();
    let profile: Value = serde_json::from_str(&text).unwrap();
    let samples = profile["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 625, "60,653 instructions of ring 3, each 97th");
    assert!(samples.iter().all(|sample| (0x40_0000..0x40_0020).contains(&sample["address"].as_u64().unwrap()) && sample["privilege"] == 3));
}

#[test]
fn folded_stacks_add_up_to_all_samples() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "instructions:u", "-c", "97", "--pmu", "k8", "profile"]);
    let text = shown(&["report", &file, "--folded"]);
    let weights = text.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        assert!(stack.starts_with("profile;0x4000"), "{line}");
        weight.parse::<u64>().unwrap()
    });
    assert_eq!(weights.sum::<u64>(), 625 * 97);
}

#[test]
fn a_script_has_a_header_and_a_frame_of_each_sample() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "cycles", "-c", "97", "--pmu", "itanium", "count"]);
    let text = shown(&["report", &file, "--script"]);
    for block in text.split_terminator("\n\n") {
        let (header, frame) = block.split_once('\n').unwrap();
        let words: Vec<&str> = header.split_whitespace().collect();
        assert_eq!((words[0], words[1], words[2], words[4], words[5]), ("count", "0", "[000]", "97", "cycles:"), "{header}");
        assert!(words[3].strip_suffix(':').unwrap().parse::<f64>().is_ok(), "{header}");
        assert!(u64::from_str_radix(frame.split_whitespace().next().unwrap(), 16).is_ok(), "{frame}");
    }
}

#[test]
fn firefox_profiler_gets_threads_with_samples() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "instructions", "-c", "500", "--pmu", "power9", "four-threads"]);
    let profile = json(&["report", &file, "--firefox"]);
    let threads = profile["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 4);
    for thread in threads {
        assert_eq!(thread["samples"]["stack"].as_array().unwrap().len() as u64, thread["samples"]["length"].as_u64().unwrap());
    }
}

#[test]
fn mistakes_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x").display().to_string();
    let line = mistake(&["record", "-o", &file, "-e", "cha0::TOR_INSERTS.IRQ", "--pmu", "knl", "count"]);
    assert!(line.contains("counted by a box"), "{line}");
    let line = mistake(&["record", "-o", &file, "-e", "cycles:int", "--pmu", "k8", "count"]);
    assert!(line.contains("-c is the period"), "{line}");
    assert!(mistake(&["report", &file]).contains("cannot be read"));
    std::fs::write(&file, "{}").unwrap();
    assert!(mistake(&["report", &file]).contains("is not what `pmulab record` writes"));
    let file = recorded(folder.path(), &["--pmu", "k8", "count"]);
    assert!(mistake(&["annotate", &file, "main"]).contains("annotate takes an ELF file"));
}
