//! `range`: code in which the place of every bundle and every access is known, for ranges of instructions and of data.

use vm_pmu::arch::ia64::{DataMask, InstructionMask};

use super::Kernel;
use super::opcode::MARK;
use vm_pmu_engines::ia64::assemble::*;

/// Bytes of a quarter of the code: four bundles.
pub(crate) const QUARTER: u64 = 64;
/// Instructions of a quarter.
pub(crate) const IN_QUARTER: u64 = 12;
/// Instructions outside the quarters that are counted at level 0: two after `sum`, those of the bundles of the call and the return, and
/// `rum`.
pub(crate) const OUTSIDE: u64 = 2 + 3 + 3 + 1;
/// All that are counted at level 0.
pub(crate) const ALL: u64 = 4 * IN_QUARTER + OUTSIDE;
/// Those that user code executes: the bundles of the call, the code, and the return.
pub(crate) const IN_USER: u64 = 3 + 4 * IN_QUARTER + 3;
/// Bytes of an area of data.
const AREA: u64 = 64;

/// The code and its data.
///
/// | quarter | bundles |
/// | --- | --- |
/// | 0 | loads from areas 0, 1, 2 and 3, into r20, r21, r22 and r23 |
/// | 1 | stores to areas 0, 1, 2 and 3 |
/// | 2 | a load from area 0 into r20, a store to it, a load from area 2 into r22, a store to it |
/// | 3 | no-operations |
///
/// The second slot of each of these bundles is a marked no-operation. Of areas 0 and 2 there are two loads and two stores each, of areas
/// 1 and 3 one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    code: Label,
    user: Label,
    base: u64,
    data: u64,
}

impl Code {
    /// Puts it into the guest.
    pub(crate) fn new(k: &mut Kernel) -> Code {
        // Aligned, so that a range can hold all areas.
        let data = k.reserve(8 * AREA).next_multiple_of(4 * AREA);
        let a = &mut k.a;
        let bundle = |a: &mut Assembler, op: Op| a.bundle(Template::MII_S, [op, nop(MARK), nop(0)]);
        let areas = [(R16, R20), (R17, R21), (R18, R22), (R19, R23)];
        a.routine("user");
        let user = a.mark();
        let code = a.label();
        a.put(br_call(B0, code));
        a.put(break_(super::SYSTEM_CALL));
        // Wider ranges are aligned too.
        a.align(0x400);
        a.routine("ranges");
        a.here(code);
        let base = a.address();
        for (area, into) in areas {
            bundle(a, ld8(into, area));
        }
        for (area, _) in areas {
            bundle(a, st8(area, R0));
        }
        for (area, into) in [areas[0], areas[2]] {
            bundle(a, ld8(into, area));
            bundle(a, st8(area, R0));
        }
        for _ in 0..4 {
            bundle(a, nop(0));
        }
        a.put(br_ret(B0));
        Code { code, user, base, data }
    }

    /// The address of a bundle, 0 to 15 in the quarters, 16 that of the return.
    pub(crate) fn bundle(&self, number: u64) -> u64 {
        self.base + 16 * number
    }

    /// The address of a quarter.
    pub(crate) fn quarter(&self, number: u64) -> u64 {
        self.base + QUARTER * number
    }

    /// The address of an area.
    pub(crate) fn area(&self, number: u64) -> u64 {
        self.data + AREA * number
    }

    fn point(&self, k: &mut Kernel) {
        for (area, register) in (0..).zip([R16, R17, R18, R19]) {
            k.a.load(register, self.area(area));
        }
    }

    /// Executes it once at level 0 while monitors run.
    pub(crate) fn run(&self, k: &mut Kernel) {
        self.point(k);
        k.user_monitors(true);
        k.a.put(br_call(B0, self.code));
        k.user_monitors(false);
    }

    /// Executes it once at level 3 while monitors run; what they count at level 0 is not included here.
    pub(crate) fn run_in_user(&self, k: &mut Kernel) {
        self.point(k);
        k.user_monitors(true);
        k.enter_user(self.user, 0);
        k.user_monitors(false);
    }
}

/// A range of instructions: a pair of IBRs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions {
    pub(crate) address: u64,
    /// How many bytes, a power of two that the address is a multiple of.
    pub(crate) bytes: u64,
    /// Privilege levels, one bit each.
    pub(crate) plm: u8,
    /// The pair is a debugger's.
    pub(crate) x: bool,
}

impl Instructions {
    /// So many bytes from an address on, at level 0.
    pub(crate) fn at(address: u64, bytes: u64) -> Instructions {
        Instructions { address, bytes, plm: 0b0001, x: false }
    }

    /// At these levels.
    pub(crate) fn plm(self, plm: u8) -> Instructions {
        Instructions { plm, ..self }
    }

    /// Programs pair `pair`.
    pub(crate) fn set(&self, k: &mut Kernel, pair: u8) {
        let mut mask = InstructionMask::default();
        mask.set_mask(!(self.bytes - 1) & (u64::MAX >> 8));
        mask.set_plm(self.plm);
        mask.set_x(self.x);
        k.write_ibr(2 * pair, self.address);
        k.write_ibr(2 * pair + 1, mask.bits());
    }
}

/// Has pair `pair` of the DBRs hold `bytes` bytes of data, a power of two that `address` is a multiple of; at no level, for neither reads
/// nor writes, to which monitors pay no attention.
pub(crate) fn set_data(k: &mut Kernel, pair: u8, address: u64, bytes: u64) {
    let mut mask = DataMask::default();
    mask.set_mask(!(bytes - 1) & (u64::MAX >> 8));
    k.write_dbr(2 * pair, address);
    k.write_dbr(2 * pair + 1, mask.bits());
}
