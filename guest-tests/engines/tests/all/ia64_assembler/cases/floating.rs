use vm_pmu_engines::ia64::assemble::*;

use super::{Table, Unit, named, written};

/// Functions whose status field is 0 if none is named, each with field 0 and another.
macro_rules! with_status {
    ($table:ident $field:literal $operands:literal $arguments:tt: $($name:ident)*) => {
        $(
            // A completer of the type follows the field's: `fma.s.s0` is a single.
            let mnemonic = stringify!($name).replace('_', ".");
            $table.add(Unit::F, format!("{mnemonic}.s0 {}", $operands), |_| $name $arguments);
            $table.add(Unit::F, format!("{mnemonic}.s{} {}", $field, $operands), |_| $name $arguments.sf($field));
        )*
    };
}

pub(super) fn fill(t: &mut Table) {
    with_status!(t 3 "f101=f37,f109,f58" (F101, F37, F109, F58): fma fma_s fma_d fpma fms fms_s fms_d fpms fnma fnma_s fnma_d fpnma);
    named!(t F "f101=f37,f109,f58" (F101, F37, F109, F58): xma_l xma_hu xma_h fselect);
    with_status!(t 2 "p51,p14=f58,f37" (P51, P14, F58, F37): fcmp_eq fcmp_lt fcmp_le fcmp_unord fcmp_eq_unc fcmp_lt_unc fcmp_le_unc
        fcmp_unord_unc);
    written! { t F
        "fclass.m p51,p14=f58,0x1a5" fclass_m(P51, P14, F58, 0x1A5);
        "fclass.m.unc p51,p14=f58,0x05a" fclass_m_unc(P51, P14, F58, 0x5A);
        "fsetc.s0 0x55,0x2a" fsetc(0x55, 0x2A);
        "fsetc.s2 0x55,0x2a" fsetc(0x55, 0x2A).sf(2);
        "fclrf.s1" fclrf().sf(1);
        "fadd.s0 f101=f37,f58" fadd(F101, F37, F58);
        "fadd.d.s0 f101=f37,f58" fadd_d(F101, F37, F58);
        "fsub.s0 f101=f37,f58" fsub(F101, F37, F58);
        "fmpy.s0 f101=f37,f109" fmpy(F101, F37, F109);
        "fmpy.d.s0 f101=f37,f109" fmpy_d(F101, F37, F109);
        "fnorm.s0 f101=f37" fnorm(F101, F37);
        "xmpy.l f101=f37,f109" xmpy_l(F101, F37, F109);
        "mov f101=f37" fmov(F101, F37);
        "fabs f101=f37" fabs(F101, F37);
        "fneg f101=f37" fneg(F101, F37);
    }
    with_status!(t 1 "f101,p14=f58,f37" (F101, P14, F58, F37): frcpa fprcpa);
    with_status!(t 1 "f101,p14=f37" (F101, P14, F37): frsqrta fprsqrta);
    with_status!(t 3 "f101=f58,f37" (F101, F58, F37): fmin fmax famin famax fpmin fpmax fpamin fpamax fpcmp_eq fpcmp_lt fpcmp_le fpcmp_unord
        fpcmp_neq fpcmp_nlt fpcmp_nle fpcmp_ord);
    named!(t F "f101=f58,f37" (F101, F58, F37): fmerge_s fmerge_ns fmerge_se fmix_lr fmix_r fmix_l fsxt_r fsxt_l fpack fswap fswap_nl fswap_nr
        fand fandcm for_ fxor fpmerge_s fpmerge_ns fpmerge_se);
    with_status!(t 2 "f101=f58" (F101, F58): fcvt_fx fcvt_fxu fcvt_fx_trunc fcvt_fxu_trunc fpcvt_fx fpcvt_fxu fpcvt_fx_trunc
        fpcvt_fxu_trunc);
    named!(t F "f101=f58" (F101, F58): fcvt_xf);
    t.add(Unit::F, "fchkf.s1 first", |places| fchkf(places.first).sf(1));
    t.add(Unit::F, "fchkf.s0 end", |places| fchkf(places.end));
}
