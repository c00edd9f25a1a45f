//! Files about the first Itanium: one thread per package.

use vm_pmu_arch::access::Address;

use super::{Dialect, ia64};

pub(super) static ITANIUM: Dialect = Dialect {
    name: "itanium",
    fields: &ia64::FIELDS,
    settle: ia64::settle,
    topmost: &ia64::TOPMOST,
    forms: ia64::FORMS,
    more: &BESIDE,
    faults: &ia64::FAULTS,
    not_zero,
};

/// A counter's bits above bit 31, which copy it.
fn not_zero(address: Address) -> u64 {
    match address {
        Address::Pmd(4..=7) => u64::MAX << 32,
        _ => 0,
    }
}

/// Indexes beyond the existing registers.
static BESIDE: [Address; 6] = [Address::Pmc(14), Address::Pmc(255), Address::Pmd(18), Address::Pmd(255), Address::Ibr(8), Address::Dbr(8)];
