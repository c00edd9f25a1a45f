//! A run as one page of HTML that needs nothing else: counters of CPUs and of boxes, freezes and interrupts over time, registers at any
//! moment, samples, the stack of cycles, and every check.
//!
//! [`Watch`] follows the run and [`write()`] makes the page, whose charts plotly.js draws, which the crate `plotly` carries. What the guest
//! named is escaped everywhere: as HTML, in the data, and as what plotly.js would take for marks.

mod boxes;
mod figures;
mod flame;
mod html;
mod moments;
mod nests;
mod registers;
mod shared_figures;
mod text;
mod watch;

pub use boxes::{BoxCounter, Boxes};
pub use moments::{Moment, Moments, Time};
pub use nests::Nests;
pub use watch::{Cpu, Interrupt, Interval, MOST_INTERVALS, MOST_MOMENTS, Thinned, Watch};

use serde::Serialize;
use serde_json::{Value, json};
use vm_pmu::Part;
use vm_pmu::arch::model::RegisterDescription;

use crate::profile::Profile;
use crate::report::{Action, Report};
use crate::symbols::Symbols;

/// A field of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// Its bits, as the manual numbers them.
    pub bits: String,
    /// Its highest bit, the least significant of the register being 0.
    pub high: u8,
    /// Its lowest bit.
    pub low: u8,
    /// It is reserved.
    pub reserved: bool,
}

/// What a register's value says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// The event that it selects.
    pub event: Option<String>,
    /// What each field says, or nothing.
    pub fields: Vec<String>,
}

/// The words for what a page shows, in those of the part's manual.
pub trait Words {
    /// The fields of a register.
    fn fields(&self, register: &RegisterDescription) -> Vec<Field>;

    /// What a value says; its fields in the order of [`fields`](Words::fields).
    fn meaning(&self, register: &RegisterDescription, value: u64) -> Meaning;

    /// What passed, and what that means.
    fn action(&self, action: &Action, address: u64) -> (String, String);

    /// The fields that a write changed.
    fn changes(&self, action: &Action) -> Vec<String>;
}

/// What the cycles of a run went to. Each cycle is in one of the parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// The name of the metric or event, what the cycles are, and how many there are for an instruction.
    pub causes: Vec<(String, String, f64)>,
    /// Where the manual says it.
    pub source: &'static str,
}

/// What a page is made of. What cannot be shown says why.
pub struct Page<'a> {
    /// The report of the run.
    pub report: &'a Report,
    /// The part.
    pub part: Part,
    /// What passed on each CPU.
    pub cpus: &'a [Cpu],
    /// What boxes counted that the CPUs share.
    pub boxes: &'a Boxes,
    /// What nests posted.
    pub nests: &'a Nests,
    /// The symbols of the guest's file.
    pub symbols: &'a Symbols,
    /// Samples of cycles.
    pub profile: Result<Profile, String>,
    /// What the cycles went to.
    pub stack: Result<Stack, String>,
    /// The words.
    pub words: &'a dyn Words,
}

/// In what time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    Cycles,
    /// Where no cycles passed.
    Instructions,
}

impl Clock {
    fn of(cpus: &[Cpu]) -> Clock {
        if cpus.iter().any(|cpu| cpu.end.cycle != 0) { Clock::Cycles } else { Clock::Instructions }
    }

    fn unit(self) -> &'static str {
        match self {
            Clock::Cycles => "cycles",
            Clock::Instructions => "instructions",
        }
    }

    fn at(self, time: Time) -> u64 {
        match self {
            Clock::Cycles => time.cycle,
            Clock::Instructions => time.instruction,
        }
    }
}

/// What the page's program and its charts are made from.
#[must_use]
pub fn data(page: &Page<'_>) -> Value {
    let clock = Clock::of(page.cpus);
    let mut meanings = registers::Meanings::default();
    let cpu = |(number, cpu): (usize, &Cpu)| {
        json!({
            "registers": registers::described(page, cpu),
            "moments": registers::moments(page, cpu, &mut meanings),
            "start": registers::start(cpu),
            "figure": figures::counters(page, number, cpu, clock),
        })
    };
    let cpus: Vec<Value> = page.cpus.iter().enumerate().map(cpu).collect();
    json!({
        "unit": clock.unit(),
        "cpus": cpus,
        "shared": shared_figures::figures(page),
        "meanings": meanings.finish(),
        "interrupts": figures::interrupts(page, clock),
        "flame": page.profile.as_ref().ok().map(|profile| flame::figure(profile, page.symbols)),
        "stack": page.stack.as_ref().ok().map(figures::stack),
    })
}

/// The page.
#[must_use]
pub fn write(page: &Page<'_>) -> String {
    html::page(page, &data(page), Clock::of(page.cpus))
}
