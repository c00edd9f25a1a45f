//! Unicorn and the machine: which of them executes what, and what each must know of the other.

use crate::support::*;

/// Runs a program on both engines, at one go where it can be, and compares the final states.
fn both(little_endian: bool, cpus: usize, build: impl Fn(&mut Assembler)) -> (Machine<Recorder>, Seen, Shares) {
    let image = image(little_endian, |a| build(a));
    let (_, right) = interpreted(&image, little_endian, cpus, 100_000);
    let (machine, seen, shares) = emulated(&image, little_endian, cpus, 100_000, true);
    assert_eq!(seen, right);
    (machine, seen, shares)
}

#[test]
fn long_blocks_run_at_one_go() {
    let (machine, seen, shares) = both(true, 1, |a| {
        a.load(R4, 1000);
        a.mtctr(R4);
        a.load(R3, 0);
        let again = a.mark();
        for _ in 0..20 {
            a.addi(R3, R3, 1);
        }
        a.bdnz(again);
        end(a);
    });
    assert_eq!(seen.gpr[3], 20_000);
    assert!(shares.in_blocks > 21_000 && shares.alone + shares.machine < 20, "{shares:?}");
    // What is before the loop makes one block with its first turn.
    assert_eq!(machine.observer(0).expect("a CPU").blocks.iter().filter(|length| **length == 21).count(), 999);
    assert_eq!(machine.observer(0).expect("a CPU").steps.len() as u64, shares.in_blocks + shares.alone + shares.machine);
}

#[test]
fn a_store_to_a_device_in_the_middle_of_a_block_reaches_it_once() {
    let (machine, ..) = both(false, 1, |a| {
        a.load(R4, CONSOLE);
        a.load(R5, u64::from(b'A'));
        a.stb(R5, 0, R4);
        a.addi(R5, R5, 1);
        a.stb(R5, 0, R4);
        end(a);
    });
    assert_eq!(machine.console(), b"AB");
}

#[test]
fn an_access_outside_memory_interrupts_behind_all_before_it() {
    let (machine, seen, _) = both(true, 1, |a| {
        a.load(R3, 1);
        a.load(R4, 1 << 40);
        a.addi(R3, R3, 1);
        a.ldu(R5, 8, R4);
        a.addi(R3, R3, 1);
        a.std(R3, 0, R4);
        end(a);
    });
    // The address was not updated by the load that did not happen.
    assert_eq!((seen.gpr[3], seen.gpr[4]), (3, 1 << 40));
    assert_eq!(machine.observer(0).expect("a CPU").notices.len(), 2);
}

#[test]
fn the_page_of_unicorns_own_is_no_memory_of_the_guest() {
    let (machine, ..) = both(true, 1, |a| {
        // XER moves once, so that the page has been executed.
        a.load(R3, 5);
        a.addic(R3, R3, -1);
        a.mfmsr(R5);
        a.load(R4, 0xFFFF_F000);
        a.ld(R3, 0, R4);
        end(a);
    });
    assert_eq!(machine.observer(0).expect("a CPU").notices.len(), 1);
}

#[test]
fn code_that_was_written_over_runs_as_it_stands() {
    for little_endian in [true, false] {
        let (_, seen, _) = both(little_endian, 1, |a| {
            let function = a.label();
            let start = a.label();
            a.b(start);
            a.here(function);
            a.addi(R3, R3, 1);
            a.blr();
            a.here(start);
            a.load(R3, 0);
            a.bl(function);
            a.load_address(R4, function);
            // addi 3,3,100
            a.load(R5, 0x3863_0064);
            a.stw(R5, 0, R4);
            a.dcbst(R0, R4);
            a.sync();
            a.icbi(R0, R4);
            a.isync();
            a.bl(function);
            end(a);
        });
        assert_eq!(seen.gpr[3], 101);
    }
}

#[test]
fn xer_goes_between_unicorn_and_the_machine() {
    let (_, seen, _) = both(false, 1, |a| {
        a.load(R3, u64::MAX);
        a.addic(R4, R3, 1);
        // The machine's: the carry must have come with it.
        a.mfmsr(R6);
        a.addze(R5, R4);
        a.load(R7, 0);
        a.mtspr(spr::XER, R7);
        a.addze(R8, R4);
        end(a);
    });
    assert_eq!([seen.gpr[5], seen.gpr[8]], [1, 0]);
}

#[test]
fn a_store_of_another_cpu_ends_a_reservation() {
    for little_endian in [true, false] {
        let (machine, ..) = both(little_endian, 2, |a| {
            let (other, wait) = (a.label(), a.label());
            a.load(R10, DATA);
            a.cmpdi(CR0, R3, 0);
            a.bne(other);
            a.ldarx(R4, R0, R10);
            a.load(R5, 1);
            // Reports that it holds the reservation, and waits until the other one has stored to the block.
            a.std(R5, 0x200, R10);
            a.here(wait);
            a.ld(R6, 0x300, R10);
            a.cmpdi(CR0, R6, 0);
            a.beq(wait);
            a.stdcx_dot(R5, R0, R10);
            a.mfcr(R14);
            end(a);
            a.here(other);
            a.ld(R6, 0x200, R10);
            a.cmpdi(CR0, R6, 0);
            a.beq(other);
            a.load(R5, 7);
            a.std(R5, 8, R10);
            a.std(R5, 0x300, R10);
            let forever = a.mark();
            a.b(forever);
        });
        let failed = machine.cpu(0).expect("a CPU").gpr(14) >> 28 & 2 == 0;
        assert!(failed, "the reservation was kept");
    }
}

#[test]
fn a_limit_is_met_to_the_step() {
    let image = image(true, |a| {
        let again = a.mark();
        for _ in 0..10 {
            a.addi(R3, R3, 1);
        }
        a.b(again);
    });
    for limit in [1, 7, 11, 25, 100] {
        let (_, right) = interpreted(&image, true, 1, limit);
        let (machine, seen, _) = emulated(&image, true, 1, limit, true);
        assert_eq!(machine.observer(0).expect("a CPU").steps.len() as u64, limit);
        assert_eq!(seen, right);
    }
}

#[test]
fn more_ram_than_leaves_a_page_is_refused() {
    let image = image(true, end);
    let config = Config { ram: 1 << 32, ..Config::default() };
    let machine = Machine::new(&config, &image, |_| Recorder::default()).expect("a machine");
    let refusal = Emulation::new(&machine).expect_err("no room");
    assert_eq!(refusal.to_string(), "0x100000000 bytes of RAM: at most 0xfffff000");
}
