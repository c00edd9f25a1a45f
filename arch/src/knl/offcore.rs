//! Requests beyond the tile: MSR_OFFCORE_RESP0 and 1, and which requests they choose.
//!
//! Section 1.2.4 and table 1-1 of the manual; which bits are refused follows the masks of Linux's driver.

use crate::feed::{HeldAs, Request, RequestKind, Snoop, Supplier};
use crate::layout::layout;

layout! {
    /// MSR_OFFCORE_RESP0-1, 1A6h and 1A7h: the requests that OFFCORE_RESP.OFFCORE_RESP_0 and .OFFCORE_RESP_1 count.
    ///
    /// Every bit up to 38 keeps what is written, in both registers: tools write those that the manual reserves, and Linux inverts bit 4
    /// to see whether the register is there. A bit that has no meaning in a register chooses nothing there.
    ///
    /// ```
    /// use vm_pmu_arch::knl::OffcoreResp;
    ///
    /// // Reads that DDR memory answered, as section 1.2.4 has them.
    /// let chosen = OffcoreResp::written(0x1_8180_0001);
    /// assert!(chosen.demand_data_rd() && chosen.dram_near() && chosen.dram_far() && chosen.snoop_none() && chosen.no_snoop_needed());
    /// ```
    pub struct OffcoreResp {
        /// lines to read data from, for loads and for prefetches of the first level
        "DEMAND_DATA_RD" => demand_data_rd / set_demand_data_rd: bool = 0;
        /// lines to write data to
        "DEMAND_RFO" => demand_rfo / set_demand_rfo: bool = 1;
        /// lines to execute, for fetches and for prefetches of the first level
        "DEMAND_CODE_RD" => demand_code_rd / set_demand_code_rd: bool = 2;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_3 / set_reserved_3: bool = 3;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_4 / set_reserved_4: bool = 4;
        /// lines to write, for prefetches of the second level and PREFETCHW
        "PF_L2_RFO" => pf_l2_rfo / set_pf_l2_rfo: bool = 5;
        /// lines to execute, for prefetches of the second level
        "PF_L2_CODE_RD" => pf_l2_code_rd / set_pf_l2_code_rd: bool = 6;
        /// parts of lines read, from uncacheable or write-combining memory
        "PARTIAL_READS" => partial_reads / set_partial_reads: bool = 7;
        /// parts of lines written, to uncacheable, write-through or write-protected memory; in MSR_OFFCORE_RESP1 only, for IA32_PMC1
        "PARTIAL_WRITES" => partial_writes / set_partial_writes: bool = 8;
        /// uncacheable instructions
        "UC_CODE_READS" => uc_code_reads / set_uc_code_reads: bool = 9;
        /// locks of the bus, and locked accesses split between lines
        "BUS_LOCKS" => bus_locks / set_bus_locks: bool = 10;
        /// whole lines combined from streaming stores; in MSR_OFFCORE_RESP1 only, for IA32_PMC1
        "FULL_STREAMING_STORES" => full_streaming_stores / set_full_streaming_stores: bool = 11;
        /// prefetch instructions
        "SW_PREFETCH" => sw_prefetch / set_sw_prefetch: bool = 12;
        /// prefetches of the first-level data cache
        "PF_L1_DATA_RD" => pf_l1_data_rd / set_pf_l1_data_rd: bool = 13;
        /// parts of lines combined from streaming stores; in MSR_OFFCORE_RESP1 only, for IA32_PMC1
        "PARTIAL_STREAMING_STORES" => partial_streaming_stores / set_partial_streaming_stores: bool = 14;
        /// requests of every kind
        "ANY_REQUEST" => any_request / set_any_request: bool = 15;
        /// whatever the response
        "ANY_RESPONSE" => any_response / set_any_response: bool = 16;
        /// data of an unknown supplier
        "NO_SUPP" => no_supp / set_no_supp: bool = 17;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_18 / set_reserved_18: bool = 18;
        /// data from the second level of another tile, near
        "L2_HIT_OTHER_TILE_NEAR" => l2_hit_other_tile_near / set_l2_hit_other_tile_near: bool = 19;
        /// the same where the other tile forwards a shared line; the manual reserves the bit, drivers and event lists use it
        "L2_HIT_OTHER_TILE_F" => l2_hit_other_tile_f / set_l2_hit_other_tile_f: bool = 20;
        /// data from MCDRAM, near
        "MCDRAM_NEAR" => mcdram_near / set_mcdram_near: bool = 21;
        /// data from MCDRAM or from another tile, far
        "MCDRAM_FAR_OR_L2_HIT_OTHER_TILE_FAR" => mcdram_far_or_l2_hit_other_tile_far / set_mcdram_far_or_l2_hit_other_tile_far: bool = 22;
        /// data from DDR memory, near
        "DRAM_NEAR" => dram_near / set_dram_near: bool = 23;
        /// data from DDR memory, far
        "DRAM_FAR" => dram_far / set_dram_far: bool = 24;
        /// data from the own tile, modified there
        "L2_HITM_THIS_TILE" => l2_hitm_this_tile / set_l2_hitm_this_tile: bool = 25;
        /// data from the own tile, exclusive there
        "L2_HITE_THIS_TILE" => l2_hite_this_tile / set_l2_hite_this_tile: bool = 26;
        /// data from the own tile, shared there
        "L2_HITS_THIS_TILE" => l2_hits_this_tile / set_l2_hits_this_tile: bool = 27;
        /// data from the own tile, shared there and forwarded
        "L2_HITF_THIS_TILE" => l2_hitf_this_tile / set_l2_hitf_this_tile: bool = 28;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_29 / set_reserved_29: bool = 29;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_30 / set_reserved_30: bool = 30;
        /// no core was snooped
        "SNOOP_NONE" => snoop_none / set_snoop_none: bool = 31;
        /// no snoop was needed
        "NO_SNOOP_NEEDED" => no_snoop_needed / set_no_snoop_needed: bool = 32;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_33 / set_reserved_33: bool = 33;
        /// reserved: keeps what is written and chooses nothing
        "Reserved" => reserved_34 / set_reserved_34: bool = 34;
        /// the snoop hit in the other tile, which forwarded the data
        "HIT_OTHER_TILE_FWD" => hit_other_tile_fwd / set_hit_other_tile_fwd: bool = 35;
        /// the snoop hit in the other tile, where the line was modified
        "HITM_OTHER_TILE" => hitm_other_tile / set_hitm_other_tile: bool = 36;
        /// the target was no memory
        "NON_DRAM" => non_dram / set_non_dram: bool = 37;
        /// the cycles that requests with data are outstanding, added up, whatever the response; in MSR_OFFCORE_RESP0 only, for IA32_PMC0
        "OUTSTANDING" => outstanding / set_outstanding: bool = 38;
        refused 63..39;
    }
}

/// The bits that ask for a supplier within the untile: those ask for a snoop response too.
const UNTILE: u64 = 0xFF << 17;
/// The bits that ask for a supplier within the own tile.
const OWN_TILE: u64 = 0xF << 25;
/// The bits that ask for a snoop response.
const SNOOPS: u64 = 0x7F << 31;
/// Requests of every kind.
const ANY_REQUEST: u64 = 1 << 15;
/// Whatever the response.
const ANY_RESPONSE: u64 = 1 << 16;
/// Weighted cycles.
const OUTSTANDING: u64 = 1 << 38;
/// The kinds that only MSR_OFFCORE_RESP1 has, for IA32_PMC1.
const SECOND_ONLY: u64 = 1 << 8 | 1 << 11 | 1 << 14;

/// The bits of the request types that a request is of; none for a kind that the table does not have.
const fn types(kind: RequestKind) -> u64 {
    match kind {
        RequestKind::DataRead => 1 << 0,
        RequestKind::DataReadPrefetch => 1 << 0 | 1 << 13,
        RequestKind::SoftwarePrefetch => 1 << 0 | 1 << 12,
        RequestKind::Ownership => 1 << 1,
        RequestKind::Code | RequestKind::CodeReadPrefetch => 1 << 2,
        RequestKind::OwnershipPrefetch => 1 << 5,
        RequestKind::CodePrefetch => 1 << 6,
        RequestKind::PartialRead => 1 << 7,
        RequestKind::PartialWrite => 1 << 8,
        RequestKind::UncacheableCode => 1 << 9,
        RequestKind::BusLock => 1 << 10,
        RequestKind::FullStreamingStore => 1 << 11,
        RequestKind::PartialStreamingStore => 1 << 14,
        RequestKind::WriteBack => 0,
    }
}

/// The bits of the supplier and of the snoop response. For near memory no core is snooped, and for far memory no snoop is needed.
const fn response(request: &Request) -> u64 {
    let snoop = match request.snoop {
        Snoop::None => 1 << 31,
        Snoop::NotNeeded => 1 << 32,
        Snoop::Forwarded => 1 << 35,
        Snoop::Modified => 1 << 36,
    };
    match request.supplier {
        Supplier::Unknown => 1 << 17 | snoop,
        Supplier::OwnCluster(HeldAs::Modified) => 1 << 25,
        Supplier::OwnCluster(HeldAs::Exclusive) => 1 << 26,
        Supplier::OwnCluster(HeldAs::Shared) => 1 << 27,
        Supplier::OwnCluster(HeldAs::Forward) => 1 << 28,
        Supplier::OtherCluster { far: false } => 1 << 19 | 1 << 20 | snoop,
        Supplier::OtherCluster { far: true } => 1 << 22 | snoop,
        Supplier::NearMemory { far: false } => 1 << 21 | 1 << 31,
        Supplier::NearMemory { far: true } => 1 << 22 | 1 << 32,
        Supplier::Memory { far: false } => 1 << 23 | 1 << 31,
        Supplier::Memory { far: true } => 1 << 24 | 1 << 32,
        Supplier::Device => 1 << 17 | 1 << 37,
    }
}

/// More than a request of the companion adds to a counter, which in the mode of weighted cycles is what it is outstanding for.
pub(super) const MOST: u64 = 1 << 16;

/// How much `request` adds to general counter `counter`, which counts what the bits `chosen` of register `register` choose: one, or in the
/// mode of weighted cycles the cycles that it was outstanding.
pub(super) fn amount(chosen: u64, register: usize, counter: usize, request: &Request) -> u64 {
    let types = types(request.kind);
    // A type that has no meaning in this register, or is not for this counter, chooses nothing.
    let types = if register == 0 || counter == 0 { types & !SECOND_ONLY } else { types };
    if chosen & (types | ANY_REQUEST) == 0 {
        return 0;
    }
    if register == 0 && chosen & OUTSTANDING != 0 {
        return if counter == 0 && request.kind.brings_data() { u64::from(request.latency) } else { 0 };
    }
    u64::from(is_answered(chosen, request))
}

/// Whether the response is one of those chosen. A request without data has only the response "any".
fn is_answered(chosen: u64, request: &Request) -> bool {
    if chosen & ANY_RESPONSE != 0 {
        return true;
    }
    let response = response(request);
    let both = chosen & response;
    request.kind.brings_data() && (both & OWN_TILE != 0 || both & UNTILE != 0 && both & SNOOPS != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Request = Request::of(RequestKind::DataRead);

    /// The amount through the register that has the counter's number.
    fn amount(chosen: u64, counter: usize, request: &Request) -> u64 {
        super::amount(chosen, counter, counter, request)
    }

    #[test]
    fn bits_up_to_38_keep_what_is_written() {
        assert_eq!(OffcoreResp::REFUSED, !0x7F_FFFF_FFFF);
        assert_eq!(OffcoreResp::WRITABLE, 0x7F_FFFF_FFFF);
    }

    #[test]
    fn a_read_answered_by_ddr_is_chosen_by_the_combination_of_the_manual() {
        let combination = 1 << 0 | 1 << 23 | 1 << 24 | 1 << 31 | 1 << 32;
        for far in [false, true] {
            assert_eq!(amount(combination, 0, &Request { supplier: Supplier::Memory { far }, ..READ }), 1);
            assert_eq!(amount(combination, 0, &Request { supplier: Supplier::NearMemory { far }, ..READ }), 0);
        }
    }

    #[test]
    fn a_supplier_of_the_untile_without_its_snoop_response_counts_nothing() {
        let request = Request { supplier: Supplier::OtherCluster { far: false }, snoop: Snoop::Modified, ..READ };
        assert_eq!(amount(1 << 0 | 1 << 19, 0, &request), 0);
        assert_eq!(amount(1 << 0 | 1 << 19 | 1 << 35, 0, &request), 0);
        assert_eq!(amount(1 << 0 | 1 << 19 | 1 << 36, 0, &request), 1);
    }

    #[test]
    fn a_supplier_of_the_own_tile_needs_no_snoop_response() {
        let request = Request { supplier: Supplier::OwnCluster(HeldAs::Exclusive), ..READ };
        assert_eq!(amount(1 << 0 | 1 << 26, 1, &request), 1);
        assert_eq!(amount(1 << 0 | 1 << 25, 1, &request), 0);
    }

    #[test]
    fn far_mcdram_and_far_tiles_share_a_bit_and_differ_by_the_snoop() {
        let mcdram = Request { supplier: Supplier::NearMemory { far: true }, ..READ };
        let tile = Request { supplier: Supplier::OtherCluster { far: true }, snoop: Snoop::Forwarded, ..READ };
        let (by_mcdram, by_tile) = (1 << 0 | 1 << 22 | 1 << 32, 1 << 0 | 1 << 22 | 1 << 35);
        assert_eq!([amount(by_mcdram, 0, &mcdram), amount(by_mcdram, 0, &tile)], [1, 0]);
        assert_eq!([amount(by_tile, 0, &mcdram), amount(by_tile, 0, &tile)], [0, 1]);
    }

    #[test]
    fn prefetches_are_reads_too() {
        for (kind, bit) in [(RequestKind::SoftwarePrefetch, 12), (RequestKind::DataReadPrefetch, 13)] {
            assert_eq!(amount(1 << 0 | 1 << 16, 0, &Request::of(kind)), 1);
            assert_eq!(amount(1 << bit | 1 << 16, 0, &Request::of(kind)), 1);
            assert_eq!(amount(1 << bit | 1 << 16, 0, &READ), 0);
        }
    }

    #[test]
    fn what_brings_no_data_is_answered_by_any_response_alone_and_counted_by_the_second_counter() {
        let store = Request { supplier: Supplier::Memory { far: false }, ..Request::of(RequestKind::FullStreamingStore) };
        assert_eq!(amount(1 << 11 | 1 << 16, 1, &store), 1);
        assert_eq!(amount(1 << 11 | 1 << 23 | 1 << 31, 1, &store), 0);
        assert_eq!(amount(1 << 11 | 1 << 16, 0, &store), 0);
        assert_eq!(amount(1 << 15 | 1 << 16, 0, &store), 1, "requests of every kind");
        assert_eq!(super::amount(1 << 11 | 1 << 16, 0, 1, &store), 0, "the first register has no such type");
        assert_eq!(super::amount(1 << 11 | 1 << 16, 1, 0, &store), 0, "nor can the first counter count it");
    }

    #[test]
    fn weighted_cycles_ask_for_no_response_and_count_on_the_first_counter() {
        let request = Request { latency: 182, supplier: Supplier::Memory { far: false }, ..READ };
        assert_eq!(amount(1 << 0 | 1 << 38, 0, &request), 182);
        assert_eq!(amount(1 << 1 | 1 << 38, 0, &request), 0);
        assert_eq!(super::amount(1 << 0 | 1 << 38, 0, 1, &request), 0);
        assert_eq!(
            super::amount(1 << 0 | 1 << 38, 1, 0, &request),
            0,
            "the bit means nothing in the second register, and asks for no response"
        );
    }
}
