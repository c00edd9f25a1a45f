//! Which instructions are tagged: address ranges, opcodes, data ranges.
//!
//! Montecito manual, sections 3.3.5 to 3.3.7. Tags are computed when an instruction's record comes. Hardware computes them early in the
//! pipeline, with some inaccuracy that is not modelled.

use super::file::Configuration;
use crate::event::{Channel, Qualifiers};
use crate::feed::{Context, Record};
use crate::ia64::{Breakpoints, ENCODING, PAIRS, Psr, Qualifier, Types};

/// Address bits that the mask of a breakpoint register does not reach: they are always compared.
const ABOVE_MASK: u64 = 0xFF << 56;
/// Address bits that a fine range compares as numbers.
const FINE: u64 = 0xFFFF;
/// A bundle's address: bits 3:0 are zero.
const BUNDLE: u64 = !0xF;

/// What the tags of one instruction say: channel c in bit c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tags {
    /// Channels whose address range has the instruction.
    pub addresses: u8,
    /// Those of them whose opcode matcher has it too.
    pub instructions: u8,
    /// The constraints of the memory pipeline admit its access.
    pub data: bool,
    /// The line that was fetched or prefetched with it is in the range of channel 1.
    pub prefetch: bool,
    /// It is a prefetch.
    pub is_prefetch: bool,
    /// The states of last-level cache lines that it met: I, S, E, M from bit 0 up.
    pub states: u8,
}

impl Tags {
    /// The tags as a word, for the core's other thread.
    pub(super) fn to_word(self) -> u64 {
        let flags = [self.data, self.prefetch, self.is_prefetch];
        let flags = flags.into_iter().enumerate().fold(0u8, |bits, (at, flag)| bits | u8::from(flag) << at);
        u64::from_le_bytes([self.addresses, self.instructions, self.states, flags, 0, 0, 0, 0])
    }

    /// The tags of which [`to_word`](Self::to_word) made `word`.
    pub(super) fn from_word(word: u64) -> Tags {
        let [addresses, instructions, states, flags, ..] = word.to_le_bytes();
        let flag = |at: u8| flags >> at & 1 == 1;
        Tags { addresses, instructions, states, data: flag(0), prefetch: flag(1), is_prefetch: flag(2) }
    }

    /// What either lets through.
    pub(super) fn or(self, other: Tags) -> Tags {
        Tags {
            addresses: self.addresses | other.addresses,
            instructions: self.instructions | other.instructions,
            states: self.states | other.states,
            data: self.data || other.data,
            prefetch: self.prefetch || other.prefetch,
            is_prefetch: self.is_prefetch || other.is_prefetch,
        }
    }

    /// Whether `qualifier` admits the instruction (section 3.2.3.1).
    pub(super) fn admit(self, qualifier: Qualifier) -> bool {
        let states = qualifier.states.is_none_or(|states| states.bits() & self.states != 0);
        states && self.admit_instruction(qualifier)
    }

    fn admit_instruction(self, qualifier: Qualifier) -> bool {
        if let Some(channel) = qualifier.tag {
            return self.instructions >> (channel & 3) & 1 == 1;
        }
        let by = qualifier.by;
        if by.contains(Qualifiers::DATA_ADDRESS) {
            return self.data;
        }
        if !by.contains(Qualifiers::INSTRUCTION_ADDRESS) {
            return true;
        }
        match qualifier.channel {
            Channel::Prefetch => self.prefetch,
            Channel::Request if self.is_prefetch => self.prefetch,
            _ if by.contains(Qualifiers::OPCODE) => self.instructions & 1 == 1,
            _ => self.addresses & 1 == 1,
        }
    }
}

/// The registers that tags are computed from.
#[derive(Clone, Copy)]
pub(super) struct Tagger<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) breakpoints: &'a Breakpoints,
}

impl Tagger<'_> {
    /// Whether no address range constrains channel `channel`.
    fn ignores_addresses(self, channel: usize) -> bool {
        let pmc38 = self.configuration.pmc38;
        match channel {
            0 => self.configuration.pmc32.ig_ad() || pmc38.ig_ibrp0(),
            1 => pmc38.ig_ibrp1(),
            2 => pmc38.ig_ibrp2(),
            _ => pmc38.ig_ibrp3(),
        }
    }

    /// The opcode matcher of channel `channel`: what it takes, the encoding that it compares with, and the bits that it does.
    fn matcher(self, channel: usize) -> (Types, u64, u64) {
        let configuration = self.configuration;
        if channel & 1 == 0 {
            let mask = configuration.pmc32;
            let types = Types { m: mask.m(), i: mask.i(), f: mask.f(), b: mask.b() };
            (types, configuration.pmc33.value(), !mask.mask() & ENCODING)
        } else {
            let mask = configuration.pmc34;
            let types = Types { m: mask.m(), i: mask.i(), f: mask.f(), b: mask.b() };
            (types, configuration.pmc35.value(), !mask.mask() & ENCODING)
        }
    }

    /// Whether no opcode constrains channel `channel`.
    fn ignores_opcodes(self, channel: usize) -> bool {
        let pmc36 = self.configuration.pmc36;
        let ignored = match channel {
            0 => pmc36.ch0_ig_opc(),
            1 => pmc36.ch1_ig_opc(),
            2 => pmc36.ch2_ig_opc(),
            _ => pmc36.ch3_ig_opc(),
        };
        let (types, _, compared) = self.matcher(channel);
        ignored || types.is_all() && compared == 0
    }

    /// Whether everything passes channel `channel`.
    fn is_open(self, channel: usize) -> bool {
        self.ignores_addresses(channel) && self.ignores_opcodes(channel)
    }

    /// Whether nothing that `qualifier` depends on constrains anything.
    pub(super) fn leaves_all(self, qualifier: Qualifier) -> bool {
        if qualifier.states.is_some() {
            return false;
        }
        if let Some(channel) = qualifier.tag {
            return self.is_open(usize::from(channel & 3));
        }
        let by = qualifier.by;
        if by.contains(Qualifiers::DATA_ADDRESS) {
            return self.leaves_all_data();
        }
        if !by.contains(Qualifiers::INSTRUCTION_ADDRESS) {
            return true;
        }
        let demand = if by.contains(Qualifiers::OPCODE) { self.is_open(0) } else { self.ignores_addresses(0) };
        match qualifier.channel {
            Channel::Demand => demand,
            Channel::Prefetch => self.ignores_addresses(1),
            Channel::Request => demand && self.ignores_addresses(1),
        }
    }

    /// The tags that everything has.
    pub(super) fn open(self) -> Tags {
        let channels =
            |is_open: &dyn Fn(usize) -> bool| (0..PAIRS).filter(|channel| is_open(*channel)).fold(0, |bits, channel| bits | 1 << channel);
        Tags {
            addresses: channels(&|channel| self.ignores_addresses(channel)),
            instructions: channels(&|channel| self.is_open(channel)),
            data: self.leaves_all_data(),
            prefetch: self.ignores_addresses(1),
            ..Tags::default()
        }
    }

    /// Whether nothing is constrained by anything.
    pub(super) fn is_all_open(self) -> bool {
        (0..PAIRS).all(|channel| self.is_open(channel)) && self.leaves_all_data()
    }

    fn leaves_all_data(self) -> bool {
        let mut enabled = (0..PAIRS).filter_map(|pair| Some((pair, self.configuration.pmc41.constraint(pair)?))).peekable();
        enabled.peek().is_none()
            || enabled.any(|(pair, constraint)| match constraint {
                0b11 => true,
                0b01 => self.is_open(pair),
                _ => false,
            })
    }

    /// Whether the range of channel `channel` has `address` (section 3.3.5.1). A pair whose x bit is set is the debugger's.
    fn is_in_range(self, channel: usize, address: u64) -> bool {
        let pair = self.breakpoints.instruction(channel);
        let fine = self.configuration.pmc38.fine();
        if pair.mask.x() || fine && channel > 1 {
            return false;
        }
        let differing = (address ^ pair.address) & (pair.mask.mask() | ABOVE_MASK);
        if !fine {
            return differing == 0;
        }
        let upper = self.breakpoints.instruction(channel + 2);
        differing & !FINE == 0 && lies_between(address & FINE, pair.address & FINE, upper.address & FINE)
    }

    /// ibrp match of channel `channel`.
    fn address_match(self, channel: usize, address: u64, context: &Context) -> bool {
        if self.ignores_addresses(channel) {
            return true;
        }
        // IA-32 instructions are tagged only where nothing constrains them (Table 3-9).
        if Psr::of(context.machine_state).is() {
            return false;
        }
        let inverted = channel == 0 && self.configuration.pmc32.inv();
        let pair = self.breakpoints.instruction(channel);
        let level = pair.mask.plm() >> (context.privilege & 3) & 1 == 1;
        // Inverted or not, a debugger's pair matches nothing.
        level && !pair.mask.x() && self.is_in_range(channel, address) != inverted
    }

    /// Match(OpCM) of channel `channel`.
    fn opcode_match(self, channel: usize, record: &Record, context: &Context) -> bool {
        let (types, value, compared) = self.matcher(channel);
        // The matcher works for IA-64 instructions (section 3.2.3).
        let matches = || !Psr::of(context.machine_state).is() && types.takes(record) && (record.encoding ^ value) & compared == 0;
        self.ignores_opcodes(channel) || matches()
    }

    /// DBRRangeMatch of pair `pair`: r, w and plm do not matter, nor does PSR.db (section 3.3.7).
    fn data_match(self, pair: usize, address: u64) -> bool {
        let pair = self.breakpoints.data(pair);
        (address ^ pair.address) & (pair.mask.mask() | ABOVE_MASK) == 0
    }

    /// Whether the constraints of the memory pipeline admit this access.
    fn data_tag(self, instructions: u8, record: &Record) -> bool {
        let constraint = |pair| self.configuration.pmc41.constraint(pair);
        let data = |pair| record.memory.is_some_and(|memory| self.data_match(pair, memory.address));
        let instruction = |pair: usize| instructions >> pair & 1 == 1;
        let mut enabled = (0..PAIRS).filter(|pair| constraint(*pair).is_some()).peekable();
        enabled.peek().is_none()
            || enabled.any(|pair| match constraint(pair).unwrap_or(0) {
                0b00 => instruction(pair) && data(pair),
                0b01 => instruction(pair),
                0b10 => data(pair),
                _ => true,
            })
    }

    /// The tags of an instruction.
    pub(super) fn tags(self, record: &Record, context: &Context) -> Tags {
        let address = record.address & BUNDLE;
        let mut tags = Tags { states: record.sample.line_states.bits(), ..Tags::default() };
        for channel in 0..PAIRS {
            if self.address_match(channel, address, context) {
                tags.addresses |= 1 << channel;
                tags.instructions |= u8::from(self.opcode_match(channel, record, context)) << channel;
            }
        }
        tags.data = self.data_tag(tags.instructions, record);
        tags.prefetch = self.ignores_addresses(1);
        if let Some(fetch) = record.fetch {
            tags.is_prefetch = fetch.prefetch;
            tags.prefetch = self.address_match(1, fetch.address & BUNDLE, context);
        }
        tags
    }
}

/// Whether a bundle lies in a fine range, both limits as offsets within 64 KiB: neither limit is in it, as section 3.3.5.1 prints it.
const fn lies_between(offset: u64, lower: u64, upper: u64) -> bool {
    offset > lower && offset < upper
}
