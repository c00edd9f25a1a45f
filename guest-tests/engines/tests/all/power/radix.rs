//! Radix translation of a guest under a host (Power ISA 3.0B, Book III, 5.7.10 to 5.7.12), with trees made by hand.

use super::support::*;

const PARTITIONS: u64 = 0x30_0000;
const PROCESSES: u64 = 0x30_1000;
const HOST_ROOT: u64 = 0x31_0000;
const GUEST_ROOT: u64 = 0x32_0000;
const HOST_SECOND: u64 = 0x33_0000;
const HOST_THIRD: u64 = 0x33_1000;
const GUEST_SECOND: u64 = 0x33_2000;
const GUEST_THIRD: u64 = 0x33_3000;
const GUEST_FOURTH: u64 = 0x33_4000;

const VALID: u64 = 1 << 63;
const LEAF: u64 = VALID | 1 << 62;
/// Referenced, changed, and everything allowed.
const FREE: u64 = LEAF | 0x187;
/// The same without what is changed.
const READ_ONLY: u64 = LEAF | 0x104;
/// A tree of 52 bits whose root has 13.
const WHOLE: u64 = 1 << 62 | 5 << 5 | 13;
const NINE: u64 = 9;
const MIB2: u64 = 2 << 20;

/// The guest's data, from [`DATA`] on: a page that both allow, one that the host lets be read, one that the host lacks, one that the guest
/// lets be read, one that nobody has used, and one for privileged states alone.
const PAGES: [u64; 6] = [
    FREE | DATA,
    FREE | (2 * MIB2),
    FREE | (3 * MIB2),
    READ_ONLY | (DATA + 0x3000),
    LEAF | 7 | (DATA + 0x4000),
    FREE | 8 | (DATA + 0x5000),
];

/// The effective address of page `number`.
const fn page(number: u64) -> u64 {
    DATA + number * 0x1000
}

/// Makes the trees and goes to the guest, with `set` in MSR besides.
fn enter(a: &mut Assembler, set: u64) {
    let mut entries = vec![
        (PARTITIONS + 16, VALID | WHOLE | HOST_ROOT),
        (PARTITIONS + 24, PROCESSES),
        (PROCESSES + 16, WHOLE | GUEST_ROOT),
        (HOST_ROOT, VALID | HOST_SECOND | NINE),
        (HOST_SECOND, VALID | HOST_THIRD | NINE),
        (HOST_THIRD, FREE),
        (HOST_THIRD + 8, FREE | MIB2),
        (HOST_THIRD + 16, READ_ONLY | MIB2),
        (GUEST_ROOT, VALID | GUEST_SECOND | NINE),
        (GUEST_SECOND, VALID | GUEST_THIRD | NINE),
        (GUEST_THIRD, FREE),
        (GUEST_THIRD + 8, VALID | GUEST_FOURTH | NINE),
    ];
    entries.extend((0..).step_by(8).zip(PAGES).map(|(at, entry)| (GUEST_FOURTH + at, entry)));
    for (address, entry) in entries {
        a.load(R3, address);
        a.load(R4, entry);
        a.std(R4, 0, R3);
    }
    for (number, value) in [(spr::PTCR, PARTITIONS), (spr::LPIDR, 1), (spr::PIDR, 1), (spr::LPCR, lpcr::HR | lpcr::UPRT)] {
        a.load(R3, value);
        a.mtspr(number, R3);
    }
    let guest = a.label();
    go(a, guest, msr::HV, msr::IR | msr::DR | set);
}

/// Runs a guest, big-endian as its trees are.
fn guest(set: u64, build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    run_with(false, Recorder::default(), |a| {
        enter(a, set);
        build(a);
    })
}

fn load(a: &mut Assembler, address: u64) {
    a.load(R5, address);
    a.ld(R3, 0, R5);
}

fn store(a: &mut Assembler, address: u64) {
    a.load(R5, address);
    a.load(R6, 0x1234);
    a.std(R6, 0, R5);
}

/// An entry of the guest's pages, as memory has it.
fn entry(machine: &Machine<Recorder>, number: u64) -> u64 {
    machine.memory().read(GUEST_FOURTH + 8 * number, 8).swap_bytes()
}

#[test]
fn a_guest_s_address_goes_through_both_trees() {
    let machine = guest(0, |a| {
        store(a, page(0) + 0x28);
        // The host has this page at the same place as the guest's first.
        load(a, page(1) + 0x28);
    });
    assert!(vectors(&machine).is_empty());
    assert_eq!(gpr(&machine, 3), 0x1234);
    assert_eq!(machine.memory().read(DATA + 0x28, 8).swap_bytes(), 0x1234);
    let reals: Vec<u64> = machine.observer(0).unwrap().steps.iter().rev().filter_map(|step| Some(step.access?.real)).take(3).collect();
    assert_eq!(reals[1..], [DATA + 0x28, DATA + 0x28]);
}

#[test]
fn walks_are_told_root_first() {
    struct Asks(Option<(RadixWalk, TreeWalk)>);
    impl Observer for Asks {
        fn retire(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
            if step.access.is_some_and(|access| access.address == page(4)) {
                self.0 = cpu.radix_walk(page(4), step.msr).zip(cpu.partition_walk(page(4)));
            }
            Alerts::NONE
        }
    }
    let machine = run_with(false, Asks(None), |a| {
        enter(a, 0);
        load(a, page(4));
    });
    let (guest, host) = machine.observer(0).unwrap().0.unwrap();
    assert!(guest.guest);
    assert_eq!(guest.process_entry, Some(PROCESSES + 16));
    let entries = [GUEST_ROOT, GUEST_SECOND, GUEST_THIRD + 8, GUEST_FOURTH + 32];
    assert_eq!((guest.walk.entries, guest.walk.levels, guest.walk.page_bits, guest.walk.real), (entries, 4, 12, page(4)));
    assert_eq!((host.entries, host.levels, host.page_bits), ([HOST_ROOT, HOST_SECOND, HOST_THIRD + 8, 0], 3, 21));
}

#[test]
fn what_a_tree_does_not_allow_is_an_interrupt_of_its_owner() {
    // The page, whether it is stored to, MSR besides; the vector and the status: bit 33 no translation, 36 protection, 38 a store.
    for (number, stores, set, vector, status) in [
        (1, true, 0, 0xE00, 1 << 27 | 1 << 25),
        (2, false, 0, 0xE00, 1 << 30),
        (3, true, 0, 0x300, 1 << 27 | 1 << 25),
        (6, false, 0, 0x300, 1 << 30),
        (5, false, msr::PR, 0x300, 1 << 27),
    ] {
        let machine = guest(set, |a| if stores { store(a, page(number)) } else { load(a, page(number)) });
        assert_eq!(vectors(&machine)[..1], [vector], "page {number}");
        let host = vector == 0xE00;
        let [address, described] = if host { [spr::HDAR, spr::HDSISR] } else { [spr::DAR, spr::DSISR] };
        assert_eq!((special(&machine, address), special(&machine, described)), (page(number), status), "page {number}");
        if host {
            assert_eq!(special(&machine, spr::ASDR), [0, 2 * MIB2, 3 * MIB2][number as usize], "page {number}");
        }
    }
}

#[test]
fn a_use_marks_the_guest_s_entry() {
    let loaded = guest(0, |a| load(a, page(4)));
    assert_eq!(entry(&loaded, 4), PAGES[4] | 0x100);
    let stored = guest(0, |a| store(a, page(4)));
    assert_eq!(entry(&stored, 4), PAGES[4] | 0x180);
}

#[test]
fn an_access_across_pages_that_do_not_follow_each_other_is_an_alignment_interrupt() {
    // Pages 3 and 4 are neighbours in memory, pages 0 and 1 are not.
    let machine = guest(0, |a| load(a, page(4) - 4));
    assert!(vectors(&machine).is_empty());
    let machine = guest(0, |a| load(a, page(1) - 4));
    assert_eq!(vectors(&machine), [0x600]);
}

#[test]
fn a_guest_in_real_mode_is_translated_by_its_host_alone() {
    let machine = guest(0, |a| {
        store(a, page(0));
        let real = a.label();
        go(a, real, msr::IR | msr::DR, 0);
        // 4 MiB up the host has the page that it has 2 MiB up.
        load(a, 2 * MIB2);
    });
    assert!(vectors(&machine).is_empty());
    assert_eq!(gpr(&machine, 3), 0x1234);
}
