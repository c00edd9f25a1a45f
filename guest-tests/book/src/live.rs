//! The page of how many events count on which emulator.

use std::fmt::Write as _;

use vm_pmu::Part;
use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::registry::NAMES;

use vm_pmu_lab::entries::known::{Embedder, Known};

pub(super) fn page() -> String {
    format!(
        "# What counts where\n\nAn event counts if the emulator, its companion or the model reports what drives it: *exact* or *approximate*. The table has the share \
         of each part's events and unit masks that do, on the emulators whose supply this project declares. `pmulab list --on qemu` lists \
         the events with the words that hold there; `qemu-time`, `engine` and `lab` are the others.\n\n{}\n\
         The laboratory has the project's engines, Unicorn among them, and the companion, which keeps the time. QEMU has the \
         [kit](attach-qemu.md); its companion keeps the time with [`pmu-time=companion`](attach-qemu.md#time). In QEMU the nest of POWER9 has \
         clocks alone, and steps of nested walks (210 events of POWER9) are not reported. KVM and other hypervisors declare nothing: \
         what they count is what their host's counters tell them.\n",
        table()
    )
}

/// The table, which README has too.
fn table() -> String {
    let mut table = String::from(
        "| events that count | laboratory | without companion | QEMU | QEMU with the companion's time |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        for (title, is_of) in groups(part) {
            let _ = write!(table, "| {title} |");
            for embedder in Embedder::ALL {
                let share =
                    if embedder.has(part) { format!("{} %", share(&Known::on(embedder, part), part, is_of)) } else { "-".to_owned() };
                let _ = write!(table, " {share} |");
            }
            table.push('\n');
        }
    }
    table
}

type IsOf = fn(&Entry) -> bool;

/// The rows of a part: what of it is programmed in different ways has its own.
fn groups(part: Part) -> Vec<(&'static str, IsOf)> {
    match part {
        Part::K8(_) => vec![("AMD K8", |_| true)],
        Part::Knl(_) => {
            vec![("Knights Landing, a tile", |entry| entry.unit == "tile"), ("Knights Landing, untile", |entry| entry.unit != "tile")]
        }
        Part::Power9(_) => vec![("POWER9, a core", |entry| entry.offset.is_none()), ("POWER9, nest", |entry| entry.offset.is_some())],
        Part::Itanium(_) => vec![("Itanium", |_| true)],
        Part::Montecito(_) => vec![("Montecito", |_| true)],
    }
}

/// In a hundred, how many unit masks, and events without any, count.
fn share(known: &Known, part: Part, is_of: IsOf) -> usize {
    let catalogue = part.catalogue();
    let is_leaf = |entry: &&Entry| entry.umask.is_some() || !catalogue.masks(entry).iter().any(|mask| mask.listed);
    let leaves = || catalogue.entries.iter().filter(|entry| entry.listed && is_of(entry)).filter(is_leaf);
    let counting = leaves().filter(|entry| known.word(entry) <= Fidelity::Approximate).count();
    (100 * counting + leaves().count() / 2) / leaves().count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_table() {
        let readme = include_str!("../../../README.md");
        assert!(readme.contains(&table()), "README.md has another table than this:\n{}", table());
    }
}
