//! Snapshots of earlier versions, as they were written then: `cargo run --example golden_snapshots` writes those of the present version.

use std::fs;
use std::path::PathBuf;

use vm_pmu::snapshot::{CompanionSnapshot, FORMAT_VERSION};

use super::scenes::{CHIP, LOADED, SCENES, TO_LOAD, chip, companion, end_chip, misses, stopped_chip};

fn golden(version: u32, name: &str) -> Vec<u8> {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "snapshots", &format!("v{version}"), &format!("{name}.snapshot")].iter().collect();
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn machines_of_every_version_are_read() {
    for version in 1..=FORMAT_VERSION {
        for scene in SCENES {
            let machine = scene.build();
            assert_eq!(machine.load(&golden(version, scene.name)), Ok(()), "{} of version {version}", scene.name);
            assert_eq!((scene.end)(&machine), scene.expected, "{} of version {version}", scene.name);
        }
    }
}

#[test]
fn chips_of_every_version_are_read() {
    for version in 1..=FORMAT_VERSION {
        let chip = chip();
        assert_eq!(chip.load(&golden(version, "chip")), Ok(()), "version {version}");
        assert_eq!((end_chip(&chip), chip.until_slot()), (CHIP, 25_500), "version {version}");
    }
}

#[test]
fn free_running_counters_of_chips_count_from_power_on_in_every_version() {
    // The clock of the first host bridge.
    const CLOCK: u32 = 0x338;
    let expected = stopped_chip().register(CLOCK);
    assert!(expected > Some(0));
    for version in 1..=FORMAT_VERSION {
        let chip = chip();
        assert_eq!(chip.load(&golden(version, "chip")), Ok(()), "version {version}");
        assert_eq!(chip.register(CLOCK), expected, "version {version}");
    }
}

#[test]
fn a_companion_of_the_present_version_is_read() {
    let companion = companion();
    let mut follower = companion.follower(0).unwrap();
    assert_eq!(companion.load_snapshot(&golden(FORMAT_VERSION, "companion"), &mut [&mut follower]), Ok(()));
    assert_eq!(misses(&mut follower, &TO_LOAD), 2);
}

#[test]
fn whoever_changes_what_is_written_raises_the_version() {
    for scene in SCENES {
        assert!(scene.stopped().save().unwrap() == golden(FORMAT_VERSION, scene.name), "{}: other bytes, same version", scene.name);
    }
    assert!(stopped_chip().save().unwrap() == golden(FORMAT_VERSION, "chip"), "other bytes, same version");
    let companion = companion();
    let mut follower = companion.follower(0).unwrap();
    misses(&mut follower, &LOADED);
    let bytes = companion.save_snapshot(&[&follower]).unwrap();
    assert!(bytes == golden(FORMAT_VERSION, "companion"), "other bytes, same version of the companion's form");
}
