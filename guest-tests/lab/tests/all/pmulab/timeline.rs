//! Timelines of a run.

use super::{mistake, pmulab, shown};

const FREEZE: [&str; 5] = ["run", "--pmu", "knl", "--guest", "freeze"];

#[test]
fn the_end_of_the_name_or_an_argument_chooses_the_form() {
    let folder = tempfile::tempdir().unwrap();
    for (name, form, begins) in
        [("run.json", None, "{\"displayTimeUnit\""), ("run.VCD", None, "$version"), ("run", Some("vcd"), "$version")]
    {
        let path = folder.path().join(name);
        let mut arguments = [&FREEZE, ["--timeline", path.to_str().unwrap()].as_slice()].concat();
        if let Some(form) = form {
            arguments.extend(["--timeline-format", form]);
        }
        let text = shown(&arguments);
        assert!(text.starts_with("Timeline: ") && text.ends_with("PASS\n"), "{text}");
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(begins), "{name}");
    }
}

#[test]
fn a_drawn_write_has_the_fields_that_it_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    shown(&[&FREEZE, ["--timeline", path.to_str().unwrap()].as_slice()].concat());
    // The guest begins by setting bit 12 of IA32_DEBUGCTL.
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"changed\":[\"FREEZE_PERFMON_ON_PMI 0 → 1\"]"), "{text}");
}

#[test]
fn samples_come_as_often_as_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let samples = |every: &str| {
        let path = folder.path().join("run.json");
        shown(&["run", "--pmu", "power9", "--guest", "count", "--timeline", path.to_str().unwrap(), "--timeline-every", every]);
        std::fs::read_to_string(&path).unwrap().matches("\"ph\":\"C\"").count()
    };
    assert!(samples("10") > 2 * samples("1000000"));
}

#[test]
fn what_cannot_be_drawn_is_a_mistake() {
    let said = mistake(&[&FREEZE, ["--timeline", "run.txt"].as_slice()].concat());
    assert_eq!(said, "`run.txt` ends neither with .json nor with .vcd: add `--timeline-format chrome` or `vcd`");
    let said = mistake(&["run", "--pmu", "knl", "--guest", "freeze", "--guest", "count", "--timeline", "run.vcd"]);
    assert_eq!(said, "a timeline is of one run: name one");
    let said = mistake(&[&FREEZE, ["--timeline", "/nowhere/run.vcd"].as_slice()].concat());
    assert!(said.starts_with("/nowhere/run.vcd cannot be written: "), "{said}");
}

#[test]
fn metrics_have_no_timeline() {
    let arguments = ["run", "--pmu", "power9", "--guest", "count", "--metrics", "RUN_CPI", "--timeline", "run.vcd"];
    assert_eq!(pmulab(&arguments).status.code(), Some(2));
}
