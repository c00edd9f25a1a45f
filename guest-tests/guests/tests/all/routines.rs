//! The routines that guests name.

use std::collections::HashSet;

use vm_pmu_guests::{Guest, all};

/// Fails with the guest and what is wrong with its routines.
fn each(check: impl Fn(&vm_pmu_engines::image::Image) -> Result<(), String>) {
    for guest in all() {
        let Guest { pmu, name, .. } = guest;
        for little_endian in [false, true] {
            let image = guest.image(little_endian).unwrap_or_else(|error| panic!("{pmu} {name}: {error}"));
            check(&image).unwrap_or_else(|wrong| panic!("{pmu} {name}: {wrong}"));
        }
    }
}

#[test]
fn every_guest_has_a_main_routine_and_begins_in_one() {
    each(|image| {
        let within = |address: u64| image.routines.iter().find(|routine| (routine.start..routine.end).contains(&address));
        let main = image.routines.iter().filter(|routine| routine.name == "main").count();
        match within(image.entry) {
            Some(first) if first.name == "start" && main == 1 => Ok(()),
            first => Err(format!("{main} named main, and the entry in {first:?}")),
        }
    });
}

#[test]
fn no_two_routines_of_a_guest_share_a_name_or_an_address() {
    each(|image| {
        let mut names = HashSet::new();
        if let Some(twice) = image.routines.iter().find(|routine| !names.insert(&routine.name)) {
            return Err(format!("{} is twice", twice.name));
        }
        match image.routines.windows(2).find(|pair| pair[1].start < pair[0].end) {
            Some(pair) => Err(format!("{pair:?}")),
            None => Ok(()),
        }
    });
}
