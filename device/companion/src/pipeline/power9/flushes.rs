//! Flushes that the load/store unit requests (PP32, PP34, PP35).

use super::machines::PASS;
use super::{Executed, Power9Pipeline, REFETCH, StageTimes};
use crate::instruction::Class;
use crate::pipeline::sharing::Threads;
use crate::tally::Tally;
use vm_pmu_arch::feed::{Flush, Signal};

/// Number of remembered loads that are known to meet older stores (PP32).
pub(super) const WARY: usize = 16;

/// The addresses of instructions that wait for older stores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wary {
    pub(super) addresses: [u64; WARY],
    pub(super) next: usize,
}

impl Wary {
    /// The address of no instruction.
    const NOWHERE: u64 = u64::MAX;

    pub(super) const fn new() -> Wary {
        Wary { addresses: [Wary::NOWHERE; WARY], next: 0 }
    }

    fn has(&self, address: u64) -> bool {
        self.addresses.contains(&address)
    }

    fn enter(&mut self, address: u64) {
        if let Some(place) = self.addresses.get_mut(self.next) {
            *place = address;
        }
        self.next = (self.next + 1) % WARY;
    }
}

impl Power9Pipeline {
    /// Returns when and why a dispatched instruction is flushed and dispatched again, if it is.
    pub(super) fn flushed(&mut self, executed: &Executed<'_>, times: &StageTimes, tally: &mut Tally) -> Option<(u64, Flush)> {
        let launch = self.ready(times.dispatched + 1, executed.operation.addresses);
        for touch in executed.touches.iter().filter(|touch| touch.loads()) {
            if touch.uncached {
                // It is first tried as if it were cacheable.
                tally.add(Signal::LoadStoreFlushes, 1);
                continue;
            }
            if touch.locked {
                if self.reserving > launch {
                    tally.add(Signal::FlushesReservation, 1);
                    tally.add(Signal::LoadStoreFlushes, 1);
                    return Some((launch + PASS, Flush::Reservation));
                }
                continue;
            }
            let Some(store) = self.older_store(touch, launch) else { continue };
            if self.wary.has(executed.instruction.address) {
                tally.add(Signal::StoreHitLoadDependences, 1);
            } else if store.issued > launch {
                // PP32: the address of the store was not known when the load was launched.
                self.wary.enter(executed.instruction.address);
                tally.add(Signal::StoreHitLoadEntries, 1);
                let alias = Power9Pipeline::is_alias(&store, touch);
                tally.add(if alias { Signal::FlushesAlias } else { Signal::FlushesStoreHitLoad }, 1);
                tally.add(Signal::LoadStoreFlushes, 1);
                return Some((store.issued + PASS, if alias { Flush::Alias } else { Flush::StoreHitLoad }));
            }
        }
        None
    }

    /// Refetches the following instructions, as after a misprediction that is found in cycle `at` (PP7).
    pub(super) fn refetch(&mut self, at: u64) {
        self.restart = self.restart.max(at + REFETCH);
        self.fetched = self.restart - 1;
        self.block = None;
    }

    /// PP35: whether another thread of the core stored to a line that the instruction had loaded while an older barrier was pending.
    pub(super) fn is_overtaken(&self, executed: &Executed<'_>, times: &StageTimes, completed: u64, threads: &Threads<'_>) -> bool {
        let loads = || executed.touches.iter().filter(|touch| touch.loads());
        executed.instruction.class != Class::Fence
            && threads.are_several()
            && loads().any(|touch| self.shared.is_stored(touch.line, times.finished, completed, threads.number()))
    }
}
