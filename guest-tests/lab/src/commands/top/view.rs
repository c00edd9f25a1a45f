//! How a guest is drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::counters::Counter;
use super::model::{Model, ThreadView};
use crate::commands::decode::Decoded;
use crate::commands::render;
use crate::number::grouped;
use crate::report::Action;
use crate::text::{columns, padded, widest};

/// From how many columns on registers stand beside interrupts.
const WIDE: u16 = 110;

/// The most digits of what a counter has left, with their commas, that are worth their room.
const DIGITS: usize = 11;

/// How the parts of a frame look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    title: Style,
    heading: Style,
    changed: Style,
    alarm: Style,
    keys: Style,
    /// The last line says what the keys do.
    has_keys: bool,
}

impl Look {
    /// With colours, or with none: then what has changed is bold, and marked in either case.
    #[must_use]
    pub fn new(colours: bool) -> Look {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let coloured = |colour: Color| if colours { bold.fg(colour) } else { bold };
        Look {
            title: plain.add_modifier(Modifier::REVERSED),
            heading: plain.add_modifier(Modifier::UNDERLINED),
            changed: coloured(Color::Yellow),
            alarm: coloured(Color::Red),
            keys: if colours { plain.fg(Color::Cyan) } else { plain },
            has_keys: true,
        }
    }

    /// The same without the line of keys.
    #[must_use]
    pub fn without_keys(self) -> Look {
        Look { has_keys: false, ..self }
    }
}

/// Draws a frame.
pub fn draw(model: &Model, look: &Look, area: Rect, buffer: &mut Buffer) {
    let mut rows: Vec<Line<'_>> = vec![title(model, look, area.width)];
    let Some(thread) = model.thread() else { return };
    rows.push(place(model, thread, look));
    rows.extend(counters(model, thread, look, area.width.into()));
    let top = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    for (line, y) in rows.into_iter().zip(area.y..area.bottom()) {
        line.render(Rect { y, height: 1, ..area }, buffer);
    }
    let foot = 1 + u16::from(look.has_keys);
    let rest = area.height.saturating_sub(top + foot);
    let below = Rect { y: area.y.saturating_add(top), height: rest, ..area };
    if area.width >= WIDE {
        let left = area.width / 2;
        registers(thread, model, look, Rect { width: left - 2, ..below }, buffer);
        events(model, look, Rect { x: area.x + left, width: area.width - left, ..below }, buffer);
    } else {
        let wanted = 1 + u16::try_from(shown(thread).len()).unwrap_or(u16::MAX);
        let above =
            wanted.min((rest * 3 / 5).max(rest.saturating_sub(1 + u16::try_from(model.last(rest.into()).len()).unwrap_or(u16::MAX))));
        registers(thread, model, look, Rect { height: above, ..below }, buffer);
        events(model, look, Rect { y: below.y + above, height: rest - above, ..below }, buffer);
    }
    if area.height > foot {
        message(model, look).render(Rect { y: area.bottom() - foot, height: 1, ..area }, buffer);
    }
    if look.has_keys {
        Line::styled(keys(model, area.width), look.keys).render(Rect { y: area.bottom() - 1, height: 1, ..area }, buffer);
    }
}

fn title(model: &Model, look: &Look, width: u16) -> Line<'static> {
    let state = match (&model.ended, model.goal) {
        (Some(_), _) => "   ended".to_owned(),
        (None, Some(goal)) => format!("   {}", goal.words()),
        (None, None) if look.has_keys => "   paused".to_owned(),
        (None, None) => String::new(),
    };
    let left = format!(" {} on {}   step {}{state}", model.title, model.part.name(), grouped(model.steps));
    let right = if model.threads.len() > 1 { format!("CPU {} of {} ", model.chosen, model.threads.len()) } else { String::new() };
    let between = usize::from(width).saturating_sub(columns(&right)).max(columns(&left) + 1);
    Line::styled(format!("{}{right}", padded(&left, between)), look.title)
}

fn place(model: &Model, thread: &ThreadView, look: &Look) -> Line<'static> {
    let seen = &thread.seen;
    let mut words = vec![
        Span::raw(format!(" instruction {}   cycle {}", grouped(seen.instructions), grouped(seen.cycles))),
        Span::raw(format!("   privilege {}", seen.context.privilege)),
    ];
    if seen.context.halted {
        words.push(Span::styled("   halted", look.alarm));
    }
    if !seen.context.foreground && model.threads.len() > 1 {
        words.push(Span::raw("   in the background"));
    }
    match seen.frozen {
        Some(true) => words.push(Span::styled("   frozen", look.alarm)),
        Some(false) => words.push(Span::raw("   not frozen")),
        None => {}
    }
    // Last, as it may be long.
    let at = model.symbols.at(seen.address).map_or(String::new(), |place| format!(" {place}"));
    words.push(Span::raw(format!("   at {:#x}{at}", seen.address)));
    Line::from(words)
}

/// How many of something there are for each of something else.
fn rate(count: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let rate = count as f64 / whole as f64;
    if rate < 100.0 { format!("{rate:.3}") } else { format!("{rate:.0}") }
}

fn left(model: &Model, counter: &Counter) -> String {
    let text = grouped(counter.left(model.part));
    if counter.value == 0 || text.len() > DIGITS { "-".to_owned() } else { text }
}

fn counters(model: &Model, thread: &ThreadView, look: &Look, width: usize) -> Vec<Line<'static>> {
    let (idle, busy): (Vec<&Counter>, Vec<&Counter>) = thread.counters.iter().partition(|counter| counter.is_idle());
    let head = ["counter", "value", "left", "/step", "/cycle", "event"].map(str::to_owned);
    let row = |counter: &&Counter| {
        [
            counter.register.name.to_owned(),
            format!("{:#x}", counter.value),
            left(model, counter),
            rate(counter.grown, model.taken),
            rate(counter.grown, thread.cycles),
            counter.event.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    };
    let table: Vec<[String; 6]> = std::iter::once(head).chain(busy.iter().map(row)).collect();
    let widths: Vec<usize> = (0..5).map(|column| widest(table.iter().map(|row| row[column].as_str()))).collect();
    let mut lines = Vec::new();
    for (number, row) in table.iter().enumerate() {
        let mut text = format!(" {}", padded(&row[0], widths[0]));
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        let event = cut(&row[5], width.saturating_sub(columns(&text) + 2));
        let grown = number.checked_sub(1).and_then(|number| busy.get(number)).is_some_and(|counter| counter.grown != 0);
        let style = if grown { look.changed } else { Style::new() };
        lines.push(if number == 0 {
            Line::styled(padded(&format!("{text}  {event}"), width), look.heading)
        } else {
            Line::from(vec![Span::styled(text, style), Span::raw(format!("  {event}"))])
        });
    }
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|counter| counter.register.name).collect();
        lines.push(Line::raw(cut(&format!(" idle: {}", names.join(", ")), width)));
    }
    lines
}

/// `text`, or as much of it as fits, and a mark.
fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if columns(&short) + 1 >= width {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

/// The control registers to show, and what each held at the last frame: first those that have changed, then those that are not zero.
fn shown(thread: &ThreadView) -> Vec<(usize, u64, u64)> {
    let is_counter = |number: usize| thread.counters.iter().any(|counter| counter.register.name == thread.values[number].register.name);
    let rows = thread.values.iter().zip(&thread.before).enumerate().map(|(number, (one, before))| (number, *before, one.value));
    let control: Vec<_> = rows.filter(|(number, ..)| !is_counter(*number)).collect();
    let (changed, rest): (Vec<_>, Vec<_>) = control.into_iter().partition(|(_, before, value)| before != value);
    changed.into_iter().chain(rest.into_iter().filter(|(.., value)| *value != 0)).collect()
}

fn registers(thread: &ThreadView, model: &Model, look: &Look, area: Rect, buffer: &mut Buffer) {
    let rows = shown(thread);
    let value = |value: u64| format!("{value:#x}");
    let names = widest(rows.iter().filter_map(|(number, ..)| thread.values.get(*number)).map(|one| one.register.name));
    let digits = widest(rows.iter().map(|(.., now)| value(*now)).collect::<Vec<_>>().iter().map(String::as_str));
    let mut lines = vec![Line::styled(padded(" control registers, * changed since the last frame", area.width.into()), look.heading)];
    for (number, before, now) in &rows {
        let Some(one) = thread.values.get(*number) else { continue };
        let lead = format!("{} {:>digits$}", padded(one.register.name, names), value(*now));
        let room = usize::from(area.width).saturating_sub(columns(&lead) + 4);
        let decoded = Decoded::new(model.part, one.register, *now);
        if before == now {
            let fields = decoded.fields.iter().filter(|field| !field.reserved && field.value != 0);
            let words: Vec<String> = fields
                .map(|field| if field.high == field.low { field.name.to_owned() } else { format!("{}={}", field.name, field.digits()) })
                .collect();
            lines.push(Line::raw(format!("  {lead}  {}", cut(&words.join(" "), room))));
            continue;
        }
        let old = Decoded::new(model.part, one.register, *before);
        let pairs = old.fields.iter().zip(&decoded.fields).filter(|(old, new)| old.value != new.value && !new.reserved);
        let words: Vec<String> = pairs.map(|(old, new)| format!("{} {} → {}", new.name, old.digits(), new.digits())).collect();
        lines.push(Line::from(vec![
            Span::styled("* ", look.changed),
            Span::raw(format!("{lead}  ")),
            Span::styled(cut(&words.join(", "), room), look.changed),
        ]));
    }
    if rows.is_empty() {
        lines.push(Line::raw("  all are zero"));
    }
    put(lines, area, buffer);
}

/// The last interrupts and accesses.
fn events(model: &Model, look: &Look, area: Rect, buffer: &mut Buffer) {
    let rows = model.last(area.height.saturating_sub(1).into());
    let steps: Vec<String> = rows.iter().map(|one| grouped(one.step)).collect();
    let width = widest(steps.iter().map(String::as_str)).max(4);
    let several = model.threads.len() > 1;
    let head = format!(" {:>width$}  {}last interrupts and accesses", "step", if several { "CPU  " } else { "" });
    let mut lines = vec![Line::styled(padded(&head, area.width.into()), look.heading)];
    for (one, step) in rows.iter().zip(&steps) {
        let (what, meaning) = render::words(Some(model.part), &one.entry.action, one.entry.address);
        let cpu = if several { format!("{:>3}  ", one.entry.thread) } else { String::new() };
        let text = format!(" {step:>width$}  {cpu}{what}  {meaning}");
        let is_new = one.step + model.taken > model.steps;
        let style = match one.entry.action {
            Action::Read { .. } | Action::Write { .. } => Style::new(),
            _ if is_new => look.alarm,
            _ => look.changed,
        };
        lines.push(Line::styled(cut(text.trim_end(), area.width.into()), style));
    }
    if rows.is_empty() {
        lines.push(Line::raw("  none yet"));
    }
    put(lines, area, buffer);
}

/// Draws lines, as many as there is room for; the last says how many there are more.
fn put(lines: Vec<Line<'_>>, area: Rect, buffer: &mut Buffer) {
    let (all, room) = (lines.len(), usize::from(area.height));
    for ((number, line), y) in lines.into_iter().enumerate().zip(area.y..area.bottom()) {
        let line = if number + 1 == room && all > room && room > 2 { Line::raw(format!("  and {} more", all - number)) } else { line };
        line.render(Rect { y, height: 1, ..area }, buffer);
    }
}

fn message<'a>(model: &'a Model, look: &Look) -> Line<'a> {
    match &model.prompt {
        Some(text) => Line::from(vec![
            Span::styled(" write REG=VALUE: ", look.changed),
            Span::raw(text.as_str()),
            Span::styled(" ", look.title),
            Span::raw("  Enter writes, Esc leaves"),
        ]),
        None => Line::raw(format!(" {}", model.message)),
    }
}

/// What the keys do, as much as fits.
fn keys(model: &Model, width: u16) -> String {
    let mut words = vec!["p run/pause", "s step", "a access", "i interrupt", "o overflow"];
    if model.threads.len() > 1 {
        words.push("t CPU");
    }
    words.extend(["w write", "q quit", "+- pace", "n frame"]);
    let mut line = String::new();
    for word in words {
        if columns(&line) + 2 + columns(word) <= usize::from(width) {
            line.push_str(if line.is_empty() { " " } else { "  " });
            line.push_str(word);
        }
    }
    line
}
