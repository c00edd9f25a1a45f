//! CPUID of an AMD processor's caches.

use vm_pmu::companion::{BufferGeometry, Profile, SecondLevel};

use vm_pmu_engines::x86::CpuidResult;

/// CPUID of caches and translation buffers (AMD CPUID Specification 25481, functions 8000_0005h and 8000_0006h).
pub(super) fn caches(leaf: u32, profile: &Profile) -> CpuidResult {
    let held = |buffers: &[BufferGeometry], bits: u8| buffers.iter().find(|buffer| buffer.page_bits == [bits]).copied();
    let line = 1 << profile.caches.outer_line_bits;
    if leaf == 0x8000_0005 {
        // Fully associative is FFh; one line a tag.
        let buffers = |bits: u8| {
            let [code, data] = [profile.translation.instruction[0], profile.translation.data[0]]
                .map(|level| held(level, bits).map_or(0, |buffer| 0xFF << 8 | buffer.entries & 0xFF));
            data << 16 | code
        };
        let cache =
            |geometry: vm_pmu::companion::CacheGeometry| ((geometry.bytes >> 10) as u32) << 24 | geometry.ways << 16 | 1 << 8 | line;
        return CpuidResult { eax: buffers(21), ebx: buffers(12), ecx: cache(profile.caches.data), edx: cache(profile.caches.instruction) };
    }
    let ways = |ways: u32| match ways {
        0 | 1 => ways,
        2 => 2,
        3..=4 => 4,
        5..=8 => 6,
        _ => 8,
    };
    let [code, data] = [profile.translation.instruction[1], profile.translation.data[1]]
        .map(|level| held(level, 12).map_or(0, |buffer| ways(buffer.ways) << 12 | buffer.entries & 0xFFF));
    let second = match profile.caches.second {
        SecondLevel::Unified(geometry) | SecondLevel::Split { data: geometry, .. } => geometry,
    };
    let ecx = ((second.bytes >> 10) as u32) << 16 | ways(second.ways) << 12 | 1 << 8 | line;
    CpuidResult { eax: 0, ebx: data << 16 | code, ecx, edx: 0 }
}
