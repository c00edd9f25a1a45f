//! The counters of each part: what each of them counts, and how much it has counted.

use vm_pmu::Part;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu_board::trace::Value;

use crate::dialect::{self, select};
use crate::timeline;

/// A counter of a thread, from one frame to the next.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Its register.
    pub register: &'static RegisterDescription,
    /// The event, as `pmulab encode` takes it; nothing if none is selected.
    pub event: Option<String>,
    /// What it holds.
    pub value: u64,
    /// How much it has counted since the last frame. What the guest wrote to it meanwhile is no count.
    pub grown: u64,
    /// The bits that count.
    mask: u64,
    /// What it held when growth was last added.
    held: u64,
}

impl Counter {
    /// The counter that `register` is, if it is one.
    pub(super) fn new(register: &'static RegisterDescription) -> Option<Counter> {
        let mask = timeline::bits(register);
        timeline::is_counter(register).then_some(Counter { register, event: None, value: 0, grown: 0, mask, held: 0 })
    }

    /// It was written: it held `before` and holds `after`.
    pub(super) fn written(&mut self, before: Option<u64>, after: u64) {
        self.grow(before.unwrap_or(self.held));
        self.held = after & self.mask;
    }

    fn grow(&mut self, value: u64) {
        self.grown = self.grown.wrapping_add(value.wrapping_sub(self.held) & self.mask);
        self.held = value & self.mask;
    }

    /// A frame begins.
    pub(super) fn begin(&mut self) {
        self.grown = 0;
    }

    /// It holds what is among `values`, whose selects say what it counts.
    pub(super) fn update(&mut self, part: Part, values: &[Value]) {
        let of = |name: &str| values.iter().find(|one| one.register.name == name).map(|one| one.value);
        self.value = of(self.register.name).unwrap_or(self.value) & self.mask;
        self.grow(self.value);
        self.event = event(part, self.register.name, of);
    }

    /// It selects nothing, and holds nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.event.is_none() && self.value == 0 && self.grown == 0
    }

    /// How much more it counts until it overflows; on POWER, until it is negative or, if it is, until it is 0.
    #[must_use]
    pub fn left(&self, part: Part) -> u64 {
        let half = (self.mask >> 1) + 1;
        if matches!(part, Part::Power9(_)) && self.value < half { half - self.value } else { (self.mask - self.value).saturating_add(1) }
    }
}

/// The event that the counter `name` counts.
fn event(part: Part, name: &str, value: impl Fn(&str) -> Option<u64>) -> Option<String> {
    let notation = |register: &str, value: u64| dialect::of(part).notation(select::register(part, register).ok()?, value);
    let selected = |prefix: &str, select: &str| {
        let select = format!("{select}{}", name.strip_prefix(prefix)?);
        notation(&select, value(&select)?)
    };
    let number = name.chars().last()?.to_digit(10)?;
    match part {
        Part::K8(_) => selected("PerfCtr", "PerfEvtSel"),
        Part::Knl(_) if name.starts_with("IA32_FIXED_CTR") => {
            // Four bits for each counter (SDM volume 3, 18.2.2).
            const CONTROL: &str = "IA32_FIXED_CTR_CTRL";
            notation(CONTROL, value(CONTROL)? & 15 << (4 * number))
        }
        Part::Knl(_) => selected("IA32_PMC", "IA32_PERFEVTSEL"),
        Part::Power9(_) if number == 5 => Some("PM_RUN_INST_CMPL".to_owned()),
        Part::Power9(_) if number == 6 => Some("PM_RUN_CYC".to_owned()),
        Part::Power9(_) => {
            // A selector of eight bits for each of PMC1 to PMC4, that of PMC4 last (appendix A.4).
            const MMCR1: &str = "MMCR1";
            const SELECTORS: u64 = 0xffff_ffff;
            let value = value(MMCR1)?;
            let one = 0xff << (8 * 4u32.checked_sub(number)?);
            Some(notation(MMCR1, value & !SELECTORS | value & one)?.replace(&format!(":pmc={number}"), ""))
        }
        Part::Itanium(_) | Part::Montecito(_) => selected("PMD", "PMC"),
    }
}
