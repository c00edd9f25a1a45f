//! The registers that constrain counts to ranges of addresses and patterns of instructions (Montecito manual, sections 3.3.4 to 3.3.6).

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{Channel, Drive, Entry, Internal, Qualifiers};
use vm_pmu::arch::montecito::{OpcodeMatch, Pmc32, Pmc34, Pmc38, Pmc41};

use crate::dialect::ia64::ranges::{Opcode, Range, mask, pair};
use crate::dialect::ia64::words::Words;
use crate::error::Error;

/// What a reset leaves in PMC38 and PMC41: nothing constrains.
const OPEN_RANGES: u64 = 0x0DB6;
const OPEN_MEMORY: u64 = 0x2078_FEFE_FEFE;
/// Bits 55:16 of an address: what both limits of a fine range have in common.
const SAME: u64 = !0xFFFF;

/// What constrains a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Constraint {
    code: Option<Range>,
    opcode: Option<Opcode>,
}

/// What constrains the channels, and accesses to data.
#[derive(Clone, Debug, Default)]
pub(super) struct Qualification {
    channels: [Constraint; 4],
    data: Option<Range>,
    memory: bool,
    plm: u8,
}

/// The channels that constrain `picked`, one of the unit masks of an event or an event.
fn channels(picked: &Entry) -> &'static [usize] {
    match (picked.drive, picked.channel) {
        (Drive::Internal(Internal::TaggedInstructions(1)), _) => &[1],
        (Drive::Internal(Internal::TaggedInstructions(2)), _) => &[2],
        (Drive::Internal(Internal::TaggedInstructions(3)), _) => &[3],
        (_, Channel::Prefetch) => &[1],
        (_, Channel::Request) => &[0, 1],
        (_, Channel::Demand) => &[0],
    }
}

impl Qualification {
    /// Adds what is asked of `picked`.
    ///
    /// # Errors
    /// It cannot be constrained so, or something else is asked of its channel.
    pub(super) fn add(&mut self, event: &Entry, picked: &Entry, words: &Words) -> Result<(), Error> {
        let asked = Constraint { code: words.code, opcode: words.opcode };
        let lacks = |kind, what: &str| {
            let known = event.qualifiers | picked.qualifiers;
            (!known.contains(kind)).then(|| Error::usage(format!("{} cannot be constrained by {what}", picked.name)))
        };
        let checks = [
            (words.code.is_some(), Qualifiers::INSTRUCTION_ADDRESS, "the addresses of instructions"),
            (words.opcode.is_some(), Qualifiers::OPCODE, "opcodes"),
            (words.data.is_some(), Qualifiers::DATA_ADDRESS, "the addresses of data"),
        ];
        if let Some(error) = checks.into_iter().filter(|(is_asked, ..)| *is_asked).find_map(|(_, kind, what)| lacks(kind, what)) {
            return Err(error);
        }
        if asked != Constraint::default() {
            self.plm |= words.levels();
            self.memory |= picked.qualifiers.contains(Qualifiers::DATA_ADDRESS);
            for channel in channels(picked) {
                let before = self.channels[*channel];
                if before != Constraint::default() && before != asked {
                    return Err(Error::usage(format!("channel {channel} constrains all of its events alike: give each the same")));
                }
                self.channels[*channel] = asked;
            }
        }
        if let Some(data) = words.data {
            if self.data.is_some_and(|before| before != data) {
                return Err(Error::usage("one range of data constrains all events: give each the same".to_owned()));
            }
            if !data.is_coarse() {
                return Err(Error::usage(format!("data={data} is not a range of one pair: a power of two long, at a multiple of that")));
            }
            self.plm |= words.levels();
            self.data = Some(data);
        }
        Ok(())
    }

    /// What is worth knowing about an event of which nothing is asked while others are constrained.
    pub(super) fn advise(&self, picked: &Entry, words: &Words, notes: &mut Vec<String>) {
        let is_free = words.code.is_none() && words.opcode.is_none() && words.data.is_none();
        let by_channel = channels(picked).iter().any(|channel| self.channels[*channel] != Constraint::default());
        let by_code = by_channel && picked.qualifiers.intersects(Qualifiers::INSTRUCTION_ADDRESS | Qualifiers::OPCODE);
        let by_memory = self.memory || self.data.is_some();
        let is_memory = picked.qualifiers.contains(Qualifiers::DATA_ADDRESS);
        if is_free && if is_memory { by_memory } else { by_code } {
            notes.push("what constrains another event constrains this one too".to_owned());
        }
    }

    /// The writes, in their order.
    ///
    /// # Errors
    /// A range does not fit the registers.
    pub(super) fn writes(&self) -> Result<Vec<(Address, u64)>, Error> {
        let mut writes = Vec::new();
        let mut pmc38 = Pmc38::written(OPEN_RANGES);
        for (channel, constraint) in self.channels.iter().enumerate() {
            self.range(channel, *constraint, &mut pmc38, &mut writes)?;
        }
        if let Some(data) = self.data {
            writes.extend(pair(0, Address::Dbr).into_iter().zip(data.coarse(self.plm)));
        }
        self.opcodes(&mut writes)?;
        if pmc38 != Pmc38::written(OPEN_RANGES) {
            writes.push((Address::Pmc(38), pmc38.bits() | Pmc38::FIXED));
        }
        if self.memory || self.data.is_some() {
            let mut pmc41 = Pmc41::written(OPEN_MEMORY);
            pmc41.set_cfgdtag0(match (self.memory, self.data.is_some()) {
                (true, true) => 0b00,
                (true, false) => 0b01,
                _ => 0b10,
            });
            writes.push((Address::Pmc(41), pmc41.bits() | Pmc41::FIXED));
        }
        Ok(writes)
    }

    /// The breakpoint registers of a channel, and its bits of PMC38.
    fn range(&self, channel: usize, constraint: Constraint, pmc38: &mut Pmc38, writes: &mut Vec<(Address, u64)>) -> Result<(), Error> {
        let Some(code) = constraint.code else { return Ok(()) };
        let number = channel as u8;
        if code.is_coarse() && !pmc38.fine() {
            writes.extend(pair(number, Address::Ibr).into_iter().zip(code.coarse(self.plm)));
        } else if let (Some((before, after)), 0 | 1) = (code.fine(), channel) {
            if self.channels.iter().skip(2).any(|upper| upper.code.is_some()) {
                return Err(Error::usage(format!("code={code} takes two pairs, and one of them is taken")));
            }
            pmc38.set_fine(true);
            for (pair_number, limit) in [(number, before), (number + 2, after)] {
                writes.extend(pair(pair_number, Address::Ibr).into_iter().zip([limit, mask(SAME, self.plm)]));
            }
            let upper = if channel == 0 { Pmc38::set_ig_ibrp2 } else { Pmc38::set_ig_ibrp3 };
            upper(pmc38, false);
        } else {
            return Err(Error::usage(format!(
                "code={code} fits no registers: one pair holds a power of two at a multiple of that, two pairs whole bundles within 64 KB"
            )));
        }
        let own = [Pmc38::set_ig_ibrp0, Pmc38::set_ig_ibrp1, Pmc38::set_ig_ibrp2, Pmc38::set_ig_ibrp3];
        if let Some(set) = own.get(channel) {
            set(pmc38, false);
        }
        Ok(())
    }

    /// The opcode matchers: the first is that of channels 0 and 2, the second that of 1 and 3.
    fn opcodes(&self, writes: &mut Vec<(Address, u64)>) -> Result<(), Error> {
        let of = |matcher: usize| -> Result<Option<Opcode>, Error> {
            match (self.channels[matcher].opcode, self.channels[matcher + 2].opcode) {
                (Some(one), Some(other)) if one != other => {
                    Err(Error::usage(format!("channels {matcher} and {} have one opcode matcher: give both the same pattern", matcher + 2)))
                }
                (one, other) => Ok(one.or(other)),
            }
        };
        let open = Opcode { value: 0, ignored: (1 << 41) - 1, slots: 0b1111 };
        let (first, second) = (of(0)?, of(1)?);
        if first.is_some() || self.channels[0].code.is_some() {
            let pattern = first.unwrap_or(open);
            let mut pmc = Pmc32::written(pattern.ignored | u64::from(pattern.slots) << 48);
            pmc.set_ig_ad(self.channels[0].code.is_none());
            writes.push((Address::Pmc(32), pmc.bits()));
            if let Some(pattern) = first {
                writes.push((Address::Pmc(33), OpcodeMatch::written(pattern.value).bits()));
            }
        }
        if let Some(pattern) = second {
            writes.push((Address::Pmc(34), Pmc34::written(pattern.ignored | u64::from(pattern.slots) << 48).bits()));
            writes.push((Address::Pmc(35), OpcodeMatch::written(pattern.value).bits()));
        }
        Ok(())
    }
}
