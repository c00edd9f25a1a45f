//! System registers and who may use them.

use vm_pmu_engines::ia64::registers::psr;

use super::support::*;

/// Goes to user level at privilege level 3 with these bits set in PSR.
fn user(a: &mut Assembler, bits: u64) {
    let target = a.label();
    a.load(R14, 3 << 32 | psr::BN | psr::IC | bits);
    a.put(mov_to_cr(Cr::IPSR, R14));
    a.load_address(R14, target);
    a.put(mov_to_cr(Cr::IIP, R14));
    a.put(mov_to_cr(Cr::IFS, R0));
    a.put(rfi());
    a.here(target);
}

/// The vector and the code of ISR that `op` leads to at user level with `bits` in PSR, and r15 = 4.
fn at_user_level(bits: u64, op: Op) -> Option<(u16, u64)> {
    let machine = run(|a| {
        a.put(mov_imm(R15, 4));
        user(a, bits);
        a.put(op);
    });
    vectors(&machine).first().map(|vector| (*vector, machine.cpu(0).unwrap().cr(17) & 0xFFFF))
}

#[test]
fn monitor_registers_are_privileged_but_for_reads_of_data() {
    for op in [mov_to_pmc(R15, R0), mov_to_pmd(R15, R0), mov_from_pmc(R8, R15)] {
        assert_eq!(at_user_level(0, op), Some((0x5400, 0x10)));
    }
    assert_eq!(at_user_level(0, mov_from_pmd(R8, R15)), None);
}

#[test]
fn privileged_operations_and_registers_fault_with_their_codes() {
    let privileged_operations =
        [ssm(1 << 13), rsm(1 << 13), mov_from_psr(R8), mov_from_cr(R8, Cr::DCR), mov_to_ibr(R15, R0), rfi(), bsw_0(), mov_to_psr_l(R15)];
    for op in privileged_operations {
        assert_eq!(at_user_level(0, op), Some((0x5400, 0x10)), "{op:?}");
    }
    assert_eq!(at_user_level(0, mov_to_ar_m(Ar::ITC, R15)), Some((0x5400, 0x20)));
    assert_eq!(at_user_level(psr::SI, mov_from_ar_m(R8, Ar::ITC)), Some((0x5400, 0x20)));
    assert_eq!(at_user_level(0, mov_from_ar_m(R8, Ar::ITC)), None);
    assert_eq!(at_user_level(0, mov_from_cpuid(R8, R15)), None);
}

#[test]
fn reserved_fields_and_registers_fault() {
    assert_eq!(at_user_level(0, sum(1 << 13)), Some((0x5400, 0x30)));
    let machine = run(|a| {
        a.put(mov_imm(R14, 8));
        a.put(mov_to_ibr(R14, R0));
    });
    assert_eq!((vectors(&machine), machine.cpu(0).unwrap().cr(17) & 0xFFFF), (vec![0x5400], 0x30));
}

#[test]
fn secure_monitors_keep_the_user_bit_from_users() {
    let up = |bits: u64| {
        let machine = run(|a| {
            user(a, bits);
            a.put(sum(psr::UP));
            a.put(mov_from_psr_um(R8));
        });
        gr(&machine, 8) & psr::UP != 0
    };
    assert!(up(0));
    assert!(!up(psr::SP));
}

#[test]
fn monitor_registers_go_to_the_observer() {
    let machine = run(|a| {
        a.put(mov_imm(R14, 0x124));
        a.put(mov_imm(R15, 7));
        a.put(mov_to_pmc(R14, R15));
        a.put(mov_to_pmd(R14, R15));
        a.put(mov_from_pmc(R8, R14));
        a.put(mov_from_pmd(R9, R14));
    });
    // The index has eight bits.
    assert_eq!(recorded(&machine).writes, [(0x24, 7), (0x124, 7)]);
    assert_eq!((gr(&machine, 8), gr(&machine, 9)), (0x124, 0x224));
}

#[test]
fn breakpoint_registers_are_shown_to_the_observer() {
    let machine = run(|a| {
        a.put(mov_imm(R14, 3));
        a.load(R15, 0x1234);
        a.put(mov_to_ibr(R14, R15));
        a.put(mov_to_dbr(R14, R14));
        a.put(mov_from_ibr(R8, R14));
    });
    assert_eq!(gr(&machine, 8), 0x1234);
    assert_eq!((machine.cpu(0).unwrap().ibr(3), machine.cpu(0).unwrap().dbr(3)), (0x1234, 3));
    // The first context and one for each register.
    assert_eq!(recorded(&machine).contexts.len(), 3);
}

#[test]
fn banks_of_registers_are_switched() {
    let machine = run(|a| {
        a.put(mov_imm(R16, 1));
        a.put(bsw_0());
        a.put(mov(R8, R16));
        a.put(mov_imm(R16, 2));
        a.put(bsw_1());
        a.put(mov(R9, R16));
    });
    assert_eq!((gr(&machine, 8), gr(&machine, 9)), (0, 1));
}

#[test]
fn the_processor_says_what_it_is() {
    let machine = run(|a| {
        a.put(mov_imm(R14, 3));
        a.put(mov_from_cpuid(R8, R14));
        a.put(mov_from_cpuid(R9, R0));
    });
    assert_eq!(gr(&machine, 8) >> 24 & 0xFF, 0x20);
    assert_eq!(&gr(&machine, 9).to_le_bytes(), b"GenuineI");
}

#[test]
fn epc_promotes_and_the_return_demotes() {
    let machine = run(|a| {
        let (gate, over) = (a.label(), a.label());
        user(a, 0);
        a.put(br_call(B0, gate));
        a.put(br_cond(over));
        a.here(gate);
        a.put(epc());
        a.put(mov_from_psr(R8));
        a.put(br_ret(B0));
        a.here(over);
        a.put(mov_from_psr(R9));
    });
    assert_eq!((vectors(&machine), machine.cpu(0).unwrap().cr(17) & 0xFFFF), (vec![0x5400], 0x10));
    assert!(gr(&machine, 8) & psr::IC != 0);
}

#[test]
fn interruption_registers_are_out_of_reach_while_interruptions_are_collected() {
    let machine = run(|a| {
        a.put(ssm(psr::IC));
        a.put(mov_from_cr(R8, Cr::IPSR));
    });
    assert_eq!((vectors(&machine), machine.cpu(0).unwrap().cr(17) & 0xFFFF), (vec![0x5400], 0));
}
