//! What POWER9's nest has posted, as metrics of a run.

use super::*;

/// The metrics of these names after `nest-memory`: value and why there is none.
fn measured(names: &[&str]) -> Vec<(Option<f64>, Option<String>)> {
    let metrics: Vec<&str> = names.iter().flat_map(|name| ["--metrics", name]).collect();
    let run = json(&[&["run", "--pmu", "power9", "--guest", "nest-memory", "--format", "json"], metrics.as_slice()].concat());
    assert_eq!(run[0]["passed"], true);
    let found = run[0]["metrics"].as_array().unwrap();
    assert_eq!(found.len(), names.len());
    found.iter().map(|metric| (metric["value"].as_f64(), metric["no_value"].as_str().map(str::to_owned))).collect()
}

#[test]
fn bandwidths_are_computed_from_what_was_posted() {
    let found = measured(&["mba1_write_BW", "mba7_write_BW", "mcs01_amo_req_disp_rate"]);
    let [(first, _), (last, _), (atomic, _)] = found.as_slice() else { panic!("{found:?}") };
    // As many blocks at each port, over the same clocks or one posting more or less of them.
    let (first, last) = (first.unwrap(), last.unwrap());
    assert!(first > 0.0 && (first / last - 1.0).abs() < 0.02, "{first} {last}");
    assert_eq!(*atomic, Some(0.0), "counted, and there were none");
}

#[test]
fn what_only_the_other_mode_posts_is_not_known() {
    let found = measured(&["mcs01_rrto_disp_rate"]);
    assert_eq!(found, [(None, Some("not counted: PM_MCS01_RRTO_DISP_PORT01".to_owned()))]);
}
