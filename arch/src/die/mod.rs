//! What is chosen of a Knights Landing's die when it is made and when its firmware starts: which tiles are absent, how lines are shared among
//! agents and memory (the cluster mode), and what MCDRAM is used as (the memory mode).

mod memory;
mod spread;

pub use memory::{MemoryKind, MemoryMode, MemoryNode};
pub use spread::Spread;

/// Places of tiles, each with a CHA. All CHAs are there, whichever tiles are absent: drivers find 38 of them on every part.
const PLACES: u8 = 38;

/// Which tiles a part has.
///
/// Tiles are numbered through those that are there, as the packages of a machine are. Each is beside the CHA whose
/// number is its place.
///
/// ```
/// use vm_pmu_arch::die::Tiles;
///
/// let tiles = Tiles::usual(34);
/// assert_eq!(tiles.count(), 34);
/// // Place 6 has no tile, so the seventh tile is at place 7.
/// assert_eq!([5, 6, 34].map(|tile| tiles.place(tile)), [Some(5), Some(7), None]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiles(u64);

impl Tiles {
    /// All 38 of them.
    pub const ALL: Tiles = Tiles((1 << PLACES) - 1);

    /// The tiles of a usual part with so many. Those of 34 lack the tiles above and below both memory controllers, the pattern that is most frequent
    /// among 4,200 parts (McCalpin, Disabled Core Patterns in Xeon Phi x200, 2021). Chosen: those of 36 lack the ones above, and those of
    /// 32 two more in the upper half, so that all quadrants have as many. Fewer tiles fill the places one after the other.
    #[must_use]
    pub const fn usual(count: usize) -> Tiles {
        let absent: &[u8] = match count {
            36 => &[6, 27],
            34 => &[6, 10, 27, 31],
            32 => &[3, 6, 10, 24, 27, 31],
            _ => &[],
        };
        let mut tiles = Tiles::ALL;
        let mut number = 0;
        while number < absent.len() {
            tiles = tiles.without(absent[number]);
            number += 1;
        }
        // Those of small machines are the first ones.
        if absent.is_empty() && count < PLACES as usize { Tiles((1 << count) - 1) } else { tiles }
    }

    /// Whether there are parts with so many tiles.
    #[must_use]
    pub const fn is_usual(count: usize) -> bool {
        matches!(count, 32 | 34 | 36)
    }

    /// Those at the places that have a bit in `places`, the lowest being place 0.
    #[must_use]
    pub const fn at(places: u64) -> Tiles {
        Tiles(places & Tiles::ALL.0)
    }

    /// Their places, one bit each.
    #[must_use]
    pub const fn places(self) -> u64 {
        self.0
    }

    /// The same without the tile at a place.
    #[must_use]
    pub const fn without(self, place: u8) -> Tiles {
        if place < PLACES { Tiles(self.0 & !(1 << place)) } else { self }
    }

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The place of tile `tile`: the number of the CHA beside it.
    #[must_use]
    pub fn place(self, tile: u8) -> Option<u8> {
        // Those before it are taken away.
        let rest = (0..tile.min(PLACES)).fold(self.0, |tiles, _| tiles & tiles.wrapping_sub(1));
        (rest != 0).then(|| rest.trailing_zeros() as u8)
    }
}

/// How lines are shared among agents and memory (Sodani and others, Knights Landing, Hot Chips 2015 and IEEE Micro 2016).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ClusterMode {
    /// Any agent may have the lines of any memory.
    AllToAll,
    /// An agent is in the half of the die that has the memory of its lines.
    Hemisphere,
    /// An agent is in the quadrant that has the memory of its lines.
    #[default]
    Quadrant,
    /// Each half of the die is a node, with half of the addresses.
    Snc2,
    /// Each quadrant is a node, with a quarter of the addresses.
    Snc4,
}

impl ClusterMode {
    /// Every mode.
    pub const ALL: [ClusterMode; 5] =
        [ClusterMode::AllToAll, ClusterMode::Hemisphere, ClusterMode::Quadrant, ClusterMode::Snc2, ClusterMode::Snc4];

    /// Its name in text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ClusterMode::AllToAll => "all-to-all",
            ClusterMode::Hemisphere => "hemisphere",
            ClusterMode::Quadrant => "quadrant",
            ClusterMode::Snc2 => "snc2",
            ClusterMode::Snc4 => "snc4",
        }
    }

    /// Nodes that an operating system sees.
    #[must_use]
    pub const fn nodes(self) -> u8 {
        match self {
            ClusterMode::AllToAll | ClusterMode::Hemisphere | ClusterMode::Quadrant => 1,
            ClusterMode::Snc2 => 2,
            ClusterMode::Snc4 => 4,
        }
    }
}

/// What is chosen of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Die {
    /// The tiles that it has.
    pub tiles: Tiles,
    /// How lines are shared.
    pub cluster: ClusterMode,
    /// What MCDRAM is used as.
    pub mode: MemoryMode,
    /// Where DDR ends: bytes from address 0 up, which [nodes](ClusterMode::nodes) have in equal parts, one after the other. Holes in the map count
    /// among them, and MCDRAM that is memory begins here.
    pub memory: u64,
    /// Bytes of MCDRAM. The part has 16 GiB; by default it is scaled to [`SCALED_MCDRAM`], which is modelled as a cache at little cost.
    pub mcdram: u64,
}

/// Bytes of MCDRAM of a scaled part; chosen.
pub const SCALED_MCDRAM: u64 = 64 << 20;

impl Default for Die {
    /// All tiles, in quadrants, with MCDRAM as a cache.
    fn default() -> Die {
        Die { tiles: Tiles::ALL, cluster: ClusterMode::Quadrant, mode: MemoryMode::Cache, memory: 0, mcdram: SCALED_MCDRAM }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_parts_have_as_many_tiles_as_they_are_named_for() {
        assert_eq!([32, 34, 36, 38, 5].map(|count| Tiles::usual(count).count()), [32, 34, 36, 38, 5]);
        // 18, 16, 18 and 16 cores on a part of 68: nodes of SNC4 differ by one tile.
        let in_quadrants = |count: usize| {
            let tiles = Tiles::usual(count);
            let mut each = [0; 4];
            (0..count as u8)
                .filter_map(|tile| tiles.place(tile))
                .for_each(|place| each[[10, 19, 29, 38].iter().position(|end| place < *end).unwrap()] += 1);
            each
        };
        assert_eq!([32, 34, 36].map(in_quadrants), [[8, 8, 8, 8], [9, 8, 9, 8], [9, 9, 9, 9]]);
    }
}
