//! Integer compares, and tests of bits, NaTs and features.

use crate::ia64::interrupt::Fault;
use crate::ia64::state::Core;
use crate::ia64::word::Word;

/// How a compare writes its two predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// The result and its complement.
    Normal,
    /// The same, and zeros when it is predicated off.
    Unconditional,
    /// Zeros when the result is false.
    And,
    /// Ones when the result is true.
    Or,
    /// One and zero when the result is true.
    OrAndcm,
}

impl Core {
    /// Whether two predicates may be the targets of one instruction.
    pub(crate) fn distinct(w: Word) -> Result<(), Fault> {
        if w.p1() == w.p2() { Err(Fault::IllegalOperation) } else { Ok(()) }
    }

    /// Writes the two predicates of an instruction that is not predicated off.
    pub(crate) fn put_predicates(&mut self, w: Word, write: Write, result: bool, nat: bool) {
        let both = |core: &mut Self, first: bool, second: bool| {
            core.set_predicate(w.p1(), first);
            core.set_predicate(w.p2(), second);
        };
        match write {
            Write::Normal | Write::Unconditional if nat => both(self, false, false),
            Write::Normal | Write::Unconditional => both(self, result, !result),
            Write::And if nat || !result => both(self, false, false),
            Write::Or if result && !nat => both(self, true, true),
            Write::OrAndcm if result && !nat => both(self, true, false),
            Write::And | Write::Or | Write::OrAndcm => {}
        }
    }

    /// Writes the two predicates of an instruction that is predicated off.
    pub(crate) fn skip_predicates(&mut self, w: Word, write: Write) -> Result<(), Fault> {
        if write == Write::Unconditional {
            Self::distinct(w)?;
            self.set_predicate(w.p1(), false);
            self.set_predicate(w.p2(), false);
        }
        Ok(())
    }

    /// Majors C, D and E.
    pub(crate) fn compare(&mut self, w: Word, p: bool) -> Result<(), Fault> {
        let major = w.major();
        if major > 0xE {
            return if p { Err(Fault::IllegalOperation) } else { Ok(()) };
        }
        let (immediate, narrow) = (w.bit(35), w.bit(34));
        let (tb, ta, c) = (w.bit(36) && !immediate, w.bit(33), w.bit(12));
        let parallel = tb || ta;
        let write = match (parallel, major) {
            (false, _) if c => Write::Unconditional,
            (false, _) => Write::Normal,
            (true, 0xC) => Write::And,
            (true, 0xD) => Write::Or,
            (true, _) => Write::OrAndcm,
        };
        if !p {
            return self.skip_predicates(w, write);
        }
        Self::distinct(w)?;
        let (mut a, a_nat) = if immediate {
            (w.imm8(), false)
        } else if tb {
            (0, false)
        } else {
            self.gr(w.r2())
        };
        let (mut b, b_nat) = self.gr(w.r3());
        if narrow {
            a = a as i32 as u64;
            b = b as i32 as u64;
        }
        let result = match (parallel, tb, ta, c, major) {
            (false, .., 0xC) => (a as i64) < b as i64,
            (false, .., 0xD) if narrow => (a as u32) < b as u32,
            (false, .., 0xD) => a < b,
            (false, ..) => a == b,
            (_, true, false, false, _) => a as i64 > b as i64,
            (_, true, false, true, _) => a as i64 <= b as i64,
            (_, true, true, false, _) => a as i64 >= b as i64,
            (_, true, true, true, _) => (a as i64) < b as i64,
            (.., false, _) => a == b,
            _ => a != b,
        };
        self.put_predicates(w, write, result, a_nat || b_nat);
        Ok(())
    }

    /// `tbit`, `tnat` and `tf`.
    pub(crate) fn test(&mut self, w: Word, p: bool) -> Result<(), Fault> {
        let (ta, tb, c) = (w.bit(33), w.bit(36), w.bit(12));
        let write = match (ta, tb) {
            (false, false) if c => Write::Unconditional,
            (false, false) => Write::Normal,
            (true, false) => Write::Or,
            (false, true) => Write::And,
            (true, true) => Write::OrAndcm,
        };
        if !p {
            return self.skip_predicates(w, write);
        }
        Self::distinct(w)?;
        let (value, nat) = self.gr(w.r3());
        let (bit, nat) = match (w.bit(13), w.bit(19)) {
            (false, _) => (value >> w.bits(14, 6) & 1 != 0, nat),
            (true, false) => (nat, false),
            // Features 32 to 63 are those of CPUID register 4.
            (true, true) => (self.cpuid[4] >> (32 + w.bits(14, 5)) & 1 != 0, false),
        };
        // The plain and .unc forms test for zero; for the parallel ones c determines for what.
        let wanted = (ta || tb) && c;
        self.put_predicates(w, write, bit == wanted, nat);
        Ok(())
    }
}
