//! MMCR1 in words: the event of each counter (appendix A.4, tables of chapter 5).

use vm_pmu::arch::event::{Entry, POWER9};
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::power9::encode::{EventCode, RUN_CYCLES, RUN_INSTRUCTIONS, decode};

/// What a counter counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// The code in MMCR1, with the counter's number.
    pub(super) code: EventCode,
    /// The event, if the catalogue has it.
    pub(super) entry: Option<&'static Entry>,
    /// Falling edges of the event are counted.
    pub(super) falls: bool,
}

impl Counted {
    /// What `code` selects.
    pub(super) fn of(code: EventCode) -> Counted {
        let selection = code.selection();
        let plain = EventCode::from_bits(selection.bits() & !1);
        match (find(selection), find(plain)) {
            (Some(entry), _) => Counted { code, entry: Some(entry), falls: false },
            // One event is listed by an odd selector; of any other the lowest bit asks for falling edges.
            (None, entry) => Counted { code, entry, falls: selection != plain },
        }
    }

    /// Whether the counter is off.
    pub(super) fn is_off(&self) -> bool {
        self.code.pmcxsel() & !1 == 0
    }

    /// The event as `pmulab encode` takes it, on this very counter.
    pub(super) fn notation(&self) -> String {
        let falls = if self.falls { ":e" } else { "" };
        match self.entry {
            Some(entry) => format!("{}:pmc={}{falls}", entry.name, self.code.pmc()),
            None => format!("{:#x}", self.code.selection().bits()),
        }
    }
}

/// What PMC5 and PMC6 count: the tables have the events on other counters only.
pub(super) const FIXED: [(&str, EventCode); 2] = [("PM_RUN_INST_CMPL", RUN_INSTRUCTIONS), ("PM_RUN_CYC", RUN_CYCLES)];

/// The event of a code without a mark, listed for its counter or for any.
fn find(selection: EventCode) -> Option<&'static Entry> {
    if let Some((name, _)) = FIXED.iter().find(|(_, code)| *code == selection) {
        return POWER9.event_named(name);
    }
    let listed = |entry: &&Entry| {
        let code = EventCode::from_bits(entry.select.into()).selection();
        code == selection || code == selection.on_any_counter()
    };
    POWER9.events().filter(|event| event.offset.is_none()).find(listed)
}

/// The number of the counter in a field's name: `PMC2SEL` is of 2.
fn counter_of(field: &Field) -> Option<usize> {
    field.name.strip_prefix("PMC")?.get(..1)?.parse().ok()
}

/// What the counter counts that a field of MMCR1 belongs to.
fn counted(field: &Field, mmcr1: u64) -> Option<Counted> {
    let codes = decode(mmcr1, 0);
    codes.get(counter_of(field)?.checked_sub(1)?).map(|code| Counted::of(*code))
}

/// The event's name, for a selector that is not off.
pub(super) fn label(field: &Field, value: u64) -> Option<String> {
    let counted = counted(field, value).filter(|_| field.name.ends_with("SEL"))?;
    let name = counted.entry.filter(|_| !counted.is_off())?.name;
    Some(if counted.falls { format!("{name}, falling edges") } else { name.to_owned() })
}

/// What a field of MMCR1 says.
pub(super) fn meaning(field: &Field, value: u64) -> Option<String> {
    let counted = counted(field, value)?;
    let code = counted.code;
    Some(match field.name.get(4..)? {
        "UNIT" if code.is_bus() => format!("{} drives the event bus", unit(code.unit())),
        "UNIT" if code.unit() != 0 => "part of the event's code".to_owned(),
        "COMB" if code.is_bus() => combination(code.comb()).to_owned(),
        "COMB" if code.comb() != 0 => "part of the event's code".to_owned(),
        "SEL" => event(&counted),
        _ => String::new(),
    })
}

fn event(counted: &Counted) -> String {
    let falls = if counted.falls { "falling edges of " } else { "" };
    match counted.entry {
        _ if counted.is_off() => String::new(),
        Some(entry) => format!("{falls}{}: {}", entry.name, entry.summary),
        None if matches!(counted.code.comb(), 0b01 | 0b11) && counted.code.is_bus() => both(counted.code),
        None if counted.code.pmcxsel() & 0xE0 == 0xC0 => "reserved: counts nothing".to_owned(),
        None => "no event of the catalogue has this code; it counts what is injected for it".to_owned(),
    }
}

/// The two events of a bus lane that a counter counts together.
fn both(code: EventCode) -> String {
    let name = |comb| {
        let mut one = code;
        one.set_comb(comb);
        Counted::of(one).entry.map_or("nothing known", |entry| entry.name)
    };
    let word = if code.comb() == 0b01 { "cycles with both of" } else { "the sum of" };
    format!("{word} {} and {}", name(0b00), name(0b10))
}

const fn unit(unit: u8) -> &'static str {
    match unit {
        2 => "instruction sequencing unit 0",
        3 => "instruction sequencing unit 1",
        4 => "instruction fetch unit 0",
        5 => "instruction fetch unit 1",
        6 => "the second and third level",
        8 => "memory management unit 1",
        9 => "memory management unit 2",
        0xA => "memory management unit 3",
        0xB => "memory management unit 4",
        0xC => "load/store unit 0",
        0xD => "load/store unit 1",
        0xE => "load/store unit 2",
        0xF => "load/store unit 3",
        _ => "a reserved unit",
    }
}

const fn combination(comb: u8) -> &'static str {
    match comb {
        0b00 => "the first bit of the bus lane",
        0b10 => "the second bit of the bus lane",
        0b01 => "both bits of the bus lane at once",
        _ => "the sum of both bits of the bus lane",
    }
}

/// The events of the four counters, as `pmulab encode` takes them.
pub(super) fn notation(mmcr1: u64) -> Option<String> {
    let codes = decode(mmcr1, 0);
    let reload = codes.first().filter(|code| code.reload_qual_en()).map(|code| format!(":reload={}", code.reload_qual()));
    let counted = codes.iter().map(|code| Counted::of(*code)).filter(|counted| !counted.is_off());
    let words: Vec<String> = counted.map(|counted| format!("{}{}", counted.notation(), reload.as_deref().unwrap_or_default())).collect();
    Some(words.join(" ")).filter(|words| !words.is_empty())
}
