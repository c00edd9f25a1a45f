//! Floating-point instructions.

use super::{Assembler, Field, Fpr};

macro_rules! two {
    ($($name:ident $primary:literal $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": FRT, FRA, FRB.")]
                pub fn $name(&mut self, frt: Fpr, fra: Fpr, frb: Fpr) {
                    self.word($primary << 26 | frt.bits() << 21 | fra.bits() << 16 | frb.bits() << 11 | $code << 1);
                }
            )*
        }
    };
}

macro_rules! three {
    ($($name:ident $primary:literal $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": FRT, FRA, FRC, FRB.")]
                pub fn $name(&mut self, frt: Fpr, fra: Fpr, frc: Fpr, frb: Fpr) {
                    self.word(
                        $primary << 26 | frt.bits() << 21 | fra.bits() << 16 | frb.bits() << 11 | frc.bits() << 6 | $code << 1,
                    );
                }
            )*
        }
    };
}

macro_rules! one {
    ($($name:ident $primary:literal $code:literal $what:literal;)*) => {
        impl Assembler {
            $(
                #[doc = concat!($what, ": FRT, FRB.")]
                pub fn $name(&mut self, frt: Fpr, frb: Fpr) {
                    self.word($primary << 26 | frt.bits() << 21 | frb.bits() << 11 | $code << 1);
                }
            )*
        }
    };
}

two! {
    fadd 63 21 "Add";
    fadds 59 21 "Add singles";
    fsub 63 20 "Subtract FRB from FRA";
    fsubs 59 20 "Subtract single FRB from FRA";
    fdiv 63 18 "Divide FRA by FRB";
    fdivs 59 18 "Divide single FRA by FRB";
}

three! {
    fmadd 63 29 "FRA times FRC plus FRB";
    fmadds 59 29 "FRA times FRC plus FRB, singles";
    fmsub 63 28 "FRA times FRC minus FRB";
    fnmadd 63 31 "Minus: FRA times FRC plus FRB";
    fnmsub 63 30 "Minus: FRA times FRC minus FRB";
    fsel 63 23 "FRC if FRA is not negative, else FRB";
}

one! {
    fsqrt 63 22 "Square root";
    fsqrts 59 22 "Square root of a single";
    fmr 63 72 "A copy";
    fneg 63 40 "Negate";
    fabs 63 264 "The magnitude";
    fnabs 63 136 "Minus the magnitude";
    frsp 63 12 "Round to a single";
    fcfid 63 846 "From a signed integer";
    fctid 63 814 "To a signed integer";
    fctidz 63 815 "To a signed integer, towards zero";
    fctiwz 63 15 "To a signed word, towards zero";
}

impl Assembler {
    /// FRA times FRC: FRT, FRA, FRC.
    pub fn fmul(&mut self, frt: Fpr, fra: Fpr, frc: Fpr) {
        self.word(63 << 26 | frt.bits() << 21 | fra.bits() << 16 | frc.bits() << 6 | 25 << 1);
    }

    /// FRA times FRC, singles: FRT, FRA, FRC.
    pub fn fmuls(&mut self, frt: Fpr, fra: Fpr, frc: Fpr) {
        self.word(59 << 26 | frt.bits() << 21 | fra.bits() << 16 | frc.bits() << 6 | 25 << 1);
    }

    /// Compare: BF, FRA, FRB.
    pub fn fcmpu(&mut self, bf: Field, fra: Fpr, frb: Fpr) {
        self.word(63 << 26 | bf.bits() << 23 | fra.bits() << 16 | frb.bits() << 11);
    }

    /// FPSCR: FRT.
    pub fn mffs(&mut self, frt: Fpr) {
        self.word(63 << 26 | frt.bits() << 21 | 583 << 1);
    }

    /// The fields of FPSCR that FLM names: FLM, FRB.
    pub fn mtfsf(&mut self, flm: u32, frb: Fpr) {
        let flm = self.unsigned(flm, 8);
        self.word(63 << 26 | flm << 17 | frb.bits() << 11 | 711 << 1);
    }
}
