//! `hostile`: every register of the PMU is given arbitrary values from every state, in any order. Then it counts as if nothing had been
//! written.

use vm_pmu::arch::power9::spr;

use super::FC;
use super::fields::{mmcr0, pmc, select};
use crate::power::{EXPECT, FAULTS, FRAME_STATE, Kernel, own};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, Label, R1, R3, R4, R13, R14, R15, R16, R17, R18};
use vm_pmu_engines::power::registers::{bescr, facility, msr, spr as cpu, vector};

/// How many performance monitor interrupts there were.
const INTERRUPTS: i64 = own(0);
/// Values in addition to the plain ones.
const ARBITRARY: usize = 24;
/// Instructions counted at the end.
const NOPS: u64 = 100;

/// Every number that the PMU has, and those between them.
fn numbers() -> impl Iterator<Item = u16> {
    (768..=799).chain([spr::MMCRC]).chain(spr::BESCRS..=spr::BESCRRU).chain([spr::BESCR])
}

fn values() -> Vec<u64> {
    let plain = [0, u64::MAX, 0xAAAA_AAAA_AAAA_AAAA, 0x5555_5555_5555_5555, 0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, 0x0600_C000];
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    plain.into_iter().chain((0..ARBITRARY).map(|_| next())).collect()
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let values = values();
    let bytes = values.iter().flat_map(|value| if little_endian { value.to_le_bytes() } else { value.to_be_bytes() });
    let table = k.place(&bytes.collect::<Vec<u8>>());
    let end = table + 8 * values.len() as u64;

    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.ld(R3, INTERRUPTS, R13);
    k.a.addi(R3, R3, 1);
    k.a.std(R3, INTERRUPTS, R13);
    // Without this the interrupt would repeat endlessly.
    k.a.load(R3, FC);
    k.a.mtspr(spr::MMCR0, R3);
    k.a.ld(R3, FRAME_STATE, R1);
    k.a.load(R4, msr::SE | msr::BE);
    k.a.andc(R3, R3, R4);
    k.a.std(R3, FRAME_STATE, R1);
    k.end_handler();
    k.a.routine("event_based_branch");
    let branched = k.a.mark();
    k.a.rfebb(false);
    let problem = abuse(&mut k, "abuse_problem", table, end, |k| k.a.sc());
    let supervisor = abuse(&mut k, "abuse_supervisor", table, end, |k| k.a.hypercall());
    let hypervisor = abuse(&mut k, "abuse_hypervisor", table, end, |k| k.a.blr());

    k.main();
    k.a.mfspr(R3, cpu::FSCR);
    k.a.load(R4, facility::EBB);
    k.a.or(R3, R3, R4);
    k.a.mtspr(cpu::FSCR, R3);
    k.a.load_address(R3, branched);
    k.a.mtspr(cpu::EBBHR, R3);
    k.expect_faults();
    // What the states leave is what the others begin with.
    for _ in 0..2 {
        k.a.bl(hypervisor);
        k.enter_user(problem, 0);
        k.enter_supervisor(supervisor);
    }
    // Problem state again, with permission to access what it may, and event-based branches.
    k.write(spr::MMCRC, 0);
    k.write(cpu::BESCR, bescr::GE | bescr::PME);
    k.write(
        spr::MMCR0,
        mmcr0(|m| {
            m.set_pmcc(0b10);
            m.set_ebe(true);
            m.set_bhrba(true);
            m.set_pmcjce(true);
            m.set_pmc1ce(true);
        }),
    );
    k.enter_user(problem, 0);
    k.a.load(R3, 0);
    k.a.std(R3, EXPECT, R13);
    // 14 numbers of problem state are written by no other state and refused at least sometimes.
    k.a.ld(R14, FAULTS, R13);
    k.check("refusals", R14, values.len() as u64, u64::MAX);

    k.write(spr::MMCR0, FC);
    k.write(cpu::BESCR, 0);
    for number in [spr::MMCRC, spr::MMCR1, spr::MMCR2, spr::MMCRA, spr::SIER, spr::SIAR, spr::SDAR].into_iter().chain(spr::PMC1..=spr::PMC6)
    {
        k.write(number, 0);
        k.a.mfspr(R14, number);
        k.check_is(&format!("register {number} reads as written"), R14, 0);
    }
    k.a.load(R3, 0);
    k.a.mtimc(0, R3);
    k.a.clrbhrb();
    k.write(spr::MMCR1, select(&[0x2_0002, 0x3_001E]));
    k.write(cpu::CTRL, 1);
    k.a.load(R4, FC);
    k.a.load(R3, 0);
    k.a.mtspr(spr::MMCR0, R3);
    for _ in 0..NOPS {
        k.a.nop();
    }
    k.a.mtspr(spr::MMCR0, R4);
    // The mtspr that starts the counters, and the nops.
    for (number, right) in [(1, 0), (2, NOPS + 1), (3, NOPS + 1), (4, 0), (5, NOPS + 1), (6, NOPS + 1)] {
        k.a.mfspr(R14, pmc(number));
        k.check_is(&format!("PMC{number}"), R14, right);
    }
    k.end_main();
    k.finish()
}

/// Writes each value to each register, and reads everything.
fn abuse(k: &mut Kernel, name: &str, table: u64, end: u64, leave: impl Fn(&mut Kernel)) -> Label {
    k.a.routine(name);
    let entry = k.a.mark();
    k.a.load(R16, table);
    k.a.load(R17, end);
    let again = k.a.mark();
    k.a.ld(R14, 0, R16);
    for number in numbers() {
        k.a.mtspr(number, R14);
        k.a.mfspr(R15, number);
        // A different value for each register.
        k.a.mulli(R18, R14, 5);
        k.a.rldicl(R14, R18, 7, 0);
    }
    k.a.mtimc(0, R14);
    k.a.mfimc(R15, 0);
    for entry in [0, 31, 1023] {
        k.a.mfbhrbe(R15, entry);
    }
    k.a.clrbhrb();
    k.a.addi(R16, R16, 8);
    k.a.cmpld(vm_pmu_engines::power::assemble::CR0, R16, R17);
    k.a.blt(again);
    leave(k);
    entry
}
