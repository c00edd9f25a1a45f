//! What builders refuse, and how what they build shows itself.

use vm_pmu::irq::{Flags, InterruptLine, Unconnected};
use vm_pmu::topology::{BuildError, Builder};
use vm_pmu::untile::{Buses, Frequencies};
use vm_pmu::{Pace, Part, Signal};

fn part(name: &str) -> Part {
    Part::named(name).unwrap()
}

/// A type of which nothing is known.
struct Silent;

impl InterruptLine for Silent {
    fn raise(&self, _thread: usize, _counter: u32) {}
}

#[test]
fn a_thread_is_shown_in_a_line_whatever_its_line_is() {
    let machine = Builder::of(part("k8")).packages(2).threads(2).build(Silent).unwrap();
    assert_eq!(format!("{:?}", machine.thread(3).unwrap()), "Thread { part: k8, number: 3 }");
}

#[test]
fn a_machine_is_shown_in_a_line_by_its_shape() {
    let machine = Builder::of(part("k8")).packages(2).threads(2).build(Silent).unwrap();
    assert_eq!(format!("{machine:?}"), "Machine { part: k8, packages: 2, threads: 4, .. }");
}

#[test]
fn what_cores_post_is_shown_by_their_machine() {
    let machine = Builder::of(part("power9")).packages(2).build(Silent).unwrap();
    let shown = "CoreCollection { machine: Machine { part: power9, packages: 2, threads: 2, .. }, number: 1, .. }";
    assert_eq!(format!("{:?}", machine.collection(1).unwrap()), shown);
}

#[test]
fn boxes_are_shown_by_their_machine() {
    let machine = Builder::of(part("knl")).build(Silent).unwrap();
    assert_eq!(format!("{:?}", machine.untile().unwrap()), "Untile { machine: Machine { part: knl, packages: 1, threads: 1, .. }, .. }");
}

fn refused(builder: Builder) -> Option<BuildError> {
    builder.build(Unconnected).err()
}

#[test]
fn an_unknown_name_is_answered_with_the_parts_that_there_are() {
    let unknown = Builder::new("z80").unwrap_err();
    assert_eq!(unknown.to_string(), "there is no part \"z80\": there are k8, knl, power9, itanium, montecito");
}

#[test]
fn a_name_of_several_lines_is_answered_in_one() {
    assert_eq!(Builder::new("k8\n").unwrap_err().to_string().lines().count(), 1);
}

#[test]
fn a_package_has_as_many_threads_as_the_part_s_and_no_more() {
    for (name, possible, impossible) in [
        ("k8", &[1, 2, 16, 65535][..], &[0, 65536][..]),
        ("knl", &[1, 2, 3, 8], &[0, 9, 16]),
        ("power9", &[1, 2, 4], &[0, 3, 5, 8]),
        ("itanium", &[1], &[0, 2]),
        ("montecito", &[1, 2], &[0, 3]),
    ] {
        for threads in possible {
            assert_eq!(refused(Builder::new(name).unwrap().threads(*threads)), None, "{name}, {threads}");
        }
        for threads in impossible {
            let expected = BuildError::Threads { part: part(name), threads: *threads };
            assert_eq!(refused(Builder::new(name).unwrap().threads(*threads)), Some(expected));
        }
    }
}

#[test]
fn a_machine_has_no_more_packages_than_the_part_has_tiles() {
    for (name, possible, impossible) in [("knl", 38, 39), ("power9", 100, 65536), ("k8", 100, 0)] {
        assert_eq!(refused(Builder::new(name).unwrap().packages(possible)), None, "{name}");
        let expected = BuildError::Packages { part: part(name), packages: impossible };
        assert_eq!(refused(Builder::new(name).unwrap().packages(impossible)), Some(expected));
    }
}

#[test]
fn counters_are_shared_only_where_threads_take_them_from_each_other() {
    assert_eq!(refused(Builder::of(part("k8")).share_counters()), None);
    for part in ["knl", "power9", "itanium", "montecito"].map(part) {
        assert_eq!(refused(Builder::of(part).share_counters()), Some(BuildError::SharedCounters(part)));
    }
}

#[test]
fn only_boxes_have_buses() {
    assert_eq!(refused(Builder::of(part("knl")).buses(Buses::default())), None);
    assert_eq!(refused(Builder::of(part("k8")).buses(Buses::default())), Some(BuildError::Buses(part("k8"))));
}

#[test]
fn only_boxes_have_frequencies() {
    assert_eq!(refused(Builder::of(part("knl")).frequencies(Frequencies::EQUAL)), None);
    assert_eq!(refused(Builder::of(part("power9")).frequencies(Frequencies::EQUAL)), Some(BuildError::Frequencies(part("power9"))));
}

#[test]
fn a_pace_is_a_signal_of_the_part() {
    let paced = |signal| refused(Builder::of(part("k8")).pace(Pace::new(signal, 1)));
    assert_eq!(paced(Signal::InstructionsRetired), None);
    let foreign = Signal::TimeBaseTicks;
    assert_eq!(paced(foreign), Some(BuildError::Pace { part: part("k8"), signal: foreign }));
    assert_eq!(refused(Builder::of(part("k8")).every_signal().pace(Pace::new(foreign, 1))), None);
}

#[test]
fn every_thread_has_a_flag_or_the_machine_is_refused() {
    let refusal = |flags, shared: bool| {
        let builder = Builder::of(part("k8")).packages(2).threads(2);
        let flags = Flags::new(flags);
        if shared { builder.build(std::sync::Arc::new(flags)).err() } else { builder.build(flags).err() }
    };
    for shared in [false, true] {
        assert_eq!(refusal(3, shared), Some(BuildError::Lines { threads: 4, lines: 3 }));
        assert_eq!(refusal(4, shared), None);
        assert_eq!(refusal(5, shared), None);
    }
}

#[test]
fn a_refusal_says_in_a_line_what_there_is() {
    let (k8, knl, power9, itanium) = (part("k8"), part("knl"), part("power9"), part("itanium"));
    for (refusal, line) in [
        (BuildError::Threads { part: k8, threads: 0 }, "a package of k8 has 1 to 65535 threads, not 0"),
        (BuildError::Threads { part: power9, threads: 5 }, "a package of power9 has 1, 2 or 4 threads, not 5"),
        (BuildError::Threads { part: itanium, threads: 2 }, "a package of itanium has 1 thread, not 2"),
        (BuildError::Packages { part: knl, packages: 39 }, "a machine of knl has 1 to 38 packages, not 39"),
        (BuildError::SharedCounters(power9), "power9 has no counters that its threads share: leave the option for shared counters out"),
        (BuildError::Buses(k8), "k8 has no boxes behind buses: leave the buses out"),
        (BuildError::Frequencies(k8), "k8 has no boxes with clocks of their own: leave the frequencies out"),
        (
            BuildError::Pace { part: k8, signal: Signal::TimeBaseTicks },
            "k8 has no signal time_base_ticks: take cycles for the pace, or another that it has",
        ),
        (BuildError::Lines { threads: 4, lines: 3 }, "the interrupt line is for 3 of 4 threads: give it one line for each thread"),
    ] {
        assert_eq!(refusal.to_string(), line);
    }
}
