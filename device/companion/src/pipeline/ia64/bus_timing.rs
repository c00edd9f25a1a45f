//! Clocks and capacities of the front-side bus.

/// Clocks of the bus that the request of a transaction takes.
pub(super) const REQUEST: u64 = 2;
/// Capacity of the in-order queue.
pub(super) const IN_ORDER: usize = 8;

/// Timing of a part's bus.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct Timing {
    /// Core clocks per bus clock.
    pub(in crate::pipeline) ratio: u64,
    /// Clocks from the execution of an access to its second-level miss, and to its third-level miss.
    pub(in crate::pipeline) second: u64,
    pub(in crate::pipeline) third: u64,
    /// Number of low bits of an entry count that are summed separately.
    pub(in crate::pipeline) low_bits: u32,
    /// Capacity of the snoop queue.
    pub(in crate::pipeline) snoops: usize,
    /// Whether the answers of cores are joined in a buffer that is counted.
    pub(in crate::pipeline) joins: bool,
}
