//! Arguments of `pmulab litmus`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::commands::format::Format;

/// Arguments of `pmulab litmus`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LitmusArguments {
    /// What to do other than to run them.
    #[command(subcommand)]
    pub command: Option<LitmusCommand>,
    /// Litmus files, or folders in which to search for *.litmus files; without any, the suite that the program carries
    #[arg(value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Which of them
    #[command(flatten)]
    pub wanted: Wanted,
    /// Show only files that fail or are not understood
    #[arg(long)]
    pub failures: bool,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Which litmus files are run: those that every argument fits.
#[derive(Debug, Default, Args)]
pub struct Wanted {
    /// Only files about this PMU
    #[arg(long)]
    pub pmu: Option<String>,
    /// Only files with this text in their name or title
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Only files that cite a section with this text
    #[arg(long, value_name = "TEXT")]
    pub section: Option<String>,
    /// Only files that access this register, by name or address
    #[arg(long, value_name = "NAME")]
    pub register: Option<String>,
}

/// What `pmulab litmus` does other than to run files.
#[derive(Debug, Subcommand)]
pub enum LitmusCommand {
    /// Print a smaller file that fails in the same way, or breaks the contract
    #[command(long_about = SHRINK)]
    Shrink {
        /// A litmus file that fails
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Begin a litmus file: asks for what the options leave out
    New(NewArguments),
}

/// Arguments of `pmulab litmus new`.
#[derive(Debug, Args)]
pub struct NewArguments {
    /// The file to write; there must be none of this name
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The PMU that it is about
    #[arg(long)]
    pub pmu: Option<String>,
    /// The rule that it checks, in one line
    #[arg(long)]
    pub title: Option<String>,
    /// The section of the manual, or other source, that states the rule
    #[arg(long)]
    pub section: Option<String>,
    /// A statement; may be given several times
    #[arg(long = "statement", value_name = "STATEMENT")]
    pub statements: Vec<String>,
}

const SHRINK: &str = "\
Print a smaller file that fails in the same way.

Statements, repetitions, signals, threads and bits of numbers are left out as long as the same expectation fails and sees the same. If all \
expectations of the file are met, it must break the contract: embedders of different manners then observe different things, and the smaller \
file still makes them do so.";
