//! Hints at the end of a run: what somebody would remark who reads how the guest used its counters.

use serde::Serialize;
use vm_pmu::Part;
use vm_pmu_board::{CounterUse, Deliveries, Storm, Usage};

use crate::number::grouped;
use crate::symbols::Place;

/// A remark on how a guest used its PMU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// The hardware thread.
    pub thread: usize,
    /// The remark.
    pub text: String,
    /// The section of the part's manual.
    pub section: &'static str,
}

/// Interrupts of its PMU that a thread has taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delivered {
    /// The hardware thread.
    pub thread: usize,
    /// How many.
    pub taken: u64,
    /// The longest row of them between which the guest executed nothing but its handler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storm: Option<Storm>,
}

impl Delivered {
    /// Those of `thread`, if there were some.
    #[must_use]
    pub fn of(thread: usize, deliveries: &Deliveries) -> Option<Delivered> {
        (deliveries.taken() != 0).then(|| Delivered { thread, taken: deliveries.taken(), storm: deliveries.storm() })
    }

    /// The storm in words, on `part`, where `place` knows what lies at an address.
    #[must_use]
    pub fn told<'a>(&self, part: Part, place: impl Fn(u64) -> Option<&'a Place>) -> Option<String> {
        let Storm { times, event_based, interrupted, returned } = self.storm?;
        let at = |address: u64| place(address).map_or_else(|| format!("{address:#x}"), Place::to_string);
        let words = Words::of(part);
        let (interrupt, back) = if event_based { ("The event-based branch", "rfebb") } else { (words.interrupt, words.back) };
        Some(format!(
            "{} was taken {} times without progress at {}: {} at {} ({}); {}",
            interrupt,
            grouped(times),
            at(interrupted),
            words.again,
            back,
            at(returned),
            words.overflow
        ))
    }
}

/// How the manual of a part speaks of its counters.
struct Words {
    /// The interrupt at overflow.
    interrupt: &'static str,
    /// Why it is taken again.
    again: &'static str,
    /// The instruction that ends its handler.
    back: &'static str,
    /// The section on interrupts at overflow.
    overflow: &'static str,
    /// The section on when counters count.
    counting: &'static str,
    /// The section on what counters hold.
    values: &'static str,
}

impl Words {
    fn of(part: Part) -> Words {
        match part {
            Part::K8(_) => Words {
                interrupt: "The interrupt",
                again: "a counter had overflowed again",
                back: "iret",
                overflow: "AMD BKDG 10.2, PerfEvtSel.INT",
                counting: "AMD BKDG 10.2, PerfEvtSel.USR and OS",
                values: "AMD BKDG 10.1, counting to an interrupt",
            },
            Part::Knl(_) => Words {
                interrupt: "The interrupt",
                again: "a counter had overflowed again",
                back: "iret",
                overflow: "Intel SDM volume 3B, 18.2.1.1",
                counting: "Intel SDM volume 3B, 18.2.1.1 and 18.2.2",
                values: "Intel SDM volume 3B, 18.2.1.1 and 18.2.3",
            },
            Part::Power9(_) => Words {
                interrupt: "F00h",
                again: "PMAO was 1",
                back: "rfid",
                overflow: "POWER9 PMU User's Guide A.3, PMAO",
                counting: "POWER9 PMU User's Guide A.3 and A.5",
                values: "POWER9 PMU User's Guide A.1",
            },
            Part::Montecito(_) => Words {
                interrupt: "The interrupt",
                again: "a counter had overflowed again",
                back: "rfi",
                overflow: "Montecito RM 3.3.11",
                counting: "Montecito RM 3.3.1 and Table 3-6",
                values: "Montecito RM 3.3.2",
            },
            Part::Itanium(_) => Words {
                interrupt: "The interrupt",
                again: "a counter had overflowed again",
                back: "rfi",
                overflow: "docs/notes/itanium.md 1.7",
                counting: "docs/notes/itanium.md 1.3",
                values: "docs/notes/itanium.md 1.3",
            },
        }
    }
}

/// The name of a counter by its place among those of the part.
fn name(part: Part, place: usize) -> String {
    match part {
        Part::K8(_) => format!("PerfCtr{place}"),
        Part::Knl(_) if place < 2 => format!("IA32_PMC{place}"),
        Part::Knl(_) => format!("IA32_FIXED_CTR{}", place - 2),
        Part::Power9(_) => format!("PMC{}", place + 1),
        Part::Itanium(_) | Part::Montecito(_) => format!("PMD{}", place + 4),
    }
}

/// The remarks on a thread's counters.
#[must_use]
pub fn hints(part: Part, thread: usize, usage: &Usage) -> Vec<Hint> {
    let words = Words::of(part);
    let mut hints = Vec::new();
    for (place, counter) in usage.counters().iter().enumerate() {
        let name = name(part, place);
        let mut say = |section, text| hints.push(Hint { thread, text, section });
        let CounterUse { selected, alerts, read, written, counted, frozen_by, armed } = counter;
        // PMC5 and PMC6 of POWER9 count whatever is selected: they matter to who reads them.
        let matters = *selected && (*read || !matches!(part, Part::Power9(_)) || place < 4);
        // Counters of POWER9 share the flags of their alerts.
        let is_sampled = *alerts && (*written || !matches!(part, Part::Power9(_)));
        if let (true, false, Some(field)) = (matters, *counted, frozen_by) {
            say(words.counting, format!("{name} counted nothing: {field} kept it frozen wherever the guest ran"));
        } else if matters && !read && !is_sampled {
            say(words.counting, format!("{name} counted an event, and nobody read it or armed it for an interrupt"));
        }
        if let Some(value) = armed {
            say(words.values, armed_wrongly(part, &name, *value));
        }
    }
    hints
}

fn armed_wrongly(part: Part, name: &str, value: u64) -> String {
    match part {
        Part::Power9(_) => format!("{name} was armed with {value:#x}, which is negative: it alerts at once, and not after a period"),
        _ => format!(
            "{name} was armed with {value:#x}, which is positive: its overflow is more than half its range away; should it be the negated period?"
        ),
    }
}
