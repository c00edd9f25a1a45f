//! The engine's state of a CPU in the form of KVM, and back.

use kvm_bindings::{kvm_dtable, kvm_regs, kvm_segment, kvm_sregs};
use kvm_ioctls::VcpuFd;

use crate::x86::flags::{DF, FIXED, STATUS};
use crate::x86::state::{Core, SS, Segment};

/// CR4 bits that bear on what KVM executes: PSE, PAE, PGE, OSFXSR, OSXMMEXCPT.
const CR4: u64 = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 9 | 1 << 10;
/// CR0 bits of alignment checks, which the engine does not have, and of the caches.
const CR0_WITHOUT: u64 = 1 << 18 | 1 << 29 | 1 << 30;
/// The flags that instructions compute with. All others are the engine's: KVM uses TF and RF itself, and no other bears on what it
/// executes.
pub(super) const FLAGS: u64 = STATUS | DF;

/// General-purpose registers, RIP and flags.
pub(super) fn general(gpr: &[u64; 18], rip: u64, rflags: u64) -> kvm_regs {
    let [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, ..] = *gpr;
    let rflags = rflags & FLAGS | FIXED;
    kvm_regs { rax, rbx, rcx, rdx, rsi, rdi, rsp, rbp, r8, r9, r10, r11, r12, r13, r14, r15, rip, rflags }
}

/// The general-purpose registers by their numbers.
pub(super) fn numbered(regs: &kvm_regs) -> [u64; 16] {
    let kvm_regs { rax, rbx, rcx, rdx, rsi, rdi, rsp, rbp, r8, r9, r10, r11, r12, r13, r14, r15, .. } = *regs;
    [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15]
}

/// The vector registers.
pub(super) fn take_vectors(vcpu: &VcpuFd) -> Result<[u128; 16], String> {
    let fpu = vcpu.get_fpu().map_err(|error| format!("KVM shows no vector registers: {error}"))?;
    Ok(fpu.xmm.map(u128::from_le_bytes))
}

fn segment(segment: &Segment) -> kvm_segment {
    let Segment { selector, base, limit, access } = *segment;
    let present = access >> 7;
    let code = access & 0x18 == 0x18;
    kvm_segment {
        base,
        limit,
        selector,
        type_: access & 0xf,
        present,
        dpl: access >> 5 & 3,
        db: u8::from(present == 1 && !code),
        s: access >> 4 & 1,
        l: u8::from(code),
        g: u8::from(limit >> 20 != 0),
        unusable: 1 - present,
        ..kvm_segment::default()
    }
}

/// Segments, tables and control registers; the rest as KVM has it in `other`. There is no IDT: an exception that the engine did not foresee
/// ends the virtual machine, and is noticed.
pub(super) fn special(core: &Core, other: &kvm_sregs) -> kvm_sregs {
    let [es, cs, ss, ds, fs, gs] = core.seg.each_ref().map(segment);
    // The level is that of SS, which may be null at level 0.
    let ss = kvm_segment { dpl: core.cpl, ..ss };
    kvm_sregs {
        cs,
        ds,
        es,
        fs,
        gs,
        ss: if core.seg[SS].access == 0 { kvm_segment { type_: 3, s: 1, db: 1, ..ss } } else { ss },
        tr: kvm_segment { db: 0, l: 0, ..segment(&core.tr) },
        ldt: kvm_segment { db: 0, l: 0, ..segment(&core.ldtr) },
        gdt: kvm_dtable { base: core.gdtr.base, limit: core.gdtr.limit, ..kvm_dtable::default() },
        idt: kvm_dtable::default(),
        cr0: core.cr0 & !CR0_WITHOUT,
        cr2: 0,
        cr3: core.cr3,
        cr4: core.cr4 & CR4,
        cr8: 0,
        efer: core.msrs.efer,
        ..*other
    }
}
