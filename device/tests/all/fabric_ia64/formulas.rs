//! The derived monitors of the manual's table 4-38 and section 4.11.2, from live counts.

use vm_pmu::arch::event::Metric;
use vm_pmu::companion::{AccessKind, parts};

use super::system::{System, companion};
use super::{catalogue, everything, read};

const NAME: &str = "montecito";

/// A formula that is being computed.
struct Formula<'a> {
    rest: &'a str,
    count: &'a dyn Fn(&str) -> f64,
}

impl Formula<'_> {
    fn take(&mut self, letter: char) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(letter);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.take('+') {
                value += self.product();
            } else if self.take('-') {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.factor();
        loop {
            if self.take('*') {
                value *= self.factor();
            } else if self.take('/') {
                value /= self.factor();
            } else {
                return value;
            }
        }
    }

    fn factor(&mut self) -> f64 {
        if self.take('(') {
            let value = self.sum();
            assert!(self.take(')'));
            return value;
        }
        let end = self.rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '.'));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word.parse().unwrap_or_else(|_| (self.count)(word))
    }
}

fn metrics() -> impl Iterator<Item = &'static Metric> {
    catalogue(NAME).metrics().iter().filter(|metric| matches!(metric.table, "4-38" | "4.11.2"))
}

/// What the metric of this name comes to after `work`.
fn value(name: &str, third: u64, work: &dyn Fn(&mut System<'_>)) -> f64 {
    let count = |word: &str| match metrics().find(|metric| metric.name == word) {
        Some(_) => value(word, third, work),
        None => read(&companion(&parts::MONTECITO, third), word, work) as f64,
    };
    let metric = metrics().find(|metric| metric.name == name).unwrap();
    Formula { rest: metric.formula, count: &count }.sum()
}

#[test]
fn every_derived_monitor_of_the_bus_can_be_computed() {
    let is_dead = |metric: &&Metric| {
        let value = value(metric.name, 64 << 10, &everything);
        !(value.is_finite() && value > 0.0)
    };
    let dead: Vec<_> = metrics().filter(is_dead).map(|metric| metric.name).collect();
    assert_eq!(dead, [""; 0]);
}

/// Transactions of known kinds.
fn mixed(system: &mut System<'_>) {
    // The other package has three lines modified, and one clean: of the first core BRL, BRL with HITM, BRIL with HITM, BIL with HITM.
    for line in 0..3 {
        system.store(2, 0x20_0000 + line * 0x1_0000);
    }
    system.load(2, 0x30_0000);
    system.load(0, 0x30_0000);
    system.load(0, 0x20_0000);
    system.store(0, 0x21_0000);
    system.access(0, AccessKind::Flush, 0x22_0000, 8);
    // BRP and BWP.
    system.uncacheable(AccessKind::Load, 0x8000_0000);
    system.uncacheable(AccessKind::Store, 0x8000_0000);
    system.device(0x40_0000, 128, false);
}

#[test]
fn derived_monitors_have_the_values_of_known_transactions() {
    let of = |name: &str| value(name, 12 << 20, &mixed);
    // BRL: two of the work, one of `count`, and those of code.
    let code = of("BUS_RD_INSTRUCTIONS");
    assert_eq!(of("BUS_RD_ALL"), 3.0 + code);
    assert_eq!([of("BUS_RD_INVALID"), of("BUS_RD_INVALID_BST"), of("BUS_RD_INVALID_ALL_HITM")], [1.0, 1.0, 2.0]);
    assert_eq!([of("BUS_RD_INVALID_MEMORY"), of("BUS_RD_INVALID_BST_MEMORY")], [0.0, 0.0]);
    assert_eq!(of("BUS_PARTIAL"), 3.0);
    assert_eq!(of("BUS_ADDR_BPRI"), 1.0);
    // Besides BRIL and the parts, what the other had modified is written to memory behind the flush.
    let memory = 3.0 + code + 1.0 + 1.0 + 3.0;
    assert_eq!(of("BUS_BURST"), memory - 3.0);
    assert_eq!(of("BUS_PARTIAL_RATIO"), 3.0 / memory);
    assert_eq!(of("BUS_RD_PRTL_RATIO"), 1.0 / memory);
    assert_eq!(of("BUS_HITM_RATIO"), 2.0 / memory);
    assert_eq!(of("BUS_RD_HITM_RATIO"), 1.0 / (3.0 + code));
    assert_eq!(of("BUS_HITS_RATIO"), 1.0 / (3.0 + code));
    assert_eq!([of("BUS_WB_RATIO"), of("BUS_WB_RATIO_OF_BURST")], [1.0 / memory, 1.0 / (memory - 3.0)]);
    assert_eq!(of("CACHEABLE_READ_RATIO"), (4.0 + code) / memory);
    assert_eq!(of("BIL_HITM_LINE_RATIO_OF_INVALID"), 1.0);
}
