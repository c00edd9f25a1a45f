//! Files about Montecito: a package is a core, of one thread or of two that take turns.

use vm_pmu_arch::access::Address;

use super::{Dialect, ia64};

pub(super) static MONTECITO: Dialect = Dialect {
    name: "montecito",
    fields: &ia64::FIELDS,
    settle: ia64::settle,
    topmost: &ia64::TOPMOST,
    forms: ia64::FORMS,
    more: &BESIDE,
    faults: &ia64::FAULTS,
    not_zero,
};

/// Bits that PMC36, 38 and 41 keep from reset (Tables 3-10, 3-13 and 3-14), and those of a counter above bit 46, which copy it.
fn not_zero(address: Address) -> u64 {
    match address {
        Address::Pmc(36) => 0xFFFF_FFF0,
        Address::Pmc(38) => 0x0924,
        Address::Pmc(41) => 0x2078_FEFE_FEFE,
        Address::Pmd(4..=15) => u64::MAX << 47,
        _ => 0,
    }
}

/// Indexes on either side of the existing registers.
static BESIDE: [Address; 8] = [
    Address::Pmc(16),
    Address::Pmc(43),
    Address::Pmc(255),
    Address::Pmd(3),
    Address::Pmd(47),
    Address::Pmd(64),
    Address::Ibr(8),
    Address::Dbr(8),
];

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use vm_pmu_arch::feed::Context;

    use super::*;

    fn changed(changes: &[&str]) -> Context {
        changes.iter().fold(Context::RESET, |context, change| {
            let (field, value) = MONTECITO.context(change).expect("a field of IA-64");
            MONTECITO.change(context, field, value, 0)
        })
    }

    #[test]
    fn the_privilege_level_follows_from_psr() {
        // PSR.cpl is bits 33:32.
        let user = changed(&["cpl=3"]);
        assert_eq!((user.privilege, user.machine_state), (3, 3 << 32));
        assert_eq!(changed(&["psr=0x200000000"]).privilege, 2);
        assert_eq!(changed(&["cpl=3", "psr=0"]).privilege, 0);
    }

    #[test]
    fn each_word_is_its_bit_of_psr() {
        for (word, bit) in [("up", 2), ("ic", 13), ("i", 14), ("sp", 20), ("pp", 21), ("db", 24), ("is", 34)] {
            assert_eq!(changed(&[&alloc::format!("{word}=1")]).machine_state, 1 << bit, "{word}");
            let rest = [String::from("psr=-1"), alloc::format!("{word}=0")];
            assert_eq!(changed(&[&rest[0], &rest[1]]).machine_state, !(1 << bit), "{word}");
        }
    }

    #[test]
    fn what_is_no_part_of_psr_leaves_it_alone() {
        let context = changed(&["up=1", "foreground=0", "halted=1", "dcr=1"]);
        assert_eq!((context.machine_state, context.control), (1 << 2, 1));
        assert!(!context.foreground && context.halted);
    }

    #[test]
    fn a_level_beyond_3_is_refused() {
        assert_eq!(MONTECITO.context("cpl=4"), Err("`cpl=4` does not fit: cpl has 2 bits".into()));
    }
}
