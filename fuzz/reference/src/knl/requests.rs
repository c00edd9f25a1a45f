//! MSR_OFFCORE_RESP0 and 1: which requests they choose (section 1.2.4, table 1-1; T2, T3, T18).

use vm_pmu_arch::feed::{HeldAs, Request, RequestKind, Snoop, Supplier};

/// Bit 15, any request.
const ANY_REQUEST: u32 = 15;
/// Bit 16, any response.
const ANY_RESPONSE: u32 = 16;
/// Bit 38, weighted cycles.
const OUTSTANDING: u32 = 38;

fn bit(value: u64, number: u32) -> bool {
    value >> number & 1 == 1
}

/// The request types that a request has. Bit 0 has the prefetches of the first level and software's in it.
fn types(kind: RequestKind) -> &'static [u32] {
    match kind {
        RequestKind::DataRead => &[0],
        RequestKind::DataReadPrefetch => &[0, 13],
        RequestKind::SoftwarePrefetch => &[0, 12],
        RequestKind::Ownership => &[1],
        RequestKind::Code | RequestKind::CodeReadPrefetch => &[2],
        RequestKind::OwnershipPrefetch => &[5],
        RequestKind::CodePrefetch => &[6],
        RequestKind::PartialRead => &[7],
        RequestKind::PartialWrite => &[8],
        RequestKind::UncacheableCode => &[9],
        RequestKind::BusLock => &[10],
        RequestKind::FullStreamingStore => &[11],
        RequestKind::PartialStreamingStore => &[14],
        RequestKind::WriteBack => &[],
    }
}

/// Whether the type of a request is chosen: bits 8, 11 and 14 are for the second register on the second counter.
fn has_type(chosen: u64, register: usize, counter: usize, kind: RequestKind) -> bool {
    let is_there = |number: &u32| !matches!(number, 8 | 11 | 14) || (register, counter) == (1, 1);
    bit(chosen, ANY_REQUEST) || types(kind).iter().any(|number| bit(chosen, *number) && is_there(number))
}

/// Whether a response with data is chosen by its supplier, and if that is outside the tile by its snoop.
fn has_response(chosen: u64, request: &Request) -> bool {
    let any = |numbers: &[u32]| numbers.iter().any(|number| bit(chosen, *number));
    let told: &[u32] = match request.snoop {
        Snoop::None => &[31],
        Snoop::NotNeeded => &[32],
        Snoop::Forwarded => &[35],
        Snoop::Modified => &[36],
    };
    match request.supplier {
        Supplier::OwnCluster(HeldAs::Modified) => any(&[25]),
        Supplier::OwnCluster(HeldAs::Exclusive) => any(&[26]),
        Supplier::OwnCluster(HeldAs::Shared) => any(&[27]),
        Supplier::OwnCluster(HeldAs::Forward) => any(&[28]),
        // Near data of another tile: bit 19, or 20 of event lists.
        Supplier::OtherCluster { far: false } => any(&[19, 20]) && any(told),
        Supplier::OtherCluster { far: true } => any(&[22]) && any(told),
        // Memory answers near without a snoop, and far with none needed.
        Supplier::NearMemory { far: false } => any(&[21]) && any(&[31]),
        Supplier::NearMemory { far: true } => any(&[22]) && any(&[32]),
        Supplier::Memory { far: false } => any(&[23]) && any(&[31]),
        Supplier::Memory { far: true } => any(&[24]) && any(&[32]),
        Supplier::Unknown => any(&[17]) && any(told),
        // The target is no DRAM.
        Supplier::Device => any(&[17]) && any(&[37]),
    }
}

/// How much a request adds to a counter that selects it by a register.
pub(super) fn amount(chosen: u64, register: usize, counter: usize, request: &Request) -> u64 {
    if !has_type(chosen, register, counter, request.kind) {
        return 0;
    }
    // Bit 38 is reserved in the second register, and for the first counter only.
    if bit(chosen, OUTSTANDING) && register == 0 {
        return if counter == 0 && request.kind.brings_data() { u64::from(request.latency) } else { 0 };
    }
    let any = bit(chosen, ANY_RESPONSE);
    u64::from(any || (request.kind.brings_data() && has_response(chosen, request)))
}
