//! The command line.

use clap::{Parser, Subcommand};

use crate::commands::boot::arguments::BootArguments;
use crate::commands::conformance::arguments::ConformanceArguments;
use crate::commands::decode::DecodeArguments;
use crate::commands::difference::DiffArguments;
use crate::commands::encode::EncodeArguments;
use crate::commands::explain::arguments::ExplainArguments;
use crate::commands::guests::GuestsArguments;
use crate::commands::list::ListArguments;
use crate::commands::litmus::arguments::LitmusArguments;
use crate::commands::metrics::MetricsArguments;
use crate::commands::new::arguments::NewArguments;
use crate::commands::profile::{AnnotateArguments, RecordArguments, ReportArguments};
use crate::commands::replay::ReplayArguments;
use crate::commands::run::RunArguments;
use crate::commands::shell::{CompletionsArguments, ManArguments};
use crate::commands::stat::StatArguments;
use crate::commands::top::TopArguments;

/// Drives and explains the performance monitoring units of vm-pmu.
#[derive(Debug, Parser)]
#[command(name = "pmulab", version, max_term_width = 80)]
#[command(after_help = "Without a command, a short guided demonstration runs.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What there is to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run guests and show what was counted, sampled and checked
    Run(Box<RunArguments>),
    /// Count events of a guest from outside, as `perf stat` does
    Stat(StatArguments),
    /// Take samples of a guest from outside, as `perf record` does
    Record(RecordArguments),
    /// Show samples by symbol and line, as stacks, or for other tools
    Report(ReportArguments),
    /// Show samples by instruction
    Annotate(AnnotateArguments),
    /// Show the PMU of a guest live, while it runs or step by step
    Top(TopArguments),
    /// List the guests
    Guests(GuestsArguments),
    /// List the events of the PMUs and what drives them
    List(ListArguments),
    /// Say what an event, register, field, signal, code or address is
    Explain(ExplainArguments),
    /// Explain register values, field by field
    Decode(DecodeArguments),
    /// Show the register writes that count events
    Encode(EncodeArguments),
    /// Show what of each PMU is tested, and what is not modelled
    Conformance(ConformanceArguments),
    /// Run litmus files, begin one, or make a failing one smaller
    Litmus(LitmusArguments),
    /// Compute metrics from counts, or say which events to count for them
    Metrics(MetricsArguments),
    /// Do again what was recorded, and show the first difference, or cut a stretch out of a recording
    Replay(Box<ReplayArguments>),
    /// Show where the accesses of two recordings differ
    Diff(DiffArguments),
    /// Boot Linux on QEMU with a PMU, and show what its driver does
    Boot(Box<BootArguments>),
    /// Begin a driver or an emulator, with what builds it
    New(NewArguments),
    /// Print what completes commands and options in a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write one of each command
    Man(ManArguments),
}
