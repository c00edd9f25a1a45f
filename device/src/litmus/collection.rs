//! What a core of POWER9 posts into memory, in litmus files: its engine, its time, and what it adds to memory.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt::Write;

use vm_pmu_arch::event;
use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::collection::Collection;

use super::nest::Access;
use super::number::number;
use crate::irq::InterruptLine;
use crate::topology::{CoreCollection, Machine, Thread};

/// How the statements are written, for messages.
pub(super) const STATEMENT: &str = "`collection init ADDRESS`, `collection start`, `collection stop`, `collection interval N`, `collection inject \
                                    EVENT AMOUNT`, `collection post` or `collection pass N`, the last two with `adds ADDRESS=AMOUNT ...` and \
                                    `refuses ADDRESS ...`";

/// A statement about what the core of the current thread posts into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum CollectionStep {
    /// `collection init ADDRESS`: the core [posts](CoreCollection::init) to memory at this address.
    Init(u64),
    /// `collection start`: the engine [starts](CoreCollection::start).
    Start,
    /// `collection stop`: the engine [stops](CoreCollection::stop).
    Stop,
    /// `collection interval N`: it posts every N cycles of the core.
    Interval(u64),
    /// `collection pass N [adds ...] [refuses ...]`: N cycles of the core [elapse](CoreCollection::advance).
    Pass(u64, Posted),
    /// `collection post [adds ...] [refuses ...]`: everything is [posted](CoreCollection::post).
    Post(Posted),
    /// `collection inject EVENT AMOUNT`: an event without a signal occurs in the current thread. It is known by its offset.
    Inject(u32, u64),
}

/// What happens when a core posts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub struct Posted {
    /// `adds ADDRESS=AMOUNT ...`: what must be added to memory, and nothing else.
    pub added: Vec<(u64, u64)>,
    /// `refuses ADDRESS ...`: where memory refuses it.
    pub refused: Vec<u64>,
}

impl Posted {
    /// The same with what was `added`, each address once and in order.
    #[must_use]
    pub(super) fn with(&self, added: &[(u64, u64)]) -> Posted {
        let mut sums: Vec<(u64, u64)> = Vec::new();
        for (address, amount) in added {
            match sums.binary_search_by_key(address, |(known, _)| *known) {
                Ok(place) => sums.get_mut(place).into_iter().for_each(|(_, sum)| *sum = sum.wrapping_add(*amount)),
                Err(place) => sums.insert(place, (*address, *amount)),
            }
        }
        Posted { added: sums, refused: self.refused.clone() }
    }
}

/// Memory that notes what is added to it.
struct Noted<'p> {
    refused: &'p [u64],
    added: RefCell<Vec<(u64, u64)>>,
}

impl Memory for Noted<'_> {
    type Error = u64;

    fn load(&self, _address: u64) -> Result<u64, u64> {
        Ok(0)
    }

    fn store(&self, _address: u64, _value: u64) -> Result<(), u64> {
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        if self.refused.contains(&address) {
            return Err(address);
        }
        self.added.borrow_mut().push((address, amount));
        Ok(())
    }
}

/// Executes a statement of `thread`; returns whether it checked something.
pub(super) fn obey<L: InterruptLine>(machine: &Machine<L>, thread: &Thread<'_, L>, step: &CollectionStep) -> Result<bool, String> {
    let seen = act(machine, thread, step, Access::Whole).ok_or("the part posts nothing into memory")?;
    let (CollectionStep::Pass(_, told) | CollectionStep::Post(told)) = step else { return Ok(false) };
    let (seen, expected) = (told.with(&seen), told.with(&told.added));
    if seen != expected {
        let word = |posted: &Posted| if posted.added.is_empty() { "nothing".into() } else { print_added(posted) };
        return Err(format!("the core adds {} to memory, expected {}", word(&seen), word(&expected)));
    }
    Ok(true)
}

/// The statement, with what was added to memory as its expectation.
pub(super) fn outcome(step: &CollectionStep, added: &[(u64, u64)]) -> CollectionStep {
    match step {
        CollectionStep::Pass(cycles, posted) => CollectionStep::Pass(*cycles, posted.with(added)),
        CollectionStep::Post(posted) => CollectionStep::Post(posted.with(added)),
        step => step.clone(),
    }
}

/// How many cycles are advanced one by one.
const SINGLE: u64 = 32;

/// Executes a statement of `thread`; returns what it added to memory, if the part posts there.
pub(super) fn act<L: InterruptLine>(
    machine: &Machine<L>,
    thread: &Thread<'_, L>,
    step: &CollectionStep,
    access: Access,
) -> Option<Vec<(u64, u64)>> {
    let core = machine.collection_of(thread.number())?;
    match step {
        CollectionStep::Init(address) => core.init(*address),
        CollectionStep::Start => core.start(),
        CollectionStep::Stop => core.stop(),
        CollectionStep::Interval(cycles) => core.set_interval(*cycles),
        CollectionStep::Inject(offset, amount) => {
            let member = thread.number().checked_rem(machine.threads().checked_div(machine.packages())?)?;
            core.inject(member, *offset, *amount);
        }
        CollectionStep::Pass(cycles, posted) => return Some(pass(core, *cycles, posted, access)),
        CollectionStep::Post(posted) => {
            let memory = Noted { refused: &posted.refused, added: RefCell::default() };
            core.post(&memory);
            return Some(memory.added.take());
        }
    }
    Some(Vec::new())
}

fn pass<L: InterruptLine>(core: CoreCollection<'_, L>, cycles: u64, posted: &Posted, access: Access) -> Vec<(u64, u64)> {
    let memory = Noted { refused: &posted.refused, added: RefCell::default() };
    let (mut left, mut part) = (cycles, 1u64);
    while left != 0 {
        let now = match access {
            Access::Whole => left,
            Access::Single if cycles - left < SINGLE => 1,
            Access::Single => left,
            Access::Parts => part.min(left),
        };
        core.advance(now, &memory);
        left -= now;
        part = part.saturating_mul(3);
    }
    memory.added.take()
}

/// Makes the collections of `to` remember what those of `from` remember.
pub(super) fn move_all<L: InterruptLine>(from: &Machine<L>, to: &Machine<L>) {
    for package in 0..from.packages() {
        if let (Some(from), Some(to)) = (from.collection(package), to.collection(package)) {
            to.restore(&from.state());
        }
    }
}

/// Makes every collection what a new machine's is.
pub(super) fn renew<L: InterruptLine>(machine: &Machine<L>) {
    for core in (0..machine.packages()).filter_map(|package| machine.collection(package)) {
        core.restore(&Collection::new().state(&|_| None));
    }
}

/// The statement of these words, or what is wrong with it; `None` if it has another form.
pub(super) fn parse(words: &[&str]) -> Option<Result<CollectionStep, String>> {
    let ["collection", rest @ ..] = words else { return None };
    Some(match rest {
        ["init", address] => number(address).map(CollectionStep::Init),
        ["start"] => Ok(CollectionStep::Start),
        ["stop"] => Ok(CollectionStep::Stop),
        ["interval", cycles] => number(cycles).map(CollectionStep::Interval),
        ["pass", cycles, details @ ..] => number(cycles).and_then(|cycles| Ok(CollectionStep::Pass(cycles, posted(details)?))),
        ["post", details @ ..] => posted(details).map(CollectionStep::Post),
        ["inject", event, amount] => offset(event).and_then(|offset| Ok(CollectionStep::Inject(offset, number(amount)?))),
        _ => return None,
    })
}

/// `adds ADDRESS=AMOUNT ...` and `refuses ADDRESS ...`.
fn posted(details: &[&str]) -> Result<Posted, String> {
    let mut posted = Posted::default();
    let mut clause = "";
    for word in details {
        match (*word, clause) {
            ("adds" | "refuses", _) => clause = word,
            (word, "refuses") => posted.refused.push(number(word)?),
            (word, "adds") => {
                let (address, amount) = word.split_once('=').ok_or_else(|| format!("`{word}` is not ADDRESS=AMOUNT"))?;
                posted.added.push((number(address)?, number(amount)?));
            }
            _ => return Err(format!("`{word}` is nothing that a posting does: there are adds ADDRESS=AMOUNT and refuses ADDRESS")),
        }
    }
    Ok(posted)
}

/// The offset of an event, by number or by name.
fn offset(word: &str) -> Result<u32, String> {
    if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        return u32::try_from(number(word)?).map_err(|_| format!("`{word}` does not fit into 32 bits"));
    }
    let mut events = event::POWER9.events().filter(|entry| entry.unit == "core-imc" && entry.is_called(word));
    let found = events.find_map(|entry| entry.offset);
    found.ok_or_else(|| format!("`{word}` is no event that a core posts: write one of the unit core-imc, or its offset"))
}

fn print_added(posted: &Posted) -> String {
    let words: Vec<String> = posted.added.iter().map(|(address, amount)| format!("{address:#x}={amount}")).collect();
    words.join(" ")
}

/// The statement in the form that [`parse`] reads.
pub(super) fn print(step: &CollectionStep) -> String {
    let with = |mut text: String, posted: &Posted| {
        if !posted.added.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, " adds {}", print_added(posted));
        }
        if !posted.refused.is_empty() {
            text.push_str(" refuses");
            for address in &posted.refused {
                let _ = write!(text, " {address:#x}");
            }
        }
        text
    };
    match step {
        CollectionStep::Init(address) => format!("collection init {address:#x}"),
        CollectionStep::Start => "collection start".to_string(),
        CollectionStep::Stop => "collection stop".to_string(),
        CollectionStep::Interval(cycles) => format!("collection interval {cycles}"),
        CollectionStep::Pass(cycles, posted) => with(format!("collection pass {cycles}"), posted),
        CollectionStep::Post(posted) => with("collection post".to_string(), posted),
        CollectionStep::Inject(offset, amount) => format!("collection inject {offset:#x} {amount}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CollectionStep, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse(&words).expect("a statement about postings")
    }

    #[test]
    fn every_form_reads_as_it_prints() {
        for form in [
            "collection init 0x4000",
            "collection start",
            "collection stop",
            "collection interval 2000000",
            "collection pass 100",
            "collection pass 100 adds 0x4020=4 0x4028=1 refuses 0x4030",
            "collection post refuses 0x4020 0x4030",
            "collection inject 0x20 5",
        ] {
            assert_eq!(print(&read(form).expect(form)), form);
        }
        // CPM_INST is at 20h of a core's memory.
        assert_eq!(read("collection inject CPM_INST 5"), read("collection inject 0x20 5"));
    }

    #[test]
    fn a_wrong_word_is_answered_by_the_right_ones() {
        let starts = |text: &str, message: &str| assert!(read(text).is_err_and(|seen| seen.starts_with(message)), "{:?}", read(text));
        starts("collection post 0x20=1", "`0x20=1` is nothing that a posting does: there are adds ADDRESS=AMOUNT and refuses ADDRESS");
        starts("collection pass 7 adds 0x20", "`0x20` is not ADDRESS=AMOUNT");
        starts("collection inject PM_CYC 1", "`PM_CYC` is no event that a core posts: ");
    }
}
