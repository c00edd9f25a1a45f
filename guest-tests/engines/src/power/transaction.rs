//! Transactional memory in its simplest form: what a transaction stores is visible at once, and is undone if it fails. Nothing that other
//! CPUs do makes one fail, so it is atomic only as long as others do not access the same memory.

use serde::{Deserialize, Serialize};

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
    /// The bytes that were stored over, the oldest first: each with its real address.
    pub undo: Vec<(u64, u8)>,
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
            undo: Vec::new(),
        })
    }

    /// Undoes what a transaction stored.
    pub(crate) fn undo_stores(&mut self, checkpoint: &mut Checkpoint) {
        while let Some((real, byte)) = checkpoint.undo.pop() {
            self.shared.memory.write(real, 1, u64::from(byte));
        }
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

    fn transactional(&self) -> bool {
        self.msr & msr::TS == msr::TS_TRANSACTIONAL
    }

    /// Records what `size` bytes at `real` hold, before a transaction stores there.
    #[inline]
    pub(crate) fn transaction_writes(&mut self, real: u64, size: u8) {
        if self.transactional() {
            self.note(real, size);
        }
    }

    fn note(&mut self, real: u64, size: u8) {
        let Some(checkpoint) = &mut self.checkpoint else { return };
        for at in real..real + u64::from(size) {
            checkpoint.undo.push((at, self.shared.memory.read(at, 1) as u8));
        }
        checkpoint.doomed |= checkpoint.undo.len() > MOST;
    }

    /// Whether the running transaction must fail now.
    #[inline]
    pub(crate) fn transaction_failed(&self) -> bool {
        self.transactional() && self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.doomed)
    }
}
