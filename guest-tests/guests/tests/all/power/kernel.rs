//! Guests made with the runtime, on one and on four CPUs, in both byte orders.

use vm_pmu_guests::power::{CAUGHT, FRAME_ADDRESS, Kernel, own};
use vm_pmu_guests::protocol;

use super::support::*;

fn finish(k: Kernel, cpus: usize, little_endian: bool) -> (Machine<Recorder>, Exit) {
    let image = k.finish().expect("assembles");
    let config = Config { cpus, little_endian, ..Config::default() };
    let mut machine = Machine::new(&config, &image, |_| Recorder::default()).expect("a machine");
    let exit = machine.run(Limits::steps(1_000_000));
    (machine, exit)
}

fn checks(machine: &Machine<Recorder>) -> Vec<protocol::Check> {
    protocol::read(|address, bytes| machine.memory().read_bytes(address, bytes).is_ok()).0
}

const PASSED: Exit = Exit::Status { cpu: 0, status: 0 };

/// The sum of 1 to 100, a function, and a line on the console.
fn arithmetic(little_endian: bool) -> Kernel {
    let mut k = Kernel::new(little_endian);
    let square = k.a.label();
    k.main();
    k.a.load(R4, 100);
    k.a.mtctr(R4);
    k.a.load(R14, 0);
    let again = k.a.mark();
    k.a.mfctr(R5);
    k.a.add(R14, R14, R5);
    k.a.bdnz(again);
    k.check_is("the sum of 1 to 100", R14, 5050);
    k.a.load(R3, 12);
    k.a.bl(square);
    k.check_is("the square of 12", R3, 144);
    k.print("done");
    k.end_main();
    k.a.here(square);
    k.a.mulld(R3, R3, R3);
    k.a.blr();
    k
}

#[test]
fn a_guest_computes_checks_and_prints_in_both_byte_orders() {
    for little_endian in [true, false] {
        let (machine, exit) = finish(arithmetic(little_endian), 1, little_endian);
        assert_eq!(exit, PASSED);
        let checks = checks(&machine);
        assert_eq!(checks.len(), 2);
        assert!(checks.iter().all(|check| check.passed()));
        assert_eq!(checks[0].name, "the sum of 1 to 100");
        assert_eq!(machine.console(), b"done\n");
    }
}

#[test]
fn a_failed_check_is_the_status() {
    let mut k = Kernel::new(true);
    k.main();
    k.a.load(R14, 6);
    k.check("between 7 and 9", R14, 7, 9);
    k.end_main();
    let (machine, exit) = finish(k, 1, true);
    assert_eq!(exit, Exit::Status { cpu: 0, status: 1 });
    assert!(!checks(&machine)[0].passed());
}

/// A trap and a system call, each with a handler, and faults that are expected.
fn interrupts(little_endian: bool) -> Kernel {
    let mut k = Kernel::new(little_endian);
    let user = k.a.label();
    k.main();
    k.a.load(R14, 0);
    k.a.load(R3, 3);
    k.a.trap();
    k.check_is("registers survive the handler", R3, 3);
    k.check_is("the handler ran", R14, 1);
    k.expect_faults();
    k.a.word(0);
    k.a.load(R4, 1 << 50);
    k.a.ld(R5, 0, R4);
    k.check_faults("two faults", 2, 0x300);
    k.enter_user(user, 0);
    k.check_is("problem state computed", R15, 21);
    k.resume_user();
    k.check_is("and went on", R15, 22);
    k.end_main();
    k.a.here(user);
    k.a.load(R15, 21);
    k.a.sc();
    k.a.addi(R15, R15, 1);
    k.a.sc();
    k.handler(0x700);
    k.a.addi(R14, R14, 1);
    k.a.load(R3, 77);
    k.a.ld(R4, FRAME_ADDRESS, R1);
    k.a.addi(R4, R4, 4);
    k.a.std(R4, FRAME_ADDRESS, R1);
    k.end_handler();
    k
}

#[test]
fn interrupts_go_to_handlers_and_back_in_both_byte_orders() {
    for little_endian in [true, false] {
        let (machine, exit) = finish(interrupts(little_endian), 1, little_endian);
        let failed: Vec<_> = checks(&machine).into_iter().filter(|check| !check.passed()).collect();
        assert_eq!((exit, failed), (PASSED, Vec::new()));
    }
}

#[test]
fn an_unexpected_interrupt_ends_the_guest_and_says_where() {
    let mut k = Kernel::new(true);
    k.main();
    let place = k.a.address();
    k.a.word(0);
    k.end_main();
    let (machine, exit) = finish(k, 1, true);
    assert_eq!(exit, Exit::Status { cpu: 0, status: 1 });
    let checks = checks(&machine);
    assert_eq!((checks[0].seen, checks[1].seen), (0xE40, place));
}

/// Every CPU adds its number plus one to a sum 50 times under a lock, and all meet at barriers.
fn four() -> Kernel {
    let mut k = Kernel::new(true);
    let (lock, sum, first, second) = (k.reserve(8), k.reserve(8), k.reserve(8), k.reserve(8));
    k.main();
    k.barrier(first, 4);
    k.a.load(R14, 50);
    k.a.load(R15, lock);
    k.a.load(R16, sum);
    k.a.ld(R17, 0, R13);
    k.a.addi(R17, R17, 1);
    let again = k.a.mark();
    let take = k.a.mark();
    k.a.lwarx(R4, R0, R15);
    k.a.cmpdi(CR0, R4, 0);
    k.a.bne(take);
    k.a.load(R5, 1);
    k.a.stwcx_dot(R5, R0, R15);
    k.a.bne(take);
    k.a.isync();
    k.a.ld(R6, 0, R16);
    k.a.add(R6, R6, R17);
    k.a.std(R6, 0, R16);
    k.a.lwsync();
    k.a.load(R5, 0);
    k.a.stw(R5, 0, R15);
    k.a.addic_dot(R14, R14, -1);
    k.a.bne(again);
    k.barrier(second, 4);
    k.a.ld(R4, 0, R16);
    k.check_is("the sum of all", R4, 500);
    k.a.std(R4, own(0), R13);
    k.end_main();
    k
}

#[test]
fn four_cpus_share_a_lock_and_end_alike_every_time() {
    let run = || {
        let (machine, exit) = finish(four(), 4, true);
        assert_eq!(exit, PASSED);
        (0..4).map(|cpu| machine.observer(cpu).expect("a CPU").steps.clone()).collect::<Vec<_>>()
    };
    let steps = run();
    assert!(steps.iter().all(|steps| steps.len() > 50 * 10));
    assert_eq!(steps, run());
}

#[test]
fn the_last_fault_is_kept_in_the_cpus_own_area() {
    let mut k = Kernel::new(true);
    k.main();
    k.expect_faults();
    k.a.mtspr(0, R3);
    k.a.ld(R4, CAUGHT, R13);
    k.check_is("the vector", R4, 0xE40);
    k.end_main();
    let (_, exit) = finish(k, 1, true);
    assert_eq!(exit, PASSED);
}

#[test]
fn machines_of_no_or_too_many_cpus_are_refused() {
    for cpus in [0, 9] {
        let config = Config { cpus, ..Config::default() };
        let made = Machine::new(&config, &Image::raw(CODE, [0]), |_| Unobserved);
        assert!(matches!(made, Err(MachineError::Cpus { cpus: asked }) if asked == cpus));
    }
}

#[test]
fn images_come_from_elf_files_of_either_byte_order() {
    for little_endian in [true, false] {
        let mut a = Assembler::new(0x2000, little_endian);
        a.load(R3, EXIT);
        a.stb(R1, 0, R3);
        let code = a.finish().expect("assembles");
        let half = |value: u16| if little_endian { value.to_le_bytes() } else { value.to_be_bytes() };
        let word = |value: u32| if little_endian { value.to_le_bytes() } else { value.to_be_bytes() };
        let double = |value: u64| if little_endian { value.to_le_bytes() } else { value.to_be_bytes() };
        let mut file = vec![0x7F, b'E', b'L', b'F', 2, if little_endian { 1 } else { 2 }, 1];
        file.resize(16, 0);
        // An executable of machine 21; entry; where the program headers are.
        file.extend([half(2), half(21)].concat());
        file.extend(word(1));
        file.extend([double(0x2000), double(64), double(0)].concat());
        file.extend(word(2));
        file.extend([half(64), half(56), half(1), half(0), half(0), half(0)].concat());
        // PT_LOAD, readable and executable: offset, addresses, sizes, alignment.
        file.extend([word(1), word(5)].concat());
        let size = code.len() as u64;
        file.extend([double(120), double(0x2000), double(0x2000), double(size), double(size), double(4)].concat());
        file.extend(&code);
        let (image, order) = Image::power_elf(&file).expect("an executable");
        assert_eq!((order, image.entry), (little_endian, 0x2000));
        let config = Config { little_endian, ..Config::default() };
        let mut machine = Machine::new(&config, &image, |_| Unobserved).expect("a machine");
        assert!(matches!(machine.run(Limits::steps(20)), Exit::Status { .. }));
        file[18..20].copy_from_slice(&half(62));
        assert_eq!(Image::power_elf(&file), Err(ImageError::WrongMachine { machine: 62, right: 21 }));
    }
    assert_eq!(Image::power_elf(b"\x7fELF\x01\x01\x01"), Err(ImageError::WrongClass));
    assert_eq!(Image::power_elf(b"none"), Err(ImageError::NotElf));
}
