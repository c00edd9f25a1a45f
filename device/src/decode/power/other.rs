//! Instructions without an [`Op`](super::Op): vectors, decimal and quad-precision floating point, and what else POWER9 has (Power ISA 3.0B,
//! Book I, chapters 3 to 7). They are told apart by the groups that their extended opcodes form.

use crate::companion::{Class, Elements, Register};

use super::operands::Operands;
use super::register;
use super::word::Word;
use super::work::{Category, Floating, Work};

/// An instruction without an `Op`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) operands: Operands,
    pub(super) category: Category,
    pub(super) floating: Option<Floating>,
    /// Its access to memory: whether it stores, its bytes, and how many of it there are.
    pub(super) access: Option<(bool, u8, u8)>,
    /// It loads or stores a whole vector register.
    pub(super) vector: bool,
    /// It loads with a reservation, or stores on its condition.
    pub(super) reserves: bool,
}

impl Other {
    fn new(class: Class, width: u8, category: Category) -> Other {
        Other { operands: Operands::new(class, width), category, floating: None, access: None, vector: false, reserves: false }
    }

    fn vectors(class: Class, elements: Elements) -> Other {
        let mut other = Other::new(class, 16, Category::Vector);
        (other.operands.packed, other.operands.elements) = (true, elements);
        other
    }

    fn reads(mut self, registers: &[Register]) -> Other {
        registers.iter().for_each(|register| self.operands.read(*register));
        self
    }

    fn writes(mut self, registers: &[Register]) -> Other {
        registers.iter().for_each(|register| self.operands.write(*register));
        self
    }

    fn floating(mut self, floating: Floating) -> Other {
        (self.category, self.floating) = (Category::Floating, Some(floating));
        self
    }

    /// An access at RA or 0, plus RB if it is `indexed`.
    fn accesses(mut self, w: Word, indexed: bool, access: (bool, u8, u8)) -> Other {
        if w.ra() != 0 {
            self.operands.address(general(w.ra()));
        }
        if indexed {
            self.operands.address(general(w.rb()));
        }
        self.access = Some(access);
        self
    }
}

fn general(number: usize) -> Register {
    Register(register::GENERAL + number as u16)
}

/// VSR `number`.
fn vsr(number: usize) -> Register {
    Register(register::VECTORS + number as u16)
}

/// VR `number`.
fn vr(number: usize) -> Register {
    vsr(32 + number)
}

fn field(number: u32) -> Register {
    Register(register::CONDITION + number as u16)
}

const STATUS: Register = Register(register::FLOATING_STATUS);

/// The registers of VSX forms: their sixth bits are at the end of the word.
struct Vsx {
    t: Register,
    a: Register,
    b: Register,
    c: Register,
}

impl Vsx {
    fn of(w: Word) -> Vsx {
        let high = |bit: u32| (w.0 as usize >> bit & 1) << 5;
        Vsx { t: vsr(w.rt() | high(0)), a: vsr(w.ra() | high(2)), b: vsr(w.rb() | high(1)), c: vsr(w.rc() | high(3)) }
    }
}

/// The instruction that `word` is; none if it is no instruction.
pub(super) fn describe(word: u32) -> Option<Other> {
    let w = Word(word);
    match word >> 26 {
        4 => vmx(w),
        // scv
        17 if word & 3 == 1 => Some(Other::new(Class::Serializing, 0, Category::System)),
        31 => extended(w),
        46 | 47 => Some(multiple(w)),
        56 => Some(pair(Class::Load, w, false, Category::Load)),
        57 => match word & 3 {
            0 => Some(floating_pair(w, false, false)),
            2 => Some(scalar_vector(w, 8, false, false)),
            3 => Some(scalar_vector(w, 4, false, false)),
            _ => None,
        },
        59 => single(w),
        60 => vsx(w),
        61 => match (word & 7, word & 3) {
            (1 | 5, _) => {
                let stores = word & 7 == 5;
                // The sixth bit of the register is bit 28.
                let register = vsr(w.rt() | (word as usize >> 3 & 1) << 5);
                Some(whole(w, register, Elements::Integers, stores, false))
            }
            (_, 0) => Some(floating_pair(w, true, false)),
            (_, 2) => Some(scalar_vector(w, 8, true, false)),
            (_, 3) => Some(scalar_vector(w, 4, true, false)),
            _ => None,
        },
        62 if word & 3 == 2 => Some(pair(Class::Store, w, true, Category::Store)),
        63 => double(w),
        _ => None,
    }
}

/// `lmw` and `stmw`.
fn multiple(w: Word) -> Other {
    let stores = w.0 >> 26 == 47;
    let category = if stores { Category::Store } else { Category::Load };
    let other = Other::new(Class::Microcode, 4, category).accesses(w, false, (stores, 4, 32 - w.rt() as u8));
    // As many registers as there is room for.
    (w.rt()..32).fold(other, |other, number| {
        let register = [general(number)];
        if stores { other.reads(&register) } else { other.writes(&register) }
    })
}

/// Quadwords in two general purpose registers.
fn pair(class: Class, w: Word, stores: bool, category: Category) -> Other {
    let registers = [general(w.rt()), general((w.rt() + 1) & 31)];
    let other = Other::new(class, 16, category).accesses(w, false, (stores, 16, 1));
    if stores { other.reads(&registers) } else { other.writes(&registers) }
}

/// `lfdp`, `stfdp` and their indexed forms.
fn floating_pair(w: Word, stores: bool, indexed: bool) -> Other {
    let registers = [vsr(w.rt()), vsr((w.rt() + 1) & 31)];
    moved(w, &registers, 16, stores, indexed)
}

/// One element of a vector register.
fn scalar_vector(w: Word, bytes: u8, stores: bool, indexed: bool) -> Other {
    let elements = if bytes == 4 { Elements::Singles } else { Elements::Doubles };
    let mut other = moved(w, &[vr(w.rt())], bytes, stores, indexed);
    other.operands.elements = elements;
    other
}

/// A load or a store of these registers.
fn moved(w: Word, registers: &[Register], bytes: u8, stores: bool, indexed: bool) -> Other {
    let (class, category) = if stores { (Class::Store, Category::Store) } else { (Class::Load, Category::Load) };
    let other = Other::new(class, bytes, category).accesses(w, indexed, (stores, bytes, 1));
    if stores { other.reads(registers) } else { other.writes(registers) }
}

/// A load or a store of a whole vector register.
fn whole(w: Word, register: Register, elements: Elements, stores: bool, indexed: bool) -> Other {
    let mut other = moved(w, &[register], 16, stores, indexed);
    (other.operands.packed, other.operands.elements, other.vector) = (true, elements, true);
    other
}

/// A load or a store with an index: its extended opcode, whether it stores, its bytes, and its register.
type Indexed = (u32, bool, u8, Target);

#[derive(Clone, Copy)]
enum Target {
    /// VR, an element of it.
    VrElement,
    /// VR, all of it.
    Vr,
    /// VSR, one number.
    VsrScalar,
    /// VSR, all of it.
    Vsr,
}

#[rustfmt::skip]
const INDEXED: [Indexed; 37] = [
    (7, false, 1, Target::VrElement), (39, false, 2, Target::VrElement), (71, false, 4, Target::VrElement),
    (103, false, 16, Target::Vr), (359, false, 16, Target::Vr),
    (135, true, 1, Target::VrElement), (167, true, 2, Target::VrElement), (199, true, 4, Target::VrElement),
    (231, true, 16, Target::Vr), (487, true, 16, Target::Vr),
    // lxsiwzx, lxsiwax, lxsibzx, lxsihzx, lxsspx, lxsdx
    (12, false, 4, Target::VsrScalar), (76, false, 4, Target::VsrScalar), (781, false, 1, Target::VsrScalar),
    (813, false, 2, Target::VsrScalar), (524, false, 4, Target::VsrScalar), (588, false, 8, Target::VsrScalar),
    // stxsiwx, stxsibx, stxsihx, stxsspx, stxsdx
    (140, true, 4, Target::VsrScalar), (909, true, 1, Target::VsrScalar), (941, true, 2, Target::VsrScalar),
    (652, true, 4, Target::VsrScalar), (716, true, 8, Target::VsrScalar),
    // lxvx, lxvl, lxvll, lxvw4x, lxvh8x, lxvb16x, lxvd2x
    (268, false, 16, Target::Vsr), (300, false, 16, Target::Vsr), (269, false, 16, Target::Vsr), (301, false, 16, Target::Vsr),
    (780, false, 16, Target::Vsr), (812, false, 16, Target::Vsr), (876, false, 16, Target::Vsr),
    // lxvdsx and lxvwsx load one element for all.
    (332, false, 8, Target::Vsr), (364, false, 4, Target::Vsr),
    // stxvx, stxvl, stxvll, stxvw4x, stxvh8x, stxvb16x
    (396, true, 16, Target::Vsr), (397, true, 16, Target::Vsr), (429, true, 16, Target::Vsr),
    (908, true, 16, Target::Vsr), (940, true, 16, Target::Vsr), (1004, true, 16, Target::Vsr),
    // stxvx with its reserved bit
    (428, true, 16, Target::Vsr),
];

/// Primary opcode 31.
fn extended(w: Word) -> Option<Other> {
    let number = w.0 >> 1 & 0x3FF;
    if let Some((_, stores, bytes, target)) = INDEXED.iter().find(|(known, ..)| *known == number) {
        return Some(indexed(w, *stores, *bytes, *target));
    }
    let [a, b, t] = [w.ra(), w.rb(), w.rt()].map(general);
    let vector = vsr(w.rt() | (w.0 as usize & 1) << 5);
    let system = |class| Other::new(class, 0, Category::System);
    Some(match number {
        // lvsl, lvsr: of the address alone.
        6 | 38 => {
            let mut other = Other::vectors(Class::VectorPermute, Elements::Integers).accesses(w, true, (false, 0, 0)).writes(&[vr(w.rt())]);
            other.access = None;
            other
        }
        // mfvsrd, mfvsrwz, mfvsrld
        51 | 307 => Other::new(Class::FromVector, 8, Category::Vector).reads(&[vector]).writes(&[a]),
        115 => Other::new(Class::FromVector, 4, Category::Vector).reads(&[vector]).writes(&[a]),
        // mtvsrd, mtvsrwa, mtvsrwz, mtvsrws, mtvsrdd
        179 => Other::new(Class::ToVector, 8, Category::Vector).reads(&[a]).writes(&[vector]),
        211 | 243 | 403 => Other::new(Class::ToVector, 4, Category::Vector).reads(&[a]).writes(&[vector]),
        435 => {
            let base: &[Register] = if w.ra() == 0 { &[] } else { &[a] };
            Other::new(Class::ToVector, 16, Category::Vector).reads(base).reads(&[b]).writes(&[vector])
        }
        791 => floating_pair(w, false, true),
        919 => floating_pair(w, true, true),
        // lqarx, stqcx.
        276 | 182 => {
            let stores = number == 182;
            let registers = [t, general((w.rt() + 1) & 31)];
            let (class, category) = if stores { (Class::CompareExchange, Category::Store) } else { (Class::Load, Category::Load) };
            let mut other = Other::new(class, 16, category).accesses(w, true, (stores, 16, 1));
            other.reserves = true;
            if stores { other.reads(&registers).writes(&[field(0)]) } else { other.writes(&registers) }
        }
        // lwat, ldat, stwat, stdat
        582 | 614 | 710 | 742 => {
            let width = if matches!(number, 582 | 710) { 4 } else { 8 };
            let stores = number >= 710;
            let category = if stores { Category::Store } else { Category::Load };
            let other = Other::new(Class::Exchange, width, category).accesses(w, false, (true, width, 1));
            if stores { other.reads(&[t]) } else { other.reads(&[general((w.rt() + 1) & 31)]).writes(&[t]) }
        }
        // lswi, lswx, stswi, stswx: of a number of bytes that a field or XER has.
        597 | 533 | 725 | 661 => {
            let stores = number >= 661;
            let category = if stores { Category::Store } else { Category::Load };
            let other = Other::new(Class::Microcode, 4, category).accesses(w, matches!(number, 533 | 661), (stores, 4, u8::MAX));
            if stores { other.reads(&[t]) } else { other.writes(&[t]) }
        }
        // ldmx
        309 => Other::new(Class::Load, 8, Category::Load).accesses(w, true, (false, 8, 1)).writes(&[t]),
        // copy, paste.
        774 => Other::new(Class::Load, 0, Category::Load).accesses(w, true, (false, 128, 1)),
        902 => Other::new(Class::Paste, 0, Category::Store).accesses(w, true, (true, 128, 1)).writes(&[field(0)]),
        838 => system(Class::System),
        // darn
        755 => Other::new(Class::System, 8, Category::SpecialRegister).writes(&[t]),
        // addg6s, cdtbcd, cbcdtd
        74 => Other::new(Class::Simple, 8, Category::Fixed).reads(&[a, b]).writes(&[t]),
        282 | 314 => Other::new(Class::Simple, 8, Category::Fixed).reads(&[t]).writes(&[a]),
        // msgsnd, msgclr, msgsndp, msgclrp, msgsync
        206 | 238 | 142 | 174 => system(Class::System).reads(&[b]),
        886 => system(Class::Fence),
        // slbmte, slbmfee, slbmfev, slbfee.
        402 => system(Class::System).reads(&[t, b]),
        915 | 851 => system(Class::System).reads(&[b]).writes(&[t]),
        979 => system(Class::System).reads(&[b]).writes(&[t, field(0)]),
        // addex, of nine bits and CY: the carry is OV.
        number if number & 0xFF == 170 => {
            let overflow = Register(register::OVERFLOW);
            Other::new(Class::AddWithCarry, 8, Category::Fixed).reads(&[a, b, overflow]).writes(&[t, overflow])
        }
        _ => return None,
    })
}

fn indexed(w: Word, stores: bool, bytes: u8, target: Target) -> Other {
    let vsr = vsr(w.rt() | (w.0 as usize & 1) << 5);
    match target {
        Target::VrElement => {
            // The rest of a loaded register is undefined, not kept.
            let mut other = moved(w, &[vr(w.rt())], bytes, stores, true);
            other.operands.elements = Elements::Integers;
            other
        }
        Target::Vr => whole(w, vr(w.rt()), Elements::Integers, stores, true),
        Target::VsrScalar => moved(w, &[vsr], bytes, stores, true),
        Target::Vsr => {
            let other = whole(w, vsr, Elements::Integers, stores, true);
            Other { access: Some((stores, bytes, 1)), vector: bytes == 16, ..other }
        }
    }
}

/// Vectors, primary opcode 4.
fn vmx(w: Word) -> Option<Other> {
    let [a, b, c, t] = [w.ra(), w.rb(), w.rc(), w.rt()].map(vr);
    let integers = |class| Other::vectors(class, Elements::Integers);
    // Forms of three sources.
    let three = w.0 & 0x3F;
    let other = match three {
        32..=41 => integers(Class::VectorMultiply),
        42 => integers(Class::Vector),
        43 => return Some(integers(Class::VectorPermute).reads(&[a, b]).writes(&[t])),
        44 => integers(Class::Crypto),
        45 | 59 => integers(Class::VectorPermute),
        46 | 47 => {
            let floating = Floating::Math { work: Work::Fused, single: true, vector: true };
            Other::vectors(Class::FloatMultiplyAdd, Elements::Singles).floating(floating)
        }
        60..=63 => integers(Class::Vector),
        _ => return two(w),
    };
    Some(other.reads(&[a, b, c]).writes(&[t]))
}

/// Forms of two sources or one: 11 bits of extended opcode.
fn two(w: Word) -> Option<Other> {
    let number = w.0 & 0x7FF;
    let [a, b, t] = [w.ra(), w.rb(), w.rt()].map(vr);
    let integers = |class| Other::vectors(class, Elements::Integers);
    let singles = |class, floating| Other::vectors(class, Elements::Singles).floating(floating);
    let math = |work| Floating::Math { work, single: true, vector: true };
    let other = match number & 0x3F {
        0 | 3 | 5 => integers(Class::Vector),
        1 => integers(Class::Decimal).writes(&[field(6)]),
        2 if matches!(number, 1666 | 1730) => integers(Class::Crypto),
        2 => integers(Class::Vector),
        // mfvscr, mtvscr
        4 if number == 1540 => return Some(integers(Class::System).writes(&[t])),
        4 if number == 1604 => return Some(integers(Class::System).reads(&[b])),
        4 => integers(Class::Vector),
        6 | 7 => {
            let other = match number & 0x3FF {
                198 | 454 | 710 | 966 => singles(Class::FloatCompare, math(Work::One)),
                _ => integers(Class::Vector),
            };
            if number & 0x400 != 0 { other.writes(&[field(6)]) } else { other }
        }
        8 | 9 => match number {
            // vpmsum, vcipher, vncipher, vsbox
            1032 | 1096 | 1160 | 1224 | 1288 | 1289 | 1352 | 1353 | 1480 => integers(Class::Crypto),
            _ => integers(Class::VectorMultiply),
        },
        10 => match number {
            10 | 74 => singles(Class::FloatAdd, math(Work::One)),
            1034 | 1098 => singles(Class::FloatMove, math(Work::One)),
            266 | 330 | 394 | 458 => singles(Class::FloatEstimate, math(Work::One)),
            906 | 970 => integers(Class::FloatConvert).floating(Floating::Move),
            522..=842 => singles(Class::FloatConvert, Floating::Move),
            _ => return None,
        },
        // vextublx and its like move an element to a general purpose register.
        13 if number >= 1549 => {
            return Some(integers(Class::FromVector).reads(&[general(w.ra()), b]).writes(&[general(w.rt())]));
        }
        12..=14 => integers(Class::VectorPermute),
        _ => return None,
    };
    Some(if has_one_source(number) { other.reads(&[b]) } else { other.reads(&[a, b]) }.writes(&[t]))
}

/// Whether the field of the first source is an immediate or extends the opcode: splats (whose immediate is in it, without a source), roundings,
/// conversions, estimates, unpacking, counts, extensions and extractions.
fn has_one_source(number: u32) -> bool {
    match number & 0x3F {
        2 => matches!(number, 1538 | 1666 | 1730 | 1794 | 1858 | 1922 | 1986),
        3 => matches!(number, 1795 | 1859 | 1923 | 1987),
        8 => number == 1480,
        10 => matches!(number, 266 | 330 | 394 | 458 | 522..=970),
        12 => matches!(number, 524 | 588 | 652 | 780 | 844 | 908 | 1292),
        13 => matches!(number, 525 | 589 | 653 | 717 | 781 | 845 | 909 | 973),
        14 => matches!(number, 526 | 590 | 654 | 718 | 846 | 974 | 1614 | 1742),
        _ => false,
    }
}

/// Vectors and scalars in the 64 registers, primary opcode 60: bits 21 to 28 of those of two sources, 21 to 29 of those of one.
fn vsx(w: Word) -> Option<Other> {
    let Vsx { t, a, b, c } = Vsx::of(w);
    let (number, longer) = (w.0 >> 3 & 0xFF, w.0 >> 2 & 0x1FF);
    // xxsel
    if w.0 >> 4 & 3 == 3 {
        return Some(Other::vectors(Class::Vector, Elements::Integers).reads(&[a, b, c]).writes(&[t]));
    }
    Some(match number & 7 {
        0 if number < 128 => {
            let (class, work) = match number >> 3 & 3 {
                0 | 1 => (Class::FloatAdd, Work::One),
                2 => (Class::FloatMultiply, Work::One),
                _ => (Class::FloatDivide, Work::Divide),
            };
            numbers(number, class, work).reads(&[a, b]).writes(&[t, STATUS])
        }
        // Maximum, minimum, the sign of another, and the exponent of another, which is no arithmetic.
        0 if number >> 3 & 3 == 3 && number >= 192 => {
            numbers(number, Class::FloatMove, Work::One).floating(Floating::Move).reads(&[a, b]).writes(&[t])
        }
        0 => numbers(number, Class::FloatMove, Work::One).reads(&[a, b]).writes(&[t]),
        1 => numbers(number, Class::FloatMultiplyAdd, Work::Fused).reads(&[a, b, t]).writes(&[t, STATUS]),
        2 if number >= 128 => Other::vectors(Class::Vector, Elements::Integers).reads(&[a, b]).writes(&[t]),
        2 => permutation(w, number, longer),
        3 if matches!(number, 35 | 43 | 59) => {
            numbers(number, Class::FloatCompare, Work::One).reads(&[a, b]).writes(&[field(w.bf()), STATUS])
        }
        3 => {
            let other = numbers(number & 0x7F, Class::FloatCompare, Work::One).reads(&[a, b]).writes(&[t, STATUS]);
            if number >= 192 { other.writes(&[field(6)]) } else { other }
        }
        _ => return of_one(w, number, longer),
    })
}

/// Arithmetic whose format bits 21 and 22 of `number`'s eight choose: scalar single, scalar double, vectors of singles, vectors of doubles.
fn numbers(number: u32, class: Class, work: Work) -> Other {
    let (vector, single) = (number >> 6 & 1 != 0, number >> 5 & 1 == 0);
    let width = match (vector, single) {
        (true, _) => 16,
        (false, true) => 4,
        (false, false) => 8,
    };
    let mut other = Other::new(class, width, Category::Floating).floating(Floating::Math { work, single, vector });
    (other.operands.packed, other.operands.elements) = (vector, if single { Elements::Singles } else { Elements::Doubles });
    other
}

fn permutation(w: Word, number: u32, longer: u32) -> Other {
    let Vsx { t, a, b, .. } = Vsx::of(w);
    let other = Other::vectors(Class::VectorPermute, Elements::Integers);
    match (number, longer) {
        // xxspltib
        (_, 180) => other,
        // xxspltw, xxextractuw
        (_, 164 | 165) => other.reads(&[b]),
        // xxinsertw, and xxperm and xxpermr, whose first source is the target.
        (_, 181) => other.reads(&[b, t]),
        (26 | 58, _) => other.reads(&[a, b, t]),
        _ => other.reads(&[a, b]),
    }
    .writes(&[t])
}

/// Forms of one source: conversions, roundings, estimates, roots, signs and tests.
fn of_one(w: Word, number: u32, longer: u32) -> Option<Other> {
    let Vsx { t, a, b, .. } = Vsx::of(w);
    // xstdivdp, xvtdivsp, xvtdivdp
    if matches!(number, 61 | 93 | 125) {
        return Some(numbers(number, Class::FloatCompare, Work::One).reads(&[a, b]).writes(&[field(w.bf())]));
    }
    // Bits 23 and 22 of the shorter number are where the format is.
    let of = |class, work| numbers(longer >> 1, class, work);
    Some(match (longer & 0xF, longer) {
        (_, 426 | 427 | 442 | 443 | 490 | 491 | 506 | 507) => of(Class::FloatCompare, Work::One).reads(&[b]).writes(&[t]),
        (10, 10 | 74 | 138 | 202 | 26 | 90 | 154 | 218) => of(Class::FloatEstimate, Work::One).reads(&[b]).writes(&[t, STATUS]),
        (10, 106 | 170 | 234 | 298 | 362) => of(Class::FloatCompare, Work::One).reads(&[b]).writes(&[field(w.bf())]),
        (11, 11 | 75 | 139 | 203) => of(Class::FloatSquareRoot, Work::Divide).reads(&[b]).writes(&[t, STATUS]),
        // xsxexpdp and xsxsigdp, whose result is in a general purpose register.
        (11, 347) if w.ra() <= 1 => Other::new(Class::FromVector, 8, Category::Vector).reads(&[b]).writes(&[general(w.rt())]),
        // xsiexpdp
        (11, 459) => Other::new(Class::ToVector, 8, Category::Vector).reads(&[general(w.ra()), general(w.rb())]).writes(&[t]),
        (9, 345 | 361 | 377 | 409 | 425 | 441 | 473 | 489 | 505) => of(Class::FloatMove, Work::One).reads(&[b]).writes(&[t]),
        (8, _) => {
            let mut other = of(Class::FloatConvert, Work::One).floating(Floating::Move);
            if longer & 0x20 == 0 {
                other.operands.elements = Elements::Integers;
            }
            other.reads(&[b]).writes(&[t, STATUS])
        }
        (9, _) | (11, 107 | 171 | 235 | 267 | 331 | 347 | 475) => {
            of(Class::FloatConvert, Work::One).floating(Floating::Move).reads(&[b]).writes(&[t, STATUS])
        }
        _ => return None,
    })
}

/// Primary opcode 59 apart from single arithmetic.
fn single(w: Word) -> Option<Other> {
    let [b, t] = [w.rb(), w.rt()].map(vsr);
    let math = Floating::Math { work: Work::One, single: true, vector: false };
    let other = match (w.0 >> 1 & 0x1F, w.0 >> 1 & 0x3FF) {
        (2 | 3, _) => return Some(decimal(w, false)),
        (24 | 26, _) => Other::new(Class::FloatEstimate, 4, Category::Floating).floating(math),
        (14, 846 | 974) => Other::new(Class::FloatConvert, 4, Category::Floating).floating(Floating::Move),
        _ => return None,
    };
    Some(recorded(other.reads(&[b]).writes(&[t, STATUS]), w))
}

/// Primary opcode 63 apart from double arithmetic.
fn double(w: Word) -> Option<Other> {
    let [a, b, t] = [w.ra(), w.rb(), w.rt()].map(vsr);
    let new = |class| Other::new(class, 8, Category::Floating);
    let math = Floating::Math { work: Work::One, single: false, vector: false };
    let other = match (w.0 >> 1 & 0x1F, w.0 >> 1 & 0x3FF) {
        (2 | 3, _) => return Some(decimal(w, true)),
        (4 | 5, _) => return Some(quad(w)),
        (24 | 26, _) => new(Class::FloatEstimate).floating(math).reads(&[b]).writes(&[t, STATUS]),
        // fcpsgn
        (_, 8) => new(Class::FloatMove).floating(math).reads(&[a, b]).writes(&[t]),
        // fmrgew, fmrgow
        (_, 966 | 838) => return Some(new(Class::FloatMove).floating(Floating::Move).reads(&[a, b]).writes(&[t])),
        // frin, friz, frip, frim, and conversions
        (_, 392 | 424 | 456 | 488 | 14 | 142 | 143 | 942 | 943 | 974) => {
            new(Class::FloatConvert).floating(Floating::Move).reads(&[b]).writes(&[t, STATUS])
        }
        // mtfsb1, mtfsb0, mtfsfi
        (_, 38 | 70 | 134) => new(Class::StatusWrite).floating(Floating::Move).reads(&[STATUS]).writes(&[STATUS]),
        // mcrfs
        (_, 64) => return Some(new(Class::System).floating(Floating::Move).reads(&[STATUS]).writes(&[field(w.bf()), STATUS])),
        // ftdiv, ftsqrt
        (_, 128) => return Some(new(Class::FloatCompare).floating(math).reads(&[a, b]).writes(&[field(w.bf())])),
        (_, 160) => return Some(new(Class::FloatCompare).floating(math).reads(&[b]).writes(&[field(w.bf())])),
        _ => return None,
    };
    Some(recorded(other, w))
}

/// With Rc=1 CR field 1 gets a copy of FPSCR.
fn recorded(other: Other, w: Word) -> Other {
    if w.record() { other.reads(&[STATUS]).writes(&[field(1)]) } else { other }
}

/// Decimal floating point, of 16 bytes in pairs of registers if `long`.
fn decimal(w: Word, long: bool) -> Other {
    let (low, number) = (w.0 >> 1 & 0x1FF, w.0 >> 1 & 0x3FF);
    let compares = matches!(low, 194 | 226) || matches!(number, 130 | 642 | 162 | 674 | 675);
    let of = |number: usize| [vsr(number), vsr(if long { (number + 1) & 31 } else { number })];
    let other = Other::new(Class::Decimal, if long { 16 } else { 8 }, Category::Floating).floating(Floating::Move);
    // drintx and the like, conversions: one source. dscli and dscri shift FRA; the other forms have two.
    let other = match number & 0xFF {
        66 | 98 | 194 | 226 => other.reads(&of(w.ra())),
        99 | 227 => other.reads(&of(w.rb())),
        _ if matches!(number, 258 | 770 | 802 | 290 | 322 | 834 | 354 | 675) => other.reads(&of(w.rb())),
        _ => other.reads(&of(w.ra())).reads(&of(w.rb())),
    };
    if compares {
        return other.writes(&[field(w.bf()), STATUS]);
    }
    recorded(other.writes(&of(w.rt())).writes(&[STATUS]), w)
}

/// Quad-precision floating point.
fn quad(w: Word) -> Other {
    let [a, b, t] = [w.ra(), w.rb(), w.rt()].map(vr);
    let number = w.0 >> 1 & 0x3FF;
    let other = Other::new(Class::Decimal, 16, Category::Floating).floating(Floating::Move);
    match number {
        132 | 644 | 164 => other.reads(&[a, b]).writes(&[field(w.bf()), STATUS]),
        708 => other.reads(&[b]).writes(&[field(w.bf()), STATUS]),
        388 | 420 | 452 | 484 => other.reads(&[a, b, t]).writes(&[t, STATUS]),
        804 | 836 => other.reads(&[b]).writes(&[t, STATUS]),
        _ if number & 0x1F == 5 => other.reads(&[b]).writes(&[t, STATUS]),
        _ => other.reads(&[a, b]).writes(&[t, STATUS]),
    }
}
