//! Statements about the nest, from text and back.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use vm_pmu_arch::power9::nest::{Call, CallType, Frequencies, Outcome, Overflow, Prescaler, Setting};

use super::places::{self, name, offset};
use super::{ChipSetting, MemoryPlace, NestStep};
use crate::litmus::number::number;

const CALLS: [(&str, u64); 3] = [
    ("OPAL_IMC_COUNTERS_INIT", Call::Init.number()),
    ("OPAL_IMC_COUNTERS_START", Call::Start.number()),
    ("OPAL_IMC_COUNTERS_STOP", Call::Stop.number()),
];
const TYPES: [(&str, u64); 3] = [("nest", 1), ("core", 2), ("trace", 3)];
const RESULTS: [(&str, Option<Outcome>); 4] = [
    ("success", Some(Outcome::Success)),
    ("parameter", Some(Outcome::Parameter)),
    ("hardware", Some(Outcome::Hardware)),
    ("unclaimed", None),
];
const OVERFLOWS: [(&str, Overflow); 2] = [("run-on", Overflow::RunOn), ("freeze", Overflow::Freeze)];

/// The statement of these words, or what is wrong with it; `None` if it is not about the nest.
pub(in crate::litmus) fn parse(words: &[&str]) -> Option<Result<NestStep, String>> {
    Some(match words {
        ["nest", details @ ..] => chip(details),
        ["chip", number] => bits32(number).map(NestStep::Current),
        ["tick", "nest", cycles] => number(cycles).map(NestStep::Tick),
        ["tick", "nest", cycles, "at-once"] => number(cycles).map(NestStep::AtOnce),
        ["slots", slots] => number(slots).map(NestStep::Slots),
        ["boot"] => Ok(NestStep::Boot),
        ["reset", "nest"] => Ok(NestStep::Reset),
        ["happen", "nest", event, amount] => places::event(event).and_then(|event| Ok(NestStep::Happen(event, number(amount)?))),
        ["program", cell, details @ ..] => program(cell, details),
        ["post", "now"] => Ok(NestStep::PostNow),
        ["read", place, "=", value] if is_place(place) => {
            self::memory(place).and_then(|place| Ok(NestStep::Read(place, fits(place, number(value)?, value)?)))
        }
        ["write", place, value] if is_place(place) => {
            self::memory(place).and_then(|place| Ok(NestStep::Write(place, fits(place, number(value)?, value)?)))
        }
        ["register", cell, "=", "none"] => offset(cell).map(|offset| NestStep::Register(offset, None)),
        ["register", cell, "=", value] => offset(cell).and_then(|offset| Ok(NestStep::Register(offset, Some(number(value)?)))),
        ["hole", "none"] => Ok(NestStep::NoHole),
        ["hole", from, to] => hole(from, to),
        ["refused", "none"] => Ok(NestStep::Refused(None)),
        ["refused", count, "at", address] => refused(count, address),
        ["call", name, arguments @ .., "=", result] => call(name, arguments, result),
        ["posting", answer @ ("yes" | "no")] => Ok(NestStep::Posting(*answer == "yes")),
        _ => return None,
    })
}

/// The statements that only the nest has.
pub(in crate::litmus) const STATEMENTS: [(&str, &str); 11] = [
    ("nest", "`nest KEY=VALUE ...` with chip, home, units, slot, nest, host-bridge, memory"),
    ("chip", "`chip N`"),
    ("slots", "`slots N`"),
    ("boot", "`boot`"),
    ("program", "`program CELL prescalers=A/B/C/D`, `program CELL codes=BYTE`, with overflow=run-on or overflow=freeze behind it"),
    ("post", "`post now`"),
    ("register", "`register CELL = VALUE` or `register CELL = none`"),
    ("hole", "`hole FROM TO` or `hole none`"),
    ("refused", "`refused none` or `refused N at ADDRESS`"),
    ("call", "`call NAME ARGUMENT ... = RESULT`, with up to three arguments"),
    ("posting", "`posting yes` or `posting no`"),
];

/// The value of `word` among those of `table`.
fn choice<T: Copy>(what: &str, word: &str, table: &[(&str, T)]) -> Result<T, String> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        format!("`{word}` is no {what}: there are {}", names.join(", "))
    })
}

/// A name of `table`, or any number.
fn named_or_number(what: &str, word: &str, table: &[(&str, u64)]) -> Result<u64, String> {
    if word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') { number(word) } else { choice(what, word, table) }
}

fn bits32(text: &str) -> Result<u32, String> {
    u32::try_from(number(text)?).map_err(|_| format!("`{text}` does not fit into 32 bits"))
}

/// `KEY=VALUE` words, each key once.
fn each<'a>(details: &[&'a str], mut take: impl FnMut(&'a str, &'a str) -> Result<(), String>) -> Result<(), String> {
    let mut keys: Vec<&str> = Vec::new();
    for word in details {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))?;
        if keys.contains(&key) {
            return Err(format!("`{key}` is said twice"));
        }
        keys.push(key);
        take(key, value)?;
    }
    Ok(())
}

fn chip(details: &[&str]) -> Result<NestStep, String> {
    let mut told = ChipSetting::default();
    each(details, |key, value| {
        let at_least_one = || match number(value)? {
            0 => Err(format!("`{key}=0` stands still: 1 is the least")),
            value => Ok(value),
        };
        match key {
            "chip" => told.chip = bits32(value)?,
            "home" => told.home = number(value)?,
            "units" => told.units = Some(number(value)?),
            "slot" => told.slot = Some(at_least_one()?),
            "nest" => told.frequencies.nest = at_least_one()?,
            "host-bridge" => told.frequencies.host_bridge = at_least_one()?,
            "memory" => told.frequencies.memory = at_least_one()?,
            _ => return Err(format!("a chip has no `{key}`: there are chip, home, units, slot, nest, host-bridge, memory")),
        }
        Ok(())
    })?;
    Ok(NestStep::Chip(Box::new(told)))
}

fn program(cell: &str, details: &[&str]) -> Result<NestStep, String> {
    let offset = offset(cell)?;
    let mut setting = Setting::default();
    each(details, |key, value| {
        match key {
            "prescalers" => setting.prescalers = prescalers(value)?,
            "codes" => {
                let codes = u8::try_from(number(value)?).map_err(|_| format!("`codes={value}` does not fit into 8 bits"))?;
                setting.prescalers = [6, 4, 2, 0].map(|low| Prescaler::of_code(codes >> low));
            }
            "overflow" => setting.overflow = choice("way to overflow", value, &OVERFLOWS)?,
            _ => return Err(format!("a PMUlet has no `{key}`: there are prescalers, codes, overflow")),
        }
        Ok(())
    })?;
    Ok(NestStep::Program(offset, setting))
}

/// `A/B/C/D`: the widths of the four prescalers in bits.
fn prescalers(words: &str) -> Result<[Prescaler; 4], String> {
    let wrong = || format!("`prescalers={words}` are no four widths: write each of 4, 8, 16 or 20 bits, as in 8/8/8/8");
    let of_width = |word: &str| (0..4).map(Prescaler::of_code).find(|prescaler| prescaler.bits().to_string() == word);
    let found: Vec<Prescaler> = words.split('/').map(of_width).collect::<Option<_>>().ok_or_else(wrong)?;
    found.try_into().map_err(|_| wrong())
}

fn is_place(word: &str) -> bool {
    word.starts_with("cell:") || word.starts_with("memory:")
}

fn memory(word: &str) -> Result<MemoryPlace, String> {
    if let Some(cell) = word.strip_prefix("cell:") {
        return offset(cell).map(MemoryPlace::Cell);
    }
    let (address, size) = word.trim_start_matches("memory:").split_once('/').unwrap_or((word.trim_start_matches("memory:"), "8"));
    match size {
        "1" | "2" | "4" | "8" => Ok(MemoryPlace::Bytes(number(address)?, size.parse().unwrap_or(8))),
        _ => Err(format!("`{word}` is nowhere in memory: write memory:ADDRESS/SIZE with 1, 2, 4 or 8 bytes")),
    }
}

/// The value, if it fits the place.
fn fits(place: MemoryPlace, value: u64, word: &str) -> Result<u64, String> {
    match place {
        MemoryPlace::Bytes(_, size @ (1 | 2 | 4)) if value >> (8 * size) != 0 => Err(format!("`{word}` does not fit into {size} bytes")),
        _ => Ok(value),
    }
}

fn hole(from: &str, to: &str) -> Result<NestStep, String> {
    let (first, end) = (number(from)?, number(to)?);
    if first >= end {
        return Err(format!("a hole from {from} to {to} is empty: the second address is the first behind it"));
    }
    Ok(NestStep::Hole(first, end))
}

fn refused(count: &str, address: &str) -> Result<NestStep, String> {
    match number(count)? {
        0 => Err("nothing refused is `refused none`".into()),
        count => Ok(NestStep::Refused(Some((count, number(address)?)))),
    }
}

fn call(name: &str, words: &[&str], result: &str) -> Result<NestStep, String> {
    let call = named_or_number("call", name, &CALLS)?;
    let mut arguments = [0; 3];
    if words.len() > arguments.len() {
        return Err(format!("a call with {} arguments: three are the most", words.len()));
    }
    for (place, (argument, word)) in arguments.iter_mut().zip(words).enumerate() {
        *argument = if place == 0 { named_or_number("type of collection", word, &TYPES)? } else { number(word)? };
    }
    Ok(NestStep::Call(call, arguments, choice("result of a call", result, &RESULTS)?))
}

/// The statement in the form that [`parse`] reads.
pub(in crate::litmus) fn print(step: &NestStep) -> String {
    match step {
        NestStep::Chip(told) => print_chip(told),
        NestStep::Current(number) => format!("chip {number}"),
        NestStep::Tick(cycles) => format!("tick nest {cycles}"),
        NestStep::AtOnce(cycles) => format!("tick nest {cycles} at-once"),
        NestStep::Slots(slots) => format!("slots {slots}"),
        NestStep::Boot => "boot".to_string(),
        NestStep::Reset => "reset nest".to_string(),
        NestStep::Happen(event, amount) => format!("happen nest {:#x} {amount}", event.offset()),
        NestStep::Program(offset, setting) => {
            let [first, second, third, fourth] = setting.prescalers.map(Prescaler::bits);
            let overflow = word(&OVERFLOWS, setting.overflow);
            format!("program {} prescalers={first}/{second}/{third}/{fourth} overflow={overflow}", name(*offset))
        }
        NestStep::PostNow => "post now".to_string(),
        NestStep::Read(at, value) => format!("read {} = {value:#x}", place(at)),
        NestStep::Write(at, value) => format!("write {} {value:#x}", place(at)),
        NestStep::Register(offset, None) => format!("register {} = none", name(*offset)),
        NestStep::Register(offset, Some(value)) => format!("register {} = {value:#x}", name(*offset)),
        NestStep::Hole(from, to) => format!("hole {from:#x} {to:#x}"),
        NestStep::NoHole => "hole none".to_string(),
        NestStep::Refused(None) => "refused none".to_string(),
        NestStep::Refused(Some((count, address))) => format!("refused {count} at {address:#x}"),
        NestStep::Call(number, arguments, result) => print_call(*number, *arguments, *result),
        NestStep::Posting(answer) => format!("posting {}", if *answer { "yes" } else { "no" }),
    }
}

pub(super) fn place(place: &MemoryPlace) -> String {
    match place {
        MemoryPlace::Cell(offset) => format!("cell:{}", name(*offset)),
        MemoryPlace::Bytes(address, size) => format!("memory:{address:#x}/{size}"),
    }
}

fn word<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| *word)
}

/// The settings of a chip that differ from the default.
fn print_chip(told: &ChipSetting) -> String {
    let usual = Frequencies::default();
    let keys = [
        ("chip", u64::from(told.chip), told.chip != 0),
        ("home", told.home, told.home != 0),
        ("units", told.units.unwrap_or(0), told.units.is_some()),
        ("slot", told.slot.unwrap_or(0), told.slot.is_some()),
        ("nest", told.frequencies.nest, told.frequencies.nest != usual.nest),
        ("host-bridge", told.frequencies.host_bridge, told.frequencies.host_bridge != usual.host_bridge),
        ("memory", told.frequencies.memory, told.frequencies.memory != usual.memory),
    ];
    let mut text = String::from("nest");
    for (key, value, _) in keys.into_iter().filter(|(.., is_told)| *is_told) {
        // Writing to a string cannot fail.
        let _ = match key {
            "home" | "units" => write!(text, " {key}={value:#x}"),
            _ => write!(text, " {key}={value}"),
        };
    }
    text
}

fn print_call(number: u64, arguments: [u64; 3], result: Option<Outcome>) -> String {
    let [kind, second, third] = arguments;
    let number = CALLS.iter().find(|(_, known)| *known == number).map_or_else(|| number.to_string(), |(name, _)| (*name).to_string());
    let is_known = u32::try_from(kind).is_ok_and(|_| CallType::of_number(kind).is_some());
    let kind = if is_known { word(&TYPES, kind).to_string() } else { format!("{kind:#x}") };
    format!("call {number} {kind} {second:#x} {third:#x} = {}", word(&RESULTS, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NestStep, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse(&words).expect("a statement about the nest")
    }

    #[test]
    fn every_form_reads_as_it_prints() {
        for form in [
            "nest",
            "nest chip=3 home=0x100000 units=0x8000000000000000 slot=100 nest=1600000000 host-bridge=1 memory=2",
            "chip 3",
            "tick nest 12",
            "tick nest 1000000 at-once",
            "slots 8",
            "boot",
            "reset nest",
            "happen nest 0x48 256",
            "happen nest 0x10048 1",
            "program 0x8 prescalers=20/16/8/4 overflow=freeze",
            "program 0x10448 prescalers=8/8/8/8 overflow=run-on",
            "post now",
            "read cell:status = 0x1",
            "write cell:0x48 0x1",
            "read memory:0x1bfc00/8 = 0x1",
            "write memory:0x180007/1 0xff",
            "register 0x8 = 0x1",
            "register 0x10 = none",
            "hole 0x180000 0x180008",
            "hole none",
            "refused none",
            "refused 3 at 0x180000",
            "call OPAL_IMC_COUNTERS_START nest 0x4 0x0 = success",
            "call OPAL_IMC_COUNTERS_INIT core 0x100000 0xffffffffffffffff = parameter",
            "call OPAL_IMC_COUNTERS_STOP 0x100000001 0x0 0x0 = hardware",
            "call 152 trace 0x0 0x0 = unclaimed",
            "posting yes",
        ] {
            assert_eq!(print(&read(form).expect(form)), form);
        }
    }

    #[test]
    fn what_is_left_out_is_as_usual() {
        assert_eq!(read("read memory:8 = 1"), read("read memory:8/8 = 1"));
        assert_eq!(read("call 150 nest = success"), read("call OPAL_IMC_COUNTERS_START 1 0 0 = success"));
        assert_eq!(read("program 8"), read("program 8 prescalers=8/8/8/8 overflow=run-on"));
    }

    #[test]
    fn prescalers_can_be_told_by_their_codes() {
        // 00 is 20 bits, 01 16, 10 8, 11 4; the first counter's code is the most significant.
        assert_eq!(read("program 8 codes=0x1b"), read("program 8 prescalers=20/16/8/4"));
    }

    #[test]
    fn events_and_cells_have_their_names() {
        assert_eq!(read("happen nest PM_PHB2_DMA_RD_FROM_PCIE 3"), read("happen nest 0x380 3"));
        assert_eq!(read("read cell:flexible.head1 = 3"), read("read cell:0x10000 = 3"));
        assert_eq!(read("register PM_PB_EVENT_VG_PUMP = 0"), read("register 8 = 0"));
    }

    #[test]
    fn a_wrong_word_is_answered_by_the_right_ones() {
        let starts = |text: &str, message: &str| assert!(read(text).is_err_and(|seen| seen.starts_with(message)), "{:?}", read(text));
        starts("nest colour=3", "a chip has no `colour`: there are chip, home, units, slot, nest, host-bridge, memory");
        starts("nest home", "`home` is not KEY=VALUE");
        starts("nest home=1 home=1", "`home` is said twice");
        starts("nest slot=0", "`slot=0` stands still: 1 is the least");
        starts("chip 0x100000000", "`0x100000000` does not fit into 32 bits");
        starts("happen nest PM_PB_CYC 3", "`PM_PB_CYC` counts nothing that happens");
        starts("program 8 prescalers=8/8/8", "`prescalers=8/8/8` are no four widths: write each of 4, 8, 16 or 20 bits");
        starts("program 8 prescalers=8/8/8/12", "`prescalers=8/8/8/12` are no four widths");
        starts("program 8 codes=256", "`codes=256` does not fit into 8 bits");
        starts("program 8 overflow=stop", "`stop` is no way to overflow: there are run-on, freeze");
        starts("program 8 width=3", "a PMUlet has no `width`: there are prescalers, codes, overflow");
        starts("read memory:8/3 = 0", "`memory:8/3` is nowhere in memory: write memory:ADDRESS/SIZE");
        starts("write memory:8/1 256", "`256` does not fit into 1 bytes");
        starts("hole 8 8", "a hole from 8 to 8 is empty");
        starts("refused 0 at 8", "nothing refused is `refused none`");
        starts("call OPAL_TEST 1 = success", "`OPAL_TEST` is no call: there are OPAL_IMC_COUNTERS_INIT, ");
        starts("call 150 thread = success", "`thread` is no type of collection: there are nest, core, trace");
        starts("call 150 nest 1 2 3 = success", "a call with 4 arguments: three are the most");
        starts("call 150 nest = -1", "`-1` is no result of a call: there are success, parameter, hardware, unclaimed");
    }
}
