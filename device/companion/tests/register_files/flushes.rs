//! Sampled instructions of POWER9 whose first attempt is flushed.

use vm_pmu_arch::power9::spr;

use super::samples::{FREE, Sampling, Thread};
use super::{load, store};
use vm_pmu_companion::{Access, Class, Instruction, Operation, Register};

/// PM_LSU_FLUSH_LHL_SHL, PM_LSU_FLUSH_LHS and PM_LSU_FLUSH_LARX_STCX, for the sampled instruction.
const CODES: [u64; 3] = [0xD9A0, 0xD1A0, 0xD9A4];

fn counted(execute: impl Fn(&mut Thread<'_>)) -> [u64; 3] {
    CODES.map(|code| {
        let sampling = Sampling::of(1, 1);
        sampling.program(code, (0, 0));
        execute(&mut Thread::new(&sampling));
        (0..4).map(|number| sampling.read(spr::PMC1 + number)).sum()
    })
}

/// Runs a store whose address comes from a division, and a load from `to`, of the same line in memory.
fn meet(thread: &mut Thread<'_>, to: u64, sampled: bool) {
    let quotient = [Register(1)];
    let divides = Operation { width: 8, reads: &[FREE], writes: &quotient, ..Operation::default() };
    thread.run(&Instruction { class: Class::SignedDivide, operation: Some(divides), ..Instruction::default() }, false);
    let stored = [store(0x10_0000)];
    let stores = Operation { width: 8, addresses: &quotient, reads: &[FREE], ..Operation::default() };
    thread.run(&Instruction { class: Class::Store, operation: Some(stores), accesses: &stored, ..Instruction::default() }, false);
    let loaded = [Access { physical: 0x10_0000, ..load(to) }];
    let loads = Operation { width: 8, addresses: &[FREE], writes: &[Register(2)], ..Operation::default() };
    thread.run(
        &Instruction { address: 0x4000, class: Class::Load, operation: Some(loads), accesses: &loaded, ..Instruction::default() },
        sampled,
    );
}

/// Warms the line and both pages.
fn warm(thread: &mut Thread<'_>, to: u64) {
    for address in [0x10_0000, to] {
        let loaded = [Access { physical: 0x10_0000, ..load(address) }];
        let loads = Operation { width: 8, addresses: &[FREE], writes: &[Register(2)], ..Operation::default() };
        thread.run(&Instruction { class: Class::Load, operation: Some(loads), accesses: &loaded, ..Instruction::default() }, false);
        thread.settle();
    }
}

#[test]
fn a_sampled_load_that_an_older_store_flushes_counts_by_the_address_of_the_store() {
    let meets = |to: u64| {
        move |thread: &mut Thread<'_>| {
            warm(thread, to);
            meet(thread, to, true);
            // The next time it waits.
            meet(thread, to, true);
        }
    };
    assert_eq!(counted(meets(0x10_0000)), [1, 0, 0]);
    // The same bytes through another page.
    assert_eq!(counted(meets(0x20_0000)), [0, 1, 0]);
}

#[test]
fn a_flush_of_an_instruction_that_is_not_sampled_does_not_count() {
    let meets = |thread: &mut Thread<'_>| {
        warm(thread, 0x10_0000);
        meet(thread, 0x10_0000, false);
    };
    assert_eq!(counted(meets), [0; 3]);
}

#[test]
fn a_sampled_load_that_reserves_is_flushed_by_one_before_it() {
    let reserves = |thread: &mut Thread<'_>| {
        warm(thread, 0x10_0000);
        for sampled in [false, true] {
            let loaded = [Access { locked: true, ..load(0x10_0000) }];
            let loads = Operation { width: 8, addresses: &[FREE], writes: &[Register(2)], ..Operation::default() };
            thread.run(&Instruction { class: Class::Load, operation: Some(loads), accesses: &loaded, ..Instruction::default() }, sampled);
        }
    };
    assert_eq!(counted(reserves), [0, 0, 1]);
}
