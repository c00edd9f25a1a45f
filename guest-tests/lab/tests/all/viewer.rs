//! Timelines in Chrome's trace viewer, with its own parser, where there are a browser and the viewer: Debian's `golang-src` has a copy.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde::Deserialize;
use serde_json::Value;
use vm_pmu::arch::registry::NAMES;

use crate::browser;

/// A guest of each part, one of two threads, and one that reads boxes.
const RUNS: [(&str, &str); 7] = [
    ("k8", "overflow"),
    ("k8", "two-cpus"),
    ("knl", "linux-uncore"),
    ("power9", "overflow"),
    ("itanium", "overflow"),
    ("montecito", "overflow"),
    ("montecito", "two-threads"),
];

/// Opens each of `TEXTS` in the viewer, and says in an attribute what the model of each has.
const PROGRAM: &str = r"
function opened(text) {
  const model = new tr.Model();
  new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
  const seen = { warnings: model.importWarnings.map(one => one.message), processes: [], tracks: [], slices: 0, unfinished: 0, values: 0, end: model.bounds.max };
  for (const process of model.getAllProcesses()) {
    seen.processes.push(process.name);
    for (const counter of Object.values(process.counters)) {
      seen.values += counter.series.reduce((sum, one) => sum + one.samples.length, 0);
    }
    for (const thread of Object.values(process.threads)) {
      seen.tracks.push(process.name + ': ' + thread.name);
      seen.slices += thread.sliceGroup.slices.length;
      seen.unfinished += thread.sliceGroup.slices.filter(one => one.didNotFinish).length;
    }
  }
  return seen;
}
const link = document.createElement('link');
link.rel = 'import';
link.onload = () => {
  let seen;
  try { seen = TEXTS.map(opened); } catch (error) { seen = String(error.stack); }
  document.documentElement.setAttribute('data-seen', JSON.stringify(seen));
};
link.href = VIEWER;
document.head.appendChild(link);
";

/// What the viewer's model has of a timeline.
#[derive(Debug, Deserialize, PartialEq)]
struct Seen {
    warnings: Vec<String>,
    processes: BTreeSet<String>,
    /// The tracks that have anything, with their processes.
    tracks: BTreeSet<String>,
    /// Slices and instants.
    slices: usize,
    unfinished: usize,
    /// Values of counters.
    values: usize,
    /// The last time, in milliseconds.
    end: f64,
}

/// The folder of the viewer, if there is one. Otherwise says so.
fn viewer() -> Option<PathBuf> {
    let releases = fs::read_dir("/usr/share").ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let folders =
        releases.flat_map(|path| ["src/cmd/trace/static", "src/internal/trace/traceviewer/static"].map(|within| path.join(within)));
    let found = folders.into_iter().find(|folder| folder.join("trace_viewer_full.html").exists());
    if found.is_none() {
        eprintln!("no timeline was opened in Chrome's trace viewer, as Debian's package golang-src is not here");
    }
    found
}

/// The timeline of a run.
fn timeline(folder: &Path, pmu: &str, guest: &str) -> String {
    let path = folder.join(format!("{pmu}-{guest}.json"));
    Command::cargo_bin("pmulab").unwrap().args(["run", "--pmu", pmu, "--guest", guest, "--timeline"]).arg(&path).assert().success();
    fs::read_to_string(path).unwrap()
}

/// What a reader of the format has to find, by what the format says: a `B` with its `E` is a slice, an `i` is an instant, a `C` is a value, and an
/// `M` names a process or a track.
fn expected(text: &str) -> Seen {
    let file: Value = serde_json::from_str(text).unwrap();
    let events = file["traceEvents"].as_array().unwrap();
    let number = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    let named = |name: &str, pid: &Value, tid: Option<&Value>| {
        let is = |event: &&Value| event["name"] == name && event["pid"] == *pid && tid.is_none_or(|tid| event["tid"] == *tid);
        events.iter().find(is).unwrap()["args"]["name"].as_str().unwrap().to_owned()
    };
    let process = |event: &Value| named("process_name", &event["pid"], None);
    let on_tracks = events.iter().filter(|event| event["ph"] == "B" || event["ph"] == "i");
    let last = events.iter().map(|event| event["ts"].as_f64().unwrap()).fold(0.0, f64::max);
    Seen {
        warnings: Vec::new(),
        processes: events.iter().map(process).collect(),
        tracks: on_tracks
            .map(|event| format!("{}: {}", process(event), named("thread_name", &event["pid"], Some(&event["tid"]))))
            .collect(),
        slices: number("B") + number("i"),
        unfinished: 0,
        values: number("C"),
        end: last / 1000.0,
    }
}

#[test]
fn the_viewer_has_everything_of_a_timeline_of_every_part() {
    assert!(NAMES.iter().all(|name| RUNS.iter().any(|(pmu, _)| pmu == name)), "{NAMES:?}");
    let (Some(browser), Some(viewer)) = (browser::found("timelines"), viewer()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let texts = RUNS.map(|(pmu, guest)| timeline(folder.path(), pmu, guest));
    let of_script = |value: &Value| value.to_string().replace("</", r"<\/");
    let address = |name: &str| format!("file://{}", viewer.join(name).display());
    let page = folder.path().join("viewer.html");
    let (texts_of_script, viewer_of_script) =
        (of_script(&Value::from(texts.to_vec())), of_script(&Value::from(address("trace_viewer_full.html"))));
    let html = format!(
        "<!DOCTYPE html><html><head><meta charset='utf-8'><script src='{}'></script></head>\
         <body><script>const TEXTS = {texts_of_script}, VIEWER = {viewer_of_script};{PROGRAM}</script></body></html>",
        address("webcomponents.min.js")
    );
    fs::write(&page, html).unwrap();
    let document = browser::document(browser, folder.path(), &format!("file://{}", page.display()), false);
    let said = browser::attribute(&document, "html", "data-seen");
    let seen: Vec<Seen> = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    for (((pmu, guest), text), seen) in RUNS.into_iter().zip(&texts).zip(seen) {
        assert_eq!(seen, expected(text), "{pmu} {guest}");
    }
}
