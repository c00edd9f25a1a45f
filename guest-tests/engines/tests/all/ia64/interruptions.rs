//! Faults, traps, interrupts and the return from them.

use vm_pmu_engines::ia64::registers::psr;

use super::support::*;

#[test]
fn a_break_says_its_number_and_comes_back_to_where_the_handler_says() {
    let machine = run_with(
        0x2C00,
        |a| {
            a.put(mov_from_cr(R8, Cr::IIM));
            a.put(mov_from_cr(R9, Cr::ISR));
            a.put(mov_from_cr(R16, Cr::IIP));
            a.put(mov(R10, R16));
            a.put(adds(R16, 16, R16));
            a.put(mov_to_cr(Cr::IIP, R16));
            a.put(mov_from_cr(R17, Cr::IPSR));
            a.put(dep_imm(R17, false, R17, 41, 2));
            a.put(mov_to_cr(Cr::IPSR, R17));
            a.put(rfi());
        },
        |a| {
            a.put(ssm(psr::IC));
            a.bundle(Template::MII_S, [nop(0), break_(0x1_2345), nop(0)]);
            a.put(mov_imm(R11, 1));
        },
    );
    // Slot 1 in ISR.ei; the break is in the second bundle.
    assert_eq!([8, 9, 10, 11].map(|r| gr(&machine, r)), [0x1_2345, 1 << 41, BASE + 16, 1]);
    assert_eq!(vectors(&machine), [0x2C00]);
    assert!(recorded(&machine).notices[0].synchronous);
}

#[test]
fn a_break_in_a_branch_slot_has_no_number() {
    let machine = run_with(
        0x2C00,
        |a| a.put(mov_from_cr(R14, Cr::IIM)),
        |a| {
            a.put(mov_imm(R14, 5));
            a.put(mov_to_cr(Cr::IIM, R14));
            a.put(ssm(psr::IC));
            a.bundle(Template::MIB_S, [nop(0), nop(0), break_(7)]);
        },
    );
    assert_eq!(gr(&machine, 14), 0);
}

#[test]
fn psr_at_an_interruption_is_the_architectures() {
    // pp comes from DCR.pp; up, mfl and mfh stay; all else that is set here is cleared.
    let machine = run_with(
        0x2C00,
        |a| {
            a.put(mov_from_psr(R8));
            a.put(mov_from_cr(R9, Cr::IPSR));
        },
        |a| {
            a.put(mov_imm(R14, 1));
            a.put(mov_to_cr(Cr::DCR, R14));
            a.put(ssm(psr::IC | psr::UP | psr::SP | psr::AC | psr::DFH));
            a.put(break_(0));
        },
    );
    assert_eq!(gr(&machine, 8), psr::UP | psr::PP);
    assert_eq!(gr(&machine, 9), psr::IC | psr::UP | psr::SP | psr::AC | psr::DFH | psr::BN);
}

#[test]
fn execution_goes_on_at_the_slot_that_psr_ri_names() {
    let machine = run(|a| {
        let target = a.label();
        a.load(R14, psr::BN | 2 << 41);
        a.put(mov_to_cr(Cr::IPSR, R14));
        a.load_address(R14, target);
        a.put(mov_to_cr(Cr::IIP, R14));
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(rfi());
        a.here(target);
        a.bundle(Template::MII_S, [mov_imm(R14, 1), mov_imm(R15, 1), mov_imm(R18, 1)]);
    });
    // Six bundles come before the target.
    assert_eq!([14, 15, 18].map(|r| gr(&machine, r)), [BASE + 6 * 16, 0, 1]);
}

#[test]
fn an_address_without_memory_is_a_miss_or_a_nested_one() {
    let collected = run(|a| {
        a.put(ssm(psr::IC));
        a.load(R14, 1 << 40);
        a.put(st8(R14, R0));
    });
    assert_eq!(vectors(&collected), [0x1000]);
    let cpu = collected.cpu(0).unwrap();
    // IFA, and a write in ISR.
    assert_eq!((cpu.cr(20), cpu.cr(17)), (1 << 40, 1 << 33));
    let nested = run(|a| {
        a.load(R14, 1 << 40);
        a.put(ld8(R8, R14));
    });
    assert_eq!(vectors(&nested), [0x1400]);
}

#[test]
fn the_performance_monitor_interrupts_through_its_vector() {
    let handler = |a: &mut Assembler| {
        a.put(mov_from_cr(R8, Cr::IVR));
        a.put(mov_to_cr(Cr::EOI, R0));
        a.put(mov_from_cr(R9, Cr::IVR));
    };
    let program = |vector: u64| {
        move |a: &mut Assembler| {
            a.load(R14, vector);
            a.put(mov_to_cr(Cr::PMV, R14));
            a.put(ssm(psr::IC | psr::I));
            for _ in 0..40 {
                a.put(nop(0));
            }
        }
    };
    let run_program = |vector: u64| {
        let mut machine = machine(&Default::default(), &[(0x3000, code(0x3000, handler))], program(vector));
        machine.observer_mut(0).unwrap().interrupt_after = Some(20);
        finish(machine)
    };
    let open = run_program(0xE4);
    assert_eq!((gr(&open, 8), gr(&open, 9)), (0xE4, 15));
    assert!(!recorded(&open).notices[0].synchronous);
    assert!(vectors(&run_program(0x1_00E4)).is_empty());
}

#[test]
fn the_interval_timer_comes_when_it_matches() {
    let machine = run_with(
        0x3000,
        |a| a.put(mov_from_cr(R8, Cr::IVR)),
        |a| {
            a.load(R14, 0x30);
            a.put(mov_to_cr(Cr::ITV, R14));
            a.put(mov_from_ar_m(R14, Ar::ITC));
            a.put(adds(R14, 50, R14));
            a.put(mov_to_cr(Cr::ITM, R14));
            a.put(ssm(psr::IC | psr::I));
            let again = a.mark();
            a.put(br_cond(again));
        },
    );
    assert_eq!(gr(&machine, 8), 0x30);
    // A bundle a cycle: ar.itc was read as 2, and the interrupt came at 52 or right after.
    let taken = recorded(&machine).notices.len();
    assert_eq!(taken, 1);
}

#[test]
fn a_handler_that_covers_gives_the_frame_back() {
    let machine = run_with(
        0x2C00,
        |a| {
            a.put(cover());
            a.put(alloc(R16, 0, 4, 0, 0));
            a.put(mov_imm(R32, 99));
            a.put(alloc(R16, 0, 0, 0, 0));
            a.put(mov_from_cr(R16, Cr::IIP));
            a.put(adds(R16, 16, R16));
            a.put(mov_to_cr(Cr::IIP, R16));
            a.put(rfi());
        },
        |a| {
            a.put(alloc(R32, 0, 2, 0, 0));
            a.put(mov_imm(R32, 5));
            a.put(mov_imm(R33, 6));
            a.put(ssm(psr::IC));
            a.put(break_(0));
            a.put(add(R8, R32, R33));
        },
    );
    assert_eq!(gr(&machine, 8), 11);
}

#[test]
fn every_instruction_traps_when_single_stepping() {
    let machine = run_with(
        0x6000,
        |a| {
            a.put(adds(R8, 1, R8));
            a.put(mov_from_cr(R9, Cr::ISR));
            a.put(cmp_eq_imm(P6, P7, 3, R8));
            let over = a.label();
            a.put(br_cond(over).when(P6));
            a.put(rfi());
            a.here(over);
        },
        |a| {
            let target = a.label();
            a.load(R14, psr::BN | psr::IC | psr::SS);
            a.put(mov_to_cr(Cr::IPSR, R14));
            a.load_address(R14, target);
            a.put(mov_to_cr(Cr::IIP, R14));
            a.put(mov_to_cr(Cr::IFS, R0));
            a.put(rfi());
            a.here(target);
            a.put(mov_imm(R10, 1));
            a.put(mov_imm(R11, 1));
        },
    );
    // Three traps: the three slots of the first bundle. ISR says single step, slot 2.
    assert_eq!((gr(&machine, 8), gr(&machine, 9)), (3, 8 | 2 << 41));
    assert_eq!((gr(&machine, 10), gr(&machine, 11)), (1, 0));
}

#[test]
fn a_taken_branch_traps_when_it_is_asked_for() {
    let machine = run(|a| {
        let (target, over) = (a.label(), a.label());
        a.load(R14, psr::BN | psr::IC | psr::TB);
        a.put(mov_to_cr(Cr::IPSR, R14));
        a.load_address(R14, target);
        a.put(mov_to_cr(Cr::IIP, R14));
        a.put(mov_to_cr(Cr::IFS, R0));
        a.put(rfi());
        a.here(target);
        a.put(br_cond(over));
        a.here(over);
    });
    assert_eq!((vectors(&machine), machine.cpu(0).unwrap().cr(17)), (vec![0x5F00], 4 | 2 << 41));
}

#[test]
fn data_breakpoints_fault_when_psr_db_is_set() {
    let run_with_db = |bits: u64| {
        run(|a| {
            a.load(R14, DATA);
            a.put(mov_to_dbr(R0, R14));
            a.put(mov_imm(R15, 1));
            // Reads, all privilege levels, all bits of the address.
            a.load(R16, 1 << 63 | 0x0FFF_FFFF_FFFF_FFFF);
            a.put(mov_to_dbr(R15, R16));
            a.load(R16, bits);
            a.put(mov_to_psr_l(R16));
            a.put(st8(R14, R0));
            a.put(ld8(R8, R14));
        })
    };
    assert_eq!(vectors(&run_with_db(psr::DB)), [0x5900]);
    assert!(vectors(&run_with_db(0)).is_empty());
}

#[test]
fn a_reserved_template_is_an_illegal_operation() {
    let machine = run(|a| a.bytes(&[6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(vectors(&machine), [0x5400]);
}

#[test]
fn major_opcodes_that_no_instruction_has_are_illegal() {
    // Majors 2 and 3 of M and I slots, 0xF of both, with no-operations in the other slots.
    for (major, slot) in [(2u128, 5), (3, 5), (0xF, 5), (2, 46), (3, 46), (0xF, 46)] {
        let nop = 1u128 << 27;
        let others = if slot == 5 { nop << 46 } else { nop << 5 };
        let bundle = major << 37 << slot | others | nop << 87;
        let machine = run(|a| a.bytes(&bundle.to_le_bytes()));
        assert_eq!(vectors(&machine), [0x5400], "{major} at bit {slot}");
    }
}

#[test]
fn an_instruction_that_is_not_there_ends_the_run_with_its_name() {
    use vm_pmu_engines::ia64::Limits;
    let mut machine = machine(&Default::default(), &[], |a| a.put(pmpy2_r(R8, R9, R10)));
    let text = machine.run(Limits::steps(10)).to_string();
    assert!(text.contains("I slot 1 of the bundle at 0x10000") && text.contains("pmpy2.r with registers 8, 9 and 10"), "{text}");
}
