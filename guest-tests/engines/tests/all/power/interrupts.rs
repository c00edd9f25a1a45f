//! Interrupts: what they save, where they go, and how they return.

use super::support::*;

/// Runs until the first interrupt; returns the machine and the address of the instruction at `label`.
fn until(build: impl FnOnce(&mut Assembler, Label)) -> (Machine<Recorder>, u64) {
    let mut address = 0;
    let machine = run(|a| {
        let label = a.label();
        build(a, label);
        address = place(a, label);
    });
    (machine, address)
}

/// The address of a label that is placed.
fn place(a: &Assembler, label: Label) -> u64 {
    let mut probe = a.clone();
    probe.nop();
    probe.finish_with(&[label]).expect("placed").1[0]
}

fn state(machine: &Machine<Recorder>) -> u64 {
    machine.observer(0).expect("a CPU").notices[0].msr
}

#[test]
fn an_illegal_instruction_goes_to_emulation_assistance() {
    let (machine, at) = until(|a, here| {
        a.here(here);
        a.word(0);
    });
    assert_eq!(vectors(&machine), [0xE40]);
    assert_eq!(special(&machine, spr::HSRR0), at);
    assert_eq!(special(&machine, spr::HSRR1), state(&machine));
    assert_eq!(special(&machine, spr::HEIR), 0);
}

#[test]
fn a_privileged_instruction_in_problem_state_is_a_program_interrupt() {
    let (machine, at) = until(|a, here| {
        let user = a.label();
        go(a, user, 0, msr::PR);
        a.here(here);
        a.mfmsr(R3);
    });
    assert_eq!(vectors(&machine), [0x700]);
    assert_eq!(special(&machine, spr::SRR0), at);
    // Bit 45, and problem state has EE, IR and DR on.
    assert_eq!(special(&machine, spr::SRR1), state(&machine) | 1 << 18);
    assert_eq!(state(&machine) & 0xC030, 0xC030);
}

#[test]
fn an_interrupt_clears_all_but_what_it_keeps() {
    let (machine, _) = until(|a, here| {
        a.here(here);
        let user = a.label();
        go(a, user, 0, msr::PR | msr::PMM | msr::RI | msr::FP | msr::TA);
        a.trap();
    });
    // The vector's code runs in 64-bit hypervisor state, little-endian as HILE says, ME kept, the tags mode too.
    assert_eq!(machine.cpu(0).expect("a CPU").msr(), msr::SF | msr::HV | msr::ME | msr::LE | msr::TA);
}

#[test]
fn traps_say_so() {
    let (machine, at) = until(|a, here| {
        a.load(R4, 5);
        a.tdi(16, R4, 5);
        a.tdi(4, R4, 6);
        a.here(here);
        a.twi(4, R4, 5);
    });
    assert_eq!(vectors(&machine), [0x700]);
    assert_eq!(special(&machine, spr::SRR0), at);
    assert_eq!(special(&machine, spr::SRR1) & 0x783F_0000, 1 << 17);
}

#[test]
fn a_trap_compares_signed_and_unsigned() {
    // -1 against 1: less signed, greater unsigned.
    for (to, taken) in [(16, true), (8, false), (4, false), (2, false), (1, true)] {
        let machine = run(|a| {
            a.load(R4, u64::MAX);
            a.tdi(to, R4, 1);
        });
        assert_eq!(!vectors(&machine).is_empty(), taken, "TO={to}");
    }
}

#[test]
fn a_system_call_completes_and_returns_behind_itself() {
    let (machine, at) = until(|a, here| {
        a.sc();
        a.here(here);
    });
    assert_eq!(vectors(&machine), [0xC00]);
    assert_eq!(special(&machine, spr::SRR0), at);
    let steps = &machine.observer(0).expect("a CPU").steps;
    let call = steps.iter().find(|step| step.encoding == 0x4400_0002).expect("it completed");
    assert_eq!(call.category, Category::System);
}

#[test]
fn a_system_call_of_level_1_goes_to_the_hypervisor() {
    for (hypervisor, right) in [(false, 0), (true, msr::HV)] {
        let machine = run(|a| {
            let guest = a.label();
            go(a, guest, msr::HV, 0);
            if hypervisor {
                a.hypercall();
            } else {
                a.sc();
            }
        });
        assert_eq!(vectors(&machine), [0xC00]);
        assert_eq!(machine.cpu(0).expect("a CPU").msr() & msr::HV, right);
        // The hypervisor bit of the guest was 0.
        assert_eq!(special(&machine, spr::SRR1) & msr::HV, 0);
    }
}

#[test]
fn accesses_outside_memory_say_where_and_what() {
    let (machine, at) = until(|a, here| {
        a.load(R4, 0x1234_0000_0000);
        a.here(here);
        a.stw(R4, 8, R4);
    });
    assert_eq!(vectors(&machine), [0x300]);
    assert_eq!(special(&machine, spr::SRR0), at);
    assert_eq!(special(&machine, spr::DAR), 0x1234_0000_0008);
    // Bit 33 no translation, bit 38 a store.
    assert_eq!(special(&machine, spr::DSISR), 0x4200_0000);
    let machine = run(|a| {
        a.load(R4, 0x1234_0000_0000);
        a.mtctr(R4);
        a.bctr();
    });
    assert_eq!(vectors(&machine), [0x400]);
    assert_eq!(special(&machine, spr::SRR0), 0x1234_0000_0000);
    assert_eq!(special(&machine, spr::SRR1) & 0x783F_0000, 1 << 30);
}

#[test]
fn a_misaligned_reservation_is_an_alignment_interrupt() {
    let (machine, at) = until(|a, here| {
        a.load(R4, DATA + 4);
        a.here(here);
        a.ldarx(R3, R0, R4);
    });
    assert_eq!(vectors(&machine), [0x600]);
    assert_eq!((special(&machine, spr::SRR0), special(&machine, spr::DAR)), (at, DATA + 4));
}

#[test]
fn floating_point_vectors_and_vsx_are_unavailable_until_enabled() {
    for (word, vector) in [(0xFC22_182A, 0x800), (0x1000_0000, 0xF20), (0xF000_0000, 0xF40)] {
        assert_eq!(vectors(&run(|a| a.word(word))), [vector]);
    }
    // Enabled, the engine has none of the latter two.
    let machine = run(|a| {
        a.mfmsr(R4);
        a.load(R5, msr::VEC);
        a.or(R4, R4, R5);
        a.mtmsrd(R4, false);
        a.word(0x1000_0000);
    });
    assert_eq!(vectors(&machine), [0xE40]);
}

#[test]
fn a_single_step_is_traced_behind_every_instruction() {
    // RFID into stepping is not traced itself; NOP, LD, STD, DCBT and DCBTST are.
    for (word, why) in [
        (0x6000_0000, 1 << 30),
        (0xE866_0000, 1 << 30 | 1 << 28),
        (0xF866_0000, 1 << 30 | 1 << 27),
        (0x7C00_322C, 1 << 30 | 1 << 28),
        (0x7C00_31EC, 1 << 30 | 1 << 27),
    ] {
        let (machine, at) = until(|a, here| {
            a.load(R6, DATA);
            let stepped = a.label();
            go(a, stepped, 0, msr::SE);
            a.word(word);
            a.here(here);
        });
        assert_eq!(vectors(&machine), [0xD00]);
        assert_eq!(special(&machine, spr::SRR0), at);
        assert_eq!(special(&machine, spr::SRR1) & 0x783F_0000, why);
        assert_eq!(special(&machine, spr::SRR1) & msr::SE, msr::SE);
    }
}

#[test]
fn branch_tracing_waits_for_a_branch() {
    let (machine, at) = until(|a, here| {
        let traced = a.label();
        go(a, traced, 0, msr::BE);
        a.nop();
        a.nop();
        let next = a.label();
        a.b(next);
        a.nop();
        a.here(next);
        a.here(here);
    });
    assert_eq!(vectors(&machine), [0xD00]);
    assert_eq!(special(&machine, spr::SRR0), at);
}

#[test]
fn interrupts_take_the_byte_order_of_their_target() {
    // The hypervisor's is HILE, a guest's LPCR.ILE. This image has no big-endian vectors: the first word there, MTSPR SPRG0 backwards, is
    // an instruction without meaning, so only where the CPU went is checked.
    for (guest, number, mask) in [(false, spr::HID0, 1 << 59), (true, spr::LPCR, lpcr::ILE)] {
        let image = image(true, |a| {
            a.mfspr(R4, number);
            a.load(R5, mask);
            a.andc(R4, R4, R5);
            a.mtspr(number, R4);
            let there = a.label();
            go(a, there, if guest { msr::HV } else { 0 }, 0);
            a.sc();
        });
        let mut machine = Machine::new(&Config::default(), &image, |_| Recorder::default()).expect("a machine");
        for _ in 0..100 {
            machine.run(Limits::steps(1));
            if !vectors(&machine).is_empty() {
                break;
            }
        }
        assert_eq!(vectors(&machine), [0xC00]);
        assert_eq!(machine.cpu(0).expect("a CPU").msr() & msr::LE, 0);
    }
}

#[test]
fn the_alternate_location_holds_with_translation_on() {
    for (ail, target) in [(0, 0xC00), (2, 0x1_8C00), (3, 0xC000_0000_0000_4C00)] {
        let image = image(true, |a| {
            a.mfspr(R4, spr::LPCR);
            a.load(R5, ail << 23);
            a.or(R4, R4, R5);
            a.mtspr(spr::LPCR, R4);
            let there = a.label();
            go(a, there, 0, msr::IR | msr::DR);
            a.sc();
        });
        let mut machine = Machine::new(&Config::default(), &image, |_| Recorder::default()).expect("a machine");
        for _ in 0..100 {
            machine.run(Limits::steps(1));
            if !vectors(&machine).is_empty() {
                break;
            }
        }
        let notice = machine.observer(0).expect("a CPU").notices[0];
        assert_eq!(notice.target, target, "AIL={ail}");
        assert_eq!(machine.cpu(0).expect("a CPU").msr() & (msr::IR | msr::DR) != 0, ail != 0);
    }
}

#[test]
fn a_move_to_msr_keeps_what_it_may_not_change() {
    let machine = run(|a| {
        a.load(R4, 0);
        a.mtmsrd(R4, false);
        a.mfmsr(R3);
        a.load(R4, u64::MAX);
        a.mtmsrd(R4, true);
        a.mfmsr(R5);
    });
    // HV, ME and LE stay; then EE and RI come, and nothing else.
    let kept = msr::HV | msr::ME | msr::LE;
    assert_eq!(gpr(&machine, 3), kept);
    assert_eq!(gpr(&machine, 5), kept | msr::EE | msr::RI);
}

#[test]
fn a_return_cannot_make_a_hypervisor_of_a_guest() {
    let machine = run(|a| {
        let (guest, again) = (a.label(), a.label());
        go(a, guest, msr::HV, 0);
        go(a, again, 0, msr::HV);
        a.mfmsr(R3);
    });
    assert!(vectors(&machine).is_empty());
    assert_eq!(gpr(&machine, 3) & msr::HV, 0);
}

#[test]
fn hrfid_is_the_hypervisors() {
    let hrfid = |evirt: bool| {
        run(|a| {
            if evirt {
                a.load(R4, lpcr::ILE | lpcr::EVIRT);
                a.mtspr(spr::LPCR, R4);
            }
            let guest = a.label();
            go(a, guest, msr::HV, 0);
            a.hrfid();
        })
    };
    assert_eq!(vectors(&hrfid(false)), [0x700]);
    assert_eq!(vectors(&hrfid(true)), [0xE40]);
}
