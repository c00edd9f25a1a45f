//! From words to the writes that count events in a box, in the order in which Linux's driver makes them.

use vm_pmu::arch::event::{CoherenceFilter, Entry, KNL, UnitMask};
use vm_pmu::arch::knl::untile::{CounterControl, Kind, UnitId, UnitRegister};
use vm_pmu::arch::registry::Part;

use super::meaning::{filtered_by, said};
use super::registers::{name, writable};
use super::words::{BoxWords, LIMITS, MODIFIERS, THERE_ARE};
use super::{boxed, event, events, most_per_clock, there_are};
use crate::dialect::Programming;
use crate::dialect::matching::matched;
use crate::dialect::select::{self, Request};
use crate::dialect::x86::{self, Event, RESERVED};
use crate::error::Error;
use crate::suggest;

/// rst_ctrl, rst_ctrs and frz_en: what a driver writes first.
const RESET: u64 = 0x1_0003;
/// frz and frz_en.
const FROZEN: u64 = 0x1_0100;
/// frz_en alone.
const RELEASED: u64 = 0x1_0000;

/// The box that `request` counts in.
///
/// # Errors
/// There is no such box.
pub(in super::super) fn unit_of(request: &Request<'_>) -> Result<UnitId, Error> {
    let (word, event) = boxed(request.event).unwrap_or_default();
    if let Some(unit) = UnitId::named(word) {
        return Ok(unit);
    }
    let of_kind = Kind::ALL.into_iter().find(|kind| kind.unit().eq_ignore_ascii_case(word));
    Err(Error::usage(match of_kind {
        Some(kind) => format!("there are {} boxes of {}: say which, as {}0::{event}", kind.count(), kind.unit(), kind.unit()),
        None if word.eq_ignore_ascii_case("cms") => format!("every box has a mesh stop: say of which box, as cha0::{event}"),
        None => {
            let names: Vec<String> = UnitId::all().map(|unit| unit.to_string()).collect();
            let hint = suggest::did_you_mean(word, names.iter().map(String::as_str), &there_are());
            format!("no box is called `{word}`{hint}")
        }
    }))
}

/// The writes that count `requests`, all of them in one box.
pub(in super::super) fn encode(part: Part, unit: UnitId, requests: &[&Request<'_>]) -> Result<Vec<Programming>, Error> {
    let mut asked = requests.iter().map(|request| Asked::new(unit, request)).collect::<Result<Vec<_>, _>>()?;
    let allowed: Vec<u32> = asked.iter().map(|one| one.counters).collect();
    let counters = matched(&allowed).ok_or_else(|| too_few(unit, &asked))?;
    let filters = filters(&mut asked)?;
    let controlled = unit.kind() != Kind::Ubox;
    let last = asked.len().saturating_sub(1);
    let mut program = Vec::new();
    for (index, (one, counter)) in asked.iter_mut().zip(counters).enumerate() {
        let mut writes = Vec::new();
        if index == 0 {
            if controlled {
                writes.extend([RESET, FROZEN].map(|value| (name(unit, UnitRegister::Control, false), value)));
            }
            let filters = filters.iter().zip(0u8..);
            writes.extend(filters.filter_map(|(value, filter)| Some((name(unit, UnitRegister::Filter(filter), false), (*value)?))));
        }
        one.count_in(unit, counter, &mut writes);
        if index == last && controlled {
            // The drivers of these boxes write nothing else.
            let released = if unit.kind().has_fixed() { 0 } else { RELEASED };
            writes.push((name(unit, UnitRegister::Control, false), released));
        }
        program.push(Programming {
            event: Some(one.notation(unit)),
            counter,
            writes: writes.into_iter().filter_map(|(name, value)| x86::write(part, &name, value)).collect(),
            notes: std::mem::take(&mut one.notes),
            warnings: Vec::new(),
        });
    }
    Ok(program)
}

/// An event that was asked for.
struct Asked {
    name: String,
    words: BoxWords,
    select: u8,
    umask: u8,
    event: Option<Event>,
    fixed: bool,
    /// The counters that take it, one bit each; the fixed one follows the general ones.
    counters: u32,
    notes: Vec<String>,
}

impl Asked {
    fn new(unit: UnitId, request: &Request<'_>) -> Result<Asked, Error> {
        let kind = unit.kind();
        let (_, word) = boxed(request.event).unwrap_or_default();
        let general = (1u32 << kind.counters()) - 1;
        let mut asked = Asked {
            name: word.to_owned(),
            words: BoxWords::default(),
            select: 0,
            umask: 0,
            event: None,
            fixed: word.eq_ignore_ascii_case("fixed"),
            counters: general,
            notes: Vec::new(),
        };
        if asked.fixed {
            if !kind.has_fixed() {
                return Err(Error::usage(format!("{unit} has no fixed counter; the boxes ubox, mc and edc have")));
            }
            asked.counters = 1 << kind.counters();
        } else {
            asked.find(kind, word, &request.words)?;
        }
        let masks = asked.event.map_or(&[] as &[Entry], |(_, masks)| masks);
        for word in &request.words {
            if !asked.take(word, kind, masks)? {
                return Err(x86::unknown_word(&asked.name, word, masks, &MODIFIERS, THERE_ARE));
            }
        }
        asked.settle(unit, word, general)?;
        Ok(asked)
    }

    /// The event of this name or code. Where the box and its mesh stop share a name, it is the one that has a unit mask called like one
    /// of `words`, or else the box's own.
    fn find(&mut self, kind: Kind, word: &str, words: &[&str]) -> Result<(), Error> {
        if let Some(code) = select::raw(word) {
            self.select =
                u8::try_from(code).map_err(|_| Error::usage(format!("`{word}` is not an event select of a box: it has 8 bits")))?;
            self.event = event(kind, self.select).filter(|_| kind != Kind::Pcu);
            if self.event.is_none() {
                self.notes.push(RESERVED.to_owned());
            }
            return Ok(());
        }
        let named: Vec<&'static Entry> = events(kind).filter(|event| event.is_called(word)).collect();
        let has_mask = |event: &&&'static Entry| KNL.masks(event).iter().any(|mask| words.iter().any(|word| mask.is_called(word)));
        let Some(found) = named.iter().find(has_mask).or(named.first()).copied() else {
            let names = events(kind).flat_map(|event| std::iter::once(event.name).chain(event.aliases.iter().copied()));
            let otherwise = format!("`pmulab list --pmu knl --unit {}` shows them", kind.unit());
            let hint = suggest::did_you_mean(word, names, &otherwise);
            return Err(Error::usage(format!("no event of {} is called `{word}`{hint}", kind.unit())));
        };
        self.name = found.name.to_owned();
        // A select of a catalogue of this part has eight bits below that of its unit.
        self.select = (found.select & 0xff) as u8;
        self.event = Some((found, KNL.masks(found)));
        Ok(())
    }

    fn take(&mut self, word: &str, kind: Kind, masks: &[Entry]) -> Result<bool, Error> {
        let ordinal = self.event.is_some_and(|(event, _)| event.shape == UnitMask::Ordinal);
        let bits = match (masks.iter().find(|mask| mask.is_called(word)), select::raw(word)) {
            (Some(mask), _) => u64::from(mask.umask.unwrap_or(0)),
            (None, Some(bits)) if !self.fixed => bits,
            _ => return self.words.modify(word, kind).map_err(Error::usage),
        };
        let bits = u8::try_from(bits).map_err(|_| Error::usage(format!("`{word}` is not a unit mask: it has 8 bits")))?;
        let umask = &mut self.words.common.umask;
        if ordinal && umask.is_some_and(|before| before != bits) {
            return Err(Error::usage(format!("{} counts one of its unit masks at a time", self.name)));
        }
        *umask = Some(umask.unwrap_or(0) | bits);
        Ok(true)
    }

    /// What was said together: what cannot be counted so, where it can, and what may surprise.
    fn settle(&mut self, unit: UnitId, word: &str, general: u32) -> Result<(), Error> {
        let kind = unit.kind();
        if self.fixed {
            let words = &self.words.common;
            let odd = [(words.edge, "edge"), (words.invert, "inv"), (words.at_least != 0, "cmask"), (self.words.pmc.is_some(), "pmc")];
            if let Some((_, word)) = odd.iter().find(|(is_set, _)| *is_set) {
                return Err(Error::usage(format!("a fixed counter counts the clock of its box, and has no {word}")));
            }
            self.advise_on_interrupt();
            return Ok(());
        }
        self.umask = match (self.words.common.umask, self.event) {
            (Some(umask), _) => umask,
            (None, Some(event)) if select::raw(word).is_none() => x86::default_mask(event, &mut self.notes)?,
            (None, _) => 0,
        };
        let excess = self.control() & !writable(kind);
        if excess != 0 {
            return Err(Error::usage(format!("the controls of {unit} have no bits {excess:#x}")));
        }
        if let Some((event, _)) = self.event {
            self.counters = event.counters & general;
        }
        if let Some(pmc) = self.words.pmc {
            if self.counters >> pmc & 1 == 0 {
                let there: Vec<String> =
                    (0..4).filter(|counter| self.counters >> counter & 1 == 1).map(|counter| counter.to_string()).collect();
                return Err(Error::usage(format!("{} cannot be counted in counter {pmc}; it can in {}", self.name, there.join(", "))));
            }
            self.counters = 1 << pmc;
        }
        self.settle_filters(kind)?;
        if let Some(event) = self.event {
            x86::advise_on_mask(event, self.umask.into(), &mut self.notes);
            if has_no_agent_1(kind) && event.0.name.contains("AG1") {
                self.notes.push("the mesh stop of this box has no agent 1: it stays 0".to_owned());
            }
        }
        let common = &self.words.common;
        if common.at_least == 0 && common.invert {
            self.notes.push("inv means nothing without cmask".to_owned());
        }
        let most = most_per_clock(kind, self.select, self.umask);
        if !common.invert && u32::from(common.at_least) > most {
            self.notes.push(format!("no clock has {} of them: {most} is the most", common.at_least));
        }
        self.advise_on_interrupt();
        Ok(())
    }

    fn settle_filters(&mut self, kind: Kind) -> Result<(), Error> {
        let filter = filtered_by(kind, self.select);
        if self.words.narrows_requests() && filter != CoherenceFilter::Opcode {
            return Err(Error::usage(format!("{} cannot be filtered by opcode; TOR_INSERTS and TOR_OCCUPANCY can", self.name)));
        }
        if self.words.states.is_some() && filter != CoherenceFilter::State {
            return Err(Error::usage(format!("{} cannot be filtered by state of the snoop filter; SF_LOOKUP can", self.name)));
        }
        if filter == CoherenceFilter::State && self.words.states.is_none() {
            self.words.states = Some(0b111);
            self.notes.push("no state was given: all three are counted".to_owned());
        }
        if self.words.by_thread && self.words.thread.is_none() {
            self.notes.push("tid without a thread: filter 0 is left to name it".to_owned());
        }
        Ok(())
    }

    fn advise_on_interrupt(&mut self) {
        match (self.words.common.interrupt, self.words.common.period) {
            (true, _) => {
                self.notes.push("an overflow freezes every box, and interrupts the tiles that U_MSR_PMON_GLOBAL_CTL names".to_owned());
            }
            (false, Some(_)) => self.notes.push("without `int` the overflow is not reported to the UBox".to_owned()),
            (false, None) => {}
        }
    }

    fn control(&self) -> u64 {
        self.words.control(self.select, self.umask)
    }

    /// Adds the writes of its own counter.
    fn count_in(&self, unit: UnitId, counter: u32, writes: &mut Vec<(String, u64)>) {
        let counter = (counter & 7) as u8;
        let (value, control) = if self.fixed {
            (UnitRegister::Fixed, UnitRegister::FixedControl)
        } else {
            (UnitRegister::Counter(counter), UnitRegister::CounterControl(counter))
        };
        let start = self.words.common.period.map(|period| (1u64 << LIMITS.bits) - period);
        // Where there is a control of the box, it has cleared the counters.
        if let Some(start) = start.or((unit.kind() == Kind::Ubox).then_some(0)) {
            if unit.kind().is_pci() {
                writes.push((name(unit, value, true), start >> 32));
                writes.push((name(unit, value, false), start & 0xffff_ffff));
            } else {
                writes.push((name(unit, value, false), start));
            }
        }
        writes.push((name(unit, control, false), if self.fixed { self.fixed_control(unit.kind()) } else { self.control() }));
    }

    fn fixed_control(&self, kind: Kind) -> u64 {
        let enable = if kind == Kind::Ubox { 1 << 22 } else { 1 };
        let words = &self.words.common;
        if words.disabled { 0 } else { enable | u64::from(words.interrupt) << 20 }
    }

    /// The event with everything spelt out.
    fn notation(&self, unit: UnitId) -> String {
        let text = if self.fixed {
            let words = &self.words.common;
            let flags: String = [(words.interrupt, ":int"), (words.disabled, ":noen")]
                .iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, word)| *word)
                .collect();
            format!("{unit}::FIXED{flags}")
        } else {
            said(unit, CounterControl::written(self.control()))
        };
        format!("{text}{}", self.words.suffix())
    }
}

/// EDCs, memory controllers and the UBox have one agent at their mesh stop (chapter 6).
fn has_no_agent_1(kind: Kind) -> bool {
    kind.has_fixed()
}

/// The two filters of a CHA, as far as the events want something of them.
fn filters(asked: &mut [Asked]) -> Result<[Option<u64>; 2], Error> {
    let (mut first, mut second): (Option<u64>, Option<u64>) = (None, None);
    for one in asked.iter().filter(|one| !one.fixed) {
        one.words.fill_filter0(&mut first, one.words.states).map_err(Error::usage)?;
        if one.event.is_some_and(|(event, _)| event.filter == CoherenceFilter::Opcode) {
            let wanted = one.words.filter1();
            if second.is_some_and(|before| before != wanted) {
                return Err(Error::usage("the events of a CHA share filter 1: opcodes are the same for all of them".to_owned()));
            }
            second = Some(wanted);
        }
    }
    Ok([first, second])
}

fn too_few(unit: UnitId, asked: &[Asked]) -> Error {
    let one = |one: &Asked| {
        let there: Vec<String> = (0..5).filter(|counter| one.counters >> counter & 1 == 1).map(|counter| counter.to_string()).collect();
        format!("{} in {}", one.name, there.join(" "))
    };
    let words: Vec<String> = asked.iter().map(one).collect();
    Error::usage(format!("{unit} has too few counters that take these together: {}", words.join(", ")))
}
