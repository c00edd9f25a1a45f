//! Instructions that the architecture has and the engine does not.

use std::fmt;

use super::bundle::Unit;
use super::word::Word;

/// An instruction that stopped the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unimplemented {
    /// Address of its bundle.
    pub ip: u64,
    /// Its slot.
    pub slot: u8,
    /// The slot's unit.
    pub unit: Unit,
    /// The 41 bits.
    pub encoding: u64,
    /// Its mnemonic, without the size of what it works on.
    pub mnemonic: &'static str,
}

impl fmt::Display for Unimplemented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ip, slot, unit, encoding, mnemonic } = self;
        let w = Word(*encoding);
        let (r1, r2, r3) = (w.r1(), w.r2(), w.r3());
        write!(f, "an instruction that the engine does not have: {mnemonic} with registers {r1}, {r2} and {r3}, {encoding:#013x} in ")?;
        write!(f, "{unit:?} slot {slot} of the bundle at {ip:#x}")
    }
}

impl std::error::Error for Unimplemented {}

/// The mnemonic of an instruction that the engine does not have; `None` if the architecture does not have it either.
pub(crate) fn mnemonic(unit: Unit, w: Word) -> Option<&'static str> {
    match (unit, w.major()) {
        (Unit::M | Unit::I, 8) => parallel_alu(w),
        (Unit::I, 7) => parallel(w),
        (Unit::M, 1) => match w.x6() {
            0x1A => Some("thash"),
            0x1B => Some("ttag"),
            0x1F => Some("tak"),
            _ => None,
        },
        (Unit::F, 0 | 1) => floating(w),
        _ => None,
    }
}

fn parallel_alu(w: Word) -> Option<&'static str> {
    Some(match (w.bits(29, 4), w.bits(27, 2)) {
        (0, 1) => "padd.sss",
        (0, 2) => "padd.uuu",
        (0, 3) => "padd.uus",
        (1, 1) => "psub.sss",
        (1, 2) => "psub.uuu",
        (1, 3) => "psub.uus",
        (2, 2) => "pavg",
        (2, 3) => "pavg.raz",
        (3, 2) => "pavgsub",
        (4, _) => "pshladd2",
        (6, _) => "pshradd2",
        _ => return None,
    })
}

fn parallel(w: Word) -> Option<&'static str> {
    if w.bit(32) {
        return None;
    }
    let two = w.bit(33);
    Some(match (w.bits(34, 2), w.bits(28, 2), w.bits(30, 2)) {
        // Bits 31:30 are the count.
        (0, 3, _) if two => "pmpyshr2",
        (0, 1, _) if two => "pmpyshr2.u",
        (0, 2, 0) | (1, 3, 0) => "pshr",
        (0, 0, 0) | (1, 1, 0) => "pshr.u",
        (0, 0, 1) | (3, 1, 1) => "pshl",
        (0, 1, 3) => "mpy4",
        (0, 3, 3) => "mpyshl4",
        (2, 0, 0) => "pack.uss",
        (2, 2, 0) => "pack.sss",
        (2, 1, 0) => "pmin1.u",
        (2, 1, 1) => "pmax1.u",
        (2, 3, 0) => "pmin2",
        (2, 3, 1) => "pmax2",
        (2, 3, 2) => "psad1",
        (2, 1, 3) => "pmpy2.r",
        (2, 3, 3) => "pmpy2.l",
        _ => return None,
    })
}

fn floating(w: Word) -> Option<&'static str> {
    if w.bit(33) {
        return (w.major() == 1).then(|| if w.bit(36) { "fprsqrta" } else { "fprcpa" });
    }
    Some(match (w.major(), w.x6()) {
        (0, 0x35) => "fswap.nl",
        (0, 0x36) => "fswap.nr",
        (1, 0x10..=0x12) => "fpmerge",
        (1, 0x14) => "fpmin",
        (1, 0x15) => "fpmax",
        (1, 0x16) => "fpamin",
        (1, 0x17) => "fpamax",
        (1, 0x18..=0x1B) => "fpcvt",
        (1, 0x30..=0x37) => "fpcmp",
        _ => return None,
    })
}
