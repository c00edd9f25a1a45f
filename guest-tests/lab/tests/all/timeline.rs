//! Timelines, read by others' rules: the trace event format with what it says of nesting and time, and the parser of the crate `vcd`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::Value;
use vm_pmu::Part;
use vm_pmu_board::trace::{Choice, Keep, Kind, Kinds, Listener};
use vm_pmu_lab::dialect::boxes;
use vm_pmu_lab::report::{Action, Report, Trace};
use vm_pmu_lab::runner::{Options, run};
use vm_pmu_lab::timeline::{Form, Timeline};

/// A guest of each part, and one of two threads.
const RUNS: [(&str, &str); 6] = [
    ("k8", "overflow"),
    ("k8", "two-cpus"),
    ("knl", "freeze"),
    ("power9", "overflow"),
    ("itanium", "overflow"),
    ("montecito", "two-threads"),
];

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run with everything traced, and its timeline.
fn drawn(pmu: &str, guest: &str, form: Form) -> (Report, Vec<u8>) {
    let shared = Shared::default();
    let around = boxes::registers(Part::named(pmu).unwrap()).collect();
    let timeline = Arc::new(Timeline::new(form, 100, Box::new(|_| Vec::new()), shared.clone()).with_registers(around));
    let kinds = [Kind::Read, Kind::Write, Kind::Interrupt, Kind::Fault, Kind::Freeze, Kind::FreezeByWrite, Kind::Context];
    let kinds = kinds.into_iter().fold(Kinds::NONE, Kinds::with);
    let trace = Choice { keep: Keep::Last, kinds, ..Choice::first(1_000_000) };
    let options = Options { trace, listener: Some(Listener(Arc::clone(&timeline) as Arc<_>)), ..Options::default() };
    let report = run(pmu, guest, &options).unwrap();
    assert!(report.passed, "{pmu} {guest}: {}", report.ending);
    timeline.finish().unwrap();
    let bytes = shared.0.lock().unwrap().clone();
    (report, bytes)
}

/// An event of the trace event format, as far as these use it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    name: String,
    ph: char,
    ts: f64,
    pid: u64,
    tid: u64,
    s: Option<String>,
    args: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct File {
    display_time_unit: String,
    other_data: BTreeMap<String, String>,
    trace_events: Vec<Event>,
}

fn events(bytes: &[u8]) -> Vec<Event> {
    let file: File = serde_json::from_slice(bytes).unwrap();
    assert!(file.display_time_unit == "ns" && file.other_data.contains_key("clock"));
    file.trace_events
}

#[test]
fn trace_events_have_what_their_phase_needs() {
    for (pmu, guest) in RUNS {
        for event in events(&drawn(pmu, guest, Form::Chrome).1) {
            let args = event.args.as_ref();
            let right = match event.ph {
                'M' => args.is_some_and(|args| args["name"].is_string()),
                'C' => args.is_some_and(|args| args["value"].as_u64().is_some_and(|value| value < 1 << 53)),
                'B' => !event.name.is_empty(),
                'E' => true,
                'i' => event.s.as_deref() == Some("t"),
                _ => false,
            };
            assert!(right, "{pmu} {guest}: {event:?}");
        }
    }
}

#[test]
fn slices_of_a_track_end_and_do_not_overlap() {
    for (pmu, guest) in RUNS {
        let mut open: BTreeMap<(u64, u64), bool> = BTreeMap::new();
        for event in events(&drawn(pmu, guest, Form::Chrome).1).iter().filter(|event| matches!(event.ph, 'B' | 'E')) {
            let begins = event.ph == 'B';
            let was = open.insert((event.pid, event.tid), begins).unwrap_or(false);
            assert_ne!(was, begins, "{pmu} {guest}: {event:?}");
        }
        assert!(!open.is_empty() && open.values().all(|open| !open), "{pmu} {guest}: {open:?}");
    }
}

#[test]
fn times_of_a_track_do_not_go_back() {
    for (pmu, guest) in RUNS {
        let mut last: BTreeMap<(u64, u64, String), f64> = BTreeMap::new();
        for event in events(&drawn(pmu, guest, Form::Chrome).1) {
            let counter = if event.ph == 'C' { event.name.clone() } else { String::new() };
            let before = last.insert((event.pid, event.tid, counter), event.ts).unwrap_or(0.0);
            assert!(before <= event.ts, "{pmu} {guest}: {event:?} after {before}");
        }
    }
}

#[test]
fn every_access_interrupt_and_freeze_of_the_trace_is_drawn() {
    for (pmu, guest) in RUNS {
        let (report, bytes) = drawn(pmu, guest, Form::Chrome);
        let events = events(&bytes);
        let drawn = |track: u64, phases: &str| events.iter().filter(|event| event.tid == track && phases.contains(event.ph)).count();
        let traced = |is: fn(&Action) -> bool| report.trace.iter().filter(|entry| is(&entry.action)).count();
        assert_eq!(drawn(1, "i"), traced(|action| action.register().is_some()), "accesses of {pmu} {guest}");
        // A second request before the first is taken is an instant.
        let asked = traced(|action| matches!(action, Action::Interrupt { .. }));
        let again = events.iter().filter(|event| event.name == "asked for again").count();
        assert_eq!(drawn(4, "B") + again, asked, "interrupts of {pmu} {guest}");
        let initially = events.iter().filter(|event| event.tid == 3 && event.ph == 'B' && event.ts <= 1.0).count();
        assert_eq!(
            drawn(3, "B") - initially,
            traced(|action| matches!(action, Action::Freeze { frozen: true, .. })),
            "freezes of {pmu} {guest}"
        );
    }
}

/// A variable of a dump: its width, and its values with their times.
#[derive(Default)]
struct Variable {
    width: u32,
    values: Vec<(u64, Option<u64>)>,
}

/// The variables of a dump, by the names of their modules and their own.
fn variables(bytes: &[u8]) -> BTreeMap<String, Variable> {
    let mut parser = vcd::Parser::new(bytes);
    let header = parser.parse_header().unwrap();
    assert_eq!(header.timescale, Some((1, vcd::TimescaleUnit::NS)));
    let (mut names, mut variables) = (BTreeMap::new(), BTreeMap::<String, Variable>::new());
    for item in &header.items {
        let vcd::ScopeItem::Scope(scope) = item else { continue };
        for item in &scope.items {
            let vcd::ScopeItem::Var(variable) = item else { panic!("{item:?}") };
            let name = format!("{}.{}", scope.identifier, variable.reference);
            names.insert(variable.code, name.clone());
            variables.insert(name, Variable { width: variable.size, values: Vec::new() });
        }
    }
    let mut time = 0;
    let number = |values: &[vcd::Value]| {
        values.iter().try_fold(0u64, |number, value| match value {
            vcd::Value::V0 => Some(number << 1),
            vcd::Value::V1 => Some(number << 1 | 1),
            _ => None,
        })
    };
    for command in parser {
        let (code, value) = match command.unwrap() {
            vcd::Command::Timestamp(next) => {
                assert!(next >= time, "{next} after {time}");
                time = next;
                continue;
            }
            vcd::Command::ChangeScalar(code, value) => (code, number(&[value])),
            vcd::Command::ChangeVector(code, values) => (code, number(&values.iter().collect::<Vec<_>>())),
            vcd::Command::Begin(_) | vcd::Command::End(_) => continue,
            other => panic!("{other:?}"),
        };
        variables.get_mut(&names[&code]).unwrap().values.push((time, value));
    }
    variables
}

#[test]
fn a_dump_has_a_module_for_each_thread_with_registers_of_their_width() {
    let widths = |pmu, guest, names: &[&str]| -> Vec<u32> {
        let variables = variables(&drawn(pmu, guest, Form::Vcd).1);
        names.iter().map(|name| variables[*name].width).collect()
    };
    // BKDG 10.2.2: 48 bits, and fields up to CNT_MASK in 31:24.
    assert_eq!(widths("k8", "two-cpus", &["cpu0.PerfCtr0", "cpu1.PerfEvtSel3", "cpu1.frozen"]), [48, 32, 1]);
    // PMCs of POWER9 have 32 bits, counters of Montecito 47 and a sign.
    assert_eq!(widths("power9", "overflow", &["cpu0.PMC6", "cpu0.privilege"]), [32, 2]);
    assert!(widths("montecito", "two-threads", &["cpu1.PMD4"])[0] >= 47);
}

#[test]
fn a_register_of_a_dump_has_the_values_that_were_written() {
    let (report, bytes) = drawn("k8", "overflow", Form::Vcd);
    let mut written: Vec<(u64, u64)> = Vec::new();
    for entry in &report.trace {
        if let Action::Write { register, value, .. } = &entry.action
            && register == "PerfEvtSel0"
            && written.last().map_or(*value != 0, |(_, last)| last != value)
        {
            written.push((entry.cycle, *value));
        }
    }
    let variables = variables(&bytes);
    let shown: Vec<(u64, u64)> = variables["cpu0.PerfEvtSel0"].values.iter().filter_map(|(time, value)| Some((*time, (*value)?))).collect();
    // It is 0 at reset. The guest is in ring 3 most of the time, where it could not read it.
    assert_eq!(shown[0], (0, 0));
    assert_eq!(shown.len() - 1, written.len());
    let differs = shown[1..].iter().zip(&written).find(|(shown, written)| shown != written);
    assert_eq!(differs, None);
}

#[test]
fn the_last_values_of_a_dump_are_those_of_the_report() {
    // Registers that count nothing by themselves.
    let last = |pmu, guest, names: &[&str]| {
        let (report, bytes) = drawn(pmu, guest, Form::Vcd);
        let variables = variables(&bytes);
        for name in names {
            let right = report.registers.iter().find(|register| register.thread == 0 && register.name == *name).unwrap().value;
            assert_eq!(variables[&format!("cpu0.{name}")].values.last().unwrap().1, Some(right), "{name} of {pmu}");
        }
    };
    last("knl", "freeze", &["IA32_PERF_GLOBAL_CTRL", "IA32_PERFEVTSEL0", "IA32_DEBUGCTL"]);
    last("power9", "overflow", &["MMCR0", "MMCR1", "MMCRA"]);
    last("itanium", "overflow", &["PMC0", "PMC4"]);
    last("montecito", "two-threads", &["PMC0", "PMC4"]);
}

#[test]
fn an_interrupt_of_a_dump_rises_when_it_is_asked_for_and_falls_when_it_is_taken() {
    let (report, bytes) = drawn("power9", "overflow", Form::Vcd);
    let asked: Vec<u64> =
        report.trace.iter().filter(|entry| matches!(entry.action, Action::Interrupt { .. })).map(|entry| entry.cycle).collect();
    let variables = variables(&bytes);
    let values = &variables["cpu0.interrupt"].values;
    let first: Vec<u64> = values.iter().filter(|(_, value)| *value == Some(1)).map(|(time, _)| *time).take(5).collect();
    assert_eq!(first, asked[..5]);
    // Each is taken at once, and shown for a cycle.
    assert_eq!(values[1..3], [(asked[0], Some(1)), (asked[0] + 1, Some(0))]);
}

#[test]
fn a_timeline_goes_on_where_a_run_was_saved() {
    let drawn = |save_at| {
        let shared = Shared::default();
        let timeline = Arc::new(Timeline::new(Form::Vcd, 100, Box::new(|_| Vec::new()), shared.clone()));
        let options = Options { listener: Some(Listener(Arc::clone(&timeline) as Arc<_>)), save_at, ..Options::default() };
        run("power9", "overflow", &options).unwrap();
        timeline.finish().unwrap();
        let bytes = shared.0.lock().unwrap().clone();
        variables(&bytes).remove("cpu0.MMCR0").unwrap().values
    };
    assert_eq!(drawn(Some(1500)), drawn(None));
}

#[test]
fn accesses_to_boxes_are_drawn_and_a_dump_has_their_registers() {
    let (report, bytes) = drawn("knl", "linux-uncore", Form::Chrome);
    let accesses = events(&bytes).iter().filter(|event| event.name.starts_with("IRP_PCI_PMON_CTL1 := 0x400000")).count();
    let is_it =
        |entry: &&Trace| matches!(&entry.action, Action::Write { register, value: 0x40_0000, .. } if register == "IRP_PCI_PMON_CTL1");
    assert!(accesses != 0 && accesses == report.trace.iter().filter(is_it).count(), "{accesses}");
    let (_, bytes) = drawn("knl", "linux-uncore", Form::Vcd);
    let values: Vec<Option<u64>> =
        variables(&bytes)["untile.IRP_PCI_PMON_BOX_CTL"].values.iter().map(|(_, value)| *value).take(4).collect();
    // The driver resets the box by bits that read as zero, and freezes it by bit 8.
    assert_eq!(values, [None, Some(0x1_0003), Some(0x1_0000), Some(0x1_0100)]);
}

#[test]
fn a_part_without_boxes_has_no_module_of_them() {
    assert!(variables(&drawn("k8", "overflow", Form::Vcd).1).keys().all(|name| name.starts_with("cpu0.")));
}
