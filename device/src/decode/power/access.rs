//! Loads and stores (Power ISA 3.0B, Book I, 3.3.2 to 3.3.5 and 4.6.2).

use super::op::Op;
use super::word::Word;

/// How an effective address is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A 16-bit displacement.
    D,
    /// A displacement in words.
    Ds,
    /// An index register.
    X,
}

/// The form in which a value is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// An integer, extended with zeros.
    Zero,
    /// An integer, extended with its sign.
    Sign,
    /// An integer with its bytes in the other order, extended with zeros.
    Reversed,
    /// A floating-point number in single format.
    Single,
    /// A floating-point number in double format.
    Double,
    /// The low word of a floating-point register, extended with zeros.
    Word,
    /// The low word, extended with its sign.
    SignedWord,
}

/// A load or store of one general purpose or floating-point register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadStore {
    /// How its effective address is made.
    pub form: Form,
    /// Its size in bytes.
    pub size: u8,
    /// The form of the value.
    pub conversion: Conversion,
    /// Whether it stores.
    pub store: bool,
    /// Whether the address goes to RA.
    pub update: bool,
}

impl LoadStore {
    /// Whether it moves a floating-point register.
    #[must_use]
    pub fn is_floating(&self) -> bool {
        matches!(self.conversion, Conversion::Single | Conversion::Double | Conversion::Word | Conversion::SignedWord)
    }

    /// Whether the form is a valid one.
    #[must_use]
    pub fn is_valid(&self, w: Word) -> bool {
        !(self.update && (w.ra() == 0 || !self.is_floating() && !self.store && w.ra() == w.rt()))
    }

    /// The sum that is the address, before the mode cuts it off, with the general purpose registers that `gpr` reads.
    #[must_use]
    pub fn sum(&self, w: Word, gpr: impl Fn(usize) -> u64) -> u64 {
        let base = if w.ra() == 0 { 0 } else { gpr(w.ra()) };
        base.wrapping_add(match self.form {
            Form::D => w.si(),
            Form::Ds => w.ds(),
            Form::X => gpr(w.rb()),
        })
    }
}

const fn load(form: Form, size: u8, conversion: Conversion) -> LoadStore {
    LoadStore { form, size, conversion, store: false, update: false }
}

const fn store(form: Form, size: u8, conversion: Conversion) -> LoadStore {
    LoadStore { form, size, conversion, store: true, update: false }
}

const fn update(access: LoadStore) -> LoadStore {
    LoadStore { update: true, ..access }
}

/// The load or store that `op` is, if it is one of these.
#[must_use]
pub fn load_store(op: Op) -> Option<LoadStore> {
    use Conversion::{Double, Reversed, Sign, SignedWord, Single, Word, Zero};
    use Form::{D, Ds, X};
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
