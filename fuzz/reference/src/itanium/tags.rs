//! Which instructions ranges and opcodes let through (6.2.4 to 6.2.6, M46, M47, M50, M51).

use vm_pmu_arch::event::{Drive, Entry, Internal, Qualifiers};
use vm_pmu_arch::feed::{Context, Record, Traits};

use super::bits::{OPEN, PASS_TAGS, canonical};
use crate::ia64::{Breakpoints, DEBUGGED, INSTRUCTION_SET, Slot};

/// What constrains a thread's events.
pub(super) struct Filter<'a> {
    pub(super) pmc: &'a [u64; 14],
    pub(super) instructions: &'a Breakpoints,
    pub(super) data: &'a Breakpoints,
}

/// The tags of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Tags {
    /// IBRRangeTag.
    pub(super) range: bool,
    /// Tag(PMC8) and Tag(PMC9).
    pub(super) opcodes: [bool; 2],
    /// The tag of its access to memory.
    pub(super) data: bool,
}

/// The last instruction.
#[derive(Clone, Copy)]
pub(super) enum Last {
    /// There has been none since the reset.
    Nobody,
    /// It had these tags.
    Told(Tags),
    /// Something has changed since: it may not have been reported.
    Unknown,
}

impl Last {
    /// Its tags, where they are known.
    pub(super) const fn tags(self) -> Option<Tags> {
        match self {
            Last::Nobody => Some(Tags { range: false, opcodes: [false; 2], data: false }),
            Last::Told(tags) => Some(tags),
            Last::Unknown => None,
        }
    }

    /// A register or the context changes.
    pub(super) const fn change(&mut self) {
        if let Last::Told(_) = self {
            *self = Last::Unknown;
        }
    }
}

/// The register of a matcher.
const fn matcher_of(second: bool) -> usize {
    if second { 9 } else { 8 }
}

/// The matcher of an event.
const fn is_by_second(entry: &Entry) -> bool {
    matches!(entry.drive, Drive::Internal(Internal::TaggedInstructions(1)))
}

impl Filter<'_> {
    /// PMC13.ta: every address passes.
    const fn tags_all(&self) -> bool {
        self.pmc[13] & 1 != 0
    }

    /// Whether a matcher takes every instruction (Table 6-11).
    const fn takes_all(&self, second: bool) -> bool {
        self.pmc[matcher_of(second)] & OPEN == OPEN
    }

    /// IBRRangeTag (6.2.4).
    fn range_tag(&self, address: u64, context: &Context) -> bool {
        if self.tags_all() {
            return true;
        }
        let pairs = [0, 1, 2, 3].map(|pair| self.instructions.pair(pair));
        let is_debugged = context.machine_state & DEBUGGED != 0 || pairs.iter().any(|pair| pair.is_debuggers());
        let bundle = canonical(address & !0xF);
        let is_in_any = pairs.iter().any(|pair| pair.has_level(context.privilege) && pair.matches_from(0, bundle));
        context.machine_state & INSTRUCTION_SET == 0 && is_in_any && !is_debugged
    }

    /// Whether a matcher takes an instruction (6.2.5).
    fn takes(&self, second: bool, record: &Record, context: &Context) -> bool {
        if self.takes_all(second) {
            // With ta this holds for both instruction sets; without, the range tag leaves IA-32 out.
            return true;
        }
        let matcher = self.pmc[matcher_of(second)];
        let has = |bit: u32| matcher >> bit & 1 != 0;
        let of_type = match Slot::of(record) {
            Slot::B => has(60),
            Slot::F => has(61),
            Slot::I => has(62),
            Slot::M => has(63),
        };
        // Bits 40:27 and 12:0 of the encoding, side by side.
        let encoding = record.encoding >> 27 & 0x3FFF;
        let compared = encoding << 13 | record.encoding & 0x1FFF;
        let (mask, value) = (matcher >> 3 & 0x7FF_FFFF, matcher >> 33 & 0x7FF_FFFF);
        context.machine_state & INSTRUCTION_SET == 0 && of_type && (compared ^ value) & !mask & 0x7FF_FFFF == 0
    }

    /// Whether an access lies in a data range: r, w, levels and x do not matter (6.2.6).
    fn is_in_data_range(&self, address: u64, context: &Context) -> bool {
        let is_in_any = (0..4).any(|pair| self.data.pair(pair).matches_from(0, canonical(address)));
        is_in_any && context.machine_state & DEBUGGED == 0
    }

    /// The tags of an instruction.
    pub(super) fn look(&self, record: &Record, context: &Context) -> Tags {
        let range = self.range_tag(record.address, context);
        let opcodes = [false, true].map(|second| range && self.takes(second, record, context));
        let is_apart = record.sample.traits.intersects(Traits::REGISTER_STACK | Traits::PAGE_WALKER);
        let is_in_range = || record.memory.is_some_and(|memory| self.is_in_data_range(memory.address, context));
        let data = if self.pmc[11] & PASS_TAGS != 0 { opcodes[0] } else { (opcodes[0] || is_apart) && is_in_range() };
        Tags { range, opcodes, data }
    }

    /// Whether an event counts of an instruction; `None` where that is not known of it and matters.
    pub(super) fn lets_through(&self, entry: &Entry, tags: Option<&Tags>) -> Option<bool> {
        let qualifiers = entry.qualifiers;
        let data = qualifiers.contains(Qualifiers::DATA_ADDRESS);
        let opcode = data || qualifiers.contains(Qualifiers::OPCODE);
        let second = is_by_second(entry);
        let is_constrained = !self.tags_all() || opcode && !self.takes_all(second) || data && self.pmc[11] & PASS_TAGS == 0;
        if qualifiers.is_empty() || !is_constrained {
            return Some(true);
        }
        let tags = tags?;
        Some(if data {
            tags.data
        } else if opcode {
            tags.opcodes[usize::from(second)]
        } else {
            tags.range
        })
    }
}
