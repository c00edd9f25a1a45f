//! `opcode`: both matchers, and the four channels that they constrain.

use vm_pmu::arch::montecito::Pmc36;

use crate::ia64::facts::{Opcodes, Part, Slots};
use crate::ia64::opcode::{self, ALL, LD8, MEMORY, ST8};
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

/// The event of retired instructions that each channel tags.
pub(super) const CHANNELS: [&str; 4] = [
    "IA64_TAGGED_INST_RETIRED.IBRP0_PMC32_33",
    "IA64_TAGGED_INST_RETIRED.IBRP1_PMC34_35",
    "IA64_TAGGED_INST_RETIRED.IBRP2_PMC32_33",
    "IA64_TAGGED_INST_RETIRED.IBRP3_PMC34_35",
];
/// Turns of the loop.
const TURNS: u64 = 10;
/// Fields that the first Itanium's matchers do not have: the register that is stored, 19:13, and the one with the address, 26:20.
const R2: u64 = 0x7F << 13;
const R3: u64 = 0x7F << 20;

fn memory(value: u64, compared: u64) -> Opcodes {
    Opcodes { slots: Slots::of("m"), value, compared: MEMORY | compared }
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let part = Part::Montecito;
    opcode::build(part, |k| {
        // A turn loads from r4 twice and stores r17 once.
        for (name, first, second, counts) in [
            ("by the register stored", memory(ST8 | 17 << 13, R2), memory(ST8 | 18 << 13, R2), [TURNS, 0]),
            ("by the register with the address", memory(LD8 | 4 << 20, R3), memory(ST8 | 5 << 20, R3), [2 * TURNS, TURNS]),
        ] {
            part.match_opcodes(k, 0, &first);
            part.match_opcodes(k, 1, &second);
            opcode::select(k, part, &CHANNELS);
            opcode::count(k);
            let [first, second] = counts;
            opcode::check(k, name, &[first, second, first, second]);
        }
        let mut pmc36 = Pmc36::default();
        pmc36.set_ch1_ig_opc(true);
        pmc36.set_ch2_ig_opc(true);
        k.write_pmc(36, pmc36.bits() | Pmc36::FIXED);
        opcode::select(k, part, &CHANNELS);
        opcode::count(k);
        opcode::check(k, "channels 1 and 2 take every opcode", &[2 * TURNS, ALL, ALL, TURNS]);
        k.write_pmc(36, Pmc36::FIXED);
    })
}
