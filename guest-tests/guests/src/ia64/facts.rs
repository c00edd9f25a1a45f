//! What guests for both parts must know of each: how its registers are programmed.

use vm_pmu::arch::event::{self, Catalogue};
use vm_pmu::arch::{itanium, montecito};

use super::Kernel;

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Montecito: counters of 47 bits from PMC4 to 15, opcode matchers in PMC32 to 36.
    Montecito,
    /// The first Itanium: counters of 32 bits from PMC4 to 7, opcode matchers in PMC8 and 9.
    Itanium,
}

/// The slots that an opcode matcher takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) m: bool,
    pub(crate) i: bool,
    pub(crate) f: bool,
    pub(crate) b: bool,
}

impl Slots {
    /// Those whose letters `letters` has.
    pub(crate) fn of(letters: &str) -> Slots {
        let has = |letter| letters.contains(letter);
        Slots { m: has('m'), i: has('i'), f: has('f'), b: has('b') }
    }
}

/// What an opcode matcher takes: instructions in some slots whose encoding is `value` in the bits of `compared`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opcodes {
    pub(crate) slots: Slots,
    pub(crate) value: u64,
    pub(crate) compared: u64,
}

impl Opcodes {
    /// Everything.
    pub(crate) fn all() -> Opcodes {
        Opcodes { slots: Slots::of("mifb"), value: 0, compared: 0 }
    }
}

/// The 41 bits of an encoding.
const ENCODING: u64 = (1 << 41) - 1;
/// The bits of an encoding that the first Itanium compares, which its fields hold side by side: 40:27 above 12:0.
const HIGH: u64 = 0x3FFF << 27;
const LOW: u64 = 0x1FFF;

/// The bits of an encoding as a field of the first Itanium's matchers.
fn packed(encoding: u64) -> u32 {
    ((encoding & HIGH) >> 14 | encoding & LOW) as u32
}

impl Part {
    fn catalogue(self) -> &'static Catalogue {
        match self {
            Part::Montecito => &event::MONTECITO,
            Part::Itanium => &event::ITANIUM,
        }
    }

    /// A PMC of a counter: a user monitor of an event, by its name in the catalogue, at some privilege levels, one bit each; with `oi`,
    /// an overflow freezes and interrupts.
    ///
    /// # Panics
    /// If the catalogue has no such event.
    pub(crate) fn counter(self, name: &str, plm: u8, oi: bool) -> u64 {
        let Some(entry) = self.catalogue().named(name) else { panic!("no event {name}") };
        let (es, umask) = (entry.select as u8, entry.umask.unwrap_or(0) as u8);
        match self {
            Part::Montecito => {
                let mut pmc = montecito::Pmc::default();
                pmc.set_plm(plm);
                pmc.set_oi(oi);
                pmc.set_es(es);
                pmc.set_umask(umask);
                pmc.set_ism(0b10);
                pmc.bits()
            }
            Part::Itanium => {
                let mut pmc = itanium::Pmc::default();
                pmc.set_plm(plm);
                pmc.set_oi(oi);
                pmc.set_es(es);
                pmc.set_umask(umask);
                pmc.set_ism(0b10);
                pmc.bits()
            }
        }
    }

    /// What a counter holds that overflows with the `events`th event.
    pub(crate) fn before(self, events: u64) -> u64 {
        match self {
            Part::Montecito => (1 << 47) - events,
            Part::Itanium => (1 << 32) - events,
        }
    }

    /// The event of retired instructions that opcode matcher 0 or 1 takes.
    pub(crate) fn matched(self, matcher: u8) -> &'static str {
        match (self, matcher) {
            (Part::Montecito, 0) => "IA64_TAGGED_INST_RETIRED.IBRP0_PMC32_33",
            (Part::Montecito, _) => "IA64_TAGGED_INST_RETIRED.IBRP1_PMC34_35",
            (Part::Itanium, 0) => "IA64_TAGGED_INST_RETIRED.PMC8",
            (Part::Itanium, _) => "IA64_TAGGED_INST_RETIRED.PMC9",
        }
    }

    /// Montecito's PMC32: in addition to the mask of matcher 0, whether channel 0 ignores addresses, and whether it inverts their range.
    pub(crate) fn first_matcher(self, opcodes: &Opcodes, ig_ad: bool, inv: bool) -> u64 {
        let Opcodes { slots: Slots { m, i, f, b }, compared, .. } = *opcodes;
        let mut pmc = montecito::Pmc32::default();
        pmc.set_mask(!compared & ENCODING);
        pmc.set_m(m);
        pmc.set_i(i);
        pmc.set_f(f);
        pmc.set_b(b);
        pmc.set_ig_ad(ig_ad);
        pmc.set_inv(inv);
        pmc.bits()
    }

    /// Programs opcode matcher 0 or 1; address ranges constrain nothing.
    pub(crate) fn match_opcodes(self, k: &mut Kernel, matcher: u8, opcodes: &Opcodes) {
        let Opcodes { slots: Slots { m, i, f, b }, value, compared } = *opcodes;
        match (self, matcher) {
            (Part::Montecito, 0) => {
                k.write_pmc(33, value & compared);
                k.write_pmc(32, self.first_matcher(opcodes, true, false));
            }
            (Part::Montecito, _) => {
                let mut pmc = montecito::Pmc34::default();
                pmc.set_mask(!compared & ENCODING);
                pmc.set_m(m);
                pmc.set_i(i);
                pmc.set_f(f);
                pmc.set_b(b);
                k.write_pmc(35, value & compared);
                k.write_pmc(34, pmc.bits());
            }
            (Part::Itanium, _) => {
                let mut pmc = itanium::OpcodeMatcher::default();
                pmc.set_mask(packed(!compared & ENCODING));
                pmc.set_value(packed(value & compared));
                pmc.set_m(m);
                pmc.set_i(i);
                pmc.set_f(f);
                pmc.set_b(b);
                k.write_pmc(8 + matcher, pmc.bits());
            }
        }
    }
}
