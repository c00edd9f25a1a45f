//! The registers of a thread: which MSR each is, and which bits it takes (sections 1 and 2 of the notes on drivers, N4 to N9).

/// What IA32_MISC_ENABLE shows after power-on.
pub(super) const MISC_ENABLE: u64 = 0x5_1889;
/// The bits of it that only read: the PMU is there, BTS and PEBS are not.
const MISC_ENABLE_READ_ONLY: u64 = 1 << 7 | 1 << 11 | 1 << 12;
const MISC_ENABLE_KEPT: u64 = 1 | 1 << 3 | 1 << 16 | 1 << 18 | 1 << 22 | 1 << 23 | 1 << 34 | 1 << 38;
/// IA32_PERF_CAPABILITIES has full-width writes and nothing else.
pub(super) const CAPABILITIES: u64 = 1 << 13;
/// The bits of the five counters in the global registers.
const EVERY_COUNTER: u64 = 0b111 << 32 | 0b11;

/// A register of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// IA32_PMCx, by bits 31:0.
    Counter(usize),
    /// IA32_A_PMCx and the fixed counters, by all bits.
    FullWidth(usize),
    Select(usize),
    FixedControl,
    Status,
    GlobalControl,
    OverflowControl,
    DebugControl,
    MiscEnable,
    Offcore(usize),
    Capabilities,
    LastBranch,
}

/// The register of this number.
pub(super) fn register(number: u32) -> Option<Register> {
    Some(match number {
        0xC1 | 0xC2 => Register::Counter((number - 0xC1) as usize),
        0x4C1 | 0x4C2 => Register::FullWidth((number - 0x4C1) as usize),
        0x309..=0x30B => Register::FullWidth((number - 0x309) as usize + 2),
        0x186 | 0x187 => Register::Select((number - 0x186) as usize),
        0x1A0 => Register::MiscEnable,
        0x1A6 | 0x1A7 => Register::Offcore((number - 0x1A6) as usize),
        0x1C8 | 0x1C9 | 0x680..=0x687 | 0x6C0..=0x6C7 => Register::LastBranch,
        0x1D9 => Register::DebugControl,
        0x345 => Register::Capabilities,
        0x38D => Register::FixedControl,
        0x38E => Register::Status,
        0x38F => Register::GlobalControl,
        0x390 => Register::OverflowControl,
        _ => return None,
    })
}

impl Register {
    /// What a write leaves in it, or `None` if the write faults.
    pub(super) fn kept(self, value: u64) -> Option<u64> {
        let within = |kept: u64| (value & !kept == 0).then_some(value);
        match self {
            // The sign of bits 31:0 is extended to 40 bits.
            Register::Counter(_) => Some(i64::from(value as i32) as u64 & super::COUNT),
            Register::FullWidth(_) => within(super::COUNT),
            Register::Select(_) => within(0xFFFF_FFFF),
            Register::FixedControl => within(0xFFF),
            Register::GlobalControl => within(EVERY_COUNTER),
            Register::OverflowControl => within(EVERY_COUNTER | 0b111 << 61),
            Register::DebugControl => within(0b11 | 0xFF << 6),
            Register::MiscEnable => {
                within(MISC_ENABLE_KEPT | MISC_ENABLE_READ_ONLY).map(|value| value & MISC_ENABLE_KEPT | MISC_ENABLE_READ_ONLY)
            }
            Register::Offcore(_) => within((1 << 39) - 1),
            Register::Status | Register::Capabilities => None,
            Register::LastBranch => Some(0),
        }
    }
}
