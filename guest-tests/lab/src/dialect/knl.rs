//! Knights Landing: two general counters and three fixed ones a thread (Performance Monitoring RM, chapter 2 and section 1.2).

mod fixed;
mod names;
mod offcore;
mod program;
mod selection;
mod untile;

use vm_pmu::arch::event::Entry;
use vm_pmu::arch::knl::untile::UnitId;
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

use super::x86::{self, words::Limits};
use super::{Dialect, Programming};
use crate::dialect::names::Names;
use crate::dialect::select::Request;
use crate::error::Error;

/// Knights Landing's dialect.
pub(super) struct Knl;

/// What a thread has.
const LIMITS: Limits = Limits { bits: 40, any_thread: true };

impl Dialect for Knl {
    fn manual(&self) -> &'static str {
        "KNL PMU RM"
    }

    fn unit_title(&self, unit: &str) -> &'static str {
        match unit {
            "tile" => "what each thread counts of itself, its core and its tile",
            "edc-uclk" => "an MCDRAM controller, at the untile's clock: its cache",
            "edc-eclk" => "an MCDRAM controller, at the clock of MCDRAM: its queues",
            "mc-uclk" => "a memory controller, at the untile's clock",
            "mc-dclk" => "a channel of a memory controller, at the clock of DDR",
            "cha" => "a caching and home agent: requests, the snoop filter",
            "cms" => "the mesh stop of every box: selects from 80h up, in the box's own registers",
            "m2pcie" => "the mesh's port to PCI Express",
            "irp" => "the port of inbound transactions",
            _ => "",
        }
    }

    fn registers(&self, part: Part) -> &'static [RegisterDescription] {
        untile::all(part)
    }

    fn place(&self, counters: &[u32]) -> String {
        match counters {
            // The general counters of a thread come first, and its fixed ones after them; no box has a counter to itself but 0.
            [fixed @ 2..=4] => format!("IA32_FIXED_CTR{}", fixed - 2),
            [only] => format!("counter {only}"),
            many => format!("counters {}", many.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")),
        }
    }

    fn names(&self) -> Names {
        names::NAMES
    }

    fn modifiers(&self, event: &Entry) -> &'static str {
        match event.unit {
            "tile" if event.fixed => program::FIXED_TAKES,
            "tile" if event.name.starts_with("OFFCORE_RESP") => program::OFFCORE_TAKES,
            "tile" => program::THERE_ARE,
            _ => untile::THERE_ARE,
        }
    }

    fn label(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String> {
        match untile::located(register.address) {
            Some(located) => untile::label(located, field, value),
            None if selection::is_select(register) => selection::label(field, value),
            None => None,
        }
    }

    fn meaning(&self, register: &RegisterDescription, field: &Field, value: u64) -> String {
        let said = match (register.name, untile::located(register.address)) {
            (_, Some(located)) => untile::meaning(located, field, value),
            _ if selection::is_select(register) => selection::meaning(field, value),
            ("MSR_OFFCORE_RESP0", _) => offcore::meaning(0, field, value),
            ("MSR_OFFCORE_RESP1", _) => offcore::meaning(1, field, value),
            _ if field.name == "CTR" => Some(x86::counter_meaning(field.of(value), LIMITS.bits)),
            _ => None,
        };
        said.unwrap_or_else(|| if field.of(value) == 0 { String::new() } else { field.summary.trim().to_owned() })
    }

    fn notation(&self, register: &RegisterDescription, value: u64) -> Option<String> {
        if let Some(located) = untile::located(register.address) {
            return untile::notation(located, value);
        }
        match register.name {
            _ if selection::is_select(register) => selection::notation(value),
            "IA32_FIXED_CTR_CTRL" => fixed::notation(value),
            "MSR_OFFCORE_RESP0" => offcore::notation(0, value),
            "MSR_OFFCORE_RESP1" => offcore::notation(1, value),
            _ => None,
        }
    }

    fn encode(&self, part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        // The thread's counters and those of each box are separate programs; a program's order is that of its requests.
        let mut groups: Vec<(Option<UnitId>, Vec<usize>)> = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            let owner = if untile::boxed(request.event).is_some() { Some(untile::unit_of(request)?) } else { None };
            match groups.iter_mut().find(|(other, _)| *other == owner) {
                Some((_, members)) => members.push(index),
                None => groups.push((owner, vec![index])),
            }
        }
        let mut program: Vec<(usize, Programming)> = Vec::new();
        for (owner, members) in groups {
            let of_group: Vec<&Request<'_>> = members.iter().filter_map(|index| requests.get(*index)).collect();
            let written = match owner {
                Some(unit) => untile::encode(part, unit, &of_group)?,
                None => program::encode(part, &of_group)?,
            };
            program.extend(members.into_iter().zip(written));
        }
        program.sort_by_key(|(index, _)| *index);
        Ok(program.into_iter().map(|(_, programming)| programming).collect())
    }
}
