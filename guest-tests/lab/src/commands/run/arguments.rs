//! What `pmulab run` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{PageArguments, TimelineArguments, TraceArguments};
use crate::commands::format::{Format, at_least_one};
use crate::runner::SECONDS;

/// Arguments of `pmulab run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A guest's name, the path of an ELF file, or `all`; there may be several
    #[arg(value_name = "NAME|ELF|all", required_unless_present = "guest_options")]
    guests: Vec<String>,
    /// Further guests, as options
    #[arg(long = "guest", value_name = "NAME|ELF|all", hide = true)]
    guest_options: Vec<String>,
    /// The PMU; if left out, the only one that a guest knows or that executes the file, and k8 for a file of x86
    #[arg(long)]
    pub pmu: Option<String>,
    /// The engine that executes the guest: interpreter or, if this build has them, kvm (the host's processor) or unicorn
    #[arg(long, default_value = "interpreter")]
    pub engine: String,
    /// Write what is done with the PMUs into FILE, a litmus file with what the guest saw: `pmulab replay` does the same again
    #[arg(short, long, alias = "record", value_name = "FILE", conflicts_with = "save_at")]
    pub output: Option<PathBuf>,
    /// The most statements of such a recording
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, requires = "output", value_parser = at_least_one)]
    pub record_most: usize,
    /// What is traced.
    #[command(flatten)]
    pub tracing: TraceArguments,
    /// What is drawn over time.
    #[command(flatten)]
    pub drawing: TimelineArguments,
    /// The page about the run.
    #[command(flatten)]
    pub page: PageArguments,
    /// Stop after so many instructions, interrupts and exceptions of all CPUs
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000_000)]
    pub steps: u64,
    /// After so many instructions, interrupts and exceptions of all CPUs, save the run and go on in a new machine
    #[arg(long, value_name = "COUNT")]
    pub save_at: Option<u64>,
    /// The engine that executes the guest in that machine; the same one if left out
    #[arg(long, value_name = "ENGINE", requires = "save_at")]
    pub go_on_with: Option<String>,
    /// Where cycles come from: the engine and the companion, or the host's time-stamp counter. The latter needs `--engine kvm`; the
    /// guest then runs freely, and only cycles are counted
    #[arg(long, value_enum, default_value_t)]
    pub cycles: CycleSource,
    /// Stop after so many seconds
    #[arg(long, value_name = "COUNT", default_value_t = SECONDS)]
    pub seconds: u64,
    /// How many CPUs a guest from a file gets; 1 if left out
    #[arg(long, value_name = "COUNT")]
    pub cpus: Option<usize>,
    /// How many POWER chips with nests and host firmware a guest from a file gets, or nodes of K8 with memory; its CPUs are divided among them
    #[arg(long, value_name = "COUNT", value_parser = at_least_one)]
    pub chips: Option<usize>,
    /// How many POWER chips make a group; all of them if left out
    #[arg(long, value_name = "COUNT", value_parser = at_least_one)]
    pub chips_per_group: Option<usize>,
    /// Put memory buffers with a fourth level on POWER chips
    #[arg(long)]
    pub buffered: bool,
    /// What a Knights Landing uses MCDRAM as, for a guest from a file: memory of MCDRAM is the highest of the machine
    #[arg(long, value_enum)]
    pub memory_mode: Option<McdramUse>,
    /// Run each CPU on its own host thread, instead of in turn
    #[arg(long)]
    pub parallel: bool,
    /// The revision of the part; the latest if left out
    #[arg(long, value_name = "LETTER")]
    pub revision: Option<String>,
    /// Run the guest big-endian; for this project's guests of POWER
    #[arg(long)]
    pub big_endian: bool,
    /// Wait for gdb at this address, and run the guest as it says
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:1234", conflicts_with_all = ["metrics", "parallel"])]
    pub gdb: Option<String>,
    /// Whether the companion models caches, translation, prediction and timing of the part, which the engine lacks
    #[arg(long, value_enum, default_value_t)]
    pub companion: Switch,
    /// Count what this metric or category of metrics needs, and compute it; `all` for every metric. May be given several times
    #[arg(short = 'M', long = "metric", alias = "metrics", value_name = "NAME|CATEGORY|all", conflicts_with_all = ["timeline", "output", "trace", "trace_last", "trace_around_failure"])]
    pub metrics: Vec<String>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl RunArguments {
    /// The words for the guests.
    pub fn guests(&self) -> impl Iterator<Item = &str> {
        self.guests.iter().chain(&self.guest_options).map(String::as_str)
    }
}

/// Where cycles come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CycleSource {
    /// The engine and the companion.
    #[default]
    Engine,
    /// The host's time-stamp counter.
    Tsc,
}

/// What MCDRAM is used as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum McdramUse {
    /// A cache of all memory.
    #[default]
    Cache,
    /// Memory of its own.
    Flat,
    /// A quarter of it is a cache, and the rest is memory.
    HybridQuarter,
    /// Half of it is a cache, and half is memory.
    HybridHalf,
}

/// Something that is there or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// It is there.
    #[default]
    On,
    /// It is not.
    Off,
}
