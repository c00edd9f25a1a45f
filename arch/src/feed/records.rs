//! Which instructions the embedder reports by records.

/// Which instructions a model wants a [`Record`](super::Record) of.
///
/// ```
/// use vm_pmu_arch::feed::{Occasion, Records};
///
/// let wanted = Records::AT_DEADLINE.with(Records::TAKEN_BRANCHES);
/// let (branch, other) = (Occasion::branch(true), Occasion::default());
/// assert!(wanted.wants(true, other) && wanted.wants(false, branch) && !wanted.wants(false, other));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Records {
    /// The one instruction at which a deadline is reached: sampling chooses it in advance.
    pub at_deadline: bool,
    /// Every taken branch.
    pub taken_branches: bool,
    /// Every control transfer, taken or not: branches, returns from interruptions, and what interrupts the flow of instructions.
    pub branches: bool,
    /// Every access to memory.
    pub memory: bool,
    /// Every instruction with a [`Fetch`](super::Fetch): its line missed a cache or a translation buffer.
    pub fetches: bool,
    /// Every instruction: addresses or opcodes qualify what is counted.
    pub every: bool,
    /// Every [`Request`](super::Request) that left a core's own caches. They are reported by themselves, not with instructions.
    pub requests: bool,
    /// Every [`NestedStep`](super::NestedStep): what table walkers do for a guest under a host. They are reported by themselves, not with
    /// instructions.
    pub nested: bool,
    /// The accesses whose addresses a register keeps in continuous sampling (POWER9's SDAR), each as the record of its instruction. No
    /// demand asks for it. With it, an embedder that reports records at deadlines accepts deadlines for these accesses too, as often as
    /// they come.
    pub sampled_addresses: bool,
    /// What became of the instructions that random sampling chooses (POWER9's SIER): the records at deadlines say where data came from,
    /// what was mispredicted and what was translated, as far as the embedder knows. An embedder that has no caches reports the same
    /// records without it.
    pub sampled_outcomes: bool,
}

/// What an instruction did that may cause its record to be wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Occasion {
    /// It is a control transfer.
    pub branch: bool,
    /// It was taken.
    pub taken: bool,
    /// It accessed memory.
    pub memory: bool,
    /// Its fetch missed something.
    pub fetch: bool,
}

impl Occasion {
    /// A control transfer, taken or not.
    #[must_use]
    pub const fn branch(taken: bool) -> Occasion {
        Occasion { branch: true, taken, memory: false, fetch: false }
    }

    /// The occasion of a whole record.
    #[must_use]
    pub const fn of(record: &super::Record) -> Occasion {
        Occasion {
            branch: record.branch.is_some(),
            taken: matches!(record.branch, Some(super::Branch { taken: true, .. })),
            memory: record.memory.is_some(),
            fetch: record.fetch.is_some(),
        }
    }
}

impl Records {
    /// None at all.
    pub const NONE: Records = Records {
        at_deadline: false,
        taken_branches: false,
        branches: false,
        memory: false,
        fetches: false,
        every: false,
        requests: false,
        nested: false,
        sampled_addresses: false,
        sampled_outcomes: false,
    };
    /// Those at which a deadline is reached.
    pub const AT_DEADLINE: Records = Records { at_deadline: true, ..Records::NONE };
    /// Every taken branch.
    pub const TAKEN_BRANCHES: Records = Records { taken_branches: true, ..Records::NONE };
    /// Every control transfer.
    pub const BRANCHES: Records = Records { branches: true, ..Records::NONE };
    /// Every access to memory.
    pub const MEMORY: Records = Records { memory: true, ..Records::NONE };
    /// Every fetch that missed something.
    pub const FETCHES: Records = Records { fetches: true, ..Records::NONE };
    /// Every instruction.
    pub const EVERY: Records = Records { every: true, ..Records::NONE };
    /// Every request that left a core's own caches.
    pub const REQUESTS: Records = Records { requests: true, ..Records::NONE };
    /// Every step of a nested translation.
    pub const NESTED: Records = Records { nested: true, ..Records::NONE };
    /// The accesses whose addresses continuous sampling keeps.
    pub const SAMPLED_ADDRESSES: Records = Records { sampled_addresses: true, ..Records::NONE };
    /// What became of the instructions that random sampling chooses.
    pub const SAMPLED_OUTCOMES: Records = Records { sampled_outcomes: true, ..Records::NONE };

    /// Every record.
    pub const ALL: Records = Records {
        at_deadline: true,
        taken_branches: true,
        branches: true,
        memory: true,
        fetches: true,
        every: true,
        requests: true,
        nested: true,
        sampled_addresses: true,
        sampled_outcomes: true,
    };

    /// Whether nothing is wanted.
    #[must_use]
    #[inline]
    pub const fn is_none(self) -> bool {
        !(self.at_deadline
            || self.taken_branches
            || self.branches
            || self.memory
            || self.fetches
            || self.every
            || self.requests
            || self.nested
            || self.sampled_addresses
            || self.sampled_outcomes)
    }

    /// Whether the record of an instruction is wanted. `at_deadline` says whether it reached a deadline, and `occasion` what it did.
    #[must_use]
    #[inline]
    pub const fn wants(self, at_deadline: bool, occasion: Occasion) -> bool {
        self.every
            || self.at_deadline && at_deadline
            || self.taken_branches && occasion.taken
            || self.branches && occasion.branch
            || self.memory && occasion.memory
            || self.fetches && occasion.fetch
    }

    /// The records that either asks for.
    #[must_use]
    pub const fn with(self, more: Records) -> Records {
        Records {
            at_deadline: self.at_deadline || more.at_deadline,
            taken_branches: self.taken_branches || more.taken_branches,
            branches: self.branches || more.branches,
            memory: self.memory || more.memory,
            fetches: self.fetches || more.fetches,
            every: self.every || more.every,
            requests: self.requests || more.requests,
            nested: self.nested || more.nested,
            sampled_addresses: self.sampled_addresses || more.sampled_addresses,
            sampled_outcomes: self.sampled_outcomes || more.sampled_outcomes,
        }
    }

    /// These records without those that `less` asks for.
    #[must_use]
    pub const fn without(self, less: Records) -> Records {
        Records {
            at_deadline: self.at_deadline && !less.at_deadline,
            taken_branches: self.taken_branches && !less.taken_branches,
            branches: self.branches && !less.branches,
            memory: self.memory && !less.memory,
            fetches: self.fetches && !less.fetches,
            every: self.every && !less.every,
            requests: self.requests && !less.requests,
            nested: self.nested && !less.nested,
            sampled_addresses: self.sampled_addresses && !less.sampled_addresses,
            sampled_outcomes: self.sampled_outcomes && !less.sampled_outcomes,
        }
    }

    /// The part of these records that an embedder reports if it supplies `supplied`. An embedder that reports [every](Records::every)
    /// instruction reports all of them, and one that reports all branches reports taken ones.
    ///
    /// ```
    /// use vm_pmu_arch::feed::Records;
    ///
    /// let wanted = Records::AT_DEADLINE.with(Records::TAKEN_BRANCHES);
    /// assert_eq!(wanted.within(Records::BRANCHES), Records::TAKEN_BRANCHES);
    /// assert_eq!(wanted.within(Records::EVERY), wanted);
    /// assert_eq!(Records::EVERY.within(Records::BRANCHES), Records::NONE);
    /// ```
    #[must_use]
    pub const fn within(self, supplied: Records) -> Records {
        Records {
            at_deadline: self.at_deadline && (supplied.at_deadline || supplied.every),
            taken_branches: self.taken_branches && (supplied.taken_branches || supplied.branches || supplied.every),
            branches: self.branches && (supplied.branches || supplied.every),
            memory: self.memory && (supplied.memory || supplied.every),
            fetches: self.fetches && (supplied.fetches || supplied.every),
            every: self.every && supplied.every,
            requests: self.requests && supplied.requests,
            nested: self.nested && supplied.nested,
            sampled_addresses: self.sampled_addresses && (supplied.sampled_addresses || supplied.every),
            sampled_outcomes: self.sampled_outcomes && supplied.sampled_outcomes,
        }
    }
}
