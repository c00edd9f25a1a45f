//! The data event-address registers: PMC40, PMD32, PMD33, PMD36 (section 3.3.9).

use super::file::Captures;
use super::registers::{Pmc40, Pmd33, Pmd36};
use crate::feed::{Record, Traits, Translation};
use crate::ia64::{LoadTracker, slot};

/// After a captured miss no other is captured for so many cycles (section 3.3.9.1).
const SPACING: u64 = 7;
/// Latencies from here on do not fit.
const LATENCY_LIMIT: u32 = 1 << 13;
/// Unit masks of cache misses from here on capture nothing (Table 3-21).
const FIRST_VOID: u8 = 0b1011;

/// The machine that follows loads, and the distance that it keeps between captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tracker {
    /// Which load is followed.
    pub loads: LoadTracker,
    /// Cycles since the last capture, as far as they matter.
    pub since_capture: u64,
}

impl Default for Tracker {
    fn default() -> Self {
        Tracker { loads: LoadTracker::default(), since_capture: SPACING }
    }
}

impl Tracker {
    /// The same with a valid load tracker.
    pub(super) fn cleaned(self) -> Tracker {
        Tracker { loads: self.loads.cleaned(), ..self }
    }

    /// Monitoring was frozen for an unknown time.
    pub(super) fn release(&mut self) {
        self.loads.release();
        self.since_capture = SPACING;
    }

    /// Advances by `cycles`.
    pub(super) fn advance(&mut self, cycles: u64) {
        self.loads.advance(cycles);
        self.since_capture = self.since_capture.saturating_add(cycles).min(SPACING);
    }
}

/// What there is to capture of an instruction.
struct Capture {
    address: u64,
    latency: u32,
    stat: u8,
}

/// Captures what `pmc40` asks for of an instruction that its monitor and the constraints of the memory pipeline admit. Returns whether it
/// did.
pub(super) fn capture(pmc40: Pmc40, record: &Record, tracker: &mut Tracker, captures: &mut Captures) -> bool {
    let found = match pmc40.mode() {
        0b00 => cache_miss(pmc40.umask(), record, tracker),
        0b01 => translation_miss(pmc40.umask(), record),
        _ => failed_check(record),
    };
    let Some(found) = found else { return false };
    let mut state = Pmd33::default();
    state.set_latency((found.latency % LATENCY_LIMIT) as u16);
    state.set_overflow(found.latency >= LATENCY_LIMIT);
    state.set_stat(found.stat);
    captures.data_address = found.address;
    captures.data_state = state;
    captures.instruction = instruction(record).bits();
    true
}

/// PMD36: the instruction, if the access has one. The register has the first bundle of the two dispersed together.
fn instruction(record: &Record) -> Pmd36 {
    let mut register = Pmd36::default();
    if record.sample.traits.intersects(Traits::REGISTER_STACK) {
        return register;
    }
    let second = record.sample.traits.contains(Traits::SECOND_BUNDLE);
    register.set_slot(slot(record));
    register.set_bn(second);
    register.set_vl(true);
    register.set_bundle((record.address >> 4).wrapping_sub(u64::from(second)));
    register
}

fn cache_miss(umask: u8, record: &Record, tracker: &mut Tracker) -> Option<Capture> {
    let memory = tracker.loads.follow(record)?;
    let slow = umask < FIRST_VOID && memory.latency >= 4 << umask;
    if !slow || tracker.since_capture < SPACING {
        return None;
    }
    tracker.since_capture = 0;
    Some(Capture { address: memory.address, latency: memory.latency, stat: 0b01 })
}

/// Loads and stores that miss the first-level translation buffer. Stores and floating-point loads do not use it: theirs are the misses of
/// the second level (section 3.3.9.2).
fn translation_miss(umask: u8, record: &Record) -> Option<Capture> {
    let memory = record.memory.filter(|memory| memory.load || memory.store)?;
    let bypasses = memory.store || record.sample.traits.contains(Traits::FLOATING_POINT);
    let (bit, stat) = match memory.translation {
        Translation::Hit(2) if !bypasses => (1, 0b01),
        Translation::Walk => (2, 0b10),
        Translation::Fault => (3, 0b11),
        _ => return None,
    };
    (umask >> bit & 1 == 1).then_some(Capture { address: memory.address, latency: 0, stat })
}

/// A check of an advanced load that found no entry.
fn failed_check(record: &Record) -> Option<Capture> {
    // A check is an access or goes to its recovery code: no other record is asked for.
    let reported = record.memory.is_some() || record.branch.is_some();
    let failed = reported && record.sample.traits.contains(Traits::ADVANCED_CHECK_FAILED);
    failed.then(|| Capture { address: record.memory.map_or(0, |memory| memory.address), latency: 0, stat: 0b01 })
}
