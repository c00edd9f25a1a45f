//! The arguments of `pmulab stat`.

use clap::Args;

use crate::commands::format::Format;
use crate::commands::guest::GuestArguments;

/// Arguments of `pmulab stat`.
#[derive(Debug, Args)]
pub struct StatArguments {
    /// What to count: events as `pmulab encode` takes them, separated by commas; may be given several times. The usual ones if left out
    #[arg(short, long = "event", value_name = "EVENT[,EVENT...]")]
    pub events: Vec<String>,
    /// Also compute this metric or category of metrics of the part's manual; may be given several times
    #[arg(short = 'M', long = "metric", alias = "metrics", value_name = "NAME|CATEGORY|all")]
    pub metrics: Vec<String>,
    /// Repeat everything so many times, and show the mean and its deviation
    #[arg(short, long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Where events do not fit on the counters together, have them take turns of so many cycles in one run, and scale the counts; without
    /// it each group of events has a run
    #[arg(long, value_name = "CYCLES", num_args = 0..=1, require_equals = true, default_missing_value = "10000", value_parser = clap::value_parser!(u64).range(1..))]
    pub multiplex: Option<u64>,
    /// Print fields separated by SEP, as `perf stat -x` does
    #[arg(short = 'x', long = "field-separator", value_name = "SEP", conflicts_with = "format")]
    pub separator: Option<String>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// What runs.
    #[command(flatten)]
    pub guest: GuestArguments,
}
