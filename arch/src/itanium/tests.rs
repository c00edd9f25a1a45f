//! The PMU as a whole.

use super::*;
use crate::feed::{Branch, BranchKind, DataSource, Fetch, Lone, Memory, Prediction, Signal, Translation};

const UP: u64 = 1 << 2;
const PP: u64 = 1 << 21;
const SP: u64 = 1 << 20;
const IS: u64 = 1 << 34;
const USER: u64 = 3 << 32;

/// Level 0, and what the bits of PMC4-7 are worth.
const PLM0: u64 = 1;
const OI: u64 = 1 << 5;
const RETIRED: u64 = 0x08 << 8;
const CYCLES: u64 = 0x12 << 8;
const BRANCH_EVENT: u64 = 0x11 << 8;
const FETCH_CAPTURES: u64 = 0x23 << 8;
const DATA_CAPTURES: u64 = 0x67 << 8;
const LEVEL_CHANGES: u64 = 0x34 << 8;
const FP_FLUSHES: u64 = 0x0C << 8;

struct Machine {
    thread: Lone,
    pmu: Itanium,
}

impl Machine {
    /// User monitors are enabled, at level 0.
    fn new() -> Machine {
        let mut machine = Machine { thread: Lone::new(), pmu: Itanium::new(Revision::C0) };
        machine.psr(UP);
        machine
    }

    fn psr(&mut self, psr: u64) {
        self.pmu.set_context(Context::ia64(psr, 0), &self.thread);
    }

    fn pmc(&mut self, number: u8, value: u64) {
        assert_eq!(self.pmu.write(Address::Pmc(number), value, &self.thread), Ok(()));
    }

    fn pmd(&mut self, number: u8, value: u64) {
        assert_eq!(self.pmu.write(Address::Pmd(number), value, &self.thread), Ok(()));
    }

    fn read(&mut self, address: Address) -> u64 {
        self.pmu.read(address, &self.thread).expect("it may be read")
    }

    /// So many instructions of a cycle each, without records.
    fn run(&mut self, instructions: u64) {
        for _ in 0..instructions {
            self.retire(None);
        }
    }

    fn retire(&mut self, record: Option<Record>) {
        let grown = [(Signal::Cycles, 1), (Signal::InstructionsRetired, 1)];
        let mut due = false;
        for (signal, amount) in grown {
            self.thread.totals.add(signal, amount);
        }
        for (signal, _) in grown {
            due |= self.thread.deadlines.reached(signal, &self.thread.totals);
        }
        if let Some(record) = record {
            self.pmu.record(&record, &self.thread);
        }
        if due {
            self.pmu.service(&self.thread);
        }
    }
}

fn branch(at: u64, target: u64) -> Record {
    let branch = Branch { kind: BranchKind::Conditional, taken: true, target, prediction: Prediction::Right };
    Record { branch: Some(branch), ..Record::at(at) }
}

fn miss(at: u64, address: u64, latency: u32) -> Record {
    let (source, translation) = (DataSource::Cache(2), Translation::Hit(1));
    let memory = Memory { address, size: 8, load: true, store: false, latency, source, translation };
    Record { memory: Some(memory), ..Record::at(at) }
}

#[test]
fn at_reset_nothing_counts_and_nothing_is_frozen() {
    let mut machine = Machine::new();
    machine.run(5);
    assert!((0..=17).all(|number| machine.read(Address::Pmd(number)) == 0));
    assert_eq!(machine.read(Address::Pmc(0)), 0);
    assert!(machine.pmu.demand().is_idle());
}

#[test]
fn a_counter_wraps_at_32_bits_and_goes_on_without_oi() {
    let mut machine = Machine::new();
    machine.pmd(4, 0xFFFF_FFFE);
    machine.pmc(4, RETIRED | PLM0);
    machine.run(3);
    assert_eq!((machine.read(Address::Pmd(4)), machine.read(Address::Pmc(0))), (1, 0x10));
    assert_eq!(machine.pmu.take_alerts().interrupts, 0);
}

#[test]
fn a_count_is_read_with_its_sign() {
    let mut machine = Machine::new();
    machine.pmd(5, 0x1234_5678_8000_0000);
    assert_eq!(machine.read(Address::Pmd(5)), 0xFFFF_FFFF_8000_0000);
}

#[test]
fn an_overflow_with_oi_freezes_everything_with_one_interrupt() {
    let mut machine = Machine::new();
    machine.pmd(7, u64::MAX);
    machine.pmc(7, CYCLES | PLM0 | OI);
    machine.pmc(4, RETIRED | PLM0);
    machine.run(4);
    assert_eq!(machine.pmu.take_alerts().interrupts, 1 << 7);
    assert_eq!(machine.read(Address::Pmc(0)), 0x81);
    assert_eq!((machine.read(Address::Pmd(4)), machine.read(Address::Pmd(7))), (1, 0));
}

#[test]
fn pmc0_keeps_the_freeze_bit_and_four_overflow_bits() {
    let mut machine = Machine::new();
    machine.pmc(0, u64::MAX);
    assert_eq!(machine.read(Address::Pmc(0)), 0xF1);
}

#[test]
fn restoring_a_frozen_overflow_asks_for_one_interrupt() {
    let mut machine = Machine::new();
    machine.psr(0);
    machine.pmc(0, 0xA1);
    assert_eq!(machine.pmu.take_alerts().interrupts, 1 << 5);
    machine.pmc(0, 0xA1);
    assert_eq!(machine.pmu.take_alerts().interrupts, 1 << 5);
}

#[test]
fn freezing_alone_or_overflow_bits_alone_ask_for_no_interrupt() {
    let mut machine = Machine::new();
    for value in [0x01, 0xF0, 0] {
        machine.pmc(0, value);
        assert_eq!(machine.pmu.take_alerts().interrupts, 0, "{value:#x}");
    }
}

#[test]
fn the_instruction_set_mask_shuts_out_one_or_both() {
    for (ism, counts) in [(0b00, [4, 4]), (0b01, [0, 4]), (0b10, [4, 0]), (0b11, [0, 0])] {
        for (psr, expected) in [UP, UP | IS].into_iter().zip(counts) {
            let mut machine = Machine::new();
            machine.pmc(6, CYCLES | PLM0 | ism << 24);
            machine.psr(psr);
            machine.run(4);
            assert_eq!(machine.read(Address::Pmd(6)), expected, "ism {ism:#b}, PSR {psr:#x}");
        }
    }
}

#[test]
fn user_and_privileged_monitors_have_their_own_enable() {
    let mut machine = Machine::new();
    machine.pmc(4, CYCLES | PLM0);
    machine.pmc(5, CYCLES | PLM0 | 1 << 6);
    machine.run(1);
    machine.psr(PP);
    machine.run(2);
    assert_eq!((machine.read(Address::Pmd(4)), machine.read(Address::Pmd(5))), (1, 2));
}

#[test]
fn retired_instructions_are_counted_by_the_first_two_counters_only() {
    let mut machine = Machine::new();
    for number in 4..=7 {
        machine.pmc(number, RETIRED | PLM0);
    }
    machine.run(3);
    assert_eq!([4, 5, 6, 7].map(|number| machine.read(Address::Pmd(number))), [3, 3, 0, 0]);
}

#[test]
fn bit_15_of_a_configuration_register_does_not_change_the_event() {
    let mut machine = Machine::new();
    machine.pmc(4, CYCLES | PLM0 | 1 << 15);
    machine.run(3);
    assert_eq!(machine.read(Address::Pmd(4)), 3);
}

#[test]
fn a_unit_mask_that_the_event_does_not_have_counts_nothing() {
    let mut machine = Machine::new();
    machine.pmc(4, RETIRED | PLM0 | 1 << 16);
    machine.run(3);
    assert_eq!(machine.read(Address::Pmd(4)), 0);
}

#[test]
fn users_read_zero_where_a_privileged_monitor_governs_or_psr_sp_is_set() {
    let mut machine = Machine::new();
    machine.pmd(4, 7);
    machine.pmd(5, 8);
    machine.pmd(0, 0x20);
    machine.pmd(16, 3);
    machine.pmd(17, 0x11);
    for number in [5, 10, 11, 12] {
        machine.pmc(number, 1 << 6);
    }
    machine.psr(USER);
    assert_eq!([4, 5, 0, 16, 17].map(|number| machine.read(Address::Pmd(number))), [7, 0, 0, 0, 0]);
    machine.psr(USER | SP);
    assert_eq!(machine.read(Address::Pmd(4)), 0);
    machine.psr(SP);
    assert_eq!(machine.read(Address::Pmd(5)), 8);
}

#[test]
fn beyond_the_registers_nothing_is_kept_and_nothing_faults() {
    let mut machine = Machine::new();
    for number in [1, 2, 3, 14, 255] {
        machine.pmc(number, u64::MAX);
        assert_eq!(machine.read(Address::Pmc(number)), 0);
    }
    machine.pmd(18, u64::MAX);
    assert_eq!(machine.read(Address::Pmd(18)), 0);
    let beyond = machine.pmu.write(Address::Ibr(8), 0, &machine.thread);
    assert_eq!(beyond, Err(Fault::ReservedRegisterField));
}

#[test]
fn a_range_of_addresses_constrains_what_is_counted() {
    let mut machine = Machine::new();
    machine.pmc(4, RETIRED | PLM0);
    machine.pmc(13, 0);
    assert!(machine.pmu.demand().records().every);
    for (number, value) in [(4, 0x1000), (5, 0x0FFF_FFFF_FFFF_F000)] {
        assert_eq!(machine.pmu.write(Address::Ibr(number), value, &machine.thread), Ok(()));
    }
    [0xFF0, 0x1000, 0x1FF0, 0x2000].into_iter().for_each(|at| machine.retire(Some(Record::at(at))));
    assert_eq!(machine.read(Address::Pmd(4)), 2);
}

#[test]
fn events_before_a_save_are_counted_with_the_instruction_that_they_belong_to() {
    let mut machine = Machine::new();
    machine.pmc(4, RETIRED | PLM0);
    machine.pmc(13, 0);
    for (number, value) in [(4, 0x1000), (5, 0x0FFF_FFFF_FFFF_F000)] {
        assert_eq!(machine.pmu.write(Address::Ibr(number), value, &machine.thread), Ok(()));
    }
    // No record has said yet whether they are in the range.
    machine.run(2);
    let state = machine.pmu.state(&machine.thread);
    machine.pmu = Itanium::from_state(&state, &machine.thread);
    machine.retire(Some(Record::at(0x1000)));
    assert_eq!(machine.read(Address::Pmd(4)), 3);
}

#[test]
fn a_debugger_stops_what_ranges_constrain_and_lets_it_go_on() {
    let mut machine = Machine::new();
    machine.pmc(4, RETIRED | PLM0);
    machine.pmc(13, 0);
    for (number, value) in [(4, 0x1000), (5, 0x0FFF_FFFF_FFFF_F000)] {
        assert_eq!(machine.pmu.write(Address::Ibr(number), value, &machine.thread), Ok(()));
    }
    for psr in [UP, UP | 1 << 24, UP] {
        machine.psr(psr);
        machine.retire(Some(Record::at(0x1000)));
    }
    assert_eq!(machine.read(Address::Pmd(4)), 2);
}

#[test]
fn each_opcode_matcher_has_its_own_count_of_retired_instructions() {
    let mut machine = Machine::new();
    // PMC8 takes encodings whose bit 0 is 1, PMC9 those whose bit 0 is 0.
    machine.pmc(8, 0xF000_0002_3FFF_FFF0);
    machine.pmc(9, 0xF000_0000_3FFF_FFF0);
    machine.pmc(4, RETIRED | PLM0 | 3 << 16);
    machine.pmc(5, RETIRED | PLM0 | 2 << 16);
    for encoding in [1, 3, 5, 2] {
        machine.retire(Some(Record { encoding, ..Record::at(0x40) }));
    }
    assert_eq!((machine.read(Address::Pmd(4)), machine.read(Address::Pmd(5))), (3, 1));
}

#[test]
fn branches_are_counted_as_they_are_captured_not_entry_by_entry() {
    let mut machine = Machine::new();
    machine.pmc(12, 0xFF81);
    machine.pmc(4, BRANCH_EVENT | PLM0);
    machine.retire(Some(branch(0x1000, 0x2000)));
    machine.retire(Some(branch(0x3000, 0x4000)));
    assert_eq!(machine.read(Address::Pmd(4)), 2);
    assert_eq!(machine.read(Address::Pmd(16)), 4);
}

#[test]
fn an_overflow_by_a_branch_freezes_before_the_next() {
    let mut machine = Machine::new();
    machine.pmc(12, 0xFF81);
    machine.pmd(4, u64::MAX);
    machine.pmc(4, BRANCH_EVENT | PLM0 | OI);
    machine.retire(Some(branch(0x1000, 0x2000)));
    machine.retire(Some(branch(0x3000, 0x4000)));
    assert_eq!(machine.pmu.take_alerts().interrupts, 1 << 4);
    assert_eq!([8, 9, 10].map(|number| machine.read(Address::Pmd(number))), [0x1001, 0x2002, 0]);
    assert!(machine.pmu.demand().is_idle());
}

#[test]
fn a_write_of_pmc12_forgets_where_the_last_branch_went() {
    for between in [None, Some(branch(0x2010, 0x5000))] {
        let mut machine = Machine::new();
        machine.pmc(12, 0xFF81);
        machine.retire(Some(branch(0x1000, 0x2000)));
        machine.pmc(12, 0);
        machine.retire(between);
        machine.pmc(12, 0xFF81);
        machine.retire(Some(branch(0x2000, 0x3000)));
        assert_eq!([9, 10, 11].map(|number| machine.read(Address::Pmd(number))), [0x2002, 0x2001, 0x3002]);
    }
}

#[test]
fn branches_of_ia_32_are_not_captured() {
    let mut machine = Machine::new();
    machine.pmc(12, 0xFF81);
    machine.psr(UP | IS);
    machine.retire(Some(branch(0x1000, 0x2000)));
    assert_eq!(machine.read(Address::Pmd(16)), 0);
}

#[test]
fn captures_of_data_and_fetches_count_and_hold_until_the_freeze_ends() {
    let mut machine = Machine::new();
    machine.pmc(11, PLM0 | 1 << 28);
    machine.pmc(10, PLM0);
    machine.pmd(6, u64::MAX);
    machine.pmc(6, DATA_CAPTURES | PLM0 | OI);
    machine.pmc(7, FETCH_CAPTURES | PLM0);
    let translation = Translation::Hit(1);
    let fetch = Fetch { address: 0x1000, cache_miss: true, pending: false, prefetch: false, latency: 8, translation };
    machine.retire(Some(Record { fetch: Some(fetch), ..Record::at(0x1000) }));
    machine.retire(Some(miss(0x1010, 0x8000, 20)));
    machine.retire(Some(miss(0x1020, 0x9000, 30)));
    assert_eq!(machine.pmu.take_alerts().interrupts, 1 << 6);
    assert_eq!(machine.read(Address::Pmd(7)), 1);
    assert_eq!([0, 1, 2, 3, 17].map(|number| machine.read(Address::Pmd(number))), [0x1001, 8, 0x8000, 20, 0x1011]);
}

#[test]
fn changes_of_the_privilege_level_belong_to_the_level_that_is_left() {
    let mut machine = Machine::new();
    machine.pmc(4, LEVEL_CHANGES | PLM0);
    machine.psr(UP | USER);
    machine.psr(UP);
    machine.psr(UP | USER);
    assert_eq!(machine.read(Address::Pmd(4)), 2);
}

#[test]
fn firmware_reports_four_pairs_of_32_bits() {
    assert_eq!(PERF_MON_INFO.pm_info(), 0x0812_2004);
    let buffer = PERF_MON_INFO.buffer();
    assert_eq!([0, 4, 8, 12].map(|word| buffer[word]), [0x3FFF, 0x3_FFFF, 0xF0, 0x30]);
}

#[test]
fn the_pmu_of_a_state_goes_on_where_the_other_stopped() {
    let mut machine = Machine::new();
    machine.pmc(12, 0xFF81);
    machine.pmd(4, 0xFFFF_FFFD);
    machine.pmc(4, BRANCH_EVENT | PLM0 | OI);
    machine.pmc(5, CYCLES | PLM0);
    machine.retire(Some(branch(0x1000, 0x2000)));
    let state = machine.pmu.state(&machine.thread);
    machine.pmu = Itanium::from_state(&state, &machine.thread);
    assert_eq!(machine.pmu.state(&machine.thread), state);
    // The source lies in the bundle of the target that was captured before.
    machine.retire(Some(branch(0x2000, 0x3000)));
    machine.retire(Some(branch(0x3000, 0x4000)));
    assert_eq!(machine.pmu.take_alerts().interrupts, 1 << 4);
    assert_eq!(machine.read(Address::Pmd(5)), 3);
    assert_eq!([8, 9, 10, 11].map(|number| machine.read(Address::Pmd(number))), [0x1001, 0x2001, 0x3001, 0x4002]);
}

#[test]
fn a_reset_brings_everything_back() {
    let mut machine = Machine::new();
    machine.pmc(13, 0);
    machine.pmc(4, CYCLES | PLM0);
    machine.run(3);
    machine.pmu.reset(Reset::Warm, &machine.thread);
    machine.psr(UP);
    machine.run(3);
    assert_eq!([Address::Pmc(13), Address::Pmc(4), Address::Pmd(4)].map(|address| machine.read(address)), [1, 0, 0]);
}

#[test]
fn what_was_counted_before_an_injection_freezes_before_it() {
    let mut machine = Machine::new();
    machine.pmd(4, 0xFFFF_FFFF);
    machine.pmc(4, RETIRED | PLM0 | OI);
    machine.pmc(5, FP_FLUSHES | PLM0);
    // The overflow has not been served.
    machine.thread.totals.add(Signal::InstructionsRetired, 1);
    assert!(!machine.pmu.inject(Occurrence { select: 0x0C, umask: 0 }, 1, &machine.thread));
    assert_eq!(machine.read(Address::Pmd(5)), 0);
}
