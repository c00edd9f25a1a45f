//! What is chosen of a Knights Landing's die: which tiles it has, how lines are shared, and what MCDRAM is used as.

use vm_pmu::die::{ClusterMode, Die, MemoryMode, Tiles};

use crate::pointer::put;
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// How a Knights Landing shares lines among agents and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuClusterMode {
    /// None was chosen: it is quadrant.
    Usual = 0,
    /// Any agent may have the lines of any memory.
    AllToAll = 1,
    /// An agent is in the half of the die that has the memory of its lines.
    Hemisphere = 2,
    /// An agent is in the quadrant that has the memory of its lines.
    Quadrant = 3,
    /// Each half of the die is a node, with half of the addresses.
    Snc2 = 4,
    /// Each quadrant is a node, with a quarter of the addresses.
    Snc4 = 5,
}

/// What a Knights Landing uses MCDRAM as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuMemoryMode {
    /// None was chosen: it is a cache.
    Usual = 0,
    /// All of it is a cache of DDR.
    Cache = 1,
    /// All of it is memory, at addresses of its own above those of DDR.
    Flat = 2,
    /// A quarter of it is a cache of DDR, and the rest is memory.
    HybridQuarter = 3,
    /// Half of it is a cache of DDR, and half is memory.
    HybridHalf = 4,
}

/// The modes by their numbers, without the first.
const MODES: [ClusterMode; 5] = ClusterMode::ALL;
const MEMORY_MODES: [MemoryMode; 4] = MemoryMode::ALL;

/// The one of `modes`, whose enumeration is `name`, with this number from 1 up; `None` if none was chosen.
fn mode<T: Copy>(modes: &[T], number: u32, (what, name): (&str, &str)) -> Result<Option<T>, Failure> {
    let Some(place) = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1) else { return Ok(None) };
    let found = modes.get(place).copied();
    found.map(Some).ok_or_else(|| argument(format!("there is no {what} {number}: there are 0 to {}, {name}", modes.len())))
}

/// The mode of this number; `None` if none was chosen.
pub(crate) fn cluster_mode(number: u32) -> Result<Option<ClusterMode>, Failure> {
    mode(&MODES, number, ("cluster mode", "VmPmuClusterMode"))
}

/// The mode of memory of this number; `None` if none was chosen.
pub(crate) fn memory_mode(number: u32) -> Result<Option<MemoryMode>, Failure> {
    mode(&MEMORY_MODES, number, ("memory mode", "VmPmuMemoryMode"))
}

/// The number of a mode among `modes`, from 1 up.
fn number<T: PartialEq>(modes: &[T], mode: T) -> u32 {
    modes.iter().zip(1..).find(|(known, _)| **known == mode).map_or(0, |(_, number)| number)
}

/// The tiles at the places whose bits are set; `None` for no bit.
pub(crate) fn tiles(places: u64) -> Result<Option<Tiles>, Failure> {
    let all = bits(Tiles::ALL);
    if places & !all != 0 {
        return Err(argument(format!("there are no tiles at the places {:#x}: there are places 0 to 37", places & !all)));
    }
    let absent = (0..64).filter(|place| places >> place & 1 == 0);
    Ok((places != 0).then(|| absent.fold(Tiles::ALL, Tiles::without)))
}

/// The places of tiles, one bit each.
pub(crate) fn bits(tiles: Tiles) -> u64 {
    (0..=u8::MAX).map_while(|tile| tiles.place(tile)).fold(0, |bits, place| bits | 1 << place)
}

/// What options choose of a die. Nothing is chosen if all are 0.
#[derive(Clone, Copy, Default)]
pub(crate) struct Choice {
    /// The places of its tiles, one bit each.
    pub(crate) tiles: u64,
    /// [`VmPmuClusterMode`].
    pub(crate) cluster_mode: u32,
    /// [`VmPmuMemoryMode`].
    pub(crate) memory_mode: u32,
    /// Bytes of MCDRAM; 0 is the usual number.
    pub(crate) mcdram: u64,
    /// Bytes of DDR.
    pub(crate) memory: u64,
}

impl Choice {
    /// What makes this die.
    pub(crate) fn of(die: &Die) -> Choice {
        Choice {
            tiles: bits(die.tiles),
            cluster_mode: number(&MODES, die.cluster),
            memory_mode: number(&MEMORY_MODES, die.mode),
            mcdram: die.mcdram,
            memory: die.memory,
        }
    }
}

/// The die that options choose: `None` if they choose nothing.
pub(crate) fn chosen(choice: &Choice) -> Result<Option<Die>, Failure> {
    let Choice { mcdram, memory, .. } = *choice;
    let (tiles, cluster, mode) = (tiles(choice.tiles)?, cluster_mode(choice.cluster_mode)?, memory_mode(choice.memory_mode)?);
    if cluster.is_some_and(|cluster| cluster.nodes() > 1) && memory == 0 {
        return Err(argument("a cluster mode of several nodes divides the memory, so its size is needed: here it is 0"));
    }
    if mode.is_some_and(|mode| mode != MemoryMode::Cache) && memory == 0 {
        return Err(argument("MCDRAM that is memory begins where DDR ends, so the size of that is needed: here it is 0"));
    }
    let is_chosen = tiles.is_some() || cluster.is_some() || mode.is_some() || mcdram != 0;
    let usual = Die::default();
    Ok(is_chosen.then(|| Die {
        tiles: tiles.unwrap_or(usual.tiles),
        cluster: cluster.unwrap_or_default(),
        mode: mode.unwrap_or_default(),
        memory,
        mcdram: if mcdram == 0 { usual.mcdram } else { mcdram },
    }))
}

/// Writes to `tiles` which tiles a usual Knights Landing with `count` of them has: a bit for each place, of which there are 38. Parts of 32,
/// 34 and 36 tiles lack some in between; of any other number the first places have tiles. The tile of the n-th bit that is set is package
/// n of a machine, beside the CHA with the number of the bit.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_tiles_usual(count: u32, tiles: *mut u64) -> VmPmuStatus {
    guarded(|| {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > Tiles::ALL.count() {
            return Err(argument(format!("a die has at most {} tiles", Tiles::ALL.count())));
        }
        // SAFETY: the caller's promise.
        unsafe { put(tiles, bits(Tiles::usual(count)), "where the tiles are to be written") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_those_whose_bits_are_set() {
        assert_eq!(tiles(0b1011).unwrap().map(bits), Some(0b1011));
        assert_eq!(tiles(0).unwrap(), None);
        assert!(tiles(1 << 38).is_err());
        assert_eq!(bits(Tiles::ALL), (1 << 38) - 1);
    }

    #[test]
    fn modes_keep_their_numbers() {
        for (mode, expected) in [
            (ClusterMode::AllToAll, VmPmuClusterMode::AllToAll),
            (ClusterMode::Hemisphere, VmPmuClusterMode::Hemisphere),
            (ClusterMode::Quadrant, VmPmuClusterMode::Quadrant),
            (ClusterMode::Snc2, VmPmuClusterMode::Snc2),
            (ClusterMode::Snc4, VmPmuClusterMode::Snc4),
        ] {
            assert_eq!(number(&MODES, mode), expected as u32);
            assert_eq!(cluster_mode(expected as u32).unwrap(), Some(mode));
        }
        assert_eq!(cluster_mode(VmPmuClusterMode::Usual as u32).unwrap(), None);
        assert!(cluster_mode(6).is_err());
    }

    #[test]
    fn modes_of_memory_keep_their_numbers() {
        for (mode, expected) in [
            (MemoryMode::Cache, VmPmuMemoryMode::Cache),
            (MemoryMode::Flat, VmPmuMemoryMode::Flat),
            (MemoryMode::HybridQuarter, VmPmuMemoryMode::HybridQuarter),
            (MemoryMode::HybridHalf, VmPmuMemoryMode::HybridHalf),
        ] {
            assert_eq!(number(&MEMORY_MODES, mode), expected as u32);
            assert_eq!(memory_mode(expected as u32).unwrap(), Some(mode));
        }
        assert_eq!(memory_mode(VmPmuMemoryMode::Usual as u32).unwrap(), None);
        assert!(memory_mode(5).is_err());
    }

    #[test]
    fn flat_memory_needs_to_know_where_ddr_ends() {
        let choice = |memory| Choice { tiles: 0, cluster_mode: 0, memory_mode: VmPmuMemoryMode::Flat as u32, mcdram: 16 << 30, memory };
        assert!(chosen(&choice(0)).is_err());
        let die = chosen(&choice(4 << 30)).unwrap().unwrap();
        assert_eq!((die.mode, die.memory, die.flat()), (MemoryMode::Flat, 4 << 30, 16 << 30));
    }
}
