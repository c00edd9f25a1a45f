//! The registers of each moment, for the page's program.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Cpu, Meaning, Moment, Page};
use crate::report::Action;
use crate::timeline::is_counter;

/// The most values of registers whose meaning a page has.
const MOST_MEANINGS: usize = 30_000;

/// What values of registers mean, each once.
#[derive(Debug, Default)]
pub(super) struct Meanings {
    known: BTreeMap<&'static str, Map<String, Value>>,
    all: usize,
}

impl Meanings {
    fn add(&mut self, register: &'static str, value: u64, meaning: impl FnOnce() -> Meaning) {
        if self.all >= MOST_MEANINGS {
            return;
        }
        let known = self.known.entry(register).or_default();
        let hex = hex(value);
        if known.contains_key(&hex) {
            return;
        }
        self.all += 1;
        let Meaning { event, fields } = meaning();
        let said: Map<String, Value> = fields
            .into_iter()
            .enumerate()
            .filter(|(_, text)| !text.is_empty())
            .map(|(number, text)| (number.to_string(), text.into()))
            .collect();
        known.insert(hex, json!([event, said]));
    }

    pub(super) fn finish(self) -> Value {
        json!(self.known)
    }
}

pub(super) fn hex(value: u64) -> String {
    format!("{value:#x}")
}

/// The registers of a CPU, and their fields.
pub(super) fn described(page: &Page<'_>, cpu: &Cpu) -> Value {
    let one = |register: &&'static vm_pmu::arch::model::RegisterDescription| {
        json!({
            "name": register.name,
            "address": register.address.to_string(),
            "counter": is_counter(register),
            "fields": page.words.fields(register),
        })
    };
    cpu.registers.iter().map(one).collect()
}

/// The moments of a CPU: when, what passed, and what changed.
pub(super) fn moments(page: &Page<'_>, cpu: &Cpu, meanings: &mut Meanings) -> Value {
    cpu.moments.kept.iter().map(|moment| one(page, cpu, moment, meanings)).collect()
}

/// The moment that is shown first: that of the first request of an interrupt, or the last.
pub(super) fn start(cpu: &Cpu) -> usize {
    let asks = |moment: &Moment| matches!(moment.action, Some(Action::Interrupt { .. }));
    cpu.moments.kept.iter().position(asks).unwrap_or(cpu.moments.kept.len().saturating_sub(1))
}

fn one(page: &Page<'_>, cpu: &Cpu, moment: &Moment, meanings: &mut Meanings) -> Value {
    let mut value = json!({ "at": [moment.time.instruction, moment.time.cycle] });
    if let Some(action) = &moment.action {
        let (what, means) = page.words.action(action, moment.address);
        value["what"] = what.into();
        value["address"] = hex(moment.address).into();
        if !means.is_empty() {
            value["means"] = means.into();
        }
        if let Some(place) = page.symbols.at(moment.address) {
            value["place"] = place.to_string().into();
        }
        let changes = page.words.changes(action);
        if changes.len() > 1 {
            value["fields"] = changes.into();
        }
    }
    let mut set = Vec::new();
    for (number, held) in &moment.changes {
        if let Some(register) = cpu.registers.get(*number) {
            meanings.add(register.name, *held, || page.words.meaning(register, *held));
            set.push(Value::from(*number));
            set.push(hex(*held).into());
        }
    }
    if !set.is_empty() {
        value["set"] = set.into();
    }
    value
}
