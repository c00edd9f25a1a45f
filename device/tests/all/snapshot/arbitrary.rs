//! Whatever the bytes are, loading ends with a machine that works.

use proptest::prelude::*;

use vm_pmu::snapshot::CompanionSnapshot;
use vm_pmu::topology::Machine;
use vm_pmu::untile::Domain;
use vm_pmu::{Context, Signal};

use super::bytes::{content, with_content};
use super::scenes::{Cells, LOADED, SCENES, Silent, chip, companion, end_chip, misses, stopped_chip};

/// A few bytes changed, left out, put in, or made a number of 64 bits, at places in parts of 65,536 of the whole.
fn changes() -> impl Strategy<Value = Vec<(u16, u8, u8)>> {
    prop::collection::vec((any::<u16>(), 0u8..6, any::<u8>()), 1..6)
}

fn changed(bytes: &[u8], changes: &[(u16, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, what, value) in changes {
        let place = usize::from(*place) * bytes.len() / 65_536;
        match what {
            0 if !bytes.is_empty() => drop(bytes.remove(place)),
            1 => bytes.insert(place, *value),
            // Instead of a small one: all ones, or a single bit.
            2 | 3 if !bytes.is_empty() => {
                let number = if *value < 64 { 1u64 << value } else { u64::MAX };
                drop(bytes.splice(place..=place, [0x1B].into_iter().chain(number.to_be_bytes())));
            }
            _ => bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte = *value),
        }
    }
    bytes
}

/// Uses everything that the machine has: every call must come to an end.
fn exercise(machine: &Machine<Silent>) {
    for cpu in (0..machine.threads()).filter_map(|number| machine.thread(number)) {
        for signal in Signal::all().filter(|signal| cpu.demand().wants(*signal)) {
            cpu.totals().add(signal, 1000);
        }
        cpu.service();
        for register in cpu.registers() {
            let _ = cpu.read(register.address).and_then(|value| cpu.write(register.address, value));
        }
        cpu.set_context(Context::RESET);
        cpu.advance(1000, &[]);
    }
    if let Some(untile) = machine.untile() {
        Domain::ALL.into_iter().for_each(|domain| untile.tick(domain, 1000));
    }
    if let Some(core) = machine.collection(0) {
        core.advance(1000, &Cells::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

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
                exercise(&machine);
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
                target.advance(100_000, &Cells::default());
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
