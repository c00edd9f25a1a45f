//! Arguments of `pmulab conformance`.

use clap::Args;

use crate::commands::format::Format;

/// Arguments of `pmulab conformance`.
#[derive(Debug, Args)]
pub struct ConformanceArguments {
    /// Only this PMU, with its sections
    #[arg(long)]
    pub pmu: Option<String>,
    /// Name everything that is not covered or not modelled, and every rule
    #[arg(long, short)]
    pub long: bool,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
