//! Branches and logic on condition register bits.

use super::{Assembler, CR0, Field, Gpr, Label, Use};
use crate::power::registers::spr;

/// Conditional branches on a bit of CR0.
macro_rules! conditional {
    ($($name:ident $field:ident $bo:literal $bit:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!("Branch if CR0 says ", $what, ".")]
                pub fn $name(&mut self, label: Label) {
                    self.bc($bo, $bit, label);
                }

                #[doc = concat!("Branch if a field of the condition register says ", $what, ".")]
                pub fn $field(&mut self, field: Field, label: Label) {
                    self.bc($bo, 4 * field.bits() + $bit, label);
                }
            )*
        }
    };
}

conditional! {
    blt blt_field 12 0 "less";
    bgt bgt_field 12 1 "greater";
    beq beq_field 12 2 "equal";
    bso bso_field 12 3 "summary overflow or unordered";
    bge bge_field 4 0 "not less";
    ble ble_field 4 1 "not greater";
    bne bne_field 4 2 "not equal";
    bns bns_field 4 3 "no summary overflow";
}

macro_rules! bits {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!("Condition register bits: ", $what, ": BT, BA, BB.")]
                pub fn $name(&mut self, bt: u32, ba: u32, bb: u32) {
                    let (bt, ba, bb) = (self.unsigned(bt, 5), self.unsigned(ba, 5), self.unsigned(bb, 5));
                    self.word(19 << 26 | bt << 21 | ba << 16 | bb << 11 | $code << 1);
                }
            )*
        }
    };
}

bits! {
    crand 257 "and";
    crandc 129 "and with the complement of BB";
    creqv 289 "equal";
    crnand 225 "not and";
    crnor 33 "not or";
    cror 449 "or";
    crorc 417 "or with the complement of BB";
    crxor 193 "not equal";
}

impl Assembler {
    /// Branch.
    pub fn b(&mut self, label: Label) {
        self.labelled(18 << 26, label, Use::Far);
    }

    /// Branch, and LR has the address of the next instruction.
    pub fn bl(&mut self, label: Label) {
        self.labelled(18 << 26 | 1, label, Use::Far);
    }

    /// Branch to a fixed address, a multiple of 4 in the lowest or highest 32 MiB.
    pub fn ba(&mut self, address: i64) {
        let address = self.signed(address, 26, 2);
        self.word(18 << 26 | address | 2);
    }

    /// Branch conditional: BO, BI.
    pub fn bc(&mut self, bo: u32, bi: u32, label: Label) {
        let (bo, bi) = (self.unsigned(bo, 5), self.unsigned(bi, 5));
        self.labelled(16 << 26 | bo << 21 | bi << 16, label, Use::Near);
    }

    /// Branch conditional, and LR has the address of the next instruction: BO, BI.
    pub fn bcl(&mut self, bo: u32, bi: u32, label: Label) {
        let (bo, bi) = (self.unsigned(bo, 5), self.unsigned(bi, 5));
        self.labelled(16 << 26 | bo << 21 | bi << 16 | 1, label, Use::Near);
    }

    /// Count CTR down, and branch while it is not 0.
    pub fn bdnz(&mut self, label: Label) {
        self.bc(16, 0, label);
    }

    /// Count CTR down, and branch when it is 0.
    pub fn bdz(&mut self, label: Label) {
        self.bc(18, 0, label);
    }

    fn through(&mut self, code: u32, bo: u32, bi: u32, bh: u32, link: bool) {
        let (bo, bi, bh) = (self.unsigned(bo, 5), self.unsigned(bi, 5), self.unsigned(bh, 2));
        self.word(19 << 26 | bo << 21 | bi << 16 | bh << 11 | code << 1 | u32::from(link));
    }

    /// Branch conditional to LR: BO, BI, BH, LK.
    pub fn bclr(&mut self, bo: u32, bi: u32, bh: u32, link: bool) {
        self.through(16, bo, bi, bh, link);
    }

    /// Branch conditional to CTR: BO, BI, BH, LK.
    pub fn bcctr(&mut self, bo: u32, bi: u32, bh: u32, link: bool) {
        self.through(528, bo, bi, bh, link);
    }

    /// Branch conditional to TAR: BO, BI, BH, LK.
    pub fn bctar(&mut self, bo: u32, bi: u32, bh: u32, link: bool) {
        self.through(560, bo, bi, bh, link);
    }

    /// Return: branch to LR.
    pub fn blr(&mut self) {
        self.bclr(20, 0, 0, false);
    }

    /// Branch to CTR.
    pub fn bctr(&mut self) {
        self.bcctr(20, 0, 0, false);
    }

    /// Branch to CTR, and LR has the address of the next instruction.
    pub fn bctrl(&mut self) {
        self.bcctr(20, 0, 0, true);
    }

    /// Calls `label` through CTR. Changes GPR 12.
    pub fn call_through_ctr(&mut self, label: Label) {
        self.load_address(super::R12, label);
        self.mtctr(super::R12);
        self.bctrl();
    }

    /// Copies a field of the condition register: BF, BFA.
    pub fn mcrf(&mut self, bf: Field, bfa: Field) {
        self.word(19 << 26 | bf.bits() << 23 | bfa.bits() << 18);
    }

    /// LR: RT.
    pub fn mflr(&mut self, rt: Gpr) {
        self.mfspr(rt, spr::LR);
    }

    /// LR: RS.
    pub fn mtlr(&mut self, rs: Gpr) {
        self.mtspr(spr::LR, rs);
    }

    /// CTR: RT.
    pub fn mfctr(&mut self, rt: Gpr) {
        self.mfspr(rt, spr::CTR);
    }

    /// CTR: RS.
    pub fn mtctr(&mut self, rs: Gpr) {
        self.mtspr(spr::CTR, rs);
    }

    /// Branch to `label` if `ra` is 0. Changes CR0.
    pub fn branch_if_zero(&mut self, ra: Gpr, label: Label) {
        self.cmpdi(CR0, ra, 0);
        self.beq(label);
    }
}
