//! Files about POWER9: the names of the bits of the MSR and of the thread's control word; the privilege level follows from the MSR.

use vm_pmu_arch::access::{Address, Facility, Fault};
use vm_pmu_arch::feed::Context;
use vm_pmu_arch::power9::{Msr, ThreadControl};

use super::{ContextField, Dialect, PartField};

/// Changes the MSR and keeps its other bits.
fn msr(context: Context, change: impl FnOnce(&mut Msr)) -> Context {
    let mut msr = Msr::written(context.machine_state);
    change(&mut msr);
    Context { machine_state: context.machine_state & !Msr::WRITABLE | msr.bits(), ..context }
}

/// Changes the control word and keeps its other bits.
fn control(context: Context, change: impl FnOnce(&mut ThreadControl)) -> Context {
    let mut control = ThreadControl::written(context.control);
    change(&mut control);
    Context { control: context.control & !ThreadControl::WRITABLE | control.bits(), ..context }
}

macro_rules! fields {
    ($( $name:ident = $word:literal, $bits:literal, $register:ident, $set:expr; )+) => {
        $( static $name: PartField = PartField {
            word: $word,
            bits: $bits,
            set: |context, value| $register(context, |register| $set(register, value)),
        }; )+
    };
}

fields! {
    HV = "hv", 1, msr, |register: &mut Msr, value| register.set_hv(value != 0);
    PR = "pr", 1, msr, |register: &mut Msr, value| register.set_pr(value != 0);
    EE = "ee", 1, msr, |register: &mut Msr, value| register.set_ee(value != 0);
    PMM = "pmm", 1, msr, |register: &mut Msr, value| register.set_pmm(value != 0);
    TS = "ts", 2, msr, |register: &mut Msr, value| register.set_ts(value as u8);
    TA = "ta", 1, msr, |register: &mut Msr, value| register.set_ta(value != 0);
    SE = "se", 1, msr, |register: &mut Msr, value| register.set_se(value != 0);
    BE = "be", 1, msr, |register: &mut Msr, value| register.set_be(value != 0);
    RUN = "run", 1, control, |register: &mut ThreadControl, value| register.set_run(value != 0);
    PRIORITY = "priority", 3, control, |register: &mut ThreadControl, value| register.set_priority(value as u8);
    RADIX = "radix", 1, control, |register: &mut ThreadControl, value| register.set_radix(value != 0);
    EXTERNAL_PENDING = "external_pending", 1, control, |register: &mut ThreadControl, value| register.set_external_pending(value != 0);
    HFSCR_NO_PM = "hfscr_no_pm", 1, control, |register: &mut ThreadControl, value| register.set_hfscr_no_pm(value != 0);
    HFSCR_NO_BHRB = "hfscr_no_bhrb", 1, control, |register: &mut ThreadControl, value| register.set_hfscr_no_bhrb(value != 0);
    HFSCR_NO_EBB = "hfscr_no_ebb", 1, control, |register: &mut ThreadControl, value| register.set_hfscr_no_ebb(value != 0);
    FSCR_NO_EBB = "fscr_no_ebb", 1, control, |register: &mut ThreadControl, value| register.set_fscr_no_ebb(value != 0);
}

pub(super) static POWER9: Dialect = Dialect {
    name: "power9",
    fields: &[
        ("msr", ContextField::MachineState),
        ("hv", ContextField::Part(&HV)),
        ("pr", ContextField::Part(&PR)),
        ("ee", ContextField::Part(&EE)),
        ("pmm", ContextField::Part(&PMM)),
        ("ts", ContextField::Part(&TS)),
        ("ta", ContextField::Part(&TA)),
        ("se", ContextField::Part(&SE)),
        ("be", ContextField::Part(&BE)),
        ("control", ContextField::Control),
        ("run", ContextField::Part(&RUN)),
        ("priority", ContextField::Part(&PRIORITY)),
        ("radix", ContextField::Part(&RADIX)),
        ("external_pending", ContextField::Part(&EXTERNAL_PENDING)),
        ("hfscr_no_pm", ContextField::Part(&HFSCR_NO_PM)),
        ("hfscr_no_bhrb", ContextField::Part(&HFSCR_NO_BHRB)),
        ("hfscr_no_ebb", ContextField::Part(&HFSCR_NO_EBB)),
        ("fscr_no_ebb", ContextField::Part(&FSCR_NO_EBB)),
        ("time_base", ContextField::TimeBase),
        ("halted", ContextField::Halted),
    ],
    settle: |context| Context { privilege: Context::power(context.machine_state, context.control).privilege, ..context },
    topmost: &[(ContextField::Part(&HV), 1), (ContextField::Part(&PR), 0)],
    forms: "a register's name, spr:NUMBER, bhrb:ENTRY or imc",
    more: &BUFFER,
    faults: &[
        Fault::Unclaimed,
        Fault::FacilityUnavailable(Facility::PerformanceMonitor),
        Fault::FacilityUnavailable(Facility::BranchHistory),
        Fault::FacilityUnavailable(Facility::EventBasedBranch),
        Fault::HypervisorFacilityUnavailable(Facility::PerformanceMonitor),
        Fault::HypervisorFacilityUnavailable(Facility::BranchHistory),
        Fault::HypervisorFacilityUnavailable(Facility::EventBasedBranch),
        Fault::EmulationAssistance,
        Fault::PrivilegedInstruction,
    ],
    not_zero: |_| 0,
};

/// Entries of the branch history, and one that does not exist.
static BUFFER: [Address; 33] = {
    let mut entries = [Address::Bhrb(0); 33];
    let mut rest: &mut [Address] = &mut entries;
    let mut number = 0;
    while let [entry, more @ ..] = rest {
        *entry = Address::Bhrb(number);
        number += 1;
        rest = more;
    }
    entries
};

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(changes: &[&str]) -> Context {
        changes.iter().fold(Context::RESET, |context, change| {
            let (field, value) = POWER9.context(change).expect("a field of POWER9");
            POWER9.change(context, field, value, 0)
        })
    }

    #[test]
    fn the_privilege_level_follows_from_hv_and_pr() {
        // MSR[HV] is bit 3 and MSR[PR] bit 49 of 64: 0 hypervisor, 1 privileged, 3 problem state.
        assert_eq!((changed(&["hv=1"]).privilege, changed(&["hv=1"]).machine_state), (0, 1 << 60));
        assert_eq!((changed(&["hv=0"]).privilege, changed(&["hv=0"]).machine_state), (1, 0));
        assert_eq!((changed(&["hv=1", "pr=1"]).privilege, changed(&["pr=1"]).machine_state), (3, 1 << 14));
        assert_eq!(changed(&["msr=0x1000000000000000"]).privilege, 0);
    }

    #[test]
    fn a_bit_of_the_msr_leaves_the_others_alone() {
        // TS is bits 29:30, PMM bit 61; bit 0 has no meaning for the PMU and stays.
        let context = changed(&["msr=0x8000000000000000", "ts=2", "pmm=1"]);
        assert_eq!(context.machine_state, 1 << 63 | 0b10 << 33 | 1 << 2);
    }

    #[test]
    fn the_control_word_is_made_of_its_fields() {
        // RUN is bit 63, PRIORITY bits 53:55, HFSCR_NO_PM bit 40.
        let context = changed(&["run=1", "priority=4", "hfscr_no_pm=1", "time_base=77"]);
        assert_eq!(context.control, 1 | 4 << 8 | 1 << 23);
        assert_eq!(context.time_base, 77);
    }
}
