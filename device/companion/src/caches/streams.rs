//! Stores and misses that each thread keeps: write-combining buffers and the prefetcher's streams.

use crate::bytes::{Damaged, Reader, Writer};
use crate::profile::Prefetcher;

const MOST: usize = 16;

/// Write-combining buffers, oldest first: the line of each, and its written bytes.
#[derive(Clone, Debug)]
pub(crate) struct Combining {
    lines: [(u64, u128); MOST],
    used: u8,
    most: u8,
}

/// A buffer that is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) line: u64,
    /// Whether every byte of the line has been written.
    pub(crate) whole: bool,
    /// Number of its pieces of eight bytes that have been written to.
    pub(crate) quadwords: u64,
    /// The bytes that have been written.
    pub(crate) mask: u128,
}

impl Combining {
    pub(crate) fn new(buffers: u8) -> Combining {
        Combining { lines: [(0, 0); MOST], used: 0, most: buffers.clamp(1, MOST as u8) }
    }

    fn open(&mut self) -> &mut [(u64, u128)] {
        self.lines.get_mut(..usize::from(self.used)).unwrap_or(&mut [])
    }

    fn take(&mut self, place: usize, bytes: u32) -> Option<Written> {
        let (line, mask) = *self.open().get(place)?;
        if let Some(rest) = self.open().get_mut(place..) {
            rest.rotate_left(1);
        }
        self.used -= 1;
        let all = if bytes >= 128 { u128::MAX } else { (1 << bytes) - 1 };
        let quadwords = (0..16).filter(|piece| mask >> (8 * piece) & 0xFF != 0).count() as u64;
        Some(Written { line, whole: mask == all, quadwords, mask })
    }

    /// Stores `size` bytes at `offset` of `line`, whose length is `bytes`. Returns the buffers that are written out, to make room or
    /// because they are full.
    pub(crate) fn store(&mut self, line: u64, offset: u32, size: u32, bytes: u32) -> [Option<Written>; 2] {
        let mut out = [None; 2];
        let place = match self.open().iter().position(|(open, _)| *open == line) {
            Some(place) => place,
            None => {
                if self.used >= self.most {
                    out[0] = self.take(0, bytes);
                }
                let place = usize::from(self.used);
                self.used += 1;
                if let Some(open) = self.open().get_mut(place) {
                    *open = (line, 0);
                }
                place
            }
        };
        let span = size.min(bytes.saturating_sub(offset));
        let mask = if span >= 128 { u128::MAX } else { ((1u128 << span) - 1) << offset.min(127) };
        let all = if bytes >= 128 { u128::MAX } else { (1 << bytes) - 1 };
        let full = self.open().get_mut(place).is_some_and(|(_, written)| {
            *written |= mask;
            *written == all
        });
        if full {
            out[1] = self.take(place, bytes);
        }
        out
    }

    /// Takes the oldest buffer, to be written out.
    pub(crate) fn oldest(&mut self, bytes: u32) -> Option<Written> {
        self.take(0, bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.word(u64::from(self.used));
        for (line, mask) in self.lines {
            writer.words(&[line, mask as u64, (mask >> 64) as u64]);
        }
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let used = reader.word()?;
        if used > u64::from(self.most) {
            return Err(Damaged);
        }
        self.used = used as u8;
        for place in &mut self.lines {
            let line = reader.word()?;
            *place = (line, u128::from(reader.word()?) | u128::from(reader.word()?) << 64);
        }
        Ok(())
    }
}

/// A stream: the line that missed last, the number of adjacent lines that did, and whether they descend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stream {
    last: u64,
    length: u8,
    down: bool,
}

impl Stream {
    /// Whether a line that is not adjacent is among the `ahead` lines that the stream has requested.
    fn has_asked_for(&self, line: u64, ahead: u8) -> bool {
        let distance = if self.down { self.last.wrapping_sub(line) } else { line.wrapping_sub(self.last) };
        (2..=u64::from(ahead)).contains(&distance)
    }
}

/// The effect of a miss on the streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grown {
    /// The line to fetch.
    pub(crate) target: Option<u64>,
    /// Whether a stream is followed from now on.
    pub(crate) begun: bool,
    /// Whether it continued a stream that was followed already.
    pub(crate) continued: bool,
    /// Whether a stream that was never continued is dropped for it.
    pub(crate) unused: bool,
    /// Whether a stream has requested this line, and the line before it has not been used.
    pub(crate) ahead: bool,
}

/// The prefetcher's streams, the one that grew last first.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    streams: [Stream; MOST],
}

impl Streams {
    pub(crate) fn new() -> Streams {
        Streams { streams: [Stream::default(); MOST] }
    }

    /// Records that line `line` missed, and returns the effect on the streams. `line_bits` are the bits of an address within a line.
    pub(crate) fn missed(&mut self, prefetcher: &Prefetcher, line: u64, line_bits: u8) -> Grown {
        let most = usize::from(prefetcher.streams).clamp(1, MOST);
        let begins = prefetcher.after.max(2);
        let mut grown = Grown::default();
        let Some(streams) = self.streams.get_mut(..most) else { return grown };
        let follows = |stream: &Stream| stream.length > 0 && (stream.last.wrapping_add(1) == line || line.wrapping_add(1) == stream.last);
        let place = streams.iter().position(follows);
        let stream = match place.and_then(|place| streams.get(place)) {
            Some(stream) => {
                grown.continued = stream.length >= begins;
                let down = line < stream.last;
                let goes_on = stream.length == 1 || down == stream.down;
                Stream { last: line, length: if goes_on { stream.length.saturating_add(1) } else { 2 }, down }
            }
            None => Stream { last: line, length: 1, down: false },
        };
        grown.begun = stream.length == begins;
        if place.is_none() {
            grown.ahead = streams.iter().any(|stream| stream.length >= begins && stream.has_asked_for(line, prefetcher.ahead));
            // The stream that it replaces was begun, and never continued.
            grown.unused = streams.last().is_some_and(|last| last.length == begins);
        }
        let place = place.unwrap_or(most - 1);
        if let Some(used) = streams.get_mut(..=place) {
            used.rotate_right(1);
        }
        if let Some(first) = streams.first_mut() {
            *first = stream;
        }
        if stream.length >= begins {
            let ahead = u64::from(prefetcher.ahead);
            let target = if stream.down { line.checked_sub(ahead) } else { line.checked_add(ahead) };
            let piece = prefetcher.within_bits.saturating_sub(line_bits).min(63);
            grown.target = target.filter(|target| target >> piece == line >> piece);
        }
        grown
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        for stream in &self.streams {
            writer.words(&[stream.last, u64::from(stream.length) << 1 | u64::from(stream.down)]);
        }
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for stream in &mut self.streams {
            let (last, word) = (reader.word()?, reader.word()?);
            *stream = Stream { last, length: (word >> 1) as u8, down: word & 1 == 1 };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFETCHER: Prefetcher = Prefetcher { after: 2, ahead: 2, streams: 4, within_bits: 12 };

    #[test]
    fn two_adjacent_misses_begin_a_stream_that_ends_with_its_page() {
        let mut streams = Streams::new();
        let mut fetched = |line| streams.missed(&PREFETCHER, line, 6).target;
        assert_eq!([64, 65, 66, 70].map(&mut fetched), [None, Some(67), Some(68), None]);
        assert_eq!([125, 126, 127].map(&mut fetched), [None, None, None]);
        assert_eq!([50, 49, 48, 49].map(&mut fetched), [None, Some(47), Some(46), Some(51)]);
    }

    #[test]
    fn a_miss_that_passes_over_a_line_of_a_stream_is_ahead_of_it() {
        let mut streams = Streams::new();
        let mut ahead = |line| streams.missed(&PREFETCHER, line, 6).ahead;
        // 22 is requested with 20. A single miss is no stream; 24 lies beyond what is requested.
        assert_eq!([19, 20, 22, 40, 42].map(&mut ahead), [false, false, true, false, false]);
        let mut streams = Streams::new();
        let mut ahead = |line| streams.missed(&PREFETCHER, line, 6).ahead;
        assert_eq!([31, 30, 28, 27].map(&mut ahead), [false, false, true, false]);
    }

    #[test]
    fn a_stream_that_turns_begins_anew() {
        let patient = Prefetcher { after: 3, ..PREFETCHER };
        let mut streams = Streams::new();
        let mut fetched = |line| streams.missed(&patient, line, 6).target;
        assert_eq!([20, 21, 20, 19, 18].map(&mut fetched), [None, None, None, Some(17), Some(16)]);
    }

    #[test]
    fn a_buffer_is_written_out_when_full_or_when_its_place_is_needed() {
        let mut combining = Combining::new(2);
        for quarter in 0..3 {
            assert_eq!(combining.store(7, 16 * quarter, 16, 64), [None; 2]);
        }
        assert_eq!(combining.store(7, 48, 16, 64)[1], Some(Written { line: 7, whole: true, quadwords: 8, mask: u128::from(u64::MAX) }));
        assert_eq!(combining.store(1, 0, 4, 64), [None; 2]);
        assert_eq!(combining.store(2, 8, 8, 64), [None; 2]);
        assert_eq!(combining.store(3, 0, 8, 64)[0], Some(Written { line: 1, whole: false, quadwords: 1, mask: 0xF }));
        assert_eq!(combining.oldest(64).map(|written| written.line), Some(2));
        assert_eq!(combining.oldest(64).map(|written| written.line), Some(3));
        assert!(combining.is_empty());
    }
}
