//! From text to a litmus program.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::str::FromStr;

use vm_pmu_arch::access::{Address, Fault, PciAddress};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Records, Signal};
use vm_pmu_arch::model::{Model, Occurrence, Reset};
use vm_pmu_arch::registry::{NAMES, Part};

use super::beginning;
use super::dialect::Dialect;
use super::expand::{Line, MAX_LENGTH, expand};
use super::mistake::ParseError;
use super::number::number;
use super::{Beginning, Case, Configuration, Litmus, Step, collection, nest, nested, record, request, untile};

/// The most threads of one machine.
const MAX_THREADS: usize = 1024;

/// The statements and how each is written, for messages.
const STATEMENTS: [(&str, &str); 35] = [
    ("thread", "`thread N`"),
    ("context", "`context FIELD=VALUE ...`"),
    ("write", "`write REGISTER VALUE` or `write REGISTER VALUE faults FAULT`"),
    ("read", "`read REGISTER = VALUE` or `read REGISTER faults FAULT`"),
    ("feed", "`feed SIGNAL=AMOUNT ...`"),
    ("repeat", "`repeat N feed SIGNAL=AMOUNT ...`, `repeat N record KEY=VALUE ...` or `repeat N request KIND KEY=VALUE ...`"),
    ("record", "`record KEY=VALUE ...` or `record KEY=VALUE ... feed SIGNAL=AMOUNT ...`"),
    ("request", "`request KIND` or `request KIND KEY=VALUE ...`"),
    ("nested", "`nested first guest=SIZE host=SIZE` or `nested LEVEL KEY=VALUE ...`"),
    ("devices", "`devices SIGNAL=AMOUNT ...`"),
    ("inject", "`inject SELECT AMOUNT`, `inject SELECT/UMASK AMOUNT` or `inject package SELECT/UMASK AMOUNT`"),
    ("levels", "`levels SIGNAL=LEVEL ...`, each 0 or 1"),
    ("interrupts", "`interrupts none` or `interrupts COUNTER ...`"),
    ("lines", "`lines interrupt=LEVEL branch=LEVEL`, each 0 or 1"),
    ("late", "`late N`"),
    ("watch", "`watch PINS`"),
    ("pin", "`pin N toggles COUNT`"),
    ("pins", "`pins none` or `pins N ...`"),
    ("demand", "`demand none`, `demand SIGNAL ...` or `demand SIGNAL ... per_cycle`"),
    (
        "records",
        "`records none`, or `records` and which of at_deadline, taken_branches, branches, memory, fetches, every, requests, nested, \
         sampled_addresses, sampled_outcomes",
    ),
    ("match", "`match none` or `match VALUE MASK`"),
    ("epoch", "`epoch moved` or `epoch same`"),
    ("deadline", "`deadline SIGNAL never` or `deadline SIGNAL in N`"),
    ("save", "`save`"),
    ("reset", "`reset cold`, `reset warm`, `reset untile` or `reset nest`"),
    ("tick", "`tick CLOCK N` or `tick all N`"),
    ("pass", "`pass N`"),
    ("happen", "`happen UNIT EVENT AMOUNT` or `happen UNIT EVENT AMOUNT clocks=N`"),
    ("queue", "`queue UNIT EVENT CHANGE` or `queue UNIT EVENT =LEVEL`"),
    ("transact", "`transact UNIT STAGE` or `transact UNIT STAGE KEY=VALUE ...`"),
    ("listens", "`listens UNIT yes` or `listens UNIT no`"),
    ("counting", "`counting yes` or `counting no`"),
    ("carry", "`carry UNIT AGENT UNIT RING` or `carry request tile=N home=N KIND KEY=VALUE ...`"),
    ("device", "`device KIND home=N` or `device KIND home=N physical=ADDRESS modified`"),
    ("collection", collection::STATEMENT),
];

impl FromStr for Litmus {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Litmus, ParseError> {
        Litmus::parse(text).map_err(|errors| errors.into_iter().next().unwrap_or_else(ParseError::of_nothing))
    }
}

impl Litmus {
    /// The litmus file that `text` is.
    ///
    /// ```
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let text = "title: T\npmu: k8\nsection: S\n\nwrite PerfCtr9 1\nread PerfCtr0 = one\n";
    /// let errors = Litmus::parse(text).unwrap_err();
    /// let places: Vec<_> = errors.iter().map(|error| (error.line, error.column, error.length)).collect();
    /// assert_eq!(places, [(5, 7, 8), (6, 17, 3)]); // PerfCtr9, one
    /// ```
    ///
    /// # Errors
    /// What is wrong with it, in the order of the lines. Where the header names no part, statements are not looked at. A file of several
    /// programs is none: [`Case::of_file`] reads them.
    pub fn parse(text: &str) -> Result<Litmus, Vec<ParseError>> {
        let mut cases = Case::of_file(text)?.into_iter();
        match (cases.next(), cases.next()) {
            (Some(only), None) => Ok(only.litmus),
            (_, second) => {
                let line = second.and_then(|second| second.litmus.steps.first().map(|(line, _)| *line)).unwrap_or(0);
                let message = "the file has a second program: `pmulab litmus` runs all of them".into();
                Err(alloc::vec![ParseError { line, column: 1, length: 1, message }])
            }
        }
    }
}

impl Case {
    /// Reads the programs of a litmus file, in their order: at least one.
    ///
    /// # Errors
    /// As [`Litmus::parse`]. A wrong line of a loop is reported once.
    pub fn of_file(text: &str) -> Result<Vec<Case>, Vec<ParseError>> {
        let mut header = Header::default();
        let mut mistakes = Mistakes::default();
        let mut cases: Vec<Case> = Vec::new();
        let mut in_header = true;
        let mut part = None;
        for line in expand(text).map_err(|error| alloc::vec![error])? {
            if !in_header && line.text.starts_with("title: ") {
                header.begin_again();
                in_header = true;
            }
            if let (Some((key, value)), true) = (line.text.split_once(": "), in_header)
                && !key.contains(' ')
            {
                header.set(key, value.trim()).unwrap_or_else(|message| mistakes.add(&line, message));
                continue;
            }
            if in_header {
                in_header = false;
                part = header.part;
                match header.finish() {
                    Ok(litmus) => {
                        part = Some(litmus.part);
                        cases.push(Case { litmus, rows: Vec::new() });
                    }
                    // What a wrong line of the header leaves out is told already.
                    Err(_) if !mistakes.errors.is_empty() => {}
                    Err(message) => mistakes.add(&line, message),
                }
            }
            let Some(part) = part else { break };
            match (step(&line.text, part), cases.last_mut()) {
                (Ok(step), Some(case)) => {
                    if case.rows.last().map_or(line.row.is_some(), |(_, row)| *row != line.row) {
                        case.rows.push((case.litmus.steps.len(), line.row.clone()));
                    }
                    case.litmus.steps.push((line.number, step));
                }
                (Ok(_), None) => {}
                (Err(message), _) => mistakes.add(&line, message),
            }
        }
        let Mistakes { mut errors, .. } = mistakes;
        if in_header && errors.is_empty() {
            errors.push(ParseError::of_nothing());
        }
        errors.sort_by_key(|error| error.line);
        if errors.is_empty() { Ok(cases) } else { Err(errors) }
    }
}

/// Mistakes of a text. A loop can read a line many times: then the first one of the line is told.
#[derive(Default)]
struct Mistakes {
    errors: Vec<ParseError>,
    /// Lines of loops that have a mistake.
    lines: BTreeSet<usize>,
}

impl Mistakes {
    fn add(&mut self, line: &Line<'_>, message: String) {
        if line.row.is_none() || self.lines.insert(line.number) {
            self.errors.push(line.wrong(message));
        }
    }
}

#[derive(Default)]
struct Header {
    title: Option<String>,
    section: Option<String>,
    part: Option<Part>,
    revision: Option<String>,
    packages: Option<usize>,
    threads: Option<usize>,
    shared_counters: bool,
    beginning: Beginning,
    /// The keys so far of the program that begins; the others are those of the program before.
    keys: Vec<String>,
}

impl Header {
    /// Begins the header of another program: a state is of its program alone, what else is said holds on.
    fn begin_again(&mut self) {
        self.keys.clear();
        self.beginning.state = Vec::new();
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if self.keys.iter().any(|known| known == key) {
            return Err(format!("the header has two lines `{key}: ...`"));
        }
        self.keys.push(key.to_owned());
        match key {
            // Each program of a file has a copy.
            "title" | "section" if value.len() > MAX_LENGTH => {
                return Err(format!("the {key} is too long: {MAX_LENGTH} characters are the most"));
            }
            "title" => self.title = Some(value.to_owned()),
            "section" => self.section = Some(value.to_owned()),
            "pmu" => self.part = Some(Part::named(value).ok_or(format!("no PMU is called `{value}`: there are {}", NAMES.join(", ")))?),
            "revision" => self.revision = Some(value.to_owned()),
            "packages" => self.packages = Some(at_least_one(value)?),
            "threads" => self.threads = Some(at_least_one(value)?),
            "share_counters" => self.shared_counters = flag(value)?,
            "supplies" => self.beginning.supplies = Some(value.split_whitespace().map(signal).collect::<Result<_, _>>()?),
            "supplies_records" => self.beginning.supplies_records = Some(which(&value.split_whitespace().collect::<Vec<_>>())?),
            "recording" => self.beginning.is_recording = flag(value)?,
            "frequencies" => self.beginning.frequencies = Some(beginning::frequencies(value)?),
            "die" => self.beginning.die = Some(beginning::die(value)?),
            "buses" => self.beginning.buses = Some(beginning::buses(value)?),
            "state" => self.beginning.state = beginning::bytes(value)?,
            _ => {
                return Err(format!(
                    "no header is called `{key}`: there are title, section, pmu, revision, packages, threads, share_counters, supplies, \
                     supplies_records, recording, frequencies, die, buses, state"
                ));
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<Litmus, String> {
        let part = self.part.ok_or("the header lacks a line `pmu: NAME`")?;
        let part = match &self.revision {
            Some(letter) => part.revision(letter).ok_or_else(|| {
                let letters: Vec<&str> = part.revision_letters().collect();
                format!("{} has no revision `{letter}`: there are {}", part.name(), letters.join(", "))
            })?,
            None => part,
        };
        let (packages, threads) = (self.packages.unwrap_or(1), self.threads.unwrap_or(1));
        if packages * threads > MAX_THREADS {
            return Err(format!("{packages} packages of {threads} threads are too many: {MAX_THREADS} threads are the most"));
        }
        let litmus = Litmus {
            title: self.title.clone().ok_or("the header lacks a line `title: ...`")?,
            section: self.section.clone().ok_or("the header lacks a line `section: ...`")?,
            part,
            packages,
            threads,
            shared_counters: self.shared_counters,
            beginning: self.beginning.clone(),
            steps: Vec::new(),
        };
        litmus.builder().check().map_err(|refused| refused.to_string())?;
        Ok(litmus)
    }
}

fn step(line: &str, part: Part) -> Result<Step, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let dialect = Dialect::of(part);
    let fault = |word: &str| fault(word, dialect);
    // Nest and untile both have clocks to tick and units with events: a part has only one of them.
    let of_nest = if part.shape().has_nest { nest::parse(&words) } else { None };
    if let Some(told) = of_nest {
        return told.map(Step::Nest);
    }
    if let Some(told) = collection::parse(&words) {
        return match told {
            Ok(_) if !part.shape().has_nest => Err(format!("{} has no cores that post into memory", part.name())),
            told => told.map(Step::Collection),
        };
    }
    if let Some(told) = untile::parse(&words) {
        return match told {
            Ok(_) if !part.shape().has_untile => Err(format!("{} has no boxes that threads share", part.name())),
            told => told.map(Step::Untile),
        };
    }
    match words.as_slice() {
        ["thread", thread] => Ok(Step::Thread(small(thread)?)),
        ["context", fields @ ..] if !fields.is_empty() => {
            fields.iter().map(|field| dialect.context(field)).collect::<Result<_, _>>().map(Step::Context)
        }
        ["write", register, value] => Ok(Step::Write(address(register, part)?, number(value)?, None)),
        ["write", register, value, "faults", word] => Ok(Step::Write(address(register, part)?, number(value)?, Some(fault(word)?))),
        ["read", register, "=", value] => Ok(Step::Read(address(register, part)?, Ok(number(value)?))),
        ["read", register, "faults", word] => Ok(Step::Read(address(register, part)?, Err(fault(word)?))),
        ["feed", signals @ ..] if !signals.is_empty() => Ok(Step::Feed(1, amounts(signals)?)),
        ["repeat", times, "feed", signals @ ..] if !signals.is_empty() => Ok(Step::Feed(number(times)?, amounts(signals)?)),
        ["record", details @ ..] if !details.is_empty() => recorded(1, details),
        ["repeat", times, "record", details @ ..] if !details.is_empty() => recorded(number(times)?, details),
        ["request", kind, details @ ..] => Ok(Step::Request(1, request::parse(kind, details)?)),
        ["repeat", times, "request", kind, details @ ..] => Ok(Step::Request(number(times)?, request::parse(kind, details)?)),
        ["nested", kind, details @ ..] => Ok(Step::Nested(nested::parse(kind, details)?)),
        ["devices", signals @ ..] if !signals.is_empty() => Ok(Step::Devices(amounts(signals)?)),
        ["inject", "package", occurrence, amount] => Ok(Step::InjectPackage(self::occurrence(occurrence)?, number(amount)?)),
        ["levels", states @ ..] if !states.is_empty() => {
            let level = |(signal, level): (Signal, u64)| match level {
                0 => Ok((signal, false)),
                1 => Ok((signal, true)),
                _ => Err(no_statement(line, "levels")),
            };
            amounts(states)?.into_iter().map(level).collect::<Result<_, _>>().map(Step::Levels)
        }
        ["inject", occurrence, amount] => Ok(Step::Inject(self::occurrence(occurrence)?, number(amount)?)),
        ["interrupts", "none"] => Ok(Step::Interrupts(Vec::new())),
        ["interrupts", counters @ ..] if !counters.is_empty() => Ok(Step::Interrupts(numbers(counters)?)),
        ["lines", one, other] => lines(one, other).ok_or_else(|| no_statement(line, "lines")),
        ["late", events] => Ok(Step::Late(number(events)?)),
        ["watch", pins] => Ok(Step::Watch(bits32(pins)?)),
        ["pins", "none"] => Ok(Step::Pins(0)),
        ["pins", pins @ ..] if !pins.is_empty() => Ok(Step::Pins(pin_bits(&numbers(pins)?)?)),
        ["pin", pin, "toggles", count] => Ok(Step::Pin(bits32(pin)?, number(count)?)),
        ["demand", "none"] => Ok(Step::Demand(Vec::new(), false)),
        ["demand", signals @ .., "per_cycle"] => Ok(Step::Demand(signals.iter().map(|name| signal(name)).collect::<Result<_, _>>()?, true)),
        ["demand", signals @ ..] if !signals.is_empty() => {
            Ok(Step::Demand(signals.iter().map(|name| signal(name)).collect::<Result<_, _>>()?, false))
        }
        ["records", "none"] => Ok(Step::Records(Records::NONE)),
        ["records", words @ ..] if !words.is_empty() => which(words).map(Step::Records).map_err(|_| no_statement(line, "records")),
        ["match", "none"] => Ok(Step::Match(None)),
        ["match", value, mask] => Ok(Step::Match(Some((number(value)?, number(mask)?)))),
        ["epoch", "moved"] => Ok(Step::Epoch(true)),
        ["epoch", "same"] => Ok(Step::Epoch(false)),
        ["deadline", name, "never"] => Ok(Step::Deadline(signal(name)?, None)),
        ["deadline", name, "in", distance] => Ok(Step::Deadline(signal(name)?, Some(number(distance)?))),
        ["save"] => Ok(Step::Save),
        ["reset", "cold"] => Ok(Step::Reset(Reset::Cold)),
        ["reset", "warm"] => Ok(Step::Reset(Reset::Warm)),
        words if nest::parse(words).is_some() => Err(format!("{} has no nest whose counters post themselves into memory", part.name())),
        words => Err(no_statement(line, words.first().unwrap_or(&""))),
    }
}

/// `KEY=VALUE ... [feed SIGNAL=AMOUNT ...]`, `times` times.
fn recorded(times: u64, words: &[&str]) -> Result<Step, String> {
    let mut parts = words.splitn(2, |word| *word == "feed");
    let details = parts.next().unwrap_or(&[]);
    let signals = match parts.next() {
        Some([]) => return Err("behind `feed` there is no signal: write SIGNAL=AMOUNT, or leave it out".into()),
        Some(signals) => amounts(signals)?,
        None => Vec::new(),
    };
    Ok(Step::Record(times, Box::new(record::parse(details)?), signals))
}

/// One bit for each pin of a list.
fn pin_bits(pins: &[u32]) -> Result<u32, String> {
    let bit = |pin: &u32| 1u32.checked_shl(*pin).ok_or_else(|| format!("there is no pin {pin}: there are 0 to 31"));
    pins.iter().try_fold(0, |all, pin| Ok(all | bit(pin)?))
}

fn lines(one: &str, other: &str) -> Option<Step> {
    let level = |name: &str| {
        let word = [one, other].into_iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
        match word {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    };
    Some(Step::Lines(Lines { interrupt: level("interrupt")?, event_based_branch: level("branch")? }))
}

/// The kinds of records that these words name.
fn which(words: &[&str]) -> Result<Records, String> {
    let which = |word: &&str| match *word {
        "none" => Some(Records::NONE),
        "at_deadline" => Some(Records::AT_DEADLINE),
        "taken_branches" => Some(Records::TAKEN_BRANCHES),
        "branches" => Some(Records::BRANCHES),
        "memory" => Some(Records::MEMORY),
        "fetches" => Some(Records::FETCHES),
        "every" => Some(Records::EVERY),
        "requests" => Some(Records::REQUESTS),
        "nested" => Some(Records::NESTED),
        "sampled_addresses" => Some(Records::SAMPLED_ADDRESSES),
        "sampled_outcomes" => Some(Records::SAMPLED_OUTCOMES),
        _ => None,
    };
    let refused = |word: &str| format!("`{word}` is no kind of record: there are those that `records` takes, and none");
    words.iter().try_fold(Records::NONE, |all, word| Ok(all.with(which(word).ok_or_else(|| refused(word))?)))
}

/// The message for a line that is not a statement: the form of the statement of its first word, or the list of statements.
fn no_statement(line: &str, word: &str) -> String {
    let all = || STATEMENTS.iter().chain(&nest::STATEMENTS);
    match all().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
        Some((_, form)) => format!("`{line}` is not a statement: write {form}"),
        None => {
            let names: Vec<&str> = all().map(|(name, _)| *name).collect();
            format!("`{line}` is not a statement: there are {}, as the book's chapter on litmus files describes them", names.join(", "))
        }
    }
}

/// The longest word for which a similar name is searched.
const LONGEST_WORD: usize = 80;

/// The name that was probably meant: one that begins with `word`, differs from it in few letters or contains it.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let rank = |name: &str| {
        let name = name.to_ascii_lowercase();
        let edits = edits(word.as_bytes(), name.as_bytes());
        let kinship = match name.find(&word) {
            Some(0) if word.len() > 2 => 0,
            _ if edits <= word.len() / 3 => 1,
            Some(_) if word.len() > 2 => 2,
            _ => return None,
        };
        Some((kinship, edits))
    };
    names.filter_map(|name| Some((rank(name)?, name))).min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

/// How many letters must be changed, added or removed to turn `left` into `right`.
fn edits(left: &[u8], right: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.iter().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(right) {
            before = (before + 1).min(*cell + 1).min(diagonal + usize::from(letter != other));
            diagonal = core::mem::replace(cell, before);
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

fn bits32(text: &str) -> Result<u32, String> {
    u32::try_from(number(text)?).map_err(|_| format!("`{text}` does not fit into 32 bits"))
}

fn bits16(text: &str) -> Result<u16, String> {
    u16::try_from(number(text)?).map_err(|_| format!("`{text}` does not fit into 16 bits"))
}

fn bits8(text: &str) -> Result<u8, String> {
    u8::try_from(number(text)?).map_err(|_| format!("`{text}` does not fit into 8 bits"))
}

/// Numbers of counters that requested an interrupt, or of pins that toggled.
fn numbers(words: &[&str]) -> Result<Vec<u32>, String> {
    words.iter().map(|word| bits32(word)).collect()
}

fn small(text: &str) -> Result<usize, String> {
    match number(text)? {
        value @ 0..=1024 => usize::try_from(value).map_err(|error| error.to_string()),
        _ => Err(format!("`{text}` is too many: {MAX_THREADS} is the most")),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match small(text)? {
        0 => Err(format!("`{text}` is too few: 1 is the least")),
        value => Ok(value),
    }
}

fn flag(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("`{text}` is neither yes nor no")),
    }
}

fn fault(word: &str, dialect: &Dialect) -> Result<Fault, String> {
    Fault::ALL.into_iter().find(|fault| fault.word() == word).ok_or_else(|| {
        let words: Vec<&str> = dialect.faults.iter().map(|fault| fault.word()).collect();
        format!("`{word}` is not a fault: there are {}", words.join(", "))
    })
}

fn signal(name: &str) -> Result<Signal, String> {
    Signal::from_name(name).ok_or_else(|| match nearest(name, Signal::all().map(Signal::name)) {
        Some(near) => format!("no signal is called `{name}`: did you mean {near}?"),
        None => format!("no signal is called `{name}`: the book's chapter on signals lists them"),
    })
}

fn amounts(words: &[&str]) -> Result<Vec<(Signal, u64)>, String> {
    let amount = |word: &&str| {
        let (name, amount) = word.split_once('=').ok_or(format!("`{word}` is not SIGNAL=AMOUNT"))?;
        Ok((signal(name)?, number(amount)?))
    };
    words.iter().map(amount).collect()
}

fn occurrence(word: &str) -> Result<Occurrence, String> {
    let (select, umask) = word.split_once('/').unwrap_or((word, "0"));
    Ok(Occurrence { select: bits32(select)?, umask: bits32(umask)? })
}

fn address(word: &str, part: Part) -> Result<Address, String> {
    match word.split_once(':') {
        Some(("msr", number)) => return Ok(Address::Msr(bits32(number)?)),
        Some(("rdpmc", index)) => return Ok(Address::Rdpmc(bits32(index)?)),
        Some(("spr", number)) => return Ok(Address::Spr(bits16(number)?)),
        Some(("bhrb", entry)) => return Ok(Address::Bhrb(bits16(entry)?)),
        Some(("pmc", index)) => return Ok(Address::Pmc(bits8(index)?)),
        Some(("pmd", index)) => return Ok(Address::Pmd(bits8(index)?)),
        Some(("ibr", index)) => return Ok(Address::Ibr(bits8(index)?)),
        Some(("dbr", index)) => return Ok(Address::Dbr(bits8(index)?)),
        Some(("pci", _)) => {
            let Configuration { bus, device, function, offset, .. } = untile::configuration(word, false)?;
            return Ok(Address::Pci(PciAddress { bus, device, function, offset }));
        }
        None if word == "imc" => return Ok(Address::Imc),
        _ => {}
    }
    if let Some(found) = untile::address(word).filter(|_| part.shape().has_untile) {
        return Ok(found);
    }
    let registers = part.build().registers();
    registers.iter().find(|register| register.name.eq_ignore_ascii_case(word)).map(|register| register.address).ok_or_else(
        || match nearest(word, registers.iter().map(|register| register.name)) {
            Some(near) => format!("{} has no register `{word}`: did you mean {near}?", part.name()),
            None => format!("{} has no register `{word}`: use {}", part.name(), Dialect::of(part).forms),
        },
    )
}
