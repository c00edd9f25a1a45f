//! How a companion and the pipeline of an Itanium share what is known of code that is prefetched.

use super::super::tally::Tally;
use super::{Core, Pipeline, Source};

impl Pipeline {
    /// The instruction lies in another line of code than the one before, with this number.
    pub(in super::super) fn looks_up(&mut self, line: u64) {
        self.found.code_line = Some(line);
    }

    /// A stream of prefetches begins behind the instruction's line.
    pub(in super::super) fn begins_stream(&mut self) {
        self.found.begins_stream = true;
    }

    /// The stream ends.
    pub(in super::super) fn ends_stream(&mut self, tally: &mut Tally) {
        match &mut self.core {
            Core::Montecito(core) => core.front.end_stream(tally),
            Core::Itanium(core) => core.front.end_stream(tally),
            _ => {}
        }
    }

    /// Whether the stream has asked for one more line by now.
    pub(in super::super) fn stream_has_gone_on(&self) -> bool {
        match &self.core {
            Core::Montecito(core) => core.front.stream_has_gone_on(),
            Core::Itanium(core) => core.front.stream_has_gone_on(),
            _ => false,
        }
    }

    /// A line is prefetched, by a stream or not, and comes after `latency` cycles from here, unless the first level has it.
    pub(in super::super) fn prefetches_code(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, tally: &mut Tally) {
        match &mut self.core {
            Core::Montecito(core) => core.prefetch_code(line, from, streams, tally),
            Core::Itanium(core) => core.front.prefetch(line, from, streams, tally),
            _ => {}
        }
    }
}
