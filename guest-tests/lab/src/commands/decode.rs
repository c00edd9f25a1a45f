//! `pmulab decode`: what register values say.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

use crate::commands::PASSED;
use crate::commands::format::Format;
use crate::dialect::select;
use crate::dialect::{self, Dialect, Numbering};
use crate::error::Error;
use crate::output::Output;
use crate::{number, suggest, text};

/// Arguments of `pmulab decode`.
#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// The PMU the registers belong to
    #[arg(long)]
    pub pmu: Option<String>,
    /// A register, by name or as msr:0xc0010000, spr:795 or pci:255:8.2:0xb20, and its value: PerfEvtSel0=0x530076
    #[arg(value_name = "REG=VALUE", required = true)]
    pub registers: Vec<String>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// A register's value, taken apart.
#[derive(Clone, Debug, Serialize)]
pub struct Decoded {
    /// The PMU.
    pub pmu: &'static str,
    /// The manual's name of the register.
    pub register: &'static str,
    /// Its address, as the command line takes it.
    pub address: String,
    /// Its value.
    pub value: u64,
    /// Its value in hexadecimal.
    pub hex: String,
    /// The event that it selects, as `pmulab encode` takes it; several are separated by blanks.
    pub event: Option<String>,
    /// Its fields, in the order of the manual's numbers of their bits.
    pub fields: Vec<DecodedField>,
    /// What is wrong with the value.
    pub warnings: Vec<String>,
}

/// A field of a register's value.
#[derive(Clone, Debug, Serialize)]
pub struct DecodedField {
    /// The manual's name.
    pub name: &'static str,
    /// Its bits, as the manual numbers them.
    pub bits: String,
    /// Its highest bit, the least significant bit of the register being 0.
    pub high: u8,
    /// Its lowest bit, counted in the same way.
    pub low: u8,
    /// Its value.
    pub value: u64,
    /// Whether it is reserved.
    pub reserved: bool,
    /// What it says, or nothing.
    pub meaning: String,
}

impl DecodedField {
    /// The value, in hexadecimal if it has more than one bit.
    #[must_use]
    pub fn digits(&self) -> String {
        let bits = usize::from(self.high - self.low) + 1;
        if bits == 1 { self.value.to_string() } else { format!("{:#0width$x}", self.value, width = 2 + bits.div_ceil(4)) }
    }
}

/// Explains register values.
///
/// # Errors
/// A PMU, register or number is unknown, or the output cannot be written.
pub fn decode(arguments: &DecodeArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let part = select::one_part(arguments.pmu.as_deref())?;
    let decoded = arguments.registers.iter().map(|text| assignment(part, text)).collect::<Result<Vec<_>, _>>()?;
    match arguments.format {
        Format::Json => output.json(&decoded)?,
        Format::Table => {
            for (index, decoded) in decoded.iter().enumerate() {
                if index > 0 {
                    writeln!(output)?;
                }
                show(decoded, output)?;
            }
        }
    }
    Ok(PASSED)
}

/// The register and the value of `REG=VALUE`.
///
/// # Errors
/// There is no such register, or that is no number.
pub(super) fn assignment(part: Part, text: &str) -> Result<Decoded, Error> {
    let (register, value) = text.split_once('=').ok_or_else(|| Error::usage(format!("`{text}` is not REG=VALUE")))?;
    let register = select::register(part, register.trim())?;
    let word = value.trim();
    let value = number::parse(word).ok_or_else(|| {
        let otherwise = || "write 10, 0x0a or, for a two's complement, -10".to_owned();
        let hint = suggest::hexadecimal(word).map_or_else(otherwise, |other| format!("did you mean {other}?"));
        Error::usage(format!("`{word}` is not a 64-bit number: {hint}"))
    })?;
    if is_ambiguous(register, word) {
        let name = register.name;
        let hint = format!("did you mean {name}=0x{word}? The decimal number is {name}={value:#x}");
        return Err(Error::usage(format!("`{word}` has decimal digits alone, and {name} has fields: {hint}")));
    }
    Ok(Decoded::new(part, register, value))
}

/// Whether a number without `0x` is probably meant to have it: it has three digits or more, and the register has several fields, which
/// nobody writes as one decimal number. A count is decimal.
fn is_ambiguous(register: &RegisterDescription, word: &str) -> bool {
    let fields = register.fields.iter().filter(|field| field.name != "Reserved" && field.access != FieldAccess::Reserved);
    let is_count = register.fields.iter().any(|field| field.high - field.low >= 30 && field.name != "Reserved");
    fields.count() > 1 && !is_count && word.len() > 2 && word.chars().all(|digit| digit.is_ascii_digit())
}

impl Decoded {
    /// Takes `value` apart as `register` of `part`.
    #[must_use]
    pub fn new(part: Part, register: &RegisterDescription, value: u64) -> Decoded {
        let dialect = dialect::of(part);
        let mut fields: Vec<DecodedField> = register.fields.iter().map(|field| decoded_field(dialect, register, field, value)).collect();
        let numbering = dialect.numbering();
        fields.sort_by_key(|field| numbering.bit(field.low));
        let warnings =
            fields.iter().filter(|field| field.reserved && !field.meaning.is_empty()).map(|field| field.meaning.clone()).collect();
        Decoded {
            pmu: part.name(),
            register: register.name,
            address: select::address_word(register.address),
            value,
            hex: format!("{value:#x}"),
            event: dialect.notation(register, value),
            fields,
            warnings,
        }
    }
}

fn decoded_field(dialect: &dyn Dialect, register: &RegisterDescription, field: &Field, value: u64) -> DecodedField {
    let reserved = matches!(field.access, FieldAccess::Reserved | FieldAccess::MustBeZero) || field.name == "Reserved";
    let numbering = dialect.numbering();
    let meaning = if reserved {
        dialect.reserved(register, field, value).unwrap_or_else(|| reserved_meaning(field, value, numbering))
    } else {
        dialect.meaning(register, field, value)
    };
    let bits = numbering.field(field.high, field.low);
    DecodedField { name: field.name, bits, high: field.high, low: field.low, value: field.of(value), reserved, meaning }
}

/// Which bits of a reserved field are set.
fn reserved_meaning(field: &Field, value: u64, numbering: Numbering) -> String {
    let (one, several) = match field.access {
        FieldAccess::MustBeZero => ("the write is refused", "the write is refused"),
        FieldAccess::ReadWrite => ("is kept and has no effect", "are kept and have no effect"),
        FieldAccess::Reserved | FieldAccess::ReadOnly => ("reads back as 0", "read back as 0"),
    };
    let mut set: Vec<u8> = (field.low..=field.high).filter(|bit| value >> bit & 1 == 1).map(|bit| numbering.bit(bit)).collect();
    set.sort_unstable();
    match set.as_slice() {
        [] => String::new(),
        [bit] => format!("reserved bit {bit} is set: {one}"),
        bits => format!("reserved bits {} are set: {several}", ranges(bits)),
    }
}

/// Numbers in ascending order, neighbours drawn together: `32, 40-47`.
fn ranges(bits: &[u8]) -> String {
    let mut spans: Vec<(u8, u8)> = Vec::new();
    for bit in bits {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *bit => *last = *bit,
            _ => spans.push((*bit, *bit)),
        }
    }
    let words = spans.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    words.collect::<Vec<_>>().join(", ")
}

/// The line above a register's fields.
#[must_use]
pub fn heading(register: &RegisterDescription, value: u64) -> String {
    let address = register.address.to_string();
    if address == register.name { format!("{address} = {value:#x}") } else { format!("{} ({address}) = {value:#x}", register.name) }
}

fn show(decoded: &Decoded, output: &mut Output<'_>) -> Result<(), Error> {
    let part = select::part(decoded.pmu)?;
    let heading = heading(select::register(part, decoded.register)?, decoded.value);
    match &decoded.event {
        Some(event) => output.line(4, &format!("{heading}   {event}"))?,
        None => writeln!(output, "{heading}")?,
    }
    fields(decoded, 2, |field| !field.reserved || !field.meaning.is_empty(), output)
}

/// The columns that what fields say has at least.
const LEAST: usize = 30;

/// The fields of a register that `is_shown`, in columns that begin at `indent`.
///
/// # Errors
/// The output cannot be written.
pub fn fields(decoded: &Decoded, indent: usize, is_shown: impl Fn(&DecodedField) -> bool, output: &mut Output<'_>) -> Result<(), Error> {
    let shown: Vec<&DecodedField> = decoded.fields.iter().filter(|field| is_shown(field)).collect();
    let bits = text::widest(shown.iter().map(|field| field.bits.as_str()));
    let names = text::widest(shown.iter().map(|field| field.name));
    let digits = text::widest(shown.iter().map(|field| field.digits()).collect::<Vec<_>>().iter().map(String::as_str));
    // What a field says stands below where a long name leaves little room.
    let beside = indent + bits + names + digits + 6;
    let column = if beside + LEAST > output.width { indent + bits + 4 } else { beside };
    for field in shown {
        let lead = format!("{:indent$}{:>bits$}  {:<names$}  {:>digits$}", "", field.bits, field.name, field.digits());
        output.lines(text::hanging(&lead, column, &field.meaning, output.width))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_bits_are_drawn_together() {
        assert_eq!(ranges(&[32]), "32");
        assert_eq!(ranges(&[32, 34, 35, 36, 63]), "32, 34-36, 63");
    }

    #[test]
    fn reserved_bits_that_are_set_are_flagged() {
        let part = select::part("k8").unwrap();
        let decode = |text: &str| assignment(part, text).unwrap().warnings;
        assert_eq!(decode("PerfEvtSel0=0x200000"), ["reserved bit 21 is set: reads back as 0"]);
        assert_eq!(decode("PerfEvtSel0=0x8000000700000000"), ["reserved bits 32-34, 63 are set: read back as 0"]);
        assert!(decode("PerfEvtSel0=0xffdfffff").is_empty());
    }

    #[test]
    fn assignments_are_read_or_refused() {
        let part = select::part("k8").unwrap();
        assert_eq!(assignment(part, "perfctr0=-1").unwrap().value, u64::MAX);
        for wrong in ["PerfCtr0", "PerfCtr0=", "PerfCtr0=x", "=1", ""] {
            assert!(assignment(part, wrong).is_err(), "{wrong}");
        }
    }
}
