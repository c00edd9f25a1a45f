//! Runs that are saved in their middle.

use super::{mistake, shown};

const RUN: [&str; 5] = ["run", "--pmu", "k8", "--guest", "count"];

fn with(arguments: &[&'static str]) -> Vec<&'static str> {
    [&RUN, arguments].concat()
}

#[test]
fn a_run_that_was_saved_shows_what_one_shows_that_was_not() {
    let whole = shown(&with(&["--trace", "20"]));
    assert_eq!(shown(&with(&["--trace", "20", "--save-at", "2001"])), whole);
    assert_eq!(shown(&with(&["--trace", "20", "--save-at", "2001", "--go-on-with", "interpreter"])), whole);
}

#[test]
fn a_guest_that_ends_before_it_is_saved_is_a_mistake() {
    let said = "count: the guest ended before it had taken 100,000 steps, so it was not saved: all 64 checks passed";
    assert_eq!(mistake(&with(&["--save-at", "100000"])), said);
    let said = "count: it cannot be saved after 500 steps, because the run stops after 400: save it earlier";
    assert_eq!(mistake(&with(&["--save-at", "500", "--steps", "400"])), said);
}

#[test]
fn an_engine_to_go_on_with_must_be_known() {
    let said = mistake(&with(&["--save-at", "500", "--go-on-with", "quantum"]));
    assert!(said.starts_with("no engine is called `quantum`"), "{said}");
}
