//! Programs whose loads are known one by one, and what counters read of them.

use std::collections::BTreeMap;

use vm_pmu::arch::event::{Metric, POWER9, POWER9_METRICS};
use vm_pmu::arch::power9::encode::Options as EncodeOptions;
use vm_pmu::arch::power9::{COUNTERS, Mmcr0, spr};
use vm_pmu::companion::Clock;
use vm_pmu_engines::image::Segment;
use vm_pmu_engines::power::assemble::{CR0, Label, R0, R3, R4, R13, R14, R15};
use vm_pmu_engines::power::registers::{lpcr, spr as cpu};
use vm_pmu_guests::power::{CPU, Kernel};
use vm_pmu_lab::dialect::codes_of;
use vm_pmu_lab::metrics::{Run, plan};
use vm_pmu_lab::runner::{Options, run_image};

/// CTRL[RUN].
const RUN: u64 = 1;
/// Loads in a turn of the loop.
const UNROLL: usize = 8;

/// Lines at equal distances: the first, how many, and bytes from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    pub(crate) first: u64,
    pub(crate) number: u64,
    pub(crate) apart: u64,
}

impl Lines {
    pub(crate) fn each(self) -> impl Iterator<Item = u64> {
        (0..self.number).map(move |line| self.first + line * self.apart)
    }
}

/// What is done before the loads.
#[derive(Clone, Copy)]
pub(crate) enum Before {
    /// Lines are driven out of the caches.
    Flush(Lines),
    /// Lines are loaded from.
    Load(Lines),
    /// The translation of pages is forgotten.
    Forget(Lines),
}

/// A tree that translates the addresses of the loads.
pub(crate) struct Tree {
    /// All tables, where PTCR is to point at, in the order of bytes that trees have.
    pub(crate) tables: Vec<u8>,
    pub(crate) address: u64,
    /// What the tree adds to an effective address.
    pub(crate) distance: u64,
}

/// Loads that follow each other: each one's value is the address of the next. Their number is a multiple of eight.
pub(crate) struct Program {
    pub(crate) before: Vec<Before>,
    pub(crate) loads: Vec<u64>,
    pub(crate) chips: usize,
    pub(crate) chips_per_group: usize,
    pub(crate) tree: Option<Tree>,
}

impl Program {
    /// The instructions of the loads: the count of turns goes to CTR, each turn ends with a branch, and a system call comes last.
    pub(crate) fn instructions(&self) -> f64 {
        (1 + self.loads.len() + self.loads.len() / UNROLL + 1) as f64
    }

    /// What the events that these metrics need count over the loads, in problem state. Each run of the plan is a run of the program.
    pub(crate) fn counts(&self, metrics: &[&'static Metric]) -> BTreeMap<&'static str, u64> {
        let plan = plan(metrics, POWER9_METRICS, &|name| codes_of(&POWER9, name));
        assert!(plan.uncounted.is_empty(), "{:?}", plan.uncounted);
        plan.runs.iter().flat_map(|run| self.counted(run)).collect()
    }

    fn counted(&self, run: &Run) -> Vec<(&'static str, u64)> {
        let encoding = run.encoding(EncodeOptions::default()).unwrap();
        let mut k = Kernel::with_tree(true, 1);
        let chase = chase(&mut k);
        k.main();
        let rest = k.a.label();
        k.a.ld(R3, CPU, R13);
        k.a.cmpdi(CR0, R3, 0);
        k.a.bne(rest);
        self.link(&mut k);
        if let Some(tree) = &self.tree {
            k.write(cpu::PTCR, tree.address);
            k.write(cpu::LPCR, lpcr::ILE | lpcr::HR | lpcr::UPRT);
        }
        k.a.load(R3, RUN);
        k.a.mtspr(cpu::CTRL, R3);
        k.write(spr::MMCR1, encoding.mmcr1);
        k.write(spr::MMCRA, encoding.mmcra);
        // The first time brings the code into the caches.
        for _ in 0..2 {
            self.before.iter().for_each(|before| prepare(&mut k, *before));
            (0..COUNTERS as u16).for_each(|counter| k.write(spr::PMC1 + counter, 0));
            k.a.load(R14, self.loads[0]);
            k.a.load(R15, (self.loads.len() / UNROLL) as u64);
            let mut control = Mmcr0::default();
            control.set_fch(true);
            k.write(spr::MMCR0, control.bits());
            k.enter_user(chase, 0);
            control.set_fc(true);
            k.write(spr::MMCR0, control.bits());
        }
        for counter in 0..COUNTERS as u16 {
            k.a.mfspr(R14, spr::PMC1 + counter);
            k.check(&format!("PMC{}", counter + 1), R14, 0, u64::MAX);
        }
        k.a.here(rest);
        k.end_main();
        let mut image = k.finish().unwrap();
        if let Some(Tree { tables, address, .. }) = &self.tree {
            let (size, bytes) = (tables.len() as u64, tables.clone());
            image.segments.push(Segment { address: *address, size, bytes, executable: false });
        }
        let (chips, chips_per_group) = (self.chips, self.chips_per_group);
        let options = Options { chips, chips_per_group, ..Options::default() };
        let report = run_image("power9", "loads", &image, chips, Clock::Companion, &options).unwrap();
        assert!(report.passed, "{}", report.ending);
        let seen = |counter: u8| report.checks[usize::from(counter) - 1].seen;
        let counted = run.counted.iter().enumerate();
        counted.filter_map(|(index, counted)| Some((counted.event?, seen(encoding.counter_of(index)?)))).collect()
    }

    fn link(&self, k: &mut Kernel) {
        let following = self.loads.iter().skip(1).chain(self.loads.first());
        for (load, next) in self.loads.iter().zip(following) {
            k.a.load(R3, load.wrapping_add(self.tree.as_ref().map_or(0, |tree| tree.distance)));
            k.a.load(R4, *next);
            k.a.std(R4, 0, R3);
        }
    }
}

fn prepare(k: &mut Kernel, before: Before) {
    let (Before::Flush(lines) | Before::Load(lines) | Before::Forget(lines)) = before;
    for address in lines.each() {
        k.a.load(R3, address);
        match before {
            Before::Flush(_) => k.a.dcbf(R0, R3),
            Before::Load(_) => k.a.ld(R4, 0, R3),
            Before::Forget(_) => {
                k.a.load(R4, 0);
                k.a.tlbie(R3, R4);
            }
        }
    }
    k.a.sync();
}

/// Loads from GPR 14 on, GPR 15 times eight.
fn chase(k: &mut Kernel) -> Label {
    let entry = k.a.mark();
    k.a.mtctr(R15);
    let again = k.a.mark();
    for _ in 0..UNROLL {
        k.a.ld(R14, 0, R14);
    }
    k.a.bdnz(again);
    k.a.sc();
    entry
}
