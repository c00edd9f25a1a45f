use vm_pmu_engines::ia64::assemble::*;

use super::{Table, Unit, named, written};

pub(crate) const CONTROL: [(Cr, &str); 26] = [
    (Cr::DCR, "dcr"),
    (Cr::ITM, "itm"),
    (Cr::IVA, "iva"),
    (Cr::PTA, "pta"),
    (Cr::IPSR, "ipsr"),
    (Cr::ISR, "isr"),
    (Cr::IIP, "iip"),
    (Cr::IFA, "ifa"),
    (Cr::ITIR, "itir"),
    (Cr::IIPA, "iipa"),
    (Cr::IFS, "ifs"),
    (Cr::IIM, "iim"),
    (Cr::IHA, "iha"),
    (Cr::LID, "lid"),
    (Cr::IVR, "ivr"),
    (Cr::TPR, "tpr"),
    (Cr::EOI, "eoi"),
    (Cr::IRR0, "irr0"),
    (Cr::IRR1, "irr1"),
    (Cr::IRR2, "irr2"),
    (Cr::IRR3, "irr3"),
    (Cr::ITV, "itv"),
    (Cr::PMV, "pmv"),
    (Cr::CMCV, "cmcv"),
    (Cr::LRR0, "lrr0"),
    (Cr::LRR1, "lrr1"),
];

pub(super) fn fill(t: &mut Table) {
    for (register, name) in CONTROL {
        t.add(Unit::M, format!("mov r101=cr.{name}"), move |_| mov_from_cr(R101, register));
        // The registers of pending interrupts are not to be written.
        if !name.starts_with("irr") && name != "ivr" {
            t.add(Unit::M, format!("mov cr.{name}=r58"), move |_| mov_to_cr(register, R58));
        }
    }
    written! { t M
        "nop.m 0x12345" nop(0x12345);
        "nop.m 0x1fffff" nop(0x1F_FFFF);
        "hint.m 0x5" hint(5);
        "break.m 0x155555" break_(0x15_5555);
        "invala" invala();
        "fwb" fwb();
        "mf" mf();
        "mf.a" mf_a();
        "srlz.d" srlz_d();
        "srlz.i" srlz_i();
        "sync.i" sync_i();
        "invala.e r101" invala_e(R101);
        "invala.e f101" invala_e_f(F101);
        "mov psr.l=r58" mov_to_psr_l(R58);
        "mov psr.um=r58" mov_to_psr_um(R58);
        "mov r101=psr" mov_from_psr(R101);
        "mov r101=psr.um" mov_from_psr_um(R101);
        "mov rr[r37]=r58" mov_to_rr(R37, R58);
        "mov dbr[r37]=r58" mov_to_dbr(R37, R58);
        "mov ibr[r37]=r58" mov_to_ibr(R37, R58);
        "mov pkr[r37]=r58" mov_to_pkr(R37, R58);
        "mov pmc[r37]=r58" mov_to_pmc(R37, R58);
        "mov pmd[r37]=r58" mov_to_pmd(R37, R58);
        "mov r101=rr[r37]" mov_from_rr(R101, R37);
        "mov r101=dbr[r37]" mov_from_dbr(R101, R37);
        "mov r101=ibr[r37]" mov_from_ibr(R101, R37);
        "mov r101=pkr[r37]" mov_from_pkr(R101, R37);
        "mov r101=pmc[r37]" mov_from_pmc(R101, R37);
        "mov r101=pmd[r37]" mov_from_pmd(R101, R37);
        "mov r101=cpuid[r37]" mov_from_cpuid(R101, R37);
        "itr.d dtr[r37]=r58" itr_d(R37, R58);
        "itr.i itr[r37]=r58" itr_i(R37, R58);
        "itc.d r58" itc_d(R58);
        "itc.i r58" itc_i(R58);
        "fc r37" fc(R37);
        "fc.i r37" fc_i(R37);
        "ptc.e r37" ptc_e(R37);
        "probe.r r101=r37,2" probe_r(R101, R37, 2);
        "probe.w r101=r37,3" probe_w(R101, R37, 3);
        "probe.r r101=r37,r58" probe_r_reg(R101, R37, R58);
        "probe.w r101=r37,r58" probe_w_reg(R101, R37, R58);
        "probe.r.fault r37,1" probe_r_fault(R37, 1);
        "probe.w.fault r37,2" probe_w_fault(R37, 2);
    }
    named!(t M "0xa5a5a5" (0xA5_A5A5): sum rum ssm rsm);
    named!(t M "0x5a5a5a" (0x5A_5A5A): sum rum ssm rsm);
    named!(t M "r37,r58" (R37, R58): ptc_l ptc_g ptc_ga ptr_d ptr_i);
    named!(t M "r101=r37" (R101, R37): thash ttag tpa tak);
    t.always(Unit::M, "alloc r101=ar.pfs,3,20,5,16", |_| alloc(R101, 3, 20, 5, 16));
    t.always(Unit::M, "alloc r101=ar.pfs,0,0,96,96", |_| alloc(R101, 0, 0, 96, 96));
    t.always(Unit::M, "flushrs", |_| flushrs());
    t.always(Unit::M, "loadrs", |_| loadrs());
    t.add(Unit::M, "chk.s.m r58,first", |places| chk_s_m(R58, places.first));
    t.add(Unit::M, "chk.s.m r58,end", |places| chk_s_m(R58, places.end));
    t.add(Unit::I, "chk.s.i r58,first", |places| chk_s_i(R58, places.first));
    t.add(Unit::I, "chk.s.i r58,end", |places| chk_s_i(R58, places.end));
    t.add(Unit::M, "chk.s f58,first", |places| chk_s_f(F58, places.first));
    t.add(Unit::M, "chk.a.nc r101,first", |places| chk_a_nc(R101, places.first));
    t.add(Unit::M, "chk.a.clr r101,end", |places| chk_a_clr(R101, places.end));
    t.add(Unit::M, "chk.a.nc f101,end", |places| chk_a_nc_f(F101, places.end));
    t.add(Unit::M, "chk.a.clr f101,first", |places| chk_a_clr_f(F101, places.first));
}
