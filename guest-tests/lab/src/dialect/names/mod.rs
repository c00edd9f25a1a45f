//! Names that other tools have for events: perf's, libpfm4's, and the generic ones of Linux, turned into those of the catalogue.
//!
//! A name is turned into text that [`encode`](crate::commands::encode) accepts. Most names differ from the manual's only in the separators
//! between their words, or in the case: `spelling` finds them. All others are in the [`Names`] of a [`Dialect`](super::Dialect).

pub mod generic;
mod spelling;

use std::borrow::Cow;

use vm_pmu::arch::event::Entry;
use vm_pmu::arch::registry::Part;

use super::select::raw;
use crate::error::Error;
use crate::{dialect, suggest};

/// What a dialect knows of the names of other tools.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The place that the name of another tool's PMU means: a box, or nothing for the part itself. `None` if it is not such a name.
    pub pmu: fn(&str) -> Option<String>,
    /// Whether a place, as written before an event, has the events of a unit.
    pub has_unit: fn(&str, &str) -> bool,
    /// Where an event is counted that was given by another tool's name without a place, and the warning about that.
    pub home: fn(&Entry) -> Option<Home>,
    /// What the part's driver counts for the [generic names](generic).
    pub generic: &'static [(&'static str, &'static str)],
    /// Names that are no other spelling of a name of the catalogue.
    pub also: &'static [(&'static str, &'static str)],
    /// Families of names, by the name and the words behind it.
    pub family: fn(&str, &[Cow<'_, str>]) -> Option<Form>,
}

impl Names {
    /// A dialect without further names.
    pub const NONE: Names = Names {
        pmu: |_| None,
        has_unit: |place, unit| place.eq_ignore_ascii_case(unit),
        home: |_| None,
        generic: &[],
        also: &[],
        family: |_, _| None,
    };
}

/// Where an event is counted if no place was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The place.
    pub place: String,
    /// What there is to say of the choice.
    pub warning: String,
}

/// The meaning of a name of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// An event with all its words, as [`encode`](crate::commands::encode) takes it.
    pub text: String,
    /// What else the name may mean, and how to say that.
    pub warning: Option<String>,
}

/// An event as [`encode`](crate::commands::encode) takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken<'a> {
    /// The event and its words.
    pub text: Cow<'a, str>,
    /// In which of several meanings it was taken.
    pub warnings: Vec<String>,
}

/// What `text` means: it itself, if that is the catalogue's name, or the event that another tool calls so.
///
/// ```
/// use vm_pmu::arch::registry::Part;
/// use vm_pmu_lab::dialect::names::taken;
///
/// let part = Part::named("montecito").unwrap();
/// assert_eq!(taken(part, "l2i_reads_miss_dmnd:u").unwrap().text, "L2I_READS.MISS.DMND:u");
/// ```
///
/// # Errors
/// It is a generic name for which the part's driver counts nothing.
pub fn taken(part: Part, text: &str) -> Result<Taken<'_>, Error> {
    let names = dialect::of(part).names();
    let (place, body) = placed(&names, text);
    let mut words = body.split(':');
    let head = words.next().unwrap_or_default();
    let words: Vec<Cow<'_, str>> = words.filter_map(modifier).collect();
    let mut warnings = Vec::new();
    if head.is_empty() || raw(head).is_some() {
        return Ok(Taken { text: joined(place.as_deref(), head, &words, text), warnings });
    }
    let typed = head;
    let (head, words) = match (names.family)(head, &words) {
        Some(form) => {
            warnings.extend(form.warning);
            (Cow::Owned(form.text), Vec::new())
        }
        None => respelt(part, &names, place.as_deref(), head, words, &mut warnings)?,
    };
    let place = place.or_else(|| {
        let event = spelling::event(part.catalogue(), &head)?;
        // The manual's own name says nothing of a place that would be the usual one.
        let is_own = spelling::key(typed).starts_with(&spelling::key(event.name));
        let home = if is_own { None } else { (names.home)(event) }?;
        warnings.push(home.warning);
        Some(home.place)
    });
    Ok(Taken { text: joined(place.as_deref(), &head, &words, text), warnings })
}

/// The names that `entry` has in addition to those of the catalogue, with its event, other spellings excluded.
pub fn others(part: Part, entry: &Entry) -> impl Iterator<Item = &'static str> {
    let names = dialect::of(part).names();
    let is_it = move |target: &str| spelling::key(target) == spelling::key(entry.name);
    let tables = names.generic.iter().chain(names.also);
    let found: Vec<&'static str> = tables.filter(|(_, target)| is_it(target)).map(|(name, _)| *name).collect();
    found.into_iter()
}

/// The entry of the catalogue that `name` means alone, by whatever tool's name.
#[must_use]
pub fn entry(part: Part, name: &str) -> Option<&'static Entry> {
    let taken = taken(part, name).ok()?;
    let plain = taken.text.rsplit_once("::").map_or(&*taken.text, |(_, event)| event);
    // Unit masks follow the event, then modifiers.
    let words: Vec<&str> = plain.split(':').collect();
    (1..=words.len()).rev().filter_map(|count| words.get(..count)).find_map(|words| part.catalogue().named(&words.join(".")))
}

/// The place before an event, and the text after it. A PMU of another tool is written as `PMU::EVENT` or `PMU/EVENT/`.
fn placed<'a>(names: &Names, text: &'a str) -> (Option<String>, Cow<'a, str>) {
    if let Some((word, body)) = text.split_once("::") {
        let place = match (names.pmu)(word) {
            None if matches!(word, "perf" | "PERF") => None,
            None => return (Some(word.to_owned()), Cow::Borrowed(body)),
            Some(place) => Some(place).filter(|place| !place.is_empty()),
        };
        return (place, Cow::Borrowed(body));
    }
    if let Some((word, rest)) = text.split_once('/')
        && let Some((body, modifiers)) = rest.rsplit_once('/')
        && !body.contains('=')
        && let Some(place) = (names.pmu)(word)
    {
        let colon = if modifiers.is_empty() || modifiers.starts_with(':') { "" } else { ":" };
        return (Some(place).filter(|place| !place.is_empty()), Cow::Owned(format!("{body}{colon}{modifiers}")));
    }
    (None, Cow::Borrowed(text))
}

/// A modifier as this program writes it: libpfm gives its flags a value.
fn modifier(word: &str) -> Option<Cow<'_, str>> {
    match word.split_once('=') {
        Some((flag, "0")) if is_flag(flag) => None,
        Some((flag, "1")) if is_flag(flag) => Some(Cow::Borrowed(if flag.eq_ignore_ascii_case("t") { "any" } else { flag })),
        _ => Some(Cow::Borrowed(word)),
    }
}

fn is_flag(word: &str) -> bool {
    matches!(word, "u" | "k" | "h" | "e" | "i" | "t")
}

type Words<'a> = (Cow<'a, str>, Vec<Cow<'a, str>>);

/// The event and its words with the names of the catalogue, where these are known by another spelling or name.
fn respelt<'a>(
    part: Part,
    names: &Names,
    place: Option<&str>,
    head: &'a str,
    words: Vec<Cow<'a, str>>,
    warnings: &mut Vec<String>,
) -> Result<Words<'a>, Error> {
    let catalogue = part.catalogue();
    let is_here = |entry: &Entry| place.is_none_or(|place| (names.has_unit)(place, entry.unit));
    // An event and its unit mask may have one name together.
    for used in [1, 0] {
        let key = spelling::key(&words.iter().take(used).fold(head.to_owned(), |whole, word| whole + word));
        if let Some((_, target)) = names.also.iter().find(|(name, _)| spelling::key(name) == key).filter(|_| words.len() >= used) {
            // Linux writes hyphens, and means something else by the name.
            if let Some((name, _)) = generic::canonical(head, &words).filter(|_| head.contains('-')) {
                warnings.push(format!("`{head}` is taken as {target}: Linux's driver counts nothing for {name}"));
            }
            return Ok((Cow::Borrowed(target), words.into_iter().skip(used).collect()));
        }
    }
    if spelling::event(catalogue, head).is_some() {
        let words = spelling::masks(catalogue, head, words, is_here);
        return Ok((spelling::dotted(catalogue, head, is_here), words));
    }
    let key = spelling::key(head);
    let canonical = generic::canonical(head, &words);
    let mapped = canonical.as_ref().and_then(|(name, _)| names.generic.iter().find(|(known, _)| known == name));
    if let (Some((_, target)), Some((_, used))) = (mapped, &canonical) {
        return Ok((Cow::Borrowed(target), words.into_iter().skip(*used).collect()));
    }
    let found = spelling::spelled(catalogue, &key, is_here);
    if let Some(first) = found.first() {
        if let Some(other) = found.iter().find(|other| !first.is_same(other)) {
            warnings.push(format!("`{head}` is taken as {0}, not as {1}: write {1} for that", first.text(), other.text()));
        } else if let Some((name, _)) = &canonical {
            warnings.push(format!("`{head}` is taken as {}: Linux's driver counts nothing for {name}", first.text()));
        }
        let words = spelling::masks(catalogue, first.event, words, is_here);
        return Ok((Cow::Owned(first.text()), words));
    }
    if let Some(text) = spelling::joined(catalogue, head, is_here) {
        return Ok((Cow::Owned(text), words));
    }
    match canonical {
        Some((name, _)) => {
            let there = suggest::there_are(names.generic.iter().map(|(name, _)| *name));
            Err(Error::usage(format!("{} has no event for {name}; {there}", part.name())))
        }
        None => Ok((Cow::Borrowed(head), words)),
    }
}

/// The parts put together, or `text` if they are it.
fn joined<'a>(place: Option<&str>, head: &str, words: &[Cow<'_, str>], text: &'a str) -> Cow<'a, str> {
    let mut whole = place.map_or_else(String::new, |place| format!("{place}::"));
    whole.push_str(head);
    for word in words {
        whole.push(':');
        whole.push_str(word);
    }
    if whole == text { Cow::Borrowed(text) } else { Cow::Owned(whole) }
}
