//! A hypervisor on KVM whose guest has the PMU of an AMD K8, whatever the host has.
//!
//! The guest counts its retired instructions and is interrupted by an NMI every ten of them. It is single-stepped, so that the hypervisor
//! sees each instruction. `cargo run -p vm-pmu --features kvm --example kvm_guest`; it needs `/dev/kvm`.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod hypervisor {
    use std::error::Error;
    use std::fmt::Write;

    use kvm_bindings::{KVM_GUESTDBG_ENABLE, KVM_GUESTDBG_SINGLESTEP, KVM_MAX_CPUID_ENTRIES, kvm_guest_debug, kvm_userspace_memory_region};
    use kvm_ioctls::{Kvm, MsrFilterDefaultAction, MsrFilterRange, MsrFilterRangeFlags, VcpuExit, VcpuFd, VmFd};
    use vm_memory::{Bytes, GuestAddress, GuestMemoryBackend, GuestMemoryMmap};
    use vm_pmu::kvm::{self, Answer, Delivery, MsrFilter, Requests};
    use vm_pmu::topology::Builder;
    use vm_pmu::{Part, Signal};

    /// Real-mode code. ECX and EDX stay as they are set here; the turns are counted at 5000h.
    const GUEST: &[u8] = &[
        0x66, 0xB9, 0x04, 0x00, 0x01, 0xC0, // mov ecx, C001_0004h: PerfCtr0
        0x66, 0xB8, 0xF6, 0xFF, 0xFF, 0xFF, // mov eax, -10
        0x66, 0xBA, 0xFF, 0xFF, 0x00, 0x00, // mov edx, FFFFh
        0x0F, 0x30, // wrmsr
        0x66, 0xB9, 0x00, 0x00, 0x01, 0xC0, // mov ecx, C001_0000h: PerfEvtSel0
        0x66, 0xB8, 0xC0, 0x00, 0x52, 0x00, // mov eax, 0052_00C0h: retired instructions, OS, INT, EN
        0x0F, 0x30, // wrmsr
        0xFF, 0x06, 0x00, 0x50, // turn: inc word [5000h]
        0x83, 0x3E, 0x00, 0x50, 20, // cmp word [5000h], 20
        0x72, 0xF5, // jb turn
        0xE6, 0x10, // out 10h, al: done
    ];
    /// Writes PerfCtr0 anew, which the return and nine more instructions bring to its next overflow.
    const HANDLER: &[u8] = &[
        0x66, 0xB9, 0x04, 0x00, 0x01, 0xC0, // mov ecx, C001_0004h
        0x66, 0xB8, 0xF6, 0xFF, 0xFF, 0xFF, // mov eax, -10
        0x0F, 0x30, // wrmsr
        0xCF, // iret
    ];
    const AT_GUEST: u64 = 0x1000;
    const AT_HANDLER: u64 = 0x3000;
    const AT_TURNS: u64 = 0x5000;
    const STACK: u64 = 0x8000;
    const MEMORY: usize = 0x1_0000;
    const NMI: u64 = 2;
    /// Where the local APIC has its spurious-interrupt register and its entry for performance counters.
    const SPURIOUS: usize = 0xF0;
    const ENTRY: usize = 0x340;

    /// Makes a virtual machine whose guest's accesses to the PMU come to user space.
    fn virtual_machine(host: &Kvm, part: Part, memory: &GuestMemoryMmap) -> Result<VmFd, Box<dyn Error>> {
        let vm = host.create_vm()?;
        // Refused where there is no such PMU, which is as good.
        let _ = vm.enable_cap(&kvm::without_host_pmu());
        vm.enable_cap(&kvm::user_space_msrs())?;
        fn range(range: &kvm::FilterRange) -> MsrFilterRange<'_> {
            let flags = MsrFilterRangeFlags::from_bits_truncate(range.flags());
            MsrFilterRange { flags, base: range.base(), msr_count: range.count(), bitmap: range.bitmap() }
        }
        let filter = MsrFilter::of(part)?;
        vm.set_msr_filter(MsrFilterDefaultAction::ALLOW, &filter.ranges().iter().map(range).collect::<Vec<_>>())?;
        // Hosts whose processors have no real mode for guests keep something there.
        let _ = vm.set_tss_address(0xFFFB_D000);
        vm.create_irq_chip()?;
        let userspace_addr = memory.get_host_address(GuestAddress(0))? as u64;
        let region = kvm_userspace_memory_region { memory_size: MEMORY as u64, userspace_addr, ..Default::default() };
        // SAFETY: the memory is as long as said, and whoever calls keeps it for longer than the virtual machine.
        unsafe { vm.set_user_memory_region(region)? };
        Ok(vm)
    }

    /// A vCPU about to execute the guest, whose local APIC sends an NMI for the performance counters.
    fn virtual_cpu(host: &Kvm, vm: &VmFd, part: Part) -> Result<VcpuFd, Box<dyn Error>> {
        let vcpu = vm.create_vcpu(0)?;
        vcpu.set_cpuid2(&kvm::cpuid(part, &host.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)?)?)?;
        let (mut regs, mut sregs, mut lapic) = (vcpu.get_regs()?, vcpu.get_sregs()?, vcpu.get_lapic()?);
        (regs.rip, regs.rsp, regs.rflags) = (AT_GUEST, STACK, 2);
        (sregs.cs.base, sregs.cs.selector) = (0, 0);
        for (offset, word) in [(SPURIOUS, 0x1FFu32), (ENTRY, 0x400)] {
            lapic.regs[offset..].iter_mut().zip(word.to_le_bytes()).for_each(|(to, byte)| *to = byte as _);
        }
        vcpu.set_regs(&regs)?;
        vcpu.set_sregs(&sregs)?;
        vcpu.set_lapic(&lapic)?;
        Ok(vcpu)
    }

    /// Runs the guest to its end, and says when it was interrupted.
    pub(crate) fn run() -> Result<String, Box<dyn Error>> {
        let host = Kvm::new()?;
        let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), MEMORY)])?;
        memory.write_slice(GUEST, GuestAddress(AT_GUEST))?;
        memory.write_slice(HANDLER, GuestAddress(AT_HANDLER))?;
        memory.write_obj(AT_HANDLER as u32, GuestAddress(4 * NMI))?;

        let part = Part::named("k8").ok_or("there is no such part")?;
        let machine = Builder::of(part).build(Requests::new(1, |_thread| {}))?;
        let cpu = machine.thread(0).ok_or("there is no such thread")?;
        let vm = virtual_machine(&host, part, &memory)?;
        let mut vcpu = virtual_cpu(&host, &vm, part)?;

        let mut said = String::new();
        let step = kvm_guest_debug { control: KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP, ..Default::default() };
        loop {
            cpu.set_context(kvm::context(&vcpu.get_regs()?, &vcpu.get_sregs()?));
            // Each time: who takes an interrupt stops to step.
            vcpu.set_guest_debug(&step)?;
            match vcpu.run()? {
                VcpuExit::X86Rdmsr(exit) => {
                    if kvm::rdmsr(cpu, exit.index, exit.data, exit.error) == Answer::Unclaimed {
                        *exit.error = 1;
                    }
                }
                VcpuExit::X86Wrmsr(exit) => {
                    if kvm::wrmsr(cpu, exit.index, exit.data, exit.error) == Answer::Unclaimed {
                        *exit.error = 1;
                    }
                }
                VcpuExit::Debug(_) => {
                    cpu.totals().add(Signal::InstructionsRetired, 1);
                    cpu.totals().add(Signal::Cycles, 1);
                    if cpu.due() {
                        cpu.check();
                    }
                }
                VcpuExit::IoOut(..) => return Ok(said),
                other => return Err(format!("an exit that nobody expects: {other:?}").into()),
            }
            if machine.line().take(0) {
                let turns: u16 = memory.read_obj(GuestAddress(AT_TURNS))?;
                writeln!(said, "interrupt in turn {turns}, PerfCtr0 reads {}", cpu.x86().rdpmc(0)?)?;
                let mut lapic = vcpu.get_lapic()?;
                let delivered = kvm::deliver(part, &mut lapic);
                if delivered.changed {
                    vcpu.set_lapic(&lapic)?;
                }
                if delivered.by == Delivery::Nmi {
                    vcpu.nmi()?;
                }
            }
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use hypervisor::run;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn run() -> Result<String, Box<dyn std::error::Error>> {
    Err("KVM is Linux', and this guest an x86".into())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", run()?);
    Ok(())
}
