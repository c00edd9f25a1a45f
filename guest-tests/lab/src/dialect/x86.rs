//! What the dialects of the x86 parts share: words after an event, unit masks, thresholds.

pub(super) mod words;

use vm_pmu::arch::event::{Entry, UnitMask};
use vm_pmu::arch::feed::Unit;
use vm_pmu::arch::registry::Part;

use super::{Write, unsupplied_note};
use crate::dialect::select;
use crate::error::Error;
use crate::number::grouped;
use crate::suggest;

/// An event and its unit masks.
pub(super) type Event = (&'static Entry, &'static [Entry]);

/// What is said about an event select that no event has.
pub(super) const RESERVED: &str = "reserved: no event of the catalogue has this number; it counts what is injected for it";

/// The unit masks in `umask`, the longest names first; bits without a name as a number. What is no set has one name, or is a number.
pub(super) fn mask_words(event: Event, umask: u32) -> Vec<String> {
    let (event, masks) = event;
    if masks.is_empty() {
        return Vec::new();
    }
    let number = |bits: u32| format!("{bits:#04x}");
    let names = |bits: u32, of: fn(u32) -> u32| {
        let mut named: Vec<(u32, &str)> = masks.iter().filter_map(|mask| Some((of(mask.umask?), mask.mask_name()?))).collect();
        named.sort_by_key(|(bits, _)| std::cmp::Reverse(bits.count_ones()));
        let mut rest = bits;
        let mut words = Vec::new();
        for (own, name) in named {
            // A name for several bits says at least one that no other has said.
            if own & !bits == 0 && own & rest != 0 {
                rest &= !own;
                words.push(name.to_owned());
            }
        }
        (words, rest)
    };
    match event.shape {
        UnitMask::Ordinal => {
            let whole = masks.iter().find(|mask| mask.is_chosen_by(umask, event.shape)).and_then(Entry::mask_name);
            vec![whole.map_or_else(|| number(umask), str::to_owned)]
        }
        // Names say what is counted: the clear bits.
        UnitMask::Excluding => match names(!umask & 0xff, |bits| !bits & 0xff) {
            (words, 0) if !words.is_empty() => words,
            _ => vec![number(umask)],
        },
        _ => {
            let (mut words, rest) = names(umask, |bits| bits);
            words.extend((rest != 0).then(|| number(rest)));
            words
        }
    }
}

/// What the unit mask of an event says.
pub(super) fn mask_meaning(event: Event, umask: u32) -> String {
    let (entry, masks) = event;
    if masks.is_empty() {
        return "ignored: the event has no unit masks".to_owned();
    }
    match entry.shape {
        UnitMask::Excluding => return excluding(entry, umask),
        UnitMask::Ordinal => {
            return match masks.iter().find(|mask| mask.is_chosen_by(umask, entry.shape)) {
                Some(mask) => format!("{}: {}", mask.mask_name().unwrap_or_default(), mask.summary),
                None => format!("no sub-event of {}: it counts what is injected for it", entry.name),
            };
        }
        _ if umask == 0 => return format!("no sub-event of {}: nothing is counted", entry.name),
        _ => {}
    }
    let known = known_bits(masks);
    let mut text = mask_words(event, umask).join(" + ");
    if umask & !known != 0 {
        text.push_str(&format!("; {:#04x} names no sub-event", umask & !known));
    }
    if let Some(missing) = never_counted(entry, masks, umask) {
        text.push_str(&format!("; {missing}"));
    }
    text
}

/// What a mask that leaves out counts: the classes of its clear bits.
fn excluding(event: &Entry, umask: u32) -> String {
    let classes = event.classes.iter().enumerate().filter(|(bit, _)| umask >> bit & 1 == 0);
    let names: Vec<&str> = classes.map(|(_, signal)| signal.name()).collect();
    if names.is_empty() { "every class is left out: nothing is counted".to_owned() } else { format!("counts {}", names.join(" + ")) }
}

/// The bits that any unit mask has.
pub(super) fn known_bits<'a>(masks: impl IntoIterator<Item = &'a Entry>) -> u32 {
    masks.into_iter().filter_map(|mask| mask.umask).fold(0, |bits, bit| bits | bit)
}

/// Why nothing is counted by an event that wants one bit of each of several groups: a group without a bit, or bits that the part never
/// sees together.
pub(super) fn never_counted(event: &Entry, masks: &[Entry], umask: u32) -> Option<String> {
    let UnitMask::Fields(fields) = event.shape else { return None };
    let Some(group) = fields.groups.iter().find(|group| umask & **group == 0) else {
        let is_chosen = |known: &&u32| **known & !umask == 0;
        let together: Vec<String> = fields.known.iter().map(|known| format!("{known:#04x}")).collect();
        let never = || format!("nothing is counted: the part has no such combination, but {}", together.join(", "));
        return fields.known.iter().find(is_chosen).is_none().then(never);
    };
    let names: Vec<&str> =
        masks.iter().filter(|mask| mask.umask.is_some_and(|bit| bit & group != 0)).filter_map(Entry::mask_name).collect();
    Some(format!("nothing is counted without one of {}", names.join(", ")))
}

/// The entries that a unit mask picks: the event itself where it has none.
pub(super) fn picked(event: Event, umask: u32) -> impl Iterator<Item = &'static Entry> {
    let (event, masks) = event;
    let own = masks.is_empty().then_some(event);
    let is_picked = move |mask: &&Entry| match event.shape {
        UnitMask::Ordinal | UnitMask::Excluding => mask.is_chosen_by(umask, event.shape),
        _ => mask.umask.is_some_and(|bit| bit & umask != 0),
    };
    own.into_iter().chain(masks.iter().filter(is_picked))
}

/// The most that a clock can add: 1 where a single state is counted, `otherwise` for what is no event.
pub(super) fn most_per_clock(event: Option<Event>, umask: u32, otherwise: u32) -> u32 {
    let Some((entry, masks)) = event else { return otherwise };
    let mut picked = picked((entry, masks), umask);
    let is_state = picked.next().is_some_and(|first| first.counts == Unit::Cycles && !first.level) && picked.next().is_none();
    if is_state { 1 } else { entry.max_per_cycle }
}

/// What a counter mask says, where a clock adds `most` at most.
pub(super) fn threshold_meaning(most: u32, least: u32, inverted: bool) -> String {
    match (least, inverted) {
        (0, _) => String::new(),
        (least, false) if least > most => format!("counts clocks with at least {least}; there is none, for a clock has {most} at most"),
        (least, true) if least > most => format!("counts clocks with fewer than {least}: all of them, for a clock has {most} at most"),
        (least, false) => format!("counts clocks with at least {least}"),
        (least, true) => format!("counts clocks with fewer than {least}"),
    }
}

/// What a counter of so many bits holds: in its upper half, how many more until it overflows.
pub(super) fn counter_meaning(count: u64, bits: u32) -> String {
    let range = 1u64 << bits;
    match count {
        0 => String::new(),
        count if count >= range / 2 => format!("{} more until it overflows", grouped(range - count)),
        count => grouped(count),
    }
}

/// What is worth knowing about the unit mask of an event.
pub(super) fn advise_on_mask(event: Event, umask: u32, notes: &mut Vec<String>) {
    let (entry, masks) = event;
    let known = known_bits(masks);
    match entry.shape {
        _ if masks.is_empty() && umask != 0 => notes.push("the event has no unit masks: the unit mask is ignored".to_owned()),
        UnitMask::Excluding if umask == 0xff => notes.push("every class is left out: nothing is counted".to_owned()),
        UnitMask::Ordinal if picked(event, umask).next().is_none() => {
            notes.push(format!("unit mask {umask:#04x} names no sub-event: it counts what is injected for it"));
        }
        UnitMask::Excluding | UnitMask::Ordinal => {}
        _ if masks.is_empty() => {}
        _ if umask == 0 => notes.push("a unit mask of 0 counts nothing".to_owned()),
        _ if umask & !known != 0 => notes.push(format!("unit mask {:#04x} names no sub-event", umask & !known)),
        _ => {}
    }
    notes.extend(never_counted(entry, masks, umask).filter(|_| umask != 0));
    let mut picked = picked(event, umask).peekable();
    if picked.peek().is_some() {
        notes.extend(picked.map(|entry| entry.fidelity).min().and_then(unsupplied_note).map(str::to_owned));
    }
}

/// The unit masks that events have by themselves in other tools (libpfm4), where neither a name says so nor all make a sum.
const USUAL: [(&str, &str); 5] = [
    ("L2_REQUESTS", "REFERENCE"),
    ("CPU_CLK_UNHALTED", "THREAD_P"),
    ("MEM_UOPS_RETIRED", "ALL_LOADS"),
    ("RECYCLEQ", "ANY_LD"),
    ("CACHE_LINES_VICTIMIZED", "LOCAL"),
];

/// The usual unit mask of an event: that of all sub-events, or the one that tools use.
fn usual((event, masks): Event) -> Option<&'static Entry> {
    let tools = USUAL.iter().find(|(name, _)| *name == event.name).map(|(_, mask)| *mask);
    let is_whole = |name: &str| matches!(name, "ALL" | "ANY" | "ANY_REJECT") && event.shape != UnitMask::Excluding;
    let names = |mask: &Entry| mask.mask_name().into_iter().chain(mask.aliases.iter().copied());
    // Of an event that the manual lacks none is listed.
    let listed = || masks.iter().filter(|mask| mask.listed || !event.listed);
    let of_tools = listed().find(|mask| tools.is_some() && mask.mask_name() == tools);
    of_tools.or_else(|| listed().find(|mask| names(mask).any(is_whole)))
}

/// What is counted if no unit mask was given: the [usual one](usual), or all together if they can be combined.
///
/// # Errors
/// They are numbers, of which one has to be chosen.
pub(super) fn default_mask(event: Event, notes: &mut Vec<String>) -> Result<u8, Error> {
    let (entry, masks) = event;
    let listed = || masks.iter().filter(|mask| mask.listed);
    let bits = match (entry.shape, masks) {
        (_, []) => return Ok(0),
        (_, [only]) => only.umask.unwrap_or(0),
        _ if usual(event).is_some() => usual(event).and_then(|mask| mask.umask).unwrap_or(0),
        // Nothing is left out.
        (UnitMask::Excluding, _) => 0,
        (UnitMask::Ordinal, _) => {
            let there = suggest::there_are(listed().filter_map(Entry::mask_name));
            return Err(Error::usage(format!("say which unit mask of {}: {there}", entry.name)));
        }
        (UnitMask::Gated { gate }, _) => known_bits(listed()) & !gate,
        _ => known_bits(listed()),
    };
    notes.push(format!("no unit mask was given: {} is counted", mask_words(event, bits).join(" + ")));
    // A unit mask has eight bits.
    Ok((bits & 0xff) as u8)
}

/// The error about a word that is neither a unit mask nor one of `modifiers`; for an event without unit masks it lists `there_are`.
pub(super) fn unknown_word<'a>(
    event: &str,
    word: &str,
    masks: impl IntoIterator<Item = &'a Entry>,
    modifiers: &[&str],
    there_are: &str,
) -> Error {
    let names: Vec<&str> = masks.into_iter().flat_map(|mask| mask.mask_name().into_iter().chain(mask.aliases.iter().copied())).collect();
    let otherwise = if names.is_empty() {
        format!("it has no unit masks, and modifiers are {there_are}")
    } else {
        suggest::there_are(names.iter().copied())
    };
    let hint = suggest::did_you_mean(word, names.into_iter().chain(modifiers.iter().copied()), &otherwise);
    Error::usage(format!("{event} has no unit mask or modifier `{word}`{hint}"))
}

/// A write to the register of `part` that is called `name`.
pub(super) fn write(part: Part, name: &str, value: u64) -> Option<Write> {
    select::registers(part).iter().find(|register| register.name == name).map(|register| Write { register, value })
}

#[cfg(test)]
mod tests {
    use vm_pmu::arch::event::K8;

    use super::*;

    #[test]
    fn paths_that_the_k8_lacks_count_nothing() {
        // AMD BKDG 10.2.1.7, E9h: a request type, a target and a source; the table has ten of the sixteen paths.
        let event = K8.select(0xE9).expect("CPU_IO_REQUESTS_TO_MEMORY_IO");
        let notes = |umask| {
            let mut notes = Vec::new();
            advise_on_mask(event, umask, &mut notes);
            notes.into_iter().filter(|note| note.starts_with("nothing is counted")).collect::<Vec<String>>()
        };
        for umask in [0x51, 0x52, 0x54, 0x58, 0x62, 0x68] {
            let said =
                "nothing is counted: the part has no such combination, but 0xa8, 0xa4, 0xa2, 0xa1, 0x98, 0x94, 0x92, 0x91, 0x64, 0x61";
            assert_eq!(notes(umask), [said], "{umask:#x}");
            assert!(mask_meaning(event, umask).ends_with(said), "{umask:#x}");
        }
        // One of its paths is enough: CPU to memory from local to both, and the whole.
        for umask in [0xA8, 0x61, 0xB8, 0xFF] {
            assert_eq!(notes(umask), [""; 0], "{umask:#x}");
        }
    }
}
