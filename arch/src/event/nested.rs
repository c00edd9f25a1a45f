//! Events of nested translation.

use crate::feed::{NestedStep, PageSize};

/// A bit of [`NestedEvent`]'s `hosts`: the translation buffer lacks the host's page.
pub(crate) const NO_PAGE: u8 = 1 << 4;

/// Which steps of a nested translation an event counts. Sets have one bit for each of [`PageSize::ALL`], with bit 4 for no page, of
/// [`GuestLevel::ALL`](crate::feed::GuestLevel::ALL), of the levels 1 to 3 from bit 0 on, or of the
/// [phases](crate::feed::NestedWalk::WORDS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NestedEvent {
    /// First look-ups that found a guest page of one of these sizes, and one of these of the host.
    First {
        /// Sizes of the guest's page.
        guests: u8,
        /// Sizes of the host's page.
        hosts: u8,
    },
    /// Look-ups of a walker for one of these addresses, by what they found.
    LookUp {
        /// Addresses of the guest's walk.
        levels: u8,
        /// Sizes of the host's page.
        hosts: u8,
    },
    /// Walks of the host's tables for one of these addresses that began below a directory of one of these levels.
    WalkCache {
        /// Addresses of the guest's walk.
        levels: u8,
        /// Levels of directories.
        known: u8,
    },
    /// Cycles of a walker for these addresses in these phases.
    Walker {
        /// The walker's number.
        number: u8,
        /// Addresses of the guest's walk.
        levels: u8,
        /// Phases.
        phases: u8,
    },
}

/// The bit of a page of the host that was found, or of none.
fn found(host: Option<PageSize>) -> u8 {
    host.map_or(NO_PAGE, |size| 1 << size as u8)
}

impl NestedEvent {
    /// What a step adds to a counter of this event.
    ///
    /// ```
    /// use vm_pmu_arch::event::NestedEvent;
    /// use vm_pmu_arch::feed::{GuestLevel, NestedStep, NestedWalk};
    ///
    /// let walk = NestedStep::Walk(NestedWalk { cycles: [13, 0, 0, 36, 15, 340], ..NestedWalk::of(GuestLevel::Level1) });
    /// let host_levels = NestedEvent::Walker { number: 0, levels: 1 << GuestLevel::Level1 as u8, phases: 0b01_1110 };
    /// assert_eq!(host_levels.amount(&walk), 51);
    /// ```
    #[must_use]
    pub fn amount(self, step: &NestedStep) -> u64 {
        match (self, step) {
            (NestedEvent::First { guests, hosts }, NestedStep::First { guest, host }) => {
                u64::from(guests >> *guest as u8 & 1 == 1 && hosts & found(*host) != 0)
            }
            (NestedEvent::LookUp { levels, hosts }, NestedStep::Walk(walk)) => {
                u64::from(walk.looked_up && levels >> walk.level as u8 & 1 == 1 && hosts & found(walk.host) != 0)
            }
            (NestedEvent::WalkCache { levels, known }, NestedStep::Walk(walk)) => {
                let level = walk.known.checked_sub(1).and_then(|bit| 1u8.checked_shl(bit.into()));
                u64::from(levels >> walk.level as u8 & 1 == 1 && level.is_some_and(|level| known & level != 0))
            }
            (NestedEvent::Walker { number, levels, phases }, NestedStep::Walk(walk)) if walk.walker == number => {
                let counted = levels >> walk.level as u8 & 1 == 1;
                let phases = walk.cycles.iter().enumerate().filter(|(phase, _)| counted && phases >> (phase & 7) & 1 == 1);
                phases.map(|(_, cycles)| u64::from(*cycles)).sum()
            }
            _ => 0,
        }
    }
}
