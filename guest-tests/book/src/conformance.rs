//! The page of conformance: what of each part is tested, and every rule with its file.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use vm_pmu::litmus::{Case, ParseError};
use vm_pmu_lab::conformance::{Conformance, Covered};
use vm_pmu_lab::suite::{File, Index};

use super::{cell, litmus_files};

/// How many names a row of the table has.
const FEW: usize = 12;

pub(super) fn page(suites: &Path) -> io::Result<String> {
    let mut files: Vec<File> = Vec::new();
    let paths = litmus_files(suites)?;
    for file in &paths {
        let path = file.strip_prefix(suites).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let wrong = |errors: Vec<ParseError>| {
            let error = errors.first().map(ToString::to_string).unwrap_or_default();
            io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {error}"))
        };
        let cases = Case::of_file(&fs::read_to_string(file)?).map_err(wrong)?;
        files.extend(cases.into_iter().map(|case| File { path: path.clone(), litmus: case.litmus }));
    }
    let mut page = format!(
        "# Conformance\n\nEach rule of a manual, and each habit of a driver that a model relies on, has a litmus program: {} rules in {} files. \
         Each rule below is a link to its file. `cargo test` runs all of them; `pmulab litmus` shows each result, and \
         [`pmulab conformance`](pmulab.md#conformance) what these tables show.\n\nA register is covered if a rule reads or writes it, a \
         field if one sets it or sees it set, an event or unit mask if one selects it or has it occur.\n",
        files.len(),
        paths.len()
    );
    let mut parts: Vec<_> = files.iter().map(|file| file.litmus.part).collect();
    parts.sort_by_key(|part| part.name());
    parts.dedup_by_key(|part| part.name());
    for part in parts {
        let own = files.iter().filter(|file| file.litmus.part.name() == part.name()).cloned().collect();
        section(&Conformance::of(&Index::new(part, own)), &mut page);
    }
    Ok(page)
}

fn section(one: &Conformance, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n| what | of | covered | not covered |\n| --- | ---: | ---: | --- |\n", one.pmu);
    for (what, covered) in [("registers", &one.registers), ("fields", &one.fields), ("events and unit masks", &one.selected)] {
        let Covered { all, covered, missing } = covered;
        let _ = writeln!(page, "| {what} | {all} | {covered} | {} |", some(missing));
    }
    page.push_str("\n| count | events and unit masks | not modelled |\n| --- | ---: | --- |\n");
    let none: &[&str] = &[];
    for (word, number, names) in [
        ("exact", one.fidelity.exact, none),
        ("approximate", one.fidelity.approximate, none),
        ("embedder", one.fidelity.embedder, &one.not_modelled.embedder),
        ("injected", one.fidelity.injected, &one.not_modelled.injected),
    ] {
        let _ = writeln!(page, "| {word} | {number} | {} |", some(names));
    }
    page.push_str("\n| source | rule |\n| --- | --- |\n");
    for cited in &one.rules {
        for rule in &cited.rules {
            let _ = writeln!(page, "| {} | [{}](../../guest-tests/litmus/{}) |", cell(&cited.section), cell(&rule.title), rule.file);
        }
    }
}

/// The first names of a list, and how many more there are.
fn some(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<String> = names.iter().take(FEW).map(|name| format!("`{}`", cell(name.as_ref()))).collect();
    let more = names.len().checked_sub(FEW).filter(|more| *more > 0);
    format!("{}{}", shown.join(", "), more.map_or_else(String::new, |more| format!(" and {more} more")))
}
