//! The configuration registers: which bits they keep, what a reset leaves in them, and their fields (Tables 3-5 to 3-33).

use crate::ia64::{PRIVILEGED_MONITOR, USER_MONITOR};
use vm_pmu_arch::feed::Context;

/// Fields of PMC4 to PMC15 (Table 3-6).
pub(super) const EXTERNAL: u64 = 1 << 4;
pub(super) const INTERRUPTS: u64 = 1 << 5;
const PRIVILEGED: u64 = 1 << 6;
/// plm and pm: at which levels and in which kind of monitor it counts.
pub(super) const MONITOR: u64 = 0xF | PRIVILEGED;
/// All else, by which it selects what it counts.
pub(super) const SELECTION: u64 = !(MONITOR | EXTERNAL | INTERRUPTS);
const ALL: u64 = 1 << 26;

/// PMC32: the range of channel 0 is inverted, and ignored (Table 3-11).
const INVERTED: u64 = 1 << 56;
const IGNORED: u64 = 1 << 57;

/// The 41 bits of an encoding.
const ENCODING: u64 = (1 << 41) - 1;

/// PMC38, PMC36 and PMC41 as a reset leaves them (3.3.12, M5).
const RANGES: u64 = 0xDB6;
const OPCODES: u64 = 0xFFFF_FFF0;
const CONSTRAINTS: u64 = 0x2078_FEFE_FEFE;

/// PMC1 to PMC42; PMC0 belongs to the counters.
pub(super) struct Registers([u64; 43]);

/// The bits that a write changes; the others keep what a reset left.
const fn written(pmc: usize) -> u64 {
    match pmc {
        4..=15 => 0x7F7F_FF7F,
        32 | 34 => ENCODING | 0xF << 48 | INVERTED | IGNORED,
        33 | 35 => ENCODING,
        36 => 0xF,
        37 => 0x3FFF,
        38 => 1 << 13 | 1 << 10 | 1 << 7 | 1 << 4 | 1 << 1,
        39 => 0xFFCF,
        40 => 0x030F_01CF,
        41 => 0xF << 45 | 0b11 << 27 | 0b11 << 19 | 0b11 << 11 | 0b11 << 3,
        42 => 0x7_FF4F,
        _ => 0,
    }
}

/// How an instruction's matcher compares (Tables 3-11 and 3-12).
pub(super) struct Matcher {
    /// Encoding bits that do not matter.
    pub(super) mask: u64,
    pub(super) value: u64,
    pub(super) b: bool,
    pub(super) f: bool,
    pub(super) i: bool,
    pub(super) m: bool,
}

impl Registers {
    pub(super) fn new() -> Registers {
        let mut pmc = [0; 43];
        // Undefined, and zero here but for ism (M7).
        pmc[4..16].fill(0b10 << 24);
        pmc[32] = ENCODING | 0xF << 48 | INVERTED | IGNORED;
        pmc[33] = ENCODING;
        pmc[34] = ENCODING | 0xF << 48;
        pmc[35] = ENCODING;
        (pmc[36], pmc[38], pmc[40], pmc[41]) = (OPCODES, RANGES, 0b10 << 24, CONSTRAINTS);
        Registers(pmc)
    }

    pub(super) fn get(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, number: usize, value: u64) {
        if let Some(register) = self.0.get_mut(number) {
            *register = *register & !written(number) | value & written(number);
        }
    }

    fn has(&self, number: usize, bit: u32) -> bool {
        self.get(number) >> bit & 1 != 0
    }

    /// es of a counter.
    pub(super) fn select(&self, counter: usize) -> u32 {
        (self.get(counter) >> 8 & 0xFF) as u32
    }

    /// umask of a counter.
    pub(super) fn umask(&self, counter: usize) -> u32 {
        (self.get(counter) >> 16 & 0xF) as u32
    }

    pub(super) fn threshold(&self, counter: usize) -> u32 {
        (self.get(counter) >> 20 & 7) as u32
    }

    pub(super) fn all(&self, counter: usize) -> bool {
        self.get(counter) & ALL != 0
    }

    /// MESI: M, E, S, I from the highest bit down.
    pub(super) fn states(&self, counter: usize) -> u8 {
        (self.get(counter) >> 27 & 0xF) as u8
    }

    /// Whether a monitor has some level in plm, and its instruction set.
    pub(super) fn measures(&self, pmc: usize) -> bool {
        self.get(pmc) & 0xF != 0 && self.get(pmc) >> 24 & 3 == 0b10
    }

    /// Whether this state of the thread enables a monitor, the freeze left out (3.3.1).
    pub(super) fn admits(&self, pmc: usize, context: &Context) -> bool {
        let register = self.get(pmc);
        // PMC37, 39 and 42 have no ism (M11).
        let has_sets = !matches!(pmc, 37 | 39 | 42);
        let monitor = if self.privileged(pmc) { PRIVILEGED_MONITOR } else { USER_MONITOR };
        register >> (context.privilege & 3) & 1 != 0 && context.machine_state & monitor != 0 && (!has_sets || register >> 24 & 3 == 0b10)
    }

    /// pm, which PMC37 has in bit 4.
    pub(super) fn privileged(&self, pmc: usize) -> bool {
        self.get(pmc) & if pmc == 37 { 1 << 4 } else { PRIVILEGED } != 0
    }

    /// ig_ibrp of a channel (Table 3-10).
    pub(super) fn ignores_range(&self, channel: usize) -> bool {
        self.has(38, 1 + 3 * channel as u32)
    }

    pub(super) fn fine(&self) -> bool {
        self.has(38, 13)
    }

    pub(super) fn inverts(&self) -> bool {
        self.get(32) & INVERTED != 0
    }

    pub(super) fn ignores_addresses(&self) -> bool {
        self.get(32) & IGNORED != 0
    }

    /// Ch_ig_OPC (Table 3-13).
    pub(super) fn ignores_opcode(&self, channel: usize) -> bool {
        self.has(36, channel as u32)
    }

    /// The matcher of a channel: the first is of channels 0 and 2, the second of 1 and 3.
    pub(super) fn matcher(&self, channel: usize) -> Matcher {
        let first = 32 + 2 * (channel % 2);
        let slots = self.get(first) >> 48;
        let has = |bit: u32| slots >> bit & 1 != 0;
        Matcher { mask: self.get(first) & ENCODING, value: self.get(first + 1) & ENCODING, b: has(0), f: has(1), i: has(2), m: has(3) }
    }

    /// How a pair of breakpoints constrains events of memory, if it is enabled: cfgdtag (Table 3-14).
    pub(super) fn data_constraint(&self, pair: usize) -> Option<u64> {
        self.has(41, 45 + pair as u32).then(|| self.get(41) >> (3 + 8 * pair) & 3)
    }

    /// The mode of PMC42: 0 is the trace, 4 the IP-EAR (Table 3-30).
    pub(super) fn trace_mode(&self) -> u64 {
        self.get(42) >> 8 & 7
    }

    pub(super) fn delay(&self) -> u64 {
        self.get(42) >> 11 & 0xFF
    }
}
