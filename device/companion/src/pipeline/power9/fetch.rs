//! The fetcher: the order and timing of its blocks.

use super::reasons::Reason;
use super::signals::Power9State;
use super::{BLOCK, BLOCK_BITS, FRONT_END, LINE_BITS, Power9Pipeline, REFETCH, TAKEN, Turned};
use crate::instruction::{Class, Instruction};
use crate::pipeline::{Continuation, Findings};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

impl Power9Pipeline {
    /// Fetches the block that the instruction lies in, unless it is the last fetched. The thread has a `share` of the instruction buffer.
    #[inline]
    pub(super) fn fetch(&mut self, instruction: &Instruction<'_>, found: &Findings, share: usize, tally: &mut Tally) {
        let block = Some(instruction.address >> BLOCK_BITS);
        if self.block != block && instruction.length != 0 {
            self.block = block;
            self.fetch_block(instruction, found, share, tally);
        }
    }

    /// PP1 to PP6: fetches the block that the instruction lies in.
    fn fetch_block(&mut self, instruction: &Instruction<'_>, found: &Findings, share: usize, tally: &mut Tally) {
        let room = self.buffer.room_within(BLOCK, share) + FRONT_END;
        self.hold(Power9State::BufferFull, self.fetched + 1, room);
        self.account.hold(Power9State::CodeWalk as usize, u64::from(found.walk));
        self.walk(0, self.fetched, found.walk);
        let begin = (self.fetched + 1).max(room);
        let mut delay = u64::from(found.translation) + u64::from(found.line);
        if let Some(source) = found.code {
            // `begin` counts in cycles of dispatch, which follow fetch by `FRONT_END`. The line is requested once it is translated.
            let at = (begin + u64::from(found.translation)).saturating_sub(FRONT_END);
            delay += self.read_code(instruction.physical >> LINE_BITS, at, u64::from(found.line), source, tally);
        }
        self.fetched = begin + delay;
        let turned = core::mem::take(&mut self.turned);
        if found.code.is_some() {
            tally.add(Signal::FetchMissesAfterPrediction, u64::from(turned == Turned::Prediction));
            tally.add(Signal::FetchMissesAfterMisprediction, u64::from(turned == Turned::Misprediction));
        }
        if delay != 0 {
            self.front = match (self.front, found.code) {
                (Reason::EmptyMisprediction, _) => Reason::EmptyMispredictionMiss,
                (_, Some(source)) => Reason::of_fetch(source),
                (_, None) => Reason::EmptyTranslation,
            };
        }
    }

    /// PP4, PP5, PP7, PP8: redirects the fetcher after an instruction that has finished in cycle `finished`.
    pub(super) fn turn(&mut self, instruction: &Instruction<'_>, continuation: Continuation, finished: u64) {
        let completed = self.completed;
        let flush = match continuation {
            Continuation::Sequential => (instruction.class == Class::Serializing).then_some(finished + REFETCH),
            Continuation::Taken | Continuation::Resteered(_) => {
                self.block = None;
                self.turned = Turned::Prediction;
                self.targets.take(completed + 1);
                let more = if let Continuation::Resteered(cycles) = continuation { u64::from(cycles) } else { 0 };
                self.fetched += TAKEN + more;
                None
            }
            Continuation::Mispredicted => {
                self.front = Reason::EmptyMisprediction;
                self.turned = Turned::Misprediction;
                Some(finished + REFETCH)
            }
            Continuation::Restarted => Some(completed + REFETCH),
            Continuation::Far if instruction.class == Class::Exception => None,
            Continuation::Far => Some(finished + REFETCH),
        };
        // An exception's handler begins when it has completed.
        let flush = if instruction.class == Class::Exception { Some(completed + 1) } else { flush };
        if let Some(at) = flush {
            if !matches!(continuation, Continuation::Mispredicted) {
                self.hold(Power9State::FetchStopped, self.group.at, finished);
            }
            self.restart = at;
            self.fetched = at - 1;
            self.block = None;
        }
    }
}
