//! From words to the writes that count events.

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{CounterSet, Drive, Entry, ITANIUM, Internal, Qualifiers, UnitMask};
use vm_pmu::arch::itanium::{COUNTERS, OpcodeMatcher, Pmc, Pmc10, Pmc11};
use vm_pmu::arch::registry::Part;

use super::LIMITS;
use super::selection::notation;
use crate::dialect::Programming;
use crate::dialect::ia64::captures::{Captured, Captures, Choice};
use crate::dialect::ia64::place::{Want, named, place};
use crate::dialect::ia64::ranges::{Opcode, Range, pair};
use crate::dialect::ia64::words::{Words, default_mask};
use crate::dialect::ia64::{injected, write};
use crate::dialect::matching::rivals;
use crate::dialect::select::{self, Request};
use crate::error::Error;

/// pt of PMC11.
const PASS_TAGS: u64 = 1 << 28;
/// What PMC10 captures, in the words of libpfm4: mode and unit mask (tables 6-13 and 6-15).
const FETCHES: [Choice; 14] = [
    Choice::new("CACHE_LAT4", 0, 0),
    Choice::new("CACHE_LAT8", 0, 1),
    Choice::new("CACHE_LAT16", 0, 2),
    Choice::new("CACHE_LAT32", 0, 3),
    Choice::new("CACHE_LAT64", 0, 4),
    Choice::new("CACHE_LAT128", 0, 5),
    Choice::new("CACHE_LAT256", 0, 6),
    Choice::new("CACHE_LAT512", 0, 7),
    Choice::new("CACHE_LAT1024", 0, 8),
    Choice::new("CACHE_LAT2048", 0, 9),
    Choice::new("CACHE_LAT4096", 0, 10),
    Choice::new("CACHE_LAT_NONE", 0, 15),
    Choice::new("TLB_VHPT", 1, 4),
    Choice::new("TLB_SW", 1, 8),
];
/// What PMC11 captures: unit mask 7 is not used.
const ACCESSES: [Choice; 14] = [
    Choice::new("CACHE_LAT4", 0, 0),
    Choice::new("CACHE_LAT8", 0, 1),
    Choice::new("CACHE_LAT16", 0, 2),
    Choice::new("CACHE_LAT32", 0, 3),
    Choice::new("CACHE_LAT64", 0, 4),
    Choice::new("CACHE_LAT128", 0, 5),
    Choice::new("CACHE_LAT256", 0, 6),
    Choice::new("CACHE_LAT512", 0, 8),
    Choice::new("CACHE_LAT1024", 0, 9),
    Choice::new("CACHE_LAT2048", 0, 10),
    Choice::new("CACHE_LAT_NONE", 0, 15),
    Choice::new("TLB_L2", 1, 2),
    Choice::new("TLB_VHPT", 1, 4),
    Choice::new("TLB_SW", 1, 8),
];
/// Every counter, one bit each.
const EVERY: u32 = 0xF0;
/// The bits of an encoding that the matchers do not see.
const UNSEEN: u64 = 0x07FF_E000;

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
    let counters = place(&wants).ok_or_else(|| {
        if let Some((one, other)) = rivals(wants.iter().map(|want| want.counters)) {
            let name = |at: usize| asked.get(at).map_or_else(String::new, Asked::name);
            let counter = named(wants.get(one).map_or(0, |want| want.counters));
            return Error::usage(format!("{} and {} both need {counter}", name(one), name(other)));
        }
        let words: Vec<String> =
            asked.iter().zip(&wants).map(|(one, want)| format!("{} in {}", one.name(), named(want.counters))).collect();
        Error::usage(format!("there are too few counters that take these together: {}", words.join(", ")))
    })?;
    let shared = constraints(&asked)?;
    let last = asked.len().saturating_sub(1);
    let mut program = Vec::new();
    for (index, (one, counter)) in asked.iter_mut().zip(counters).enumerate() {
        one.advise(counter);
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
        let es = u8::try_from(found.select).ok().filter(|es| *es < 0x80);
        let es = es.ok_or_else(|| Error::usage(format!("`{}` is not an event select of {}: it has 7 bits", request.event, part.name())))?;
        let mut notes = Vec::new();
        let (shape, masks) = found.entry.map_or((UnitMask::None, &[] as &[Entry]), |(event, masks)| (event.shape, masks));
        let name = found.entry.map_or(request.event, |(event, _)| event.name);
        let words = Words::read(&request.words, name, shape, masks, &LIMITS)?;
        let umask = match (words.umask, found.entry) {
            (Some(umask), _) => umask,
            (None, Some((event, _))) if select::raw(request.event).is_none() => default_mask(event, masks, &mut notes)?,
            (None, _) => 0,
        };
        let entry =
            found.entry.map(|(event, _)| (event, masks.iter().find(|mask| mask.is_chosen_by(umask.into(), shape)).unwrap_or(event)));
        Ok(Asked { words, es, umask, entry, notes })
    }

    fn name(&self) -> String {
        self.entry.map_or_else(|| format!("{:#04x}", self.es), |(_, picked)| picked.name.to_owned())
    }

    fn want(&self) -> Result<Want, Error> {
        let mut counters = self.entry.map_or(EVERY, |(event, _)| event.counters);
        if let Some(pmc) = self.words.pmc {
            if counters >> pmc & 1 == 0 {
                return Err(Error::usage(format!("{} cannot be counted in PMC{pmc}; it can in {}", self.name(), named(counters))));
            }
            counters = 1 << pmc;
        }
        Ok(Want { counters, rightly: counters, set: CounterSet::None, shared: (0, false) })
    }

    fn register(&self) -> Pmc {
        let words = &self.words;
        let mut pmc = Pmc::default();
        pmc.set_es(self.es);
        pmc.set_umask(self.umask);
        pmc.set_plm(words.levels());
        pmc.set_pm(words.pm);
        pmc.set_oi(words.oi);
        pmc.set_ev(words.ev);
        pmc.set_threshold(words.threshold);
        pmc.set_ism(words.ism.unwrap_or(LIMITS.ism));
        pmc
    }

    /// Notes on what may surprise.
    fn advise(&mut self, counter: u32) {
        let notes = &mut self.notes;
        let Some((event, picked)) = self.entry else {
            notes.push("no event has this code: nothing is counted".to_owned());
            return;
        };
        if picked.umask.is_none() && !ITANIUM.masks(event).is_empty() {
            notes.push(format!("{:#x} is not a unit mask of {}: nothing is counted", self.umask, event.name));
        }
        notes.extend(injected(picked));
        let (most, threshold) = (picked.max_per_cycle, self.words.threshold);
        if u32::from(threshold) >= most && threshold > 0 {
            notes.push(format!("no cycle has more than {threshold} of them: {most} is the most"));
        } else if counter > 5 && threshold > 3 {
            notes.push(format!("PMC{counter} keeps two bits of a threshold"));
        }
        self.words.advise_on_period(&LIMITS, notes);
    }
}

/// The registers that constrain counts: ranges and data ranges are for all events alike, an opcode for the matcher that the event uses.
fn constraints(asked: &[Asked]) -> Result<Vec<(Address, u64)>, Error> {
    let mut code: Option<Range> = None;
    let mut data: Option<Range> = None;
    let mut opcodes: [Option<Opcode>; 2] = [None; 2];
    let mut plm = 0;
    for one in asked {
        let qualifiers = one.entry.map_or(Qualifiers::empty(), |(event, picked)| event.qualifiers | picked.qualifiers);
        let refuse = |what: &str| Error::usage(format!("{} cannot be constrained by {what}", one.name()));
        if let Some(range) = one.words.code {
            if !qualifiers.contains(Qualifiers::INSTRUCTION_ADDRESS) {
                return Err(refuse("the addresses of instructions"));
            }
            alike(&mut code, range, "range of code")?;
        }
        if let Some(range) = one.words.data {
            if !qualifiers.contains(Qualifiers::DATA_ADDRESS) {
                return Err(refuse("the addresses of data"));
            }
            alike(&mut data, range, "range of data")?;
        }
        if let Some(pattern) = one.words.opcode {
            if !qualifiers.contains(Qualifiers::OPCODE) {
                return Err(refuse("opcodes"));
            }
            let second = matches!(one.entry, Some((_, picked)) if picked.drive == Drive::Internal(Internal::TaggedInstructions(1)));
            alike(&mut opcodes[usize::from(second)], pattern, "pattern for an opcode matcher")?;
        }
        plm |= one.words.levels();
    }
    let mut writes = Vec::new();
    for (range, of) in [(code, Address::Ibr as fn(u8) -> Address), (data, Address::Dbr)] {
        let Some(range) = range else { continue };
        if !range.is_coarse() {
            return Err(Error::usage(format!("{range} fits no pair of registers: it holds a power of two at a multiple of that")));
        }
        writes.extend(pair(0, of).into_iter().zip(range.coarse(plm)));
    }
    writes.extend(captures(asked)?);
    for (number, pattern) in (8u8..).zip(opcodes) {
        let Some(pattern) = pattern else { continue };
        if pattern.ignored & UNSEEN != UNSEEN {
            return Err(Error::usage(format!("opcode={pattern} compares bits 26:13, which the matchers of this part do not see")));
        }
        writes.push((Address::Pmc(number), matcher(pattern)));
    }
    if data.is_some() {
        // A range of data constrains in the register that says what is captured.
        match writes.iter_mut().find(|(address, _)| *address == Address::Pmc(11)) {
            Some((_, bits)) => *bits &= !PASS_TAGS,
            None => writes.push((Address::Pmc(11), Pmc11::default().bits())),
        }
    }
    if code.is_some() {
        writes.push((Address::Pmc(13), 0));
    }
    Ok(writes)
}

/// PMC10 and PMC11, where events say what is to be captured.
fn captures(asked: &[Asked]) -> Result<Vec<(Address, u64)>, Error> {
    let mut kept = Captures::default();
    for one in asked {
        let Some(ear) = &one.words.ear else { continue };
        let captured = kept.add(one.entry.map_or("", |(event, _)| event.name), ear, &FETCHES, &ACCESSES)?;
        let (plm, ism) = (one.words.levels(), one.words.ism.unwrap_or(LIMITS.ism));
        match captured {
            Captured::Fetches(Choice { mode, umask, .. }) => {
                let mut pmc = Pmc10::default();
                pmc.set_plm(plm);
                pmc.set_pm(one.words.pm);
                pmc.set_tlb(mode == 1);
                pmc.set_umask(umask);
                pmc.set_ism(ism);
                kept.write(Address::Pmc(10), pmc.bits())?;
            }
            Captured::Accesses(Choice { mode, umask, .. }) => {
                let mut pmc = Pmc11::default();
                pmc.set_plm(plm);
                pmc.set_pm(one.words.pm);
                pmc.set_tlb(mode == 1);
                pmc.set_umask(umask);
                pmc.set_ism(ism);
                pmc.set_pt(true);
                kept.write(Address::Pmc(11), pmc.bits())?;
            }
        }
    }
    Ok(kept.writes)
}

/// The register of a matcher: bits 40:27 and 12:0 of an encoding.
fn matcher(pattern: Opcode) -> u64 {
    let packed = |bits: u64| (bits >> 27 << 13 | bits & 0x1FFF) as u32;
    let mut pmc = OpcodeMatcher::default();
    pmc.set_mask(packed(pattern.ignored));
    pmc.set_value(packed(pattern.value));
    pmc.bits() | u64::from(pattern.slots) << 60
}

/// What all events share: one thing, asked of all that ask for any.
fn alike<T: Copy + PartialEq>(kept: &mut Option<T>, asked: T, what: &str) -> Result<(), Error> {
    if kept.replace(asked).is_some_and(|before| before != asked) {
        return Err(Error::usage(format!("there is one {what}: give each event the same")));
    }
    Ok(())
}
