//! What does not fit is refused, and changes nothing.

use vm_pmu::snapshot::{CompanionSnapshot, Kind, SnapshotError};
use vm_pmu::topology::Builder;
use vm_pmu::{Part, arch};

use super::bytes::{content, content_at, signed, with_content};
use super::scenes::{LOADED, SCENES, chip, companion, misses, silent, stopped_chip};

/// Every snapshot that differs from this one in a byte, and every one that is shorter.
fn damaged(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let changed = (0..bytes.len()).map(|place| {
        let mut other = bytes.to_vec();
        other[place] ^= 1 << (place % 8);
        other
    });
    changed.chain((0..bytes.len()).map(|length| bytes[..length].to_vec()))
}

#[test]
fn a_machine_takes_no_snapshot_with_a_changed_byte_and_none_cut_short() {
    for scene in SCENES {
        let (bytes, target) = (scene.stopped().save().unwrap(), scene.build());
        let before = target.save().unwrap();
        for other in damaged(&bytes) {
            assert!(target.load(&other).is_err(), "{}: {} bytes", scene.name, other.len());
        }
        assert_eq!(target.save().unwrap(), before, "{}", scene.name);
    }
}

#[test]
fn a_chip_takes_no_snapshot_with_a_changed_byte_and_none_cut_short() {
    let (bytes, target) = (stopped_chip().save().unwrap(), chip());
    let before = target.save().unwrap();
    assert!(damaged(&bytes).all(|other| target.load(&other).is_err()));
    assert_eq!(target.save().unwrap(), before);
}

#[test]
fn a_companion_takes_no_snapshot_with_a_changed_byte_and_none_cut_short() {
    let (old, new) = (companion(), companion());
    let (mut before, mut after) = (old.follower(0).unwrap(), new.follower(0).unwrap());
    misses(&mut before, &LOADED);
    let bytes = old.save_snapshot(&[&before]).unwrap();
    let cold = new.save_snapshot(&[&after]).unwrap();
    assert!(damaged(&bytes).all(|other| new.load_snapshot(&other, &mut [&mut after]).is_err()));
    assert_eq!(new.save_snapshot(&[&after]).unwrap(), cold);
}

#[test]
fn a_snapshot_that_is_cut_or_goes_on_is_told_by_its_length() {
    let machine = SCENES[0].build();
    let bytes = machine.save().unwrap();
    let (length, at) = (bytes.len() as u64, content_at(&bytes));
    assert_eq!(machine.load(&bytes[..bytes.len() - 1]), Err(SnapshotError::Length { stated: length, given: length - 1 }));
    assert_eq!(machine.load(&[&bytes[..], &[0]].concat()), Err(SnapshotError::Length { stated: length, given: length + 1 }));
    assert_eq!(machine.load(&bytes[..at - 1]), Err(SnapshotError::Cut { given: at as u64 - 1 }));
    assert_eq!(machine.load(&[]), Err(SnapshotError::NotASnapshot));
    let mut claims = bytes.clone();
    claims[at - 8..at].fill(0xFF);
    assert_eq!(machine.load(&claims), Err(SnapshotError::Length { stated: u64::MAX, given: length }));
}

#[test]
fn a_snapshot_of_a_later_version_is_refused_with_both_numbers() {
    let machine = SCENES[0].build();
    let mut bytes = machine.save().unwrap();
    bytes[8] = 7;
    // Nothing behind the version need be as it is in this one.
    let refused = machine.load(&signed(bytes[..20].to_vec())).unwrap_err();
    assert_eq!(refused, SnapshotError::Version { saved: 7 });
    assert_eq!(refused.to_string(), "the snapshot has version 7 and this library reads versions 1 to 6");
}

#[test]
fn more_bytes_than_any_such_machine_has_are_refused_before_they_are_looked_at() {
    let machine = SCENES[0].build();
    let before = machine.save().unwrap();
    let mut bytes = with_content(&before, &vec![0x80; 1 << 20]);
    let given = bytes.len() as u64;
    *bytes.last_mut().unwrap() ^= 1;
    assert!(matches!(machine.load(&bytes), Err(SnapshotError::Oversized { given: told, most }) if told == given && most < 1 << 16));
    assert_eq!(machine.save().unwrap(), before);
}

#[test]
fn a_snapshot_of_another_part_or_revision_is_refused() {
    let [k8, knl, ..] = SCENES.map(|scene| scene.build());
    let pair = |name: &str, letter: &str| (name.to_string(), letter.to_string());
    let bytes = k8.save().unwrap();
    assert_eq!(knl.load(&bytes), Err(SnapshotError::Part { saved: pair("k8", "E"), target: pair("knl", "B0") }));
    // However large the other is.
    assert_eq!(k8.load(&knl.save().unwrap()), Err(SnapshotError::Part { saved: pair("knl", "B0"), target: pair("k8", "E") }));
    let early = Builder::of(Part::named("k8").unwrap().revision("C").unwrap()).threads(2).build(silent()).unwrap();
    let refused = early.load(&bytes).unwrap_err();
    assert_eq!(refused, SnapshotError::Part { saved: pair("k8", "E"), target: pair("k8", "C") });
    assert_eq!(refused.to_string(), "the snapshot is of k8 revision E and the target is k8 revision C: build one of the same part");
}

#[test]
fn a_snapshot_of_other_packages_or_threads_is_refused() {
    let bytes = SCENES[0].build().save().unwrap();
    for (packages, threads) in [(2, 1), (1, 1), (1, 3)] {
        let machine = Builder::new("k8").unwrap().packages(packages).threads(threads).build(silent()).unwrap();
        let before = machine.save().unwrap();
        let target = (packages as u64, threads as u64);
        assert_eq!(machine.load(&bytes), Err(SnapshotError::Shape { saved: (1, 2), target }));
        assert_eq!(machine.save().unwrap(), before);
    }
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let (machine, chip) = (Builder::new("power9").unwrap().build(silent()).unwrap(), chip());
    let refused = chip.load(&machine.save().unwrap()).unwrap_err();
    assert_eq!(refused, SnapshotError::Kind { saved: Some(Kind::Machine), target: Kind::Chip });
    assert_eq!(refused.to_string(), "the snapshot is of a machine and was to be loaded into a chip");
    assert_eq!(machine.load(&chip.save().unwrap()), Err(SnapshotError::Kind { saved: Some(Kind::Chip), target: Kind::Machine }));
    let mut unknown = machine.save().unwrap();
    unknown.truncate(unknown.len() - 4);
    unknown[12] = 99;
    assert_eq!(machine.load(&signed(unknown)), Err(SnapshotError::Kind { saved: None, target: Kind::Machine }));
}

#[test]
fn a_snapshot_of_another_chip_is_refused() {
    let other = vm_pmu::memory::Chip::new(0, arch::power9::nest::Nest::new(0));
    assert_eq!(other.load(&stopped_chip().save().unwrap()), Err(SnapshotError::ChipId { saved: 8, target: 0 }));
    assert_eq!(other.home(), 0);
}

#[test]
fn content_that_ends_early_or_goes_on_is_refused() {
    for scene in SCENES {
        let machine = scene.stopped();
        let bytes = machine.save().unwrap();
        let whole = content(&bytes);
        let more = [whole, &[0]].concat();
        for other in [&[][..], &whole[..whole.len() - 1], &more, b"\xA0", b"\xF6"] {
            assert_eq!(machine.load(&with_content(&bytes, other)), Err(SnapshotError::Content), "{}", scene.name);
        }
        assert_eq!(machine.save().unwrap(), bytes, "{}", scene.name);
    }
}

#[test]
fn a_content_nested_beyond_all_measure_is_refused() {
    let machine = SCENES[1].build();
    let bytes = machine.save().unwrap();
    // A map whose first, unknown key has arrays in arrays.
    let content = [b"\xA1\x61x", &vec![0x81; 100_000][..]].concat();
    assert_eq!(machine.load(&with_content(&bytes, &content)), Err(SnapshotError::Content));
}
