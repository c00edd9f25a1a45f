//! The results of CPUID.

/// The four registers CPUID writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuidResult {
    /// EAX.
    pub eax: u32,
    /// EBX.
    pub ebx: u32,
    /// ECX.
    pub ecx: u32,
    /// EDX.
    pub edx: u32,
}

/// Vendor string of leaves 0 and 8000_0000h.
const VENDOR: [u8; 12] = *b"vm-pmu guest";

// FPU is absent; TSC, MSR, PAE, CX8, APIC, SEP, PGE, CMOV, PAT, CLFSH.
const FEATURES_EDX: u32 = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 11 | 1 << 13 | 1 << 15 | 1 << 16 | 1 << 19;
// CX16, MOVBE, POPCNT, hypervisor.
const FEATURES_ECX: u32 = 1 << 13 | 1 << 22 | 1 << 23 | 1 << 31;

fn word(at: usize) -> u32 {
    u32::from_le_bytes([VENDOR[at], VENDOR[at + 1], VENDOR[at + 2], VENDOR[at + 3]])
}

/// The engine's own result for a leaf.
pub(crate) fn answer(leaf: u32, subleaf: u32, apic_id: u8, cpus: usize, apic_on: bool) -> CpuidResult {
    let vendor = |eax| CpuidResult { eax, ebx: word(0), edx: word(4), ecx: word(8) };
    match leaf {
        0 => vendor(7),
        1 => CpuidResult {
            eax: 0x0000_0f00,
            // CLFLUSH line of 8 quadwords.
            ebx: u32::from(apic_id) << 24 | (cpus.min(255) as u32) << 16 | 8 << 8,
            ecx: FEATURES_ECX,
            edx: FEATURES_EDX | u32::from(apic_on) << 9,
        },
        // FSGSBASE, BMI1's TZCNT is not advertised since the rest of BMI1 is absent.
        7 if subleaf == 0 => CpuidResult { ebx: 1, ..CpuidResult::default() },
        0x8000_0000 => vendor(0x8000_0008),
        // LAHF, LZCNT, PREFETCHW; SYSCALL, NX, 1 GiB pages, RDTSCP, long mode.
        0x8000_0001 => {
            CpuidResult { ecx: 1 | 1 << 5 | 1 << 8, edx: 1 << 11 | 1 << 20 | 1 << 26 | 1 << 27 | 1 << 29, ..CpuidResult::default() }
        }
        0x8000_0008 => CpuidResult { eax: 48 << 8 | super::tlb::PHYSICAL_BITS, ..CpuidResult::default() },
        _ => CpuidResult::default(),
    }
}
