//! Where a procedure keeps what leads to its caller, at one of its slots.

use super::records::{Place, Record, Records, Register};

/// The most prologues within one another, and the most labels. Compilers make a few.
const MOST_PROLOGUES: usize = 16;
const MOST_LABELS: usize = 64;

/// Where the caller's stack pointer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Previous {
    /// It lies so many bytes above the procedure's own.
    Above(u64),
    /// It is kept somewhere.
    Kept(Place),
}

/// What holds after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The return address.
    pub(super) rp: Place,
    /// AR.PFS as the call left it.
    pub(super) pfs: Place,
    /// The caller's stack pointer.
    pub(super) psp: Previous,
    /// Nobody called the procedure.
    pub(super) foreign: bool,
}

impl State {
    /// At the entry, and of a procedure that keeps nothing.
    pub(super) const ENTRY: State = State { rp: Place::Own, pfs: Place::Own, psp: Previous::Above(0), foreign: false };

    /// After the instruction in `slot`, counted from the procedure's first one, by its descriptors; none if they say nothing of it, or what
    /// nobody can mean.
    pub(super) fn after(slot: u64, descriptors: &[u8]) -> Option<State> {
        if descriptors.is_empty() {
            return Some(State::ENTRY);
        }
        let mut reader = Reader::new(slot);
        for record in Records::of(descriptors) {
            if reader.take(record.ok()?)? {
                return Some(reader.state);
            }
        }
        reader.leave().then_some(reader.state)
    }

    fn keep(&mut self, register: Register, place: Place) {
        match register {
            Register::Rp => self.rp = place,
            Register::Pfs => self.pfs = place,
            Register::Psp => self.psp = Previous::Kept(place),
        }
    }

    /// The stack pointer is the caller's, and what was in memory is in its own register again.
    fn restore(&mut self) {
        self.psp = Previous::Above(0);
        for place in [&mut self.rp, &mut self.pfs] {
            if matches!(place, Place::FromPrevious(_) | Place::FromStack(_)) {
                *place = Place::Own;
            }
        }
    }
}

/// What a prologue says of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Save {
    when: Option<u64>,
    place: Option<Place>,
}

/// The descriptors of a region.
#[derive(Debug, Default)]
struct Region {
    start: u64,
    slots: u64,
    rp: Save,
    pfs: Save,
    psp: Save,
    frame: Option<(u64, u64)>,
    saves: u8,
    first: u8,
    /// The slot that restores the stack pointer, and how many prologues end with the region.
    epilogue: Option<(u64, u64)>,
}

impl Region {
    /// The slot of the procedure that is the `when`th of the region; never one behind it.
    fn slot(&self, when: u64) -> u64 {
        self.start.saturating_add(when.min(self.slots.saturating_sub(1)))
    }

    /// Gives places to the values that have none: general registers, one after the other (section 11.4.2.3).
    fn place(&mut self) {
        let mut next = self.first;
        let mut following = || {
            next = next.saturating_add(1);
            Place::General(next - 1)
        };
        let saves = self.saves;
        for (bit, save) in [(8, &mut self.rp), (4, &mut self.pfs), (2, &mut self.psp)] {
            if saves & bit != 0 {
                let place = following();
                save.place.get_or_insert(place);
            }
        }
        if saves & 1 != 0 {
            following();
        }
        for save in [&mut self.rp, &mut self.pfs, &mut self.psp] {
            if save.when.is_some() && save.place.is_none() {
                save.place = Some(following());
            }
        }
    }
}

struct Reader {
    target: u64,
    state: State,
    region: Region,
    is_prologue: bool,
    /// What held before each prologue that has not ended.
    before: Vec<State>,
    labels: Vec<(u64, State, Vec<State>)>,
}

impl Reader {
    fn new(target: u64) -> Reader {
        let region = Region::default();
        Reader { target, state: State::ENTRY, region, is_prologue: false, before: Vec::new(), labels: Vec::new() }
    }

    /// Takes a descriptor. Returns whether the target's region is over, and so everything is known; none if no procedure is like that.
    fn take(&mut self, record: Record) -> Option<bool> {
        match record {
            Record::Prologue { slots, saves, first } => {
                if self.leave() {
                    return Some(true);
                }
                self.enter(slots)?;
                (self.region.saves, self.region.first, self.is_prologue) = (saves, first, true);
                if self.before.len() == MOST_PROLOGUES {
                    return None;
                }
                self.before.push(self.state);
            }
            Record::Body { slots } => {
                if self.leave() {
                    return Some(true);
                }
                self.enter(slots)?;
            }
            Record::Kept(register, place) => self.save(register).place = Some(place),
            Record::When(register, when) => self.save(register).when = Some(when),
            Record::Frame { when, bytes } => self.region.frame = Some((when, bytes)),
            Record::Link(number) => self.state.rp = Place::Branch(number),
            Record::Epilogue { before_last, prologues } => {
                let start = self.region.start.saturating_add(self.region.slots.saturating_sub(1).checked_sub(before_last)?);
                self.region.epilogue = Some((start, prologues));
            }
            Record::Label(label) => {
                self.labels.retain(|(known, ..)| *known != label);
                if self.labels.len() == MOST_LABELS {
                    return None;
                }
                self.labels.push((label, self.state, self.before.clone()));
            }
            Record::Copy(label) => {
                let (_, state, before) = self.labels.iter().find(|(known, ..)| *known == label)?;
                (self.state, self.before) = (*state, before.clone());
            }
            Record::Moved { register, when, place, predicated } => {
                if self.region.slot(when) <= self.target {
                    self.state.keep(register, if predicated { Place::Elsewhere } else { place });
                }
            }
            Record::Foreign => self.state.foreign = true,
            Record::Other => {}
        }
        Some(false)
    }

    fn save(&mut self, register: Register) -> &mut Save {
        match register {
            Register::Rp => &mut self.region.rp,
            Register::Pfs => &mut self.region.pfs,
            Register::Psp => &mut self.region.psp,
        }
    }

    /// The descriptors of the region are over. Returns whether the target lies in it.
    fn leave(&mut self) -> bool {
        if std::mem::take(&mut self.is_prologue) {
            self.region.place();
            let last = self.region.slots.saturating_sub(1);
            for (register, save) in [(Register::Rp, self.region.rp), (Register::Pfs, self.region.pfs), (Register::Psp, self.region.psp)] {
                if let Some(place) = save.place
                    && self.region.slot(save.when.unwrap_or(last)) <= self.target
                {
                    self.state.keep(register, place);
                }
            }
            if let Some((when, bytes)) = self.region.frame
                && self.region.slot(when) <= self.target
            {
                self.state.psp = Previous::Above(bytes);
            }
        }
        let is_there = self.target < self.region.start.saturating_add(self.region.slots);
        if let Some((start, _)) = self.region.epilogue
            && is_there
            && start <= self.target
        {
            self.state.restore();
        }
        is_there
    }

    /// The next region begins, of so many slots.
    fn enter(&mut self, slots: u64) -> Option<()> {
        if let Some((_, prologues)) = self.region.epilogue {
            let left = self.before.len().checked_sub(usize::try_from(prologues).ok()?)?;
            self.state = *self.before.get(left)?;
            self.before.truncate(left);
        }
        self.region = Region { start: self.region.start.checked_add(self.region.slots)?, slots, ..Region::default() };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The states after all slots, up to the first that has none.
    fn states(descriptors: &[u8]) -> Vec<State> {
        (0..).map_while(|slot| State::after(slot, descriptors)).collect()
    }

    const ENTRY: State = State::ENTRY;

    #[test]
    fn a_procedure_without_descriptors_keeps_everything_where_it_came() {
        assert_eq!(State::after(1000, &[]), Some(ENTRY));
    }

    #[test]
    fn a_value_is_kept_from_the_instruction_on_that_moves_it() {
        // A prologue of three slots: AR.PFS in r32 by the first, rp in r33 by the second. A body of one.
        let pfs = State { pfs: Place::General(32), ..ENTRY };
        let both = State { rp: Place::General(33), ..pfs };
        assert_eq!(states(&[0x03, 0xE6, 0, 0xB1, 32, 0xE4, 1, 0xB0, 0x80 | 33, 0x21]), [pfs, both, both, both]);
    }

    #[test]
    fn a_value_of_which_no_instruction_is_told_is_kept_at_the_end_of_the_prologue() {
        let kept = State { rp: Place::General(33), ..ENTRY };
        assert_eq!(states(&[0x03, 0xB0, 0x80 | 33, 0x21]), [ENTRY, ENTRY, kept, kept]);
    }

    #[test]
    fn the_mask_of_a_prologue_gives_registers_one_after_the_other() {
        // rp in r40, AR.PFS in r41, the stack pointer in r42.
        let kept = State { rp: Place::General(40), pfs: Place::General(41), psp: Previous::Kept(Place::General(42)), ..ENTRY };
        assert_eq!(states(&[0x47, 40, 1, 0x21]), [kept, kept]);
    }

    #[test]
    fn a_value_without_a_place_has_the_next_register() {
        // AR.PFS in r40 by the mask; of rp there is only when.
        let kept = State { rp: Place::General(41), pfs: Place::General(40), ..ENTRY };
        assert_eq!(states(&[0x42, 40, 1, 0xE4, 0]), [kept]);
        // Without a mask, from r32 on.
        assert_eq!(states(&[0x01, 0xE4, 0]), [State { rp: Place::General(32), ..ENTRY }]);
    }

    #[test]
    fn the_stack_pointer_goes_down_by_the_size_of_the_frame() {
        // By 32 bytes at the second slot.
        let framed = State { psp: Previous::Above(32), ..ENTRY };
        assert_eq!(states(&[0x02, 0xE0, 1, 2, 0x21]), [ENTRY, framed, framed]);
    }

    #[test]
    fn an_epilogue_ends_the_frame_and_what_lay_in_it() {
        // rp in memory and AR.PFS in r32 at the second slot. A body of three, of which the second restores the stack pointer. What its
        // prologue did is undone behind it.
        let framed = State { rp: Place::FromPrevious(8), pfs: Place::General(32), psp: Previous::Above(16), foreign: false };
        let restored = State { rp: Place::Own, psp: Previous::Above(0), ..framed };
        let descriptors = [0x02, 0xE0, 1, 1, 0xE5, 2, 0xB1, 32, 0x23, 0xC0, 1, 0x21];
        assert_eq!(states(&descriptors), [ENTRY, framed, framed, restored, restored, ENTRY]);
    }

    #[test]
    fn a_copied_state_holds_behind_an_epilogue_again() {
        // A prologue of one slot, a body with label 1 that ends the frame at its last slot, and a body with the state of the label.
        let kept = State { rp: Place::General(33), psp: Previous::Above(16), ..ENTRY };
        let restored = State { psp: Previous::Above(0), ..kept };
        assert_eq!(states(&[0x01, 0xE0, 0, 1, 0xB0, 0x80 | 33, 0x22, 0x81, 0xC0, 0, 0x21, 0xA1]), [kept, kept, restored, kept]);
    }

    #[test]
    fn a_value_may_move_in_a_body() {
        // To r40 at the second slot, and under a predicate at the third.
        let moved = State { rp: Place::General(40), ..ENTRY };
        let unknown = State { rp: Place::Elsewhere, ..ENTRY };
        assert_eq!(states(&[0x23, 0xFA, 0x63, 40, 1, 0xFC, 6, 0x63, 41, 2]), [ENTRY, moved, unknown]);
    }

    #[test]
    fn a_slot_behind_all_regions_has_no_state() {
        // What fills the last doubleword are prologues without slots.
        assert_eq!(states(&[0x21, 0, 0, 0, 0, 0, 0, 0]).len(), 1);
    }

    #[test]
    fn what_no_procedure_can_be_like_has_no_state() {
        // A copy of no label, an epilogue without a prologue, one longer than its region, bytes without meaning.
        for descriptors in [&[0x21, 0xA1][..], &[0x21, 0xC0, 0, 0x21], &[0x21, 0xC0, 1], &[0x21, 0xFD]] {
            assert_eq!(State::after(1, descriptors), None, "{descriptors:x?}");
        }
    }

    #[test]
    fn prologues_within_one_another_without_end_have_no_state() {
        let mut descriptors = vec![0x00; 17];
        descriptors.push(0x21);
        assert_eq!(State::after(0, &descriptors), None);
        assert_eq!(State::after(0, &descriptors[1..]), Some(ENTRY));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_state_or_none(descriptors in proptest::collection::vec(any::<u8>(), 0..200), slot in any::<u64>(), near in 0u64..100) {
            let _ = State::after(slot, &descriptors);
            let _ = State::after(near, &descriptors);
        }
    }
}
