//! A state that was saved of another machine, or damaged, is refused, and nothing is changed.

use vm_pmu_board::{Refusal, ia64 as board, power};
use vm_pmu_engines::ia64;
use vm_pmu_engines::power as engine;

use super::rigs::{on_montecito, on_power};

fn flip(bytes: &mut [u8]) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
}

#[test]
fn a_machine_of_power_saves_what_it_goes_on_from() {
    let (machine, attached) = on_power(40_000, |rig| rig.save().expect("saves"));
    on_power(10, |rig| {
        assert_eq!(rig.restore(&machine, &attached), Ok(()));
        let (again, saved) = rig.save().expect("saves");
        assert_eq!(again, machine);
        assert_eq!(saved, attached);
    });
}

#[test]
fn a_machine_of_power_refuses_what_is_damaged_or_of_another() {
    type Change = fn(&mut engine::Saved, &mut power::Attached);
    let cases: [(&str, Change); 9] = [
        ("3 CPUs were saved and the machine has 4", |_, attached| _ = attached.cpus.pop()),
        ("counts of thread 1 were saved where those of thread 0 belong", |_, attached| attached.cpus.swap(0, 1)),
        ("0 companions were saved and the machine has 1", |_, attached| attached.companion = None),
        ("0 chips were saved and the machine has 2", |_, attached| attached.firmware = None),
        ("multiples of 4", |machine, _| machine.cpus[2].pc += 2),
        ("checksum", |_, attached| flip(&mut attached.pmus)),
        ("checksum", |_, attached| flip(attached.companion.as_mut().expect("one"))),
        ("checksum", |_, attached| flip(&mut attached.firmware.as_mut().expect("one").chips[1])),
        ("chip 8", |_, attached| attached.firmware.as_mut().expect("one").chips.swap(0, 1)),
    ];
    let saved = on_power(40_000, |rig| rig.save().expect("saves"));
    on_power(10_000, |rig| {
        let before = rig.save().expect("saves");
        for (expected, change) in cases {
            let (mut machine, mut attached) = saved.clone();
            change(&mut machine, &mut attached);
            let error = rig.restore(&machine, &attached).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(rig.save().expect("saves"), before, "{expected}");
        }
    });
}

#[test]
fn a_machine_of_montecito_saves_what_it_goes_on_from() {
    let (machine, attached) = on_montecito(5000, |rig| rig.save().expect("saves"));
    on_montecito(10, |rig| {
        assert_eq!(rig.restore(&machine, &attached), Ok(()));
        let (again, saved) = rig.save().expect("saves");
        assert_eq!(again, machine);
        assert_eq!(saved, attached);
    });
}

#[test]
fn a_machine_of_montecito_refuses_what_is_damaged_or_of_another() {
    type Change = fn(&mut ia64::Saved, &mut board::Attached);
    let cases: [(&str, Change); 6] = [
        ("1 threads were saved and the machine has 2", |_, attached| _ = attached.cpus.pop()),
        ("counts of thread 1 were saved where those of thread 0 belong", |_, attached| attached.cpus.swap(0, 1)),
        ("one a thread, each with 32 counters", |_, attached| _ = attached.lines.pop()),
        ("multiples of 16", |machine, _| machine.cores[0].threads[1].ip += 8),
        ("checksum", |_, attached| flip(&mut attached.pmus)),
        ("checksum", |_, attached| flip(attached.companion.as_mut().expect("one"))),
    ];
    let saved = on_montecito(5000, |rig| rig.save().expect("saves"));
    on_montecito(2000, |rig| {
        let before = rig.save().expect("saves");
        for (expected, change) in cases {
            let (mut machine, mut attached) = saved.clone();
            change(&mut machine, &mut attached);
            let error = rig.restore(&machine, &attached).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(rig.save().expect("saves"), before, "{expected}");
        }
    });
}

#[test]
fn pmus_of_another_part_are_refused_as_such() {
    let (machine, mut attached) = on_power(100, |rig| rig.save().expect("saves"));
    attached.pmus = on_montecito(100, |rig| rig.save().expect("saves")).1.pmus;
    let refused = on_power(50, |rig| rig.restore(&machine, &attached));
    assert!(matches!(refused, Err(Refusal::Snapshot(vm_pmu::snapshot::SnapshotError::Part { .. }))), "{refused:?}");
}
