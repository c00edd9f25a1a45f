//! What is saved in the middle of counting goes on in another machine.

use vm_pmu::companion::STATE_VERSION;
use vm_pmu::snapshot::CompanionSnapshot;

use super::bytes::{content, signed, with_content};
use super::scenes::{CHIP, LOADED, SCENES, TO_LOAD, chip, companion, end_chip, misses, stopped_chip};

#[test]
fn a_machine_of_every_part_goes_on_where_the_saved_one_was() {
    for scene in SCENES {
        let (old, new) = (scene.stopped(), scene.build());
        let bytes = old.save().unwrap();
        new.load(&bytes).unwrap();
        assert_eq!(new.save().unwrap(), bytes, "{}", scene.name);
        assert_eq!((scene.end)(&new), scene.expected, "{}", scene.name);
        assert_eq!((scene.end)(&old), scene.expected, "{}: saving changes nothing", scene.name);
        assert_eq!(new.save(), old.save(), "{}", scene.name);
    }
}

#[test]
fn what_the_target_did_before_is_forgotten() {
    for scene in SCENES {
        let bytes = scene.stopped().save().unwrap();
        let other = scene.stopped();
        (scene.end)(&other);
        other.load(&bytes).unwrap();
        assert_eq!((scene.end)(&other), scene.expected, "{}", scene.name);
    }
}

#[test]
fn a_chip_goes_on_where_the_saved_one_was() {
    let (old, new) = (stopped_chip(), chip());
    let bytes = old.save().unwrap();
    new.load(&bytes).unwrap();
    assert_eq!(new.save().unwrap(), bytes);
    assert_eq!((new.until_slot(), new.is_running()), (25_500, true));
    assert_eq!((end_chip(&new), end_chip(&old)), (CHIP, CHIP));
}

#[test]
fn a_companion_goes_on_with_warm_caches() {
    let (old, new) = (companion(), companion());
    let (mut before, mut after) = (old.follower(0).unwrap(), new.follower(0).unwrap());
    assert_eq!(misses(&mut before, &LOADED), 2);
    let bytes = old.save_snapshot(&[&before]).unwrap();
    new.load_snapshot(&bytes, &mut [&mut after]).unwrap();
    assert_eq!(new.save_snapshot(&[&after]).unwrap(), bytes);
    assert_eq!(misses(&mut after, &TO_LOAD), 2);
}

#[test]
fn the_content_of_a_companion_is_its_own_form() {
    let companion = companion();
    let follower = companion.follower(0).unwrap();
    let bytes = companion.save_snapshot(&[&follower]).unwrap();
    assert_eq!(content(&bytes), companion.save(&[&follower]).unwrap());
    assert_eq!(content(&bytes)[8..12], STATE_VERSION.to_le_bytes());
}

#[test]
fn a_snapshot_is_laid_out_as_the_documentation_says() {
    let bytes = SCENES[0].stopped().save().unwrap();
    assert_eq!(bytes[..8], *b"VMPMUSNP");
    assert_eq!(bytes[8..13], [6, 0, 0, 0, 1]);
    assert_eq!(bytes[13..18], *b"\x02k8\x01E");
    assert_eq!(bytes[18..26], (bytes.len() as u64 - 30).to_le_bytes());
    assert_eq!(signed(bytes[..bytes.len() - 4].to_vec()), bytes);
    assert_eq!(with_content(&bytes, content(&bytes)), bytes);
}
