//! Requests in text: what a litmus file says of one that left a core's caches.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use vm_pmu_arch::feed::{HeldAs, Request, RequestKind, Snoop, Supplier};

use super::number::number;

const SUPPLIERS: [(&str, Supplier); 12] = [
    ("unknown", Supplier::Unknown),
    ("own-modified", Supplier::OwnCluster(HeldAs::Modified)),
    ("own-exclusive", Supplier::OwnCluster(HeldAs::Exclusive)),
    ("own-shared", Supplier::OwnCluster(HeldAs::Shared)),
    ("own-forward", Supplier::OwnCluster(HeldAs::Forward)),
    ("other-near", Supplier::OtherCluster { far: false }),
    ("other-far", Supplier::OtherCluster { far: true }),
    ("package-memory-near", Supplier::NearMemory { far: false }),
    ("package-memory-far", Supplier::NearMemory { far: true }),
    ("memory-near", Supplier::Memory { far: false }),
    ("memory-far", Supplier::Memory { far: true }),
    ("device", Supplier::Device),
];

const SNOOPS: [(&str, Snoop); 4] =
    [("none", Snoop::None), ("not-needed", Snoop::NotNeeded), ("forwarded", Snoop::Forwarded), ("modified", Snoop::Modified)];

/// The word's value among those of `table`.
fn choice<T: Copy>(key: &str, word: &str, table: &[(&str, T)]) -> Result<T, String> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        format!("`{key}={word}` is unknown: there are {}", names.join(", "))
    })
}

/// A request of the kind `kind` as `details` describe it. Anything else is as in [`Request::of`].
pub(super) fn parse(kind: &str, details: &[&str]) -> Result<Request, String> {
    let known = RequestKind::ALL.into_iter().find(|known| known.word() == kind);
    let mut request = known.map(Request::of).ok_or_else(|| {
        let words: Vec<&str> = RequestKind::ALL.into_iter().map(RequestKind::word).collect();
        format!("`{kind}` is no kind of request: there are {}", words.join(", "))
    })?;
    let mut keys: Vec<&str> = Vec::new();
    for word in details {
        let (key, value) = word.split_once('=').ok_or(format!("`{word}` is not KEY=VALUE"))?;
        if keys.contains(&key) {
            return Err(format!("`{key}` is said twice"));
        }
        keys.push(key);
        match key {
            "supplier" => request.supplier = choice(key, value, &SUPPLIERS)?,
            "snoop" => request.snoop = choice(key, value, &SNOOPS)?,
            "latency" => {
                request.latency = u32::try_from(number(value)?).map_err(|_| format!("`{word}` does not fit into 32 bits"))?;
            }
            "physical" => request.physical = number(value)?,
            "holder" => {
                request.holder = Some(u16::try_from(number(value)?).map_err(|_| format!("`{word}` does not fit into 16 bits"))?);
            }
            "displaced" => request.displaced = Some(number(value)?),
            _ => return Err(format!("a request has no `{key}`: there are supplier, snoop, latency, physical, holder, displaced")),
        }
    }
    Ok(request)
}

/// The request in words that [`parse`] reads back as the same: its kind, then every key whose value is not the default.
pub(super) fn print(request: &Request) -> String {
    let mut text = String::from(request.kind.word());
    let supplier = SUPPLIERS.iter().find(|(_, known)| *known == request.supplier && request.supplier != Supplier::default());
    let snoop = SNOOPS.iter().find(|(_, known)| *known == request.snoop && request.snoop != Snoop::default());
    for (key, word) in [("supplier", supplier.map(|(word, _)| *word)), ("snoop", snoop.map(|(word, _)| *word))] {
        if let Some(word) = word {
            // Writing to a string cannot fail.
            let _ = write!(text, " {key}={word}");
        }
    }
    if request.latency != 0 {
        let _ = write!(text, " latency={}", request.latency);
    }
    if request.physical != 0 {
        let _ = write!(text, " physical={:#x}", request.physical);
    }
    if let Some(holder) = request.holder {
        let _ = write!(text, " holder={holder}");
    }
    if let Some(displaced) = request.displaced {
        let _ = write!(text, " displaced={displaced:#x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_request_reads_as_the_same() {
        for kind in RequestKind::ALL {
            for (_, supplier) in SUPPLIERS {
                for (_, snoop) in SNOOPS {
                    let known = Request { holder: Some(3), displaced: Some(0), ..Request::of(kind) };
                    let request = Request { supplier, snoop, latency: 182, physical: 0x40, ..known };
                    let text = print(&request);
                    let words: Vec<&str> = text.split(' ').collect();
                    let (first, rest) = words.split_first().expect("a kind");
                    assert_eq!(parse(first, rest), Ok(request), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_goes_without_saying_is_not_printed() {
        assert_eq!(print(&Request::of(RequestKind::BusLock)), "bus-lock");
    }

    #[test]
    fn a_wrong_word_is_answered_by_the_right_ones() {
        assert!(parse("read", &[]).is_err_and(|message| message.starts_with("`read` is no kind of request: there are data-read, ")));
        assert!(parse("code", &["supplier=l2"]).is_err_and(|message| message.starts_with("`supplier=l2` is unknown: there are unknown, ")));
        assert_eq!(parse("code", &["snoop=none", "snoop=none"]), Err("`snoop` is said twice".into()));
        assert_eq!(parse("code", &["latency=0x100000000"]), Err("`latency=0x100000000` does not fit into 32 bits".into()));
        assert_eq!(
            parse("code", &["colour=3"]),
            Err("a request has no `colour`: there are supplier, snoop, latency, physical, holder, displaced".into())
        );
        assert_eq!(parse("code", &["holder=0x10000"]), Err("`holder=0x10000` does not fit into 16 bits".into()));
    }
}
