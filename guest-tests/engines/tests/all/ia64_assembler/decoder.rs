//! Against the decoder of yaxpeax-ia64.

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_ia64::InstDecoder;

use super::cases::system::CONTROL;
use super::cases::{Case, Unit, all, assembled};

/// What version 0.3.0 of the decoder decodes wrongly, by the beginnings of instructions on which GNU `as` and the manual agree.
const MISREAD: [(&str, &str); 33] = [
    ("tf.z.unc", "p1 has seven bits, of which one is the completer's"),
    ("tf.nz", "p1 has seven bits, of which one is the completer's"),
    ("tf.", "the number has not its 32 more"),
    ("pmpyshr2", "the code of the count, not the count"),
    ("pmpy2", "taken for pmpyshr2: the field x2a is not looked at"),
    ("mix", "unknown"),
    ("pack", "taken for a shift: the field x2a is not looked at"),
    ("unpack", "unknown, or taken for a shift"),
    ("pmin", "unknown, or taken for pmpyshr2"),
    ("pmax", "unknown, or taken for pmpyshr2"),
    ("psad1", "unknown"),
    ("mux", "unknown"),
    ("pshl2 r101=r58", "pshl1, or unknown with a number"),
    ("pshl4 r101=r58,29", "unknown"),
    ("pshr4 r101=r37,29", "unknown"),
    ("pshr4.u r101=r37,29", "unknown"),
    ("ld2.bias", "unknown with an increment by a number"),
    ("ld4.bias", "unknown with an increment by a number"),
    ("ld2.acq", "unknown with an increment by a number"),
    ("ld4.acq", "unknown with an increment by a number"),
    ("ld16", "an increment by r0 is added"),
    ("ldfs.a", "taken for a load of a pair without an increment by a number"),
    ("ldfs.sa", "taken for a load of a pair without an increment by a number"),
    ("lfetch", "the increment has no sign"),
    ("fetchadd", "the code of the number, not the number"),
    ("fc.i", "taken for fc"),
    ("chk.s", "the distance is not whole, and in an I slot the registers are others"),
    ("chk.a", "the distance has no sign"),
    ("fchkf", "the distance has no sign"),
    ("fpcmp", "unknown"),
    ("mov pr=", "the mask lacks its highest bit, and its lowest, which is none"),
    ("fclass", "the parts of the classes are exchanged"),
    ("brl", "the distance is in bundles and has no sign, hints are not read"),
];

/// What it writes in another way with the same meaning: our text, its text.
const OTHERWISE: [(&str, &str); 41] = [
    ("add r101=r58,r37,1", "addplusone r101=r58,r37"),
    ("sub r101=r58,r37,1", "subminusone r101=r58,r37"),
    ("cmp.ne p51,p14=", "cmp.eq p14,p51="),
    ("cmp.ge p51,p14=r58", "cmp.lt p14,p51=r58"),
    ("cmp.geu p51,p14=", "cmp.ltu p14,p51="),
    ("tbit.nz p51,p14=", "tbit.z p14,p51="),
    ("extr r101=r37,0,64", "shr r101=r37,0"),
    ("extr.u r101=r37,63,1", "shr.u r101=r37,63"),
    ("dep.z r101=-86", "dep.z r101=18446744073709551530"),
    ("dep r101=-1", "dep r101=1"),
    ("pshladd2 r101=r58,3,r37", "pshladd2 r101=r58,r37,3"),
    ("pshradd2 r101=r58,2,r37", "pshradd2 r101=r58,r37,2"),
    ("pshr2 r101=r37,13", "pshr2.fixed r101=r37,13"),
    ("pshr2.u r101=r37,13", "pshr2.u.fixed r101=r37,13"),
    ("ar.k", "ar.kr"),
    ("mov b5=r58", "mov b5=r58,0"),
    ("b5=r58,.+0", "b5=r58,0"),
    ("b5=r58,.+16", "b5=r58,1"),
    ("pr.rot=6209006796800", "pr=94741925"),
    ("pr.rot=-65536", "pr=18446744073709551615"),
    ("r101=first", "r101=0"),
    (",ar.csd,ar.ccv", ""),
    (",ar.ccv", ""),
    ("=r58,ar.csd", "=r58"),
    ("invala.e r101", "invala.e.int r101"),
    ("invala.e f101", "invala.e.fp f101"),
    // The frame, the locals with the inputs, and the rotating ones by eights.
    ("3,20,5,16", "28,23,2"),
    ("0,0,96,96", "96,0,12"),
    ("fadd.s0 f101=f37", "fma.s0 f101=f37,f1"),
    ("fadd.d.s0 f101=f37", "fma.d.s0 f101=f37,f1"),
    ("fsub.s0 f101=f37", "fms.s0 f101=f37,f1"),
    ("mov f101=f37", "fmerge.s f101=f37,f37"),
    ("fabs f101=f37", "fmerge.s f101=f0,f37"),
    ("fneg f101=f37", "fmerge.ns f101=f37,f37"),
    ("frsqrta", "frsqta"),
    ("br.ia.sptk.few b2", "br.ia b2,0,0,0"),
    ("brp.sptk b6,.+16", "brp b6,1,0,0"),
    ("brp.dptk b6,.+16", "brp b6,1,0,2"),
    ("brp.ret.sptk b6,.+16", "brp.ret b6,1,0,0"),
    ("brp.ret.dptk b6,.+16", "brp.ret b6,1,0,2"),
    ("clrrrb", "clrrb"),
];

/// Its numbers of the hints of branches that have no separate form.
const HINTS: [(&str, &str); 4] = [("sptk", "0"), ("spnt", "1"), ("dptk", "2"), ("dpnt", "3")];

fn decoded(case: &Case, bundle: &[u8]) -> String {
    let mut reader = U8Reader::new(bundle);
    match InstDecoder::default().decode(&mut reader) {
        Ok(decoded) => {
            let slot = match case.unit {
                Unit::M => 0,
                Unit::B => 2,
                _ => 1,
            };
            decoded.instructions().get(slot).map_or_else(String::new, |instruction| decimal(&instruction.to_string()))
        }
        Err(error) => error.to_string(),
    }
}

/// Numbers in decimal, so that notation does not matter.
fn decimal(text: &str) -> String {
    let mut decimal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let (before, number) = (&rest[..at], &rest[at + 2..]);
        let digits = number.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(number.len());
        decimal.push_str(before);
        decimal.push_str(&u64::from_str_radix(&number[..digits], 16).unwrap().to_string());
        rest = &number[digits..];
    }
    decimal + rest
}

/// How the decoder would write our text; `first` and `end` are as far away as this.
fn expected(case: &Case, first: usize, end: usize) -> String {
    let mut text = decimal(&case.text).replace(".nta", ".nt3");
    for (hint, number) in HINTS {
        for name in ["br.wexit", "br.wtop"] {
            if text == format!("{name}.{hint}.few first") {
                text = format!("{name} -{first},0,{number},0");
            }
        }
    }
    for (number, name) in ["sptk", "loop", "dptk", "exit"].into_iter().enumerate() {
        // Its distance is in bundles, with 21 bits and no sign.
        text = text.replace(&format!("brp.{name} first,.+16"), &format!("brp.ipwh.ih {},1,0,{number}", (1 << 21) - first / 16));
        text = text.replace(&format!("brp.{name} end,.+16"), &format!("brp.ipwh.ih {},1,0,{number}", end / 16));
    }
    if text.starts_with("br.") {
        text = text.replace("first", &format!("$-{first}")).replace("end", &format!("$+{end}"));
    }
    for (register, name) in CONTROL {
        if let Some(start) = text.strip_suffix(&format!("=cr.{name}")) {
            text = format!("{start}=cr{}", register.number());
        }
        text = text.replace(&format!("cr.{name}="), &format!("cr{}=", register.number()));
    }
    if let Some((ours, theirs)) = OTHERWISE.iter().find(|(ours, _)| text.contains(ours)) {
        text = text.replace(ours, theirs);
    }
    match case.predicate.number() {
        0 => text,
        predicate => format!("(p{predicate}) {text}"),
    }
}

fn misread(case: &Case) -> impl Iterator<Item = &'static str> {
    MISREAD.iter().map(|(start, _)| *start).filter(|start| case.text.starts_with(start))
}

/// The cases that the decoder reads in another way than we write them.
fn differing(cases: &[Case]) -> Vec<(&Case, String)> {
    let code = assembled(cases);
    let bundles = code.chunks(16).enumerate().map(|(number, bundle)| (16 * number, bundle));
    let read = cases.iter().zip(bundles).map(|(case, (address, bundle))| {
        let (ours, theirs) = (expected(case, address, code.len() - address), decoded(case, bundle));
        (case, ours == theirs, format!("{ours}: {theirs}"))
    });
    read.filter(|(_, same, _)| !same).map(|(case, _, what)| (case, what)).collect()
}

#[test]
fn the_decoder_reads_what_was_written() {
    let cases = all();
    let wrong: Vec<_> = differing(&cases).into_iter().filter(|(case, _)| misread(case).next().is_none()).map(|(_, what)| what).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), cases.len());
}

#[test]
fn what_the_decoder_is_said_to_misread_it_misreads() {
    let cases = all();
    let differing = differing(&cases);
    for (start, why) in MISREAD {
        assert!(differing.iter().any(|(case, _)| misread(case).any(|found| found == start)), "{start}: {why}");
    }
}
