//! Names that differ from those of a catalogue in their case and in the separators between their words.

use std::borrow::Cow;

use vm_pmu::arch::event::{Catalogue, Entry};

use crate::dialect::select::raw;

/// What two spellings of a name have in common: letters and digits, in capitals.
pub(super) fn key(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase()).collect()
}

/// The names of an event, or those of a unit mask without its event.
fn names(entry: &'static Entry) -> impl Iterator<Item = &'static str> {
    std::iter::once(entry.mask_name().unwrap_or(entry.name)).chain(entry.aliases.iter().copied())
}

/// An event or a unit mask, by the names under which it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The event's name in the catalogue.
    pub event: &'static str,
    mask: Option<&'static str>,
    entry: &'static Entry,
}

impl Found {
    /// The name, as `encode` takes it.
    pub(super) fn text(&self) -> String {
        self.mask.map_or_else(|| self.event.to_owned(), |mask| format!("{}.{mask}", self.event))
    }

    /// Whether both are programmed alike.
    pub(super) fn is_same(&self, other: &Found) -> bool {
        let code = |found: &Found| (found.entry.unit, found.entry.select, found.entry.umask, found.entry.fixed);
        code(self) == code(other)
    }
}

/// The event that `head` begins with, by a name of the catalogue: `EVENT` or `EVENT.MASK`.
pub(super) fn event(catalogue: &Catalogue, head: &str) -> Option<&'static Entry> {
    catalogue.event_named(head.split('.').next().unwrap_or(head)).or_else(|| catalogue.event_named(head))
}

/// Every event and unit mask with this key.
pub(super) fn spelled(catalogue: &Catalogue, wanted: &str, is_here: impl Fn(&Entry) -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    for event in catalogue.events().filter(|event| is_here(event)) {
        for name in names(event) {
            let own = key(name);
            match wanted.strip_prefix(own.as_str()) {
                Some("") => found.push(Found { event: event.name, mask: None, entry: event }),
                Some(rest) => {
                    let masks = catalogue.masks(event).iter();
                    let masks = masks.flat_map(|mask| names(mask).map(move |name| (mask, name))).filter(|(_, name)| key(name) == rest);
                    found.extend(masks.map(|(mask, name)| Found { event: event.name, mask: Some(name), entry: mask }));
                }
                None => {}
            }
        }
    }
    found
}

/// The unit masks that a name joins with `_OR_`, as libpfm4 has it for the sums of a set: `EVENT.MASK:MASK`.
pub(super) fn joined(catalogue: &Catalogue, head: &str, is_here: impl Fn(&Entry) -> bool) -> Option<String> {
    let upper = head.to_ascii_uppercase();
    let (first, others) = upper.split_once("_OR_")?;
    let found = *spelled(catalogue, &key(first), &is_here).first()?;
    let masks = masks_of(catalogue, found.event, &is_here);
    others.split("_OR_").try_fold(found.text(), |text, other| {
        let wanted = key(other);
        let name = masks.iter().flat_map(|mask| names(mask)).find(|name| key(name) == wanted)?;
        Some(format!("{text}:{name}"))
    })
}

/// Every unit mask of the events that are called `event`.
fn masks_of(catalogue: &Catalogue, event: &str, is_here: impl Fn(&Entry) -> bool) -> Vec<&'static Entry> {
    let events = catalogue.events().filter(|entry| is_here(entry) && entry.is_called(event));
    events.flat_map(|event| catalogue.masks(event)).collect()
}

/// The name of the unit mask that `word` is another spelling of; nothing for one that is spelt as the catalogue has it, or for none.
fn mask(masks: &[&'static Entry], word: &str) -> Option<&'static str> {
    if word.contains('=') || raw(word).is_some() || masks.iter().any(|mask| mask.is_called(word)) {
        return None;
    }
    let wanted = key(word);
    masks.iter().flat_map(|mask| names(mask)).find(|name| key(name) == wanted)
}

/// The words behind an event, its unit masks as the catalogue spells them.
pub(super) fn masks<'a>(
    catalogue: &Catalogue,
    head: &str,
    words: Vec<Cow<'a, str>>,
    is_here: impl Fn(&Entry) -> bool,
) -> Vec<Cow<'a, str>> {
    let masks = masks_of(catalogue, head.split('.').next().unwrap_or(head), is_here);
    words.into_iter().map(|word| mask(&masks, &word).map_or(word, Cow::Borrowed)).collect()
}

/// `EVENT.MASK` with the unit mask as the catalogue spells it.
pub(super) fn dotted<'a>(catalogue: &Catalogue, head: &'a str, is_here: impl Fn(&Entry) -> bool) -> Cow<'a, str> {
    let Some((event, word)) = head.split_once('.') else { return Cow::Borrowed(head) };
    match mask(&masks_of(catalogue, event, is_here), word) {
        Some(name) => Cow::Owned(format!("{event}.{name}")),
        None => Cow::Borrowed(head),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_pmu::arch::event::{KNL, MONTECITO};

    #[test]
    fn separators_and_case_do_not_matter() {
        assert_eq!(key("L2I_READS.MISS-dmnd"), "L2IREADSMISSDMND");
        let found = spelled(&MONTECITO, "L2IREADSMISSDMND", |_| true);
        assert_eq!(found.first().map(Found::text).as_deref(), Some("L2I_READS.MISS.DMND"));
    }

    #[test]
    fn names_of_unit_masks_are_respelt_and_modifiers_are_not() {
        let words = vec![Cow::Borrowed("miss-dmnd"), Cow::Borrowed("u"), Cow::Borrowed("pmc=4")];
        assert_eq!(masks(&MONTECITO, "L2I_READS", words, |_| true), ["MISS.DMND", "u", "pmc=4"]);
    }

    #[test]
    fn a_sum_of_a_set_is_said_by_its_members() {
        let text = joined(&MONTECITO, "syll_not_dispersed_expl_or_fe_or_mlx", |_| true);
        assert_eq!(text.as_deref(), Some("SYLL_NOT_DISPERSED.EXPL:FE:MLX"));
    }

    #[test]
    fn an_alias_stays_what_it_is() {
        // The walks are the edges of their cycles: the name of the cycles would be another event.
        let found = spelled(&KNL, "PAGEWALKSISIDEWALKS", |_| true);
        assert_eq!(found.first().map(Found::text).as_deref(), Some("PAGE_WALKS.I_SIDE_WALKS"));
    }
}
