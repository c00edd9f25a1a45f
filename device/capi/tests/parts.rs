//! A library with only some parts: what it knows, its errors for the others, and reading snapshots of a complete library. These tests hold
//! for every choice of features.

use std::ffi::CString;
use std::path::Path;
use std::ptr::null_mut;

use vm_pmu::arch::registry::NAMES;
use vm_pmu_capi::machine::{VmPmuMachine, VmPmuOptions, vm_pmu_machine_create, vm_pmu_machine_destroy};
use vm_pmu_capi::snapshot::vm_pmu_load;
use vm_pmu_capi::status::{VmPmuStatus, vm_pmu_last_error};

/// A machine with that many threads of this part, or the reason why not.
fn create(part: &str, threads: u32) -> Result<*mut VmPmuMachine, String> {
    let name = CString::new(part).expect("no zero byte");
    let mut machine = null_mut();
    // SAFETY: integers, null pointers and functions that are absent: every one may be zero.
    let zero: VmPmuOptions = unsafe { std::mem::zeroed() };
    let options = VmPmuOptions { size: size_of::<VmPmuOptions>(), threads, ..zero };
    // SAFETY: a text that ends, options, and a place for the machine.
    let status = unsafe { vm_pmu_machine_create(name.as_ptr(), &raw const options, &raw mut machine) };
    if status == VmPmuStatus::Ok {
        return Ok(machine);
    }
    let mut text = [0u8; 200];
    // SAFETY: the buffer has that many bytes.
    let length = unsafe { vm_pmu_last_error(text.as_mut_ptr().cast(), text.len()) };
    Err(String::from_utf8_lossy(&text[..length]).into_owned())
}

#[test]
fn machines_are_made_of_the_parts_that_are_there() {
    for part in NAMES {
        let machine = create(part, 1).expect("it is there");
        // SAFETY: it was just made.
        unsafe { vm_pmu_machine_destroy(machine) };
    }
}

#[test]
fn who_asks_for_a_part_that_is_left_out_is_told_its_feature() {
    for part in ["k8", "knl", "power9", "itanium", "montecito"].into_iter().filter(|part| !NAMES.contains(part)) {
        let there = NAMES.join(", ");
        let error = format!("this build leaves out the part \"{part}\": its feature `{part}` is off; there are {there}");
        assert_eq!(create(part, 1), Err(error));
    }
}

#[test]
fn who_asks_for_an_unknown_part_is_told_which_there_are() {
    assert_eq!(create("z80", 1), Err(format!("there is no part \"z80\": there are {}", NAMES.join(", "))));
}

#[test]
fn what_a_library_with_all_parts_saved_is_loaded() {
    for part in NAMES {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/snapshots/v2/{part}.snapshot"));
        let bytes = std::fs::read(place).expect("it is checked in");
        let machine = create(part, if *part == "itanium" { 1 } else { 2 }).expect("it is there");
        // SAFETY: the machine was just made, and the bytes are there.
        let status = unsafe { vm_pmu_load(machine, bytes.as_ptr(), bytes.len()) };
        assert_eq!(status, VmPmuStatus::Ok, "{part}");
        // SAFETY: it was just made.
        unsafe { vm_pmu_machine_destroy(machine) };
    }
}
