//! The conformance suite: what the litmus files cover and cite, and the parser's messages for mistakes.
//!
//! A folder of `litmus/` is named for the PMU that its files are about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::feed::Signal;
use vm_pmu::arch::k8::{PerfEvtSel, Register, Revision};
use vm_pmu::arch::model::{Model, Occurrence};
use vm_pmu::arch::registry::NAMES;
use vm_pmu::litmus::{Case, Litmus, Step};

/// A program of a litmus file: where that is, in which folder, and what it says.
struct File {
    path: PathBuf,
    folder: String,
    litmus: Litmus,
}

impl File {
    /// The path within the folder of the suites.
    fn shown(&self) -> String {
        self.path.strip_prefix(suites()).unwrap_or(&self.path).display().to_string()
    }
}

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus")
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            paths.push(path);
        }
    }
}

/// Every program of the suite.
fn files() -> Vec<File> {
    let root = suites();
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no litmus file in {}", root.display());
    let parse = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let cases = Case::of_file(&text).unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0]));
        let below = path.strip_prefix(&root).expect("a path below the root");
        let folder = below.iter().next().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        cases.into_iter().map(move |case| File { path: path.clone(), folder: folder.clone(), litmus: case.litmus })
    };
    paths.into_iter().flat_map(parse).collect()
}

#[test]
fn a_folder_is_named_for_its_pmu() {
    for file in files() {
        assert_eq!(file.folder, file.litmus.part.name(), "{}", file.shown());
        assert!(NAMES.contains(&file.folder.as_str()), "{}", file.shown());
    }
}

#[test]
fn a_file_is_named_for_its_rule() {
    for file in files() {
        let stem = file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let plain = stem.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
        assert!(plain && stem.contains('-'), "{}: a name is words in lower case, joined by hyphens", file.shown());
    }
}

#[test]
fn every_file_cites_its_source() {
    for file in files() {
        assert!(file.litmus.section.len() > 8, "{}: `{}` cites nothing", file.shown(), file.litmus.section);
    }
}

#[test]
fn titles_are_unique() {
    let mut seen = BTreeMap::new();
    for file in files() {
        let shown = file.shown();
        if let Some(before) = seen.insert(file.litmus.title, shown.clone()) {
            panic!("{shown} has the title of {before}");
        }
    }
}

/// The program without the numbers of its lines.
fn without_lines(mut litmus: Litmus) -> Litmus {
    for (line, _) in &mut litmus.steps {
        *line = 0;
    }
    litmus
}

#[test]
fn a_printed_file_reads_as_the_same_program() {
    for file in files() {
        let printed = file.litmus.to_string();
        let again: Litmus = printed.parse().unwrap_or_else(|error| panic!("{}, printed: {error}\n{printed}", file.shown()));
        assert_eq!(without_lines(again), without_lines(file.litmus.clone()), "{}", file.shown());
    }
}

#[test]
fn every_form_of_a_statement_reads_as_it_prints() {
    let forms = "\
        thread 1\ncontext cpl=3 halted=1 foreground=0 machine_state=0x200 control=0x100 if=1 pce=1\ncontext privilege=2\n\
        write PerfCtr0 -1\nwrite msr:0xc0010008 1_000 faults unclaimed\nread PerfEvtSel3 = 0x5_0000\nread rdpmc:4 faults #GP\n\
        feed cycles=1 loads=0\nrepeat 0 feed cycles=1\nrepeat 1 feed cycles=2\nrepeat 5 feed cycles=1\ndevices dram_page_hits=7\n\
        inject 0x22 1\ninject 0xe9/0xa8 -1\ninterrupts none\ninterrupts 0 3 3\nlate 0\nwatch 0xf\npin 3 toggles 2\npins none\npins 0 31\n\
        lines interrupt=0 branch=0\nlines branch=1 interrupt=0\nrecords none\nrecords at_deadline\nrecords taken_branches every\nrecords at_deadline sampled_outcomes\nmatch none\n\
        match 0x7c000000 0xfc000000\nread spr:800 faults unclaimed\nwrite bhrb:3 0\nread imc faults privileged-instruction\n\
        record address=0x1000\nrecord slot=2 encoding=0x4c000064 cycles=3 feed cycles=3 instructions_retired=1\n\
        repeat 7 record address=4 branch=conditional taken=0 prediction=wrong_direction\nrecord target=0x40 branch=return feed cycles=1\n\
        record load=0x20 store=0x20 size=4 latency=12 source=l3 translation=hit2\nrecord touch=64 source=other_core_modified translation=walk\n\
        record unit=vector_scalar traits=divide+link+matched fetch=beyond reload_source=0x1b walk_source=0 page=16 store_outcome=direct\n\
        record fabric=read_to_modify retries=2 tagged=1 scope=1 response=2 transaction=3 memory_busy=1 stall=9 stall_reason=4 real_address=0x80\n\
        record dispatched=5 first_miss=7 reload=90 completed=91\nrecord stages=none\n\
        records branches memory fetches\nrecord branch=exception\nrecord branch=failed_check traits=second_bundle+flushed\nrecord line_states=mesi\n\
        record fetch_address=0x40 fetch_miss=1 fetch_pending=1 fetch_prefetch=1 fetch_latency=12 fetch_translation=walk line_states=sm\n\
        record fetch_translation=hit2 fetch_address=0\nread pmc:32 faults privileged-operation\nwrite pmd:255 -1\n\
        write ibr:8 0 faults reserved-register-field\nread dbr:0x7 = 0\n\
        demand none\ndemand cycles\ndemand cycles loads per_cycle\ndemand per_cycle\nepoch moved\nepoch same\ndeadline cycles never\ndeadline cycles in 5\n\
        save\nreset cold\nreset warm\n";
    let header = "title: Every form, and a word that looks like a statement's: what a read faults\npmu: k8\nsection: s: t\n";
    let text = format!("{header}revision: d\npackages: 2\nthreads: 3\nshare_counters: yes\n\n{forms}");
    let litmus: Litmus = text.parse().expect("a litmus file");
    assert_eq!(litmus.steps.len(), forms.lines().count());
    assert!(litmus.title.ends_with("what a read faults"), "{}", litmus.title);
    let printed = litmus.to_string();
    let again: Litmus = printed.parse().unwrap_or_else(|error| panic!("printed: {error}\n{printed}"));
    assert_eq!(again.to_string(), printed);
    assert_eq!(without_lines(again), without_lines(litmus));
}

/// What an entry must show: that one of its signals reaches the counter, or what is injected for it.
type Evidence = (&'static str, Option<Signal>);

/// Follows the event selects of a file and records what was fed or injected to an enabled counter that was then read as having counted.
#[derive(Default)]
struct Coverage {
    selects: BTreeMap<(usize, usize), PerfEvtSel>,
    pending: BTreeMap<(usize, usize), BTreeSet<Evidence>>,
    shown: BTreeSet<Evidence>,
}

impl Coverage {
    fn follow(&mut self, litmus: &Litmus, entries: &'static [Entry], revision: Revision) {
        self.selects.clear();
        self.pending.clear();
        let mut thread = 0;
        for (_, step) in &litmus.steps {
            match step {
                Step::Thread(number) => thread = *number,
                Step::Write(address, value, None) => match register(*address) {
                    Some(Register::PerfEvtSel(slot)) => {
                        self.selects.insert((thread, slot.index()), PerfEvtSel::written(*value));
                        self.pending.remove(&(thread, slot.index()));
                    }
                    Some(Register::PerfCtr(slot)) => drop(self.pending.remove(&(thread, slot.index()))),
                    None => {}
                },
                Step::Feed(_, signals) | Step::Devices(signals) => {
                    let fed = |entry: &Entry, edge: bool| {
                        let sources = if edge && !entry.edges.is_empty() { entry.edges } else { entry.signals };
                        sources.iter().copied().filter(|source| signals.iter().any(|(signal, _)| signal == source)).map(Some).collect()
                    };
                    self.note(entries, revision, fed);
                }
                Step::Inject(occurrence, _) => {
                    self.note(entries, revision, |entry, _| if is_it(entry, *occurrence) { vec![None] } else { Vec::new() })
                }
                Step::Read(address, Ok(1..)) => {
                    if let Some(Register::PerfCtr(slot)) = register(*address) {
                        self.shown.extend(self.pending.remove(&(thread, slot.index())).unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
    }

    fn note(&mut self, entries: &'static [Entry], revision: Revision, evidence: impl Fn(&Entry, bool) -> Vec<Option<Signal>>) {
        for (place, select) in self.selects.iter().filter(|(_, select)| select.en() && (select.usr() || select.os())) {
            let mask = u32::from(select.unit_mask());
            let chosen = |entry: &&Entry| {
                entry.select == u32::from(select.event_select()) && entry.umask.is_none_or(|bit| bit & mask != 0) && revision.has(entry)
            };
            for entry in entries.iter().filter(chosen) {
                let seen = evidence(entry, select.e()).into_iter().map(|signal| (entry.name, signal));
                self.pending.entry(*place).or_default().extend(seen);
            }
        }
    }
}

fn register(address: Address) -> Option<Register> {
    match address {
        Address::Msr(number) => Register::from_msr(number),
        Address::Rdpmc(index) => vm_pmu::arch::k8::Slot::new(index).map(Register::PerfCtr),
        _ => None,
    }
}

fn is_it(entry: &Entry, occurrence: Occurrence) -> bool {
    entry.select == occurrence.select && entry.umask.is_none_or(|bit| bit & occurrence.umask != 0)
}

#[test]
fn every_event_of_the_k8_is_driven_by_some_file() {
    let mut coverage = Coverage::default();
    let files = files();
    let mut entries: &'static [Entry] = &[];
    for file in files.iter().filter(|file| file.folder == "k8") {
        entries = file.litmus.part.build().catalogue().entries;
        let revision = Revision::from_letter(file.litmus.part.revision_letter()).unwrap_or_default();
        coverage.follow(&file.litmus, entries, revision);
    }
    let mut missing = Vec::new();
    for entry in entries {
        let by_masks = entry.umask.is_none() && entries.iter().any(|mask| mask.select == entry.select && mask.umask.is_some());
        let shows = |signal: Option<Signal>| coverage.shown.contains(&(entry.name, signal));
        if by_masks {
            continue;
        }
        match entry.fidelity {
            Fidelity::Injected if !shows(None) => missing.push(format!("{}: it is injected by no file", entry.name)),
            Fidelity::Injected => {}
            Fidelity::Exact | Fidelity::Approximate | Fidelity::Embedder => {
                let undriven = entry.signals.iter().chain(entry.edges).filter(|signal| !shows(Some(**signal)));
                missing.extend(undriven.map(|signal| format!("{}: no file counts it by {}", entry.name, signal.name())));
            }
        }
    }
    assert!(!entries.is_empty(), "no file is about the k8");
    assert!(missing.is_empty(), "{} gaps in the coverage:\n{}", missing.len(), missing.join("\n"));
}

/// A valid header, for texts with a mistake after it.
const HEADER: &str = "title: A title\npmu: k8\nsection: A section\n\n";

/// The parser's message for `text`.
fn complaint(text: &str) -> String {
    match text.parse::<Litmus>() {
        Ok(_) => panic!("this is a litmus file after all:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// The parser's message for `statement` after a valid header, without the number of its line, which must be 5.
fn complaint_to(statement: &str) -> String {
    let whole = complaint(&format!("{HEADER}{statement}\n"));
    whole.strip_prefix("line 5: ").unwrap_or_else(|| panic!("the line of `{statement}` is not told: {whole}")).to_owned()
}

/// Where the mistakes in the lines after a valid header are: line, column and length.
fn places(statements: &str) -> Vec<(usize, usize, usize)> {
    let errors = Litmus::parse(&format!("{HEADER}{statements}\n")).expect_err("there are mistakes");
    errors.iter().map(|error| (error.line, error.column, error.length)).collect()
}

#[test]
fn every_mistake_of_a_file_is_told_with_its_place() {
    // The header has four lines.
    assert_eq!(places("write PerfCtr9 1\nwrite PerfCtr0 1\n  feed loads=x # twice\nwait 5"), [(5, 7, 8), (7, 14, 1), (8, 1, 6)]);
    assert_eq!(places("read PerfCtr0 faults #XX"), [(5, 22, 3)]);
    assert_eq!(places("context cpl=9"), [(5, 9, 5)]);
    assert_eq!(places("feed lods=1 loads=2"), [(5, 6, 4)]);
}

#[test]
fn mistakes_of_the_header_are_told_together_and_once() {
    let places = |text: &str| {
        Litmus::parse(text).expect_err("there are mistakes").iter().map(|error| (error.line, error.column)).collect::<Vec<_>>()
    };
    assert_eq!(places("title: T\npmu: k8\nthreads: none\npackages: 0\nsection: S\n\nsave\nwait\n"), [(3, 10), (4, 11), (8, 1)]);
    // Without a part nothing can be said of statements.
    assert_eq!(places("title: T\npmu: k9\nsection: S\n\nwait\n"), [(2, 6)]);
    assert_eq!(places("title: T\npmu: k8\n\nsave\n"), [(4, 1)]);
    assert_eq!(places(""), [(0, 0)]);
}

#[test]
fn an_unknown_statement_is_answered_by_the_known_ones() {
    let message = complaint_to("wait 5");
    assert!(
        message.starts_with("`wait 5` is not a statement: there are thread, context, write, read, feed, repeat, record, "),
        "{message}"
    );
    // A known word with the wrong words after it is not a statement either.
    for statement in [
        "record",
        "records",
        "records some",
        "match 5",
        "lines",
        "lines interrupt=1",
        "lines interrupt=2 branch=0",
        "read PerfCtr0",
        "read PerfCtr0 5",
        "write PerfCtr0",
        "feed",
        "context",
        "interrupts",
        "pins",
        "reset",
        "save now",
        "inject 0x22",
    ] {
        assert!(complaint_to(statement).starts_with(&format!("`{statement}` is not a statement: write `")), "{statement}");
    }
    let read = "`read PerfCtr0 5` is not a statement: write `read REGISTER = VALUE` or `read REGISTER faults FAULT`";
    assert_eq!(complaint_to("read PerfCtr0 5"), read);
    assert!(complaint_to("Save").ends_with(": write `save`"));
}

#[test]
fn an_unknown_register_is_answered_by_the_ways_to_name_one() {
    assert_eq!(complaint_to("write PerfCtrl2 0"), "k8 has no register `PerfCtrl2`: did you mean PerfCtr2?");
    assert_eq!(complaint_to("write Counter 0"), "k8 has no register `Counter`: use a register's name, msr:NUMBER or rdpmc:INDEX");
    assert_eq!(complaint_to("read rdpmc = 0"), "k8 has no register `rdpmc`: use a register's name, msr:NUMBER or rdpmc:INDEX");
}

#[test]
fn a_bad_number_is_answered_by_the_forms_of_a_number() {
    let forms = "is not a 64-bit number: write 10, 0x0a or, for a two's complement, -10";
    for number in ["ten", "0b1010", "0x", "1.5", "--5", "18446744073709551616", "0x10000000000000000"] {
        assert_eq!(complaint_to(&format!("write PerfCtr0 {number}")), format!("`{number}` {forms}"));
    }
    assert_eq!(complaint_to("read PerfCtr0 = x"), format!("`x` {forms}"));
    assert_eq!(complaint_to("repeat many feed cycles=1"), format!("`many` {forms}"));
    assert_eq!(complaint_to("feed cycles=few"), format!("`few` {forms}"));
    assert_eq!(complaint_to("read rdpmc:0x100000000 = 0"), "`0x100000000` does not fit into 32 bits");
    assert_eq!(complaint_to("read pmc:256 = 0"), "`256` does not fit into 8 bits");
    assert_eq!(complaint_to("pins 32"), "there is no pin 32: there are 0 to 31");
    assert_eq!(complaint_to("thread 5000"), "`5000` is too many: 1024 is the most");
}

#[test]
fn a_missing_header_is_named() {
    assert_eq!(complaint("pmu: k8\nsection: s\nsave\n"), "line 3: the header lacks a line `title: ...`");
    assert_eq!(complaint("title: t\npmu: k8\nsave\n"), "line 3: the header lacks a line `section: ...`");
    assert_eq!(complaint("title: t\nsection: s\nsave\n"), "line 3: the header lacks a line `pmu: NAME`");
    assert_eq!(complaint("save\n"), "line 1: the header lacks a line `pmu: NAME`");
    let empty = "there is no statement: a litmus file is a header and at least one";
    assert_eq!(complaint(""), empty);
    assert_eq!(complaint(HEADER), empty);
}

#[test]
fn a_wrong_header_is_answered_by_the_right_ones() {
    assert_eq!(
        complaint("name: x\n"),
        "line 1: no header is called `name`: there are title, section, pmu, revision, packages, threads, share_counters, \
         supplies, supplies_records, recording, frequencies, die, buses, state"
    );
    assert!(complaint("pmu: z80\n").starts_with("line 1: no PMU is called `z80`: there are k8"), "{}", complaint("pmu: z80\n"));
    assert_eq!(complaint("title: t\npmu: k8\nsection: s\nrevision: Q\nsave\n"), "line 5: k8 has no revision `Q`: there are C, D, E");
    assert_eq!(complaint("share_counters: perhaps\n"), "line 1: `perhaps` is neither yes nor no");
    assert_eq!(complaint("threads: 4097\n"), "line 1: `4097` is too many: 1024 is the most");
    assert_eq!(complaint("packages: 0\n"), "line 1: `0` is too few: 1 is the least");
    assert_eq!(complaint("title: a\npmu: k8\ntitle: b\n"), "line 3: the header has two lines `title: ...`");
}

#[test]
fn an_unknown_signal_is_named() {
    assert_eq!(complaint_to("feed instructions=1"), "no signal is called `instructions`: did you mean instructions_retired?");
    assert_eq!(complaint_to("repeat 3 feed instructions=1"), "no signal is called `instructions`: did you mean instructions_retired?");
    assert_eq!(complaint_to("devices traffic=1"), "no signal is called `traffic`: the book's chapter on signals lists them");
    assert_eq!(complaint_to("demand instructions per_cycle"), "no signal is called `instructions`: did you mean instructions_retired?");
    assert_eq!(complaint_to("deadline instructions in 5"), "no signal is called `instructions`: did you mean instructions_retired?");
    assert_eq!(complaint_to("feed near_return=1"), "no signal is called `near_return`: did you mean near_returns?");
    let long = "x".repeat(1 << 20);
    assert!(complaint_to(&format!("feed {long}=1")).ends_with("`: the book's chapter on signals lists them"));
    assert_eq!(complaint_to("feed cycles"), "`cycles` is not SIGNAL=AMOUNT");
}

#[test]
fn an_unknown_fault_or_field_is_answered_by_the_known_ones() {
    assert_eq!(complaint_to("context cpl=7"), "`cpl=7` is no privilege level: there are 0 to 3");
    assert_eq!(complaint_to("read PerfCtr0 faults #UD"), "`#UD` is not a fault: there are unclaimed, #GP");
    assert_eq!(
        complaint_to("context ring=3"),
        "no context field is called `ring`: there are cpl, privilege, halted, foreground, machine_state, control, if, pce"
    );
    assert_eq!(complaint_to("context cpl"), "`cpl` is not FIELD=VALUE");
    // What follows the fault is no part of it.
    assert!(complaint_to("read PerfCtr0 faults #GP twice # or so").starts_with("`read PerfCtr0 faults #GP twice` is not a statement: "));
}

#[test]
fn a_wrong_record_is_answered_by_what_it_can_say() {
    assert!(complaint_to("record colour=3").starts_with("a record has no `colour`: there are address, slot, "));
    assert_eq!(complaint_to("record address"), "`address` is not KEY=VALUE");
    assert_eq!(complaint_to("record address=1 address=1"), "`address` is said twice");
    assert_eq!(complaint_to("record taken=1"), "`taken` is said of a branch: say branch=KIND too");
    let access = "`latency` is said of an access to memory: say load=ADDRESS, store=ADDRESS or touch=ADDRESS too";
    assert_eq!(complaint_to("record latency=9"), access);
    assert_eq!(complaint_to("record branch=far taken=2"), "`taken=2` is neither 0 nor 1");
    assert!(complaint_to("record branch=near").starts_with("`branch=near` is unknown: there are conditional, direct_jump, "));
    assert!(complaint_to("record load=1 source=here").ends_with("device, l1, l2 and so on"));
    assert!(complaint_to("record traits=link+loud").starts_with("`loud` is no trait: there are probe, reserve, "));
    assert_eq!(complaint_to("record page=256"), "`page=256` does not fit into 8 bits");
    assert_eq!(complaint_to("record address=1 feed"), "behind `feed` there is no signal: write SIGNAL=AMOUNT, or leave it out");
    assert!(complaint_to("record load=1 store=2").starts_with("an instruction accesses one address"));
    let fetch = "`fetch_latency` is said of a fetch that missed: say fetch_address=ADDRESS too";
    assert_eq!(complaint_to("record fetch_latency=9"), fetch);
    assert_eq!(complaint_to("record fetch_address=1 fetch_miss=2"), "`fetch_miss=2` is neither 0 nor 1");
    assert!(complaint_to("record fetch_address=1 fetch_translation=far").ends_with("fault, hit1, hit2 and so on"));
    assert_eq!(complaint_to("record line_states=mx"), "`line_states=mx` names no states: write some of the letters m, e, s, i");
}

/// The message with which the run of `statements` after a valid header fails.
fn failure_of(statements: &str) -> String {
    let litmus: Litmus = format!("{HEADER}{statements}\n").parse().expect("a litmus file");
    litmus.run().expect_err("a failure").to_string()
}

#[test]
fn what_does_not_come_true_is_told_with_its_line() {
    assert_eq!(failure_of("write PerfCtr0 3\nread PerfCtr0 = 4"), "line 6: MSR C001_0004h gave 0x3, expected 0x4");
    assert_eq!(failure_of("read PerfCtr0 faults #GP"), "line 5: MSR C001_0004h gave 0x0, expected #GP");
    assert_eq!(failure_of("read rdpmc:4 = 0"), "line 5: RDPMC index 4h gave #GP, expected 0x0");
    assert_eq!(failure_of("write PerfCtr0 0 faults #GP"), "line 5: MSR C001_0004h gave no fault, expected #GP");
    assert_eq!(failure_of("interrupts 1 2"), "line 5: counters [] requested an interrupt, expected [1, 2]");
    assert_eq!(failure_of("late 3"), "line 5: an interrupt was 0 events late, expected 3");
    assert_eq!(failure_of("pin 2 toggles 1"), "line 5: pin 2 toggled 0 times, expected 1");
    assert_eq!(failure_of("pins 3 0"), "line 5: the pins that toggled are none, expected 0 3");
    assert_eq!(failure_of("demand cycles"), "line 5: demanded are [], expected [cycles]");
    assert_eq!(failure_of("epoch moved"), "line 5: the epoch of the demand is the same, expected that it has moved");
    assert_eq!(
        failure_of("write PerfEvtSel0 0x420076\nepoch same"),
        "line 6: the epoch of the demand has moved, expected that it is the same"
    );
    assert_eq!(failure_of("deadline cycles in 5"), "line 5: the deadline of cycles is never, expected in 5");
    assert_eq!(failure_of("lines interrupt=1 branch=0"), "line 5: the levels are interrupt=0 branch=0, expected interrupt=1 branch=0");
    assert_eq!(failure_of("records every"), "line 5: records are wanted of [none], expected [every]");
    assert_eq!(failure_of("match 0x10 0xf0"), "line 5: the instructions to match are none, expected 0x10 0xf0");
    assert_eq!(failure_of("thread 1"), "line 5: there is no thread 1: the machine has 1");
}

#[test]
fn a_part_without_a_nest_says_so() {
    assert_eq!(complaint_to("slots 4"), "k8 has no nest whose counters post themselves into memory");
    assert_eq!(complaint_to("nest home=0"), "k8 has no nest whose counters post themselves into memory");
}

/// A header of a part with a nest.
const NEST: &str = "title: A title\npmu: power9\nsection: A section\n\n";

#[test]
fn a_wrong_statement_about_the_nest_is_answered_by_the_right_one() {
    let complaint_to = |statement: &str| complaint(&format!("{NEST}{statement}\n"));
    assert_eq!(complaint_to("hole 5"), "line 5: `hole 5` is not a statement: write `hole FROM TO` or `hole none`");
    assert_eq!(complaint_to("post later"), "line 5: `post later` is not a statement: write `post now`");
    assert_eq!(complaint_to("read cell:0x4 = 0"), "line 5: `0x4` is no offset of a cell: write a multiple of 8 below 0x40000");
    assert_eq!(complaint_to("tick uclk 5"), "line 5: power9 has no boxes that threads share");
}

#[test]
fn what_does_not_come_true_of_the_nest_is_told_with_its_line() {
    let failure_of = |statements: &str| {
        let litmus: Litmus = format!("{NEST}{statements}\n").parse().expect("a litmus file");
        litmus.run().expect_err("a failure").to_string()
    };
    assert_eq!(failure_of("slots 4\nread cell:status = 2"), "line 6: it is `read cell:status = 0x1`, expected `read cell:status = 0x2`");
    assert_eq!(failure_of("refused 1 at 8"), "line 5: it is `refused none`, expected `refused 1 at 0x8`");
    assert_eq!(failure_of("chip 3"), "line 5: there is no chip 3: write `nest chip=3`");
    assert_eq!(failure_of("program 0 codes=0"), "line 5: no PMUlet's first counter is posted to 0x0");
    assert!(failure_of("write memory:0 1").starts_with("line 5: there is no memory at memory:0x0/8: it is where chips have their regions"));
    assert!(failure_of("slots 10001").ends_with("10001 slots, which are too many: 10000 are the most; or write `at-once`"));
}

#[test]
fn a_comment_is_cut_and_a_fault_is_not() {
    let text = format!("{HEADER}read rdpmc:4 faults #GP # above 3\nread rdpmc:0 = 0 #none yet\n# faults #GP\n");
    let litmus: Litmus = text.parse().expect("a litmus file");
    assert_eq!(litmus.steps.len(), 2);
    assert_eq!(litmus.run(), Ok(2));
}
