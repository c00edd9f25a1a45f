//! The stacked general registers, the current frame marker and the pointers of the register stack engine (SDM volume 2, chapter 6).

/// How many stacked registers there are.
pub(crate) const STACKED: usize = 96;

/// How the registers that an instruction names are renamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The frame marker: sof 6:0, sol 13:7, sor 17:14, rrb.gr 24:18, rrb.fr 31:25, rrb.pr 37:32.
    pub marker: u64,
    /// The physical stacked register, 0 to 95, that r32 is in before rotation.
    pub bottom: u8,
}

impl Frame {
    fn field(self, low: u32, bits: u32) -> usize {
        (self.marker >> low & ((1 << bits) - 1)) as usize
    }

    /// Whether the frame has general register `number`.
    pub(crate) fn holds(self, number: usize) -> bool {
        number < 32 + self.field(0, 7)
    }

    /// The physical stacked register of general register `number`, 32 or more.
    pub(crate) fn stacked(self, number: usize) -> usize {
        stacked(number, self.bottom.into(), 8 * self.field(14, 4), self.field(18, 7))
    }

    /// Floating-point register `number` after rotation.
    pub(crate) fn floating(self, number: usize) -> usize {
        rotated_floating(number, self.field(25, 7))
    }

    /// Predicate `number` after rotation.
    pub(crate) fn predicate(self, number: usize) -> usize {
        rotated_predicate(number, self.field(32, 6))
    }
}

/// The current frame and the physical stacked registers.
pub(crate) struct RegisterStack {
    values: [u64; STACKED],
    nats: [bool; STACKED],
    /// The physical register of r32, without rotation.
    pub(crate) bottom: usize,
    pub(crate) sof: usize,
    pub(crate) sol: usize,
    /// Rotating registers.
    pub(crate) rotating: usize,
    pub(crate) rrb_gr: usize,
    pub(crate) rrb_fr: usize,
    pub(crate) rrb_pr: usize,
    /// Registers below the frame that are not in memory yet.
    pub(crate) dirty: usize,
    /// Registers below those that are in memory and still in the file.
    pub(crate) clean: usize,
    pub(crate) bsp: u64,
    pub(crate) bspstore: u64,
    pub(crate) rnat: u64,
}

/// The physical stacked register of general register `number`, 32 or more, of a frame whose r32 is in register `bottom` before rotation.
#[inline]
pub(crate) fn stacked(number: usize, bottom: usize, rotating: usize, rrb: usize) -> usize {
    let mut offset = number - 32;
    if offset < rotating {
        offset += rrb;
        if offset >= rotating {
            offset -= rotating;
        }
    }
    (bottom + offset) % STACKED
}

/// Floating-point register `number` after rotation.
#[inline]
pub(crate) fn rotated_floating(number: usize, rrb: usize) -> usize {
    if number < 32 { number } else { 32 + (number - 32 + rrb) % 96 }
}

/// Predicate `number` after rotation.
#[inline]
pub(crate) fn rotated_predicate(number: usize, rrb: usize) -> usize {
    if number < 16 { number } else { 16 + (number - 16 + rrb) % 48 }
}

/// The slot of a collection of 63 NaT bits that the register at `address` has, 63 being the collection itself.
pub(crate) fn slot(address: u64) -> u32 {
    (address >> 3 & 63) as u32
}

/// The address of the collection with the NaT bit of the register at `address`.
pub(crate) fn collection(address: u64) -> u64 {
    address | 0x1F8
}

/// The address in the backing store `registers` registers above `address`: each 64th doubleword is a collection of NaT bits.
#[must_use]
pub fn above(mut address: u64, registers: usize) -> u64 {
    for _ in 0..registers {
        address = address.wrapping_add(8);
        if slot(address) == 63 {
            address = address.wrapping_add(8);
        }
    }
    address
}

/// The address in the backing store `registers` registers below `address`.
#[must_use]
pub fn below(mut address: u64, registers: usize) -> u64 {
    for _ in 0..registers {
        address = address.wrapping_sub(8);
        if slot(address) == 63 {
            address = address.wrapping_sub(8);
        }
    }
    address
}

impl RegisterStack {
    pub(crate) fn new(bsp: u64) -> Self {
        Self {
            values: [0; STACKED],
            nats: [false; STACKED],
            bottom: 0,
            sof: 0,
            sol: 0,
            rotating: 0,
            rrb_gr: 0,
            rrb_fr: 0,
            rrb_pr: 0,
            dirty: 0,
            clean: 0,
            bsp,
            bspstore: bsp,
            rnat: 0,
        }
    }

    /// The physical register of general register `number`, 32 or more.
    #[inline]
    pub(crate) fn physical(&self, number: usize) -> usize {
        stacked(number, self.bottom, self.rotating, self.rrb_gr)
    }

    /// How the current frame renames registers.
    #[inline]
    pub(crate) fn frame(&self) -> Frame {
        Frame { marker: self.cfm(), bottom: self.bottom as u8 }
    }

    pub(crate) fn get(&self, physical: usize) -> (u64, bool) {
        (self.values[physical], self.nats[physical])
    }

    pub(crate) fn set(&mut self, physical: usize, value: u64, nat: bool) {
        self.values[physical] = value;
        self.nats[physical] = nat;
    }

    /// The physical register `registers` below the frame.
    pub(crate) fn under(&self, registers: usize) -> usize {
        (self.bottom + STACKED - registers) % STACKED
    }

    /// Where the frame would end in the backing store: what AR.BSP is to somebody who has all of it written there.
    pub(crate) fn end(&self) -> u64 {
        above(self.bsp, self.sof)
    }

    /// The register of the frame, or below it, that belongs at `address` in the backing store and is not there yet. Registers of the frame
    /// have the names that instructions use, so rotation counts.
    pub(crate) fn belonging_at(&self, address: u64) -> Option<u64> {
        let steps = |first: u64, step: fn(u64, usize) -> u64| std::iter::successors(Some(first), move |at| Some(step(*at, 1)));
        let framed = steps(self.bsp, above).take(self.sof).position(|at| at == address).map(|number| self.physical(32 + number));
        let under = || steps(self.bsp, below).skip(1).take(self.dirty).position(|at| at == address).map(|number| self.under(number + 1));
        let physical = framed.or_else(under);
        physical.map(|physical| self.get(physical).0)
    }

    /// The current frame marker.
    pub(crate) fn cfm(&self) -> u64 {
        self.sof as u64
            | (self.sol as u64) << 7
            | (self.rotating as u64 / 8) << 14
            | (self.rrb_gr as u64) << 18
            | (self.rrb_fr as u64) << 25
            | (self.rrb_pr as u64) << 32
    }

    /// Takes over a frame marker; returns whether it is valid.
    pub(crate) fn set_cfm(&mut self, value: u64) -> bool {
        let field = |low: u32, bits: u32| (value >> low & ((1 << bits) - 1)) as usize;
        let (sof, sol, rotating) = (field(0, 7), field(7, 7), 8 * field(14, 4));
        let (gr, fr, pr) = (field(18, 7), field(25, 7), field(32, 6));
        if sof > STACKED || sol > sof || rotating > sof || gr >= rotating.max(1) || fr >= 96 || pr >= 48 {
            return false;
        }
        (self.sof, self.sol, self.rotating) = (sof, sol, rotating);
        (self.rrb_gr, self.rrb_fr, self.rrb_pr) = (gr, fr, pr);
        true
    }

    /// All rotation ends.
    pub(crate) fn clear_rotation(&mut self) {
        (self.rrb_gr, self.rrb_fr, self.rrb_pr) = (0, 0, 0);
    }

    /// The rotating registers move up by one.
    pub(crate) fn rotate(&mut self) {
        let down = |value: usize, size: usize| if value == 0 { size.saturating_sub(1) } else { value - 1 };
        self.rrb_gr = down(self.rrb_gr, self.rotating);
        self.rrb_fr = down(self.rrb_fr, 96);
        self.rrb_pr = down(self.rrb_pr, 48);
    }

    /// The frame moves up by `registers`, which become dirty.
    pub(crate) fn leave(&mut self, registers: usize) {
        self.bottom = (self.bottom + registers) % STACKED;
        self.bsp = above(self.bsp, registers);
        self.dirty += registers;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_that_are_not_in_memory_belong_above_those_that_are() {
        // Two registers are dirty; the frame of three begins where the next collection of NaT bits is: at 11F0h, 1200h and 1208h.
        let mut stack = RegisterStack::new(0x11E0);
        (stack.sof, stack.sol) = (2, 2);
        (0..5).for_each(|register| stack.set(register, 0x10 + register as u64, false));
        stack.leave(2);
        stack.sof = 3;
        let there = [0x11D8, 0x11E0, 0x11E8, 0x11F0, 0x11F8, 0x1200, 0x1208, 0x1210].map(|address| stack.belonging_at(address));
        assert_eq!(there, [None, Some(0x10), Some(0x11), Some(0x12), None, Some(0x13), Some(0x14), None]);
        assert_eq!(stack.end(), 0x1210);
    }

    #[test]
    fn every_sixty_fourth_word_of_the_backing_store_is_a_collection() {
        assert_eq!(above(0x1000, 62), 0x11F0);
        assert_eq!(above(0x1000, 63), 0x1200);
        assert_eq!(below(0x1200, 1), 0x11F0);
    }

    #[test]
    fn rotation_moves_a_value_to_the_next_register() {
        let mut stack = RegisterStack::new(0);
        assert!(stack.set_cfm(8 | 8 << 7 | 1 << 14));
        stack.set(stack.physical(32), 7, false);
        stack.rotate();
        assert_eq!(stack.get(stack.physical(33)).0, 7);
    }

    #[test]
    fn a_frame_of_more_than_ninety_six_registers_is_refused() {
        assert!(!RegisterStack::new(0).set_cfm(97));
    }
}
