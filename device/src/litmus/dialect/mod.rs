//! What of the language depends on the part: the fields of its context, how it names addresses, how it refuses them. A file a part.

mod ia64;
mod itanium;
mod k8;
mod knl;
mod montecito;
mod power9;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::feed::Context;
use vm_pmu_arch::registry::Part;

/// A field of the thread's state that a litmus file can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextField {
    /// The privilege level as such, where it is not part of another register.
    Privilege,
    /// The clock stands still.
    Halted,
    /// The thread is the one that its core executes.
    Foreground,
    /// RFLAGS, MSR or PSR as a whole.
    MachineState,
    /// CR4, CTRL or DCR as a whole.
    Control,
    /// What the guest's time base reads at this moment.
    TimeBase,
    /// A field that only this kind of processor has.
    Part(&'static PartField),
}

/// A field of the context that only some kind of processor has.
#[derive(Debug)]
pub struct PartField {
    /// What a litmus file calls it.
    word: &'static str,
    /// How many bits it has.
    bits: u32,
    /// The context with the field set to a value of so many bits.
    set: fn(Context, u64) -> Context,
}

impl PartField {
    /// What a litmus file calls the field.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// How many bits it has.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

impl PartialEq for PartField {
    fn eq(&self, other: &PartField) -> bool {
        self.word == other.word
    }
}

impl Eq for PartField {}

impl ContextField {
    /// The field that a litmus file about `part` calls `word`.
    #[must_use]
    pub fn from_word(part: Part, word: &str) -> Option<ContextField> {
        Dialect::of(part).field(word)
    }

    /// What a litmus file about `part` calls the field.
    #[must_use]
    pub fn word(self, part: Part) -> &'static str {
        Dialect::of(part).word(self)
    }
}

/// How files about one part are written.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The part.
    pub(super) name: &'static str,
    /// The words for fields of the context; of several words for a field, the first is printed.
    pub(super) fields: &'static [(&'static str, ContextField)],
    /// Brings what follows from the rest of a context up to date.
    settle: fn(Context) -> Context,
    /// What a context must be changed to so that every register can be read.
    pub(super) topmost: &'static [(ContextField, u64)],
    /// How an address is given that is not a register's name.
    pub(super) forms: &'static str,
    /// Readable addresses that are no registers with a name.
    pub(super) more: &'static [Address],
    /// The faults of the part's accesses.
    pub(super) faults: &'static [Fault],
    /// The reserved bits of a register that need not read as zero.
    pub(super) not_zero: fn(Address) -> u64,
}

/// One line a part.
static ALL: [&Dialect; 5] = [&itanium::ITANIUM, &k8::K8, &knl::KNL, &montecito::MONTECITO, &power9::POWER9];

/// For a part without words of its own.
static PLAIN: Dialect = Dialect {
    name: "",
    fields: &[
        ("privilege", ContextField::Privilege),
        ("halted", ContextField::Halted),
        ("foreground", ContextField::Foreground),
        ("machine_state", ContextField::MachineState),
        ("control", ContextField::Control),
        ("time_base", ContextField::TimeBase),
    ],
    settle: |context| context,
    topmost: &[(ContextField::Privilege, 0)],
    forms: "a register's name",
    more: &[],
    faults: &Fault::ALL,
    not_zero: |_| 0,
};

impl Dialect {
    pub(super) fn of(part: Part) -> &'static Dialect {
        ALL.iter().copied().find(|dialect| dialect.name == part.name()).unwrap_or(&PLAIN)
    }

    /// The field of this word.
    pub(super) fn field(&self, word: &str) -> Option<ContextField> {
        self.fields.iter().find(|(name, _)| *name == word).map(|(_, field)| *field)
    }

    /// What the field is called; one of another part by its own word.
    pub(super) fn word(&self, field: ContextField) -> &'static str {
        let find = |dialect: &Dialect| dialect.fields.iter().find(|(_, known)| *known == field).map(|(word, _)| *word);
        match field {
            ContextField::Part(own) => own.word,
            _ => find(self).or_else(|| find(&PLAIN)).unwrap_or(""),
        }
    }

    /// `context` with `field` set to `value`, of which the field takes the bits that it has. `ticks` of the time base have been told.
    pub(super) fn change(&self, context: Context, field: ContextField, value: u64, ticks: u64) -> Context {
        (self.settle)(match field {
            ContextField::Privilege => Context { privilege: (value & 3) as u8, ..context },
            ContextField::Halted => Context { halted: value != 0, ..context },
            ContextField::Foreground => Context { foreground: value != 0, ..context },
            ContextField::MachineState => Context { machine_state: value, ..context },
            ContextField::Control => Context { control: value, ..context },
            ContextField::TimeBase => Context { time_base: value.wrapping_sub(ticks), ..context },
            ContextField::Part(own) => (own.set)(context, value & mask(own.bits)),
        })
    }

    /// A change of context from text.
    pub(super) fn context(&self, word: &str) -> Result<(ContextField, u64), String> {
        let (name, value) = word.split_once('=').ok_or(format!("`{word}` is not FIELD=VALUE"))?;
        let field = self.field(name).ok_or_else(|| {
            let names: Vec<&str> = self.fields.iter().map(|(name, _)| *name).collect();
            format!("no context field is called `{name}`: there are {}", names.join(", "))
        })?;
        match (field, super::parse::number(value)?) {
            (ContextField::Privilege, 4..) => Err(format!("`{word}` is no privilege level: there are 0 to 3")),
            // Of a flag the lowest bit holds, as of a word that an emulator keeps it in.
            (ContextField::Part(own), value) if own.bits > 1 && value > mask(own.bits) => {
                Err(format!("`{word}` does not fit: {name} has {} bits", own.bits))
            }
            (field, value) => Ok((field, value)),
        }
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::registry::NAMES;

    use super::*;

    #[test]
    fn every_part_has_a_dialect() {
        for name in NAMES {
            assert!(ALL.iter().any(|dialect| dialect.name == *name), "{name}");
        }
    }

    #[test]
    fn what_a_field_is_called_names_it_again() {
        for dialect in ALL {
            for (_, field) in dialect.fields {
                assert_eq!(dialect.field(dialect.word(*field)), Some(*field), "{} {field:?}", dialect.name);
            }
        }
    }

    #[test]
    fn a_field_of_another_part_is_answered_by_those_of_this_one() {
        let message = k8::K8.context("pmm=1").expect_err("the K8 has none");
        assert_eq!(
            message,
            "no context field is called `pmm`: there are cpl, privilege, halted, foreground, machine_state, control, if, pce"
        );
        let message = power9::POWER9.context("cpl=3").expect_err("POWER has none");
        assert!(message.starts_with("no context field is called `cpl`: there are msr, hv, pr, "), "{message}");
    }

    #[test]
    fn a_value_that_a_field_has_no_room_for_is_refused() {
        assert_eq!(power9::POWER9.context("ts=4"), Err("`ts=4` does not fit: ts has 2 bits".into()));
    }
}
