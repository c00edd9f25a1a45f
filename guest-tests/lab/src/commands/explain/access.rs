//! Who may access a register: the model of the part is asked in each state that matters.

use serde::Serialize;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::{Context, Lone};
use vm_pmu::arch::model::{Model, RegisterDescription};
use vm_pmu::litmus::ContextField;
use vm_pmu::{Part, arch::registry::Pmu};

/// Who may access a register, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// The state of the accessing code.
    pub who: String,
    /// What a read meets: `allowed`, or the fault as litmus files write it.
    pub read: &'static str,
    /// What a write meets.
    pub write: &'static str,
    /// Both in words.
    pub says: String,
}

/// A state: what it is called, the fields of the context, and what is written to MMCR0 before.
struct State {
    who: &'static str,
    context: &'static [(&'static str, u64)],
    control: Option<u64>,
}

const fn state(who: &'static str, context: &'static [(&'static str, u64)]) -> State {
    State { who, context, control: None }
}

/// PMCC is bits 44:45 of MMCR0.
const fn problem(who: &'static str, pmcc: u64) -> State {
    State { who, context: &[("hv", 0), ("pr", 1)], control: Some(pmcc << 18) }
}

const X86: [State; 2] = [state("level 0", &[("cpl", 0)]), state("levels 1 to 3", &[("cpl", 3)])];
const RDPMC: [State; 3] = [
    state("RDPMC at level 0", &[("cpl", 0)]),
    state("RDPMC above it, CR4.PCE=1", &[("cpl", 3), ("pce", 1)]),
    state("RDPMC above it, CR4.PCE=0", &[("cpl", 3), ("pce", 0)]),
];
const POWER: [State; 7] = [
    state("hypervisor", &[("hv", 1), ("pr", 0)]),
    state("privileged", &[("hv", 0), ("pr", 0)]),
    State { who: "privileged, HFSCR[PM]=0", context: &[("hv", 0), ("pr", 0), ("hfscr_no_pm", 1)], control: None },
    problem("problem, PMCC=00", 0),
    problem("problem, PMCC=01", 1),
    problem("problem, PMCC=10", 2),
    problem("problem, PMCC=11", 3),
];
const IA64: [State; 2] = [state("level 0", &[("cpl", 0)]), state("levels 1 to 3", &[("cpl", 3)])];

/// Who may access `register`; states that meet the same are one.
#[must_use]
pub(super) fn of(part: Part, register: &RegisterDescription) -> Vec<Access> {
    let (states, rdpmc) = match part {
        Part::K8(_) | Part::Knl(_) => (&X86[..], index_of(part, register.address)),
        Part::Power9(_) => (&POWER[..], None),
        Part::Itanium(_) | Part::Montecito(_) => (&IA64[..], None),
    };
    let mut found: Vec<Access> = Vec::new();
    let by_rdpmc = rdpmc.into_iter().flat_map(|index| RDPMC.iter().map(move |state| (state, Address::Rdpmc(index), false)));
    for (state, address, can_write) in states.iter().map(|state| (state, register.address, true)).chain(by_rdpmc) {
        let (read, write) = probe(part, address, state);
        if read == Some(Fault::Unclaimed) {
            // The boxes that threads share are no part of a thread's model.
            return shared(register.address);
        }
        let write = if can_write { write } else { read };
        let says = words(read, write, can_write);
        match found.last_mut().filter(|last| last.says == says && can_write) {
            Some(last) => last.who = format!("{}; {}", last.who, state.who),
            None => found.push(Access { who: state.who.to_owned(), read: word(read), write: word(write), says }),
        }
    }
    for access in &mut found {
        // Where PMCC does not matter it is not said.
        access.who = access.who.replace("problem, PMCC=00; problem, PMCC=01; problem, PMCC=10; problem, PMCC=11", "problem");
        access.who = access.who.replace("; problem, PMCC=", ", ");
    }
    hidden(register.address, &mut found);
    found
}

/// What a read and a write of zero meet in a state.
fn probe(part: Part, address: Address, state: &State) -> (Option<Fault>, Option<Fault>) {
    let feed = Lone::new();
    let set = |mut pmu: Pmu| {
        if let Some(control) = state.control {
            let topmost = context(part, *pmu.context(), &[("hv", 1), ("pr", 0)]);
            pmu.set_context(topmost, &feed);
            // The hypervisor may write any register.
            let _ = pmu.write(Address::Spr(795), control, &feed);
        }
        let changed = context(part, *pmu.context(), state.context);
        pmu.set_context(changed, &feed);
        pmu
    };
    (set(part.build()).read(address, &feed).err(), set(part.build()).write(address, 0, &feed).err())
}

fn context(part: Part, start: Context, fields: &[(&str, u64)]) -> Context {
    let set = |context, (word, value): &(&str, u64)| match ContextField::from_word(part, word) {
        Some(field) => field.set(part, context, *value, 0),
        None => context,
    };
    fields.iter().fold(start, set)
}

/// The index by which RDPMC reads a counter.
fn index_of(part: Part, address: Address) -> Option<u32> {
    let Address::Msr(number) = address else { return None };
    match (part, number) {
        (Part::K8(_), 0xC001_0004..=0xC001_0007) => number.checked_sub(0xC001_0004),
        (Part::Knl(_), 0xC1..=0xC2) => number.checked_sub(0xC1),
        (Part::Knl(_), 0x309..=0x30B) => number.checked_sub(0x309).map(|index| 1 << 30 | index),
        _ => None,
    }
}

/// The register of a box, which every CPU reaches.
fn shared(address: Address) -> Vec<Access> {
    let (who, says) = match address {
        Address::Msr(_) => ("level 0 of any CPU", "reads and writes; other levels: #GP(0)"),
        _ => ("configuration space", "reads and writes of whoever reaches it"),
    };
    vec![Access { who: who.to_owned(), read: "allowed", write: "allowed", says: says.to_owned() }]
}

/// What a read above level 0 does not show on IA-64 parts.
fn hidden(address: Address, found: &mut [Access]) {
    if let (Address::Pmd(_), Some(last)) = (address, found.last_mut()) {
        last.says.push_str("; a read is 0 while PSR.sp or pm of its PMC is 1");
    }
}

fn word(fault: Option<Fault>) -> &'static str {
    fault.map_or("allowed", Fault::word)
}

fn words(read: Option<Fault>, write: Option<Fault>, can_write: bool) -> String {
    let fault = |fault: Fault| match fault {
        Fault::GeneralProtection => "#GP(0)".to_owned(),
        other => other.to_string(),
    };
    match (read, write) {
        (None, None) if can_write => "reads and writes".to_owned(),
        (None, _) if !can_write => "reads".to_owned(),
        (None, Some(why)) => format!("reads; a write: {}", fault(why)),
        (Some(why), None) => format!("writes; a read: {}", fault(why)),
        (Some(one), Some(other)) if one == other => fault(one),
        (Some(one), Some(other)) => format!("a read: {}; a write: {}", fault(one), fault(other)),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::select;

    fn told(part: &str, name: &str) -> Vec<(String, &'static str, &'static str)> {
        let part = select::part(part).unwrap();
        of(part, select::register(part, name).unwrap()).into_iter().map(|one| (one.who, one.read, one.write)).collect()
    }

    #[test]
    fn counters_of_the_k8_are_read_by_rdpmc_where_cr4_allows() {
        // AMD BKDG 10.1, and RDPMC in the APM: at level 0 always, above it while CR4.PCE is 1.
        let expected = [
            ("level 0", "allowed", "allowed"),
            ("levels 1 to 3", "#GP", "#GP"),
            ("RDPMC at level 0", "allowed", "allowed"),
            ("RDPMC above it, CR4.PCE=1", "allowed", "allowed"),
            ("RDPMC above it, CR4.PCE=0", "#GP", "#GP"),
        ];
        assert_eq!(told("k8", "PerfCtr2"), expected.map(|(who, read, write)| (who.to_owned(), read, write)));
    }

    #[test]
    fn a_hypervisors_register_of_power9_is_no_one_elses() {
        let access = told("power9", "MMCRC");
        assert_eq!(access.first().map(|(who, read, write)| (who.as_str(), *read, *write)), Some(("hypervisor", "allowed", "allowed")));
        assert!(access.iter().skip(1).all(|(_, read, write)| *read != "allowed" && *write != "allowed"), "{access:?}");
    }

    #[test]
    fn data_of_ia64_is_read_at_every_level() {
        // Itanium SDM volume 2, 7.2.1: PMDs are read at any level, and written at level 0.
        let expected = [("level 0", "allowed", "allowed"), ("levels 1 to 3", "allowed", "privileged-operation")];
        assert_eq!(told("montecito", "PMD4"), expected.map(|(who, read, write)| (who.to_owned(), read, write)));
        let configuration = [("level 0", "allowed", "allowed"), ("levels 1 to 3", "privileged-operation", "privileged-operation")];
        assert_eq!(told("montecito", "PMC4"), configuration.map(|(who, read, write)| (who.to_owned(), read, write)));
    }
}
