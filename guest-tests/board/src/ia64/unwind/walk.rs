//! From a frame to its caller's, and on.

use vm_pmu_engines::ia64::stack;

use super::records::Place;
use super::state::{Previous, State};
use super::{BUNDLE, Procedures};
use crate::beside::MOST_CALLERS;

/// The stacked registers of a processor.
const STACKED: u64 = 96;

/// The first of them.
const FIRST: u8 = 32;

/// A thread's registers and memory, as they are after the step.
pub(crate) trait Values {
    /// A general register of the current frame and bank.
    fn general(&self, number: u8) -> u64;
    /// A branch register.
    fn branch(&self, number: u8) -> u64;
    /// The stacked register that belongs at an address of the backing store.
    fn stacked(&self, address: u64) -> Option<u64>;
    /// The doubleword at an address of memory.
    fn peek(&self, address: u64) -> Option<u64>;
}

/// A procedure that was called and has not returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The bundle and the slot of the last instruction that it executed.
    pub(crate) bundle: u64,
    pub(crate) slot: u8,
    /// Its frame marker: sof 6:0, sol 13:7, sor 17:14, rrb.gr 24:18.
    pub(crate) marker: u64,
    /// Where its r32 belongs in the backing store.
    pub(crate) bsp: u64,
    /// Its stack pointer, if that is known.
    pub(crate) sp: Option<u64>,
    /// The return address and AR.PFS as its registers have them, if it is the last that was entered by a call.
    pub(crate) own: Option<(u64, u64)>,
    /// General registers 1 to 31 are its own.
    pub(crate) has_statics: bool,
    /// It is the current frame.
    pub(crate) is_current: bool,
    /// It may be a procedure that no table has.
    pub(crate) may_be_leaf: bool,
}

impl Frame {
    fn field(&self, low: u32, bits: u32) -> u64 {
        self.marker >> low & ((1 << bits) - 1)
    }

    /// The marker can be one: a frame has no more registers than the processor, and no more locals than registers.
    fn is_valid(&self) -> bool {
        let (sof, sol, rotating) = (self.field(0, 7), self.field(7, 7), 8 * self.field(14, 4));
        sof <= STACKED && sol <= sof && rotating <= sof && (self.field(18, 7) == 0 || self.field(18, 7) < rotating)
    }

    /// A general register, if it still has what the procedure has in it.
    fn general(&self, number: u8, values: &impl Values) -> Option<u64> {
        let Some(offset) = number.checked_sub(FIRST).map(u64::from) else {
            return if number == 0 { Some(0) } else { self.has_statics.then(|| values.general(number)) };
        };
        if offset >= self.field(0, 7) {
            return None;
        }
        if self.is_current {
            return Some(values.general(number));
        }
        let rotating = 8 * self.field(14, 4);
        let offset = if offset < rotating { (offset + self.field(18, 7)) % rotating } else { offset };
        values.stacked(stack::above(self.bsp, usize::try_from(offset).ok()?))
    }

    fn at(&self, place: Place, own: Option<u64>, previous: Option<u64>, values: &impl Values) -> Option<u64> {
        match place {
            Place::Own => own,
            Place::General(number) => self.general(number, values),
            // Whoever called since may have changed it.
            Place::Branch(number) => self.own.map(|_| values.branch(number)),
            Place::FromPrevious(offset) => values.peek(previous?.wrapping_add_signed(offset)),
            Place::FromStack(offset) => values.peek(self.sp?.wrapping_add(offset)),
            Place::Elsewhere => None,
        }
    }
}

/// The return addresses of a chain of frames, the innermost first.
pub(crate) fn callers(procedures: &Procedures, innermost: Frame, values: &impl Values) -> Vec<u64> {
    let mut callers = Vec::new();
    let mut frame = Some(innermost);
    while callers.len() < MOST_CALLERS
        && let Some(current) = frame.filter(Frame::is_valid)
        && let Some((address, next)) = caller(procedures, &current, values)
    {
        callers.push(address);
        // Callers' frames lie below in the backing store and above on the stack, so a chain that turns round has ended.
        frame = next.filter(|next| {
            let rises = next.sp.zip(current.sp).is_none_or(|(next, current)| next >= current);
            let stands = next.sp == current.sp && next.bsp == current.bsp && next.bundle == current.bundle;
            rises && next.bsp <= current.bsp && !stands
        });
    }
    callers
}

/// The return address of a frame, and its caller's frame as far as that is known.
fn caller(procedures: &Procedures, frame: &Frame, values: &impl Values) -> Option<(u64, Option<Frame>)> {
    let procedure = procedures.find(frame.bundle);
    let state = match procedure {
        Some(procedure) => procedures.state(procedure, frame.bundle, frame.slot)?,
        None if frame.may_be_leaf => State::ENTRY,
        None => return None,
    };
    if state.foreign {
        return None;
    }
    let previous = match state.psp {
        Previous::Above(bytes) => frame.sp.map(|sp| sp.wrapping_add(bytes)),
        Previous::Kept(place) => frame.at(place, None, None, values),
    };
    let own = frame.own.unzip();
    // Procedures that nobody returns from have 0 there.
    let address = frame.at(state.rp, own.0, previous, values).map(|rp| rp & !(BUNDLE - 1)).filter(|rp| *rp != 0)?;
    // Who calls is no leaf, and so a table has it. This shows code that keeps to no convention.
    if procedure.is_none() && !procedures.has(address.wrapping_sub(BUNDLE)) {
        return None;
    }
    let next = frame.at(state.pfs, own.1, previous, values).map(|marker| {
        let next = Frame {
            bundle: address.wrapping_sub(BUNDLE),
            slot: 2,
            marker,
            bsp: frame.bsp,
            sp: previous,
            own: None,
            has_statics: false,
            is_current: false,
            may_be_leaf: false,
        };
        Frame { bsp: stack::below(frame.bsp, next.field(7, 7) as usize), ..next }
    });
    Some((address, next))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::super::Procedure;
    use super::*;

    /// General register `n` has 1000h + n, and branch register `n` 2000h + 100h * n.
    #[derive(Debug, Default)]
    struct Fake {
        memory: HashMap<u64, u64>,
    }

    impl Values for Fake {
        fn general(&self, number: u8) -> u64 {
            0x1000 + u64::from(number)
        }

        fn branch(&self, number: u8) -> u64 {
            0x2000 + 0x100 * u64::from(number)
        }

        fn stacked(&self, address: u64) -> Option<u64> {
            self.memory.get(&address).copied()
        }

        fn peek(&self, address: u64) -> Option<u64> {
            self.memory.get(&address).copied()
        }
    }

    /// Procedures of 100h bytes at these addresses, with these descriptors.
    fn procedures(all: &[(u64, &[u8])]) -> Procedures {
        let mut file = Vec::new();
        let mut found = Vec::new();
        for (start, descriptors) in all {
            let from = file.len();
            file.extend_from_slice(descriptors);
            found.push(Procedure { start: *start, end: start + 0x100, descriptors: Some(from..file.len()) });
        }
        Procedures::new(file, found)
    }

    /// In the first slot of the procedure at `bundle`, with a frame of four registers, three of them locals.
    fn frame(bundle: u64) -> Frame {
        Frame {
            bundle,
            slot: 0,
            marker: MARKER,
            bsp: 0x9000,
            sp: Some(0x8000),
            own: Some((0x2000, MARKER)),
            has_statics: true,
            is_current: true,
            may_be_leaf: true,
        }
    }

    const MARKER: u64 = 4 | 3 << 7;

    const NONE: [u64; 0] = [];

    /// A body of 48 slots, which are those of 100h bytes.
    const BODY: [u8; 2] = [0x61, 48];

    #[test]
    fn the_return_address_of_a_procedure_that_keeps_nothing_is_in_b0() {
        // Its caller at 2000h has AR.PFS nowhere.
        assert_eq!(callers(&procedures(&[(0x3000, &BODY), (0x1F00, &BODY)]), frame(0x3000), &Fake::default()), [0x2000]);
    }

    #[test]
    fn registers_of_callers_are_found_across_collections_of_nat_bits() {
        // The callee's frame begins at 9008h. Of the three locals of its caller, r34 belongs at 9000h, and r33 and r32 below 8FF8h, which is a
        // collection as its bits 8:3 are 63. The caller keeps AR.PFS in r32 and rp in r34.
        let keeps: &[u8] = &[0x01, 0xE6, 0, 0xB1, 32, 0xE4, 0, 0xB0, 0x80 | 34, 0x61, 47];
        let fake = Fake { memory: HashMap::from([(0x8FE8, MARKER), (0x9000, 0x4010)]) };
        let table = procedures(&[(0x3000, &BODY), (0x1F00, keeps)]);
        assert_eq!(callers(&table, Frame { bsp: 0x9008, ..frame(0x3000) }, &fake), [0x2000, 0x4010]);
    }

    #[test]
    fn rotating_registers_of_a_caller_are_where_its_marker_says() {
        // 16 registers, 15 of them locals; eight rotate, by three: r33 is in the place of r36.
        let marker = 16 | 15 << 7 | 1 << 14 | 3 << 18;
        let keeps: &[u8] = &[0x01, 0xE4, 0, 0xB0, 0x80 | 33, 0x61, 47];
        let fake = Fake { memory: HashMap::from([(0x8F80 - 15 * 8 + 4 * 8, 0x4010)]) };
        let table = procedures(&[(0x3000, &BODY), (0x1F00, keeps)]);
        let callee = Frame { bsp: 0x8F80, own: Some((0x2000, marker)), ..frame(0x3000) };
        assert_eq!(callers(&table, callee, &fake), [0x2000, 0x4010]);
    }

    #[test]
    fn values_in_memory_are_found_by_both_stack_pointers() {
        // A frame of 32 bytes: rp at sp + 16, and AR.PFS 8 bytes below the caller's stack pointer plus 16, at 8028h.
        let keeps: &[u8] = &[0x01, 0xE0, 0, 2, 0xE4, 0, 0xF0, 1, 4, 0xE6, 0, 0xE7, 2, 0x61, 47];
        // Its caller does the same, with a stack pointer of 8020h.
        let fake = Fake { memory: HashMap::from([(0x8010, 0x2000), (0x8028, MARKER), (0x8030, 0x5000), (0x8048, MARKER)]) };
        let table = procedures(&[(0x3000, keeps), (0x1F00, keeps)]);
        assert_eq!(callers(&table, Frame { own: None, ..frame(0x3000) }, &fake), [0x2000, 0x5000]);
    }

    #[test]
    fn registers_that_calls_do_not_save_are_known_of_the_innermost_frame_alone() {
        // Both keep rp in r4, and AR.PFS in r32.
        let keeps: &[u8] = &[0x01, 0xE4, 0, 0xB0, 0x80 | 4, 0xE6, 0, 0xB1, 32, 0x61, 47];
        // r4 has 1004h.
        assert_eq!(callers(&procedures(&[(0x3000, keeps), (0xF00, keeps)]), frame(0x3000), &Fake::default()), [0x1000]);
    }

    #[test]
    fn a_procedure_in_no_table_is_a_leaf_whose_caller_is_in_one() {
        let fake = Fake::default();
        assert_eq!(callers(&procedures(&[(0x1F00, &BODY)]), frame(0x3000), &fake), [0x2000]);
        assert_eq!(callers(&procedures(&[(0x4000, &BODY)]), frame(0x3000), &fake), NONE);
        assert_eq!(callers(&procedures(&[(0x1F00, &BODY)]), Frame { may_be_leaf: false, ..frame(0x3000) }, &fake), NONE);
    }

    #[test]
    fn a_chain_ends_where_nobody_called() {
        // rp in r0; a handler of interruptions.
        for keeps in [&[0x01, 0xE4, 0, 0xB0, 0x80, 0x61, 47][..], &[0x01, 0xFF, 0, 0x69, 0x61, 47]] {
            assert_eq!(callers(&procedures(&[(0x3000, keeps)]), frame(0x3000), &Fake::default()), NONE);
        }
    }

    #[test]
    fn a_chain_ends_at_descriptors_that_cannot_be_read() {
        let unread = Procedures::new(Vec::new(), vec![Procedure { start: 0x3000, end: 0x3100, descriptors: None }]);
        assert_eq!(callers(&unread, frame(0x3000), &Fake::default()), NONE);
        assert_eq!(callers(&procedures(&[(0x3000, &[0x61, 48, 0xFD])]), frame(0x3000), &Fake::default()), NONE);
    }

    #[test]
    fn a_chain_ends_at_a_marker_of_more_registers_than_there_are() {
        // Its r33 would lie 96 registers and two collections below 9000h.
        let fake = Fake { memory: HashMap::from([(0x9000, 97 | 97 << 7), (0x9000 - 98 * 8, 0x6000)]) };
        let keeps: &[u8] = &[0x01, 0xE6, 0, 0xB1, 32, 0x61, 47];
        let table = procedures(&[(0x3000, keeps), (0x1F00, &[0x01, 0xE4, 0, 0xB0, 0x80 | 33, 0x61, 47])]);
        assert_eq!(callers(&table, Frame { is_current: false, ..frame(0x3000) }, &fake), [0x2000]);
    }

    #[test]
    fn a_chain_whose_stack_turns_back_ends() {
        // The caller's stack pointer is kept in r34, which has less.
        let keeps: &[u8] = &[0x01, 0xE1, 0, 0xB0, 34, 0x61, 47];
        let fake = Fake { memory: HashMap::from([(0x9010, 0x7FF0), (0x8FE8, 0x6000)]) };
        let table = procedures(&[(0x3000, keeps), (0x1F00, &[0x01, 0xE4, 0, 0xB0, 0x80 | 33, 0x61, 47])]);
        assert_eq!(callers(&table, Frame { is_current: false, ..frame(0x3000) }, &fake), [0x2000]);
    }

    proptest! {
        #[test]
        fn any_tables_and_registers_give_a_bounded_chain(
            descriptors in proptest::collection::vec(any::<u8>(), 0..100),
            words in proptest::collection::hash_map(0x1100u64..0x1200, any::<u64>(), 0..200),
            own in any::<(u64, u64)>(),
            marker in any::<u64>(),
            slots in 0u8..3,
        ) {
            let all = Procedure { start: 0, end: u64::MAX, descriptors: Some(0..descriptors.len()) };
            let fake = Fake { memory: words.into_iter().map(|(word, value)| (word * 8, value)).collect() };
            let frame = Frame { slot: slots, marker, own: Some(own), ..frame(0x10) };
            prop_assert!(callers(&Procedures::new(descriptors, vec![all]), frame, &fake).len() <= MOST_CALLERS);
        }
    }
}
