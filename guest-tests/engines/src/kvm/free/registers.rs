//! Everything of a CPU that KVM holds while it runs freely, and back.

use kvm_bindings::{Msrs, kvm_dtable, kvm_msr_entry, kvm_regs, kvm_segment, kvm_sregs};
use kvm_ioctls::VcpuFd;

use super::super::registers;
use crate::x86::flags::FIXED;
use crate::x86::state::{Core, Segment, Table};

const STAR: u32 = 0xC000_0081;
const LSTAR: u32 = 0xC000_0082;
const CSTAR: u32 = 0xC000_0083;
const SFMASK: u32 = 0xC000_0084;
const KERNEL_GS_BASE: u32 = 0xC000_0102;

/// General-purpose registers, RIP and all flags.
pub(super) fn general(core: &Core) -> kvm_regs {
    kvm_regs { rflags: core.rflags | FIXED, ..registers::general(&core.gpr, core.rip, 0) }
}

/// Segments, tables and control registers; the rest as KVM has it in `other`.
pub(super) fn special(core: &Core, other: &kvm_sregs) -> kvm_sregs {
    let idt = kvm_dtable { base: core.idtr.base, limit: core.idtr.limit, ..kvm_dtable::default() };
    kvm_sregs { idt, cr0: core.cr0, cr2: core.cr2, cr4: core.cr4, cr8: core.apic.cr8(), ..registers::special(core, other) }
}

/// Takes over what KVM holds of the same.
pub(super) fn take(core: &mut Core, regs: &kvm_regs, sregs: &kvm_sregs) {
    core.gpr[..16].copy_from_slice(&registers::numbered(regs));
    core.rip = regs.rip;
    core.seg = [sregs.es, sregs.cs, sregs.ss, sregs.ds, sregs.fs, sregs.gs].map(|segment| self::segment(&segment));
    core.tr = segment(&sregs.tr);
    core.ldtr = segment(&sregs.ldt);
    core.gdtr = table(sregs.gdt);
    core.idtr = table(sregs.idt);
    core.cr0 = sregs.cr0;
    core.cr2 = sregs.cr2;
    core.cr3 = sregs.cr3;
    core.msrs.efer = sregs.efer;
    core.refresh_bases();
    // The guest has changed its page tables and its translations as it liked.
    core.tlb.flush();
}

fn segment(segment: &kvm_segment) -> Segment {
    let kvm_segment { base, limit, selector, type_, present, dpl, s, unusable, .. } = *segment;
    let access = if unusable != 0 { 0 } else { type_ & 0xF | s << 4 | dpl << 5 | present << 7 };
    Segment { selector, base, limit, access }
}

fn table(table: kvm_dtable) -> Table {
    Table { base: table.base, limit: table.limit }
}

/// The registers that fast system calls and SWAPGS use, in the order of the [`values`].
const FAST: [u32; 5] = [STAR, LSTAR, CSTAR, SFMASK, KERNEL_GS_BASE];

fn values(core: &Core) -> [u64; 5] {
    let msrs = &core.msrs;
    [msrs.star, msrs.lstar, msrs.cstar, msrs.sfmask, msrs.kernel_gs_base]
}

/// Gives KVM the registers of fast system calls and SWAPGS.
pub(super) fn give_fast(core: &Core, vcpu: &VcpuFd) -> Result<(), String> {
    let entries: Vec<_> = FAST.into_iter().zip(values(core)).map(|(index, data)| entry(index, data)).collect();
    let msrs = Msrs::from_entries(&entries).map_err(|error| format!("a list of {} registers: {error:?}", FAST.len()))?;
    match vcpu.set_msrs(&msrs) {
        Ok(given) if given == FAST.len() => Ok(()),
        Ok(given) => Err(format!("KVM refuses MSR {:#x}", FAST.get(given).copied().unwrap_or_default())),
        Err(error) => Err(format!("KVM takes no model-specific registers: {error}")),
    }
}

/// Takes the same registers from KVM.
pub(super) fn take_fast(core: &mut Core, vcpu: &VcpuFd) -> Result<(), String> {
    let entries = FAST.map(|index| entry(index, 0));
    let mut msrs = Msrs::from_entries(&entries).map_err(|error| format!("a list of {} registers: {error:?}", FAST.len()))?;
    match vcpu.get_msrs(&mut msrs) {
        Ok(taken) if taken == FAST.len() => {}
        Ok(taken) => return Err(format!("KVM does not show MSR {:#x}", FAST.get(taken).copied().unwrap_or_default())),
        Err(error) => return Err(format!("KVM shows no model-specific registers: {error}")),
    }
    let held = &mut core.msrs;
    let places = [&mut held.star, &mut held.lstar, &mut held.cstar, &mut held.sfmask, &mut held.kernel_gs_base];
    places.into_iter().zip(msrs.as_slice()).for_each(|(place, entry)| *place = entry.data);
    Ok(())
}

fn entry(index: u32, data: u64) -> kvm_msr_entry {
    kvm_msr_entry { index, data, ..kvm_msr_entry::default() }
}
