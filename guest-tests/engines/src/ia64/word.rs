//! The 41 bits of an instruction and the fields in them (SDM volume 3, 4.1).

/// An instruction of one slot, or the X half of a long one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

/// `value` of `bits` bits, with its highest one as the sign.
pub(crate) fn sign_extend(value: u64, bits: u32) -> u64 {
    ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
}

impl Word {
    /// `length` bits from bit `low` on.
    #[inline]
    pub(crate) fn bits(self, low: u32, length: u32) -> u64 {
        self.0 >> low & ((1 << length) - 1)
    }

    #[inline]
    pub(crate) fn bit(self, at: u32) -> bool {
        self.0 >> at & 1 != 0
    }

    fn seven(self, low: u32) -> usize {
        self.bits(low, 7) as usize
    }

    /// The major opcode: bits 40:37.
    pub(crate) fn major(self) -> u64 {
        self.bits(37, 4)
    }

    /// The qualifying predicate.
    pub(crate) fn qp(self) -> usize {
        self.bits(0, 6) as usize
    }

    /// The first register field, and f1: bits 12:6.
    pub(crate) fn r1(self) -> usize {
        self.seven(6)
    }

    /// The second register field, and f2: bits 19:13.
    pub(crate) fn r2(self) -> usize {
        self.seven(13)
    }

    /// The third register field, f3, ar3 and cr3: bits 26:20.
    pub(crate) fn r3(self) -> usize {
        self.seven(20)
    }

    /// f4: bits 33:27.
    pub(crate) fn f4(self) -> usize {
        self.seven(27)
    }

    /// The first predicate that is set.
    pub(crate) fn p1(self) -> usize {
        self.bits(6, 6) as usize
    }

    /// The second predicate that is set.
    pub(crate) fn p2(self) -> usize {
        self.bits(27, 6) as usize
    }

    /// b1, and btype.
    pub(crate) fn b1(self) -> usize {
        self.bits(6, 3) as usize
    }

    pub(crate) fn b2(self) -> usize {
        self.bits(13, 3) as usize
    }

    /// The three opcode extension bits 35:33.
    pub(crate) fn x3(self) -> u64 {
        self.bits(33, 3)
    }

    /// The six opcode extension bits 32:27 of I, B, F, X and of M without memory access.
    pub(crate) fn x6(self) -> u64 {
        self.bits(27, 6)
    }

    /// The six opcode extension bits 35:30 of memory accesses.
    pub(crate) fn memory_x6(self) -> u64 {
        self.bits(30, 6)
    }

    /// imm8 of the ALU and of moves to application registers.
    pub(crate) fn imm8(self) -> u64 {
        sign_extend(self.bits(36, 1) << 7 | self.bits(13, 7), 8)
    }

    /// imm14 of `adds` and `addp4`.
    pub(crate) fn imm14(self) -> u64 {
        sign_extend(self.bits(36, 1) << 13 | self.bits(27, 6) << 7 | self.bits(13, 7), 14)
    }

    /// imm22 of `addl`.
    pub(crate) fn imm22(self) -> u64 {
        sign_extend(self.bits(36, 1) << 21 | self.bits(22, 5) << 16 | self.bits(27, 9) << 7 | self.bits(13, 7), 22)
    }

    /// imm21 of `break`, `nop` and `hint`.
    pub(crate) fn imm21(self) -> u64 {
        self.bits(36, 1) << 20 | self.bits(6, 20)
    }

    /// imm24 of `sum`, `rum`, `ssm` and `rsm`.
    pub(crate) fn imm24(self) -> u64 {
        self.bits(36, 1) << 23 | self.bits(31, 2) << 21 | self.bits(6, 21)
    }

    /// imm9 that a load adds to its base.
    pub(crate) fn load_increment(self) -> u64 {
        sign_extend(self.bits(36, 1) << 8 | self.bits(27, 1) << 7 | self.bits(13, 7), 9)
    }

    /// imm9 that a store adds to its base.
    pub(crate) fn store_increment(self) -> u64 {
        sign_extend(self.bits(36, 1) << 8 | self.bits(27, 1) << 7 | self.bits(6, 7), 9)
    }

    /// inc3 of `fetchadd`.
    pub(crate) fn fetch_increment(self) -> u64 {
        let amount = match self.bits(13, 2) {
            0 => 16,
            1 => 8,
            2 => 4,
            _ => 1,
        };
        if self.bit(15) { 0u64.wrapping_sub(amount) } else { amount }
    }

    /// The mask of `mov pr=`, whose highest bit is for all rotating predicates.
    pub(crate) fn predicate_mask(self) -> u64 {
        sign_extend(self.bits(36, 1) << 16 | self.bits(24, 8) << 8 | self.bits(6, 7) << 1, 17)
    }

    /// The immediate of `mov pr.rot=`.
    pub(crate) fn rotating_predicates(self) -> u64 {
        sign_extend(self.bits(36, 1) << 27 | self.bits(6, 27), 28) << 16
    }

    /// The displacement in bytes of branches relative to IP, and of `chk.a`.
    pub(crate) fn displacement(self) -> u64 {
        sign_extend(self.bits(36, 1) << 20 | self.bits(13, 20), 21) << 4
    }

    /// The displacement in bytes of `chk.s`.
    pub(crate) fn check_displacement(self) -> u64 {
        sign_extend(self.bits(36, 1) << 20 | self.bits(20, 13) << 7 | self.bits(6, 7), 21) << 4
    }

    /// The displacement in bytes of `fchkf`.
    pub(crate) fn flag_check_displacement(self) -> u64 {
        sign_extend(self.bits(36, 1) << 20 | self.bits(6, 20), 21) << 4
    }

    /// The immediate of `movl`, with the L slot's bits.
    pub(crate) fn imm64(self, upper: u64) -> u64 {
        let low = self.bits(21, 1) << 21 | self.bits(22, 5) << 16 | self.bits(27, 9) << 7 | self.bits(13, 7);
        self.bits(36, 1) << 63 | upper << 22 | low
    }

    /// The immediate of `break.x`, `nop.x` and `hint.x`.
    pub(crate) fn imm62(self, upper: u64) -> u64 {
        upper << 21 | self.imm21()
    }

    /// The displacement in bytes of `brl`.
    pub(crate) fn long_displacement(self, upper: u64) -> u64 {
        let imm39 = upper >> 2 & 0x7F_FFFF_FFFF;
        (self.bits(36, 1) << 59 | imm39 << 20 | self.bits(13, 20)) << 4
    }
}
