//! Loads and stores (Power ISA 3.0B, Book I, 3.3.2 to 3.3.5 and 4.6.2; Book II, 4.6.2).

use crate::power::interrupt::{Exception, Fault};
use crate::power::op::Op;
use crate::power::registers::msr;
use crate::power::state::Core;
use crate::power::step::{Class, Conditional};
use crate::power::word::Word;

/// How an effective address is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A 16-bit displacement.
    D,
    /// A displacement in words.
    Ds,
    /// An index register.
    X,
}

/// What a loaded value becomes, or a stored one comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Zero,
    Sign,
    Reversed,
    Single,
    Double,
    /// The low word of a floating-point register, extended with zeros.
    Word,
    /// The same, extended with its sign.
    SignedWord,
}

/// One load or store instruction: the form of its address, its size, the kind of value, and whether it is a store and an update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) form: Form,
    pub(crate) size: u8,
    pub(crate) kind: Kind,
    pub(crate) store: bool,
    pub(crate) update: bool,
}

impl Access {
    /// Whether it moves a floating-point register.
    pub(crate) fn is_floating(&self) -> bool {
        matches!(self.kind, Kind::Single | Kind::Double | Kind::Word | Kind::SignedWord)
    }

    /// Whether the form is a valid one.
    pub(crate) fn is_valid(&self, w: Word) -> bool {
        !(self.update && (w.ra() == 0 || !self.is_floating() && !self.store && w.ra() == w.rt()))
    }

    /// The sum that is the address, before the mode cuts it off, with the general purpose registers that `gpr` reads.
    pub(crate) fn sum(&self, w: Word, gpr: impl Fn(usize) -> u64) -> u64 {
        let base = if w.ra() == 0 { 0 } else { gpr(w.ra()) };
        base.wrapping_add(match self.form {
            Form::D => w.si(),
            Form::Ds => w.ds(),
            Form::X => gpr(w.rb()),
        })
    }
}

const fn load(form: Form, size: u8, kind: Kind) -> Access {
    Access { form, size, kind, store: false, update: false }
}

const fn store(form: Form, size: u8, kind: Kind) -> Access {
    Access { form, size, kind, store: true, update: false }
}

const fn update(access: Access) -> Access {
    Access { update: true, ..access }
}

pub(crate) fn described(op: Op) -> Option<Access> {
    use Form::{D, Ds, X};
    use Kind::{Double, Reversed, Sign, SignedWord, Single, Word, Zero};
    Some(match op {
        Op::Lbz => load(D, 1, Zero),
        Op::Lbzu => update(load(D, 1, Zero)),
        Op::Lbzx => load(X, 1, Zero),
        Op::Lbzux => update(load(X, 1, Zero)),
        Op::Lhz => load(D, 2, Zero),
        Op::Lhzu => update(load(D, 2, Zero)),
        Op::Lhzx => load(X, 2, Zero),
        Op::Lhzux => update(load(X, 2, Zero)),
        Op::Lha => load(D, 2, Sign),
        Op::Lhau => update(load(D, 2, Sign)),
        Op::Lhax => load(X, 2, Sign),
        Op::Lhaux => update(load(X, 2, Sign)),
        Op::Lwz => load(D, 4, Zero),
        Op::Lwzu => update(load(D, 4, Zero)),
        Op::Lwzx => load(X, 4, Zero),
        Op::Lwzux => update(load(X, 4, Zero)),
        Op::Lwa => load(Ds, 4, Sign),
        Op::Lwax => load(X, 4, Sign),
        Op::Lwaux => update(load(X, 4, Sign)),
        Op::Ld => load(Ds, 8, Zero),
        Op::Ldu => update(load(Ds, 8, Zero)),
        Op::Ldx => load(X, 8, Zero),
        Op::Ldux => update(load(X, 8, Zero)),
        Op::Lhbrx => load(X, 2, Reversed),
        Op::Lwbrx => load(X, 4, Reversed),
        Op::Ldbrx => load(X, 8, Reversed),
        Op::Stb => store(D, 1, Zero),
        Op::Stbu => update(store(D, 1, Zero)),
        Op::Stbx => store(X, 1, Zero),
        Op::Stbux => update(store(X, 1, Zero)),
        Op::Sth => store(D, 2, Zero),
        Op::Sthu => update(store(D, 2, Zero)),
        Op::Sthx => store(X, 2, Zero),
        Op::Sthux => update(store(X, 2, Zero)),
        Op::Stw => store(D, 4, Zero),
        Op::Stwu => update(store(D, 4, Zero)),
        Op::Stwx => store(X, 4, Zero),
        Op::Stwux => update(store(X, 4, Zero)),
        Op::Std => store(Ds, 8, Zero),
        Op::Stdu => update(store(Ds, 8, Zero)),
        Op::Stdx => store(X, 8, Zero),
        Op::Stdux => update(store(X, 8, Zero)),
        Op::Sthbrx => store(X, 2, Reversed),
        Op::Stwbrx => store(X, 4, Reversed),
        Op::Stdbrx => store(X, 8, Reversed),
        Op::Lfs => load(D, 4, Single),
        Op::Lfsu => update(load(D, 4, Single)),
        Op::Lfsx => load(X, 4, Single),
        Op::Lfsux => update(load(X, 4, Single)),
        Op::Lfd => load(D, 8, Double),
        Op::Lfdu => update(load(D, 8, Double)),
        Op::Lfdx => load(X, 8, Double),
        Op::Lfdux => update(load(X, 8, Double)),
        Op::Lfiwzx => load(X, 4, Word),
        Op::Lfiwax => load(X, 4, SignedWord),
        Op::Stfs => store(D, 4, Single),
        Op::Stfsu => update(store(D, 4, Single)),
        Op::Stfsx => store(X, 4, Single),
        Op::Stfsux => update(store(X, 4, Single)),
        Op::Stfd => store(D, 8, Double),
        Op::Stfdu => update(store(D, 8, Double)),
        Op::Stfdx => store(X, 8, Double),
        Op::Stfdux => update(store(X, 8, Double)),
        Op::Stfiwx => store(X, 4, Word),
        _ => return None,
    })
}

impl Core {
    /// Executes `op` if it is a load or store; returns whether it was.
    #[inline]
    pub(super) fn memory(&mut self, op: Op, w: Word) -> Result<bool, Fault> {
        if let Some(access) = described(op) {
            self.access(&access, w)?;
            return Ok(true);
        }
        match op {
            Op::Lbarx => self.load_reserve(w, 1)?,
            Op::Lharx => self.load_reserve(w, 2)?,
            Op::Lwarx => self.load_reserve(w, 4)?,
            Op::Ldarx => self.load_reserve(w, 8)?,
            Op::Stbcx => self.store_conditional(w, 1)?,
            Op::Sthcx => self.store_conditional(w, 2)?,
            Op::Stwcx => self.store_conditional(w, 4)?,
            Op::Stdcx => self.store_conditional(w, 8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn access(&mut self, access: &Access, w: Word) -> Result<(), Fault> {
        if access.is_floating() {
            self.need_floating()?;
        }
        if !access.is_valid(w) {
            return Err(Fault::illegal());
        }
        let address = access.sum(w, |register| self.gpr[register]);
        if access.store {
            self.class(Class::Store);
            let value = match access.kind {
                Kind::Reversed => self.gpr[w.rt()].swap_bytes() >> (64 - 8 * u32::from(access.size)),
                Kind::Single => single(self.fpr[w.rt()]),
                Kind::Double | Kind::Word | Kind::SignedWord => self.fpr[w.rt()],
                Kind::Zero | Kind::Sign => self.gpr[w.rt()],
            };
            self.store(address, access.size, value)?;
        } else {
            self.class(Class::Load);
            let value = self.load(address, access.size)?;
            match access.kind {
                Kind::Zero => self.gpr[w.rt()] = value,
                Kind::Sign if access.size == 2 => self.gpr[w.rt()] = i64::from(value as i16) as u64,
                Kind::Sign => self.gpr[w.rt()] = i64::from(value as i32) as u64,
                Kind::Reversed => self.gpr[w.rt()] = value.swap_bytes() >> (64 - 8 * u32::from(access.size)),
                Kind::Single => self.fpr[w.rt()] = double(value as u32),
                Kind::Double | Kind::Word => self.fpr[w.rt()] = value,
                Kind::SignedWord => self.fpr[w.rt()] = i64::from(value as i32) as u64,
            }
        }
        if access.update {
            self.gpr[w.ra()] = self.effective(address);
        }
        Ok(())
    }

    /// Raises the interrupt of floating-point instructions that are unavailable.
    pub(crate) fn need_floating(&self) -> Result<(), Fault> {
        use crate::power::registers::facility;
        self.need(msr::FP, Exception::FloatingUnavailable)?;
        self.hypervisor_facility(facility::FP, facility::CAUSE_FP)
    }

    fn reserved_address(&self, w: Word, size: u8) -> Result<u64, Fault> {
        let address = self.effective(self.ra_or_zero(w).wrapping_add(self.gpr[w.rb()]));
        if !address.is_multiple_of(u64::from(size)) {
            return Err(Fault(Exception::Alignment { address }));
        }
        Ok(address)
    }

    fn load_reserve(&mut self, w: Word, size: u8) -> Result<(), Fault> {
        let address = self.reserved_address(w, size)?;
        let value = self.load(address, size)?;
        self.reserve(self.step.access.map_or(address, |access| access.real));
        self.gpr[w.rt()] = value;
        self.class(Class::Load);
        if let Some(access) = &mut self.step.access {
            access.reserve = true;
        }
        Ok(())
    }

    fn store_conditional(&mut self, w: Word, size: u8) -> Result<(), Fault> {
        let address = self.reserved_address(w, size)?;
        let real = self.translated(address, true)?;
        let stored = self.take_reservation(real);
        if stored {
            self.store(address, size, self.gpr[w.rt()])?;
            if let Some(access) = &mut self.step.access {
                access.reserve = true;
            }
        }
        self.class(Class::Store);
        self.step.conditional = Some(if stored { Conditional::Stored } else { Conditional::Failed });
        let summary = u32::from(self.xer & super::SO != 0);
        self.set_field(0, if stored { 2 } else { 0 } | summary);
        Ok(())
    }
}

/// The double format of a single: `lfs`. Exact for all but signalling NaNs, whose bits are kept.
fn double(single: u32) -> u64 {
    let (exponent, fraction) = (single >> 23 & 0xFF, u64::from(single & 0x7F_FFFF));
    if exponent == 0xFF {
        return u64::from(single >> 31) << 63 | 0x7FF << 52 | fraction << 29;
    }
    f64::from(f32::from_bits(single)).to_bits()
}

/// The single format of a double that is one: `stfs`. Others are cut off as the hardware does (Power ISA 3.0B, Book I, 4.6.3).
fn single(double: u64) -> u64 {
    let exponent = double >> 52 & 0x7FF;
    let top = double >> 62 << 30;
    if exponent > 896 || double << 1 == 0 {
        return top | double >> 29 & 0x3FFF_FFFF;
    }
    if exponent < 874 {
        return top & 0x8000_0000;
    }
    let fraction = 1 << 52 | double & 0x000F_FFFF_FFFF_FFFF;
    double >> 63 << 31 | fraction >> (29 + 897 - exponent)
}
