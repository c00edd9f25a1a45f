//! Saves the state of a machine, and restores it.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::apic::Apic;
use super::exec::control::canonical;
use super::exec::system::CONSOLE;
use super::flags::{CR0_PE, CR0_PG, CR4_PAE, CR4_VALID, EFER_LMA, EFER_LME, EFER_NXE, EFER_SCE, FIXED, WRITABLE};
use super::machine::Machine;
use super::observer::Observer;
use super::pci::ADDRESS_BITS;
use super::saved::{ApicState, CpuState, MsrState, Saved, SegmentState, TableState};
use super::state::{Core, Msrs, Segment, Table};
use super::tlb::{PHYSICAL_BITS, grant};
use crate::dma::Dma;
use crate::memory::PAGE;
use crate::pages;

/// Why a machine cannot continue from a saved state. The machine is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The machine has another number of CPUs.
    Cpus {
        /// How many were saved.
        saved: usize,
        /// How many the machine has.
        target: usize,
    },
    /// The machine has more RAM, or less.
    Ram {
        /// Bytes of RAM that were saved.
        saved: u64,
        /// Bytes of RAM of the machine.
        target: u64,
    },
    /// A page is outside RAM, there twice, or out of order.
    Pages,
    /// A page with decoded lines is.
    DecodedLines,
    /// There is more text than a console keeps.
    Console {
        /// Bytes of it.
        bytes: usize,
    },
    /// Only one of them has the device that accesses RAM by itself.
    Dma {
        /// Whether it is the machine.
        target: bool,
    },
    /// No CPU has the turn.
    Turn {
        /// The number of the one that is said to.
        cpu: usize,
    },
    /// A register cannot hold such a value.
    Register {
        /// The CPU; `None` for what all share.
        cpu: Option<usize>,
        /// The register.
        name: &'static str,
        /// The value.
        value: u64,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpus { saved, target } => write!(f, "{saved} CPUs were saved and the machine has {target}: make one with as many"),
            Self::Ram { saved, target } => {
                write!(f, "{saved:#x} bytes of RAM were saved and the machine has {target:#x}: make one with as many")
            }
            Self::Pages => f.write_str("the saved pages must be inside RAM and in ascending order, each once"),
            Self::DecodedLines => f.write_str("the pages of decoded lines must be inside RAM and in ascending order, each once"),
            Self::Console { bytes } => write!(f, "{bytes} bytes of console text were saved: a console keeps {CONSOLE}"),
            Self::Dma { target: true } => f.write_str("the machine has a device for DMA that was not saved: make one without it"),
            Self::Dma { target: false } => f.write_str("a device for DMA was saved that the machine has not: make one with it"),
            Self::Turn { cpu } => write!(f, "the turn is CPU {cpu}'s, which the machine does not have"),
            Self::Register { cpu: Some(cpu), name, value } => write!(f, "{name} of CPU {cpu} cannot be {value:#x}"),
            Self::Register { cpu: None, name, value } => write!(f, "{name} cannot be {value:#x}"),
        }
    }
}

impl std::error::Error for RestoreError {}

impl<O: Observer> Machine<O> {
    /// The complete state of the machine, between two runs. Observers and the bus save their own state.
    ///
    /// Decoded instructions are not part of it, as a store drops what it changes; which lines were decoded is part of it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use iced_x86::code_asm::*;
    /// use vm_pmu_engines::x86::{Config, EmptyBus, Exit, Image, Limits, Machine, Unobserved};
    ///
    /// let mut a = CodeAssembler::new(64).unwrap();
    /// a.mov(eax, 40).unwrap();
    /// a.add(eax, 2).unwrap();
    /// a.out(0xf4, al).unwrap();
    /// let image = Image::raw(0x10_0000, a.assemble(0x10_0000).unwrap());
    /// let machine = || Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Unobserved).unwrap();
    /// let mut first = machine();
    /// assert_eq!(first.run(Limits::steps(1)), Exit::Limit);
    /// let saved = first.save();
    /// assert_eq!(saved.cpus[0].gpr[0], 40);
    ///
    /// let mut second = machine();
    /// second.restore(&saved).unwrap();
    /// assert_eq!(second.run(Limits::NONE), Exit::Status { cpu: 0, status: 42 });
    /// ```
    #[must_use]
    pub fn save(&self) -> Saved {
        let (cpus, shared, turn) = self.parts();
        let state = |cpu: &super::cpu::Cpu<O>| CpuState { fetching: cpu.fetching(), ..cpu.core.state() };
        Saved {
            ram: shared.memory.size(),
            cpus: cpus.iter().map(state).collect(),
            turn: turn.clone(),
            pages: shared.memory.pages(),
            decoded: shared.memory.decoded_lines(),
            console: self.console(),
            configuration_address: shared.configuration_address.load(Ordering::Acquire),
            dma: shared.dma.as_ref().map(Dma::state),
        }
    }

    /// Whether the machine can continue from a saved state; nothing is changed.
    ///
    /// # Errors
    /// [`RestoreError`], as [`restore`](Machine::restore) would return.
    pub fn accepts(&self, saved: &Saved) -> Result<(), RestoreError> {
        let (cpus, shared, _) = self.parts();
        if saved.dma.is_some() != shared.dma.is_some() {
            return Err(RestoreError::Dma { target: shared.dma.is_some() });
        }
        check(saved, cpus.len(), shared.memory.size())
    }

    /// Makes the machine continue from a saved state, all of it or nothing. The next run reports the context to every observer first.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use vm_pmu_engines::x86::{Config, EmptyBus, Image, Machine, RestoreError, Unobserved};
    ///
    /// let image = Image::raw(0x10_0000, vec![0xf4]);
    /// let machine = |cpus| Machine::new(&Config { cpus, ..Config::default() }, &image, Arc::new(EmptyBus), |_| Unobserved).unwrap();
    /// assert_eq!(machine(2).restore(&machine(1).save()), Err(RestoreError::Cpus { saved: 1, target: 2 }));
    /// ```
    ///
    /// # Errors
    /// [`RestoreError`], and nothing is changed: another number of CPUs or size of RAM, or values that no machine has.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        self.accepts(saved)?;
        let (cpus, shared, turn) = self.parts_mut();
        shared.memory.replace(&saved.pages);
        shared.memory.set_decoded_lines(&saved.decoded);
        shared.console.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&saved.console);
        shared.configuration_address.store(saved.configuration_address, Ordering::Release);
        if let (Some(dma), Some(state)) = (&shared.dma, saved.dma) {
            dma.set_state(state);
        }
        turn.clone_from(&saved.turn);
        for (cpu, state) in cpus.iter_mut().zip(&saved.cpus) {
            cpu.core.restore(state);
            cpu.fetch_by(state.fetching);
        }
        Ok(())
    }
}

/// Whether a machine with so many CPUs and so much RAM can be in the saved state.
fn check(saved: &Saved, cpus: usize, ram: u64) -> Result<(), RestoreError> {
    if saved.cpus.len() != cpus {
        return Err(RestoreError::Cpus { saved: saved.cpus.len(), target: cpus });
    }
    if saved.ram != ram {
        return Err(RestoreError::Ram { saved: saved.ram, target: ram });
    }
    if !pages::fit(saved.pages.iter().map(|page| page.number), ram) {
        return Err(RestoreError::Pages);
    }
    if !pages::fit(saved.decoded.iter().map(|page| page.page), ram) {
        return Err(RestoreError::DecodedLines);
    }
    if saved.console.len() > CONSOLE {
        return Err(RestoreError::Console { bytes: saved.console.len() });
    }
    if saved.turn.cpu >= cpus {
        return Err(RestoreError::Turn { cpu: saved.turn.cpu });
    }
    let address = saved.configuration_address;
    if address & !ADDRESS_BITS != 0 {
        return Err(RestoreError::Register { cpu: None, name: "the PCI configuration address", value: address.into() });
    }
    for (cpu, state) in saved.cpus.iter().enumerate() {
        let wrong = impossible(state);
        wrong.map_or(Ok(()), |(name, value)| Err(RestoreError::Register { cpu: Some(cpu), name, value }))?;
    }
    Ok(())
}

/// The first register with a value that it cannot hold.
fn impossible(state: &CpuState) -> Option<(&'static str, u64)> {
    let (msrs, [_, _, _, _, fs, gs]) = (&state.msrs, &state.segments);
    let beyond = |value: u64, bits: u64| value & !bits != 0;
    let word = u64::from(u32::MAX);
    let physical = (1 << PHYSICAL_BITS) - 1;
    let executing = state.fetching.map_or((0, 0), |fetching| (fetching.page, fetching.frame));
    let translations = || state.translations.iter().map(|known| (known.page, known.frame)).chain([executing]);
    let registers = [
        ("RFLAGS", state.rflags, state.rflags & !WRITABLE != FIXED),
        ("the privilege level", state.cpl.into(), state.cpl > 3),
        ("CR0", state.cr0, state.cr0 & (CR0_PE | CR0_PG) != CR0_PE | CR0_PG || beyond(state.cr0, word)),
        ("CR3", state.cr3, beyond(state.cr3, physical)),
        ("CR4", state.cr4, state.cr4 & CR4_PAE == 0 || beyond(state.cr4, CR4_VALID)),
        ("DR6", state.dr[6], beyond(state.dr[6], word)),
        ("DR7", state.dr[7], beyond(state.dr[7], word)),
        ("the base of FS", fs.base, !canonical(fs.base)),
        ("the base of GS", gs.base, !canonical(gs.base)),
        ("TSC_AUX", msrs.tsc_aux, beyond(msrs.tsc_aux, word)),
        ("APIC_BASE", msrs.apic_base, beyond(msrs.apic_base, physical) || msrs.apic_base & 0x6ff != 0),
        ("SYSENTER_CS", msrs.sysenter[0], beyond(msrs.sysenter[0], word)),
        ("SYSENTER_ESP", msrs.sysenter[1], !canonical(msrs.sysenter[1])),
        ("SYSENTER_EIP", msrs.sysenter[2], !canonical(msrs.sysenter[2])),
        ("EFER", msrs.efer, msrs.efer | EFER_SCE | EFER_NXE != EFER_SCE | EFER_NXE | EFER_LME | EFER_LMA),
        ("LSTAR", msrs.lstar, !canonical(msrs.lstar)),
        ("CSTAR", msrs.cstar, !canonical(msrs.cstar)),
        ("SFMASK", msrs.sfmask, beyond(msrs.sfmask, word)),
        ("KERNEL_GS_BASE", msrs.kernel_gs_base, !canonical(msrs.kernel_gs_base)),
    ];
    let registers = registers.into_iter().find(|(_, _, wrong)| *wrong).map(|(name, value, _)| (name, value));
    let translation = || {
        let outside = translations().find(|(page, frame)| page >> 52 != 0 || *frame > physical / PAGE);
        let outside = outside.map(|(page, _)| ("a translation's page", page));
        let grants = state.translations.iter().find(|known| known.grants & !grant::RIGHTS != 0);
        outside.or(grants.map(|known| ("what a translation grants", known.grants.into())))
    };
    registers.or_else(|| impossible_apic(&state.apic)).or_else(translation)
}

/// The same of a local APIC.
fn impossible_apic(apic: &ApicState) -> Option<(&'static str, u64)> {
    let entries = apic.lvt.iter().zip(Apic::LVT_BITS);
    let entry = entries.into_iter().find(|(entry, bits)| **entry & !bits != 0).map(|(entry, _)| ("a local vector table entry", *entry));
    // Vectors 0 to 15 are illegal.
    let vectors = [("the local APIC's ISR", apic.isr[0]), ("the local APIC's IRR", apic.irr[0])];
    let vectors = vectors.into_iter().find(|(_, set)| set & 0xffff != 0);
    let registers = [
        ("the logical destination register", apic.ldr, apic.ldr & 0x00ff_ffff != 0),
        ("the destination format register", apic.dfr, apic.dfr | 0xf000_0000 != u32::MAX),
        ("the spurious-interrupt vector register", apic.svr, apic.svr >> 10 != 0),
        ("the timer's divide configuration register", apic.timer.divide, apic.timer.divide & !0xb != 0),
    ];
    let register = registers.into_iter().find(|(_, _, wrong)| *wrong).map(|(name, value, _)| (name, value));
    register.or(entry).map(|(name, value)| (name, value.into())).or(vectors)
}

impl From<Segment> for SegmentState {
    fn from(segment: Segment) -> SegmentState {
        let Segment { selector, base, limit, access } = segment;
        SegmentState { selector, base, limit, access }
    }
}

impl From<SegmentState> for Segment {
    fn from(state: SegmentState) -> Segment {
        let SegmentState { selector, base, limit, access } = state;
        Segment { selector, base, limit, access }
    }
}

impl From<Table> for TableState {
    fn from(table: Table) -> TableState {
        TableState { base: table.base, limit: table.limit }
    }
}

impl From<TableState> for Table {
    fn from(state: TableState) -> Table {
        Table { base: state.base, limit: state.limit }
    }
}

impl Core {
    /// All but how instructions are fetched.
    fn state(&self) -> CpuState {
        let Msrs { efer, star, lstar, cstar, sfmask, kernel_gs_base, apic_base, pat, tsc_aux, tsc_offset: _, sysenter } = self.msrs;
        CpuState {
            gpr: std::array::from_fn(|number| self.gpr[number]),
            rip: self.rip,
            rflags: self.rflags,
            cpl: self.cpl,
            segments: self.seg.map(Into::into),
            gdtr: self.gdtr.into(),
            idtr: self.idtr.into(),
            ldtr: self.ldtr.into(),
            tr: self.tr.into(),
            cr0: self.cr0,
            cr2: self.cr2,
            cr3: self.cr3,
            cr4: self.cr4,
            dr: self.dr,
            xmm: self.xmm.map(|value| [value as u64, (value >> 64) as u64]),
            msrs: MsrState { tsc: self.tsc(), tsc_aux, apic_base, sysenter, pat, efer, star, lstar, cstar, sfmask, kernel_gs_base },
            shadow: self.shadow,
            halted: self.halted,
            nmi_pending: self.nmi_pending,
            nmi_blocked: self.nmi_blocked,
            debug_trap: self.debug_trap,
            repeating: self.repeating,
            cycles: self.cycles,
            apic: self.apic.state(),
            mail: self.shared.interrupter.mailbox(self.index).waiting(),
            translations: self.tlb.translations(),
            fetching: None,
        }
    }

    /// Takes over what [`check`] has found possible.
    fn restore(&mut self, state: &CpuState) {
        let MsrState { tsc, tsc_aux, apic_base, sysenter, pat, efer, star, lstar, cstar, sfmask, kernel_gs_base } = state.msrs;
        self.gpr = [0; 18];
        self.gpr[..16].copy_from_slice(&state.gpr);
        self.rip = state.rip;
        self.next = state.rip;
        self.rflags = state.rflags;
        self.cpl = state.cpl;
        self.seg = state.segments.map(Into::into);
        self.gdtr = state.gdtr.into();
        self.idtr = state.idtr.into();
        self.ldtr = state.ldtr.into();
        self.tr = state.tr.into();
        self.cr0 = state.cr0;
        self.cr2 = state.cr2;
        self.cr3 = state.cr3;
        self.cr4 = state.cr4;
        self.dr = state.dr;
        self.xmm = state.xmm.map(|[low, high]| u128::from(high) << 64 | u128::from(low));
        let tsc_offset = tsc.wrapping_sub(state.cycles);
        self.msrs = Msrs { efer, star, lstar, cstar, sfmask, kernel_gs_base, apic_base, pat, tsc_aux, tsc_offset, sysenter };
        self.shadow = state.shadow;
        self.halted = state.halted;
        self.nmi_pending = state.nmi_pending;
        self.nmi_blocked = state.nmi_blocked;
        self.debug_trap = state.debug_trap;
        self.repeating = state.repeating;
        self.cycles = state.cycles;
        self.apic.restore(&state.apic, apic_base & 1 << 11 != 0);
        let mailbox = self.shared.interrupter.mailbox(self.index);
        mailbox.replace(&state.mail);
        mailbox.ldr.store(state.apic.ldr, Ordering::Release);
        mailbox.dfr.store(state.apic.dfr, Ordering::Release);
        self.remember(&state.translations);
        self.serialised = false;
        self.stop = None;
        self.context_changed = true;
        self.attention = true;
        self.refresh_bases();
        self.update_breakpoints();
    }
}
