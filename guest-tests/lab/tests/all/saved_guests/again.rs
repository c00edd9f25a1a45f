//! Machines that are moved again and again equal one that was stopped as often and not moved.

use vm_pmu_engines::{ia64, power as engine};

use super::rigs::{on_montecito, on_power};

/// How often they are moved.
const MOVES: u64 = 20;

#[test]
fn a_machine_of_power_is_moved_again_and_again() {
    let some = engine::Limits::steps(1999);
    let mut saved = on_power(0, |rig| rig.save().expect("saves"));
    for _ in 0..MOVES {
        saved = on_power(0, |rig| {
            rig.restore(&saved.0, &saved.1).expect("fits");
            assert_eq!(rig.machine.run(some), engine::Exit::Limit);
            rig.save().expect("saves")
        });
    }
    let whole = on_power(0, |rig| {
        (0..MOVES).for_each(|_| assert_eq!(rig.machine.run(some), engine::Exit::Limit));
        rig.save().expect("saves")
    });
    assert_eq!(saved.0, whole.0);
    assert_eq!(saved.1.cpus, whole.1.cpus);
    assert!(saved.1 == whole.1, "PMUs, chips or companion differ");
}

#[test]
fn a_machine_of_montecito_is_moved_again_and_again() {
    let some = ia64::Limits::steps(257);
    let mut saved = on_montecito(0, |rig| rig.save().expect("saves"));
    for _ in 0..MOVES {
        saved = on_montecito(0, |rig| {
            rig.restore(&saved.0, &saved.1).expect("fits");
            assert_eq!(rig.machine.run(some), ia64::Exit::Limit);
            rig.save().expect("saves")
        });
    }
    let whole = on_montecito(0, |rig| {
        (0..MOVES).for_each(|_| assert_eq!(rig.machine.run(some), ia64::Exit::Limit));
        rig.save().expect("saves")
    });
    assert_eq!(saved.0, whole.0);
    assert_eq!(saved.1.cpus, whole.1.cpus);
    assert!(saved.1 == whole.1, "PMUs, lines or companion differ");
}
