//! The architectural state of one CPU.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use vm_pmu::arch::feed::BranchKind;

use super::apic::{Apic, Delivery, Destination, Ipi, PerformanceMask};
use super::bus::MachineBus;
use super::fault::{Fault, Stop};
use super::flags::{self, CR0_ET, CR0_MP, CR0_NE, CR0_PE, CR0_PG, CR0_WP, DR7_RESET};
use super::mailbox::Interrupter;
use super::rehearsal::Rehearsal;
use super::saved::Shadow;
use super::step::{Branch, Step};
use super::tlb::Tlb;
use crate::dma::Dma;
use crate::memory::Memory;

/// Number of the always-zero pseudo register in [`Core::gpr`].
pub(crate) const ZERO: u8 = 16;
/// Number of the pseudo register with the address of the next instruction.
pub(crate) const NEXT: u8 = 17;

pub(crate) const RAX: usize = 0;
pub(crate) const RCX: usize = 1;
pub(crate) const RDX: usize = 2;
pub(crate) const RBX: usize = 3;
pub(crate) const RSP: usize = 4;
pub(crate) const RBP: usize = 5;
pub(crate) const RSI: usize = 6;
pub(crate) const RDI: usize = 7;
pub(crate) const R11: usize = 11;

pub(crate) const CS: usize = 1;
pub(crate) const SS: usize = 2;
pub(crate) const FS: usize = 4;
pub(crate) const GS: usize = 5;

/// A segment register with its cached descriptor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) selector: u16,
    pub(crate) base: u64,
    pub(crate) limit: u32,
    /// Descriptor bits 40 to 47: type, S, DPL, P.
    pub(crate) access: u8,
}

/// GDTR or IDTR.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Table {
    pub(crate) base: u64,
    pub(crate) limit: u16,
}

/// Model-specific registers the engine itself keeps.
#[derive(Clone, Debug)]
pub(crate) struct Msrs {
    pub(crate) efer: u64,
    pub(crate) star: u64,
    pub(crate) lstar: u64,
    pub(crate) cstar: u64,
    pub(crate) sfmask: u64,
    pub(crate) kernel_gs_base: u64,
    pub(crate) apic_base: u64,
    pub(crate) pat: u64,
    pub(crate) tsc_aux: u64,
    pub(crate) tsc_offset: u64,
    pub(crate) sysenter: [u64; 3],
}

/// What all CPUs share.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Memory>,
    pub(crate) bus: Arc<dyn MachineBus>,
    pub(crate) interrupter: Interrupter,
    pub(crate) console: Mutex<Vec<u8>>,
    /// The PCI configuration address register.
    pub(crate) configuration_address: AtomicU32,
    /// The device that accesses RAM by itself, if the machine has it.
    pub(crate) dma: Option<Dma>,
}

/// One CPU without its observer and decoded code.
pub(crate) struct Core {
    pub(crate) index: usize,
    /// RAX to R15, then [`ZERO`] and [`NEXT`].
    pub(crate) gpr: [u64; 18],
    pub(crate) rip: u64,
    /// Where execution continues if the current instruction completes.
    pub(crate) next: u64,
    pub(crate) rflags: u64,
    pub(crate) cpl: u8,
    /// Set at each change of what an observer calls context.
    pub(crate) context_changed: bool,
    /// Something must be checked before the next instruction.
    pub(crate) attention: bool,
    pub(crate) shadow: Shadow,
    pub(crate) halted: bool,
    pub(crate) nmi_pending: bool,
    pub(crate) nmi_blocked: bool,
    pub(crate) debug_trap: bool,
    /// The current REP instruction has iterations left.
    pub(crate) repeating: bool,
    /// Decoded instructions may be stale: a serialising instruction ran.
    pub(crate) serialised: bool,
    pub(crate) cycles: u64,
    /// Bases by segment-override number: none, FS, GS.
    pub(crate) bases: [u64; 3],
    pub(crate) step: Step,
    pub(crate) tlb: Tlb,
    pub(crate) apic: Apic,
    pub(crate) shared: Arc<Shared>,
    pub(crate) xmm: [u128; 16],
    pub(crate) seg: [Segment; 6],
    pub(crate) gdtr: Table,
    pub(crate) idtr: Table,
    pub(crate) ldtr: Segment,
    pub(crate) tr: Segment,
    pub(crate) cr0: u64,
    pub(crate) cr2: u64,
    pub(crate) cr3: u64,
    pub(crate) cr4: u64,
    pub(crate) dr: [u64; 8],
    /// The debug registers may match something.
    pub(crate) matching: bool,
    pub(crate) msrs: Msrs,
    pub(crate) rehearsal: Rehearsal,
    pub(crate) stop: Option<Box<Stop>>,
}

impl Core {
    pub(crate) fn new(index: usize, shared: Arc<Shared>, mask: PerformanceMask) -> Self {
        let bootstrap = u64::from(index == 0) << 8;
        Self {
            index,
            gpr: [0; 18],
            rip: 0,
            next: 0,
            rflags: flags::FIXED,
            cpl: 0,
            context_changed: true,
            attention: true,
            shadow: Shadow::None,
            halted: false,
            nmi_pending: false,
            nmi_blocked: false,
            debug_trap: false,
            repeating: false,
            serialised: false,
            cycles: 0,
            bases: [0; 3],
            step: Step::default(),
            tlb: Tlb::new(),
            apic: Apic::new(index as u8, mask),
            shared,
            xmm: [0; 16],
            seg: [Segment::default(); 6],
            gdtr: Table::default(),
            idtr: Table::default(),
            ldtr: Segment::default(),
            tr: Segment::default(),
            cr0: CR0_PE | CR0_MP | CR0_ET | CR0_NE | CR0_WP | CR0_PG,
            cr2: 0,
            cr3: 0,
            cr4: flags::CR4_PAE,
            dr: [0, 0, 0, 0, 0, 0, 0xffff_0ff0, DR7_RESET],
            matching: false,
            msrs: Msrs {
                efer: flags::EFER_SCE | flags::EFER_LME | flags::EFER_LMA | flags::EFER_NXE,
                star: 0,
                lstar: 0,
                cstar: 0,
                sfmask: 0,
                kernel_gs_base: 0,
                apic_base: 0xfee0_0000 | 1 << 11 | bootstrap,
                pat: 0x0007_0406_0007_0406,
                tsc_aux: index as u64,
                tsc_offset: 0,
                sysenter: [0; 3],
            },
            rehearsal: Rehearsal::default(),
            stop: None,
        }
    }

    /// The time-stamp counter.
    #[inline]
    pub(crate) fn tsc(&self) -> u64 {
        self.cycles.wrapping_add(self.msrs.tsc_offset)
    }

    /// Replaces the status flags.
    #[inline]
    pub(crate) fn set_status(&mut self, status: u64) {
        self.rflags = self.rflags & !flags::STATUS | status;
    }

    /// Replaces RFLAGS. RF is never stored: only faults push it set, and it has no other effect
    /// without instruction breakpoints.
    pub(crate) fn set_rflags(&mut self, value: u64) {
        let value = value & flags::WRITABLE | flags::FIXED;
        if (self.rflags ^ value) & flags::IF != 0 {
            self.context_changed = true;
            self.attention = true;
        }
        self.rflags = value;
    }

    pub(crate) fn set_cpl(&mut self, cpl: u8) {
        if self.cpl != cpl {
            self.cpl = cpl;
            self.context_changed = true;
        }
    }

    /// Replaces the stop reason, unless there is one.
    pub(crate) fn stop(&mut self, stop: Stop) -> Fault {
        if self.stop.is_none() {
            self.stop = Some(Box::new(stop));
        }
        self.attention = true;
        Fault::Stop
    }

    /// Writes the low `size` bytes of register `number` as the size requires: 32-bit results are zero-extended, narrower ones leave the
    /// rest alone.
    #[inline]
    pub(crate) fn set_gpr(&mut self, number: u8, size: u8, value: u64) {
        let Some(slot) = self.gpr.get_mut(usize::from(number & 15)) else {
            return;
        };
        *slot = match size {
            8 => value,
            4 => value & 0xffff_ffff,
            2 => *slot & !0xffff | value & 0xffff,
            _ => *slot & !0xff | value & 0xff,
        };
    }

    /// Notes a control transfer and, if it is taken, makes it.
    #[inline]
    pub(crate) fn branch(&mut self, kind: BranchKind, taken: bool, target: u64) {
        self.step.branch = Some(Branch { kind, taken, target });
        if taken {
            self.next = target;
        }
    }

    /// Loads a segment register's cache.
    pub(crate) fn set_segment(&mut self, number: usize, segment: Segment) {
        self.seg[number] = segment;
        self.refresh_bases();
    }

    /// Brings [`Core::bases`] up to date with FS and GS.
    pub(crate) fn refresh_bases(&mut self) {
        self.bases = [0, self.seg[FS].base, self.seg[GS].base];
    }

    /// Delivers the performance-counter interrupt.
    pub(crate) fn performance_interrupt(&mut self) {
        if self.apic.performance_interrupt() == Delivery::Nmi {
            self.nmi_pending = true;
        }
        self.attention = true;
    }

    /// Sends an interprocessor interrupt. Lowest priority goes to the matching CPU with the lowest
    /// number.
    pub(crate) fn send(&mut self, ipi: Ipi) {
        let interrupter = self.shared.interrupter.clone();
        for cpu in 0..interrupter.cpus() {
            let own = cpu == self.index;
            let wanted = match ipi.to {
                Destination::Own => own,
                Destination::All => true,
                Destination::Others => !own,
                Destination::Physical(id) => id == 0xff || usize::from(id) == cpu,
                Destination::Logical(set) => interrupter.mailbox(cpu).matches_logical(set),
            };
            if wanted {
                if ipi.nmi {
                    interrupter.nmi(cpu);
                } else {
                    interrupter.fixed(cpu, ipi.vector);
                    if ipi.lowest_priority {
                        break;
                    }
                }
            }
        }
    }

    /// Writes a local APIC register.
    pub(crate) fn write_apic(&mut self, offset: u32, value: u32) {
        let ipi = self.apic.write(offset, value, self.cycles);
        let (ldr, dfr) = self.apic.logical();
        let mailbox = self.shared.interrupter.mailbox(self.index);
        mailbox.ldr.store(ldr, std::sync::atomic::Ordering::Release);
        mailbox.dfr.store(dfr, std::sync::atomic::Ordering::Release);
        self.attention = true;
        if let Some(ipi) = ipi {
            self.send(ipi);
        }
    }
}
