//! The page as HTML: what needs no chart is in it as text and tables.

use std::fmt::Write as _;

use serde_json::Value;

use super::figures::{COLOURS, MOST_COUNTERS, slowest};
use super::shared_figures::MOST_LINES;
use super::text::{embedded, escaped};
use super::{Clock, Page, Time};
use crate::number::grouped;
use crate::report::Check;

const STYLE: &str = include_str!("page.css");
const PROGRAM: &str = include_str!("page.js");
/// The most rows of a table.
const MOST_ROWS: usize = 500;
/// The most counters that are named in a line.
const MOST_NAMES: usize = 8;

/// Nothing is loaded, whatever the data has.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// Mistakes are kept where a test finds them.
const GUARD: &str = "document.documentElement.dataset.errors='';\
addEventListener('error',function(e){document.documentElement.dataset.errors+=e.message+'; '});\
addEventListener('unhandledrejection',function(e){document.documentElement.dataset.errors+=e.reason+'; '});\
addEventListener('securitypolicyviolation',function(e){document.documentElement.dataset.errors+='refused '+e.blockedURI+'; '});";

/// The element of plotly.js, of those that the crate has for pages without a network.
fn charts() -> String {
    let sources = plotly::Plot::offline_js_sources();
    // The first is plotly.js; the second sets formulas, and here are none.
    let end = sources.find("</script>").map_or(sources.len(), |at| at + "</script>".len());
    sources[..end].to_owned()
}

/// What is written with `write!`: a string takes everything.
macro_rules! add {
    ($to:expr, $($what:tt)*) => { { let _ = write!($to, $($what)*); } };
}

pub(super) fn page(page: &Page<'_>, data: &Value, clock: Clock) -> String {
    let report = page.report;
    let title = format!("{} on {}", report.guest, report.pmu);
    let mut html = String::with_capacity(6 << 20);
    add!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n<script>{GUARD}</script>\n</head>\n<body>\n",
        escaped(&title)
    );
    header(page, data, &mut html);
    html.push_str("<main>\n");
    checks(&report.checks, &mut html);
    over_time(page, data, &mut html);
    shared(page, data, &mut html);
    registers(page, clock, &mut html);
    interrupts(page, clock, &mut html);
    hints(page, &mut html);
    samples(page, data, &mut html);
    stack(page, &mut html);
    counts(page, &mut html);
    console(page, &mut html);
    about(page, clock, &mut html);
    html.push_str("</main>\n<script type=\"application/json\" id=\"data\">");
    html.push_str(&embedded(data));
    html.push_str("</script>\n");
    html.push_str(&charts());
    add!(html, "\n<script>\n{PROGRAM}</script>\n</body>\n</html>\n");
    html
}

fn header(page: &Page<'_>, data: &Value, html: &mut String) {
    let report = page.report;
    let (class, word) = if report.passed { ("pass", "PASS") } else { ("fail", "FAIL") };
    let executed = report
        .cycles
        .map_or_else(|| format!("{} instructions", grouped(report.instructions)), |cycles| format!("{} cycles", grouped(cycles)));
    let companion = match report.companion.as_str() {
        "" => String::new(),
        "off" => "; no companion".to_owned(),
        made => format!("; the companion makes {made}"),
    };
    let end = page.cpus.iter().map(|cpu| cpu.end.cycle).max().unwrap_or(0);
    let cycles = if end == 0 { String::new() } else { format!(", the longest CPU {} cycles", grouped(end)) };
    add!(
        html,
        "<header>\n<h1>{} <span class=\"on\">on {}</span> <span class=\"badge {class}\">{word}</span></h1>\n<p>{}</p>\n<p class=\"quiet\">{executed} executed by {}{cycles}{}.</p>\n",
        escaped(&report.guest),
        escaped(&report.pmu),
        escaped(&report.ending),
        escaped(&report.engine),
        escaped(&companion)
    );
    for position in &report.positions {
        let place = report.place(position.address).map_or_else(String::new, |place| format!(", {place}"));
        add!(html, "<p>CPU {} was at {:#x}{}.</p>\n", position.thread, position.address, escaped(&place));
    }
    html.push_str("<nav aria-label=\"Sections\"><ul>");
    let sections = [
        ("checks", "Checks"),
        ("time", "Over time"),
        ("shared", shared_name(page)),
        ("registers", "Registers"),
        ("interrupts", "Interrupts"),
        ("hints", "Hints"),
        ("samples", "Samples"),
        ("stack", "Cycles"),
        ("counts", "Counts"),
        ("about", "About"),
    ];
    let is_there = |id: &str| match id {
        "shared" => !shared_charts(data).is_empty(),
        "hints" => !report.remarks().is_empty(),
        _ => true,
    };
    for (id, name) in sections.into_iter().filter(|(id, _)| is_there(id)) {
        add!(html, "<li><a href=\"#{id}\">{name}</a></li>");
    }
    html.push_str("</ul></nav>\n</header>\n");
}

/// A number that may be a count or the bits of a register.
fn value(number: u64) -> String {
    if number > u64::from(u32::MAX) { format!("{number:#x}") } else { grouped(number) }
}

fn checks(checks: &[Check], html: &mut String) {
    html.push_str("<section id=\"checks\">\n<h2>Checks</h2>\n");
    if checks.is_empty() {
        html.push_str("<p>The guest reported none.</p>\n</section>\n");
        return;
    }
    let (passed, failed): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|check| check.passed());
    if failed.is_empty() {
        add!(html, "<p>{} of {} passed.</p>\n", passed.len(), checks.len());
    } else {
        add!(html, "<p><strong>{} of {} failed</strong>; these come first.</p>\n", failed.len(), checks.len());
    }
    let open = if checks.len() <= 12 || !failed.is_empty() { " open" } else { "" };
    add!(
        html,
        "<details{open}><summary>Every check</summary>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Checks\"><table>\n"
    );
    html.push_str("<thead><tr><th scope=\"col\">result</th><th scope=\"col\">check</th><th scope=\"col\" class=\"n\">seen</th><th scope=\"col\" class=\"n\">expected</th></tr></thead>\n<tbody>\n");
    for check in failed.iter().chain(&passed) {
        let (class, word) = if check.passed() { ("pass", "pass") } else { ("fail", "FAIL") };
        let expected =
            if check.least == check.most { value(check.least) } else { format!("{} to {}", value(check.least), value(check.most)) };
        add!(
            html,
            "<tr><td><span class=\"{class}\">{word}</span></td><td class=\"t\">{}</td><td class=\"n\" data-label=\"seen\">{}</td><td class=\"n\" data-label=\"expected\">{expected}</td></tr>\n",
            escaped(&check.name),
            value(check.seen)
        );
    }
    html.push_str("</tbody></table></div></details>\n</section>\n");
}

fn over_time(page: &Page<'_>, data: &Value, html: &mut String) {
    html.push_str("<section id=\"time\">\n<h2>Counters over time</h2>\n");
    if page.cpus.is_empty() {
        html.push_str("<p>Nothing was told of the run: this engine has no traces.</p>\n</section>\n");
        return;
    }
    html.push_str(
        "<p class=\"quiet\">A counter that is nearer to its overflow than to zero is drawn by its distance from it: −100 is 100 before. \
         Drag to zoom, double-click to see all; a click moves the registers below to that moment.",
    );
    if page.cpus.iter().any(|cpu| cpu.can_freeze) {
        html.push_str(" Shaded: the PMU is frozen.");
    }
    html.push_str("</p>\n");
    if page.cpus.len() > 1 {
        html.push_str("<p><label for=\"cpu\">CPU</label> <select id=\"cpu\">");
        for number in 0..page.cpus.len() {
            add!(html, "<option value=\"{number}\">{number}</option>");
        }
        html.push_str("</select></p>\n");
    }
    html.push_str("<div id=\"counters\" class=\"chart\" role=\"img\" aria-label=\"Counters, freezes, interrupts and privilege levels over time\"></div>\n");
    html.push_str("<p class=\"quiet\" id=\"still\"></p>\n");
    if page.cpus.iter().all(|cpu| !cpu.can_freeze) {
        add!(
            html,
            "<p class=\"quiet\">The {} does not freeze as a whole: software stops its counters one by one.</p>\n",
            escaped(&page.report.pmu)
        );
    }
    let most = data["cpus"].as_array().into_iter().flatten().filter_map(|cpu| cpu["figure"]["left_out"].as_u64()).max().unwrap_or(0);
    if most != 0 {
        add!(
            html,
            "<p class=\"quiet\">The first {MOST_COUNTERS} counters that moved are drawn; up to {most} more of a CPU are below, as registers.</p>\n"
        );
    }
    html.push_str("</section>\n");
}

/// The charts of what CPUs share.
fn shared_charts(data: &Value) -> &[Value] {
    data["shared"].as_array().map_or(&[], Vec::as_slice)
}

/// What CPUs share.
fn shared_name(page: &Page<'_>) -> &'static str {
    if page.part.shape().has_untile { "Boxes" } else { "Nests" }
}

fn shared(page: &Page<'_>, data: &Value, html: &mut String) {
    let charts = shared_charts(data);
    if charts.is_empty() {
        return;
    }
    html.push_str("<section id=\"shared\">\n");
    html.push_str(if page.part.shape().has_untile {
        "<h2>Counters of boxes over time</h2>\n\
         <p class=\"quiet\">Each counter that the guest enabled at some time, with the event that it counted first."
    } else {
        "<h2>Counters of nests over time</h2>\n\
         <p class=\"quiet\">What the engine of each chip's nest posted into memory, in events."
    });
    html.push_str(" A click on a name hides its line or shows it again, a double click shows it alone.</p>\n");
    for chart in charts {
        let text = |name: &str| escaped(chart[name].as_str().unwrap_or(""));
        let (kind, title) = (text("kind"), text("title"));
        add!(html, "<h3>{title} <code>{kind}</code></h3>\n");
        if chart["figure"].is_object() {
            add!(html, "<div id=\"shared-{kind}\" class=\"chart\" role=\"img\" aria-label=\"{title}: counters over time\"></div>\n");
            add!(html, "<ul class=\"lines\" id=\"lines-shared-{kind}\" aria-label=\"Lines: {title}\"></ul>\n");
        }
        let left_out = chart["left_out"].as_u64().unwrap_or(0);
        if left_out != 0 {
            add!(
                html,
                "<p class=\"quiet\">Of {} counters that moved {MOST_LINES} are drawn: of each {} in turn the one that counted most.</p>\n",
                left_out + MOST_LINES as u64,
                text("group")
            );
        }
        let still: Vec<String> = chart["still"].as_array().into_iter().flatten().filter_map(Value::as_str).map(escaped).collect();
        match still.as_slice() {
            [] => {}
            few if few.len() <= MOST_NAMES => add!(html, "<p class=\"quiet\">Never moved: {}.</p>\n", few.join(", ")),
            many => add!(
                html,
                "<details><summary class=\"quiet\">{} counters never moved</summary><p class=\"quiet\">{}.</p></details>\n",
                many.len(),
                many.join(", ")
            ),
        }
    }
    html.push_str("</section>\n");
}

fn registers(page: &Page<'_>, clock: Clock, html: &mut String) {
    if page.cpus.iter().all(|cpu| cpu.moments.kept.is_empty()) {
        return;
    }
    html.push_str(
        "<section id=\"registers\">\n<h2>Registers at a moment</h2>\n\
         <div class=\"slider\"><label for=\"moment\">Moment of the run</label>\n\
         <button type=\"button\" id=\"before\" aria-label=\"the moment before\">‹</button>\n\
         <input type=\"range\" id=\"moment\" min=\"0\" max=\"0\" value=\"0\" step=\"1\">\n\
         <button type=\"button\" id=\"after\" aria-label=\"the moment after\">›</button></div>\n\
         <p id=\"now\" aria-live=\"polite\"></p>\n\
         <details><summary>What passed before and after</summary><ol id=\"around\"></ol></details>\n\
         <p class=\"choice\"><label><input type=\"checkbox\" id=\"zeros\"> registers that are zero too</label></p>\n\
         <div id=\"file\"></div>\n",
    );
    add!(
        html,
        "<p class=\"quiet\">● changed since the moment before. Open a register to see every field. \
         <code>#at=N</code> behind the address of this page is the moment after N instructions{}.</p>\n</section>\n",
        if clock == Clock::Cycles && page.cpus.len() > 1 { "; <code>#cpu=1&amp;at=N</code> that of CPU 1" } else { "" }
    );
}

/// The middle one of some values.
fn middle(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn interrupts(page: &Page<'_>, clock: Clock, html: &mut String) {
    html.push_str("<section id=\"interrupts\">\n<h2>Interrupts and their latency</h2>\n");
    let all: u64 = page.cpus.iter().map(|cpu| cpu.interrupts.all).sum();
    if all == 0 {
        html.push_str("<p>No counter asked for an interrupt.</p>\n</section>\n");
        return;
    }
    html.push_str("<p class=\"quiet\">From the request of a counter until the CPU takes the interrupt");
    html.push_str(if clock == Clock::Cycles { ", in cycles of the CPU.</p>\n" } else { ", in instructions.</p>\n" });
    match slowest(page.cpus, clock) {
        None => {}
        Some(0) => html.push_str("<p>Every interrupt that was taken was taken at once: all latencies are 0.</p>\n"),
        Some(_) => {
            html.push_str("<div id=\"latency\" class=\"chart\" role=\"img\" aria-label=\"Latency of each interrupt\"></div>\n");
        }
    }
    html.push_str("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Interrupts of each CPU\"><table>\n<thead><tr><th scope=\"col\" class=\"n\">CPU</th><th scope=\"col\" class=\"n\">asked for</th><th scope=\"col\" class=\"n\">taken</th><th scope=\"col\" class=\"n\">never taken</th><th scope=\"col\" class=\"n l\">latency in cycles: least, median, most</th><th scope=\"col\" class=\"n\">in instructions</th></tr></thead>\n<tbody>\n");
    for (number, cpu) in page.cpus.iter().enumerate().filter(|(_, cpu)| cpu.interrupts.all != 0) {
        let kept = &cpu.interrupts.kept;
        let never = kept.iter().filter(|one| one.taken.is_none()).count();
        let of = |part: fn(Time) -> u64| {
            let middle = middle(kept.iter().filter_map(|one| one.latency()).map(part).collect());
            let all = [cpu.fastest.map(part), middle, cpu.slowest.map(part)];
            let words: Vec<String> = all.into_iter().flatten().map(grouped).collect();
            if words.is_empty() { "–".to_owned() } else { words.join(", ") }
        };
        let (cycles, instructions) = (of(|time| time.cycle), of(|time| time.instruction));
        add!(
            html,
            "<tr><td class=\"n\" data-label=\"CPU\">{number}</td><td class=\"n\" data-label=\"asked for\">{}</td><td class=\"n\" data-label=\"taken\">{}</td><td class=\"n\" data-label=\"never taken\">{never}</td>\
             <td class=\"n\" data-label=\"latency in cycles: least, median, most\">{cycles}</td><td class=\"n\" data-label=\"in instructions\">{instructions}</td></tr>\n",
            grouped(cpu.interrupts.all),
            grouped(page.report.delivered.iter().find(|one| one.thread == number).map_or(0, |one| one.taken))
        );
    }
    html.push_str("</tbody></table></div>\n</section>\n");
}

/// What somebody would remark who reads how the guest used its PMU.
fn hints(page: &Page<'_>, html: &mut String) {
    let lines = page.report.remarks();
    if lines.is_empty() {
        return;
    }
    html.push_str("<section id=\"hints\">\n<h2>Hints</h2>\n<ul>\n");
    for line in lines {
        add!(html, "<li>{}</li>\n", escaped(&line));
    }
    html.push_str("</ul>\n</section>\n");
}

fn samples(page: &Page<'_>, data: &Value, html: &mut String) {
    html.push_str("<section id=\"samples\">\n<h2>Where time goes</h2>\n");
    match &page.profile {
        Err(why) => add!(html, "<p>{}</p>\n", escaped(why)),
        Ok(profile) => {
            let names = if page.symbols.is_empty() { "; the guest has no symbols, so addresses are put together by 256 bytes" } else { "" };
            let left_out = data["flame"]["left_out"].as_u64().unwrap_or(0);
            let left_out = if left_out == 0 { String::new() } else { format!("; {} narrow boxes are left out", grouped(left_out)) };
            add!(
                html,
                "<p class=\"quiet\">{} samples from outside, one every {} cycles; the caller is above what it calls{names}{left_out}. A click on a box shows it alone.</p>\n\
                 <div id=\"flame\" class=\"chart\" role=\"img\" aria-label=\"Flame graph of the samples\"></div>\n",
                grouped(profile.samples.len() as u64),
                grouped(profile.period)
            );
        }
    }
    let own = &page.report.samples;
    if !own.is_empty() {
        let all: u64 = own.iter().fold(0, |sum, sample| sum.saturating_add(sample.hits));
        add!(html, "<h3>The guest's own samples</h3>\n<p class=\"quiet\">{} that the guest itself took.</p>\n", grouped(all));
        let mut sorted: Vec<_> = own.iter().collect();
        sorted.sort_by_key(|sample| std::cmp::Reverse(sample.hits));
        html.push_str("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"The guest's own samples\"><table>\n<thead><tr><th scope=\"col\">address</th><th scope=\"col\">place</th><th scope=\"col\" class=\"n\">samples</th><th scope=\"col\" class=\"n\">share</th></tr></thead>\n<tbody>\n");
        for sample in sorted.iter().take(MOST_ROWS) {
            let place = page.report.place(sample.address).map_or_else(|| sample.label.clone(), ToString::to_string);
            add!(
                html,
                "<tr><td><code>{:#x}</code></td><td class=\"t\">{}</td><td class=\"n\" data-label=\"samples\">{}</td><td class=\"n\" data-label=\"share\">{:.1} %</td></tr>\n",
                sample.address,
                escaped(&place),
                grouped(sample.hits),
                100.0 * sample.hits as f64 / all.max(1) as f64
            );
        }
        html.push_str("</tbody></table></div>\n");
        if sorted.len() > MOST_ROWS {
            add!(html, "<p class=\"quiet\">{} more places are left out.</p>\n", sorted.len() - MOST_ROWS);
        }
    }
    html.push_str("</section>\n");
}

fn stack(page: &Page<'_>, html: &mut String) {
    html.push_str("<section id=\"stack\">\n<h2>Cycles per instruction</h2>\n");
    match &page.stack {
        Err(why) => add!(html, "<p>{}</p>\n", escaped(why)),
        Ok(stack) => {
            let whole: f64 = stack.causes.iter().map(|(_, _, cycles)| cycles).sum();
            add!(
                html,
                "<p>{whole:.2} cycles for each instruction. <span class=\"quiet\">Counted from outside over the whole run; {}.</span></p>\n\
                 <div id=\"cpi\" class=\"chart\" role=\"img\" aria-label=\"The parts of the cycles of an instruction\"></div>\n",
                escaped(stack.source)
            );
            html.push_str("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Parts of the cycles\"><table>\n<thead><tr><th scope=\"col\">cycles in which</th><th scope=\"col\" class=\"n\">per instruction</th><th scope=\"col\" class=\"n\">share</th><th scope=\"col\">metric or event</th></tr></thead>\n<tbody>\n");
            for (number, (name, cause, cycles)) in stack.causes.iter().enumerate() {
                add!(
                    html,
                    "<tr><td class=\"t\"><span class=\"swatch\" style=\"background:{}\"></span>{}</td><td class=\"n\" data-label=\"per instruction\">{cycles:.3}</td><td class=\"n\" data-label=\"share\">{:.1} %</td><td><code>{}</code></td></tr>\n",
                    COLOURS[number % COLOURS.len()],
                    escaped(cause),
                    100.0 * cycles / whole,
                    escaped(name)
                );
            }
            html.push_str("</tbody></table></div>\n");
        }
    }
    html.push_str("</section>\n");
}

fn counts(page: &Page<'_>, html: &mut String) {
    html.push_str("<section id=\"counts\">\n<h2>What the guest counted</h2>\n");
    let counts = &page.report.counts;
    if counts.is_empty() {
        html.push_str("<p>The report of the run has no counts; the counters are above, over time.</p>\n</section>\n");
        return;
    }
    html.push_str("<p class=\"quiet\">Over the whole run, by selection, whatever the guest wrote to its counters.</p>\n");
    let open = if counts.len() <= 12 { " open" } else { "" };
    add!(html, "<details{open}><summary>Every selection: {}</summary>\n", counts.len());
    html.push_str("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Counts\"><table>\n<thead><tr><th scope=\"col\" class=\"n\">CPU</th><th scope=\"col\" class=\"n\">counter</th><th scope=\"col\">event</th><th scope=\"col\" class=\"n\">count</th><th scope=\"col\">unit</th><th scope=\"col\">driven by</th></tr></thead>\n<tbody>\n");
    for count in counts.iter().take(MOST_ROWS) {
        add!(
            html,
            "<tr><td class=\"n\" data-label=\"CPU\">{}</td><td class=\"n\" data-label=\"counter\">{}</td><td class=\"t\"><code>{}</code></td><td class=\"n\" data-label=\"count\">{}</td><td>{}</td>\
             <td class=\"t\" data-label=\"driven by\">{}: {}</td></tr>\n",
            count.thread,
            count.counter,
            escaped(&count.event),
            grouped(count.count),
            escaped(&count.unit),
            escaped(&count.fidelity),
            escaped(&count.driven_by)
        );
    }
    html.push_str("</tbody></table></div>\n");
    if counts.len() > MOST_ROWS {
        add!(html, "<p class=\"quiet\">{} more are left out.</p>\n", counts.len() - MOST_ROWS);
    }
    html.push_str("</details>\n</section>\n");
}

fn console(page: &Page<'_>, html: &mut String) {
    if page.report.console.trim().is_empty() {
        return;
    }
    let lines: Vec<String> = page.report.console.trim_end().lines().take(MOST_ROWS).map(escaped).collect();
    add!(html, "<section id=\"console\">\n<h2>The guest's console</h2>\n<pre tabindex=\"0\">{}</pre>\n</section>\n", lines.join("\n"));
}

/// How the page was made, and what it leaves out.
fn about(page: &Page<'_>, clock: Clock, html: &mut String) {
    html.push_str("<section id=\"about\">\n<h2>About this page</h2>\n<ul>\n");
    add!(html, "<li>Time is in {} of each CPU.</li>\n", clock.unit());
    if page.part.shape().has_untile {
        html.push_str(match page.boxes.counters.as_slice() {
            [] => "<li>The guest enabled no counter of a box.</li>\n",
            _ => "<li>Counters of boxes are looked at before and behind each write to their box, and all that are enabled every now and then. Their time is that of the CPU that is furthest.</li>\n",
        });
    }
    for (what, moments) in
        [("boxes", &page.boxes.looks.moments), ("nests", &page.nests.looks.moments)].into_iter().filter(|(_, one)| one.stride > 1)
    {
        let (kept, all, stride) = (grouped(moments.kept.len() as u64), grouped(moments.all), moments.stride);
        add!(html, "<li>Of {all} moments of the {what} {kept} are drawn, one of every {stride}.</li>\n");
    }
    html.push_str("<li>A moment is what passed between the guest and its PMU, or a look at the registers in between.");
    let thinned: Vec<String> = page
        .cpus
        .iter()
        .enumerate()
        .filter(|(_, cpu)| cpu.moments.stride > 1)
        .map(|(number, cpu)| {
            format!(
                "CPU {number}: {} of {}, one of every {}",
                grouped(cpu.moments.kept.len() as u64),
                grouped(cpu.moments.all),
                cpu.moments.stride
            )
        })
        .collect();
    if thinned.is_empty() {
        html.push_str(" All are here.</li>\n");
    } else {
        add!(
            html,
            " There were too many, so every second one was left out, again and again, and what it changed is shown at the next. The last one is kept. {}.</li>\n",
            thinned.join("; ")
        );
    }
    for (number, cpu) in page.cpus.iter().enumerate() {
        let freezes = ("freezes".to_owned(), cpu.freezes.all, cpu.freezes.stride);
        let interrupts = ("interrupts".to_owned(), cpu.interrupts.all, cpu.interrupts.stride);
        let levels = cpu.levels.iter().map(|(name, one)| (format!("stays at {name}"), one.all, one.stride));
        for (what, all, stride) in [freezes, interrupts].into_iter().chain(levels).filter(|(_, _, stride)| *stride > 1) {
            add!(html, "<li>CPU {number}: of {} {} one of every {stride} is drawn.</li>\n", grouped(all), escaped(&what));
        }
    }
    html.push_str("<li>Samples and the stack of cycles are of further runs of the same guest, which PMUs beside its own count.</li>\n");
    html.push_str("<li>The page loads nothing. Its charts are drawn by plotly.js (MIT), which it contains.</li>\n</ul>\n");
    html.push_str("<noscript><p><strong>Charts and registers need JavaScript.</strong></p></noscript>\n</section>\n");
}
