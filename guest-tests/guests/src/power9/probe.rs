//! `probe`: samples where the program asks for them: at ProbeNops, and at instructions that the match array matches.

use vm_pmu::arch::power9::spr;

use super::FC;
use super::fields::{before, mmcr0, mmcra, pmc, select};
use crate::power::{FRAME_ADDRESS, Kernel, own};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{
    AssembleError, CR0, Label, R1, R3, R4, R13, R14, R15, R16, R20, R21, R22, R23, R24, R25, R26, R27, R28,
};
use vm_pmu_engines::power::registers::vector;

/// Turns of the loop, a ProbeNop in each.
const TURNS: u64 = 32;
/// How many interrupts there were.
const INTERRUPTS: i64 = own(0);

/// PM_SYNC_MRK_PROBE_NOP: marked ProbeNops that completed; its interrupt comes directly after the instruction.
const PROBES: u64 = 0x1_5150;
/// PM_MRK_INST_CMPL.
const MARKED: u64 = 0x4_01E0;

struct Profiled {
    entry: Label,
    probe: Label,
    last: Label,
    marked: Label,
}

fn control(alerts: bool) -> u64 {
    mmcr0(|m| {
        m.set_pmae(true);
        m.set_fcece(true);
        m.set_fch(true);
        m.set_pmc1ce(alerts);
    })
}

/// What random instruction sampling chooses among.
fn eligible(code: u8) -> u64 {
    mmcra(|m| {
        m.set_sample_enable(true);
        m.set_rand_samp_elig(code);
    })
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let values = k.reserve(8 * (TURNS + 1));
    handler(&mut k);
    let program = program(&mut k);
    k.main();
    probes(&mut k, &program, values);
    matches(&mut k, &program);
    k.end_main();
    k.finish()
}

/// Squares in GPR 15 and a ProbeNop after each; then the other ProbeNop.
fn program(k: &mut Kernel) -> Profiled {
    k.a.routine("squares");
    let entry = k.a.mark();
    k.a.load(R14, 0);
    k.a.load(R16, 0);
    let again = k.a.mark();
    k.a.mulld(R15, R14, R14);
    let probe = k.a.mark();
    k.a.probe(false);
    k.a.addi(R14, R14, 1);
    let marked = k.a.mark();
    k.a.addi(R16, R16, 7);
    k.a.cmpldi(CR0, R14, TURNS as u32);
    k.a.blt(again);
    let last = k.a.mark();
    k.a.probe(true);
    k.a.nop();
    k.a.sc();
    Profiled { entry, probe, last, marked }
}

/// GPR 20 where the next value goes, 21 and 22 the addresses of the two ProbeNops, 26 mismatches, 27 the counter's start, 28 MMCR0.
fn handler(k: &mut Kernel) {
    let known = k.a.label();
    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.ld(R3, INTERRUPTS, R13);
    k.a.addi(R3, R3, 1);
    k.a.std(R3, INTERRUPTS, R13);
    // The interrupt comes directly after the instruction.
    k.a.mfspr(R3, spr::SIAR);
    k.a.ld(R4, FRAME_ADDRESS, R1);
    k.a.addi(R4, R4, -4);
    k.a.xor(R4, R4, R3);
    k.a.or(R26, R26, R4);
    k.a.cmpld(CR0, R3, R21);
    k.a.beq(known);
    k.a.xor(R4, R22, R3);
    k.a.or(R26, R26, R4);
    k.a.here(known);
    k.a.mfspr(R4, spr::MMCR0);
    k.a.xor(R4, R4, R25);
    k.a.or(R26, R26, R4);
    // The interrupted program's registers are as they were at the ProbeNop.
    k.a.std(R15, 0, R20);
    k.a.addi(R20, R20, 8);
    k.a.mtspr(pmc(1), R27);
    k.a.mtspr(spr::MMCR0, R28);
    k.end_handler();
}

fn probes(k: &mut Kernel, program: &Profiled, values: u64) {
    k.write(spr::MMCR1, select(&[PROBES]));
    k.a.load(R20, values);
    k.a.load_address(R21, program.probe);
    k.a.load_address(R22, program.last);
    // FCECE has set FC; the alert has turned PMAE to 0, PMAO and, being synchronous, PMAOQ to 1.
    let alerted = mmcr0(|m| {
        m.set_fc(true);
        m.set_fcece(true);
        m.set_fch(true);
        m.set_pmc1ce(true);
        m.set_pmao(true);
        m.set_pmaoq(true);
    });
    for (register, value) in [(R25, alerted), (R26, 0), (R27, before(1)), (R28, control(true))] {
        k.a.load(register, value);
    }
    k.a.mtspr(pmc(1), R27);
    k.a.mtspr(spr::MMCR0, R28);
    k.write(spr::MMCRA, eligible(2));
    k.enter_user(program.entry, 0);
    k.write(spr::MMCR0, FC);
    k.write(spr::MMCRA, 0);
    k.a.ld(R14, INTERRUPTS, R13);
    k.check_is("interrupts, one a ProbeNop", R14, TURNS + 1);
    k.check_is("SIAR, the address of return and MMCR0 of each", R26, 0);
    for turn in [0, 1, 5, TURNS - 1] {
        k.a.load(R14, values);
        k.a.ld(R14, 8 * turn as i64, R14);
        k.check_is(&format!("the value at ProbeNop {turn}"), R14, turn * turn);
    }
    k.a.load(R14, values);
    k.a.ld(R14, 8 * TURNS as i64, R14);
    k.check_is("the value at the last ProbeNop", R14, (TURNS - 1) * (TURNS - 1));
    // Without an alert every ProbeNop counts all the same.
    k.write(pmc(1), 0);
    k.write(spr::MMCR0, control(false));
    k.write(spr::MMCRA, eligible(2));
    k.enter_user(program.entry, 0);
    k.write(spr::MMCR0, FC);
    k.a.mfspr(R14, pmc(1));
    k.check_is("ProbeNops counted", R14, TURNS + 1);
}

/// The match array compares all bits, or the primary opcode alone.
fn matches(k: &mut Kernel, program: &Profiled) {
    const ADDI: u64 = 14 << 26;
    // Each addi: two that load the constants, two a turn.
    let every = 2 + 2 * TURNS;
    let one = ADDI | 16 << 21 | 16 << 16 | 7;
    k.write(spr::MMCR1, select(&[MARKED]));
    for (name, mask, value, count) in
        [("one instruction", 0xFFFF_FFFF, one, TURNS), ("an opcode", 0x3F << 26, ADDI, every), ("none", 0xFFFF_FFFF, one + 1, 0)]
    {
        k.a.load(R3, mask << 32 | value);
        k.a.mtimc(0, R3);
        k.write(pmc(4), 0);
        k.write(spr::SIAR, 0);
        k.write(spr::MMCR0, control(false));
        k.write(spr::MMCRA, eligible(4));
        k.enter_user(program.entry, 0);
        k.write(spr::MMCR0, FC);
        k.write(spr::MMCRA, 0);
        k.a.mfspr(R23, spr::SIAR);
        k.a.mfspr(R14, pmc(4));
        k.check_is(&format!("samples of {name} in the match array"), R14, count);
        if value == one {
            k.a.load_address(R24, program.marked);
            k.check_same("SIAR of the last", R23, R24);
        }
    }
    k.a.load(R3, 0);
    k.a.mtimc(0, R3);
}
