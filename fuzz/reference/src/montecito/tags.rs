//! Which instructions ranges and opcodes let through (3.3.5 to 3.3.7, M30 to M33).

use vm_pmu_arch::event::{Channel, Drive, Entry, Internal, Qualifiers};
use vm_pmu_arch::feed::{Context, LineStates, Record};

use super::registers::Registers;
use crate::ia64::{Breakpoints, INSTRUCTION_SET, Slot};

/// What constrains a thread's events.
pub(super) struct Filter<'a> {
    pub(super) registers: &'a Registers,
    pub(super) instructions: &'a Breakpoints,
    pub(super) data: &'a Breakpoints,
}

/// What is known of the instruction that events belong to.
#[derive(Clone, Copy)]
pub(super) struct Told {
    /// The channels in whose range it lies.
    ranges: [bool; 4],
    /// The channels whose tag it has: range and opcode.
    tags: [bool; 4],
    /// Channel 1 has the address that was fetched in its range; nothing is known if none was.
    fetched: Option<bool>,
    /// It fetched ahead.
    prefetched: bool,
    /// The data tag, and the one that does without opcodes.
    data: bool,
    data_without_opcode: bool,
    pub(super) states: LineStates,
}

impl Filter<'_> {
    /// Whether every address is in the channel's range.
    fn is_open(&self, channel: usize) -> bool {
        channel == 0 && self.registers.ignores_addresses() || self.registers.ignores_range(channel)
    }

    /// Whether an address is in the channel's range (3.3.5.1).
    fn covers(&self, channel: usize, address: u64, context: &Context) -> bool {
        if self.is_open(channel) {
            return true;
        }
        let own = self.instructions.pair(channel);
        if own.is_debuggers() || context.machine_state & INSTRUCTION_SET != 0 || !own.has_level(context.privilege) {
            return false;
        }
        let address = address & !0xF;
        let matches = if !self.registers.fine() {
            own.matches_from(0, address)
        } else if channel < 2 {
            let upper = self.instructions.pair(channel + 2);
            let low = |address: u64| address & 0xFFFF;
            own.matches_from(16, address) && low(address) > low(own.address) && low(address) < low(upper.address)
        } else {
            return false;
        };
        matches != (channel == 0 && self.registers.inverts())
    }

    /// Whether the channel's matcher lets everything through.
    fn takes_every_opcode(&self, channel: usize) -> bool {
        let matcher = self.registers.matcher(channel);
        self.registers.ignores_opcode(channel) || matcher.mask == (1 << 41) - 1 && matcher.b && matcher.f && matcher.i && matcher.m
    }

    /// Whether the channel's matcher lets an instruction through (3.3.6.2).
    fn takes(&self, channel: usize, record: &Record, context: &Context) -> bool {
        if self.takes_every_opcode(channel) {
            return true;
        }
        let matcher = self.registers.matcher(channel);
        let of_type = match Slot::of(record) {
            Slot::M => matcher.m,
            Slot::I => matcher.i,
            Slot::F => matcher.f,
            Slot::B => matcher.b,
        };
        context.machine_state & INSTRUCTION_SET == 0 && of_type && (record.encoding ^ matcher.value) & !matcher.mask & ((1 << 41) - 1) == 0
    }

    /// The data tag: some enabled pair lets the access through, or none is enabled (3.3.7). `tags` are what its channels say.
    fn data_tag(&self, tags: [bool; 4], record: &Record) -> bool {
        let matches = |pair: usize| record.memory.is_some_and(|memory| self.data.pair(pair).matches_from(0, memory.address));
        let mut enabled = (0..4).filter_map(|pair| Some((pair, self.registers.data_constraint(pair)?))).peekable();
        enabled.peek().is_none()
            || enabled.any(|(pair, constraint)| match constraint {
                0b00 => tags[pair] && matches(pair),
                0b01 => tags[pair],
                0b10 => matches(pair),
                _ => true,
            })
    }

    /// What the channels say of an instruction.
    pub(super) fn look(&self, record: &Record, context: &Context) -> Told {
        let ranges = [0, 1, 2, 3].map(|channel| self.covers(channel, record.address, context));
        let tags = [0, 1, 2, 3].map(|channel: usize| ranges[channel] && self.takes(channel, record, context));
        Told {
            ranges,
            tags,
            fetched: record.fetch.map(|fetch| self.covers(1, fetch.address, context)),
            prefetched: record.fetch.is_some_and(|fetch| fetch.prefetch),
            data: self.data_tag(tags, record),
            data_without_opcode: self.data_tag(ranges, record),
            states: record.sample.line_states,
        }
    }

    /// Whether the channels let an event through whatever its instruction.
    fn constrains_nothing(&self, qualifiers: Qualifiers, channel: Channel) -> bool {
        if qualifiers.contains(Qualifiers::DATA_ADDRESS) {
            let tags = [0, 1, 2, 3].map(|channel| self.is_open(channel) && self.takes_every_opcode(channel));
            let constraints = || (0..4).filter_map(|pair| Some((pair, self.registers.data_constraint(pair)?)));
            return constraints().next().is_none()
                || constraints().any(|(pair, constraint)| constraint == 0b11 || constraint == 0b01 && tags[pair]);
        }
        let opcode = qualifiers.contains(Qualifiers::OPCODE);
        match channel {
            _ if qualifiers.is_empty() => true,
            Channel::Demand => self.is_open(0) && (!opcode || self.takes_every_opcode(0)),
            Channel::Prefetch => self.is_open(1),
            Channel::Request => self.is_open(0) && self.is_open(1),
        }
    }

    /// Whether an event counts of an instruction; `None` where that is not known of it and matters.
    pub(super) fn lets_through(&self, entry: &Entry, told: Option<&Told>) -> Option<bool> {
        match entry.drive {
            Drive::Internal(Internal::TaggedInstructions(channel)) => {
                let channel = usize::from(channel & 3);
                return if self.is_open(channel) && self.takes_every_opcode(channel) {
                    Some(true)
                } else {
                    told.map(|told| told.tags[channel])
                };
            }
            Drive::Internal(Internal::QualifiedCycles) => {
                return if self.is_open(0) && self.takes_every_opcode(0) { Some(true) } else { told.map(|told| told.tags[0]) };
            }
            _ => {}
        }
        let qualifiers = entry.qualifiers;
        if self.constrains_nothing(qualifiers, entry.channel) {
            return Some(true);
        }
        let opcode = qualifiers.contains(Qualifiers::OPCODE);
        let told = told?;
        if qualifiers.contains(Qualifiers::DATA_ADDRESS) {
            // There is one data tag. Whether its opcodes matter to an event that opcodes do not constrain is not said.
            return (opcode || told.data == told.data_without_opcode).then_some(told.data);
        }
        Some(match entry.channel {
            Channel::Demand if opcode => told.tags[0],
            Channel::Demand => told.ranges[0],
            Channel::Request if !told.prefetched => told.ranges[0],
            Channel::Prefetch | Channel::Request => return told.fetched,
        })
    }
}

impl Told {
    /// Tag 0, which filters branches (3.3.10.1.1, M39).
    pub(super) fn is_tagged(&self) -> bool {
        self.tags[0]
    }

    /// The data tag, which filters what the D-EAR captures.
    pub(super) fn has_data_tag(&self) -> bool {
        self.data
    }

    /// The range of channel 0, which filters what the I-EAR captures.
    pub(super) fn is_in_range(&self) -> bool {
        self.ranges[0]
    }
}
