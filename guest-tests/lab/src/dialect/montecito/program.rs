//! From words to the writes that count events (Montecito manual, sections 3.3.2, 4.8.2 and 4.8.4).

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{AllThreads, Attribution, CounterSet, Entry, MONTECITO, UnitMask};
use vm_pmu::arch::montecito::{COUNTERS, Pmc};
use vm_pmu::arch::registry::Part;

use super::qualify::Qualification;
use super::selection::{EVERY_STATE, FIRST_BANKED, notation, selected};
use super::{LIMITS, capture};
use crate::dialect::Programming;
use crate::dialect::ia64::place::{self, Want, named};
use crate::dialect::ia64::words::{Words, default_mask};
use crate::dialect::ia64::{injected, write};
use crate::dialect::matching::rivals;
use crate::dialect::select::{self, Request};
use crate::error::Error;

/// The counters that go on while their thread is in the background, one bit each.
const GOING_ON: u32 = 0x03F0;
/// Every counter.
const EVERY: u32 = 0xFFF0;

/// An event that was asked for.
struct Asked {
    words: Words,
    es: u8,
    umask: u8,
    entry: Option<(&'static Entry, &'static Entry)>,
    notes: Vec<String>,
}

/// The writes that count `requests`.
pub(super) fn encode(part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
    if requests.len() > COUNTERS {
        return Err(Error::usage(format!("{} events are too many: {} has {COUNTERS} counters", requests.len(), part.name())));
    }
    let mut asked = requests.iter().map(|request| Asked::new(part, request)).collect::<Result<Vec<_>, _>>()?;
    let wants: Vec<Want> = asked.iter().map(Asked::want).collect::<Result<_, _>>()?;
    check(&asked, &wants)?;
    let counters = place::place(&wants).ok_or_else(|| too_few(&asked, &wants))?;
    let mut qualification = Qualification::default();
    for one in &asked {
        if let Some((event, picked)) = one.entry {
            qualification.add(event, picked, &one.words)?;
        } else if one.words.code.is_some() || one.words.data.is_some() || one.words.opcode.is_some() {
            return Err(Error::usage(format!("{:#04x} is not an event that can be constrained", one.es)));
        }
    }
    let mut shared = qualification.writes()?;
    shared.extend(capture::writes(asked.iter().map(|one| (one.entry.map_or("", |(event, _)| event.name), &one.words)))?);
    let last = asked.len().saturating_sub(1);
    let mut program = Vec::new();
    for (index, (one, counter)) in asked.iter_mut().zip(counters).enumerate() {
        one.advise(counter, &qualification);
        let pmc = one.register();
        let number = counter as u8;
        let mut writes = Vec::new();
        if index == 0 {
            // Everything is stopped while it is set up.
            writes.push((Address::Pmc(0), 1));
            writes.extend(shared.iter().copied());
        }
        let preload = one.words.period.map_or(0, |period| LIMITS.range() - period);
        writes.extend([(Address::Pmd(number), preload), (Address::Pmc(number), pmc.bits())]);
        if index == last {
            writes.push((Address::Pmc(0), 0));
        }
        program.push(Programming {
            event: notation(pmc.bits()).map(|text| format!("{text}{}", one.words.suffix())),
            counter,
            writes: writes.into_iter().filter_map(|(address, value)| write(part, address, value)).collect(),
            notes: std::mem::take(&mut one.notes),
            warnings: Vec::new(),
        });
    }
    Ok(program)
}

impl Asked {
    fn new(part: Part, request: &Request<'_>) -> Result<Asked, Error> {
        let found = select::event(part, request.event)?;
        let es = u8::try_from(found.select)
            .map_err(|_| Error::usage(format!("`{}` is not an event select of {}: it has 8 bits", request.event, part.name())))?;
        let mut notes = Vec::new();
        let (shape, masks) = found.entry.map_or((UnitMask::None, &[] as &[Entry]), |(event, masks)| (event.shape, masks));
        let name = found.entry.map_or(request.event, |(event, _)| event.name);
        let words = Words::read(&request.words, name, shape, masks, &LIMITS)?;
        let umask = match (words.umask, found.entry) {
            (Some(umask), _) => umask,
            (None, Some((event, _))) if select::raw(request.event).is_none() => default_mask(event, masks, &mut notes)?,
            (None, _) => 0,
        };
        let picked = |event: &'static Entry| {
            let mut pmc = Pmc::default();
            pmc.set_es(es);
            pmc.set_umask(umask);
            selected(pmc)
                .filter(|(found, _)| found.name == event.name)
                .and_then(|(_, mask)| mask)
                .unwrap_or_else(|| masks.iter().find(|mask| mask.is_chosen_by(umask.into(), shape)).unwrap_or(event))
        };
        let entry = found.entry.map(|(event, _)| (event, picked(event)));
        Ok(Asked { words, es, umask, entry, notes })
    }

    fn name(&self) -> String {
        self.entry.map_or_else(|| format!("{:#04x}", self.es), |(_, picked)| picked.name.to_owned())
    }

    /// What it asks of its counter.
    fn want(&self) -> Result<Want, Error> {
        let (mut counters, set) = self.entry.map_or((EVERY, CounterSet::None), |(event, _)| (event.counters, event.set));
        if self.words.all {
            if self.entry.is_some_and(|(_, picked)| picked.all_threads == AllThreads::Never) {
                return Err(Error::usage(format!("{} cannot be counted for all threads of the core", self.name())));
            }
            counters &= GOING_ON;
        }
        if let Some(pmc) = self.words.pmc {
            if counters >> pmc & 1 == 0 {
                let there = named(counters);
                let all = if self.words.all { " for all threads" } else { "" };
                return Err(Error::usage(format!("{} cannot be counted{all} in PMC{pmc}; it can in {there}", self.name())));
            }
            counters = 1 << pmc;
        }
        if counters == 0 {
            return Err(Error::usage(format!("no counter takes {} for all threads", self.name())));
        }
        let in_background = self.entry.is_some_and(|(event, picked)| {
            picked.attribution != Attribution::Active && event.name != "CPU_OP_CYCLES" && counters & GOING_ON != 0
        });
        let rightly = if in_background && self.words.pmc.is_none() { counters & GOING_ON } else { counters };
        Ok(Want { counters, rightly, set, shared: (self.umask, self.words.all) })
    }

    /// The register of its counter.
    fn register(&self) -> Pmc {
        let words = &self.words;
        let by_state = self.entry.is_some_and(|(event, _)| event.by_line_state);
        let mut pmc = Pmc::default();
        pmc.set_es(self.es);
        pmc.set_umask(self.umask);
        pmc.set_plm(words.levels());
        pmc.set_pm(words.pm);
        pmc.set_oi(words.oi);
        pmc.set_ev(words.ev);
        pmc.set_all(words.all);
        pmc.set_threshold(words.threshold);
        pmc.set_ism(words.ism.unwrap_or(LIMITS.ism));
        pmc.set_mesi(words.mesi.unwrap_or(if by_state { EVERY_STATE } else { 0 }));
        pmc
    }

    /// Notes on what may surprise.
    fn advise(&mut self, counter: u32, qualification: &Qualification) {
        let notes = &mut self.notes;
        let Some((event, picked)) = self.entry else {
            notes.push("no event has this code: nothing is counted".to_owned());
            return;
        };
        if picked.umask.is_none() && !MONTECITO.masks(event).is_empty() {
            notes.push(format!("{:#x} is not a unit mask of {}: nothing is counted", self.umask, event.name));
        }
        notes.extend(injected(picked));
        if counter >= FIRST_BANKED && picked.attribution == Attribution::Floating {
            notes.push(format!("PMD{counter} misses what comes about while its thread is in the background"));
        }
        let most = picked.max_per_cycle;
        if u32::from(self.words.threshold) >= most && self.words.threshold > 0 {
            notes.push(format!("no cycle has more than {} of them: {most} is the most", self.words.threshold));
        }
        match (self.words.mesi, event.by_line_state) {
            (Some(0), true) => notes.push("lines in no state: nothing is counted".to_owned()),
            (Some(_), false) => notes.push("mesi means nothing: the event does not go by states of lines".to_owned()),
            _ => {}
        }
        self.words.advise_on_period(&LIMITS, notes);
        qualification.advise(picked, &self.words, notes);
    }
}

/// What cannot be counted together, however it is placed.
fn check(asked: &[Asked], wants: &[Want]) -> Result<(), Error> {
    let of_first: Vec<(&Asked, u8)> = asked
        .iter()
        .zip(wants)
        .filter_map(|(one, want)| match want.set {
            CounterSet::L1Data(set) => Some((one, set)),
            _ => None,
        })
        .collect();
    if let Some((first, set)) = of_first.first()
        && let Some((other, another)) = of_first.iter().find(|(_, another)| another != set)
    {
        return Err(Error::usage(format!(
            "{} (set {set} of the first-level data cache) and {} (set {another}) cannot be counted together",
            first.name(),
            other.name()
        )));
    }
    let groups = place::groups(wants);
    if groups.len() > 2 {
        return Err(Error::usage(format!(
            "events of the second-level data cache make {} groups of one set and unit mask, and PMC4 and PMC6 lead two",
            groups.len()
        )));
    }
    let cancels = |one: &&Asked| matches!(one.entry, Some((event, _)) if event.name.starts_with("L2D_OZQ_CANCELS"));
    let mut codes: Vec<u8> = asked.iter().filter(cancels).map(|one| one.es).collect();
    codes.dedup();
    if codes.len() > 1 {
        return Err(Error::usage("L2D_OZQ_CANCELS0 and L2D_OZQ_CANCELS1 cannot be counted together".to_owned()));
    }
    Ok(())
}

fn too_few(asked: &[Asked], wants: &[Want]) -> Error {
    if let Some((one, other)) = rivals(wants.iter().map(|want| want.counters)) {
        let name = |at: usize| asked.get(at).map_or_else(String::new, Asked::name);
        let counter = named(wants.get(one).map_or(0, |want| want.counters));
        return Error::usage(format!("{} and {} both need {counter}", name(one), name(other)));
    }
    let words: Vec<String> = asked.iter().zip(wants).map(|(one, want)| format!("{} in {}", one.name(), leading(want))).collect();
    Error::usage(format!("there are too few counters that take these together: {}", words.join(", ")))
}

/// Where an event can be, in words.
fn leading(want: &Want) -> String {
    match want.set {
        CounterSet::None => named(want.counters),
        CounterSet::L1Data(_) => format!("{} with one of its set in PMC5", named(want.counters)),
        CounterSet::L2Data(_) => "PMC4, 5 and 8 or PMC6, 7 and 9, led by the first of them".to_owned(),
    }
}
