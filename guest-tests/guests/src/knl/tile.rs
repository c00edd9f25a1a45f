//! `tile`: OFFCORE_RESP counts the requests of the whole tile, whichever thread counts them, and of no other tile.

use iced_x86::code_asm::*;

use super::helpers::{Helper, part};
use super::lines::{BATCH, DDR, DEMAND_DATA_RD, MCDRAM, begin, load, start, stop};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Reads that memory of either kind supplies: what CPUs exchange comes from a tile.
const CHOSEN: u64 = DEMAND_DATA_RD | DDR | MCDRAM;

/// The helpers: another thread of CPU 0's core, the other core's first, and another tile's first; with what each sees, CPU 0 and the first
/// two being one tile.
const HELPERS: [(i32, u64, &str); 3] =
    [(1, 3 * BATCH, "another thread of the core"), (4, 3 * BATCH, "the other core"), (8, BATCH, "another tile")];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let helpers = HELPERS.map(|(cpu, ..)| (Helper::new(&mut k, cpu), k.a.create_label()));

    k.main()?;
    k.a.mov(rbp, rdi)?;
    part(&mut k, &helpers)?;
    begin(&mut k)?;
    // First they exchange numbers, so that the lines for this are in the caches; then all count; then one after the other loads; then all
    // stop. The checks read memory too, so they come last.
    for number in 1..=2 {
        helpers.iter().try_for_each(|(helper, _)| helper.ask(&mut k, number))?;
    }
    start(&mut k, CHOSEN)?;
    load(&mut k, 0)?;
    helpers.iter().try_for_each(|(helper, _)| helper.ask(&mut k, 3))?;
    stop(&mut k)?;
    k.a.mov(r12, rax)?;
    helpers.iter().try_for_each(|(helper, _)| helper.ask(&mut k, 4))?;
    k.check_is("reads of memory seen by CPU 0: of its tile's three CPUs", r12, 3 * BATCH)?;
    helpers.iter().try_for_each(|(helper, _)| helper.ask(&mut k, 5))?;
    k.a.ret()?;

    for (batch, ((helper, mut label), (_, right, name))) in (1..).zip(helpers.into_iter().zip(HELPERS)) {
        k.routine(&format!("helper_{batch}"));
        here(&mut k.a, &mut label)?;
        begin(&mut k)?;
        helper.answer(&mut k, 1, |_| Ok(()))?;
        helper.answer(&mut k, 2, |k| start(k, CHOSEN))?;
        helper.answer(&mut k, 3, |k| load(k, batch))?;
        helper.answer(&mut k, 4, |k| {
            stop(k)?;
            k.a.mov(r12, rax)
        })?;
        helper.answer(&mut k, 5, |k| k.check_is(&format!("reads of memory seen by {name}"), r12, right))?;
        k.a.ret()?;
    }
    k.finish()
}
