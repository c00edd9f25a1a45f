//! The operands of an instruction, by the fields of its word (Power ISA 3.0B, Books I and II).

use crate::companion::{Class, Register};

use super::access::{Conversion, Form, LoadStore, load_store};
use super::op::Op;
use super::operation::operation;
use super::register::{self, spr};
use super::word::Word;
use super::work::{is_vector, vector_work};

/// The most registers of an instruction: MTCRF reads one and writes eight.
const MOST: usize = crate::decode::MOST_REGISTERS;

/// The operands of a POWER instruction. [`register`] has the numbers.
pub type Operands = crate::decode::Operands<MOST>;

/// The operands of the instruction in `word`; none if it has no [`Op`].
#[must_use]
pub fn operands(word: u32) -> Option<Operands> {
    operation(word).map(|op| of_operation(op, Word(word)))
}

/// The operands of a word whose operation is known.
pub(super) fn of_operation(op: Op, w: Word) -> Operands {
    let (class, width) = (class(op, w), width(op, w));
    let mut operands = Operands::new(class, width);
    if class == Class::Nop {
        return operands;
    }
    operands.packed = is_vector(op);
    let mut list = List { operands: &mut operands, w };
    if let Some(access) = load_store(op) {
        list.access(&access);
    } else if !(list.memory(op) || list.branch(op) || list.condition(op) || list.float(op) || list.special(op)) {
        list.fixed(op);
    }
    operands
}

fn general(number: usize) -> Register {
    Register(register::GENERAL + number as u16)
}

fn vector(number: usize) -> Register {
    Register(register::VECTORS + number as u16)
}

fn field(number: u32) -> Register {
    Register(register::CONDITION + number as u16)
}

/// The field that has bit `bit` of CR.
fn field_of_bit(bit: usize) -> Register {
    field(bit as u32 / 4)
}

/// A special purpose register that the others wait for.
fn renamed(number: u16) -> &'static [Register] {
    match number {
        spr::XER => &[Register(register::CARRY), Register(register::OVERFLOW)],
        spr::LR => &[Register(register::LINK)],
        spr::CTR => &[Register(register::COUNT)],
        spr::TAR => &[Register(register::TARGET)],
        _ => &[],
    }
}

/// The lists of an instruction that are being made.
struct List<'a> {
    operands: &'a mut Operands,
    w: Word,
}

impl List<'_> {
    fn read(&mut self, registers: &[Register]) {
        registers.iter().for_each(|register| self.operands.read(*register));
    }

    fn write(&mut self, registers: &[Register]) {
        registers.iter().for_each(|register| self.operands.write(*register));
    }

    /// RA, unless its field is 0, which stands for the value 0.
    fn base(&mut self) {
        if self.w.ra() != 0 {
            self.operands.address(general(self.w.ra()));
        }
    }

    fn indexed(&mut self) {
        self.base();
        self.operands.address(general(self.w.rb()));
    }

    /// A result in a general purpose register, and with Rc=1 in CR field 0.
    fn result(&mut self, number: usize, record: bool) {
        self.write(&[general(number)]);
        if record {
            self.write(&[field(0)]);
        }
    }

    fn access(&mut self, access: &LoadStore) {
        self.base();
        if access.form == Form::X {
            self.operands.address(general(self.w.rb()));
        }
        let data = if access.is_floating() { vector(self.w.rt()) } else { general(self.w.rt()) };
        if access.store {
            self.read(&[data]);
        } else {
            self.write(&[data]);
        }
        if access.update {
            self.write(&[general(self.w.ra())]);
        }
    }

    /// Loads and stores that [`load_store`] does not have, and cache blocks.
    fn memory(&mut self, op: Op) -> bool {
        let w = self.w;
        let target = vector(w.rt() | (w.0 as usize & 1) << 5);
        match op {
            Op::Lbarx | Op::Lharx | Op::Lwarx | Op::Ldarx => {
                self.indexed();
                self.write(&[general(w.rt())]);
            }
            Op::Stbcx | Op::Sthcx | Op::Stwcx | Op::Stdcx => {
                self.indexed();
                self.read(&[general(w.rt())]);
                self.write(&[field(0)]);
            }
            Op::Lxvd2x => {
                self.indexed();
                self.write(&[target]);
            }
            Op::Stxvd2x => {
                self.indexed();
                self.read(&[target]);
            }
            Op::Dcbf | Op::Dcbst | Op::Dcbt | Op::Dcbtst | Op::Dcbz | Op::Icbi | Op::Icbt => self.indexed(),
            _ => return false,
        }
        true
    }

    fn branch(&mut self, op: Op) -> bool {
        let w = self.w;
        let through = match op {
            Op::B | Op::Bc => None,
            Op::Bclr => Some(register::LINK),
            Op::Bcctr => Some(register::COUNT),
            Op::Bctar => Some(register::TARGET),
            _ => return false,
        };
        let conditions = if op == Op::B { 0b10100 } else { w.rt() };
        if conditions & 0b10000 == 0 {
            self.read(&[field_of_bit(w.ra())]);
        }
        if conditions & 0b00100 == 0 {
            self.read(&[Register(register::COUNT)]);
            self.write(&[Register(register::COUNT)]);
        }
        if let Some(through) = through {
            self.read(&[Register(through)]);
        }
        if w.record() {
            self.write(&[Register(register::LINK)]);
        }
        true
    }

    /// Logic on CR, and moves from and to it.
    fn condition(&mut self, op: Op) -> bool {
        let w = self.w;
        match op {
            Op::Crand | Op::Crandc | Op::Creqv | Op::Crnand | Op::Crnor | Op::Cror | Op::Crorc | Op::Crxor => {
                // The other three bits of the field are kept.
                self.read(&[field_of_bit(w.ra()), field_of_bit(w.rb()), field_of_bit(w.rt())]);
                self.write(&[field_of_bit(w.rt())]);
            }
            Op::Mcrf => {
                self.read(&[field(w.bfa())]);
                self.write(&[field(w.bf())]);
            }
            Op::Mcrxrx => {
                self.read(&[Register(register::CARRY), Register(register::OVERFLOW)]);
                self.write(&[field(w.bf())]);
            }
            Op::Mfcr => {
                for number in fields(w, w.0 >> 20 & 1 == 0) {
                    self.read(&[field(number)]);
                }
                self.write(&[general(w.rt())]);
            }
            Op::Mtcrf => {
                self.read(&[general(w.rt())]);
                for number in fields(w, false) {
                    self.write(&[field(number)]);
                }
            }
            Op::Setb => {
                self.read(&[field(w.bfa())]);
                self.write(&[general(w.rt())]);
            }
            Op::Isel => {
                self.read(&[general(w.rb()), field_of_bit(w.rc())]);
                if w.ra() != 0 {
                    self.read(&[general(w.ra())]);
                }
                self.write(&[general(w.rt())]);
            }
            _ => return false,
        }
        true
    }

    fn float(&mut self, op: Op) -> bool {
        let w = self.w;
        let [a, b, c] = [w.ra(), w.rb(), w.rc()].map(vector);
        let status = Register(register::FLOATING_STATUS);
        let records = match op {
            op if vector_work(op).is_some() => {
                let high = |bit: u32| (w.0 as usize >> bit & 1) << 5;
                let target = vector(w.rt() | high(0));
                self.read(&[vector(w.rb() | high(1))]);
                if !matches!(op, Op::Xvsqrtdp | Op::Xvsqrtsp) {
                    self.read(&[vector(w.ra() | high(2))]);
                }
                if matches!(op, Op::Xvmaddadp | Op::Xvmaddasp) {
                    self.read(&[target]);
                }
                self.write(&[target, status]);
                return true;
            }
            Op::Fcmpo | Op::Fcmpu => {
                self.read(&[a, b]);
                self.write(&[field(w.bf()), status]);
                return true;
            }
            Op::Mffs => {
                self.read(&[status]);
                self.write(&[vector(w.rt())]);
                w.record()
            }
            Op::Mtfsf => {
                // The fields that are not chosen are kept.
                self.read(&[b, status]);
                self.write(&[status]);
                w.record()
            }
            Op::Fmr | Op::Fneg | Op::Fabs | Op::Fnabs => {
                self.read(&[b]);
                self.write(&[vector(w.rt())]);
                w.record()
            }
            Op::Fsel => {
                self.read(&[a, b, c]);
                self.write(&[vector(w.rt())]);
                w.record()
            }
            _ => {
                let sources: &[Register] = match op {
                    Op::Fadd | Op::Fadds | Op::Fsub | Op::Fsubs | Op::Fdiv | Op::Fdivs => &[a, b],
                    Op::Fmul | Op::Fmuls => &[a, c],
                    Op::Fmadd | Op::Fmadds | Op::Fmsub | Op::Fmsubs | Op::Fnmadd | Op::Fnmadds | Op::Fnmsub | Op::Fnmsubs => &[a, b, c],
                    Op::Fsqrt | Op::Fsqrts | Op::Frsp | Op::Fcfid | Op::Fctid | Op::Fctidz | Op::Fctiwz => &[b],
                    _ => return false,
                };
                self.read(sources);
                self.write(&[vector(w.rt()), status]);
                w.record()
            }
        };
        if records {
            self.read(&[status]);
            self.write(&[field(1)]);
        }
        true
    }

    /// Moves of special purpose registers, and instructions of the system.
    fn special(&mut self, op: Op) -> bool {
        let w = self.w;
        match op {
            Op::Mfspr => {
                self.read(renamed(w.spr()));
                self.write(&[general(w.rt())]);
            }
            Op::Mtspr => {
                self.read(&[general(w.rt())]);
                self.write(renamed(w.spr()));
            }
            Op::Mfmsr | Op::Mftb | Op::Mfbhrbe | Op::Mfimc => self.write(&[general(w.rt())]),
            Op::Mtmsr | Op::Mtmsrd | Op::Mtimc => self.read(&[general(w.rt())]),
            Op::Attn => self.write(&[general(3)]),
            Op::Tlbie | Op::Slbieg => self.read(&[general(w.rt()), general(w.rb())]),
            Op::Tlbiel | Op::Slbie => self.read(&[general(w.rb())]),
            // They make CR field 0.
            Op::Tbegin | Op::Tend | Op::Tsr | Op::Trechkpt => self.write(&[field(0)]),
            Op::Tcheck => self.write(&[field(w.bf())]),
            Op::Tabort | Op::Treclaim | Op::Tabortwci | Op::Tabortdci => {
                self.read(&[general(w.ra())]);
                self.write(&[field(0)]);
            }
            Op::Tabortwc | Op::Tabortdc => {
                self.read(&[general(w.ra()), general(w.rb())]);
                self.write(&[field(0)]);
            }
            Op::Clrbhrb
            | Op::Eieio
            | Op::Hrfid
            | Op::Isync
            | Op::Rfebb
            | Op::Rfid
            | Op::Sc
            | Op::Slbia
            | Op::Slbsync
            | Op::Stop
            | Op::Sync
            | Op::Tlbsync
            | Op::Vector
            | Op::Vsx
            | Op::Wait => {}
            _ => return false,
        }
        true
    }

    /// The fixed-point unit.
    fn fixed(&mut self, op: Op) {
        let w = self.w;
        let [a, b, s] = [w.ra(), w.rb(), w.rt()].map(general);
        let carry = Register(register::CARRY);
        match op {
            // RA=0 stands for the value 0.
            Op::Addi | Op::Addis => {
                if w.ra() != 0 {
                    self.read(&[a]);
                }
                self.result(w.rt(), false);
            }
            Op::Addpcis => self.result(w.rt(), false),
            Op::Mulli => {
                self.read(&[a]);
                self.result(w.rt(), false);
            }
            Op::Addic | Op::AddicRecord | Op::Subfic => {
                self.read(&[a]);
                self.result(w.rt(), op == Op::AddicRecord);
                self.write(&[carry]);
            }
            Op::Maddhd | Op::Maddhdu | Op::Maddld => {
                self.read(&[a, b, general(w.rc())]);
                self.result(w.rt(), false);
            }
            Op::Modsd | Op::Modsw | Op::Modud | Op::Moduw => {
                self.read(&[a, b]);
                self.result(w.rt(), false);
            }
            Op::Mulhd | Op::Mulhdu | Op::Mulhw | Op::Mulhwu => {
                self.read(&[a, b]);
                self.result(w.rt(), w.record());
            }
            Op::Add | Op::Subf | Op::Mulld | Op::Mullw | Op::Divd | Op::Divdu | Op::Divw | Op::Divwu => self.sum(&[a, b], false),
            Op::Divde | Op::Divdeu | Op::Divwe | Op::Divweu => self.sum(&[a, b], false),
            Op::Neg => self.sum(&[a], false),
            Op::Addc | Op::Subfc => self.sum(&[a, b], true),
            Op::Adde | Op::Subfe => self.sum(&[a, b, carry], true),
            Op::Addme | Op::Addze | Op::Subfme | Op::Subfze => self.sum(&[a, carry], true),
            Op::Cmpi | Op::Cmpli => {
                self.read(&[a]);
                self.write(&[field(w.bf())]);
            }
            Op::Cmp | Op::Cmpl | Op::Cmprb | Op::Cmpeqb => {
                self.read(&[a, b]);
                self.write(&[field(w.bf())]);
            }
            Op::Tdi | Op::Twi => self.read(&[a]),
            Op::Td | Op::Tw => self.read(&[a, b]),
            // Logic and shifts have their result in RA.
            Op::Ori | Op::Oris | Op::Xori | Op::Xoris => {
                self.read(&[s]);
                self.result(w.ra(), false);
            }
            Op::Andi | Op::Andis => {
                self.read(&[s]);
                self.result(w.ra(), true);
            }
            Op::Rlwimi | Op::Rldimi => {
                self.read(&[s, a]);
                self.result(w.ra(), w.record());
            }
            Op::Rlwinm | Op::Rldic | Op::Rldicl | Op::Rldicr | Op::Extswsli => self.logic(&[s]),
            Op::Extsb | Op::Extsh | Op::Extsw | Op::Cntlzd | Op::Cntlzw | Op::Cnttzd | Op::Cnttzw => self.logic(&[s]),
            Op::Popcntb | Op::Popcntd | Op::Popcntw | Op::Prtyd | Op::Prtyw => {
                self.read(&[s]);
                self.result(w.ra(), false);
            }
            Op::Bpermd | Op::Cmpb => {
                self.read(&[s, b]);
                self.result(w.ra(), false);
            }
            Op::Sradi | Op::Srawi => {
                self.logic(&[s]);
                self.write(&[carry]);
            }
            Op::Srad | Op::Sraw => {
                self.logic(&[s, b]);
                self.write(&[carry]);
            }
            _ => self.logic(&[s, b]),
        }
    }

    /// Arithmetic with OE and Rc.
    fn sum(&mut self, sources: &[Register], carries: bool) {
        self.read(sources);
        self.result(self.w.rt(), self.w.record());
        if carries {
            self.write(&[Register(register::CARRY)]);
        }
        if self.w.oe() {
            self.write(&[Register(register::OVERFLOW)]);
        }
    }

    fn logic(&mut self, sources: &[Register]) {
        self.read(sources);
        self.result(self.w.ra(), self.w.record());
    }
}

/// The fields of CR that FXM names, or all of them.
fn fields(w: Word, all: bool) -> impl Iterator<Item = u32> {
    (0..8).filter(move |number| all || w.fxm() >> (7 - number) & 1 != 0)
}

/// Special registers of the load/store unit: DSCR and AMR by both their numbers, DSISR, DAR, PIDR, IAMR, UAMOR, DAWR, DAWRX and PTCR.
const MEMORY_REGISTERS: [u16; 12] = [3, 13, 17, 18, 19, 29, 48, 61, 157, 180, 188, 464];

fn class(op: Op, w: Word) -> Class {
    if let Some(access) = load_store(op) {
        return match access {
            LoadStore { store: true, .. } => Class::Store,
            // What is loaded goes through another unit, as an operand of an operation does.
            LoadStore { conversion: Conversion::Sign, .. } => Class::Extend,
            LoadStore { conversion: Conversion::Single, .. } => Class::FloatConvert,
            _ => Class::Load,
        };
    }
    match op {
        // With all fields zero these are the no-operations.
        Op::Ori | Op::Xori if w.0 & 0x03FF_FFFF == 0 => Class::Nop,
        Op::Lbarx | Op::Lharx | Op::Lwarx | Op::Ldarx | Op::Lxvd2x => Class::Load,
        Op::Stbcx | Op::Sthcx | Op::Stwcx | Op::Stdcx => Class::CompareExchange,
        Op::Stxvd2x | Op::Dcbz => Class::Store,
        // They take the way of a load, without a result.
        Op::Dcbt | Op::Dcbtst | Op::Icbt => Class::Load,
        Op::Bclr if !w.record() && w.rb() & 3 == 0 => Class::Return,
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr | Op::Bctar if w.record() => Class::Call,
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr | Op::Bctar => Class::Branch,
        Op::Adde | Op::Addme | Op::Addze | Op::Subfe | Op::Subfme | Op::Subfze => Class::AddWithCarry,
        Op::Mulhd | Op::Mulhdu | Op::Mulhw | Op::Mulhwu | Op::Mulld | Op::Mulli | Op::Mullw => Class::Multiply,
        Op::Maddhd | Op::Maddhdu | Op::Maddld => Class::Multiply,
        Op::Divd | Op::Divde | Op::Divw | Op::Divwe | Op::Modsd | Op::Modsw => Class::SignedDivide,
        Op::Divdu | Op::Divdeu | Op::Divwu | Op::Divweu | Op::Modud | Op::Moduw => Class::Divide,
        Op::Rldcl | Op::Rldcr | Op::Rldic | Op::Rldicl | Op::Rldicr | Op::Rldimi | Op::Rlwimi | Op::Rlwinm | Op::Rlwnm => Class::Shift,
        Op::Sld | Op::Slw | Op::Srad | Op::Sradi | Op::Sraw | Op::Srawi | Op::Srd | Op::Srw | Op::Extswsli => Class::Shift,
        Op::Cntlzd | Op::Cntlzw | Op::Cnttzd | Op::Cnttzw => Class::BitScan,
        Op::Popcntb | Op::Popcntd | Op::Popcntw => Class::PopulationCount,
        Op::Extsb | Op::Extsh | Op::Extsw => Class::Extend,
        Op::Isel => Class::ConditionalMove,
        Op::Fadd | Op::Fadds | Op::Fsub | Op::Fsubs | Op::Xvadddp | Op::Xvaddsp => Class::FloatAdd,
        Op::Fmul | Op::Fmuls => Class::FloatMultiply,
        Op::Fmadd | Op::Fmadds | Op::Fmsub | Op::Fmsubs | Op::Fnmadd | Op::Fnmadds | Op::Fnmsub | Op::Fnmsubs => Class::FloatMultiplyAdd,
        Op::Xvmaddadp | Op::Xvmaddasp => Class::FloatMultiplyAdd,
        Op::Fdiv | Op::Fdivs | Op::Xvdivdp | Op::Xvdivsp => Class::FloatDivide,
        Op::Fsqrt | Op::Fsqrts | Op::Xvsqrtdp | Op::Xvsqrtsp => Class::FloatSquareRoot,
        Op::Fcmpo | Op::Fcmpu => Class::FloatCompare,
        Op::Fcfid | Op::Fctid | Op::Fctidz | Op::Fctiwz | Op::Frsp => Class::FloatConvert,
        Op::Fabs | Op::Fmr | Op::Fnabs | Op::Fneg | Op::Fsel => Class::FloatMove,
        // What changes the state of the thread, and execution goes on in the new one.
        Op::Isync | Op::Hrfid | Op::Rfebb | Op::Rfid | Op::Sc => Class::Serializing,
        // `lwsync` does not wait until the stores before it are done.
        Op::Sync if w.0 >> 21 & 3 != 1 => Class::Fence,
        Op::Sync => Class::LightFence,
        Op::Eieio => Class::DeviceFence,
        Op::Dcbf | Op::Dcbst | Op::Icbi => Class::CacheBlock,
        Op::Tlbie => Class::TranslationInvalidation,
        Op::Slbieg | Op::Slbsync => Class::SegmentInvalidation,
        // Those within another are told apart by who knows the depth.
        Op::Tbegin => Class::TransactionBegin,
        Op::Tend => Class::TransactionEnd,
        Op::Mtfsf => Class::StatusWrite,
        Op::Mfspr if MEMORY_REGISTERS.contains(&w.spr()) => Class::MemoryRegister,
        Op::Attn | Op::Clrbhrb => Class::System,
        Op::Stop | Op::Wait => Class::System,
        Op::Mfbhrbe | Op::Mffs | Op::Mfimc | Op::Mfmsr | Op::Mfspr | Op::Mftb => Class::System,
        Op::Mtimc | Op::Mtmsr | Op::Mtmsrd | Op::Mtspr => Class::System,
        Op::Slbia | Op::Slbie | Op::Tlbiel | Op::Tlbsync => Class::System,
        Op::Tabort | Op::Tabortdc | Op::Tabortdci | Op::Tabortwc | Op::Tabortwci => Class::System,
        Op::Tcheck | Op::Trechkpt | Op::Treclaim | Op::Tsr => Class::System,
        // They have no name of their own here.
        Op::Vector | Op::Vsx => Class::Microcode,
        _ => Class::Simple,
    }
}

fn width(op: Op, w: Word) -> u8 {
    if let Some(access) = load_store(op) {
        return access.size;
    }
    match op {
        Op::Lbarx | Op::Stbcx => 1,
        Op::Lharx | Op::Sthcx => 2,
        Op::Lwarx | Op::Stwcx => 4,
        op if is_vector(op) => 16,
        // The dividend of the extended divisions has twice the width.
        Op::Divde | Op::Divdeu => 16,
        Op::Divwe | Op::Divweu => 8,
        Op::Cmp | Op::Cmpi | Op::Cmpl | Op::Cmpli if !w.doubleword() => 4,
        Op::Cmprb => 1,
        Op::Divw | Op::Divwu | Op::Modsw | Op::Moduw | Op::Mulhw | Op::Mulhwu | Op::Mullw => 4,
        Op::Rlwimi | Op::Rlwinm | Op::Rlwnm | Op::Slw | Op::Sraw | Op::Srawi | Op::Srw => 4,
        Op::Cntlzw | Op::Cnttzw | Op::Popcntw | Op::Prtyw | Op::Extsw | Op::Extswsli | Op::Tw | Op::Twi => 4,
        Op::Extsb | Op::Popcntb => 1,
        Op::Extsh => 2,
        Op::Fadds | Op::Fdivs | Op::Fmadds | Op::Fmsubs | Op::Fmuls | Op::Fnmadds | Op::Fnmsubs | Op::Frsp | Op::Fsqrts | Op::Fsubs => 4,
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr | Op::Bctar => 0,
        Op::Crand | Op::Crandc | Op::Creqv | Op::Crnand | Op::Crnor | Op::Cror | Op::Crorc | Op::Crxor | Op::Mcrf | Op::Mcrxrx => 0,
        Op::Ori | Op::Xori if w.0 & 0x03FF_FFFF == 0 => 0,
        Op::Dcbf | Op::Dcbst | Op::Dcbt | Op::Dcbtst | Op::Icbi | Op::Icbt | Op::Eieio | Op::Isync | Op::Sync => 0,
        Op::Attn | Op::Clrbhrb | Op::Hrfid | Op::Rfebb | Op::Rfid | Op::Sc | Op::Stop | Op::Wait | Op::Vector | Op::Vsx => 0,
        Op::Slbia | Op::Slbie | Op::Slbieg | Op::Slbsync | Op::Tlbie | Op::Tlbiel | Op::Tlbsync => 0,
        Op::Tabort | Op::Tabortdc | Op::Tabortdci | Op::Tabortwc | Op::Tabortwci | Op::Tbegin => 0,
        Op::Tcheck | Op::Tend | Op::Trechkpt | Op::Treclaim | Op::Tsr => 0,
        _ => 8,
    }
}

#[cfg(test)]
mod tests;
