//! From words to the writes that count events in a thread's counters, in the order in which Linux's driver makes them.

use vm_pmu::arch::event::{Entry, KNL, UnitMask};
use vm_pmu::arch::knl::{FIXED, GENERAL, PerfEvtSel};
use vm_pmu::arch::registry::Part;

use super::offcore::Chosen;
use super::{LIMITS, fixed, offcore, selection};
use crate::dialect::Programming;
use crate::dialect::matching::{self, matched};
use crate::dialect::select::{self, Request};
use crate::dialect::x86::words::Words;
use crate::dialect::x86::{self, Event, RESERVED};
use crate::error::Error;
use crate::number::{self, counted};

/// Every modifier, for suggestions.
const MODIFIERS: [&str; 16] =
    ["u", "k", "uk", "nouk", "e", "edge", "i", "inv", "int", "any", "noen", "c=1", "cmask=1", "period=100000", "pmc=0", "rsp="];
/// What a mistaken modifier of an event without unit masks is answered with.
pub(super) const THERE_ARE: &str = "u, k, e, i, c=N, int, any, noen, pmc=N, period=N";
/// The modifiers of an event that has a fixed counter.
pub(super) const FIXED_TAKES: &str = "u, k, any, int, noen, period=N";
/// The modifiers of an event of requests beyond the tile.
pub(super) const OFFCORE_TAKES: &str = "u, k, e, i, c=N, int, any, noen, pmc=N, period=N, rsp=NAME+NAME";
/// The select of what MSR_OFFCORE_RESP0 and 1 choose.
const OFFCORE: u32 = 0xb7;
/// The general counters, one bit each.
const GENERAL_COUNTERS: u32 = (1 << GENERAL) - 1;

/// The writes that count `requests`.
pub(super) fn encode(part: Part, requests: &[&Request<'_>]) -> Result<Vec<Programming>, Error> {
    let mut asked: Vec<Asked> = Vec::new();
    for request in requests {
        let next = Asked::new(part, request, &asked)?;
        asked.push(next);
    }
    check(&asked)?;
    let allowed: Vec<u32> = asked.iter().map(|one| one.counters).collect();
    let counters = matched(&allowed).ok_or_else(|| too_few(&asked))?;
    let fixed_control = asked.iter().zip(&counters).fold(0, |bits, (one, counter)| bits | one.fixed_bits(*counter));
    let enables = counters.iter().fold(0u64, |bits, counter| bits | enable(*counter));
    let last = asked.len().saturating_sub(1);
    let mut program = Vec::new();
    for (index, (one, counter)) in asked.iter_mut().zip(counters).enumerate() {
        // Everything is stopped while it is set up.
        let mut writes = if index == 0 { vec![("IA32_PERF_GLOBAL_CTRL".to_owned(), 0)] } else { Vec::new() };
        one.count_in(counter, &mut writes);
        if index == last {
            writes.extend((fixed_control != 0).then(|| ("IA32_FIXED_CTR_CTRL".to_owned(), fixed_control)));
            writes.push(("IA32_PERF_GLOBAL_CTRL".to_owned(), enables));
        }
        program.push(Programming {
            event: one.notation(counter),
            counter,
            writes: writes.into_iter().filter_map(|(name, value)| x86::write(part, &name, value)).collect(),
            notes: std::mem::take(&mut one.notes),
            warnings: Vec::new(),
        });
    }
    Ok(program)
}

/// The bit of a counter in IA32_PERF_GLOBAL_CTRL.
fn enable(counter: u32) -> u64 {
    if (counter as usize) < GENERAL { 1 << counter } else { 1 << (32 + counter as usize - GENERAL) }
}

/// An event that was asked for.
struct Asked {
    words: Words,
    select: u8,
    umask: u8,
    event: Option<Event>,
    response: Option<Chosen>,
    pmc: Option<u32>,
    /// The counters that take it, one bit each.
    counters: u32,
    notes: Vec<String>,
}

impl Asked {
    fn new(part: Part, request: &Request<'_>, before: &[Asked]) -> Result<Asked, Error> {
        let mut asked = Asked {
            words: Words::default(),
            select: 0,
            umask: 0,
            event: None,
            response: None,
            pmc: None,
            counters: GENERAL_COUNTERS,
            notes: Vec::new(),
        };
        let events = asked.find(part, request)?;
        for word in &request.words {
            if !asked.take(word, &events)? {
                let masks = events.iter().flat_map(|(_, masks)| masks.iter());
                return Err(x86::unknown_word(&asked.name(), word, masks, &MODIFIERS, THERE_ARE));
            }
        }
        let is_code = select::raw(request.event).is_some();
        asked.umask = match (asked.words.umask, asked.event) {
            (Some(umask), _) => umask,
            (None, Some((event, _))) if event.select == OFFCORE && asked.response.is_some() => asked.free_response(before),
            (None, Some(event)) if !is_code => x86::default_mask(event, &mut asked.notes)?,
            (None, _) => 0,
        };
        if let Some((event, _)) = asked.event {
            asked.counters = event.counters;
        }
        asked.settle(is_code)?;
        Ok(asked)
    }

    /// The events that the first word may mean: one on general counters and one on a fixed counter may share a name.
    fn find(&mut self, part: Part, request: &Request<'_>) -> Result<Vec<Event>, Error> {
        let name = request.event.strip_prefix("tile::").unwrap_or(request.event);
        if select::raw(name).is_some() {
            let found = select::event(part, name)?;
            self.select = u8::try_from(found.select)
                .map_err(|_| Error::usage(format!("`{name}` is not an event select of {}: it has 8 bits", part.name())))?;
            self.event = found.entry;
            if self.event.is_none() {
                self.notes.push(RESERVED.to_owned());
            }
            return Ok(found.entry.into_iter().collect());
        }
        let events = KNL.events().filter(|event| event.unit == "tile" && event.is_called(name));
        let events: Vec<Event> = events.map(|event| (event, KNL.masks(event))).collect();
        let Some(first) = events.first() else {
            let elsewhere = KNL.event_named(name).map(|event| event.unit);
            return Err(match elsewhere {
                Some(unit) => Error::usage(format!("{name} is an event of {unit}: say of which box, as {unit}0::{name}")),
                None => unknown(part, name),
            });
        };
        self.event = Some(*first);
        // A select of a catalogue of this part has eight bits.
        self.select = (first.0.select & 0xff) as u8;
        Ok(events)
    }

    /// Takes a unit mask or a modifier; whether `word` was one.
    fn take(&mut self, word: &str, events: &[Event]) -> Result<bool, Error> {
        // Behind a unit mask a modifier is one, even if a unit mask is called so.
        let is_modifier = self.words.umask.is_some() && word.eq_ignore_ascii_case("any");
        let is_named = |(event, masks): &&Event| masks.iter().any(|mask| mask.is_called(word)) && self.may_be(event);
        if let Some((event, masks)) = events.iter().find(is_named).filter(|_| !is_modifier)
            && let Some(mask) = masks.iter().find(|mask| mask.is_called(word))
        {
            self.event = Some((event, masks));
            self.select = (event.select & 0xff) as u8;
            return self.add(mask, word, event).map(|()| true);
        }
        if let Some(bits) = select::raw(word) {
            let bits = u8::try_from(bits).map_err(|_| Error::usage(format!("`{word}` is not a unit mask: it has 8 bits")))?;
            self.words.umask = Some(self.words.umask.unwrap_or(0) | bits);
            return Ok(true);
        }
        match word.split_once('=') {
            Some((key, text)) if key.eq_ignore_ascii_case("rsp") => self.response = Some(Chosen::read(text).map_err(Error::usage)?),
            Some((key, text)) if key.eq_ignore_ascii_case("pmc") => {
                let pmc = number::parse(text).and_then(|pmc| u32::try_from(pmc).ok()).filter(|pmc| (*pmc as usize) < GENERAL);
                self.pmc = Some(pmc.ok_or_else(|| Error::usage(format!("`{word}` is not a counter: there are IA32_PMC0 and 1")))?);
            }
            _ => return self.words.modify(word, &LIMITS).map_err(Error::usage),
        }
        Ok(true)
    }

    /// Whether a unit mask of `event` may follow what has been said.
    fn may_be(&self, event: &Entry) -> bool {
        self.words.umask.is_none() || self.event.is_some_and(|(chosen, _)| std::ptr::eq(chosen, event))
    }

    fn add(&mut self, mask: &Entry, word: &str, event: &Entry) -> Result<(), Error> {
        let bits = (mask.umask.unwrap_or(0) & 0xff) as u8;
        let before = self.words.umask;
        self.words.umask = Some(match (before, event.shape) {
            (None, _) => bits,
            (Some(before), UnitMask::Excluding) => before & bits,
            (Some(before), UnitMask::Ordinal) if before != bits => {
                return Err(Error::usage(format!("{} counts one of its unit masks at a time", event.name)));
            }
            (Some(before), _) => before | bits,
        });
        // The walks are the edges of their cycles, and share their codes.
        if !mask.edges.is_empty() && mask.mask_name().is_some_and(|name| !name.eq_ignore_ascii_case(word)) {
            self.words.edge = true;
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.event.map_or_else(|| format!("{:#04x}", self.select), |(event, _)| event.name.to_owned())
    }

    /// The name with its unit mask.
    fn full_name(&self) -> String {
        let Some(event) = self.event else { return self.name() };
        let masks = x86::mask_words(event, self.umask.into());
        if masks.is_empty() { self.name() } else { format!("{}.{}", self.name(), masks.join("+")) }
    }

    fn is_fixed(&self) -> bool {
        self.event.is_some_and(|(event, _)| event.fixed)
    }

    /// Everything that was said together: what cannot be counted so, where it can, and what may surprise.
    fn settle(&mut self, is_code: bool) -> Result<(), Error> {
        if let Some(event) = self.event {
            self.counters = if event.0.fixed {
                x86::picked(event, self.umask.into()).fold(0, |counters, mask| counters | mask.counters)
            } else {
                event.0.counters
            };
        }
        if self.is_fixed() {
            return self.settle_fixed();
        }
        let select = self.register();
        if self.words.any_thread && !selection::takes_any_thread(select) {
            if !is_code {
                return Err(Error::usage(format!("{} has no AnyThread; it is for {}", self.full_name(), any_threaded())));
            }
            self.notes.push("AnyThread means nothing for this event, which counts as without it".to_owned());
        }
        self.settle_response()?;
        if let Some(pmc) = self.pmc {
            if self.counters >> pmc & 1 == 0 {
                let there = self.counters.trailing_zeros();
                return Err(Error::usage(format!("{} cannot be counted so in IA32_PMC{pmc}; it can in IA32_PMC{there}", self.full_name())));
            }
            self.counters = 1 << pmc;
        }
        if let Some(event) = self.event {
            x86::advise_on_mask(event, self.umask.into(), &mut self.notes);
        }
        self.words.advise(selection::most_per_clock(select), &mut self.notes);
        Ok(())
    }

    fn settle_fixed(&mut self) -> Result<(), Error> {
        let words = &self.words;
        let refused = [
            (words.edge, "edge"),
            (words.invert, "inv"),
            (words.at_least != 0, "cmask"),
            (words.disabled, "noen"),
            (words.pin, "pc"),
            (self.pmc.is_some(), "pmc"),
            (self.response.is_some(), "rsp"),
        ];
        if let Some((_, word)) = refused.iter().find(|(is_set, _)| *is_set) {
            return Err(Error::usage(format!("{} is counted by a fixed counter, which has no {word}", self.full_name())));
        }
        if self.words.levels == Some((false, false)) {
            self.notes.push("at no level a fixed counter counts nothing".to_owned());
        }
        self.words.advise(KNL.max_per_cycle, &mut self.notes);
        Ok(())
    }

    /// What chooses requests, where they are counted.
    fn settle_response(&mut self) -> Result<(), Error> {
        let register = match (self.select, self.umask) {
            (0xb7, 1) => Some(0),
            (0xb7, 2) => Some(1),
            _ => None,
        };
        match (register, self.response) {
            (Some(register), Some(chosen)) => {
                let name = self.full_name();
                let counters = chosen.counters(register, &mut self.notes).map_err(|why| Error::usage(format!("{name}: {why}")))?;
                self.counters &= counters;
            }
            (Some(register), None) => self.notes.push(format!("rsp= would write MSR_OFFCORE_RESP{register}, which chooses the requests")),
            (None, Some(_)) => {
                return Err(Error::usage(format!("{} takes no rsp=: that is for OFFCORE_RESP_0 and OFFCORE_RESP_1", self.full_name())));
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The unit mask of the register for the requests: one that counts them, and that no other event has choose something else.
    fn free_response(&self, before: &[Asked]) -> u8 {
        let Some(chosen) = self.response else { return 1 };
        let is_free = |register: u8| {
            let own = if register == 0 { "MSR_OFFCORE_RESP0" } else { "MSR_OFFCORE_RESP1" };
            before.iter().filter_map(Asked::response_register).all(|(name, other)| name != own || other.bits == chosen.bits)
        };
        let fitting: Vec<u8> = (0..2).filter(|register| chosen.fits(*register)).collect();
        fitting.iter().find(|register| is_free(**register)).or(fitting.first()).copied().unwrap_or(0) + 1
    }

    /// The register that chooses requests, and what is written to it.
    fn response_register(&self) -> Option<(&'static str, Chosen)> {
        let chosen = self.response?;
        Some((if self.umask == 1 { "MSR_OFFCORE_RESP0" } else { "MSR_OFFCORE_RESP1" }, chosen))
    }

    fn register(&self) -> PerfEvtSel {
        selection::selecting(self.select, self.umask, &self.words.modifiers())
    }

    fn fixed_bits(&self, counter: u32) -> u64 {
        let number = (counter as usize).checked_sub(GENERAL).filter(|_| self.is_fixed());
        number.map_or(0, |number| fixed::bits(number, &self.words.modifiers()))
    }

    /// Adds the writes of its own counter.
    fn count_in(&self, counter: u32, writes: &mut Vec<(String, u64)>) {
        let start = self.words.period.map_or(0, |period| (1 << LIMITS.bits) - period);
        if self.is_fixed() {
            writes.push((format!("IA32_FIXED_CTR{}", counter as usize - GENERAL), start));
            return;
        }
        writes.push((format!("IA32_A_PMC{counter}"), start));
        writes.extend(self.response_register().map(|(name, chosen)| (name.to_owned(), chosen.bits)));
        writes.push((format!("IA32_PERFEVTSEL{counter}"), self.register().bits()));
    }

    /// The event with everything spelt out.
    fn notation(&self, counter: u32) -> Option<String> {
        let mut text =
            if self.is_fixed() { fixed::notation(self.fixed_bits(counter))? } else { selection::notation(self.register().bits())? };
        if let Some(chosen) = self.response {
            text.push_str(&format!(":rsp={}", offcore::text(chosen.bits)));
        }
        if let Some(period) = self.words.period {
            text.push_str(&format!(":period={period}"));
        }
        Some(text)
    }
}

/// What takes AnyThread.
fn any_threaded() -> String {
    let names: Vec<&str> = KNL.entries.iter().filter(|entry| entry.any_thread && entry.umask.is_some()).map(|entry| entry.name).collect();
    names.join(", ")
}

fn unknown(part: Part, name: &str) -> Error {
    let names = KNL.events().flat_map(|event| std::iter::once(event.name).chain(event.aliases.iter().copied()));
    let hint = select::meant(name, names, &format!("`pmulab list --pmu {}` shows them", part.name()));
    Error::usage(format!("{} has no event `{name}`{hint}", part.name()))
}

/// What cannot be counted together, however it is placed.
fn check(asked: &[Asked]) -> Result<(), Error> {
    let chosen: Vec<_> = asked.iter().filter_map(Asked::response_register).collect();
    for (name, response) in &chosen {
        if chosen.iter().any(|(other, another)| other == name && another.bits != response.bits) {
            return Err(Error::usage(format!("{name} chooses one thing at a time: give one of the two the other OFFCORE_RESP")));
        }
    }
    Ok(())
}

fn too_few(asked: &[Asked]) -> Error {
    let general: Vec<String> = asked.iter().filter(|one| !one.is_fixed()).map(Asked::full_name).collect();
    if general.len() > GENERAL {
        let fixed = "INST_RETIRED.ANY, CPU_CLK_UNHALTED.THREAD and CPU_CLK_UNHALTED.REF_TSC have their own counters";
        return Error::usage(format!("{} are too many: a thread has {GENERAL} general counters; {fixed}", counted(general.len(), "event")));
    }
    let once = asked.iter().filter(|one| one.is_fixed()).count() > FIXED || general.is_empty();
    if once {
        return Error::usage("a fixed counter counts its event once".to_owned());
    }
    if let Some((one, other)) = matching::rivals(asked.iter().map(|one| one.counters)) {
        let name = |at: usize| asked.get(at).map_or_else(String::new, Asked::full_name);
        let counter = asked.get(one).map_or(0, |one| one.counters.trailing_zeros());
        return Error::usage(format!("{} and {} both need counter {counter}", name(one), name(other)));
    }
    Error::usage(format!("these want the same counter: {}", asked.iter().map(Asked::full_name).collect::<Vec<_>>().join(", ")))
}
