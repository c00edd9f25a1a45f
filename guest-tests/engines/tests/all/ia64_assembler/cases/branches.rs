use vm_pmu_engines::ia64::assemble::*;

use super::{Table, Unit};

const HINTS: [(Whether, &str); 4] = [(Whether::Sptk, "sptk"), (Whether::Spnt, "spnt"), (Whether::Dptk, "dptk"), (Whether::Dpnt, "dpnt")];

pub(super) fn fill(t: &mut Table) {
    for (hint, name) in HINTS {
        t.add(Unit::B, format!("br.cond.{name}.few first"), move |places| br_cond(places.first).whether(hint));
        t.add(Unit::B, format!("br.cond.{name}.many.clr end"), move |places| br_cond(places.end).whether(hint).many().clr());
        t.add(Unit::B, format!("br.wexit.{name}.few first"), move |places| br_wexit(places.first).whether(hint));
        t.add(Unit::B, format!("br.wtop.{name}.few first"), move |places| br_wtop(places.first).whether(hint));
        t.always(Unit::B, format!("br.cloop.{name}.many first"), move |places| br_cloop(places.first).whether(hint).many());
        t.always(Unit::B, format!("br.cexit.{name}.few first"), move |places| br_cexit(places.first).whether(hint));
        t.always(Unit::B, format!("br.ctop.{name}.few first"), move |places| br_ctop(places.first).whether(hint));
        t.add(Unit::B, format!("br.call.{name}.few b5=first"), move |places| br_call(B5, places.first).whether(hint));
        t.add(Unit::B, format!("br.call.{name}.many b5=end"), move |places| br_call(B5, places.end).whether(hint).many());
        t.add(Unit::B, format!("br.cond.{name}.few b6"), move |_| br_cond_reg(B6).whether(hint));
        t.add(Unit::B, format!("br.ret.{name}.many b3"), move |_| br_ret(B3).whether(hint).many());
        t.add(Unit::B, format!("br.call.{name}.few.clr b5=b2"), move |_| br_call_reg(B5, B2).whether(hint).clr());
        t.add(Unit::X, format!("brl.cond.{name}.few first"), move |places| brl_cond(places.first).whether(hint));
        t.add(Unit::X, format!("brl.call.{name}.many b5=end"), move |places| brl_call(B5, places.end).whether(hint).many());
    }
    t.add(Unit::B, "br.ret.sptk.few b0", |_| br_ret(B0));
    t.add(Unit::B, "br.call.sptk.few b5=b2", |_| br_call_reg(B5, B2));
    t.always(Unit::B, "br.ia.sptk.few b2", |_| br_ia(B2));
    t.always(Unit::B, "brp.sptk first,.+16", |places| brp(places.first, places.next));
    t.always(Unit::B, "brp.loop end,.+16", |places| brp_loop(places.end, places.next));
    t.always(Unit::B, "brp.dptk first,.+16", |places| brp_dptk(places.first, places.next));
    t.always(Unit::B, "brp.exit first,.+16", |places| brp_exit(places.first, places.next));
    t.always(Unit::B, "brp.sptk b6,.+16", |places| brp_reg(B6, Whether::Sptk, places.next));
    t.always(Unit::B, "brp.dptk b6,.+16", |places| brp_reg(B6, Whether::Dptk, places.next));
    t.always(Unit::B, "brp.ret.sptk b6,.+16", |places| brp_ret(B6, Whether::Sptk, places.next));
    t.always(Unit::B, "brp.ret.dptk b6,.+16", |places| brp_ret(B6, Whether::Dptk, places.next));
    for (text, op) in [
        ("cover", cover as fn() -> Op),
        ("clrrrb", clrrrb),
        ("clrrrb.pr", clrrrb_pr),
        ("rfi", rfi),
        ("bsw.0", bsw_0),
        ("bsw.1", bsw_1),
        ("epc", epc),
        ("vmsw.0", vmsw_0),
        ("vmsw.1", vmsw_1),
    ] {
        t.always(Unit::B, text, move |_| op());
    }
}
