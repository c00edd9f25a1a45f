//! The registers of the first Itanium's PMU: layouts and numbers.
//!
//! Intel Itanium Processor Reference Manual for Software Development, sections 6.2.2 to 6.2.8. Of these only 6.2.4 to 6.2.7 are available;
//! the other layouts are those that public drivers program, as `docs/src/decisions` says. Bits that no field names read as zero and
//! ignore writes. Who may access a register is in `access.rs`.

use crate::access::Address;
use crate::ia64::describe;
use crate::layout::layout;
use crate::model::RegisterDescription;

/// How many generic counters there are: PMC/PMD4 to 7.
pub const COUNTERS: usize = 4;

/// How many entries the branch trace buffer has: PMD8 to 15.
pub const ENTRIES: usize = 8;

layout! {
    /// PMC0: the freeze bit and the overflow bits (Table 6-8). PMC1-3 have no bits.
    pub struct Pmc0 {
        /// nothing is counted or captured; an overflow of a counter with oi sets it
        "fr" => fr / set_fr: bool = 0;
        /// bit n: PMDn has overflowed; sticky
        "overflow" => overflow / set_overflow: u8 = 7..4;
        reserved 3..1;
        reserved 63..8;
    }
}

layout! {
    /// PMC4 and PMC5: what a generic counter counts, and when. Those of PMC6 and PMC7 have a narrower threshold, [`NarrowPmc`].
    ///
    /// ```
    /// use vm_pmu_arch::itanium::Pmc;
    ///
    /// // Retired instructions (08h) at levels 0 and 3, privileged monitor, interrupt at overflow, of IA-64 only.
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
        "es" => es / set_es: u8 = 14..8;
        /// unit mask
        "umask" => umask / set_umask: u8 = 19..16;
        /// count the cycles in which the event's value exceeds this; 0 counts the values
        "threshold" => threshold / set_threshold: u8 = 22..20;
        /// instruction set mask: 00 both, 01 IA-32 only, 10 IA-64 only, 11 nothing
        "ism" => ism / set_ism: u8 = 25..24;
        reserved 7;
        reserved 15;
        reserved 23;
        reserved 63..26;
    }
}

layout! {
    /// PMC6 and PMC7: as [`Pmc`], with a threshold of two bits, since no event of theirs comes more than three times a cycle.
    pub struct NarrowPmc {
        /// privilege levels at which it counts, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// an overflow is notified outside
        "ev" => ev / set_ev: bool = 4;
        /// an overflow raises an interrupt and freezes
        "oi" => oi / set_oi: bool = 5;
        /// privileged monitor: enabled by PSR.pp, not by PSR.up
        "pm" => pm / set_pm: bool = 6;
        /// event select
        "es" => es / set_es: u8 = 14..8;
        /// unit mask
        "umask" => umask / set_umask: u8 = 19..16;
        /// count the cycles in which the event's value exceeds this; 0 counts the values
        "threshold" => threshold / set_threshold: u8 = 21..20;
        /// instruction set mask: 00 both, 01 IA-32 only, 10 IA-64 only, 11 nothing
        "ism" => ism / set_ism: u8 = 25..24;
        reserved 7;
        reserved 15;
        reserved 23..22;
        reserved 63..26;
    }
}

layout! {
    /// PMC8 and PMC9: opcode matchers (Table 6-11). mask and match hold bits 40:27 of an encoding above its bits 12:0.
    pub struct OpcodeMatcher {
        /// bits of the encoding that are not compared
        "mask" => mask / set_mask: u32 = 29..3;
        /// what the others are compared with
        "match" => value / set_value: u32 = 59..33;
        /// take B slots
        "b" => b / set_b: bool = 60;
        /// take F slots
        "f" => f / set_f: bool = 61;
        /// take I slots
        "i" => i / set_i: bool = 62;
        /// take M slots
        "m" => m / set_m: bool = 63;
        reserved 2..0;
        reserved 32..30;
    }
}

layout! {
    /// PMC10: what the instruction event-address registers capture (Table 6-12).
    pub struct Pmc10 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 6;
        /// 0 cache misses, 1 translation misses
        "tlb" => tlb / set_tlb: bool = 7;
        /// the least latency, 4 << umask; or which translation misses
        "umask" => umask / set_umask: u8 = 19..16;
        /// instruction set mask, as that of a counter
        "ism" => ism / set_ism: u8 = 25..24;
        reserved 5..4;
        reserved 15..8;
        reserved 23..20;
        reserved 63..26;
    }
}

layout! {
    /// PMC11: what the data event-address registers capture, and whether data ranges constrain (sections 6.2.6 and 6.2.7.4).
    pub struct Pmc11 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 6;
        /// 0 cache misses, 1 translation misses
        "tlb" => tlb / set_tlb: bool = 7;
        /// the least latency by its code, or which translation misses
        "umask" => umask / set_umask: u8 = 19..16;
        /// instruction set mask, as that of a counter
        "ism" => ism / set_ism: u8 = 25..24;
        /// pass tags: 1 leaves accesses of all addresses, 0 those in the ranges of the data breakpoint registers
        "pt" => pt / set_pt: bool = 28;
        reserved 5..4;
        reserved 15..8;
        reserved 23..20;
        reserved 27..26;
        reserved 63..29;
    }
}

layout! {
    /// PMC12: what the branch trace buffer captures (section 6.2.8).
    pub struct Pmc12 {
        /// privilege levels at which it captures, one bit each
        "plm" => plm / set_plm: u8 = 3..0;
        /// privileged monitor
        "pm" => pm / set_pm: bool = 6;
        /// branches that the target address registers predict
        "tar" => tar / set_tar: bool = 7;
        /// taken mask: 10 taken, 01 not taken
        "tm" => tm / set_tm: u8 = 9..8;
        /// predicted target mask: 10 right, 01 wrong
        "ptm" => ptm / set_ptm: u8 = 11..10;
        /// predicted predicate mask: 10 right path, 01 wrong
        "ppm" => ppm / set_ppm: u8 = 13..12;
        /// branches that the target address cache and the prediction tables predict
        "bpt" => bpt / set_bpt: bool = 14;
        /// branches that the branch address corrector predicts
        "bac" => bac / set_bac: bool = 15;
        reserved 5..4;
        reserved 63..16;
    }
}

layout! {
    /// PMC13: whether instruction address ranges constrain (Table 6-9).
    pub struct Pmc13 {
        /// tag all: 1 tags instructions of every address and either set, 0 those of IA-64 in a range
        "ta" => ta / set_ta: bool = 0;
        reserved 63..1;
    }
}

layout! {
    /// PMD4-7: a count.
    pub struct Pmd {
        /// events; the bits above read as bit 31, and writes of them have no effect
        "count" => count / set_count: u32 = 31..0;
        reserved 63..32;
    }
}

layout! {
    /// PMD0: the address of a captured fetch (Figure 6-18).
    pub struct Pmd0 {
        /// something was captured
        "v" => v / set_v: bool = 0;
        /// of a translation miss: 0 the walker served it, 1 software
        "tlb" => tlb / set_tlb: bool = 1;
        /// the 32-byte line, bits 63:5 of its address; bits 60:51 of it are copies of bit 50
        "Instruction Cache Line Address" => line / set_line: u64 = 63..5;
        reserved 4..2;
    }
}

layout! {
    /// PMD1: how long a captured fetch took (Figure 6-18).
    pub struct Pmd1 {
        /// cycles, 4095 for as many and more; 0 for a translation miss
        "latency" => latency / set_latency: u16 = 11..0;
        reserved 63..12;
    }
}

layout! {
    /// PMD2: the address of captured data (section 6.2.7.4).
    pub struct Pmd2 {
        /// virtual address; bits 60:51 are copies of bit 50
        "Data Address" => address / set_address: u64 = 63..0;
    }
}

layout! {
    /// PMD3: what the capture of data met (section 6.2.7.4).
    pub struct Pmd3 {
        /// cycles, 4095 for as many and more; 0 for a translation miss
        "latency" => latency / set_latency: u16 = 11..0;
        /// what served a translation miss: 1 the second-level buffer, 2 the walker, 3 software
        "level" => level / set_level: u8 = 63..62;
        reserved 61..12;
    }
}

layout! {
    /// PMD17: the instruction of a capture of data (section 6.2.7.4).
    pub struct Pmd17 {
        /// slot and address are valid
        "vl" => vl / set_vl: bool = 0;
        /// its slot
        "slot" => slot / set_slot: u8 = 3..2;
        /// the bundle, bits 63:4 of its address; bits 60:51 of it are copies of bit 50
        "Instruction Address" => bundle / set_bundle: u64 = 63..4;
        reserved 1;
    }
}

layout! {
    /// PMD8-15: an entry of the branch trace buffer (section 6.2.8).
    pub struct TraceEntry {
        /// 1 a branch, 0 a target
        "b" => b / set_b: bool = 0;
        /// of a branch: mispredicted; of a target: valid
        "mp" => mp / set_mp: bool = 1;
        /// the slot of the first taken branch, 3 if none was taken
        "slot" => slot / set_slot: u8 = 3..2;
        /// the bundle, bits 63:4 of its address; bits 60:51 of it are copies of bit 50
        "Address" => bundle / set_bundle: u64 = 63..4;
    }
}

layout! {
    /// PMD16: where the branch trace buffer writes next (section 6.2.8).
    pub struct Pmd16 {
        /// the entry to be written next, from PMD8
        "bbi" => bbi / set_bbi: u8 = 2..0;
        /// the buffer has wrapped; sticky
        "full" => full / set_full: bool = 3;
        reserved 63..4;
    }
}

/// Every register that has bits, in the order of their numbers.
pub(super) const REGISTERS: &[RegisterDescription] = describe![
    Pmc "PMC0" 0 Pmc0::FIELDS,
    Pmc "PMC4" 4 Pmc::FIELDS,
    Pmc "PMC5" 5 Pmc::FIELDS,
    Pmc "PMC6" 6 NarrowPmc::FIELDS,
    Pmc "PMC7" 7 NarrowPmc::FIELDS,
    Pmc "PMC8" 8 OpcodeMatcher::FIELDS,
    Pmc "PMC9" 9 OpcodeMatcher::FIELDS,
    Pmc "PMC10" 10 Pmc10::FIELDS,
    Pmc "PMC11" 11 Pmc11::FIELDS,
    Pmc "PMC12" 12 Pmc12::FIELDS,
    Pmc "PMC13" 13 Pmc13::FIELDS,
    Pmd "PMD0" 0 Pmd0::FIELDS,
    Pmd "PMD1" 1 Pmd1::FIELDS,
    Pmd "PMD2" 2 Pmd2::FIELDS,
    Pmd "PMD3" 3 Pmd3::FIELDS,
    Pmd "PMD4" 4 Pmd::FIELDS,
    Pmd "PMD5" 5 Pmd::FIELDS,
    Pmd "PMD6" 6 Pmd::FIELDS,
    Pmd "PMD7" 7 Pmd::FIELDS,
    Pmd "PMD8" 8 TraceEntry::FIELDS,
    Pmd "PMD9" 9 TraceEntry::FIELDS,
    Pmd "PMD10" 10 TraceEntry::FIELDS,
    Pmd "PMD11" 11 TraceEntry::FIELDS,
    Pmd "PMD12" 12 TraceEntry::FIELDS,
    Pmd "PMD13" 13 TraceEntry::FIELDS,
    Pmd "PMD14" 14 TraceEntry::FIELDS,
    Pmd "PMD15" 15 TraceEntry::FIELDS,
    Pmd "PMD16" 16 Pmd16::FIELDS,
    Pmd "PMD17" 17 Pmd17::FIELDS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writable_bits_are_those_of_the_manual_and_of_the_drivers() {
        assert_eq!(Pmc::WRITABLE, 0x037F_7F7F);
        assert_eq!(NarrowPmc::WRITABLE, 0x033F_7F7F);
        assert_eq!(OpcodeMatcher::WRITABLE, 0xFFFF_FFFE_3FFF_FFF8);
        assert_eq!(Pmc10::WRITABLE, 0x030F_00CF);
        assert_eq!(Pmc11::WRITABLE, 0x130F_00CF);
        assert_eq!(Pmc12::WRITABLE, 0xFFCF);
        assert_eq!(Pmd3::WRITABLE, 0xC000_0000_0000_0FFF);
        assert_eq!(Pmd17::WRITABLE, !0b10);
    }

    #[test]
    fn every_bit_of_a_register_is_in_one_field() {
        for register in REGISTERS.iter().filter(|register| matches!(register.address, Address::Pmc(_) | Address::Pmd(_))) {
            let all = register.fields.iter().fold(0u64, |seen, field| {
                assert_eq!(seen & field.mask(), 0, "{} {}", register.name, field.name);
                seen | field.mask()
            });
            assert_eq!(all, u64::MAX, "{}", register.name);
        }
    }
}
