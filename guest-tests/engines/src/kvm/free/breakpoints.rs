//! Instructions of the guest that the engine executes, found before it starts and marked with INT3.

use std::collections::{BTreeMap, BTreeSet};

use crate::image::Image;
use crate::memory::{Memory, PAGE};
use crate::x86::cache::LONGEST;
use crate::x86::decode::{Outcome, decode};
use crate::x86::op::{Decoded, Op};
use crate::x86::state::Core;

/// INT3.
const BREAKPOINT: u8 = 0xCC;

/// The marks in a guest's code, by their physical addresses, with the bytes that they replace.
#[derive(Debug)]
pub(super) struct Breakpoints(BTreeMap<u64, u8>);

impl Breakpoints {
    /// Marks each of `ops` in the code of `image`, which has been loaded: what its executable segments disassemble to, from their start.
    pub(super) fn place(memory: &Memory, image: &Image, ops: &[Op]) -> Result<Breakpoints, String> {
        let mut places = BTreeSet::new();
        for segment in image.segments.iter().filter(|segment| segment.executable) {
            let mut at = 0;
            while let Some(bytes) = segment.bytes.get(at..).filter(|bytes| !bytes.is_empty()) {
                let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
                at += match decode(bytes, segment.address + at as u64) {
                    Outcome::Instruction(decoded) => {
                        if ops.contains(&decoded.op) {
                            places.insert(segment.address + at as u64);
                        }
                        usize::from(decoded.info.length)
                    }
                    // No instruction begins here: go on at the next byte, as a processor would that jumped there.
                    Outcome::Invalid | Outcome::Short => 1,
                };
            }
        }
        let mut marks = BTreeMap::new();
        for place in places {
            let mut byte = [0];
            memory.read_bytes(place, &mut byte).map_err(|error| error.to_string())?;
            memory.write_bytes(place, &[BREAKPOINT]).map_err(|error| error.to_string())?;
            marks.insert(place, byte[0]);
        }
        Ok(Breakpoints(marks))
    }

    /// Takes the marks out of memory that the guest has not overwritten.
    pub(super) fn remove(&self, memory: &Memory) {
        self.0.keys().for_each(|place| {
            self.exchange(*place, memory, true);
        });
    }

    /// Takes the mark at the instruction at RIP out of memory, if there is one, until [`cover`](Breakpoints::cover). Returns its place.
    pub(super) fn uncover(&self, core: &Core, memory: &Memory) -> Option<u64> {
        let place = core.page_walk(core.rip)?.physical;
        self.exchange(place, memory, true).then_some(place)
    }

    /// Marks a place again.
    pub(super) fn cover(&self, place: u64, memory: &Memory) {
        self.exchange(place, memory, false);
    }

    /// Replaces the mark at a place by the guest's own byte, or the other way round, if the place holds what is to be replaced.
    fn exchange(&self, place: u64, memory: &Memory, uncover: bool) -> bool {
        let Some(own) = self.0.get(&place) else { return false };
        let (from, to) = if uncover { (BREAKPOINT, *own) } else { (*own, BREAKPOINT) };
        let mut now = [0];
        memory.read_bytes(place, &mut now).is_ok() && now[0] == from && memory.write_bytes(place, &[to]).is_ok()
    }

    /// The instruction at RIP as the guest has written it.
    pub(super) fn instruction(&self, core: &Core, memory: &Memory) -> Option<Decoded> {
        let mut bytes = [0; LONGEST];
        let mut read = 0;
        // In one page, or in two.
        while read < LONGEST {
            let linear = core.rip.wrapping_add(read as u64);
            let Some(walk) = core.page_walk(linear) else { break };
            let left = (PAGE - linear % PAGE).min((LONGEST - read) as u64) as usize;
            let part = &mut bytes[read..read + left];
            if memory.read_bytes(walk.physical, part).is_err() {
                break;
            }
            for (place, own) in self.0.range(walk.physical..walk.physical + left as u64) {
                let byte = &mut part[(place - walk.physical) as usize];
                *byte = if *byte == BREAKPOINT { *own } else { *byte };
            }
            read += left;
            if let Outcome::Instruction(decoded) = decode(&bytes[..read], core.rip) {
                return Some(*decoded);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::x86::{Config, EmptyBus, Machine, Segment, Unobserved};

    const CODE: u64 = 0x10_0000;
    const DATA: u64 = 0x11_0000;
    /// MOV ECX, 330F0F0Fh, whose bytes have those of RDPMC within; RDPMC; NOP.
    const BYTES: [u8; 8] = [0xB9, 0x0F, 0x0F, 0x0F, 0x33, 0x0F, 0x33, 0x90];
    const RDPMC: u64 = CODE + 5;

    /// A machine with those bytes as code and as data, and the marks in it.
    fn marked() -> (Machine<Unobserved>, Breakpoints) {
        let mut image = Image::raw(CODE, BYTES);
        image.segments.push(Segment { address: DATA, bytes: BYTES.to_vec(), size: 8, executable: false });
        let machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Unobserved).expect("it fits");
        let marks = Breakpoints::place(machine.memory(), &image, &[Op::Rdpmc]).expect("it is in memory");
        (machine, marks)
    }

    fn bytes(memory: &Memory, at: u64) -> [u8; 8] {
        let mut bytes = [0; 8];
        memory.read_bytes(at, &mut bytes).expect("it is there");
        bytes
    }

    #[test]
    fn a_mark_stands_where_an_instruction_begins_and_nowhere_else() {
        let (machine, _) = marked();
        assert_eq!(bytes(machine.memory(), CODE), [0xB9, 0x0F, 0x0F, 0x0F, 0x33, 0xCC, 0x33, 0x90]);
    }

    #[test]
    fn data_are_left_alone() {
        let (machine, _) = marked();
        assert_eq!(bytes(machine.memory(), DATA), BYTES);
    }

    #[test]
    fn the_engine_sees_what_the_guest_has_written() {
        let (mut machine, marks) = marked();
        let memory = Arc::clone(machine.memory());
        let core = &mut machine.parts_mut().0[0].core;
        core.rip = RDPMC;
        let found = marks.instruction(core, &memory).expect("an instruction");
        assert_eq!((found.op, found.info.length), (Op::Rdpmc, 2));
    }

    #[test]
    fn a_handler_sees_it_while_the_mark_is_taken_out() {
        let (mut machine, marks) = marked();
        let memory = Arc::clone(machine.memory());
        let core = &mut machine.parts_mut().0[0].core;
        core.rip = RDPMC;
        let place = marks.uncover(core, &memory);
        assert_eq!((place, bytes(&memory, CODE)), (Some(RDPMC), BYTES));
        marks.cover(RDPMC, &memory);
        assert_eq!(bytes(&memory, CODE)[5], BREAKPOINT);
    }

    #[test]
    fn nothing_is_taken_out_where_no_mark_is() {
        let (mut machine, marks) = marked();
        let memory = Arc::clone(machine.memory());
        let core = &mut machine.parts_mut().0[0].core;
        core.rip = CODE;
        assert_eq!(marks.uncover(core, &memory), None);
    }

    #[test]
    fn code_that_the_guest_has_overwritten_stays() {
        let (machine, marks) = marked();
        machine.memory().write_bytes(RDPMC, &[0x90, 0x90]).expect("it is there");
        marks.cover(RDPMC, machine.memory());
        marks.remove(machine.memory());
        assert_eq!(bytes(machine.memory(), CODE)[5..], [0x90; 3]);
    }

    #[test]
    fn all_marks_are_gone_at_the_end() {
        let (machine, marks) = marked();
        marks.remove(machine.memory());
        assert_eq!(bytes(machine.memory(), CODE), BYTES);
    }
}
