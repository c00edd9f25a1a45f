//! From words on the command line to parts, registers and events; the same for every PMU.

use vm_pmu::arch::access::{Address, PciAddress};
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::{NAMES, Part};

use crate::error::Error;
use crate::{dialect, number, suggest};

/// The part called `name`, whatever the case.
///
/// # Errors
/// No part is called that.
pub fn part(name: &str) -> Result<Part, Error> {
    Part::named(&name.to_ascii_lowercase()).ok_or_else(|| {
        let names = NAMES.iter().copied();
        Error::usage(format!("no PMU is called `{name}`{}", suggest::did_you_mean(name, names.clone(), &suggest::there_are(names))))
    })
}

/// The part in the revision of this letter, or as it is.
///
/// # Errors
/// It has no such revision.
pub fn revised(part: Part, letter: Option<&str>) -> Result<Part, Error> {
    let Some(letter) = letter else { return Ok(part) };
    part.revision(letter).ok_or_else(|| Error::usage(no_revision(part, letter)))
}

/// The line about a revision that a part does not have.
#[must_use]
pub fn no_revision(part: Part, letter: &str) -> String {
    let hint = suggest::did_you_mean(letter, part.revision_letters(), &suggest::there_are(part.revision_letters()));
    format!("{} has no revision `{letter}`{hint}", part.name())
}

/// The part called `name`; without a name the only one there is.
///
/// # Errors
/// No part is called that, or there are several to choose from.
pub fn one_part(name: Option<&str>) -> Result<Part, Error> {
    match (name, NAMES) {
        (Some(name), _) => part(name),
        (None, [name]) => part(name),
        (None, names) => Err(Error::usage(format!("say which PMU with --pmu: {}", names.join(", ")))),
    }
}

/// The part called `name`, or all of them.
///
/// # Errors
/// No part is called that.
pub fn parts(name: Option<&str>) -> Result<Vec<Part>, Error> {
    match name {
        Some(name) => Ok(vec![part(name)?]),
        None => Ok(NAMES.iter().filter_map(|name| Part::named(name)).collect()),
    }
}

/// The registers of a part, and of what is around its threads.
#[must_use]
pub fn registers(part: Part) -> &'static [RegisterDescription] {
    dialect::of(part).registers(part)
}

/// The register that `word` names: by name, whatever the case, or by address.
///
/// # Errors
/// The part has no such register.
pub fn register(part: Part, word: &str) -> Result<&'static RegisterDescription, Error> {
    let registers = registers(part);
    let by_address = |address: Address| registers.iter().find(|register| register.address == address);
    let found = match word.split_once(':') {
        Some((space, text)) => address(space, text)?.and_then(by_address),
        None => registers.iter().find(|register| register.name.eq_ignore_ascii_case(word)),
    };
    found.ok_or_else(|| {
        let names = registers.iter().map(|register| register.name);
        let otherwise = suggest::there_are(names.clone());
        let hint = match word.split_once(':') {
            Some(_) => format!("; {otherwise}"),
            None if number::parse(word).is_some() => format!(": write an address as {}:{word}", space_of(registers)),
            None => suggest::did_you_mean(word, names, &otherwise),
        };
        Error::usage(format!("{} has no register `{word}`{hint}", part.name()))
    })
}

/// The address that `text` is in an address space, `msr`; nothing if there is no such space.
///
/// # Errors
/// The text is no address.
pub fn address(space: &str, text: &str) -> Result<Option<Address>, Error> {
    let (found, example) = match space.to_ascii_lowercase().as_str() {
        "msr" => (number::parse(text).and_then(|number| u32::try_from(number).ok()).map(Address::Msr), "msr:0xc0010000"),
        "spr" => (number::parse(text).and_then(|number| u16::try_from(number).ok()).map(Address::Spr), "spr:795"),
        "pmc" => (indexed(text, Address::Pmc), "pmc:4"),
        "pmd" => (indexed(text, Address::Pmd), "pmd:4"),
        "ibr" => (indexed(text, Address::Ibr), "ibr:0"),
        "dbr" => (indexed(text, Address::Dbr), "dbr:0"),
        "pci" => (configured(text), "pci:255:8.2:0xb20"),
        _ => return Ok(None),
    };
    found.map(Some).ok_or_else(|| Error::usage(format!("`{space}:{text}` is not an address: write it as {example}")))
}

/// The register of a file whose index `text` is.
fn indexed(text: &str, of: fn(u8) -> Address) -> Option<Address> {
    number::parse(text).and_then(|number| u8::try_from(number).ok()).map(of)
}

/// The doubleword of PCI configuration space that `text` names: bus, device and function, offset.
fn configured(text: &str) -> Option<Address> {
    let mut words = text.split([':', '.']).map(number::parse);
    let mut next = || words.next().flatten();
    let (bus, device, function, offset) = (next()?, next()?, next()?, next()?);
    let is_whole = words.next().is_none() && device < 32 && function < 8 && offset < 0x1000;
    let narrow = |number: u64| u8::try_from(number).ok();
    let offset = u16::try_from(offset).ok().filter(|_| is_whole)?;
    Some(Address::Pci(PciAddress { bus: narrow(bus)?, device: narrow(device)?, function: narrow(function)?, offset }))
}

/// The word before the numbers of most of these registers.
fn space_of(registers: &[RegisterDescription]) -> &'static str {
    match registers.first().map(|register| register.address) {
        Some(Address::Spr(_)) => "spr",
        Some(Address::Pmc(_)) => "pmc",
        _ => "msr",
    }
}

/// A register's address as the command line takes it.
#[must_use]
pub fn address_word(address: Address) -> String {
    match address {
        Address::Msr(number) => format!("msr:{number:#010x}"),
        Address::Spr(number) => format!("spr:{number}"),
        Address::Imc => "imc".to_owned(),
        Address::Pmc(number) => format!("pmc:{number}"),
        Address::Pmd(number) => format!("pmd:{number}"),
        Address::Ibr(number) => format!("ibr:{number}"),
        Address::Dbr(number) => format!("dbr:{number}"),
        Address::Pci(PciAddress { bus, device, function, offset }) => format!("pci:{bus}:{device}.{function}:{offset:#x}"),
        other => other.to_string(),
    }
}

/// An event as it was asked for, in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// All of it.
    pub text: &'a str,
    /// The event's name or code.
    pub event: &'a str,
    /// Its unit masks and modifiers.
    pub words: Vec<&'a str>,
}

impl<'a> Request<'a> {
    /// Takes `EVENT[:WORD...]` apart; `EVENT.MASK`, a name in the catalogue, is the same as `EVENT:MASK`. Before an event may stand the unit
    /// that counts it, `UNIT::EVENT`.
    ///
    /// # Errors
    /// The text begins with no event, or a word of it is empty.
    pub fn new(text: &'a str) -> Result<Request<'a>, Error> {
        let (unit, plain) = text.split_once("::").filter(|(unit, _)| !unit.contains(':')).unwrap_or(("", text));
        let mut words = plain.split(':');
        let first = words.next().unwrap_or_default();
        let (name, mask) = first.split_once('.').map_or((first, None), |(name, mask)| (name, Some(mask)));
        let words: Vec<&str> = mask.into_iter().chain(words).collect();
        // The event keeps the unit before it, as in the text.
        let event = text.get(..text.len() - plain.len() + name.len()).unwrap_or(name);
        let is_named = !name.is_empty() && (!unit.is_empty() || plain.len() == text.len());
        if !is_named || words.iter().any(|word| word.is_empty()) {
            return Err(Error::usage(format!("`{text}` is not an event: write EVENT[:UMASK...][:MODIFIER...]")));
        }
        said_once(&words)?;
        Ok(Request { text, event, words })
    }
}

/// Refuses words that give a modifier two values.
///
/// # Errors
/// The line about the first two.
fn said_once(words: &[&str]) -> Result<(), Error> {
    let names = words.iter().filter_map(|word| word.split_once('=')).map(|(name, _)| name.to_ascii_lowercase());
    // One threshold has several names.
    let names: Vec<String> = names.map(|name| if matches!(&*name, "cmask" | "threshold") { "c".to_owned() } else { name }).collect();
    let again = names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|before| before == *name));
    match again {
        Some((_, name)) => Err(Error::usage(format!("`{name}=` is given twice: an event has one"))),
        None => Ok(()),
    }
}

/// What an event's word selects.
#[derive(Clone, Copy, Debug)]
pub struct Selected {
    /// The event select.
    pub select: u32,
    /// The event and its unit masks, if the catalogue has it.
    pub entry: Option<(&'static Entry, &'static [Entry])>,
}

/// The event that `word` selects: by name or alias, whatever the case, or by its code.
///
/// # Errors
/// The part has no event of that name.
pub fn event(part: Part, word: &str) -> Result<Selected, Error> {
    let catalogue = part.catalogue();
    if let Some(code) = raw(word) {
        let select = u32::try_from(code).map_err(|_| Error::usage(format!("`{word}` is not an event select: it has more than 32 bits")))?;
        return Ok(Selected { select, entry: catalogue.select(select) });
    }
    match catalogue.event_named(word) {
        Some(event) => Ok(Selected { select: event.select, entry: Some((event, catalogue.masks(event))) }),
        None => {
            let names = catalogue.events().flat_map(|event| std::iter::once(event.name).chain(event.aliases.iter().copied()));
            let otherwise = format!("`pmulab list --pmu {}` shows them", part.name());
            Err(Error::usage(format!("{} has no event `{word}`{}", part.name(), meant(word, names, &otherwise))))
        }
    }
}

/// The end of a message about an event that there is not: the code, if its `0x` is missing, or the nearest names.
pub(super) fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    let is_code = word.starts_with(|first: char| first.is_ascii_digit()) && word.chars().all(|digit| digit.is_ascii_hexdigit());
    if is_code { format!(": a code is written as 0x{word}") } else { suggest::did_you_mean(word, names, otherwise) }
}

/// The value of a word that is a code and no name: `0x76`.
#[must_use]
pub fn raw(word: &str) -> Option<u64> {
    word.get(..2).filter(|prefix| prefix.eq_ignore_ascii_case("0x")).and_then(|_| number::parse(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_name_and_unknown_ones_a_line() {
        assert_eq!(parts(None).unwrap().len(), NAMES.len());
        assert_eq!(part("K8").unwrap().name(), "k8");
        let Err(Error::Usage(message)) = part("k9") else { panic!("there is no k9") };
        assert_eq!(message, "no PMU is called `k9`; there are k8, knl, power9, itanium and montecito");
    }

    #[test]
    fn registers_are_found_by_name_and_address() {
        let part = part("k8").unwrap();
        assert_eq!(register(part, "perfctr2").unwrap().name, "PerfCtr2");
        assert_eq!(register(part, "msr:0xc0010006").unwrap().name, "PerfCtr2");
        for wrong in ["PerfCtr4", "msr:0x10", "msr:zero", "spr:1", ""] {
            assert!(register(part, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_request_is_an_event_and_words() {
        let request = Request::new("A.M:k:c=2").unwrap();
        assert_eq!((request.event, request.words), ("A", vec!["M", "k", "c=2"]));
        let request = Request::new("u0::A.M:k").unwrap();
        assert_eq!((request.event, request.words), ("u0::A", vec!["M", "k"]));
        for wrong in ["", ":k", "A:", "A::", "::A", "u::A::k", "A:k::", "A.:k"] {
            assert!(Request::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_modifier_has_one_value() {
        let Err(Error::Usage(message)) = Request::new("A:period=7:k:PERIOD=8") else { panic!("two periods") };
        assert_eq!(message, "`period=` is given twice: an event has one");
        assert!(Request::new("A:c=1:cmask=2").is_err());
    }
}
