//! What transactions have accessed, and what makes them fail because of it (Power ISA 3.0B, Book II, 5.3).
//!
//! Who comes last wins, with one exception: an access within a transaction that meets what another transaction has stored fails itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::registers::msr;
use super::state::{BLOCK, Core};
use super::transaction::MOST;
use crate::memory::Memory;

/// Bytes of a page, by which invalidated translations are found.
const PAGE: u64 = 4096;
/// The most lines and pages that a transaction is known to have read. It does not fail for lack of room for more.
const MOST_READ: usize = 1024;

/// Why a transaction fails that no instruction aborts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// It stored more than there is room for.
    Footprint,
    /// An instruction is not allowed in it.
    Disallowed,
    /// While it was suspended, its own thread stored to what it had accessed, or invalidated its translation.
    SelfInduced,
    /// Another CPU accessed its memory outside transactions.
    NonTransactional,
    /// Another transaction did.
    Transactional,
    /// Another CPU invalidated a translation that it had used.
    Translation,
}

impl Failure {
    /// Its bit of TEXASR: bits 8 and 10 to 14.
    pub(crate) const fn bit(self) -> u64 {
        let bit = match self {
            Failure::Disallowed => 8,
            Failure::Footprint => 10,
            Failure::SelfInduced => 11,
            Failure::NonTransactional => 12,
            Failure::Transactional => 13,
            Failure::Translation => 14,
        };
        1 << (63 - bit)
    }
}

/// What an access did to transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Outside transactions, it made one fail.
    CausedOutside,
    /// Within a transaction, it made another fail.
    CausedInside,
    /// Within a transaction, it made this one fail.
    Met,
}

/// What the transaction of a CPU has accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// The bytes that were stored over, the oldest first: each with its real address.
    pub undo: Vec<(u64, u8)>,
    /// The numbers of the lines that it loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<u64>,
    /// The numbers of the pages, by effective address, that it accessed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<u64>,
    /// Why it fails, once it is resumed, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failure>,
}

impl Footprint {
    fn has_read(&self, lines: (u64, u64)) -> bool {
        self.read.iter().any(|line| (lines.0..=lines.1).contains(line))
    }

    fn has_written(&self, lines: (u64, u64)) -> bool {
        self.undo.iter().any(|(real, _)| (lines.0..=lines.1).contains(&(real / BLOCK)))
    }

    /// The transaction fails for this reason as soon as it runs. What it stored is undone at once.
    fn fail(&mut self, why: Failure, memory: &Memory) {
        if self.failed.is_none() {
            self.failed = Some(why);
        }
        while let Some((real, byte)) = self.undo.pop() {
            memory.write(real, 1, u64::from(byte));
        }
    }
}

/// The footprints of all CPUs: one while it has a transaction, running or suspended.
pub(crate) struct Footprints {
    each: Box<[Mutex<Option<Footprint>>]>,
    /// How many there are.
    live: AtomicUsize,
}

impl Footprints {
    pub(crate) fn new(cpus: usize) -> Footprints {
        Footprints { each: (0..cpus).map(|_| Mutex::new(None)).collect(), live: AtomicUsize::new(0) }
    }

    /// Whether any CPU has a transaction.
    #[inline]
    pub(crate) fn are_live(&self) -> bool {
        self.live.load(Ordering::Relaxed) != 0
    }

    /// What is no CPU is about to access these lines, in `memory`: the transactions that this meets fail.
    #[cold]
    pub(crate) fn meet(&self, lines: (u64, u64), writes: bool, why: Failure, memory: &Memory) {
        for cpu in 0..self.each.len() {
            let Some(mut place) = self.lock(cpu) else { continue };
            let met = |footprint: &&mut Footprint| {
                footprint.failed.is_none() && (footprint.has_written(lines) || writes && footprint.has_read(lines))
            };
            if let Some(footprint) = place.as_mut().filter(met) {
                footprint.fail(why, memory);
            }
        }
    }

    fn lock(&self, cpu: usize) -> Option<MutexGuard<'_, Option<Footprint>>> {
        self.each.get(cpu).map(|place| place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A copy of the footprint of a CPU.
    pub(crate) fn get(&self, cpu: usize) -> Option<Footprint> {
        self.lock(cpu).and_then(|place| place.clone())
    }

    /// The footprint of a CPU begins, or ends.
    pub(crate) fn set(&self, cpu: usize, footprint: Option<Footprint>) {
        let Some(mut place) = self.lock(cpu) else { return };
        match (place.is_some(), footprint.is_some()) {
            (false, true) => self.live.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.live.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
        *place = footprint;
    }
}

/// Adds a number that is not there yet, while there is room.
fn remember(numbers: &mut Vec<u64>, number: u64) {
    if numbers.last() != Some(&number) && numbers.len() < MOST_READ && !numbers.contains(&number) {
        numbers.push(number);
    }
}

impl Core {
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
