//! `global-control`: IA32_PERF_GLOBAL_CTRL starts and stops counters together.

use iced_x86::code_asm::*;

use super::{ALL, CLOCKS, COUNTER, FIXED, FIXED_CONTROL, FIXED_OS, GLOBAL_CONTROL, INSTRUCTIONS, OS, PART};
use crate::runtime::{Built, EXPECT, FAULTS, Kernel, cell};
use vm_pmu_engines::x86::Image;

/// The five counters: their bits, and their MSRs.
const COUNTERS: [(u32, u32); 5] = [(0, COUNTER), (1, COUNTER + 1), (32, FIXED), (33, FIXED + 1), (34, FIXED + 2)];

const NOPS: u64 = 20;
/// What a started counter counts: WRMSR, the NOPs and three MOVs.
const COUNTED: u64 = 1 + NOPS + 3;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    at_power_on(&mut k)?;
    PART.enable(&mut k, 0, INSTRUCTIONS | OS)?;
    PART.enable(&mut k, 1, CLOCKS | OS)?;
    k.wrmsr(FIXED_CONTROL, FIXED_OS * 0x111)?;
    for (bit, _) in COUNTERS {
        started(&mut k, &format!("bit {bit} alone"), 1 << bit)?;
    }
    started(&mut k, "all at once", ALL)?;
    started(&mut k, "all but the general ones", ALL & !3)?;
    started(&mut k, "the general ones", 3)?;
    started(&mut k, "none", 0)?;
    PART.disable(&mut k, 0, INSTRUCTIONS | OS)?;
    PART.disable(&mut k, 1, CLOCKS | OS)?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    clear(&mut k)?;
    run(&mut k, ALL)?;
    for (bit, msr) in COUNTERS {
        k.rdmsr(msr)?;
        k.check_is(&format!("bit {bit} set, its counter not enabled itself"), rax, 0)?;
    }
    refused(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// At power-on the general counters are enabled, and no fixed one.
fn at_power_on(k: &mut Kernel) -> Built<()> {
    k.wrmsr(FIXED_CONTROL, FIXED_OS * 0x111)?;
    PART.enable(k, 0, INSTRUCTIONS | OS)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    PART.disable(k, 0, INSTRUCTIONS | OS)?;
    for (bit, msr) in COUNTERS {
        k.rdmsr(msr)?;
        k.check_is(&format!("the counter of bit {bit} as power-on left the register"), rax, if bit == 0 { COUNTED } else { 0 })?;
    }
    Ok(())
}

fn clear(k: &mut Kernel) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, 0)?;
    COUNTERS.iter().try_for_each(|(_, msr)| k.wrmsr(*msr, 0))
}

fn run(k: &mut Kernel, control: u64) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, control)?;
    for _ in 0..NOPS {
        k.a.nop()?;
    }
    k.wrmsr(GLOBAL_CONTROL, 0)
}

/// Those of `control` count the same, the others nothing; started again, they continue.
fn started(k: &mut Kernel, what: &str, control: u64) -> Built<()> {
    clear(k)?;
    for round in 1..=2 {
        run(k, control)?;
        for (bit, msr) in COUNTERS {
            k.rdmsr(msr)?;
            let right = if control >> bit & 1 == 1 { round * COUNTED } else { 0 };
            k.check_is(&format!("{what}, round {round}: the counter of bit {bit}"), rax, right)?;
        }
    }
    Ok(())
}

/// A bit without a counter faults and changes nothing.
fn refused(k: &mut Kernel) -> Built<()> {
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    k.a.mov(cell(EXPECT), 1)?;
    for bit in [2, 31, 35, 61, 63] {
        k.wrmsr(GLOBAL_CONTROL, 1 << bit)?;
    }
    k.a.mov(cell(EXPECT), 0)?;
    k.a.mov(r12, cell(FAULTS))?;
    k.check_is("bits without a counter: faults", r12, 5)?;
    k.rdmsr(GLOBAL_CONTROL)?;
    k.check_is("IA32_PERF_GLOBAL_CTRL after writes that fault", rax, ALL)
}
