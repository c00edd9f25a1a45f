//! A machine of chips whose traffic tests watch.

use alloc::vec::Vec;

use vm_pmu_arch::feed::Demand;
use vm_pmu_arch::power9::nest::{Event, Nest};

use super::{Chip, Traffic};
use crate::companion::{Access, AccessKind, Builder, Companion, Follower, Instruction, Untranslated};

pub(super) const NOBODY: fn() -> Demand = Demand::default;

/// Chips with 1 MiB of memory each and this many threads, all watched.
pub(super) struct Rig {
    pub(super) companion: Companion,
    pub(super) chips: Vec<Chip>,
    pub(super) traffic: Traffic,
}

impl Rig {
    pub(super) fn new(chips: usize, threads: usize) -> Rig {
        Rig::of(Builder::new("power9").unwrap(), chips, threads)
    }

    pub(super) fn of(builder: Builder, chips: usize, threads: usize) -> Rig {
        let companion = builder.packages(chips).threads(threads).memory_per_package(1 << 20).build();
        let chips: Vec<Chip> = (0..chips as u32).map(|id| Chip::new(id, Nest::new(0))).collect();
        let traffic = Traffic::new(&companion, chips.len());
        companion.watch_places(true);
        Rig { companion, chips, traffic }
    }

    pub(super) fn follower(&self, thread: usize) -> Follower<'_> {
        let mut follower = self.companion.follower(thread).unwrap();
        follower.sync(&NOBODY());
        follower
    }

    /// An access, whose traffic is reported to the chips.
    pub(super) fn access(&self, follower: &mut Follower<'_>, kind: AccessKind, physical: u64) {
        self.step(follower, kind, physical);
        self.traffic.flush(&self.companion, &self.chips);
    }

    /// An access, whose traffic is not reported.
    pub(super) fn step(&self, follower: &mut Follower<'_>, kind: AccessKind, physical: u64) {
        let accesses = [Access { address: physical, physical, size: 8, kind, ..Access::default() }];
        follower.execute(&Instruction { length: 0, accesses: &accesses, ..Instruction::default() }, &mut Untranslated(30));
    }

    /// The events of a chip: offset and amount, in the order of offsets.
    pub(super) fn happened(&self, chip: usize) -> Vec<(u32, u64)> {
        let totals = self.chips[chip].totals();
        Event::all().map(|event| (event.offset(), totals.get(event))).filter(|(_, amount)| *amount != 0).collect()
    }
}
