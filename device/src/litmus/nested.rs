//! Nested translations in text: what a litmus file says of a step of one.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use vm_pmu_arch::feed::{GuestLevel, NestedStep, NestedWalk, PageSize};

use super::number::number;

/// The word of a first look-up.
const FIRST: &str = "first";
/// What is said where a look-up found no page.
const NONE: &str = "none";

/// A size, by its word.
fn size(word: &str) -> Result<PageSize, String> {
    PageSize::ALL.into_iter().find(|size| size.word() == word).ok_or_else(|| {
        let words = PageSize::ALL.map(PageSize::word);
        format!("`{word}` is no size of a page: there are {}", words.join(", "))
    })
}

/// A size, or none.
fn found(word: &str) -> Result<Option<PageSize>, String> {
    if word == NONE { Ok(None) } else { size(word).map(Some) }
}

/// A step of this kind, as `details` describe it: `first` for the first look-up of an access, or the address of the guest's walk.
pub(super) fn parse(kind: &str, details: &[&str]) -> Result<NestedStep, String> {
    let level = GuestLevel::ALL.into_iter().find(|level| level.word() == kind);
    if level.is_none() && kind != FIRST {
        let words = GuestLevel::ALL.map(GuestLevel::word);
        return Err(format!("`{kind}` is no step of a nested translation: there are {FIRST}, {}", words.join(", ")));
    }
    let mut walk = NestedWalk::of(level.unwrap_or(GuestLevel::Final));
    let mut guest = None;
    let mut keys: Vec<&str> = Vec::new();
    for word in details {
        let (key, value) = word.split_once('=').ok_or(format!("`{word}` is not KEY=VALUE"))?;
        if keys.contains(&key) {
            return Err(format!("`{key}` is said twice"));
        }
        keys.push(key);
        let phase = NestedWalk::WORDS.iter().position(|phase| *phase == key).and_then(|phase| walk.cycles.get_mut(phase));
        match (key, level, phase) {
            ("host", ..) => (walk.looked_up, walk.host) = (true, found(value)?),
            ("guest", None, _) => guest = Some(size(value)?),
            ("walker", Some(_), _) if matches!(value, "0" | "1") => walk.walker = u8::from(value == "1"),
            ("known", Some(_), _) if matches!(value, "1" | "2" | "3") => walk.known = value.parse().unwrap_or(0),
            (_, Some(_), Some(cycles)) => {
                *cycles = u32::try_from(number(value)?).map_err(|_| format!("`{word}` does not fit into 32 bits"))?;
            }
            (_, None, _) => return Err(format!("a first look-up has no `{word}`: there are guest=SIZE, host=SIZE")),
            _ => {
                let phases = NestedWalk::WORDS.join("=N, ");
                return Err(format!("a walk has no `{word}`: there are host=SIZE, walker=0 or 1, known=1 to 3, {phases}=N"));
            }
        }
    }
    match (level, guest) {
        (Some(_), _) => Ok(NestedStep::Walk(walk)),
        (None, Some(guest)) => Ok(NestedStep::First { guest, host: walk.host }),
        (None, None) => Err("a first look-up found a page of the guest: write guest=SIZE".into()),
    }
}

/// The step in words that [`parse`] reads back as the same.
pub(super) fn print(step: &NestedStep) -> String {
    let word = |size: Option<PageSize>| size.map_or(NONE, PageSize::word);
    match step {
        NestedStep::First { guest, host } => format!("{FIRST} guest={} host={}", guest.word(), word(*host)),
        NestedStep::Walk(walk) => {
            let mut text = String::from(walk.level.word());
            // Writing to a string cannot fail.
            if walk.looked_up {
                let _ = write!(text, " host={}", word(walk.host));
            }
            for (key, value) in [("walker", walk.walker), ("known", walk.known)] {
                if value != 0 {
                    let _ = write!(text, " {key}={value}");
                }
            }
            for (phase, cycles) in NestedWalk::WORDS.iter().zip(walk.cycles).filter(|(_, cycles)| *cycles != 0) {
                let _ = write!(text, " {phase}={cycles}");
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_as_the_same(step: NestedStep) {
        let text = print(&step);
        let words: Vec<&str> = text.split(' ').collect();
        let (kind, details) = words.split_first().expect("a kind");
        assert_eq!(parse(kind, details), Ok(step), "{text}");
    }

    #[test]
    fn a_printed_step_reads_as_the_same() {
        let hosts = PageSize::ALL.map(Some).into_iter().chain([None]);
        for host in hosts {
            PageSize::ALL.into_iter().for_each(|guest| reads_as_the_same(NestedStep::First { guest, host }));
            for level in GuestLevel::ALL {
                let walk = NestedWalk { looked_up: true, host, known: 2, cycles: [13, 0, 0, 36, 15, 340], ..NestedWalk::of(level) };
                reads_as_the_same(NestedStep::Walk(walk));
                reads_as_the_same(NestedStep::Walk(NestedWalk { walker: 1, ..NestedWalk::of(level) }));
            }
        }
    }

    #[test]
    fn a_wrong_word_is_answered_by_the_right_ones() {
        assert!(parse("level5", &[]).is_err_and(|message| message.contains("there are first, process, level1, ")));
        assert!(parse("first", &["host=2M"]).is_err_and(|message| message.contains("write guest=SIZE")));
        assert!(parse("first", &["guest=8K"]).is_err_and(|message| message.starts_with("`8K` is no size of a page: there are 4K, ")));
        assert!(parse("final", &["walker=2"]).is_err_and(|message| message.starts_with("a walk has no `walker=2`: ")));
        assert_eq!(parse("final", &["entry=1", "entry=1"]), Err("`entry` is said twice".into()));
    }
}
