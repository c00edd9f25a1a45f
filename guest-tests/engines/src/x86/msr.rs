//! Model-specific registers the engine itself keeps.

use super::exec::control::canonical;
use super::fault::Fault;
use super::flags::{EFER_LMA, EFER_LME, EFER_NXE, EFER_SCE};
use super::state::{Core, FS, GS};
use super::step::Invalidation;
use super::tlb::PHYSICAL_BITS;

const TSC: u32 = 0x10;
const APIC_BASE: u32 = 0x1b;
const SYSENTER_CS: u32 = 0x174;
const SYSENTER_EIP: u32 = 0x176;
const PAT: u32 = 0x277;
const EFER: u32 = 0xc000_0080;
const STAR: u32 = 0xc000_0081;
const LSTAR: u32 = 0xc000_0082;
const CSTAR: u32 = 0xc000_0083;
const SFMASK: u32 = 0xc000_0084;
const FS_BASE: u32 = 0xc000_0100;
const GS_BASE: u32 = 0xc000_0101;
const KERNEL_GS_BASE: u32 = 0xc000_0102;
const TSC_AUX: u32 = 0xc000_0103;

impl Core {
    /// Reads a register of the engine, then of the bus.
    pub(crate) fn read_msr(&mut self, msr: u32) -> Result<u64, Fault> {
        Ok(match msr {
            TSC => self.tsc(),
            APIC_BASE => self.msrs.apic_base,
            SYSENTER_CS..=SYSENTER_EIP => self.msrs.sysenter[(msr - SYSENTER_CS) as usize],
            PAT => self.msrs.pat,
            EFER => self.msrs.efer,
            STAR => self.msrs.star,
            LSTAR => self.msrs.lstar,
            CSTAR => self.msrs.cstar,
            SFMASK => self.msrs.sfmask,
            FS_BASE => self.seg[FS].base,
            GS_BASE => self.seg[GS].base,
            KERNEL_GS_BASE => self.msrs.kernel_gs_base,
            TSC_AUX => self.msrs.tsc_aux,
            _ => return self.shared.bus.rdmsr(self.index, msr).ok_or(Fault::GP0),
        })
    }

    /// Writes a register of the engine, then of the bus.
    pub(crate) fn write_msr(&mut self, msr: u32, value: u64) -> Result<(), Fault> {
        let address = |value: u64| {
            if canonical(value) { Ok(value) } else { Err(Fault::GP0) }
        };
        match msr {
            TSC => self.msrs.tsc_offset = value.wrapping_sub(self.cycles),
            APIC_BASE => {
                // Bit 10 would be x2APIC mode.
                if value >> PHYSICAL_BITS != 0 || value & 0x6ff != 0 {
                    return Err(Fault::GP0);
                }
                self.msrs.apic_base = value & !0x1ff | self.msrs.apic_base & 1 << 8;
                self.apic.set_enabled(value & 1 << 11 != 0);
                // The engine's translations record which pages are the APIC's; a processor's do not, so the step reports nothing.
                self.tlb.flush();
            }
            SYSENTER_CS => self.msrs.sysenter[0] = value & 0xffff_ffff,
            0x175..=SYSENTER_EIP => {
                self.msrs.sysenter[(msr - SYSENTER_CS) as usize] = address(value)?;
            }
            PAT => {
                let valid = value.to_le_bytes().iter().all(|b| matches!(b, 0 | 1 | 4..=7));
                if !valid {
                    return Err(Fault::GP0);
                }
                self.msrs.pat = value;
            }
            EFER => {
                let writable = EFER_SCE | EFER_NXE;
                let fixed = EFER_LME | EFER_LMA;
                // LME cannot change while paging is on; LMA is read-only and ignored.
                if value & !(writable | fixed) != 0 || value & EFER_LME == 0 {
                    return Err(Fault::GP0);
                }
                if (self.msrs.efer ^ value) & EFER_NXE != 0 {
                    self.forget(Invalidation::All);
                }
                self.msrs.efer = value & writable | fixed;
            }
            STAR => self.msrs.star = value,
            LSTAR => self.msrs.lstar = address(value)?,
            CSTAR => self.msrs.cstar = address(value)?,
            SFMASK => self.msrs.sfmask = value & 0xffff_ffff,
            FS_BASE => {
                self.seg[FS].base = address(value)?;
                self.refresh_bases();
            }
            GS_BASE => {
                self.seg[GS].base = address(value)?;
                self.refresh_bases();
            }
            KERNEL_GS_BASE => self.msrs.kernel_gs_base = address(value)?,
            TSC_AUX => {
                if value >> 32 != 0 {
                    return Err(Fault::GP0);
                }
                self.msrs.tsc_aux = value;
            }
            _ => {
                return self.shared.bus.wrmsr(self.index, msr, value).ok_or(Fault::GP0);
            }
        }
        Ok(())
    }
}
