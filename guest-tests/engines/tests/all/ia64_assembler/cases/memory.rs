use vm_pmu_engines::ia64::assemble::*;

use super::{Table, Unit, written};

/// Loads by their names: plain, with increments by a number and a register, with a hint.
macro_rules! loads {
    ($table:ident $register:ident $written:literal: $($name:ident)*) => {
        $(
            let mnemonic = stringify!($name).replace('_', ".");
            $table.add(Unit::M, format!("{mnemonic} {}=[r37]", $written), |_| $name($register, R37));
            $table.add(Unit::M, format!("{mnemonic} {}=[r37],-171", $written), |_| $name($register, R37).post(-171));
            $table.add(Unit::M, format!("{mnemonic} {}=[r37],r58", $written), |_| $name($register, R37).post_reg(R58));
            $table.add(Unit::M, format!("{mnemonic}.nt1 {}=[r37]", $written), |_| $name($register, R37).locality(Locality::Nt1));
            $table.add(Unit::M, format!("{mnemonic}.nta {}=[r37],255", $written), |_| {
                $name($register, R37).post(255).locality(Locality::Nta)
            });
        )*
    };
}

/// Stores by their names: plain, with an increment, with a hint.
macro_rules! stores {
    ($table:ident $register:ident $written:literal: $($name:ident)*) => {
        $(
            let mnemonic = stringify!($name).replace('_', ".");
            $table.add(Unit::M, format!("{mnemonic} [r37]={}", $written), |_| $name(R37, $register));
            $table.add(Unit::M, format!("{mnemonic} [r37]={},-256", $written), |_| $name(R37, $register).post(-256));
            $table.add(Unit::M, format!("{mnemonic}.nta [r37]={},85", $written), |_| {
                $name(R37, $register).locality(Locality::Nta).post(85)
            });
        )*
    };
}

macro_rules! pairs {
    ($table:ident $bytes:literal: $($name:ident)*) => {
        $(
            let mnemonic = stringify!($name).replace('_', ".");
            $table.add(Unit::M, format!("{mnemonic} f101,f58=[r37]"), |_| $name(F101, F58, R37));
            $table.add(Unit::M, format!("{mnemonic} f101,f58=[r37],{}", $bytes), |_| $name(F101, F58, R37).post($bytes));
            $table.add(Unit::M, format!("{mnemonic}.nt1 f101,f58=[r37]"), |_| $name(F101, F58, R37).locality(Locality::Nt1));
        )*
    };
}

macro_rules! exchanges {
    ($table:ident $rest:literal: $($name:ident)*) => {
        $(
            let mnemonic = stringify!($name).replace('_', ".");
            $table.add(Unit::M, format!("{mnemonic} r101=[r37],r58{}", $rest), |_| $name(R101, R37, R58));
            $table.add(Unit::M, format!("{mnemonic}.nta r101=[r37],r58{}", $rest), |_| $name(R101, R37, R58).locality(Locality::Nta));
        )*
    };
}

macro_rules! prefetches {
    ($table:ident $($name:ident)*) => {
        $(
            let mnemonic = stringify!($name).replace('_', ".");
            $table.add(Unit::M, format!("{mnemonic} [r37]"), |_| $name(R37));
            $table.add(Unit::M, format!("{mnemonic} [r37],-171"), |_| $name(R37).post(-171));
            $table.add(Unit::M, format!("{mnemonic}.nt2 [r37],r58"), |_| $name(R37).post_reg(R58).locality(Locality::Nt2));
        )*
    };
}

pub(super) fn fill(t: &mut Table) {
    loads!(t R101 "r101": ld1 ld2 ld4 ld8 ld1_s ld2_s ld4_s ld8_s ld1_a ld2_a ld4_a ld8_a ld1_sa ld2_sa ld4_sa ld8_sa ld1_bias ld2_bias
        ld4_bias ld8_bias ld1_acq ld2_acq ld4_acq ld8_acq ld1_c_clr ld2_c_clr ld4_c_clr ld8_c_clr ld1_c_nc ld2_c_nc ld4_c_nc ld8_c_nc
        ld1_c_clr_acq ld2_c_clr_acq ld4_c_clr_acq ld8_c_clr_acq ld8_fill);
    stores!(t R101 "r101": st1 st2 st4 st8 st1_rel st2_rel st4_rel st8_rel st8_spill);
    loads!(t F101 "f101": ldfe ldf8 ldfs ldfd ldfe_s ldf8_s ldfs_s ldfd_s ldfe_a ldf8_a ldfs_a ldfd_a ldfe_sa ldf8_sa ldfs_sa ldfd_sa
        ldfe_c_clr ldf8_c_clr ldfs_c_clr ldfd_c_clr ldfe_c_nc ldf8_c_nc ldfs_c_nc ldfd_c_nc ldf_fill);
    stores!(t F101 "f101": stfe stf8 stfs stfd stf_spill);
    pairs!(t 8: ldfps ldfps_s ldfps_a ldfps_sa ldfps_c_clr ldfps_c_nc);
    pairs!(t 16: ldfp8 ldfpd ldfp8_s ldfpd_s ldfp8_a ldfpd_a ldfp8_sa ldfpd_sa ldfp8_c_clr ldfpd_c_clr ldfp8_c_nc ldfpd_c_nc);
    prefetches!(t lfetch lfetch_excl lfetch_fault lfetch_fault_excl);
    exchanges!(t ",ar.ccv": cmpxchg1_acq cmpxchg2_acq cmpxchg4_acq cmpxchg8_acq cmpxchg1_rel cmpxchg2_rel cmpxchg4_rel cmpxchg8_rel);
    exchanges!(t "": xchg1 xchg2 xchg4 xchg8);
    for (code, number) in [16, 8, 4, 1, -16, -8, -4, -1].into_iter().enumerate() {
        let rest = format!("r101=[r37],{number}");
        match code % 4 {
            0 => t.add(Unit::M, format!("fetchadd4.acq {rest}"), move |_| fetchadd4_acq(R101, R37, number)),
            1 => t.add(Unit::M, format!("fetchadd8.acq {rest}"), move |_| fetchadd8_acq(R101, R37, number)),
            2 => t.add(Unit::M, format!("fetchadd4.rel {rest}"), move |_| fetchadd4_rel(R101, R37, number)),
            _ => t.add(Unit::M, format!("fetchadd8.rel {rest}"), move |_| fetchadd8_rel(R101, R37, number)),
        }
    }
    written! { t M
        "ld16 r101,ar.csd=[r37]" ld16(R101, R37);
        "ld16.acq.nt1 r101,ar.csd=[r37]" ld16_acq(R101, R37).locality(Locality::Nt1);
        "st16 [r37]=r58,ar.csd" st16(R37, R58);
        "st16.rel.nta [r37]=r58,ar.csd" st16_rel(R37, R58).locality(Locality::Nta);
        "cmp8xchg16.acq r101=[r37],r58,ar.csd,ar.ccv" cmp8xchg16_acq(R101, R37, R58);
        "cmp8xchg16.rel.nta r101=[r37],r58,ar.csd,ar.ccv" cmp8xchg16_rel(R101, R37, R58).locality(Locality::Nta);
        "getf.sig r101=f58" getf_sig(R101, F58);
        "getf.exp r101=f58" getf_exp(R101, F58);
        "getf.s r101=f58" getf_s(R101, F58);
        "getf.d r101=f58" getf_d(R101, F58);
        "setf.sig f101=r58" setf_sig(F101, R58);
        "setf.exp f101=r58" setf_exp(F101, R58);
        "setf.s f101=r58" setf_s(F101, R58);
        "setf.d f101=r58" setf_d(F101, R58);
    }
}
