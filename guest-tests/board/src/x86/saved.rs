//! The state of the glue from step to step, apart from that of PMUs, companion and engine.

use serde::{Deserialize, Serialize};

use super::Cpu;
use super::untile::CpuBoxes;
use crate::trace::TraceState;
use crate::{Deliveries, Usage};

/// The state of [`Cpu`]. The rest of it is worked out anew from the thread's demand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuGlue {
    /// The last step began with RFLAGS.IF clear.
    pub masked: bool,
    /// An interrupt was pending meanwhile.
    pub pending: bool,
    /// The 16-byte piece of code that was fetched last, by its address divided by 16, unless a transfer threw it away.
    pub piece: Option<u64>,
    /// Instructions retired.
    pub instructions: u64,
    /// The address of the instruction that comes next.
    pub next: u64,
    /// The counts of the run.
    pub ledger: LedgerState,
    /// The interrupts of the PMU that were taken.
    pub deliveries: Deliveries,
    /// One was asked for and has not been taken.
    pub asked: bool,
    /// What the guest did with its counters.
    pub usage: Usage,
    /// What has passed between the guest and its PMU, as far as it is kept.
    pub trace: TraceState,
}

/// The state of a [`Ledger`](super::Ledger).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerState {
    /// What was selected, in the order in which it was first.
    pub rows: Vec<RowState>,
    /// What each counter held when it was last read.
    pub held: [u64; 4],
    /// The number of the row that each counter adds to.
    pub open: [Option<usize>; 4],
}

/// A selection of a counter that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowState {
    /// The counter, 0 to 3.
    pub counter: usize,
    /// The selection of PerfEvtSel; `None` for all that came when the ledger was full.
    pub selection: Option<u64>,
    /// How much was counted.
    pub count: u64,
}

impl CpuGlue {
    /// Whether a [`Cpu`] can remember this.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.ledger.is_possible()
    }
}

impl LedgerState {
    /// Whether a ledger can remember this.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let rows = self.rows.iter().all(|row| row.counter < self.held.len());
        rows && self.open.iter().flatten().all(|row| *row < self.rows.len())
    }
}

impl Cpu<'_> {
    /// The state of the glue, between two steps.
    #[must_use]
    pub fn glue(&self) -> CpuGlue {
        let (pending, piece) = self.signals.lasting();
        CpuGlue {
            masked: self.masked,
            pending,
            piece,
            instructions: self.instructions,
            next: self.next,
            ledger: self.ledger.state(),
            deliveries: self.deliveries.clone(),
            asked: self.asked,
            usage: self.usage.clone(),
            trace: self.trace.state(),
        }
    }

    /// Makes the glue continue from `glue`, which [is possible](CpuGlue::is_possible), and read what is demanded by now: the thread has
    /// already been restored to its own state.
    pub fn go_on(&mut self, glue: &CpuGlue) {
        self.masked = glue.masked;
        self.signals.go_on(glue.pending, glue.piece);
        self.report_pending();
        self.instructions = glue.instructions;
        self.next = glue.next;
        self.ledger.go_on(&glue.ledger);
        (self.deliveries, self.asked, self.usage) = (glue.deliveries.clone(), glue.asked, glue.usage.clone());
        self.trace.go_on(&glue.trace);
        self.cpu_boxes.iter().for_each(CpuBoxes::scan);
        self.pmu.restored();
        self.update_boxes();
        self.keep_up();
    }
}
