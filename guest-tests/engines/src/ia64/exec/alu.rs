//! The A-type instructions except compares, and the long immediate.

use super::Flow;
use crate::ia64::interrupt::Fault;
use crate::ia64::state::Core;
use crate::ia64::word::Word;

impl Core {
    /// Majors 8 and 9.
    pub(crate) fn alu(&mut self, w: Word) -> Result<(), Fault> {
        let (value, nat) = self.gr(w.r3());
        match w.major() {
            // addl: only r0 to r3 can be added to.
            9 => {
                let (value, nat) = self.gr(w.bits(20, 2) as usize);
                self.put(w.r1(), (value.wrapping_add(w.imm22()), nat))
            }
            // Of the parallel ALU bit 33 is a part of the size.
            8 if w.bits(34, 2) == 1 => self.parallel_alu(w),
            8 if w.bit(33) => Err(Fault::IllegalOperation),
            8 => match w.bits(34, 2) {
                0 => self.register_alu(w),
                2 => self.put(w.r1(), (value.wrapping_add(w.imm14()), nat)),
                _ => self.put(w.r1(), (w.imm14().wrapping_add(value) & 0xFFFF_FFFF | (value >> 30 & 3) << 61, nat)),
            },
            _ => Err(Fault::IllegalOperation),
        }
    }

    fn register_alu(&mut self, w: Word) -> Result<(), Fault> {
        let (a, a_nat) = self.gr(w.r2());
        let (b, nat) = self.gr(w.r3());
        let nats = a_nat || nat;
        let count = w.bits(27, 2);
        let immediate = w.imm8();
        let result = match (w.bits(29, 4), count) {
            (0, 0) => (a.wrapping_add(b), nats),
            (0, 1) => (a.wrapping_add(b).wrapping_add(1), nats),
            (1, 0) => (a.wrapping_sub(b).wrapping_sub(1), nats),
            (1, 1) => (a.wrapping_sub(b), nats),
            // The region comes from the base alone.
            (2, 0) => (a.wrapping_add(b) & 0xFFFF_FFFF | (b >> 30 & 3) << 61, nats),
            (3, 0) => (a & b, nats),
            (3, 1) => (a & !b, nats),
            (3, 2) => (a | b, nats),
            (3, 3) => (a ^ b, nats),
            (4, _) => ((a << (count + 1)).wrapping_add(b), nats),
            (6, _) => ((a << (count + 1)).wrapping_add(b) & 0xFFFF_FFFF | (b >> 30 & 3) << 61, nats),
            (9, 1) => (immediate.wrapping_sub(b), nat),
            (0xB, 0) => (immediate & b, nat),
            (0xB, 1) => (immediate & !b, nat),
            (0xB, 2) => (immediate | b, nat),
            (0xB, 3) => (immediate ^ b, nat),
            _ => return Err(Fault::IllegalOperation),
        };
        self.put(w.r1(), result)
    }

    /// `movl`, `nop.x`, `hint.x` and `break.x`.
    pub(crate) fn long_immediate(&mut self, w: Word, upper: u64) -> Result<Flow, Fault> {
        match (w.major(), w.x3(), w.x6()) {
            // IIM gets the low 21 bits.
            (0, 0, 0) => return Err(Fault::Break(w.imm21())),
            (0, 0, 1) => self.step.pause = w.bit(26) && w.imm62(upper) == 0,
            (6, ..) if !w.bit(20) => self.put(w.r1(), (w.imm64(upper), false))?,
            _ => return Err(Fault::IllegalOperation),
        }
        Ok(Flow::Next)
    }
}
