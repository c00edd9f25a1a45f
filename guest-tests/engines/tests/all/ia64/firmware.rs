//! The procedures of the firmware.

use vm_pmu_engines::ia64::registers::psr;
use vm_pmu_engines::ia64::{Exit, Limits, PAL_ENTRY, Taken};

use super::support::*;

fn call(a: &mut Assembler, index: i64) {
    a.load(R14, PAL_ENTRY);
    a.put(mov_to_br(B7, R14));
    a.put(mov_imm(R28, index));
    a.put(br_call_reg(B0, B7));
}

#[test]
fn the_embedders_description_of_the_monitors_is_handed_over() {
    let machine = run(|a| {
        a.put(alloc(R32, 0, 2, 1, 0));
        a.put(mov_imm(R33, 5));
        a.load(R29, DATA);
        call(a, 15);
        a.put(mov(R16, R33));
        a.load(R14, DATA + 8 * 15);
        a.put(ld8(R17, R14));
    });
    assert_eq!([8, 9, 16, 17].map(|r| gr(&machine, r)), [0, 0x0812_2F0C, 5, 0x1F]);
    assert_eq!(recorded(&machine).notices[0].taken, Taken::Firmware(15));
}

#[test]
fn a_plain_branch_to_the_firmware_comes_back_with_the_same_frame() {
    let machine = run(|a| {
        let back = a.label();
        a.put(alloc(R32, 0, 2, 1, 0));
        a.load(R14, PAL_ENTRY);
        a.put(mov_to_br(B7, R14));
        a.load_address(R14, back);
        a.put(mov_to_br(B0, R14));
        a.put(mov_imm(R28, 20));
        a.put(br_cond_reg(B7));
        a.here(back);
    });
    assert_eq!(gr(&machine, 8), 0);
    assert_eq!(machine.cpu(0).unwrap().cfm() & 0x7F, 3);
}

#[test]
fn an_unknown_procedure_says_so() {
    let machine = run(|a| call(a, 99));
    assert_eq!(gr(&machine, 8), u64::MAX);
}

#[test]
fn a_halt_freezes_the_monitors_until_an_interrupt_comes() {
    let machine = run(|a| {
        a.load(R14, 0x40);
        a.put(mov_to_cr(Cr::ITV, R14));
        a.put(mov_from_ar_m(R15, Ar::ITC));
        a.load(R14, 1000);
        a.put(add(R14, R15, R14));
        a.put(mov_to_cr(Cr::ITM, R14));
        call(a, 29);
        a.put(mov_from_ar_m(R16, Ar::ITC));
        a.put(sub(R16, R16, R15));
        a.put(mov_from_cr(R17, Cr::IRR1));
    });
    // PMC0 reads as 0x100 here.
    assert_eq!(recorded(&machine).writes, [(0, 0x101), (0, 0x100)]);
    assert_eq!((gr(&machine, 8), gr(&machine, 17)), (0, 1));
    assert!(gr(&machine, 16) >= 1000 && recorded(&machine).waited > 900);
}

#[test]
fn a_halt_in_a_state_of_low_power_leaves_the_monitors_alone() {
    let machine = run(|a| {
        a.load(R14, 0x40);
        a.put(mov_to_cr(Cr::ITV, R14));
        a.put(mov_from_ar_m(R15, Ar::ITC));
        a.load(R14, 1000);
        a.put(add(R14, R15, R14));
        a.put(mov_to_cr(Cr::ITM, R14));
        a.load(R29, 1);
        call(a, 28);
    });
    assert_eq!(recorded(&machine).writes, []);
    assert!(gr(&machine, 8) == 0 && recorded(&machine).waited > 900);
}

#[test]
fn a_halt_needs_a_state_from_1_to_7() {
    for state in [0, 8] {
        let machine = run(|a| {
            a.load(R29, state);
            call(a, 28);
        });
        assert_eq!((gr(&machine, 8), recorded(&machine).waited), (u64::MAX - 1, 0));
    }
}

#[test]
fn a_halt_that_nothing_ends_ends_the_run() {
    let mut machine = machine(&Default::default(), &[], |a| call(a, 29));
    assert_eq!(machine.run(Limits::NONE), Exit::Waiting);
}

#[test]
fn the_firmware_is_for_the_most_privileged_only() {
    let machine = run(|a| {
        let target = a.label();
        a.load(R14, 3 << 32 | psr::BN | psr::IC);
        a.put(mov_to_cr(Cr::IPSR, R14));
        a.load_address(R14, target);
        a.put(mov_to_cr(Cr::IIP, R14));
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(rfi());
        a.here(target);
        call(a, 20);
    });
    assert_eq!(vectors(&machine), [0x5400]);
}
