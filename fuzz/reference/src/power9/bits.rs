//! Bits and numbers of the registers. The manual numbers bits from the most significant one (POWER9 PMU User's Guide, appendix A).

/// Bit `number` of a register of 64 bits.
pub(super) const fn bit(number: u32) -> u64 {
    1 << (63 - number)
}

/// Bits `first` to `last`.
const fn bits(first: u32, last: u32) -> u64 {
    (u64::MAX >> first) & (u64::MAX << (63 - last))
}

/// The numbers by which privileged state reaches the registers (Table 1-1); problem state uses those 16 below.
pub(super) mod spr {
    pub(in super::super) const SIER: u16 = 784;
    pub(in super::super) const MMCR2: u16 = 785;
    pub(in super::super) const MMCRA: u16 = 786;
    pub(in super::super) const PMC1: u16 = 787;
    pub(in super::super) const PMC5: u16 = 791;
    pub(in super::super) const PMC6: u16 = 792;
    pub(in super::super) const MMCR0: u16 = 795;
    pub(in super::super) const SIAR: u16 = 796;
    pub(in super::super) const SDAR: u16 = 797;
    pub(in super::super) const MMCR1: u16 = 798;
    /// Not printed in the guide (decision P3).
    pub(in super::super) const MMCRC: u16 = 851;
    /// The base of in-memory collection (P60).
    pub(in super::super) const LDBAR: u16 = 850;
    /// BESCR by its own number, and those that set and reset what is 1 (Power ISA 3.0B, Book II, 6.2).
    pub(in super::super) const BESCR: u16 = 806;
    pub(in super::super) const BESCRS: u16 = 800;
    pub(in super::super) const BESCRSU: u16 = 801;
    pub(in super::super) const BESCRR: u16 = 802;
    pub(in super::super) const BESCRRU: u16 = 803;
}

/// MMCR0 (A.3).
pub(super) mod mmcr0 {
    use super::{bit, bits};

    pub(in super::super) const FC: u64 = bit(32);
    pub(in super::super) const FCS: u64 = bit(33);
    pub(in super::super) const FCP: u64 = bit(34);
    pub(in super::super) const FCM1: u64 = bit(35);
    pub(in super::super) const FCM0: u64 = bit(36);
    pub(in super::super) const PMAE: u64 = bit(37);
    pub(in super::super) const FCECE: u64 = bit(38);
    pub(in super::super) const TBEE: u64 = bit(41);
    pub(in super::super) const BHRBA: u64 = bit(42);
    pub(in super::super) const EBE: u64 = bit(43);
    pub(in super::super) const FCTM: u64 = bit(46);
    pub(in super::super) const FCNTS: u64 = bit(47);
    pub(in super::super) const PMC1CE: u64 = bit(48);
    pub(in super::super) const PMCJCE: u64 = bit(49);
    pub(in super::super) const TRIGGER: u64 = bit(50);
    pub(in super::super) const FCPC: u64 = bit(51);
    pub(in super::super) const PMAOQ: u64 = bit(52);
    pub(in super::super) const CC56RUN: u64 = bit(55);
    pub(in super::super) const PMAO: u64 = bit(56);
    pub(in super::super) const FCSS: u64 = bit(57);
    pub(in super::super) const FC1_4: u64 = bit(58);
    pub(in super::super) const FC5_6: u64 = bit(59);
    pub(in super::super) const FCTI: u64 = bit(60);
    pub(in super::super) const FCTA: u64 = bit(61);
    pub(in super::super) const FCWAIT: u64 = bit(62);
    pub(in super::super) const FCH: u64 = bit(63);

    /// Bits that are not reserved: 0:31 and 53:54 are.
    pub(in super::super) const KEPT: u64 = bits(32, 63) & !bits(53, 54);

    /// What problem state reads and writes (P7).
    pub(in super::super) const PROBLEM: u64 = FC | PMAE | PMAO;

    /// TBSEL, bits 39:40.
    pub(in super::super) const fn tbsel(register: u64) -> u64 {
        register >> (63 - 40) & 3
    }

    /// PMCC, bits 44:45.
    pub(in super::super) const fn pmcc(register: u64) -> u64 {
        register >> (63 - 45) & 3
    }
}

/// MMCR1 (A.4).
pub(super) mod mmcr1 {
    use super::{bit, bits};

    pub(in super::super) const DC_RLD_QUAL: u64 = bit(16);
    pub(in super::super) const IC_RLD_QUAL: u64 = bit(17);
    pub(in super::super) const KEPT: u64 = !bits(18, 23);

    /// PMCxUNIT of counter `number`, from 0: four bits from bit 0 on.
    pub(in super::super) const fn unit(register: u64, number: u32) -> u64 {
        register >> (60 - 4 * number) & 15
    }

    /// PMCxCOMB: two bits from bit 24 on.
    pub(in super::super) const fn comb(register: u64, number: u32) -> u64 {
        register >> (38 - 2 * number) & 3
    }

    /// PMCxSEL: eight bits from bit 32 on.
    pub(in super::super) const fn sel(register: u64, number: u32) -> u64 {
        register >> (24 - 8 * number) & 0xFF
    }
}

/// MMCR2 (A.5): nine bits for each counter.
pub(super) mod mmcr2 {
    use super::bits;

    pub(in super::super) const FCS: u64 = 1 << 8;
    pub(in super::super) const FCP: u64 = 1 << 7;
    pub(in super::super) const FCPC: u64 = 1 << 6;
    pub(in super::super) const FCM1: u64 = 1 << 5;
    pub(in super::super) const FCM0: u64 = 1 << 4;
    pub(in super::super) const FCWAIT: u64 = 1 << 3;
    pub(in super::super) const FCH: u64 = 1 << 2;
    pub(in super::super) const FCTI: u64 = 1 << 1;
    pub(in super::super) const FCTA: u64 = 1;

    pub(in super::super) const KEPT: u64 = bits(0, 53);

    /// The nine bits of counter `number`, from 0.
    pub(in super::super) const fn of(register: u64, number: u32) -> u64 {
        register >> (64 - 9 * (number + 1)) & 0x1FF
    }

    /// FC1P to FC6P, which problem state reads and writes (P7).
    pub(in super::super) const PROBLEM: u64 = 0x4020_1008_0402_0000;
}

/// MMCRA (A.6).
pub(super) mod mmcra {
    use super::{bit, bits};

    pub(in super::super) const SAMPLE_ENABLE: u64 = bit(63);
    pub(in super::super) const SDAR_MODE: u64 = bits(20, 21);
    pub(in super::super) const FD: u64 = bit(27);
    pub(in super::super) const FU: u64 = bit(28);
    pub(in super::super) const FC: u64 = bit(29);
    pub(in super::super) const FR: u64 = bit(30);
    pub(in super::super) const FJ: u64 = bit(31);
    /// THRESH_CTR_EXP and THRESH_CTR_MANTISSA, which problem state reads (P7).
    pub(in super::super) const THRESH_CTR: u64 = bits(34, 36) | bits(38, 44);
    pub(in super::super) const KEPT: u64 = !(bits(0, 8) | bits(22, 26) | bit(37) | bit(56));

    /// RAND_SAMP_MODE, bits 61:62, and RAND_SAMP_ELIG, bits 57:59.
    pub(in super::super) const fn eligibility(register: u64) -> (u64, u64) {
        (register >> (63 - 62) & 3, register >> (63 - 59) & 7)
    }

    /// IFM, bits 32:33.
    pub(in super::super) const fn ifm(register: u64) -> u64 {
        register >> (63 - 33) & 3
    }

    /// THRESH_EVENT_SEL as a number.
    pub(in super::super) const fn thresh_event_sel(register: u64) -> u64 {
        register >> (63 - 47) & 7
    }

    /// THRESH_START, bits 48:51.
    pub(in super::super) const fn thresh_start(register: u64) -> u64 {
        register >> (63 - 51) & 15
    }

    /// THRESH_END, bits 52:55.
    pub(in super::super) const fn thresh_end(register: u64) -> u64 {
        register >> (63 - 55) & 15
    }

    /// The value to compare, by THRESH_CMP_EXP, bits 9:11, and THRESH_CMP_MANTISSA, bits 12:18; none for exponents that Table 3-1 lacks.
    pub(in super::super) const fn compare(register: u64) -> Option<u64> {
        let (exponent, mantissa) = (register >> (63 - 11) & 7, register >> (63 - 18) & 0x7F);
        if exponent > 5 { None } else { Some(mantissa << (2 * exponent)) }
    }

    /// The register with this value in THRESH_CTR_EXP, bits 34:36, and THRESH_CTR_MANTISSA, bits 38:44.
    pub(in super::super) const fn with_counter(register: u64, exponent: u64, mantissa: u64) -> u64 {
        register & !THRESH_CTR | exponent << (63 - 36) | mantissa << (63 - 44)
    }

    /// SDAR_MODE as a number.
    pub(in super::super) const fn sdar_mode(register: u64) -> u64 {
        (register & SDAR_MODE) >> (63 - 21)
    }
}

/// SIER (A.7).
pub(super) mod sier {
    use super::{bit, bits};

    pub(in super::super) const MSR_PR: u64 = bit(38);
    pub(in super::super) const MSR_HV: u64 = bit(39);
    /// The last bit of TYPE, 46:48.
    pub(in super::super) const TYPE: u64 = bit(48);
    pub(in super::super) const KEPT: u64 = !(bit(7) | bits(33, 36) | bit(40));
    /// What problem state reads (P7).
    pub(in super::super) const PROBLEM: u64 = bits(41, 63);
}

/// MMCRC (A.2): 60:63.
pub(super) const MMCRC_KEPT: u64 = bits(60, 63);

/// LDBAR: 2:3, 7 and 51:63 are reserved (docs/notes/power9-nest.md, N48).
pub(super) const LDBAR_KEPT: u64 = !(bits(2, 3) | bit(7) | bits(51, 63));

/// BESCR (Power ISA 3.0B, Book II, 6.2.1).
pub(super) mod bescr {
    use super::bit;

    pub(in super::super) const PME: u64 = bit(31);
    pub(in super::super) const PMEO: u64 = bit(63);
}

/// Bits of the MSR (Power ISA 3.0B, Book III, 3.2.1) and of the thread's control word (`Context`).
pub(super) mod state {
    use super::bit;

    pub(in super::super) const TAGS: u64 = bit(1);
    pub(in super::super) const HV: u64 = bit(3);
    pub(in super::super) const EE: u64 = bit(48);
    pub(in super::super) const SE: u64 = bit(53);
    pub(in super::super) const BE: u64 = bit(54);
    pub(in super::super) const PMM: u64 = bit(61);

    /// The state of a transaction, MSR\[TS]: 00 none, 01 suspended, 10 transactional.
    pub(in super::super) const fn ts(msr: u64) -> u64 {
        msr >> (63 - 30) & 3
    }

    pub(in super::super) const NO_PM: u64 = bit(40);
    pub(in super::super) const NO_BHRB: u64 = bit(41);
    pub(in super::super) const NO_EBB: u64 = bit(42);
    pub(in super::super) const FSCR_NO_EBB: u64 = bit(43);
    pub(in super::super) const RADIX: u64 = bit(61);
    pub(in super::super) const PENDING: u64 = bit(62);
    pub(in super::super) const RUN: u64 = bit(63);

    /// The thread's priority, bits 53:55 of the control word.
    pub(in super::super) const fn priority(control: u64) -> u64 {
        control >> (63 - 55) & 7
    }
}
