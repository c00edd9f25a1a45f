//! Montecito on a machine: the moves that reach its registers, and what the threads of a core want of each other.

use std::sync::Mutex;

use vm_pmu::arch::montecito::Pmc;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Context, Fault, Signal};

/// PSR.up, bit 2.
const UP: u64 = 1 << 2;
/// PSR.cpl, bits 33:32.
const USER: u64 = 3 << 32;
/// What PMD4-15 count to: 47 bits.
const WRAP: u64 = 1 << 47;

/// What was told: the thread, and the counter that asked or the pins that toggled.
#[derive(Default)]
struct Told {
    raised: Mutex<Vec<(usize, u32)>>,
    pins: Mutex<Vec<(usize, u32)>>,
}

impl InterruptLine for Told {
    fn raise(&self, thread: usize, counter: u32) {
        self.raised.lock().unwrap().push((thread, counter));
    }

    fn pins(&self, thread: usize, pins: u32) {
        self.pins.lock().unwrap().push((thread, pins));
    }
}

fn core(threads: usize) -> Machine<Told> {
    let machine = Builder::new("montecito").unwrap().threads(threads).build(Told::default()).unwrap();
    for number in 0..threads {
        machine.thread(number).unwrap().set_context(Context::ia64(UP, 0).with_foreground(number == 0));
    }
    machine
}

/// Retired instructions (08h) at every level.
fn instructions() -> Pmc {
    let mut pmc = Pmc::default();
    pmc.set_plm(0b1111);
    pmc.set_es(0x08);
    pmc.set_ism(0b10);
    pmc
}

fn retire(thread: Thread<'_, Told>, times: usize) {
    for _ in 0..times {
        thread.totals().add(Signal::InstructionsRetired, 1);
        if thread.reached(Signal::InstructionsRetired) {
            thread.service();
        }
    }
}

#[test]
fn an_index_register_counts_by_its_lowest_byte() {
    let machine = core(1);
    let thread = machine.thread(0).unwrap();
    thread.ia64().mov_to_pmd(0xFFFF_FFFF_FFFF_FF04, 7).unwrap();
    assert_eq!(thread.ia64().mov_from_pmd(4), Ok(7));
    thread.ia64().mov_to_pmc(0x105, instructions().bits()).unwrap();
    assert_eq!(thread.ia64().mov_from_pmc(5), Ok(instructions().bits()));
    thread.ia64().mov_to_ibr(0x200, 0x4000).unwrap();
    thread.ia64().mov_to_dbr(0x307, 0x6000).unwrap();
    assert_eq!((thread.ia64().mov_from_ibr(0), thread.ia64().mov_from_dbr(7)), (Ok(0x4000), Ok(0x6000)));
}

#[test]
fn there_are_eight_breakpoint_registers_of_each_kind() {
    let machine = core(1);
    let thread = machine.thread(0).unwrap();
    assert_eq!(
        (thread.ia64().mov_from_ibr(8), thread.ia64().mov_from_dbr(8)),
        (Err(Fault::ReservedRegisterField), Err(Fault::ReservedRegisterField))
    );
    assert_eq!(thread.ia64().mov_to_ibr(255, 1), Err(Fault::ReservedRegisterField));
    assert_eq!(thread.ia64().mov_to_dbr(255, 1), Err(Fault::ReservedRegisterField));
}

#[test]
fn a_monitor_that_there_is_not_reads_as_zero() {
    let machine = core(1);
    let thread = machine.thread(0).unwrap();
    assert_eq!((thread.ia64().mov_to_pmc(200, 1), thread.ia64().mov_to_pmd(200, 1)), (Ok(()), Ok(())));
    assert_eq!((thread.ia64().mov_from_pmc(200), thread.ia64().mov_from_pmd(200)), (Ok(0), Ok(0)));
}

#[test]
fn level_3_may_only_look_at_data_registers() {
    let machine = core(1);
    let thread = machine.thread(0).unwrap();
    thread.ia64().mov_to_pmd(4, 5).unwrap();
    thread.set_context(Context::ia64(UP | USER, 0));
    let refused = Err(Fault::PrivilegedOperation);
    assert_eq!(thread.ia64().mov_from_pmd(4), Ok(5));
    assert_eq!((thread.ia64().mov_from_pmc(4), thread.ia64().mov_from_ibr(0), thread.ia64().mov_from_dbr(0)), (refused, refused, refused));
    let refused = Err(Fault::PrivilegedOperation);
    assert_eq!((thread.ia64().mov_to_pmc(4, 0), thread.ia64().mov_to_pmd(4, 0)), (refused, refused));
    assert_eq!((thread.ia64().mov_to_ibr(0, 0), thread.ia64().mov_to_dbr(0, 0)), (refused, refused));
}

#[test]
fn counters_that_overflow_together_make_one_request() {
    let machine = core(1);
    let thread = machine.thread(0).unwrap();
    let mut pmc = instructions();
    pmc.set_oi(true);
    for number in [6, 9] {
        thread.ia64().mov_to_pmd(number, WRAP - 2).unwrap();
        thread.ia64().mov_to_pmc(number, pmc.bits()).unwrap();
    }
    retire(thread, 5);
    assert_eq!(*machine.line().raised.lock().unwrap(), [(0, 6)]);
    // fr, and the overflow bits of both; nothing counts after the second instruction.
    assert_eq!(thread.ia64().mov_from_pmc(0), Ok(1 << 9 | 1 << 6 | 1));
    assert_eq!((thread.ia64().mov_from_pmd(6), thread.ia64().mov_from_pmd(9)), (Ok(0), Ok(0)));
}

#[test]
fn an_overflow_with_ev_toggles_the_pin_of_its_counter_and_asks_for_nothing() {
    let machine = core(1);
    let thread = machine.thread(0).unwrap();
    thread.watch_pins(1 << 7);
    let mut pmc = instructions();
    pmc.set_ev(true);
    thread.ia64().mov_to_pmd(7, WRAP - 3).unwrap();
    thread.ia64().mov_to_pmc(7, pmc.bits()).unwrap();
    retire(thread, 2);
    assert!(machine.line().pins.lock().unwrap().is_empty());
    retire(thread, 1);
    assert_eq!(*machine.line().pins.lock().unwrap(), [(0, 1 << 7)]);
    assert_eq!((thread.pin_toggles(7), thread.ia64().mov_from_pmc(0)), (1, Ok(1 << 7)));
    assert!(machine.line().raised.lock().unwrap().is_empty());
}

#[test]
fn a_counter_of_both_threads_wants_what_the_other_does_and_asks_for_its_owner() {
    let machine = core(2);
    let (first, second) = (machine.thread(0).unwrap(), machine.thread(1).unwrap());
    let epoch = second.epoch();
    let mut pmc = instructions();
    pmc.set_oi(true);
    pmc.set_all(true);
    first.ia64().mov_to_pmd(4, WRAP - 5).unwrap();
    first.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
    assert!(second.demand().wants(Signal::InstructionsRetired) && second.epoch() != epoch);
    retire(first, 2);
    first.set_context(Context::ia64(UP, 0).with_foreground(false));
    second.set_context(Context::ia64(UP, 0));
    retire(second, 2);
    assert!(machine.line().raised.lock().unwrap().is_empty());
    retire(second, 1);
    assert_eq!(*machine.line().raised.lock().unwrap(), [(0, 4)]);
}

#[test]
fn what_a_core_no_longer_counts_its_other_thread_need_not_tell() {
    let machine = core(2);
    let (first, second) = (machine.thread(0).unwrap(), machine.thread(1).unwrap());
    let mut pmc = instructions();
    pmc.set_all(true);
    first.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
    assert!(second.demand().wants(Signal::InstructionsRetired));
    first.ia64().mov_to_pmc(0, 1).unwrap();
    assert!(!second.demand().wants(Signal::InstructionsRetired), "monitoring is frozen");
    first.ia64().mov_to_pmc(0, 0).unwrap();
    assert!(second.demand().wants(Signal::InstructionsRetired));
}
