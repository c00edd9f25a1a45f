//! The callers of the procedure that a step belongs to.
//!
//! A sample is of an instruction, and registers are as that left them. A call has made a frame for the procedure that it entered, and
//! replaced AR.PFS and the return address; a return has made the caller's frame the current one.

use vm_pmu_engines::ia64::registers::{ar, psr};
use vm_pmu_engines::ia64::{BranchKind, CpuView, Step, stack};

use super::unwind::{BUNDLE, Frame, Procedures, Values, callers};
use crate::beside::MOST_CALLERS;

/// The stack pointer, by the software conventions.
const STACK: usize = 12;

/// The return address, by the software conventions.
const RETURN: usize = 0;

/// The return addresses of the procedures that led to the one of `step`, the innermost first. A guest whose file does not say how
/// procedures keep them has none.
pub(super) fn after(step: &Step, cpu: &CpuView<'_>, procedures: &Procedures) -> Vec<u64> {
    if step.returned {
        // The registers are those of what was interrupted.
        return Vec::new();
    }
    let frame = Frame {
        bundle: step.ip,
        slot: step.slot,
        marker: cpu.cfm(),
        bsp: cpu.ar(ar::BSP),
        sp: Some(cpu.gr(STACK).0),
        own: Some((cpu.br(RETURN), cpu.ar(ar::PFS))),
        has_statics: true,
        is_current: true,
        // Handlers of interruptions have no entries either, and b0 is of what they interrupted.
        may_be_leaf: step.psr & psr::IC != 0,
    };
    let values = Thread(cpu);
    match step.branch.filter(|branch| branch.taken).map(|branch| branch.kind) {
        Some(BranchKind::Call) => {
            let locals = (step.frame.marker >> 7 & 0x7F) as usize;
            let caller = Frame {
                marker: step.frame.marker,
                bsp: stack::below(frame.bsp, locals),
                own: None,
                is_current: false,
                may_be_leaf: false,
                ..frame
            };
            callers(procedures, caller, &values)
        }
        Some(BranchKind::Return) => {
            let address = step.next;
            let before = Frame { bundle: address.wrapping_sub(BUNDLE), slot: 2, own: None, may_be_leaf: false, ..frame };
            // A jump through a branch register, if neither is in a table.
            if !procedures.has(step.ip) && !procedures.has(before.bundle) {
                return Vec::new();
            }
            let mut all = vec![address];
            all.extend(callers(procedures, before, &values));
            all.truncate(MOST_CALLERS);
            all
        }
        _ => callers(procedures, frame, &values),
    }
}

struct Thread<'a>(&'a CpuView<'a>);

impl Values for Thread<'_> {
    fn general(&self, number: u8) -> u64 {
        self.0.gr(number.into()).0
    }

    fn branch(&self, number: u8) -> u64 {
        self.0.br(number.into())
    }

    fn stacked(&self, address: u64) -> Option<u64> {
        if address < self.0.ar(ar::BSPSTORE) { self.0.peek(address) } else { self.0.stacked_at(address) }
    }

    fn peek(&self, address: u64) -> Option<u64> {
        let word = self.0.peek(address)?;
        // The register stack is little-endian here, whatever data are.
        Some(if self.0.psr() & psr::BE == 0 { word } else { word.swap_bytes() })
    }
}
