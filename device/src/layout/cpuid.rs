//! What CPUID says of the layout.

use super::Layout;
use crate::cpuid::{INTEL, Registers, answer};

/// The highest basic leaf of a part of Intel, and the highest extended one of a part of AMD, that tell of it.
const TOPOLOGY: u32 = 0xB;
const SIZES: u32 = 0x8000_0008;
/// Leaf 1, EBX: the number of logical processors, and the initial APIC ID. EDX: the former holds.
const LOGICAL: u32 = 16;
const APIC_ID: u32 = 24;
const HTT: u32 = 1 << 28;
/// Leaf 0Bh, ECX: what a level joins.
const THREADS: u32 = 1 << 8;
const CORES: u32 = 2 << 8;
/// Leaf 8000_0001h, ECX: the logical processors of leaf 1 are cores.
const LEGACY: u32 = 1 << 1;
/// Leaf 8000_0008h, ECX: one less than the number of cores.
const CORE_COUNT: u32 = 0xFF;

/// Cores of a tile.
const TILE: usize = 2;

/// How many bits tell so many apart.
fn bits(count: usize) -> u32 {
    count.max(1).next_power_of_two().trailing_zeros()
}

impl Layout {
    /// The APIC ID of CPU `cpu`: its thread, its core above, and its package above that, each in as many bits as its number needs (Intel SDM
    /// volume 3, 8.9.1; AMD 25481, Fn0000_0001 EBX). `None` for a part without CPUID, or where there is no such CPU.
    ///
    /// ```
    /// use vm_pmu::layout::Layout;
    ///
    /// // Three cores take two bits, so the second package begins at 4.
    /// let layout = Layout::new("k8").unwrap().packages(2).cores(3);
    /// assert_eq!([2, 3, 5, 6].map(|cpu| layout.apic_id(cpu)), [Some(2), Some(4), Some(6), None]);
    /// ```
    #[must_use]
    pub fn apic_id(&self, cpu: usize) -> Option<u32> {
        self.part.cpuid()?;
        let place = self.place(cpu)?;
        let (threads, cores) = (bits(self.threads), self.core_bits());
        Some(((place.package << cores | self.numbered(place.core)) << threads | place.thread) as u32)
    }

    /// The number of a core in APIC IDs: absent tiles of Knights Landing leave gaps (McCalpin, Disabled Core Patterns in Xeon Phi x200, 2021).
    fn numbered(&self, core: usize) -> usize {
        let place = self.die().and_then(|die| die.tiles.place(u8::try_from(core / TILE).ok()?));
        place.map_or(core, |place| usize::from(place) * TILE + core % TILE)
    }

    /// Bits of the number of a core.
    fn core_bits(&self) -> u32 {
        bits(self.numbered(self.cores.saturating_sub(1)) + 1)
    }

    /// What CPUID returns in CPU `cpu`: what [`answer`] says for the part, and the layout beside it, in leaves 1 and 0Bh of Intel, and 1,
    /// 8000_0001h and 8000_0008h of AMD. `None` for a part without CPUID, or where there is no such CPU.
    #[must_use]
    pub fn cpuid(&self, cpu: usize, leaf: u32, subleaf: u32, registers: Registers) -> Option<Registers> {
        let id = self.apic_id(cpu)?;
        let is_intel = self.part.cpuid()?.vendor == INTEL;
        let [mut eax, mut ebx, mut ecx, mut edx] = answer(self.part, leaf, subleaf, registers)?;
        let (threads, cores, processors) = (bits(self.threads), self.core_bits(), self.per_package());
        match leaf {
            0 if is_intel => eax = eax.max(TOPOLOGY),
            1 => {
                let logical = (1u32 << (threads + cores)).min(0xFF);
                ebx = ebx & 0xFFFF | logical << LOGICAL | id << APIC_ID;
                edx = if processors > 1 { edx | HTT } else { edx & !HTT };
            }
            TOPOLOGY if is_intel => {
                (eax, ebx, ecx) = match subleaf {
                    0 => (threads, self.threads as u32, THREADS),
                    1 => (threads + cores, processors as u32, CORES | 1),
                    _ => (0, 0, subleaf & 0xFF),
                };
                edx = id;
            }
            0x8000_0000 if !is_intel => eax = eax.max(SIZES),
            0x8000_0001 if !is_intel => ecx = if processors > 1 { ecx | LEGACY } else { ecx & !LEGACY },
            SIZES if !is_intel => ecx = ecx & !CORE_COUNT | (processors as u32 - 1).min(CORE_COUNT),
            _ => {}
        }
        Some([eax, ebx, ecx, edx])
    }
}
