//! The branch predictor: directions and targets belong to a core, the return address stack and the last outcomes to a thread.

pub(crate) mod bundles;
pub(crate) mod events;

use alloc::boxed::Box;
use core::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::feed::{BranchKind, Prediction};

use crate::bytes::{Damaged, Reader, Writer};
use crate::predictor::bundles::BundlePosition;
use crate::profile::{Bundles, Direction, PredictorGeometry};

const MOST_RETURNS: usize = 64;

/// Initial values of two-bit counters.
const WEAKLY_NOT_TAKEN: u8 = 1;
const WEAKLY_TAKEN: u8 = 2;
const STRONGLY_TAKEN: u8 = 3;
/// A flag in a cell of histories: the branch was here before.
const KNOWN: u16 = 1 << 8;

/// The state that the threads of a core share. Its cells are relaxed atomics: threads that run in parallel need no lock, and an access
/// costs only a plain load and store.
#[derive(Debug)]
pub(crate) struct Tables {
    /// The outcomes that select a counter: their number, and their mask.
    history: u32,
    outcomes: u64,
    /// The masks of the indices of counters, histories and targets.
    index: u64,
    kept: u64,
    place: u64,
    target_bits: u32,
    /// Counters, as their values plus one; 0 if a counter has not been used yet.
    counters: Box<[AtomicU8]>,
    /// Last outcomes of single branches, if they are kept.
    histories: Box<[AtomicU16]>,
    /// Targets: the low 48 bits of one, and 16 of the branch's address.
    targets: Box<[AtomicU64]>,
}

const fn low(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Tables {
    pub(crate) fn new(geometry: &PredictorGeometry) -> Tables {
        let (history, index, histories) = match geometry.direction {
            Direction::Global { history, index } => (history, index, 0),
            Direction::Local { history, index, histories } => (history, index, 1usize << histories.min(24)),
        };
        Tables {
            history: u32::from(history.min(63)),
            outcomes: low(history),
            index: low(index.min(24)),
            kept: (histories as u64).saturating_sub(1),
            place: low(geometry.target_bits.min(24)),
            target_bits: u32::from(geometry.target_bits.min(24)),
            counters: (0..1usize << index.min(24)).map(|_| AtomicU8::new(0)).collect(),
            histories: (0..histories).map(|_| AtomicU16::new(0)).collect(),
            targets: (0..1usize << geometry.target_bits.min(24)).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Returns the index of an address, whose lowest bit carries no information.
    fn fold(address: u64) -> u64 {
        address >> 1
    }

    /// Predicts and learns the direction of the conditional branch at `address`, whose counters start at `start`. Also returns whether the
    /// branch had an entry, and whether the counter was in one of its two weak states.
    #[inline]
    fn direction(&self, address: u64, taken: bool, last: &mut u64, start: u8) -> (bool, bool, bool) {
        // Without histories of single branches, the thread's history decides, and a counter that was used is the entry.
        let (outcomes, known) = match self.histories.get((Tables::fold(address) & self.kept) as usize) {
            None => (*last & self.outcomes, false),
            Some(cell) => {
                let before = cell.load(Relaxed);
                cell.store(KNOWN | (before << 1 | u16::from(taken)) & 0xFF, Relaxed);
                (u64::from(before) & self.outcomes, before & KNOWN != 0)
            }
        };
        *last = *last << 1 | u64::from(taken);
        let place = (Tables::fold(address) << self.history | outcomes) & self.index;
        let Some(counter) = self.counters.get(place as usize) else { return (false, known, false) };
        let before = counter.load(Relaxed).min(STRONGLY_TAKEN + 1);
        let value = before.checked_sub(1).unwrap_or(start);
        let next = 1 + if taken { (value + 1).min(STRONGLY_TAKEN) } else { value.saturating_sub(1) };
        if next != before {
            counter.store(next, Relaxed);
        }
        (value > WEAKLY_NOT_TAKEN, known || before != 0, matches!(value, WEAKLY_NOT_TAKEN | WEAKLY_TAKEN))
    }

    /// Returns the lowest 48 bits of the remembered target of the branch at `address`.
    fn remembered(&self, address: u64) -> Option<u64> {
        let place = Tables::fold(address);
        let word = self.targets.get((place & self.place) as usize)?.load(Relaxed);
        (word != 0 && word >> 48 == place >> self.target_bits & 0xFFFF).then_some(word & low(48))
    }

    /// Whether the remembered target of the branch at `address` was right. Remembers `target`.
    #[inline]
    pub(crate) fn target(&self, address: u64, target: u64) -> bool {
        let place = Tables::fold(address);
        let Some(cell) = self.targets.get((place & self.place) as usize) else { return false };
        let word = (place >> self.target_bits) << 48 | target & low(48);
        // An empty cell would match a branch to address 0.
        let known = cell.load(Relaxed) == word && word != 0;
        if !known {
            cell.store(word, Relaxed);
        }
        known
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        self.counters.iter().for_each(|cell| writer.0.push(cell.load(Relaxed)));
        self.histories.iter().for_each(|cell| writer.0.extend(cell.load(Relaxed).to_le_bytes()));
        self.targets.iter().for_each(|cell| writer.word(cell.load(Relaxed)));
    }

    pub(crate) fn load(&self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for cell in &self.counters {
            cell.store(reader.byte()?, Relaxed);
        }
        for cell in &self.histories {
            cell.store(u16::from_le_bytes([reader.byte()?, reader.byte()?]), Relaxed);
        }
        for cell in &self.targets {
            cell.store(reader.word()?, Relaxed);
        }
        Ok(())
    }
}

/// The prediction of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) prediction: Prediction,
    /// Whether the instructions after the branch were discarded.
    pub(crate) flush: bool,
    /// Whether the fetcher got the target from decoding.
    pub(crate) bubble: bool,
    /// Whether a return took its address from the stack.
    pub(crate) stack_hit: bool,
    /// Whether a call pushed the oldest entry off the stack.
    pub(crate) stack_overflow: bool,
    /// Whether the counter that decided was in one of its two weak states.
    pub(crate) weak: bool,
}

impl Verdict {
    const RIGHT: Verdict =
        Verdict { prediction: Prediction::Right, flush: false, bubble: false, stack_hit: false, stack_overflow: false, weak: false };
}

/// The return address and state that a call leaves for its return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Frame {
    address: u64,
    /// The function state that it saved, if that is reported.
    pub(crate) state: Option<u64>,
}

/// The state of a thread: its last outcomes, its return address stack, and its position within a bundle.
#[derive(Clone, Debug)]
pub(crate) struct BranchPath {
    outcomes: u64,
    returns: [Frame; MOST_RETURNS],
    depth: u8,
    /// The index of the next return address.
    top: u8,
    most: u8,
    decoded_returns: bool,
    bundles: Bundles,
    pub(crate) place: BundlePosition,
}

impl BranchPath {
    pub(crate) fn new(geometry: &PredictorGeometry) -> BranchPath {
        BranchPath {
            outcomes: 0,
            returns: [Frame::default(); MOST_RETURNS],
            depth: 0,
            top: 0,
            most: geometry.return_stack.clamp(1, MOST_RETURNS as u8),
            decoded_returns: geometry.decoded_returns,
            bundles: geometry.bundles,
            place: BundlePosition::default(),
        }
    }

    /// Pushes a return address, and drops the oldest one if there is no room. Returns whether one was dropped.
    fn push(&mut self, frame: Frame) -> bool {
        if let Some(place) = self.returns.get_mut(usize::from(self.top)) {
            *place = frame;
        }
        self.top = (self.top + 1) % self.most;
        let full = self.depth >= self.most;
        self.depth = (self.depth + 1).min(self.most);
        full
    }

    fn pop(&mut self) -> Option<Frame> {
        if self.depth == 0 {
            return None;
        }
        self.depth -= 1;
        self.top = (self.top + self.most - 1) % self.most;
        self.returns.get(usize::from(self.top)).copied()
    }

    /// Predicts the branch at `address`, which is `kind` and went to `target` if `taken`, or else to `next`, and learns from it.
    #[inline]
    pub(crate) fn predict(&mut self, tables: &Tables, address: u64, next: u64, kind: BranchKind, taken: bool, target: u64) -> Verdict {
        let mut verdict = Verdict::RIGHT;
        let frame = Frame { address: next, state: None };
        match kind {
            BranchKind::Conditional => {
                let (expected, _, weak) = tables.direction(address, taken, &mut self.outcomes, WEAKLY_NOT_TAKEN);
                verdict.weak = weak;
                if expected != taken {
                    verdict.prediction = Prediction::WrongDirection;
                } else if taken {
                    verdict.bubble = !tables.target(address, target);
                }
                if taken && verdict.prediction == Prediction::WrongDirection {
                    tables.target(address, target);
                }
            }
            BranchKind::DirectJump => verdict.bubble = !tables.target(address, target),
            BranchKind::DirectCall => {
                verdict.stack_overflow = self.push(frame);
                verdict.bubble = !tables.target(address, target);
            }
            BranchKind::IndirectJump | BranchKind::IndirectCall => {
                if kind == BranchKind::IndirectCall {
                    verdict.stack_overflow = self.push(frame);
                }
                if !tables.target(address, target) {
                    verdict.prediction = Prediction::WrongTarget;
                }
            }
            BranchKind::Return => {
                let popped = self.pop();
                verdict.stack_hit = popped.is_some();
                if popped.is_none_or(|frame| frame.address != target) {
                    verdict.prediction = Prediction::WrongTarget;
                }
                if self.decoded_returns {
                    verdict.bubble = verdict.prediction == Prediction::Right && tables.remembered(address).is_none();
                    tables.target(address, target);
                }
            }
            BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck => verdict.prediction = Prediction::None,
        }
        verdict.flush = matches!(verdict.prediction, Prediction::WrongDirection | Prediction::WrongTarget);
        verdict
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.outcomes, u64::from(self.depth), u64::from(self.top)]);
        for frame in &self.returns {
            writer.words(&[frame.address, u64::from(frame.state.is_some()), frame.state.unwrap_or_default()]);
        }
        self.place.save(writer);
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.outcomes = reader.word()?;
        let (depth, top) = (reader.word()?, reader.word()?);
        if depth > u64::from(self.most) || top >= u64::from(self.most) {
            return Err(Damaged);
        }
        self.depth = depth as u8;
        self.top = top as u8;
        for frame in &mut self.returns {
            let (address, told, state) = (reader.word()?, reader.word()?, reader.word()?);
            *frame = Frame { address, state: (told & 1 == 1).then_some(state) };
        }
        self.place.load(reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: PredictorGeometry = PredictorGeometry {
        direction: Direction::Global { history: 2, index: 6 },
        target_bits: 4,
        return_stack: 3,
        decoded_returns: false,
        bundles: Bundles::Absent,
    };

    #[test]
    fn a_stack_of_three_keeps_the_last_three_calls() {
        let tables = Tables::new(&SMALL);
        let mut path = BranchPath::new(&SMALL);
        let call = |path: &mut BranchPath, n: u64| path.predict(&tables, 0x100 * n, 0x100 * n + 5, BranchKind::DirectCall, true, 0x9000);
        assert!((1..=3).all(|n| !call(&mut path, n).stack_overflow));
        assert!(call(&mut path, 4).stack_overflow);
        let mut give_back = |n: u64| path.predict(&tables, 0x9001, 0x9002, BranchKind::Return, true, 0x100 * n + 5);
        for n in [4, 3, 2] {
            assert_eq!(give_back(n).prediction, Prediction::Right);
        }
        let last = give_back(1);
        assert!(!last.stack_hit);
        assert_eq!(last.prediction, Prediction::WrongTarget);
    }

    #[test]
    fn a_return_that_is_not_remembered_is_found_by_the_decoder_once() {
        let geometry = PredictorGeometry { decoded_returns: true, ..SMALL };
        let tables = Tables::new(&geometry);
        let mut path = BranchPath::new(&geometry);
        let mut bubble = |from: u64| {
            path.predict(&tables, from, from + 5, BranchKind::DirectCall, true, 0x9000);
            path.predict(&tables, 0x9002, 0x9003, BranchKind::Return, true, from + 5).bubble
        };
        // Wherever it goes, its entry says that it is a return.
        assert_eq!([0x100, 0x100, 0x200].map(&mut bubble), [true, false, false]);
    }

    #[test]
    fn a_counter_changes_its_mind_after_two() {
        let tables = Tables::new(&PredictorGeometry { direction: Direction::Global { history: 0, index: 4 }, ..SMALL });
        let mut path = BranchPath::new(&SMALL);
        let mut wrong = |taken| path.predict(&tables, 8, 10, BranchKind::Conditional, taken, 0x40).prediction == Prediction::WrongDirection;
        // Weakly not taken, then taken by one, by two; and back.
        assert_eq!([true, true, true, false, false, false].map(&mut wrong), [true, false, false, true, true, false]);
    }

    #[test]
    fn a_branch_that_alternates_is_known_by_its_history() {
        let tables = Tables::new(&SMALL);
        let mut path = BranchPath::new(&SMALL);
        let mut wrong = |turn: u32| path.predict(&tables, 8, 10, BranchKind::Conditional, turn.is_multiple_of(2), 0x40).prediction;
        assert!((0..40).map(&mut wrong).skip(10).all(|prediction| prediction == Prediction::Right));
    }

    #[test]
    fn an_indirect_jump_is_expected_where_it_went_last() {
        let tables = Tables::new(&SMALL);
        let mut path = BranchPath::new(&SMALL);
        let mut right = |target| path.predict(&tables, 8, 10, BranchKind::IndirectJump, true, target).prediction == Prediction::Right;
        assert_eq!([0x40, 0x40, 0x50, 0x40].map(&mut right), [false, true, false, false]);
    }

    #[test]
    fn local_history_tells_branches_apart_that_a_global_one_mixes() {
        let local = PredictorGeometry { direction: Direction::Local { history: 4, histories: 6, index: 12 }, ..SMALL };
        let tables = Tables::new(&local);
        let mut path = BranchPath::new(&local);
        let mut wrong = 0;
        // One branch alternates, the other one is random.
        let mut noise = 0x1234_5678u64;
        for turn in 0..2000u64 {
            noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            path.predict(&tables, 0x20, 0x22, BranchKind::Conditional, noise >> 63 == 1, 0x80);
            let verdict = path.predict(&tables, 0x2, 0x4, BranchKind::Conditional, turn % 2 == 0, 0x80);
            wrong += u32::from(turn > 100 && verdict.prediction != Prediction::Right);
        }
        assert_eq!(wrong, 0);
    }
}
