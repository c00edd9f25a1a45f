//! A few vector-scalar instructions (Power ISA 3.0B, Book I, 7.6.3): the load and the store of two doublewords, additions, divisions,
//! square roots, and multiplications with an addition. Rounded to nearest, without exceptions, as floating point is here.

use vm_pmu::decode::power::{Op, Word, vector_work};

use crate::power::interrupt::{Exception, Fault};
use crate::power::registers::msr;
use crate::power::state::Core;

/// What an invalid operation makes, and the bit of a quiet NaN: in double and in single format.
const NAN: u64 = 0x7FF8_0000_0000_0000;
const QUIET: u64 = 1 << 51;
const SINGLE_NAN: u32 = 0x7FC0_0000;
const SINGLE_QUIET: u32 = 1 << 22;

/// The operands in the order in which a NaN among them is the result.
fn double(operands: &[f64], value: f64) -> u64 {
    match operands.iter().find(|operand| operand.is_nan()) {
        Some(nan) => nan.to_bits() | QUIET,
        None if value.is_nan() => NAN,
        None => value.to_bits(),
    }
}

fn single(operands: &[f32], value: f32) -> u32 {
    match operands.iter().find(|operand| operand.is_nan()) {
        Some(nan) => nan.to_bits() | SINGLE_QUIET,
        None if value.is_nan() => SINGLE_NAN,
        None => value.to_bits(),
    }
}

/// One doubleword of a result, from those of VSR\[XA], VSR\[XB] and VSR\[XT].
fn doubleword(op: Op, a: u64, b: u64, t: u64) -> u64 {
    let words = |from: fn(f32, f32, f32) -> u32| {
        let of = |shift: u32| {
            from(f32::from_bits((a >> shift) as u32), f32::from_bits((b >> shift) as u32), f32::from_bits((t >> shift) as u32))
        };
        u64::from(of(32)) << 32 | u64::from(of(0))
    };
    let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(t));
    match op {
        Op::Xvadddp => double(&[x, y], x + y),
        Op::Xvmaddadp => double(&[x, z, y], x.mul_add(y, z)),
        Op::Xvdivdp => double(&[x, y], x / y),
        Op::Xvsqrtdp => double(&[y], y.sqrt()),
        Op::Xvaddsp => words(|x, y, _| single(&[x, y], x + y)),
        Op::Xvdivsp => words(|x, y, _| single(&[x, y], x / y)),
        Op::Xvsqrtsp => words(|_, y, _| single(&[y], y.sqrt())),
        _ => words(|x, y, z| single(&[x, z, y], x.mul_add(y, z))),
    }
}

impl Core {
    /// Executes `op`, which is one of these.
    pub(super) fn vector_scalar(&mut self, op: Op, w: Word) -> Result<(), Fault> {
        self.need(msr::VSX, Exception::VsxUnavailable)?;
        let address = || self.ra_or_zero(w).wrapping_add(self.gpr[w.rb()]);
        // The sixth bits of the registers' numbers are at the end.
        let high = |bit: u32| (w.0 as usize >> bit & 1) << 5;
        let target = w.rt() | high(0);
        match op {
            Op::Lxvd2x => {
                let address = address();
                let value = [self.load(address, 8)?, self.load(address.wrapping_add(8), 8)?];
                self.set_vector(target, value);
                self.accessed(address, false)?;
            }
            Op::Stxvd2x => {
                let address = address();
                let [upper, lower] = self.vector(target);
                // The farther half first: if it is refused, nothing has been stored.
                self.store(address.wrapping_add(8), 8, lower)?;
                self.store(address, 8, upper)?;
                self.accessed(address, true)?;
            }
            _ => {
                let [a, b, t] = [w.ra() | high(2), w.rb() | high(1), target].map(|number| self.vector(number));
                self.set_vector(target, [doubleword(op, a[0], b[0], t[0]), doubleword(op, a[1], b[1], t[1])]);
                self.step.floating = vector_work(op);
            }
        }
        Ok(())
    }

    /// The step's access is one of 16 bytes.
    fn accessed(&mut self, address: u64, store: bool) -> Result<(), Fault> {
        let address = self.effective(address);
        let real = self.translated(address, store)?;
        self.step.vector = true;
        self.step.access = Some(crate::power::step::Access { address, real, size: 16, store, reserve: false });
        Ok(())
    }
}
