//! What is chosen of a Knights Landing's die: which tiles it has, and how lines are shared.

use vm_pmu::die::{ClusterMode, Die, Tiles};

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

/// The modes by their numbers, without the first.
const MODES: [ClusterMode; 5] = ClusterMode::ALL;

/// The mode of this number; `None` if none was chosen.
pub(crate) fn cluster_mode(number: u32) -> Result<Option<ClusterMode>, Failure> {
    let Some(place) = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1) else { return Ok(None) };
    let found = MODES.get(place).copied();
    found.map(Some).ok_or_else(|| argument(format!("there is no cluster mode {number}: there are 0 to {}, VmPmuClusterMode", MODES.len())))
}

/// The number of a mode.
pub(crate) fn number(mode: ClusterMode) -> u32 {
    MODES.iter().zip(1..).find(|(known, _)| **known == mode).map_or(0, |(_, number)| number)
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

/// The die that options choose: `None` if they choose nothing.
pub(crate) fn chosen(places: u64, mode: u32, memory: u64) -> Result<Option<Die>, Failure> {
    let (tiles, cluster) = (tiles(places)?, cluster_mode(mode)?);
    if cluster.is_some_and(|cluster| cluster.nodes() > 1) && memory == 0 {
        return Err(argument("a cluster mode of several nodes divides the memory, so its size is needed: here it is 0"));
    }
    let is_chosen = tiles.is_some() || cluster.is_some();
    Ok(is_chosen.then(|| Die { tiles: tiles.unwrap_or(Tiles::ALL), cluster: cluster.unwrap_or_default(), memory }))
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
            assert_eq!(number(mode), expected as u32);
            assert_eq!(cluster_mode(expected as u32).unwrap(), Some(mode));
        }
        assert_eq!(cluster_mode(VmPmuClusterMode::Usual as u32).unwrap(), None);
        assert!(cluster_mode(6).is_err());
    }
}
