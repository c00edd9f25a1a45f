//! Checks of speculation, the register stack, barriers, the processor's state, what every unit has: formats I18 to I20, M18 to M48.

use super::op::Label;
use super::op::{Common, Op, Unit, Use, parts};
use super::{Cr, Fr, Gr};

macro_rules! every_unit {
    ($($name:ident $common:ident $what:literal;)*) => {
        $(
            #[doc = concat!($what, ", in any slot, with 21 bits of one's own: number.")]
            pub fn $name(imm21: u64) -> Op {
                Op::new(Unit::Any(Common::$common), 0, 0).unsigned(imm21, parts::LOW)
            }
        )*
    };
}

every_unit! {
    nop Nop "The no-operation";
    hint Hint "A hint, 0 for `@pause`";
    break_ Break "A break";
}

macro_rules! bare {
    ($($name:ident $x2:literal $x4:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ". Format M24.")]
            pub fn $name() -> Op {
                Op::new(Unit::M, 0, $x2 << 31 | $x4 << 27)
            }
        )*
    };
}

bare! {
    invala 1 0 "Forget all advanced loads";
    fwb 2 0 "Flush what waits to be written";
    mf 2 2 "Memory fence";
    mf_a 2 3 "Memory fence, and the platform accepts what is before";
    srlz_d 3 0 "Data serialization";
    srlz_i 3 1 "Instruction serialization";
    sync_i 3 3 "Wait for all `fc`";
}

/// Write the stacked registers that are not in this frame to memory; the first of its group. Format M25.
pub fn flushrs() -> Op {
    Op::new(Unit::M, 0, 0xC << 27).always()
}

/// Read stacked registers back from memory, as RSC says; the first of its group. Format M25.
pub fn loadrs() -> Op {
    Op::new(Unit::M, 0, 0xA << 27).always()
}

/// Forget the advanced load to a register: r1. Format M26.
pub fn invala_e(r1: Gr) -> Op {
    Op::new(Unit::M, 0, 1 << 31 | 2 << 27).r1(r1)
}

/// Forget the advanced load to a floating-point register: f1. Format M27.
pub fn invala_e_f(f1: Fr) -> Op {
    Op::new(Unit::M, 0, 1 << 31 | 3 << 27).field(f1.bits(), 6, 7)
}

/// Branch if a register is NaT, in an M slot: r2, label. Format M20.
pub fn chk_s_m(r2: Gr, target: Label) -> Op {
    Op::new(Unit::M, 1, 1 << 33).r2(r2).label(target, Use::Distance(parts::CHECK))
}

/// Branch if a register is NaT, in an I slot: r2, label. Format I20.
pub fn chk_s_i(r2: Gr, target: Label) -> Op {
    Op::new(Unit::I, 0, 1 << 33).r2(r2).label(target, Use::Distance(parts::CHECK))
}

/// Branch if a floating-point register is NaTVal: f2, label. Format M21.
pub fn chk_s_f(f2: Fr, target: Label) -> Op {
    Op::new(Unit::M, 1, 3 << 33).field(f2.bits(), 13, 7).label(target, Use::Distance(parts::CHECK))
}

macro_rules! advanced {
    ($($name:ident $floating:ident $x3:literal $what:literal;)*) => {
        $(
            #[doc = concat!("Branch unless the advanced load to a register holds", $what, ": r1, label. Format M22.")]
            pub fn $name(r1: Gr, target: Label) -> Op {
                Op::new(Unit::M, 0, $x3 << 33).r1(r1).label(target, Use::Distance(parts::BRANCH))
            }

            #[doc = concat!("Branch unless the advanced load to a floating-point register holds", $what, ": f1, label. Format M23.")]
            pub fn $floating(f1: Fr, target: Label) -> Op {
                Op::new(Unit::M, 0, ($x3 + 2) << 33).field(f1.bits(), 6, 7).label(target, Use::Distance(parts::BRANCH))
            }
        )*
    };
}

advanced! {
    chk_a_nc chk_a_nc_f 4 "";
    chk_a_clr chk_a_clr_f 5 ", and forget it";
}

/// A frame of the register stack: r1, which becomes the previous function state, inputs, locals, outputs, and how many of the first two
/// rotate, a multiple of 8. The first of its group. Format M34.
pub fn alloc(r1: Gr, inputs: u64, locals: u64, outputs: u64, rotating: u64) -> Op {
    let (local, all) = (inputs + locals, inputs + locals + outputs);
    let op = Op::new(Unit::M, 1, 6 << 33).r1(r1).always().field(local, 20, 7);
    let op = op.coded(all as i64, (all <= 96).then_some(all), 13, 7);
    op.coded(rotating as i64, (rotating.is_multiple_of(8) && rotating <= all).then_some(rotating / 8), 27, 4)
}

macro_rules! from_floating {
    ($($get:ident $set:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, " of a floating-point register: r1, f2. Format M19.")]
            pub fn $get(r1: Gr, f2: Fr) -> Op {
                Op::new(Unit::M, 4, $x6 << 30 | 1 << 27).r1(r1).field(f2.bits(), 13, 7)
            }

            #[doc = concat!($what, " of a floating-point register: f1, r2. Format M18.")]
            pub fn $set(f1: Fr, r2: Gr) -> Op {
                Op::new(Unit::M, 6, $x6 << 30 | 1 << 27).field(f1.bits(), 6, 7).r2(r2)
            }
        )*
    };
}

from_floating! {
    getf_sig setf_sig 0x1C "The significand";
    getf_exp setf_exp 0x1D "The sign and exponent";
    getf_s setf_s 0x1E "As a single the value";
    getf_d setf_d 0x1F "As a double the value";
}

macro_rules! masks {
    ($($name:ident $x4:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": number of 24 bits. Format M44.")]
            pub fn $name(imm24: u64) -> Op {
                Op::new(Unit::M, 0, $x4 << 27).unsigned(imm24, &[(6, 21), (31, 2), (36, 1)])
            }
        )*
    };
}

masks! {
    sum 4 "Set bits of the user mask";
    rum 5 "Clear bits of the user mask";
    ssm 6 "Set bits of the system mask";
    rsm 7 "Clear bits of the system mask";
}

fn system(x6: u64) -> Op {
    Op::new(Unit::M, 1, x6 << 27)
}

macro_rules! state {
    (to { $($to:ident $x6:literal $what:literal;)* } from { $($from:ident $y6:literal $that:literal;)* }) => {
        $(
            #[doc = concat!($what, ": r2. Format M35.")]
            pub fn $to(r2: Gr) -> Op {
                system($x6).r2(r2)
            }
        )*
        $(
            #[doc = concat!($that, ": r1. Format M36.")]
            pub fn $from(r1: Gr) -> Op {
                system($y6).r1(r1)
            }
        )*
    };
}

state! {
    to {
        mov_to_psr_l 0x2D "To the low half of PSR";
        mov_to_psr_um 0x29 "To the user mask";
    }
    from {
        mov_from_psr 0x25 "PSR";
        mov_from_psr_um 0x21 "The user mask";
    }
}

/// To a control register: cr3, r2. Format M32.
pub fn mov_to_cr(cr3: Cr, r2: Gr) -> Op {
    system(0x2C).field(cr3.bits(), 20, 7).r2(r2)
}

/// From a control register: r1, cr3. Format M33.
pub fn mov_from_cr(r1: Gr, cr3: Cr) -> Op {
    system(0x24).r1(r1).field(cr3.bits(), 20, 7)
}

macro_rules! indexed {
    (to { $($to:ident $x6:literal $what:literal;)* } from { $($from:ident $y6:literal $that:literal;)* }) => {
        $(
            #[doc = concat!("To the ", $what, " that r3 names: r3, r2. Format M42.")]
            pub fn $to(r3: Gr, r2: Gr) -> Op {
                system($x6).r3(r3).r2(r2)
            }
        )*
        $(
            #[doc = concat!("From the ", $that, " that r3 names: r1, r3. Format M43.")]
            pub fn $from(r1: Gr, r3: Gr) -> Op {
                system($y6).r1(r1).r3(r3)
            }
        )*
    };
}

indexed! {
    to {
        mov_to_rr 0x00 "region register";
        mov_to_dbr 0x01 "data breakpoint register";
        mov_to_ibr 0x02 "instruction breakpoint register";
        mov_to_pkr 0x03 "protection key register";
        mov_to_pmc 0x04 "performance monitor configuration register";
        mov_to_pmd 0x05 "performance monitor data register";
        itr_d 0x0E "data translation register";
        itr_i 0x0F "instruction translation register";
    }
    from {
        mov_from_rr 0x10 "region register";
        mov_from_dbr 0x11 "data breakpoint register";
        mov_from_ibr 0x12 "instruction breakpoint register";
        mov_from_pkr 0x13 "protection key register";
        mov_from_pmc 0x14 "performance monitor configuration register";
        mov_from_pmd 0x15 "performance monitor data register";
        mov_from_cpuid 0x17 "processor identification register";
    }
}

macro_rules! addressed {
    (
        two { $($two:ident $x6:literal $what:literal;)* } to { $($to:ident $z6:literal $those:literal;)* }
        one { $($one:ident $y6:expr, $that:literal;)* }
    ) => {
        $(
            #[doc = concat!($what, ": r3, r2. Format M45.")]
            pub fn $two(r3: Gr, r2: Gr) -> Op {
                system($x6).r3(r3).r2(r2)
            }
        )*
        $(
            #[doc = concat!($those, ": r1, r3. Format M46.")]
            pub fn $to(r1: Gr, r3: Gr) -> Op {
                system($z6).r1(r1).r3(r3)
            }
        )*
        $(
            #[doc = concat!($that, ": r3. Formats M28 and M47.")]
            pub fn $one(r3: Gr) -> Op {
                Op::new(Unit::M, 1, $y6).r3(r3)
            }
        )*
    };
}

addressed! {
    two {
        ptc_l 0x09 "Forget translations of this processor: address, size";
        ptr_d 0x0C "Forget data translation registers: address, size";
        ptr_i 0x0D "Forget instruction translation registers: address, size";
    }
    to {
        thash 0x1A "Where the page table has an address";
        ttag 0x1B "The tag that an address has in the page table";
        tpa 0x1E "The physical address";
        tak 0x1F "The protection key of an address";
    }
    one {
        fc 0x30 << 27, "Flush a line: address";
        fc_i 1 << 36 | 0x30 << 27, "Make a line that was written be what is executed: address";
        ptc_e 0x34 << 27, "Forget entries of the translation cache: address";
    }
}

/// Insert a data translation; the last of its group: r2. Format M41.
pub fn itc_d(r2: Gr) -> Op {
    system(0x2E).r2(r2).last()
}

/// Insert an instruction translation; the last of its group: r2. Format M41.
pub fn itc_i(r2: Gr) -> Op {
    system(0x2F).r2(r2).last()
}

/// Whether an address may be read at a privilege level: r1, address, level. Format M39.
pub fn probe_r(r1: Gr, r3: Gr, level: u64) -> Op {
    system(0x18).r1(r1).r3(r3).field(level, 13, 2)
}

/// Whether an address may be written at a privilege level: r1, address, level. Format M39.
pub fn probe_w(r1: Gr, r3: Gr, level: u64) -> Op {
    system(0x19).r1(r1).r3(r3).field(level, 13, 2)
}

/// Whether an address may be read at the privilege level in r2: r1, address, r2. Format M38.
pub fn probe_r_reg(r1: Gr, r3: Gr, r2: Gr) -> Op {
    system(0x38).r1(r1).r3(r3).r2(r2)
}

/// Whether an address may be written at the privilege level in r2: r1, address, r2. Format M38.
pub fn probe_w_reg(r1: Gr, r3: Gr, r2: Gr) -> Op {
    system(0x39).r1(r1).r3(r3).r2(r2)
}

/// Fault unless an address may be read at a privilege level: address, level. Format M40.
pub fn probe_r_fault(r3: Gr, level: u64) -> Op {
    system(0x32).r3(r3).field(level, 13, 2)
}

/// Fault unless an address may be written at a privilege level: address, level. Format M40.
pub fn probe_w_fault(r3: Gr, level: u64) -> Op {
    system(0x33).r3(r3).field(level, 13, 2)
}

/// Forget translations everywhere; the last of its group: address, r2 with the size. Format M45.
pub fn ptc_g(r3: Gr, r2: Gr) -> Op {
    system(0x0A).r3(r3).r2(r2).last()
}

/// Forget translations and advanced loads everywhere; the last of its group: address, r2 with the size. Format M45.
pub fn ptc_ga(r3: Gr, r2: Gr) -> Op {
    system(0x0B).r3(r3).r2(r2).last()
}
