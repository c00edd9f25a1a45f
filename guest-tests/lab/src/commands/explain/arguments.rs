//! Arguments of `pmulab explain`.

use clap::Args;

use crate::commands::format::Format;

/// Arguments of `pmulab explain`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ExplainArguments {
    /// Only what this PMU means by it
    #[arg(long)]
    pub pmu: Option<String>,
    /// Events, registers, fields, signals, metrics, codes or addresses
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,
    /// Name every litmus file, not the first few
    #[arg(long, short)]
    pub long: bool,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

const HELP: &str = "\
A word is the name of an event, by the manual or another tool (PM_LD_MISS_L1,
INST_RETIRED.ANY, cycles), of a register (MMCR0), of a field (FC56, MMCR0.FC56),
of a signal (loads) or of a metric (RUN_CPI); the code of an event (0x1001e,
r00c0), the value of an event select (0x530076), or an address (msr:0xc1,
spr:795, pmd:4, 795). What it means on several PMUs is shown for each.";
