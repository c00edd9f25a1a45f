//! `latency`: weighted cycles over requests are the mean time that data takes.

use iced_x86::code_asm::*;

use super::lines::{ANY_RESPONSE, BATCH, BY_FIRST, BY_SECOND, DEMAND_DATA_RD, DEMAND_RFO, OFFCORE_RESP, OUTSTANDING, flush, load, store};
use super::{COUNTER, EN, GLOBAL_CONTROL, OS, SELECT};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

/// Cycles that the companion's profile gives MCDRAM and, where it has to be asked first, DDR, whose page may have to be opened.
const MCDRAM: u64 = 216;
const DDR: (u64, u64) = (216 + 182, 216 + 182 + 20 + 20);

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    // Both counters are enabled all the time, so that caches are followed; the global register starts and stops them.
    k.wrmsr(GLOBAL_CONTROL, 3)?;
    k.wrmsr(SELECT, BY_FIRST | OS | EN)?;
    k.wrmsr(SELECT + 1, BY_SECOND | OS | EN)?;
    // The translation of the lines becomes known.
    load(&mut k, 9)?;

    measure(&mut k, DEMAND_DATA_RD, |k| load(k, 0))?;
    shows(&mut k, "reads from DDR", DDR, BATCH)?;
    flush(&mut k, 0)?;
    measure(&mut k, DEMAND_DATA_RD, |k| load(k, 0))?;
    shows(&mut k, "reads from MCDRAM", (MCDRAM, MCDRAM), BATCH)?;
    measure(&mut k, DEMAND_DATA_RD, |k| load(k, 0))?;
    shows(&mut k, "reads that the first level has", (0, 0), 0)?;

    measure(&mut k, DEMAND_RFO, |k| store(k, 1))?;
    shows(&mut k, "writes from DDR", DDR, BATCH)?;
    flush(&mut k, 1)?;
    measure(&mut k, DEMAND_RFO, |k| store(k, 1))?;
    shows(&mut k, "writes from MCDRAM", (MCDRAM, MCDRAM), BATCH)?;
    // No request of another type is outstanding.
    measure(&mut k, DEMAND_RFO, |k| load(k, 2))?;
    shows(&mut k, "writes, while there are reads", (0, 0), 0)?;
    k.a.ret()?;
    k.finish()
}

/// Counts weighted cycles with counter 0 and requests with counter 1, around `body`.
fn measure(k: &mut Kernel, kind: u64, body: impl FnOnce(&mut Kernel) -> Built<()>) -> Built<()> {
    k.wrmsr(OFFCORE_RESP, kind | OUTSTANDING)?;
    k.wrmsr(OFFCORE_RESP + 1, kind | ANY_RESPONSE)?;
    k.wrmsr(COUNTER, 0)?;
    k.wrmsr(COUNTER + 1, 0)?;
    body(k)?;
    k.rdmsr(COUNTER)?;
    k.a.mov(r12, rax)?;
    k.rdmsr(COUNTER + 1)?;
    k.a.mov(r13, rax)
}

/// How many requests there were, and how long each took.
fn shows(k: &mut Kernel, what: &str, (least, most): (u64, u64), requests: u64) -> Built<()> {
    k.check_is(&format!("{what}: requests"), r13, requests)?;
    k.check(&format!("{what}: weighted cycles"), r12, least * requests, most * requests)
}
