//! What the PMU captures and counts of an instruction's record.

use super::made::Made;
use super::tagging::Tags;
use super::{Montecito, data_capture, fetch_capture, retired, trace};
use crate::feed::{Context, Feed, Record, Records, Scope, Signal, SignalSet};
use crate::ia64::{InstructionSets, Last, Monitor, Psr};

impl Montecito {
    fn data_monitor(&self) -> Monitor {
        let pmc40 = self.configuration.pmc40;
        Monitor { plm: pmc40.plm(), pm: pmc40.pm(), sets: InstructionSets::only(pmc40.ism()) }
    }

    /// Whether loads can be followed in some context.
    pub(super) fn follows_loads(&self) -> bool {
        self.data_monitor().can_count()
    }

    fn fetch_monitor(&self) -> Monitor {
        let pmc37 = self.configuration.pmc37;
        Monitor { plm: pmc37.plm(), pm: pmc37.pm(), sets: InstructionSets::Any }
    }

    fn trace_monitor(&self) -> Monitor {
        let pmc39 = self.configuration.pmc39;
        Monitor { plm: pmc39.plm(), pm: pmc39.pm(), sets: InstructionSets::Any }
    }

    fn retirement_monitor(&self) -> Monitor {
        let pmc42 = self.configuration.pmc42;
        Monitor { plm: pmc42.plm(), pm: pmc42.pm(), sets: InstructionSets::Any }
    }

    /// Whether the buffer holds execution traces, not retired instruction pointers.
    pub(super) fn traces(&self) -> bool {
        self.configuration.pmc42.mode() == retired::TRACE
    }

    /// Whether retired instruction pointers are captured in this context while nothing is frozen.
    pub(super) fn captures_retirement(&self, context: &Context) -> bool {
        self.configuration.pmc42.mode() == retired::RETIRED && context.foreground && self.retirement_monitor().is_enabled(context)
    }

    /// The signals and records that captures need while nothing is frozen.
    pub(super) fn demand_of_captures(&self, signals: &mut SignalSet) -> Records {
        let mut records = Records::NONE;
        if self.data_monitor().can_count() {
            signals.insert(Signal::Cycles);
            records = records.with(Records::MEMORY);
            // A check that fails need not access memory.
            if self.configuration.pmc40.mode() & 0b10 != 0 {
                records = records.with(Records::BRANCHES);
            }
        }
        if self.fetch_monitor().can_count() && self.configuration.pmc37.ct() != 0b01 {
            records = records.with(Records::FETCHES);
        }
        if self.traces() && trace::captures_anything(self.configuration.pmc39) {
            records = records.with(Records::BRANCHES);
        }
        if self.configuration.pmc42.mode() == retired::RETIRED && self.retirement_monitor().can_count() {
            signals.insert(Signal::Cycles);
            records = records.with(Records::EVERY);
        }
        records
    }

    /// Follows time from now on, if anything needs it and did not before.
    pub(super) fn begin_time(&mut self, feed: &impl Feed) {
        let mut signals = SignalSet::EMPTY;
        self.demand_of_captures(&mut signals);
        let captures = if self.is_frozen() { self.retirement.is_on() } else { signals.contains(Signal::Cycles) };
        if captures && !self.timed {
            self.seen = feed.total(Signal::Cycles, Scope::Thread);
        }
        self.timed = captures;
    }

    /// Advances the captures by the cycles that have elapsed.
    pub(super) fn advance(&mut self, feed: &impl Feed) {
        if !self.timed {
            return;
        }
        let now = feed.total(Signal::Cycles, Scope::Thread);
        let cycles = now.wrapping_sub(core::mem::replace(&mut self.seen, now));
        self.tracker.advance(cycles);
        let captured = self.retirement.is_on();
        self.retirement.advance(cycles, &mut self.captures);
        if captured && !self.retirement.is_on() {
            self.update_demand(feed);
        }
    }

    /// Begins or ends the capture of retired instruction pointers, by the context and freezing.
    pub(super) fn follow_retirement(&mut self) {
        let delay = self.configuration.pmc42.delay();
        let enabled = self.captures_retirement(&self.context);
        if self.retirement.is_on() && !enabled {
            self.retirement.freeze_early(delay, &mut self.captures);
        } else if self.retirement.is_on() && self.is_frozen() {
            self.retirement.freeze(delay, &mut self.captures);
        } else if !self.retirement.is_on() && enabled && !self.is_frozen() {
            self.retirement.begin();
        }
    }

    /// Monitoring continues after a freeze: what it captured before does not affect what follows, unless capturing has not ended yet.
    pub(super) fn thaw(&mut self) {
        self.retirement.thaw();
        self.tracker.release();
        self.last = Last::Nothing;
    }

    /// Captures and counts what the instruction of `record` did. Returns whether deadlines must be set anew.
    pub(super) fn take_record(&mut self, record: &Record, feed: &impl Feed) -> bool {
        self.made = Made::default();
        let frozen = self.is_frozen();
        if frozen && !self.retirement.is_on() {
            return false;
        }
        self.advance(feed);
        let tags = self.tagger().tags(record, &self.context);
        if self.demand.records().every {
            // Otherwise only some instructions are reported, and which ones must not be visible.
            self.tags = tags;
        }
        let entries = self.retirement.retire(record, &mut self.captures);
        if frozen {
            return false;
        }
        let mut captured = self.capture(record, tags);
        captured.entries += entries;
        self.made = captured;
        self.counters.judge(|qualifier| tags.admit(qualifier), feed);
        self.counters.occur(|internal| captured.amount(internal));
        let froze = self.counters.count_if_asked(feed);
        if froze {
            self.freeze(feed);
        }
        froze
    }

    fn capture(&mut self, record: &Record, tags: Tags) -> Made {
        let mut captured = Made::default();
        let (context, configuration) = (self.context, self.configuration);
        if tags.data && self.data_monitor().is_enabled(&context) {
            captured.data = data_capture::capture(configuration.pmc40, record, &mut self.tracker, &mut self.captures);
        }
        if let Some(fetch) = &record.fetch
            && tags.addresses & 1 == 1
            && self.fetch_monitor().is_enabled(&context)
        {
            captured.fetch = fetch_capture::capture(configuration.pmc37, fetch, &mut self.captures);
        }
        if let Some(branch) = &record.branch
            && self.traces()
            // Branches of IA-32 code are not traced.
            && !Psr::of(context.machine_state).is()
            && self.trace_monitor().is_enabled(&context)
        {
            let tagged = tags.instructions & 1 == 1;
            captured.entries = trace::capture(configuration.pmc39, record, branch, tagged, &mut self.last, &mut self.captures);
        } else if record.branch.is_some() {
            self.last = Last::Nothing;
        }
        captured
    }
}
