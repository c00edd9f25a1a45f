//! What a machine remembers in addition to its threads. The state of a part that is not in this build is an empty field of the bytes.

pub(super) use collections::CollectionState;
pub(super) use untile::UntileState;

use crate::irq::InterruptLine;
use crate::topology::Machine;

/// An upper bound of the bytes of the states of this machine's extensions.
pub(super) fn most<L: InterruptLine>(machine: &Machine<L>) -> usize {
    untile::most(machine).saturating_add(collections::most(machine))
}

/// Whether the machine has the extensions that the states belong to.
pub(super) fn fit<L: InterruptLine>(machine: &Machine<L>, untile: Option<&UntileState>, collections: &[CollectionState]) -> bool {
    untile.is_some() == untile::is_there(machine) && collections.len() == collections::count(machine)
}

#[cfg(feature = "knl")]
pub(super) mod untile {
    use vm_pmu_arch::knl::untile::UNITS;

    pub(in crate::snapshot) use crate::untile::UntileState;

    use crate::irq::InterruptLine;
    use crate::topology::Machine;

    /// An upper bound of the bytes of a box.
    const BOX: usize = 12 << 10;
    /// An upper bound of the bytes of the mesh.
    const MESH: usize = 512 << 10;

    pub(super) fn most<L: InterruptLine>(machine: &Machine<L>) -> usize {
        if is_there(machine) { UNITS * BOX + MESH } else { 0 }
    }

    pub(super) fn is_there<L: InterruptLine>(machine: &Machine<L>) -> bool {
        machine.untile().is_some()
    }

    pub(in crate::snapshot) fn state<L: InterruptLine>(machine: &Machine<L>) -> Option<UntileState> {
        machine.untile().map(|untile| untile.state())
    }

    /// Returns whether the state fits; if not, nothing is changed.
    pub(in crate::snapshot) fn restore<L: InterruptLine>(machine: &Machine<L>, state: Option<&UntileState>) -> bool {
        machine.untile().zip(state).is_none_or(|(untile, state)| untile.restore(state))
    }
}

#[cfg(not(feature = "knl"))]
pub(super) mod untile {
    use crate::irq::InterruptLine;
    use crate::topology::Machine;

    /// No machine of this build has boxes.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub(in crate::snapshot) enum UntileState {}

    pub(super) fn most<L: InterruptLine>(_machine: &Machine<L>) -> usize {
        0
    }

    pub(super) fn is_there<L: InterruptLine>(_machine: &Machine<L>) -> bool {
        false
    }

    pub(in crate::snapshot) fn state<L: InterruptLine>(_machine: &Machine<L>) -> Option<UntileState> {
        None
    }

    pub(in crate::snapshot) fn restore<L: InterruptLine>(_machine: &Machine<L>, state: Option<&UntileState>) -> bool {
        state.is_none()
    }
}

#[cfg(feature = "power9")]
pub(super) mod collections {
    use alloc::vec::Vec;

    pub(in crate::snapshot) use vm_pmu_arch::power9::collection::State as CollectionState;

    use crate::irq::InterruptLine;
    use crate::topology::{CoreCollection, Machine};

    /// An upper bound of the bytes of a package that posts into memory.
    const PACKAGE: usize = 16 << 10;

    pub(super) fn most<L: InterruptLine>(machine: &Machine<L>) -> usize {
        count(machine).saturating_mul(PACKAGE)
    }

    pub(super) fn count<L: InterruptLine>(machine: &Machine<L>) -> usize {
        all(machine).count()
    }

    pub(in crate::snapshot) fn states<L: InterruptLine>(machine: &Machine<L>) -> Vec<CollectionState> {
        all(machine).map(|core| *core.state()).collect()
    }

    pub(in crate::snapshot) fn restore<L: InterruptLine>(machine: &Machine<L>, states: &[CollectionState]) {
        all(machine).zip(states).for_each(|(core, state)| core.restore(state));
    }

    fn all<L: InterruptLine>(machine: &Machine<L>) -> impl Iterator<Item = CoreCollection<'_, L>> {
        (0..machine.packages()).filter_map(|number| machine.collection(number))
    }
}

#[cfg(not(feature = "power9"))]
pub(super) mod collections {
    use alloc::vec::Vec;

    use crate::irq::InterruptLine;
    use crate::topology::Machine;

    /// No package of this build posts into memory.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub(in crate::snapshot) enum CollectionState {}

    pub(super) fn most<L: InterruptLine>(_machine: &Machine<L>) -> usize {
        0
    }

    pub(super) fn count<L: InterruptLine>(_machine: &Machine<L>) -> usize {
        0
    }

    pub(in crate::snapshot) fn states<L: InterruptLine>(_machine: &Machine<L>) -> Vec<CollectionState> {
        Vec::new()
    }

    pub(in crate::snapshot) fn restore<L: InterruptLine>(_machine: &Machine<L>, _states: &[CollectionState]) {}
}
