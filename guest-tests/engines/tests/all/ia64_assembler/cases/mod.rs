//! Instructions, and how a programmer writes them for GNU `as`.

mod branches;
mod floating;
mod integer;
mod memory;
pub(crate) mod system;

use vm_pmu_engines::ia64::assemble::{Assembler, Label, Op, P0, P42, Pr};

/// Where an instruction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    M,
    I,
    F,
    B,
    X,
}

/// The labels that an instruction may name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The first bundle of all.
    pub(crate) first: Label,
    /// After the last bundle.
    pub(crate) end: Label,
    /// The bundle after that of the instruction, `.+16`.
    pub(crate) next: Label,
}

/// An instruction.
pub(crate) struct Case {
    pub(crate) unit: Unit,
    /// How it is written.
    pub(crate) text: String,
    /// Its qualifying predicate.
    pub(crate) predicate: Pr,
    op: Box<dyn Fn(Places) -> Op>,
}

impl Case {
    /// How it is written, with its predicate.
    pub(crate) fn qualified(&self) -> String {
        match self.predicate {
            P0 => self.text.clone(),
            predicate => format!("(p{}) {}", predicate.number(), self.text),
        }
    }

    fn op(&self, places: Places) -> Op {
        let op = (self.op)(places);
        if self.predicate == P0 { op } else { op.when(self.predicate) }
    }
}

/// Collects cases.
#[derive(Default)]
struct Table {
    cases: Vec<Case>,
}

impl Table {
    /// An instruction that may have a qualifying predicate, with one.
    fn add(&mut self, unit: Unit, text: impl Into<String>, op: impl Fn(Places) -> Op + 'static) {
        self.cases.push(Case { unit, text: text.into(), predicate: P42, op: Box::new(op) });
    }

    /// An instruction without qualifying predicate.
    fn always(&mut self, unit: Unit, text: impl Into<String>, op: impl Fn(Places) -> Op + 'static) {
        self.cases.push(Case { unit, text: text.into(), predicate: P0, op: Box::new(op) });
    }
}

/// Instructions with their text.
macro_rules! written {
    ($table:ident $unit:ident $($text:literal $op:expr;)*) => {
        $($table.add($crate::ia64_assembler::cases::Unit::$unit, $text, |_| $op);)*
    };
}

/// Functions whose name is the mnemonic, all with the same operands.
macro_rules! named {
    ($table:ident $unit:ident $operands:literal $arguments:tt: $($name:ident)*) => {
        $($table.add(
            $crate::ia64_assembler::cases::Unit::$unit,
            format!("{} {}", stringify!($name).trim_end_matches('_').replace('_', "."), $operands),
            |_| $name $arguments,
        );)*
    };
}

use {named, written};

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let mut table = Table::default();
    integer::fill(&mut table);
    memory::fill(&mut table);
    system::fill(&mut table);
    floating::fill(&mut table);
    branches::fill(&mut table);
    table.cases
}

/// Where the code of [`assembled`] begins.
pub(crate) const BASE: u64 = 0;

/// The code of the cases: a bundle for each.
pub(crate) fn assembled(cases: &[Case]) -> Vec<u8> {
    let mut a = Assembler::new(BASE);
    let (first, end) = (a.mark(), a.label());
    for case in cases {
        let next = a.label();
        a.put(case.op(Places { first, end, next }));
        a.here(next);
    }
    a.here(end);
    a.finish().unwrap()
}
