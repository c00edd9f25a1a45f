//! `edge-mask`: cycles with interrupts masked, their edges, counter mask and inversion.

use iced_x86::code_asm::*;

use super::{CLOCKS, COUNTER, EDGE, INSTRUCTIONS, INV, OS, PART, cnt_mask};
use crate::runtime::{APIC_ICR, Built, Kernel};
use vm_pmu_engines::x86::Image;

const VECTOR: u8 = 0x62;
/// INTERRUPTS_MASKED_CYCLES, and those with an interrupt pending.
const MASKED: u64 = 0xCD;
const MASKED_PENDING: u64 = 0xCE;
const TAKEN: u64 = 0xCF;

/// What is counted over: WRMSR, CLI | 5 NOPs, STI | 2 NOPs, CLI | 3 NOPs, STI | NOP, three MOVs.
///
/// Every instruction takes a cycle: 2 + 6 + 3 + 4 + 4 = 19. Those that begin with RFLAGS.IF clear are between the bars: 6 and 4. IF
/// becomes clear twice and, inverted, set twice: that it is set at the beginning is no edge.
const OVER_MASKS: &[(&str, u64, u64)] = &[
    ("masked cycles", MASKED, 10),
    ("masked cycles, edges", MASKED | EDGE, 2),
    ("masked cycles, mask 1", MASKED | cnt_mask(1), 10),
    ("masked cycles, mask 1 inverted", MASKED | cnt_mask(1) | INV, 9),
    ("masked cycles, inverted without a mask", MASKED | INV, 10),
    ("masked cycles, mask 2", MASKED | cnt_mask(2), 0),
    ("masked cycles, mask 2 inverted", MASKED | cnt_mask(2) | INV, 19),
    ("masked cycles, mask 1, edges", MASKED | cnt_mask(1) | EDGE, 2),
    ("masked cycles, mask 1 inverted, edges", MASKED | cnt_mask(1) | INV | EDGE, 2),
    ("clocks", CLOCKS, 19),
    ("clocks, mask 1", CLOCKS | cnt_mask(1), 19),
    ("clocks, mask 1 inverted", CLOCKS | cnt_mask(1) | INV, 0),
    ("cycles with an instruction", INSTRUCTIONS | cnt_mask(1), 19),
    ("cycles without", INSTRUCTIONS | cnt_mask(1) | INV, 0),
    ("cycles with two", INSTRUCTIONS | cnt_mask(2), 0),
    ("cycles with fewer than three", INSTRUCTIONS | cnt_mask(3) | INV, 19),
];

/// What is counted over: WRMSR, two MOVs, REP STOSB of 10, two NOPs, three MOVs: 9 instructions in 18 cycles. REP STOSB completes in
/// the last of its ten.
const OVER_A_STRING: &[(&str, u64, u64)] = &[
    ("string: clocks", CLOCKS, 18),
    ("string: instructions", INSTRUCTIONS, 9),
    ("string: cycles with an instruction", INSTRUCTIONS | cnt_mask(1), 9),
    ("string: cycles without", INSTRUCTIONS | cnt_mask(1) | INV, 9),
    ("string: runs of cycles with an instruction", INSTRUCTIONS | EDGE, 2),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let buffer = k.reserve(64);
    k.plain_handler(VECTOR)?;

    k.main()?;
    k.a.sti()?;
    for (n, (name, select, right)) in OVER_MASKS.iter().enumerate() {
        let counter = n as u32 % 4;
        k.wrmsr(COUNTER + counter, 0)?;
        PART.enable(&mut k, counter, select | OS)?;
        k.a.cli()?;
        nops(&mut k, 5)?;
        k.a.sti()?;
        nops(&mut k, 2)?;
        k.a.cli()?;
        nops(&mut k, 3)?;
        k.a.sti()?;
        nops(&mut k, 1)?;
        PART.disable(&mut k, counter, 0)?;
        k.rdmsr(COUNTER + counter)?;
        k.check_is(name, rax, *right)?;
    }
    for (n, (name, select, right)) in OVER_A_STRING.iter().enumerate() {
        let counter = n as u32 % 4;
        k.wrmsr(COUNTER + counter, 0)?;
        PART.enable(&mut k, counter, select | OS)?;
        k.a.mov(edi, buffer as u32)?;
        k.a.mov(ecx, 10)?;
        k.a.rep().stosb()?;
        nops(&mut k, 2)?;
        PART.disable(&mut k, counter, 0)?;
        k.rdmsr(COUNTER + counter)?;
        k.check_is(name, rax, *right)?;
    }
    pending(&mut k)?;
    k.a.ret()?;
    k.finish()
}

fn nops(k: &mut Kernel, n: usize) -> Built<()> {
    for _ in 0..n {
        k.a.nop()?;
    }
    Ok(())
}

/// An interrupt to the CPU itself after CLI waits for 8 NOPs and STI; the NOP after STI begins with IF set.
fn pending(k: &mut Kernel) -> Built<()> {
    k.a.cli()?;
    for (n, select) in [(0, MASKED_PENDING), (1, MASKED_PENDING | EDGE), (2, TAKEN)] {
        k.wrmsr(COUNTER + n, 0)?;
        PART.enable(k, n, select | OS)?;
    }
    // To oneself, fixed.
    k.apic(APIC_ICR, 0x4_0000 | u32::from(VECTOR))?;
    nops(k, 8)?;
    k.a.sti()?;
    nops(k, 3)?;
    k.a.cli()?;
    for n in 0..3 {
        PART.disable(k, n, 0)?;
    }
    k.rdmsr(COUNTER)?;
    k.check_is("masked cycles with an interrupt pending", rax, 9)?;
    k.rdmsr(COUNTER + 1)?;
    k.check_is("masked cycles with an interrupt pending, edges", rax, 1)?;
    k.rdmsr(COUNTER + 2)?;
    k.check_is("interrupts taken", rax, 1)
}
