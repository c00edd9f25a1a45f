//! What registers hold, whoever may read them.

use vm_pmu::State;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::k8;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::power9::{self, Mmcr0, spr};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;
use vm_pmu::untile::at_msr;

use super::Value;
use crate::report::Action;

/// The numbers by which problem state reads and writes registers of POWER; the privileged ones are 16 more.
const OF_PROBLEM_STATE: std::ops::RangeInclusive<u16> = 768..=783;

/// The manual's name of a register; `None` of one that is not the PMU's.
pub(super) fn name(registers: &[RegisterDescription], address: Address) -> Option<String> {
    match address {
        Address::Rdpmc(index) => Some(format!("RDPMC {index}")),
        address => match registers.iter().find(|register| register.address == address) {
            Some(register) => Some(register.name.to_owned()),
            // What else is in configuration space has no name of its own.
            None => matches!(address, Address::Pci(_)).then(|| address.to_string()),
        },
    }
}

/// The registers of a thread that samples have: each once, and none of the package's boxes.
#[must_use]
pub fn sampled<L: InterruptLine>(thread: &Thread<'_, L>) -> Vec<&'static RegisterDescription> {
    let has = |register: &&RegisterDescription| match register.address {
        Address::Rdpmc(_) | Address::Bhrb(_) | Address::Imc | Address::Pci { .. } | Address::Ibr(_) | Address::Dbr(_) => false,
        // The full-width names of counters show what their others do.
        Address::Msr(msr) => at_msr(msr).is_none() && !register.name.starts_with("IA32_A_"),
        Address::Spr(number) => !OF_PROBLEM_STATE.contains(&number),
        _ => true,
    };
    thread.registers().iter().filter(has).filter(|register| value(thread, register.address).is_some()).collect()
}

/// What a register holds, whatever the thread's state allows to read.
pub(super) fn value<L: InterruptLine>(thread: &Thread<'_, L>, address: Address) -> Option<u64> {
    thread.look(address).ok().or_else(|| of_state(&thread.state(), address))
}

/// Puts what all of `registers` hold into `values`. A register that the thread cannot read now, and whose value is no part of what the PMU
/// remembers by itself, is as it was: only a privileged write changes it.
pub fn update<L: InterruptLine>(thread: &Thread<'_, L>, registers: &[&'static RegisterDescription], values: &mut Vec<Value>) {
    let state = thread.state();
    if values.len() != registers.len() {
        values.clear();
        values.extend(registers.iter().map(|register| Value { register, value: 0 }));
    }
    for one in values {
        let address = one.register.address;
        if let Some(value) = of_state(&state, address).or_else(|| thread.look(address).ok()) {
            one.value = value;
        }
    }
}

/// What the PMU remembers of a register, if it does as such.
fn of_state(state: &State, address: Address) -> Option<u64> {
    let from = |first: u32, number: u32, values: &[u64]| values.get(number.checked_sub(first)? as usize).copied();
    match (address, state) {
        (Address::Spr(number), State::Power9(state)) => of_power(state, number),
        (Address::Msr(msr), State::K8(state)) => {
            from(k8::Register::PERF_EVT_SEL0, msr, &state.selects).or_else(|| from(k8::Register::PERF_CTR0, msr, &state.counters))
        }
        (Address::Msr(msr), State::Knl(state)) => match msr {
            knl::FIXED_CTR_CTRL => Some(state.fixed_ctr_ctrl),
            knl::GLOBAL_CTRL => Some(state.global_ctrl),
            knl::GLOBAL_STATUS => Some(state.global_status),
            msr => {
                let (general, fixed) = state.counters.split_at(state.selects.len());
                from(knl::PMC0, msr, general)
                    .or_else(|| from(knl::FIXED_CTR0, msr, fixed))
                    .or_else(|| from(knl::PERFEVTSEL0, msr, &state.selects))
            }
        },
        (Address::Pmd(number), State::Itanium(state)) => from(FIRST_PMD, number.into(), &state.counts),
        (Address::Pmd(number), State::Montecito(state)) => from(FIRST_PMD, number.into(), &state.counts),
        _ => None,
    }
}

/// The numbers of Knights Landing's registers (SDM volume 3, chapter 35).
mod knl {
    pub(super) const PMC0: u32 = 0xC1;
    pub(super) const PERFEVTSEL0: u32 = 0x186;
    pub(super) const FIXED_CTR0: u32 = 0x309;
    pub(super) const FIXED_CTR_CTRL: u32 = 0x38D;
    pub(super) const GLOBAL_STATUS: u32 = 0x38E;
    pub(super) const GLOBAL_CTRL: u32 = 0x38F;
}

/// The first counter of both Itaniums.
const FIRST_PMD: u32 = 4;

fn of_power(state: &power9::State, number: u16) -> Option<u64> {
    let number = if OF_PROBLEM_STATE.contains(&number) { number + 16 } else { number };
    Some(match number {
        spr::MMCR0 => state.mmcr0,
        spr::MMCR1 => state.mmcr1,
        spr::MMCR2 => state.mmcr2,
        spr::MMCRA => state.mmcra,
        spr::SIER => state.sier,
        spr::SIAR => state.siar,
        spr::SDAR => state.sdar,
        spr::BESCR => state.bescr,
        spr::LDBAR => state.ldbar,
        number => (*state.counters.get(usize::from(number.checked_sub(spr::PMC1)?))?).into(),
    })
}

/// Whether a part's PMU freezes as a whole.
pub(super) fn freezes(state: &State) -> bool {
    frozen(state).is_some()
}

/// Whether the PMU is frozen; `None` of a part whose counters stop one by one.
#[must_use]
pub fn frozen(state: &State) -> Option<bool> {
    match state {
        // FREEZE_PERFMON_ON_PMI clears IA32_PERF_GLOBAL_CTRL, and so does software that stops all counters.
        State::Knl(state) => Some(state.global_ctrl == 0),
        State::Power9(state) => Some(Mmcr0::written(state.mmcr0).fc()),
        // PMC0.fr.
        State::Itanium(state) => Some(state.overflow & 1 != 0),
        State::Montecito(state) => Some(state.overflow & 1 != 0),
        // The K8's counters are enabled one by one.
        _ => None,
    }
}

/// The counters that ask for an alert where one of POWER's lines comes up, from the levels `before` to `lines`; `None` where none does.
pub(crate) fn raised(before: [bool; 2], lines: [bool; 2], state: &State) -> Option<u32> {
    lines.iter().zip(before).any(|(line, before)| *line && !before).then(|| negative(state))
}

/// The counters of POWER that are negative and whose condition is enabled, a bit each.
fn negative(state: &State) -> u32 {
    let State::Power9(state) = state else { return 0 };
    let mmcr0 = Mmcr0::written(state.mmcr0);
    let enabled = |number: u32| if number == 1 { mmcr0.pmc1ce() } else { mmcr0.pmcjce() };
    (1..).zip(state.counters).filter(|(number, value)| enabled(*number) && value >> 31 == 1).fold(0, |bits, (number, _)| bits | 1 << number)
}

/// An access that a thread made, as it ended: what the register held before and after it, what was written, and the answer.
pub(super) fn access(
    registers: &[RegisterDescription],
    address: Address,
    (before, after): (Option<u64>, Option<u64>),
    wrote: Option<u64>,
    answer: Result<u64, Fault>,
) -> Option<Action> {
    let register = || name(registers, address);
    Some(match (wrote, answer) {
        (Some(value), Ok(_)) => Action::Write { register: register()?, before, value, after: after.filter(|after| *after != value) },
        (None, Ok(value)) => Action::Read { register: register()?, value },
        (_, Err(Fault::Unclaimed | Fault::NoOperation)) => return None,
        (wrote, Err(_)) => Action::Fault { register: register()?, wrote },
    })
}
