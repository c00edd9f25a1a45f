//! `pmulab diff`: where two recordings differ.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};
use vm_pmu::litmus::Litmus;

use crate::commands::format::Format;
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
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// How long lines are aligned before what is left is taken as different.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Compares two recordings.
///
/// # Errors
/// A file cannot be read, or they are of two parts.
pub fn diff(arguments: &DiffArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let DiffArguments { left, right, all, context, most, format } = arguments;
    let (first, second) = (litmus::read(left)?, litmus::read(right)?);
    let (pmu, other) = (first.part.name(), second.part.name());
    if pmu != other {
        let (left, right) = (left.display(), right.display());
        return Err(Error::usage(format!("{left} is of {pmu} and {right} of {other}: give two recordings of one part")));
    }
    let (one, other) = (accesses(&first, *all), accesses(&second, *all));
    let (before, after): (Vec<&str>, Vec<&str>) = (one.iter().map(String::as_str).collect(), other.iter().map(String::as_str).collect());
    let compared = TextDiff::configure().algorithm(Algorithm::Patience).timeout(PATIENCE).diff_slices(&before, &after);
    let groups = compared.grouped_ops(*context);
    let stretch = |group: &Vec<DiffOp>| -> Vec<Line> {
        let changes = group.iter().flat_map(|step| compared.iter_changes(step));
        changes
            .map(|change| Line {
                number: [change.old_index(), change.new_index()].map(|index| index.map(|index| index + 1)),
                of: change.tag().into(),
                statement: change.value().to_owned(),
            })
            .collect()
    };
    let found = Difference {
        left: left.display().to_string(),
        right: right.display().to_string(),
        pmu,
        same: groups.is_empty(),
        lines: [one.len(), other.len()],
        differences: groups.len(),
        stretches: groups.iter().take(*most).map(stretch).collect(),
    };
    match format {
        Format::Json => output.json(&found)?,
        Format::Table => found.show(*all, output)?,
    }
    Ok(if found.same { PASSED } else { FAILED })
}

/// Where two recordings differ, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct Difference {
    left: String,
    right: String,
    pmu: &'static str,
    same: bool,
    /// How many lines of each are compared.
    lines: [usize; 2],
    /// How many stretches differ.
    differences: usize,
    /// Those that are shown, line by line.
    stretches: Vec<Vec<Line>>,
}

/// A line of one recording or of both.
#[derive(Clone, Debug, Serialize)]
struct Line {
    /// Its number in each.
    number: [Option<usize>; 2],
    of: Whose,
    statement: String,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Whose {
    Both,
    Left,
    Right,
}

impl From<ChangeTag> for Whose {
    fn from(tag: ChangeTag) -> Whose {
        match tag {
            ChangeTag::Equal => Whose::Both,
            ChangeTag::Delete => Whose::Left,
            ChangeTag::Insert => Whose::Right,
        }
    }
}

impl Difference {
    fn show(&self, all: bool, output: &mut Output<'_>) -> Result<(), Error> {
        let [compared, _] = self.lines;
        if self.same {
            let compared = if all { counted(compared, "statement") } else { counted(compared, "line") + " of accesses and interrupts" };
            output.line(2, &format!("{} in both: {compared}", output.good("the same")))?;
            return Ok(());
        }
        writeln!(output, "- {}\n+ {}", self.left, self.right)?;
        for stretch in &self.stretches {
            writeln!(output)?;
            for Line { number, of, statement } in stretch {
                let [left, right] = number;
                let number = left.or(*right).unwrap_or(0);
                let mark = match of {
                    Whose::Left => output.bad("-"),
                    Whose::Right => output.good("+"),
                    Whose::Both => " ".to_owned(),
                };
                output.line(13, &format!("{mark} {number:>7}  {statement}"))?;
            }
        }
        let left_out = self.differences.saturating_sub(self.stretches.len());
        if left_out != 0 {
            writeln!(output, "\n{} more; --most shows them", counted(left_out, "difference"))?;
        }
        Ok(())
    }
}

/// The lines of a recording that state accesses and what the guest saw, each with its thread; or all.
fn accesses(program: &Litmus, all: bool) -> Vec<String> {
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
    kept
}
