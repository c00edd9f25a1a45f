//! Whatever the bytes are, loading ends with a machine that works.

use proptest::prelude::*;

use crate::bytes::{content, with_content};
use crate::scenes::{LOADED, SCENES, chip, companion, end_chip, misses, stopped_chip};

/// A few bytes changed, left out or put in, at places in parts of 65,536 of the whole.
fn changes() -> impl Strategy<Value = Vec<(u16, u8, u8)>> {
    prop::collection::vec((any::<u16>(), 0u8..4, any::<u8>()), 1..6)
}

fn changed(bytes: &[u8], changes: &[(u16, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, what, value) in changes {
        let place = usize::from(*place) * bytes.len() / 65_536;
        match what {
            0 if !bytes.is_empty() => drop(bytes.remove(place)),
            1 => bytes.insert(place, *value),
            _ => bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte = *value),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_refused_and_change_nothing(noise in prop::collection::vec(any::<u8>(), 0..400), known in 0usize..40) {
        let machine = SCENES[0].stopped();
        let before = machine.save().unwrap();
        let bytes = [&before[..known], &noise].concat();
        prop_assert!(machine.load(&bytes).is_err());
        prop_assert_eq!(machine.save().unwrap(), before);
    }

    #[test]
    fn a_made_up_machine_is_refused_or_works(number in 0usize..5, changes in changes()) {
        let scene = &SCENES[number];
        let (bytes, machine) = (scene.stopped().save().unwrap(), scene.build());
        let before = machine.save().unwrap();
        let content = changed(content(&bytes), &changes);
        match machine.load(&with_content(&bytes, &content)) {
            Err(_) => prop_assert_eq!(machine.save().unwrap(), before),
            Ok(()) => {
                let saved = machine.save().unwrap();
                let again = scene.build();
                prop_assert_eq!(again.load(&saved), Ok(()));
                prop_assert_eq!(again.save().unwrap(), saved);
            }
        }
    }

    #[test]
    fn a_made_up_chip_is_refused_or_works(changes in changes()) {
        let (bytes, target) = (stopped_chip().save().unwrap(), chip());
        let before = target.save().unwrap();
        match target.load(&with_content(&bytes, &changed(content(&bytes), &changes))) {
            Err(_) => prop_assert_eq!(target.save().unwrap(), before),
            Ok(()) => {
                end_chip(&target);
                let saved = target.save().unwrap();
                prop_assert_eq!(target.load(&saved), Ok(()));
            }
        }
    }

    #[test]
    fn a_made_up_companion_is_refused(changes in changes()) {
        let (old, new) = (companion(), companion());
        let (mut before, mut after) = (old.follower(0).unwrap(), new.follower(0).unwrap());
        misses(&mut before, &LOADED);
        let bytes = old.save_snapshot(&[&before]).unwrap();
        let made_up = changed(content(&bytes), &changes);
        prop_assume!(made_up != content(&bytes));
        // It has a checksum of its own within.
        let cold = new.save_snapshot(&[&after]).unwrap();
        prop_assert!(new.load_snapshot(&with_content(&bytes, &made_up), &mut [&mut after]).is_err());
        prop_assert_eq!(new.save_snapshot(&[&after]).unwrap(), cold);
    }
}
