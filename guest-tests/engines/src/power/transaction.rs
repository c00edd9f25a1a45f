//! Transactional memory in a simple form: what a transaction stores is in memory at once, and is undone if it fails. Whoever accesses it
//! makes one of the transactions fail before anything is read: see [`footprint`](super::footprint).

use serde::{Deserialize, Serialize};

use super::footprint::{Failure, Footprint};
use super::registers::{msr, spr};
use super::state::Core;
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

/// The most bytes that a transaction stores before it fails for lack of room: POWER9's store queue and L2 hold 8 KiB.
pub(crate) const MOST: usize = 8 << 10;

impl Core {
    pub(crate) fn new_checkpoint(&self) -> Box<Checkpoint> {
        let kept = |number: u16| self.spr[usize::from(number)];
        Box::new(Checkpoint {
            gpr: self.gpr,
            fpr: self.fpr,
            vectors: self.vectors.clone(),
            fpscr: self.fpscr,
            cr: self.cr,
            lr: self.lr,
            ctr: self.ctr,
            xer: self.xer,
            tar: kept(spr::TAR),
            dscr: kept(spr::DSCR),
            ppr: kept(spr::PPR),
            depth: 1,
            doomed: false,
            run: (0, 0),
            footprint: Footprint::default(),
        })
    }

    /// Undoes what the transaction stored, and forgets what it has accessed. Returns why it failed, if others made it.
    pub(crate) fn give_up_footprint(&mut self) -> Option<Failure> {
        let footprint = self.shared.footprints.get(self.index)?;
        for (real, byte) in footprint.undo.iter().rev() {
            self.shared.memory.write(*real, 1, u64::from(*byte));
        }
        self.shared.footprints.set(self.index, None);
        footprint.failed
    }

    /// The transaction has accessed nothing yet, or what it stored has been undone.
    pub(crate) fn begin_footprint(&mut self) {
        self.shared.footprints.set(self.index, Some(Footprint::default()));
    }

    /// Takes back the registers.
    pub(crate) fn restore(&mut self, checkpoint: &Checkpoint) {
        self.gpr = checkpoint.gpr;
        self.fpr = checkpoint.fpr;
        self.vectors.clone_from(&checkpoint.vectors);
        self.fpscr = checkpoint.fpscr;
        self.cr = checkpoint.cr;
        self.lr = checkpoint.lr;
        self.ctr = checkpoint.ctr;
        self.xer = checkpoint.xer;
        for (number, value) in [(spr::TAR, checkpoint.tar), (spr::DSCR, checkpoint.dscr), (spr::PPR, checkpoint.ppr)] {
            self.context_changed |= number == spr::PPR && self.spr[usize::from(number)] != value;
            self.spr[usize::from(number)] = value;
        }
    }

    /// Whether a transaction runs.
    pub(crate) fn transactional(&self) -> bool {
        self.msr & msr::TS == msr::TS_TRANSACTIONAL
    }

    /// Whether the running transaction must fail now.
    #[inline]
    pub(crate) fn transaction_failed(&self) -> bool {
        self.transactional() && self.is_doomed()
    }

    /// Whether the transaction, running or suspended, is going to fail.
    pub(crate) fn is_doomed(&self) -> bool {
        let failed = || self.shared.footprints.get(self.index).is_some_and(|footprint| footprint.failed.is_some());
        self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.doomed) || failed()
    }
}
