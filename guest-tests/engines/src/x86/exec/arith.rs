//! Arithmetic, logic, shifts and bits.

use super::super::alu::{self, Shift};
use super::super::fault::Fault;
use super::super::flags::{AF, CF, OF, PF, SF, STATUS, ZF};
use super::super::op::{Decoded, Op, Operand};
use super::super::state::{Core, RAX, RCX, RDX};

impl Core {
    /// ADD, OR, ADC, SBB, AND, SUB, XOR.
    #[inline]
    pub(crate) fn binary(&mut self, d: &Decoded, f: impl Fn(u64, u64, u64, u8) -> (u64, u64)) -> Result<(), Fault> {
        let b = self.read(d, d.src, d.size)?;
        let carry = self.rflags & CF;
        let flags = self.update(d, |a| f(a, b, carry, d.size))?;
        self.set_status(flags);
        Ok(())
    }

    /// CMP and TEST.
    #[inline]
    pub(crate) fn compare(&mut self, d: &Decoded, f: impl Fn(u64, u64, u8) -> (u64, u64)) -> Result<(), Fault> {
        let b = self.read(d, d.src, d.size)?;
        let a = self.read(d, d.dst, d.size)?;
        self.set_status(f(a, b, d.size).1);
        Ok(())
    }

    /// INC, DEC, NEG: one operand and flags.
    #[inline]
    pub(crate) fn unary(&mut self, d: &Decoded, f: impl Fn(u64, u64, u8) -> (u64, u64)) -> Result<(), Fault> {
        let old = self.rflags;
        let flags = self.update(d, |a| f(a, old, d.size))?;
        self.set_status(flags);
        Ok(())
    }

    /// Shifts and rotates.
    #[inline]
    pub(crate) fn shift(&mut self, d: &Decoded, op: Shift) -> Result<(), Fault> {
        let count = self.read(d, d.src, 1)?;
        let old = self.rflags;
        let flags = self.update(d, |a| alu::shift(op, a, count, old, d.size))?;
        self.set_status(flags);
        Ok(())
    }

    /// SHLD and SHRD.
    pub(crate) fn double_shift(&mut self, d: &Decoded, left: bool) -> Result<(), Fault> {
        let b = self.read(d, d.src, d.size)?;
        let count = if d.code == 1 { self.gpr[RCX] } else { d.immediate } & 0xff;
        let old = self.rflags;
        let flags = self.update(d, |a| alu::double_shift(left, a, b, count, old, d.size))?;
        self.set_status(flags);
        Ok(())
    }

    /// MUL and one-operand IMUL.
    pub(crate) fn multiply(&mut self, d: &Decoded, f: impl Fn(u64, u64, u8) -> (u64, u64, u64)) -> Result<(), Fault> {
        let b = self.read(d, d.dst, d.size)?;
        let (low, high, flags) = f(self.gpr[RAX], b, d.size);
        if d.size == 1 {
            self.set_gpr(RAX as u8, 2, high << 8 | low);
        } else {
            self.set_gpr(RAX as u8, d.size, low);
            self.set_gpr(RDX as u8, d.size, high);
        }
        self.rflags = self.rflags & !(CF | OF) | flags;
        Ok(())
    }

    /// IMUL with two or three operands.
    #[inline]
    pub(crate) fn imul(&mut self, d: &Decoded) -> Result<(), Fault> {
        let a = self.read(d, d.src, d.size)?;
        let b = if d.op == Op::Imul3 { d.immediate } else { self.read(d, d.dst, d.size)? };
        let (low, _, flags) = alu::imul(a, b, d.size);
        self.write(d, d.dst, d.size, low)?;
        self.rflags = self.rflags & !(CF | OF) | flags;
        Ok(())
    }

    /// DIV and IDIV. Of the flags, all undefined, CF and OF are unchanged, AF is set and the rest clear.
    pub(crate) fn divide(&mut self, d: &Decoded, f: impl Fn(u64, u64, u64, u8) -> Option<(u64, u64)>) -> Result<(), Fault> {
        let divisor = self.read(d, d.dst, d.size)?;
        let (high, low) = if d.size == 1 { (self.gpr[RAX] >> 8, self.gpr[RAX]) } else { (self.gpr[RDX], self.gpr[RAX]) };
        let (quotient, remainder) = f(high, low, divisor, d.size).ok_or(Fault::DE)?;
        if d.size == 1 {
            self.set_gpr(RAX as u8, 2, remainder << 8 | quotient);
        } else {
            self.set_gpr(RAX as u8, d.size, quotient);
            self.set_gpr(RDX as u8, d.size, remainder);
        }
        self.set_status(self.rflags & (CF | OF) | AF);
        Ok(())
    }

    /// BT, BTS, BTR, BTC. Only CF changes.
    pub(crate) fn bit_test(&mut self, d: &Decoded) -> Result<(), Fault> {
        let number = self.read(d, d.src, d.size)?;
        let bits = u64::from(d.size) * 8;
        let bit = number & (bits - 1);
        let change = |a: u64| match d.op {
            Op::Bts => a | 1 << bit,
            Op::Btr => a & !(1 << bit),
            Op::Btc => a ^ 1 << bit,
            _ => a,
        };
        let carry = if d.dst == Operand::Mem && d.src != Operand::Imm {
            // A bit number in a register reaches beyond the operand.
            let words = (alu::sign_extend(number, d.size) as i64).div_euclid(bits as i64);
            let reach = words.wrapping_mul(i64::from(d.size)) as u64;
            let offset = self.offset(d).wrapping_add(reach);
            let offset = if d.address32 { offset & 0xffff_ffff } else { offset };
            let va = offset.wrapping_add(self.bases[usize::from(d.segment) % 3]);
            if d.op == Op::Bt { self.load(va, d.size)? >> bit } else { self.update_memory(va, d.size, d.lock, |a| (change(a), a >> bit))? }
        } else if d.op == Op::Bt {
            self.read(d, d.dst, d.size)? >> bit
        } else {
            self.update(d, |a| (change(a), a >> bit))?
        };
        self.rflags = self.rflags & !CF | carry & CF;
        Ok(())
    }

    /// BSF and BSR. A zero source sets ZF and leaves the destination. PF is that of the result.
    pub(crate) fn bit_scan(&mut self, d: &Decoded) -> Result<(), Fault> {
        let a = self.read(d, d.src, d.size)?;
        if a == 0 {
            self.set_status(ZF | PF);
            return Ok(());
        }
        let n = if d.op == Op::Bsf { a.trailing_zeros() } else { 63 - a.leading_zeros() };
        self.set_status(alu::szp(u64::from(n), 1) & PF);
        self.write(d, d.dst, d.size, u64::from(n))
    }

    /// POPCNT, LZCNT, TZCNT.
    pub(crate) fn bit_count(&mut self, d: &Decoded) -> Result<(), Fault> {
        let a = self.read(d, d.src, d.size)?;
        let bits = u32::from(d.size) * 8;
        let n = match d.op {
            Op::Popcnt => a.count_ones(),
            Op::Lzcnt => a.leading_zeros().saturating_sub(64 - bits),
            _ => a.trailing_zeros().min(bits),
        };
        let mut flags = if n == 0 { ZF } else { 0 };
        if d.op == Op::Popcnt {
            flags = if a == 0 { ZF } else { 0 };
        } else {
            flags |= self.rflags & OF | if a == 0 { CF } else { 0 };
        }
        self.set_status(flags);
        self.write(d, d.dst, d.size, u64::from(n))
    }

    /// ANDN.
    pub(crate) fn andn(&mut self, d: &Decoded) -> Result<(), Fault> {
        let a = !self.read(d, d.src, d.size)?;
        let b = self.gpr[usize::from(d.code & 15)];
        let (r, flags) = alu::logic(a & b, d.size);
        self.write(d, d.dst, d.size, r)?;
        self.set_status(flags);
        Ok(())
    }

    /// CBW, CWDE, CDQE.
    pub(crate) fn widen(&mut self, d: &Decoded) {
        let value = alu::sign_extend(self.gpr[RAX], d.size / 2);
        self.set_gpr(RAX as u8, d.size, value);
    }

    /// CWD, CDQ, CQO.
    pub(crate) fn sign_to_rdx(&mut self, d: &Decoded) {
        let value = alu::sign_extend(self.gpr[RAX], d.size);
        self.set_gpr(RDX as u8, d.size, ((value as i64) >> 63) as u64);
    }

    /// XADD.
    pub(crate) fn xadd(&mut self, d: &Decoded) -> Result<(), Fault> {
        let b = self.read(d, d.src, d.size)?;
        let (old, flags) = self.update(d, |a| {
            let (r, flags) = alu::add(a, b, 0, d.size);
            (r, (a, flags))
        })?;
        // With one register as both operands, the sum stays.
        if d.src != d.dst {
            self.write(d, d.src, d.size, old)?;
        }
        self.set_status(flags);
        Ok(())
    }

    /// CMPXCHG. As on the processors, memory is written in either case.
    pub(crate) fn cmpxchg(&mut self, d: &Decoded) -> Result<(), Fault> {
        let new = self.read(d, d.src, d.size)?;
        let expected = self.gpr[RAX] & alu::mask(d.size);
        let old = match d.dst {
            Operand::Mem => self.update(d, |a| (if a == expected { new } else { a }, a))?,
            // A register that does not match is not even extended to 64 bits.
            _ => {
                let old = self.read(d, d.dst, d.size)?;
                if old == expected {
                    self.write(d, d.dst, d.size, new)?;
                }
                old
            }
        };
        if old != expected {
            self.set_gpr(RAX as u8, d.size, old);
        }
        self.set_status(alu::sub(expected, old, 0, d.size).1);
        Ok(())
    }

    /// CMPXCHG8B and CMPXCHG16B. Only ZF changes.
    pub(crate) fn cmpxchg_pair(&mut self, d: &Decoded) -> Result<(), Fault> {
        const RBX: usize = super::super::state::RBX;
        let va = self.linear(d);
        let half = if d.op == Op::Cmpxchg8b { 4 } else { 8 };
        let join = |high: u64, low: u64| u128::from(high & alu::mask(half)) << (8 * half) | u128::from(low & alu::mask(half));
        let expected = join(self.gpr[RDX], self.gpr[RAX]);
        let new = join(self.gpr[RCX], self.gpr[RBX]);
        let old = if half == 4 {
            self.update_memory(va, 8, d.lock, |a| {
                let matches = u128::from(a) == expected;
                (if matches { new as u64 } else { a }, u128::from(a))
            })?
        } else {
            self.update_u128(va, d.lock, |a| (if a == expected { new } else { a }, a))?
        };
        if old == expected {
            self.rflags |= ZF;
        } else {
            self.rflags &= !ZF;
            self.set_gpr(RAX as u8, half, old as u64);
            self.set_gpr(RDX as u8, half, (old >> (8 * half)) as u64);
        }
        Ok(())
    }

    /// LAHF.
    pub(crate) fn lahf(&mut self) {
        let flags = self.rflags & (SF | ZF | AF | PF | CF) | super::super::flags::FIXED;
        self.gpr[RAX] = self.gpr[RAX] & !0xff00 | flags << 8;
    }

    /// SAHF.
    pub(crate) fn sahf(&mut self) {
        let flags = self.gpr[RAX] >> 8 & (SF | ZF | AF | PF | CF);
        self.set_status(self.rflags & OF | flags & STATUS);
    }
}
