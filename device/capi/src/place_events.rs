//! Which boxes of Knights Landing count what memory did at its places.

use vm_pmu::Signal;
use vm_pmu::companion::Place;

use crate::places::{VmPmuPlace, VmPmuPlaceKind};
use crate::pointer::{put, take, writable};
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// The place that the caller means, and the signal of its count.
fn place(given: &VmPmuPlace) -> Result<(Place, Signal), Failure> {
    let signal = crate::machine::signal(given.signal)?;
    let kind = given.kind;
    let controller = u16::try_from(given.controller).map_err(|_| argument(format!("there is no controller {}", given.controller)))?;
    let place = match kind {
        _ if kind == VmPmuPlaceKind::NearMemory as u32 => Place::NearMemory(controller),
        _ if kind == VmPmuPlaceKind::Channel as u32 => {
            let channel = u8::try_from(given.channel).map_err(|_| argument(format!("there is no channel {}", given.channel)))?;
            Place::Channel { controller, channel }
        }
        _ => return Err(argument(format!("the kind of the place is {kind}: there are 0 and 1, VmPmuPlaceKind"))),
    };
    Ok((place, signal))
}

/// Writes which box of Knights Landing counts what memory did at `place`, as vm_pmu_companion_take_places() reports it: to `number` the
/// number of the box, and to `select` and `umask` its event and sub-event, for vm_pmu_box_inject() with `place->amount`. `amount` is not
/// looked at. VM_PMU_STATUS_ERROR_UNSUPPORTED where no box counts it; then nothing is written.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_box_of_place(place: *const VmPmuPlace, number: *mut u32, select: *mut u8, umask: *mut u8) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (place, signal) = self::place(&unsafe { take(place) }?)?;
        writable(number, "where the number of the box is to be written")?;
        writable(select, "where the event is to be written")?;
        writable(umask, "where the sub-event is to be written")?;
        let (unit, event, sub_event) = place
            .event(signal)
            .ok_or_else(|| misuse(VmPmuStatus::ErrorUnsupported, format!("no box of knl counts {} of {place:?}", signal.name())))?;
        // SAFETY: the caller's promise.
        unsafe {
            put(number, u32::try_from(unit.index()).unwrap_or(u32::MAX), "where the number of the box is to be written")?;
            put(select, event, "where the event is to be written")?;
            put(umask, sub_event, "where the sub-event is to be written")
        }
    })
}
