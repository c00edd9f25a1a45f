//! Special purpose registers, the machine state, the branch history, and transactions.

use super::{Assembler, Gpr};

macro_rules! plain {
    ($($name:ident $word:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ".")]
                pub fn $name(&mut self) {
                    self.word($word);
                }
            )*
        }
    };
}

plain! {
    sc 0x4400_0002 "System call";
    hypercall 0x4400_0022 "System call to the hypervisor: `sc 1`";
    rfid 0x4C00_0024 "Return from an interrupt: SRR0 and SRR1";
    hrfid 0x4C00_0224 "Return from an interrupt: HSRR0 and HSRR1";
    attn 0x0000_0200 "Call on the support processor";
    stop 0x4C00_02E4 "Wait for an interrupt, in privileged state";
    wait 0x7C00_003C "Wait for an interrupt";
    trap 0x7FE0_0008 "Trap";
    clrbhrb 0x7C00_035C "Clear the branch history";
    slbia 0x7C00_03E4 "Forget all segments";
    tlbsync 0x7C00_046C "Wait for others to forget translations";
    tbegin_dot 0x7C00_051D "Begin a transaction";
    tend_dot 0x7C00_055D "End a transaction";
    tsuspend_dot 0x7C00_05DD "Suspend a transaction";
    tresume_dot 0x7C20_05DD "Resume a transaction";
}

impl Assembler {
    /// From a special purpose register: RT, SPR.
    pub fn mfspr(&mut self, rt: Gpr, number: u16) {
        let number = self.unsigned(number.into(), 10);
        self.word(31 << 26 | rt.bits() << 21 | (number & 31) << 16 | number >> 5 << 11 | 339 << 1);
    }

    /// To a special purpose register: SPR, RS.
    pub fn mtspr(&mut self, number: u16, rs: Gpr) {
        let number = self.unsigned(number.into(), 10);
        self.word(31 << 26 | rs.bits() << 21 | (number & 31) << 16 | number >> 5 << 11 | 467 << 1);
    }

    /// The time base: RT.
    pub fn mftb(&mut self, rt: Gpr) {
        self.mfspr(rt, 268);
    }

    /// MSR: RT.
    pub fn mfmsr(&mut self, rt: Gpr) {
        self.word(31 << 26 | rt.bits() << 21 | 83 << 1);
    }

    /// MSR except HV, ME, LE and the transaction state; with `only` EE and RI alone: RS, L.
    pub fn mtmsrd(&mut self, rs: Gpr, only: bool) {
        self.word(31 << 26 | rs.bits() << 21 | u32::from(only) << 16 | 178 << 1);
    }

    /// The low word of MSR except ME and LE; with `only` EE and RI alone: RS, L.
    pub fn mtmsr(&mut self, rs: Gpr, only: bool) {
        self.word(31 << 26 | rs.bits() << 21 | u32::from(only) << 16 | 146 << 1);
    }

    /// Return from an event-based branch, and BESCR.GE becomes `enable`.
    pub fn rfebb(&mut self, enable: bool) {
        self.word(19 << 26 | u32::from(enable) << 11 | 146 << 1);
    }

    /// An entry of the branch history, 0 to 1023: RT, BHRBE.
    pub fn mfbhrbe(&mut self, rt: Gpr, entry: u32) {
        let entry = self.unsigned(entry, 10);
        self.word(31 << 26 | rt.bits() << 21 | entry << 11 | 302 << 1);
    }

    /// An entry of the instruction matching facility, 0 to 1023: RT, entry.
    pub fn mfimc(&mut self, rt: Gpr, entry: u32) {
        let entry = self.unsigned(entry, 10);
        self.word(31 << 26 | rt.bits() << 21 | entry << 11 | 330 << 1);
    }

    /// An entry of the instruction matching facility, 0 to 1023: entry, RS.
    pub fn mtimc(&mut self, entry: u32, rs: Gpr) {
        let entry = self.unsigned(entry, 10);
        self.word(31 << 26 | rs.bits() << 21 | entry << 11 | 458 << 1);
    }

    /// Forget the translation of RB, everywhere: RB, RS.
    pub fn tlbie(&mut self, rb: Gpr, rs: Gpr) {
        self.word(31 << 26 | rs.bits() << 21 | rb.bits() << 11 | 306 << 1);
    }

    /// Forget the segment of RB: RB.
    pub fn slbie(&mut self, rb: Gpr) {
        self.word(31 << 26 | rb.bits() << 11 | 434 << 1);
    }

    /// Give a transaction up, with a reason: RA.
    pub fn tabort_dot(&mut self, ra: Gpr) {
        self.word(31 << 26 | ra.bits() << 16 | 910 << 1 | 1);
    }

    /// Priority of the thread by `or x,x,x`: 1, 6, 2, 31, 5, 3 or 7 for low, medium low, medium, very low, medium high, high, very high.
    pub fn priority(&mut self, register: Gpr) {
        self.or(register, register, register);
    }
}
