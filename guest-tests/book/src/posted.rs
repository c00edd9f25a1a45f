//! The page of the counts that POWER9 posts into memory.

use std::fmt::Write as _;

use vm_pmu::Part;
use vm_pmu::arch::event::Entry;

use super::{COUNTS, WORDS, account};
use vm_pmu_lab::dialect;
use vm_pmu_lab::entries::known::Known;

/// The events with an offset; nothing if the part is unknown.
pub(super) fn page() -> Option<String> {
    let part = Part::named("power9")?;
    let dialect = dialect::of(part);
    let known = Known::of(part);
    let entries = |unit: &'static str| part.catalogue().entries.iter().filter(move |entry| entry.unit == unit && entry.offset.is_some());
    let mut page = format!(
        "# What POWER9 posts into memory\n\nNo instruction reads these counters: the chip adds them up in memory, in cells of eight bytes, \
         big-endian, each at an *offset* from the start of its region. From the POWER9 Performance Monitor Unit User's Guide 1.2, chapter 6. \
         {WORDS}\n\n\
         *Reported by* names the source: the [*companion*](companion.md), or the *model*, which counts its own clocks. An \
         *embedder* injects what neither knows. [Metrics](power9-metrics.md) of the nest are computed from these counts, each multiplied by the \
         unit in which it is posted.\n",
    );
    for unit in part.catalogue().units {
        if entries(unit).next().is_none() {
            continue;
        }
        let _ = write!(page, "\n## {unit}\n\nThe unit `{unit}`: {}.\n", dialect.unit_title(unit));
        let is_flexible = |entry: &&Entry| entry.select >= FLEXIBLE;
        let parts: [(&str, &str, Vec<&Entry>); 3] = [
            ("Default mode", "The events of table 6-10.", entries(unit).filter(|entry| entry.listed && !is_flexible(entry)).collect()),
            (
                "Flexible mode",
                "The events of tables 6-2, 6-4, 6-6 and 6-8 that this mode has. The guide does not publish their offsets: they are those of the \
                 cells whose counters count them.",
                entries(unit).filter(|entry| entry.listed && is_flexible(entry)).collect(),
            ),
            (
                "Where the chip has the units",
                "Cells that the guide marks as free or leaves out, with their public names; the default mode posts them where a chip has \
                 the unit.",
                entries(unit).filter(|entry| !entry.listed).collect(),
            ),
        ];
        for (title, introduction, members) in parts {
            match (members.is_empty(), *unit) {
                (true, _) => {}
                (false, "nest") => {
                    let _ = write!(page, "\n### {title}\n\n{introduction}\n");
                    rows(&members, &known, &mut page);
                }
                (false, _) => rows(&members, &known, &mut page),
            }
        }
    }
    Some(page)
}

/// Where the flexible mode posts.
const FLEXIBLE: u32 = 0x1_0000;

fn rows(entries: &[&Entry], known: &Known, page: &mut String) {
    let _ = write!(page, "\n| offset | event | modes | counts | {COUNTS} |\n| ---: | --- | --- | --- | --- |\n");
    for entry in entries {
        let also: String = entry.aliases.iter().map(|alias| format!(" (`{alias}`)")).collect();
        let _ = writeln!(
            page,
            "| {:X}h | `{}`{also} | {} | {} | {} |",
            entry.select,
            entry.name,
            entry.collection.map_or("", |collection| collection.word()),
            entry.counts.word(),
            account(entry, known, entry.summary),
        );
    }
}
