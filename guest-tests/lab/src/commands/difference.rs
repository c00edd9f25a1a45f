//! `pmulab diff`: where two recordings differ.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::commands::{FAILED, PASSED, litmus};
use crate::error::Error;
use crate::number::counted;
use crate::output::Output;

/// Arguments of `pmulab diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// A recording
    #[arg(value_name = "FILE")]
    pub left: PathBuf,
    /// Another one
    #[arg(value_name = "FILE")]
    pub right: PathBuf,
    /// Compare every statement, with what was fed, and not the accesses and interrupts alone
    #[arg(long)]
    pub all: bool,
    /// How many equal lines are shown around a difference
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub context: usize,
    /// The most stretches that are shown
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub most: usize,
}

/// How long lines are aligned before what is left is taken as different.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Compares two recordings.
///
/// # Errors
/// A file cannot be read.
pub fn diff(arguments: &DiffArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let DiffArguments { left, right, all, context, most } = arguments;
    let (one, other) = (accesses(left, *all)?, accesses(right, *all)?);
    let (before, after): (Vec<&str>, Vec<&str>) = (one.iter().map(String::as_str).collect(), other.iter().map(String::as_str).collect());
    let compared = TextDiff::configure().algorithm(Algorithm::Patience).timeout(PATIENCE).diff_slices(&before, &after);
    let groups = compared.grouped_ops(*context);
    if groups.is_empty() {
        writeln!(
            output,
            "the same in both: {}",
            if *all { counted(one.len(), "statement") } else { counted(one.len(), "line") + " of accesses and interrupts" }
        )?;
        return Ok(PASSED);
    }
    writeln!(output, "- {}\n+ {}", left.display(), right.display())?;
    for group in groups.iter().take(*most) {
        writeln!(output)?;
        for change in group.iter().flat_map(|step| compared.iter_changes(step)) {
            let mark = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let number = change.old_index().or(change.new_index()).map_or(0, |index| index + 1);
            writeln!(output, "{mark} {number:>7}  {}", change.value())?;
        }
    }
    let left_out = groups.len().saturating_sub(*most);
    if left_out != 0 {
        writeln!(output, "\n{} more; --most shows them", counted(left_out, "difference"))?;
    }
    Ok(FAILED)
}

/// The lines of a recording that state accesses and what the guest saw, each with its thread; or all.
fn accesses(file: &Path, all: bool) -> Result<Vec<String>, Error> {
    let program = litmus::read(file)?;
    let text = program.to_string();
    let statements = text.lines().skip_while(|line| !line.is_empty()).skip(1);
    let mut thread = "0";
    let mut kept = Vec::new();
    for line in statements {
        if let Some(number) = line.strip_prefix("thread ") {
            thread = number;
            continue;
        }
        let is_access = ["read ", "write ", "interrupts ", "lines ", "pins ", "reset "].iter().any(|word| line.starts_with(word));
        if (all || is_access) && line != "interrupts none" {
            kept.push(if program.packages * program.threads > 1 { format!("thread {thread}: {line}") } else { line.to_owned() });
        }
    }
    Ok(kept)
}
