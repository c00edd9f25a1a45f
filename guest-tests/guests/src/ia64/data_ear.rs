//! `data-ear`: what the data event-address registers capture of loads from every level of the hierarchy, and of translations.

use vm_pmu::arch::{itanium, montecito};

use super::chain::{Chain, Chase, FIRST, MEMORY, MORE_PAGES, PAGES, SECOND};
use super::facts::Part;
use super::{Kernel, own};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{psr, vector};

/// The vector of the performance monitor's interrupt.
const VECTOR: u8 = 0x40;
/// In the own area: how many interrupts there were, the vector of the last, and what it read of PMC0 and the registers.
const INTERRUPTS: i64 = own(0);
const CAME: i64 = own(1);
const STATUS: i64 = own(2);
const ADDRESS: i64 = own(3);
const LATENCY: i64 = own(4);
const INSTRUCTION: i64 = own(5);

/// The event that every capture is.
pub(crate) const CAPTURED: &str = "DATA_EAR_EVENTS";
/// The unit mask of translations that the second level has, and of those that the walker finds: a bit for each source.
const SECOND_LEVEL: u8 = 1;
const WALKER: u8 = 2;

impl Part {
    /// The setting of the data event-address registers for captures at level 3: of misses whose latency is at least that of a unit mask, or
    /// of translations.
    pub(crate) fn data_captures(self, k: &mut Kernel, translations: bool, umask: u8) {
        self.data_captures_at(k, 0b1000, translations, umask);
    }

    /// The same at the levels `plm`, one bit each.
    fn data_captures_at(self, k: &mut Kernel, plm: u8, translations: bool, umask: u8) {
        match self {
            Part::Montecito => {
                let mut pmc = montecito::Pmc40::default();
                pmc.set_plm(plm);
                pmc.set_mode(u8::from(translations));
                pmc.set_umask(umask);
                pmc.set_ism(0b10);
                k.write_pmc(40, pmc.bits());
            }
            Part::Itanium => {
                let mut pmc = itanium::Pmc11::default();
                pmc.set_plm(plm);
                pmc.set_tlb(translations);
                pmc.set_umask(umask);
                pmc.set_ism(0b10);
                pmc.set_pt(true);
                k.write_pmc(11, pmc.bits());
            }
        }
    }

    /// The least latency that a unit mask captures, if it captures any: Montecito's Table 3-21; on the first Itanium the codes of drivers,
    /// among which 7 continues the row and 8 repeats it.
    fn least_latency(self, umask: u8) -> Option<u32> {
        match (self, umask) {
            (Part::Montecito, 0..=10) | (Part::Itanium, 0..=7) => Some(4 << umask),
            (Part::Itanium, 8..=10) => Some(2 << umask),
            _ => None,
        }
    }

    /// The registers with the address of data, with latency and source, and with the instruction.
    pub(crate) fn data_registers(self) -> [u8; 3] {
        match self {
            Part::Montecito => [32, 33, 36],
            Part::Itanium => [2, 3, 17],
        }
    }

    /// What the second of them holds of a miss.
    fn missed(self, latency: u16) -> u64 {
        match self {
            Part::Montecito => {
                let mut pmd = montecito::Pmd33::default();
                pmd.set_latency(latency);
                pmd.set_stat(0b01);
                pmd.bits()
            }
            Part::Itanium => {
                let mut pmd = itanium::Pmd3::default();
                pmd.set_latency(latency);
                pmd.bits()
            }
        }
    }

    /// What the second of them holds of a translation: 1 the second-level buffer, 2 the walker.
    fn translated(self, source: u8) -> u64 {
        match self {
            Part::Montecito => {
                let mut pmd = montecito::Pmd33::default();
                pmd.set_stat(source);
                pmd.bits()
            }
            Part::Itanium => {
                let mut pmd = itanium::Pmd3::default();
                pmd.set_level(source);
                pmd.bits()
            }
        }
    }

    /// What the third of them holds of an instruction.
    pub(crate) fn captured_instruction(self, bundle: u64, slot: u8) -> u64 {
        match self {
            Part::Montecito => {
                let mut pmd = montecito::Pmd36::default();
                pmd.set_vl(true);
                pmd.set_slot(slot);
                pmd.set_bundle(bundle >> 4);
                pmd.bits()
            }
            Part::Itanium => {
                let mut pmd = itanium::Pmd17::default();
                pmd.set_vl(true);
                pmd.set_slot(slot);
                pmd.set_bundle(bundle >> 4);
                pmd.bits()
            }
        }
    }

    /// Cycles of a load of a floating-point register from the second level.
    fn floating_latency(self) -> u16 {
        match self {
            Part::Montecito => 6,
            Part::Itanium => 9,
        }
    }

    /// Cycles of loads from the second and third level and from memory, where another row of the bank is open.
    fn latencies(self) -> [u16; 3] {
        match self {
            Part::Montecito => [5, 14, 200 + 24 + 24],
            Part::Itanium => [6, 21, 180 + 16 + 16],
        }
    }
}

/// Has PMC4 count captures of level 3 from `start`.
pub(crate) fn count_captures(k: &mut Kernel, part: Part, start: u64, oi: bool) {
    k.write_pmc(4, part.counter(CAPTURED, 0b1000, oi));
    k.write_pmd(4, start);
}

/// Checks the three registers of a capture, which a handler has put into cells of the own area if `cells`.
pub(crate) fn check_registers(k: &mut Kernel, part: Part, name: &str, values: [u64; 3], cells: bool) {
    let names = ["address", "latency and source", "instruction"];
    let places = part.data_registers().into_iter().zip([ADDRESS, LATENCY, INSTRUCTION]);
    for (((register, cell), what), value) in places.zip(names).zip(values) {
        if cells {
            k.load_own(R16, cell);
        } else {
            k.read_pmd(R16, register);
        }
        k.check_is(&format!("{name}: {what}"), R16, value);
    }
}

/// The handler of the interrupt: it reads what was captured, and leaves everything frozen.
fn handler(k: &mut Kernel, part: Part) {
    k.handler(vector::EXTERNAL_INTERRUPT);
    k.accept_interrupt(R9);
    k.store_own(CAME, R9);
    k.load_own(R9, INTERRUPTS);
    k.a.put(adds(R9, 1, R9));
    k.store_own(INTERRUPTS, R9);
    k.read_pmc(R9, 0);
    k.store_own(STATUS, R9);
    for (register, cell) in part.data_registers().into_iter().zip([ADDRESS, LATENCY, INSTRUCTION]) {
        k.read_pmd(R9, register);
        k.store_own(cell, R9);
    }
    k.end_interrupt();
    k.end_handler();
}

/// All that both parts have; then what `more` adds.
pub(crate) fn build(part: Part, more: impl FnOnce(&mut Kernel)) -> Result<vm_pmu_engines::image::Image, AssembleError> {
    let mut k = Kernel::new();
    handler(&mut k, part);
    let chase = Chase::new(&mut k);
    k.main();
    k.monitor_vector(VECTOR);
    k.user_monitors(true);
    let chains = [FIRST, SECOND, Chain::third(part), MEMORY];
    let [second, third, memory] = part.latencies();
    for (chain, latency) in chains.into_iter().zip([None, Some(second), Some(third), Some(memory)]) {
        histogram(&mut k, part, chase, chain, latency);
        if let Some(latency) = latency {
            overflow(&mut k, part, chase, chain, latency);
        }
    }
    for (chain, source) in [(PAGES, SECOND_LEVEL), (MORE_PAGES, WALKER)] {
        translations(&mut k, part, chase, chain, source);
    }
    floating(&mut k, part);
    more(&mut k);
    k.end_main();
    k.finish()
}

/// Two passes: the second one finds every line where the first left it.
fn warm(k: &mut Kernel, chase: Chase, chain: Chain) {
    chain.link(k);
    chain.follow(k, chase, 2 * chain.lines, 0);
}

/// Every load of a pass is captured under the thresholds that its latency reaches, and none under the others.
fn histogram(k: &mut Kernel, part: Part, chase: Chase, chain: Chain, latency: Option<u16>) {
    warm(k, chase, chain);
    for umask in 0..16 {
        part.data_captures(k, false, umask);
        count_captures(k, part, 0, false);
        chain.follow(k, chase, chain.lines, 0);
        let captured = part.least_latency(umask).is_some_and(|least| latency.is_some_and(|latency| u32::from(latency) >= least));
        k.read_pmd(R16, 4);
        k.check_is(&format!("{}, unit mask {umask}", chain.name), R16, if captured { chain.lines } else { 0 });
    }
    if let Some(latency) = latency {
        part.data_captures(k, false, 0);
        chain.follow(k, chase, chain.lines, 0);
        let last = chain.line(chain.lines - 1);
        let values = [last, part.missed(latency), part.captured_instruction(chase.load, 0)];
        check_registers(k, part, &format!("{}, the last capture", chain.name), values, false);
    }
}

/// The fifth capture overflows and freezes: what was captured is that of the fifth load.
fn overflow(k: &mut Kernel, part: Part, chase: Chase, chain: Chain, latency: u16) {
    const CAPTURES: u64 = 5;
    k.store_own(INTERRUPTS, R0);
    part.data_captures(k, false, 0);
    count_captures(k, part, part.before(CAPTURES), true);
    chain.follow(k, chase, chain.lines, psr::I);
    let name = format!("{}, an overflow", chain.name);
    for (what, cell, value) in
        // fr, and the overflow bit of PMD4.
        [("interrupts", INTERRUPTS, 1), ("the vector", CAME, VECTOR.into()), ("PMC0", STATUS, 0x11)]
    {
        k.load_own(R16, cell);
        k.check_is(&format!("{name}: {what}"), R16, value);
    }
    let values = [chain.line(CAPTURES - 1), part.missed(latency), part.captured_instruction(chase.load, 0)];
    check_registers(k, part, &name, values, true);
    // Nothing was captured after it.
    check_registers(k, part, &format!("{name}, still"), values, false);
    k.read_pmd(R16, 4);
    k.check_is(&format!("{name}: PMD4"), R16, 0);
    k.write_pmc(4, 0);
    k.write_pmc(0, 0);
}

/// Loads of floating-point registers are served by the second level, although the first has the line: each is captured by the thresholds
/// that it reaches.
fn floating(k: &mut Kernel, part: Part) {
    const TIMES: u64 = 5;
    /// Bundles of no-operations: so many cycles between captures at least.
    const APART: usize = 16;
    let data = k.reserve(64);
    k.a.load(R16, data);
    k.a.put(ld8(R17, R16));
    k.write_pmc(4, part.counter(CAPTURED, 0b0001, false));
    let mut load = 0;
    for umask in [1, 2, 0] {
        part.data_captures_at(k, 0b0001, false, umask);
        k.a.load(R16, data);
        k.nops(APART);
        k.write_pmd(4, 0);
        k.repeat(TIMES, |k| {
            load = k.a.address();
            k.a.put(ldf8(F6, R16));
            k.nops(APART);
        });
        // Frozen, so that loads of the checks are not captured.
        k.write_pmc(0, 1);
        let captured = part.least_latency(umask).is_some_and(|least| u32::from(part.floating_latency()) >= least);
        k.read_pmd(R18, 4);
        k.check_is(&format!("floating-point loads, unit mask {umask}"), R18, if captured { TIMES } else { 0 });
        if umask == 0 {
            let values = [data, part.missed(part.floating_latency()), part.captured_instruction(load, 0)];
            check_registers(k, part, "the last floating-point load", values, false);
        }
        k.write_pmc(0, 0);
    }
    k.write_pmc(4, 0);
}

/// Every load of a pass misses the first-level buffer, and is captured under the unit mask of what has its translation.
fn translations(k: &mut Kernel, part: Part, chase: Chase, chain: Chain, source: u8) {
    warm(k, chase, chain);
    for (umask, captured) in [(1 << source, true), (0b1111, true), (0b1111 & !(1 << source), false), (0, false)] {
        part.data_captures(k, true, umask);
        count_captures(k, part, 0, false);
        chain.follow(k, chase, chain.lines, 0);
        k.read_pmd(R16, 4);
        k.check_is(&format!("{}, unit mask {umask}", chain.name), R16, if captured { chain.lines } else { 0 });
        if captured {
            let last = chain.line(chain.lines - 1);
            let values = [last, part.translated(source), part.captured_instruction(chase.load, 0)];
            check_registers(k, part, &format!("{}, unit mask {umask}, the last capture", chain.name), values, false);
        }
    }
}
