//! Shared knowledge of a companion and an Itanium pipeline about prefetched code.

use super::super::tally::Tally;
use super::{Core, Pipeline, Source};

impl Pipeline {
    /// Records that the instruction lies in another line of code than the previous one.
    pub(in super::super) fn looks_up(&mut self, line: u64) {
        self.found.code_line = Some(line);
    }

    /// Begins a stream of prefetches behind the instruction's line.
    pub(in super::super) fn begins_stream(&mut self) {
        self.found.begins_stream = true;
    }

    /// Ends the stream.
    pub(in super::super) fn ends_stream(&mut self, tally: &mut Tally) {
        match &mut self.core {
            Core::Montecito(core) => core.front.end_stream(tally),
            Core::Itanium(core) => core.front.end_stream(tally),
            _ => {}
        }
    }

    /// Returns whether the stream has requested another line by now.
    pub(in super::super) fn stream_has_gone_on(&self) -> bool {
        match &self.core {
            Core::Montecito(core) => core.front.stream_has_gone_on(),
            Core::Itanium(core) => core.front.stream_has_gone_on(),
            _ => false,
        }
    }

    /// Prefetches a line, as part of a stream or not. `from` is its source and its latency from now on; `None` if the first level has it.
    pub(in super::super) fn prefetches_code(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, tally: &mut Tally) {
        match &mut self.core {
            Core::Montecito(core) => core.prefetch_code(line, from, streams, tally),
            Core::Itanium(core) => core.front.prefetch(line, from, streams, tally),
            _ => {}
        }
    }
}
