//! Values of registers by the names of their fields, and of MMCR1 by the codes of events.

use vm_pmu::arch::power9::encode::{EventCode, Options, encode};
use vm_pmu::arch::power9::{Mmcr0, Mmcra, spr};

/// The number by which problem state knows the register of this privileged number.
pub(super) const fn problem(number: u16) -> u16 {
    number - spr::PRIVILEGED
}

/// The privileged number of PMC`n`, 1 to 6.
pub(super) const fn pmc(n: u16) -> u16 {
    spr::PMC1 + n - 1
}

/// The starting value of a counter that becomes negative after `events`.
pub(super) const fn before(events: u64) -> u64 {
    0x8000_0000 - events
}

/// MMCR0 with what `set` sets.
pub(super) fn mmcr0(set: impl FnOnce(&mut Mmcr0)) -> u64 {
    let mut register = Mmcr0::default();
    set(&mut register);
    register.bits()
}

/// MMCRA with what `set` sets.
pub(super) fn mmcra(set: impl FnOnce(&mut Mmcra)) -> u64 {
    let mut register = Mmcra::default();
    set(&mut register);
    register.bits()
}

/// MMCR1 for events that go together, each on the counter of its code.
///
/// # Panics
/// If they do not go together.
pub(super) fn select(codes: &[u64]) -> u64 {
    let codes: Vec<EventCode> = codes.iter().map(|code| EventCode::from_bits(*code)).collect();
    match encode(&codes, Options::default()) {
        Ok(encoding) => encoding.mmcr1,
        Err(refusal) => panic!("{refusal}"),
    }
}
