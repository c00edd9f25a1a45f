//! Real-mode guests on KVM that use a PMU of another part. Where KVM is not there, or cannot leave registers to user space, each test says
//! so in one line and passes.

#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../../examples/kvm_guest.rs"]
mod kvm_guest;

use std::io::Write;
use std::sync::OnceLock;

use kvm_bindings::{KVM_GUESTDBG_ENABLE, KVM_GUESTDBG_SINGLESTEP, KVM_MAX_CPUID_ENTRIES, kvm_guest_debug, kvm_userspace_memory_region};
use kvm_ioctls::{Cap, Kvm, MsrFilterDefaultAction, MsrFilterRange, MsrFilterRangeFlags, VcpuExit, VcpuFd, VmFd};
use vm_memory::{Bytes, GuestAddress, GuestMemoryBackend, GuestMemoryMmap};
use vm_pmu::kvm::{self, Answer, Delivery, MsrFilter, RDPMC, Requests};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Part, Signal};

const MEMORY: usize = 0x1_0000;
const CODE: u64 = 0x1000;
const HANDLERS: u64 = 0x3000;
const RESULTS: u16 = 0x5000;
const STACK: u64 = 0x8000;
/// Where a guest writes to say that it is done, and where its handlers do.
const DONE: u8 = 0x10;
const INTERRUPTED: u8 = 0x11;
const FAULTED: u8 = 0x12;

/// Real-mode code, as it grows.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    fn bytes(mut self, bytes: &[u8]) -> Code {
        self.0.extend(bytes);
        self
    }

    fn word(self, opcode: &[u8], word: u32) -> Code {
        self.bytes(opcode).bytes(&word.to_le_bytes())
    }

    /// Three moves and WRMSR.
    fn wrmsr(self, index: u32, value: u64) -> Code {
        let (low, high) = (value as u32, (value >> 32) as u32);
        self.word(&[0x66, 0xB9], index).word(&[0x66, 0xB8], low).word(&[0x66, 0xBA], high).bytes(&[0x0F, 0x30])
    }

    /// A move and RDMSR.
    fn rdmsr(self, index: u32) -> Code {
        self.word(&[0x66, 0xB9], index).bytes(&[0x0F, 0x32])
    }

    /// A move and RDPMC.
    fn rdpmc(self, index: u32) -> Code {
        self.word(&[0x66, 0xB9], index).bytes(&RDPMC)
    }

    /// Two moves: EDX:EAX becomes result `number`.
    fn store(self, number: u16) -> Code {
        let at = RESULTS + 8 * number;
        self.bytes(&[0x66, 0xA3]).bytes(&at.to_le_bytes()).bytes(&[0x66, 0x89, 0x16]).bytes(&(at + 4).to_le_bytes())
    }

    fn nops(self, count: usize) -> Code {
        self.bytes(&[0x90].repeat(count))
    }

    fn out(self, port: u8) -> Code {
        self.bytes(&[0xE6, port])
    }
}

/// A vCPU of KVM whose PMU is that of `part`, single-stepped so that each instruction is counted.
struct Guest {
    vcpu: VcpuFd,
    vm: VmFd,
    memory: GuestMemoryMmap,
    part: Part,
    /// A vector is sent to the local APIC, rather than put into its state.
    by_message: bool,
}

impl Guest {
    /// A guest that is about to execute `code`; or nothing, and the reason has been said.
    fn new(test: &str, part: &str, code: Code) -> Option<Guest> {
        static STEPS: OnceLock<Result<(), String>> = OnceLock::new();
        let guest = STEPS.get_or_init(steps_alone).clone().and_then(|()| Guest::try_new(Part::named(part).expect("known"), code));
        match guest {
            Ok(guest) => Some(guest),
            Err(reason) => {
                // Past the test harness, which hides what a passing test prints.
                let _ = writeln!(std::io::stderr(), "{test}: skipped, {reason}");
                None
            }
        }
    }

    fn try_new(part: Part, code: Code) -> Result<Guest, String> {
        let kvm = Kvm::new().map_err(|error| format!("/dev/kvm does not open: {error}"))?;
        for needed in [Cap::X86UserSpaceMsr, Cap::X86MsrFilter, Cap::SetGuestDebug, Cap::Irqchip] {
            if !kvm.check_extension(needed) {
                return Err(format!("this KVM has no {needed:?}"));
            }
        }
        let vm = kvm.create_vm().map_err(|error| format!("KVM makes no virtual machine: {error}"))?;
        // Refused where there is no such PMU.
        let _ = vm.enable_cap(&kvm::without_host_pmu());
        vm.enable_cap(&kvm::user_space_msrs()).expect("it has the capability");
        let filter = MsrFilter::of(part).expect("an x86");
        fn range(range: &kvm::FilterRange) -> MsrFilterRange<'_> {
            MsrFilterRange {
                flags: MsrFilterRangeFlags::from_bits_truncate(range.flags()),
                base: range.base(),
                msr_count: range.count(),
                bitmap: range.bitmap(),
            }
        }
        let ranges: Vec<_> = filter.ranges().iter().map(range).collect();
        vm.set_msr_filter(MsrFilterDefaultAction::ALLOW, &ranges).expect("a filter that KVM takes");
        // A host whose processors have no real mode for guests keeps something there.
        let _ = vm.set_tss_address(0xFFFB_D000);
        vm.create_irq_chip().map_err(|error| format!("this KVM makes no local APIC: {error}"))?;

        let memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY)]).expect("64 KiB");
        let userspace_addr = memory.get_host_address(GuestAddress(0)).expect("it begins there") as u64;
        let region = kvm_userspace_memory_region { memory_size: MEMORY as u64, userspace_addr, ..Default::default() };
        // SAFETY: the memory is as long as said, is nobody else's, and lives as long as the virtual machine: both are the guest's.
        unsafe { vm.set_user_memory_region(region) }.expect("one region");
        memory.write_slice(&code.0, GuestAddress(CODE)).expect("short code");
        // The vectors of #GP and NMI, and one that an LVT entry names.
        for (vector, port) in [(13u64, FAULTED), (2, INTERRUPTED), (0x40, INTERRUPTED)] {
            let handler = HANDLERS + 0x10 * (vector & 0xF);
            memory.write_obj(handler as u32, GuestAddress(vector * 4)).expect("within memory");
            // The return address becomes result 7.
            let code = Code::default().bytes(&[0x58, 0xA3]).bytes(&(RESULTS + 56).to_le_bytes()).out(port);
            memory.write_slice(&code.0, GuestAddress(handler)).expect("within memory");
        }

        let vcpu = vm.create_vcpu(0).map_err(|error| format!("KVM makes no vCPU: {error}"))?;
        let host = kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES).expect("KVM knows its CPUID");
        vcpu.set_cpuid2(&kvm::cpuid(part, &host).expect("short")).expect("entries that KVM takes");
        let mut sregs = vcpu.get_sregs().expect("a vCPU has registers");
        for segment in [&mut sregs.cs, &mut sregs.ds, &mut sregs.es, &mut sregs.ss] {
            (segment.base, segment.selector) = (0, 0);
        }
        vcpu.set_sregs(&sregs).expect("real mode");
        let mut regs = vcpu.get_regs().expect("a vCPU has registers");
        (regs.rip, regs.rsp, regs.rflags) = (CODE, STACK, 2);
        vcpu.set_regs(&regs).expect("registers");
        Ok(Guest { vcpu, vm, memory, part, by_message: false })
    }

    /// The local APIC is enabled, and its entry for performance counters is `entry`.
    fn with_entry(self, entry: u32) -> Guest {
        let mut lapic = self.vcpu.get_lapic().expect("an APIC");
        for (offset, word) in [(0xF0, 0x1FFu32), (0x340, entry)] {
            for (to, byte) in lapic.regs[offset..].iter_mut().zip(word.to_le_bytes()) {
                *to = byte as _;
            }
        }
        self.vcpu.set_lapic(&lapic).expect("an APIC");
        self
    }

    fn entry(&self) -> u32 {
        let lapic = self.vcpu.get_lapic().expect("an APIC");
        u32::from_le_bytes([0, 1, 2, 3].map(|byte| lapic.regs[0x340 + byte] as u8))
    }

    fn result(&self, number: u16) -> u64 {
        self.memory.read_obj(GuestAddress(u64::from(RESULTS + 8 * number))).expect("within memory")
    }

    fn deliver<K: Fn(usize)>(&self, machine: &Machine<Requests<K>>) {
        if machine.line().take(0) {
            let mut lapic = self.vcpu.get_lapic().expect("an APIC");
            if let (true, Delivery::Vector(vector)) = (self.by_message, kvm::delivery(&lapic)) {
                assert_eq!(self.vm.signal_msi(kvm::message(0, vector)).ok(), Some(1), "one APIC takes it");
                return;
            }
            let delivered = kvm::deliver(self.part, &mut lapic);
            if delivered.changed {
                self.vcpu.set_lapic(&lapic).expect("an APIC");
            }
            if delivered.by == Delivery::Nmi {
                self.vcpu.nmi().expect("KVM can do that");
            }
        }
    }

    /// Runs to the first port that the guest writes to, and returns that.
    fn run<K: Fn(usize)>(&mut self, machine: &Machine<Requests<K>>) -> u8 {
        let cpu = machine.thread(0).expect("one thread");
        for _exit in 0..1000 {
            let (mut regs, sregs) = (self.vcpu.get_regs().expect("registers"), self.vcpu.get_sregs().expect("registers"));
            cpu.set_context(kvm::context(&regs, &sregs));
            let next: [u8; 2] = self.memory.read_obj(GuestAddress(sregs.cs.base + regs.rip)).expect("within memory");
            if next == RDPMC {
                match kvm::rdpmc(cpu, &mut regs) {
                    Ok(()) => {
                        self.vcpu.set_regs(&regs).expect("registers");
                        retire(cpu);
                        self.deliver(machine);
                    }
                    Err(_) => {
                        let mut events = self.vcpu.get_vcpu_events().expect("events");
                        kvm::inject_general_protection(&mut events);
                        self.vcpu.set_vcpu_events(&events).expect("events");
                        // The handler is no matter of counting: it runs freely.
                        return self.run_freely();
                    }
                }
                continue;
            }
            // Each time: who takes an interrupt stops to step.
            let control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP;
            self.vcpu.set_guest_debug(&kvm_guest_debug { control, ..Default::default() }).expect("single steps");
            match self.vcpu.run().expect("the guest runs") {
                VcpuExit::X86Rdmsr(exit) => assert_ne!(kvm::rdmsr(cpu, exit.index, exit.data, exit.error), Answer::Unclaimed),
                VcpuExit::X86Wrmsr(exit) => assert_ne!(kvm::wrmsr(cpu, exit.index, exit.data, exit.error), Answer::Unclaimed),
                VcpuExit::Debug(_) => retire(cpu),
                VcpuExit::IoOut(port, _) => return port as u8,
                VcpuExit::Intr => {}
                other => panic!("an exit that nobody expects: {other:?}"),
            }
            self.deliver(machine);
        }
        panic!("the guest does not come to an end");
    }

    fn run_freely(&mut self) -> u8 {
        self.vcpu.set_guest_debug(&kvm_guest_debug::default()).expect("none");
        match self.vcpu.run().expect("the guest runs") {
            VcpuExit::IoOut(port, _) => port as u8,
            other => panic!("an exit that nobody expects: {other:?}"),
        }
    }
}

/// Whether this KVM stops behind every instruction, those of a handler among them, and interrupts where it stopped: without that nobody
/// can say what a guest has executed.
fn steps_alone() -> Result<(), String> {
    let mut guest = Guest::try_new(Part::named("k8").expect("known"), Code::default().nops(8).out(DONE))?;
    let mut stops = Vec::new();
    for _exit in 0..20 {
        let control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP;
        guest
            .vcpu
            .set_guest_debug(&kvm_guest_debug { control, ..Default::default() })
            .map_err(|error| format!("KVM does not step: {error}"))?;
        match guest.vcpu.run() {
            Ok(VcpuExit::Debug(_)) => stops.push(guest.vcpu.get_regs().map_err(|error| error.to_string())?.rip),
            Ok(VcpuExit::Intr) => {}
            Ok(VcpuExit::IoOut(port, _)) if port == u16::from(INTERRUPTED) => break,
            other => return Err(format!("this KVM steps in a way of its own: {other:?}")),
        }
        if stops.len() == 3 {
            guest.vcpu.nmi().map_err(|error| format!("KVM makes no NMI: {error}"))?;
        }
    }
    // Three NOPs; then the handler for NMI, which begins with a POP and a move.
    let handler = HANDLERS + 0x20;
    let expected = [CODE + 1, CODE + 2, CODE + 3, handler + 1, handler + 4];
    if stops == expected { Ok(()) } else { Err(format!("this KVM stops at {stops:x?} and not at {expected:x?}")) }
}

fn machine(part: &str) -> Machine<Requests<impl Fn(usize)>> {
    Builder::new(part).expect("known").build(Requests::new(1, |_thread| {})).unwrap()
}

fn retire<K: Fn(usize)>(cpu: Thread<'_, Requests<K>>) {
    cpu.totals().add(Signal::InstructionsRetired, 1);
    if cpu.reached(Signal::InstructionsRetired) {
        cpu.service();
    }
}

/// PerfEvtSel0 and PerfCtr0 of the K8; retired instructions, OS, EN, without and with INT.
const SELECT: u32 = 0xC001_0000;
const COUNTER: u32 = 0xC001_0004;
const COUNT: u64 = 0x0042_00C0;
const COUNT_AND_INTERRUPT: u64 = 0x0052_00C0;

#[test]
fn a_guest_counts_its_own_instructions_with_a_k8() {
    let code = Code::default().wrmsr(COUNTER, 0xFFFF_0000_0100).wrmsr(SELECT, COUNT).nops(3);
    // The WRMSR that enables, three NOPs and a move come before RDMSR; then itself, two moves and another before RDPMC.
    let code = code.rdmsr(COUNTER).store(0).rdpmc(0).store(1).rdmsr(SELECT).store(2).wrmsr(SELECT, 0).rdpmc(0).store(3).out(DONE);
    let Some(mut guest) = Guest::new("a_guest_counts_its_own_instructions_with_a_k8", "k8", code) else { return };
    let machine = machine("k8");
    assert_eq!(guest.run(&machine), DONE);
    assert_eq!(guest.result(0), 0xFFFF_0000_0105);
    assert_eq!(guest.result(1), 0xFFFF_0000_0109);
    assert_eq!(guest.result(2), COUNT);
    // RDPMC, two moves, a move, RDMSR, two moves and the three before the WRMSR that disables.
    assert_eq!(guest.result(3), 0xFFFF_0000_0113);
}

#[test]
fn an_overflow_interrupts_the_guest_behind_the_very_instruction() {
    // Five instructions to the overflow: the WRMSR that enables, and four of the NOPs.
    let before = || Code::default().wrmsr(COUNTER, 0xFFFF_FFFF_FFFB).wrmsr(SELECT, COUNT_AND_INTERRUPT);
    for (name, entry, by_message) in [("a vector", 0x0040, false), ("an NMI", 0x0400, false), ("a message", 0x0040, true)] {
        // STI; an NMI needs none.
        let code = Code::default().bytes(&[0xFB]).bytes(&before().0);
        let behind = CODE + code.0.len() as u64 + 4;
        let test = "an_overflow_interrupts_the_guest_behind_the_very_instruction";
        let Some(guest) = Guest::new(test, "k8", code.nops(20).out(DONE)) else { return };
        let mut guest = Guest { by_message, ..guest.with_entry(entry) };
        assert_eq!(guest.run(&machine("k8")), INTERRUPTED, "{name}");
        assert_eq!(guest.result(7) & 0xFFFF, behind, "{name}");
        assert_eq!(guest.entry(), entry, "an AMD part does not mask its entry");
    }
}

#[test]
fn a_masked_entry_interrupts_nobody() {
    let code = Code::default().bytes(&[0xFB]).wrmsr(COUNTER, 0xFFFF_FFFF_FFFB).wrmsr(SELECT, COUNT_AND_INTERRUPT).nops(20);
    let code = code.rdmsr(COUNTER).store(0).out(DONE);
    let Some(guest) = Guest::new("a_masked_entry_interrupts_nobody", "k8", code) else { return };
    let mut guest = guest.with_entry(0x1_0040);
    assert_eq!(guest.run(&machine("k8")), DONE);
    // WRMSR, 20 NOPs and a move, less five.
    assert_eq!(guest.result(0), 17);
}

#[test]
fn a_knights_landing_interrupts_once_and_masks_its_entry() {
    // IA32_PMC0 at full width, IA32_PERFEVTSEL0.
    let code = Code::default().bytes(&[0xFB]).wrmsr(0x4C1, 0xFF_FFFF_FFFB).wrmsr(0x186, COUNT_AND_INTERRUPT);
    let behind = CODE + code.0.len() as u64 + 4;
    let Some(guest) = Guest::new("a_knights_landing_interrupts_once_and_masks_its_entry", "knl", code.nops(20).out(DONE)) else { return };
    let mut guest = guest.with_entry(0x0040);
    let machine = machine("knl");
    assert_eq!(guest.run(&machine), INTERRUPTED);
    assert_eq!(guest.result(7) & 0xFFFF, behind);
    assert_eq!(guest.entry(), 0x1_0040);
    assert_eq!(machine.thread(0).expect("one thread").x86().rdmsr(0x38E), Ok(1));
}

#[test]
fn a_guest_reaches_the_untile() {
    // The fourth counter of the last CHA, and what U_MSR_PMON_CONFIG says of them.
    let code = Code::default().wrmsr(0xFC7, 0x1234_5678_9ABC).rdmsr(0xFC7).store(0).rdmsr(0x702).store(1).out(DONE);
    let Some(mut guest) = Guest::new("a_guest_reaches_the_untile", "knl", code) else { return };
    let machine = machine("knl");
    assert_eq!(guest.run(&machine), DONE);
    assert_eq!((guest.result(0), guest.result(1)), (0x1234_5678_9ABC, 38));
}

#[test]
fn what_the_pmu_refuses_faults_in_the_guest() {
    let test = "what_the_pmu_refuses_faults_in_the_guest";
    // Bits of IA32_PERFEVTSEL0 that must be zero; a counter of RDPMC that the K8 does not have.
    let reserved = Code::default().wrmsr(0x186, 1 << 40);
    let absent = Code::default().rdpmc(4);
    for (part, code) in [("knl", reserved), ("k8", absent)] {
        let at = CODE + code.0.len() as u64 - 2;
        let Some(mut guest) = Guest::new(test, part, code.out(DONE)) else { return };
        assert_eq!(guest.run(&machine(part)), FAULTED, "{part}");
        assert_eq!(guest.result(7) & 0xFFFF, at, "{part}: the fault is that of the instruction");
    }
}

#[test]
fn the_example_is_interrupted_every_ten_instructions() {
    let test = "the_example_is_interrupted_every_ten_instructions";
    // A guest of the same kind says whether this KVM has what the example needs.
    if Guest::new(test, "k8", Code::default()).is_none() {
        return;
    }
    // A turn is three instructions. The first ten are the WRMSR that enables and nine more; each later ten begin with the handler's WRMSR
    // and its return.
    let turns = [3, 6, 9, 11, 14, 17, 19];
    let expected: String = turns.map(|turn| format!("interrupt in turn {turn}, PerfCtr0 reads 0\n")).concat();
    assert_eq!(kvm_guest::run().expect("KVM runs it"), expected);
}

/// What the book's chapter on embedding shows of a vCPU that is single-stepped. It needs a guest, as the example has one.
#[allow(dead_code, reason = "it is compiled for the book")]
mod stepped {
    // ANCHOR: step
    use kvm_bindings::{KVM_GUESTDBG_ENABLE, KVM_GUESTDBG_SINGLESTEP, KVM_MAX_CPUID_ENTRIES, kvm_guest_debug};
    use kvm_ioctls::{Kvm, MsrFilterDefaultAction, MsrFilterRange, MsrFilterRangeFlags, VcpuExit};
    use vm_pmu::kvm::{self, Answer, Delivery, MsrFilter, Requests};
    use vm_pmu::topology::Builder;
    use vm_pmu::{Part, Signal};

    /// Runs the guest until it exits to something that is not the PMU's.
    fn run(part: Part) -> Result<(), Box<dyn std::error::Error>> {
        let machine = Builder::of(part).build(Requests::new(1, |_thread| {})).unwrap(); // one vCPU: no other to wake
        let cpu = machine.thread(0).unwrap();

        // The virtual machine. A KVM without a PMU refuses to turn it off, which does no harm.
        let host = Kvm::new()?;
        let vm = host.create_vm()?;
        let _ = vm.enable_cap(&kvm::without_host_pmu());
        vm.enable_cap(&kvm::user_space_msrs())?;
        fn range(range: &kvm::FilterRange) -> MsrFilterRange<'_> {
            let flags = MsrFilterRangeFlags::from_bits_truncate(range.flags());
            MsrFilterRange { flags, base: range.base(), msr_count: range.count(), bitmap: range.bitmap() }
        }
        let filter = MsrFilter::of(part)?;
        let ranges: Vec<_> = filter.ranges().iter().map(range).collect();
        vm.set_msr_filter(MsrFilterDefaultAction::ALLOW, &ranges)?;
        vm.create_irq_chip()?;

        // The vCPU. The guest's memory, its code and its first registers are as for any guest.
        let mut vcpu = vm.create_vcpu(0)?;
        vcpu.set_cpuid2(&kvm::cpuid(part, &host.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)?)?)?;

        let step = kvm_guest_debug { control: KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP, ..Default::default() };
        loop {
            cpu.set_context(kvm::context(&vcpu.get_regs()?, &vcpu.get_sregs()?));
            vcpu.set_guest_debug(&step)?; // each time: taking an interrupt ends single-stepping
            match vcpu.run()? {
                VcpuExit::X86Rdmsr(exit) => {
                    if kvm::rdmsr(cpu, exit.index, exit.data, exit.error) == Answer::Unclaimed {
                        *exit.error = 1; // here: the hypervisor's own registers
                    }
                }
                VcpuExit::X86Wrmsr(exit) => {
                    if kvm::wrmsr(cpu, exit.index, exit.data, exit.error) == Answer::Unclaimed {
                        *exit.error = 1;
                    }
                }
                VcpuExit::Debug(_) => {
                    // An instruction has been executed; one that came to user space has been completed.
                    cpu.totals().add(Signal::InstructionsRetired, 1);
                    cpu.totals().add(Signal::Cycles, 1);
                    if cpu.due() {
                        cpu.check();
                    }
                }
                _ => break, // here: the hypervisor's devices
            }
            if machine.line().take(0) {
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
        Ok(())
    }
    // ANCHOR_END: step
}

#[test]
fn a_list_of_registers_saves_a_pmu() {
    // ANCHOR: lists
    use vm_pmu::kvm;
    use vm_pmu::topology::Builder;
    use vm_pmu::{Context, Signal};

    let builder = Builder::new("k8").unwrap();
    let old = builder.build(|_, _| {}).unwrap();
    let cpu = old.thread(0).unwrap();
    cpu.x86().wrmsr(0xC001_0000, 0x0043_00C0).unwrap(); // PerfEvtSel0: retired instructions, USR, OS, EN
    cpu.set_context(Context::x86(3, 0x202, 0));
    cpu.totals().add(Signal::InstructionsRetired, 5);
    let saved = kvm::save(cpu).unwrap(); // at whatever level the guest is
    assert_eq!(saved.as_slice()[0].data, 5); // PerfCtr0

    let new = builder.build(|_, _| {}).unwrap();
    kvm::restore(&new, &[saved]).unwrap();
    assert_eq!(new.thread(0).unwrap().x86().rdmsr(0xC001_0004), Ok(5));

    // A list without one of the registers is refused, and changes nothing.
    let empty = kvm_bindings::Msrs::new(0).unwrap();
    let refused = kvm::restore(&new, &[empty]).unwrap_err();
    assert_eq!(refused.to_string(), "MSR 0xc0010004 of thread 0 was not saved: save all that kvm::indices names");
    // ANCHOR_END: lists
}
