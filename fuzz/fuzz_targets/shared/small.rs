//! CPUs of the companion that a few instructions fill.

use vm_pmu::companion::{CacheGeometry, Direction, Profile, SecondLevel};

/// The same CPU with so little of everything that a few instructions fill it.
pub(crate) fn small(profile: &Profile) -> Profile {
    let mut small = *profile;
    let shrink = |geometry: CacheGeometry, bytes: u64| CacheGeometry { bytes: bytes * u64::from(geometry.ways), ..geometry };
    let caches = &mut small.caches;
    caches.instruction = shrink(caches.instruction, 256);
    caches.data = shrink(caches.data, 256);
    caches.second = match caches.second {
        SecondLevel::Unified(geometry) => SecondLevel::Unified(shrink(geometry, 512)),
        SecondLevel::Split { instruction, data } => SecondLevel::Split { instruction: shrink(instruction, 512), data: shrink(data, 512) },
    };
    caches.third = caches.third.map(|(geometry, fill)| (shrink(geometry, 512), fill));
    small.predictor.direction = match small.predictor.direction {
        Direction::Global { history, .. } => Direction::Global { history, index: 6 },
        Direction::Local { history, .. } => Direction::Local { history, histories: 3, index: 6 },
    };
    small.predictor.target_bits = 4;
    small.memory.near_bytes = small.memory.near_bytes.min(1 << 12);
    small
}
