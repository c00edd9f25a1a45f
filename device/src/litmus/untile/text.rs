//! Statements about boxes, from text and back.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use vm_pmu_arch::event;

use super::{Configuration, UntileStep, mesh};
use crate::litmus::number::number;
use crate::untile::{Domain, FilterState, Kind, Lookup, Source, Stage, Transaction, UnitId};

/// The first event select of the mesh stop that every box has.
const FIRST_OF_MESH: u32 = 0x80;

/// The statement of these words, or what is wrong with it; `None` if it is not about boxes.
pub(in crate::litmus) fn parse(words: &[&str]) -> Option<Result<UntileStep, String>> {
    Some(match words {
        ["tick", "all", clocks] => number(clocks).map(UntileStep::TickAll),
        ["tick", clock, clocks] => tick(clock, clocks),
        ["pass", cycles] => number(cycles).map(UntileStep::Pass),
        ["happen", unit, event, each] => happen(unit, event, each, "clocks=1"),
        ["happen", unit, event, each, clocks] if clocks.starts_with("clocks=") => happen(unit, event, each, clocks),
        ["queue", unit, event, change] => queue(unit, event, change),
        ["transact", unit, stage, details @ ..] => transact(unit, stage, details),
        ["listens", unit, answer @ ("yes" | "no")] => self::unit(unit).map(|unit| UntileStep::Listens(unit, *answer == "yes")),
        ["counting", answer @ ("yes" | "no")] => Ok(UntileStep::Counting(*answer == "yes")),
        ["reset", "untile"] => Ok(UntileStep::Reset),
        ["carry", ..] | ["device", ..] => mesh::parse(words)?.map(UntileStep::Mesh),
        ["read", place, "=", value] if is_sized(place) => {
            configuration(place, true).and_then(|place| Ok(UntileStep::Read(place, dword(value)?)))
        }
        ["write", place, value] if is_sized(place) => {
            configuration(place, true).and_then(|place| Ok(UntileStep::Write(place, dword(value)?)))
        }
        _ => return None,
    })
}

fn is_sized(place: &str) -> bool {
    place.starts_with("pci:") && place.contains('/')
}

fn tick(clock: &str, clocks: &str) -> Result<UntileStep, String> {
    let domain = Domain::ALL.into_iter().find(|domain| domain.word() == clock);
    let domain =
        domain.ok_or_else(|| format!("no clock is called `{clock}`: there are {}, and all", words(&Domain::ALL.map(Domain::word))))?;
    Ok(UntileStep::Tick(domain, number(clocks)?))
}

fn happen(unit: &str, event: &str, each: &str, clocks: &str) -> Result<UntileStep, String> {
    let unit = self::unit(unit)?;
    let (select, umask) = self::event(unit, event)?;
    let clocks = number(clocks.trim_start_matches("clocks="))?;
    Ok(UntileStep::Happen { unit, select, umask, each: number(each)?, clocks })
}

fn queue(unit: &str, event: &str, change: &str) -> Result<UntileStep, String> {
    let unit = self::unit(unit)?;
    let (select, umask) = self::event(unit, event)?;
    if let Some(level) = change.strip_prefix('=') {
        return Ok(UntileStep::SetQueue { unit, select, umask, level: number(level)? });
    }
    let change = change.parse().map_err(|_| format!("`{change}` is no change of a queue: write +3 or -3, or =3 for what it has"))?;
    Ok(UntileStep::Queue { unit, select, umask, change })
}

fn transact(unit: &str, stage: &str, details: &[&str]) -> Result<UntileStep, String> {
    let found = self::unit(unit)?;
    if found.kind() != Kind::Cha {
        return Err(format!("`{unit}` has no requests: they are those of a CHA"));
    }
    let stage = match (stage, stage.strip_prefix("served=")) {
        ("enters", _) => Stage::Enters,
        ("leaves", _) => Stage::Leaves,
        (_, Some(clocks)) => Stage::Served { clocks: number(clocks)? },
        _ => return Err(format!("`{stage}` is no stage of a request: there are enters, leaves and served=CLOCKS")),
    };
    Ok(UntileStep::Transact(found.number(), Box::new(transaction(details)?), stage))
}

/// The word's value among `all`.
pub(super) fn choice<T: Copy>(word: &str, value: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|one| name(*one) == value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        format!("`{word}` is unknown: there are {}", names.join(", "))
    })
}

fn transaction(details: &[&str]) -> Result<Transaction, String> {
    let mut told = Transaction::default();
    let mut keys: Vec<&str> = Vec::new();
    for word in details {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        if keys.contains(&key) {
            return Err(format!("`{key}` is said twice"));
        }
        keys.push(key);
        match (key, value) {
            ("hit", "") => told.hit = true,
            ("remote", "") => told.local = false,
            ("near-memory", "") => told.near_memory = true,
            ("non-coherent", "") => told.non_coherent = true,
            ("isochronous", "") => told.isochronous = true,
            ("source", value) => told.source = choice(word, value, &Source::ALL, Source::word)?,
            ("lookup", value) => told.lookup = choice(word, value, &Lookup::ALL, Lookup::word)?,
            ("state", value) => told.state = choice(word, value, &FilterState::ALL, FilterState::word)?,
            ("opcode", value) => told.opcode = at_most(word, value, 0x3FF)? as u16,
            ("tile", value) => told.tile = at_most(word, value, 37)? as u8,
            ("thread", value) => told.thread = at_most(word, value, 7)? as u8,
            _ => {
                return Err(format!(
                    "a request at a CHA has no `{word}`: there are source, lookup, state, opcode, tile and thread, each with =, and hit, remote, \
                     near-memory, non-coherent, isochronous"
                ));
            }
        }
    }
    Ok(told)
}

pub(super) fn at_most(word: &str, value: &str, most: u64) -> Result<u64, String> {
    Some(number(value)?).filter(|value| *value <= most).ok_or_else(|| format!("`{word}` is too much: {most:#x} is the most"))
}

pub(super) fn unit(word: &str) -> Result<UnitId, String> {
    UnitId::named(word).ok_or_else(|| {
        let unit = |kind: Kind| match kind.count() {
            1 => kind.unit().to_string(),
            count => format!("{}0 to {}{}", kind.unit(), kind.unit(), count - 1),
        };
        let units: Vec<String> = Kind::ALL.into_iter().map(unit).collect();
        format!("no box is called `{word}`: there are {}", units.join(", "))
    })
}

/// `SELECT`, `SELECT/UMASK`, or a name of the catalogue.
fn event(unit: UnitId, word: &str) -> Result<(u8, u8), String> {
    let byte = |text: &str| at_most(word, text, 0xFF).map(|value| value as u8);
    if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        let (select, umask) = word.split_once('/').unwrap_or((word, "0"));
        return Ok((byte(select)?, byte(umask)?));
    }
    let is_of_it = |entry: &&event::Entry| entry.unit == if entry.select >= FIRST_OF_MESH { "cms" } else { unit.kind().unit() };
    let entry = event::KNL.entries.iter().filter(is_of_it).find(|entry| entry.name.eq_ignore_ascii_case(word));
    let entry = entry.ok_or_else(|| format!("no event of {unit} is called `{word}`: write a name of its catalogue or SELECT/UMASK"))?;
    Ok((entry.select as u8, entry.umask.unwrap_or(0) as u8))
}

fn dword(value: &str) -> Result<u32, String> {
    u32::try_from(number(value)?).map_err(|_| format!("`{value}` does not fit into 32 bits"))
}

/// `pci:BUS:DEVICE.FUNCTION:OFFSET`, followed by `/SIZE` if `sized`: the first three are hexadecimal.
pub(in crate::litmus) fn configuration(word: &str, sized: bool) -> Result<Configuration, String> {
    let form = if sized { "pci:BUS:DEVICE.FUNCTION:OFFSET/SIZE" } else { "pci:BUS:DEVICE.FUNCTION:OFFSET" };
    let read = || {
        let (place, size) = if sized { word.rsplit_once('/')? } else { (word, "4") };
        let mut parts = place.strip_prefix("pci:")?.split(':');
        let (bus, device, offset) = (parts.next()?, parts.next()?, parts.next()?);
        let (device, function) = device.split_once('.')?;
        let byte = |text: &str, below: u8| u8::from_str_radix(text, 16).ok().filter(|value| *value <= below);
        let offset = number(offset).ok().and_then(|offset| u16::try_from(offset).ok()).filter(|offset| *offset < 0x1000)?;
        let size = size.parse().ok().filter(|size| matches!(size, 1 | 2 | 4))?;
        let is_whole = parts.next().is_none() && offset.is_multiple_of(u16::from(size));
        is_whole.then_some(Configuration { bus: byte(bus, 0xFF)?, device: byte(device, 31)?, function: byte(function, 7)?, offset, size })
    };
    read().ok_or_else(|| {
        format!("`{word}` is nowhere in configuration space: write {form}, as in pci:ff:0f.0:0x430, aligned to 1, 2 or 4 bytes")
    })
}

fn words(all: &[&str]) -> String {
    all.join(", ")
}

/// The statement in the form that [`parse`] reads.
pub(in crate::litmus) fn print(step: &UntileStep) -> String {
    let yes = |answer: bool| if answer { "yes" } else { "no" };
    match step {
        UntileStep::Tick(domain, clocks) => format!("tick {} {clocks}", domain.word()),
        UntileStep::Pass(cycles) => format!("pass {cycles}"),
        UntileStep::Happen { unit, select, umask, each, clocks: 1 } => format!("happen {unit} {select:#04x}/{umask:#04x} {each}"),
        UntileStep::Happen { unit, select, umask, each, clocks } => {
            format!("happen {unit} {select:#04x}/{umask:#04x} {each} clocks={clocks}")
        }
        UntileStep::Queue { unit, select, umask, change } => format!("queue {unit} {select:#04x}/{umask:#04x} {change:+}"),
        UntileStep::SetQueue { unit, select, umask, level } => format!("queue {unit} {select:#04x}/{umask:#04x} ={level}"),
        UntileStep::Transact(cha, transaction, stage) => {
            let stage = match stage {
                Stage::Enters => "enters".to_string(),
                Stage::Leaves => "leaves".to_string(),
                Stage::Served { clocks } => format!("served={clocks}"),
            };
            format!("transact cha{cha} {stage}{}", details(transaction))
        }
        UntileStep::Listens(unit, answer) => format!("listens {unit} {}", yes(*answer)),
        UntileStep::Counting(answer) => format!("counting {}", yes(*answer)),
        UntileStep::Read(place, value) => format!("read {} = {value:#x}", place_of(place)),
        UntileStep::Write(place, value) => format!("write {} {value:#x}", place_of(place)),
        UntileStep::Reset => "reset untile".to_string(),
        UntileStep::TickAll(clocks) => format!("tick all {clocks}"),
        UntileStep::Mesh(step) => mesh::print(step),
    }
}

fn place_of(place: &Configuration) -> String {
    let Configuration { bus, device, function, offset, size } = place;
    format!("pci:{bus:02x}:{device:02x}.{function}:{offset:#x}/{size}")
}

/// The fields of a request that differ from the default, each after a blank.
fn details(told: &Transaction) -> String {
    let usual = Transaction::default();
    let words = [
        ("source", told.source.word(), usual.source.word()),
        ("lookup", told.lookup.word(), usual.lookup.word()),
        ("state", told.state.word(), usual.state.word()),
    ];
    let mut text = String::new();
    // Writing to a string cannot fail.
    for (key, word, _) in words.into_iter().filter(|(_, word, usual)| word != usual) {
        let _ = write!(text, " {key}={word}");
    }
    if told.opcode != 0 {
        let _ = write!(text, " opcode={:#x}", told.opcode);
    }
    for (key, value) in [("tile", told.tile), ("thread", told.thread)] {
        if value != 0 {
            let _ = write!(text, " {key}={value}");
        }
    }
    let flags = [
        ("hit", told.hit),
        ("remote", !told.local),
        ("near-memory", told.near_memory),
        ("non-coherent", told.non_coherent),
        ("isochronous", told.isochronous),
    ];
    for (word, _) in flags.into_iter().filter(|(_, holds)| *holds) {
        let _ = write!(text, " {word}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<UntileStep, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse(&words).expect("a statement about boxes")
    }

    #[test]
    fn every_form_reads_as_it_prints() {
        for form in [
            "tick eclk 12",
            "tick all 12",
            "pass 14",
            "happen cha3 0x35/0x31 2",
            "happen mc-dclk5 0x03/0x01 1 clocks=7",
            "queue irp 0x07/0x00 +3",
            "queue cha37 0x11/0x01 -2",
            "queue irp 0x07/0x00 =3",
            "transact cha0 enters",
            "transact cha3 served=100 source=eviction lookup=write state=modified opcode=0x182 tile=3 thread=5 hit remote near-memory \
             non-coherent isochronous",
            "transact cha3 leaves source=ipq",
            "listens m2pcie yes",
            "counting no",
            "read pci:ff:0f.0:0x432/2 = 0x1",
            "write pci:00:05.6:0xf1/1 0x1",
            "reset untile",
        ] {
            assert_eq!(print(&read(form).expect(form)), form);
        }
    }

    #[test]
    fn events_have_their_names() {
        assert_eq!(read("happen cha3 TOR_INSERTS.IRQ 2"), read("happen cha3 0x35/0x31 2"));
        assert_eq!(read("queue edc-eclk1 egress_vert_occupancy.ad_ag1 +1"), read("queue edc-eclk1 0x90/0x10 +1"));
        assert_eq!(read("queue cha1 RxR_OCCUPANCY.IRQ +1"), read("queue cha1 0x11/0x01 +1"), "the box' own goes first");
        assert!(
            read("happen irp TOR_INSERTS.IRQ 2").is_err_and(|message| message.starts_with("no event of irp is called `TOR_INSERTS.IRQ`"))
        );
    }

    #[test]
    fn a_wrong_word_is_answered_by_the_right_ones() {
        let starts = |text: &str, message: &str| assert!(read(text).is_err_and(|seen| seen.starts_with(message)), "{:?}", read(text));
        starts("tick qclk 3", "no clock is called `qclk`: there are uclk, eclk, dclk, and all");
        starts("listens cha38 no", "no box is called `cha38`: there are ubox, pcu, cha0 to cha37, mc-uclk0 to mc-uclk1, ");
        starts("transact irp enters", "`irp` has no requests");
        starts("transact cha1 comes", "`comes` is no stage of a request: there are enters, leaves and served=CLOCKS");
        starts("transact cha1 enters hit hit", "`hit` is said twice");
        starts("transact cha1 enters tile=38", "`tile=38` is too much: 0x25 is the most");
        starts("transact cha1 enters source=cpu", "`source=cpu` is unknown: there are irq, eviction, prq, ipq");
        starts("transact cha1 enters colour=3", "a request at a CHA has no `colour=3`: there are source, ");
        starts("queue irp 7 x", "`x` is no change of a queue: write +3 or -3");
        for odd in ["pci:ff:0f.0:0x431/2", "pci:ff:20.0:0/1", "pci:ff:0f.8:0/1", "pci:ff:0f.0:0x1000/4", "pci:ff:0f.0:0/8", "pci:ff:0f:0/4"]
        {
            starts(&format!("read {odd} = 0"), &format!("`{odd}` is nowhere in configuration space: "));
        }
    }
}
