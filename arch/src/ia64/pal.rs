//! What firmware says of a processor's monitors.

/// How many 64-bit words a mask of registers has.
const WORDS: usize = 4;

/// What PAL_PERF_MON_INFO returns (Itanium Architecture Software Developer's Manual, volume 2, chapter 11): a firmware call with which
/// an operating system learns what there is before it touches a register.
///
/// An embedder that has no PAL answers the call with [`pm_info`](Self::pm_info) as the second return value and
/// [`buffer`](Self::buffer) in the 128 bytes that the caller points to.
///
/// ```
/// use vm_pmu_arch::montecito::PERF_MON_INFO;
///
/// assert_eq!(PERF_MON_INFO.pm_info(), 0x0812_2F0C);
/// assert_eq!(PERF_MON_INFO.buffer()[8], 0xFFF0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfMonInfo {
    /// PAL_RETIRED: the event select of retired instructions that nothing qualifies.
    pub retired: u8,
    /// PAL_CYCLES: the event select of running cycles.
    pub cycles: u8,
    /// PAL_WIDTH: the bits of a counter.
    pub width: u8,
    /// PAL_GENERIC_PM_PAIRS: how many pairs of a PMC and a PMD count events of choice.
    pub generic_pairs: u8,
    /// PAL_PMCmask: the PMCs that there are, one bit each from bit 0 of the first word.
    pub pmc_mask: [u64; WORDS],
    /// PAL_PMDmask: the PMDs that there are.
    pub pmd_mask: [u64; WORDS],
    /// PAL_CYCLES_MASK: the pairs that count running cycles.
    pub cycles_mask: [u64; WORDS],
    /// PAL_RETIRED_MASK: the pairs that count retired instructions.
    pub retired_mask: [u64; WORDS],
}

impl PerfMonInfo {
    /// The second return value of the call: pairs in bits 7:0, width in 15:8, the event of cycles in 23:16, that of instructions in
    /// 31:24.
    #[must_use]
    pub const fn pm_info(&self) -> u64 {
        self.generic_pairs as u64 | (self.width as u64) << 8 | (self.cycles as u64) << 16 | (self.retired as u64) << 24
    }

    /// What the call writes to the caller's buffer, as 64-bit words: the masks of PMCs, PMDs, cycles and retired instructions.
    #[must_use]
    pub fn buffer(&self) -> [u64; 4 * WORDS] {
        let masks = [self.pmc_mask, self.pmd_mask, self.cycles_mask, self.retired_mask];
        let mut words = [0; 4 * WORDS];
        for (word, value) in words.iter_mut().zip(masks.as_flattened()) {
            *word = *value;
        }
        words
    }
}
