//! What joins the clusters of a package with each other, with its memory, and with other packages.

use super::bytes::{Damaged, Reader, Writer};

/// The ports at which requests begin: consecutive lines go to them in turn.
pub const PORTS: usize = 4;

/// What the interconnect of a package did since it was last taken.
///
/// A request begins at a cache or device of the package: to read a line, to own it, to write it, or to flush it from every cache. It goes
/// to other packages if one of them has the memory of the line, or if one of their caches had the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interconnect {
    /// Requests that stay within the package, by port.
    pub requests_within: [u64; PORTS],
    /// Requests that go to other packages too, by port.
    pub requests_beyond: [u64; PORTS],
    /// Lines that move from one place of the package to another: its caches, its memory, its devices.
    pub lines_within: u64,
    /// Lines that come from another package or go there.
    pub lines_beyond: u64,
}

impl Interconnect {
    /// A request for `line` begins.
    pub(super) fn request(&mut self, line: u64, beyond: bool) {
        let requests = if beyond { &mut self.requests_beyond } else { &mut self.requests_within };
        if let Some(count) = requests.get_mut(line as usize % PORTS) {
            *count = count.wrapping_add(1);
        }
    }

    /// A line moves.
    pub(super) fn line(&mut self, beyond: bool) {
        let count = if beyond { &mut self.lines_beyond } else { &mut self.lines_within };
        *count = count.wrapping_add(1);
    }

    /// Whether it did anything.
    pub(super) fn is_busy(&self) -> bool {
        *self != Interconnect::default()
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&self.requests_within);
        writer.words(&self.requests_beyond);
        writer.words(&[self.lines_within, self.lines_beyond]);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        reader.words(&mut self.requests_within)?;
        reader.words(&mut self.requests_beyond)?;
        (self.lines_within, self.lines_beyond) = (reader.word()?, reader.word()?);
        Ok(())
    }
}
