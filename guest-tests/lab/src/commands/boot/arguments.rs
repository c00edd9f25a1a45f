//! The command line of `pmulab boot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::commands::format::at_least_one;
use crate::commands::run::{TimelineArguments, TraceArguments};

/// An emulator that a kit builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emulator {
    /// QEMU with the PMU in its translator
    Qemu,
}

/// Arguments of `pmulab boot`.
#[derive(Clone, Debug, Args)]
pub struct BootArguments {
    /// The emulator
    #[arg(long, value_enum, value_name = "EMULATOR")]
    pub on: Emulator,
    /// The part: k8, knl or power9; powernv9 for POWER9 with its nest, without a hypervisor below
    #[arg(long, alias = "part", value_name = "PART")]
    pub pmu: String,
    /// The folder of the emulator's programs, instead of the newest that the kit has built
    #[arg(long, value_name = "DIR", conflicts_with = "version")]
    pub qemu_dir: Option<PathBuf>,
    /// Build this version first: stable, newest, or a number such as 10.0
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The folder of the kit, instead of device/qemu of the repository
    #[arg(long, value_name = "DIR")]
    pub kit: Option<PathBuf>,
    /// How many CPUs
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = at_least_one)]
    pub cpus: usize,
    /// When the guest counts as hanging, in seconds
    #[arg(long, value_name = "COUNT", default_value_t = 120)]
    pub seconds: u64,
    /// Write what is done with the PMUs into FILE, a litmus file with what the guest saw: `pmulab replay` does the same again
    #[arg(short, long, alias = "record", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The most statements of the recording, which is also what trace and timeline show
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = at_least_one)]
    pub record_most: usize,
    /// What is traced.
    #[command(flatten)]
    pub tracing: TraceArguments,
    /// What is drawn over time.
    #[command(flatten)]
    pub drawing: TimelineArguments,
    /// A command for the guest's shell; perf counts a loop if left out
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
