//! The charts of what CPUs share: one for each kind of box, and of each nest, with a line for each counter.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::untile::{Counter48, Kind, UnitRegister};

use super::boxes::{BoxCounter, MOST_CONTROLS};
use super::figures::{COLOURS, signed};
use super::text::label;
use super::{Page, Time};
use crate::dialect::{boxes, select};

/// The most lines of a chart: each has a colour of its own.
pub(super) const MOST_LINES: usize = COLOURS.len();
/// The longest name of a line beside the pointer.
const NAME: usize = 44;
/// Heights in pixels.
const TOP: usize = 12;
const PLOT: usize = 230;
const AXIS: usize = 58;

/// What boxes of a kind are called.
fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Ubox => "UBox",
        Kind::Pcu => "Power control unit",
        Kind::Cha => "CHAs",
        Kind::McUclk => "DDR controllers",
        Kind::McDclk => "Channels of DDR",
        Kind::EdcUclk => "MCDRAM controllers, at the untile's clock",
        Kind::EdcEclk => "MCDRAM controllers, at MCDRAM's clock",
        Kind::M2pcie => "M2PCIe",
        Kind::Irp => "IRP",
    }
}

/// A counter's value as it is drawn: before its overflow below zero.
fn drawn(value: u64) -> i128 {
    let (value, overflow) = (i128::from(value & !Counter48::REFUSED), i128::from(!Counter48::REFUSED) + 1);
    if value >= overflow / 2 { value - overflow } else { value }
}

/// A counter that is to be drawn.
struct Line {
    /// The counter.
    place: String,
    /// What it counted, and the first of it.
    name: String,
    /// Lines of one group are much alike.
    group: String,
    values: Vec<(Time, i128)>,
}

impl Line {
    /// How far it went up.
    fn rise(&self) -> i128 {
        self.values.windows(2).map(|pair| (pair[1].1 - pair[0].1).max(0)).sum()
    }
}

/// The box and the counter.
fn place(counter: &BoxCounter) -> String {
    match counter.counter {
        Some(number) => format!("{} counter {number}", counter.unit),
        None => format!("{} fixed", counter.unit),
    }
}

/// A counter, what it counted first, and how much else; `events` are all of it.
fn named(counter: &BoxCounter, events: &[String]) -> String {
    let more = match events.len() {
        0 | 1 => String::new(),
        _ if counter.controls.len() >= MOST_CONTROLS => ", and many more".to_owned(),
        several => format!(", and {} more", several - 1),
    };
    let event = events.first().map_or_else(String::new, |event| format!(": {event}"));
    format!("{}{event}{more}", place(counter))
}

/// The register that controls a counter.
fn control(page: &Page<'_>, counter: &BoxCounter) -> Option<&'static RegisterDescription> {
    let register = counter.counter.map_or(UnitRegister::FixedControl, UnitRegister::CounterControl);
    let address = boxes::address(counter.unit, register)?;
    select::registers(page.part).iter().find(|register| register.address == address)
}

/// What a counter counted.
fn events(page: &Page<'_>, counter: &BoxCounter) -> Vec<String> {
    if counter.counter.is_none() {
        return vec![format!("{} clocks", counter.unit.kind().domain().word().to_uppercase())];
    }
    let Some(register) = control(page, counter) else { return Vec::new() };
    let of_box = format!("{}::", counter.unit);
    let mut events: Vec<String> = Vec::new();
    for event in counter.controls.iter().filter_map(|control| page.words.meaning(register, *control).event) {
        let event = event.strip_prefix(&of_box).unwrap_or(&event).to_owned();
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events
}

/// Of too many lines those that are drawn, in their order: of each group in turn the one that counted most. So no event takes the place of
/// another one, though all boxes count both.
fn chosen(lines: Vec<Line>) -> Vec<Line> {
    let mut ranks: Vec<usize> = (0..lines.len()).collect();
    ranks.sort_by_key(|number| std::cmp::Reverse(lines[*number].rise()));
    let mut of_group: BTreeMap<&str, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, usize)> = Vec::new();
    for number in ranks {
        let turn = of_group.entry(&lines[number].group).or_default();
        turns.push((*turn, number));
        *turn += 1;
    }
    // Of one turn, those that counted most are first already.
    turns.sort_by_key(|(turn, _)| *turn);
    let drawn: Vec<usize> = turns.into_iter().take(MOST_LINES).map(|(_, number)| number).collect();
    lines.into_iter().enumerate().filter(|(number, _)| drawn.contains(number)).map(|(_, line)| line).collect()
}

/// The charts of the kinds of boxes that the guest programmed, and of the nests that posted something.
pub(super) fn figures(page: &Page<'_>) -> Value {
    let mut chips: Vec<u32> = page.nests.events.iter().map(|(chip, _)| *chip).collect();
    chips.sort_unstable();
    chips.dedup();
    let of_boxes = Kind::ALL.into_iter().filter_map(|kind| of_kind(page, kind));
    of_boxes.chain(chips.into_iter().flat_map(|chip| [false, true].map(|clocks| of_nest(page, chip, clocks))).flatten()).collect()
}

fn of_kind(page: &Page<'_>, kind: Kind) -> Option<Value> {
    let mut found: Vec<(usize, &BoxCounter)> =
        page.boxes.counters.iter().enumerate().filter(|(_, counter)| counter.unit.kind() == kind).collect();
    // By box, and the fixed counter last.
    found.sort_by_key(|(_, counter)| (counter.unit, counter.counter.is_none(), counter.counter));
    let line = |(number, counter): (usize, &BoxCounter)| {
        let events = events(page, counter);
        let values = page.boxes.looks.moments.values(number).into_iter().map(|(time, value)| (time, drawn(value))).collect();
        Line { place: place(counter), name: named(counter, &events), group: events.join(" "), values }
    };
    chart(kind.unit(), title(kind), "event", page.boxes.looks.end, page, found.into_iter().map(line).collect())
}

/// A chart of what a chip's nest posted: its clocks, or everything else.
fn of_nest(page: &Page<'_>, chip: u32, clocks: bool) -> Option<Value> {
    let is_clock = |event: &str| event.trim_end_matches(|letter: char| letter.is_ascii_digit()).ends_with("_CYC");
    let of_chip = page.nests.events.iter().enumerate().filter(|(_, (of, event))| *of == chip && is_clock(event) == clocks);
    let mut found: Vec<(usize, &str)> = of_chip.map(|(number, (_, event))| (number, event.as_str())).collect();
    found.sort_by_key(|(_, event)| *event);
    let line = |(number, event): (usize, &str)| {
        // Cells are zero until something is posted.
        let values = page.nests.looks.moments.values(number).into_iter().map(|(time, value)| (time, value.into()));
        let values = [(Time::default(), 0)].into_iter().chain(values).collect();
        Line { place: event.to_owned(), name: event.to_owned(), group: unit(event), values }
    };
    let (id, what) = if clocks { (format!("nest{chip}-clocks"), "cycles") } else { (format!("nest{chip}"), "events") };
    let title = format!("Nest of chip {chip}, posted {what}");
    chart(&id, &title, "unit", page.nests.looks.end, page, found.into_iter().map(line).collect())
}

/// The kind of unit that a nest's event is of: `MCS` of `PM_MCS23_64B_RD_DISP_PORT01`.
fn unit(event: &str) -> String {
    let word = event.strip_prefix("PM_").unwrap_or(event).split('_').next().unwrap_or("");
    word.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned()
}

/// A chart, if there are lines. Of each `group` some are drawn.
fn chart(id: &str, title: &str, group: &str, end: u64, page: &Page<'_>, lines: Vec<Line>) -> Option<Value> {
    if lines.is_empty() {
        return None;
    }
    let (moving, still): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.values.len() > 1);
    let all = moving.len();
    let lines = chosen(moving);
    let figure = if lines.is_empty() { Value::Null } else { figure(page, end, &lines) };
    Some(json!({
        "kind": id,
        "title": title,
        "group": group,
        "figure": figure,
        "still": still.into_iter().map(|line| line.place).collect::<Vec<_>>(),
        "left_out": all - lines.len(),
    }))
}

fn figure(page: &Page<'_>, end: u64, lines: &[Line]) -> Value {
    let trace = |(place, line): (usize, &Line)| {
        let last = line.values.last().map(|(_, value)| (Time { instruction: 0, cycle: end }, *value));
        let points: Vec<(Time, i128)> = line.values.iter().copied().chain(last).collect();
        json!({
            "type": "scatter", "mode": "lines", "name": line.name,
            "line": { "shape": "hv", "width": 1.8, "color": COLOURS[place % COLOURS.len()] },
            "x": points.iter().map(|(time, _)| time.cycle).collect::<Vec<_>>(),
            "y": points.iter().map(|(_, value)| signed(*value)).collect::<Vec<_>>(),
            "hovertemplate": format!("<b>{}</b><br>%{{y:,}} at cycle %{{x:,}}<extra></extra>", label(&line.name, NAME)),
        })
    };
    let unit = if page.cpus.len() > 1 { "cycles of the CPU that is furthest" } else { "cycles" };
    json!({
        "data": lines.iter().enumerate().map(trace).collect::<Vec<_>>(),
        "layout": {
            "height": TOP + PLOT + AXIS,
            "margin": { "l": 70, "r": 12, "t": TOP, "b": AXIS },
            "hovermode": "closest", "showlegend": false,
            "xaxis": { "title": { "text": unit }, "range": [0, end.max(1)], "tickformat": ",d", "nticks": 8 },
            "yaxis": { "title": { "text": "count" }, "tickformat": "~s", "nticks": 6, "zeroline": true },
        },
    })
}

#[cfg(test)]
mod tests {
    use vm_pmu::untile::UnitId;

    use super::*;

    fn line(number: usize, group: &str, count: i128) -> Line {
        let values = vec![(Time::default(), 0), (Time::default(), count)];
        Line { place: number.to_string(), name: String::new(), group: group.to_owned(), values }
    }

    #[test]
    fn each_event_has_lines_however_little_it_counted() {
        let of = |number: usize| match number {
            // The clocks are most; of the reads, the last counter has most.
            0..20 => line(number, "UCLK", 1000),
            20..29 => line(number, "READS", 5),
            _ => line(number, "READS", 6),
        };
        let drawn = chosen((0..30).map(of).collect());
        let reads: Vec<&str> = drawn.iter().filter(|line| line.group == "READS").map(|line| line.place.as_str()).collect();
        assert_eq!((drawn.len(), reads), (MOST_LINES, vec!["20", "21", "22", "23", "29"]));
    }

    #[test]
    fn a_name_has_box_counter_event_and_how_many_others() {
        let counter = BoxCounter { unit: UnitId::new(Kind::Cha, 7).unwrap(), counter: Some(1), controls: vec![1, 2] };
        let events = ["TOR_INSERTS:IRQ", "UCLK"].map(str::to_owned);
        assert_eq!(named(&counter, &events), "cha7 counter 1: TOR_INSERTS:IRQ, and 1 more");
        assert_eq!(named(&BoxCounter { counter: None, ..counter }, &events[1..]), "cha7 fixed: UCLK");
    }

    #[test]
    fn events_of_a_nest_are_of_units() {
        let events = ["PM_MCS23_64B_RD_DISP_PORT01", "PM_PB_CYC2", "Update_count_h1"];
        assert_eq!(events.map(unit), ["MCS", "PB", "Update"]);
    }

    #[test]
    fn a_counter_before_its_overflow_is_below_zero() {
        assert_eq!([0xFFFF_FFFF_FFF6, 0x7FFF_FFFF_FFFF, 12].map(drawn), [-10, 0x7FFF_FFFF_FFFF, 12]);
    }
}
