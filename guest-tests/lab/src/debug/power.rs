//! A machine of POWER for the debugger.

use vm_pmu::Address;
use vm_pmu_engines::memory::Memory;
use vm_pmu_engines::power::RadixWalk;
use vm_pmu_engines::power::registers::msr;

use super::Debuggee;
use crate::held::Power;

/// The bits of an address that count without translation (Power ISA 3.0B, book III, 5.7.3).
const REAL: u64 = (1 << 60) - 1;

/// The registers before the floating-point ones, and all after them, with their bytes: pc, msr, cr, lr, ctr, xer, fpscr.
const AFTER: [usize; 7] = [8, 8, 4, 8, 8, 4, 4];

impl Power<'_, '_> {
    fn put(&self, bytes: &mut Vec<Option<u8>>, value: u64, size: usize) {
        let little = value.to_le_bytes();
        if self.little_endian {
            bytes.extend(little[..size].iter().copied().map(Some));
        } else {
            bytes.extend(little[..size].iter().rev().copied().map(Some));
        }
    }

    fn get(&self, bytes: &mut &[u8], size: usize) -> Option<u64> {
        let (first, rest) = bytes.split_at_checked(size)?;
        *bytes = rest;
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(if self.little_endian { first.iter().rev().fold(0, fold) } else { first.iter().fold(0, fold) })
    }

    /// The instruction at a CPU's next address.
    fn instruction(&self, index: usize) -> Option<u32> {
        let cpu = self.machine.cpu(index)?;
        let mut bytes = [0; 4];
        self.machine.memory().read_bytes(self.physical(index, cpu.pc())?, &mut bytes).ok()?;
        Some(if cpu.msr() & msr::LE != 0 { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}

impl Debuggee for Power<'_, '_> {
    const DESCRIPTION: &'static str = include_str!("power.xml");

    fn registers(&self, cpu: usize) -> Vec<Option<u8>> {
        let mut bytes = Vec::new();
        let Some(cpu) = self.machine.cpu(cpu) else { return bytes };
        (0..32).for_each(|number| self.put(&mut bytes, cpu.gpr(number), 8));
        (0..32).for_each(|number| self.put(&mut bytes, cpu.fpr(number), 8));
        let values = [cpu.pc(), cpu.msr(), u64::from(cpu.cr()), cpu.lr(), cpu.ctr(), cpu.xer()];
        values.into_iter().zip(AFTER).for_each(|(value, size)| self.put(&mut bytes, value, size));
        // FPSCR is not told.
        bytes.extend([None; 4]);
        bytes
    }

    fn set_registers(&mut self, cpu: usize, mut bytes: &[u8]) -> Option<()> {
        let mut saved = self.machine.save();
        let cpu = saved.cpus.get_mut(cpu)?;
        for register in cpu.gpr.iter_mut().chain(&mut cpu.fpr) {
            *register = self.get(&mut bytes, 8)?;
        }
        let mut next = |size| self.get(&mut bytes, size);
        (cpu.pc, cpu.msr) = (next(8)?, next(8)?);
        cpu.cr = next(4)? as u32;
        (cpu.lr, cpu.ctr, cpu.xer) = (next(8)?, next(8)?, next(4)?);
        self.machine.restore(&saved).ok()
    }

    fn physical(&self, cpu: usize, address: u64) -> Option<u64> {
        let cpu = self.machine.cpu(cpu)?;
        if !cpu.translates() || cpu.hypervisor() && cpu.msr() & msr::DR == 0 {
            return Some(address & REAL);
        }
        let RadixWalk { guest, walk, .. } = cpu.radix_walk(address, cpu.msr())?;
        if guest { cpu.partition_walk(walk.real).map(|walk| walk.real) } else { Some(walk.real) }
    }

    fn memory(&self) -> &Memory {
        self.machine.memory()
    }

    fn access(&self, cpu: usize) -> Option<(Address, bool)> {
        let instruction = self.instruction(cpu)?;
        // Power ISA 3.0B, book III, 4.4.5: the two halves of the number are swapped.
        let number = (instruction >> 16 & 31 | (instruction >> 11 & 31) << 5) as u16;
        match (instruction >> 26, instruction >> 1 & 1023) {
            (31, 339) => Some((Address::Spr(number), false)),
            (31, 467) => Some((Address::Spr(number), true)),
            _ => None,
        }
    }
}
