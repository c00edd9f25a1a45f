//! Which links requests, answers and lines take between packages.
//!
//! The packages of a group are joined each with each, one link apart. A package has the place in its group that its number gives. The link
//! between two places has as its number the exclusive or of both, less one: so three links join four packages, and each has the same number
//! at both ends. What is between places that are farther apart than that goes by links that are not counted.
//!
//! Of two groups, packages with the same place are joined; where the other group is smaller, its last package stands in. A command goes to
//! the other group first, and there to the packages of that group. Answers and lines come back on the same way.

use super::interconnect::{Carried, LINKS};
use super::reach::Reach;
use super::system::{Shared, System};

/// What goes over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cargo {
    Command,
    Answer,
    Line,
}

/// The number of the link between two places of a group, if it is counted.
const fn between(from: usize, to: usize) -> Option<usize> {
    match (from ^ to).checked_sub(1) {
        Some(link) if link < LINKS => Some(link),
        _ => None,
    }
}

impl System {
    /// Packages of a group, the last of which may have fewer.
    fn group_size(&self) -> usize {
        self.layout.packages_per_group.clamp(1, self.layout.packages.max(1))
    }

    /// The packages of the group that `package` is in.
    fn group_of(&self, package: usize) -> core::ops::Range<usize> {
        let size = self.group_size();
        let first = package / size * size;
        first..(first + size).min(self.layout.packages)
    }

    /// The package of the group of `to` that is joined with `from`, which is in another group.
    fn entry(&self, from: usize, to: usize) -> usize {
        let group = self.group_of(to);
        (group.start + from % self.group_size()).min(group.end.saturating_sub(1))
    }

    /// Something goes from one package to another of its group, for line `outer`.
    fn hop(&self, shared: &mut Shared, from: usize, to: usize, outer: u64, cargo: Cargo) {
        let size = self.group_size();
        let Some(link) = between(from % size, to % size) else { return };
        let half = outer as usize % 2;
        let mut count = |package: usize, sends: bool| {
            let memory = shared.memories.get_mut(package);
            let link = memory.and_then(|memory| memory.places.interconnect.links.get_mut(link));
            let carried = link.and_then(|link| if sends { link.sent.get_mut(half) } else { link.received.get_mut(half) });
            let Some(Carried { commands, answers, lines }) = carried else { return };
            let count = match cargo {
                Cargo::Command => commands,
                Cargo::Answer => answers,
                Cargo::Line => lines,
            };
            *count = count.wrapping_add(1);
        };
        count(from, true);
        count(to, false);
    }

    /// `package` sends a request for line `outer` as far as `reach`, and every package that it comes to answers.
    pub(super) fn broadcast(&self, shared: &mut Shared, package: usize, outer: u64, reach: Reach) {
        if reach == Reach::Chip {
            return;
        }
        self.show(shared, package, outer);
        if reach == Reach::Group {
            return;
        }
        let own = self.group_of(package).start;
        for group in (0..self.layout.packages).step_by(self.group_size()).filter(|group| *group != own) {
            self.show(shared, self.entry(package, group), outer);
        }
    }

    /// `package` shows the others of its group a command for line `outer`, and they answer.
    fn show(&self, shared: &mut Shared, package: usize, outer: u64) {
        for other in self.group_of(package).filter(|other| *other != package) {
            self.hop(shared, package, other, outer, Cargo::Command);
            self.hop(shared, other, package, outer, Cargo::Answer);
        }
    }

    /// Line `outer` goes from one package to another.
    pub(super) fn send_line(&self, shared: &mut Shared, from: usize, to: usize, outer: u64) {
        let within = if self.reach(from, to) == Reach::System { self.entry(to, from) } else { to };
        if within != from {
            self.hop(shared, from, within, outer, Cargo::Line);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn three_links_join_four_packages_each_with_each() {
        for from in 0..4 {
            let mut links: Vec<_> = (0..4).filter(|to| *to != from).map(|to| between(from, to).unwrap()).collect();
            links.sort_unstable();
            assert_eq!(links, [0, 1, 2]);
        }
        assert_eq!(between(0, 4), None);
        assert_eq!(between(5, 4), Some(0));
    }
}
