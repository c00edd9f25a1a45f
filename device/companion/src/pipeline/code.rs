//! Shared knowledge of a companion and an Itanium pipeline about prefetched code.

use super::part::Part;
use super::{Pipeline, Source};
use crate::tally::Tally;

impl Pipeline {
    /// Records that the instruction lies in another line of code than the previous one.
    pub(crate) fn looks_up(&mut self, line: u64) {
        self.found.code_line = Some(line);
    }

    /// Begins a stream of prefetches behind the instruction's line.
    pub(crate) fn begins_stream(&mut self) {
        self.found.begins_stream = true;
    }

    /// Ends the stream.
    pub(crate) fn ends_stream(&mut self, tally: &mut Tally) {
        each!(&mut self.of_part, part => part.end_stream(tally));
    }

    /// Returns whether the stream has requested another line by now.
    pub(crate) fn stream_has_gone_on(&self) -> bool {
        each!(&self.of_part, part => part.stream_has_gone_on())
    }

    /// Prefetches a line, as part of a stream or not. `from` is its source and its latency from now on; `None` if the first level has it.
    pub(crate) fn prefetches_code(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, tally: &mut Tally) {
        each!(&mut self.of_part, part => Part::prefetch_code(&mut **part, line, from, streams, tally));
    }
}
