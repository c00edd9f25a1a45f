//! Spreads lines over agents, controllers of memory and places of a memory-side cache.

use super::{ClusterMode, Die};

/// The multiplier of hashes: by the golden ratio neighbours are far from each other.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of a line, evenly distributed over all numbers of 32 bits. Neither the part's nor any other is public.
fn spread(line: u64) -> u32 {
    (line.wrapping_mul(GOLDEN) >> 32) as u32
}

/// Another, which says nothing of the first.
fn other(line: u64) -> u32 {
    line.wrapping_mul(GOLDEN) as u32
}

/// Which of `count` equal parts of all numbers of 32 bits contains `number`.
fn part(number: u32, count: u64) -> u64 {
    u64::from(number).wrapping_mul(count) >> 32
}

/// The most lines of a memory-side cache.
const MOST_PLACES: u64 = 1 << 26;

/// Spreads lines over agents, controllers of memory and places of a memory-side cache. One hash decides where the memory of a line is, and
/// in which part of the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    cluster: ClusterMode,
    /// Nodes, and lines of DDR of each.
    nodes: u64,
    lines: u64,
    /// The first line of MCDRAM that is memory, and lines of each node.
    first: u64,
    flat: u64,
    /// Places of the memory-side cache, or 0. Lines that share one are spread alike.
    places: u64,
}

impl Spread {
    /// Spreads a memory of `lines`, with so many `places` of its memory-side cache.
    #[must_use]
    pub fn new(cluster: ClusterMode, lines: u64, places: u64) -> Spread {
        let nodes = if lines == 0 { 1 } else { u64::from(cluster.nodes()) };
        Spread { cluster, nodes, lines: lines / nodes, first: lines, flat: 0, places }
    }

    /// Spreads the memory of a machine without a chosen die, whose memory-side cache has `cached` bytes.
    #[must_use]
    pub fn undivided(cached: u64, line_bits: u8) -> Spread {
        Spread::new(ClusterMode::Quadrant, 0, Spread::places_of(cached >> line_bits.min(63)))
    }

    /// Spreads the memory of `die`, in lines of 2 to the power of `line_bits` bytes.
    #[must_use]
    pub fn of(die: &Die, line_bits: u8) -> Spread {
        let lines = |bytes: u64| bytes >> line_bits.min(63);
        let nodes = if die.memory == 0 && die.flat() == 0 { 1 } else { u64::from(die.cluster.nodes()) };
        Spread {
            cluster: die.cluster,
            nodes,
            lines: lines(die.memory) / nodes,
            first: lines(die.memory),
            flat: lines(die.flat()) / nodes,
            places: Spread::places_of(lines(die.cached())),
        }
    }

    /// Returns how many places a memory-side cache of `lines` has: a power of two, or 0.
    #[must_use]
    pub fn places_of(lines: u64) -> u64 {
        let lines = lines.min(MOST_PLACES);
        if lines == 0 { 0 } else { 1u64 << (63 - lines.leading_zeros()) }
    }

    /// Returns how many places the memory-side cache has.
    #[must_use]
    pub fn places(&self) -> u64 {
        self.places
    }

    /// Whether a line is of MCDRAM that is memory.
    #[must_use]
    pub fn is_flat(&self, line: u64) -> bool {
        line.checked_sub(self.first).is_some_and(|number| number < self.flat * self.nodes)
    }

    /// The node of a line, and its number there.
    fn within(&self, line: u64) -> (u64, u64) {
        if self.nodes == 1 {
            return (0, line);
        }
        let (first, each) = if self.is_flat(line) { (self.first, self.flat) } else { (0, self.lines) };
        let node = ((line - first) / each.max(1)).min(self.nodes - 1);
        (node, line - first - node * each)
    }

    /// Returns the place of a line in the memory-side cache, and the tag that tells it from others that share the place. Each node has its part of it.
    #[must_use]
    pub fn place(&self, line: u64) -> (u64, u64) {
        let (node, line) = self.within(line);
        let each = (self.places / self.nodes).max(1);
        (node * each + line % each, line / each)
    }

    /// Returns the line at a place, as [`place`](Spread::place) has them.
    #[must_use]
    pub fn line(&self, place: u64, tag: u64) -> u64 {
        let each = (self.places / self.nodes).max(1);
        let node = (place / each).min(self.nodes - 1);
        node.wrapping_mul(self.lines).wrapping_add(tag.wrapping_mul(each)).wrapping_add(place % each)
    }

    /// What is hashed of a line: its node, and a number there that all lines of its place share. MCDRAM that is memory has no such places.
    fn hashed(&self, line: u64) -> (u64, u64) {
        let (node, number) = self.within(line);
        let each = self.places / self.nodes;
        (node, if each == 0 || self.is_flat(line) { number } else { number % each })
    }

    /// Returns which of `count` controllers or quadrants has the memory of a line.
    #[must_use]
    pub fn memory(&self, line: u64, count: u64) -> u64 {
        let (node, line) = self.hashed(line);
        part((((node << 32) + u64::from(spread(line))) / self.nodes) as u32, count)
    }

    /// Returns which of `count` channels of its controller has a line.
    #[must_use]
    pub fn channel(&self, line: u64, count: u64) -> u64 {
        let (_, line) = self.hashed(line);
        part(spread(line.rotate_left(32) ^ line), count)
    }

    /// Returns which of `count` agents orders accesses to a line.
    #[must_use]
    pub fn agent(&self, line: u64, count: u64) -> u64 {
        match self.cluster {
            ClusterMode::AllToAll => part(other(self.hashed(line).1), count),
            ClusterMode::Hemisphere => {
                let half = count / 2;
                self.memory(line, 2) * half + part(other(self.hashed(line).1), half.max(1))
            }
            ClusterMode::Quadrant | ClusterMode::Snc2 | ClusterMode::Snc4 => self.memory(line, count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::die::{MemoryKind, MemoryMode};

    const PLACES_OF_MCDRAM: u64 = 1 << 20;
    const LINES: u64 = 1 << 24;

    fn of(cluster: ClusterMode) -> Spread {
        Spread::new(cluster, LINES, PLACES_OF_MCDRAM)
    }

    /// The quadrant of an agent: nine and a half of 38 in each.
    fn quadrant(agent: u64) -> u64 {
        agent * 4 / 38
    }

    #[test]
    fn an_agent_is_in_the_part_of_the_die_that_the_mode_says() {
        for line in (0..LINES).step_by(9973) {
            let quadrants = |cluster| (quadrant(of(cluster).agent(line, 38)), of(cluster).memory(line, 4));
            // Agents 9 and 28, in the middle row, have lines of both quadrants of their half.
            let (agent, memory) = quadrants(ClusterMode::Quadrant);
            assert!(agent == memory || [9, 28].contains(&of(ClusterMode::Quadrant).agent(line, 38)));
            let (agent, memory) = quadrants(ClusterMode::Hemisphere);
            assert_eq!(agent / 2, memory / 2);
            assert_eq!(quadrants(ClusterMode::Snc4).1, line * 4 / LINES);
            assert_eq!(quadrants(ClusterMode::Snc2).0 / 2, line * 2 / LINES);
        }
        let pairs = |cluster: ClusterMode| {
            let mut seen = [false; 16];
            (0..10_000).for_each(|line| seen[(4 * quadrant(of(cluster).agent(line, 38)) + of(cluster).memory(line, 4)) as usize] = true);
            seen.iter().filter(|seen| **seen).count()
        };
        assert_eq!([ClusterMode::AllToAll, ClusterMode::Hemisphere].map(pairs), [16, 8]);
    }

    #[test]
    fn agents_have_as_many_lines_each_in_every_mode() {
        for cluster in ClusterMode::ALL {
            let mut each = [0; 38];
            (0..LINES).step_by(163).for_each(|line| each[of(cluster).agent(line, 38) as usize] += 1);
            let mean = LINES / 163 / 38;
            assert!(each.iter().all(|lines| (mean * 9 / 10..=mean * 11 / 10).contains(lines)), "{cluster:?} {each:?}");
        }
    }

    #[test]
    fn a_place_and_its_tag_are_one_line_and_lines_of_a_place_are_spread_alike() {
        for cluster in ClusterMode::ALL {
            let spread = of(cluster);
            for line in (0..LINES).step_by(99_991) {
                let (place, tag) = spread.place(line);
                assert!(place < PLACES_OF_MCDRAM && spread.line(place, tag) == line, "{cluster:?} {line}");
                let partner = spread.line(place, tag ^ 1);
                assert_eq!((spread.agent(line, 38), spread.memory(line, 8)), (spread.agent(partner, 38), spread.memory(partner, 8)));
            }
        }
    }

    #[test]
    fn lines_of_each_node_of_memory_are_in_its_part_of_the_die() {
        for (cluster, mode) in ClusterMode::ALL.into_iter().flat_map(|cluster| MemoryMode::ALL.map(|mode| (cluster, mode))) {
            let die = Die { cluster, mode, memory: 1 << 30, mcdram: 64 << 20, ..Die::default() };
            let spread = Spread::of(&die, 6);
            for node in die.memory_nodes() {
                let (first, end) = (node.first >> 6, (node.first + node.bytes) >> 6);
                for line in (first..end).step_by(9973).chain([end - 1]) {
                    assert_eq!(spread.is_flat(line), node.kind == MemoryKind::Mcdram, "{node:?}");
                    assert_eq!(spread.memory(line, cluster.nodes().into()), u64::from(node.part), "{node:?}");
                }
            }
            // All of MCDRAM is memory or cache, and nothing is beyond.
            let all: u64 = die.memory_nodes().map(|node| node.bytes).sum();
            assert_eq!(all + (spread.places() << 6), (1 << 30) + (64 << 20), "{mode:?}");
            assert!(!spread.is_flat(all >> 6));
        }
    }

    #[test]
    fn controllers_share_the_lines_of_mcdram_that_are_memory() {
        let die = Die { mode: MemoryMode::HybridHalf, memory: 1 << 30, mcdram: 64 << 20, ..Die::default() };
        let spread = Spread::of(&die, 6);
        let mut each = [0; 8];
        // 32 MiB: 524,288 lines, 65,536 for each of eight controllers.
        (1 << 24..(1 << 24) + (1 << 19)).for_each(|line| each[spread.memory(line, 8) as usize] += 1);
        assert!(each.iter().all(|lines| (65_000..66_000).contains(lines)), "{each:?}");
    }

    #[test]
    fn lines_in_a_row_and_pages_in_a_row_are_spread_evenly() {
        let plain = Spread::new(ClusterMode::Quadrant, 0, 0);
        for stride in [1, 2, 64, 4096, 1 << 20] {
            for count in [2u64, 4, 6, 8, 38] {
                let mut each = [0u32; 38];
                (0..count * 1000).for_each(|number| each[plain.memory(number * stride, count) as usize] += 1);
                assert!(each.iter().take(count as usize).all(|lines| (900..=1100).contains(lines)), "{count} at {stride}: {each:?}");
            }
            let mut each = [0u32; 3];
            (0..3000).for_each(|number| each[plain.channel(number * stride, 3) as usize] += 1);
            assert!(each.iter().all(|lines| (900..=1100).contains(lines)), "channels at {stride}: {each:?}");
        }
    }

    #[test]
    fn a_controller_lies_in_the_quadrant_of_its_lines() {
        let plain = Spread::new(ClusterMode::Quadrant, 0, 0);
        for line in 0..1000 {
            let quadrant = plain.memory(line, 4);
            assert_eq!(plain.memory(line, 8) / 2, quadrant);
            assert_eq!(plain.memory(line, 2), quadrant / 2);
        }
    }
}
