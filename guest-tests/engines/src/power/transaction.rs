//! Transactional memory in a simple form: what a transaction stores is in memory at once, and is undone if it fails. Whoever accesses it
//! makes one of the transactions fail before anything is read: see [`footprint`](super::footprint).

use super::checkpoint::Checkpoint;
use super::footprint::{BLOCK, Conflict, Failure, Footprint};
use super::registers::{msr, spr};
use super::state::Core;

/// Bytes of a page, by which invalidated translations are found.
const PAGE: u64 = 4096;
/// The most lines and pages that a transaction is known to have read. It does not fail for lack of room for more.
const MOST_READ: usize = 1024;

/// The most bytes that a transaction stores before it fails for lack of room: POWER9's store queue and L2 hold 8 KiB.
pub(crate) const MOST: usize = 8 << 10;

/// Adds a number that is not there yet, while there is room.
fn remember(numbers: &mut Vec<u64>, number: u64) {
    if numbers.last() != Some(&number) && numbers.len() < MOST_READ && !numbers.contains(&number) {
        numbers.push(number);
    }
}

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

    /// Changes the footprint of this CPU, if it has one.
    fn with_footprint(&self, change: impl FnOnce(&mut Footprint)) {
        if let Some(mut place) = self.shared.footprints.lock(self.index)
            && let Some(footprint) = &mut *place
        {
            change(footprint);
        }
    }

    fn doom(&self, footprint: &mut Footprint, why: Failure) {
        footprint.fail(why, &self.shared.memory);
    }

    /// The CPU is about to access `size` bytes at `address`, which are at `real`, while transactions are live. Returns whether it may store.
    #[cold]
    pub(crate) fn meets_transactions(&mut self, address: u64, real: u64, size: u8, store: bool) -> bool {
        let inside = self.transactional();
        let lines = (real / BLOCK, (real + u64::from(size) - 1) / BLOCK);
        for cpu in (0..self.shared.footprints.each.len()).filter(|cpu| *cpu != self.index) {
            let Some(mut place) = self.shared.footprints.lock(cpu) else { continue };
            let Some(footprint) = place.as_mut().filter(|footprint| footprint.failed.is_none()) else { continue };
            let written = footprint.has_written(lines);
            if !(written || store && footprint.has_read(lines)) {
                continue;
            }
            if inside && written {
                drop(place);
                self.with_footprint(|footprint| self.doom(footprint, Failure::Transactional));
                self.step.conflict = Some(Conflict::Met);
                return false;
            }
            self.doom(footprint, if inside { Failure::Transactional } else { Failure::NonTransactional });
            drop(place);
            self.step.conflict = Some(if inside { Conflict::CausedInside } else { Conflict::CausedOutside });
        }
        let suspended = self.msr & msr::TS == msr::TS_SUSPENDED;
        // What a transaction that has failed stores would not be undone.
        let mut stores = true;
        self.with_footprint(|footprint| {
            if inside {
                remember(&mut footprint.pages, address / PAGE);
                if store {
                    footprint.undo.extend((real..real + u64::from(size)).map(|at| (at, self.shared.memory.read(at, 1) as u8)));
                    if footprint.undo.len() > MOST {
                        self.doom(footprint, Failure::Footprint);
                    }
                } else {
                    (lines.0..=lines.1).for_each(|line| remember(&mut footprint.read, line));
                }
            } else if suspended && store && (footprint.has_written(lines) || footprint.has_read(lines)) {
                self.doom(footprint, Failure::SelfInduced);
            }
            stores = !inside || footprint.failed.is_none();
        });
        stores
    }

    /// The CPU names a line of a cache, of which it is to be driven out, or a translation, which is to be forgotten.
    #[cold]
    pub(crate) fn disturbs_transactions(&mut self, address: u64, translation: bool) {
        if self.transactional() {
            return self.with_footprint(|footprint| self.doom(footprint, Failure::Disallowed));
        }
        let lines = (Core::real(address) / BLOCK, Core::real(address) / BLOCK);
        let page = address / PAGE;
        self.with_footprint(|footprint| {
            let accessed =
                if translation { footprint.pages.contains(&page) } else { footprint.has_written(lines) || footprint.has_read(lines) };
            if accessed {
                self.doom(footprint, Failure::SelfInduced);
            }
        });
        for cpu in (0..self.shared.footprints.each.len()).filter(|cpu| translation && *cpu != self.index) {
            let Some(mut place) = self.shared.footprints.lock(cpu) else { continue };
            if let Some(footprint) = place.as_mut().filter(|footprint| footprint.pages.contains(&page)) {
                self.doom(footprint, Failure::Translation);
            }
        }
    }
}
