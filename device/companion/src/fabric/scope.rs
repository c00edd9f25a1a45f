//! The distance that requests go beyond the caches of a cluster, and its prediction.

use vm_pmu_arch::feed::Signal;

use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::Ask;
use crate::caches::line::is_odd;
use crate::tally::Tally;

/// The distance of something from a cluster, and so the distance that a request for it has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Reach {
    /// In the same package.
    #[default]
    Chip,
    /// In another package of its group.
    Group,
    /// In another group.
    System,
}

impl Reach {
    const ALL: [Reach; 3] = [Reach::Chip, Reach::Group, Reach::System];
}

/// The course of a request: how far it was sent at first, and how far it had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Went {
    pub(super) first: Reach,
    pub(super) needed: Reach,
}

impl Went {
    /// Returns the course of a request that was sent at once as far as it had to go.
    pub(super) const fn at_once(needed: Reach) -> Went {
        Went { first: needed, needed }
    }

    /// Returns every scope in which it was sent: if the first was too small, the larger ones in turn.
    pub(super) fn sent(self) -> impl Iterator<Item = Reach> {
        Reach::ALL.into_iter().filter(move |reach| (self.first..=self.needed.max(self.first)).contains(reach))
    }

    pub(crate) fn retries(self) -> u8 {
        (self.needed as u8).saturating_sub(self.first as u8)
    }

    /// Returns POWER9's code of how it went (table A-7 of its guide).
    pub(crate) fn code(self) -> u8 {
        match (self.first, self.needed) {
            (Reach::Chip, Reach::Chip) => 1,
            (Reach::Group, Reach::Group) => 2,
            (Reach::System, Reach::System) => 3,
            (Reach::Chip, Reach::Group) => 4,
            (Reach::Group, Reach::Chip) => 5,
            (Reach::Chip | Reach::Group, Reach::System) => 6,
            (Reach::System, Reach::Chip | Reach::Group) => 7,
        }
    }

    /// Returns the one of seven signals, in the order of the codes, that counts how it went.
    fn of(self, signals: &[Signal; 7]) -> Option<Signal> {
        usize::from(self.code()).checked_sub(1).and_then(|place| signals.get(place)).copied()
    }
}

const LOADS: [Signal; 7] = [
    Signal::LoadScopeChipRight,
    Signal::LoadScopeGroupRight,
    Signal::LoadScopeSystemRight,
    Signal::LoadScopeGroupGrown,
    Signal::LoadScopeGroupWide,
    Signal::LoadScopeSystemGrown,
    Signal::LoadScopeSystemWide,
];

const FETCHES: [Signal; 7] = [
    Signal::FetchScopeChipRight,
    Signal::FetchScopeGroupRight,
    Signal::FetchScopeSystemRight,
    Signal::FetchScopeGroupGrown,
    Signal::FetchScopeGroupWide,
    Signal::FetchScopeSystemGrown,
    Signal::FetchScopeSystemWide,
];

const WALKS: [Signal; 7] = [
    Signal::WalkScopeChipRight,
    Signal::WalkScopeGroupRight,
    Signal::WalkScopeSystemRight,
    Signal::WalkScopeGroupGrown,
    Signal::WalkScopeGroupWide,
    Signal::WalkScopeSystemGrown,
    Signal::WalkScopeSystemWide,
];

/// Repeated requests of the prefetcher, by the port of the fabric: lines go to four ports in turn.
const RETRIES: [Signal; 4] =
    [Signal::PrefetchRetriesPort0, Signal::PrefetchRetriesPort1, Signal::PrefetchRetriesPort2, Signal::PrefetchRetriesPort3];

/// The kinds of requests whose scopes are predicted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScopeKind {
    Load,
    Store,
    Fetch,
    Walk,
    Prefetch,
}

impl ScopeKind {
    const COUNT: usize = 5;

    fn of(ask: Ask) -> ScopeKind {
        match ask {
            Ask::Load | Ask::PrefetchLoad | Ask::PrefetchOnce => ScopeKind::Load,
            Ask::Store | Ask::PrefetchStore => ScopeKind::Store,
            Ask::Fetch => ScopeKind::Fetch,
            Ask::Walk => ScopeKind::Walk,
            Ask::FetchAhead | Ask::Hardware | Ask::HardwareStore => ScopeKind::Prefetch,
        }
    }
}

/// The predictor of a cluster: how far the last request of each kind had to go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scopes {
    last: [Reach; ScopeKind::COUNT],
}

impl Scopes {
    /// Counts and remembers how a request for line `outer` went, which had to go as far as `needed`.
    pub(super) fn request(&mut self, ask: Ask, outer: u64, needed: Reach, tally: &mut Tally) -> Went {
        let kind = ScopeKind::of(ask);
        let Some(last) = self.last.get_mut(kind as usize) else { return Went::default() };
        let went = Went { first: core::mem::replace(last, needed), needed };
        if kind == ScopeKind::Prefetch {
            count_prefetch(went, outer, tally);
            return went;
        }
        let of_kind = match ask {
            Ask::Load => Some((LOADS, Signal::LoadScopeWrong)),
            Ask::Fetch => Some((FETCHES, Signal::FetchScopeWrong)),
            Ask::Walk => Some((WALKS, Signal::WalkScopeWrong)),
            _ => None,
        };
        if let Some((signals, wrong)) = of_kind {
            went.of(&signals).into_iter().for_each(|signal| tally.add(signal, 1));
            tally.add(wrong, u64::from(went.first != needed));
        }
        let guess = match (went.first, went.first == needed) {
            (Reach::Chip, true) => Signal::L2GuessChipRight,
            (Reach::Chip, false) => Signal::L2GuessChipWrong,
            (Reach::Group, true) => Signal::L2GuessGroupRight,
            (Reach::Group, false) => Signal::L2GuessGroupWrong,
            (Reach::System, true) => Signal::L2GuessSystemRight,
            (Reach::System, false) => Signal::L2GuessSystemWrong,
        };
        tally.add(guess, 1);
        match kind {
            ScopeKind::Load => tally.add(Signal::L2RetriesLoads, u64::from(went.retries())),
            ScopeKind::Store => tally.add(Signal::L2RetriesStores, u64::from(went.retries())),
            _ => {}
        }
        for reach in went.sent() {
            let pump = match reach {
                Reach::Chip => Signal::L2PumpsChip,
                Reach::Group => Signal::L2PumpsGroup,
                Reach::System => Signal::L2PumpsSystem,
            };
            tally.add(pump, 1);
        }
        went
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.last.iter().for_each(|reach| writer.word(*reach as u64));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for last in &mut self.last {
            let number = usize::try_from(reader.word()?).map_err(|_| Damaged)?;
            *last = Reach::ALL.get(number).copied().ok_or(Damaged)?;
        }
        Ok(())
    }
}

fn count_prefetch(went: Went, outer: u64, tally: &mut Tally) {
    let guess = match (went.first, went.needed) {
        (Reach::Chip, Reach::Chip) => Signal::PrefetchGuessChipRight,
        (Reach::Chip, _) => Signal::PrefetchGuessChipWrong,
        (Reach::Group, Reach::Group) => Signal::PrefetchGuessGroupRight,
        (Reach::Group, Reach::Chip) => Signal::PrefetchGuessGroupWide,
        (Reach::Group, Reach::System) => Signal::PrefetchGuessGroupNarrow,
        (Reach::System, Reach::System) => Signal::PrefetchGuessSystemRight,
        (Reach::System, _) => Signal::PrefetchGuessSystemWrong,
    };
    tally.add(guess, 1);
    if let Some(signal) = RETRIES.get(outer as usize % RETRIES.len()) {
        tally.add(*signal, u64::from(went.retries()));
    }
    for reach in went.sent() {
        let pump = match (reach, is_odd(outer)) {
            (Reach::Chip, false) => Signal::PrefetchPumpsChipEven,
            (Reach::Chip, true) => Signal::PrefetchPumpsChipOdd,
            (Reach::Group, false) => Signal::PrefetchPumpsGroupEven,
            (Reach::Group, true) => Signal::PrefetchPumpsGroupOdd,
            (Reach::System, false) => Signal::PrefetchPumpsSystemEven,
            (Reach::System, true) => Signal::PrefetchPumpsSystemOdd,
        };
        tally.add(pump, 1);
    }
}

/// Whether every cluster with predicted scopes supplies `signal`.
pub(crate) fn supplies(signal: Signal) -> bool {
    const OTHERS: [Signal; 27] = [
        Signal::LoadScopeWrong,
        Signal::FetchScopeWrong,
        Signal::WalkScopeWrong,
        Signal::L2RetriesLoads,
        Signal::L2RetriesStores,
        Signal::L2GuessChipRight,
        Signal::L2GuessChipWrong,
        Signal::L2GuessGroupRight,
        Signal::L2GuessGroupWrong,
        Signal::L2GuessSystemRight,
        Signal::L2GuessSystemWrong,
        Signal::L2PumpsChip,
        Signal::L2PumpsGroup,
        Signal::L2PumpsSystem,
        Signal::PrefetchGuessChipRight,
        Signal::PrefetchGuessChipWrong,
        Signal::PrefetchGuessGroupRight,
        Signal::PrefetchGuessGroupWide,
        Signal::PrefetchGuessGroupNarrow,
        Signal::PrefetchGuessSystemRight,
        Signal::PrefetchGuessSystemWrong,
        Signal::PrefetchPumpsChipEven,
        Signal::PrefetchPumpsChipOdd,
        Signal::PrefetchPumpsGroupEven,
        Signal::PrefetchPumpsGroupOdd,
        Signal::PrefetchPumpsSystemEven,
        Signal::PrefetchPumpsSystemOdd,
    ];
    RETRIES.contains(&signal) || LOADS.contains(&signal) || FETCHES.contains(&signal) || WALKS.contains(&signal) || OTHERS.contains(&signal)
}
