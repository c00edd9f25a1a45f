//! The interconnect of a package's clusters with each other, with its memory, and with other packages.

use crate::bytes::{Damaged, Reader, Writer};
use crate::fabric::scope::Reach;

/// Number of ports at which requests begin; consecutive lines go to them in turn.
pub const PORTS: usize = 4;
/// Number of a package's links to others of its group that are counted.
pub const LINKS: usize = 3;
/// Number of a package's memory channels whose requests are counted.
pub const CHANNELS: usize = 8;

/// The counts of a package's interconnect since they were last taken.
///
/// A request begins at a cache or device of the package: to read a line, to own it, to write it, or to flush it from every cache. It is
/// sent as far as necessary: to the package that has the line's memory, or whose cache had the line. Where that distance is
/// [predicted](crate::Mesh::scopes), a request that was sent too near is sent again, farther, and counts each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interconnect {
    /// Requests sent within the package, by port.
    pub requests_within: [u64; PORTS],
    /// Requests sent to all packages of the group, by port.
    pub requests_to_group: [u64; PORTS],
    /// Requests sent to the packages of other groups too, by port.
    pub requests_beyond: [u64; PORTS],
    /// Lines that move from one place of the package to another: its caches, its memory, its devices.
    pub lines_within: u64,
    /// Lines that come from another package or go there.
    pub lines_beyond: u64,
    /// The links to other packages of the group.
    pub links: [Link; LINKS],
    /// The requests to each memory channel, in the order of [`Place::Channel`](crate::Place::Channel).
    pub channels: [Asked; CHANNELS],
}

/// The traffic of a link, in both directions, by halves: the first carries the even lines, the second the odd ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link {
    /// To the other package.
    pub sent: [Carried; 2],
    /// From the other package.
    pub received: [Carried; 2],
}

/// The traffic of half a link in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Carried {
    /// Commands, which each package shows to its caches and its memory.
    pub commands: u64,
    /// Answers of a package to commands.
    pub answers: u64,
    /// Lines of data.
    pub lines: u64,
}

/// The requests to a memory channel, whoever gives the data in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Reads of lines that are to be written.
    pub owned: u64,
    /// Reads of lines by the prefetchers of data.
    pub prefetched: u64,
    /// Writes of part of a line by devices.
    pub partly_written: u64,
    /// Atomic operations, done at the memory.
    pub atomics: u64,
    /// DRAM rows that were opened, on parts whose lines go to channels in turn.
    pub activations: u64,
}

impl Interconnect {
    /// Counts a request for `line` that is sent as far as `reach`.
    pub(super) fn request(&mut self, line: u64, reach: Reach) {
        let requests = match reach {
            Reach::Chip => &mut self.requests_within,
            Reach::Group => &mut self.requests_to_group,
            Reach::System => &mut self.requests_beyond,
        };
        if let Some(count) = requests.get_mut(line as usize % PORTS) {
            *count = count.wrapping_add(1);
        }
    }

    pub(crate) fn line(&mut self, beyond: bool) {
        let count = if beyond { &mut self.lines_beyond } else { &mut self.lines_within };
        *count = count.wrapping_add(1);
    }

    pub(super) fn is_busy(&self) -> bool {
        *self != Interconnect::default()
    }

    /// Calls `work` on each count, always in the same order.
    fn each(&mut self, mut work: impl FnMut(&mut u64)) {
        for requests in [&mut self.requests_within, &mut self.requests_to_group, &mut self.requests_beyond] {
            requests.iter_mut().for_each(&mut work);
        }
        work(&mut self.lines_within);
        work(&mut self.lines_beyond);
        for Link { sent, received } in &mut self.links {
            for Carried { commands, answers, lines } in sent.iter_mut().chain(received) {
                [commands, answers, lines].into_iter().for_each(&mut work);
            }
        }
        for Asked { owned, prefetched, partly_written, atomics, activations } in &mut self.channels {
            [owned, prefetched, partly_written, atomics, activations].into_iter().for_each(&mut work);
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        let mut copy = *self;
        copy.each(|count| writer.word(*count));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let mut outcome = Ok(());
        self.each(|count| match reader.word() {
            Ok(word) => *count = word,
            Err(damaged) => outcome = Err(damaged),
        });
        outcome
    }
}
