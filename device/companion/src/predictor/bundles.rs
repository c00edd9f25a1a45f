//! The prediction of branches in bundles (rules PM28 to PM34 and PI19 to PI24 of the notes on the Itaniums' pipelines).

use vm_pmu_arch::feed::Prediction;

use crate::bundle::{Announced, Branch, Bundle, Target};
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::Transfer;
use crate::predictor::{BranchPath, Frame, Tables, Verdict, WEAKLY_NOT_TAKEN, WEAKLY_TAKEN};
use crate::profile::Bundles;

const MOST_REGISTERS: usize = 8;

/// The stage of a multi-stage predictor that predicted a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Register,
    /// The tables, the remembered targets or the return stack.
    Tables,
    Encoding,
}

/// The prediction of a bundle of several branches, known at the last of them that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Multiway {
    pub(crate) taken: bool,
    pub(crate) prediction: Prediction,
}

/// The prediction of a branch in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bundled {
    pub(crate) verdict: Verdict,
    pub(crate) target: Target,
    pub(super) stage: Option<Stage>,
    /// Whether a branch before it in the bundle was predicted taken.
    pub(super) unknown: bool,
    /// Whether the first slot of its bundle holds a branch.
    pub(super) encoded: bool,
    /// Whether its bundle begins with a branch and follows branches in the same group.
    pub(super) oversubscribed: bool,
    /// Whether it restored a function state other than the one that its call had saved.
    pub(super) wrong_frame: bool,
    pub(super) multiway: Option<Multiway>,
}

impl Bundled {
    /// Returns how many bubbles the branch costs if it is taken as predicted, where stages predict (PI21): none if a register knew the
    /// target, one if the tables did, and otherwise as many as it takes to compute the target from the encoding in its slot.
    pub(crate) fn bubbles(&self, slot: u8) -> Option<u16> {
        Some(match self.stage? {
            Stage::Register | Stage::Tables if self.verdict.bubble => corrected(slot),
            Stage::Register => 0,
            Stage::Tables => 1,
            Stage::Encoding => corrected(slot),
        })
    }
}

/// Returns the bubbles until the address correctors have the target of a branch.
fn corrected(slot: u8) -> u16 {
    if slot >= 2 { 2 } else { 3 }
}

/// The position of a thread among bundles, and the branches that were announced.
#[derive(Clone, Debug, Default)]
pub(crate) struct BundlePosition {
    /// The bundle with the last branch, and that branch's slot, unless the thread has left it.
    bundle: Option<(u64, u8)>,
    /// Whether a branch of the bundle was predicted taken.
    expected: bool,
    /// Whether a branch of the bundle was mispredicted: all of them are resolved at once.
    flushed: bool,
    wrong_path: bool,
    oversubscribed: bool,
    /// The bundle that follows one with branches and without a stop at its end.
    follows: Option<u64>,
    registers: [Option<Announced>; MOST_REGISTERS],
    /// The register that is written next.
    next: u8,
}

impl BundlePosition {
    /// Records that the thread is elsewhere: an interruption, or a return from one.
    pub(crate) fn leave(&mut self) {
        self.bundle = None;
        self.follows = None;
    }

    /// Moves to a branch of the bundle at `address`. Returns whether it is the first one since the bundle was entered.
    fn reach(&mut self, address: u64, bundle: &Bundle) -> bool {
        // A bundle has three slots, whatever an embedder says.
        let own = bundle.slot.min(2);
        let enters = self.bundle.is_none_or(|(here, slot)| here != address || own <= slot);
        if enters {
            let oversubscribed = bundle.branches() & 1 != 0 && self.follows == Some(address);
            *self = BundlePosition { oversubscribed, registers: self.registers, next: self.next, ..BundlePosition::default() };
        }
        self.bundle = Some((address, own));
        enters
    }

    fn announce(&mut self, announced: Announced, registers: usize) {
        let same = |register: &&mut Option<Announced>| register.is_some_and(|held| held.bundle == announced.bundle);
        if let Some(register) = self.registers.iter_mut().find(same) {
            *register = Some(announced);
            return;
        }
        if let Some(register) = self.registers.get_mut(usize::from(self.next)) {
            *register = Some(announced);
        }
        self.next = ((usize::from(self.next) + 1) % registers.clamp(1, MOST_REGISTERS)) as u8;
    }

    fn announced(&self, bundle: u64) -> Option<u64> {
        self.registers.iter().flatten().find(|held| held.bundle == bundle).map(|held| held.target)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        let (address, slot) = self.bundle.unwrap_or_default();
        writer.words(&[u64::from(self.bundle.is_some()), address, u64::from(slot)]);
        let flags = [self.expected, self.flushed, self.wrong_path, self.oversubscribed, self.follows.is_some()];
        writer.word(flags.iter().rev().fold(0, |all, flag| all << 1 | u64::from(*flag)));
        writer.words(&[self.follows.unwrap_or_default(), u64::from(self.next)]);
        for register in &self.registers {
            let held = register.unwrap_or(Announced { bundle: 0, target: 0 });
            writer.words(&[u64::from(register.is_some()), held.bundle, held.target]);
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let (there, address, slot) = (reader.word()?, reader.word()?, reader.word()?);
        if slot > 2 {
            return Err(Damaged);
        }
        self.bundle = (there & 1 == 1).then_some((address, slot as u8));
        let flags = reader.word()?;
        let flag = |bit: u32| flags >> bit & 1 == 1;
        (self.expected, self.flushed, self.wrong_path, self.oversubscribed) = (flag(0), flag(1), flag(2), flag(3));
        self.follows = flag(4).then_some(reader.word()?);
        self.next = (reader.word()? % MOST_REGISTERS as u64) as u8;
        for register in &mut self.registers {
            let (there, bundle, target) = (reader.word()?, reader.word()?, reader.word()?);
            *register = (there & 1 == 1).then_some(Announced { bundle, target });
        }
        Ok(())
    }
}

/// A predicted direction, the stage that predicts it, and the target if that stage knows one.
struct Expected {
    taken: bool,
    stage: Option<Stage>,
    target: Option<u64>,
}

/// Returns the name of a branch in the tables, which have four places per bundle.
fn name(address: u64, slot: u8) -> u64 {
    (address >> 4 << 2 | u64::from(slot & 3)) << 1
}

/// Whether two targets are equal in the bits that are remembered.
fn same(one: u64, other: u64) -> bool {
    (one ^ other) << 16 == 0
}

impl BranchPath {
    /// Follows an instruction that is not a branch but may announce one.
    #[inline]
    pub(crate) fn announce(&mut self, address: u64, bundle: &Bundle) {
        if let Bundles::Stages { registers } = self.bundles
            && let Some(announced) = bundle.announced(address)
        {
            self.place.announce(announced, usize::from(registers));
        }
    }

    /// Predicts the branch of `bundle`, which is at `address`, and learns from it. `None` if it is not a branch of a bundle.
    pub(crate) fn predict_bundled(&mut self, tables: &Tables, address: u64, bundle: &Bundle, transfer: &Transfer) -> Option<Bundled> {
        let branch = bundle.branch().filter(|_| self.bundles != Bundles::Absent)?;
        let first = self.place.reach(address, bundle);
        let unknown = self.bundles == Bundles::Single && self.place.expected;
        let name = name(address, bundle.slot);
        let expected = match self.bundles {
            Bundles::Stages { .. } => self.in_stages(tables, address, name, &branch, transfer.taken, first),
            _ => self.at_once(tables, name, &branch, transfer.taken, unknown),
        };
        self.place.expected |= expected.taken;
        let (mut verdict, wrong_frame) = self.resolve(tables, name, bundle, &branch, transfer, &expected);
        if branch.calls && transfer.taken {
            verdict.stack_overflow = self.push(Frame { address: address.wrapping_add(16), state: bundle.function_state });
        }
        let place = &mut self.place;
        verdict.flush &= !place.flushed;
        place.flushed |= verdict.flush;
        place.wrong_path |= verdict.prediction == Prediction::WrongDirection;
        let done = transfer.taken || bundle.is_last_branch();
        let prediction = if place.wrong_path { Prediction::WrongDirection } else { verdict.prediction };
        let several = bundle.branches().count_ones() > 1;
        let bundled = Bundled {
            verdict,
            target: branch.target,
            stage: expected.stage,
            unknown,
            encoded: bundle.branches() & 1 != 0,
            oversubscribed: place.oversubscribed,
            wrong_frame,
            multiway: (done && several).then_some(Multiway { taken: transfer.taken, prediction }),
        };
        if transfer.taken {
            place.leave();
        } else if done {
            place.follows = (!bundle.stops()).then_some(address.wrapping_add(16));
        }
        Some(bundled)
    }

    /// Returns the tables' direction for a branch that they decide, and whether they had an entry. The tables learn the branch.
    fn dynamic(&mut self, tables: &Tables, name: u64, branch: &Branch, taken: bool) -> Option<(bool, bool)> {
        let start = if branch.hint { WEAKLY_TAKEN } else { WEAKLY_NOT_TAKEN };
        let decides = !(branch.counted || branch.always || branch.fixed);
        decides.then(|| {
            let (expected, known, _) = tables.direction(name, taken, &mut self.outcomes, start);
            (expected, known)
        })
    }

    /// Returns the prediction of a predictor of one stage. Counted loops are known from their counter.
    fn at_once(&mut self, tables: &Tables, name: u64, branch: &Branch, taken: bool, unknown: bool) -> Expected {
        let dynamic = self.dynamic(tables, name, branch, taken);
        let taken = match dynamic {
            _ if unknown => false,
            Some((taken, _)) => taken,
            None if branch.counted => taken,
            None => branch.always || branch.hint,
        };
        Expected { taken, stage: None, target: tables.remembered(name) }
    }

    /// Returns the prediction of a predictor of three stages: the first one that knows the branch decides.
    fn in_stages(&mut self, tables: &Tables, address: u64, name: u64, branch: &Branch, taken: bool, first: bool) -> Expected {
        let dynamic = self.dynamic(tables, name, branch, taken);
        let remembered = tables.remembered(name);
        // At the end of a loop, its counter corrects the registers.
        let ends = branch.counted && !taken;
        if let Some(target) = self.place.announced(address).filter(|_| first && !ends) {
            return Expected { taken: true, stage: Some(Stage::Register), target: Some(target) };
        }
        let hint = branch.always || if branch.counted { taken } else { branch.hint };
        let (expected, entry) = dynamic.unwrap_or((hint, false));
        if branch.target == Target::Return {
            return Expected { taken: expected, stage: Some(Stage::Tables), target: None };
        }
        if if expected { remembered.is_some() } else { entry } {
            return Expected { taken: expected, stage: Some(Stage::Tables), target: remembered };
        }
        Expected { taken: hint, stage: Some(Stage::Encoding), target: None }
    }

    /// Compares the prediction with the outcome. Also returns whether a return restored another function state than expected.
    fn resolve(
        &mut self,
        tables: &Tables,
        name: u64,
        bundle: &Bundle,
        branch: &Branch,
        transfer: &Transfer,
        expected: &Expected,
    ) -> (Verdict, bool) {
        let mut verdict = Verdict::RIGHT;
        let wrong_path = expected.taken != transfer.taken;
        let mut wrong_frame = false;
        if wrong_path {
            verdict.prediction = Prediction::WrongDirection;
        }
        if transfer.taken {
            let returned = if branch.target == Target::Return { self.pop() } else { None };
            verdict.stack_hit = returned.is_some();
            if branch.target != Target::Return {
                tables.target(name, transfer.target);
            }
            let known = match (expected.stage, branch.target) {
                // A target address register knows the target of any branch.
                (Some(Stage::Register), _) | (_, Target::Relative | Target::Indirect) => expected.target,
                (_, Target::Return) => returned.map(|frame| frame.address),
            };
            let right = known.is_some_and(|known| same(known, transfer.target));
            if !wrong_path && branch.target == Target::Relative {
                // The front end corrects it from the encoding. Where it knew no target, it predicted none.
                verdict.bubble = !right;
                if known.is_some() && !right {
                    verdict.prediction = Prediction::WrongTarget;
                }
            } else if !wrong_path && !right {
                verdict.prediction = Prediction::WrongTarget;
            }
            let states = returned.and_then(|frame| frame.state).zip(bundle.function_state);
            wrong_frame = !wrong_path && states.is_some_and(|(saved, restored)| saved != restored);
        }
        verdict.flush = wrong_frame || verdict.prediction != Prediction::Right && !verdict.bubble;
        (verdict, wrong_frame)
    }
}
