//! From words to the writes that count events (POWER9 PMU User's Guide, sections 5.15 and 5.16).

use vm_pmu::arch::event::POWER9;
use vm_pmu::arch::power9::encode::{self, Encoding, EventCode, Options};
use vm_pmu::arch::power9::{COUNTERS, CounterFreezes, Mmcr0, Mmcra};
use vm_pmu::arch::registry::Part;

use super::codes_of;
use super::selection::{Counted, FIXED};
use super::{NEGATIVE, posted};
use crate::dialect::letters;
use crate::dialect::select::{self, Request};
use crate::dialect::{Programming, Write, unsupplied_note};
use crate::error::Error;
use crate::{number, suggest};

/// Every modifier, for suggestions.
const MODIFIERS: [&str; 11] = ["u", "k", "h", "ukh", "run", "e", "edge", "int", "ebb", "pmc=1", "period=100000"];
/// What a mistaken modifier is answered with.
const THERE_ARE: &str = "modifiers are u, k, h, run, e, int, ebb, pmc=N, reload=N, period=N";
/// The modifiers.
pub(super) const TAKES: &str = "u, k, h, run, e, int, ebb, pmc=N, reload=N, period=N";
/// What is said about a code that no event has.
const UNKNOWN: &str = "no event of the catalogue has this code: it counts what is injected for it";

/// The writes that count `requests`; what is posted needs none.
pub(super) fn encode(part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
    let posted = requests.iter().map(|request| posted(part, request)).collect::<Result<Vec<_>, _>>()?;
    let coded: Vec<&Request<'_>> =
        requests.iter().zip(&posted).filter(|(_, posted)| posted.is_none()).map(|(request, _)| request).collect();
    let mut counted = if coded.is_empty() && !posted.is_empty() { Vec::new() } else { program(part, &coded)? }.into_iter();
    Ok(posted.into_iter().filter_map(|posted| posted.or_else(|| counted.next())).collect())
}

/// How an event is counted that is posted into memory; nothing for one that has a code.
fn posted(part: Part, request: &Request<'_>) -> Result<Option<Programming>, Error> {
    let event = match posted::noted(request.event) {
        Some(event) => Some(event),
        None if select::raw(request.event).is_some() => None,
        // With a unit before the name, the name is searched there; any other mistake is that of a code.
        None if request.event.contains("::") => select::event(part, request.event)?.entry.map(|(event, _)| event),
        None => POWER9.event_named(request.event),
    };
    event.filter(|event| event.offset.is_some()).map(|event| posted::encode(event, request)).transpose()
}

/// The writes that count events with codes.
fn program(part: Part, requests: &[&Request<'_>]) -> Result<Vec<Programming>, Error> {
    if requests.len() > COUNTERS {
        return Err(Error::usage(format!("{} events are too many: {} has {COUNTERS} counters", requests.len(), part.name())));
    }
    let asked = requests.iter().map(|request| Asked::new(part, request)).collect::<Result<Vec<_>, _>>()?;
    one_alert(&asked)?;
    let (codes, encoding) = together(&asked)?;
    let registers = Registers::new(&asked, &encoding);
    let last = asked.len().saturating_sub(1);
    let program = asked.iter().zip(codes).enumerate().map(|(index, (one, code))| {
        let counter = encoding.counter_of(index).unwrap_or_default();
        let mut writes = Vec::new();
        if index == 0 {
            writes.extend(registers.stop.iter().copied());
        }
        writes.push((pmc_name(counter), one.words.period.map_or(0, |period| NEGATIVE - period)));
        if index == last {
            writes.extend(registers.start.iter().copied());
        }
        let counted = Counted::of(code.on_counter(counter));
        Programming {
            event: Some(format!("{}{}", counted.notation(), one.words.suffix())),
            counter: counter.into(),
            writes: writes.into_iter().filter_map(|(name, value)| write(part, name, value)).collect(),
            notes: one.notes(code, &counted),
            warnings: Vec::new(),
        }
    });
    Ok(program.collect())
}

/// Refuses events of which some alert by an interrupt and some by an event-based branch: MMCR0\[EBE] decides for all (decision P25).
fn one_alert(asked: &[Asked]) -> Result<(), Error> {
    let named = |has: fn(&Words) -> bool| asked.iter().find(|one| has(&one.words)).map(|one| &one.name);
    match (named(|words| words.interrupt), named(|words| words.branch)) {
        (Some(interrupts), Some(branches)) => {
            let which = if interrupts == branches { "`int` and `ebb`" } else { &format!("`{interrupts}:int` and `{branches}:ebb`") };
            Err(Error::usage(format!("{which} exclude each other: MMCR0[EBE] makes every alert a branch")))
        }
        _ => Ok(()),
    }
}

/// The counters of a code, for a message.
fn pmc_words(pmc: u8) -> &'static str {
    if pmc == 0 { "PMC1-4" } else { pmc_name(pmc) }
}

fn pmc_name(counter: u8) -> &'static str {
    match counter {
        1 => "PMC1",
        2 => "PMC2",
        3 => "PMC3",
        4 => "PMC4",
        5 => "PMC5",
        _ => "PMC6",
    }
}

fn write(part: Part, name: &str, value: u64) -> Option<Write> {
    select::registers(part).iter().find(|register| register.name == name).map(|register| Write { register, value })
}

/// What the words after an event ask for.
#[derive(Debug, Default)]
struct Words {
    /// Problem state, privileged state without MSR[HV], hypervisor state; every one if nothing is said.
    states: Option<[bool; 3]>,
    run: bool,
    falls: bool,
    interrupt: bool,
    branch: bool,
    pmc: Option<u8>,
    reload: Option<u8>,
    period: Option<u64>,
}

impl Words {
    /// Takes a modifier; whether it was one.
    fn modify(&mut self, word: &str) -> Result<bool, String> {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "run" => self.run = true,
            "e" | "edge" => self.falls = true,
            "int" => self.interrupt = true,
            "ebb" => self.branch = true,
            states if !states.is_empty() && letters::are_of(states, "ukh") => {
                letters::once(states)?;
                let before = self.states.unwrap_or_default();
                self.states =
                    Some([('u', before[0]), ('k', before[1]), ('h', before[2])].map(|(letter, was)| was || states.contains(letter)));
            }
            other => match other.split_once('=') {
                Some(("pmc", pmc)) => {
                    let pmc = number::parse(pmc).and_then(|pmc| u8::try_from(pmc).ok()).filter(|pmc| (1..=6).contains(pmc));
                    self.pmc = Some(pmc.ok_or(format!("`{word}` is not a counter: there are PMC1 to PMC6"))?);
                }
                Some(("reload", reload)) => {
                    let reload = number::parse(reload).and_then(|reload| u8::try_from(reload).ok()).filter(|reload| *reload < 4);
                    self.reload = Some(reload.ok_or(format!("`{word}` is no RELOAD_QUAL: it is 0 to 3"))?);
                }
                Some(("period", period)) => {
                    let period = number::parse(period).filter(|period| (1..=NEGATIVE).contains(period));
                    self.period = Some(period.ok_or(format!("`{word}` is not a period: it is a number from 1 to 2^31"))?);
                }
                _ => return Ok(false),
            },
        }
        Ok(true)
    }

    /// The modifiers that the notation of the code does not have.
    fn suffix(&self) -> String {
        let mut text = String::new();
        if let Some(reload) = self.reload {
            text.push_str(&format!(":reload={reload}"));
        }
        if let Some(states) = self.states {
            text.push(':');
            text.extend(states.into_iter().zip(['u', 'k', 'h']).filter(|(is_counted, _)| *is_counted).map(|(_, letter)| letter));
        }
        for (is_set, word) in [(self.run, ":run"), (self.interrupt, ":int"), (self.branch, ":ebb")] {
            text.push_str(if is_set { word } else { "" });
        }
        if let Some(period) = self.period {
            text.push_str(&format!(":period={period}"));
        }
        text
    }

    /// The freezes of its counter.
    fn freezes(&self) -> CounterFreezes {
        let mut freezes = CounterFreezes::default();
        if let Some([problem, privileged, hypervisor]) = self.states {
            freezes.set_fcp(!problem);
            freezes.set_fcs(!privileged);
            freezes.set_fch(!hypervisor);
        }
        freezes.set_fcwait(self.run);
        freezes
    }

    fn alerts(&self) -> bool {
        self.interrupt || self.branch
    }
}

/// An event that was asked for.
#[derive(Debug)]
struct Asked {
    /// As it was asked for.
    name: String,
    /// The codes that count it, any of which will do.
    codes: Vec<EventCode>,
    words: Words,
}

impl Asked {
    fn new(part: Part, request: &Request<'_>) -> Result<Asked, Error> {
        // Names have points in them here, so the words are those of the text itself.
        let mut parts = request.text.strip_prefix("core::").unwrap_or(request.text).split(':');
        let event = parts.next().unwrap_or_default();
        let mut words = Words::default();
        for word in parts {
            if !words.modify(word).map_err(Error::usage)? {
                let hint = suggest::did_you_mean(word, MODIFIERS, THERE_ARE);
                return Err(Error::usage(format!("{event} has no modifier `{word}`{hint}")));
            }
        }
        let mut codes = match select::raw(event) {
            Some(code) => vec![EventCode::from_bits(code)],
            None => {
                let found = select::event(part, event)?.entry.map(|(entry, _)| entry);
                // PMC5 and PMC6 count nothing else: where they will do, the others stay free.
                let fixed = FIXED.iter().filter(|(name, _)| found.is_some_and(|entry| entry.is_called(name))).map(|(_, code)| *code);
                fixed.chain(codes_of(&POWER9, event)).collect()
            }
        };
        let mut there: Vec<&str> = codes.iter().map(|code| pmc_words(code.pmc())).collect();
        there.sort_unstable();
        there.dedup();
        if let Some(pmc) = words.pmc {
            codes = codes.into_iter().filter_map(|code| on_counter(code, pmc)).collect();
        }
        if codes.is_empty() {
            return Err(Error::usage(format!(
                "`{event}` cannot be counted on PMC{}; it can on {}",
                words.pmc.unwrap_or_default(),
                there.join(", ")
            )));
        }
        for code in &mut codes {
            if words.falls {
                code.set_pmcxsel(code.pmcxsel() | 1);
            }
            if let Some(reload) = words.reload {
                code.set_reload_qual_en(true);
                code.set_reload_qual(reload);
            }
        }
        Ok(Asked { name: event.to_owned(), codes, words })
    }

    fn notes(&self, code: EventCode, counted: &Counted) -> Vec<String> {
        let mut notes = Vec::new();
        match counted.entry {
            _ if counted.is_off() => notes.push("selector 0 is off: it counts nothing".to_owned()),
            None => notes.push(UNKNOWN.to_owned()),
            Some(entry) => notes.extend(unsupplied_note(entry.fidelity).map(str::to_owned)),
        }
        if code.mark() {
            notes.push("it counts sampled instructions only".to_owned());
        }
        match (self.words.period, self.words.alerts()) {
            (Some(_), false) => notes.push("without `int` a negative counter has no effect".to_owned()),
            (None, true) => notes.push("without a period the counter is negative after 2,147,483,648".to_owned()),
            _ => {}
        }
        notes
    }
}

/// `code` on this counter, if it can be there.
fn on_counter(code: EventCode, pmc: u8) -> Option<EventCode> {
    match code.pmc() {
        0 if pmc <= 4 => Some(code.on_counter(pmc)),
        own if own == pmc => Some(code),
        _ => None,
    }
}

/// The first choice of codes that can be counted together; where there is none, why the first of all cannot.
fn together(asked: &[Asked]) -> Result<(Vec<EventCode>, Encoding), Error> {
    let choices: usize = asked.iter().map(|one| one.codes.len()).product();
    let mut refusal = None;
    for choice in 0..choices {
        let mut rest = choice;
        let codes: Vec<EventCode> = asked
            .iter()
            .filter_map(|one| {
                let code = one.codes.get(rest % one.codes.len()).copied();
                rest /= one.codes.len();
                code
            })
            .collect();
        match encode::encode(&codes, Options::default()) {
            Ok(encoding) => return Ok((codes, encoding)),
            Err(why) => refusal = refusal.or_else(|| Some(told(&why.to_string(), asked, &codes))),
        }
    }
    Err(Error::usage(refusal.unwrap_or_else(|| "there is nothing to count".to_owned())))
}

/// The line about a refusal, with the events by their names where there are several.
fn told(refusal: &str, asked: &[Asked], codes: &[EventCode]) -> String {
    let mut text = refusal.to_owned();
    if asked.len() < 2 {
        return text;
    }
    for (number, (one, code)) in (1..).zip(asked.iter().zip(codes)) {
        let code = format!("{:#x}", code.bits());
        let name = if one.name.eq_ignore_ascii_case(&code) { code.clone() } else { format!("{} ({code})", one.name) };
        text = text.replace(&format!("{code} (event {number})"), &name);
    }
    text
}

/// What is written before and after the counters.
struct Registers {
    stop: Vec<(&'static str, u64)>,
    start: Vec<(&'static str, u64)>,
}

impl Registers {
    /// Everything is stopped while it is set up; sampling begins last, as it draws from what is counted.
    fn new(asked: &[Asked], encoding: &Encoding) -> Registers {
        let words = || asked.iter().map(|one| &one.words);
        let branch = words().any(|words| words.branch);
        let mut zero = Mmcr0::of(encoding.mmcr0);
        let mut mmcr2 = 0;
        for (place, index) in encoding.counted.iter().enumerate() {
            let Some(one) = index.and_then(|index| asked.get(index)) else { continue };
            mmcr2 |= one.words.freezes().bits() >> (9 * place);
            zero.set_pmc1ce(zero.pmc1ce() || place == 0 && one.words.alerts());
            zero.set_pmcjce(zero.pmcjce() || place > 0 && one.words.alerts());
        }
        let alerts = words().any(Words::alerts);
        zero.set_pmae(alerts);
        zero.set_fcece(alerts);
        zero.set_ebe(branch);
        zero.set_bhrba(branch);
        zero.set_pmcc(if branch { 0b10 } else { 0b00 });
        let mut stopped = Mmcr0::default();
        stopped.set_fc(true);
        let mut quiet = Mmcra::of(encoding.mmcra);
        quiet.set_sample_enable(false);
        let mut start = vec![("MMCR0", zero.bits())];
        if quiet.bits() != encoding.mmcra {
            start.push(("MMCRA", encoding.mmcra));
        }
        Registers { stop: vec![("MMCR0", stopped.bits()), ("MMCRA", quiet.bits()), ("MMCR1", encoding.mmcr1), ("MMCR2", mmcr2)], start }
    }
}
