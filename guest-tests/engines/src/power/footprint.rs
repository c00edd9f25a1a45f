//! What transactions have accessed, and what makes them fail because of it (Power ISA 3.0B, Book II, 5.3).
//!
//! Who comes last wins, with one exception: an access within a transaction that meets what another transaction has stored fails itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::memory::Memory;

/// Bytes of a cache block, which is also what a reservation covers.
pub(crate) const BLOCK: u64 = 128;

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
    pub(super) fn has_read(&self, lines: (u64, u64)) -> bool {
        self.read.iter().any(|line| (lines.0..=lines.1).contains(line))
    }

    pub(super) fn has_written(&self, lines: (u64, u64)) -> bool {
        self.undo.iter().any(|(real, _)| (lines.0..=lines.1).contains(&(real / BLOCK)))
    }

    /// The transaction fails for this reason as soon as it runs. What it stored is undone at once.
    pub(super) fn fail(&mut self, why: Failure, memory: &Memory) {
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
    pub(super) each: Box<[Mutex<Option<Footprint>>]>,
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

    /// The place for the footprint of a CPU.
    pub(super) fn lock(&self, cpu: usize) -> Option<MutexGuard<'_, Option<Footprint>>> {
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
