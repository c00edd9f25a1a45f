//! What an event code says, field by field.

use crate::layout::power_layout;

power_layout! {
    /// The code of an event with everything that counting it needs of MMCR1 and MMCRA: the "raw code" of tools.
    ///
    /// POWER9 PMU User's Guide section 5.15.1, figure 5-2.
    ///
    /// ```
    /// use vm_pmu_arch::power9::encode::EventCode;
    ///
    /// // PM_L2_ST: the second bit of the lane that selector 80h of the L2 and L3 bus brings to PMC1.
    /// let code = EventCode::from_bits(0x1_6880);
    /// assert_eq!((code.pmc(), code.unit(), code.comb(), code.pmcxsel()), (1, 6, 0b10, 0x80));
    /// assert!(code.is_cache() && !code.mark());
    /// ```
    pub struct EventCode {
        /// what updates SDAR in continuous sampling, SDAR_MODE of MMCRA
        "SDAR_MODE" => sdar_mode / set_sdar_mode: u8 = 12..13;
        /// what the threshold counter is compared with: three bits of THRESH_CMP_EXP, seven of THRESH_CMP_MANTISSA, of MMCRA
        "THRESH_CMP" => thresh_cmp / set_thresh_cmp: u16 = 14..23;
        /// where the threshold counter starts and ends, THRESH_START and THRESH_END of MMCRA
        "THRESH_CTL" => thresh_ctl / set_thresh_ctl: u8 = 24..31;
        /// what the threshold counter counts, THRESH_EVENT_SEL of MMCRA
        "THRESH_SEL" => thresh_sel / set_thresh_sel: u8 = 32..34;
        /// what is sampled: three bits of RAND_SAMP_ELIG, two of RAND_SAMP_MODE, of MMCRA
        "SAMPLE" => sample / set_sample: u8 = 35..39;
        /// RELOAD_QUAL is to be used
        "RELOAD_QUAL_EN" => reload_qual_en / set_reload_qual_en: bool = 41;
        /// whether reloads by prefetch count, DC_RLD_QUAL and IC_RLD_QUAL of MMCR1
        "RELOAD_QUAL" => reload_qual / set_reload_qual: u8 = 42..43;
        /// number of the counter; 0 leaves the choice among PMC1 to PMC4
        "PMC" => pmc / set_pmc: u8 = 45..47;
        /// unit that drives the event bus, PMCxUNIT of MMCR1
        "PMCxUNIT" => unit / set_unit: u8 = 48..51;
        /// how the two bits of a bus lane are combined, PMCxCOMB of MMCR1
        "PMCxCOMB" => comb / set_comb: u8 = 52..53;
        /// counts sampled instructions only, and so needs SAMPLE_ENABLE of MMCRA
        "MARK" => mark / set_mark: bool = 55;
        /// selector of the counter, PMCxSEL of MMCR1; the lowest bit counts falling edges
        "PMCxSEL" => pmcxsel / set_pmcxsel: u8 = 56..63;
        reserved 0..11;
        reserved 40;
        reserved 44;
        reserved 54;
    }
}

/// The bits of PMC, PMCxUNIT, PMCxCOMB and PMCxSEL.
const SELECTION: u64 = 0x7_FCFF;
/// The bits of PMC.
const COUNTER: u64 = 0x7_0000;

impl EventCode {
    /// The code of these bits, reserved ones included: [`encode`](super::encode) refuses those.
    #[must_use]
    pub const fn from_bits(bits: u64) -> EventCode {
        EventCode(bits)
    }

    /// What chooses the event, and nothing of how it is sampled or qualified: PMC, PMCxUNIT, PMCxCOMB and PMCxSEL.
    ///
    /// No two events of the guide's tables share it, so that MMCR1 alone says what a counter counts.
    #[must_use]
    pub const fn selection(self) -> EventCode {
        EventCode(self.0 & SELECTION)
    }

    /// The code with PMC zero, which is how the guide's tables list what every counter can count.
    #[must_use]
    pub const fn on_any_counter(self) -> EventCode {
        EventCode(self.0 & !COUNTER)
    }

    /// The code with the low three bits of `pmc` as PMC.
    #[must_use]
    pub const fn on_counter(self, pmc: u8) -> EventCode {
        EventCode(self.0 & !COUNTER | ((pmc as u64) << 16 & COUNTER))
    }

    /// Whether the selector takes the event from the event bus: PMCxSEL 80h to BFh (table A-2).
    #[must_use]
    pub const fn is_bus(self) -> bool {
        self.0 & 0xC0 == 0x80
    }

    /// Whether it comes over the bus from the L2 and L3 caches: unit 6.
    #[must_use]
    pub const fn is_cache(self) -> bool {
        self.is_bus() && self.0 >> 12 & 0xF == 6
    }

    /// Whether it comes over the bus from the memory management unit: units 8 to Bh.
    #[must_use]
    pub const fn is_mmu(self) -> bool {
        self.is_bus() && self.0 >> 12 & 0xC == 8
    }
}
