//! Calls of host firmware (OPAL): the entry is in the device tree's node `/ibm,opal`.
//!
//! Firmware is entered in its own byte order, big-endian, and returns in it: the code after the call turns the guest's own on again. GPR 14
//! to 31 and the stack are kept, all else may change.

use super::posted::load_double;
use super::tree::Walker;
use crate::power::{Kernel, own};
use vm_pmu_engines::power::assemble::{Assembler, Label, R0, R2, R3, R4, R10, R11, R12, R13};
use vm_pmu_engines::power::registers::{msr, spr};

/// The calls (skiboot `include/opal-api.h`).
pub(super) const CHECK_TOKEN: u64 = 80;
pub(super) const INIT: u64 = 149;
pub(super) const START: u64 = 150;
pub(super) const STOP: u64 = 151;
/// The type of the nest's counters.
pub(super) const NEST: u64 = 1;
/// Results of calls: success; a bad parameter.
pub(super) const SUCCESS: u64 = 0;
pub(super) const PARAMETER: u64 = -1i64 as u64;

/// In a CPU's own area: where a call returns to, and MSR to return with.
const RETURN: i64 = own(30);
const STATE: i64 = own(31);

/// The way into firmware.
pub(super) struct Firmware {
    /// Where the cells with the addresses of its memory and of its entry are.
    cells: u64,
    call: Label,
}

impl Firmware {
    pub(super) fn new(k: &mut Kernel) -> Firmware {
        let cells = k.reserve(16);
        Firmware { cells, call: call(k, cells) }
    }

    /// Finds the way in. The tree is open.
    pub(super) fn open(&self, k: &mut Kernel, tree: &Walker) {
        for (offset, property) in [(0, "opal-base-address"), (8, "opal-entry-address")] {
            tree.compatible(k, "ibm,opal-v3");
            tree.property(k, property);
            load_double(k, R4, 0, R3);
            k.a.load(R3, self.cells);
            k.a.std(R4, offset, R3);
        }
        // It has the three calls.
        for number in [INIT, START, STOP] {
            k.a.load(R3, number);
            self.call(k, CHECK_TOKEN);
            k.check_is(&format!("firmware has call {number}"), R3, 1);
        }
    }

    /// Makes call `number` with the arguments in GPR 3 to 5. GPR 3 becomes what it returns.
    pub(super) fn call(&self, k: &mut Kernel, number: u64) {
        k.a.load(R0, number);
        k.a.bl(self.call);
    }

    /// Starts or stops the nest of this CPU's chip, and checks that this works.
    pub(super) fn nest(&self, k: &mut Kernel, number: u64, said: &str) {
        k.a.load(R3, NEST);
        k.a.mfspr(R4, spr::PIR);
        self.call(k, number);
        k.check_is(said, R3, SUCCESS);
    }
}

fn call(k: &mut Kernel, cells: u64) -> Label {
    let back = k.a.label();
    k.a.routine("firmware_call");
    let entry = k.a.mark();
    k.a.mflr(R11);
    k.a.std(R11, RETURN, R13);
    k.a.mfmsr(R11);
    k.a.std(R11, STATE, R13);
    k.a.load(R10, msr::EE | msr::IR | msr::DR | msr::LE);
    k.a.andc(R11, R11, R10);
    k.a.mtspr(spr::HSRR1, R11);
    k.a.load_address(R10, back);
    k.a.mtlr(R10);
    k.a.load(R10, cells);
    k.a.ld(R2, 0, R10);
    k.a.ld(R12, 8, R10);
    k.a.mtspr(spr::HSRR0, R12);
    k.a.hrfid();
    k.a.here(back);
    if k.a.little_endian() {
        turn(k);
    }
    k.a.mfspr(R13, spr::SPRG3);
    k.a.ld(R11, STATE, R13);
    k.a.mtmsrd(R11, false);
    k.a.ld(R11, RETURN, R13);
    k.a.mtlr(R11);
    k.a.blr();
    entry
}

/// Big-endian code that is followed by little-endian code.
fn turn(k: &mut Kernel) {
    let mut a = Assembler::new(k.a.address(), false);
    let on = a.label();
    a.mfmsr(R11);
    a.ori(R11, R11, msr::LE as u32);
    a.mtspr(spr::HSRR1, R11);
    a.load_address(R10, on);
    a.mtspr(spr::HSRR0, R10);
    a.hrfid();
    a.here(on);
    // Labels that are here cannot fail to be found.
    if let Ok(code) = a.finish() {
        k.a.bytes(&code);
    }
}
