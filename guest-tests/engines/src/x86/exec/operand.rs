//! Operands: effective addresses, reads, writes, read-modify-writes.

use super::super::alu;
use super::super::fault::Fault;
use super::super::op::{Decoded, Operand};
use super::super::state::Core;

impl Core {
    /// The effective address without a segment base.
    #[inline]
    pub(crate) fn offset(&self, d: &Decoded) -> u64 {
        let base = self.gpr[usize::from(d.base) % 18];
        let index = self.gpr[usize::from(d.index) % 18];
        let sum = base.wrapping_add(index << (d.scale & 3)).wrapping_add(d.displacement);
        if d.address32 { sum & 0xffff_ffff } else { sum }
    }

    /// The linear address of the memory operand.
    #[inline]
    pub(crate) fn linear(&self, d: &Decoded) -> u64 {
        self.offset(d).wrapping_add(self.bases[usize::from(d.segment) % 3])
    }

    /// Reads an operand of `size` bytes.
    #[inline]
    pub(crate) fn read(&mut self, d: &Decoded, operand: Operand, size: u8) -> Result<u64, Fault> {
        Ok(match operand {
            Operand::Reg(n) => self.gpr[usize::from(n & 15)] & alu::mask(size),
            Operand::Imm => d.immediate & alu::mask(size),
            Operand::Mem => self.load(self.linear(d), size)?,
            Operand::High(n) => self.gpr[usize::from(n & 3)] >> 8 & 0xff,
            Operand::None => 0,
        })
    }

    /// Writes an operand of `size` bytes.
    #[inline]
    pub(crate) fn write(&mut self, d: &Decoded, operand: Operand, size: u8, value: u64) -> Result<(), Fault> {
        match operand {
            Operand::Reg(n) => self.set_gpr(n, size, value),
            Operand::Mem => self.store(self.linear(d), size, value)?,
            Operand::High(n) => self.set_high(n, value),
            Operand::Imm | Operand::None => {}
        }
        Ok(())
    }

    fn set_high(&mut self, n: u8, value: u64) {
        let slot = &mut self.gpr[usize::from(n & 3)];
        *slot = *slot & !0xff00 | (value & 0xff) << 8;
    }

    /// Replaces the first operand by `f` of it; returns what else `f` returned.
    #[inline]
    pub(crate) fn update<T>(&mut self, d: &Decoded, f: impl Fn(u64) -> (u64, T)) -> Result<T, Fault> {
        match d.dst {
            Operand::Reg(n) => {
                let (new, out) = f(self.gpr[usize::from(n & 15)] & alu::mask(d.size));
                self.set_gpr(n, d.size, new);
                Ok(out)
            }
            Operand::Mem => self.update_memory(self.linear(d), d.size, d.lock, f),
            Operand::High(n) => {
                let (new, out) = f(self.gpr[usize::from(n & 3)] >> 8 & 0xff);
                self.set_high(n, new);
                Ok(out)
            }
            Operand::Imm | Operand::None => Ok(f(0).1),
        }
    }
}
