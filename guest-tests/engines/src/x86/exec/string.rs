//! String instructions, one iteration a step.

use super::super::alu;
use super::super::fault::Fault;
use super::super::flags::{DF, ZF};
use super::super::op::{Decoded, Op, Repeat};
use super::super::state::{Core, RAX, RCX, RDI, RDX, RSI};

impl Core {
    /// One iteration; sets [`Core::repeating`] when a repeat prefix asks for another.
    pub(crate) fn string(&mut self, d: &Decoded) -> Result<(), Fault> {
        let width = if d.address32 { 4 } else { 8 };
        let repeats = d.repeat != Repeat::No;
        if repeats && self.gpr[RCX] & alu::mask(width) == 0 {
            return Ok(());
        }
        let compares = self.iteration(d, width)?;
        if repeats {
            let left = self.gpr[RCX].wrapping_sub(1) & alu::mask(width);
            self.set_gpr(RCX as u8, width, left);
            let equal = self.rflags & ZF != 0;
            let ended = compares && (equal != (d.repeat == Repeat::Equal));
            self.repeating = left != 0 && !ended;
        }
        Ok(())
    }

    /// Does the work and moves the pointers; returns whether ZF ends the repetition.
    fn iteration(&mut self, d: &Decoded, width: u8) -> Result<bool, Fault> {
        let source = (self.gpr[RSI] & alu::mask(width)).wrapping_add(self.bases[usize::from(d.segment) % 3]);
        let target = self.gpr[RDI] & alu::mask(width);
        let (mut moves_source, mut moves_target, mut compares) = (false, false, false);
        match d.op {
            Op::Movs => {
                let value = self.load(source, d.size)?;
                self.store(target, d.size, value)?;
                (moves_source, moves_target) = (true, true);
            }
            Op::Stos => {
                self.store(target, d.size, self.gpr[RAX])?;
                moves_target = true;
            }
            Op::Lods => {
                let value = self.load(source, d.size)?;
                self.set_gpr(RAX as u8, d.size, value);
                moves_source = true;
            }
            Op::Scas => {
                let value = self.load(target, d.size)?;
                self.set_status(alu::sub(self.gpr[RAX], value, 0, d.size).1);
                (moves_target, compares) = (true, true);
            }
            Op::Cmps => {
                let a = self.load(source, d.size)?;
                let b = self.load(target, d.size)?;
                self.set_status(alu::sub(a, b, 0, d.size).1);
                (moves_source, moves_target, compares) = (true, true, true);
            }
            Op::Ins => {
                let port = self.gpr[RDX] as u16;
                self.check_port(port, d.size)?;
                // The port is read only if the store will succeed.
                self.probe_write(target, d.size)?;
                let value = self.port_in(port, d.size);
                self.store(target, d.size, u64::from(value))?;
                moves_target = true;
            }
            _ => {
                let port = self.gpr[RDX] as u16;
                self.check_port(port, d.size)?;
                let value = self.load(source, d.size)?;
                self.port_out(port, d.size, value as u32);
                moves_source = true;
            }
        }
        let by = u64::from(d.size);
        let by = if self.rflags & DF != 0 { by.wrapping_neg() } else { by };
        if moves_source {
            self.set_gpr(RSI as u8, width, self.gpr[RSI].wrapping_add(by));
        }
        if moves_target {
            self.set_gpr(RDI as u8, width, self.gpr[RDI].wrapping_add(by));
        }
        Ok(compares)
    }
}
