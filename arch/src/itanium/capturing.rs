//! What the PMU captures and counts of an instruction's record.

use super::tagging::Tags;
use super::{Itanium, choice, data_capture, fetch_capture, trace};
use crate::event::Internal;
use crate::feed::{Feed, Record, Records, Scope, Signal, SignalSet};
use crate::ia64::{InstructionSets, Last, Monitor, Psr};

/// What was captured of one instruction.
#[derive(Clone, Copy, Default)]
struct Captured {
    data: bool,
    fetch: bool,
    branch: bool,
}

impl Itanium {
    fn data_monitor(&self) -> Monitor {
        let pmc11 = self.configuration.pmc11;
        Monitor { plm: pmc11.plm(), pm: pmc11.pm(), sets: choice::sets(pmc11.ism()) }
    }

    fn fetch_monitor(&self) -> Monitor {
        let pmc10 = self.configuration.pmc10;
        Monitor { plm: pmc10.plm(), pm: pmc10.pm(), sets: choice::sets(pmc10.ism()) }
    }

    fn trace_monitor(&self) -> Monitor {
        let pmc12 = self.configuration.pmc12;
        Monitor { plm: pmc12.plm(), pm: pmc12.pm(), sets: InstructionSets::Any }
    }

    /// Whether loads are followed, which takes time.
    pub(super) fn follows_loads(&self) -> bool {
        let pmc11 = self.configuration.pmc11;
        !pmc11.tlb() && data_capture::captures_anything(pmc11) && self.data_monitor().can_count()
    }

    /// The signals and records that captures need while nothing is frozen.
    pub(super) fn demand_of_captures(&self, signals: &mut SignalSet) -> Records {
        let configuration = &self.configuration;
        let mut records = Records::NONE;
        if self.follows_loads() {
            signals.insert(Signal::Cycles);
        }
        if self.data_monitor().can_count() && data_capture::captures_anything(configuration.pmc11) {
            records = records.with(Records::MEMORY);
        }
        if self.fetch_monitor().can_count() && fetch_capture::captures_anything(configuration.pmc10) {
            records = records.with(Records::FETCHES);
        }
        if self.trace_monitor().can_count() && trace::captures_anything(configuration.pmc12) {
            records = records.with(Records::BRANCHES);
        }
        records
    }

    /// Follows time from now on, if anything needs it and did not before.
    pub(super) fn begin_time(&mut self, feed: &impl Feed) {
        let follows = !self.is_frozen() && self.follows_loads();
        if follows && !self.timed {
            self.seen = feed.total(Signal::Cycles, Scope::Thread);
        }
        self.timed = follows;
    }

    /// Advances the captures by the cycles that have elapsed.
    pub(super) fn advance(&mut self, feed: &impl Feed) {
        if self.timed {
            let now = feed.total(Signal::Cycles, Scope::Thread);
            let cycles = now.wrapping_sub(core::mem::replace(&mut self.seen, now));
            self.tracker.advance(cycles);
        }
    }

    /// Captures and counts what the instruction of `record` did. Returns whether deadlines must be set anew.
    pub(super) fn take_record(&mut self, record: &Record, feed: &impl Feed) -> bool {
        if self.is_frozen() {
            return false;
        }
        self.advance(feed);
        let tags = self.tagger().tags(record, &self.context);
        if self.demand.records().every {
            // Otherwise only some instructions are reported, and which ones must not be visible.
            self.tags = tags;
        }
        let captured = self.capture(record, tags);
        self.counters.judge(|qualifier| tags.admit(qualifier), feed);
        self.counters.occur(|internal| match internal {
            Internal::DataAddressCapture => u64::from(captured.data),
            Internal::InstructionAddressCapture => u64::from(captured.fetch),
            Internal::TraceEntry => u64::from(captured.branch),
            _ => 0,
        });
        let froze = self.counters.count_if_asked(feed);
        if froze {
            self.update_demand(feed);
        }
        froze
    }

    fn capture(&mut self, record: &Record, tags: Tags) -> Captured {
        let mut captured = Captured::default();
        let (context, configuration) = (self.context, self.configuration);
        if tags.data && self.data_monitor().is_enabled(&context) {
            captured.data = data_capture::capture(configuration.pmc11, record, &mut self.tracker, &mut self.captures);
        }
        if let Some(fetch) = &record.fetch
            && tags.range
            && self.fetch_monitor().is_enabled(&context)
        {
            captured.fetch = fetch_capture::capture(configuration.pmc10, fetch, &mut self.captures);
        }
        if let Some(branch) = &record.branch {
            let is_ia64 = !Psr::of(context.machine_state).is();
            if is_ia64 && tags.opcodes & 1 == 1 && self.trace_monitor().is_enabled(&context) {
                captured.branch = trace::capture(configuration.pmc12, record, branch, &mut self.last, &mut self.captures);
            } else {
                self.last = Last::Nothing;
            }
        }
        captured
    }
}
