//! Pages of runs: what their data says, that they are right HTML, and what a browser makes of them, where there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::sync::{Mutex, PoisonError};

use crate::browser::{self, attribute, document};
use assert_cmd::Command;
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Error, Token, Tokenizer};
use serde_json::Value;
use tempfile::TempDir;

/// A guest of each part.
const RUNS: [(&str, &str); 5] =
    [("k8", "profile"), ("knl", "freeze"), ("power9", "overflow"), ("itanium", "branches"), ("montecito", "two-threads")];

/// Guests of what CPUs share: boxes, all of which count, and a nest.
const SHARED: [(&str, &str); 2] = [("knl", "global-freeze"), ("power9", "nest-memory")];

/// The folder with the page of a run, and the page.
fn written(arguments: &[&str]) -> (TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.html");
    let output = Command::cargo_bin("pmulab").unwrap().arg("run").args(arguments).arg("--report").arg(&path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    let text = fs::read_to_string(&path).unwrap();
    (folder, path, text)
}

/// The same of a guest of the project: it runs once, whatever tests want its page.
fn of_guest(pmu: &str, guest: &str) -> (TempDir, PathBuf, String) {
    static PAGES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let page = pages.entry(format!("{pmu} {guest}")).or_insert_with(|| written(&["--pmu", pmu, "--guest", guest]).2).clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.html");
    fs::write(&path, &page).unwrap();
    (folder, path, page)
}

/// The data that a page's charts and registers are made from.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The trace of this name of a CPU's chart.
fn series<'a>(data: &'a Value, cpu: usize, name: &str) -> &'a Value {
    let traces = data["cpus"][cpu]["figure"]["data"].as_array().unwrap();
    traces.iter().find(|trace| trace["name"] == name).unwrap()
}

fn numbers(values: &Value) -> Vec<i64> {
    values.as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
}

#[test]
fn the_last_value_that_is_drawn_is_what_the_guest_leaves() {
    let data = data(&of_guest("k8", "profile").2);
    // 60,653 instructions of ring 3 and interrupts are 618 times 98, 97 instructions and the interrupt, and 89 more. The counter, set to
    // 97 before its overflow, has 8 left.
    assert_eq!(numbers(&series(&data, 0, "PerfCtr0")["y"]).last(), Some(&-8));
}

#[test]
fn as_many_interrupts_and_samples_are_shown_as_the_guest_expects() {
    let (_folder, _, page) = of_guest("k8", "profile");
    let data = data(&page);
    // The guest checks that it gets 618.
    assert_eq!(data["interrupts"]["data"][0]["x"].as_array().unwrap().len(), 618);
    assert_eq!(series(&data, 0, "interrupt")["x"].as_array().unwrap().len(), 618);
    assert!(page.contains("618 that the guest itself took."));
}

#[test]
fn latencies_have_a_chart_where_an_interrupt_waited() {
    // POWER9 takes an interrupt before the next instruction, and the K8's cycle in which a counter overflows ends after it.
    let (still, waiting) = (of_guest("power9", "overflow").2, of_guest("k8", "profile").2);
    let chart = "<div id=\"latency\"";
    assert!(still.contains("all latencies are 0.") && !still.contains(chart));
    assert_eq!(data(&still)["interrupts"], Value::Null);
    assert!(waiting.contains(chart) && !waiting.contains("all latencies are 0."));
}

#[test]
fn a_freeze_is_drawn_where_the_guest_has_the_pmu_freeze() {
    let data = data(&of_guest("knl", "freeze").2);
    let moments = data["cpus"][0]["moments"].as_array().unwrap();
    let starts = |moment: &&Value| moment["what"].as_str().is_some_and(|what| what.starts_with("IA32_PERF_GLOBAL_CTRL := 0x7"));
    let started = moments.iter().find(starts).unwrap()["at"][1].as_i64().unwrap();
    // It starts the counters 10 instructions before an overflow. Each takes a cycle, and the write that starts them is the first.
    let frozen = series(&data, 0, "frozen");
    assert!(numbers(&frozen["base"]).contains(&(started + 9)), "{started}: {frozen}");
}

#[test]
fn samples_from_outside_stand_for_the_cycles_of_the_run() {
    let data = data(&written(&["--pmu", "power9", "--guest", "latency", "--report-period", "1001"]).2);
    let end = numbers(&data["cpus"][0]["figure"]["layout"]["xaxis"]["range"])[1];
    let flame = &data["flame"]["data"][0];
    let sampled = numbers(&flame["values"])[0];
    // A sample stands for the cycles since the one before it: 1,001, or more where an instruction took longer. What comes after the last
    // is not sampled, and is less.
    assert!((0..1001).contains(&(end - sampled)), "{sampled} of {end}");
}

#[test]
fn the_flame_graph_of_a_guest_of_this_project_has_its_routines() {
    let data = data(&of_guest("k8", "profile").2);
    let labels = data["flame"]["data"][0]["labels"].as_array().unwrap();
    for name in ["alpha", "beta", "gamma", "nmi_handler", "main"] {
        assert!(labels.iter().any(|label| label == name), "{name} in {labels:?}");
    }
}

#[test]
fn the_stack_has_every_cycle_once() {
    let whole = |pmu: &str, guest: &str| {
        let data = data(&of_guest(pmu, guest).2);
        let parts = data["stack"]["data"].as_array().unwrap().clone();
        (parts.iter().map(|part| part["x"][0].as_f64().unwrap()).sum::<f64>(), data)
    };
    // The chapter's own number of the guest, from `pmulab`.
    let (power9, _) = whole("power9", "latency");
    assert!((power9 - 23.90).abs() < 0.005, "{power9}");
    // Montecito's: the bubbles and the cycles that retire something are all cycles (Montecito RM 4.6), and the guest has one CPU.
    let (montecito, data) = whole("montecito", "profile");
    let end = numbers(&data["cpus"][0]["figure"]["layout"]["xaxis"]["range"])[1] as f64;
    let last = data["cpus"][0]["moments"].as_array().unwrap().last().unwrap()["at"][0].as_f64().unwrap();
    assert!((montecito - end / last).abs() < 0.02 * montecito, "{montecito}, {end} cycles, {last} instructions");
}

#[test]
fn a_part_without_a_stack_says_why() {
    for (pmu, guest) in [("k8", "count"), ("knl", "count")] {
        let page = of_guest(pmu, guest).2;
        assert!(page.contains("manual has no metrics that divide the cycles."), "{pmu}");
        assert_eq!(data(&page)["stack"], Value::Null);
    }
    let page = of_guest("itanium", "count").2;
    assert!(page.contains("only the companion&#39;s clock knows what holds instructions up"));
}

/// The chart of what CPUs share that has this name.
fn shared<'a>(data: &'a Value, kind: &str) -> &'a Value {
    data["shared"].as_array().unwrap().iter().find(|chart| chart["kind"] == kind).unwrap()
}

#[test]
fn a_chart_of_a_kind_of_box_names_boxes_counters_and_events() {
    let data = data(&of_guest("knl", "mc-cas").2);
    let chart = shared(&data, "mc-dclk");
    let lines = chart["figure"]["data"].as_array().unwrap();
    // Of 18 counters, three in each of six channels, as many as there are colours.
    assert_eq!((lines.len(), chart["left_out"].as_u64()), (10, Some(8)));
    let last = |name: &str| *numbers(&lines.iter().find(|line| line["name"] == name).unwrap()["y"]).last().unwrap();
    // The guest's last measurement reads nothing, and counts the same as writes and as both.
    assert_eq!((last("mc-dclk5 counter 0: CAS:READS"), last("mc-dclk5 counter 1: CAS:WRITES")), (0, last("mc-dclk5 counter 2: CAS:ALL")));
}

#[test]
fn every_kind_of_box_that_counts_has_a_chart() {
    let page = of_guest("knl", "global-freeze").2;
    let data = data(&page);
    let kinds: Vec<&str> = data["shared"].as_array().unwrap().iter().map(|chart| chart["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ubox", "cha", "mc-uclk", "mc-dclk", "edc-uclk", "edc-eclk", "m2pcie", "irp"]);
    // A counter in each of 38 CHAs, and two that the guest has overflow.
    assert!(page.contains("Of 40 counters that moved 10 are drawn: of each event in turn the one that counted most."));
}

#[test]
fn a_counter_that_is_written_in_halves_is_drawn_before_and_behind_both() {
    let data = data(&of_guest("knl", "global-freeze").2);
    let charts = data["shared"].as_array().unwrap();
    let lines = charts.iter().flat_map(|chart| chart["figure"]["data"].as_array().unwrap());
    // The guest sets counters to 100 before their overflow; with one half alone they would be 2^32 before it.
    let least = lines.flat_map(|line| numbers(&line["y"])).min();
    assert_eq!(least, Some(-100));
}

#[test]
fn a_nest_has_a_chart_of_its_traffic_and_one_of_its_clocks() {
    let data = data(&of_guest("power9", "nest-memory").2);
    let names = |kind: &str| {
        let lines = shared(&data, kind)["figure"]["data"].as_array().unwrap();
        lines.iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names("nest0").iter().all(|name| !name.ends_with("_CYC")), "{:?}", names("nest0"));
    assert!(names("nest0-clocks").contains(&"PM_PB_CYC".to_owned()), "{:?}", names("nest0-clocks"));
}

#[test]
fn a_page_says_where_no_box_was_used_and_says_nothing_where_there_is_none() {
    for (pmu, guest, has_boxes) in [("knl", "freeze", true), ("k8", "count", false)] {
        let (_folder, _, page) = of_guest(pmu, guest);
        assert_eq!(page.contains("The guest enabled no counter of a box."), has_boxes, "{pmu}");
        assert!(!page.contains("<section id=\"shared\">"), "{pmu}");
    }
}

#[test]
fn every_check_of_the_run_is_in_the_page() {
    for (pmu, guest) in RUNS {
        let output =
            Command::cargo_bin("pmulab").unwrap().args(["run", "--pmu", pmu, "--guest", guest, "--format", "json"]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap().len();
        let page = of_guest(pmu, guest).2;
        let (_, section) = page.split_once("<section id=\"checks\">").unwrap();
        let section = section.split_once("</section>").unwrap().0;
        assert_eq!(section.matches("<span class=\"pass\">pass</span>").count(), checks, "{pmu} {guest}");
    }
}

/// The elements of a page, each with its attributes, after a look at whether they are closed in the right order.
fn elements(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    const VOID: [&str; 3] = ["meta", "input", "br"];
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let (mut open, mut elements) = (Vec::new(), Vec::new());
    for token in Tokenizer::new_with_emitter(page, emitter) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let name = text(&tag.name);
                let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
                if !VOID.contains(&name.as_str()) {
                    open.push(name.clone());
                }
                elements.push((name, attributes));
            }
            Token::EndTag(tag) => assert_eq!(open.pop(), Some(text(&tag.name))),
            // The charts' program has some in its texts.
            Token::Error(error) if error.value == Error::ControlCharacterInInputStream => {}
            Token::Error(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    assert_eq!(open, Vec::<String>::new());
    elements
}

#[test]
fn pages_are_right_html_that_loads_nothing() {
    for (pmu, guest) in RUNS.into_iter().chain(SHARED) {
        let page = of_guest(pmu, guest).2;
        let mut ids = BTreeSet::new();
        let elements = elements(&page);
        for (name, attributes) in &elements {
            assert!(!matches!(name.as_str(), "link" | "img" | "iframe" | "base" | "object"), "{pmu}: {name}");
            for (attribute, value) in attributes {
                match attribute.as_str() {
                    "src" => panic!("{pmu}: {name} loads {value}"),
                    "href" => assert!(value.starts_with('#'), "{pmu}: {value}"),
                    "id" => assert!(ids.insert(value.clone()), "{pmu}: {value} is there twice"),
                    _ => {}
                }
            }
        }
        let links = elements.into_iter().filter_map(|(_, attributes)| {
            attributes
                .into_iter()
                .find(|(name, _)| name == "href" || name == "for")
                .map(|(_, value)| value.trim_start_matches('#').to_owned())
        });
        for link in links {
            assert!(ids.contains(&link), "{pmu}: nothing is called {link}");
        }
    }
}

#[test]
fn pages_have_a_reasonable_size() {
    for (pmu, guest) in RUNS.into_iter().chain(SHARED) {
        let (_folder, _, page) = of_guest(pmu, guest);
        // The charts' program has 4.6 MB.
        assert!(page.len() < 8 << 20, "{pmu} {guest}: {}", page.len());
        assert!(data(&page)["cpus"].as_array().unwrap().iter().all(|cpu| cpu["moments"].as_array().unwrap().len() <= 8193));
    }
}

#[test]
fn what_the_guest_names_is_text() {
    const NAME: &str = "</script><b>x";
    let folder = tempfile::tempdir().unwrap();
    let (source, guest) = (folder.path().join("guest.s"), folder.path().join("guest.elf"));
    let text = format!(".globl _start\n_start: call \"{NAME}\"\n.type \"{NAME}\", @function\n\"{NAME}\": nop\njmp \"{NAME}\"\n");
    fs::write(&source, text).unwrap();
    let build =
        Program::new("gcc").args(["-nostdlib", "-static", "-Wl,-Ttext=0x400000,--build-id=none", "-o"]).arg(&guest).arg(&source).output();
    if !cfg!(target_arch = "x86_64") || !build.is_ok_and(|built| built.status.success()) {
        eprintln!("skipped: a guest whose symbol is a mark of HTML, as there is no compiler for it");
        return;
    }
    let (page_folder, path, page) = written(&["--steps", "3000", "--guest", guest.to_str().unwrap()]);
    assert!(!page.contains(NAME));
    assert!(data(&page)["flame"]["data"][0]["labels"].as_array().unwrap().contains(&"&lt;/script&gt;&lt;b&gt;x".into()));
    assert!(elements(&page).iter().all(|(name, _)| name != "b"));
    let Some(browser) = browser::found("a symbol that is a mark of HTML") else { return };
    let document = document(browser, page_folder.path(), &format!("file://{}", path.display()), false);
    assert_eq!(attribute(&document, "html", "data-errors"), "");
    assert!(browser::elements(&document).iter().all(|(name, _)| name != "b"));
}

#[test]
fn a_page_is_of_one_run_and_goes_with_no_metrics() {
    let said = |arguments: &[&str]| {
        let output = Command::cargo_bin("pmulab").unwrap().arg("run").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said(&["--guest", "all", "--report", "run.html"]), "pmulab: a page is of one run: name one\n");
    let missing = said(&["--pmu", "k8", "--guest", "count", "--report", "/nowhere/run.html"]);
    assert!(missing.starts_with("pmulab: /nowhere/run.html cannot be written: "), "{missing}");
    assert!(said(&["--pmu", "power9", "--guest", "count", "--metrics", "RUN_CPI", "--report", "run.html"]).contains("cannot be used with"));
}

/// The registers that a document shows: names and values.
fn registers(document: &str) -> Vec<(String, String)> {
    let of = |attributes: &[(String, String)], name: &str| attributes.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone());
    let shown =
        |(_, attributes): (String, Vec<(String, String)>)| Some((of(&attributes, "data-register")?, of(&attributes, "data-value")?));
    browser::elements(document).into_iter().filter_map(shown).collect()
}

#[test]
fn the_moment_of_the_address_chooses_the_registers() {
    let Some(browser) = browser::found("the registers of a moment") else { return };
    let (folder, path, _) = of_guest("knl", "freeze");
    let at = |instruction: u64| registers(&document(browser, folder.path(), &format!("file://{}#at={instruction}", path.display()), false));
    let value = |shown: &[(String, String)], name: &str| shown.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone());
    // The guest has PMC0 overflow 10 instructions behind the write that starts the counters, after 96 instructions; PMC1 counts the same.
    let before = at(95);
    assert_eq!(value(&before, "IA32_PMC0"), Some("0xfffffffff6".to_owned()), "{before:?}");
    let after = at(107);
    assert_eq!(value(&after, "IA32_PMC1"), Some("0xa".to_owned()), "{after:?}");
    // What is zero is not shown.
    assert_eq!(value(&after, "IA32_PERF_GLOBAL_CTRL"), None, "{after:?}");
}

#[test]
fn the_address_chooses_the_cpu() {
    let Some(browser) = browser::found("the registers of another CPU") else { return };
    let (folder, path, page) = of_guest("montecito", "two-threads");
    let document = document(browser, folder.path(), &format!("file://{}#cpu=1&at=0", path.display()), false);
    assert_eq!(data(&page)["cpus"].as_array().unwrap().len(), 2);
    assert!(document.contains("CPU 1: moment "), "the moment is of another CPU");
    assert!(document.contains("cycles of CPU 1"), "the charts are of another CPU");
}

/// A document with a page in a frame of this width, which looks at the page once it is drawn.
fn framed(folder: &Path, width: u32) -> String {
    let frame = folder.join("frame.html");
    let program = "const frame = document.querySelector('iframe');\
        frame.onload = () => setTimeout(() => {\
            const page = frame.contentDocument, root = page.documentElement;\
            const wide = [...page.querySelectorAll('body *')].filter((one) => !one.closest('.wide, pre, svg, script')\
                && one.getBoundingClientRect().right > root.clientWidth + 1).map((one) => one.tagName + '#' + one.id);\
            const text = page.querySelector('#counters .xtick text');\
            const lines = () => page.querySelectorAll('#shared path.js-line').length;\
            page.querySelectorAll('details').forEach((one) => one.open = true);\
            const cut = [...page.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel);\
            const names = [...page.querySelectorAll('#shared .lines button')], shared = lines();\
            names.slice(0, 1).forEach((name) => name.click());\
            Object.assign(document.body.dataset, {\
                errors: root.dataset.errors, drawn: root.dataset.drawn,\
                lines: page.querySelectorAll('#counters path.js-line').length,\
                bars: page.querySelectorAll('#counters .bars .point path').length,\
                boxes: page.querySelectorAll('#flame path.surface').length,\
                shared, names: names.length, left: lines(), hidden: page.querySelectorAll('#shared [aria-pressed=false]').length,\
                page: root.scrollWidth, window: root.clientWidth, wide: wide.join(' '), cut: cut.join(' '),\
                checks: page.querySelector('#checks td:last-child').getBoundingClientRect().right <= root.clientWidth ? 'whole' : 'cut',\
                back: frame.contentWindow.getComputedStyle(page.body).backgroundColor,\
                text: text ? frame.contentWindow.getComputedStyle(text).fill : ''\
            });\
        }, 3000);";
    let text = format!(
        "<!DOCTYPE html><body><iframe style=\"width:{width}px;height:1800px;border:0\" src=\"run.html\"></iframe><script>{program}</script>"
    );
    fs::write(&frame, text).unwrap();
    format!("file://{}", frame.display())
}

#[test]
fn a_browser_draws_the_page_of_every_part_within_a_narrow_window_and_without_a_mistake() {
    let Some(browser) = browser::found("the charts of every part") else { return };
    for (pmu, guest) in RUNS {
        let (folder, ..) = of_guest(pmu, guest);
        let document = document(browser, folder.path(), &framed(folder.path(), 360), false);
        let of = |name: &str| attribute(&document, "body", name);
        assert_eq!((of("data-errors").as_str(), of("data-drawn").as_str()), ("", "yes"), "{pmu}");
        assert_eq!((of("data-window").as_str(), of("data-page").as_str(), of("data-wide").as_str()), ("360", "360", ""), "{pmu}");
        assert_eq!((of("data-cut").as_str(), of("data-checks").as_str()), ("", "whole"), "{pmu}: columns of tables");
        for drawn in ["data-lines", "data-bars", "data-boxes"] {
            assert!(of(drawn).parse::<u32>().unwrap() > 0, "{pmu}: {drawn}");
        }
    }
}

#[test]
fn a_browser_draws_what_cpus_share_within_a_narrow_window_and_a_click_on_a_name_hides_its_line() {
    let Some(browser) = browser::found("the charts of boxes") else { return };
    for (pmu, guest) in SHARED {
        let (folder, _, page) = of_guest(pmu, guest);
        let charts = data(&page)["shared"].as_array().unwrap().clone();
        let lines: usize = charts.iter().map(|chart| chart["figure"]["data"].as_array().map_or(0, Vec::len)).sum();
        let document = document(browser, folder.path(), &framed(folder.path(), 360), false);
        let of = |name: &str| attribute(&document, "body", name);
        assert_eq!((of("data-errors").as_str(), of("data-page").as_str(), of("data-wide").as_str()), ("", "360", ""), "{pmu}");
        assert_eq!((of("data-shared"), of("data-names")), (lines.to_string(), lines.to_string()), "{pmu}");
        assert_eq!((of("data-left"), of("data-hidden")), ((lines - 1).to_string(), "1".to_owned()), "{pmu}");
    }
}

/// How bright a colour is, from 0 to 765: `rgb(1, 2, 3)`.
fn brightness(colour: &str) -> u32 {
    let digits = colour.trim_start_matches("rgb(").trim_end_matches(')');
    digits.split(',').map(|part| part.trim().parse::<u32>().unwrap()).sum()
}

#[test]
fn page_and_charts_have_the_scheme_that_the_reader_prefers() {
    let Some(browser) = browser::found("both schemes") else { return };
    let (folder, ..) = of_guest("k8", "count");
    let colours = |dark| {
        let document = document(browser, folder.path(), &framed(folder.path(), 1200), dark);
        [attribute(&document, "body", "data-back"), attribute(&document, "body", "data-text")].map(|colour| brightness(&colour))
    };
    let ([back, text], [dark_back, dark_text]) = (colours(false), colours(true));
    assert!(back > text + 400, "{back} {text}");
    assert!(dark_text > dark_back + 400, "{dark_back} {dark_text}");
}
