//! What works on parts of registers: `mix`, `mux`, `unpack`, and `padd` and `psub` with wrapping, `pcmp`.

use crate::ia64::interrupt::Fault;
use crate::ia64::state::Core;
use crate::ia64::word::{Word, sign_extend};

use super::integer::ones;

/// Element `at` of `bytes` bytes, from the right.
fn element(value: u64, at: u32, bytes: u32) -> u64 {
    value >> (8 * bytes * at) & ones(8 * bytes)
}

/// A register out of elements of `bytes` bytes, from the right.
fn gather(bytes: u32, part: impl Fn(u32) -> u64) -> u64 {
    (0..8 / bytes).fold(0, |all, at| all | (part(at) & ones(8 * bytes)) << (8 * bytes * at))
}

/// The permutations of `mux1`, each byte's source from the right.
fn permuted(value: u64, kind: u64) -> Option<u64> {
    let sources: [u32; 8] = match kind {
        0 => [0; 8],
        // mix, shuf, alt and rev.
        8 => [0, 4, 2, 6, 1, 5, 3, 7],
        9 => [0, 4, 1, 5, 2, 6, 3, 7],
        0xA => [0, 2, 4, 6, 1, 3, 5, 7],
        0xB => [7, 6, 5, 4, 3, 2, 1, 0],
        _ => return None,
    };
    Some(gather(1, |at| element(value, sources[at as usize], 1)))
}

impl Core {
    fn parts(w: Word) -> Option<u32> {
        match (w.bit(36), w.bit(33)) {
            (false, false) => Some(1),
            (false, true) => Some(2),
            (true, false) => Some(4),
            (true, true) => None,
        }
    }

    /// Major 7 except shifts of whole registers.
    pub(crate) fn parallel(&mut self, w: Word) -> Result<(), Fault> {
        let bytes = Self::parts(w).ok_or(Fault::IllegalOperation)?;
        let (a, a_nat) = self.gr(w.r2());
        let (b, b_nat) = self.gr(w.r3());
        let nats = a_nat || b_nat;
        let half = 4 / bytes;
        let result = match (w.bit(32), w.bits(34, 2), w.bits(28, 2), w.bits(30, 2)) {
            // The left or right one of each pair; the first source's is the left of the result.
            (false, 2, right_left @ (0 | 2), 2) => {
                let odd = u32::from(right_left == 2);
                (gather(bytes, |at| element(if at & 1 == 0 { b } else { a }, at & !1 | odd, bytes)), nats)
            }
            // The high or low half, each element of the first source left of one of the second.
            (false, 2, high_low @ (0 | 2), 1) => {
                let from = if high_low == 0 { half } else { 0 };
                (gather(bytes, |at| element(if at & 1 == 0 { b } else { a }, from + at / 2, bytes)), nats)
            }
            (false, 3, 2, 2) if bytes == 1 => (permuted(a, w.bits(20, 4)).ok_or(Fault::IllegalOperation)?, a_nat),
            (false, 3, 2, 2) if bytes == 2 => (gather(2, |at| element(a, w.bits(20 + 2 * at, 2) as u32, 2)), a_nat),
            _ => return Err(Fault::Unimplemented),
        };
        self.put(w.r1(), result)
    }

    /// Major 8 of A: the parallel ALU.
    pub(crate) fn parallel_alu(&mut self, w: Word) -> Result<(), Fault> {
        let bytes = Self::parts(w).ok_or(Fault::IllegalOperation)?;
        let (a, a_nat) = self.gr(w.r2());
        let (b, b_nat) = self.gr(w.r3());
        let each = |f: fn(u64, u64, u32) -> u64| gather(bytes, |at| f(element(a, at, bytes), element(b, at, bytes), bytes));
        let result = match (w.bits(29, 4), w.bits(27, 2)) {
            (0, 0) => each(|a, b, _| a.wrapping_add(b)),
            (1, 0) => each(|a, b, _| a.wrapping_sub(b)),
            (9, 0) => each(|a, b, _| if a == b { u64::MAX } else { 0 }),
            (9, 1) => each(|a, b, bytes| {
                let signed = |value| sign_extend(value, 8 * bytes) as i64;
                if signed(a) > signed(b) { u64::MAX } else { 0 }
            }),
            _ => return Err(Fault::Unimplemented),
        };
        self.put(w.r1(), (result, a_nat || b_nat))
    }
}
