//! The links that requests, answers and lines take between packages.
//!
//! Each package of a group is joined with every other, one link apart. The number of a package gives its place in its group. The link
//! between two places has as its number the exclusive or of both, less one. So three links join four packages, and each has the same number
//! at both ends. Traffic between places that are farther apart takes links that are not counted.
//!
//! Between two groups, packages with the same place are joined; if the other group is smaller, its last package stands in. A command goes
//! to the other group first, and there to the packages of that group. Answers and lines return the same way.

use crate::fabric::interconnect::{Carried, LINKS};
use crate::fabric::scope::Reach;
use crate::fabric::{FabricState, System};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cargo {
    Command,
    Answer,
    Line,
}

/// Returns the number of the link between two places of a group, if it is counted.
const fn between(from: usize, to: usize) -> Option<usize> {
    match (from ^ to).checked_sub(1) {
        Some(link) if link < LINKS => Some(link),
        _ => None,
    }
}

impl System {
    /// Returns the number of packages per group. The last group may have fewer.
    fn group_size(&self) -> usize {
        self.layout.packages_per_group.clamp(1, self.layout.packages.max(1))
    }

    fn group_of(&self, package: usize) -> core::ops::Range<usize> {
        let size = self.group_size();
        let first = package / size * size;
        first..(first + size).min(self.layout.packages)
    }

    /// Returns the package of the group of `to` that is joined with `from`, which is in another group.
    fn entry(&self, from: usize, to: usize) -> usize {
        let group = self.group_of(to);
        (group.start + from % self.group_size()).min(group.end.saturating_sub(1))
    }

    /// Counts a transfer for line `outer` from one package to another of its group.
    fn hop(&self, shared: &mut FabricState, from: usize, to: usize, outer: u64, cargo: Cargo) {
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

    /// Counts a request for line `outer` that `package` sends as far as `reach`, and the answer of every package that it reaches.
    pub(super) fn broadcast(&self, shared: &mut FabricState, package: usize, outer: u64, reach: Reach) {
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

    /// Counts a command for line `outer` that `package` sends to the others of its group, and their answers.
    fn show(&self, shared: &mut FabricState, package: usize, outer: u64) {
        for other in self.group_of(package).filter(|other| *other != package) {
            self.hop(shared, package, other, outer, Cargo::Command);
            self.hop(shared, other, package, outer, Cargo::Answer);
        }
    }

    /// Counts line `outer` on its way from one package to another.
    pub(super) fn send_line(&self, shared: &mut FabricState, from: usize, to: usize, outer: u64) {
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
