//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::boot::arguments::BootArguments;
use crate::commands::conformance::arguments::ConformanceArguments;
use crate::commands::difference::DiffArguments;
use crate::commands::explain::arguments::ExplainArguments;
use crate::commands::litmus::arguments::LitmusArguments;
use crate::commands::new::arguments::NewArguments;
use crate::commands::profile::{AnnotateArguments, RecordArguments, ReportArguments};
use crate::commands::replay::ReplayArguments;
use crate::commands::run::{PageArguments, TimelineArguments, TraceArguments};
use crate::commands::shell::{CompletionsArguments, ManArguments};
use crate::commands::stat::StatArguments;
use crate::commands::top::TopArguments;
use crate::runner::SECONDS;

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

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}

/// A form of output that may be rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RowsFormat {
    /// For people.
    #[default]
    Table,
    /// An array of objects.
    Json,
    /// Comma-separated values with a header.
    Csv,
}

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

/// A number from 1 up.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number != 0).ok_or_else(|| "write a number from 1 up".to_owned())
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

/// Arguments of `pmulab guests`.
#[derive(Debug, Args)]
pub struct GuestsArguments {
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `pmulab list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only the events of this PMU
    #[arg(long)]
    pub pmu: Option<String>,
    /// Only the events of this unit of the part
    #[arg(long)]
    pub unit: Option<String>,
    /// Only events with this text in their name, aliases, signals or summary
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Also events that only the prose of the manual names, not its tables
    #[arg(long)]
    pub all: bool,
    /// In the table, also the signals that drive an event and how an approximate count differs
    #[arg(long, short)]
    pub long: bool,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: RowsFormat,
}

/// Arguments of `pmulab decode`.
#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// The PMU the registers belong to
    #[arg(long)]
    pub pmu: Option<String>,
    /// A register, by name or as msr:0xc0010000, spr:795 or pci:255:8.2:0xb20, and its value: PerfEvtSel0=0x530076
    #[arg(value_name = "REG=VALUE", required = true)]
    pub registers: Vec<String>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `pmulab encode`.
#[derive(Debug, Args)]
#[command(after_help = ENCODE_HELP)]
pub struct EncodeArguments {
    /// The PMU to program
    #[arg(long)]
    pub pmu: Option<String>,
    /// The revision of the part; the latest if left out
    #[arg(long, value_name = "LETTER")]
    pub revision: Option<String>,
    /// Spread events that cannot be counted together over groups that can
    #[arg(long)]
    pub groups: bool,
    /// What to count, one counter each in order
    #[arg(value_name = "EVENT[:UMASK...][:MODIFIER...]", required = true)]
    pub events: Vec<String>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `pmulab metrics`.
#[derive(Debug, Args)]
pub struct MetricsArguments {
    /// The PMU whose manual has the metrics
    #[arg(long, default_value = "power9")]
    pub pmu: String,
    /// Metrics, categories of metrics, or `all`
    #[arg(value_name = "NAME|CATEGORY|all", default_value = "all")]
    pub metrics: Vec<String>,
    /// A file of counts: an object of JSON, lines of NAME,COUNT, or what `perf stat -x,` prints
    #[arg(long, value_name = "FILE")]
    pub counts: Option<PathBuf>,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

const ENCODE_HELP: &str = "\
An event is a name or alias from `pmulab list`, or its code as 0x76; a unit
mask is a name or 0x02. Without unit masks, all that the event has are counted.

Modifiers of k8:
  u, k, uk      count at levels above 0, at level 0, at both (the default)
  nouk          count at no level
  e, edge       count transitions instead of levels
  c=N, cmask=N  count clocks with at least N
  i, inv        with cmask: count clocks with fewer than N
  int           an overflow requests an interrupt
  pc            the pin toggles at overflow instead of at every increment
  noen          leave the counter disabled
  period=N      also set the counter so that it overflows after N

Modifiers of knl: those of k8 except pc, and
  any           count for every thread of the core
  pmc=N         in this general counter
  rsp=A+B       OFFCORE_RESP: the requests, by the names of table 1-1
Events of its boxes have the box before them, cha0::TOR_INSERTS.IRQ; in a box
int reports an overflow to the UBox, and a CHA takes tid=N, state=mes, opc0=N,
opc1=N, nc and isoc.

Modifiers of power9, whose codes may have every field of the manual's
figure 5-2 (0x34340401e0):
  u, k, h       count in problem, privileged, hypervisor state; all if none is
                given
  run           count while the run latch is set
  e, edge       count falling edges
  pmc=N         on this counter
  reload=N      RELOAD_QUAL, with its enable bit
  int, ebb      a negative counter alerts: by interrupt, by event-based branch
  period=N      set the counter so that it is negative after N

Examples:
  pmulab encode --pmu k8 CPU_CLK_UNHALTED:int:period=100000 PROBE:MISS:k
  pmulab encode --pmu knl BR_INST_RETIRED.CALL:u INST_RETIRED.ANY
  pmulab encode --pmu power9 PM_INST_CMPL:u:int:period=1000 PM_RUN_CYC";
