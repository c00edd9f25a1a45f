//! How instructions are distinguished (Power ISA 3.0B, appendix D).

use super::op::Op;

/// Which instruction `word` is; none if it has no [`Op`]. Reserved fields do not matter.
#[inline]
#[must_use]
pub fn operation(word: u32) -> Option<Op> {
    Some(match word >> 26 {
        0 if word >> 1 & 0x3FF == 256 => Op::Attn,
        2 => Op::Tdi,
        3 => Op::Twi,
        7 => Op::Mulli,
        8 => Op::Subfic,
        10 => Op::Cmpli,
        11 => Op::Cmpi,
        12 => Op::Addic,
        13 => Op::AddicRecord,
        14 => Op::Addi,
        15 => Op::Addis,
        16 => Op::Bc,
        18 => Op::B,
        20 => Op::Rlwimi,
        21 => Op::Rlwinm,
        23 => Op::Rlwnm,
        24 => Op::Ori,
        25 => Op::Oris,
        26 => Op::Xori,
        27 => Op::Xoris,
        28 => Op::Andi,
        29 => Op::Andis,
        32 => Op::Lwz,
        33 => Op::Lwzu,
        34 => Op::Lbz,
        35 => Op::Lbzu,
        36 => Op::Stw,
        37 => Op::Stwu,
        38 => Op::Stb,
        39 => Op::Stbu,
        40 => Op::Lhz,
        41 => Op::Lhzu,
        42 => Op::Lha,
        43 => Op::Lhau,
        44 => Op::Sth,
        45 => Op::Sthu,
        48 => Op::Lfs,
        49 => Op::Lfsu,
        50 => Op::Lfd,
        51 => Op::Lfdu,
        52 => Op::Stfs,
        53 => Op::Stfsu,
        54 => Op::Stfd,
        55 => Op::Stfdu,
        4 => return multiply_add(word),
        17 if word & 2 != 0 => Op::Sc,
        19 => return branch_unit(word),
        30 => return doubleword_rotate(word),
        31 => return extended(word),
        58 => match word & 3 {
            0 => Op::Ld,
            1 => Op::Ldu,
            2 => Op::Lwa,
            _ => return None,
        },
        59 => return single(word),
        60 => return Some(vector_scalar(word)),
        62 => match word & 3 {
            0 => Op::Std,
            1 => Op::Stdu,
            _ => return None,
        },
        63 => return double(word),
        _ => return None,
    })
}

fn multiply_add(word: u32) -> Option<Op> {
    Some(match word & 0x3F {
        48 => Op::Maddhd,
        49 => Op::Maddhdu,
        51 => Op::Maddld,
        _ => Op::Vector,
    })
}

fn branch_unit(word: u32) -> Option<Op> {
    if word >> 1 & 0x1F == 2 {
        return Some(Op::Addpcis);
    }
    Some(match word >> 1 & 0x3FF {
        0 => Op::Mcrf,
        16 => Op::Bclr,
        528 => Op::Bcctr,
        560 => Op::Bctar,
        33 => Op::Crnor,
        129 => Op::Crandc,
        193 => Op::Crxor,
        225 => Op::Crnand,
        257 => Op::Crand,
        289 => Op::Creqv,
        417 => Op::Crorc,
        449 => Op::Cror,
        150 => Op::Isync,
        18 => Op::Rfid,
        274 => Op::Hrfid,
        146 => Op::Rfebb,
        370 => Op::Stop,
        _ => return None,
    })
}

fn doubleword_rotate(word: u32) -> Option<Op> {
    Some(match word >> 1 & 0xF {
        0 | 1 => Op::Rldicl,
        2 | 3 => Op::Rldicr,
        4 | 5 => Op::Rldic,
        6 | 7 => Op::Rldimi,
        8 => Op::Rldcl,
        9 => Op::Rldcr,
        _ => return None,
    })
}

fn extended(word: u32) -> Option<Op> {
    if word >> 1 & 0x1F == 15 {
        return Some(Op::Isel);
    }
    if let Some(op) = arithmetic(word) {
        return Some(op);
    }
    Some(match word >> 1 & 0x3FF {
        826 | 827 => Op::Sradi,
        890 | 891 => Op::Extswsli,
        777 => Op::Modsd,
        779 => Op::Modsw,
        265 => Op::Modud,
        267 => Op::Moduw,
        0 => Op::Cmp,
        32 => Op::Cmpl,
        4 => Op::Tw,
        68 => Op::Td,
        19 => Op::Mfcr,
        144 => Op::Mtcrf,
        83 => Op::Mfmsr,
        146 => Op::Mtmsr,
        178 => Op::Mtmsrd,
        339 => Op::Mfspr,
        467 => Op::Mtspr,
        371 => Op::Mftb,
        508 => Op::Cmpb,
        192 => Op::Cmprb,
        224 => Op::Cmpeqb,
        128 => Op::Setb,
        576 => Op::Mcrxrx,
        28 => Op::And,
        60 => Op::Andc,
        284 => Op::Eqv,
        476 => Op::Nand,
        124 => Op::Nor,
        444 => Op::Or,
        412 => Op::Orc,
        316 => Op::Xor,
        954 => Op::Extsb,
        922 => Op::Extsh,
        986 => Op::Extsw,
        26 => Op::Cntlzw,
        58 => Op::Cntlzd,
        538 => Op::Cnttzw,
        570 => Op::Cnttzd,
        122 => Op::Popcntb,
        378 => Op::Popcntw,
        506 => Op::Popcntd,
        154 => Op::Prtyw,
        186 => Op::Prtyd,
        252 => Op::Bpermd,
        24 => Op::Slw,
        536 => Op::Srw,
        792 => Op::Sraw,
        824 => Op::Srawi,
        27 => Op::Sld,
        539 => Op::Srd,
        794 => Op::Srad,
        87 => Op::Lbzx,
        119 => Op::Lbzux,
        279 => Op::Lhzx,
        311 => Op::Lhzux,
        343 => Op::Lhax,
        375 => Op::Lhaux,
        23 => Op::Lwzx,
        55 => Op::Lwzux,
        341 => Op::Lwax,
        373 => Op::Lwaux,
        21 => Op::Ldx,
        53 => Op::Ldux,
        790 => Op::Lhbrx,
        534 => Op::Lwbrx,
        532 => Op::Ldbrx,
        215 => Op::Stbx,
        247 => Op::Stbux,
        407 => Op::Sthx,
        439 => Op::Sthux,
        151 => Op::Stwx,
        183 => Op::Stwux,
        149 => Op::Stdx,
        181 => Op::Stdux,
        918 => Op::Sthbrx,
        662 => Op::Stwbrx,
        660 => Op::Stdbrx,
        52 => Op::Lbarx,
        116 => Op::Lharx,
        20 => Op::Lwarx,
        84 => Op::Ldarx,
        694 => Op::Stbcx,
        726 => Op::Sthcx,
        150 => Op::Stwcx,
        214 => Op::Stdcx,
        535 => Op::Lfsx,
        567 => Op::Lfsux,
        599 => Op::Lfdx,
        631 => Op::Lfdux,
        663 => Op::Stfsx,
        695 => Op::Stfsux,
        727 => Op::Stfdx,
        759 => Op::Stfdux,
        983 => Op::Stfiwx,
        844 => Op::Lxvd2x,
        972 => Op::Stxvd2x,
        855 => Op::Lfiwax,
        887 => Op::Lfiwzx,
        598 => Op::Sync,
        854 => Op::Eieio,
        278 => Op::Dcbt,
        246 => Op::Dcbtst,
        54 => Op::Dcbst,
        86 => Op::Dcbf,
        1014 => Op::Dcbz,
        982 => Op::Icbi,
        22 => Op::Icbt,
        306 => Op::Tlbie,
        274 => Op::Tlbiel,
        566 => Op::Tlbsync,
        434 => Op::Slbie,
        498 => Op::Slbia,
        466 => Op::Slbieg,
        338 => Op::Slbsync,
        30 => Op::Wait,
        302 => Op::Mfbhrbe,
        430 => Op::Clrbhrb,
        330 => Op::Mfimc,
        458 => Op::Mtimc,
        654 => Op::Tbegin,
        686 => Op::Tend,
        718 => Op::Tcheck,
        750 => Op::Tsr,
        910 => Op::Tabort,
        782 => Op::Tabortwc,
        814 => Op::Tabortdc,
        846 => Op::Tabortwci,
        878 => Op::Tabortdci,
        942 => Op::Treclaim,
        1006 => Op::Trechkpt,
        _ => return None,
    })
}

/// Instructions whose bit 21 is OE, or is reserved.
fn arithmetic(word: u32) -> Option<Op> {
    Some(match word >> 1 & 0x1FF {
        266 => Op::Add,
        10 => Op::Addc,
        138 => Op::Adde,
        234 => Op::Addme,
        202 => Op::Addze,
        489 => Op::Divd,
        457 => Op::Divdu,
        491 => Op::Divw,
        459 => Op::Divwu,
        425 => Op::Divde,
        393 => Op::Divdeu,
        427 => Op::Divwe,
        395 => Op::Divweu,
        233 => Op::Mulld,
        235 => Op::Mullw,
        104 => Op::Neg,
        40 => Op::Subf,
        8 => Op::Subfc,
        136 => Op::Subfe,
        232 => Op::Subfme,
        200 => Op::Subfze,
        73 => Op::Mulhd,
        9 => Op::Mulhdu,
        75 => Op::Mulhw,
        11 => Op::Mulhwu,
        _ => return None,
    })
}

fn vector_scalar(word: u32) -> Op {
    // Bits 21:28 of two operands, 21:29 of one.
    match (word >> 3 & 0xFF, word >> 2 & 0x1FF) {
        (64, _) => Op::Xvaddsp,
        (65, _) => Op::Xvmaddasp,
        (88, _) => Op::Xvdivsp,
        (96, _) => Op::Xvadddp,
        (97, _) => Op::Xvmaddadp,
        (120, _) => Op::Xvdivdp,
        (_, 139) => Op::Xvsqrtsp,
        (_, 203) => Op::Xvsqrtdp,
        _ => Op::Vsx,
    }
}

fn single(word: u32) -> Option<Op> {
    Some(match word >> 1 & 0x1F {
        18 => Op::Fdivs,
        20 => Op::Fsubs,
        21 => Op::Fadds,
        22 => Op::Fsqrts,
        25 => Op::Fmuls,
        28 => Op::Fmsubs,
        29 => Op::Fmadds,
        30 => Op::Fnmsubs,
        31 => Op::Fnmadds,
        _ => return None,
    })
}

fn double(word: u32) -> Option<Op> {
    Some(match word >> 1 & 0x1F {
        18 => Op::Fdiv,
        20 => Op::Fsub,
        21 => Op::Fadd,
        22 => Op::Fsqrt,
        23 => Op::Fsel,
        25 => Op::Fmul,
        28 => Op::Fmsub,
        29 => Op::Fmadd,
        30 => Op::Fnmsub,
        31 => Op::Fnmadd,
        _ => match word >> 1 & 0x3FF {
            0 => Op::Fcmpu,
            32 => Op::Fcmpo,
            12 => Op::Frsp,
            15 => Op::Fctiwz,
            814 => Op::Fctid,
            815 => Op::Fctidz,
            846 => Op::Fcfid,
            40 => Op::Fneg,
            72 => Op::Fmr,
            136 => Op::Fnabs,
            264 => Op::Fabs,
            583 => Op::Mffs,
            711 => Op::Mtfsf,
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::operation;
    use powerpc::{Extension, Extensions, Ins, Opcode};
    use proptest::prelude::*;
    use std::borrow::ToOwned;
    use std::format;
    use std::string::String;

    /// The name that another disassembler gives `word`, spelled as the engine's; `None` for what the engine or POWER9 does not have.
    fn named(word: u32) -> Option<String> {
        use Opcode::*;
        let op = Ins::new(word, Extensions::from_extension(Extension::Ppc64)).op;
        let name = match op {
            Illegal | Rfi | Dcbi | Eciwx | Ecowx | Lswi | Lswx | Stswi | Stswx | Lmw | Stmw | Mcrxr | Mfsr | Mfsrin | Mtsr | Mtsrin
            | Mtsrd | Mtsrdin => return None,
            // Vector instructions, and what the engine's part of floating point does not have.
            Dss | Dst | Dstst | Lvebx | Lvehx | Lvewx | Lvlx | Lvlxl | Lvrx | Lvrxl | Lvsl | Lvsr | Lvx | Lvxl | Stvebx | Stvehx
            | Stvewx | Stvlx | Stvlxl | Stvrx | Stvrxl | Stvx | Stvxl | Fres | Frsqrte | Mcrfs | Mtfsb0 | Mtfsb1 | Mtfsfi | Fctiw => {
                return None;
            }
            Addic_ => "addicrecord".to_owned(),
            // One instruction each here.
            Mfocrf => "mfcr".to_owned(),
            Dcbzl => "dcbz".to_owned(),
            _ => format!("{op:?}").to_lowercase().replace('_', ""),
        };
        Some(name)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

        #[test]
        fn instructions_are_what_another_disassembler_calls_them(
            primary in prop_oneof![4 => Just(31u32), 1 => Just(19), 1 => Just(30), 1 => Just(63), 1 => Just(59), 4 => 0u32..64],
            rest in any::<u32>(),
            sparse in any::<bool>(),
        ) {
            // Many forms have fields that must be zero.
            let fields = if sparse { rest & 0x3FF } else { rest & 0x03FF_FFFF };
            let word = primary << 26 | fields;
            if let Some(name) = named(word) {
                let op = operation(word).map(|op| format!("{op:?}").to_lowercase());
                prop_assert_eq!(op, Some(name), "{:#x}", word);
            }
        }
    }
}
