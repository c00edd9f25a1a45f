//! The execution of an instruction by a follower.

use core::ops::Range;

use vm_pmu_arch::feed::{Records, Signal, Traits};

use crate::block::Block;
use crate::bundle::Bundle;
use crate::follower::Follower;
use crate::follower::code_prefetch::CodeStream;
use crate::follower::fast_path::OutcomeContent;
use crate::instruction::{Access, Class, Instruction, Transfer};
use crate::outcome::Outcome;
use crate::pipeline::{Continuation, Pipeline};
use crate::predictor::Verdict;
use crate::predictor::bundles::Bundled;
use crate::predictor::events;
use crate::translation::PageTables;

/// The way in which instructions are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Not at all.
    Idle,
    /// Time is not kept, so an instruction that only computes causes no event. Hits take the short way, unless only branches are followed
    /// or records are asked for.
    Events { short: bool },
    /// Time is kept. Instructions that only compute, and hits, take short ways.
    Time,
    /// All instructions take the long way, because records ask for it.
    Whole,
}

impl Follower<'_> {
    pub(super) fn choose_way(&mut self) {
        let records = self.demand.records();
        let way = |unrecorded: bool| match (self.active, self.pipelined) {
            (false, _) => Way::Idle,
            (_, false) => Way::Events { short: self.memory && unrecorded },
            (_, true) if records.is_none() => Way::Time,
            _ => Way::Whole,
        };
        (self.way, self.way_between) = (way(records.is_none()), way(Records { at_deadline: false, ..records }.is_none()));
    }

    /// Follows an `instruction` that the thread executed. `tables` are walked when no translation buffer holds an address.
    #[inline]
    pub fn execute(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        let done = match self.way {
            Way::Idle => true,
            Way::Events { short } => self.makes_no_event(instruction) || short && self.found.seeks() && self.takes_short_way(instruction),
            Way::Time => self.execute_plain(instruction) || self.takes_short_way(instruction),
            Way::Whole => false,
        };
        #[cfg(test)]
        self.count_short(done && matches!(self.way, Way::Time | Way::Events { .. }));
        if !done {
            self.execute_whole(instruction, tables);
        }
    }

    #[inline]
    fn takes_short_way(&mut self, instruction: &Instruction<'_>) -> bool {
        self.execute_short(instruction, instruction.accesses, instruction.transfer.as_ref())
    }

    /// Follows instructions of a block that access nothing, of which none is a transfer and none reaches a deadline.
    #[inline]
    pub fn pass_over(&mut self, block: &Block, numbers: Range<usize>, tables: &mut impl PageTables) {
        let events = matches!(self.way_between, Way::Events { .. });
        if events && block.run(numbers.clone()).is_some_and(|run| !self.memory || self.passes(run)) {
            return;
        }
        for number in numbers {
            self.execute_within(block, number, &[], None, tables);
        }
    }

    /// Follows instruction `number` of a block, with its accesses and its transfer, if it reaches no deadline: the same as
    /// [`execute`](Follower::execute), except that its outcome need not be there for a record at a deadline.
    #[inline]
    pub fn execute_within(
        &mut self,
        block: &Block,
        number: usize,
        accesses: &[Access],
        transfer: Option<Transfer>,
        tables: &mut impl PageTables,
    ) {
        let Some(brief) = block.brief(number) else { return };
        let done = match self.way_between {
            Way::Idle => true,
            Way::Events { short } => {
                accesses.is_empty() && transfer.is_none() && self.makes_no_event(brief)
                    || short && self.found.seeks() && self.execute_short(brief, accesses, transfer.as_ref())
            }
            Way::Time | Way::Whole => false,
        };
        if !done && let Some(instruction) = block.instruction(number) {
            self.execute_timed(&Instruction { accesses, transfer, ..instruction }, tables);
        }
    }

    /// Follows an instruction that did not take the short way of events.
    #[inline(never)]
    fn execute_timed(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        if self.way_between != Way::Time || !self.execute_plain(instruction) && !self.takes_short_way(instruction) {
            self.execute_whole(instruction, tables);
        }
    }

    /// Disables the short ways until the next [`sync`](Follower::sync).
    #[cfg(test)]
    pub(crate) fn go_the_long_way(&mut self) {
        (self.way, self.way_between) = (Way::Whole, Way::Whole);
        self.pipeline.as_mut().into_iter().for_each(|pipeline| pipeline.go_the_long_way());
    }

    /// Whether no other thread of its core runs or has been followed before.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        self.competes.is_none_or(|core| core.is_alone(self.alone))
    }

    /// Executes any instruction: the long way of [`execute`](Follower::execute).
    #[inline(never)]
    fn execute_whole(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        self.outcome = Outcome::default();
        self.told = if self.is_plain(instruction) { OutcomeContent::Nothing } else { OutcomeContent::Other };
        if self.told != OutcomeContent::Nothing {
            let before = if self.pipelined { self.castouts() } else { [0; 3] };
            self.follow(instruction, tables);
            if self.pipelined {
                self.cast_out(before);
            }
        }
        if self.pipelined {
            self.take_time(instruction);
        }
        if self.stream != CodeStream::Off {
            self.prefetch_stream();
        }
        if let Some(steps) = self.nested.as_mut().filter(|steps| !steps.is_empty()) {
            steps.settle(self.pipeline.as_ref().filter(|_| self.pipelined).map_or(0, |pipeline| pipeline.walkers()));
        }
    }

    /// Whether an instruction is [plain](Self::is_plain), or would be if it did not begin another piece of its line. If so, the outcome is
    /// updated.
    #[inline]
    fn makes_no_event(&mut self, instruction: &Instruction<'_>) -> bool {
        let plain = instruction.computes() && (!self.memory || !self.is_fetched(instruction) || self.goes_on_in_another_piece(instruction));
        if plain {
            self.tell_nothing();
        }
        plain
    }

    /// Whether an instruction does nothing that is followed: it makes no access or transfer, fetches no new code, and writes nothing out.
    #[inline]
    fn is_plain(&self, instruction: &Instruction<'_>) -> bool {
        instruction.computes() && (!self.memory || !self.is_fetched(instruction))
    }

    /// Follows an instruction's fetch, accesses and branch.
    #[inline(never)]
    fn follow(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        if !self.memory {
            // Only branches are followed.
            return self.branch(instruction);
        }
        if self.is_fetched(instruction) {
            self.fetch(instruction, tables);
            self.carry(true);
        }
        let locked = instruction.accesses.first().is_some_and(|access| access.locked);
        if locked || instruction.class.writes_out() {
            self.write_out();
            self.carry(false);
        }
        for access in instruction.accesses {
            self.access(access, tables);
            self.carry(false);
        }
        if self.system.profile.costs.second_floating != 0 {
            self.load_floating(instruction);
        }
        self.branch(instruction);
    }

    /// Returns the pipeline, if it keeps time.
    #[inline]
    pub(super) fn pipeline(&mut self) -> Option<&mut Pipeline> {
        self.pipeline.as_deref_mut().filter(|_| self.pipelined)
    }

    #[inline]
    pub(super) fn continues(&mut self, continuation: Continuation) {
        if let Some(pipeline) = self.pipeline() {
            pipeline.continues(continuation);
        }
    }

    /// Follows the instruction's branch, or the branches that its bundle announces.
    #[inline]
    fn branch(&mut self, instruction: &Instruction<'_>) {
        if let Some(transfer) = &instruction.transfer {
            self.transfer(instruction, transfer);
        } else if let Some(bundle) = &instruction.bundle {
            self.path.announce(instruction.address, bundle);
            self.prefetch_target(instruction, bundle);
        }
    }

    /// Follows the target of a branch, an exception or an interrupt.
    #[inline(never)]
    pub(super) fn transfer(&mut self, instruction: &Instruction<'_>, transfer: &Transfer) {
        if transfer.taken {
            self.piece.set(None);
            self.turn_stream(instruction.bundle.as_ref());
        }
        if instruction.class == Class::Exception {
            return self.except();
        }
        if !self.branches {
            return;
        }
        let address = instruction.address;
        if let Some(bundle) = &instruction.bundle
            && let Some(bundled) = self.path.predict_bundled(self.tables, address, bundle, transfer)
        {
            return self.transfer_bundled(transfer, bundle, &bundled);
        }
        let next = address.wrapping_add(u64::from(instruction.length));
        let verdict = self.path.predict(self.tables, address, next, transfer.kind, transfer.taken, transfer.target);
        if self.predicted(transfer, &verdict) {
            self.tally.add(Signal::BranchesWeaklyPredicted, u64::from(verdict.weak));
            events::count(transfer, verdict.prediction, &mut self.tally);
            let bubbles = if verdict.bubble { self.system.profile.costs.bubble } else { 0 };
            self.goes_on(transfer, &verdict, bubbles);
        }
    }

    #[inline(never)]
    fn except(&mut self) {
        self.line = None;
        self.end_stream();
        self.continues(Continuation::Far);
        self.path.place.leave();
    }

    /// Follows a branch in a bundle, for [`transfer`](Follower::transfer).
    #[inline(never)]
    fn transfer_bundled(&mut self, transfer: &Transfer, bundle: &Bundle, predicted: &Bundled) {
        let verdict = &predicted.verdict;
        if self.predicted(transfer, verdict) {
            events::count_bundled(transfer, predicted, &mut self.tally);
            let bubble = if verdict.bubble { self.system.profile.costs.bubble } else { 0 };
            self.goes_on(transfer, verdict, predicted.bubbles(bundle.slot).unwrap_or(bubble));
        }
    }

    /// Records the prediction of a transfer. Returns whether the transfer is a near one.
    #[inline]
    fn predicted(&mut self, transfer: &Transfer, verdict: &Verdict) -> bool {
        self.outcome.prediction = verdict.prediction;
        self.outcome.traits.set(Traits::WEAKLY_PREDICTED, verdict.weak);
        if transfer.kind.is_far() {
            self.path.place.leave();
            self.continues(Continuation::Far);
            return false;
        }
        if verdict.stack_hit | verdict.stack_overflow {
            self.tally.add(Signal::ReturnStackHits, u64::from(verdict.stack_hit));
            self.tally.add(Signal::ReturnStackOverflows, u64::from(verdict.stack_overflow));
        }
        true
    }

    /// Continues after a near transfer, whether it was predicted correctly or not.
    #[inline]
    fn goes_on(&mut self, transfer: &Transfer, verdict: &Verdict, bubbles: u16) {
        if verdict.flush {
            self.tally.add(Signal::PipelineFlushes, 1);
            if !transfer.taken && self.pipelined {
                self.end_stream();
            }
            self.continues(Continuation::Mispredicted);
        } else if transfer.taken {
            if verdict.bubble {
                events::count_resteer(transfer, &mut self.tally);
            }
            self.continues(if bubbles == 0 { Continuation::Taken } else { Continuation::Resteered(bubbles) });
        }
    }
}
