//! What a trace keeps of what passes between a guest and its PMU, on every architecture.

use iced_x86::code_asm::{eax, rax};
use vm_pmu::companion::Clock;
use vm_pmu_board::trace::{Choice, Keep, Kind, Kinds, Until};
use vm_pmu_engines::image::Image;
use vm_pmu_guests::{ia64, power, runtime};
use vm_pmu_lab::report::{Action, Report, Trace};
use vm_pmu_lab::runner::{Options, run, run_image};

const PARTS: [&str; 5] = ["k8", "knl", "power9", "itanium", "montecito"];

/// A guest that writes 1 to 3 to its first counter, sees 4 where 3 would be right, and writes 4 to 6.
fn failing(pmu: &str) -> (Image, &'static str) {
    match pmu {
        "power9" => {
            use vm_pmu_engines::power::assemble::R7;
            let mut k = power::Kernel::new(true);
            k.main();
            (1..=3).for_each(|value| k.write(787, value));
            k.a.load(R7, 3);
            k.check_is("right", R7, 3);
            k.a.load(R7, 4);
            k.check_is("wrong", R7, 3);
            (4..=6).for_each(|value| k.write(787, value));
            k.end_main();
            (k.finish().unwrap(), "PMC1")
        }
        "itanium" | "montecito" => {
            use vm_pmu_engines::ia64::assemble::R9;
            let mut k = ia64::Kernel::new();
            k.main();
            (1..=3).for_each(|value| k.write_pmd(4, value));
            k.a.load(R9, 3);
            k.check_is("right", R9, 3);
            k.a.load(R9, 4);
            k.check_is("wrong", R9, 3);
            (4..=6).for_each(|value| k.write_pmd(4, value));
            k.end_main();
            (k.finish().unwrap(), "PMD4")
        }
        _ => {
            let (register, name) = if pmu == "k8" { (0xC001_0004, "PerfCtr0") } else { (0x4C1, "IA32_A_PMC0") };
            let build = || -> runtime::Built<Image> {
                let mut k = runtime::Kernel::new(Vec::new())?;
                k.main()?;
                for value in 1..=3 {
                    k.wrmsr(register, value)?;
                }
                k.a.mov(eax, 3)?;
                k.check_is("right", rax, 3)?;
                k.a.mov(eax, 4)?;
                k.check_is("wrong", rax, 3)?;
                for value in 4..=6 {
                    k.wrmsr(register, value)?;
                }
                k.a.ret()?;
                k.finish()
            };
            (build().unwrap(), name)
        }
    }
}

/// What the failing guest of a part wrote, as far as it was kept; 0 is the check.
fn kept(pmu: &str, choice: Choice) -> Vec<u64> {
    let (image, register) = failing(pmu);
    let choice = Choice { registers: vec![register.to_owned()], ..choice };
    let options = Options { trace: choice, limit: 100_000, ..Options::default() };
    let report = run_image(pmu, "failing", &image, 1, Clock::Embedder, &options).unwrap();
    assert!(report.ending.contains("first `wrong`: 0x4 instead of 0x3"), "{pmu}: {}", report.ending);
    let value = |entry: &Trace| match &entry.action {
        Action::Write { value, .. } => Some(*value),
        Action::Check { name, seen: 4, least: 3, most: 3 } if name == "wrong" => Some(0),
        _ => None,
    };
    report.trace.iter().filter_map(value).collect()
}

#[test]
fn the_first_or_the_last_entries_are_kept() {
    for pmu in PARTS {
        assert_eq!(kept(pmu, Choice::first(2)), [1, 2], "{pmu}");
        assert_eq!(kept(pmu, Choice { keep: Keep::Last, ..Choice::first(2) }), [5, 6], "{pmu}");
    }
}

#[test]
fn entries_around_the_first_failing_check_are_kept() {
    for pmu in PARTS {
        assert_eq!(kept(pmu, Choice { keep: Keep::AroundFailure, ..Choice::first(2) }), [2, 3, 0, 4, 5], "{pmu}");
    }
}

#[test]
fn a_trace_ends_at_a_failing_check_or_at_a_value() {
    for pmu in PARTS {
        assert_eq!(kept(pmu, Choice { until: Some(Until::Failure), ..Choice::first(100) }), [1, 2, 3, 0], "{pmu}");
        let register = failing(pmu).1.to_owned();
        let until = Some(Until::Value { register, value: 5 });
        assert_eq!(kept(pmu, Choice { until, keep: Keep::Last, ..Choice::first(2) }), [4, 5], "{pmu}");
    }
}

fn report(pmu: &str, guest: &str, trace: Choice) -> Report {
    run(pmu, guest, &Options { trace, ..Options::default() }).unwrap()
}

#[test]
fn around_a_failure_there_is_nothing_of_a_guest_that_passes() {
    let report = report("k8", "filter", Choice { keep: Keep::AroundFailure, ..Choice::first(5) });
    assert!(report.passed && report.trace.is_empty());
}

#[test]
fn a_trace_changes_nothing_of_the_run() {
    let every = [Kind::Read, Kind::Write, Kind::Interrupt, Kind::Fault, Kind::Freeze, Kind::FreezeByWrite, Kind::Context];
    let kinds = every.into_iter().fold(Kinds::NONE, Kinds::with);
    for pmu in PARTS {
        let plain = report(pmu, "overflow", Choice::default());
        let traced = report(pmu, "overflow", Choice { keep: Keep::Last, kinds, until: Some(Until::Failure), ..Choice::first(50) });
        assert_eq!(traced.trace.len(), 50, "{pmu}");
        // Addresses of the trace have places too.
        let rest = |report| format!("{:?}", Report { trace: Vec::new(), places: Vec::new(), ..report });
        assert_eq!(rest(traced), rest(plain), "{pmu}");
    }
}

#[test]
fn an_interrupt_names_its_counter_and_is_followed_by_its_taking() {
    for (pmu, counter) in [("k8", 0), ("knl", 0), ("power9", 1), ("itanium", 4), ("montecito", 4)] {
        let kinds = Kinds::NONE.with(Kind::Interrupt);
        let actions: Vec<Action> =
            report(pmu, "overflow", Choice { kinds, ..Choice::first(2) }).trace.into_iter().map(|entry| entry.action).collect();
        assert_eq!(actions, [Action::Interrupt { counters: vec![counter] }, Action::Taken], "{pmu}");
    }
}

#[test]
fn a_freeze_by_the_pmu_itself_comes_before_the_interrupt() {
    for (pmu, guest) in [("knl", "freeze"), ("power9", "overflow"), ("itanium", "overflow"), ("montecito", "overflow")] {
        let kinds = Kinds::NONE.with(Kind::Interrupt).with(Kind::Freeze);
        let trace = report(pmu, guest, Choice { kinds, ..Choice::first(2) }).trace;
        assert_eq!(trace[0].action, Action::Freeze { frozen: true, written: false }, "{pmu}");
        assert!(matches!(trace[1].action, Action::Interrupt { .. }), "{pmu}");
    }
}

#[test]
fn a_refused_access_is_kept_with_its_register() {
    // RDPMC of a counter that the K8 does not have: #GP (APM volume 3, RDPMC).
    let kinds = Kinds::NONE.with(Kind::Fault);
    let trace = report("k8", "hostile", Choice { kinds, ..Choice::first(1) }).trace;
    assert_eq!(trace[0].action, Action::Fault { register: "RDPMC 4".to_owned(), wrote: None });
}

#[test]
fn contexts_are_kept_when_they_are_wanted() {
    let kinds = Kinds::NONE.with(Kind::Context);
    let levels = |pmu: &str, guest: &str| -> Vec<u8> {
        let level = |entry: Trace| if let Action::Context { privilege, .. } = entry.action { Some(privilege) } else { None };
        report(pmu, guest, Choice { kinds, ..Choice::first(3) }).trace.into_iter().filter_map(level).collect()
    };
    // Ring 0, ring 3 for what is counted there, and ring 0 again.
    assert_eq!(levels("k8", "filter"), [0, 3, 0]);
}

#[test]
fn a_trace_of_one_thread_has_no_other() {
    let trace = report("k8", "two-cpus", Choice { thread: Some(1), ..Choice::first(5) }).trace;
    assert!(trace.len() == 5 && trace.iter().all(|entry| entry.thread == 1));
    let options = Options { trace: Choice { thread: Some(2), ..Choice::first(5) }, ..Options::default() };
    let said = run("k8", "two-cpus", &options).unwrap_err().to_string();
    assert_eq!(said, "there is no thread 2 to trace: the machine has threads 0 to 1");
}

#[test]
fn a_trace_goes_on_where_a_run_was_saved() {
    for pmu in PARTS {
        for keep in [Keep::First, Keep::Last] {
            let options = Options { trace: Choice { keep, ..Choice::first(40) }, ..Options::default() };
            let whole = run(pmu, "overflow", &options).unwrap().trace;
            let moved = run(pmu, "overflow", &Options { save_at: Some(1500), ..options }).unwrap().trace;
            assert_eq!(moved, whole, "{pmu} {keep:?}");
        }
    }
}
