//! What IA32_FIXED_CTR_CTRL says: four bits a counter (level 0, levels above, every thread of the core, interrupt).

use vm_pmu::arch::event::{Entry, KNL};
use vm_pmu::arch::knl::{FIXED, GENERAL};

use crate::dialect::x86::words::{self, Modifiers};

/// The unit mask by which tools name what fixed counter `number` counts.
fn entry(number: usize) -> Option<&'static Entry> {
    KNL.entries.iter().find(|entry| entry.fixed && entry.umask.is_some() && entry.counters >> (GENERAL + number) & 1 == 1)
}

/// The bits of fixed counter `number`, for these words.
pub(super) fn bits(number: usize, words: &Modifiers) -> u64 {
    let flags = [words.kernel, words.user, words.any_thread, words.interrupt];
    let field = flags.iter().enumerate().filter(|(_, is_set)| **is_set).fold(0u64, |bits, (bit, _)| bits | 1 << bit);
    field << (4 * number)
}

/// The events that are counted, separated by blanks.
pub(super) fn notation(value: u64) -> Option<String> {
    let one = |number: usize| {
        let field = value >> (4 * number) & 15;
        let name = entry(number)?.name;
        if field == 0 {
            return None;
        }
        let mut text = format!("{name}:{}", words::levels(field & 2 != 0, field & 1 != 0));
        for (bit, word) in [(8, ":int"), (4, ":any")] {
            text.push_str(if field & bit != 0 { word } else { "" });
        }
        Some(text)
    };
    let events: Vec<String> = (0..FIXED).filter_map(one).collect();
    (!events.is_empty()).then(|| events.join(" "))
}
