//! The page of events of a part whose units have their own selects and counters.

use std::fmt::Write as _;

use vm_pmu::Part;
use vm_pmu::arch::event::Entry;

use super::{COUNTS, WORDS, account};
use vm_pmu_lab::dialect;
use vm_pmu_lab::entries::known::Known;
use vm_pmu_lab::entries::placing;

pub(super) fn page(part: Part) -> String {
    let catalogue = part.catalogue();
    let dialect = dialect::of(part);
    let mut page = format!(
        "# Events of {}\n\nFrom the {}. Each unit has its own selects, so a select is a number within its section. {WORDS}\n\n\
         *Where* names the counters that can count the event, if not all of the unit can, and its scope, if that is not one thread or one \
         box: *core* or *tile*, for every thread that counts it. *any*: AnyThread has an effect. *level*: a level, added up in every \
         clock. *filter*: a filter register may narrow it. *Most* is the largest increment in a clock. \
         *Reported by* names the source in this project: the *engine*, which executes guests, its \
         [*companion*](companion.md), or the *model*, which knows its clocks. An *embedder* reports what none of them knows.\n",
        catalogue.title, catalogue.manual,
    );
    let known = Known::of(part);
    for unit in catalogue.units {
        let listed = || catalogue.entries.iter().filter(|entry| entry.unit == *unit && entry.listed);
        let mut every: Vec<u32> = listed().filter(|entry| !entry.fixed).flat_map(|entry| dialect.counters(entry)).collect();
        every.sort_unstable();
        every.dedup();
        let _ = write!(
            page,
            "\n## {unit}\n\n{}.\n\n| select | mask | event | where | most | counts | {COUNTS} |\n\
             | --- | --- | --- | --- | ---: | --- | --- |\n",
            capital(dialect.unit_title(unit))
        );
        let mut event: Option<&Entry> = None;
        for entry in listed() {
            // A unit mask does not repeat what it shares with its event.
            let shared = event.filter(|_| entry.umask.is_some());
            let row = Entry { rule: if shared.is_some_and(|event| event.rule == entry.rule) { "" } else { entry.rule }, ..*entry };
            if entry.umask.is_none() {
                event = Some(entry);
            }
            let select = if entry.fixed { String::new() } else { format!("{:02X}h", entry.select) };
            let mask = entry.umask.filter(|_| !entry.fixed).map_or(String::new(), |mask| format!("{mask:02X}h"));
            let name = entry.mask_name().map_or(format!("`{}`", entry.name), |mask| format!("`:{mask}`"));
            let place = |entry: &Entry| places(part, entry, &every);
            let place = if shared.is_some_and(|event| place(event) == place(entry)) { String::new() } else { place(entry) };
            let _ = writeln!(
                page,
                "| {select} | {mask} | {name} | {place} | {} | {} | {} |",
                if shared.is_some_and(|event| event.max_per_cycle == entry.max_per_cycle) {
                    String::new()
                } else {
                    entry.max_per_cycle.to_string()
                },
                entry.counts.word(),
                account(&row, &known, entry.summary),
            );
        }
    }
    page
}

/// Where an entry is counted, in a few words.
fn places(part: Part, entry: &Entry, every: &[u32]) -> String {
    let dialect = dialect::of(part);
    let counters = dialect.counters(entry);
    let mut words = Vec::new();
    // An event that several fixed counters share is in one of them by each unit mask.
    if counters != every && (!entry.fixed || counters.len() == 1) {
        words.push(dialect.place(&counters));
    }
    words.extend(placing::extent(entry).map(str::to_owned));
    words.extend(entry.any_thread.then(|| "any".to_owned()));
    words.extend(entry.level.then(|| "level".to_owned()));
    words.extend(placing::filter(entry).map(|filter| format!("{filter} filter")));
    words.join(", ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
