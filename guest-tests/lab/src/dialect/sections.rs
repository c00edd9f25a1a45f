//! The section that describes a register: of the part's manual, or of another source where that has none.

use vm_pmu::arch::access::Address;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

/// Where `register` of `part` is described; nothing if that is in no manual the models are written from.
///
/// ```
/// use vm_pmu::Part;
/// use vm_pmu_lab::dialect::{sections, select};
///
/// let part = Part::named("power9").unwrap();
/// let section = |name| sections::of(part, select::register(part, name).unwrap());
/// assert_eq!(section("UMMCR0"), "POWER9 PMU UG appendix A.3");
/// ```
#[must_use]
pub fn of(part: Part, register: &RegisterDescription) -> &'static str {
    match part {
        Part::K8(_) if register.name.starts_with("PerfEvtSel") => "AMD BKDG 10.2",
        Part::K8(_) => "AMD BKDG 10.1",
        Part::Knl(_) => of_knl(register),
        Part::Power9(_) => of_power9(register),
        Part::Itanium(_) => of_itanium(register.address),
        Part::Montecito(_) => of_montecito(register.address),
    }
}

fn of_knl(register: &RegisterDescription) -> &'static str {
    match register.name {
        "IA32_PERFEVTSEL0" | "IA32_PERFEVTSEL1" | "IA32_PMC0" | "IA32_PMC1" => "Intel SDM volume 3B, 18.2.1.1",
        "IA32_A_PMC0" | "IA32_A_PMC1" => "Intel SDM volume 3B, full-width writes",
        "IA32_DEBUGCTL" => "Intel SDM volume 3B, 17.4.1 and 17.4.7",
        "MSR_OFFCORE_RESP0" | "MSR_OFFCORE_RESP1" => "KNL PMU RM 1.2.4, table 1-1",
        name if name.starts_with("IA32_FIXED_CTR") => "Intel SDM volume 3B, 18.2.2.1",
        name if name.starts_with("IA32_PERF_GLOBAL") => "Intel SDM volume 3B, 18.2.2.1 and 18.2.3",
        name if name.starts_with("PERF_UNIT_CTL") => "KNL PMU RM table 1-2",
        name if name.contains("_PMON_") => "docs/notes/knights-landing-drivers.md 6.1, from Linux's uncore_snbep.c",
        _ => "",
    }
}

fn of_power9(register: &RegisterDescription) -> &'static str {
    match register.name.strip_prefix('U').unwrap_or(register.name) {
        "MMCRC" => "POWER9 PMU UG appendix A.2",
        "MMCR0" => "POWER9 PMU UG appendix A.3",
        "MMCR1" => "POWER9 PMU UG appendix A.4",
        "MMCR2" => "POWER9 PMU UG appendix A.5",
        "MMCRA" => "POWER9 PMU UG appendix A.6",
        "SIER" => "POWER9 PMU UG appendix A.7",
        "BESCR" => "Power ISA 3.0 Book II, 6.2",
        "LDBAR" => "Linux, imc-pmu.c; the guide does not have it",
        name if name.starts_with("PMC") => "POWER9 PMU UG appendix A.1",
        _ => "POWER9 PMU UG 1.3.1",
    }
}

/// What the two IA-64 parts have from their architecture.
const BREAKPOINTS: &str = "Itanium SDM volume 2, 7.1";

fn of_itanium(address: Address) -> &'static str {
    match address {
        Address::Pmc(0) => "Itanium RM 6.2.4, Table 6-8",
        Address::Pmc(4..=7) | Address::Pmd(4..=7) => "Itanium SDM volume 2, 7.2.1",
        Address::Pmc(8..=9) => "Itanium RM 6.2.5, Table 6-11",
        Address::Pmc(10) => "Itanium RM 6.2.7.1, Table 6-12",
        Address::Pmc(11) => "Itanium RM 6.2.6 and 6.2.7.4",
        Address::Pmc(12) | Address::Pmd(8..=16) => "Itanium RM 6.2.8",
        Address::Pmc(13) => "Itanium RM 6.2.4, Table 6-9",
        Address::Pmd(0..=1) => "Itanium RM 6.2.7, Figure 6-18",
        Address::Pmd(2..=3 | 17) => "Itanium RM 6.2.7.4",
        Address::Ibr(_) | Address::Dbr(_) => BREAKPOINTS,
        _ => "",
    }
}

fn of_montecito(address: Address) -> &'static str {
    match address {
        Address::Pmc(0) => "Montecito RM Table 3-8",
        Address::Pmc(4..=15) => "Montecito RM 3.3.2, Tables 3-5 and 3-6",
        Address::Pmc(32 | 34) => "Montecito RM Table 3-11",
        Address::Pmc(33 | 35) => "Montecito RM Table 3-12",
        Address::Pmc(36) => "Montecito RM Table 3-13",
        Address::Pmc(37) => "Montecito RM Table 3-15",
        Address::Pmc(38) => "Montecito RM Table 3-10",
        Address::Pmc(39) => "Montecito RM Table 3-26",
        Address::Pmc(40) => "Montecito RM Table 3-20",
        Address::Pmc(41) => "Montecito RM Table 3-14",
        Address::Pmc(42) => "Montecito RM Table 3-30",
        Address::Pmd(4..=15) => "Montecito RM 3.3.2, Table 3-7",
        Address::Pmd(32..=33 | 36) => "Montecito RM Tables 3-22 to 3-25",
        Address::Pmd(34) => "Montecito RM Tables 3-17 and 3-19",
        Address::Pmd(35) => "Montecito RM Table 3-17",
        Address::Pmd(38) => "Montecito RM Tables 3-28 and 3-32",
        Address::Pmd(48..=63) => "Montecito RM Tables 3-27 and 3-31",
        Address::Ibr(_) | Address::Dbr(_) => BREAKPOINTS,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::select;

    #[test]
    fn almost_every_register_has_a_section() {
        for part in select::parts(None).unwrap() {
            let without: Vec<&str> =
                select::registers(part).iter().filter(|register| of(part, register).is_empty()).map(|register| register.name).collect();
            // No manual that the models are written from has these.
            let known = ["IA32_MISC_ENABLE", "IA32_PERF_CAPABILITIES", "PMC1", "PMC2", "PMC3", "PMD39"];
            assert!(without.iter().all(|name| known.contains(name)), "{}: {without:?}", part.name());
        }
    }
}
