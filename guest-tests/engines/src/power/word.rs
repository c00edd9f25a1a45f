//! The fields of an instruction.

/// An instruction. Fields are named as the Power ISA, Book I, 1.6 names them.
#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) u32);

impl Word {
    fn five(self, shift: u32) -> usize {
        (self.0 >> shift & 31) as usize
    }

    /// RT, RS, FRT, FRS, TO, BO: bits 6:10.
    pub(crate) fn rt(self) -> usize {
        self.five(21)
    }

    /// RA, FRA, BI: bits 11:15.
    pub(crate) fn ra(self) -> usize {
        self.five(16)
    }

    /// RB, FRB, SH, BB: bits 16:20.
    pub(crate) fn rb(self) -> usize {
        self.five(11)
    }

    /// RC, FRC, MB, BC: bits 21:25.
    pub(crate) fn rc(self) -> usize {
        self.five(6)
    }

    /// ME of the 32-bit rotates: bits 26:30.
    pub(crate) fn me(self) -> u32 {
        self.0 >> 1 & 31
    }

    /// SI or D: bits 16:31, signed.
    pub(crate) fn si(self) -> u64 {
        i64::from(self.0 as i16) as u64
    }

    /// UI: bits 16:31.
    pub(crate) fn ui(self) -> u64 {
        u64::from(self.0 as u16)
    }

    /// DS: bits 16:29, signed, times 4.
    pub(crate) fn ds(self) -> u64 {
        self.si() & !3
    }

    /// The 16-bit immediate of `addpcis`.
    pub(crate) fn dx(self) -> u64 {
        let value = self.0 & 0xFFC1 | self.0 >> 15 & 0x3E;
        i64::from(value as u16 as i16) as u64
    }

    /// LI: bits 6:29, signed, times 4.
    pub(crate) fn li(self) -> u64 {
        i64::from(((self.0 & 0x03FF_FFFC) << 6) as i32 >> 6) as u64
    }

    /// SH of the 64-bit shifts: bits 16:20 and above them bit 30.
    pub(crate) fn sh(self) -> u32 {
        self.0 >> 11 & 31 | (self.0 & 2) << 4
    }

    /// MB or ME of the 64-bit rotates: bits 21:25 and above them bit 26.
    pub(crate) fn mb(self) -> u32 {
        self.0 >> 6 & 31 | self.0 & 32
    }

    /// BF: bits 6:8.
    pub(crate) fn bf(self) -> u32 {
        self.0 >> 23 & 7
    }

    /// BFA: bits 11:13.
    pub(crate) fn bfa(self) -> u32 {
        self.0 >> 18 & 7
    }

    /// L of compares: bit 10.
    pub(crate) fn doubleword(self) -> bool {
        self.0 & 1 << 21 != 0
    }

    /// An SPR's number, or an index of the same form but with halves in order.
    pub(crate) fn spr(self) -> u16 {
        (self.0 >> 16 & 31 | self.0 >> 6 & 0x3E0) as u16
    }

    /// The 10-bit number at bits 11:20.
    pub(crate) fn ten(self) -> u16 {
        (self.0 >> 11 & 0x3FF) as u16
    }

    /// FXM: bits 12:19.
    pub(crate) fn fxm(self) -> u32 {
        self.0 >> 12 & 0xFF
    }

    /// Rc or LK: bit 31.
    pub(crate) fn record(self) -> bool {
        self.0 & 1 != 0
    }

    /// OE: bit 21.
    pub(crate) fn oe(self) -> bool {
        self.0 & 1 << 10 != 0
    }

    /// AA: bit 30.
    pub(crate) fn absolute(self) -> bool {
        self.0 & 2 != 0
    }
}
