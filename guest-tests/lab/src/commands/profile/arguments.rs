//! The arguments of `pmulab record`, `report` and `annotate`.

use std::path::PathBuf;

use clap::Args;

use crate::commands::format::Format;
use crate::commands::guest::GuestArguments;

/// The file that is written and read where none is named.
pub(super) const FILE: &str = "pmulab.data";

/// Arguments of `pmulab record`.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// What to sample by: an event as `pmulab encode` takes it
    #[arg(short, long, value_name = "EVENT", default_value = "cycles")]
    pub event: String,
    /// Take a sample whenever so many have occurred in a thread
    #[arg(short = 'c', long = "count", value_name = "PERIOD", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=0x3FFF_FFFF))]
    pub period: u64,
    /// The file to write
    #[arg(short, long, alias = "record", value_name = "FILE", default_value = FILE)]
    pub output: PathBuf,
    /// What runs.
    #[command(flatten)]
    pub guest: GuestArguments,
    /// The form of what is said about it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `pmulab report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// What `pmulab record` has written
    #[arg(default_value = FILE)]
    pub file: PathBuf,
    /// Print folded stacks, for flame graphs
    #[arg(long, group = "form")]
    pub folded: bool,
    /// Print what Firefox Profiler opens
    #[arg(long, group = "form")]
    pub firefox: bool,
    /// Print what `perf script` prints
    #[arg(long, group = "form")]
    pub script: bool,
    /// The form of output
    #[arg(long, value_enum, default_value_t, conflicts_with = "form")]
    pub format: Format,
}

/// Arguments of `pmulab annotate`.
#[derive(Debug, Args)]
pub struct AnnotateArguments {
    /// What `pmulab record` has written
    pub file: PathBuf,
    /// The symbol whose instructions are shown
    pub symbol: String,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
