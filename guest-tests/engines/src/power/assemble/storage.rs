//! Loads, stores, cache blocks and barriers.

use super::{Assembler, Fpr, Gpr};

macro_rules! displaced {
    ($kind:ident $($name:ident $code:literal $zeros:literal $low:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RT, D, RA. RA of 0 is no register but the number 0.")]
                pub fn $name(&mut self, rt: $kind, d: i64, ra: Gpr) {
                    let d = self.signed(d, 16, $zeros);
                    self.word($code << 26 | rt.bits() << 21 | ra.bits() << 16 | d | $low);
                }
            )*
        }
    };
}

macro_rules! indexed {
    ($kind:ident $($name:ident $code:literal $dot:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RT, RA, RB. RA of 0 is no register but the number 0.")]
                pub fn $name(&mut self, rt: $kind, ra: Gpr, rb: Gpr) {
                    self.word(31 << 26 | rt.bits() << 21 | ra.bits() << 16 | rb.bits() << 11 | $code << 1 | $dot);
                }
            )*
        }
    };
}

macro_rules! blocks {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": RA, RB. RA of 0 is no register but the number 0.")]
                pub fn $name(&mut self, ra: Gpr, rb: Gpr) {
                    self.word(31 << 26 | ra.bits() << 16 | rb.bits() << 11 | $code << 1);
                }
            )*
        }
    };
}

displaced! { Gpr
    lbz 34 0 0 "Load a byte";
    lbzu 35 0 0 "Load a byte, and RA becomes the address";
    lhz 40 0 0 "Load a halfword";
    lhzu 41 0 0 "Load a halfword, and RA becomes the address";
    lha 42 0 0 "Load a signed halfword";
    lhau 43 0 0 "Load a signed halfword, and RA becomes the address";
    lwz 32 0 0 "Load a word";
    lwzu 33 0 0 "Load a word, and RA becomes the address";
    lwa 58 2 2 "Load a signed word";
    ld 58 2 0 "Load a doubleword";
    ldu 58 2 1 "Load a doubleword, and RA becomes the address";
    stb 38 0 0 "Store a byte";
    stbu 39 0 0 "Store a byte, and RA becomes the address";
    sth 44 0 0 "Store a halfword";
    sthu 45 0 0 "Store a halfword, and RA becomes the address";
    stw 36 0 0 "Store a word";
    stwu 37 0 0 "Store a word, and RA becomes the address";
    std 62 2 0 "Store a doubleword";
    stdu 62 2 1 "Store a doubleword, and RA becomes the address";
}

displaced! { Fpr
    lfs 48 0 0 "Load a single";
    lfsu 49 0 0 "Load a single, and RA becomes the address";
    lfd 50 0 0 "Load a double";
    lfdu 51 0 0 "Load a double, and RA becomes the address";
    stfs 52 0 0 "Store a single";
    stfsu 53 0 0 "Store a single, and RA becomes the address";
    stfd 54 0 0 "Store a double";
    stfdu 55 0 0 "Store a double, and RA becomes the address";
}

indexed! { Gpr
    lbzx 87 0 "Load a byte";
    lbzux 119 0 "Load a byte, and RA becomes the address";
    lhzx 279 0 "Load a halfword";
    lhzux 311 0 "Load a halfword, and RA becomes the address";
    lhax 343 0 "Load a signed halfword";
    lhaux 375 0 "Load a signed halfword, and RA becomes the address";
    lwzx 23 0 "Load a word";
    lwzux 55 0 "Load a word, and RA becomes the address";
    lwax 341 0 "Load a signed word";
    lwaux 373 0 "Load a signed word, and RA becomes the address";
    ldx 21 0 "Load a doubleword";
    ldux 53 0 "Load a doubleword, and RA becomes the address";
    lhbrx 790 0 "Load a halfword in the other byte order";
    lwbrx 534 0 "Load a word in the other byte order";
    ldbrx 532 0 "Load a doubleword in the other byte order";
    stbx 215 0 "Store a byte";
    stbux 247 0 "Store a byte, and RA becomes the address";
    sthx 407 0 "Store a halfword";
    sthux 439 0 "Store a halfword, and RA becomes the address";
    stwx 151 0 "Store a word";
    stwux 183 0 "Store a word, and RA becomes the address";
    stdx 149 0 "Store a doubleword";
    stdux 181 0 "Store a doubleword, and RA becomes the address";
    sthbrx 918 0 "Store a halfword in the other byte order";
    stwbrx 662 0 "Store a word in the other byte order";
    stdbrx 660 0 "Store a doubleword in the other byte order";
    lbarx 52 0 "Load a byte and reserve";
    lharx 116 0 "Load a halfword and reserve";
    lwarx 20 0 "Load a word and reserve";
    ldarx 84 0 "Load a doubleword and reserve";
    stbcx_dot 694 1 "Store a byte if still reserved, which CR0 says";
    sthcx_dot 726 1 "Store a halfword if still reserved, which CR0 says";
    stwcx_dot 150 1 "Store a word if still reserved, which CR0 says";
    stdcx_dot 214 1 "Store a doubleword if still reserved, which CR0 says";
}

indexed! { Fpr
    lfsx 535 0 "Load a single";
    lfdx 599 0 "Load a double";
    stfsx 663 0 "Store a single";
    stfdx 727 0 "Store a double";
    stfiwx 983 0 "Store the low word of a floating-point register";
    lfiwax 855 0 "Load a signed word into a floating-point register";
    lfiwzx 887 0 "Load a word into a floating-point register";
}

blocks! {
    dcbt 278 "A cache block will be loaded";
    dcbtst 246 "A cache block will be stored to";
    dcbst 54 "Store a cache block to memory";
    dcbf 86 "Flush a cache block";
    dcbz 1014 "A cache block becomes zero";
    icbi 982 "Forget a cache block of instructions";
    icbt 22 "A cache block will be executed";
}

impl Assembler {
    fn sync_of(&mut self, l: u32) {
        self.word(31 << 26 | l << 21 | 598 << 1);
    }

    /// Waits for all storage accesses.
    pub fn sync(&mut self) {
        self.sync_of(0);
    }

    /// Orders storage accesses, except loads after stores.
    pub fn lwsync(&mut self) {
        self.sync_of(1);
    }

    /// Waits for storage accesses, page tables among them.
    pub fn ptesync(&mut self) {
        self.sync_of(2);
    }

    /// Keeps stores in order.
    pub fn eieio(&mut self) {
        self.word(31 << 26 | 854 << 1);
    }

    /// Waits for the instructions before.
    pub fn isync(&mut self) {
        self.word(19 << 26 | 150 << 1);
    }
}
