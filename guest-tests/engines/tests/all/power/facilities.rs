//! Special purpose registers and the facilities that keep them away.

use super::support::*;

/// The vectors taken when `build` runs with the bits `fscr` and `hfscr`, in a state without `clear` and with `set`.
fn with(fscr: u64, hfscr: u64, clear: u64, set: u64, build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    run(|a| {
        for (number, value) in [(spr::FSCR, fscr), (spr::HFSCR, hfscr)] {
            a.load(R4, value);
            a.mtspr(number, R4);
        }
        let there = a.label();
        go(a, there, clear, set);
        build(a);
    })
}

const ALL: u64 = 0xFFFF;

#[test]
fn problem_state_needs_fscr_and_says_the_cause() {
    let accesses: [(u64, u8, Build); 5] = [
        (facility::TAR, 8, |a| a.mfspr(R3, spr::TAR)),
        (facility::TAR, 8, |a| a.bctar(20, 0, 0, false)),
        (facility::DSCR, 2, |a| a.mfspr(R3, spr::DSCR_USER)),
        (facility::EBB, 7, |a| a.mfspr(R3, spr::BESCR)),
        (facility::EBB, 7, |a| a.rfebb(true)),
    ];
    for (bit, cause, access) in accesses {
        let machine = with(ALL & !bit, ALL, 0, msr::PR, access);
        assert_eq!(vectors(&machine), [0xF60]);
        assert_eq!(special(&machine, spr::FSCR) >> 56, u64::from(cause));
        // The supervisor needs no FSCR.
        let machine = with(ALL & !bit, ALL, 0, 0, |a| a.mfspr(R3, spr::TAR));
        assert!(vectors(&machine).is_empty());
        // What the hypervisor keeps away from all others goes to it.
        for set in [0, msr::PR] {
            let machine = with(ALL, ALL & !bit, msr::HV, set, access);
            assert_eq!(vectors(&machine), [0xF80]);
            assert_eq!(special(&machine, spr::HFSCR) >> 56, u64::from(cause));
        }
    }
}

#[test]
fn bescr_is_set_and_cleared_by_bits() {
    let machine = run(|a| {
        let ones = bescr::GE | bescr::PME | bescr::PMEO;
        a.load(R4, ones);
        a.mtspr(spr::BESCRS, R4);
        a.mfspr(R20, spr::BESCR);
        // Clear PME by the upper half's own number, PMEO by the whole's.
        a.load(R4, 1);
        a.mtspr(spr::BESCRRU, R4);
        a.mtspr(spr::BESCRR, R4);
        a.mfspr(R21, spr::BESCRS);
        a.mfspr(R22, spr::BESCRSU);
        a.mtspr(spr::BESCRSU, R4);
        a.mfspr(R23, spr::BESCR);
    });
    assert_eq!(gpr(&machine, 20), 0x8000_0001_0000_0001);
    assert_eq!(gpr(&machine, 21), 1 << 63);
    assert_eq!(gpr(&machine, 22), 1 << 31);
    assert_eq!(gpr(&machine, 23), 0x8000_0001_0000_0000);
}

#[test]
fn registers_of_other_states_and_none_behave_as_the_state_says() {
    // A privileged number in problem state; one of no register, with and without that bit.
    assert_eq!(vectors(&with(0, ALL, 0, msr::PR, |a| a.mfspr(R3, spr::SRR0))), [0x700]);
    assert_eq!(vectors(&with(0, ALL, 0, msr::PR, |a| a.mfspr(R3, 1000))), [0xE40]);
    assert_eq!(vectors(&with(0, ALL, 0, msr::PR, |a| a.mfspr(R3, 1016))), [0x700]);
    // The hypervisor's from a guest's kernel: the access does nothing.
    let machine = with(0, ALL, msr::HV, 0, |a| {
        a.load(R3, 5);
        a.mfspr(R3, spr::HSPRG0);
        a.mtspr(spr::HSPRG0, R3);
    });
    assert!(vectors(&machine).is_empty());
    assert_eq!((gpr(&machine, 3), special(&machine, spr::HSPRG0)), (5, 0));
    // Number 0 is no register in any state.
    assert_eq!(vectors(&run(|a| a.mtspr(0, R3))), [0xE40]);
}

#[test]
fn with_enhanced_virtualization_the_hypervisor_hears_of_its_registers() {
    let machine = run(|a| {
        a.load(R4, lpcr::ILE | lpcr::EVIRT);
        a.mtspr(spr::LPCR, R4);
        let guest = a.label();
        go(a, guest, msr::HV, 0);
        a.mfspr(R3, spr::HSPRG0);
    });
    assert_eq!(vectors(&machine), [0xE40]);
    // It is MFSPR 3,304: 304 is 9 in the upper half and 16 in the lower.
    assert_eq!(special(&machine, spr::HEIR), 0x7C70_4AA6);
}

#[test]
fn the_run_latch_is_written_and_read_by_different_numbers() {
    let machine = run(|a| {
        a.load(R4, u64::MAX);
        a.mtspr(spr::CTRL, R4);
        a.mfspr(R3, spr::CTRL_READ);
    });
    assert_eq!(gpr(&machine, 3), 1);
    assert!(machine.cpu(0).expect("a CPU").run());
}

#[test]
fn the_time_base_ticks_every_eighth_cycle_and_can_be_set() {
    let machine = run(|a| {
        for _ in 0..30 {
            a.nop();
        }
        a.mftb(R20);
        a.load(R4, 7);
        a.mtspr(spr::TBU_WRITE, R4);
        a.mfspr(R21, spr::TBU);
    });
    let steps = &machine.observer(0).expect("a CPU").steps;
    let before = steps.iter().position(|step| step.encoding >> 1 & 0x3FF == 339).expect("MFTB") as u64;
    assert_eq!(gpr(&machine, 20), before / 8);
    assert_eq!(gpr(&machine, 21), 7);
}

#[test]
fn priorities_are_asked_for_by_what_may_have_them() {
    let priority = |set: u64, register: Gpr| {
        let machine = with(ALL, ALL, 0, set, |a| a.priority(register));
        machine.cpu(0).expect("a CPU").priority()
    };
    assert_eq!(priority(0, R9), 4);
    assert_eq!([R31, R1, R6, R2, R5, R3, R7].map(|register| priority(0, register)), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!([R31, R1, R6, R2, R5, R3, R7].map(|register| priority(msr::PR, register)), [4, 2, 3, 4, 4, 4, 4]);
}

#[test]
fn transactional_memory_needs_hfscr_and_msr() {
    let machine = run(|a| a.tbegin_dot());
    assert_eq!(vectors(&machine), [0xF60]);
    assert_eq!(special(&machine, spr::FSCR) >> 56, 5);
    let machine = with(ALL, ALL & !facility::TM, msr::HV, msr::TM, |a| a.tbegin_dot());
    assert_eq!(vectors(&machine), [0xF80]);
}

#[test]
fn a_transaction_commits_or_is_undone() {
    for abort in [false, true] {
        let machine = run(|a| {
            let (there, failed, done) = (a.label(), a.label(), a.label());
            go(a, there, 0, msr::TM);
            a.load(R6, DATA);
            a.load(R20, 1);
            a.tbegin_dot();
            a.beq(failed);
            a.mfmsr(R21);
            a.load(R20, 2);
            a.std(R20, 0, R6);
            a.tsuspend_dot();
            a.mfmsr(R22);
            a.tresume_dot();
            if abort {
                a.tabort_dot(R20);
            }
            a.tend_dot();
            a.b(done);
            a.here(failed);
            a.load(R25, 1);
            a.here(done);
            a.mfmsr(R23);
        });
        assert!(vectors(&machine).is_empty());
        let value = if abort { [1, 0, 0, 0, 1] } else { [2, 2, 2, 1, 0] };
        let state = |register| gpr(&machine, register) >> 33 & 3;
        assert_eq!([gpr(&machine, 20), machine.memory().read(DATA, 8), state(21), state(22), gpr(&machine, 25)], value, "{abort}");
        assert_eq!(state(23), 0);
        // TEXASR: code 2 of the register, given up, in hypervisor state, recorded, exact.
        assert_eq!(special(&machine, spr::TEXASR), if abort { 0x0200_0001_2C00_0000 } else { 0 });
    }
}
