//! Statements about boxes that all packages share, told to their reference and to the machine.

use vm_pmu::arch::access::Fault;
use vm_pmu::irq::InterruptLine;
use vm_pmu::litmus::{Step, UntileStep};
use vm_pmu::topology::Untile;
use vm_pmu::untile::{Kind, Stage, UnitId};
use vm_pmu_reference::Shared;

/// Whether the statement is about the boxes.
pub(crate) fn concerns(boxes: &dyn Shared, step: &Step) -> bool {
    match step {
        Step::Untile(_) => true,
        Step::Read(address, _) | Step::Write(address, ..) => boxes.has(*address),
        _ => false,
    }
}

/// Whether the reference has nothing for a statement: neither it nor the machine gets to see it.
pub(crate) fn is_beyond(step: &UntileStep) -> bool {
    matches!(step, UntileStep::Mesh(_) | UntileStep::TickAll(_))
}

/// Tells a statement to the reference, at the privilege level of the thread that executes; returns the result of an access, if it is known.
pub(crate) fn tell(boxes: &mut dyn Shared, privilege: u8, step: &Step) -> Option<Result<u64, Fault>> {
    match step {
        Step::Read(address, _) => boxes.read(privilege, *address),
        Step::Write(address, value, _) => Some(boxes.write(privilege, *address, *value).map(|()| 0)),
        Step::Untile(step) => tell_own(boxes, step).map(Ok),
        _ => None,
    }
}

fn tell_own(boxes: &mut dyn Shared, step: &UntileStep) -> Option<u64> {
    match step {
        UntileStep::Tick(domain, clocks) => boxes.tick(*domain, *clocks),
        UntileStep::Pass(cycles) => boxes.pass(*cycles),
        UntileStep::Happen { unit, select, umask, each, clocks } => boxes.happen(*unit, *select, *umask, *each, *clocks),
        UntileStep::Queue { unit, select, umask, change } => boxes.change_queue(*unit, *select, *umask, *change),
        UntileStep::SetQueue { unit, select, umask, level } => boxes.set_queue(*unit, *select, *umask, *level),
        UntileStep::Transact(cha, request, stage) => boxes.transact(*cha, request, *stage),
        UntileStep::Read(place, _) => {
            return boxes.read_bus((place.bus, place.device, place.function), place.offset, place.size).map(u64::from);
        }
        UntileStep::Write(place, value) => {
            boxes.write_bus((place.bus, place.device, place.function), place.offset, place.size, *value);
        }
        UntileStep::Reset => boxes.reset(),
        // What embedders ask.
        UntileStep::Listens(..) | UntileStep::Counting(_) | UntileStep::TickAll(_) | UntileStep::Mesh(_) => {}
    }
    None
}

/// Does the same on the machine. Events and requests that are served are told where a counter listens, everything else always.
pub(crate) fn act<L: InterruptLine>(untile: Untile<'_, L>, step: &UntileStep) -> Option<u64> {
    match step {
        UntileStep::Tick(domain, clocks) => untile.tick(*domain, *clocks),
        UntileStep::Pass(cycles) => untile.advance(*cycles),
        UntileStep::Happen { unit, select, umask, each, clocks } => {
            if untile.listens(*unit) {
                untile.inject(*unit, *select, *umask, *each, *clocks);
            }
        }
        UntileStep::Queue { unit, select, umask, change } => {
            untile.change_queue(*unit, *select, *umask, *change);
        }
        UntileStep::SetQueue { unit, select, umask, level } => {
            untile.set_queue(*unit, *select, *umask, *level);
        }
        UntileStep::Transact(cha, request, stage) => {
            let is_told = !matches!(stage, Stage::Served { .. }) || UnitId::new(Kind::Cha, *cha).is_some_and(|cha| untile.listens(cha));
            if is_told {
                untile.transact(*cha, request, *stage);
            }
        }
        UntileStep::Read(place, _) => {
            return Some(untile.pci_read(place.bus, place.device, place.function, place.offset, place.size).into());
        }
        UntileStep::Write(place, value) => untile.pci_write(place.bus, place.device, place.function, place.offset, place.size, *value),
        UntileStep::Reset => untile.reset(),
        UntileStep::Listens(..) | UntileStep::Counting(_) | UntileStep::TickAll(_) | UntileStep::Mesh(_) => {}
    }
    None
}
