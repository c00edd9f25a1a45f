use vm_pmu_engines::ia64::assemble::*;

use super::{Table, named, written};

pub(super) fn fill(t: &mut Table) {
    arithmetic(t);
    compares(t);
    shifts(t);
    multimedia(t);
    moves(t);
}

fn arithmetic(t: &mut Table) {
    named!(t M "r101=r58,r37" (R101, R58, R37): add sub addp4 and andcm or xor);
    written! { t M
        "add r101=r58,r37,1" add_one(R101, R58, R37);
        "sub r101=r58,r37,1" sub_one(R101, R58, R37);
        "sub r101=-128,r37" sub_imm(R101, -128, R37);
        "and r101=127,r37" and_imm(R101, 127, R37);
        "andcm r101=-1,r37" andcm_imm(R101, -1, R37);
        "or r101=64,r37" or_imm(R101, 64, R37);
        "xor r101=-77,r37" xor_imm(R101, -77, R37);
        "shladd r101=r58,1,r37" shladd(R101, R58, 1, R37);
        "shladd r101=r58,4,r37" shladd(R101, R58, 4, R37);
        "shladdp4 r101=r58,3,r37" shladdp4(R101, R58, 3, R37);
        "adds r101=-8192,r37" adds(R101, -8192, R37);
        "adds r101=8191,r37" adds(R101, 8191, R37);
        "adds r101=0x1155,r37" adds(R101, 0x1155, R37);
        "addp4 r101=-5000,r37" addp4_imm(R101, -5000, R37);
        "addl r101=-2097152,r3" addl(R101, -2_097_152, R3);
        "addl r101=0x12345,r2" addl(R101, 0x12345, R2);
        "addl r101=2097151,r1" addl(R101, 2_097_151, R1);
        "mov r101=r37" mov(R101, R37);
        "mov r101=0x1abcde" mov_imm(R101, 0x1A_BCDE);
    }
}

fn compares(t: &mut Table) {
    named!(t M "p51,p14=r58,r37" (P51, P14, R58, R37): cmp_lt cmp_ltu cmp_eq cmp_lt_unc cmp_ltu_unc cmp_eq_unc cmp_eq_and cmp_eq_or
        cmp_eq_or_andcm cmp_ne_and cmp_ne_or cmp_ne_or_andcm cmp4_lt cmp4_ltu cmp4_eq cmp4_lt_unc cmp4_ltu_unc cmp4_eq_unc cmp4_eq_and
        cmp4_eq_or cmp4_eq_or_andcm cmp4_ne_and cmp4_ne_or cmp4_ne_or_andcm cmp_ne cmp_ge cmp_geu);
    named!(t M "p51,p14=r0,r37" (P51, P14, R37): cmp_gt_and cmp_gt_or cmp_gt_or_andcm cmp_le_and cmp_le_or cmp_le_or_andcm cmp_ge_and
        cmp_ge_or cmp_ge_or_andcm cmp_lt_and cmp_lt_or cmp_lt_or_andcm cmp4_gt_and cmp4_gt_or cmp4_gt_or_andcm cmp4_le_and cmp4_le_or
        cmp4_le_or_andcm cmp4_ge_and cmp4_ge_or cmp4_ge_or_andcm cmp4_lt_and cmp4_lt_or cmp4_lt_or_andcm);
    written! { t M
        "cmp.lt p51,p14=-128,r37" cmp_lt_imm(P51, P14, -128, R37);
        "cmp.ltu p51,p14=-3,r37" cmp_ltu_imm(P51, P14, -3, R37);
        "cmp.eq p51,p14=127,r37" cmp_eq_imm(P51, P14, 127, R37);
        "cmp.lt.unc p51,p14=85,r37" cmp_lt_unc_imm(P51, P14, 85, R37);
        "cmp.ltu.unc p51,p14=42,r37" cmp_ltu_unc_imm(P51, P14, 42, R37);
        "cmp.eq.unc p51,p14=0,r37" cmp_eq_unc_imm(P51, P14, 0, R37);
        "cmp.eq.and p51,p14=-1,r37" cmp_eq_and_imm(P51, P14, -1, R37);
        "cmp.eq.or p51,p14=-2,r37" cmp_eq_or_imm(P51, P14, -2, R37);
        "cmp.eq.or.andcm p51,p14=1,r37" cmp_eq_or_andcm_imm(P51, P14, 1, R37);
        "cmp.ne.and p51,p14=2,r37" cmp_ne_and_imm(P51, P14, 2, R37);
        "cmp.ne.or p51,p14=4,r37" cmp_ne_or_imm(P51, P14, 4, R37);
        "cmp.ne.or.andcm p51,p14=8,r37" cmp_ne_or_andcm_imm(P51, P14, 8, R37);
        "cmp4.lt p51,p14=-128,r37" cmp4_lt_imm(P51, P14, -128, R37);
        "cmp4.ltu p51,p14=-3,r37" cmp4_ltu_imm(P51, P14, -3, R37);
        "cmp4.eq p51,p14=127,r37" cmp4_eq_imm(P51, P14, 127, R37);
        "cmp4.lt.unc p51,p14=85,r37" cmp4_lt_unc_imm(P51, P14, 85, R37);
        "cmp4.ltu.unc p51,p14=42,r37" cmp4_ltu_unc_imm(P51, P14, 42, R37);
        "cmp4.eq.unc p51,p14=0,r37" cmp4_eq_unc_imm(P51, P14, 0, R37);
        "cmp4.eq.and p51,p14=-1,r37" cmp4_eq_and_imm(P51, P14, -1, R37);
        "cmp4.eq.or p51,p14=-2,r37" cmp4_eq_or_imm(P51, P14, -2, R37);
        "cmp4.eq.or.andcm p51,p14=1,r37" cmp4_eq_or_andcm_imm(P51, P14, 1, R37);
        "cmp4.ne.and p51,p14=2,r37" cmp4_ne_and_imm(P51, P14, 2, R37);
        "cmp4.ne.or p51,p14=4,r37" cmp4_ne_or_imm(P51, P14, 4, R37);
        "cmp4.ne.or.andcm p51,p14=8,r37" cmp4_ne_or_andcm_imm(P51, P14, 8, R37);
        "cmp.ne p51,p14=8,r37" cmp_ne_imm(P51, P14, 8, R37);
    }
    named!(t I "p51,p14=r37,53" (P51, P14, R37, 53): tbit_z tbit_z_unc tbit_z_and tbit_nz_and tbit_z_or tbit_nz_or tbit_z_or_andcm
        tbit_nz_or_andcm tbit_nz);
    named!(t I "p51,p14=r37" (P51, P14, R37): tnat_z tnat_z_unc tnat_z_and tnat_nz_and tnat_z_or tnat_nz_or tnat_z_or_andcm
        tnat_nz_or_andcm);
    named!(t I "p51,p14=42" (P51, P14, 42): tf_z tf_z_unc tf_z_and tf_nz_and tf_z_or tf_nz_or tf_z_or_andcm tf_nz_or_andcm);
}

fn shifts(t: &mut Table) {
    named!(t I "r101=r37,r58" (R101, R37, R58): shr shr_u shl);
    named!(t I "r101=r37" (R101, R37): popcnt zxt1 zxt2 zxt4 sxt1 sxt2 sxt4 czx1_l czx2_l czx1_r czx2_r);
    named!(t I "r101=r37,43,12" (R101, R37, 43, 12): extr extr_u dep_z);
    written! { t I
        "shrp r101=r58,r37,53" shrp(R101, R58, R37, 53);
        "extr r101=r37,0,64" extr(R101, R37, 0, 64);
        "extr.u r101=r37,63,1" extr_u(R101, R37, 63, 1);
        "dep.z r101=-86,43,12" dep_z_imm(R101, -86, 43, 12);
        "dep r101=-1,r37,43,12" dep_imm(R101, true, R37, 43, 12);
        "dep r101=0,r37,4,60" dep_imm(R101, false, R37, 4, 60);
        "dep r101=r58,r37,43,16" dep(R101, R58, R37, 43, 16);
        "dep r101=r58,r37,62,1" dep(R101, R58, R37, 62, 1);
        "shl r101=r37,17" shl_imm(R101, R37, 17);
        "shr r101=r37,17" shr_imm(R101, R37, 17);
        "shr.u r101=r37,17" shr_u_imm(R101, R37, 17);
    }
}

fn multimedia(t: &mut Table) {
    named!(t M "r101=r58,r37" (R101, R58, R37): padd1 padd1_sss padd1_uuu padd1_uus padd2 padd2_sss padd2_uuu padd2_uus padd4 psub1
        psub1_sss psub1_uuu psub1_uus psub2 psub2_sss psub2_uuu psub2_uus psub4 pavg1 pavg1_raz pavg2 pavg2_raz pavgsub1 pavgsub2
        pcmp1_eq pcmp2_eq pcmp4_eq pcmp1_gt pcmp2_gt pcmp4_gt);
    named!(t I "r101=r58,r37" (R101, R58, R37): pmpy2_r pmpy2_l mix1_r mix2_r mix4_r mix1_l mix2_l mix4_l pack2_uss pack2_sss pack4_sss
        unpack1_h unpack2_h unpack4_h unpack1_l unpack2_l unpack4_l pmin1_u pmax1_u pmin2 pmax2 psad1 pshl2 pshl4);
    named!(t I "r101=r37,r58" (R101, R37, R58): pshr2 pshr2_u pshr4 pshr4_u);
    written! { t M
        "pshladd2 r101=r58,3,r37" pshladd2(R101, R58, 3, R37);
        "pshradd2 r101=r58,2,r37" pshradd2(R101, R58, 2, R37);
    }
    written! { t I
        "pmpyshr2 r101=r58,r37,0" pmpyshr2(R101, R58, R37, 0);
        "pmpyshr2 r101=r58,r37,7" pmpyshr2(R101, R58, R37, 7);
        "pmpyshr2.u r101=r58,r37,15" pmpyshr2_u(R101, R58, R37, 15);
        "pmpyshr2.u r101=r58,r37,16" pmpyshr2_u(R101, R58, R37, 16);
        "mux1 r101=r58,@brcst" mux1(R101, R58, 0);
        "mux1 r101=r58,@mix" mux1(R101, R58, 8);
        "mux1 r101=r58,@shuf" mux1(R101, R58, 9);
        "mux1 r101=r58,@alt" mux1(R101, R58, 10);
        "mux1 r101=r58,@rev" mux1(R101, R58, 11);
        "mux2 r101=r58,0x8d" mux2(R101, R58, 0x8D);
        "pshr2 r101=r37,13" pshr2_imm(R101, R37, 13);
        "pshr2.u r101=r37,13" pshr2_u_imm(R101, R37, 13);
        "pshr4 r101=r37,29" pshr4_imm(R101, R37, 29);
        "pshr4.u r101=r37,29" pshr4_u_imm(R101, R37, 29);
        "pshl2 r101=r58,13" pshl2_imm(R101, R58, 13);
        "pshl4 r101=r58,29" pshl4_imm(R101, R58, 29);
    }
}

const APPLICATION: [(Ar, &str); 21] = [
    (Ar::KR0, "k0"),
    (Ar::KR1, "k1"),
    (Ar::KR2, "k2"),
    (Ar::KR3, "k3"),
    (Ar::KR4, "k4"),
    (Ar::KR5, "k5"),
    (Ar::KR6, "k6"),
    (Ar::KR7, "k7"),
    (Ar::RSC, "rsc"),
    (Ar::BSP, "bsp"),
    (Ar::BSPSTORE, "bspstore"),
    (Ar::RNAT, "rnat"),
    (Ar::CSD, "csd"),
    (Ar::CCV, "ccv"),
    (Ar::UNAT, "unat"),
    (Ar::FPSR, "fpsr"),
    (Ar::ITC, "itc"),
    (Ar::RUC, "ruc"),
    (Ar::PFS, "pfs"),
    (Ar::LC, "lc"),
    (Ar::EC, "ec"),
];

fn moves(t: &mut Table) {
    for (register, name) in APPLICATION {
        if register.number() < 64 {
            t.add(super::Unit::M, format!("mov.m r101=ar.{name}"), move |_| mov_from_ar_m(R101, register));
            if register != Ar::BSP {
                t.add(super::Unit::M, format!("mov.m ar.{name}=r58"), move |_| mov_to_ar_m(register, R58));
                t.add(super::Unit::M, format!("mov.m ar.{name}=-86"), move |_| mov_to_ar_m_imm(register, -86));
            }
        } else {
            t.add(super::Unit::I, format!("mov.i r101=ar.{name}"), move |_| mov_from_ar_i(R101, register));
            t.add(super::Unit::I, format!("mov.i ar.{name}=r58"), move |_| mov_to_ar_i(register, R58));
            t.add(super::Unit::I, format!("mov.i ar.{name}=-86"), move |_| mov_to_ar_i_imm(register, -86));
        }
    }
    written! { t I
        "mov b5=r58" mov_to_br(B5, R58);
        "mov.ret b5=r58,.+0" mov_ret_to_br(B5, R58);
        "mov r101=b6" mov_from_br(R101, B6);
        "mov r101=ip" mov_from_ip(R101);
        "mov r101=pr" mov_from_pr(R101);
        "mov pr=r58,0x1aa54" mov_to_pr(R58, 0x1_AA54);
        "mov pr=r58,0xfffffffffffffffe" mov_to_pr(R58, 0x1_FFFE);
        "mov pr.rot=0x5a5a5a50000" mov_to_pr_rot(0x5A5_A5A5_0000);
        "mov pr.rot=-65536" mov_to_pr_rot(-65536);
    }
    t.add(super::Unit::I, "mov.sptk b5=r58,.+16", |places| mov_to_br_hint(B5, R58, Whether::Sptk, places.next));
    t.add(super::Unit::I, "mov.dptk b5=r58,.+16", |places| mov_to_br_hint(B5, R58, Whether::Dptk, places.next));
    for value in [0x1234_5678_9ABC_DEF0, u64::MAX, 1, 1 << 63, 0x8000_0000, 0x7F, 0xFF80, 0x1F_0000, 0x20_0000, 0x40_0000] {
        t.add(super::Unit::X, format!("movl r101={value:#x}"), move |_| movl(R101, value));
    }
    t.add(super::Unit::X, "movl r101=first", |places| movl_label(R101, places.first));
}
