//! What perf, libpfm4 and Linux call events of POWER9.

use crate::lab::names::Names;

/// The names.
pub(super) const NAMES: Names = Names { pmu, generic: GENERIC, also: ALSO, ..Names::NONE };

/// What Linux's driver counts: `power9_generic_events` and `power9_cache_events` of arch/powerpc/perf/power9-pmu.c.
const GENERIC: &[(&str, &str)] = &[
    ("cycles", "PM_CYC"),
    ("instructions", "PM_INST_CMPL"),
    ("cache-references", "PM_LD_REF_L1"),
    ("cache-misses", "PM_LD_MISS_L1_FIN"),
    ("branches", "PM_BR_CMPL"),
    ("branch-misses", "PM_BR_MPRED_CMPL"),
    ("stalled-cycles-frontend", "PM_ICT_NOSLOT_CYC"),
    ("stalled-cycles-backend", "PM_CMPLU_STALL"),
    ("L1-dcache-loads", "PM_LD_REF_L1"),
    ("L1-dcache-load-misses", "PM_LD_MISS_L1_FIN"),
    ("L1-dcache-store-misses", "PM_ST_MISS_L1"),
    ("L1-dcache-prefetches", "PM_L1_PREF"),
    ("L1-icache-loads", "PM_INST_FROM_L1"),
    ("L1-icache-load-misses", "PM_L1_ICACHE_MISS"),
    ("L1-icache-stores", "PM_L1_DEMAND_WRITE"),
    ("L1-icache-prefetches", "PM_IC_PREF_WRITE"),
    ("LLC-loads", "PM_DATA_FROM_L3"),
    ("LLC-load-misses", "PM_DATA_FROM_L3MISS"),
    ("LLC-stores", "PM_L2_ST"),
    ("LLC-store-misses", "PM_L2_ST_MISS"),
    ("LLC-prefetches", "PM_L3_PREF_ALL"),
    ("dTLB-load-misses", "PM_DTLB_MISS"),
    ("iTLB-load-misses", "PM_ITLB_MISS"),
    ("branch-loads", "PM_BR_CMPL"),
    ("branch-load-misses", "PM_BR_MPRED_CMPL"),
];

/// Names of lists that the guide has not, or has for other codes.
const ALSO: &[(&str, &str)] = &[];

/// The PMUs of perf and of libpfm4; what the nest and the cores post has PMUs too, whose events have names of their own.
fn pmu(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "cpu" | "power9" => Some(String::new()),
        "core_imc" => Some("core-imc".to_owned()),
        "thread_imc" => Some("thread-imc".to_owned()),
        nest if nest.starts_with("nest_") && nest.ends_with("_imc") => Some("nest".to_owned()),
        _ => None,
    }
}
