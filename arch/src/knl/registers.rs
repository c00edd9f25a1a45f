//! The registers of a Knights Landing thread's PMU: layouts, addresses and who may touch them.
//!
//! Architectural performance monitoring, version 3 (Intel Software Developer's Manual, volume 3, chapter 18), as CPUID leaf 0AH of the part
//! shows it: two general counters and three fixed ones of 40 bits. Every register is a model-specific register, at privilege level 0
//! only; RDPMC reads the counters at level 0 always, at others while CR4.PCE is set.

use crate::access::{Address, Fault, masked};
use crate::feed::Context;
use crate::layout::layout;
use crate::model::RegisterDescription;

/// How many general counters a thread has.
pub const GENERAL: usize = 2;

/// How many fixed counters a thread has.
pub const FIXED: usize = 3;

/// How many counters a thread has: the general ones first.
pub const COUNTERS: usize = GENERAL + FIXED;

layout! {
    /// IA32_PERFEVTSEL0-1, event selects, 186h and 187h.
    ///
    /// ```
    /// use vm_pmu_arch::knl::PerfEvtSel;
    ///
    /// // Unhalted core clocks of every thread of the core, at every level, with an interrupt at overflow.
    /// let select = PerfEvtSel::written(0x0073_003C);
    /// assert_eq!(select.event_select(), 0x3C);
    /// assert!(select.usr() && select.os() && select.any_thread() && select.int() && select.en());
    /// ```
    pub struct PerfEvtSel {
        /// event to count
        "Event Select" => event_select / set_event_select: u8 = 7..0;
        /// sub-events of the event
        "UMASK" => umask / set_umask: u8 = 15..8;
        /// count at privilege levels above 0
        "USR" => usr / set_usr: bool = 16;
        /// count at privilege level 0
        "OS" => os / set_os: bool = 17;
        /// count rising edges instead of cycles
        "E" => e / set_e: bool = 18;
        /// pin control; the part has no such pins
        "PC" => pc / set_pc: bool = 19;
        /// overflow asks the local APIC for an interrupt
        "INT" => int / set_int: bool = 20;
        /// count for every thread of the core, where the event allows
        "ANY" => any_thread / set_any_thread: bool = 21;
        /// the counter counts
        "EN" => en / set_en: bool = 22;
        /// compare for fewer than CMASK events a cycle
        "INV" => inv / set_inv: bool = 23;
        /// least events a cycle; 0 adds them up
        "CMASK" => cmask / set_cmask: u8 = 31..24;
        refused 63..32;
    }
}

layout! {
    /// IA32_PMC0-1 (C1h, C2h), IA32_A_PMC0-1 (4C1h, 4C2h) and IA32_FIXED_CTR0-2 (309h to 30Bh): counters.
    ///
    /// What is written to C1h or C2h is bits 31:0, extended by their sign to the width; the others take all bits of the width.
    pub struct Pmc {
        /// the count
        "CTR" => ctr / set_ctr: u64 = 39..0;
        refused 63..40;
    }
}

layout! {
    /// IA32_FIXED_CTR_CTRL, 38Dh: what the fixed counters count at.
    pub struct FixedCtrCtrl {
        /// IA32_FIXED_CTR0 counts at privilege level 0
        "EN0_OS" => en0_os / set_en0_os: bool = 0;
        /// IA32_FIXED_CTR0 counts at privilege levels above 0
        "EN0_Usr" => en0_usr / set_en0_usr: bool = 1;
        /// IA32_FIXED_CTR0 counts for every thread of the core
        "AnyThr0" => any_thr0 / set_any_thr0: bool = 2;
        /// overflow of IA32_FIXED_CTR0 asks the local APIC for an interrupt
        "EN0_PMI" => en0_pmi / set_en0_pmi: bool = 3;
        /// IA32_FIXED_CTR1 counts at privilege level 0
        "EN1_OS" => en1_os / set_en1_os: bool = 4;
        /// IA32_FIXED_CTR1 counts at privilege levels above 0
        "EN1_Usr" => en1_usr / set_en1_usr: bool = 5;
        /// IA32_FIXED_CTR1 counts for every thread of the core
        "AnyThr1" => any_thr1 / set_any_thr1: bool = 6;
        /// overflow of IA32_FIXED_CTR1 asks the local APIC for an interrupt
        "EN1_PMI" => en1_pmi / set_en1_pmi: bool = 7;
        /// IA32_FIXED_CTR2 counts at privilege level 0
        "EN2_OS" => en2_os / set_en2_os: bool = 8;
        /// IA32_FIXED_CTR2 counts at privilege levels above 0
        "EN2_Usr" => en2_usr / set_en2_usr: bool = 9;
        /// IA32_FIXED_CTR2 counts for every thread of the core
        "AnyThr2" => any_thr2 / set_any_thr2: bool = 10;
        /// overflow of IA32_FIXED_CTR2 asks the local APIC for an interrupt
        "EN2_PMI" => en2_pmi / set_en2_pmi: bool = 11;
        refused 63..12;
    }
}

/// What IA32_FIXED_CTR_CTRL says of one counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FixedControl {
    pub(super) os: bool,
    pub(super) usr: bool,
    pub(super) any_thread: bool,
    pub(super) pmi: bool,
}

impl FixedCtrCtrl {
    /// The fields of IA32_FIXED_CTR`number`; a number above 2 has none.
    pub(super) fn of(self, number: usize) -> FixedControl {
        match number {
            0 => FixedControl { os: self.en0_os(), usr: self.en0_usr(), any_thread: self.any_thr0(), pmi: self.en0_pmi() },
            1 => FixedControl { os: self.en1_os(), usr: self.en1_usr(), any_thread: self.any_thr1(), pmi: self.en1_pmi() },
            2 => FixedControl { os: self.en2_os(), usr: self.en2_usr(), any_thread: self.any_thr2(), pmi: self.en2_pmi() },
            _ => FixedControl::default(),
        }
    }
}

layout! {
    /// IA32_PERF_GLOBAL_CTRL, 38Fh: a counter counts while its bit here and its own enable are set.
    pub struct GlobalCtrl {
        /// IA32_PMC0 may count
        "EN_PMC0" => en_pmc0 / set_en_pmc0: bool = 0;
        /// IA32_PMC1 may count
        "EN_PMC1" => en_pmc1 / set_en_pmc1: bool = 1;
        /// IA32_FIXED_CTR0 may count
        "EN_FIXED_CTR0" => en_fixed_ctr0 / set_en_fixed_ctr0: bool = 32;
        /// IA32_FIXED_CTR1 may count
        "EN_FIXED_CTR1" => en_fixed_ctr1 / set_en_fixed_ctr1: bool = 33;
        /// IA32_FIXED_CTR2 may count
        "EN_FIXED_CTR2" => en_fixed_ctr2 / set_en_fixed_ctr2: bool = 34;
        refused 31..2;
        refused 63..35;
    }
}

layout! {
    /// IA32_PERF_GLOBAL_OVF_CTRL, 390h: a one clears the bit of IA32_PERF_GLOBAL_STATUS. It reads as zero.
    pub struct GlobalOvfCtrl {
        /// IA32_PMC0 overflowed
        "Ovf_PMC0" => ovf_pmc0 / set_ovf_pmc0: bool = 0;
        /// IA32_PMC1 overflowed
        "Ovf_PMC1" => ovf_pmc1 / set_ovf_pmc1: bool = 1;
        /// IA32_FIXED_CTR0 overflowed
        "Ovf_FixedCtr0" => ovf_fixed_ctr0 / set_ovf_fixed_ctr0: bool = 32;
        /// IA32_FIXED_CTR1 overflowed
        "Ovf_FixedCtr1" => ovf_fixed_ctr1 / set_ovf_fixed_ctr1: bool = 33;
        /// IA32_FIXED_CTR2 overflowed
        "Ovf_FixedCtr2" => ovf_fixed_ctr2 / set_ovf_fixed_ctr2: bool = 34;
        /// a counter of the untile overflowed
        "Ovf_Uncore" => ovf_uncore / set_ovf_uncore: bool = 61;
        /// the debug store buffer overflowed
        "OvfBuf" => ovf_buf / set_ovf_buf: bool = 62;
        /// something in the conditions of counting changed
        "CondChgd" => cond_chgd / set_cond_chgd: bool = 63;
        refused 31..2;
        refused 60..35;
    }
}

layout! {
    /// IA32_PERF_GLOBAL_STATUS, 38Eh: what has overflowed. A write is refused.
    pub struct GlobalStatus {
        only "Ovf_PMC0" 0 = "IA32_PMC0 overflowed";
        only "Ovf_PMC1" 1 = "IA32_PMC1 overflowed";
        only "Reserved" 31..2 = "reads as zero";
        only "Ovf_FixedCtr0" 32 = "IA32_FIXED_CTR0 overflowed";
        only "Ovf_FixedCtr1" 33 = "IA32_FIXED_CTR1 overflowed";
        only "Ovf_FixedCtr2" 34 = "IA32_FIXED_CTR2 overflowed";
        only "Reserved" 60..35 = "reads as zero";
        only "Ovf_Uncore" 61 = "a counter of the untile overflowed, and its UBox interrupts this thread";
        only "OvfBuf" 62 = "the debug store buffer overflowed; a part without one reads as zero";
        only "CondChgd" 63 = "something in the conditions of counting changed; reads as zero";
    }
}

layout! {
    /// IA32_DEBUGCTL, 1D9h. Bits that do not concern counting are kept and do nothing here.
    pub struct DebugCtl {
        /// last branches are recorded; the part is shown without such records
        "LBR" => lbr / set_lbr: bool = 0;
        /// single steps stop at branches only
        "BTF" => btf / set_btf: bool = 1;
        /// branch trace messages are sent
        "TR" => tr / set_tr: bool = 6;
        /// they are stored
        "BTS" => bts / set_bts: bool = 7;
        /// the store interrupts when it is full
        "BTINT" => btint / set_btint: bool = 8;
        /// nothing is stored at privilege level 0
        "BTS_OFF_OS" => bts_off_os / set_bts_off_os: bool = 9;
        /// nothing is stored at levels above 0
        "BTS_OFF_USR" => bts_off_usr / set_bts_off_usr: bool = 10;
        /// a performance-monitoring interrupt stops the records of last branches
        "FREEZE_LBRS_ON_PMI" => freeze_lbrs_on_pmi / set_freeze_lbrs_on_pmi: bool = 11;
        /// a performance-monitoring interrupt clears IA32_PERF_GLOBAL_CTRL
        "FREEZE_PERFMON_ON_PMI" => freeze_perfmon_on_pmi / set_freeze_perfmon_on_pmi: bool = 12;
        /// other parts' switch for interrupts of the untile; it switches nothing here
        "ENABLE_UNCORE_PMI" => enable_uncore_pmi / set_enable_uncore_pmi: bool = 13;
        refused 5..2;
        // Bit 14 exists where IA32_PERF_CAPABILITIES[12] is set.
        refused 63..14;
    }
}

layout! {
    /// IA32_MISC_ENABLE, 1A0h: what the part has and what is switched on. Only the bits about monitoring mean something here; the
    /// others keep what is written.
    pub struct MiscEnable {
        /// fast strings
        "Fast-Strings" => fast_strings / set_fast_strings: bool = 0;
        /// automatic thermal control
        "TCC" => thermal_control / set_thermal_control: bool = 3;
        /// speed steps
        "EIST" => eist / set_eist: bool = 16;
        /// MONITOR and MWAIT
        "MONITOR FSM" => monitor_fsm / set_monitor_fsm: bool = 18;
        /// CPUID shows leaves up to 3
        "Limit CPUID" => limit_cpuid / set_limit_cpuid: bool = 22;
        /// task-priority messages are off
        "xTPR Disable" => xtpr_disable / set_xtpr_disable: bool = 23;
        /// execute-disable is off
        "XD Disable" => xd_disable / set_xd_disable: bool = 34;
        /// turbo mode is off
        "Turbo Disable" => turbo_disable / set_turbo_disable: bool = 38;
        refused 2..1;
        refused 6..4;
        refused 10..8;
        refused 15..13;
        refused 17;
        refused 21..19;
        refused 33..24;
        refused 37..35;
        refused 63..39;
        only "PERFMON" 7 = "performance monitoring is there: reads as one";
        only "BTS Unavailable" 11 = "there is no branch trace store: reads as one";
        only "PEBS Unavailable" 12 = "there is no precise sampling: reads as one";
    }
}

impl MiscEnable {
    /// The bits that always read as one: PERFMON, BTS Unavailable, PEBS Unavailable.
    pub const SHOWN: u64 = 1 << 7 | 1 << 11 | 1 << 12;
    /// Fast strings, thermal control, speed steps and MONITOR are on.
    pub(super) const RESET: u64 = 1 << 0 | 1 << 3 | 1 << 16 | 1 << 18;
}

layout! {
    /// IA32_PERF_CAPABILITIES, 345h, read only: no last-branch records, no precise sampling, counters written at full width.
    pub struct PerfCapabilities {
        only "LBR_FMT" 5..0 = "format of last-branch records: 0, there are none";
        only "PEBS_TRAP" 6 = "precise sampling: 0, there is none";
        only "PEBS_ARCH_REG" 7 = "precise sampling: 0, there is none";
        only "PEBS_REC_FMT" 11..8 = "precise sampling: 0, there is none";
        only "FREEZE_WHILE_SMM" 12 = "whether counters can stand still in system management mode: 0";
        only "FW_WRITE" 13 = "IA32_A_PMC0-1 are there: 1";
        only "Reserved" 63..14 = "reads as zero";
    }
}

impl PerfCapabilities {
    /// What it reads as: FW_WRITE.
    pub const VALUE: u64 = 1 << 13;
}

/// A register of the PMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// IA32_PERFEVTSEL0 or 1.
    PerfEvtSel(usize),
    /// A counter: 0 and 1 are the general ones, 2 to 4 the fixed ones.
    Counter(usize),
    /// IA32_PMC0 or 1, written by sign extension.
    Legacy(usize),
    /// IA32_FIXED_CTR_CTRL.
    FixedCtrCtrl,
    /// IA32_PERF_GLOBAL_CTRL.
    GlobalCtrl,
    /// IA32_PERF_GLOBAL_STATUS.
    GlobalStatus,
    /// IA32_PERF_GLOBAL_OVF_CTRL.
    GlobalOvfCtrl,
    /// MSR_OFFCORE_RESP0 or 1.
    OffcoreResp(usize),
    /// IA32_DEBUGCTL.
    DebugCtl,
    /// IA32_MISC_ENABLE.
    MiscEnable,
    /// IA32_PERF_CAPABILITIES.
    PerfCapabilities,
    /// MSR_LBR_SELECT, MSR_LASTBRANCH_TOS and the eight records: they read as zero and ignore what is written, because Linux clears them
    /// at every start of a processor, whatever the part reports.
    LastBranch,
}

impl Register {
    /// The register behind a model-specific register number.
    #[must_use]
    pub const fn from_msr(number: u32) -> Option<Register> {
        Some(match number {
            0xC1 | 0xC2 => Register::Legacy(masked(number as usize - 0xC1, GENERAL)),
            0x186 | 0x187 => Register::PerfEvtSel(masked(number as usize - 0x186, GENERAL)),
            0x1A0 => Register::MiscEnable,
            0x1A6 | 0x1A7 => Register::OffcoreResp(masked(number as usize - 0x1A6, GENERAL)),
            0x1C8 | 0x1C9 | 0x680..=0x687 | 0x6C0..=0x6C7 => Register::LastBranch,
            0x1D9 => Register::DebugCtl,
            0x309..=0x30B => Register::Counter(GENERAL + masked(number as usize - 0x309, FIXED)),
            0x345 => Register::PerfCapabilities,
            0x38D => Register::FixedCtrCtrl,
            0x38E => Register::GlobalStatus,
            0x38F => Register::GlobalCtrl,
            0x390 => Register::GlobalOvfCtrl,
            0x4C1 | 0x4C2 => Register::Counter(masked(number as usize - 0x4C1, GENERAL)),
            _ => return None,
        })
    }

    /// The register that `address` names, if the privilege and control bits of `context` allow the access.
    ///
    /// # Errors
    /// [`Fault::Unclaimed`] for any other address; [`Fault::GeneralProtection`] for RDMSR, WRMSR at a level above 0, for RDPMC there
    /// while CR4.PCE is clear, and for an RDPMC index other than 0, 1, and 0 to 2 with bit 30 set: all 32 bits of ECX are the index.
    pub fn decode(address: Address, context: &Context) -> Result<Register, Fault> {
        match address {
            Address::Msr(number) => {
                let register = Register::from_msr(number).ok_or(Fault::Unclaimed)?;
                if context.privilege == 0 { Ok(register) } else { Err(Fault::GeneralProtection) }
            }
            Address::Rdpmc(index) => {
                if context.privilege != 0 && !context.rdpmc_enabled() {
                    return Err(Fault::GeneralProtection);
                }
                match (index & RDPMC_FIXED != 0, (index & !RDPMC_FIXED) as usize) {
                    (false, number @ 0..GENERAL) => Ok(Register::Counter(masked(number, GENERAL))),
                    (true, number @ 0..FIXED) => Ok(Register::Counter(GENERAL + masked(number, FIXED))),
                    _ => Err(Fault::GeneralProtection),
                }
            }
            _ => Err(Fault::Unclaimed),
        }
    }
}

/// Bit 30 of the index of RDPMC: a fixed counter is read.
const RDPMC_FIXED: u32 = 1 << 30;

macro_rules! describe {
    ($( $name:literal $address:literal $layout:path ),+ $(,)?) => {
        &[ $( RegisterDescription { name: $name, address: Address::Msr($address), fields: <$layout>::FIELDS } ),+ ]
    };
}

/// The registers, for listings.
pub(super) static REGISTERS: &[RegisterDescription] = describe![
    "IA32_PMC0" 0xC1 Pmc,
    "IA32_PMC1" 0xC2 Pmc,
    "IA32_PERFEVTSEL0" 0x186 PerfEvtSel,
    "IA32_PERFEVTSEL1" 0x187 PerfEvtSel,
    "IA32_MISC_ENABLE" 0x1A0 MiscEnable,
    "MSR_OFFCORE_RESP0" 0x1A6 super::OffcoreResp,
    "MSR_OFFCORE_RESP1" 0x1A7 super::OffcoreResp,
    "IA32_DEBUGCTL" 0x1D9 DebugCtl,
    "IA32_FIXED_CTR0" 0x309 Pmc,
    "IA32_FIXED_CTR1" 0x30A Pmc,
    "IA32_FIXED_CTR2" 0x30B Pmc,
    "IA32_PERF_CAPABILITIES" 0x345 PerfCapabilities,
    "IA32_FIXED_CTR_CTRL" 0x38D FixedCtrCtrl,
    "IA32_PERF_GLOBAL_STATUS" 0x38E GlobalStatus,
    "IA32_PERF_GLOBAL_CTRL" 0x38F GlobalCtrl,
    "IA32_PERF_GLOBAL_OVF_CTRL" 0x390 GlobalOvfCtrl,
    "IA32_A_PMC0" 0x4C1 Pmc,
    "IA32_A_PMC1" 0x4C2 Pmc,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_register_cover_it_once() {
        for register in REGISTERS {
            assert_eq!(
                register.fields.iter().map(|field| u128::from(field.mask())).sum::<u128>(),
                u128::from(u64::MAX),
                "{}",
                register.name
            );
        }
    }

    #[test]
    fn refused_bits_are_those_that_no_field_names() {
        assert_eq!(PerfEvtSel::REFUSED, 0xFFFF_FFFF_0000_0000);
        assert_eq!(FixedCtrCtrl::REFUSED, !0xFFF);
        assert_eq!(GlobalCtrl::REFUSED, !0x7_0000_0003);
        assert_eq!(GlobalOvfCtrl::REFUSED, !0xE000_0007_0000_0003);
        assert_eq!(DebugCtl::REFUSED, !0x3FC3);
        assert_eq!(Pmc::REFUSED, !0xFF_FFFF_FFFF);
    }

    #[test]
    fn an_index_of_rdpmc_is_a_counter_or_refused() {
        let kernel = Context::RESET;
        let counter = |index| Register::decode(Address::Rdpmc(index), &kernel);
        assert_eq!(counter(1), Ok(Register::Counter(1)));
        assert_eq!(counter(1 << 30 | 2), Ok(Register::Counter(4)));
        for index in [2, 3, 1 << 30 | 3, 1 << 31, 1 << 29, u32::MAX] {
            assert_eq!(counter(index), Err(Fault::GeneralProtection), "{index:#x}");
        }
    }
}
