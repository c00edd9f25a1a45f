//! A PMU of POWER9 attached to Unicorn: blocks at one go, and overflows inside them.

use vm_pmu::Part;
use vm_pmu::arch::power9::{Mmcr0, spr as pmu};
use vm_pmu::topology::Builder;
use vm_pmu_board::Lines;
use vm_pmu_board::power::{Cpu, pace};

#[path = "../../../engines/tests/unicorn_power/support.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of the engine use all of it")]
mod support;

use support::*;

/// MMCR1: PM_INST_CMPL on PMC1 to PMC4.
const INSTRUCTIONS: u64 = 0x0202_0202;
/// How many instructions without a branch the program has.
const LENGTH: u64 = 50;

/// The program: PMC1 overflows after `period` instructions, of which the `mtspr` that starts it is the first. GPR 20 gets the address that
/// the interrupt interrupted, GPR 21 PMC2. Returns the address of the instruction after the `mtspr` too.
fn program(period: u64) -> (Image, u64) {
    let mut go = Mmcr0::default();
    go.set_pmae(true);
    go.set_fcece(true);
    go.set_pmc1ce(true);
    let mut first = 0;
    let mut image = image(true, |a| {
        a.load(R3, INSTRUCTIONS);
        a.mtspr(pmu::MMCR1, R3);
        a.load(R3, 0x8000_0000 - period);
        a.mtspr(pmu::PMC1, R3);
        a.load(R3, 0);
        a.mtspr(pmu::PMC1 + 1, R3);
        a.mfmsr(R4);
        a.ori(R4, R4, msr::EE as u32);
        a.mtmsrd(R4, false);
        a.load(R3, go.bits());
        a.mtspr(pmu::MMCR0, R3);
        first = a.address();
        for _ in 0..LENGTH {
            a.addi(R5, R5, 1);
        }
        end(a);
    });
    let mut a = Assembler::new(0xF00, true);
    a.mfspr(R20, spr::SRR0);
    a.mfspr(R21, pmu::PMC1 + 1);
    end(&mut a);
    image = image.with(0xF00, a.finish().expect("assembles"));
    (image, first)
}

/// Runs `image` with a PMU on Unicorn; returns GPR 20, GPR 21 and how much each executed.
fn run(image: &Image) -> ([u64; 2], Shares) {
    let part = Part::named("power9").expect("a part");
    let lines = Lines::new(1);
    let pmus = Builder::of(part).pace(pace()).build(lines).unwrap();
    let config = Config { ram: RAM, ..Config::default() };
    let attach = |index| Cpu::new(pmus.thread(index).expect("a thread"), config.time_base);
    let mut machine = Machine::new(&config, image, attach).expect("a machine");
    let mut emulation = Emulation::new(&machine).expect("a Unicorn");
    let exit = emulation.run(&mut machine, Limits::steps(10_000)).expect("Unicorn goes on");
    assert!(matches!(exit, Exit::Status { .. }), "{exit}");
    let cpu = machine.cpu(0).expect("a CPU");
    ([20, 21].map(|number| cpu.gpr(number)), emulation.shares())
}

#[test]
fn an_overflow_inside_a_block_interrupts_behind_the_very_instruction() {
    for period in 2..=LENGTH {
        let (image, first) = program(period);
        let ([interrupted, count], _) = run(&image);
        assert_eq!((interrupted, count), (first + 4 * (period - 1), period), "a period of {period}");
    }
}

#[test]
fn a_block_that_no_deadline_lies_in_runs_at_one_go() {
    let (image, _) = program(LENGTH * 10);
    let ([interrupted, _], shares) = run(&image);
    assert_eq!(interrupted, 0, "no interrupt");
    assert!(shares.in_blocks >= LENGTH, "{shares:?}");
}

#[test]
fn instructions_of_a_block_that_a_deadline_lies_in_run_one_by_one() {
    let (image, _) = program(LENGTH);
    let (_, shares) = run(&image);
    let (far, _) = program(LENGTH * 10);
    let (_, without) = run(&far);
    assert!(shares.alone > without.alone, "{shares:?}, {without:?}");
}
