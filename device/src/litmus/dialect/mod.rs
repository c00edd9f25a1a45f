//! What depends on the part in the language: the fields of its context, its names of addresses, its faults. One file per part.

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
    /// The privilege level, where it is not part of another register.
    Privilege,
    /// The clock is stopped.
    Halted,
    /// The thread is the one that its core executes.
    Foreground,
    /// RFLAGS, MSR or PSR as a whole.
    MachineState,
    /// CR4, CTRL or DCR as a whole.
    Control,
    /// The value of the guest's time base at this moment.
    TimeBase,
    /// A field of this kind of processor only.
    Part(&'static PartField),
}

/// A field of the context that only one kind of processor has.
#[derive(Debug)]
pub struct PartField {
    /// Its name in a litmus file.
    word: &'static str,
    /// How many bits it has.
    bits: u32,
    /// Returns the context with the field set to a value of that many bits.
    set: fn(Context, u64) -> Context,
}

impl PartField {
    /// The name of the field in a litmus file.
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

    /// Every field: those of all parts, then the parts' own in the order of their dialects, each name once.
    #[cfg(feature = "arbitrary")]
    pub(super) fn every() -> impl Iterator<Item = ContextField> {
        let own = |(number, dialect): (usize, &'static &'static Dialect)| {
            let earlier =
                move |field: ContextField| ALL.iter().take(number).any(|other| other.fields.iter().any(|(_, known)| *known == field));
            dialect.fields.iter().map(|(_, field)| *field).filter(move |field| matches!(field, ContextField::Part(_)) && !earlier(*field))
        };
        let common = [
            ContextField::Privilege,
            ContextField::Halted,
            ContextField::Foreground,
            ContextField::MachineState,
            ContextField::Control,
            ContextField::TimeBase,
        ];
        common.into_iter().chain(ALL.iter().enumerate().flat_map(own))
    }

    /// The name of the field in a litmus file about `part`.
    #[must_use]
    pub fn word(self, part: Part) -> &'static str {
        Dialect::of(part).word(self)
    }

    /// `context` of a thread of `part` after the field is set to the bits of `value` that fit. `ticks` of the time base have been reported.
    ///
    /// ```
    /// use vm_pmu::Part;
    /// use vm_pmu::Context;
    /// use vm_pmu::litmus::ContextField;
    ///
    /// let k8 = Part::named("k8").unwrap();
    /// let field = ContextField::from_word(k8, "pce").unwrap();
    /// assert!(field.set(k8, Context::RESET, 1, 0).rdpmc_enabled());
    /// ```
    #[must_use]
    pub fn set(self, part: Part, context: Context, value: u64, ticks: u64) -> Context {
        Dialect::of(part).change(context, self, value, ticks)
    }
}

/// How files about one part are written.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The part.
    pub(super) name: &'static str,
    /// The words for fields of the context; if a field has several words, the first is printed.
    pub(super) fields: &'static [(&'static str, ContextField)],
    /// Updates the fields of a context that follow from others.
    settle: fn(Context) -> Context,
    /// The changes of a context that make every register readable.
    pub(super) topmost: &'static [(ContextField, u64)],
    /// The forms of an address, for messages.
    pub(super) forms: &'static str,
    /// Readable addresses of registers without a name.
    pub(super) more: &'static [Address],
    /// The faults of the part's accesses.
    pub(super) faults: &'static [Fault],
    /// The reserved bits of a register that need not read as zero.
    pub(super) not_zero: fn(Address) -> u64,
}

/// One line per part.
static ALL: [&Dialect; 5] = [&itanium::ITANIUM, &k8::K8, &knl::KNL, &montecito::MONTECITO, &power9::POWER9];

/// For a part without its own words.
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

    /// The name of the field; a field of another part has its own word.
    pub(super) fn word(&self, field: ContextField) -> &'static str {
        let find = |dialect: &Dialect| dialect.fields.iter().find(|(_, known)| *known == field).map(|(word, _)| *word);
        match field {
            ContextField::Part(own) => own.word,
            _ => find(self).or_else(|| find(&PLAIN)).unwrap_or(""),
        }
    }

    /// `context` with `field` set to the bits of `value` that fit. `ticks` of the time base have been reported.
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
        match (field, super::number::number(value)?) {
            (ContextField::Privilege, 4..) => Err(format!("`{word}` is no privilege level: there are 0 to 3")),
            // A flag takes the lowest bit of any value, as of a word in which an emulator keeps it.
            (ContextField::Part(own), value) if own.bits > 1 && value > mask(own.bits) => {
                Err(format!("`{word}` does not fit: {name} has {} bits", own.bits))
            }
            (field, value) => Ok((field, value)),
        }
    }
}

/// The changes of fields that lead from one context to another. `ticks` of the time base have been reported. A privilege level that follows
/// from another register is not among them.
#[cfg(feature = "recording")]
pub(crate) fn changes(part: Part, from: Context, to: Context, ticks: u64) -> Vec<(ContextField, u64)> {
    let value = |field: ContextField, context: &Context| match field {
        ContextField::Privilege => Some(context.privilege.into()),
        ContextField::Halted => Some(context.halted.into()),
        ContextField::Foreground => Some(context.foreground.into()),
        ContextField::MachineState => Some(context.machine_state),
        ContextField::Control => Some(context.control),
        ContextField::TimeBase => Some(context.time_base.wrapping_add(ticks)),
        ContextField::Part(_) => None,
    };
    let mut changed: Vec<(ContextField, u64)> = Vec::new();
    for (_, field) in Dialect::of(part).fields {
        let new = value(*field, &to).filter(|new| value(*field, &from) != Some(*new));
        if let Some(new) = new.filter(|_| !changed.iter().any(|(known, _)| known == field)) {
            changed.push((*field, new));
        }
    }
    changed
}

/// The changes of a context that make every register of `part` readable.
#[cfg(feature = "recording")]
pub(crate) fn topmost(part: Part) -> &'static [(ContextField, u64)] {
    Dialect::of(part).topmost
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
