//! Fixed-point instructions.

use super::{Assembler, Field, Gpr, Label, Use};

/// Three registers: target, then two sources, then the record form.
macro_rules! arithmetic {
    ($($name:ident $dot:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RT, RA, RB.")]
                pub fn $name(&mut self, rt: Gpr, ra: Gpr, rb: Gpr) {
                    self.word(31 << 26 | rt.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | $code << 1);
                }

                #[doc = concat!($what, ", and CR0 says how the result compares with 0: RT, RA, RB.")]
                pub fn $dot(&mut self, rt: Gpr, ra: Gpr, rb: Gpr) {
                    self.word(31 << 26 | rt.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | $code << 1 | 1);
                }
            )*
        }
    };
}

/// Two registers: target and source.
macro_rules! unary {
    ($($name:ident $dot:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RT, RA.")]
                pub fn $name(&mut self, rt: Gpr, ra: Gpr) {
                    self.word(31 << 26 | rt.bits() << 21 | ra.bits() << 16 | $code << 1);
                }

                #[doc = concat!($what, ", and CR0 says how the result compares with 0: RT, RA.")]
                pub fn $dot(&mut self, rt: Gpr, ra: Gpr) {
                    self.word(31 << 26 | rt.bits() << 21 | ra.bits() << 16 | $code << 1 | 1);
                }
            )*
        }
    };
}

/// Target RA, source RS, and RB.
macro_rules! logic {
    ($($name:ident $dot:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RA, RS, RB.")]
                pub fn $name(&mut self, ra: Gpr, rs: Gpr, rb: Gpr) {
                    self.word(31 << 26 | rs.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | $code << 1);
                }

                #[doc = concat!($what, ", and CR0 says how the result compares with 0: RA, RS, RB.")]
                pub fn $dot(&mut self, ra: Gpr, rs: Gpr, rb: Gpr) {
                    self.word(31 << 26 | rs.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | $code << 1 | 1);
                }
            )*
        }
    };
}

/// Target RA and source RS.
macro_rules! logic_unary {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RA, RS.")]
                pub fn $name(&mut self, ra: Gpr, rs: Gpr) {
                    self.word(31 << 26 | rs.bits() << 21 | ra.bits() << 16 | $code << 1);
                }
            )*
        }
    };
}

/// Target RA, source RS, and 16 bits.
macro_rules! immediate_logic {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RA, RS, UI.")]
                pub fn $name(&mut self, ra: Gpr, rs: Gpr, ui: u32) {
                    let ui = self.unsigned(ui, 16);
                    self.word($code << 26 | rs.bits() << 21 | ra.bits() << 16 | ui);
                }
            )*
        }
    };
}

/// Target RT, source RA, and 16 signed bits.
macro_rules! immediate {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RT, RA, SI.")]
                pub fn $name(&mut self, rt: Gpr, ra: Gpr, si: i64) {
                    let si = self.signed(si, 16, 0);
                    self.word($code << 26 | rt.bits() << 21 | ra.bits() << 16 | si);
                }
            )*
        }
    };
}

arithmetic! {
    add add_dot 266 "Add";
    addc addc_dot 10 "Add, with a carry out";
    adde adde_dot 138 "Add with the carry, and a carry out";
    addo addo_dot 778 "Add, and see whether it overflows";
    addco addco_dot 522 "Add, with a carry out, and see whether it overflows";
    addeo addeo_dot 650 "Add with the carry, and see whether it overflows";
    subf subf_dot 40 "Subtract RA from RB";
    subfc subfc_dot 8 "Subtract RA from RB, with a carry out";
    subfe subfe_dot 136 "Subtract RA from RB with the carry";
    subfo subfo_dot 552 "Subtract RA from RB, and see whether it overflows";
    mulld mulld_dot 233 "Multiply, the low doubleword";
    mulldo mulldo_dot 745 "Multiply, the low doubleword, and see whether it overflows";
    mullw mullw_dot 235 "Multiply words";
    mulhd mulhd_dot 73 "Multiply, the high doubleword";
    mulhdu mulhdu_dot 9 "Multiply unsigned, the high doubleword";
    mulhw mulhw_dot 75 "Multiply words, the high word";
    mulhwu mulhwu_dot 11 "Multiply unsigned words, the high word";
    divd divd_dot 489 "Divide RA by RB";
    divdo divdo_dot 1001 "Divide RA by RB, and see whether it overflows";
    divdu divdu_dot 457 "Divide unsigned RA by RB";
    divw divw_dot 491 "Divide word RA by RB";
    divwu divwu_dot 459 "Divide unsigned word RA by RB";
    divde divde_dot 425 "Divide RA and 64 zeros by RB";
    divdeu divdeu_dot 393 "Divide unsigned RA and 64 zeros by RB";
    divwe divwe_dot 427 "Divide word RA and 32 zeros by RB";
    divweu divweu_dot 395 "Divide unsigned word RA and 32 zeros by RB";
}

unary! {
    neg neg_dot 104 "Negate";
    addme addme_dot 234 "Add the carry and minus one";
    addze addze_dot 202 "Add the carry";
    subfme subfme_dot 232 "Subtract from minus one, with the carry";
    subfze subfze_dot 200 "Subtract from zero, with the carry";
}

logic! {
    and and_dot 28 "And";
    andc andc_dot 60 "And with the complement of RB";
    nand nand_dot 476 "Not and";
    or or_dot 444 "Or";
    orc orc_dot 412 "Or with the complement of RB";
    nor nor_dot 124 "Not or";
    xor xor_dot 316 "Exclusive or";
    eqv eqv_dot 284 "Not exclusive or";
    slw slw_dot 24 "Shift a word left";
    srw srw_dot 536 "Shift a word right";
    sraw sraw_dot 792 "Shift a signed word right";
    sld sld_dot 27 "Shift left";
    srd srd_dot 539 "Shift right";
    srad srad_dot 794 "Shift a signed number right";
    cmpb cmpb_dot 508 "Bytes of ones where bytes are the same";
    bpermd bpermd_dot 252 "Gather eight bits that RS names";
}

logic_unary! {
    extsb 954 "Extend a signed byte";
    extsh 922 "Extend a signed halfword";
    extsw 986 "Extend a signed word";
    cntlzw 26 "Count leading zeros of a word";
    cntlzd 58 "Count leading zeros";
    cnttzw 538 "Count trailing zeros of a word";
    cnttzd 570 "Count trailing zeros";
    popcntb 122 "Count the ones of each byte";
    popcntw 378 "Count the ones of each word";
    popcntd 506 "Count ones";
    prtyw 154 "Parity of the lowest bits of the bytes of each word";
    prtyd 186 "Parity of the lowest bits of the bytes";
}

immediate_logic! {
    ori 24 "Or";
    oris 25 "Or, shifted left by 16";
    xori 26 "Exclusive or";
    xoris 27 "Exclusive or, shifted left by 16";
    andi_dot 28 "And, and CR0 says how the result compares with 0";
    andis_dot 29 "And, shifted left by 16, and CR0 says how the result compares with 0";
}

immediate! {
    addi 14 "Add; RA of 0 is no register but the number";
    addis 15 "Add, shifted left by 16; RA of 0 is no register but the number";
    addic 12 "Add, with a carry out";
    addic_dot 13 "Add, with a carry out, and CR0 says how the result compares with 0";
    subfic 8 "Subtract from the number, with a carry out";
    mulli 7 "Multiply";
}

impl Assembler {
    fn x(&mut self, rt: u32, ra: u32, rb: u32, code: u32) {
        self.word(31 << 26 | rt << 21 | ra << 16 | rb << 11 | code << 1);
    }

    /// The remainder of RA divided by RB: RT, RA, RB.
    pub fn modsd(&mut self, rt: Gpr, ra: Gpr, rb: Gpr) {
        self.x(rt.bits(), ra.bits(), rb.bits(), 777);
    }

    /// The remainder of unsigned RA divided by RB: RT, RA, RB.
    pub fn modud(&mut self, rt: Gpr, ra: Gpr, rb: Gpr) {
        self.x(rt.bits(), ra.bits(), rb.bits(), 265);
    }

    /// The remainder of word RA divided by RB: RT, RA, RB.
    pub fn modsw(&mut self, rt: Gpr, ra: Gpr, rb: Gpr) {
        self.x(rt.bits(), ra.bits(), rb.bits(), 779);
    }

    /// The remainder of unsigned word RA divided by RB: RT, RA, RB.
    pub fn moduw(&mut self, rt: Gpr, ra: Gpr, rb: Gpr) {
        self.x(rt.bits(), ra.bits(), rb.bits(), 267);
    }

    /// RA times RB plus RC, the low doubleword: RT, RA, RB, RC.
    pub fn maddld(&mut self, rt: Gpr, ra: Gpr, rb: Gpr, rc: Gpr) {
        self.word(4 << 26 | rt.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | rc.bits() << 6 | 51);
    }

    /// RA if bit `bit` of the condition register is 1, else RB: RT, RA, RB, BC.
    pub fn isel(&mut self, rt: Gpr, ra: Gpr, rb: Gpr, bit: u32) {
        let bit = self.unsigned(bit, 5);
        self.word(31 << 26 | rt.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | bit << 6 | 15 << 1);
    }

    /// The address of the next instruction plus SI shifted left by 16: RT, SI.
    pub fn addpcis(&mut self, rt: Gpr, si: i64) {
        let si = self.signed(si, 16, 0);
        self.word(19 << 26 | rt.bits() << 21 | (si >> 1 & 31) << 16 | si & 0xFFC1 | 2 << 1);
    }

    /// A number: one instruction if it has 16 signed bits, at most five.
    pub fn load(&mut self, rt: Gpr, value: u64) {
        let signed = value as i64;
        if i64::from(signed as i16) == signed {
            self.word(14 << 26 | rt.bits() << 21 | value as u32 & 0xFFFF);
        } else if i64::from(signed as i32) == signed {
            self.word(15 << 26 | rt.bits() << 21 | (value >> 16) as u32 & 0xFFFF);
            if value & 0xFFFF != 0 {
                self.ori(rt, rt, value as u32 & 0xFFFF);
            }
        } else {
            self.load(rt, (signed >> 32) as u64);
            self.sldi(rt, rt, 32);
            if value >> 16 & 0xFFFF != 0 {
                self.oris(rt, rt, (value >> 16) as u32 & 0xFFFF);
            }
            if value & 0xFFFF != 0 {
                self.ori(rt, rt, value as u32 & 0xFFFF);
            }
        }
    }

    /// The address of `label`, which is below 2 GiB: two instructions.
    pub fn load_address(&mut self, rt: Gpr, label: Label) {
        self.labelled(15 << 26 | rt.bits() << 21, label, Use::High);
        self.labelled(24 << 26 | rt.bits() << 21 | rt.bits() << 16, label, Use::Low);
    }

    /// A copy: RA, RS.
    pub fn mr(&mut self, ra: Gpr, rs: Gpr) {
        self.or(ra, rs, rs);
    }

    /// The no-operation.
    pub fn nop(&mut self) {
        self.word(0x6000_0000);
    }

    /// The probe no-operation `and 0,0,0`, or with `one` `and 1,1,1`.
    pub fn probe(&mut self, one: bool) {
        self.word(if one { 0x7C21_0838 } else { 0x7C00_0038 });
    }

    /// Compare signed: BF, RA, RB.
    pub fn cmpd(&mut self, bf: Field, ra: Gpr, rb: Gpr) {
        self.x(bf.bits() << 2 | 1, ra.bits(), rb.bits(), 0);
    }

    /// Compare unsigned: BF, RA, RB.
    pub fn cmpld(&mut self, bf: Field, ra: Gpr, rb: Gpr) {
        self.x(bf.bits() << 2 | 1, ra.bits(), rb.bits(), 32);
    }

    /// Compare signed words: BF, RA, RB.
    pub fn cmpw(&mut self, bf: Field, ra: Gpr, rb: Gpr) {
        self.x(bf.bits() << 2, ra.bits(), rb.bits(), 0);
    }

    /// Compare unsigned words: BF, RA, RB.
    pub fn cmplw(&mut self, bf: Field, ra: Gpr, rb: Gpr) {
        self.x(bf.bits() << 2, ra.bits(), rb.bits(), 32);
    }

    /// Compare signed with a number: BF, RA, SI.
    pub fn cmpdi(&mut self, bf: Field, ra: Gpr, si: i64) {
        let si = self.signed(si, 16, 0);
        self.word(11 << 26 | bf.bits() << 23 | 1 << 21 | ra.bits() << 16 | si);
    }

    /// Compare unsigned with a number: BF, RA, UI.
    pub fn cmpldi(&mut self, bf: Field, ra: Gpr, ui: u32) {
        let ui = self.unsigned(ui, 16);
        self.word(10 << 26 | bf.bits() << 23 | 1 << 21 | ra.bits() << 16 | ui);
    }

    /// Compare signed words with a number: BF, RA, SI.
    pub fn cmpwi(&mut self, bf: Field, ra: Gpr, si: i64) {
        let si = self.signed(si, 16, 0);
        self.word(11 << 26 | bf.bits() << 23 | ra.bits() << 16 | si);
    }

    /// Compare unsigned words with a number: BF, RA, UI.
    pub fn cmplwi(&mut self, bf: Field, ra: Gpr, ui: u32) {
        let ui = self.unsigned(ui, 16);
        self.word(10 << 26 | bf.bits() << 23 | ra.bits() << 16 | ui);
    }

    fn word_rotate(&mut self, code: u32, ra: Gpr, rs: Gpr, sh: u32, mb: u32, me: u32) {
        let (sh, mb, me) = (self.unsigned(sh, 5), self.unsigned(mb, 5), self.unsigned(me, 5));
        self.word(code << 26 | rs.bits() << 21 | ra.bits() << 16 | sh << 11 | mb << 6 | me << 1);
    }

    /// A word rotated left, and with a mask: RA, RS, SH, MB, ME.
    pub fn rlwinm(&mut self, ra: Gpr, rs: Gpr, sh: u32, mb: u32, me: u32) {
        self.word_rotate(21, ra, rs, sh, mb, me);
    }

    /// A word rotated left, put into RA under a mask: RA, RS, SH, MB, ME.
    pub fn rlwimi(&mut self, ra: Gpr, rs: Gpr, sh: u32, mb: u32, me: u32) {
        self.word_rotate(20, ra, rs, sh, mb, me);
    }

    /// A word rotated left by RB, and with a mask: RA, RS, RB, MB, ME.
    pub fn rlwnm(&mut self, ra: Gpr, rs: Gpr, rb: Gpr, mb: u32, me: u32) {
        self.word_rotate(23, ra, rs, rb.bits(), mb, me);
    }

    fn doubleword_rotate(&mut self, code: u32, ra: Gpr, rs: Gpr, sh: u32, mb: u32) {
        let (sh, mb) = (self.unsigned(sh, 6), self.unsigned(mb, 6));
        let mb = mb & 31 | mb & 32;
        self.word(30 << 26 | rs.bits() << 21 | ra.bits() << 16 | (sh & 31) << 11 | (mb & 31) << 6 | mb & 32 | code << 2 | sh >> 5 << 1);
    }

    /// Rotated left, bits from MB on: RA, RS, SH, MB.
    pub fn rldicl(&mut self, ra: Gpr, rs: Gpr, sh: u32, mb: u32) {
        self.doubleword_rotate(0, ra, rs, sh, mb);
    }

    /// Rotated left, bits up to ME: RA, RS, SH, ME.
    pub fn rldicr(&mut self, ra: Gpr, rs: Gpr, sh: u32, me: u32) {
        self.doubleword_rotate(1, ra, rs, sh, me);
    }

    /// Rotated left, bits from MB to 63-SH: RA, RS, SH, MB.
    pub fn rldic(&mut self, ra: Gpr, rs: Gpr, sh: u32, mb: u32) {
        self.doubleword_rotate(2, ra, rs, sh, mb);
    }

    /// Rotated left, put into bits MB to 63-SH of RA: RA, RS, SH, MB.
    pub fn rldimi(&mut self, ra: Gpr, rs: Gpr, sh: u32, mb: u32) {
        self.doubleword_rotate(3, ra, rs, sh, mb);
    }

    /// Rotated left by RB, bits from MB on: RA, RS, RB, MB.
    pub fn rldcl(&mut self, ra: Gpr, rs: Gpr, rb: Gpr, mb: u32) {
        let mb = self.unsigned(mb, 6);
        self.word(30 << 26 | rs.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | (mb & 31) << 6 | mb & 32 | 8 << 1);
    }

    /// Rotated left by RB, bits up to ME: RA, RS, RB, ME.
    pub fn rldcr(&mut self, ra: Gpr, rs: Gpr, rb: Gpr, me: u32) {
        let me = self.unsigned(me, 6);
        self.word(30 << 26 | rs.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | (me & 31) << 6 | me & 32 | 9 << 1);
    }

    /// Shift left by a number, 0 to 63: RA, RS, SH.
    pub fn sldi(&mut self, ra: Gpr, rs: Gpr, sh: u32) {
        self.rldicr(ra, rs, sh, 63 - (sh & 63));
    }

    /// Shift right by a number, 1 to 63: RA, RS, SH.
    pub fn srdi(&mut self, ra: Gpr, rs: Gpr, sh: u32) {
        self.rldicl(ra, rs, 64 - (sh & 63), sh);
    }

    /// Clear the upper bits: RA, RS, how many.
    pub fn clrldi(&mut self, ra: Gpr, rs: Gpr, bits: u32) {
        self.rldicl(ra, rs, 0, bits);
    }

    /// Shift a signed number right: RA, RS, SH.
    pub fn sradi(&mut self, ra: Gpr, rs: Gpr, sh: u32) {
        let sh = self.unsigned(sh, 6);
        self.word(31 << 26 | rs.bits() << 21 | ra.bits() << 16 | (sh & 31) << 11 | 413 << 2 | sh >> 5 << 1);
    }

    /// Shift a signed word right: RA, RS, SH.
    pub fn srawi(&mut self, ra: Gpr, rs: Gpr, sh: u32) {
        let sh = self.unsigned(sh, 5);
        self.x(rs.bits(), ra.bits(), sh, 824);
    }

    /// Extend a signed word and shift left: RA, RS, SH.
    pub fn extswsli(&mut self, ra: Gpr, rs: Gpr, sh: u32) {
        let sh = self.unsigned(sh, 6);
        self.word(31 << 26 | rs.bits() << 21 | ra.bits() << 16 | (sh & 31) << 11 | 445 << 2 | sh >> 5 << 1);
    }

    /// Trap if RA and RB compare as TO says: TO, RA, RB.
    pub fn td(&mut self, to: u32, ra: Gpr, rb: Gpr) {
        let to = self.unsigned(to, 5);
        self.x(to, ra.bits(), rb.bits(), 68);
    }

    /// Trap if words RA and RB compare as TO says: TO, RA, RB.
    pub fn tw(&mut self, to: u32, ra: Gpr, rb: Gpr) {
        let to = self.unsigned(to, 5);
        self.x(to, ra.bits(), rb.bits(), 4);
    }

    /// Trap if RA and a number compare as TO says: TO, RA, SI.
    pub fn tdi(&mut self, to: u32, ra: Gpr, si: i64) {
        let (to, si) = (self.unsigned(to, 5), self.signed(si, 16, 0));
        self.word(2 << 26 | to << 21 | ra.bits() << 16 | si);
    }

    /// Trap if word RA and a number compare as TO says: TO, RA, SI.
    pub fn twi(&mut self, to: u32, ra: Gpr, si: i64) {
        let (to, si) = (self.unsigned(to, 5), self.signed(si, 16, 0));
        self.word(3 << 26 | to << 21 | ra.bits() << 16 | si);
    }

    /// The whole condition register: RT.
    pub fn mfcr(&mut self, rt: Gpr) {
        self.x(rt.bits(), 0, 0, 19);
    }

    /// One field of the condition register, in its place: RT, field.
    pub fn mfocrf(&mut self, rt: Gpr, field: Field) {
        self.word(31 << 26 | rt.bits() << 21 | 1 << 20 | 0x80 >> field.bits() << 12 | 19 << 1);
    }

    /// The fields of the condition register that FXM names, the highest bit for CR0: FXM, RS.
    pub fn mtcrf(&mut self, fxm: u32, rs: Gpr) {
        let fxm = self.unsigned(fxm, 8);
        self.word(31 << 26 | rs.bits() << 21 | fxm << 12 | 144 << 1);
    }

    /// One field of the condition register: field, RS.
    pub fn mtocrf(&mut self, field: Field, rs: Gpr) {
        self.word(31 << 26 | rs.bits() << 21 | 1 << 20 | 0x80 >> field.bits() << 12 | 144 << 1);
    }

    /// -1, 1 or 0 as a field has its first bit, its second, or none: RT, BFA.
    pub fn setb(&mut self, rt: Gpr, field: Field) {
        self.word(31 << 26 | rt.bits() << 21 | field.bits() << 18 | 128 << 1);
    }

    /// OV, OV32, CA and CA32 to a field of the condition register: BF.
    pub fn mcrxrx(&mut self, field: Field) {
        self.word(31 << 26 | field.bits() << 23 | 576 << 1);
    }
}
