//! `tor-occupancy`: how long requests stay in the tables of the CHAs, on average: TOR_OCCUPANCY by TOR_INSERTS.

use iced_x86::code_asm::*;

use super::boxes::CHA;
use super::traffic::{Access, FAR, REGION, Traffic};
use super::{EN, INIT, RESET_COUNTERS};
use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::Image;

/// Lines that are loaded, each in its own page.
const LINES: u64 = 64;
const SCRATCH: u64 = REGION + (1 << 20);
/// Clocks that a line takes from MCDRAM, and more if it comes from DDR: a page that is open, opened, or opened for another.
const NEAR: u64 = 216;
const BEYOND: (u64, u64) = (182, 182 + 40);
/// Reads of data, as the manual and Linux would have them.
const FILTER1: u32 = 0x23 | 0x182 << 9;
/// Occupancy and inserts of the table: from the tiles, missed. Inserts and occupancy of the queue before it.
const IN_TABLE: u32 = 0x2136;
const INTO_TABLE: u32 = 0x2135;
const INTO_QUEUE: u32 = 0x0113;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    k.main()?;
    traffic.fill_chas(&mut k, CHA, INIT)?;
    traffic.fill_chas(&mut k, CHA + 6, FILTER1)?;
    for (n, event) in [(1, IN_TABLE), (2, INTO_TABLE), (3, INTO_QUEUE), (4, IN_TABLE)] {
        traffic.fill_chas(&mut k, CHA + n, event | EN)?;
    }
    traffic.warm(&mut k, SCRATCH, LINES, FAR)?;

    traffic.fill_chas(&mut k, CHA, RESET_COUNTERS)?;
    traffic.measure(&mut k, Access::Load, REGION, LINES, FAR)?;
    mean(&mut k, &traffic)?;
    k.check("loads from DDR: mean clocks in the table", rax, NEAR + BEYOND.0, NEAR + BEYOND.1)?;
    traffic.touch(&mut k, Access::Flush, REGION, LINES, FAR)?;

    traffic.fill_chas(&mut k, CHA, RESET_COUNTERS)?;
    traffic.measure(&mut k, Access::Load, REGION, LINES, FAR)?;
    traffic.sum_chas(&mut k, CHA + 9)?;
    k.check_is("loads from MCDRAM: requests into the tables", rax, LINES)?;
    traffic.sum_chas(&mut k, CHA + 8)?;
    k.check_is("loads from MCDRAM: clocks in the tables", rax, LINES * NEAR)?;
    mean(&mut k, &traffic)?;
    k.check_is("loads from MCDRAM: mean clocks in the table", rax, NEAR)?;
    traffic.sum_chas(&mut k, CHA + 10)?;
    k.check_is("loads from MCDRAM: requests into the queues", rax, LINES)?;
    traffic.sum_chas(&mut k, CHA + 11)?;
    k.check_is("the tables' occupancy is counter 0's alone", rax, 0)?;

    traffic.fill_chas(&mut k, CHA, RESET_COUNTERS)?;
    traffic.measure(&mut k, Access::Load, REGION, LINES, FAR)?;
    traffic.sum_chas(&mut k, CHA + 9)?;
    k.check_is("loads of what the tile has: requests into the tables", rax, 0)?;
    traffic.sum_chas(&mut k, CHA + 8)?;
    k.check_is("loads of what the tile has: clocks in the tables", rax, 0)?;
    k.a.ret()?;
    k.finish()
}

/// The mean, into RAX.
fn mean(k: &mut Kernel, traffic: &Traffic) -> Built<()> {
    traffic.sum_chas(k, CHA + 9)?;
    k.a.mov(rbx, rax)?;
    traffic.sum_chas(k, CHA + 8)?;
    k.a.xor(edx, edx)?;
    k.a.div(rbx)
}
