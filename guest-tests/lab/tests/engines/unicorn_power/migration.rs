//! Guests that are saved in the middle on one engine and continue on the other.

use vm_pmu_lab::runner::{Engine, Options, run};

use super::guests::parts;

/// Runs every guest up to its middle on `first` and to its end on `second`; what then differs from a run on one engine.
fn differences(first: Engine, second: Engine) -> Vec<String> {
    let options = Options { trace: vm_pmu_board::trace::Choice::first(500), limit: 10_000_000, ..Options::default() };
    let mut differences = Vec::new();
    for guest in vm_pmu_guests::of("power9") {
        let whole = run(guest.pmu, guest.name, &options).expect("the engine runs it");
        let moved = Options { engine: first, go_on_with: Some(second), save_at: Some(whole.instructions / 2), ..options.clone() };
        match run(guest.pmu, guest.name, &moved) {
            Ok(moved) => {
                let whole = parts(whole);
                let other = parts(moved).into_iter().filter(|(name, part)| whole.get(name) != Some(part));
                differences.extend(other.map(|(name, _)| format!("{}: {name}", guest.name)));
            }
            Err(error) => differences.push(format!("{}: {error}", guest.name)),
        }
    }
    differences
}

#[test]
fn every_guest_goes_on_in_unicorn() {
    let differences = differences(Engine::Interpreter, Engine::Unicorn);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_guest_goes_on_in_the_interpreter() {
    let differences = differences(Engine::Unicorn, Engine::Interpreter);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
