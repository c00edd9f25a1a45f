//! Cells of memory by name: those of the control block, counts of updates, and counters by their event.

use alloc::format;
use alloc::string::{String, ToString};

use vm_pmu_arch::event;
use vm_pmu_arch::power9::nest::{ControlCell, Event, FLEXIBLE, GROUPS, REGION_SIZE};

use crate::litmus::number::number;

/// The cells through which engine and software communicate, with their offsets from the start of the region.
const NAMED: [(&str, u32); 8] = [
    ("status", ControlCell::Status.offset() as u32),
    ("command", ControlCell::Command.offset() as u32),
    ("speed", ControlCell::Speed.offset() as u32),
    ("availability", ControlCell::Availability.offset() as u32),
    ("mode", ControlCell::Mode.offset() as u32),
    ("mode_in_force", ControlCell::ModeInForce.offset() as u32),
    ("version", 0x2_FC00),
    ("late", 0x2_FC20),
];

/// The prefix of the name of a cell of the flexible mode that the default mode has too.
const OF_FLEXIBLE: &str = "flexible.";
/// The bytes of a group: a count of updates, 32 counters, a count of updates.
const GROUP: u32 = 34 * 8;

/// The offset of a cell from the start of the region, in bytes: by number or by name.
pub(super) fn offset(word: &str) -> Result<u32, String> {
    if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        let offset = number(word)?;
        return match u32::try_from(offset) {
            Ok(offset) if offset.is_multiple_of(8) && u64::from(offset) < REGION_SIZE => Ok(offset),
            _ => Err(format!("`{word}` is no offset of a cell: write a multiple of 8 below {REGION_SIZE:#x}")),
        };
    }
    if let Some((_, offset)) = NAMED.iter().find(|(name, _)| *name == word) {
        return Ok(*offset);
    }
    let (first, name) = word.strip_prefix(OF_FLEXIBLE).map_or((0, word), |name| (FLEXIBLE, name));
    update_count(name).map(|offset| first + offset).or_else(|| posted(first, name)).ok_or_else(|| {
        format!(
            "no cell is called `{word}`: write an offset, an event of the nest, head1 to tail7, or one of {}; behind `flexible.` the \
             flexible mode's",
            NAMED.map(|(name, _)| name).join(", ")
        )
    })
}

/// `headN`, `tailN`: the count of updates before the counters of a group, or after them.
fn update_count(name: &str) -> Option<u32> {
    let (group, last) = match (name.strip_prefix("head"), name.strip_prefix("tail")) {
        (Some(group), _) => (group, 0),
        (None, Some(group)) => (group, GROUP - 8),
        (None, None) => return None,
    };
    let group = group.parse().ok().filter(|group| (1..=u32::from(GROUPS)).contains(group))?;
    Some((group - 1) * GROUP + last)
}

/// The offset at which the event of this name is posted, at or after `first`: an event of only one mode is found by its name alone.
fn posted(first: u32, name: &str) -> Option<u32> {
    let events = || event::POWER9.events().filter(|entry| entry.unit == "nest" && entry.is_called(name)).filter_map(|entry| entry.offset);
    events().find(|offset| *offset >= first)
}

/// The event that `word` names, or that is posted at the offset it gives.
pub(super) fn event(word: &str) -> Result<Event, String> {
    let offset = offset(word)?;
    Event::at(offset).ok_or_else(|| format!("`{word}` counts nothing that happens: clocks and counts of updates go by themselves"))
}

/// The cell's name in the control block, else its offset.
pub(super) fn name(offset: u32) -> String {
    NAMED.iter().find(|(_, known)| *known == offset).map_or_else(|| format!("{offset:#x}"), |(name, _)| (*name).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_where_the_guide_and_the_firmware_have_them() {
        // Table 6-10; groups of 110h bytes with their counts at both ends; the control block at 3FC00h.
        for (word, expected) in [
            ("PM_PB_CYC", 0x80),
            ("pm_phb5_cyc", 0x3D8),
            ("flexible.PM_PB_CYC", 0x1_0080),
            ("PM_MBA0_CAS_READ", 0x1_0458),
            ("Update_count_h1", 0),
            ("head1", 0),
            ("tail1", 0x108),
            ("head7", 0x660),
            ("tail7", 0x768),
            ("flexible.tail2", 0x1_0218),
            ("status", 0x3_FC00),
            ("mode_in_force", 0x3_FC28),
            ("late", 0x2_FC20),
            ("0x3fff8", 0x3_FFF8),
        ] {
            assert_eq!(offset(word), Ok(expected), "{word}");
        }
    }

    #[test]
    fn an_event_is_found_by_its_name_or_by_either_of_its_offsets() {
        let at = |word| event(word).map(Event::offset);
        assert_eq!((at("PM_PB_EVENT_VG_PUMP"), at("0x8"), at("0x10008")), (Ok(8), Ok(8), Ok(8)));
        assert!(at("PM_PB_CYC").is_err_and(|message| message.starts_with("`PM_PB_CYC` counts nothing that happens")));
    }

    #[test]
    fn a_wrong_cell_is_answered_by_the_right_ones() {
        assert_eq!(offset("0x9"), Err("`0x9` is no offset of a cell: write a multiple of 8 below 0x40000".into()));
        assert!(offset("0x40000").is_err() && offset("head8").is_err() && offset("head0").is_err());
        assert!(offset("PM_CYC").is_err_and(|message| message.starts_with("no cell is called `PM_CYC`: write an offset, an event of ")));
    }
}
