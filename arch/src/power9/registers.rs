//! The registers of the POWER9 PMU: layouts and numbers. Bits are numbered as the manual numbers them, 0 being the most significant.
//!
//! POWER9 PMU User's Guide, section 1.3.1 and appendix A. Who may access them is in `access.rs`.

use crate::access::Address;
use crate::layout::{Field, FieldAccess, power_layout};
use crate::model::RegisterDescription;

/// How many counters a thread has: PMC1 to PMC4 are programmable, PMC5 counts run instructions, PMC6 run cycles.
pub const COUNTERS: usize = 6;

power_layout! {
    /// PMC1-6, performance monitor counters, 32 bits (appendix A.1).
    pub struct Pmc {
        /// the value is negative; data when another counter counts its overflows
        "CTR_NEG" => ctr_neg / set_ctr_neg: bool = 32;
        /// the count
        "CTRDATA" => ctrdata / set_ctrdata: u32 = 33..63;
        reserved 0..31;
    }
}

power_layout! {
    /// MMCR0, performance monitor control register 0 (appendix A.3).
    ///
    /// ```
    /// use vm_pmu_arch::power9::Mmcr0;
    ///
    /// // What Linux starts a sampled event with: alerts, both conditions, freeze at an alert.
    /// let mmcr0 = Mmcr0::written(0x0600_C000);
    /// assert!(mmcr0.pmae() && mmcr0.fcece() && mmcr0.pmc1ce() && mmcr0.pmcjce() && !mmcr0.fc());
    /// ```
    pub struct Mmcr0 {
        /// freeze counters
        "FC" => fc / set_fc: bool = 32;
        /// freeze counters and BHRB in privileged state, MSR[HV, PR] = 00
        "FCS" => fcs / set_fcs: bool = 33;
        /// freeze counters and BHRB in problem state, as FCPC says
        "FCP" => fcp / set_fcp: bool = 34;
        /// freeze counters while MSR[PMM] is 1
        "FCM1" => fcm1 / set_fcm1: bool = 35;
        /// freeze counters while MSR[PMM] is 0
        "FCM0" => fcm0 / set_fcm0: bool = 36;
        /// alerts are enabled; cleared by an alert
        "PMAE" => pmae / set_pmae: bool = 37;
        /// an enabled condition or event sets FC
        "FCECE" => fcece / set_fcece: bool = 38;
        /// the time-base bit of events: 47, 51, 55 or 63
        "TBSEL" => tbsel / set_tbsel: u8 = 39..40;
        /// transitions of that bit from 0 to 1 are enabled events
        "TBEE" => tbee / set_tbee: bool = 41;
        /// problem state may execute mfbhrbe and clrbhrb
        "BHRBA" => bhrba / set_bhrba: bool = 42;
        /// alerts are event-based branches, not interrupts
        "EBE" => ebe / set_ebe: bool = 43;
        /// which counters there are, and what problem state may touch
        "PMCC" => pmcc / set_pmcc: u8 = 44..45;
        /// freeze counters in transactional state, MSR[TS] = 10
        "FCTM" => fctm / set_fctm: bool = 46;
        /// freeze counters in non-transactional state, MSR[TS] = 00
        "FCNTS" => fcnts / set_fcnts: bool = 47;
        /// a negative PMC1 is an enabled condition
        "PMC1CE" => pmc1ce / set_pmc1ce: bool = 48;
        /// a negative PMC2-6 is an enabled condition
        "PMCjCE" => pmcjce / set_pmcjce: bool = 49;
        /// PMC2-6 wait until PMC1 is negative or something enabled happens
        "TRIGGER" => trigger / set_trigger: bool = 50;
        /// makes FCP tell problem states with and without MSR[HV] apart
        "FCPC" => fcpc / set_fcpc: bool = 51;
        /// the alert was synchronous
        "PMAOQ" => pmaoq / set_pmaoq: bool = 52;
        /// PMC5-6 count whatever the run latch
        "CC56RUN" => cc56run / set_cc56run: bool = 55;
        /// an alert has occurred
        "PMAO" => pmao / set_pmao: bool = 56;
        /// freeze counters in suspended state, MSR[TS] = 01
        "FCSS" => fcss / set_fcss: bool = 57;
        /// freeze PMC1-4
        "FC1-4" => fc1_4 / set_fc1_4: bool = 58;
        /// freeze PMC5-6
        "FC5-6" => fc5_6 / set_fc5_6: bool = 59;
        /// freeze counters in tags-inactive mode
        "FCTI" => fcti / set_fcti: bool = 60;
        /// freeze counters in tags-active mode
        "FCTA" => fcta / set_fcta: bool = 61;
        /// freeze counters while CTRL[RUN] is 0
        "FCWAIT" => fcwait / set_fcwait: bool = 62;
        /// freeze counters and BHRB in hypervisor state, MSR[HV, PR] = 10
        "FCH" => fch / set_fch: bool = 63;
        reserved 0..31;
        reserved 53..54;
    }
}

power_layout! {
    /// MMCR1, performance monitor mode control register 1: what PMC1-4 count (appendix A.4).
    pub struct Mmcr1 {
        /// unit of PMC1's event
        "PMC1UNIT" => pmc1unit / set_pmc1unit: u8 = 0..3;
        /// unit of PMC2's event
        "PMC2UNIT" => pmc2unit / set_pmc2unit: u8 = 4..7;
        /// unit of PMC3's event
        "PMC3UNIT" => pmc3unit / set_pmc3unit: u8 = 8..11;
        /// unit of PMC4's event
        "PMC4UNIT" => pmc4unit / set_pmc4unit: u8 = 12..15;
        /// reloads of the data cache count prefetches too
        "DC_RLD_QUAL" => dc_rld_qual / set_dc_rld_qual: bool = 16;
        /// reloads of the instruction cache count prefetches too
        "IC_RLD_QUAL" => ic_rld_qual / set_ic_rld_qual: bool = 17;
        /// how PMC1 combines the bits of the event bus
        "PMC1COMB" => pmc1comb / set_pmc1comb: u8 = 24..25;
        /// how PMC2 combines the bits of the event bus
        "PMC2COMB" => pmc2comb / set_pmc2comb: u8 = 26..27;
        /// how PMC3 combines the bits of the event bus
        "PMC3COMB" => pmc3comb / set_pmc3comb: u8 = 28..29;
        /// how PMC4 combines the bits of the event bus
        "PMC4COMB" => pmc4comb / set_pmc4comb: u8 = 30..31;
        /// event of PMC1
        "PMC1SEL" => pmc1sel / set_pmc1sel: u8 = 32..39;
        /// event of PMC2
        "PMC2SEL" => pmc2sel / set_pmc2sel: u8 = 40..47;
        /// event of PMC3
        "PMC3SEL" => pmc3sel / set_pmc3sel: u8 = 48..55;
        /// event of PMC4
        "PMC4SEL" => pmc4sel / set_pmc4sel: u8 = 56..63;
        reserved 18..23;
    }
}

power_layout! {
    /// MMCR2, performance monitor mode control register 2: nine freezes for each counter (appendix A.5).
    pub struct Mmcr2 {
        /// the freezes of PMC1
        "C1" => c1 / set_c1: u16 = 0..8;
        /// the freezes of PMC2
        "C2" => c2 / set_c2: u16 = 9..17;
        /// the freezes of PMC3
        "C3" => c3 / set_c3: u16 = 18..26;
        /// the freezes of PMC4
        "C4" => c4 / set_c4: u16 = 27..35;
        /// the freezes of PMC5
        "C5" => c5 / set_c5: u16 = 36..44;
        /// the freezes of PMC6
        "C6" => c6 / set_c6: u16 = 45..53;
        reserved 54..63;
    }
}

power_layout! {
    /// One field Cn of MMCR2, in bits 0 to 8 of the word.
    pub struct CounterFreezes {
        /// freeze in privileged state, MSR[HV, PR] = 00
        "FCnS" => fcs / set_fcs: bool = 0;
        /// freeze in problem state, as FCnPC says
        "FCnP" => fcp / set_fcp: bool = 1;
        /// makes FCnP tell problem states with and without MSR[HV] apart
        "FCnPC" => fcpc / set_fcpc: bool = 2;
        /// freeze while MSR[PMM] is 1
        "FCnM1" => fcm1 / set_fcm1: bool = 3;
        /// freeze while MSR[PMM] is 0
        "FCnM0" => fcm0 / set_fcm0: bool = 4;
        /// freeze while CTRL[RUN] is 0
        "FCnWAIT" => fcwait / set_fcwait: bool = 5;
        /// freeze in hypervisor state, MSR[HV, PR] = 10
        "FCnH" => fch / set_fch: bool = 6;
        /// freeze in tags-inactive mode
        "FCnTI" => fcti / set_fcti: bool = 7;
        /// freeze in tags-active mode
        "FCnTA" => fcta / set_fcta: bool = 8;
        reserved 9..63;
    }
}

impl Mmcr2 {
    /// The freezes of the counter of this index, 0 for PMC1.
    #[must_use]
    pub fn freezes(&self, index: usize) -> CounterFreezes {
        const FIELD: u32 = 9;
        let first = u32::try_from(index).unwrap_or(0).saturating_mul(FIELD);
        CounterFreezes::written(self.bits().checked_shl(first).unwrap_or(0))
    }
}

power_layout! {
    /// MMCRA, monitor mode control register A: sampling, thresholds, branch history (appendix A.6).
    pub struct Mmcra {
        /// exponent of the threshold to compare with
        "THRESH_CMP_EXP" => thresh_cmp_exp / set_thresh_cmp_exp: u8 = 9..11;
        /// mantissa of the threshold to compare with
        "THRESH_CMP_MANTISSA" => thresh_cmp_mantissa / set_thresh_cmp_mantissa: u8 = 12..18;
        /// SIER bits 16:28 show bits 44:56 of the data's real address
        "SIER_CTRL" => sier_ctrl / set_sier_ctrl: bool = 19;
        /// what updates SDAR in continuous sampling
        "SDAR_MODE" => sdar_mode / set_sdar_mode: u8 = 20..21;
        /// keep direct branches out of the BHRB
        "FD" => fd / set_fd: bool = 27;
        /// keep unconditional branches out of the BHRB
        "FU" => fu / set_fu: bool = 28;
        /// keep calls out of the BHRB
        "FC" => fc / set_fc: bool = 29;
        /// keep returns out of the BHRB
        "FR" => fr / set_fr: bool = 30;
        /// keep jumps out of the BHRB
        "FJ" => fj / set_fj: bool = 31;
        /// which branches the BHRB takes
        "IFM" => ifm / set_ifm: u8 = 32..33;
        /// exponent of the threshold counter
        "THRESH_CTR_EXP" => thresh_ctr_exp / set_thresh_ctr_exp: u8 = 34..36;
        /// mantissa of the threshold counter
        "THRESH_CTR_MANTISSA" => thresh_ctr_mantissa / set_thresh_ctr_mantissa: u8 = 38..44;
        /// what the threshold counter counts
        "THRESH_EVENT_SEL" => thresh_event_sel / set_thresh_event_sel: u8 = 45..47;
        /// what starts the threshold counter
        "THRESH_START" => thresh_start / set_thresh_start: u8 = 48..51;
        /// what ends it
        "THRESH_END" => thresh_end / set_thresh_end: u8 = 52..55;
        /// which instructions or events random sampling chooses among
        "RAND_SAMP_ELIG" => rand_samp_elig / set_rand_samp_elig: u8 = 57..59;
        /// forces the sampling machine from its start state into idle
        "SAMPLE_RESET" => sample_reset / set_sample_reset: bool = 60;
        /// random sampling of instructions, loads and stores, or branches
        "RAND_SAMP_MODE" => rand_samp_mode / set_rand_samp_mode: u8 = 61..62;
        /// random sampling, not continuous
        "SAMPLE_ENABLE" => sample_enable / set_sample_enable: bool = 63;
        reserved 0..8;
        reserved 22..26;
        reserved 37;
        reserved 56;
    }
}

power_layout! {
    /// MMCRC, core monitor mode control register: one a core, for the hypervisor (appendix A.2).
    pub struct Mmcrc {
        /// freeze the counters of thread 0
        "GLOB_FRZ_PMC_0" => glob_frz_pmc_0 / set_glob_frz_pmc_0: bool = 60;
        /// freeze the counters of thread 1
        "GLOB_FRZ_PMC_1" => glob_frz_pmc_1 / set_glob_frz_pmc_1: bool = 61;
        /// freeze the counters of thread 2
        "GLOB_FRZ_PMC_2" => glob_frz_pmc_2 / set_glob_frz_pmc_2: bool = 62;
        /// freeze the counters of thread 3
        "GLOB_FRZ_PMC_3" => glob_frz_pmc_3 / set_glob_frz_pmc_3: bool = 63;
        reserved 0..59;
    }
}

power_layout! {
    /// LDBAR, the register by which a thread of the core posts into its own memory (Linux, `imc-pmu.c`; the guide does not have it).
    ///
    /// ```
    /// use vm_pmu_arch::power9::Ldbar;
    ///
    /// // Enabled, with its memory at 1_2345_6000h.
    /// let ldbar = Ldbar::written(1 << 63 | 0x1_2345_6000);
    /// assert!(ldbar.enable() && !ldbar.trace());
    /// assert_eq!(ldbar.memory(), 0x1_2345_6000);
    /// ```
    pub struct Ldbar {
        /// the thread posts what it counts
        "ENABLE" => enable / set_enable: bool = 0;
        /// it posts traces instead
        "TRACE" => trace / set_trace: bool = 1;
        /// scope of the postings on the fabric
        "PB_SCOPE" => pb_scope / set_pb_scope: u8 = 4..6;
        /// where the memory begins, without the lower 13 bits of its address
        "COUNTER_ADDRESS" => counter_address / set_counter_address: u64 = 8..50;
        reserved 2..3;
        reserved 7;
        reserved 51..63;
    }
}

/// The bits of an address that PDBAR and LDBAR keep: memory begins at a multiple of 8 KiB, below 2^50.
pub const ADDRESS: u64 = 0x0003_FFFF_FFFF_E000;

impl Ldbar {
    /// Where the memory begins, in bytes: the part of COUNTER_ADDRESS that a real address has, bits 14 to 50.
    #[must_use]
    pub const fn memory(&self) -> u64 {
        self.0 & ADDRESS
    }

    /// Whether the thread counts into its memory: ENABLE without TRACE.
    #[must_use]
    pub fn accumulates(&self) -> bool {
        self.enable() && !self.trace()
    }
}

impl Mmcrc {
    /// Whether the counters of this thread of the core are frozen.
    #[must_use]
    pub fn freezes(&self, thread: u8) -> bool {
        match thread {
            0 => self.glob_frz_pmc_0(),
            1 => self.glob_frz_pmc_1(),
            2 => self.glob_frz_pmc_2(),
            3 => self.glob_frz_pmc_3(),
            _ => false,
        }
    }
}

power_layout! {
    /// SIER, sampled instruction event register (appendix A.7).
    pub struct Sier {
        /// the first after an empty pipeline
        "PEMPTY" => pempty / set_pempty: bool = 0;
        /// issued after it was next to complete
        "ISS_STALL" => iss_stall / set_iss_stall: bool = 1;
        /// next to complete before it completed
        "CMPL_STALL" => cmpl_stall / set_cmpl_stall: bool = 2;
        /// what held it up
        "FIN_STALL_REASON" => fin_stall_reason / set_fin_stall_reason: u8 = 3..6;
        /// more of where data came from (table A-6)
        "DATA_SRC" => data_src / set_data_src: u8 = 8..10;
        /// more of where its translation came from (table A-6)
        "XLATE_SRC" => xlate_src / set_xlate_src: u8 = 11..13;
        /// page size of the ERAT miss
        "PAGE_SIZE" => page_size / set_page_size: u8 = 14..15;
        /// scope on the fabric (table A-7)
        "EXT" => ext / set_ext: u8 = 16..18;
        /// combined response
        "CRESP" => cresp / set_cresp: u8 = 19..23;
        /// type of the fabric's transaction
        "TTYPE" => ttype / set_ttype: u8 = 24..26;
        /// how busy the local memory was
        "LOC_MEM_BUSY" => loc_mem_busy / set_loc_mem_busy: u8 = 27..28;
        /// a load that joined an earlier miss
        "LOAD_MERGE" => load_merge / set_load_merge: bool = 29;
        /// a stcx. that failed
        "STCX_FAIL" => stcx_fail / set_stcx_fail: bool = 30;
        /// data came from an older store
        "ST_FWD" => st_fwd / set_st_fwd: bool = 31;
        /// the ERAT was reloaded in radix translation
        "DERAT_RELOAD_RP" => derat_reload_rp / set_derat_reload_rp: bool = 32;
        /// mispredicted by the count cache
        "MPRED_CCACHE" => mpred_ccache / set_mpred_ccache: bool = 37;
        /// problem state
        "MSR_PR" => msr_pr / set_msr_pr: bool = 38;
        /// hypervisor state
        "MSR_HV" => msr_hv / set_msr_hv: bool = 39;
        /// SIAR is of the sampled instruction
        "SIAR_VALID" => siar_valid / set_siar_valid: bool = 41;
        /// SDAR is of the sampled instruction
        "SDAR_VALID" => sdar_valid / set_sdar_valid: bool = 42;
        /// the threshold was reached
        "TE" => te / set_te: bool = 43;
        /// the frequency was being lowered
        "SLEW_DN" => slew_dn / set_slew_dn: bool = 44;
        /// the frequency was being raised
        "SLEW_UP" => slew_up / set_slew_up: bool = 45;
        /// kind of instruction
        "TYPE" => kind / set_kind: u8 = 46..48;
        /// where it was fetched from
        "ICACHE" => icache / set_icache: u8 = 49..51;
        /// a taken branch
        "TAK_BR" => tak_br / set_tak_br: bool = 52;
        /// a mispredicted branch
        "MPRED" => mpred / set_mpred: bool = 53;
        /// what was mispredicted
        "MPRED_TYPE" => mpred_type / set_mpred_type: u8 = 54..55;
        /// the data ERAT missed
        "DERAT_MISS" => derat_miss / set_derat_miss: bool = 56;
        /// where the translation of its data came from
        "A_XLATE_SRC" => a_xlate_src / set_a_xlate_src: u8 = 57..59;
        /// where its data came from or went
        "LDST" => ldst / set_ldst: u8 = 60..62;
        /// completed
        "CMPL" => cmpl / set_cmpl: bool = 63;
        reserved 7;
        reserved 33..36;
        reserved 40;
    }
}

power_layout! {
    /// What the model must know of a thread in addition to its MSR: the word `control` of a [`Context`](crate::feed::Context).
    ///
    /// The embedder makes it from its own registers; only CTRL\[RUN] is where CTRL has it. All bits clear is a thread whose run latch
    /// is off, with hashed translation, no interrupt pending, priority 0 and every facility available.
    ///
    /// ```
    /// use vm_pmu_arch::feed::Context;
    /// use vm_pmu_arch::power9::ThreadControl;
    ///
    /// let mut control = ThreadControl::default();
    /// control.set_run(true);
    /// // Hypervisor state, interrupts enabled.
    /// let context = Context::power(1 << 60 | 1 << 15, control.bits());
    /// assert_eq!(context.privilege, 0);
    /// ```
    pub struct ThreadControl {
        /// HFSCR[PM] is 0: the performance monitor is withheld from states below the hypervisor
        "HFSCR_NO_PM" => hfscr_no_pm / set_hfscr_no_pm: bool = 40;
        /// HFSCR[BHRB] is 0
        "HFSCR_NO_BHRB" => hfscr_no_bhrb / set_hfscr_no_bhrb: bool = 41;
        /// HFSCR[EBB] is 0
        "HFSCR_NO_EBB" => hfscr_no_ebb / set_hfscr_no_ebb: bool = 42;
        /// FSCR[EBB] is 0
        "FSCR_NO_EBB" => fscr_no_ebb / set_fscr_no_ebb: bool = 43;
        /// the thread's priority, PPR[PRI]
        "PRIORITY" => priority / set_priority: u8 = 53..55;
        /// addresses are translated by a radix tree
        "RADIX" => radix / set_radix: bool = 61;
        /// an external interrupt is pending
        "EXTERNAL_PENDING" => external_pending / set_external_pending: bool = 62;
        /// CTRL[RUN], the run latch
        "RUN" => run / set_run: bool = 63;
        reserved 0..39;
        reserved 44..52;
        reserved 56..60;
    }
}

power_layout! {
    /// The bits of the MSR that the model uses (Power ISA 3.0 Book III, section 3.2.1; the guide's Table 1-1).
    pub struct Msr {
        /// tags active
        "TA" => ta / set_ta: bool = 1;
        /// hypervisor state
        "HV" => hv / set_hv: bool = 3;
        /// transaction state: 00 none, 01 suspended, 10 transactional
        "TS" => ts / set_ts: u8 = 29..30;
        /// external interrupts are enabled
        "EE" => ee / set_ee: bool = 48;
        /// problem state
        "PR" => pr / set_pr: bool = 49;
        /// single-step trace
        "SE" => se / set_se: bool = 53;
        /// branch trace
        "BE" => be / set_be: bool = 54;
        /// performance monitor mark
        "PMM" => pmm / set_pmm: bool = 61;
    }
}

power_layout! {
    /// BESCR, branch event status and control register: the bits that alerts touch (Power ISA 3.0 Book II, section 6.2).
    pub struct Bescr {
        /// event-based branches are enabled
        "GE" => ge / set_ge: bool = 0;
        /// performance monitor event-based exceptions are enabled
        "PME" => pme / set_pme: bool = 31;
        /// a performance monitor event-based exception has occurred
        "PMEO" => pmeo / set_pmeo: bool = 63;
    }
}

/// The numbers of the special-purpose registers: those of problem state are 16 below the privileged ones (Table 1-1).
pub mod spr {
    /// SIER.
    pub const SIER: u16 = 784;
    /// MMCR2.
    pub const MMCR2: u16 = 785;
    /// MMCRA.
    pub const MMCRA: u16 = 786;
    /// PMC1, which PMC2-6 follow.
    pub const PMC1: u16 = 787;
    /// PMC6.
    pub const PMC6: u16 = 792;
    /// MMCR0.
    pub const MMCR0: u16 = 795;
    /// SIAR.
    pub const SIAR: u16 = 796;
    /// SDAR.
    pub const SDAR: u16 = 797;
    /// MMCR1.
    pub const MMCR1: u16 = 798;
    /// MMCRC; the guide does not print its number, Linux and QEMU have it.
    pub const MMCRC: u16 = 851;
    /// LDBAR; the guide does not have it, Linux has its number.
    pub const LDBAR: u16 = 850;
    /// BESCRS: sets bits of BESCR.
    pub const BESCRS: u16 = 800;
    /// BESCRSU: sets bits of BESCR's upper half, from the lower half of the value.
    pub const BESCRSU: u16 = 801;
    /// BESCRR: resets bits of BESCR.
    pub const BESCRR: u16 = 802;
    /// BESCRRU: resets bits of BESCR's upper half, from the lower half of the value.
    pub const BESCRRU: u16 = 803;
    /// BESCR.
    pub const BESCR: u16 = 806;
    /// The difference between a register's number in problem state and its privileged one.
    pub const PRIVILEGED: u16 = 16;
}

/// A field over the whole register.
const fn whole(name: &'static str, summary: &'static str) -> [Field; 1] {
    [Field { name, high: 63, low: 0, access: FieldAccess::ReadWrite, summary }]
}

static SIAR_FIELDS: [Field; 1] = whole("SampIA", "effective address of the sampled instruction");
static SDAR_FIELDS: [Field; 1] = whole("SampDA", "effective address of the sampled data");
static IMC_FIELDS: [Field; 1] = whole("IMC", "bits compared (0:31) and their value (32:63)");
static BESCR_FIELDS: [Field; 1] = whole("BESCR", "GE (0), PME (31), PMEO (63) and bits of other facilities");

macro_rules! describe {
    ($( $name:literal $address:expr, $fields:expr );+ $(;)?) => {
        &[ $( RegisterDescription { name: $name, address: $address, fields: $fields } ),+ ]
    };
}

/// The registers, for listings: by their privileged numbers, then by those of problem state.
pub(super) static REGISTERS: &[RegisterDescription] = describe![
    "PMC1" Address::Spr(787), Pmc::FIELDS;
    "PMC2" Address::Spr(788), Pmc::FIELDS;
    "PMC3" Address::Spr(789), Pmc::FIELDS;
    "PMC4" Address::Spr(790), Pmc::FIELDS;
    "PMC5" Address::Spr(791), Pmc::FIELDS;
    "PMC6" Address::Spr(792), Pmc::FIELDS;
    "MMCR0" Address::Spr(spr::MMCR0), Mmcr0::FIELDS;
    "MMCR1" Address::Spr(spr::MMCR1), Mmcr1::FIELDS;
    "MMCR2" Address::Spr(spr::MMCR2), Mmcr2::FIELDS;
    "MMCRA" Address::Spr(spr::MMCRA), Mmcra::FIELDS;
    "MMCRC" Address::Spr(spr::MMCRC), Mmcrc::FIELDS;
    "LDBAR" Address::Spr(spr::LDBAR), Ldbar::FIELDS;
    "SIER" Address::Spr(spr::SIER), Sier::FIELDS;
    "SIAR" Address::Spr(spr::SIAR), &SIAR_FIELDS;
    "SDAR" Address::Spr(spr::SDAR), &SDAR_FIELDS;
    "BESCR" Address::Spr(spr::BESCR), &BESCR_FIELDS;
    "IMC" Address::Imc, &IMC_FIELDS;
    "UPMC1" Address::Spr(771), Pmc::FIELDS;
    "UPMC2" Address::Spr(772), Pmc::FIELDS;
    "UPMC3" Address::Spr(773), Pmc::FIELDS;
    "UPMC4" Address::Spr(774), Pmc::FIELDS;
    "UPMC5" Address::Spr(775), Pmc::FIELDS;
    "UPMC6" Address::Spr(776), Pmc::FIELDS;
    "UMMCR0" Address::Spr(779), Mmcr0::FIELDS;
    "UMMCR1" Address::Spr(782), Mmcr1::FIELDS;
    "UMMCR2" Address::Spr(769), Mmcr2::FIELDS;
    "UMMCRA" Address::Spr(770), Mmcra::FIELDS;
    "USIER" Address::Spr(768), Sier::FIELDS;
    "USIAR" Address::Spr(780), &SIAR_FIELDS;
    "USDAR" Address::Spr(781), &SDAR_FIELDS;
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_register_cover_it_once() {
        for register in REGISTERS {
            let sum = register.fields.iter().fold(0u128, |sum, field| sum + u128::from(field.mask()));
            assert_eq!(sum, u128::from(u64::MAX), "{}", register.name);
        }
    }

    #[test]
    fn the_freezes_of_each_counter_are_nine_bits() {
        // FC1S is bit 0, FC2S bit 9, FC6TA bit 53.
        let mmcr2 = Mmcr2::written(1 << 63 | 1 << (63 - 9) | 1 << (63 - 53));
        assert!(mmcr2.freezes(0).fcs() && mmcr2.freezes(1).fcs() && mmcr2.freezes(5).fcta());
        assert_eq!(mmcr2.freezes(2).bits(), 0);
        assert_eq!(mmcr2.freezes(5).bits(), 1 << (63 - 8));
    }

    #[test]
    fn writable_bits_are_those_the_manual_names() {
        assert_eq!(Mmcr0::WRITABLE, 0xFFFF_F9FF);
        assert_eq!(Mmcr1::WRITABLE, 0xFFFF_C0FF_FFFF_FFFF);
        assert_eq!(Mmcr2::WRITABLE, 0xFFFF_FFFF_FFFF_FC00);
        assert_eq!(Mmcra::WRITABLE, 0x007F_FC1F_FBFF_FF7F);
    }
}
