use super::*;
use crate::hints::{Delivered, Hint};
use crate::report::{Action, Interrupts, Trace};

fn shown(show: impl FnOnce(&mut Output<'_>) -> Result<(), Error>) -> String {
    let mut bytes = Vec::new();
    show(&mut Output::new(&mut bytes)).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn count(counter: u32, event: &str, count: u64, driven_by: &str) -> Count {
    let fidelity = if driven_by.is_empty() { "injected" } else { "exact" };
    let (event, driven_by) = (event.to_owned(), driven_by.to_owned());
    Count { thread: 0, counter, event, count, unit: "events".into(), fidelity: fidelity.into(), driven_by }
}

fn register(name: &str, value: u64) -> Register {
    Register { thread: 0, name: name.into(), value }
}

fn overflow() -> Report {
    Report {
        companion: "off".to_owned(),
        trace: Vec::new(),
        recording: None,
        positions: Vec::new(),
        places: Vec::new(),
        guest: "overflow".into(),
        pmu: "k8".into(),
        engine: "interpreter".into(),
        passed: true,
        ending: "The guest ended with status 0.".into(),
        instructions: 1_204_331,
        cycles: None,
        console: "ready\n".into(),
        checks: vec![
            Check { name: "count after the interrupt".into(), seen: 3, least: 3, most: 3 },
            Check { name: "interrupts".into(), seen: 2, least: 0, most: 1 },
        ],
        counts: vec![
            count(0, "RETIRED_INSTRUCTIONS:k:int", 100_000, "instructions_retired + exceptions_taken + interrupts_taken"),
            count(1, "SIZED_BLOCKS:uk", 0, ""),
        ],
        posted: Vec::new(),
        interrupts: vec![Interrupts { thread: 0, counter: 0, requested: 1 }],
        delivered: vec![Delivered { thread: 0, taken: 1, storm: None }],
        hints: vec![Hint { thread: 0, text: "PerfCtr1 counted nothing".into(), section: "BKDG 10.2" }],
        samples: vec![
            Sample { address: 0x20_0010, label: "inner".into(), hits: 75 },
            Sample { address: 0x20_0000, label: "outer".into(), hits: 25 },
        ],
        registers: vec![
            register("PerfEvtSel0", 0x52_00c0),
            register("PerfEvtSel1", 0),
            register("PerfCtr0", 3),
            register("PerfCtr1", 0),
            register("Unheard", 7),
        ],
    }
}

#[test]
fn a_report_reads_from_top_to_verdict() {
    let text = shown(|output| report(&overflow(), output));
    let expected = "\
overflow on k8, 1,204,331 instructions executed by interpreter; no companion

The guest's console
  | ready

       count  unit    event                       thr/ctr
     100,000  events  RETIRED_INSTRUCTIONS:k:int      0/0
                        exact: instructions_retired + exceptions_taken +
                        interrupts_taken
           0  events  SIZED_BLOCKS:uk                 0/1
                        injected

Interrupts at overflow
  1  by counter 0 of thread 0
  1  taken by thread 0

Hints
  - PerfCtr1 counted nothing (BKDG 10.2)

Where 100 samples fell
  0x200000  outer  25   25.0 %  ███████████████
  0x200010  inner  75   75.0 %  █████████████████████████████████████████████

Checks: 1 of 2 passed
  pass  count after the interrupt  seen 3, expected 3
  FAIL  interrupts                 seen 2, expected 0 to 1

Registers at the end
  PerfEvtSel0 (MSR C001_0000h) = 0x5200c0   RETIRED_INSTRUCTIONS:k:int
    7..0  EVENT_SELECT  0xc0  RETIRED_INSTRUCTIONS: Instructions completed, each
                              exception and each interrupt counting as one more.
      17  OS               1  count at privilege level 0
      20  INT              1  overflow asks the local APIC for an interrupt
      22  EN               1  the counter counts
  PerfCtr0 (MSR C001_0004h) = 0x3   3
  Unheard = 0x7
  zero: PerfEvtSel1, PerfCtr1

The guest ended with status 0.
PASS
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn no_line_is_wider_than_the_output() {
    let mut wide = overflow();
    wide.counts.push(count(2, "RETIRED_TAKEN_BRANCH_INSTRUCTIONS_MISPREDICTED:uk:int", u64::MAX, &"some_signal + ".repeat(20)));
    let text = shown(|output| report(&wide, output));
    for line in text.lines() {
        assert!(text::columns(line) <= 80, "{line}");
    }
}

#[test]
fn many_samples_are_cut_to_the_places_with_most() {
    let many: Vec<Sample> =
        (0..30).map(|place| Sample { address: 0x1000 + place, label: String::new(), hits: if place == 29 { 500 } else { 1 } }).collect();
    let text = shown(|output| samples(&many, |_| None, output));
    assert!(text.contains("0x101d  500"), "{text}");
    assert!(text.ends_with("and 10 at 10 other places\n"), "{text}");
}

#[test]
fn samples_without_a_hit_have_no_bar() {
    let none = [Sample { address: 0, label: String::new(), hits: 0 }];
    assert_eq!(shown(|output| samples(&none, |_| None, output)), "\nWhere 0 samples fell\n  0x0  0    0.0 %\n");
}

#[test]
fn a_console_cannot_move_the_cursor() {
    let noisy = Report { console: "a\x1b[2Jb".into(), ..Report::default() };
    assert_eq!(shown(|output| console(&noisy, output)), "\nThe guest's console\n  | a.[2Jb\n");
}

#[test]
fn json_has_the_report_and_the_fields_of_its_registers() {
    let report = overflow();
    let json = serde_json::to_value(Whole::new(&report)).unwrap();
    assert_eq!(json["counts"][0]["count"], 100_000);
    let registers = json["decoded_registers"].as_array().unwrap();
    assert_eq!(registers.len(), 4);
    assert_eq!(registers[0]["event"], "RETIRED_INSTRUCTIONS:k:int");
    assert_eq!(registers[0]["fields"][0]["name"], "EVENT_SELECT");
    assert_eq!(registers[0]["fields"][0]["value"], 0xc0);
}

/// A trace with the widest there is: many fields of Knights Landing, long names, and a check.
fn wide() -> Vec<Trace> {
    let entry = |action| Trace { thread: 0, instruction: 21_769, cycle: 0, address: 0x20_0990, action };
    let write =
        |register: &str, before, value| entry(Action::Write { register: register.into(), before: Some(before), value, after: None });
    vec![
        write("IA32_PERF_GLOBAL_CTRL", 0x7_0000_0003, 0),
        write("IA32_PERFEVTSEL0", 0, 0x53_00C0),
        entry(Action::Interrupt { counters: vec![0] }),
        entry(Action::Context { privilege: 3, halted: true, foreground: false, process: Some(0x20_1000) }),
        entry(Action::Fault { register: "IA32_PERF_GLOBAL_STATUS".into(), wrote: Some(1) }),
        entry(Action::Check { name: "counts of every box".into(), seen: 1, least: 2, most: 3 }),
    ]
}

#[test]
fn a_trace_fits_into_80_columns() {
    let text = shown(|output| trace("knl", &wide().iter().collect::<Vec<_>>(), true, |_| None, output));
    assert!(text.lines().all(|line| text::columns(line) <= 80), "{text}");
    // Changes are not broken within.
    assert!(text.contains("EN_PMC0 1 → 0, EN_PMC1 1 → 0, EN_FIXED_CTR0 1 → 0,\n"), "{text}");
}

#[test]
fn changes_are_of_fields_that_differ() {
    let part = select::part("k8").unwrap();
    // 5200C0h after 4200C0h: INT, bit 20, alone.
    let action = Action::Write { register: "PerfEvtSel0".into(), before: Some(0x42_00C0), value: 0x52_00C0, after: None };
    let changed = changes(part, &action).unwrap();
    assert_eq!(changed.iter().map(Change::shown).collect::<Vec<_>>(), ["INT 0 → 1"]);
    assert!(
        changes(part, &Action::Write { register: "PerfEvtSel0".into(), before: None, value: 1, after: None }).is_none(),
        "nothing is known before"
    );
}
