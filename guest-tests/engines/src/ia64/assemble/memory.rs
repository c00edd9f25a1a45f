//! Loads, stores, prefetches and semaphores: formats M1 to M17.

use super::op::{Allows, Increment, Op, Unit, parts};
use super::{Fr, Gr};

/// A load may have an increment and a hint.
const LOAD: Allows = Allows {
    always: false,
    number: Some(Increment::Any(parts::LOAD_INCREMENT)),
    register: true,
    locality: true,
    status_field: false,
    branch: None,
};
/// A store may have an increment by a number, and a hint.
const STORE: Allows = Allows { number: Some(Increment::Any(parts::STORE_INCREMENT)), register: false, ..LOAD };
/// What has no increment, but a hint.
const PLAIN: Allows = Allows { number: None, register: false, ..LOAD };

/// The bit that makes other instructions of the same field `x6`.
const X: u64 = 1 << 27;

macro_rules! loads {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": r1, address. May have an increment. Formats M1 to M3.")]
            pub fn $name(r1: Gr, r3: Gr) -> Op {
                Op::new(Unit::M, 4, $x6 << 30).r1(r1).r3(r3).allowing(LOAD)
            }
        )*
    };
}

macro_rules! stores {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": address, r2. May have an increment by a number. Formats M4 and M5.")]
            pub fn $name(r3: Gr, r2: Gr) -> Op {
                Op::new(Unit::M, 4, $x6 << 30).r3(r3).r2(r2).allowing(STORE)
            }
        )*
    };
}

macro_rules! floating_loads {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, address. May have an increment. Formats M6 to M8.")]
            pub fn $name(f1: Fr, r3: Gr) -> Op {
                Op::new(Unit::M, 6, $x6 << 30).field(f1.bits(), 6, 7).r3(r3).allowing(LOAD)
            }
        )*
    };
}

macro_rules! floating_stores {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": address, f2. May have an increment by a number. Formats M9 and M10.")]
            pub fn $name(r3: Gr, f2: Fr) -> Op {
                Op::new(Unit::M, 6, $x6 << 30).r3(r3).field(f2.bits(), 13, 7).allowing(STORE)
            }
        )*
    };
}

macro_rules! pairs {
    ($($name:ident $x6:literal $bytes:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": f1, f2, address. May have an increment by ", $bytes, ". Formats M11 and M12.")]
            pub fn $name(f1: Fr, f2: Fr, r3: Gr) -> Op {
                let allows = Allows { number: Some(Increment::Only($bytes)), ..PLAIN };
                Op::new(Unit::M, 6, $x6 << 30 | X).field(f1.bits(), 6, 7).field(f2.bits(), 13, 7).r3(r3).allowing(allows)
            }
        )*
    };
}

macro_rules! exchanges {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": r1, address, r2. Format M16.")]
            pub fn $name(r1: Gr, r3: Gr, r2: Gr) -> Op {
                Op::new(Unit::M, 4, $x6 << 30 | X).r1(r1).r3(r3).r2(r2).allowing(PLAIN)
            }
        )*
    };
}

macro_rules! fetches_and_adds {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": r1, address, number, which is 1, 4, 8, 16 or minus one of these. Format M17.")]
            pub fn $name(r1: Gr, r3: Gr, number: i64) -> Op {
                let code = [16, 8, 4, 1].iter().position(|known| *known == number.unsigned_abs()).map(|code| code as u64);
                let op = Op::new(Unit::M, 4, $x6 << 30 | X).r1(r1).r3(r3).allowing(PLAIN);
                op.coded(number, code, 13, 2).field((number < 0).into(), 15, 1)
            }
        )*
    };
}

macro_rules! prefetches {
    ($($name:ident $x6:literal $what:literal;)*) => {
        $(
            #[doc = concat!($what, ": address. May have an increment. Formats M13 to M15.")]
            pub fn $name(r3: Gr) -> Op {
                Op::new(Unit::M, 6, $x6 << 30).r3(r3).allowing(LOAD)
            }
        )*
    };
}

loads! {
    ld1 0x00 "Load a byte";
    ld2 0x01 "Load two bytes";
    ld4 0x02 "Load four bytes";
    ld8 0x03 "Load eight bytes";
    ld1_s 0x04 "Load a byte, speculatively";
    ld2_s 0x05 "Load two bytes, speculatively";
    ld4_s 0x06 "Load four bytes, speculatively";
    ld8_s 0x07 "Load eight bytes, speculatively";
    ld1_a 0x08 "Load a byte, in advance";
    ld2_a 0x09 "Load two bytes, in advance";
    ld4_a 0x0a "Load four bytes, in advance";
    ld8_a 0x0b "Load eight bytes, in advance";
    ld1_sa 0x0c "Load a byte, speculatively and in advance";
    ld2_sa 0x0d "Load two bytes, speculatively and in advance";
    ld4_sa 0x0e "Load four bytes, speculatively and in advance";
    ld8_sa 0x0f "Load eight bytes, speculatively and in advance";
    ld1_bias 0x10 "Load a byte, to be stored to";
    ld2_bias 0x11 "Load two bytes, to be stored to";
    ld4_bias 0x12 "Load four bytes, to be stored to";
    ld8_bias 0x13 "Load eight bytes, to be stored to";
    ld1_acq 0x14 "Load a byte, before all later accesses";
    ld2_acq 0x15 "Load two bytes, before all later accesses";
    ld4_acq 0x16 "Load four bytes, before all later accesses";
    ld8_acq 0x17 "Load eight bytes, before all later accesses";
    ld1_c_clr 0x20 "Load a byte, unless the advanced load holds, which then is forgotten";
    ld2_c_clr 0x21 "Load two bytes, unless the advanced load holds, which then is forgotten";
    ld4_c_clr 0x22 "Load four bytes, unless the advanced load holds, which then is forgotten";
    ld8_c_clr 0x23 "Load eight bytes, unless the advanced load holds, which then is forgotten";
    ld1_c_nc 0x24 "Load a byte, unless the advanced load holds";
    ld2_c_nc 0x25 "Load two bytes, unless the advanced load holds";
    ld4_c_nc 0x26 "Load four bytes, unless the advanced load holds";
    ld8_c_nc 0x27 "Load eight bytes, unless the advanced load holds";
    ld1_c_clr_acq 0x28 "Load a byte, unless the advanced load holds, before all later accesses";
    ld2_c_clr_acq 0x29 "Load two bytes, unless the advanced load holds, before all later accesses";
    ld4_c_clr_acq 0x2a "Load four bytes, unless the advanced load holds, before all later accesses";
    ld8_c_clr_acq 0x2b "Load eight bytes, unless the advanced load holds, before all later accesses";
    ld8_fill 0x1b "Load eight bytes and the NaT bit from UNAT";
}

stores! {
    st1 0x30 "Store a byte";
    st2 0x31 "Store two bytes";
    st4 0x32 "Store four bytes";
    st8 0x33 "Store eight bytes";
    st1_rel 0x34 "Store a byte, behind all earlier accesses";
    st2_rel 0x35 "Store two bytes, behind all earlier accesses";
    st4_rel 0x36 "Store four bytes, behind all earlier accesses";
    st8_rel 0x37 "Store eight bytes, behind all earlier accesses";
    st8_spill 0x3b "Store eight bytes, and the NaT bit to UNAT";
}

floating_loads! {
    ldfe 0x00 "Load an extended";
    ldf8 0x01 "Load an integer";
    ldfs 0x02 "Load a single";
    ldfd 0x03 "Load a double";
    ldfe_s 0x04 "Load an extended, speculatively";
    ldf8_s 0x05 "Load an integer, speculatively";
    ldfs_s 0x06 "Load a single, speculatively";
    ldfd_s 0x07 "Load a double, speculatively";
    ldfe_a 0x08 "Load an extended, in advance";
    ldf8_a 0x09 "Load an integer, in advance";
    ldfs_a 0x0a "Load a single, in advance";
    ldfd_a 0x0b "Load a double, in advance";
    ldfe_sa 0x0c "Load an extended, speculatively and in advance";
    ldf8_sa 0x0d "Load an integer, speculatively and in advance";
    ldfs_sa 0x0e "Load a single, speculatively and in advance";
    ldfd_sa 0x0f "Load a double, speculatively and in advance";
    ldfe_c_clr 0x20 "Load an extended, unless the advanced load holds, which then is forgotten";
    ldf8_c_clr 0x21 "Load an integer, unless the advanced load holds, which then is forgotten";
    ldfs_c_clr 0x22 "Load a single, unless the advanced load holds, which then is forgotten";
    ldfd_c_clr 0x23 "Load a double, unless the advanced load holds, which then is forgotten";
    ldfe_c_nc 0x24 "Load an extended, unless the advanced load holds";
    ldf8_c_nc 0x25 "Load an integer, unless the advanced load holds";
    ldfs_c_nc 0x26 "Load a single, unless the advanced load holds";
    ldfd_c_nc 0x27 "Load a double, unless the advanced load holds";
    ldf_fill 0x1b "Load a whole register that was spilled";
}

floating_stores! {
    stfe 0x30 "Store an extended";
    stf8 0x31 "Store an integer";
    stfs 0x32 "Store a single";
    stfd 0x33 "Store a double";
    stf_spill 0x3b "Store a whole register";
}

pairs! {
    ldfp8 0x01 16 "Load two integers";
    ldfps 0x02 8 "Load two singles";
    ldfpd 0x03 16 "Load two doubles";
    ldfp8_s 0x05 16 "Load two integers, speculatively";
    ldfps_s 0x06 8 "Load two singles, speculatively";
    ldfpd_s 0x07 16 "Load two doubles, speculatively";
    ldfp8_a 0x09 16 "Load two integers, in advance";
    ldfps_a 0x0a 8 "Load two singles, in advance";
    ldfpd_a 0x0b 16 "Load two doubles, in advance";
    ldfp8_sa 0x0d 16 "Load two integers, speculatively and in advance";
    ldfps_sa 0x0e 8 "Load two singles, speculatively and in advance";
    ldfpd_sa 0x0f 16 "Load two doubles, speculatively and in advance";
    ldfp8_c_clr 0x21 16 "Load two integers, unless the advanced load holds, which then is forgotten";
    ldfps_c_clr 0x22 8 "Load two singles, unless the advanced load holds, which then is forgotten";
    ldfpd_c_clr 0x23 16 "Load two doubles, unless the advanced load holds, which then is forgotten";
    ldfp8_c_nc 0x25 16 "Load two integers, unless the advanced load holds";
    ldfps_c_nc 0x26 8 "Load two singles, unless the advanced load holds";
    ldfpd_c_nc 0x27 16 "Load two doubles, unless the advanced load holds";
}

prefetches! {
    lfetch 0x2c "Prefetch a line";
    lfetch_excl 0x2d "Prefetch a line to be stored to";
    lfetch_fault 0x2e "Prefetch a line, with faults";
    lfetch_fault_excl 0x2f "Prefetch a line to be stored to, with faults";
}

exchanges! {
    cmpxchg1_acq 0x00 "Exchange a byte if they are those of CCV, before all later accesses";
    cmpxchg2_acq 0x01 "Exchange two bytes if they are those of CCV, before all later accesses";
    cmpxchg4_acq 0x02 "Exchange four bytes if they are those of CCV, before all later accesses";
    cmpxchg8_acq 0x03 "Exchange eight bytes if they are those of CCV, before all later accesses";
    cmpxchg1_rel 0x04 "Exchange a byte if they are those of CCV, behind all earlier accesses";
    cmpxchg2_rel 0x05 "Exchange two bytes if they are those of CCV, behind all earlier accesses";
    cmpxchg4_rel 0x06 "Exchange four bytes if they are those of CCV, behind all earlier accesses";
    cmpxchg8_rel 0x07 "Exchange eight bytes if they are those of CCV, behind all earlier accesses";
    xchg1 0x08 "Exchange a byte";
    xchg2 0x09 "Exchange two bytes";
    xchg4 0x0a "Exchange four bytes";
    xchg8 0x0b "Exchange eight bytes";
}

fetches_and_adds! {
    fetchadd4_acq 0x12 "Add to four bytes, before all later accesses, and load what was there";
    fetchadd8_acq 0x13 "Add to eight bytes, before all later accesses, and load what was there";
    fetchadd4_rel 0x16 "Add to four bytes, behind all earlier accesses, and load what was there";
    fetchadd8_rel 0x17 "Add to eight bytes, behind all earlier accesses, and load what was there";
}

fn sixteen(x6: u64) -> Op {
    Op::new(Unit::M, 4, x6 << 30 | X).allowing(PLAIN)
}

/// Load sixteen bytes, the upper eight into AR 25: r1, address. Format M1.
pub fn ld16(r1: Gr, r3: Gr) -> Op {
    sixteen(0x28).r1(r1).r3(r3)
}

/// Load sixteen bytes, the upper eight into AR 25, before all later accesses: r1, address. Format M1.
pub fn ld16_acq(r1: Gr, r3: Gr) -> Op {
    sixteen(0x2C).r1(r1).r3(r3)
}

/// Store sixteen bytes, the upper eight from AR 25: address, r2. Format M4.
pub fn st16(r3: Gr, r2: Gr) -> Op {
    sixteen(0x30).r3(r3).r2(r2)
}

/// Store sixteen bytes, the upper eight from AR 25, after all earlier accesses: address, r2. Format M4.
pub fn st16_rel(r3: Gr, r2: Gr) -> Op {
    sixteen(0x34).r3(r3).r2(r2)
}

/// Store sixteen bytes, the upper eight from AR 25, if eight are those of CCV, before all later accesses: r1, address, r2. Format M16.
pub fn cmp8xchg16_acq(r1: Gr, r3: Gr, r2: Gr) -> Op {
    sixteen(0x20).r1(r1).r3(r3).r2(r2)
}

/// Store sixteen bytes, the upper eight from AR 25, if eight are those of CCV, after all earlier accesses: r1, address, r2. Format M16.
pub fn cmp8xchg16_rel(r1: Gr, r3: Gr, r2: Gr) -> Op {
    sixteen(0x24).r1(r1).r3(r3).r2(r2)
}
