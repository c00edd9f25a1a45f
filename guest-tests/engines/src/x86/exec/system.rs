//! Flags, control registers, ports and other privileged instructions.

use super::super::alu;
use super::super::cpuid::{self, CpuidResult};
use super::super::fault::{Fault, Stop};
use super::super::flags::{
    self, CR0_AM, CR0_CD, CR0_EM, CR0_ET, CR0_MP, CR0_NE, CR0_NW, CR0_PE, CR0_PG, CR0_TS, CR0_WP, CR4_PAE, CR4_PGE, CR4_PSE, CR4_TSD,
    CR4_VALID, IF, IOPL,
};
use super::super::mnemonic::number;
use super::super::op::{Decoded, Op, Operand};
use super::super::saved::Shadow;
use super::super::state::{Core, RAX, RBX, RCX, RDX};
use super::super::step::{Invalidation, Touched};
use super::super::tlb::{PHYSICAL_BITS, grant};

/// Bytes of console text kept; more is dropped, so that no guest can exhaust the host.
pub(crate) const CONSOLE: usize = 1 << 20;

impl Core {
    /// PUSHF.
    pub(crate) fn pushf(&mut self, d: &Decoded) -> Result<(), Fault> {
        self.push(self.rflags, d.size)
    }

    /// POPF.
    pub(crate) fn popf(&mut self, d: &Decoded) -> Result<(), Fault> {
        let value = self.pop(d.size)?;
        self.set_flags_at(value, d.size, self.cpl);
        Ok(())
    }

    /// Replaces what `cpl` may change of RFLAGS by the low `size` bytes of `value`.
    pub(crate) fn set_flags_at(&mut self, value: u64, size: u8, cpl: u8) {
        let mut writable = flags::WRITABLE & alu::mask(size);
        if cpl != 0 {
            writable &= !IOPL;
        }
        if u64::from(cpl) > (self.rflags & IOPL) >> 12 {
            writable &= !IF;
        }
        self.set_rflags(self.rflags & !writable | value & writable);
    }

    fn io_privilege(&self) -> Result<(), Fault> {
        if u64::from(self.cpl) > (self.rflags & IOPL) >> 12 { Err(Fault::GP0) } else { Ok(()) }
    }

    /// CLI.
    pub(crate) fn cli(&mut self) -> Result<(), Fault> {
        self.io_privilege()?;
        self.set_rflags(self.rflags & !IF);
        Ok(())
    }

    /// STI: maskable interrupts wait for one more instruction.
    pub(crate) fn sti(&mut self) -> Result<(), Fault> {
        self.io_privilege()?;
        if self.rflags & IF == 0 {
            self.shadow = Shadow::Sti;
        }
        self.set_rflags(self.rflags | IF);
        Ok(())
    }

    /// HLT.
    pub(crate) fn hlt(&mut self) -> Result<(), Fault> {
        self.supervisor()?;
        self.halted = true;
        self.context_changed = true;
        Ok(())
    }

    /// CPUID, which also serialises.
    pub(crate) fn cpuid(&mut self) {
        let (leaf, subleaf) = (self.gpr[RAX] as u32, self.gpr[RCX] as u32);
        let apic_on = self.msrs.apic_base & 1 << 11 != 0;
        let cpus = self.shared.interrupter.cpus();
        let answer = cpuid::answer(leaf, subleaf, self.index as u8, cpus, apic_on);
        let answer = self.shared.bus.cpuid(self.index, leaf, subleaf, answer);
        let CpuidResult { eax, ebx, ecx, edx } = answer;
        self.gpr[RAX] = u64::from(eax);
        self.gpr[RBX] = u64::from(ebx);
        self.gpr[RCX] = u64::from(ecx);
        self.gpr[RDX] = u64::from(edx);
        self.serialised = true;
    }

    /// RDTSC, RDTSCP.
    pub(crate) fn rdtsc(&mut self, d: &Decoded) -> Result<(), Fault> {
        if self.cr4 & CR4_TSD != 0 && self.cpl != 0 {
            return Err(Fault::GP0);
        }
        let tsc = self.tsc();
        self.set_pair(tsc);
        if d.op == Op::Rdtscp {
            self.gpr[RCX] = self.msrs.tsc_aux;
        }
        Ok(())
    }

    /// Puts a 64-bit value into EDX:EAX.
    pub(crate) fn set_pair(&mut self, value: u64) {
        self.gpr[RAX] = value & 0xffff_ffff;
        self.gpr[RDX] = value >> 32;
    }

    /// EDX:EAX.
    pub(crate) fn pair(&self) -> u64 {
        self.gpr[RAX] & 0xffff_ffff | self.gpr[RDX] << 32
    }

    /// Checks the right to use `size` ports from `port`: IOPL, then the TSS's bit map.
    pub(crate) fn check_port(&mut self, port: u16, size: u8) -> Result<(), Fault> {
        if self.io_privilege().is_ok() {
            return Ok(());
        }
        let limit = u64::from(self.tr.limit);
        if self.tr.selector & !3 == 0 || limit < 0x67 {
            return Err(Fault::GP0);
        }
        let map = self.load_system(self.tr.base.wrapping_add(0x66), 2)?;
        let byte = map + u64::from(port >> 3);
        if byte + 1 > limit {
            return Err(Fault::GP0);
        }
        let bits = self.load_system(self.tr.base.wrapping_add(byte), 2)?;
        let wanted = ((1u64 << size) - 1) << (port & 7);
        if bits & wanted != 0 { Err(Fault::GP0) } else { Ok(()) }
    }

    /// Reads a port.
    pub(crate) fn port_in(&mut self, port: u16, size: u8) -> u32 {
        self.read_configuration_port(port, size).unwrap_or_else(|| self.shared.bus.port_in(self.index, port, size))
    }

    /// Writes a port: E9h is the console, F4h the exit status.
    pub(crate) fn port_out(&mut self, port: u16, size: u8, value: u32) {
        match port {
            0xe9 => {
                let mut console = self.shared.console.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if console.len() < CONSOLE {
                    console.push(value as u8);
                }
            }
            0xf4 => {
                self.stop(Stop::Status(value as u8));
            }
            _ if self.write_configuration_port(port, size, value) => {}
            _ => self.shared.bus.port_out(self.index, port, size, value),
        }
    }

    /// IN and OUT.
    pub(crate) fn port(&mut self, d: &Decoded) -> Result<(), Fault> {
        let operand = if d.op == Op::In { d.src } else { d.dst };
        let port = match operand {
            Operand::Imm => d.immediate as u8 as u16,
            _ => self.gpr[RDX] as u16,
        };
        self.check_port(port, d.size)?;
        if d.op == Op::In {
            let value = self.port_in(port, d.size);
            self.set_gpr(RAX as u8, d.size, u64::from(value));
        } else {
            let value = self.gpr[RAX] & alu::mask(d.size);
            self.port_out(port, d.size, value as u32);
        }
        Ok(())
    }

    /// MOV from a control register.
    pub(crate) fn read_control(&mut self, d: &Decoded) -> Result<(), Fault> {
        self.supervisor()?;
        let value = match number(d.src) {
            0 => self.cr0,
            2 => self.cr2,
            3 => self.cr3,
            4 => self.cr4,
            8 => self.apic.cr8(),
            _ => return Err(Fault::UD),
        };
        self.write(d, d.dst, 8, value)
    }

    /// MOV to a control register.
    pub(crate) fn write_control(&mut self, d: &Decoded) -> Result<(), Fault> {
        self.supervisor()?;
        let value = self.read(d, d.src, 8)?;
        match number(d.dst) {
            0 => self.set_cr0(value)?,
            2 => self.cr2 = value,
            3 => {
                if value >> PHYSICAL_BITS != 0 {
                    return Err(Fault::GP0);
                }
                self.cr3 = value;
                self.forget(if self.cr4 & CR4_PGE != 0 { Invalidation::NonGlobal } else { Invalidation::All });
            }
            4 => {
                if value & !CR4_VALID != 0 || value & CR4_PAE == 0 {
                    return Err(Fault::GP0);
                }
                self.context_changed |= self.cr4 != value;
                if (self.cr4 ^ value) & (CR4_PSE | CR4_PGE) != 0 {
                    self.forget(Invalidation::All);
                }
                self.cr4 = value;
            }
            8 => {
                if value > 15 {
                    return Err(Fault::GP0);
                }
                self.apic.set_cr8(value);
                self.attention = true;
            }
            _ => return Err(Fault::UD),
        }
        if number(d.dst) != 8 {
            self.serialised = true;
        }
        Ok(())
    }

    fn set_cr0(&mut self, value: u64) -> Result<(), Fault> {
        const VALID: u64 = CR0_PE | CR0_MP | CR0_EM | CR0_TS | CR0_ET | CR0_NE | CR0_WP | CR0_AM | CR0_NW | CR0_CD | CR0_PG;
        let inconsistent = value & CR0_NW != 0 && value & CR0_CD == 0;
        // Long mode cannot be left with paging turned off in 64-bit code.
        if value >> 32 != 0 || value & CR0_PG == 0 || value & CR0_PE == 0 || inconsistent {
            return Err(Fault::GP0);
        }
        if (self.cr0 ^ value) & CR0_WP != 0 {
            self.forget(Invalidation::All);
        }
        self.cr0 = value & VALID | CR0_ET;
        Ok(())
    }

    /// LMSW, SMSW, CLTS.
    pub(crate) fn machine_status(&mut self, d: &Decoded) -> Result<(), Fault> {
        match d.op {
            Op::Smsw => {
                let size = if d.dst == Operand::Mem { 2 } else { d.size };
                self.write(d, d.dst, size, self.cr0)
            }
            Op::Lmsw => {
                self.supervisor()?;
                let value = self.read(d, d.dst, 2)?;
                // PE can be set, not cleared.
                self.cr0 = self.cr0 & !0xe | value & 0xf;
                Ok(())
            }
            _ => {
                self.supervisor()?;
                self.cr0 &= !CR0_TS;
                Ok(())
            }
        }
    }

    /// MOV to and from debug registers.
    pub(crate) fn debug_register(&mut self, d: &Decoded) -> Result<(), Fault> {
        let to = d.op == Op::MovToDr;
        let n = match number(if to { d.dst } else { d.src }) {
            n @ (0..=3 | 6 | 7) => n,
            // CR4.DE makes 4 and 5 invalid; without it they are 6 and 7.
            n @ (4 | 5) if self.cr4 & 8 == 0 => n + 2,
            _ => return Err(Fault::UD),
        };
        self.supervisor()?;
        let slot = usize::from(n);
        if !to {
            return self.write(d, d.dst, 8, self.dr[slot]);
        }
        let value = self.read(d, d.src, 8)?;
        if n >= 6 && value >> 32 != 0 {
            return Err(Fault::GP0);
        }
        self.dr[slot] = match n {
            6 => value & 0xe00f | 0xffff_0ff0,
            7 => value & 0xffff_23ff | 0x400,
            _ => value,
        };
        self.update_breakpoints();
        Ok(())
    }

    /// INVLPG and WBINVD, which also serialise.
    pub(crate) fn invalidate(&mut self, d: &Decoded) -> Result<(), Fault> {
        self.supervisor()?;
        if d.op == Op::Invlpg {
            self.forget(Invalidation::Page(self.linear(d)));
        }
        self.serialised = true;
        Ok(())
    }

    /// CLFLUSH and its kin touch the line like a load of a byte.
    pub(crate) fn clflush(&mut self, d: &Decoded) -> Result<(), Fault> {
        let address = self.linear(d);
        let physical = self.translate(address, grant::READ)?.address;
        self.step.touched = Some(Touched { address, physical });
        Ok(())
    }

    /// The prefetches, which leave memory and page tables alone and never fault.
    pub(crate) fn prefetch(&mut self, d: &Decoded) {
        let address = self.linear(d);
        self.step.touched = self.peek_translation(address, grant::READ).map(|physical| Touched { address, physical });
    }
}
