//! The arguments of `pmulab top`.

use clap::Args;

use crate::commands::guest::GuestArguments;

/// Arguments of `pmulab top`.
#[derive(Debug, Args)]
pub struct TopArguments {
    /// What runs.
    #[command(flatten)]
    pub guest: GuestArguments,
    /// How many steps a running guest takes from one frame to the next; in the view, + and - change it
    #[arg(long, value_name = "STEPS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Print so many frames as text instead, one each `--every` steps
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub frames: Option<u32>,
    /// The size of these frames, in columns and lines
    #[arg(long, value_name = "COLUMNSxLINES", default_value = "80x24", requires = "frames", value_parser = size)]
    pub size: (u16, u16),
    /// The engine that executes the guest; only the interpreter stops between steps
    #[arg(long, default_value = "interpreter")]
    pub engine: String,
}

/// The least and the most columns and lines.
const SIZES: [(u16, u16); 2] = [(40, 10), (400, 200)];

fn size(text: &str) -> Result<(u16, u16), String> {
    let [(least_columns, least_lines), (most_columns, most_lines)] = SIZES;
    let parsed = text.split_once('x').and_then(|(columns, lines)| Some((columns.parse().ok()?, lines.parse().ok()?)));
    parsed
        .filter(|(columns, lines)| (least_columns..=most_columns).contains(columns) && (least_lines..=most_lines).contains(lines))
        .ok_or_else(|| format!("write {least_columns}x{least_lines} to {most_columns}x{most_lines}, for example 80x24"))
}
