//! What IA32_PERFEVTSELx and the fixed counters select (chapter 2).

use vm_pmu_arch::event::{self, Entry, UnitMask};
use vm_pmu_arch::feed::{Signal, Unit};

/// IA32_PERFEVTSELx.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Select(pub(super) u64);

impl Select {
    fn bit(self, number: u32) -> bool {
        self.0 >> number & 1 == 1
    }
    pub(super) fn event(self) -> u32 {
        (self.0 & 0xFF) as u32
    }
    pub(super) fn unit_mask(self) -> u32 {
        (self.0 >> 8 & 0xFF) as u32
    }
    pub(super) fn user(self) -> bool {
        self.bit(16)
    }
    pub(super) fn system(self) -> bool {
        self.bit(17)
    }
    pub(super) fn edge(self) -> bool {
        self.bit(18)
    }
    pub(super) fn interrupt(self) -> bool {
        self.bit(20)
    }
    pub(super) fn any_thread(self) -> bool {
        self.bit(21)
    }
    pub(super) fn enabled(self) -> bool {
        self.bit(22)
    }
    pub(super) fn mask(self) -> u64 {
        self.0 >> 24 & 0xFF
    }
    /// INV, which means nothing while CMASK is 0.
    pub(super) fn counts_fewer(self) -> bool {
        self.bit(23) && self.mask() != 0
    }
    /// Whether a cycle with so many events is one that counts.
    pub(super) fn compares(self, events: u64) -> bool {
        match self.mask() {
            0 => events > 0,
            mask => (events >= mask) != self.bit(23),
        }
    }
    /// What decides what is counted: all but the levels, PC, INT and EN.
    pub(super) fn connection(self) -> u64 {
        self.0 & !(0b1_1011 << 16 | 1 << 22)
    }
}

/// Whose events a counter counts (section 1.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Its thread's.
    Thread,
    /// What the threads of its core retire, added up.
    Sum,
    /// The cycles in which any thread of its core runs, once each.
    Clock,
    /// What its core rejects, told by whichever thread.
    Rejects,
    /// Requests of the tile that a register of this number chooses.
    Requests(usize),
}

/// What a counter selects.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    pub(super) reach: Reach,
    /// What adds up to the count.
    pub(super) signals: Vec<Signal>,
    /// What counts the entries into the state, if the part tells them.
    pub(super) entries: Vec<Signal>,
    /// The most that one cycle can have (T6).
    pub(super) most: u64,
    /// Whether it is one state, or states that exclude each other, so that CMASK 1 takes the same cycles as CMASK 0.
    pub(super) is_state: bool,
}

impl Meaning {
    fn of(reach: Reach, signals: Vec<Signal>, most: u64, is_state: bool) -> Meaning {
        Meaning { reach, signals, entries: Vec::new(), most, is_state }
    }
}

/// The event of the tile with this select, and its unit masks.
pub(super) fn event_of(select: u32) -> Option<(&'static Entry, &'static [Entry])> {
    event::KNL.select(select).filter(|(event, _)| !event.fixed && event.unit == "tile")
}

/// The unit masks that a programmed one chooses. Of a set, names of several bits are the sums of those of one (T6).
fn chosen(event: &Entry, masks: &'static [Entry], programmed: u32) -> Vec<&'static Entry> {
    let single = |mask: &&Entry| event.shape != UnitMask::Set || mask.umask.is_some_and(|own| own.count_ones() == 1);
    masks.iter().filter(|mask| mask.is_chosen_by(programmed, event.shape)).filter(single).collect()
}

/// What a general counter selects, in a core of so many threads.
pub(super) fn meaning(select: Select, core: usize) -> Meaning {
    let Some((event, masks)) = event_of(select.event()) else {
        return Meaning::of(Reach::Thread, Vec::new(), u64::from(event::KNL.max_per_cycle), false);
    };
    let umask = select.unit_mask();
    match (select.event(), umask) {
        (0x3C, 0 | 1) if select.any_thread() && core > 1 => {
            let clock = if umask == 0 { Signal::CoreActiveCycles } else { Signal::CoreActiveReferenceCycles };
            return Meaning::of(Reach::Clock, vec![clock], 1, true);
        }
        (0xB7, 1 | 2) => return Meaning::of(Reach::Requests(umask as usize - 1), Vec::new(), u64::MAX, false),
        _ => {}
    }
    if event.shape == UnitMask::Excluding {
        let left_in = |(number, _): &(usize, &Signal)| umask >> number & 1 == 0;
        let signals = event.classes.iter().enumerate().filter(left_in).map(|(_, signal)| *signal).collect();
        return Meaning::of(Reach::Thread, signals, u64::from(event.max_per_cycle), false);
    }
    let chosen = chosen(event, masks, umask);
    let all = |list: fn(&Entry) -> &'static [Signal]| -> Vec<Signal> { chosen.iter().flat_map(|entry| list(entry)).copied().collect() };
    let is_state = !chosen.is_empty() && chosen.iter().all(|entry| entry.counts == Unit::Cycles);
    // Walks of both sides exclude each other (T7).
    let most = if is_state && select.event() == 0x05 { 1 } else { chosen.iter().map(|entry| u64::from(entry.max_per_cycle)).sum() };
    let most = if chosen.is_empty() { u64::from(event.max_per_cycle) } else { most };
    let reach = if select.event() == 0x31 { Reach::Rejects } else { Reach::Thread };
    Meaning {
        entries: all(|entry| entry.edges),
        is_state: is_state && most == 1,
        ..Meaning::of(reach, all(|entry| entry.signals), most, false)
    }
}

/// What a fixed counter counts (tables 2-1 and 2-2).
pub(super) fn fixed(number: usize, any_thread: bool, core: usize) -> Meaning {
    let any = any_thread && core > 1;
    let (reach, signal) = match (number, any) {
        (0, false) => (Reach::Thread, Signal::InstructionsRetired),
        (0, true) => (Reach::Sum, Signal::InstructionsRetired),
        (1, false) => (Reach::Thread, Signal::Cycles),
        (1, true) => (Reach::Clock, Signal::CoreActiveCycles),
        (_, false) => (Reach::Thread, Signal::ReferenceCycles),
        (_, true) => (Reach::Clock, Signal::CoreActiveReferenceCycles),
    };
    Meaning::of(reach, vec![signal], u64::MAX, number != 0)
}
