//! Events that others caused in a cluster.

use vm_pmu_arch::feed::Signal;

use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::line::LineState;
use crate::tally::Tally;

/// Events that others caused in the cluster, for the totals of the next of its threads that makes an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportedEvents {
    pub(super) snoops: u64,
    pub(super) data_invalidations: u64,
    pub(super) code_invalidations: u64,
    /// Snoops of the first level of code, in its lines, and those that found a line in a second level of code.
    pub(super) code_snoops: u64,
    pub(super) second_code_hits: u64,
    /// The line that the last of these took from a second level of code.
    pub(crate) code_taken: Option<u64>,
    pub(super) quadwords: u64,
    /// Bus clocks in which answers of others to snoops of this cluster held up the bus.
    pub(crate) stalled: u64,
    /// Lines that devices put into the third level.
    pub(crate) injected: u64,
    /// Counts of the snoops' findings, in the order of [`FINDINGS`].
    found: [u64; FINDINGS.len()],
}

/// The findings of snoops in the second and third level, the answers of the cluster, and the answers of its package.
pub(crate) const FINDINGS: [Signal; 12] = [
    Signal::SnoopsL2ModifiedRead,
    Signal::SnoopsL2ModifiedWrite,
    Signal::SnoopsL2SharedInvalidated,
    Signal::SnoopsL3Hit,
    Signal::SnoopsL3Miss,
    Signal::SnoopsL3SharedInvalidated,
    Signal::SnoopAnswersMiss,
    Signal::SnoopAnswersHit,
    Signal::SnoopAnswersModified,
    Signal::SnoopSignoffsMiss,
    Signal::SnoopSignoffsHit,
    Signal::SnoopSignoffsModified,
];
/// Indices of the first answer of the cluster among them, and of the first answer of its package.
pub(crate) const ANSWERS: usize = 6;
const SIGNOFFS: usize = 9;

impl ReportedEvents {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.snoops | self.stalled == 0
    }

    /// Returns the snoops that a machine of the second level worked for, and one of the third: those that found a line modified, or took it
    /// away.
    pub(crate) fn worked(&self) -> (u32, u32) {
        let [read, written, shared, third, ..] = self.found;
        (read.wrapping_add(written).wrapping_add(shared) as u32, third as u32)
    }

    pub(super) fn answer(&mut self, strongest: LineState) {
        self.count(ANSWERS, strongest);
    }

    /// Counts the answer of its package to a snoop.
    pub(crate) fn sign_off(&mut self, strongest: LineState) {
        self.count(SIGNOFFS, strongest);
    }

    /// Drops the findings of the last snoop; `before` is the mail before it.
    pub(crate) fn forget_findings(&mut self, before: &ReportedEvents) {
        self.found = before.found;
    }

    /// Counts a miss, a hit or a hit of a modified line among the three answers from `begin` on.
    fn count(&mut self, begin: usize, strongest: LineState) {
        let answer = match strongest {
            LineState::Invalid => 0,
            state => 1 + usize::from(state.dirty()),
        };
        if let Some(count) = self.found.get_mut(begin + answer) {
            *count += 1;
        }
    }

    /// Counts the finding of a snoop, which takes the line away if `take`, in the second or the third level.
    pub(super) fn find(&mut self, third: bool, take: bool, state: LineState) {
        let shared = matches!(state, LineState::Shared | LineState::Forward);
        let signals = match (third, take, state) {
            (true, _, LineState::Invalid) => [Some(Signal::SnoopsL3Miss), None],
            (true, true, _) if shared => [Some(Signal::SnoopsL3Hit), Some(Signal::SnoopsL3SharedInvalidated)],
            (true, _, _) => [Some(Signal::SnoopsL3Hit), None],
            (false, true, _) if shared => [Some(Signal::SnoopsL2SharedInvalidated), None],
            (false, true, LineState::Modified) => [Some(Signal::SnoopsL2ModifiedWrite), None],
            (false, false, LineState::Modified) => [Some(Signal::SnoopsL2ModifiedRead), None],
            (false, _, _) => [None, None],
        };
        for (signal, count) in FINDINGS.iter().zip(&mut self.found) {
            *count += u64::from(signals.contains(&Some(*signal)));
        }
    }

    pub(super) fn report(&self, tally: &mut Tally) {
        tally.add(Signal::L2RequestsSnoop, self.snoops);
        tally.add(Signal::SnoopRequests, self.snoops);
        tally.add(Signal::DataCacheInvalidations, self.data_invalidations);
        tally.add(Signal::InstructionCacheInvalidations, self.code_invalidations);
        tally.add(Signal::InstructionCacheSnoops, self.code_snoops);
        tally.add(Signal::L2InstructionSnoopHits, self.second_code_hits);
        tally.add(Signal::SystemQuadwordsWritten, self.quadwords);
        tally.add(Signal::L3LinesInjected, self.injected);
        tally.add(Signal::BusSnoopStallCycles, self.stalled);
        FINDINGS.iter().zip(self.found).for_each(|(signal, count)| tally.add(*signal, count));
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.snoops, self.data_invalidations, self.code_invalidations]);
        writer.words(&[self.code_snoops, self.second_code_hits]);
        writer.words(&[u64::from(self.code_taken.is_some()), self.code_taken.unwrap_or(0)]);
        writer.words(&[self.quadwords, self.stalled, self.injected]);
        writer.words(&self.found);
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<ReportedEvents, Damaged> {
        let mut mail = ReportedEvents {
            snoops: reader.word()?,
            data_invalidations: reader.word()?,
            code_invalidations: reader.word()?,
            code_snoops: reader.word()?,
            second_code_hits: reader.word()?,
            code_taken: {
                let (there, line) = (reader.word()?, reader.word()?);
                (there & 1 == 1).then_some(line)
            },
            quadwords: reader.word()?,
            stalled: reader.word()?,
            injected: reader.word()?,
            found: [0; FINDINGS.len()],
        };
        reader.words(&mut mail.found)?;
        Ok(mail)
    }
}
