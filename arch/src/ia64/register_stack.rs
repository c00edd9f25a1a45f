//! What the counters of the register stack add up.

use crate::feed::Signal;

/// The signals of an instruction that affects the register stack, and how much each grows: the event itself, and the numbers of stacked
/// registers just before it, in the three fields of each in which counters add them up (Montecito manual, section 4.12).
///
/// `frame` is the number of registers of the current frame, `dirty` the number of those that are not in memory yet; both are 96 at most on
/// Montecito, and taken modulo 128.
///
/// ```
/// use vm_pmu_arch::feed::Signal;
/// use vm_pmu_arch::ia64::register_stack_event;
///
/// let signals = register_stack_event(0b101_0011, 0b1);
/// assert_eq!(signals[1], (Signal::RegisterStackFrameLow, 0b011));
/// assert_eq!(signals[2], (Signal::RegisterStackFrameMiddle, 0b010));
/// assert_eq!(signals[3], (Signal::RegisterStackFrameHigh, 1));
/// ```
#[must_use]
pub const fn register_stack_event(frame: u8, dirty: u8) -> [(Signal, u64); 7] {
    [
        (Signal::RegisterStackEvents, 1),
        (Signal::RegisterStackFrameLow, low(frame)),
        (Signal::RegisterStackFrameMiddle, middle(frame)),
        (Signal::RegisterStackFrameHigh, high(frame)),
        (Signal::RegisterStackDirtyLow, low(dirty)),
        (Signal::RegisterStackDirtyMiddle, middle(dirty)),
        (Signal::RegisterStackDirtyHigh, high(dirty)),
    ]
}

/// Bits 2:0.
const fn low(registers: u8) -> u64 {
    (registers & 7) as u64
}

/// Bits 5:3.
const fn middle(registers: u8) -> u64 {
    (registers >> 3 & 7) as u64
}

/// Bit 6.
const fn high(registers: u8) -> u64 {
    (registers >> 6 & 1) as u64
}
