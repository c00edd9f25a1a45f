//! What guests that both parts share know of each of them.

use vm_pmu::arch::event::{Catalogue, CounterSet, Entry, ITANIUM as ITANIUM_EVENTS, MONTECITO as MONTECITO_EVENTS};
use vm_pmu::arch::ia64::PerfMonInfo;
use vm_pmu::arch::{itanium, montecito};

/// PMC and PMD of the first generic counter.
pub const FIRST: u8 = 4;

/// What a generic counter is to do.
#[derive(Clone, Copy, Debug)]
pub struct Monitor {
    event: &'static str,
    levels: u8,
    privileged: bool,
    interrupts: bool,
    both_threads: bool,
}

impl Monitor {
    /// It counts the event of this name, `EVENT` or `EVENT.MASK`, at privilege level 0, if PSR.up enables it.
    #[must_use]
    pub const fn of(event: &'static str) -> Self {
        Self { event, levels: 0b0001, privileged: false, interrupts: false, both_threads: false }
    }

    /// It counts at the levels whose bits are set.
    #[must_use]
    pub const fn at(self, levels: u8) -> Self {
        Self { levels, ..self }
    }

    /// PSR.pp enables it, not PSR.up.
    #[must_use]
    pub const fn privileged(self) -> Self {
        Self { privileged: true, ..self }
    }

    /// Its overflow freezes and interrupts.
    #[must_use]
    pub const fn interrupting(self) -> Self {
        Self { interrupts: true, ..self }
    }

    /// It counts for both threads of the core. Only Montecito has this.
    #[must_use]
    pub const fn both_threads(self) -> Self {
        Self { both_threads: true, ..self }
    }
}

/// What a PMC or PMD reads as.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The first of the registers that are alike.
    pub first: u8,
    /// The last of them.
    pub last: u8,
    /// After reset.
    pub reset: u64,
    /// After ones were written everywhere.
    pub ones: u64,
    /// After zeros were written everywhere.
    pub zeros: u64,
}

const fn expected(first: u8, last: u8, reset: u64, ones: u64, zeros: u64) -> Expected {
    Expected { first, last, reset, ones, zeros }
}

/// One of the parts.
#[derive(Debug)]
pub struct Facts {
    catalogue: &'static Catalogue,
    /// PMC and PMD of the last generic counter.
    pub last: u8,
    /// How many bits a counter has.
    pub width: u32,
    /// The event of cycles.
    pub cycles: &'static str,
    /// The event of retired instructions.
    pub instructions: &'static str,
    /// The event of no-operations.
    pub nops: &'static str,
    /// The event of all changes of the privilege level.
    pub level_changes: &'static str,
    /// The PMC of a counter that counts nothing.
    pub idle: u64,
    /// What firmware returns about the monitors.
    pub firmware: PerfMonInfo,
    /// PMCs that have bits; of all others there are none.
    pub pmcs: &'static [Expected],
    /// PMDs that have bits; of all others there are none.
    pub pmds: &'static [Expected],
    /// Whether a write of PMC0 that leaves it frozen with an overflow raises the interrupt again.
    pub resends: bool,
}

/// Montecito. The bits are those of the register tables of its manual's section 3.3, as `docs/notes/montecito.md` 1.1 has them.
pub static MONTECITO: Facts = Facts {
    catalogue: &MONTECITO_EVENTS,
    last: 15,
    width: 47,
    cycles: "CPU_OP_CYCLES.ALL",
    instructions: "IA64_INST_RETIRED.THIS",
    nops: "NOPS_RETIRED",
    level_changes: "CPU_CPL_CHANGES.ALL",
    idle: 0x0200_0000,
    firmware: montecito::PERF_MON_INFO,
    pmcs: &[
        expected(0, 0, 0, 0xFFF1, 0),
        expected(4, 15, 0x0200_0000, 0x7F7F_FF7F, 0),
        expected(32, 32, 0x030F_01FF_FFFF_FFFF, 0x030F_01FF_FFFF_FFFF, 0),
        expected(33, 33, 0x1FF_FFFF_FFFF, 0x1FF_FFFF_FFFF, 0),
        expected(34, 34, 0x000F_01FF_FFFF_FFFF, 0x030F_01FF_FFFF_FFFF, 0),
        expected(35, 35, 0x1FF_FFFF_FFFF, 0x1FF_FFFF_FFFF, 0),
        expected(36, 36, 0xFFFF_FFF0, 0xFFFF_FFFF, 0xFFFF_FFF0),
        expected(37, 37, 0, 0x3FFF, 0),
        expected(38, 38, 0x0DB6, 0x2DB6, 0x0924),
        expected(39, 39, 0, 0xFFCF, 0),
        expected(40, 40, 0x0200_0000, 0x030F_01CF, 0),
        expected(41, 41, 0x2078_FEFE_FEFE, 0x0001_E078_FEFE_FEFE, 0x0078_E6E6_E6E6),
        expected(42, 42, 0, 0x0007_FF4F, 0),
    ],
    pmds: &[
        expected(4, 15, 0, u64::MAX, 0),
        expected(32, 32, 0, u64::MAX, 0),
        expected(33, 33, 0, 0xFFFF, 0),
        expected(34, 34, 0, !0b1_1100, 0),
        expected(35, 35, 0, 0x1FFF, 0),
        expected(36, 36, 0, u64::MAX, 0),
        expected(38, 38, 0, 0x2F, 0),
        expected(39, 39, 0, u64::MAX, 0),
        expected(48, 63, 0, u64::MAX, 0),
    ],
    resends: false,
};

/// The first Itanium. The bits are those of its manual's chapter 6 and of drivers, as `docs/notes/itanium-drivers.md` 9 has them.
pub static ITANIUM: Facts = Facts {
    catalogue: &ITANIUM_EVENTS,
    last: 7,
    width: 32,
    cycles: "CPU_CYCLES",
    instructions: "IA64_INST_RETIRED.ALL",
    nops: "NOPS_RETIRED",
    level_changes: "CPU_CPL_CHANGES",
    idle: 0,
    firmware: itanium::PERF_MON_INFO,
    pmcs: &[
        expected(0, 0, 0, 0xF1, 0),
        expected(4, 5, 0, 0x037F_7F7F, 0),
        expected(6, 7, 0, 0x033F_7F7F, 0),
        expected(8, 9, 0xF000_0000_3FFF_FFF8, 0xFFFF_FFFE_3FFF_FFF8, 0),
        expected(10, 10, 0, 0x030F_00CF, 0),
        expected(11, 11, 0x1000_0000, 0x130F_00CF, 0),
        expected(12, 12, 0, 0xFFCF, 0),
        expected(13, 13, 1, 1, 0),
    ],
    pmds: &[
        expected(0, 0, 0, !0b1_1100, 0),
        expected(1, 1, 0, 0xFFF, 0),
        expected(2, 2, 0, u64::MAX, 0),
        expected(3, 3, 0, 0xC000_0000_0000_0FFF, 0),
        // Counters and entries of the trace buffer.
        expected(4, 15, 0, u64::MAX, 0),
        expected(16, 16, 0, 0xF, 0),
        expected(17, 17, 0, !0b10, 0),
    ],
    resends: true,
};

impl Facts {
    /// The event of this name.
    ///
    /// # Panics
    /// If the part has none.
    #[must_use]
    pub fn event(&self, name: &str) -> &'static Entry {
        match self.catalogue.named(name) {
            Some(event) => event,
            None => panic!("{} has no event {name}", self.catalogue.pmu),
        }
    }

    /// The value of a counter's PMC. The fields used here are at the same places in both parts, except those that only one has.
    #[must_use]
    pub fn pmc(&self, monitor: Monitor) -> u64 {
        let event = self.event(monitor.event);
        let mut pmc = montecito::Pmc::default();
        pmc.set_plm(monitor.levels);
        pmc.set_oi(monitor.interrupts);
        pmc.set_pm(monitor.privileged);
        pmc.set_es(event.select as u8);
        pmc.set_umask(event.umask.unwrap_or(0) as u8);
        pmc.set_ism(0b10);
        pmc.set_all(monitor.both_threads);
        // Lines of every state.
        pmc.set_mesi(if event.by_line_state { 0b1111 } else { 0 });
        pmc.bits()
    }

    /// Every generic counter.
    pub fn counters(&self) -> impl DoubleEndedIterator<Item = u8> + use<> {
        FIRST..=self.last
    }

    /// What a counter holds that overflows at the `events`th event from there.
    #[must_use]
    pub const fn before_overflow(&self, events: u64) -> u64 {
        (1 << self.width) - events
    }

    /// Counters for as many of `events` as can be counted at once, beginning with the first: the numbers of counters and events. On
    /// Montecito an event of a set of the first-level data cache chooses the set from PMC5.
    ///
    /// # Panics
    /// If the first of them cannot be counted.
    #[must_use]
    pub fn place(&self, events: &[&'static str]) -> Vec<(u8, &'static str)> {
        const CHOOSES: u8 = 5;
        let mut placed: Vec<(u8, &'static str)> = Vec::new();
        let mut chosen = None;
        let chooses = |name: &&str| self.event(name).set != CounterSet::None;
        let reserved = if events.iter().any(chooses) { Some(CHOOSES) } else { None };
        for name in events {
            let event = self.event(name);
            let free = |counter: &u8| placed.iter().all(|(taken, _)| taken != counter);
            let takes = |counter: &u8| event.counters >> counter & 1 != 0;
            let counter = match (event.set, chosen) {
                (CounterSet::L1Data(set), None) => {
                    chosen = Some(set);
                    Some(CHOOSES)
                }
                (CounterSet::L1Data(set), Some(other)) if set != other => None,
                // PMC5 waits for an event that chooses a set.
                _ => self.counters().rev().filter(free).filter(takes).find(|counter| Some(*counter) != reserved),
            };
            if let Some(counter) = counter {
                placed.push((counter, *name));
            }
        }
        assert!(placed.first().is_some_and(|(_, name)| *name == events[0]), "{} cannot be counted", events[0]);
        placed
    }
}
