//! Vector-scalar instructions. Registers are numbers from 0 to 63.

use super::{Assembler, Gpr};

macro_rules! indexed {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": XT, RA, RB.")]
                pub fn $name(&mut self, xt: u32, ra: Gpr, rb: Gpr) {
                    self.word(31 << 26 | (xt & 31) << 21 | ra.bits() << 16 | rb.bits() << 11 | $code << 1 | xt >> 5 & 1);
                }
            )*
        }
    };
}

macro_rules! three {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": XT, XA, XB.")]
                pub fn $name(&mut self, xt: u32, xa: u32, xb: u32) {
                    let high = (xa >> 5 & 1) << 2 | (xb >> 5 & 1) << 1 | xt >> 5 & 1;
                    self.word(60 << 26 | (xt & 31) << 21 | (xa & 31) << 16 | (xb & 31) << 11 | $code << 3 | high);
                }
            )*
        }
    };
}

macro_rules! two {
    ($($name:ident $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": XT, XB.")]
                pub fn $name(&mut self, xt: u32, xb: u32) {
                    let high = (xb >> 5 & 1) << 1 | xt >> 5 & 1;
                    self.word(60 << 26 | (xt & 31) << 21 | (xb & 31) << 11 | $code << 2 | high);
                }
            )*
        }
    };
}

indexed! {
    lxvd2x 844 "Load two doublewords";
    stxvd2x 972 "Store two doublewords";
}

three! {
    xvadddp 96 "Add doubles";
    xvaddsp 64 "Add singles";
    xvdivdp 120 "Divide doubles";
    xvdivsp 88 "Divide singles";
    xvmaddadp 97 "XA times XB plus XT, doubles";
    xvmaddasp 65 "XA times XB plus XT, singles";
}

two! {
    xvsqrtdp 203 "Square roots of doubles";
    xvsqrtsp 139 "Square roots of singles";
}
