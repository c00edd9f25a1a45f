//! A guest of two POWER9 chips, whose memory belongs to the first: what the second chip reads is remote, or distant if each is a group.

use vm_pmu::Part;
use vm_pmu::arch::power9::encode::{Encoding, EventCode, Options as EncodeOptions, encode};
use vm_pmu_lab::runner::{Options, count};

const EVENTS: [&str; 6] =
    ["PM_DATA_FROM_RMEM", "PM_DATA_FROM_DMEM", "PM_DATA_FROM_RL4", "PM_DATA_FROM_DL4", "PM_DATA_FROM_RL2L3_MOD", "PM_DATA_FROM_DL2L3_MOD"];

/// What all threads count of the events in a guest of four CPUs on two chips.
fn counted(options: &Options) -> [u64; EVENTS.len()] {
    let catalogue = Part::named("power9").unwrap().catalogue();
    let code = |name: &str| EventCode::from_bits(catalogue.event_named(name).unwrap().select.into());
    let encodings: Vec<Encoding> = EVENTS.iter().map(|name| encode(&[code(name)], EncodeOptions::default()).unwrap()).collect();
    let (report, counts) = count("power9", "nest-linux", options, &encodings).unwrap();
    assert!(report.passed, "{}", report.ending);
    std::array::from_fn(|number| counts[number].iter().sum())
}

#[test]
fn what_is_remote_in_one_group_is_distant_in_two() {
    let near = counted(&Options::default());
    let far = counted(&Options { chips_per_group: 1, ..Options::default() });
    assert!(near[0] != 0 && near[4] != 0, "{near:?}");
    assert_eq!(far, [near[1], near[0], near[3], near[2], near[5], near[4]]);
}

#[test]
fn buffers_give_a_part_of_what_memory_gave() {
    let plain = counted(&Options { chips_per_group: 1, ..Options::default() });
    let buffered = counted(&Options { chips_per_group: 1, buffered: true, ..Options::default() });
    assert_eq!(plain[3], 0);
    assert_eq!([buffered[1] + buffered[3], buffered[5]], [plain[1], plain[5]]);
}
