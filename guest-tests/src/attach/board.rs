//! What a machine's CPUs share beside memory.

use vm_pmu::Part;
use vm_pmu::companion::{BufferGeometry, Profile, SecondLevel, parts};

use crate::engine::interp::{CpuidResult, MachineBus};

/// A board whose CPUs show themselves as the part that the PMU belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    part: Part,
}

impl Board {
    /// A board of `part`.
    #[must_use]
    pub fn new(part: Part) -> Board {
        Board { part }
    }
}

impl MachineBus for Board {
    fn cpuid(&self, _cpu: usize, leaf: u32, _subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let Some(identity) = self.part.cpuid() else { return answer };
        let word = |at: usize| identity.vendor.iter().skip(at).take(4).rev().fold(0, |word, letter| word << 8 | u32::from(*letter));
        match leaf {
            0 | 0x8000_0000 => CpuidResult { ebx: word(0), edx: word(4), ecx: word(8), ..answer },
            1 | 0x8000_0001 => CpuidResult { eax: identity.signature, ..answer },
            0x8000_0005 | 0x8000_0006 => parts::named(self.part.name()).map_or(answer, |profile| caches(leaf, profile)),
            _ => answer,
        }
    }
}

/// What CPUID says of caches and translation buffers (AMD CPUID Specification 25481, functions 8000_0005h and 8000_0006h).
fn caches(leaf: u32, profile: &Profile) -> CpuidResult {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caches_of_a_k8_are_those_of_an_opteron() {
        // As an Opteron 248 answers.
        let board = Board::new(Part::named("k8").expect("known"));
        let ask = |leaf| board.cpuid(0, leaf, 0, CpuidResult::default());
        assert_eq!(ask(0x8000_0005), CpuidResult { eax: 0xFF08_FF08, ebx: 0xFF20_FF20, ecx: 0x4002_0140, edx: 0x4002_0140 });
        assert_eq!(ask(0x8000_0006), CpuidResult { eax: 0, ebx: 0x4200_4200, ecx: 0x0400_8140, edx: 0 });
    }
}
