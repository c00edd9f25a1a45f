//! The charts over time and the stack of cycles, as data and layout of plotly.js. Colours of text and lines come with the page's scheme.

use serde_json::{Value, json};
use vm_pmu::Part;
use vm_pmu::arch::knl::GENERAL;
use vm_pmu::arch::model::RegisterDescription;

use super::text::label;
use super::{Clock, Cpu, Interval, Page, Stack, Time};
use crate::number::grouped;
use crate::report::Count;
use crate::timeline::{count_field, is_counter};

/// Colours that stand out from light and dark.
pub(super) const COLOURS: [&str; 10] =
    ["#3b82c4", "#d9730d", "#2f9e6e", "#b5569b", "#8a7a1f", "#6b76d8", "#c0504d", "#3d97a6", "#7a8594", "#a0724a"];
/// The most counters of a CPU that are drawn.
pub(super) const MOST_COUNTERS: usize = 12;
/// The most freezes that are shaded behind the counters: the longest.
const MOST_SHADES: usize = 300;
/// Heights in pixels.
const COUNTER_HEIGHT: usize = 92;
const GAP: usize = 34;
const ROW_HEIGHT: usize = 24;
const BOTTOM: usize = 56;
const TOP: usize = 28;
/// The longest title of a counter, in a wide and in a narrow window.
const TITLE: usize = 110;
const SHORT_TITLE: usize = 42;

/// The distance of a counter from its overflow, where that is nearer than zero; otherwise its value. On POWER a counter overflows where
/// it becomes negative.
fn drawn(part: Part, register: &RegisterDescription, value: u64) -> i128 {
    let Some(field) = count_field(register) else { return value.into() };
    let (count, overflow) = match part {
        // CTR_NEG is the bit above CTRDATA.
        Part::Power9(_) => (i128::from(value & 0xFFFF_FFFF), 1i128 << 31),
        _ => (i128::from(field.of(value)), 1i128 << (field.high - field.low + 1)),
    };
    if count >= overflow / 2 { count - overflow } else { count }
}

/// The number of the counter that a register is, as reports number them.
fn number_of(part: Part, register: &RegisterDescription) -> Option<u32> {
    let digits = register.name.rsplit(|letter: char| !letter.is_ascii_digit()).next()?;
    let number: u32 = digits.parse().ok()?;
    match part {
        Part::Knl(_) if register.name.contains("FIXED") => Some(number + GENERAL as u32),
        _ => Some(number),
    }
}

/// The unit of what a counter of a thread counted in the run, and its selections.
fn counted(page: &Page<'_>, thread: usize, cpu: &Cpu, register: &RegisterDescription) -> (String, Vec<String>) {
    let number = number_of(page.part, register);
    let counts: Vec<&Count> = page.report.counts.iter().filter(|count| count.thread == thread && Some(count.counter) == number).collect();
    let Some(first) = counts.first() else { return ("count".to_owned(), selected(page, cpu, register)) };
    (first.unit.clone(), counts.iter().map(|count| count.event.clone()).collect())
}

/// The fixed counters of Knights Landing, in their order (SDM volume 3, section 18.2.2).
const FIXED: [&str; 3] = ["INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.REF_TSC"];

/// What the selects of Knights Landing have chosen for a counter, whose report has no counts.
fn selected(page: &Page<'_>, cpu: &Cpu, register: &RegisterDescription) -> Vec<String> {
    let Some(digits) = register.name.strip_prefix("IA32_").map(|name| name.trim_start_matches(|letter: char| !letter.is_ascii_digit()))
    else {
        return Vec::new();
    };
    let fixed = digits.parse().ok().and_then(|number: usize| FIXED.get(number)).filter(|_| register.name.contains("FIXED"));
    let select = fixed.map_or_else(|| format!("IA32_PERFEVTSEL{digits}"), |_| "IA32_FIXED_CTR_CTRL".to_owned());
    let Some(select) = cpu.registers.iter().position(|one| one.name == select) else { return Vec::new() };
    let mut values: Vec<u64> = cpu.moments.values(select).into_iter().map(|(_, value)| value).collect();
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|value| seen.insert(*value));
    let events = values.iter().filter_map(|value| page.words.meaning(cpu.registers[select], *value).event);
    let mut words: Vec<String> = match fixed {
        Some(fixed) => events.flat_map(|event| event.split(' ').find(|one| one.starts_with(fixed)).map(str::to_owned)).collect(),
        None => events.collect(),
    };
    words.dedup();
    words
}

/// The counters of a CPU over time, a chart each, with what the CPU did below.
pub(super) fn counters(page: &Page<'_>, thread: usize, cpu: &Cpu, clock: Clock) -> Value {
    let series: Vec<(usize, Vec<(Time, u64)>)> = cpu
        .registers
        .iter()
        .enumerate()
        .filter(|(_, register)| is_counter(register))
        .map(|(number, _)| (number, cpu.moments.values(number)))
        .collect();
    let (moving, still): (Vec<_>, Vec<_>) = series.into_iter().partition(|(_, values)| values.len() > 1);
    let left_out = moving.len().saturating_sub(MOST_COUNTERS);
    let moving = &moving[..moving.len() - left_out];
    let rows = rows(cpu);
    let strip = rows.len().max(1) * ROW_HEIGHT;
    let plot = moving.len() * (COUNTER_HEIGHT + GAP) + strip;
    let of_plot = |pixels: usize| pixels as f64 / plot as f64;
    let end = clock.at(cpu.end);
    let mut traces = Vec::new();
    let mut titles = Vec::new();
    let mut short = Vec::new();
    let mut layout = json!({
        "height": plot + TOP + BOTTOM,
        "margin": { "l": 70, "r": 12, "t": TOP, "b": BOTTOM },
        "showlegend": false,
        "hovermode": "closest",
        "bargap": 0.15,
        "xaxis": {
            "title": { "text": format!("{} of CPU {thread}", clock.unit()) },
            "range": [0, end.max(1)], "anchor": "y", "tickformat": ",d", "nticks": 8
        },
        "yaxis": {
            "domain": [0, of_plot(strip)], "type": "category", "fixedrange": true, "automargin": true,
            "categoryorder": "array", "categoryarray": rows.iter().rev().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
            "range": [-0.5, rows.len() as f64 - 0.5], "title": { "text": "" }
        },
    });
    for (place, (number, values)) in moving.iter().enumerate() {
        let register = cpu.registers[*number];
        let axis = place + 2;
        // The first is at the top.
        let bottom = strip + GAP + (moving.len() - 1 - place) * (COUNTER_HEIGHT + GAP);
        let (bottom, top) = (of_plot(bottom), of_plot(bottom + COUNTER_HEIGHT).min(1.0));
        let (unit, events) = counted(page, thread, cpu, register);
        let event = events.first().map_or_else(String::new, |event| format!(": {event}"));
        let more = if events.len() < 2 { String::new() } else { format!(", and {} more", events.len() - 1) };
        let title = |most: usize| {
            let rest = label(&format!("{event}{more}"), most.saturating_sub(register.name.len()).max(8));
            format!("<b>{}</b>{rest}", label(register.name, most))
        };
        titles.push(json!({
            "xref": "paper", "yref": "paper", "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom", "showarrow": false, "align": "left",
            "text": title(TITLE),
        }));
        short.push(title(SHORT_TITLE));
        layout[format!("yaxis{axis}")] = json!({
            "domain": [bottom, top], "title": { "text": label(&unit, 16) }, "nticks": 4, "tickformat": "~s", "zeroline": true
        });
        let last = values.last().map(|(_, value)| *value);
        let with_end = values.iter().copied().chain(last.map(|value| (cpu.end, value)));
        let points: Vec<(Time, i128)> = with_end.map(|(time, value)| (time, drawn(page.part, register, value))).collect();
        traces.push(json!({
            "type": "scatter", "mode": "lines", "xaxis": "x", "yaxis": format!("y{axis}"),
            "name": register.name,
            "line": { "shape": "hv", "width": 1.8, "color": COLOURS[place % COLOURS.len()] },
            "x": points.iter().map(|(time, _)| clock.at(*time)).collect::<Vec<_>>(),
            "y": points.iter().map(|(_, value)| signed(*value)).collect::<Vec<_>>(),
            "customdata": points.iter().map(|(time, _)| time.instruction).collect::<Vec<_>>(),
            "hovertemplate": format!("<b>{}</b>: %{{y:,}}<br>{} %{{x:,}}, instruction %{{customdata:,}}<extra></extra>", register.name, clock.unit()),
        }));
    }
    for (place, (name, intervals)) in rows.iter().enumerate() {
        traces.push(row(name, place, intervals, clock, cpu.end));
    }
    layout["annotations"] = titles.into();
    let mut longest: Vec<&Interval> = cpu.freezes.kept.iter().collect();
    longest.sort_by_key(|one| std::cmp::Reverse(clock.at(one.to.unwrap_or(cpu.end)).saturating_sub(clock.at(one.from))));
    let shades = longest.into_iter().take(MOST_SHADES).map(|interval| {
        json!({
            "type": "rect", "xref": "x", "yref": "paper", "layer": "below", "line": { "width": 0 }, "fillcolor": "rgba(120,140,170,0.16)",
            "x0": clock.at(interval.from), "x1": clock.at(interval.to.unwrap_or(cpu.end)), "y0": of_plot(strip), "y1": 1,
        })
    });
    layout["shapes"] = shades.collect();
    json!({
        "data": traces,
        "layout": layout,
        "short": short,
        "still": still.iter().map(|(number, _)| cpu.registers[*number].name).collect::<Vec<_>>(),
        "left_out": left_out,
    })
}

/// A number of JSON, with its sign.
pub(super) fn signed(value: i128) -> Value {
    i64::try_from(value).map_or_else(|_| json!(value as f64), Value::from)
}

/// What a CPU was and did: the rows below its counters, and when.
fn rows(cpu: &Cpu) -> Vec<(String, Vec<Interval>)> {
    let mut rows: Vec<(String, Vec<Interval>)> = Vec::new();
    if cpu.can_freeze {
        rows.push(("frozen".to_owned(), cpu.freezes.kept.clone()));
    }
    let waiting = cpu.interrupts.kept.iter().map(|one| Interval { from: one.asked, to: one.taken });
    rows.push(("interrupt".to_owned(), waiting.collect()));
    rows.extend(cpu.levels.iter().map(|(name, levels)| (name.clone(), levels.kept.clone())));
    rows
}

/// A row of bars. One that takes no time is seen as well, as each has an edge.
fn row(name: &str, place: usize, intervals: &[Interval], clock: Clock, end: Time) -> Value {
    let colour = match name {
        "frozen" => "#7a8fb0",
        "interrupt" => "#c0504d",
        _ => COLOURS[(place + 2) % COLOURS.len()],
    };
    let length = |one: &Interval| clock.at(one.to.unwrap_or(end)).saturating_sub(clock.at(one.from));
    let said = |one: &Interval| {
        let to = one.to.map_or_else(|| "to the end of the run".to_owned(), |to| format!("to {}", grouped(clock.at(to))));
        format!("{name} from {} {to}<br>{} {}", grouped(clock.at(one.from)), grouped(length(one)), clock.unit())
    };
    json!({
        "type": "bar", "orientation": "h", "xaxis": "x", "yaxis": "y", "name": name,
        "base": intervals.iter().map(|one| clock.at(one.from)).collect::<Vec<_>>(),
        "x": intervals.iter().map(length).collect::<Vec<_>>(),
        "y": intervals.iter().map(|_| name).collect::<Vec<_>>(),
        "width": 0.72,
        "marker": { "color": colour, "line": { "width": 1.5, "color": colour } },
        "text": intervals.iter().map(said).collect::<Vec<_>>(),
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    })
}

/// The longest that an interrupt waited; nothing if none was taken.
pub(super) fn slowest(cpus: &[Cpu], clock: Clock) -> Option<u64> {
    cpus.iter().filter_map(|cpu| cpu.slowest).map(|latency| clock.at(latency)).max()
}

/// How long interrupts waited, over the time when they were asked for; nothing where none waited.
pub(super) fn interrupts(page: &Page<'_>, clock: Clock) -> Value {
    let Some(slowest) = slowest(page.cpus, clock).filter(|slowest| *slowest != 0) else { return Value::Null };
    let mut traces = Vec::new();
    for (number, cpu) in page.cpus.iter().enumerate().filter(|(_, cpu)| cpu.interrupts.all != 0) {
        let taken: Vec<_> = cpu.interrupts.kept.iter().filter_map(|one| Some((one, one.latency()?))).collect();
        let said = |one: &super::Interrupt, latency: Time| {
            let counters: Vec<String> = one.counters.iter().map(u32::to_string).collect();
            let place = page.symbols.at(one.address).map_or_else(String::new, |place| format!("<br>{}", label(&place.to_string(), 60)));
            format!(
                "CPU {number}, counter {}<br>asked for at instruction {} ({:#x}){place}<br>taken {} instructions and {} cycles later",
                counters.join(", "),
                grouped(one.asked.instruction),
                one.address,
                grouped(latency.instruction),
                grouped(latency.cycle)
            )
        };
        traces.push(json!({
            "type": "scatter", "mode": "markers", "name": format!("CPU {number}"),
            "marker": { "size": 8, "color": COLOURS[number % COLOURS.len()], "opacity": 0.8 },
            "x": taken.iter().map(|(one, _)| clock.at(one.asked)).collect::<Vec<_>>(),
            "y": taken.iter().map(|(_, latency)| clock.at(*latency)).collect::<Vec<_>>(),
            "text": taken.iter().map(|(one, latency)| said(one, *latency)).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
        }));
    }
    let unit = clock.unit();
    // Whole numbers alone.
    let step = if slowest < 6 { json!(1) } else { Value::Null };
    json!({
        "data": traces,
        "layout": {
            "height": 300, "margin": { "l": 64, "r": 12, "t": 12, "b": 56 }, "hovermode": "closest",
            "showlegend": traces.len() > 1, "legend": { "orientation": "h", "y": 1.15 },
            "xaxis": { "title": { "text": format!("asked for at ({unit} of the CPU)") }, "tickformat": ",d", "rangemode": "tozero", "nticks": 8 },
            "yaxis": { "title": { "text": format!("latency ({unit})") }, "range": [0.0 - 0.04 * slowest.max(4) as f64, 1.08 * slowest.max(4) as f64], "tickformat": ",d", "nticks": 6, "dtick": step },
        },
    })
}

/// The stack of cycles: one bar, of a part for each cause.
pub(super) fn stack(stack: &Stack) -> Value {
    let whole: f64 = stack.causes.iter().map(|(_, _, cycles)| cycles).sum();
    let trace = |(number, (name, cause, cycles)): (usize, &(String, String, f64))| {
        json!({
            "type": "bar", "orientation": "h", "name": name, "x": [cycles], "y": [""],
            "marker": { "color": COLOURS[number % COLOURS.len()] },
            "hovertemplate": format!("<b>{cause}</b><br>{name}<br>%{{x:.3f}} cycles per instruction, {:.1} %<extra></extra>", 100.0 * cycles / whole),
        })
    };
    json!({
        "data": stack.causes.iter().enumerate().map(trace).collect::<Vec<_>>(),
        "layout": {
            "barmode": "stack", "height": 140, "showlegend": false, "margin": { "l": 12, "r": 12, "t": 8, "b": 52 },
            "xaxis": { "title": { "text": "cycles per instruction" }, "nticks": 8 },
            "yaxis": { "visible": false, "fixedrange": true },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(part: &str, name: &str) -> (Part, &'static RegisterDescription) {
        let part = Part::named(part).unwrap();
        (part, crate::dialect::select::register(part, name).unwrap())
    }

    #[test]
    fn a_counter_before_its_overflow_is_below_zero() {
        let (k8, counter) = of("k8", "PerfCtr0");
        assert_eq!(drawn(k8, counter, 0xFFFF_FFFF_FF9C), -100);
        assert_eq!(drawn(k8, counter, 3), 3);
        // POWER's counters overflow as they become negative.
        let (power9, counter) = of("power9", "PMC1");
        assert_eq!([0x7FFF_FC18, 0x8000_0002, 5].map(|value| drawn(power9, counter, value)), [-1000, 2, 5]);
        let (montecito, counter) = of("montecito", "PMD4");
        assert_eq!(drawn(montecito, counter, 0x7FFF_FFFF_FC18), -1000);
    }

    #[test]
    fn registers_are_numbered_as_reports_number_counters() {
        for (part, name, number) in
            [("k8", "PerfCtr3", 3), ("knl", "IA32_PMC1", 1), ("knl", "IA32_FIXED_CTR0", 2), ("power9", "PMC6", 6), ("itanium", "PMD7", 7)]
        {
            let (part, register) = of(part, name);
            assert_eq!(number_of(part, register), Some(number), "{name}");
        }
    }
}
