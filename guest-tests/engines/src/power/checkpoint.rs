//! What a transaction goes back to.

use serde::{Deserialize, Serialize};

use super::footprint::Footprint;
use super::vectors::Vectors;

/// What a transaction goes back to if it fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The general purpose registers.
    pub gpr: [u64; 32],
    /// The bits of the floating-point registers.
    pub fpr: [u64; 32],
    /// The rest of the vector-scalar registers.
    #[serde(default, skip_serializing_if = "Vectors::are_clear")]
    pub vectors: Vectors,
    /// The floating-point status and control register.
    pub fpscr: u64,
    /// The condition register.
    pub cr: u32,
    /// The link register.
    pub lr: u64,
    /// The count register.
    pub ctr: u64,
    /// The fixed-point exception register.
    pub xer: u64,
    /// The target address register.
    pub tar: u64,
    /// The data stream control register.
    pub dscr: u64,
    /// The program priority register.
    pub ppr: u64,
    /// Transactions inside each other, this one included: at least 1.
    pub depth: u32,
    /// It failed while it was suspended.
    pub doomed: bool,
    /// Instructions that have completed since it began, and their cycles, while the run latch was set.
    #[serde(default)]
    pub run: (u64, u64),
    /// What it has accessed. While the machine runs it is kept elsewhere.
    #[serde(flatten)]
    pub footprint: Footprint,
}
