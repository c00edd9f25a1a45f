//! The pages of registers: maps of their bits, drawn from the layouts that the models use.

use std::fmt::Write as _;
use std::path::PathBuf;

use vm_pmu::Part;
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::NAMES;
use vm_pmu_lab::dialect::{self, Numbering, select};

use super::cell;

/// How many bits a row of a map has.
const ROW: u8 = 32;

/// A page for each part.
pub(super) fn pages() -> impl Iterator<Item = (PathBuf, String)> {
    NAMES.iter().filter_map(|name| Part::named(name)).map(|part| (PathBuf::from(format!("{}-registers.md", part.name())), page(part)))
}

fn page(part: Part) -> String {
    let dialect = dialect::of(part);
    let numbering = dialect.numbering();
    let end = match numbering {
        Numbering::FromLeast => "Bit 0 is the least significant one.",
        Numbering::FromMost => "Bit 0 is the most significant one, as in the manual.",
    };
    let mut page = format!(
        "# Registers of {}\n\nEvery layout that the model has, with its registers. {end} Grey bits are reserved: they read as zero and \
         ignore writes, unless the table says otherwise. [`pmulab decode`](pmulab.md) takes a value apart.\n",
        part.catalogue().title
    );
    let mut groups: Vec<(&[Field], Vec<&RegisterDescription>)> = Vec::new();
    for register in dialect.registers(part) {
        match groups.iter_mut().find(|(fields, _)| *fields == register.fields) {
            Some((_, members)) => members.push(register),
            None => groups.push((register.fields, vec![register])),
        }
    }
    for (fields, members) in groups {
        let families = families(&members);
        let title: Vec<&str> = families.iter().take(2).map(|(name, _)| name.as_str()).collect();
        let more = if families.len() > title.len() { " and others" } else { "" };
        let _ = writeln!(page, "\n## {}{more}\n", title.join(", "));
        let places: Vec<String> = families.iter().map(|(name, members)| format!("`{name}`: {}", place(members))).collect();
        let _ = writeln!(page, "{}.\n", places.join("; "));
        map(fields, numbering, &mut page);
        table(fields, numbering, &mut page);
    }
    page
}

/// Registers whose names differ in numbers alone, in the order of the first of each: what to call them, and which they are.
fn families<'a>(members: &[&'a RegisterDescription]) -> Vec<(String, Vec<&'a RegisterDescription>)> {
    let mut families: Vec<(Vec<String>, Vec<&RegisterDescription>)> = Vec::new();
    for register in members {
        let words = words(register.name);
        match families.iter_mut().find(|(other, _)| is_kin(other, &words)) {
            Some((_, registers)) => registers.push(register),
            None => families.push((words, vec![register])),
        }
    }
    families.into_iter().map(|(_, registers)| (family(&registers), registers)).collect()
}

/// A name in pieces: numbers, and what is between them.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if word.ends_with(|last: char| last.is_ascii_digit()) == letter.is_ascii_digit() => word.push(letter),
            _ => words.push(letter.to_string()),
        }
    }
    words
}

fn is_kin(left: &[String], right: &[String]) -> bool {
    let is_number = |word: &String| word.parse::<u32>().is_ok();
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left == right || (is_number(left) && is_number(right)))
}

/// `PerfEvtSel0-3` for four registers of such names.
fn family(registers: &[&RegisterDescription]) -> String {
    let names: Vec<Vec<String>> = registers.iter().map(|register| words(register.name)).collect();
    let Some(first) = names.first() else { return String::new() };
    let piece = |at: usize| {
        let numbers = || names.iter().filter_map(|name| name.get(at)?.parse::<u32>().ok());
        match (numbers().min(), numbers().max()) {
            (Some(least), Some(most)) if least != most => format!("{least}-{most}"),
            _ => first[at].clone(),
        }
    };
    (0..first.len()).map(piece).collect()
}

fn place(registers: &[&RegisterDescription]) -> String {
    let word = |register: &RegisterDescription| format!("`{}`", select::address_word(register.address));
    match registers {
        [only] => word(only),
        [first, second] => format!("{}, {}", word(first), word(second)),
        [first, .., last] => format!("{} to {}", word(first), word(last)),
        [] => String::new(),
    }
}

fn is_reserved(field: &Field) -> bool {
    matches!(field.access, FieldAccess::Reserved | FieldAccess::MustBeZero) || field.name == "Reserved"
}

/// The bits in two rows, from the most significant down: their numbers, and the names of the fields.
fn map(fields: &[Field], numbering: Numbering, page: &mut String) {
    page.push_str("<table class=\"register\">\n");
    for low in [ROW, 0] {
        let (mut numbers, mut names) = (String::new(), String::new());
        let mut bit = low + ROW;
        while bit > low {
            let top = bit - 1;
            let field = fields.iter().find(|field| (field.low..=field.high).contains(&top));
            let bottom = match field {
                Some(field) => field.low.max(low),
                None => (low..top)
                    .rev()
                    .find(|bit| fields.iter().any(|field| (field.low..=field.high).contains(bit)))
                    .map_or(low, |bit| bit + 1),
            };
            let span = top - bottom + 1;
            let named = field.filter(|field| !is_reserved(field));
            let name = named.map_or("", |field| field.name);
            // A bit has room for three letters, and turned by a right angle for any number.
            let class = match named {
                None => " class=\"reserved\"",
                Some(_) if name.len() > 3 * usize::from(span) => " class=\"turned\"",
                Some(_) => "",
            };
            let _ = write!(numbers, "<td colspan=\"{span}\">{}</td>", numbering.field(top, bottom).replace("..", "-").replace(':', "-"));
            let _ = write!(names, "<td colspan=\"{span}\"{class}><span>{}</span></td>", name.replace('<', "&lt;"));
            bit = bottom;
        }
        let _ = writeln!(page, "<tr class=\"bits\">{numbers}</tr>\n<tr>{names}</tr>");
    }
    page.push_str("</table>\n\n");
}

fn table(fields: &[Field], numbering: Numbering, page: &mut String) {
    let mut fields: Vec<&Field> = fields.iter().filter(|field| !is_reserved(field) || field.access == FieldAccess::MustBeZero).collect();
    fields.sort_by_key(|field| numbering.bit(field.low));
    page.push_str("| bits | field | meaning |\n| ---: | --- | --- |\n");
    for field in fields {
        let access = if field.access == FieldAccess::ReadOnly { " Read-only." } else { "" };
        let summary = cell(field.summary.trim());
        let period = if access.is_empty() || summary.ends_with('.') { "" } else { "." };
        let _ = writeln!(page, "| {} | `{}` | {summary}{period}{access} |", numbering.field(field.high, field.low), field.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_every_bit_once() {
        let field = |name, high, low, access| Field { name, high, low, access, summary: "" };
        let fields = [
            field("A", 7, 0, FieldAccess::ReadWrite),
            field("LONG", 8, 8, FieldAccess::ReadWrite),
            field("B", 40, 30, FieldAccess::ReadOnly),
        ];
        let mut page = String::new();
        map(&fields, Numbering::FromLeast, &mut page);
        let spans: u32 = page.split("colspan=\"").skip(1).filter_map(|cell| cell.split('"').next()?.parse::<u32>().ok()).sum();
        assert_eq!(spans, 2 * 64);
        assert!(page.contains("<td colspan=\"1\" class=\"turned\"><span>LONG</span></td>"), "{page}");
        assert!(page.contains("<td colspan=\"9\">40-32</td>") && page.contains("<td colspan=\"2\">31-30</td>"), "{page}");
        assert!(page.contains("<td colspan=\"21\" class=\"reserved\">"), "{page}");
    }

    #[test]
    fn names_that_differ_in_numbers_are_one_family() {
        assert_eq!(words("IA32_PMC1"), ["IA", "32", "_PMC", "1"]);
        assert!(is_kin(&words("PMC1"), &words("PMC12")) && !is_kin(&words("PMC1"), &words("PMD1")));
    }
}
