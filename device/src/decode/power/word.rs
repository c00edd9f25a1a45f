//! The fields of an instruction.

/// An instruction. Fields are named as the Power ISA, Book I, 1.6 names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u32);

impl Word {
    fn five(self, shift: u32) -> usize {
        (self.0 >> shift & 31) as usize
    }

    /// RT, RS, FRT, FRS, TO, BO: bits 6:10.
    #[must_use]
    pub fn rt(self) -> usize {
        self.five(21)
    }

    /// RA, FRA, BI: bits 11:15.
    #[must_use]
    pub fn ra(self) -> usize {
        self.five(16)
    }

    /// RB, FRB, SH, BB: bits 16:20.
    #[must_use]
    pub fn rb(self) -> usize {
        self.five(11)
    }

    /// RC, FRC, MB, BC: bits 21:25.
    #[must_use]
    pub fn rc(self) -> usize {
        self.five(6)
    }

    /// ME of the 32-bit rotates: bits 26:30.
    #[must_use]
    pub fn me(self) -> u32 {
        self.0 >> 1 & 31
    }

    /// SI or D: bits 16:31, signed.
    #[must_use]
    pub fn si(self) -> u64 {
        i64::from(self.0 as i16) as u64
    }

    /// UI: bits 16:31.
    #[must_use]
    pub fn ui(self) -> u64 {
        u64::from(self.0 as u16)
    }

    /// DS: bits 16:29, signed, times 4.
    #[must_use]
    pub fn ds(self) -> u64 {
        self.si() & !3
    }

    /// The 16-bit immediate of `addpcis`.
    #[must_use]
    pub fn dx(self) -> u64 {
        let value = self.0 & 0xFFC1 | self.0 >> 15 & 0x3E;
        i64::from(value as u16 as i16) as u64
    }

    /// LI: bits 6:29, signed, times 4.
    #[must_use]
    pub fn li(self) -> u64 {
        i64::from(((self.0 & 0x03FF_FFFC) << 6) as i32 >> 6) as u64
    }

    /// SH of the 64-bit shifts: bits 16:20 and above them bit 30.
    #[must_use]
    pub fn sh(self) -> u32 {
        self.0 >> 11 & 31 | (self.0 & 2) << 4
    }

    /// MB or ME of the 64-bit rotates: bits 21:25 and above them bit 26.
    #[must_use]
    pub fn mb(self) -> u32 {
        self.0 >> 6 & 31 | self.0 & 32
    }

    /// BF: bits 6:8.
    #[must_use]
    pub fn bf(self) -> u32 {
        self.0 >> 23 & 7
    }

    /// BFA: bits 11:13.
    #[must_use]
    pub fn bfa(self) -> u32 {
        self.0 >> 18 & 7
    }

    /// L of compares: bit 10.
    #[must_use]
    pub fn doubleword(self) -> bool {
        self.0 & 1 << 21 != 0
    }

    /// An SPR's number, or an index of the same form but with halves in order.
    #[must_use]
    pub fn spr(self) -> u16 {
        (self.0 >> 16 & 31 | self.0 >> 6 & 0x3E0) as u16
    }

    /// The 10-bit number at bits 11:20.
    #[must_use]
    pub fn ten(self) -> u16 {
        (self.0 >> 11 & 0x3FF) as u16
    }

    /// FXM: bits 12:19.
    #[must_use]
    pub fn fxm(self) -> u32 {
        self.0 >> 12 & 0xFF
    }

    /// Rc or LK: bit 31.
    #[must_use]
    pub fn record(self) -> bool {
        self.0 & 1 != 0
    }

    /// OE: bit 21.
    #[must_use]
    pub fn oe(self) -> bool {
        self.0 & 1 << 10 != 0
    }

    /// AA: bit 30.
    #[must_use]
    pub fn absolute(self) -> bool {
        self.0 & 2 != 0
    }
}
