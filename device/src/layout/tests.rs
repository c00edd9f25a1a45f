//! Each thing that is built from a layout agrees with it.

#[cfg(feature = "companion")]
use alloc::vec::Vec;

use super::*;

fn layout(name: &str) -> Layout {
    Layout::new(name).expect("known")
}

#[test]
fn threads_of_the_pmus_are_the_cpus() {
    let layouts = [
        layout("k8").packages(2).cores(2),
        layout("knl").cores(6),
        layout("power9").packages(2).cores(3).threads(2),
        layout("montecito").packages(2).cores(2).threads(2),
        layout("itanium").packages(4),
    ];
    for layout in layouts {
        layout.check().expect("there are such machines");
        let pmus = layout.pmus().build(|_thread: usize, _counter: u32| {}).expect("it can be built");
        assert_eq!(pmus.threads(), layout.cpus(), "{layout:?}");
    }
}

#[test]
fn usual_machines_can_be_built() {
    for name in vm_pmu_arch::registry::NAMES {
        let layout = Layout::usual(Part::named(name).expect("known"));
        assert_eq!(layout.check(), Ok(()), "{name}");
        assert_eq!(layout.pmus().build(|_thread: usize, _counter: u32| {}).map(|pmus| pmus.threads()).ok(), Some(layout.cpus()), "{name}");
    }
}

#[test]
fn every_cpu_has_a_place_of_its_own() {
    let layout = layout("power9").packages(2).cores(3).threads(4);
    let all = (0..2).flat_map(|package| (0..3).flat_map(move |core| (0..4).map(move |thread| Place { package, core, thread })));
    assert!((0..24).map(|cpu| layout.place(cpu)).eq(all.map(Some)));
    assert_eq!(layout.place(24), None);
}

#[test]
fn what_a_part_does_not_have_is_refused() {
    let refused = [
        (layout("k8").threads(2), "a core of k8 has 1 thread, not 2"),
        (layout("knl").threads(2), "a core of knl has 4 threads, not 2"),
        (layout("power9").threads(8), "a core of power9 has 1 to 4 threads, not 8"),
        (layout("power9").threads(3), "a package of power9 has 1, 2 or 4 threads, not 3"),
        (layout("montecito").threads(0), "a core of montecito has 1 to 2 threads, not 0"),
        (layout("k8").cluster_mode(ClusterMode::Snc4), "k8 has no tiles"),
        (layout("knl").cores(68).tiles(Tiles::ALL), "38 tiles are chosen for 68 cores of two each"),
        (layout("knl").cores(68).cluster_mode(ClusterMode::Snc4), "nodes divide the memory of the package, whose size is missing"),
        (layout("k8").memory_mode(MemoryMode::Flat), "k8 has no tiles"),
        (layout("knl").memory_mode(MemoryMode::Flat), "MCDRAM begins above the memory of the package, whose size is missing"),
        (layout("itanium").packages(0), "a machine of itanium has a package and a core at least"),
    ];
    for (layout, words) in refused {
        assert_eq!(layout.check().map_err(|error| alloc::string::ToString::to_string(&error)), Err(words.into()));
    }
}

#[cfg(feature = "companion")]
#[test]
fn threads_of_the_companion_are_the_cpus_whatever_their_number_in_a_core() {
    for threads in [1, 2, 4] {
        let layout = layout("power9").packages(2).cores(3).threads(threads);
        let companion = layout.companion().expect("it has a profile").build();
        assert_eq!((companion.threads(), usize::from(companion.profile().threads)), (layout.cpus(), threads));
        assert!(companion.follower(layout.cpus() - 1).is_some() && companion.follower(layout.cpus()).is_none());
    }
}

#[test]
fn groups_of_chips_are_in_their_numbers() {
    // Without groups 0 and 8, as in a machine of two; in groups of four the sixth is chip 1 of group 1.
    let machine = layout("power9").packages(6);
    assert_eq!([0, 1].map(|package| machine.chip(package)), [0, 8]);
    assert_eq!(machine.packages_per_group(4).chip(5), 1 << 3 | 1);
}

#[cfg(feature = "tree")]
#[test]
fn chips_of_the_device_tree_have_the_numbers_of_the_pirs() {
    let layout = layout("power9").packages(2).cores(2).threads(4);
    let chips = layout.chips(|package| 0x10_0000 * (1 + package as u64));
    assert!((0..16).all(|cpu| layout.pir(cpu).is_some_and(|pir| pir >> 8 == chips[cpu / 8].id)));
    assert!(crate::tree::power9::reservations(&chips).is_ok());
}

#[test]
fn cpuid_of_a_tile_says_four_threads_a_core() {
    // CPU 5 of 16: thread 1 of core 1. Four threads take two bits, four cores two more.
    let layout = layout("knl").cores(4);
    let ask = |leaf, subleaf| layout.cpuid(5, leaf, subleaf, [0; 4]).expect("there is such a CPU");
    assert_eq!(ask(0, 0)[0], 0xB);
    assert_eq!((ask(1, 0)[1], ask(1, 0)[3] & 1 << 28), (5 << 24 | 16 << 16, 1 << 28));
    assert_eq!([0, 1, 2].map(|subleaf| ask(0xB, subleaf)), [[2, 4, 0x100, 5], [4, 16, 0x201, 5], [0, 0, 2, 5]]);
    assert_eq!(ask(0x8000_0008, 0)[2], 0, "Intel's leaf has no cores");
}

#[test]
fn cpuid_of_a_k8_counts_its_cores() {
    // CPU 3 of two packages of two cores: core 1 of package 1, so APIC ID 3.
    let layout = layout("k8").packages(2).cores(2);
    let ask = |leaf| layout.cpuid(3, leaf, 0, [0; 4]).expect("there is such a CPU");
    assert_eq!(ask(1)[1], 3 << 24 | 2 << 16);
    assert_eq!((ask(0x8000_0000)[0], ask(0x8000_0001)[2] & 2, ask(0x8000_0008)[2]), (0x8000_0008, 2, 1));
    assert_eq!(ask(0xB), [0; 4], "AMD's has no such leaf");
    let alone = layout.packages(1).cores(1).cpuid(0, 1, 0, [0; 4]).expect("there is such a CPU");
    assert_eq!((alone[1] >> 16 & 0xFF, alone[3] & 1 << 28), (1, 0));
}

#[test]
fn parts_without_cpuid_have_no_answer() {
    assert_eq!(layout("power9").cpuid(0, 0, 0, [0; 4]), None);
    assert_eq!(layout("k8").pir(0), None);
}

#[test]
fn apic_ids_leave_gaps_for_absent_tiles() {
    // Place 6 has no tile on a part of 68 cores: CPU 48, the first of the seventh tile, is at place 7. The last is at place 37.
    let layout = Layout::usual(Part::named("knl").expect("known"));
    assert_eq!([0, 47, 48, 271].map(|cpu| layout.apic_id(cpu)), [Some(0), Some(47), Some(56), Some(303)]);
    // Cores up to 75 take seven bits.
    assert_eq!(layout.cpuid(0, 0xB, 1, [0; 4]).map(|answer| answer[0]), Some(2 + 7));
}

#[cfg(feature = "companion")]
#[test]
fn nodes_of_the_companion_are_quadrants_of_the_die() {
    let layout = layout("knl").cores(72).memory_per_package(4 << 30).cluster_mode(ClusterMode::Snc4);
    assert_eq!(layout.check(), Ok(()));
    let companion = layout.companion().expect("it has a profile").build();
    // Nine and a half CHAs each; the lines of a node are a gibibyte.
    for node in 0..4u64 {
        let homes: Vec<u16> = (0..2000).map(|line| companion.home((node << 30) + 64 * line)).collect();
        let (least, most) = (homes.iter().min().copied(), homes.iter().max().copied());
        assert_eq!((least, most), (Some((node * 19 / 2) as u16), Some(((node + 1) * 19).div_ceil(2) as u16 - 1)), "{node}");
    }
}
