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

/// How many samples `report` shows for each symbol.
fn by_symbol(file: &str) -> Vec<(String, u64)> {
    let report = json(&["report", file, "--format", "json"]);
    let of = |total: &Value| (total["name"].as_str().unwrap().to_owned(), total["samples"].as_u64().unwrap());
    report["symbols"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn samples_of_x86_guests_are_told_by_routine() {
    let folder = tempfile::tempdir().unwrap();
    for pmu in ["k8", "knl"] {
        let file = recorded(folder.path(), &["-e", "instructions:u", "-c", "97", "--pmu", pmu, "profile"]);
        let symbols = by_symbol(&file);
        // Three times MOV, 6,000 turns of two instructions and RET: 36,006 of 97 each. The K8 also counts the interrupts that the guest takes
        // there, one in 97. Each of the three stretches may have a sample more or less.
        let (first, samples) = &symbols[0];
        assert!(first == "alpha" && (368..=378).contains(samples), "{pmu}: {symbols:?}");
        assert!(symbols.iter().all(|(name, _)| ["alpha", "beta", "gamma", "caller"].contains(&name.as_str())), "{pmu}: {symbols:?}");
    }
}

#[test]
fn samples_of_power9s_guests_are_told_by_routine() {
    // The loop is all of the guest that executes in problem state.
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "instructions:u", "-c", "97", "--pmu", "power9", "sample"]);
    let symbols = by_symbol(&file);
    assert!(matches!(&symbols[..], [(name, samples)] if name == "sampled_loop" && *samples > 0), "{symbols:?}");
}

#[test]
fn samples_of_ia_64_guests_are_told_by_routine() {
    let folder = tempfile::tempdir().unwrap();
    for pmu in ["itanium", "montecito"] {
        let file = recorded(folder.path(), &["-e", "instructions", "-c", "97", "--pmu", pmu, "profile"]);
        let symbols = by_symbol(&file);
        let samples = |name: &str| symbols.iter().find(|(symbol, _)| symbol == name).map_or(0, |(_, samples)| *samples);
        // Twice: 2 and 3 instructions, then 200 turns of 19 bundles of three. 22,810 of 97 each, one more or less in either stretch.
        assert!((233..=237).contains(&samples("beta_misses")), "{pmu}: {symbols:?}");
        // The same with 80 turns: 9,130.
        assert!((92..=96).contains(&samples("alpha_misses")), "{pmu}: {symbols:?}");
    }
}

#[test]
fn a_routine_of_a_guest_of_this_project_is_annotated() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "instructions:u", "-c", "97", "--pmu", "k8", "profile"]);
    let text = shown(&["annotate", &file, "alpha"]);
    let words: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split("  0x").nth(1)).collect();
    // MOV of 32 bits has five bytes, DEC and JNZ have two: the next routine begins behind the RET.
    assert_eq!(words, ["400000  mov ecx,1770h", "400005  dec ecx", "400007  jne 400005h", "400009  ret"]);
    for (pmu, guest, routine, lines) in [("power9", "sample", "sampled_loop", 22), ("itanium", "profile", "gamma_turns", 5)] {
        let file = recorded(folder.path(), &["-c", "97", "--pmu", pmu, guest]);
        assert_eq!(shown(&["annotate", &file, routine]).lines().count(), 1 + lines, "{pmu}");
    }
}

#[test]
fn accesses_of_guests_of_this_project_are_told_with_the_routine() {
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let text = shown(&["run", "--pmu", pmu, "--guest", "count", "--trace", "3"]);
        assert!(text.contains("at main+0x"), "{pmu}: {text}");
    }
}

#[test]
fn guests_of_x86_that_use_rbp_for_other_things_have_no_callers() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-c", "97", "--pmu", "k8", "call-depth"]);
    let text = shown(&["report", &file, "--folded"]);
    assert!(text.lines().all(|line| line.matches(';').count() == 1), "{text}");
}

#[test]
fn folded_stacks_add_up_to_all_samples() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path(), &["-e", "instructions:u", "-c", "97", "--pmu", "k8", "profile"]);
    let text = shown(&["report", &file, "--folded"]);
    let weights = text.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        assert!(["profile;alpha", "profile;beta", "profile;gamma", "profile;caller"].contains(&stack), "{line}");
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
    let file = recorded(folder.path(), &["--pmu", "k8", "-c", "97", "-e", "instructions:u", "profile"]);
    assert!(mistake(&["annotate", &file, "alhpa"]).starts_with("profile has no symbol `alhpa`: did you mean alpha"));
}

#[test]
fn instructions_and_what_was_recorded_are_told_to_programs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples").display().to_string();
    let recorded = json(&["record", "-e", "instructions:u", "-c", "97", "-o", &file, "--format", "json", "--pmu", "k8", "profile"]);
    assert_eq!((&recorded["samples"], &recorded["passed"], &recorded["period"]), (&625.into(), &true.into(), &97.into()));
    let annotated = json(&["annotate", &file, "alpha", "--format", "json"]);
    let instructions = annotated["instructions"].as_array().unwrap();
    // `alpha` begins with the function of ring 3 at 40_0000h.
    assert_eq!((&annotated["symbol"], &instructions[0]["address"]), (&"alpha".into(), &0x40_0000.into()));
    let sum: u64 = instructions.iter().map(|one| one["events"].as_u64().unwrap()).sum();
    assert_eq!(annotated["events"], sum);
}
