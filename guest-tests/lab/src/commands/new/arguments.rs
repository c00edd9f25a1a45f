//! Arguments of `pmulab new`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `pmulab new`.
#[derive(Debug, Args)]
pub struct NewArguments {
    /// What is begun.
    #[command(subcommand)]
    pub what: What,
}

/// A program that can be begun.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Write a driver that samples by the counters of a part, its test, and what builds them
    Driver(DriverArguments),
    /// Write an emulator that has a PMU, and what builds it
    Emulator(EmulatorArguments),
}

/// Arguments of `pmulab new driver`.
#[derive(Debug, Args)]
pub struct DriverArguments {
    /// The PMU whose driver it is
    #[arg(long)]
    pub pmu: String,
    /// The folder for its files
    #[arg(value_name = "DIR", default_value = "driver")]
    pub folder: PathBuf,
}

/// Arguments of `pmulab new emulator`.
#[derive(Debug, Args)]
pub struct EmulatorArguments {
    /// The language.
    #[command(flatten)]
    pub language: Language,
    /// The folder for its files
    #[arg(value_name = "DIR", default_value = "emulator")]
    pub folder: PathBuf,
}

/// The language of an emulator.
#[derive(Clone, Copy, Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Language {
    /// In Rust, with the crate vm-pmu
    #[arg(long)]
    pub rust: bool,
    /// In C, with vm_pmu.h and its library
    #[arg(long)]
    pub c: bool,
}
