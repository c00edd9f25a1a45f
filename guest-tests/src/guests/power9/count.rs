//! `count`: a known number of instructions.

use vm_pmu::arch::power9::spr;

use super::FC;
use crate::engine::image::Image;
use crate::engine::power::assemble::{AssembleError, R3};
use crate::guests::power::Kernel;

/// No-operations counted.
const NOPS: u64 = 100;

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    k.main();
    // PMC1 and PMC2: completed instructions; PMC3 cycles; run latch off.
    k.write(spr::MMCR1, 0x02_02_1E_00);
    k.a.load(R3, 0);
    k.a.mtspr(spr::MMCR0, R3);
    for _ in 0..NOPS {
        k.a.nop();
    }
    k.write(spr::MMCR0, FC);
    for (number, name) in [(spr::PMC1, "PMC1"), (spr::PMC1 + 1, "PMC2"), (spr::PMC1 + 2, "PMC3")] {
        k.a.mfspr(R3, number);
        // The mtspr that lets go, and the lis and ori that make FC; what they are is in `load`.
        k.check(name, R3, NOPS + 1, NOPS + 8);
    }
    k.a.mfspr(R3, spr::PMC1 + 4);
    k.check_is("PMC5 with the run latch off", R3, 0);
    k.end_main();
    k.finish()
}
