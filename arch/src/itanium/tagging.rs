//! Which instructions are tagged: address ranges, opcodes, data ranges.
//!
//! Sections 6.2.4 to 6.2.6. Tags are computed when an instruction's record comes. Hardware computes them early in the pipeline, with some
//! inaccuracy that is not modelled.

use super::file::{Configuration, implemented};
use super::registers::OpcodeMatcher;
use crate::event::Qualifiers;
use crate::feed::{Context, Record, Traits};
use crate::ia64::{Breakpoints, PAIRS, Psr, Qualifier, Types};

/// Address bits that the mask of a breakpoint register does not reach: they are always compared.
const ABOVE_MASK: u64 = 0xFF << 56;
/// A bundle's address: bits 3:0 are zero.
const BUNDLE: u64 = !0xF;
/// The bits of an encoding that a matcher has: 27 of them.
const MATCHED: u32 = (1 << 27) - 1;

/// The bits of an encoding that matchers compare, as their fields have them: 40:27 above 12:0.
const fn matched_bits(encoding: u64) -> u32 {
    ((encoding >> 27 & 0x3FFF) << 13 | encoding & 0x1FFF) as u32
}

/// What the tags of one instruction say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tags {
    /// IBRRangeTag: it is in an address range, or none matters.
    pub range: bool,
    /// Tag(PMC8) in bit 0 and Tag(PMC9) in bit 1: it is in the range, and that opcode matcher takes it.
    pub opcodes: u8,
    /// DBRRangeTag: data ranges and the first matcher admit its access to memory.
    pub data: bool,
}

impl Tags {
    /// Whether `qualifier` admits the instruction.
    pub(super) fn admit(self, qualifier: Qualifier) -> bool {
        let by = qualifier.by;
        match qualifier.tag {
            Some(matcher) => self.opcodes >> (matcher & 1) & 1 == 1,
            None if by.contains(Qualifiers::DATA_ADDRESS) => self.data,
            None if by.contains(Qualifiers::OPCODE) => self.opcodes & 1 == 1,
            None => self.range || !by.contains(Qualifiers::INSTRUCTION_ADDRESS),
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
    fn matcher(self, number: u8) -> OpcodeMatcher {
        let [pmc8, pmc9] = self.configuration.matchers;
        if number & 1 == 0 { pmc8 } else { pmc9 }
    }

    /// Whether everything passes matcher `number`, instructions of IA-32 too: neither ranges nor opcodes constrain.
    fn is_open(self, number: u8) -> bool {
        let matcher = self.matcher(number);
        self.configuration.pmc13.ta() && types(matcher).is_all() && matcher.mask() == MATCHED
    }

    /// Whether nothing that `qualifier` depends on constrains anything.
    pub(super) fn leaves_all(self, qualifier: Qualifier) -> bool {
        let by = qualifier.by;
        match qualifier.tag {
            Some(matcher) => self.is_open(matcher),
            None if by.contains(Qualifiers::DATA_ADDRESS) => self.configuration.pmc11.pt() && self.is_open(0),
            None if by.contains(Qualifiers::OPCODE) => self.is_open(0),
            None => self.configuration.pmc13.ta() || !by.contains(Qualifiers::INSTRUCTION_ADDRESS),
        }
    }

    /// IBRmatch of pair `pair` (section 6.2.4).
    fn is_in_range(self, pair: usize, address: u64, level: u8) -> bool {
        let pair = self.breakpoints.instruction(pair);
        pair.mask.plm() >> (level & 3) & 1 == 1 && matches(address, pair.address, pair.mask.mask())
    }

    /// IBRRangeTag (section 6.2.4): a debugger that uses any breakpoint register turns all ranges off.
    fn range_tag(self, address: u64, context: &Context) -> bool {
        let psr = Psr::of(context.machine_state);
        let is_debugged = || psr.db() || (0..PAIRS).any(|pair| self.breakpoints.instruction(pair).mask.x());
        let is_in_any = || (0..PAIRS).any(|pair| self.is_in_range(pair, address & BUNDLE, context.privilege));
        self.configuration.pmc13.ta() || !psr.is() && !is_debugged() && is_in_any()
    }

    /// Tag(PMC8) and Tag(PMC9) (section 6.2.5) of an instruction whose IBRRangeTag is `range`.
    fn opcode_tag(self, number: u8, record: &Record, range: bool, context: &Context) -> bool {
        let matcher = self.matcher(number);
        let differing = (matched_bits(record.encoding) ^ matcher.value()) & !matcher.mask() & MATCHED;
        let is_match = types(matcher).takes(record) && differing == 0;
        self.is_open(number) || range && is_match && !Psr::of(context.machine_state).is()
    }

    /// DBRRangeMatch (section 6.2.6): r, w and plm do not matter. An instruction without an access is in no range.
    fn data_match(self, record: &Record, context: &Context) -> bool {
        let is_in_range = |address, pair| {
            let pair = self.breakpoints.data(pair);
            matches(address, pair.address, pair.mask.mask())
        };
        let is_in_any = |address| (0..PAIRS).any(|pair| is_in_range(address, pair));
        !Psr::of(context.machine_state).db() && record.memory.is_some_and(|memory| is_in_any(memory.address))
    }

    /// DBRRangeTag (section 6.2.6) of an access whose Tag(PMC8) is `tagged`. Accesses of the register stack engine and the walker belong
    /// to no instruction where data ranges constrain.
    fn data_tag(self, record: &Record, tagged: bool, context: &Context) -> bool {
        let by_itself = record.sample.traits.intersects(Traits::REGISTER_STACK | Traits::PAGE_WALKER);
        if self.configuration.pmc11.pt() { tagged } else { (tagged || by_itself) && self.data_match(record, context) }
    }

    /// The tags of an instruction.
    pub(super) fn tags(self, record: &Record, context: &Context) -> Tags {
        let range = self.range_tag(record.address, context);
        let [first, second] = [0, 1].map(|number| self.opcode_tag(number, record, range, context));
        Tags { range, opcodes: u8::from(first) | u8::from(second) << 1, data: self.data_tag(record, first, context) }
    }
}

/// The types of slots that a matcher takes.
fn types(matcher: OpcodeMatcher) -> Types {
    Types { m: matcher.m(), i: matcher.i(), f: matcher.f(), b: matcher.b() }
}

/// Whether `address` equals that of a pair of breakpoint registers under the pair's mask. Bits 60:51 of the address are taken from its
/// bit 50. Bits above 55 are always compared.
const fn matches(address: u64, value: u64, mask: u64) -> bool {
    (implemented(address) ^ value) & (mask | ABOVE_MASK) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{DataSource, ExecutionUnit, Memory, Translation};

    /// Mask of a range of 4096 bytes at every level.
    const PAGE: u64 = 0x0FFF_FFFF_FFFF_F000;
    /// Mask of a single address.
    const EXACT: u64 = u64::MAX >> 8;
    const DB: u64 = 1 << 24;
    const IS: u64 = 1 << 34;

    #[derive(Clone, Copy)]
    struct Registers(Configuration, Breakpoints);

    impl Registers {
        fn with(writes: &[(u8, u64)]) -> Registers {
            let mut registers = Registers(Configuration::reset(), Breakpoints::default());
            writes.iter().for_each(|(number, value)| registers.0.write(*number, *value));
            registers
        }

        /// The range [0x1000, 0x2000), for instructions by pair 2 and for data by pair 3. The other pairs of the former name no privilege
        /// level; those of the latter, where levels do not matter, have the byte 1.
        fn with_ranges(writes: &[(u8, u64)]) -> Registers {
            let mut registers = Registers::with(writes);
            registers.1.ibr = [0, 0, 0, 0, 0x1000, PAGE, 0, 0];
            registers.1.dbr = [1, EXACT, 1, EXACT, 1, EXACT, 0x1000, PAGE];
            registers
        }

        fn tags(&self, record: &Record, psr: u64) -> Tags {
            Tagger { configuration: &self.0, breakpoints: &self.1 }.tags(record, &Context::ia64(psr, 0))
        }

        fn leaves_all(&self, by: Qualifiers) -> bool {
            let qualifier = Qualifier { by, ..Qualifier::default() };
            Tagger { configuration: &self.0, breakpoints: &self.1 }.leaves_all(qualifier)
        }
    }

    fn load(at: u64, address: u64) -> Record {
        let memory = Memory {
            address,
            size: 8,
            load: true,
            store: false,
            latency: 1,
            source: DataSource::Cache(1),
            translation: Translation::Hit(1),
        };
        Record { memory: Some(memory), ..Record::at(at) }
    }

    #[test]
    fn at_reset_everything_is_tagged() {
        let registers = Registers::with(&[]);
        assert_eq!(registers.tags(&Record::at(0x5000), 0), Tags { range: true, opcodes: 0b11, data: true });
        assert!(registers.leaves_all(Qualifiers::all()));
    }

    #[test]
    fn any_of_the_four_pairs_tags_an_address() {
        for pair in 0..4 {
            let mut registers = Registers::with(&[(13, 0)]);
            registers.1.ibr[2 * pair] = 0x1000;
            registers.1.ibr[2 * pair + 1] = PAGE;
            assert!(registers.tags(&Record::at(0x1FF0), 0).range);
            assert!(!registers.tags(&Record::at(0x2000), 0).range);
        }
    }

    #[test]
    fn a_pair_takes_the_privilege_levels_of_its_mask() {
        let mut registers = Registers::with(&[(13, 0)]);
        registers.1.ibr = [0x1000, PAGE & !(0xF << 56) | 0b1000 << 56, 0, 0, 0, 0, 0, 0];
        assert!(registers.tags(&Record::at(0x1000), 3 << 32).range);
        assert!(!registers.tags(&Record::at(0x1000), 0).range);
    }

    #[test]
    fn a_debugger_turns_all_ranges_off() {
        let mut registers = Registers::with_ranges(&[(13, 0)]);
        assert!(registers.tags(&Record::at(0x1000), 0).range);
        assert!(!registers.tags(&Record::at(0x1000), DB).range);
        // The bit x of another pair.
        registers.1.ibr[7] = 1 << 63;
        assert!(!registers.tags(&Record::at(0x1000), 0).range);
    }

    #[test]
    fn with_tag_all_a_debugger_does_not_matter() {
        assert!(Registers::with(&[]).tags(&Record::at(0x1000), DB).range);
    }

    #[test]
    fn instructions_of_ia_32_are_tagged_where_all_are() {
        assert!(Registers::with(&[]).tags(&Record::at(0x1000), IS).range);
        assert!(!Registers::with_ranges(&[(13, 0)]).tags(&Record::at(0x1000), IS).range);
    }

    #[test]
    fn an_opcode_matcher_that_constrains_takes_no_instruction_of_ia_32() {
        // Every slot, but bit 40 of the encoding must be 0.
        let registers = Registers::with(&[(8, 0xF000_0000_1FFF_FFF8)]);
        assert_eq!(registers.tags(&Record::at(0), 0).opcodes, 0b11);
        assert_eq!(registers.tags(&Record::at(0), IS), Tags { range: true, opcodes: 0b10, data: false });
    }

    #[test]
    fn bits_51_to_55_are_masked_and_56_to_60_are_not() {
        assert!(matches(1 << 50, 0x3FF << 51 | 1 << 50, EXACT));
        assert!(!matches(1 << 50, 0x1F << 56 | 1 << 50, EXACT));
        // The mask leaves 55:51 out: they may be anything, those above may not.
        assert!(matches(1 << 50, 0x1F << 56 | 1 << 50, (1 << 51) - 1));
        assert!(!matches(1 << 50, 1 << 50, (1 << 51) - 1));
    }

    #[test]
    fn a_range_holds_in_its_own_region_only() {
        assert!(!matches(0x2000_0000_0000_1000, 0x1000, EXACT));
    }

    #[test]
    fn a_matcher_compares_bits_40_to_27_and_12_to_0() {
        // B slots of major opcode 4 whose bits 8:6 are 5: br.cloop.
        let registers = Registers::with(&[(8, 0x1400_0280_03FF_F1F8)]);
        let opcode = |encoding, unit| {
            let mut record = Record { encoding, ..Record::at(0) };
            record.sample.unit = unit;
            registers.tags(&record, 0).opcodes & 1 == 1
        };
        let cloop = 4 << 37 | 5 << 6;
        assert!(opcode(cloop, ExecutionUnit::Branch));
        assert!(opcode(cloop | 0x3FFF << 13, ExecutionUnit::Branch), "bits 26:13 do not matter");
        assert!(!opcode(cloop, ExecutionUnit::LoadStore));
        assert!(!opcode(5 << 37 | 5 << 6, ExecutionUnit::Branch));
        assert!(!opcode(4 << 37 | 4 << 6, ExecutionUnit::Branch));
    }

    #[test]
    fn the_second_matcher_reaches_its_own_count_only() {
        // The second takes F slots only; a record without a branch or memory access is of an I slot.
        let registers = Registers::with(&[(9, 0x2000_0000_3FFF_FFF8)]);
        let tags = registers.tags(&Record::at(0), 0);
        assert_eq!(tags, Tags { range: true, opcodes: 0b01, data: true });
        let by = Qualifiers::INSTRUCTION_ADDRESS | Qualifiers::OPCODE;
        assert!(tags.admit(Qualifier { by, tag: Some(0), ..Qualifier::default() }));
        assert!(!tags.admit(Qualifier { by, tag: Some(1), ..Qualifier::default() }));
        assert!(tags.admit(Qualifier { by, ..Qualifier::default() }));
        assert!(registers.leaves_all(by));
    }

    #[test]
    fn the_front_end_is_constrained_by_ranges_and_not_by_opcodes() {
        let registers = Registers::with(&[(8, 0)]);
        assert!(registers.leaves_all(Qualifiers::INSTRUCTION_ADDRESS));
        assert!(!registers.leaves_all(Qualifiers::INSTRUCTION_ADDRESS | Qualifiers::OPCODE));
        let tags = registers.tags(&Record::at(0), 0);
        assert!(tags.admit(Qualifier { by: Qualifiers::INSTRUCTION_ADDRESS, ..Qualifier::default() }));
    }

    #[test]
    fn data_ranges_constrain_while_tags_are_not_passed() {
        let registers = Registers::with_ranges(&[(11, 0)]);
        assert!(!registers.leaves_all(Qualifiers::all()));
        assert!(registers.tags(&load(0x9000, 0x1008), 0).data);
        assert!(!registers.tags(&load(0x9000, 0x2008), 0).data);
        assert!(!registers.tags(&load(0x9000, 0x1008), DB).data);
        assert!(!registers.tags(&Record::at(0x9000), 0).data);
    }

    #[test]
    fn data_ranges_are_joined_with_ranges_of_instructions() {
        let registers = Registers::with_ranges(&[(11, 0), (13, 0)]);
        assert!(registers.tags(&load(0x1010, 0x1008), 0).data);
        assert!(!registers.tags(&load(0x9000, 0x1008), 0).data);
    }

    #[test]
    fn the_register_stack_and_the_walker_are_tagged_by_their_data_alone() {
        let mut registers = Registers::with_ranges(&[(11, 0), (13, 0)]);
        for traits in [Traits::REGISTER_STACK, Traits::PAGE_WALKER] {
            let mut record = load(0x9000, 0x1008);
            record.sample.traits = traits;
            assert!(registers.tags(&record, 0).data);
            // With pt set, the instruction that caused the access decides.
            registers.0.write(11, 1 << 28);
            assert!(!registers.tags(&record, 0).data);
            registers.0.write(11, 0);
        }
    }
}
