//! The registers of the Montecito PMU: layouts and numbers.
//!
//! Montecito Reference Manual for Software Development and Optimization, sections 3.3.2 to 3.3.10. What a write does to bits that no
//! field names, and who may access a register, is in `access.rs`.

use crate::access::Address;
use crate::ia64::describe;
use crate::layout::{Field, FieldAccess, layout};
use crate::model::RegisterDescription;

/// How many generic counters a thread has: PMC/PMD4 to 15.
pub const COUNTERS: usize = 12;

/// How many entries the execution trace buffer has: PMD48 to 63.
pub const ENTRIES: usize = 16;

layout! {
    /// PMC0: the freeze bit and the overflow bits (Table 3-8). PMC1-3 have no bits.
    pub struct Pmc0 {
        /// nothing is counted or captured; an overflow of a counter with oi sets it
        "fr" => fr / set_fr: bool = 0;
        /// bit n: PMDn has overflowed; sticky
        "overflow" => overflow / set_overflow: u16 = 15..4;
        reserved 3..1;
        reserved 63..16;
    }
}

layout! {
    /// PMC4-15: what a generic counter counts, and when (Tables 3-5 and 3-6).
    ///
    /// ```
    /// use vm_pmu_arch::montecito::Pmc;
    ///
    /// // Retired instructions (08h) at levels 0 and 3, privileged monitor, interrupt at overflow.
    /// let mut pmc = Pmc::default();
    /// pmc.set_plm(0b1001);
    /// pmc.set_oi(true);
    /// pmc.set_pm(true);
    /// pmc.set_es(0x08);
    /// pmc.set_ism(0b10);
    /// assert_eq!(pmc.bits(), 0x0200_0869);
    /// ```
    pub struct Pmc {
        /// privilege levels at which it counts, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// an overflow is notified outside
        "ev" => ev / set_ev: bool = 4;
        /// an overflow raises an interrupt and freezes
        "oi" => oi / set_oi: bool = 5;
        /// privileged monitor: enabled by PSR.pp, not by PSR.up
        "pm" => pm / set_pm: bool = 6;
        /// event select
        "es" => es / set_es: u8 = 15..8;
        /// unit mask
        "umask" => umask / set_umask: u8 = 19..16;
        /// count the cycles in which the event's value exceeds this; 0 counts the values
        "threshold" => threshold / set_threshold: u8 = 22..20;
        /// instruction set mask: 10, or nothing is counted
        "ism" => ism / set_ism: u8 = 25..24;
        /// count both threads; PMC4-9 only
        "all" => all / set_all: bool = 26;
        /// states of cache lines that are counted: I, S, E, M from bit 27 up
        "MESI" => mesi / set_mesi: u8 = 30..27;
        reserved 7;
        reserved 23;
        reserved 63..31;
    }
}

layout! {
    /// PMC32: the mask of opcode matcher 0, and what else constrains channel 0 (Table 3-11).
    pub struct Pmc32 {
        /// bits of the encoding that are not compared
        "mask" => mask / set_mask: u64 = 40..0;
        /// take B slots
        "b" => b / set_b: bool = 48;
        /// take F slots
        "f" => f / set_f: bool = 49;
        /// take I slots
        "i" => i / set_i: bool = 50;
        /// take M slots
        "m" => m / set_m: bool = 51;
        /// channel 0 takes addresses outside IBRP0's range instead, if ig_ad is 0
        "inv" => inv / set_inv: bool = 56;
        /// channel 0 takes every address
        "ig_ad" => ig_ad / set_ig_ad: bool = 57;
        reserved 47..41;
        reserved 55..52;
        reserved 63..58;
    }
}

layout! {
    /// PMC34: the mask of opcode matcher 1 (Table 3-11). Its bits 57:56 are kept and have no effect.
    pub struct Pmc34 {
        /// bits of the encoding that are not compared
        "mask" => mask / set_mask: u64 = 40..0;
        /// take B slots
        "b" => b / set_b: bool = 48;
        /// take F slots
        "f" => f / set_f: bool = 49;
        /// take I slots
        "i" => i / set_i: bool = 50;
        /// take M slots
        "m" => m / set_m: bool = 51;
        /// no effect here
        "inv, ig_ad" => unused / set_unused: u8 = 57..56;
        reserved 47..41;
        reserved 55..52;
        reserved 63..58;
    }
}

layout! {
    /// PMC33 and PMC35: what opcode matchers 0 and 1 compare with (Table 3-12).
    pub struct OpcodeMatch {
        /// the encoding
        "match" => value / set_value: u64 = 40..0;
        reserved 63..41;
    }
}

layout! {
    /// PMC36: which channels opcodes constrain (Table 3-13).
    pub struct Pmc36 {
        /// channel 0 takes every opcode
        "Ch0_ig_OPC" => ch0_ig_opc / set_ch0_ig_opc: bool = 0;
        /// channel 1 takes every opcode
        "Ch1_ig_OPC" => ch1_ig_opc / set_ch1_ig_opc: bool = 1;
        /// channel 2 takes every opcode
        "Ch2_ig_OPC" => ch2_ig_opc / set_ch2_ig_opc: bool = 2;
        /// channel 3 takes every opcode
        "Ch3_ig_OPC" => ch3_ig_opc / set_ch3_ig_opc: bool = 3;
        reserved 31..4;
        reserved 63..32;
    }
}

impl Pmc36 {
    /// What bits 31:4 hold always.
    pub const FIXED: u64 = 0xFFFF_FFF0;
}

layout! {
    /// PMC37: what the instruction event-address registers capture (Table 3-15). Its field pm is bit 4.
    pub struct Pmc37 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 4;
        /// of translation misses: served by the second level, by the walker, by a fault, from bit 5 up
        "umask" => umask / set_umask: u8 = 11..5;
        /// 1x cache misses, 00 translation misses, 01 nothing; bit 12 is the highest of the umask of cache misses
        "ct" => ct / set_ct: u8 = 13..12;
        reserved 63..14;
    }
}

impl Pmc37 {
    /// Whether it captures cache misses: bit 13.
    #[must_use]
    pub fn is_cache(self) -> bool {
        self.ct() & 0b10 != 0
    }

    /// The unit mask of cache misses: bits 12:5.
    #[must_use]
    pub fn cache_umask(self) -> u8 {
        self.umask() | (self.ct() & 1) << 7
    }
}

layout! {
    /// PMC38: which channels address ranges constrain (Table 3-10).
    pub struct Pmc38 {
        /// IBRP0 does not constrain channel 0
        "ig_ibrp0" => ig_ibrp0 / set_ig_ibrp0: bool = 1;
        /// IBRP1 does not constrain channel 1
        "ig_ibrp1" => ig_ibrp1 / set_ig_ibrp1: bool = 4;
        /// IBRP2 does not constrain channel 2
        "ig_ibrp2" => ig_ibrp2 / set_ig_ibrp2: bool = 7;
        /// IBRP3 does not constrain channel 3
        "ig_ibrp3" => ig_ibrp3 / set_ig_ibrp3: bool = 10;
        /// pairs 0 and 2, 1 and 3 are lower and upper limits
        "fine" => fine / set_fine: bool = 13;
        reserved 0;
        reserved 3..2;
        reserved 6..5;
        reserved 9..8;
        reserved 12..11;
        reserved 63..14;
    }
}

impl Pmc38 {
    /// What the bits that no field names hold always.
    pub const FIXED: u64 = 0x0924;
}

layout! {
    /// PMC39: what the execution trace buffer captures (Table 3-26).
    pub struct Pmc39 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 6;
        /// data selector: 0 captures targets, 1 is reserved
        "ds" => ds / set_ds: bool = 7;
        /// taken mask: 10 taken, 01 not taken
        "tm" => tm / set_tm: u8 = 9..8;
        /// predicted target mask: 10 right, 01 wrong
        "ptm" => ptm / set_ptm: u8 = 11..10;
        /// predicted predicate mask: 10 right path, 01 wrong
        "ppm" => ppm / set_ppm: u8 = 13..12;
        /// branch type: 00 all, 01 IP-relative, 10 returns, 11 other indirect ones
        "brt" => brt / set_brt: u8 = 15..14;
        reserved 5..4;
        reserved 63..16;
    }
}

layout! {
    /// PMC40: what the data event-address registers capture (Table 3-20).
    pub struct Pmc40 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 6;
        /// 00 cache, 01 translation, 1x ALAT
        "mode" => mode / set_mode: u8 = 8..7;
        /// the least latency, 4 << umask; or which translation misses
        "umask" => umask / set_umask: u8 = 19..16;
        /// instruction set mask: 10, or nothing is captured
        "ism" => ism / set_ism: u8 = 25..24;
        reserved 5..4;
        reserved 15..9;
        reserved 23..20;
        reserved 63..26;
    }
}

layout! {
    /// PMC41: what constrains events of the memory pipeline (Table 3-14).
    pub struct Pmc41 {
        /// pair 0: 00 instruction and data, 01 instruction, 10 data, 11 nothing
        "cfgdtag0" => cfgdtag0 / set_cfgdtag0: u8 = 4..3;
        /// pair 1, likewise
        "cfgdtag1" => cfgdtag1 / set_cfgdtag1: u8 = 12..11;
        /// pair 2, likewise
        "cfgdtag2" => cfgdtag2 / set_cfgdtag2: u8 = 20..19;
        /// pair 3, likewise
        "cfgdtag3" => cfgdtag3 / set_cfgdtag3: u8 = 28..27;
        /// pair 0 constrains
        "en_dbrp0" => en_dbrp0 / set_en_dbrp0: bool = 45;
        /// pair 1 constrains
        "en_dbrp1" => en_dbrp1 / set_en_dbrp1: bool = 46;
        /// pair 2 constrains
        "en_dbrp2" => en_dbrp2 / set_en_dbrp2: bool = 47;
        /// pair 3 constrains
        "en_dbrp3" => en_dbrp3 / set_en_dbrp3: bool = 48;
        reserved 2..0;
        reserved 10..5;
        reserved 18..13;
        reserved 26..21;
        reserved 44..29;
        reserved 63..49;
    }
}

impl Pmc41 {
    /// What the bits that no field names hold always.
    pub const FIXED: u64 = 0x2078_FEFE_FEFE & !Pmc41::WRITABLE;

    /// The constraint of pair `number`, if it is enabled.
    pub(super) fn constraint(self, number: usize) -> Option<u8> {
        let (enabled, config) = match number {
            0 => (self.en_dbrp0(), self.cfgdtag0()),
            1 => (self.en_dbrp1(), self.cfgdtag1()),
            2 => (self.en_dbrp2(), self.cfgdtag2()),
            _ => (self.en_dbrp3(), self.cfgdtag3()),
        };
        enabled.then_some(config)
    }
}

layout! {
    /// PMC42: the capture of retired instruction pointers (Table 3-30).
    pub struct Pmc42 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 6;
        /// 000 execution trace, 100 retired instruction pointers
        "mode" => mode / set_mode: u8 = 10..8;
        /// cycles from the freeze of the monitors to that of the buffer
        "delay" => delay / set_delay: u8 = 18..11;
        reserved 5..4;
        reserved 7;
        reserved 63..19;
    }
}

layout! {
    /// PMD4-15: a count (Table 3-7).
    pub struct Pmd {
        /// events
        "count" => count / set_count: u64 = 46..0;
        /// reads as bit 46, as do the bits above; a write has no effect
        "ov" => ov / set_ov: bool = 47;
        reserved 63..48;
    }
}

layout! {
    /// PMD32: the address of captured data (Tables 3-22 to 3-25).
    pub struct Pmd32 {
        /// virtual address
        "Data Address" => address / set_address: u64 = 63..0;
    }
}

layout! {
    /// PMD33: what the capture of data met (Tables 3-22 to 3-25).
    pub struct Pmd33 {
        /// cycles
        "latency" => latency / set_latency: u16 = 12..0;
        /// the latency is 8192 cycles or more
        "overflow" => overflow / set_overflow: bool = 13;
        /// 00 nothing captured; 01 captured, or second-level hit; 10 walker; 11 fault
        "stat" => stat / set_stat: u8 = 15..14;
        reserved 63..16;
    }
}

layout! {
    /// PMD34: the address of a captured fetch (Tables 3-17 and 3-19).
    pub struct Pmd34 {
        /// 00 nothing captured; 01 captured, or second-level hit; 10 walker; 11 fault
        "stat" => stat / set_stat: u8 = 1..0;
        /// the 32-byte line, bits 63:5 of its address
        "Instruction Cache Line Address" => line / set_line: u64 = 63..5;
        reserved 4..2;
    }
}

layout! {
    /// PMD35: how long a captured fetch took (Table 3-17).
    pub struct Pmd35 {
        /// cycles
        "latency" => latency / set_latency: u16 = 11..0;
        /// the latency is 4096 cycles or more
        "overflow" => overflow / set_overflow: bool = 12;
        reserved 63..13;
    }
}

layout! {
    /// PMD36: the instruction of a capture of data (Tables 3-22 to 3-25).
    pub struct Pmd36 {
        /// its slot
        "slot" => slot / set_slot: u8 = 1..0;
        /// it is in the bundle after the address
        "bn" => bn / set_bn: bool = 2;
        /// slot, bundle and address are valid
        "vl" => vl / set_vl: bool = 3;
        /// the bundle, bits 63:4 of its address
        "Instruction Address" => bundle / set_bundle: u64 = 63..4;
    }
}

layout! {
    /// PMD38: where the trace buffer writes next (Tables 3-28 and 3-32).
    pub struct Pmd38 {
        /// the entry to be written next, from PMD48
        "ebi" => ebi / set_ebi: u8 = 3..0;
        /// the buffer has wrapped; sticky
        "full" => full / set_full: bool = 5;
        reserved 4;
        reserved 63..6;
    }
}

layout! {
    /// PMD48-63 holding an execution trace (Table 3-27).
    pub struct TraceEntry {
        /// a source
        "s" => s / set_s: bool = 0;
        /// of a source: mispredicted; of a target: valid
        "mp" => mp / set_mp: bool = 1;
        /// the slot of the first taken branch, 3 if none was taken
        "slot" => slot / set_slot: u8 = 3..2;
        /// the bundle, bits 63:4 of its address
        "Address" => bundle / set_bundle: u64 = 63..4;
    }
}

layout! {
    /// PMD48-63 holding retired instruction pointers (Table 3-31).
    pub struct RetiredEntry {
        /// bits 11:4 of the bundle's address, or the cycles of delay that remained
        "delay" => low / set_low: u8 = 7..0;
        /// bits 63:12 of the bundle's address
        "IP" => high / set_high: u64 = 59..8;
        /// cycles since the entry before, bits 3:0 of six
        "cycl" => cycl / set_cycl: u8 = 63..60;
    }
}

const WHOLE: &[Field] = &[Field {
    name: "ext",
    high: 63,
    low: 0,
    access: FieldAccess::ReadWrite,
    summary: "four bits an entry: those of PMD48, 56, 49, 57 and so on from bit 0 up",
}];

/// Every register that has bits, in the order of the manual.
pub(super) const REGISTERS: &[RegisterDescription] = describe![
    Pmc "PMC0" 0 Pmc0::FIELDS,
    Pmc "PMC4" 4 Pmc::FIELDS,
    Pmc "PMC5" 5 Pmc::FIELDS,
    Pmc "PMC6" 6 Pmc::FIELDS,
    Pmc "PMC7" 7 Pmc::FIELDS,
    Pmc "PMC8" 8 Pmc::FIELDS,
    Pmc "PMC9" 9 Pmc::FIELDS,
    Pmc "PMC10" 10 Pmc::FIELDS,
    Pmc "PMC11" 11 Pmc::FIELDS,
    Pmc "PMC12" 12 Pmc::FIELDS,
    Pmc "PMC13" 13 Pmc::FIELDS,
    Pmc "PMC14" 14 Pmc::FIELDS,
    Pmc "PMC15" 15 Pmc::FIELDS,
    Pmc "PMC32" 32 Pmc32::FIELDS,
    Pmc "PMC33" 33 OpcodeMatch::FIELDS,
    Pmc "PMC34" 34 Pmc34::FIELDS,
    Pmc "PMC35" 35 OpcodeMatch::FIELDS,
    Pmc "PMC36" 36 Pmc36::FIELDS,
    Pmc "PMC37" 37 Pmc37::FIELDS,
    Pmc "PMC38" 38 Pmc38::FIELDS,
    Pmc "PMC39" 39 Pmc39::FIELDS,
    Pmc "PMC40" 40 Pmc40::FIELDS,
    Pmc "PMC41" 41 Pmc41::FIELDS,
    Pmc "PMC42" 42 Pmc42::FIELDS,
    Pmd "PMD4" 4 Pmd::FIELDS,
    Pmd "PMD5" 5 Pmd::FIELDS,
    Pmd "PMD6" 6 Pmd::FIELDS,
    Pmd "PMD7" 7 Pmd::FIELDS,
    Pmd "PMD8" 8 Pmd::FIELDS,
    Pmd "PMD9" 9 Pmd::FIELDS,
    Pmd "PMD10" 10 Pmd::FIELDS,
    Pmd "PMD11" 11 Pmd::FIELDS,
    Pmd "PMD12" 12 Pmd::FIELDS,
    Pmd "PMD13" 13 Pmd::FIELDS,
    Pmd "PMD14" 14 Pmd::FIELDS,
    Pmd "PMD15" 15 Pmd::FIELDS,
    Pmd "PMD32" 32 Pmd32::FIELDS,
    Pmd "PMD33" 33 Pmd33::FIELDS,
    Pmd "PMD34" 34 Pmd34::FIELDS,
    Pmd "PMD35" 35 Pmd35::FIELDS,
    Pmd "PMD36" 36 Pmd36::FIELDS,
    Pmd "PMD38" 38 Pmd38::FIELDS,
    Pmd "PMD39" 39 WHOLE,
    Pmd "PMD48" 48 TraceEntry::FIELDS,
    Pmd "PMD49" 49 TraceEntry::FIELDS,
    Pmd "PMD50" 50 TraceEntry::FIELDS,
    Pmd "PMD51" 51 TraceEntry::FIELDS,
    Pmd "PMD52" 52 TraceEntry::FIELDS,
    Pmd "PMD53" 53 TraceEntry::FIELDS,
    Pmd "PMD54" 54 TraceEntry::FIELDS,
    Pmd "PMD55" 55 TraceEntry::FIELDS,
    Pmd "PMD56" 56 TraceEntry::FIELDS,
    Pmd "PMD57" 57 TraceEntry::FIELDS,
    Pmd "PMD58" 58 TraceEntry::FIELDS,
    Pmd "PMD59" 59 TraceEntry::FIELDS,
    Pmd "PMD60" 60 TraceEntry::FIELDS,
    Pmd "PMD61" 61 TraceEntry::FIELDS,
    Pmd "PMD62" 62 TraceEntry::FIELDS,
    Pmd "PMD63" 63 TraceEntry::FIELDS,
];
