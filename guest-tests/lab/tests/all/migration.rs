//! Guests of x86 that are saved, with their PMUs and everything else, and continue in a new machine.

use vm_pmu::Part;
use vm_pmu::companion::Clock;
use vm_pmu_board::x86::Cpu;
use vm_pmu_engines::x86::{Exit, Image, Limits, Machine};
use vm_pmu_guests::Guest;
use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::x86::Surroundings;
use vm_pmu_lab::runner::{Engine, MigrateError, Options, RunError, run};

/// No guest needs as many steps. Everything is kept that can be.
fn options() -> Options {
    Options { limit: 3_000_000, trace: vm_pmu_board::trace::Choice::first(500), ..Options::default() }
}

fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

/// Where two reports differ first, if they do.
fn difference(whole: &Report, moved: &Report) -> Option<String> {
    let [whole, moved] = [whole, moved].map(json);
    let mut lines = whole.lines().zip(moved.lines()).enumerate();
    match lines.find(|(_, (whole, moved))| whole != moved) {
        Some((number, (whole, moved))) => Some(format!("line {number}: {} became {}", whole.trim(), moved.trim())),
        None => (whole != moved).then(|| "one is longer".to_owned()),
    }
}

/// Saves a guest after each of these many steps, and returns where its report then differs from that of a run that was not saved.
fn moved(guest: &Guest, options: &Options, whole: &Report, places: impl Iterator<Item = u64>) -> Vec<String> {
    let at = |steps| {
        let moved = run(guest.pmu, guest.name, &Options { save_at: Some(steps), ..options.clone() });
        let differs = match moved {
            Ok(moved) => difference(whole, &moved)?,
            Err(error) => error.to_string(),
        };
        Some(format!("{} of {} after {steps} steps: {differs}", guest.name, guest.pmu))
    };
    places.filter_map(at).collect()
}

fn x86() -> impl Iterator<Item = &'static Guest> {
    vm_pmu_guests::of("k8").chain(vm_pmu_guests::of("knl"))
}

#[test]
fn every_guest_of_x86_goes_on_from_its_middle() {
    let mut failures = Vec::new();
    for guest in x86() {
        let whole = run(guest.pmu, guest.name, &options()).unwrap();
        assert!(whole.passed, "{}", guest.name);
        failures.extend(moved(guest, &options(), &whole, std::iter::once(whole.instructions / 2)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Saves guests at so many places, evenly from the start to the end, the last of them no round number.
fn at_odd_places(guests: impl Iterator<Item = &'static Guest>, places: u64, options: &Options) {
    let mut failures = Vec::new();
    for guest in guests {
        let whole = run(guest.pmu, guest.name, options).unwrap();
        assert!(whole.passed, "{}", guest.name);
        let steps = whole.instructions;
        failures.extend(moved(guest, options, &whole, (0..places).map(|place| place * steps / places + 7 * place)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn short_guests_of_the_k8_go_on_from_anywhere() {
    let short = ["edge-mask", "filter", "northbridge", "call-depth", "user-rdpmc", "count", "self-modifying", "linux-probe"];
    at_odd_places(vm_pmu_guests::of("k8").filter(|guest| short.contains(&guest.name)), 11, &options());
}

#[test]
fn guests_with_several_cpus_go_on_from_anywhere() {
    at_odd_places(vm_pmu_guests::of("k8").filter(|guest| guest.cpus > 1), 7, &options());
    at_odd_places(
        vm_pmu_guests::of("knl").filter(|guest| ["any-thread", "tile", "untile-eight-cpus"].contains(&guest.name)),
        4,
        &options(),
    );
}

#[test]
fn guests_go_on_without_a_companion() {
    let options = Options { companion: false, ..options() };
    let alone = ["count", "filter", "overflow", "profile", "freeze"];
    at_odd_places(x86().filter(|guest| !guest.needs_companion && alone.contains(&guest.name)), 3, &options);
}

/// Seven steps in a separate machine: what was saved then, or how many instructions the whole guest had.
fn seven_steps(image: &Image, saved: Option<&[u8]>) -> Result<Vec<u8>, u64> {
    let around = around("k8", 1, &options());
    let mut machine = around.machine(image, Engine::Interpreter).unwrap();
    saved.map_or(Ok(()), |saved| around.load(&mut machine, saved)).unwrap();
    let exit = machine.run(Limits::steps(7));
    if exit == Exit::Limit {
        return Ok(around.save(&machine).unwrap());
    }
    assert!(matches!(exit, Exit::Status { status: 0, .. }), "{exit}");
    Err(machine.observer(0).unwrap().instructions())
}

#[test]
fn a_guest_that_is_moved_every_seventh_step_never_notices() {
    let image = vm_pmu_guests::named("k8", "filter").unwrap().image(true).unwrap();
    let mut saved = seven_steps(&image, None);
    let mut moves = 1;
    while let Ok(bytes) = saved {
        saved = seven_steps(&image, Some(&bytes));
        moves += 1;
    }
    assert!(moves > 150, "{moves}");
    assert_eq!(saved, Err(run("k8", "filter", &options()).unwrap().instructions));
}

fn around(pmu: &str, cpus: usize, options: &Options) -> Surroundings {
    Surroundings::new(Part::named(pmu).unwrap(), cpus, Clock::Embedder, options).unwrap()
}

/// A machine in the middle of a guest.
fn middle<'a>(around: &'a Surroundings, guest: &str, steps: u64) -> Machine<Cpu<'a>> {
    let image = vm_pmu_guests::named("k8", guest).unwrap().image(true).unwrap();
    let mut machine = around.machine(&image, Engine::Interpreter).unwrap();
    assert_eq!(machine.run(Limits::steps(steps)), Exit::Limit);
    machine
}

#[test]
fn what_is_restored_saves_the_same_bytes() {
    for steps in [0, 1, 501, 60_001] {
        let [one, other] = [(); 2].map(|()| around("k8", 2, &options()));
        let bytes = one.save(&middle(&one, "two-cpus", steps)).unwrap();
        let mut machine = middle(&other, "two-cpus", 100);
        other.load(&mut machine, &bytes).unwrap();
        assert!(other.save(&machine).unwrap() == bytes, "after {steps} steps");
    }
}

#[test]
fn damaged_bytes_are_refused_and_nothing_changes() {
    let (one, other) = (around("k8", 1, &options()), around("k8", 1, &options()));
    let bytes = one.save(&middle(&one, "count", 2000)).unwrap();
    let mut machine = middle(&other, "count", 100);
    let before = other.save(&machine).unwrap();
    let mut changed = bytes.clone();
    for at in (0..30).chain((30..bytes.len()).step_by(bytes.len() / 60)) {
        changed[at] ^= 1;
        assert!(other.load(&mut machine, &changed).is_err(), "byte {at}");
        assert!(other.load(&mut machine, &bytes[..at]).is_err(), "{at} bytes");
        changed[at] ^= 1;
    }
    assert!(other.save(&machine).unwrap() == before);
}

/// `bytes` with a byte changed and the right checksum.
fn made_up(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut changed = bytes[..bytes.len() - 4].to_vec();
    changed[at] ^= 1;
    let checksum = crc32fast::hash(&changed);
    changed.extend_from_slice(&checksum.to_le_bytes());
    changed
}

#[test]
fn a_part_that_is_refused_takes_the_others_back() {
    let (one, other) = (around("k8", 1, &options()), around("k8", 1, &options()));
    let bytes = one.save(&middle(&one, "count", 2000)).unwrap();
    let snapshots: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"VMPMUSNP")).collect();
    let [pmus, companion] = snapshots[..] else { panic!("{} snapshots", snapshots.len()) };
    let mut machine = middle(&other, "count", 100);
    let before = other.save(&machine).unwrap();
    for at in [pmus + 40, companion + 400] {
        let refused = other.load(&mut machine, &made_up(&bytes, at));
        assert!(matches!(refused, Err(MigrateError::Snapshot(_))), "{refused:?}");
        assert!(other.save(&machine).unwrap() == before);
    }
    other.load(&mut machine, &bytes).unwrap();
    assert!(matches!(machine.run(Limits::NONE), Exit::Status { status: 0, .. }));
}

#[test]
fn machines_of_another_kind_are_refused() {
    let one = around("k8", 1, &options());
    let bytes = one.save(&middle(&one, "count", 500)).unwrap();
    let image = vm_pmu_guests::named("k8", "count").unwrap().image(true).unwrap();
    let refused = |other: &Surroundings| other.load(&mut other.machine(&image, Engine::Interpreter).unwrap(), &bytes).unwrap_err();
    let alone = around("k8", 1, &Options { companion: false, ..options() });
    assert_eq!(refused(&alone), MigrateError::Shape { what: "whether there is a companion" });
    assert_eq!(refused(&around("k8", 2, &options())), MigrateError::Shape { what: "the number of CPUs" });
    assert!(matches!(refused(&around("knl", 1, &options())), MigrateError::Part { .. }));
}

#[test]
fn a_guest_that_ends_too_early_says_so() {
    let early = run("k8", "count", &Options { save_at: Some(1_000_000), ..options() });
    assert!(matches!(early, Err(RunError::EndedEarly { steps: 1_000_000, .. })), "{early:?}");
    let late = run("k8", "count", &Options { save_at: Some(3_000_000), ..options() });
    assert!(matches!(late, Err(RunError::SavedTooLate { .. })), "{late:?}");
}
