//! The few vector moves that compilers use for copies and zeroing.

use super::super::fault::Fault;
use super::super::mnemonic::number;
use super::super::op::{Decoded, Op, Operand};
use super::super::state::Core;

impl Core {
    fn xmm_operand(&mut self, d: &Decoded, operand: Operand, aligned: bool) -> Result<u128, Fault> {
        if operand != Operand::Mem {
            return Ok(self.xmm[usize::from(number(operand) & 15)]);
        }
        let va = self.linear(d);
        if aligned && va & 15 != 0 {
            return Err(Fault::GP0);
        }
        self.load_u128(va)
    }

    /// MOVAPS, MOVUPS, MOVDQA and their kin; MOVD and MOVQ; PXOR and XORPS.
    pub(crate) fn vector_move(&mut self, d: &Decoded) -> Result<(), Fault> {
        let to = usize::from(number(d.dst) & 15);
        let from = usize::from(number(d.src) & 15);
        match d.op {
            Op::MovX => {
                let aligned = d.code == 1;
                let value = self.xmm_operand(d, d.src, aligned)?;
                if d.dst == Operand::Mem {
                    let va = self.linear(d);
                    if aligned && va & 15 != 0 {
                        return Err(Fault::GP0);
                    }
                    return self.store_u128(va, value);
                }
                self.xmm[to] = value;
            }
            Op::XorX => {
                let value = self.xmm_operand(d, d.src, true)?;
                self.xmm[to] ^= value;
            }
            Op::MovXLow => self.xmm[to] = self.xmm[from] & u128::from(u64::MAX),
            Op::MovXToGpr => {
                let value = self.xmm[from] as u64;
                return self.write(d, d.dst, d.size, value);
            }
            _ => {
                let value = self.read(d, d.src, d.source_size)?;
                self.xmm[to] = u128::from(value);
            }
        }
        Ok(())
    }
}
