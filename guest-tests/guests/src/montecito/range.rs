//! `range`: instruction ranges on the four channels, data ranges, and their combinations.

use vm_pmu::arch::montecito::{Pmc36, Pmc38, Pmc41};

use super::opcode::CHANNELS;
use crate::ia64::Kernel;
use crate::ia64::facts::{Opcodes, Part, Slots};
use crate::ia64::opcode::{self, LD8, MARK, MEMORY, NOP, NOP_FIELDS, R1_FIELD};
use crate::ia64::range::{ALL, Code, IN_QUARTER, IN_USER, Instructions, QUARTER, set_data};
use vm_pmu_engines::ia64::assemble::AssembleError;
use vm_pmu_engines::image::Image;

const PART: Part = Part::Montecito;

/// Channels whose address range is ignored, one bit each, and whether ranges are fine.
fn pmc38(ignored: u8, fine: bool) -> u64 {
    let mut pmc = Pmc38::default();
    pmc.set_ig_ibrp0(ignored & 1 != 0);
    pmc.set_ig_ibrp1(ignored & 2 != 0);
    pmc.set_ig_ibrp2(ignored & 4 != 0);
    pmc.set_ig_ibrp3(ignored & 8 != 0);
    pmc.set_fine(fine);
    pmc.bits() | Pmc38::FIXED
}

/// The first matcher takes every opcode; the arguments are the address constraints of channel 0.
fn pmc32(ig_ad: bool, inv: bool) -> u64 {
    PART.first_matcher(&Opcodes::all(), ig_ad, inv)
}

/// The constraints of the memory pipeline: of each pair its configuration, if it is enabled.
fn pmc41(pairs: [Option<u8>; 4]) -> u64 {
    let [first, second, third, fourth] = pairs;
    let mut pmc = Pmc41::default();
    pmc.set_cfgdtag0(first.unwrap_or(0b11));
    pmc.set_cfgdtag1(second.unwrap_or(0b11));
    pmc.set_cfgdtag2(third.unwrap_or(0b11));
    pmc.set_cfgdtag3(fourth.unwrap_or(0b11));
    pmc.set_en_dbrp0(first.is_some());
    pmc.set_en_dbrp1(second.is_some());
    pmc.set_en_dbrp2(third.is_some());
    pmc.set_en_dbrp3(fourth.is_some());
    pmc.bits() | Pmc41::FIXED
}

/// Counts what the four channels tag at level 0.
fn channels(k: &mut Kernel, code: &Code, name: &str, counts: [u64; 4]) {
    opcode::select(k, PART, &CHANNELS);
    code.run(k);
    opcode::check(k, name, &counts);
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let code = Code::new(&mut k);
    k.main();
    instructions(&mut k, &code);
    levels(&mut k, &code);
    fine(&mut k, &code);
    opcodes(&mut k, &code);
    combinations(&mut k, &code);
    data(&mut k, &code);
    k.end_main();
    k.finish()
}

fn instructions(k: &mut Kernel, code: &Code) {
    channels(k, code, "after reset", [ALL; 4]);
    k.write_pmc(32, pmc32(false, false));
    k.write_pmc(38, pmc38(0, false));
    for pair in 0..4 {
        Instructions::at(code.quarter(pair.into()), QUARTER).set(k, pair);
    }
    channels(k, code, "a quarter for each channel", [IN_QUARTER; 4]);
    k.write_pmc(38, pmc38(0b1010, false));
    channels(k, code, "channels 1 and 3 ignore addresses", [IN_QUARTER, ALL, IN_QUARTER, ALL]);
    k.write_pmc(38, pmc38(0, false));
    k.write_pmc(32, pmc32(true, true));
    channels(k, code, "channel 0 ignores addresses, inverted or not", [ALL, IN_QUARTER, IN_QUARTER, IN_QUARTER]);
    k.write_pmc(32, pmc32(false, true));
    channels(k, code, "channel 0 inverted", [ALL - IN_QUARTER, IN_QUARTER, IN_QUARTER, IN_QUARTER]);
    k.write_pmc(32, pmc32(false, false));
    Instructions::at(code.bundle(0), 2 * QUARTER).set(k, 0);
    Instructions::at(code.bundle(5), 16).set(k, 1);
    Instructions::at(code.bundle(0), 4 * QUARTER).set(k, 2);
    Instructions::at(code.bundle(16), 16).set(k, 3);
    channels(k, code, "two quarters, a bundle, four quarters, the return", [2 * IN_QUARTER, 3, 4 * IN_QUARTER, 3]);
    Instructions { x: true, ..Instructions::at(code.bundle(0), QUARTER) }.set(k, 0);
    channels(k, code, "a pair of a debugger's", [0, 3, 4 * IN_QUARTER, 3]);
    k.write_pmc(32, pmc32(false, true));
    channels(k, code, "a pair of a debugger's, inverted", [0, 3, 4 * IN_QUARTER, 3]);
    k.write_pmc(32, pmc32(false, false));
}

fn levels(k: &mut Kernel, code: &Code) {
    for (pair, plm) in [(0, 0b1000), (1, 0b0001), (2, 0b1001), (3, 0b1110)] {
        Instructions::at(code.quarter(pair.into()), QUARTER).plm(plm).set(k, pair);
    }
    channels(k, code, "levels of ranges, at level 0", [0, IN_QUARTER, IN_QUARTER, 0]);
    k.write_pmc(32, pmc32(false, true));
    channels(k, code, "inverted at another level", [0, IN_QUARTER, IN_QUARTER, 0]);
    k.write_pmc(32, pmc32(false, false));
    for (number, event) in (4..).zip(CHANNELS) {
        k.write_pmc(number, PART.counter(event, 0b1000, false));
        k.write_pmd(number, 0);
    }
    code.run_in_user(k);
    opcode::check(k, "levels of ranges, at level 3", &[IN_QUARTER, 0, IN_QUARTER, IN_QUARTER]);
    k.write_pmc(32, pmc32(true, false));
    k.write_pmd(4, 0);
    code.run_in_user(k);
    opcode::check(k, "all of level 3", &[IN_USER]);
    k.write_pmc(32, pmc32(false, false));
}

/// Neither limit is within a fine range; channels 2 and 3 have none.
fn fine(k: &mut Kernel, code: &Code) {
    for (pair, bundle) in [(0, 3), (2, 8), (1, 4), (3, 8)] {
        Instructions::at(code.bundle(bundle), 1).set(k, pair);
    }
    k.write_pmc(38, pmc38(0, true));
    // Bundles 4 to 7, and 5 to 7.
    channels(k, code, "fine", [12, 9, 0, 0]);
    k.write_pmc(32, pmc32(false, true));
    channels(k, code, "fine and inverted", [ALL - 12, 9, 0, 0]);
    k.write_pmc(32, pmc32(false, false));
    k.write_pmc(38, pmc38(0b1100, true));
    channels(k, code, "fine, channels 2 and 3 ignore addresses", [12, 9, ALL, ALL]);
    k.write_pmc(38, pmc38(0, false));
}

/// Quarters 0, 2, 0 and 3, and of these the four marked no-operations of a quarter and loads.
fn opcodes(k: &mut Kernel, code: &Code) {
    for (pair, quarter) in [(0, 0), (1, 2), (2, 0), (3, 3)] {
        Instructions::at(code.quarter(quarter), QUARTER).set(k, pair);
    }
    let marked = Opcodes { slots: Slots::of("mi"), value: NOP | MARK << 6, compared: NOP_FIELDS | R1_FIELD };
    let loads = Opcodes { slots: Slots::of("m"), value: LD8, compared: MEMORY };
    PART.match_opcodes(k, 0, &marked);
    PART.match_opcodes(k, 1, &loads);
    channels(k, code, "opcodes, channel 0 ignores addresses", [16, 2, 4, 0]);
    k.write_pmc(32, PART.first_matcher(&marked, false, false));
    channels(k, code, "ranges and opcodes", [4, 2, 4, 0]);
    let mut pmc36 = Pmc36::default();
    pmc36.set_ch0_ig_opc(true);
    pmc36.set_ch3_ig_opc(true);
    k.write_pmc(36, pmc36.bits() | Pmc36::FIXED);
    channels(k, code, "ranges, and opcodes for channels 1 and 2", [IN_QUARTER, 2, 4, IN_QUARTER]);
    k.write_pmc(36, Pmc36::FIXED);
    PART.match_opcodes(k, 1, &Opcodes::all());
}

/// A row of table 3-3 and its counts.
struct Row {
    name: &'static str,
    ig_ad: bool,
    ig_ibrp0: bool,
    ch0_ig_opc: bool,
    /// en_dbrp0 and cfgdtag0.
    pair: Option<u8>,
    /// The opcode that is matched is a load into r20; else everything is.
    opcode: bool,
    /// The area that the first DBRs hold.
    area: u64,
    instructions: u64,
    loads: u64,
}

/// Quarter 2, in which are a load of area 0 into r20 and one of area 2 into r22; of r20 there is another one in quarter 0. Of six loads
/// two are from area 0, one is from area 1.
const ROWS: [Row; 13] = [
    row("unconstrained, channel 0", [true, false, false], Some(0b11), false, 0, (ALL, 6)),
    row("unconstrained, channel 0, no pair", [true, false, false], None, false, 0, (ALL, 6)),
    row("unconstrained, any channel", [false, true, true], Some(0b11), true, 0, (ALL, 6)),
    row("instruction range", [false, false, true], Some(0b01), true, 0, (IN_QUARTER, 2)),
    row("opcode", [false, true, false], Some(0b01), true, 0, (2, 2)),
    row("data range", [true, false, false], Some(0b10), false, 0, (ALL, 2)),
    row("another data range", [true, false, false], Some(0b10), false, 1, (ALL, 1)),
    row("instruction range and opcode", [false, false, false], Some(0b01), true, 0, (1, 1)),
    row("instruction range and data range", [false, false, true], Some(0b00), true, 0, (IN_QUARTER, 1)),
    row("instruction range and another data range", [false, false, true], Some(0b00), true, 1, (IN_QUARTER, 0)),
    row("opcode and data range", [false, true, false], Some(0b00), true, 0, (2, 2)),
    row("opcode and another data range", [false, true, false], Some(0b00), true, 2, (2, 0)),
    row("all three", [false, false, false], Some(0b00), true, 0, (1, 1)),
];

const fn row(
    name: &'static str,
    [ig_ad, ig_ibrp0, ch0_ig_opc]: [bool; 3],
    pair: Option<u8>,
    opcode: bool,
    area: u64,
    (instructions, loads): (u64, u64),
) -> Row {
    Row { name, ig_ad, ig_ibrp0, ch0_ig_opc, pair, opcode, area, instructions, loads }
}

fn combinations(k: &mut Kernel, code: &Code) {
    let into_r20 = Opcodes { slots: Slots::of("m"), value: LD8 | 20 << 6, compared: MEMORY | R1_FIELD };
    Instructions::at(code.quarter(2), QUARTER).set(k, 0);
    // PMC5 chooses the set of events of the data cache. The first time only fills the translation buffers, whose walks count as loads.
    opcode::select(k, PART, &[CHANNELS[0], "LOADS_RETIRED"]);
    code.run(k);
    for row in &ROWS {
        let opcodes = if row.opcode { into_r20 } else { Opcodes::all() };
        k.write_pmc(33, opcodes.value);
        k.write_pmc(32, PART.first_matcher(&opcodes, row.ig_ad, false));
        k.write_pmc(38, pmc38(if row.ig_ibrp0 { 0b1111 } else { 0b1110 }, false));
        let mut pmc36 = Pmc36::default();
        pmc36.set_ch0_ig_opc(row.ch0_ig_opc);
        k.write_pmc(36, pmc36.bits() | Pmc36::FIXED);
        set_data(k, 0, code.area(row.area), 64);
        k.write_pmc(41, pmc41([row.pair, None, None, None]));
        opcode::select(k, PART, &[CHANNELS[0], "LOADS_RETIRED"]);
        code.run(k);
        opcode::check(k, row.name, &[row.instructions, row.loads]);
    }
    k.write_pmc(32, pmc32(false, false));
    k.write_pmc(36, Pmc36::FIXED);
    k.write_pmc(38, pmc38(0, false));
}

/// Each pair goes with its channel: an access counts if any pair that is enabled has it.
fn data(k: &mut Kernel, code: &Code) {
    const NEITHER: Option<u8> = None;
    const BOTH: Option<u8> = Some(0b00);
    const CODE: Option<u8> = Some(0b01);
    const DATA: Option<u8> = Some(0b10);
    const ANY: Option<u8> = Some(0b11);
    // The loads, the stores; loads and stores; no-operations.
    for (pair, quarter) in [(0, 0), (1, 1), (2, 2), (3, 2)] {
        Instructions::at(code.quarter(quarter), QUARTER).set(k, pair);
    }
    set_data(k, 0, code.area(0), 64);
    set_data(k, 1, code.area(1), 64);
    set_data(k, 2, code.area(2), 128);
    set_data(k, 3, code.area(2), 64);
    for (name, pairs, loads, stores) in [
        ("no pair", [NEITHER; 4], 6, 6),
        ("areas 0 and 1", [DATA, DATA, NEITHER, NEITHER], 3, 3),
        ("areas 2 and 3", [NEITHER, NEITHER, DATA, NEITHER], 3, 3),
        ("area 2", [NEITHER, NEITHER, NEITHER, DATA], 2, 2),
        ("quarter 0", [CODE, NEITHER, NEITHER, NEITHER], 4, 0),
        ("quarter 1", [NEITHER, CODE, NEITHER, NEITHER], 0, 4),
        ("quarters 0 and 1", [CODE, CODE, NEITHER, NEITHER], 4, 4),
        ("area 0 of quarter 0", [BOTH, NEITHER, NEITHER, NEITHER], 1, 0),
        ("area 1 of quarter 1", [NEITHER, BOTH, NEITHER, NEITHER], 0, 1),
        ("area 2 of quarter 2", [NEITHER, NEITHER, NEITHER, BOTH], 1, 1),
        // Four loads of quarter 0 and one of quarter 2; two stores.
        ("quarter 0, and area 2", [CODE, NEITHER, NEITHER, DATA], 5, 2),
        ("anything", [BOTH, NEITHER, ANY, NEITHER], 6, 6),
    ] {
        k.write_pmc(41, pmc41(pairs));
        for (event, count) in [("LOADS_RETIRED", loads), ("STORES_RETIRED", stores)] {
            opcode::select(k, PART, &[CHANNELS[2], event]);
            code.run(k);
            opcode::check(k, &format!("{event} of {name}"), &[IN_QUARTER, count]);
        }
    }
}
