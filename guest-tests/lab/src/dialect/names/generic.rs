//! The names that Linux has for what every processor counts: `cycles`, `L1-dcache-load-misses`.

use std::borrow::Cow;

use super::spelling::key;

/// What Linux calls hardware events, each with its other names; perf prints the first.
const HARDWARE: [(&str, &[&str]); 10] = [
    ("cycles", &["cpu-cycles"]),
    ("instructions", &[]),
    ("cache-references", &[]),
    ("cache-misses", &[]),
    ("branches", &["branch-instructions"]),
    ("branch-misses", &[]),
    ("bus-cycles", &[]),
    ("stalled-cycles-frontend", &["idle-cycles-frontend"]),
    ("stalled-cycles-backend", &["idle-cycles-backend"]),
    ("ref-cycles", &["ref-cpu-cycles"]),
];

/// What has accesses and misses, and its other names.
const PLACES: [(&str, &[&str]); 7] = [
    ("L1-dcache", &["l1-d", "L1-data"]),
    ("L1-icache", &["l1-i", "L1-instruction"]),
    ("LLC", &["L2", "LL"]),
    ("dTLB", &["Data-TLB"]),
    ("iTLB", &["Instruction-TLB"]),
    ("branch", &["branches", "bpu", "btb", "bpc"]),
    ("node", &[]),
];

/// The kinds of accesses: as they are called, and as they stand before misses.
const ACCESSES: [(&str, &str, &[&str]); 3] = [
    ("loads", "load-misses", &["load", "loads", "read", "reads"]),
    ("stores", "store-misses", &["store", "stores", "write", "writes"]),
    ("prefetches", "prefetch-misses", &["prefetch", "prefetches", "speculative-read", "speculative-load"]),
];

const ALL: [&str; 4] = ["refs", "reference", "ops", "access"];
const MISSES: [&str; 2] = ["misses", "miss"];

/// The name by which perf prints what `head` is called, and how many of `words` belong to it; nothing if it is no generic name.
///
/// ```
/// use vm_pmu_lab::dialect::names::generic::canonical;
///
/// assert_eq!(canonical("cpu-cycles", &[]), Some(("cycles".into(), 0)));
/// assert_eq!(canonical("l1d-read-miss", &[]), Some(("L1-dcache-load-misses".into(), 0)));
/// assert_eq!(canonical("PERF_COUNT_HW_CACHE_LL", &["READ".into(), "MISS".into()]), Some(("LLC-load-misses".into(), 2)));
/// ```
#[must_use]
pub fn canonical(head: &str, words: &[Cow<'_, str>]) -> Option<(String, usize)> {
    let own = key(head);
    let own = own.strip_prefix("PERFCOUNTHW").unwrap_or(&own);
    let is_called = |first: &str, others: &[&str]| std::iter::once(&first).chain(others).any(|name| key(name) == own);
    if let Some((name, _)) = HARDWARE.iter().find(|(first, others)| is_called(first, others)) {
        return Some(((*name).to_owned(), 0));
    }
    match own.strip_prefix("CACHE").filter(|_| own.len() < key(head).len()) {
        Some(own) => {
            let used = words.iter().take_while(|word| follows(word)).count();
            let behind: String = words.iter().take(used).map(|word| key(word)).collect();
            cached(&format!("{own}{behind}")).map(|name| (name, used))
        }
        None => cached(own).map(|name| (name, 0)),
    }
}

/// Whether `word` says which accesses are meant.
fn follows(word: &str) -> bool {
    ACCESSES.iter().flat_map(|(_, _, names)| names.iter()).chain(&ALL).chain(&MISSES).any(|name| key(name) == key(word))
}

/// The name of accesses to a cache or their misses, by a key: at least one of the access and its result is said.
fn cached(own: &str) -> Option<String> {
    // What is behind a name decides whether it is meant: `branches-loads` begins with `branch` too.
    let places = PLACES.iter().flat_map(|(name, others)| std::iter::once(name).chain(*others).map(move |other| (*name, key(other))));
    let (place, rest) = places
        .filter_map(|(name, other)| own.strip_prefix(other.as_str()).map(|rest| (name, rest)))
        .filter(|(_, rest)| !rest.is_empty())
        .find_map(|(name, rest)| behind(rest).map(|rest| (name, rest)))?;
    Some(format!("{place}-{rest}"))
}

/// The access and its result.
fn behind(rest: &str) -> Option<&'static str> {
    let result = |text: &str| match text {
        "" => Some(false),
        text if ALL.iter().any(|name| key(name) == text) => Some(false),
        text if MISSES.iter().any(|name| key(name) == text) => Some(true),
        _ => None,
    };
    let reads = ACCESSES.iter().take(1).filter_map(|(all, missed, _)| Some(if result(rest)? { *missed } else { *all }));
    let named = ACCESSES.iter().flat_map(|(all, missed, names)| {
        names.iter().filter_map(move |name| Some(if result(rest.strip_prefix(key(name).as_str())?)? { *missed } else { *all }))
    });
    named.chain(reads).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str) -> Option<String> {
        canonical(name, &[]).map(|(name, _)| name)
    }

    #[test]
    fn perf_prints_one_name_of_several() {
        for (name, printed) in [
            ("cycles", "cycles"),
            ("cpu-cycles", "cycles"),
            ("branch-instructions", "branches"),
            ("idle-cycles-backend", "stalled-cycles-backend"),
            ("L1-dcache-loads", "L1-dcache-loads"),
            ("L1-dcache-read-refs", "L1-dcache-loads"),
            ("l1-d-stores", "L1-dcache-stores"),
            ("LLC-misses", "LLC-load-misses"),
            ("Data-TLB-load-miss", "dTLB-load-misses"),
            ("branch-loads", "branch-loads"),
            ("bpu-read-misses", "branch-load-misses"),
            ("L1-icache-speculative-read-ops", "L1-icache-prefetches"),
            ("PERF_COUNT_HW_REF_CPU_CYCLES", "ref-cycles"),
        ] {
            assert_eq!(plain(name).as_deref(), Some(printed), "{name}");
        }
    }

    #[test]
    fn what_is_no_generic_name_is_none() {
        for name in ["LLC", "branch", "L2_REQUESTS", "dTLB-walks", "CYCLES_DIV_BUSY", ""] {
            assert_eq!(plain(name), None, "{name}");
        }
    }

    #[test]
    fn words_behind_belong_to_a_name_of_the_kernel_only() {
        assert_eq!(canonical("PERF_COUNT_HW_CACHE_L1D", &["WRITE".into(), "u".into()]), Some(("L1-dcache-stores".to_owned(), 1)));
        assert_eq!(canonical("L1-dcache", &["loads".into()]), None);
    }
}
